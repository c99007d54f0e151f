//! A model statement by statement.
//!
//! A step of a model (see `machine/explorer.rs`) leads from a state that a verifier keeps to the next one that it
//! keeps, and may have many statements of an atomic sequence. A user follows the statements. A *moment* is a state
//! between two statements: the row with the hidden cells, and the process that holds control, if the process that moved
//! last is inside an atomic sequence and can continue. A *move* is one statement of one process, or a rendezvous send
//! with its receive.
//!
//! The rules are those of `machine/explorer.rs`: processes are tried youngest first, escapes before the transitions
//! that they interrupt, `timeout` if nothing else is enabled; a process that holds control and cannot continue loses
//! it, and there the row is a state of the model. A separate interpreter finds the moves, one moment at a time, so that
//! tests can compare the two: the sequences of moves between two states of the model are its steps.
//!
//! [`Simulator::unfold`] finds the moves of a step: a breadth-first search through the moments between, which visits
//! each moment once and returns the shortest sequence. It costs as much as the step itself.

use std::collections::{HashMap, HashSet};

use trefoil_control::Control as Budget;
use trefoil_system::{Cut, LabelId, Value, Walk};

use crate::machine::{Fault, FaultKind, Model};
use crate::program::{Action, Control, ProcessTypeId, Statement, Transition};

use super::interpreter::{Handshake, Interpreter};

/// Between two statements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    /// The row of the model, and hidden cells behind it.
    pub(crate) row: Vec<Value>,
    /// The process that is inside an atomic sequence and can go on.
    pub(crate) holder: Option<u8>,
}

impl Moment {
    /// The process that no other can interrupt now.
    pub fn holder(&self) -> Option<usize> {
        self.holder.map(usize::from)
    }
}

/// A transition of the process at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Act {
    /// The position: its number.
    pub process: u8,
    /// Its type.
    pub kind: ProcessTypeId,
    /// Where it is.
    pub control: Control,
    /// The transition, by its place in the table of that state.
    pub index: u32,
}

impl Act {
    /// The statement that it executes.
    pub fn statement<'m>(&self, model: &'m Model) -> &'m Statement {
        &model.program.processes[usize::from(self.kind)].statements[self.transition(model).statement as usize]
    }

    pub(crate) fn transition<'m>(&self, model: &'m Model) -> &'m Transition {
        &model.program.processes[usize::from(self.kind)].transitions[self.control as usize][self.index as usize]
    }
}

/// One statement, or a send and a receive that are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The process and the statement of each act; a receive follows its send.
    pub acts: Vec<Act>,
    /// Its run-time error.
    pub fault: Option<Fault>,
    /// Is it an error behind which nothing is known? Then `after` is where it happened.
    pub broken: bool,
    /// Was `timeout` true?
    pub(crate) timeout: bool,
    /// The moment after it.
    pub after: Moment,
}

/// Finds moves.
pub struct Simulator<'m> {
    pub(crate) model: &'m Model,
    pub(super) interpreter: Interpreter<'m>,
    pub(crate) control: &'m Budget,
}

/// What looks at an act that was executed, its fault, and whether it is broken; whether it counts.
type Taken<'t, 'm> = dyn FnMut(&mut Simulator<'m>, Act, Option<Fault>, bool) -> Result<bool, Cut> + 't;

/// The state before an act.
struct Before {
    log: usize,
    handshake: Option<Handshake>,
    timeout: bool,
}

impl<'m> Simulator<'m> {
    /// Simulates a model, as long as the control lets it.
    pub fn new(model: &'m Model, control: &'m Budget) -> Simulator<'m> {
        Simulator { model, interpreter: Interpreter::new(&model.program, &model.arrangement, control), control }
    }

    /// A state of the model as a moment.
    pub fn moment(&mut self, row: &[Value]) -> Moment {
        self.interpreter.load(row);
        Moment { row: self.interpreter.row.clone(), holder: None }
    }

    /// The row of the model that a moment has.
    pub fn row<'r>(&self, moment: &'r Moment) -> &'r [Value] {
        &moment.row[..self.model.arrangement.width()]
    }

    /// Puts the interpreter where a moment is.
    pub(crate) fn stand(&mut self, moment: &Moment) {
        let width = self.model.arrangement.width();
        self.interpreter.load(&moment.row[..width]);
        self.interpreter.row[width..].copy_from_slice(&moment.row[width..]);
    }

    /// Everything that can happen at a moment.
    pub fn moves(&mut self, moment: &Moment) -> Result<Vec<Move>, Cut> {
        let mut found = self.raw_moves(moment)?;
        for next in &mut found {
            self.settle(&mut next.after)?;
        }
        Ok(found)
    }

    /// A process that cannot go on loses control, and at a state of the model hidden cells are as at first.
    fn settle(&mut self, moment: &mut Moment) -> Walk {
        if moment.holder.is_some() && self.raw_moves(moment)?.is_empty() {
            moment.holder = None;
        }
        if moment.holder.is_none() {
            let width = self.model.arrangement.width();
            self.interpreter.load(&moment.row[..width]);
            moment.row.copy_from_slice(&self.interpreter.row);
        }
        Ok(())
    }

    fn raw_moves(&mut self, moment: &Moment) -> Result<Vec<Move>, Cut> {
        let mut found = Vec::new();
        self.stand(moment);
        if let Some(holder) = moment.holder {
            self.process_moves(usize::from(holder), &mut found)?;
            return Ok(found);
        }
        for timeout in [false, true] {
            self.interpreter.timeout = timeout;
            for position in (0..self.interpreter.count()).rev() {
                self.process_moves(position, &mut found)?;
            }
            if !found.is_empty() {
                break;
            }
        }
        self.interpreter.timeout = false;
        Ok(found)
    }

    fn process_moves(&mut self, position: usize, found: &mut Vec<Move>) -> Walk {
        let timeout = self.interpreter.timeout;
        self.transitions_of(position, &mut |simulator, act, fault, broken| {
            if simulator.interpreter.handshake.is_some() && !broken {
                return simulator.receivers(act, fault, found);
            }
            let after = simulator.reached(act, broken);
            found.push(Move { acts: vec![act], fault, broken, timeout, after });
            Ok(true)
        })
    }

    /// The processes that can receive a pending rendezvous; returns whether there are any.
    fn receivers(&mut self, send: Act, sent: Option<Fault>, found: &mut Vec<Move>) -> Result<bool, Cut> {
        let known = found.len();
        let timeout = std::mem::replace(&mut self.interpreter.timeout, false);
        for position in (0..self.interpreter.count()).rev().filter(|&position| position != usize::from(send.process)) {
            self.transitions_of(position, &mut |simulator, act, fault, broken| {
                let after = simulator.reached(act, broken);
                found.push(Move { acts: vec![send, act], fault: sent.or(fault), broken, timeout, after });
                Ok(true)
            })?;
        }
        self.interpreter.timeout = timeout;
        Ok(found.len() > known)
    }

    /// Hands every transition of a process that can be executed to `taken`, the interpreter standing behind it, and
    /// takes it back. What `taken` says is whether it counts.
    fn transitions_of(&mut self, position: usize, taken: &mut Taken<'_, 'm>) -> Walk {
        self.control.check()?;
        let may_act = self.interpreter.may_act(position);
        self.was_given_up()?;
        if !may_act {
            return Ok(());
        }
        let kind = self.interpreter.process;
        let control = self.interpreter.row[self.interpreter.control_slot(position)];
        let model = self.model;
        let table = &model.program.processes[usize::from(kind)].transitions[control as usize];
        let (mut passed, mut escape) = (false, 0);
        for (index, transition) in table.iter().enumerate() {
            if escape != 0 && escape != transition.escape {
                break;
            }
            let before = self.before();
            self.interpreter.act(position);
            self.interpreter.fault = None;
            let executed = self.interpreter.execute(&transition.action, passed);
            self.was_given_up()?;
            if !executed {
                self.back(before);
                continue;
            }
            let act = Act { process: position as u8, kind, control, index: index as u32 };
            let (fault, broken) = self.finish(act);
            passed |= self.interpreter.handshake.is_none();
            escape = transition.escape;
            let worked = taken(self, act, fault, broken)?;
            self.back(before);
            if worked {
                passed = true;
            } else {
                escape = 0;
            }
        }
        Ok(())
    }

    /// Was there no room for a process, or no time? Then what the interpreter did is worth nothing.
    fn was_given_up(&self) -> Walk {
        if self.interpreter.stopped {
            return Err(Cut::Stopped);
        }
        match self.interpreter.wanted {
            None => Ok(()),
            Some(wanted) => {
                self.model.want(wanted);
                Err(Cut::Outgrown)
            }
        }
    }

    /// Continues after an executed action: control moves on, and the `trace` observes the action.
    pub(crate) fn finish(&mut self, act: Act) -> (Option<Fault>, bool) {
        let transition = act.transition(self.model);
        let position = usize::from(act.process);
        let interpreter = &mut self.interpreter;
        let fault_of = |kind| Fault { kind, process: act.kind, statement: transition.statement };
        let mut fault = interpreter.fault.map(fault_of);
        let broken = interpreter.fault.is_some_and(|kind| !kind.goes_on());
        if !matches!(*transition.action, Action::End) {
            let slot = interpreter.control_slot(position);
            interpreter.set(slot, transition.target);
        }
        if let Some(slot) = self.model.arrangement.last {
            interpreter.set(slot as usize, position as u32);
        }
        let communicates = matches!(*transition.action, Action::Send(_) | Action::Receive(_));
        if self.model.arrangement.event.is_some() && !broken && communicates {
            fault = fault.or(interpreter.observe(&transition.action).map(fault_of));
        }
        (fault, broken)
    }

    fn before(&self) -> Before {
        let interpreter = &self.interpreter;
        Before { log: interpreter.log.len(), handshake: interpreter.handshake.clone(), timeout: interpreter.timeout }
    }

    fn back(&mut self, before: Before) {
        self.interpreter.undo(before.log);
        self.interpreter.handshake = before.handshake;
        self.interpreter.timeout = before.timeout;
        self.interpreter.fault = None;
    }

    /// The moment behind an act; behind an error, the moment where it happened.
    fn reached(&self, act: Act, broken: bool) -> Moment {
        let mut row = self.interpreter.row.clone();
        if broken {
            for &(slot, old) in self.interpreter.log.iter().rev() {
                row[slot as usize] = old;
            }
        }
        let atomic = act.transition(self.model).atomic && !broken;
        Moment { row, holder: atomic.then_some(act.process) }
    }

    /// The label of the step of the model that begins with a move and has a fault.
    fn label(&self, first: &Move, fault: Option<Fault>) -> LabelId {
        let act = first.acts[0];
        let process = &self.model.program.processes[usize::from(act.kind)];
        let statement = &process.statements[act.transition(self.model).statement as usize];
        let label = self.model.step_label(usize::from(act.process), process, statement);
        fault.map_or(label, |fault| self.model.fault_label(label, fault))
    }

    /// The moves that a step of the model is made of, as few as possible; none when the model has no such step.
    pub fn unfold(&mut self, before: &[Value], label: LabelId, after: &[Value]) -> Result<Option<Vec<Move>>, Cut> {
        let start = self.moment(before);
        let mut walk = Between::default();
        for first in self.moves(&start)? {
            walk.add(first, None);
        }
        let mut at = 0;
        while at < walk.nodes.len() {
            self.control.check()?;
            let node = &walk.nodes[at];
            let fault = node.fault;
            let over = node.step.broken || node.step.after.holder.is_none();
            let row = if node.step.broken { before } else { self.row(&node.step.after) };
            if over && row == after && self.label(&walk.nodes[walk.first(at)].step, fault) == label {
                return Ok(Some(walk.path(at)));
            }
            if !over {
                let here = node.step.after.clone();
                for next in self.moves(&here)? {
                    walk.add(next, Some(at));
                }
            }
            at += 1;
        }
        match self.model.fault(label) {
            Some(fault) if fault.kind == FaultKind::Endless => self.circle(&walk, label, after, fault),
            _ => Ok(None),
        }
    }

    /// An atomic sequence that comes back to where it was: the way there, and around.
    fn circle(
        &mut self,
        walk: &Between,
        label: LabelId,
        after: &[Value],
        fault: Fault,
    ) -> Result<Option<Vec<Move>>, Cut> {
        for at in 0..walk.nodes.len() {
            let node = &walk.nodes[at];
            let inside = node.step.after.holder.is_some() && self.row(&node.step.after) == after;
            if !inside || self.label(&walk.nodes[walk.first(at)].step, Some(fault)) != label {
                continue;
            }
            let mut around = Between::default();
            for next in self.moves(&node.step.after)? {
                around.add(next, None);
            }
            let mut looked = 0;
            while looked < around.nodes.len() {
                self.control.check()?;
                let here = around.nodes[looked].step.after.clone();
                if here == node.step.after {
                    let mut moves = walk.path(at);
                    moves.extend(around.path(looked));
                    if let Some(last) = moves.last_mut() {
                        last.fault = Some(fault);
                    }
                    return Ok(Some(moves));
                }
                if here.holder.is_some() {
                    for next in self.moves(&here)? {
                        around.add(next, Some(looked));
                    }
                }
                looked += 1;
            }
        }
        Ok(None)
    }
}

/// Moments that a search between two states has met.
#[derive(Default)]
struct Between {
    nodes: Vec<Node>,
    known: HashMap<Moment, HashSet<(Option<Fault>, usize)>>,
}

struct Node {
    step: Move,
    /// The first fault of the way here.
    fault: Option<Fault>,
    parent: Option<usize>,
    first: usize,
}

impl Between {
    /// A moment is looked at once for each first move and first fault that lead to it.
    fn add(&mut self, step: Move, parent: Option<usize>) {
        let (before, first) = match parent {
            Some(parent) => (self.nodes[parent].fault, self.nodes[parent].first),
            None => (None, self.nodes.len()),
        };
        let fault = before.or(step.fault);
        if !step.broken && !self.known.entry(step.after.clone()).or_default().insert((fault, first)) {
            return;
        }
        self.nodes.push(Node { step, fault, parent, first });
    }

    fn first(&self, node: usize) -> usize {
        self.nodes[node].first
    }

    fn path(&self, node: usize) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut at = Some(node);
        while let Some(here) = at {
            moves.push(self.nodes[here].step.clone());
            at = self.nodes[here].parent;
        }
        moves.reverse();
        moves
    }
}
