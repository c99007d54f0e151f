//! Runs checks one after the other: budgets, Ctrl-C and progress around each, its answer after it, one exit code for
//! all.

use std::process::ExitCode;

use serde::Serialize;
use serde_json::{Value, json};
use trefoil_control::{Control, Limits, release_memory};
use trefoil_session::{DiagnosticReport, Job, Problem, Unfinished, Verdict};

use crate::arguments::{Common, Output};
use crate::exit;
use crate::interrupt::Interrupt;
use crate::terminal::{self, ProgressLine};

/// A result that can be shown to people; for programs it is serialised.
pub(crate) trait Answer: Serialize {
    /// The verdict, when the result is one; else the work is simply done.
    fn verdict(&self) -> Verdict {
        Verdict::Holds
    }

    /// For people, with a newline at its end.
    fn text(&self, colour: bool) -> String;

    /// Is the text a document, which must not be folded to fit a terminal?
    fn is_verbatim(&self) -> bool {
        false
    }

    /// Complaints about a result that is good nevertheless, for standard error.
    fn complaints(&self, _colour: bool) -> &str {
        ""
    }
}

/// Where the text of an answer goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Standard output.
    Out,
    /// Standard error, because standard output holds a system.
    Err,
}

/// Where jobs come from: each has its own budgets, and Ctrl-C ends the one that runs.
pub(crate) struct Jobs {
    common: Common,
    interrupt: Interrupt,
    /// The memory budget of every job, fixed before the first job uses memory.
    memory: Option<u64>,
}

impl Jobs {
    pub(crate) fn new(common: Common) -> Jobs {
        let memory = common.memory.or_else(Limits::default_memory);
        Jobs { common, interrupt: Interrupt::listen(), memory }
    }

    /// A job that begins now.
    pub(crate) fn start(&self) -> Job {
        // Before the memory is watched.
        release_memory(self.memory);
        let control = Control::new(Limits { time: self.common.timeout, memory: self.memory });
        self.interrupt.watch(&control);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.common.threads.map_or(cores, |threads| threads as usize);
        Job::new(control, threads)
    }

    /// Does something under the budgets of a job of its own.
    pub(crate) fn during<R>(&self, work: impl FnOnce(&Control) -> R) -> R {
        let result = work(&self.start().control);
        self.answered();
        result
    }

    /// The job has its answer.
    pub(crate) fn answered(&self) {
        self.interrupt.answered();
    }
}

/// One run of the program.
pub(crate) struct Run {
    command: &'static str,
    jobs: Jobs,
    destination: Destination,
    results: Vec<Value>,
    codes: Vec<u8>,
}

impl Run {
    pub(crate) fn new(command: &'static str, common: Common, destination: Destination) -> Run {
        Run { command, jobs: Jobs::new(common), destination, results: Vec::new(), codes: Vec::new() }
    }

    /// Runs one check, named by the files it is about, and shows its answer.
    pub(crate) fn check<A: Answer>(&mut self, files: &[String], work: impl FnOnce(&Job) -> Result<A, Problem>) {
        if let Some(answer) = self.prepare(files, work) {
            self.answer(&answer);
        }
    }

    /// Does work that has no answer of its own; when it fails, shows why and gives nothing.
    pub(crate) fn prepare<R>(&mut self, files: &[String], work: impl FnOnce(&Job) -> Result<R, Problem>) -> Option<R> {
        let job = self.jobs.start();
        let control = job.control.clone();
        let progress = ProgressLine::show(&control);
        let result = work(&job);
        self.jobs.answered();
        drop(progress);
        match result {
            Ok(result) => return Some(result),
            Err(Problem::Stopped(stopped)) => self.unknown(files, &Unfinished::new(stopped, &control)),
            Err(problem) => self.wrong(files, &problem.render(terminal::colour_err()), problem.reports()),
        }
        None
    }

    /// Does a part of the work, under budgets of its own.
    pub(crate) fn part<R>(&mut self, work: impl FnOnce(&Job) -> R) -> R {
        let job = self.jobs.start();
        let progress = ProgressLine::show(&job.control);
        let result = work(&job);
        self.jobs.answered();
        drop(progress);
        result
    }

    /// Reports arguments that do not fit together.
    pub(crate) fn misuse(&mut self, why: &str) {
        self.codes.push(exit::WRONG);
        terminal::say_err(&format!("error: {why}\n"));
    }

    /// Shows an answer.
    pub(crate) fn answer<A: Answer>(&mut self, answer: &A) {
        terminal::say_err(answer.complaints(terminal::colour_err()));
        self.codes.push(exit::of(answer.verdict()));
        match self.format() {
            Output::Json => self.results.push(serde_json::to_value(answer).expect("reports are plain data")),
            _ => {
                let colour = match self.destination {
                    Destination::Out => terminal::colour_out(),
                    Destination::Err => terminal::colour_err(),
                };
                let text = answer.text(colour);
                if answer.is_verbatim() { self.write(&text) } else { self.say(&text) }
            }
        }
    }

    fn unknown(&mut self, files: &[String], unfinished: &Unfinished) {
        self.codes.push(exit::UNKNOWN);
        match self.format() {
            Output::Json => {
                self.results.push(json!({ "files": files, "verdict": Verdict::Unknown, "unfinished": unfinished }));
            }
            _ => self.say(&crate::text::unfinished(files, unfinished)),
        }
    }

    fn wrong(&mut self, files: &[String], text: &str, diagnostics: Vec<DiagnosticReport>) {
        self.codes.push(exit::WRONG);
        terminal::say_err(text);
        if self.format() == Output::Json {
            self.results.push(json!({ "files": files, "verdict": Verdict::Error, "diagnostics": diagnostics }));
        }
    }

    fn format(&self) -> Output {
        self.jobs.common.format
    }

    fn say(&mut self, text: &str) {
        match self.destination {
            Destination::Out => {
                terminal::say(text);
            }
            Destination::Err => terminal::say_err(text),
        }
    }

    /// Writes a text as it is.
    fn write(&mut self, text: &str) {
        match self.destination {
            Destination::Out => {
                terminal::print(text);
            }
            Destination::Err => terminal::complain(text),
        }
    }

    /// Writes what is left to write and gives the exit code of the run.
    pub(crate) fn finish(mut self) -> ExitCode {
        if self.format() == Output::Json {
            let version = env!("CARGO_PKG_VERSION");
            let results = std::mem::take(&mut self.results);
            let schema = crate::schema::VERSION;
            let document = json!({ "schema": schema, "trefoil": version, "command": self.command, "results": results });
            let text = serde_json::to_string_pretty(&document).expect("a document of plain data") + "\n";
            crate::schema::check(&text);
            self.write(&text);
        }
        ExitCode::from(exit::together(self.codes))
    }
}
