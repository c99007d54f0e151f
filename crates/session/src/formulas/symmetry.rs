//! Symmetries of a CSPM process that a formula keeps.
//!
//! Every set of constants of a datatype is a proposal, and so are components that look alike; what is proved of the
//! compiled network and kept by the formula ([`FormulaGame::keeps`]) is used, as in checks of assertions. What the
//! formula tells apart is an obstacle with the text of the part that does it.

use std::sync::Arc;

use trefoil_check::Reduction;
use trefoil_check::formula::game::FormulaGame;
use trefoil_control::Control;
use trefoil_questions::UsedSymmetry as Used;
use trefoil_source::{Diagnostic, Place};
use trefoil_system::{Cut, LabelId, Labels, System};

use super::cspm::ScriptModel;
use crate::check::{
    Asked, Claimed, Looked, Permuted, Proposal, Searched, Sought, SymmetryUse, Trouble, UsedSymmetry, search,
    unknown_datatype,
};
use crate::problem::NOT_SYMMETRIC;

/// A game with symmetries that were proved, and what they permute.
pub(super) struct SymmetricGame {
    game: FormulaGame,
    permuted: Vec<Permuted>,
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
        let without = |why: &str| format!("checked without symmetry reduction: {why}");
        if let Some(why) = game.symmetry_obstacle() {
            if let Some(names) = named {
                let message = format!("--symmetry {} cannot be used with this formula: {why}", names.join(","));
                return Err(wrong(Diagnostic::error(NOT_SYMMETRIC, message, Place::Span(span))));
            }
            return Ok(Symmetries { notes: vec![without(&why)], ..Symmetries::default() });
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
                found.symmetric = Some(SymmetricGame { game, permuted: reduced.permuted });
            }
            None => {
                let why = found.details.first().map_or("no symmetry was found", String::as_str);
                found.notes.push(without(why));
            }
        }
        Ok(found)
    }
}

fn wrong(diagnostic: Diagnostic) -> Trouble {
    Trouble::Wrong(Box::new(diagnostic))
}
