//! Proofs of symmetries of networks against brute force: networks that are closed under a group by construction, and
//! such that are not.

mod symmetries;

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::LtsBuilder;
use trefoil_network::symmetry::{Candidate, Obstacle, Prover, mappable};
use trefoil_network::{Component, Network, Priorities, Rule};
use trefoil_system::{Checked, LabelId, Labels, Picture, StateId, System};
use trefoil_testkit::Random;
use trefoil_testkit::permutations::{self, elements, random_generators};

use symmetries::{Model, NamedRule, Step, action_of, check_action, clients, rows};

#[test]
fn networks_that_are_closed_under_a_group_are_symmetric() {
    let seed = trefoil_testkit::seed();
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let control = Control::unlimited();
    let (mut refused, mut ambiguous, mut accepted, mut several) = (0, 0, 0, 0);
    for round in 0..400 {
        let points = 2 + random.below(3);
        let generators = random_generators(points, &mut random);
        let elements = elements(points, &generators);
        let model = Model::random(points, &elements, &mut random);
        let labels = Arc::new(Labels::new());
        let minimal = random.chance(60);
        let network = Arc::new(model.network(&labels, minimal, &mut random));
        let prover = Prover::new(&network);
        let mut proved = Vec::new();
        for generator in &generators {
            let candidate = model.candidate(&labels, generator);
            match prover.prove(&candidate.labels, &control).expect("no budget") {
                Ok(image) => proved.push((candidate, image)),
                Err(obstacle) => {
                    println!("seed {seed} round {round} minimal {minimal}: {obstacle}");
                    refused += 1;
                }
            }
        }
        if proved.len() < generators.len() {
            continue;
        }
        accepted += 1;
        let what = format!("seed {seed} round {round} minimal {minimal}");
        match action_of(&network, points, &proved) {
            Some(system) => {
                // Components may have become points.
                let action = system.action().expect("it has one");
                several += usize::from(action.points() > points);
                let elements = permutations::elements(action.points(), action.generators());
                check_action(&system, &elements, &mut random, &what);
                rows(&Checked::new(system), 10);
            }
            None => ambiguous += 1,
        }
    }
    println!("refused {refused}, ambiguous {ambiguous}, accepted {accepted}, with components {several}");
    // Formats that are alike and linked may be exchanged in ways that do not compose; that is found out and refused.
    assert!(refused == 0 && ambiguous <= 2, "refused {refused}, ambiguous {ambiguous}, accepted {accepted}");
}

#[test]
fn what_is_accepted_is_a_symmetry_even_when_something_was_taken_away() {
    let seed = trefoil_testkit::seed();
    println!("seed {seed}");
    let mut random = Random::new(seed ^ 1);
    let control = Control::unlimited();
    let (mut refused, mut accepted) = (0, 0);
    for round in 0..300 {
        let points = 2 + random.below(3);
        let generators = random_generators(points, &mut random);
        let elements = elements(points, &generators);
        let mut model = Model::random(points, &elements, &mut random);
        let labels = Arc::new(Labels::new());
        let whole = model.network(&labels, true, &mut random);
        drop(whole);
        let candidates: Vec<Candidate> = generators.iter().map(|element| model.candidate(&labels, element)).collect();
        if random.chance(50) && !model.rules.is_empty() {
            let rules: Vec<NamedRule> = model.rules.iter().cloned().collect();
            model.rules.remove(&rules[random.below(rules.len())]);
        } else {
            let steps: Vec<Step> = model.steps.iter().cloned().collect();
            model.steps.remove(&steps[random.below(steps.len())]);
        }
        let minimal = random.chance(60);
        let network = Arc::new(model.network(&labels, minimal, &mut random));
        for (generator, candidate) in generators.iter().zip(candidates) {
            match mappable(&network, &candidate.labels, &control).expect("no budget") {
                Err(_) => refused += 1,
                Ok(image) => {
                    accepted += 1;
                    let powers = permutations::elements(points, std::slice::from_ref(generator));
                    let proved = [(candidate, image)];
                    if let Some(system) = action_of(&network, points, &proved) {
                        check_action(&system, &powers, &mut random, &format!("seed {seed} round {round}"));
                    }
                }
            }
        }
    }
    println!("refused {refused}, accepted {accepted}");
    assert!(refused > 100 && accepted > 20, "refused {refused}, accepted {accepted}");
}

#[test]
fn obstacles_are_told_in_words() {
    let control = Control::unlimited();
    let (_, network, candidate) = clients(3, None);
    let image = mappable(&network, &candidate.labels, &control).expect("no budget").expect("symmetric");
    assert_eq!(image.components, [1, 0, 2, 3]);
    assert_eq!(image.then(&image).components, [0, 1, 2, 3]);
    let (_, network, candidate) = clients(3, Some(0));
    let obstacle = mappable(&network, &candidate.labels, &control).expect("no budget").expect_err("a favourite");
    assert_eq!(obstacle.to_string(), "component Server cannot do done.0 after ask.0, as its image can");
    let mut twice = candidate.labels.clone();
    twice[2] = twice[3];
    let obstacle = mappable(&network, &twice, &control).expect("no budget").expect_err("not a permutation");
    assert!(matches!(obstacle, Obstacle::Labels(_)));
}

#[test]
fn clients_are_drawn_at_their_points() {
    let (_, network, candidate) = clients(4, None);
    let network = Arc::new(network);
    let control = Control::unlimited();
    let image = mappable(&network, &candidate.labels, &control).expect("no budget").expect("symmetric");
    let mut generators = vec![(candidate, image)];
    // The others by conjugation with a turn of all clients.
    let labels = network.labels();
    let turned = |name: &str| {
        let (head, client) = name.split_once('.').expect("two parts");
        let client: u32 = client.parse().expect("a number");
        labels.name(&format!("{head}.{}", (client + 1) % 4))
    };
    let mut images: Vec<LabelId> = (0..labels.len() as u32).map(LabelId).collect();
    for label in 2..labels.len() {
        images[label] = turned(&labels.get(LabelId(label as u32)).to_string());
    }
    let image = mappable(&network, &images, &control).expect("no budget").expect("symmetric");
    generators.push((Candidate { points: vec![1, 2, 3, 0], labels: images }, image));
    let system = action_of(&network, 4, &generators).expect("an action");
    let action = system.action().expect("it has one");
    assert_eq!(action.describe_point(2), "v2");
    let mut picture = Picture::default();
    action.actor(&control).picture(&[0, 1, 0, 0, 2], &mut picture);
    assert_eq!((picture.vertices(), picture.edges().len()), (4, 0), "everything is in the colours of the points");
    assert_ne!(picture.colours()[0], picture.colours()[1]);
    check_action(&system, &elements(4, &[vec![1, 0, 2, 3], vec![1, 2, 3, 0]]), &mut Random::new(3), "clients");
}

#[test]
fn priorities_are_kept_and_chases_are_not() {
    let control = Control::unlimited();
    let label = |network: &Network, name: &str| network.labels().name(name);
    // Asking before being done, for all clients alike: by ranks, and by lists.
    let ranks = |network: &Network, odd: Option<&str>| {
        let ranks =
            (0..3).flat_map(|client| [("ask", 1), ("done", 2)].map(|(what, rank)| (format!("{what}.{client}"), rank)));
        let changed = |(name, rank): (String, u32)| (label(network, &name), rank + u32::from(odd == Some(&name)));
        Priorities::Ranks(ranks.map(changed).collect())
    };
    let above = |network: &Network, odd: bool| {
        let all: Vec<LabelId> = (0..3).map(|client| label(network, &format!("ask.{client}"))).collect();
        let list = |client: usize| {
            (label(network, &format!("done.{client}")), all[usize::from(odd && client == 2)..].to_vec())
        };
        Priorities::Above((0..3).map(list).collect())
    };
    for by_rank in [true, false] {
        let (_, network, candidate) = clients(3, None);
        let order = if by_rank { ranks(&network, None) } else { above(&network, false) };
        let network = Arc::new(network.prioritised(&order));
        let image = mappable(&network, &candidate.labels, &control).expect("no budget").expect("the order is kept");
        let system = action_of(&network, 3, &[(candidate, image)]).expect("an action");
        check_action(&system, &elements(3, &[vec![1, 0, 2]]), &mut Random::new(2), "priorities");
        let (_, network, candidate) = clients(3, None);
        let order = if by_rank { ranks(&network, Some("ask.1")) } else { above(&network, true) };
        let network = network.prioritised(&order);
        let answer = mappable(&network, &candidate.labels, &control).expect("no budget");
        assert!(matches!(answer, Err(Obstacle::Layer(_))), "{answer:?}");
    }
    let (_, network, candidate) = clients(3, None);
    let network = network.chased(&control).expect("no budget");
    let answer = mappable(&network, &candidate.labels, &control).expect("no budget");
    assert!(matches!(answer, Err(Obstacle::Layer(_))));
    // Lazy machines inside a network: one that keeps the order, beside a component that counts; and one that does not.
    for odd in [None, Some("ask.1")] {
        let (_, network, candidate) = clients(3, None);
        let order = ranks(&network, odd);
        let labels = network.labels().clone();
        let machine = trefoil_network::LazyMachine::new(Arc::new(network.prioritised(&order)));
        let mut counter = LtsBuilder::new(labels.clone());
        for client in 0..3 {
            let ask = labels.name(&format!("ask.{client}"));
            counter.add(StateId(0), ask, StateId(1)).add(StateId(1), ask, StateId(2));
        }
        let rules = machine.labels().iter().map(|&label| match labels.get(label).to_string().starts_with("ask") {
            true => Rule::new([(0, label), (1, label)], label),
            false => Rule::new([(0, label)], LabelId::TAU),
        });
        let rules = rules.collect();
        let counter = Component::new("Counter", Arc::new(counter.build(StateId(0))));
        let components = vec![Component::lazy("Clients", Arc::new(machine)), counter];
        let network = Arc::new(Network::new(labels, components, rules).expect("small"));
        assert!(Prover::new(&network).exchangeable(&control).expect("no budget").classes.is_empty());
        let answer = mappable(&network, &candidate.labels, &control).expect("no budget");
        if odd.is_some() {
            assert!(matches!(answer, Err(Obstacle::Layer(_))));
            continue;
        }
        let system = action_of(&network, 3, &[(candidate, answer.expect("the order is kept"))]).expect("an action");
        check_action(&system, &elements(3, &[vec![1, 0, 2]]), &mut Random::new(2), "a lazy machine");
    }
}

#[test]
fn states_that_are_alike_and_linked_are_matched_with_their_links() {
    // Twice the same way round, so that nothing tells the two ways apart; in the second machine they cross.
    let labels = Arc::new(Labels::new());
    let name = |what: &str, who: usize| labels.name(&format!("{what}.{who}"));
    let machine = |who: usize, crossed: bool| {
        let mut builder = LtsBuilder::new(labels.clone());
        for way in 1..3 {
            let middle = StateId(2 + if crossed { 3 - way } else { way });
            builder.add(StateId(0), name("a", who), StateId(way)).add(StateId(way), name("b", who), middle);
            builder.add(middle, name("c", who), StateId(0));
        }
        Component::new(format!("Machine.{who}"), Arc::new(builder.build(StateId(0))))
    };
    let components = vec![machine(0, false), machine(1, true)];
    let all: Vec<[LabelId; 2]> = ["a", "b", "c"].iter().map(|what| [0, 1].map(|who| name(what, who))).collect();
    let rules = (0..2).flat_map(|who| all.iter().map(move |pair| Rule::new([(who, pair[who])], pair[who])));
    let network = Arc::new(Network::new(labels.clone(), components, rules.collect()).expect("small"));
    let mut images: Vec<LabelId> = (0..labels.len() as u32).map(LabelId).collect();
    all.iter().for_each(|pair| images.swap(pair[0].index(), pair[1].index()));
    let image = mappable(&network, &images, &Control::unlimited()).expect("no budget").expect("symmetric");
    assert!([[0, 1, 2, 4, 3], [0, 2, 1, 3, 4]].contains(&image.states[0][..].try_into().expect("five states")));
    let candidate = Candidate { points: vec![1, 0], labels: images };
    let system = action_of(&network, 2, &[(candidate, image)]).expect("an action");
    check_action(&system, &elements(2, &[vec![1, 0]]), &mut Random::new(7), "linked states");
}
