//! Symbolic against explicit exploration: states, transitions, deadlocks, errors and the lengths of runs, on random
//! systems and on the examples of Promela and mCRL2.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use trefoil_control::{Control, Stopped};
use trefoil_diagrams::UBig;
use trefoil_explore::{End, Finding, Options as Searching, Order, Visited, Visitor, search};
use trefoil_groups::Random;
use trefoil_questions::{Asked, Engine, ErrorKinds, Goal, Question, Reach, Ready, Task, Terms, Unanswered};
use trefoil_source::{FileId, Sources};
use trefoil_symbolic::{Options, SYMBOLIC, SlotOrder, Space, Strategy};
use trefoil_system::replay::replay_path;
use trefoil_system::{
    Change, Checked, Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Sink, Slot, SlotSet, Step, System, Value,
    Walk, Writing, Written,
};

/// A group all of whose steps overwrite every slot, in half of the systems that have it.
const RESET: &str = "reset";

/// A random system: what a group does depends on a hash of what it reads.
struct Toy {
    seed: u64,
    layout: Layout,
    labels: Arc<Labels>,
    groups: Vec<Group>,
    values: usize,
}

impl Toy {
    fn new(seed: u64) -> Toy {
        let mut random = Random::new(seed);
        let (width, values) = (1 + random.below(6), 2 + random.below(3));
        let slots = (0..width).map(|slot| Slot::bounded(format!("s{slot}"), values as u32)).collect();
        let labels = Labels::new();
        (0..4).for_each(|label| {
            labels.name(&format!("l{label}"));
        });
        let mut some = |chance: usize| (0..width).filter(|_| random.below(chance) == 0).collect::<SlotSet>();
        let groups = (0..1 + seed as usize % 5).map(|number| Group {
            name: format!("g{number}"),
            guards: some(3),
            reads: some(4),
            may_write: some(2),
            ..Group::default()
        });
        let mut groups: Vec<Group> = groups.collect();
        // In every third system one group may write every slot; in half of these its steps do.
        if seed.is_multiple_of(3) {
            let may_write = (0..width).collect();
            groups.push(Group { name: RESET.into(), guards: some(3), may_write, ..Group::default() });
        }
        // In every fifth system all other groups take turns.
        if seed % 5 == 4 {
            for group in groups.iter_mut().filter(|group| group.name != RESET) {
                let turn: SlotSet = [0].into_iter().collect();
                (group.guards, group.may_write) = (group.guards.union(&turn), group.may_write.union(&turn));
            }
        }
        Toy { seed, layout: Layout::new(slots), labels: Arc::new(labels), groups, values }
    }
}

impl System for Toy {
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
        Ok(vec![0; self.layout.width()])
    }

    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(ToyExplorer(self))
    }

    /// The last label shows an error.
    fn error(&self, label: LabelId) -> u32 {
        u32::from(label.0 == 5)
    }

    fn first_error(&self) -> LabelId {
        LabelId(5)
    }
}

struct ToyExplorer<'a>(&'a Toy);

impl Explorer for ToyExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let toy = self.0;
        let mut reads = Vec::new();
        for (number, group) in toy.groups.iter().enumerate() {
            group.inputs().values(row, &mut reads);
            let key = reads.iter().fold(toy.seed * 31 + number as u64, |key, &value| key * 7 + u64::from(value));
            let mut random = Random::new(key);
            for _ in 0..random.below(3) {
                let label = LabelId(2 + [0, 0, 0, 1, 1, 2, 3][random.below(7)]);
                let mut next = row.to_vec();
                let mut changes: Vec<Change> = Vec::new();
                let turns = toy.seed % 5 == 4 && group.name != RESET;
                for slot in group.may_write.iter() {
                    if turns && slot == 0 {
                        changes.push((0, row[0]));
                        next[0] = (row[0] + 1) % toy.values as Value;
                    } else if random.below(3) > 0 || group.name == RESET && toy.seed.is_multiple_of(2) {
                        changes.push((slot as u32, row[slot]));
                        next[slot] = random.below(toy.values) as Value;
                    }
                }
                let written = Written::Slots(&changes);
                sink(Step {
                    group: GroupId(number as u32),
                    label,
                    row: &next,
                    written,
                    class: 0,
                    agents: &[],
                    passes: false,
                })?;
            }
        }
        Ok(())
    }
}

/// What an explicit search counts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Explicit {
    states: u64,
    transitions: u64,
    deadlocks: u64,
    /// The least distances of a deadlock and of an error, the step that shows it included.
    nearest_deadlock: Option<u32>,
    nearest_error: Option<u32>,
}

struct Counting<'a> {
    system: &'a dyn System,
    seen: &'a Mutex<Explicit>,
    left: u64,
}

impl Visitor for Counting<'_> {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        let mut seen = self.seen.lock().expect("no panic");
        let nearer = |known: Option<u32>, new: u32| Some(known.map_or(new, |known| known.min(new)));
        if state.steps.is_empty() {
            seen.deadlocks += 1;
            seen.nearest_deadlock = nearer(seen.nearest_deadlock, state.distance);
        }
        let is_error = |label: LabelId| label >= self.system.first_error() && self.system.error(label) != 0;
        if state.steps.iter().any(|step| is_error(step.label)) {
            seen.nearest_error = nearer(seen.nearest_error, state.distance + 1);
        }
        self.left = self.left.saturating_sub(1);
        Ok(if self.left == 0 { Finding::State } else { Finding::Nothing })
    }
}

/// The counts of an explicit search; nothing when there are more states than that.
fn explicit(system: &dyn System, most: u64, control: &Control) -> Result<Option<Explicit>, Cut> {
    let seen = Mutex::new(Explicit::default());
    let options = Searching { threads: 1, order: Order::Steps, ..Searching::default() };
    let found = search(system, &options, control, || Counting { system, seen: &seen, left: most });
    match &found.end {
        End::Complete => {}
        End::Found(_) => return Ok(None),
        End::Cut(cut) => return Err(cut.clone()),
    }
    let counts = found.counts;
    drop(found);
    let mut seen = seen.into_inner().expect("no panic");
    (seen.states, seen.transitions) = (counts.states, counts.transitions);
    Ok(Some(seen))
}

/// Explores symbolically and compares.
fn agree(what: &str, system: &dyn System, expected: &Explicit, options: &Options) {
    let control = Control::unlimited();
    let mut space = Space::new(system, options, &control).expect("nothing stops it");
    space.explore(|_| false).expect("nothing stops it");
    let what = format!("{what}, {options:?}");
    assert!(space.is_complete());
    let states = space.states().clone();
    assert_eq!(space.count(&states).expect("counts"), UBig::from(expected.states), "states of {what}");
    let transitions = space.transitions(&states).expect("counts");
    assert_eq!(transitions, UBig::from(expected.transitions), "transitions of {what}");
    let deadlocks = space.deadlocks(&states).expect("deadlocks");
    assert_eq!(space.count(&deadlocks).expect("counts"), UBig::from(expected.deadlocks), "deadlocks of {what}");
    let run = space.run_to(&|space, level| space.deadlocks(level), None).expect("a run");
    assert_eq!(run.as_ref().map(|run| run.steps.len() as u32), expected.nearest_deadlock, "deadlock of {what}");
    run.iter().for_each(|run| replay_path(system, run, &control).expect("the run is one of the system"));
    let guided = space.shortest_run(&deadlocks, &|space, level| space.deadlocks(level)).expect("a run");
    assert_eq!(guided.as_ref().map(|run| run.steps.len() as u32), expected.nearest_deadlock, "guided, {what}");
    guided.iter().for_each(|run| replay_path(system, run, &control).expect("the run is one of the system"));
    let run = space.run_to_error(|kind| kind != 0).expect("a run");
    assert_eq!(run.as_ref().map(|run| run.steps.len() as u32), expected.nearest_error, "error of {what}");
    run.iter().for_each(|run| replay_path(system, run, &control).expect("the run is one of the system"));
}

#[test]
fn random_systems_have_the_same_states_steps_and_runs() {
    for seed in 0..100 {
        let toy = Toy::new(seed);
        let expected = explicit(&toy, u64::MAX, &Control::unlimited()).expect("nothing stops it").expect("all of it");
        for strategy in Strategy::ALL {
            for (order, restless) in [(SlotOrder::Given, false), (SlotOrder::Found, false), (SlotOrder::Found, true)] {
                for (threads, anticipation) in [(1, false), (2, false), (2, true)] {
                    let options = Options { threads, strategy, order, anticipation, restless };
                    agree(&format!("seed {seed}"), &toy, &expected, &options);
                }
            }
        }
    }
}

#[test]
fn an_exploration_ends_when_an_error_is_met() {
    let mut early = 0;
    for seed in 0..150 {
        let toy = Toy::new(seed);
        let control = Control::unlimited();
        let options = Options { anticipation: seed % 3 == 0, restless: seed % 2 == 1, ..Options::default() };
        let mut space = Space::new(&toy, &options, &control).expect("nothing stops it");
        space.explore(|kind| kind == 1).expect("nothing stops it");
        let expected = explicit(&toy, u64::MAX, &control).expect("nothing stops it").expect("all of it");
        assert!(space.is_complete() || expected.nearest_error.is_some(), "seed {seed}");
        early += usize::from(!space.is_complete());
        // Although the exploration ended early, the run is a shortest one.
        let run = space.run_to_error(|kind| kind == 1).expect("a run");
        assert_eq!(run.map(|run| run.steps.len() as u32), expected.nearest_error, "seed {seed}");
    }
    assert!(early > 20, "{early} explorations ended early");
}

/// A search that is cut reports states that it reached, and works no further with half of something.
#[test]
fn a_search_that_is_cut_counts_states_that_are_there() {
    let goals = [Goal::InvalidEnd];
    let (mut cuts, mut counted) = (0, 0);
    for seed in 0..20 {
        let toy = Toy::new(seed);
        let expected = explicit(&toy, u64::MAX, &Control::unlimited()).expect("nothing stops it").expect("all of it");
        let asked = Asked { keep_going: true, ..Asked::default() };
        let terms = Terms { asked: &asked, threads: 1, symmetric: false };
        let mut poll = 1;
        loop {
            let control = Control::stopping_at(poll, Stopped::Memory { limit: 1 << 40 });
            let reach = Reach { goals: &goals, asked: 0, no_steps: ErrorKinds::default() };
            let Ok(Ready::Ready(prepared)) = SYMBOLIC.prepare(Question::Reach(reach), &terms, &control) else {
                panic!("it is ready")
            };
            match prepared.answer(&Task::of(&toy), &control) {
                Ok(answer) => {
                    assert_eq!(answer.counts.states, expected.states, "seed {seed}");
                    break;
                }
                Err(Unanswered::Cut { counts, .. }) => {
                    cuts += 1;
                    counted += usize::from(counts.states > 1);
                    assert!(counts.states <= expected.states, "seed {seed}, poll {poll}: {counts:?}");
                    let text = counts.symbolic.as_ref().map(|symbolic| symbolic.states.clone());
                    assert!(text.is_none_or(|text| text == counts.states.to_string()), "seed {seed}, poll {poll}");
                }
                Err(other) => panic!("seed {seed}: {other:?}"),
            }
            poll += 1 + poll / 8;
        }
    }
    assert!(cuts > 200 && counted > 50, "{cuts} cuts, {counted} after the first count");
}

fn examples(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder);
    let entries = std::fs::read_dir(folder).expect("examples");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|own| own == extension));
    files.sort();
    files
}

/// Larger examples are left to the command line, whose tests have a release build.
const MOST_STATES: u64 = 3_000;

/// Compares an example, unless it is large; whether it was.
fn compared(file: &Path, mut system: Arc<dyn System>) -> bool {
    let control = Control::unlimited();
    let expected = loop {
        match explicit(&*system, MOST_STATES, &control) {
            Ok(expected) => break expected,
            Err(Cut::Outgrown) => system = system.widened().expect("a row that has more room"),
            Err(cut) => panic!("{}: {}", file.display(), cut.explain(&control)),
        }
    };
    let Some(expected) = expected else { return false };
    for strategy in Strategy::ALL {
        agree(
            &file.display().to_string(),
            &*system,
            &expected,
            &Options { threads: 2, strategy, ..Options::default() },
        );
    }
    true
}

#[test]
fn examples_of_promela_agree() {
    let mut count = 0;
    for file in examples("promela", "pml") {
        let mut load = |name: &str| std::fs::read_to_string(name).map_err(|error| error.to_string());
        let mut sources = Sources::default();
        let id = sources.add(file.display().to_string(), load(&file.display().to_string()).expect("a file"));
        let control = Control::unlimited();
        let program = trefoil_promela::read(id, &mut sources, &mut load, &mut Vec::new(), &control);
        let program = Arc::new(program.expect("no budget").expect("a model without mistakes"));
        count += usize::from(compared(&file, Arc::new(trefoil_promela::Model::new(program))));
    }
    assert!(count >= 15, "{count} examples were compared");
}

/// Promela's `timeout` in groups of their own: conditions of random programs ask for it, alone, beside other
/// conditions, in escapes and beside `else`.
#[test]
fn random_timeouts_have_the_same_states_steps_and_runs() {
    let (mut apart, mut taken) = (0, 0);
    for seed in 0..160 {
        let mut random = Random::new(seed);
        let mut text = trefoil_testkit::promela::random_program(&mut trefoil_testkit::Random::new(seed));
        let wishes = [
            ("x != 1", "timeout && x != 1"),
            ("g == h", "timeout"),
            ("skip", "timeout || b"),
            ("len(c) < 2", "!timeout && len(c) < 2"),
            ("unless { b ->", "unless { timeout ->"),
            ("unless { g == 2 ->", "unless { timeout && g == 2 ->"),
            ("a[0] == b || g > 0", "(timeout -> a[x % 2] == b : g > 1)"),
        ];
        for (from, to) in wishes {
            if random.below(3) > 0 {
                text = text.replace(from, to);
            }
        }
        let mut sources = Sources::default();
        let id = sources.add("random.pml".to_string(), text.clone());
        let control = Control::unlimited();
        let mut load = |_: &str| Err(String::new());
        let program = trefoil_promela::read(id, &mut sources, &mut load, &mut Vec::new(), &control);
        let Some(program) = program.expect("no budget") else { panic!("{text}") };
        let mut system: Arc<dyn System> = Arc::new(trefoil_promela::Model::new(Arc::new(program)));
        let expected = loop {
            match explicit(&*system, MOST_STATES, &control) {
                Ok(expected) => break expected,
                Err(Cut::Outgrown) => system = system.widened().expect("a row that has more room"),
                Err(cut) => panic!("{}: {text}", cut.explain(&control)),
            }
        };
        let (Some(expected), Some(with_timeouts)) = (expected, system.with_last_resorts()) else { continue };
        apart += 1;
        let last = |group: GroupId| with_timeouts.groups()[group.index()].last_resort;
        let happens = Mutex::new(false);
        let options = Searching { threads: 1, order: Order::Steps, ..Searching::default() };
        let checked = Checked::new(Lent(&*with_timeouts));
        let found = search(&checked, &options, &control, || Noting { last: &last, happens: &happens });
        assert_eq!((found.end, found.counts.states), (End::Complete, expected.states), "{text}");
        taken += usize::from(*happens.lock().expect("no panic"));
        for strategy in Strategy::ALL {
            let options = Options { threads: 1 + seed as usize % 2, strategy, ..Options::default() };
            agree(&format!("seed {seed}: {text}"), &*with_timeouts, &expected, &options);
        }
    }
    assert!(apart > 40 && taken > 20, "{apart} programs with timeouts apart, {taken} in which one happens");
}

/// A system that is only lent.
struct Lent<'s>(&'s dyn System);

impl System for Lent<'_> {
    fn layout(&self) -> &Layout {
        self.0.layout()
    }
    fn labels(&self) -> &Arc<Labels> {
        self.0.labels()
    }
    fn groups(&self) -> &[Group] {
        self.0.groups()
    }
    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        self.0.initial(control)
    }
    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        self.0.explorer(control)
    }
}

/// Notes whether a group that is a last resort has a step.
struct Noting<'a> {
    last: &'a (dyn Fn(GroupId) -> bool + Sync),
    happens: &'a Mutex<bool>,
}

impl Visitor for Noting<'_> {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        if state.steps.iter().any(|step| (self.last)(step.group)) {
            *self.happens.lock().expect("no panic") = true;
        }
        Ok(Finding::Nothing)
    }
}

#[test]
fn examples_of_mcrl2_agree() {
    let mut count = 0;
    for file in examples("mcrl2", "mcrl2") {
        let text = std::fs::read_to_string(&file).expect("a file");
        let mut wrong = Vec::new();
        let tree = trefoil_mcrl2::syntax::parse(&text, FileId(0), &mut wrong);
        let typed = trefoil_mcrl2::processes::check(&tree, &text, &mut wrong).expect("an example without mistakes");
        let control = Control::unlimited();
        let analyses = trefoil_mcrl2::linear::Analyses::ALL;
        let linear = trefoil_mcrl2::linear::linearise(&typed, analyses, &control).expect("a linear process");
        let labels = Arc::new(Labels::written(Writing::Brackets));
        let model = trefoil_mcrl2::system::Model::new(Arc::new(linear), labels, &control);
        let Ok(model) = model else { panic!("{} is a model", file.display()) };
        count += usize::from(compared(&file, Arc::new(model)));
    }
    assert!(count >= 15, "{count} examples were compared");
}
