//! A reduction by symmetry that is given up on the way answers as a check that never used one: the same verdicts,
//! counts and lengths of counterexamples, on every example.

use std::path::{Path, PathBuf};

use trefoil_control::Control;
use trefoil_session::check::{Asked, AssertionReport, PriceRule, Script, SymmetryUse};
use trefoil_session::{Job, Verdict};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/csp");
    let entries = std::fs::read_dir(folder).expect("the folder of the examples");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "csp"));
    found.sort();
    found
}

fn answers(path: &Path, symmetry: SymmetryUse, price: Option<PriceRule>) -> Vec<AssertionReport> {
    let job = || Job::new(Control::unlimited(), 2);
    let mut script = Script::open(path, None, &job()).unwrap_or_else(|_| panic!("{}", path.display()));
    price.into_iter().for_each(|price| script.set_price_rule(price));
    let asked = Asked { symmetry: Some(symmetry), ..Asked::default() };
    (1..=script.assertions().count()).map(|index| script.run(index, &asked, &job())).collect()
}

fn length(report: &AssertionReport) -> Option<usize> {
    report.witness.as_ref().map(|witness| witness.length)
}

#[test]
fn a_reduction_that_is_given_up_answers_as_none() {
    let mut given_up = 0;
    for path in examples() {
        let without = answers(&path, SymmetryUse::Off, None);
        for after in [1, 40] {
            let price = PriceRule { after, always: true };
            for (with, without) in answers(&path, SymmetryUse::Automatic, Some(price)).iter().zip(&without) {
                let what = format!("{}: {} after {after}", path.display(), with.assertion.assertion_string);
                assert_eq!(with.verdict, without.verdict, "{what}");
                assert_eq!(length(with), length(without), "{what}");
                if with.why.as_ref().is_some_and(|why| why.contains("without symmetry: given up")) {
                    given_up += 1;
                    assert!(with.symmetry.is_none(), "{what}");
                    assert_eq!(with.visited.states, without.visited.states, "{what}");
                    assert_ne!(with.verdict, Verdict::Unknown, "{what}");
                }
            }
        }
    }
    assert!(given_up > 20, "too few reductions are given up: {given_up}");
}
