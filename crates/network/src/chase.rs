//! Chasing `τ`: in a state with internal steps one of them is taken immediately, until none is left.
//!
//! `chase` (Roscoe, *The Theory and Practice of Concurrency*, 1997, section 15.1; Roscoe and Goldsmith, *The perfect
//! spy for model-checking cryptoprotocols*, 1997) resolves internal choices in one arbitrary way. Where they commute,
//! as the deductions of an intruder do, nothing is lost and the states in between disappear. Elsewhere it changes the
//! meaning, and a message says so.
//!
//! # States
//!
//! The states of a chased network are the rows at which a chase ends. It takes the first rule, in the order of the
//! rules, that gives `τ` and can be taken, and of each participant the first target: what it does is a function of the
//! row. It ends where no such rule is left; or it runs into a cycle, and then the state is the least row of the cycle,
//! whose one step is `τ` to itself: divergence is kept.
//!
//! # Work in proportion to what changes
//!
//! A chase begins in a row where nothing internal is possible, with a few slots changed. A rule can only have become
//! possible when one of its participants came to a state that offers the rule's label. So the rules to check are kept
//! in a queue, smallest number first; a component that moves adds the rules of its new offers. Every rule outside the
//! queue is impossible. The row is changed in place and the old values are restored after the step was passed on: a
//! step of a network of five thousand components costs as much as the components that move, not five thousand.
//!
//! A cycle is found as Brent does (*An improved Monte Carlo factorization algorithm*, 1980), against a copy of the row
//! that is taken after a power of two of steps; the number of slots in which the row differs from the copy is kept up
//! to date, so that rows are never compared as a whole.
//!
//! # Cuts
//!
//! A chase may be long, and polls the control of its question. A chase that was stopped has no end, and so no state: no
//! step is passed on, the row is restored, and the cut is returned.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use trefoil_control::Control;
use trefoil_system::{Cut, Explorer, GroupId, LabelId, Sink, Step, System, Value, Walk};

use crate::network::{Layer, Network};
use crate::rules::{Rule, StepExplanation};
use crate::successors::NetworkExplorer;

/// How many steps a chase makes before it starts to detect cycles.
const SHORT: usize = 64;

/// How many rules are checked between two polls of the control.
const PATIENCE: u32 = 1024;

/// The rules of a network, arranged for chasing.
pub(crate) struct Chase {
    initial: Vec<Value>,
    diverges_at_once: bool,
    formats: Vec<Plan>,
    /// Participants and their local labels.
    parts: Vec<(u32, u32)>,
    /// Slots and new values: resets and the next format.
    writes: Vec<(u32, Value)>,
}

#[derive(Default)]
struct Plan {
    /// By number; none when a participant can never do its part.
    rules: Vec<Option<Firing>>,
    /// The rules that give `τ`, ascending.
    hidden: Vec<u32>,
    /// The rules that give a visible label, ascending.
    seen: HashMap<LabelId, Vec<u32>, foldhash::fast::FixedState>,
    /// For every component where its labels begin in `woken`; for lazy ones all labels are one.
    wakes: Vec<u32>,
    /// The rules that give `τ` by participant and local label.
    woken: Vec<Box<[u32]>>,
}

/// A rule: where its participants and its writes are.
#[derive(Clone, Copy)]
struct Firing {
    label: LabelId,
    parts: (u32, u32),
    writes: (u32, u32),
}

impl Chase {
    /// The rules of a network, arranged; [`Chase::begin`] finds the initial state.
    pub(crate) fn new(network: &Network) -> Chase {
        let mut chase = Chase {
            initial: network.plain_initial(),
            diverges_at_once: false,
            formats: Vec::new(),
            parts: Vec::new(),
            writes: Vec::new(),
        };
        for format in network.formats() {
            let plan = chase.plan(network, &format.rules);
            chase.formats.push(plan);
        }
        chase
    }

    pub(crate) fn initial(&self) -> &[Value] {
        &self.initial
    }

    pub(crate) fn diverges_at_once(&self) -> bool {
        self.diverges_at_once
    }

    /// The same, starting where this chase ends.
    pub(crate) fn begin(&mut self, (row, diverges): (Vec<Value>, bool)) {
        self.initial = row;
        self.diverges_at_once = diverges;
    }

    fn plan(&mut self, network: &Network, rules: &[Rule]) -> Plan {
        let mut plan = Plan::default();
        let mut places = 0;
        for component in 0..network.components().len() as u32 {
            plan.wakes.push(places);
            places += match network.placed(component).lazy() {
                Some(_) => 1,
                None => network.labels_of(component).len() as u32,
            };
        }
        let mut woken: Vec<Vec<u32>> = vec![Vec::new(); places as usize];
        let format_slot = (network.formats_count() > 1).then_some(network.components().len() as u32);
        for (number, rule) in rules.iter().enumerate() {
            let number = number as u32;
            let local = |(component, label): (usize, LabelId)| {
                Some((component as u32, network.local(component as u32, label)?))
            };
            let Some(parts) = rule.parts().map(local).collect::<Option<Vec<(u32, u32)>>>() else {
                plan.rules.push(None);
                continue;
            };
            if rule.label() == LabelId::TAU {
                plan.hidden.push(number);
                for &(component, local) in &parts {
                    let lazy = network.placed(component).lazy().is_some();
                    woken[plan.place(component, if lazy { 0 } else { local })].push(number);
                }
            } else {
                plan.seen.entry(rule.label()).or_default().push(number);
            }
            let (from_parts, from_writes) = (self.parts.len() as u32, self.writes.len() as u32);
            self.parts.extend(parts);
            self.writes
                .extend(rule.resets().map(|component| (component as u32, network.components()[component].initial())));
            self.writes.extend(format_slot.map(|slot| (slot, rule.next().0)));
            plan.rules.push(Some(Firing {
                label: rule.label(),
                parts: (from_parts, self.parts.len() as u32),
                writes: (from_writes, self.writes.len() as u32),
            }));
        }
        plan.woken = woken.into_iter().map(Vec::into_boxed_slice).collect();
        plan
    }

    fn parts(&self, firing: &Firing) -> &[(u32, u32)] {
        &self.parts[firing.parts.0 as usize..firing.parts.1 as usize]
    }

    fn writes(&self, firing: &Firing) -> &[(u32, Value)] {
        &self.writes[firing.writes.0 as usize..firing.writes.1 as usize]
    }
}

impl Plan {
    fn place(&self, component: u32, local: u32) -> usize {
        (self.wakes[component as usize] + local) as usize
    }
}

/// What is done to the row, and how it is undone.
#[derive(Default)]
struct Scratch {
    row: Vec<Value>,
    /// Slots that were written and what they were when the row was loaded, each slot once.
    undo: Vec<(u32, Value)>,
    /// By slot, is it in `undo`?
    written: Vec<bool>,
    /// The row some steps ago, when the chase has become long, and in how many slots it differs from now.
    mark: Vec<Value>,
    marked: bool,
    differs: usize,
}

impl Scratch {
    fn load(&mut self, row: &[Value]) {
        debug_assert!(self.undo.is_empty() && !self.marked);
        self.row.clear();
        self.row.extend_from_slice(row);
        self.written.resize(row.len(), false);
    }

    fn write(&mut self, slot: u32, value: Value) {
        let at = slot as usize;
        let old = self.row[at];
        if old == value {
            return;
        }
        if !std::mem::replace(&mut self.written[at], true) {
            self.undo.push((slot, old));
        }
        self.row[at] = value;
        if self.marked {
            let mark = self.mark[at];
            self.differs = self.differs + usize::from(old == mark) - usize::from(value == mark);
        }
    }

    fn set_mark(&mut self) {
        self.mark.clone_from(&self.row);
        self.marked = true;
        self.differs = 0;
    }

    /// Restores the row that was loaded.
    fn put_back(&mut self) {
        self.marked = false;
        for (slot, old) in self.undo.drain(..) {
            self.row[slot as usize] = old;
            self.written[slot as usize] = false;
        }
    }
}

/// The rules to check, smallest first, each at most once.
#[derive(Default)]
struct Queue {
    heap: BinaryHeap<Reverse<u32>>,
    queued: Vec<bool>,
}

impl Queue {
    fn push(&mut self, rule: u32) {
        if !std::mem::replace(&mut self.queued[rule as usize], true) {
            self.heap.push(Reverse(rule));
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let Reverse(rule) = self.heap.pop()?;
        self.queued[rule as usize] = false;
        Some(rule)
    }

    fn clear(&mut self) {
        while self.pop().is_some() {}
    }
}

pub(crate) struct ChasedExplorer<'a> {
    network: &'a Network,
    chase: &'a Chase,
    control: &'a Control,
    inner: NetworkExplorer<'a>,
    scratch: Scratch,
    queue: Queue,
    /// The targets of the participants of the rule that is being checked.
    targets: Vec<&'a [u32]>,
    chosen: Vec<usize>,
    possible: Vec<u32>,
    /// How many more rules are checked before the control is polled.
    patience: u32,
}

impl<'a> ChasedExplorer<'a> {
    /// An explorer of a network that is chased.
    pub(crate) fn new(network: &'a Network, control: &'a Control) -> ChasedExplorer<'a> {
        let Some(Layer::Chase(chase)) = network.layer() else { unreachable!("this network is not chased") };
        let most = chase.formats.iter().map(|plan| plan.rules.len()).max().unwrap_or(0);
        ChasedExplorer {
            network,
            chase,
            control,
            inner: NetworkExplorer::new(network, control),
            scratch: Scratch::default(),
            queue: Queue { heap: BinaryHeap::new(), queued: vec![false; most] },
            targets: Vec::new(),
            chosen: Vec::new(),
            possible: Vec::new(),
            patience: PATIENCE,
        }
    }

    fn plan(&self) -> &'a Plan {
        &self.chase.formats[self.network.format(&self.scratch.row).index()]
    }

    /// Where the chase from a row ends, and whether it ends in a cycle, when everything may be possible in it.
    pub(crate) fn chased(&mut self, row: &[Value]) -> Result<(Vec<Value>, bool), Cut> {
        self.scratch.load(row);
        for &rule in &self.plan().hidden {
            self.queue.push(rule);
        }
        let end = self.run().map(|diverges| (self.scratch.row.clone(), diverges));
        self.put_back();
        end
    }

    /// Prepares for the next chase, whether the last one ended or was cut: restores the row that was loaded.
    fn put_back(&mut self) {
        self.queue.clear();
        self.scratch.put_back();
    }

    /// Can the rule be taken? Then `targets` says where its participants can go.
    #[inline]
    fn is_possible(&mut self, firing: &Firing) -> Result<bool, Cut> {
        self.targets.clear();
        for &(component, local) in self.chase.parts(firing) {
            let found = self.inner.targets(component, self.scratch.row[component as usize], local)?;
            if found.is_empty() {
                return Ok(false);
            }
            self.targets.push(found);
        }
        Ok(true)
    }

    /// Takes the rule whose targets were found and chosen, and queues what it may have made possible.
    fn take(&mut self, firing: &Firing) {
        let (chase, before) = (self.chase, self.network.format(&self.scratch.row));
        for (at, &(component, _)) in chase.parts(firing).iter().enumerate() {
            let choice = self.chosen.get(at).copied().unwrap_or(0);
            self.scratch.write(component, self.targets[at][choice]);
        }
        for &(slot, value) in chase.writes(firing) {
            self.scratch.write(slot, value);
        }
        if self.network.format(&self.scratch.row) != before {
            self.queue.clear();
            for &rule in &self.plan().hidden {
                self.queue.push(rule);
            }
            return;
        }
        let plan = self.plan();
        for &(component, _) in chase.parts(firing) {
            self.wake(plan, component);
        }
        for &(slot, _) in chase.writes(firing) {
            if (slot as usize) < self.network.components().len() {
                self.wake(plan, slot);
            }
        }
    }

    /// Queues the rules that a component may have made possible by coming to where it is.
    #[inline]
    fn wake(&mut self, plan: &Plan, component: u32) {
        let placed = self.network.placed(component);
        if placed.lazy().is_some() {
            for &rule in &plan.woken[plan.place(component, 0)] {
                self.queue.push(rule);
            }
            return;
        }
        let machine = self.network.machine(placed);
        for index in machine.offers_of(self.scratch.row[component as usize]) {
            for &rule in &plan.woken[plan.place(component, machine.offer(index).label)] {
                self.queue.push(rule);
            }
        }
    }

    /// One step of the chase; false when nothing internal is possible.
    fn step(&mut self) -> Result<bool, Cut> {
        self.chosen.clear();
        while let Some(rule) = self.queue.pop() {
            self.patience -= 1;
            if self.patience == 0 {
                self.patience = PATIENCE;
                self.control.check()?;
            }
            let firing = self.plan().rules[rule as usize].expect("only rules that can be taken are queued");
            if self.is_possible(&firing)? {
                self.take(&firing);
                // A rule without participants stays possible, and so does one whose participants did not move.
                if firing.parts.0 == firing.parts.1 && self.plan().hidden.binary_search(&rule).is_ok() {
                    self.queue.push(rule);
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Chases and returns whether it ended in a cycle; the row is then the least row of the cycle. After a cut the row
    /// is an intermediate one.
    fn run(&mut self) -> Result<bool, Cut> {
        // Short chases would otherwise never poll.
        self.control.check()?;
        let mut next_mark = SHORT;
        let mut steps = 0usize;
        while self.step()? {
            steps += 1;
            if self.scratch.marked && self.scratch.differs == 0 {
                self.least_of_cycle()?;
                return Ok(true);
            }
            if steps == next_mark {
                self.scratch.set_mark();
                next_mark *= 2;
            }
        }
        self.scratch.marked = false;
        Ok(false)
    }

    /// The row is on a cycle: walks around it once more and stops at its least row.
    fn least_of_cycle(&mut self) -> Walk {
        let layout = self.network.layout();
        self.scratch.set_mark();
        let mut least = self.scratch.row.clone();
        loop {
            self.step()?;
            if self.scratch.differs == 0 {
                break;
            }
            if layout.compare(&self.scratch.row, &least).is_lt() {
                least.clone_from(&self.scratch.row);
            }
        }
        self.queue.clear();
        for (slot, &value) in least.iter().enumerate() {
            self.scratch.write(slot as u32, value);
        }
        self.scratch.marked = false;
        Ok(())
    }

    /// Takes a rule in every way, chases each time, and passes on where that ends.
    fn fire(&mut self, rule: u32, sink: &mut impl FnMut(&[Value], bool) -> Walk) -> Walk {
        let Some(firing) = self.plan().rules[rule as usize] else { return Ok(()) };
        if !self.is_possible(&firing)? {
            return Ok(());
        }
        // A chase overwrites the targets, so they are found again each time.
        let counts: Vec<usize> = self.targets.iter().map(|targets| targets.len()).collect();
        let total = counts.iter().fold(1usize, |total, &count| total.saturating_mul(count));
        for way in 0..total {
            if way > 0 && !self.is_possible(&firing)? {
                return Ok(());
            }
            let mut rest = way;
            self.chosen.clear();
            for &count in &counts {
                self.chosen.push(rest % count);
                rest /= count;
            }
            self.take(&firing);
            let walk = self.run().and_then(|diverges| sink(&self.scratch.row, diverges));
            self.put_back();
            walk?;
        }
        Ok(())
    }

    /// Passes on where a row, at which a chase ended without a cycle, goes under a label, and whether it diverges
    /// there.
    pub(crate) fn by_label(
        &mut self,
        row: &[Value],
        label: LabelId,
        sink: &mut impl FnMut(&[Value], bool) -> Walk,
    ) -> Walk {
        if self.scratch.row != row {
            self.scratch.load(row);
        }
        let plan = self.plan();
        for &rule in plan.seen.get(&label).into_iter().flatten() {
            self.fire(rule, sink)?;
        }
        Ok(())
    }

    /// Finds the rules that are possible in a row, ascending.
    fn find_possible(&mut self, row: &[Value]) -> Walk {
        let possible = &mut self.possible;
        possible.clear();
        self.inner.each(row, &mut |outcome, _| {
            possible.push(outcome.rule);
            Ok(())
        })?;
        possible.sort_unstable();
        possible.dedup();
        Ok(())
    }

    fn label(&self, rule: u32) -> LabelId {
        self.plan().rules[rule as usize].map_or(LabelId::TAU, |firing| firing.label)
    }

    /// Does a row at which a chase ended only diverge? Afterwards `possible` holds the rules that are possible in it.
    pub(crate) fn diverges(&mut self, row: &[Value]) -> Result<bool, Cut> {
        self.scratch.load(row);
        self.find_possible(row)?;
        Ok(self.possible.iter().any(|&rule| self.label(rule) == LabelId::TAU))
    }

    /// Passes on every step of a row at which a chase ended.
    fn each(&mut self, row: &[Value], sink: &mut impl FnMut(LabelId, &[Value]) -> Walk) -> Walk {
        if self.diverges(row)? {
            return sink(LabelId::TAU, row);
        }
        for at in 0..self.possible.len() {
            let rule = self.possible[at];
            let label = self.label(rule);
            self.fire(rule, &mut |next, _| sink(label, next))?;
        }
        Ok(())
    }

    /// The rule by which a row goes under a label to another, and how.
    pub(crate) fn explain(
        &mut self,
        row: &[Value],
        label: LabelId,
        next: &[Value],
    ) -> Result<Option<StepExplanation>, Cut> {
        self.scratch.load(row);
        self.find_possible(row)?;
        let format = self.network.format(row);
        let rules = &self.network.formats()[format.index()].rules;
        for at in 0..self.possible.len() {
            let rule = self.possible[at];
            let described = &rules[rule as usize];
            if described.label() != label {
                continue;
            }
            let leads = label == LabelId::TAU || {
                let walk = self.fire(rule, &mut |end, _| if end == next { Err(Cut::Enough) } else { Ok(()) });
                Cut::had_enough(walk)?
            };
            if leads {
                let parts = described.parts().collect();
                return Ok(Some(StepExplanation { origin: described.origin(), parts, format }));
            }
        }
        Ok(None)
    }
}

impl Explorer for ChasedExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.each(row, &mut |label, row| sink(Step::of_group(GroupId(0), label, row)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trefoil_lts::LtsBuilder;
    use trefoil_system::{Labels, StateId};

    use super::*;
    use crate::rules::Component;

    #[test]
    fn a_long_chase_remembers_each_slot_once_and_puts_it_back() {
        let (labels, bits) = (Arc::new(Labels::new()), 14);
        let (up, down) = (labels.name("up"), labels.name("down"));
        let mut bit = LtsBuilder::new(labels.clone());
        bit.add(StateId(0), up, StateId(1)).add(StateId(1), down, StateId(0));
        let bit = Arc::new(bit.build(StateId(0)));
        let components = (0..bits).map(|index| Component::new(format!("bit {index}"), bit.clone())).collect();
        let carry = |at: usize| (0..at).map(|index| (index, down)).chain([(at, up)]);
        let rules = (0..bits).map(|at| Rule::new(carry(at), LabelId::TAU)).collect();
        let control = Control::unlimited();
        let network = Network::new(labels, components, rules).expect("small").chased(&control).expect("no budget");
        let mut explorer = ChasedExplorer::new(&network, &control);
        let zero = vec![0; bits];
        explorer.scratch.load(&zero);
        explorer.plan().hidden.iter().for_each(|&rule| explorer.queue.push(rule));
        assert_eq!(explorer.run(), Ok(false));
        assert_eq!(explorer.scratch.row, vec![1; bits]);
        assert!(explorer.scratch.undo.len() == bits && explorer.scratch.undo.capacity() <= 4 * bits);
        explorer.put_back();
        assert_eq!((&explorer.scratch.row, explorer.scratch.undo.len()), (&zero, 0));
        assert!(!explorer.scratch.written.contains(&true) && explorer.queue.heap.is_empty());
    }
}
