//! Threads that run rounds together.
//!
//! The leader is one of the workers. A round is a list of pieces; workers take pieces until none is left, and the
//! leader continues when all are done. A round with few states is run by the leader alone: waking threads costs more
//! than it saves. A waiting thread polls a few thousand times before it sleeps, because the next round usually starts
//! soon, and waking a thread takes longer; with more threads than processors no thread polls, since the thread that it
//! waits for may need the processor. A worker that panics (a bug in a system, or a checking wrapper that found one)
//! ends the round, and the panic continues in the leader.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::frontier::Pieces;

/// Rounds of fewer states are not worth waking other threads.
const WORTH_SHARING: u64 = 64;

/// How often a thread polls before it sleeps: some tens of microseconds.
const LOOKS: u32 = 2000;

/// A worker on pieces; each lives on its own thread.
pub(crate) trait Worker {
    /// What is to be done with the pieces of a round.
    type Job: Send + Sync;
    /// What a worker makes of its pieces of a round.
    type Output: Default + Send;

    /// Works on one piece.
    fn work(&mut self, piece: &[Range<u32>], job: &Self::Job, output: &mut Self::Output);
}

struct Board<W: Worker> {
    round: u64,
    task: Option<Arc<Task<W::Job>>>,
    running: usize,
    outputs: Vec<W::Output>,
    panic: Option<Box<dyn Any + Send>>,
    quit: bool,
}

struct Task<J> {
    pieces: Pieces,
    next: AtomicUsize,
    job: J,
}

struct Office<W: Worker> {
    board: Mutex<Board<W>>,
    begin: Condvar,
    done: Condvar,
    /// Copies of the round and of the number of running workers, for polling without the lock; only hints.
    round: AtomicU64,
    running: AtomicUsize,
    looks: u32,
}

impl<W: Worker> Office<W> {
    fn new(threads: usize) -> Office<W> {
        let board = Board { round: 0, task: None, running: 0, outputs: Vec::new(), panic: None, quit: false };
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Office {
            board: Mutex::new(board),
            begin: Condvar::new(),
            done: Condvar::new(),
            round: AtomicU64::new(0),
            running: AtomicUsize::new(0),
            looks: if threads <= processors { LOOKS } else { 0 },
        }
    }

    /// Polls for something that is likely to happen soon.
    fn look_for(&self, what: impl Fn(&Self) -> bool) {
        for _ in 0..self.looks {
            if what(self) {
                return;
            }
            std::hint::spin_loop();
        }
    }

    fn board(&self) -> MutexGuard<'_, Board<W>> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The leader's view of all workers.
pub(crate) struct Crew<'a, W: Worker> {
    office: &'a Office<W>,
    own: W,
    others: usize,
}

/// Makes `threads` workers, one per thread, and lets `lead` run rounds with them; returns what each worker leaves.
pub(crate) fn run_crew<W: Worker, R: Send>(
    threads: usize,
    make: impl Fn() -> W + Sync,
    finish: impl Fn(W) -> R + Sync,
    lead: impl FnOnce(&mut Crew<'_, W>),
) -> Vec<R> {
    let office = Office::<W>::new(threads);
    thread::scope(|scope| {
        // However the leader leaves, the other threads must notice, or the scope would wait forever.
        let closing = Closing(&office);
        let others: Vec<_> = (1..threads)
            .map(|_| {
                scope.spawn(|| {
                    let (mut worker, mut seen) = (None, 0);
                    while let Some(task) = await_task(&office, &mut seen) {
                        let outcome =
                            catch_unwind(AssertUnwindSafe(|| run_task(worker.get_or_insert_with(&make), &task)));
                        let mut board = office.board();
                        match outcome {
                            Ok(output) => board.outputs.push(output),
                            Err(panic) => board.panic = Some(panic),
                        }
                        board.running -= 1;
                        office.running.store(board.running, Ordering::Relaxed);
                        if board.running == 0 {
                            office.done.notify_one();
                        }
                    }
                    worker.map(&finish)
                })
            })
            .collect();
        let mut crew = Crew { office: &office, own: make(), others: others.len() };
        lead(&mut crew);
        let mut results = vec![finish(crew.own)];
        drop(closing);
        for other in others {
            match other.join() {
                Ok(result) => results.extend(result),
                Err(panic) => resume_unwind(panic),
            }
        }
        results
    })
}

struct Closing<'a, W: Worker>(&'a Office<W>);

impl<W: Worker> Drop for Closing<'_, W> {
    fn drop(&mut self) {
        self.0.board().quit = true;
        self.0.round.store(u64::MAX, Ordering::Relaxed);
        self.0.begin.notify_all();
    }
}

/// The next task that this thread has not seen yet; `None` when there will be none.
fn await_task<W: Worker>(office: &Office<W>, seen: &mut u64) -> Option<Arc<Task<W::Job>>> {
    office.look_for(|office| office.round.load(Ordering::Relaxed) != *seen);
    let mut board = office.board();
    loop {
        if board.quit {
            return None;
        }
        if board.round != *seen {
            *seen = board.round;
            return board.task.clone();
        }
        board = office.begin.wait(board).unwrap_or_else(PoisonError::into_inner);
    }
}

fn run_task<W: Worker>(worker: &mut W, task: &Task<W::Job>) -> W::Output {
    let mut output = W::Output::default();
    while let Some(piece) = task.pieces.get(task.next.fetch_add(1, Ordering::Relaxed)) {
        worker.work(piece, &task.job, &mut output);
    }
    output
}

impl<W: Worker> Crew<'_, W> {
    /// The leader's own worker.
    pub(crate) fn own(&mut self) -> &mut W {
        &mut self.own
    }

    /// How many workers there are.
    pub(crate) fn len(&self) -> usize {
        self.others + 1
    }

    /// Runs a round.
    pub(crate) fn run(&mut self, pieces: Pieces, job: W::Job) -> Vec<W::Output> {
        let shared = self.others > 0 && pieces.states >= WORTH_SHARING;
        let task = Arc::new(Task { pieces, next: AtomicUsize::new(0), job });
        if shared {
            let mut board = self.office.board();
            board.round += 1;
            board.task = Some(task.clone());
            board.running = self.others;
            self.office.round.store(board.round, Ordering::Relaxed);
            self.office.running.store(self.others, Ordering::Relaxed);
            self.office.begin.notify_all();
        }
        let own = run_task(&mut self.own, &task);
        if !shared {
            return vec![own];
        }
        self.office.look_for(|office| office.running.load(Ordering::Relaxed) == 0);
        let mut board = self.office.board();
        while board.running > 0 {
            board = self.office.done.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(panic) = board.panic.take() {
            drop(board);
            resume_unwind(panic);
        }
        board.task = None;
        let mut outputs = std::mem::take(&mut board.outputs);
        outputs.push(own);
        outputs
    }
}
