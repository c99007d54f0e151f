//! Orders, distances, findings, paths, and ends, on explicit systems.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trefoil_control::{Control, Limits, Stopped};
use trefoil_explore::{End, Finding, Options, Order, Stretch, Visited, Visitor, collect, search, search_until};
use trefoil_lts::Lts;
use trefoil_system::{
    Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Sink, Slot, SlotSet, StateId, Step, System, Value, Walk,
    Witness, replay,
};
use trefoil_testkit::composition::distances;
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

/// An explicit system whose rows are too wide for a dense set.
struct Wide {
    lts: Lts,
    layout: Layout,
    groups: Vec<Group>,
}

impl Wide {
    fn new(lts: Lts) -> Wide {
        let slots: SlotSet = [0, 1].into_iter().collect();
        let group = Group {
            name: "all".into(),
            guards: slots.clone(),
            reads: slots.clone(),
            may_write: slots,
            ..Group::default()
        };
        let layout = Layout::new(vec![Slot::word("state"), Slot::bounded("parity", 2)]);
        Wide { lts, layout, groups: vec![group] }
    }
}

/// Numbers are scattered, and come back.
fn wide(state: u32) -> [Value; 2] {
    [state.wrapping_mul(0x9e37_79b1), state % 2]
}

fn narrow(row: &[Value]) -> StateId {
    StateId(if row.len() == 1 { row[0] } else { row[0].wrapping_mul(0x0e8b_2f51) })
}

impl System for Wide {
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn labels(&self) -> &Arc<Labels> {
        self.lts.labels()
    }
    fn groups(&self) -> &[Group] {
        &self.groups
    }
    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(wide(self.lts.initial().0).to_vec())
    }
    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(WideExplorer(&self.lts))
    }
}

struct WideExplorer<'a>(&'a Lts);

impl Explorer for WideExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        for transition in self.0.outgoing(narrow(row)) {
            sink(Step::of_group(GroupId(0), transition.label, &wide(transition.target.0)))?;
        }
        Ok(())
    }
}

/// Remembers the distance of every state, and reports the given states and labels.
#[derive(Clone, Default)]
struct Watch {
    distances: Vec<(Vec<Value>, u32)>,
    states: Vec<StateId>,
    label: Option<LabelId>,
}

impl Visitor for Watch {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.distances.push((state.row.to_vec(), state.distance));
        if self.states.contains(&narrow(state.row)) {
            return Ok(Finding::State);
        }
        let step = state.steps.iter().position(|edge| Some(edge.label) == self.label);
        Ok(step.map_or(Finding::Nothing, Finding::Step))
    }
}

fn random_system(random: &mut Random, states: u32) -> Lts {
    let labels = Arc::new(Labels::new());
    let shape = RandomShape {
        states,
        transitions: states as usize + random.below(states as usize + 1),
        labels: 1 + random.below(3),
        tau_percent: [0, 20, 50, 80, 97][random.below(5)],
    };
    random_lts(&labels, shape, random)
}

/// Small systems many times, larger ones, where threads really share rounds, a few times.
fn sizes(random: &mut Random, case: usize) -> u32 {
    if case.is_multiple_of(100) {
        20_000
    } else if case.is_multiple_of(20) {
        3000
    } else {
        1 + random.below(30) as u32
    }
}

fn both(lts: &Lts) -> [Box<dyn System>; 2] {
    [Box::new(lts.clone()), Box::new(Wide::new(lts.clone()))]
}

/// A search that pauses has expanded whole levels, and visits the same states in the end; notes come back with edges.
#[test]
fn a_search_that_pauses_goes_on_with_the_next_level() {
    struct Noting(Vec<(StateId, u32)>);
    impl Visitor for Noting {
        fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
            self.0.push((narrow(state.row), state.distance));
            assert!(state.steps.iter().all(|edge| edge.note == 7 + edge.label.0));
            Ok(Finding::Nothing)
        }

        fn note(&mut self, step: &Step<'_>) -> u32 {
            7 + step.label.0
        }
    }
    let seed = seed();
    let mut random = Random::new(seed);
    let (control, mut pauses) = (Control::unlimited(), 0);
    for case in 0..200 {
        let size = sizes(&mut random, case);
        let lts = random_system(&mut random, size);
        let expected = distances(&lts, true);
        let options = Options { threads: [1, 2, 4][case % 3], order: Order::Steps, ..Options::default() };
        for system in both(&lts) {
            let mut pause = 1 + random.below(20) as u64;
            let mut stretch = search_until(&*system, &options, None, pause, &control, || Noting(Vec::new()));
            let visitors = loop {
                match stretch {
                    Stretch::Ended(ended) => {
                        assert_eq!(ended.end, End::Complete);
                        assert_eq!(ended.counts.expanded as usize, expected.iter().flatten().count());
                        break ended.visitors;
                    }
                    Stretch::Paused(paused) => {
                        pauses += 1;
                        let seen = || paused.visitors.iter().flat_map(|visitor| &visitor.0);
                        let level = seen().map(|&(_, distance)| distance).max().unwrap();
                        let wanted = expected.iter().flatten().filter(|&&distance| distance <= level).count();
                        assert_eq!((seen().count(), paused.counts.expanded as usize), (wanted, wanted), "seed {seed}");
                        assert!(paused.counts.expanded >= pause, "seed {seed} case {case}");
                        pause = paused.counts.expanded + 1 + random.below(2000) as u64;
                        stretch = paused.resume(None, pause, &*system, &control, || Noting(Vec::new()));
                    }
                }
            };
            let mut seen: Vec<(StateId, u32)> = visitors.into_iter().flat_map(|visitor| visitor.0).collect();
            seen.sort_unstable();
            let all = expected.iter().enumerate();
            let all = all.filter_map(|(state, distance)| Some((StateId(state as u32), (*distance)?)));
            assert!(seen.into_iter().eq(all), "seed {seed} case {case}");
        }
    }
    assert!(pauses > 200, "{pauses} pauses");
}

#[test]
fn distances_are_those_of_the_definition() {
    let seed = seed();
    let mut random = Random::new(seed);
    for case in 0..400 {
        let size = sizes(&mut random, case);
        let lts = random_system(&mut random, size);
        let threads = [1, 2, 4][case % 3];
        for (order, all) in [(Order::Visible, false), (Order::Steps, true)] {
            let expected = distances(&lts, all);
            for system in both(&lts) {
                let options = Options { threads, order, ..Options::default() };
                let found = search(&*system, &options, &Control::unlimited(), Watch::default);
                assert_eq!(found.end, End::Complete);
                let mut seen: BTreeMap<StateId, u32> = BTreeMap::new();
                for (row, distance) in found.visitors.iter().flat_map(|visitor| &visitor.distances) {
                    let state = narrow(row);
                    assert!(seen.insert(state, *distance).is_none(), "seed {seed} case {case}: {state:?} twice");
                }
                for state in lts.states() {
                    let context = format!("seed {seed} case {case} {order:?} {threads} threads, state {state:?}");
                    assert_eq!(seen.get(&state).copied(), expected[state.index()], "{context}");
                }
                let reachable = expected.iter().flatten();
                assert_eq!(found.counts.states, reachable.clone().count() as u64);
                assert_eq!(found.counts.expanded, found.counts.states);
                assert_eq!(Some(&found.counts.depth), reachable.max());
            }
        }
    }
}

#[test]
fn findings_are_shortest_and_their_paths_replay() {
    let seed = seed();
    let mut random = Random::new(seed);
    let mut found_any = 0;
    for case in 0..600 {
        let size = sizes(&mut random, case);
        let lts = random_system(&mut random, size);
        let states: Vec<StateId> =
            (0..1 + random.below(3)).map(|_| StateId(random.below(size as usize) as u32)).collect();
        let label = random.chance(50).then(|| LabelId(random.below(5) as u32));
        for (order, all) in [(Order::Visible, false), (Order::Steps, true)] {
            let far = distances(&lts, all);
            let by_state = states.iter().filter_map(|state| far[state.index()]).min();
            let cost = |label: LabelId| u32::from(all || label.is_visible());
            // A state that is reported itself does not report its steps.
            let stepping =
                lts.all_transitions().filter(|(source, t)| Some(t.label) == label && !states.contains(source));
            let by_step = stepping.filter_map(|(source, t)| Some(far[source.index()]? + cost(t.label))).min();
            let expected = by_state.into_iter().chain(by_step).min();
            for system in both(&lts) {
                for threads in [1, 3] {
                    let watch = Watch { states: states.clone(), label, ..Watch::default() };
                    let options = Options { threads, order, ..Options::default() };
                    let exploration = search(&*system, &options, &Control::unlimited(), || watch.clone());
                    let context = format!("seed {seed} case {case} {order:?} {threads} threads");
                    let End::Found(found) = &exploration.end else {
                        assert_eq!((&exploration.end, expected), (&End::Complete, None), "{context}");
                        continue;
                    };
                    assert_eq!(Some(found.length), expected, "{context}");
                    let path = exploration.path_to(&*system, found, &Control::unlimited()).expect("no budget");
                    assert_eq!(replay::replay_path(&*system, &path, &Control::unlimited()), Ok(()), "{context}");
                    let length = if all { path.steps.len() } else { path.length() };
                    assert_eq!(length as u32, found.length, "{context}");
                    match &found.step {
                        Some(step) => assert_eq!(Some(step.label), label),
                        None => assert!(states.contains(&narrow(path.last()))),
                    }
                    found_any += 1;
                }
            }
        }
    }
    assert!(found_any > 2000, "{found_any}");
}

/// Every state, or some of many, has a run of its distance.
#[test]
fn every_state_has_a_shortest_path() {
    let seed = seed();
    let mut random = Random::new(seed);
    let control = Control::unlimited();
    for case in 0..150 {
        let size = sizes(&mut random, case);
        let lts = random_system(&mut random, size);
        for (order, all) in [(Order::Visible, false), (Order::Steps, true)] {
            let expected = distances(&lts, all);
            for system in both(&lts) {
                let options = Options { threads: 1 + case % 2, order, ..Options::default() };
                let exploration = search(&*system, &options, &control, Ids::default);
                let ids: Vec<(StateId, StateId)> =
                    exploration.visitors.iter().flat_map(|visitor| visitor.0.iter().copied()).collect();
                for (state, id) in ids.iter().step_by(1 + ids.len() / 5) {
                    let context = format!("seed {seed} case {case} {order:?} state {state:?}");
                    let path = exploration.path(&*system, *id, &control).expect("no budget").expect("it was expanded");
                    assert_eq!(replay::replay_path(&*system, &path, &control), Ok(()), "{context}");
                    assert_eq!(narrow(path.last()), *state, "{context}");
                    let length = if all { path.steps.len() } else { path.length() };
                    assert_eq!(Some(length as u32), expected[state.index()], "{context}");
                }
            }
        }
    }
}

/// Remembers the numbers of the states.
#[derive(Default)]
struct Ids(Vec<(StateId, StateId)>);

impl Visitor for Ids {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.0.push((narrow(state.row), state.id));
        Ok(Finding::Nothing)
    }
}

#[test]
fn a_path_is_searched_within_the_budget_and_only_to_what_was_expanded() {
    let mut random = Random::new(seed());
    let lts = random_system(&mut random, 3000);
    let system = Wide::new(lts.clone());
    let options = Options { threads: 2, order: Order::Steps, ..Options::default() };
    let exploration = search(&system, &options, &Control::unlimited(), Ids::default);
    let last = exploration.visitors.iter().flat_map(|visitor| &visitor.0).map(|pair| pair.1).max().expect("states");
    let control = Control::unlimited();
    assert!(exploration.path(&system, StateId(u32::MAX - 2), &control).expect("no budget").is_none());
    control.cancel();
    assert_eq!(exploration.path(&system, last, &control).err(), Some(Cut::Stopped));
}

/// The states on cycles of `τ`: those that come back to themselves.
fn on_cycles(lts: &Lts) -> Vec<StateId> {
    let mut left: Vec<bool> = vec![true; lts.state_count()];
    // What has no `τ` to or no `τ` from what is left is on no cycle; a state between two cycles stays, at the distance
    // of the first.
    loop {
        let mut into = vec![false; lts.state_count()];
        let mut out = vec![false; lts.state_count()];
        for (source, step) in lts.all_transitions() {
            if step.label == LabelId::TAU && left[source.index()] && left[step.target.index()] {
                out[source.index()] = true;
                into[step.target.index()] = true;
            }
        }
        let keeps = |state: &StateId| left[state.index()] && into[state.index()] && out[state.index()];
        let kept: Vec<StateId> = lts.states().filter(keeps).collect();
        if kept.len() == left.iter().filter(|&&left| left).count() {
            return kept;
        }
        left = vec![false; lts.state_count()];
        kept.iter().for_each(|state| left[state.index()] = true);
    }
}

#[test]
fn cycles_of_tau_are_found_at_the_least_distance() {
    let seed = seed();
    let mut random = Random::new(seed);
    let mut with_cycle = 0;
    for case in 0..600 {
        let size = sizes(&mut random, case);
        let mut lts = random_system(&mut random, size);
        if case % 2 == 0 {
            // Most τ go upwards, so that cycles are few and walks are long.
            let mut builder = trefoil_lts::LtsBuilder::new(lts.labels().clone());
            builder.at_least(size);
            let rare = random.below(3);
            for (source, step) in lts.all_transitions() {
                let upwards = step.target > source || random.below(2000) < rare;
                let label = if step.label == LabelId::TAU && !upwards { LabelId(3) } else { step.label };
                builder.add(source, label, step.target);
            }
            lts = builder.build(lts.initial());
        }
        let far = distances(&lts, false);
        let expected = on_cycles(&lts).iter().filter_map(|state| far[state.index()]).min();
        for system in both(&lts) {
            for threads in [1, 3] {
                let context = format!("seed {seed} case {case} {threads} threads");
                let options = Options { threads, order: Order::Visible, cycles: true, ..Options::default() };
                let exploration = search(&*system, &options, &Control::unlimited(), || ());
                let End::Found(found) = &exploration.end else {
                    assert_eq!((&exploration.end, expected), (&End::Complete, None), "{context}");
                    continue;
                };
                assert_eq!(Some(found.length), expected, "{context}");
                let path = exploration.path_to(&*system, found, &Control::unlimited()).expect("no budget");
                let witness = Witness::Lasso { path, cycle: exploration.cycle(found) };
                assert_eq!(replay::replay_divergence(&*system, &witness, &Control::unlimited()), Ok(()), "{context}");
                with_cycle += 1;
            }
        }
    }
    assert!((500..2000).contains(&with_cycle), "{with_cycle}");
}

/// The least number of visible events to every state and, among runs with as many, the least number of silent steps, by
/// relaxing until nothing changes.
fn lengths(lts: &Lts) -> Vec<Option<(u32, u32)>> {
    let mut known = vec![None; lts.state_count()];
    known[lts.initial().index()] = Some((0, 0));
    loop {
        let mut changed = false;
        for (source, step) in lts.all_transitions() {
            let Some((visible, silent)) = known[source.index()] else { continue };
            let seen = step.label.is_visible();
            let longer = (visible + u32::from(seen), silent + u32::from(!seen));
            let target: &mut Option<(u32, u32)> = &mut known[step.target.index()];
            if target.is_none_or(|target| longer < target) {
                (*target, changed) = (Some(longer), true);
            }
        }
        if !changed {
            return known;
        }
    }
}

/// What a search found, in full: the path, the cycle, and how much was counted on the way.
fn evidence(
    system: &dyn System,
    options: &Options,
    watch: &Watch,
) -> Option<(trefoil_system::Path, Witness, u64, u64)> {
    let control = Control::unlimited();
    let exploration = search(system, options, &control, || watch.clone());
    let End::Found(found) = &exploration.end else { return None };
    let path = exploration.path_to(system, found, &control).expect("no budget");
    let witness = Witness::Lasso { path: path.clone(), cycle: exploration.cycle(found) };
    Some((path, witness, exploration.counts.states, exploration.counts.transitions))
}

#[test]
fn the_same_is_found_whatever_the_number_of_threads() {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut found_any, mut silent_any) = (0, 0);
    for case in 0..200 {
        // Rounds that threads really share.
        let size = if case % 5 == 0 { 4000 } else { sizes(&mut random, case) };
        let lts = random_system(&mut random, size);
        // Many findings, so that threads differ in which they meet first.
        let states: Vec<StateId> = (0..1 + size / 4)
            .map(|_| StateId(random.below(size as usize) as u32))
            .filter(|state| state.0 > 0)
            .collect();
        let label = random.chance(50).then(|| LabelId(random.below(5) as u32));
        let watch = Watch { states: if random.chance(70) { states } else { Vec::new() }, label, ..Watch::default() };
        for (order, cycles) in [(Order::Visible, false), (Order::Visible, true), (Order::Steps, false)] {
            for system in both(&lts) {
                let context = format!("seed {seed} case {case} {order:?} cycles {cycles}");
                let steps_only = watch.states.is_empty() && !cycles && label.is_some_and(LabelId::is_visible);
                let options = Options { threads: 1, order, cycles, steps_only };
                let alone = evidence(&*system, &options, &watch);
                for threads in [2, 4] {
                    let together = evidence(&*system, &Options { threads, ..options }, &watch);
                    assert_eq!(alone, together, "{context} {threads} threads");
                }
                let Some((path, ..)) = alone else { continue };
                found_any += 1;
                if order == Order::Visible {
                    // To the state that was found there is no run with fewer silent steps.
                    let silent = path.steps.iter().filter(|step| !step.label.is_visible()).count() as u32;
                    let least = lengths(&lts)[narrow(path.last()).index()].expect("it is reachable");
                    let step_found = label.is_some() && path.steps.last().is_some_and(|step| Some(step.label) == label);
                    assert!(step_found || (path.length() as u32, silent) == least, "{context}");
                    silent_any += usize::from(silent > 0 && path.length() > 0);
                }
            }
        }
    }
    assert!(found_any > 300 && silent_any > 15, "{found_any} {silent_any}");
}

/// A visible step at the start, and a long way of silent steps beside it.
#[test]
fn a_search_for_steps_ends_with_the_round_of_the_first() {
    let labels = Arc::new(Labels::new());
    let bad = labels.name("bad");
    let mut builder = trefoil_lts::LtsBuilder::new(labels);
    builder.add(StateId(0), bad, StateId(1));
    for state in 2..50_000 {
        let from = if state == 2 { 0 } else { state - 1 };
        builder.add(StateId(from), LabelId::TAU, StateId(state));
    }
    let system = Wide::new(builder.build(StateId(0)));
    let watch = Watch { label: Some(bad), ..Watch::default() };
    for (steps_only, expanded) in [(true, 1), (false, 49_999)] {
        let options = Options { threads: 2, order: Order::Visible, cycles: false, steps_only };
        let exploration = search(&system, &options, &Control::unlimited(), || watch.clone());
        assert!(matches!(&exploration.end, End::Found(found) if (found.length, found.silent) == (1, 0)));
        assert_eq!(exploration.counts.expanded, expanded);
    }
}

#[test]
fn a_collected_graph_does_not_depend_on_the_threads() {
    let mut random = Random::new(seed());
    for _ in 0..3 {
        let lts = random_system(&mut random, 4000);
        for system in both(&lts) {
            let graph =
                |threads| collect(&*system, threads, &Control::unlimited()).unwrap_or_else(|end| panic!("{end:?}"));
            let alone = graph(1);
            for threads in [2, 4] {
                let together = graph(threads);
                assert_eq!(alone.starts, together.starts);
                assert_eq!(alone.transitions, together.transitions);
            }
        }
    }
}

/// Counts forever; every state has a τ and a visible step. Panics at one state if requested.
struct Endless {
    labels: Arc<Labels>,
    layout: Layout,
    groups: Vec<Group>,
    panics: bool,
}

impl Endless {
    fn new(panics: bool) -> Endless {
        let labels = Arc::new(Labels::new());
        labels.name("a");
        let layout = Layout::new(vec![Slot::word("x"), Slot::word("y")]);
        let slots: SlotSet = [0, 1].into_iter().collect();
        let group = Group { guards: slots.clone(), may_write: slots, ..Group::default() };
        Endless { labels, layout, groups: vec![group], panics }
    }
}

impl System for Endless {
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }
    fn groups(&self) -> &[Group] {
        &self.groups
    }
    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(vec![0, 0])
    }
    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(EndlessExplorer(self.panics))
    }
}

struct EndlessExplorer(bool);

impl Explorer for EndlessExplorer {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        assert!(!self.0 || row[0] + row[1] < 300, "a bug in a system");
        sink(Step::of_group(GroupId(0), LabelId::TAU, &[row[0] + 1, row[1]]))?;
        sink(Step::of_group(GroupId(0), LabelId(2), &[row[0], row[1] + 1]))
    }
}

#[test]
fn a_search_stops_when_told_and_keeps_its_counts() {
    for order in [Order::Steps, Order::Visible] {
        let limit = Duration::from_millis(60);
        let control = Control::new(Limits { time: Some(limit), memory: None });
        let begin = Instant::now();
        let options = Options { threads: 2, order, ..Options::default() };
        let ended = search(&Endless::new(false), &options, &control, || ());
        assert_eq!((ended.end, control.why()), (End::Cut(Cut::Stopped), Stopped::Timeout { limit }));
        assert!(ended.counts.states > 100 && ended.counts.expanded < ended.counts.states);
        assert!(begin.elapsed() < Duration::from_secs(20));
        let snapshot = control.progress().snapshot();
        assert!(snapshot.states > 0 && snapshot.transitions > 0);
    }
    let control = Control::unlimited();
    control.cancel();
    let unfinished = collect(&Endless::new(false), 2, &control).err().expect("it was cancelled");
    assert_eq!((unfinished.cut, control.why()), (Cut::Stopped, Stopped::Interrupted));
    assert_eq!(unfinished.counts.expanded, 0);
}

#[test]
fn a_panic_in_a_system_reaches_the_caller() {
    for threads in [1, 2, 4] {
        let options = Options { threads, order: Order::Steps, ..Options::default() };
        let outcome = std::panic::catch_unwind(|| search(&Endless::new(true), &options, &Control::unlimited(), || ()));
        assert!(outcome.is_err());
    }
}
