//! Automata against formulas: the definition on lassos decides.

use trefoil_control::Control;
use trefoil_system::{Automaton, Ltl, LtlId};
use trefoil_temporal::{Strength, automaton, simplify};
use trefoil_testkit::temporal::{PlainLasso, holds, random_automaton, random_formula};
use trefoil_testkit::{Random, seed};

fn translated(ltl: &Ltl, formula: LtlId, negated: bool) -> Automaton {
    automaton(ltl, formula, negated, &Control::unlimited()).expect("small formulas have automata")
}

fn accepts(automaton: &Automaton, lasso: &PlainLasso) -> bool {
    automaton.accepts(lasso.letters.len(), lasso.back_to, |at| lasso.letters[at])
}

fn name(proposition: u32) -> String {
    ["p", "q", "r", "s"][proposition as usize].to_string()
}

#[test]
fn automata_accept_the_lassos_that_formulas_hold_of() {
    let seed = seed();
    let mut random = Random::new(seed);
    let rounds = std::env::var("TREFOIL_FORMULAS").ok().and_then(|text| text.parse().ok()).unwrap_or(250);
    for round in 0..rounds {
        let mut ltl = Ltl::default();
        let size = 1 + round % 8;
        let formula = random_formula(&mut ltl, size, 2, &mut random);
        let [plain, negated] = [false, true].map(|negated| translated(&ltl, formula, negated));
        let mut lassos: Vec<PlainLasso> = (1..=3).flat_map(|length| PlainLasso::all(length, 2)).collect();
        lassos.extend((0..60).map(|_| PlainLasso {
            letters: (0..6).map(|_| random.below(4) as u64).collect(),
            back_to: random.below(6),
        }));
        for lasso in &lassos {
            let expected = holds(&ltl, formula, lasso, 0);
            let text = ltl.text(formula, &name);
            let words = format!("TREFOIL_SEED={seed} round {round}: {text} on {lasso:?}");
            let evaluated = ltl.holds_on(formula, lasso.letters.len(), lasso.back_to, |proposition, at| {
                lasso.letters[at] >> proposition & 1 == 1
            });
            assert_eq!(evaluated, expected, "evaluation: {words}");
            assert_eq!(accepts(&plain, lasso), expected, "automaton: {words}\n{plain:?}");
            assert_eq!(accepts(&negated, lasso), !expected, "negation: {words}\n{negated:?}");
        }
    }
}

#[test]
fn every_lasso_up_to_length_six() {
    let mut ltl = Ltl::default();
    let (p, q) = (ltl.proposition(0), ltl.proposition(1));
    let until = ltl.until(p, q);
    let always = ltl.always(until);
    let eventually = ltl.eventually(always);
    let next = ltl.next(q);
    let either = ltl.or(next, eventually);
    for formula in [until, always, eventually, either] {
        let automaton = translated(&ltl, formula, false);
        for lasso in (1..=6).flat_map(|length| PlainLasso::all(length, 2)) {
            assert_eq!(accepts(&automaton, &lasso), holds(&ltl, formula, &lasso, 0), "{lasso:?}");
        }
    }
}

#[test]
fn simplification_keeps_what_is_accepted() {
    let seed = seed();
    let mut random = Random::new(seed);
    for round in 0..600 {
        let whole = random_automaton(1 + round % 6, 2, &mut random);
        let small = simplify(whole.clone(), &Control::unlimited()).unwrap();
        assert!(small.edges.len() <= whole.edges.len());
        for lasso in (1..=3).flat_map(|length| PlainLasso::all(length, 2)) {
            let words = format!("TREFOIL_SEED={seed} round {round}: {lasso:?}\n{whole:?}\n{small:?}");
            assert_eq!(accepts(&small, &lasso), accepts(&whole, &lasso), "{words}");
        }
    }
}

#[test]
fn formulas_that_people_write_have_small_automata() {
    let mut ltl = Ltl::default();
    let (p, q) = (ltl.proposition(0), ltl.proposition(1));
    let invariant = ltl.always(p);
    let response = {
        let later = ltl.eventually(q);
        let answered = ltl.implies(p, later);
        ltl.always(answered)
    };
    let recurrence = {
        let later = ltl.eventually(p);
        ltl.always(later)
    };
    let fair_response = ltl.implies(recurrence, response);
    let precedence = ltl.weak_until(p, q);
    for (formula, states, strength) in [
        (invariant, 2, Strength::Terminal),
        (response, 2, Strength::Weak),
        (recurrence, 2, Strength::Weak),
        (fair_response, 2, Strength::Strong),
        (precedence, 2, Strength::Terminal),
    ] {
        let automaton = translated(&ltl, formula, true);
        let text = ltl.text(formula, &name);
        assert_eq!((automaton.edges.len(), Strength::of(&automaton)), (states, strength), "{text}: {automaton:?}");
    }
}
