//! Texts to diagnostics.

use trefoil_mcrl2::{processes, syntax};
use trefoil_source::{Diagnostic, Place, Sources};

/// Everything that is reported of a text: by the reader, and by the type checker of its data and processes.
pub(crate) fn reported(text: &str) -> Vec<Diagnostic> {
    let mut sources = Sources::default();
    let file = sources.add("test.mcrl2", text);
    let mut diagnostics = Vec::new();
    let specification = syntax::parse(text, file, &mut diagnostics);
    processes::check(&specification, text, &mut diagnostics);
    diagnostics
}

/// Code and column of a diagnostic.
#[allow(dead_code)]
pub(crate) fn code_and_column(diagnostic: &Diagnostic) -> (String, u32) {
    match &diagnostic.labels[0].place {
        Place::Span(span) => (diagnostic.code.to_string(), span.start + 1),
        other => panic!("{other:?} is no place in the text"),
    }
}
