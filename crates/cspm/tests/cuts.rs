//! Compilations that are stopped: asked again without a limit, the compiler gives the network that a fresh one gives.

#[path = "support/evaluation.rs"]
mod evaluation;

use std::sync::Arc;
use std::time::Duration;

use evaluation::prepare;
use trefoil_control::{Control, Stopped};
use trefoil_cspm::eval::{Evaluator, Options, Reason};
use trefoil_cspm::process::{CompileOptions, Compiler};
use trefoil_network::compose;
use trefoil_system::{Cut, Labels, System};

/// A counter that counts by `τ` when all but the last event are hidden.
const SCRIPT: &str = "
external chase, prioritise, trace_watchdog
transparent sbisim, dbisim, normal, diamond
N = 8
channel inc : {0..N}
channel go, a, b, bark
BIT(i) = inc.i -> inc?k:{i+1..N} -> BIT(i)
COUNT = (|| i : {0..N-1} @ [{inc.k | k <- {i..N}}] BIT(i)) \\ {inc.k | k <- {0..N-1}}
LATER = go -> COUNT
CHOICE = a -> CHOICE [] b -> go -> CHOICE
";

const PROCESSES: [&str; 10] = [
    "chase(COUNT)",
    "chase(LATER)",
    "chase(LATER) [| {go} |] (go -> STOP)",
    "chase(chase(LATER) [| {go} |] CHOICE)",
    "prioritise(CHOICE ||| CHOICE, <{go}, {a, b}>)",
    "prioritise(chase(LATER) ||| CHOICE, <{inc.8}, {a, b}>)",
    "chase(prioritise(CHOICE ||| CHOICE, <{go}, {a, b}>) \\ {a})",
    "sbisim(chase(LATER)) [| {go} |] diamond(prioritise(CHOICE, <{go}, {a, b}>))",
    "trace_watchdog(chase(LATER), {go, inc.8}, bark)",
    "normal(dbisim(chase(LATER)) ||| CHOICE)",
];

const REASONS: [Stopped; 3] =
    [Stopped::Interrupted, Stopped::Timeout { limit: Duration::from_secs(1) }, Stopped::Memory { limit: 1 << 40 }];

/// Layers with more states than this stay lazy.
fn compiler(process: &str, leaf_states: usize, control: &Control) -> Compiler {
    let evaluator = Evaluator::untyped(&prepare(SCRIPT, &[process]), control.clone(), Options::default());
    let options = CompileOptions { leaf_states, ..CompileOptions::default() };
    Compiler::new(evaluator, Arc::new(Labels::new()), control.clone(), options)
}

/// The transitions, or why there are none.
fn transitions(compiler: &mut Compiler, control: &Control) -> Result<Vec<String>, Stopped> {
    let value = compiler.evaluator().query(0).and_then(|value| compiler.evaluator().process(value));
    let machine = value.and_then(|value| compiler.compile(&value)).map_err(|failure| match failure.reason() {
        Reason::Stopped(stopped) => *stopped,
        Reason::Mistake(mistake) => panic!("{mistake:?}"),
    })?;
    let composed = compose(&machine.network, 1, control).map_err(|unfinished| {
        assert_eq!(unfinished.cut, Cut::Stopped);
        control.why()
    })?;
    let labels = machine.network.labels();
    let steps = composed.lts.all_transitions();
    Ok(steps.map(|(source, step)| format!("{} {} {}", source.0, labels.get(step.label), step.target.0)).collect())
}

#[test]
fn a_compilation_that_was_stopped_is_done_again() {
    for (process, leaf_states) in PROCESSES.into_iter().flat_map(|process| [(process, 1), (process, 4000)]) {
        let compiler = |control: &Control| compiler(process, leaf_states, control);
        let counting = Control::stopping_at(0, Stopped::Interrupted);
        let expected = transitions(&mut compiler(&counting), &counting).expect("nothing stops it");
        let polls = counting.polls();
        assert!(polls > 20, "{process}: {polls} polls");
        for poll in (1..=polls).step_by(polls.div_ceil(60) as usize) {
            let reason = REASONS[poll as usize % REASONS.len()];
            let control = Control::stopping_at(poll, reason);
            let mut compiler = compiler(&control);
            let context = format!("{process}: poll {poll} of {polls}");
            assert_eq!(transitions(&mut compiler, &control), Err(reason), "{context}");
            let unlimited = Control::unlimited();
            compiler.set_control(unlimited.clone());
            assert_eq!(transitions(&mut compiler, &unlimited).as_ref(), Ok(&expected), "{context}");
        }
    }
}
