//! Rows that are packed narrower than they are declared: the same states and paths, and no memory for what never
//! changes.

use std::collections::HashSet;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_explore::{End, Exploration, Finding, Options, Order, Visited, Visitor, search};
use trefoil_system::{
    Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Sink, Slot, Step, System, Value, Walk, Written,
    replay::replay_path,
};
use trefoil_testkit::{Random, seed};

/// Counters that count up to a bound in strides of their own, and slots that get another value once, when the counters
/// have come far.
struct Counters {
    layout: Layout,
    labels: Arc<Labels>,
    groups: Vec<Group>,
    /// Slot, stride and bound of each.
    counters: Vec<(usize, u32, u32)>,
    /// Slot, the sum of the counters at which it may change, and its new value.
    late: Vec<(usize, u32, Value)>,
    initial: Vec<Value>,
    counted: LabelId,
    /// Does its explorer report what changes?
    told: bool,
}

impl Counters {
    fn new(random: &mut Random, width: usize, bounds: &[u32], parts: bool) -> Counters {
        let mut slots = Vec::new();
        let mut initial = Vec::new();
        for slot in 0..width {
            // No declaration is narrower than what the counters reach.
            let values = [Some(1 << 16), Some(70_000), None][random.below(3)];
            let name = format!("s{slot}");
            slots.push(values.map_or_else(|| Slot::word(&name), |values| Slot::bounded(&name, values)));
            initial.push(if random.below(2) == 0 { 0 } else { random.below(1 << 16) as Value });
        }
        let mut layout = Layout::new(slots);
        if parts {
            layout = layout.with_parts((0..width).step_by(4).collect());
        }
        let mut places: Vec<usize> = (0..width).collect();
        let mut place = |random: &mut Random| places.swap_remove(random.below(places.len()));
        let counters: Vec<_> =
            bounds.iter().map(|&bound| (place(random), 1 + random.below(700) as u32, bound)).collect();
        let total: u32 = bounds.iter().sum();
        let late: Vec<_> = (0..2)
            .map(|_| (place(random), random.below(total as usize) as u32, random.below(1 << 16) as Value))
            .collect();
        counters.iter().for_each(|&(slot, ..)| initial[slot] = 0);
        let slots = counters.iter().map(|&(slot, ..)| slot).chain(late.iter().map(|&(slot, ..)| slot));
        let all = || (0..width).collect();
        let group = |slot: usize| Group {
            name: format!("slot {slot}"),
            guards: all(),
            may_write: [slot].into_iter().collect(),
            ..Group::default()
        };
        let groups = slots.map(group).collect();
        let labels = Arc::new(Labels::new());
        let counted = labels.name("count");
        Counters { layout, labels, groups, counters, late, initial, counted, told: random.below(2) == 0 }
    }

    fn sum(&self, row: &[Value]) -> u32 {
        self.counters.iter().map(|&(slot, stride, _)| row[slot] / stride).sum()
    }
}

impl System for Counters {
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
        Ok(self.initial.clone())
    }
    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(Counting(self))
    }
}

struct Counting<'a>(&'a Counters);

impl Explorer for Counting<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let system = self.0;
        let mut group = 0;
        let mut step = |slot: usize, value: Value, may: bool| -> Walk {
            let id = GroupId(group);
            group += 1;
            if may && row[slot] != value {
                let mut next = row.to_vec();
                next[slot] = value;
                let changes = [(slot as u32, row[slot])];
                let written = if system.told { Written::Slots(&changes) } else { Written::Group };
                sink(Step { written, ..Step::of_group(id, system.counted, &next) })?;
            }
            Ok(())
        };
        for &(slot, stride, bound) in &system.counters {
            step(slot, row[slot] + stride, row[slot] / stride < bound)?;
        }
        for &(slot, from, value) in &system.late {
            step(slot, value, system.sum(row) >= from)?;
        }
        Ok(())
    }
}

/// Remembers every row with its distance, and may look for one.
#[derive(Clone, Default)]
struct Watch {
    rows: Vec<(Vec<Value>, u32)>,
    wanted: Option<Vec<Value>>,
}

impl Visitor for Watch {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.rows.push((state.row.to_vec(), state.distance));
        Ok(if self.wanted.as_deref() == Some(state.row) { Finding::State } else { Finding::Nothing })
    }
}

fn explore(system: &Counters, threads: usize, wanted: Option<&[Value]>) -> Exploration<Watch> {
    let options = Options { threads, order: Order::Steps, ..Options::default() };
    let watch = || Watch { wanted: wanted.map(<[Value]>::to_vec), ..Watch::default() };
    search(system, &options, &Control::unlimited(), watch)
}

#[test]
fn narrow_rows_are_the_same_states() {
    let seed = seed();
    // From rows of one word, when they are narrow, to rows that stay wide enough for trees.
    for (case, (width, bounds)) in
        [(5, vec![40, 40, 6]), (9, vec![12, 9, 9, 9]), (14, vec![70, 70]), (60, vec![3; 8]), (90, vec![1; 13])]
            .into_iter()
            .enumerate()
    {
        let made = |parts| Counters::new(&mut Random::new(seed + case as u64), width, &bounds, parts);
        let plain = explore(&made(false), 1, None);
        let expected: HashSet<&(Vec<Value>, u32)> = plain.visitors.iter().flat_map(|visitor| &visitor.rows).collect();
        assert_eq!(expected.len() as u64, plain.counts.states);
        for threads in [1, 2] {
            let system = made(true);
            let found = explore(&system, threads, None);
            assert_eq!(found.end, End::Complete);
            assert_eq!(found.counts, plain.counts, "case {case}, seed {seed}");
            let rows: Vec<&(Vec<Value>, u32)> = found.visitors.iter().flat_map(|visitor| &visitor.rows).collect();
            assert_eq!(rows.len() as u64, found.counts.states, "each once; case {case}, seed {seed}");
            assert_eq!(rows.into_iter().collect::<HashSet<_>>(), expected, "case {case}, seed {seed}");
            let (last, distance) = expected.iter().max_by_key(|(row, distance)| (distance, row)).expect("a state");
            let exploration = explore(&system, threads, Some(last));
            let End::Found(found) = exploration.end.clone() else { panic!("it is there") };
            assert_eq!(found.length, *distance);
            let path = exploration.path_to(&system, &found, &Control::unlimited()).expect("time enough");
            assert_eq!((path.last(), path.steps.len()), (&last[..], *distance as usize), "seed {seed}");
            replay_path(&system, &path, &Control::unlimited()).expect("a path that replays");
        }
    }
}

#[test]
fn what_never_changes_takes_no_memory() {
    let system = Counters { late: Vec::new(), ..Counters::new(&mut Random::new(1), 300, &[90, 90, 30], true) };
    let options = Options { threads: 2, order: Order::Steps, ..Options::default() };
    let found = search(&system, &options, &Control::unlimited(), || ());
    assert_eq!(found.counts.states, 91 * 91 * 31);
    let bytes = found.states.bytes() as f64 / found.counts.states as f64;
    // Three counters of up to 17 bits, some free bits, and the index.
    assert!(bytes < 24.0, "{bytes} bytes a state for rows of more than 600");
}

/// Ends a search from within.
struct Impatient<'a> {
    control: &'a Control,
    left: u32,
}

impl Visitor for Impatient<'_> {
    fn visit(&mut self, _: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.control.cancel();
        }
        Ok(Finding::Nothing)
    }
}

#[test]
fn a_search_that_is_stopped_says_so_whenever_it_is() {
    let system = Counters::new(&mut Random::new(7), 60, &[20, 20, 20], true);
    for left in (1..9000).step_by(431) {
        let control = Control::unlimited();
        let options = Options { threads: 2, order: Order::Steps, ..Options::default() };
        let found = search(&system, &options, &control, || Impatient { control: &control, left });
        assert_eq!((found.end, control.why()), (End::Cut(Cut::Stopped), Stopped::Interrupted));
        assert!(found.counts.expanded >= u64::from(left) && found.counts.states >= found.counts.expanded);
    }
}

/// A system whose counter goes beyond what it declares is wrong, and that is said in every order.
fn count_too_far(order: Order) {
    let mut system = Counters::new(&mut Random::new(3), 9, &[5], true);
    system.layout = Layout::new((0..9).map(|slot| Slot::bounded(format!("s{slot}"), 1 << 16)).collect());
    system.counters[0].1 = 20_000;
    search(&system, &Options { threads: 1, order, ..Options::default() }, &Control::unlimited(), || ());
}

#[test]
#[should_panic(expected = "does not fit")]
fn a_value_too_large_is_a_bug_in_visible_order() {
    count_too_far(Order::Visible);
}

#[test]
#[should_panic(expected = "does not fit")]
fn a_value_too_large_is_a_bug_in_the_order_of_steps() {
    count_too_far(Order::Steps);
}
