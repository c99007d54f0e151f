//! A state in words.

use std::fmt::Write;

use trefoil_system::Value;

use crate::program::{Program, Sort};

use super::machine::Machine;
use super::system::Model;

fn value(program: &Program, sort: Sort, kept: u32) -> String {
    let value = sort.read(kept);
    match sort {
        Sort::Mtype(set) => program.mtype_name(set, value).map_or_else(|| value.to_string(), str::to_string),
        _ => value.to_string(),
    }
}

/// Every process with its line, then what is not zero.
pub(super) fn describe(model: &Model, row: &[Value]) -> String {
    let program = &*model.program;
    let mut machine = Machine::new(program, &model.arrangement);
    machine.load(row);
    let mut parts = Vec::new();
    for (cell, &slot) in program.globals.cells.iter().zip(&model.arrangement.globals) {
        let kept = machine.row[slot as usize];
        if !cell.hidden && kept != 0 && cell.sort != Sort::Channel {
            parts.push(format!("{}={}", cell.name, value(program, cell.sort, kept)));
        }
    }
    let mut channels: Vec<_> = model.arrangement.queues.clone();
    for position in 0..machine.count() {
        let kind = machine.type_at(position);
        machine.act(position);
        let process = &program.processes[usize::from(kind)];
        let control = machine.row[machine.control_slot(position)];
        let mut text = format!("{}({position}) line {}", process.name, process.statements[control as usize].line);
        for (at, cell) in process.frame.cells.iter().enumerate() {
            let kept = machine.row[machine.cells + at];
            if kept != 0 && cell.sort != Sort::Channel {
                let _ = write!(text, " {}={}", cell.name, value(program, cell.sort, kept));
            }
        }
        parts.push(text);
        channels.extend(model.arrangement.queues_at(position, kind));
    }
    for queue in channels {
        let kind = &model.arrangement.kinds[queue.kind as usize];
        if queue.capacity == 0 || machine.row[queue.slot as usize] == 0 {
            continue;
        }
        let messages: Vec<String> = (0..machine.row[queue.slot as usize])
            .map(|message| {
                let fields: Vec<String> = (0..kind.fields.len())
                    .map(|field| {
                        value(program, kind.fields[field], machine.row[machine.field_slot(&queue, message, field)])
                    })
                    .collect();
                fields.join(",")
            })
            .collect();
        parts.push(format!("{}=[{}]", kind.name, messages.join("|")));
    }
    parts.join("; ")
}
