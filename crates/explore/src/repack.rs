//! Packing all states of a set in another way.
//!
//! Numbers of states are positions, and stay; only what lies there changes. Segments are converted one by one, on all cores, some at a time, and the
//! old ones are freed as soon as their states have moved, so that the two sets are never whole side by side. Then the index is built
//! from what there is.
//!
//! Nobody else knows the set meanwhile: it is taken by value.
#![allow(unsafe_code)]

use std::sync::atomic::AtomicUsize;
use std::sync::{OnceLock, PoisonError};
use std::thread;

use trefoil_control::{Control, Stopped};
use trefoil_system::{StateId, Value};

use crate::index::Index;
use crate::packing::Packing;
use crate::positions::lock;
use crate::rows::{SEGMENT_ROWS, Segment};
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

    /// The least and the greatest value of each slot, in every `step`-th state. Nobody inserts meanwhile.
    pub(crate) fn extent(&self, step: usize, threads: usize) -> Vec<(Value, Value)> {
        let Table::Hashed { blocks, .. } = &self.table else { return Vec::new() };
        let used = lock(blocks).used();
        let width = self.packing().width();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut inserter = self.inserter();
            let (mut row, mut extent) = (vec![0; width], vec![(Value::MAX, 0); width]);
            loop {
                let segment = next.fetch_add(SEGMENT_ROWS, Ordering::Relaxed);
                let segment = segment as u32..(segment + SEGMENT_ROWS) as u32;
                if used.last().is_none_or(|last| last.end <= segment.start) {
                    return extent;
                }
                for range in &used {
                    let (from, to) = (range.start.max(segment.start), range.end.min(segment.end));
                    for id in (from..to.max(from)).filter(|id| (*id as usize).is_multiple_of(step)) {
                        // SAFETY: the position is published, and whoever published it is not at work any more.
                        unsafe { inserter.read(StateId(id), &mut row) };
                        for ((least, most), &value) in extent.iter_mut().zip(&row) {
                            (*least, *most) = ((*least).min(value), (*most).max(value));
                        }
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
                    let segment = Segment::new(fresh.kept.bytes(), fresh.keep);
                    let (first, last) = ((at * SEGMENT_ROWS) as u32, ((at + 1) * SEGMENT_ROWS) as u32);
                    for range in &used {
                        for id in range.start.max(first)..range.end.min(last) {
                            // SAFETY: the position is published, and whoever published it is not at work any more.
                            let kept = unsafe { conversion.convert(StateId(id), control)? };
                            // SAFETY: the segment is this thread's own.
                            unsafe { segment.write(id as usize % SEGMENT_ROWS, fresh.kept.bytes(), kept) };
                        }
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
                for at in begin..end {
                    let old = std::mem::replace(&mut old.segments[at], OnceLock::new()).into_inner();
                    if let (Some(old), Some(new)) = (old, index.segments[at].get_mut()) {
                        new.marks = old.marks;
                    }
                }
            }
        }
        index.rebuild(&fresh.kept, &used, fresh.threads, control)?;
        drop(index);
        Ok(fresh)
    }
}

/// One thread's way from the states of one set to those of another.
struct Conversion<'a> {
    from: Inserter<'a>,
    to: Inserter<'a>,
    row: Vec<Value>,
    /// What the new set keeps of the row that was converted last.
    kept: Vec<u64>,
    /// Where both sets keep rows, and these have several words: the packings, the row that was converted last as it was packed, and room for another.
    by_changes: Option<(&'a Packing, &'a Packing)>,
    before: Vec<u64>,
    words: Vec<u64>,
}

impl<'a> Conversion<'a> {
    fn new(old: &'a StateSet, new: &'a StateSet) -> Conversion<'a> {
        let (old_packing, new_packing) = (old.packing(), new.packing());
        let flat = !old.has_trees() && !new.has_trees() && old_packing.knows_slots();
        Conversion {
            from: old.inserter(),
            to: new.inserter(),
            row: vec![0; old_packing.width()],
            kept: vec![0; new.kept.words()],
            by_changes: flat.then_some((old_packing, new_packing)),
            before: Vec::new(),
            words: vec![0; old_packing.words()],
        }
    }

    /// What the new set keeps of a state.
    ///
    /// # Safety
    ///
    /// The state is one of the old set's, to which nothing is added any more.
    unsafe fn convert(&mut self, id: StateId, control: &Control) -> Result<&[u64], Stopped> {
        if let Some((old, new)) = self.by_changes
            && !self.before.is_empty()
        {
            // SAFETY: as the caller promises.
            unsafe { self.from.read_packed(id, &mut self.words) };
            new.repack_changes(old, &self.before, &self.words, &mut self.kept);
            std::mem::swap(&mut self.before, &mut self.words);
            return Ok(&self.kept);
        }
        if self.by_changes.is_some() {
            self.before.resize(self.words.len(), 0);
            // SAFETY: as the caller promises.
            unsafe { self.from.read_packed(id, &mut self.before) };
        }
        // SAFETY: as the caller promises.
        unsafe { self.from.read(id, &mut self.row) };
        self.to.keep(&self.row, &mut self.kept, control)?;
        Ok(&self.kept)
    }
}
