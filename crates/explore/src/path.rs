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

use std::ops::Range;

use trefoil_control::Control;
use trefoil_system::{Cut, Explorer, LabelId, Path, StateId, System, TakenStep, Value, Walk};

use crate::search::{Exploration, Found, Order};
use crate::states::{Reader, States};
use crate::workers::{Crew, Worker, run_crew};

impl<V> Exploration<V> {
    /// A run of least length to a state that was expanded. `None` for a state that was not. `system` is the one that was
    /// explored.
    pub fn path(&self, system: &dyn System, state: StateId, control: &Control) -> Result<Option<Path>, Cut> {
        let Some(round) = self.history.round_of(state) else { return Ok(None) };
        self.back_from(system, state, round, control).map(Some)
    }

    /// The run to what was found, its step included.
    pub fn path_to(&self, system: &dyn System, found: &Found, control: &Control) -> Result<Path, Cut> {
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
    fn back_from(&self, system: &dyn System, state: StateId, round: usize, control: &Control) -> Result<Path, Cut> {
        let mut backwards = Ok(Vec::new());
        let states = &self.states;
        run_crew(
            self.options.thread_count(),
            || Seeker::new(system, states, control),
            |_| (),
            |crew| backwards = self.retrace(crew, system, state, round),
        );
        let mut steps = backwards?;
        steps.reverse();
        Ok(Path { start: self.row(self.initial), steps })
    }

    /// The steps to a state, the last first.
    fn retrace(
        &self,
        crew: &mut Crew<'_, Seeker<'_>>,
        system: &dyn System,
        mut state: StateId,
        mut round: usize,
    ) -> Result<Vec<TakenStep>, Cut> {
        let history = &self.history;
        let mut backwards = Vec::new();
        while state != self.initial {
            let row = self.row(state);
            let distance = history.distance(round - 1);
            let internal = distance == history.distance(round);
            let by = match self.options.order {
                Order::Visible if internal => Sought::Internal,
                Order::Visible => Sought::Visible,
                Order::Steps => Sought::Any,
            };
            // The round before; or, from the first round of a level, all rounds of the level before.
            let all = (0..round).rev().take_while(|&earlier| history.distance(earlier) == distance);
            let mut candidates = all.take(if internal { 1 } else { usize::MAX });
            let (earlier, parent) = loop {
                let earlier = candidates.next().expect("a state that was scheduled has a predecessor");
                let wanted = Wanted { row: row.clone(), by };
                let mut least: Option<Parent> = None;
                for sought in crew.run(history.frontier(earlier).into_pieces(crew.len()), wanted) {
                    if let Some(parent) = sought.parent? {
                        Parent::keep_least(&mut least, parent, system);
                    }
                }
                if let Some(parent) = least {
                    break (earlier, parent);
                }
            };
            backwards.push(TakenStep { label: parent.label, row });
            (state, round) = (parent.state, earlier);
        }
        Ok(backwards)
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
}

/// A state with a step to the wanted row.
struct Parent {
    state: StateId,
    row: Vec<Value>,
    label: LabelId,
}

impl Parent {
    /// Keeps the lesser of two: by the label of the step, then by the row.
    fn keep_least(least: &mut Option<Parent>, other: Parent, system: &dyn System) {
        let is_less = |known: &Parent| {
            let order = system.labels().compare(other.label, known.label);
            order.then_with(|| system.layout().compare(&other.row, &known.row)).is_lt()
        };
        if least.as_ref().is_none_or(is_less) {
            *least = Some(other);
        }
    }
}

/// What one seeker found: the least parent, unless a walk was cut.
struct Seen {
    parent: Result<Option<Parent>, Cut>,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen { parent: Ok(None) }
    }
}

/// Looks for predecessors.
struct Seeker<'a> {
    system: &'a dyn System,
    explorer: Box<dyn Explorer + 'a>,
    reader: Reader<'a>,
    control: &'a Control,
    row: Vec<Value>,
}

impl<'a> Seeker<'a> {
    fn new(system: &'a dyn System, states: &'a States, control: &'a Control) -> Seeker<'a> {
        let row = vec![0; states.packing().width()];
        Seeker { system, explorer: system.explorer(control), reader: states.reader(), control, row }
    }

    fn seek(&mut self, piece: &[Range<u32>], wanted: &Wanted, least: &mut Option<Parent>) -> Walk {
        self.control.check()?;
        for state in piece.iter().cloned().flatten().map(StateId) {
            self.reader.row(state, &mut self.row);
            let (row, system) = (&self.row, self.system);
            self.explorer.successors(row, &mut |step| {
                let counts = match wanted.by {
                    Sought::Any => true,
                    Sought::Internal => !step.label.is_visible(),
                    Sought::Visible => step.label.is_visible(),
                };
                if counts && step.row == wanted.row {
                    Parent::keep_least(least, Parent { state, row: row.clone(), label: step.label }, system);
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

impl Worker for Seeker<'_> {
    type Job = Wanted;
    type Output = Seen;

    fn work(&mut self, piece: &[Range<u32>], wanted: &Wanted, output: &mut Seen) {
        if let Ok(least) = &mut output.parent
            && let Err(cut) = self.seek(piece, wanted, least)
        {
            output.parent = Err(cut);
        }
    }
}
