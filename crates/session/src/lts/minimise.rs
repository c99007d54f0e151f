//! The smallest equivalent system.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use trefoil_lts::equivalence::Equivalence;
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
    /// The equivalence, by its name in [`super::EQUIVALENCES`].
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
    /// The equivalence.
    pub equivalence: &'static str,
    /// Its size as read.
    pub before: Size,
    /// Its size now.
    pub after: Size,
    /// How often the partition was refined.
    pub rounds: u64,
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
    let minimised = trefoil_lts::equivalence::minimise(&lts, equivalence_named(task.equivalence), &job.control)?;
    if let Some(output) = &task.output {
        write(&minimised.lts, output, task.format, job)?;
    }
    Ok(MinimiseReport {
        file: name(&task.file),
        equivalence: task.equivalence,
        before: Size::of(&lts),
        after: Size::of(&minimised.lts),
        rounds: minimised.rounds,
        output: task.output.as_deref().map(name),
        resources: Resources::new(&job.control),
    })
}

/// The equivalences, as help prints them.
pub const EQUIVALENCES: &[Choice] = &table();

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

pub(super) fn equivalence_named(name: &str) -> Equivalence {
    name.parse().expect("the name comes from the table")
}
