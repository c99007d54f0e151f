//! The stack of `list-stack`, its refinement checked by the symmetries of nodes, threads and data.
//!
//! `list-stack-symmetry [NODES] [THREADS] [DATA] [WORKERS] [STRATEGY] [MODEL]`: exchanges of two values and rotations
//! of each type are proved of the network and of the specification, and the product is searched among representatives.
//! Known numbers of orbits are compared.

use std::sync::Arc;
use std::time::Instant;

use trefoil_control::{Control, peak_memory};
use trefoil_network::symmetry::{Candidate, NetworkAction, Prover, Symmetric};
use trefoil_refine::{Algorithm, Options, prepare};
use trefoil_symmetry::strategy_named;
use trefoil_system::{LabelId, Labels, Model, System};

use crate::exploring::number;
use crate::list_stack::{Sizes, network, specification};

/// Orbits that are known.
const KNOWN: [([usize; 3], u64); 4] = [([2, 2, 2], 210), ([3, 2, 2], 458), ([3, 3, 2], 1104), ([6, 4, 3], 108_900)];

/// What stands where in events: a thread, a node, a node or nothing, a datum.
fn kinds(channel: &str) -> &'static str {
    match channel {
        "initNode" => "tndn",
        "getDatum" => "tnd",
        "getNext" => "tnn",
        "freeNode" | "getTop" | "setTop" => "tn",
        "beginPush" | "push" | "pop" => "td",
        _ => "t",
    }
}

/// What a permutation of the points, nodes, then threads, then data, does to labels.
fn permuted(labels: &Labels, sizes: Sizes, points: &[u32]) -> Vec<LabelId> {
    let image = |kind: char, text: &str| {
        let value: usize = text.parse().expect("values are numbers");
        let begin = match kind {
            'n' => 0,
            't' => sizes.nodes,
            _ => sizes.nodes + sizes.threads,
        };
        if kind == 'n' && value == sizes.nodes { value } else { points[begin + value] as usize - begin }
    };
    (0..labels.len() as u32)
        .map(|label| {
            let text = labels.get(LabelId(label)).to_string();
            let mut parts = text.split('.');
            let channel = parts.next().unwrap_or_default();
            let images = parts.zip(kinds(channel).chars()).map(|(part, kind)| format!(".{}", image(kind, part)));
            labels.name(&format!("{channel}{}", images.collect::<String>()))
        })
        .collect()
}

/// States, and microseconds a transition.
pub(crate) fn run(arguments: &[String]) {
    let sizes =
        Sizes { nodes: number(arguments, 0, 4), threads: number(arguments, 1, 3), data: number(arguments, 2, 2) };
    let workers = number(arguments, 3, 1);
    let strategy = strategy_named(arguments.get(4).map_or("auto", |name| name)).expect("the name of a strategy");
    let model = match arguments.get(5).map(String::as_str) {
        Some("FD") => Model::FailuresDivergences,
        Some("F") => Model::Failures,
        _ => Model::Traces,
    };
    let control = Control::unlimited();
    let labels = Arc::new(Labels::new());
    let specification = specification(&labels, sizes);
    let network = Arc::new(network(labels.clone(), sizes, &specification, false));
    let begin = Instant::now();
    let points = sizes.nodes + sizes.threads + sizes.data;
    let options =
        Options { algorithm: Algorithm::Automatic, threads: workers, symmetry: Some(strategy), ..Options::new(model) };
    let prepared = prepare(&*specification, options, &control).expect("no budget was set");
    let prover = Prover::new(&network);
    let mut generators = Vec::new();
    let mut first = 0;
    for size in [sizes.nodes, sizes.threads, sizes.data] {
        let identity: Vec<u32> = (0..points as u32).collect();
        let (mut exchange, mut rotation) = (identity.clone(), identity);
        if size > 1 {
            exchange.swap(first, first + 1);
            rotation[first..first + size].rotate_left(1);
            for images in [exchange, rotation] {
                let labels = permuted(&labels, sizes, &images);
                let image = prover.prove(&labels, &control).expect("no budget was set").expect("a symmetry");
                prepared.admits(&labels, &control).expect("no budget was set").expect("a symmetry");
                generators.push((Candidate { points: images, labels }, image));
            }
        }
        first += size;
    }
    let names = (0..points).map(|point| point.to_string()).collect();
    let action = NetworkAction::new(&network, names, &generators, &control);
    let system = Symmetric::new(network, action.expect("no budget was set").expect("an action"));
    println!("list-stack-symmetry: {workers} threads, prepared in {:.2} s", begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    let outcome = prepared.check(&system as &dyn System, Some(strategy), &control).expect("no budget was set");
    let seconds = begin.elapsed().as_secs_f64();
    let statistics = &outcome.statistics;
    let reduction = statistics.symmetry.as_deref().expect("it was reduced");
    println!(
        "  {} {}: {} states standing for {}, |G| = {}, {} transitions, {seconds:.3} s, {:.2} µs a transition, peak {} MB",
        if outcome.holds() { "holds" } else { "fails" },
        reduction.strategy,
        statistics.states,
        reduction.total.as_ref().map_or("?".to_string(), ToString::to_string),
        reduction.order,
        statistics.transitions,
        seconds * 1e6 / statistics.transitions as f64,
        peak_memory().unwrap_or(0) >> 20,
    );
    let known = KNOWN.iter().find(|known| known.0 == [sizes.nodes, sizes.threads, sizes.data]);
    if let (Some((_, orbits)), true) = (known, reduction.total.is_some()) {
        assert_eq!(statistics.states, *orbits, "another number of orbits is known");
    }
}
