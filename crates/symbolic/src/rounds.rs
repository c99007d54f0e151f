//! Exploring round by round, for callers that do something else in between, such as solving a game.
//!
//! A round begins with states that were reached. Every bundle learns from them and is applied to them, so that all
//! their steps are known afterwards ([`Space::advance`]). Between rounds a caller sees the relations that were learned,
//! and the states by the values of marks.
//!
//! A round of saturation ([`Space::saturate_once`]) learns from all states and closes them under what is known. The
//! steps of a state are then known exactly if every bundle has learned the values that it reads in it, and they all
//! lead to states that were reached; [`Space::unlearned`] has the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use trefoil_diagrams::{Diagrams, Relation, Set};
use trefoil_system::{Cut, MarkId, System, Value};

use crate::learned::Bundle;
use crate::order::{found, places};
use crate::space::{Space, Strategy};

impl Space<'_> {
    /// One round from these states, which were reached, breadth-first or by chaining. Returns the states that are new.
    pub fn advance(&mut self, from: &Set) -> Result<Set, Cut> {
        self.control.check()?;
        self.rounds += 1;
        self.report()?;
        let fresh = match self.strategy {
            Strategy::BreadthFirst => self.level(from)?,
            Strategy::Chaining | Strategy::Saturation => self.chain(from)?,
        };
        self.states = self.diagrams.union(&self.states, &fresh)?;
        self.diagrams.tidy();
        Ok(fresh)
    }

    /// Learns from all states and adds everything that the known relations reach from them. Returns all states.
    pub fn saturate_once(&mut self) -> Result<Set, Cut> {
        self.control.check()?;
        self.rounds += 1;
        self.report()?;
        let before = self.states.clone();
        let all = self.saturate(&before)?;
        if !all.is_empty() {
            self.states = all;
        }
        self.diagrams.tidy();
        Ok(self.states.clone())
    }

    /// The states among these with values from which some bundle has not learned.
    pub fn unlearned(&self, states: &Set) -> Result<Set, Cut> {
        let mut learned = states.clone();
        for bundle in &self.bundles {
            learned = bundle.learned(&learned, &self.diagrams)?;
        }
        Ok(self.diagrams.difference(states, &learned)?)
    }

    /// How it explores.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Explores in another way from now on.
    pub fn go_on_by(&mut self, strategy: Strategy) {
        self.strategy = strategy;
    }

    /// The diagrams, for sets that are used beside this space.
    pub fn shared_diagrams(&self) -> Arc<Diagrams> {
        self.diagrams.clone()
    }

    /// The relations that have pairs, as far as they are known.
    pub fn relations(&self) -> impl DoubleEndedIterator<Item = &Relation> {
        self.bundles.iter().map(Bundle::relation).filter(|relation| !relation.is_empty())
    }

    /// How many local walks learning has taken.
    pub fn walks(&self) -> u64 {
        self.bundles.iter().map(Bundle::walks).sum()
    }

    /// Does a set have this state?
    pub fn contains(&self, set: &Set, row: &[Value]) -> bool {
        let moved: Vec<Value> = self.order.iter().map(|&slot| row[slot]).collect();
        self.diagrams.contains(set, &moved)
    }

    /// The states of a set, one after the other.
    pub fn rows<'r>(&'r self, set: &Set) -> impl Iterator<Item = Vec<Value>> + 'r {
        let place = places(&self.order);
        self.diagrams.rows(set).map(move |moved| place.iter().map(|&at| moved[at]).collect())
    }

    /// For each value of a mark that states have the states with it, ascending by value.
    pub fn by_mark(&mut self, mark: MarkId, states: &Set) -> Result<Vec<(Value, Set)>, Cut> {
        let place = places(&self.order);
        let slots: Vec<usize> = self.system.marks()[mark.index()].reads.iter().collect();
        let mut positions: Vec<usize> = slots.iter().map(|&slot| place[slot]).collect();
        positions.sort_unstable();
        let met = self.diagrams.project(states, &self.diagrams.slots(&positions)?)?;
        let at: Vec<usize> =
            slots.iter().map(|&slot| positions.binary_search(&place[slot]).unwrap_or_default()).collect();
        let mut parts: BTreeMap<Value, Vec<Vec<Value>>> = BTreeMap::new();
        for row in self.diagrams.rows(&met) {
            self.control.check()?;
            let values: Vec<Value> = at.iter().map(|&at| row[at]).collect();
            parts.entry(self.explorer.mark(mark, &values)?).or_default().push(row);
        }
        let mut found = Vec::new();
        for (value, rows) in parts {
            let rows = self.diagrams.rows_of(rows.iter().map(Vec::as_slice))?;
            found.push((value, self.diagrams.image(states, &self.diagrams.filter(&positions, &rows)?)?));
        }
        Ok(found)
    }
}

/// The slots that marks read, and the others in an order in which the slots of a group are near each other.
pub(crate) fn marks_first(system: &dyn System) -> Vec<usize> {
    let width = system.layout().width();
    let mut is_first = vec![false; width];
    system.marks().iter().flat_map(|mark| mark.reads.iter()).for_each(|slot| is_first[slot] = true);
    let others: Vec<usize> = (0..width).filter(|&slot| !is_first[slot]).collect();
    let mut place = vec![0; width];
    others.iter().enumerate().for_each(|(at, &slot)| place[slot] = at);
    let touched = |group: &trefoil_system::Group| {
        let slots = group.inputs().union(&group.outputs());
        slots.iter().filter(|&slot| !is_first[slot]).map(|slot| place[slot]).collect()
    };
    let order = found(others.len(), &system.groups().iter().map(touched).collect::<Vec<Vec<usize>>>());
    let first = (0..width).filter(|&slot| is_first[slot]);
    first.chain(order.into_iter().map(|at| others[at])).collect()
}
