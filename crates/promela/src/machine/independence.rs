//! Which processes have to be looked at together, when only some are to move.
//!
//! A *standpoint* is a process type at a position in a control state. From where it stands a process has its *current*
//! moves: those of its control state, and the handshakes in which one of them takes part. A set of processes is
//! *closed* when no process outside can come, by itself, to a move that depends on a current move of a member. Then
//! whatever the others do, as long as no member moves the current moves of the members stay as they are, enabled or
//! not, and they commute with everything that happens outside. So the steps of a closed set are a candidate
//! ([`trefoil_system::Explorer::candidate`]); it is the cluster of Valmari (*Stubborn sets for reduced state space
//! generation*, 1991) and of the persistent sets of Godefroid (*Partial-order methods for the verification of
//! concurrent systems*, 1996), with whole processes for the unit.
//!
//! [`Joins`] has, for a standpoint of a process `p`, the standpoints of others from which they must join `p`: those
//! from which control can reach a dependent move. Two moves depend on each other when one writes what the other
//! touches. Exceptions, each of which makes sets smaller:
//!
//! - *The ends of a channel.* A message that is put at the end and one that is taken from the head do not disturb each
//!   other in a channel that is neither full nor empty. A current move that sends to a full channel waits for one that
//!   takes, and a receive from an empty channel for one that puts: such edges count only in these states
//!   ([`Waiting`]).
//! - *Handshakes.* A handshake of `p` needs its partner to come to the other half: `p` waits for the
//!   processes that can come there, and for no others.
//! - *Starting processes.* `run` writes where no process is, so it never disturbs one that is there. What a started
//!   process does counts as something that the one which starts it can come to.
//! - *Ending processes.* A process disappears only when all younger ones have, so no older one does so before.
//! - *Timeouts.* `timeout` is true only when nothing else can move. A candidate has a step that stays enabled until a
//!   member moves, so nothing that waits for `timeout` moves before.
//! - *What is known.* A parameter that no statement writes has the same value as long as its process exists. So the
//!   analysis is made for each way in which processes were started ([`Survey::knowing`]): then it knows which channel
//!   `in` is, and which element `flag[me]`. This proves the exclusive use of channels that `xr` and `xs` claim.
//!
//! Cost: for each way of starting, the moves times what they touch; and for each standpoint that a search comes to, the
//! standpoints.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use super::arrangement::Arrangement;
use super::dependencies::touched;
use super::groups::Grouping;
use super::members::Members;
use super::moves::{Act, TypeCode};
use super::survey::{Placed, Survey, placed, terms_of};
use super::terms::{Term, Terms};
use super::touched::Touched;
use super::visible::{Visible, ends, standpoints};
use crate::program::ProcessTypeId;

/// With more standpoints the analysis takes too long.
const MOST_STANDPOINTS: usize = 1 << 12;

/// A set of standpoints.
type Standpoints = Vec<u64>;

fn insert(set: &mut Standpoints, standpoint: usize) {
    set[standpoint / 64] |= 1 << (standpoint % 64);
}

fn contains(set: &[u64], standpoint: usize) -> bool {
    set[standpoint / 64] >> (standpoint % 64) & 1 != 0
}

/// Standpoints of others that must join.
#[derive(Debug)]
struct Joining {
    standpoints: Standpoints,
    /// The positions whose processes must join wherever they stand, and those where it depends on that.
    always: Members,
    sometimes: Members,
}

impl Joining {
    /// Those of these processes that stand where they must join.
    #[inline]
    fn those<const WORDS: usize>(&self, there: &Members<WORDS>, stands: &[u32]) -> Members<WORDS> {
        let mut found = self.always.narrow().and(there);
        let mut open = self.sometimes.narrow().and(there);
        while let Some(other) = open.pop() {
            if contains(&self.standpoints, stands[other] as usize) {
                found.insert(other);
            }
        }
        found
    }
}

/// Standpoints of others that must join while a channel is in a certain state.
#[derive(Debug)]
struct Waiting {
    /// The slot of its length.
    length: u32,
    /// The length with which the move waits: the capacity for a send, 0 for a receive.
    at: u32,
    others: Joining,
}

/// The standpoints from which others must join a process at a standpoint.
#[derive(Debug)]
struct Joins {
    edges: Joining,
    waiting: Vec<Waiting>,
}

/// Which processes have to be looked at together, for processes that were started in one way.
pub(super) struct Independence {
    plan: Plan,
    joint: Joint,
    /// By standpoint, once a search has come there.
    joins: Vec<OnceLock<Joins>>,
}

impl Independence {
    /// The analysis for processes whose slots have these values; nothing when it would take too long.
    pub(super) fn new(survey: Survey<'_>, arrangement: &Arrangement) -> Option<Independence> {
        let plan = Plan::new(arrangement)?;
        let grouping = Grouping::unsplit(&survey, arrangement);
        let all = placed(&arrangement.code);
        let touched = touched(survey, arrangement, &grouping);
        let joint = Joint::new(&plan, &all, &grouping, touched, arrangement);
        let joins = (0..plan.count).map(|_| OnceLock::new()).collect();
        Some(Independence { plan, joint, joins })
    }

    /// How many standpoints there are.
    pub(super) fn len(&self) -> usize {
        self.plan.count
    }

    /// The standpoint of a process.
    #[inline]
    pub(super) fn standpoint(&self, position: usize, index: u32, control: u32) -> u32 {
        self.plan.firsts[position][index as usize] + control
    }

    /// May the current moves of each standpoint change what is visible?
    pub(super) fn seen(&self, visible: &Visible) -> Vec<bool> {
        let Joint { writes, shifts, .. } = &self.joint;
        writes.iter().zip(shifts).map(|(writes, shifts)| visible.is_changed_by(writes, shifts)).collect()
    }

    /// Those of these processes, which stand at these standpoints, that must be looked at together with one that stands
    /// at `standpoint`.
    #[inline]
    pub(super) fn joining<const WORDS: usize>(
        &self,
        standpoint: u32,
        there: &Members<WORDS>,
        stands: &[u32],
        row: &[u32],
    ) -> Members<WORDS> {
        let Joins { edges, waiting } =
            self.joins[standpoint as usize].get_or_init(|| self.joins_of(standpoint as usize));
        let mut found = edges.those(there, stands);
        for waiting in waiting {
            if row[waiting.length as usize] == waiting.at {
                found = found.or(&waiting.others.those(there, stands));
            }
        }
        found
    }

    #[cold]
    fn joins_of(&self, standpoint: usize) -> Joins {
        let Independence { plan, joint, .. } = self;
        let waiting = joint.waiting(plan, standpoint).into_iter();
        Joins {
            edges: plan.joining(joint.dependent(plan, standpoint)),
            waiting: waiting.map(|(length, at, direct)| Waiting { length, at, others: plan.joining(direct) }).collect(),
        }
    }
}

/// The standpoints, and which of them control leads to.
struct Plan {
    firsts: Vec<Vec<u32>>,
    count: usize,
    /// The position of each standpoint.
    position: Vec<usize>,
    /// From where control comes to a standpoint in one step of the process, or by starting one.
    before: Vec<Vec<u32>>,
}

impl Plan {
    fn new(arrangement: &Arrangement) -> Option<Plan> {
        let code = &*arrangement.code;
        let (firsts, count) = standpoints(&code.positions);
        let mut plan = Plan { firsts, count, position: Vec::new(), before: Vec::new() };
        for (position, types) in code.positions.iter().enumerate() {
            let controls = types.iter().map(TypeCode::controls).sum();
            plan.position.extend(std::iter::repeat_n(position, controls));
        }
        if plan.count > MOST_STANDPOINTS {
            return None;
        }
        plan.before = vec![Vec::new(); plan.count];
        for one in placed(code) {
            let (from, to) = (plan.of(&one), plan.firsts[one.position][one.index] as usize + one.step.target as usize);
            plan.before[to].push(from as u32);
            for kind in started(&one.step.act, &code.terms) {
                for (position, place) in arrangement.positions.iter().enumerate() {
                    for (index, _) in place.types.iter().enumerate().filter(|(_, own)| **own == kind) {
                        // A process may be started at any of its control states as far as this analysis goes.
                        let first = plan.firsts[position][index] as usize;
                        let behind = first + code.positions[position][index].controls();
                        plan.before[first..behind].iter_mut().for_each(|before| before.push(from as u32));
                    }
                }
            }
        }
        for before in &mut plan.before {
            before.sort_unstable();
            before.dedup();
        }
        Some(plan)
    }

    /// The standpoint that a move belongs to.
    fn of(&self, one: &Placed<'_>) -> usize {
        self.firsts[one.position][one.index] as usize + one.step.control as usize
    }

    /// All standpoints from which control comes to one of these.
    fn leading_to(&self, mut set: Standpoints) -> Standpoints {
        let mut work: Vec<usize> = (0..self.count).filter(|&standpoint| contains(&set, standpoint)).collect();
        while let Some(standpoint) = work.pop() {
            for &before in &self.before[standpoint] {
                if !contains(&set, before as usize) {
                    insert(&mut set, before as usize);
                    work.push(before as usize);
                }
            }
        }
        set
    }

    /// The standpoints from which processes come to one of these.
    fn joining(&self, direct: Standpoints) -> Joining {
        let standpoints = self.leading_to(direct);
        let (mut always, mut sometimes) = (Members::default(), Members::default());
        let mut all = vec![true; self.firsts.len()];
        let mut any = vec![false; self.firsts.len()];
        for (standpoint, &position) in self.position.iter().enumerate() {
            // No process stands at the control state 0.
            if !self.firsts[position].contains(&(standpoint as u32)) {
                let joins = contains(&standpoints, standpoint);
                (all[position], any[position]) = (all[position] && joins, any[position] || joins);
            }
        }
        for position in 0..self.firsts.len() {
            match (all[position], any[position]) {
                (true, true) => always.insert(position),
                (false, true) => sometimes.insert(position),
                _ => {}
            }
        }
        Joining { standpoints, always, sometimes }
    }

    fn none(&self) -> Standpoints {
        vec![0; self.count.div_ceil(64)]
    }
}

/// The types of the processes that an act may start.
fn started(act: &Act, terms: &Terms) -> Vec<ProcessTypeId> {
    let (mut kinds, mut work) = (Vec::new(), terms_of(act, terms));
    while let Some(term) = work.pop() {
        match terms.terms[term as usize] {
            Term::Run(run) => kinds.push(terms.runs[run as usize].process),
            Term::Not(inner) | Term::Negate(inner) | Term::Complement(inner) => work.push(inner),
            Term::Binary(_, left, right) => work.extend([left, right]),
            Term::Conditional(condition, yes, no) => work.extend([condition, yes, no]),
            _ => {}
        }
    }
    kinds
}

/// What a current move of a standpoint does with a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Write,
    Put,
    Take,
}

impl Use {
    /// Does it matter which of two such uses of one slot comes first?
    fn disturbs(self, other: Use) -> bool {
        !matches!((self, other), (Use::Read, Use::Read) | (Use::Put, Use::Take) | (Use::Take, Use::Put))
    }
}

/// A use of a slot by the current moves of a standpoint.
#[derive(Clone, Copy)]
struct Used {
    standpoint: u32,
    by: Use,
    with: With,
}

/// What else takes part in a move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum With {
    /// No other process, though it may start one; otherwise it writes nothing that belongs to another process.
    None,
    /// No other process: its own one disappears.
    End,
    /// The process at this position: a handshake.
    Partner(u32),
    /// Perhaps several: handshakes in the middle of a step.
    Others,
}

/// What a move changes, as far as it concerns what is visible.
struct Changes {
    writes: Vec<u32>,
    shifts: Vec<(u32, u32)>,
}

impl Changes {
    fn new(
        plan: &Plan,
        one: &Placed<'_>,
        other: Option<&Placed<'_>>,
        touched: &Touched,
        with: With,
        grouping: &Grouping,
        arrangement: &Arrangement,
    ) -> Changes {
        let all = [&touched.writes, &touched.puts, &touched.takes];
        let mut writes: Vec<u32> = all.into_iter().flat_map(|slots| slots.iter().map(|slot| slot as u32)).collect();
        let mut shifts = Vec::new();
        // Where further processes may take part, their control states are written like any slot.
        if with != With::Others && !other.is_some_and(|other| goes_on_with_others(other, grouping)) {
            for placed in [Some(one), other].into_iter().flatten() {
                let from = plan.of(placed) as u32;
                let first = from - placed.step.control;
                shifts.extend(ends(placed.code, placed.step).into_iter().map(|end| (from, first + end)));
                let control = arrangement.positions[placed.position].base + 1;
                writes.retain(|&slot| slot != control);
            }
        }
        Changes { writes, shifts }
    }
}

/// The current moves of all standpoints together.
struct Joint {
    /// The uses of each slot.
    slots: Vec<Vec<Used>>,
    /// The slots that a standpoint uses.
    of: Vec<Vec<(u32, Use, With)>>,
    /// Standpoints whose moves depend on everything.
    all: Vec<bool>,
    /// The other halves of the handshakes of each standpoint.
    partners: Vec<Vec<u32>>,
    /// The position that a slot belongs to, unless it is one of a channel.
    owner: Vec<Option<u32>>,
    /// The capacities of channels, by the slots of their lengths.
    capacities: HashMap<u32, u32>,
    /// The slots that the current moves may write, by standpoint, but for the control states in `shifts`.
    writes: Vec<Vec<u32>>,
    /// The standpoints between which the current moves may take their process, or its partner in a handshake.
    shifts: Vec<Vec<(u32, u32)>>,
}

/// Does a step that begins with the move perhaps go on through handshakes?
fn meets_others(one: &Placed<'_>, grouping: &Grouping) -> bool {
    grouping.is_handshake(one.step.group) && !grouping.has_pairs() || goes_on_with_others(one, grouping)
}

/// Does the process perhaps keep control behind the move, and come to a handshake?
fn goes_on_with_others(one: &Placed<'_>, grouping: &Grouping) -> bool {
    let mut work: Vec<u32> = one.step.atomic.then_some(one.step.target).into_iter().collect();
    let mut seen: HashSet<u32> = work.iter().copied().collect();
    while let Some(control) = work.pop() {
        for step in one.code.moves(control) {
            if grouping.is_handshake(step.group) {
                return true;
            }
            if step.atomic && seen.insert(step.target) {
                work.push(step.target);
            }
        }
    }
    false
}

impl Joint {
    fn new(
        plan: &Plan,
        all: &[Placed<'_>],
        grouping: &Grouping,
        touched: Vec<Touched>,
        arrangement: &Arrangement,
    ) -> Joint {
        let slots = arrangement.width() + arrangement.hidden;
        let mut joint = Joint {
            slots: vec![Vec::new(); slots],
            of: vec![Vec::new(); plan.count],
            all: vec![false; plan.count],
            partners: vec![Vec::new(); plan.count],
            owner: vec![None; slots],
            capacities: arrangement.capacities(),
            writes: vec![Vec::new(); plan.count],
            shifts: vec![Vec::new(); plan.count],
        };
        for position in 0..arrangement.positions.len() {
            joint.owner[arrangement.frame(position)].fill(Some(position as u32));
        }
        let pairs = grouping.pairs.iter().map(|&(send, receive)| (&all[send as usize], Some(&all[receive as usize])));
        let moves = all.iter().map(|one| (one, None)).chain(pairs);
        for ((one, other), touched) in moves.zip(&touched) {
            // A process that stays at its end never ends.
            if arrangement.keeps_processes && matches!(one.step.act, Act::End) {
                continue;
            }
            let with = match other {
                Some(other) => With::Partner(other.position as u32),
                None if meets_others(one, grouping) => With::Others,
                None if matches!(one.step.act, Act::End) => With::End,
                None => With::None,
            };
            let changes = Changes::new(plan, one, other, touched, with, grouping, arrangement);
            joint.add(plan.of(one), touched, with, &changes);
            if let Some(other) = other {
                joint.add(plan.of(other), touched, With::Partner(one.position as u32), &changes);
                joint.partners[plan.of(one)].push(plan.of(other) as u32);
                joint.partners[plan.of(other)].push(plan.of(one) as u32);
            }
        }
        for (writes, shifts) in joint.writes.iter_mut().zip(&mut joint.shifts) {
            writes.sort_unstable();
            writes.dedup();
            shifts.sort_unstable();
            shifts.dedup();
        }
        for (standpoint, uses) in joint.of.iter_mut().enumerate() {
            uses.sort_unstable_by_key(|&(slot, by, with)| (slot, by as u8, with));
            uses.dedup();
            for &(slot, by, with) in uses.iter() {
                joint.slots[slot as usize].push(Used { standpoint: standpoint as u32, by, with });
            }
        }
        joint
    }

    fn add(&mut self, standpoint: usize, touched: &Touched, with: With, changes: &Changes) {
        self.writes[standpoint].extend(&changes.writes);
        self.shifts[standpoint].extend(&changes.shifts);
        self.all[standpoint] |= touched.all;
        let uses = [
            (Use::Read, &touched.reads),
            (Use::Write, &touched.writes),
            (Use::Put, &touched.puts),
            (Use::Take, &touched.takes),
        ];
        for (by, slots) in uses {
            self.of[standpoint].extend(slots.iter().map(|slot| (slot as u32, by, with)));
        }
    }

    /// The standpoints of other positions with a current move that depends on one of this standpoint.
    fn dependent(&self, plan: &Plan, standpoint: usize) -> Standpoints {
        let mut found = plan.none();
        let own = plan.position[standpoint] as u32;
        let mut note = |other: usize| {
            if plan.position[other] as u32 != own {
                insert(&mut found, other);
            }
        };
        self.partners[standpoint].iter().for_each(|&other| note(other as usize));
        for (other, &reads_all) in self.all.iter().enumerate() {
            if reads_all || self.all[standpoint] {
                note(other);
            }
        }
        for &(slot, by, with) in &self.of[standpoint] {
            let owner = self.owner[slot as usize];
            for used in &self.slots[slot as usize] {
                let other = plan.position[used.standpoint as usize] as u32;
                // A handshake of the two is dealt with by where it takes place.
                let between = with == With::Partner(other) || used.with == With::Partner(own);
                // By itself a process writes what belongs to another one only to start it, where none is.
                let starts = by == Use::Write && with == With::None && owner == Some(other)
                    || used.by == Use::Write && used.with == With::None && owner == Some(own);
                // The older of two processes disappears only when the younger one has.
                let follows = with == With::End && used.with == With::End && other < own;
                if by.disturbs(used.by) && !between && !starts && !follows {
                    note(used.standpoint as usize);
                }
            }
        }
        found
    }

    /// For each channel at which a current move of the standpoint may wait: its length slot, the length with which it
    /// waits, and the standpoints with moves that end the waiting.
    fn waiting(&self, plan: &Plan, standpoint: usize) -> Vec<(u32, u32, Standpoints)> {
        let own = plan.position[standpoint];
        let mut found: HashMap<(u32, u32), Standpoints> = HashMap::new();
        for &(slot, by, _) in &self.of[standpoint] {
            let Some(&capacity) = self.capacities.get(&slot) else { continue };
            let (at, ends) = match by {
                Use::Put => (capacity, Use::Take),
                Use::Take => (0, Use::Put),
                Use::Read | Use::Write => continue,
            };
            let others = self.slots[slot as usize].iter().filter(|used| used.by == ends);
            for used in others.filter(|used| plan.position[used.standpoint as usize] != own) {
                insert(found.entry((slot, at)).or_insert_with(|| plan.none()), used.standpoint as usize);
            }
        }
        let mut found: Vec<_> = found.into_iter().map(|((slot, at), others)| (slot, at, others)).collect();
        found.sort_unstable_by_key(|&(slot, at, _)| (slot, at));
        found
    }
}
