//! `trefoil mcrl2`: from arguments to jobs, and their answers for people.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use trefoil_control::Control;
use trefoil_session::mcrl2::decompose::{Decomposing, decompose};
use trefoil_session::mcrl2::eval::{Evaluating, EvaluationReport, Script, evaluate};
use trefoil_session::mcrl2::linear::{Analyses, LinearReport, linear};
use trefoil_session::mcrl2::{self, SortsReport};
use trefoil_session::{Problem, Texts, Verdict};

use crate::arguments::{Common, Mcrl2Command};
use crate::cspm::quiet;
use crate::decompose::Decomposed;
use crate::evaluating::{Evaluates, prompt};
use crate::run::{Answer, Destination, Run};
use crate::terminal;

pub(crate) fn run(command: Mcrl2Command, common: Common) -> ExitCode {
    match command {
        Mcrl2Command::Typecheck { files, no_warnings } => {
            let mut run = Run::new("mcrl2 typecheck", common, Destination::Out);
            for file in &files {
                run.check(&[file.display().to_string()], |job| {
                    quiet(mcrl2::typecheck(file, job), no_warnings, |report| &mut report.warnings)
                });
            }
            run.finish()
        }
        Mcrl2Command::Types { file, no_warnings } => {
            let mut run = Run::new("mcrl2 types", common, Destination::Out);
            run.check(&[file.display().to_string()], |job| {
                quiet(mcrl2::types(&file, job), no_warnings, |report| &mut report.warnings)
            });
            run.finish()
        }
        Mcrl2Command::Print { file, no_warnings } => {
            let mut run = Run::new("mcrl2 print", common, Destination::Out);
            run.check(&[file.display().to_string()], |job| {
                quiet(mcrl2::print(&file, job), no_warnings, |report| &mut report.warnings)
            });
            run.finish()
        }
        Mcrl2Command::Linear {
            file,
            keep_constants,
            keep_redundant,
            keep_sums,
            keep_dead,
            keep_whole,
            why,
            no_warnings,
        } => {
            let mut run = Run::new("mcrl2 linear", common, Destination::Out);
            let analyses = Analyses {
                constants: !keep_constants,
                redundant: !keep_redundant,
                finite_sums: !keep_sums,
                dead: !keep_dead,
                unfold: !keep_whole,
            };
            run.check(&[file.display().to_string()], |job| {
                quiet(linear(&file, analyses, why, job), no_warnings, |report| &mut report.warnings)
            });
            run.finish()
        }
        Mcrl2Command::Decompose {
            file,
            partition,
            invariants,
            equivalence,
            output,
            picture,
            write_parts,
            why,
            no_warnings,
            writing,
        } => {
            let is_stream = output.as_deref().is_some_and(|output| output.as_os_str() == "-");
            let destination = if is_stream { Destination::Err } else { Destination::Out };
            let mut run = Run::new("mcrl2 decompose", common, destination);
            let files = [file.display().to_string()];
            let format = writing.to;
            let task = Decomposing { file, partition, invariants, equivalence, output, format, picture, write_parts };
            run.check(&files, |job| {
                let report = quiet(decompose(&task, job), no_warnings, |report| &mut report.warnings)?;
                Ok(Decomposed { report, why })
            });
            run.finish()
        }
        Mcrl2Command::Eval { file, expressions, steps } => {
            let mut run = Run::new("mcrl2 eval", common, Destination::Out);
            let files = [file.display().to_string()];
            let task = Evaluating { file, expressions, steps };
            run.check(&files, |job| evaluate(&task, job));
            run.finish()
        }
        Mcrl2Command::Repl { file, steps } => prompt::<Script>(&file, steps, &common),
    }
}

impl Answer for SortsReport {
    fn text(&self, _colour: bool) -> String {
        let mut text = String::new();
        for function in &self.functions {
            let _ = writeln!(text, "{}: {}", function.name, function.sort);
        }
        for action in &self.actions {
            let sorts = if action.sorts.is_empty() { String::new() } else { format!(": {}", action.sorts.join(" # ")) };
            let _ = writeln!(text, "act {}{sorts}", action.name);
        }
        for process in &self.processes {
            let parameters: Vec<String> =
                process.parameters.iter().map(|(name, sort)| format!("{name}: {sort}")).collect();
            let list = if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
            let _ = writeln!(text, "proc {}{list}", process.name);
        }
        text
    }

    fn complaints(&self, colour: bool) -> &str {
        self.warnings.text(colour)
    }
}

impl Answer for LinearReport {
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

impl Answer for EvaluationReport {
    fn verdict(&self) -> Verdict {
        if self.values.iter().all(|value| value.value.is_some()) { Verdict::Holds } else { Verdict::Error }
    }

    fn text(&self, _colour: bool) -> String {
        self.values.iter().filter_map(|value| value.value.as_ref()).map(|value| format!("{value}\n")).collect()
    }

    fn is_verbatim(&self) -> bool {
        true
    }

    fn complaints(&self, colour: bool) -> &str {
        EvaluationReport::complaints(self, colour)
    }
}

impl Evaluates for Script {
    const PROMPT: &'static str = "mcrl2> ";
    const HISTORY: &'static str = "mcrl2-history";
    const TEXT: &'static str = "specification";
    const HELP: &'static str = "\
EXPRESSION        prints the normal form
solve x: S. C     prints every value of x for which C holds
:type EXPRESSION  prints the sort
:reload           reads the specification again
:help             prints this text
:quit             ends the prompt, as does Ctrl-D; Ctrl-C stops the rewriting of a line
";

    fn open(file: &Path, texts: &Texts, control: &Control) -> Result<Script, Problem> {
        Script::open(file, texts, control)
    }

    fn reload(&mut self, control: &Control) -> Result<(), Problem> {
        Script::reload(self, control)
    }

    fn names(&self) -> Vec<String> {
        Script::names(self)
    }

    fn type_of(&self, expression: &str, _: &Control) -> Result<String, Problem> {
        self.sort_of(expression)
    }

    fn answer(&self, line: &str, steps: Option<u64>, control: &Control) -> Result<String, Problem> {
        let (text, warnings) = if line.split_whitespace().next() == Some("solve") {
            let mut say = |solution: String| terminal::say(&format!("{solution}\n"));
            (String::new(), self.solve(line, steps, control, &mut say)?)
        } else {
            let value = self.value(line, steps, control)?;
            (format!("{}\n", value.text), value.warnings)
        };
        terminal::complain(warnings.text(terminal::colour_err()));
        Ok(text)
    }
}
