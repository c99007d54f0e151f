//! Which propositions of claims may have no value in some state: those whose evaluation can be a run-time error, such
//! as an index outside its array or a division by zero.
//!
//! A claim that looks at such a proposition where it has no value has no answer; one that does not look there has. So a
//! model tells, beside what holds in a state, which propositions have no value in it. That costs a second evaluation,
//! and so only of propositions that may need it; most cannot fail by their form.

use super::arrangement::Queue;
use super::moves::Code;
use super::terms::{Element, RemoteTermTarget, Term, TermId, Terms};
use crate::syntax::tree::Binary;

impl Code {
    /// For each proposition, may it have no value in some state?
    pub(crate) fn may_be_undefined(terms: &Terms, propositions: &[TermId], queues: &[Queue]) -> Box<[bool]> {
        propositions.iter().map(|&root| may_fail(terms, root, queues)).collect()
    }
}

fn may_fail(terms: &Terms, root: TermId, queues: &[Queue]) -> bool {
    let mut work = vec![root];
    while let Some(term) = work.pop() {
        let global = |channel: TermId| match terms.terms[channel as usize] {
            Term::Constant(number) => queues.get(usize::try_from(number).ok()?.checked_sub(1)?),
            _ => None,
        };
        let divides = |operator| matches!(operator, Binary::Divide | Binary::Modulo);
        match terms.terms[term as usize] {
            Term::Constant(_)
            | Term::Slot(_)
            | Term::Short(_)
            | Term::Timeout
            | Term::ProcessCount
            | Term::Last
            | Term::OwnPriority
            | Term::NonProgress
            | Term::Accepting => {}
            Term::SlotConstant(operator, _, value) if divides(operator) && value == 0 => return true,
            Term::SlotSlot(operator, ..) if divides(operator) => return true,
            Term::SlotConstant(..) | Term::SlotSlot(..) => {}
            Term::At { .. } | Term::Enabled(_) | Term::Run(_) => return true,
            Term::Element(element) if is_indexed(&terms.elements[element as usize]) => return true,
            Term::Element(_) => {}
            Term::Not(one)
            | Term::Negate(one)
            | Term::Complement(one)
            | Term::ProgramCounter(one)
            | Term::Priority(one) => work.push(one),
            Term::Binary(operator, left, right) => {
                let by_constant = matches!(terms.terms[right as usize], Term::Constant(value) if value != 0);
                if divides(operator) && !by_constant {
                    return true;
                }
                work.extend([left, right]);
            }
            Term::Conditional(condition, yes, no) => work.extend([condition, yes, no]),
            Term::Length(channel)
            | Term::Full(channel)
            | Term::NotFull(channel)
            | Term::Empty(channel)
            | Term::NotEmpty(channel) => {
                if global(channel).is_none() {
                    return true;
                }
            }
            Term::Poll(poll) => {
                let poll = &terms.polls[poll as usize];
                if global(poll.channel).is_none_or(|queue| queue.capacity == 0) {
                    return true;
                }
                work.extend(poll.fields.iter().flatten());
            }
            Term::Remote(remote) => {
                let remote = &terms.remotes[remote as usize];
                match &remote.target {
                    // Of a process that is found by its type, the variables are there.
                    RemoteTermTarget::Cell(cell) if remote.index.is_some() || is_indexed(cell) => return true,
                    RemoteTermTarget::Cell(_) | RemoteTermTarget::Label(_) => work.extend(remote.index),
                }
            }
        }
    }
    false
}

fn is_indexed(element: &Element) -> bool {
    !element.offsets.is_empty()
}
