//! The explicit graph of a system.
//!
//! Threads number states as they find them. Afterwards the graph is walked once more, breadth-first, each state's steps
//! in the order in which the system gives them, and the states are numbered in the order of their first visit: the same
//! system gives the same graph whatever the number of threads.
//!
//! Lists of steps grow block by block: a vector that grows is copied, and for a moment takes three times what it holds.
//!
//! Cost: the search, and 16 bytes a transition and 40 a state at the peak beside the store.

use trefoil_control::Control;
use trefoil_system::{Cut, Explorer, LabelId, StateId, System};

use crate::search::{Counts, End, Exploration, Finding, Options, Order, Visited, Visitor, search};
use crate::states::States;

/// An explicit graph: state 0 is the initial one.
pub struct Collected {
    /// The transitions of state `s` are `transitions[starts[s]..starts[s + 1]]`.
    pub starts: Vec<usize>,
    /// Label and target.
    pub transitions: Vec<(LabelId, StateId)>,
    /// For every state of the graph, its number in `states`.
    pub origins: Vec<StateId>,
    /// The rows.
    pub states: States,
    /// How much the search did.
    pub counts: Counts,
}

/// A search that ended too early, and what it did until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Why.
    pub cut: Cut,
    /// How far it came.
    pub counts: Counts,
}

/// One thread's share of the transitions.
#[derive(Default)]
struct Collector {
    sources: Blocks<(StateId, usize)>,
    transitions: Blocks<(LabelId, StateId)>,
}

/// A list in blocks, which never move.
struct Blocks<T> {
    blocks: Vec<Vec<T>>,
}

impl<T> Default for Blocks<T> {
    fn default() -> Blocks<T> {
        Blocks { blocks: Vec::new() }
    }
}

impl<T: Copy> Blocks<T> {
    /// How many entries a block has.
    const SIZE: usize = 1 << 16;

    fn len(&self) -> usize {
        self.blocks.last().map_or(0, |last| (self.blocks.len() - 1) * Self::SIZE + last.len())
    }

    fn push(&mut self, entry: T) {
        match self.blocks.last_mut().filter(|last| last.len() < Self::SIZE) {
            Some(last) => last.push(entry),
            None => {
                // Most lists are short.
                let mut block = if self.blocks.is_empty() { Vec::new() } else { Vec::with_capacity(Self::SIZE) };
                block.push(entry);
                self.blocks.push(block);
            }
        }
    }

    #[inline]
    fn at(&self, index: usize) -> T {
        self.blocks[index / Self::SIZE][index % Self::SIZE]
    }

    fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.blocks.iter().flatten().copied()
    }
}

impl Visitor for Collector {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.sources.push((state.id, self.transitions.len()));
        state.steps.iter().for_each(|edge| self.transitions.push((edge.label, edge.target)));
        Ok(Finding::Nothing)
    }
}

/// Explores all of a system and returns its graph, numbered breadth-first from 0.
pub fn collect(system: &dyn System, threads: usize, control: &Control) -> Result<Collected, Unfinished> {
    let options = Options { threads, order: Order::Steps, ..Options::default() };
    let Exploration { end, counts, initial, states, mut visitors, .. } =
        search(system, &options, control, Collector::default);
    let unfinished = |cut: Cut| Unfinished { cut, counts };
    if let End::Cut(cut) = end {
        return Err(unfinished(cut));
    }
    let count = counts.states as usize;
    let bound = states.id_bound();
    control
        .afford(bound * 12 + count * 12 + counts.transitions as usize * 8)
        .map_err(|stopped| unfinished(stopped.into()))?;
    for part in &mut visitors {
        part.sources.push((StateId(u32::MAX), part.transitions.len()));
    }
    // Where the steps of a state are: which part, which of its sources.
    let mut place = vec![(0u32, 0u32); bound];
    for (part, visitor) in visitors.iter().enumerate() {
        for (index, (id, _)) in visitor.sources.iter().take(visitor.sources.len() - 1).enumerate() {
            place[id.index()] = (part as u32, index as u32);
        }
    }
    const UNMET: u32 = u32::MAX;
    let mut number = vec![UNMET; bound];
    let mut origins = Vec::with_capacity(count);
    let mut starts = Vec::with_capacity(count + 1);
    let mut transitions = Vec::with_capacity(counts.transitions as usize);
    number[initial.index()] = 0;
    origins.push(initial);
    let mut at = 0;
    while at < origins.len() {
        if at % 65_536 == 0 {
            control.check().map_err(|stopped| unfinished(stopped.into()))?;
        }
        starts.push(transitions.len());
        let (part, index) = place[origins[at].index()];
        let part = &visitors[part as usize];
        for step in part.sources.at(index as usize).1..part.sources.at(index as usize + 1).1 {
            let (label, target) = part.transitions.at(step);
            let mut new = number[target.index()];
            if new == UNMET {
                new = origins.len() as u32;
                number[target.index()] = new;
                origins.push(target);
            }
            transitions.push((label, StateId(new)));
        }
        at += 1;
    }
    starts.push(transitions.len());
    Ok(Collected { starts, transitions, origins, states, counts })
}
