//! Formulas mean what the definition says: the game of a formula and a system, solved naively, against sets of states.

mod support;

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
