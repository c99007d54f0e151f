//! Scripts for the stages that find out what names stand for and what types they have.
//!
//! `should_pass`: nothing may be said of them; in `types` a comment `-- type: f :: (a) -> a` gives the type that a name
//! must have. `should_fail`: comments `-- expect: C040 1:5` list everything that must be said, and nothing else may be.

mod support;

use std::collections::BTreeSet;

use support::{TestLoader, said_in, scripts_of};
use trefoil_cspm::rename::{self, Renamed, rename};
use trefoil_cspm::syntax::parse;
use trefoil_cspm::types::{self, typecheck};
use trefoil_source::{CodeEntry, Diagnostic, Severity, Sources, render};

/// The script in a file after its names are resolved. It must parse.
fn renamed(name: &str, sources: &mut Sources) -> (Renamed, Vec<Diagnostic>) {
    let parsed = parse(name, &TestLoader, sources);
    assert!(parsed.diagnostics.is_empty(), "{name}: {:?}", parsed.diagnostics);
    rename(parsed.tree, &[])
}

/// Scripts about types need not use every name.
fn no_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Warning)
}

#[test]
fn names_of_good_scripts_are_found() {
    for path in scripts_of("rename", "should_pass") {
        let name = path.to_string_lossy();
        let mut sources = Sources::default();
        let (_, diagnostics) = renamed(&name, &mut sources);
        let shown: String = diagnostics.iter().map(|diagnostic| render(diagnostic, &sources, false)).collect();
        assert!(shown.is_empty(), "{shown}");
    }
}

#[test]
fn good_scripts_have_the_right_types() {
    let mut compared = 0;
    for path in scripts_of("types", "should_pass") {
        let name = path.to_string_lossy();
        let script = std::fs::read_to_string(&path).expect("a script");
        let mut sources = Sources::default();
        let (script_renamed, diagnostics) = renamed(&name, &mut sources);
        assert!(no_errors(&diagnostics), "{name}: {diagnostics:?}");
        let (typed, diagnostics) = typecheck(script_renamed);
        let shown: String = diagnostics.iter().map(|diagnostic| render(diagnostic, &sources, false)).collect();
        assert!(shown.is_empty(), "{shown}");
        let types: Vec<String> =
            typed.types().iter().map(|(id, text)| format!("{} :: {text}", typed.renamed().qualified(*id))).collect();
        for expected in script.lines().filter_map(|line| line.strip_prefix("-- type: ")) {
            let (expected_name, _) = expected.split_once(" ::").expect("a name and a type");
            let found = types.iter().find(|line| line.starts_with(&format!("{expected_name} ::")));
            assert_eq!(found.map(String::as_str), Some(expected), "{name}");
            compared += 1;
        }
    }
    assert!(compared > 70);
}

/// Compares what is said of each script with what it expects; every code must be met.
fn refused(stage: &str, table: &[CodeEntry], check: impl Fn(&str, &mut Sources) -> Vec<Diagnostic>) {
    let mut seen = BTreeSet::new();
    let mut wrong = String::new();
    for path in scripts_of(stage, "should_fail") {
        let name = path.to_string_lossy();
        let script = std::fs::read_to_string(&path).expect("a script");
        let expected: Vec<&str> = script.lines().filter_map(|line| line.strip_prefix("-- expect: ")).collect();
        let mut sources = Sources::default();
        let diagnostics = check(&name, &mut sources);
        seen.extend(diagnostics.iter().map(|diagnostic| diagnostic.code));
        let said = said_in(&diagnostics, &sources);
        if said != expected || said.is_empty() {
            let lines: String = said.iter().map(|line| format!("-- expect: {line}\n")).collect();
            wrong += &format!("## {name}\n{lines}\n");
            wrong.extend(diagnostics.iter().map(|diagnostic| render(diagnostic, &sources, false)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    for entry in table {
        assert!(seen.contains(entry.code), "no test provokes {}", entry.code);
    }
}

#[test]
fn bad_names_are_refused_for_the_right_reasons_at_the_right_places() {
    refused("rename", rename::CODES, |name, sources| renamed(name, sources).1);
}

#[test]
fn bad_types_are_refused_for_the_right_reasons_at_the_right_places() {
    refused("types", types::CODES, |name, sources| {
        let (script, diagnostics) = renamed(name, sources);
        assert!(no_errors(&diagnostics), "{name}: {diagnostics:?}");
        typecheck(script).1
    });
}

#[test]
fn the_examples_of_the_codes_provoke_them() {
    for entry in rename::CODES.iter().chain(types::CODES) {
        // Its example is a sketch: a script that explodes is too long for a table.
        if entry.code == "C065" {
            continue;
        }
        let parsed = support::parse_text(entry.example);
        assert!(parsed.diagnostics.is_empty(), "{}: {:?}", entry.code, parsed.diagnostics);
        let (script, mut diagnostics) = rename(parsed.tree, &[]);
        if diagnostics.is_empty() {
            diagnostics = typecheck(script).1;
        }
        let codes: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(codes, [entry.code]);
    }
}

/// Every built-in is used by a script whose types are compared, by name.
#[test]
fn every_built_in_has_a_test_of_its_type() {
    let scripts = scripts_of("types", "should_pass");
    let texts: Vec<String> = scripts.iter().map(|path| std::fs::read_to_string(path).expect("a script")).collect();
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let words: BTreeSet<&str> = texts.iter().flat_map(|text| text.split(|character| !is_part(character))).collect();
    for builtin in rename::Builtin::ALL {
        assert!(words.contains(builtin.text()), "no script of types/should_pass uses `{}`", builtin.text());
    }
}
