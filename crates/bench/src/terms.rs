//! Terms, beside `merc_aterm` in the same run: the six benchmarks of figure 5.4 of M. Laveaux' thesis, what the lock
//! costs, and what collections cost.
//!
//! `t_0 = c`, `t_i = f(t_{i-1}, t_{i-1})`. (a) every thread makes `t_n`; (b) each makes `t_{n/threads}` from a constant
//! of its own; (c) `t_400000` again and again while a copy lives; (d) the same from constants of their own; (e)
//! breadth-first walks of `t_20` as a tree of 2^21 − 1 nodes; (f) the same of terms of their own. Collection is off in
//! all six.
//!
//! A row is repeated until it ran for a second, and the median of its repetitions counts. Each row of each library is
//! measured in a process of its own, because terms, tables and freed memory of another row change the times. Times are
//! those of one creation, or of one node of a walk, over all threads: wall time, and processor time in brackets.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, RwLock};
use std::time::{Duration, Instant};

use merc_aterm::storage::THREAD_TERM_POOL;
use merc_aterm::{ATerm, ATermRef, Symbol as MercSymbol, Term as _};
use trefoil_control::{human_bytes, resident_memory};
use trefoil_terms::{Options, Pool, RootStack, Section, Symbol, Term};

const NEW: usize = 10_000_000;
const EXISTING: usize = 400_000;
const WALKED: usize = 20;
/// Steps between two polls.
const STEPS: usize = 1_000;

/// What a row took for one operation.
#[derive(Clone, Copy)]
struct Taken {
    wall: f64,
    processor: f64,
}

impl std::fmt::Display for Taken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{:.2} ({:.2})", self.wall, self.processor))
    }
}

/// The processor time of this process.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks: u64 = [11, 12].iter().filter_map(|&at| fields.get(at)?.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// Repeats for a second or more; a repetition gives how long its threads took. Nanoseconds an operation.
fn measure(operations: usize, mut repetition: impl FnMut(usize) -> Duration) -> Taken {
    let mut times: Vec<Duration> = Vec::new();
    let before = processor_time();
    while times.iter().sum::<Duration>() < Duration::from_secs(1) || times.len() < 3 {
        times.push(repetition(times.len()));
    }
    let processor = processor_time() - before;
    times.sort_unstable();
    let each = |time: Duration, count: usize| time.as_secs_f64() * 1e9 / (operations * count) as f64;
    Taken { wall: each(times[times.len() / 2], 1), processor: each(processor, times.len()) }
}

/// Runs work on threads, each after its preparation; the time from the first beginning to the last end.
fn on_threads(threads: usize, work: impl Fn(usize, &dyn Fn()) + Sync) -> Duration {
    let barrier = Barrier::new(threads);
    let first = Instant::now();
    let (begun, ended) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (work, barrier, begun, ended) = (&work, &barrier, &begun, &ended);
            scope.spawn(move || {
                work(thread, &|| {
                    barrier.wait();
                    begun.fetch_min(first.elapsed().as_nanos() as u64, Ordering::Relaxed);
                });
                ended.fetch_max(first.elapsed().as_nanos() as u64, Ordering::Relaxed);
            });
        }
    });
    Duration::from_nanos(ended.into_inner() - begun.into_inner())
}

/// A benchmark of both libraries: on so many threads, in this repetition.
struct Row {
    name: &'static str,
    /// Operations of a repetition on so many threads.
    operations: fn(usize) -> usize,
    ours: fn(usize, usize) -> Duration,
    theirs: fn(usize, usize) -> Duration,
    /// How many times faster it should be on one thread.
    wanted: f64,
}

const ROWS: &[Row] = &[
    Row {
        name: "(a) new, shared",
        operations: |threads| NEW * threads,
        ours: |threads, _| new_terms(threads, NEW, |_| 0),
        theirs: |threads, repetition| merc_new(threads, NEW, repetition, |_| 0),
        wanted: 2.0,
    },
    Row {
        name: "(b) new, distinct",
        operations: |_| NEW,
        ours: |threads, _| new_terms(threads, NEW / threads, |thread| thread),
        theirs: |threads, repetition| merc_new(threads, NEW / threads, repetition, |thread| thread),
        wanted: 2.0,
    },
    Row {
        name: "(c) existing, shared",
        operations: |_| EXISTING * 100,
        ours: |threads, _| existing(threads, |_| 0, true),
        theirs: |threads, _| merc_existing(threads, |_| 0),
        wanted: 6.0,
    },
    Row {
        name: "(d) existing, distinct",
        operations: |_| EXISTING * 100,
        ours: |threads, _| existing(threads, |thread| thread, true),
        theirs: |threads, _| merc_existing(threads, |thread| thread),
        wanted: 6.0,
    },
    Row {
        name: "(e) walks, shared",
        operations: |_| ((2 << WALKED) - 1) * 100,
        ours: |threads, _| walks(threads, |_| 0),
        theirs: |threads, _| merc_walks(threads, |_| 0),
        wanted: 1.0,
    },
    Row {
        name: "(f) walks, distinct",
        operations: |_| ((2 << WALKED) - 1) * 100,
        ours: |threads, _| walks(threads, |thread| thread),
        theirs: |threads, _| merc_walks(threads, |thread| thread),
        wanted: 1.0,
    },
];

/// Measures a row of one library on one thread and on two.
fn measure_row(row: &Row, library: &str) -> [Taken; 2] {
    let run = if library == OURS { row.ours } else { row.theirs };
    if library != OURS {
        THREAD_TERM_POOL.with_borrow(|pool| pool.automatic_garbage_collection(false));
    }
    [1, 2].map(|threads| measure((row.operations)(threads), |repetition| run(threads, repetition)))
}

/// The same in a process of its own, which writes the four figures.
fn measure_apart(row: usize, library: &str) -> [Taken; 2] {
    let program = std::env::current_exe().expect("a program has a path");
    let output = std::process::Command::new(program)
        .args(["terms", PART, &row.to_string(), library])
        .stderr(std::process::Stdio::inherit())
        .output()
        .expect("a row runs in a process of its own");
    let text = String::from_utf8_lossy(&output.stdout);
    let figures: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [wall, processor, wall_two, processor_two] = figures[..] else { panic!("a row ended with {text:?}") };
    [Taken { wall, processor }, Taken { wall: wall_two, processor: processor_two }]
}

const OURS: &str = "ours";
const PART: &str = "part";

/// `[a|b|c|d|e|f|lock|collection ...]`: all of them, or those that are named; with `alone`, without `merc_aterm`.
pub(crate) fn run(arguments: &[String]) {
    if let [part, row, library] = arguments
        && part == PART
    {
        let row = &ROWS[row.parse::<usize>().expect("the place of a row")];
        let taken = measure_row(row, library);
        taken.iter().for_each(|Taken { wall, processor }| println!("{wall} {processor}"));
        return;
    }
    let alone = arguments.iter().any(|argument| argument == "alone");
    let arguments: Vec<&String> = arguments.iter().filter(|argument| *argument != "alone").collect();
    // A letter stands for its row, a longer word for all names that contain it.
    let stands_for = |argument: &str, name: &str| match argument.len() {
        1 => name.starts_with(&format!("({argument})")),
        _ => name.contains(argument),
    };
    let chosen = |name: &str| arguments.is_empty() || arguments.iter().any(|argument| stands_for(argument, name));
    if chosen("collection") {
        collection();
    }
    if ROWS.iter().any(|row| chosen(row.name)) {
        println!("nanoseconds an operation: wall (processor)\n");
        println!(
            "{:<24}{:>16}{:>18}{:>8}{:>10}{:>16}{:>18}",
            "row", "1 thread", "merc_aterm", "times", "at least", "2 threads", "merc_aterm"
        );
    }
    for (place, row) in ROWS.iter().enumerate().filter(|(_, row)| chosen(row.name)) {
        let [ours, ours_two] = measure_apart(place, OURS);
        let nothing = Taken { wall: f64::NAN, processor: f64::NAN };
        let [theirs, theirs_two] = if alone { [nothing; 2] } else { measure_apart(place, "merc_aterm") };
        let factor = theirs.wall / ours.wall;
        println!(
            "{:<24}{ours:>16}{theirs:>18}{factor:>8.1}{:>10.1}{ours_two:>16}{theirs_two:>18}   2 threads / 1: {:.2}",
            row.name,
            row.wanted,
            ours.wall / ours_two.wall
        );
    }
    if chosen("lock") {
        lock();
    }
}

fn options() -> Options {
    Options { collecting: false, ..Options::default() }
}

struct Made {
    pool: Pool,
    f: Symbol,
    constants: Vec<Symbol>,
}

/// A tower: by which thread, how high, and whether the thread polls, as it should.
#[derive(Clone, Copy)]
struct Part {
    thread: usize,
    length: usize,
    polls: bool,
}

impl Made {
    fn new(threads: usize, constant: impl Fn(usize) -> usize) -> Made {
        let pool = Pool::new(options());
        let constants = (0..threads).map(|thread| pool.symbol(&format!("c{}", constant(thread)), 0)).collect();
        Made { f: pool.symbol("f", 2), constants, pool }
    }
}

/// Makes `t_length` and polls now and then, with the last term on a stack as a rewriter has it.
#[inline(never)]
fn tower(made: &Made, section: &mut Section<'_>, stack: &mut RootStack, part: Part) -> Term {
    let Part { thread, length, polls } = part;
    let (f, constant) = (made.f, made.constants[thread]);
    let mut term = section.create(constant, &[]);
    let mut left = length;
    while left > 0 {
        let part = left.min(STEPS);
        for _ in 0..part {
            term = section.create(f, &[term, term]);
        }
        left -= part;
        // The same instructions for both: the compiler must not make two loops of this one.
        if std::hint::black_box(polls) {
            stack.push(term);
            section.poll().expect("nothing stops it");
            term = stack.pop().expect("pushed before");
        }
    }
    term
}

fn new_terms(threads: usize, length: usize, constant: impl Fn(usize) -> usize) -> Duration {
    let made = Made::new(threads, constant);
    on_threads(threads, |thread, begin| {
        let worker = made.pool.worker();
        let mut stack = worker.stack();
        begin();
        let mut section = worker.enter();
        std::hint::black_box(tower(&made, &mut section, &mut stack, Part { thread, length, polls: true }));
    })
}

fn existing(threads: usize, constant: impl Fn(usize) -> usize, polls: bool) -> Duration {
    let made = Made::new(threads, constant);
    on_threads(threads, |thread, begin| {
        let worker = made.pool.worker();
        let mut stack = worker.stack();
        let part = Part { thread, length: EXISTING, polls: true };
        // Twice: at the polls of the second time all terms are moved to the table that has grown.
        tower(&made, &mut worker.enter(), &mut stack, part);
        let copy = tower(&made, &mut worker.enter(), &mut stack, part);
        begin();
        let mut section = worker.enter();
        for _ in 0..100 / threads {
            assert_eq!(tower(&made, &mut section, &mut stack, Part { polls, ..part }), copy);
        }
    })
}

/// As [`existing`], with a lock of the standard library taken for each creation instead of ours.
fn existing_under_rwlock(threads: usize) -> Duration {
    let made = Made::new(threads, |_| 0);
    let lock = RwLock::new(());
    on_threads(threads, |thread, begin| {
        let worker = made.pool.worker();
        let mut stack = worker.stack();
        let part = Part { thread, length: EXISTING, polls: true };
        tower(&made, &mut worker.enter(), &mut stack, part);
        let copy = tower(&made, &mut worker.enter(), &mut stack, part);
        begin();
        let section = worker.enter();
        for _ in 0..20 / threads {
            let constant = section.create(made.constants[thread], &[]);
            let again = (0..EXISTING).fold(constant, |term, _| {
                let _shared = lock.read().expect("no thread panics");
                section.create(made.f, &[term, term])
            });
            assert_eq!(again, copy);
        }
    })
}

fn walks(threads: usize, constant: impl Fn(usize) -> usize) -> Duration {
    let made = Made::new(threads, constant);
    on_threads(threads, |thread, begin| {
        let worker = made.pool.worker();
        let mut stack = worker.stack();
        let term = tower(&made, &mut worker.enter(), &mut stack, Part { thread, length: WALKED, polls: true });
        begin();
        let section = worker.enter();
        for _ in 0..100 / threads {
            let mut queue = VecDeque::from([term]);
            let mut nodes = 0usize;
            while let Some(term) = queue.pop_front() {
                nodes += 1;
                queue.extend(section.arguments(term).iter());
            }
            assert_eq!(nodes, (2 << WALKED) - 1);
        }
    })
}

fn merc_tower(f: &MercSymbol, constant: &MercSymbol, length: usize) -> ATerm {
    let mut term = ATerm::constant(&constant.copy());
    for _ in 0..length {
        let next = ATerm::with_args(f, &[term.get(), term.get()]);
        term.replace(next);
    }
    term
}

fn merc_symbols(thread: usize, repetition: usize) -> (MercSymbol, MercSymbol) {
    (MercSymbol::new("f", 2), MercSymbol::new(format!("c{thread}_{repetition}"), 0))
}

fn merc_new(threads: usize, length: usize, repetition: usize, constant: impl Fn(usize) -> usize + Sync) -> Duration {
    // The pool is global: new terms are those of a new constant, and the old ones are collected between.
    THREAD_TERM_POOL.with_borrow(|pool| pool.force_collect_garbage());
    static NEXT: AtomicU64 = AtomicU64::new(1_000);
    let unique = repetition + NEXT.fetch_add(1_000, Ordering::Relaxed) as usize;
    on_threads(threads, |thread, begin| {
        let (f, c) = merc_symbols(constant(thread), unique);
        begin();
        std::hint::black_box(merc_tower(&f, &c, length));
    })
}

fn merc_existing(threads: usize, constant: impl Fn(usize) -> usize + Sync) -> Duration {
    on_threads(threads, |thread, begin| {
        let (f, c) = merc_symbols(constant(thread), 0);
        let copy = merc_tower(&f, &c, EXISTING);
        begin();
        for _ in 0..100 / threads {
            assert_eq!(merc_tower(&f, &c, EXISTING), copy);
        }
    })
}

fn merc_walks(threads: usize, constant: impl Fn(usize) -> usize + Sync) -> Duration {
    on_threads(threads, |thread, begin| {
        let (f, c) = merc_symbols(constant(thread), 0);
        let term = merc_tower(&f, &c, WALKED);
        begin();
        for _ in 0..100 / threads {
            let mut queue: VecDeque<ATermRef<'_>> = VecDeque::from([term.copy()]);
            let mut nodes = 0usize;
            while let Some(term) = queue.pop_front() {
                nodes += 1;
                queue.extend(term.arguments());
            }
            assert_eq!(nodes, (2 << WALKED) - 1);
        }
    })
}

/// (c) with the lock left at polls, without any lock, and with a lock of the standard library for each creation.
fn lock() {
    let operations = EXISTING * 100;
    let without = measure(operations, |_| existing(1, |_| 0, false));
    let with = measure(operations, |_| existing(1, |_| 0, true));
    let standard = [1, 2].map(|threads| measure(EXISTING * 20, |_| existing_under_rwlock(threads)));
    let two = measure(operations, |_| existing(2, |_| 0, true));
    println!(
        "\n(c) without a lock {without}, with ours {with}: {:+.1} % (at most 15 %)",
        (with.wall / without.wall - 1.0) * 100.0
    );
    println!(
        "(c) under std::sync::RwLock: 1 thread {}, 2 threads {}; ours on 2 threads {two}: {:.1} times faster (at least 5)",
        standard[0],
        standard[1],
        standard[1].wall / two.wall
    );
}

/// 10^8 new terms while 10^6 live: all the time the same ones, and always the last ones. In the second row all old
/// terms are dead at each collection, and all that lives is marked for the first time, so it has no limit.
fn collection() {
    const MADE: u64 = 100_000_000;
    const ALIVE: u64 = 1_000_000;
    for sliding in [false, true] {
        let before = resident_memory().unwrap_or_default();
        let pool = Pool::default();
        let f = pool.symbol("f", 2);
        let mut worker = pool.worker();
        let mut stack = worker.stack();
        let started = Instant::now();
        let mut most = 0;
        let mut section = worker.enter();
        // Half of the new terms are words, the other half applications.
        let mut last = section.empty();
        for number in 0..MADE / 2 {
            let word = section.word(number);
            last = section.create(f, &[word, section.empty()]);
            if number < ALIVE / 2 {
                stack.push(last);
            } else if sliding {
                stack.set((number % (ALIVE / 2)) as usize, last);
            }
            if number.is_multiple_of(STEPS as u64) {
                section.poll().expect("nothing stops it");
            }
            if number.is_multiple_of(100_000) {
                most = most.max(resident_memory().unwrap_or_default());
            }
        }
        std::hint::black_box(last);
        drop(section);
        let taken = started.elapsed();
        let statistics = pool.statistics();
        worker.collect_all();
        let live = pool.statistics().old_terms as u64;
        // A term takes 16 bytes, and its place in a table that is at most 13/16 full 9.8 or more.
        let limit = 2 * live * 16 + (64 << 20);
        println!(
            "{MADE} terms, {live} alive{}: {:.2} s; {} collections and growths ({} full) {:.3} s = {:.1} %{}; \
             memory {} (at most {}, the stack included)",
            if sliding { ", always the last ones" } else { "" },
            taken.as_secs_f64(),
            statistics.collections + statistics.growths,
            statistics.full_collections,
            statistics.collecting.as_secs_f64(),
            statistics.collecting.as_secs_f64() / taken.as_secs_f64() * 100.0,
            if sliding { "" } else { " (at most 5 %)" },
            human_bytes(most.saturating_sub(before)),
            human_bytes(limit),
        );
    }
    println!();
}

/// `[CREATIONS] [THREADS]`: threads make terms out of a family of a million; a part of them is held all the time, a
/// part by the thread that made it, and the rest by nothing; what is held must be found.
pub(crate) fn stress(arguments: &[String]) {
    let number = |at: usize, default: u64| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (creations, threads) = (number(0, 1_000_000_000), number(1, 8));
    const FAMILY: u64 = 1 << 20;
    let pool = Pool::new(Options { young_bytes: 4 << 20, ..Options::default() });
    let (f, g) = (pool.symbol("f", 2), pool.symbol("g", 1));
    // Four creations.
    let make = move |section: &Section<'_>, number: u64| {
        let inner = section.create(g, &[section.word(number / 8)]);
        section.create(f, &[section.word(number), inner])
    };
    let keeper = pool.worker();
    let mut held = keeper.stack();
    {
        let section = keeper.enter();
        held.extend((0..FAMILY / 16).map(|number| make(&section, number * 16)));
    }
    let terms: Arc<[Term]> = held.to_vec().into();
    let (checked, workers) = (AtomicU64::new(0), AtomicU64::new(0));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (pool, terms, checked, workers) = (pool.clone(), terms.clone(), &checked, &workers);
            scope.spawn(move || {
                let mut state = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(thread + 1);
                let mut left = creations / threads / 4;
                while left > 0 {
                    // A worker ends after a while, and the thread goes on with another one.
                    let part = left.min(5_000_000);
                    left -= part;
                    workers.fetch_add(1, Ordering::Relaxed);
                    let worker = pool.worker();
                    let mut stack = worker.stack();
                    let mut numbers: Vec<u64> = Vec::new();
                    let mut section = worker.enter();
                    let mut right = 0;
                    for step in 0..part {
                        state ^= state << 13;
                        state ^= state >> 7;
                        state ^= state << 17;
                        // Runs of sixteen neighbours, from anywhere.
                        let number = ((state >> 20) & !15 | (step % 16)) % FAMILY;
                        let term = make(&section, number);
                        if number.is_multiple_of(16) {
                            assert_eq!(term, terms[(number / 16) as usize], "a term that is held is found");
                            right += 1;
                        } else if step % 8 == 0 {
                            stack.push(term);
                            numbers.push(number);
                        }
                        if step % 1_000 == 0 {
                            section.poll().expect("nothing stops it");
                        }
                        if step % 20_000 == 0 {
                            for (&term, &number) in stack.iter().zip(&numbers) {
                                assert_eq!(term, make(&section, number), "a term that is held is found");
                                assert_eq!(section.word_of(section.argument(term, 0)), Some(number));
                                right += 1;
                            }
                            stack.truncate(0);
                            numbers.clear();
                        }
                    }
                    checked.fetch_add(right, Ordering::Relaxed);
                }
            });
        }
    });
    let taken = started.elapsed();
    let mut worker = pool.worker();
    let before = pool.statistics();
    let probes = worker.audit().unwrap_or_else(|wrong| panic!("{wrong}"));
    drop(held);
    worker.collect_all();
    let after = pool.statistics();
    println!(
        "{creations} creations by {threads} threads ({} workers): {:.1} s, {:.1} ns each; processor {:.1} s",
        workers.into_inner(),
        taken.as_secs_f64(),
        taken.as_secs_f64() * 1e9 / creations as f64,
        processor_time().as_secs_f64(),
    );
    println!(
        "{} collections ({} full), {} growths, {} terms collected; {} held terms found, none lost",
        before.collections,
        before.full_collections,
        before.growths,
        before.collected_terms,
        checked.into_inner(),
    );
    println!(
        "{} terms at the end, none twice; probes {:.2} on average, {} at most",
        probes.terms,
        probes.mean(),
        probes.longest
    );
    println!("{} terms after everything was dropped", after.old_terms);
    assert_eq!(after.old_terms, 0);
}
