//! Scripts that parse, with the shape that some lines must have, and scripts that do not, with what must be said of them.
//!
//! `should_pass`: a comment `-- means: …` gives the shape of the definition before it. Every script is printed, parsed again and
//! compared. `should_fail`: comments `-- expect: C010 1:5` list everything that must be said, and nothing else may be.

mod support;

use std::collections::BTreeSet;

use support::{TestLoader, said, scripts, shape};
use trefoil_cspm::syntax::*;
use trefoil_source::{Sources, render};

#[test]
fn good_scripts_parse_with_the_right_shape() {
    let mut shapes = 0;
    for path in scripts("should_pass") {
        let name = path.to_string_lossy();
        let mut sources = Sources::default();
        let parsed = parse(&name, &TestLoader, &mut sources);
        if let Some(diagnostic) = parsed.diagnostics.first() {
            panic!("{name}:\n{}", render(diagnostic, &sources, false));
        }
        let tree = &parsed.tree;
        for comment in &tree.comments {
            let Some(expected) = comment.text.strip_prefix("-- means: ") else { continue };
            let before = |&id: &DeclarationId| tree.declaration_span(id).end <= comment.span.start;
            let definition = tree.list(tree.declarations).iter().copied().rfind(before).expect("a definition");
            let Declaration::Binding { body, .. } = *tree.declaration(definition) else { panic!("{name}: no binding") };
            assert_eq!(shape(tree, body), expected, "{name}");
            shapes += 1;
        }
    }
    assert!(shapes > 40);
}

/// The text instead of every file but the included one.
struct Instead<'a>(&'a str);

impl Loader for Instead<'_> {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        if name.ends_with("/included.csp") { TestLoader.read(name) } else { Ok(self.0.as_bytes().to_vec()) }
    }
}

#[test]
fn printing_and_parsing_again_gives_the_same_tree_and_comments() {
    for path in scripts("should_pass") {
        let name = path.to_string_lossy();
        let parsed = parse(&name, &TestLoader, &mut Sources::default());
        let text = print(&parsed.tree);
        let mut sources = Sources::default();
        let again = parse(&name, &Instead(&text), &mut sources);
        if let Some(diagnostic) = again.diagnostics.first() {
            panic!("{name} printed:\n{}", render(diagnostic, &sources, false));
        }
        assert!(parsed.tree.same(&again.tree), "{name} printed:\n{text}");
        let comments = |tree: &Tree<Symbol>| tree.comments.iter().map(|c| c.text.clone()).collect::<Vec<_>>();
        assert_eq!(comments(&parsed.tree), comments(&again.tree), "{name} printed:\n{text}");
        assert_eq!(print(&again.tree), text, "{name}: printing is not settled");
    }
}

#[test]
fn bad_scripts_are_refused_for_the_right_reasons_at_the_right_places() {
    let mut seen = BTreeSet::new();
    let mut wrong = String::new();
    for path in scripts("should_fail") {
        let name = path.to_string_lossy();
        let bytes = std::fs::read(&path).expect("a file");
        let script = String::from_utf8_lossy(&bytes);
        let expected: Vec<&str> = script.lines().filter_map(|line| line.strip_prefix("-- expect: ")).collect();
        let mut sources = Sources::default();
        let parsed = parse(&name, &TestLoader, &mut sources);
        let said = said(&parsed, &sources);
        seen.extend(parsed.diagnostics.iter().map(|diagnostic| diagnostic.code));
        if said != expected {
            wrong +=
                &format!("## {name}\n{}\n", said.iter().map(|line| format!("-- expect: {line}\n")).collect::<String>());
            for diagnostic in &parsed.diagnostics {
                wrong += &render(diagnostic, &sources, false);
            }
        }
        // A tree with mistakes can be printed too.
        print(&parsed.tree);
    }
    assert!(wrong.is_empty(), "{wrong}");
    let deep = support::parse_text(&format!("x = {}1", "(".repeat(300_000)));
    assert_eq!(deep.diagnostics.len(), 1);
    seen.extend(deep.diagnostics.iter().map(|diagnostic| diagnostic.code));
    for entry in CODES {
        assert!(seen.contains(entry.code), "no test provokes {}", entry.code);
    }
}

#[test]
fn modules_and_timed_sections_may_be_deep() {
    let modules: String = (0..3000).map(|at| format!("module M{at}\n")).collect();
    let modules = format!("{modules}exports\n{}endmodule\n", "endmodule\nexports\n".repeat(2999));
    let sections = format!("{}P = STOP\n{}", "Timed {\n".repeat(3000), "}\n".repeat(3000));
    for text in [modules, sections] {
        let parsed = support::parse_text(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics.first());
        assert!(parsed.tree.same(&support::parse_text(&print(&parsed.tree)).tree));
    }
}

#[test]
fn the_examples_of_the_codes_provoke_them() {
    for entry in CODES.iter().filter(|entry| !["C001", "C018"].contains(&entry.code)) {
        let loader = MemoryLoader::one("itself.csp", entry.example);
        let parsed = parse("itself.csp", &loader, &mut Sources::default());
        let codes: Vec<&str> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert!(codes.contains(&entry.code), "{}: {codes:?}", entry.code);
    }
}

#[test]
fn codes_are_unique_and_in_order() {
    assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
}
