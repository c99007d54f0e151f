//! How fast CSPM scripts are read, checked and evaluated.

use std::fmt::Write;
use std::time::Instant;

use trefoil_control::{Control, peak_memory};
use trefoil_cspm::eval::{Evaluator, Options};
use trefoil_cspm::rename::rename;
use trefoil_cspm::syntax::{MemoryLoader, parse, parse_expression_into};
use trefoil_cspm::types::typecheck;
use trefoil_source::Sources;

const SCRIPT: &str = "external mtransclose, relational_image, relational_inverse_image
count(n) = if n == 0 then 0 else 1 + count(n - 1)
loop(n) = if n == 0 then 0 else loop(n - 1)
fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2)
relation = {(i, (i * 7 + 3) % 500) | i <- {0..499}}
large = {(i, (i * 7 + 3) % 20000) | i <- {0..19999}}
image(i) = card(relational_image(large)(i))
back(i) = card(relational_inverse_image(large)(i))
";

/// The expressions with how many calls or elements each stands for.
const CASES: &[(&str, u64, &str)] = &[
    ("loop(10000000)", 10_000_000, "calls"),
    ("fib(32)", 7_049_155, "calls"),
    ("count(1000000)", 1_000_000, "nested calls"),
    ("card(mtransclose(relation, {0..499}))", 500, "pairs"),
    ("card(mtransclose(large, {0..19999}))", 20_000, "pairs"),
    ("card({i | i <- {0..19999}, image(i) == 1})", 20_000, "images"),
    ("card({i | i <- {0..19999}, back(i) == 1})", 20_000, "images"),
    ("card({x * 2 | x <- {1..1000000}})", 1_000_000, "elements"),
    ("#<x * 2 | x <- <1..1000000>, x % 2 == 0>", 1_000_000, "elements"),
    ("card({(x, y) | x <- {1..1000}, y <- {1..1000}})", 1_000_000, "elements"),
];

/// `cspm-eval`
pub(crate) fn evaluation(_: &[String]) {
    let mut sources = Sources::default();
    let mut tree = parse("bench.csp", &MemoryLoader::one("bench.csp", SCRIPT), &mut sources).tree;
    let mut queries = Vec::new();
    for (expression, _, _) in CASES {
        let file = sources.add("expression", expression.to_string());
        queries.push(parse_expression_into(&mut tree, file, &sources).0);
    }
    let (renamed, _) = rename(tree, &queries);
    let mut evaluator = Evaluator::untyped(&renamed, Control::unlimited(), Options::default());
    for (at, (expression, count, what)) in CASES.iter().enumerate() {
        let start = Instant::now();
        let value = evaluator.query(at).and_then(|value| evaluator.finish(value));
        let seconds = start.elapsed().as_secs_f64();
        let shown = value.map_or_else(|failure| format!("{failure:?}"), |value| evaluator.show(&value));
        println!(
            "{expression:<50} = {shown:<10} {seconds:8.3} s  {:8.1} ns each of {count} {what}",
            seconds * 1e9 / *count as f64
        );
    }
    println!("peak memory {} MB", peak_memory().unwrap_or(0) / 1_000_000);
}

/// `cspm-front [LINES]`
pub(crate) fn front_end(arguments: &[String]) {
    let lines: usize = arguments.first().and_then(|lines| lines.parse().ok()).unwrap_or(100_000);
    let text = generated(lines);
    let mut sources = Sources::default();
    let start = Instant::now();
    let parsed = parse("bench.csp", &MemoryLoader::one("bench.csp", text.as_str()), &mut sources);
    let reading = start.elapsed().as_secs_f64();
    assert!(parsed.diagnostics.is_empty(), "the generated script is right: {:?}", parsed.diagnostics.first());
    let start = Instant::now();
    let (renamed, diagnostics) = rename(parsed.tree, &[]);
    let naming = start.elapsed().as_secs_f64();
    assert!(diagnostics.is_empty(), "the generated script is right: {:?}", diagnostics.first());
    let start = Instant::now();
    let (typed, diagnostics) = typecheck(renamed);
    let typing = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let evaluator = Evaluator::new(&typed, Control::unlimited(), Options::default());
    let compiling = start.elapsed().as_secs_f64();
    drop(evaluator);
    println!("{lines} lines, {} MB, {} type diagnostics", text.len() / 1_000_000, diagnostics.len());
    println!("parse {reading:.3} s, names {naming:.3} s, types {typing:.3} s, compile {compiling:.3} s");
    println!("peak memory {} MB", peak_memory().unwrap_or(0) / 1_000_000);
}

/// A script of many processes and functions, as a program would write it.
fn generated(lines: usize) -> String {
    let mut text = String::from("datatype Message = Ping.{0..3} | Pong | Stop\nchannel in, out : {0..7}.Message\n");
    for at in 0..lines / 5 {
        let _ = writeln!(
            text,
            "Node{at}(id, queue) =\n  in.id?m -> (if null(queue) then out.id!m -> Node{}(id, <m>)\n    \
             else Node{at}(id, tail(queue) ^ <m>))\n  [] #queue < 4 & out.id!Pong -> Node{at}(id, queue)\n\
             total{at}(n) = if n <= 0 then {at} % 7 else n + total{at}(n - 1)",
            at / 2
        );
    }
    text
}
