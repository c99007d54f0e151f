//! The assertions of a script: open it, list them, run one, get a report.
//!
//! A script is read once and evaluated as far as its assertions need it. One compiler serves all of them, so that what two
//! assertions share is evaluated, compiled and compressed once; each runs under budgets of its own.

mod assertions;
mod compiled;
mod counterexample;
mod proof;
mod reduction;
mod report;
mod run;
mod symmetric;
pub(crate) mod witness;

use std::path::Path;

use trefoil_cspm::eval::{Failure, Reason};
use trefoil_cspm::process::Compiler;
use trefoil_cspm::types::Typed;
use trefoil_source::{Diagnostic, Place, Sources};

use crate::cspm::{Opened, Warnings};
use crate::problem::{NOT_SUPPORTED, REFUSED, UNKNOWN_LANGUAGE};
use crate::promela;
use crate::{Choice, Job, Problem, Unfinished};
use assertions::{Listed, Printed, listed};

pub use counterexample::{TAU, TICK};
pub use report::{
    Assertion, AssertionReport, Behaviour, Claim, Counterexample, Coverage, Evidence, Finding, Part, Permuted,
    PermutedKind, PrintResult, Run, RunReport, Step, UsedSymmetry,
};

/// The languages of scripts.
pub const LANGUAGES: &[Choice] = &[
    Choice { name: "cspm", about: "CSPM, the language of FDR (.csp, .cspm, .fdr2)" },
    Choice { name: "promela", about: "Promela, the language of Spin (.pml, .promela, .prom, .spin, .p)" },
];

const EXTENSIONS: &[(&str, &str)] = &[
    ("csp", "cspm"),
    ("cspm", "cspm"),
    ("fdr2", "cspm"),
    ("pml", "promela"),
    ("promela", "promela"),
    ("prom", "promela"),
    ("spin", "promela"),
    ("p", "promela"),
];

/// The algorithms for refinement.
pub const ALGORITHMS: &[Choice] = &[
    Choice { name: "automatic", about: "whichever suits the specification" },
    Choice { name: "antichain", about: "keep only the least sets of specification states; no normal form is built" },
    Choice { name: "normal-form", about: "normalise the specification before the search" },
    Choice { name: "lazy-normal-form", about: "normalise the specification as far as the search looks" },
];

/// The strategies that choose representatives of symmetric states.
pub const STRATEGIES: &[Choice] = &{
    let known = trefoil_symmetry::STRATEGIES;
    let mut table = [Choice { name: "", about: "" }; trefoil_symmetry::STRATEGIES.len()];
    let mut at = 0;
    while at < known.len() {
        table[at] = Choice { name: known[at].name, about: known[at].about };
        at += 1;
    }
    table
};

/// Which symmetries are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All that can be proved.
    Automatic,
    /// Those that assertions ask for.
    AsWritten,
    /// None, whatever assertions ask for.
    Nothing,
    /// Those of these datatypes, whatever assertions ask for; it is a mistake when one is not symmetric.
    Types(Vec<String>),
}

/// How a search remembers the states that it has met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Store {
    /// As they are.
    #[default]
    Exact,
    /// By 64 bits of a hash: what is not found is not proved.
    HashCompact,
    /// By three bits of a table of so many bytes: what is not found is not proved.
    Bitstate {
        /// The size of the table.
        bytes: u64,
    },
}

/// How assertions are run.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// By its name in [`ALGORITHMS`].
    pub algorithm: &'static str,
    /// Whether sequential components are compressed by strong bisimulation.
    pub compress_leaves: bool,
    /// Whether steps that wait for each other only by accident are taken in one order, as `:[partial order reduce]` asks.
    pub partial_order: bool,
    /// Which symmetries are used.
    pub symmetry: Wanted,
    /// How representatives are chosen, by its name among the strategies.
    pub strategy: &'static str,
    /// Whether a search of a Promela model goes on after the first counterexample.
    pub keep_going: bool,
    /// How states are remembered; CSPM assertions are checked exactly or not at all.
    pub store: Store,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            algorithm: "automatic",
            compress_leaves: true,
            partial_order: false,
            symmetry: Wanted::Automatic,
            strategy: "auto",
            keep_going: false,
            store: Store::Exact,
        }
    }
}

/// A script whose assertions can be run.
pub struct Script {
    file: String,
    sources: Sources,
    warnings: Warnings,
    assertions: Vec<Listed>,
    prints: Vec<Printed>,
    typed: Typed,
    /// Made when the first assertion or print statement needs it.
    compiler: Option<Compiler>,
}

impl Script {
    /// Reads a script, resolves its names and checks its types. Without a language, the name of the file tells it; standard
    /// input (`-`) is CSPM.
    pub fn open(file: &Path, language: Option<&'static str>, job: &Job) -> Result<Script, Problem> {
        job.control.check()?;
        must_be_cspm(file, language)?;
        let (mut opened, tree) = Opened::parsed(file, &job.control)?;
        let (assertions, prints) = listed(&tree, &opened.sources);
        let typed = opened.checked(tree, &[], &job.control)?;
        let warnings = opened.warnings();
        let Opened { file, sources, .. } = opened;
        Ok(Script { file, sources, warnings, assertions, prints, typed, compiler: None })
    }

    /// What is suspicious about it.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// Its assertions, in order.
    pub fn assertions(&self) -> impl ExactSizeIterator<Item = &Assertion> {
        self.assertions.iter().map(|listed| &listed.shown)
    }

    /// The values of its print statements.
    pub fn print_statements(&mut self, options: &CheckOptions, job: &Job) -> Vec<PrintResult> {
        let prints = self.prints.clone();
        let mut said = Vec::with_capacity(prints.len());
        for printed in prints {
            let evaluator = self.prepare_compiler(options, job).evaluator();
            let (result, errors) = match evaluator.mentioned(printed.expression) {
                None => (None, vec!["print statements in modules and timed sections are not evaluated".to_string()]),
                Some(value) => match value.and_then(|value| evaluator.finish(value)) {
                    Ok(value) => (Some(evaluator.show(&value)), Vec::new()),
                    Err(failure) => (None, vec![failure_text(&failure)]),
                },
            };
            said.push(PrintResult { expression: printed.text, result, errors });
        }
        said
    }

    /// Assertions are about sets of sets of events, which no hash stands for.
    fn refuse_store(&self, index: usize) -> AssertionReport {
        let listed = index.checked_sub(1).and_then(|at| self.assertions.get(at));
        let listed = listed.expect("assertions have the numbers that the script gives them");
        let message = "CSPM assertions are checked exactly: there is no bitstate or hash-compact store for them";
        let diagnostic = Diagnostic::error(REFUSED, message, Place::Span(listed.span));
        let mut report = AssertionReport::new(listed.shown.clone());
        report.tell(&diagnostic, &self.sources);
        report
    }

    /// What looking at the process of an assertion needs.
    pub(crate) fn into_parts(self) -> Option<(Compiler, Sources)> {
        self.compiler.map(|compiler| (compiler, self.sources))
    }

    /// The text of the process that an assertion is about.
    pub(crate) fn process_text(&self, index: usize) -> Option<&str> {
        index.checked_sub(1).and_then(|at| self.assertions.get(at)).map(|listed| listed.process.as_str())
    }

    /// The report of a run, once its assertions have been run.
    pub fn report(&self, print_statement_results: Vec<PrintResult>, results: Vec<AssertionReport>) -> RunReport {
        RunReport {
            file_name: self.file.clone(),
            errors: Vec::new(),
            warnings: self.warnings.reports.iter().map(line).collect(),
            print_statement_results,
            event_map: results.iter().flat_map(|result| result.events.clone()).collect(),
            results,
            assertions: self.assertions().cloned().collect(),
            unfinished: None,
            diagnostics: self.warnings.reports.clone(),
        }
    }
}

/// A script of any language.
pub enum AnyScript {
    /// CSPM.
    Cspm(Box<Script>),
    /// Promela.
    Promela(Box<promela::Script>),
}

impl AnyScript {
    /// Reads a script; see [`Script::open`].
    pub fn open(file: &Path, language: Option<&'static str>, job: &Job) -> Result<AnyScript, Problem> {
        Ok(match language_of(file, language)? {
            "promela" => AnyScript::Promela(Box::new(promela::Script::open(file, job)?)),
            _ => AnyScript::Cspm(Box::new(Script::open(file, language, job)?)),
        })
    }

    /// What is suspicious about it.
    pub fn warnings(&self) -> &Warnings {
        match self {
            AnyScript::Cspm(script) => script.warnings(),
            AnyScript::Promela(script) => script.warnings(),
        }
    }

    /// Whether the options make sense for this script.
    pub fn accepts(&mut self, options: &CheckOptions, job: &Job) -> Result<(), Problem> {
        match self {
            AnyScript::Cspm(script) => script.accepts(options, job),
            AnyScript::Promela(_) => Ok(()),
        }
    }

    /// What can be checked, in order.
    pub fn assertions(&self) -> Vec<Assertion> {
        match self {
            AnyScript::Cspm(script) => script.assertions().cloned().collect(),
            AnyScript::Promela(script) => script.assertions().cloned().collect(),
        }
    }

    /// The values of its print statements.
    pub fn print_statements(&mut self, options: &CheckOptions, job: &Job) -> Vec<PrintResult> {
        match self {
            AnyScript::Cspm(script) => script.print_statements(options, job),
            AnyScript::Promela(_) => Vec::new(),
        }
    }

    /// Runs the assertion with this number.
    pub fn run(&mut self, index: usize, options: &CheckOptions, job: &Job) -> AssertionReport {
        match self {
            AnyScript::Cspm(script) if options.store != Store::Exact => script.refuse_store(index),
            AnyScript::Cspm(script) => script.run(index, options, job),
            AnyScript::Promela(script) => script.run(index, options, job),
        }
    }

    /// The report of a run, once its assertions have been run.
    pub fn report(&self, prints: Vec<PrintResult>, results: Vec<AssertionReport>) -> RunReport {
        match self {
            AnyScript::Cspm(script) => script.report(prints, results),
            AnyScript::Promela(script) => script.report(prints, results),
        }
    }
}

impl RunReport {
    /// The report of a script that cannot be used.
    pub fn refused(file: &Path, problem: &Problem, job: &Job) -> RunReport {
        let diagnostics = problem.reports();
        let mut errors: Vec<String> = diagnostics.iter().filter(|said| said.severity == "error").map(line).collect();
        let mut unfinished = None;
        if let Problem::Stopped(stopped) = problem {
            errors.push(stopped.to_string());
            unfinished = Some(Unfinished::new(*stopped, &job.control));
        }
        let warnings = diagnostics.iter().filter(|said| said.severity != "error").map(line).collect();
        let file_name = file.display().to_string();
        RunReport { file_name, errors, warnings, unfinished, diagnostics, ..RunReport::default() }
    }
}

/// A diagnostic on one line: place, message, code.
pub(crate) fn line(report: &trefoil_source::Report) -> String {
    let place = report.places.first().map(|place| match (place.line, place.column) {
        (Some(line), Some(column)) => format!("{}:{line}:{column}: ", place.file),
        _ => format!("{}: ", place.file),
    });
    format!("{}{} [{}]", place.unwrap_or_default(), report.message, report.code)
}

fn failure_text(failure: &Failure) -> String {
    match (failure.reason(), failure.diagnostic()) {
        (Reason::Stopped(stopped), _) => stopped.to_string(),
        (_, Some(diagnostic)) => format!("{} [{}]", diagnostic.message, diagnostic.code),
        (_, None) => "cannot be evaluated".to_string(),
    }
}

/// The language of a script, when that can be told.
pub fn language(file: &Path, language: Option<&'static str>) -> Option<&'static str> {
    language_of(file, language).ok()
}

/// Refuses what is written in another language.
pub(crate) fn must_be_cspm(file: &Path, language: Option<&'static str>) -> Result<(), Problem> {
    if language_of(file, language)? == "cspm" {
        return Ok(());
    }
    let place = Place::File(file.display().to_string());
    Err(Problem::from(Diagnostic::error(NOT_SUPPORTED, "this can be done with CSPM scripts only", place)))
}

/// Is a file a Promela model?
pub fn is_promela(file: &Path, language: Option<&'static str>) -> bool {
    language_of(file, language).is_ok_and(|language| language == "promela")
}

/// The language of a script.
pub(crate) fn language_of(file: &Path, language: Option<&'static str>) -> Result<&'static str, Problem> {
    if let Some(language) = language {
        return Ok(language);
    }
    if file.as_os_str() == "-" {
        return Ok("cspm");
    }
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase();
    match EXTENSIONS.iter().find(|(known, _)| *known == extension) {
        Some((_, language)) => Ok(language),
        None => {
            let place = Place::File(file.display().to_string());
            let message = "the name does not tell which language this is";
            let known: Vec<String> = EXTENSIONS.iter().map(|(extension, _)| format!(".{extension}")).collect();
            let help = format!("known are {}; otherwise say it with --language", known.join(", "));
            Err(Problem::from(Diagnostic::error(UNKNOWN_LANGUAGE, message, place).help(help)))
        }
    }
}
