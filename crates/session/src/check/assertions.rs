//! The assertions and print statements of a script, found and printed as text before names are resolved.

use trefoil_cspm::syntax::{
    Check, CheckOption, Declaration, DeclarationId, ExpressionId, List, Model, Property, Symbol, Tree, print_expression,
};
use trefoil_source::{ReportedPlace, Sources, Span};

use super::report::{Assertion, Claim};

/// An assertion with what is needed to run it.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) shown: Assertion,
    pub(super) check: Check,
    pub(super) options: List<CheckOption>,
    pub(super) span: Span,
    /// The text of the process that runs: the implementation, or the process of a property.
    pub(super) process: String,
    /// The text of the specification.
    pub(super) specification: String,
}

/// A print statement.
#[derive(Clone, Debug)]
pub(super) struct Printed {
    pub(super) expression: ExpressionId,
    pub(super) text: String,
}

/// Everything that a script asks for, in order; those of included files in the place of their `include`.
pub(super) fn listed(tree: &Tree<Symbol>, sources: &Sources) -> (Vec<Listed>, Vec<Printed>) {
    let (mut assertions, mut prints) = (Vec::new(), Vec::new());
    for id in all(tree) {
        match *tree.declaration(id) {
            Declaration::Assert { negated, check, options } if check != Check::Error => {
                let span = tree.declaration_span(id);
                let index = assertions.len() + 1;
                assertions.push(assertion(tree, sources, index, span, (negated, check, options)));
            }
            Declaration::Print(expression) => prints.push(Printed { expression, text: words(tree, expression) }),
            _ => {}
        }
    }
    (assertions, prints)
}

/// The processes that the assertions of a script are about, each once.
pub(crate) fn asserted_processes(tree: &Tree<Symbol>, sources: &Sources) -> Vec<String> {
    let mut processes = Vec::new();
    for listed in listed(tree, sources).0 {
        if listed.shown.kind != Claim::Symmetric && !processes.contains(&listed.process) {
            processes.push(listed.process);
        }
    }
    processes
}

/// All declarations of a script in order, those in modules and timed sections too.
fn all(tree: &Tree<Symbol>) -> Vec<DeclarationId> {
    let mut found = Vec::new();
    let mut waiting: Vec<DeclarationId> = tree.list(tree.declarations).iter().rev().copied().collect();
    while let Some(id) = waiting.pop() {
        match *tree.declaration(id) {
            Declaration::Include { declarations, .. } | Declaration::Timed { declarations, .. } => {
                waiting.extend(tree.list(declarations).iter().rev());
            }
            Declaration::Module { private, exported, .. } => {
                waiting.extend(tree.list(exported).iter().rev());
                waiting.extend(tree.list(private).iter().rev());
            }
            _ => found.push(id),
        }
    }
    found
}

fn assertion(
    tree: &Tree<Symbol>,
    sources: &Sources,
    index: usize,
    span: Span,
    (negated, check, options): (bool, Check, List<CheckOption>),
) -> Listed {
    let with_model = |phrase: &str, model: Option<Model>| match model {
        Some(model) => format!("{phrase} [{}]", model_name(model)),
        None => phrase.to_string(),
    };
    let mut specification = String::new();
    let (kind, model, process, mut text) = match check {
        Check::Refinement { specification: left, model, implementation } => {
            specification = words(tree, left);
            let process = words(tree, implementation);
            let text = format!("{specification} [{}= {process}", model_name(model));
            (Claim::Refinement, Some(model), process, text)
        }
        Check::Property { process, property, model } => {
            let (kind, phrase) = match property {
                Property::DeadlockFree => (Claim::DeadlockFree, "deadlock free"),
                Property::LivelockFree => (Claim::LivelockFree, "divergence free"),
                Property::Deterministic => (Claim::Deterministic, "deterministic"),
            };
            let process = words(tree, process);
            let text = format!("{process} :[{}]", with_model(phrase, model));
            (kind, model, process, text)
        }
        Check::HasTrace { process, model, trace } => {
            let process = words(tree, process);
            let text = format!("{process} :[{}]: {}", with_model("has trace", model), words(tree, trace));
            (Claim::HasTrace, model, process, text)
        }
        Check::Symmetric { expression, types } => {
            let process = words(tree, expression);
            let text = format!("{process} :[symmetric]: {}", several(tree, types));
            (Claim::Symmetric, None, process, text)
        }
        Check::Error => (Claim::Refinement, None, String::new(), String::new()),
    };
    let mut named = Vec::new();
    for option in tree.list(options) {
        let (name, value) = match *option {
            CheckOption::TauPriority(set) => ("tau priority over", words(tree, set)),
            CheckOption::PartialOrderReduce(strategy) => {
                let strategy = strategy.map(|symbol| format!(" [{}]", tree.names.text(symbol))).unwrap_or_default();
                named.push("partial order reduce");
                text.push_str(&format!(" :[partial order reduce{strategy}]"));
                continue;
            }
            CheckOption::SymmetryReduce(types) => ("symmetry reduce", several(tree, types)),
        };
        named.push(name);
        text.push_str(&format!(" :[{name}]"));
        if !value.is_empty() {
            text.push_str(&format!(": {value}"));
        }
    }
    if negated {
        text.insert_str(0, "not ");
    }
    let file = sources.file(span.file);
    let (line, column) = file.line_column(span.start);
    let place =
        ReportedPlace { file: file.name().to_string(), line: Some(line), column: Some(column), text: String::new() };
    let shown = Assertion {
        index,
        assertion_string: text,
        kind,
        model: model.map(model_name),
        is_negated: negated,
        options: named,
        place,
    };
    Listed { shown, check, options, span, process, specification }
}

fn several(tree: &Tree<Symbol>, expressions: List<ExpressionId>) -> String {
    let words: Vec<String> = tree.list(expressions).iter().map(|&id| words(tree, id)).collect();
    words.join(", ")
}

/// An expression on one line.
fn words(tree: &Tree<Symbol>, expression: ExpressionId) -> String {
    let text = print_expression(tree, expression);
    // The printer indents what it breaks, and never breaks inside a string.
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join(" ")
}

/// A model as scripts write it.
pub(super) fn model_name(model: Model) -> &'static str {
    match model {
        Model::Traces => "T",
        Model::Failures => "F",
        Model::FailuresDivergences => "FD",
        Model::Revivals => "V",
        Model::RevivalsDivergences => "VD",
        Model::Refusals => "R",
        Model::RefusalsDivergences => "RD",
    }
}
