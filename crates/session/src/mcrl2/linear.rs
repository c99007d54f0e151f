//! The linear process of a specification.

use std::path::Path;

use serde::Serialize;
pub use trefoil_mcrl2::linear::Analyses;
use trefoil_mcrl2::linear::{Refusal, linearise, print};

use super::Opened;
use crate::cspm::Warnings;
use crate::{Job, Problem, Resources};

/// A linear process.
#[derive(Clone, Debug, Serialize)]
pub struct LinearReport {
    /// The file.
    pub file: String,
    /// The linear process as a specification of its own.
    pub text: String,
    /// Its sequential components, in the order of the text.
    pub components: Vec<String>,
    /// How many parameters it has.
    pub parameters: usize,
    /// How many summands it has.
    pub summands: usize,
    /// Which analyses ran and what each gained.
    pub analyses: Vec<String>,
    /// What is suspicious about the specification.
    pub warnings: Warnings,
    /// What the job took.
    pub resources: Resources,
}

/// Makes the linear process of a specification. Its text begins with what the analyses gained if `why` says so.
pub fn linear(file: &Path, analyses: Analyses, why: bool, job: &Job) -> Result<LinearReport, Problem> {
    let mut opened = Opened::read(file, &job.texts, &job.control)?;
    let typed = opened.typed_processes(&job.control)?;
    if let Err(missing) = typed.initial(&opened.file) {
        return Err(Problem::Script(vec![missing], opened.sources));
    }
    job.control.progress().begin("linearising", 0);
    let linear = match linearise(&typed, analyses, &job.control) {
        Ok(linear) => linear,
        Err(Refusal::Wrong(diagnostics)) => return Err(Problem::Script(diagnostics, opened.sources)),
        Err(Refusal::Stopped(stopped)) => return Err(stopped.into()),
    };
    let mut text = String::new();
    if why {
        text.extend(linear.report.iter().map(|line| format!("% {line}\n")));
    }
    text.push_str(&print(&linear, &opened.specification, &opened.text));
    let warnings = opened.warnings();
    Ok(LinearReport {
        file: opened.file,
        text,
        components: linear.components.iter().map(|component| component.name.clone()).collect(),
        parameters: linear.parameters.len(),
        summands: linear.summands.len(),
        analyses: linear.report,
        warnings,
        resources: Resources::new(&job.control),
    })
}
