//! The data of a specification: its types, and values of expressions over it.

use std::ops::ControlFlow;

use trefoil_control::{Control, Stopped};
use trefoil_data::rewrite::codes::UNLISTED;
use trefoil_data::rewrite::{Enumerated, Program, Rewriter, Sum, Unfinished, overlaps};
use trefoil_data::signature::{FunctionId, Origin};
use trefoil_data::syntax::tree::ExpressionId;
use trefoil_data::syntax::{Failed, Parser};
use trefoil_data::typed::{DataSpecification, Typed, TypedId};
use trefoil_data::types::Checker;
use trefoil_source::{Diagnostic, FileId, Place, Severity};
use trefoil_terms::{Options, Pool};

use crate::syntax::tree::Specification;

/// The typed data of a specification.
#[derive(Clone, Debug)]
pub struct Data {
    specification: DataSpecification,
}

/// A function that a specification declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredFunction {
    /// How it was declared: `constructor`, `map`, `projection` or `recogniser`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Its sort as mCRL2 text.
    pub sort: String,
}

/// An expression's sort and normal form, as mCRL2 text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The sort.
    pub sort: String,
    /// The normal form.
    pub text: String,
    /// What keeps it from being a value.
    pub warnings: Vec<Diagnostic>,
}

/// Why an expression has no value.
#[derive(Clone, Debug)]
pub enum NoValue {
    /// It has no type, or is no expression.
    Wrong(Vec<Diagnostic>),
    /// A budget ran out, or the user interrupted; with the functions that recur, the innermost first.
    Unfinished(Stopped, Vec<String>),
}

/// The functions that data declares, in the order of the text.
pub fn declared_functions(data: &DataSpecification) -> Vec<DeclaredFunction> {
    let all = (0..data.signature.len() as u32).map(|index| data.signature.function(FunctionId(index)));
    let mut functions: Vec<_> = all.filter(|function| !matches!(function.origin, Origin::Builtin(_))).collect();
    functions.sort_by_key(|function| function.place.map(|place| place.start));
    functions
        .into_iter()
        .map(|function| DeclaredFunction {
            kind: match function.origin {
                Origin::Constructor => "constructor",
                Origin::Projection => "projection",
                Origin::Recogniser => "recogniser",
                Origin::Map | Origin::Builtin(_) => "map",
            },
            name: data.names.text(function.name).to_string(),
            sort: data.sort_text(function.sort),
        })
        .collect()
}

impl Data {
    /// Checks the types of a specification's data. There is data when no mistake was found, here or by the reader.
    pub fn check(specification: &Specification, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Data> {
        let mut checker = Checker::new(&specification.tree, text, &specification.broken);
        checker.data(specification.data());
        diagnostics.append(&mut checker.diagnostics);
        if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            return None;
        }
        diagnostics.extend(overlaps(&checker.specification));
        Some(Data { specification: checker.specification })
    }

    /// The functions it declares, in the order of the text.
    pub fn functions(&self) -> Vec<DeclaredFunction> {
        declared_functions(&self.specification)
    }

    /// The sort of an expression; `_` stands where any sort will do, as in `[]`.
    pub fn sort_of(&self, expression: &str, file: FileId) -> Result<String, Vec<Diagnostic>> {
        let mut parser = Parser::with_names(expression, file, self.specification.names.clone());
        let Ok(read) = parser.whole_expression() else { return Err(parser.diagnostics) };
        let mut checker = Checker::over(self.specification.clone(), &parser.tree, expression);
        checker.inferred_sort(read).map_err(|_| checker.diagnostics)
    }

    fn typed(&self, expression: &str, file: FileId) -> Result<(DataSpecification, TypedId), Vec<Diagnostic>> {
        let mut parser = Parser::with_names(expression, file, self.specification.names.clone());
        let read = parser.whole_expression();
        self.checked(parser, read, expression)
    }

    fn checked(
        &self,
        parser: Parser<'_>,
        read: Result<ExpressionId, Failed>,
        text: &str,
    ) -> Result<(DataSpecification, TypedId), Vec<Diagnostic>> {
        let Ok(read) = read else { return Err(parser.diagnostics) };
        let mut checker = Checker::over(self.specification.clone(), &parser.tree, text);
        match checker.infer(read) {
            Ok(typed) => Ok((checker.specification, typed)),
            Err(_) => Err(checker.diagnostics),
        }
    }

    /// The normal form of an expression, after at most `steps` steps.
    pub fn value(
        &self,
        expression: &str,
        file: FileId,
        steps: Option<u64>,
        control: &Control,
    ) -> Result<Value, NoValue> {
        let (data, typed) = self.typed(expression, file).map_err(NoValue::Wrong)?;
        let sort = data.sort_text(data.tree.sort(typed));
        let pool = Pool::new(Options { control: control.clone(), ..Options::default() });
        let (program, codes) = Program::new(data, &[(typed, Vec::new())], &pool);
        let worker = pool.worker();
        let mut rewriter = Rewriter::new(&program, &worker);
        rewriter.limit_steps(steps.unwrap_or(u64::MAX));
        match rewriter.evaluate(codes[0], &[]) {
            Ok(term) => {
                // Where steps run out only now, functions are printed as they are.
                if let Err(unfinished @ Unfinished::Stopped(_)) = rewriter.find_forms(term) {
                    return Err(cut_off(unfinished, &program, &rewriter, steps));
                }
                let place = Place::Span(program.specification.tree.place(typed));
                let warnings = program.explain(rewriter.section(), term, place).into_iter().collect();
                Ok(Value { sort, text: program.text(rewriter.section(), term), warnings })
            }
            Err(unfinished) => Err(cut_off(unfinished, &program, &rewriter, steps)),
        }
    }

    /// The values of variables for which a condition holds, `x, y: S; z: T. e`: each solution is given to `each` as
    /// text, until it says that no more are wanted. What keeps the list from being complete is a diagnostic.
    pub fn solve(
        &self,
        text: &str,
        file: FileId,
        steps: Option<u64>,
        control: &Control,
        each: &mut dyn FnMut(String) -> bool,
    ) -> Result<Vec<Diagnostic>, NoValue> {
        let mut parser = Parser::with_names(text, file, self.specification.names.clone());
        let read = parser.whole_solve();
        let (data, typed) = self.checked(parser, read, text).map_err(NoValue::Wrong)?;
        let Typed::Quantified(_, variables, condition) = data.tree.expression(typed).clone() else {
            unreachable!("what is solved reads as a quantifier")
        };
        let place = Place::Span(data.tree.place(condition));
        let sum = Sum { parameters: Vec::new(), variables: variables.clone(), condition };
        let pool = Pool::new(Options { control: control.clone(), ..Options::default() });
        let (program, _, sums) = Program::with_sums(data, &[], &[sum], &pool);
        let worker = pool.worker();
        let mut rewriter = Rewriter::new(&program, &worker);
        rewriter.limit_steps(steps.unwrap_or(u64::MAX));
        let tree = &program.specification.tree;
        let listed = rewriter.solutions(sums[0], &[], u64::MAX, &mut |rewriter, values| {
            let assigned = variables.iter().zip(values).map(|(&variable, &value)| {
                let name = program.specification.names.text(tree.variable(variable).0);
                format!("{name} := {}", program.text(rewriter.section(), value))
            });
            let solution = format!("[{}]", assigned.collect::<Vec<_>>().join(", "));
            Ok(if each(solution) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        });
        match listed {
            Ok(Enumerated::All | Enumerated::Left) => Ok(Vec::new()),
            Ok(Enumerated::Open(term)) => {
                Ok(program.explain(rewriter.section(), term.term(), place).into_iter().collect())
            }
            Ok(Enumerated::Unbounded(variable)) => {
                let (why, help) = program.unlisted(variable, None);
                Ok(vec![Diagnostic::warning(UNLISTED, why, place).help(help)])
            }
            Err(unfinished) => Err(cut_off(unfinished, &program, &rewriter, steps)),
        }
    }
}

fn cut_off(unfinished: Unfinished, program: &Program, rewriter: &Rewriter<'_>, steps: Option<u64>) -> NoValue {
    let stopped = match unfinished {
        Unfinished::Stopped(stopped) => stopped,
        Unfinished::Steps => Stopped::Steps { limit: steps.unwrap_or(u64::MAX) },
    };
    NoValue::Unfinished(stopped, recurring(program, rewriter))
}

/// The functions that recur among those that were being evaluated, at most five; the one that was being evaluated where
/// none does, because the last call of a function reuses its frame.
fn recurring(program: &Program, rewriter: &Rewriter<'_>) -> Vec<String> {
    let running: Vec<String> = rewriter.interrupted().iter().filter_map(|&function| program.name(function)).collect();
    let mut names: Vec<String> = Vec::new();
    for name in &running {
        if running.iter().filter(|other| *other == name).count() > 1 && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names.truncate(5);
    if names.is_empty() {
        names.extend(running.into_iter().next());
    }
    names
}
