//! `trefoil mcrl2`: from arguments to jobs, and their answers for people.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use trefoil_session::mcrl2::eval::{Evaluating, EvaluationReport, Script, evaluate};
use trefoil_session::mcrl2::linear::{Analyses, LinearReport, linear};
use trefoil_session::mcrl2::{self, SortsReport};
use trefoil_session::{Texts, Verdict};

use crate::arguments::{Common, Mcrl2Command};
use crate::cspm::quiet;
use crate::exit;
use crate::interrupt::PromptInterrupt;
use crate::prompt::{Prompt, complain, control};
use crate::run::{Answer, Destination, Run};
use crate::terminal;

const HELP: &str = "\
EXPRESSION        prints the normal form
solve x: S. C     prints every value of x for which C holds
:type EXPRESSION  prints the sort
:reload           reads the specification again
:help             prints this text
:quit             ends the prompt, as does Ctrl-D; Ctrl-C stops the rewriting of a line
";

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
        Mcrl2Command::Linear { file, keep_constants, keep_redundant, keep_sums, keep_dead, why, no_warnings } => {
            let mut run = Run::new("mcrl2 linear", common, Destination::Out);
            let analyses = Analyses {
                constants: !keep_constants,
                redundant: !keep_redundant,
                finite_sums: !keep_sums,
                dead: !keep_dead,
            };
            run.check(&[file.display().to_string()], |job| {
                quiet(linear(&file, analyses, why, job), no_warnings, |report| &mut report.warnings)
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
        Mcrl2Command::Repl { file, steps } => prompt(&file, steps, &common),
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

/// Reads expressions and prints normal forms until the input ends.
fn prompt(file: &Path, steps: Option<u64>, common: &Common) -> ExitCode {
    if file == Path::new("-") {
        let why = "the prompt reads expressions from standard input; the specification must be a file";
        terminal::say_err(&format!("error: {why}\n"));
        return ExitCode::from(exit::WRONG);
    }
    let mut prompt = match Prompt::new("mcrl2> ", "mcrl2-history") {
        Ok(prompt) => prompt,
        Err(why) => {
            terminal::say_err(&format!("error: {why}\n"));
            return ExitCode::from(exit::WRONG);
        }
    };
    let interrupt = PromptInterrupt::listen();
    let mut script = match interrupt.during(&control(common), |control| Script::open(file, &Texts::default(), control))
    {
        Ok(script) => script,
        Err(problem) => {
            complain(&problem);
            return ExitCode::from(exit::WRONG);
        }
    };
    prompt.complete(script.names());
    while let Some(line) = interrupt.reading(|| prompt.line()) {
        let line = line.trim();
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let result = match command {
            "" => continue,
            ":quit" | ":q" => break,
            ":help" | ":h" => Ok(HELP.to_string()),
            ":reload" | ":r" => {
                let reloaded = interrupt.during(&control(common), |control| script.reload(control));
                prompt.complete(script.names());
                reloaded.map(|()| String::new())
            }
            ":type" | ":t" => script.sort_of(rest).map(|sort| format!("{sort}\n")),
            _ if command.starts_with(':') => {
                terminal::say_err(&format!("error: unknown command {command}; :help lists the commands\n"));
                continue;
            }
            "solve" => {
                let mut say = |solution: String| terminal::say(&format!("{solution}\n"));
                interrupt.during(&control(common), |control| script.solve(line, steps, control, &mut say)).map(
                    |warnings| {
                        terminal::complain(warnings.text(terminal::colour_err()));
                        String::new()
                    },
                )
            }
            _ => interrupt.during(&control(common), |control| script.value(line, steps, control)).map(|value| {
                terminal::complain(value.warnings.text(terminal::colour_err()));
                format!("{}\n", value.text)
            }),
        };
        match result {
            Ok(text) if !terminal::say(&text) => break,
            Ok(_) => {}
            Err(problem) => complain(&problem),
        }
    }
    ExitCode::SUCCESS
}
