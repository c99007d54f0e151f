//! Values of data expressions.

use std::path::{Path, PathBuf};

use serde::Serialize;
use trefoil_control::{Control, Stopped};
use trefoil_data::rewrite::{Program, Rewriter, Unfinished};
use trefoil_data::syntax::Parser;
use trefoil_data::typed::DataSpecification;
use trefoil_data::types::Checker;
use trefoil_source::{Diagnostic, Report, Sources};
use trefoil_terms::{Options, Pool};

use super::Opened;
use crate::{Job, Problem, Resources};

/// Which expressions to evaluate over which specification.
#[derive(Clone, Debug)]
pub struct Evaluating {
    /// The specification.
    pub file: PathBuf,
    /// The expressions.
    pub expressions: Vec<String>,
    /// How many calls may be made for each.
    pub steps: Option<u64>,
}

/// An expression and its normal form, or what is wrong with it.
#[derive(Clone, Debug, Serialize)]
pub struct ValueReport {
    /// The expression as given.
    pub expression: String,
    /// Its sort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
    /// Its normal form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Report>,
}

/// The values of expressions.
#[derive(Clone, Debug, Serialize)]
pub struct EvaluationReport {
    /// The specification.
    pub file: String,
    /// One for each expression, in order.
    pub values: Vec<ValueReport>,
    #[serde(skip)]
    rendered: [String; 2],
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

impl EvaluationReport {
    /// What is wrong with expressions that have no value, for a terminal.
    pub fn complaints(&self, colour: bool) -> &str {
        &self.rendered[usize::from(colour)]
    }
}

/// Evaluates expressions. A mistake in one of them leaves the others their values; running out ends everything.
pub fn evaluate(task: &Evaluating, job: &Job) -> Result<EvaluationReport, Problem> {
    let script = Script::open(&task.file, &job.control)?;
    let mut rendered = [String::new(), String::new()];
    let mut values = Vec::new();
    for expression in &task.expressions {
        let expression = expression.clone();
        values.push(match script.value(&expression, task.steps, &job.control) {
            Ok(Value { sort, text }) => {
                ValueReport { expression, sort: Some(sort), value: Some(text), diagnostics: Vec::new() }
            }
            Err(Problem::Stopped(stopped)) => return Err(stopped.into()),
            Err(problem) => {
                rendered[0] += &problem.render(false);
                rendered[1] += &problem.render(true);
                ValueReport { expression, sort: None, value: None, diagnostics: problem.reports() }
            }
        });
    }
    let file = task.file.display().to_string();
    Ok(EvaluationReport { file, values, rendered, resources: Resources::new(&job.control) })
}

/// A value.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its sort.
    pub sort: String,
    /// Its normal form in mCRL2's notation.
    pub text: String,
}

/// A specification that has been read, over which expressions can be evaluated again and again.
pub struct Script {
    file: PathBuf,
    data: DataSpecification,
}

impl Script {
    /// Reads a specification and checks the types of its data.
    pub fn open(file: &Path, control: &Control) -> Result<Script, Problem> {
        let mut opened = Opened::read(file, control)?;
        let data = opened.typed(control)?;
        Ok(Script { file: file.to_path_buf(), data })
    }

    /// Reads it again.
    pub fn reload(&mut self, control: &Control) -> Result<(), Problem> {
        *self = Script::open(&self.file, control)?;
        Ok(())
    }

    /// The sort of an expression.
    pub fn sort_of(&self, expression: &str) -> Result<String, Problem> {
        let (data, typed) = self.typed(expression)?;
        Ok(data.sort_text(data.tree.sort(typed)))
    }

    /// The names that an expression can mention.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.data.signature.names().map(|name| self.data.names.text(name).to_string()).collect();
        names.sort_unstable();
        names
    }

    fn typed(&self, expression: &str) -> Result<(DataSpecification, trefoil_data::typed::TypedId), Problem> {
        let mut sources = Sources::default();
        let file = sources.add("expression", expression);
        let refused = |diagnostics: Vec<Diagnostic>| Problem::Script(diagnostics, sources.clone());
        let mut parser = Parser::with_names(expression, file, self.data.names.clone());
        let Ok(read) = parser.whole_expression() else {
            return Err(refused(parser.diagnostics));
        };
        let mut checker = Checker::over(self.data.clone(), &parser.tree, expression);
        match checker.infer(read) {
            Ok(typed) => Ok((checker.specification, typed)),
            Err(_) => Err(refused(checker.diagnostics)),
        }
    }

    /// The normal form of an expression.
    pub fn value(&self, expression: &str, steps: Option<u64>, control: &Control) -> Result<Value, Problem> {
        let (data, typed) = self.typed(expression)?;
        let sort = data.sort_text(data.tree.sort(typed));
        control.progress().begin("rewriting", 0);
        let pool = Pool::new(Options { control: control.clone(), ..Options::default() });
        let (program, codes) = Program::new(data, &[(typed, Vec::new())], &pool);
        let worker = pool.worker();
        let mut rewriter = Rewriter::new(&program, &worker);
        rewriter.most_steps = steps.unwrap_or(u64::MAX);
        match rewriter.evaluate(codes[0], &[]) {
            Ok(term) => Ok(Value { sort, text: program.text(rewriter.section(), term) }),
            Err(unfinished) => {
                let recurring = recurring(&program, &rewriter);
                if !recurring.is_empty() {
                    control.progress().begin(&format!("rewriting, within {recurring}"), 0);
                }
                Err(match unfinished {
                    Unfinished::Stopped(stopped) => stopped.into(),
                    Unfinished::Steps => Stopped::Steps { limit: rewriter.most_steps }.into(),
                })
            }
        }
    }
}

/// The functions that recur among those that were being evaluated, the innermost first.
fn recurring(program: &Program, rewriter: &Rewriter<'_>) -> String {
    let running: Vec<String> = rewriter.interrupted().iter().filter_map(|&function| program.name(function)).collect();
    let mut names: Vec<&String> = Vec::new();
    for name in &running {
        if running.iter().filter(|other| *other == name).count() > 1 && !names.contains(&name) {
            names.push(name);
        }
    }
    let names: Vec<String> = names.into_iter().take(5).map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
