//! Which statements a verifier of Spin merges with the one before them.
//!
//! Without the option `-o3`, Spin joins a statement and those behind it that no other process can observe to one
//! transition. A trail then has one line for all of them. A reader of such a trail must know where the merged
//! statements end, above all behind the last line: the assertion that fails may be one of them.
//!
//! Spin merges a statement to the one before it if it is the only transition of its state, has no label and no escape,
//! cannot block (an assignment, an assertion, a `printf`, a jump), and either stands inside an atomic sequence or uses
//! only variables of its own process. The statement before it may be another such statement, a condition, a receive, or
//! a send (in a model without rendezvous channels) that no other process observes; at a choice, Spin merges to the
//! first option only. No invariant depends on this rule: where it differs from Spin's own, the next line of the trail
//! shows it.

use crate::machine::Model;
use crate::program::{Action, ExpressionId, Node, PlaceId, ProcessType, Program};
use crate::simulate::{Act, Moment};

/// What may be merged in a model.
pub(crate) struct Merging<'m> {
    model: &'m Model,
    /// Is a channel a rendezvous?
    rendezvous: bool,
}

impl<'m> Merging<'m> {
    pub(crate) fn new(model: &'m Model) -> Merging<'m> {
        let program = &model.program;
        let frames = program.processes.iter().map(|process| &process.frame).chain([&program.globals]);
        let rendezvous = frames.flat_map(|frame| &frame.channels).any(|channel| channel.capacity == 0);
        Merging { model, rendezvous }
    }

    /// Can others be merged to an act that is made at this moment?
    pub(crate) fn starts(&self, act: Act, moment: &Moment) -> bool {
        let program = &self.model.program;
        let blocks = match &*act.transition(self.model).action {
            Action::Condition(condition) => is_free_of_runs(program, *condition),
            Action::Receive(_) => true,
            Action::Send(_) => !self.rendezvous,
            Action::Skip => true,
            _ => false,
        };
        (blocks || self.passes(act)) && act.index == 0 && self.is_unseen(act, moment)
    }

    /// Can it be merged to what was before it?
    pub(crate) fn follows(&self, act: Act, moment: &Moment) -> bool {
        let alone = self.process(act).transitions[act.control as usize].len() == 1;
        alone && self.passes(act) && self.is_unseen(act, moment)
    }

    /// Does it never block, and has no label?
    fn passes(&self, act: Act) -> bool {
        let process = self.process(act);
        let labelled = process.labels.iter().any(|&(_, state)| state == act.control);
        let statement = &process.statements[act.transition(self.model).statement as usize];
        let is_jump = || ["goto", "break"].iter().any(|&jump| statement.text.starts_with(jump));
        let passes = match &*act.transition(self.model).action {
            Action::Assign(..) | Action::Assert(_) => true,
            Action::Skip => statement.print.is_some() || is_jump(),
            _ => false,
        };
        passes && !labelled
    }

    fn process(&self, act: Act) -> &'m ProcessType {
        &self.model.program.processes[usize::from(act.kind)]
    }

    /// Has it no escape, and can no other process observe it?
    fn is_unseen(&self, act: Act, moment: &Moment) -> bool {
        let transition = act.transition(self.model);
        let atomic = transition.atomic || moment.holder == Some(act.process);
        let escapes = self.process(act).transitions[act.control as usize].iter().any(|other| other.escape != 0);
        !escapes && (atomic || self.is_own(&transition.action, self.process(act), transition.statement))
    }

    /// Does it speak only of variables of its process?
    fn is_own(&self, action: &Action, process: &ProcessType, statement: u32) -> bool {
        let program = &self.model.program;
        let own = |root: &ExpressionId| is_own_value(program, *root);
        match action {
            Action::Skip => {
                let print = process.statements[statement as usize].print;
                print.is_none_or(|print| program.prints[print as usize].arguments.iter().all(|(value, _)| own(value)))
            }
            Action::Condition(value) | Action::Assert(value) => own(value),
            Action::Assign(place, value) => is_own_place(program, *place) && own(value),
            _ => false,
        }
    }
}

fn is_own_place(program: &Program, place: PlaceId) -> bool {
    let place = &program.places[place as usize];
    !place.global && place.indices.iter().all(|index| is_own_value(program, index.value))
}

fn is_own_value(program: &Program, root: ExpressionId) -> bool {
    let mut work = vec![root];
    while let Some(expression) = work.pop() {
        match program.expressions[expression as usize] {
            Node::Constant(_) | Node::Local(_) | Node::Pid => {}
            Node::Place(place) if !program.places[place as usize].global => {
                work.extend(program.places[place as usize].indices.iter().map(|index| index.value));
            }
            Node::Not(inner) | Node::Negate(inner) | Node::Complement(inner) => work.push(inner),
            Node::Binary(_, left, right) => work.extend([left, right]),
            Node::Conditional(condition, yes, no) => work.extend([condition, yes, no]),
            _ => return false,
        }
    }
    true
}

/// A new process may be one that no process waits for.
fn is_free_of_runs(program: &Program, root: ExpressionId) -> bool {
    let mut work = vec![root];
    while let Some(expression) = work.pop() {
        match program.expressions[expression as usize] {
            Node::Run(_) => return false,
            Node::Not(inner) | Node::Negate(inner) | Node::Complement(inner) => work.push(inner),
            Node::Binary(_, left, right) => work.extend([left, right]),
            Node::Conditional(condition, yes, no) => work.extend([condition, yes, no]),
            _ => {}
        }
    }
    true
}
