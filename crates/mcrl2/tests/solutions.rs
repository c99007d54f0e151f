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
use trefoil_testkit::{Random, seed};

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

/// Variables of random conditions, their sorts, and values among which all solutions are.
const VARIABLES: [(&str, &str, &[&str]); 6] = [
    ("n", "Nat", &["0", "1", "2", "3", "4", "5"]),
    ("m", "Nat", &["0", "1", "2", "3", "4", "5"]),
    ("i", "Int", &["-2", "-1", "0", "1", "2", "3"]),
    ("c", "C", &["red", "green", "blue"]),
    ("b", "Bool", &["false", "true"]),
    (
        "l",
        "List(Bool)",
        &["[]", "[true]", "[false]", "[true, true]", "[true, false]", "[false, true]", "[false, false]"],
    ),
];

/// A random truth value over variables.
fn atom(names: &[usize], depth: usize, random: &mut Random) -> String {
    if depth > 0 && random.chance(40) {
        let mut inside = || atom(names, depth - 1, random);
        let (one, other) = (inside(), inside());
        return match random.below(5) {
            0 => format!("({one} && {other})"),
            1 => format!("({one} || {other})"),
            2 => format!("({one} => {other})"),
            3 => format!("!({one})"),
            _ => format!("(exists k: Nat. k < 3 && (k == 1 => {one}))"),
        };
    }
    let name = names[random.below(names.len())];
    let [value, another] = [(); 2].map(|()| VARIABLES[name].2[random.below(VARIABLES[name].2.len())]);
    let other = names[random.below(names.len())];
    let (name, other, sort) = (VARIABLES[name].0, VARIABLES[other], VARIABLES[name].1);
    let compared = ["==", "!=", "<", "<=", ">", ">="][random.below(6)];
    match sort {
        "Nat" | "Int" if ["Nat", "Int"].contains(&other.1) && random.chance(50) => {
            let (factor, constant) = (1 + random.below(3), random.below(3));
            match random.below(5) {
                0 => format!("{name} {compared} {} + {constant}", other.0),
                1 => format!("{name} - {} {compared} {constant}", other.0),
                2 => format!("{factor} * {name} + {} {compared} {}", other.0, 3 * constant),
                3 => format!("{constant} - {name} {compared} -{factor} * {}", other.0),
                _ => format!("succ({name}) + max({}, {constant}) {compared} {}", other.0, 2 * factor),
            }
        }
        "Bool" if random.chance(50) => format!("{}{name}", ["", "!"][random.below(2)]),
        "List(Bool)" => format!("#{name} {compared} {}", random.below(3)),
        _ if random.chance(25) => format!("{name} in [{value}, {another}]"),
        _ => format!("{name} {compared} {value}"),
    }
}

/// Random conditions with bounds in random places, solved and tried by all values.
#[test]
fn solutions_are_those_that_trying_all_values_finds() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let mut random = Random::new(seed);
    let mut found_some = 0;
    for _ in 0..120 {
        let mut names: Vec<usize> = (0..VARIABLES.len()).collect();
        for place in (1..names.len()).rev() {
            names.swap(place, random.below(place + 1));
        }
        names.truncate(1 + random.below(3));
        let mut conjuncts: Vec<String> = (0..random.below(3)).map(|_| atom(&names, 2, &mut random)).collect();
        for &name in &names {
            let bound = match VARIABLES[name].0 {
                "n" => {
                    ["n <= 5", "n < 6", "5 >= n", "n in [5, 0, 3, 1, 1]", "n in { k: Nat | k < 4 }"][random.below(5)]
                }
                "m" => ["m <= 5", "!(m > 5)", "m in {1, 2, 4}"][random.below(3)],
                "i" => ["(i < 4 && i > -3)", "i in [-1, 3, 0]", "i >= -2 && 3 >= i"][random.below(3)],
                "l" => ["#l < 3", "2 >= #l"][random.below(2)],
                _ => continue,
            };
            conjuncts.insert(random.below(conjuncts.len() + 1), bound.to_string());
        }
        let condition = if conjuncts.is_empty() { "true".to_string() } else { conjuncts.join(" && ") };
        let declared: Vec<String> =
            names.iter().map(|&name| format!("{}: {}", VARIABLES[name].0, VARIABLES[name].1)).collect();
        let text = format!("{}. {condition}", declared.join(", "));
        let (data, sources, _) = page(include_str!("solve.md"));
        let file = sources.clone().add("expression", text.as_str());
        let mut solved = Vec::new();
        let warnings = data.solve(&text, file, Some(3_000_000), &Control::default(), &mut |solution| {
            solved.push(solution);
            true
        });
        assert_eq!(warnings.unwrap_or_else(|none| panic!("{text}: {none:?}")), [], "{text}");
        let mut tried = vec![Vec::new()];
        for &name in &names {
            let with = |values: Vec<&'static str>| {
                VARIABLES[name].2.iter().map(move |&value| [&values[..], &[value]].concat())
            };
            tried = tried.into_iter().flat_map(with).collect();
        }
        let (data, _) = support::values::data("sort C = struct red | green | blue;");
        let instances: Vec<String> = tried
            .iter()
            .map(|values| format!("(lambda {}. {condition})({})", declared.join(", "), values.join(", ")))
            .collect();
        let texts: Vec<&str> = instances.iter().map(String::as_str).collect();
        let holds = support::values::values(&texts, &data, false, u64::MAX);
        let mut wanted: Vec<String> = tried
            .iter()
            .zip(holds)
            .filter(|(_, holds)| holds.as_deref() == Ok("true"))
            .map(|(values, _)| {
                let pairs = names.iter().zip(values).map(|(&name, value)| format!("{} := {value}", VARIABLES[name].0));
                format!("[{}]", pairs.collect::<Vec<_>>().join(", "))
            })
            .collect();
        solved.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(solved, wanted, "{text}");
        found_some += usize::from(!wanted.is_empty());
    }
    assert!(found_some > 60, "{found_some} conditions have a solution");
}
