//! Files, places in them, and what is said about those places.
//!
//! A user's mistake becomes a [`Diagnostic`]: a stable code, a terse message, the places that matter, and a hint. A reader
//! that holds a whole file in memory speaks of [`Span`]s in [`Sources`]; a reader that streams past gigabytes keeps
//! only the offending [`Line`]. Both are shown alike, for people by [`render`] and for programs by [`Report`].
//! [`nearest`] finds what a misspelt name may have meant. [`replace_file`] writes results.

mod diagnostic;
mod files;
mod nearest;
mod render;
mod replace;

pub use diagnostic::{Code, CodeEntry, Diagnostic, Label, Place, Severity};
pub use files::{FileId, Line, SourceFile, Sources, Span};
pub use nearest::nearest;
pub use render::{Report, ReportedPlace, render};
pub use replace::replace_file;
