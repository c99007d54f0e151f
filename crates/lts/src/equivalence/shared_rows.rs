//! Strong bisimilarity of systems whose states share parts of their rows.
//!
//! Refinement by signatures (Blom and Orzan, *A distributed algorithm for strong bisimulation reduction of state
//! spaces*, 2002), as in [`super::bulk`]: the signature of a state is the set of its pairs of a label and a block. The
//! part of it that a fragment gives is computed once per fragment and round. Two rows that are divided differently may
//! be the same set, so a signature is found by a hash that does not depend on the division: the sum of the hashes of
//! its pairs. That needs a set without repetitions, and the parts of a row have no label in common
//! ([`crate::SharedRows`]). A hash only finds candidates. Two states have equal signatures when their own pairs and the
//! signatures of their fragments are equal; where the division differs, the sets are compared whole.
//!
//! Rounds go on until all of them together have looked at [`ROUNDS_FOR_WHOLE`] times as many transitions as whole rows
//! have: by then the states of a memory are told apart by what they offer, and where more rounds are needed, whole rows
//! are made and refined as [`super::refinement`] does, unless they have too many transitions to be numbered.
//!
//! The quotient has the rows of the least state of each block, in the same parts: a fragment becomes one fragment.
//!
//! Cost: a round is linear in the transitions that are stored and in the parts of rows, plus sorting. Memory: 24 bytes
//! a transition that is stored and 40 a state.

use std::collections::HashMap;
use std::hash::Hasher;

use trefoil_control::{Control, Stopped};
use trefoil_system::StateId;

use super::graph::MOST_TRANSITIONS;
use super::quotient::{Numbering, once};
use super::refinement::Refined;
use super::signatures::{Mix, Signatures};
use crate::components::reachable;
use crate::explicit::{Lts, Transition};
use crate::shared::SharedRows;

/// Whole rows are refined in about as much time as so many rounds over all of them take.
const ROUNDS_FOR_WHOLE: usize = 4;

/// The coarsest stable partition; nothing when it is better searched on whole rows.
pub(super) fn refine(lts: &Lts, shared: &SharedRows, control: &Control) -> Result<Option<Refined>, Stopped> {
    let reached = reachable(lts, control)?;
    if !lts.states().all(|state| reached.contains(state)) {
        return Ok(None);
    }
    let states = lts.state_count();
    control.progress().begin("refining", states as u64);
    control.afford(shared.stored() * 24 + states * 40)?;
    let mut refined = Refined { block_of: vec![0; states], blocks: 1, rounds: 0 };
    while refined.blocks < states {
        refined.rounds += 1;
        control.progress().depth(refined.rounds);
        let before = refined.blocks;
        let round = Round::new(shared, &refined.block_of, control)?;
        let (block_of, blocks) = round.blocks(states, control)?;
        (refined.block_of, refined.blocks) = (block_of, blocks);
        if blocks == before {
            break;
        }
        let work = shared.stored().saturating_mul(refined.rounds as usize);
        if work / ROUNDS_FOR_WHOLE > lts.transition_count() && lts.transition_count() < MOST_TRANSITIONS {
            return Ok(None);
        }
    }
    Ok(Some(refined))
}

/// A set of pairs: its number among those of its kind, and a hash that is the sum of those of its pairs.
#[derive(Clone, Copy)]
struct Signature {
    number: u32,
    sum: u128,
}

struct Round<'a> {
    shared: &'a SharedRows,
    block_of: &'a [u32],
    /// Of each fragment.
    fragments: Vec<Signature>,
}

impl<'a> Round<'a> {
    fn new(shared: &'a SharedRows, block_of: &'a [u32], control: &Control) -> Result<Round<'a>, Stopped> {
        let mut round = Round { shared, block_of, fragments: Vec::with_capacity(shared.fragment_count()) };
        let (mut sets, mut set) = (Signatures::new(), Vec::new());
        for fragment in 0..shared.fragment_count() as u32 {
            control.check()?;
            round.pairs(shared.fragment(fragment), &mut set);
            let number = sets.intern(&set);
            round.fragments.push(Signature { number, sum: sum(&set) });
        }
        Ok(round)
    }

    /// The pairs of some transitions, ascending, each once.
    fn pairs(&self, steps: &[Transition], set: &mut Vec<u64>) {
        set.clear();
        set.extend(steps.iter().map(|step| self.pair(step)));
        set.sort_unstable();
        set.dedup();
    }

    fn pair(&self, step: &Transition) -> u64 {
        u64::from(step.label.0) << 32 | u64::from(self.block_of[step.target.index()])
    }

    /// The blocks by these signatures, numbered in the order of their least states.
    fn blocks(&self, states: usize, control: &Control) -> Result<(Vec<u32>, usize), Stopped> {
        let mut own: Vec<Signature> = Vec::with_capacity(states);
        let (mut sets, mut set) = (Signatures::new(), Vec::new());
        let mut block_of = Vec::with_capacity(states);
        // By hash, the least states of the blocks with it and their numbers.
        let mut known: HashMap<u128, Vec<(StateId, u32)>, foldhash::fast::FixedState> = HashMap::default();
        let mut blocks = 0u32;
        for state in (0..states as u32).map(StateId) {
            if state.index().is_multiple_of(1 << 12) {
                control.check()?;
            }
            self.pairs(self.shared.own(state), &mut set);
            own.push(Signature { number: sets.intern(&set), sum: sum(&set) });
            let parts = self.shared.fragments_of(state).iter();
            let whole = parts.fold(own[state.index()].sum, |whole, &fragment| {
                whole.wrapping_add(self.fragments[fragment as usize].sum)
            });
            let candidates = known.entry(whole).or_default();
            let found = candidates.iter().find(|&&(least, _)| self.are_equal(&own, least, state));
            let block = found.map_or(blocks, |&(_, block)| block);
            if block == blocks {
                candidates.push((state, block));
                blocks += 1;
            }
            block_of.push(block);
        }
        Ok((block_of, blocks as usize))
    }

    /// Have two states the same signature?
    fn are_equal(&self, own: &[Signature], one: StateId, other: StateId) -> bool {
        let parts = |state: StateId| {
            let numbers = self.shared.fragments_of(state).iter();
            let mut numbers: Vec<u32> = numbers.map(|&fragment| self.fragments[fragment as usize].number).collect();
            numbers.sort_unstable();
            numbers
        };
        if own[one.index()].number == own[other.index()].number && parts(one) == parts(other) {
            return true;
        }
        let whole = |state: StateId| {
            let fragments = self.shared.fragments_of(state).iter().flat_map(|&number| self.shared.fragment(number));
            let mut all: Vec<u64> =
                self.shared.own(state).iter().chain(fragments).map(|step| self.pair(step)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        whole(one) == whole(other)
    }
}

/// A hash of a set that is the sum of the hashes of its elements.
fn sum(set: &[u64]) -> u128 {
    let half = |pair: u64, salt: u64| {
        let mut mix = Mix::default();
        mix.write_u64(salt);
        mix.write_u64(pair);
        mix.finish()
    };
    let hash = |&pair: &u64| u128::from(half(pair, 1)) << 64 | u128::from(half(pair, 2));
    set.iter().map(hash).fold(0, u128::wrapping_add)
}

/// The quotient by a stable partition, and the number of each block in it.
pub(super) fn quotient(
    lts: &Lts,
    shared: &SharedRows,
    refined: &Refined,
    control: &Control,
) -> Result<(Lts, Vec<u32>), Stopped> {
    control.progress().begin("building the quotient", refined.blocks as u64);
    control.afford(shared.stored() * 8 + refined.blocks * 16)?;
    let Numbering { number_of, order } = Numbering::new(lts.initial().0, &refined.block_of, refined.blocks);
    let mut speakers = vec![u32::MAX; refined.blocks];
    for (state, &block) in (0..).zip(&refined.block_of) {
        let speaker = &mut speakers[block as usize];
        *speaker = (*speaker).min(state);
    }
    let moved = |step: &Transition| {
        let block = refined.block_of[step.target.index()];
        Transition { label: step.label, target: StateId(number_of[block as usize]) }
    };
    let mut rows = SharedRows::default();
    let mut numbers: Vec<Option<u32>> = vec![None; shared.fragment_count()];
    let (mut row, mut scratch, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for &block in &order {
        control.check()?;
        let state = StateId(speakers[block as usize]);
        parts.clear();
        for &fragment in shared.fragments_of(state) {
            let number = *numbers[fragment as usize].get_or_insert_with(|| {
                row.clear();
                row.extend(shared.fragment(fragment).iter().map(moved));
                once(&mut row, &mut scratch);
                rows.add_fragment(row.iter().copied())
            });
            parts.push(number);
        }
        row.clear();
        row.extend(shared.own(state).iter().map(moved));
        once(&mut row, &mut scratch);
        rows.add_state(&row, &parts);
    }
    Ok((Lts::from_shared(lts.labels().clone(), StateId(0), rows), number_of))
}
