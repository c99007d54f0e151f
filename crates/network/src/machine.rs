//! A component's transitions, arranged for rules.
//!
//! The labels of one LTS are numbered from 0 in ascending order; the transitions of a state are sorted by that number,
//! and equal ones kept once. What a state can do under one label is an *offer*: a range of targets. The offers of a
//! state are walked in order, and found by label: by a table of states and labels where that is not much larger than
//! the offers themselves, and by bisection otherwise. Components that are the same LTS share one machine.

use std::ops::Range;

use trefoil_lts::Lts;
use trefoil_system::LabelId;

/// A machine that is too large for 32-bit positions.
#[derive(Debug)]
pub(crate) struct TooLarge;

pub(crate) struct Machine {
    /// The labels, ascending; their positions are the local numbers.
    labels: Vec<LabelId>,
    /// The offers of state `s` are `offers[starts[s]..starts[s + 1]]`.
    starts: Vec<u32>,
    /// By local label; one more at the end.
    offers: Vec<Offer>,
    targets: Vec<u32>,
    /// For every state and label the offer's number plus one, or zero; empty when it would be too large.
    table: Vec<u32>,
    /// In how many states a label is offered.
    offered: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(crate) struct Offer {
    pub(crate) label: u32,
    start: u32,
}

impl Machine {
    /// How many cells the tables of a network may take beyond those proportional to its offers.
    pub(crate) const SPARE_CELLS: usize = 1 << 22;

    /// The machine of an LTS; its table takes the cells beyond those proportional to its offers from the spare ones.
    pub(crate) fn new(lts: &Lts, spare_cells: &mut usize) -> Result<Machine, TooLarge> {
        if u32::try_from(lts.transition_count()).is_err() {
            return Err(TooLarge);
        }
        let labels = alphabet(lts);
        let mut machine = Machine {
            offered: vec![0; labels.len()],
            labels,
            starts: Vec::with_capacity(lts.state_count() + 1),
            offers: Vec::new(),
            targets: Vec::with_capacity(lts.transition_count()),
            table: Vec::new(),
        };
        let mut sorted: Vec<(u32, u32)> = Vec::new();
        for state in lts.states() {
            machine.starts.push(machine.offers.len() as u32);
            sorted.clear();
            sorted.extend(lts.outgoing(state).iter().map(|t| (machine.known(t.label), t.target.0)));
            sorted.sort_unstable();
            sorted.dedup();
            let mut last = None;
            for &(label, target) in &sorted {
                if last != Some(label) {
                    machine.offers.push(Offer { label, start: machine.targets.len() as u32 });
                    machine.offered[label as usize] += 1;
                    last = Some(label);
                }
                machine.targets.push(target);
            }
        }
        machine.starts.push(machine.offers.len() as u32);
        machine.offers.push(Offer { label: u32::MAX, start: machine.targets.len() as u32 });
        machine.tabulate(lts.state_count(), spare_cells);
        Ok(machine)
    }

    fn tabulate(&mut self, states: usize, spare_cells: &mut usize) {
        let cells = states.saturating_mul(self.labels.len());
        if cells > 8 * self.offers.len() {
            if cells > (1 << 16).min(*spare_cells) {
                return;
            }
            *spare_cells -= cells;
        }
        let mut table = vec![0; cells];
        for state in 0..states {
            for index in self.offers_of(state as u32) {
                table[state * self.labels.len() + self.offers[index].label as usize] = index as u32 + 1;
            }
        }
        self.table = table;
    }

    /// The labels that occur, ascending.
    pub(crate) fn labels(&self) -> &[LabelId] {
        &self.labels
    }

    /// The local number of a label.
    pub(crate) fn local(&self, label: LabelId) -> Option<u32> {
        self.labels.binary_search(&label).ok().map(|index| index as u32)
    }

    fn known(&self, label: LabelId) -> u32 {
        self.local(label).expect("every label was collected")
    }

    pub(crate) fn state_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The share of states that offer a label.
    pub(crate) fn frequency(&self, local: u32) -> f64 {
        f64::from(self.offered[local as usize]) / self.state_count() as f64
    }

    /// The numbers of a state's offers.
    #[inline]
    pub(crate) fn offers_of(&self, state: u32) -> Range<usize> {
        self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize
    }

    #[inline]
    pub(crate) fn offer(&self, index: usize) -> Offer {
        self.offers[index]
    }

    /// The targets of an offer.
    #[inline]
    pub(crate) fn targets_of(&self, index: usize) -> &[u32] {
        &self.targets[self.offers[index].start as usize..self.offers[index + 1].start as usize]
    }

    /// The targets of a state under a label; none when it does not offer it.
    #[inline]
    pub(crate) fn find(&self, state: u32, local: u32) -> &[u32] {
        if self.table.is_empty() {
            let offers = self.offers_of(state);
            let first = offers.start;
            return match self.offers[offers].binary_search_by_key(&local, |offer| offer.label) {
                Ok(index) => self.targets_of(first + index),
                Err(_) => &[],
            };
        }
        match self.table[state as usize * self.labels.len() + local as usize] {
            0 => &[],
            found => self.targets_of(found as usize - 1),
        }
    }
}

/// The labels that occur on the transitions of an LTS, ascending.
pub(crate) fn alphabet(lts: &Lts) -> Vec<LabelId> {
    if lts.labels().len() > 64 + 4 * lts.transition_count() {
        // A small component of a large network does not look at the whole table.
        let mut labels: Vec<LabelId> = lts.transitions().iter().map(|transition| transition.label).collect();
        labels.sort_unstable();
        labels.dedup();
        return labels;
    }
    let mut occurs = vec![false; lts.labels().len()];
    for transition in lts.transitions() {
        occurs[transition.label.index()] = true;
    }
    (0..occurs.len() as u32).map(LabelId).filter(|label| occurs[label.index()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use trefoil_lts::LtsBuilder;
    use trefoil_lts::random::{Random, RandomShape, random_lts};
    use trefoil_system::{Labels, StateId};

    #[test]
    fn a_machine_finds_what_the_lts_has() {
        let labels = Arc::new(Labels::new());
        let mut random = Random::new(5);
        for (states, transitions, names) in [(1, 0, 1), (7, 30, 3), (400, 900, 2000)] {
            let shape = RandomShape { states, transitions, labels: names, tau_percent: 20 };
            let lts = random_lts(&labels, shape, &mut random);
            let machine = Machine::new(&lts, &mut { Machine::SPARE_CELLS }).expect("small");
            assert_eq!(machine.labels(), alphabet(&lts));
            assert_eq!(machine.table.is_empty(), states != 7);
            for state in lts.states() {
                for (local, &label) in machine.labels().iter().enumerate() {
                    let mut expected: Vec<u32> =
                        lts.outgoing(state).iter().filter(|t| t.label == label).map(|t| t.target.0).collect();
                    expected.sort_unstable();
                    expected.dedup();
                    assert_eq!(machine.find(state.0, local as u32), expected);
                }
            }
        }
    }

    #[test]
    fn repeated_transitions_are_kept_once() {
        let labels = Arc::new(Labels::new());
        let a = labels.name("a");
        let mut builder = LtsBuilder::new(labels);
        builder.add(StateId(0), a, StateId(1)).add(StateId(0), a, StateId(1));
        let machine = Machine::new(&builder.build(StateId(0)), &mut 0).expect("small");
        assert_eq!(machine.find(0, 0).len(), 1);
    }
}
