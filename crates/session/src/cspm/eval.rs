//! Values of expressions in scripts, once or at a prompt.

use std::path::{Path, PathBuf};

use serde::Serialize;
use trefoil_control::Control;
use trefoil_cspm::checked::check_under;
use trefoil_cspm::eval::{Evaluator, Failure, Options, Reason};
use trefoil_cspm::rename::{Builtin, rename};
use trefoil_cspm::syntax::{DiskLoader, Symbol, Tree, parse_expression_into, parse_under};
use trefoil_cspm::types::Typed;
use trefoil_source::{Diagnostic, Report, Severity, Sources, Texts};

use crate::{Job, Problem, Resources};

/// Which expressions to evaluate in which script.
#[derive(Clone, Debug)]
pub struct Evaluating {
    /// The script.
    pub file: PathBuf,
    /// The expressions.
    pub expressions: Vec<String>,
    /// How many calls may be made.
    pub steps: Option<u64>,
}

/// An expression and its value, or why it has none.
#[derive(Clone, Debug, Serialize)]
pub struct ValueReport {
    /// The expression as given.
    pub expression: String,
    /// Its type as CSPM text.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_text: Option<String>,
    /// Its value as CSPM text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Report>,
}

/// The values of expressions.
#[derive(Clone, Debug, Serialize)]
pub struct EvaluationReport {
    /// The script.
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

/// Evaluates expressions in a script. A mistake in one of them leaves the others their values; running out ends
/// everything.
pub fn evaluate(task: &Evaluating, job: &Job) -> Result<EvaluationReport, Problem> {
    let script = Script::open(&task.file, &job.texts, &job.control)?;
    let values = script.values(&task.expressions, task.steps, &job.control)?;
    let mut rendered = [String::new(), String::new()];
    let report = |(expression, value): (&String, Result<Value, Problem>)| {
        let expression = expression.clone();
        match value {
            Ok(Value { type_text, text }) => {
                ValueReport { expression, type_text: Some(type_text), value: Some(text), diagnostics: Vec::new() }
            }
            Err(problem) => {
                rendered[0] += &problem.render(false);
                rendered[1] += &problem.render(true);
                ValueReport { expression, type_text: None, value: None, diagnostics: problem.reports() }
            }
        }
    };
    let values = task.expressions.iter().zip(values).map(report).collect();
    let file = task.file.display().to_string();
    Ok(EvaluationReport { file, values, rendered, resources: Resources::new(&job.control) })
}

/// A value.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its type as CSPM text.
    pub type_text: String,
    /// Itself as CSPM text.
    pub text: String,
}

/// A script that has been read, in which expressions can be evaluated again and again.
pub struct Script {
    file: PathBuf,
    texts: Texts,
    tree: Tree<Symbol>,
    sources: Sources,
}

impl Script {
    /// Reads a script and checks its names and types.
    pub fn open(file: &Path, texts: &Texts, control: &Control) -> Result<Script, Problem> {
        let mut sources = Sources::default();
        let loader = DiskLoader(texts.clone());
        let parsed = parse_under(control, &file.display().to_string(), &loader, &mut sources)?;
        let script = Script { file: file.to_path_buf(), texts: texts.clone(), tree: parsed.tree, sources };
        let checked = check_under(control, script.tree.clone(), &[], parsed.diagnostics)?;
        script.refuse(checked.diagnostics, &script.sources)?;
        Ok(script)
    }

    /// Reads it again.
    pub fn reload(&mut self, control: &Control) -> Result<(), Problem> {
        *self = Script::open(&self.file, &self.texts, control)?;
        Ok(())
    }

    /// The type of an expression.
    pub fn type_of(&self, expression: &str, control: &Control) -> Result<String, Problem> {
        let (typed, _) = self.checked(&[expression.to_string()], control)?;
        Ok(typed.query_types().first().cloned().unwrap_or_default())
    }

    /// The value of an expression.
    pub fn value(&self, expression: &str, steps: Option<u64>, control: &Control) -> Result<Value, Problem> {
        let mut values = self.values(&[expression.to_string()], steps, control)?;
        values.swap_remove(0)
    }

    /// The value of each expression, or what is wrong with it.
    fn values(
        &self,
        expressions: &[String],
        steps: Option<u64>,
        control: &Control,
    ) -> Result<Vec<Result<Value, Problem>>, Problem> {
        let (typed, sources) = match self.checked(expressions, control) {
            Ok(checked) => checked,
            Err(Problem::Stopped(stopped)) => return Err(stopped.into()),
            Err(problem) if expressions.len() == 1 => return Ok(vec![Err(problem)]),
            // One of them is wrong: each on its own, then.
            Err(_) => {
                let alone = |expression: &String| self.values(std::slice::from_ref(expression), steps, control);
                let values: Result<Vec<_>, Problem> = expressions.iter().map(alone).collect();
                return Ok(values?.into_iter().flatten().collect());
            }
        };
        control.progress().begin("evaluating", 0);
        let mut evaluator = Evaluator::new(&typed, control.clone(), Options { steps, ..Options::default() });
        let mut values = Vec::with_capacity(expressions.len());
        for at in 0..expressions.len() {
            let value = evaluator.query(at).and_then(|value| evaluator.finish(value));
            values.push(match value {
                Ok(value) => {
                    let type_text = typed.query_types().get(at).cloned().unwrap_or_default();
                    Ok(Value { type_text, text: evaluator.show_terms(&value, &|span| sources.text(span).to_string()) })
                }
                Err(failure) => match problem(&failure, &sources) {
                    Problem::Stopped(stopped) => return Err(stopped.into()),
                    problem => Err(problem),
                },
            });
        }
        Ok(values)
    }

    /// The names that an expression can mention.
    pub fn names(&self) -> Vec<String> {
        let (renamed, _) = rename(self.tree.clone(), &[]);
        let definitions = 0..renamed.definitions().len() as u32;
        let mut names: Vec<String> =
            definitions.map(|id| renamed.qualified(trefoil_cspm::rename::DefinitionId(id))).collect();
        names.extend(Builtin::ALL.iter().map(|builtin| builtin.text().to_string()));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The script with expressions beside it, checked.
    fn checked(&self, expressions: &[String], control: &Control) -> Result<(Typed, Sources), Problem> {
        let (mut tree, mut sources) = (self.tree.clone(), self.sources.clone());
        let mut queries = Vec::with_capacity(expressions.len());
        let mut said = Vec::new();
        for expression in expressions {
            let file = sources.add("expression", expression.clone());
            let (query, diagnostics) = parse_expression_into(&mut tree, file, &sources);
            said.extend(diagnostics);
            queries.push(query);
        }
        let checked = check_under(control, tree, &queries, said)?;
        match checked.typed {
            Some(typed) => Ok((typed, sources)),
            None => Err(self.refuse(checked.diagnostics, &sources).expect_err("the script has an error")),
        }
    }

    /// Ends with the diagnostics if one of them is an error.
    fn refuse(&self, mut diagnostics: Vec<Diagnostic>, sources: &Sources) -> Result<(), Problem> {
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
        if diagnostics.is_empty() { Ok(()) } else { Err(Problem::Script(diagnostics, sources.clone())) }
    }
}

fn problem(failure: &Failure, sources: &Sources) -> Problem {
    match (failure.reason(), failure.diagnostic()) {
        (Reason::Stopped(stopped), _) => Problem::Stopped(*stopped),
        (_, diagnostic) => Problem::Script(diagnostic.into_iter().collect(), sources.clone()),
    }
}
