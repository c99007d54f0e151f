//! Takes the scripts named on the command line through the stages; says how many had errors, by code, and how fast it
//! went.

use std::collections::BTreeMap;
use std::time::Instant;

use trefoil_cspm::rename::rename;
use trefoil_cspm::syntax::{DiskLoader, parse};
use trefoil_cspm::types::typecheck;
use trefoil_source::{Severity, Sources, render};

fn main() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut good, mut bad) = (0, 0);
    let mut seconds = [0.0; 3];
    for name in std::env::args().skip(1) {
        let mut sources = Sources::default();
        let start = Instant::now();
        let parsed = parse(&name, &DiskLoader::default(), &mut sources);
        seconds[0] += start.elapsed().as_secs_f64();
        let mut diagnostics = parsed.diagnostics;
        let start = Instant::now();
        let (renamed, more) = rename(parsed.tree, &[]);
        seconds[1] += start.elapsed().as_secs_f64();
        diagnostics.extend(more);
        let start = Instant::now();
        let (_, more) = typecheck(renamed);
        seconds[2] += start.elapsed().as_secs_f64();
        diagnostics.extend(more);
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
        if diagnostics.is_empty() {
            good += 1;
            continue;
        }
        bad += 1;
        *counts.entry(diagnostics[0].code).or_default() += 1;
        println!("## {name}: {} errors, first {}", diagnostics.len(), diagnostics[0].code);
        for error in diagnostics.iter().take(9) {
            print!("{}", render(error, &sources, false));
        }
    }
    let [parsed, renamed, typed] = seconds;
    println!(
        "{good} scripts without errors, {bad} with; parsed in {parsed:.3} s, renamed in {renamed:.3} s, typed in {typed:.3} s"
    );
    for (code, count) in counts {
        println!("{code}: {count}");
    }
}
