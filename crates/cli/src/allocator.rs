//! The allocator of the programs, and giving its freed memory back.

use mimalloc::MiMalloc;

/// The allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[allow(unsafe_code)]
mod collect {
    unsafe extern "C" {
        /// Part of the allocator's interface: `force` returns all free pages to the operating system.
        safe fn mi_collect(force: bool);
    }

    /// Gives all freed memory back to the operating system now.
    pub(crate) fn release() {
        mi_collect(true);
    }
}

pub(crate) use collect::release;
