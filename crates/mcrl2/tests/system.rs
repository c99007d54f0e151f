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
use trefoil_mcrl2::linear::{Analyses, linearise};
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
    let (mut compared, mut states) = (0, 0);
    for number in 0..150 {
        let specification = RandomSpecification::new(&mut Random::new(seed() + number));
        let text = &specification.text;
        let Ok(slow) = space(text, 3, 400) else { continue };
        for (analyses, threads) in [(Analyses::ALL, 1), (Analyses::NONE, 1), (Analyses::ALL, 2)] {
            let own = graph(model(text, analyses), threads).unwrap_or_else(|cut| panic!("{number}: {cut:?}\n{text}"));
            assert!(bisimilar(&slow, &own), "{number}, {analyses:?}:\n{text}\n{slow:?}\n{own:?}");
        }
        compared += 1;
        states += slow.state_count();
    }
    assert!(compared >= 80 && states >= 1_000, "{compared} specifications with {states} states");
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
fn what_is_wrong_with_a_model_is_said() {
    let wrong = |text: &str| match graph(model(text, Analyses::ALL), 1) {
        Err(Cut::Wrong(wrong)) => wrong.message,
        other => panic!("{text}: {other:?}"),
    };
    let stuck = wrong("act a; map f: Nat -> Bool; init (f(1)) -> a . delta;");
    assert!(stuck.contains("neither true nor false") && stuck.contains("f(1)"), "{stuck}");
    let endless = wrong("act a: Nat; init sum n: Nat . a(n) . delta;");
    assert!(endless.contains("`n: Nat`") && endless.contains("`a`"), "{endless}");
}
