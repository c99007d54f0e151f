//! `mistakes.md`: what is reported of texts with a mistake.

mod support;

use support::{code_and_column, reported};

#[test]
fn every_mistake_is_reported_once_at_its_place_with_its_hint() {
    let page = include_str!("mistakes.md");
    let mut tried = 0;
    for block in page.split("```mcrl2\n").skip(1) {
        let (text, rest) = block.split_once("\n```\n").expect("a block ends");
        let expectation = rest.lines().find_map(|line| line.strip_prefix("→ ")).expect("an arrow follows a block");
        let (place, help) = match expectation.split_once(": ") {
            Some((place, help)) => (place, Some(help)),
            None => (expectation, None),
        };
        let (code, column) = place.split_once(" in column ").expect("a code and a column");
        let found = reported(text);
        assert_eq!(found.len(), 1, "{text}: {found:#?}");
        assert_eq!(code_and_column(&found[0]), (code.to_string(), column.parse().expect("a number")), "{text}");
        assert_eq!(found[0].help.as_deref(), help, "{text}");
        tried += 1;
    }
    assert!(tried >= 140, "{tried} mistakes are on the page");
}

#[test]
fn every_code_has_an_example_that_gives_it() {
    for table in [trefoil_mcrl2::SYNTAX_CODES, trefoil_mcrl2::TYPE_CODES, trefoil_mcrl2::PROCESS_CODES] {
        for entry in table {
            if entry.example.contains('…') {
                continue;
            }
            let codes: Vec<_> = reported(entry.example).iter().map(|diagnostic| diagnostic.code).collect();
            assert!(codes.contains(&entry.code), "{}: {:?} for {}", entry.code, codes, entry.example);
        }
    }
}

#[test]
fn a_syntax_error_hides_no_name_error_and_no_type_error() {
    let text = "map f: Nat -> Nat;\nmap g Nat;\nmap h: Nt;\nvar n: Nat;\neqn f(n) = true;\n    f(n) = g + h + k;\n";
    let codes: Vec<_> = reported(text).iter().map(|diagnostic| diagnostic.code).collect();
    // Uses of `g` and `h` are silent, since their declarations have been reported.
    assert_eq!(codes, ["M003", "M102", "M109", "M101"]);
}

#[test]
fn deep_and_long_texts_end() {
    let deep = format!("map f: Nat; eqn f = {}1{};", "(".repeat(15_000), ")".repeat(15_000));
    assert!(reported(&deep).is_empty());
    let too_deep = format!("map f: Nat; eqn f = {}1{};", "(".repeat(30_000), ")".repeat(30_000));
    assert_eq!(reported(&too_deep)[0].code, "M008");
    let long = format!("map f: Nat; eqn f = {}1;", "1 + ".repeat(50_000));
    assert!(reported(&long).is_empty());
    let prefixes = format!("map f: Bool; eqn f = {}true;", "!".repeat(15_000));
    assert!(reported(&prefixes).is_empty());
}

/// Texts in which tokens were dropped, doubled and exchanged give diagnostics, and never a panic.
#[test]
fn changed_texts_never_panic() {
    let text = include_str!("specifications/everything.mcrl2");
    let tokens: Vec<&str> = text.split_inclusive(|character: char| !character.is_alphanumeric()).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut wrong = 0;
    for _ in 0..400 {
        let mut changed = tokens.clone();
        for _ in 0..=next(3) {
            let (at, other) = (next(changed.len()), next(changed.len()));
            match next(3) {
                0 => drop(changed.remove(at)),
                1 => changed.insert(at, changed[other]),
                _ => changed.swap(at, other),
            }
        }
        wrong += usize::from(!reported(&changed.concat()).is_empty());
    }
    assert!(wrong > 200, "only {wrong} changed texts were refused");
}
