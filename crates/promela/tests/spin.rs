//! Our numbers are Spin's numbers: on every example, and on random programs.

mod support;

use std::path::PathBuf;

use support::{
    Numbers, check_honesty, compile, has_spin, is_compared, numbers_in, numbers_of, pan, roomy, spin, unreached,
    unreached_in,
};
use trefoil_testkit::promela::random_program;
use trefoil_testkit::{Random, seed};

fn examples() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela");
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the examples").map(|entry| entry.expect("one").path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "pml"));
    found.sort();
    found
}

/// `/* expect: 38 states, 65 transitions, 0 errors */`
fn expected(text: &str) -> Numbers {
    let line = text.lines().find_map(|line| line.strip_prefix("/* expect: ")).expect("an expectation");
    let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    Numbers { states: numbers[0], transitions: numbers[1], errors: numbers[2] }
}

#[test]
fn examples_have_the_numbers_that_they_name() {
    assert!(examples().len() >= 25);
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("an example");
        let (program, diagnostics, _) = compile(&path.to_string_lossy(), &text);
        let program = program.unwrap_or_else(|| panic!("{}: {diagnostics:?}", path.display()));
        let model = roomy(program);
        for threads in [1, 2] {
            assert_eq!(numbers_of(&model, threads), Some(expected(&text)), "{}", path.display());
        }
    }
}

#[test]
fn examples_have_the_numbers_of_spin() {
    if !has_spin() {
        return;
    }
    for (number, path) in examples().into_iter().enumerate() {
        if !is_compared(number) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("an example");
        let said = pan(&text).unwrap_or_default();
        assert_eq!(numbers_in(&said), Some(expected(&text)), "{}", path.display());
        let (program, ..) = compile(&path.to_string_lossy(), &text);
        let model = roomy(program.expect("it compiles"));
        numbers_of(&model, 2);
        assert_eq!(unreached(&model), unreached_in(&said), "{}", path.display());
    }
}

#[test]
fn declarations_of_examples_are_honest() {
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("an example");
        if expected(&text).states > 400 {
            continue;
        }
        let (program, ..) = compile(&path.to_string_lossy(), &text);
        let states = check_honesty(program.expect("it compiles"));
        assert_eq!(states, expected(&text).states, "{}", path.display());
    }
}

/// How many random programs are tried; more with `TREFOIL_PROMELA_CASES`.
fn cases(few: u64) -> u64 {
    std::env::var("TREFOIL_PROMELA_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

#[test]
fn random_programs_have_the_numbers_of_spin() {
    if !has_spin() {
        return;
    }
    let seed = seed();
    let mut compared = 0;
    for case in 0..cases(6) {
        let text = random_program(&mut Random::new(seed.wrapping_add(case)));
        let (program, diagnostics, _) = compile("random.pml", &text);
        let program = program.unwrap_or_else(|| panic!("{diagnostics:?}\n{text}"));
        let ours = numbers_of(&roomy(program), 1);
        let Some(theirs) = spin(&text) else { continue };
        // How often Spin reports one error depends on the order of its search; states and transitions do not.
        assert_eq!(
            ours.map(|numbers| (numbers.states, numbers.transitions)),
            Some((theirs.states, theirs.transitions)),
            "TREFOIL_SEED={seed}, case {case}\n{text}"
        );
        compared += 1;
    }
    assert!(compared > 0, "Spin refused every program");
}

#[test]
fn declarations_of_random_programs_are_honest() {
    let seed = seed();
    for case in 0..cases(30) {
        let text = random_program(&mut Random::new(seed.wrapping_add(1_000 + case)));
        let (program, diagnostics, _) = compile("random.pml", &text);
        let program = program.unwrap_or_else(|| panic!("{diagnostics:?}\n{text}"));
        let model = roomy(program.clone());
        if numbers_of(&model, 2).is_some_and(|numbers| numbers.states < 1_000) {
            check_honesty(program);
        }
    }
}
