//! Which datatypes the assertions of a script are symmetric in: what `trefoil symmetry` tells.
//!
//! What the text shows comes from [`trefoil_cspm::symmetry`]: constants that nobody singles out are interchangeable, and each that
//! somebody does is told with reason and place.

use std::path::Path;

use serde::Serialize;
use trefoil_cspm::symmetry::{Break, TypeSymmetry};
use trefoil_source::{Report as DiagnosticReport, ReportedPlace, Sources, Span};

use crate::check::{Assertion, Script};
use crate::cspm::Warnings;
use crate::{Job, Problem, Resources};

/// The symmetries of a script, assertion by assertion.
#[derive(Clone, Debug, Serialize)]
pub struct SymmetryReport {
    /// The script.
    pub file: String,
    /// Its assertions, in order.
    pub assertions: Vec<AssertionSymmetry>,
    /// What is suspicious about the script.
    pub warnings: Warnings,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// What is known about the symmetries of one assertion.
#[derive(Clone, Debug, Serialize)]
pub struct AssertionSymmetry {
    /// The assertion.
    #[serde(flatten)]
    pub assertion: Assertion,
    /// The datatypes with constants that it reaches, in the order of the script.
    pub types: Vec<DatatypeSymmetry>,
    /// What is wrong with what the assertion itself says about symmetry.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticReport>,
}

/// What the text shows about a datatype.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DatatypeSymmetry {
    /// Its name, with its module or instance.
    pub name: String,
    /// Its constants.
    pub constants: Vec<String>,
    /// Those of the largest class of interchangeable ones.
    pub symmetric: Vec<String>,
    /// All classes, the largest first. Constants that are singled out are in none.
    pub classes: Vec<Vec<String>>,
    /// Why constants are singled out, in the order of the script.
    pub reasons: Vec<SymmetryBreak>,
}

/// What singles constants out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SymmetryBreak {
    /// The constant; none when all of the datatype are concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant: Option<String>,
    /// In words.
    pub reason: String,
    /// Where it stands.
    pub place: ReportedPlace,
}

/// A datatype that was claimed to be symmetric and is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenSymmetry {
    /// Its name.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The constants that were claimed to be interchangeable.
    pub constants: Vec<String>,
    /// Why they are not.
    pub reasons: Vec<SymmetryBreak>,
}

/// What the text of a script shows about the symmetries of each of its assertions.
pub fn symmetry(file: &Path, language: Option<&'static str>, job: &Job) -> Result<SymmetryReport, Problem> {
    let mut script = Script::open(file, language, job)?;
    let mut assertions = Vec::new();
    let count = script.assertions().len();
    for index in 1..=count {
        job.control.check()?;
        assertions.push(script.symmetry(index, job));
    }
    let warnings = script.warnings().clone();
    let resources = Resources::new(&job.control);
    Ok(SymmetryReport { file: file.display().to_string(), assertions, warnings, resources })
}

/// A place for people and programs.
pub(crate) fn place(span: Span, sources: &Sources) -> ReportedPlace {
    let file = sources.file(span.file);
    let (line, column) = file.line_column(span.start);
    ReportedPlace { file: file.name().to_string(), line: Some(line), column: Some(column), text: String::new() }
}

/// Reasons as plain data.
pub(crate) fn reasons<'b>(
    breaks: impl IntoIterator<Item = &'b Break>,
    of: &TypeSymmetry,
    sources: &Sources,
) -> Vec<SymmetryBreak> {
    let told = |found: &Break| SymmetryBreak {
        constant: found.constant.map(|at| of.constants[at].name.clone()),
        reason: found.describe(of),
        place: place(found.span, sources),
    };
    breaks.into_iter().map(told).collect()
}

impl DatatypeSymmetry {
    /// From what was found, under the names that the datatype and its constants have in one instance.
    pub(crate) fn new(
        of: &TypeSymmetry,
        (name, constants): (String, Vec<String>),
        sources: &Sources,
    ) -> DatatypeSymmetry {
        let named =
            |class: &Vec<usize>| -> Vec<String> { class.iter().filter_map(|&at| constants.get(at)).cloned().collect() };
        let classes: Vec<Vec<String>> = of.classes.iter().map(named).collect();
        let symmetric = classes.first().cloned().unwrap_or_default();
        let reasons = reasons(&of.breaks, of, sources);
        DatatypeSymmetry { name, constants, symmetric, classes, reasons }
    }
}
