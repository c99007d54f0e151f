//! Probabilistic search: it keeps a few bits per state instead of the states, so that systems can be searched whose
//! states do not fit into memory.
//!
//! There are two kinds of tables of visited states, and both may take a new state for a visited one; that state, and
//! whatever is reached only through it, is then missed. So a search that finds nothing proves nothing, and reports how
//! likely it missed something; what it finds is real.
//!
//! - *Hash compaction* keeps 64 bits of a hash of each state (Wolper and Leroy, *Reliable hashing without collision
//!   detection*, 1993): eight bytes a state, between 9 and 18 with the free places of the table. With `n` states, about
//!   `n²/2^65` of them are missed.
//! - *Bitstate hashing* keeps `k` bits of a table of fixed size (Holzmann, *An analysis of bitstate hashing*, 1998), at
//!   places that come from two hashes (Dillinger and Manolios, *Bloom filters in probabilistic verification*, 2004). A
//!   state counts as visited when all its bits are set; with a fraction `f` of all bits set that happens by accident
//!   with probability `f^k`. What was missed is estimated by summing that over the states that were found; what is
//!   reached only through missed states is not in the sum.
//!
//! # Order, and runs
//!
//! The search is breadth-first and on one thread, level by level, the rows of two levels being kept packed, so states
//! have numbers: the order in which they were found, which is the same each time. Of a state only those bits are kept,
//! so a run to it is found by searching once more, this time with the number of the parent and of the step for each
//! state (eight bytes a state), up to the wanted one: [`Probe::path`]. A run is of least length among those whose
//! states were not missed; it is shortest when nothing was.
//!
//! # Invariants
//!
//! - A state that counts as new is new: no state is visited twice. So the number of visited states is never above the
//!   true one, and equal to it when nothing was missed.
//! - The second search takes exactly the steps of the first.

use trefoil_control::{Control, Stopped};
use trefoil_system::{Cut, Explorer, LabelId, Path, System, TakenStep, Value};

use crate::packing::Packing;
use crate::search::Finding;

/// Bits that are set for each state.
const BITS: u32 = 3;
/// States between two polls of the budgets.
const POLLED: u64 = 1 << 10;
/// Full places of a table of signatures, in eighths, at which it grows.
const FULL: usize = 7;

/// How states are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traces {
    /// 64 bits of a hash of each.
    HashCompact,
    /// Three bits each, in a table of this many bytes.
    Bitstate {
        /// The size of the table.
        bytes: u64,
    },
}

/// A state as a visitor sees it.
pub struct Sighting<'a> {
    /// Its number, in the order in which states are found.
    pub number: u64,
    /// Its distance from the initial state.
    pub distance: u32,
    /// Its row.
    pub row: &'a [Value],
    /// The labels of all its steps, in the order in which the system gives them.
    pub labels: &'a [LabelId],
}

/// Visits every state once.
pub trait Observer {
    /// Visits a state and its steps, with the explorer at hand; anything but [`Finding::Nothing`] ends the search.
    fn look(&mut self, state: &Sighting<'_>, explorer: &mut dyn Explorer) -> Result<Finding, Cut>;
}

impl<F: FnMut(&Sighting<'_>) -> Finding> Observer for F {
    fn look(&mut self, state: &Sighting<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        Ok(self(state))
    }
}

/// How a probabilistic search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeEnd {
    /// Every state that was found was visited.
    Exhausted,
    /// The observer ended it.
    Found,
    /// A walk was cut: a budget ran out, the user interrupted, or the system could not go on.
    Cut(Cut),
}

/// What a probabilistic search knows about what it missed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// The size of the table in bytes.
    pub bytes: u64,
    /// Bits of the table for each state that was found; large is good.
    pub hash_factor: f64,
    /// The part of the table that is used.
    pub filled: f64,
    /// The expected number of missed states.
    pub expected_omissions: f64,
}

/// A probabilistic search.
#[derive(Clone, Debug)]
pub struct Probe {
    /// How it ended.
    pub end: ProbeEnd,
    /// States that were found.
    pub states: u64,
    /// Transitions of the states that were visited.
    pub transitions: u64,
    /// The greatest distance of a visited state.
    pub depth: u32,
    /// What is known about what was missed.
    pub coverage: Coverage,
    traces: Traces,
}

/// Searches a system without keeping its states.
pub fn probe(system: &dyn System, traces: Traces, control: &Control, observer: &mut dyn Observer) -> Probe {
    let mut search = match Search::new(system, traces, control) {
        Ok(search) => search,
        Err(cut) => return Probe::nothing(traces, cut),
    };
    let end = match search.run(observer, None, control) {
        Ok(true) => ProbeEnd::Found,
        Ok(false) => ProbeEnd::Exhausted,
        Err(cut) => ProbeEnd::Cut(cut),
    };
    Probe {
        end,
        states: search.states,
        transitions: search.transitions,
        depth: search.depth,
        coverage: search.table.coverage(search.states, search.omissions),
        traces,
    }
}

impl Probe {
    fn nothing(traces: Traces, cut: Cut) -> Probe {
        let coverage = Coverage { bytes: 0, hash_factor: 0.0, filled: 0.0, expected_omissions: 0.0 };
        Probe { end: ProbeEnd::Cut(cut), states: 0, transitions: 0, depth: 0, coverage, traces }
    }

    /// A run to the state with this number, by searching once more. `system` is the one that was searched.
    pub fn path(&self, system: &dyn System, number: u64, control: &Control) -> Result<Path, Cut> {
        let mut search = Search::new(system, self.traces, control)?;
        let mut origins = Origins { wanted: number, parents: Vec::new() };
        if number > 0 {
            search.run(&mut |_: &Sighting<'_>| Finding::Nothing, Some(&mut origins), control)?;
        }
        let mut steps = Vec::new();
        let mut at = number;
        while at > 0 {
            let (parent, step) = origins.parents[at as usize - 1];
            steps.push(step);
            at = u64::from(parent);
        }
        steps.reverse();
        let mut path = Path { start: system.initial(control)?, steps: Vec::with_capacity(steps.len()) };
        let mut explorer = system.explorer(control);
        for step in steps {
            control.check()?;
            let mut place = 0;
            let mut taken = None;
            Cut::had_enough(explorer.successors(path.last(), &mut |successor| {
                if place == step {
                    taken = Some(TakenStep { label: successor.label, row: successor.row.to_vec() });
                    return Err(Cut::Enough);
                }
                place += 1;
                Ok(())
            }))?;
            path.steps.push(taken.expect("a system gives its steps always in the same order"));
        }
        Ok(path)
    }
}

/// Where states came from: the number of the parent and of its step, for each state but the first.
struct Origins {
    wanted: u64,
    parents: Vec<(u32, u32)>,
}

struct Search<'s> {
    explorer: Box<dyn Explorer + 's>,
    packing: Packing,
    table: Table,
    /// The packed rows of a level and of the next.
    level: Vec<u64>,
    next: Vec<u64>,
    states: u64,
    transitions: u64,
    depth: u32,
    omissions: f64,
}

impl<'s> Search<'s> {
    fn new(system: &'s dyn System, traces: Traces, control: &'s Control) -> Result<Search<'s>, Cut> {
        let packing = Packing::new(system.layout());
        let mut table = Table::new(traces, control)?;
        let mut level = vec![0; packing.words()];
        packing.pack(&system.initial(control)?, &mut level);
        table.insert(&level, control)?;
        Ok(Search {
            explorer: system.explorer(control),
            packing,
            table,
            level,
            next: Vec::new(),
            states: 1,
            transitions: 0,
            depth: 0,
            omissions: 0.0,
        })
    }

    /// Searches until the observer ends it, or the wanted state was found, or nothing is left; whether it was ended.
    fn run(
        &mut self,
        observer: &mut dyn Observer,
        mut origins: Option<&mut Origins>,
        control: &Control,
    ) -> Result<bool, Cut> {
        let words = self.packing.words();
        let mut row = vec![0; self.packing.width()];
        let mut labels = Vec::new();
        let mut packed = Vec::new();
        let mut visited = 0u64;
        let mut distance = 0;
        while !self.level.is_empty() {
            self.depth = distance;
            let level = std::mem::take(&mut self.level);
            for state in level.chunks_exact(words) {
                if visited.is_multiple_of(POLLED) {
                    control.check()?;
                }
                self.packing.unpack(state, &mut row);
                labels.clear();
                packed.clear();
                let packing = &self.packing;
                self.explorer.successors(&row, &mut |step| {
                    labels.push(step.label);
                    let from = packed.len();
                    packed.resize(from + words, 0);
                    packing.pack(step.row, &mut packed[from..]);
                    Ok(())
                })?;
                self.transitions += labels.len() as u64;
                let mut found = 0;
                for (place, target) in packed.chunks_exact(words).enumerate() {
                    let accident = self.table.accident();
                    if !self.table.insert(target, control)? {
                        continue;
                    }
                    self.omissions += accident / (1.0 - accident).max(1e-9);
                    self.next.extend_from_slice(target);
                    found += 1;
                    if let Some(origins) = &mut origins {
                        let parent = u32::try_from(visited).map_err(|_| control.out_of_numbers())?;
                        origins.parents.push((parent, place as u32));
                        if origins.parents.len() as u64 == origins.wanted {
                            return Ok(true);
                        }
                    }
                }
                self.states += found;
                control.progress().add(found, labels.len() as u64);
                let sighting = Sighting { number: visited, distance, row: &row, labels: &labels };
                visited += 1;
                if observer.look(&sighting, &mut *self.explorer)? != Finding::Nothing {
                    return Ok(true);
                }
            }
            std::mem::swap(&mut self.level, &mut self.next);
            self.next.clear();
            distance = distance.saturating_add(1);
            control.progress().depth(u64::from(distance));
        }
        Ok(false)
    }
}

enum Table {
    /// Signatures; 0 is a free place.
    Signatures {
        places: Vec<u64>,
        used: usize,
    },
    Bits {
        words: Vec<u64>,
        set: u64,
    },
}

impl Table {
    fn new(traces: Traces, control: &Control) -> Result<Table, Stopped> {
        Ok(match traces {
            Traces::HashCompact => Table::Signatures { places: vec![0; 1 << 10], used: 0 },
            Traces::Bitstate { bytes } => {
                let words = usize::try_from(bytes / 8).unwrap_or(usize::MAX).max(1);
                control.afford(words.saturating_mul(8))?;
                Table::Bits { words: vec![0; words], set: 0 }
            }
        })
    }

    /// The probability that a new state counts as visited.
    fn accident(&self) -> f64 {
        match self {
            Table::Signatures { used, .. } => *used as f64 / 2f64.powi(64),
            Table::Bits { words, set } => (*set as f64 / (words.len() as f64 * 64.0)).powi(BITS as i32),
        }
    }

    /// Adds a packed row; returns whether it seems to be new.
    fn insert(&mut self, packed: &[u64], control: &Control) -> Result<bool, Stopped> {
        match self {
            Table::Signatures { places, used } => {
                if (*used + 1) * 8 > places.len() * FULL {
                    control.afford(places.len() * 16)?;
                    let larger = places.len() * 2;
                    let old = std::mem::replace(places, vec![0; larger]);
                    for signature in old.into_iter().filter(|&signature| signature != 0) {
                        let free = place_of(places, signature);
                        places[free] = signature;
                    }
                }
                let signature = hash(packed, FIRST).max(1);
                let place = place_of(places, signature);
                let fresh = places[place] == 0;
                places[place] = signature;
                *used += usize::from(fresh);
                Ok(fresh)
            }
            Table::Bits { words, set } => {
                let bits = words.len() as u64 * 64;
                let (mut place, step) = (hash(packed, FIRST), hash(packed, SECOND) | 1);
                let mut fresh = false;
                for _ in 0..BITS {
                    // The high half of the product is uniform below the number of bits.
                    let bit = ((u128::from(place) * u128::from(bits)) >> 64) as u64;
                    let (word, mask) = (&mut words[(bit / 64) as usize], 1 << (bit % 64));
                    if *word & mask == 0 {
                        *word |= mask;
                        *set += 1;
                        fresh = true;
                    }
                    place = place.wrapping_add(step);
                }
                Ok(fresh)
            }
        }
    }

    fn coverage(&self, states: u64, expected_omissions: f64) -> Coverage {
        let (bytes, filled) = match self {
            Table::Signatures { places, used } => (places.len() * 8, *used as f64 / places.len() as f64),
            Table::Bits { words, set } => (words.len() * 8, *set as f64 / (words.len() as f64 * 64.0)),
        };
        let bytes = bytes as u64;
        Coverage { bytes, hash_factor: bytes as f64 * 8.0 / states.max(1) as f64, filled, expected_omissions }
    }
}

/// Where a signature is, or the free place where it belongs.
fn place_of(places: &[u64], signature: u64) -> usize {
    let mask = places.len() - 1;
    // The signature is well mixed; its upper bits choose the place.
    let mut place = (signature >> 20) as usize & mask;
    while places[place] != 0 && places[place] != signature {
        place = (place + 1) & mask;
    }
    place
}

const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// A hash of a packed row; different seeds give independent hashes.
fn hash(packed: &[u64], seed: u64) -> u64 {
    let mut mixed = seed;
    for &word in packed {
        mixed = scramble(mixed ^ word).wrapping_add(seed).rotate_left(23);
    }
    scramble(mixed ^ packed.len() as u64)
}

/// A permutation of the 64-bit numbers in which every bit depends on every bit.
fn scramble(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_table_of_bits_misses_what_its_filling_says() {
        let control = Control::unlimited();
        let mut table = Table::new(Traces::Bitstate { bytes: 4_096 }, &control).expect("no budget");
        let (mut missed, mut expected) = (0u32, 0.0);
        for state in 0..10_000u64 {
            expected += table.accident();
            missed += u32::from(!table.insert(&[state * 1_000], &control).expect("no budget"));
        }
        assert!(missed > 100, "{missed}");
        assert!((f64::from(missed) / expected - 1.0).abs() < 0.1, "{missed} of {expected}");
    }

    #[test]
    fn signatures_of_different_states_differ() {
        let control = Control::unlimited();
        let mut table = Table::new(Traces::HashCompact, &control).expect("no budget");
        for state in 0..50_000u64 {
            assert!(table.insert(&[state, state << 32], &control).expect("no budget"));
        }
        assert!((0..50_000u64).all(|state| !table.insert(&[state, state << 32], &control).expect("no budget")));
        let coverage = table.coverage(50_000, 0.0);
        assert!(coverage.bytes < 50_000 * 22, "{coverage:?}");
    }
}
