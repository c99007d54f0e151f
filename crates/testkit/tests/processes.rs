//! The denotational semantics against itself: its healthiness conditions, and the laws.

use trefoil_system::Model;
use trefoil_testkit::processes::laws::{Operands, laws};
use trefoil_testkit::processes::random::{Shape, random_pair, random_process};
use trefoil_testkit::processes::shrink::shrink;
use trefoil_testkit::processes::tree::{Process, prefix};
use trefoil_testkit::processes::{Event, Events, verdicts};
use trefoil_testkit::{Random, seed};

const MODELS: [Model; 3] = [Model::Traces, Model::Failures, Model::FailuresDivergences];

#[test]
fn random_processes_are_healthy() {
    let seed = seed();
    let mut random = Random::new(seed);
    for _ in 0..3_000 {
        let size = 1 + random.below(14);
        let shape = Shape::any(size, &mut random);
        let (process, denotation) = random_process(shape, &mut random);
        if let Err(broken) = denotation.healthy() {
            let ill = |process: &Process| process.denotation().is_ok_and(|denotation| denotation.healthy().is_err());
            panic!("TREFOIL_SEED={seed}: {}: {broken}", shrink(process, ill));
        }
    }
}

#[test]
fn the_denotations_of_both_sides_of_a_law_are_equal() {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut names, mut checked) = (Vec::new(), 0);
    for law in laws() {
        assert!(!names.contains(&law.name), "{} is there twice", law.name);
        names.push(law.name);
        let mut tries = 0;
        let mut done = 0;
        while done < 40 {
            tries += 1;
            assert!(tries < 4_000, "{}: few operands have a denotation", law.name);
            let mut shape = Shape::any(5, &mut random);
            shape.size = 1 + random.below(5);
            let (left, right) = (law.sides)(&mut Operands { random: &mut random, shape });
            let (Ok(one), Ok(other)) = (left.denotation(), right.denotation()) else { continue };
            done += 1;
            for &model in law.models {
                checked += 1;
                assert!(
                    verdicts::equivalent(model, &one, &other),
                    "TREFOIL_SEED={seed}: {} ({model:?})\n  {left}\n  {right}",
                    law.name
                );
            }
        }
    }
    assert!(names.len() >= 60, "{} laws", names.len());
    println!("{} laws, {checked} comparisons", names.len());
}

/// Each verdict of each check is frequent, so that agreement means something.
#[test]
fn random_pairs_tell_the_checks_apart() {
    let mut random = Random::new(seed());
    let (mut holds, mut certain, mut all) = ([0; 3], 0, 0);
    let mut properties = [0; 5];
    for _ in 0..1_000 {
        let size = 3 + random.below(10);
        let shape = Shape::any(size, &mut random);
        let [(_, left), (_, right)] = random_pair(shape, &mut random);
        for (index, model) in MODELS.into_iter().enumerate() {
            for verdict in [verdicts::refines(model, &left, &right), verdicts::refines(model, &right, &left)] {
                all += 1;
                certain += usize::from(verdict.holds().is_some());
                holds[index] += usize::from(verdict.violation.is_none());
            }
        }
        let of = [
            verdicts::deadlock_free(Model::Failures, &right),
            verdicts::deadlock_free(Model::FailuresDivergences, &right),
            verdicts::divergence_free(&right),
            verdicts::deterministic(Model::Failures, &right),
            verdicts::deterministic(Model::FailuresDivergences, &right),
        ];
        for (count, verdict) in properties.iter_mut().zip(of) {
            *count += usize::from(verdict.violation.is_none());
        }
    }
    println!("holds {holds:?} of 2000 each, certain {certain} of {all}; properties {properties:?} of 1000");
    for count in holds {
        assert!((400..1_600).contains(&count), "refinement holds in {count} of 2000");
    }
    assert!(certain * 10 > all * 8, "only {certain} of {all} are certain");
}

/// Known answers of the books.
#[test]
fn the_oracle_knows_the_books() {
    let (a, b) = (Event(0), Event(1));
    let meaning = |process: Process| process.denotation().expect("small");
    let external = meaning(prefix(a, Process::Stop).external(prefix(b, Process::Stop)));
    let internal = meaning(prefix(a, Process::Stop).internal(prefix(b, Process::Stop)));
    assert!(verdicts::equivalent(Model::Traces, &external, &internal));
    assert_eq!(verdicts::refines(Model::Failures, &internal, &external).violation, None);
    assert_eq!(verdicts::refines(Model::Failures, &external, &internal).violation, Some(0));
    assert_eq!(verdicts::deterministic(Model::Failures, &external).violation, None);
    assert_eq!(verdicts::deterministic(Model::Failures, &internal).violation, Some(0));
    // The environment cannot refuse termination: (<>, {a}) is a failure of a -> STOP [] SKIP.
    let choice = meaning(prefix(a, Process::Stop).external(Process::Skip));
    assert!(choice.initially().refusals.has(Events::SIGMA) && !choice.initially().refusals.has(Events::ALL));
    assert_eq!(verdicts::deterministic(Model::Failures, &choice).violation, Some(0));
    // The stable failures model does not see a divergence that the failures-divergences model sees.
    let hidden = meaning(Process::Run(Events::one(a)).hide(Events::one(a)));
    assert_eq!(verdicts::divergence_free(&hidden).violation, Some(0));
    assert_eq!(verdicts::refines(Model::Failures, &meaning(Process::Stop), &hidden).violation, None);
    assert_eq!(verdicts::refines(Model::FailuresDivergences, &meaning(Process::Stop), &hidden).violation, Some(0));
    assert_eq!(verdicts::refines(Model::FailuresDivergences, &hidden, &external).violation, None);
    // A terminated process can do nothing more.
    assert_eq!(verdicts::deadlock_free(Model::Failures, &meaning(Process::Skip)).violation, Some(1));
    assert_eq!(verdicts::deadlock_free(Model::Failures, &meaning(Process::Run(Events::one(a)))).holds(), None);
}

/// A plausible but wrong law is refuted: the comparison can fail.
#[test]
fn what_is_no_law_is_refuted() {
    type Sides = fn(Process, Process, Process) -> (Process, Process);
    use Model::{Failures, FailuresDivergences, Traces};
    let wrong: [(&str, Model, Sides); 10] = [
        ("P [] Q = P |~| Q", Failures, |p, q, _| (p.clone().external(q.clone()), p.internal(q))),
        ("P [> Q = Q [> P", Failures, |p, q, _| (p.clone().sliding(q.clone()), q.sliding(p))),
        ("P /\\ Q = Q /\\ P", Traces, |p, q, _| (p.clone().interrupt(q.clone()), q.interrupt(p))),
        ("P [] SKIP = P", Failures, |p, _, _| (p.clone().external(Process::Skip), p)),
        ("P ||| P = P", Traces, |p, _, _| (p.clone().interleave(p.clone()), p)),
        ("P ||| STOP = P", Traces, |p, _, _| (p.clone().interleave(Process::Stop), p)),
        ("P [|Σ|] P = P", Failures, |p, _, _| (p.clone().parallel(Events::SIGMA, p.clone()), p)),
        ("(P [] Q) ; R = (P ; R) [] (Q ; R)", Failures, |p, q, r| {
            (p.clone().external(q.clone()).then(r.clone()), p.then(r.clone()).external(q.then(r)))
        }),
        ("(P [] Q) \\ A = (P \\ A) [] (Q \\ A)", FailuresDivergences, |p, q, _| {
            let a = Events::one(Event(0));
            (p.clone().external(q.clone()).hide(a), p.hide(a).external(q.hide(a)))
        }),
        ("P |~| DIV = P", FailuresDivergences, |p, _, _| (p.clone().internal(Process::Div), p)),
    ];
    let mut random = Random::new(seed());
    let shape = Shape { size: 4, events: Events(3), divergence: false, infinite: false, compressions: false };
    for (name, model, sides) in wrong {
        let refuted = (0..300).any(|_| {
            let mut process = || random_process(shape, &mut random).0;
            let (left, right) = sides(process(), process(), process());
            let (Ok(left), Ok(right)) = (left.denotation(), right.denotation()) else { return false };
            !verdicts::equivalent(model, &left, &right)
        });
        assert!(refuted, "{name} was not refuted");
    }
}
