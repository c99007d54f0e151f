//! What a system looks like.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use trefoil_system::{Labels, StateId};

use super::{Reading, name, read};
use crate::{Job, Problem, Resources};

/// Figures about a system. Deadlocks, divergence and connection are about its reachable part.
#[derive(Clone, Debug, Serialize)]
pub struct InfoReport {
    /// The file.
    pub file: String,
    /// States, reachable or not.
    pub states: usize,
    /// States that can be reached from the initial one.
    pub reachable_states: usize,
    /// The initial state.
    pub initial: u32,
    /// Transitions.
    pub transitions: usize,
    /// Transitions labelled `τ`.
    pub tau_transitions: usize,
    /// Visible labels that occur.
    pub labels: usize,
    /// The least, average and largest number of transitions of a state.
    pub branching: (usize, f64, usize),
    /// Has every state at most one target for each label?
    pub deterministic: bool,
    /// Can every reachable state be reached from every other?
    pub strongly_connected: bool,
    /// States without transitions.
    pub deadlocks: usize,
    /// The first of them.
    pub first_deadlock: Option<u32>,
    /// States from which infinitely many `τ` in a row are possible.
    pub diverging_states: usize,
    /// The first of them.
    pub first_diverging: Option<u32>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// Reads a system and looks at it.
pub fn info(file: &Path, reading: &Reading, job: &Job) -> Result<InfoReport, Problem> {
    let lts = read(file, reading, &Arc::new(Labels::new()), job)?;
    let info = trefoil_lts::info::info(&lts, &job.control)?;
    let number = |state: Option<StateId>| state.map(|state| state.0);
    Ok(InfoReport {
        file: name(file),
        states: info.states,
        reachable_states: info.reachable_states,
        initial: lts.initial().0,
        transitions: info.transitions,
        tau_transitions: info.tau_transitions,
        labels: info.visible_labels,
        branching: (info.branching.0, (info.average_branching() * 1000.0).round() / 1000.0, info.branching.1),
        deterministic: info.is_deterministic(),
        strongly_connected: info.is_strongly_connected(),
        deadlocks: info.deadlocks,
        first_deadlock: number(info.first_deadlock),
        diverging_states: info.diverging_states,
        first_diverging: number(info.first_diverging),
        resources: Resources::new(&job.control),
    })
}
