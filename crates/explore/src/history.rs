//! Which states were expanded when: the rounds of a breadth-first search.
//!
//! A round is a list of ranges of consecutive numbers. Where numbers are positions the ranges are long, and the history
//! of a billion states is a few megabytes; in a dense set, whose numbers are the rows themselves, most ranges are
//! single states. So ranges are written as differences, in groups of seven bits: two to five bytes a range.

use std::ops::Range;

use trefoil_system::StateId;

use crate::frontier::Frontier;

/// The rounds of a search.
#[derive(Default)]
pub(crate) struct History {
    bytes: Vec<u8>,
    rounds: Vec<Round>,
}

/// One round.
#[derive(Clone, Copy)]
struct Round {
    /// Behind its last byte.
    end: usize,
    /// The distance of its states, and the silent steps to them.
    distance: u32,
    silent: u32,
}

impl History {
    /// Notes a round.
    pub(crate) fn add(&mut self, round: &Frontier, distance: u32, silent: u32) {
        let mut last = 0;
        for range in round.ranges() {
            // Ranges come in any order: the sign goes to the lowest bit.
            let step = i64::from(range.start) - last;
            self.write((step << 1 ^ step >> 63) as u64);
            self.write(u64::from(range.end - range.start));
            last = i64::from(range.end);
        }
        self.rounds.push(Round { end: self.bytes.len(), distance, silent });
    }

    fn write(&mut self, mut value: u64) {
        while value >= 128 {
            self.bytes.push(value as u8 | 128);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// The ranges of a round.
    pub(crate) fn ranges(&self, round: usize) -> impl Iterator<Item = Range<u32>> + '_ {
        let start = if round == 0 { 0 } else { self.rounds[round - 1].end };
        let mut bytes = self.bytes[start..self.rounds[round].end].iter();
        let mut last = 0;
        std::iter::from_fn(move || {
            let step = read(&mut bytes)?;
            let length = read(&mut bytes)? as u32;
            let start = (last + ((step >> 1) as i64 ^ -((step & 1) as i64))) as u32;
            last = i64::from(start + length);
            Some(start..start + length)
        })
    }

    /// The states of a round.
    pub(crate) fn frontier(&self, round: usize) -> Frontier {
        self.ranges(round).collect()
    }

    /// How many rounds there are.
    pub(crate) fn len(&self) -> usize {
        self.rounds.len()
    }

    /// The states of all rounds from this one on.
    pub(crate) fn since(&self, round: usize) -> Frontier {
        (round..self.len()).flat_map(|round| self.ranges(round)).collect()
    }

    /// The states of each round from this one on.
    pub(crate) fn rounds_since(&self, round: usize) -> Vec<Frontier> {
        (round..self.len()).map(|round| self.frontier(round)).collect()
    }

    /// The distance of the states of a round, and the silent steps to them.
    pub(crate) fn place(&self, round: usize) -> (u32, u32) {
        (self.rounds[round].distance, self.rounds[round].silent)
    }

    /// The round at a place.
    pub(crate) fn at(&self, place: (u32, u32)) -> Option<usize> {
        self.rounds.binary_search_by_key(&place, |round| (round.distance, round.silent)).ok()
    }

    /// The round in which a state was expanded, if it was.
    pub(crate) fn round_of(&self, state: StateId) -> Option<usize> {
        (0..self.rounds.len()).find(|&round| self.ranges(round).any(|range| range.contains(&state.0)))
    }
}

/// One number, if there is one more.
fn read<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> Option<u64> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = *bytes.next()?;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_come_back() {
        let rounds: [&[u32]; 4] =
            [&[0], &[1, 2, 3, 200, 201, 7, u32::MAX - 1, 5], &[], &[4_000_000_000, 70_000, 70_001, 128, 127]];
        let mut history = History::default();
        for (distance, states) in rounds.iter().enumerate() {
            let mut frontier = Frontier::default();
            states.iter().for_each(|&state| frontier.push(StateId(state)));
            history.add(&frontier, distance as u32, 7);
        }
        for (round, states) in rounds.iter().enumerate() {
            assert!(history.frontier(round).states().map(|state| state.0).eq(states.iter().copied()));
            assert_eq!(history.place(round), (round as u32, 7));
            assert!(states.iter().all(|&state| history.round_of(StateId(state)) == Some(round)));
        }
        assert_eq!(history.round_of(StateId(6)), None);
    }
}
