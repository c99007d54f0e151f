//! `docs/diagnostics.md` is the table of codes, and every code is used once.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use trefoil_session::code_tables;

/// The page as it must be.
fn page() -> String {
    let mut page = String::from(
        "# Diagnostics\n\nWhat Trefoil says about input it cannot use. Codes are stable; messages may get better.\n\
         `TREFOIL_UPDATE=1 cargo test -p trefoil-session --test diagnostics` writes this page anew.\n",
    );
    for (part, codes) in code_tables() {
        let _ = write!(page, "\n## {part}\n\n| code | meaning | example |\n|---|---|---|\n");
        for entry in codes {
            let example = entry.example.replace('|', "\\|").replace('\n', " ⏎ ");
            let _ = writeln!(page, "| {} | {} | `{example}` |", entry.code, entry.meaning);
        }
    }
    page
}

#[test]
fn the_page_lists_every_code() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics.md");
    if std::env::var_os("TREFOIL_UPDATE").is_some() {
        fs::write(&file, page()).expect("the page is written");
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == page(),
        "docs/diagnostics.md is not what the tables of codes say; its head says how to write it"
    );
}

#[test]
fn no_code_has_two_meanings() {
    let mut seen = BTreeSet::new();
    for (_, codes) in code_tables() {
        for entry in codes {
            assert!(seen.insert(entry.code), "{} twice", entry.code);
        }
    }
}
