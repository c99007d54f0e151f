//! One façade over languages and engines.
//!
//! A face (the command line, an editor) passes file names and options and gets reports: plain data that it can print or
//! serialise. Nothing here knows about terminals, colours or exit codes; no face knows about engines.

pub mod automata;
pub mod check;
pub mod cspm;
pub mod formulas;
pub mod games;
pub mod groups;
pub mod look;
mod ltl;
pub mod lts;
pub mod mcrl2;
mod problem;
pub mod promela;
pub mod symmetry;
mod witness;

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use trefoil_control::{Control, Stopped, peak_memory};

pub use problem::{Problem, code_tables, numbered, save};
pub use trefoil_source::{
    Report as DiagnosticReport, ReportedPlace as DiagnosticPlace, Texts, cannot_read, shortened, unreadable,
};
pub use witness::{FailureReport, StepReport, WitnessReport};

/// What a job runs with.
#[derive(Clone)]
pub struct Job {
    /// Its budgets, its cancellation, its progress.
    pub control: Control,
    /// How many threads may work on it.
    pub threads: usize,
    /// How its files are read.
    pub texts: Texts,
}

impl Job {
    /// A job on files as they are on the disk.
    pub fn new(control: Control, threads: usize) -> Job {
        Job { control, threads, texts: Texts::default() }
    }
}

/// A name that the user can choose, from a table that help prints.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The name.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
}

/// The answer to a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not, and there is evidence.
    Fails,
    /// A budget ran out, or the user interrupted.
    Unknown,
    /// The input could not be used.
    Error,
}

/// The bytes of a file under the budgets of a job; why there are none, in words.
pub fn read_file(file: &Path, job: &Job) -> Result<Result<Vec<u8>, String>, Problem> {
    let read = job.texts.read(file, &job.control);
    job.control.check()?;
    Ok(read)
}

/// How far a job came before it was stopped.
#[derive(Clone, Debug, Serialize)]
pub struct Unfinished {
    /// Why it was stopped.
    pub reason: String,
    /// What it was doing.
    pub phase: String,
    /// Units of work done in that phase: bytes read, states prepared, classes found.
    pub done: u64,
    /// Units of work of that phase in all; 0 when that is not known.
    pub total: u64,
    /// States found in that phase.
    pub states: u64,
    /// Transitions found in that phase.
    pub transitions: u64,
    /// Vertices of a game found in that phase, which counts no states then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<u64>,
    /// Edges of a game found in that phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges: Option<u64>,
    /// Levels or rounds of that phase.
    pub depth: u64,
    /// What else that phase said about itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

impl Unfinished {
    /// How far the job of `control` is now.
    pub fn new(stopped: Stopped, control: &Control) -> Unfinished {
        let now = control.progress().snapshot();
        Unfinished {
            reason: stopped.to_string(),
            phase: if now.phase.is_empty() { "starting".to_string() } else { now.phase },
            done: now.done,
            total: now.total,
            states: if now.vertices { 0 } else { now.states },
            transitions: if now.vertices { 0 } else { now.transitions },
            vertices: now.vertices.then_some(now.states),
            edges: now.vertices.then_some(now.transitions),
            depth: now.depth,
            detail: now.detail,
        }
    }
}

/// What a job used.
#[derive(Clone, Debug, Serialize)]
pub struct Resources {
    /// Wall-clock time.
    pub seconds: f64,
    /// The largest resident size of the process, when the operating system reports it.
    pub peak_memory_bytes: Option<u64>,
}

impl Resources {
    /// What the job of `control` used until now.
    pub fn new(control: &Control) -> Resources {
        Resources { seconds: seconds(control.elapsed()), peak_memory_bytes: peak_memory() }
    }

    /// What was used since then by several jobs.
    pub fn since(started: Instant) -> Resources {
        Resources { seconds: seconds(started.elapsed()), peak_memory_bytes: peak_memory() }
    }
}

/// Seconds to a tenth of a millisecond.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10_000.0
}
