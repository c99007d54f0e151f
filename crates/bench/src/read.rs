//! How fast Aldebaran and JSON files are read and written, and what reading takes at its peak.
//!
//! The file is made in the temporary folder, once sorted by source, as tools write it, and once in random order. It has
//! just been written, so it comes from the operating system's memory and the figures are those of the reader.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use trefoil_control::{Control, peak_memory, resident_memory};
use trefoil_lts::Lts;
use trefoil_lts::format::{Format, Input, Output, ReadOptions, read_lts, save_lts, write_lts};
use trefoil_lts::random::Random;
use trefoil_system::Labels;

/// `read-aut [TRANSITIONS] [STATES] [LABELS]`
pub(crate) fn read_aut(arguments: &[String]) {
    let number = |index: usize, default: usize| arguments.get(index).and_then(|a| a.parse().ok()).unwrap_or(default);
    let transitions = number(0, 10_000_000);
    let states = number(1, transitions / 5 + 1);
    let labels = number(2, 30);
    let path = std::env::temp_dir().join(format!("trefoil-read-aut-{}.aut", std::process::id()));
    for sorted in [true, false] {
        generate(&path, transitions, states, labels, sorted);
        let order = if sorted { "sorted by source" } else { "in random order" };
        println!("{transitions} transitions, {states} states, {labels} labels, {order}");
        let lts = measure_reading(&path);
        if sorted {
            let again = path.with_extension("again.aut");
            measure_writing(&lts, &again, Format::Aut);
            let json = path.with_extension("json");
            measure_writing(&lts, &json, Format::Json);
            drop(lts);
            measure_reading(&json);
            let packed = PathBuf::from(format!("{}.gz", path.display()));
            let lts = measure_reading(&path);
            save_lts(&lts, &Output::Path(packed.clone()), None, &Control::unlimited()).expect("a temporary file");
            drop(lts);
            measure_reading(&packed);
            for extra in [again, json, packed] {
                let _ = fs::remove_file(extra);
            }
        }
    }
    let _ = fs::remove_file(&path);
}

fn generate(path: &Path, transitions: usize, states: usize, labels: usize, sorted: bool) {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).expect("a temporary file"));
    let mut random = Random::new(1);
    writeln!(out, "des (0,{transitions},{states})").expect("space in the temporary folder");
    for index in 0..transitions {
        let source = if sorted { index * states / transitions } else { random.below(states) };
        let (label, target) = (random.below(labels), random.below(states));
        writeln!(out, "({source},\"send({label}, true)\",{target})").expect("space in the temporary folder");
    }
    out.flush().expect("space in the temporary folder");
}

fn measure_reading(path: &Path) -> Lts {
    // Where the system allows it, the high-water mark is reset here.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let before = resident_memory().unwrap_or_default();
    let start = Instant::now();
    let labels = Arc::new(Labels::new());
    let input = Input::Path(path.to_path_buf());
    let lts = read_lts(input, &ReadOptions::default(), &labels, &Control::unlimited()).expect("a valid file");
    let seconds = start.elapsed().as_secs_f64();
    let peak = peak_memory().unwrap_or_default().saturating_sub(before);
    let bytes = fs::metadata(path).map_or(0, |metadata| metadata.len());
    let count = lts.transition_count() as f64;
    println!(
        "  read {:<8} {seconds:.2} s  {:.0} MB/s  {:.1} M transitions/s  peak {:.1} bytes a transition",
        ending(path),
        bytes as f64 / seconds / 1e6,
        count / seconds / 1e6,
        peak as f64 / count
    );
    lts
}

fn measure_writing(lts: &Lts, path: &Path, format: Format) {
    let start = Instant::now();
    let mut file = File::create(path).expect("a temporary file");
    write_lts(lts, format, &mut file, &Control::unlimited()).expect("space in the temporary folder");
    let seconds = start.elapsed().as_secs_f64();
    let bytes = fs::metadata(path).map_or(0, |metadata| metadata.len());
    println!("  write {:<7} {seconds:.2} s  {:.0} MB/s", ending(path), bytes as f64 / seconds / 1e6);
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default()
}
