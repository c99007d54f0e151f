//! The set of states: racing insertions, growing, and what it costs.

use std::collections::HashMap;
use std::sync::Barrier;

use trefoil_control::{Control, Limits, Stopped};
use trefoil_explore::{Packing, StateSet};
use trefoil_system::{Layout, Slot, StateId, Value};

fn layout(bytes: usize) -> Layout {
    Layout::new((0..bytes).map(|index| Slot::bounded(format!("s{index}"), 256)).collect())
}

fn row(number: u32, bytes: usize) -> Vec<Value> {
    (0..bytes)
        .map(|index| if index < 4 { number >> (8 * index) & 255 } else { (number ^ index as u32) & 255 })
        .collect()
}

/// Threads insert overlapping rows in different orders; afterwards every row must be there once, under the number that
/// returned to every thread, new to exactly one of them.
fn race(bytes: usize, rows: u32, threads: u32) {
    let set = StateSet::new(Packing::new(&layout(bytes)), threads as usize);
    let control = Control::unlimited();
    let start = Barrier::new(threads as usize);
    let told: Vec<Vec<(u32, StateId, bool)>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let (set, control, start) = (&set, &control, &start);
                scope.spawn(move || {
                    start.wait();
                    let mut inserter = set.inserter();
                    let mut told = Vec::new();
                    let mut answers = Vec::new();
                    for batch in 0..rows.div_ceil(8) {
                        // Neighbouring threads meet in the same rows at about the same time.
                        let batch = if thread % 2 == 0 { batch } else { batch ^ 1 };
                        let numbers: Vec<u32> = (batch * 8..(batch * 8 + 8).min(rows)).collect();
                        let flat: Vec<Value> = numbers.iter().flat_map(|&number| row(number, bytes)).collect();
                        answers.clear();
                        inserter.insert_all(&flat, control, &mut answers).expect("no budget");
                        told.extend(numbers.iter().zip(&answers).map(|(&number, &(id, new))| (number, id, new)));
                        if batch % 16 == 0 {
                            inserter.release();
                        }
                    }
                    told
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no thread panics")).collect()
    });
    let states = set.freeze();
    let mut reader = states.reader();
    let mut ids: HashMap<u32, (StateId, u32)> = HashMap::new();
    for (number, id, new) in told.into_iter().flatten() {
        let entry = ids.entry(number).or_insert((id, 0));
        assert_eq!(entry.0, id, "row {number} has two numbers");
        entry.1 += u32::from(new);
    }
    assert_eq!(ids.len(), rows as usize);
    let mut seen = vec![false; states.id_bound()];
    for (number, (id, news)) in ids {
        assert_eq!(news, 1, "row {number} was new to {news} threads");
        assert!(!std::mem::replace(&mut seen[id.index()], true), "two rows have one number");
        let mut back = vec![0; bytes];
        reader.row(id, &mut back);
        assert_eq!(back, row(number, bytes));
    }
}

#[test]
fn racing_threads_lose_nothing_and_double_nothing() {
    let rows = 40_000;
    for bytes in [4, 5, 8, 9, 16, 19] {
        for threads in [1, 2, 4] {
            race(bytes, rows, threads);
        }
    }
}

#[test]
fn racing_threads_in_a_dense_set() {
    race(3, 30_000, 4);
    race(2, 30_000, 3);
}

/// One and a half times the packed row plus four bytes a state, at every moment once the set is not tiny.
#[test]
fn memory_stays_in_its_bounds() {
    for bytes in [4, 5, 6, 7, 8, 9, 12, 16, 24] {
        let set = StateSet::new(Packing::new(&layout(bytes)), 1);
        let control = Control::unlimited();
        let mut inserter = set.inserter();
        let mut answers = Vec::new();
        let mut worst: f64 = 0.0;
        for number in 0..400_000u32 {
            inserter.insert_all(&row(number, bytes), &control, &mut answers).expect("no budget");
            answers.clear();
            if number > 150_000 && number % 512 == 0 {
                worst = worst.max(set.bytes() as f64 / f64::from(number + 1));
            }
        }
        let promised = 1.5 * bytes as f64 + 4.0;
        assert!(worst <= promised, "{worst} bytes a state for rows of {bytes}, {promised} promised");
    }
}

#[test]
fn a_set_without_memory_says_so() {
    let control = Control::new(Limits { time: None, memory: Some(1) });
    let set = StateSet::new(Packing::new(&layout(8)), 1);
    let mut inserter = set.inserter();
    let mut answers = Vec::new();
    let outcome = (0..10_000).try_for_each(|number| inserter.insert_all(&row(number, 8), &control, &mut answers));
    assert_eq!(outcome, Err(Stopped::Memory { limit: 1 }));
    assert!(answers.len() > 1000 && answers.len() < 10_000);
}
