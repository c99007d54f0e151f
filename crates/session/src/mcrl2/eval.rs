//! Values of data expressions.

use std::path::{Path, PathBuf};

use serde::Serialize;
use trefoil_control::Control;
use trefoil_mcrl2::{Data, NoValue};
use trefoil_source::{Report, Sources, Texts};

use super::Opened;
use crate::cspm::Warnings;
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

/// The normal form of an expression.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The sort as mCRL2 text.
    pub sort: String,
    /// The normal form as mCRL2 text.
    pub text: String,
    /// What keeps it from being a value.
    pub warnings: Warnings,
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
    /// What is wrong with it, or keeps its normal form from being a value.
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
    let script = Script::open(&task.file, &job.texts, &job.control)?;
    let mut rendered = [String::new(), String::new()];
    let mut values = Vec::new();
    for expression in &task.expressions {
        let expression = expression.clone();
        values.push(match script.value(&expression, task.steps, &job.control) {
            Ok(Evaluated { sort, text, warnings }) => {
                rendered[0] += warnings.text(false);
                rendered[1] += warnings.text(true);
                ValueReport { expression, sort: Some(sort), value: Some(text), diagnostics: warnings.reports }
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

/// A specification that has been read, over which expressions can be evaluated again and again.
pub struct Script {
    file: PathBuf,
    texts: Texts,
    data: Data,
    sources: Sources,
}

impl Script {
    /// Reads a specification and checks the types of its data.
    pub fn open(file: &Path, texts: &Texts, control: &Control) -> Result<Script, Problem> {
        let mut opened = Opened::read(file, texts, control)?;
        let data = opened.typed(control)?;
        Ok(Script { file: file.to_path_buf(), texts: texts.clone(), data, sources: opened.sources })
    }

    /// Reads it again.
    pub fn reload(&mut self, control: &Control) -> Result<(), Problem> {
        *self = Script::open(&self.file, &self.texts, control)?;
        Ok(())
    }

    /// The names that an expression can mention.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.data.functions().into_iter().map(|function| function.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The sort of an expression.
    pub fn sort_of(&self, expression: &str) -> Result<String, Problem> {
        let mut sources = self.sources.clone();
        let file = sources.add("expression", expression);
        self.data.sort_of(expression, file).map_err(|diagnostics| Problem::Script(diagnostics, sources))
    }

    /// The normal form of an expression.
    pub fn value(&self, expression: &str, steps: Option<u64>, control: &Control) -> Result<Evaluated, Problem> {
        let mut sources = self.sources.clone();
        let file = sources.add("expression", expression);
        control.progress().begin("rewriting", 0);
        match self.data.value(expression, file, steps, control) {
            Ok(value) => {
                let warnings = Warnings::new(&value.warnings, &sources);
                Ok(Evaluated { sort: value.sort, text: value.text, warnings })
            }
            Err(none) => Err(problem(none, sources, control)),
        }
    }

    /// The solutions of `solve x, y: S; z: T. e`, each given to `each` as text until it wants no more. The warnings say
    /// what keeps the list from being complete.
    pub fn solve(
        &self,
        line: &str,
        steps: Option<u64>,
        control: &Control,
        each: &mut dyn FnMut(String) -> bool,
    ) -> Result<Warnings, Problem> {
        let mut sources = self.sources.clone();
        let file = sources.add("expression", line);
        control.progress().begin("solving", 0);
        // The word before the variables is no part of what is read, but places are those of the line.
        let text = line.replacen("solve", "     ", 1);
        match self.data.solve(&text, file, steps, control, each) {
            Ok(warnings) => Ok(Warnings::new(&warnings, &sources)),
            Err(none) => Err(problem(none, sources, control)),
        }
    }
}

/// Why there is no value; what recurs in a rewrite without end is shown as its progress.
fn problem(none: NoValue, sources: Sources, control: &Control) -> Problem {
    match none {
        NoValue::Wrong(diagnostics) => Problem::Script(diagnostics, sources),
        NoValue::Unfinished(stopped, recurring) => {
            if !recurring.is_empty() {
                let names: Vec<String> = recurring.iter().map(|name| format!("`{name}`")).collect();
                control.progress().begin(&format!("rewriting, within {}", names.join(", ")), 0);
            }
            stopped.into()
        }
    }
}
