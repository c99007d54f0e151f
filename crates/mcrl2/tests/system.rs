//! The system of a linear process against the slow semantics: random specifications and the examples, with every
//! analysis and with none, on one thread and on two.

#[path = "support/bisimulation.rs"]
mod bisimulation;
#[path = "support/semantics.rs"]
mod semantics;

use std::sync::Arc;

use bisimulation::{bisimilar, minimised};
use semantics::space;
use trefoil_control::Control;
use trefoil_lts::{Lts, generate};
use trefoil_mcrl2::linear::{Analyses, linearise, linearise_within};
use trefoil_mcrl2::system::Model;
use trefoil_mcrl2::{processes, syntax};
use trefoil_source::FileId;
use trefoil_system::{Checked, Cut, Labels, System, Writing};
use trefoil_testkit::mcrl2::random::RandomSpecification;
use trefoil_testkit::{Random, seed};

fn model(text: &str, analyses: Analyses) -> Model {
    let control = Control::unlimited();
    let mut diagnostics = Vec::new();
    let tree = syntax::parse(text, FileId(0), &mut diagnostics);
    let typed = processes::check(&tree, text, &mut diagnostics).unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
    let linear = linearise(&typed, analyses, &control).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
    let labels = Arc::new(Labels::written(Writing::Brackets));
    Model::new(Arc::new(linear), labels, &control).unwrap_or_else(|none| panic!("{text}: {none:?}"))
}

/// The system of a linear process whose components' summands are clustered.
fn clustered(text: &str) -> Model {
    let control = Control::unlimited();
    let mut diagnostics = Vec::new();
    let tree = syntax::parse(text, FileId(0), &mut diagnostics);
    let typed = processes::check(&tree, text, &mut diagnostics).unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
    let linear = linearise_within(&typed, Analyses::ALL, 1, &control).unwrap_or_else(|no| panic!("{text}: {no:?}"));
    let labels = Arc::new(Labels::written(Writing::Brackets));
    Model::new(Arc::new(linear), labels, &control).unwrap_or_else(|none| panic!("{text}: {none:?}"))
}

/// The graph of a system; what it declares of its groups is checked on the way.
fn graph(model: Model, threads: usize) -> Result<Lts, Cut> {
    let control = Control::unlimited();
    let wider = model.widened();
    match generate(&Checked::new(model), threads, &control) {
        Ok(generated) => Ok(generated.lts),
        Err(unfinished) if unfinished.cut == Cut::Outgrown => {
            let wider = wider.expect("a system that is outgrown has a wider form");
            generate(&*wider, threads, &control).map(|generated| generated.lts).map_err(|unfinished| unfinished.cut)
        }
        Err(unfinished) => Err(unfinished.cut),
    }
}

#[test]
fn random_specifications_mean_what_the_rules_say() {
    let (mut compared, mut states, mut clusters) = (0, 0, 0);
    for number in 0..150 {
        let specification = RandomSpecification::new(&mut Random::new(seed() + number));
        let text = &specification.text;
        let Ok(slow) = space(text, 3, 400) else { continue };
        for (analyses, threads) in [(Analyses::ALL, 1), (Analyses::NONE, 1), (Analyses::ALL, 2)] {
            let own = graph(model(text, analyses), threads).unwrap_or_else(|cut| panic!("{number}: {cut:?}\n{text}"));
            assert!(bisimilar(&slow, &own), "{number}, {analyses:?}:\n{text}\n{slow:?}\n{own:?}");
        }
        let model = clustered(text);
        clusters += usize::from(model.linear().report.iter().any(|line| line.starts_with("clusters: ")));
        let own = graph(model, 1).unwrap_or_else(|cut| panic!("{number}: {cut:?}\n{text}"));
        assert!(bisimilar(&slow, &own), "{number}, clustered:\n{text}\n{slow:?}\n{own:?}");
        compared += 1;
        states += slow.state_count();
    }
    assert!(compared >= 80 && states >= 1_000, "{compared} specifications with {states} states");
    assert!(clusters >= 20, "{clusters} specifications with clusters");
}

#[test]
fn examples_have_the_sizes_that_they_name() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mcrl2");
    let mut tried = 0;
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let expected = text.lines().find_map(|line| line.strip_prefix("% expect: ")).expect("an expectation");
        let whole: usize = expected.split(' ').next().and_then(|word| word.parse().ok()).expect("a number of states");
        let smallest = expected.rsplit("minimised ").next().expect("the last sizes");
        let own = graph(model(&text, Analyses::ALL), 2).unwrap_or_else(|cut| panic!("{}: {cut:?}", path.display()));
        assert!(own.state_count() <= whole, "{}: {} states", path.display(), own.state_count());
        let (states, transitions) = minimised(&own);
        assert_eq!(format!("{states} states, {transitions} transitions"), smallest, "{}", path.display());
        tried += 1;
    }
    assert!(tried >= 25, "{tried} examples");
}

/// A stuck value of a finite sort is not in the list of its values.
#[test]
fn a_system_that_is_outgrown_has_a_wider_form() {
    let text = "sort D = struct d1 | d2; act a: D; proc P(d: D, l: List(D)) = a(d) . P(head(l), tail(l));
                init P(d1, [d2]);";
    let control = Control::unlimited();
    let narrow = model(text, Analyses::NONE);
    let wider = narrow.widened().expect("it has parameters of a finite sort");
    assert_eq!(generate(&narrow, 1, &control).map(|_| ()).map_err(|rest| rest.cut), Err(Cut::Outgrown));
    let control = Control::new(trefoil_control::Limits {
        time: Some(std::time::Duration::from_millis(50)),
        ..trefoil_control::Limits::default()
    });
    assert_eq!(generate(&*wider, 1, &control).map(|_| ()).map_err(|rest| rest.cut), Err(Cut::Stopped));
}

#[test]
fn functions_with_one_normal_form_are_one_value() {
    for (states, transitions, text) in [
        (
            2,
            2,
            "act a: Bool; proc P(f: Nat -> Bool) = a(f(0)) . P(lambda n: Nat. !f(n)); init P(lambda n: Nat. n < 3);",
        ),
        (2, 2, "act a: Bool; proc P(f: Nat -> Bool) = a(f(0)) . P(lambda m: Nat. !f(m)); init P(lambda n: Nat. true);"),
        (2, 2, "act a: Nat; proc P(s: Bag(Nat)) = a(count(1, s)) . P(s * { n: Nat | 2 }); init P({ n: Nat | 5 });"),
        (1, 1, "act a: Bool; proc P(s: Set(Nat)) = a(0 in s) . P(s + { n: Nat | n < 3 }); init P({ n: Nat | n < 3 });"),
        (
            2,
            2,
            "sort S = struct c(l: List(Bool -> Bool)); act a: S;
             proc P(s: S) = a(s) . P(c([lambda b: Bool. !head(l(s))(b)])); init P(c([lambda b: Bool. b]));",
        ),
        // An open body without a normal form is kept as it is.
        (
            1,
            1,
            "map f: Nat -> Nat; var n: Nat; eqn f(n) = f(n + 1); act a;
             proc P(g: Nat -> Nat) = a . P(lambda n: Nat. f(n)); init P(lambda n: Nat. f(n));",
        ),
    ] {
        let found = graph(model(text, Analyses::NONE), 2).unwrap_or_else(|cut| panic!("{text}: {cut:?}"));
        assert_eq!((found.state_count(), found.transition_count()), (states, transitions), "{text}");
    }
}

#[test]
fn what_is_wrong_with_a_model_is_said() {
    let wrong = |text: &str| match graph(model(text, Analyses::ALL), 1) {
        Err(Cut::Wrong(wrong)) => wrong.message,
        other => panic!("{text}: {other:?}"),
    };
    let stuck = wrong("act a; map f: Nat -> Bool; init (f(1)) -> a . delta;");
    assert!(stuck.contains("neither true nor false") && stuck.contains("f(1)"), "{stuck}");
}

/// The values of a sum that do not come to an end are no error of the model: there is no answer.
#[test]
fn a_sum_beyond_its_budget_names_variable_sort_and_state() {
    let text = "act a: Nat; proc P(m: Nat) = a(m) . (sum n: Nat . (n * n != m) -> a(n) . P(n)); init P(7);";
    match graph(model(text, Analyses::ALL), 1) {
        Err(Cut::Beyond(beyond)) => {
            let message = beyond.message;
            for part in ["`n: Nat`", "`a`", "m=7"] {
                assert!(message.contains(part), "{message}");
            }
        }
        other => panic!("{other:?}"),
    }
}

/// A sender and a receiver that count in different circles: whole keys are as many as states, keys of parts are not.
const CIRCLES: &str = "act s, r, c, at: Nat;
    proc S(x: Nat) = s(x mod 3) . S((x + 1) mod 101);
         R(y: Nat) = sum v: Nat . r(v) . R((y + v + 1) mod 97) + at(y) . R(y);
    init allow({c, at}, comm({s|r -> c}, S(0) || R(0)));";

#[test]
fn joined_summands_are_remembered_in_their_parts() {
    let model = Arc::new(model(CIRCLES, Analyses::ALL));
    let states = generate(&*model, 1, &Control::unlimited()).expect("it ends").lts.state_count() as u64;
    let facts = model.facts();
    assert!(states > 8_000, "{states} states");
    // The table of the whole summand is hit when the first state is expanded again at most, and dropped.
    let joined = model.groups().iter().position(|group| group.name == "c").expect("it communicates");
    let whole = facts.tables[joined];
    assert!(whole.dropped && whole.entries == 0 && whole.hits <= 1, "{facts:?}");
    assert!(facts.parts.entries <= 101 + 101 + 3 * 97, "{facts:?}");
    assert!(facts.parts.hits * 10 >= facts.parts.questions * 9, "{facts:?}");
}

#[test]
fn facts_say_which_parameters_grow() {
    let text = "act a: Nat; proc P(n: Nat, b: Bool) = (n < 5000) -> a(n) . P(n + 1, !b); init P(0, true);";
    let model = model(text, Analyses::ALL);
    assert_eq!(model.facts().parameters[0].values, 1);
    generate(&model, 1, &Control::unlimited()).expect("it ends");
    let facts = model.facts();
    assert_eq!((facts.parameters[0].values, facts.parameters[0].latest.as_deref()), (5001, Some("5000")));
    assert!(facts.tables[0].dropped && facts.tables[0].questions >= 5001, "{facts:?}");
}

/// Groups that read more than half of the parameters, and why they do.
const WIDE: &[(&str, &str, &str)] = &[
    ("railway", "near", "a train and the gate take it together, and the gate counts: 3 of 4 parameters"),
    ("railway", "past", "as near"),
    ("relay", "Terminate", "all components terminate together, so the control of each is read"),
    ("renamed_cells", "tau", "two cells with two parameters each communicate: the value and both controls"),
    ("river_crossing", "carry", "one component, whose condition and new values depend on both banks"),
    ("river_crossing", "row", "one component, whose condition depends on the side of the boat and on its bank"),
    ("sliding_window", "ack", "the sender and the receiver take it together: 4 of 6 parameters"),
    ("sliding_window", "data", "the sender and the medium take it together: 4 of 6 parameters"),
    ("two_phase_commit", "abort", "the coordinator decides by all votes, with one participant"),
    ("two_phase_commit", "commit", "as abort"),
    ("two_phase_commit", "tau", "as abort, without a participant: the votes are the parameters"),
];

#[test]
fn groups_that_read_more_than_half_of_the_parameters_have_a_reason() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mcrl2");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let model = model(&text, Analyses::ALL);
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let slots = model.layout().slots().len();
        // Where there are few parameters, half of them are soon read.
        for group in model.groups().iter().filter(|_| slots >= 4) {
            let read = group.guards.union(&group.reads);
            if 2 * read.iter().count() > slots {
                found.push((name.clone(), group.name.clone()));
            }
        }
    }
    found.sort();
    found.dedup();
    let expected: Vec<(String, String)> =
        WIDE.iter().map(|(file, group, _)| (file.to_string(), group.to_string())).collect();
    assert_eq!(found, expected);
}
