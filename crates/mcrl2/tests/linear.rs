//! Linear processes: their sizes, what they look like as text, and what is refused.

use trefoil_control::{Control, Stopped};
use trefoil_mcrl2::linear::{Analyses, Event, LinearProcess, Refusal, linearise, print};
use trefoil_mcrl2::{processes, syntax};
use trefoil_source::{Diagnostic, FileId};

fn read(text: &str) -> (syntax::tree::Specification, processes::ProcessSpecification) {
    let mut diagnostics = Vec::new();
    let tree = syntax::parse(text, FileId(0), &mut diagnostics);
    let typed = processes::check(&tree, text, &mut diagnostics);
    (tree, typed.unwrap_or_else(|| panic!("{text}: {diagnostics:?}")))
}

fn attempt(text: &str, analyses: Analyses) -> Result<LinearProcess, Refusal> {
    linearise(&read(text).1, analyses, &Control::unlimited())
}

fn linear(text: &str) -> LinearProcess {
    attempt(text, Analyses::ALL).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"))
}

fn refused(text: &str) -> Diagnostic {
    match attempt(text, Analyses::ALL) {
        Err(Refusal::Wrong(mut diagnostics)) => diagnostics.remove(0),
        other => panic!("{text}: {other:?}"),
    }
}

/// The process of the linear process as text, without the data.
fn process_text(text: &str, linear: &LinearProcess) -> String {
    let (tree, _) = read(text);
    let printed = print(linear, &tree, text);
    printed[printed.find("proc ").expect("there is a process")..].to_string()
}

/// Philosophers that take the fork on their right first.
fn dining(seats: usize) -> String {
    let table: Vec<String> = (1..=seats).map(|seat| format!("Fork({seat}) || Seat({seat})")).collect();
    format!(
        "map seats: Pos; eqn seats = {seats};
         act take, give, lift, drop, up, down: Pos # Pos; eat: Pos;
         proc Seat(n: Pos) = take(n, n) . take(n, if(n == seats, 1, n + 1)) . eat(n)
                           . give(n, n) . give(n, if(n == seats, 1, n + 1)) . Seat(n);
              Fork(n: Pos) = sum m: Pos . lift(m, n) . drop(m, n) . Fork(n);
         init allow({{up, down, eat}}, comm({{take|lift -> up, give|drop -> down}}, {}));",
        table.join(" || ")
    )
}

#[test]
fn control_states_with_the_same_steps_are_one() {
    // `b(false)` comes before `Q(false) . R` on two ways, and `b(true)` before `R` and what it begins with; these two
    // then have the same steps.
    let linear = linear(
        "act a, b: Bool;
         proc R = Q(true) . Q(false) . R;
              Q(x: Bool) = a(x) . b(x) . Q(x) + a(!x) . b(!x);
         init R;",
    );
    assert_eq!(linear.components[0].states.len(), 3);
    assert_eq!(linear.summands.len(), 4);
}

#[test]
fn equal_continuations_are_one_control_state() {
    let linear = linear("act a, b, c; proc P = a . c . P + b . c . P; init P;");
    assert_eq!(linear.components[0].states, ["P", "c.P"]);
    assert_eq!(linear.summands.len(), 3);
    // The names of variables do not matter.
    let renamed = self::linear(
        "act a, b, c: Nat;
         proc P = sum x: Nat . (x < 2) -> a(x) . c(x) . P + sum y: Nat . (y < 3) -> b(y) . c(y) . P;
         init P;",
    );
    assert_eq!(renamed.components[0].states.len(), 2);
    assert_eq!(renamed.parameters.len(), 2);
    // Nor does it matter where a call ends.
    let calls = self::linear("act a, b, c, d; proc P = a . Q . d . P + b . c . d . P; Q = c; init P;");
    assert_eq!(calls.components[0].states.len(), 3, "{:?}", calls.components[0].states);
}

#[test]
fn joining_is_linear_in_the_number_of_seats() {
    for seats in [2, 3, 8, 20] {
        let linear = linear(&dining(seats));
        assert_eq!(linear.summands.len(), 5 * seats);
        assert_eq!(linear.components.len(), 2 * seats);
        let joined = linear.summands.iter().filter(|summand| summand.parts.len() == 2).count();
        assert_eq!(joined, 4 * seats);
    }
}

#[test]
fn a_row_of_processes_is_unfolded_by_values() {
    let text = "act a: Pos;
         proc Cell(n: Pos) = a(n) . Cell(n);
              Row(n: Pos) = (n > 1) -> (Cell(n) || Row(Int2Pos(n - 1))) <> Cell(n);
         init allow({a}, Row(4));";
    let linear = linear(text);
    let names: Vec<&str> = linear.components.iter().map(|component| component.name.as_str()).collect();
    assert_eq!(names, ["Cell(4)", "Cell(3)", "Cell(2)", "Cell(1)"]);
    assert_eq!(linear.summands.len(), 4);
    let endless = "act a; proc P(n: Nat) = (n > 0) -> (a || P(n + 1)) <> a; init P(1);";
    assert_eq!(refused(endless).code, "M305");
    let open = "act a; proc P = sum n: Nat . (n > 0) -> (a || a) <> a; init P;";
    assert_eq!(refused(open).code, "M302");
}

#[test]
fn parallel_components_terminate_together() {
    let text = "act a, b; init a || b;";
    let linear = self::linear(text);
    // a, b, a|b, and one joint step at the end.
    assert_eq!(linear.summands.len(), 4);
    let last = linear.summands.last().expect("there are summands");
    assert_eq!(last.event, Event::Terminate);
    assert_eq!(last.conditions.len(), 2);
    let never = self::linear("act a, b; init a || b . delta;");
    assert!(never.summands.iter().all(|summand| summand.event != Event::Terminate));
    let allowed = self::linear("act a, b; init allow({a}, a || a);");
    assert_eq!(allowed.summands.len(), 3);
}

#[test]
fn calls_that_pile_up_with_values_are_regular() {
    let linear = linear("act a, b: Nat; proc P(n: Nat) = a(n) . P(n + 1) + b(n); init P(0) . delta;");
    assert_eq!(linear.components[0].states.len(), 2);
    let pair =
        self::linear("act a, b: Nat; proc P(n: Nat) = (n < 3) -> a(n) . P(n + 1) <> b(n); init P(0) . P(1) . delta;");
    // The second call waits with its argument, then takes the place of the first.
    assert_eq!(pair.components[0].states.len(), 3, "{:?}", pair.components[0].states);
    // What follows a process that never ends is dropped.
    let dropped = self::linear("act a, b; proc P = a . P . b; init P;");
    assert_eq!(dropped.summands.len(), 1);
}

#[test]
fn a_growing_stack_is_shown() {
    let diagnostic = refused("act a, b; proc P = a . P . b + b; init P;");
    assert_eq!(diagnostic.code, "M301");
    assert!(diagnostic.notes[0].contains("P.b.b.b"), "{:?}", diagnostic.notes);
    assert_eq!(refused("act a, b, c, d, e; proc P = a . P . b + c . P . d + e; init P;").code, "M301");
}

#[test]
fn long_sequences_are_no_recursion() {
    for length in [65, 3000] {
        let text = format!("act a, b; init {} . b . delta;", vec!["a"; length].join(" . "));
        let linear = linear(&text);
        assert_eq!(linear.components[0].states.len(), length + 2);
        assert_eq!(linear.summands.len(), length + 1);
    }
    // Calls inside each other as deep as their values say.
    let nested =
        linear("act a, b: Nat; proc P(n: Nat) = (n < 40) -> a(n) . P(n + 1) . b(n) <> b(n); init P(0) . delta;");
    assert_eq!(nested.summands.len(), 81);
    // What waits on the stack keeps its parameter, whatever is put on top of it.
    let text = "act a, b: Nat; proc P = sum n: Nat . (n < 2) -> a(n) . Q(n) . b(n) . P;
                Q(m: Nat) = sum n: Nat . (n < 3) -> a(m + n) . b(n + 1); init P;";
    let waiting = linear(text);
    assert_eq!(waiting.parameters.len(), 3);
    assert!(waiting.summands.iter().all(|summand| summand.updates.len() <= 2), "{}", process_text(text, &waiting));
}

#[test]
fn operators_may_be_nested_deeply() {
    for operator in ["comm({a|b -> c}, ", "hide({b}, ", "allow({a}, ", "rename({b -> c}, ", "block({b}, "] {
        let text = format!("act a, b, c; init {}a . delta{};", operator.repeat(5_000), ")".repeat(5_000));
        assert_eq!(linear(&text).summands.len(), 1, "{operator}");
    }
}

#[test]
fn sums_over_functions_are_replaced_by_those_that_satisfy_a_condition() {
    for (condition, functions) in [("f(true)", 2), ("f(true) == false", 2), ("forall b: Bool. f(b)", 1)] {
        let linear = linear(&format!("act a: Bool; init sum f: Bool -> Bool. ({condition}) -> a(f(false)) . delta;"));
        assert!(linear.summands.iter().all(|summand| summand.variables.is_empty()), "{condition}");
        assert_eq!(linear.summands.len(), functions, "{condition}");
    }
    // The values of a sort with a function inside are made as well.
    let linear = linear("sort E = struct e(f: Bool -> Bool); act a: E; init sum x: E. (f(x)(true)) -> a(x) . delta;");
    assert_eq!(linear.summands.len(), 2);
}

#[test]
fn a_choice_of_very_many_actions_ends() {
    let text = format!("act a; init {}a;", "a + ".repeat(100_000));
    assert_eq!(linear(&text).summands.len(), 2, "`a` and the end");
}

#[test]
fn the_action_of_termination_has_a_name_of_its_own() {
    let text = "act Terminate; init Terminate;";
    let linear = linear(text);
    let (tree, _) = read(text);
    let printed = print(&linear, &tree, text);
    assert!(printed.contains("act Terminate';") && printed.contains("act  Terminate;"), "{printed}");
    read(&printed);
}

#[test]
fn sums_with_one_value_vanish() {
    let text =
        "act a: Nat # Bool; proc P(x: Nat) = sum y: Nat, b: Bool . (y == x + 1 && b) -> a(y, b) . P(y); init P(0);";
    let linear = linear(text);
    assert!(linear.summands[0].variables.is_empty());
    assert!(linear.summands[0].conditions.is_empty());
    let text = process_text(text, &linear);
    assert!(text.contains("a(Pos2Nat(x + 1), true) . P(x = Pos2Nat(x + 1))"), "{text}");
}

#[test]
fn communication_that_may_still_happen_is_a_condition() {
    let text = "act a, b, c: Nat;
         proc A(n: Nat) = a(n) . A((n + 1) mod 3); B(n: Nat) = b(n) . B((n + 2) mod 3);
         init allow({c, a|b}, comm({a|b -> c}, A(0) || B(0)));";
    let linear = linear(text);
    assert_eq!(linear.summands.len(), 2);
    let text = process_text(text, &linear);
    assert!(text.contains("(n == n_2) -> c(n)"), "{text}");
    assert!(text.contains("(!(n == n_2)) -> a(n)|b(n_2)"), "{text}");
}

#[test]
fn operators_are_applied_in_any_order() {
    // Hiding below `allow` changes which bags pass.
    let hidden = linear("act a, b; init allow({a}, hide({b}, (a . delta) || (b . delta)));");
    // a alone, b as tau, and both together, which is a.
    assert_eq!(hidden.summands.len(), 3);
    let renamed = linear("act a, b, c; init allow({c|c}, rename({a -> c, b -> c}, (a . delta) || (b . delta)));");
    assert_eq!(renamed.summands.len(), 1);
    let blocked = linear("act a, b, c; init block({a, b}, comm({a|b -> c}, (a . delta) || (b . delta)));");
    assert_eq!(blocked.summands.len(), 1);
    let nested = linear(
        "act a, b, c, d, e;
         init allow({e}, comm({c|d -> e}, allow({c}, comm({a|b -> c}, (a . delta) || (b . delta))) || (d . delta)));",
    );
    assert_eq!(nested.summands.len(), 1);
    assert_eq!(nested.summands[0].parts.len(), 3);
}

#[test]
fn unrestricted_products_are_counted_first() {
    let parts: Vec<String> = (0..40).map(|_| "a . delta".to_string()).collect();
    let diagnostic = refused(&format!("act a; init ({});", parts.join(") || (")));
    assert_eq!(diagnostic.code, "M303");
    assert!(diagnostic.message.contains("1,099,511,627,775"), "{}", diagnostic.message);
}

#[test]
fn analyses_can_be_switched_off() {
    let text = "sort D = struct one | two | three; act s, r, c: D; a: Bool;
         proc S = s(two) . S;
              R(x, last: D, unused: Nat) = sum d: D . r(d) . R(d, x, unused + 1) + a(x == one) . R(two, x, unused);
         init allow({c, a}, comm({s|r -> c}, S || R(two, two, 0)));";
    let none = attempt(text, Analyses::NONE).expect("it is linear");
    // The constants that communication brings are found by an analysis; what is only handed on is redundant.
    assert_eq!(none.parameters.len(), 2);
    assert!(none.report.is_empty());
    let all = linear(text);
    assert_eq!(all.parameters.len(), 0);
    assert_eq!(all.report.len(), 5);
    assert!(all.report.iter().any(|line| line.starts_with("constant parameters: 1 removed")), "{:?}", all.report);
    let only = Analyses { constants: true, ..Analyses::NONE };
    assert_eq!(attempt(text, only).expect("it is linear").report.len(), 1);
}

#[test]
fn a_linear_process_is_read_back() {
    for text in [dining(3), "act a, b; init a || b;".to_string()] {
        let (tree, typed) = read(&text);
        let first = linearise(&typed, Analyses::ALL, &Control::unlimited()).expect("it is linear");
        let printed = print(&first, &tree, &text);
        let again = linear(&printed);
        assert_eq!(again.summands.len(), first.summands.len(), "{printed}");
        assert_eq!(again.parameters.len(), first.parameters.len(), "{printed}");
        assert_eq!(again.components.len(), 1);
    }
}

#[test]
fn a_stop_ends_linearisation() {
    let (_, typed) = read(&dining(3));
    let mut stopped = 0;
    for poll in 1..50 {
        let control = Control::stopping_at(poll, Stopped::Interrupted);
        match linearise(&typed, Analyses::ALL, &control) {
            Err(Refusal::Stopped(_)) => stopped += 1,
            Ok(linear) => assert_eq!(linear.summands.len(), 15),
            Err(Refusal::Wrong(diagnostics)) => panic!("{diagnostics:?}"),
        }
    }
    assert!(stopped > 0);
}

#[test]
fn every_code_has_an_example() {
    for entry in trefoil_mcrl2::linear::codes::CODES {
        if entry.code == trefoil_mcrl2::linear::codes::UNBOUNDED {
            let warnings = linear(entry.example).warnings;
            assert_eq!(warnings.len(), 1, "{warnings:?}");
            assert_eq!(warnings[0].code, entry.code);
            continue;
        }
        assert_eq!(refused(entry.example).code, entry.code, "{}", entry.example);
    }
}
