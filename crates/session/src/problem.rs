//! Why a job has no result.

use std::path::{Path, PathBuf};

use trefoil_control::{Control, Stopped, count};
use trefoil_source::{
    Code, CodeEntry, Diagnostic, FileId, Place, Report, Severity, Sources, Span, render, replace_file,
};
use trefoil_system::Cut;

pub(crate) const CANNOT_WRITE: Code = "S001";
pub(crate) const REFUSED: Code = "S002";
pub(crate) const UNKNOWN_LANGUAGE: Code = "S003";
pub(crate) const NOT_SUPPORTED: Code = "S004";
pub(crate) const UNREADABLE: Code = "S005";
pub(crate) const TOO_LARGE_TO_DRAW: Code = "S006";
pub(crate) const NO_PROCESS: Code = "S007";
pub(crate) const NOT_SYMMETRIC: Code = "S008";
pub(crate) const NO_INITIAL_STATE: Code = "S009";
pub(crate) const NO_ACTION: Code = "S010";
pub(crate) const BAD_LTL: Code = "S011";

/// The codes of this crate.
const CODES: &[CodeEntry] = &[
    CodeEntry::new(CANNOT_WRITE, "the result cannot be written", "trefoil lts random /dev/full --to aut"),
    CodeEntry::new(
        REFUSED,
        "no engine can honour the options for this input",
        "--preprocess impl on a system that is explored on the fly",
    ),
    CodeEntry::new(
        UNKNOWN_LANGUAGE,
        "the language of a script does not follow from its file name",
        "trefoil check notes.txt",
    ),
    CodeEntry::new(
        NOT_SUPPORTED,
        "an assertion or command asks for something that Trefoil cannot do",
        "assert P :[divergence free [F]]",
    ),
    CodeEntry::new(UNREADABLE, "a file cannot be read", "trefoil lts compose no-such-file.exp"),
    CodeEntry::new(
        TOO_LARGE_TO_DRAW,
        "a picture would be too large to read",
        "trefoil graph script.csp 'RUN(Events)' --max 0",
    ),
    CodeEntry::new(NO_PROCESS, "a command needs a process and got something else", "trefoil graph script.csp '1 + 1'"),
    CodeEntry::new(
        NOT_SYMMETRIC,
        "a check is to be reduced by a datatype in which it is not symmetric",
        "assert P [T= Q :[symmetry reduce]: T, with a P that waits for one value of T",
    ),
    CodeEntry::new(
        NO_INITIAL_STATE,
        "a model has no initial state: a value cannot be computed, or the initial process is missing",
        "byte zero; init { int x = 1 / zero }",
    ),
    CodeEntry::new(NO_ACTION, "no action has a name that an option asks for", "trefoil check m.mcrl2 --never 'eror*'"),
    CodeEntry::new(
        BAD_LTL,
        "a formula of linear temporal logic about labels cannot be read",
        "trefoil check m.mcrl2 --ltl '[] (send ->'",
    ),
];

/// Every code that a user can meet, with a line and an example each, part by part.
pub fn code_tables() -> Vec<(&'static str, &'static [CodeEntry])> {
    vec![
        ("Files", trefoil_lts::format::CODES),
        ("Composition", trefoil_network::CODES),
        ("CSPM: syntax", trefoil_cspm::syntax::CODES),
        ("CSPM: names", trefoil_cspm::rename::CODES),
        ("CSPM: types", trefoil_cspm::types::CODES),
        ("CSPM: symmetry", trefoil_cspm::symmetry::CODES),
        ("CSPM: evaluation", trefoil_cspm::eval::CODES),
        ("CSPM: processes", trefoil_cspm::process::CODES),
        ("Promela", trefoil_promela::CODES),
        ("mCRL2: syntax", trefoil_mcrl2::SYNTAX_CODES),
        ("mCRL2: types", trefoil_mcrl2::TYPE_CODES),
        ("mCRL2: processes", trefoil_mcrl2::PROCESS_CODES),
        ("mCRL2: linear processes", trefoil_mcrl2::linear::codes::CODES),
        ("mCRL2: values", trefoil_mcrl2::VALUE_CODES),
        ("Formulas", trefoil_check::formula::codes::CODES),
        ("Automata", trefoil_temporal::CODES),
        ("Groups and graphs", trefoil_groups::CODES),
        ("Parity games", trefoil_games::solve::pgsolver::CODES),
        ("Results and options", CODES),
    ]
}

/// A job ended without a result.
#[derive(Clone, Debug)]
pub enum Problem {
    /// The input cannot be used; at least one diagnostic says why.
    Input(Vec<Diagnostic>),
    /// A script cannot be used; the diagnostics point into these files.
    Script(Vec<Diagnostic>, Sources),
    /// A budget ran out, or the user interrupted.
    Stopped(Stopped),
}

impl Problem {
    /// The diagnostics as text for a terminal.
    pub fn render(&self, colour: bool) -> String {
        match self {
            Problem::Input(diagnostics) => rendered(diagnostics, &Sources::default(), colour),
            Problem::Script(diagnostics, sources) => rendered(diagnostics, sources, colour),
            Problem::Stopped(_) => String::new(),
        }
    }

    /// The diagnostics as plain data.
    pub fn reports(&self) -> Vec<Report> {
        self.each(Report::new)
    }

    fn each<X>(&self, show: impl Fn(&Diagnostic, &Sources) -> X) -> Vec<X> {
        match self {
            Problem::Input(diagnostics) => {
                let sources = Sources::default();
                diagnostics.iter().map(|diagnostic| show(diagnostic, &sources)).collect()
            }
            Problem::Script(diagnostics, sources) => {
                diagnostics.iter().map(|diagnostic| show(diagnostic, sources)).collect()
            }
            Problem::Stopped(_) => Vec::new(),
        }
    }
}

/// How many diagnostics a terminal shows.
const MOST_SHOWN: usize = 100;

/// Diagnostics as text for a terminal: the first errors, or the first warnings when nothing is wrong.
pub(crate) fn rendered(diagnostics: &[Diagnostic], sources: &Sources, colour: bool) -> String {
    let mut text = String::new();
    if diagnostics.len() <= MOST_SHOWN {
        text.extend(diagnostics.iter().map(|diagnostic| render(diagnostic, sources, colour)));
        return text;
    }
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let hidden_errors = errors.clone().count().saturating_sub(MOST_SHOWN);
    let warnings = diagnostics.iter().filter(|diagnostic| diagnostic.severity != Severity::Error);
    let shown = errors.chain(warnings).take(MOST_SHOWN);
    text.extend(shown.map(|diagnostic| render(diagnostic, sources, colour)));
    let hidden = diagnostics.len() - MOST_SHOWN;
    text += &format!(
        "{} more are not shown, {} of them errors; --format json has all of them\n",
        count(hidden as u64),
        count(hidden_errors as u64)
    );
    text
}

impl From<Stopped> for Problem {
    fn from(stopped: Stopped) -> Problem {
        Problem::Stopped(stopped)
    }
}

/// Where a system comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// The file.
    pub(crate) file: String,
    /// The texts that places in its errors point into.
    pub(crate) sources: Sources,
}

impl Origin {
    /// A file whose errors have no places.
    pub(crate) fn file(file: impl Into<String>) -> Origin {
        Origin { file: file.into(), sources: Sources::default() }
    }
}

impl Problem {
    /// What a walk that was cut means for the caller that wanted its result.
    pub(crate) fn cut(cut: Cut, control: &Control, origin: &Origin) -> Problem {
        match cut {
            Cut::Stopped => Problem::Stopped(control.why()),
            other => {
                let diagnostic = cut_short(&other, control, Place::File(origin.file.clone()));
                Problem::Script(vec![diagnostic], origin.sources.clone())
            }
        }
    }
}

/// Says why a system could not go on, at the place that it names or at another one.
pub(crate) fn cut_short(cut: &Cut, control: &Control, place: Place) -> Diagnostic {
    let (named, hint) = match cut {
        Cut::Wrong(wrong) | Cut::Beyond(wrong) => (wrong.place, wrong.hint.clone()),
        Cut::Enough | Cut::Stopped | Cut::Outgrown => (None, None),
    };
    let place = named.map_or(place, |at| Place::Span(Span { file: FileId(at.file), start: at.start, end: at.end }));
    let told = Diagnostic::error(NOT_SUPPORTED, cut.explain(control), place);
    hint.into_iter().fold(told, Diagnostic::help)
}

/// A file's name with a number before its extension, where Spin looks for it (`spin -t2`).
pub fn numbered(file: &Path, number: usize) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().map(|extension| format!(".{}", extension.to_string_lossy())).unwrap_or_default();
    file.with_file_name(format!("{stem}{number}{extension}"))
}

/// Writes a text or bytes to a file; an older file stays until the new one is complete.
pub fn save(file: &Path, content: impl AsRef<[u8]>, control: &Control) -> Result<(), Problem> {
    let cannot = |error| {
        let place = Place::File(file.display().to_string());
        Problem::from(Diagnostic::error(CANNOT_WRITE, format!("cannot write: {error}"), place))
    };
    control.progress().begin(&format!("writing {}", file.display()), 0);
    replace_file(file, control, cannot, |out| out.write_all(content.as_ref()).map_err(cannot))
}

impl From<Diagnostic> for Problem {
    fn from(diagnostic: Diagnostic) -> Problem {
        Problem::Input(vec![diagnostic])
    }
}
