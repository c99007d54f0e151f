//! Invariants: those that the user writes and those that are found, against the definition; parts become smaller, and
//! their composition stays bisimilar to the original.

#[allow(dead_code)]
#[path = "support/bisimulation.rs"]
mod bisimulation;
#[allow(dead_code)]
#[path = "support/decomposed.rs"]
mod decomposed;

use std::sync::Arc;

use bisimulation::bisimilar;
use decomposed::{graph, model, nothing, of_linear};
use trefoil_control::Control;
use trefoil_lts::equivalence::{Equivalence, compare};
use trefoil_mcrl2::decompose::{
    Decomposition, Freedom, Partition, Undone, WrittenInvariant, decompose, read_invariant,
};
use trefoil_mcrl2::linear::Analyses;
use trefoil_mcrl2::system::Model;
use trefoil_source::FileId;
use trefoil_system::{Labels, System, Writing};
use trefoil_testkit::mcrl2::cleave::{random_partition, random_process};
use trefoil_testkit::mcrl2::invariants::Judgement;
use trefoil_testkit::{Random, seed};

/// The model with an invariant that it observes.
fn observing(model: &Model, invariant: &str) -> (Arc<Model>, Vec<WrittenInvariant>) {
    let mut linear = model.linear().clone();
    let read = read_invariant(&mut linear, invariant, FileId(1));
    let written = read.unwrap_or_else(|diagnostics| panic!("{invariant}: {diagnostics:?}"));
    let conditions: Vec<_> = written.iter().map(|one| one.condition).collect();
    let labels = Arc::new(Labels::written(Writing::Brackets));
    let model = Model::observing(Arc::new(linear), &conditions, labels, &Control::unlimited());
    (Arc::new(model.unwrap_or_else(|none| panic!("{none:?}"))), written)
}

fn taken_apart(
    model: &Arc<Model>,
    partition: &Partition,
    equivalence: Equivalence,
    invariants: Option<&[WrittenInvariant]>,
) -> Result<Decomposition, Undone> {
    let freedom = Freedom { equivalence, hidden: &nothing(), invariants };
    decompose(model, partition, &freedom, &Control::unlimited())
}

fn states(made: &Decomposition) -> usize {
    made.parts.iter().map(|part| part.states).sum()
}

#[test]
fn invariants_are_what_the_definition_says_and_keep_the_behaviour() {
    let (mut accepted, mut refused, mut smaller) = (0, 0, 0);
    for number in 0..300 {
        let mut random = Random::new(seed() + 5_000 + number);
        let process = random_process(&mut random);
        let parts = 2 + random.below(2);
        let partition = random_partition(&mut random, process.parameters.len(), parts);
        let invariant = process.random_invariant(&mut random);
        let text = process.text();
        let context = format!("TREFOIL_SEED={}\n{}\n{partition:?}\n{text}", seed() + 5_000 + number, invariant.text());
        let plain = model(&text, Analyses::NONE);
        let whole = graph(&plain);
        let partition = of_linear(&process, &plain, &partition);
        let without = taken_apart(&plain, &partition, Equivalence::Strong, None);
        let without = without.unwrap_or_else(|undone| panic!("{undone:?} {context}"));
        assert!(bisimilar(without.lts(), &whole), "without: {context}");
        // What is found by itself.
        let found = taken_apart(&plain, &partition, Equivalence::Strong, Some(&[]));
        let found = found.unwrap_or_else(|undone| panic!("{undone:?} {context}"));
        assert!(bisimilar(found.lts(), &whole), "found: {:?} {context}", found.invariants);
        assert!(states(&found) <= states(&without), "{context}");
        smaller += usize::from(states(&found) < states(&without));
        // What the user writes. Parameters that never change are not in the linear process.
        let is_there = |name: &str| plain.linear().parameters.iter().any(|known| known.source == name);
        let names = process.parameters.iter().map(|(name, ..)| name.as_str());
        if names.filter(|name| invariant.text().contains(name)).any(|name| !is_there(name)) {
            continue;
        }
        let (observed, written) = observing(&plain, &invariant.text());
        let judgement = process.judge(&invariant);
        match taken_apart(&observed, &partition, Equivalence::Strong, Some(&written)) {
            Ok(made) => {
                accepted += 1;
                assert!(process.reachable().iter().all(|state| process.holds(&invariant, state)), "{context}");
                assert!(bisimilar(made.lts(), &whole), "written: {context}");
                assert!(states(&made) <= states(&without), "{context}");
                let other = taken_apart(&observed, &partition, Equivalence::DivergenceBranching, Some(&written));
                let other = other.unwrap_or_else(|undone| panic!("{undone:?} {context}"));
                let same = compare(other.lts(), &whole, Equivalence::DivergenceBranching, &Control::unlimited());
                assert!(same.expect("no limit").equivalent, "{context}");
            }
            Err(Undone::Refused(why)) => {
                refused += 1;
                assert_ne!(judgement, Judgement::Inductive, "{why}\n{context}");
                let reason = if judgement == Judgement::FalseInitially { "false initially" } else { "not inductive" };
                assert!(why.contains(reason), "{why}\n{context}");
                assert!(judgement == Judgement::FalseInitially || why.contains("summand"), "{why}");
            }
            Err(undone) => panic!("{undone:?} {context}"),
        }
    }
    assert!(accepted > 40 && refused > 40 && smaller > 3, "{accepted} accepted, {refused} refused, {smaller} smaller");
}

/// A counter that two parts advance: without an invariant the part of the counter does not know when to stop.
const MACHINE: &str = "act start, step, stop;\n\
    proc P(n: Nat, busy: Bool) = (!busy) -> start . P(n = 0, busy = true) + (busy && n < 3) -> step . P(n = n + 1)\n\
    + (busy && n == 3) -> stop . P(busy = false);\n\
    init P(0, false);\n";

#[test]
fn an_invariant_that_is_not_inductive_is_refused_with_summand_and_values() {
    let model = model(MACHINE, Analyses::NONE);
    let partition: Partition = vec![vec![0], vec![1]];
    let refused = |text: &str| {
        let (observed, written) = observing(&model, text);
        match taken_apart(&observed, &partition, Equivalence::Strong, Some(&written)) {
            Err(Undone::Refused(why)) => why,
            Err(undone) => panic!("{undone:?}"),
            Ok(_) => panic!("`{text}` is accepted"),
        }
    };
    let why = refused("n <= 2");
    assert!(why.contains("`n <= 2` is not inductive: summand 2 (`step`)"), "{why}");
    assert!(why.contains("n = 2") && why.contains("n = 3"), "{why}");
    let why = refused("busy || n == 1");
    assert!(why.contains("false initially with ") && why.contains("n = 0") && why.contains("busy = false"), "{why}");
    for text in ["n <= 3", "n <= 3 && (busy || n == 0 || n == 3)"] {
        let (observed, written) = observing(&model, text);
        let made = taken_apart(&observed, &partition, Equivalence::Strong, Some(&written));
        let made = made.unwrap_or_else(|undone| panic!("{text}: {undone:?}"));
        assert!(bisimilar(made.lts(), &graph(&model)));
        assert!(made.invariants.iter().any(|one| one == text), "{:?}", made.invariants);
    }
}

#[test]
fn an_invariant_is_typed_over_the_parameters() {
    let model = model(MACHINE, Analyses::NONE);
    for text in ["m < 3", "n + 1", "n < ", "n < 3 && start"] {
        let mut linear = model.linear().clone();
        assert!(read_invariant(&mut linear, text, FileId(1)).is_err(), "{text}");
    }
    assert_eq!(model.layout().slots().len(), 2);
    let unknown = read_invariant(&mut model.linear().clone(), "m < 3", FileId(1)).expect_err("there is no m");
    let help = unknown[0].help.as_deref().expect("a hint");
    assert!(help.ends_with("parameters of the linear process: busy, n"), "{help}");
}

#[test]
fn three_recompositions_of_one_model_are_equal() {
    let control = Control::unlimited();
    for number in 0..40 {
        let mut random = Random::new(seed() + 6_000 + number);
        let process = random_process(&mut random);
        let model = model(&process.text(), Analyses::NONE);
        let made: Vec<Decomposition> = (0..3)
            .map(|round| {
                let partition = random_partition(&mut random, process.parameters.len(), 2 + round);
                let partition = of_linear(&process, &model, &partition);
                let invariants: Option<&[WrittenInvariant]> = if round == 2 { Some(&[]) } else { None };
                taken_apart(&model, &partition, Equivalence::Strong, invariants).unwrap_or_else(|no| panic!("{no:?}"))
            })
            .collect();
        for (one, other) in [(0, 1), (1, 2), (0, 2)] {
            let same = compare(made[one].lts(), made[other].lts(), Equivalence::Strong, &control);
            assert!(same.expect("no limit").equivalent, "TREFOIL_SEED={}", seed() + 6_000 + number);
        }
        let sizes: Vec<(usize, usize)> =
            made.iter().map(|one| (one.minimised().state_count(), one.minimised().transition_count())).collect();
        assert!(sizes.iter().all(|size| *size == sizes[0]), "TREFOIL_SEED={} {sizes:?}", seed() + 6_000 + number);
    }
}

#[test]
fn what_no_sample_shows_is_not_excluded() {
    // The sample ends before the counter reaches 45 000, so `late` and `last` are false wherever it looked. The summand
    // that sets `late` reads a parameter without bound and writes a constant; the other one reads `late`.
    let text = "act a, b, c;\nproc P(n: Nat, late: Bool, last: Bool) = (n < 50000) -> a . P(n = n + 1)\n\
        + (n == 45000 && !late) -> b . P(late = true) + (late && !last) -> c . P(last = true);\n\
        init P(0, false, false);";
    let model = model(text, Analyses::NONE);
    let slot = |name: &str| model.layout().slots().iter().position(|slot| slot.name == name).expect("a parameter");
    let partition: Partition = vec![vec![slot("n")], vec![slot("late")], vec![slot("last")]];
    let made = taken_apart(&model, &partition, Equivalence::Strong, Some(&[]));
    let made = made.unwrap_or_else(|undone| panic!("{undone:?}"));
    // 50 001 states before `b`, 5 001 between `b` and `c`, and as many after `c`.
    assert_eq!(made.lts().state_count(), 60_003);
    let same = compare(made.lts(), &graph(&model), Equivalence::Strong, &Control::unlimited());
    assert!(same.expect("no limit").equivalent);
}

#[test]
fn a_loop_of_internal_steps_inside_a_part_stays() {
    // One part loops internally without end, the other one ends: no deadlock is reached, and the end diverges.
    let text = "act a; proc P(x: Bool, y: Bool) = tau . P(x = !x) + y -> a . P(y = false); init P(true, true);";
    let model = model(text, Analyses::NONE);
    let partition: Partition = vec![vec![0], vec![1]];
    let whole = graph(&model);
    for equivalence in [Equivalence::Strong, Equivalence::DivergenceBranching] {
        let made = taken_apart(&model, &partition, equivalence, None).unwrap_or_else(|undone| panic!("{undone:?}"));
        assert!(compare(made.lts(), &whole, equivalence, &Control::unlimited()).expect("no limit").equivalent);
        assert!(made.lts().states().all(|state| !made.lts().outgoing(state).is_empty()));
    }
}
