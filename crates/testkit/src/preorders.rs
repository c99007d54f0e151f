//! Coupled simulation and impossible futures straight from their definitions, for systems of at most 64 states.
//!
//! - `s` is below `t` in the greatest relation such that a step of `s` is matched by `t` with any `τ` before and after
//!   it, and some state that `t` reaches by `τ` is below `s` (J. Parrow, P. Sjödin, *Multiway synchronization verified
//!   with coupled simulation*, 1992, without stability). All pairs are there first, and those that break the condition
//!   go, until none goes.
//! - An implementation has no impossible futures but those of a specification when after each of its traces each of its
//!   states `q` has all traces of some state of the specification after the same trace (M. Voorhoeve, S. Mauw,
//!   *Impossible futures and determinism*, 2001). Traces are walked as pairs of sets of states.

use std::collections::BTreeSet;

use trefoil_lts::Lts;

use crate::refinement::{Definitions, States, alphabet};

/// Is each of the two systems below the other by coupled simulation?
pub fn coupled_similar(one: &Lts, other: &Lts) -> bool {
    let act = alphabet(&[one, other]);
    let (one, other) = (Definitions::new(one, &act), Definitions::new(other, &act));
    let states = [one.count(), other.count()];
    // above[side][s]: the states of the other side that s is below.
    let mut above: [Vec<States>; 2] = [0, 1].map(|side| vec![all(states[1 - side]); states[side]]);
    let systems = [&one, &other];
    loop {
        let mut changed = false;
        for side in 0..2 {
            let (own, theirs) = (systems[side], systems[1 - side]);
            for s in 0..states[side] {
                for t in Definitions::members(above[side][s]).collect::<Vec<_>>() {
                    let matched = (0..=act.len()).all(|label| {
                        let answers = match label == act.len() {
                            true => theirs.weakly(1 << t),
                            false => theirs.after(theirs.weakly(1 << t), label),
                        };
                        Definitions::members(own.step(1 << s, label)).all(|next| above[side][next] & answers != 0)
                    });
                    let below = |&near: &usize| above[1 - side][near] >> s & 1 == 1;
                    if !matched || !Definitions::members(theirs.weakly(1 << t)).any(|near| below(&near)) {
                        above[side][s] &= !(1 << t);
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            let holds = |side: usize| above[side][systems[side].initial()] >> systems[1 - side].initial() & 1 == 1;
            return holds(0) && holds(1);
        }
    }
}

fn all(states: usize) -> States {
    if states == 64 { States::MAX } else { (1 << states) - 1 }
}

/// Has the implementation no traces and impossible futures but those of the specification?
pub fn futures_included(specification: &Lts, implementation: &Lts) -> bool {
    let act = alphabet(&[specification, implementation]);
    let (spec, imp) = (Definitions::new(specification, &act), Definitions::new(implementation, &act));
    let start = (spec.after_nothing(), imp.after_nothing());
    let mut seen = BTreeSet::from([start]);
    let mut work = vec![start];
    while let Some((u, v)) = work.pop() {
        for q in Definitions::members(v) {
            let own = imp.weakly(1 << q);
            if !Definitions::members(u).any(|u| has_all_traces(&imp, own, &spec, spec.weakly(1 << u))) {
                return false;
            }
        }
        for label in 0..act.len() {
            let next = (spec.after(u, label), imp.after(v, label));
            if next.1 != 0 && seen.insert(next) {
                work.push(next);
            }
        }
    }
    true
}

/// Do some states of one system have all traces of some of another?
fn has_all_traces(system: &Definitions, states: States, other: &Definitions, others: States) -> bool {
    let mut seen = BTreeSet::from([(states, others)]);
    let mut work = vec![(states, others)];
    while let Some((states, others)) = work.pop() {
        for label in 0..system.labels {
            let next = (system.after(states, label), other.after(others, label));
            if next.1 != 0 && next.0 == 0 {
                return false;
            }
            if next.1 != 0 && seen.insert(next) {
                work.push(next);
            }
        }
    }
    true
}
