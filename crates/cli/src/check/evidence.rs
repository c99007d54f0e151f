//! Evidence in files: trails that Spin replays, message-sequence charts, systems and pictures of what decides formulas.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use trefoil_control::Control;
use trefoil_session::check::{AssertionReport, RunReport};
use trefoil_session::look::save_chart;
use trefoil_session::{Problem, Verdict};

use super::results::found;
use crate::run::Jobs;

/// Where evidence is written.
pub(crate) struct Files {
    /// Trails.
    pub(crate) trail: Option<PathBuf>,
    /// Charts.
    pub(crate) chart: Option<PathBuf>,
    /// What decides formulas.
    pub(crate) evidence: Option<PathBuf>,
}

impl Files {
    /// Is there anything to write?
    pub(crate) fn wanted(&self) -> bool {
        self.trail.is_some() || self.chart.is_some() || self.evidence.is_some()
    }

    /// Writes the evidence of a run; gives a line about each file, or why one could not be written.
    pub(crate) fn write(&self, report: &RunReport, jobs: &Jobs) -> Result<Vec<String>, String> {
        let mut said = Vec::new();
        let mut first = true;
        for answer in &report.results {
            let Some(evidence) = &answer.witness else { continue };
            let number = answer.assertion.index;
            if let (Some(system), Some(file)) = (&evidence.system, &self.evidence) {
                let file = named(file, answer, first);
                let caption = format!("{}: {}", report.file_name, found(evidence));
                let job = jobs.start();
                let saved = system.save(&caption, &file, &job);
                jobs.answered();
                saved.map_err(|problem| said_of(&file, &problem))?;
                let shows = if answer.verdict == Verdict::Holds { "witness" } else { "counterexample" };
                said.push(format!("wrote the {shows} of formula {number} to {} ({})", file.display(), system.size()));
                first = false;
            }
            if let (Some(story), Some(trail)) = (&evidence.story, &self.trail) {
                let file = named(trail, answer, first);
                jobs.during(|control| save(&file, &story.trail, control))?;
                said.push(format!("wrote the trail of assertion {number} to {}", file.display()));
            }
            let caption = || format!("{}: {}", report.file_name, found(evidence));
            if let Some(chart) = &self.chart
                && let Some(drawn) = evidence.chart(&caption())
            {
                let file = named(chart, answer, first);
                let saved = jobs.during(|control| save_chart(&file, &drawn, control));
                saved.map_err(|problem| said_of(&file, &problem))?;
                said.push(format!("wrote the chart of assertion {number} to {}", file.display()));
                first = false;
            }
            first &= evidence.story.is_none();
        }
        if self.wanted() && first && !report.results.is_empty() {
            said.push("no counterexample, so no file was written".to_string());
        }
        Ok(said)
    }
}

/// Refuses a name that promises another kind of file than a chart is.
pub(crate) fn not_a_chart(file: &Path) -> Option<String> {
    let known = |extension: &&OsStr| ["svg", "png"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    let other = file.extension().filter(|extension| !known(extension))?;
    Some(format!("a chart is not written as .{}; name the file .svg or .png", other.display()))
}

pub(crate) fn save(file: &Path, text: &str, control: &Control) -> Result<(), String> {
    trefoil_session::save(file, text, control).map_err(|problem| said_of(file, &problem))
}

pub(crate) fn said_of(file: &Path, problem: &Problem) -> String {
    let said: Vec<String> = match problem {
        Problem::Stopped(stopped) => vec![format!("cannot write: {stopped}")],
        problem => problem.reports().into_iter().map(|report| report.message).collect(),
    };
    format!("{}: {}", file.display(), said.join("; "))
}

/// The first file has the name that the user gave; others have their number before the extension.
fn named(file: &Path, answer: &AssertionReport, first: bool) -> PathBuf {
    if first { file.to_path_buf() } else { trefoil_session::numbered(file, answer.assertion.index) }
}
