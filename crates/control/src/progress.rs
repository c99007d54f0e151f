//! Counters that a job writes and a face reads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shared counters of a job. Writers add in batches; readers take a [`Snapshot`].
#[derive(Default)]
pub struct Progress {
    phase: Mutex<Phase>,
    done: AtomicU64,
    total: AtomicU64,
    states: AtomicU64,
    transitions: AtomicU64,
    depth: AtomicU64,
    vertices: AtomicBool,
    detail: Mutex<String>,
    growth: Mutex<Growth>,
}

/// How the number of states grew with the levels of a phase.
#[derive(Default)]
struct Growth {
    now: Levels,
    /// Of the earlier phase with the most states.
    kept: Levels,
}

/// The number of states at the beginnings of levels.
#[derive(Clone, Default)]
struct Levels {
    /// Every so many levels, as a power of two.
    stride: u32,
    entries: Vec<(u64, u64)>,
}

impl Levels {
    /// More entries than this are thinned out.
    const MOST: usize = 512;

    /// How many states there were at the last level.
    fn states(&self) -> u64 {
        self.entries.last().map_or(0, |&(_, states)| states)
    }

    fn add(&mut self, level: u64, states: u64) {
        if !level.is_multiple_of(1 << self.stride) {
            return;
        }
        self.entries.push((level, states));
        if self.entries.len() > Levels::MOST {
            self.stride += 1;
            let every = 1u64 << self.stride;
            self.entries.retain(|(level, _)| level.is_multiple_of(every));
        }
    }
}

/// What is being done.
#[derive(Default)]
struct Phase {
    /// What it is part of; empty when it is the whole job.
    whole: String,
    part: String,
}

/// The counters at one moment. Zero means that the phase does not count this.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// What is being done, in a few words.
    pub phase: String,
    /// Units of work done, out of `total` when that is known.
    pub done: u64,
    /// Units of work in all.
    pub total: u64,
    /// States found.
    pub states: u64,
    /// Transitions found.
    pub transitions: u64,
    /// Levels or rounds.
    pub depth: u64,
    /// Whether the states and transitions are vertices and edges of a game.
    pub vertices: bool,
    /// What else the phase says about itself; often nothing.
    pub detail: String,
}

impl Progress {
    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on phases are reported as parts of this, until it is changed or cleared.
    pub fn within(&self, whole: &str) {
        self.phase().whole = whole.to_string();
    }

    /// Begins a phase: the counters start from zero.
    pub fn begin(&self, phase: &str, total: u64) {
        self.phase().part = phase.to_string();
        for counter in [&self.done, &self.states, &self.transitions, &self.depth] {
            counter.store(0, Ordering::Relaxed);
        }
        self.total.store(total, Ordering::Relaxed);
        self.vertices.store(false, Ordering::Relaxed);
        self.detail(String::new());
        let mut growth = self.growth.lock().unwrap_or_else(PoisonError::into_inner);
        let now = std::mem::take(&mut growth.now);
        if now.states() > growth.kept.states() {
            growth.kept = now;
        }
    }

    /// How the number of states grew: levels with the number of states found before each, some of them if there are
    /// many. Of the phases of a job, that with the most states counts; nothing where no phase counted states.
    pub fn growth(&self) -> Vec<(u64, u64)> {
        let growth = self.growth.lock().unwrap_or_else(PoisonError::into_inner);
        let largest = if growth.now.states() >= growth.kept.states() { &growth.now } else { &growth.kept };
        if largest.states() == 0 { Vec::new() } else { largest.entries.clone() }
    }

    /// From now on this phase counts vertices and edges of a game, and not states and transitions.
    pub fn counts_vertices(&self) {
        self.vertices.store(true, Ordering::Relaxed);
    }

    /// Says something about the phase beside its counters.
    pub fn detail(&self, text: String) {
        *self.detail.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// Sets the units of work done.
    pub fn done(&self, units: u64) {
        self.done.store(units, Ordering::Relaxed);
    }

    /// Adds to the numbers of states and transitions.
    pub fn add(&self, states: u64, transitions: u64) {
        self.states.fetch_add(states, Ordering::Relaxed);
        self.transitions.fetch_add(transitions, Ordering::Relaxed);
    }

    /// Sets the level or round.
    pub fn depth(&self, depth: u64) {
        self.depth.store(depth, Ordering::Relaxed);
        let states = self.states.load(Ordering::Relaxed);
        self.growth.lock().unwrap_or_else(PoisonError::into_inner).now.add(depth, states);
    }

    /// The counters now.
    pub fn snapshot(&self) -> Snapshot {
        let phase = match &*self.phase() {
            Phase { whole, part } if whole.is_empty() => part.clone(),
            Phase { whole, part } => format!("{whole}: {part}"),
        };
        Snapshot {
            phase,
            done: self.done.load(Ordering::Relaxed),
            total: self.total.load(Ordering::Relaxed),
            states: self.states.load(Ordering::Relaxed),
            transitions: self.transitions.load(Ordering::Relaxed),
            depth: self.depth.load(Ordering::Relaxed),
            vertices: self.vertices.load(Ordering::Relaxed),
            detail: self.detail.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_phase_starts_from_zero() {
        let progress = Progress::default();
        progress.begin("reading", 10);
        progress.add(3, 4);
        progress.detail("half of it".to_string());
        assert_eq!(progress.snapshot().detail, "half of it");
        progress.begin("searching", 0);
        assert_eq!(progress.snapshot(), Snapshot { phase: "searching".into(), ..Snapshot::default() });
    }

    /// Rounds of a phase that counts no states, as those of minimising, are no growth.
    #[test]
    fn growth_is_that_of_the_phase_with_the_most_states() {
        let progress = Progress::default();
        progress.begin("minimising", 0);
        (1..9).for_each(|round| progress.depth(round));
        assert_eq!(progress.growth(), []);
        progress.begin("exploring", 0);
        for level in 1..4 {
            progress.add(10, 0);
            progress.depth(level);
        }
        progress.begin("replaying", 0);
        (1..9).for_each(|step| progress.depth(step));
        assert_eq!(progress.growth(), [(1, 10), (2, 20), (3, 30)]);
    }

    #[test]
    fn a_phase_is_told_as_a_part() {
        let progress = Progress::default();
        progress.within("compiling P");
        progress.begin("composing", 0);
        assert_eq!(progress.snapshot().phase, "compiling P: composing");
        progress.within("");
        assert_eq!(progress.snapshot().phase, "composing");
    }
}
