//! Random Promela programs with replicated processes: stars, cliques, rings (by parameters, and by arithmetic), trees,
//! hypercubes, three tiers; some of them with something that breaks the symmetry of the shape.
//!
//! The generator does not compute the symmetries of a program; the programs are small enough for their states to be
//! listed.

use crate::Random;

/// The shapes in which processes are connected.
pub const SHAPES: &[&str] =
    &["star", "clique", "ring", "tree", "hypercube", "tiers", "shared", "numbered", "ending", "around"];

/// What may break the symmetry.
const BREAKERS: &[&str] = &[
    "x = _pid % 2",
    "_pid > 2 -> x = 1",
    "x = _pid - 1",
    "g = _pid; g < 2",
    "_pid == 2 -> x = 1",
    "h[2] = 1",
    "x == 0 -> x = h[1] + h[2] * 2",
    "len(c[0]) > 0 -> x = 1",
    "c[1]!1",
    "_nr_pr > 2 -> x = 1",
    "w = _pid; w == 3 -> x = 2",
    "c[x % 2]!2",
    "d_step { if :: w == 1 -> x = 1 :: w == 2 -> x = 2 :: else fi }",
    "if :: w == 1 -> x = 1 :: w == 2 -> x = 1 :: w == 3 -> x = 1 :: else fi",
    "if :: w == 1 -> h[1] = 1 :: w == 2 -> h[2] = 1 :: w == 3 -> h[3] = 1 :: else fi",
    "timeout -> x = 0",
    "pc_value(_pid) > 2 -> x = 1",
    "o!!_pid",
    "o?x",
    "q[1] = h[0]",
    "r[_pid] = x",
    "x = r[w]",
    "h[(_pid + 1) % 4] = 1",
    "c[_pid % 2]!1",
    "h[_pid - 1] = x",
    "x = (_pid + w) % 2",
    "h[3 - _pid % 3] = 1",
    "h[1] = 0; h[2] = 0; h[3] = 0",
    "atomic { h[1] = 1; h[2] = h[1]; h[3] = 1 }",
    "d_step { h[1] = x; x = 1; h[2] = x; h[3] = x }",
];

/// Statements that are symmetric wherever processes are.
const STATEMENTS: &[&str] = &[
    "x = 1 - x",
    "x = 0",
    "g = (g + 1) % 2",
    "w = _pid",
    "w == _pid -> w = 0",
    "w != _pid -> w = _pid",
    "h[_pid] = 1",
    "h[_pid] = 0",
    "h[_pid] == 0 -> x = 1",
    "h[w] == 1 -> x = 0",
    "atomic { w = _pid; h[w] = x }",
    "d_step { x == 0; x = 1; h[_pid] = 1 }",
    "o!_pid",
    "o?w",
    "o?eval(_pid)",
    "o?[eval(_pid)] -> x = 1",
    "mine = w",
    "mine == _pid -> mine = 0",
    "v[_pid] = x",
    "v[w] = 1",
    "assert(g < 2 || x == 0)",
    "h[1] + h[2] + h[3] < 3 -> x = 0",
    "(h[3] == 0 && h[1] == 0 && h[2] == 0) -> x = 1",
    "if :: x == 0 -> x = 1 :: h[_pid] == 1 -> h[_pid] = 0 :: else fi",
    "w -> x = 1",
    "atomic { h[1] = 0; h[3] = 0; h[2] = 0 }",
    "d_step { h[2] = x; h[1] = x; h[3] = x; g = 0 }",
];

/// A program of a shape, and whether something was put in that may break its symmetry.
pub fn random_symmetric_program(random: &mut Random, shape: &str) -> (String, bool) {
    let count = 3;
    let mut text = String::from("byte g, w;\nbit h[5];\nchan o = [1] of { byte };\nbyte q[2];\nbyte r[5];\n");
    text.push_str(&format!("chan c[4] = [{}] of {{ byte }};\nchan e[4] = [1] of {{ chan }};\n", random.below(2)));
    let broken = random.below(3) == 0;
    let mut statement = |allowed: bool| {
        if allowed && broken && random.below(3) == 0 {
            return BREAKERS[random.below(BREAKERS.len())].to_string();
        }
        STATEMENTS[random.below(STATEMENTS.len())].to_string()
    };
    let extra = [statement(true), statement(true), statement(false)];
    let (links, declared, runs): (Vec<String>, &str, Vec<String>) = match shape {
        "star" => (
            vec!["hub!_pid".into(), "own?x".into(), "hub!1".into()],
            "chan hub, own",
            (0..count).map(|at| format!("run P(o, c[{at}])")).collect(),
        ),
        "clique" => (vec!["a!1".into(), "b!1".into(), "own?x".into()], "chan own, a, b", {
            (0..count).map(|at| format!("run P(c[{at}], c[{}], c[{}])", (at + 1) % 3, (at + 2) % 3)).collect()
        }),
        "ring" => (
            vec!["to!x".into(), "from?x".into(), "to!1".into()],
            "chan from, to",
            (0..count).map(|at| format!("run P(c[{at}], c[{}])", (at + 1) % count)).collect(),
        ),
        "tree" => (
            vec!["up!1".into(), "nempty(up) -> up?x".into()],
            "chan up",
            (0..4).map(|at| format!("run P(c[{}])", at / 2)).collect(),
        ),
        "hypercube" => (
            vec!["a!1".into(), "b!1".into(), "own?x".into()],
            "chan own, a, b",
            (0..4).map(|at| format!("run P(c[{at}], c[{}], c[{}])", at ^ 1, at ^ 2)).collect(),
        ),
        "tiers" => (
            vec!["ask!own".into(), "own?x".into(), "serve?back; back!1".into()],
            "chan own, ask, serve",
            (0..count).map(|at| format!("run P(c[{at}], e[0], e[0])")).collect(),
        ),
        "numbered" => (
            vec!["q[id] = x".into(), "w = id".into(), "w == id -> x = 1".into(), "r[id] = x".into()],
            "byte id",
            (0..2).map(|at| format!("run P({at})")).collect(),
        ),
        "around" => (
            vec![
                "c[_pid % 3]!1".into(),
                "c[(_pid + 1) % 3]?x".into(),
                "c[(_pid + 2) % 3]!x".into(),
                "v[(_pid + 1) % 3] = x".into(),
            ],
            "",
            (0..count).map(|_| "run P()".to_string()).collect(),
        ),
        _ => (Vec::new(), "", (0..count).map(|_| "run P()".to_string()).collect()),
    };
    // A class of numbers must not meet `_pid`.
    let usable = |text: &str| shape != "numbered" || !(text.contains("_pid") || text.contains('w'));
    text.push_str(&format!("proctype P({declared}) {{\n bit x; byte mine; bit v[5]; chan back;\n"));
    let mut options: Vec<String> = extra.into_iter().filter(|text| usable(text)).collect();
    for _ in 0..2 {
        if !links.is_empty() {
            options.push(links[random.below(links.len())].clone());
        }
    }
    if options.is_empty() {
        options.push("x = 1 - x".into());
    }
    if shape == "ending" {
        for option in &options {
            text.push_str(&format!(" if :: {option} :: skip fi;\n"));
        }
        text.push_str(" skip\n}\n");
    } else {
        text.push_str(if random.below(2) == 0 { "end: do\n" } else { " do\n" });
        for option in &options {
            text.push_str(&format!(" :: {option}\n"));
        }
        text.push_str(" od\n}\n");
    }
    let start = if random.below(4) == 0 { "" } else { "atomic " };
    text.push_str(&format!("init {{ {start}{{ {} }} }}\n", runs.join("; ")));
    (text, broken)
}
