//! Which symmetries the assertions of a script have: the report of `trefoil symmetry`.
//!
//! What the text shows comes from [`trefoil_cspm::symmetry`]: constants that the script never singles out are
//! interchangeable, and each that it singles out is reported with reason and place. The group that a check would use is
//! proved on the compiled network, by the same steps as in a check. Its picture has the moved constants and components
//! as nodes, and an edge from each to its image under each generator.

use std::path::Path;

use serde::Serialize;
use trefoil_cspm::symmetry::{Break, TypeSymmetry};
use trefoil_source::{Report as DiagnosticReport, ReportedPlace, Sources, Span};

use trefoil_draw::{Direction, Edge, Graph, Node, Options, Shape};

use crate::check::{Assertion, Permuted, PermutedKind};
use crate::cspm::Warnings;
use crate::look::{draw_to, format_of};
use crate::{Job, Problem, Resources, Unfinished};

/// The symmetries of a script, assertion by assertion.
#[derive(Clone, Debug, Serialize)]
pub struct SymmetryReport {
    /// The script.
    pub file: String,
    /// Its assertions, in order.
    pub assertions: Vec<AssertionSymmetry>,
    /// Pictures of their groups that were written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<SymmetryPicture>,
    /// What is suspicious about the script.
    pub warnings: Warnings,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// A picture of a group.
#[derive(Clone, Debug, Serialize)]
pub struct SymmetryPicture {
    /// Its file.
    pub file: String,
    /// The assertions that have the group.
    pub assertions: Vec<usize>,
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
    /// The same, as the images of all points.
    #[serde(skip)]
    pub images: Vec<Vec<u32>>,
    /// How representatives would be chosen.
    pub strategy: &'static str,
    /// Why in this way.
    pub strategy_reason: String,
}

impl ProvedGroup {
    /// The moved points and where generators carry them. Points that no class of the group names are labels: they
    /// follow the components that perform them, and are left out where there are components.
    fn graph(&self, caption: String) -> Graph {
        let moved = |point: &usize| self.images.iter().any(|images| images[*point] as usize != *point);
        let class = |point: usize| self.permuted.iter().find(|class| class.names.contains(&self.points[point]));
        let all: Vec<usize> = (0..self.points.len()).filter(moved).collect();
        let named: Vec<usize> = all.iter().copied().filter(|&point| class(point).is_some()).collect();
        let shown = if named.is_empty() { all } else { named };
        let node = |&point: &usize| Node {
            text: self.points[point].clone(),
            title: class(point).and_then(|class| class.datatype.clone()).unwrap_or_default(),
            shape: match class(point).map(|class| class.kind) {
                Some(PermutedKind::Constants) => Shape::Box,
                _ => Shape::Round,
            },
            ..Node::default()
        };
        let mut edges = Vec::new();
        for (number, images) in self.images.iter().enumerate() {
            let label = if self.images.len() > 1 { format!("g{}", number + 1) } else { String::new() };
            for (source, &point) in shown.iter().enumerate() {
                let image = images[point] as usize;
                if let Some(target) = shown.iter().position(|&other| other == image && image != point) {
                    edges.push(Edge { source, target, label: label.clone(), quiet: false });
                }
            }
        }
        Graph { caption, nodes: shown.iter().map(node).collect(), edges }
    }
}

/// Draws the groups of assertions, each group once: the first into the file, further ones into files with the number of
/// their first assertion before the extension. Gives what was written.
pub fn draw_groups(
    file: &str,
    assertions: &[AssertionSymmetry],
    output: &Path,
    job: &Job,
) -> Result<Vec<SymmetryPicture>, Problem> {
    let format = format_of(Some(output), None)?;
    let mut different: Vec<(&ProvedGroup, Vec<usize>)> = Vec::new();
    for of in assertions {
        let Some(group) = &of.group else { continue };
        match different.iter_mut().find(|(known, _)| known.points == group.points && known.images == group.images) {
            Some((_, numbers)) => numbers.push(of.assertion.index),
            None => different.push((group, vec![of.assertion.index])),
        }
    }
    let mut written = Vec::new();
    for (group, numbers) in different {
        let number = numbers[0];
        let place = if written.is_empty() { output.to_path_buf() } else { crate::numbered(output, number) };
        let listed: Vec<String> = numbers.iter().map(usize::to_string).collect();
        let word = if numbers.len() > 1 { "assertions" } else { "assertion" };
        let caption = format!("{file}, {word} {}: {}, |G| = {}", listed.join(", "), group.structure, group.order);
        let options = Options { direction: Direction::Right, ..Options::default() };
        draw_to(&place, &group.graph(caption), format, options, &job.control)?;
        written.push(SymmetryPicture { file: place.display().to_string(), assertions: numbers });
    }
    Ok(written)
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
