//! The smallest equivalent system, or one that a compression makes.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use trefoil_lts::compress::{Compression, compress};
use trefoil_lts::equivalence::{Equivalence, deterministic, tau_star};
use trefoil_system::Labels;

use super::{Reading, Size, check_output, name, read, write};
use crate::{Choice, Job, Problem, Resources};

/// What to minimise.
#[derive(Clone, Debug)]
pub struct Minimising {
    /// The file with the system.
    pub file: PathBuf,
    /// How it is read.
    pub reading: Reading,
    /// The equivalence or compression, by its name in [`MINIMISERS`].
    pub equivalence: &'static str,
    /// Where the result goes, if anywhere.
    pub output: Option<PathBuf>,
    /// The format of the output by its name in [`super::FORMATS`].
    pub format: Option<&'static str>,
}

/// A system was minimised.
#[derive(Clone, Debug, Serialize)]
pub struct MinimiseReport {
    /// The file with the system.
    pub file: String,
    /// The equivalence or compression.
    pub equivalence: &'static str,
    /// Its size as read.
    pub before: Size,
    /// Its size now.
    pub after: Size,
    /// How often the partition was refined; none for a compression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    /// Where the result was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// Minimises a system.
pub fn minimise(task: &Minimising, job: &Job) -> Result<MinimiseReport, Problem> {
    check_output(task.output.as_deref(), task.format)?;
    let lts = read(&task.file, &task.reading, &Arc::new(Labels::new()), job)?;
    let (small, rounds) = match change_named(task.equivalence) {
        Some(Change::Compression(compression)) => (compress(&lts, compression, &job.control)?, None),
        Some(Change::TauStar) => (tau_star(&lts, &job.control)?, None),
        Some(Change::Determinisation) => (deterministic(&lts, &job.control)?, None),
        None => {
            let equivalence = equivalence_named(task.equivalence);
            let minimised = trefoil_lts::equivalence::minimise(&lts, equivalence, &job.control)?;
            (minimised.lts, Some(minimised.rounds))
        }
    };
    if let Some(output) = &task.output {
        write(&small, output, task.format, job)?;
    }
    Ok(MinimiseReport {
        file: name(&task.file),
        equivalence: task.equivalence,
        before: Size::of(&lts),
        after: Size::of(&small),
        rounds,
        output: task.output.as_deref().map(name),
        resources: Resources::new(&job.control),
    })
}

/// The equivalences, as help prints them.
pub const EQUIVALENCES: &[Choice] = &table();

/// What is done to a system that is no equivalence in [`EQUIVALENCES`].
#[derive(Clone, Copy)]
enum Change {
    Compression(Compression),
    TauStar,
    Determinisation,
}

/// The changes by their names on the command line.
const CHANGES: [(Choice, Change); 6] = [
    (
        Choice { name: "tau-loop-factor", about: "merge the states of each τ-cycle into one state that diverges" },
        Change::Compression(Compression::TauLoopFactor),
    ),
    (
        Choice { name: "diamond", about: "eliminate τ; keep traces, failures and divergences" },
        Change::Compression(Compression::Diamond),
    ),
    (
        Choice { name: "normal", about: "the normal form where it is smaller; keep traces, failures and divergences" },
        Change::Compression(Compression::Normal),
    ),
    (
        Choice { name: "deter", about: "a deterministic system that refines the given one" },
        Change::Compression(Compression::Deter),
    ),
    (Choice { name: "tau-star", about: "replace each τ*.a by a; keep visible traces" }, Change::TauStar),
    (
        Choice { name: "determinisation", about: "the subset construction; τ counts as a label" },
        Change::Determinisation,
    ),
];

/// Coupled simulation, which only compares.
pub(super) const COUPLED: Choice =
    Choice { name: "coupled-sim", about: "coupled simulation in both directions: τ may make choices gradually" };

/// What two systems can be compared by.
pub const COMPARISONS: &[Choice] = &compared();

const fn compared() -> [Choice; EQUIVALENCES.len() + 1] {
    let mut choices = [COUPLED; EQUIVALENCES.len() + 1];
    let mut index = 0;
    while index < EQUIVALENCES.len() {
        choices[index] = EQUIVALENCES[index];
        index += 1;
    }
    choices
}

/// What a system can be minimised by: the equivalences, and compressions.
pub const MINIMISERS: &[Choice] = &both();

const fn table() -> [Choice; trefoil_lts::equivalence::EQUIVALENCES.len()] {
    let source = trefoil_lts::equivalence::EQUIVALENCES;
    let mut choices = [Choice { name: "", about: "" }; trefoil_lts::equivalence::EQUIVALENCES.len()];
    let mut index = 0;
    while index < source.len() {
        choices[index] = Choice { name: source[index].name, about: source[index].about };
        index += 1;
    }
    choices
}

const fn both() -> [Choice; EQUIVALENCES.len() + CHANGES.len()] {
    let mut choices = [Choice { name: "", about: "" }; EQUIVALENCES.len() + CHANGES.len()];
    let mut index = 0;
    while index < choices.len() {
        choices[index] = match index.checked_sub(EQUIVALENCES.len()) {
            None => EQUIVALENCES[index],
            Some(at) => CHANGES[at].0,
        };
        index += 1;
    }
    choices
}

fn change_named(name: &str) -> Option<Change> {
    CHANGES.iter().find(|(choice, _)| choice.name == name).map(|&(_, change)| change)
}

pub(super) fn equivalence_named(name: &str) -> Equivalence {
    name.parse().expect("the name comes from the table")
}
