//! A component's transitions, arranged for rules.
//!
//! The labels of one LTS are numbered from 0 in ascending order; the transitions of a state are sorted by that number,
//! and equal ones kept once. What a state can do under one label is an *offer*: a range of targets. The offers of a
//! state are walked in order, and found by label: by a table of states and labels where that is not much larger than
//! the offers themselves, and small, and by bisection otherwise: a state has few labels, and a large table is not in
//! the cache. Components that are the same LTS share one machine. [`Machine::bytes`] is what a caller has to afford
//! before a machine is made.
//!
//! Where states of the LTS share parts of their rows ([`trefoil_lts::SharedRows`]), the offers of a fragment are kept
//! once, before those of the states' own transitions, and the offers of a state are those of its parts, one part after
//! the other. No label occurs in two of them.

use std::ops::Range;

use trefoil_lts::{Lts, SharedRows, Transition};
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
    shared: Option<Shared>,
}

/// The offers that states share.
struct Shared {
    /// Where the offers of each fragment are.
    ranges: Vec<(u32, u32)>,
    /// The fragments of state `s` are `rows[starts[s]..starts[s + 1]]`.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Shared {
    #[inline]
    fn of(&self, state: u32) -> &[u32] {
        &self.rows[self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize]
    }
}

/// The numbers of a state's offers, one range after the other.
#[derive(Clone)]
pub(crate) struct Offers<'m> {
    current: Range<usize>,
    rest: std::slice::Iter<'m, u32>,
    ranges: &'m [(u32, u32)],
}

impl Offers<'_> {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        let range = |&fragment: &u32| self.ranges[fragment as usize];
        self.current.len() + self.rest.clone().map(range).map(|(from, to)| (to - from) as usize).sum::<usize>()
    }
}

impl Iterator for Offers<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        loop {
            if let Some(index) = self.current.next() {
                return Some(index);
            }
            let (from, to) = self.ranges[*self.rest.next()? as usize];
            self.current = from as usize..to as usize;
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Offer {
    pub(crate) label: u32,
    start: u32,
}

impl Machine {
    /// How many cells the tables of a network may take beyond those proportional to its offers.
    pub(crate) const SPARE_CELLS: usize = 1 << 22;

    /// More cells than this no table has.
    const MOST_CELLS: usize = 1 << 22;

    /// The most bytes that the machine of an LTS takes.
    pub(crate) fn bytes(lts: &Lts) -> usize {
        let stored = lts.shared().map_or(lts.transition_count(), SharedRows::stored);
        let table = (8 * stored).min(Machine::MOST_CELLS);
        stored * (size_of::<Offer>() + size_of::<u32>()) + (lts.state_count() + table) * size_of::<u32>()
    }

    /// The machine of an LTS; its table takes the cells beyond those proportional to its offers from the spare ones.
    pub(crate) fn new(lts: &Lts, spare_cells: &mut usize) -> Result<Machine, TooLarge> {
        let stored = lts.shared().map_or(lts.transition_count(), SharedRows::stored);
        if u32::try_from(stored).is_err() {
            return Err(TooLarge);
        }
        let labels = lts.alphabet();
        let mut machine = Machine {
            offered: vec![0; labels.len()],
            labels,
            starts: Vec::with_capacity(lts.state_count() + 1),
            offers: Vec::with_capacity(stored + 1),
            targets: Vec::with_capacity(stored),
            table: Vec::new(),
            shared: None,
        };
        let mut sorted: Vec<(u32, u32)> = Vec::new();
        if let Some(rows) = lts.shared() {
            machine.share(lts, rows, &mut sorted)?;
        }
        for state in lts.states() {
            machine.starts.push(machine.offers.len() as u32);
            let own = lts.shared().map_or_else(|| lts.outgoing(state), |rows| rows.own(state));
            machine.offer_all(own, 1, &mut sorted);
        }
        machine.starts.push(machine.offers.len() as u32);
        machine.offers.push(Offer { label: u32::MAX, start: machine.targets.len() as u32 });
        if machine.shared.is_none() {
            machine.tabulate(lts.state_count(), spare_cells);
        }
        Ok(machine)
    }

    /// Adds the offers of fragments.
    fn share(&mut self, lts: &Lts, rows: &SharedRows, sorted: &mut Vec<(u32, u32)>) -> Result<(), TooLarge> {
        let mut shared = Shared { ranges: Vec::new(), starts: vec![0], rows: Vec::new() };
        let mut uses = vec![0u32; rows.fragment_count()];
        for state in lts.states() {
            shared.rows.extend_from_slice(rows.fragments_of(state));
            rows.fragments_of(state).iter().for_each(|&fragment| uses[fragment as usize] += 1);
            shared.starts.push(u32::try_from(shared.rows.len()).map_err(|_| TooLarge)?);
        }
        for (fragment, &uses) in (0..).zip(&uses) {
            let from = self.offers.len() as u32;
            self.offer_all(rows.fragment(fragment), uses, sorted);
            shared.ranges.push((from, self.offers.len() as u32));
        }
        self.shared = Some(shared);
        Ok(())
    }

    /// Adds the offers of some transitions, which belong to so many states.
    fn offer_all(&mut self, steps: &[Transition], states: u32, sorted: &mut Vec<(u32, u32)>) {
        sorted.clear();
        sorted.extend(steps.iter().map(|t| (self.known(t.label), t.target.0)));
        sorted.sort_unstable();
        sorted.dedup();
        let mut last = None;
        for &(label, target) in &*sorted {
            if last != Some(label) {
                self.offers.push(Offer { label, start: self.targets.len() as u32 });
                self.offered[label as usize] += states;
                last = Some(label);
            }
            self.targets.push(target);
        }
    }

    fn tabulate(&mut self, states: usize, spare_cells: &mut usize) {
        let cells = states.saturating_mul(self.labels.len());
        if cells > Machine::MOST_CELLS {
            return;
        }
        if cells > 8 * self.offers.len() {
            if cells > (1 << 16).min(*spare_cells) {
                return;
            }
            *spare_cells -= cells;
        }
        let mut table = vec![0; cells];
        for state in 0..states {
            for index in self.own_offers(state as u32) {
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

    /// The numbers of a state's offers that it shares with no other.
    #[inline]
    fn own_offers(&self, state: u32) -> Range<usize> {
        self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize
    }

    /// The numbers of a state's offers.
    #[inline]
    pub(crate) fn offers_of(&self, state: u32) -> Offers<'_> {
        let (rest, ranges) = match &self.shared {
            None => (&[][..], &[][..]),
            Some(shared) => (shared.of(state), &shared.ranges[..]),
        };
        Offers { current: self.own_offers(state), rest: rest.iter(), ranges }
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

    /// The targets under a label among some offers, which are sorted.
    #[inline]
    fn find_among(&self, offers: Range<usize>, local: u32) -> &[u32] {
        let first = offers.start;
        match self.offers[offers].binary_search_by_key(&local, |offer| offer.label) {
            Ok(index) => self.targets_of(first + index),
            Err(_) => &[],
        }
    }

    /// The targets of a state under a label; none when it does not offer it.
    #[inline]
    pub(crate) fn find(&self, state: u32, local: u32) -> &[u32] {
        if self.table.is_empty() {
            if let found @ [_, ..] = self.find_among(self.own_offers(state), local) {
                return found;
            }
            let Some(shared) = &self.shared else { return &[] };
            let ranges = shared.of(state).iter().map(|&fragment| shared.ranges[fragment as usize]);
            let mut found = ranges.map(|(from, to)| self.find_among(from as usize..to as usize, local));
            return found.find(|targets| !targets.is_empty()).unwrap_or_default();
        }
        match self.table[state as usize * self.labels.len() + local as usize] {
            0 => &[],
            found => self.targets_of(found as usize - 1),
        }
    }
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
            assert_eq!(machine.labels(), lts.alphabet());
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
    fn parts_of_rows_are_found_as_whole_rows_are() {
        let labels = Arc::new(Labels::new());
        let names: Vec<LabelId> = (0..300).map(|number| labels.name(&format!("a{number}"))).collect();
        let mut random = Random::new(6);
        let mut rows = SharedRows::default();
        let step = |label, target: usize| Transition { label, target: StateId(target as u32) };
        for group in 0..2 {
            let steps: Vec<Transition> =
                names[100 * group..100 * (group + 1)].iter().map(|&label| step(label, random.below(80))).collect();
            rows.add_fragment(steps);
        }
        for state in 0..80 {
            let own = [step(names[200 + state], random.below(80)), step(names[290], 0), step(names[290], 1)];
            let parts: &[u32] = [&[][..], &[0], &[1], &[0, 1]][random.below(4)];
            rows.add_state(&own, parts);
        }
        let lts = Lts::from_shared(labels, StateId(0), rows);
        assert!(lts.shared().is_some());
        let machine = Machine::new(&lts, &mut { Machine::SPARE_CELLS }).expect("small");
        for state in lts.states() {
            let whole = lts.outgoing(state);
            let mut offered = 0;
            for offer in machine.offers_of(state.0) {
                offered += machine.targets_of(offer).len();
                let label = machine.labels()[machine.offer(offer).label as usize];
                assert!(machine.targets_of(offer).iter().all(|&to| whole.contains(&step(label, to as usize))));
            }
            assert_eq!((offered, machine.offers_of(state.0).len()), (whole.len(), whole.len() - 1));
            for (local, &label) in (0..).zip(machine.labels()) {
                let targets: Vec<u32> = whole.iter().filter(|t| t.label == label).map(|t| t.target.0).collect();
                assert_eq!(machine.find(state.0, local), targets);
                let states = lts.states().filter(|&state| lts.outgoing(state).iter().any(|t| t.label == label));
                assert_eq!(machine.offered[local as usize] as usize, states.count());
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
