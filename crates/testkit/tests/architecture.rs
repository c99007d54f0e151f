//! The table in `docs/architecture.md` is the law: folders, names and edges must match it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

struct Row {
    planned: bool,
    may_use: BTreeSet<String>,
}

/// Rows of the tables: ``| `name` [*planned*] | responsibility [| may use] |``. Development crates may use everything.
fn rows() -> BTreeMap<String, Row> {
    let text = fs::read_to_string(root().join("docs/architecture.md")).expect("docs/architecture.md");
    let lines = text.lines().filter(|line| line.starts_with("| `"));
    let parsed = lines.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let name = cells[0].split('`').nth(1).expect("a name in backquotes").to_string();
        let may_use = match cells.get(2) {
            Some(list) => list.split(',').map(|name| name.trim().to_string()).filter(|name| name != "–").collect(),
            None => BTreeSet::from(["*".to_string()]),
        };
        (name, Row { planned: cells[0].contains("*planned*"), may_use })
    });
    parsed.collect()
}

/// The crates of the workspace that a manifest names in its section.
fn edges(manifest: &str, wanted: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if section == wanted
            && let Some(rest) = line.strip_prefix("trefoil-")
        {
            found.insert(rest.split(['.', ' ', '=']).next().unwrap_or_default().to_string());
        }
    }
    found
}

fn folders() -> BTreeSet<String> {
    let entries = fs::read_dir(root().join("crates")).expect("crates/");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_folder_has_a_row_and_every_row_without_a_folder_is_marked_planned() {
    let rows = rows();
    let built: BTreeSet<String> = rows.iter().filter(|(_, row)| !row.planned).map(|(name, _)| name.clone()).collect();
    assert_eq!(built, folders());
}

#[test]
fn the_edges_between_crates_are_those_of_the_table() {
    let rows = rows();
    for folder in folders() {
        let manifest = fs::read_to_string(root().join("crates").join(&folder).join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains(&format!("name = \"trefoil-{folder}\"")), "{folder}: package name");
        let row = &rows[&folder];
        for used in edges(&manifest, "dependencies") {
            let allowed = used == "control" || row.may_use.contains("*") || row.may_use.contains(&used);
            assert!(allowed, "{folder} uses {used}, which docs/architecture.md does not allow");
        }
    }
}

#[test]
fn unsafe_code_lives_only_where_the_design_allows_it() {
    for folder in folders() {
        if ["terms", "explore", "diagrams"].contains(&folder.as_str()) {
            continue;
        }
        let manifest = fs::read_to_string(root().join("crates").join(&folder).join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains("[lints]\nworkspace = true"), "{folder} does not take the workspace's lints");
        let mut stack = vec![root().join("crates").join(&folder).join("src")];
        while let Some(path) = stack.pop() {
            if path.is_dir() {
                stack.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source file");
                // Asking the allocator to give memory back is a call of C.
                let allocator = path.ends_with("cli/src/allocator.rs");
                assert!(allocator || !text.contains("allow(unsafe_code)"), "{}", path.display());
            }
        }
    }
}
