//! Formulas that are nested deeply: they become games and are decided in time that hardly grows faster than they do,
//! without Rust's stack, and a budget that ends while they are compiled is noticed.

mod support;

use std::time::Duration;

use support::{aut, read, signature};
use trefoil_control::{Control, Limits, Stopped};
use trefoil_games::formula::Formula;
use trefoil_games::formula::game::FormulaGame;
use trefoil_games::solve::{Deciding, Player, decide};

const SPECIFICATION: &str = "act a, b; c: Bool; init delta;";

/// A step `a` and then steps `b` forever.
const MODEL: &str = "des (0,2,2)\n(0,\"a\",1)\n(1,\"b\",1)\n";

/// How deep.
const DEPTH: usize = 5_000;

/// A part, nested.
fn nested(before: &str, inside: &str, after: &str) -> String {
    [&before.repeat(DEPTH), inside, &after.repeat(DEPTH)].concat()
}

/// Parts with numbers, one after the other.
fn numbered(part: impl Fn(usize) -> String) -> String {
    (0..DEPTH).map(part).collect()
}

fn formula(text: &str) -> Formula {
    read(text, &signature(SPECIFICATION)).unwrap_or_else(|wrong| panic!("{}: {wrong:?}", start(text)))
}

fn start(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Formulas, and whether they hold in the model; those that are not decided are only compiled.
fn formulas() -> Vec<(String, Option<bool>)> {
    let stars = nested("(", "a", ")*");
    let pluses = nested("(", "a", ")+");
    // Brackets inside each other count twice against what a text may nest.
    let both = ["((".repeat(DEPTH / 2), "a".to_string(), ")+ . b)*".repeat(DEPTH / 2)].concat();
    let mixed = nested("(", "a", " + b)+");
    let left = nested("(", "a", " . b)");
    let right = nested("(a . ", "b", ")");
    let choices = nested("(a + ", "b", ")");
    let mut all = Vec::new();
    for (steps, possible, then_b) in [
        (stars, true, false),
        (pluses, true, true),
        (both, true, false),
        (mixed, true, true),
        (left, true, true),
        (right, false, true),
        (choices, true, true),
        (nested("!", "a", ""), true, true),
        (nested("(b || ", "a", ")"), true, true),
        (nested("(true && !", "a", ")"), true, true),
    ] {
        all.push((format!("<{steps}>true"), Some(possible)));
        all.push((format!("[true*][{steps}]<b>true"), Some(then_b)));
    }
    let quantified = numbered(|place| format!("exists x{place}: Bool. "));
    all.push((format!("<{quantified}c(x0)>true"), Some(false)));
    all.push((format!("{quantified}<c(x0)>true || <a>true"), Some(true)));
    all.push((format!("{quantified}val(x0 && !x{})", DEPTH - 1), Some(true)));
    let alternating = numbered(|place| format!("forall x{place}: Bool. exists y{place}: Bool. "));
    all.push((format!("{alternating}<a>val(x0 == y0)"), Some(true)));
    all.push((nested("[a]", "false", ""), Some(true)));
    all.push((nested("<b>", "true", ""), Some(false)));
    all.push((nested("[b]<a>", "true", ""), Some(true)));
    all.push((nested("!", "<a>true", ""), Some(true)));
    all.push((nested("(<a>true && ", "<a>true", ")"), Some(true)));
    let half = |part: &str| part.repeat(DEPTH / 2);
    all.push((half("(<b>true || (<a>true && ") + "<b>true" + &half("))"), Some(false)));
    all.push((nested("<a>true => ", "<b>true", ""), Some(false)));
    all.push((half("mu X. [a]nu Y. <b>") + "Y", Some(true)));
    all.push((numbered(|place| format!("mu X{place}. ")) + "[a]X0", Some(true)));
    all.push((numbered(|place| format!("nu X{place}. mu Y{place}. ")) + "[a]X0 && [b]Y1", None));
    let all_of_them = (0..DEPTH / 10).map(|place| format!("[a]X{place}")).collect::<Vec<_>>().join(" && ");
    let outer: String = (0..DEPTH / 10).map(|place| format!("nu X{place}. ")).collect();
    all.push((outer + &all_of_them, Some(true)));
    all.push((numbered(|place| format!("nu X{place}(x{place}: Bool = true). ")) + "<a>X0(false)", Some(false)));
    all
}

#[test]
fn deeply_nested_formulas_are_decided() {
    for (text, expected) in formulas() {
        let control = Control::new(Limits { time: Some(Duration::from_secs(60)), ..Limits::default() });
        let game = FormulaGame::new(formula(&text), aut(MODEL), &control);
        let game = game.unwrap_or_else(|stopped| panic!("{}: {stopped}", start(&text)));
        let Some(expected) = expected else { continue };
        let options = Deciding { threads: 1, ..Deciding::default() };
        let decision = decide(&game, &options, &control);
        let decision = decision.unwrap_or_else(|undecided| panic!("{}: {:?}", start(&text), undecided.cut));
        assert_eq!(decision.winner == Player::Even, expected, "{}", start(&text));
    }
}

#[test]
fn a_budget_ends_while_formulas_are_compiled() {
    for (text, _) in formulas() {
        let typed = formula(&text);
        for poll in [1, 100, 4_000] {
            let control = Control::stopping_at(poll, Stopped::Interrupted);
            let stopped = FormulaGame::new(typed.clone(), aut(MODEL), &control).err();
            if stopped.is_none() {
                assert!(poll > 1 && control.polls() < poll, "{} at poll {poll}", start(&text));
                continue;
            }
            assert_eq!(stopped, Some(Stopped::Interrupted), "{} at poll {poll}", start(&text));
        }
    }
}
