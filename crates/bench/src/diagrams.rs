//! Reachability of models in Sylvan's `.ldd` format by saturation, beside `lddmc` where its path is given.
//!
//! `diagrams FOLDER [SECONDS] [PATH of lddmc] [RUNS]`: every `*.ldd` file of the folder, on one thread and on all
//! cores. The time is that of putting the slots into order and of the search, without reading; of `lddmc` it is the
//! time that it reports for the same, with as many workers as there are cores, for saturation and for the fastest of
//! its four strategies. All take turns, `RUNS` times, and the least time of each counts. A run that takes longer than
//! `SECONDS` is stopped.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use trefoil_control::{Control, Limits, available_memory};
use trefoil_diagrams::{Diagrams, LoadError, Options, Relation};

/// The strategies of `lddmc`, saturation first, with the words before the times that it reports.
const STRATEGIES: [(&str, &str); 4] =
    [("sat", "SAT Time:"), ("par", "PAR Time:"), ("bfs", "BFS Time:"), ("chaining", "CHAINING Time:")];

/// What a run gave.
#[derive(Clone)]
struct Outcome {
    states: String,
    seconds: f64,
}

pub(crate) fn run(arguments: &[String]) {
    let Some(folder) = arguments.first() else {
        eprintln!("usage: trefoil-bench diagrams FOLDER [SECONDS] [PATH of lddmc] [RUNS]");
        return;
    };
    let seconds = arguments.get(1).and_then(|number| number.parse().ok()).unwrap_or(60);
    let runs = arguments.get(3).and_then(|number| number.parse().ok()).unwrap_or(3);
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ldd"));
    files.sort();
    println!("| model | states | peak nodes | 1 thread (s) | all cores (s) | lddmc (s) | its fastest (s) | ratio |");
    println!("|---|---|---|---|---|---|---|---|");
    let (mut own_sum, mut peer_sum) = (0.0, 0.0);
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut own: [Option<Outcome>; 2] = [None, None];
        let mut peers: [Option<Outcome>; STRATEGIES.len()] = Default::default();
        let mut nodes = 0;
        for _ in 0..runs {
            for (at, threads) in [1, 0].into_iter().enumerate() {
                match saturated(&file, seconds, threads) {
                    Ok((outcome, peak)) => {
                        nodes = peak;
                        keep(&mut own[at], outcome);
                    }
                    Err(error) => eprintln!("{name}: {error}"),
                }
            }
            let Some(lddmc) = arguments.get(2) else { continue };
            for (at, (strategy, word)) in STRATEGIES.iter().enumerate() {
                if let Some(outcome) = peer(lddmc, &file, seconds, strategy, word) {
                    keep(&mut peers[at], outcome);
                }
            }
        }
        let time = |outcome: &Option<Outcome>| outcome.as_ref().map_or(f64::INFINITY, |outcome| outcome.seconds);
        let fastest = (0..STRATEGIES.len())
            .min_by(|&one, &other| time(&peers[one]).total_cmp(&time(&peers[other])))
            .unwrap_or_default();
        let shown = |seconds: f64| if seconds.is_finite() { format!("{seconds:.3}") } else { "–".to_string() };
        let states = own[1].as_ref().map_or("–".to_string(), |outcome| outcome.states.clone());
        println!(
            "| {name} | {states} | {nodes} | {} | {} | {} | {} {} | {} |",
            shown(time(&own[0])),
            shown(time(&own[1])),
            shown(time(&peers[0])),
            shown(time(&peers[fastest])),
            STRATEGIES[fastest].0,
            shown(time(&own[1]) / time(&peers[fastest])),
        );
        if let Some(different) = peers.iter().flatten().find(|outcome| outcome.states != states) {
            println!("{name}: lddmc counts {} states", different.states);
        }
        own_sum += time(&own[1]);
        peer_sum += time(&peers[fastest]);
    }
    println!("diagrams: all models {} s, lddmc's fastest strategies {} s", own_sum, peer_sum);
}

/// Keeps the faster one of two outcomes.
fn keep(best: &mut Option<Outcome>, outcome: Outcome) {
    if best.as_ref().is_none_or(|best| outcome.seconds < best.seconds) {
        *best = Some(outcome);
    }
}

/// The outcome, and the most nodes.
fn saturated(file: &Path, seconds: u64, threads: usize) -> Result<(Outcome, u64), LoadError> {
    let limits = Limits { time: Some(Duration::from_secs(seconds)), memory: available_memory() };
    let diagrams = Diagrams::new(&Options { threads, ..Options::default() }, &Control::new(limits));
    let model = diagrams.load_lddmc(&mut BufReader::new(fs::File::open(file)?))?;
    let relations: Vec<&Relation> = model.relations.iter().collect();
    let begin = Instant::now();
    let order = Relation::common_slots_first(diagrams.width(&model.initial), &relations);
    let ordered: Vec<Relation> =
        relations.iter().map(|relation| diagrams.reordered_relation(relation, &order)).collect::<Result<_, _>>()?;
    let initial = diagrams.reordered(&model.initial, &order)?;
    let states = diagrams.saturated(&initial, &ordered.iter().collect::<Vec<_>>())?;
    let seconds = begin.elapsed().as_secs_f64();
    Ok((Outcome { states: diagrams.count(&states)?.to_string(), seconds }, diagrams.peak_nodes()))
}

/// What `lddmc` reports.
fn peer(lddmc: &str, file: &Path, seconds: u64, strategy: &str, word: &str) -> Option<Outcome> {
    let output = Command::new("timeout").arg(seconds.to_string()).arg(lddmc).args(["-s", strategy]).arg(file).output();
    let output = output.expect("lddmc runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let behind = |word: &str| text.lines().find_map(|line| line.split_once(word)).map(|(_, rest)| rest.trim());
    let states = behind("Final states:")?.split_whitespace().next()?.replace(',', "");
    Some(Outcome { states, seconds: behind(word)?.parse().ok()? })
}
