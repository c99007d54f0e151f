//! Formulas about the labels of steps, against the definition: random systems with internal steps, deadlocks and
//! divergences. Where a formula fails, the word of the run that is found violates it by the definition; where it holds,
//! no lasso up to a length violates it.

use std::sync::Arc;

use trefoil_check::{Offered, Posed, Table};
use trefoil_control::Control;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_questions::{
    Asked, ErrorKinds, Evidence, Explored, Facts, Fairness, Found, Question, Recur, Says, TemporalClaim,
};
use trefoil_system::{LabelId, Labels, Ltl, LtlId, StateId};
use trefoil_temporal::{Words, automaton, over_words};
use trefoil_testkit::temporal::{PlainLasso, holds, random_formula, words_of_lassos};
use trefoil_testkit::{Random, seed};

const NAMES: [&str; 3] = ["a", "b", "c"];

fn system(steps: &[(u32, Option<usize>, u32)], states: u32) -> Arc<Lts> {
    let labels = Arc::new(Labels::new());
    let mut builder = LtsBuilder::new(labels.clone());
    builder.at_least(states);
    for &(source, name, target) in steps {
        let label = name.map_or(LabelId::TAU, |name| labels.name(NAMES[name]));
        builder.add(StateId(source), label, StateId(target));
    }
    Arc::new(builder.build(StateId(0)))
}

/// The word of a run that violates a formula; nothing when the formula holds.
fn violation(lts: &Arc<Lts>, ltl: &Ltl, formula: LtlId, threads: usize) -> Option<PlainLasso> {
    let control = Control::unlimited();
    let names = lts.labels().clone();
    let letter = move |label: LabelId, _: &Control| {
        let name = names.get(label).to_string();
        Ok(NAMES.iter().position(|known| *known == name).map_or(0, |place| 1 << place))
    };
    let system = Arc::new(Words::new(lts.clone(), NAMES.len(), Arc::new(letter)));
    let forbidden = automaton(ltl, formula, true, &control).expect("small formulas have automata");
    let claims = [TemporalClaim {
        passing: 0,
        says: Says::Accepts(over_words(&forbidden)),
        propositions: (0..NAMES.len() as u32 + 2).collect(),
        places: Vec::new(),
        stutters: true,
    }];
    let explored = Explored::default();
    let recur = Recur {
        claims: &claims,
        asked: 0,
        decided_as: 0,
        fairness: Fairness::None,
        explored: &explored,
        no_steps: ErrorKinds::default(),
        visible: None,
    };
    let facts = Facts::of(&*system);
    let asked = Asked::default();
    let posed = Posed::new(Table::standard(), Question::Recur(recur), &facts, &asked, threads, &control);
    let Ok(posed) = posed else { panic!("no engine takes claims") };
    let answer = posed.answer(&Offered { system, reduction: None, insisted: false }, &control).expect("an answer");
    match &answer.found[0] {
        Found::Fails(Evidence::Lasso { path, cycle }) => {
            let (letters, back_to) = Words::word(&path.steps, cycle);
            Some(PlainLasso { letters, back_to })
        }
        Found::Fails(Evidence::Prefix(path)) => {
            // Whatever follows: also nothing.
            let (letters, back_to) = Words::word(&path.steps, &[]);
            Some(PlainLasso { letters, back_to })
        }
        Found::Fails(_) => panic!("another kind of evidence"),
        _ => None,
    }
}

#[test]
fn formulas_about_labels_have_the_verdicts_of_the_definition() {
    let seed = seed();
    let mut random = Random::new(seed);
    let rounds = std::env::var("TREFOIL_WORDS").ok().and_then(|text| text.parse().ok()).unwrap_or(250);
    let (mut holding, mut failing) = (0, 0);
    for round in 0..rounds {
        let states = 1 + random.below(4) as u32;
        let steps: Vec<(u32, Option<usize>, u32)> = (0..random.below(8))
            .map(|_| {
                let (source, target) = (random.below(states as usize) as u32, random.below(states as usize) as u32);
                let name = if random.chance(35) { None } else { Some(random.below(NAMES.len())) };
                (source, name, target)
            })
            .collect();
        let lts = system(&steps, states);
        let mut ltl = Ltl::default();
        let formula = random_formula(&mut ltl, 1 + round % 5, 2, &mut random);
        let name = |proposition: u32| NAMES[proposition as usize].to_string();
        let told = format!("TREFOIL_SEED={seed} round {round}: {} on {steps:?}", ltl.text(formula, &name));
        match violation(&lts, &ltl, formula, 1 + round % 2) {
            Some(word) => {
                failing += 1;
                assert!(!holds(&ltl, formula, &word, 0), "{told}\n{word:?} satisfies it");
            }
            None => {
                holding += 1;
                for word in words_of_lassos(&steps, 6) {
                    assert!(holds(&ltl, formula, &word, 0), "{told}\n{word:?} violates it");
                }
            }
        }
    }
    println!("{holding} hold, {failing} fail");
    assert!(10 * holding > rounds && 10 * failing > rounds, "{holding} hold, {failing} fail");
}

/// What happens when nothing more happens: a deadlock, a divergence, and neither.
#[test]
fn runs_that_end_and_runs_that_diverge() {
    let mut ltl = Ltl::default();
    let (a, b) = (ltl.proposition(0), ltl.proposition(1));
    let (next, eventually) = (ltl.next(b), ltl.eventually(b));
    let not_b = ltl.not(b);
    let never = ltl.always(not_b);
    let not_a = ltl.not(a);
    let end = ltl.always(not_a);
    let ends = ltl.eventually(end);
    type Steps<'s> = &'s [(u32, Option<usize>, u32)];
    let cases: [(Steps<'_>, [bool; 5]); 4] = [
        // a, then nothing: `a` holds at once, `X b`, `<> b`, `[] !b`, `<> [] !a`.
        (&[(0, Some(0), 1)], [true, false, false, true, true]),
        // τ before a does not count; then a divergence.
        (&[(0, None, 1), (1, Some(0), 2), (2, None, 2)], [true, false, false, true, true]),
        // a and then b, again and again, with τ between.
        (&[(0, Some(0), 1), (1, None, 2), (2, Some(1), 0)], [true, true, true, false, false]),
        // The run may stop waiting at any time: it need not, and then it diverges.
        (&[(0, None, 0), (0, Some(1), 0)], [false, false, false, false, true]),
    ];
    for (steps, expected) in cases {
        let lts = system(steps, 3);
        let formulas = [a, next, eventually, never, ends];
        let found = formulas.map(|formula| violation(&lts, &ltl, formula, 1).is_none());
        assert_eq!(found, expected, "{steps:?}");
    }
}
