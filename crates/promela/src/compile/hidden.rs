//! Which `hidden` variables are part of a state.
//!
//! Spin keeps a `hidden` variable out of its state vector. Its value lives on all the same, from step to step, and is
//! taken back when the search goes back; but two states that differ in nothing else are one to Spin, and the search
//! goes on from the one that it met first. For a variable that is written and then read inside one atomic sequence this
//! saves states and loses nothing. For one that keeps data (the topology of a network that is written once at the
//! start) nothing is lost either, as long as all runs agree on its value wherever they meet. Where they do not agree,
//! Spin leaves out states, and what it says then depends on the order of its search.
//!
//! Here a hidden variable is state like any other, unless each of its uses is preceded by a write in the same step.
//! Then its value between two steps is never looked at, and it stays out of the state. So the numbers of states are
//! Spin's in both harmless cases, and in the third one no state is left out.
//!
//! What is shown is a property of all paths. A *step* begins in a control state that is entered with control given up,
//! or where the process may have to wait: then others act in between. For every other control state (entered with
//! control kept, and with a transition that always passes) the cells are computed that every path from the beginning of
//! a step has written; the same inside a `d_step`. It is the greatest solution of the usual equations, by iteration.
//! Elements of arrays count when their indices are constants; another index may be any element, so an array that is
//! read by one is state. What is printed does not count as a use: no run depends on it.
//!
//! Invariant: a cell that stays out of the state has the same influence on every step whatever it holds when the step
//! begins. Cost: cells times control states, in bits; beyond [`MOST_BITS`] of them everything is state.

use super::OVER;
use crate::program::{
    Action, Cell, Guard, Index, Indivisible, IndivisibleStep, Initialiser, Node, Pattern, Place, PlaceId, ProcessType,
    Program, Transition,
};
use crate::walk::{cells_of, expressions_of, visit};

/// What the solution may take.
const MOST_BITS: usize = 1 << 27;

/// A set of candidates.
#[derive(Clone, PartialEq, Eq)]
struct Cells(Vec<u64>);

impl Cells {
    fn none(count: usize) -> Cells {
        Cells(vec![0; count.div_ceil(64)])
    }

    fn all(count: usize) -> Cells {
        Cells(vec![u64::MAX; count.div_ceil(64)])
    }

    fn insert(&mut self, cell: usize) {
        self.0[cell / 64] |= 1 << (cell % 64);
    }

    fn contains(&self, cell: usize) -> bool {
        self.0[cell / 64] >> (cell % 64) & 1 != 0
    }

    /// Keeps what is in both; whether that is less.
    fn cut(&mut self, other: &Cells) -> bool {
        let mut less = false;
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            less |= *own & !other != 0;
            *own &= other;
        }
        less
    }
}

/// Makes hidden variables visible that are part of a state.
pub(super) fn decide(program: &mut Program) {
    let hidden: Vec<u32> =
        (0u32..).zip(&program.globals.cells).filter(|(_, cell)| cell.hidden).map(|(at, _)| at).collect();
    if hidden.is_empty() {
        return;
    }
    let state = Uses::new(program, &hidden).state();
    // The cells of a variable lie together, in the state or out of it.
    let mut state = state.into_iter();
    for variable in program.globals.cells.chunk_by_mut(|one: &Cell, other| one.span == other.span) {
        let hidden = variable.iter().filter(|cell| cell.hidden).count();
        let is_state = state.by_ref().take(hidden).fold(false, |any, state| any | state);
        if is_state {
            variable.iter_mut().for_each(|cell| cell.hidden = false);
        }
    }
}

/// How hidden cells are used.
struct Uses<'p> {
    program: &'p Program,
    /// The number of each global cell among those that are looked at.
    numbers: Vec<Option<usize>>,
    count: usize,
    /// Is a channel a rendezvous?
    rendezvous: bool,
    /// Cells that are read where nothing says that they are written before.
    state: Vec<bool>,
}

impl<'p> Uses<'p> {
    fn new(program: &'p Program, hidden: &[u32]) -> Uses<'p> {
        let mut numbers = vec![None; program.globals.cells.len()];
        hidden.iter().enumerate().for_each(|(number, &cell)| numbers[cell as usize] = Some(number));
        let frames = program.processes.iter().map(|process| &process.frame).chain([&program.globals]);
        let rendezvous = frames.flat_map(|frame| &frame.channels).any(|channel| channel.capacity == 0);
        Uses { program, numbers, count: hidden.len(), rendezvous, state: vec![false; hidden.len()] }
    }

    /// For each of the cells, whether it is state.
    fn state(mut self) -> Vec<bool> {
        let program = self.program;
        let states: usize = program.processes.iter().map(|process| process.transitions.len()).sum();
        let asks = program.expressions.iter().any(|node| matches!(node, Node::Enabled(_)));
        // Then statements are looked at by others, at any time.
        if asks || program.uses_priority || states.saturating_mul(self.count) > MOST_BITS {
            return vec![true; self.count];
        }
        let nothing = Cells::none(self.count);
        for process in &program.processes {
            process.provided.iter().for_each(|&provided| self.read(provided, &nothing));
            for initial in &process.frame.initial {
                if let Initialiser::Value { value, .. } = initial {
                    self.read(*value, &nothing);
                }
            }
        }
        program.propositions.iter().for_each(|&proposition| self.read(proposition, &nothing));
        let automaton = program.trace.iter().flat_map(|trace| trace.automaton.transitions.iter().flatten());
        automaton.for_each(|transition| self.act(&transition.action, &nothing));
        for kind in 0..program.processes.len() {
            let process = &program.processes[kind];
            let reachable = process.reachable();
            let before = self.written_before(process, &reachable);
            for state in (0..before.len()).filter(|&state| reachable[state]) {
                process.transitions[state].iter().for_each(|transition| self.act(&transition.action, &before[state]));
            }
        }
        self.state
    }

    /// For each control state of a process type, the cells that are written between the beginning of a step and there.
    fn written_before(&self, process: &ProcessType, reachable: &[bool]) -> Vec<Cells> {
        let mut before = vec![Cells::all(self.count); process.transitions.len()];
        let mut work: Vec<usize> = (0..before.len()).filter(|&state| reachable[state]).collect();
        let nothing = Cells::none(self.count);
        for &state in &work {
            let transitions = &process.transitions[state];
            let waits = process.provided.is_some() || !transitions.iter().any(|other| always_passes(&other.action));
            if waits || state == process.start as usize {
                before[state] = nothing.clone();
            }
            for transition in transitions.iter().filter(|transition| !self.keeps_control(transition)) {
                before[transition.target as usize] = nothing.clone();
            }
        }
        while let Some(state) = work.pop() {
            for transition in process.transitions[state].iter().filter(|transition| self.keeps_control(transition)) {
                // The step of a rendezvous began with the sender.
                let received = self.rendezvous && receives(&transition.action);
                let here = if received { &nothing } else { &before[state] };
                let behind = self.behind(&transition.action, here);
                if before[transition.target as usize].cut(&behind) {
                    work.push(transition.target as usize);
                }
            }
        }
        before
    }

    /// Does the process go on behind a transition, in the same step? Behind a handshake the receiver does.
    fn keeps_control(&self, transition: &Transition) -> bool {
        transition.atomic && !(self.rendezvous && matches!(*transition.action, Action::Send(_)))
    }

    /// What is written behind an action.
    fn behind(&self, action: &Action, before: &Cells) -> Cells {
        let mut behind = before.clone();
        match action {
            Action::Assign(place, _) => self.write(*place, &mut behind),
            Action::Receive(receive) => {
                for field in &receive.fields {
                    if let Pattern::Store(place) = field {
                        self.write(*place, &mut behind);
                    }
                }
            }
            Action::Indivisible(body) => behind = self.inside(body, before).1,
            _ => {}
        }
        behind
    }

    /// What is written before each step of a `d_step`, and behind it.
    fn inside(&self, body: &Indivisible, before: &Cells) -> (Vec<Cells>, Cells) {
        let mut steps = vec![Cells::all(self.count); body.steps.len()];
        let mut over = Cells::all(self.count);
        let mut work = Vec::new();
        let mut reach = |steps: &mut Vec<Cells>, work: &mut Vec<u32>, to: u32, with: &Cells, first: bool| {
            if to == OVER {
                over.cut(with);
            } else if steps[to as usize].cut(with) || first {
                work.push(to);
            }
        };
        reach(&mut steps, &mut work, body.start, before, true);
        let mut met = vec![false; body.steps.len()];
        while let Some(at) = work.pop() {
            let first = !std::mem::replace(&mut met[at as usize], true);
            let here = steps[at as usize].clone();
            match &body.steps[at as usize] {
                IndivisibleStep::Do { action, next, .. } => {
                    let behind = self.behind(action, &here);
                    reach(&mut steps, &mut work, *next, &behind, first);
                }
                IndivisibleStep::Choose(options) => {
                    options.iter().for_each(|&option| reach(&mut steps, &mut work, option, &here, first));
                }
            }
        }
        (steps, over)
    }

    fn write(&self, place: PlaceId, into: &mut Cells) {
        let place = &self.program.places[place as usize];
        if !place.global || place.scratch {
            return;
        }
        if let [cell] = self.cells(place)[..]
            && let Some(number) = self.numbers[cell as usize]
        {
            into.insert(number);
        }
    }

    /// The cells that a place may be; one where its indices are constants.
    fn cells(&self, place: &Place) -> Vec<u32> {
        let constant = |index: &Index| match self.program.expressions[index.value as usize] {
            Node::Constant(value) if value >= 0 && (value as u32) < index.length => Some(value as u32 * index.stride),
            _ => None,
        };
        match place.indices.iter().map(constant).sum::<Option<u32>>() {
            Some(offset) => vec![place.base + offset],
            None => cells_of(place),
        }
    }

    /// Notes what an action reads that is not written before it.
    fn act(&mut self, action: &Action, before: &Cells) {
        let program = self.program;
        match action {
            Action::Indivisible(body) => {
                if let Guard::Any(guards) = &body.guard {
                    guards.iter().for_each(|guard| self.act(guard, before));
                }
                let (steps, _) = self.inside(body, before);
                for (step, before) in body.steps.iter().zip(&steps) {
                    if let IndivisibleStep::Do { action, .. } = step {
                        self.act(action, before);
                    }
                }
            }
            _ => expressions_of(program, action).into_iter().for_each(|root| self.read(root, before)),
        }
    }

    fn read(&mut self, root: u32, before: &Cells) {
        let program = self.program;
        let mut read = Vec::new();
        visit(program, root, &mut |_, node| match node {
            Node::Global(cell) => read.push(cell),
            Node::Place(place) if program.places[place as usize].global => {
                read.extend(self.cells(&program.places[place as usize]));
            }
            _ => {}
        });
        for number in read.into_iter().filter_map(|cell| self.numbers[cell as usize]) {
            self.state[number] |= !before.contains(number);
        }
    }
}

/// Can an action be executed whenever its turn comes?
fn always_passes(action: &Action) -> bool {
    match action {
        Action::Skip | Action::Else | Action::Assign(..) | Action::Assert(_) => true,
        Action::Indivisible(body) => matches!(body.guard, Guard::Free),
        _ => false,
    }
}

/// Can an action be the receiving half of a rendezvous?
fn receives(action: &Action) -> bool {
    match action {
        Action::Receive(_) => true,
        Action::Indivisible(body) => body.actions().any(receives),
        _ => false,
    }
}
