//! Wide rows that are kept as trees: the same states, numbers and paths as rows that are kept as they are.

use std::collections::HashSet;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_explore::{End, Finding, Options, Order, Visited, Visitor, search};
use trefoil_system::{
    Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Sink, Slot, Step, System, Value, Walk, Written,
    replay::replay_path,
};
use trefoil_testkit::{Random, seed};

/// Wheels that are turned one at a time; most slots of a row never change.
struct Wheels {
    layout: Layout,
    labels: Arc<Labels>,
    groups: Vec<Group>,
    /// Slot and number of teeth.
    wheels: Vec<(usize, u32)>,
    initial: Vec<Value>,
    turned: LabelId,
    /// Does its explorer report what changes?
    told: bool,
}

/// Teeth have scattered numbers, so that words are not small.
fn tooth(number: u32) -> Value {
    number.wrapping_mul(0x9e37_79b1)
}

fn number(tooth: Value) -> u32 {
    tooth.wrapping_mul(0x0e8b_2f51)
}

impl Wheels {
    fn new(random: &mut Random, width: usize, teeth: &[u32], parts: bool, declared: bool) -> Wheels {
        let mut slots: Vec<Slot> = (0..width).map(|slot| Slot::word(format!("s{slot}"))).collect();
        // An odd number of slots lies across words and leaves.
        slots[0] = Slot::bounded("s0", 8);
        let mut layout = Layout::new(slots);
        if parts {
            layout = layout.with_parts((0..width).step_by(if width % 2 == 1 { width } else { 3 }).collect());
        }
        let mut places: Vec<usize> = (1..width).collect();
        let wheels: Vec<(usize, u32)> =
            teeth.iter().map(|&teeth| (places.swap_remove(random.below(places.len())), teeth)).collect();
        let all = || (0..width).collect();
        let group = |&(slot, _): &(usize, u32)| Group {
            name: format!("wheel {slot}"),
            guards: all(),
            may_write: if declared { [slot].into_iter().collect() } else { all() },
            ..Group::default()
        };
        let groups = wheels.iter().map(group).collect();
        let mut initial: Vec<Value> = (0..width).map(|_| random.below(1 << 30) as u32).collect();
        initial[0] %= 8;
        wheels.iter().for_each(|&(slot, _)| initial[slot] = tooth(0));
        let labels = Arc::new(Labels::new());
        let turned = labels.name("turn");
        Wheels { layout, labels, groups, wheels, initial, turned, told: false }
    }
}

impl System for Wheels {
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
        Box::new(WheelExplorer(self))
    }
}

struct WheelExplorer<'a>(&'a Wheels);

impl Explorer for WheelExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        for (group, &(slot, teeth)) in self.0.wheels.iter().enumerate() {
            let mut next = row.to_vec();
            next[slot] = tooth((number(row[slot]) + 1) % teeth);
            // Reported twice, from the end to the beginning, with unchanged slots and one that does not exist.
            let (slot, behind) = (slot as u32, row.len() as u32);
            let changes = [(behind, 3), (behind - 1, 5), (slot, 7), (0, row[0]), (slot, row[slot as usize])];
            let written = if self.0.told { Written::Slots(&changes) } else { Written::Group };
            sink(Step { written, ..Step::of_group(GroupId(group as u32), self.0.turned, &next) })?;
        }
        Ok(())
    }
}

/// Remembers every row, and may look for one.
#[derive(Clone, Default)]
struct Watch {
    rows: Vec<Vec<Value>>,
    wanted: Option<Vec<Value>>,
}

impl Visitor for Watch {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.rows.push(state.row.to_vec());
        Ok(if self.wanted.as_deref() == Some(state.row) { Finding::State } else { Finding::Nothing })
    }
}

#[test]
fn trees_keep_the_same_states() {
    let seed = seed();
    let mut random = Random::new(seed);
    // From rows that are not worth a tree to trees of three levels; with whole levels and with one node left over.
    for width in [8, 9, 11, 16, 17, 34, 40, 66, 71, 140, 300] {
        let teeth: Vec<u32> = (0..5).map(|_| 2 + random.below(4) as u32).collect();
        let expected: u64 = teeth.iter().map(|&teeth| u64::from(teeth)).product();
        for (parts, declared, threads, told) in [
            (true, true, 1, false),
            (true, true, 2, true),
            (true, false, 2, false),
            (true, false, 1, true),
            (false, true, 1, false),
            (false, true, 1, true),
        ] {
            let system = Wheels { told, ..Wheels::new(&mut random, width, &teeth, parts, declared) };
            let options = Options { threads, order: Order::Steps, ..Options::default() };
            let control = Control::unlimited();
            let found = search(&system, &options, &control, Watch::default);
            assert_eq!(found.end, End::Complete);
            assert_eq!(found.counts.states, expected, "{width} slots, seed {seed}");
            assert_eq!(found.counts.transitions, expected * teeth.len() as u64);
            let rows: Vec<&Vec<Value>> = found.visitors.iter().flat_map(|visitor| &visitor.rows).collect();
            assert_eq!(rows.iter().collect::<HashSet<_>>().len() as u64, expected, "each once, seed {seed}");
            // The farthest state, with every wheel just before its beginning.
            let mut last = system.initial.clone();
            system.wheels.iter().for_each(|&(slot, teeth)| last[slot] = tooth(teeth - 1));
            assert!(rows.contains(&&last), "seed {seed}");
            let watch = || Watch { wanted: Some(last.clone()), ..Watch::default() };
            let exploration = search(&system, &options, &control, watch);
            let End::Found(found) = exploration.end.clone() else { panic!("it is there") };
            let path = exploration.path_to(&system, &found, &control).expect("time enough");
            assert_eq!(path.last(), last, "seed {seed}");
            assert_eq!(path.steps.len() as u32, teeth.iter().map(|teeth| teeth - 1).sum::<u32>());
            replay_path(&system, &path, &control).expect("a path that replays");
        }
    }
}

#[test]
fn wide_rows_that_share_their_parts_take_little_memory() {
    let mut random = Random::new(seed());
    let system = Wheels::new(&mut random, 40, &[6; 6], true, true);
    let options = Options { threads: 1, order: Order::Steps, ..Options::default() };
    let found = search(&system, &options, &Control::unlimited(), || ());
    assert_eq!(found.counts.states, 6u64.pow(6));
    let bytes = found.states.bytes() as f64 / found.counts.states as f64;
    assert!(bytes < 40.0, "{bytes} bytes a state for rows of 160");
}
