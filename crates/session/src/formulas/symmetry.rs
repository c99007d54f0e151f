//! Symmetries of a model that a formula keeps.
//!
//! In CSPM every set of constants of a datatype is a proposal, and so are components that look alike; what is proved of
//! the compiled network and kept by the formula ([`FormulaGame::keeps`]) is used, as in checks of assertions.
//!
//! In Promela the group of the model is found and proved first. Its labels are met while exploring, and so it is found
//! there whether the formula keeps the group; if not, the check goes on without symmetries. Where processes stay at
//! their ends, the formula must not notice internal steps ([`trefoil_promela::symmetry::SymmetricMessages`]).
//!
//! What the formula tells apart is an obstacle with the text of the part that does it.

use std::sync::Arc;

use trefoil_check::formula::game::FormulaGame;
use trefoil_check::{Reduction, group};
use trefoil_control::Control;
use trefoil_promela::symmetry::{SymmetricMessages, symmetries};
use trefoil_questions::UsedSymmetry as Used;
use trefoil_source::{Diagnostic, Place};
use trefoil_system::{Cut, LabelId, Labels, System};

use super::cspm::ScriptModel;
use super::promela::ModelView;
use crate::check::{
    Asked, Claimed, Looked, Permuted, Proposal, Searched, Sought, SymmetryUse, Trouble, UsedSymmetry, search,
    unknown_datatype,
};
use crate::problem::NOT_SYMMETRIC;
use crate::promela::permuted;

/// A game with symmetries that were proved, and what they permute.
pub(super) struct SymmetricGame {
    game: FormulaGame,
    permuted: Vec<Permuted>,
    note: Option<&'static str>,
}

impl SymmetricGame {
    /// The report on it after a search that used it.
    pub(super) fn told(self, used: Used) -> UsedSymmetry {
        UsedSymmetry {
            order: used.order,
            structure: used.structure,
            strategy: used.strategy,
            total_states: used.total_states,
            permuted: self.permuted,
        }
    }
}

impl Reduction for SymmetricGame {
    fn system(&self) -> &dyn System {
        &self.game
    }

    fn note(&self, fails: bool) -> Option<&'static str> {
        // A formula that fails was decided again in the model itself.
        self.note.filter(|_| !fails)
    }
}

/// What was found, and what there is to say about it.
#[derive(Default)]
pub(super) struct Symmetries {
    pub(super) symmetric: Option<SymmetricGame>,
    /// With every answer.
    pub(super) notes: Vec<String>,
    /// With the reasons for an answer.
    pub(super) details: Vec<String>,
}

impl ScriptModel {
    /// The symmetries of the process that the formula of a game keeps, where the options request them.
    pub(super) fn symmetries(
        &self,
        game: &FormulaGame,
        asked: &Asked,
        control: &Control,
    ) -> Result<Symmetries, Trouble> {
        let named = match &asked.symmetry {
            None | Some(SymmetryUse::Off | SymmetryUse::AsWritten) => return Ok(Symmetries::default()),
            Some(SymmetryUse::Automatic) => None,
            Some(SymmetryUse::Types(names)) => Some(names),
        };
        control.progress().begin("proving symmetries", 0);
        let span = game.formula().place(game.formula().root);
        if let Some(why) = game.symmetry_obstacle() {
            if let Some(names) = named {
                let message = format!("--symmetry {} cannot be used with this formula: {why}", names.join(","));
                return Err(wrong(Diagnostic::error(NOT_SYMMETRIC, message, Place::Span(span))));
            }
            return Ok(Symmetries::without(&why));
        }
        let mut compiler = self.compiler.borrow_mut();
        let datatypes = compiler.evaluator().datatypes();
        let is_known = |name: &String| datatypes.iter().any(|datatype| datatype.name == *name);
        if let Some(name) = named.into_iter().flatten().find(|name| !is_known(name)) {
            return Err(wrong(unknown_datatype(name, &datatypes, Place::Span(span))));
        }
        let wanted = datatypes.iter().filter(|datatype| {
            datatype.constants.len() > 1 && named.is_none_or(|names| names.contains(&datatype.name))
        });
        let proposed = wanted.map(|datatype| Proposal {
            datatype: datatype.name.clone(),
            constants: datatype.constants.iter().map(|(name, _)| name.clone()).collect(),
            sets: vec![(0..datatype.constants.len()).collect()],
            claimed: named.map(|_| Claimed { place: Place::Span(span), against: None }),
        });
        let admits = |images: &[LabelId], _: &Labels, control: &Control| match game.keeps(images, control) {
            Ok(kept) => Ok(kept),
            Err(Cut::Stopped) => Err(control.why()),
            Err(cut) => Ok(Err(cut.explain(control))),
        };
        let sought = Sought {
            machine: &self.machine,
            searched: Searched::Whole(self.machine.network.clone()),
            proposed: proposed.collect(),
            insisted: named.is_some(),
            admits: &admits,
            specification: None,
            trace: None,
            span,
        };
        let Looked { reduced, reasons } = search(&mut compiler, &self.sources, sought, control)?;
        let mut found = Symmetries { details: reasons.unexpected, ..Symmetries::default() };
        found.details.extend(reasons.others);
        match reduced {
            Some(reduced) => {
                let game = game.symmetric(Arc::new(reduced.system), control)?;
                found.symmetric = Some(SymmetricGame { game, permuted: reduced.permuted, note: None });
            }
            None => {
                let why = found.details.first().map_or("no symmetry was found", String::as_str);
                found.notes.push(without(why));
            }
        }
        Ok(found)
    }
}

impl Symmetries {
    /// None, for this reason.
    fn without(why: &str) -> Symmetries {
        Symmetries { notes: vec![without(why)], ..Symmetries::default() }
    }
}

fn without(why: &str) -> String {
    format!("checked without symmetry reduction: {why}")
}

impl ModelView {
    /// The symmetries of the model that the formula of a game may keep, where the options request them.
    pub(super) fn symmetries(
        &self,
        game: &FormulaGame,
        asked: &Asked,
        control: &Control,
    ) -> Result<Symmetries, Trouble> {
        if asked.symmetry != Some(SymmetryUse::Automatic) {
            return Ok(Symmetries::default());
        }
        control.progress().begin("proving symmetries", 0);
        let mut found = symmetries(self.messages().model().program(), control)?;
        let details: Vec<String> = found.reasons.iter().map(|reason| reason.text.clone()).collect();
        let because = |why: &str| Symmetries { details: details.clone(), ..Symmetries::without(why) };
        let Some(symmetric) = found.symmetric.take() else {
            return Ok(because(details.first().map_or("no symmetry was found", String::as_str)));
        };
        let is_staggered = symmetric.is_staggered();
        let Some(model) = SymmetricMessages::new(symmetric, self.messages()) else {
            return Ok(because("two channels of one process have the same name"));
        };
        if let Some(why) = game.symmetry_obstacle_but_for(&|mark| model.keeps(mark)) {
            return Ok(because(&format!("{why}, and symmetries may change that")));
        }
        let mut note = None;
        if model.keeps_processes() {
            if is_staggered {
                return Ok(because("processes start one by one, and some end before all have started"));
            }
            if let Some(part) = game.formula().sight().counts_steps {
                let why = format!("`{part}` notices the steps in which processes disappear after their ends");
                return Ok(because(&why));
            }
            note = Some("ended processes keep their slots, which the formula does not notice");
        }
        let action = model.action().expect("it has symmetries");
        let orbits = group(action, control)?.map(|group| group.orbits).unwrap_or_default();
        let game = game.symmetric_as_explored(Arc::new(model), control)?;
        let symmetric = Some(SymmetricGame { game, permuted: permuted(orbits), note });
        Ok(Symmetries { symmetric, notes: Vec::new(), details })
    }
}

fn wrong(diagnostic: Diagnostic) -> Trouble {
    Trouble::Wrong(Box::new(diagnostic))
}
