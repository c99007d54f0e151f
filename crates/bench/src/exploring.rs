//! The store of states and the composition of networks.
//!
//! `store [STATES] [BYTES]`: distinct rows of BYTES bytes are inserted, each twice, in an order that the hash scatters.
//! `compose [PHILOSOPHERS]`: dining philosophers as a network of philosophers and forks, explored into the store.

use std::sync::Arc;
use std::time::Instant;

use trefoil_control::Control;
use trefoil_explore::{End, Options, Order, Packing, StateSet, search};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_network::{Component, Network, Rule};
use trefoil_system::{LabelId, Labels, Layout, Slot, StateId, System};

pub(crate) fn number(arguments: &[String], index: usize, default: usize) -> usize {
    arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Seconds of processor time that this process has used; where the system does not say, of wall-clock time.
pub(crate) fn processor_seconds() -> f64 {
    let ticks = || {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        let behind_name = stat.rsplit(')').next()?;
        let mut fields = behind_name.split_whitespace().skip(11);
        let user: f64 = fields.next()?.parse().ok()?;
        let system: f64 = fields.next()?.parse().ok()?;
        Some((user + system) / 100.0)
    };
    static BEGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    ticks().unwrap_or_else(|| BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64())
}

/// Inserts a second and bytes a state.
pub(crate) fn store(arguments: &[String]) {
    let states = number(arguments, 0, 5_000_000) as u32;
    let bytes = number(arguments, 1, 9).max(4);
    let control = Control::unlimited();
    for threads in [1u32, 2] {
        let slots = (0..bytes).map(|index| Slot::bounded(format!("s{index}"), 256)).collect();
        let set = StateSet::new(Packing::new(&Layout::new(slots)), threads as usize);
        let (begin, used) = (Instant::now(), processor_seconds());
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (set, control) = (&set, &control);
                scope.spawn(move || {
                    let mut inserter = set.inserter();
                    let (mut row, mut rows, mut inserted) = (vec![0u32; bytes], Vec::new(), Vec::new());
                    for at in 0..states * 2 / threads {
                        // Each thread's second half is the other's first.
                        let value = (at + thread * (states / threads)) % states;
                        for (index, slot) in row.iter_mut().enumerate() {
                            *slot = (value.rotate_left(8 * index as u32) ^ index as u32) & 255;
                        }
                        rows.extend_from_slice(&row);
                        if at % 64 == 63 || at + 1 == states * 2 / threads {
                            inserter.insert_all(&rows, control, &mut inserted).expect("no budget");
                            rows.clear();
                            inserted.clear();
                        }
                        if at % 4096 == 0 {
                            inserter.release();
                        }
                    }
                });
            }
        });
        let (seconds, used) = (begin.elapsed().as_secs_f64(), processor_seconds() - used);
        let stored = set.freeze();
        let per_state = stored.bytes() as f64 / f64::from(states);
        println!(
            "store: {threads} threads, {states} states of {bytes} bytes, {:.1} M inserts/s, {:.1} M a processor second; {per_state:.2} bytes a state, at most {:.1} promised",
            f64::from(states) * 2.0 / seconds / 1e6,
            f64::from(states) * 2.0 / used / 1e6,
            1.5 * bytes as f64 + 4.0,
        );
    }
}

/// A philosopher: hungry, picks up left then right, eats, puts down both.
fn philosopher(labels: &Arc<Labels>, names: [&str; 6]) -> Lts {
    let mut builder = LtsBuilder::new(labels.clone());
    for (index, name) in names.iter().enumerate() {
        builder.add(StateId(index as u32), labels.name(name), StateId((index as u32 + 1) % 6));
    }
    builder.build(StateId(0))
}

/// A fork: picked up by one side, put down by the same.
fn fork(labels: &Arc<Labels>, names: [[&str; 2]; 2]) -> Lts {
    let mut builder = LtsBuilder::new(labels.clone());
    for (index, [up, down]) in names.iter().enumerate() {
        builder.add(StateId(0), labels.name(up), StateId(index as u32 + 1));
        builder.add(StateId(index as u32 + 1), labels.name(down), StateId(0));
    }
    builder.build(StateId(0))
}

pub(crate) fn philosophers(count: usize) -> Network {
    let labels = Arc::new(Labels::new());
    let one = Arc::new(philosopher(&labels, ["think", "left", "right", "eat", "leave_left", "leave_right"]));
    let fork = Arc::new(fork(&labels, [["left", "leave_left"], ["right", "leave_right"]]));
    let mut components = Vec::new();
    for index in 0..count {
        components.push(Component::new(format!("philosopher {index}"), one.clone()));
        components.push(Component::new(format!("fork {index}"), fork.clone()));
    }
    let id = |name: &str| labels.name(name);
    let mut rules = Vec::new();
    for index in 0..count {
        let seen = |name: &str| labels.name(&format!("{name}.{index}"));
        let own = 2 * index;
        rules.push(Rule::new([(own, id("think"))], seen("think")));
        rules.push(Rule::new([(own, id("eat"))], seen("eat")));
        for (name, fork) in [("left", own + 1), ("right", (own + 3) % (2 * count))] {
            rules.push(Rule::new([(own, id(name)), (fork, id(name))], LabelId::TAU));
            let leave = format!("leave_{name}");
            rules.push(Rule::new([(own, id(&leave)), (fork, id(&leave))], seen(&leave)));
        }
    }
    Network::new(labels, components, rules).expect("small components")
}

/// Transitions a second and core, and bytes a state.
pub(crate) fn compose(arguments: &[String]) {
    let network = philosophers(number(arguments, 0, 9));
    let row_bytes = Packing::new(network.layout()).bytes();
    for (order, threads) in [(Order::Steps, 1), (Order::Steps, 2), (Order::Visible, 1), (Order::Visible, 2)] {
        let (begin, used) = (Instant::now(), processor_seconds());
        let options = Options { threads, order, ..Options::default() };
        let found = search(&network, &options, &Control::unlimited(), || ());
        let (seconds, used) = (begin.elapsed().as_secs_f64(), processor_seconds() - used);
        assert_eq!(found.end, End::Complete);
        let (rate, per_core) =
            (found.counts.transitions as f64 / seconds / 1e6, found.counts.transitions as f64 / used / 1e6);
        println!(
            "compose: {} components, {order:?}, {threads} threads: {} states, {} transitions, {seconds:.2} s, {rate:.2} M transitions/s, {per_core:.2} M a processor second; {:.2} bytes a state, row {row_bytes}, at most {:.1} promised",
            network.components().len(),
            found.counts.states,
            found.counts.transitions,
            found.states.bytes() as f64 / found.counts.states as f64,
            1.5 * row_bytes as f64 + 4.0,
        );
    }
}
