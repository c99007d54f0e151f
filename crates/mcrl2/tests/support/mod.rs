//! Texts to diagnostics, and to values.

#[allow(dead_code)]
pub(crate) mod values;

use trefoil_data::types::Checker;
use trefoil_mcrl2::syntax;
use trefoil_source::{Diagnostic, Place, Sources};

/// Everything that is reported of a text: by the reader, and by the type checker of its data.
#[allow(dead_code)]
pub(crate) fn reported(text: &str) -> Vec<Diagnostic> {
    let mut sources = Sources::default();
    let file = sources.add("test.mcrl2", text);
    let mut diagnostics = Vec::new();
    let specification = syntax::parse(text, file, &mut diagnostics);
    let mut checker = Checker::new(&specification.tree, text, &specification.broken);
    checker.data(specification.data());
    diagnostics.append(&mut checker.diagnostics);
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
