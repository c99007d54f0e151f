//! Random compositions against the product as the definition gives it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_explore::collect;
use trefoil_lts::Lts;
use trefoil_network::{Component, Composition, Network, Synchronise, compose, count};
use trefoil_system::{Checked, LabelId, Labels, System};
use trefoil_testkit::composition::{NaiveComposition, NaiveProduct};
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

struct Case {
    composition: Composition,
    naive: NaiveComposition,
    components: Vec<Lts>,
}

/// Adds `✓` to some transitions.
fn with_ticks(lts: &Lts, random: &mut Random) -> Lts {
    let mut builder = trefoil_lts::LtsBuilder::new(lts.labels().clone());
    builder.at_least(lts.state_count() as u32);
    for (source, transition) in lts.all_transitions() {
        let label = if random.chance(15) { LabelId::TICK } else { transition.label };
        builder.add(source, label, transition.target);
    }
    builder.build(lts.initial())
}

/// A vector with `a*` instead of some of these entries: one vector for each number that all of their components have.
fn starred_vector(
    parts: &[Option<LabelId>],
    components: &[Lts],
    composition: &mut Composition,
    naive: &mut NaiveComposition,
    random: &mut Random,
) {
    let labels = composition.labels.clone();
    let starred: Vec<bool> = parts.iter().map(|part| part.is_some() && random.chance(70)).collect();
    let has = |i: usize, a: LabelId| components[i].all_transitions().any(|(_, t)| t.label == a);
    let stars: Vec<usize> = (0..parts.len()).filter(|&i| starred[i]).collect();
    let numbered: Vec<LabelId> = (0..9).map(|number| labels.name(&format!("a{number}"))).collect();
    let agreed: Vec<usize> =
        (0..numbered.len()).filter(|&number| stars.iter().all(|&i| has(i, numbered[number]))).collect();
    if stars.is_empty() || agreed.is_empty() {
        return;
    }
    let seen = ["w", "v*", "a*"][random.below(3)];
    for number in agreed {
        let filled = (0..parts.len()).map(|i| if starred[i] { Some(numbered[number]) } else { parts[i] }).collect();
        naive.vectors.push((filled, labels.name(&seen.replace('*', &number.to_string()))));
    }
    for &i in &stars {
        naive.only_by_vectors.extend(numbered.iter().filter(|&&a| has(i, a)).map(|&a| (i, a)));
    }
    let text = |part: &Option<LabelId>| part.map_or("_".to_string(), |label| labels.get(label).to_string());
    let entries: Vec<String> =
        parts.iter().zip(&starred).map(|(part, &star)| if star { "a*".into() } else { text(part) }).collect();
    composition.vectors.push(format!("{} -> {seen}", entries.join(", ")));
}

fn random_case(random: &mut Random) -> Case {
    let labels = Arc::new(Labels::new());
    let count = 1 + random.below(4);
    let ticks = random.chance(20);
    let mut components: Vec<Lts> = Vec::new();
    for _ in 0..count {
        if !components.is_empty() && random.chance(20) {
            components.push(components[random.below(components.len())].clone());
            continue;
        }
        let shape = RandomShape {
            states: 1 + random.below(4) as u32,
            transitions: random.below(9),
            labels: 1 + random.below(4),
            tau_percent: random.below(30),
        };
        let lts = random_lts(&labels, shape, random);
        components.push(if ticks { with_ticks(&lts, random) } else { lts });
    }
    // Equal components are often the same object, as they are when a file is given twice.
    let shared: Vec<Arc<Lts>> = components.iter().cloned().map(Arc::new).collect();
    let component = |(index, lts): (usize, &Arc<Lts>)| Component::new(format!("c{index}"), lts.clone());
    let mut composition = Composition::new(labels.clone(), shared.iter().enumerate().map(component).collect());
    let mut naive = NaiveComposition::default();

    let visible = |lts: &Lts| -> Vec<LabelId> {
        let all: BTreeSet<LabelId> = lts.all_transitions().map(|(_, t)| t.label).collect();
        all.into_iter().filter(|label| label.0 > 1).collect()
    };
    let all: Vec<LabelId> = components.iter().flat_map(visible).collect::<BTreeSet<_>>().into_iter().collect();
    let text = |label: LabelId| labels.get(label).to_string();
    match random.below(3) {
        0 => {}
        1 => {
            composition.synchronise = Synchronise::None;
            naive.synchronised = Some(BTreeSet::new());
        }
        _ => {
            let chosen: BTreeSet<LabelId> = all.iter().copied().filter(|_| random.chance(50)).collect();
            let lists = if chosen.len() == all.len() && !all.is_empty() {
                vec!["a*".to_string()]
            } else {
                chosen.iter().map(|&label| text(label)).collect()
            };
            composition.synchronise = Synchronise::Only(lists);
            naive.synchronised = Some(chosen);
        }
    }
    if random.chance(40) {
        for _ in 0..1 + random.below(3) {
            let part = |lts: &Lts, random: &mut Random| {
                let own = visible(lts);
                (!own.is_empty() && random.chance(60)).then(|| own[random.below(own.len())])
            };
            let parts: Vec<Option<LabelId>> = components.iter().map(|lts| part(lts, random)).collect();
            if parts.iter().all(Option::is_none) {
                continue;
            }
            if random.chance(40) {
                starred_vector(&parts, &components, &mut composition, &mut naive, random);
                continue;
            }
            let seen = ["a0", "v", "w", "tau"][random.below(4)];
            let entries: Vec<String> = parts.iter().map(|part| part.map_or("_".into(), text)).collect();
            composition.vectors.push(format!("{} -> {seen}", entries.join(", ")));
            naive.vectors.push((parts, labels.name(seen)));
        }
    }
    let mut results: BTreeSet<LabelId> =
        naive.vectors.iter().map(|&(_, seen)| seen).filter(|l| l.is_visible()).collect();
    let by_vector = |i: usize, a: LabelId| {
        naive.only_by_vectors.contains(&(i, a)) || naive.vectors.iter().any(|(parts, _)| parts[i] == Some(a))
    };
    for (index, lts) in components.iter().enumerate() {
        results.extend(visible(lts).into_iter().filter(|&label| !by_vector(index, label)));
    }
    if random.chance(40) {
        for &old in &results {
            for _ in 0..random.below(3) {
                let new = ["a0", "a1", "x", "y", "tau"][random.below(5)];
                naive.renamed.insert((old, labels.name(new)));
                composition.rename.push(format!("{}={new}", text(old)));
            }
        }
        let unchanged = results.iter().copied().filter(|label| naive.renamed.iter().all(|(old, _)| old != label));
        results = unchanged.chain(naive.renamed.iter().map(|&(_, new)| new)).filter(|l| l.is_visible()).collect();
    }
    match random.below(3) {
        0 => {
            naive.hidden = results.iter().copied().filter(|_| random.chance(40)).collect();
            composition.hide = naive.hidden.iter().map(|&label| text(label)).collect();
        }
        1 if random.chance(50) => {
            let shown: Vec<LabelId> = results.iter().copied().filter(|_| random.chance(60)).collect();
            naive.hidden = results.iter().copied().filter(|label| !shown.contains(label)).collect();
            composition.hide_all_but = Some(shown.iter().map(|&label| text(label)).collect());
        }
        _ => {}
    }
    Case { composition, naive, components }
}

/// The collected graph of any system as the oracle shows it.
fn graph(system: &dyn System, threads: usize) -> NaiveProduct {
    let collected = collect(system, threads, &Control::unlimited()).unwrap_or_else(|_| panic!("nothing stops it"));
    let mut reader = collected.states.reader();
    let rows: Vec<Vec<u32>> = collected
        .origins
        .iter()
        .map(|&origin| {
            let mut row = vec![0; system.layout().width()];
            reader.row(origin, &mut row);
            row
        })
        .collect();
    let mut product = BTreeMap::new();
    for (state, row) in rows.iter().enumerate() {
        let steps = &collected.transitions[collected.starts[state]..collected.starts[state + 1]];
        let steps = steps.iter().map(|&(label, target)| (label, rows[target.index()].clone())).collect();
        assert!(product.insert(row.clone(), steps).is_none(), "a row is stored twice");
    }
    product
}

#[test]
fn compositions_are_what_the_definition_says() {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut large, mut synchronised, mut blocked) = (0, 0, 0);
    for case in 0..3000 {
        let Case { composition, naive, components } = random_case(&mut random);
        let shown = format!("{composition:?}");
        let labels = composition.labels.clone();
        let network: Network = composition.network().unwrap_or_else(|mistakes| {
            panic!("seed {seed} case {case}: {mistakes:?}\n{shown}");
        });
        let expected = naive.product(&components);
        let context = || format!("seed {seed} case {case}\n{shown}\n{naive:?}");
        let threads = [1, 2, 4][case % 3];
        assert_eq!(graph(&network, threads), expected, "{}", context());

        let composed = compose(&network, threads, &Control::unlimited()).expect("nothing stops it");
        let transitions: usize = expected.values().map(BTreeSet::len).sum();
        assert_eq!(
            (composed.lts.state_count(), composed.lts.transition_count()),
            (expected.len(), transitions),
            "{}",
            context()
        );
        let counts = count(&network, threads, &Control::unlimited()).expect("no budget");
        assert_eq!((counts.states, counts.transitions), (expected.len() as u64, transitions as u64), "{}", context());
        assert_eq!(graph(&Checked::new(network), 1), expected, "{}", context());
        let in_vector = |&(i, a): &(usize, LabelId)| naive.vectors.iter().any(|(parts, _)| parts[i] == Some(a));
        blocked += usize::from(!naive.only_by_vectors.iter().all(in_vector));
        large += usize::from(expected.len() > 20);
        synchronised += usize::from(labels.len() > 4 && expected.len() > 4);
    }
    assert!(large > 150 && synchronised > 750, "the cases are too small: {large}, {synchronised}");
    assert!(blocked > 50, "labels without a partner are too rare: {blocked}");
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let labels = Arc::new(Labels::new());
    let mut random = Random::new(seed());
    for _ in 0..3 {
        let shape = RandomShape { states: 14, transitions: 40, labels: 3, tau_percent: 20 };
        let make = |random: &mut Random| Arc::new(random_lts(&labels, shape, random));
        let lts: Vec<Arc<Lts>> = (0..3).map(|_| make(&mut random)).collect();
        let component = |(index, lts): (usize, &Arc<Lts>)| Component::new(format!("c{index}"), lts.clone());
        let mut composition = Composition::new(labels.clone(), lts.iter().enumerate().map(component).collect());
        composition.synchronise = Synchronise::Only(vec!["a0".into()]);
        let network = composition.network().expect("a0 is there");
        let alone = compose(&network, 1, &Control::unlimited()).expect("nothing stops it");
        assert!(alone.lts.state_count() > 500);
        for threads in [2, 4] {
            let together = compose(&network, threads, &Control::unlimited()).expect("nothing stops it");
            assert_eq!(alone.lts.transitions(), together.lts.transitions());
            assert!(alone.lts.states().all(|state| alone.lts.start(state) == together.lts.start(state)));
            assert_eq!(alone.counts, together.counts);
        }
    }
}
