//! The slow semantics of `trefoil_testkit` on texts: sizes that are known, and random specifications.

#[path = "support/bisimulation.rs"]
mod bisimulation;
#[path = "support/semantics.rs"]
mod semantics;

use bisimulation::{bisimilar, labels, minimised};
use semantics::space;
use trefoil_testkit::mcrl2::random::RandomSpecification;
use trefoil_testkit::mcrl2::semantics::Failure;
use trefoil_testkit::{Random, seed};

#[test]
fn small_processes_do_what_the_rules_say() {
    let page = include_str!("semantics.md");
    let (declarations, rest) =
        page.split_once("```mcrl2\n").expect("declarations").1.split_once("```").expect("an end");
    let rows = rest.lines().filter(|line| line.starts_with("| `"));
    let mut tried = 0;
    for row in rows {
        let cells: Vec<String> = row
            .replace("\\|", "\u{1}")
            .trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().replace('\u{1}', "|"))
            .collect();
        let process = cells[0].trim_matches('`');
        let text = format!("{declarations}\ninit {process};");
        let lts = space(&text, 3, 1_000).unwrap_or_else(|failure| panic!("{process}: {failure:?}"));
        let found = (lts.state_count().to_string(), lts.transition_count().to_string(), labels(&lts).join(" "));
        assert_eq!(found, (cells[1].clone(), cells[2].clone(), cells[3].trim_matches('`').to_string()), "{process}");
        tried += 1;
    }
    assert!(tried >= 30, "{tried} processes are on the page");
}

#[test]
fn examples_have_the_minimised_sizes_that_they_name() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mcrl2");
    let mut tried = 0;
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let expected = text.lines().find_map(|line| line.strip_prefix("% expect: ")).expect("an expectation");
        let expected = expected.rsplit("minimised ").next().expect("the last sizes");
        let lts = space(&text, 5, 20_000).unwrap_or_else(|failure| panic!("{}: {failure:?}", path.display()));
        let (states, transitions) = minimised(&lts);
        assert_eq!(format!("{states} states, {transitions} transitions"), expected, "{}", path.display());
        tried += 1;
    }
    assert!(tried >= 25, "{tried} examples");
}

/// The text of a random specification, read and evaluated by the crates under test, means what its tree means.
#[test]
fn texts_of_random_specifications_mean_what_their_trees_mean() {
    let (mut compared, mut terminating, mut states) = (0, 0, 0);
    for number in 0..150 {
        let mut specification = RandomSpecification::new(&mut Random::new(seed() + number));
        let own = specification.lts(400);
        if matches!(own, Err(Failure::TooLarge)) {
            continue;
        }
        let own = own.unwrap_or_else(|failure| panic!("{number}: {failure:?}\n{}", specification.text));
        let read = space(&specification.text, 3, 400).unwrap_or_else(|failure| panic!("{number}: {failure:?}"));
        assert_eq!(own.state_count(), read.state_count(), "{number}:\n{}", specification.text);
        assert!(bisimilar(&own, &read), "{number}:\n{}", specification.text);
        compared += 1;
        states += own.state_count();
        terminating += usize::from(labels(&own).contains(&"✓".to_string()));
    }
    assert!(compared >= 80 && terminating >= 20 && states >= 1_000, "{compared}, {terminating}, {states}");
}

#[test]
fn failures_are_named() {
    let text = "act a; proc P(n: Nat) = a . P(n + 1); init P(0);";
    assert_eq!(space(text, 3, 100).map(|_| ()), Err(Failure::TooLarge));
    let text = "act a; map f: Nat -> Bool; init (f(1)) -> a;";
    assert_eq!(space(text, 3, 100).map(|_| ()), Err(Failure::Stuck("f(1)".to_string())));
    let text = "act a; proc P(n: Nat) = (n > 0) -> (a || P(n + 1)) <> a; init P(1);";
    assert_eq!(space(text, 3, 100).map(|_| ()), Err(Failure::Unguarded));
}
