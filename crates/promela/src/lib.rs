//! Promela, the language of Spin: text to a typed program, and the program as a system of the waist.
//!
//! [`read`] does the whole way from a file to a [`Program`]; [`Model`] runs it. With every reduction off, the states
//! and steps of a model are exactly those that Spin's own verifier stores and takes; `machine/explorer.rs` says what a
//! step is.

mod codes;
mod compile;
mod evaluate;
mod indivisible_run;
pub mod machine;
mod merging;
pub mod program;
pub mod simulate;
pub mod symmetry;
pub mod syntax;
mod trail;
mod walk;

use trefoil_control::{Control, Stopped};
use trefoil_source::{Diagnostic, FileId, Place, Sources};

pub use codes::CODES;
pub use compile::MOST_PROCESSES;
pub use machine::{Channel, Fault, FaultKind, Messages, Model, Observed, Watched};
pub use program::Program;
pub use simulate::{Act, Exchanges, Message, Moment, Move, Simulation, Simulator, Standing, Told, Variables, Way};
pub use syntax::Reader;
pub use trail::{Followed, Line, Trail};

/// Reads, resolves and compiles a model. The diagnostics describe its mistakes; with an error among them there is no
/// program. A syntax error does not hide the mistakes in names and types of the rest.
pub fn read(
    file: FileId,
    sources: &mut Sources,
    reader: &mut Reader<'_>,
    diagnostics: &mut Vec<Diagnostic>,
    control: &Control,
) -> Result<Option<Program>, Stopped> {
    let tree = syntax::parse(file, sources, reader, diagnostics, control)?;
    if tree.incomplete {
        return Ok(None);
    }
    let parsed = diagnostics.len();
    let mut program = compile::compile(file, &tree, diagnostics, control)?;
    if parsed > 0 {
        // Mistakes of both stages in the order of the text.
        diagnostics.sort_by_key(|diagnostic| match diagnostic.labels[0].place {
            Place::Span(span) => (span.file, span.start),
            _ => (file, 0),
        });
    }
    if let Some(program) = &mut program {
        compile::add_texts(program, sources, control)?;
    }
    Ok(program)
}
