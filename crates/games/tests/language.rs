//! The language of formulas: how texts are grouped, what is refused and why, and that what is printed reads alike.

mod support;

use trefoil_data::syntax::tree::Names;
use trefoil_games::formula::parse;
use trefoil_games::formula::tree::{FormulaText, Modality, Regular, RegularId, State, StateId};
use trefoil_source::{Diagnostic, FileId};
use trefoil_testkit::formulas::{Formula, SPECIFICATION};
use trefoil_testkit::{Random, seed};

/// How a state formula is grouped: every operator in brackets.
fn grouped(text: &FormulaText, id: StateId) -> String {
    let name = |symbol| text.tree.names.text(symbol).to_string();
    match text.state(id) {
        State::Brackets(inside) => grouped(text, *inside),
        State::Variable(variable, _) => name(variable.symbol),
        State::Not(inside) => format!("!{}", grouped(text, *inside)),
        State::Infix(connective, left, right) => {
            format!("({} {} {})", grouped(text, *left), connective.text(), grouped(text, *right))
        }
        State::Quantified(quantifier, variables, inside) => {
            let names: Vec<String> =
                variables.iter().flat_map(|group| &group.names).map(|one| name(one.symbol)).collect();
            format!("({} {}. {})", quantifier.text(), names.join(","), grouped(text, *inside))
        }
        State::Modal(modality, steps, inside) => {
            let steps = grouped_steps(text, *steps);
            let inside = grouped(text, *inside);
            if *modality == Modality::Must { format!("([{steps}]{inside})") } else { format!("(<{steps}>{inside})") }
        }
        State::Fixpoint(fixpoint, variable, _, inside) => {
            format!("({} {}. {})", fixpoint.text(), name(variable.symbol), grouped(text, *inside))
        }
        _ => text.state_text(id),
    }
}

fn grouped_steps(text: &FormulaText, id: RegularId) -> String {
    match text.regular(id) {
        Regular::Action(formula) => text.action_text(*formula),
        Regular::Brackets(inside) => grouped_steps(text, *inside),
        Regular::Sequence(left, right) => {
            format!("({} . {})", grouped_steps(text, *left), grouped_steps(text, *right))
        }
        Regular::Choice(left, right) => format!("({} + {})", grouped_steps(text, *left), grouped_steps(text, *right)),
        Regular::Star(inside) => format!("{}*", grouped_steps(text, *inside)),
        Regular::Plus(inside) => format!("{}+", grouped_steps(text, *inside)),
    }
}

fn parsed(text: &str) -> (FormulaText, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let read = parse(text, FileId(0), Names::default(), &mut diagnostics);
    (read, diagnostics)
}

#[test]
fn operators_before_their_operands_are_cut_off_by_their_surroundings() {
    let cases = [
        ("<true>exists j: D. A && B", "((<true>(exists j. A)) && B)"),
        ("A && forall x: D. B || C", "((A && (forall x. B)) || C)"),
        ("nu X. [a]X && mu Y. <b>Y || Z", "(nu X. ((([a]X) && (mu Y. (<b>Y))) || Z))"),
        ("forall x: D. A || B => C", "(forall x. ((A || B) => C))"),
        ("A => B => C", "(A => (B => C))"),
        ("A || B && C", "(A || (B && C))"),
        ("!A && B", "(!A && B)"),
        ("![a]A && B", "(!([a]A) && B)"),
        ("[a]!<b>A || B", "(([a]!(<b>A)) || B)"),
        ("mu X. nu Y. X && Y", "(mu X. (nu Y. (X && Y)))"),
        ("[a . b* + c]A", "([((a . b*) + c)]A)"),
        ("[a . b . c]A", "([(a . (b . c))]A)"),
        ("[(a + b)* . c+]A", "([((a + b)* . c+)]A)"),
        ("[a + . b]A", "([(a+ . b)]A)"),
        ("[a && !b . c]A", "([(a && !b . c)]A)"),
        ("<(a || b) && c*>A", "(<(a || b) && c*>A)"),
        ("<exists d: D. a(d) || b . c>A", "(<(exists d: D. a(d) || b . c)>A)"),
        ("<a|b(1)|tau>A", "(<a|b(1)>A)"),
    ];
    for (text, expected) in cases {
        let (read, diagnostics) = parsed(text);
        assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
        assert_eq!(grouped(&read, read.root.expect("a formula")), expected, "{text}");
    }
}

#[test]
fn an_action_formula_in_brackets_goes_on_and_a_regular_one_does_not() {
    assert!(parsed("[(a || b) && c]true").1.is_empty());
    assert_eq!(parsed("[(a . b) && c]true").1.len(), 1);
    assert_eq!(parsed("[a && (b . c)]true").1.len(), 1);
}

#[test]
fn declarations_stand_before_the_word_form() {
    let text = "% form is a word here\nmap k: Nat;\neqn k = 2;\nact c: Nat;\nform <c(k)>true;\n";
    let (read, diagnostics) = parsed(text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(read.data.len(), 2);
    assert_eq!(read.print(), "map  k: Nat;\neqn  k = 2;\nact c: Nat;\nform <c(k)>true;\n");
    let signature = support::signature("act a; init a;");
    let formula = support::read(text, &signature).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    assert_eq!(formula.signature.actions.len(), 2);
}

#[test]
fn mistakes_have_codes_places_and_hints() {
    let specification = "sort D = struct d1 | d2; map big: D -> Bool; \
        act a; error: Nat; send: D # Nat; two: Nat; two: D; num: Nat; num: Int; init delta;";
    let signature = support::signature(specification);
    /// The text of a place, its code, and what its message or hint says.
    type Mistake = (&'static str, &'static str, &'static str);
    let cases: &[(&str, &[Mistake])] = &[
        ("[true* . error]false", &[("error", "F007", "for any arguments write `exists n: Nat. error(n)`")]),
        ("<send>true", &[("send", "F007", "`exists d: D, n: Nat. send(d, n)`")]),
        ("<a(1)>true", &[("a(1)", "F007", "write `a`")]),
        ("<eror(1)>true && <aa>true", &[("eror", "F006", "is `error` meant?"), ("aa", "F006", "is `a` meant?")]),
        ("<two([1])>true", &[("two([1])", "F008", "no action `two` takes")]),
        ("<num(1)>true", &[("num(1)", "F009", "several actions `num`")]),
        ("nu X. [a]Y", &[("Y", "F010", "no fixpoint binds `Y`")]),
        ("[a]mu Y. <a>true || <a>Y", &[("Y", "F010", "`(mu Y. … || …)`")]),
        ("[a]forall i: Nat. val(i < 3) => <error(i)>true", &[("i", "M101", "`(forall i. … => …)`")]),
        ("(mu Y. <a>true) || <a>Y", &[("Y", "F010", "no fixpoint binds `Y`")]),
        ("[true*]!deadlock", &[("deadlock", "F010", "`deadlock` is written `[true]false`")]),
        ("[true*]a", &[("a", "F010", "`<a>true` says that it can happen")]),
        ("nu X(n: Nat = 0). [a]X", &[("X", "F011", "takes one value, not 0")]),
        ("nu X(n: Nat = 0, n: Nat = 1). X(n, n)", &[("n", "F012", "two parameters are called `n`")]),
        ("nu X. ![a]X", &[("X", "F013", "odd number of negations")]),
        ("mu X. X => <a>true", &[("X", "F013", "odd number of negations")]),
        ("delay @ 3", &[("delay", "F003", "time")]),
        ("[a @ 2]true", &[("@", "F003", "time")]),
        ("val(1) + <a>val(2)", &[("+", "F004", "quantitative")]),
        ("sup n: Nat. <error(n)>val(n)", &[("sup", "F004", "quantitative")]),
        ("forall n: Nat. n < 3 => <a>true", &[("<", "F005", "val(e)")]),
        ("map k: Nat;", &[("", "F002", "there is no formula")]),
        ("init a; form true;", &[("init", "F014", "declarations of data and actions")]),
        ("val(d1)", &[("d1", "M109", "`Bool` is needed")]),
        ("[a](<a>true", &[("(", "M004", "not closed")]),
    ];
    for (text, expected) in cases {
        let mistakes = support::read(text, &signature).expect_err(text);
        let found: Vec<(String, &str)> = mistakes
            .iter()
            .map(|mistake| match &mistake.labels[0].place {
                trefoil_source::Place::Span(span) => (text[span.range()].to_string(), mistake.code),
                _ => (String::new(), mistake.code),
            })
            .collect();
        assert_eq!(found.len(), expected.len(), "{text}: {mistakes:?}");
        for ((place, code, words), (mistake, (at, said))) in expected.iter().zip(mistakes.iter().zip(&found)) {
            assert_eq!((at.as_str(), *said), (*place, *code), "{text}: {mistakes:?}");
            let all = format!("{} {:?} {:?}", mistake.message, mistake.help, mistake.notes);
            assert!(all.contains(words), "{text}: {all}");
        }
    }
}

#[test]
fn what_is_printed_reads_alike() {
    let signature = support::signature(SPECIFICATION);
    let seed = seed();
    for round in 0..300 {
        let text = Formula::random(&mut Random::new(seed.wrapping_add(round))).to_string();
        let read = support::read(&text, &signature).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes:?}"));
        let printed = read.text.print();
        let again = support::read(&printed, &signature).unwrap_or_else(|mistakes| panic!("{printed}\n{mistakes:?}"));
        assert_eq!(printed, again.text.print());
        let root =
            |formula: &trefoil_games::formula::Formula| grouped(&formula.text, formula.text.root.expect("a formula"));
        assert_eq!(root(&read), root(&again));
    }
}

#[test]
fn deep_formulas_overflow_nothing() {
    let signature = support::signature("act a; init a;");
    let text = format!("{}true", "[a]<a>".repeat(9_000));
    let formula = support::read(&text, &signature).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    assert_eq!(formula.text.print().len(), text.len());
    let text = format!("{}true", "!".repeat(30_000));
    assert!(support::read(&text, &signature).is_err());
}
