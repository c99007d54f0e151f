//! Rows in parts are the rows: processes compiled with parts that states share, and without, behave alike and make the
//! same mistakes, for random scripts with every operator.

#[path = "support/evaluation.rs"]
mod evaluation;

use std::sync::Arc;

use evaluation::prepare;
use trefoil_control::Control;
use trefoil_cspm::eval::{Evaluator, Failure, Options, Reason};
use trefoil_cspm::process::{CompileOptions, Compiler, Machine};
use trefoil_lts::Lts;
use trefoil_lts::equivalence::{Equivalence, compare};
use trefoil_lts::random::Random;
use trefoil_network::{Behaviour, compose};
use trefoil_system::Labels;

fn compiled(script: &str, process: &str, options: CompileOptions, labels: &Arc<Labels>) -> Result<Machine, Failure> {
    let evaluator = Evaluator::untyped(&prepare(script, &[process]), Control::unlimited(), Options::default());
    let mut compiler = Compiler::new(evaluator, labels.clone(), Control::unlimited(), options);
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

/// Whether a component of a machine has rows in parts.
fn is_shared(machine: &Machine) -> bool {
    let shared = |lts: &Lts| lts.shared().is_some();
    machine.network.components().iter().any(|component| match &component.behaviour {
        Behaviour::Explicit(lts) => shared(lts),
        Behaviour::Lazy(_) => false,
    })
}

/// The same with and without parts; whether there were parts, or a mistake.
fn agree(script: &str, process: &str, options: CompileOptions) -> (bool, bool) {
    let labels = Arc::new(Labels::new());
    let control = Control::unlimited();
    let [with, without] =
        [true, false].map(|share_rows| compiled(script, process, CompileOptions { share_rows, ..options }, &labels));
    let (with, without) = match (with, without) {
        (Ok(with), Ok(without)) => (with, without),
        (Err(with), Err(without)) => {
            assert_eq!(mistake(&with), mistake(&without), "{process} in\n{script}");
            return (false, true);
        }
        (with, without) => panic!("{:?} and {:?}: {process} in\n{script}", with.err(), without.err()),
    };
    assert!(!is_shared(&without));
    let [left, right] = [&with, &without]
        .map(|machine| compose(&machine.network, 1, &control).unwrap_or_else(|_| panic!("there is no budget")).lts);
    assert_eq!(left.state_count(), right.state_count(), "{process} in\n{script}");
    assert_eq!(left.transition_count(), right.transition_count(), "{process} in\n{script}");
    let same = compare(&left, &right, Equivalence::Strong, &control).expect("there is no budget").equivalent;
    assert!(same, "{process} in\n{script}");
    (is_shared(&with), false)
}

const VALUES: usize = 80;

/// A random process that may mention the variable `v` and calls `P(…)` and `Q(…)` after events.
fn process(random: &mut Random, depth: usize) -> String {
    let call = |random: &mut Random, variable: &str| match random.below(5) {
        0 | 1 => format!("P({variable})"),
        2 => format!("Q({variable})"),
        3 => "SKIP".to_string(),
        _ => format!("Q(({variable} + 1) % N)"),
    };
    if depth == 0 {
        let channel = ["c", "d", "e", "f", "g", "h"][random.below(6)];
        return match random.below(7) {
            0 | 1 => format!("({channel}?x -> {})", call(random, "x")),
            2 => format!("({channel}!v -> {})", call(random, "v")),
            3 => format!("({channel}?x:{{x | x <- Value, x != v}} -> {})", call(random, "x")),
            4 => format!("({channel}$x:{{0 .. 1}}?y -> {})", call(random, "y")),
            5 => format!("(stop -> {})", call(random, "v")),
            _ => format!("({channel}?x -> stop -> {})", call(random, "v")),
        };
    }
    let less = random.below(depth);
    let (one, two) = (process(random, depth - 1), process(random, less));
    match random.below(20) {
        0..=5 => format!("({one} [] {two})"),
        6 => format!("({one} |~| {two})"),
        7 => format!("({one} [> {two})"),
        8 => format!("(v < {} & {one})", random.below(VALUES)),
        9 => format!("({one} [] SKIP)"),
        10 => format!("(if v == {} then {one} else {two})", random.below(VALUES)),
        11 => format!("(([] w : {{0 .. 1}} @ d?x -> P((x + w) % N)) [] {one})"),
        12 => format!("({one} [] error{}(v))", random.below(2)),
        _ => format!("({one} [] k{depth}?x -> P(x))"),
    }
}

/// An operator around a process that recurses.
fn around(random: &mut Random, inner: &str) -> String {
    match random.below(11) {
        0 => format!("{inner} \\ {{| e |}}"),
        1 => format!("{inner} |\\ {{| c, d |}}"),
        2 => format!("{inner} [[ c <- d ]]"),
        3 => format!("{inner} [[ c.x <- c.((x + 1) % N) | x <- Value ]]"),
        4 => format!("({inner} ; stop -> SKIP)"),
        5 => format!("({inner} [| {{| e.1, stop |}} |> d?x -> STOP)"),
        6 => format!("({inner} /\\ stop -> STOP)"),
        7 => format!("({inner} [| {{| c |}} |] c?x -> c?y -> STOP)"),
        8 => format!("sbisim({inner})"),
        9 => format!("dbisim({inner})"),
        _ => inner.to_string(),
    }
}

#[test]
fn rows_in_parts_change_nothing() {
    let (mut shared, mut mistakes) = (0, 0);
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let first = process(&mut random, 2);
        let second = process(&mut random, 1);
        let wrong = random.below(VALUES);
        let script = format!(
            "transparent sbisim, dbisim\nN = {VALUES}\nValue = {{0 .. N - 1}}\nchannel c, d, e, f, g, h, k1, k2, out : Value\nchannel stop\n\
             error0(v) = if v > N then error(\"never\") else STOP\n\
             error1(v) = if v == {wrong} then error(\"wrong\") else STOP\n\
             P(v) = out!v -> P(v) [] {first}\nQ(v) = {second}\n"
        );
        let mut whole = "P(0)".to_string();
        for _ in 0..random.below(3) {
            whole = around(&mut random, &whole);
        }
        let options = CompileOptions {
            expand: random.chance(50),
            compress_leaves: random.chance(30),
            ..CompileOptions::default()
        };
        let (parts, mistake) = agree(&script, &whole, options);
        shared += usize::from(parts);
        mistakes += usize::from(mistake);
    }
    assert!(shared > 12 && mistakes > 5, "too little is tried: {shared} with parts, {mistakes} mistakes");
}

#[test]
fn a_memory_takes_the_room_of_its_values() {
    let script = "N = 500\nValue = {0 .. N - 1}\nchannel get, set : Value\nchannel lock, stop\n\
                  M(v) = get!v -> M(v) [] set?x -> M(x)\n\
                  L(v) = get!v -> L(v) [] set?x -> lock -> L(x)\n\
                  transparent sbisim, dbisim, normal\n";
    for process in ["M(0)", "L(0)", "M(0) \\ {| get |}", "M(0) [| {stop} |> STOP", "sbisim(M(0))", "dbisim(L(0))"] {
        let machine = compiled(script, process, CompileOptions::default(), &Arc::new(Labels::new()));
        let machine = machine.unwrap_or_else(|failure| panic!("{process}: {failure:?}"));
        let Behaviour::Explicit(lts) = &machine.network.components()[0].behaviour else { panic!("a leaf") };
        let rows = lts.shared().unwrap_or_else(|| panic!("{process} has rows in parts"));
        assert!(lts.transition_count() >= 500 * 500 && rows.stored() < 3_000, "{process}: {} stored", rows.stored());
    }
}
