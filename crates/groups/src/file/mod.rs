//! Graphs in files, and texts that users type: read with diagnostics that say where.
//!
//! Two formats: Graphviz' DOT (`dot`) and JSON (`json`). Both give a [`NamedGraph`]: vertices keep their names, and
//! colours of vertices and edges, which are words in a file, become numbers.

mod codes;
mod dot;
mod dot_tokens;
mod json;

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use trefoil_control::{Control, Stopped};
use trefoil_source::{Code, Diagnostic, Line, Place, Reading};

use crate::cycles::{CycleError, parse_cells};
use crate::graph::{ColouredGraph, SparsePermutation};
use crate::permutation::Point;

pub use codes::CODES;

/// Vertices and edges that are read at most.
const MOST: usize = 1 << 28;

/// The longest file that is read, in bytes: positions are numbers of 32 bits.
const LONGEST: u64 = u32::MAX as u64 - 1;

/// A graph from a file.
#[derive(Clone, Debug)]
pub struct NamedGraph {
    /// The name of each vertex.
    pub names: Vec<String>,
    /// The graph; an undirected edge is two arcs.
    pub graph: ColouredGraph,
    /// Have its edges a direction?
    pub directed: bool,
    /// How many edges the file has.
    pub edges: usize,
    /// How many colours of vertices.
    pub vertex_colours: usize,
    /// How many colours of edges.
    pub edge_colours: usize,
    /// Are there labels of vertices that were not taken for colours?
    pub labels_ignored: bool,
}

/// How graphs are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphReading {
    /// Vertices with different labels have different colours.
    pub labels_are_colours: bool,
}

/// Why there is no graph.
#[derive(Clone, Debug)]
pub enum GraphError {
    /// The file cannot be used.
    Diagnostic(Box<Diagnostic>),
    /// A budget ran out, or the user interrupted.
    Stopped(Stopped),
}

impl From<Stopped> for GraphError {
    fn from(stopped: Stopped) -> GraphError {
        GraphError::Stopped(stopped)
    }
}

impl From<Diagnostic> for GraphError {
    fn from(diagnostic: Diagnostic) -> GraphError {
        GraphError::Diagnostic(Box::new(diagnostic))
    }
}

/// Reads a file, or standard input when its name is `-`. JSON by its ending or when it begins with a brace, else DOT.
pub fn read_graph(file: &Path, reading: GraphReading, control: &Control) -> Result<NamedGraph, GraphError> {
    let name = file.display().to_string();
    let text = read_text(file, "Trefoil reads graphs in DOT (.dot, .gv) and JSON (.json)", control)?;
    let named_json = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let named_dot =
        file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("dot") || ending.eq_ignore_ascii_case("gv"));
    graph_from_text(&name, &text, named_json.then_some(true).or(named_dot.then_some(false)), reading, control)
}

/// Reads permutations from a file, or from standard input when its name is `-`: one in cycle notation on each line,
/// with comments from `#` to the end of the line. Each comes with its degree.
pub fn permutations_from_file(file: &Path, control: &Control) -> Result<Vec<(SparsePermutation, usize)>, GraphError> {
    let name = file.display().to_string();
    let text = read_text(file, EXAMPLE_FILE, control)?;
    control.afford(text.len().saturating_mul(12))?;
    let begin = text.len() - text.strip_prefix('\u{feff}').unwrap_or(&text).len();
    let mut permutations = Vec::new();
    let mut at = begin;
    for line in text[begin..].split_inclusive('\n') {
        control.check()?;
        let notation = line.split_once('#').map_or(line, |(notation, _)| notation).trim_end();
        if !notation.is_empty() {
            let read = SparsePermutation::parse(notation).map_err(|error| {
                let place = place_of_character(&name, &text, at + error.at);
                Diagnostic::error(codes::CYCLES, error.message, place).help(EXAMPLE_FILE)
            });
            permutations.push(read?);
        }
        at += line.len();
    }
    if permutations.is_empty() {
        return Err(Diagnostic::error(
            codes::CYCLES,
            format!("there is no permutation in `{name}`"),
            Place::File(name),
        )
        .help(EXAMPLE_FILE)
        .into());
    }
    Ok(permutations)
}

const EXAMPLE_FILE: &str = "a file of permutations has one on each line, such as (1,2,3)(4,5); # begins a comment";

fn read_text(file: &Path, help: &str, control: &Control) -> Result<String, GraphError> {
    let name = file.display().to_string();
    let place = || Place::File(name.clone());
    let cannot_read = |error: std::io::Error| {
        let message = trefoil_source::cannot_read(&name, &trefoil_source::unreadable(&error));
        Diagnostic::error(codes::CANNOT_READ, message, place())
    };
    let opened = if name == "-" { Reading::standard_input(control) } else { Reading::open(file, control) };
    let read = opened.and_then(|opened| opened.read_whole(&name, LONGEST + 1));
    control.check()?;
    let bytes = read.map_err(cannot_read)?;
    if bytes.len() as u64 > LONGEST {
        return Err(Diagnostic::error(codes::TOO_LARGE, "files of 4 GB and more are not read", place()).into());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let text = error.as_bytes();
        Diagnostic::error(codes::NOT_TEXT, "this is not UTF-8 text", place_in_bytes(&name, text, at..at + 1)).help(help)
    })?;
    Ok(text)
}

/// Reads a graph from a text; `is_json` says which format, otherwise its first character does.
pub fn graph_from_text(
    name: &str,
    text: &str,
    is_json: Option<bool>,
    reading: GraphReading,
    control: &Control,
) -> Result<NamedGraph, GraphError> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let begin = text.len() - body.len();
    if body.trim().is_empty() {
        return Err(Diagnostic::error(codes::NOT_TEXT, format!("`{name}` is empty"), Place::File(name.to_string()))
            .help("a graph is `graph { a -- b }` in DOT, `{ \"vertices\": 2, \"edges\": [[0,1]] }` in JSON")
            .into());
    }
    if is_json.unwrap_or_else(|| body.trim_start().starts_with('{')) {
        json::read(name, text, begin, reading, control)
    } else {
        dot::read(name, text, begin, reading, control)
    }
}

/// Reads a permutation in cycle notation that a user typed as the argument `what`; it comes with its degree.
pub fn permutation_from_text(what: &str, text: &str) -> Result<(SparsePermutation, usize), Box<Diagnostic>> {
    SparsePermutation::parse(text).map_err(|error| in_argument(codes::CYCLES, what, text, &error).into())
}

/// Reads a set or the cells of a partition that a user typed as the argument `what`.
pub fn cells_from_text(what: &str, text: &str) -> Result<Vec<Vec<Point>>, Box<Diagnostic>> {
    parse_cells(text).map_err(|error| in_argument(codes::CELLS, what, text, &error).into())
}

fn in_argument(code: Code, what: &str, text: &str, error: &CycleError) -> Diagnostic {
    let place = place_of_character(what, text, error.at);
    let (what, example) = match code == codes::CYCLES {
        true => ("a permutation", "(1,2,3)(4,5)"),
        false => ("a partition", "{1,2}|{3,4}"),
    };
    Diagnostic::error(code, error.message.clone(), place)
        .help(format!("{what} looks like {example}; points are counted from 1"))
}

/// The line of a text with the character that this byte belongs to.
fn place_of_character(name: &str, text: &str, at: usize) -> Place {
    let mut start = at.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let length = text[start..].chars().next().map_or(1, char::len_utf8);
    place_in_bytes(name, text.as_bytes(), start..start + length)
}

/// The line of a text that a range of its bytes begins in.
fn place_in_bytes(name: &str, text: &[u8], range: Range<usize>) -> Place {
    let start = range.start.min(text.len());
    let begin = text[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let end = text[start..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| start + at);
    let number = 1 + text[..begin].iter().filter(|&&byte| byte == b'\n').count();
    let within = start - begin..range.end.max(start).min(end.max(start)) - begin;
    Place::Line(Line::cut(name, number, text[begin..end].strip_suffix(b"\r").unwrap_or(&text[begin..end]), within))
}

/// Words as numbers.
#[derive(Default)]
struct Words {
    numbers: HashMap<String, u32>,
}

impl Words {
    /// The number of a word; 0 stands for no word.
    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = self.numbers.len() as u32 + 1;
        self.numbers.insert(word.to_string(), number);
        number
    }
}

/// The numbers of pairs in their order, and how many there are.
fn ranks(pairs: &[(u32, u32)]) -> (Vec<u32>, usize) {
    let mut kinds = pairs.to_vec();
    kinds.sort_unstable();
    kinds.dedup();
    (pairs.iter().map(|pair| kinds.binary_search(pair).unwrap_or_default() as u32).collect(), kinds.len())
}

/// What both formats gather.
#[derive(Default)]
struct Gathered {
    names: Vec<String>,
    /// Colour and label of each vertex.
    vertices: Vec<(u32, u32)>,
    /// Ends, colour and label of each edge.
    edges: Vec<(Point, Point, (u32, u32))>,
    directed: bool,
}

impl Gathered {
    fn finish(mut self, reading: GraphReading, control: &Control) -> Result<NamedGraph, Stopped> {
        control.afford(self.vertices.len().saturating_mul(16).saturating_add(self.edges.len().saturating_mul(48)))?;
        let mut labels_ignored = false;
        if !reading.labels_are_colours {
            labels_ignored = self.vertices.iter().any(|&(_, label)| label != 0);
            self.vertices.iter_mut().for_each(|(_, label)| *label = 0);
        }
        let (colours, vertex_colours) = ranks(&self.vertices);
        let kinds: Vec<(u32, u32)> = self.edges.iter().map(|&(_, _, kind)| kind).collect();
        let (edge_colour, edge_colours) = ranks(&kinds);
        let mut graph = ColouredGraph::new(colours.len());
        (0..).zip(&colours).for_each(|(vertex, &colour)| graph.set_colour(vertex, colour));
        for (&(from, to, _), &colour) in self.edges.iter().zip(&edge_colour) {
            if self.directed {
                graph.add_arc(from, to, colour);
            } else {
                graph.add_edge(from, to, colour);
            }
        }
        Ok(NamedGraph {
            names: self.names,
            graph,
            directed: self.directed,
            edges: self.edges.len(),
            vertex_colours,
            edge_colours,
            labels_ignored,
        })
    }
}
