//! A prompt: with line editing, completion and history on a terminal, plain lines otherwise.

use std::io::{BufRead, IsTerminal, Read};
use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};
use trefoil_control::{Control, Limits};
use trefoil_session::{Problem, Unfinished};

use crate::arguments::Common;
use crate::{terminal, text};

/// Completes words.
struct Words(Vec<String>);

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '\'' | ':' | '.');
        let from = line[..position]
            .rfind(|character| !part(character))
            .map_or(0, |at| at + line[at..].chars().next().map_or(1, char::len_utf8));
        let start = &line[from..position];
        let fitting = self.0.iter().filter(|word| word.starts_with(start)).cloned().collect();
        Ok((from, fitting))
    }
}

impl Hinter for Words {
    type Hint = String;
}
impl Highlighter for Words {}
impl Validator for Words {}
impl Helper for Words {}

/// Where lines come from.
pub(crate) struct Prompt {
    editor: Option<Editor<Words, DefaultHistory>>,
    history: Option<PathBuf>,
    text: &'static str,
}

impl Prompt {
    /// A prompt that shows this text and keeps its history under this name. It must be made before a handler for Ctrl-C
    /// is set: an editor takes the signal for itself when it is made, though it reads the key.
    pub(crate) fn new(text: &'static str, history: &str) -> Result<Prompt, &'static str> {
        if !std::io::stdin().is_terminal() {
            return Ok(Prompt { editor: None, history: None, text });
        }
        let made = Editor::<Words, DefaultHistory>::new();
        let mut editor = made.map_err(|_| "this terminal cannot show a prompt")?;
        let history = history_file(history);
        if let Some(history) = &history {
            // A first run has no history yet.
            let _ = editor.load_history(history);
        }
        Ok(Prompt { editor: Some(editor), history, text })
    }

    /// From now on these words are completed.
    pub(crate) fn complete(&mut self, words: Vec<String>) {
        if let Some(editor) = &mut self.editor {
            editor.set_helper(Some(Words(words)));
        }
    }

    /// The next line; none when there are no more.
    pub(crate) fn line(&mut self) -> Option<String> {
        let Some(editor) = &mut self.editor else {
            return piped_line();
        };
        loop {
            match editor.readline(self.text) {
                Ok(line) => {
                    let _ = editor.add_history_entry(line.as_str());
                    return Some(line);
                }
                Err(ReadlineError::Interrupted) => {}
                Err(_) => return None,
            }
        }
    }
}

/// The longest line that is read from a file or a pipe.
const LONGEST: u64 = 1 << 20;

/// The next line of a file or a pipe; none at the end, or where it is too long to be one.
fn piped_line() -> Option<String> {
    let mut line = Vec::new();
    let read = std::io::stdin().lock().take(LONGEST + 1).read_until(b'\n', &mut line);
    if line.len() as u64 > LONGEST {
        terminal::complain("error: a line of standard input has more than 1,048,576 bytes; the prompt ends\n");
        terminal::fail();
        return None;
    }
    match read {
        Ok(1..) => Some(String::from_utf8_lossy(&line).into_owned()),
        Ok(0) => None,
        Err(error) => {
            terminal::complain(&format!("error: cannot read standard input: {error}\n"));
            terminal::fail();
            None
        }
    }
}

impl Drop for Prompt {
    fn drop(&mut self) {
        if let (Some(editor), Some(history)) = (&mut self.editor, &self.history) {
            let _ = editor.save_history(history);
        }
    }
}

/// Where the history is kept.
fn history_file(name: &str) -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let folder = state.or_else(home)?.join("trefoil");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join(name))
}

/// The budgets of one line.
pub(crate) fn control(common: &Common) -> Control {
    let memory = common.memory.or_else(Limits::default_memory);
    Control::new(Limits { time: common.timeout, memory })
}

/// Reports why a line has no answer, and what its job was doing when it was stopped.
pub(crate) fn complain(problem: &Problem, control: &Control) {
    match problem {
        Problem::Stopped(stopped) => {
            terminal::say_err(&text::unfinished(&[], &Unfinished::new(*stopped, control)));
        }
        other => terminal::say_err(&other.render(terminal::colour_err())),
    }
}
