//! Jobs on CSPM scripts.

pub mod eval;

use std::path::Path;

use serde::Serialize;
use trefoil_control::Control;
use trefoil_cspm::checked::{Checked, check_under};
use trefoil_cspm::syntax::{
    DiskLoader, ExpressionId, Parsed, Symbol, Tree, parse_expression_into, parse_under, print as print_tree,
};
use trefoil_cspm::types::Typed;
use trefoil_source::{Diagnostic, FileId, Report, Severity, Sources};

use crate::problem::rendered;
use crate::{Job, Problem, Resources};

/// A script has types.
#[derive(Clone, Debug, Serialize)]
pub struct TypecheckReport {
    /// The file.
    pub file: String,
    /// How many names it defines.
    pub definitions: usize,
    /// What is suspicious about it.
    pub warnings: Warnings,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// The types of a script's names.
#[derive(Clone, Debug, Serialize)]
pub struct TypesReport {
    /// The file.
    pub file: String,
    /// Its names in the order of the script.
    pub names: Vec<TypedName>,
    /// What is suspicious about it.
    pub warnings: Warnings,
}

/// A name and its type.
#[derive(Clone, Debug, Serialize)]
pub struct TypedName {
    /// The name, with its module.
    pub name: String,
    /// The type as CSPM text.
    #[serde(rename = "type")]
    pub type_text: String,
}

/// A script, formatted.
#[derive(Clone, Debug, Serialize)]
pub struct PrintReport {
    /// The file.
    pub file: String,
    /// Its text.
    pub text: String,
    /// What is suspicious about it.
    pub warnings: Warnings,
}

/// Warnings, as data and as text for a terminal.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Warnings {
    /// As data.
    pub reports: Vec<Report>,
    #[serde(skip)]
    rendered: [String; 2],
}

impl Warnings {
    pub(crate) fn new(diagnostics: &[Diagnostic], sources: &Sources) -> Warnings {
        let reports = diagnostics.iter().map(|diagnostic| Report::new(diagnostic, sources)).collect();
        Warnings { reports, rendered: [false, true].map(|colour| rendered(diagnostics, sources, colour)) }
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.reports.is_empty()
    }

    /// For a terminal.
    pub fn text(&self, colour: bool) -> &str {
        &self.rendered[usize::from(colour)]
    }
}

/// What a stage gave, unless it found an error. Warnings are added to those of earlier stages.
fn passed<X>(
    (result, said): (X, Vec<Diagnostic>),
    warnings: &mut Vec<Diagnostic>,
    sources: &Sources,
) -> Result<X, Problem> {
    let wrong = said.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    warnings.extend(said);
    if wrong { Err(Problem::Script(std::mem::take(warnings), sources.clone())) } else { Ok(result) }
}

/// A script that was read, and the warnings about it so far.
pub(crate) struct Opened {
    pub(crate) file: String,
    pub(crate) sources: Sources,
    warnings: Vec<Diagnostic>,
}

impl Opened {
    pub(crate) fn parsed(file: &Path, job: &Job) -> Result<(Opened, Tree<Symbol>), Problem> {
        let file = file.display().to_string();
        let mut sources = Sources::default();
        let Parsed { tree, diagnostics } =
            parse_under(&job.control, &file, &DiskLoader(job.texts.clone()), &mut sources)?;
        Ok((Opened { file, sources, warnings: diagnostics }, tree))
    }

    /// Ends if the text has mistakes.
    fn readable(&mut self) -> Result<(), Problem> {
        let said = std::mem::take(&mut self.warnings);
        passed(((), said), &mut self.warnings, &self.sources)
    }

    /// An expression beside the script.
    pub(crate) fn expression(
        &mut self,
        tree: &mut Tree<Symbol>,
        text: &str,
    ) -> Result<(ExpressionId, FileId), Problem> {
        let file = self.sources.add("expression", text.to_string());
        let parsed = parse_expression_into(tree, file, &self.sources);
        Ok((passed(parsed, &mut self.warnings, &self.sources)?, file))
    }

    /// The names of a tree and of expressions beside it resolved, their types checked.
    pub(crate) fn checked(
        &mut self,
        tree: Tree<Symbol>,
        expressions: &[ExpressionId],
        control: &Control,
    ) -> Result<Typed, Problem> {
        let said = std::mem::take(&mut self.warnings);
        let Checked { typed, diagnostics } = check_under(control, tree, expressions, said)?;
        self.warnings = diagnostics;
        typed.ok_or_else(|| Problem::Script(std::mem::take(&mut self.warnings), self.sources.clone()))
    }

    fn typed(file: &Path, job: &Job) -> Result<(Opened, Typed), Problem> {
        let (mut opened, tree) = Opened::parsed(file, job)?;
        let typed = opened.checked(tree, &[], &job.control)?;
        Ok((opened, typed))
    }

    pub(crate) fn warnings(&self) -> Warnings {
        Warnings::new(&self.warnings, &self.sources)
    }
}

/// Checks that a script has types.
pub fn typecheck(file: &Path, job: &Job) -> Result<TypecheckReport, Problem> {
    let (opened, typed) = Opened::typed(file, job)?;
    let warnings = opened.warnings();
    let resources = Resources::new(&job.control);
    Ok(TypecheckReport { file: opened.file, definitions: typed.types().len(), warnings, resources })
}

/// The type of each name that a script defines.
pub fn types(file: &Path, job: &Job) -> Result<TypesReport, Problem> {
    let (opened, typed) = Opened::typed(file, job)?;
    let name = |(id, text): &(_, String)| TypedName { name: typed.renamed().qualified(*id), type_text: text.clone() };
    let names = typed.types().iter().map(name).collect();
    let warnings = opened.warnings();
    Ok(TypesReport { file: opened.file, names, warnings })
}

/// A script as text again, formatted; files that it includes stay included.
pub fn print(file: &Path, job: &Job) -> Result<PrintReport, Problem> {
    let (mut opened, tree) = Opened::parsed(file, job)?;
    opened.readable()?;
    let warnings = opened.warnings();
    Ok(PrintReport { file: opened.file, text: print_tree(&tree), warnings })
}
