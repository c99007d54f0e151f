//! Decomposition: random linear processes with data and random overlapping partitions, against the cleave by the
//! definitions and against the original.

#[allow(dead_code)]
#[path = "support/bisimulation.rs"]
mod bisimulation;
#[allow(dead_code)]
#[path = "support/decomposed.rs"]
mod decomposed;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bisimulation::bisimilar;
use decomposed::{graph, model, nothing, of_linear};
use trefoil_control::Control;
use trefoil_lts::equivalence::{Equivalence, compare, minimise};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_mcrl2::decompose::{
    ComposedSystem, Decomposition, Freedom, Hiding, Partition, Undone, WrittenParts, choose, decompose, read_invariant,
    written_parts,
};
use trefoil_mcrl2::linear::Analyses;
use trefoil_mcrl2::syntax;
use trefoil_mcrl2::system::Model;
use trefoil_source::FileId;
use trefoil_system::replay::replay_path;
use trefoil_system::{Cut, Label, LabelId, Labels, Path, StateId, System, TakenStep, Writing};
use trefoil_testkit::mcrl2::cleave::{random_partition, random_process};
use trefoil_testkit::{Random, seed};

fn taken_apart(model: &Arc<Model>, partition: &Partition, equivalence: Equivalence) -> Decomposition {
    let freedom = Freedom { equivalence, hidden: &nothing(), invariants: None };
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
    assert!(states > 1_000 && joint > 150, "{states} states, {joint} joint summands");
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
            let freedom = Freedom { equivalence, hidden: &hidden, invariants: None };
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

/// Two parts by the rules of the thesis, of a text with a linear process of its own.
fn in_two(text: &str, analyses: Analyses, parts: &dyn Fn(&Model) -> [Vec<usize>; 2]) -> WrittenParts {
    in_two_with(text, analyses, parts, "true")
}

/// The same with an invariant.
fn in_two_with(
    text: &str,
    analyses: Analyses,
    parts: &dyn Fn(&Model) -> [Vec<usize>; 2],
    invariant: &str,
) -> WrittenParts {
    let tree = syntax::parse(text, FileId(0), &mut Vec::new());
    let model = model(text, analyses);
    let [first, second] = parts(&model);
    let mut linear = model.linear().clone();
    let invariants = read_invariant(&mut linear, invariant, FileId(1)).expect("it is typed");
    written_parts(&linear, [&first, &second], &invariants, &tree, text)
}

#[test]
fn written_parts_are_strongly_bisimilar_to_the_original() {
    let mut both = 0;
    for number in 0..60 {
        let mut random = Random::new(seed() + 3_000 + number);
        let process = random_process(&mut random);
        let partition = random_partition(&mut random, process.parameters.len(), 2);
        let text = process.text();
        let written = in_two(&text, Analyses::NONE, &|model| {
            let [first, second] = &of_linear(&process, model, &partition)[..] else { panic!("two parts") };
            [first.clone(), second.clone()]
        });
        let whole = graph(&model(&text, Analyses::NONE));
        let composed = graph(&model(&written.composition, Analyses::ALL));
        let context = format!("TREFOIL_SEED={}\n{partition:?}\n{}", seed() + 3_000 + number, written.composition);
        assert!(bisimilar(&composed, &whole), "{context}");
        both += usize::from(written.composition.contains("sync"));
    }
    assert!(both > 12, "{both}");
}

/// The composition of two parts as definition 3.3.4 has it: labels with `tag` are done alone, labels with the actions
/// `syncNV` and `syncNW` together when their values are the same.
fn composed(first: &Lts, second: &Lts) -> Lts {
    let labels = Arc::new(Labels::written(Writing::Brackets));
    /// What is left of a label, and what it synchronises by.
    type Seen = (Vec<trefoil_system::Part>, Option<(String, Vec<Box<str>>)>);
    let seen = |lts: &Lts, label: LabelId| -> Seen {
        let (mut rest, mut sync) = (Vec::new(), None);
        for part in lts.labels().get(label).parts() {
            match part.name.strip_prefix("sync") {
                Some(number) => sync = Some((number[..number.len() - 1].to_string(), part.arguments.to_vec())),
                None if &*part.name == "tag" => {}
                None => rest.push(part.clone()),
            }
        }
        (rest, sync)
    };
    let named = |parts: Vec<trefoil_system::Part>| match parts.len() {
        0 => LabelId::TAU,
        _ => labels.intern(Label::bag(parts)),
    };
    let mut builder = LtsBuilder::new(labels.clone());
    let mut order = vec![(first.initial(), second.initial())];
    let mut numbers = HashMap::from([(order[0], 0u32)]);
    let mut at = 0;
    while at < order.len() {
        let (one, other) = order[at];
        let mut steps = Vec::new();
        for step in first.outgoing(one) {
            let (rest, sync) = seen(first, step.label);
            if sync.is_none() {
                steps.push((rest, (step.target, other)));
                continue;
            }
            for answer in second.outgoing(other) {
                let (more, answered) = seen(second, answer.label);
                if answered == sync {
                    steps.push(([rest.clone(), more].concat(), (step.target, answer.target)));
                }
            }
        }
        for step in second.outgoing(other) {
            let (rest, sync) = seen(second, step.label);
            if sync.is_none() {
                steps.push((rest, (one, step.target)));
            }
        }
        for (parts, target) in steps {
            let next = order.len() as u32;
            let number = *numbers.entry(target).or_insert(next);
            if number == next {
                order.push(target);
            }
            builder.add(StateId(at as u32), named(parts), StateId(number));
        }
        at += 1;
    }
    builder.at_least(order.len() as u32);
    builder.build(StateId(0))
}

fn size(lts: &Lts) -> (usize, usize) {
    (lts.state_count(), lts.transition_count())
}

fn small(lts: &Lts) -> Lts {
    minimise(lts, Equivalence::Strong, &Control::unlimited()).expect("no limit").lts
}

/// States, and steps of all summands: equal steps of two summands count twice, as in the state spaces that are printed.
fn steps(model: &Model) -> (usize, usize) {
    let control = Control::unlimited();
    let mut explorer = model.explorer(&control);
    let mut pending = vec![model.initial(&control).expect("no limit")];
    let mut known: HashSet<Vec<u32>> = pending.iter().cloned().collect();
    let mut count = 0;
    while let Some(row) = pending.pop() {
        let walked = explorer.successors(&row, &mut |step| {
            count += 1;
            if known.insert(step.row.to_vec()) {
                pending.push(step.row.to_vec());
            }
            Ok(())
        });
        walked.expect("no limit");
    }
    (known.len(), count)
}

/// The sizes of two parts, as they are and minimised, of the composition of the minimised ones, and of that minimised.
fn sizes(text: &str, names: &[&str], invariant: &str) -> Vec<(usize, usize)> {
    let parts = |model: &Model| {
        let is_first = |slot: &usize| names.contains(&model.layout().slots()[*slot].name.as_str());
        let (first, second): (Vec<usize>, Vec<usize>) =
            (0..model.layout().slots().len()).partition(|slot| is_first(slot));
        assert_eq!(first.len(), names.len());
        [first, second]
    };
    let written = in_two_with(text, Analyses::ALL, &parts, invariant);
    let models = written.parts.map(|text| model(&text, Analyses::NONE));
    let [first, second] = [0, 1].map(|part| graph(&models[part]));
    let (less, fewer) = (small(&first), small(&second));
    let both = composed(&less, &fewer);
    let least = small(&both);
    let whole = small(&graph(&model(text, Analyses::ALL)));
    assert_eq!(size(&least), size(&whole), "{text}");
    vec![steps(&models[0]), size(&less), steps(&models[1]), size(&fewer), size(&both), size(&least)]
}

/// The chat box of Romijn for some users with requests hidden, as mCRL2 ships it.
fn romijn(users: &[usize]) -> String {
    let pairs: Vec<(usize, usize)> = users
        .iter()
        .flat_map(|&one| users.iter().map(move |&other| (one, other)))
        .filter(|(one, other)| one != other)
        .collect();
    let mut parameters: Vec<String> = users.iter().map(|user| format!("pres{user}: Bool")).collect();
    parameters.extend(pairs.iter().map(|(one, other)| format!("sentto{one}{other}: Bool")));
    let mut summands = Vec::new();
    for user in users {
        let here = format!("pres{user}");
        summands.push(format!("{here} -> JOIN({user}, NO) . Box() <> JOIN({user}, OK) . Box({here} = !{here})"));
        summands.push(format!("(!{here}) -> LEAVE({user}, NO) . Box() <> LEAVE({user}, OK) . Box({here} = !{here})"));
        summands.push(format!("DREQ({user}, {user}, MES, NO) . Box()"));
        summands.push(format!("DREQ({user}, {user}, ACK, NO) . Box()"));
    }
    for (one, other) in pairs {
        let both = format!("pres{one} && pres{other}");
        for (kind, sent, test) in
            [("MES", format!("sentto{one}{other}"), "!"), ("ACK", format!("sentto{other}{one}"), "")]
        {
            let action = |output: &str| format!("DREQ({one}, {other}, {kind}, {output})");
            let (yes, no) = (action("OK"), action("NO"));
            summands.push(format!("({both} && {test}{sent}) -> {yes} . Box({sent} = !{sent}) <> {no} . Box()"));
        }
    }
    format!(
        "sort Mes = struct MES | ACK; Output = struct NO | OK;\nact JOIN, LEAVE: Nat # Output; DREQ: Nat # Nat # Mes # Output;\n\
         proc Box({}) =\n{};\ninit hide({{DREQ}}, Box({}));\n",
        parameters.join(", "),
        summands.join("\n + "),
        vec!["false"; parameters.len()].join(", ")
    )
}

#[test]
fn the_parts_of_the_chat_box_have_the_sizes_of_the_thesis() {
    let user = ["pres0", "sentto01", "sentto02", "sentto03", "sentto10", "sentto20", "sentto30"];
    let printed = [(128, 4_352), (128, 3_456), (512, 37_888), (8, 440), (1_024, 22_528), (16, 144)];
    let mut found = sizes(&romijn(&[0, 1, 2, 3]), &user, "true");
    // Requests of a user to itself are eight equal summands once they are hidden, which are one here, in both parts.
    for part in [0, 2] {
        found[part].1 += 7 * found[part].0;
    }
    assert_eq!(found, printed);
}

/// The alternating bit protocol of mCRL2's examples with five data elements; only the ends of the channel are visible.
const ALTERNATING_BIT: &str = "sort D = struct d1 | d2 | d3 | d4 | d5; Error = struct e;\n\
    act r1, s4: D; s2, r2, c2: D # Bool; s3, r3, c3: D # Bool; s3, r3, c3: Error; s5, r5, c5: Bool; s6, r6, c6: Bool;\n\
    s6, r6, c6: Error; i;\n\
    proc S(b: Bool) = sum d: D. r1(d) . T(d, b);\n\
    T(d: D, b: Bool) = s2(d, b) . (r6(b) . S(!b) + (r6(!b) + r6(e)) . T(d, b));\n\
    R(b: Bool) = sum d: D. r3(d, b) . s4(d) . s5(b) . R(!b) + (sum d: D. r3(d, !b) + r3(e)) . s5(!b) . R(b);\n\
    K = sum d: D, b: Bool. r2(d, b) . (i . s3(d, b) + i . s3(e)) . K;\n\
    L = sum b: Bool. r5(b) . (i . s6(b) + i . s6(e)) . L;\n\
    init hide({c2, c3, c5, c6, i}, allow({r1, s4, c2, c3, c5, c6, i},\n\
    comm({r2|s2 -> c2, r3|s3 -> c3, r5|s5 -> c5, r6|s6 -> c6}, S(true) || K || L || R(true))));\n";

#[test]
fn the_parts_of_the_alternating_bit_protocol_have_the_sizes_of_the_thesis() {
    let whole = model(ALTERNATING_BIT, Analyses::ALL);
    assert_eq!(size(&graph(&whole)), (182, 230));
    // The message that is being sent is one part, everything else the other: the sizes that are printed.
    let printed = [(5, 35), (5, 35), (78, 126), (28, 46), (76, 90), (48, 58)];
    assert_eq!(sizes(ALTERNATING_BIT, &["d"], "true"), printed);
}

/// The same protocol with alternatives of one process in one summand, by a Boolean that is summed; so linearisers that
/// merge summands write it, and what the thesis took apart by processes.
const MERGED_ALTERNATING_BIT: &str = "sort D = struct d1 | d2 | d3 | d4 | d5; act r1, s4: D;\n\
    proc P(s: Pos, ds: D, bs: Bool, k: Pos, dk: D, bk: Bool, l: Pos, bl: Bool, r: Pos, dr: D, br: Bool) =\n\
    sum m: D. (s == 1) -> r1(m) . P(s = 2, ds = m)\n\
    + (s == 2 && k == 1) -> tau . P(s = 3, k = 2, dk = ds, bk = bs)\n\
    + sum x: Bool. (k == 2) -> tau . P(k = if(x, 4, 3), dk = if(x, d1, dk), bk = if(x, false, bk))\n\
    + sum x: Bool. (k == 3 && r == 1 && if(x, !br, br) == bk) -> tau\n\
      . P(k = 1, dk = d1, bk = false, r = if(x, 3, 2), dr = if(x, d1, dk))\n\
    + (k == 4 && r == 1) -> tau . P(k = 1, dk = d1, bk = false, r = 3, dr = d1)\n\
    + (r == 2) -> s4(dr) . P(r = 4, dr = d1)\n\
    + sum x: Bool. (l == 1 && if(x, r == 4, r == 3)) -> tau\n\
      . P(l = 2, bl = if(x, br, !br), r = 1, dr = d1, br = if(x, !br, br))\n\
    + sum x: Bool. (l == 2) -> tau . P(l = if(x, 4, 3), bl = if(x, false, bl))\n\
    + sum x: Bool. (s == 3 && l == 3 && if(x, !bs, bs) == bl) -> tau\n\
      . P(s = if(x, 2, 1), ds = if(x, ds, d1), bs = if(x, bs, !bs), l = 1, bl = false)\n\
    + (s == 3 && l == 4) -> tau . P(s = 2, l = 1, bl = false);\n\
    init P(1, d1, true, 1, d1, false, 1, false, 1, d1, true);\n";

#[test]
fn the_parts_by_processes_have_the_sizes_of_the_thesis() {
    let [one, other] = [ALTERNATING_BIT, MERGED_ALTERNATING_BIT].map(|text| graph(&model(text, Analyses::ALL)));
    assert!(bisimilar(&one, &other));
    // The sender and one channel, the receiver and the other channel.
    let printed = [(204, 512), (204, 512), (64, 196), (60, 192), (172, 220), (48, 58)];
    let sender = ["s", "ds", "bs", "k", "dk", "bk"];
    assert_eq!(sizes(MERGED_ALTERNATING_BIT, &sender, "true"), printed);
    // Only one of the four processes has something to do at a time: the values that their places have together.
    let places = [
        "s <= 2 && k == 1 && l == 1 && r == 1",
        "s == 3 && k >= 2 && l == 1 && r == 1",
        "s == 3 && k == 1 && l == 1 && r >= 2",
        "s == 3 && k == 1 && l >= 2 && r == 1",
    ];
    // Of the first part the thesis prints the sizes of the second one as minimised. It is minimal: whatever it does
    // next, the message or the bit that it has follows.
    let printed = [(52, 90), (52, 90), (22, 44), (20, 42), (172, 220), (48, 58)];
    assert_eq!(sizes(MERGED_ALTERNATING_BIT, &sender, &format!("({})", places.join(") || ("))), printed);
}

#[test]
fn deadlocks_of_a_decomposition_are_deadlocks_of_the_original() {
    let control = Control::unlimited();
    let everything: Hiding = Arc::new(|_: &Label| true);
    let (mut deadlocks, mut steps) = (0, 0);
    for number in 0..150 {
        let mut random = Random::new(seed() + 4_000 + number);
        let process = random_process(&mut random);
        let partition = random_partition(&mut random, process.parameters.len(), 2 + number as usize % 3);
        let text = process.text();
        let model = model(&text, Analyses::NONE);
        let partition = of_linear(&process, &model, &partition);
        let context = format!("TREFOIL_SEED={}\n{partition:?}\n{text}", seed() + 4_000 + number);
        let freedom = Freedom { equivalence: Equivalence::DivergenceBranching, hidden: &everything, invariants: None };
        let made = decompose(&model, &partition, &freedom, &control).unwrap_or_else(|undone| panic!("{undone:?}"));
        let made = ComposedSystem::new(Arc::new(made));
        let lts = made.decomposition().lts().clone();
        let whole = graph(&model);
        let dead = |lts: &Lts| lts.states().find(|&state| lts.outgoing(state).is_empty());
        assert_eq!(dead(&lts).is_some(), dead(&whole).is_some(), "{context}");
        let Some(end) = dead(&lts) else { continue };
        // A path there, breadth-first.
        let mut parents: HashMap<StateId, (StateId, LabelId)> = HashMap::new();
        let mut order = vec![lts.initial()];
        let mut at = 0;
        while at < order.len() {
            for step in lts.outgoing(order[at]) {
                if step.target != lts.initial() && !parents.contains_key(&step.target) {
                    parents.insert(step.target, (order[at], step.label));
                    order.push(step.target);
                }
            }
            at += 1;
        }
        let mut path = Path { start: made.initial(&control).expect("no limit"), steps: Vec::new() };
        let mut here = end;
        while let Some(&(parent, label)) = parents.get(&here) {
            path.steps.insert(0, TakenStep { label, row: vec![here.0, 0] });
            here = parent;
        }
        let run = made.deadlock_of_original(&path, &control).unwrap_or_else(|cut| panic!("{cut:?} {context}"));
        assert!(replay_path(&*model, &run, &control).is_ok(), "{context}");
        let mut more = 0;
        model
            .explorer(&control)
            .successors(run.last(), &mut |_| {
                more += 1;
                Ok(())
            })
            .expect("no limit");
        assert_eq!(more, 0, "{context}");
        deadlocks += 1;
        steps += run.steps.len();
    }
    assert!(deadlocks > 1, "{deadlocks} deadlocks, {steps} steps");
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
    let freedom = Freedom { equivalence: Equivalence::Strong, hidden: &hidden, invariants: None };
    let guarded = model(&text("false"), Analyses::NONE);
    let found = decompose(&guarded, &partition, &freedom, &Control::unlimited());
    let found = found.unwrap_or_else(|undone| panic!("{undone:?}"));
    assert!(bisimilar(found.lts(), &graph(&guarded)));
    let open = model(&text("true"), Analyses::NONE);
    match decompose(&open, &partition, &freedom, &Control::unlimited()) {
        Err(Undone::Cut(Cut::Wrong(wrong))) => {
            assert!(wrong.message.contains("head([])") && wrong.message.contains("`a`"), "{}", wrong.message);
        }
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("a state with a stuck condition is reached"),
    }
}

#[test]
fn a_case_that_is_stuck_does_not_count_where_another_one_holds() {
    // The last condition is true where the queue is empty; `head(q)` alone is stuck there.
    for condition in ["!(#q > 0 && head(q) == n)", "q == [] || head(q) == n", "if(q == [], n == 0, head(q) == n)"] {
        let text = format!(
            "act put: Nat; get, free;\nproc P(q: List(Nat), n: Nat) = (#q < 2) -> put(n) . P(q = n |> q, n = (n + 1) mod 2)\n\
             + (#q > 0) -> get . P(q = tail(q)) + ({condition}) -> free . P(n = 0);\ninit P([], 0);"
        );
        let model = model(&text, Analyses::NONE);
        for equivalence in [Equivalence::Strong, Equivalence::DivergenceBranching] {
            let made = taken_apart(&model, &vec![vec![0], vec![1]], equivalence);
            assert!(bisimilar(made.lts(), &graph(&model)), "{condition}");
        }
    }
}

#[test]
fn a_test_that_is_stuck_does_not_count_where_the_update_is_not_made() {
    let text = "act a, b;\nproc P(q: List(Bool), x: Bool) = (x || q != []) -> a . P(x = if(q == [], false, head(q)))\n\
        + (#q < 2) -> b . P(q = x |> q);\ninit P([], true);";
    let model = model(text, Analyses::NONE);
    let made = taken_apart(&model, &vec![vec![0], vec![1]], Equivalence::Strong);
    assert!(bisimilar(made.lts(), &graph(&model)));
}

#[test]
fn summed_variables_that_conditions_link_are_bounded_in_every_part() {
    for condition in ["i < 2 && j < 2 && j != i", "i < 2 && j != i && j < i + 2", "i != x && i != y && i < 2 && j == i"]
    {
        let text = format!(
            "act a: Nat; b;\nproc P(x: Nat, y: Nat) =\n\
             sum i, j: Nat. ({condition}) -> a(i) . P(x = (x + j) mod 3, y = (y + i) mod 3)\n\
             + (x == y) -> b . P(x = 0);\ninit P(0, 0);"
        );
        let model = model(&text, Analyses::NONE);
        let made = taken_apart(&model, &vec![vec![0], vec![1]], Equivalence::Strong);
        assert!(bisimilar(made.lts(), &graph(&model)), "{condition}");
    }
}

#[test]
fn a_partition_of_a_small_model_is_chosen_although_its_parts_have_no_bound() {
    // A part with `n` alone would count down without end, in terms that are stuck and grow.
    let text = "act a: Nat; b: Nat;\nproc P(n: Nat, m: Nat, u: Bool) = (m < 3) -> a(n) . P(n = n + 1, m = m + 1)\n\
        + (m > 0) -> b(n) . P(n = Int2Nat(n - 1), m = Int2Nat(m - 1), u = !u);\ninit P(0, 0, true);";
    let model = model(text, Analyses::NONE);
    let hidden = nothing();
    let freedom = Freedom { equivalence: Equivalence::Strong, hidden: &hidden, invariants: None };
    let choice = choose(&model, &freedom, &Control::unlimited()).unwrap_or_else(|undone| panic!("{undone:?}"));
    // Eight states in all; an invariant says how far `n` counts.
    let made = choice.decomposition.unwrap_or_else(|| panic!("{:?}", choice.report));
    assert!(made.peak_states() <= 4 && bisimilar(made.lts(), &graph(&model)), "{:?}", choice.report);
}

#[test]
fn conjuncts_about_two_summed_variables_are_both_kept() {
    // The two conjuncts differ in their variable only; one of them bounds what is shown.
    let text = "sort D = struct d1 | d2 | d3; act c: D; t;\n\
        proc P(x: Bool, y: Bool) = sum e, f: D. (e == d1 && f == d1 && x) -> c(f) . P(y = !y) + t . P(x = !x);\n\
        init P(true, true);";
    let model = model(text, Analyses::NONE);
    for partition in [vec![vec![0], vec![1]], vec![vec![0, 1], vec![1]]] {
        let made = taken_apart(&model, &partition, Equivalence::Strong);
        assert!(bisimilar(made.lts(), &graph(&model)), "{partition:?}");
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
    let freedom = Freedom { equivalence: Equivalence::Strong, hidden: &hidden, invariants: None };
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
