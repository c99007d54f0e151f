//! The state of a model once its processes have started.
//!
//! Symmetries permute the processes that run after the start-up. Starting them is not symmetric as text (`run P(1); run
//! P(2)`), and need not be: the analysis executes it. From the initial state on, while statements that start processes
//! are reachable and there is exactly one successor, that successor is the next state. These states are the *layers*,
//! and a symmetry must fix each of them; since the only successor of a layer is the next one, the statements between
//! them need not be checked. Behind the last layer no process starts, and a symmetry must map the statements that are
//! reachable from there to each other.
//!
//! The last step may be a choice, such as `if :: c[0]!token :: c[1]!token fi` at the end of the atomic block. All its
//! targets then form the last layer, and a symmetry may map them to each other.
//!
//! # Started while others run
//!
//! `init { run P(1); run P(2) }` without `atomic` has several successors as soon as `P(1)` runs. But often one process
//! starts all others, and its statements, up to the last `run`, use nothing that others write, and write nothing that
//! others use. Then the steps of the others are irrelevant: each of them could as well come later. The analysis follows
//! the start-up as if the others had waited, which gives the one layer in which all have started; the states in which
//! the starting process is not done have their own rules ([`super::gate`]). If a process may end meanwhile, another one
//! gets its number, so no statement may use numbers; the search then runs on the model with processes that stay. No
//! statement may read which processes exist: the model has no `_nr_pr`, `_last`, priorities, `provided` or references
//! to other processes.
//!
//! Any other start-up that others can interrupt is rejected, with the statement.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_source::Span;
use trefoil_system::{Cut, System, Value};

use super::Reason;
use super::gate::Gate;
use crate::machine::Model;
use crate::program::{Action, ExpressionId, Initialiser, Node, ProcessType, ProcessTypeId, Program};
use crate::walk::{expressions_of, has_run, visit, written_by, written_globals};

/// Layers that are followed at most.
const MOST_LAYERS: usize = 64;

/// More processes than these may be too many for the machine.
const MOST_STARTED: usize = 250;

/// Steps that are followed at most of a process that starts others.
const MOST_STARTS: usize = 4096;

/// A model after its start-up.
pub(super) struct Settled {
    pub(super) model: Arc<Model>,
    /// The states up to the one where nothing is started any more, that one included.
    pub(super) layers: Vec<Vec<Value>>,
    /// How many of them, from the end, are states in which the model may be then; mostly one.
    pub(super) choices: usize,
    /// The values of the global cells in the last layer.
    pub(super) globals: Vec<Value>,
    /// The type of each process in the last layer.
    pub(super) types: Vec<ProcessTypeId>,
    /// The control states of each type that its processes can reach from there.
    pub(super) reachable: Vec<Vec<bool>>,
    /// Can the process at a position come to its end?
    pub(super) ends: Vec<bool>,
    /// When others run while processes are started.
    pub(super) gate: Option<Gate>,
}

/// Follows the start-up of a program; or why it cannot be followed.
pub(super) fn settle(program: &Arc<Program>, control: &Control) -> Result<Result<Settled, Reason>, Cut> {
    let mut model = Arc::new(Model::new(program.clone()));
    'room: loop {
        let mut layers = vec![model.initial(control)?];
        let mut starter: Option<Starter> = None;
        loop {
            control.check()?;
            let row = layers.last().expect("there is the initial one");
            let types = model.types_of(row);
            let reachable = reachable(program, &model, row);
            let Some(starts) = starts_process(program, &reachable) else {
                if types.len() != model.positions() || !model.has_one_type_each() {
                    return Ok(Err(Reason::at(None, "a process ends before all processes have started")));
                }
                let ends: Vec<bool> =
                    (0..types.len()).map(|position| can_end(program, &model, row, position)).collect();
                let globals = model.global_values(row);
                let mut gate = None;
                if let Some(starter) = starter {
                    let gone = (0..types.len()).find(|&position| position != starter.position && ends[position]);
                    if let (Some(position), Some(span)) = (gone, sees_numbers(program)) {
                        let name = &program.processes[usize::from(types[position])].name;
                        let why = format!(
                            "`{name}` may end before all processes have started; another process then gets its number, which matters here"
                        );
                        return Ok(Err(Reason::at(Some(span), why)));
                    }
                    if types.len() > MOST_STARTED {
                        return Ok(Err(Reason::at(None, "too many processes start one by one")));
                    }
                    let slot = model.arrangement.positions[starter.position].base as usize + 1;
                    gate = Some(Gate { starter: starter.position, slot, starting: starter.starting });
                    layers.drain(..layers.len() - 1);
                }
                return Ok(Ok(Settled { model, layers, choices: 1, globals, types, reachable, ends, gate }));
            };
            if layers.len() == if starter.is_some() { MOST_STARTS } else { MOST_LAYERS } {
                return Ok(Err(Reason::at(Some(starts), "processes start while the model runs")));
            }
            let mut next: Option<Vec<Value>> = None;
            let mut several = false;
            let mut choices: Vec<Vec<Value>> = Vec::new();
            let mut faulty = false;
            let walk = model.explorer(control).successors(row, &mut |step| {
                let position = model.transition_named(step.label).map(|(position, ..)| position);
                if starter.as_ref().is_some_and(|starter| position != Some(starter.position)) {
                    return Ok(());
                }
                faulty |= model.fault(step.label).is_some();
                several |= faulty || next.as_deref().is_some_and(|known| known != step.row);
                if choices.len() <= MOST_CHOICES && choices.iter().all(|known| known != step.row) {
                    choices.push(step.row.to_vec());
                }
                next.get_or_insert_with(|| step.row.to_vec());
                Ok(())
            });
            match (walk, model.wider()) {
                (Err(Cut::Outgrown), Some(wider)) => {
                    model = wider.clone();
                    continue 'room;
                }
                (walk, _) => walk?,
            }
            match next {
                Some(next) if !several && !layers.contains(&next) => layers.push(next),
                _ if starter.is_none() && !faulty && are_settled(program, &model, &choices) => {
                    let row = &choices[0];
                    let types = model.types_of(row);
                    let mut all = reachable;
                    for state in all.iter_mut().flatten() {
                        *state = false;
                    }
                    let mut ends = vec![false; types.len()];
                    for row in &choices {
                        for (known, more) in all.iter_mut().zip(self::reachable(program, &model, row)) {
                            known.iter_mut().zip(more).for_each(|(known, more)| *known |= more);
                        }
                        for (position, ends) in ends.iter_mut().enumerate() {
                            *ends |= can_end(program, &model, row, position);
                        }
                    }
                    let globals = model.global_values(row);
                    let count = choices.len();
                    layers.append(&mut choices);
                    let gate = None;
                    return Ok(Ok(Settled {
                        model,
                        layers,
                        choices: count,
                        globals,
                        types,
                        reachable: all,
                        ends,
                        gate,
                    }));
                }
                _ if starter.is_none() => match Starter::find(program, &model, row, starts) {
                    Ok(found) => starter = Some(found),
                    Err(reason) => return Ok(Err(reason)),
                },
                _ => return Ok(Err(Reason::at(Some(starts), NOT_AT_ONCE))),
            }
        }
    }
}

/// Choices at the end of a start-up that are looked at.
const MOST_CHOICES: usize = 64;

/// Are these states in which all processes are started, the same in each?
fn are_settled(program: &Program, model: &Model, choices: &[Vec<Value>]) -> bool {
    (2..=MOST_CHOICES).contains(&choices.len())
        && choices.iter().all(|row| {
            model.types_of(row) == model.types_of(&choices[0])
                && model.types_of(row).len() == model.positions()
                && model.has_one_type_each()
                && starts_process(program, &reachable(program, model, row)).is_none()
        })
}

const NOT_AT_ONCE: &str = "processes start here, and not in one atomic step at the beginning";

/// The process that starts all others that are started while it and they run.
struct Starter {
    position: usize,
    /// The control states from which a process may still be started.
    starting: Vec<bool>,
}

impl Starter {
    /// The one process that starts others from here on, if what it does is its own affair until it is done.
    fn find(program: &Program, model: &Model, row: &[Value], starts: Span) -> Result<Starter, Reason> {
        let refused = |span: Span, why: &str| Err(Reason::at(Some(span), format!("{NOT_AT_ONCE}: {why}")));
        let mut found: Option<Starter> = None;
        for (position, &kind) in model.types_of(row).iter().enumerate() {
            let starting = starting(program, kind);
            if !starting[model.control_of(row, position) as usize] {
                continue;
            }
            if found.is_some() {
                return refused(starts, "more than one process starts other processes");
            }
            found = Some(Starter { position, starting });
        }
        let Some(starter) = found else { return refused(starts, "a started process starts other processes") };
        let kind = model.types_of(row)[starter.position];
        let process = &program.processes[usize::from(kind)];
        let mut marked = vec![false; process.transitions.len()];
        follow(program, kind, model.control_of(row, starter.position), &mut marked);
        let written = written_globals(program);
        for (state, transitions) in process.transitions.iter().enumerate() {
            for transition in transitions.iter().filter(|_| marked[state] && starter.starting[state]) {
                let span = process.statements[transition.statement as usize].span;
                if !is_private(program, &transition.action, &written) {
                    return refused(span, "this statement depends on other processes, or they depend on it");
                }
                for run in runs_of(program, &transition.action) {
                    let started = program.runs[run as usize].process;
                    if started == kind || starting(program, started).contains(&true) {
                        return refused(span, "a started process starts other processes");
                    }
                    let started = &program.processes[usize::from(started)];
                    if !initial_values(started).all(|value| reads_private(program, value, &written)) {
                        return refused(
                            span,
                            "the initial values of the started process depend on variables that other processes write",
                        );
                    }
                }
            }
        }
        if program.uses_last || program.uses_priority {
            return refused(starts, "`_last` or priorities reveal which processes exist");
        }
        for process in &program.processes {
            if process.provided.is_some() {
                return refused(process.span, "whether this is enabled may depend on which processes exist");
            }
            for transition in process.transitions.iter().flatten() {
                let looks =
                    expressions_of(program, &transition.action).into_iter().any(|root| looks_around(program, root));
                if looks {
                    let span = process.statements[transition.statement as usize].span;
                    return refused(span, "this reads which processes exist");
                }
            }
        }
        Ok(starter)
    }
}

/// The control states of a type from which a statement can be reached that starts a process.
fn starting(program: &Program, kind: ProcessTypeId) -> Vec<bool> {
    let transitions = &program.processes[usize::from(kind)].transitions;
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); transitions.len()];
    let mut work = Vec::new();
    for (state, transitions) in (0u32..).zip(transitions) {
        for transition in transitions {
            if !matches!(*transition.action, Action::End) {
                before[transition.target as usize].push(state);
            }
            if !runs_of(program, &transition.action).is_empty() {
                work.push(state);
            }
        }
    }
    let mut marked = vec![false; transitions.len()];
    while let Some(state) = work.pop() {
        if !std::mem::replace(&mut marked[state as usize], true) {
            work.extend(&before[state as usize]);
        }
    }
    marked
}

fn runs_of(program: &Program, action: &Action) -> Vec<u32> {
    let mut runs = Vec::new();
    for root in expressions_of(program, action) {
        visit(program, root, &mut |_, node| {
            if let Node::Run(run) = node {
                runs.push(run);
            }
        });
    }
    runs
}

/// Where the number of a process matters: `_pid`, and what `run` gives when it is kept.
fn sees_numbers(program: &Program) -> Option<Span> {
    for process in &program.processes {
        let mut own = false;
        for value in initial_values(process) {
            visit(program, value, &mut |_, node| own |= matches!(node, Node::Pid));
        }
        if own {
            return Some(process.span);
        }
        for transition in process.transitions.iter().flatten() {
            let kept =
                !matches!(*transition.action, Action::Condition(_)) && !runs_of(program, &transition.action).is_empty();
            let mut seen = kept;
            for root in expressions_of(program, &transition.action) {
                let calculated = !matches!(program.expressions[root as usize], Node::Run(_));
                visit(program, root, &mut |_, node| {
                    seen |= matches!(node, Node::Pid) || calculated && matches!(node, Node::Run(_));
                });
            }
            if seen {
                return Some(process.statements[transition.statement as usize].span);
            }
        }
    }
    None
}

/// The expressions from which the variables of a process get their first values, when it is started.
fn initial_values(process: &ProcessType) -> impl Iterator<Item = ExpressionId> + '_ {
    process.frame.initial.iter().filter_map(|initial| match *initial {
        Initialiser::Value { value, .. } => Some(value),
        Initialiser::Channel { .. } => None,
    })
}

/// Does an action use only what is its process's own, and what never changes?
fn is_private(program: &Program, action: &Action, written: &[bool]) -> bool {
    let mut work = vec![action];
    while let Some(action) = work.pop() {
        match action {
            Action::Skip | Action::Condition(_) | Action::Else | Action::Assign(..) => {}
            Action::Indivisible(body) => work.extend(body.actions()),
            Action::Assert(_) | Action::Send(_) | Action::Receive(_) | Action::SetPriority(..) | Action::End => {
                return false;
            }
        }
    }
    let mut private = written_by(action).into_iter().all(|place| {
        let place = &program.places[place as usize];
        !place.global || place.scratch
    });
    expressions_of(program, action).into_iter().for_each(|root| private &= reads_private(program, root, written));
    private
}

/// Does an expression read only what is its process's own, and what never changes?
fn reads_private(program: &Program, root: ExpressionId, written: &[bool]) -> bool {
    let mut private = true;
    visit(program, root, &mut |_, node| {
        private &= match node {
            Node::Global(cell) => !written[cell as usize],
            Node::Place(place) => {
                let place = &program.places[place as usize];
                !place.global || crate::walk::cells_of(place).into_iter().all(|cell| !written[cell as usize])
            }
            Node::Constant(_)
            | Node::Local(_)
            | Node::Not(_)
            | Node::Negate(_)
            | Node::Complement(_)
            | Node::Binary(..)
            | Node::Conditional(..)
            | Node::Run(_)
            | Node::Pid => true,
            _ => false,
        };
    });
    private
}

/// Does an expression see which processes there are?
fn looks_around(program: &Program, root: u32) -> bool {
    let mut found = false;
    visit(program, root, &mut |_, node| {
        found |= matches!(
            node,
            Node::ProcessCount
                | Node::Last
                | Node::Remote(_)
                | Node::ProgramCounter(_)
                | Node::Priority(_)
                | Node::OwnPriority
                | Node::Enabled(_)
        );
    });
    found
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
