//! Smaller automata.
//!
//! The reductions know only the automaton, so they serve formulas, claims and files alike. They are repeated until
//! nothing changes:
//!
//! - states that no initial state reaches, or from which nothing is accepted, go, and the edges to them;
//! - marks of edges that no accepting cycle uses do not matter: all of them get none, and in a second pass all, so that
//!   more states become alike; where every cycle of a component is accepting, all its edges get all marks;
//! - a mark goes that is on every edge on which another mark is;
//! - *direct simulation*: a state simulates another one when each edge of the other is matched by one with a weaker
//!   cube, no fewer marks, and a target that simulates its target (Dill, Hu and Wong-Toi, *Checking for language
//!   inclusion using simulation preorders*, 1991; for edges with marks, Babiak et al., *Compositional approach to
//!   suspension and other improvements to LTL translation*, 2013). States that simulate each other become one, and an
//!   edge goes that another one of its state covers;
//! - two edges that differ in the sign of one literal become one.
//!
//! A state that accepts everything is recognised by an edge to itself with all marks at every letter; it becomes the
//! end of the automaton.
//!
//! Cost: simulation is quadratic in states and edges, so it is left out above [`MOST_SIMULATED`] states.

use trefoil_control::{Control, Stopped};
use trefoil_system::{Automaton, AutomatonEdge, Cube};

use crate::components::components;

/// Larger automata are not reduced by simulation.
const MOST_SIMULATED: usize = 600;

/// The automaton with fewer states and edges; it accepts the same words.
pub fn simplify(mut automaton: Automaton, control: &Control) -> Result<Automaton, Stopped> {
    loop {
        let before = (automaton.edges.len(), automaton.edges.iter().map(Vec::len).sum::<usize>(), automaton.marks);
        for all in [false, true] {
            control.check()?;
            prune(&mut automaton);
            normalise_marks(&mut automaton, all);
            drop_marks(&mut automaton);
            merge_cubes(&mut automaton);
            if automaton.edges.len() <= MOST_SIMULATED {
                simulate(&mut automaton, control)?;
            }
        }
        prune(&mut automaton);
        let after = (automaton.edges.len(), automaton.edges.iter().map(Vec::len).sum::<usize>(), automaton.marks);
        if after == before {
            break;
        }
    }
    normalise_marks(&mut automaton, false);
    automaton.end = (0..automaton.edges.len() as u32).find(|&state| accepts_everything(&automaton, state));
    if let Some(end) = automaton.end {
        automaton.edges[end as usize] =
            vec![AutomatonEdge { letters: Cube::ALL, marks: automaton.all_marks(), target: end }];
        automaton = reached(automaton);
    }
    Ok(automaton)
}

fn accepts_everything(automaton: &Automaton, state: u32) -> bool {
    let all = automaton.all_marks();
    automaton.edges[state as usize]
        .iter()
        .any(|edge| edge.target == state && edge.letters == Cube::ALL && edge.marks == all)
}

fn targets(automaton: &Automaton) -> Vec<Vec<u32>> {
    automaton.edges.iter().map(|own| own.iter().map(|edge| edge.target).collect()).collect()
}

/// Which components can have an accepting cycle where steps may carry some marks themselves?
pub(crate) fn accepting(automaton: &Automaton, component: &[u32], count: u32, passing: u32) -> Vec<bool> {
    let mut marks: Vec<Option<u32>> = vec![None; count as usize];
    for (state, own) in automaton.edges.iter().enumerate() {
        for edge in own.iter().filter(|edge| component[edge.target as usize] == component[state]) {
            *marks[component[state] as usize].get_or_insert(0) |= edge.marks;
        }
    }
    marks.into_iter().map(|found| found.is_some_and(|found| found | passing == automaton.all_marks())).collect()
}

/// Removes states from which nothing is accepted, and those that are not reached.
fn prune(automaton: &mut Automaton) {
    let (component, count) = components(&targets(automaton));
    let mut useful = accepting(automaton, &component, count, 0);
    // Edges lead to smaller numbers of components, so these are known first.
    let mut order: Vec<usize> = (0..automaton.edges.len()).collect();
    order.sort_unstable_by_key(|&state| component[state]);
    for state in order {
        let reaches = automaton.edges[state].iter().any(|edge| useful[component[edge.target as usize] as usize]);
        useful[component[state] as usize] |= reaches;
    }
    let is_useful = |state: u32| useful[component[state as usize] as usize];
    for own in &mut automaton.edges {
        own.retain(|edge| is_useful(edge.target));
    }
    automaton.initial.retain(|&state| is_useful(state));
    *automaton = reached(std::mem::take(automaton));
}

/// Only the states that are reached, numbered in the order in which a breadth-first walk finds them.
fn reached(automaton: Automaton) -> Automaton {
    let mut number: Vec<Option<u32>> = vec![None; automaton.edges.len()];
    let mut order: Vec<u32> = Vec::new();
    let mut meet = |state: u32, order: &mut Vec<u32>| {
        *number[state as usize].get_or_insert_with(|| {
            order.push(state);
            order.len() as u32 - 1
        })
    };
    let mut initial: Vec<u32> = automaton.initial.iter().map(|&state| meet(state, &mut order)).collect();
    initial.sort_unstable();
    initial.dedup();
    let mut edges = Vec::new();
    let mut at = 0;
    while at < order.len() {
        let mut own: Vec<AutomatonEdge> = automaton.edges[order[at] as usize]
            .iter()
            .map(|edge| AutomatonEdge { target: meet(edge.target, &mut order), ..*edge })
            .collect();
        own.sort_unstable();
        own.dedup();
        edges.push(own);
        at += 1;
    }
    let end = automaton.end.and_then(|end| number[end as usize]);
    Automaton { edges, initial, marks: automaton.marks, end }
}

/// Marks where they do not matter: none, or all.
fn normalise_marks(automaton: &mut Automaton, all: bool) {
    let full = automaton.all_marks();
    let (component, count) = components(&targets(automaton));
    let accepting = accepting(automaton, &component, count, 0);
    // A component is weak when no cycle of it misses a mark.
    let mut weak = vec![true; count as usize];
    for mark in 0..automaton.marks {
        let inside: Vec<Vec<u32>> = automaton
            .edges
            .iter()
            .enumerate()
            .map(|(state, own)| {
                let missing = own.iter().filter(|edge| edge.marks >> mark & 1 == 0);
                missing
                    .map(|edge| edge.target)
                    .filter(|&target| component[target as usize] == component[state])
                    .collect()
            })
            .collect();
        let (inner, inner_count) = components(&inside);
        let mut size = vec![0; inner_count as usize];
        inner.iter().for_each(|&own| size[own as usize] += 1);
        for state in 0..inside.len() {
            if size[inner[state] as usize] > 1 || inside[state].contains(&(state as u32)) {
                weak[component[state] as usize] = false;
            }
        }
    }
    for (state, own) in automaton.edges.iter_mut().enumerate() {
        let home = component[state];
        for edge in own {
            let inside = component[edge.target as usize] == home && accepting[home as usize];
            if !inside {
                edge.marks = if all { full } else { 0 };
            } else if weak[home as usize] {
                edge.marks = full;
            }
        }
    }
    // A component without an accepting cycle must not get one.
    if all {
        for (state, own) in automaton.edges.iter_mut().enumerate() {
            for edge in own.iter_mut().filter(|edge| component[edge.target as usize] == component[state]) {
                if !accepting[component[state] as usize] {
                    edge.marks = 0;
                }
            }
        }
    }
}

/// Leaves out marks that another mark implies.
fn drop_marks(automaton: &mut Automaton) {
    let edges: Vec<u32> = automaton.edges.iter().flatten().map(|edge| edge.marks).collect();
    let mut kept: Vec<u32> = (0..automaton.marks).collect();
    let mut at = 0;
    while at < kept.len() {
        let mark = kept[at];
        let implied =
            |&other: &u32| other != mark && edges.iter().all(|own| own >> other & 1 == 0 || own >> mark & 1 == 1);
        if kept.iter().any(implied) {
            kept.remove(at);
        } else {
            at += 1;
        }
    }
    if kept.len() as u32 == automaton.marks {
        return;
    }
    for edge in automaton.edges.iter_mut().flatten() {
        edge.marks = kept.iter().enumerate().fold(0, |all, (new, &old)| all | (edge.marks >> old & 1) << new);
    }
    automaton.marks = kept.len() as u32;
}

/// Joins edges that differ in one literal only.
fn merge_cubes(automaton: &mut Automaton) {
    for own in &mut automaton.edges {
        loop {
            own.sort_unstable();
            own.dedup();
            let mut joined = None;
            'pairs: for one in 0..own.len() {
                for other in one + 1..own.len() {
                    let (a, b) = (own[one], own[other]);
                    if a.target != b.target || a.marks != b.marks {
                        continue;
                    }
                    let (yes, no) = (a.letters.yes ^ b.letters.yes, a.letters.no ^ b.letters.no);
                    if yes == no && yes.is_power_of_two() {
                        joined = Some((one, other, yes));
                        break 'pairs;
                    }
                    // One covers the other.
                    if a.letters.covers(b.letters) || b.letters.covers(a.letters) {
                        joined = Some((one, other, 0));
                        break 'pairs;
                    }
                }
            }
            let Some((one, other, literal)) = joined else { break };
            let (a, b) = (own[one], own.remove(other));
            let letters = match literal {
                0 if a.letters.covers(b.letters) => a.letters,
                0 => b.letters,
                bit => Cube { yes: a.letters.yes & !bit, no: a.letters.no & !bit },
            };
            own[one].letters = letters;
        }
    }
}

/// Joins states that simulate each other, and leaves out edges that are covered.
fn simulate(automaton: &mut Automaton, control: &Control) -> Result<(), Stopped> {
    let count = automaton.edges.len();
    let above = simulation(automaton, control)?;
    let simulates = |upper: u32, lower: u32| above[lower as usize * count + upper as usize];
    // The first state of each class stands for it.
    let class: Vec<u32> = (0..count as u32)
        .map(|state| (0..=state).find(|&other| simulates(other, state) && simulates(state, other)).unwrap_or(state))
        .collect();
    for own in &mut automaton.edges {
        for edge in own.iter_mut() {
            edge.target = class[edge.target as usize];
        }
        own.sort_unstable();
        own.dedup();
        let covers = |one: &AutomatonEdge, other: &AutomatonEdge| {
            one.letters.covers(other.letters) && other.marks & !one.marks == 0 && simulates(one.target, other.target)
        };
        // Different edges to classes never cover each other both.
        let kept: Vec<AutomatonEdge> =
            own.iter().filter(|edge| !own.iter().any(|other| other != *edge && covers(other, edge))).copied().collect();
        *own = kept;
    }
    for state in &mut automaton.initial {
        *state = class[*state as usize];
    }
    automaton.initial.sort_unstable();
    automaton.initial.dedup();
    let starts = automaton.initial.clone();
    automaton.initial.retain(|&state| !starts.iter().any(|&other| other != state && simulates(other, state)));
    *automaton = reached(std::mem::take(automaton));
    Ok(())
}

/// For each pair of states, lower state first, whether the second simulates the first.
fn simulation(automaton: &Automaton, control: &Control) -> Result<Vec<bool>, Stopped> {
    let count = automaton.edges.len();
    let mut above = vec![true; count * count];
    loop {
        let mut changed = false;
        for lower in 0..count {
            control.check()?;
            for upper in 0..count {
                if lower == upper || !above[lower * count + upper] {
                    continue;
                }
                let matched = |edge: &AutomatonEdge| {
                    automaton.edges[upper].iter().any(|other| {
                        other.letters.covers(edge.letters)
                            && edge.marks & !other.marks == 0
                            && above[edge.target as usize * count + other.target as usize]
                    })
                };
                if !automaton.edges[lower].iter().all(matched) {
                    above[lower * count + upper] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return Ok(above);
        }
    }
}
