//! Random processes with compressions inside, through the whole tool, in revivals and refusal testing: against the
//! definitions on the same processes without any compression, whichever way they are compiled and checked.

mod support;

use support::{Batch, Check, Compiled, compilations, way};
use trefoil_cspm::process::{CompileOptions, Keep};
use trefoil_refine::{Algorithm, Preprocess};
use trefoil_system::Model;
use trefoil_testkit::processes::random::{Shape, random_pair};
use trefoil_testkit::processes::{Modifier, Process};
use trefoil_testkit::refinement::shortest_violation;
use trefoil_testkit::{Random, seed};

const MODELS: [Model; 4] = [Model::Revivals, Model::RevivalsDivergences, Model::Refusals, Model::RefusalsDivergences];
/// The definitions list sets of states and of events.
const MOST_STATES: usize = 24;

/// The process without its compressions, and how many there were.
fn plain(process: &Process) -> (Process, usize) {
    let (mut plain, mut count) = (process.clone(), 0);
    strip(&mut plain, &mut count);
    (plain, count)
}

fn strip(process: &mut Process, count: &mut usize) {
    while let Process::Unary(Modifier::Compress(_), inner) = process {
        *count += 1;
        *process = std::mem::replace(&mut **inner, Process::Stop);
    }
    process.parts_mut().into_iter().for_each(|part| strip(part, count));
}

/// Two processes in which something is compressed, mostly.
fn pair(random: &mut Random) -> [Process; 2] {
    let size = 3 + random.below(9);
    let shape = Shape { compressions: true, ..Shape::any(size, random) };
    random_pair(shape, random).map(|(process, _)| process)
}

#[test]
fn compressions_keep_what_these_models_observe_in_every_context() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let mut random = Random::new(seed ^ 21);
    let (mut compared, mut violations, mut compressed, mut reduced) = (0, 0, 0, 0);
    for _ in 0..8 {
        let pairs: Vec<[Process; 2]> = (0..25).map(|_| pair(&mut random)).collect();
        let processes: Vec<&Process> = pairs.iter().flatten().collect();
        let stripped: Vec<(Process, usize)> = processes.iter().map(|process| plain(process)).collect();
        let mut batch = Batch::new(&stripped.iter().map(|(process, _)| process).collect::<Vec<_>>());
        let bare = CompileOptions { compress_leaves: false, expand: true, ..CompileOptions::default() };
        let expanded: Vec<_> = (0..stripped.len())
            .map(|at| batch.compile(at, bare).unwrap_or_else(|said| panic!("{said}: {}", stripped[at].0)).lts)
            .collect();
        let violation = |specification: usize, implementation: usize, model| {
            let [one, other] = [specification, implementation].map(|at| &expanded[at]);
            shortest_violation(one, other, model)
        };
        let small: Vec<usize> = (0..pairs.len())
            .filter(|&at| (2 * at..2 * at + 2).all(|side| expanded[side].state_count() <= MOST_STATES))
            .collect();
        let expected: Vec<Vec<[Option<usize>; 2]>> = small
            .iter()
            .map(|at| MODELS.map(|model| [violation(2 * at, 2 * at + 1, model), violation(2 * at + 1, 2 * at, model)]))
            .map(Vec::from)
            .collect();
        let mut batch = Batch::new(&processes);
        for (number, options) in compilations().into_iter().enumerate() {
            let options = CompileOptions { keep: Keep::Refusals, ..options };
            for (&at, expected) in small.iter().zip(&expected) {
                let compiled: Vec<Compiled> = [2 * at, 2 * at + 1]
                    .map(|side| {
                        batch.compile(side, options).unwrap_or_else(|said| panic!("{said}: {}", processes[side]))
                    })
                    .into();
                compressed += stripped[2 * at].1 + stripped[2 * at + 1].1;
                for (model, expected) in MODELS.into_iter().zip(expected) {
                    for side in 0..2 {
                        let mut way = way(options, number + at + side);
                        if model.observes_refusals_on_the_way() && way.algorithm == Algorithm::NormalForm {
                            way.algorithm = Algorithm::Automatic;
                        }
                        let context = |found: &dyn std::fmt::Debug| {
                            let [one, other] = [side, 1 - side].map(|side| &pairs[at][side]);
                            format!("TREFOIL_SEED={seed}\n{model:?} {way:?}\n{one}\n{other}\n{found:?} {expected:?}")
                        };
                        let check = Check::Refines(model);
                        let found = batch.check(&check, way, &compiled[side], &compiled[1 - side]);
                        assert_eq!(found.as_ref(), Ok(&expected[side]), "{}", context(&found));
                        compared += 1;
                        violations += usize::from(expected[side].is_some());
                        // Fewer steps: the same verdict.
                        if model.observes_revivals() && options.leaf_states == 0 {
                            let preprocess = Preprocess::Specification;
                            let fewer = support::Way { partial_order: true, preprocess, ..way };
                            let found = batch.check(&check, fewer, &compiled[side], &compiled[1 - side]);
                            let verdict = found.as_ref().map(Option::is_some);
                            assert_eq!(verdict, Ok(expected[side].is_some()), "{}", context(&found));
                            reduced += 1;
                        }
                    }
                }
            }
        }
    }
    println!("{compared} comparisons, {violations} violations, {compressed} compressions, {reduced} with fewer steps");
    assert!(compared > 3_000 && compressed > 500 && reduced > 300, "{compared} {compressed} {reduced}");
    assert!((compared / 5..4 * compared / 5).contains(&violations), "too one-sided: {violations} of {compared}");
}
