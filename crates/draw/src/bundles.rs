//! Edges between the same two nodes in the same direction, as one with several lines of text.
//!
//! A text is cut after [`COLUMNS`] columns and a bundle after [`LINES`] lines; the tooltip has everything.

use std::collections::HashMap;

use crate::text;
use crate::{Edge, Graph};

/// The most lines that are written beside an edge.
const LINES: usize = 8;
/// The most columns of a line.
const COLUMNS: usize = 44;
/// The most lines of a title.
const TITLE: usize = 200;

/// Edges that are drawn as one.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    pub(crate) source: usize,
    pub(crate) target: usize,
    /// What is written beside it; may be nothing.
    pub(crate) lines: Vec<String>,
    /// All labels, a line each.
    pub(crate) title: String,
    /// Are all of its edges quiet?
    pub(crate) quiet: bool,
}

impl Bundle {
    pub(crate) fn is_loop(&self) -> bool {
        self.source == self.target
    }

    /// The size of its text.
    pub(crate) fn size(&self) -> (f64, f64) {
        let width = self.lines.iter().map(|line| text::width(line)).fold(0.0, f64::max);
        (width + 8.0, self.lines.len() as f64 * text::LINE + 2.0)
    }
}

/// The edges of a graph in bundles, in the order in which they come first.
pub(crate) fn bundles(graph: &Graph) -> Vec<Bundle> {
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
    together.iter().map(|edges| bundle(edges)).collect()
}

fn bundle(edges: &[&Edge]) -> Bundle {
    let mut labels: Vec<&str> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for edge in edges {
        if !edge.label.is_empty() && known.insert(edge.label.as_str()) {
            labels.push(&edge.label);
        }
    }
    let shown = if labels.len() <= LINES { labels.len() } else { LINES - 1 };
    let mut lines: Vec<String> = labels[..shown].iter().map(|label| text::cut(label, COLUMNS)).collect();
    if shown < labels.len() {
        lines.push(format!("… {} more", labels.len() - shown));
    }
    let mut title = labels[..labels.len().min(TITLE)].join("\n");
    if labels.len() > TITLE {
        title.push_str(&format!("\n… {} more", labels.len() - TITLE));
    }
    let Edge { source, target, .. } = *edges[0];
    Bundle { source, target, lines, title, quiet: edges.iter().all(|edge| edge.quiet) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Node;

    #[test]
    fn parallel_edges_are_one_with_several_lines() {
        let edge = |source, target, label: &str| Edge { source, target, label: label.into(), quiet: false };
        let mut graph = Graph { nodes: vec![Node::default(); 2], ..Graph::default() };
        graph.edges = vec![edge(0, 1, "a"), edge(1, 0, "b"), edge(0, 1, "c"), edge(0, 1, "a")];
        graph.edges.extend((0..20).map(|number| edge(1, 1, &format!("e{number}"))));
        let made = bundles(&graph);
        assert_eq!(made.len(), 3);
        assert_eq!(made[0].lines, ["a", "c"]);
        assert_eq!(made[1].lines, ["b"]);
        assert_eq!(made[2].lines.len(), LINES);
        assert_eq!(made[2].lines[LINES - 1], "… 13 more");
        assert_eq!(made[2].title.lines().count(), 20);
    }
}
