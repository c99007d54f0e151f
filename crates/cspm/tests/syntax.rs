//! Scripts that parse, with the shape that some lines must have, and scripts that do not, with what must be said of
//! them.
//!
//! `should_pass`: a comment `-- means: …` gives the shape of the definition before it. Every script is printed, parsed
//! again and compared. `should_fail`: comments `-- expect: C010 1:5` list everything that must be said, and nothing
//! else may be.

mod support;

use std::collections::BTreeSet;

use support::{TestLoader, said, scripts, shape};
use trefoil_control::Control;
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
    fn read(&self, name: &str, control: &Control) -> Result<Vec<u8>, String> {
        if name.ends_with("/included.csp") { TestLoader.read(name, control) } else { Ok(self.0.as_bytes().to_vec()) }
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
fn the_users_brackets_and_comments_stay() {
    let settled = [
        "P = (A [|X|] B) \\ Y\n",
        "x = ((1)) + (2 * 3)\nf((y), (a.b)) = ((y))\ng :: ((Int), {(Bool)}) -> (Int)\n",
        "P = a -> STOP -- first\n  [] b -> STOP -- second\n",
        "P = a -> STOP [] -- first\n  b -> STOP -- second\n",
        "P = if x -- condition\n  then A -- yes\n  else B -- no\n\nQ = STOP\n",
        "datatype T = A -- first\n  | B.{0..1} -- second\n  | C\n",
        "channel a, -- alpha\n  b -- beta\n",
        "S = {1, -- one\n  2 -- two\n  }\n",
        "x = f({- why -} 1, 2 {- not three -})\n",
        "P = ( -- open\n  a -> STOP -- close\n  )\n",
        "P = a -> STOP\n  -- alone\n  [|{a} -- events\n  |] b -> STOP\n",
        "assert P -- left\n  [T= Q -- right\n",
        "module M\n  x = 1\n  -- before exports\nexports\n  -- after exports\n  y = 2\n  -- before the end\nendmodule\n",
        "P =\n  let\n    x = 1\n    -- before within\n  within\n    -- after within\n    x\n",
        "Q = [] x : {0..1} -- generator\n  @ -- process\n  c.x -> STOP\n",
        "T = <x | x <- <0, 1>, x == 1 and x > 0, x > #<>, x > f(x)>\n",
        "T = <x | x <- <0, 1>, (x > -1)>\n",
        "g(x, -- the first\n  y -- the second\n  ) = x + y\n",
        "g(a, {- in -} b) = a + b\n",
        "f = \\ x, {- in -} y @ x + y\n",
    ];
    for text in settled {
        let parsed = support::parse_text(text);
        assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
        assert_eq!(print(&parsed.tree), text);
    }
}

/// Comments anywhere between tokens: printing keeps them, their order and the tree, and is settled.
#[test]
fn comments_between_any_tokens_survive_printing() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound.max(1) as u64) as usize
    };
    let texts = |tree: &Tree<Symbol>| tree.comments.iter().map(|c| c.text.clone()).collect::<Vec<_>>();
    let mut tried = 0;
    for path in scripts("should_pass") {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let plain = support::parse_text(&text);
        let blanks: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
        for round in 0..30 {
            let mut commented = text.clone();
            let mut places: Vec<usize> =
                (0..1 + below(4)).filter_map(|_| blanks.get(below(blanks.len())).copied()).collect();
            places.sort_unstable();
            for (number, &at) in places.iter().enumerate().rev() {
                let comment = match below(4) {
                    0 | 1 => format!(" {{- c{number} -}} "),
                    2 => format!(" -- c{number}\n      "),
                    _ => format!("\n      -- c{number}\n      "),
                };
                commented.replace_range(at..=at, &comment);
            }
            let parsed = support::parse_text(&commented);
            // In strings, in comments and before `(`, `<` and `-` the text means something else then.
            if !parsed.diagnostics.is_empty() || !parsed.tree.same(&plain.tree) {
                continue;
            }
            tried += 1;
            let printed = print(&parsed.tree);
            let again = support::parse_text(&printed);
            let shown = format!("{}, round {round}:\n{commented}\nprinted:\n{printed}", path.display());
            assert!(again.diagnostics.is_empty() && parsed.tree.same(&again.tree), "{shown}");
            assert_eq!(texts(&parsed.tree), texts(&again.tree), "{shown}");
            assert_eq!(print(&again.tree), printed, "{shown}");
        }
    }
    assert!(tried > 500, "{tried}");
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
