//! Walks over layers that are cut, and lazy machines that several threads ask: nothing that was cut short is
//! remembered, and the order of targets does not depend on which thread came first.

#[path = "support/layered.rs"]
mod layered;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use layered::{random_layer, under_some_layer};
use trefoil_control::{Control, Stopped};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_network::{Component, LazyMachine, Network, Rule, compose};
use trefoil_system::{Cut, Domain, LabelId, Labels, StateId, System, Value};
use trefoil_testkit::{Random, seed};

const REASONS: [Stopped; 4] = [
    Stopped::Interrupted,
    Stopped::Timeout { limit: Duration::from_secs(1) },
    Stopped::Memory { limit: 1 << 40 },
    Stopped::States { limit: u32::MAX as u64 - 1 },
];

/// Components whose states are found on demand, with rules over them, under a layer.
fn nested(labels: &Arc<Labels>, random: &mut Random, control: &Control) -> Result<Network, Cut> {
    let mut components = Vec::new();
    for index in 0..2 {
        let layer = random_layer(labels, random, control)?;
        components.push(Component::lazy(format!("layer {index}"), Arc::new(LazyMachine::new(Arc::new(layer)))));
    }
    let names: Vec<LabelId> = (0..3).map(|index| labels.name(&format!("a{index}"))).collect();
    let mut rules = Vec::new();
    for &label in names.iter().chain([&LabelId::TAU]) {
        for component in 0..2 {
            let seen = if random.chance(30) { LabelId::TAU } else { names[random.below(3)] };
            rules.push(Rule::new([(component, label)], seen));
        }
        if random.chance(50) {
            rules.push(Rule::new([(0, label), (1, label)], names[random.below(3)]).with_resets([random.below(2)]));
        }
    }
    let network = Network::new(labels.clone(), components, rules).expect("small");
    under_some_layer(network, random, control)
}

/// A network of layers inside layers, always the same for one seed.
fn layers_in_layers(seed: u64, control: &Control) -> Result<Network, Cut> {
    let (labels, mut random) = (Arc::new(Labels::new()), Random::new(seed));
    let inner = nested(&labels, &mut random, control)?;
    Ok(Network::alone(Arc::new(LazyMachine::new(Arc::new(inner)))))
}

/// After `go` a counter of `bits` bits counts by `τ`, and then, unless it counts forever, does `end`; chased, and a
/// component beside one that does `go` three times.
fn counting(bits: usize, wraps: bool, control: &Control) -> Result<Network, Cut> {
    let labels = Arc::new(Labels::new());
    let [go, on, up, down, end] = ["go", "on", "up", "down", "end"].map(|name| labels.name(name));
    let mut bit = LtsBuilder::new(labels.clone());
    bit.add(StateId(0), up, StateId(1)).add(StateId(1), down, StateId(0));
    let bit = Arc::new(bit.build(StateId(0)));
    let mut switch = LtsBuilder::new(labels.clone());
    switch.add(StateId(0), go, StateId(1)).add(StateId(1), on, StateId(1)).add(StateId(1), end, StateId(0));
    let switch = Component::new("switch", Arc::new(switch.build(StateId(0))));
    let mut components: Vec<Component> =
        (0..bits).map(|index| Component::new(format!("bit {index}"), bit.clone())).collect();
    components.push(switch);
    let carry = |at: usize| (0..at).map(|index| (index, down)).chain([(bits, on)]);
    let mut rules: Vec<Rule> = (0..bits).map(|at| Rule::new(carry(at).chain([(at, up)]), LabelId::TAU)).collect();
    if wraps {
        rules.push(Rule::new(carry(bits), LabelId::TAU));
    }
    rules.push(Rule::new([(bits, go)], go));
    rules.push(Rule::new((0..bits).map(|index| (index, down)).chain([(bits, end)]), end));
    let counter = Network::new(labels.clone(), components, rules).expect("small").chased(control)?;
    let counter = Component::lazy("counter", Arc::new(LazyMachine::new(Arc::new(counter))));
    let mut thrice = LtsBuilder::new(labels.clone());
    (0..3).for_each(|at| {
        thrice.add(StateId(at), go, StateId(at + 1));
    });
    let thrice = Component::new("thrice", Arc::new(thrice.build(StateId(0))));
    let rules = vec![
        Rule::new([(0, go), (1, go)], go),
        Rule::new([(0, end)], end),
        Rule::new([(0, LabelId::TAU)], LabelId::TAU),
    ];
    Ok(Network::new(labels, vec![counter, thrice], rules).expect("small"))
}

/// Everything that an LTS says.
fn said(lts: &Lts) -> Vec<String> {
    let line = |(from, step): (StateId, &trefoil_lts::Transition)| {
        format!("{} {} {}", from.0, lts.labels().get(step.label), step.target.0)
    };
    lts.states().flat_map(|from| lts.outgoing(from).iter().map(move |step| (from, step))).map(line).collect()
}

fn explored(network: &Network, control: &Control) -> Result<Vec<String>, Cut> {
    compose(network, 1, control).map(|composed| said(&composed.lts)).map_err(|unfinished| unfinished.cut)
}

/// Stops the making and the exploring of a network at each of its polls, or at some spread over them, and asks again.
/// How often the network was there and its exploration was cut.
fn cut_at_every_poll(make: &dyn Fn(&Control) -> Result<Network, Cut>, most: u64, what: &str) -> usize {
    let counting = Control::stopping_at(0, Stopped::Interrupted);
    let expected = make(&counting).and_then(|network| explored(&network, &counting)).expect("nothing stops it");
    let polls = counting.polls();
    let mut cut = 0;
    for poll in (1..=polls).step_by(polls.div_ceil(most) as usize) {
        let reason = REASONS[poll as usize % REASONS.len()];
        let control = Control::stopping_at(poll, reason);
        let network = match make(&control) {
            Ok(network) => network,
            Err(reported) => {
                assert_eq!((reported, control.why()), (Cut::Stopped, reason), "{what}, poll {poll}");
                continue;
            }
        };
        assert_eq!(explored(&network, &control), Err(Cut::Stopped), "{what}, poll {poll} of {polls}");
        assert_eq!(control.why(), reason, "{what}, poll {poll}");
        cut += 1;
        assert_eq!(explored(&network, &Control::unlimited()).as_ref(), Ok(&expected), "{what}, poll {poll} of {polls}");
    }
    cut
}

#[test]
fn what_was_cut_short_is_not_remembered() {
    for wraps in [false, true] {
        let cut = cut_at_every_poll(&|control| counting(11, wraps, control), 1000, "counting");
        assert!(cut > 5, "{cut} cuts");
    }
    let seed = seed();
    let cut: usize = (0..60)
        .map(|case| {
            let make = |control: &Control| layers_in_layers(seed ^ case, control);
            cut_at_every_poll(&make, 40, &format!("seed {seed} case {case}"))
        })
        .sum();
    assert!(cut > 500, "too tame: {cut} cuts");
}

#[test]
fn an_initial_state_that_takes_long_is_found_or_cut() {
    for wraps in [false, true] {
        let counting = Control::stopping_at(0, Stopped::Interrupted);
        let network = layered::counter(13, wraps).chased(&counting).expect("nothing stops it");
        assert_eq!(network.initial(&counting), Ok(vec![Value::from(!wraps); 13]));
        assert!(counting.polls() > 5, "{} polls", counting.polls());
        for poll in 1..=counting.polls() {
            let control = Control::stopping_at(poll, Stopped::Interrupted);
            assert_eq!(layered::counter(13, wraps).chased(&control).err(), Some(Cut::Stopped), "poll {poll}");
        }
    }
}

/// All states of a machine from its initial one, the targets of a state in their order or in the opposite one.
fn meet(machine: &LazyMachine, backwards: bool) {
    let control = Control::unlimited();
    let mut known = BTreeSet::from([LazyMachine::INITIAL]);
    let mut work = vec![LazyMachine::INITIAL];
    while let Some(state) = work.pop() {
        let mut steps = machine.steps(state, &control).expect("nothing stops it");
        if backwards {
            steps.reverse();
        }
        work.extend(steps.into_iter().map(|(_, target)| target).filter(|&target| known.insert(target)));
    }
}

fn bytes(machine: &LazyMachine, state: Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.bytes(state, &mut bytes);
    bytes
}

/// For the canonical bytes of every state that was met, its labels and the canonical bytes of its targets, in their
/// order.
fn by_bytes(machine: &LazyMachine) -> BTreeMap<Vec<u8>, Vec<(LabelId, Vec<u8>)>> {
    let control = Control::unlimited();
    let steps = |state: Value| {
        let steps = machine.steps(state, &control).expect("nothing stops it");
        steps.into_iter().map(|(label, target)| (label, bytes(machine, target))).collect()
    };
    (0..machine.states_met() as Value).map(|state| (bytes(machine, state), steps(state))).collect()
}

#[test]
fn the_order_of_targets_does_not_depend_on_which_thread_came_first() {
    let seed = seed();
    let (mut branching, mut other_numbers) = (0, 0);
    for case in 0..200 {
        let context = format!("seed {seed} case {case}");
        let labels = Arc::new(Labels::new());
        let machine = |seed: u64| {
            let inner = nested(&labels, &mut Random::new(seed), &Control::unlimited()).expect("nothing stops it");
            LazyMachine::new(Arc::new(inner))
        };
        let [forwards, backwards, both] = [(); 3].map(|()| machine(seed ^ case));
        meet(&forwards, false);
        meet(&backwards, true);
        std::thread::scope(|scope| {
            scope.spawn(|| meet(&both, false));
            scope.spawn(|| meet(&both, true));
        });
        let expected = by_bytes(&forwards);
        assert_eq!(by_bytes(&backwards), expected, "{context}");
        assert_eq!(by_bytes(&both), expected, "{context}");
        let repeated = |steps: &Vec<(LabelId, Vec<u8>)>| steps.windows(2).any(|pair| pair[0].0 == pair[1].0);
        branching += usize::from(expected.values().any(repeated));
        let count = forwards.states_met() as Value;
        other_numbers += usize::from((0..count).any(|state| bytes(&forwards, state) != bytes(&backwards, state)));
    }
    assert!(branching > 50 && other_numbers > 50, "too tame: {branching} {other_numbers}");
}

#[test]
fn a_lazy_machine_is_a_domain() {
    let seed = seed();
    for case in 0..100 {
        let context = format!("seed {seed} case {case}");
        let labels = Arc::new(Labels::new());
        let [here, there] = [(); 2].map(|()| {
            let inner = nested(&labels, &mut Random::new(seed ^ case), &Control::unlimited());
            LazyMachine::new(Arc::new(inner.expect("nothing stops it")))
        });
        meet(&here, false);
        let count = here.len() as Value;
        for state in 0..count {
            let own = bytes(&here, state);
            assert_eq!(here.value(&own), Some(state), "{context}");
            let elsewhere = there.value(&own).expect("a row of the same layout");
            assert_eq!(bytes(&there, elsewhere), own, "{context}");
            assert_eq!(here.text(state), there.text(elsewhere), "{context}");
            assert_eq!(here.value(&own[1..]), None, "{context}");
            let other = (state * 7 + 1) % count;
            assert_eq!(here.compare(state, other), own.cmp(&bytes(&here, other)), "{context}");
        }
        // What was brought from elsewhere does what it did there.
        assert_eq!(there.len(), here.len(), "{context}");
        assert_eq!(by_bytes(&there), by_bytes(&here), "{context}");
    }
}
