//! Processes without bound are named early; those that have one, however they say so, are explored.

#[path = "support/evaluation.rs"]
mod evaluation;

use std::sync::Arc;

use evaluation::prepare;
use trefoil_control::Control;
use trefoil_cspm::eval::{Evaluator, Options, Reason};
use trefoil_cspm::process::{CompileOptions, Compiler};
use trefoil_network::compose;
use trefoil_system::Labels;

const DECLARATIONS: &str = "\
channel a, b
channel in : {0..1}
channel big : {0..2}
datatype Stack = Empty | Push.Stack
SIZE = 13
ALL = {0..13}
size(Empty) = 0
size(Push.x) = 1 + size(x)
";

/// The states of a component, or the message about it.
fn explored(definitions: &str, process: &str) -> Result<usize, String> {
    let script = format!("{DECLARATIONS}{definitions}\n");
    let control = Control::unlimited();
    let evaluator = Evaluator::untyped(&prepare(&script, &[process]), control.clone(), Options::default());
    let options = CompileOptions { compress_leaves: false, ..CompileOptions::default() };
    let mut compiler = Compiler::new(evaluator, Arc::new(Labels::new()), control, options);
    let value = compiler.evaluator().query(0).and_then(|value| compiler.evaluator().process(value));
    let machine = value.and_then(|process| compiler.compile(&process)).map_err(|failure| match failure.reason() {
        Reason::Mistake(mistake) => mistake.message.clone(),
        other => panic!("{process}: {other:?}"),
    })?;
    let Ok(composed) = compose(&machine.network, 1, &Control::unlimited()) else { panic!("no budget") };
    Ok(composed.lts.state_count())
}

#[test]
fn what_grows_without_bound_is_named() {
    let cases = [
        ("P(s) = in?x -> P(s^<x>)", "P(<>)", "`P` grows without bound in `s`"),
        ("P(s) = in?x -> P(<x>^s) [] b -> P(<>)", "P(<>)", "`P` grows without bound in `s`"),
        ("P(s) = a -> P(union(s, {card(s)})) [] b -> P(s)", "P({})", "`P` grows without bound in `s`"),
        ("P(x) = a -> P(Push.x)", "P(Empty)", "`P` grows without bound in `x`"),
        ("P(n) = P(n + 1) [] a -> STOP", "P(0)", "`P` calls itself before it performs an event"),
        ("P(s) = P(s^<1>) ||| a -> STOP", "P(<>)", "`P` calls itself before it performs an event"),
        ("P(s) = P(s^<1>) ; a -> STOP", "P(<>)", "`P` calls itself before it performs an event"),
        ("P(n) = a -> Q(n + 1)\nQ(n) = b -> P(n)", "P(0)", "grows without bound in `n`"),
    ];
    for (definitions, process, message) in cases {
        let found = explored(definitions, process).expect_err(definitions);
        assert!(found.contains(message), "{definitions}: {found}");
    }
}

/// `==` was once no bound: buffers with more than 4,096 states were refused.
#[test]
fn what_has_a_bound_is_explored() {
    let cases = [
        ("P(s) = if #s == 13 then b -> P(<>) else in?x -> P(s^<x>)", "P(<>)", 8_192),
        ("P(s) = if #s == SIZE then b -> P(<>) else in?x -> P(s^<x>)", "P(<>)", 8_192),
        ("P(s) = if #s == card(ALL) - 1 then b -> P(<>) else in?x -> P(s^<x>)", "P(<>)", 8_192),
        ("P(s) = #s < SIZE & in?x -> P(s^<x>)", "P(<>)", 8_192),
        ("P(s, most) = if #s == most then b -> P(<>, most) else in?x -> P(<x>^s, most)", "P(<>, 13)", 8_192),
        ("P(s) = if #s == 40 * 125 then b -> P(<>) else a -> P(s^<1>)", "P(<>)", 5_001),
        ("P(s) = if card(s) == 5000 then b -> P({}) else a -> P(union(s, {card(s)}))", "P({})", 5_001),
        ("P(x) = if size(x) == 4200 then b -> P(Empty) else a -> P(Push.x)", "P(Empty)", 4_201),
        ("P(n) = if n == 70 * 4000 then b -> P(0) else a -> P(n + 1)", "P(0)", 280_000),
        ("P(n) = if n == 5000 then STOP else P(n + 1) [] big!(n % 3) -> STOP", "P(0)", 2),
    ];
    for (definitions, process, least) in cases {
        let found = explored(definitions, process).unwrap_or_else(|said| panic!("{definitions}: {said}"));
        assert!(found >= least, "{definitions}: {found} states");
    }
}
