//! A stack as a linked list behind a lock, unreduced: Gibson-Robinson and Lowe, *Symmetry reduction in CSP model
//! checking* (2019), figures 1 and 2.
//!
//! `list-stack-refine` with the same arguments checks the refinement in the three models, and deadlock and divergence.
//!
//! `list-stack [NODES] [THREADS] [DATA] [WORKERS]`: the nodes, the top, the lock and the threads are components, each
//! minimised modulo strong bisimulation (which merges the three points at which a thread unlocks), and the
//! specification, which is deterministic, is one more; so the states of the network are those of the product that a
//! refinement check explores. Known counts are compared.

use std::sync::Arc;
use std::time::Instant;

use trefoil_control::{Control, peak_memory};
use trefoil_explore::{End, Options, Packing, search};
use trefoil_lts::equivalence::{Equivalence, minimise};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_network::{Component, Network, Rule};
use trefoil_refine::{Algorithm, CheckOptions, Outcome, deadlock, determinism, divergence, refine};
use trefoil_system::{LabelId, Labels, Model, StateId, System};

use crate::exploring::{number, processor_seconds};

/// The sizes: nodes, threads, values.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) nodes: usize,
    pub(crate) threads: usize,
    pub(crate) data: usize,
}

/// Product states that are known.
const KNOWN: [([usize; 3], u64); 5] =
    [([2, 2, 2], 1512), ([3, 2, 2], 9432), ([3, 3, 2], 54_064), ([5, 4, 3], 330_652_000), ([6, 3, 3], 915_660_800)];

/// Builds an LTS from states that are named.
struct Named {
    labels: Arc<Labels>,
    states: Vec<String>,
    builder: LtsBuilder,
}

impl Named {
    /// An LTS that starts in this state.
    fn new(labels: &Arc<Labels>, initial: &str) -> Named {
        Named { labels: labels.clone(), states: vec![initial.to_owned()], builder: LtsBuilder::new(labels.clone()) }
    }

    fn state(&mut self, name: &str) -> StateId {
        let known = self.states.iter().position(|state| state == name);
        let index = known.unwrap_or_else(|| {
            self.states.push(name.to_owned());
            self.states.len() - 1
        });
        StateId(index as u32)
    }

    fn step(&mut self, from: &str, label: &str, to: &str) {
        let (from, to) = (self.state(from), self.state(to));
        let label = self.labels.name(label);
        self.builder.add(from, label, to);
    }

    fn minimised(self) -> Arc<Lts> {
        let lts = self.builder.build(StateId(0));
        let small = minimise(&lts, Equivalence::Strong, &Control::unlimited()).expect("no budget was set");
        Arc::new(small.lts)
    }
}

/// References: the nodes, and behind them `Null`.
fn references(sizes: Sizes) -> std::ops::RangeInclusive<usize> {
    0..=sizes.nodes
}

fn node(labels: &Arc<Labels>, sizes: Sizes, me: usize) -> Arc<Lts> {
    let mut lts = Named::new(labels, "free");
    for datum in 0..sizes.data {
        for next in references(sizes) {
            let holding = format!("{datum} {next}");
            for t in 0..sizes.threads {
                lts.step("free", &format!("initNode.{t}.{me}.{datum}.{next}"), &holding);
                lts.step(&holding, &format!("getDatum.{t}.{me}.{datum}"), &holding);
                lts.step(&holding, &format!("getNext.{t}.{me}.{next}"), &holding);
                lts.step(&holding, &format!("freeNode.{t}.{me}"), "free");
            }
        }
    }
    lts.minimised()
}

fn top(labels: &Arc<Labels>, sizes: Sizes) -> Arc<Lts> {
    let mut lts = Named::new(labels, &sizes.nodes.to_string());
    for here in references(sizes) {
        for t in 0..sizes.threads {
            lts.step(&here.to_string(), &format!("getTop.{t}.{here}"), &here.to_string());
            for next in references(sizes) {
                lts.step(&here.to_string(), &format!("setTop.{t}.{next}"), &next.to_string());
            }
        }
    }
    lts.minimised()
}

fn lock(labels: &Arc<Labels>, sizes: Sizes) -> Arc<Lts> {
    let mut lts = Named::new(labels, "open");
    for t in 0..sizes.threads {
        lts.step("open", &format!("lock.{t}"), &t.to_string());
        lts.step(&t.to_string(), &format!("unlock.{t}"), "open");
    }
    lts.minimised()
}

fn thread(labels: &Arc<Labels>, sizes: Sizes, me: usize) -> Arc<Lts> {
    let mut lts = Named::new(labels, "idle");
    let unlock = format!("unlock.{me}");
    for d in 0..sizes.data {
        lts.step("idle", &format!("beginPush.{me}.{d}"), &format!("push {d}"));
        lts.step(&format!("push {d}"), &format!("lock.{me}"), &format!("push {d} locked"));
        for top in references(sizes) {
            let read = format!("push {d} top {top}");
            lts.step(&format!("push {d} locked"), &format!("getTop.{me}.{top}"), &read);
            for n in 0..sizes.nodes {
                let made = format!("push {d} top {top} node {n}");
                lts.step(&read, &format!("initNode.{me}.{n}.{d}.{top}"), &made);
                lts.step(&made, &format!("setTop.{me}.{n}"), &format!("push {d} done"));
            }
        }
        lts.step(&format!("push {d} done"), &format!("push.{me}.{d}"), "pushed");
    }
    lts.step("pushed", &unlock, "idle");
    lts.step("idle", &format!("beginPop.{me}"), "pop");
    lts.step("pop", &format!("lock.{me}"), "pop locked");
    let null = sizes.nodes;
    lts.step("pop locked", &format!("getTop.{me}.{null}"), "empty");
    lts.step("empty", &format!("popEmpty.{me}"), "popped nothing");
    lts.step("popped nothing", &unlock, "idle");
    for top in 0..sizes.nodes {
        lts.step("pop locked", &format!("getTop.{me}.{top}"), &format!("pop {top}"));
        for n in references(sizes) {
            lts.step(&format!("pop {top}"), &format!("getNext.{me}.{top}.{n}"), &format!("pop {top} {n}"));
            lts.step(&format!("pop {top} {n}"), &format!("setTop.{me}.{n}"), &format!("pop {top} set"));
        }
        for d in 0..sizes.data {
            let read = format!("pop {top} datum {d}");
            lts.step(&format!("pop {top} set"), &format!("getDatum.{me}.{top}.{d}"), &read);
            lts.step(&read, &format!("pop.{me}.{d}"), &format!("popped {top}"));
        }
        lts.step(&format!("popped {top}"), &format!("freeNode.{me}.{top}"), "freed");
    }
    lts.step("freed", &unlock, "idle");
    lts.minimised()
}

pub(crate) fn specification(labels: &Arc<Labels>, sizes: Sizes) -> Arc<Lts> {
    let mut builder = LtsBuilder::new(labels.clone());
    // Stacks by length, then as numbers whose last digit is the top.
    let (mut begin, mut count) = (0, 1);
    for length in 0..=sizes.nodes {
        for stack in 0..count {
            let here = StateId((begin + stack) as u32);
            for t in 0..sizes.threads {
                if length == 0 {
                    builder.add(here, labels.name(&format!("popEmpty.{t}")), here);
                } else {
                    let below = begin - count / sizes.data + stack / sizes.data;
                    let label = labels.name(&format!("pop.{t}.{}", stack % sizes.data));
                    builder.add(here, label, StateId(below as u32));
                }
                for d in 0..sizes.data {
                    if length < sizes.nodes {
                        let above = begin + count + stack * sizes.data + d;
                        builder.add(here, labels.name(&format!("push.{t}.{d}")), StateId(above as u32));
                    }
                }
            }
        }
        begin += count;
        count *= sizes.data;
    }
    Arc::new(builder.build(StateId(0)))
}

/// With the specification as the first component, or without it.
pub(crate) fn network(labels: Arc<Labels>, sizes: Sizes, specification: &Arc<Lts>, beside: bool) -> Network {
    let mut machines = if beside { vec![("specification".to_string(), specification.clone())] } else { Vec::new() };
    machines.extend((0..sizes.nodes).map(|me| (format!("node {me}"), node(&labels, sizes, me))));
    machines.push(("top".to_string(), top(&labels, sizes)));
    machines.push(("lock".to_string(), lock(&labels, sizes)));
    machines.extend((0..sizes.threads).map(|me| (format!("thread {me}"), thread(&labels, sizes, me))));
    let alphabet = |machine: &Arc<Lts>| {
        let mut labels: Vec<LabelId> = machine.transitions().iter().map(|step| step.label).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    };
    let alphabets: Vec<Vec<LabelId>> = machines.iter().map(|(_, machine)| alphabet(machine)).collect();
    let mut all: Vec<LabelId> = alphabets.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    let visible = alphabet(specification);
    let rules = all.into_iter().map(|label| {
        let takes_part = |&part: &usize| alphabets[part].binary_search(&label).is_ok();
        let parts: Vec<(usize, LabelId)> = (0..alphabets.len()).filter(takes_part).map(|part| (part, label)).collect();
        let shown = if visible.binary_search(&label).is_ok() { label } else { LabelId::TAU };
        Rule::new(parts, shown).with_origin(label)
    });
    let rules = rules.collect();
    let components = machines.into_iter().map(|(name, machine)| Component::new(name, machine)).collect();
    Network::new(labels, components, rules).expect("small components")
}

/// States a second, and bytes a state.
pub(crate) fn run(arguments: &[String]) {
    let sizes =
        Sizes { nodes: number(arguments, 0, 4), threads: number(arguments, 1, 3), data: number(arguments, 2, 3) };
    let labels = Arc::new(Labels::new());
    let specification = specification(&labels, sizes);
    let network = network(labels, sizes, &specification, true);
    let packing = Packing::new(network.layout());
    println!(
        "list-stack: {} components, {} bits a row, {} bytes",
        network.components().len(),
        packing.bits(),
        packing.bytes()
    );
    let workers = arguments.get(3).and_then(|text| text.parse().ok()).map_or(vec![1, 2], |workers| vec![workers]);
    for threads in workers {
        let (begin, used) = (Instant::now(), processor_seconds());
        let options = Options { threads, ..Options::default() };
        let found = search(&network, &options, &Control::unlimited(), || ());
        let (seconds, used) = (begin.elapsed().as_secs_f64(), processor_seconds() - used);
        assert_eq!(found.end, End::Complete);
        let states = found.counts.states;
        println!(
            "  {threads} threads: {states} states, {} transitions, {seconds:.2} s, {:.2} M states/s, {:.2} M a processor second; {:.2} bytes a state, peak {} MB",
            found.counts.transitions,
            states as f64 / seconds / 1e6,
            states as f64 / used / 1e6,
            found.states.bytes() as f64 / states as f64,
            peak_memory().unwrap_or(0) >> 20,
        );
        if let Some((_, known)) = KNOWN.iter().find(|known| known.0 == [sizes.nodes, sizes.threads, sizes.data]) {
            assert_eq!(states, *known, "another number of states is known");
        }
    }
}

/// States a second of the checks.
pub(crate) fn checks(arguments: &[String]) {
    let sizes =
        Sizes { nodes: number(arguments, 0, 4), threads: number(arguments, 1, 3), data: number(arguments, 2, 3) };
    let workers = number(arguments, 3, 2);
    let labels = Arc::new(Labels::new());
    let specification = specification(&labels, sizes);
    let network = network(labels, sizes, &specification, false);
    let system: &dyn System = &network;
    let control = Control::unlimited();
    println!("list-stack-refine: {workers} threads");
    let report = |name: &str, begin: Instant, outcome: Outcome| {
        let (seconds, statistics) = (begin.elapsed().as_secs_f64(), outcome.statistics);
        println!(
            "  {name:<22} {:<5} {:>11} states {seconds:>7.2} s {:>6.2} M states/s, peak {} MB",
            outcome.witness.is_none(),
            statistics.states,
            statistics.states as f64 / seconds / 1e6,
            peak_memory().unwrap_or(0) >> 20,
        );
    };
    for (name, model) in [("T", Model::Traces), ("F", Model::Failures), ("FD", Model::FailuresDivergences)] {
        let options = trefoil_refine::Options {
            algorithm: Algorithm::Automatic,
            threads: workers,
            ..trefoil_refine::Options::new(model)
        };
        let begin = Instant::now();
        report(name, begin, refine(&*specification, system, options, &control).expect("no budget was set"));
    }
    let options = CheckOptions { threads: workers, ..CheckOptions::default() };
    let begin = Instant::now();
    report("deadlock F", begin, deadlock(system, Model::Failures, options, &control).expect("no budget was set"));
    let begin = Instant::now();
    report("divergence", begin, divergence(system, options, &control).expect("no budget was set"));
    let begin = Instant::now();
    let outcome = determinism(system, Model::FailuresDivergences, options, &control).expect("no budget was set");
    report("determinism FD", begin, outcome);
}
