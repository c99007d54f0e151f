//! A play of a game of equivalence, as an exchange of steps.

use trefoil_system::{GroupId, LabelId, Path};

use super::{EquivalenceGame, Move};

/// One of the two systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    Left,
    /// The second.
    Right,
}

impl Side {
    pub(super) fn of(side: usize) -> Side {
        if side == 0 { Side::Left } else { Side::Right }
    }
}

/// What happens in a play, as far as it matters to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Odd takes a step of a system, with this common label.
    Challenge(Side, LabelId),
    /// The answer is a step of the other system with the same label.
    Answer(Side, LabelId),
    /// The answer is to stay.
    Stay(Side),
    /// An internal step before an answer.
    Internal(Side),
    /// The step before is not taken: the states that were reached by internal steps are compared instead.
    Compare,
}

impl EquivalenceGame {
    /// What happens in a play, with the number of steps of the play before each.
    pub fn told(&self, play: &Path, groups: &[GroupId]) -> Vec<(usize, Exchange)> {
        let mut told = Vec::new();
        for (place, (step, group)) in play.steps.iter().zip(groups).enumerate() {
            let exchange = match self.moves[group.index()] {
                Move::Challenge(side, _) => Exchange::Challenge(Side::of(side), step.label),
                Move::Answer(side, _) => Exchange::Answer(Side::of(side), step.label),
                Move::Stay(side) => Exchange::Stay(Side::of(side)),
                Move::Silent(side, _) => Exchange::Internal(Side::of(side)),
                Move::Compare(_) => Exchange::Compare,
                Move::Demand(_) | Move::TakeAnswered(..) | Move::TakeAlone(..) => continue,
            };
            told.push((place, exchange));
        }
        told
    }
}
