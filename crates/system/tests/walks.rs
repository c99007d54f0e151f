//! Walks that are cut, local successors, caches, marks and domains.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use trefoil_control::Control;
use trefoil_system::{
    Cached, Change, Checked, Cut, Domain, Explorer, Group, GroupId, LabelId, Labels, Layout, LocalGroup, LocalSink,
    LocalStep, Mark, MarkId, Meaning, Sink, Slot, SlotSet, Step, System, Value, Walk, Written,
};

/// What is wrong with the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fault {
    #[default]
    Nothing,
    /// A cut is swallowed.
    Swallows,
    /// The buffer is left as it was when a walk is cut.
    Dirty,
    /// A step does not name a slot that it wrote.
    Unnamed,
    /// Local successors have another label.
    Local,
    /// A mark is beyond its bound.
    Mark,
}

/// Counters modulo 3 beside each other: the first moves alone, the others together with the one before.
struct Counters {
    labels: Arc<Labels>,
    layout: Layout,
    groups: Vec<Group>,
    marks: Vec<Mark>,
    fault: Fault,
    /// How often successors were computed.
    asked: Arc<AtomicU32>,
}

fn slots(all: &[usize]) -> SlotSet {
    all.iter().copied().collect()
}

impl Counters {
    fn new(count: usize, fault: Fault) -> Counters {
        let labels = Arc::new(Labels::new());
        let group = |index: usize| {
            let own = if index == 0 { slots(&[0]) } else { slots(&[index - 1, index]) };
            labels.name(&format!("move{index}"));
            Group { name: format!("counter {index}"), guards: own.clone(), may_write: own, ..Group::default() }
        };
        let groups = (0..count).map(group).collect();
        let layout = Layout::new((0..count).map(|index| Slot::bounded(format!("c{index}"), 3)).collect());
        let mark = Mark { meaning: Meaning::ValidEnd, reads: slots(&[0]), values: 2 };
        Counters { labels, layout, groups, marks: vec![mark], fault, asked: Arc::default() }
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
    fn marks(&self) -> &[Mark] {
        &self.marks
    }
    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(vec![0; self.layout.width()])
    }
    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(Counting { counters: self, next: Vec::new(), dirty: Cell::new(false) })
    }
}

struct Counting<'a> {
    counters: &'a Counters,
    next: Vec<Value>,
    dirty: Cell<bool>,
}

impl Explorer for Counting<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.counters.asked.fetch_add(1, Ordering::Relaxed);
        let fault = self.counters.fault;
        if !(fault == Fault::Dirty && self.dirty.replace(true)) {
            self.next = row.to_vec();
        }
        for index in 0..row.len() {
            let mut changes: Vec<Change> = vec![(index as u32, row[index])];
            if index > 0 {
                if row[index - 1] == 0 {
                    continue;
                }
                changes.push((index as u32 - 1, row[index - 1]));
                self.next[index - 1] = row[index - 1] - 1;
            }
            self.next[index] = (row[index] + 1) % 3;
            let named = if fault == Fault::Unnamed { &changes[..1] } else { &changes };
            let step = Step::of_group(GroupId(index as u32), LabelId(2 + index as u32), &self.next);
            let walk = sink(Step { written: Written::Slots(named), ..step });
            match walk {
                Err(_) if fault == Fault::Swallows => return Ok(()),
                walk => walk?,
            }
            changes.iter().for_each(|&(slot, old)| self.next[slot as usize] = old);
        }
        self.dirty.set(false);
        Ok(())
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        let label = LabelId(2 + group.id.0 + u32::from(self.counters.fault == Fault::Local));
        match *reads {
            [own] => sink(LocalStep { label, values: &[(own + 1) % 3], written: &[true] }),
            [0, _] => Ok(()),
            [left, own] => sink(LocalStep { label, values: &[left - 1, (own + 1) % 3], written: &[true, true] }),
            _ => unreachable!("a group reads one or two slots"),
        }
    }

    fn mark(&mut self, _: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        Ok(if self.counters.fault == Fault::Mark { 2 } else { u32::from(reads[0] == 0) })
    }
}

/// All rows that a system reaches, and what each can do, group by group.
type Explored = Vec<(Vec<Value>, Vec<(GroupId, LabelId, Vec<Value>)>)>;

fn explore(system: &dyn System) -> Explored {
    let control = Control::unlimited();
    let mut explorer = system.explorer(&control);
    let mut rows = vec![system.initial(&control).expect("it has an initial row")];
    let mut all = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let row = rows[at].clone();
        let mut steps = Vec::new();
        let walk = explorer.successors(&row, &mut |step| {
            steps.push((step.group, step.label, step.row.to_vec()));
            Ok(())
        });
        assert_eq!(walk, Ok(()));
        for (_, _, next) in &steps {
            if !rows.contains(next) {
                rows.push(next.clone());
            }
        }
        steps.sort_by_key(|(group, ..)| *group);
        all.push((row, steps));
        at += 1;
    }
    all.sort();
    all
}

#[test]
fn every_dishonest_walk_is_caught() {
    for fault in [Fault::Nothing, Fault::Swallows, Fault::Dirty, Fault::Unnamed, Fault::Local, Fault::Mark] {
        let checked = Checked::new(Counters::new(3, fault));
        let honest = catch_unwind(AssertUnwindSafe(|| explore(&checked))).is_ok();
        assert_eq!(honest, fault == Fault::Nothing, "{fault:?}");
    }
}

#[test]
fn a_cached_system_is_the_system() {
    let plain = explore(&Counters::new(4, Fault::Nothing));
    assert!(plain.len() > 50, "{}", plain.len());
    assert_eq!(explore(&Cached::new(Counters::new(4, Fault::Nothing))), plain);
    assert_eq!(explore(&Checked::new(Cached::new(Counters::new(4, Fault::Nothing)))), plain);
}

/// Hides the local successors of a system, so that the default is used.
struct Hiding(Counters);

impl System for Hiding {
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
        Box::new(HidingExplorer(self.0.explorer(control)))
    }
}

struct HidingExplorer<'a>(Box<dyn Explorer + 'a>);

impl Explorer for HidingExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.0.successors(row, sink)
    }
}

#[test]
fn by_default_local_successors_fill_in_the_initial_row() {
    let plain = explore(&Counters::new(4, Fault::Nothing));
    assert_eq!(explore(&Checked::new(Hiding(Counters::new(4, Fault::Nothing)))), plain);
    let counters = Counters::new(4, Fault::Nothing);
    let asked = counters.asked.clone();
    let cached = Cached::new(Hiding(counters));
    let control = Control::unlimited();
    let mut explorer = cached.explorer(&control);
    // Of the four groups, the first row needs all, the second none, and the third the two that read what has changed.
    for (row, needed) in [([1, 2, 0, 1], 4), ([1, 2, 0, 1], 0), ([1, 2, 1, 1], 2)] {
        explorer.successors(&row, &mut |_| Ok(())).expect("nothing cuts it");
        assert_eq!(asked.swap(0, Ordering::Relaxed), needed, "{row:?}");
    }
}

#[test]
fn a_cache_remembers_nothing_of_a_walk_that_was_cut() {
    let cached = Cached::new(Hiding(Counters::new(2, Fault::Nothing)));
    let control = Control::unlimited();
    let mut explorer = cached.explorer(&control);
    for after in 0..2 {
        let mut seen = 0;
        let walk = explorer.successors(&[1, 1], &mut |_| {
            seen += 1;
            if seen > after { Err(Cut::Outgrown) } else { Ok(()) }
        });
        assert_eq!(walk, Err(Cut::Outgrown));
        let mut rows = Vec::new();
        let whole = explorer.successors(&[1, 1], &mut |step| {
            rows.push(step.row.to_vec());
            Ok(())
        });
        assert_eq!((whole, rows), (Ok(()), vec![vec![2, 1], vec![0, 2]]));
    }
}

/// Words, numbered as they come.
#[derive(Default)]
struct Words(Mutex<Vec<String>>);

impl Domain for Words {
    fn bytes(&self, value: Value, into: &mut Vec<u8>) {
        into.extend_from_slice(self.0.lock().expect("no panic")[value as usize].as_bytes());
    }
    fn value(&self, bytes: &[u8]) -> Option<Value> {
        let word = std::str::from_utf8(bytes).ok()?;
        let mut words = self.0.lock().expect("no panic");
        let known = words.iter().position(|known| known == word).unwrap_or_else(|| {
            words.push(word.to_string());
            words.len() - 1
        });
        Some(known as Value)
    }
    fn text(&self, value: Value) -> String {
        self.0.lock().expect("no panic")[value as usize].clone()
    }
    fn len(&self) -> usize {
        self.0.lock().expect("no panic").len()
    }
}

#[test]
fn rows_have_an_order_and_bytes_that_do_not_depend_on_numbers() {
    let made = |order: [&str; 3]| {
        let words = Arc::new(Words::default());
        let [a, b, c] = order.map(|word| words.value(word.as_bytes()).expect("it is a word"));
        let layout = Layout::new(vec![Slot::bounded("n", 5), Slot::met("word", words.clone()), Slot::word("w")]);
        (layout, words, [a, b, c])
    };
    let (one, words, _) = made(["pear", "apple", "fig"]);
    let (other, others, _) = made(["fig", "pear", "apple"]);
    let number = |words: &Words, word: &str| words.value(word.as_bytes()).expect("it is a word");
    let rows = [(1, "apple", 9), (1, "fig", 3), (1, "pear", 0), (2, "apple", 0)];
    let numbered = |words: &Words| rows.map(|(n, word, w)| [n, number(words, word), w]);
    let (mine, theirs) = (numbered(&words), numbered(&others));
    for (at, next) in (1..rows.len()).enumerate() {
        assert!(one.compare(&mine[at], &mine[next]).is_lt() && other.compare(&theirs[at], &theirs[next]).is_lt());
    }
    for (mine, theirs) in mine.iter().zip(&theirs) {
        let (mut bytes, mut same) = (Vec::new(), Vec::new());
        one.bytes(mine, &mut bytes);
        other.bytes(theirs, &mut same);
        assert_eq!(bytes, same);
        assert_eq!(other.row(&bytes).as_deref(), Some(&theirs[..]));
        assert_eq!(other.row(&bytes[1..]), None);
    }
    let mut foreign = Vec::new();
    one.bytes(&[7, 0, 0], &mut foreign);
    assert_eq!(one.row(&foreign), None, "7 is no value of the first slot");
}
