//! The states that a system can reach, as a diagram.
//!
//! Three ways to get there ([`Strategy`]), all of which learn relations as they go ([`crate::learned`]):
//!
//! - *breadth-first*: all groups are applied to the newest level; the levels are what shortest runs are found from;
//! - *chaining* (O. Roig, J. Cortadella, E. Pastor, *Verification of asynchronous circuits by BDD-based model checking
//!   of Petri nets*, 1995): the groups are applied one after the other, each to what the ones before it found, so that
//!   a round goes several steps deep; what is new in a round is what the next one begins with, so every state meets
//!   every group;
//! - *saturation*: everything that the known relations reach ([`Diagrams::saturated`]), then the relations learn from
//!   the new states, until there are none. Where few states are new, some levels follow before the next saturation;
//!   where all steps depend on each other, only levels ([`crate::turns`]).
//!
//! Groups that are a last resort ([`trefoil_system::Group::last_resort`]; Promela's `timeout`) have steps where no
//! other group has one. They are learned from and applied to these states alone: where the others have learned from a
//! set of states, what none of them has a step in is a difference of sets. A saturation goes without them until it
//! finds nothing new.
//!
//! When the set of states has become large, its slots are put into a better order between two rounds ([`crate::sift`]),
//! and everything that was learned with them.
//!
//! Cost: the operations of `diagrams`; learning is one local walk for each combination of values that a group reads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use trefoil_control::{Control, count, counted};
use trefoil_diagrams::{Diagrams, Options as Pool, Relation, Set, UBig};
use trefoil_system::{Cut, Explorer, Meaning, System, Value};

use crate::learned::Bundle;
use crate::order::{found, places};
use crate::rounds::marks_first;
use crate::sift::sifted;

/// How states are explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Level by level.
    BreadthFirst,
    /// Group by group, each from what the ones before it found.
    Chaining,
    /// From the last slots up.
    #[default]
    Saturation,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 3] = [Strategy::BreadthFirst, Strategy::Chaining, Strategy::Saturation];
}

/// In which order the slots of a row are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlotOrder {
    /// As the system has them.
    Given,
    /// So that the slots of a group are near each other, and so that the diagram is small once it has become large
    /// ([`crate::sift`]).
    #[default]
    Found,
    /// As the system wishes ([`System::slot_order`]); else those that marks read first, and the others as they are
    /// found. Slots that marks read stay first when the others are put into a better order: below each value of a mark
    /// is a diagram of its own, and a saturation of its own.
    MarksFirst,
}

/// How to explore.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How many threads; 0 means one per core.
    pub threads: usize,
    /// How states are explored.
    pub strategy: Strategy,
    /// In which order the slots are.
    pub order: SlotOrder,
    /// Do groups learn what they do in combinations of values that were met one by one, but not together?
    /// Components do not depend on each other's states; a statement may divide by what is never 0 when it is reached.
    pub anticipation: bool,
    /// Is a diagram large enough for a better order of slots after every round? For tests.
    pub restless: bool,
}

/// So many nodes of the set of states are worth the search for a better order of slots.
const REORDER_AT: usize = 2_000;
/// A better order is looked for again when the set has grown this many times, or the square of it where none was found.
const REORDER_GROWTH: usize = 4;

/// With this many nodes a set of states shows whether the system takes turns; a smaller one is saturated in any case.
const TURNS_AT: usize = 20_000;

/// A better order leaves at most this many hundredths of the nodes.
const WORTHWHILE: usize = 90;

/// A level is small when all states have this many times as many nodes.
const SMALL_LEVEL: usize = 8;

/// Time between two counts for the progress line.
const REPORT: Duration = Duration::from_millis(500);

/// A set with more nodes is not counted any more when its search was cut.
const MOST_COUNTED_AFTER_ALL: usize = 1 << 20;

/// What the progress calls an exploration.
pub(crate) const PHASE: &str = "exploring symbolically";

/// How many times as many states there are now, in words; nothing where the numbers are too large for that.
fn grown(before: &UBig, now: &UBig) -> Option<String> {
    let times = now.to_f64().value() / before.to_f64().value();
    match times.is_finite() {
        true if times < 10.0 => Some(format!("grown {times:.2}-fold")),
        true => Some(format!("grown {}-fold", count(times.round() as u64))),
        false => None,
    }
}

/// The states of a system.
pub struct Space<'s> {
    pub(crate) system: &'s dyn System,
    pub(crate) control: &'s Control,
    pub(crate) explorer: Box<dyn Explorer + 's>,
    pub(crate) diagrams: Arc<Diagrams>,
    /// For each position the slot that is there.
    pub(crate) order: Vec<usize>,
    pub(crate) bundles: Vec<Bundle>,
    pub(crate) initial: Set,
    /// The states that were reached.
    pub(crate) states: Set,
    pub(crate) strategy: Strategy,
    anticipation: bool,
    /// A set of states with this many nodes is put into a better order.
    reorder_at: usize,
    /// So many positions keep their slots then.
    settled: usize,
    /// With this many nodes it is checked whether the system takes turns.
    turns_at: usize,
    pub(crate) rounds: u64,
    /// The states when they were counted last, for the progress line and for an exploration that is cut.
    counted: UBig,
    /// What the counter of the progress has of it.
    shown: u64,
    reported: Option<Instant>,
    /// Was everything reached?
    complete: bool,
}

impl<'s> Space<'s> {
    /// The space of a system, with the initial state.
    pub fn new(system: &'s dyn System, options: &Options, control: &'s Control) -> Result<Space<'s>, Cut> {
        let width = system.layout().width();
        let order = match options.order {
            SlotOrder::Given => (0..width).collect(),
            SlotOrder::Found => {
                let touched = |group: &trefoil_system::Group| group.inputs().union(&group.outputs()).iter().collect();
                found(width, &system.groups().iter().map(touched).collect::<Vec<Vec<usize>>>())
            }
            SlotOrder::MarksFirst => system.slot_order().unwrap_or_else(|| marks_first(system)),
        };
        let settled = match options.order {
            SlotOrder::Given | SlotOrder::Found => 0,
            SlotOrder::MarksFirst => {
                let is_marked = |slot: usize| system.marks().iter().any(|mark| mark.reads.contains(slot));
                order.iter().take_while(|&&slot| is_marked(slot)).count()
            }
        };
        let diagrams = Arc::new(Diagrams::new(&Pool { threads: options.threads, ..Pool::default() }, control));
        let bundles = Bundle::all(system, &order, &diagrams, control)?;
        let mut space = Space {
            system,
            control,
            explorer: system.explorer(control),
            initial: diagrams.empty(),
            states: diagrams.empty(),
            diagrams,
            order,
            bundles,
            strategy: options.strategy,
            anticipation: options.anticipation,
            reorder_at: match options.order {
                SlotOrder::Given => usize::MAX,
                SlotOrder::Found | SlotOrder::MarksFirst if options.restless => 0,
                SlotOrder::Found | SlotOrder::MarksFirst => REORDER_AT,
            },
            settled,
            turns_at: if options.restless { 0 } else { TURNS_AT },
            rounds: 0,
            counted: UBig::ONE,
            shown: 0,
            reported: None,
            complete: false,
        };
        let row = system.initial(control)?;
        space.initial = space.single(&row)?;
        space.states = space.initial.clone();
        Ok(space)
    }

    /// The set with one state.
    pub fn single(&self, row: &[Value]) -> Result<Set, Cut> {
        let moved: Vec<Value> = self.order.iter().map(|&slot| row[slot]).collect();
        Ok(self.diagrams.row(&moved)?)
    }

    /// The first state of a set that is not empty.
    pub fn first(&self, set: &Set) -> Option<Vec<Value>> {
        let moved = self.diagrams.rows(set).next()?;
        let place = places(&self.order);
        Some(place.iter().map(|&at| moved[at]).collect())
    }

    /// For each slot its position.
    pub(crate) fn places(&self) -> Vec<usize> {
        places(&self.order)
    }

    /// The diagrams.
    pub fn diagrams(&self) -> &Diagrams {
        &self.diagrams
    }

    /// The states that were reached.
    pub fn states(&self) -> &Set {
        &self.states
    }

    /// Rounds of the exploration: levels, where it is breadth-first.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Was everything reached?
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Explores until everything is reached, or `enough` says so of the kinds of errors that were met. The slots may be
    /// in another order afterwards: sets of states from before are of no use any more.
    pub fn explore(&mut self, enough: impl Fn(u32) -> bool) -> Result<(), Cut> {
        let mut fresh = self.states.clone();
        let mut turns = false;
        while !fresh.is_empty() {
            self.control.check()?;
            self.rounds += 1;
            self.report()?;
            fresh = match self.strategy {
                Strategy::BreadthFirst => self.level(&fresh)?,
                Strategy::Chaining => self.chain(&fresh)?,
                Strategy::Saturation if turns => self.turn(&fresh)?,
                Strategy::Saturation => self.saturate(&fresh)?,
            };
            if self.strategy == Strategy::Saturation && !turns && self.may_take_turns(&fresh)? {
                // Levels that begin with a set that was saturated in part have no regular diagrams: so from the first.
                (self.states, fresh, turns) = (self.initial.clone(), self.initial.clone(), true);
                continue;
            }
            self.states = self.diagrams.union(&self.states, &fresh)?;
            if self.bundles.iter().any(|bundle| bundle.errors().any(&enough)) {
                return Ok(());
            }
            if !fresh.is_empty()
                && let Some(moved) = self.reorder()?
            {
                fresh = self.diagrams.reordered(&fresh, &moved)?;
            }
            // What was saturated with smaller relations is of no use any more, and a small table stays in the
            // processor's caches.
            self.diagrams.tidy();
        }
        self.complete = true;
        Ok(())
    }

    /// Is the set of states large, and does the system take turns ([`crate::turns`])?
    fn may_take_turns(&self, states: &Set) -> Result<bool, Cut> {
        Ok(self.turns_at <= self.diagrams.nodes(states) && self.takes_turns()?)
    }

    /// Puts the slots into a better order when the set of states has become large. Returns for each position the one
    /// that it was before, if any has moved: sets beside this space must follow ([`Diagrams::reordered`]).
    pub fn reorder(&mut self) -> Result<Option<Vec<usize>>, Cut> {
        let nodes = self.diagrams.nodes(&self.states);
        if nodes < self.reorder_at {
            return Ok(None);
        }
        let Some(levels) = self.diagrams.levels(&self.states)? else { return Ok(None) };
        let moved = sifted(levels, self.settled, self.control)?;
        let states = self.diagrams.reordered(&self.states, &moved)?;
        // Of orders that are about equally good for these states, the present one is the best guess for later ones: it
        // began with which slots belong together.
        let is_worthwhile = self.diagrams.nodes(&states) * 100 <= nodes * WORTHWHILE;
        let is_better = !moved.is_sorted() && (is_worthwhile || self.reorder_at == 0);
        if is_better {
            // Nothing is exchanged before everything is there: the budget may end in between.
            let initial = self.diagrams.reordered(&self.initial, &moved)?;
            let bundles: Result<Vec<Bundle>, Cut> =
                self.bundles.iter().map(|bundle| bundle.reordered(&moved, &self.diagrams)).collect();
            (self.bundles, self.states, self.initial) = (bundles?, states, initial);
            self.order = moved.iter().map(|&position| self.order[position]).collect();
        }
        if self.reorder_at > 0 {
            let growth = if is_better { REORDER_GROWTH } else { REORDER_GROWTH * REORDER_GROWTH };
            self.reorder_at = growth * self.diagrams.nodes(&self.states).max(REORDER_AT);
        }
        Ok(is_better.then_some(moved))
    }

    /// Shows how far the exploration is; not after every short round, since counting takes time, too.
    pub(crate) fn report(&mut self) -> Result<(), Cut> {
        let progress = self.control.progress();
        progress.depth(self.rounds);
        if self.reported.is_some_and(|last| last.elapsed() < REPORT) {
            return Ok(());
        }
        let states = self.diagrams.count(&self.states)?;
        let growth = self.reported.and_then(|_| grown(&self.counted, &states)).map(|text| format!(", {text}"));
        self.show(&states, &growth.unwrap_or_default());
        self.counted = states;
        self.reported = Some(Instant::now());
        Ok(())
    }

    /// Shows the count of states once: in the counter of the progress, or, where that is too small, in its text.
    fn show(&mut self, states: &UBig, more: &str) {
        let progress = self.control.progress();
        let (nodes, peak) = (self.diagrams.nodes(&self.states) as u64, self.diagrams.peak_nodes());
        let nodes = format!("{} (peak {}){more}", counted(nodes, "node"), count(peak));
        match u64::try_from(states) {
            Ok(states) => {
                progress.add(states.saturating_sub(self.shown), 0);
                progress.detail(nodes);
                self.shown = states;
            }
            Err(_) => {
                progress.begin(PHASE, 0);
                progress.depth(self.rounds);
                progress.detail(format!("about 10^{} states in {nodes}", states.to_string().len() - 1));
            }
        }
    }

    /// The states of an exploration that was cut: those after its last round, or, where to count them would take too
    /// long, those that were counted last. The progress shows no other number from now on.
    pub(crate) fn count_so_far(&mut self) -> UBig {
        self.count_of_cut(&self.states.clone())
    }

    /// The same for a set of states beside this space.
    pub fn count_of_cut(&mut self, states: &Set) -> UBig {
        let states = self.diagrams.count_after_all(states, MOST_COUNTED_AFTER_ALL);
        let states = states.unwrap_or_else(|| self.counted.clone());
        let progress = self.control.progress();
        progress.begin(PHASE, 0);
        progress.depth(self.rounds);
        progress.add(u64::try_from(&states).unwrap_or(0), 0);
        progress.detail(format!("at most {}", counted(self.diagrams.peak_nodes(), "node")));
        states
    }

    /// The new states one step from these; every bundle learns from them.
    pub(crate) fn level(&mut self, from: &Set) -> Result<Set, Cut> {
        self.learn_all(from)?;
        let next = self.after(from)?;
        Ok(self.diagrams.difference(&next, &self.states)?)
    }

    /// The states one step from these. All bundles have learned from them.
    pub(crate) fn after(&self, from: &Set) -> Result<Set, Cut> {
        let resting = self.resting(from)?;
        let mut next = self.diagrams.empty();
        for bundle in &self.bundles {
            let image = bundle.image(self.where_due(bundle, from, &resting), &self.diagrams)?;
            next = self.diagrams.union(&next, &image)?;
        }
        Ok(next)
    }

    /// The states among these in which no bundle has a step but last resorts; none where there are no last resorts.
    /// All other bundles have learned from them.
    pub(crate) fn resting(&self, states: &Set) -> Result<Set, Cut> {
        if !self.has_last_resorts() {
            return Ok(self.diagrams.empty());
        }
        self.without_steps(states, self.bundles.iter().filter(|bundle| !bundle.is_last_resort()))
    }

    fn has_last_resorts(&self) -> bool {
        self.bundles.iter().any(Bundle::is_last_resort)
    }

    /// The states among all in which a bundle may have steps, given those that rest.
    pub(crate) fn where_due<'r>(&self, bundle: &Bundle, all: &'r Set, resting: &'r Set) -> &'r Set {
        if bundle.is_last_resort() { resting } else { all }
    }

    /// The new states that the bundles reach from these one after the other.
    pub(crate) fn chain(&mut self, from: &Set) -> Result<Set, Cut> {
        let mut now = from.clone();
        for at in 0..self.bundles.len() {
            if !self.bundles[at].is_last_resort() {
                self.learn(at, &now)?;
                now = self.bundles[at].extended(&now, &self.diagrams)?;
            }
        }
        let late = self.after_resting(from)?;
        now = self.diagrams.union(&now, &late)?;
        Ok(self.diagrams.difference(&now, &self.states)?)
    }

    /// What last resorts lead to from these states, which all other bundles have learned from.
    fn after_resting(&mut self, from: &Set) -> Result<Set, Cut> {
        let resting = self.resting(from)?;
        let mut next = self.diagrams.empty();
        if resting.is_empty() {
            return Ok(next);
        }
        for at in 0..self.bundles.len() {
            if self.bundles[at].is_last_resort() {
                self.learn(at, &resting)?;
                let image = self.bundles[at].image(&resting, &self.diagrams)?;
                next = self.diagrams.union(&next, &image)?;
            }
        }
        Ok(next)
    }

    /// The states that the known relations reach, after every bundle has learned from these; none when they are all
    /// there. Saturated sets have regular diagrams, and what is new in them often has not: so bundles learn from all
    /// states.
    pub(crate) fn saturate(&mut self, states: &Set) -> Result<Set, Cut> {
        for at in 0..self.bundles.len() {
            if !self.bundles[at].is_last_resort() {
                self.learn(at, states)?;
            }
        }
        let usual = self.bundles.iter().filter(|bundle| !bundle.is_last_resort());
        let (resets, usual): (Vec<&Bundle>, Vec<&Bundle>) = usual.partition(|bundle| bundle.is_reset());
        let mut all = states.clone();
        for bundle in resets {
            all = self.diagrams.union(&all, &bundle.image(states, &self.diagrams)?)?;
        }
        let relations: Vec<&Relation> = usual.into_iter().map(Bundle::relation).collect();
        all = self.diagrams.saturated(&all, &relations)?;
        if all == *states {
            let late = self.after_resting(states)?;
            all = self.diagrams.union(&all, &late)?;
        } else {
            all = self.ahead(states, all)?;
        }
        Ok(if all == *states { self.diagrams.empty() } else { all })
    }

    /// What is reached level by level from the new states among all, as long as levels are small: a level costs what
    /// its states have in nodes, and a saturation what all states have, so that as many levels as cost one saturation
    /// lose little. Where a long chain of steps meets new values in each step, it is gone through in few rounds.
    fn ahead(&mut self, before: &Set, mut all: Set) -> Result<Set, Cut> {
        let mut fresh = self.diagrams.difference(&all, before)?;
        let mut allowance = self.diagrams.nodes(&all);
        let most = allowance / SMALL_LEVEL;
        loop {
            let nodes = self.diagrams.nodes(&fresh);
            if fresh.is_empty() || nodes > most || nodes > allowance {
                return Ok(all);
            }
            allowance -= nodes;
            self.control.check()?;
            let mut next = self.diagrams.empty();
            for at in 0..self.bundles.len() {
                if !self.bundles[at].is_last_resort() {
                    self.learn(at, &fresh)?;
                    let image = self.bundles[at].image(&fresh, &self.diagrams)?;
                    next = self.diagrams.union(&next, &image)?;
                }
            }
            fresh = self.diagrams.difference(&next, &all)?;
            all = self.diagrams.union(&all, &fresh)?;
        }
    }

    pub(crate) fn learn_all(&mut self, from: &Set) -> Result<(), Cut> {
        let (last, usual): (Vec<usize>, Vec<usize>) =
            (0..self.bundles.len()).partition(|&at| self.bundles[at].is_last_resort());
        usual.into_iter().try_for_each(|at| self.learn(at, from))?;
        let resting = self.resting(from)?;
        last.into_iter().try_for_each(|at| self.learn(at, &resting))
    }

    pub(crate) fn learn(&mut self, at: usize, from: &Set) -> Result<(), Cut> {
        self.bundles[at].learn(from, self.system, &mut *self.explorer, &self.diagrams, self.anticipation)
    }

    /// The states among these without a step. All bundles have learned from them.
    pub fn deadlocks(&self, states: &Set) -> Result<Set, Cut> {
        self.without_steps(states, self.bundles.iter())
    }

    fn without_steps<'b>(&self, states: &Set, bundles: impl Iterator<Item = &'b Bundle>) -> Result<Set, Cut> {
        let mut left = states.clone();
        for bundle in bundles {
            if left.is_empty() {
                break;
            }
            let enabled = bundle.enabled(&left, &self.diagrams)?;
            left = self.diagrams.difference(&left, &enabled)?;
        }
        Ok(left)
    }

    /// The states among these without a step in which the system may not rest.
    pub fn invalid_ends(&mut self, states: &Set) -> Result<Set, Cut> {
        let deadlocks = self.deadlocks(states)?;
        // Without a mark every state is a valid end.
        let Some(mark) = self.system.mark(Meaning::ValidEnd) else { return Ok(self.diagrams.empty()) };
        let valid = self.by_mark(mark, &deadlocks)?;
        let invalid = valid.into_iter().find(|&(value, _)| value == 0);
        Ok(invalid.map_or_else(|| self.diagrams.empty(), |(_, states)| states))
    }

    /// The states among these with a step that shows an error of one of these kinds.
    pub fn erring(&self, states: &Set, kinds: impl Fn(u32) -> bool) -> Result<Set, Cut> {
        let mut all = self.diagrams.empty();
        let resting = self.resting(states)?;
        for bundle in &self.bundles {
            for (_, found) in bundle.erring(self.where_due(bundle, states, &resting), &kinds, &self.diagrams)? {
                all = self.diagrams.union(&all, &found)?;
            }
        }
        Ok(all)
    }

    /// How many steps of these states show an error of one of these kinds.
    pub fn erring_steps(&self, states: &Set, kinds: impl Fn(u32) -> bool) -> Result<UBig, Cut> {
        let mut sum = UBig::ZERO;
        let resting = self.resting(states)?;
        for bundle in &self.bundles {
            for (count, found) in bundle.erring(self.where_due(bundle, states, &resting), &kinds, &self.diagrams)? {
                sum += self.diagrams.count(&found)? * UBig::from(count);
            }
        }
        Ok(sum)
    }

    /// How many states these are.
    pub fn count(&self, states: &Set) -> Result<UBig, Cut> {
        Ok(self.diagrams.count(states)?)
    }

    /// How many transitions leave these states. All bundles have learned from them.
    pub fn transitions(&self, states: &Set) -> Result<UBig, Cut> {
        let mut sum = UBig::ZERO;
        let resting = self.resting(states)?;
        for bundle in &self.bundles {
            for (count, set) in bundle.multiplicities(self.where_due(bundle, states, &resting), &self.diagrams)? {
                sum += self.diagrams.count(&set)? * UBig::from(count);
            }
        }
        Ok(sum)
    }
}
