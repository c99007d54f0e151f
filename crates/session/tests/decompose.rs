//! Random specifications and formulas: a decomposition gives the same verdicts, with runs of the specification.

use trefoil_control::Control;
use trefoil_session::check::{AnyScript, Asked, Decompose, Wanted};
use trefoil_session::{Job, Verdict};
use trefoil_testkit::mcrl2::cleave::random_process;
use trefoil_testkit::{Random, seed};

/// Formulas that notice internal steps, that do not, and that name no action.
const FORMULAS: &[&str] = &[
    "[true*]<true>true",
    "[true* . exists x: D. a(x)]false",
    "<true* . t . true* . (exists x: D. a(x))>true",
    "[true* . t](mu X. [!(exists y: Bool. b(y))]X && <true>true)",
    "<true . true . true>true",
    "<tau . tau>true",
    "[(!t)* . (exists y: Bool. b(y)) . (!t)*]<true* . t>true",
    "nu X. mu Y. [t]X && [!t]Y",
    "<true+ . t>true",
    "mu X. [!t]X && <true>true",
    "forall x: D. [true* . a(x)]<true* . t>true",
    "[tau* . t]<tau* . (exists y: Bool. b(y))>true",
    "<(t + tau)* . (exists y: Bool. b(y) || t)>true",
];

/// One parameter against all others.
fn in_parts(name: &str) -> Asked {
    Asked { decompose: Some(Decompose::By(format!("{name} / *"))), ..Asked::default() }
}

#[test]
fn formulas_have_the_same_value_in_a_decomposition() {
    let file = std::env::temp_dir().join(format!("trefoil-decompose-{}.mcrl2", std::process::id()));
    let job = Job::new(Control::unlimited(), 1);
    let wanted = Wanted { formulas: FORMULAS.iter().map(|text| text.to_string()).collect(), ..Wanted::default() };
    let (mut values, mut runs, mut branching) = ([0, 0], 0, 0);
    for number in 0..60 {
        let mut random = Random::new(seed() + 5_000 + number);
        let process = random_process(&mut random);
        let text = process.text();
        std::fs::write(&file, &text).expect("a file");
        let mut script =
            AnyScript::open_with(&file, None, &wanted, &job).unwrap_or_else(|problem| panic!("{problem:?}"));
        // Analyses may have removed parameters, which then cannot be named.
        let is_there = |name: &&str| {
            let asked = in_parts(name);
            let why =
                AnyScript::open_with(&file, None, &wanted, &job).map(|mut script| script.run(1, &asked, &job).reason);
            !matches!(why, Ok(Some(why)) if why.contains("has no parameter") || why.contains("no parameter is left"))
        };
        let names: Vec<&str> = process.parameters.iter().map(|(name, ..)| name.as_str()).collect();
        let Some(name) = names.into_iter().find(is_there) else { continue };
        let asked = in_parts(name);
        for (place, formula) in FORMULAS.iter().enumerate() {
            let one = script.run(place + 1, &Asked::default(), &job);
            let other = script.run(place + 1, &asked, &job);
            let context = format!("TREFOIL_SEED={}\n{formula}\n{text}\n{:?}", seed() + 5_000 + number, other.reason);
            assert_eq!(one.verdict, other.verdict, "{context}");
            values[usize::from(one.verdict == Verdict::Holds)] += 1;
            let of_formula = other.witness.iter().flat_map(|witness| &witness.runs);
            runs += of_formula.filter(|run| run.steps.len() + run.cycle.len() > 0).count();
            branching += usize::from(other.reductions.iter().any(|line| line.contains("branching")));
        }
    }
    std::fs::remove_file(&file).expect("a file that was written");
    assert!(values[0] > 100 && values[1] > 100 && runs > 50 && branching > 100, "{values:?} {runs} {branching}");
}
