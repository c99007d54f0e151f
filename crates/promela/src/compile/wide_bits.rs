//! Arrays of bits that hold other numbers than 0 and 1.
//!
//! A `bit` or `bool` is one bit, and an assignment cuts its value. An *array* of them is an array of bytes in Spin's
//! verifiers, which cut nothing: after `bit a[2]; a[0] = 2` the element is 2. Most models assign only 0 and 1, and one
//! bit is enough. So the compiler first makes arrays of bits and then checks every assignment to them: if the form of a
//! value permits another number, the array gets bytes and the model is compiled again, until no such array is left.
//!
//! Arrays are known by the name of their variable or field; another one of the same name also gets bytes, which costs
//! only room.

use std::collections::HashSet;
use std::sync::Arc;

use crate::program::{Action, ExpressionId, Frame, Initialiser, Node, Pattern, PlaceId, Program};
use crate::syntax::tree::Binary;

/// The names of arrays of bits that may get other numbers.
pub(super) fn wide_bits(program: &Program) -> HashSet<Arc<str>> {
    let mut found = HashSet::new();
    let none = Frame::default();
    let bits = bits_of(program, &none);
    note_initial(&program.globals, &bits, &mut found);
    for process in &program.processes {
        let frame = &process.frame;
        let bits = bits_of(program, frame);
        note_initial(frame, &bits, &mut found);
        let mut work: Vec<&Action> =
            process.transitions.iter().flatten().map(|transition| &*transition.action).collect();
        while let Some(action) = work.pop() {
            match action {
                Action::Assign(place, value) if !bits[*value as usize] => note(program, frame, *place, &mut found),
                Action::Receive(receive) => {
                    for pattern in &receive.fields {
                        if let Pattern::Store(place) = pattern {
                            note(program, frame, *place, &mut found);
                        }
                    }
                }
                Action::Indivisible(body) => work.extend(body.actions()),
                _ => {}
            }
        }
    }
    found
}

/// By expression: is it 0 or 1, whatever variables hold? Local ones are those of a frame.
fn bits_of(program: &Program, frame: &Frame) -> Vec<bool> {
    let mut bits: Vec<bool> = Vec::with_capacity(program.expressions.len());
    for node in &program.expressions {
        // Parts come before the whole.
        let is_bit = |part: ExpressionId| bits.get(part as usize).copied().unwrap_or(false);
        let is_one = |part: ExpressionId| matches!(program.expressions[part as usize], Node::Constant(1));
        let bit = match *node {
            Node::Constant(value) => value == 0 || value == 1,
            Node::Global(cell) => program.globals.cells[cell as usize].sort.is_bit(),
            Node::Local(cell) => frame.cells.get(cell as usize).is_some_and(|cell| cell.sort.is_bit()),
            Node::Place(place) => program.places[place as usize].sort.is_bit(),
            Node::Conditional(_, yes, no) => is_bit(yes) && is_bit(no),
            Node::Binary(operator, left, right) => match operator {
                Binary::Equal
                | Binary::Different
                | Binary::Less
                | Binary::Greater
                | Binary::AtMost
                | Binary::AtLeast
                | Binary::And
                | Binary::Or => true,
                Binary::Minus => is_one(left) && is_bit(right),
                Binary::Times | Binary::BitAnd | Binary::BitOr | Binary::BitXor => is_bit(left) && is_bit(right),
                _ => false,
            },
            Node::Not(_)
            | Node::Full(_)
            | Node::Empty(_)
            | Node::NotFull(_)
            | Node::NotEmpty(_)
            | Node::Poll(_)
            | Node::Timeout
            | Node::Enabled(_) => true,
            _ => false,
        };
        bits.push(bit);
    }
    bits
}

fn note_initial(frame: &Frame, bits: &[bool], found: &mut HashSet<Arc<str>>) {
    for initial in &frame.initial {
        if let Initialiser::Value { cell, value } = *initial
            && !bits[value as usize]
        {
            note_cell(frame, cell, found);
        }
    }
}

fn note(program: &Program, frame: &Frame, place: PlaceId, found: &mut HashSet<Arc<str>>) {
    let place = &program.places[place as usize];
    if !place.scratch {
        note_cell(if place.global { &program.globals } else { frame }, place.base, found);
    }
}

/// Notes the array of a cell, when it is an array of bits.
fn note_cell(frame: &Frame, cell: u32, found: &mut HashSet<Arc<str>>) {
    let Some(cell) = frame.cells.get(cell as usize).filter(|cell| cell.sort.is_bit()) else { return };
    let variable = cell.name.rsplit('.').next().unwrap_or(&cell.name);
    if let Some((name, _)) = variable.split_once('[') {
        found.insert(name.into());
    }
}
