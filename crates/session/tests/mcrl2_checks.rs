//! Checks of random mCRL2 specifications against their graphs: verdicts, and the lengths of shortest runs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::{Lts, generate};
use trefoil_mcrl2::linear::{Analyses, linearise};
use trefoil_mcrl2::system::Model;
use trefoil_mcrl2::{processes, syntax};
use trefoil_session::check::{AnyScript, Asked, Wanted};
use trefoil_session::{Job, Verdict};
use trefoil_source::FileId;
use trefoil_system::{LabelId, Labels, StateId, Writing};
use trefoil_testkit::mcrl2::random::RandomSpecification;
use trefoil_testkit::{Random, seed};

/// All states, by a search of the wide form without any analysis.
fn graph(text: &str) -> Option<Lts> {
    let control = Control::unlimited();
    let mut diagnostics = Vec::new();
    let tree = syntax::parse(text, FileId(0), &mut diagnostics);
    let typed = processes::check(&tree, text, &mut diagnostics)?;
    let linear = linearise(&typed, Analyses::NONE, &control).ok()?;
    let labels = Arc::new(Labels::written(Writing::Brackets));
    let model = Model::new(Arc::new(linear), labels, &control).ok()?.wide();
    generate(&model, 1, &control).ok().map(|generated| generated.lts)
}

/// The length of a shortest run into a deadlock, and to each action.
fn shortest(lts: &Lts) -> (Option<usize>, BTreeMap<String, usize>) {
    let mut distance: Vec<Option<usize>> = vec![None; lts.state_count()];
    distance[lts.initial().index()] = Some(0);
    let mut queue = vec![lts.initial()];
    let (mut deadlock, mut actions) = (None, BTreeMap::new());
    let mut ended = vec![false; lts.state_count()];
    for (_, step) in lts.all_transitions().filter(|(_, step)| step.label == LabelId::TICK) {
        ended[step.target.index()] = true;
    }
    let mut at = 0;
    while let Some(&StateId(number)) = queue.get(at) {
        let state = StateId(number);
        let here = distance[state.index()].expect("states in the queue have distances");
        if lts.outgoing(state).is_empty() && !ended[state.index()] {
            deadlock = deadlock.or(Some(here));
        }
        for step in lts.outgoing(state) {
            for part in lts.labels().get(step.label).parts() {
                actions.entry(part.name.to_string()).or_insert(here + 1);
            }
            if distance[step.target.index()].is_none() {
                distance[step.target.index()] = Some(here + 1);
                queue.push(step.target);
            }
        }
        at += 1;
    }
    actions.remove("✓");
    (deadlock, actions)
}

#[test]
fn deadlocks_and_actions_are_found_after_as_many_steps_as_in_the_graph() {
    let file = Path::new("random.mcrl2");
    let (mut deadlocks, mut free, mut reached) = (0, 0, 0);
    for number in 0..50 {
        let text = RandomSpecification::new(&mut Random::new(seed() + number)).text;
        let Some(lts) = graph(&text) else { continue };
        let (deadlock, actions) = shortest(&lts);
        for threads in [1, 2] {
            let mut job = Job::new(Control::unlimited(), threads);
            job.texts.put(file, text.as_str());
            let steps = |script: &mut AnyScript, index: usize| {
                let answer = script.run(index, &Asked::default(), &job);
                let steps = answer.witness.as_ref().map(|evidence| evidence.runs[0].steps.len());
                let expected = if steps.is_some() { Verdict::Fails } else { Verdict::Holds };
                assert_eq!(answer.verdict, expected, "{number}: {:?}\n{text}", answer.errors);
                steps
            };
            let open = |never: &[String]| {
                let wanted = Wanted { never: never.to_vec(), ..Wanted::default() };
                AnyScript::open_with(file, Some("mcrl2"), &wanted, &job)
            };
            let mut script = open(&[]).unwrap_or_else(|wrong| panic!("{number}: {}\n{text}", wrong.render(false)));
            assert_eq!(steps(&mut script, 1), deadlock, "{number}, {threads} threads:\n{text}\n{lts:?}");
            for (action, &length) in actions.iter().filter(|_| threads > 1) {
                let Ok(mut script) = open(std::slice::from_ref(action)) else { panic!("{number}: {action}\n{text}") };
                assert_eq!(steps(&mut script, 2), Some(length), "{number}, {action}, {threads} threads:\n{text}");
                reached += 1;
            }
        }
        *if deadlock.is_some() { &mut deadlocks } else { &mut free } += 1;
    }
    assert!(deadlocks > 5 && free > 1 && reached > 50, "{deadlocks} deadlocks, {free} without, {reached} actions");
}
