//! Minimisation: transitions a second, rounds, and bytes a transition at the peak of the process.
//!
//! `minimise [--input random|composed|chains] [--size N] [--equivalence NAME,…] [--save FILE.aut]`. The inputs:
//!
//! - `random`: N transitions (10 million), a quarter as many states, 10 labels, a tenth of the transitions `τ`;
//! - `composed`: a pipeline of N one-place buffers (9) for two values with the moves between them hidden, beside a
//!   clock that shows `tock` after 149 times `tick`: most steps are `τ`, and every tick of the clock is a round;
//! - `chains`: N nodes (1 million) in inert chains above one node that offers 1000 different futures, found one a
//!   round.

use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::time::Instant;

use trefoil_control::{Control, human_bytes, peak_memory};
use trefoil_lts::equivalence::{Equivalence, minimise};
use trefoil_lts::random::{Random, RandomShape, random_lts};
use trefoil_lts::{Lts, LtsBuilder, Transition};
use trefoil_system::{LabelId, Labels, StateId};

/// Runs it.
pub(crate) fn run(arguments: &[String]) {
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    let input = option("--input").unwrap_or("random");
    let size: Option<usize> = option("--size").and_then(|text| text.parse().ok());
    let lts = match input {
        "random" => random(size.unwrap_or(10_000_000)),
        "composed" => composed(size.unwrap_or(9)),
        "chains" => chains(size.unwrap_or(1_000_000)),
        other => {
            eprintln!("no input is called '{other}'");
            return;
        }
    };
    let transitions = lts.transition_count();
    println!("{input}: {} states, {transitions} transitions", lts.state_count());
    if let Some(path) = option("--save")
        && let Err(error) = save(&lts, path)
    {
        eprintln!("{path}: {error}");
    }
    let names = option("--equivalence").unwrap_or("strong,branching,dpbranching");
    for name in names.split(',') {
        let equivalence: Equivalence = match name.parse() {
            Ok(equivalence) => equivalence,
            Err(error) => {
                eprintln!("{error}");
                continue;
            }
        };
        let (begin, processor) = (Instant::now(), processor_seconds());
        let small = minimise(&lts, equivalence, &Control::unlimited()).expect("no budget was set");
        let seconds = begin.elapsed().as_secs_f64();
        let peak = peak_memory().unwrap_or(0);
        println!(
            "  {name:<12} {:>9} states {:>9} transitions {:>6} rounds {seconds:>8.3} s ({:.2} of a processor) {:>7.2} M transitions/s, peak so far {} ({:.1} bytes a transition)",
            small.lts.state_count(),
            small.lts.transition_count(),
            small.rounds,
            processor_seconds() - processor,
            transitions as f64 / seconds / 1e6,
            human_bytes(peak),
            peak as f64 / transitions as f64,
        );
    }
}

fn random(transitions: usize) -> Lts {
    let shape = RandomShape { states: (transitions / 4) as u32, transitions, labels: 10, tau_percent: 10 };
    random_lts(&Arc::new(Labels::new()), shape, &mut Random::new(1))
}

/// A pipeline of buffers and a clock, as one explicit product: a state is the time and the contents, base 3.
fn composed(cells: usize) -> Lts {
    const HOURS: usize = 150;
    let labels = Arc::new(Labels::new());
    let put = [labels.name("put(0)"), labels.name("put(1)")];
    let get = [labels.name("get(0)"), labels.name("get(1)")];
    let (tick, tock) = (labels.name("tick"), labels.name("tock"));
    let powers: Vec<usize> = (0..=cells as u32).map(|cell| 3usize.pow(cell)).collect();
    let contents = powers[cells];
    let mut starts = vec![0];
    let mut transitions = Vec::new();
    for state in 0..contents * HOURS {
        let (time, content) = (state / contents, state % contents);
        let mut add = |label: LabelId, target: usize| {
            transitions.push(Transition { label, target: StateId(target as u32) });
        };
        let cell = |index: usize| content / powers[index] % 3;
        if cell(0) == 0 {
            (0..2).for_each(|value| add(put[value], state + value + 1));
        }
        for index in 0..cells - 1 {
            if cell(index) != 0 && cell(index + 1) == 0 {
                add(LabelId::TAU, state - cell(index) * powers[index] + cell(index) * powers[index + 1]);
            }
        }
        if cell(cells - 1) != 0 {
            add(get[cell(cells - 1) - 1], state - cell(cells - 1) * powers[cells - 1]);
        }
        let later = (time + 1) % HOURS;
        add(if later == 0 { tock } else { tick }, later * contents + content);
        starts.push(transitions.len());
    }
    Lts::from_rows(labels, StateId(0), starts, transitions)
}

/// Inert chains of 1000 nodes each above one node, which leads to every place of a countdown from 1000.
fn chains(nodes: usize) -> Lts {
    const FUTURES: u32 = 1000;
    let labels = Arc::new(Labels::new());
    let (a, b) = (labels.name("a"), labels.name("b"));
    let mut builder = LtsBuilder::new(labels);
    let hub = FUTURES;
    for future in 0..FUTURES {
        builder.add(StateId(hub), a, StateId(future));
        if future > 0 {
            builder.add(StateId(future), b, StateId(future - 1));
        }
    }
    for node in hub + 1..hub + 1 + nodes as u32 {
        let below = if (node - hub) % 1000 == 1 { hub } else { node - 1 };
        builder.add(StateId(node), LabelId::TAU, StateId(below));
    }
    let initial = hub + 1 + nodes as u32;
    for node in (hub + 1..initial).filter(|node| (node - hub).is_multiple_of(1000)).chain([initial - 1]) {
        builder.add(StateId(initial), LabelId::TAU, StateId(node));
    }
    builder.build(StateId(initial))
}

/// Processor time of this process so far, in steps of 10 ms; 0 where the system does not say. On a busy machine it is
/// more reliable than the clock.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The fields after the name, which stands in parentheses: user and system ticks are the 12th and 13th.
    let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}

fn save(lts: &Lts, path: &str) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    writeln!(file, "des ({},{},{})", lts.initial().0, lts.transition_count(), lts.state_count())?;
    for (source, transition) in lts.all_transitions() {
        writeln!(file, "({},\"{}\",{})", source.0, lts.labels().get(transition.label), transition.target.0)?;
    }
    file.flush()
}
