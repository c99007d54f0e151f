//! Deep and exploding scripts: every one gets an answer, without overflow, and soon.

mod support;

use trefoil_cspm::rename::rename;
use trefoil_cspm::types::typecheck;

/// The codes of what is said of a script that parses.
fn codes(text: &str) -> Vec<&'static str> {
    let parsed = support::parse_text(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let (renamed, diagnostics) = rename(parsed.tree, &[]);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    typecheck(renamed).1.iter().map(|diagnostic| diagnostic.code).collect()
}

const DEEP: usize = 50_000;

#[test]
fn depth_is_no_obstacle() {
    let around = |open: &str, middle: &str, close: &str| open.repeat(DEEP) + middle + &close.repeat(DEEP);
    assert_eq!(codes(&format!("x = {}", around("(", "1", ")"))), [""; 0]);
    assert_eq!(codes(&format!("x = {}", around("(1+", "1", ")"))), [""; 0]);
    assert_eq!(codes(&format!("x = 1{}", "+1".repeat(DEEP))), [""; 0]);
    assert_eq!(codes(&format!("f(x) = x\ny = {}", around("f(", "1", ")"))), [""; 0]);
    assert_eq!(codes(&format!("channel a\nP = {}STOP", "a -> ".repeat(DEEP))), [""; 0]);
    assert_eq!(codes(&format!("x = {}1", "if true then 1 else ".repeat(DEEP))), [""; 0]);
    assert_eq!(codes(&format!("x = {}1", "let _y = 1 within ".repeat(5_000))), [""; 0]);
    let chain: String = (0..DEEP).map(|i| format!("f{i}(x) = f{}(x)\n", i + 1)).collect();
    assert_eq!(codes(&format!("{chain}f{DEEP}(x) = x")), [""; 0]);
}

#[test]
fn types_that_are_too_large_are_refused() {
    let around = |open: &str, middle: &str, close: &str| open.repeat(DEEP + 1) + middle + &close.repeat(DEEP + 1);
    for text in [
        format!("x = {}", around("(", "1", ",2)")),
        format!("x = {}", around("<", "1", "> ")),
        format!("x = 1{}", ".1".repeat(DEEP)),
        format!("x = {}1", "\\ x @ ".repeat(DEEP)),
        format!("f({}) = 1", around("<", "x", "> ")),
        format!("f :: {}\nf = f", around("<", "Int", ">")),
    ] {
        assert_eq!(codes(&text), ["C065"], "{}", &text[..20]);
    }
    let doubled: String = (1..200).map(|i| format!("f{i}(x) = f{}(f{}(x))\n", i - 1, i - 1)).collect();
    assert_eq!(codes(&format!("f0(x) = (x, x)\n{doubled}")), ["C065"]);
    let dotted: String =
        (1..100).map(|i| format!("f{i}(x, y) = f{}(f{}(x, y), f{}(y, x))\n", i - 1, i - 1, i - 1)).collect();
    assert_eq!(codes(&format!("f0(x, y) = x.y\n{dotted}")), ["C065"]);
}

#[test]
fn shared_parts_are_looked_at_once() {
    let pairs = |name: &str, count: usize| -> String {
        (1..count).map(|i| format!("{name}{i} = ({name}{}, {name}{})\n", i - 1, i - 1)).collect()
    };
    let script = format!(
        "x0 = 1\n{}y0 = 1\n{}a = x199 == y199\nb = {{x199, (y198, x198)}}\nc = x199 < (y198, 1)",
        pairs("x", 200),
        pairs("y", 200)
    );
    assert_eq!(codes(&script), ["C060"]);
}

/// Words of scripts are exchanged at random; names and types are looked for even where the text could not be read.
#[test]
fn mutated_scripts_get_an_answer() {
    let seed = 0x5eed_c5b0_0001_u64;
    let mut state = seed;
    let mut below = move |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % most.max(1) as u64) as usize
    };
    let folders = [("rename", "should_pass"), ("types", "should_pass"), ("types", "should_fail")];
    let files = folders.iter().flat_map(|&(stage, folder)| support::scripts_of(stage, folder));
    let texts: Vec<String> = files.map(|path| std::fs::read_to_string(path).expect("a script")).collect();
    let texts: Vec<Vec<String>> = texts.iter().map(|text| words(text)).collect();
    let mut checked = 0;
    for round in 0..3000 {
        let mut script = texts[below(texts.len())].clone();
        for _ in 0..1 + below(5) {
            let other = if below(2) == 0 { script.clone() } else { texts[below(texts.len())].clone() };
            let (at, from) = (below(script.len()), below(other.len()));
            match below(3) {
                0 => script[at] = other[from].clone(),
                1 => script.insert(at, other[from].clone()),
                _ => drop(script.remove(at)),
            }
            if script.is_empty() {
                break;
            }
        }
        let text = script.concat();
        let answer = std::panic::catch_unwind(|| {
            let parsed = support::parse_text(&text);
            let (renamed, _) = rename(parsed.tree, &[]);
            typecheck(renamed).1.len()
        });
        assert!(answer.is_ok(), "seed {seed:#x}, round {round}:\n{text}");
        checked += answer.unwrap_or(0);
    }
    assert!(checked > 1000);
}

/// A text in words and the characters between them.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        let word = c.is_alphanumeric() || c == '_';
        match words.last_mut() {
            Some(last) if word && in_word => last.push(c),
            _ => words.push(c.to_string()),
        }
        in_word = word;
    }
    words
}
