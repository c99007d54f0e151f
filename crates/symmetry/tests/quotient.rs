//! Quotients of random systems: as many representatives as orbits, as many states as there are, runs that are runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_symmetry::{Promise, Quotient, STRATEGIES, Symmetry, Tally, UBig};
use trefoil_system::replay::replay_path;
use trefoil_system::{
    Action, Actor, Checked, Cut, Explorer, LabelId, Labels, Path, Picture, System, TakenStep, Value, Walk,
};
use trefoil_testkit::cutting::Cutting;
use trefoil_testkit::interruptions::interrupt;
use trefoil_testkit::symmetric::{Processes, Shape, random_generators};
use trefoil_testkit::{Random, seed};

fn random_system(random: &mut Random) -> Processes {
    let shape = Shape {
        processes: 3 + random.below(2),
        controls: 3,
        rules: 3 + random.below(8),
        events: 2,
        internal_percent: 40,
    };
    let generators = random_generators(shape.processes, random);
    Processes::random(&Arc::new(Labels::new()), shape, generators, random)
}

/// The steps that found rows.
type Found = BTreeMap<Vec<Value>, Option<(Vec<Value>, LabelId)>>;

/// Every row that the initial one reaches, with the step that found it.
fn reachable(system: &dyn System) -> (Found, Tally) {
    let control = Control::unlimited();
    let mut tally = Tally::default();
    let mut work = vec![system.initial(&control).unwrap()];
    let mut found = BTreeMap::from([(work[0].clone(), None)]);
    let mut explorer = system.explorer(&control);
    while let Some(row) = work.pop() {
        let walk = explorer.successors(&row, &mut |step| {
            if !found.contains_key(step.row) {
                tally.note(step.class);
                found.insert(step.row.to_vec(), Some((row.clone(), step.label)));
                work.push(step.row.to_vec());
            }
            Ok(())
        });
        walk.unwrap();
    }
    (found, tally)
}

/// The least row of the orbit of each of these, and of all others in their orbits.
fn least_rows(system: &Processes, rows: impl Iterator<Item = Vec<Value>>) -> BTreeMap<Vec<Value>, Vec<Value>> {
    let control = Control::unlimited();
    let mut actor = system.actor(&control);
    let mut known: BTreeMap<Vec<Value>, Vec<Value>> = BTreeMap::new();
    for first in rows {
        if known.contains_key(&first) {
            continue;
        }
        let mut orbit = BTreeSet::from([first.clone()]);
        let mut work = vec![first];
        while let Some(row) = work.pop() {
            for generator in system.generators() {
                let mut image = vec![0; row.len()];
                actor.apply(generator, &row, &mut image).expect("nothing cuts it");
                if orbit.insert(image.clone()) {
                    work.push(image);
                }
            }
        }
        let least = orbit.first().expect("it has a row").clone();
        known.extend(orbit.into_iter().map(|row| (row, least.clone())));
    }
    known
}

/// The least row of each orbit of these.
fn orbits(system: &Processes, rows: impl Iterator<Item = Vec<Value>>) -> BTreeSet<Vec<Value>> {
    least_rows(system, rows).into_values().collect()
}

/// The steps of a row, their targets replaced.
fn steps(system: &dyn System, row: &[Value], least: &BTreeMap<Vec<Value>, Vec<Value>>) -> Vec<(LabelId, Vec<Value>)> {
    let mut steps = Vec::new();
    let walk = system.explorer(&Control::unlimited()).successors(row, &mut |step| {
        steps.push((step.label, least[step.row].clone()));
        Ok(())
    });
    walk.unwrap();
    steps.sort_unstable();
    steps
}

#[test]
fn representatives_stand_for_all_states() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let control = Control::unlimited();
    let (mut smaller, mut runs) = (0, 0);
    for number in 0..600 {
        let mut random = Random::new(seed.wrapping_add(number));
        let system = random_system(&mut random);
        if system.explore(3000).is_none() {
            continue;
        }
        let all = reachable(&system).0;
        let least = least_rows(&system, all.keys().cloned());
        let expected: BTreeSet<Vec<Value>> = least.values().cloned().collect();
        for strategy in STRATEGIES {
            let Ok(symmetry) = Symmetry::of_action(&system, strategy, &control) else { continue };
            let mut quotient = Quotient::new(&system, &system, &symmetry, &control).unwrap();
            quotient.count(|_| true);
            let (found, tally) = reachable(&quotient);
            assert!(found.keys().all(|row| all.contains_key(row)), "{number} {}", strategy.name);
            assert_eq!(orbits(&system, found.keys().cloned()), expected, "{number} {}", strategy.name);
            if symmetry.strategy().promise == Promise::Exact {
                assert_eq!(found.len(), expected.len(), "{number} {}", strategy.name);
                let total = Some(UBig::from(all.len()));
                assert_eq!(quotient.total([&tally].into_iter()), total, "{number} {}", strategy.name);
            } else {
                assert_eq!(quotient.total([&tally].into_iter()), None);
            }
            for row in found.keys() {
                let here = (steps(&quotient, row, &least), steps(&system, row, &least));
                assert_eq!(here.0, here.1, "{number} {} {row:?}", strategy.name);
            }
            smaller += usize::from(found.len() < all.len());
            // Back along the steps that found it.
            let rows: Vec<&Vec<Value>> = found.keys().collect();
            let run = run_to(rows[random.below(rows.len())], &found);
            let real = quotient.unwind(&run, &control).unwrap();
            replay_path(&system, &real, &control).expect("a run of the system");
            assert_eq!(real.steps.len(), run.steps.len());
            assert_eq!(orbits(&system, [real.last().to_vec(), run.last().to_vec()].into_iter()).len(), 1);
            runs += run.steps.len();
        }
    }
    assert!(smaller > 400 && runs > 1500, "too few: {smaller} smaller, {runs} steps");
}

/// The action of a system whose pictures show the processes but not the process that the shared variable names.
struct Sketched<'a>(&'a Processes);

struct SketchingActor<'a>(Box<dyn Actor + 'a>);

impl Action for Sketched<'_> {
    fn points(&self) -> usize {
        self.0.points()
    }

    fn generators(&self) -> &[Vec<u32>] {
        self.0.generators()
    }

    fn pictures_are_complete(&self) -> bool {
        false
    }

    fn actor<'a>(&'a self, control: &'a Control) -> Box<dyn Actor + 'a> {
        Box::new(SketchingActor(self.0.actor(control)))
    }
}

impl Actor for SketchingActor<'_> {
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        let mut sketched = row.to_vec();
        *sketched.last_mut().expect("the shared variable is the last") = 0;
        self.0.picture(&sketched, picture);
    }

    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) -> Walk {
        self.0.apply(element, row, into)
    }

    fn references(&mut self, slot: usize, value: Value, points: &mut Vec<u32>) -> bool {
        self.0.references(slot, value, points)
    }

    fn apply_to_slot(&mut self, element: &[u32], slot: usize, value: Value) -> Result<(usize, Value), Cut> {
        self.0.apply_to_slot(element, slot, value)
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        self.0.apply_to_label(element, label)
    }
}

#[test]
fn no_orbit_is_lost_where_pictures_leave_something_out() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let control = Control::unlimited();
    let mut several = 0;
    for number in 0..300 {
        let system = random_system(&mut Random::new(seed.wrapping_add(number)));
        if system.explore(3000).is_none() {
            continue;
        }
        let least = least_rows(&system, reachable(&system).0.into_keys());
        let expected: BTreeSet<Vec<Value>> = least.values().cloned().collect();
        let action = Sketched(&system);
        for strategy in STRATEGIES {
            let Ok(symmetry) = Symmetry::of_action(&action, strategy, &control) else { continue };
            let quotient = Quotient::new(&system, &action, &symmetry, &control).unwrap();
            let found = reachable(&quotient).0;
            for row in found.keys() {
                let here = (steps(&quotient, row, &least), steps(&system, row, &least));
                assert_eq!(here.0, here.1, "{number} {} {row:?}", strategy.name);
            }
            several += usize::from(found.len() > expected.len());
            assert_eq!(orbits(&system, found.into_keys()), expected, "{number} {}", strategy.name);
        }
    }
    assert!(several > 20, "too few with more than one representative: {several}");
}

#[test]
fn a_quotient_declares_honestly_what_it_reads_and_writes() {
    let control = Control::unlimited();
    for number in 0..20 {
        let mut random = Random::new(number);
        let system = random_system(&mut random);
        if system.explore(500).is_none() {
            continue;
        }
        let symmetry = Symmetry::of_action(&system, &STRATEGIES[0], &control).unwrap();
        let mut quotient = Quotient::new(&system, &system, &symmetry, &control).unwrap();
        quotient.count(|_| true);
        let (states, tally) = reachable(&quotient);
        let counted = quotient.total([&tally].into_iter());
        let checked = Checked::new(quotient);
        assert_eq!(reachable(&checked).0.len(), states.len());
        assert!(counted > Some(UBig::ZERO));
    }
}

/// All steps of the quotient from what the walks so far found, with their classes.
fn all_steps(initial: &[Value], explorer: &mut dyn Explorer) -> Result<Vec<(LabelId, Vec<Value>, u32)>, Cut> {
    let mut work = vec![initial.to_vec()];
    let mut found = BTreeSet::from([work[0].clone()]);
    let mut steps = Vec::new();
    while let Some(row) = work.pop() {
        explorer.successors(&row, &mut |step| {
            steps.push((step.label, step.row.to_vec(), step.class));
            if found.insert(step.row.to_vec()) {
                work.push(step.row.to_vec());
            }
            Ok(())
        })?;
    }
    Ok(steps)
}

#[test]
fn a_reduction_that_is_stopped_cuts_the_walk() {
    let mut stopped = 0;
    for number in 0..60 {
        let mut random = Random::new(number);
        let system = random_system(&mut random);
        if system.explore(200).is_none() {
            continue;
        }
        for strategy in STRATEGIES {
            let Ok(symmetry) = Symmetry::of_action(&system, strategy, &Control::unlimited()) else { continue };
            let seen = interrupt(
                40,
                || {
                    let mut quotient = Quotient::new(&system, &system, &symmetry, &Control::unlimited()).unwrap();
                    quotient.count(|_| true);
                    quotient
                },
                |quotient, control| all_steps(&quotient.initial(control)?, &mut *quotient.explorer(control)),
            );
            // Nothing is left out of a walk that ends well.
            assert_eq!(seen.stopped, seen.polls.min(40), "{number} {}", strategy.name);
            stopped += seen.stopped;
        }
    }
    assert!(stopped > 1000, "too few stops: {stopped}");
}

/// The run of the quotient to a row, back along the steps that found it.
fn run_to(row: &[Value], found: &Found) -> Path {
    let (mut here, mut steps) = (row.to_vec(), Vec::new());
    while let Some((from, label)) = &found[&here] {
        steps.push(TakenStep { label: *label, row: here });
        here = from.clone();
    }
    steps.reverse();
    Path { start: here, steps }
}

#[test]
fn an_action_that_is_cut_cuts_the_walk() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let control = Control::unlimited();
    let (mut walks, mut runs) = (0, 0);
    for number in 0..60 {
        let system = random_system(&mut Random::new(seed.wrapping_add(number)));
        if system.explore(200).is_none() {
            continue;
        }
        let cutting = Cutting::new(&system);
        for strategy in STRATEGIES {
            let Ok(symmetry) = Symmetry::of_action(&cutting, strategy, &control) else { continue };
            let mut quotient = Quotient::new(&cutting, &cutting, &symmetry, &control).unwrap();
            quotient.count(|_| true);
            let initial = quotient.initial(&control).unwrap();
            // The explorer that was cut walks again.
            walks +=
                cutting.interrupt(60, || quotient.explorer(&control), |explorer| all_steps(&initial, &mut **explorer));
            let found = reachable(&quotient).0;
            let run = run_to(found.keys().next_back().unwrap(), &found);
            runs += cutting.interrupt(10, || (), |()| quotient.unwind(&run, &control));
            let cuts = cutting.interrupt(
                1,
                || (),
                |()| Quotient::new(&cutting, &cutting, &symmetry, &control)?.initial(&control),
            );
            assert_eq!(cuts, 1, "the representative of the initial row is applied to");
        }
    }
    assert!(walks > 3000 && runs > 500, "too few cuts: {walks} of walks, {runs} of runs");
}
