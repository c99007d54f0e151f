//! Which states diverge: those from which an infinite path of `τ` starts.
//!
//! In a finite system such a path runs into a cycle of `τ`. A depth-first walk over `τ` colours states: *open* while
//! the walk is below them, *finite* when all their `τ`-successors are, *diverging* when the walk meets an open state (a
//! cycle) or one that diverges: then every open state reaches it and diverges too. Every state is coloured once, so
//! that any number of questions costs together at most one walk over the `τ`-transitions that they reach; nothing is
//! computed for states that no query reaches, so a search that ends early pays only for what it visited. The walk keeps
//! its own stack.
//!
//! From a diverging state one can always step to a diverging state, so the cycle itself is found by walking until a
//! state comes back: [`Divergence::lasso`].

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, StateId};

use crate::explicit::Lts;

const UNKNOWN: u8 = 0;
const OPEN: u8 = 1;
const FINITE: u8 = 2;
const DIVERGING: u8 = 3;

/// Hands the `τ`-successors of a state to its second argument.
pub trait TauSuccessors {
    /// Why they cannot be computed.
    type Cut: From<Stopped>;

    /// Appends them.
    fn append(&mut self, state: u32, successors: &mut Vec<u32>) -> Result<(), Self::Cut>;
}

impl TauSuccessors for &Lts {
    type Cut = Stopped;

    fn append(&mut self, state: u32, successors: &mut Vec<u32>) -> Result<(), Stopped> {
        let steps = self.outgoing(StateId(state)).iter().filter(|step| step.label == LabelId::TAU);
        successors.extend(steps.map(|step| step.target.0));
        Ok(())
    }
}

/// What is known about the divergence of states, by state number.
#[derive(Clone, Debug, Default)]
pub struct Divergence {
    colours: Vec<u8>,
    path: Vec<u32>,
    work: Vec<Visit>,
    successors: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Visit {
    Enter(u32),
    Leave(u32),
}

impl Divergence {
    /// Nothing is known yet.
    pub fn new() -> Divergence {
        Divergence::default()
    }

    fn colour(&mut self, state: u32) -> &mut u8 {
        let index = state as usize;
        if index >= self.colours.len() {
            self.colours.resize(index + 1, UNKNOWN);
        }
        &mut self.colours[index]
    }

    /// Does the state diverge?
    pub fn diverges<T: TauSuccessors>(&mut self, state: u32, steps: &mut T, control: &Control) -> Result<bool, T::Cut> {
        // States that an interrupted walk left open are still unknown.
        while let Some(open) = self.path.pop() {
            *self.colour(open) = UNKNOWN;
        }
        self.work.clear();
        match *self.colour(state) {
            FINITE => return Ok(false),
            DIVERGING => return Ok(true),
            _ => {}
        }
        self.work.push(Visit::Enter(state));
        let mut visited = 0u32;
        while let Some(visit) = self.work.pop() {
            let state = match visit {
                Visit::Leave(state) => {
                    *self.colour(state) = FINITE;
                    self.path.pop();
                    continue;
                }
                Visit::Enter(state) => state,
            };
            if *self.colour(state) != UNKNOWN {
                continue;
            }
            visited += 1;
            if visited.is_multiple_of(4096) {
                control.check()?;
            }
            *self.colour(state) = OPEN;
            self.path.push(state);
            self.work.push(Visit::Leave(state));
            let mut successors = std::mem::take(&mut self.successors);
            successors.clear();
            steps.append(state, &mut successors)?;
            let mut cycle = false;
            for &next in &successors {
                match *self.colour(next) {
                    UNKNOWN => self.work.push(Visit::Enter(next)),
                    OPEN | DIVERGING => cycle = true,
                    _ => {}
                }
            }
            self.successors = successors;
            if cycle {
                while let Some(open) = self.path.pop() {
                    *self.colour(open) = DIVERGING;
                }
                self.work.clear();
            }
        }
        Ok(*self.colour(state) == DIVERGING)
    }

    /// From a diverging state: the `τ`-steps to a cycle, and the steps around it; both as the states stepped to.
    pub fn lasso<T: TauSuccessors>(
        &mut self,
        state: u32,
        steps: &mut T,
        control: &Control,
    ) -> Result<(Vec<u32>, Vec<u32>), T::Cut> {
        let mut position = std::collections::HashMap::from([(state, 0usize)]);
        let mut walk = vec![state];
        let mut successors = Vec::new();
        let mut here = state;
        loop {
            successors.clear();
            steps.append(here, &mut successors)?;
            let mut next = None;
            for &candidate in &successors {
                if self.diverges(candidate, steps, control)? {
                    next = Some(candidate);
                    break;
                }
            }
            here = next.expect("a diverging state steps to a diverging state");
            if let Some(&first) = position.get(&here) {
                let mut cycle = walk.split_off(first + 1);
                cycle.push(here);
                walk.remove(0);
                return Ok((walk, cycle));
            }
            position.insert(here, walk.len());
            walk.push(here);
        }
    }
}

/// Which states of a system diverge, by state number.
pub fn diverging_states(lts: &Lts, control: &Control) -> Result<Vec<bool>, Stopped> {
    lts.make_whole(control)?;
    control.afford(lts.state_count() * 2)?;
    let mut divergence = Divergence::new();
    let mut steps = lts;
    let mut diverging = Vec::with_capacity(lts.state_count());
    for state in lts.states() {
        diverging.push(divergence.diverges(state.0, &mut steps, control)?);
    }
    Ok(diverging)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trefoil_system::Labels;

    use super::*;
    use crate::explicit::LtsBuilder;
    use crate::random::{Random, RandomShape, random_lts};

    /// Removes states without `τ` until none is left; a state that loses every `τ` does not diverge.
    fn by_taking_away(lts: &Lts) -> Vec<bool> {
        let mut left = vec![true; lts.state_count()];
        loop {
            let gone = lts.states().find(|&state| {
                left[state.index()]
                    && !lts.outgoing(state).iter().any(|t| t.label == LabelId::TAU && left[t.target.index()])
            });
            match gone {
                Some(state) => left[state.index()] = false,
                None => return left,
            }
        }
    }

    #[test]
    fn the_walk_agrees_with_taking_away() {
        let control = Control::unlimited();
        for seed in 0..2000 {
            let mut random = Random::new(seed);
            let states = 1 + random.below(12);
            let shape = RandomShape {
                states: states as u32,
                transitions: random.below(2 * states + 1),
                labels: 1,
                tau_percent: 60,
            };
            let lts = random_lts(&Arc::new(Labels::new()), shape, &mut random);
            let expected = by_taking_away(&lts);
            assert_eq!(diverging_states(&lts, &control).unwrap(), expected, "seed {seed}: {lts:?}");
            let mut divergence = Divergence::new();
            for state in lts.states().filter(|state| expected[state.index()]) {
                let (stem, cycle) = divergence.lasso(state.0, &mut &lts, &control).unwrap();
                let walk: Vec<u32> = [state.0].into_iter().chain(stem).chain(cycle.iter().copied()).collect();
                for pair in walk.windows(2) {
                    let steps = lts.outgoing(StateId(pair[0]));
                    assert!(steps.iter().any(|t| t.label == LabelId::TAU && t.target.0 == pair[1]), "seed {seed}");
                }
                assert_eq!(walk[walk.len() - 1 - cycle.len()], walk[walk.len() - 1], "seed {seed}");
            }
        }
    }

    #[test]
    fn a_long_chain_needs_no_call_stack() {
        let labels = Arc::new(Labels::new());
        let mut builder = LtsBuilder::new(labels);
        for state in 0..300_000 {
            builder.add(StateId(state), LabelId::TAU, StateId(state + 1));
        }
        let chain = builder.clone().build(StateId(0));
        assert!(diverging_states(&chain, &Control::unlimited()).unwrap().into_iter().all(|diverges| !diverges));
        builder.add(StateId(300_000), LabelId::TAU, StateId(300_000));
        let looping = builder.build(StateId(0));
        assert!(diverging_states(&looping, &Control::unlimited()).unwrap().into_iter().all(|diverges| diverges));
    }
}
