//! Runs of the system from lassos of its graph.
//!
//! A lasso has numbers of states, in the system or in its quotient; what is reported is a run with rows and labels. A
//! run of a quotient is unwound step by step to a run of the system. A cycle of a quotient leads to a renaming of the
//! state where it began, so it is repeated until the system is there again, as often as the order of the renaming says.

use std::collections::HashSet;

use trefoil_control::Control;
use trefoil_questions::Evidence;
use trefoil_symmetry::{Quotient, Unwinding};
use trefoil_system::{Cut, Path, TakenStep, Value};

use crate::folded::FoldedStep;
use crate::graph::Part;
use crate::lasso::{Chooser, Lasso};

/// The evidence that a lasso is: without the steps that repeat a last state.
pub(crate) fn evidence(chooser: &Chooser<'_>, graph: Part<'_>, lasso: Lasso) -> Result<Evidence, Cut> {
    let Lasso { mut stem, mut cycle, .. } = lasso;
    let rests = |state: &u32| graph.record(*state).is_some_and(|record| record.targets.is_empty());
    if cycle.is_empty() {
        // The last state is the one behind the letter that decided.
        if stem.len() > 1 {
            stem.pop();
        }
        if let Some(end) = stem.iter().position(rests) {
            stem.truncate(end + 1);
        }
        return Ok(Evidence::Prefix(run(chooser, &stem)?));
    }
    if let Some(end) = stem.iter().position(rests) {
        stem.truncate(end + 1);
        cycle.clear();
    }
    let path = run(chooser, &stem)?;
    let home = stem[stem.len() - 1];
    let cycle = chooser.run(home, cycle)?.steps;
    Ok(Evidence::Lasso { path, cycle })
}

/// A run through states, from the initial one.
pub(crate) fn run(chooser: &Chooser<'_>, stem: &[u32]) -> Result<Path, Cut> {
    chooser.run(stem[0], stem[1..].iter().map(|&state| (state, None)))
}

/// Evidence of a quotient as evidence of the system.
pub(crate) fn unwound(quotient: &Quotient<'_>, evidence: Evidence, control: &Control) -> Result<Evidence, Cut> {
    Ok(match evidence {
        Evidence::Prefix(path) => Evidence::Prefix(quotient.unwind(&path, control)?),
        Evidence::Lasso { path, cycle } => {
            let (path, cycle) = quotient.unwind_lasso(&path, &cycle, control)?;
            Evidence::Lasso { path, cycle }
        }
        other => other,
    })
}

/// Goes around a cycle of a quotient until the system is where it began.
pub(crate) fn around(
    chooser: &Chooser<'_>,
    unwinding: &mut Unwinding<'_>,
    home: &[Value],
    round: &[FoldedStep],
    control: &Control,
) -> Result<Vec<TakenStep>, Cut> {
    let rows: Vec<Vec<Value>> = round.iter().map(|&(state, _)| chooser.row(state)).collect();
    let mut cycle: Vec<TakenStep> = Vec::new();
    // A round permutes the states of an orbit, so none comes twice before the first one.
    let mut ends: HashSet<Vec<Value>> = HashSet::new();
    loop {
        for (row, (_, place)) in rows.iter().zip(round) {
            let place = place.expect("a round that moves moves on");
            if cycle.len() == cycle.capacity() {
                control.afford(cycle.len() * 2 * (size_of::<TakenStep>() + size_of_val(&row[..])))?;
            }
            cycle.push(unwinding.step_at(row, place as usize)?);
        }
        let end = cycle.last().map_or(home, |last| &last.row[..]);
        if end == home {
            return Ok(cycle);
        }
        assert!(ends.insert(end.to_vec()), "a round of a quotient comes back to where it began");
    }
}
