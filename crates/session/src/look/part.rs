//! What is drawn of a system that is too large as a whole: a part of it, or a summary.
//!
//! A part is what lies within some steps of a state: forwards from the initial state, forwards and backwards around a
//! state that the user names. States keep the numbers that they have in the whole system. A summary is a quotient, with
//! the number of states that each of its states stands for; the quotient by strongly connected components is here, the
//! equivalences are in `lts`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use serde::Serialize;
use trefoil_control::{Control, Stopped, counted};
use trefoil_lts::components::component_of_states;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_source::{Diagnostic, Place};
use trefoil_system::StateId;

use crate::Problem;
use crate::problem::TOO_LARGE_TO_DRAW;

/// A system with what is said about its states and about its internal steps.
pub(super) struct Shown {
    pub(super) lts: Lts,
    pub(super) titles: Vec<String>,
    /// What is behind the `τ` from one state to another.
    pub(super) origins: BTreeMap<(u32, u32), BTreeSet<String>>,
    /// The numbers of the states, as they are written.
    pub(super) numbers: Vec<u32>,
    /// How many states each stands for.
    pub(super) counts: Vec<usize>,
    /// How many steps of each state lead to states that are not shown.
    pub(super) hidden: Vec<usize>,
    /// Is the initial state of the system the whole begins with among them?
    pub(super) has_initial: bool,
}

impl Shown {
    /// All of a system.
    pub(super) fn whole(
        lts: Lts,
        titles: Vec<String>,
        origins: BTreeMap<(u32, u32), BTreeSet<String>>,
        hidden: Vec<usize>,
    ) -> Shown {
        let count = lts.state_count();
        let numbers = (0..count as u32).collect();
        Shown { lts, titles, origins, numbers, counts: vec![1; count], hidden, has_initial: true }
    }

    /// The states within so many steps of one, forwards and, if asked for, backwards.
    pub(super) fn around(&self, centre: u32, depth: usize, backwards: bool) -> Shown {
        let count = self.lts.state_count();
        let mut reverse: Vec<Vec<u32>> = vec![Vec::new(); if backwards { count } else { 0 }];
        if backwards {
            for (source, step) in self.lts.all_transitions() {
                reverse[step.target.index()].push(source.0);
            }
        }
        let mut kept = within(centre, depth, count, |state, add| {
            self.lts.outgoing(StateId(state)).iter().for_each(|step| add(step.target.0));
        });
        if backwards {
            let before = within(centre, depth, count, |state, add| {
                reverse[state as usize].iter().for_each(|&source| add(source));
            });
            kept.iter_mut().zip(before).for_each(|(kept, before)| *kept |= before);
        }
        let mut new = vec![None; count];
        let states: Vec<u32> = (0..count as u32).filter(|&state| kept[state as usize]).collect();
        for (number, &state) in states.iter().enumerate() {
            new[state as usize] = Some(number as u32);
        }
        let mut builder = LtsBuilder::new(self.lts.labels().clone());
        builder.at_least(states.len() as u32);
        let mut hidden = Vec::with_capacity(states.len());
        for (number, &state) in states.iter().enumerate() {
            let mut outside = self.hidden[state as usize];
            for step in self.lts.outgoing(StateId(state)) {
                match new[step.target.index()] {
                    Some(target) => {
                        builder.add(StateId(number as u32), step.label, StateId(target));
                    }
                    None => outside += 1,
                }
            }
            hidden.push(outside);
        }
        let initial = new[self.lts.initial().index()];
        let begin = initial.or(new[centre as usize]).unwrap_or(0);
        let of = |pair: &(u32, u32)| Some((new[pair.0 as usize]?, new[pair.1 as usize]?));
        Shown {
            lts: builder.build(StateId(begin)),
            titles: states.iter().map(|&state| self.titles[state as usize].clone()).collect(),
            origins: self.origins.iter().filter_map(|(pair, events)| Some((of(pair)?, events.clone()))).collect(),
            numbers: states.iter().map(|&state| self.numbers[state as usize]).collect(),
            counts: states.iter().map(|&state| self.counts[state as usize]).collect(),
            hidden,
            has_initial: self.has_initial && initial.is_some(),
        }
    }

    /// Strongly connected components as states, numbered as their first states come; steps inside a component are left
    /// out.
    pub(super) fn condensed(&self, control: &Control) -> Result<Shown, Stopped> {
        let component = component_of_states(&self.lts, control)?;
        let mut number: BTreeMap<u32, u32> = BTreeMap::new();
        let mut first: Vec<usize> = Vec::new();
        let mut counts: Vec<usize> = Vec::new();
        for (state, own) in component.iter().enumerate() {
            let next = number.len() as u32;
            let at = *number.entry(*own).or_insert(next);
            if at == next {
                first.push(state);
                counts.push(0);
            }
            counts[at as usize] += 1;
        }
        let block = |state: u32| number[&component[state as usize]];
        let mut builder = LtsBuilder::new(self.lts.labels().clone());
        builder.at_least(counts.len() as u32);
        let mut known = BTreeSet::new();
        for (source, step) in self.lts.all_transitions() {
            let (from, to) = (block(source.0), block(step.target.0));
            if from != to && known.insert((from, step.label, to)) {
                builder.add(StateId(from), step.label, StateId(to));
            }
        }
        let mut origins: BTreeMap<(u32, u32), BTreeSet<String>> = BTreeMap::new();
        for ((source, target), events) in &self.origins {
            origins.entry((block(*source), block(*target))).or_default().extend(events.iter().cloned());
        }
        let title = |(&state, &count): (&usize, &usize)| match count {
            1 => self.titles[state].clone(),
            _ => format!("{} that reach each other; one is\n{}", counted(count as u64, "state"), self.titles[state]),
        };
        Ok(Shown {
            lts: builder.build(StateId(block(self.lts.initial().0))),
            titles: first.iter().zip(&counts).map(title).collect(),
            origins,
            numbers: first.iter().map(|&state| self.numbers[state]).collect(),
            hidden: vec![0; counts.len()],
            counts,
            has_initial: true,
        })
    }

    /// What is written in a state: its number, and how many states it stands for.
    pub(super) fn text(&self, state: usize) -> String {
        match self.counts[state] {
            1 => self.numbers[state].to_string(),
            count => format!("{} ×{count}", self.numbers[state]),
        }
    }
}

/// Which states are within so many steps of one.
fn within(centre: u32, depth: usize, count: usize, next: impl Fn(u32, &mut dyn FnMut(u32))) -> Vec<bool> {
    let mut seen = vec![false; count];
    let mut queue = VecDeque::from([(centre, 0)]);
    seen[centre as usize] = true;
    while let Some((state, steps)) = queue.pop_front() {
        if steps == depth {
            continue;
        }
        next(state, &mut |target| {
            if !std::mem::replace(&mut seen[target as usize], true) {
                queue.push_back((target, steps + 1));
            }
        });
    }
    seen
}

/// What can be done about a picture that would be too large.
pub(super) fn too_large(file: &Path, process: Option<&str>, why: &str) -> Diagnostic {
    let file = file.display().to_string();
    let process = process.map(|process| format!(" '{process}'")).unwrap_or_default();
    let help = format!(
        "draw a summary (--compress branching or components), a part (--depth 3, or --around STATE --depth 2), or walk \
         through it (trefoil trace {file}{process}); --max draws more states"
    );
    Diagnostic::error(TOO_LARGE_TO_DRAW, why, Place::File(file)).help(help)
}

/// Refuses a state that is not there.
pub(super) fn no_state(file: &Path, state: u32, count: usize) -> Problem {
    let message = format!("there is no state {state}; the system has {}", counted(count as u64, "state"));
    Diagnostic::error(TOO_LARGE_TO_DRAW, message, Place::File(file.display().to_string())).into()
}

/// A system as data: what a picture of it shows.
#[derive(Clone, Debug, Serialize)]
pub struct SystemData {
    /// The labels of the edges.
    pub labels: Vec<String>,
    /// The states, each with its place in the picture.
    pub states: Vec<StateData>,
    /// The steps: the place of a state in `states`, of a label in `labels`, of a state in `states`.
    pub edges: Vec<[u32; 3]>,
    /// The place of the initial state in `states`, if it is among them.
    pub initial: Option<usize>,
}

/// A state with its place in the picture.
#[derive(Clone, Debug, Serialize)]
pub struct StateData {
    /// Its number.
    pub number: u32,
    /// What its components do, a line for each.
    pub words: String,
    /// What is special about it: `deadlock`, `diverges`, `terminated`, or nothing.
    pub mark: &'static str,
    /// How many states of the system it stands for.
    pub count: usize,
    /// The middle of its node, from the left and from above.
    pub x: f64,
    /// See `x`.
    pub y: f64,
}
