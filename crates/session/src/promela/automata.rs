//! Automata in files as claims about a model.
//!
//! The propositions of such an automaton are expressions of the model. Each is read as if a claim with it stood at the
//! end of the model: the model includes a text that has the expression where the file has it, so that diagnostics have
//! the places of the file. These claims are then taken out again, and the automaton's propositions become those of the
//! program, or their negations, or constants.

use std::path::{Path, PathBuf};

use trefoil_promela::Program;
use trefoil_promela::program::{ClaimSays, NamedClaim};
use trefoil_questions::{Says, TemporalClaim};
use trefoil_source::{Diagnostic, Place, Sources, Span};
use trefoil_system::{Automaton, AutomatonEdge, Cube, LtlNode};
use trefoil_temporal::{HoaAutomaton, HoaProposition};

use super::temporal::{ListedClaim, place};
use crate::check::Violation;
use crate::problem::{BAD_LTL, Problem, UNREADABLE};
use crate::{Job, read_file};

/// What the claims of propositions are called.
const NAME: &str = "__proposition_of_a_file_";

/// Files with automata that a model is checked against.
#[derive(Default)]
pub(super) struct Automata {
    all: Vec<(String, HoaAutomaton, Span)>,
    /// The texts that the model includes, each under the name that it asks for.
    texts: Vec<(String, String)>,
    given: usize,
}

/// Reads an automaton from a file.
pub(crate) fn read_automaton(file: &Path, job: &Job, sources: &mut Sources) -> Result<HoaAutomaton, Problem> {
    let name = file.display().to_string();
    let unreadable = |why: String| {
        let message = trefoil_source::cannot_read(&name, &why);
        Problem::from(Diagnostic::error(UNREADABLE, message, Place::File(name.clone())))
    };
    let bytes = read_file(file, job)?.map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not text in UTF-8".to_string()))?;
    if u32::try_from(text.len()).is_err() {
        return Err(unreadable("it has 4 GiB or more".to_string()));
    }
    let id = sources.add(name.clone(), text);
    let read = trefoil_temporal::read_hoa(sources.file(id).text(), id);
    read.map_err(|wrong| Problem::Script(vec![*wrong], sources.clone()))
}

impl Automata {
    /// Reads some files.
    pub(super) fn read(files: &[PathBuf], job: &Job, sources: &mut Sources) -> Result<Automata, Problem> {
        let mut automata = Automata::default();
        for file in files {
            let automaton = read_automaton(file, job, sources)?;
            let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let name = automaton.name.clone().filter(|name| !name.trim().is_empty()).unwrap_or(stem);
            let path = std::path::absolute(file).unwrap_or_else(|_| file.clone()).display().to_string();
            for proposition in &automaton.propositions {
                let number = automata.texts.len();
                automata.texts.push((path.clone(), text(proposition, number, sources)));
            }
            let first = automaton.propositions.first().map(|proposition| proposition.span.file);
            let file = first.unwrap_or_else(|| sources.add(path, String::new()));
            automata.all.push((name, automaton, Span { file, start: 0, end: 0 }));
        }
        Ok(automata)
    }

    /// What is added to the model.
    pub(super) fn includes(&self) -> String {
        self.texts.iter().map(|(name, _)| format!("\n#include \"{name}\"")).collect()
    }

    /// The text that the model includes next, if this name is one of those that were added.
    pub(super) fn next(&mut self, name: &str) -> Option<String> {
        let (own, text) = self.texts.get(self.given)?;
        if own != name {
            return None;
        }
        self.given += 1;
        Some(text.clone())
    }

    /// The claims, taken out of a program.
    pub(super) fn claims(self, program: &mut Program) -> Result<Vec<ListedClaim>, Box<Diagnostic>> {
        let count = self.texts.len();
        let from = program.claims.iter().position(|claim| claim.name.starts_with(NAME));
        let added = from.map(|from| program.claims.split_off(from)).unwrap_or_default();
        let mut added = added.into_iter();
        let mut listed = Vec::new();
        for (name, automaton, span) in self.all {
            let mut conditions = Vec::new();
            let (mut propositions, mut places) = (Vec::new(), Vec::new());
            for proposition in &automaton.propositions {
                let number = count - added.len();
                let claim = added.next().filter(|claim| claim.name == format!("{NAME}{number}"));
                let read = claim.and_then(|claim| condition(&claim, &mut propositions));
                conditions.push(read.ok_or_else(|| {
                    let message = "a proposition is one expression of the model, without temporal operators";
                    Box::new(Diagnostic::error(BAD_LTL, message, Place::Span(proposition.span)))
                })?);
                places.resize(propositions.len(), place(proposition.span));
            }
            let says = Says::Accepts(renamed(&automaton.automaton, &conditions));
            listed.push(ListedClaim {
                text: format!("automaton {name}"),
                span: Some(span),
                way: Violation::Cycle,
                says: Ok(TemporalClaim { says, propositions, places, stutters: true, passing: 0 }),
            });
        }
        Ok(listed)
    }
}

/// A claim with a proposition, at the place that the proposition has in its file.
fn text(proposition: &HoaProposition, number: usize, sources: &Sources) -> String {
    let (line, column) = sources.file(proposition.span.file).line_column(proposition.span.start);
    let begins = format!("ltl {NAME}{number} {{");
    let (above, before) = if line < 2 { (begins + " ", 0) } else { ("\n".repeat(line - 2) + &begins + "\n", column) };
    format!("{above}{}{}\n}}", " ".repeat(before.saturating_sub(1)), proposition.text)
}

/// What a proposition is in the program.
#[derive(Clone, Copy)]
enum Condition {
    Constant(bool),
    Literal(u32, bool),
}

/// The condition of a claim that has no temporal operator; its number is one of those that the automaton has.
fn condition(claim: &NamedClaim, propositions: &mut Vec<u32>) -> Option<Condition> {
    let ClaimSays::Formula(ltl, root) = &claim.says else { return None };
    let mut own = |number: u32| {
        let of_program = claim.propositions[number as usize];
        let known = propositions.iter().position(|&known| known == of_program);
        known.unwrap_or_else(|| {
            propositions.push(of_program);
            propositions.len() - 1
        }) as u32
    };
    Some(match ltl.node(*root) {
        LtlNode::True => Condition::Constant(true),
        LtlNode::False => Condition::Constant(false),
        LtlNode::Proposition(number) => Condition::Literal(own(number), true),
        LtlNode::Not(inner) => match ltl.node(inner) {
            LtlNode::Proposition(number) => Condition::Literal(own(number), false),
            _ => return None,
        },
        _ => return None,
    })
}

/// An automaton about these conditions.
fn renamed(automaton: &Automaton, conditions: &[Condition]) -> Automaton {
    let cube = |letters: Cube| {
        let wanted = (0u32..64).flat_map(|at| [(at, true), (at, false)]);
        let mut wanted = wanted.filter(|&(at, holds)| (if holds { letters.yes } else { letters.no }) >> at & 1 == 1);
        wanted.try_fold(Cube::ALL, |all, (at, holds)| match conditions[at as usize] {
            Condition::Constant(value) => (value == holds).then_some(all),
            Condition::Literal(own, plain) => all.and(Cube::literal(own, plain == holds)),
        })
    };
    let edge = |edge: &AutomatonEdge| Some(AutomatonEdge { letters: cube(edge.letters)?, ..*edge });
    let edges = automaton.edges.iter().map(|own| own.iter().filter_map(edge).collect()).collect();
    Automaton { edges, ..automaton.clone() }
}
