//! What components are called.
//!
//! A component is named after what stays the same in the names of its states: a traffic light whose states are
//! `LIGHT(EW, Red)` and `LIGHT(EW, Green)` is `LIGHT(EW)`, and a counter whose states are `COUNT(0)`, `COUNT(1)`, … is
//! `COUNT`. Where the initial state has no name, but all states that have one are calls of one function, that function
//! names the component. Otherwise the words for the initial state do.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::FixedState;
use trefoil_source::Span;

use super::leaf::MachineId;
use super::terms::{Node, TermId};
use super::{Compiler, Machine};
use crate::eval::ProcessId;

/// States beyond these are not looked at.
const MOST_STATES: usize = 4096;

/// What the script calls processes.
#[derive(Default)]
pub(super) struct Names {
    by_process: HashMap<ProcessId, String, FixedState>,
    by_term: HashMap<TermId, String, FixedState>,
}

/// A call of a function, as the names of states are written: `F(a, b)`.
struct Call<'n> {
    function: &'n str,
    arguments: Vec<&'n str>,
}

impl<'n> Call<'n> {
    /// Reads a name; nothing when it is not a call.
    fn read(name: &'n str) -> Option<Call<'n>> {
        let (function, rest) = name.split_once('(')?;
        let inside = rest.strip_suffix(')')?;
        let (mut depth, mut start, mut quoted) = (0usize, 0, false);
        let mut arguments = Vec::new();
        for (at, character) in inside.char_indices() {
            match character {
                '"' => quoted = !quoted,
                _ if quoted => {}
                '(' | '{' | '<' | '[' => depth += 1,
                ')' | '}' | '>' | ']' => depth = depth.checked_sub(1)?,
                ',' if depth == 0 => {
                    arguments.push(inside[start..at].trim());
                    start = at + 1;
                }
                _ => {}
            }
        }
        arguments.push(inside[start..].trim());
        (depth == 0).then_some(Call { function, arguments })
    }

    /// Do both call the same function?
    fn is_like(&self, other: &Call<'_>) -> bool {
        self.function == other.function && self.arguments.len() == other.arguments.len()
    }
}

/// The name that calls of one function have in common: the function with the arguments that are the same in all of
/// them.
fn common(calls: &[Call<'_>]) -> Option<String> {
    let first = calls.first()?;
    if !calls.iter().all(|call| call.is_like(first)) {
        return None;
    }
    let places = first.arguments.iter().enumerate();
    let kept: Vec<&str> = places
        .filter(|&(at, argument)| calls.iter().all(|call| call.arguments[at] == *argument))
        .map(|(_, argument)| *argument)
        .collect();
    Some(match kept.is_empty() {
        true => first.function.to_string(),
        false => format!("{}({})", first.function, kept.join(", ")),
    })
}

impl Node {
    /// Is it a process that every script has?
    fn is_builtin(&self) -> bool {
        matches!(self, Node::Stop | Node::Skip | Node::Omega | Node::Div | Node::Run(_) | Node::Chaos(_))
    }
}

impl Compiler {
    /// What a component of a machine is called.
    pub fn component_name(&mut self, machine: &Machine, component: usize, text: &dyn Fn(Span) -> String) -> String {
        let machine = machine.machines[component];
        match machine.layer() {
            Some(layer) => self.layer_name(layer, text),
            None => self.machine_name(machine, text),
        }
    }

    /// What a machine is called that is not a layer.
    pub(super) fn machine_name(&mut self, machine: MachineId, text: &dyn Fn(Span) -> String) -> String {
        let data = self.machine(machine);
        let (root, states) = (data.root, data.terms.len().min(MOST_STATES) as u32);
        let terms: Vec<TermId> = (0..states).filter_map(|state| self.term_of_state(machine, state)).collect();
        let states: Vec<String> = terms.into_iter().filter_map(|term| self.term_name(term)).collect();
        let calls = states.iter().map(|state| Call::read(state));
        let name = match self.term_name(root) {
            // What other functions the process calls on its way does not name it.
            Some(name) => match Call::read(&name) {
                Some(own) => {
                    let mut alike: Vec<Call<'_>> = calls.flatten().filter(|call| call.is_like(&own)).collect();
                    alike.push(own);
                    common(&alike)
                }
                None => Some(name),
            },
            None => calls.collect::<Option<Vec<Call<'_>>>>().and_then(|calls| common(&calls)),
        };
        name.unwrap_or_else(|| self.words(root, text))
    }

    /// The script's name for a term: that of its own process or, where the term is no built-in process, of another
    /// process with the same term, such as a choice whose other operands are `STOP`.
    pub(super) fn term_name(&mut self, term: TermId) -> Option<String> {
        let origin = self.origins.get(&term).copied();
        if let Some(name) = origin.and_then(|id| self.named(id)) {
            return Some(name);
        }
        self.names().by_term.get(&term).cloned()
    }

    /// The script's name for a process.
    pub(super) fn named(&mut self, id: ProcessId) -> Option<String> {
        self.names().by_process.get(&id).cloned()
    }

    fn names(&mut self) -> &Names {
        if self.names.is_none() {
            let mut names = Names::default();
            let mut known = self.evaluator.named_processes();
            known.sort_by(|a, b| a.0.cmp(&b.0));
            for (name, process) in known {
                // What cannot be identified cannot be a state either.
                let Ok(id) = self.evaluator.identify(&process) else { continue };
                // Most terms belong to the process that was expanded to them first.
                if let Some(Some(term)) = self.expanded.get(&id)
                    && self.origins.get(term) != Some(&id)
                    && !self.terms.node(*term).is_builtin()
                {
                    keep_least(names.by_term.entry(*term), name.clone());
                }
                keep_least(names.by_process.entry(id), name);
            }
            self.names = Some(names);
        }
        self.names.as_ref().expect("they were just made")
    }
}

/// Of several names the one with the fewest arguments stays, and of those the first by its text: with `POLITE(f, d) =
/// LOOK(f, d, ahead(f, d))` scripts compose `POLITE`.
fn keep_least<K>(entry: Entry<'_, K, String>, name: String) {
    let order = |name: &str| Call::read(name).map_or(0, |call| call.arguments.len());
    match entry {
        Entry::Vacant(place) => {
            place.insert(name);
        }
        Entry::Occupied(mut known) => {
            if (order(&name), name.as_str()) < (order(known.get()), known.get().as_str()) {
                known.insert(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(states: &[&str]) -> Option<String> {
        let calls: Option<Vec<Call<'_>>> = states.iter().map(|state| Call::read(state)).collect();
        common(&calls?)
    }

    #[test]
    fn a_name_keeps_the_arguments_that_never_change() {
        assert_eq!(named(&["LIGHT(EW, Red)", "LIGHT(EW, Green)"]).as_deref(), Some("LIGHT(EW)"));
        assert_eq!(named(&["COUNT(0)", "COUNT(1)"]).as_deref(), Some("COUNT"));
        assert_eq!(named(&["Q(<1, 2>, {3, 4})", "Q(<2>, {3, 4})"]).as_deref(), Some("Q({3, 4})"));
        assert_eq!(named(&["S(\"a, b\", 1)"]).as_deref(), Some("S(\"a, b\", 1)"));
        assert_eq!(named(&["P(1)", "Q(1)"]), None);
        assert_eq!(named(&["P"]), None);
    }
}
