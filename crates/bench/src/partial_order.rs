//! Partial-order reduction: states and seconds with it and without.
//!
//! `partial-order [PHILOSOPHERS] [WORKERS]`: dining philosophers, with only deadlocks preserved; and workers with ten
//! hidden steps each before they all report together, with traces, failures and divergences preserved.

use std::sync::Arc;
use std::time::Instant;

use trefoil_control::Control;
use trefoil_explore::{End, Options, Order, search};
use trefoil_lts::LtsBuilder;
use trefoil_network::{Component, Network, PartialOrder, Preserve, Rule};
use trefoil_system::{LabelId, Labels, StateId, System};

use crate::exploring::{number, philosophers};

const HIDDEN_STEPS: u32 = 10;

/// Runs it.
pub(crate) fn run(arguments: &[String]) {
    let (table, team) = (number(arguments, 0, 8), number(arguments, 1, 6));
    compare(&format!("{table} philosophers, deadlocks"), &philosophers(table), Preserve::Deadlocks);
    compare(&format!("{table} philosophers, everything"), &philosophers(table), Preserve::Everything);
    compare(&format!("{team} workers, everything"), &workers(team), Preserve::Everything);
}

fn compare(name: &str, network: &Network, preserve: Preserve) {
    let (states, seconds) = explore(network);
    let reduced = PartialOrder::new(network, preserve).expect("no layer");
    let (fewer, less) = explore(&reduced);
    println!(
        "partial-order: {name}: {states} states in {seconds:.2} s, reduced {fewer} in {less:.2} s, a factor of {:.1}",
        states as f64 / fewer as f64
    );
}

fn explore(system: &dyn System) -> (u64, f64) {
    let begin = Instant::now();
    let options = Options { threads: 1, order: Order::Steps, ..Options::default() };
    let found = search(system, &options, &Control::unlimited(), || ());
    assert_eq!(found.end, End::Complete);
    (found.counts.states, begin.elapsed().as_secs_f64())
}

fn workers(count: usize) -> Network {
    let labels = Arc::new(Labels::new());
    let (work, report) = (labels.name("work"), labels.name("report"));
    let mut builder = LtsBuilder::new(labels.clone());
    for state in 0..HIDDEN_STEPS {
        builder.add(StateId(state), work, StateId(state + 1));
    }
    builder.add(StateId(HIDDEN_STEPS), report, StateId(0));
    let worker = Arc::new(builder.build(StateId(0)));
    let components = (0..count).map(|at| Component::new(format!("worker {at}"), worker.clone())).collect();
    let mut rules = vec![Rule::new((0..count).map(|at| (at, report)), report)];
    rules.extend((0..count).map(|at| Rule::new([(at, work)], LabelId::TAU)));
    Network::new(labels, components, rules).expect("small components")
}
