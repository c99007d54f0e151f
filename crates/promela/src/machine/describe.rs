//! A state in words.

use std::fmt::Write;

use trefoil_system::Value;

use crate::program::{Program, Sort};

use super::arrangement::Queue;
use super::machine::Machine;
use super::system::Model;

impl Model {
    /// A value as a person writes it.
    pub(crate) fn value_in_words(&self, sort: Sort, kept: u32) -> String {
        value(&self.program, sort, kept)
    }
}

pub(super) fn value(program: &Program, sort: Sort, kept: u32) -> String {
    let value = sort.read(kept);
    match sort {
        Sort::Mtype(set) => program.mtype_name(set, value).map_or_else(|| value.to_string(), str::to_string),
        _ => value.to_string(),
    }
}

/// Everything that is not zero.
pub(super) fn describe(model: &Model, row: &[Value]) -> String {
    let mut machine = Machine::new(&model.program, &model.arrangement);
    machine.load(row);
    let mut parts = vec![globals(model, &machine)];
    for position in 0..machine.count() {
        let name = &model.program.processes[usize::from(machine.type_at(position))].name;
        parts.push(format!("{name}({position}) {}", process(model, &mut machine, position)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// The global variables and channels.
pub(super) fn globals(model: &Model, machine: &Machine<'_>) -> String {
    let program = &*model.program;
    let mut parts = Vec::new();
    for (cell, &slot) in program.globals.cells.iter().zip(&model.arrangement.globals) {
        let kept = machine.row[slot as usize];
        if !cell.hidden && kept != 0 && cell.sort != Sort::Channel {
            parts.push(format!("{}={}", cell.name, value(program, cell.sort, kept)));
        }
    }
    parts.extend(model.arrangement.queues.iter().filter_map(|queue| channel(model, machine, queue)));
    parts.join(" ")
}

/// Where a process is, its variables and channels.
pub(super) fn process(model: &Model, machine: &mut Machine<'_>, position: usize) -> String {
    let program = &*model.program;
    let kind = machine.type_at(position);
    machine.act(position);
    let process = &program.processes[usize::from(kind)];
    let control = machine.row[machine.control_slot(position)];
    let mut text = format!("line {}", process.statements[control as usize].line);
    for (at, cell) in process.frame.cells.iter().enumerate() {
        let kept = machine.row[machine.cells + at];
        if kept != 0 && cell.sort != Sort::Channel {
            let _ = write!(text, " {}={}", cell.name, value(program, cell.sort, kept));
        }
    }
    for queue in model.arrangement.queues_at(position, kind) {
        if let Some(content) = channel(model, machine, &queue) {
            let _ = write!(text, " {content}");
        }
    }
    text
}

/// A channel with messages.
fn channel(model: &Model, machine: &Machine<'_>, queue: &Queue) -> Option<String> {
    let kind = &model.arrangement.kinds[queue.kind as usize];
    if queue.capacity == 0 || machine.row[queue.slot as usize] == 0 {
        return None;
    }
    let messages: Vec<String> = (0..machine.row[queue.slot as usize])
        .map(|message| {
            let fields: Vec<String> = (0..kind.fields.len())
                .map(|field| {
                    let kept = machine.row[machine.field_slot(queue, message, field)];
                    value(&model.program, kind.fields[field], kept)
                })
                .collect();
            fields.join(",")
        })
        .collect();
    Some(format!("{}=[{}]", kind.name, messages.join("|")))
}
