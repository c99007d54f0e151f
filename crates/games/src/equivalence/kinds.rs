//! What is chosen in a vertex of a game of equivalence, and by which player.

use trefoil_system::Value;

use crate::solve::Player;

/// An equivalence that is decided as a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquivalenceNotion {
    /// Strong bisimilarity.
    Strong,
    /// Branching bisimilarity.
    Branching,
    /// Divergence-preserving branching bisimilarity.
    DivergenceBranching,
}

/// What is chosen in a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Odd takes a step of either system.
    Choose,
    /// The same behind an answer by staying, where divergence counts.
    ChooseAgain,
    /// Even answers, or takes an internal step first.
    Answer,
    /// Behind such a step, Odd has the states compared, or waits for the answer.
    Inspect,
    /// Odd's step is taken; Even has answered by a step.
    TakeAnswered,
    /// Odd's step is taken; Even has stayed.
    TakeAlone,
}

/// The kind of a vertex: what is chosen, and which side answers, 0 being the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) phase: Phase,
    pub(super) answers: usize,
}

/// The phases with a side that answers, those of strong bisimilarity first.
const ANSWERED: [Phase; 4] = [Phase::Answer, Phase::Inspect, Phase::TakeAnswered, Phase::TakeAlone];

impl Kind {
    pub(super) const CHOOSE: Kind = Kind { phase: Phase::Choose, answers: 0 };
    pub(super) const CHOOSE_AGAIN: Kind = Kind { phase: Phase::ChooseAgain, answers: 0 };

    /// How many kinds there are.
    pub(super) fn count(notion: EquivalenceNotion) -> u32 {
        match notion {
            EquivalenceNotion::Strong => 4,
            EquivalenceNotion::Branching | EquivalenceNotion::DivergenceBranching => 2 + 2 * ANSWERED.len() as u32,
        }
    }

    pub(super) fn of(value: Value) -> Kind {
        match value {
            0 => Kind::CHOOSE,
            1 => Kind::CHOOSE_AGAIN,
            _ => Kind { phase: ANSWERED[(value as usize - 2) / 2], answers: value as usize % 2 },
        }
    }

    pub(super) fn value(self) -> Value {
        match self.phase {
            Phase::Choose => 0,
            Phase::ChooseAgain => 1,
            phase => {
                let place = ANSWERED.iter().position(|&one| one == phase).expect("every other phase is answered");
                (2 + 2 * place + self.answers) as Value
            }
        }
    }

    pub(super) fn owner(self) -> Player {
        match self.phase {
            Phase::Choose | Phase::ChooseAgain | Phase::Inspect => Player::Odd,
            Phase::Answer | Phase::TakeAnswered | Phase::TakeAlone => Player::Even,
        }
    }

    pub(super) fn priority(self, notion: EquivalenceNotion) -> Value {
        Value::from(notion != EquivalenceNotion::Strong && self.phase != Phase::Choose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_numbers() {
        for notion in [EquivalenceNotion::Strong, EquivalenceNotion::Branching] {
            for value in 0..Kind::count(notion) {
                assert_eq!(Kind::of(value).value(), value);
            }
        }
        assert_eq!(Kind::of(2), Kind { phase: Phase::Answer, answers: 0 });
        assert_eq!(Kind::of(3), Kind { phase: Phase::Answer, answers: 1 });
    }
}
