//! Every algorithm against the definitions, on random pairs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use trefoil_control::Control;
use trefoil_refine::{Algorithm, Options, Preprocess, Search, refine};
use trefoil_system::{Labels, Model};
use trefoil_testkit::refinement::{random_pair, shortest_violation};
use trefoil_testkit::{Random, seed};

const PAIRS: usize = 100_000;
const BATCH: usize = 500;
/// One in this many pairs is also checked with two threads.
const TWO_THREADS: usize = 50;
const MODELS: [Model; 3] = [Model::Traces, Model::Failures, Model::FailuresDivergences];
const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::Antichain, Algorithm::NormalForm, Algorithm::LazyNormalForm, Algorithm::Automatic];
const SEARCHES: [Search; 2] = [Search::BreadthFirst, Search::DepthFirst];
const PREPROCESSING: [Preprocess; 3] = [Preprocess::Specification, Preprocess::Implementation, Preprocess::Both];

#[test]
fn all_algorithms_agree_with_the_definitions() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let batches = AtomicUsize::new(0);
    let held: [AtomicUsize; 3] = Default::default();
    let largest: [AtomicUsize; 2] = Default::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let batch = batches.fetch_add(1, Ordering::Relaxed);
                    if batch >= PAIRS / BATCH {
                        break;
                    }
                    let _halt = HaltOnPanic(&batches);
                    for number in batch * BATCH..(batch + 1) * BATCH {
                        let checked = check_pair(seed, number);
                        for (count, holds) in held.iter().zip(checked.holds) {
                            count.fetch_add(usize::from(holds), Ordering::Relaxed);
                        }
                        for (count, states) in largest.iter().zip(checked.states) {
                            count.fetch_add(usize::from(states == 12), Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let held = held.map(AtomicUsize::into_inner);
    let largest = largest.map(AtomicUsize::into_inner);
    println!("{held:?} of {PAIRS} hold; {largest:?} specifications and implementations have 12 states");
    assert!(largest.iter().all(|&count| count * 100 >= PAIRS), "12 states are too rare: {largest:?}");
    for (model, held) in MODELS.into_iter().zip(held) {
        assert!(held * 4 >= PAIRS && held * 4 <= PAIRS * 3, "{model:?}: {held} of {PAIRS} hold: too one-sided");
    }
}

/// A pair that fails ends the work of all threads.
struct HaltOnPanic<'a>(&'a AtomicUsize);

impl Drop for HaltOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(PAIRS, Ordering::Relaxed);
        }
    }
}

struct Checked {
    /// By model.
    holds: [bool; 3],
    /// Of the specification and the implementation.
    states: [usize; 2],
}

fn check_pair(seed: u64, number: usize) -> Checked {
    let mut random = Random::new(seed ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let labels = Arc::new(Labels::new());
    let (specification, implementation) = random_pair(&labels, &mut random);
    let control = Control::unlimited();
    let holds = MODELS.map(|model| {
        let expected = shortest_violation(&specification, &implementation, model);
        let check = |options: Options| {
            let outcome = refine(&specification, &implementation, options, &control);
            let outcome = outcome.unwrap_or_else(|why| panic!("TREFOIL_SEED={seed} pair {number}: {why}"));
            // The witness was replayed on the given systems before it came here.
            let length = outcome.witness.as_ref().map(|witness| witness.length());
            let wrong = match options.search {
                Search::BreadthFirst => length != expected,
                Search::DepthFirst => length.is_some() != expected.is_some() || length < expected,
            };
            assert!(
                !wrong,
                "TREFOIL_SEED={seed} pair {number}: {options:?} says {length:?}, the definitions say {expected:?}\n\
                 specification {specification:?}implementation {implementation:?}{outcome:?}"
            );
        };
        // What is chosen automatically for systems this small is the normal form.
        for algorithm in [Algorithm::Antichain, Algorithm::NormalForm, Algorithm::LazyNormalForm] {
            for search in SEARCHES {
                check(Options {
                    model,
                    algorithm,
                    search,
                    preprocess: Preprocess::Nothing,
                    threads: 1,
                    symmetry: None,
                });
            }
        }
        for preprocess in PREPROCESSING {
            let (algorithm, search) = (ALGORITHMS[random.below(4)], SEARCHES[random.below(2)]);
            check(Options { model, algorithm, search, preprocess, threads: 1, symmetry: None });
        }
        if number.is_multiple_of(TWO_THREADS) {
            for algorithm in [Algorithm::NormalForm, Algorithm::LazyNormalForm] {
                let (search, preprocess) = (Search::BreadthFirst, Preprocess::Nothing);
                check(Options { model, algorithm, search, preprocess, threads: 2, symmetry: None });
            }
        }
        expected.is_none()
    });
    Checked { holds, states: [specification.state_count(), implementation.state_count()] }
}
