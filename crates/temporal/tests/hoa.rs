//! Automata in files: what is read and written, and what is refused.

use trefoil_source::{Diagnostic, FileId, Place};
use trefoil_system::Automaton;
use trefoil_temporal::{HoaAutomaton, read_hoa, write_hoa};
use trefoil_testkit::temporal::{PlainLasso, random_automaton};
use trefoil_testkit::{Random, seed};

fn read(text: &str) -> HoaAutomaton {
    read_hoa(text, FileId(0)).unwrap_or_else(|wrong| panic!("{text}\n{}", wrong.message))
}

fn refused(text: &str) -> Diagnostic {
    match read_hoa(text, FileId(0)) {
        Ok(_) => panic!("this is read:\n{text}"),
        Err(wrong) => *wrong,
    }
}

/// Do two automata accept the same lassos up to a length?
fn alike(one: &Automaton, other: &Automaton, propositions: u32, longest: usize) -> bool {
    (1..=longest).all(|length| {
        PlainLasso::all(length, propositions).all(|lasso| {
            let accepts =
                |automaton: &Automaton| automaton.accepts(lasso.letters.len(), lasso.back_to, |at| lasso.letters[at]);
            accepts(one) == accepts(other)
        })
    })
}

#[test]
fn what_is_written_is_read_again() {
    let seed = seed();
    let mut random = Random::new(seed);
    for round in 0..300 {
        let automaton = random_automaton(1 + random.below(4), 2, &mut random);
        let names = ["x[1] == 2".to_string(), "say \"no\\yes\"".to_string()];
        let text = write_hoa(&automaton, "round \"and\" round", &names);
        let again = read(&text);
        assert_eq!(again.automaton, automaton, "TREFOIL_SEED={seed} round {round}\n{text}");
        assert_eq!(again.name.as_deref(), Some("round \"and\" round"));
        let texts: Vec<&str> = again.propositions.iter().map(|proposition| proposition.text.as_str()).collect();
        assert_eq!(texts, names);
    }
}

#[test]
fn the_end_of_an_automaton_is_written_as_a_loop() {
    let mut automaton = Automaton { edges: vec![Vec::new(), Vec::new()], initial: vec![0, 1], marks: 2, end: Some(1) };
    let again = read(&write_hoa(&automaton, "n", &["p".to_string()])).automaton;
    assert!(alike(&automaton, &again, 1, 3));
    automaton.initial = vec![0];
    assert!(!alike(&automaton, &again, 1, 1));
}

/// The same language in several forms: infinitely often `p` and infinitely often `q`.
#[test]
fn acceptance_and_labels_may_lie_on_states_and_on_edges() {
    let on_edges = "HOA: v1 States: 1 Start: 0 AP: 2 \"p\" \"q\" acc-name: generalized-Buchi 2 \
        Acceptance: 2 Inf(0)&Inf(1) --BODY-- State: 0 [!0&!1] 0 [0&!1] 0 {0} [!0&1] 0 {1} [0&1] 0 {0 1} --END--";
    let implicit = "HOA: v1\nStates: 1\nStart: 0\nAcceptance: 2 (Inf(0) & Inf(1))\nAP: 2 \"p\" \"q\"\n--BODY--\n\
        State: 0 0 0 {0} 0 {1} 0 {0 1}\n--END--";
    let complemented = "HOA: v1 Start: 0 AP: 2 \"p\" \"q\" Acceptance: 3 Inf(!2)&t&Inf(!0) --BODY-- State: 0 \
        [!0&!1] 0 {0 2} [0&!1] 0 {0} [!0&1] 0 {2 1} [0&1] 0 {1} --END--";
    let aliases = "HOA: v1 /* a /* nested */ comment */ States: 1 Start: 0 AP: 2 \"p\" \"q\" Alias: @p 0\n\
        Alias: @none !(@p | 1) properties: deterministic complete Acceptance: 2 Inf(0)&Inf(1) \
        tool: \"by hand\" acc-name: generalized-Buchi 2 --BODY-- \
        State: 0 \"only\" [@none] 0 [@p&!1] 0 {0} [!@p&(1|f)] 0 {1} [@p&1&t] 0 {0 1} --END--";
    // A state for each letter, which the label of the state asks for.
    let on_states = "HOA: v1 States: 4 Start: 0 Start: 1 Start: 2 Start: 3 AP: 2 \"p\" \"q\" \
        Acceptance: 2 Inf(0)&Inf(1) --BODY-- \
        State: [!0&!1] 0 0 1 2 3 State: [0&!1] 1 {0} 0 1 2 3 State: [!0&1] 2 {1} 0 1 2 3 \
        State: [0&1] 3 {0 1} 0 1 2 3 --END-- HOA: v2 is not looked at";
    let first = read(on_edges).automaton;
    assert!(first.accepts(2, 0, |at| [1, 2][at]) && !first.accepts(2, 1, |at| [3, 1][at]));
    for other in [implicit, complemented, aliases, on_states] {
        assert!(alike(&first, &read(other).automaton, 2, 4), "{other}");
    }
}

#[test]
fn conditions_without_sets() {
    let text = |condition: &str| {
        format!("HOA: v1 States: 1 Start: 0 AP: 1 \"p\" Acceptance: 1 {condition} --BODY-- State: 0 [0] 0 --END--")
    };
    assert!(read(&text("t")).automaton.accepts(1, 0, |_| 1));
    assert!(!read(&text("t")).automaton.accepts(1, 0, |_| 0));
    assert!(!read(&text("f")).automaton.accepts(1, 0, |_| 1));
    assert!(!read(&text("Inf(0)&f")).automaton.accepts(1, 0, |_| 1));
    assert!(!read("HOA: v1 Acceptance: 0 t --BODY-- --END--").automaton.accepts(1, 0, |_| 1));
}

/// What is refused, by its code and the text at its place.
#[test]
fn what_cannot_be_checked_is_refused_at_its_place() {
    let body = "--BODY-- State: 0 [0] 0 {0} --END--";
    let head = "HOA: v1 States: 1 Start: 0 AP: 1 \"p\"";
    let cases = [
        ("H002", "HOA:", "HOA: v1 States: 1 --BODY-- --END--".to_string()),
        ("H002", "v2", format!("HOA: v2 {body}")),
        ("H002", "States:", format!("States: 1 {body}")),
        (
            "H002",
            "States:",
            format!("{head} States: 2 Acceptance: 1 Inf(0) {body}")
                .replacen("States:", "states:", 1)
                .replace("States: 2", "States: 2 States: 2"),
        ),
        ("H002", "Weights:", format!("{head} Weights: 3 Acceptance: 1 Inf(0) {body}")),
        ("H003", "Fin", format!("{head} Acceptance: 1 Fin(0) {body}")),
        ("H003", "|", format!("{head} Acceptance: 2 Inf(0)|Inf(1) {body}")),
        ("H003", "Fin", format!("{head} Acceptance: 2 Inf(0)&(Fin(1)) {body}")),
        ("H004", "&", format!("{} Acceptance: 1 Inf(0) {body}", head.replace("Start: 0", "Start: 0&0"))),
        ("H004", "&", format!("{head} Acceptance: 1 Inf(0) {}", body.replace("] 0", "] 0&0"))),
        ("H005", "7", format!("{head} Acceptance: 1 Inf(0) {}", body.replace("] 0", "] 7"))),
        ("H005", "7", format!("{head} Acceptance: 1 Inf(0) {}", body.replace("[0]", "[!7]"))),
        ("H005", "7", format!("{head} Acceptance: 1 Inf(0) {}", body.replace("{0}", "{7}"))),
        ("H005", "7", format!("{} Acceptance: 1 Inf(0) {body}", head.replace("Start: 0", "Start: 7"))),
        ("H005", "@a", format!("{head} Acceptance: 1 Inf(0) {}", body.replace("[0]", "[@a]"))),
        ("H005", "0", format!("{head} Acceptance: 1 Inf(0) {}", body.replace("--END--", "State: 0 --END--"))),
        ("H006", "0", format!("{head} Acceptance: 1 Inf(0) --BODY-- State: 0 0 --END--")),
        ("H006", "0", format!("{head} Acceptance: 1 Inf(0) --BODY-- State: [t] 0 [t] 0 --END--")),
        ("H001", "}", format!("{head} Acceptance: 1 Inf(0) {}", body.replace("[0] 0 {0}", "[0] }"))),
        ("H001", "--ABORT--", format!("{head} Acceptance: 1 --ABORT--")),
        ("H001", "", format!("{head} Acceptance: 1 Inf(0) --BODY-- State: 0")),
        ("H001", "\"", "HOA: v1 name: \"open".to_string()),
        ("H001", "/*", "HOA: v1 /* open".to_string()),
        ("H007", "65", "HOA: v1 AP: 65".to_string()),
    ];
    for (code, at, text) in cases {
        let wrong = refused(&text);
        let Place::Span(span) = wrong.labels[0].place else { panic!("{text}: no place") };
        assert_eq!((wrong.code, &text[span.range()]), (code, at), "{text}\n{}", wrong.message);
    }
}

#[test]
fn nothing_that_is_read_panics() {
    let text = "HOA: v1 States: 2 Start: 0 AP: 2 \"p\" \"q\" Alias: @a 0&!1 Acceptance: 1 Inf(0) \
        --BODY-- State: 0 [@a|(0)] 1 {0} [t] 0 State: [0] 1 {0} 1 --END--";
    let mut random = Random::new(seed());
    let pieces: Vec<&str> = text.split_inclusive([' ', '(', ')', '{', '}', '[', ']']).collect();
    for _ in 0..3000 {
        let mut mixed: Vec<&str> = pieces.clone();
        for _ in 0..1 + random.below(3) {
            let (one, other) = (random.below(mixed.len()), random.below(mixed.len()));
            match random.below(3) {
                0 => mixed.swap(one, other),
                1 => drop(mixed.remove(one)),
                _ => mixed.insert(one, pieces[other % pieces.len()]),
            }
        }
        let cut = random.below(text.len());
        let mixed = mixed.concat();
        let _ = read_hoa(&mixed, FileId(0));
        let _ = read_hoa(mixed.get(..cut).unwrap_or(""), FileId(0));
    }
}
