//! The data of a specification: its types, and values of expressions over it.

use trefoil_control::{Control, Stopped};
use trefoil_data::rewrite::{Program, Rewriter, Unfinished};
use trefoil_data::signature::{FunctionId, Origin};
use trefoil_data::syntax::Parser;
use trefoil_data::typed::{DataSpecification, TypedId};
use trefoil_data::types::Checker;
use trefoil_source::{Diagnostic, FileId, Severity};
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
}

/// Why an expression has no value.
#[derive(Clone, Debug)]
pub enum NoValue {
    /// It has no type, or is no expression.
    Wrong(Vec<Diagnostic>),
    /// A budget ran out, or the user interrupted; with the functions that recur, the innermost first.
    Unfinished(Stopped, Vec<String>),
}

impl Data {
    /// Checks the types of a specification's data. There is data when no mistake was found, here or by the reader.
    pub fn check(specification: &Specification, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Data> {
        let mut checker = Checker::new(&specification.tree, text, &specification.broken);
        checker.data(specification.data());
        diagnostics.append(&mut checker.diagnostics);
        let wrong = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        (!wrong).then_some(Data { specification: checker.specification })
    }

    /// The functions it declares, in the order of the text.
    pub fn functions(&self) -> Vec<DeclaredFunction> {
        let data = &self.specification;
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

    /// The sort of an expression.
    pub fn sort_of(&self, expression: &str, file: FileId) -> Result<String, Vec<Diagnostic>> {
        let (data, typed) = self.typed(expression, file)?;
        Ok(data.sort_text(data.tree.sort(typed)))
    }

    fn typed(&self, expression: &str, file: FileId) -> Result<(DataSpecification, TypedId), Vec<Diagnostic>> {
        let mut parser = Parser::with_names(expression, file, self.specification.names.clone());
        let Ok(read) = parser.whole_expression() else { return Err(parser.diagnostics) };
        let mut checker = Checker::over(self.specification.clone(), &parser.tree, expression);
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
        rewriter.most_steps = steps.unwrap_or(u64::MAX);
        match rewriter.evaluate(codes[0], &[]) {
            Ok(term) => Ok(Value { sort, text: program.text(rewriter.section(), term) }),
            Err(unfinished) => {
                let stopped = match unfinished {
                    Unfinished::Stopped(stopped) => stopped,
                    Unfinished::Steps => Stopped::Steps { limit: rewriter.most_steps },
                };
                Err(NoValue::Unfinished(stopped, recurring(&program, &rewriter)))
            }
        }
    }
}

/// The functions that recur among those that were being evaluated, at most five.
fn recurring(program: &Program, rewriter: &Rewriter<'_>) -> Vec<String> {
    let running: Vec<String> = rewriter.interrupted().iter().filter_map(|&function| program.name(function)).collect();
    let mut names: Vec<String> = Vec::new();
    for name in &running {
        if running.iter().filter(|other| *other == name).count() > 1 && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names.truncate(5);
    names
}
