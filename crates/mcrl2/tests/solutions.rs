//! `solve.md` and `stuck.md`: solutions of conditions, and what is reported of normal forms that are no values.

mod support;

use std::ops::ControlFlow;

use support::values::{data, typed};
use trefoil_control::Control;
use trefoil_data::rewrite::{Enumerated, Program, Rewriter, Sum};
use trefoil_data::typed::{DataSpecification, Typed};
use trefoil_mcrl2::{Data, syntax};
use trefoil_source::{Place, Sources};
use trefoil_terms::{Options, Pool};

/// A specification and the rows of a page over it.
fn page(page: &'static str) -> (Data, Sources, Vec<&'static str>) {
    let (_, rest) = page.split_once("```mcrl2\n").expect("declarations");
    let (declarations, rest) = rest.split_once("\n```").expect("the end of the declarations");
    let (_, rest) = rest.split_once("```text\n").expect("rows");
    let (rows, _) = rest.split_once("\n```").expect("the end of the rows");
    let mut sources = Sources::default();
    let file = sources.add("page", declarations);
    let mut diagnostics = Vec::new();
    let specification = syntax::parse(declarations, file, &mut diagnostics);
    let data = Data::check(&specification, declarations, &mut diagnostics).expect("no mistake");
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    (data, sources, rows.lines().collect())
}

#[test]
fn solutions_are_those_of_mcrl2() {
    let (data, mut sources, rows) = page(include_str!("solve.md"));
    for row in rows {
        let (condition, expected) = row.split_once("  → ").expect("an arrow");
        let file = sources.add("expression", condition);
        let mut found = Vec::new();
        let warnings = data
            .solve(condition, file, Some(1_000_000), &Control::default(), &mut |solution| {
                found.push(solution);
                true
            })
            .unwrap_or_else(|none| panic!("{condition}: {none:?}"));
        found.extend(warnings.iter().map(|warning| warning.message.clone()));
        found.sort_unstable();
        let mut wanted: Vec<&str> = expected.trim().split("  ").filter(|part| !part.is_empty()).collect();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{condition}");
    }
}

#[test]
fn what_is_missing_is_reported_beside_a_stuck_normal_form() {
    let (data, mut sources, rows) = page(include_str!("stuck.md"));
    for row in rows {
        let mut parts = row.split("  → ").map(str::trim);
        let (Some(expression), Some(normal), Some(report)) = (parts.next(), parts.next(), parts.next()) else {
            panic!("{row} has three parts")
        };
        let file = sources.add("expression", expression);
        let value = data.value(expression, file, None, &Control::default()).expect("a normal form");
        assert_eq!(value.text, normal, "{expression}");
        let text = |place: &Place| match place {
            Place::Span(span) => sources.text(*span).to_string(),
            other => panic!("{other:?} is no place in a text"),
        };
        let found: Vec<String> = value
            .warnings
            .iter()
            .map(|warning| {
                let places: Vec<String> = warning.labels.iter().map(|label| text(&label.place)).collect();
                let help = warning.help.clone().unwrap_or_default();
                format!("{} | {} | {help}", warning.message, places.join(" ")).trim().to_string()
            })
            .collect();
        assert_eq!(found, if report.is_empty() { Vec::new() } else { vec![report] }, "{expression}");
    }
}

/// The sum of `lambda parameters. exists variables. condition`.
fn sum(text: &str, data: &mut DataSpecification) -> Sum {
    let whole = typed(text, data);
    let Typed::Lambda(parameters, body) = data.tree.expression(whole).clone() else { panic!("{text}: no parameters") };
    let Typed::Quantified(_, variables, condition) = data.tree.expression(body).clone() else {
        panic!("{text}: no variables")
    };
    Sum { parameters, variables, condition }
}

/// What each solution says, and how the list ends. Collections come at every poll.
fn solutions(text: &str, parameters: &[&str], next: &str, most: u64, wanted: usize) -> (Vec<String>, String) {
    let (mut data, _) = data("sort C = struct red | green | blue; map f: Nat -> Nat; eqn f(0) = 1;");
    let sum = sum(text, &mut data);
    let mut expressions: Vec<_> = parameters.iter().map(|value| (typed(value, &mut data), Vec::new())).collect();
    let next = typed(next, &mut data);
    let Typed::Lambda(variables, body) = data.tree.expression(next).clone() else { panic!("no function") };
    expressions.push((body, variables));
    let pool = Pool::new(Options { zealous: true, ..Options::default() });
    let (program, codes, sums) = Program::with_sums(data, &expressions, &[sum], &pool);
    let worker = pool.worker();
    let mut rewriter = Rewriter::new(&program, &worker);
    let mut given = Vec::new();
    for &code in &codes[..parameters.len()] {
        let term = rewriter.evaluate(code, &[]).expect("a value");
        given.push(rewriter.section().root(term));
    }
    let given: Vec<_> = given.iter().map(|root| root.term()).collect();
    let mut found = Vec::new();
    let end = rewriter.solutions(sums[0], &given, most, &mut |rewriter, values| {
        let all: Vec<_> = given.iter().chain(values).copied().collect();
        let term = rewriter.evaluate(codes[parameters.len()], &all)?;
        found.push(program.text(rewriter.section(), term));
        Ok(if found.len() < wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    });
    let end = match end.expect("an end") {
        Enumerated::All => "all".to_string(),
        Enumerated::Left => "left".to_string(),
        Enumerated::Open(term) => program.text(rewriter.section(), term.term()),
        Enumerated::Unbounded(variable) => {
            program.specification.names.text(program.specification.tree.variable(variable).0).to_string()
        }
    };
    (found, end)
}

#[test]
fn sums_give_their_solutions_for_values_of_parameters() {
    let given = |text, parameters: &[&str], next, most, wanted| solutions(text, parameters, next, most, wanted);
    let text = "lambda n: Nat, l: List(Nat). exists m: Nat, c: C, k: Nat. c != red && k == m * n && m in l && m < n";
    let next = "lambda n: Nat, l: List(Nat), m: Nat, c: C, k: Nat. [n, m, k, #l]";
    let (found, end) = given(text, &["4", "[3, 9, 1, 3]"], next, 1000, usize::MAX);
    assert_eq!(found, ["[4, 3, 12, 4]", "[4, 3, 12, 4]", "[4, 1, 4, 4]", "[4, 1, 4, 4]"]);
    assert_eq!(end, "all");
    let (found, end) = given(text, &["4", "[3, 9, 1, 3]"], next, 1000, 3);
    assert_eq!((found.len(), end.as_str()), (3, "left"));
    // A budget ends the list of an infinite sort, and a condition that stays open is given back.
    let text = "lambda n: Nat. exists m: Nat. m mod 2 == n";
    let (found, end) = given(text, &["1"], "lambda n, m: Nat. m", 100, usize::MAX);
    assert_eq!((found.len(), found[2].as_str(), end.as_str()), (25, "5", "m"));
    let (found, end) =
        given("lambda n: Nat. exists m: Nat. m < n && f(m) == 1", &["2"], "lambda n, m: Nat. m", 100, usize::MAX);
    assert_eq!((found, end.as_str()), (vec!["0".to_string()], "f(1) == 1"));
    // A false conjunct over few variables cuts off the values of all others: 10^12 of them.
    let text = "lambda n: Nat. exists a, b, c, d: Nat. a < n && b < n && c < n && d < n && a + 1 == n && b + 2 == n && c == d && d == 7";
    let (found, end) = given(text, &["1000"], "lambda n, a, b, c, d: Nat. [a, b, c, d]", 100, usize::MAX);
    assert_eq!((found, end.as_str()), (vec!["[999, 998, 7, 7]".to_string()], "all"));
}
