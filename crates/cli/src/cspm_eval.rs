//! `trefoil cspm eval` and the prompt.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};
use trefoil_control::{Control, Limits};
use trefoil_session::cspm::eval::{Evaluating, EvaluationReport, Script, evaluate};
use trefoil_session::{Problem, Verdict};

use crate::arguments::Common;
use crate::exit;
use crate::interrupt::PromptInterrupt;
use crate::run::{Answer, Destination, Run};
use crate::terminal;

const HELP: &str = "\
EXPRESSION        its value
:type EXPRESSION  its type
:reload           reads the script again
:help             this text
:quit             ends, as does Ctrl-D; Ctrl-C ends what a line asked for
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

    fn complaints(&self, colour: bool) -> &str {
        EvaluationReport::complaints(self, colour)
    }
}

/// Completes names of the script and of built-ins.
struct Names(Vec<String>);

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '\'' | ':');
        let from = line[..position]
            .rfind(|character| !part(character))
            .map_or(0, |at| at + line[at..].chars().next().map_or(1, char::len_utf8));
        let start = &line[from..position];
        let fitting = self.0.iter().filter(|name| name.starts_with(start)).cloned().collect();
        Ok((from, fitting))
    }
}

impl Hinter for Names {
    type Hint = String;
}
impl Highlighter for Names {}
impl Validator for Names {}
impl Helper for Names {}

/// Reads expressions and prints values until the input ends.
pub(crate) fn prompt(file: &Path, steps: Option<u64>, common: &Common) -> ExitCode {
    if file == Path::new("-") {
        let why = "the prompt reads expressions from standard input, so the script must be in a file";
        terminal::complain(&format!("error: {why}\n"));
        return ExitCode::from(exit::WRONG);
    }
    let mut editor = None;
    if std::io::stdin().is_terminal() {
        let Ok(made) = Editor::<Names, DefaultHistory>::new() else {
            terminal::complain("error: the terminal cannot be used for a prompt\n");
            return ExitCode::from(exit::WRONG);
        };
        editor = Some(made);
    }
    // An editor takes the signal of Ctrl-C for itself when it is made, though it reads the key: whoever listens first is not heard.
    let interrupt = PromptInterrupt::listen();
    let mut script = match interrupt.during(&control(common), |control| Script::open(file, control)) {
        Ok(script) => script,
        Err(problem) => {
            complain(&problem);
            return ExitCode::from(exit::WRONG);
        }
    };
    let Some(mut editor) = editor else {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if !answer(&mut script, &line, steps, common, &interrupt) {
                break;
            }
        }
        return ExitCode::SUCCESS;
    };
    editor.set_helper(Some(Names(script.names())));
    let history = history_file();
    if let Some(history) = &history {
        // A first run has no history yet.
        let _ = editor.load_history(history);
    }
    loop {
        match editor.readline("cspm> ") {
            Ok(line) => {
                let _ = editor.add_history_entry(line.as_str());
                let reload = matches!(line.trim(), ":reload" | ":r");
                if !answer(&mut script, &line, steps, common, &interrupt) {
                    break;
                }
                if reload {
                    editor.set_helper(Some(Names(script.names())));
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(_) => break,
        }
    }
    if let Some(history) = &history {
        let _ = editor.save_history(history);
    }
    ExitCode::SUCCESS
}

/// The budgets of one line.
fn control(common: &Common) -> Control {
    let memory = common.memory.or_else(Limits::default_memory);
    Control::new(Limits { time: common.timeout, memory })
}

/// Where lines that were typed are kept.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let folder = state.or_else(home)?.join("trefoil");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("cspm-history"))
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
            terminal::complain(&format!("error: there is no {command}; :help lists what there is\n"));
            return true;
        }
        _ => interrupt
            .during(&control(common), |control| script.value(line, steps, control))
            .map(|found| format!("{}\n", found.text)),
    };
    match result {
        Ok(text) => return terminal::print(&text).is_ok(),
        Err(problem) => complain(&problem),
    }
    true
}

fn complain(problem: &Problem) {
    match problem {
        Problem::Stopped(stopped) => terminal::complain(&format!("unknown: {stopped}\n")),
        other => terminal::complain(&other.render(terminal::colour_err())),
    }
}
