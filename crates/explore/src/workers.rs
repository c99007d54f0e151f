//! Threads that run rounds together.
//!
//! The leader is one of the workers. A round is a list of pieces; workers take pieces until none is left, and the leader goes on when
//! all are back. A round with few states is run by the leader alone: waking threads costs more than it saves. A worker that
//! panics (a bug in a system, or a checking wrapper that found one) ends the round, and the panic goes on in the leader.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::frontier::{Frontier, Pieces};

/// Rounds of fewer states are not worth waking anybody.
const WORTH_SHARING: u64 = 64;

/// What a worker makes of its pieces: what to expand in this level still, and in the next.
#[derive(Default)]
pub(crate) struct Output {
    pub(crate) now: Frontier,
    pub(crate) next: Frontier,
    /// Was any state expanded? A level may consist of states that were claimed for the level before.
    pub(crate) expanded: bool,
}

/// What works on pieces; each lives on its own thread.
pub(crate) trait Worker {
    /// Works on one piece. `claimed`: its states are scheduled for good.
    fn work(&mut self, piece: &[Range<u32>], claimed: bool, output: &mut Output);
}

#[derive(Default)]
struct Board {
    round: u64,
    task: Option<Task>,
    running: usize,
    outputs: Vec<Output>,
    panic: Option<Box<dyn Any + Send>>,
    quit: bool,
}

#[derive(Clone)]
struct Task {
    pieces: Arc<Pieces>,
    next: Arc<AtomicUsize>,
    claimed: bool,
}

#[derive(Default)]
struct Office {
    board: Mutex<Board>,
    begin: Condvar,
    done: Condvar,
}

impl Office {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The leader's view of all workers.
pub(crate) struct Crew<'a, W> {
    office: &'a Office,
    own: W,
    others: usize,
}

/// Makes `threads` workers, one per thread, and lets `lead` run rounds with them; gives back what is left of each worker.
pub(crate) fn run_crew<W: Worker, R: Send>(
    threads: usize,
    make: impl Fn() -> W + Sync,
    finish: impl Fn(W) -> R + Sync,
    lead: impl FnOnce(&mut Crew<'_, W>),
) -> Vec<R> {
    let office = Office::default();
    thread::scope(|scope| {
        // However the leader leaves, the others must learn of it, or the scope would wait for ever.
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

struct Closing<'a>(&'a Office);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.board().quit = true;
        self.0.begin.notify_all();
    }
}

/// The next task that this thread has not seen yet; `None` when there will be none.
fn await_task(office: &Office, seen: &mut u64) -> Option<Task> {
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

fn run_task<W: Worker>(worker: &mut W, task: &Task) -> Output {
    let mut output = Output::default();
    while let Some(piece) = task.pieces.get(task.next.fetch_add(1, Ordering::Relaxed)) {
        worker.work(piece, task.claimed, &mut output);
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
    pub(crate) fn run(&mut self, pieces: Pieces, claimed: bool) -> Vec<Output> {
        let shared = self.others > 0 && pieces.states >= WORTH_SHARING;
        let task = Task { pieces: Arc::new(pieces), next: Arc::default(), claimed };
        if shared {
            let mut board = self.office.board();
            board.round += 1;
            board.task = Some(task.clone());
            board.running = self.others;
            self.office.begin.notify_all();
        }
        let own = run_task(&mut self.own, &task);
        if !shared {
            return vec![own];
        }
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
