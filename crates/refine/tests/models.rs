//! Revivals and refusal testing: every algorithm against the definitions and against a translation to traces, on random
//! pairs, and the laws that hold between the models.
//!
//! `TREFOIL_MODEL_PAIRS` sets how many pairs are drawn; with `TREFOIL_MODEL_CLASS` pairs are drawn until each pair of
//! neighbouring models was told apart that often.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use trefoil_control::Control;
use trefoil_lts::compress::{COMPRESSIONS, Compression, compress};
use trefoil_refine::{Algorithm, Options, Preprocess, Search, refine};
use trefoil_system::{Labels, Model};
use trefoil_testkit::observations::{holds_by_priority, random_observed_pair};
use trefoil_testkit::refinement::{random_pair, shortest_violation};
use trefoil_testkit::{Random, seed};

/// The models of this file, in the order of [`Model::ALL`].
const NEW: [Model; 4] = [Model::Revivals, Model::RevivalsDivergences, Model::Refusals, Model::RefusalsDivergences];
const SEARCHES: [Search; 2] = [Search::BreadthFirst, Search::DepthFirst];
const PREPROCESSING: [Preprocess; 4] =
    [Preprocess::Nothing, Preprocess::Specification, Preprocess::Implementation, Preprocess::Both];
/// The compressions that promise to keep these models.
const KEEPING: [Compression; 5] =
    [Compression::Explicate, Compression::Sbisim, Compression::Dbisim, Compression::Wbisim, Compression::TauLoopFactor];
/// One in this many pairs is also checked with two threads.
const TWO_THREADS: usize = 20;
const BATCH: usize = 200;

/// A model, and a weaker one that it implies; some pairs tell them apart.
const STRONGER: [(Model, Model); 6] = [
    (Model::Failures, Model::Traces),
    (Model::Revivals, Model::Failures),
    (Model::Refusals, Model::Revivals),
    (Model::RevivalsDivergences, Model::FailuresDivergences),
    (Model::RefusalsDivergences, Model::RevivalsDivergences),
    (Model::RefusalsDivergences, Model::FailuresDivergences),
];

/// A model and its form with divergences: where something diverges, neither implies the other.
const WITH_DIVERGENCES: [(Model, Model); 3] = [
    (Model::Failures, Model::FailuresDivergences),
    (Model::Revivals, Model::RevivalsDivergences),
    (Model::Refusals, Model::RefusalsDivergences),
];

fn number_of(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// Every class of pairs that some pair of models tells apart: the first holds and the second does not.
fn classes() -> Vec<(Model, Model)> {
    let weaker = STRONGER.into_iter().map(|(strong, weak)| (weak, strong));
    weaker.chain(WITH_DIVERGENCES).chain(WITH_DIVERGENCES.into_iter().map(|(one, other)| (other, one))).collect()
}

#[test]
fn the_models_agree_with_their_definitions_and_laws() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let class = number_of("TREFOIL_MODEL_CLASS");
    let least = number_of("TREFOIL_MODEL_PAIRS").unwrap_or(6_000);
    let (batches, enough, failed) = (AtomicUsize::new(0), AtomicBool::new(false), AtomicBool::new(false));
    let tally: Mutex<BTreeMap<[bool; 7], usize>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while !enough.load(Ordering::Relaxed) && !failed.load(Ordering::Relaxed) {
                    let batch = batches.fetch_add(1, Ordering::Relaxed);
                    let _halt = HaltOnPanic(&failed);
                    let found: Vec<[bool; 7]> =
                        (batch * BATCH..(batch + 1) * BATCH).map(|number| check_pair(seed, number)).collect();
                    let mut tally = tally.lock().expect("no thread panics while it counts");
                    found.into_iter().for_each(|vector| *tally.entry(vector).or_default() += 1);
                    let drawn: usize = tally.values().sum();
                    let rarest = class.map(|_| classes().into_iter().map(|pair| told_apart(&tally, pair)).min());
                    let often = rarest.flatten().is_none_or(|rarest| rarest >= class.unwrap_or(0));
                    enough.fetch_or(drawn >= least && often, Ordering::Relaxed);
                }
            });
        }
    });
    let tally = tally.into_inner().expect("no thread panicked");
    println!("{} pairs; T F FD V VD R RD:", tally.values().sum::<usize>());
    for (vector, count) in &tally {
        println!("  {} {count}", vector.map(|holds| if holds { "+" } else { "-" }).join(" "));
    }
    for (holds, fails) in classes() {
        let count = told_apart(&tally, (holds, fails));
        println!("  {holds:?} holds and {fails:?} fails: {count}");
        assert!(count >= class.unwrap_or(10), "{holds:?} and {fails:?} are told apart {count} times");
    }
}

/// The table of compressions says the same as the list above, and the others do lose something: revivals, and refusals
/// before events.
#[test]
fn compressions_that_merge_acceptances_lose_these_models() {
    for info in COMPRESSIONS {
        let kept = KEEPING.contains(&info.compression) || info.compression == Compression::Deter;
        assert_eq!(info.compression.keeps_refusals(), kept, "{}", info.name);
    }
    let (seed, control) = (seed(), Control::unlimited());
    println!("TREFOIL_SEED={seed}");
    for compression in [Compression::Diamond, Compression::Normal] {
        let mut lost = BTreeMap::new();
        for number in 0..4_000u64 {
            let mut random = Random::new(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let (system, _) = random_observed_pair(&Arc::new(Labels::new()), &mut random);
            let merged = compress(&system, compression, &control).expect("no budget");
            for model in Model::ALL {
                let same = shortest_violation(&system, &merged, model).is_none()
                    && shortest_violation(&merged, &system, model).is_none();
                *lost.entry(place(model)).or_insert(0) += usize::from(!same);
            }
        }
        for model in Model::ALL {
            let times = lost[&place(model)];
            assert_eq!(times > 0, NEW.contains(&model), "{compression}: {model:?} is lost {times} times");
        }
    }
}

fn told_apart(tally: &BTreeMap<[bool; 7], usize>, (holds, fails): (Model, Model)) -> usize {
    tally.iter().filter(|(vector, _)| vector[place(holds)] && !vector[place(fails)]).map(|(_, count)| count).sum()
}

fn place(model: Model) -> usize {
    Model::ALL.iter().position(|&known| known == model).expect("all models are known")
}

/// A pair that fails ends the work of all threads.
struct HaltOnPanic<'a>(&'a AtomicBool);

impl Drop for HaltOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Which models a pair of systems holds in, by the definitions, which everything else agrees with.
fn check_pair(seed: u64, number: usize) -> [bool; 7] {
    let mut random = Random::new(seed ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let labels = Arc::new(Labels::new());
    let (specification, implementation) = match number % 3 {
        0 => random_pair(&labels, &mut random),
        _ => random_observed_pair(&labels, &mut random),
    };
    let expected = Model::ALL.map(|model| shortest_violation(&specification, &implementation, model));
    let holds = expected.map(|expected| expected.is_none());
    let context = || format!("TREFOIL_SEED={seed} pair {number}\n{specification:?}{implementation:?}");
    for (strong, weak) in STRONGER {
        assert!(holds[place(weak)] || !holds[place(strong)], "{strong:?} without {weak:?}: {}", context());
    }
    let control = Control::unlimited();
    let settles = |lts| !trefoil_lts::divergence::diverging_states(lts, &control).expect("no budget").contains(&true);
    if settles(&specification) && settles(&implementation) {
        for (without, with) in WITH_DIVERGENCES {
            let (without, with) = (expected[place(without)], expected[place(with)]);
            assert_eq!(without, with, "nothing diverges: {}", context());
        }
    }
    let compression = KEEPING[number % KEEPING.len()];
    let compressed = |lts| compress(lts, compression, &control).expect("no budget");
    let (small_specification, small_implementation) = (compressed(&specification), compressed(&implementation));
    let determined = compress(&implementation, Compression::Deter, &control).expect("no budget");
    for model in NEW {
        let expected = expected[place(model)];
        let small = shortest_violation(&small_specification, &small_implementation, model);
        assert_eq!(small, expected, "{model:?} after {compression}: {}", context());
        let refined = shortest_violation(&implementation, &determined, model);
        assert_eq!(refined, None, "{model:?}: deter does not refine: {}", context());
        let translated = holds_by_priority(&specification, &implementation, model);
        assert_eq!(translated, expected.is_none(), "{model:?} by priority: {}", context());
        let check = |options: Options| {
            let outcome = refine(&specification, &implementation, options, &control);
            let outcome = outcome.unwrap_or_else(|why| panic!("{why}: {}", context()));
            // The witness was replayed on the given systems before it came here.
            let length = outcome.witness.as_ref().map(|witness| witness.length());
            let wrong = match options.search {
                Search::BreadthFirst => length != expected,
                Search::DepthFirst => length.is_some() != expected.is_some() || length < expected,
            };
            assert!(!wrong, "{options:?} says {length:?}, not {expected:?}: {}{outcome:?}", context());
        };
        let algorithms: &[Algorithm] = match model.observes_refusals_on_the_way() {
            true => &[Algorithm::Antichain, Algorithm::LazyNormalForm, Algorithm::Automatic],
            false => &[Algorithm::Antichain, Algorithm::LazyNormalForm, Algorithm::NormalForm, Algorithm::Automatic],
        };
        for &algorithm in algorithms {
            for search in SEARCHES {
                let preprocess = PREPROCESSING[random.below(4)];
                check(Options { model, algorithm, search, preprocess, threads: 1, symmetry: None });
            }
            if number.is_multiple_of(TWO_THREADS) {
                let (search, preprocess) = (Search::BreadthFirst, Preprocess::Nothing);
                check(Options { model, algorithm, search, preprocess, threads: 2, symmetry: None });
            }
        }
    }
    holds
}
