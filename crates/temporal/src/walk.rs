//! A short depth-first walk over the product, for bugs that lie deep and are easy to run into.
//!
//! A breadth-first search meets a violation of depth d only when it has expanded nearly all states of smaller depth. A
//! walk that follows one run as long as it can, and prefers moves of the automaton that lead on towards acceptance,
//! often meets a cycle after a few hundred steps. So whenever the search pauses, and the part that it has expanded
//! shows no violation, a walk follows which may expand a sixteenth as many states. What it expands is kept like what
//! the search keeps ([`crate::graph`]), and the claim is decided on it: acceptance, fairness, quotients, the nearest
//! component and short lassos are those of any other part.
//!
//! The walk is bounded in states, not in seconds, and steps are taken in the order in which the system gives them, from
//! a place that turns with the depth where fairness is wanted, so that all agents move. So each call has the same
//! witness, whatever the number of threads.
//!
//! Cost: the states of the walk, packed, and a set of its pairs.

use std::collections::HashSet;

use trefoil_control::Control;
use trefoil_explore::States;
use trefoil_questions::Fairness;
use trefoil_system::{AutomatonEdge, Cut, System};

use crate::components::components;
use crate::graph::{Graph, Recording};
use crate::ground::Ground;
use crate::product::{Forbidden, Pair};

/// A pair on the way, and how many of its edges were tried.
struct Frame {
    pair: Pair,
    tried: usize,
}

/// Walks until `most` states are expanded or nothing is left, and returns what it has kept.
pub(crate) fn walk(
    system: &dyn System,
    recording: &Recording<'_>,
    forbidden: &Forbidden<'_>,
    most: u64,
    control: &Control,
) -> Result<(Graph, States), Cut> {
    let automaton = forbidden.automaton;
    let targets: Vec<Vec<u32>> =
        automaton.edges.iter().map(|own| own.iter().map(|edge| edge.target).collect()).collect();
    let (component, _) = components(&targets);
    // Edges between components lead to smaller numbers: these are tried first.
    let mut moves: Vec<Vec<AutomatonEdge>> = automaton.edges.clone();
    moves.iter_mut().for_each(|own| own.sort_by_key(|edge| component[edge.target as usize]));
    let mut ground = Ground::new(system, recording, forbidden, control);
    let initial = ground.find(&system.initial(control)?)?[0];
    let mut seen: HashSet<Pair, foldhash::fast::FixedState> = HashSet::default();
    let mut way: Vec<Frame> = Vec::new();
    let turns = forbidden.fairness != Fairness::None;
    'starts: for &start in &automaton.initial {
        let pair = Pair { state: initial.0, automaton: start };
        if seen.insert(pair) {
            way.push(Frame { pair, tried: 0 });
        }
        while let Some(&Frame { pair, tried }) = way.last() {
            let Some((letter, targets)) = ground.steps(pair.state, most)? else { break 'starts };
            // A state without steps is on no cycle but its own, which the search finds.
            let own = moves[pair.automaton as usize].iter();
            let edges = own.filter(|edge| letter.is_admitted(edge.letters) == Some(true));
            let place = tried.checked_div(targets.len());
            let Some(edge) = place.and_then(|place| edges.clone().nth(place)) else {
                way.pop();
                continue;
            };
            let turn = if turns { way.len() } else { 0 };
            let step = targets.start + (tried + turn) % targets.len();
            let next = Pair { state: ground.target(step), automaton: edge.target };
            if let Some(frame) = way.last_mut() {
                frame.tried += 1;
            }
            if seen.insert(next) {
                way.push(Frame { pair: next, tried: 0 });
            }
        }
    }
    ground.graph(initial)
}
