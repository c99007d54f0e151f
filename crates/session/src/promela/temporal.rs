//! The claims of a model as questions about runs that never end.

use trefoil_promela::Program;
use trefoil_promela::program::{Action, ClaimSays, Transition};
use trefoil_questions::{Says, TemporalClaim};
use trefoil_source::Span;
use trefoil_system::{Automaton, AutomatonEdge, Cube, WrongPlace};

use crate::check::Violation;

/// A claim as it is listed.
pub(super) struct ListedClaim {
    /// Its text in the list.
    pub(super) text: String,
    /// Its place.
    pub(super) span: Option<Span>,
    /// How a cycle violates it.
    pub(super) way: Violation,
    /// What it says, or why it cannot be checked.
    pub(super) says: Result<TemporalClaim, String>,
}

/// The claims of a model: those that are written, and those that its labels make.
pub(super) fn claims(program: &Program) -> Vec<ListedClaim> {
    let mut listed: Vec<ListedClaim> = Vec::new();
    for claim in &program.claims {
        let says = match &claim.says {
            ClaimSays::Formula(ltl, formula) => Ok(Says::Holds(ltl.clone(), *formula)),
            ClaimSays::Automaton(automaton) => Ok(Says::Accepts(automaton.clone())),
            ClaimSays::Refused(why) => Err(why.clone()),
        };
        let propositions = claim.propositions.clone();
        let places = claim.places.iter().map(|&span| place(span)).collect();
        listed.push(ListedClaim {
            text: format!("{} {}", claim.kind, claim.name),
            span: Some(claim.span),
            way: Violation::Cycle,
            says: says.map(|says| TemporalClaim { says, propositions, places, stutters: true, passing: 0 }),
        });
    }
    let (everything, holds) = (Cube::ALL, Cube::literal(0, true));
    let edge = |letters, marks, target| AutomatonEdge { letters, marks, target };
    if let Some(non_progress) = program.non_progress {
        // Wait as long as you like, then stay without progress forever.
        let edges = vec![vec![edge(everything, 0, 0), edge(holds, 0, 1)], vec![edge(holds, 1, 1)]];
        listed.push(of_labels(program, Violation::NonProgress, edges, non_progress));
    }
    if let Some(accepting) = program.accepting {
        let edges = vec![vec![edge(everything, 0, 0), edge(holds, 1, 0)]];
        let mut claim = of_labels(program, Violation::Acceptance, edges, accepting);
        if let Ok(claim) = &mut claim.says
            && passes_accepting(program)
        {
            // A step that passes a label goes round as one from a state with the label does.
            claim.passing = 1;
        }
        listed.push(claim);
    }
    listed
}

/// A place in the texts of a model.
pub(super) fn place(span: Span) -> WrongPlace {
    WrongPlace { file: span.file.0, start: span.start, end: span.end }
}

/// Can a step pass an `accept` label: that of a statement inside an `atomic` sequence, or of a process that receives
/// several messages from one such sequence?
fn passes_accepting(program: &Program) -> bool {
    let is_kept = |step: &Transition| step.atomic || matches!(*step.action, Action::Receive(_));
    program.processes.iter().any(|process| {
        let mut into = process.transitions.iter().flatten().filter(|step| is_kept(step));
        into.any(|step| process.accepting[step.target as usize])
    })
}

/// A claim that labels make. As in Spin, a run that ends at an accept label counts as a cycle there, and one that ends
/// is no cycle without progress.
fn of_labels(program: &Program, way: Violation, edges: Vec<Vec<AutomatonEdge>>, proposition: u32) -> ListedClaim {
    let (text, marks): (_, fn(&trefoil_promela::program::ProcessType) -> &Vec<bool>) = match way {
        Violation::NonProgress => ("no non-progress cycle", |process| &process.progress),
        _ => ("no acceptance cycle", |process| &process.accepting),
    };
    let first = program.processes.iter().find_map(|process| {
        let state = marks(process).iter().position(|&marked| marked)?;
        process.statements.get(state).map(|statement| statement.span)
    });
    let automaton = Automaton { edges, initial: vec![0], marks: 1, end: None };
    let says = TemporalClaim {
        says: Says::Accepts(automaton),
        propositions: vec![proposition],
        places: Vec::new(),
        stutters: way == Violation::Acceptance,
        passing: 0,
    };
    ListedClaim { text: text.to_string(), span: first, way, says: Ok(says) }
}
