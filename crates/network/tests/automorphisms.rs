//! Symmetries that no type shows, against brute force: exchanges of equal components, automorphisms of networks, and
//! both together with symmetries of values; and networks without what never happens.

mod symmetries;

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_network::symmetry::{Candidate, Found, Image, Known, LABEL_POINTS, NetworkAction, Prover, Symmetric};
use trefoil_network::{Component, Network, Rule};
use trefoil_system::{LabelId, Labels, StateId, System};
use trefoil_testkit::Random;
use trefoil_testkit::permutations::{elements, random_generators};

use symmetries::{Model, check_action, clients, rows, successors};

/// Symmetries that no type shows, when nothing is known.
fn automorphisms(network: &Network, specification: Option<&Lts>, fixed: &[LabelId]) -> Result<Found, String> {
    let (known, control) = (Known::nothing(), Control::unlimited());
    Prover::new(network).automorphisms(&known, specification, fixed, &mut |_| Ok(true), &control).expect("no budget")
}

#[test]
fn components_that_are_alike_are_exchanged() {
    // Two workers for each of two bosses; all workers of a boss are the same, and a boss has its own label.
    let labels = Arc::new(Labels::new());
    let mut components = Vec::new();
    let mut rules = Vec::new();
    let tick = labels.name("work");
    let mut worker = LtsBuilder::new(labels.clone());
    worker.add(StateId(0), tick, StateId(1)).add(StateId(1), tick, StateId(2));
    let worker = Arc::new(worker.build(StateId(0)));
    let orders: Vec<LabelId> = (0..2).map(|boss| labels.name(&format!("order.{boss}"))).collect();
    for boss in 0..2 {
        let mut builder = LtsBuilder::new(labels.clone());
        builder.add(StateId(0), orders[boss], StateId(0));
        for _ in 0..2 {
            rules.push(Rule::new([(components.len(), tick), (4 + boss, orders[boss])], orders[boss]));
            components.push(Component::new(format!("Worker.{}", components.len()), worker.clone()));
        }
    }
    for boss in 0..2 {
        let mut builder = LtsBuilder::new(labels.clone());
        builder.add(StateId(0), orders[boss], StateId(0));
        components.push(Component::new(format!("Boss.{boss}"), Arc::new(builder.build(StateId(0)))));
    }
    let network = Arc::new(Network::new(labels.clone(), components, rules).expect("small"));
    let control = Control::unlimited();
    let prover = Prover::new(&network);
    let exchanges = prover.exchangeable(&control).expect("no budget");
    assert_eq!(exchanges.classes, [vec![0, 1], vec![2, 3]]);
    let mut images: Vec<LabelId> = (0..labels.len() as u32).map(LabelId).collect();
    images.swap(orders[0].index(), orders[1].index());
    let image = prover.prove(&images, &control).expect("no budget").expect("bosses are alike");
    let bosses = (Candidate { points: vec![1, 0], labels: images }, image);
    let name = |component: u32| network.components()[component as usize].name.clone();
    let (names, generators) =
        exchanges.join(vec!["0".into(), "1".into()], vec![bosses], name, &Control::unlimited()).expect("no budget");
    assert_eq!(names, ["0", "1", "Worker.0", "Worker.1", "Worker.2", "Worker.3"]);
    let action = NetworkAction::new(&network, names, &generators, &control).expect("no budget").expect("an action");
    let system = Symmetric::new(network, action);
    let elements = elements(6, system.action().expect("it has one").generators());
    assert_eq!(elements.len(), 8);
    check_action(&system, &elements, &mut Random::new(1), "workers");
}

/// Philosophers who take their own fork first, or the other one; one may be left-handed.
fn philosophers(count: usize, left_handed: bool) -> Network {
    let labels = Arc::new(Labels::new());
    let name = |what: &str, who: usize, fork: usize| labels.name(&format!("{what}.{who}.{}", fork % count));
    let mut components = Vec::new();
    let mut rules = Vec::new();
    for who in 0..count {
        let mut forks = [who, who + 1];
        if left_handed && who == 0 {
            forks.reverse();
        }
        let mut builder = LtsBuilder::new(labels.clone());
        let steps = [
            name("take", who, forks[0]),
            name("take", who, forks[1]),
            name("put", who, forks[0]),
            name("put", who, forks[1]),
        ];
        for (at, &label) in (0..).zip(&steps) {
            builder.add(StateId(at), label, StateId((at + 1) % 4));
        }
        components.push(Component::new(format!("Phil.{who}"), Arc::new(builder.build(StateId(0)))));
    }
    for fork in 0..count {
        let mut builder = LtsBuilder::new(labels.clone());
        for (at, who) in (1..).zip([fork, fork + count - 1].map(|who| who % count)) {
            let [take, put] = ["take", "put"].map(|what| name(what, who, fork));
            builder.add(StateId(0), take, StateId(at)).add(StateId(at), put, StateId(0));
            rules.extend([take, put].map(|label| Rule::new([(who, label), (count + fork, label)], label)));
        }
        components.push(Component::new(format!("Fork.{fork}"), Arc::new(builder.build(StateId(0)))));
    }
    Network::new(labels, components, rules).expect("small")
}

#[test]
fn a_ring_of_integers_turns() {
    let control = Control::unlimited();
    let network = Arc::new(philosophers(5, false));
    let found = automorphisms(&network, None, &[]).expect("small");
    let action = NetworkAction::new(&network, found.names, &found.generators, &control).expect("no budget");
    let system = Symmetric::new(network.clone(), action.expect("an action"));
    let action = system.action().expect("it has one");
    let elements = elements(action.points(), action.generators());
    assert_eq!((action.points(), elements.len()), (10, 5), "forks are taken in an order: no reflections");
    check_action(&system, &elements, &mut Random::new(5), "a ring");
    // A specification that watches one philosopher leaves nothing, and so does a label that must stay.
    let labels = network.labels();
    let watched = labels.name("take.2.2");
    let mut builder = LtsBuilder::new(labels.clone());
    builder.add(StateId(0), watched, StateId(0));
    let specification = builder.build(StateId(0));
    for (specification, fixed) in [(Some(&specification), &[][..]), (None, &[watched][..])] {
        let found = automorphisms(&network, specification, fixed);
        assert!(found.expect("small").generators.is_empty());
    }
    let network = philosophers(5, true);
    let found = automorphisms(&network, None, &[]).expect("small");
    assert!(found.generators.is_empty(), "one is left-handed");
}

#[test]
fn symmetries_inside_one_component_make_labels_points() {
    let (_, network, _) = clients(4, None);
    let server = network.components()[4].clone();
    let labels = network.labels().clone();
    let control = Control::unlimited();
    let offers = |state: u32| server.offers(state, &control).expect("nothing stops it");
    let rules = (0..5).flat_map(offers).map(|label| Rule::new([(0, label)], label)).collect();
    let network = Arc::new(Network::new(labels, vec![server], rules).expect("small"));
    let found = automorphisms(&network, None, &[]).expect("small");
    assert_eq!(found.names.len(), 4);
    let action = NetworkAction::new(&network, found.names, &found.generators, &control).expect("no budget");
    let system = Symmetric::new(network, action.expect("an action"));
    let elements = elements(4, system.action().expect("it has one").generators());
    assert_eq!(elements.len(), 24);
    check_action(&system, &elements, &mut Random::new(5), "a server alone");
}

#[test]
fn automorphisms_of_random_networks_are_symmetries() {
    let seed = trefoil_testkit::seed();
    println!("seed {seed}");
    let mut random = Random::new(seed ^ 2);
    let control = Control::unlimited();
    let (mut trivial, mut checked, mut refused) = (0, 0, 0);
    for round in 0..150 {
        let points = 2 + random.below(2);
        let generators = random_generators(points, &mut random);
        let model = Model::random(points, &elements(points, &generators), &mut random);
        let labels = Arc::new(Labels::new());
        let network = Arc::new(model.network(&labels, random.chance(70), &mut random));
        let found = automorphisms(&network, None, &[]);
        let found = match found {
            Ok(found) if found.generators.is_empty() => {
                trivial += 1;
                continue;
            }
            Ok(found) => found,
            Err(_) => {
                refused += 1;
                continue;
            }
        };
        let action = NetworkAction::new(&network, found.names, &found.generators, &control).expect("no budget");
        let system = Symmetric::new(network, action.expect("it was tried"));
        let action = system.action().expect("it has one");
        let powers = elements(action.points(), &action.generators()[..1]);
        check_action(&system, &powers, &mut random, &format!("seed {seed} round {round}"));
        checked += 1;
    }
    println!("trivial {trivial}, checked {checked}, refused {refused}");
    assert!(checked > 40 && refused < 15, "trivial {trivial}, checked {checked}, refused {refused}");
}

/// Cells in a ring that pass one of some values on; each cell may be there several times over, and then any of them
/// takes part.
fn ring(cells: usize, copies: usize, values: usize) -> (Network, Vec<(Candidate, Vec<u32>)>) {
    let labels = Arc::new(Labels::new());
    let pass = |to: usize, value: usize| labels.name(&format!("pass.{}.{value}", to % cells));
    let (mut components, mut rules) = (Vec::new(), Vec::new());
    for cell in 0..cells {
        let mut builder = LtsBuilder::new(labels.clone());
        for value in 0..values {
            let full = StateId(1 + value as u32);
            builder.add(StateId(0), pass(cell, value), full).add(full, pass(cell + 1, value), StateId(0));
            // Steps that no rule ever enables.
            builder.add(StateId(0), labels.name(&format!("never.{cell}.{value}")), StateId(values as u32 + 1));
        }
        let lts = Arc::new(builder.build(StateId(0)));
        for copy in 0..copies {
            components.push(Component::new(format!("Cell.{cell}.{copy}"), lts.clone()));
        }
    }
    for (cell, value) in (0..cells).flat_map(|cell| (0..values).map(move |value| (cell, value))) {
        for (from, to) in (0..copies).flat_map(|from| (0..copies).map(move |to| (from, to))) {
            let before = (cell + cells - 1) % cells;
            let parts = [(before * copies + from, pass(cell, value)), (cell * copies + to, pass(cell, value))];
            rules.push(Rule::new(parts, pass(cell, value)));
            // A value enters from outside.
            rules.push(Rule::new([(cell * copies + to, pass(cell, value))], LabelId::TAU));
        }
    }
    // All permutations of the values.
    let cycle = |length: usize| {
        let image = |value: usize| if value < length { (value + 1) % length } else { value };
        let mut images: Vec<LabelId> = (0..labels.len() as u32).map(LabelId).collect();
        for (cell, value) in (0..cells).flat_map(|cell| (0..values).map(move |value| (cell, value))) {
            images[pass(cell, value).index()] = pass(cell, image(value));
            let never = |value: usize| labels.name(&format!("never.{cell}.{value}"));
            images[never(value).index()] = never(image(value));
        }
        let points: Vec<u32> = (0..values).map(|value| image(value) as u32).collect();
        (Candidate { points, labels: images }, Vec::new())
    };
    let generators = if values > 1 { vec![cycle(2), cycle(values)] } else { Vec::new() };
    (Network::new(labels, components, rules).expect("small"), generators)
}

#[test]
fn values_copies_and_turns_generate_one_group() {
    let control = Control::unlimited();
    for (cells, copies, values) in [(3, 1, 2), (4, 1, 3), (3, 2, 1), (3, 2, 2), (2, 3, 2)] {
        let (network, generators) = ring(cells, copies, values);
        let network = network.trimmed(&control).expect("no budget").expect("something never happens").network().clone();
        let prover = Prover::new(&network);
        let prove = |(candidate, _): &(Candidate, Vec<u32>)| {
            let image = prover.prove(&candidate.labels, &control).expect("no budget").expect("values are alike");
            (candidate.clone(), image)
        };
        let mut known: Vec<_> = generators.iter().map(prove).collect();
        let exchanges = prover.exchangeable(&control).expect("no budget");
        let points = if values > 1 { values } else { 0 };
        for image in exchanges.images() {
            known.push((Candidate { points: (0..points as u32).collect(), labels: Vec::new() }, image.clone()));
        }
        assert!(prover.leaves_open(&known), "turns are not known");
        let names: Vec<String> = (0..points).map(|value| value.to_string()).collect();
        let mentions = |label: LabelId| {
            let text = network.labels().get(label).to_string();
            text.rsplit('.').next().and_then(|value| value.parse().ok()).filter(|_| points > 0).into_iter().collect()
        };
        let known = Known {
            names: &names,
            kinds: &vec![0; points],
            generators: &known,
            mentions: &mentions,
            label_points: LABEL_POINTS,
        };
        let found = prover.automorphisms(&known, None, &[], &mut |_| Ok(true), &control).expect("no budget");
        let found = found.expect("small");
        assert!(found.new > 0, "{cells} {copies} {values}");
        let action = NetworkAction::new(&network, found.names, &found.generators, &control).expect("no budget");
        let system = Symmetric::new(network.clone(), action.expect("an action"));
        let action = system.action().expect("it has one");
        let elements = elements(action.points(), action.generators());
        let factorial = |n: usize| (1..=n).product::<usize>();
        let expected = factorial(values) * factorial(copies).pow(cells as u32) * cells;
        assert_eq!(elements.len(), expected, "{cells} {copies} {values}");
        assert_eq!(action.points(), points + cells * copies, "no label has to be a point");
        check_action(&system, &elements, &mut Random::new(11), "values, copies and turns");
        // When all of that is known, nothing is left to be found.
        assert!(!prover.leaves_open(&found.generators));
        let of_values = |(candidate, image): &(Candidate, Image)| {
            let points = candidate.points[..points].to_vec();
            (Candidate { points, labels: candidate.labels.clone() }, image.clone())
        };
        let all: Vec<_> = found.generators.iter().map(of_values).collect();
        let known = Known { generators: &all, ..known };
        let again = prover.automorphisms(&known, None, &[], &mut |_| Ok(true), &control).expect("no budget");
        assert_eq!(again.expect("small").new, 0, "{cells} {copies} {values}");
    }
}

#[test]
fn known_symmetries_of_random_networks_and_those_that_are_found_act_together() {
    let seed = trefoil_testkit::seed();
    println!("seed {seed}");
    let mut random = Random::new(seed ^ 3);
    let control = Control::unlimited();
    let (mut checked, mut grown, mut refused) = (0, 0, 0);
    for round in 0..150 {
        let points = 2 + random.below(3);
        let generators = random_generators(points, &mut random);
        let model = Model::random(points, &elements(points, &generators), &mut random);
        let labels = Arc::new(Labels::new());
        let network = Arc::new(model.network(&labels, true, &mut random));
        let mentioned = model.mentions(&labels);
        let prover = Prover::new(&network);
        // Some of what could be known.
        let mut known = Vec::new();
        for generator in generators.iter().take(1 + random.below(2)) {
            let candidate = model.candidate(&labels, generator);
            if let Ok(image) = prover.prove(&candidate.labels, &control).expect("no budget") {
                known.push((candidate, image));
            }
        }
        let names: Vec<String> = (0..points).map(|point| point.to_string()).collect();
        let mentions = |label: LabelId| mentioned.get(&label).cloned().unwrap_or_default();
        let known = Known {
            names: &names,
            kinds: &vec![0; points],
            generators: &known,
            mentions: &mentions,
            label_points: LABEL_POINTS,
        };
        let found = match prover.automorphisms(&known, None, &[], &mut |_| Ok(true), &control).expect("no budget") {
            Ok(found) if found.generators.is_empty() => continue,
            Ok(found) => found,
            Err(_) => {
                refused += 1;
                continue;
            }
        };
        assert!(found.generators.len() >= known.generators.len());
        grown += usize::from(found.new > 0);
        let action = NetworkAction::new(&network, found.names, &found.generators, &control).expect("no budget");
        let system = Symmetric::new(network.clone(), action.expect("it was tried"));
        let action = system.action().expect("it has one");
        let some: Vec<_> = action.generators().iter().take(3).cloned().collect();
        let elements = elements(action.points(), &some);
        if elements.len() <= 200 {
            check_action(&system, &elements, &mut random, &format!("seed {seed} round {round}"));
            checked += 1;
        }
    }
    println!("checked {checked}, grown {grown}, refused {refused}");
    assert!(checked > 40 && grown > 20 && refused < 30, "checked {checked}, grown {grown}, refused {refused}");
}

#[test]
fn what_never_happens_is_left_out_and_nothing_else() {
    let seed = trefoil_testkit::seed();
    println!("seed {seed}");
    let mut random = Random::new(seed ^ 4);
    let control = Control::unlimited();
    let (mut whole, mut smaller) = (0, 0);
    for round in 0..300 {
        let points = 2 + random.below(2);
        let generators = random_generators(points, &mut random);
        let model = Model::random(points, &elements(points, &generators), &mut random);
        let network = model.network(&Arc::new(Labels::new()), random.chance(50), &mut random);
        let Some(trimmed) = network.trimmed(&control).expect("no budget") else {
            whole += 1;
            continue;
        };
        let states = |network: &Network| -> u64 {
            network.layout().slots().iter().map(|slot| u64::from(slot.values.count().unwrap_or(0))).sum()
        };
        smaller += usize::from(states(trimmed.network()) < states(&network));
        assert!(
            trimmed.network().trimmed(&control).expect("no budget").is_none(),
            "seed {seed} round {round}: once is enough"
        );
        // Row by row, the same steps.
        let initial = trimmed.network().initial(&control).expect("no budget");
        assert_eq!(Ok(trimmed.restored(&initial)), network.initial(&control));
        for row in rows(&**trimmed.network(), 60) {
            let mut steps: Vec<_> = successors(&**trimmed.network(), &row)
                .into_iter()
                .map(|(label, next)| (label, trimmed.restored(&next)))
                .collect();
            steps.sort();
            assert_eq!(steps, successors(&network, &trimmed.restored(&row)), "seed {seed} round {round}");
        }
    }
    println!("whole {whole}, smaller {smaller}");
    assert!(whole > 20 && smaller > 20, "whole {whole}, smaller {smaller}");
}
