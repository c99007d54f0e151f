//! Benchmarks of refinement: example 2.3.4 of the thesis, and larger systems, side by side with another tool when its
//! path is given.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use trefoil_control::{Control, Limits};
use trefoil_lts::format::{Input, Output, ReadOptions, read_lts, save_lts};
use trefoil_lts::random::{Random, RandomShape, random_lts};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_refine::{Algorithm, Options, Preprocess, Search, Unanswered, refine};
use trefoil_system::{LabelId, Labels, Model, StateId};

const MODELS: [(Model, &str, &str); 3] = [
    (Model::Traces, "trace", "weak-trace-ac"),
    (Model::Failures, "failures", "weak-failures"),
    (Model::FailuresDivergences, "fd", "failures-divergence"),
];

/// Options without preprocessing, so that only the search is measured.
fn plain(model: Model) -> Options {
    Options { preprocess: Preprocess::Nothing, ..Options::new(model) }
}

/// n states in a row with k events from each to the next, as its own specification: linear in n and in k.
pub(crate) fn example_2_3_4(_arguments: &[String]) {
    println!("{:>5} {:>5} {:>10} {:>12} {:>12} {:>14}", "n", "k", "product", "bfs", "dfs", "bfs/transition");
    for (n, k) in [(125, 125), (250, 125), (500, 125), (125, 250), (125, 500), (250, 250), (500, 250), (500, 500)] {
        let labels = Arc::new(Labels::new());
        let system = ladder(&labels, n, k);
        let mut times = [Duration::MAX; 2];
        let mut transitions = 0;
        for _ in 0..5 {
            for (time, search) in times.iter_mut().zip([Search::BreadthFirst, Search::DepthFirst]) {
                let options = Options { search, ..plain(Model::Traces) };
                let outcome = refine(&system, &system, options, &Control::unlimited()).expect("no budget");
                assert!(outcome.holds());
                transitions = outcome.statistics.transitions;
                *time = outcome.statistics.elapsed.min(*time);
            }
        }
        let [bfs, dfs] = times;
        println!(
            "{n:>5} {k:>5} {transitions:>10} {bfs:>12.3?} {dfs:>12.3?} {:>11.2} ns",
            bfs.as_nanos() as f64 / transitions as f64
        );
    }
}

fn ladder(labels: &Arc<Labels>, n: u32, k: u32) -> Lts {
    let names: Vec<LabelId> = (0..k).map(|event| labels.name(&format!("a{event}"))).collect();
    let mut builder = LtsBuilder::new(labels.clone());
    for state in 0..n - 1 {
        for &event in &names {
            builder.add(StateId(state), event, StateId(state + 1));
        }
    }
    builder.build(StateId(0))
}

/// Larger systems; the first argument is the path of another tool that takes
/// `-p<preorder> IMPLEMENTATION SPECIFICATION`. Its time is shown without that of reading the files; the last column
/// compares the times with reading.
pub(crate) fn refinements(arguments: &[String]) {
    let peer = arguments.first().map(PathBuf::from);
    let folder = std::env::temp_dir().join(format!("trefoil-bench-{}", std::process::id()));
    let labels = Arc::new(Labels::new());
    let cases: Vec<(&str, Lts, Lts)> = vec![
        ("ladder 500 x 500", ladder(&labels, 500, 500), ladder(&labels, 500, 500)),
        ("buffers 11 x 2", buffer(&labels, 11, 2), buffer_chain(&labels, 11, 2)),
        ("exploding 24, ring", exploding(&labels, 24), ring(&labels, 100_000)),
        ("incomparable 9", exploding(&labels, 9), random_machine(&labels, 3_000)),
        ("unfolded 400 x 200", unfolding_source(&labels, 400), unfolded(&labels, 400, 200)),
        ("unfolded 20000 x 20", unfolding_source(&labels, 20_000), unfolded(&labels, 20_000, 20)),
    ];
    println!(
        "{:<20} {:<8} {:>7} {:>9} {:>8} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9} {:>7} {:>8}",
        "systems",
        "model",
        "verdict",
        "steps",
        "pairs",
        "hits",
        "evicted",
        "antichain",
        "lazy",
        "full",
        "peer",
        "ratio",
        "+reading"
    );
    for (name, specification, implementation) in &cases {
        let files = Files::write(&folder, specification, implementation);
        for (model, model_name, preorder) in MODELS {
            let (antichain, counted) = best(specification, implementation, plain(model), 3);
            let antichain = antichain.expect("the antichain ends in time");
            let [lazy, full] = [Algorithm::LazyNormalForm, Algorithm::NormalForm].map(|algorithm| {
                let (time, _) = best(specification, implementation, Options { algorithm, ..plain(model) }, 1);
                time.map_or("> 3 s".to_string(), |time| format!("{time:.1?}"))
            });
            let [peer, ratio, with_reading] = match &peer {
                Some(tool) => files.compare(tool, preorder, antichain, plain(model)),
                None => ["-"; 3].map(String::from),
            };
            println!(
                "{name:<20} {model_name:<8} {:>7} {:>9} {:>8} {:>8} {:>8} {:>9} {lazy:>9} {full:>9} {peer:>9} {ratio:>7} {with_reading:>8}",
                if counted.holds() { "holds" } else { "fails" },
                implementation.transition_count(),
                counted.statistics.states,
                counted.statistics.antichain_hits,
                counted.statistics.antichain_evictions,
                format!("{antichain:.1?}"),
            );
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// What minimising first costs and gains, in all models: the sum of their times, for each choice.
pub(crate) fn preprocessing(_arguments: &[String]) {
    let labels = Arc::new(Labels::new());
    let unfolded_twice = || (unfolded(&labels, 400, 30), unfolded(&labels, 400, 60));
    let (large_specification, larger_implementation) = unfolded_twice();
    let cases: Vec<(&str, Lts, Lts)> = vec![
        ("ladder 500 x 500", ladder(&labels, 500, 500), ladder(&labels, 500, 500)),
        ("buffers 11 x 2", buffer(&labels, 11, 2), buffer_chain(&labels, 11, 2)),
        ("buffer chains 9 x 2", buffer_chain(&labels, 9, 2), buffer_chain(&labels, 9, 2)),
        ("incomparable 9", exploding(&labels, 9), random_machine(&labels, 3_000)),
        ("unfolded 400 x 200", unfolding_source(&labels, 400), unfolded(&labels, 400, 200)),
        ("unfolded x 30, x 60", large_specification, larger_implementation),
        ("unfolded 20000 x 20", unfolding_source(&labels, 20_000), unfolded(&labels, 20_000, 20)),
        ("fails: chains 11, 10", buffer_chain(&labels, 10, 2), buffer_chain(&labels, 11, 2)),
        ("fails: other machine", unfolded(&labels, 400, 30), random_machine(&labels, 100_000)),
    ];
    println!("{:<22} {:>10} {:>10} {:>10} {:>10} {:>10}", "systems", "verdicts", "none", "spec", "impl", "both");
    for (name, specification, implementation) in &cases {
        let mut verdicts = String::new();
        let mut times = Vec::new();
        let choices = [Preprocess::Nothing, Preprocess::Specification, Preprocess::Implementation, Preprocess::Both];
        for preprocess in choices {
            let mut sum = Some(Duration::ZERO);
            verdicts.clear();
            for (model, ..) in MODELS {
                let options = Options { preprocess, ..Options::new(model) };
                let (time, outcome) = best(specification, implementation, options, 2);
                sum = sum.zip(time).map(|(sum, time)| sum + time);
                verdicts.push(if time.is_none() {
                    '?'
                } else if outcome.holds() {
                    '+'
                } else {
                    '-'
                });
            }
            times.push(sum.map_or("> 3 s".to_string(), |sum| format!("{sum:.1?}")));
        }
        println!("{name:<22} {verdicts:>10} {:>10} {:>10} {:>10} {:>10}", times[0], times[1], times[2], times[3]);
    }
}

/// The best of some runs, if it ends within three seconds, and the last outcome.
fn best(spec: &Lts, imp: &Lts, options: Options, runs: usize) -> (Option<Duration>, trefoil_refine::Outcome) {
    let mut least = None;
    let mut last = trefoil_refine::Outcome { witness: None, run: None, statistics: Default::default() };
    for _ in 0..runs {
        let control = Control::new(Limits { time: Some(Duration::from_secs(3)), memory: Limits::default_memory() });
        match refine(spec, imp, options, &control) {
            Ok(outcome) => {
                let time = outcome.statistics.elapsed;
                least = Some(least.map_or(time, |known: Duration| known.min(time)));
                last = outcome;
            }
            Err(Unanswered::Cut { .. }) => break,
            Err(why) => panic!("{why}"),
        }
    }
    (least, last)
}

/// The systems as files, for the peer.
struct Files {
    specification: PathBuf,
    implementation: PathBuf,
    nothing: PathBuf,
}

/// How long the other tool may take.
const PATIENCE: Duration = Duration::from_secs(15);

impl Files {
    fn write(folder: &Path, specification: &Lts, implementation: &Lts) -> Files {
        std::fs::create_dir_all(folder).expect("a temporary folder");
        let files = Files {
            specification: folder.join("specification.aut"),
            implementation: folder.join("implementation.aut"),
            nothing: folder.join("nothing.aut"),
        };
        let control = Control::unlimited();
        for (path, lts) in [(&files.specification, specification), (&files.implementation, implementation)] {
            save_lts(lts, &Output::Path(path.clone()), None, &control).expect("room for a file");
        }
        std::fs::write(&files.nothing, "des (0,0,1)\n").expect("room for a file");
        files
    }

    /// The other tool's time without reading, how many times ours that is, and the same with reading.
    fn compare(&self, tool: &Path, preorder: &str, ours: Duration, options: Options) -> [String; 3] {
        let run = |implementation: &Path, specification: &Path| {
            let started = Instant::now();
            let mut child = Command::new(tool)
                .args(["-q", "--no-preprocessing", &format!("-p{preorder}")])
                .args([implementation, specification])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the other tool runs");
            while child.try_wait().expect("a child").is_none() {
                if started.elapsed() > PATIENCE {
                    child.kill().and_then(|()| child.wait()).expect("a child");
                    return None;
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            Some(started.elapsed())
        };
        let Some(whole) = run(&self.implementation, &self.specification) else {
            return [
                format!("> {PATIENCE:?}"),
                format!("> {:.0}", PATIENCE.as_secs_f64() / ours.as_secs_f64()),
                "".into(),
            ];
        };
        // Each file is read for a check that ends immediately.
        let reading = [(&self.implementation, &self.nothing), (&self.nothing, &self.specification)];
        let reading: Duration = reading.iter().filter_map(|(imp, spec)| run(imp, spec)).sum();
        let net = whole.saturating_sub(reading);
        let started = Instant::now();
        let control = Control::unlimited();
        let labels = Arc::new(Labels::new());
        let read = |path: &PathBuf| {
            read_lts(Input::from_argument(path.clone()), &ReadOptions::default(), &labels, &control).expect("our file")
        };
        let (specification, implementation) = (read(&self.specification), read(&self.implementation));
        refine(&specification, &implementation, options, &control).expect("no budget");
        let ours_with_reading = started.elapsed();
        [
            format!("{net:.1?}"),
            format!("{:.1}", net.as_secs_f64() / ours.as_secs_f64()),
            format!("{:.1}", whole.as_secs_f64() / ours_with_reading.as_secs_f64()),
        ]
    }
}

/// A queue of `places` places for `values` values, as one process.
fn buffer(labels: &Arc<Labels>, places: u32, values: u32) -> Lts {
    let mut builder = LtsBuilder::new(labels.clone());
    // A content of length l is values^l - 1 / (values - 1) plus its number in base `values`, the oldest item being the
    // highest digit.
    let first = |length: u32| (values.pow(length) - 1) / (values - 1);
    for length in 0..=places {
        for content in 0..values.pow(length) {
            let state = StateId(first(length) + content);
            if length < places {
                for value in 0..values {
                    let target = StateId(first(length + 1) + content * values + value);
                    builder.add(state, labels.name(&format!("in.{value}")), target);
                }
            }
            if length > 0 {
                let highest = values.pow(length - 1);
                let target = StateId(first(length - 1) + content % highest);
                builder.add(state, labels.name(&format!("out.{}", content / highest)), target);
            }
        }
    }
    builder.build(StateId(0))
}

/// The same queue as cells that pass items on by `τ`.
fn buffer_chain(labels: &Arc<Labels>, places: u32, values: u32) -> Lts {
    let base = values + 1;
    let mut builder = LtsBuilder::new(labels.clone());
    for state in 0..base.pow(places) {
        let cell = |index: u32| state / base.pow(index) % base;
        if cell(0) == 0 {
            for value in 0..values {
                builder.add(StateId(state), labels.name(&format!("in.{value}")), StateId(state + value + 1));
            }
        }
        for index in 0..places - 1 {
            if cell(index) != 0 && cell(index + 1) == 0 {
                let target = state - cell(index) * base.pow(index) + cell(index) * base.pow(index + 1);
                builder.add(StateId(state), LabelId::TAU, StateId(target));
            }
        }
        let last = cell(places - 1);
        if last != 0 {
            let target = state - last * base.pow(places - 1);
            builder.add(StateId(state), labels.name(&format!("out.{}", last - 1)), StateId(target));
        }
    }
    builder.build(StateId(0))
}

/// Remembers which of the last n letters were an a, as sets: 2^n of them.
fn exploding(labels: &Arc<Labels>, n: u32) -> Lts {
    let (a, b) = (labels.name("a"), labels.name("b"));
    let mut builder = LtsBuilder::new(labels.clone());
    builder.add(StateId(0), a, StateId(0)).add(StateId(0), b, StateId(0)).add(StateId(0), a, StateId(1));
    for state in 1..n {
        builder.add(StateId(state), a, StateId(state + 1)).add(StateId(state), b, StateId(state + 1));
    }
    builder.build(StateId(0))
}

/// States in a ring, an a and a b from each to the next: every set of the exploding specification meets every state,
/// and the smallest one is enough.
fn ring(labels: &Arc<Labels>, states: u32) -> Lts {
    let mut builder = LtsBuilder::new(labels.clone());
    for state in 0..states {
        for name in ["a", "b"] {
            builder.add(StateId(state), labels.name(name), StateId((state + 1) % states));
        }
    }
    builder.build(StateId(0))
}

/// A deterministic machine that always takes an a or a b.
fn random_machine(labels: &Arc<Labels>, states: u32) -> Lts {
    let mut random = Random::new(2);
    let mut builder = LtsBuilder::new(labels.clone());
    for state in 0..states {
        for name in ["a", "b"] {
            builder.add(StateId(state), labels.name(name), StateId(random.below(states as usize) as u32));
        }
    }
    builder.build(StateId(0))
}

fn unfolding_source(labels: &Arc<Labels>, states: u32) -> Lts {
    let transitions = states as usize * 2;
    let shape = RandomShape { states, transitions, labels: 12, tau_percent: 10 };
    random_lts(labels, shape, &mut Random::new(11))
}

/// Copies of the source with transitions that lead from any copy to any other, some of them with a `τ` before.
fn unfolded(labels: &Arc<Labels>, states: u32, copies: u32) -> Lts {
    let source = unfolding_source(labels, states);
    let mut random = Random::new(12);
    let mut builder = LtsBuilder::new(labels.clone());
    let mut fresh = states * copies;
    for copy in 0..copies {
        for (from, step) in source.all_transitions() {
            let target = StateId(step.target.0 + states * random.below(copies as usize) as u32);
            let from = StateId(from.0 + states * copy);
            if random.chance(20) {
                builder.add(from, step.label, StateId(fresh)).add(StateId(fresh), LabelId::TAU, target);
                fresh += 1;
            } else {
                builder.add(from, step.label, target);
            }
        }
    }
    builder.build(StateId(0))
}
