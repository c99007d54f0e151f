//! Whatever is typed gets an answer: damaged models, deep ones, long ones.

mod support;

use std::path::PathBuf;

use support::compile;
use trefoil_testkit::{Random, seed};

#[test]
fn damaged_models_are_answered() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela");
    let mut random = Random::new(seed());
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("one").path();
        if path.extension().is_none_or(|extension| extension != "pml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("an example");
        let words: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        for _ in 0..25 {
            let mut damaged: Vec<&str> = words.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(damaged.len());
                let from = random.below(words.len().min(damaged.len()));
                match random.below(3) {
                    0 => {
                        damaged.remove(at);
                    }
                    1 => damaged.insert(at, words[from]),
                    _ => damaged.swap(at, from),
                }
            }
            let damaged = damaged.concat();
            let (program, diagnostics, _) = compile("damaged.pml", &damaged);
            assert!(program.is_some() || !diagnostics.is_empty(), "no answer to\n{damaged}");
        }
    }
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
