//! List decision diagrams: sets of rows and relations between them.
//!
//! A row is a list of values of 32 bits, one for each slot. A set of rows of one width is a diagram whose nodes are
//! shared: a node has a value, what may follow the value in the next slots, and the list of the other values of its
//! slot. Sets of 10^20 rows often have some thousand nodes, and operations take time in the number of nodes, not of
//! rows.
//!
//! [`Diagrams`] is a pool with a shared table, a cache of results and threads that work on each operation together; a
//! [`Set`] is a root in it. A [`Relation`] reads some slots and writes some; [`Diagrams::image`] and
//! [`Diagrams::preimage`] follow it forwards and backwards, [`Diagrams::saturated`] until nothing is new. Every
//! operation obeys the control of its pool and ends with the reason when that stops it.
//!
//! Absent here on purpose: what rows mean. Learning relations from a system and choosing an order of slots belong to
//! `symbolic`. There is no `unsafe` either: nodes and entries are words that are read and written as atomics.

mod cache;
mod files;
mod gate;
mod image;
mod jobs;
mod levels;
mod pool;
mod relation;
mod rows;
mod saturate;
mod sets;
mod sync;
mod table;
mod worker;

pub use dashu_int::UBig;
pub use files::{LddModel, LoadError};
pub use levels::Levels;
pub use pool::{Diagrams, Options, Set};
pub use relation::{Pair, Relation, Slots};
pub use rows::Rows;
