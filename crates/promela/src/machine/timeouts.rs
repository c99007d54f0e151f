//! Groups in which `timeout` is not a question about every process.
//!
//! A statement `timeout` passes when nothing else can happen, so its group reads nearly everything, and a symbolic
//! engine would learn it one state at a time. But *that nothing else can happen* is what such an engine knows as a set:
//! the states in which no other group has a step. So a condition that asks for `timeout` gets two groups here, and both
//! read what the rest of the condition names: the group of the move, in which `timeout` is false, and one in which it
//! is true and which is a last resort ([`trefoil_system::Group::last_resort`]). The explorer does the same: it tries
//! all moves with `timeout` false, and when nothing passes all of them with `timeout` true. In the second attempt only
//! moves pass that ask for `timeout` themselves: all others had their chance, and what follows inside a step sees
//! `timeout` false.
//!
//! That is right where only conditions ask, each for its own move. In a model with priorities or `enabled`, or in which
//! a message, a `d_step` or a `provided` clause asks, groups stay as they are.
//!
//! Cost: one more analysis of the groups, when an engine asks for it.

use std::sync::Arc;

use trefoil_control::Control as Budget;
use trefoil_system::{Cut, Explorer, Group, LabelId, Labels, Layout, Mark, System, Value};

use super::dependencies::groups;
use super::explorer::ModelExplorer;
use super::groups::Grouping;
use super::moves::Act;
use super::survey::{Survey, placed};
use super::system::Model;
use super::terms::{Term, TermId};
use super::touched::Reason;

/// The groups of a model with timeouts apart.
pub(super) struct Apart {
    grouping: Grouping,
    groups: Vec<Group>,
}

impl Apart {
    /// The groups, where something asks for `timeout` and all that does so can be set apart.
    pub(super) fn new(model: &Model) -> Option<Apart> {
        let arrangement = &model.arrangement;
        let terms = &arrangement.code.terms.terms;
        if arrangement.priority || terms.iter().any(|term| matches!(term, Term::Enabled(_))) {
            return None;
        }
        let (survey, apart) = (Survey::new(&model.program, arrangement), Survey::new(&model.program, arrangement));
        let apart = apart.with_timeouts_apart();
        let mut timeouts = Vec::new();
        for (number, one) in placed(&arrangement.code).iter().enumerate() {
            if !survey.one(one, true).has(Reason::Timeout) {
                continue;
            }
            match one.step.act {
                Act::Condition(condition) if asks(terms, condition) => timeouts.push(number as u32),
                _ => return None,
            }
            if one.code.provided.is_some_and(|provided| asks(terms, provided)) {
                return None;
            }
        }
        if timeouts.is_empty() {
            return None;
        }
        let grouping = Grouping::with(&apart, arrangement, timeouts);
        let (groups, _) = groups(apart, arrangement, &grouping);
        Some(Apart { grouping, groups })
    }
}

/// Does a term ask for `timeout`?
fn asks(terms: &[Term], term: TermId) -> bool {
    let mut work = vec![term];
    while let Some(term) = work.pop() {
        match terms[term as usize] {
            Term::Timeout => return true,
            Term::Not(inner) | Term::Negate(inner) | Term::Complement(inner) => work.push(inner),
            Term::Binary(_, left, right) => work.extend([left, right]),
            Term::Conditional(condition, yes, no) => work.extend([condition, yes, no]),
            _ => {}
        }
    }
    false
}

/// A model with timeouts apart.
pub(super) struct TimeoutsApart<'m> {
    pub(super) model: &'m Model,
    pub(super) apart: &'m Apart,
}

impl System for TimeoutsApart<'_> {
    fn layout(&self) -> &Layout {
        self.model.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        self.model.labels()
    }

    fn groups(&self) -> &[Group] {
        &self.apart.groups
    }

    fn marks(&self) -> &[Mark] {
        self.model.marks()
    }

    fn initial(&self, control: &Budget) -> Result<Vec<Value>, Cut> {
        self.model.initial(control)
    }

    fn explorer<'a>(&'a self, control: &'a Budget) -> Box<dyn Explorer + 'a> {
        Box::new(ModelExplorer::new(self.model, control).with_timeouts_apart(&self.apart.grouping))
    }

    fn error(&self, label: LabelId) -> u32 {
        self.model.error(label)
    }

    fn first_error(&self) -> LabelId {
        self.model.first_error()
    }

    fn describe(&self, row: &[Value]) -> String {
        self.model.describe(row)
    }
}
