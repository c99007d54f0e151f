//! A graph for Graphviz: nothing is placed, every edge is there.

use std::fmt::Write;

use crate::{Graph, Mark, Shape};

/// A text in quotes, as DOT wants it.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            '\n' => quoted.push_str("\\n"),
            _ if character.is_control() => quoted.push('\u{FFFD}'),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// The graph in the language of Graphviz.
pub fn dot(graph: &Graph) -> String {
    let mut dot = format!("digraph {} {{\n", quoted(&graph.caption));
    dot.push_str("  node [shape=box, style=\"rounded,filled\", fillcolor=\"#eef2fb\", fontname=monospace];\n");
    dot.push_str("  edge [fontname=monospace];\n");
    for (number, node) in graph.nodes.iter().enumerate() {
        let mark = match node.mark {
            Mark::Plain => "",
            Mark::Deadlock => ", color=\"#c0392b\", penwidth=2",
            Mark::Diverging => ", color=\"#b9770e\", style=\"rounded,filled,dashed\"",
            Mark::Terminated => ", color=\"#2e8b57\"",
            Mark::Continues => ", style=\"rounded,dotted\"",
        };
        let shape = match node.shape {
            Shape::Round => "",
            Shape::Box => ", style=filled",
            Shape::Queue => ", style=filled, peripheries=2",
        };
        let (text, title) = (quoted(&node.text), quoted(&node.title));
        let _ = writeln!(dot, "  n{number} [label={text}, tooltip={title}{shape}{mark}];");
        if node.initial {
            let _ = writeln!(dot, "  start{number} [shape=point]; start{number} -> n{number};");
        }
    }
    for edge in &graph.edges {
        let style = if edge.quiet { ", style=dashed" } else { "" };
        let _ = writeln!(dot, "  n{} -> n{} [label={}{style}];", edge.source, edge.target, quoted(&edge.label));
    }
    dot.push_str("}\n");
    dot
}
