//! Where a model is once its processes have been started.
//!
//! Symmetries are looked for among the processes that run for good. Starting them is not symmetric as text (`run P(1); run P(2)`), and
//! need not be: it is run. From the initial state on, as long as statements that start processes can still be reached and there is one
//! successor only, that successor is the next state. These *layers* are part of what a symmetry must keep, each by itself; since each
//! has no successor but the next, what leads from one to the next need not be looked at. From the last layer on no process is
//! started any more, and the statements that can be reached from there are what a symmetry must carry to each other.
//!
//! A start-up that others can interrupt has several successors somewhere, and is refused.

use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_source::Span;
use trefoil_system::{System, Value};

use super::Reason;
use super::walk::{expressions_of, has_run};
use crate::machine::Model;
use crate::program::{Action, ProcessTypeId, Program};

/// Layers that are followed at most.
const MOST_LAYERS: usize = 64;

/// A model after its start-up.
pub(super) struct Settled {
    pub(super) model: Model,
    /// The states up to the one where nothing is started any more, that one included.
    pub(super) layers: Vec<Vec<Value>>,
    /// What the global cells hold in the last layer.
    pub(super) globals: Vec<Value>,
    /// The type of each process in the last layer.
    pub(super) types: Vec<ProcessTypeId>,
    /// The control states of each type that its processes can reach from there.
    pub(super) reachable: Vec<Vec<bool>>,
    /// Can the process at a position come to its end?
    pub(super) ends: Vec<bool>,
}

/// Follows the start-up of a program; or why it cannot be followed.
pub(super) fn settle(program: &Arc<Program>, control: &Control) -> Result<Result<Settled, Reason>, Stopped> {
    let mut model = Model::new(program.clone(), control);
    'room: loop {
        let mut layers = vec![model.initial()];
        loop {
            control.check()?;
            let row = layers.last().expect("there is the initial one");
            let types = model.types_of(row);
            let reachable = reachable(program, &model, row);
            let Some(starts) = starts_process(program, &reachable) else {
                if types.len() != model.positions() || !model.has_one_type_each() {
                    return Ok(Err(Reason::at(None, "a process ends before all are started")));
                }
                let ends = (0..types.len()).map(|position| can_end(program, &model, row, position)).collect();
                let globals = model.global_values(row);
                return Ok(Ok(Settled { model, layers, globals, types, reachable, ends }));
            };
            if layers.len() == MOST_LAYERS {
                return Ok(Err(Reason::at(Some(starts), "processes are started while the model runs")));
            }
            let mut next: Option<Vec<Value>> = None;
            let mut several = false;
            model.explorer().successors(row, &mut |step| {
                several |= model.fault(step.label).is_some() || next.as_deref().is_some_and(|known| known != step.row);
                next.get_or_insert_with(|| step.row.to_vec());
            });
            if model.needs_room() {
                model = model.with_more_room();
                continue 'room;
            }
            match next {
                Some(next) if !several && !layers.contains(&next) => layers.push(next),
                _ => {
                    let why = "processes are started here, and not in one atomic step at the beginning";
                    return Ok(Err(Reason::at(Some(starts), why)));
                }
            }
        }
    }
}

/// The control states of each type that its processes can reach from a state.
fn reachable(program: &Program, model: &Model, row: &[Value]) -> Vec<Vec<bool>> {
    let mut reachable: Vec<Vec<bool>> =
        program.processes.iter().map(|process| vec![false; process.transitions.len()]).collect();
    for (position, &kind) in model.types_of(row).iter().enumerate() {
        follow(program, kind, model.control_of(row, position), &mut reachable[usize::from(kind)]);
    }
    reachable
}

/// Marks the control states that can be reached from one.
fn follow(program: &Program, kind: ProcessTypeId, from: u32, marked: &mut [bool]) {
    let transitions = &program.processes[usize::from(kind)].transitions;
    let mut work = vec![from];
    while let Some(state) = work.pop() {
        if std::mem::replace(&mut marked[state as usize], true) {
            continue;
        }
        for transition in &transitions[state as usize] {
            if !matches!(*transition.action, Action::End) {
                work.push(transition.target);
            }
        }
    }
}

/// A statement that starts a process, among those that can be reached.
fn starts_process(program: &Program, reachable: &[Vec<bool>]) -> Option<Span> {
    for (process, reachable) in program.processes.iter().zip(reachable) {
        for (state, transitions) in process.transitions.iter().enumerate() {
            for transition in transitions.iter().filter(|_| reachable[state]) {
                if expressions_of(program, &transition.action).into_iter().any(|root| has_run(program, root)) {
                    return Some(process.statements[transition.statement as usize].span);
                }
            }
        }
    }
    None
}

fn can_end(program: &Program, model: &Model, row: &[Value], position: usize) -> bool {
    let kind = model.types_of(row)[position];
    let process = &program.processes[usize::from(kind)];
    let mut marked = vec![false; process.transitions.len()];
    follow(program, kind, model.control_of(row, position), &mut marked);
    process.transitions.iter().enumerate().any(|(state, transitions)| {
        marked[state] && transitions.iter().any(|transition| matches!(*transition.action, Action::End))
    })
}
