//! The last composition as a system, and the way back of its runs to the original.
//!
//! A state is one of the composition, and whether everything has terminated: minimisation may have merged the end with
//! a deadlock, but the step `✓` tells them apart.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_system::{
    Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Mark, MarkId, Meaning, Path, Sink, Slot, StateId, Step,
    System, TakenStep, Value, Walk, Wrong,
};

use super::Decomposition;
use super::compose::PartRows;
use super::lift::{Moves, Placed};

/// A decomposition as a system.
pub struct ComposedSystem {
    decomposition: Arc<Decomposition>,
    layout: Layout,
    groups: [Group; 1],
    marks: [Mark; 1],
}

impl ComposedSystem {
    /// The last composition, before it was minimised.
    pub fn new(decomposition: Arc<Decomposition>) -> ComposedSystem {
        let states = decomposition.lts().state_count() as u32;
        ComposedSystem {
            layout: Layout::new(vec![Slot::bounded("state", states), Slot::bounded("ended", 2)]),
            groups: [Group {
                name: "all".into(),
                guards: [0].into_iter().collect(),
                may_write: [0, 1].into_iter().collect(),
                must_write: [0, 1].into_iter().collect(),
                ..Group::default()
            }],
            marks: [Mark { meaning: Meaning::ValidEnd, reads: [1].into_iter().collect(), values: 2 }],
            decomposition,
        }
    }

    /// The decomposition.
    pub fn decomposition(&self) -> &Decomposition {
        &self.decomposition
    }

    /// A run as one of the original. Labels that were hidden are `τ` here; the run of the original has them as they
    /// are.
    pub fn run_of_original(&self, path: &Path, control: &Control) -> Result<Path, Cut> {
        let (run, _) = self.lifted(path, control)?;
        Ok(run.path)
    }

    /// A run that ends in a deadlock as one of the original: steps that are `τ` for the question lead to its end.
    pub fn deadlock_of_original(&self, path: &Path, control: &Control) -> Result<Path, Cut> {
        let (mut run, mut placed) = self.lifted(path, control)?;
        run.settle(&mut placed, control)?;
        Ok(run.path)
    }

    /// A run into a cycle as one of the original; the cycle is repeated until it ends where it began.
    pub fn lasso_of_original(
        &self,
        path: &Path,
        cycle: &[TakenStep],
        control: &Control,
    ) -> Result<(Path, Vec<TakenStep>), Cut> {
        let (mut run, mut placed) = self.lifted(path, control)?;
        if cycle.is_empty() {
            // Where the composition ends, what is left of internal steps leads to the end of the original.
            let end = path.steps.last().map_or(path.start[0], |step| step.row[0]);
            if self.decomposition.lts().outgoing(StateId(end)).is_empty() {
                run.settle(&mut placed, control)?;
            }
            return Ok((run.path, Vec::new()));
        }
        // Where each round began.
        let mut rounds: Vec<(Vec<Value>, usize)> = Vec::new();
        loop {
            let (row, at) = (run.path.last().to_vec(), run.path.steps.len());
            if let Some((_, begin)) = rounds.iter().find(|(known, _)| *known == row) {
                let cycle = run.path.steps.split_off(*begin);
                return Ok((run.path, cycle));
            }
            rounds.push((row, at));
            run.follow(&mut placed, cycle, control)?;
        }
    }

    fn lifted<'a>(&'a self, path: &Path, control: &'a Control) -> Result<(Lifting<'a>, Placed<'a>), Cut> {
        let decomposition = &*self.decomposition;
        let start = decomposition.original().initial(control)?;
        let mut run = Lifting {
            decomposition,
            rows: decomposition.component.rows_of_parts(),
            explorer: decomposition.original().explorer(control),
            path: Path { start, steps: Vec::new() },
        };
        let mut placed = Placed::initial(&decomposition.component);
        run.follow(&mut placed, &path.steps, control)?;
        Ok((run, placed))
    }
}

/// A run of the original that grows.
struct Lifting<'a> {
    decomposition: &'a Decomposition,
    /// The values of parameters in the states of each part.
    rows: HashMap<usize, PartRows<'a>>,
    explorer: Box<dyn Explorer + 'a>,
    path: Path,
}

impl Lifting<'_> {
    /// Follows steps of the composition.
    fn follow(&mut self, placed: &mut Placed<'_>, steps: &[TakenStep], control: &Control) -> Result<(), Cut> {
        let mut moves = Vec::new();
        for step in steps {
            // Labels of the composition before they were put into the table of the original.
            let label = self.decomposition.inner_label(step.label);
            let last = placed.take(label, StateId(step.row[0]), &mut moves, control)?.ok_or_else(lost)?;
            for moves in moves.drain(..) {
                self.go(&moves, LabelId::TAU)?;
            }
            self.go(&last, step.label)?;
        }
        Ok(())
    }

    /// Takes the internal steps that are left in the parts.
    fn settle(&mut self, placed: &mut Placed<'_>, control: &Control) -> Result<(), Cut> {
        let mut moves = Vec::new();
        placed.settle(&mut moves, control)?.ok_or_else(lost)?;
        moves.iter().try_for_each(|moves| self.go(moves, LabelId::TAU))
    }

    /// Takes the step of the original that has this label to the question and brings parts to these states.
    fn go(&mut self, moves: &Moves, label: LabelId) -> Result<(), Cut> {
        let decomposition = self.decomposition;
        let mut changed: HashMap<usize, Value> = HashMap::new();
        for (part, state) in moves {
            let rows = &self.rows[part];
            // Poison has no values, and no run leads there.
            let row = rows.states.get(state).ok_or_else(lost)?;
            changed.extend(rows.slots.iter().copied().zip(row.iter().copied()));
        }
        let before = self.path.last().to_vec();
        let mut found = None;
        let walked = self.explorer.successors(&before, &mut |step| {
            let is_there = |(slot, &value): (usize, &Value)| match changed.get(&slot) {
                Some(&wanted) => decomposition.value(slot, value) == Some(wanted),
                None => value == before[slot],
            };
            let fits = decomposition.seen(step.label) == label
                && (label == LabelId::TICK || step.row.iter().enumerate().all(is_there));
            if fits {
                found = Some(TakenStep { label: step.label, row: step.row.to_vec() });
                return Err(Cut::Enough);
            }
            Ok(())
        });
        Cut::had_enough(walked)?;
        self.path.steps.push(found.ok_or_else(lost)?);
        Ok(())
    }
}

/// A run that is not found in the original: states are compared by the texts of their values; functions may share one.
fn lost() -> Cut {
    let message = "a run of the decomposition could not be followed in the specification".to_string();
    Cut::Beyond(Box::new(Wrong { message, place: None, hint: None }))
}

impl System for ComposedSystem {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        self.decomposition.original().labels()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn initial(&self, _control: &Control) -> Result<Vec<Value>, Cut> {
        Ok(vec![self.decomposition.lts().initial().0, 0])
    }

    fn explorer<'a>(&'a self, _control: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(ComposedExplorer { system: self })
    }

    fn error(&self, label: LabelId) -> u32 {
        self.decomposition.original().error(label)
    }

    fn first_error(&self) -> LabelId {
        self.decomposition.original().first_error()
    }

    fn describe(&self, row: &[Value]) -> String {
        row[0].to_string()
    }
}

struct ComposedExplorer<'a> {
    system: &'a ComposedSystem,
}

impl Explorer for ComposedExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        // Nothing happens after the end.
        if row[1] == 1 {
            return Ok(());
        }
        for step in self.system.decomposition.lts().outgoing(StateId(row[0])) {
            let ended = Value::from(step.label == LabelId::TICK);
            sink(Step::of_group(GroupId(0), step.label, &[step.target.0, ended]))?;
        }
        Ok(())
    }

    fn mark(&mut self, _mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        Ok(reads[0])
    }
}
