//! Shortest runs.
//!
//! Where everything was explored, by a guided search ([`crate::guided`]), unless a few small levels do. Where not, and
//! where that gives up, level by level from the initial state, as explicit search goes, until a level has a state that
//! is wanted; then backwards, from the state to one of its predecessors in the level before. Relations that an
//! exploration learned before are known, so levels cost hardly more than images. Labels are not in the relations: each
//! step is looked up among the successors of its state. So a run is as long as that of an explicit search, and is a run
//! of the system itself.
//!
//! Which of several runs it is: the first wanted state in the order of slots, and before each state the first
//! predecessor of the first group that has one. That depends on no thread.

use trefoil_control::Control;
use trefoil_diagrams::Set;
use trefoil_system::{Cut, LabelId, Path, System, TakenStep, Value};

use crate::guided::Counting;
use crate::learned::kind_of;
use crate::space::Space;

/// Levels are made before a guided search when their nodes, each as often as there are bundles, are no more than this.
const SMALL_LEVELS: usize = 1 << 18;

/// Says which states of a level are wanted.
type Wanted<'w, 's> = dyn Fn(&mut Space<'s>, &Set) -> Result<Set, Cut> + 'w;

impl<'s> Space<'s> {
    /// A shortest run to a state that is wanted; nothing when no reachable state is, or images take more work than they
    /// may: each bundle goes through the nodes of each level.
    pub fn run_to(&mut self, wanted: &Wanted<'_, 's>, most: Option<usize>) -> Result<Option<Path>, Cut> {
        let diagrams = self.diagrams.clone();
        let mut levels = vec![self.initial.clone()];
        let mut seen = self.initial.clone();
        let mut work = 0;
        let found = loop {
            self.control.check()?;
            let here = levels[levels.len() - 1].clone();
            if !self.is_complete() {
                self.learn_all(&here)?;
            }
            let found = wanted(self, &here)?;
            if !found.is_empty() {
                break found;
            }
            let next = diagrams.difference(&self.after(&here)?, &seen)?;
            work += diagrams.nodes(&next) * self.bundles.len();
            if next.is_empty() || most.is_some_and(|most| work > most) {
                return Ok(None);
            }
            seen = diagrams.union(&seen, &next)?;
            levels.push(next);
        };
        let mut rows: Vec<Vec<Value>> = self.first(&found).into_iter().collect();
        for level in levels.iter().rev().skip(1) {
            self.control.check()?;
            let target = self.single(&rows[rows.len() - 1])?;
            let mut before = None;
            let resting = self.resting(level)?;
            for bundle in &self.bundles {
                let within = self.where_due(bundle, level, &resting);
                let sources = diagrams.preimage(&target, bundle.relation(), within)?;
                if let Some(row) = self.first(&sources) {
                    before = Some(row);
                    break;
                }
            }
            rows.push(before.expect("a state of a level has a predecessor in the level before"));
        }
        rows.reverse();
        self.path_along(rows).map(Some)
    }

    /// A shortest run to a state that is wanted, where these are all reachable ones that are, if everything was
    /// explored; nothing when there is none.
    pub fn shortest_run(&mut self, reached: &Set, wanted: &Wanted<'_, 's>) -> Result<Option<Path>, Cut> {
        if !self.is_complete() {
            return self.run_to(wanted, None);
        }
        if reached.is_empty() {
            return Ok(None);
        }
        let wanted = |space: &mut Space<'s>, level: &Set| Ok(space.diagrams.intersection(level, reached)?);
        if let Some(path) = self.run_to(&wanted, Some(SMALL_LEVELS))? {
            return Ok(Some(path));
        }
        match self.guided(reached, Counting::Steps)? {
            Some(rows) => self.path_along(rows.into_iter().map(|(_, row)| row).collect()).map(Some),
            None => self.run_to(&wanted, None),
        }
    }

    /// The run along these states, by steps with the least labels.
    fn path_along(&self, rows: Vec<Vec<Value>>) -> Result<Path, Cut> {
        let mut rows = rows.into_iter();
        let mut path = Path { start: rows.next().expect("a run begins somewhere"), steps: Vec::new() };
        for row in rows {
            let taken = step(self.system, path.last(), self.control, |_, target| target == row)?;
            let (label, row) = taken.expect("the relations have only steps of the system");
            path.steps.push(TakenStep { label, row });
        }
        Ok(path)
    }

    /// A shortest run to a state without steps in which the system may not rest.
    pub fn run_to_invalid_end(&mut self) -> Result<Option<Path>, Cut> {
        let states = self.states().clone();
        let reached = self.invalid_ends(&states)?;
        self.shortest_run(&reached, &|space, level| space.invalid_ends(level))
    }

    /// A shortest run whose last step shows an error of one of these kinds.
    pub fn run_to_error(&mut self, kinds: impl Fn(u32) -> bool) -> Result<Option<Path>, Cut> {
        let reached = self.erring(self.states(), &kinds)?;
        let run = self.shortest_run(&reached, &|space, level| space.erring(level, &kinds))?;
        let Some(mut path) = run else { return Ok(None) };
        let wrong = |label: LabelId, _: &[Value]| kinds(kind_of(self.system, label));
        let last = step(self.system, path.last(), self.control, wrong)?;
        let (label, row) = last.expect("a state that can err has such a step");
        path.steps.push(TakenStep { label, row });
        Ok(Some(path))
    }
}

/// The step of a state that is wanted and has the least label.
fn step(
    system: &dyn System,
    from: &[Value],
    control: &Control,
    wanted: impl Fn(LabelId, &[Value]) -> bool,
) -> Result<Option<(LabelId, Vec<Value>)>, Cut> {
    let mut least: Option<(LabelId, Vec<Value>)> = None;
    system.explorer(control).successors(from, &mut |step| {
        if wanted(step.label, step.row) {
            let is_less = |known: &(LabelId, Vec<Value>)| system.labels().compare(step.label, known.0).is_lt();
            if least.as_ref().is_none_or(is_less) {
                least = Some((step.label, step.row.to_vec()));
            }
        }
        Ok(())
    })?;
    Ok(least)
}
