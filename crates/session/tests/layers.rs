//! Random processes under `prioritise`, `prioritisepo` and `chase`, through the whole tool: against the definition, and
//! in contexts against the same process enumerated first.

mod support;

use std::collections::BTreeMap;

use support::{Batch, Check, Compiled, compilations, way};
use trefoil_control::Control;
use trefoil_lts::equivalence::{Equivalence, compare};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_system::{LabelId, Model, StateId};
use trefoil_testkit::composition::NaiveProduct;
use trefoil_testkit::layers::prioritised;
use trefoil_testkit::processes::Process;
use trefoil_testkit::processes::random::{Shape, random_pair};
use trefoil_testkit::{Random, seed};

const MORE: &str =
    "external prioritise\nexternal prioritisepo\nexternal chase\nexternal trace_watchdog\nchannel bark\n";

fn product(lts: &Lts) -> NaiveProduct {
    let steps = |state| lts.outgoing(state).iter().map(|step| (step.label, vec![step.target.0])).collect();
    lts.states().map(|state| (vec![state.0], steps(state))).collect()
}

fn explicit(product: &NaiveProduct, initial: &[u32], lts: &Lts) -> Lts {
    let numbers: BTreeMap<&Vec<u32>, u32> = product.keys().zip(0..).collect();
    let mut builder = LtsBuilder::new(lts.labels().clone());
    builder.at_least(product.len() as u32);
    for (state, steps) in product {
        for (label, target) in steps {
            builder.add(StateId(numbers[state]), *label, StateId(numbers[target]));
        }
    }
    builder.build(StateId(numbers[&initial.to_vec()]))
}

fn processes(count: usize, random: &mut Random) -> Vec<Process> {
    let mut found = Vec::new();
    while found.len() < count {
        let size = 3 + random.below(10);
        let [(left, _), (right, _)] = random_pair(Shape::any(size, random), random);
        found.extend([left, right]);
    }
    found
}

/// Three of the events by rank, or the same as a partial order; and what is above what.
type Above = fn(&str, &str) -> bool;
const ORDERS: [(&str, Above); 4] = [
    ("prioritise(@, <{a}, {b}, {c}>)", |high, low| rank(high) < rank(low)),
    ("prioritise(@, <{}, {a, b}>)", |high, low| ["tau", "✓"].contains(&high) && ["a", "b"].contains(&low)),
    ("prioritisepo(@, {a, b, c}, {(a, b)}, {a, c})", |high, low| low == "b" && ["tau", "✓", "a"].contains(&high)),
    ("prioritisepo(@, {a, b, c}, {(a, b), (b, c)}, {})", |high, low| match low {
        "a" => ["tau", "✓"].contains(&high),
        "b" => ["tau", "✓", "a"].contains(&high),
        "c" => ["tau", "✓", "a", "b"].contains(&high),
        _ => false,
    }),
];

/// `τ` and `✓` are as high as the first set; what has no rank is above nothing and below nothing.
fn rank(label: &str) -> f64 {
    match label {
        "tau" | "✓" | "a" => 0.0,
        "b" => 1.0,
        "c" => 2.0,
        _ => f64::NAN,
    }
}

fn strongly_equal(left: &Lts, right: &Lts) -> bool {
    compare(left, right, Equivalence::Strong, &Control::unlimited()).is_ok_and(|verdict| verdict.equivalent)
}

#[test]
fn priority_means_what_the_definition_says() {
    let seed = seed();
    let mut random = Random::new(seed ^ 11);
    let mut smaller = 0;
    for _ in 0..12 {
        let plain = processes(16, &mut random);
        let orders: Vec<_> = plain.iter().map(|_| ORDERS[random.below(ORDERS.len())]).collect();
        let mut texts: Vec<String> = plain.iter().map(|process| process.to_string()).collect();
        texts.extend(orders.iter().enumerate().map(|(at, (order, _))| order.replace('@', &format!("P{at}"))));
        let mut batch = Batch::scripted(MORE, &texts);
        for options in compilations() {
            for (at, (order, above)) in orders.iter().enumerate() {
                let context = |what: &str| format!("TREFOIL_SEED={seed}\n{order}\n{}\n{options:?}\n{what}", plain[at]);
                let compiled = batch.compile(at, options).unwrap_or_else(|said| panic!("{}", context(&said)));
                let layered = batch.compile(plain.len() + at, options);
                let layered = layered.unwrap_or_else(|said| panic!("{}", context(&said)));
                let lts = &compiled.lts;
                let name = |label: LabelId| lts.labels().get(label).to_string();
                let is_above = |high: LabelId, low: LabelId| above(&name(high), &name(low));
                let start = [lts.initial().0];
                let expected = prioritised(&product(lts), &start, &is_above);
                let expected = explicit(&expected, &start, lts);
                smaller += usize::from(expected.transition_count() < lts.transition_count());
                assert!(strongly_equal(&layered.lts, &expected), "{}", context("differs"));
            }
        }
    }
    assert!(smaller > 60, "too tame: {smaller}");
}

#[test]
fn a_layer_in_a_context_is_the_same_as_one_enumerated_first() {
    let seed = seed();
    let mut random = Random::new(seed ^ 12);
    let contexts = [
        "@ [|{a, b}|] $",
        "(@ ||| $) \\ {b}",
        "a -> @",
        "@ [] $",
        "@ ; $",
        "$ ; @",
        "@ /\\ $",
        "@ [> $",
        "sbisim(@) [|{a}|] @",
        "@ [[a <- b, a <- c]]",
        "prioritise(@ [|{c}|] $, <{b}, {c}>)",
        "@ [|{a}|> $",
    ];
    let layers = ["prioritise(#, <{a}, {b}, {c}>)", "chase(# \\ {c})", "prioritisepo(#, {a, b, c}, {(a, b)}, {})"];
    for _ in 0..8 {
        let parts = processes(24, &mut random);
        let mut texts: Vec<String> = parts.iter().map(|process| process.to_string()).collect();
        let first = texts.len();
        for at in 0..parts.len() / 2 {
            let context = contexts[random.below(contexts.len())];
            let layer = layers[random.below(layers.len())].replace('#', &format!("P{}", 2 * at));
            let beside = format!("P{}", 2 * at + 1);
            for layer in [layer.clone(), format!("explicate({layer})")] {
                texts.push(context.replace('$', &beside).replace('@', &layer));
            }
        }
        let mut batch = Batch::scripted(MORE, &texts);
        for (number, options) in compilations().into_iter().enumerate() {
            for at in (first..texts.len()).step_by(2) {
                let context = |what: &str| {
                    let part = (at - first) / 2;
                    let (left, right) = (&parts[2 * part], &parts[2 * part + 1]);
                    format!("TREFOIL_SEED={seed}\n{}\n{left}\n{right}\n{options:?}\n{what}", texts[at])
                };
                let mut compile =
                    |index| batch.compile(index, options).unwrap_or_else(|said| panic!("{}", context(&said)));
                let (lazy, whole): (Compiled, Compiled) = (compile(at), compile(at + 1));
                // Operators over a component make `✓` a `τ` to `SKIP` where a sequential process ends at once.
                let verdict = compare(&lazy.lts, &whole.lts, Equivalence::DivergenceWeak, &Control::unlimited());
                assert!(verdict.is_ok_and(|verdict| verdict.equivalent), "{}", context("differs"));
                for model in [Model::Traces, Model::FailuresDivergences] {
                    let found = batch.check(&Check::Refines(model), way(options, number + at), &lazy, &whole);
                    assert!(matches!(found, Ok(None)), "{}", context(&format!("{found:?}")));
                }
            }
        }
    }
}

#[test]
fn chasing_refines_and_keeps_what_is_deterministic() {
    let seed = seed();
    let mut random = Random::new(seed ^ 13);
    let mut kept = 0;
    for _ in 0..10 {
        let plain = processes(16, &mut random);
        let mut texts: Vec<String> = plain.iter().map(|process| process.to_string()).collect();
        texts.extend((0..plain.len()).map(|at| format!("chase(P{at})")));
        let mut batch = Batch::scripted(MORE, &texts);
        for (number, options) in compilations().into_iter().enumerate() {
            for at in 0..plain.len() {
                let context = |what: &str| format!("TREFOIL_SEED={seed}\n{}\n{options:?}\n{what}", plain[at]);
                let mut compile =
                    |index| batch.compile(index, options).unwrap_or_else(|said| panic!("{}", context(&said)));
                let (before, after) = (compile(at), compile(plain.len() + at));
                let way = way(options, number + at);
                let found = batch.check(&Check::Refines(Model::FailuresDivergences), way, &before, &after);
                assert!(matches!(found, Ok(None)), "{}", context(&format!("{found:?}")));
                let chosen = batch.check(&Check::Deterministic(Model::FailuresDivergences), way, &before, &before);
                if matches!(chosen, Ok(None)) {
                    kept += 1;
                    let found = batch.check(&Check::Refines(Model::FailuresDivergences), way, &after, &before);
                    assert!(matches!(found, Ok(None)), "{}", context(&format!("back: {found:?}")));
                }
            }
        }
    }
    assert!(kept > 30, "too tame: {kept}");
}

#[test]
fn a_watchdog_barks_when_traces_do_not_refine() {
    let seed = seed();
    let mut random = Random::new(seed ^ 14);
    let (mut quiet, mut barking) = (0, 0);
    for _ in 0..10 {
        let plain = processes(16, &mut random);
        let mut texts: Vec<String> = plain.iter().map(|process| process.to_string()).collect();
        let all = "{a, b, c, d, e.0, e.1}";
        for at in (0..plain.len()).step_by(2) {
            // Termination is not watched: it is an event like others here.
            texts.push(format!("P{at} ; d -> STOP"));
            texts.push(format!("P{} ; d -> STOP", at + 1));
            let dog = format!("trace_watchdog(P{at} ; d -> STOP, {all}, bark)");
            texts.push(format!("((P{} ; d -> STOP) [|{all}|] {dog}) \\ {all}", at + 1));
            texts.push("STOP".to_string());
        }
        let mut batch = Batch::scripted(MORE, &texts);
        for (number, options) in compilations().into_iter().enumerate() {
            for at in (plain.len()..texts.len()).step_by(4) {
                let context =
                    |what: &str| format!("TREFOIL_SEED={seed}\n{}\n{:?}\n{options:?}\n{what}", texts[at + 2], plain);
                let mut compile =
                    |index| batch.compile(index, options).unwrap_or_else(|said| panic!("{}", context(&said)));
                let [left, right, watched, stop] = [0, 1, 2, 3].map(|index| compile(at + index));
                let way = way(options, number + at);
                let refines = batch.check(&Check::Refines(Model::Traces), way, &left, &right);
                let silent = batch.check(&Check::Refines(Model::Traces), way, &stop, &watched);
                let (Ok(refines), Ok(silent)) = (&refines, &silent) else {
                    panic!("{}", context(&format!("{refines:?} {silent:?}")))
                };
                assert_eq!(refines.is_none(), silent.is_none(), "{}", context("differs"));
                quiet += usize::from(silent.is_none());
                barking += usize::from(silent.is_some());
            }
        }
    }
    assert!(quiet > 20 && barking > 20, "too tame: {quiet} {barking}");
}
