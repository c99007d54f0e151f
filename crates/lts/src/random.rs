//! Random systems: for users who want something to try a tool on, and for tests.
//!
//! The stream of numbers is SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014):
//! the same seed gives the same system on every machine and in every version.

use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, Labels, StateId};

use crate::explicit::{Lts, LtsBuilder};

/// A reproducible stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// True with probability `percent` in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// The shape of a random system.
#[derive(Clone, Copy, Debug)]
pub struct RandomShape {
    /// Number of states; at least one.
    pub states: u32,
    /// Number of transitions.
    pub transitions: usize,
    /// Number of visible labels; when there is none, every transition is `τ`.
    pub labels: usize,
    /// How many of a hundred transitions are `τ`.
    pub tau_percent: usize,
}

/// A system with uniformly chosen sources, labels and targets, starting in state 0.
///
/// Labels are `a0`, `a1`, …. The first transitions lead from a state to each later one in turn, as far as they go, so
/// that most states are reachable.
pub fn random_lts(labels: &Arc<Labels>, shape: RandomShape, random: &mut Random) -> Lts {
    budgeted_random_lts(labels, shape, random, &Control::unlimited()).expect("there is no budget")
}

/// The same within a budget.
pub fn budgeted_random_lts(
    labels: &Arc<Labels>,
    shape: RandomShape,
    random: &mut Random,
    control: &Control,
) -> Result<Lts, Stopped> {
    control.progress().begin("making a random system", shape.transitions as u64);
    let names: Vec<LabelId> = (0..shape.labels).map(|i| labels.name(&format!("a{i}"))).collect();
    let states = shape.states.max(1);
    let mut builder = LtsBuilder::new(labels.clone());
    builder.at_least(states);
    for index in 0..shape.transitions {
        if index.is_multiple_of(1 << 16) {
            control.check()?;
            control.progress().done(index as u64);
        }
        let reaching = index + 1 < states as usize;
        let source = random.below(if reaching { index + 1 } else { states as usize });
        let target = if reaching { index + 1 } else { random.below(states as usize) };
        let visible = !names.is_empty() && !random.chance(shape.tau_percent);
        let label = if visible { names[random.below(names.len())] } else { LabelId::TAU };
        builder.add(StateId(source as u32), label, StateId(target as u32));
    }
    Ok(builder.build(StateId(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_system() {
        let shape = RandomShape { states: 9, transitions: 30, labels: 3, tau_percent: 20 };
        let make = |seed| format!("{:?}", random_lts(&Arc::new(Labels::new()), shape, &mut Random::new(seed)));
        assert_eq!(make(7), make(7));
        assert_ne!(make(7), make(8));
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_it() {
        let mut random = Random::new(1);
        let mut seen = [0u32; 5];
        for _ in 0..1000 {
            seen[random.below(5)] += 1;
        }
        assert!(seen.iter().all(|&count| count > 120), "{seen:?}");
    }
}
