//! The stages from a parsed script to its types in one call.
//!
//! A mistake in one stage does not end the next: broken text leaves `Error` nodes and names that stand for nothing
//! known, an unknown name has a type that fits everything, and all other declarations are resolved and typed as usual.
//! So one run reports the mistakes of all stages, and a mistake is reported once, not at every place that depends on
//! it.

use trefoil_control::{Control, Stopped};
use trefoil_source::{Diagnostic, Place, Severity};

use crate::rename::rename_under;
use crate::syntax::{ExpressionId, Symbol, Tree};
use crate::types::{Typed, typecheck_under};

/// What the stages found.
#[derive(Debug)]
pub struct Checked {
    /// The script with its types; none if a diagnostic is an error.
    pub typed: Option<Typed>,
    /// The diagnostics of all stages in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Resolves the names of a tree and of the expressions parsed into it (`queries`) and checks their types, although
/// parsing may have found mistakes; `diagnostics` are those of parsing.
pub fn check_under(
    control: &Control,
    tree: Tree<Symbol>,
    queries: &[ExpressionId],
    mut diagnostics: Vec<Diagnostic>,
) -> Result<Checked, Stopped> {
    control.progress().begin("resolving names", 0);
    let (renamed, said) = rename_under(control, tree, queries)?;
    diagnostics.extend(said);
    control.progress().begin("checking types", 0);
    let (typed, mut said) = typecheck_under(control, renamed)?;
    // A type error around an earlier mistake may follow from it.
    said.retain(|diagnostic| !diagnostics.iter().any(|other| contains(diagnostic, other)));
    diagnostics.extend(said);
    let wrong = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    diagnostics.sort_by_key(|diagnostic| match diagnostic.labels[0].place {
        Place::Span(span) => (span.file.0 + 1, span.start),
        _ => (0, 0),
    });
    Ok(Checked { typed: (!wrong).then_some(typed), diagnostics })
}

/// Whether the place of a diagnostic contains that of another one.
fn contains(outer: &Diagnostic, inner: &Diagnostic) -> bool {
    match (&outer.labels[0].place, &inner.labels[0].place) {
        (Place::Span(outer), Place::Span(inner)) => {
            // What is missing behind the outer place is not inside it.
            let inside = inner.start < outer.end || inner.start == outer.start;
            outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end && inside
        }
        _ => false,
    }
}
