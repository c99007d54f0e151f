//! Edges between the same two nodes, as one with several lines of text.
//!
//! Labels in the same direction are folded by channel ([`folds`](crate::folds)). Opposite edges, `a` to `b` and `b` to
//! `a`, share one line with an arrow at each end, unless one is an internal step and the other not; their texts stand
//! one below the other, each with a small arrow in front that says which way it goes.
//!
//! A text is cut after [`COLUMNS`] columns and a bundle after [`LINES`] lines in each direction; the tooltip has
//! everything.
//!
//! In a graph with many labels ([`MANY`] lines or more) the lines are numbers, and a table below the picture says what
//! each number stands for.

use std::collections::{HashMap, HashSet};

use crate::folds::folded;
use crate::text;
use crate::{Edge, Graph};

/// The most lines that are written beside an edge, in each direction.
const LINES: usize = 8;
/// The most columns of a line.
const COLUMNS: usize = 44;
/// The most lines of a title.
const TITLE: usize = 200;
/// From this number of lines on, labels may be numbered.
const MANY: usize = 60;
/// Numbers replace labels only when these have more columns than this on average.
const SHORT: usize = 4;
/// How many numbers stand on one line.
const TOGETHER: usize = 4;

/// Edges that are drawn as one.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    pub(crate) source: usize,
    pub(crate) target: usize,
    /// What is written beside it; may be nothing.
    pub(crate) lines: Vec<String>,
    /// The edges in the other direction: what is written beside it for them.
    pub(crate) back: Option<Vec<String>>,
    /// All labels, a line each.
    pub(crate) title: String,
    /// Are all of its edges quiet?
    pub(crate) quiet: bool,
}

impl Bundle {
    pub(crate) fn is_loop(&self) -> bool {
        self.source == self.target
    }

    /// Is anything written beside it?
    pub(crate) fn has_text(&self) -> bool {
        !self.lines.is_empty() || self.back.as_ref().is_some_and(|back| !back.is_empty())
    }

    /// What is written beside it, given the arrows for its own direction and for the other one.
    pub(crate) fn written(&self, forth: &str, back: &str) -> Vec<String> {
        match &self.back {
            None => self.lines.clone(),
            Some(other) if *other == self.lines => self.lines.clone(),
            Some(other) => {
                let own = self.lines.iter().map(|line| format!("{forth} {line}"));
                own.chain(other.iter().map(|line| format!("{back} {line}"))).collect()
            }
        }
    }

    /// The size of its text.
    pub(crate) fn size(&self) -> (f64, f64) {
        text::block(&self.written("x", "x"))
    }
}

/// The edges of a graph in bundles, in the order in which they come first, and what numbers stand for; no numbers when
/// the labels are written out.
pub(crate) fn bundles(graph: &Graph) -> (Vec<Bundle>, Vec<String>) {
    let mut numbers: HashMap<(usize, usize), usize> = HashMap::new();
    let mut together: Vec<Vec<&Edge>> = Vec::new();
    for edge in &graph.edges {
        let (ends, next) = ((edge.source, edge.target), together.len());
        assert!(ends.0.max(ends.1) < graph.nodes.len(), "an edge is between nodes");
        let number = *numbers.entry(ends).or_insert(next);
        if number == next {
            together.push(Vec::new());
        }
        together[number].push(edge);
    }
    let mut made: Vec<Bundle> = together.iter().map(|edges| bundle(edges)).collect();
    let keys = numbered(&mut made);
    for one in &mut made {
        limit(&mut one.lines, if keys.is_empty() { LINES } else { LINES * TOGETHER });
        if !keys.is_empty() {
            one.lines = one.lines.chunks(TOGETHER).map(|chunk| chunk.join(" ")).collect();
        }
    }
    let mut kept: Vec<Option<Bundle>> = made.into_iter().map(Some).collect();
    for at in 0..kept.len() {
        let Some((source, target, quiet)) = kept[at].as_ref().map(|one| (one.source, one.target, one.quiet)) else {
            continue;
        };
        let Some(&other) = numbers.get(&(target, source)).filter(|&&other| other > at) else { continue };
        if kept[other].as_ref().is_some_and(|other| other.quiet == quiet)
            && let (Some(back), Some(own)) = (kept[other].take(), kept[at].as_mut())
        {
            own.title = match (own.title.is_empty(), back.title.is_empty()) {
                (true, true) => String::new(),
                _ => {
                    let name = |node: usize| &graph.nodes[node].text;
                    let (from, to) = (name(source), name(target));
                    format!("{from} → {to}:\n{}\n{to} → {from}:\n{}", own.title, back.title)
                }
            };
            own.back = Some(back.lines);
        }
    }
    (kept.into_iter().flatten().collect(), keys)
}

/// At most this many lines.
fn limit(lines: &mut Vec<String>, most: usize) {
    if lines.len() > most {
        let more = lines.len() - (most - 1);
        lines.truncate(most - 1);
        lines.push(format!("… {more} more"));
    }
}

/// Numbers in place of the lines when there are many long ones, and what each number stands for.
fn numbered(bundles: &mut [Bundle]) -> Vec<String> {
    let lines = || bundles.iter().flat_map(|bundle| &bundle.lines);
    let count = lines().count();
    let columns: usize = lines().map(|line| text::columns(line)).sum();
    if count < MANY || columns <= SHORT * count {
        return Vec::new();
    }
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut keys: Vec<String> = Vec::new();
    for bundle in bundles {
        let mut own: Vec<usize> = Vec::with_capacity(bundle.lines.len());
        for line in std::mem::take(&mut bundle.lines) {
            let next = keys.len();
            let number = *known.entry(line.clone()).or_insert(next);
            if number == next {
                keys.push(line);
            }
            own.push(number + 1);
        }
        own.sort_unstable();
        bundle.lines = own.iter().map(usize::to_string).collect();
    }
    keys
}

fn bundle(edges: &[&Edge]) -> Bundle {
    let mut labels: Vec<&str> = Vec::new();
    let mut known = HashSet::new();
    for edge in edges {
        if !edge.label.is_empty() && known.insert(edge.label.as_str()) {
            labels.push(&edge.label);
        }
    }
    let lines = folded(&labels).iter().map(|label| text::cut(label, COLUMNS)).collect();
    let mut title = labels[..labels.len().min(TITLE)].join("\n");
    if labels.len() > TITLE {
        title.push_str(&format!("\n… {} more", labels.len() - TITLE));
    }
    let Edge { source, target, .. } = *edges[0];
    Bundle { source, target, lines, back: None, title, quiet: edges.iter().all(|edge| edge.quiet) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Node;

    fn edge(source: usize, target: usize, label: &str) -> Edge {
        Edge { source, target, label: label.into(), quiet: false }
    }

    #[test]
    fn parallel_edges_are_one_with_several_lines() {
        let mut graph = Graph { nodes: vec![Node::default(); 2], ..Graph::default() };
        graph.edges = vec![edge(0, 1, "a"), edge(1, 0, "b"), edge(0, 1, "c"), edge(0, 1, "a")];
        graph.edges.extend((0..20).map(|number| edge(1, 1, &format!("e{number}"))));
        let (made, keys) = bundles(&graph);
        assert!(keys.is_empty());
        assert_eq!(made.len(), 2, "opposite edges are paired");
        assert_eq!(made[0].lines, ["a", "c"]);
        assert_eq!(made[0].back.as_deref(), Some(&["b".to_string()][..]));
        assert_eq!(made[0].written("↓", "↑"), ["↓ a", "↓ c", "↑ b"]);
        assert_eq!(made[1].lines.len(), LINES);
        assert_eq!(made[1].lines[LINES - 1], "… 13 more");
        assert_eq!(made[1].title.lines().count(), 20);
        graph.edges[1].quiet = true;
        assert_eq!(bundles(&graph).0.len(), 3, "an internal step stays apart");
    }

    #[test]
    fn many_long_labels_are_numbers() {
        let mut graph = Graph { nodes: vec![Node::default(); 100], ..Graph::default() };
        graph.edges = (0..99).map(|at| edge(at, at + 1, &format!("message.{}", at % 7))).collect();
        let (made, keys) = bundles(&graph);
        assert_eq!(keys.len(), 7);
        assert_eq!((keys[0].as_str(), made[7].lines[0].as_str()), ("message.0", "1"));
        graph.edges.iter_mut().for_each(|edge| edge.label = "a".into());
        assert!(bundles(&graph).1.is_empty(), "short labels stay");
    }
}
