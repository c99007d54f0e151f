//! Formulas mean what the definition says: the game of a formula and a system, solved naively, against sets of states.

mod support;

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_games::formula::game::FormulaGame;
use trefoil_games::solve::{Deciding, Player, decide};
use trefoil_lts::equivalence::{Equivalence, minimise};
use trefoil_system::System;
use trefoil_testkit::formulas::{Formula, LabelledSystem, SPECIFICATION};
use trefoil_testkit::{Random, seed};

#[test]
fn random_formulas_hold_where_the_definition_says() {
    let signature = support::signature(SPECIFICATION);
    let seed = seed();
    let (mut yes, mut no) = (0, 0);
    for round in 0..1500 {
        let mut random = Random::new(seed.wrapping_add(round));
        let system = LabelledSystem::random(&mut random);
        let formula = Formula::random(&mut random);
        let text = formula.to_string();
        let read = support::read(&text, &signature).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes:?}"));
        let found = support::holds(read, support::aut(&system.aut()));
        let found = found.unwrap_or_else(|cut| panic!("TREFOIL_SEED={}: {text}\n{cut:?}", seed.wrapping_add(round)));
        let expected = formula.holds(&system);
        assert_eq!(found, expected, "TREFOIL_SEED={} (round 0)\n{text}\n{}", seed.wrapping_add(round), system.aut());
        *(if expected { &mut yes } else { &mut no }) += 1;
    }
    assert!(yes > 300 && no > 300, "{yes} hold, {no} fail");
}

/// Whether a formula holds in a system, by the driver that solves the game while it explores it.
fn decided(formula: trefoil_games::formula::Formula, model: Arc<dyn System>, threads: usize) -> bool {
    let control = Control::unlimited();
    let game = FormulaGame::new(formula, model, &control).expect("there is no budget");
    let decision = decide(&game, &Deciding { threads, ..Deciding::default() }, &control);
    decision.unwrap_or_else(|undecided| panic!("{:?}", undecided.cut)).winner == Player::Even
}

#[test]
fn the_driver_decides_random_formulas_and_bisimilar_systems_agree_on_them() {
    let signature = support::signature(SPECIFICATION);
    let seed = seed();
    for round in 0..400 {
        let mut random = Random::new(seed.wrapping_add(10_000 + round));
        let system = LabelledSystem::random(&mut random);
        let formula = Formula::random(&mut random);
        let text = formula.to_string();
        let read = support::read(&text, &signature).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes:?}"));
        let context = format!("TREFOIL_SEED={}\n{text}\n{}", seed.wrapping_add(10_000 + round), system.aut());
        let expected = formula.holds(&system);
        let lts = support::lts(&system.aut());
        let quotient = minimise(&lts, Equivalence::Strong, &Control::unlimited()).expect("no budget").lts;
        let lts = Arc::new(lts);
        assert_eq!(decided(read.clone(), lts.clone(), 1), expected, "{context}");
        assert_eq!(decided(read.clone(), lts, 2), expected, "{context}");
        assert_eq!(decided(read, Arc::new(quotient), 1), expected, "of the quotient: {context}");
    }
}

#[test]
fn quantifiers_over_infinite_sorts_are_bounded_by_labels_and_conditions() {
    let signature = support::signature("act n: Nat; m: Nat; p: Nat # Nat; init delta;");
    let model = "des (0,4,3)\n(0,\"n(2)\",1)\n(1,\"m(2)\",2)\n(1,\"m(7)\",2)\n(2,\"p(4,5)\",0)\n";
    for (text, expected) in [
        ("forall i: Nat. [n(i)]<m(i)>true", true),
        ("forall i: Nat. [true* . m(i)]val(i < 7)", false),
        ("forall i: Nat. [true* . m(i)]val(i <= 7)", true),
        ("exists i: Nat. <n(i)>(exists j: Nat. <m(j)>val(j == i + 5))", true),
        ("exists i: Nat. <n(i)>(exists j: Nat. <m(j)>val(j == i + 6))", false),
        ("forall i, j: Nat. [true* . p(i, j)]val(j == i + 1)", true),
        ("[!(exists i: Nat. n(i))]false", true),
        ("[true* . !(exists i: Nat. n(i) || m(i))]false", false),
        // What is offered bounds the variable below a choice of the opponent.
        ("forall i: Nat. <n(i)>true => [n(i)]<m(i)>true", true),
        ("[true*](forall i: Nat. <m(i)>true => val(i == 2))", false),
        ("[true*](forall i: Nat. <m(i)>true => val(i == 2 || i == 7))", true),
        ("exists i: Nat. val(i > 100) && val(i mod 7 == 3)", true),
        ("forall i: Nat. val(i < 100) => val(i * i < 10000)", true),
        // A condition before the modality whose label binds its variable.
        ("[true*](forall i, j: Nat. val(i != j) => [n(i) . m(j)]false)", false),
        ("[true*](forall i, j: Nat. val(i != j && j < 7) => [n(i) . m(j)]false)", true),
        ("forall i, j: Nat. val(i != j) => [n(i)][m(j)]val(j == 7)", true),
        ("forall i, j: Nat. val(i == j) || [n(i) . !m(i)* . m(j)]val(j == 7)", true),
        ("forall i: Nat. val(i > 7) => [true* . m(i)]false", true),
        ("forall i: Nat. val(i > 6) => [true* . m(i)]false", false),
        ("exists i, j: Nat. val(i != j) && <n(i) . m(j)>true", true),
        ("exists i, j: Nat. val(i > j) && <n(i) . m(j)>true", false),
        ("exists i: Nat. val(i > 6) && <true* . m(i)>true", true),
        ("exists i, j: Nat. val(i > j) && (<n(i)><m(j)>true || <true . true . p(j, i)>true)", true),
        ("[true*](forall i, j: Nat. [n(i) || m(j)]val(i < 3 || j < 3))", false),
        ("[true*](forall i, j: Nat. val(i < 3) => [n(i) || m(j)]val(i < 3 || j < 3))", true),
        ("mu X(i: Nat = 0). val(i == 3) || (val(i < 5) && <true>X(i + 1))", true),
    ] {
        let read = support::read(text, &signature).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes:?}"));
        assert_eq!(support::holds(read, support::aut(model)), Ok(expected), "{text}");
    }
    let read = support::read("exists i: Nat. nu X. <true>X && [n(i)]false", &signature).expect("a formula");
    let cut = support::holds(read, support::aut(model)).expect_err("it is unbounded");
    let trefoil_system::Cut::Wrong(wrong) = cut else { panic!("{cut:?}") };
    assert!(wrong.message.contains("`i: Nat`") && wrong.place.is_some(), "{wrong:?}");
}
