//! A state part by part: the globals, then every process.

use trefoil_system::{SlotSet, Value};

use super::describe::{globals, process};
use super::machine::Machine;
use super::system::Model;

impl Model {
    /// The names of the parts of a state: `globals`, and one for each position that a process can have.
    pub fn part_names(&self) -> Vec<String> {
        let mut names = vec!["globals".to_string()];
        for (number, position) in self.arrangement.positions.iter().enumerate() {
            let types: Vec<&str> =
                position.types.iter().map(|&kind| &*self.program.processes[usize::from(kind)].name).collect();
            names.push(format!("{}({number})", types.join("|")));
        }
        names
    }

    /// Each part in words; nothing for a process that does not run.
    pub fn parts(&self, row: &[Value]) -> Vec<String> {
        let mut machine = Machine::new(&self.program, &self.arrangement);
        machine.load(row);
        let mut parts = vec![globals(self, &machine)];
        for position in 0..self.arrangement.positions.len() {
            parts.push(if position < machine.count() { process(self, &mut machine, position) } else { String::new() });
        }
        parts
    }

    /// The slots that say whether a run may end in a state: how many processes there are, where they are, and where the
    /// `trace` is.
    pub(super) fn valid_end_reads(&self) -> SlotSet {
        let places = self.arrangement.positions.iter().flat_map(|position| {
            let base = position.base as usize;
            (position.types.len() > 1).then_some(base).into_iter().chain([base + 1])
        });
        let event = self.arrangement.event.map(|slot| slot as usize);
        std::iter::once(super::arrangement::COUNT).chain(event).chain(places).collect()
    }

    /// May a run end in this state? Every process, and the `trace` if there is one, is at its end or at a label that
    /// begins with `end`, or no process is left.
    pub fn is_valid_end(&self, row: &[Value]) -> bool {
        let count = row[super::arrangement::COUNT] as usize;
        if count == 0 {
            return true;
        }
        if let (Some(slot), Some(trace)) = (self.arrangement.event, &self.program.trace)
            && !trace.automaton.valid_end[row[slot as usize] as usize]
        {
            return false;
        }
        self.arrangement.positions[..count].iter().all(|position| {
            let base = position.base as usize;
            let kind = position.types[row[base] as usize];
            self.program.processes[usize::from(kind)].valid_end[row[base + 1] as usize]
        })
    }
}
