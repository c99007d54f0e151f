//! Random processes: the tool's verdicts and the lengths of its witnesses against the denotational semantics, whichever
//! way processes are compiled and checked.

mod support;

use std::collections::HashMap;

use support::{Batch, Check, Compiled, Way, compilations, way, wrong};
use trefoil_control::Control;
use trefoil_refine::Preprocess;
use trefoil_system::Model;
use trefoil_testkit::processes::random::{Shape, random_pair};
use trefoil_testkit::processes::shrink::shrink_pair;
use trefoil_testkit::processes::{Denotation, Event, Events, Process, Trace};
use trefoil_testkit::{Random, seed};

const MODELS: [Model; 3] = [Model::Traces, Model::Failures, Model::FailuresDivergences];

/// A trace of the process, now and then with another event at its end.
fn some_trace(denotation: &Denotation, random: &mut Random) -> Trace {
    let traces: Vec<&Trace> = denotation.traces().map(|(trace, _)| trace).collect();
    let mut trace = traces[random.below(traces.len())].clone();
    if random.chance(30) {
        trace.push(Event(random.below(4) as u8));
    }
    trace
}

/// A pair; half of those for which it makes sense never end, so that freedom from deadlock is not rare.
fn pair(random: &mut Random) -> [(Process, Denotation); 2] {
    let size = 3 + random.below(12);
    let shape = Shape { compressions: true, ..Shape::any(size, random) };
    let pair = random_pair(shape, random);
    if random.chance(50) {
        return pair;
    }
    let events = Events::of([Event(random.below(4) as u8)]);
    let lasting = pair.clone().map(|(process, _)| process.then(Process::Run(events)));
    match lasting.clone().map(|process| process.denotation()) {
        [Ok(left), Ok(right)] => {
            let [first, second] = lasting;
            [(first, left), (second, right)]
        }
        _ => pair,
    }
}

fn complain(seed: u64, specification: &Process, implementation: &Process, check: &Check, way: Way, said: &str) -> ! {
    let given = (specification.clone(), implementation.clone());
    let (left, right) = shrink_pair(given, |left, right| wrong(left, right, check, way).is_some());
    let why = wrong(&left, &right, check, way).unwrap_or_else(|| format!("only in its batch: {said}"));
    panic!("TREFOIL_SEED={seed}\n{check:?}\n{way:?}\nspecification {left}\nimplementation {right}\n{why}");
}

/// What a stream of pairs came to.
#[derive(Default)]
struct Counts {
    comparisons: usize,
    violations: usize,
    /// Processes compiled to more than one component, and to more than one format.
    networks: usize,
    formats: usize,
    /// Comparisons of processes whose merged states kept their acceptances.
    on_states: usize,
}

/// Checks pairs of one stream.
fn compare(seed: u64, batches: usize) -> Counts {
    let mut random = Random::new(seed);
    let mut counts = Counts::default();
    for _ in 0..batches {
        let pairs: Vec<[(Process, Denotation); 2]> = (0..25).map(|_| pair(&mut random)).collect();
        let processes: Vec<&Process> = pairs.iter().flatten().map(|(process, _)| process).collect();
        let mut batch = Batch::new(&processes);
        // What the first way said: beyond the horizon the others can only be compared with it.
        let mut said_first = HashMap::new();
        for (at, options) in compilations().into_iter().enumerate() {
            for (index, pair) in pairs.iter().enumerate() {
                let way = way(options, at + index);
                let mut compiled: Vec<Compiled> = Vec::new();
                for side in 0..2 {
                    match batch.compile(2 * index + side, options) {
                        Ok(one) => {
                            counts.networks += usize::from(one.machine.network.components().len() > 1);
                            counts.formats += usize::from(one.machine.network.formats().len() > 1);
                            compiled.push(one);
                        }
                        Err(said) => complain(seed, &pair[side].0, &pair[side].0, &Check::DivergenceFree, way, &said),
                    }
                }
                for side in 0..2 {
                    let (specification, implementation) = (&pair[side], &pair[1 - side]);
                    for (kind, check) in checks(&implementation.1, &mut random).into_iter().enumerate() {
                        let expected = check.expected(&specification.1, &implementation.1);
                        let found = batch.check(&check, way, &compiled[side], &compiled[1 - side]);
                        counts.comparisons += 1;
                        let first = match check {
                            Check::HasTrace(..) => &found,
                            _ => said_first.entry((index, side, kind)).or_insert(found.clone()),
                        };
                        // Reduced, the verdict is the same; the length may not be.
                        if options.leaf_states == 0 && (index + kind).is_multiple_of(2) {
                            let preprocess = match way.preprocess {
                                Preprocess::Both => Preprocess::Specification,
                                other => other,
                            };
                            let reducing = Way { partial_order: true, preprocess, ..way };
                            let reduced = batch.check(&check, reducing, &compiled[side], &compiled[1 - side]);
                            counts.comparisons += 1;
                            let verdict =
                                |found: &Result<Option<usize>, String>| found.as_ref().ok().map(Option::is_some);
                            counts.violations += usize::from(verdict(&reduced) == Some(true));
                            if verdict(&reduced).is_none() || verdict(&reduced) != verdict(&found) {
                                let said = format!("{found:?}, and {reduced:?} with partial order reduction");
                                complain(seed, &specification.0, &implementation.0, &check, reducing, &said);
                            }
                        }
                        let network = &compiled[1 - side].machine.network;
                        if network.accepting(&Control::unlimited()).is_ok_and(|accepting| accepting.is_some()) {
                            let preprocess = match way.preprocess {
                                Preprocess::Nothing => Preprocess::Nothing,
                                _ => Preprocess::Specification,
                            };
                            let merged = Way { on_states: true, preprocess, ..way };
                            let kept = batch.check(&check, merged, &compiled[side], &compiled[1 - side]);
                            counts.comparisons += 1;
                            counts.on_states += 1;
                            if kept != found {
                                let said = format!("{found:?}, and {kept:?} with acceptances on states");
                                complain(seed, &specification.0, &implementation.0, &check, merged, &said);
                            }
                        }
                        match &found {
                            Ok(answer) if *first == found && check.agrees(expected, *answer) => {
                                counts.violations += usize::from(answer.is_some());
                            }
                            _ => {
                                let said = format!("first {first:?}, now {found:?}, by the equations {expected:?}");
                                complain(seed, &specification.0, &implementation.0, &check, way, &said);
                            }
                        }
                    }
                }
            }
        }
    }
    counts
}

fn checks(implementation: &Denotation, random: &mut Random) -> Vec<Check> {
    let mut checks = MODELS.map(Check::Refines).to_vec();
    checks.extend([
        Check::DeadlockFree(Model::Failures),
        Check::DeadlockFree(Model::FailuresDivergences),
        Check::DivergenceFree,
        Check::Deterministic(Model::Failures),
        Check::Deterministic(Model::FailuresDivergences),
        Check::HasTrace(MODELS[random.below(3)], some_trace(implementation, random)),
    ]);
    checks
}

#[test]
fn verdicts_agree_with_the_denotations() {
    let seed = seed();
    let streams: Vec<Counts> = std::thread::scope(|scope| {
        let streams: Vec<_> = (0..2).map(|stream| scope.spawn(move || compare(seed + stream, 14))).collect();
        let join = |stream: std::thread::ScopedJoinHandle<'_, Counts>| {
            stream.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        streams.into_iter().map(join).collect()
    });
    let sum = |count: fn(&Counts) -> usize| streams.iter().map(count).sum::<usize>();
    let (comparisons, violations) = (sum(|counts| counts.comparisons), sum(|counts| counts.violations));
    let (networks, formats) = (sum(|counts| counts.networks), sum(|counts| counts.formats));
    println!("{comparisons} comparisons, {violations} violations; {networks} networks, {formats} with formats");
    assert!(comparisons >= 50_000, "only {comparisons} comparisons");
    let both = violations * 5 > comparisons && violations * 5 < comparisons * 4;
    assert!(both, "{violations} of {comparisons} are violations");
    let on_states = sum(|counts| counts.on_states);
    println!("{on_states} with acceptances on states");
    assert!(on_states > 20, "only {on_states} with acceptances on states");
    assert!(networks > 500 && formats > 200, "only {networks} networks, {formats} with formats");
}
