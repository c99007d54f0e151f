//! The formulas that distinguish two systems are formulas of this language: they are read, and the game decides that
//! one system satisfies them and the other one does not.

mod support;

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_games::formula::Signature;
use trefoil_lts::equivalence::{EQUIVALENCES, Evidence, Side, compare};
use trefoil_system::Labels;
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

#[test]
fn a_distinguishing_formula_is_read_and_decided() {
    let seed = seed();
    let mut decided = 0;
    for round in 0..300 {
        let mut random = Random::new(seed.wrapping_add(round));
        let labels = Arc::new(Labels::new());
        let [left, right] = [0; 2].map(|_| {
            let states = 1 + random.below(6);
            let tau_percent = [0, 30, 60][random.below(3)];
            let transitions = random.below(2 * states + 2);
            let shape = RandomShape { states: states as u32, transitions, labels: 2, tau_percent };
            Arc::new(random_lts(&labels, shape, &mut random))
        });
        let signature = Signature::of_labels(&labels);
        for info in EQUIVALENCES {
            let compared = compare(&left, &right, info.equivalence, &Control::unlimited()).expect("no budget");
            let Some(Evidence::Formula { formula, holder, .. }) = compared.evidence else { continue };
            let text = formula.to_string();
            let context = format!("TREFOIL_SEED={} (round 0): {text}", seed.wrapping_add(round));
            let read = support::read(&text, &signature).unwrap_or_else(|mistakes| panic!("{context}\n{mistakes:?}"));
            let again = support::read(&read.text.print(), &signature);
            assert!(again.is_ok_and(|again| again.text.print() == read.text.print()), "{context}");
            for (system, side) in [(&left, Side::Left), (&right, Side::Right)] {
                let holds = support::holds(read.clone(), system.clone());
                assert_eq!(holds, Ok(side == holder), "{context}");
            }
            decided += 1;
        }
    }
    assert!(decided > 500, "{decided}");
}
