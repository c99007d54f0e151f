//! Formulas about models of every language, against a model checker straight from the definition; and what a formula
//! sees of the states of a Promela model.

use std::path::Path;
use std::time::Duration;

use trefoil_control::{Control, Limits};
use trefoil_session::check::{AnyScript, Asked, AssertionReport, SymmetryUse, Wanted};
use trefoil_session::{Job, Verdict};
use trefoil_testkit::formulas::{Formula, LabelledSystem};
use trefoil_testkit::promela_symmetric::{SHAPES, random_symmetric_program};
use trefoil_testkit::{Random, seed};

/// The answers to formulas about a model.
fn answers(file: &str, text: &str, formulas: &[&str]) -> Vec<AssertionReport> {
    answers_to(file, text, formulas, &Asked::default(), Control::unlimited())
}

fn answers_to(file: &str, text: &str, formulas: &[&str], asked: &Asked, control: Control) -> Vec<AssertionReport> {
    let mut job = Job::new(control, 1);
    job.texts.put(file, text);
    let process = file.ends_with(".csp").then(|| "SYSTEM".to_string());
    let formulas = formulas.iter().map(|formula| formula.to_string()).collect();
    let wanted = Wanted { formulas, process, ..Wanted::default() };
    let script = AnyScript::open_with(Path::new(file), None, &wanted, &job);
    let mut script = script.unwrap_or_else(|problem| panic!("{text}\n{}", problem.render(false)));
    let count = script.assertions().len();
    (1..=count).map(|index| script.run(index, asked, &job)).collect()
}

fn verdict(file: &str, text: &str, formula: &str) -> Verdict {
    let report = answers(file, text, &[formula]).remove(0);
    assert!(report.errors.is_empty(), "{formula}: {:?}\n{text}", report.errors);
    if report.verdict == Verdict::Fails {
        assert!(report.witness.is_some(), "{formula}");
    }
    report.verdict
}

/// A formula whose actions `a` and `b` have the argument 0.
fn with_zeros(text: &str) -> String {
    let mut out = String::new();
    let inside_word = |character: Option<char>| character.is_some_and(|one| one.is_alphanumeric() || one == '_');
    let characters: Vec<char> = text.chars().collect();
    for (place, &character) in characters.iter().enumerate() {
        out.push(character);
        let before = place.checked_sub(1).and_then(|place| characters.get(place)).copied();
        let after = characters.get(place + 1).copied();
        if (character == 'a' || character == 'b') && !inside_word(before) && !inside_word(after) {
            out.push_str("(0)");
        }
    }
    out
}

#[test]
fn random_formulas_hold_in_every_language_where_the_definition_says() {
    let seed = seed();
    let (mut yes, mut no) = (0, 0);
    for round in 0..250 {
        let mut random = Random::new(seed.wrapping_add(round));
        let system = LabelledSystem::random(&mut random).of_single_actions();
        let formula = Formula::random(&mut random);
        let text = formula.to_string();
        let expected = if formula.holds(&system) { Verdict::Holds } else { Verdict::Fails };
        let context = format!("TREFOIL_SEED={}\n{text}", seed.wrapping_add(round));
        let script = system.cspm();
        assert_eq!(verdict("s.csp", &script, &text), expected, "{context}\n{script}");
        *(if expected == Verdict::Holds { &mut yes } else { &mut no }) += 1;
        // An mtype has one value more, which no constant has.
        if !text.contains(": D. ") {
            let model = system.promela();
            assert_eq!(verdict("m.pml", &model, &with_zeros(&text)), expected, "{context}\n{model}");
        }
    }
    assert!(yes > 50 && no > 50, "{yes} hold, {no} fail");
}

const MODEL: &str = "\
mtype = { red, green }
mtype light = red;
byte a[3] = 1;
short low = -2;
bool flag;
typedef R { byte x; bit y[2] }
R r;
chan q[2] = [2] of { mtype, byte };
chan h = [0] of { bool };
active proctype P() {
	byte mine = 7;
	chan own = [1] of { bit };
	q[1]!green,3;
	light = green;
	atomic { q[0]!red,4; own!1; h!true }
	cs: a[2] = 9;
	d_step { flag = true; r.x = 5; r.y[1] = 1 }
	a[2] / a[0] - a[0]
}
active proctype Q() { bool got; h?got; q[1]?_,a[0]; a[1] = 1 / (a[0] - 3) }
";

#[test]
fn messages_variables_and_labels_are_seen() {
    for (formula, expected) in [
        ("val(light == red && a(0) == 1 && low == -2 && !flag && r_y(1) == 0)", true),
        ("val(light == green)", false),
        ("val(light == none)", false),
        // A proposition behind a modality is one of the successor.
        ("<q(1, green, 3)>val(len_q(1) == 1)", true),
        ("val(len_q(1) == 1)", false),
        ("[q(1, green, 3)]val(len_q(1) == 0)", false),
        ("<q(1, green, 3) . tau>val(light == green)", true),
        // An atomic run is one step, a handshake its send.
        ("<q(1, green, 3) . tau . q(0, red, 4)|P_own(0, 1)|h(true)>val(at_cs(0) && Q_got(1))", true),
        ("<true*>val(exists p: Nat. p < 2 && at_cs(p))", true),
        ("<true* . receive_q(1, green, 3)>val(a(0) == 3)", true),
        ("[true*](forall i: Nat. val(i < 3) => val(a(i) <= 9))", true),
        ("[true*](forall i: Nat. val(i < 3) => val(a(i) <= 8))", false),
        ("<true*>val(flag && r_x == 5 && r_y(1) == 1)", true),
        ("<true*>val(flag != (r_x == 5))", false),
        ("<true* . error>true", true),
        ("[true*](val(P_mine(0) == 7) || val(P_mine(0) == 0))", true),
        // A parameter keeps a value of an earlier state.
        ("nu X(n: Nat = a(2)). val(n <= a(2)) && [true]X(a(2))", true),
        ("exists n: Nat. val(n == a(2)) && <true*>val(a(2) == n + 8)", true),
    ] {
        let expected = if expected { Verdict::Holds } else { Verdict::Fails };
        assert_eq!(verdict("m.pml", MODEL, formula), expected, "{formula}");
    }
}

#[test]
fn a_counterexample_of_a_model_is_told_statement_by_statement() {
    let report = answers("m.pml", MODEL, &["[true*]val(!flag)"]).remove(0);
    assert_eq!(report.verdict, Verdict::Fails);
    let evidence = report.witness.expect("evidence");
    let story = evidence.story.expect("a story");
    let mut changes = story.statements.iter().flat_map(|statement| &statement.changes);
    assert!(changes.any(|change| change.name == "flag"), "{:?}", story.statements);
    assert_eq!(story.end.variables.iter().find(|one| one.name == "flag").map(|one| one.value.as_str()), Some("1"));
}

/// A formula about the models of `random_symmetric_program`.
fn about_symmetric(random: &mut Random) -> String {
    fn one<'t>(random: &mut Random, of: &[&'t str]) -> &'t str {
        of[random.below(of.len())]
    }
    let action = |random: &mut Random| {
        let known = [
            "true",
            "true",
            "tau",
            "!tau",
            "error",
            "(exists n: Nat. o(n))",
            "(exists n: Nat. receive_o(n))",
            "o(1)",
            "(o(1) || o(2) || o(3))",
            "(exists i, n: Nat. c(i, n))",
            "(exists i: Nat. c(i, 1))",
            "c(0, 1)",
        ];
        one(random, &known).to_string()
    };
    let (a, b, c) = (action(random), action(random), action(random));
    let state = match random.below(6) {
        0 => "val(g == 0)".to_string(),
        1 => one(random, &["val(w == 0)", "val(h(1) == 0)", "val(len_o == 0)", "val(r(4) == 0)"]).to_string(),
        2 => "val(len_o == 0 && g == 0)".to_string(),
        3 => format!("<{c}>true"),
        4 => format!("[{c}]false"),
        _ => one(random, &["true", "false"]).to_string(),
    };
    match random.below(8) {
        0 => format!("[true* . {a}]{state}"),
        1 => format!("<true* . {a}>{state}"),
        2 => format!("[true*]({state} || <{a}>true)"),
        3 => format!("[true*]({state} || <true* . {a}>true)"),
        4 => format!("mu X. [!{a}]X && <true>true"),
        5 => format!("nu X. [{a}]X && {state}"),
        6 => format!("[true* . {a} . (!{b})*]<true* . {b}>true"),
        _ => format!("nu X. mu Y. [{a}]X && [!{a}]Y && ({state} || <true>true)"),
    }
}

#[test]
fn symmetric_models_satisfy_the_same_formulas() {
    let seed = seed();
    let automatic = Asked { symmetry: Some(SymmetryUse::Automatic), ..Asked::default() };
    let (mut reduced, mut smaller, mut kept, mut told_apart, mut fails) = (0, 0, 0, 0, 0);
    for round in 0..70 {
        let mut random = Random::new(seed.wrapping_add(round));
        let shape = SHAPES[round as usize % SHAPES.len()];
        let (text, _) = random_symmetric_program(&mut random, shape);
        for _ in 0..4 {
            let formula = about_symmetric(&mut random);
            let control = || Control::new(Limits { time: Some(Duration::from_millis(500)), ..Limits::default() });
            let without = answers_to("m.pml", &text, &[&formula], &Asked::default(), control()).remove(0);
            if without.verdict == Verdict::Unknown {
                continue;
            }
            let with = answers_to("m.pml", &text, &[&formula], &automatic, Control::unlimited()).remove(0);
            let context =
                format!("TREFOIL_SEED={} {shape} {formula}\n{:?}\n{text}", seed.wrapping_add(round), with.notes);
            assert!(
                with.errors.is_empty() && without.errors.is_empty(),
                "{context}{:?}{:?}",
                with.errors,
                without.errors
            );
            assert_eq!(with.verdict, without.verdict, "{context}");
            reduced += usize::from(with.symmetry.is_some());
            let vertices = |report: &AssertionReport| report.visited.states.digits().parse::<u64>().expect("a number");
            smaller += usize::from(with.symmetry.is_some() && vertices(&with) < vertices(&without));
            kept += usize::from(with.notes.iter().any(|note| note.contains("keep their slots")));
            told_apart += usize::from(with.notes.iter().any(|note| note.contains(" apart")));
            let refused = with.notes.iter().any(|note| note.contains("without symmetry reduction"));
            fails += usize::from(with.verdict == Verdict::Fails && !refused);
        }
    }
    println!("{reduced} reduced, {smaller} smaller, {kept} with kept processes, {told_apart} told apart, {fails} fail");
    assert!(reduced > 30 && smaller > 20 && kept > 0 && told_apart > 2 && fails > 30, "too few are symmetric");
}
