//! Every interleaving of a few operations of two workers, by loom, with tables of four slots, chunks of sixteen units
//! and probes of three slots, so that tables grow, overflow and lose races within a few creations.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Numbering, Options, Pool, Symbol, Term, Worker};

/// What a worker does.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// Makes `c_k`, `f(c_k, c_k)`, and keeps the latter on its stack.
    Make(usize),
    /// The same, and keeps neither.
    Drop(usize),
    /// Makes `c_k` and gives it a number.
    Number(usize),
    /// Polls.
    Poll,
    /// Leaves the section and collects everything.
    Collect,
}

/// Runs something in every interleaving with at most this many preemptions, and prints how many there were.
pub(crate) fn explore(name: &str, preemptions: Option<usize>, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 20_000;
    let explored = Arc::new(AtomicUsize::new(0));
    let counter = explored.clone();
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        run();
    });
    println!("{:>9} interleavings: {name}", explored.load(Ordering::Relaxed));
}

struct Symbols {
    constants: [Symbol; 4],
    f: Symbol,
}

/// What a worker saw: the numbers of constants.
type Seen = Vec<(usize, u32)>;

fn work(pool: &Pool, symbols: &Symbols, numbering: &Numbering, turns: &[Turn]) -> Seen {
    let mut worker = pool.worker();
    let mut stack = worker.stack();
    let mut made = Vec::new();
    let mut seen = Seen::new();
    let mut waiting = turns;
    while !waiting.is_empty() {
        let mut section = worker.enter();
        while let [turn, rest @ ..] = waiting {
            waiting = rest;
            match *turn {
                Turn::Make(k) => {
                    stack.push(double(&section, symbols, k));
                    made.push(k);
                }
                Turn::Drop(k) => {
                    double(&section, symbols, k);
                }
                Turn::Number(k) => {
                    let constant = section.create(symbols.constants[k], &[]);
                    seen.push((k, numbering.number(&section, constant)));
                }
                Turn::Poll => section.poll().expect("nothing stops it"),
                Turn::Collect => break,
            }
        }
        // What is on the stack is still the term that making it again gives, whichever thread collected meanwhile.
        for (&term, &k) in stack.iter().zip(&made) {
            assert_eq!(term, double(&section, symbols, k), "a term that is kept is the same when it is made again");
            assert_eq!(section.head(term), symbols.f);
            assert_eq!(section.head(section.argument(term, 1)), symbols.constants[k]);
        }
        drop(section);
        if turns.iter().any(|turn| matches!(turn, Turn::Collect)) {
            worker.collect_all();
        }
    }
    seen
}

fn double(section: &crate::Section<'_>, symbols: &Symbols, k: usize) -> Term {
    let constant = section.create(symbols.constants[k], &[]);
    section.create(symbols.f, &[constant, constant])
}

/// Two workers take these turns; afterwards no term is in the tables twice, and numbers are dense and agree.
fn model(preemptions: usize, collecting: bool, first: &'static [Turn], second: &'static [Turn]) {
    explore(&format!("{first:?} {second:?}"), Some(preemptions), move || {
        let pool = Pool::new(Options { collecting, young_bytes: 64, threads: 1, ..Options::default() });
        let symbols = Arc::new(Symbols {
            constants: [0, 1, 2, 3].map(|k| pool.symbol(&format!("c{k}"), 0)),
            f: pool.symbol("f", 2),
        });
        let numbering = pool.numbering();
        let other = {
            let (pool, symbols, numbering) = (pool.clone(), symbols.clone(), numbering.clone());
            loom::thread::spawn(move || work(&pool, &symbols, &numbering, second))
        };
        let mut seen = work(&pool, &symbols, &numbering, first);
        seen.extend(other.join().expect("no thread panics"));
        let mut worker: Worker = pool.worker();
        worker.audit().expect("every term once");
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), numbering.len(), "one number for each term");
        assert!(seen.windows(2).all(|pair| pair[0].0 != pair[1].0), "threads see the same number of a term: {seen:?}");
        let section = worker.enter();
        for (k, number) in seen {
            let term = numbering.term(number).expect("a number that was given");
            assert_eq!(section.head(term), symbols.constants[k]);
        }
    });
}

use Turn::{Collect, Drop, Make, Number, Poll};

#[test]
fn two_workers_make_the_same_terms() {
    model(2, false, &[Make(0)], &[Make(0)]);
    model(1, false, &[Make(0), Make(1)], &[Make(1), Make(0)]);
}

#[test]
fn a_table_overflows_without_a_poll() {
    model(1, false, &[Make(0), Make(1), Make(2)], &[Make(2), Make(3)]);
    model(2, false, &[Make(0), Make(1)], &[Number(2)]);
}

#[test]
fn a_table_grows_while_another_worker_creates() {
    model(2, false, &[Make(0), Poll, Make(1), Poll], &[Make(1)]);
}

#[test]
fn both_workers_grow_and_move() {
    model(1, false, &[Make(0), Poll, Make(1), Poll, Poll], &[Make(2), Poll, Make(0), Poll]);
}

#[test]
fn a_worker_collects_while_another_creates() {
    model(2, false, &[Drop(0), Collect], &[Make(0), Make(1)]);
}

#[test]
fn a_worker_collects_at_a_poll_while_another_creates() {
    model(1, true, &[Drop(0), Drop(1), Poll, Make(0)], &[Make(0), Poll, Make(1)]);
    model(2, true, &[Drop(0), Drop(1), Poll], &[Make(0)]);
}

#[test]
fn both_workers_collect() {
    model(1, true, &[Make(0), Poll, Drop(2), Collect], &[Make(1), Drop(0), Poll, Collect]);
}

#[test]
fn two_workers_number_the_same_terms() {
    model(2, false, &[Number(0), Number(1)], &[Number(1), Number(0)]);
}

#[test]
fn numbers_survive_a_collection() {
    model(2, false, &[Number(0), Collect, Number(0)], &[Number(1), Number(0)]);
}
