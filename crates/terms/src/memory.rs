//! Large arrays of atomics that begin as zeros and are given back to the operating system when they are dropped.
//!
//! On Linux an array of a megabyte or more is a mapping of its own: its pages become resident when they are first
//! written, and dropping it really gives them back, which an allocator does not promise. Smaller arrays, other systems
//! and Miri use the allocator; loom needs real objects.

#![allow(unsafe_code)]

use std::ops::Deref;
use std::ptr::NonNull;

/// An array of atomics, all zero at first.
pub(crate) struct Zeroed<T> {
    first: NonNull<T>,
    length: usize,
}

// SAFETY: a `Zeroed` owns its array as a `Box<[T]>` does.
unsafe impl<T: Send> Send for Zeroed<T> {}
// SAFETY: shared access gives `&[T]` only.
unsafe impl<T: Sync> Sync for Zeroed<T> {}

/// Types that may be made of zero bytes.
///
/// # Safety
///
/// All bytes zero is a valid value, which needs no drop and is aligned to 4096 bytes or less.
pub(crate) unsafe trait Zero {
    /// The same value where zero bytes do not make one: loom's atomics.
    #[cfg(test)]
    fn zero() -> Self;
}

macro_rules! zero {
    ($($atomic:ty),*) => {
        $(
            // SAFETY: an atomic integer of zero bytes is zero.
            unsafe impl Zero for $atomic {
                #[cfg(test)]
                fn zero() -> Self {
                    <$atomic>::new(0)
                }
            }
        )*
    };
}

zero!(crate::sync::AtomicU32, crate::sync::AtomicU64);

/// Arrays of this many bytes are mappings of their own.
#[cfg(all(not(test), not(miri), target_os = "linux"))]
const MAPPED: usize = 1 << 20;
/// The size of a large page.
#[cfg(all(not(test), not(miri), target_os = "linux"))]
const LARGE_PAGE: usize = 2 << 20;

impl<T: Zero> Zeroed<T> {
    /// An array of zeros.
    pub(crate) fn new(length: usize) -> Zeroed<T> {
        assert!(length > 0, "an array has elements");
        #[cfg(test)]
        {
            let items: Box<[T]> = (0..length).map(|_| T::zero()).collect();
            let first = NonNull::new(Box::into_raw(items).cast::<T>()).expect("a box is not null");
            Zeroed { first, length }
        }
        #[cfg(not(test))]
        {
            Zeroed { first: allocate(length), length }
        }
    }
}

impl<T> Zeroed<T> {
    /// The first element; the array stays where it is until it is dropped.
    pub(crate) fn as_ptr(&self) -> *mut T {
        self.first.as_ptr()
    }

    /// The size of the array.
    pub(crate) fn bytes(&self) -> usize {
        self.length * size_of::<T>()
    }
}

impl<T> Deref for Zeroed<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the array has `length` elements and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.length) }
    }
}

#[cfg(not(test))]
fn layout<T>(length: usize) -> std::alloc::Layout {
    std::alloc::Layout::array::<T>(length).expect("an array that fits the address space")
}

#[cfg(not(test))]
fn allocate<T: Zero>(length: usize) -> NonNull<T> {
    let layout = layout::<T>(length);
    #[cfg(all(not(miri), target_os = "linux"))]
    if layout.size() >= MAPPED {
        return map(layout).cast();
    }
    // SAFETY: the layout is not empty, because an array has elements.
    let memory = unsafe { std::alloc::alloc_zeroed(layout) };
    NonNull::new(memory.cast()).unwrap_or_else(|| std::alloc::handle_alloc_error(layout))
}

/// A mapping of its own. One that has room for large pages begins at one and asks for them: a table that is read
/// before it is written would otherwise take two faults for each small page, the second with an interrupt of the other
/// cores.
#[cfg(all(not(test), not(miri), target_os = "linux"))]
fn map(layout: std::alloc::Layout) -> NonNull<u8> {
    let size = layout.size();
    let slack = if size >= 2 * LARGE_PAGE { LARGE_PAGE } else { 0 };
    // SAFETY: a new anonymous mapping touches no memory that is in use.
    let mapped = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            size + slack,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if mapped == libc::MAP_FAILED {
        std::alloc::handle_alloc_error(layout);
    }
    let mapped: *mut u8 = mapped.cast();
    let before = if slack > 0 { mapped.align_offset(LARGE_PAGE) } else { 0 };
    // SAFETY: the parts that are given back lie inside the mapping, before and behind the array, and both are whole
    // pages: a page divides `before` as it divides a large page, and arrays of this size are whole pages.
    unsafe {
        if slack > 0 {
            if before > 0 {
                libc::munmap(mapped.cast(), before);
            }
            libc::munmap(mapped.add(before + size).cast(), slack - before);
            libc::madvise(mapped.add(before).cast(), size, libc::MADV_HUGEPAGE);
        }
        NonNull::new(mapped.add(before)).expect("a mapping is not at address zero")
    }
}

impl<T> Drop for Zeroed<T> {
    fn drop(&mut self) {
        #[cfg(test)]
        // SAFETY: `new` took the array from a box of this length.
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(self.first.as_ptr(), self.length)) });
        #[cfg(not(test))]
        {
            let layout = layout::<T>(self.length);
            #[cfg(all(not(miri), target_os = "linux"))]
            if layout.size() >= MAPPED {
                // SAFETY: `allocate` made a mapping of this size, and nothing refers to it any more.
                unsafe { libc::munmap(self.first.as_ptr().cast(), layout.size()) };
                return;
            }
            // SAFETY: `allocate` took it from the allocator with this layout.
            unsafe { std::alloc::dealloc(self.first.as_ptr().cast(), layout) };
        }
    }
}
