//! Packed rows in memory, written once by one thread and then read by all.
//!
//! A segment holds a fixed number of rows back to back, without padding, and beside them a bit or two per state, if
//! requested. The rows are plain bytes: the thread that owns a position that is not published yet writes it, and
//! publishes it with release ordering ([`crate::states`] does so through its index); a thread that learnt of a position
//! with acquire ordering reads it. That is the whole protocol, and the contract of the two unsafe functions here.
//!
//! A row is read and written with a few whole words; where its length is no multiple of a word the last word overlaps
//! the one before, so that no byte of a neighbour (which another thread may be writing) is ever touched.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;

use crate::sync::{AtomicU32, AtomicU64, Ordering, Watched};

/// The least number of bytes of a row.
pub(crate) const LEAST_BYTES: usize = 4;

/// Rows of one segment; few where every interleaving is tried.
pub(crate) const SEGMENT_ROWS: usize = if cfg!(test) { 8 } else { 1 << 12 };

/// Which bits are kept per state besides the row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keep {
    /// Whether it was scheduled in its final round.
    pub(crate) claims: bool,
    /// Whether it is known to reach no cycle of `τ` by `τ`; or, in a search with fewer steps, whether it was expanded
    /// with all its steps in an earlier level.
    pub(crate) finished: bool,
}

/// The bits of states `0..len`.
pub(crate) struct Marks {
    claims: Box<[AtomicU64]>,
    finished: Box<[AtomicU64]>,
}

impl Marks {
    /// For this many states.
    pub(crate) fn new(len: usize, keep: Keep) -> Marks {
        let bits = |kept: bool| atomics64(if kept { len.div_ceil(64) } else { 0 });
        Marks { claims: bits(keep.claims), finished: bits(keep.finished) }
    }

    /// True for exactly one caller per state.
    #[inline]
    pub(crate) fn claim(&self, at: usize) -> bool {
        let bit = 1u64 << (at % 64);
        let word = &self.claims[at / 64];
        // Most claims find the bit set; a load does not take the cache line from other cores.
        word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Was the state claimed?
    #[inline]
    pub(crate) fn is_claimed(&self, at: usize) -> bool {
        self.claims[at / 64].load(Ordering::Relaxed) & 1 << (at % 64) != 0
    }

    /// The same bits beside other rows. No thread may change them meanwhile.
    pub(crate) fn copied(&self) -> Marks {
        let copy = |bits: &[AtomicU64]| bits.iter().map(|word| AtomicU64::new(word.load(Ordering::Relaxed))).collect();
        Marks { claims: copy(&self.claims), finished: copy(&self.finished) }
    }

    /// From now on the state is finished.
    #[inline]
    pub(crate) fn finish(&self, at: usize) {
        self.finished[at / 64].fetch_or(1 << (at % 64), Ordering::Release);
    }

    /// Is the state finished?
    #[inline]
    pub(crate) fn is_finished(&self, at: usize) -> bool {
        self.finished[at / 64].load(Ordering::Acquire) & 1 << (at % 64) != 0
    }
}

/// A fixed number of rows.
pub(crate) struct Segment {
    bytes: Box<[UnsafeCell<u8>]>,
    watched: Watched,
    pub(crate) marks: Marks,
}

// SAFETY: the bytes are shared under the protocol at the head of this file, which the callers of `read` and `write`
// promise to keep; without those two functions nothing can reach them.
unsafe impl Sync for Segment {}

impl Segment {
    pub(crate) fn new(row_bytes: usize, keep: Keep) -> Segment {
        assert!(row_bytes >= LEAST_BYTES);
        let zeroed: Box<[u8]> = vec![0u8; row_bytes * SEGMENT_ROWS].into_boxed_slice();
        // SAFETY: `UnsafeCell<u8>` has the layout of `u8`, and the box is owned and not used otherwise.
        let bytes = unsafe { Box::from_raw(Box::into_raw(zeroed) as *mut [UnsafeCell<u8>]) };
        Segment { bytes, watched: Watched::new(SEGMENT_ROWS), marks: Marks::new(SEGMENT_ROWS, keep) }
    }

    /// Bytes of the rows alone.
    pub(crate) fn row_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Where row `at` lies. The bounds check is what makes the two functions below stay inside.
    #[inline]
    fn place(&self, at: usize, row_bytes: usize) -> *mut u8 {
        assert!(at < SEGMENT_ROWS && (at + 1) * row_bytes <= self.bytes.len());
        // SAFETY: `at * row_bytes` is inside the allocation by the line above.
        unsafe { UnsafeCell::raw_get(self.bytes.as_ptr().add(at * row_bytes)) }
    }

    /// Reads a row into words; the bits behind the row become zero.
    ///
    /// # Safety
    ///
    /// No thread writes this row at the same time: it was published, and this thread knows that by an acquire.
    #[inline]
    pub(crate) unsafe fn read(&self, at: usize, row_bytes: usize, words: &mut [u64]) {
        assert!(row_bytes >= LEAST_BYTES && row_bytes <= words.len() * 8 && row_bytes + 8 > words.len() * 8);
        let place = self.place(at, row_bytes);
        self.watched.reads(at);
        if row_bytes < 8 {
            // SAFETY: both reads cover bytes of this row only, as it has at least four.
            unsafe {
                let low = place.cast::<u32>().read_unaligned().to_le();
                let high = place.add(row_bytes - 4).cast::<u32>().read_unaligned().to_le();
                words[0] = u64::from(low) | u64::from(high) << ((row_bytes - 4) * 8);
            }
            return;
        }
        let whole = row_bytes / 8;
        for (index, word) in words[..whole].iter_mut().enumerate() {
            // SAFETY: `index < whole`, so these eight bytes are of this row.
            *word = unsafe { place.add(index * 8).cast::<u64>().read_unaligned().to_le() };
        }
        let rest = row_bytes % 8;
        if rest != 0 {
            // SAFETY: the last eight bytes of the row, which has at least eight.
            let last = unsafe { place.add(row_bytes - 8).cast::<u64>().read_unaligned().to_le() };
            words[whole] = last >> ((8 - rest) * 8);
        }
    }

    /// Is this the row?
    ///
    /// # Safety
    ///
    /// As for [`Segment::read`].
    #[inline]
    pub(crate) unsafe fn equals(&self, at: usize, row_bytes: usize, words: &[u64]) -> bool {
        assert!(row_bytes >= LEAST_BYTES && row_bytes <= words.len() * 8 && row_bytes + 8 > words.len() * 8);
        let place = self.place(at, row_bytes);
        self.watched.reads(at);
        if row_bytes < 8 {
            // SAFETY: both reads cover bytes of this row only, as it has at least four.
            let (low, high) = unsafe {
                let low = place.cast::<u32>().read_unaligned().to_le();
                (low, place.add(row_bytes - 4).cast::<u32>().read_unaligned().to_le())
            };
            return low == words[0] as u32 && high == (words[0] >> ((row_bytes - 4) * 8)) as u32;
        }
        let whole = row_bytes / 8;
        for (index, &word) in words[..whole].iter().enumerate() {
            // SAFETY: `index < whole`, so these eight bytes are of this row.
            if unsafe { place.add(index * 8).cast::<u64>().read_unaligned().to_le() } != word {
                return false;
            }
        }
        let rest = row_bytes % 8;
        // SAFETY: the last eight bytes of the row, which has at least eight.
        rest == 0
            || unsafe { place.add(row_bytes - 8).cast::<u64>().read_unaligned().to_le() } >> ((8 - rest) * 8)
                == words[whole]
    }

    /// Writes a row.
    ///
    /// # Safety
    ///
    /// This thread owns the position: it is not published, and no other thread reads or writes it before it is.
    #[inline]
    pub(crate) unsafe fn write(&self, at: usize, row_bytes: usize, words: &[u64]) {
        assert!(row_bytes >= LEAST_BYTES && row_bytes <= words.len() * 8 && row_bytes + 8 > words.len() * 8);
        let place = self.place(at, row_bytes);
        self.watched.writes(at);
        if row_bytes < 8 {
            // SAFETY: both writes cover bytes of this row only, as it has at least four.
            unsafe {
                place.cast::<u32>().write_unaligned((words[0] as u32).to_le());
                let high = (words[0] >> ((row_bytes - 4) * 8)) as u32;
                place.add(row_bytes - 4).cast::<u32>().write_unaligned(high.to_le());
            }
            return;
        }
        let whole = row_bytes / 8;
        for (index, word) in words[..whole].iter().enumerate() {
            // SAFETY: `index < whole`, so these eight bytes are of this row.
            unsafe { place.add(index * 8).cast::<u64>().write_unaligned(word.to_le()) };
        }
        let rest = row_bytes % 8;
        if rest != 0 {
            let last = words[whole] << ((8 - rest) * 8) | words[whole - 1] >> (rest * 8);
            // SAFETY: the last eight bytes of the row, which has at least eight.
            unsafe { place.add(row_bytes - 8).cast::<u64>().write_unaligned(last.to_le()) };
        }
    }

    /// Prefetches the row.
    #[inline]
    pub(crate) fn prefetch(&self, at: usize, row_bytes: usize) {
        prefetch(self.place(at, row_bytes));
    }
}

/// Prefetches a cache line; does nothing on processors without such an instruction.
#[inline]
pub(crate) fn prefetch<T>(place: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch has no effect that a program can observe, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}

/// Asks the operating system for large pages, where it has them and the memory is large enough to be worth it. Looking
/// up a hash touches a page at random, and with large pages far fewer translations of addresses have to be remembered.
#[cfg_attr(test, allow(dead_code))]
fn want_huge_pages(_memory: &mut [u32]) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        const HUGE: usize = 2 << 20;
        let range = _memory.as_mut_ptr_range();
        let start = (range.start as usize).next_multiple_of(HUGE);
        let end = range.end as usize / HUGE * HUGE;
        if start + HUGE <= end {
            let skipped = start - range.start as usize;
            // SAFETY: the range lies inside the slice, which is borrowed mutably, and this advice does not change what
            // is in it. A refusal costs speed only.
            unsafe { libc::madvise(range.start.byte_add(skipped).cast(), end - start, libc::MADV_HUGEPAGE) };
        }
    }
}

/// Zeroed atomics that the operating system allocates lazily.
#[cfg(not(test))]
pub(crate) fn atomics32(len: usize) -> Box<[AtomicU32]> {
    const { assert!(align_of::<AtomicU32>() == align_of::<u32>()) };
    let mut zeroed: Box<[u32]> = vec![0u32; len].into_boxed_slice();
    want_huge_pages(&mut zeroed);
    // SAFETY: an atomic has the size and (asserted above) the alignment of its integer, and the box is owned and not
    // used otherwise.
    unsafe { Box::from_raw(Box::into_raw(zeroed) as *mut [AtomicU32]) }
}

/// As [`atomics32`].
#[cfg(not(test))]
pub(crate) fn atomics64(len: usize) -> Box<[AtomicU64]> {
    const { assert!(align_of::<AtomicU64>() == align_of::<u64>()) };
    let zeroed: Box<[u64]> = vec![0u64; len].into_boxed_slice();
    // SAFETY: as in `atomics32`.
    unsafe { Box::from_raw(Box::into_raw(zeroed) as *mut [AtomicU64]) }
}

#[cfg(test)]
pub(crate) fn atomics32(len: usize) -> Box<[AtomicU32]> {
    (0..len).map(|_| AtomicU32::new(0)).collect()
}

#[cfg(test)]
pub(crate) fn atomics64(len: usize) -> Box<[AtomicU64]> {
    (0..len).map(|_| AtomicU64::new(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_every_length_come_back_and_leave_their_neighbours() {
        loom::model(rows_come_back);
    }

    fn rows_come_back() {
        for row_bytes in LEAST_BYTES..40 {
            let segment = Segment::new(row_bytes, Keep::default());
            let words = row_bytes.div_ceil(8);
            let row = |seed: u64| -> Vec<u64> {
                let mut row: Vec<u64> =
                    (0..words as u64).map(|i| (seed + i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
                let rest = row_bytes % 8;
                if rest != 0 {
                    row[words - 1] &= (1 << (rest * 8)) - 1;
                }
                row
            };
            for at in [1, 0, 3, 2, 6, SEGMENT_ROWS - 1] {
                // SAFETY: one thread.
                unsafe { segment.write(at, row_bytes, &row(at as u64)) };
            }
            for at in [0, 1, 2, 3, SEGMENT_ROWS - 1] {
                let mut back = vec![u64::MAX; words];
                // SAFETY: one thread.
                unsafe { segment.read(at, row_bytes, &mut back) };
                assert_eq!(back, row(at as u64), "{row_bytes} bytes, row {at}");
                for other in 0..4 {
                    // SAFETY: one thread.
                    let equal = unsafe { segment.equals(at, row_bytes, &row(other)) };
                    assert_eq!(equal, other as usize == at);
                }
                for bit in 0..row_bytes * 8 {
                    back[bit / 64] ^= 1 << (bit % 64);
                    // SAFETY: one thread.
                    assert!(!unsafe { segment.equals(at, row_bytes, &back) });
                    back[bit / 64] ^= 1 << (bit % 64);
                }
            }
        }
    }
}
