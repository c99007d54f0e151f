//! Jobs on permutation groups and on the symmetries of graphs.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use trefoil_control::{Control, Stopped};
use trefoil_groups::{
    GraphError, GraphReading, Orbits, Part, Point, Recognised, SparsePermutation, UBig, cells_from_text,
    generated_parts, permutation_from_text, permutations_from_file, read_graph,
};

use crate::{Job, Problem, Resources, Verdict};

/// The processor time that words for a structure are worth: its order and its generators are known without.
const EFFORT: Duration = Duration::from_millis(1500);

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
    /// Why the answer is incomplete, when a budget ran out or the user interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
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
    /// How it is built.
    #[serde(flatten)]
    pub structure: StructureWords,
    /// The same, with the points that each factor acts on.
    pub structure_on_points: String,
    /// The orbits, those of one point included.
    pub orbits: Vec<Vec<Point>>,
}

/// How a group is built, in words.
#[derive(Clone, Debug, Serialize)]
pub struct StructureWords {
    /// `(S3 wr S2) × S3`.
    pub structure: String,
    /// Why only the order or the number of points of some factors is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structure_unknown: Option<String>,
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

impl GroupReport {
    /// Is everything there?
    pub fn verdict(&self) -> Verdict {
        if self.stopped.is_some() { Verdict::Unknown } else { Verdict::Holds }
    }
}

/// Does an argument name a file of generators rather than being one?
pub fn is_file_of_generators(argument: &str) -> bool {
    argument == "-" || (!argument.trim_start().starts_with('(') && Path::new(argument).exists())
}

/// What the group that some permutations generate looks like. The texts are as a user types them: permutations, or
/// names of files with one on each line.
pub fn group(arguments: &[String], stabilise: Option<&str>, job: &Job) -> Result<GroupReport, Problem> {
    let control = &job.control;
    control.progress().begin("reading the generators", 0);
    let mut wrong = Vec::new();
    let mut read: Vec<(SparsePermutation, usize)> = Vec::new();
    let mut number = 0;
    for text in arguments {
        if is_file_of_generators(text) {
            match permutations_from_file(Path::new(text), control) {
                Ok(permutations) => read.extend(permutations),
                Err(GraphError::Diagnostic(diagnostic)) => wrong.push(*diagnostic),
                Err(GraphError::Stopped(stopped)) => return Err(Problem::Stopped(stopped)),
            }
            continue;
        }
        number += 1;
        match permutation_from_text(&format!("generator {number}"), text) {
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
    let degree = read.iter().map(|&(_, degree)| degree).max().unwrap_or(0);
    let generators: Vec<SparsePermutation> = read.into_iter().map(|(generator, _)| generator).collect();
    control.progress().begin("generating the group", 0);
    let parts = generated_parts(degree, &generators, control)?;
    // Numbers first, words last: these may end early.
    let mut stopped = None;
    let mut found = None;
    if let Some(cells) = cells {
        control.progress().begin("searching the stabiliser", 0);
        let search = parts.iter().map(|part| part.partition_stabiliser(&cells, control));
        match search.collect::<Result<Vec<Part>, Stopped>>() {
            Ok(parts) => found = Some((cells, parts)),
            Err(reason) => stopped = Some(reason.to_string()),
        }
    }
    control.progress().begin("recognising the structure", 0);
    let figures = figures(degree, &parts, &generators, control);
    let stabiliser = found.map(|(cells, parts)| {
        let generators: Vec<SparsePermutation> = parts.iter().flat_map(Part::generators).collect();
        let shown = |cell: Vec<Point>| cell.iter().map(|&point| point + 1).collect();
        StabiliserReport {
            cells: cells.into_iter().map(shown).collect(),
            generators: generators.iter().map(ToString::to_string).collect(),
            group: self::figures(degree, &parts, &generators, control),
        }
    });
    Ok(GroupReport {
        generators: generators.iter().map(ToString::to_string).collect(),
        group: figures,
        stabiliser,
        stopped: stopped.or_else(|| control.check().err().map(|reason| reason.to_string())),
        resources: Resources::new(control),
    })
}

fn figures(degree: usize, parts: &[Part], generators: &[SparsePermutation], control: &Control) -> GroupFigures {
    let mut orbits = Orbits::trivial(degree);
    for &(from, to) in generators.iter().flat_map(SparsePermutation::moves) {
        orbits.merge(from, to);
    }
    let shown = |orbit: Vec<Point>| orbit.into_iter().map(|point| point + 1).collect();
    let words = Words::find(parts, "points", control);
    GroupFigures {
        degree,
        order: order_of(parts).to_string(),
        structure: StructureWords { structure: in_words(words.names), structure_unknown: words.unknown },
        structure_on_points: match words.on_points.is_empty() {
            true => "the trivial group".to_string(),
            false => words.on_points.join(" × "),
        },
        orbits: orbits.cells().into_iter().map(shown).collect(),
    }
}

fn order_of(parts: &[Part]) -> UBig {
    let mut factors: Vec<UBig> = parts.iter().map(|part| part.order.clone()).collect();
    // By halves, so that the factors of each multiplication are of equal size.
    while factors.len() > 1 {
        factors =
            factors.chunks(2).map(|pair| pair.iter().fold(UBig::ONE, |product, factor| product * factor)).collect();
    }
    factors.pop().unwrap_or(UBig::ONE)
}

/// What the parts of a group are called.
struct Words {
    /// The factors of all parts.
    names: Vec<String>,
    /// The same with points, one text for each part that is not trivial.
    on_points: Vec<String>,
    /// Why some have no name.
    unknown: Option<String>,
}

impl Words {
    /// Recognises the parts, small ones first and equal ones once, as far as a modest effort goes.
    fn find(parts: &[Part], points: &str, control: &Control) -> Words {
        const DIGITS: usize = 40;
        let effort = control.within(EFFORT);
        let mut by_size: Vec<usize> = (0..parts.len()).collect();
        by_size.sort_by_key(|&index| parts[index].points.len());
        let mut recognised: Vec<Option<Recognised>> = vec![None; parts.len()];
        let mut unknown = None;
        let mut last: Option<usize> = None;
        for index in by_size {
            if let Some(last) = last.filter(|&last| parts[last].is_like(&parts[index])) {
                recognised[index] = recognised[last].clone();
                continue;
            }
            match parts[index].recognise(&effort) {
                Ok(found) => {
                    if found.is_none() {
                        unknown.get_or_insert_with(|| "too large to recognise".to_string());
                    }
                    recognised[index] = found;
                }
                Err(_) => {
                    unknown = Some(match control.check() {
                        Ok(()) => format!("not recognised within {} s of processor time", EFFORT.as_secs_f64()),
                        Err(reason) => reason.to_string(),
                    });
                }
            }
            last = Some(index);
        }
        let (mut names, mut on_points) = (Vec::new(), Vec::new());
        for (part, recognised) in parts.iter().zip(recognised) {
            match recognised {
                Some(recognised) if recognised.factor_names().is_empty() => {}
                Some(recognised) => {
                    names.extend(recognised.factor_names());
                    on_points.push(recognised.on_points(&part.points));
                }
                None => {
                    let order = part.order.to_string();
                    let size = part.points.len();
                    let what =
                        if order.len() <= DIGITS { format!("of order {order}") } else { format!("on {size} {points}") };
                    names.push(format!("[a group {what}, too large to recognise]"));
                    on_points.push(format!("a group {what}, too large to recognise"));
                }
            }
        }
        Words { names, on_points, unknown }
    }
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
    /// How the group is built.
    #[serde(flatten)]
    pub structure: StructureWords,
    /// Generators, as cycles of names.
    pub generators: Vec<String>,
    /// The orbits by names, those of one vertex included.
    pub orbits: Vec<Vec<String>>,
    /// Why the answer is incomplete, when a budget ran out or the user interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

impl AutomorphismsReport {
    /// Is everything there?
    pub fn verdict(&self) -> Verdict {
        if self.stopped.is_some() { Verdict::Unknown } else { Verdict::Holds }
    }
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
    let structure = match found.parts(&named.graph, control) {
        Ok(parts) => {
            let words = Words::find(&parts, "vertices", control);
            StructureWords { structure: in_words(words.names), structure_unknown: words.unknown }
        }
        Err(reason) => StructureWords {
            structure: "a group too large to recognise".to_string(),
            structure_unknown: Some(reason.to_string()),
        },
    };
    let names: Vec<String> = named.names.iter().map(|name| quoted(name)).collect();
    let shown = |orbit: Vec<Point>| orbit.iter().map(|&vertex| named.names[vertex as usize].clone()).collect();
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
        stopped: control.check().err().map(|reason| reason.to_string()),
        resources: Resources::new(control),
    })
}

/// More factors than this are counted rather than listed.
const LISTED: usize = 8;

/// Factors with a sign between them; where there are many, a factor that occurs often has its number behind it,
/// `S2^50`, and smaller ones come first.
fn in_words(mut names: Vec<String>) -> String {
    if names.is_empty() {
        return "the trivial group".to_string();
    }
    if let [only] = &names[..] {
        // Brackets are for several.
        let inner = only.strip_prefix(['(', '[']).and_then(|rest| rest.strip_suffix([')', ']']));
        return inner.unwrap_or(only).to_string();
    }
    if names.len() > LISTED {
        names.sort_by_cached_key(|name| by_numbers(name));
        let runs = names.chunk_by(|a, b| a == b);
        names =
            runs.map(|run| if run.len() > 1 { format!("{}^{}", run[0], run.len()) } else { run[0].clone() }).collect();
    }
    names.join(" × ")
}

/// A key by which S2 comes before S10: numbers count as such, shorter ones first.
fn by_numbers(name: &str) -> Vec<(usize, String)> {
    let runs = name.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    runs.map(|run| {
        let length = if run[0].is_ascii_digit() { run.len() } else { 0 };
        (length, String::from_utf8_lossy(run).into_owned())
    })
    .collect()
}

/// A permutation as cycles of names.
fn cycles(permutation: &SparsePermutation, names: &[String]) -> String {
    let cycle = |cycle: Vec<Point>| {
        let words: Vec<&str> = cycle.iter().map(|&point| names[point as usize].as_str()).collect();
        format!("({})", words.join(","))
    };
    permutation.cycles().into_iter().map(cycle).collect()
}

/// The same of a permutation that is given by the images of all points.
pub(crate) fn cycles_of(images: &[Point], names: &[String]) -> String {
    let mut met = vec![false; images.len()];
    let mut text = String::new();
    for start in 0..images.len() {
        let mut words: Vec<&str> = Vec::new();
        let mut at = start;
        while !std::mem::replace(&mut met[at], true) {
            words.push(&names[at]);
            at = images[at] as usize;
        }
        if words.len() > 1 {
            text.push_str(&format!("({})", words.join(",")));
        }
    }
    text
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
        let names = |list: &[&str]| in_words(list.iter().map(ToString::to_string).collect());
        assert_eq!(names(&[]), "the trivial group");
        assert_eq!(names(&["(S3 wr S2)"]), "S3 wr S2");
        assert_eq!(names(&["S5"]), "S5");
        assert_eq!(names(&["(S3 wr S2)", "S3"]), "(S3 wr S2) × S3");
        assert_eq!(names(&["S2", "S2", "S2", "S3", "S2", "S2", "S2", "S2", "S2"]), "S2^8 × S3");
        let many = ["S10", "S2", "S2", "S9", "(S2 wr S12)", "(S2 wr S3)", "S2", "S2", "S10"];
        assert_eq!(names(&many), "(S2 wr S3) × (S2 wr S12) × S2^4 × S9 × S10^2");
    }
}
