//! Graphs in files: what is read, and what is said about what cannot be.

use trefoil_control::Control;
use trefoil_groups::{GraphError, GraphReading, NamedGraph, Random, automorphisms, graph_from_text};
use trefoil_source::Place;

fn read(text: &str) -> Result<NamedGraph, GraphError> {
    graph_from_text("test", text, None, GraphReading::default(), &Control::unlimited())
}

fn graph(text: &str) -> NamedGraph {
    read(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn order(text: &str) -> String {
    let order = |text: &str| {
        automorphisms(&graph(text).graph, &Control::unlimited()).expect("nothing stops it").order.to_string()
    };
    order(text)
}

/// The code of what is wrong, with line and column.
fn wrong(text: &str) -> (&'static str, usize, usize) {
    match read(text) {
        Err(GraphError::Diagnostic(diagnostic)) => match &diagnostic.labels[0].place {
            Place::Line(line) => (diagnostic.code, line.number, line.column),
            _ => (diagnostic.code, 0, 0),
        },
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn dot_is_read() {
    let cases = [
        ("graph { a -- b }", 2, 1, "2"),
        ("graph{}", 0, 0, "1"),
        ("digraph { a -> b }", 2, 1, "1"),
        ("digraph g { a -> b -> c -> a }", 3, 3, "3"),
        ("GRAPH \"x\" { a -- b; b -- c; c -- a; }", 3, 3, "6"),
        ("graph { a b c }", 3, 0, "6"),
        ("graph { a; b; c; d [color=red] }", 4, 0, "6"),
        ("graph { a -- {b c d} }", 4, 3, "6"),
        ("graph { {a b} -- {c d e} }", 5, 6, "12"),
        ("graph { subgraph left {a b} -- subgraph {c d e} -- f }", 6, 9, "72"),
        ("graph { node [color=red] a b node [color=blue] c d }", 4, 0, "4"),
        ("graph { subgraph { node [color=red] a b } c d }", 4, 0, "4"),
        ("graph { a -- b [color=red]; c -- d [colour=red]; e -- f }", 6, 3, "16"),
        ("graph { edge [label=x] a -- b; edge [label=\"\"] c -- d }", 4, 2, "4"),
        ("graph { a -- b a -- b a -- c }", 3, 3, "1"),
        ("strict graph { a -- b a -- b b -- a a -- c }", 3, 2, "2"),
        ("graph { a:n -- b:port:sw [weight=3, style=\"dashed\"][color=x] }", 2, 1, "2"),
        ("graph { \"a b\" -- \"say \\\"hi\\\"\"; \"a b\" -- \"a\" + \" b\" }", 2, 2, "1"),
        ("graph { 1 -- 2.5 -- -3 -- .4 -- 1 }", 4, 4, "8"),
        ("graph { <<b>x</b>> -- <y> }", 2, 1, "2"),
        ("// c\n# line 1\ngraph { /* a -- z */ a -- b # not a comment here\n }", 0, 0, ""),
        ("# preprocessed\n/* c */ graph { a -- b // rest\n }", 2, 1, "2"),
        ("\u{feff}graph { é -- ß }", 2, 1, "2"),
        ("graph { rankdir=LR; a -- b; fontsize = 12 }", 2, 1, "2"),
        ("graph { a -- a; b }", 2, 1, "1"),
        ("graph { a [label=x] b [label=y] }", 2, 0, "2"),
    ];
    for (text, vertices, edges, expected) in cases {
        if expected.is_empty() {
            assert!(read(text).is_err(), "{text}");
            continue;
        }
        let named = graph(text);
        assert_eq!((named.names.len(), named.edges), (vertices, edges), "{text}");
        assert_eq!(order(text), expected, "{text}");
    }
    let named = graph("graph { \"say \\\"hi\\\"\" -- \"two \\\nlines\" -- \"back\\\\slash\" }");
    assert_eq!(named.names, ["say \"hi\"", "two lines", "back\\\\slash"]);
    assert!(graph("graph { a [label=x] b }").labels_ignored);
    let text = "graph { a [label=x] b [label=y] c [label=y] }";
    let labelled =
        graph_from_text("test", text, None, GraphReading { labels_are_colours: true }, &Control::unlimited());
    assert_eq!(labelled.expect("it is right").vertex_colours, 2);
}

#[test]
fn json_is_read() {
    let cases = [
        ("{ \"vertices\": 3, \"edges\": [[0,1],[1,2]] }", 3, 2, "2"),
        ("{ \"vertices\": [\"a\",\"b\"], \"edges\": [[\"a\",\"b\"]] }", 2, 1, "2"),
        ("{ \"directed\": true, \"vertices\": [\"a\",\"b\"], \"edges\": [[0,1]] }", 2, 1, "1"),
        ("{ \"vertices\": [{\"name\":\"a\",\"color\":\"x\"},\"b\"], \"edges\": [] }", 2, 0, "1"),
        (
            "{ \"nodes\": [{\"id\":1},{\"id\":2}], \"links\": [{\"source\":1,\"target\":2}], \"multigraph\": false, \"graph\": {} }",
            2,
            1,
            "2",
        ),
        ("{ \"vertices\": 4, \"edges\": [[0,1,\"x\"],[2,3]] }", 4, 2, "4"),
        ("{ \"vertices\": 4, \"edges\": [{\"from\":0,\"to\":1,\"label\":7},[2,3]] }", 4, 2, "4"),
        ("{ \"vertices\": [5,6,7], \"edges\": [[5,6]] }", 3, 1, "2"),
        ("{ \"vertices\": 0, \"edges\": [] }", 0, 0, "1"),
    ];
    for (text, vertices, edges, expected) in cases {
        let named = graph(text);
        assert_eq!((named.names.len(), named.edges), (vertices, edges), "{text}");
        assert_eq!(order(text), expected, "{text}");
    }
}

#[test]
fn mistakes_are_placed() {
    let cases = [
        ("", ("G002", 0, 0)),
        ("  \n ", ("G002", 0, 0)),
        ("graph {\n a ! b }", ("G004", 2, 4)),
        ("graph { 12ab }", ("G004", 1, 9)),
        ("graph { - }", ("G004", 1, 9)),
        ("graph {\n a -- b", ("G005", 1, 7)),
        ("graph { subgraph { a }", ("G005", 1, 7)),
        ("graph { \"a }", ("G005", 1, 9)),
        ("graph { /* a }", ("G005", 1, 9)),
        ("graph { <a }", ("G005", 1, 9)),
        ("graph { a [color=red }", ("G008", 1, 22)),
        ("graph { a [color=red", ("G005", 1, 11)),
        ("a -- b", ("G006", 1, 1)),
        ("graph a b { }", ("G006", 1, 9)),
        ("graph { a -- }", ("G007", 1, 14)),
        ("graph { -- a }", ("G007", 1, 9)),
        ("graph { a -- -- b }", ("G007", 1, 14)),
        ("graph { a -- ; }", ("G007", 1, 14)),
        ("graph { {a b} [color=red] }", ("G007", 1, 15)),
        ("graph { subgraph x }", ("G007", 1, 20)),
        ("graph { a , b }", ("G007", 1, 11)),
        ("graph { a -- node }", ("G007", 1, 14)),
        ("graph { a [color red] }", ("G008", 1, 18)),
        ("graph { a [color=] }", ("G008", 1, 18)),
        ("graph { node color }", ("G008", 1, 14)),
        ("graph { a -> b }", ("G009", 1, 11)),
        ("digraph { a -- b }", ("G009", 1, 13)),
        ("graph { a } graph { b }", ("G010", 1, 13)),
        ("{ \"vertices\": [1,2 }", ("G011", 1, 20)),
        ("{ \"vertices\": 2,\n \"edges\": 7 }", ("G012", 2, 11)),
        ("{ \"edges\": [] }", ("G012", 1, 15)),
        ("{ \"vertices\": \"two\", \"edges\": [] }", ("G012", 1, 15)),
        ("{ \"vertices\": -1, \"edges\": [] }", ("G012", 1, 15)),
        ("{ \"vertices\": [[]], \"edges\": [] }", ("G012", 1, 16)),
        ("{ \"vertices\": 2, \"edges\": [[0]] }", ("G012", 1, 28)),
        ("{ \"vertices\": 2, \"edges\": [{\"from\":0}] }", ("G012", 1, 28)),
        ("{ \"vertices\": 2, \"edges\": [[0,null]] }", ("G012", 1, 28)),
        ("{ \"vertices\": 99999999999, \"edges\": [] }", ("G003", 1, 15)),
        ("{ \"vertices\": [\"a\",\n\"a\"], \"edges\": [] }", ("G013", 2, 1)),
        ("{ \"vertices\": 2,\n \"edges\": [[0,1],\n [0,2]] }", ("G014", 3, 2)),
        ("{ \"vertices\": 2, \"edges\": [[0,\"x\"]] }", ("G014", 1, 28)),
    ];
    for (text, expected) in cases {
        assert_eq!(wrong(text), expected, "{text}");
    }
}

#[test]
fn deep_and_long_input_is_no_trouble() {
    let deep = format!("graph {{ {} a -- b {} }}", "{".repeat(200_000), "}".repeat(200_000));
    assert_eq!(graph(&deep).edges, 1);
    let chain: Vec<String> = (0..100_000).map(|vertex| vertex.to_string()).collect();
    assert_eq!(graph(&format!("graph {{ {} }}", chain.join(" -- "))).edges, 99_999);
    assert_eq!(wrong(&"[".repeat(100_000)).0, "G006");
    let nested = format!("{{ \"vertices\": {}, \"edges\": [] }}", "[".repeat(100_000));
    assert_eq!(wrong(&nested).0, "G011");
}

/// Random damage never panics.
#[test]
fn damaged_files_get_an_answer() {
    let texts = [
        "strict digraph \"g\" { node [color=red, label=\"x\"]; a:p -> {b c} -> d [color=blue]; subgraph s { e } /* c */ }",
        "{ \"directed\": true, \"vertices\": [\"a\", {\"name\":\"b\",\"color\":1}], \"edges\": [[\"a\",\"b\",\"x\"],{\"from\":1,\"to\":0}] }",
    ];
    for seed in 0..4000 {
        let mut random = Random::new(seed);
        let mut bytes = texts[seed as usize % 2].as_bytes().to_vec();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => {
                    bytes.remove(at);
                }
                1 => bytes.insert(at, b"{}[]<>\"\\-;:,=+/*\n#\xc3"[random.below(19)]),
                _ => {
                    let other = random.below(bytes.len());
                    bytes.swap(at, other);
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let _ = read(&text);
    }
}
