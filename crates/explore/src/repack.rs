//! Packing all states of a set in another way.
//!
//! Numbers of states are positions, and stay; only what lies there changes. Segments are converted on all cores, some
//! at a time, and the old ones are freed as soon as their states have moved, so that the two sets are never complete at
//! the same time. Then the index is built.
//!
//! No other thread uses the set meanwhile: it is taken by value. Bits that are kept beside rows move with them.
#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::{OnceLock, PoisonError};
use std::thread;

use trefoil_control::{Control, Stopped};
use trefoil_system::{StateId, Value};

use crate::index::Index;
use crate::packing::Packing;
use crate::positions::lock;
use crate::rows::{Marks, SEGMENT_ROWS, Segment};
use crate::states::{Inserter, StateSet, Table};
use crate::sync::Ordering;

/// Segments that are converted before the old ones of them are freed.
const TOGETHER: usize = 64;

impl StateSet {
    /// Above all positions that are in use; 0 for a dense set.
    pub(crate) fn bound(&self) -> u32 {
        match &self.table {
            Table::Dense { .. } => 0,
            Table::Hashed { blocks, .. } => lock(blocks).bound(),
        }
    }

    /// The least and the greatest value of each slot, in every `step`-th state. No thread may insert meanwhile.
    pub(crate) fn extent(&self, step: usize, threads: usize) -> Vec<(Value, Value)> {
        let Table::Hashed { blocks, .. } = &self.table else { return Vec::new() };
        let used = lock(blocks).used();
        let width = self.packing().width();
        let next = AtomicUsize::new(0);
        let segments = (self.bound() as usize).div_ceil(SEGMENT_ROWS);
        let work = || {
            let (mut scan, mut extent) = (Scan::new(self), vec![(Value::MAX, 0); width]);
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= segments {
                    return extent;
                }
                for id in states_of(at, &used).filter(|id| id.index().is_multiple_of(step)) {
                    // SAFETY: the position is published, and the thread that published it no longer writes.
                    unsafe {
                        scan.read(id, |slot, value| {
                            let (least, most) = &mut extent[slot];
                            (*least, *most) = ((*least).min(value), (*most).max(value));
                        });
                    }
                }
            }
        };
        let mut extent = vec![(Value::MAX, 0); width];
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let found = others.into_iter().map(|other| other.join().expect("reading rows does not panic"));
            for found in found.chain([work()]) {
                for ((least, most), (low, high)) in extent.iter_mut().zip(found) {
                    (*least, *most) = ((*least).min(low), (*most).max(high));
                }
            }
        });
        extent
    }

    /// The bits beside the states of a segment.
    fn marks_of(&self, segment: usize) -> Option<Marks> {
        let Table::Hashed { index, .. } = &self.table else { return None };
        let index = index.read().unwrap_or_else(PoisonError::into_inner);
        index.segments[segment].get().map(|segment| segment.marks.copied())
    }

    /// The same states with the same numbers, packed in another way that is wide enough, perhaps as trees.
    pub(crate) fn repacked(mut self, packing: Packing, trees: bool, control: &Control) -> Result<StateSet, Stopped> {
        let fresh = match trees {
            true => StateSet::of_trees(packing, self.keep, self.threads),
            false => StateSet::keeping(packing, self.keep, self.threads),
        };
        let (Table::Hashed { blocks: old_blocks, .. }, Table::Hashed { index, blocks }) = (&self.table, &fresh.table)
        else {
            unreachable!("positions are kept in tables with an index");
        };
        let used = lock(old_blocks).used();
        std::mem::swap(&mut *lock(blocks), &mut *lock(old_blocks));
        let bound = fresh.bound();
        let mut index = index.write().unwrap_or_else(PoisonError::into_inner);
        let room = Index::room_for(bound, fresh.kept.bytes());
        control.afford(room * 4 + TOGETHER * SEGMENT_ROWS * fresh.kept.bytes())?;
        *index = Index::new(room, Vec::new(), fresh.kept.bytes());
        let segments = (bound as usize).div_ceil(SEGMENT_ROWS);
        for begin in (0..segments).step_by(TOGETHER) {
            let end = segments.min(begin + TOGETHER);
            let next = AtomicUsize::new(begin);
            let work = || {
                let mut conversion = Conversion::new(&self, &fresh);
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= end {
                        return Ok(());
                    }
                    control.check()?;
                    let mut segment = Segment::new(fresh.kept.bytes(), fresh.keep);
                    if let Some(marks) = self.marks_of(at) {
                        segment.marks = marks;
                    }
                    for id in states_of(at, &used) {
                        // SAFETY: the position is published, and the thread that published it no longer writes.
                        let kept = unsafe { conversion.convert(id, control)? };
                        // SAFETY: the segment is this thread's own.
                        unsafe { segment.write(id.index() % SEGMENT_ROWS, fresh.kept.bytes(), kept) };
                    }
                    index.segments[at].get_or_init(|| segment);
                }
            };
            let work = &work;
            thread::scope(|scope| {
                let others: Vec<_> = (1..self.threads.min(end - begin)).map(|_| scope.spawn(work)).collect();
                let own = work();
                others.into_iter().map(|other| other.join().expect("packing does not panic")).fold(own, Result::and)
            })?;
            if let Table::Hashed { index: old, .. } = &mut self.table {
                let old = old.get_mut().unwrap_or_else(PoisonError::into_inner);
                old.segments[begin..end].fill_with(OnceLock::new);
            }
        }
        index.rebuild(&fresh.kept, &used, fresh.threads, control)?;
        drop(index);
        Ok(fresh)
    }
}

/// The states of a segment.
fn states_of(segment: usize, used: &[Range<u32>]) -> impl Iterator<Item = StateId> + '_ {
    let (first, behind) = (segment * SEGMENT_ROWS, (segment + 1) * SEGMENT_ROWS);
    let inside = move |range: &Range<u32>| first.max(range.start as usize)..behind.min(range.end as usize);
    used.iter().flat_map(inside).map(|id| StateId(id as u32))
}

/// Reads states one after the other; most of a row equals the previous one.
struct Scan<'a> {
    inserter: Inserter<'a>,
    packing: &'a Packing,
    row: Vec<Value>,
    /// Where rows are kept as they are, and of several words: the words of the row that was read last, if one was, and
    /// room for another.
    by_words: bool,
    before: Vec<u64>,
    words: Vec<u64>,
}

impl<'a> Scan<'a> {
    fn new(set: &'a StateSet) -> Scan<'a> {
        let packing = set.packing();
        Scan {
            inserter: set.inserter(),
            packing,
            row: vec![0; packing.width()],
            by_words: !set.has_trees() && packing.knows_slots(),
            before: Vec::new(),
            words: vec![0; packing.words()],
        }
    }

    /// Reads a state and calls `with` at least for the slots that differ from the previous state; for the first state,
    /// for all.
    ///
    /// # Safety
    ///
    /// The state is one of the set's, and nothing is added to the set any more.
    unsafe fn read(&mut self, id: StateId, mut with: impl FnMut(usize, Value)) {
        if self.by_words && !self.before.is_empty() {
            // SAFETY: as the caller promises.
            unsafe { self.inserter.read_packed(id, &mut self.words) };
            self.packing.changes(0, &self.before, &self.words, with);
            return std::mem::swap(&mut self.before, &mut self.words);
        }
        // SAFETY: as the caller promises.
        unsafe {
            self.inserter.read(id, &mut self.row);
            self.before.resize(self.words.len(), 0);
            self.inserter.read_packed(id, &mut self.before);
        }
        self.row.iter().enumerate().for_each(|(slot, &value)| with(slot, value));
    }
}

/// One thread's way from the states of one set to those of another.
struct Conversion<'a> {
    from: Scan<'a>,
    to: Inserter<'a>,
    new: &'a StateSet,
    row: Vec<Value>,
    /// What the new set keeps of the state that was converted last.
    kept: Vec<u64>,
}

impl<'a> Conversion<'a> {
    fn new(old: &'a StateSet, new: &'a StateSet) -> Conversion<'a> {
        let (row, kept) = (vec![0; new.packing().width()], vec![0; new.kept.words()]);
        Conversion { from: Scan::new(old), to: new.inserter(), new, row, kept }
    }

    /// What the new set keeps of a state.
    ///
    /// # Safety
    ///
    /// The state is one of the old set's, and nothing is added to that set any more.
    unsafe fn convert(&mut self, id: StateId, control: &Control) -> Result<&[u64], Stopped> {
        let (row, kept, packing) = (&mut self.row, &mut self.kept, self.new.packing());
        if self.new.has_trees() {
            // SAFETY: as the caller promises.
            unsafe { self.from.read(id, |slot, value| row[slot] = value) };
            self.to.keep(row, kept, control)?;
        } else {
            // SAFETY: as the caller promises.
            unsafe { self.from.read(id, |slot, value| packing.set(slot, value, kept)) };
        }
        Ok(kept)
    }
}
