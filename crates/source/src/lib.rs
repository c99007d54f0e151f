//! Source files, places in them, and diagnostics about those places.
//!
//! A user's mistake becomes a [`Diagnostic`]: a stable code, a terse message, the places that matter, and a hint. A
//! reader that holds a whole file in memory uses [`Span`]s in [`Sources`]; a reader that streams past gigabytes keeps
//! only the offending [`Line`]. [`render`] shows both for people and [`Report`] for programs. [`nearest`] finds the
//! known name nearest to a misspelt one, and [`shortened`] cuts long texts. [`replace_file`] writes results. Front ends
//! read files by [`Texts`], where an editor's unsaved texts hide files, and all readers by [`Reading`],
//! which keeps to the budgets of a job.

mod diagnostic;
mod files;
mod nearest;
mod reading;
mod render;
mod replace;
mod shorten;
mod texts;

pub use diagnostic::{Code, CodeEntry, Diagnostic, Label, Place, Severity};
pub use files::{FileId, Line, SourceFile, Sources, Span, cannot_read, unreadable};
pub use nearest::nearest;
pub use reading::Reading;
pub use render::{Report, ReportedPlace, render};
pub use replace::replace_file;
pub use shorten::shortened;
pub use texts::Texts;
