//! Paths: how a state was reached, found by searching backwards round by round.
//!
//! Nothing is kept per state. The rounds of the search are known as ranges ([`crate::history`]), and every state of a
//! round was scheduled by a state of an earlier one: in steps order by any step of a state of the round before; in
//! visible order a state of round (d, s) by a visible event of a state of round (d − 1, s), or by `τ` from round (d, s
//! − 1). So the states of that round are expanded once more, on all threads, and of those that have such a step into
//! the wanted state the least is the next wanted one, by the label of its step and then by its row; a visible event
//! comes before `τ`. So the path is the same whatever the number of threads.
//!
//! Cost: no round is expanded more than twice, rows are read in the order in which they lie, and nothing is looked up
//! or inserted; so it takes about as long as the search did, however long the path is, and four bytes a state less than
//! storing parents would.

use std::ops::Range;

use trefoil_control::Control;
use trefoil_system::{Cut, Explorer, LabelId, Path, StateId, System, TakenStep, Value, Walk};

use crate::search::{Exploration, Found, Order};
use crate::states::{Reader, States};
use crate::workers::{Crew, Worker, run_crew};

impl<V> Exploration<V> {
    /// A run of least length to a state that was expanded. `None` for a state that was not. `system` is the one that
    /// was explored.
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
            let (distance, silent) = history.place(round);
            let after_event = distance.checked_sub(1).map(|distance| (distance, silent));
            let after_silence = silent.checked_sub(1).map(|silent| (distance, silent));
            let sought = match self.options.order {
                Order::Visible => vec![(Sought::Visible, after_event), (Sought::Internal, after_silence)],
                Order::Steps => vec![(Sought::Any, after_event)],
            };
            let mut least: Option<(usize, Parent)> = None;
            for (by, place) in sought {
                if let Some(earlier) = place.and_then(|place| history.at(place)) {
                    let wanted = Wanted { row: row.clone(), by };
                    for sought in crew.run(history.frontier(earlier).into_pieces(crew.len()), wanted) {
                        if let Some(parent) = sought.parent?
                            && least.as_ref().is_none_or(|(_, known)| parent.is_less(known, system))
                        {
                            least = Some((earlier, parent));
                        }
                    }
                }
                if least.is_some() {
                    break;
                }
            }
            let (earlier, parent) = least.expect("a state that was scheduled has a predecessor");
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

/// What seekers search for: a step of this kind to this row.
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
    /// By the label of the step, then by the row.
    fn is_less(&self, other: &Parent, system: &dyn System) -> bool {
        let order = system.labels().compare(self.label, other.label);
        order.then_with(|| system.layout().compare(&self.row, &other.row)).is_lt()
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

/// Searches predecessors.
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
                    let parent = Parent { state, row: row.clone(), label: step.label };
                    if least.as_ref().is_none_or(|known| parent.is_less(known, system)) {
                        *least = Some(parent);
                    }
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
