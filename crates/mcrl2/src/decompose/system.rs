//! The last composition as a system, and the way back of its runs to the original.
//!
//! A state is one of the composition, and whether everything has terminated: minimisation may have merged the end with
//! a deadlock, but the step `✓` tells them apart.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_system::{
    Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Mark, MarkId, Meaning, Path, Sink, Slot, StateId, Step,
    System, TakenStep, Value, Walk, Wrong,
};

use super::Decomposition;

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
        let original = self.decomposition.original();
        let mut explorer = original.explorer(control);
        let start = original.initial(control)?;
        let mut run = Path { start: start.clone(), steps: Vec::new() };
        let mut current = start;
        let mut state = StateId(path.start[0]);
        for step in &path.steps {
            let found = self.follow(&mut *explorer, &current, (state, step.label, StateId(step.row[0])), control)?;
            run.steps.extend(found);
            if let Some(last) = run.steps.last() {
                current.clone_from(&last.row);
            }
            state = StateId(step.row[0]);
        }
        Ok(run)
    }

    /// A run that ends in a deadlock as one of the original: steps that are `τ` for the question lead to its end.
    pub fn deadlock_of_original(&self, path: &Path, control: &Control) -> Result<Path, Cut> {
        let mut run = self.run_of_original(path, control)?;
        let original = self.decomposition.original();
        let mut explorer = original.explorer(control);
        let mut order: Vec<Vec<Value>> = vec![run.last().to_vec()];
        let mut parents: HashMap<Vec<Value>, (usize, LabelId)> = HashMap::new();
        let mut at = 0;
        while at < order.len() {
            control.check()?;
            let row = order[at].clone();
            let mut next = Vec::new();
            explorer.successors(&row, &mut |step| {
                next.push((step.label, step.row.to_vec()));
                Ok(())
            })?;
            if next.is_empty() {
                let mut steps = Vec::new();
                let mut here = row;
                while let Some(&(parent, label)) = parents.get(&here) {
                    steps.push(TakenStep { label, row: here });
                    here = order[parent].clone();
                }
                steps.reverse();
                run.steps.extend(steps);
                return Ok(run);
            }
            for (label, row) in next {
                if row != order[0] && !parents.contains_key(&row) {
                    parents.insert(row.clone(), (at, label));
                    order.push(row);
                }
            }
            at += 1;
        }
        Err(lost())
    }

    /// Steps of the original that do one step of the composition: some that stay in its state, and the step.
    fn follow(
        &self,
        explorer: &mut dyn Explorer,
        from: &[Value],
        (state, label, target): (StateId, LabelId, StateId),
        control: &Control,
    ) -> Result<Vec<TakenStep>, Cut> {
        let decomposition = &self.decomposition;
        let mut order: Vec<Vec<Value>> = vec![from.to_vec()];
        let mut parents: HashMap<Vec<Value>, (usize, LabelId)> = HashMap::new();
        let mut met: HashSet<Vec<Value>> = HashSet::from([from.to_vec()]);
        let mut at = 0;
        while at < order.len() {
            control.check()?;
            let row = order[at].clone();
            let mut last = None;
            let walked = explorer.successors(&row, &mut |step| {
                let seen = decomposition.seen(step.label);
                let place = decomposition.find(step.row);
                if seen == label && (place == Some(target) || label == LabelId::TICK) {
                    last = Some(TakenStep { label: step.label, row: step.row.to_vec() });
                    return Err(Cut::Enough);
                }
                if seen == LabelId::TAU && place == Some(state) && met.insert(step.row.to_vec()) {
                    parents.insert(step.row.to_vec(), (at, step.label));
                    order.push(step.row.to_vec());
                }
                Ok(())
            });
            Cut::had_enough(walked)?;
            if let Some(last) = last {
                let mut steps = vec![last];
                let mut here = row;
                while let Some(&(parent, label)) = parents.get(&here) {
                    steps.push(TakenStep { label, row: here });
                    here = order[parent].clone();
                }
                steps.reverse();
                return Ok(steps);
            }
            at += 1;
        }
        Err(lost())
    }
}

/// A run that is not found in the original: states are compared by the texts of their values; functions may share one.
fn lost() -> Cut {
    let message = "a run of the decomposition could not be followed in the specification".to_string();
    Cut::Beyond(Box::new(Wrong { message, place: None }))
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
