//! Transitions in any order, gathered into rows with little memory to spare.
//!
//! What is read goes into chunks of fixed size, 12 bytes a transition, so nothing is copied when there turn out to be
//! more, and nothing is allocated because a header promised it. At the end one pass counts the transitions of each
//! state and a second one puts them into their rows, freeing each chunk as soon as it is empty. Files are usually
//! sorted by source; then the rows are filled from front to back and the peak stays near 12 bytes a transition. In any
//! other order it is 20. Row starts take another 8 bytes a state.
//!
//! The array of starts serves as its own cursor: counts are put two places late, so that after the running sum entry
//! `s + 1` is where row `s` begins, and after the rows are filled it is where row `s` ends.

use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, Labels, StateId};

use crate::explicit::{Lts, Transition};

/// Large enough (36 MB) that allocators take a chunk from the operating system and give it back there when it is freed.
const CHUNK: usize = 3 << 20;

#[derive(Clone, Copy)]
struct Edge {
    source: StateId,
    transition: Transition,
}

/// Collects transitions whose states are known to be below the number of states.
pub(crate) struct Gather {
    chunks: Vec<Vec<Edge>>,
    current: Vec<Edge>,
    last_source: StateId,
    sorted: bool,
}

impl Gather {
    pub(crate) fn new() -> Gather {
        Gather { chunks: Vec::new(), current: Vec::new(), last_source: StateId(0), sorted: true }
    }

    #[inline]
    pub(crate) fn add(&mut self, source: StateId, label: LabelId, target: StateId) {
        self.sorted &= self.last_source <= source;
        self.last_source = source;
        self.current.push(Edge { source, transition: Transition { label, target } });
        if self.current.len() >= CHUNK {
            self.next_chunk();
        }
    }

    #[cold]
    fn next_chunk(&mut self) {
        let full = std::mem::replace(&mut self.current, Vec::with_capacity(CHUNK));
        self.chunks.push(full);
    }

    pub(crate) fn count(&self) -> usize {
        self.chunks.len() * CHUNK + self.current.len()
    }

    /// The rows; `initial` and all states that were added are below `states`.
    pub(crate) fn build(
        mut self,
        labels: &Arc<Labels>,
        initial: StateId,
        states: u32,
        control: &Control,
    ) -> Result<Lts, Stopped> {
        let states = states as usize;
        let count = self.count();
        if !self.current.is_empty() {
            self.chunks.push(std::mem::take(&mut self.current));
        }
        control.afford(row_bytes(states) + count * size_of::<Transition>())?;
        let mut starts = vec![0usize; states + 2];
        for chunk in &self.chunks {
            control.check()?;
            for edge in chunk {
                starts[edge.source.index() + 2] += 1;
            }
        }
        for state in 2..starts.len() {
            starts[state] += starts[state - 1];
        }
        let mut transitions = Vec::with_capacity(count);
        if self.sorted {
            for chunk in self.chunks {
                control.check()?;
                for edge in chunk {
                    starts[edge.source.index() + 1] += 1;
                    transitions.push(edge.transition);
                }
            }
        } else {
            transitions.resize(count, Transition { label: LabelId::TAU, target: StateId(0) });
            for chunk in self.chunks {
                control.check()?;
                for edge in chunk {
                    let next = &mut starts[edge.source.index() + 1];
                    transitions[*next] = edge.transition;
                    *next += 1;
                }
            }
        }
        starts.pop();
        Ok(Lts::from_rows(labels.clone(), initial, starts, transitions))
    }
}

/// What the row starts of this many states take.
pub(crate) fn row_bytes(states: usize) -> usize {
    states.saturating_add(2).saturating_mul(size_of::<usize>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explicit::LtsBuilder;
    use crate::random::Random;

    #[test]
    fn sorted_or_not_the_rows_are_those_of_the_builder() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let labels = Arc::new(Labels::new());
            let states = 1 + random.below(20) as u32;
            let mut edges: Vec<(u32, u32)> = (0..random.below(200))
                .map(|_| (random.below(states as usize) as u32, random.below(states as usize) as u32))
                .collect();
            if seed % 2 == 0 {
                edges.sort_unstable();
            }
            let mut gather = Gather::new();
            let mut builder = LtsBuilder::new(labels.clone());
            builder.at_least(states);
            for &(source, target) in &edges {
                gather.add(StateId(source), LabelId::TAU, StateId(target));
                builder.add(StateId(source), LabelId::TAU, StateId(target));
            }
            let gathered = gather.build(&labels, StateId(0), states, &Control::unlimited());
            let gathered = gathered.map(|lts| format!("{lts:?}"));
            assert_eq!(gathered, Ok(format!("{:?}", builder.build(StateId(0)))), "seed {seed}");
        }
    }

    #[test]
    fn more_than_one_chunk() {
        let labels = Arc::new(Labels::new());
        let mut gather = Gather::new();
        let count = CHUNK + 4;
        for index in 0..count {
            gather.add(StateId((index % 3) as u32), LabelId::TAU, StateId(0));
        }
        assert_eq!(gather.count(), count);
        let lts = gather.build(&labels, StateId(0), 3, &Control::unlimited()).expect("no budget");
        assert_eq!(lts.transition_count(), count);
        assert_eq!(lts.outgoing(StateId(1)).len(), (count - 1).div_ceil(3));
    }
}
