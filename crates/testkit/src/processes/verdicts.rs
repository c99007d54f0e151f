//! What a check of a process must answer, from its denotation.
//!
//! A process refines another when its sets are subsets: its traces; its traces and stable failures; its failures and
//! divergences, both with everything added after each divergence. From a divergence of the specification on everything
//! is allowed, so behaviours after one are not compared; before it the added sets make no difference: a divergence of
//! the implementation alone is a violation already.
//!
//! The properties follow FDR: a process that has terminated can do nothing more and counts as deadlocked; and in the
//! failures-divergences model a divergence can refuse everything, so that it breaks deadlock freedom and determinism.

use trefoil_system::Model;

use super::alphabet::{Event, Events, TICK};
use super::denotation::{Denotation, Trace};

/// The answer to a check, with the least number of events (`✓` counted) that shows a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The length of a shortest violation, if one is known.
    pub violation: Option<usize>,
    /// When set, violations longer than this are not known.
    pub horizon: Option<usize>,
}

impl Verdict {
    /// Is a check with this shortest violation, or none, right?
    pub fn agrees(self, found: Option<usize>) -> bool {
        match (self.violation, found) {
            (None, Some(length)) => self.horizon.is_some_and(|horizon| length > horizon),
            (known, found) => known == found,
        }
    }

    /// The answer, if it is certain.
    pub fn holds(self) -> Option<bool> {
        match self {
            Verdict { violation: Some(_), .. } => Some(false),
            Verdict { horizon: None, .. } => Some(true),
            _ => None,
        }
    }
}

/// Does the implementation refine the specification?
pub fn refines(model: Model, specification: &Denotation, implementation: &Denotation) -> Verdict {
    let mut violations = Vec::new();
    for (trace, found) in implementation.traces() {
        if model == Model::FailuresDivergences && chaotic(specification, trace) {
            continue;
        }
        let Some(allowed) = specification.after(trace) else {
            violations.push(trace.len());
            continue;
        };
        if found.terminates && !allowed.terminates {
            violations.push(trace.len() + 1);
        }
        if model != Model::Traces && !found.refusals.within(&allowed.refusals) {
            violations.push(trace.len());
        }
        if model == Model::FailuresDivergences && found.diverges {
            violations.push(trace.len());
        }
    }
    let horizon = specification.horizon().into_iter().chain(implementation.horizon()).min();
    // Beyond the specification's horizon its traces are missing, not forbidden.
    let violation = violations.into_iter().min().filter(|&length| horizon.is_none_or(|horizon| length <= horizon));
    Verdict { violation, horizon }
}

/// Is the trace or one of its prefixes a divergence?
fn chaotic(process: &Denotation, trace: &Trace) -> bool {
    (0..=trace.len()).any(|length| process.after(&trace[..length]).is_some_and(|after| after.diverges))
}

/// Do both mean the same in a model, as far as is known?
pub fn equivalent(model: Model, left: &Denotation, right: &Denotation) -> bool {
    let one_way = |left, right| refines(model, left, right).violation.is_none();
    one_way(left, right) && one_way(right, left)
}

fn shortest(process: &Denotation, violations: impl Iterator<Item = usize>) -> Verdict {
    let horizon = process.horizon();
    Verdict { violation: violations.min().filter(|&length| horizon.is_none_or(|horizon| length <= horizon)), horizon }
}

/// Is it free of deadlock? Not in the traces model.
pub fn deadlock_free(model: Model, process: &Denotation) -> Verdict {
    assert!(model != Model::Traces, "traces say nothing about deadlock");
    let diverges = model == Model::FailuresDivergences;
    let violations = process.traces().filter_map(|(trace, after)| {
        if after.refusals.has(Events::ALL) || (diverges && after.diverges) {
            return Some(trace.len());
        }
        after.terminates.then_some(trace.len() + 1)
    });
    shortest(process, violations)
}

/// Does it never diverge?
pub fn divergence_free(process: &Denotation) -> Verdict {
    shortest(process, process.traces().filter(|(_, after)| after.diverges).map(|(trace, _)| trace.len()))
}

/// Is it deterministic: can it never refuse what it can also do (and, with divergences, does it never diverge)? Not in
/// the traces model. The length is that of the trace before the event.
pub fn deterministic(model: Model, process: &Denotation) -> Verdict {
    assert!(model != Model::Traces, "traces say nothing about determinism");
    let violations = process.traces().filter(|(trace, after)| {
        let refusable = after.refusals.greatest().iter().copied().fold(Events::NONE, Events::union);
        // At the horizon it is not known what comes next; the length below makes the answer unknown there.
        process.next(trace).meet(refusable) != Events::NONE || (model == Model::FailuresDivergences && after.diverges)
    });
    let verdict = shortest(process, violations.map(|(trace, _)| trace.len()));
    Verdict { horizon: verdict.horizon.map(|horizon| horizon - 1), ..verdict }
}

/// Has it the trace; with failures: can it not refuse it on the way; with divergences: nor diverge on the way? `None`
/// when the trace is beyond the horizon.
pub fn has_trace(model: Model, process: &Denotation, trace: &[Event]) -> Option<bool> {
    if process.horizon().is_some_and(|horizon| trace.len() > horizon) {
        return None;
    }
    if process.after(trace).is_none() {
        return Some(false);
    }
    let certain = |length: usize| {
        let after = process.after(&trace[..length]).expect("traces are closed under prefixes");
        (model == Model::Traces || !after.refusals.has(Events::one(trace[length])))
            && (model != Model::FailuresDivergences || !after.diverges)
    };
    debug_assert!(!trace.contains(&TICK), "a trace to look for has no termination");
    Some((0..trace.len()).all(certain))
}
