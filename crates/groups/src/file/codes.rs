//! The stable codes of what can be wrong with a graph or a permutation, with a line and an example each.

use trefoil_source::{Code, CodeEntry};

pub(crate) const CANNOT_READ: Code = "G001";
pub(crate) const NOT_TEXT: Code = "G002";
pub(crate) const TOO_LARGE: Code = "G003";
pub(crate) const DOT_CHARACTER: Code = "G004";
pub(crate) const DOT_UNCLOSED: Code = "G005";
pub(crate) const DOT_HEADER: Code = "G006";
pub(crate) const DOT_STATEMENT: Code = "G007";
pub(crate) const DOT_ATTRIBUTES: Code = "G008";
pub(crate) const DOT_ARROW: Code = "G009";
pub(crate) const DOT_AFTER_END: Code = "G010";
pub(crate) const JSON_SYNTAX: Code = "G011";
pub(crate) const JSON_SHAPE: Code = "G012";
pub(crate) const NAME_TWICE: Code = "G013";
pub(crate) const NO_SUCH_VERTEX: Code = "G014";
pub(crate) const CYCLES: Code = "G015";
pub(crate) const CELLS: Code = "G016";

/// Every code that graphs and permutations can give.
pub const CODES: &[CodeEntry] = &[
    CodeEntry::new(CANNOT_READ, "a file cannot be read", "trefoil automorphisms no-such-file.dot"),
    CodeEntry::new(NOT_TEXT, "the file is not UTF-8 text, or it is empty", "trefoil automorphisms picture.png"),
    CodeEntry::new(
        TOO_LARGE,
        "the graph is larger than Trefoil can hold",
        "{ \"vertices\": 99999999999, \"edges\": [] }",
    ),
    CodeEntry::new(DOT_CHARACTER, "a character that no token of DOT starts with", "graph { a ! b }"),
    CodeEntry::new(DOT_UNCLOSED, "a string, a comment, a list or a brace is not closed", "graph { a -- b"),
    CodeEntry::new(DOT_HEADER, "a DOT file is not `[strict] graph|digraph [name] { … }`", "a -- b"),
    CodeEntry::new(DOT_STATEMENT, "a statement of DOT is not complete or not known", "graph { a -- }"),
    CodeEntry::new(DOT_ATTRIBUTES, "a list of attributes is not `[name=value, …]`", "graph { a [color red] }"),
    CodeEntry::new(DOT_ARROW, "`->` stands in a graph or `--` in a digraph", "graph { a -> b }"),
    CodeEntry::new(DOT_AFTER_END, "something follows the end of the graph", "graph { a } graph { b }"),
    CodeEntry::new(JSON_SYNTAX, "the content is not JSON", "{ \"vertices\": [1,2 }"),
    CodeEntry::new(JSON_SHAPE, "the JSON does not describe a graph", "{ \"vertices\": [], \"edges\": [[1]] }"),
    CodeEntry::new(NAME_TWICE, "two vertices have the same name", "{ \"vertices\": [\"a\", \"a\"], \"edges\": [] }"),
    CodeEntry::new(
        NO_SUCH_VERTEX,
        "an edge ends at a vertex that is not there",
        "{ \"vertices\": 2, \"edges\": [[0,2]] }",
    ),
    CodeEntry::new(CYCLES, "a permutation is not in cycle notation", "trefoil group '(1,2'"),
    CodeEntry::new(CELLS, "a set or a partition is not `{1,2}|{3,4}`", "trefoil group '(1,2)' --stabilise '{1;2}'"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_are_unique() {
        for (index, entry) in CODES.iter().enumerate() {
            assert_eq!(entry.code, format!("G{:03}", index + 1));
        }
    }
}
