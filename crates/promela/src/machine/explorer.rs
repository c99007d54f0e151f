//! The successors of a state: exactly those that Spin's verifier stores or matches.
//!
//! A *step* leads from a state that a verifier keeps to the next one that it keeps. Usually that is one statement of
//! one process. A step has several statements where a process keeps control: a statement inside `atomic` is followed by
//! the next one of the same process, until the sequence ends or none of its statements is enabled (then the process
//! loses control there, and the state is kept); a send to a rendezvous channel is followed by the receive of another
//! process, which continues if it is inside `atomic`. Each way to continue is a step of its own, which says whether it
//! comes to an `accept` label on its way. This is Spin's search with its reductions off, so the numbers of states and
//! steps are Spin's own. Spin counts one transition more than the steps here: the way into the initial state.
//!
//! The explorer tries processes youngest first and their transitions in the order of their table: escapes come before
//! the transitions that they interrupt, and once an escape is enabled, only its transitions are tried; `else` is
//! enabled if no transition before it is. If no process can move, the explorer tries all of them again with `timeout`
//! true.
//!
//! The walk through states that are not kept uses its own stack, and undoes statements with the log of the machine. A
//! chain of statements without alternatives uses one level of the stack. A sequence that returns to a state of its own
//! walk never ends there: from then on the walk omits states that it has seen, and reports [`FaultKind::Endless`]. It
//! forgets them when the next group begins, whose steps do not depend on the earlier ones.

use std::collections::HashSet;

use trefoil_control::Control as Budget;
use trefoil_system::{
    Cut, Explorer, GroupId, LabelId, LocalGroup, LocalSink, MarkId, Sink, Step, System, Value, Walk, Written, Wrong,
};

use crate::program::ProcessTypeId;

use super::fault::{Fault, FaultKind};
use super::groups::Grouping;
use super::local::Local;
use super::machine::{Halt, Handshake, Machine};
use super::messages::Observer;
use super::moves::{Act, Move};
use super::system::Model;

/// From this depth on a walk looks whether it goes round in circles.
const CIRCLING: usize = 64;
/// Statements after which a walk looks at the budgets.
const POLLED: u32 = 1 << 14;

/// How a level of the walk was entered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entered {
    /// It is the state itself.
    Start,
    /// By a statement after which the same process goes on.
    Atomic,
    /// By a send that another process must receive.
    Send,
}

/// A state of the walk whose moves are being tried.
#[derive(Clone, Copy)]
pub(super) struct Level<'a> {
    pub(super) entered: Entered,
    /// Did any move pass?
    any: bool,
    /// Did a move of this process pass?
    passed: bool,
    /// Was its row noted as one of the walk?
    noted: bool,
    /// Once a move passed: the escape that it belongs to; only its moves are tried then.
    escape: u32,
    /// The process whose moves are tried; counts down to `lowest`.
    pub(super) process: i32,
    lowest: i32,
    /// The sender, which cannot receive its own message.
    sender: i32,
    /// The statement that is reached when another process receives.
    reached: u32,
    kind: ProcessTypeId,
    /// The moves of that process that were not tried yet.
    pub(super) moves: &'a [Move],
}

impl Level<'_> {
    /// Nothing was tried yet: the processes from the first down to the lowest.
    fn new(entered: Entered, first: i32, lowest: i32, sender: i32) -> Self {
        Level {
            entered,
            any: false,
            passed: false,
            noted: false,
            escape: 0,
            // The process above the first has no moves left.
            process: first + 1,
            lowest,
            sender,
            reached: 0,
            kind: 0,
            moves: &[],
        }
    }
}

/// The state before a statement.
#[derive(Clone, Copy, Default)]
struct Before {
    log: usize,
    messages: usize,
    fault: Option<Fault>,
    handshake: Option<Handshake>,
    timeout: bool,
    /// How many processes took part.
    acted: usize,
    /// Was an `accept` label passed?
    passes: bool,
}

/// One thread's view of a model.
pub(crate) struct ModelExplorer<'a> {
    pub(super) model: &'a Model,
    control: &'a Budget,
    pub(super) grouping: &'a Grouping,
    /// Do timeouts have groups of their own?
    timeouts_apart: bool,
    pub(super) machine: Machine<'a>,
    /// The levels above which the walk is.
    levels: Vec<Level<'a>>,
    /// What was before the statements that led to the levels above the first.
    befores: Vec<Before>,
    /// The fault of the walk so far.
    fault: Option<Fault>,
    /// The process that began the step, and those that took part since.
    agents: Vec<u32>,
    /// Has the step come to an `accept` label?
    passes: bool,
    /// Rows of the walk, and, once it went round in a circle, all rows that it met.
    walked: HashSet<Vec<u32>>,
    circling: bool,
    since_check: u32,
    pub(super) local: Local,
    /// The slots that say whether a run may end.
    ending: Vec<Value>,
    /// Names steps by their messages, if steps are named so.
    pub(super) observer: Option<Observer<'a>>,
}

impl<'a> ModelExplorer<'a> {
    pub(crate) fn new(model: &'a Model, control: &'a Budget) -> ModelExplorer<'a> {
        let mut machine = Machine::new(&model.program, &model.arrangement);
        machine.control = Some(control);
        ModelExplorer {
            model,
            control,
            grouping: model.grouping(),
            timeouts_apart: false,
            machine,
            levels: Vec::new(),
            befores: Vec::new(),
            fault: None,
            agents: Vec::new(),
            passes: false,
            walked: HashSet::new(),
            circling: false,
            since_check: 0,
            local: Local::default(),
            ending: Vec::new(),
            observer: None,
        }
    }

    /// The same with these groups, in which timeouts are apart.
    pub(super) fn with_timeouts_apart(self, grouping: &'a Grouping) -> ModelExplorer<'a> {
        ModelExplorer { grouping, timeouts_apart: true, ..self }
    }

    pub(super) fn has_timeouts_apart(&self) -> bool {
        self.timeouts_apart
    }

    /// Takes a row to work on, and discards the rest of a walk that was cut.
    pub(super) fn load(&mut self, row: &[Value]) {
        self.local.is_loaded = false;
        self.machine.load(row);
        self.forget();
    }

    /// Forgets the rows of the walk before.
    #[inline]
    pub(super) fn forget(&mut self) {
        if std::mem::take(&mut self.circling) || !self.walked.is_empty() {
            self.walked.clear();
        }
    }

    /// Tries every move of the loaded state, and once more with `timeout` when that is
    /// nothing.
    pub(super) fn all(&mut self, sink: &mut Sink<'_>) -> Walk {
        let all = (self.machine.youngest(), 0);
        if !self.walk::<false>(all, sink)? {
            self.machine.timeout = true;
            self.walk::<false>(all, sink)?;
            self.machine.timeout = false;
        }
        Ok(())
    }

    /// Tries everything that the processes from the first down to the lowest can do in the state that is loaded;
    /// whether anything passed.
    pub(super) fn walk<const LOCAL: bool>(&mut self, processes: (i32, i32), sink: &mut Sink<'_>) -> Result<bool, Cut> {
        let model = self.model;
        let width = model.arrangement.width();
        self.levels.clear();
        self.befores.clear();
        self.fault = None;
        self.agents.clear();
        self.passes = false;
        let mut first = (GroupId(0), LabelId::TAU);
        // The move that the step begins with.
        let mut opening = 0;
        let mut level = Level::new(Entered::Start, processes.0, processes.1, -1);
        loop {
            let Some((step, rest)) = level.moves.split_first() else {
                level.process -= 1;
                if level.process >= level.lowest {
                    self.look_at(&mut level)?;
                    if LOCAL {
                        self.narrow(&mut level, opening);
                    }
                    continue;
                }
                let (Some(below), Some(before)) = (self.levels.pop(), self.befores.pop()) else { return Ok(level.any) };
                let left = std::mem::replace(&mut level, below);
                self.machine.actor = level.process as usize;
                let worked = self.leave(&left, first, sink)?;
                self.back(before, worked, &mut level);
                if self.circling && (self.levels.is_empty() || self.is_first_send() && level.entered == Entered::Send) {
                    // What one group's walk has seen is nothing to the others.
                    self.forget();
                }
                continue;
            };
            if level.escape != 0 && level.escape != step.escape {
                level.moves = &[];
                continue;
            }
            level.moves = rest;
            let position = level.process as usize;
            model.reach(step.tried);
            let machine = &mut self.machine;
            let (log, messages) = (machine.log.len(), machine.messages.len());
            // Mostly there is none, and nothing to copy.
            let handshake = if machine.handshake.is_some() { machine.handshake } else { None };
            machine.fault = None;
            // Most moves are conditions, and most of these do not hold.
            let executed = match step.act {
                Act::Condition(condition) if handshake.is_none() => machine.holds(condition),
                _ => machine.execute(&step.act, level.passed),
            };
            if !executed || machine.halt.is_some() {
                if let Some(halt) = machine.halt {
                    return Err(self.halted(halt));
                }
                machine.undo(log);
                if machine.messages.len() > messages || machine.handshake.is_some() || handshake.is_some() {
                    machine.messages.truncate(messages);
                    machine.handshake = handshake;
                }
                continue;
            }
            if self.levels.is_empty() {
                opening = step.group;
                let group = self.grouping.of_move(step.group, machine.timeout, |slot| {
                    let wrote = machine.log[log..].iter().find(|change| change.0 == slot);
                    wrote.map_or(machine.row[slot as usize], |&(_, old)| old)
                });
                first = (GroupId(group), model.name(step.group));
                // Most steps are a single statement without a fault or an output.
                let alone = !step.atomic && machine.fault.is_none() && machine.handshake.is_none();
                if alone && model.arrangement.event.is_none() && !machine.records {
                    if !matches!(step.act, Act::End) {
                        let slot = machine.control_slot(position);
                        machine.set(slot, step.target);
                    }
                    if let Some(slot) = model.arrangement.last {
                        machine.set(slot as usize, position as u32);
                    }
                    model.reach(step.reached);
                    (level.any, level.passed, level.escape) = (true, true, step.escape);
                    let written = Written::Slots(&machine.log);
                    let (row, agents) = (&machine.row[..width], &[position as u32][..]);
                    sink(Step { group: first.0, label: first.1, row, written, class: 0, agents, passes: false })?;
                    machine.undo(log);
                    self.poll()?;
                    continue;
                }
            }
            if self.befores.len() == 1 && level.entered == Entered::Send {
                first.0 = GroupId(self.grouping.of_pair(opening, step.group));
            }
            let (acted, passes) = (self.agents.len(), self.passes);
            let before =
                Before { log, messages, fault: self.fault, handshake, timeout: machine.timeout, acted, passes };
            if !self.agents.contains(&(position as u32)) {
                self.agents.push(position as u32);
            }
            let mut broken = false;
            if let Some(fault) = machine.fault {
                broken = !fault.goes_on();
                self.fault.get_or_insert(Fault { kind: fault, process: level.kind, statement: step.statement });
            }
            if !matches!(step.act, Act::End) {
                let slot = machine.control_slot(position);
                machine.set(slot, step.target);
                self.passes |= step.accepting;
            }
            if let Some(slot) = model.arrangement.last {
                machine.set(slot as usize, position as u32);
            }
            if model.arrangement.event.is_some() && !broken {
                self.observe(&step.act, level.kind, step.statement);
            }
            let sending = self.machine.handshake.is_some();
            if !sending {
                model.reach(step.reached);
                level.passed = true;
            }
            level.escape = step.escape;
            if broken {
                self.show(first, sink)?;
                self.back(before, true, &mut level);
            } else if sending {
                self.machine.timeout = false;
                let youngest = self.machine.youngest();
                let next = Level::new(Entered::Send, youngest, 0, level.process);
                self.befores.push(before);
                self.levels.push(std::mem::replace(&mut level, Level { reached: step.reached, ..next }));
            } else if step.atomic && self.run_on(position)? {
                self.emit(first, sink)?;
                self.back(before, true, &mut level);
            } else if step.atomic {
                match self.note(&level, step, first, sink)? {
                    Some(noted) => {
                        let next = Level::new(Entered::Atomic, level.process, level.process, -1);
                        self.befores.push(before);
                        self.levels.push(std::mem::replace(&mut level, Level { noted, ..next }));
                    }
                    None => self.back(before, true, &mut level),
                }
            } else {
                self.emit(first, sink)?;
                self.back(before, true, &mut level);
            }
            self.poll()?;
        }
    }

    /// Goes on with a process that keeps control, through statements without an alternative. True when it came to where
    /// control is given up; otherwise it stands before a statement that is to be tried in the general way.
    fn run_on(&mut self, position: usize) -> Result<bool, Cut> {
        let (model, machine) = (self.model, &mut self.machine);
        machine.timeout = false;
        let (arrangement, code) = (machine.arrangement, machine.type_code(position));
        if code.provided.is_some() || arrangement.priority || arrangement.event.is_some() {
            return Ok(false);
        }
        let slot = machine.control_slot(position);
        // What goes round in circles is found by levels.
        for _ in 0..CIRCLING {
            let [only] = code.moves(machine.row[slot]) else { return Ok(false) };
            if only.escape != 0 || matches!(only.act, Act::End | Act::Else) {
                return Ok(false);
            }
            model.reach(only.tried);
            let (log, messages) = (machine.log.len(), machine.messages.len());
            machine.fault = None;
            let executed = machine.execute(&only.act, false);
            if !executed || machine.fault.is_some() || machine.handshake.is_some() || machine.halt.is_some() {
                if let Some(halt) = machine.halt {
                    return Err(self.halted(halt));
                }
                machine.undo(log);
                machine.messages.truncate(messages);
                (machine.fault, machine.handshake) = (None, None);
                return Ok(false);
            }
            machine.set(slot, only.target);
            self.passes |= only.accepting;
            model.reach(only.reached);
            if !only.atomic {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes up the moves of the process of a level, if it may act.
    #[inline]
    fn look_at(&mut self, level: &mut Level<'a>) -> Walk {
        let position = level.process as usize;
        let machine = &mut self.machine;
        let code = machine.type_code(position);
        level.moves = code.moves(machine.row[machine.control_slot(position)]);
        level.kind = code.kind;
        level.passed = false;
        level.escape = 0;
        machine.actor = position;
        if level.process == level.sender {
            level.moves = &[];
        } else if code.provided.is_some() || machine.arrangement.priority {
            if !machine.may_act(position) {
                level.moves = &[];
            }
            // What others could do may not even be known.
            if let Some(halt) = machine.halt {
                return Err(self.halted(halt));
            }
        }
        Ok(())
    }

    /// What a walk ends with that the machine gave up.
    #[cold]
    fn halted(&mut self, halt: Halt) -> Cut {
        match halt {
            Halt::Stopped => Cut::Stopped,
            Halt::NoRoom(position, kind) => {
                self.model.want((position, kind));
                Cut::Outgrown
            }
        }
    }

    /// Is the walk behind a send that is the first statement of a step?
    pub(super) fn is_first_send(&self) -> bool {
        self.befores.len() == 1
    }

    /// Notes the row of a walk that keeps control, when it is long: whether it was noted, or nothing when the walk was
    /// here before.
    fn note(
        &mut self,
        level: &Level<'_>,
        step: &Move,
        first: (GroupId, LabelId),
        sink: &mut Sink<'_>,
    ) -> Result<Option<bool>, Cut> {
        if self.levels.len() + 1 < CIRCLING && !self.circling {
            return Ok(Some(false));
        }
        if self.walked.insert(self.machine.row.clone()) {
            return Ok(Some(true));
        }
        if !std::mem::replace(&mut self.circling, true) {
            let kept = self.fault;
            self.fault = Some(Fault { kind: FaultKind::Endless, process: level.kind, statement: step.control });
            self.emit(first, sink)?;
            self.fault = kept;
        }
        Ok(None)
    }

    /// All moves of a level were tried: whether the statement that led to it has worked.
    fn leave(&mut self, level: &Level<'_>, first: (GroupId, LabelId), sink: &mut Sink<'_>) -> Result<bool, Cut> {
        let worked = level.entered != Entered::Send || level.any;
        if level.entered == Entered::Send && worked {
            self.model.reach(level.reached);
        }
        if level.entered != Entered::Send && !level.any {
            // The process cannot go on and loses control.
            self.emit(first, sink)?;
        }
        if level.noted && !self.circling {
            self.walked.remove(&self.machine.row);
        }
        Ok(worked)
    }

    /// Undoes a statement, and reports to its level whether it was executed.
    #[inline]
    fn back(&mut self, before: Before, worked: bool, level: &mut Level<'_>) {
        self.machine.undo(before.log);
        self.machine.messages.truncate(before.messages);
        self.machine.handshake = before.handshake;
        self.machine.timeout = before.timeout;
        self.fault = before.fault;
        self.agents.truncate(before.acted);
        self.passes = before.passes;
        if worked {
            level.any = true;
            level.passed = true;
        } else {
            level.escape = 0;
        }
    }

    /// A step that shows a fault and leads nowhere: the state itself again.
    #[cold]
    fn show(&mut self, first: (GroupId, LabelId), sink: &mut Sink<'_>) -> Walk {
        let mut row = self.machine.row.clone();
        for &(slot, old) in self.machine.log.iter().rev() {
            row[slot as usize] = old;
        }
        let Some(fault) = self.fault else { return Ok(()) };
        let label = match &self.observer {
            None => self.model.fault_label(first.1, fault),
            Some(observer) => observer.error(),
        };
        let row = &row[..self.model.arrangement.width()];
        let (agents, passes) = (&self.agents[..], false);
        sink(Step { group: first.0, label, row, written: Written::Slots(&[]), class: 0, agents, passes })
    }

    fn emit(&mut self, (group, label): (GroupId, LabelId), sink: &mut Sink<'_>) -> Walk {
        let label = match (&mut self.observer, self.fault) {
            (None, None) => label,
            (None, Some(fault)) => self.model.fault_label(label, fault),
            (Some(observer), None) => observer.label(&self.machine.messages),
            (Some(observer), Some(_)) => observer.error(),
        };
        let row = &self.machine.row[..self.model.arrangement.width()];
        // Hidden cells are in the log, too; they lie behind the row.
        let written = Written::Slots(&self.machine.log);
        sink(Step { group, label, row, written, class: 0, agents: &self.agents, passes: self.passes })
    }

    /// Ends a long walk when the search is over.
    #[inline]
    fn poll(&mut self) -> Walk {
        self.since_check += 1;
        if self.since_check < POLLED {
            return Ok(());
        }
        self.since_check = 0;
        Ok(self.control.check()?)
    }

    /// Loads a row for claims, which are no process.
    fn load_for_claims(&mut self, row: &[Value]) {
        self.load(row);
        self.machine.actor = usize::MAX;
    }

    /// The values of 32 propositions from the first on, one bit each.
    fn propositions(&mut self, first: usize, row: &[Value]) -> Value {
        self.load_for_claims(row);
        let code = self.machine.code;
        let mut all = 0;
        for (at, &term) in code.propositions.iter().enumerate().skip(first).take(32) {
            all |= u32::from(self.machine.evaluate(term) != 0) << (at - first);
            if self.machine.fault.take().is_some() {
                assert!(code.may_be_undefined[at], "proposition {at} was said to have a value everywhere");
            }
        }
        all
    }

    /// Those of 32 propositions from the first on that have no value, one bit each.
    fn undefined_propositions(&mut self, first: usize, row: &[Value]) -> Value {
        self.load_for_claims(row);
        let code = self.machine.code;
        let mut all = 0;
        for (at, &term) in code.propositions.iter().enumerate().skip(first).take(32) {
            if code.may_be_undefined[at] {
                self.machine.evaluate(term);
                all |= u32::from(self.machine.fault.take().is_some()) << (at - first);
            }
        }
        all
    }

    /// Lets a `trace` see a send or receive.
    fn observe(&mut self, act: &Act, process: ProcessTypeId, statement: u32) {
        if let Some(kind) = self.machine.observe(act) {
            self.fault.get_or_insert(Fault { kind, process, statement });
        }
    }
}

impl Machine<'_> {
    /// May the process act?
    fn may_act(&mut self, position: usize) -> bool {
        if let Some(provided) = self.type_code(position).provided
            && self.evaluate(provided) == 0
        {
            return false;
        }
        !self.arrangement.priority || self.has_priority(position)
    }
}

impl Explorer for ModelExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.load(row);
        self.all(sink)
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        self.local_steps(group, reads, sink)
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        if let Some(observer) = &self.observer {
            return Ok(observer.value(mark, reads));
        }
        if let Some(number) = mark.index().checked_sub(1) {
            let shown = self.model.program().propositions.len().div_ceil(32);
            return Ok(match number.checked_sub(shown) {
                None => self.propositions(number * 32, reads),
                Some(number) => self.undefined_propositions(number * 32, reads),
            });
        }
        self.ending.clear();
        self.ending.resize(self.model.arrangement.width(), 0);
        for (slot, &value) in self.model.marks()[0].reads.iter().zip(reads) {
            self.ending[slot] = value;
        }
        Ok(u32::from(self.model.is_valid_end(&self.ending)))
    }

    fn undefined(&mut self, proposition: u32, row: &[Value]) -> Cut {
        self.load_for_claims(row);
        self.machine.evaluate(self.machine.code.propositions[proposition as usize]);
        let fault = self.machine.fault.take().expect("the proposition has no value in this row");
        let message = format!("what the claim looks at has no value in a state that is reached: {fault}");
        let hint = "what stands behind a condition that decides is not evaluated: `i < 3 && a[i] == 1`";
        Cut::Wrong(Box::new(Wrong { message, place: None, hint: Some(hint.to_string()) }))
    }
}
