//! Which moves make a transition group.
//!
//! A group is one transition of the process at one position, or a pair of a send and a receive of two processes on a
//! rendezvous channel. Groups are numbered as the moves of the arrangement are ([`super::moves`]): by position, type,
//! control state and transition; the pairs follow. A pair exists where the channels that the send may use and those
//! that the receive may use overlap ([`Survey::sends`], [`Survey::receives`]), so an explorer that finds a handshake
//! looks its group up in a table by the ranks of the two moves.
//!
//! An explorer that asks for the steps of one group tries the group's own move only, unless an earlier move of the same
//! control state decides whether it is tried: `else` depends on all of them, and any move on escapes that it does not
//! belong to. Then the [`MovePlan`] begins with the first move of the control state.
//!
//! Cost: sends times receives. Where there would be more than [`MOST_PAIRS`] pairs, a send is one group with all its
//! receivers.

use crate::program::Program;

use super::arrangement::Arrangement;
use super::moves::{Act, Move};
use super::survey::{Placed, Survey, placed};

/// Pairs of sends and receives that get groups of their own.
const MOST_PAIRS: usize = 1 << 14;

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

    /// The first move that has to be tried for the move at a place: the first of all, where an earlier one decides
    /// whether this one is tried, and otherwise the move itself.
    fn from(moves: &[Move], at: usize) -> usize {
        let depends = looks_back(&moves[at].act);
        let decides = |other: &Move| depends || other.escape != 0 && other.escape != moves[at].escape;
        if moves[..at].iter().any(decides) { 0 } else { at }
    }

    /// Whether each pair of a send and a receive has a group of its own.
    #[inline]
    pub(super) fn has_pairs(&self) -> bool {
        !self.table.is_empty()
    }

    /// The groups of an arrangement.
    pub(super) fn new(program: &Program, arrangement: &Arrangement) -> Grouping {
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
        if !arrangement.kinds.iter().any(|kind| kind.capacity == 0) {
            return grouping;
        }
        let survey = Survey::new(program, arrangement);
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        (grouping.sends, grouping.receives) = (vec![NO_RANK; all.len()], vec![NO_RANK; all.len()]);
        for one in &all {
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
                let Some(entry) = table.get_mut(at * receives.len() + place) else { return grouping.without_pairs() };
                if grouping.pairs.len() == MOST_PAIRS {
                    return grouping.without_pairs();
                }
                *entry = (all.len() + grouping.pairs.len()) as u32;
                grouping.pairs.push((send.step.group, receive.step.group));
            }
        }
        (grouping.table, grouping.receivers) = (table, receives.len());
        grouping
    }

    /// Gives up the pairs: a send is one group with all its receivers.
    fn without_pairs(mut self) -> Grouping {
        self.pairs.clear();
        self
    }
}

/// Whether an act depends on which moves before it passed.
pub(super) fn looks_back(act: &Act) -> bool {
    match act {
        Act::Else => true,
        Act::Indivisible(body) => body.guards.iter().flatten().any(looks_back),
        _ => false,
    }
}
