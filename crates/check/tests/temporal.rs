//! The temporal engine against the definition of acceptance, on random systems; its lassos are replayed.

use std::sync::Arc;

use trefoil_check::{Offered, Posed, Row, Table};
use trefoil_control::Control;
use trefoil_questions::{
    Asked, ErrorKinds, Evidence, Explored, Facts, Fairness, Found, Question, Recur, Says, TemporalClaim, Unanswered,
};
use trefoil_system::{Automaton, AutomatonEdge, Cube, Cut, Ltl, System};
use trefoil_temporal::TemporalEngine;
use trefoil_testkit::temporal::{
    PlainFairness, PlainStep, PlainSystem, has_accepted_run, random_automaton, random_formula,
};
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
    let answers = answers(system, claims, asked, fairness, threads, explored, table);
    answers.into_iter().map(|answer| answer.expect("an answer")).collect()
}

/// The evidence against each claim, or why it has no answer.
fn answers(
    system: &Arc<dyn System>,
    claims: &[TemporalClaim],
    asked: &[usize],
    fairness: Fairness,
    threads: usize,
    explored: &Explored,
    table: &Table,
) -> Vec<Result<Option<Evidence>, String>> {
    let control = Control::unlimited();
    asked
        .iter()
        .map(|&asked| {
            let no_steps = ErrorKinds::default();
            let recur = Recur { claims, asked, decided_as: asked, fairness, explored, no_steps, visible: None };
            let facts = Facts::of(&**system);
            let posed = Posed::new(table, Question::Recur(recur), &facts, &Asked::default(), threads, &control);
            let offered = Offered { system: system.clone(), reduction: None, insisted: false };
            match posed.ok().unwrap().answer(&offered, &control) {
                Ok(answer) => match &answer.found[asked] {
                    Found::Holds(None) => Ok(None),
                    Found::Fails(evidence) => Ok(Some(evidence.clone())),
                    other => panic!("{other:?}"),
                },
                Err(Unanswered::Cut { cut: Cut::Wrong(wrong), .. }) => Err(wrong.message),
                Err(other) => panic!("{other:?}"),
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
                places: Vec::new(),
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
                TemporalClaim { says, propositions: vec![0, 1], places: Vec::new(), stutters: true, passing: 0 }
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

/// The systems that a system with propositions without a value may be: with each combination of values.
fn completions(plain: &PlainSystem, undefined: &[u32]) -> Vec<PlainSystem> {
    let missing: Vec<(usize, u32)> = (0..undefined.len())
        .flat_map(|state| (0..2).map(move |own| (state, 1 << own)))
        .filter(|&(state, bit)| undefined[state] & bit != 0)
        .collect();
    (0..1u32 << missing.len())
        .map(|values| {
            let mut letters: Vec<u32> = (0..undefined.len()).map(|at| plain.letters[at] & !undefined[at]).collect();
            for (number, &(state, bit)) in missing.iter().enumerate() {
                letters[state] |= if values >> number & 1 == 1 { bit } else { 0 };
            }
            PlainSystem::new(plain.steps.clone(), letters)
        })
        .collect()
}

/// States that the system comes to.
fn reachable(plain: &PlainSystem) -> Vec<u32> {
    let mut reached = vec![0];
    let mut at = 0;
    while at < reached.len() {
        for step in &plain.steps[reached[at] as usize] {
            if !reached.contains(&step.target) {
                reached.push(step.target);
            }
        }
        at += 1;
    }
    reached
}

#[test]
fn a_verdict_is_the_same_whatever_values_propositions_without_one_are_given() {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut holding, mut failing, mut open, mut needless) = (0, 0, 0, 0);
    for round in 0..1500 {
        let states = 1 + random.below(4);
        let plain = PlainSystem::random(states, 2, 3, &mut random);
        let undefined: Vec<u32> =
            (0..states).map(|_| if random.chance(35) { 1 << random.below(2) } else { 0 }).collect();
        let completions = completions(&plain, &undefined);
        let mut ltl = Ltl::default();
        let claims: Vec<TemporalClaim> = (0..3)
            .map(|number| {
                let (says, stutters) = match number {
                    0 => {
                        let formula = random_formula(&mut ltl, 4, 2, &mut random);
                        (Says::Holds(ltl.clone(), formula), true)
                    }
                    _ => (Says::Accepts(random_automaton(1 + random.below(3), 2, &mut random)), random.chance(50)),
                };
                TemporalClaim { says, propositions: vec![0, 1], places: Vec::new(), stutters, passing: 0 }
            })
            .collect();
        let (fairness, plainly) = [
            (Fairness::None, PlainFairness::None),
            (Fairness::Weak, PlainFairness::Weak),
            (Fairness::Strong, PlainFairness::Strong),
        ][round % 3];
        let table = table((round % 2 == 1).then(|| &PAUSING[round / 2 % 3]));
        let words = format!(
            "TREFOIL_SEED={seed} round {round} {fairness:?}: {:?} {:?} {undefined:?}",
            plain.steps, plain.letters
        );
        let reachable = reachable(&plain);
        let is_met = reachable.iter().any(|&state| undefined[state as usize] != 0);
        let system: Arc<dyn System> = Arc::new(plain.with_undefined(undefined));
        let asked: Vec<usize> = (0..claims.len()).collect();
        let found = answers(&system, &claims, &asked, fairness, 1, &Explored::default(), &table);
        assert_eq!(found, answers(&system, &claims, &asked, fairness, 3, &Explored::default(), &table), "{words}");
        for (number, found) in found.iter().enumerate() {
            // What another claim's search has kept changes nothing.
            let alone = answers(&system, &claims, &[number], fairness, 1, &Explored::default(), &table);
            assert_eq!(alone[0], *found, "claim {number}: {words}");
            let Says::Accepts(automaton) = &claims[number].says else { continue };
            let expected: Option<Vec<bool>> = completions
                .iter()
                .map(|plain| has_accepted_run(plain, automaton, claims[number].stutters, 0, plainly))
                .collect();
            let Some(expected) = expected else { continue };
            match found {
                Ok(evidence) => {
                    assert!(expected.iter().all(|one| *one == evidence.is_some()), "{automaton:?} {words}");
                    if evidence.is_some() { failing += 1 } else { holding += 1 }
                }
                Err(_) => {
                    assert!(is_met, "{automaton:?} {words}");
                    open += 1;
                    needless += usize::from(expected.iter().all(|one| *one == expected[0]));
                }
            }
        }
    }
    assert!(holding > 100 && failing > 100 && open > 100, "{holding} hold, {failing} fail, {open} are open");
    println!("{holding} hold, {failing} fail, {open} are open, {needless} of these whatever the values are");
}

#[test]
fn an_automaton_looks_only_where_it_comes_to() {
    // 0 → 1 → 2 → 2; proposition 0 has no value in state 1, and proposition 1 holds in state 0 alone.
    let step = |target| vec![PlainStep { target, initiator: 0, taking_part: 1, passes: false }];
    let plain = PlainSystem::new(vec![step(1), step(2), step(2)], vec![0b10, 0, 0]).with_undefined(vec![0, 1, 0]);
    let system: Arc<dyn System> = Arc::new(plain);
    let edge = |letters, marks, target| AutomatonEdge { letters, marks, target };
    let (p, q) = (Cube::literal(0, true), Cube::literal(1, true));
    // At `p && q`, which is false in state 1 whatever `p` is there; at `p` from the first state; at `p` in state 1.
    let both = p.and(q).unwrap();
    let automata = [
        vec![vec![edge(Cube::ALL, 0, 0), edge(both, 1, 1)], vec![edge(Cube::ALL, 1, 1)]],
        vec![vec![edge(p, 0, 1)], vec![edge(p, 1, 1)]],
        vec![vec![edge(Cube::ALL, 0, 0), edge(p, 1, 1)], vec![edge(Cube::ALL, 1, 1)]],
    ];
    let claims: Vec<TemporalClaim> = automata
        .into_iter()
        .map(|edges| {
            let says = Says::Accepts(Automaton { edges, initial: vec![0], marks: 1, end: None });
            TemporalClaim { says, propositions: vec![0, 1], places: Vec::new(), stutters: true, passing: 0 }
        })
        .collect();
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        let found = answers(&system, &claims, &[0, 1, 2], fairness, 1, &Explored::default(), &table(None));
        let error = "proposition 0 has no value in state 1".to_string();
        assert_eq!(found, [Ok(None), Ok(None), Err(error)], "{fairness:?}");
    }
}
