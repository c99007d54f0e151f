//! The temporal engine against the definition of acceptance, on random systems; its lassos are replayed.

use std::sync::Arc;

use trefoil_check::{Offered, Posed, Row, Table};
use trefoil_control::Control;
use trefoil_questions::{
    Asked, ErrorKinds, Evidence, Explored, Facts, Fairness, Found, Question, Recur, Says, TemporalClaim,
};
use trefoil_system::{Ltl, System};
use trefoil_temporal::TemporalEngine;
use trefoil_testkit::temporal::{PlainFairness, PlainSystem, has_accepted_run, random_automaton, random_formula};
use trefoil_testkit::{Random, seed};

/// Engines that pause after a few states.
static PAUSING: [TemporalEngine; 3] =
    [TemporalEngine::pausing_after(1), TemporalEngine::pausing_after(2), TemporalEngine::pausing_after(5)];

/// The usual table, or one whose temporal engine is another.
fn table(engine: Option<&'static TemporalEngine>) -> Table {
    match engine {
        Some(engine) => Table::standard().clone().with(Row { engine, reductions: &[] }),
        None => Table::standard().clone(),
    }
}

/// The evidence against each claim.
fn violations(
    system: &Arc<dyn System>,
    claims: &[TemporalClaim],
    fairness: Fairness,
    threads: usize,
    engine: Option<&'static TemporalEngine>,
) -> Vec<Option<Evidence>> {
    let (explored, table) = (Explored::default(), table(engine));
    let asked: Vec<usize> = (0..claims.len()).collect();
    violations_of(system, claims, &asked, fairness, threads, &explored, &table)
}

fn violations_of(
    system: &Arc<dyn System>,
    claims: &[TemporalClaim],
    asked: &[usize],
    fairness: Fairness,
    threads: usize,
    explored: &Explored,
    table: &Table,
) -> Vec<Option<Evidence>> {
    let control = Control::unlimited();
    asked
        .iter()
        .map(|&asked| {
            let no_steps = ErrorKinds::default();
            let recur = Recur { claims, asked, decided_as: asked, fairness, explored, no_steps, visible: None };
            let facts = Facts::of(&**system);
            let posed = Posed::new(table, Question::Recur(recur), &facts, &Asked::default(), threads, &control);
            let offered = Offered { system: system.clone(), reduction: None, insisted: false };
            let answer = posed.ok().unwrap().answer(&offered, &control).unwrap();
            match &answer.found[asked] {
                Found::Holds(None) => None,
                Found::Fails(evidence) => Some(evidence.clone()),
                other => panic!("{other:?}"),
            }
        })
        .collect()
}

#[test]
fn automata_accept_no_run_exactly_when_the_definition_says_so() {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut holding, mut failing) = (0, 0);
    for round in 0..3000 {
        let plain = Arc::new(PlainSystem::random(1 + random.below(5), 2, 3, &mut random));
        let system: Arc<dyn System> = plain.clone();
        let stutters = random.chance(50);
        let automata: Vec<_> = (0..3).map(|_| random_automaton(1 + random.below(3), 2, &mut random)).collect();
        let claims: Vec<TemporalClaim> = automata
            .iter()
            .map(|automaton| TemporalClaim {
                says: Says::Accepts(automaton.clone()),
                propositions: vec![0, 1],
                stutters,
                passing: random.bits() as u32 & automaton.all_marks(),
            })
            .collect();
        let (fairness, plainly) = [
            (Fairness::None, PlainFairness::None),
            (Fairness::Weak, PlainFairness::Weak),
            (Fairness::Strong, PlainFairness::Strong),
        ][round % 3];
        let engine = (round % 2 == 1).then(|| &PAUSING[round / 2 % 3]);
        let found = violations(&system, &claims, fairness, 1, engine);
        for ((automaton, claim), found) in automata.iter().zip(&claims).zip(&found) {
            let passing = claim.passing;
            let Some(expected) = has_accepted_run(&plain, automaton, stutters, passing, plainly) else { continue };
            let words = format!(
                "TREFOIL_SEED={seed} round {round} {fairness:?}, passing {passing}: {automaton:?}\n{:?} {:?}",
                plain.steps, plain.letters
            );
            assert_eq!(found.is_some(), expected, "{words}");
            if expected { failing += 1 } else { holding += 1 }
        }
    }
    assert!(holding > 300 && failing > 300, "{holding} hold, {failing} fail");
}

#[test]
fn formulas_fail_with_the_same_lasso_on_any_number_of_threads() {
    let seed = seed();
    let mut random = Random::new(seed);
    let mut failing = 0;
    for _ in 0..150 {
        let plain = Arc::new(PlainSystem::random(2 + random.below(12), 2, 3, &mut random));
        let system: Arc<dyn System> = plain.clone();
        let mut ltl = Ltl::default();
        let claims: Vec<TemporalClaim> = (0..3)
            .map(|_| {
                let formula = random_formula(&mut ltl, 5, 2, &mut random);
                let says = Says::Holds(ltl.clone(), formula);
                TemporalClaim { says, propositions: vec![0, 1], stutters: true, passing: 0 }
            })
            .collect();
        let engine = [None, Some(&PAUSING[0]), Some(&PAUSING[1])][random.below(3)];
        let one = violations(&system, &claims, Fairness::Weak, 1, engine);
        assert_eq!(one, violations(&system, &claims, Fairness::Weak, 3, engine));
        failing += one.iter().flatten().count();
        // What another claim's search has kept changes nothing.
        for asked in 0..claims.len() {
            let explored = Explored::default();
            let alone = violations_of(&system, &claims, &[asked], Fairness::Weak, 1, &explored, &table(engine));
            let words = format!("TREFOIL_SEED={seed} {:?}\n{:?} {:?}", claims[asked].says, plain.steps, plain.letters);
            assert_eq!(alone[0], one[asked], "claim {asked}: {words}");
        }
    }
    assert!(failing > 100, "{failing} fail");
}
