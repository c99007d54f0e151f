//! How hard an automaton is to check.
//!
//! Černá and Pelánek, *Relating hierarchy of temporal properties to model checking*, 2003: most formulas that people
//! write have automata that ask for less than the general algorithm.

use trefoil_system::Automaton;

use crate::components::components;
use crate::simplify::accepting;

/// The classes of automata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strength {
    /// What is accepted is accepted after finitely many letters: a search for a state decides it.
    Terminal,
    /// Each component has either only accepting cycles or none: a search for any cycle decides it.
    Weak,
    /// Anything else.
    Strong,
}

impl Strength {
    /// The class of an automaton.
    pub fn of(automaton: &Automaton) -> Strength {
        let targets: Vec<Vec<u32>> =
            automaton.edges.iter().map(|own| own.iter().map(|edge| edge.target).collect()).collect();
        let (component, count) = components(&targets);
        let accepting = accepting(automaton, &component, count, 0);
        let mut strength = Strength::Terminal;
        for (state, own) in automaton.edges.iter().enumerate() {
            if !accepting[component[state] as usize] || automaton.end == Some(state as u32) {
                continue;
            }
            let inside = own.iter().filter(|edge| component[edge.target as usize] == component[state]);
            let full = inside.into_iter().all(|edge| edge.marks == automaton.all_marks());
            strength = strength.max(if full { Strength::Weak } else { Strength::Strong });
        }
        strength
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Strength::Terminal => "terminal",
            Strength::Weak => "weak",
            Strength::Strong => "strong",
        }
    }
}
