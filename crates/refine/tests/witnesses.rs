//! The same witness every time, and no more work for it than its round.

mod support;

use std::sync::Arc;

use support::TwoSlots;
use trefoil_control::Control;
use trefoil_lts::{Lts, LtsBuilder, Transition};
use trefoil_network::{Component, LazyMachine, Network, Rule};
use trefoil_refine::{
    Algorithm, CheckOptions, Implementation, Options, Outcome, Preprocess, Search, Unanswered, deadlock, determinism,
    divergence, has_trace, refine,
};
use trefoil_symmetry::STRATEGIES;
use trefoil_system::{Failure, LabelId, Labels, Model, Path, StateId, System, TakenStep, Witness};
use trefoil_testkit::refinement::random_pair;
use trefoil_testkit::symmetric;
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

const MODELS: [Model; 7] = Model::ALL;
const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::Antichain, Algorithm::NormalForm, Algorithm::LazyNormalForm, Algorithm::Automatic];
const THREADS: [usize; 3] = [1, 2, 4];

/// A run with its states as canonical bytes: the same in two systems that found their values in different orders.
type Run = Vec<(LabelId, Vec<u8>)>;

/// A question about a system, on a number of threads.
type Check<'a> = dyn Fn(&dyn System, usize) -> Result<Outcome, Unanswered> + 'a;

/// What is compared of an outcome.
#[derive(Debug, PartialEq)]
enum Answer {
    Refused(String),
    Holds { run: Option<Run>, states: u64, transitions: u64 },
    Fails { runs: Vec<Run>, failure: Option<Failure>, accepted: Vec<LabelId>, states: u64, transitions: u64 },
}

fn answer(system: &dyn System, outcome: Result<Outcome, Unanswered>) -> Answer {
    let bytes = |row: &[u32]| {
        let mut bytes = Vec::new();
        system.layout().bytes(row, &mut bytes);
        bytes
    };
    let taken = |steps: &[TakenStep]| -> Run { steps.iter().map(|step| (step.label, bytes(&step.row))).collect() };
    let run =
        |path: &Path| -> Run { [(LabelId::TAU, bytes(&path.start))].into_iter().chain(taken(&path.steps)).collect() };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(Unanswered::Refused(why)) => return Answer::Refused(why.to_string()),
        Err(other) => panic!("no budget: {other:?}"),
    };
    let (states, transitions) = (outcome.statistics.states, outcome.statistics.transitions);
    let (runs, failure, accepted) = match &outcome.witness {
        None => return Answer::Holds { run: outcome.run.as_ref().map(run), states, transitions },
        Some(Witness::Path { path, failure }) => (vec![run(path)], Some(failure.clone()), Vec::new()),
        Some(Witness::Lasso { path, cycle }) => (vec![run(path), taken(cycle)], None, Vec::new()),
        Some(Witness::TwoRuns { can, cannot, accepted }) => (vec![run(can), run(cannot)], None, accepted.clone()),
    };
    Answer::Fails { runs, failure, accepted, states, transitions }
}

/// Counts the questions, and those that failed.
#[derive(Default)]
struct Asked {
    all: usize,
    failed: usize,
}

impl Asked {
    /// Asks a question on 1, 2 and 4 threads.
    fn ask(&mut self, place: &str, ask: impl Fn(usize) -> Answer) {
        let first = ask(THREADS[0]);
        self.all += 1;
        self.failed += usize::from(matches!(first, Answer::Fails { .. }));
        for threads in &THREADS[1..] {
            assert_eq!(ask(*threads), first, "{threads} threads: {place}");
        }
    }

    fn assert_enough(&self, all: usize) {
        println!("{} of {} fail", self.failed, self.all);
        assert!(self.all >= all && self.failed * 10 > self.all, "too few: {} of {}", self.failed, self.all);
    }
}

/// Asks everything about a system, which is made again for each question.
fn ask_everything<'s>(
    asked: &mut Asked,
    place: &str,
    specification: &Lts,
    trace: &[LabelId],
    make: &dyn Fn() -> Box<dyn System + 's>,
) {
    let control = Control::unlimited();
    let strategies = STRATEGIES.iter().filter(|strategy| ["auto", "fast"].contains(&strategy.name));
    let symmetric = make().action().is_some();
    for symmetry in strategies.filter(|_| symmetric).map(Some).chain([None]) {
        for model in MODELS {
            for (algorithm, preprocess) in ALGORITHMS
                .into_iter()
                .flat_map(|algorithm| [Preprocess::Nothing, Preprocess::Both].map(|preprocess| (algorithm, preprocess)))
            {
                for search in [Search::BreadthFirst, Search::DepthFirst] {
                    let place = format!("{place} {model:?} {algorithm:?} {search:?} {symmetry:?}");
                    asked.ask(&place, |threads| {
                        let options = Options { model, algorithm, search, preprocess, threads, symmetry };
                        let system = make();
                        answer(&*system, refine(specification, Implementation::System(&*system), options, &control))
                    });
                }
            }
            let options = |threads| CheckOptions { threads, symmetry };
            let place = format!("{place} {model:?} {symmetry:?}");
            let checks: [&Check<'_>; 4] = [
                &|system, threads| deadlock(system, model, options(threads), &control),
                &|system, threads| divergence(system, options(threads), &control),
                &|system, threads| determinism(system, model, options(threads), &control),
                &|system, threads| has_trace(system, trace, model, options(threads), &control),
            ];
            for (number, check) in checks.iter().enumerate() {
                asked.ask(&format!("property {number} {place}"), |threads| {
                    let system = make();
                    answer(&*system, check(&*system, threads))
                });
            }
        }
    }
}

fn some_trace(lts: &Lts, random: &mut Random) -> Vec<LabelId> {
    let mut here = lts.initial();
    let mut trace = Vec::new();
    for _ in 0..8 {
        let steps = lts.outgoing(here);
        if steps.is_empty() {
            break;
        }
        let Transition { label, target } = steps[random.below(steps.len())];
        trace.extend(label.is_visible().then_some(label));
        here = target;
    }
    trace
}

#[test]
fn explicit_systems_have_one_witness() {
    let (seed, mut asked) = (seed(), Asked::default());
    let control = Control::unlimited();
    println!("TREFOIL_SEED={seed}");
    for number in 0..36 {
        let mut random = Random::new(seed.wrapping_add(number));
        let (specification, implementation) = random_pair(&Arc::new(Labels::new()), &mut random);
        let trace = some_trace(&specification, &mut random);
        let place = format!("TREFOIL_SEED={seed} pair {number}");
        ask_everything(&mut asked, &place, &specification, &trace, &|| Box::new(TwoSlots::new(implementation.clone())));
        for model in MODELS {
            for (algorithm, search) in ALGORITHMS
                .into_iter()
                .flat_map(|algorithm| [Search::BreadthFirst, Search::DepthFirst].map(|search| (algorithm, search)))
            {
                asked.ask(&format!("{place} {model:?} {algorithm:?} {search:?}"), |threads| {
                    let options = Options { algorithm, search, threads, ..Options::new(model) };
                    answer(&implementation, refine(&specification, &implementation, options, &control))
                });
            }
        }
    }
    asked.assert_enough(1_000);
}

/// Where no divergence is looked for, which ends in a cycle, every algorithm takes as few silent steps.
#[test]
fn all_algorithms_take_as_few_silent_steps() {
    let (seed, control) = (seed(), Control::unlimited());
    println!("TREFOIL_SEED={seed}");
    let (mut failed, mut silent) = (0, 0);
    for number in 0..300 {
        let mut random = Random::new(seed.wrapping_add(number));
        let labels = Arc::new(Labels::new());
        let shape =
            |states, tau_percent| RandomShape { states, transitions: 3 * states as usize, labels: 3, tau_percent };
        let specification = random_lts(&labels, shape(20, 20), &mut random);
        let implementation = random_lts(&labels, shape(30, 50), &mut random);
        for model in [Model::Traces, Model::Failures] {
            let lengths = ALGORITHMS.map(|algorithm| {
                let options = Options { algorithm, preprocess: Preprocess::Nothing, ..Options::new(model) };
                let outcome = refine(&specification, &implementation, options, &control).expect("no budget");
                outcome.witness.map(|witness| (witness.length(), witness.path().steps.len()))
            });
            assert!(lengths.iter().all(|length| *length == lengths[0]), "TREFOIL_SEED={seed} {number}: {lengths:?}");
            failed += usize::from(lengths[0].is_some());
            silent += usize::from(lengths[0].is_some_and(|(visible, steps)| steps > visible));
        }
    }
    println!("{failed} fail, {silent} of them behind silent steps");
    assert!(failed > 200 && silent > 100, "too few: {failed}, {silent}");
}

#[test]
fn symmetric_systems_have_one_witness() {
    let (seed, mut asked) = (seed(), Asked::default());
    println!("TREFOIL_SEED={seed}");
    for number in 0..36 {
        let make = || symmetric::random_pair(&mut Random::new(seed.wrapping_add(number)));
        let Some((specification, _)) = make() else { continue };
        let trace = some_trace(&specification, &mut Random::new(number));
        let place = format!("TREFOIL_SEED={seed} processes {number}");
        ask_everything(&mut asked, &place, &specification, &trace, &|| Box::new(make().expect("as before").1));
    }
    asked.assert_enough(1_000);
}

/// Networks of two layers: the values of a slot are numbers that a lazy machine gives to the states of a network as its
/// threads find them.
fn layered(labels: &Arc<Labels>, random: &mut Random) -> Network {
    let machine = |name: usize, random: &mut Random| {
        let parts: Vec<Lts> = (0..2)
            .map(|_| {
                let shape = RandomShape { states: 5, transitions: 11, labels: 3, tau_percent: 20 };
                random_lts(labels, shape, random)
            })
            .collect();
        let rule = |part: usize, label: LabelId| Rule::new([(part, label)], label);
        let mut rules: Vec<Rule> = Vec::new();
        for (part, lts) in parts.iter().enumerate() {
            let mut own: Vec<LabelId> = lts.transitions().iter().map(|step| step.label).collect();
            own.sort_unstable();
            own.dedup();
            rules.extend(own.into_iter().map(|label| rule(part, label)));
        }
        let components = parts.into_iter().map(|lts| Component::new("part", Arc::new(lts))).collect();
        let network = Network::new(labels.clone(), components, rules).expect("a small network");
        Component::lazy(format!("machine {name}"), Arc::new(LazyMachine::new(Arc::new(network))))
    };
    let machines: Vec<Component> = (0..2).map(|name| machine(name, random)).collect();
    let labels_of = |component: usize| (component, ["a", "b", "c"].map(|name| labels.name(name)));
    let mut rules = Vec::new();
    for (component, names) in [labels_of(0), labels_of(1)] {
        rules.push(Rule::new([(component, LabelId::TAU)], LabelId::TAU));
        for name in names {
            let seen = if random.chance(15) { LabelId::TAU } else { name };
            rules.push(Rule::new([(component, name)], seen));
        }
    }
    Network::new(labels.clone(), machines, rules).expect("a small network")
}

#[test]
fn systems_whose_values_are_met_have_one_witness() {
    let (seed, mut asked) = (seed(), Asked::default());
    println!("TREFOIL_SEED={seed}");
    for number in 0..12 {
        let make = || {
            let labels = Arc::new(Labels::new());
            let mut random = Random::new(seed.wrapping_add(number));
            let network = layered(&labels, &mut random);
            let shape = RandomShape { states: 6, transitions: 30, labels: 3, tau_percent: 5 };
            (network, random_lts(&labels, shape, &mut random))
        };
        let (_, specification) = make();
        let trace = some_trace(&specification, &mut Random::new(number));
        let place = format!("TREFOIL_SEED={seed} network {number}");
        let control = Control::unlimited();
        let mut checked = Asked::default();
        for model in MODELS {
            for algorithm in ALGORITHMS {
                checked.ask(&format!("{place} {model:?} {algorithm:?}"), |threads| {
                    let (network, specification) = make();
                    let options = Options { algorithm, threads, ..Options::new(model) };
                    answer(&network, refine(&specification, &network as &dyn System, options, &control))
                });
            }
            let options = |threads| CheckOptions { threads, symmetry: None };
            checked.ask(&format!("deadlock {place}"), |threads| {
                let network = make().0;
                answer(&network, deadlock(&network, model, options(threads), &control))
            });
            checked.ask(&format!("divergence {place}"), |threads| {
                let network = make().0;
                answer(&network, divergence(&network, options(threads), &control))
            });
            checked.ask(&format!("determinism {place}"), |threads| {
                let network = make().0;
                answer(&network, determinism(&network, model, options(threads), &control))
            });
            checked.ask(&format!("trace {place}"), |threads| {
                let network = make().0;
                answer(&network, has_trace(&network, &trace, model, options(threads), &control))
            });
        }
        asked.all += checked.all;
        asked.failed += checked.failed;
    }
    asked.assert_enough(200);
}

/// A specification with a node for each of `width` events, and an implementation whose states at one distance meet
/// these nodes, so that threads race for them. Behind each event from the `first` on is what the specification forbids.
fn fan(width: u32, first: u32) -> (Lts, Lts) {
    let labels = Arc::new(Labels::new());
    let (enter, bad) = (labels.name("enter"), labels.name("bad"));
    let numbered = |name: &str| -> Vec<LabelId> { (0..width).map(|n| labels.name(&format!("{name}.{n}"))).collect() };
    let (chosen, answered) = (numbered("chosen"), numbered("answered"));
    let mut specification = LtsBuilder::new(labels.clone());
    let mut implementation = LtsBuilder::new(labels.clone());
    specification.add(StateId(0), enter, StateId(1));
    for (number, (&chosen, &answered)) in (0..).zip(chosen.iter().zip(&answered)) {
        specification.add(StateId(1), chosen, StateId(2 + number));
        specification.add(StateId(2 + number), answered, StateId(0));
        let [choosing, answering] = [StateId(1 + number), StateId(1 + width + number)];
        implementation.add(StateId(0), enter, choosing).add(choosing, chosen, answering);
        implementation.add(answering, answered, StateId(0));
        if number >= first {
            implementation.add(answering, bad, StateId(0));
        }
    }
    (specification.build(StateId(0)), implementation.build(StateId(0)))
}

#[test]
fn nodes_that_threads_race_for_leave_one_witness() {
    const WIDTH: u32 = 1024;
    let (mut asked, control) = (Asked::default(), Control::unlimited());
    for first in (0..WIDTH).step_by(100) {
        let (specification, implementation) = fan(WIDTH, first);
        for algorithm in ALGORITHMS {
            let preprocess = Preprocess::Nothing;
            let options = |threads| Options { algorithm, threads, preprocess, ..Options::new(Model::Traces) };
            asked.ask(&format!("explicit, from {first} on, {algorithm:?}"), |threads| {
                answer(&implementation, refine(&specification, &implementation, options(threads), &control))
            });
            asked.ask(&format!("system, from {first} on, {algorithm:?}"), |threads| {
                let system = Implementation::System(&implementation);
                answer(&implementation, refine(&specification, system, options(threads), &control))
            });
        }
    }
    asked.assert_enough(80);
}

/// Two runs to a forbidden event have the same trace. In one of them a silent step follows the event `a`, in the other
/// three come before it.
#[test]
fn a_silent_step_after_an_event_is_nearer_than_three_before_it() {
    let labels = Arc::new(Labels::new());
    let (a, bad) = (labels.name("a"), labels.name("bad"));
    let mut builder = LtsBuilder::new(labels.clone());
    builder.add(StateId(0), a, StateId(1));
    let specification = builder.build(StateId(0));
    let mut builder = LtsBuilder::new(labels.clone());
    let steps = [(0, a, 1), (1, LabelId::TAU, 2), (2, bad, 6)];
    let detour = [(0, LabelId::TAU, 3), (3, LabelId::TAU, 4), (4, LabelId::TAU, 5), (5, a, 2)];
    for (from, label, to) in steps.into_iter().chain(detour) {
        builder.add(StateId(from), label, StateId(to));
    }
    let implementation = builder.build(StateId(0));
    for (algorithm, threads) in ALGORITHMS.into_iter().flat_map(|algorithm| THREADS.map(|threads| (algorithm, threads)))
    {
        let normal_form = algorithm == Algorithm::NormalForm;
        for model in MODELS.into_iter().filter(|model| !normal_form || !model.observes_refusals_on_the_way()) {
            let options = Options { algorithm, threads, preprocess: Preprocess::Nothing, ..Options::new(model) };
            let outcome = refine(&specification, &implementation, options, &Control::unlimited()).expect("no budget");
            let witness = outcome.witness.expect("bad is forbidden");
            let taken: Vec<LabelId> = witness.path().steps.iter().map(|step| step.label).collect();
            assert_eq!(taken, [a, LabelId::TAU, bad], "{options:?}");
        }
    }
}

/// A specification that allows nothing.
fn stop(labels: &Arc<Labels>) -> Lts {
    let mut builder = LtsBuilder::new(labels.clone());
    builder.at_least(1);
    builder.build(StateId(0))
}

/// Asserts that a single forbidden event is found without what silent steps reach.
fn assert_one_round(specification: &Lts, implementation: Implementation<'_>, most: u64) {
    for algorithm in ALGORITHMS {
        for threads in THREADS {
            let preprocess = Preprocess::Nothing;
            let options = Options { algorithm, threads, preprocess, ..Options::new(Model::Traces) };
            let outcome = refine(specification, implementation, options, &Control::unlimited()).expect("no budget");
            let witness = outcome.witness.expect("bad is forbidden");
            assert_eq!(witness.path().steps.len(), 1, "{options:?}");
            assert!(outcome.statistics.states <= most, "{options:?}: {} states", outcome.statistics.states);
        }
    }
}

#[test]
fn a_forbidden_event_costs_its_round() {
    let labels = Arc::new(Labels::new());
    let bad = labels.name("bad");
    let mut builder = LtsBuilder::new(labels.clone());
    builder.add(StateId(0), bad, StateId(0));
    for state in 0..100_000 {
        builder.add(StateId(state), LabelId::TAU, StateId(state + 1));
        builder.add(StateId(state), LabelId::TAU, StateId(state / 2));
    }
    let chain = builder.build(StateId(0));
    assert_one_round(&stop(&labels), (&chain).into(), 4);
}

/// Counters that are hidden beside a process that offers `bad`: 8 million states, and one is needed.
#[test]
fn a_forbidden_event_beside_hidden_counters_costs_its_round() {
    let labels = Arc::new(Labels::new());
    let (bad, up) = (labels.name("bad"), labels.name("up"));
    let counter = |_| {
        let mut builder = LtsBuilder::new(labels.clone());
        for state in 0..200 {
            builder.add(StateId(state), up, StateId((state + 1) % 200));
        }
        Component::new("counter", Arc::new(builder.build(StateId(0))))
    };
    let mut components: Vec<Component> = (0..3).map(counter).collect();
    let mut builder = LtsBuilder::new(labels.clone());
    builder.add(StateId(0), bad, StateId(1));
    components.push(Component::new("offers bad", Arc::new(builder.build(StateId(0)))));
    let mut rules: Vec<Rule> = (0..3).map(|counter| Rule::new([(counter, up)], LabelId::TAU)).collect();
    rules.push(Rule::new([(3, bad)], bad));
    let network = Network::new(labels.clone(), components, rules).expect("a small network");
    assert_one_round(&stop(&labels), Implementation::System(&network), 8);
}
