//! Algebraic laws: the tool finds both sides equivalent, in both directions, in every model in which the law holds.

mod support;

use support::{Batch, Check, compilations, way};
use trefoil_testkit::processes::Process;
use trefoil_testkit::processes::laws::{Law, Operands, laws};
use trefoil_testkit::processes::random::Shape;
use trefoil_testkit::{Random, seed};

/// Operands for one law.
const INSTANCES: usize = 12;

#[test]
fn both_sides_of_every_law_are_equivalent() {
    let seed = seed();
    let all: Vec<&Law> = laws().collect();
    assert!(all.len() >= 60);
    let half = all.len().div_ceil(2);
    std::thread::scope(|scope| {
        let halves: Vec<_> = all.chunks(half).map(|laws| scope.spawn(move || check(laws, seed))).collect();
        for half in halves {
            half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

fn check(laws: &[&Law], seed: u64) {
    let mut random = Random::new(seed);
    for law in laws {
        let mut sides: Vec<(Process, Process)> = Vec::new();
        while sides.len() < INSTANCES {
            let size = 1 + random.below(6);
            let shape = Shape { compressions: true, ..Shape::any(size, &mut random) };
            let instance = (law.sides)(&mut Operands { random: &mut random, shape });
            if instance.0.denotation().is_ok() && instance.1.denotation().is_ok() {
                sides.push(instance);
            }
        }
        let processes: Vec<&Process> = sides.iter().flat_map(|(left, right)| [left, right]).collect();
        let mut batch = Batch::new(&processes);
        for (at, options) in compilations().into_iter().take(2).enumerate() {
            for (index, (left, right)) in sides.iter().enumerate() {
                let say = |what: &str| format!("TREFOIL_SEED={seed}\n{}\n{left}\n{right}\n{what}", law.name);
                let mut compile =
                    |side| batch.compile(2 * index + side, options).unwrap_or_else(|said| panic!("{}", say(&said)));
                let compiled = [compile(0), compile(1)];
                for &model in law.models {
                    for side in 0..2 {
                        let way = way(options, at + index + side);
                        let found = batch.check(&Check::Refines(model), way, &compiled[side], &compiled[1 - side]);
                        let direction =
                            ["the second does not refine the first", "the first does not refine the second"];
                        let what = format!("{model:?}, {}: {found:?}\n{way:?}", direction[side]);
                        assert!(matches!(found, Ok(None)), "{}", say(&what));
                    }
                }
            }
        }
    }
}
