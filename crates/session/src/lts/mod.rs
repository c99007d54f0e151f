//! Jobs on labelled transition systems, in files or explored from models.

mod compare;
mod compose;
mod convert;
mod game;
mod info;
mod minimise;
mod models;
mod refine;

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use trefoil_lts::Lts;
use trefoil_lts::format::{Format, Input, Output, ReadError, ReadOptions, WriteError, read_lts, save_lts};
use trefoil_source::{Diagnostic, Place};
use trefoil_system::Labels;

pub use crate::Choice;
pub use compare::{COMPARING, CompareReport, Comparing, Difference, PlayStep, compare};
pub use compose::{ComposeReport, Composing, compose};
pub use convert::{ConvertReport, Shape, convert, random};
pub use info::{InfoReport, info};
pub use minimise::{COMPARISONS, EQUIVALENCES, MINIMISERS, MinimiseReport, Minimising, minimise};
pub use models::{Opening, View, generate_lts};
pub use refine::{
    ALGORITHMS, Comparison, MODELS, PREPROCESSING, RefineReport, Refining, SEARCHES, SimulationReport, Specification,
    StatisticsReport, refine, simulate,
};

use crate::problem::CANNOT_WRITE;
use crate::{Job, Problem};

/// The formats of files that can be read.
pub const READ_FORMATS: &[Choice] = FORMATS.split_at(4).0;

/// The formats of files that can be written.
pub const FORMATS: &[Choice] = &[
    Choice { name: "aut", about: "Aldebaran, as CADP and mCRL2 read and write it" },
    Choice { name: "fsm", about: "mCRL2's textual format; state parameters are ignored" },
    Choice { name: "json", about: "Trefoil's JSON: labels once, transitions as triples of numbers" },
    Choice { name: "lts", about: "mCRL2's binary format; state labels are ignored" },
    Choice { name: "dot", about: "Graphviz, for pictures" },
];

/// How files are read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Labels that mean an internal step, besides `tau`.
    pub tau: Vec<String>,
    /// The format by its name in [`FORMATS`]; found out when absent.
    pub format: Option<&'static str>,
}

/// How large a system is.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
pub struct Size {
    /// States.
    pub states: usize,
    /// Transitions.
    pub transitions: usize,
}

impl Size {
    pub(crate) fn of(lts: &Lts) -> Size {
        Size { states: lts.state_count(), transitions: lts.transition_count() }
    }
}

/// A file's name as the user gave it.
pub(crate) fn name(file: &Path) -> String {
    file.display().to_string()
}

pub(crate) fn read(file: &Path, reading: &Reading, labels: &Arc<Labels>, job: &Job) -> Result<Lts, Problem> {
    let options = ReadOptions { tau_names: reading.tau.clone(), format: reading.format.and_then(format_named) };
    read_lts(Input::from_argument(file), &options, labels, &job.control).map_err(|error| match error {
        ReadError::Diagnostic(diagnostic) => Problem::from(*diagnostic),
        ReadError::Stopped(stopped) => Problem::Stopped(stopped),
    })
}

pub(crate) fn write(lts: &Lts, file: &Path, format: Option<&'static str>, job: &Job) -> Result<(), Problem> {
    match save_lts(lts, &Output::from_argument(file), format.and_then(format_named), &job.control) {
        Ok(()) => Ok(()),
        Err(WriteError::Diagnostic(diagnostic)) => Err(Problem::from(*diagnostic)),
        Err(WriteError::Stopped(stopped)) => Err(Problem::Stopped(stopped)),
        // The reader of our output has seen enough.
        Err(WriteError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(WriteError::Io(error)) => {
            let message = format!("cannot write: {error}");
            Err(Problem::from(Diagnostic::error(CANNOT_WRITE, message, Place::File(name(file)))))
        }
    }
}

/// Refuses, before any work, an output file of unknown format.
pub(crate) fn check_output(file: Option<&Path>, format: Option<&'static str>) -> Result<(), Problem> {
    let Some(file) = file else { return Ok(()) };
    match format.and_then(format_named) {
        None => Output::from_argument(file).format().map(|_| ()).map_err(|diagnostic| Problem::from(*diagnostic)),
        Some(_) => Ok(()),
    }
}

fn format_named(name: &str) -> Option<Format> {
    name.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_formats_is_that_of_the_reader() {
        let table: Vec<(&str, &str)> = FORMATS.iter().map(|choice| (choice.name, choice.about)).collect();
        let reader: Vec<(&str, &str)> = Format::ALL.iter().map(|format| (format.name(), format.about())).collect();
        assert_eq!(table, reader);
    }
}
