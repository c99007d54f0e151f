//! Interruption at every poll: whatever a stop cuts short is not remembered.
//!
//! Each check is run with a control that stops it at its n-th poll, for every n or for many that are spread over them,
//! as each kind of stop; then the same session checks again without a limit. Its answer (verdict, counts, witness)
//! must be that of a fresh session. A layer, a cache or a compiled process that keeps a half-finished result fails this
//! test.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use trefoil_control::{Control, Stopped};
use trefoil_session::check::{Algorithm, AnyScript, Asked, AssertionReport, Store, SymmetryUse};
use trefoil_session::look::{Looking, Showing, structure};
use trefoil_session::{Job, Verdict};

/// How many polls of one check are stopped at, for each kind of stop, unless `TREFOIL_POLLS` says how many: 10 000 take
/// minutes and belong to a run by hand.
const SPREAD: u64 = 30;

fn spread() -> u64 {
    std::env::var("TREFOIL_POLLS").ok().and_then(|polls| polls.parse().ok()).unwrap_or(SPREAD)
}

const STOPS: [Stopped; 3] =
    [Stopped::Interrupted, Stopped::Timeout { limit: Duration::from_secs(1) }, Stopped::Memory { limit: 1 << 40 }];

/// Refinement in every model, the properties of one process, and what compiling can do to processes.
const PROCESSES: &str = "
channel a, b, c, bad : {0..2}
N = 3
COUNT(n) = a!0 -> COUNT((n+1)%4) [] b!1 -> COUNT(n) [] n == 3 & c!2 -> STOP
PAIR = COUNT(0) ||| COUNT(1)
MANY = ||| i : {0..2} @ (a.i -> b.i -> c.i -> SKIP)
HIDDEN = MANY \\ {|b|}
LOOSE = |~| x : {|a, b, c|} @ x -> LOOSE
RUN(A) = [] x : A @ x -> RUN(A)
DIVERGING = (a.0 -> b.0 -> DIVERGING) \\ {b.0}
CIRCLE = let C = b.0 -> C within (a.0 -> C) \\ {b.0}
CHOICE = a.0 -> (b.0 -> STOP |~| c.0 -> STOP)
transparent sbisim, normal, diamond, tau_loop_factor, wbisim
COMPRESSED = normal(MANY) [| {|a|} |] sbisim(diamond(HIDDEN))
assert RUN({|a, b, c|}) [T= PAIR
assert LOOSE [F= MANY
assert LOOSE [FD= HIDDEN
assert COUNT(0) [T= PAIR
assert HIDDEN [FD= HIDDEN
assert PAIR :[deadlock free [F]]
assert CIRCLE :[divergence free]
assert DIVERGING :[divergence free]
assert CHOICE :[deterministic [FD]]
assert COUNT(0) :[deterministic [F]]
assert MANY :[has trace]: <a.0, a.1, b.1>
assert COMPRESSED :[deadlock free [FD]]
assert RUN({|a|}) [T= COMPRESSED
";

/// Layers whose states are found while exploring, at the top and inside other processes.
const LAYERS: &str = "
external chase, prioritise
channel up, go, low, high : {0..1}
channel out : {0..15}
BITS = 4
channel carry : {0..BITS}
BIT(i) = carry.i -> ONE(i)
ONE(i) = carry.i -> carry.(i+1) -> BIT(i)
LAST = carry.BITS -> out.0 -> STOP
TICKS = (|| i : {0..BITS-1} @ [{carry.i, carry.(i+1)}] BIT(i)) [| {carry.BITS} |] LAST
CLOCK(n) = n > 0 & carry.0 -> CLOCK(n-1)
COUNTER = (TICKS [| {carry.0} |] CLOCK(40)) \\ {|carry|}
CHASED = chase(COUNTER)
BEHIND = go.0 -> chase(go.1 -> COUNTER)
EITHER = low.0 -> high.0 -> EITHER [] high.1 -> EITHER
URGENT = prioritise(EITHER, <{|high|}, {|low|}>)
BOTH = BEHIND [| {|go|} |] (go.0 -> go.1 -> URGENT)
assert STOP [T= CHASED
assert STOP [T= CHASED
assert BEHIND :[has trace]: <go.0, go.1, out.0>
assert BEHIND :[deadlock free [F]]
assert BOTH :[divergence free]
assert URGENT :[deterministic [F]]
assert RUN({|high|}) [T= BOTH
RUN(A) = [] x : A @ x -> RUN(A)
";

/// Processes that are alike.
const SYMMETRIC: &str = "
datatype Id = A | B | C
channel in, out : Id
CELL(x) = in.x -> out.x -> CELL(x)
ALL = ||| x : Id @ CELL(x)
SPEC = [] x : Id @ in.x -> SPEC [] out.x -> SPEC
TURNS = in?x -> out!x -> TURNS
assert SPEC [T= ALL
assert TURNS [T= ALL
assert ALL :[deadlock free [F]]
assert ALL :[divergence free]
assert ALL :[deterministic [FD]]
";

/// Assertions, end states and processes that are started while it runs.
const MODEL: &str = "
mtype = { ask, answer }
chan link = [0] of { mtype, byte }
chan store = [2] of { byte }
byte x, done
proctype Child(byte n) { atomic { x = x + n; store!n }; done++ }
active proctype Sender() { byte i; do :: i < 3 -> link!ask(i); i++ :: i == 3 -> break od; run Child(2) }
active proctype Receiver() { byte v; do :: link?ask(v) -> run Child(v) :: timeout -> break od; assert(done < 4) }
";

/// Interchangeable processes, and a long atomic sequence.
const ALIKE: &str = "
byte busy, n
active [3] proctype P() {
  do
  :: atomic { busy == 0 -> busy = 1 };
     d_step { n = 0; do :: n < 200 -> n++ :: else -> break od };
     assert(busy == 1); busy = 0
  od
}
";

fn write(name: &str, text: &str) -> PathBuf {
    let file = std::env::temp_dir().join(format!("trefoil-polls-{}-{name}", std::process::id()));
    std::fs::write(&file, text).expect("the folder for such files can be written");
    file
}

fn open(file: &Path) -> AnyScript {
    let job = Job::new(Control::unlimited(), 1);
    AnyScript::open(file, None, &job).unwrap_or_else(|wrong| panic!("{}", wrong.render(false)))
}

/// What is to be the same: everything but times, memory and the numbers of events, which depend on earlier
/// checks.
fn told(report: &AssertionReport) -> Value {
    let mut told = serde_json::to_value(report).expect("reports can be written");
    let fields = told.as_object_mut().expect("a report is an object");
    for varying in ["compile_seconds", "check_seconds", "peak_memory_bytes", "counterexamples"] {
        fields.remove(varying);
    }
    told
}

/// Compares two reports field by field, so that a difference can be read.
fn must_be_same(found: &Value, expected: &Value, context: &str) {
    let fields = |report: &Value| report.as_object().expect("a report is an object").clone();
    let (found, expected) = (fields(found), fields(expected));
    let names = |fields: &serde_json::Map<String, Value>| fields.keys().cloned().collect::<Vec<String>>();
    assert_eq!(names(&found), names(&expected), "{context}");
    for (name, value) in &expected {
        let texts = [&found[name], value].map(|value| value.to_string().chars().take(2000).collect::<String>());
        assert!(found[name] == *value, "{context}: {name} is\n{}\nand should be\n{}", texts[0], texts[1]);
    }
}

fn stop_everywhere(name: &str, text: &str, options: &Asked, threads: usize) {
    let file = write(name, text);
    let count = open(&file).assertions().len();
    let mut stopped = 0;
    for index in 1..=count {
        let job = |control| Job::new(control, threads);
        let counting = Control::stopping_at(0, Stopped::Interrupted);
        let mut script = open(&file);
        let expected = script.run(index, options, &job(counting.clone()));
        let other = 1 + index % count;
        let expected_beside = told(&script.run(other, options, &job(Control::unlimited())));
        let finished = expected.verdict != Verdict::Error && expected.unfinished.is_none();
        assert!(finished, "{name} {index}: {expected:?}");
        let polls = counting.polls();
        let expected = told(&expected);
        for reason in STOPS {
            for poll in (1..=polls).step_by(1 + (polls / spread()) as usize) {
                let mut script = open(&file);
                let cut = script.run(index, options, &job(Control::stopping_at(poll, reason)));
                let context =
                    format!("{name}, assertion {index}, {threads} threads, {reason:?} at poll {poll} of {polls}");
                // With several threads a check may be through before the poll.
                if cut.unfinished.is_some() {
                    assert_eq!(cut.verdict, Verdict::Unknown, "{context}");
                    stopped += 1;
                } else {
                    must_be_same(&told(&cut), &expected, &context);
                }
                let again = script.run(index, options, &job(Control::unlimited()));
                must_be_same(&told(&again), &expected, &format!("asked again after {context}"));
                // What another assertion shares with the one that was cut must be whole as well.
                let beside = script.run(other, options, &job(Control::unlimited()));
                must_be_same(&told(&beside), &expected_beside, &format!("assertion {other} after {context}"));
            }
        }
    }
    assert!(stopped > 10 * count, "{name}: only {stopped} stops");
    let _ = std::fs::remove_file(file);
}

fn with(change: impl FnOnce(&mut Asked)) -> Asked {
    let mut options = Asked::default();
    change(&mut options);
    options
}

#[test]
fn refinement_and_properties() {
    for algorithm in Algorithm::ALL {
        let options = with(|options| options.algorithm = Some(algorithm));
        stop_everywhere(&format!("{}.csp", algorithm.name()), PROCESSES, &options, 1);
    }
    stop_everywhere("two.csp", PROCESSES, &Asked::default(), 2);
    stop_everywhere("leaves.csp", PROCESSES, &with(|options| options.no_leaf_compression = true), 1);
    stop_everywhere("order.csp", PROCESSES, &with(|options| options.partial_order = Some(true)), 1);
}

#[test]
fn layers() {
    for threads in [1, 2] {
        stop_everywhere(&format!("layers{threads}.csp"), LAYERS, &Asked::default(), threads);
    }
}

#[test]
fn symmetry() {
    for threads in [1, 2] {
        stop_everywhere(&format!("symmetric{threads}.csp"), SYMMETRIC, &Asked::default(), threads);
        stop_everywhere(&format!("alike{threads}.pml"), ALIKE, &Asked::default(), threads);
    }
}

#[test]
fn models() {
    for threads in [1, 2] {
        stop_everywhere(&format!("model{threads}.pml"), MODEL, &Asked::default(), threads);
    }
    let plain = with(|options| options.symmetry = Some(SymmetryUse::Off));
    stop_everywhere("plain.pml", ALIKE, &plain, 1);
    stop_everywhere("all.pml", MODEL, &with(|options| options.keep_going = true), 1);
    stop_everywhere("compact.pml", MODEL, &with(|options| options.store = Some(Store::HashCompact)), 1);
}

/// A process that is looked at is named while it is compiled.
#[test]
fn a_stopped_look_names_its_process() {
    let file = write("look.csp", PROCESSES);
    let expression = Some("sbisim(MANY) ||| PAIR".to_string());
    let task = Looking { file: file.clone(), expression, language: None, compress_leaves: true };
    let look = |poll: u64| {
        let job = Job::new(Control::stopping_at(poll, Stopped::Interrupted), 1);
        let done = structure(&task, &Showing::Parts(None), &job).is_ok();
        (done, job.control.polls(), job.control.progress().snapshot().phase)
    };
    let (done, polls, _) = look(0);
    assert!(done && polls > SPREAD);
    let spread = (1..=polls).step_by((polls / 200).max(1) as usize);
    let phases: Vec<String> = spread.map(|poll| look(poll).2).filter(|phase| phase.contains("compiling")).collect();
    assert!(!phases.is_empty());
    assert!(phases.iter().all(|phase| phase.starts_with("compiling sbisim(MANY) ||| PAIR")), "{phases:?}");
    let _ = std::fs::remove_file(file);
}
