//! Stopping all workers for a collection.
//!
//! A worker *runs* between [`Gate::enter`] and [`Gate::leave`]. A worker that needs a collection says so
//! ([`Gate::want`]) and pauses; the others see it at their polls and pause as well, each with everything that it still
//! needs written down as a root. The last one to pause finds no other one running, does the work, and lets all go on. A
//! worker that enters meanwhile waits.
//!
//! This is not the busy-forbidden lock of `terms`. There a thread enters and leaves a section for a few terms, so that
//! entering must touch its own cache line alone. A worker here enters once for a whole task, a few thousand times a
//! second, and polls by reading a flag; a mutex is enough, and it is the plainer proof.
//!
//! Invariant: [`Gate::want`] is followed by [`Gate::pause`] on the same thread; so a wish is always fulfilled.

use crate::sync::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering, locked, waited};

#[derive(Default)]
pub(crate) struct Gate {
    wanted: AtomicBool,
    running: Mutex<Running>,
    changed: Condvar,
}

#[derive(Default)]
struct Running {
    workers: usize,
    /// Threads that wait at the condition.
    waiting: usize,
}

impl Gate {
    /// Does a worker wait for the others to pause?
    #[inline]
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Asks all workers to pause. The caller pauses next.
    pub(crate) fn want(&self) {
        let _running = locked(&self.running);
        self.wanted.store(true, Ordering::Relaxed);
    }

    /// Begins to run.
    pub(crate) fn enter(&self) {
        let mut running = locked(&self.running);
        while self.is_wanted() {
            running = self.wait(running);
        }
        running.workers += 1;
    }

    /// Ends running.
    pub(crate) fn leave(&self) {
        let mut running = locked(&self.running);
        running.workers -= 1;
        self.notify(&running);
    }

    /// Pauses until the work was done, by this worker or another one.
    pub(crate) fn pause(&self, work: impl Fn()) {
        let mut running = locked(&self.running);
        running.workers -= 1;
        self.notify(&running);
        while self.is_wanted() {
            if running.workers == 0 {
                work();
                self.wanted.store(false, Ordering::Relaxed);
                self.notify(&running);
            } else {
                running = self.wait(running);
            }
        }
        running.workers += 1;
    }

    /// Waits until no worker runs.
    pub(crate) fn wait_until_empty(&self) {
        let mut running = locked(&self.running);
        while running.workers > 0 {
            running = self.wait(running);
        }
    }

    fn wait<'g>(&self, mut running: MutexGuard<'g, Running>) -> MutexGuard<'g, Running> {
        running.waiting += 1;
        running = waited(&self.changed, running);
        running.waiting -= 1;
        running
    }

    /// Wakes the threads that wait; without one, the system call of a notification is saved.
    fn notify(&self, running: &Running) {
        if running.waiting > 0 {
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn no_worker_runs_while_the_work_is_done() {
        struct Data {
            gate: Gate,
            working: AtomicBool,
        }
        // What a worker does: `w` wants the work and pauses, `p` polls.
        fn run(data: &Data, turns: &str) {
            data.gate.enter();
            for turn in turns.chars() {
                if turn == 'w' {
                    data.gate.want();
                }
                if data.gate.is_wanted() {
                    data.gate.pause(|| {
                        assert!(!data.working.swap(true, Ordering::Relaxed), "one worker at a time");
                        data.working.store(false, Ordering::Relaxed);
                    });
                }
                assert!(!data.working.load(Ordering::Relaxed), "a worker runs during the work");
            }
            data.gate.leave();
        }
        for turns in [["w", "p"], ["w", "w"], ["pw", "pp"]] {
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = Some(3);
            builder.check(move || {
                let data = Arc::new(Data { gate: Gate::default(), working: AtomicBool::new(false) });
                let other = {
                    let data = data.clone();
                    loom::thread::spawn(move || run(&data, turns[1]))
                };
                run(&data, turns[0]);
                other.join().expect("no panic");
                data.gate.wait_until_empty();
                assert!(!data.gate.is_wanted());
            });
        }
    }
}
