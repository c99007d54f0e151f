//! Parses the scripts named on the command line; says how many had errors and how fast it went.

use std::time::Instant;

use trefoil_control::Control;
use trefoil_cspm::syntax::{DiskLoader, Loader, parse, print};
use trefoil_source::{Severity, Sources, render};

fn main() {
    let (mut good, mut bad) = (0, 0);
    let (mut bytes, mut seconds) = (0, 0.0);
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let round_trip = arguments.first().is_some_and(|first| first == "--round-trip");
    arguments.drain(..usize::from(round_trip));
    for name in arguments {
        let mut sources = Sources::default();
        let start = Instant::now();
        let parsed = parse(&name, &DiskLoader::default(), &mut sources);
        seconds += start.elapsed().as_secs_f64();
        let files = parsed.tree.root.iter().copied().chain(parsed.tree.included_files());
        bytes += files.map(|file| sources.file(file).text().len()).sum::<usize>();
        let errors = parsed.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        let errors: Vec<_> = errors.collect();
        if errors.is_empty() {
            good += 1;
            if round_trip {
                check_round_trip(&name);
            }
            continue;
        }
        bad += 1;
        println!("## {name}: {} errors", errors.len());
        for error in errors.into_iter().take(3) {
            print!("{}", render(error, &sources, false));
        }
    }
    let rate = bytes as f64 / 1e6 / seconds;
    println!("{good} scripts without errors, {bad} with; {bytes} bytes in {seconds:.3} s, {rate:.1} MB/s");
}

/// A script without what it includes; `text` instead of the file if given.
struct Alone<'a>(&'a str, Option<&'a str>);

impl Loader for Alone<'_> {
    fn read(&self, name: &str, control: &Control) -> Result<Vec<u8>, String> {
        match self.1 {
            _ if name != self.0 => Ok(Vec::new()),
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => DiskLoader::default().read(name, control),
        }
    }
}

/// Says so when printing and parsing again changes the tree or the text, or loses a comment.
fn check_round_trip(name: &str) {
    let tree = parse(name, &Alone(name, None), &mut Sources::default()).tree;
    let text = print(&tree);
    let mut sources = Sources::default();
    let again = parse(name, &Alone(name, Some(&text)), &mut sources);
    for diagnostic in again.diagnostics.iter().take(1) {
        print!("## {name}: printed text\n{}", render(diagnostic, &sources, false));
    }
    if !tree.same(&again.tree) {
        println!("## {name}: another tree");
    }
    let comments =
        |tree: &trefoil_cspm::syntax::Tree<_>| tree.comments.iter().map(|c| c.text.clone()).collect::<Vec<_>>();
    if comments(&tree) != comments(&again.tree) {
        println!("## {name}: other comments");
    }
    if print(&again.tree) != text {
        println!("## {name}: another text");
    }
}
