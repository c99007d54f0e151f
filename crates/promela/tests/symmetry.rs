//! Symmetries of models: each is an automorphism of the explicit state space, quotients have one state for each orbit,
//! and models that break a restriction lose the symmetries that it breaks.

mod support;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use support::compile;
use trefoil_control::Control;
use trefoil_explore::{End, Finding, Options, Order, Proviso, Reducing, Visited, Visitor, search, search_reducing};
use trefoil_promela::symmetry::{Symmetric, Symmetries, symmetries};
use trefoil_promela::{FaultKind, Model};
use trefoil_symmetry::{Quotient, Symmetry, Tally, UBig, strategy_named};
use trefoil_system::{Cut, Edge, Explorer, Picture, System, Value};
use trefoil_testkit::promela_symmetric::{SHAPES, random_symmetric_program};
use trefoil_testkit::{Random, seed};

fn found(text: &str) -> Symmetries {
    let (program, diagnostics, _) = compile("model.pml", text);
    let program = program.unwrap_or_else(|| panic!("{diagnostics:?}\n{text}"));
    symmetries(&Arc::new(program), &Control::unlimited()).expect("no budget")
}

fn order(symmetric: &Symmetric) -> UBig {
    let action = symmetric.action().expect("it has one");
    let strategy = strategy_named("auto").expect("there is one");
    Symmetry::of_action(action, strategy, &Control::unlimited()).unwrap_or_else(|why| panic!("{why}")).order()
}

type Steps = BTreeMap<(Vec<Value>, Option<FaultKind>), usize>;

/// The explicit state space, straight from the successors.
struct Space {
    states: Vec<Vec<Value>>,
    number: HashMap<Vec<Value>, usize>,
    steps: Vec<Steps>,
    ends: Vec<bool>,
}

const MOST: usize = 8_000;

fn space(model: &Model) -> Option<Space> {
    let control = Control::unlimited();
    let initial = model.initial(&control).expect("no budget");
    let mut space =
        Space { states: vec![initial.clone()], number: HashMap::new(), steps: Vec::new(), ends: Vec::new() };
    space.number.insert(initial, 0);
    let mut explorer = model.explorer(&control);
    while space.steps.len() < space.states.len() {
        let row = space.states[space.steps.len()].clone();
        let mut steps = Steps::new();
        let walk = explorer.successors(&row, &mut |step| {
            *steps.entry((step.row.to_vec(), model.fault(step.label).map(|fault| fault.kind))).or_default() += 1;
            Ok(())
        });
        assert_eq!(walk, Ok(()));
        for (target, _) in steps.keys() {
            if !space.number.contains_key(target) {
                space.number.insert(target.clone(), space.states.len());
                space.states.push(target.clone());
            }
        }
        space.ends.push(steps.is_empty() && !model.is_valid_end(&row));
        space.steps.push(steps);
        if space.states.len() > MOST {
            return None;
        }
    }
    Some(space)
}

/// Every generator is an automorphism; the number of orbits is returned.
fn check_automorphisms(symmetric: &Symmetric, space: &Space, text: &str) -> usize {
    let action = symmetric.action().expect("it has one");
    let control = Control::unlimited();
    let mut actor = action.actor(&control);
    let mut image = vec![0; space.states[0].len()];
    let mut orbit_of: Vec<usize> = (0..space.states.len()).collect();
    fn root(orbit_of: &mut [usize], mut at: usize) -> usize {
        while orbit_of[at] != at {
            orbit_of[at] = orbit_of[orbit_of[at]];
            at = orbit_of[at];
        }
        at
    }
    for generator in action.generators() {
        for at in 0..space.states.len() {
            actor.apply(generator, &space.states[at], &mut image).expect("nothing cuts it");
            let other = *space.number.get(&image).unwrap_or_else(|| {
                panic!(
                    "{generator:?} leaves the states: {} became {}\n{text}",
                    symmetric.describe(&space.states[at]),
                    symmetric.describe(&image)
                )
            });
            assert_eq!(space.ends[at], space.ends[other], "{text}");
            if !symmetric.is_started(&space.states[at]) {
                assert_eq!(at, other, "states of the start are left alone\n{text}");
                continue;
            }
            let mut images = Steps::new();
            for ((target, fault), count) in &space.steps[at] {
                let mut moved = vec![0; target.len()];
                actor.apply(generator, target, &mut moved).expect("nothing cuts it");
                *images.entry((moved, *fault)).or_default() += count;
            }
            assert_eq!(images, space.steps[other], "{generator:?}\n{text}");
            let (one, two) = (root(&mut orbit_of, at), root(&mut orbit_of, other));
            orbit_of[one] = two;
        }
    }
    assert_eq!(root(&mut orbit_of, 0), 0, "the initial state is kept");
    (0..orbit_of.len()).map(|at| root(&mut orbit_of, at)).collect::<BTreeSet<_>>().len()
}

/// The edges of a picture, sorted; each is there once.
fn edges(picture: &Picture) -> BTreeSet<Edge> {
    let edges: BTreeSet<Edge> = picture.edges().iter().copied().collect();
    assert_eq!(edges.len(), picture.edges().len(), "an edge is drawn twice");
    edges
}

/// How a picture changes along a step is what makes of the picture of its source that of its target. How many changes
/// were drawn, and how many there were.
fn check_changes(symmetric: &Symmetric, space: &Space, text: &str) -> (usize, usize) {
    let action = symmetric.action().expect("it has one");
    let control = Control::unlimited();
    let (mut actor, mut plain) = (action.actor(&control), action.actor(&control));
    let [mut begun, mut target, mut before, mut after] = [(); 4].map(|()| Picture::default());
    let (mut drawn, mut steps) = (0, 0);
    for (row, targets) in space.states.iter().zip(&space.steps) {
        actor.begin(row, &mut begun);
        plain.picture(row, &mut target);
        assert_eq!(begun, target, "{text}");
        for (to, _) in targets.keys() {
            steps += 1;
            let differs = |&slot: &u32| row[slot as usize] != to[slot as usize];
            let slots: Vec<u32> = (0..row.len() as u32).filter(differs).collect();
            if !actor.draw_change(row, to, &slots, &mut before, &mut after) {
                // It must not be taken aback by drawing another row in between.
                actor.picture(to, &mut target);
                continue;
            }
            drawn += 1;
            plain.picture(to, &mut target);
            let told = format!("{}\n{}\n{text}", symmetric.describe(row), symmetric.describe(to));
            assert_eq!((before.vertices(), after.vertices()), (action.points(), action.points()), "{told}");
            assert_eq!(begun.colours()[action.points()..], target.colours()[action.points()..], "{told}");
            for point in 0..action.points() {
                let colour = begun.colours()[point] - before.colours()[point] + after.colours()[point];
                assert_eq!(colour, target.colours()[point], "point {point}\n{told}");
            }
            let (gone, come) = (edges(&before), edges(&after));
            assert!(gone.is_subset(&edges(&begun)), "{told}");
            let changed: BTreeSet<Edge> = edges(&begun).difference(&gone).chain(&come).copied().collect();
            assert_eq!(changed, edges(&target), "{told}");
        }
    }
    (drawn, steps)
}

const EXACT: &[&str] = &["auto", "canonical", "enumerate", "stabiliser"];

#[derive(Default)]
struct Count {
    tally: Tally,
}

impl Visitor for Count {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        state.steps.iter().filter(|edge| edge.fresh).for_each(|edge| self.tally.note(edge.class));
        Ok(Finding::Nothing)
    }
}

/// The quotient has one state for each orbit, and they stand for all states.
fn check_quotients(symmetric: &Symmetric, space: &Space, orbits: usize, text: &str) {
    let control = Control::unlimited();
    let action = symmetric.action().expect("it has one");
    for name in EXACT.iter().chain(&["segmented", "sorted", "ordering", "fast", "hillclimbing"]) {
        let strategy = strategy_named(name).expect("there is one");
        let Ok(symmetry) = Symmetry::of_action(action, strategy, &control) else { continue };
        let mut quotient = Quotient::new(symmetric, action, &symmetry, &control).expect("no budget");
        quotient.count(|_| true);
        let options = Options { threads: 1, order: Order::Steps, ..Options::default() };
        let explored = search(&quotient, &options, &control, Count::default);
        assert_eq!(explored.end, End::Complete);
        if EXACT.contains(name) || *name == "segmented" {
            assert_eq!(explored.counts.states as usize, orbits, "{name}\n{text}");
            if let Some(total) = quotient.total(explored.visitors.iter().map(|count| &count.tally)) {
                assert_eq!(total, UBig::from(space.states.len()), "{name}\n{text}");
            }
        } else {
            assert!(explored.counts.states as usize >= orbits, "{name}\n{text}");
            assert!(explored.counts.states as usize <= space.states.len(), "{name}\n{text}");
        }
        for proviso in [Proviso::One, Proviso::All] {
            let reducing = Reducing { visible: &[], proviso };
            let verdicts = || Verdicts { model: symmetric.model(), faults: BTreeSet::new(), ends: false };
            let fewer = search_reducing(&quotient, &options, Some(reducing), &control, verdicts);
            assert_eq!(fewer.end, End::Complete);
            assert!(fewer.counts.states <= explored.counts.states, "{name}\n{text}");
            let found = &fewer.visitors[0];
            assert_eq!((found.faults.clone(), found.ends), self::verdicts(space), "{name}, {proviso:?}\n{text}");
        }
    }
}

/// What a search in which independent steps are taken in one order has to find.
struct Verdicts<'m> {
    model: &'m Model,
    faults: BTreeSet<FaultKind>,
    ends: bool,
}

impl Visitor for Verdicts<'_> {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.faults.extend(state.steps.iter().filter_map(|edge| self.model.fault(edge.label)).map(|fault| fault.kind));
        self.ends |= state.steps.is_empty() && !self.model.is_valid_end(state.row);
        Ok(Finding::Nothing)
    }
}

/// What the original and the one whose processes stay have in common: the faults, and whether there is an invalid end.
fn verdicts(space: &Space) -> (BTreeSet<FaultKind>, bool) {
    let faults = space.steps.iter().flat_map(|steps| steps.keys().filter_map(|(_, fault)| *fault)).collect();
    (faults, space.ends.contains(&true))
}

/// Steps that were looked at, and those whose changes were drawn.
static STEPS: AtomicUsize = AtomicUsize::new(0);
static CHANGES: AtomicUsize = AtomicUsize::new(0);

/// Everything that is to be checked about a model; the order of its group, and how many states and orbits it has.
fn check(text: &str) -> (UBig, usize, usize) {
    let symmetries = found(text);
    let Some(symmetric) = &symmetries.symmetric else { return (UBig::ONE, 0, 0) };
    let Some(explicit) = space(symmetric.model()) else { return (order(symmetric), 0, 0) };
    let orbits = check_automorphisms(symmetric, &explicit, text);
    check_quotients(symmetric, &explicit, orbits, text);
    let (drawn, steps) = check_changes(symmetric, &explicit, text);
    CHANGES.fetch_add(drawn, Ordering::Relaxed);
    STEPS.fetch_add(steps, Ordering::Relaxed);
    if symmetric.model().keeps_processes() {
        let (program, ..) = compile("model.pml", text);
        if let Some(original) = space(&support::roomy(program.expect("it compiles"))) {
            assert_eq!(verdicts(&original), verdicts(&explicit), "{text}");
        }
    }
    (order(symmetric), explicit.states.len(), orbits)
}

fn has_order(text: &str, expected: u64) {
    let (found, ..) = check(text);
    assert_eq!(found, UBig::from(expected), "{:?}\n{text}", self::found(text).reasons);
}

#[test]
fn processes_that_run_the_same_text_are_exchanged() {
    has_order("byte x; active [4] proctype P() { do :: x < 5 -> x++ :: x == 5 -> x = 0 od }", 24);
    has_order("byte x; active [2] proctype P() { do :: x++ od } active [3] proctype Q() { do :: x = 0 od }", 12);
}

#[test]
fn processes_with_their_own_channels_are_exchanged() {
    let text = "
        mtype = { ask, answer };
        chan request = [2] of { mtype, chan };
        chan own[3] = [1] of { mtype };
        proctype Client(chan back) { do :: request!ask, back; back?answer od }
        proctype Server() { chan back; do :: request?ask, back; back!answer od }
        init { atomic { run Server(); run Client(own[0]); run Client(own[1]); run Client(own[2]) } }";
    has_order(text, 6);
}

#[test]
fn arrays_by_pid_move_along() {
    has_order(
        "byte turn[4]; active [4] proctype P() { do :: turn[_pid] == 0 -> turn[_pid] = 1 :: turn[_pid] == 1 -> turn[_pid] = 0 od }",
        24,
    );
    has_order(
        "byte turn[4]; active [4] proctype P() { do :: turn[_pid] == 0 && turn[2] == 0 -> turn[_pid] = 1 :: turn[_pid] == 1 -> turn[_pid] = 0 od }",
        6,
    );
}

#[test]
fn numbers_that_a_model_gives_to_its_processes_are_found() {
    let text = "
        bool want[3]; byte holder = 9;
        proctype P(byte id) {
            do
            :: want[id] = true; atomic { holder == 9 -> holder = id }; assert(holder == id); want[id] = false; holder = 9
            od
        }
        init { atomic { run P(0); run P(1); run P(2) } }";
    has_order(text, 6);
}

#[test]
fn rings_rotate() {
    let text = "
        chan c[4] = [1] of { bit };
        proctype P(chan from, to) { bit b; do :: to!1 :: from?b od }
        init { atomic { run P(c[0], c[1]); run P(c[1], c[2]); run P(c[2], c[3]); run P(c[3], c[0]) } }";
    has_order(text, 4);
    let text = "
        chan c[5] = [0] of { bit };
        proctype P(chan from, to) { bit b; do :: to!1 :: from?b od }
        init { atomic { run P(c[0], c[1]); run P(c[1], c[2]); run P(c[2], c[3]); run P(c[3], c[4]); run P(c[4], c[0]) } }";
    let (order, ..) = check(text);
    assert_eq!(order, UBig::from(5u8));
}

#[test]
fn what_breaks_a_restriction_is_not_used() {
    // Restriction 1: the number of a process matters.
    has_order("byte x; active [3] proctype P() { do :: x = (x + _pid) % 7 od }", 1);
    has_order("byte x; active [3] proctype P() { do :: x = _pid % 2 od }", 2);
    has_order("byte x; active [3] proctype P() { do :: _pid > 1 -> x = 0 :: else -> x = 1 od }", 2);
    has_order("byte x; active [3] proctype P() { if :: _pid == 2 -> x = 1 :: else -> skip fi; end: false }", 2);
    // Restriction 2: they do not start alike.
    has_order("byte a[3] = { 0, 0, 1 }; active [3] proctype P() { do :: a[_pid] = 1 :: a[_pid] = 0 od }", 2);
    // Messages that are kept in order.
    has_order("chan c = [2] of { byte }; active [3] proctype P() { do :: c!!_pid :: c?eval(_pid) od }", 1);
    has_order("chan c = [2] of { byte }; active [3] proctype P() { do :: c!_pid :: c?eval(_pid) od }", 6);
}

#[test]
fn processes_that_end_stay() {
    has_order("byte x; active [3] proctype P() { x < 2 -> x++ }", 6);
    has_order("byte x; active [3] proctype P() { x++; assert(x < 3) }", 6);
    has_order("byte x; active [3] proctype P() { x++; _nr_pr < 3 -> x = 0 }", 1);
    has_order("byte x; active [3] proctype P() { if :: x++ :: timeout -> assert(x < 1) fi }", 6);
    has_order("byte x; active [3] proctype P() { chan c = [1] of { bit }; c!1; x++ }", 1);
}

/// The load balancer of Donaldson, Miller and Calder, 2005, from its description.
const LOAD_BALANCER: &str = "
    mtype = { reply };
    chan client[6] = [1] of { mtype };
    chan server[3] = [2] of { chan };
    chan balancer[2] = [1] of { chan };
    proctype Client(chan own, request) { do :: request!own; own?reply od }
    proctype Server(chan own) { chan back; do :: own?back; back!reply od }
    proctype Balancer(chan own) {
        chan back;
        do
        :: atomic { own?back;
            if
            :: len(server[0]) <= len(server[1]) && len(server[0]) <= len(server[2]) -> server[0]!back
            :: len(server[1]) <= len(server[0]) && len(server[1]) <= len(server[2]) -> server[1]!back
            :: len(server[2]) <= len(server[0]) && len(server[2]) <= len(server[1]) -> server[2]!back
            fi }
        od
    }
    init { atomic {
        run Client(client[0], balancer[0]); run Client(client[1], balancer[0]); run Client(client[2], balancer[0]);
        run Client(client[3], balancer[1]); run Client(client[4], balancer[1]); run Client(client[5], balancer[1]);
        run Server(server[0]); run Server(server[1]); run Server(server[2]);
        run Balancer(balancer[0]); run Balancer(balancer[1]) } }";

#[test]
fn the_load_balancer_has_432_symmetries() {
    let symmetries = found(LOAD_BALANCER);
    let symmetric = symmetries.symmetric.unwrap_or_else(|| panic!("{:?}", symmetries.reasons));
    assert_eq!(order(&symmetric), UBig::from(432u32));
    // A small one of its kind.
    let small = LOAD_BALANCER
        .replace("run Client(client[1], balancer[0]); run Client(client[2], balancer[0]);", "")
        .replace("run Client(client[4], balancer[1]); run Client(client[5], balancer[1]);", "");
    let (order, ..) = check(&small);
    assert_eq!(order, UBig::from(12u32));
}

#[test]
fn examples_agree() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela");
    let mut reduced = HashSet::new();
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("one").path();
        if path.extension().is_some_and(|extension| extension == "pml") {
            let text = std::fs::read_to_string(&path).expect("an example");
            let (order, states, orbits) = check(&text);
            println!("{}: order {order}, {states} states, {orbits} orbits", path.display());
            if order > UBig::ONE {
                reduced.insert(path);
            } else {
                println!("    {:?}", found(&text).reasons.iter().map(|reason| &reason.text).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn references_in_queues_and_twins_are_exact() {
    // Two types, channels in messages, queues that hold several of them, and processes that do nothing except one.
    let text = "
        chan in[3] = [1] of { byte };
        chan work[2] = [2] of { chan, pid };
        chan all = [2] of { chan, pid };
        byte who[6];
        proctype Client(chan own) { do :: all!own, _pid; own?who[_pid]; who[_pid] = 0 od }
        proctype Server(chan own) { chan to; pid whose; do :: own?to, whose; to!1; to = 0; whose = 0 od }
        proctype Hand() {
            chan to; pid whose;
            do :: all?to, whose; if :: nfull(work[0]) -> work[0]!to, whose :: nfull(work[1]) -> work[1]!to, whose fi; to = 0; whose = 0 od
        }
        init { atomic {
            run Client(in[0]); run Client(in[1]); run Client(in[2]); run Server(work[0]); run Server(work[1]); run Hand()
        } }";
    has_order(text, 12);
    // Messages name their senders and each other, and processes keep what they receive.
    let text = "
        chan box[4] = [2] of { pid, pid };
        proctype P() {
            pid a, b;
            do
            :: nfull(box[1]) && a == 0 -> box[1]!_pid, b
            :: nfull(box[2]) && a == 0 -> box[2]!_pid, b
            :: nfull(box[3]) && a == 0 -> box[3]!_pid, b
            :: a == 0 && len(box[_pid]) == 2 -> box[_pid]?a, b
            :: atomic { a != 0 -> a = 0; b = 0 }
            od
        }
        init { atomic { run P(); run P(); run P() } }";
    let (found, ..) = check(text);
    assert_eq!(found, UBig::from(6u8), "{:?}", self::found(text).reasons);
}

/// How many random programs of each shape are tried; more with `TREFOIL_PROMELA_CASES`.
fn cases(few: u64) -> u64 {
    std::env::var("TREFOIL_PROMELA_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

#[test]
fn random_programs_agree() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let (mut symmetric, mut smaller) = (0, 0);
    for (number, shape) in SHAPES.iter().enumerate() {
        for case in 0..cases(12) {
            let case = seed.wrapping_add(1_000_000 * number as u64 + case);
            let (text, broken) = random_symmetric_program(&mut Random::new(case), shape);
            let (order, states, orbits) = check(&text);
            symmetric += usize::from(order > UBig::ONE);
            smaller += usize::from(orbits < states);
            let _ = broken;
        }
    }
    let (steps, changes) = (STEPS.load(Ordering::Relaxed), CHANGES.load(Ordering::Relaxed));
    println!("{symmetric} symmetric, {smaller} smaller; {steps} steps, {changes} drawn as changes");
    assert!(2 * changes > steps, "too few changes are drawn: {changes} of {steps}");
    assert!(symmetric > SHAPES.len(), "too few are symmetric: {symmetric}");
}

/// Three processes of a type `P` that `init` starts, so that 0 is none of them.
fn three(globals: &str, head: &str, body: &str) -> String {
    format!("{globals}\nproctype P(){head} {{ {body} }}\ninit {{ atomic {{ run P(); run P(); run P() }} }}\n")
}

#[test]
fn every_construct_can_be_symmetric() {
    let any = "if :: o = 1 :: o = 2 :: o = 3 fi";
    let models = [
        three(
            "typedef Row { bit to[4] }; Row m[4];",
            "",
            &format!("byte o; do :: {any} :: m[_pid].to[o] = 1 :: m[o].to[_pid] -> m[o].to[_pid] = 0 od"),
        ),
        three("", "", &format!("byte o; bit seen[4]; do :: {any} :: seen[o] = 1 :: seen[_pid] -> seen[_pid] = 0 od")),
        three("", "", &format!("pid o; byte held[4]; do :: {any} :: held[o] = o :: held[_pid] == o -> held[o] = 0 od")),
        three("bit x;", "", &format!("pid o; do :: {any} :: o > 0 -> skip od")).replace("o > 0", "o != 0 && P[o]@here"),
        three("pid turn;", " provided (turn == 0 || turn == _pid)", "do :: turn = _pid :: turn == _pid -> turn = 0 od"),
        three("bit x;", " priority 2", "do :: x = 1 - x od"),
        three("bit x;", "", "do :: _last == _pid -> x = 1 :: x = 0 od"),
        three("bit h[4];", "", "bit x; do :: { x = 1; x = 0 } unless { h[_pid] -> h[_pid] = 0 } :: h[_pid] = 1 od"),
        three(
            "hidden byte t; chan c = [0] of { pid, bit };",
            "",
            "pid o; do :: d_step { t = _pid; o = t } :: c!_pid, 1 :: c?o, 1 :: o = 0 od",
        ),
        three(
            "typedef Link { chan to; pid who }; chan c[4] = [1] of { pid }; Link l[4];",
            "",
            "do :: l[_pid].to = c[_pid]; l[_pid].who = _pid; l[_pid].to!_pid; l[_pid].to?eval(_pid) od",
        ),
        three(
            "chan c = [2] of { pid }; bit x;",
            "",
            "do :: c??eval(_pid) :: c!_pid :: c?<eval(_pid)>  -> x = 1 :: c??[eval(_pid)] -> x = 0 od",
        ),
        three(
            "mtype = { a, b }; mtype m = a; bit v[4];",
            "",
            "do :: m == a -> m = b; v[_pid] = 1 :: m == b -> m = a; v[_pid] = 0 od",
        ),
        three(
            "bit v[4]; byte n;",
            "",
            "do :: n = v[1] + v[3] + v[2] :: (v[1] || v[3] || v[2]) -> v[_pid] = 0 :: v[_pid] = 1 od",
        ),
    ];
    for text in models {
        let text = text.replace("do :: if :: o = 1", "here: do :: if :: o = 1");
        has_order(&text, 6);
    }
}

#[test]
fn traps_are_seen() {
    // A number that is true when it is not zero, and zero is one of those that would be exchanged.
    let numbered = |body: &str| {
        format!(
            "byte w = 9; bit q[2]; proctype P(byte id) {{ do {body} od }} init {{ atomic {{ run P(0); run P(1) }} }}"
        )
    };
    has_order(&numbered(":: w = id :: w == id -> w = 9 :: q[id] = 1"), 2);
    has_order(&numbered(":: w = id :: w -> w = 9"), 1);
    has_order(&numbered(":: w = id :: q[id] = 1 :: w == 1 -> w = 9"), 1);
    // The first alternative that can be taken is taken in a d_step, in any other place each of them.
    let choice = |step: &str| {
        three(
            "pid w; bit h[4];",
            "",
            &format!(
                "do :: w = _pid :: h[_pid] = 1 :: {step} {{ if :: h[1] -> w = 1 :: h[2] -> w = 2 :: h[3] -> w = 3 fi }} od"
            ),
        )
    };
    has_order(&choice("atomic"), 6);
    has_order(&choice("d_step"), 1);
    // An error in an operand that comes later is not always met.
    let guarded = |one: &str, other: &str| {
        three(
            "bit h[4]; byte n; bit v[2];",
            "",
            &format!("do :: {one} && {other} -> h[_pid] = 0 :: h[_pid] = 1 :: n = 2 - n od"),
        )
    };
    has_order(&guarded("h[1]", "(h[3] && h[2])"), 6);
    has_order(&guarded("h[1]", "(h[2] && h[3] && v[n])"), 2);
    // A variable that is too narrow.
    has_order(&three("bit w;", "", "do :: w = _pid :: w == _pid -> w = 0 od"), 1);
    // Only some of them are named.
    has_order(&three("pid w;", "", "do :: w = 2 :: w == _pid -> w = 0 od"), 2);
    has_order(&three("bit x;", "", "do :: P[2]@there -> x = 1 :: x = 0; there: x = 0 od"), 2);
    has_order(&three("bit x;", "", "do :: P@there -> x = 1 :: x = 0; there: x = 0 od"), 2);
    has_order(&three("byte x;", "", "do :: x = pc_value(_pid) :: x = 0 od"), 6);
}

#[test]
fn reasons_name_the_statement() {
    let text = three("byte x; bit h[4];", "", "do :: h[_pid] = 1 :: h[2] -> x = 1 :: x = 0 od");
    let symmetries = found(&text);
    let told: Vec<&str> = symmetries.reasons.iter().map(|reason| reason.text.as_str()).collect();
    assert!(told.iter().any(|text| text.contains("are not symmetric") && text.contains("h[2]")), "{told:?}");
    assert!(symmetries.diagram.nodes.len() > 4 && !symmetries.diagram.arcs.is_empty());
}

/// Models in Markdown, each with the order of its group and the reason why it is not larger.
#[test]
fn what_keeps_processes_apart_is_found() {
    let page = include_str!("symmetry.md");
    let mut models = 0;
    let mut wrong = Vec::new();
    for block in page.split("```promela\n").skip(1) {
        let (text, behind) = block.split_once("```").expect("the block ends");
        let claim = behind.lines().find_map(|line| line.strip_prefix("→ ")).expect("a model has a claim");
        let (order, statement) = match claim.split_once(": `") {
            Some((order, statement)) => (order, Some(statement.trim_end_matches('`'))),
            None => (claim, None),
        };
        models += 1;
        let (found, ..) = check(text);
        let symmetries = self::found(text);
        let named = |reason: &trefoil_promela::symmetry::Reason| {
            let span = reason.span.and_then(|span| text.get(span.start as usize..span.end as usize));
            statement
                .is_none_or(|wanted| span.is_some_and(|span| span.contains(wanted)) || reason.text.contains(wanted))
        };
        if found.to_string() != order || statement.is_some() && !symmetries.reasons.iter().any(named) {
            wrong.push(format!("{claim}, found {found}: {:#?}\n{text}", symmetries.reasons));
        }
    }
    assert!(wrong.is_empty(), "{} of {models}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(models > 50, "{models}");
}

/// The order of the largest part of a model's group that is one of another model whose rows look the same: every
/// element is tried.
fn largest_part(whole: &str, part: &str) -> usize {
    let symmetries = found(whole);
    let symmetric = symmetries.symmetric.expect("it has symmetries");
    let action = symmetric.action().expect("it has one");
    let degree = action.points();
    let generators: Vec<_> = action
        .generators()
        .iter()
        .map(|images| trefoil_groups::Permutation::from_images(images.clone()).expect("one"))
        .collect();
    let group = trefoil_groups::PermutationGroup::generate(degree, &generators, &Control::unlimited()).expect("small");
    let (program, ..) = compile("model.pml", part);
    let model = support::roomy(program.expect("it compiles"));
    let space = space(&model).expect("it is small");
    assert_eq!(model.layout().width(), symmetric.layout().width(), "the rows are not alike");
    let control = Control::unlimited();
    let mut actor = action.actor(&control);
    let mut image = vec![0; space.states[0].len()];
    let mut is_symmetry = |element: &[u32]| {
        let mut moved = |row: &[Value]| {
            actor.apply(element, row, &mut image).expect("nothing cuts it");
            space.number.get(&image).copied()
        };
        moved(&space.states[0]) == Some(0)
            && (0..space.states.len()).all(|at| {
                let Some(other) = moved(&space.states[at]) else { return false };
                let mut steps: BTreeMap<(usize, Option<FaultKind>), usize> = BTreeMap::new();
                for ((target, fault), count) in &space.steps[at] {
                    let Some(target) = moved(target) else { return false };
                    *steps.entry((target, *fault)).or_default() += count;
                }
                let there = space.steps[other].iter();
                let there = there.map(|((target, fault), count)| ((space.number[target], *fault), *count));
                steps == there.collect()
            })
    };
    group.elements().filter(|element| is_symmetry(element.images())).count()
}

#[test]
fn symmetries_that_are_broken_in_part_leave_the_largest_part() {
    let ring = |last: &str| {
        format!(
            "chan c[4] = [1] of {{ bit }}; proctype P(chan a, b) {{ do :: a!1 :: b!1 :: a?1 od }}
             init {{ atomic {{ run P(c[0], c[1]); run P(c[1], c[2]); run P(c[2], c[3]); run P({last}) }} }}"
        )
    };
    let clients = |guard: &str, claim: &str| {
        let body = format!("do :: h[_pid] = 1 :: {guard} -> h[_pid] = 0 :: assert({claim}) od");
        format!(
            "bit h[6]; proctype P() {{ {body} }}
             init {{ atomic {{ run P(); run P(); run P(); run P(); run P() }} }}"
        )
    };
    let whole = clients("h[_pid]", "true");
    let pairs = [
        // One client is treated specially, two are, one by name and one by number.
        (whole.clone(), clients("h[3]", "true")),
        (whole.clone(), clients("(h[2] || h[4])", "true")),
        (whole.clone(), clients("(h[_pid] && _pid != 5)", "true")),
        (whole.clone(), clients("(h[_pid] && _pid % 2 == 1)", "true")),
        // An assertion names one process, or two of them.
        (whole.clone(), clients("h[_pid]", "h[1] == 0")),
        (whole.clone(), clients("h[_pid]", "!(h[1] && h[4])")),
        (whole.clone(), clients("h[_pid]", "h[1] + h[2] + h[3] < 3")),
        // Groups of two, neither of them special.
        (whole.clone(), clients("h[_pid]", "!((h[1] && h[2]) || (h[3] && h[4]))")),
        (ring("c[3], c[0]"), ring("c[0], c[3]")),
    ];
    for (whole, part) in pairs {
        let expected = largest_part(&whole, &part);
        let (order, ..) = check(&part);
        assert_eq!(order, UBig::from(expected), "{:?}\n{part}", found(&part).reasons);
    }
    // The one whose own number is larger than that of the others.
    let numbered = |most: &str| {
        format!(
            "byte x; proctype P(byte most) {{ do :: x < most -> x++ :: x > 0 -> x = 0 od }}
             init {{ atomic {{ run P(2); run P(2); run P(2); run P({most}) }} }}"
        )
    };
    assert_eq!(largest_part(&numbered("2"), &numbered("3")), 6);
    has_order(&numbered("3"), 6);
}
