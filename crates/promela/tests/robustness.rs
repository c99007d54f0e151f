//! Every input gets an answer: damaged models, deep ones, long ones.

mod support;

use std::path::PathBuf;

use support::compile;
use trefoil_source::{Diagnostic, Severity};
use trefoil_testkit::{Random, seed};

/// Words that mistakes are made of: brackets without partners, statements of C, text that no lexer takes.
const FOREIGN: &[&str] = &[
    " while (",
    " if (",
    " for (",
    " for (i = 0; i < 3; i++) ",
    " switch (x) {",
    " else ",
    " return ",
    " int ",
    " char c;",
    " :: ",
    " fi ",
    " od ",
    " do ",
    " { ",
    " } ",
    " ( ",
    " ) ",
    " [ ",
    " ] ",
    " ; ",
    " -> ",
    " = ",
    " += ",
    " ++ ",
    " run P ",
    " inline f(a) { ",
    " f(1) ",
    " proctype Q { ",
    " typedef T { ",
    " mtype = { ",
    " $ ",
    " \" ",
    " ' ",
    " /* ",
    "\n#if 1\n",
    "\n#define g(a) a\n",
    " g(1, 2) ",
    " assert(x = 1) ",
    " goto ",
    " x: ",
    " unless ",
    " printf(x) ",
    " \u{e9} ",
];

/// The models of the examples and of the pages of this folder.
fn models() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela");
    let files = std::fs::read_dir(folder).expect("the examples").map(|entry| entry.expect("one").path());
    let examples = files.filter(|path| path.extension().is_some_and(|extension| extension == "pml"));
    let mut models: Vec<String> = examples.map(|path| std::fs::read_to_string(&path).expect("an example")).collect();
    for page in [include_str!("semantics.md"), include_str!("mistakes.md"), include_str!("hints.md")] {
        let blocks = page.split("```promela\n").skip(1).filter_map(|rest| rest.split("```").next());
        models.extend(blocks.map(str::to_string));
    }
    models
}

#[test]
fn damaged_models_are_answered() {
    let mut random = Random::new(seed());
    for text in models() {
        let words: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        if words.is_empty() {
            continue;
        }
        for _ in 0..25 {
            let mut damaged: Vec<&str> = words.clone();
            for _ in 0..1 + random.below(3) {
                if damaged.is_empty() {
                    break;
                }
                let at = random.below(damaged.len());
                let from = random.below(words.len().min(damaged.len()));
                match random.below(4) {
                    0 => {
                        damaged.remove(at);
                    }
                    1 => damaged.insert(at, words[from]),
                    2 => damaged.insert(at, FOREIGN[random.below(FOREIGN.len())]),
                    _ => damaged.swap(at, from),
                }
            }
            let damaged = damaged.concat();
            let (program, diagnostics, sources) = compile("damaged.pml", &damaged);
            assert!(program.is_some() || !diagnostics.is_empty(), "no answer to\n{damaged}");
            for diagnostic in &diagnostics {
                trefoil_source::Report::new(diagnostic, &sources);
            }
        }
    }
}

/// The places of the tokens of a model, without its comments.
fn tokens(text: &str) -> Vec<std::ops::Range<usize>> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            continue;
        } else if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else {
            let double = ["::", "->", "==", "..", "&&", "||", "++", "--"].iter().any(|mark| rest.starts_with(mark));
            if double { 2 } else { first.len_utf8() }
        };
        tokens.push(at..at + length);
        at += length;
    }
    tokens
}

/// Each example without one of its tokens: most get one diagnostic, hardly any gets more than two.
#[test]
fn one_missing_token_gives_one_diagnostic() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela");
    let (mut wrong, mut one, mut many) = (0, 0, 0);
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("one").path();
        if path.extension().is_none_or(|extension| extension != "pml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("an example");
        for token in tokens(&text) {
            let damaged = format!("{} {}", &text[..token.start], &text[token.end..]);
            let (program, diagnostics, _) = compile("damaged.pml", &damaged);
            let error = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Error;
            let errors = diagnostics.iter().filter(error).count();
            assert_eq!(program.is_none(), errors > 0, "{damaged}");
            assert!(errors <= 6, "{errors} errors in\n{damaged}");
            wrong += usize::from(errors > 0);
            one += usize::from(errors == 1);
            many += usize::from(errors > 2);
        }
    }
    assert!(one * 100 >= wrong * 86, "{one} of {wrong} have one diagnostic");
    assert!(many * 100 <= wrong, "{many} of {wrong} have more than two diagnostics");
}

#[test]
fn deep_models_are_refused_and_long_ones_are_not() {
    let deep = |open: &str, inside: &str, close: &str, count: usize| {
        format!("byte x; active proctype P() {{ {}{inside}{} }}", open.repeat(count), close.repeat(count))
    };
    for text in [
        deep("(", "x", ")", 100_000),
        deep("{", "skip", "}", 100_000),
        deep("if :: ", "skip", " fi", 50_000),
        deep("!", "x", "", 100_000),
        deep("x + ", "1", "", 100_000),
        deep("atomic { ", "skip", " }", 20_000),
        "#define a a a\n#define b a a a a\nb".to_string(),
        "inline f() { f() } active proctype P() { f() }".to_string(),
        format!(
            "#define x0 y y\n{}x40",
            (1..=40).map(|n| format!("#define x{n} x{} x{}\n", n - 1, n - 1)).collect::<String>()
        ),
    ] {
        let (program, diagnostics, _) = compile("deep.pml", &text);
        assert!(program.is_none() && !diagnostics.is_empty());
    }
    let (program, diagnostics, _) = compile("nested.pml", &deep("if :: x == 0 -> ", "skip", " fi", 200));
    assert!(program.is_some(), "{diagnostics:?}");
    let long = format!("byte x; active proctype P() {{ {}skip }}", "x = x + 1; ".repeat(20_000));
    let (program, diagnostics, _) = compile("long.pml", &long);
    assert!(program.is_some(), "{diagnostics:?}");
}
