//! `trefoil trace`: a process, step by step, at a prompt.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use owo_colors::OwoColorize;
use serde_json::{Value, json};
use trefoil_control::{Control, count, counted};
use trefoil_session::check::{Asked, Part, Step};
use trefoil_session::look::{Followed, Offer, Recorded, Refusals, Stepper, Subject, Unclear, WalkReport, save_chart};
use trefoil_session::{Job, Problem, cannot_read, read_file};

use crate::arguments::{Common, Output, Tracing};
use crate::check::evidence::{said_of, save};
use crate::check::explain::steps;
use crate::check::results::{sentence, set};
use crate::exit;
use crate::interrupt::PromptInterrupt;
use crate::prompt::{Prompt, complain, control};
use crate::run::{Answer, Destination, Run};
use crate::spin;
use crate::terminal::{self, ProgressLine};
use crate::text::{cut, list};

const HELP: &str = "\
NUMBER, EVENT      takes the step with this number, or the only step with this event (tau: an internal one)
take EVENT         the same, for an event with the name of a command
next [N]           takes N steps along the path or the run that is followed; so does an empty line
back [N]           takes N steps back
goto N             goes to the state after N steps of the path; goto 0 goes to the initial state
random [N] [SEED]  takes N random steps
offers [all]       lists the steps that are possible here
state [all]        shows the states of the components
variables          Promela: shows all variables, channels and processes
refusals           shows which events this state refuses
path               shows the steps taken so far
replay [N]         returns to the start of the counterexample (of two runs, run N); next follows it
replay FILE [N]    follows a run from a file: of `trefoil check --format json` (result N), or a saved one
save FILE          writes the path to a file for replay; FILE.svg or FILE.png gets a chart, FILE.trc an action
                   a line, as mCRL2 reads it; Promela: FILE.trail gets a trail
help, quit         prints this text; ends the prompt, as does Ctrl-D. Ctrl-C stops the work of a line
";

const COMMANDS: &[&str] = &[
    "take",
    "next",
    "back",
    "goto",
    "random",
    "offers",
    "state",
    "variables",
    "refusals",
    "path",
    "replay",
    "save",
    "help",
    "quit",
];

/// How many offers or components are shown without `all`.
const SHOWN: usize = 40;
/// How many characters of a state are shown.
const LETTERS: usize = 100;

pub(crate) fn run(tracing: Tracing, common: Common) -> ExitCode {
    if tracing.random.is_some() || tracing.all {
        return walk(tracing, common);
    }
    if tracing.chart.is_some() {
        terminal::say_err("error: --chart needs --all or --random; at the prompt use save FILE.svg\n");
        return ExitCode::from(exit::WRONG);
    }
    let misuse = |why: &str| {
        terminal::say_err(&format!("error: {why}\n"));
        ExitCode::from(exit::WRONG)
    };
    if common.format != Output::Text {
        return misuse("--format applies to --random and --all only, not to the prompt");
    }
    if tracing.looking.file == Path::new("-") {
        return misuse("the prompt reads steps from standard input; the script must be a file");
    }
    let mut prompt = match Prompt::new("trace> ", "trace-history") {
        Ok(prompt) => prompt,
        Err(why) => return misuse(why),
    };
    let interrupt = PromptInterrupt::listen();
    let opening = control(&common);
    let opened = interrupt.during(&opening, |control| {
        let _progress = ProgressLine::show(control);
        open(&tracing, &Job::new(control.clone(), threads(&common)))
    });
    let lost;
    let mut subject = match opened {
        Ok((subject, said, astray)) => {
            if let Some(why) = &astray {
                terminal::say_err(&format!("error: {why}\n"));
            }
            lost = astray;
            if !terminal::say(&said) {
                return ExitCode::from(exit::WRONG);
            }
            match subject {
                Some(subject) => subject,
                None => return ExitCode::from(exit::WRONG),
            }
        }
        Err(problem) => {
            complain(&problem, &opening);
            let stopped = matches!(problem, Problem::Stopped(_));
            return ExitCode::from(if stopped { exit::UNKNOWN } else { exit::WRONG });
        }
    };
    let starting = control(&common);
    let stepper = interrupt.during(&starting, |control| subject.stepper(tracing.seed, control));
    let stepper = match stepper {
        Ok(stepper) => stepper,
        Err(problem) => {
            complain(&problem, &starting);
            return ExitCode::from(exit::UNKNOWN);
        }
    };
    let mut session = Session { stepper, colour: terminal::colour_out() };
    let looking = control(&common);
    let first = match &tracing.replay {
        Some(file) => interrupt.during(&looking, |control| session.replay(file, None, control)),
        None => interrupt.during(&looking, |control| session.here(control)),
    };
    if !told(first, &looking) {
        return ExitCode::from(exit::WRONG);
    }
    loop {
        prompt.complete(interrupt.during(&control(&common), |control| session.words(control)));
        let Some(line) = interrupt.reading(|| prompt.line()) else { break };
        let line = line.trim();
        if matches!(line, "quit" | "q" | "exit") {
            break;
        }
        let own = control(&common);
        own.progress().begin("stepping", 0);
        let said = interrupt.during(&own, |control| session.answer(line, control));
        if !told(said, &own) {
            break;
        }
    }
    if lost.is_some() { ExitCode::from(exit::WRONG) } else { ExitCode::SUCCESS }
}

fn threads(common: &Common) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    common.threads.map_or_else(cores, |threads| threads as usize)
}

/// A file that could not be written: the prompt goes on, and the program ends with the exit code of an error.
fn unsaved(why: String) -> Trouble {
    terminal::fail();
    wrong(why)
}

/// Prints the result of a line; false when it cannot be written.
fn told(said: Result<String, Trouble>, control: &Control) -> bool {
    match said {
        Ok(text) => return terminal::say(&text),
        Err(Trouble::Problem(problem)) => complain(&problem, control),
        Err(Trouble::Wrong(why)) => terminal::say_err(&format!("error: {why}\n")),
    }
    true
}

/// Opens the subject; gives it with a text about an assertion, and why a trail cannot be followed to its end.
fn open(tracing: &Tracing, job: &Job) -> Result<(Option<Subject>, String, Option<String>), Problem> {
    let looking = tracing.looking.clone().into();
    if let Some(trail) = &tracing.trail {
        let (subject, lost) = Subject::of_trail(&looking, trail, job)?;
        return Ok((Some(subject), String::new(), lost));
    }
    let Some(index) = tracing.assertion else {
        return Ok((Some(Subject::open_to_step(&looking, job)?), String::new(), None));
    };
    let options = Asked { no_leaf_compression: !looking.compress_leaves, ..Asked::default() };
    let (subject, report) = Subject::of_assertion(&looking, index, &options, job)?;
    let mut said = format!("{index}  {}\n", report.assertion.assertion_string);
    if let Some(sentence) = sentence(&report) {
        let _ = writeln!(said, "{sentence}");
    } else {
        said.push_str("the assertion holds, so there is no run to follow\n");
    }
    said.push_str(&report.rendered[usize::from(terminal::colour_out())]);
    Ok((subject, said, None))
}

/// A walk, or a run that is followed, without a prompt.
fn walk(tracing: Tracing, common: Common) -> ExitCode {
    let mut run = Run::new("trace", common, Destination::Out);
    let follows = tracing.assertion.is_some() || tracing.replay.is_some() || tracing.trail.is_some();
    if tracing.random.is_some() && follows {
        run.misuse("--random starts at the initial state; it cannot be combined with --assertion, --replay or --trail");
        return run.finish();
    }
    if tracing.all && tracing.assertion.is_none() && tracing.trail.is_none() {
        run.misuse("--all needs a run: give --assertion or --trail");
        return run.finish();
    }
    let files = [tracing.looking.file.display().to_string()];
    let mut trouble = None;
    run.check(&files, |job| {
        let (subject, said, lost) = open(&tracing, job)?;
        trouble = lost;
        let Some(mut subject) = subject else {
            terminal::say_err(&said);
            return Err(Problem::Input(Vec::new()));
        };
        terminal::say_err(&said);
        job.control.progress().begin("walking", 0);
        let mut stepper = subject.stepper(tracing.seed, &job.control)?;
        if tracing.all && stepper.found() == 0 {
            // `open` has reported why there is nothing to follow.
            return Err(Problem::Input(Vec::new()));
        }
        let report = match tracing.random {
            Some(steps) => stepper.walk_report(steps, &job.control)?,
            None => stepper.path_report(&job.control)?,
        };
        if let Some(file) = &tracing.chart {
            let failed = match report.chart(&caption(&report)) {
                Some(chart) => save_chart(file, &chart, &job.control).err().map(|problem| said_of(file, &problem)),
                None => Some("the run has no step, so no chart was written".to_string()),
            };
            trouble = trouble.take().or(failed);
        }
        Ok(report)
    });
    if let Some(why) = trouble {
        run.misuse(&why);
    }
    run.finish()
}

/// What stands above a chart.
fn caption(report: &WalkReport) -> String {
    match report.seed {
        Some(seed) => format!("{}: a walk with seed {seed}", report.told.process),
        None => format!("{}: a run", report.told.process),
    }
}

impl Answer for WalkReport {
    fn text(&self, colour: bool) -> String {
        if let Some(story) = &self.story {
            let mut text = spin::story(story, usize::MAX, colour);
            let end = if self.stuck { ": an invalid end state" } else { "" };
            let seed = self.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
            let taken = counted(self.run.steps.len() as u64, "step");
            let _ = writeln!(text, "{}: {taken}{seed}{end}", self.told.process);
            return text;
        }
        let names: Vec<String> = self.components.iter().map(|name| cut(name, LETTERS)).collect();
        let mut text = steps(&self.run, &names, usize::MAX, false, colour);
        let taken = counted(self.run.steps.len() as u64, "step");
        let end = if self.deadlock { ", then deadlock" } else { "" };
        let seed = self.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
        let _ = writeln!(text, "{}: {taken}{seed}{end}", self.told.process);
        text
    }
}

/// Why a line has no answer.
enum Trouble {
    Problem(Problem),
    Wrong(String),
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Trouble {
        Trouble::Problem(problem)
    }
}

fn wrong(why: impl Into<String>) -> Trouble {
    Trouble::Wrong(why.into())
}

struct Session<'a> {
    stepper: Stepper<'a>,
    colour: bool,
}

impl Session<'_> {
    /// What can be completed: commands, and the events that are offered.
    fn words(&mut self, control: &Control) -> Vec<String> {
        let mut words: Vec<String> = COMMANDS.iter().map(|command| command.to_string()).collect();
        if let Ok(offers) = self.stepper.offers(control) {
            words.extend(offers.iter().filter(|offer| !offer.is_internal()).map(|offer| offer.event.clone()));
        }
        words.sort_unstable();
        words.dedup();
        words
    }

    /// Does what a line asks for.
    fn answer(&mut self, line: &str, control: &Control) -> Result<String, Trouble> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let arguments: Vec<&str> = rest.split_whitespace().collect();
        match (command, &arguments[..]) {
            ("" | "next" | "n", []) => self.next(1, control),
            ("next" | "n", [steps]) => self.next(number(steps)?, control),
            ("back" | "b", []) => self.back(1, control),
            ("back" | "b", [steps]) => self.back(number(steps)?, control),
            ("goto" | "g", [taken]) => {
                let taken = number(taken)?;
                if self.stepper.go_to(taken) {
                    return self.here(control);
                }
                let there = self.stepper.situation(control)?;
                Err(wrong(format!("the path has {}", counted((there.taken + there.ahead) as u64, "step"))))
            }
            ("random" | "r", []) => self.random(1, control),
            ("random" | "r", [steps]) => self.random(number(steps)?, control),
            ("random" | "r", [steps, seed]) => {
                let seed = seed.parse().map_err(|_| wrong(format!("`{seed}` is not a seed")))?;
                self.stepper.seed(seed);
                self.random(number(steps)?, control)
            }
            ("offers" | "o", []) => self.offers(SHOWN, control),
            ("offers" | "o", ["all"]) => self.offers(usize::MAX, control),
            ("state" | "s", []) => self.states(SHOWN, control),
            ("state" | "s", ["all"]) => self.states(usize::MAX, control),
            ("variables" | "v", []) => self.variables(control),
            ("refusals", []) => self.refusals(control),
            ("path" | "p", []) => self.path(control),
            ("replay", []) => self.follow_found(1, control),
            ("replay", [run]) if run.parse::<usize>().is_ok() => self.follow_found(number(run)?, control),
            ("replay", [file]) => self.replay(Path::new(file), None, control),
            ("replay", [file, result]) => self.replay(Path::new(file), Some(number(result)?), control),
            ("save", [file]) => self.save(file, control),
            ("help" | "h" | "?", []) => Ok(HELP.to_string()),
            ("take" | "t", [_, ..]) => self.take(rest, control),
            (command, arguments) if COMMANDS.contains(&command) && arguments.is_empty() => {
                Err(wrong(format!("{command} needs an argument; see help")))
            }
            _ => self.take(line, control),
        }
    }

    /// Takes a step by its number or its event.
    fn take(&mut self, text: &str, control: &Control) -> Result<String, Trouble> {
        let text = text.trim();
        if let Ok(number) = text.parse::<usize>() {
            if self.stepper.take(number, control)? {
                return self.here(control);
            }
            return Err(wrong(format!("there is no step {number} here; offers lists the steps")));
        }
        match self.stepper.named(text, control)? {
            Ok(number) => {
                self.stepper.take(number, control)?;
                self.here(control)
            }
            Err(Unclear::Nothing) => {
                Err(wrong(format!("`{text}` is neither an event offered here nor a command; see offers and help")))
            }
            Err(Unclear::Several(numbers)) => {
                let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
                Err(wrong(format!("`{text}` names several steps; choose one of {}", list(&numbers, ", "))))
            }
        }
    }

    fn next(&mut self, steps: usize, control: &Control) -> Result<String, Trouble> {
        if self.stepper.forward(steps) == 0 && steps > 0 {
            return Err(wrong("the path ends here; take a step or go back"));
        }
        self.here(control)
    }

    fn back(&mut self, steps: usize, control: &Control) -> Result<String, Trouble> {
        if self.stepper.back(steps) == 0 && steps > 0 {
            return Err(wrong("this is the initial state"));
        }
        self.here(control)
    }

    fn random(&mut self, steps: usize, control: &Control) -> Result<String, Trouble> {
        let before = self.stepper.situation(control)?.taken;
        let walked = self.stepper.walk(steps, control)?;
        let run = self.stepper.run(control)?;
        let mut text = String::new();
        // The last step is shown with the state it leads to.
        let last = run.steps.len().saturating_sub(1);
        let story = self.stepper.story(control)?;
        match &story {
            Some(story) => {
                let mut passed = 0;
                // A move is a statement of its own, or the two halves of a rendezvous, or the statements of a d_step.
                let mut told = story.statements.clone();
                let mut depth = 0;
                let mut half = false;
                for statement in &mut told {
                    if statement.depth != depth && !std::mem::replace(&mut half, statement.offers) {
                        passed += 1;
                    }
                    depth = statement.depth;
                    statement.depth = passed;
                }
                told.retain(|statement| statement.depth > before && statement.depth <= last);
                text.push_str(&spin::statements(&told, self.colour));
            }
            None => {
                for (at, step) in run.steps.iter().enumerate().take(last).skip(before) {
                    let _ = writeln!(text, "{}  {}", at + 1, self.event(&step.event));
                }
            }
        }
        if walked < steps {
            let _ = writeln!(text, "deadlock after {}", counted(walked as u64, "step"));
        }
        text.push_str(&self.here(control)?);
        Ok(text)
    }

    fn follow_found(&mut self, run: usize, control: &Control) -> Result<String, Trouble> {
        if self.stepper.found() == 0 {
            return Err(wrong("there is no run to follow; replay FILE reads one, and --assertion N searches for one"));
        }
        if !self.stepper.follow_found(run.wrapping_sub(1)) {
            return Err(wrong(format!("there are only {}", counted(self.stepper.found() as u64, "run"))));
        }
        self.here(control)
    }

    fn replay(&mut self, file: &Path, result: Option<usize>, control: &Control) -> Result<String, Trouble> {
        let shown = file.display();
        let bytes = read_file(file, &Job::new(control.clone(), 1))?
            .map_err(|why| wrong(cannot_read(&shown.to_string(), &why)))?;
        control.progress().begin("reading the run", 0);
        let document: Value =
            serde_json::from_slice(&bytes).map_err(|error| wrong(format!("{shown} is not JSON: {error}")))?;
        let run = recorded(&document, result).map_err(|why| wrong(format!("{shown}: {why}")))?;
        let mut said = match self.stepper.follow(&run, control)? {
            Followed::Exactly => String::new(),
            Followed::ByEvents => "the events are those of the file; the states have other descriptions\n".to_string(),
            Followed::Until(steps) => {
                let event = run.get(steps).map_or("", |step| step.event.as_str());
                format!("after {} of the file, {event} is not possible\n", counted(steps as u64, "step"))
            }
        };
        said.push_str(&self.here(control)?);
        Ok(said)
    }

    fn save(&mut self, file: &str, control: &Control) -> Result<String, Trouble> {
        let path = Path::new(file);
        if [".svg", ".png"].iter().any(|end| file.ends_with(end)) {
            let report = self.stepper.report(control)?;
            let chart = report.chart(&caption(&report)).ok_or_else(|| wrong("the run has no step"))?;
            save_chart(path, &chart, control).map_err(|problem| unsaved(said_of(path, &problem)))?;
            return Ok(format!("wrote {} to {file}\n", counted(report.run.steps.len() as u64, "step")));
        }
        if file.ends_with(".trail") {
            let Some(story) = self.stepper.story(control)? else {
                return Err(wrong("only runs of Promela models can be saved as trails"));
            };
            let saved = trefoil_session::save(path, &story.trail, control);
            saved.map_err(|problem| unsaved(said_of(path, &problem)))?;
            return Ok(format!("wrote {} to {file}\n", counted(story.statements.len() as u64, "statement")));
        }
        let run = self.stepper.run(control)?;
        if file.ends_with(".trc") {
            save(Path::new(file), &actions(&run.steps), control).map_err(unsaved)?;
            return Ok(format!("wrote {} to {file}\n", counted(run.steps.len() as u64, "action")));
        }
        let told = self.stepper.told();
        let document = json!({
            "schema": crate::schema::VERSION,
            "trefoil": env!("CARGO_PKG_VERSION"),
            "command": "trace",
            "file": told.file,
            "process": told.process,
            "components": self.stepper.components(),
            "runs": [{ "initial": run.initial, "steps": run.steps }],
        });
        let text = serde_json::to_string_pretty(&document).expect("a document of plain data") + "\n";
        crate::schema::check(&text);
        save(Path::new(file), &text, control).map_err(unsaved)?;
        Ok(format!("wrote {} to {file}\n", counted(run.steps.len() as u64, "step")))
    }

    fn variables(&mut self, control: &Control) -> Result<String, Trouble> {
        let taken = self.stepper.situation(control)?.taken;
        match self.stepper.end(control) {
            Some(end) => Ok(spin::end(&end, taken)),
            None => Err(wrong("only Promela models have variables; state shows the states of components")),
        }
    }

    fn path(&mut self, control: &Control) -> Result<String, Trouble> {
        if let Some(story) = self.stepper.story(control)? {
            return Ok(spin::statements(&story.statements, self.colour));
        }
        let run = self.stepper.run(control)?;
        let names: Vec<String> = self.stepper.components().iter().map(|name| cut(name, LETTERS)).collect();
        let mut text = steps(&run, &names, usize::MAX, false, self.colour);
        let trace: Vec<String> =
            run.steps.iter().filter(|step| !step.event.starts_with('τ')).map(|step| step.event.clone()).collect();
        let _ = writeln!(text, "trace: <{}>", trace.join(", "));
        Ok(text)
    }

    fn event(&self, event: &str) -> String {
        match (self.colour, event.starts_with('τ')) {
            (false, _) => event.to_string(),
            (true, true) => event.dimmed().to_string(),
            (true, false) => event.bold().to_string(),
        }
    }

    /// The current state and the possible steps.
    fn here(&mut self, control: &Control) -> Result<String, Trouble> {
        let there = self.stepper.situation(control)?;
        let names = self.stepper.components();
        let mut text = match &there.event {
            Some(_) if !there.statements.is_empty() => {
                let mut told = there.statements.clone();
                told.iter_mut().for_each(|statement| statement.depth = there.taken);
                spin::statements(&told, self.colour)
            }
            None => format!("0  {}\n", self.stepper.told().process),
            Some(event) => {
                let parts = parts(&there.parts, event, names);
                format!("{}  {}{parts}\n", there.taken, self.event(event))
            }
        };
        let told = !there.statements.is_empty();
        for &component in there.changed.iter().take(SHOWN).filter(|_| !told) {
            let (name, state) = (&names[component], &there.states[component]);
            // The initial state of a component that is named after it says nothing new.
            if !state.is_empty() && (there.event.is_some() || name != state) {
                let _ = writeln!(text, "   {}", state_line(name, state, names.len()));
            }
        }
        if there.changed.len() > SHOWN && !told {
            let _ =
                writeln!(text, "   … and {} more; `state all` shows them", count((there.changed.len() - SHOWN) as u64));
        }
        if there.ahead > 0 {
            let _ = writeln!(text, "   {} ahead on the path; `next` takes one", counted(there.ahead as u64, "step"));
        }
        text.push_str(&self.offers(SHOWN, control)?);
        Ok(text)
    }

    fn offers(&mut self, most: usize, control: &Control) -> Result<String, Trouble> {
        let offers = self.stepper.offers(control)?;
        let names = self.stepper.components();
        if offers.is_empty() {
            return Ok("   no step is possible\n".to_string());
        }
        let shown = &offers[..offers.len().min(most)];
        let column = |texts: &dyn Fn(&Offer) -> usize| shown.iter().map(texts).max().unwrap_or(0).min(60);
        let digits = shown.len().to_string().len();
        let events = column(&|offer| offer.event.chars().count());
        let mut text = String::new();
        let mut before = "";
        for offer in shown {
            // Offers of one event stand together below its name.
            let event = if offer.event == before { String::new() } else { self.event(&offer.event) };
            let pad = events.saturating_sub(if event.is_empty() { 0 } else { offer.event.chars().count() });
            before = &offer.event;
            // The components that take part say what happens; where an event leads to several states, the changes do.
            let several = shown.iter().filter(|other| other.event == offer.event).nth(1).is_some();
            let changes: Vec<String> = offer
                .changes
                .iter()
                .map(|change| state_line(&names[change.component], &change.state, names.len()))
                .collect();
            let told = match (names.len() > 1 && !offer.parts.is_empty(), several) {
                (true, false) => parts(&offer.parts, &offer.event, names),
                _ if changes.is_empty() => "  → the same state".to_string(),
                _ => format!("  → {}", cut(&list(&changes, "; "), 160)),
            };
            let line = format!("   {:>digits$}  {event}{}{told}", offer.number, " ".repeat(pad));
            let _ = writeln!(text, "{}", line.trim_end());
        }
        if shown.len() < offers.len() {
            let _ =
                writeln!(text, "   … and {} more; `offers all` lists them", count((offers.len() - shown.len()) as u64));
        }
        Ok(text)
    }

    fn states(&mut self, most: usize, control: &Control) -> Result<String, Trouble> {
        let there = self.stepper.situation(control)?;
        let names = self.stepper.components();
        let mut text = format!("after {}\n", counted(there.taken as u64, "step"));
        for (name, state) in names.iter().zip(&there.states).take(most).filter(|(_, state)| !state.is_empty()) {
            let _ = writeln!(text, "   {}", state_line(name, state, names.len()));
        }
        if names.len() > most {
            let _ = writeln!(text, "   … and {} more; `state all` shows them", count((names.len() - most) as u64));
        }
        Ok(text)
    }

    fn refusals(&mut self, control: &Control) -> Result<String, Trouble> {
        Ok(match self.stepper.refusals(control)? {
            Refusals::Unstable => {
                "unstable: an internal step is possible, so this state refuses nothing stably\n".to_string()
            }
            Refusals::Stable { offered, refused } => {
                format!("stable\n   offered  {}\n   refused  {}\n", set(&offered), set(&refused))
            }
            Refusals::Carried { acceptances, diverges } => {
                let sets: Vec<String> = acceptances.iter().map(|events| set(events)).collect();
                let accepted = if sets.is_empty() { "never stable".to_string() } else { list(&sets, " or ") };
                let diverges = if diverges { "   diverges\n" } else { "" };
                format!("this state represents several\n   accepted  {accepted}\n{diverges}")
            }
        })
    }
}

/// A component and its state.
fn state_line(name: &str, state: &str, components: usize) -> String {
    if components > 1 { format!("{}: {}", cut(name, LETTERS), cut(state, LETTERS)) } else { cut(state, LETTERS) }
}

/// The components that took part, with their own events where those differ.
fn parts(parts: &[Part], event: &str, names: &[std::sync::Arc<str>]) -> String {
    if names.len() < 2 || parts.is_empty() {
        return String::new();
    }
    let seen = event.strip_prefix("τ (").and_then(|rest| rest.strip_suffix(')')).unwrap_or(event);
    let told: Vec<String> = parts
        .iter()
        .map(|part| {
            let name = cut(names.get(part.component).map_or("?", |name| name), LETTERS);
            if part.event == seen || part.event == "τ" { name } else { format!("{name} ({})", part.event) }
        })
        .collect();
    format!("  by {}", list(&told, ", "))
}

fn number(text: &str) -> Result<usize, Trouble> {
    text.parse().map_err(|_| wrong(format!("`{text}` is not a number")))
}

/// An action a line; internal steps are `tau`.
fn actions(steps: &[Step]) -> String {
    let action = |step: &Step| if step.event.starts_with('τ') { "tau".to_string() } else { step.event.clone() };
    steps.iter().map(|step| action(step) + "\n").collect()
}

/// A run in a document: a saved one, or that of a result of `trefoil check`.
fn recorded(document: &Value, result: Option<usize>) -> Result<Vec<Recorded>, String> {
    let run = if document["command"] == "check" {
        let runs = document["runs"].as_array().into_iter().flatten();
        let mut witnesses = runs.flat_map(|run| run["results"].as_array().into_iter().flatten());
        let chosen = witnesses.find(|found| match result {
            Some(index) => found["index"].as_u64() == Some(index as u64),
            None => found["witness"]["runs"][0].is_object(),
        });
        let chosen = chosen.ok_or_else(|| match result {
            Some(index) => format!("the file has no result {index}"),
            None => "the file has no result with a counterexample".to_string(),
        })?;
        &chosen["witness"]["runs"][0]
    } else {
        &document["runs"][result.map_or(0, |run| run.saturating_sub(1))]
    };
    let steps = run["steps"].as_array().ok_or("the file has no run")?;
    let cycle = run["cycle"].as_array().into_iter().flatten();
    let step = |step: &Value| {
        let event = step["event"].as_str().ok_or("a step has no event")?.to_string();
        let states = step["states"].as_array().map(|states| {
            states.iter().map(|state| state.as_str().unwrap_or_default().to_string()).collect::<Vec<String>>()
        });
        Ok(Recorded { event, states })
    };
    steps.iter().chain(cycle).map(step).collect()
}
