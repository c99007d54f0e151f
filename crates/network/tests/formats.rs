//! Random networks with formats and resets against the definition.

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use support::{Case, graph, random_case};
use trefoil_control::Control;
use trefoil_lts::LtsBuilder;
use trefoil_network::{Component, Format, FormatId, Network, Rule};
use trefoil_system::{Checked, LabelId, Labels, StateId, System};
use trefoil_testkit::composition::NaiveProduct;
use trefoil_testkit::networks::NaiveNetwork;
use trefoil_testkit::{Random, seed};

/// Every step is explained by a rule that gives it, and nothing else is.
fn check_explanations(case: &Case, product: &NaiveProduct, random: &mut Random) -> Result<(), String> {
    let Case { components, naive, network } = case;
    let count = components.len();
    let width = network.layout().width();
    let control = Control::unlimited();
    for (state, steps) in product {
        for (label, target) in steps {
            let found = network
                .explain(&state[..width], *label, &target[..width], &control)
                .expect("nothing stops it")
                .ok_or_else(|| format!("no explanation for {state:?} {label:?} {target:?}"))?;
            let rules = &naive.formats[state[count] as usize];
            let origin = network.labels().get(found.origin).to_string();
            let number: usize = origin.trim_start_matches("rule ").parse().map_err(|_| origin.clone())?;
            let rule = &rules[number];
            let alone = NaiveNetwork { formats: vec![vec![rule.clone()]; naive.formats.len()], initial: 0 };
            if !alone.steps(components, state).contains(&(*label, target.clone())) {
                return Err(format!("{found:?} does not lead from {state:?} by {label:?} to {target:?}"));
            }
            let parts: Vec<(usize, LabelId)> =
                rule.parts.iter().enumerate().filter_map(|(at, part)| Some((at, (*part)?))).collect();
            if found.parts != parts || found.format != FormatId(state[count]) {
                return Err(format!("{found:?} is not {rule:?}"));
            }
        }
        let other = product.keys().nth(random.below(product.len())).expect("below the number of states");
        let label = LabelId(random.below(5) as u32);
        let explained = network.explain(&state[..width], label, &other[..width], &control);
        let explained = explained.expect("nothing stops it").is_some();
        if explained != steps.contains(&(label, other.clone())) {
            return Err(format!("a step from {state:?} by {label:?} to {other:?} is explained: {explained}"));
        }
    }
    Ok(())
}

#[test]
fn formats_and_resets_are_what_the_definition_says() {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut large, mut formats_met, mut resets_met) = (0, 0, 0);
    for number in 0..3000 {
        let case = random_case(&mut random);
        let context = || format!("seed {seed} case {number}\n{:?}\n{:?}", case.components, case.naive);
        let count = case.components.len();
        let expected = case.naive.product(&case.components);
        let found = graph(&case.network, count, [1, 2][number % 2]);
        assert_eq!(found, expected, "{}", context());
        if let Err(reason) = check_explanations(&case, &expected, &mut random) {
            panic!("{reason}\n{}", context());
        }
        let reached: BTreeSet<u32> = expected.keys().map(|state| state[count]).collect();
        large += usize::from(expected.len() > 20);
        formats_met += usize::from(reached.len() > 1);
        let resetting = |format: &u32| case.naive.formats[*format as usize].iter().any(|rule| !rule.resets.is_empty());
        resets_met += usize::from(expected.len() > 5 && reached.iter().any(resetting));
        let checked = Checked::new(case.network);
        assert_eq!(graph(&checked, count, 1), expected, "seed {seed} case {number}");
    }
    assert!(large > 150 && formats_met > 500 && resets_met > 250, "too tame: {large} {formats_met} {resets_met}");
}

/// `count` cells in a row, each passing what it has to the next.
fn pipeline(count: usize, formats: usize) -> Network {
    let labels = Arc::new(Labels::new());
    let components: Vec<Component> = (0..count)
        .map(|index| {
            let mut cell = LtsBuilder::new(labels.clone());
            for datum in 0..2u32 {
                let event = |place: usize| labels.name(&format!("c{place}.{datum}"));
                cell.add(StateId(0), event(index), StateId(datum + 1));
                cell.add(StateId(datum + 1), event(index + 1), StateId(0));
            }
            Component::new(format!("cell {index}"), Arc::new(cell.build(StateId(0))))
        })
        .collect();
    let rules = |next: usize| -> Vec<Rule> {
        let mut rules = Vec::new();
        for place in 0..=count {
            for datum in 0..2 {
                let event = labels.name(&format!("c{place}.{datum}"));
                let parts = [place.checked_sub(1), (place < count).then_some(place)];
                let parts: Vec<(usize, LabelId)> = parts.into_iter().flatten().map(|at| (at, event)).collect();
                let outside = parts.len() == 1;
                let label = if outside { event } else { LabelId::TAU };
                rules.push(Rule::new(parts, label).with_origin(event).to(FormatId(next as u32)));
            }
        }
        rules
    };
    let formats = (0..formats).map(|at| Format { name: at.to_string(), rules: rules((at + 1) % formats) }).collect();
    Network::with_formats(labels, components, formats, FormatId(0)).expect("small components")
}

#[test]
fn a_long_pipeline_is_compiled_and_stepped() {
    let begin = Instant::now();
    let network = pipeline(10_000, 2);
    println!("compiled {} rules in {:?}", network.formats()[0].rules.len() * 2, begin.elapsed());
    let control = Control::unlimited();
    let mut row = network.initial(&control).expect("nothing stops it");
    let mut explorer = network.explorer(&control);
    // One datum wanders from end to end; at every step it can move on, or others can enter behind it.
    for place in 0..=100usize {
        let mut moved = None;
        let walk = explorer.successors(&row, &mut |step| {
            if place == 0 || step.label == LabelId::TAU {
                moved = Some(step.row.to_vec());
            }
            Ok(())
        });
        assert_eq!(walk, Ok(()));
        row = moved.expect("the datum can move");
        assert_eq!(row[place], 2);
        assert_eq!(row[10_000], (place as u32 + 1) % 2);
    }
}
