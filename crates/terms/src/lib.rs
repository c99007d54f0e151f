//! Terms: immutable, maximally shared, made and read by many threads, collected when nothing holds them.
//!
//! ```
//! use trefoil_terms::Pool;
//!
//! let pool = Pool::default();
//! let (zero, plus) = (pool.symbol("zero", 0), pool.symbol("plus", 2));
//! let worker = pool.worker();
//! let mut stack = worker.stack();
//! let mut section = worker.enter();
//! let zero = section.create(zero, &[]);
//! let sum = section.create(plus, &[zero, section.word(7)]);
//! assert_eq!(sum, section.create(plus, &[zero, section.word(7)]));
//! assert_eq!(section.display(sum).to_string(), "plus(zero, 7)");
//! stack.push(sum);
//! section.poll()?;
//! assert_eq!(section.argument(stack[0], 0), section.argument(sum, 0));
//! # Ok::<(), trefoil_control::Stopped>(())
//! ```
//!
//! A [`Pool`] is a value: dropping it frees everything. A thread works through a [`Worker`] and makes and reads terms
//! in a [`Section`], which holds the shared side of the busy-forbidden lock ([`lock`]). A [`Term`] is a number of 32
//! bits.
//!
//! # What keeps a term alive
//!
//! Collections happen at [`Section::poll`] of an outermost section, and after its end, and nowhere else; creating a
//! term never collects. So between two polls every term is valid, whether something holds it or not, and a rewriter's
//! inner steps protect nothing. Over a poll a term must be held: by a [`Root`], on a [`RootStack`], in a [`Parcel`] to
//! another thread, in a [`Numbering`], or below such a term. A term that was held by nothing may be another one
//! afterwards. Debug builds overwrite collected terms and panic when they meet one, and [`Options::zealous`] collects
//! at every poll, so that a test finds a missing root. Release builds stay within the memory of the pool even then.
//!
//! Absent here on purpose: sorts, variables, rewriting, and any order by ids. `docs/decisions/004` has the reasons.

mod canonical;
mod cells;
mod collect;
mod index;
pub mod lock;
mod memory;
mod numbering;
mod pool;
mod reader;
mod roots;
mod symbols;
mod sync;
mod table;
mod worker;

#[cfg(test)]
mod interleavings;

pub use cells::{MOST_ARGUMENTS, MOST_BYTES, Term};
pub use numbering::{Kept, Numbering};
pub use pool::{Options, Pool, Probes, Statistics};
pub use reader::{Arguments, Display, Reader};
pub use roots::{Parcel, Root, RootStack};
pub use symbols::Symbol;
pub use worker::{Section, Worker};
