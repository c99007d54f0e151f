//! Jobs on mCRL2 specifications: types, formatting, values of their data.

pub mod check;
pub mod decompose;
pub mod eval;
pub(crate) mod growth;
pub mod linear;
pub mod structure;
pub(crate) mod words;

use std::path::Path;

use serde::Serialize;
use trefoil_control::Control;
use trefoil_mcrl2::processes::{self, ProcessSpecification};
use trefoil_mcrl2::syntax::tree::Specification;
use trefoil_mcrl2::syntax::{parse, print as print_specification};
use trefoil_mcrl2::{Data, DeclaredFunction, VariableId, declared_functions};
use trefoil_source::{Diagnostic, Place, Severity, Sources, Texts};

use crate::cspm::{PrintReport, TypecheckReport, Warnings};
use crate::problem::UNREADABLE;
use crate::{Job, Problem, Resources};

/// The sorts of what a specification declares.
#[derive(Clone, Debug, Serialize)]
pub struct SortsReport {
    /// The file.
    pub file: String,
    /// Its functions in the order of the text.
    pub functions: Vec<FunctionSort>,
    /// Its actions in the order of the text.
    pub actions: Vec<ActionSorts>,
    /// Its processes in the order of the text.
    pub processes: Vec<ProcessSorts>,
    /// What is suspicious about it.
    pub warnings: Warnings,
}

/// A function and its sort.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionSort {
    /// How it was declared: `constructor`, `map`, `projection` or `recogniser`.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// The sort as mCRL2 text.
    pub sort: String,
}

/// An action and the sorts of its arguments.
#[derive(Clone, Debug, Serialize)]
pub struct ActionSorts {
    /// The name.
    pub name: String,
    /// The sorts as mCRL2 text.
    pub sorts: Vec<String>,
}

/// A process and its parameters.
#[derive(Clone, Debug, Serialize)]
pub struct ProcessSorts {
    /// The name.
    pub name: String,
    /// The parameters, each with its sort as mCRL2 text.
    pub parameters: Vec<(String, String)>,
}

/// A specification that was read.
pub(crate) struct Opened {
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) sources: Sources,
    pub(crate) specification: Specification,
    diagnostics: Vec<Diagnostic>,
}

impl Opened {
    /// Reads a file; mistakes in its text are kept until its types are checked, too.
    pub(crate) fn read(file: &Path, texts: &Texts, control: &Control) -> Result<Opened, Problem> {
        control.check()?;
        let name = file.display().to_string();
        let text = read_text(file, texts, control).map_err(|why| {
            if let Err(stopped) = control.check() {
                return Problem::Stopped(stopped);
            }
            let message = trefoil_source::cannot_read(&name, &why);
            Problem::Input(vec![Diagnostic::error(UNREADABLE, message, Place::File(name.clone()))])
        })?;
        let mut sources = Sources::default();
        let id = sources.add(name.clone(), text.clone());
        let mut diagnostics = Vec::new();
        let specification = parse(&text, id, &mut diagnostics);
        Ok(Opened { file: name, text, sources, specification, diagnostics })
    }

    /// Checks the types of the data; all mistakes are reported together.
    pub(crate) fn typed(&mut self, control: &Control) -> Result<Data, Problem> {
        control.progress().begin("checking types", 0);
        control.check()?;
        match Data::check(&self.specification, &self.text, &mut self.diagnostics) {
            Some(data) => Ok(data),
            None => Err(Problem::Script(std::mem::take(&mut self.diagnostics), self.sources.clone())),
        }
    }

    /// Checks the types of data and processes; all mistakes are reported together.
    pub(crate) fn typed_processes(&mut self, control: &Control) -> Result<ProcessSpecification, Problem> {
        control.progress().begin("checking types", 0);
        control.check()?;
        match processes::check(&self.specification, &self.text, &mut self.diagnostics) {
            Some(typed) => Ok(typed),
            None => Err(Problem::Script(std::mem::take(&mut self.diagnostics), self.sources.clone())),
        }
    }

    fn refuse_errors(&mut self) -> Result<(), Problem> {
        let wrong = self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        if wrong { Err(Problem::Script(std::mem::take(&mut self.diagnostics), self.sources.clone())) } else { Ok(()) }
    }

    pub(crate) fn warnings(&self) -> Warnings {
        Warnings::new(&self.diagnostics, &self.sources)
    }
}

/// The text of a file. A file that is not UTF-8 has its other characters in comments, which no stage looks at.
fn read_text(file: &Path, texts: &Texts, control: &Control) -> Result<String, String> {
    let bytes = texts.read(file, control)?;
    control.progress().begin(&format!("parsing {}", file.display()), 0);
    if u32::try_from(bytes.len()).is_err() {
        return Err("it has 4 GiB or more".to_string());
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Checks that a specification has types, its data and its processes.
pub fn typecheck(file: &Path, job: &Job) -> Result<TypecheckReport, Problem> {
    let mut opened = Opened::read(file, &job.texts, &job.control)?;
    let definitions = opened.typed_processes(&job.control)?.declared();
    let warnings = opened.warnings();
    Ok(TypecheckReport { file: opened.file, definitions, warnings, resources: Resources::new(&job.control) })
}

/// The sorts of the functions, actions and processes that a specification declares.
pub fn types(file: &Path, job: &Job) -> Result<SortsReport, Problem> {
    let mut opened = Opened::read(file, &job.texts, &job.control)?;
    let typed = opened.typed_processes(&job.control)?;
    let functions = declared_functions(&typed.data);
    let functions =
        functions.into_iter().map(|DeclaredFunction { kind, name, sort }| FunctionSort { kind, name, sort }).collect();
    let actions = typed.actions.iter().map(|action| ActionSorts {
        name: typed.name(action.name).to_string(),
        sorts: action.sorts.iter().map(|&sort| typed.data.sort_text(sort)).collect(),
    });
    let parameter = |&variable: &VariableId| {
        let (name, sort) = typed.data.tree.variable(variable);
        (typed.name(name).to_string(), typed.data.sort_text(sort))
    };
    let processes = typed.definitions.iter().map(|definition| ProcessSorts {
        name: typed.name(definition.name).to_string(),
        parameters: definition.parameters.iter().map(parameter).collect(),
    });
    let warnings = opened.warnings();
    let (actions, processes) = (actions.collect(), processes.collect());
    Ok(SortsReport { file: opened.file, functions, actions, processes, warnings })
}

/// A specification as text again, formatted.
pub fn print(file: &Path, job: &Job) -> Result<PrintReport, Problem> {
    let mut opened = Opened::read(file, &job.texts, &job.control)?;
    opened.refuse_errors()?;
    let text = print_specification(&opened.specification, &opened.text);
    let warnings = opened.warnings();
    Ok(PrintReport { file: opened.file, text, warnings })
}
