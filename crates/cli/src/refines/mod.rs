//! `refines`: FDR's command, so that programs written around it go on working.
//!
//! Such programs rely on the layout of the plain answers, the names and numbers in the JSON and the exit code: an
//! assertion that fails is an answer, so the exit code is 0 as when all hold. It is 2 when a script or an option cannot
//! be used or the answers cannot be written, and 3 when an answer is not known.

mod documents;
mod options;
mod plain;

use std::ffi::OsString;
use std::process::ExitCode;

use trefoil_control::Control;
use trefoil_session::check::{Asked, Assertion, AssertionReport, PrintResult, RunReport, SymmetryUse, Wanted};
use trefoil_session::{Problem, Verdict};

use crate::arguments::{Common, Output};
use crate::check::runner::stopped;
use crate::check::{Choosing, Runner, Watcher};
use crate::run::Jobs;
use crate::{exit, terminal};
use options::{Format, Options, Parsed};

pub(crate) fn run(program: &str, arguments: &[OsString]) -> ExitCode {
    let options = match options::parse(arguments) {
        Parsed::Run(options) => options,
        Parsed::Say(text) => {
            terminal::print(&text.replace("PROGRAM", program));
            return ExitCode::from(exit::HOLDS);
        }
        Parsed::Misuse(why) => {
            terminal::complain(&format!("error: {why}\nTry {program} --help\n"));
            return ExitCode::from(exit::WRONG);
        }
    };
    for warning in &options.warnings {
        // A caller that asks for quiet may take any text on standard error for a failure.
        if !options.quiet {
            terminal::complain(&format!("warning: {warning}\n"));
        }
    }
    let common = Common { format: Output::Text, threads: options.threads, memory: None, timeout: None };
    let runner = Runner {
        jobs: Jobs::new(common),
        // Programs around FDR read the counts, so they are those of the script as written.
        options: Asked { symmetry: Some(SymmetryUse::AsWritten), ..Asked::default() },
        language: Some("cspm"),
        wanted: Choosing::new(&[]),
        only_list: options.typecheck,
        why: false,
        properties: Wanted::default(),
    };
    let mut codes = Vec::new();
    for file in &options.files {
        let mut answers = Answers { options: &options, file: String::new() };
        let report = runner.run(runner.open(file), &mut answers);
        codes.push(code(&report));
        let text = match options.format {
            Format::Plain if options.typecheck && report.errors.is_empty() => {
                format!("{}: typechecked successfully\n", report.file_name)
            }
            Format::Plain => String::new(),
            Format::Json => documents::json(&report, &options),
            Format::FramedJson => documents::framed_json(&report, &options),
            Format::Xml => documents::xml(&report, &options),
            Format::Yaml => documents::yaml(&report, &options),
        };
        terminal::print(&text);
    }
    ExitCode::from(exit::together(codes))
}

/// An answer is an answer, whether it is `Passed` or `Failed`.
fn code(report: &RunReport) -> u8 {
    let known = report.results.iter().map(|result| match result.verdict {
        Verdict::Holds | Verdict::Fails => exit::HOLDS,
        other => exit::of(other),
    });
    let opened = match (&report.unfinished, report.errors.is_empty()) {
        (Some(_), _) => exit::UNKNOWN,
        (None, false) => exit::WRONG,
        (None, true) => exit::HOLDS,
    };
    exit::together(known.chain([opened]))
}

/// Writes plain answers as they come; what is not an answer goes to standard error.
struct Answers<'a> {
    options: &'a Options,
    file: String,
}

impl Answers<'_> {
    fn plain(&self) -> bool {
        self.options.format == Format::Plain
    }

    fn log(&self, text: &str) {
        if !self.options.quiet {
            terminal::complain(text);
        }
    }
}

impl Watcher for Answers<'_> {
    fn opened(&mut self, file: &str, _chosen: &[Assertion]) {
        self.file = file.to_string();
    }

    fn warned(&mut self, text: &str) {
        self.log(text);
    }

    fn refused(&mut self, problem: &Problem, report: &RunReport) {
        // In a document the errors have their place.
        if self.plain() || !self.options.quiet {
            terminal::complain(&problem.render(terminal::colour_err()));
            terminal::complain(&stopped(report));
        }
    }

    fn printed(&mut self, said: &[PrintResult]) {
        if self.plain() {
            terminal::print(&plain::printed(said));
        }
    }

    fn started(&mut self, _place: usize, _control: &Control) {}

    fn finished(&mut self, _place: usize, answer: &AssertionReport) {
        if !answer.rendered[0].is_empty() {
            self.log(&answer.rendered[usize::from(terminal::colour_err())]);
        }
        if self.plain() {
            terminal::print(&plain::answer(answer, self.options));
        }
    }
}
