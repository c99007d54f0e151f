//! Jobs on permutation groups and on the symmetries of graphs.

use std::path::Path;

use serde::Serialize;
use trefoil_groups::{
    GraphError, GraphReading, PermutationGroup, Point, SparsePermutation, cells_from_text, permutation_from_text,
    read_graph,
};

use crate::{Job, Problem, Resources};

/// A group and, when asked for, the stabiliser of a set or a partition.
#[derive(Clone, Debug, Serialize)]
pub struct GroupReport {
    /// The generators as read.
    pub generators: Vec<String>,
    /// The group.
    #[serde(flatten)]
    pub group: GroupFigures,
    /// What maps each of some sets to itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stabiliser: Option<StabiliserReport>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// What is known about a group; points are counted from 1.
#[derive(Clone, Debug, Serialize)]
pub struct GroupFigures {
    /// The number of points.
    pub degree: usize,
    /// The number of elements, in decimal.
    pub order: String,
    /// How it is built, in words: `(S3 wr S2) × S3`.
    pub structure: String,
    /// The same, with the points that each factor acts on.
    pub structure_on_points: String,
    /// The orbits, those of one point included.
    pub orbits: Vec<Vec<Point>>,
}

/// The stabiliser of a set or a partition.
#[derive(Clone, Debug, Serialize)]
pub struct StabiliserReport {
    /// The sets, each of which is mapped to itself.
    pub cells: Vec<Vec<Point>>,
    /// Generators of the stabiliser.
    pub generators: Vec<String>,
    /// The stabiliser.
    #[serde(flatten)]
    pub group: GroupFigures,
}

/// What the group that some permutations generate looks like; the texts are as a user types them.
pub fn group(generators: &[String], stabilise: Option<&str>, job: &Job) -> Result<GroupReport, Problem> {
    let mut wrong = Vec::new();
    let mut read = Vec::new();
    for (index, text) in (1..).zip(generators) {
        match permutation_from_text(&format!("generator {index}"), text) {
            Ok(permutation) => read.push(permutation),
            Err(diagnostic) => wrong.push(*diagnostic),
        }
    }
    let cells = match stabilise.map(|text| cells_from_text("--stabilise", text)).transpose() {
        Ok(cells) => cells,
        Err(diagnostic) => {
            wrong.push(*diagnostic);
            None
        }
    };
    if !wrong.is_empty() {
        return Err(Problem::Input(wrong));
    }
    let control = &job.control;
    control.progress().begin("generating the group", 0);
    let group = PermutationGroup::generate(0, &read, control)?;
    let figures = figures(&group, job)?;
    let stabiliser = match cells {
        None => None,
        Some(cells) => {
            control.progress().begin("searching the stabiliser", 0);
            let stabiliser = group.partition_stabiliser(&cells, control)?;
            let shown = |cell: &Vec<Point>| cell.iter().map(|&point| point + 1).collect();
            Some(StabiliserReport {
                cells: cells.iter().map(shown).collect(),
                generators: stabiliser.generators().iter().map(ToString::to_string).collect(),
                group: self::figures(&stabiliser, job)?,
            })
        }
    };
    Ok(GroupReport {
        generators: read.iter().map(ToString::to_string).collect(),
        group: figures,
        stabiliser,
        resources: Resources::new(control),
    })
}

fn figures(group: &PermutationGroup, job: &Job) -> Result<GroupFigures, Problem> {
    job.control.progress().begin("recognising the structure", 0);
    let structure = group.structure(&job.control)?;
    let shown = |orbit: Vec<Point>| orbit.into_iter().map(|point| point + 1).collect();
    Ok(GroupFigures {
        degree: group.degree(),
        order: group.order().to_string(),
        structure: structure.name(),
        structure_on_points: structure.to_string(),
        orbits: group.orbits().into_iter().map(shown).collect(),
    })
}

/// The automorphisms of a graph.
#[derive(Clone, Debug, Serialize)]
pub struct AutomorphismsReport {
    /// The file.
    pub file: String,
    /// The number of vertices.
    pub vertices: usize,
    /// The number of edges.
    pub edges: usize,
    /// Have the edges a direction?
    pub directed: bool,
    /// Colours of vertices.
    pub vertex_colours: usize,
    /// Colours of edges.
    pub edge_colours: usize,
    /// Are there labels of vertices that were not taken for colours?
    pub labels_ignored: bool,
    /// The number of automorphisms, in decimal.
    pub order: String,
    /// How the group is built, in words.
    pub structure: String,
    /// Generators, as cycles of names.
    pub generators: Vec<String>,
    /// The orbits by names, those of one vertex included.
    pub orbits: Vec<Vec<String>>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// Reads a graph and finds its symmetries.
pub fn automorphisms(file: &Path, labels_are_colours: bool, job: &Job) -> Result<AutomorphismsReport, Problem> {
    let control = &job.control;
    control.progress().begin("reading the graph", 0);
    let named = read_graph(file, GraphReading { labels_are_colours }, control).map_err(|error| match error {
        GraphError::Diagnostic(diagnostic) => Problem::from(*diagnostic),
        GraphError::Stopped(stopped) => Problem::Stopped(stopped),
    })?;
    control.progress().begin("searching automorphisms", 0);
    let found = trefoil_groups::automorphisms(&named.graph, control)?;
    control.progress().begin("recognising the structure", 0);
    let parts = found.parts(control)?;
    let names: Vec<String> = named.names.iter().map(|name| quoted(name)).collect();
    let shown = |orbit: Vec<Point>| orbit.iter().map(|&vertex| named.names[vertex as usize].clone()).collect();
    let structure = in_words(parts.into_iter().flat_map(|part| {
        let size = part.vertices.len();
        part.names.unwrap_or_else(|| vec![format!("[a group on {size} vertices, too large to recognise]")])
    }));
    Ok(AutomorphismsReport {
        file: file.display().to_string(),
        vertices: named.graph.vertices(),
        edges: named.edges,
        directed: named.directed,
        vertex_colours: named.vertex_colours,
        edge_colours: named.edge_colours,
        labels_ignored: named.labels_ignored,
        order: found.order.to_string(),
        structure,
        generators: found.generators.iter().map(|generator| cycles(generator, &names)).collect(),
        orbits: found.orbits().into_iter().map(shown).collect(),
        resources: Resources::new(control),
    })
}

/// Factors with a sign between them; a factor that occurs often has its number behind it, `S2^50`.
fn in_words(factors: impl Iterator<Item = String>) -> String {
    const LISTED: usize = 8;
    let mut names: Vec<String> = factors.collect();
    if names.is_empty() {
        return "the trivial group".to_string();
    }
    if let [only] = &names[..] {
        // Brackets are for several.
        let inner = only.strip_prefix(['(', '[']).and_then(|rest| rest.strip_suffix([')', ']']));
        return inner.unwrap_or(only).to_string();
    }
    if names.len() > LISTED {
        names.sort();
        let runs = names.chunk_by(|a, b| a == b);
        names =
            runs.map(|run| if run.len() > 1 { format!("{}^{}", run[0], run.len()) } else { run[0].clone() }).collect();
    }
    names.join(" × ")
}

/// A permutation as cycles of names.
fn cycles(permutation: &SparsePermutation, names: &[String]) -> String {
    let cycle = |cycle: Vec<Point>| {
        let words: Vec<&str> = cycle.iter().map(|&point| names[point as usize].as_str()).collect();
        format!("({})", words.join(","))
    };
    permutation.cycles().into_iter().map(cycle).collect()
}

/// A name that cannot be mistaken inside a cycle.
pub fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_.-".contains(c);
    if !name.is_empty() && name.chars().all(plain) { name.to_string() } else { format!("{name:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_equal_factors_are_counted() {
        let names = |list: &[&str]| in_words(list.iter().map(ToString::to_string));
        assert_eq!(names(&[]), "the trivial group");
        assert_eq!(names(&["(S3 wr S2)"]), "S3 wr S2");
        assert_eq!(names(&["S5"]), "S5");
        assert_eq!(names(&["(S3 wr S2)", "S3"]), "(S3 wr S2) × S3");
        assert_eq!(names(&["S2", "S2", "S2", "S3", "S2", "S2", "S2", "S2", "S2"]), "S2^8 × S3");
    }
}
