//! Questions about processes, symbolically and explicitly, on random networks: verdicts, counts where everything is
//! searched, and the lengths of witnesses, which the engines replay. The system that is searched is honest.

use std::collections::BTreeSet;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::{LazyNormalForm, Lts, LtsBuilder};
use trefoil_network::{Component, Format, FormatId, Network, Rule, compose};
use trefoil_questions::{Answer, Asked, Engine, Evidence, Found, Question, Ready, Task, Terms};
use trefoil_refine::{DEADLOCK, DIVERGENCE, NORMAL_FORM};
use trefoil_symbolic::{Beside, SYMBOLIC};
use trefoil_system::{Checked, LabelId, Labels, Model, StateId, System};
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

const MODELS: [Model; 3] = [Model::Traces, Model::Failures, Model::FailuresDivergences];

/// A random network, often with several formats and resets.
fn random_network(labels: &Arc<Labels>, random: &mut Random) -> Network {
    let components: Vec<Lts> = (0..1 + random.below(4))
        .map(|_| {
            let states = 1 + random.below(4);
            let transitions = states + random.below(6);
            let shape = RandomShape { states: states as u32, transitions, labels: 3, tau_percent: 10 };
            random_lts(labels, shape, random)
        })
        .collect();
    let seen = ["tau", "x", "y", "z"].map(|name| if name == "tau" { LabelId::TAU } else { labels.name(name) });
    let formats = 1 + usize::from(random.chance(30));
    let rule = |random: &mut Random| {
        let mut parts = Vec::new();
        for (index, lts) in components.iter().enumerate() {
            let steps = lts.transitions();
            if !steps.is_empty() && random.chance(45) {
                parts.push((index, steps[random.below(steps.len())].label));
            }
        }
        let resets: Vec<usize> = (0..components.len()).filter(|_| random.chance(5)).collect();
        let next = FormatId(random.below(formats) as u32);
        Rule::new(parts, seen[random.below(seen.len())]).with_resets(resets).to(next)
    };
    let formats: Vec<Format> = (0..formats)
        .map(|number| Format {
            name: format!("f{number}"),
            rules: (0..2 + random.below(9)).map(|_| rule(random)).collect(),
        })
        .collect();
    let components = components.into_iter().enumerate();
    let components = components.map(|(index, lts)| Component::new(format!("c{index}"), Arc::new(lts))).collect();
    Network::with_formats(labels.clone(), components, formats, FormatId(0)).expect("a small network")
}

/// A specification that allows what a system does, or nearly.
fn nearby(lts: &Lts, random: &mut Random) -> Lts {
    let mut builder = LtsBuilder::new(lts.labels().clone());
    builder.at_least(lts.state_count() as u32);
    for (source, step) in lts.all_transitions() {
        if !random.chance(1) {
            builder.add(source, step.label, step.target);
        }
    }
    for _ in 0..random.below(4) {
        let mut any = || StateId(random.below(lts.state_count()) as u32);
        let (source, target) = (any(), any());
        let label = [LabelId::TAU, lts.labels().name("x"), lts.labels().name("y")][random.below(3)];
        builder.add(source, label, target);
    }
    builder.build(lts.initial())
}

fn answer(engine: &dyn Engine, question: Question<'_>, system: &dyn System, asked: &Asked, threads: usize) -> Answer {
    let control = Control::unlimited();
    let terms = Terms { asked, threads, symmetric: false };
    let Ok(Ready::Ready(prepared)) = engine.prepare(question, &terms, &control) else {
        panic!("{} is ready", engine.name())
    };
    prepared.answer(&Task::of(system), &control).unwrap_or_else(|why| panic!("{} answers: {why:?}", engine.name()))
}

/// How many visible events and steps a witness has, if there is one. Cycles do not count, being arbitrary.
fn lengths(answer: &Answer) -> Option<(usize, bool)> {
    match &answer.found[0] {
        Found::Holds(_) => None,
        Found::Fails(Evidence::Witness(witness)) => {
            let lasso = matches!(witness, trefoil_system::Witness::Lasso { .. });
            Some((witness.path().length(), lasso))
        }
        other => panic!("no verdict: {other:?}"),
    }
}

#[derive(Default)]
struct Seen {
    held: usize,
    failed: usize,
    lassos: usize,
}

fn agree(explicit: &dyn Engine, question: Question<'_>, system: &dyn System, threads: usize, seen: &mut Seen) {
    let expected = answer(explicit, question, system, &Asked::default(), 1);
    let found = answer(&SYMBOLIC, question, system, &Asked::default(), threads);
    let length = |answer: &Answer| lengths(answer).map(|(length, _)| length);
    assert_eq!(length(&expected), length(&found), "{expected:?}\n{found:?}");
    match lengths(&found) {
        None => {
            seen.held += 1;
            let counts = |answer: &Answer| (answer.counts.states, answer.counts.transitions, answer.complete);
            assert_eq!(counts(&expected), counts(&found));
            let symbolic = found.counts.symbolic.as_ref();
            assert!(found.counts.states == 0 || symbolic.is_some_and(|counts| counts.peak_nodes > 0));
        }
        Some((_, lasso)) => {
            seen.failed += 1;
            seen.lassos += usize::from(lasso);
            // A search that goes on finds the same.
            let asked = Asked { keep_going: true, ..Asked::default() };
            let complete = answer(&SYMBOLIC, question, system, &asked, threads);
            assert!(complete.complete && length(&complete) == length(&found));
        }
    }
}

#[test]
fn refinement_agrees_with_explicit_search() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let control = Control::unlimited();
    let mut seen: [Seen; 3] = Default::default();
    for number in 0..300 {
        let mut random = Random::new(seed + number);
        let labels = Arc::new(Labels::new());
        let network = random_network(&labels, &mut random);
        let all = compose(&network, 1, &control).unwrap_or_else(|_| panic!("nothing stops it")).lts;
        // The normal forms of larger specifications may grow too large.
        if all.state_count() > 100 {
            continue;
        }
        let shape = RandomShape { states: 4, transitions: 8, labels: 3, tau_percent: 20 };
        let specification =
            if random.chance(80) { nearby(&all, &mut random) } else { random_lts(&labels, shape, &mut random) };
        for (model, seen) in MODELS.into_iter().zip(&mut seen) {
            let question = Question::Refine { specification: &specification, model };
            agree(&NORMAL_FORM, question, &network, 1 + number as usize % 2, seen);
        }
    }
    for seen in &seen {
        assert!(seen.held > 30 && seen.failed > 50, "{} held, {} failed", seen.held, seen.failed);
    }
    assert!(seen[2].lassos > 10, "{} lassos", seen[2].lassos);
}

#[test]
fn deadlock_and_divergence_agree_with_explicit_search() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let mut seen: [Seen; 3] = Default::default();
    for number in 0..400 {
        let mut random = Random::new(seed + number);
        let labels = Arc::new(Labels::new());
        let network = random_network(&labels, &mut random);
        let threads = 1 + number as usize % 2;
        let questions: [(&dyn Engine, Question<'_>); 3] = [
            (&DEADLOCK, Question::Deadlock { model: Model::Failures }),
            (&DEADLOCK, Question::Deadlock { model: Model::FailuresDivergences }),
            (&DIVERGENCE, Question::Divergence),
        ];
        for ((engine, question), seen) in questions.into_iter().zip(&mut seen) {
            agree(engine, question, &network, threads, seen);
        }
    }
    for seen in &seen {
        assert!(seen.held > 30 && seen.failed > 50, "{} held, {} failed", seen.held, seen.failed);
    }
    assert!(seen[2].lassos > 50, "{} lassos", seen[2].lassos);
}

#[test]
fn a_system_beside_a_specification_declares_honestly_what_it_reads_and_writes() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let control = Control::unlimited();
    let mut expanded = 0;
    for number in 0..150 {
        let mut random = Random::new(seed + number);
        let labels = Arc::new(Labels::new());
        let network = random_network(&labels, &mut random);
        let all = compose(&network, 1, &control).unwrap_or_else(|_| panic!("nothing stops it")).lts;
        let specification = nearby(&all, &mut random);
        for model in MODELS {
            let normal_form = LazyNormalForm::new(&specification, model, &control).expect("no budget");
            if normal_form.initial() == trefoil_lts::NodeId::CHAOS {
                continue;
            }
            for normal_form in [Some(&normal_form), None] {
                let beside = Checked::new(Beside::new(normal_form, &network, &control).expect("it starts"));
                let mut explorer = beside.explorer(&control);
                let mut work = vec![beside.initial(&control).expect("it starts")];
                let mut known = BTreeSet::from([work[0].clone()]);
                while let Some(row) = work.pop().filter(|_| known.len() < 300) {
                    expanded += 1;
                    let walk = explorer.successors(&row, &mut |step| {
                        if known.insert(step.row.to_vec()) {
                            work.push(step.row.to_vec());
                        }
                        Ok(())
                    });
                    assert_eq!(walk, Ok(()));
                }
            }
        }
    }
    assert!(expanded > 3_000, "{expanded} states were expanded");
}
