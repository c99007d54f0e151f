//! Automata in files of the Hanoi omega-automata format, version 1.
//!
//! Babiak et al., *The Hanoi omega-automata format*, 2015; <http://adl.github.io/hoaf/>. Read are automata without
//! universal branching whose acceptance is generalised Büchi: a conjunction of `Inf(i)` and `Inf(!i)`, also `t` and
//! `f`. Acceptance may lie on states or on transitions, labels on states, on transitions, or be implicit. Everything
//! else is refused with its place. A state in an acceptance set stands for the edges that leave it, as the format says,
//! so both ways become marks on edges; a label becomes the cubes of a disjunction, and an edge is repeated for each.
//!
//! [`write_hoa`] writes marks on transitions and explicit labels.

mod codes;
mod labels;
mod read;
mod tokens;

use std::fmt::Write;

use trefoil_source::Span;
use trefoil_system::{Automaton, Cube};

pub use codes::CODES;
pub use read::read_hoa;

/// An automaton of a file.
#[derive(Clone, Debug)]
pub struct HoaAutomaton {
    /// The name that the file gives it.
    pub name: Option<String>,
    /// The automaton; its propositions are numbered as in the file.
    pub automaton: Automaton,
    /// The texts of its propositions.
    pub propositions: Vec<HoaProposition>,
}

/// A proposition of a file.
#[derive(Clone, Debug)]
pub struct HoaProposition {
    /// Its text.
    pub text: String,
    /// Its place, inside the quotation marks.
    pub span: Span,
}

/// An automaton as a file.
pub fn write_hoa(automaton: &Automaton, name: &str, propositions: &[String]) -> String {
    let Automaton { edges, initial, marks, end } = automaton;
    let mut text = format!("HOA: v1\nname: {}\ntool: \"trefoil\" \"{}\"\n", quoted(name), env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "States: {}", edges.len());
    for state in initial {
        let _ = writeln!(text, "Start: {state}");
    }
    let names: Vec<String> = propositions.iter().map(|proposition| format!(" {}", quoted(proposition))).collect();
    let _ = writeln!(text, "AP: {}{}", propositions.len(), names.concat());
    let sets: Vec<String> = (0..*marks).map(|mark| format!("Inf({mark})")).collect();
    let (called, condition) = match marks {
        0 => ("all".to_string(), "t".to_string()),
        1 => ("Buchi".to_string(), "Inf(0)".to_string()),
        several => (format!("generalized-Buchi {several}"), sets.join("&")),
    };
    let _ = writeln!(text, "acc-name: {called}\nAcceptance: {marks} {condition}");
    text.push_str("properties: trans-labels explicit-labels trans-acc no-univ-branch\n--BODY--\n");
    for (state, own) in edges.iter().enumerate() {
        let _ = writeln!(text, "State: {state}");
        if *end == Some(state as u32) {
            // Whatever follows is accepted.
            let _ = writeln!(text, "[t] {state}{}", signature(automaton.all_marks()));
            continue;
        }
        for edge in own {
            let _ = writeln!(text, "[{}] {}{}", label(edge.letters), edge.target, signature(edge.marks));
        }
    }
    text.push_str("--END--\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn signature(marks: u32) -> String {
    let numbers: Vec<String> = (0..32).filter(|mark| marks >> mark & 1 == 1).map(|mark| mark.to_string()).collect();
    if numbers.is_empty() { String::new() } else { format!(" {{{}}}", numbers.join(" ")) }
}

fn label(cube: Cube) -> String {
    let literal = |proposition: u32| match (cube.yes >> proposition & 1, cube.no >> proposition & 1) {
        (1, _) => Some(proposition.to_string()),
        (_, 1) => Some(format!("!{proposition}")),
        _ => None,
    };
    let literals: Vec<String> = (0..64).filter_map(literal).collect();
    if literals.is_empty() { "t".to_string() } else { literals.join("&") }
}
