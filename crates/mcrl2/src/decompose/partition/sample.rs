//! A sample of the states of a model: the first ones of a breadth-first search, and those of a random walk.
//!
//! It says how many values each parameter has, and it grows on where the number of states has to be known to be large.
//! Invariants: the steps of the walk are those of a fixed sequence of bits, so the sample depends on the model alone.

use std::hash::BuildHasher;

use trefoil_control::Control;
use trefoil_system::{Cut, Explorer, System, Value};

use crate::system::Model;

/// States that are found breadth-first, and random steps.
const SAMPLE: usize = 20_000;

/// An empty place in the table of states.
const EMPTY: u32 = u32::MAX;

/// States of a model.
pub(crate) struct Sample {
    width: usize,
    count: usize,
    /// Rows one after the other, in the order in which they were found.
    values: Vec<Value>,
    /// The number of each state at the place of its hash, or at one of the next places. At most half of it is full.
    places: Vec<u32>,
    /// How many states were expanded breadth-first.
    expanded: usize,
}

impl Sample {
    /// Explores the first states, and walks on from them.
    pub(crate) fn new(model: &Model, control: &Control) -> Result<Sample, Cut> {
        let initial = model.initial(control)?;
        let places = vec![EMPTY; 4 * SAMPLE.next_power_of_two()];
        let mut sample = Sample { width: initial.len(), count: 0, values: Vec::new(), places, expanded: 0 };
        sample.add(&initial);
        let mut explorer = model.explorer(control);
        sample.search(&mut *explorer, SAMPLE, control)?;
        if !sample.is_complete() {
            sample.walk(&mut *explorer, control)?;
        }
        Ok(sample)
    }

    /// Whether these are all states.
    pub(crate) fn is_complete(&self) -> bool {
        self.expanded == self.count
    }

    /// How many states are known.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether the model has at least so many states.
    pub(crate) fn reaches(&mut self, least: usize, model: &Model, control: &Control) -> Result<bool, Cut> {
        if self.count < least && !self.is_complete() {
            self.search(&mut *model.explorer(control), least, control)?;
        }
        Ok(self.count >= least)
    }

    /// The states, in the order in which they were found.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[Value]> {
        (0..self.count).map(|state| self.row(state))
    }

    fn row(&self, state: usize) -> &[Value] {
        &self.values[state * self.width..][..self.width]
    }

    /// How many values each parameter has.
    pub(crate) fn values(&self) -> Vec<usize> {
        let mut met: Vec<Vec<bool>> = vec![Vec::new(); self.width];
        for row in self.rows() {
            for (met, &value) in met.iter_mut().zip(row) {
                let value = value as usize;
                if value >= met.len() {
                    met.resize(value + 1, false);
                }
                met[value] = true;
            }
        }
        met.iter().map(|met| met.iter().filter(|&&met| met).count()).collect()
    }

    /// Where a row is in the table, or the empty place that is meant for it.
    fn place(&self, row: &[Value]) -> usize {
        let last = self.places.len() - 1;
        let mut place = foldhash::fast::FixedState::default().hash_one(row) as usize & last;
        while self.places[place] != EMPTY && self.row(self.places[place] as usize) != row {
            place = (place + 1) & last;
        }
        place
    }

    fn add(&mut self, row: &[Value]) {
        let place = self.place(row);
        if self.places[place] != EMPTY {
            return;
        }
        self.places[place] = self.count as u32;
        self.values.extend_from_slice(row);
        self.count += 1;
        if 2 * self.count > self.places.len() {
            self.places = vec![EMPTY; 2 * self.places.len()];
            for state in 0..self.count {
                let place = self.place(self.row(state));
                self.places[place] = state as u32;
            }
        }
    }

    fn search(&mut self, explorer: &mut (dyn Explorer + '_), most: usize, control: &Control) -> Result<(), Cut> {
        let mut row = Vec::new();
        while self.expanded < self.count && self.count < most {
            control.check()?;
            row.clear();
            row.extend_from_slice(self.row(self.expanded));
            let walked = explorer.successors(&row, &mut |step| {
                self.add(step.row);
                Ok(())
            });
            passed_over(walked)?;
            self.expanded += 1;
        }
        Ok(())
    }

    fn walk(&mut self, explorer: &mut (dyn Explorer + '_), control: &Control) -> Result<(), Cut> {
        let mut row = self.row(self.count - 1).to_vec();
        let mut bits: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut next: Vec<Value> = Vec::new();
        for _ in 0..SAMPLE {
            control.check()?;
            next.clear();
            passed_over(explorer.successors(&row, &mut |step| {
                next.extend_from_slice(step.row);
                Ok(())
            }))?;
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            match (next.len() / self.width) as u64 {
                0 => row.copy_from_slice(self.row((bits % self.count as u64) as usize)),
                count => row.copy_from_slice(&next[(bits % count) as usize * self.width..][..self.width]),
            }
            self.add(&row);
        }
        Ok(())
    }
}

/// A mistake in the model is found again where it counts.
fn passed_over(walked: Result<(), Cut>) -> Result<(), Cut> {
    match walked {
        Ok(()) | Err(Cut::Enough | Cut::Wrong(_) | Cut::Beyond(_) | Cut::Outgrown) => Ok(()),
        Err(cut) => Err(cut),
    }
}
