//! A prompt at which expressions over a text are evaluated, line by line.

use std::path::Path;
use std::process::ExitCode;

use trefoil_control::Control;
use trefoil_session::{Problem, Texts};

use crate::arguments::Common;
use crate::exit;
use crate::interrupt::PromptInterrupt;
use crate::prompt::{Prompt, complain, control};
use crate::terminal;

/// A text over which expressions are evaluated.
pub(crate) trait Evaluates: Sized {
    /// What stands before each line.
    const PROMPT: &'static str;
    /// The file that keeps the history.
    const HISTORY: &'static str;
    /// What the text is called.
    const TEXT: &'static str;
    /// What `:help` prints.
    const HELP: &'static str;

    /// Reads the text.
    fn open(file: &Path, texts: &Texts, control: &Control) -> Result<Self, Problem>;

    /// Reads it again.
    fn reload(&mut self, control: &Control) -> Result<(), Problem>;

    /// The names that an expression can mention.
    fn names(&self) -> Vec<String>;

    /// The type of an expression.
    fn type_of(&self, expression: &str, control: &Control) -> Result<String, Problem>;

    /// What to print for a line that is no command of the prompt.
    fn answer(&self, line: &str, steps: Option<u64>, control: &Control) -> Result<String, Problem>;
}

/// Reads expressions and prints values until the input ends.
pub(crate) fn prompt<E: Evaluates>(file: &Path, steps: Option<u64>, common: &Common) -> ExitCode {
    let refuse = |why: &str| {
        terminal::say_err(&format!("error: {why}\n"));
        ExitCode::from(exit::WRONG)
    };
    if file == Path::new("-") {
        let text = E::TEXT;
        return refuse(&format!("the prompt reads expressions from standard input; the {text} must be a file"));
    }
    let mut prompt = match Prompt::new(E::PROMPT, E::HISTORY) {
        Ok(prompt) => prompt,
        Err(why) => return refuse(why),
    };
    let interrupt = PromptInterrupt::listen();
    let opening = control(common);
    let mut evaluates = match interrupt.during(&opening, |control| E::open(file, &Texts::default(), control)) {
        Ok(evaluates) => evaluates,
        Err(problem) => {
            complain(&problem, &opening);
            let stopped = matches!(problem, Problem::Stopped(_));
            return ExitCode::from(if stopped { exit::UNKNOWN } else { exit::WRONG });
        }
    };
    prompt.complete(evaluates.names());
    while let Some(line) = interrupt.reading(|| prompt.line()) {
        let line = line.trim();
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let own = control(common);
        let result = match command {
            "" => continue,
            ":quit" | ":q" => break,
            ":help" | ":h" => Ok(E::HELP.to_string()),
            ":reload" | ":r" => {
                let reloaded = interrupt.during(&own, |control| evaluates.reload(control));
                prompt.complete(evaluates.names());
                reloaded.map(|()| String::new())
            }
            ":type" | ":t" => {
                interrupt.during(&own, |control| evaluates.type_of(rest, control)).map(|found| format!("{found}\n"))
            }
            _ if command.starts_with(':') => {
                terminal::say_err(&format!("error: unknown command {command}; :help lists the commands\n"));
                continue;
            }
            _ => interrupt.during(&own, |control| evaluates.answer(line, steps, control)),
        };
        match result {
            Ok(text) if !terminal::say(&text) => break,
            Ok(_) => {}
            Err(problem) => complain(&problem, &own),
        }
    }
    ExitCode::SUCCESS
}
