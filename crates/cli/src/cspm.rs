//! `trefoil cspm`: from arguments to jobs, and their answers for people.

use std::process::ExitCode;

use trefoil_control::counted;
use trefoil_session::Problem;
use trefoil_session::cspm::eval::Script;
use trefoil_session::cspm::{self, PrintReport, TypecheckReport, TypesReport, Warnings};

use crate::arguments::{Common, CspmCommand};
use crate::cspm_eval;
use crate::evaluating::prompt;
use crate::run::{Answer, Destination, Run};

pub(crate) fn run(command: CspmCommand, common: Common) -> ExitCode {
    match command {
        CspmCommand::Typecheck { files, no_warnings } => {
            let mut run = Run::new("cspm typecheck", common, Destination::Out);
            for file in &files {
                run.check(&[file.display().to_string()], |job| {
                    quiet(cspm::typecheck(file, job), no_warnings, |report| &mut report.warnings)
                });
            }
            run.finish()
        }
        CspmCommand::Types { file, no_warnings } => {
            let mut run = Run::new("cspm types", common, Destination::Out);
            run.check(&[file.display().to_string()], |job| {
                quiet(cspm::types(&file, job), no_warnings, |report| &mut report.warnings)
            });
            run.finish()
        }
        CspmCommand::Print { file, no_warnings } => {
            let mut run = Run::new("cspm print", common, Destination::Out);
            run.check(&[file.display().to_string()], |job| {
                quiet(cspm::print(&file, job), no_warnings, |report| &mut report.warnings)
            });
            run.finish()
        }
        CspmCommand::Eval { file, expressions, steps } => cspm_eval::eval(file, expressions, steps, common),
        CspmCommand::Repl { file, steps } => prompt::<Script>(&file, steps, &common),
    }
}

/// Drops the warnings of a report on `--no-warnings`.
pub(crate) fn quiet<R>(
    mut report: Result<R, Problem>,
    no_warnings: bool,
    warnings: impl Fn(&mut R) -> &mut Warnings,
) -> Result<R, Problem> {
    if let (Ok(report), true) = (&mut report, no_warnings) {
        *warnings(report) = Warnings::default();
    }
    report
}

impl Answer for TypecheckReport {
    fn text(&self, _colour: bool) -> String {
        format!("{}: well typed, {}\n", self.file, counted(self.definitions as u64, "name"))
    }

    fn complaints(&self, colour: bool) -> &str {
        self.warnings.text(colour)
    }
}

impl Answer for TypesReport {
    fn is_verbatim(&self) -> bool {
        true
    }

    fn text(&self, _colour: bool) -> String {
        self.names.iter().map(|name| format!("{} :: {}\n", name.name, name.type_text)).collect()
    }

    fn complaints(&self, colour: bool) -> &str {
        self.warnings.text(colour)
    }
}

impl Answer for PrintReport {
    fn text(&self, _colour: bool) -> String {
        self.text.clone()
    }

    fn is_verbatim(&self) -> bool {
        true
    }

    fn complaints(&self, colour: bool) -> &str {
        self.warnings.text(colour)
    }
}
