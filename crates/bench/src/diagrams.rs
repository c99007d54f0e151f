//! Reachability of models in Sylvan's `.ldd` format by saturation, beside `lddmc` where its path is given.
//!
//! `diagrams FOLDER [SECONDS] [PATH of lddmc]`: every `*.ldd` file of the folder, on all cores. The time is that of
//! saturation, without reading; of `lddmc` it is the time that it reports for the same (`SAT Time`), with as many
//! workers as there are cores. A model that takes longer is stopped, ours and theirs.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use trefoil_control::{Control, Limits, available_memory};
use trefoil_diagrams::{Diagrams, LoadError, Options, Relation, UBig};

pub(crate) fn run(arguments: &[String]) {
    let Some(folder) = arguments.first() else {
        eprintln!("usage: trefoil-bench diagrams FOLDER [SECONDS] [PATH of lddmc]");
        return;
    };
    let seconds = arguments.get(1).and_then(|number| number.parse().ok()).unwrap_or(60);
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ldd"));
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let own = match saturated(&file, seconds) {
            Ok((states, time, nodes)) => format!("{states} states in {time:.2?}, at most {nodes} nodes"),
            Err(error) => error.to_string(),
        };
        let peer = arguments.get(2).map_or(String::new(), |lddmc| format!("; lddmc: {}", peer(lddmc, &file, seconds)));
        println!("diagrams: {name}: {own}{peer}");
    }
}

/// The number of states, the time and the most nodes.
fn saturated(file: &Path, seconds: u64) -> Result<(UBig, Duration, u64), LoadError> {
    let limits = Limits { time: Some(Duration::from_secs(seconds)), memory: available_memory() };
    let diagrams = Diagrams::new(&Options::default(), &Control::new(limits));
    let model = diagrams.load_lddmc(&mut BufReader::new(fs::File::open(file)?))?;
    let relations: Vec<&Relation> = model.relations.iter().collect();
    let begin = Instant::now();
    let states = diagrams.saturated(&model.initial, &relations)?;
    let time = begin.elapsed();
    Ok((diagrams.count(&states)?, time, diagrams.peak_nodes()))
}

/// What `lddmc` reports.
fn peer(lddmc: &str, file: &Path, seconds: u64) -> String {
    let output = Command::new("timeout").arg(seconds.to_string()).arg(lddmc).arg(file).output();
    let output = output.expect("lddmc runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let behind =
        |word: &str| text.lines().find_map(|line| line.split_once(word)).map(|(_, rest)| rest.trim().to_string());
    match (behind("Final states:"), behind("SAT Time:")) {
        (Some(states), Some(time)) => format!("{states} in {time} s"),
        _ => format!("no answer in {seconds} s"),
    }
}
