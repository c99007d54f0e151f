//! Which symmetries the assertions of a script have: the report of `trefoil symmetry`.
//!
//! What the text shows comes from [`trefoil_cspm::symmetry`]: constants that the script never singles out are
//! interchangeable, and each that it singles out is reported with reason and place. The group that a check would use is
//! proved on the compiled network, by the same steps as in a check.

use serde::Serialize;
use trefoil_cspm::symmetry::{Break, TypeSymmetry};
use trefoil_source::{Report as DiagnosticReport, ReportedPlace, Sources, Span};

use crate::check::{Assertion, Permuted};
use crate::cspm::Warnings;
use crate::{Resources, Unfinished};

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
    /// The group that was proved; absent when there is none but the trivial one, or when nothing was proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<ProvedGroup>,
    /// Why the group is not larger, as far as that is known from what was compiled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// How far it came, when it was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// What is wrong with what the assertion itself says about symmetry, or with what it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticReport>,
}

/// A group of symmetries that was proved.
#[derive(Clone, Debug, Serialize)]
pub struct ProvedGroup {
    /// The number of its elements, as text since it may be large.
    pub order: String,
    /// How it is built.
    pub structure: String,
    /// What it permutes, class by class.
    pub permuted: Vec<Permuted>,
    /// The points on which it acts: constants, components and labels.
    pub points: Vec<String>,
    /// Generators, as cycles of points.
    pub generators: Vec<String>,
    /// How representatives would be chosen.
    pub strategy: &'static str,
    /// Why in this way.
    pub strategy_reason: String,
}

/// What is wanted to be known about symmetries.
#[derive(Clone, Copy, Debug)]
pub struct SymmetryOptions {
    /// Whether only the text is looked at, and nothing is compiled and proved.
    pub text_only: bool,
    /// Whether sequential components are compressed by strong bisimulation, as in a check.
    pub compress_leaves: bool,
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
