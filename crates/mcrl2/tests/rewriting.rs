//! Normal forms of random terms over random specifications, beside rewriting straight from the definitions.

mod support;

use support::values::{data, values};
use trefoil_testkit::rewriting::Rewriting;
use trefoil_testkit::rewriting::random::Specification;
use trefoil_testkit::seed;

/// Terms over one specification.
const TERMS: usize = 100;

/// Steps that the oracles take before a term is left out.
const STEPS: usize = 1000;

/// Places at which the oracles try rules before a term is left out.
const PLACES: usize = 20_000;

/// How many terms are compared; more with `TREFOIL_DATA_TERMS`.
fn terms() -> usize {
    std::env::var("TREFOIL_DATA_TERMS").ok().and_then(|text| text.parse().ok()).unwrap_or(3000)
}

#[test]
fn normal_forms_are_those_of_innermost_and_outermost_rewriting() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let (mut compared, mut left_out, mut case, mut taken) = (0, 0, 0, 0);
    while compared < terms() {
        if case > 0 && case % 100 == 0 {
            println!("{compared} terms agree, {left_out} left out");
        }
        let case_seed = seed.wrapping_add(case);
        case += 1;
        let mut specification = Specification::new(case_seed);
        let text = specification.text();
        let (data, warnings) = data(&text);
        assert_eq!(warnings, [""; 0], "seed {case_seed}\n{text}");
        let terms: Vec<_> = (0..TERMS).map(|_| specification.closed()).collect();
        let mut known = Vec::new();
        for term in &terms {
            let fresh = || Rewriting { rules: &specification.rules, steps: STEPS, places: PLACES };
            let mut rewriting = fresh();
            let innermost = rewriting.innermost(term);
            taken += STEPS - rewriting.steps;
            let outermost = fresh().outermost(term);
            match (innermost, outermost) {
                (Ok(innermost), Ok(outermost)) => {
                    assert_eq!(innermost, outermost, "seed {case_seed}: the oracles differ on {}\n{text}", term.text());
                    known.push((term.text(), innermost.shown()));
                }
                _ => left_out += 1,
            }
        }
        let texts: Vec<&str> = known.iter().map(|(text, _)| text.as_str()).collect();
        let found = values(&texts, &data, false, u64::MAX);
        for ((term, expected), found) in known.iter().zip(found) {
            assert_eq!(found.as_ref(), Ok(expected), "seed {case_seed}: {term}\n{text}");
            compared += 1;
        }
    }
    println!(
        "{compared} terms over {case} specifications, {taken} steps; {left_out} took more than {STEPS} steps or {PLACES} places"
    );
    assert!(taken > 2 * compared, "{taken} steps are few");
    assert!(left_out < compared, "the oracles gave up on {left_out} terms");
}
