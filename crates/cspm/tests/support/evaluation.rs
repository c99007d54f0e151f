//! Evaluating texts; no test uses all of it.
#![allow(dead_code)]

use trefoil_control::Control;
use trefoil_cspm::eval::{Evaluator, Options, Reason};
use trefoil_cspm::rename::{Renamed, rename};
use trefoil_cspm::syntax::{MemoryLoader, parse, parse_expression_into};
use trefoil_source::{Severity, Sources, render};

/// What became of an expression: its value as text, or the code of the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Value(String),
    Error(String),
}

/// A script with queries, ready to be evaluated; panics when it cannot be read.
pub(crate) fn prepare(script: &str, expressions: &[&str]) -> Renamed {
    let mut sources = Sources::default();
    let parsed = parse("test.csp", &MemoryLoader::one("test.csp", script), &mut sources);
    let (mut tree, mut diagnostics) = (parsed.tree, parsed.diagnostics);
    let mut queries = Vec::new();
    for text in expressions {
        let file = sources.add("expression", text.to_string());
        let (query, found) = parse_expression_into(&mut tree, file, &sources);
        queries.push(query);
        diagnostics.extend(found);
    }
    let (renamed, found) = rename(tree, &queries);
    diagnostics.extend(found);
    let errors: Vec<String> = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .map(|diagnostic| render(diagnostic, &sources, false))
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    renamed
}

/// Evaluates expressions in a script.
pub(crate) fn evaluate(script: &str, expressions: &[&str]) -> Vec<Answer> {
    let renamed = prepare(script, expressions);
    let options = Options { depth: 400_000, ..Options::default() };
    let mut evaluator = Evaluator::untyped(&renamed, Control::unlimited(), options);
    let one = |at| match evaluator.query(at).and_then(|value| evaluator.finish(value)) {
        Ok(value) => Answer::Value(evaluator.show(&value)),
        Err(failure) => match failure.reason() {
            Reason::Mistake(mistake) => Answer::Error(mistake.code.to_string()),
            Reason::Stopped(stopped) => Answer::Error(stopped.to_string()),
        },
    };
    (0..expressions.len()).map(one).collect()
}
