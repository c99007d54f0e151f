//! The successors of a state, exactly those that Spin's verifier stores or matches.
//!
//! A *step* leads from a state that a verifier keeps to the next one that it keeps. Mostly that is one statement of one process. It
//! is more where control is not given up: a statement inside `atomic` is followed by the next one of the same process, until
//! the sequence ends or none of its statements can be executed (then the process loses control there, and the state is kept); a send to a
//! rendezvous channel is followed by the receive of another process, and if that one is inside `atomic`, it goes on. Where
//! there are several ways to go on, each is a step of its own. This is Spin's search with its reductions off (there every state is
//! kept that is not reached by such a statement), so the numbers of states and of steps are Spin's own: what Spin
//! calls transitions is one more than the steps here, as it counts the way into the initial state.
//!
//! Processes are tried youngest first, their transitions in the order of their table: escapes before what they interrupt, and
//! once one passes only its own escape's transitions are tried; `else` passes when nothing before it did. When no process can do anything, all are
//! tried once more with `timeout` true.
//!
//! The walk through unkept states uses a stack of its own, and takes back what it did by the machine's log. A sequence that comes back
//! to a state of its own walk never ends there: from then on the walk leaves out states that it has seen, and says [`FaultKind::Endless`].

use std::collections::HashSet;

use trefoil_system::{Explorer, GroupId, LabelId, Step, Value};

use crate::program::{Action, ProcessTypeId};

use super::fault::{Fault, FaultKind};
use super::machine::{Handshake, Machine};
use super::system::Model;

/// From this depth on a walk looks whether it goes round in circles.
const CIRCLING: usize = 64;
/// Statements after which a walk looks at the budgets.
const POLLED: u32 = 1 << 14;

/// How a level of the walk was entered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entered {
    /// It is the state itself.
    Start,
    /// By a statement after which the same process goes on.
    Atomic,
    /// By a send that somebody has to receive.
    Send,
}

/// A state of the walk whose transitions are being tried.
struct Level {
    entered: Entered,
    /// The process whose transitions are tried; counts down to `lowest`.
    process: i32,
    lowest: i32,
    /// The sender, who cannot receive its own message.
    sender: i32,
    /// The next transition of that process; none when the process was not looked at yet.
    next: Option<u32>,
    kind: ProcessTypeId,
    control: u32,
    /// Did a transition of this process pass?
    passed: bool,
    escape: u32,
    /// Did any transition pass?
    any: bool,
    /// What was before the statement that led here.
    log: usize,
    fault: Option<Fault>,
    handshake: Option<Handshake>,
    timeout: bool,
    /// Was its row noted as one of the walk?
    noted: bool,
}

/// One thread's view of a model.
pub(crate) struct ModelExplorer<'a> {
    model: &'a Model,
    machine: Machine<'a>,
    levels: Vec<Level>,
    /// The fault of the walk so far.
    fault: Option<Fault>,
    /// Rows of the walk, and, once it went round in a circle, all rows that it met.
    walked: HashSet<Vec<u32>>,
    circling: bool,
    since_check: u32,
}

impl<'a> ModelExplorer<'a> {
    pub(crate) fn new(model: &'a Model) -> ModelExplorer<'a> {
        ModelExplorer {
            model,
            machine: Machine::new(&model.program, &model.arrangement),
            levels: Vec::new(),
            fault: None,
            walked: HashSet::new(),
            circling: false,
            since_check: 0,
        }
    }

    fn enter(&mut self, entered: Entered, process: i32, lowest: i32, sender: i32, before: Before) {
        self.levels.push(Level {
            entered,
            process,
            lowest,
            sender,
            next: None,
            kind: 0,
            control: 0,
            passed: false,
            escape: 0,
            any: false,
            log: before.log,
            fault: before.fault,
            handshake: before.handshake,
            timeout: before.timeout,
            noted: before.noted,
        });
    }

    /// Tries everything from the state that is loaded; whether anything passed.
    fn walk(&mut self, sink: &mut dyn FnMut(Step<'_>)) -> bool {
        self.levels.clear();
        self.fault = None;
        let count = self.machine.count() as i32;
        let mut first = (GroupId(0), LabelId::TAU);
        self.enter(Entered::Start, count - 1, 0, -1, Before::default());
        loop {
            let depth = self.levels.len();
            let Some(level) = self.levels.last_mut() else { return false };
            if level.process < level.lowest {
                if depth == 1 {
                    return level.any;
                }
                self.leave(first, sink);
                continue;
            }
            let Some(next) = level.next else {
                let position = level.process as usize;
                if level.process == level.sender || !self.machine.may_act(position) {
                    level.process -= 1;
                    continue;
                }
                level.kind = self.machine.process;
                level.control = self.machine.row[self.machine.control_slot(position)];
                level.next = Some(0);
                level.passed = false;
                level.escape = 0;
                continue;
            };
            let table = &self.model.program.processes[usize::from(level.kind)].transitions[level.control as usize];
            let transition = match table.get(next as usize) {
                Some(transition) if level.escape == 0 || level.escape == transition.escape => transition,
                _ => {
                    level.next = None;
                    level.process -= 1;
                    continue;
                }
            };
            level.next = Some(next + 1);
            let (position, kind, control, passed) = (level.process as usize, level.kind, level.control, level.passed);
            self.model.reach(kind, transition.statement);
            let machine = &mut self.machine;
            machine.act(position);
            let log = machine.log.len();
            let handshake = machine.handshake.clone();
            machine.fault = None;
            let executed = machine.execute(&transition.action, passed);
            if let Some(wanted) = machine.wanted.take() {
                // There is no room for a process: the search will be begun again.
                self.model.want(wanted);
                machine.undo(log);
                machine.handshake = handshake;
                continue;
            }
            if !executed {
                machine.undo(log);
                machine.handshake = handshake;
                continue;
            }
            if depth == 1 {
                first = self.model.named(position, kind, control, next);
            }
            let before = Before { log, fault: self.fault, handshake, timeout: machine.timeout, noted: false };
            let mut broken = false;
            if let Some(fault) = machine.fault {
                broken = fault != FaultKind::Assertion;
                self.fault.get_or_insert(Fault { kind: fault, process: kind, statement: transition.statement });
            }
            if !matches!(*transition.action, Action::End) {
                let slot = machine.control_slot(position);
                machine.set(slot, transition.target);
            }
            if let Some(slot) = self.model.arrangement.last {
                machine.set(slot as usize, position as u32);
            }
            if self.model.arrangement.event.is_some() && !broken {
                self.observe(&transition.action, kind, transition.statement);
            }
            self.model.reach(kind, transition.target);
            let atomic = transition.atomic;
            self.follow(position as i32, atomic, broken, before, first, sink);
            if self.interrupted() {
                return true;
            }
        }
    }

    /// Goes on behind a statement that was executed.
    fn follow(
        &mut self,
        position: i32,
        atomic: bool,
        broken: bool,
        before: Before,
        first: (GroupId, LabelId),
        sink: &mut dyn FnMut(Step<'_>),
    ) {
        let machine = &mut self.machine;
        let sending = machine.handshake.is_some();
        if let Some(level) = self.levels.last_mut() {
            level.passed |= !sending;
            let table = &self.model.program.processes[usize::from(level.kind)].transitions[level.control as usize];
            level.escape = table[level.next.unwrap_or(1) as usize - 1].escape;
        }
        if broken {
            // A step that shows the fault and leads nowhere: the state itself again.
            let mut row = self.machine.row.clone();
            for &(slot, old) in self.machine.log.iter().rev() {
                row[slot as usize] = old;
            }
            if let Some(fault) = self.fault {
                let label = self.model.fault_label(first.1, fault);
                sink(Step { group: first.0, label, row: &row[..self.model.arrangement.width()] });
            }
            self.back(before, true);
        } else if sending {
            machine.timeout = false;
            let count = machine.count() as i32;
            self.enter(Entered::Send, count - 1, 0, position, before);
        } else if atomic {
            machine.timeout = false;
            let mut noted = false;
            if self.levels.len() >= CIRCLING || self.circling {
                noted = self.walked.insert(self.machine.row.clone());
                if !noted {
                    // The walk was here before.
                    if !std::mem::replace(&mut self.circling, true) {
                        let kept = self.fault;
                        let level = self.levels.last().map_or((0, 0), |level| (level.kind, level.control));
                        self.fault = Some(Fault { kind: FaultKind::Endless, process: level.0, statement: level.1 });
                        self.emit(first, sink);
                        self.fault = kept;
                    }
                    self.back(before, true);
                    return;
                }
            }
            self.enter(Entered::Atomic, position, position, -1, Before { noted, ..before });
        } else {
            self.emit(first, sink);
            self.back(before, true);
        }
    }

    /// All transitions of the innermost level were tried.
    fn leave(&mut self, first: (GroupId, LabelId), sink: &mut dyn FnMut(Step<'_>)) {
        let Some(level) = self.levels.pop() else { return };
        let worked = match level.entered {
            Entered::Send => level.any,
            _ => {
                if !level.any {
                    // The process cannot go on and loses control.
                    self.emit(first, sink);
                }
                true
            }
        };
        if level.noted && !self.circling {
            self.walked.remove(&self.machine.row);
        }
        let before = Before {
            log: level.log,
            fault: level.fault,
            handshake: level.handshake,
            timeout: level.timeout,
            noted: false,
        };
        self.back(before, worked);
    }

    /// Takes back the statement that led to a level, and tells the level below whether it worked.
    fn back(&mut self, before: Before, worked: bool) {
        self.machine.undo(before.log);
        self.machine.handshake = before.handshake;
        self.machine.timeout = before.timeout;
        self.fault = before.fault;
        if let Some(level) = self.levels.last_mut() {
            if worked {
                level.any = true;
                level.passed = true;
            } else {
                level.escape = 0;
            }
        }
    }

    fn emit(&mut self, (group, label): (GroupId, LabelId), sink: &mut dyn FnMut(Step<'_>)) {
        let label = match self.fault {
            None => label,
            Some(fault) => self.model.fault_label(label, fault),
        };
        sink(Step { group, label, row: &self.machine.row[..self.model.arrangement.width()] });
    }

    /// Nobody waits for the end of an endless walk when the search is over.
    fn interrupted(&mut self) -> bool {
        self.since_check += 1;
        if self.since_check < POLLED {
            return false;
        }
        self.since_check = 0;
        self.model.control.check().is_err()
    }

    /// Lets a `trace` see a send or receive.
    fn observe(&mut self, action: &Action, process: ProcessTypeId, statement: u32) {
        if !matches!(action, Action::Send(_) | Action::Receive(_)) {
            return;
        }
        if let Some(kind) = self.machine.observe(action) {
            self.fault.get_or_insert(Fault { kind, process, statement });
        }
    }
}

/// What was before a statement.
#[derive(Default)]
struct Before {
    log: usize,
    fault: Option<Fault>,
    handshake: Option<Handshake>,
    timeout: bool,
    noted: bool,
}

impl Machine<'_> {
    /// Lets a process act, if it may.
    fn may_act(&mut self, position: usize) -> bool {
        self.act(position);
        let program = self.program;
        if let Some(provided) = program.processes[usize::from(self.process)].provided
            && self.evaluate(provided) == 0
        {
            return false;
        }
        !self.arrangement.priority || self.has_priority(position)
    }
}

impl Explorer for ModelExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut dyn FnMut(Step<'_>)) {
        self.machine.load(row);
        if std::mem::take(&mut self.circling) || !self.walked.is_empty() {
            self.walked.clear();
        }
        if !self.walk(sink) {
            self.machine.timeout = true;
            self.walk(sink);
            self.machine.timeout = false;
        }
    }
}
