//! `trefoil cspm eval` and the prompt.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use trefoil_control::Control;
use trefoil_session::cspm::eval::{Evaluating, EvaluationReport, Script, evaluate};
use trefoil_session::{Problem, Texts, Verdict};

use crate::arguments::Common;
use crate::evaluating::Evaluates;
use crate::run::{Answer, Destination, Run};

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

impl Evaluates for Script {
    const PROMPT: &'static str = "cspm> ";
    const HISTORY: &'static str = "cspm-history";
    const TEXT: &'static str = "script";
    const HELP: &'static str = "\
EXPRESSION        prints the value; a process prints as its term
:type EXPRESSION  prints the type
:reload           reads the script again
:help             prints this text
:quit             ends the prompt, as does Ctrl-D; Ctrl-C stops the evaluation of a line
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

    fn type_of(&self, expression: &str, control: &Control) -> Result<String, Problem> {
        Script::type_of(self, expression, control)
    }

    fn answer(&self, line: &str, steps: Option<u64>, control: &Control) -> Result<String, Problem> {
        self.value(line, steps, control).map(|found| format!("{}\n", found.text))
    }
}
