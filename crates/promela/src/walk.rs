//! Walking over actions and expressions.

use crate::program::{Action, ExpressionId, Node, Pattern, Place, PlaceId, ProcessType, Program, RemoteTarget};

/// The expressions that an action evaluates, indices of the places that it writes included.
pub(crate) fn expressions_of(program: &Program, action: &Action) -> Vec<ExpressionId> {
    let mut roots = Vec::new();
    let mut work = vec![action];
    let indices = |place: PlaceId, roots: &mut Vec<ExpressionId>| {
        roots.extend(program.places[place as usize].indices.iter().map(|index| index.value));
    };
    while let Some(action) = work.pop() {
        match action {
            Action::Skip | Action::Else | Action::End => {}
            Action::Condition(value) | Action::Assert(value) => roots.push(*value),
            Action::Assign(place, value) => {
                indices(*place, &mut roots);
                roots.push(*value);
            }
            Action::Send(send) => {
                roots.push(send.channel);
                roots.extend(&send.arguments);
            }
            Action::Receive(receive) => {
                roots.push(receive.channel);
                for field in &receive.fields {
                    match field {
                        Pattern::Store(place) => indices(*place, &mut roots),
                        Pattern::Match(value) => roots.push(*value),
                    }
                }
            }
            Action::SetPriority(process, priority) => roots.extend([*process, *priority]),
            Action::Indivisible(body) => work.extend(body.actions()),
        }
    }
    roots
}

/// The places that an action writes.
pub(crate) fn written_by(action: &Action) -> Vec<PlaceId> {
    let mut places = Vec::new();
    let mut work = vec![action];
    while let Some(action) = work.pop() {
        match action {
            Action::Assign(place, _) => places.push(*place),
            Action::Receive(receive) => places.extend(receive.fields.iter().filter_map(|field| match field {
                Pattern::Store(place) => Some(*place),
                Pattern::Match(_) => None,
            })),
            Action::Indivisible(body) => work.extend(body.done()),
            _ => {}
        }
    }
    places
}

/// Calls `each` for an expression and all inside it.
pub(crate) fn visit(program: &Program, root: ExpressionId, each: &mut dyn FnMut(ExpressionId, Node)) {
    let mut work = vec![root];
    while let Some(expression) = work.pop() {
        let node = program.expressions[expression as usize];
        each(expression, node);
        match node {
            Node::Not(inner)
            | Node::Negate(inner)
            | Node::Complement(inner)
            | Node::Length(inner)
            | Node::Full(inner)
            | Node::Empty(inner)
            | Node::NotFull(inner)
            | Node::NotEmpty(inner)
            | Node::ProgramCounter(inner)
            | Node::Priority(inner)
            | Node::Enabled(inner) => work.push(inner),
            Node::Binary(_, left, right) => work.extend([left, right]),
            Node::Conditional(condition, yes, no) => work.extend([condition, yes, no]),
            Node::Place(place) => {
                work.extend(program.places[place as usize].indices.iter().map(|index| index.value));
            }
            Node::Run(run) => work.extend(&program.runs[run as usize].arguments),
            Node::Poll(poll) => {
                let poll = &program.polls[poll as usize];
                work.push(poll.channel);
                work.extend(poll.fields.iter().flatten());
            }
            Node::Remote(remote) => {
                let remote = &program.remotes[remote as usize];
                work.extend(remote.index);
                if let RemoteTarget::Place(place) = remote.target {
                    work.extend(program.places[place as usize].indices.iter().map(|index| index.value));
                }
            }
            Node::Constant(_)
            | Node::Global(_)
            | Node::Local(_)
            | Node::Timeout
            | Node::Pid
            | Node::ProcessCount
            | Node::Last
            | Node::OwnPriority
            | Node::NonProgress
            | Node::Accepting => {}
        }
    }
}

/// Does an expression start a process?
pub(crate) fn has_run(program: &Program, root: ExpressionId) -> bool {
    let mut found = false;
    visit(program, root, &mut |_, node| found |= matches!(node, Node::Run(_)));
    found
}

/// All cells that a place may be.
pub(crate) fn cells_of(place: &Place) -> Vec<u32> {
    let mut cells = vec![place.base];
    for index in &place.indices {
        let before = std::mem::take(&mut cells);
        for element in 0..index.length {
            cells.extend(before.iter().map(|cell| cell + element * index.stride));
        }
    }
    cells
}

/// The global cells that any statement writes, and those that are hidden.
pub(crate) fn written_globals(program: &Program) -> Vec<bool> {
    let mut written: Vec<bool> = program.globals.cells.iter().map(|cell| cell.hidden).collect();
    for transition in program.processes.iter().flat_map(|process| process.transitions.iter().flatten()) {
        for place in written_by(&transition.action) {
            let place = &program.places[place as usize];
            if place.global && !place.scratch {
                cells_of(place).into_iter().for_each(|cell| written[cell as usize] = true);
            }
        }
    }
    written
}

/// The cells of a process type that any statement of it writes, and its parameters.
pub(crate) fn written_locals(program: &Program, process: &ProcessType) -> Vec<bool> {
    let mut written = assigned_locals(program, process);
    written[..process.parameters as usize].fill(true);
    written
}

/// The cells of a process type that any statement of it writes, and those that are hidden.
pub(crate) fn assigned_locals(program: &Program, process: &ProcessType) -> Vec<bool> {
    let mut written: Vec<bool> = process.frame.cells.iter().map(|cell| cell.hidden).collect();
    for transition in process.transitions.iter().flatten() {
        for place in written_by(&transition.action) {
            let place = &program.places[place as usize];
            if !place.global && !place.scratch {
                cells_of(place).into_iter().for_each(|cell| written[cell as usize] = true);
            }
        }
    }
    written
}
