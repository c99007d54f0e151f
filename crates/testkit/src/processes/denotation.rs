//! What a process means: its traces, its stable failures and its divergences, as sets.
//!
//! The sets are those of Roscoe, *The Theory and Practice of Concurrency* (1998, with its later corrections) and
//! *Understanding Concurrent Systems* (2010): `s` is a trace; `(s, X)` is a stable failure when the process can after
//! `s` reach a stable state that refuses all of `X ⊆ Σ ∪ {✓}`; `s` is a divergence when the process has an infinite
//! sequence of internal steps after `s`. They are kept for `s ∈ Σ*` only: a trace that ends in `✓` is noted at the
//! trace before it, everything is refused after it and nothing diverges. Termination is a signal, so `(s, X)` is a
//! failure whenever `s^<✓>` is a trace and `✓ ∉ X`.
//!
//! The divergences here are those the process itself has: nothing is added after a divergence. From these three sets
//! the failures-divergences model is obtained by adding every behaviour after each divergence, which
//! [`super::verdicts`] does where it compares. (All operators are compositional on the triple without closing it: this
//! is what congruence with the operational semantics needs, and closing it afterwards gives the same as closing it at
//! every operator, since both are congruent.)
//!
//! Refusals are closed under subsets, so only the greatest are kept.
//!
//! `RUN`, `CHAOS` and recursions have infinitely many traces. A denotation may therefore have a *horizon* `h`: it has
//! exactly the behaviours after traces of at most `h` events. In every operator that hides nothing, a trace of the
//! whole is made of traces of the parts that are not longer (`✓` not counted), so the horizon of the whole is the least
//! of the parts'. A denotation with horizon `h` that has no trace of `h` events has none that are longer, traces being
//! closed under prefixes: it is complete and the horizon is forgotten. Hiding, and linking, of a denotation that is not
//! complete is refused, since a short trace may come from a long one; but see [`super::equations`] for `RUN(A) \ B`.

use std::collections::BTreeMap;

use super::alphabet::{Event, Events};

/// Events in the order in which they happened, without `✓`.
pub type Trace = Vec<Event>;

/// The greatest sets that can be refused: none is in another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusals(Vec<Events>);

impl Refusals {
    /// All subsets of one set.
    pub fn one(set: Events) -> Refusals {
        Refusals(vec![set])
    }

    /// The greatest sets.
    pub fn greatest(&self) -> &[Events] {
        &self.0
    }

    /// Can all of this be refused?
    pub fn has(&self, set: Events) -> bool {
        self.0.iter().any(|&greatest| set.within(greatest))
    }

    /// Adds a set with all its subsets.
    pub fn add(&mut self, set: Events) {
        if !self.has(set) {
            self.0.retain(|&other| !other.within(set));
            self.0.push(set);
            self.0.sort_unstable();
        }
    }

    /// Is every refusal one of the other's?
    pub fn within(&self, other: &Refusals) -> bool {
        self.0.iter().all(|&set| other.has(set))
    }

    /// The subsets of `combine(Y, Z)` for greatest `Y` here and `Z` there; for a `combine` that grows with both.
    pub fn combine(&self, other: &Refusals, combine: impl Fn(Events, Events) -> Events) -> Refusals {
        let mut all = Refusals::default();
        for &left in &self.0 {
            for &right in &other.0 {
                all.add(combine(left, right));
            }
        }
        all
    }
}

/// What is known of a process after one trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct After {
    /// Is the trace with `✓` added a trace?
    pub terminates: bool,
    /// The sets of events that can be refused stably.
    pub refusals: Refusals,
    /// Is the trace a divergence?
    pub diverges: bool,
}

impl After {
    /// A trace after which a set and its subsets are refused.
    pub fn refuses(set: Events) -> After {
        After { refusals: Refusals::one(set), ..After::default() }
    }

    /// A trace after which `✓` is possible: then all but `✓` can be refused.
    pub fn terminated() -> After {
        After { terminates: true, ..After::refuses(Events::SIGMA) }
    }

    /// A trace that is a divergence.
    pub fn divergence() -> After {
        After { diverges: true, ..After::default() }
    }
}

/// Why a process has no denotation here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// It has more traces than is sensible.
    TooLarge,
    /// Infinitely many traces would be hidden.
    HidesTheInfinite,
    /// A recursion is not [well founded](super::Process::well_founded).
    Unfounded,
}

/// How many traces a denotation may have, and how many pairs of traces an operator may look at.
const MOST_TRACES: usize = 400;
const MOST_PAIRS: usize = 12_000;

/// Behaviours after traces of at most this many events are known of what is infinite.
pub const HORIZON: usize = 5;

/// The meaning of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denotation {
    after: BTreeMap<Trace, After>,
    horizon: Option<usize>,
}

impl Denotation {
    /// No trace at all yet: every process has at least the empty one. With the horizon of its parts.
    pub(super) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a Denotation>) -> Denotation {
        Denotation { after: BTreeMap::new(), horizon: parts.into_iter().filter_map(|part| part.horizon).min() }
    }

    /// The same, for what is infinite.
    pub(super) fn infinite() -> Denotation {
        Denotation { after: BTreeMap::new(), horizon: Some(HORIZON) }
    }

    /// Only the behaviours after traces of at most this many events.
    pub(super) fn known_to(mut self, horizon: usize) -> Denotation {
        self.after.retain(|trace, _| trace.len() <= horizon);
        self.horizon = Some(horizon);
        self
    }

    /// A trace is possible, and these are behaviours after it.
    pub(super) fn add(&mut self, trace: Trace, after: After) {
        if self.horizon.is_some_and(|horizon| trace.len() > horizon) {
            return;
        }
        let entry = self.after.entry(trace).or_default();
        entry.terminates |= after.terminates;
        entry.diverges |= after.diverges;
        for &set in after.refusals.greatest() {
            entry.refusals.add(set);
        }
    }

    /// Everything was added.
    pub(super) fn finished(mut self) -> Result<Denotation, Beyond> {
        if self.after.len() > MOST_TRACES {
            return Err(Beyond::TooLarge);
        }
        if self.horizon.is_some_and(|horizon| self.after.keys().all(|trace| trace.len() < horizon)) {
            self.horizon = None;
        }
        Ok(self)
    }

    /// Refuses what would take too long.
    pub(super) fn pairs(left: &Denotation, right: &Denotation) -> Result<(), Beyond> {
        if left.after.len() * right.after.len() > MOST_PAIRS { Err(Beyond::TooLarge) } else { Ok(()) }
    }

    /// The traces without `✓`, with what is known after each.
    pub fn traces(&self) -> impl Iterator<Item = (&Trace, &After)> {
        self.after.iter()
    }

    /// What is known after a trace, if it is one.
    pub fn after(&self, trace: &[Event]) -> Option<&After> {
        self.after.get(trace)
    }

    /// What is known at the beginning.
    pub fn initially(&self) -> &After {
        &self.after[&Vec::new()]
    }

    /// When set, only behaviours after traces of at most this many events are here, and the process may have more.
    pub fn horizon(&self) -> Option<usize> {
        self.horizon
    }

    /// The events that some trace goes on with after this one, `✓` included.
    pub fn next(&self, trace: &[Event]) -> Events {
        let mut longer = trace.to_vec();
        let mut events = Events::NONE;
        for event in Events::SIGMA.members() {
            longer.push(event);
            if self.after.contains_key(&longer) {
                events = events.union(Events::one(event));
            }
            longer.pop();
        }
        match self.after.get(trace) {
            Some(after) if after.terminates => events.union(Events::one(super::TICK)),
            _ => events,
        }
    }

    /// Checks the healthiness conditions that are not built into the representation; the error says which one is
    /// violated.
    ///
    /// Traces are closed under prefixes; what cannot happen can be refused (with any refusal); where `✓` is possible
    /// all else can be refused; and after each trace the process becomes stable or diverges.
    pub fn healthy(&self) -> Result<(), String> {
        if !self.after.contains_key(&Vec::new()) {
            return Err("there is no empty trace".into());
        }
        for (trace, after) in &self.after {
            if let Some((_, shorter)) = trace.split_last()
                && !self.after.contains_key(shorter)
            {
                return Err(format!("{trace:?} is a trace but not its prefix"));
            }
            // Beyond the horizon it is not known what can happen.
            if self.horizon != Some(trace.len()) {
                let impossible = Events::ALL.without(self.next(trace));
                if let Some(refusal) = after.refusals.greatest().iter().find(|&&set| !impossible.within(set)) {
                    return Err(format!(
                        "after {trace:?}, {impossible:?} cannot happen, but {refusal:?} is refused without it"
                    ));
                }
            }
            if after.terminates && !after.refusals.has(Events::SIGMA) {
                return Err(format!("after {trace:?}, termination is possible but not all else refused"));
            }
            if after.refusals.greatest().is_empty() && !after.diverges {
                return Err(format!("after {trace:?}, the process neither rests nor diverges"));
            }
        }
        Ok(())
    }
}
