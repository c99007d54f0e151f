//! State spaces of mCRL2 specifications with parameters taken apart and without: `trefoil-bench unfolding FOLDER
//! [SECONDS] [TEXT]`.
//!
//! For each specification below the folder (whose path has the text in it) in which a parameter is taken apart: the
//! numbers of parameters and summands, states and transitions, and the time of exploring on one thread, both ways. A
//! state space that takes longer is cut off. It ends with a panic where taking apart gives more states.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use trefoil_control::Control;
use trefoil_lts::generate;
use trefoil_mcrl2::linear::{Analyses, LinearProcess, linearise};
use trefoil_mcrl2::system::Model;
use trefoil_mcrl2::{processes, syntax};
use trefoil_source::FileId;
use trefoil_system::{Labels, Writing};

/// Runs it.
pub(crate) fn run(arguments: &[String]) {
    let Some(folder) = arguments.first() else {
        eprintln!("unfolding needs the folder of the specifications");
        return;
    };
    let patience: f64 = arguments.get(1).and_then(|text| text.parse().ok()).unwrap_or(10.0);
    let wanted = arguments.get(2).map_or("", String::as_str);
    let mut files = Vec::new();
    gather(Path::new(folder), &mut files);
    files.sort();
    let (mut tried, mut apart) = (0, 0);
    for file in files.iter().filter(|file| file.to_string_lossy().contains(wanted)) {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let Some(with) = linear(&text, Analyses::ALL, patience) else { continue };
        tried += 1;
        let line = with.report.iter().find(|line| line.starts_with("unfolded parameters")).cloned().unwrap_or_default();
        if line.contains(": 0 ") {
            continue;
        }
        apart += 1;
        let Some(without) = linear(&text, Analyses { unfold: false, ..Analyses::ALL }, patience) else { continue };
        println!("{}: {line}", file.strip_prefix(folder).unwrap_or(file).display());
        let sizes = [shape(&without), shape(&with)];
        let found = [explored(without, patience), explored(with, patience)];
        for ((name, size), found) in ["whole", "apart"].into_iter().zip(sizes).zip(&found) {
            let found = match found {
                Some((states, transitions, seconds)) => {
                    format!("{states} states, {transitions} transitions, {seconds:.3} s")
                }
                None => "cut off".to_string(),
            };
            println!("  {name:<6} {:>4} parameters {:>5} summands; {found}", size.0, size.1);
        }
        if let [Some(whole), Some(apart)] = found {
            assert!(apart.0 <= whole.0, "taking parameters apart must not make a state space larger");
        }
    }
    println!("{tried} specifications linearised, parameters taken apart in {apart}");
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "mcrl2") {
            files.push(path);
        }
    }
}

fn control(patience: f64) -> Control {
    Control::unlimited().within(Duration::from_secs_f64(patience))
}

fn linear(text: &str, analyses: Analyses, patience: f64) -> Option<LinearProcess> {
    let mut diagnostics = Vec::new();
    let tree = syntax::parse(text, FileId(0), &mut diagnostics);
    let typed = processes::check(&tree, text, &mut diagnostics)?;
    linearise(&typed, analyses, &control(patience)).ok()
}

fn shape(linear: &LinearProcess) -> (usize, usize) {
    (linear.parameters.len(), linear.summands.len())
}

/// States, transitions and seconds.
fn explored(linear: LinearProcess, patience: f64) -> Option<(u64, u64, f64)> {
    let control = control(patience);
    let labels = Arc::new(Labels::written(Writing::Brackets));
    let mut model = Model::new(Arc::new(linear), labels, &control).ok()?;
    let started = Instant::now();
    let counts = match generate(&model, 1, &control) {
        Ok(generated) => generated.counts,
        Err(unfinished) if unfinished.cut == trefoil_system::Cut::Outgrown => {
            model = model.wide();
            generate(&model, 1, &control).ok()?.counts
        }
        Err(_) => return None,
    };
    Some((counts.states, counts.transitions, started.elapsed().as_secs_f64()))
}
