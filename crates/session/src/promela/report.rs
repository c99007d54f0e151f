//! The symmetries of a model: the report of `trefoil symmetry` for Promela.

use std::path::Path;

use serde::Serialize;
use trefoil_check::group;
use trefoil_draw::{Direction, Edge, Graph, Node, Options, Shape};
use trefoil_promela::symmetry::{Diagram, NodeKind, symmetries};
use trefoil_system::System;

use super::Script;
use super::symmetry::permuted;
use crate::check::Permuted;
use crate::cspm::Warnings;
use crate::look::{draw_to, format_of};
use crate::problem::Origin;
use crate::symmetry::{SymmetryBreak, place};
use crate::{Job, Problem, Resources};

/// The symmetries of a model.
#[derive(Clone, Debug, Serialize)]
pub struct ModelSymmetry {
    /// The model.
    pub file: String,
    /// The number of elements of the group, as text since it may be large.
    pub order: String,
    /// How the group is built.
    pub structure: String,
    /// Elements that generate it, in cycles of names.
    pub generators: Vec<String>,
    /// The permuted processes.
    pub permuted: Vec<Permuted>,
    /// Do processes that have ended stay, when the group is used?
    pub keeps_processes: bool,
    /// Why there are no more.
    pub reasons: Vec<SymmetryBreak>,
    /// The static channel diagram.
    pub diagram: ChannelDiagram,
    /// Where its picture was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The warnings about the model.
    pub warnings: Warnings,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// Which process uses which channel and variable.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelDiagram {
    /// Processes, channels and variables.
    pub nodes: Vec<ChannelDiagramNode>,
    /// From and to, by their places among the nodes: a process writes what its arcs lead to.
    pub arcs: Vec<(usize, usize)>,
}

/// A node of the diagram.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelDiagramNode {
    /// Its name.
    pub name: String,
    /// `process`, `channel` or `variable`.
    pub kind: &'static str,
    /// Its type.
    pub sort: String,
}

/// Finds the symmetries of a model, and draws its static channel diagram where that is wanted.
pub fn model_symmetry(file: &Path, output: Option<&Path>, job: &Job) -> Result<ModelSymmetry, Problem> {
    let script = Script::open(file, job)?;
    job.control.progress().begin("proving symmetries", 0);
    let origin = || Origin { file: script.file.clone(), sources: script.sources.clone() };
    let found = symmetries(script.model.program(), &job.control);
    let found = found.map_err(|cut| Problem::cut(cut, &job.control, &origin()))?;
    let (mut order, mut structure, mut moved) = ("1".to_string(), "trivial".to_string(), Vec::new());
    if let Some(action) = found.symmetric.as_ref().and_then(|symmetric| symmetric.action())
        && let Ok(group) = group(action, &job.control)?
    {
        (order, structure, moved) = (group.order, group.structure, permuted(group.orbits));
    }
    let generators = found.generators.iter().map(|cycles| {
        let cycles: Vec<String> = cycles.iter().map(|cycle| format!("({})", cycle.join(" "))).collect();
        cycles.concat()
    });
    let reasons = found.reasons.iter().map(|reason| SymmetryBreak {
        constant: None,
        reason: reason.text.clone(),
        place: match reason.span {
            Some(span) => place(span, &script.sources),
            None => trefoil_source::ReportedPlace {
                file: script.file.clone(),
                line: None,
                column: None,
                text: String::new(),
            },
        },
    });
    let mut written = None;
    if let Some(output) = output {
        write(&found.diagram, output, &script.file, job)?;
        written = Some(output.display().to_string());
    }
    let kind = |kind: NodeKind| match kind {
        NodeKind::Process => "process",
        NodeKind::Channel => "channel",
        NodeKind::Variable => "variable",
    };
    let nodes = found.diagram.nodes.iter().map(|node| ChannelDiagramNode {
        name: node.name.clone(),
        kind: kind(node.kind),
        sort: node.sort.clone(),
    });
    Ok(ModelSymmetry {
        file: script.file.clone(),
        order,
        structure,
        generators: generators.collect(),
        permuted: moved,
        keeps_processes: found.symmetric.as_ref().is_some_and(|symmetric| symmetric.model().keeps_processes()),
        reasons: reasons.collect(),
        diagram: ChannelDiagram { nodes: nodes.collect(), arcs: found.diagram.arcs.clone() },
        output: written,
        warnings: script.warnings.clone(),
        resources: Resources::new(&job.control),
    })
}

/// Writes the diagram as a picture.
fn write(diagram: &Diagram, output: &Path, file: &str, job: &Job) -> Result<(), Problem> {
    let format = format_of(Some(output), None)?;
    let node = |node: &trefoil_promela::symmetry::DiagramNode| Node {
        text: match node.kind {
            NodeKind::Process => node.name.clone(),
            NodeKind::Channel => format!("{} {}", node.name, node.sort),
            NodeKind::Variable => format!("{} {}", node.sort, node.name),
        },
        title: node.sort.clone(),
        shape: match node.kind {
            NodeKind::Process => Shape::Round,
            NodeKind::Channel => Shape::Queue,
            NodeKind::Variable => Shape::Box,
        },
        ..Node::default()
    };
    let edge = |&(source, target): &(usize, usize)| Edge { source, target, label: String::new(), quiet: false };
    let graph = Graph {
        caption: format!("the static channel diagram of {file}"),
        nodes: diagram.nodes.iter().map(node).collect(),
        edges: diagram.arcs.iter().map(edge).collect(),
    };
    let options = Options { direction: Direction::Right, ..Options::default() };
    draw_to(output, &graph, format, options, &job.control)
}
