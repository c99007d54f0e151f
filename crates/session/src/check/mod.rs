//! The assertions of a script: open it, list them, run one, get a report.
//!
//! A script is read once and evaluated as far as its assertions need it. One compiler serves all assertions, so that
//! processes which two of them share are evaluated, compiled and compressed once; each runs under budgets of its own.

mod assertions;
mod chart;
mod compiled;
mod counterexample;
mod matrix;
mod posing;
mod proof;
mod reduction;
mod report;
mod run;
mod symmetric;
pub(crate) mod witness;

use std::path::{Path, PathBuf};

use trefoil_cspm::eval::{Failure, Reason};
use trefoil_cspm::process::Compiler;
use trefoil_cspm::types::Typed;
use trefoil_source::{Diagnostic, Place, Sources, Span};

use crate::cspm::{Opened, Warnings};
use crate::problem::{NOT_SUPPORTED, REFUSED, UNKNOWN_LANGUAGE};
use crate::{Choice, Job, Problem, Unfinished};
use crate::{formulas, mcrl2, promela};
pub(crate) use assertions::asserted_processes;
use assertions::{Listed, Printed, listed};
pub(crate) use compiled::{Searched, Trouble};
pub(crate) use reduction::component_names;

pub use counterexample::{TAU, TICK};
pub use matrix::{MatrixReport, matrix};
pub(crate) use posing::not_decomposed;
pub use posing::{Unused, never_used, unused};
pub(crate) use proof::{Claimed, Proposal};
pub(crate) use reduction::{Looked, Sought, search, unknown as unknown_datatype};
pub use report::{
    Assertion, AssertionReport, Behaviour, Claim, Counterexample, Coverage, Evidence, Finding, Move, Number, Observed,
    OperatorRow, Part, Permuted, PermutedKind, Position, PrintResult, Run, RunReport, Step, UsedSymmetry, Violation,
};
pub(crate) use run::unused_strategy;
#[doc(hidden)]
pub use trefoil_check::PriceRule;
pub use trefoil_questions::{
    Algorithm, Asked, Decompose, EngineChoice, Fairness, GameSolver, Order, Preprocess, Setting, Store, SymmetryUse,
};

/// The languages of scripts.
pub const LANGUAGES: &[Choice] = &[
    Choice { name: "cspm", about: "CSPM, the language of FDR (.csp, .cspm, .fdr2)" },
    Choice { name: "promela", about: "Promela, the language of Spin (.pml, .promela, .prom, .spin, .p)" },
    Choice { name: "mcrl2", about: "mCRL2 (.mcrl2)" },
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
    ("mcrl2", "mcrl2"),
];

/// The engines that a user can ask for.
pub const ENGINES: &[Choice] = &[
    Choice {
        name: EngineChoice::Automatic.name(),
        about: "explicit states, and decision diagrams where there are too many",
    },
    Choice { name: EngineChoice::Explicit.name(), about: "one state after the other" },
    Choice { name: EngineChoice::Symbolic.name(), about: "sets of states as decision diagrams" },
];

/// What looks for winners while the game of a formula is explored.
pub const GAME_SOLVERS: &[Choice] = &[
    Choice { name: GameSolver::Automatic.name(), about: "choose by the game" },
    Choice { name: GameSolver::Sinks.name(), about: "vertices without moves, and what is attracted to them" },
    Choice { name: GameSolver::Solitaire.name(), about: "also cycles that a player walks alone" },
    Choice { name: GameSolver::Forced.name(), about: "also cycles that a player can force" },
    Choice { name: GameSolver::Fatal.name(), about: "also fatal attractors" },
    Choice { name: GameSolver::Recursive.name(), about: "everything that no further move can change" },
    Choice { name: GameSolver::Full.name(), about: "nothing: solve the game when all of it is explored" },
];

/// Which runs claims are about.
pub const FAIRNESS: &[Choice] = &[
    Choice { name: Fairness::None.name(), about: "all" },
    Choice { name: Fairness::Weak.name(), about: "a process that can always move, from some moment on, moves again" },
    Choice { name: Fairness::Strong.name(), about: "a process that can move again and again moves again and again" },
];

/// The algorithms for refinement.
pub const ALGORITHMS: &[Choice] = &[
    Choice { name: Algorithm::Automatic.name(), about: "choose by the size of the specification's normal form" },
    Choice {
        name: Algorithm::Antichain.name(),
        about: "keep only minimal sets of specification states; build no normal form",
    },
    Choice { name: Algorithm::NormalForm.name(), about: "normalise the specification before the search" },
    Choice {
        name: Algorithm::LazyNormalForm.name(),
        about: "normalise the specification as far as the search reaches",
    },
];

/// The strategies that choose representatives of symmetric states.
pub const STRATEGIES: &[Choice] = &{
    let known = trefoil_check::STRATEGIES;
    let mut table = [Choice { name: "", about: "" }; trefoil_check::STRATEGIES.len()];
    let mut at = 0;
    while at < known.len() {
        table[at] = Choice { name: known[at].name, about: known[at].about };
        at += 1;
    }
    table
};

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
    /// When a reduction by symmetry is left out because it does not pay.
    price: PriceRule,
    /// Whether merged states keep their acceptances in searches.
    acceptances_on_states: bool,
}

impl Script {
    /// Asks earlier, or answers beforehand, whether a reduction by symmetry pays: for tests.
    #[doc(hidden)]
    pub fn set_price_rule(&mut self, price: PriceRule) {
        self.price = price;
    }

    /// Whether states that a compression has merged keep their acceptances in searches, or have `τ` to a copy for each;
    /// for tests.
    pub fn keep_acceptances_on_states(&mut self, keep: bool) {
        self.acceptances_on_states = keep;
    }

    /// Reads a script, resolves its names and checks its types. Without a language the extension of the file decides;
    /// standard input (`-`) is CSPM.
    pub fn open(file: &Path, language: Option<&'static str>, job: &Job) -> Result<Script, Problem> {
        job.control.check()?;
        must_be_cspm(file, language)?;
        let (mut opened, tree) = Opened::parsed(file, job)?;
        let (assertions, prints) = listed(&tree, &opened.sources);
        let typed = opened.checked(tree, &[], &job.control)?;
        let warnings = opened.warnings();
        let Opened { file, sources, .. } = opened;
        Ok(Script {
            file,
            sources,
            warnings,
            assertions,
            prints,
            typed,
            compiler: None,
            price: PriceRule::default(),
            acceptances_on_states: true,
        })
    }

    /// Warnings about it.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// Its assertions, in order.
    pub fn assertions(&self) -> impl ExactSizeIterator<Item = &Assertion> {
        self.assertions.iter().map(|listed| &listed.shown)
    }

    /// The values of its print statements.
    pub fn print_statements(&mut self, options: &Asked, job: &Job) -> Vec<PrintResult> {
        let prints = self.prints.clone();
        let mut said = Vec::with_capacity(prints.len());
        let sources = self.sources.clone();
        let text = |span: Span| sources.text(span).to_string();
        for printed in prints {
            let evaluator = self.prepare_compiler(options, None, job).evaluator();
            let (result, errors) = match evaluator.mentioned(printed.expression) {
                None => {
                    (None, vec!["print statements inside modules and timed sections are not evaluated".to_string()])
                }
                Some(value) => match value.and_then(|value| evaluator.finish(value)) {
                    Ok(value) => (Some(evaluator.show_terms(&value, &text)), Vec::new()),
                    Err(failure) => (None, vec![failure_text(&failure)]),
                },
            };
            said.push(PrintResult { expression: printed.text, result, errors });
        }
        said
    }

    /// What looking at the process of an assertion needs.
    pub(crate) fn into_parts(self) -> Option<(Compiler, Sources)> {
        self.compiler.map(|compiler| (compiler, self.sources))
    }

    /// The text of the process that an assertion is about.
    pub(crate) fn process_text(&self, index: usize) -> Option<&str> {
        index.checked_sub(1).and_then(|at| self.assertions.get(at)).map(|listed| listed.process.as_str())
    }
}

/// Properties that a user asks beside those of a script.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// mCRL2: patterns of names of actions that must not happen.
    pub never: Vec<String>,
    /// Formulas, each a file or the formula itself; then nothing else is checked.
    pub formulas: Vec<String>,
    /// Patterns of properties, which stand for formulas.
    pub properties: Vec<String>,
    /// CSPM: the process that the formulas are about.
    pub process: Option<String>,
    /// CSPM: leave the components of that process as they are.
    pub no_leaf_compression: bool,
    /// Formulas of linear temporal logic: of a Promela model as if they stood at its end; of other models about labels,
    /// and then nothing else is checked.
    pub ltl: Vec<String>,
    /// Files with automata that must accept no run.
    pub claims: Vec<PathBuf>,
}

impl Wanted {
    /// Are there formulas of linear temporal logic or automata?
    fn has_claims(&self) -> bool {
        !self.ltl.is_empty() || !self.claims.is_empty()
    }
}

/// A script of any language.
pub enum AnyScript {
    /// CSPM.
    Cspm(Box<Script>),
    /// Promela.
    Promela(Box<promela::Script>),
    /// mCRL2.
    Mcrl2(Box<mcrl2::check::Script>),
    /// A model of any language, with formulas about it.
    Formulas(Box<formulas::Script>),
}

impl AnyScript {
    /// Reads a script; see [`Script::open`].
    pub fn open(file: &Path, language: Option<&'static str>, job: &Job) -> Result<AnyScript, Problem> {
        AnyScript::open_with(file, language, &Wanted::default(), job)
    }

    /// Reads a script, with properties that it does not state itself.
    pub fn open_with(
        file: &Path,
        language: Option<&'static str>,
        wanted: &Wanted,
        job: &Job,
    ) -> Result<AnyScript, Problem> {
        if formulas::is_project(file) {
            let (specification, own) = formulas::project(file, job)?;
            let asks_for_itself = wanted.formulas.is_empty() && wanted.properties.is_empty();
            let formulas = if asks_for_itself { own } else { wanted.formulas.clone() };
            let wanted = Wanted { formulas, ..wanted.clone() };
            return AnyScript::open_with(&specification, Some("mcrl2"), &wanted, job);
        }
        let Wanted { never, formulas, properties, process, .. } = wanted;
        // In Promela formulas of linear temporal logic are about states, and claims of the model beside others.
        let is_promela = language_of(file, language).is_ok_and(|language| language == "promela");
        if !formulas.is_empty() || !properties.is_empty() || (!is_promela && wanted.has_claims()) {
            if is_promela && wanted.has_claims() {
                let place = Place::File(file.display().to_string());
                let option = if wanted.ltl.is_empty() { "--claim" } else { "--ltl" };
                let message = format!("--formula asks formulas and nothing else, so {option} cannot be given with it");
                return Err(Problem::from(Diagnostic::error(REFUSED, message, place)));
            }
            if !never.is_empty() {
                let place = Place::File(file.display().to_string());
                let option =
                    if formulas.is_empty() && properties.is_empty() { "--ltl or --claim" } else { "--formula" };
                let message = format!("{option} asks formulas and nothing else, so --never cannot be given with it");
                return Err(Problem::from(Diagnostic::error(REFUSED, message, place)));
            }
            let language = match language {
                None if formulas::is_system(file) => None,
                language => Some(language_of(file, language)?),
            };
            return Ok(AnyScript::Formulas(Box::new(formulas::Script::open(file, language, wanted, job)?)));
        }
        if process.is_some() {
            let place = Place::File(file.display().to_string());
            let message = "--process names the process that formulas are about, and no formula is given";
            let help =
                "give --formula, --property or --ltl; the script's own assertions name their processes themselves";
            return Err(Problem::from(Diagnostic::error(REFUSED, message, place).help(help)));
        }
        let language = language_of(file, language)?;
        if !never.is_empty() && language != "mcrl2" {
            let place = Place::File(file.display().to_string());
            let message = "--never applies to mCRL2 specifications only";
            return Err(Problem::from(Diagnostic::error(REFUSED, message, place)));
        }
        Ok(match language {
            "promela" => {
                AnyScript::Promela(Box::new(promela::Script::open_with(file, &wanted.ltl, &wanted.claims, job)?))
            }
            "mcrl2" => AnyScript::Mcrl2(Box::new(mcrl2::check::Script::open(file, never, job)?)),
            language => AnyScript::Cspm(Box::new(Script::open(file, Some(language), job)?)),
        })
    }

    /// Warnings about it.
    pub fn warnings(&self) -> &Warnings {
        match self {
            AnyScript::Cspm(script) => script.warnings(),
            AnyScript::Promela(script) => script.warnings(),
            AnyScript::Mcrl2(script) => script.warnings(),
            AnyScript::Formulas(script) => script.warnings(),
        }
    }

    /// Checks that the options fit this script.
    pub fn accepts(&mut self, options: &Asked, job: &Job) -> Result<(), Problem> {
        match self {
            AnyScript::Cspm(script) => script.accepts(options, job),
            AnyScript::Promela(_) | AnyScript::Mcrl2(_) | AnyScript::Formulas(_) => Ok(()),
        }
    }

    /// What can be checked, in order.
    pub fn assertions(&self) -> Vec<Assertion> {
        match self {
            AnyScript::Cspm(script) => script.assertions().cloned().collect(),
            AnyScript::Promela(script) => script.assertions().cloned().collect(),
            AnyScript::Mcrl2(script) => script.assertions().cloned().collect(),
            AnyScript::Formulas(script) => script.assertions().cloned().collect(),
        }
    }

    /// The values of its print statements.
    pub fn print_statements(&mut self, options: &Asked, job: &Job) -> Vec<PrintResult> {
        match self {
            AnyScript::Cspm(script) => script.print_statements(options, job),
            AnyScript::Promela(_) | AnyScript::Mcrl2(_) | AnyScript::Formulas(_) => Vec::new(),
        }
    }

    /// The options that the assertion with this number cannot use.
    pub fn unused(&self, index: usize, options: &Asked) -> Vec<Unused> {
        match self {
            AnyScript::Cspm(script) => script.unused(index, options),
            AnyScript::Promela(script) => script.unused(index, options),
            AnyScript::Mcrl2(script) => script.unused(index, options),
            AnyScript::Formulas(script) => script.unused(index, options),
        }
    }

    /// Runs the assertion with this number.
    pub fn run(&mut self, index: usize, options: &Asked, job: &Job) -> AssertionReport {
        match self {
            AnyScript::Cspm(script) => script.run(index, options, job),
            AnyScript::Promela(script) => script.run(index, options, job),
            AnyScript::Mcrl2(script) => script.run(index, options, job),
            AnyScript::Formulas(script) => script.run(index, options, job),
        }
    }

    /// The report of a run, once its assertions have been run.
    pub fn report(&self, prints: Vec<PrintResult>, mut results: Vec<AssertionReport>) -> RunReport {
        if !matches!(self, AnyScript::Cspm(_)) {
            counterexample::complete(&mut results);
        }
        let file = match self {
            AnyScript::Cspm(script) => &script.file,
            AnyScript::Promela(script) => &script.file,
            AnyScript::Mcrl2(script) => &script.file,
            AnyScript::Formulas(script) => &script.file,
        };
        let diagnostics = self.warnings().reports.clone();
        RunReport {
            file_name: file.clone(),
            errors: Vec::new(),
            warnings: diagnostics.iter().map(line).collect(),
            print_statement_results: prints,
            event_map: results.iter().flat_map(|result| result.events.clone()).collect(),
            results,
            assertions: self.assertions(),
            unfinished: None,
            diagnostics,
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

/// The language of a script, if it is known.
pub fn language(file: &Path, language: Option<&'static str>) -> Option<&'static str> {
    language_of(file, language).ok()
}

/// Refuses what is written in another language.
pub(crate) fn must_be_cspm(file: &Path, language: Option<&'static str>) -> Result<(), Problem> {
    let what = match language_of(file, language)? {
        "cspm" => return Ok(()),
        "promela" => "Promela models",
        "mcrl2" => "mCRL2 specifications",
        _ => "systems in files",
    };
    let place = Place::File(file.display().to_string());
    Err(Problem::from(Diagnostic::error(NOT_SUPPORTED, format!("this command does not work on {what}"), place)))
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
            let message = "the language of this script does not follow from its file name";
            let known: Vec<String> = EXTENSIONS.iter().map(|(extension, _)| format!(".{extension}")).collect();
            let help = match crate::formulas::is_system(file) {
                true => "`trefoil check FILE --formula …` checks a file with a transition system".to_string(),
                false => format!("known extensions are {}; for any other name give --language", known.join(", ")),
            };
            Err(Problem::from(Diagnostic::error(UNKNOWN_LANGUAGE, message, place).help(help)))
        }
    }
}
