//! What each transition group reads and writes.
//!
//! A group is one transition of the process at one position, or a pair of a send and a receive of two processes on a rendezvous
//! channel. What it declares is read off the moves of an arrangement ([`super::moves`]), in which cells are slots and
//! what is known is a constant: the slots that a statement names, whole arrays where an index is not a constant, the channels
//! that a variable may hold ([`super::aliases`]). Besides, every group reads how many processes there are, and the control
//! state of its own.
//!
//! A group reads more than its statement names where
//!
//! - control is kept behind it: the step is the whole run, so all statements that control can come to without being given up
//!   belong to it, and where one of them is a rendezvous, the receivers and what these go on with ([`Survey::runs`]);
//! - whether it is tried depends on moves before it: `else` on all of them, and any move on escapes that it does not belong to;
//! - it looks at other processes: references, `enabled`, priorities, and `timeout`, which is true when nobody can do anything.
//!
//! Inside a run `timeout` is false, and read for nothing. Which of these apply is kept for each group ([`Reason`]).
//!
//! Cost: moves times slots, in bits, and the rounds of the runs, of which there are as many as the longest chain of statements
//! that keep control. Where there would be more than [`MOST_PAIRS`] pairs, a send is one group with all its receivers.

use std::collections::{HashMap, HashSet};

use trefoil_system::{Group, SlotSet};

use crate::program::{Action, Initialiser, Pattern, PlaceId, ProcessType, ProcessTypeId, Program, Sort};
use crate::walk::cells_of;

use super::aliases::{Aliases, Kinds};
use super::arrangement::{Arrangement, COUNT, Queue};
use super::moves::{Act, Channel, Code, Field, IndivisibleAct, InnerStep, Move, Start, TypeCode};
use super::terms::{Element, RemoteTermTarget, Target, Term, TermId};

/// Pairs of sends and receives that get groups of their own.
const MOST_PAIRS: usize = 1 << 14;

/// Why a group reads or writes more than its own statement names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// An index is not a constant: all elements of an array.
    Array,
    /// It looks at the messages of a channel.
    Messages,
    /// A channel is known only when the statement is executed: all that it may be.
    Channel,
    /// It goes on through an atomic sequence.
    Atomic,
    /// It is a `d_step`.
    Indivisible,
    /// It depends on the moves before it: `else`, escapes.
    Alternatives,
    /// It is a send and a receive.
    Handshake,
    /// There are too many pairs of sends and receives: all receivers of a send.
    Handshakes,
    /// It starts a process, wherever that comes to stand.
    Run,
    /// It looks at another process.
    Remote,
    /// It asks what another process can do.
    Enabled,
    /// Its process runs only when something holds.
    Provided,
    /// A `trace` looks at it.
    Trace,
    /// Processes have priorities: it depends on what the others can do.
    Priority,
    /// It depends on whether anything else can happen.
    Timeout,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 15] = [
        Reason::Array,
        Reason::Messages,
        Reason::Channel,
        Reason::Atomic,
        Reason::Indivisible,
        Reason::Alternatives,
        Reason::Handshake,
        Reason::Handshakes,
        Reason::Run,
        Reason::Remote,
        Reason::Enabled,
        Reason::Provided,
        Reason::Trace,
        Reason::Priority,
        Reason::Timeout,
    ];
}

/// A set of slots.
#[derive(Clone, Default)]
struct Slots(Vec<u64>);

impl Slots {
    fn insert(&mut self, slot: usize) {
        let word = slot / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (slot % 64);
    }

    fn extend(&mut self, slots: impl IntoIterator<Item = usize>) {
        slots.into_iter().for_each(|slot| self.insert(slot));
    }

    /// Adds others; whether there are more now.
    fn add(&mut self, other: &Slots) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut grown = false;
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            grown |= other & !*own != 0;
            *own |= other;
        }
        grown
    }

    /// Hidden cells lie behind the row, and are no part of a state.
    fn set(&self, width: usize) -> SlotSet {
        (0..width).filter(|&slot| self.0.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 != 0)).collect()
    }
}

/// What a move touches.
#[derive(Clone, Default)]
struct Touched {
    reads: Slots,
    writes: Slots,
    /// Does it read everything?
    all: bool,
    reasons: u16,
}

impl Touched {
    fn because(&mut self, reason: Reason) {
        self.reasons |= 1 << reason as u16;
    }

    fn has(&self, reason: Reason) -> bool {
        self.reasons >> reason as u16 & 1 != 0
    }

    /// Adds what another one reads.
    fn ask(&mut self, other: &Touched) -> bool {
        let grown = self.reads.add(&other.reads) | (other.all && !self.all) | (other.reasons & !self.reasons != 0);
        self.all |= other.all;
        self.reasons |= other.reasons;
        grown
    }

    /// Adds all of another one.
    fn add(&mut self, other: &Touched) -> bool {
        self.ask(other) | self.writes.add(&other.writes)
    }
}

/// A move and whose it is.
#[derive(Clone, Copy)]
struct Placed<'a> {
    position: usize,
    /// Its type, by its place among those of the position.
    index: usize,
    code: &'a TypeCode,
    step: &'a Move,
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
    /// By send and receive.
    table: Vec<u32>,
    receivers: usize,
}

const NO_RANK: u32 = u32::MAX;

impl Grouping {
    /// The group of a step that begins with these moves, both by their numbers.
    #[inline]
    pub(super) fn of_pair(&self, send: u32, receive: u32) -> u32 {
        if self.table.is_empty() {
            return send;
        }
        self.table[self.sends[send as usize] as usize * self.receivers + self.receives[receive as usize] as usize]
    }

    /// Does a move before this one decide whether it is tried?
    fn from(moves: &[Move], at: usize) -> usize {
        let depends = looks_back(&moves[at].act);
        let decides = |other: &Move| depends || other.escape != 0 && other.escape != moves[at].escape;
        if moves[..at].iter().any(decides) { 0 } else { at }
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

    fn without_pairs(mut self) -> Grouping {
        self.pairs.clear();
        self
    }
}

/// Does an act depend on whether moves before it passed?
fn looks_back(act: &Act) -> bool {
    match act {
        Act::Else => true,
        Act::Indivisible(body) => body.guards.iter().flatten().any(looks_back),
        _ => false,
    }
}

/// All moves, in the order of their numbers.
fn placed(code: &Code) -> Vec<Placed<'_>> {
    let mut all = Vec::new();
    for (position, types) in code.positions.iter().enumerate() {
        for (index, code) in types.iter().enumerate() {
            all.extend(code.all_moves().iter().map(|step| Placed { position, index, code, step }));
        }
    }
    all
}

/// The groups of a model and their reasons, in the order of positions, types, control states and transitions; pairs come last.
pub(super) fn groups(
    program: &Program,
    arrangement: &Arrangement,
    grouping: &Grouping,
) -> (Vec<Group>, Vec<Vec<Reason>>) {
    let mut survey = Survey::new(program, arrangement);
    let all = placed(&arrangement.code);
    // What each move touches itself: when it is the first of a step, and inside one.
    let mut first: Vec<Touched> = all.iter().map(|one| survey.one(one, true)).collect();
    let mut inside: Vec<Touched> = all.iter().map(|one| survey.one(one, false)).collect();
    if arrangement.code.terms.terms.iter().any(|term| matches!(term, Term::Enabled(_))) {
        let mut everyone = Touched::default();
        first.iter().for_each(|touched| {
            everyone.ask(touched);
        });
        everyone.reasons = 0;
        for touched in first.iter_mut().chain(&mut inside).filter(|touched| touched.has(Reason::Enabled)) {
            touched.ask(&everyone);
        }
    }
    survey.meet(&all);
    let runs = survey.runs(&all, &inside);
    let mut names = Vec::new();
    let mut groups: Vec<Touched> = Vec::new();
    let mut alone: Vec<Touched> = Vec::new();
    for (number, one) in all.iter().enumerate() {
        let mut touched = first[number].clone();
        survey.alternatives(one, &all, &first, &mut touched);
        alone.push(touched.clone());
        if one.step.atomic {
            touched.add(&runs[&one.run()]);
            touched.because(Reason::Atomic);
        }
        if grouping.table.is_empty() && !survey.receivers[number].is_empty() {
            survey.handshakes(&all, number, &inside, &runs, &mut touched);
            touched.because(Reason::Handshakes);
        }
        names.push(survey.name(one));
        groups.push(touched);
    }
    for &(send, receive) in &grouping.pairs {
        let other = &all[receive as usize];
        let mut touched = alone[send as usize].clone();
        touched.add(&inside[receive as usize]);
        survey.alternatives(other, &all, &inside, &mut touched);
        if other.step.atomic {
            touched.add(&runs[&other.run()]);
            touched.because(Reason::Atomic);
        }
        touched.because(Reason::Handshake);
        names.push(format!("{} to {}", names[send as usize], names[receive as usize]));
        groups.push(touched);
    }
    let width = arrangement.width();
    let everything: SlotSet = (0..width).collect();
    let mut reasons = Vec::new();
    let groups = names.into_iter().zip(groups).map(|(name, touched)| {
        reasons.push(Reason::ALL.into_iter().filter(|&reason| touched.has(reason)).collect());
        let guards = if touched.all { everything.clone() } else { touched.reads.set(width) };
        Group { name, guards, may_write: touched.writes.set(width), ..Group::default() }
    });
    (groups.collect(), reasons)
}

impl Placed<'_> {
    /// Where its process is behind it: a number for the position, type and control state.
    fn run(&self) -> (usize, usize, u32) {
        (self.position, self.index, self.step.target)
    }
}

/// Channel variables that keep the channel they start with.
pub(super) fn fixed_channels(program: &Program) -> (Vec<Option<u32>>, Vec<Vec<Option<u32>>>) {
    let start = |frame: &crate::program::Frame| {
        let mut fixed = vec![None; frame.cells.len()];
        for initial in &frame.initial {
            if let Initialiser::Channel { cell, channel } = initial {
                fixed[*cell as usize] = Some(*channel);
            }
        }
        fixed
    };
    let mut global = start(&program.globals);
    let mut local: Vec<Vec<Option<u32>>> = program.processes.iter().map(|process| start(&process.frame)).collect();
    let mut written = |kind: usize, place: PlaceId| {
        let place = &program.places[place as usize];
        if place.sort != Sort::Channel {
            return;
        }
        let cells = if place.global { &mut global } else { &mut local[kind] };
        for cell in cells_of(place) {
            cells[cell as usize] = None;
        }
    };
    for (kind, process) in program.processes.iter().enumerate() {
        for transition in process.transitions.iter().flatten() {
            let mut work = vec![&*transition.action];
            while let Some(action) = work.pop() {
                match action {
                    Action::Assign(place, _) => written(kind, *place),
                    Action::Receive(receive) => {
                        for pattern in &receive.fields {
                            if let Pattern::Store(place) = pattern {
                                written(kind, *place);
                            }
                        }
                    }
                    Action::Indivisible(body) => work.extend(body.done()),
                    _ => {}
                }
            }
        }
    }
    (global, local)
}

/// What is touched by a process that keeps control at a position, of a type, in a control state.
type Runs = HashMap<(usize, usize, u32), Touched>;

struct Survey<'a> {
    program: &'a Program,
    arrangement: &'a Arrangement,
    code: &'a Code,
    aliases: Aliases,
    /// The global cell of a slot.
    globals: HashMap<usize, usize>,
    /// Channel variables of each process type that are never assigned: the channels of the own frame that they start with.
    fixed_local: Vec<Vec<Option<u32>>>,
    /// The control states of each process type that its processes can come to.
    reachable: Vec<Vec<bool>>,
    /// The moves that can take what a move sends to a rendezvous channel.
    receivers: Vec<Vec<u32>>,
}

impl<'a> Survey<'a> {
    fn new(program: &'a Program, arrangement: &'a Arrangement) -> Survey<'a> {
        let (aliases, (_, fixed_local)) = (Aliases::new(program), fixed_channels(program));
        let globals = arrangement.globals.iter().enumerate().map(|(cell, &slot)| (slot as usize, cell)).collect();
        let reachable = program.processes.iter().map(ProcessType::reachable).collect();
        Survey {
            program,
            arrangement,
            code: &arrangement.code,
            aliases,
            globals,
            fixed_local,
            reachable,
            receivers: Vec::new(),
        }
    }

    fn name(&self, one: &Placed<'_>) -> String {
        let process = &self.program.processes[usize::from(one.code.kind)];
        let line = process.statements[one.step.statement as usize].line;
        format!("{}({}) line {line}", process.name, one.position)
    }

    /// Finds the receivers of every send.
    fn meet(&mut self, all: &[Placed<'_>]) {
        self.receivers = vec![Vec::new(); all.len()];
        if !self.arrangement.kinds.iter().any(|kind| kind.capacity == 0) {
            return;
        }
        let received: Vec<Vec<Queue>> = all.iter().map(|one| self.receives(one)).collect();
        for (number, send) in all.iter().enumerate() {
            let Some(sent) = self.sends(send) else { continue };
            let takes = |other: &usize| {
                all[*other].position != send.position && sent.iter().any(|queue| received[*other].contains(queue))
            };
            self.receivers[number] = (0..all.len()).filter(takes).map(|other| other as u32).collect();
        }
    }

    /// The rendezvous channels that a move may send to.
    fn sends(&self, one: &Placed<'_>) -> Option<Vec<Queue>> {
        let Act::Send(send) = &one.step.act else { return None };
        if !self.reachable[usize::from(one.code.kind)][one.step.control as usize] {
            return None;
        }
        let mut queues = self.queues(one, send.channel);
        queues.retain(|queue| queue.capacity == 0);
        (!queues.is_empty()).then_some(queues)
    }

    /// The rendezvous channels that a move may receive from.
    fn receives(&self, one: &Placed<'_>) -> Vec<Queue> {
        let mut queues = Vec::new();
        if !self.reachable[usize::from(one.code.kind)][one.step.control as usize] {
            return queues;
        }
        let mut work = vec![&one.step.act];
        while let Some(act) = work.pop() {
            match act {
                Act::Receive(receive) => queues.extend(self.queues(one, receive.channel)),
                Act::Indivisible(body) => work.extend(acts(body)),
                _ => {}
            }
        }
        queues.retain(|queue| queue.capacity == 0);
        queues
    }

    /// What control touches that is kept, by where it is kept.
    fn runs(&self, all: &[Placed<'_>], inside: &[Touched]) -> Runs {
        let mut runs: Runs = HashMap::new();
        for one in all.iter().filter(|one| one.step.atomic) {
            runs.entry(one.run()).or_default();
        }
        let mut states: Vec<(usize, usize, u32)> = runs.keys().copied().collect();
        states.sort_unstable();
        // Mostly control goes to states with greater numbers.
        states.reverse();
        loop {
            let mut grown = false;
            for &(position, index, control) in &states {
                let mut sum = runs.remove(&(position, index, control)).expect("it is one of them");
                for step in self.code.positions[position][index].moves(control) {
                    grown |= sum.add(&inside[step.group as usize]);
                    if step.atomic
                        && let Some(next) = runs.get(&(position, index, step.target))
                    {
                        grown |= sum.add(next);
                    }
                    grown |= self.handshakes(all, step.group as usize, inside, &runs, &mut sum);
                }
                runs.insert((position, index, control), sum);
            }
            if !grown {
                break;
            }
        }
        for state in self.endless(all, &states) {
            let touched = runs.get_mut(&state).expect("it is one of them");
            // A run that comes back to where it was is told by what it wrote.
            let writes = touched.writes.clone();
            touched.reads.add(&writes);
        }
        runs
    }

    /// The states from which control can be kept for ever.
    fn endless(&self, all: &[Placed<'_>], states: &[(usize, usize, u32)]) -> Vec<(usize, usize, u32)> {
        let mut left: HashSet<(usize, usize, u32)> = states.iter().copied().collect();
        loop {
            let goes_on = |&(position, index, control): &(usize, usize, u32)| {
                self.code.positions[position][index].moves(control).iter().any(|step| {
                    let received = self.receivers[step.group as usize].iter().map(|&other| &all[other as usize]);
                    step.atomic && left.contains(&(position, index, step.target))
                        || received.into_iter().any(|other| other.step.atomic && left.contains(&other.run()))
                })
            };
            let kept: HashSet<(usize, usize, u32)> = left.iter().copied().filter(goes_on).collect();
            if kept.len() == left.len() {
                return kept.into_iter().collect();
            }
            left = kept;
        }
    }

    /// Adds what the receivers of a send touch; whether that is more.
    fn handshakes(&self, all: &[Placed<'_>], send: usize, inside: &[Touched], runs: &Runs, into: &mut Touched) -> bool {
        let mut grown = false;
        for &receiver in &self.receivers[send] {
            let other = &all[receiver as usize];
            grown |= into.add(&inside[receiver as usize]);
            grown |= self.alternatives(other, all, inside, into);
            if other.step.atomic
                && let Some(next) = runs.get(&other.run())
            {
                grown |= into.add(next);
            }
        }
        grown
    }

    /// Adds what decides whether a move is tried; whether that is more.
    fn alternatives(&self, one: &Placed<'_>, all: &[Placed<'_>], own: &[Touched], into: &mut Touched) -> bool {
        let moves = one.code.moves(one.step.control);
        let at = moves.iter().position(|other| other.group == one.step.group).expect("it is one of them");
        let depends = looks_back(&one.step.act);
        let mut grown = false;
        for other in moves[..at].iter().filter(|other| depends || other.escape != 0 && other.escape != one.step.escape)
        {
            grown |= into.ask(&own[other.group as usize]);
            into.because(Reason::Alternatives);
            // Whether a send to a rendezvous channel passes, its receivers decide.
            for &receiver in &self.receivers[other.group as usize] {
                let earlier = &all[receiver as usize];
                for step in earlier.code.moves(earlier.step.control) {
                    grown |= into.ask(&own[step.group as usize]);
                }
            }
        }
        grown
    }

    /// What a move touches itself; `first` when it begins a step.
    fn one(&self, one: &Placed<'_>, first: bool) -> Touched {
        let mut touched = Touched::default();
        let place = &self.arrangement.positions[one.position];
        let base = place.base as usize;
        touched.reads.extend([COUNT, base + 1]);
        if place.types.len() > 1 {
            touched.reads.insert(base);
        }
        if let Some(last) = self.arrangement.last {
            touched.writes.insert(last as usize);
        }
        if let Some(provided) = one.code.provided {
            self.term(one, provided, first, &mut touched);
            touched.because(Reason::Provided);
        }
        if self.arrangement.priority {
            touched.all = true;
            touched.because(Reason::Priority);
        }
        if !matches!(one.step.act, Act::End) {
            touched.writes.insert(base + 1);
        }
        self.act(one, &one.step.act, first, &mut touched);
        if let (Some(event), Act::Send(_) | Act::Receive(_)) = (self.arrangement.event, &one.step.act) {
            touched.because(Reason::Trace);
            touched.reads.insert(event as usize);
            touched.writes.insert(event as usize);
            for step in self.code.trace.iter().flatten() {
                if let Some((Channel::Named(term), _)) = step.event {
                    self.term(one, term, first, &mut touched);
                }
                step.fields.iter().flatten().for_each(|&field| self.term(one, field, first, &mut touched));
            }
        }
        touched
    }

    fn act(&self, one: &Placed<'_>, act: &Act, first: bool, touched: &mut Touched) {
        match act {
            Act::Skip | Act::Else => {}
            Act::Condition(condition) | Act::Assert(condition) => self.term(one, *condition, first, touched),
            Act::Assign(target, value) => {
                self.term(one, *value, first, touched);
                self.target(one, *target, first, touched);
            }
            Act::Send(send) => {
                send.arguments.iter().for_each(|&argument| self.term(one, argument, first, touched));
                let queues = self.addressed(one, send.channel, first, touched);
                for queue in queues.iter().filter(|queue| queue.capacity > 0) {
                    let slots = slots_of(queue);
                    touched.reads.insert(slots.start);
                    touched.writes.extend(slots.clone());
                    if send.sorted {
                        touched.because(Reason::Messages);
                        touched.reads.extend(slots);
                    }
                }
            }
            Act::Receive(receive) => {
                for field in &receive.fields {
                    match *field {
                        Field::Store(target) => self.target(one, target, first, touched),
                        Field::Match(value) => self.term(one, value, first, touched),
                    }
                }
                let queues = self.addressed(one, receive.channel, first, touched);
                for queue in queues.iter().filter(|queue| queue.capacity > 0) {
                    touched.because(Reason::Messages);
                    touched.reads.extend(slots_of(queue));
                    if !receive.copy {
                        touched.writes.extend(slots_of(queue));
                    }
                }
            }
            Act::SetPriority(process, priority) => {
                self.term(one, *process, first, touched);
                self.term(one, *priority, first, touched);
                let slots = self.arrangement.positions.iter().map(|place| place.base as usize + 2);
                touched.writes.extend(slots.filter(|_| self.arrangement.priority));
            }
            Act::Indivisible(body) => {
                touched.because(Reason::Indivisible);
                acts(body).for_each(|act| self.act(one, act, first, touched));
            }
            Act::End => {
                let place = &self.arrangement.positions[one.position];
                touched.writes.insert(COUNT);
                touched.writes.extend(place.base as usize..(place.base + place.width) as usize);
            }
        }
    }

    fn target(&self, one: &Placed<'_>, target: Target, first: bool, touched: &mut Touched) {
        match target {
            Target::Nowhere => {}
            Target::Slot(slot, _) => touched.writes.insert(slot as usize),
            Target::Element(element) => {
                let element = &self.code.terms.elements[element as usize];
                element.offsets.iter().for_each(|offset| self.term(one, offset.value, first, touched));
                touched.writes.extend(slots_in(element, 0));
                touched.because(Reason::Array);
            }
        }
    }

    /// The channels that a statement may use; what is read to find out which one it is.
    fn addressed(&self, one: &Placed<'_>, channel: Channel, first: bool, touched: &mut Touched) -> Vec<Queue> {
        let queues = self.queues(one, channel);
        if let Channel::Named(term) = channel {
            self.term(one, term, first, touched);
            if self.arrangement.fixed.is_none() {
                // Which channel a number means depends on the processes below it.
                touched.reads.extend(self.type_slots());
            }
            if queues.len() > 1 {
                touched.because(Reason::Channel);
            }
        }
        queues
    }

    /// The slots that say of which type a process is, where there are several.
    fn type_slots(&self) -> impl Iterator<Item = usize> + '_ {
        let several = self.arrangement.positions.iter().filter(|place| place.types.len() > 1);
        several.map(|place| place.base as usize)
    }

    /// The channels that a statement may use.
    fn queues(&self, one: &Placed<'_>, channel: Channel) -> Vec<Queue> {
        let term = match channel {
            Channel::Known(_, queue) => return vec![queue],
            Channel::Named(term) => term,
        };
        let kind = usize::from(one.code.kind);
        let cells = (self.arrangement.positions[one.position].base + self.arrangement.shapes[kind].cells) as usize;
        if let Term::Slot(slot) = self.code.terms.terms[term as usize]
            && let Some(&Some(own)) =
                (slot as usize).checked_sub(cells).and_then(|cell| self.fixed_local[kind].get(cell))
            && let Some(queue) = self.arrangement.queues_at(one.position, one.code.kind).nth(own as usize)
        {
            return vec![queue];
        }
        let kinds = self.kinds(one, cells, term);
        let mut all: Vec<Queue> =
            self.arrangement.queues.iter().filter(|queue| kinds.contains(queue.kind)).copied().collect();
        for (number, position) in self.arrangement.positions.iter().enumerate() {
            for &kind in &position.types {
                all.extend(self.arrangement.queues_at(number, kind).filter(|queue| kinds.contains(queue.kind)));
            }
        }
        all
    }

    /// The kinds of channels that a term may name.
    fn kinds(&self, one: &Placed<'_>, cells: usize, term: TermId) -> Kinds {
        let (kind, mut found) = (usize::from(one.code.kind), Kinds::default());
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            let slots: Vec<usize> = match self.code.terms.terms[term as usize] {
                Term::Constant(0) => Vec::new(),
                Term::Slot(slot) => vec![slot as usize],
                Term::At { base, length, .. } => (base as usize..(base + length) as usize).collect(),
                Term::Element(element) => slots_in(&self.code.terms.elements[element as usize], 0),
                Term::Conditional(_, yes, no) => {
                    work.extend([yes, no]);
                    continue;
                }
                _ => {
                    found.any = true;
                    continue;
                }
            };
            for slot in slots {
                let local = slot.checked_sub(cells).filter(|&cell| cell < self.aliases.locals[kind].len());
                match (local, self.globals.get(&slot).copied()) {
                    (Some(cell), _) if self.sort_of(Some(kind), cell) == Sort::Channel => {
                        found.add(&self.aliases.locals[kind][cell]);
                    }
                    (None, Some(cell)) if self.sort_of(None, cell) == Sort::Channel => {
                        found.add(&self.aliases.globals[cell]);
                    }
                    _ => found.any = true,
                }
            }
        }
        found
    }

    fn sort_of(&self, kind: Option<usize>, cell: usize) -> Sort {
        let frame = kind.map_or(&self.program.globals, |kind| &self.program.processes[kind].frame);
        frame.cells[cell].sort
    }

    fn term(&self, one: &Placed<'_>, term: TermId, first: bool, touched: &mut Touched) {
        let terms = &self.code.terms;
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            match terms.terms[term as usize] {
                Term::Constant(_) => {}
                Term::Slot(slot) | Term::Short(slot) | Term::SlotConstant(_, slot, _) => {
                    touched.reads.insert(slot as usize);
                }
                Term::SlotSlot(_, left, right) => touched.reads.extend([left as usize, right as usize]),
                Term::At { base, slot, length } => {
                    touched.reads.insert(slot as usize);
                    touched.reads.extend(base as usize..(base + length) as usize);
                    touched.because(Reason::Array);
                }
                Term::Element(element) => {
                    let element = &terms.elements[element as usize];
                    work.extend(element.offsets.iter().map(|offset| offset.value));
                    touched.reads.extend(slots_in(element, 0));
                    touched.because(Reason::Array);
                }
                Term::Not(inner) | Term::Negate(inner) | Term::Complement(inner) => work.push(inner),
                Term::Binary(_, left, right) => work.extend([left, right]),
                Term::Conditional(condition, yes, no) => work.extend([condition, yes, no]),
                Term::Run(run) => {
                    let run = &terms.runs[run as usize];
                    work.extend(&run.arguments);
                    self.run(one, run.process, run.arguments.len(), &mut work, touched);
                }
                Term::Length(channel)
                | Term::Full(channel)
                | Term::Empty(channel)
                | Term::NotFull(channel)
                | Term::NotEmpty(channel) => {
                    let queues = self.polled(one, channel, &mut work, touched);
                    touched.reads.extend(queues.iter().map(|queue| queue.slot as usize));
                }
                Term::Poll(poll) => {
                    let poll = &terms.polls[poll as usize];
                    work.extend(poll.fields.iter().flatten());
                    let queues = self.polled(one, poll.channel, &mut work, touched);
                    touched.because(Reason::Messages);
                    touched.reads.extend(queues.iter().flat_map(slots_of));
                }
                Term::Timeout => {
                    touched.all |= first;
                    if first {
                        touched.because(Reason::Timeout);
                    }
                }
                Term::ProcessCount => touched.reads.insert(COUNT),
                Term::Last => touched.reads.extend(self.arrangement.last.map(|slot| slot as usize)),
                Term::ProgramCounter(process) => {
                    work.push(process);
                    for position in self.named(process) {
                        touched.reads.insert(self.arrangement.positions[position].base as usize + 1);
                    }
                    touched.because(Reason::Remote);
                }
                // Where priorities are used everything is read.
                Term::Priority(process) => work.push(process),
                Term::OwnPriority => {}
                Term::Enabled(process) => {
                    work.push(process);
                    touched.because(Reason::Enabled);
                }
                Term::Remote(remote) => {
                    let remote = &terms.remotes[remote as usize];
                    work.extend(remote.index);
                    touched.because(Reason::Remote);
                    if remote.index.is_none() {
                        touched.reads.extend(self.type_slots());
                    }
                    let named = remote.index.map_or_else(|| self.everybody(), |index| self.named(index));
                    for position in named {
                        let place = &self.arrangement.positions[position];
                        let base = place.base as usize;
                        if place.types.len() > 1 {
                            touched.reads.insert(base);
                        }
                        if !place.types.contains(&remote.process) {
                            continue;
                        }
                        match &remote.target {
                            RemoteTermTarget::Label(_) => touched.reads.insert(base + 1),
                            RemoteTermTarget::Cell(element) => {
                                let shape = &self.arrangement.shapes[usize::from(remote.process)];
                                touched.reads.extend(slots_in(element, base + shape.cells as usize));
                            }
                        }
                    }
                    if let RemoteTermTarget::Cell(element) = &remote.target {
                        work.extend(element.offsets.iter().map(|offset| offset.value));
                    }
                }
            }
        }
    }

    fn everybody(&self) -> std::ops::Range<usize> {
        0..self.arrangement.positions.len()
    }

    /// The positions that the number of a process may mean.
    fn named(&self, process: TermId) -> std::ops::Range<usize> {
        match self.code.terms.terms[process as usize] {
            Term::Constant(number) => match usize::try_from(number) {
                Ok(number) if number < self.arrangement.positions.len() => number..number + 1,
                _ => 0..0,
            },
            _ => self.everybody(),
        }
    }

    /// The channels that an expression looks into, as far as they hold anything.
    fn polled(&self, one: &Placed<'_>, channel: TermId, work: &mut Vec<TermId>, touched: &mut Touched) -> Vec<Queue> {
        work.push(channel);
        let number = match self.code.terms.terms[channel as usize] {
            Term::Constant(number) => usize::try_from(number).ok().and_then(|number| number.checked_sub(1)),
            _ => None,
        };
        let mut queues = match number.and_then(|number| self.arrangement.queues.get(number)) {
            Some(&queue) => vec![queue],
            None => {
                if self.arrangement.fixed.is_none() {
                    touched.reads.extend(self.type_slots());
                }
                self.queues(one, Channel::Named(channel))
            }
        };
        if queues.len() > 1 {
            touched.because(Reason::Channel);
        }
        queues.retain(|queue| queue.capacity > 0);
        queues
    }

    /// What is touched when a process is started, at whatever position that is.
    fn run(
        &self,
        one: &Placed<'_>,
        process: ProcessTypeId,
        arguments: usize,
        work: &mut Vec<TermId>,
        touched: &mut Touched,
    ) {
        touched.because(Reason::Run);
        touched.writes.insert(COUNT);
        if !self.program.processes[usize::from(process)].frame.channels.is_empty() {
            touched.reads.extend(self.type_slots());
        }
        for (number, place) in self.arrangement.positions.iter().enumerate().skip(one.position + 1) {
            let Some(index) = place.types.iter().position(|&kind| kind == process) else { continue };
            let base = place.base as usize;
            let cells = base + self.arrangement.shapes[usize::from(process)].cells as usize;
            touched.writes.extend(base..cells + arguments);
            for start in &self.code.positions[number][index].start {
                match *start {
                    Start::Value(slot, _, value) => {
                        touched.writes.insert(slot as usize);
                        work.push(value);
                    }
                    Start::Channel(slot, _) => touched.writes.insert(slot as usize),
                }
            }
        }
    }
}

/// The guards of a `d_step`, and what it does.
fn acts(body: &IndivisibleAct) -> impl Iterator<Item = &Act> {
    let done = body.steps.iter().filter_map(|step| match step {
        InnerStep::Do { act, .. } => Some(act),
        InnerStep::Choose(_) => None,
    });
    body.guards.iter().flatten().chain(done)
}

/// The slots of a channel that holds messages: its length, then these.
fn slots_of(queue: &Queue) -> std::ops::Range<usize> {
    let from = queue.slot as usize;
    from..from + 1 + (queue.capacity * queue.fields) as usize
}

/// The slots that an element may have, counted from one.
fn slots_in(element: &Element, from: usize) -> Vec<usize> {
    let mut slots = vec![from + element.base as usize];
    for offset in &element.offsets {
        let before = std::mem::take(&mut slots);
        for index in 0..offset.length as usize {
            slots.extend(before.iter().map(|slot| slot + index * offset.stride as usize));
        }
    }
    slots
}
