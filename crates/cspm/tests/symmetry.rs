//! The specifications in `tests/symmetry`: scripts, expressions of them, and which constants the text shows to be
//! interchangeable.
//!
//! All `cspm` blocks of a section make one script. A row is an expression and, for each datatype that it reaches and
//! that has constants, the classes of interchangeable ones and everything that spoils symmetry with its place:
//! `T {B, C} {D}: A named 3:5`. In sections about lists of types a row is a list and what is wrong with it.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use trefoil_cspm::rename::rename;
use trefoil_cspm::symmetry::{Analysis, CODES, Spoiler, TypeSymmetry, claims};
use trefoil_cspm::syntax::{Check, Declaration, MemoryLoader, parse, parse_expression_into};
use trefoil_cspm::types::{Typed, typecheck};
use trefoil_source::{Diagnostic, Severity, Sources, render};

/// Types a script with queries; panics when something is wrong with it.
fn typed(script: &str, queries: &[&str]) -> (Typed, Sources) {
    let mut sources = Sources::default();
    let parsed = parse("test.csp", &MemoryLoader::one("test.csp", script), &mut sources);
    let (mut tree, mut diagnostics) = (parsed.tree, parsed.diagnostics);
    let mut ids = Vec::new();
    for text in queries {
        let file = sources.add("expression", text.to_string());
        let (query, found) = parse_expression_into(&mut tree, file, &sources);
        ids.push(query);
        diagnostics.extend(found);
    }
    let (renamed, found) = rename(tree, &ids);
    diagnostics.extend(found);
    let (typed, found) = typecheck(renamed);
    diagnostics.extend(found);
    let is_error = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Error;
    let errors: Vec<String> =
        diagnostics.iter().filter(is_error).map(|diagnostic| render(diagnostic, &sources, false)).collect();
    assert!(errors.is_empty(), "{script}\n{}", errors.join("\n"));
    (typed, sources)
}

fn told(of: &TypeSymmetry, sources: &Sources) -> String {
    let mut text = of.name.clone();
    for class in &of.classes {
        let names: Vec<&str> = class.iter().map(|&at| of.constants[at].name.as_str()).collect();
        text += &format!(" {{{}}}", names.join(", "));
    }
    let mut breaks = Vec::new();
    for found in &of.breaks {
        let (line, column) = sources.file(found.span.file).line_column(found.span.start);
        let constant = found.constant.map_or("", |at| of.constants[at].name.as_str());
        breaks.push(match &found.spoiler {
            Spoiler::Named => format!("{constant} named {line}:{column}"),
            Spoiler::Matched => format!("{constant} matched {line}:{column}"),
            Spoiler::Builtin(builtin) => format!("{} {line}:{column}", builtin.text()),
            Spoiler::Subtype { name, .. } => format!("subtype {name} {line}:{column}"),
        });
        assert!(!found.describe(of).is_empty());
    }
    if !breaks.is_empty() {
        text += &format!(": {}", breaks.join(", "));
    }
    text
}

struct Section {
    title: String,
    script: String,
    rows: Vec<(String, String)>,
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```cspm";
            continue;
        }
        if let Some(title) = line.strip_prefix("# ").filter(|_| !inside) {
            sections.push(Section { title: title.to_string(), script: String::new(), rows: Vec::new() });
            continue;
        }
        let Some(section) = sections.last_mut() else { continue };
        if inside {
            section.script.push_str(line);
            section.script.push('\n');
        } else if let Some(row) = line.strip_prefix("| `").and_then(|row| row.strip_suffix("` |")) {
            let (expression, value) = row.split_once("` | `").unwrap_or_else(|| panic!("not a row: {line}"));
            section.rows.push((expression.replace("\\|", "|"), value.replace("\\|", "|")));
        }
    }
    sections
}

fn specification(name: &str) -> Vec<Section> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/symmetry").join(name);
    sections(&std::fs::read_to_string(path).expect("the specification is there"))
}

#[test]
fn what_expressions_reach_is_symmetric_as_specified() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for section in specification("constant_free.md").into_iter().chain(specification("look_symmetric.md")) {
        let expressions: Vec<&str> = section.rows.iter().map(|(expression, _)| expression.as_str()).collect();
        let (typed, sources) = typed(&section.script, &expressions);
        let analysis = Analysis::new(&typed);
        for ((expression, wanted), &query) in section.rows.iter().zip(typed.renamed().queries()) {
            count += 1;
            let types = analysis.of(&[query]);
            let types = types.iter().filter(|of| !of.constants.is_empty());
            let found: Vec<String> = types.map(|of| told(of, &sources)).collect();
            let found = if found.is_empty() { "nothing".to_string() } else { found.join("; ") };
            if found != *wanted {
                wrong.push(format!("{}: {expression}\n  found  {found}\n  wanted {wanted}", section.title));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 60, "only {count} rows were found");
}

/// What is said about the lists of the assertions of a script.
fn said(script: &str) -> Vec<(String, Vec<Diagnostic>, Sources)> {
    let (typed, _) = typed(script, &[]);
    let renamed = typed.renamed();
    let analysis = Analysis::new(&typed);
    let mut said = Vec::new();
    for id in renamed.tree().flat_declarations() {
        let Declaration::Assert { check: Check::Symmetric { expression, types }, .. } = *renamed.tree().declaration(id)
        else {
            continue;
        };
        let (answer, diagnostics) = match claims(renamed, types) {
            Err(diagnostics) => ("refused".to_string(), diagnostics),
            Ok(claims) => {
                let of = |claim: &trefoil_cspm::symmetry::Claim| {
                    claim.diagnostic(&analysis.of_datatype(&[expression], claim.datatype))
                };
                let diagnostics: Vec<Diagnostic> = claims.iter().filter_map(of).collect();
                (if diagnostics.is_empty() { "holds" } else { "fails" }.to_string(), diagnostics)
            }
        };
        let mut sources = Sources::default();
        let _ = parse("test.csp", &MemoryLoader::one("test.csp", script), &mut sources);
        said.push((answer, diagnostics, sources));
    }
    said
}

#[test]
fn lists_of_types_are_read_as_specified() {
    let mut wrong = Vec::new();
    let mut codes = BTreeSet::new();
    for section in specification("claims.md") {
        for (claim, wanted) in &section.rows {
            let script = format!("{}assert {claim}\n", section.script);
            let (answer, diagnostics, sources) = said(&script).remove(0);
            codes.extend(diagnostics.iter().map(|diagnostic| diagnostic.code));
            let mut found = answer;
            for line in support::said_in(&diagnostics, &sources) {
                found += &format!(" {line}");
            }
            for diagnostic in &diagnostics {
                assert!(diagnostic.help.is_some() || diagnostic.code == "C082", "{diagnostic:?}");
            }
            if found != *wanted {
                wrong.push(format!("{}: {claim}: {found}, not {wanted}", section.title));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for entry in CODES {
        assert!(codes.contains(entry.code), "nothing expects {}", entry.code);
    }
}

#[test]
fn reasons_name_the_constant_and_the_place() {
    let script = "datatype T = A | B | C | D\nchannel c : T\nP = c?x -> if x == A then STOP else P\n\
                  assert P :[symmetric]: T\n";
    let (_, diagnostics, sources) = said(script).remove(0);
    let shown = render(&diagnostics[0], &sources, false);
    assert!(shown.contains("`T` is not symmetric: `A` is named, in `P`"), "{shown}");
    assert!(shown.contains("3 | P = c?x -> if x == A then"), "{shown}");
    assert!(shown.contains("`diff(T, {| A |})` is symmetric"), "{shown}");
}

/// Deep scripts cost no stack.
#[test]
fn depth_costs_no_stack() {
    let mut script = String::from("datatype T = A | B\nchannel c : T\n");
    let deep = format!("{}c.A -> STOP{}", "(c?x -> ".repeat(20_000), ")".repeat(20_000));
    script += &format!("P = {deep}\n");
    for at in 0..5_000 {
        script += &format!("Q{at} = c?x -> Q{}\n", at + 1);
    }
    script += "Q5000 = P\n";
    let (typed, sources) = typed(&script, &["Q0"]);
    let types = Analysis::new(&typed).of(typed.renamed().queries());
    assert!(told(&types[0], &sources).starts_with("T {B}: A named 3:"));
}
