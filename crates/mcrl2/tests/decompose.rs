//! Decomposition: random linear processes with data and random overlapping partitions, against the cleave by the
//! definitions and against the original.

#[allow(dead_code)]
#[path = "support/bisimulation.rs"]
mod bisimulation;

use std::sync::Arc;

use bisimulation::bisimilar;
use trefoil_control::Control;
use trefoil_lts::equivalence::{Equivalence, compare};
use trefoil_lts::{Lts, generate};
use trefoil_mcrl2::decompose::{ComposedSystem, Decomposition, Freedom, Hiding, Partition, Undone, choose, decompose};
use trefoil_mcrl2::linear::{Analyses, linearise};
use trefoil_mcrl2::system::Model;
use trefoil_mcrl2::{processes, syntax};
use trefoil_source::FileId;
use trefoil_system::replay::replay_path;
use trefoil_system::{Cut, Label, LabelId, Labels, Path, System, TakenStep, Writing};
use trefoil_testkit::mcrl2::cleave::{Process, random_partition, random_process};
use trefoil_testkit::{Random, seed};

fn model(text: &str, analyses: Analyses) -> Arc<Model> {
    let mut diagnostics = Vec::new();
    let tree = syntax::parse(text, FileId(0), &mut diagnostics);
    let typed = processes::check(&tree, text, &mut diagnostics).unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
    let control = Control::unlimited();
    let linear = linearise(&typed, analyses, &control).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
    let labels = Arc::new(Labels::written(Writing::Brackets));
    let model = Model::new(Arc::new(linear), labels, &control);
    Arc::new(model.unwrap_or_else(|none| panic!("{text}: {none:?}")))
}

fn graph(model: &Model) -> Lts {
    generate(model, 1, &Control::unlimited()).unwrap_or_else(|unfinished| panic!("{:?}", unfinished.cut)).lts
}

fn nothing() -> Hiding {
    Arc::new(|_: &Label| false)
}

/// A partition of the parameters of a text as one of those that its linear process has.
fn of_linear(process: &Process, model: &Model, partition: &Partition) -> Partition {
    let parameters = &model.linear().parameters;
    let slot = |&place: &usize| parameters.iter().position(|known| known.source == process.parameters[place].0);
    partition.iter().map(|part| part.iter().filter_map(slot).collect()).collect()
}

fn taken_apart(model: &Arc<Model>, partition: &Partition, equivalence: Equivalence) -> Decomposition {
    let freedom = Freedom { equivalence, hidden: &nothing() };
    decompose(model, partition, &freedom, &Control::unlimited()).unwrap_or_else(|undone| panic!("{undone:?}"))
}

#[test]
fn recompositions_are_strongly_bisimilar_to_the_original() {
    let (mut states, mut joint) = (0, 0);
    for number in 0..250 {
        let mut random = Random::new(seed() + number);
        let process = random_process(&mut random);
        let parts = 2 + random.below(3);
        let partition = random_partition(&mut random, process.parameters.len(), parts);
        let text = process.text();
        let context = format!("TREFOIL_SEED={}\n{partition:?}\n{text}", seed() + number);
        let model = model(&text, Analyses::NONE);
        let whole = graph(&model);
        let partition = of_linear(&process, &model, &partition);
        let found = taken_apart(&model, &partition, Equivalence::Strong);
        states += whole.state_count();
        joint += found.synchronisation.together;
        assert!(bisimilar(found.lts(), &whole), "{context}");
        let other = taken_apart(&model, &partition, Equivalence::DivergenceBranching);
        let same = compare(other.lts(), &whole, Equivalence::DivergenceBranching, &Control::unlimited());
        assert!(same.expect("no limit").equivalent, "{context}");
    }
    assert!(states > 1_000 && joint > 300, "{states} states, {joint} joint summands");
}

#[test]
fn runs_of_a_decomposition_are_runs_of_the_original() {
    let control = Control::unlimited();
    let (mut runs, mut smaller) = (0, 0);
    for number in 0..120 {
        let mut random = Random::new(seed() + 2_000 + number);
        let process = random_process(&mut random);
        let partition = random_partition(&mut random, process.parameters.len(), 2 + number as usize % 3);
        let text = process.text();
        let model = model(&text, Analyses::NONE);
        let partition = of_linear(&process, &model, &partition);
        let context = format!("TREFOIL_SEED={}\n{partition:?}\n{text}", seed() + 2_000 + number);
        // Only one action is visible.
        let hidden: Hiding = Arc::new(|label: &Label| !label.parts().iter().any(|part| &*part.name == "a"));
        let whole = graph(&model);
        let labels = whole.labels();
        let seen =
            |label: LabelId| if label > LabelId::TICK && hidden(labels.get(label)) { LabelId::TAU } else { label };
        let images: Vec<LabelId> = (0..labels.len() as u32).map(|label| seen(LabelId(label))).collect();
        let whole = whole.relabelled(labels.clone(), &images);
        for equivalence in [Equivalence::Strong, Equivalence::DivergenceBranching] {
            let freedom = Freedom { equivalence, hidden: &hidden };
            let made = decompose(&model, &partition, &freedom, &control).unwrap_or_else(|undone| panic!("{undone:?}"));
            let same = compare(made.lts(), &whole, equivalence, &control).expect("no limit").equivalent;
            assert!(same, "{equivalence}: {context}");
            smaller += usize::from(made.lts().state_count() < whole.state_count());
            // Random walks.
            let made = ComposedSystem::new(Arc::new(made));
            let mut explorer = made.explorer(&control);
            let start = made.initial(&control).expect("no limit");
            let mut path = Path { start: start.clone(), steps: Vec::new() };
            for _ in 0..random.below(12) {
                let mut steps = Vec::new();
                let row = path.last().to_vec();
                let walked = explorer.successors(&row, &mut |step| {
                    steps.push(TakenStep { label: step.label, row: step.row.to_vec() });
                    Ok(())
                });
                walked.expect("no limit");
                if steps.is_empty() {
                    break;
                }
                let chosen = random.below(steps.len());
                path.steps.push(steps.swap_remove(chosen));
            }
            let run = made.run_of_original(&path, &control).unwrap_or_else(|cut| panic!("{cut:?} {context}"));
            assert!(replay_path(&*model, &run, &control).is_ok(), "{equivalence}: {context}");
            let visible = |path: &Path| -> Vec<LabelId> {
                path.steps.iter().map(|step| seen(step.label)).filter(|label| label.is_visible()).collect()
            };
            assert_eq!(visible(&path), visible(&run), "{context}");
            runs += run.steps.len();
        }
    }
    assert!(runs > 300 && smaller > 60, "{runs} steps, {smaller} smaller");
}

#[test]
fn the_cleave_by_definition_is_strongly_bisimilar_to_the_original() {
    for number in 0..60 {
        let mut random = Random::new(seed() + 1_000 + number);
        let process = random_process(&mut random);
        let partition = random_partition(&mut random, process.parameters.len(), 2);
        let cleaved = process.cleave(&partition[0], &partition[1]);
        let whole = graph(&model(&process.text(), Analyses::NONE));
        let composed = graph(&model(&cleaved.composition, Analyses::ALL));
        let context = format!("TREFOIL_SEED={}\n{partition:?}\n{}", seed() + 1_000 + number, cleaved.composition);
        assert!(bisimilar(&composed, &whole), "{context}");
    }
}

#[test]
fn a_stuck_condition_counts_where_it_is_reached() {
    let text = |initial: &str| {
        format!(
            "act a; b; c; proc P(full: Bool, x: Bool, q: List(Nat)) = (full && head(q) == 1) -> a . P(x = !x)\n\
             + (#q < 2) -> b . P(x = !x, q = 1 |> q) + (#q == 1) -> c . P(full = !full); init P({initial}, true, []);"
        )
    };
    let partition = vec![vec![0], vec![1], vec![2]];
    let hidden = nothing();
    let freedom = Freedom { equivalence: Equivalence::Strong, hidden: &hidden };
    let guarded = model(&text("false"), Analyses::NONE);
    let found = decompose(&guarded, &partition, &freedom, &Control::unlimited());
    let found = found.unwrap_or_else(|undone| panic!("{undone:?}"));
    assert!(bisimilar(found.lts(), &graph(&guarded)));
    let open = model(&text("true"), Analyses::NONE);
    match decompose(&open, &partition, &freedom, &Control::unlimited()) {
        Err(Undone::Cut(Cut::Wrong(wrong))) => assert!(wrong.message.contains("head([])"), "{}", wrong.message),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("a state with a stuck condition is reached"),
    }
}

/// A chat box: present users send each other messages; one equation over `users * users` Booleans.
fn chat_box(users: usize) -> String {
    let pairs: Vec<(usize, usize)> = (0..users)
        .flat_map(|one| (0..users).filter(move |&other| other != one).map(move |other| (one, other)))
        .collect();
    let mut parameters: Vec<String> = (0..users).map(|user| format!("h{user}: Bool")).collect();
    parameters.extend(pairs.iter().map(|(one, other)| format!("s{one}_{other}: Bool")));
    let mut summands = vec!["message . Box()".to_string()];
    for user in 0..users {
        summands.push(format!("h{user} -> join({user}, false) . Box()"));
        summands.push(format!("(!h{user}) -> join({user}, true) . Box(h{user} = true)"));
        summands.push(format!("h{user} -> leave({user}) . Box(h{user} = false)"));
    }
    for (one, other) in &pairs {
        let (both, sent) = (format!("h{one} && h{other}"), format!("s{one}_{other}"));
        summands.push(format!("({both} && !{sent}) -> message . Box({sent} = true)"));
        summands.push(format!("(!({both} && !{sent})) -> message . Box()"));
        summands.push(format!("({both} && {sent}) -> message . Box({sent} = false)"));
    }
    format!(
        "act join: Nat # Bool; leave: Nat; message; proc Box({}) = {};\ninit hide({{message}}, Box({}));",
        parameters.join(", "),
        summands.join("\n + "),
        vec!["false"; parameters.len()].join(", ")
    )
}

#[test]
fn a_partition_is_chosen_that_makes_a_chat_box_small() {
    let control = Control::unlimited();
    let hidden = nothing();
    let freedom = Freedom { equivalence: Equivalence::Strong, hidden: &hidden };
    // 2^9 states, and 2^25.
    for (users, most) in [(3, 128), (5, 1_024)] {
        let model = model(&chat_box(users), Analyses::ALL);
        let choice = choose(&model, &freedom, &control).unwrap_or_else(|undone| panic!("{undone:?}"));
        let made = choice.decomposition.unwrap_or_else(|| panic!("{:#?}", choice.report));
        assert!(made.peak_states() <= most, "{:#?}", choice.report);
        assert_eq!(made.minimised().state_count(), 1 << users);
        // Joining is always possible, leaving for those that are present; messages are a loop.
        assert_eq!(made.minimised().transition_count(), (1 << users) * (users + 1) + users * (1 << (users - 1)));
    }
}
