//! Promela models: open one, list what can be checked about it, check it.
//!
//! A model has no assertions as a CSPM script has; what is checked is what Spin checks in a safety run: assertions (and run-time
//! errors), invalid end states, and the `trace` declaration. Each is a property of its own with its own answer and its own shortest
//! counterexample. One search looks for all of them at once: when it was complete, the others are answered by it.
//!
//! `ltl` formulas and `never` claims are listed, and refused when they are run.

mod chart;
mod probe;
mod report;
mod search;
pub(crate) mod simulate;
mod story;
mod symmetry;
pub(crate) mod words;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use trefoil_control::peak_memory;
use trefoil_promela::symmetry::Symmetries;
use trefoil_promela::{Model, read};
use trefoil_source::{Diagnostic, Place, ReportedPlace, Severity, Sources, Span};
use trefoil_system::Cut;

use crate::check::{Assertion, AssertionReport, CheckOptions, Claim, PrintResult, RunReport, Store, Wanted, line};
use crate::cspm::Warnings;
use crate::problem::{NO_INITIAL_STATE, NOT_SUPPORTED, REFUSED, cut_short};
use crate::{Job, Problem, Unfinished, Verdict, seconds};
pub use report::{ChannelDiagram, ChannelDiagramNode, ModelSymmetry, model_symmetry};
use search::{Answers, Property, Spotted};
use symmetry::Trouble;

pub use story::{Created, EndState, Process, Statement, Story, Variable};

/// A model that can be checked.
pub struct Script {
    file: String,
    sources: Sources,
    warnings: Warnings,
    model: Arc<Model>,
    listed: Vec<(Assertion, Property, Span)>,
    /// What a complete search has found.
    complete: Option<Answers>,
    /// What a search without states has found, and how it remembered them.
    probed: Option<(Store, Answers)>,
    /// Once somebody wanted them.
    symmetries: Option<Symmetries>,
}

impl Script {
    /// Reads and compiles a model.
    pub fn open(file: &Path, job: &Job) -> Result<Script, Problem> {
        job.control.check()?;
        job.control.progress().begin("reading", 0);
        let name = file.display().to_string();
        let mut sources = Sources::default();
        let unreadable = |why: String| {
            let place = Place::File(name.clone());
            Problem::from(Diagnostic::error("P001", format!("the model cannot be read: {why}"), place))
        };
        let text = load(&name).map_err(unreadable)?;
        if u32::try_from(text.len()).is_err() {
            return Err(unreadable("it has 4 GiB or more".to_string()));
        }
        let id = sources.add(name.clone(), text);
        let mut diagnostics = Vec::new();
        let program = read(id, &mut sources, &mut load, &mut diagnostics, &job.control)?;
        let Some(program) = program else {
            if !diagnostics.iter().any(|told| told.severity == Severity::Error) {
                return Err(unreadable("nothing is known about why".to_string()));
            }
            return Err(Problem::Script(diagnostics, sources));
        };
        let warnings = Warnings::new(&diagnostics, &sources);
        let start = Span { file: id, start: 0, end: 0 };
        let mut properties = vec![
            (Property::Assertions, "no assertion is violated".to_string(), program.assertions.first().copied()),
            (Property::EndStates, "no invalid end state".to_string(), None),
        ];
        if let Some(trace) = &program.trace {
            let word = if trace.forbidden { "notrace" } else { "trace" };
            properties.push((Property::Trace, format!("{word} is kept"), Some(trace.automaton.span)));
        }
        for claim in &program.claims {
            properties.push((Property::Claim, format!("{} {}", claim.kind, claim.name), Some(claim.span)));
        }
        let listed = properties
            .into_iter()
            .enumerate()
            .map(|(at, (property, text, span))| {
                let span = span.unwrap_or(start);
                let source = sources.file(span.file);
                let (line, column) = source.line_column(span.start);
                let place = ReportedPlace {
                    file: source.name().to_string(),
                    line: Some(line),
                    column: Some(column),
                    text: String::new(),
                };
                let shown = Assertion {
                    index: at + 1,
                    assertion_string: text,
                    kind: property.claim(),
                    model: None,
                    is_negated: false,
                    options: Vec::new(),
                    place,
                };
                (shown, property, span)
            })
            .collect();
        let model = Arc::new(Model::new(Arc::new(program)));
        if let Some(fault) = model.initial_fault() {
            let message = format!("a variable has no initial value: {fault}");
            let wrong = Diagnostic::error(NO_INITIAL_STATE, message, Place::File(name)).help(
                "look at the initial values of global variables and of the variables of `init` and active processes",
            );
            return Err(Problem::Input(vec![wrong]));
        }
        Ok(Script {
            file: name,
            sources,
            warnings,
            model,
            listed,
            complete: None,
            probed: None,
            symmetries: None,
        })
    }

    /// What is suspicious about it.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// What can be checked, in order.
    pub fn assertions(&self) -> impl ExactSizeIterator<Item = &Assertion> {
        self.listed.iter().map(|(shown, ..)| shown)
    }

    /// Checks one of them.
    pub fn run(&mut self, index: usize, options: &CheckOptions, job: &Job) -> AssertionReport {
        let listed = index.checked_sub(1).and_then(|at| self.listed.get(at)).cloned();
        let (shown, property, span) = listed.expect("properties have the numbers that the model gives them");
        let started = Instant::now();
        let mut report = AssertionReport::new(shown);
        let refusal = if property == Property::Claim {
            Some((NOT_SUPPORTED, "claims about whole runs cannot be checked yet"))
        } else if options.partial_order {
            Some((REFUSED, "there is no partial-order reduction for Promela"))
        } else if matches!(options.symmetry, Wanted::Types(_)) {
            Some((REFUSED, "a Promela model has no datatypes to be symmetric in"))
        } else {
            None
        };
        if let Some((code, message)) = refusal {
            let mut refused = Diagnostic::error(code, message, Place::Span(span));
            if property == Property::Claim {
                let others: Vec<String> = self
                    .listed
                    .iter()
                    .filter(|(_, property, _)| *property != Property::Claim)
                    .map(|(shown, ..)| format!("--only {}", shown.index))
                    .collect();
                refused = refused.help(format!("{} checks the rest", others.join(" ")));
            }
            report.tell(&refused, &self.sources);
            return report;
        }
        let answers = match options.store {
            Store::Exact => self.answers(property, options, job),
            _ => self.probed_answers(property, options, job).map_err(Trouble::Cut),
        };
        match answers {
            Ok(answers) => {
                report.visited_states = answers.states;
                report.visited_transitions = answers.transitions;
                report.visited_plys = u64::from(answers.depth) + 1;
                report.store_bytes = Some(answers.bytes);
                let found = answers.found[property as usize].clone();
                report.verdict = if found.is_some() { Verdict::Fails } else { Verdict::Holds };
                report.result = Some(u8::from(found.is_none()));
                report.witness = found.map(|spotted: Spotted| spotted.evidence);
                report.symmetry = answers.symmetry.clone();
                report.notes.extend(answers.notes.iter().cloned());
                if let Some(coverage) = &answers.coverage {
                    report.algorithm = Some(coverage.store.to_string());
                    if report.verdict == Verdict::Holds {
                        report.verdict = Verdict::Unknown;
                        report.result = None;
                        report.reason = Some(probe::quality(coverage, answers.states));
                    }
                    report.coverage = Some(coverage.clone());
                }
                if answers.complete && answers.coverage.is_none() && property == Property::EndStates {
                    report.notes.extend(self.unreached(&answers));
                }
            }
            Err(Trouble::Refused(why)) => {
                report.tell(&Diagnostic::error(REFUSED, why, Place::Span(span)), &self.sources)
            }
            Err(Trouble::Cut(Cut::Stopped)) => report.give_up(Unfinished::new(job.control.why(), &job.control)),
            Err(Trouble::Cut(cut)) => {
                report.tell(&cut_short(&cut, &job.control, Place::Span(span)), &self.sources);
            }
        }
        report.check_seconds = seconds(started.elapsed());
        report.peak_memory_bytes = peak_memory();
        report
    }

    /// The statements that nothing reaches, a line for each process type.
    fn unreached(&self, answers: &Answers) -> Vec<String> {
        let program = self.model.program();
        let mut notes = Vec::new();
        for (kind, states) in &answers.unreached {
            let process = &program.processes[usize::from(*kind)];
            let told: Vec<String> = states
                .iter()
                .map(|&state| {
                    let statement = &process.statements[state as usize];
                    format!("line {} `{}`", statement.line, statement.text)
                })
                .collect();
            if !told.is_empty() {
                notes.push(format!("never reached in {}: {}", process.name, told.join(", ")));
            }
        }
        notes
    }

    /// The report of a run, once its properties have been checked.
    pub fn report(&self, prints: Vec<PrintResult>, results: Vec<AssertionReport>) -> RunReport {
        RunReport {
            file_name: self.file.clone(),
            errors: Vec::new(),
            warnings: self.warnings.reports.iter().map(line).collect(),
            print_statement_results: prints,
            event_map: Default::default(),
            results,
            assertions: self.assertions().cloned().collect(),
            unfinished: None,
            diagnostics: self.warnings.reports.clone(),
        }
    }
}

/// The text of a file, or of standard input; what is no UTF-8 is read as Latin-1.
fn load(name: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let outcome = if name == "-" {
        std::io::stdin().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(name).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    match outcome {
        Ok(_) => Ok(String::from_utf8(bytes)
            .unwrap_or_else(|wrong| wrong.into_bytes().iter().map(|&byte| char::from(byte)).collect())),
        Err(error) => Err(match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_string(),
            std::io::ErrorKind::PermissionDenied => "it may not be read".to_string(),
            std::io::ErrorKind::IsADirectory => "it is a folder".to_string(),
            _ => error.to_string(),
        }),
    }
}

impl Property {
    fn claim(self) -> Claim {
        match self {
            Property::Assertions => Claim::Assertions,
            Property::EndStates => Claim::EndStates,
            Property::Trace => Claim::EventTrace,
            Property::Claim => Claim::Temporal,
        }
    }
}
