//! Shortest runs by a guided search.
//!
//! Once everything is explored, the states that a run is to reach are known, and so is how each group changes each
//! slot. That tells how far a state is at least: a slot must go from its value to a value that it has in one of these
//! states, and its graph of values, whose edges are what the groups do to it, is small. Every group belongs to one of
//! the slots that it writes. Its step counts in the graph of that slot, and is free in those of others, so the sum of
//! all slots' distances is never more than the length of a run (additive pattern databases: A. Felner, R. Korf, S.
//! Hanan, *Additive pattern database heuristics*, 2004, with a slot for each pattern). A* with that estimate finds a
//! shortest run (P. Hart, N. Nilsson, B. Raphael, 1968).
//!
//! A group belongs to the slot that is farthest from its goal, and among equal ones to that with the most values: to
//! the control state of a process rather than to a flag that it sets.
//!
//! Why not by levels alone ([`crate::runs`]): a level has the states at one distance, and a diagram of those must add
//! up what all components have done. In a ring of 100 philosophers that deadlocks after 200 events the levels have
//! millions of nodes; where components do their part independently the estimate is exact, and A* looks at some hundred
//! states. Where it is not, the search gives up after [`MOST`] states, and levels are made.
//!
//! The result does not depend on threads: the search is sequential, and its limit is a number of states.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use trefoil_diagrams::Set;
use trefoil_system::{Cut, Value, Visibility};

use crate::space::Space;

/// The length of a run: steps that count, and among runs with as many, steps that do not.
type Length = (u64, u64);

/// Which steps count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    /// All of them.
    Steps,
    /// Visible events.
    Events,
}

impl Counting {
    fn length(self, visible: bool) -> Length {
        if visible || self == Counting::Steps { (1, 0) } else { (0, 1) }
    }
}

/// A run: whether the step to each state is silent, and the state. The first is the initial state.
pub(crate) type Rows = Vec<(bool, Vec<Value>)>;

/// So many states are made before the search gives up.
const MOST: usize = 1 << 17;
/// Slots with more values than this say nothing.
const MOST_VALUES: usize = 1 << 16;

/// A state that waits: the least length of a run through it, how much of that is done, and its number. The shortest is
/// first, and among equal ones the most advanced.
type Waiting = Reverse<(Length, Reverse<Length>, Reverse<usize>)>;

/// What a bundle does to a slot: the value before, where it is read, and the value after.
type Changes = (usize, Vec<(Option<Value>, Value)>);

/// For each value of a slot its distance.
type Distances = HashMap<Value, Length>;

fn sum(one: Length, other: Length) -> Length {
    (one.0 + other.0, one.1 + other.1)
}

/// A state that was met.
struct Met {
    row: Vec<Value>,
    length: Length,
    /// The state before it, and whether the step from there is silent.
    from: Option<(usize, bool)>,
    closed: bool,
}

impl Space<'_> {
    /// A shortest run to one of these states; nothing where the search gives up. Everything was explored.
    pub(crate) fn guided(&mut self, targets: &Set, counting: Counting) -> Result<Option<Rows>, Cut> {
        let initial = self.system.initial(self.control)?;
        let place = self.places();
        let Some(slots) = self.distances(targets, counting, &initial)? else { return Ok(None) };
        // What is missing is never on the way to a target.
        let estimate = |row: &[Value]| -> Option<Length> {
            let far =
                |all: Length, (slot, distances): &(usize, Distances)| Some(sum(all, *distances.get(&row[*slot])?));
            slots.iter().try_fold((0, 0), far)
        };
        let mut numbers: HashMap<Vec<Value>, usize> = HashMap::new();
        let mut all: Vec<Met> = Vec::new();
        let mut waiting: BinaryHeap<Waiting> = BinaryHeap::new();
        let Some(least) = estimate(&initial) else { return Ok(None) };
        numbers.insert(initial.clone(), 0);
        all.push(Met { row: initial, length: (0, 0), from: None, closed: false });
        waiting.push(Reverse((least, Reverse((0, 0)), Reverse(0))));
        let mut explorer = self.system.explorer(self.control);
        while let Some(Reverse((_, _, Reverse(number)))) = waiting.pop() {
            self.control.check()?;
            if std::mem::replace(&mut all[number].closed, true) {
                continue;
            }
            let (row, length) = (all[number].row.clone(), all[number].length);
            let mut moved = vec![0; row.len()];
            row.iter().enumerate().for_each(|(slot, &value)| moved[place[slot]] = value);
            if self.diagrams.contains(targets, &moved) {
                return Ok(Some(rows_to(&all, number)));
            }
            if all.len() > MOST {
                return Ok(None);
            }
            explorer.successors(&row, &mut |step| {
                let visible = step.label.is_visible();
                let next = sum(length, counting.length(visible));
                let Some(left) = estimate(step.row) else { return Ok(()) };
                let number = match numbers.get(step.row) {
                    // The estimate is consistent: what is closed has its least length.
                    Some(&known) if all[known].closed || all[known].length <= next => return Ok(()),
                    Some(&known) => {
                        (all[known].length, all[known].from) = (next, Some((number, !visible)));
                        known
                    }
                    None => {
                        numbers.insert(step.row.to_vec(), all.len());
                        let from = Some((number, !visible));
                        all.push(Met { row: step.row.to_vec(), length: next, from, closed: false });
                        all.len() - 1
                    }
                };
                waiting.push(Reverse((sum(next, left), Reverse(next), Reverse(number))));
                Ok(())
            })?;
        }
        Ok(None)
    }

    /// For slots that say something the distance of each value.
    fn distances(
        &self,
        targets: &Set,
        counting: Counting,
        initial: &[Value],
    ) -> Result<Option<Vec<(usize, Distances)>>, Cut> {
        let diagrams = &self.diagrams;
        let place = self.places();
        // What each bundle does to each slot.
        let mut changes: Vec<Vec<Changes>> = vec![Vec::new(); place.len()];
        for (bundle, learned) in self.bundles.iter().enumerate() {
            for (slot, &position) in place.iter().enumerate() {
                let found = diagrams.changes(learned.relation(), position)?;
                if !found.is_empty() {
                    changes[slot].push((bundle, found));
                }
            }
        }
        let values = |set: &Set, slot: usize| -> Result<Vec<Value>, Cut> {
            let column = diagrams.project(set, &diagrams.slots(&[place[slot]])?)?;
            Ok(diagrams.rows(&column).take(MOST_VALUES + 1).map(|row| row[0]).collect())
        };
        let lengths: Vec<Length> =
            self.bundles.iter().map(|bundle| counting.length(bundle.visibility() != Visibility::Silent)).collect();
        // The slot that each bundle belongs to, and why: how far the slot is from its goal, and how many values it has.
        let mut owners: Vec<Option<(Length, usize, Reverse<usize>)>> = vec![None; self.bundles.len()];
        let mut columns: BTreeMap<usize, (Vec<Value>, Vec<Value>)> = BTreeMap::new();
        for slot in 0..place.len() {
            self.control.check()?;
            let (domain, goals) = (values(self.states(), slot)?, values(targets, slot)?);
            if domain.len() > MOST_VALUES || changes[slot].is_empty() {
                continue;
            }
            let distances = local(&domain, &goals, &changes[slot], |bundle| lengths[bundle]);
            let Some(&far) = distances.get(&initial[slot]) else { return Ok(None) };
            for (bundle, _) in &changes[slot] {
                owners[*bundle] = owners[*bundle].max(Some((far, domain.len(), Reverse(slot))));
            }
            columns.insert(slot, (domain, goals));
        }
        let owner = |bundle: usize| owners[bundle].map(|(_, _, Reverse(slot))| slot);
        let distances = columns.into_iter().map(|(slot, (domain, goals))| {
            let length = |bundle: usize| if owner(bundle) == Some(slot) { lengths[bundle] } else { (0, 0) };
            (slot, local(&domain, &goals, &changes[slot], length))
        });
        Ok(Some(distances.collect()))
    }
}

/// For the values of a slot that lead to a goal how far they are from one (E. Dijkstra's algorithm, backwards).
fn local(domain: &[Value], goals: &[Value], changes: &[Changes], length: impl Fn(usize) -> Length) -> Distances {
    let mut before: HashMap<Value, Vec<(Option<Value>, Length)>> = HashMap::new();
    for (bundle, pairs) in changes {
        for &(from, to) in pairs {
            before.entry(to).or_default().push((from, length(*bundle)));
        }
    }
    let mut distances = Distances::new();
    let mut waiting: BinaryHeap<Reverse<(Length, Value)>> = goals.iter().map(|&goal| Reverse(((0, 0), goal))).collect();
    while let Some(Reverse((far, value))) = waiting.pop() {
        if distances.contains_key(&value) {
            continue;
        }
        distances.insert(value, far);
        for &(from, more) in before.get(&value).into_iter().flatten() {
            let next = sum(far, more);
            match from {
                Some(from) => waiting.push(Reverse((next, from))),
                // It is written whatever it was.
                None => waiting.extend(
                    domain.iter().filter(|from| !distances.contains_key(*from)).map(|&from| Reverse((next, from))),
                ),
            }
        }
    }
    distances
}

fn rows_to(all: &[Met], last: usize) -> Rows {
    let mut rows = Vec::new();
    let mut now = last;
    loop {
        let silent = all[now].from.is_some_and(|(_, silent)| silent);
        rows.push((silent, all[now].row.clone()));
        match all[now].from {
            Some((from, _)) => now = from,
            None => break,
        }
    }
    rows.reverse();
    rows
}
