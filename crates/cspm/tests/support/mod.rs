//! Shared by the tests; none of them uses all of it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

use trefoil_control::Control;
use trefoil_cspm::syntax::*;
use trefoil_source::{Place, Sources};

/// The scripts in a folder of a stage's tests, by name.
pub(crate) fn scripts_of(stage: &str, folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(stage).join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// The scripts in a folder of the syntax tests, by name.
pub(crate) fn scripts(folder: &str) -> Vec<PathBuf> {
    scripts_of("syntax", folder)
}

/// Parses a text that includes nothing.
pub(crate) fn parse_text(text: &str) -> Parsed {
    parse("test.csp", &MemoryLoader::one("test.csp", text), &mut Sources::default())
}

/// Files of the tests; `included.csp` is found everywhere.
pub(crate) struct TestLoader;

impl Loader for TestLoader {
    fn read(&self, name: &str, control: &Control) -> Result<Vec<u8>, String> {
        if name.ends_with("/included.csp") {
            Ok(b"y = 1\n".to_vec())
        } else {
            DiskLoader::default().read(name, control)
        }
    }
}

/// What was said, as `C010 1:5` lines.
pub(crate) fn said(parsed: &Parsed, sources: &Sources) -> Vec<String> {
    said_in(&parsed.diagnostics, sources)
}

/// Diagnostics as `C010 1:5` lines.
pub(crate) fn said_in(diagnostics: &[trefoil_source::Diagnostic], sources: &Sources) -> Vec<String> {
    let line = |diagnostic: &trefoil_source::Diagnostic| match &diagnostic.labels[0].place {
        Place::Span(span) => {
            let (line, column) = sources.file(span.file).line_column(span.start);
            format!("{} {line}:{column}", diagnostic.code)
        }
        _ => diagnostic.code.to_string(),
    };
    diagnostics.iter().map(line).collect()
}

/// An expression with every bracket written: the shape of the tree, by a printer that knows no precedence.
pub(crate) fn shape(tree: &Tree<Symbol>, id: ExpressionId) -> String {
    let name = |symbol| tree.names.text(symbol).to_string();
    let sub = |id| shape(tree, id);
    let many = |list| tree.list(list).iter().map(|&id| shape(tree, id)).collect::<Vec<_>>().join(", ");
    let pairs = |list: List<Pair>, between: &str| {
        let shown = |pair: &Pair| format!("{} {between} {}", sub(pair.0), sub(pair.1));
        tree.list(list).iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    let statements = |list: List<Statement>, from: &str| {
        let shown = |statement: &Statement| match *statement {
            Statement::Generator { pattern, set } => match tree.pattern(pattern) {
                Pattern::Name(symbol) => format!("{} {from} {}", name(*symbol), sub(set)),
                other => format!("{other:?} {from} {}", sub(set)),
            },
            Statement::Condition(condition) => sub(condition),
        };
        tree.list(list).iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    match *tree.expression(id) {
        Expression::Name(symbol) => name(symbol),
        Expression::Integer(number) => number.to_string(),
        Expression::Unary { operator, operand } => {
            let text = match operator {
                UnaryOperator::Not => "not ",
                UnaryOperator::Negate => "-",
                UnaryOperator::Length => "#",
            };
            let operand = sub(operand);
            let text = if operand.starts_with('(') { text.trim() } else { text };
            format!("({text}{operand})")
        }
        Expression::Binary { operator, left, right } => {
            use BinaryOperator::*;
            let text = match operator {
                Dot => ".",
                Sequential => "; ",
                Hide => " \\ ",
                Project => " |\\ ",
                Interleave => " ||| ",
                InternalChoice => " |~| ",
                ExternalChoice => " [] ",
                Interrupt => " /\\ ",
                SlidingChoice => " [> ",
                Guard => " & ",
                Or => " or ",
                And => " and ",
                Equal => " == ",
                NotEqual => " != ",
                Less => " < ",
                LessOrEqual => " <= ",
                Greater => " > ",
                GreaterOrEqual => " >= ",
                Add => " + ",
                Subtract => " - ",
                Multiply => " * ",
                Divide => " / ",
                Remainder => " % ",
                Concatenate => " ^ ",
            };
            format!("({}{text}{})", sub(left), sub(right))
        }
        Expression::Synchronised { operator: SynchronisedOperator::Parallel, left, events, right } => {
            format!("({} [|{}|] {})", sub(left), sub(events), sub(right))
        }
        Expression::Rename { process, renames, .. } => format!("{}[[{}]]", sub(process), pairs(renames, "<-")),
        Expression::Prefix { channel, process, .. } => format!("({} -> {})", sub(channel), sub(process)),
        Expression::Apply { function, arguments } => format!("{}({})", sub(function), many(arguments)),
        Expression::If { condition, then, otherwise } => {
            format!("(if {} then {} else {})", sub(condition), sub(then), sub(otherwise))
        }
        Expression::Collection { kind: CollectionKind::Sequence, items: Items::Listed(items), statements: after } => {
            let after = if after.is_empty() { String::new() } else { format!(" | {}", statements(after, "<-")) };
            format!("<{}{after}>", many(items))
        }
        Expression::Replicated { operator, statements: generators, body } => {
            let generators = statements(generators, ":");
            let (text, alphabet) = match operator {
                Replication::Interleave => ("|||", String::new()),
                Replication::ExternalChoice => ("[]", String::new()),
                Replication::Alphabetised(alphabet) => ("||", format!("[{}] ", sub(alphabet))),
                other => panic!("the shape of {other:?} is not written here"),
            };
            format!("({text} {generators} @ {alphabet}{})", sub(body))
        }
        ref other => format!("{other:?}"),
    }
}
