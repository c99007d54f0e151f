//! Which moves make a transition group.
//!
//! A group is one transition of the process at one position, or a pair of a send and a receive of two processes on a
//! rendezvous channel. Groups are numbered as the moves of the arrangement are ([`super::moves`]): by position, type,
//! control state and transition; the pairs follow, then the groups that indices split. A pair exists where the channels
//! that the send may use and those that the receive may use overlap ([`Survey::sends`], [`Survey::receives`]), so an
//! explorer that finds a handshake looks its group up in a table by the ranks of the two moves.
//!
//! An explorer that asks for the steps of one group tries the group's own move only, unless an earlier move of the same
//! control state decides whether it is tried: `else` depends on all of them, and any move on escapes that it does not
//! belong to. Then the [`MovePlan`] begins with the first move of the control state.
//!
//! Where a move uses an element of an array whose index comes from a slot that its step leaves alone (`taken[i]`), the
//! value of the slot splits the group: a group for each good index reads and writes that element alone. Steps from
//! states with any other value of the slot, which show an error, stay in the group of the move.
//!
//! Where timeouts are set apart ([`super::timeouts`]), a condition that asks for `timeout` has two groups: the move's
//! own one, in which `timeout` is false, and one that follows all others, in which it is true.
//!
//! Cost: sends times receives. Where there would be more than [`MOST_PAIRS`] pairs, a send is one group with all its
//! receivers.

use std::collections::BTreeSet;

use crate::program::Program;

use super::arrangement::Arrangement;
use super::moves::{Act, Move};
use super::survey::{Assumed, Placed, Survey, placed};
use super::touched::{Slots, Touched};

/// Pairs of sends and receives that get groups of their own.
const MOST_PAIRS: usize = 1 << 14;
/// Groups that are made by splitting others.
const MOST_SPLIT: usize = 1 << 14;
/// Values of an index that get groups of their own.
const MOST_VALUES: u32 = 64;

/// A move whose steps are in several groups, by the value of a slot that is an index in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) slot: u32,
    /// The group of value 0; greater values follow.
    first: u32,
    /// Steps from states with this value or a greater one are in the move's own group.
    values: u32,
}

/// Where the moves of a group are.
#[derive(Clone, Copy, Debug)]
pub(super) struct MovePlan {
    pub(super) position: u32,
    /// The type, by its place among those of the position.
    pub(super) index: u32,
    pub(super) control: u32,
    /// The moves that have to be tried, among those of the control state.
    pub(super) from: u32,
    pub(super) to: u32,
}

/// How the moves of an arrangement are put into groups.
#[derive(Debug, Default)]
pub(super) struct Grouping {
    /// One for each move.
    pub(super) plans: Vec<MovePlan>,
    /// The send and the receive of each further group, by the numbers of their moves.
    pub(super) pairs: Vec<(u32, u32)>,
    /// The rank of a move among the sends, and among the receives; [`NO_RANK`] when it is none.
    sends: Vec<u32>,
    receives: Vec<u32>,
    /// The group of each pair, by the ranks of its send and its receive; empty when there are no pairs.
    table: Vec<u32>,
    /// How many receives the table has a column for.
    receivers: usize,
    /// For each move whether its group is split; empty when none is.
    splits: Vec<Option<Split>>,
    /// The move and the value of each group that splitting made; they follow the pairs.
    pub(super) split: Vec<(u32, u32)>,
    /// The moves that have a group for `timeout`, ascending; these groups follow those that splitting made.
    pub(super) timeouts: Vec<u32>,
}

const NO_RANK: u32 = u32::MAX;

impl Grouping {
    /// The group of a step that begins with these moves, both by their numbers.
    #[inline]
    pub(super) fn of_pair(&self, send: u32, receive: u32) -> u32 {
        if !self.has_pairs() {
            return send;
        }
        self.table[self.sends[send as usize] as usize * self.receivers + self.receives[receive as usize] as usize]
    }

    /// The group of steps that begin with a move, which is no handshake, by its number and the values before it.
    #[inline]
    pub(super) fn of_move(&self, step: u32, timeout: bool, before: impl FnOnce(u32) -> u32) -> u32 {
        if timeout && let Ok(place) = self.timeouts.binary_search(&step) {
            return (self.plans.len() + self.pairs.len() + self.split.len() + place) as u32;
        }
        match self.splits.get(step as usize) {
            Some(Some(split)) => {
                let value = before(split.slot);
                if value < split.values { split.first + value } else { step }
            }
            _ => step,
        }
    }

    /// How the group of a move is split.
    pub(super) fn split_of(&self, step: u32) -> Option<&Split> {
        self.splits.get(step as usize).and_then(Option::as_ref)
    }

    /// The move and the receiver, if it is a handshake, that a group's steps begin with.
    pub(super) fn opening(&self, group: u32) -> (u32, Option<u32>) {
        let Some(pair) = (group as usize).checked_sub(self.plans.len()) else { return (group, None) };
        match pair.checked_sub(self.pairs.len()) {
            None => (self.pairs[pair].0, Some(self.pairs[pair].1)),
            Some(split) => match split.checked_sub(self.split.len()) {
                None => (self.split[split].0, None),
                Some(timeout) => (self.timeouts[timeout], None),
            },
        }
    }

    /// Is this a group in which `timeout` is true?
    pub(super) fn is_timeout(&self, group: u32) -> bool {
        group as usize >= self.plans.len() + self.pairs.len() + self.split.len()
    }

    /// The first move that has to be tried for the move at a place: the first of all, where an earlier one decides
    /// whether this one is tried, and otherwise the move itself.
    fn from(moves: &[Move], at: usize) -> usize {
        let depends = looks_back(&moves[at].act);
        let decides = |other: &Move| depends || other.escape != 0 && other.escape != moves[at].escape;
        if moves[..at].iter().any(decides) { 0 } else { at }
    }

    /// May the move send to a rendezvous channel?
    pub(super) fn is_handshake(&self, step: u32) -> bool {
        self.sends.get(step as usize).is_some_and(|&rank| rank != NO_RANK)
    }

    /// Whether each pair of a send and a receive has a group of its own.
    #[inline]
    pub(super) fn has_pairs(&self) -> bool {
        !self.table.is_empty()
    }

    /// The groups of an arrangement.
    pub(super) fn new(program: &Program, arrangement: &Arrangement) -> Grouping {
        Grouping::with(&Survey::new(program, arrangement), arrangement, Vec::new())
    }

    /// The same, with groups for `timeout` of these moves.
    pub(super) fn with(survey: &Survey<'_>, arrangement: &Arrangement, timeouts: Vec<u32>) -> Grouping {
        let mut grouping = Grouping::unsplit(survey, arrangement);
        grouping.timeouts = timeouts;
        grouping.split(survey, arrangement, &placed(&arrangement.code));
        grouping
    }

    /// The same without splitting any group.
    pub(super) fn unsplit(survey: &Survey<'_>, arrangement: &Arrangement) -> Grouping {
        let mut grouping = Grouping::default();
        let all = placed(&arrangement.code);
        for &Placed { position, index, code, step } in &all {
            let moves = code.moves(step.control);
            let at = moves.iter().position(|other| other.group == step.group).expect("it is one of them");
            grouping.plans.push(MovePlan {
                position: position as u32,
                index: index as u32,
                control: step.control,
                from: Grouping::from(moves, at) as u32,
                to: at as u32 + 1,
            });
        }
        if arrangement.kinds.iter().any(|kind| kind.capacity == 0) {
            grouping.pair(survey, &all);
        }
        grouping
    }

    /// Makes a group of each pair of a send and a receive.
    fn pair(&mut self, survey: &Survey<'_>, all: &[Placed<'_>]) {
        let grouping = self;
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        (grouping.sends, grouping.receives) = (vec![NO_RANK; all.len()], vec![NO_RANK; all.len()]);
        for one in all {
            if let Some(channels) = survey.sends(one) {
                grouping.sends[one.step.group as usize] = sends.len() as u32;
                sends.push((one, channels));
            }
            let channels = survey.receives(one);
            if !channels.is_empty() {
                grouping.receives[one.step.group as usize] = receives.len() as u32;
                receives.push((one, channels));
            }
        }
        let mut table = vec![NO_RANK; sends.len().saturating_mul(receives.len()).min(MOST_PAIRS * 64)];
        for (at, (send, sent)) in sends.iter().enumerate() {
            for (place, (receive, received)) in receives.iter().enumerate() {
                let meet = || sent.iter().any(|queue| received.contains(queue));
                if send.position == receive.position || !meet() {
                    continue;
                }
                let Some(entry) = table.get_mut(at * receives.len() + place) else { return grouping.pairs.clear() };
                // Without pairs a send is one group with all its receivers.
                if grouping.pairs.len() == MOST_PAIRS {
                    return grouping.pairs.clear();
                }
                *entry = (all.len() + grouping.pairs.len()) as u32;
                grouping.pairs.push((send.step.group, receive.step.group));
            }
        }
        (grouping.table, grouping.receivers) = (table, receives.len());
    }

    /// Splits the groups of moves that use an element of an array by the index, where that comes from a slot which the
    /// whole step leaves alone.
    fn split(&mut self, survey: &Survey<'_>, arrangement: &Arrangement, all: &[Placed<'_>]) {
        let mut splits: Vec<Option<Split>> = vec![None; all.len()];
        for (number, one) in all.iter().enumerate() {
            let has_timeout = self.timeouts.binary_search(&(number as u32)).is_ok();
            if has_timeout || survey.sends(one).is_some() || !survey.is_reachable(one) {
                continue;
            }
            let mut indices = survey.indices(one);
            let moves = one.code.moves(one.step.control);
            let at = moves.iter().position(|other| other.group == one.step.group).unwrap_or_default();
            if looks_back(&one.step.act) {
                for other in &moves[..at] {
                    indices.extend(survey.indices(&Placed { step: other, ..*one }));
                }
            }
            if indices.is_empty() {
                continue;
            }
            let Some(written) = written_in(survey, one) else { continue };
            let width = arrangement.width();
            let written = written.set(width);
            let reads = |touched: Touched| touched.reads.set(width).len() + touched.writes.set(width).len();
            let plain = reads(survey.one(one, true));
            let useful = |&(&slot, &values): &(&u32, &u32)| {
                (slot as usize) < width
                    && !written.contains(slot as usize)
                    && values <= MOST_VALUES
                    && (reads(survey.assuming(slot, Assumed::Is(0), || survey.one(one, true))) < plain || at > 0)
            };
            let gain = |slot: u32| reads(survey.assuming(slot, Assumed::Is(0), || survey.one(one, true)));
            let best = indices.iter().filter(useful).min_by_key(|&(&slot, _)| gain(slot));
            let Some((&slot, &values)) = best else { continue };
            if self.split.len() + values as usize > MOST_SPLIT {
                continue;
            }
            let first = (all.len() + self.pairs.len() + self.split.len()) as u32;
            self.split.extend((0..values).map(|value| (number as u32, value)));
            splits[number] = Some(Split { slot, first, values });
        }
        if !self.split.is_empty() {
            self.splits = splits;
        }
    }
}

/// The slots that a step may write which begins with a move; nothing when processes synchronise in it.
fn written_in(survey: &Survey<'_>, one: &Placed<'_>) -> Option<Slots> {
    let mut written = survey.one(one, true).writes;
    let mut work: Vec<u32> = one.step.atomic.then_some(one.step.target).into_iter().collect();
    let mut seen: BTreeSet<u32> = work.iter().copied().collect();
    while let Some(control) = work.pop() {
        for step in one.code.moves(control) {
            let next = Placed { step, ..*one };
            if survey.sends(&next).is_some() {
                return None;
            }
            written.add(&survey.one(&next, false).writes);
            if step.atomic && seen.insert(step.target) {
                work.push(step.target);
            }
        }
    }
    Some(written)
}

/// Whether an act depends on which moves before it passed.
pub(super) fn looks_back(act: &Act) -> bool {
    match act {
        Act::Else => true,
        Act::Indivisible(body) => body.guards.iter().flatten().any(looks_back),
        _ => false,
    }
}
