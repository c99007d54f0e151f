//! Paths: how a state was reached, found by searching backwards round by round.
//!
//! Nothing is kept per state. The rounds of the search are known as ranges ([`crate::history`]), and every state was scheduled by
//! one of the round before: in steps order by any step; in visible order the states of the first round of a level by a visible
//! event of a state of the level before, and those of every other round by `τ` from the round before it. So the states of that round or
//! level are expanded once more, on all threads, until one has such a step into the wanted state; it is the next wanted
//! one.
//!
//! Why what is found is on a shortest path: a state whose old entry stands in a later round than the one in which it was
//! expanded is asked as if it belonged to the later one; but if it had a `τ`, or an event, to the wanted state, the wanted state would have
//! been scheduled earlier than it was.
//!
//! Cost: no round is expanded more than once, rows are read in the order in which they lie, and nothing is looked up or inserted; so
//! it takes less time than the search did, however long the path is, and four bytes a state less than knowing parents would.
//!
//! A depth-first search keeps the states from the initial one to the one that it ended with.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use trefoil_control::{Control, Stopped};
use trefoil_system::{Explorer, LabelId, Path, StateId, System, TakenStep, Value};

use crate::search::{Exploration, Found, Order};
use crate::states::{Reader, States};
use crate::workers::{Crew, Worker, run_crew};

impl<V> Exploration<V> {
    /// A run to a state that was expanded; of least length when the search was breadth-first. `None` for a state that was not,
    /// and after a depth-first search for every other than the last. `system` is the one that was explored.
    pub fn path(&self, system: &dyn System, state: StateId, control: &Control) -> Result<Option<Path>, Stopped> {
        if self.options.order == Order::DepthFirst {
            return Ok(self.along_trail(system, state));
        }
        let Some(round) = self.history.round_of(state) else { return Ok(None) };
        self.back_from(system, state, round, control).map(Some)
    }

    /// The run to what was found, its step included.
    pub fn path_to(&self, system: &dyn System, found: &Found, control: &Control) -> Result<Path, Stopped> {
        let path = self.path(system, found.state, control)?;
        let mut path = path.expect("what is found is found when it is expanded");
        path.steps.extend(found.step.clone());
        Ok(path)
    }

    /// The steps around the cycle of `τ` that was found, back to its first state; none when something else was found.
    pub fn cycle(&self, found: &Found) -> Vec<TakenStep> {
        found.cycle.iter().map(|&state| TakenStep { label: LabelId::TAU, row: self.row(state) }).collect()
    }

    /// The row of a state.
    pub fn row(&self, state: StateId) -> Vec<Value> {
        let mut row = vec![0; self.states.packing().width()];
        self.states.reader().row(state, &mut row);
        row
    }

    /// Backwards from a state that was expanded in this round.
    fn back_from(&self, system: &dyn System, state: StateId, round: usize, control: &Control) -> Result<Path, Stopped> {
        let mut backwards = Ok(Vec::new());
        let states = &self.states;
        run_crew(
            self.options.thread_count(),
            || Seeker::new(system, states, control),
            |_| (),
            |crew| backwards = self.retrace(crew, state, round, control),
        );
        let mut steps = backwards?;
        steps.reverse();
        Ok(Path { start: self.row(self.initial), steps })
    }

    /// The steps to a state, the last first.
    fn retrace(
        &self,
        crew: &mut Crew<'_, Seeker<'_>>,
        mut state: StateId,
        mut round: usize,
        control: &Control,
    ) -> Result<Vec<TakenStep>, Stopped> {
        let history = &self.history;
        let mut backwards = Vec::new();
        while state != self.initial {
            let row = self.row(state);
            let distance = history.distance(round - 1);
            let internal = distance == history.distance(round);
            let by = match self.options.order {
                Order::Visible if internal => Sought::Internal,
                Order::Visible => Sought::Visible,
                _ => Sought::Any,
            };
            // The round before; or, from the first round of a level, all rounds of the level before.
            let all = (0..round).rev().take_while(|&earlier| history.distance(earlier) == distance);
            let mut candidates = all.take(if internal { 1 } else { usize::MAX });
            let (earlier, source, label) = loop {
                // A system that cannot go on because of its budget gives no steps; then the control says so.
                control.check()?;
                let earlier = candidates.next().expect("a state that was scheduled has a predecessor");
                let wanted = Wanted { row: row.clone(), by, found: AtomicBool::new(false) };
                let outputs = crew.run(history.frontier(earlier).into_pieces(crew.len()), wanted);
                if let Some((source, label)) = outputs.into_iter().flatten().next() {
                    break (earlier, source, label);
                }
            };
            backwards.push(TakenStep { label, row });
            (state, round) = (source, earlier);
        }
        Ok(backwards)
    }

    /// Along the states that a depth-first search kept, if this is the last of them.
    fn along_trail(&self, system: &dyn System, state: StateId) -> Option<Path> {
        let (&last, trail) = self.history.trail().split_last()?;
        if last != state {
            return None;
        }
        let mut path = Path { start: self.row(self.initial), steps: Vec::new() };
        let mut explorer = system.explorer();
        for &next in trail.iter().skip(1).chain((!trail.is_empty()).then_some(&last)) {
            let row = self.row(next);
            let mut label = None;
            explorer.successors(path.last(), &mut |step| {
                if label.is_none() && step.row == row {
                    label = Some(step.label);
                }
            });
            path.steps.push(TakenStep { label: label?, row });
        }
        Some(path)
    }
}

/// By which steps a state was scheduled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sought {
    Any,
    Internal,
    Visible,
}

/// What seekers look for: a step of this kind to this row.
struct Wanted {
    row: Vec<Value>,
    by: Sought,
    found: AtomicBool,
}

/// Looks for predecessors.
struct Seeker<'a> {
    explorer: Box<dyn Explorer + 'a>,
    reader: Reader<'a>,
    control: &'a Control,
    row: Vec<Value>,
}

impl<'a> Seeker<'a> {
    fn new(system: &'a dyn System, states: &'a States, control: &'a Control) -> Seeker<'a> {
        let row = vec![0; states.packing().width()];
        Seeker { explorer: system.explorer(), reader: states.reader(), control, row }
    }
}

impl Worker for Seeker<'_> {
    type Job = Wanted;
    type Output = Option<(StateId, LabelId)>;

    fn work(&mut self, piece: &[Range<u32>], wanted: &Wanted, output: &mut Self::Output) {
        // Whoever leads asks the control why there was no answer.
        if wanted.found.load(Ordering::Relaxed) || self.control.check().is_err() {
            return;
        }
        for id in piece.iter().cloned().flatten().map(StateId) {
            self.reader.row(id, &mut self.row);
            self.explorer.successors(&self.row, &mut |step| {
                let counts = match wanted.by {
                    Sought::Any => true,
                    Sought::Internal => !step.label.is_visible(),
                    Sought::Visible => step.label.is_visible(),
                };
                if counts && output.is_none() && step.row == wanted.row {
                    *output = Some((id, step.label));
                }
            });
            if output.is_some() {
                wanted.found.store(true, Ordering::Relaxed);
                return;
            }
        }
    }
}
