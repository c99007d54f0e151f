//! Processes compiled to networks: what small ones do.

#[path = "support/evaluation.rs"]
mod evaluation;

use std::sync::Arc;

use evaluation::prepare;
use trefoil_control::Control;
use trefoil_cspm::eval::{Evaluator, Options};
use trefoil_cspm::process::{CompileOptions, Compiler, Machine};
use trefoil_network::{Behaviour, compose};
use trefoil_system::{Labels, System};

fn compile(script: &str, process: &str, options: CompileOptions) -> (Compiler, Machine) {
    let evaluator = Evaluator::untyped(&prepare(script, &[process]), Control::unlimited(), Options::default());
    let mut compiler = Compiler::new(evaluator, Arc::new(Labels::new()), Control::unlimited(), options);
    let value = compiler.evaluator().query(0).unwrap_or_else(|failure| panic!("{process}: {failure:?}"));
    let value = compiler.evaluator().process(value).unwrap_or_else(|failure| panic!("{process}: {failure:?}"));
    let machine = compiler.compile(&value).unwrap_or_else(|failure| panic!("{process}: {failure:?}"));
    (compiler, machine)
}

/// The transitions, states numbered as a breadth-first search meets them.
fn transitions(script: &str, process: &str, options: CompileOptions) -> Vec<String> {
    let (_, machine) = compile(script, process, options);
    let composed = compose(&machine.network, 1, &Control::unlimited()).unwrap_or_else(|_| panic!("no budget"));
    let labels = machine.network.labels().clone();
    let steps = composed.lts.all_transitions();
    let mut lines: Vec<String> =
        steps.map(|(source, step)| format!("{} {} {}", source.0, labels.get(step.label), step.target.0)).collect();
    lines.sort();
    lines
}

#[test]
fn small_processes_do_what_their_operators_say() {
    let script = "channel a, b, c, d\nchannel e, f : {0, 1}\nP = a -> b -> P\n";
    let cases: &[(&str, &[&str])] = &[
        ("STOP", &[]),
        ("SKIP", &["0 ✓ 1"]),
        ("P", &["0 a 1", "1 b 0"]),
        ("a -> STOP [] b -> STOP", &["0 a 1", "0 b 1"]),
        ("a -> STOP |~| b -> STOP", &["0 tau 1", "0 tau 2", "1 a 3", "2 b 3"]),
        ("a -> SKIP ; b -> STOP", &["0 a 1", "1 tau 2", "2 b 3"]),
        ("(a -> STOP) \\ {a}", &["0 tau 1"]),
        ("P [| {a} |] (a -> STOP)", &["0 a 1", "1 b 2"]),
        ("SKIP ||| SKIP", &["0 ✓ 1"]),
        ("e?x -> f!x -> STOP", &["0 e.0 1", "0 e.1 2", "1 f.0 3", "2 f.1 3"]),
        ("(a -> STOP) [[a <- b, a <- c]]", &["0 b 1", "0 c 1"]),
        ("(e?x -> STOP) [[e <- f]]", &["0 f.0 1", "0 f.1 1"]),
        ("RUN({a, b})", &["0 a 0", "0 b 0"]),
        ("CHAOS({a})", &["0 a 0", "0 tau 1"]),
        ("DIV", &["0 tau 0"]),
        ("(e!0 -> STOP) [e <-> f] (f?x -> if x == 0 then a -> STOP else STOP)", &["0 tau 1", "1 a 2"]),
        ("(a -> b -> STOP) [| {b} |> (c -> STOP)", &["0 a 1", "1 b 2", "2 c 3"]),
        ("(a -> STOP) /\\ (b -> STOP)", &["0 a 1", "0 b 2", "1 b 2"]),
        ("a -> STOP [] SKIP", &["0 a 2", "0 tau 1", "1 ✓ 2"]),
        ("BUFFER(1, {(a, b)})", &["0 a 1", "1 b 0"]),
    ];
    for (process, expected) in cases {
        for expand in [false, true] {
            let options = CompileOptions { expand, ..CompileOptions::default() };
            assert_eq!(transitions(script, process, options), *expected, "{process}, expanded: {expand}");
        }
    }
}

/// A process with formats, and the same explored as a whole, are strongly bisimilar.
#[test]
fn formats_behave_like_the_whole() {
    use trefoil_lts::equivalence::{Equivalence, compare};
    // Twelve counters side by side have 4 096 states, too many for a leaf.
    let script = "channel up, down : {1..12}\nchannel start, again, stop, error\n\
                  C(i) = up.i -> down.i -> C(i)\n\
                  ONCE(i) = up.i -> SKIP\n\
                  ALL = ||| i : {1..12} @ C(i)\n\
                  SOME = ||| i : {1..12} @ ONCE(i)\n\
                  LOOP = SOME ; again -> LOOP\n\
                  ROUND = start -> (ALL /\\ stop -> ROUND)\n\
                  TWO = (start -> ALL) [] (again -> SOME ; stop -> SKIP)\n\
                  MAYBE = ALL [| {| down.3 |} |> (error -> STOP)\n\
                  SLIDE = SOME [> (stop -> SKIP)\n";
    for process in ["ALL", "SOME", "LOOP", "ROUND", "TWO", "MAYBE", "SLIDE", "SOME ; SOME", "SOME [] (stop -> STOP)"] {
        let (mut compiler, machine) = compile(script, process, CompileOptions::default());
        assert!(machine.network.components().len() >= 12, "{process} is a network");
        let control = Control::unlimited();
        let network = compose(&machine.network, 1, &control).unwrap_or_else(|_| panic!("no budget"));
        compiler.set_options(CompileOptions { expand: true, ..CompileOptions::default() });
        let value = compiler.evaluator().query(0).expect("a value");
        let value = compiler.evaluator().process(value).expect("a process");
        let whole = compiler.compile(&value).unwrap_or_else(|failure| panic!("{process}: {failure:?}"));
        assert_eq!(whole.network.components().len(), 1);
        let whole = compose(&whole.network, 1, &control).unwrap_or_else(|_| panic!("no budget"));
        let same = compare(&network.lts, &whole.lts, Equivalence::Strong, &control).expect("no budget").equivalent;
        assert!(same, "{process} differs from itself as a whole");
    }
}

#[test]
fn a_process_may_be_given_to_itself() {
    let script = "channel a, b\nF(X) = a -> X\nP = F(P)\nQ(n) = F(Q(n))\n\
                  G(X) = b -> X\nR(n) = G(F(R((n + 1) % 3)))\n\
                  H(X, Y) = (a -> X) [] (b -> Y)\nS = H(S, T)\nT = H(T, S)\n";
    for (process, expected) in
        [("P", &["0 a 0"][..]), ("Q(1)", &["0 a 0"]), ("R(0)", &["0 b 1", "1 a 0"]), ("S", &["0 a 0", "0 b 0"])]
    {
        assert_eq!(transitions(script, process, CompileOptions::default()), expected, "{process}");
    }
}

#[test]
fn timed_processes_let_time_pass() {
    let script = "channel tock, a\nTimed(\\ _ @ 1) {\n  P = STOP\n  Q = false & P\n  R = a -> SKIP\n}\n";
    let cases: &[(&str, &[&str])] = &[
        ("P", &["0 tock 0"]),
        ("Q", &["0 tock 0"]),
        ("R", &["0 a 1", "0 tock 0", "1 tock 2", "2 tau 3", "2 tock 2", "3 ✓ 4"]),
        ("a -> P", &["0 a 1", "1 tock 1"]),
    ];
    for (process, expected) in cases {
        let options = CompileOptions { expand: true, ..CompileOptions::default() };
        assert_eq!(transitions(script, process, options), *expected, "{process}");
    }
}

const COMPRESSED: &str = "channel a, b, c\n\
    transparent sbisim, dbisim, wbisim, normal, diamond, explicate, tau_loop_factor, model_compress\n\
    P = a -> b -> P\nQ = a -> b -> Q2\nQ2 = a -> b -> Q\nZ = a -> a -> b -> Z\n\
    R = a -> (b -> R |~| c -> R)\nearly = a -> b -> STOP [] a -> c -> STOP\n";

#[test]
fn compressions_change_nothing_that_can_be_seen() {
    let cases: &[(&str, &[&str])] = &[
        ("dbisim(P)", &["0 a 1", "1 b 0"]),
        ("dbisim((a -> b -> STOP) \\ {a})", &["0 b 1"]),
        ("explicate((a -> b -> STOP) \\ {a})", &["0 tau 1", "1 b 2"]),
        ("tau_loop_factor(((a -> b -> DIV) ||| DIV) \\ {a})", &["0 tau 0", "0 tau 1", "1 b 2", "1 tau 1", "2 tau 2"]),
        ("normal(a -> STOP [] a -> b -> STOP)", &["0 a 1", "0 a 2", "2 b 1"]),
        ("sbisim(dbisim(P) [| {a, b} |] wbisim(Q)) \\ {b}", &["0 a 1", "1 tau 0"]),
        // The rules around both are the same, what they do is not.
        ("dbisim(P) [| {a, b} |] dbisim(Z)", &["0 a 1"]),
        ("dbisim(a -> SKIP) ; normal(P)", &["0 a 1", "1 tau 2", "2 a 3", "3 b 2"]),
    ];
    for (process, expected) in cases {
        for threads in [1, 2] {
            let options = CompileOptions { threads, ..CompileOptions::default() };
            assert_eq!(transitions(COMPRESSED, process, options), *expected, "{process}");
        }
    }
}

#[test]
fn equal_parts_are_compressed_once() {
    let together = "normal(R) [| {a} |] dbisim(P) [| {a} |] dbisim(Q)";
    for threads in [1, 2] {
        let options = CompileOptions { threads, ..CompileOptions::default() };
        let (_, machine) = compile(COMPRESSED, together, options);
        let components = machine.network.components();
        assert_eq!(components.len(), 3);
        let lts = |at: usize| match &components[at].behaviour {
            Behaviour::Explicit(lts) => lts.clone(),
            Behaviour::Lazy(_) => panic!("a machine was made"),
        };
        assert!(Arc::ptr_eq(&lts(1), &lts(2)), "P and Q are the same machine");
    }
}

#[test]
fn a_layer_is_refused_wherever_states_were_merged() {
    let script = format!("external chase, deter\n{COMPRESSED}");
    let refused = |process: &str| {
        let typed = prepare(&script, &[process]);
        let evaluator = Evaluator::untyped(&typed, Control::unlimited(), Options::default());
        let labels = Arc::new(Labels::new());
        let mut compiler = Compiler::new(evaluator, labels, Control::unlimited(), CompileOptions::default());
        let value = compiler.evaluator().query(0).expect("a value");
        let value = compiler.evaluator().process(value).expect("a process");
        compiler.compile(&value).is_err()
    };
    for inner in
        ["normal(R)", "dbisim(normal(R) ||| P)", "diamond(R) ; P", "sbisim(c -> model_compress(R))", "deter(R)"]
    {
        assert!(refused(&format!("chase({inner})")), "{inner}");
    }
    for inner in ["dbisim(R)", "wbisim(R) ||| sbisim(P)", "tau_loop_factor(R)", "explicate(R)"] {
        assert!(!refused(&format!("chase({inner})")), "{inner}");
    }
}

#[test]
fn recursion_that_does_not_end_says_why() {
    let script = "transparent sbisim\nexternal chase, loop\nchannel a, b\nP = P [] a -> STOP\nQ = a -> sbisim(Q)\nR = chase(R)\n\
                  S = loop(S)\nT = a -> (T ; b -> SKIP)\nU = a -> (U ||| U)\n";
    let unguarded = "this process calls itself before it performs an event";
    let cases = [
        ("P", unguarded),
        ("S", unguarded),
        ("Q", "the argument of `sbisim` calls it recursively"),
        ("R", "the argument of `chase` calls it recursively"),
        ("T", "this process grows"),
        ("U", "this process grows"),
    ];
    for (process, why) in cases {
        let typed = prepare(script, &[process]);
        let evaluator = Evaluator::untyped(&typed, Control::unlimited(), Options::default());
        let labels = Arc::new(Labels::new());
        let mut compiler = Compiler::new(evaluator, labels, Control::unlimited(), CompileOptions::default());
        let value = compiler.evaluator().query(0).expect("a value");
        let value = compiler.evaluator().process(value).expect("a process");
        let failure = compiler.compile(&value).err().unwrap_or_else(|| panic!("{process} is finite"));
        assert!(format!("{failure:?}").contains(why), "{process}: {failure:?}");
    }
}

#[test]
fn what_was_compiled_differently_is_compressed_anew() {
    let (mut compiler, _) = compile(COMPRESSED, "dbisim(P) [| {a} |] normal(R)", CompileOptions::default());
    let before = compiler.labels().len();
    for compress_leaves in [false, true, false] {
        compiler.set_options(CompileOptions { compress_leaves, ..CompileOptions::default() });
        let value = compiler.evaluator().query(0).expect("the process");
        let value = compiler.evaluator().process(value).expect("the process");
        let machine = compiler.compile(&value).expect("it compiles");
        assert_eq!(machine.network.components().len(), 2);
    }
    assert_eq!(compiler.labels().len(), before);
}
