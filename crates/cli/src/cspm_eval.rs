//! `trefoil cspm eval` and the prompt.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use trefoil_session::cspm::eval::{Evaluating, EvaluationReport, Script, evaluate};
use trefoil_session::{Texts, Verdict};

use crate::arguments::Common;
use crate::exit;
use crate::interrupt::PromptInterrupt;
use crate::prompt::{Prompt, complain, control};
use crate::run::{Answer, Destination, Run};
use crate::terminal;

const HELP: &str = "\
EXPRESSION        prints the value; a process prints as its term
:type EXPRESSION  prints the type
:reload           reads the script again
:help             prints this text
:quit             ends the prompt, as does Ctrl-D; Ctrl-C stops the evaluation of a line
";

pub(crate) fn eval(file: PathBuf, expressions: Vec<String>, steps: Option<u64>, common: Common) -> ExitCode {
    let mut run = Run::new("cspm eval", common, Destination::Out);
    let files = [file.display().to_string()];
    let task = Evaluating { file, expressions, steps };
    run.check(&files, |job| evaluate(&task, job));
    run.finish()
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

/// Reads expressions and prints values until the input ends.
pub(crate) fn prompt(file: &Path, steps: Option<u64>, common: &Common) -> ExitCode {
    if file == Path::new("-") {
        let why = "the prompt reads expressions from standard input; the script must be a file";
        terminal::say_err(&format!("error: {why}\n"));
        return ExitCode::from(exit::WRONG);
    }
    let mut prompt = match Prompt::new("cspm> ", "cspm-history") {
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
        if !answer(&mut script, &line, steps, common, &interrupt) {
            break;
        }
        if matches!(line.trim(), ":reload" | ":r") {
            prompt.complete(script.names());
        }
    }
    ExitCode::SUCCESS
}

/// Does what a line asks for; false when it asks to end.
fn answer(script: &mut Script, line: &str, steps: Option<u64>, common: &Common, interrupt: &PromptInterrupt) -> bool {
    let line = line.trim();
    let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let result = match command {
        "" => return true,
        ":quit" | ":q" => return false,
        ":help" | ":h" => Ok(HELP.to_string()),
        ":reload" | ":r" => {
            interrupt.during(&control(common), |control| script.reload(control)).map(|()| String::new())
        }
        ":type" | ":t" => interrupt
            .during(&control(common), |control| script.type_of(rest, control))
            .map(|found| format!("{found}\n")),
        _ if command.starts_with(':') => {
            terminal::say_err(&format!("error: unknown command {command}; :help lists the commands\n"));
            return true;
        }
        _ => interrupt
            .during(&control(common), |control| script.value(line, steps, control))
            .map(|found| format!("{}\n", found.text)),
    };
    match result {
        Ok(text) => return terminal::say(&text),
        Err(problem) => complain(&problem),
    }
    true
}
