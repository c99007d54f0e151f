//! Replay of runs that violate a claim: the run is walked, and the letters of its states are read again.

use trefoil_control::Control;

use super::{Rejection, replay_path, walk};
use crate::cut::Cut;
use crate::layout::Value;
use crate::marks::{MarkId, Meaning};
use crate::transitions::{Explorer, System};
use crate::witness::{Path, TakenStep};

/// A run that never ends, as a claim sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LassoWord {
    /// The propositions that hold, one set for each position.
    pub letters: Vec<u64>,
    /// Those that have no value there; what the letters say of them means nothing.
    pub undefined: Vec<u64>,
    /// The position behind the last one.
    pub back_to: usize,
    /// For each position, does a step from it to the next one pass what counts ([`Step::passes`])?
    ///
    /// [`Step::passes`]: crate::transitions::Step::passes
    pub passes: Vec<bool>,
}

/// Walks a run into a cycle and reads its letters. Where the cycle is empty the last state must have no steps. A
/// claim's proposition `i` is the system's `propositions[i]`: a bit of its marks that show propositions.
pub fn replay_lasso(
    system: &dyn System,
    propositions: &[u32],
    path: &Path,
    cycle: &[TakenStep],
    control: &Control,
) -> Result<LassoWord, Rejection> {
    replay_path(system, path, control)?;
    walk(system, path.last(), cycle, path.steps.len(), control)?;
    let mut explorer = system.explorer(control);
    if cycle.is_empty() {
        let moves = Cut::had_enough(explorer.successors(path.last(), &mut |_| Err(Cut::Enough)))?;
        if moves {
            return Err(Rejection::WrongEnd);
        }
    } else if cycle.last().is_none_or(|step| step.row != path.last()) {
        return Err(Rejection::NoCycle);
    }
    let rows = rows(path).chain(cycle[..cycle.len().saturating_sub(1)].iter().map(|step| &step.row[..]));
    let (letters, undefined) = letters(system, propositions, rows, &mut *explorer)?;
    let mut passes = vec![false; path.steps.len()];
    let mut here = path.last();
    for taken in cycle {
        let mut own = false;
        explorer.successors(here, &mut |step| {
            own |= step.passes && step.label == taken.label && step.row == taken.row;
            Ok(())
        })?;
        passes.push(own);
        here = &taken.row;
    }
    passes.resize(letters.len(), false);
    Ok(LassoWord { letters, undefined, back_to: path.steps.len(), passes })
}

/// The agents that are enabled and that take part, on a step of a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleStep {
    /// The agents that can initiate a step where it begins, ascending.
    pub enabled: Vec<u32>,
    /// Those that take part in it; the union over steps with this label and target.
    pub moving: Vec<u32>,
}

/// The agents of the steps of a cycle that begins in a state.
pub fn replay_agents(
    system: &dyn System,
    from: &[Value],
    cycle: &[TakenStep],
    control: &Control,
) -> Result<Vec<CycleStep>, Rejection> {
    let mut explorer = system.explorer(control);
    let mut here = from;
    let mut steps = Vec::with_capacity(cycle.len());
    for taken in cycle {
        let mut own = CycleStep { enabled: Vec::new(), moving: Vec::new() };
        explorer.successors(here, &mut |step| {
            own.enabled.extend(step.agents.first());
            if step.label == taken.label && step.row == taken.row {
                own.moving.extend(step.agents);
            }
            Ok(())
        })?;
        own.enabled.sort_unstable();
        own.enabled.dedup();
        steps.push(own);
        here = &taken.row;
    }
    Ok(steps)
}

/// Walks a run and reads its letters; the last state counts as repeated forever.
pub fn replay_prefix(
    system: &dyn System,
    propositions: &[u32],
    path: &Path,
    control: &Control,
) -> Result<LassoWord, Rejection> {
    replay_path(system, path, control)?;
    let (letters, undefined) = letters(system, propositions, rows(path), &mut *system.explorer(control))?;
    let passes = vec![false; letters.len()];
    Ok(LassoWord { letters, undefined, back_to: path.steps.len(), passes })
}

fn rows(path: &Path) -> impl Iterator<Item = &[Value]> {
    std::iter::once(&path.start[..]).chain(path.steps.iter().map(|step| &step.row[..]))
}

/// The letters of some states, and which propositions have no value there.
fn letters<'r>(
    system: &dyn System,
    propositions: &[u32],
    rows: impl Iterator<Item = &'r [Value]>,
    explorer: &mut dyn Explorer,
) -> Result<(Vec<u64>, Vec<u64>), Rejection> {
    let (shown, undefined) = (marks(system, Meaning::Proposition), marks(system, Meaning::Undefined));
    let (mut letters, mut without) = (Vec::new(), Vec::new());
    for row in rows {
        letters.push(letter(system, propositions, &shown, row, explorer)?);
        without.push(if undefined.is_empty() { 0 } else { letter(system, propositions, &undefined, row, explorer)? });
    }
    Ok((letters, without))
}

fn marks(system: &dyn System, meaning: Meaning) -> Vec<MarkId> {
    (0u32..).zip(system.marks()).filter(|(_, mark)| mark.meaning == meaning).map(|(at, _)| MarkId(at)).collect()
}

/// The bits of some propositions in these marks.
fn letter(
    system: &dyn System,
    propositions: &[u32],
    marks: &[MarkId],
    row: &[Value],
    explorer: &mut dyn Explorer,
) -> Result<u64, Cut> {
    let mut letter = 0;
    for (own, &proposition) in propositions.iter().enumerate() {
        let mark = marks[proposition as usize / 32];
        let mut reads = Vec::new();
        system.marks()[mark.index()].reads.values(row, &mut reads);
        letter |= u64::from(explorer.mark(mark, &reads)? >> (proposition % 32) & 1) << own;
    }
    Ok(letter)
}
