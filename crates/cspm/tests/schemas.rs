//! States by schemas are the states one by one: processes compiled both ways have the same components, state by state
//! and step by step, and make the same mistakes at the same places, for random scripts with every operator.

#[path = "support/evaluation.rs"]
mod evaluation;

use std::sync::Arc;

use evaluation::prepare;
use trefoil_control::Control;
use trefoil_cspm::eval::{Evaluator, Failure, Options, Reason};
use trefoil_cspm::process::{CompileOptions, Compiler, Machine};
use trefoil_lts::random::Random;
use trefoil_lts::{Lts, Transition};
use trefoil_network::Behaviour;
use trefoil_system::{LabelId, Labels};

const NEVER: usize = usize::MAX;

fn compiler(script: &str, process: &str, options: CompileOptions, labels: &Arc<Labels>) -> Compiler {
    let evaluator = Evaluator::untyped(&prepare(script, &[process]), Control::unlimited(), Options::default());
    Compiler::new(evaluator, labels.clone(), Control::unlimited(), options)
}

fn compiled(compiler: &mut Compiler) -> Result<Machine, Failure> {
    let value = compiler.evaluator().query(0)?;
    let value = compiler.evaluator().process(value)?;
    compiler.compile(&value)
}

fn mistake(failure: &Failure) -> String {
    match failure.reason() {
        Reason::Mistake(_) => format!("{:?}", failure.diagnostic()),
        Reason::Stopped(stopped) => panic!("{stopped}"),
    }
}

fn components(machine: &Machine) -> Vec<Arc<Lts>> {
    let component = |component: &trefoil_network::Component| match &component.behaviour {
        Behaviour::Explicit(lts) => Some(lts.clone()),
        Behaviour::Lazy(_) => None,
    };
    machine.network.components().iter().filter_map(component).collect()
}

/// The steps of a state; within one label and target, the order says nothing.
fn steps(lts: &Lts) -> Vec<Vec<Transition>> {
    let row = |state| {
        let mut row: Vec<Transition> = lts.steps(state).copied().collect();
        row.sort_unstable_by_key(|step| (step.label, step.target));
        row
    };
    lts.states().map(row).collect()
}

#[derive(Default)]
struct Tried {
    /// Are names compared?
    names: bool,
    schemas: usize,
    mistakes: usize,
}

/// Compiles a process in both ways.
fn agree(script: &str, process: &str, options: CompileOptions, tried: &mut Tried) {
    let labels = Arc::new(Labels::new());
    let mut one_by_one = compiler(script, process, CompileOptions { schemas_from: NEVER, ..options }, &labels);
    let mut by_schemas = compiler(script, process, CompileOptions { schemas_from: 0, ..options }, &labels);
    match (compiled(&mut one_by_one), compiled(&mut by_schemas)) {
        (Err(one), Err(other)) => {
            assert_eq!(mistake(&one), mistake(&other), "{process} in\n{script}");
            tried.mistakes += 1;
        }
        (Ok(one), Ok(other)) => {
            assert_eq!(one_by_one.schemas(), 0);
            tried.schemas += usize::from(by_schemas.schemas() > 0);
            let (left, right) = (components(&one), components(&other));
            assert_eq!(left.len(), right.len(), "{process} in\n{script}");
            for (at, (left, right)) in left.iter().zip(&right).enumerate() {
                let (left_steps, right_steps) = (steps(left), steps(right));
                for (state, (left, right)) in left_steps.iter().zip(&right_steps).enumerate() {
                    assert_eq!(left, right, "state {state} of component {at} of {process} in\n{script}");
                }
                assert_eq!(left_steps.len(), right_steps.len(), "component {at} of {process} in\n{script}");
                // A process that several calls give is called by the least of those that were made.
                let named = if tried.names { left.state_count().min(40) } else { 0 };
                for state in (0..named as u32).rev() {
                    let text = |_| "here".to_string();
                    let names = [(&mut one_by_one, &one), (&mut by_schemas, &other)];
                    let [one, other] = names.map(|(compiler, machine)| compiler.describe(machine, at, state, &text));
                    assert_eq!(one, other, "state {state} of component {at} of {process} in\n{script}");
                }
            }
        }
        (one, other) => panic!("{:?} and {:?}: {process} in\n{script}", one.err(), other.err()),
    }
}

const VALUES: usize = 4;

/// An expression over the variables.
fn value(random: &mut Random, variables: &[&str]) -> String {
    let one = variables[random.below(variables.len())];
    match random.below(9) {
        0 => format!("(({one} + 1) % N)"),
        1 => format!("(if {one} == 0 then 1 else {one})"),
        2 => format!("({one} % 2)"),
        3 => random.below(VALUES).to_string(),
        _ => one.to_string(),
    }
}

/// A prefix up to its arrow, and the variables behind it.
fn prefix<'v>(random: &mut Random, variables: &[&'v str]) -> (String, Vec<&'v str>) {
    let fresh = ["x", "y", "z"][random.below(3)];
    let mut more = variables.to_vec();
    let given = |random: &mut Random| value(random, variables);
    let text = match random.below(13) {
        0 => format!("c!{}", given(random)),
        1 => format!("d.{}!{}", given(random), given(random)),
        2 => format!("e!{}!{}!{}", given(random), given(random), given(random)),
        3 => format!("e.{}?{fresh}!{}", given(random), given(random)),
        4 => format!("d!{}?{fresh}", given(random)),
        5 => format!("c?{fresh}:{{w | w <- Value, w != {}}}", given(random)),
        6 => format!("e?{fresh}!{}.{}", given(random), given(random)),
        7 => format!("d$w:{{0 .. 1}}?{fresh}"),
        8 => format!("p!({}, {})", given(random), given(random)),
        9 => format!("d!{}.{}", given(random), given(random)),
        10 => "s".to_string(),
        _ => format!("c?{fresh}"),
    };
    if text.contains(&format!("?{fresh}")) && !more.contains(&fresh) {
        more.push(fresh);
    }
    (text, more)
}

/// A call behind an event; of processes that end, if operators stay around it.
fn call(random: &mut Random, variables: &[&str], ends: bool) -> String {
    let mut given = || value(random, variables);
    let (one, two, three) = (given(), given(), given());
    if ends {
        return match random.below(4) {
            0 => "STOP".to_string(),
            1 => format!("S({one})"),
            2 => format!("SH(e!{one}!{two}!{three} -> SKIP)"),
            _ => "SKIP".to_string(),
        };
    }
    match random.below(10) {
        0 => "SKIP".to_string(),
        1 => format!("Q({one}, <{two}, {three}>)"),
        2 => format!("R({one}, {two})"),
        3 => format!("L({one}, {two})"),
        4 => format!("K({one})({two})"),
        5 => format!("(S({one}) ; P({two}, 0))"),
        6 => format!("SH(c!{three} -> P({one}, {two}))"),
        7 => format!("(SH(d?v -> SH(e!{one}!v -> SKIP)) ; P({two}, {three}))"),
        _ => format!("P({one}, {two})"),
    }
}

fn process(random: &mut Random, variables: &[&str], depth: usize, ends: bool) -> String {
    if depth == 0 {
        let (text, variables) = prefix(random, variables);
        return match random.below(4) {
            0 => format!("({text} -> {})", process(random, &variables, 0, ends)),
            _ => format!("({text} -> {})", call(random, &variables, ends)),
        };
    }
    let less = random.below(depth);
    let choice = random.below(27);
    let inside = ends || (14..=22).contains(&choice);
    let one = process(random, variables, depth - 1, inside);
    let two = process(random, variables, less, inside);
    let guard = value(random, variables);
    match choice {
        0..=5 => format!("({one} [] {two})"),
        6 => format!("({one} |~| {two})"),
        7 => format!("({one} [> {two})"),
        8 => format!("({guard} < {} & {one})", random.below(VALUES + 1)),
        9 => format!("({one} [] SKIP)"),
        10 => format!("(if {guard} == {} then {one} else {two})", random.below(VALUES)),
        11 => format!("([] w : {{0 .. {guard}}} @ d.w?x -> {})", call(random, variables, ends)),
        12 => format!("(|~| w : {{0 .. 1}} @ d.w!{guard} -> {})", call(random, variables, ends)),
        13 => format!("({one} [] error{}({guard}))", random.below(2)),
        14 => format!("(({one} \\ {{| d |}}) ; {})", call(random, variables, ends)),
        15 => format!("({one} \\ {{c.{guard}}})"),
        16 => format!("({one} [[ c <- d.0 ]])"),
        17 => format!("(({one} [[ c.{guard} <- s ]]) ; {})", call(random, variables, ends)),
        18 => format!("(({one} ; SKIP) [| {{| p, s |}} |> {two})"),
        19 => format!("({one} /\\ s -> {two})"),
        20 => format!("({one} [+ {{| c |}} +] {two})"),
        21 => format!("(({one} /+ {{| c |}} +\\ {two}) ; {})", call(random, variables, ends)),
        22 => format!("({one} |\\ {{| c, e, s |}})"),
        23 => format!("SH({one})"),
        24 => format!("(S({guard}) ; {})", call(random, variables, ends)),
        _ => format!("(let v = {guard} within {one})"),
    }
}

/// An operator around a process that recurses.
fn around(random: &mut Random, inner: &str) -> String {
    match random.below(14) {
        0 => format!("{inner} \\ {{| e |}}"),
        1 => format!("{inner} |\\ {{| c, d |}}"),
        2 => format!("{inner} [[ c <- d.1 ]]"),
        3 => format!("{inner} [[ c.x <- c.((x + 1) % N) | x <- Value ]]"),
        4 => format!("({inner} ; s -> SKIP)"),
        5 => format!("({inner} [| {{| e.1, s |}} |> d?x?y -> STOP)"),
        6 => format!("({inner} /\\ s -> STOP)"),
        7 => format!("({inner} [| {{| c |}} |] c?x -> c?y -> STOP)"),
        8 => format!("({inner} ||| c?x -> STOP)"),
        9 => format!("({inner} [ {{| c, d, e |}} || {{| c, s |}} ] RUN({{| c, s |}}))"),
        10 => format!("({inner} [ c <-> c ] (c?x -> s -> STOP))"),
        11 => format!("dbisim({inner})"),
        _ => inner.to_string(),
    }
}

#[test]
fn schemas_change_nothing() {
    let mut tried = Tried::default();
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let first = process(&mut random, &["a", "b"], 2, false);
        let second = process(&mut random, &["a"], 1, false);
        let third = process(&mut random, &["a", "b"], 1, false);
        let local = process(&mut random, &["a", "b"], 1, false);
        let wrong = random.below(VALUES);
        let script = format!(
            "transparent sbisim, dbisim\nN = {VALUES}\nValue = {{0 .. N - 1}}\nchannel c : Value\nchannel d : Value . Value\n\
             channel e : Value . Value . Value\nchannel p : (Value, Value)\nchannel s\n\
             error0(v) = if v > N then error(\"never\") else STOP\n\
             error1(v) = if v == {wrong} then error(\"wrong\") else STOP\n\
             SH(q) = q [] s -> SH(q)\n\
             P(a, b) = {first}\n\
             Q(a, q) = length(q) < 3 & c?x -> Q(x, q ^ <a>) [] length(q) > 1 & d!a!head(q) -> P(a, head(q)) [] {second}\n\
             R(a, b) = {third}\n\
             S(0) = SKIP\nS(n) = e!n!n?x -> S(n - 1)\n\
             L(a, b) = let M(x) = d!x!a -> M((x + b) % N) [] c?y -> P(x, y) within M(b) [] {local}\n\
             K(a)(b) = e!a!b!a -> K(b)(a) [] c!b -> P(a, b)\n"
        );
        let mut whole = "P(0, 1)".to_string();
        for _ in 0..random.below(3) {
            whole = around(&mut random, &whole);
        }
        let options = CompileOptions {
            expand: random.chance(70),
            compress_leaves: random.chance(30),
            ..CompileOptions::default()
        };
        agree(&script, &whole, options, &mut tried);
    }
    assert!(tried.schemas > 100 && tried.mistakes > 5, "{} schemas, {} mistakes", tried.schemas, tried.mistakes);
}

#[test]
fn parts_of_rows_by_schemas_are_parts_of_rows() {
    let script = "N = 66\nValue = {0 .. N - 1}\nchannel get, set, other : Value\nchannel tell, out : Value . Value\n\
                  M(v) = get!v -> M(v) [] set?x -> M(x)\n\
                  K(v, w) = out!v!w -> K(v, w) [] set?x -> K(x, w) [] other?x -> K(v, x)\n\
                  J(v, w) = tell?x!v -> J(v, x) [] set?x -> J((x + w) % 3, w) [] get!w -> J(w, v)\n\
                  I(v) = get!v -> I(v) [] v < 60 & set?x -> I(x) [] tell.0?x -> I((x + v) % N)\n\
                  H(v) = set?x -> (if x == v then get!0 -> H(x) else H(x)) [] get!v -> H(v)\n\
                  G(v) = get!v -> G(v) [] set?x -> (if x > 60 then error(\"wrong\") else G(x))\n";
    let mut tried = Tried { names: true, ..Tried::default() };
    for process in ["M(0)", "K(0, 1)", "J(2, 1)", "I(3)", "H(0)", "G(0)", "K(0, 1) \\ {| other |}", "J(0, 0) ; M(0)"] {
        for compress_leaves in [true, false] {
            agree(script, process, CompileOptions { compress_leaves, ..Default::default() }, &mut tried);
        }
    }
    assert!(tried.schemas > 10 && tried.mistakes == 2, "{} schemas, {} mistakes", tried.schemas, tried.mistakes);
}

#[test]
fn values_that_nothing_looks_at_make_no_schemas() {
    let script = "N = 12\nValue = {0 .. N - 1}\nchannel c : Value . Value\nchannel d : Value\n\
                  channel e : Value . Value . Value\nchannel s, t\nSH(p) = p [] s -> SH(p)\n\
                  B = SH(d?z -> SH(c?x?y -> SH(e!x!y!z -> SKIP))) ; B\n";
    let labels = Arc::new(Labels::new());
    let mut compiler =
        compiler(script, "B [|{t}|> STOP", CompileOptions { schemas_from: 0, ..Default::default() }, &labels);
    let machine = compiled(&mut compiler).unwrap_or_else(|failure| panic!("{failure:?}"));
    let lts = &components(&machine)[0];
    assert_eq!(lts.state_count(), 1 + N + N * N * N + 1);
    assert!(compiler.schemas() < 6, "{} schemas", compiler.schemas());
    assert!(lts.alphabet().len() > N * N * N && lts.alphabet().contains(&LabelId::TAU));
}

const N: usize = 12;
