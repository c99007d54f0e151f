//! Promela models: open one, list its properties, check them.
//!
//! A model has no assertions like a CSPM script; the properties are those of a safety run of Spin: assertions (and
//! run-time errors), invalid end states, and the `trace` declaration. Each is a property of its own with its own answer
//! and its own shortest counterexample. One search looks for all of them: if it is complete, it answers the other
//! properties, too.
//!
//! `ltl` formulas and `never` claims are properties, too, and so are the absence of cycles without progress and through
//! `accept` labels in models that have such labels. They share one search of the model ([`temporal`]).

mod automata;
mod chart;
mod evidence;
pub(crate) mod quality;
mod report;
pub(crate) mod simulate;
mod story;
mod symmetry;
mod temporal;
mod unreached;
mod waiting;
pub(crate) mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use trefoil_check::Kept;
use trefoil_control::{Control, peak_memory};
use trefoil_promela::symmetry::Symmetries;
use trefoil_promela::{FaultKind, Model, read};
use trefoil_questions::{Answer, ErrorKinds, Found, Goal, Question, Reach, TemporalClaim, Unanswered};
use trefoil_source::{Diagnostic, Place, ReportedPlace, Severity, Sources, Span, Texts};
use trefoil_system::Cut;

use crate::check::{
    Asked, Assertion, AssertionReport, Claim, Coverage, Evidence, Finding, Setting, Unused, Violation, unused,
    unused_strategy,
};
use crate::cspm::Warnings;
use crate::problem::{NO_INITIAL_STATE, NOT_SUPPORTED, REFUSED, cut_short};
use crate::{Job, Problem, Unfinished, Verdict, seconds};
use automata::Automata;
pub(crate) use automata::read_automaton;
pub use report::{ChannelDiagram, ChannelDiagramNode, ModelSymmetry, model_symmetry};
pub(crate) use symmetry::permuted;
use symmetry::{ClaimParts, Claims, answer, answer_claim, used};

pub(crate) use story::place_of;
pub use story::{Awaited, Created, EndState, Process, Statement, Story, Variable};
pub use unreached::{Unreached, UnreachedStatement};

/// Where a search with fewer steps found at most this many states, it is repeated for a shortest counterexample.
const SOON_AGAIN: u64 = 1 << 16;

/// A model that can be checked.
pub struct Script {
    pub(crate) file: String,
    sources: Sources,
    warnings: Warnings,
    model: Arc<Model>,
    listed: Vec<(Assertion, Property, Span)>,
    /// What the claims say, in their order.
    temporal: Vec<TemporalClaim>,
    /// Under which part of the group each claim is decided, and what their searches have kept.
    parts: ClaimParts,
    /// The results of complete searches.
    kept: Kept,
    /// Once a check has needed them.
    symmetries: Option<Symmetries>,
}

impl Script {
    /// Reads and compiles a model.
    pub fn open(file: &Path, job: &Job) -> Result<Script, Problem> {
        Script::open_with(file, &[], &[], job)
    }

    /// The same with formulas of linear temporal logic, which are read as if they stood at the end of the model, and
    /// with automata in files, which must accept no run.
    pub fn open_with(file: &Path, formulas: &[String], automata: &[PathBuf], job: &Job) -> Result<Script, Problem> {
        job.control.check()?;
        let name = file.display().to_string();
        let mut sources = Sources::default();
        let unreadable = |why: String| {
            let place = Place::File(name.clone());
            Problem::from(Diagnostic::error("P001", trefoil_source::cannot_read(&name, &why), place))
        };
        let mut automata = Automata::read(automata, job, &mut sources)?;
        let loaded = load(&job.texts, &name, &job.control);
        job.control.check()?;
        let mut text = loaded.map_err(unreadable)?;
        for formula in formulas {
            text.push_str(&format!("\nltl {{ {formula} }}"));
        }
        text.push_str(&automata.includes());
        if u32::try_from(text.len()).is_err() {
            return Err(unreadable("it has 4 GiB or more".to_string()));
        }
        let id = sources.add(name.clone(), text);
        let mut diagnostics = Vec::new();
        let mut load = |name: &str| automata.next(name).map_or_else(|| load(&job.texts, name, &job.control), Ok);
        let program = read(id, &mut sources, &mut load, &mut diagnostics, &job.control)?;
        let Some(mut program) = program else {
            if !diagnostics.iter().any(|told| told.severity == Severity::Error) {
                return Err(unreadable("no diagnostic says why".to_string()));
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
        let of_files = automata.claims(&mut program);
        let of_files = of_files.map_err(|wrong| Problem::Script(vec![*wrong], sources.clone()))?;
        let mut temporal = Vec::new();
        for listed in temporal::claims(&program).into_iter().chain(of_files) {
            let property = match listed.says {
                Ok(claim) => {
                    temporal.push(claim);
                    Property::Claim(temporal.len() - 1, listed.way)
                }
                Err(why) => Property::Refused(why),
            };
            properties.push((property, listed.text, listed.span));
        }
        let listed = properties
            .into_iter()
            .enumerate()
            .map(|(at, (property, text, span)): (usize, (Property, String, Option<Span>))| {
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
            let message = format!("an initial value cannot be computed: {fault}");
            let wrong = Diagnostic::error(NO_INITIAL_STATE, message, Place::File(name)).help(
                "look at the initial values of global variables and of the variables of `init` and active processes",
            );
            return Err(Problem::Input(vec![wrong]));
        }
        let (kept, parts) = (Kept::default(), ClaimParts::default());
        Ok(Script { file: name, sources, warnings, model, listed, temporal, parts, kept, symmetries: None })
    }

    /// Its program, and the texts that places in it point into.
    pub(crate) fn program(&self) -> (&trefoil_promela::Program, &Sources) {
        (self.model.program(), &self.sources)
    }

    /// The warnings about it.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// The properties, in order.
    pub fn assertions(&self) -> impl ExactSizeIterator<Item = &Assertion> {
        self.listed.iter().map(|(shown, ..)| shown)
    }

    /// The options that the property with this number cannot use.
    pub(crate) fn unused(&self, index: usize, options: &Asked) -> Vec<Unused> {
        let listed = index.checked_sub(1).and_then(|at| self.listed.get(at));
        let (shown, ..) = listed.expect("properties have the numbers that the model gives them");
        unused(shown.kind, options)
    }

    /// Checks one of them.
    pub fn run(&mut self, index: usize, options: &Asked, job: &Job) -> AssertionReport {
        let listed = index.checked_sub(1).and_then(|at| self.listed.get(at)).cloned();
        let (shown, property, span) = listed.expect("properties have the numbers that the model gives them");
        let started = Instant::now();
        let mut report = AssertionReport::new(shown);
        let unused = self.unused(index, options);
        report.notes.extend(unused.iter().map(|unused| unused.words.clone()));
        if let Property::Refused(why) = property {
            report.tell(&Diagnostic::error(NOT_SUPPORTED, why, Place::Span(span)), &self.sources);
            return report;
        }
        let asked = unused.iter().fold(options.clone(), |rest, unused| rest.without(unused.setting));
        let answered = self.answered(&property, &asked, job);
        let reduced = match &answered {
            Ok((answer, _)) => answer.symmetry.is_some(),
            Err(_) => self.symmetries.as_ref().is_none_or(|found| found.symmetric.is_some()),
        };
        if !reduced {
            report.notes.extend(unused_strategy(&asked));
        }
        match answered {
            Ok((answer, witness)) => self.report_answer(&mut report, answer, &property, witness),
            Err(Unanswered::Refused(refusal)) => {
                report.tell(&Diagnostic::error(REFUSED, refusal.why, Place::Span(span)), &self.sources)
            }
            Err(Unanswered::Cut { cut: Cut::Stopped, counts }) => {
                report.give_up(Unfinished::new(job.control.why(), &job.control));
                report.count_unfinished(&counts);
            }
            Err(Unanswered::Cut { cut, .. }) => {
                report.tell(&cut_short(&cut, &job.control, Place::Span(span)), &self.sources);
            }
        }
        report.check_seconds = seconds(started.elapsed());
        report.peak_memory_bytes = peak_memory();
        report
    }

    /// The answer to a property, with its counterexample in words.
    fn answered(
        &mut self,
        property: &Property,
        asked: &Asked,
        job: &Job,
    ) -> Result<(Answer, Option<Evidence>), Unanswered> {
        let goals = goals();
        let (goal, way) = match *property {
            Property::Claim(goal, way) => (goal, way),
            _ => (property.goal(), Violation::Cycle),
        };
        let no_steps = without_steps();
        // What a language writes down is none of an engine's business.
        let asked = asked.without(Setting::Trail);
        let Script { kept, model, symmetries, temporal, parts, .. } = self;
        let answer = match property {
            Property::Claim(..) => {
                let claims = Claims { all: temporal, asked: goal, no_steps };
                answer_claim(&claims, &asked, model, symmetries, parts, job)?
            }
            _ => {
                let question = Question::Reach(Reach { goals: &goals, asked: goal, no_steps });
                let known = kept.answer(&question, &asked, || answer(question, &asked, model, symmetries, job))?;
                // The complete search for another property has not looked for a shortest run; what it covered stays.
                let is_longer = known.complete && known.fewer_steps && matches!(known.found[goal], Found::Fails(_));
                match is_longer && !asked.keep_going && known.counts.states <= SOON_AGAIN {
                    true => Answer { complete: true, ..answer(question, &asked, model, symmetries, job)? },
                    false => known,
                }
            }
        };
        // Searches that had no room went on with a wider model.
        if let Some(widest) = self.model.widest() {
            self.model = widest.clone();
        }
        let evidence = match &answer.found[goal] {
            Found::Fails(evidence) => Some(self.evidence(evidence, way, job)?),
            Found::Holds(_) | Found::Won(_) | Found::Open => None,
        };
        Ok((answer, evidence))
    }

    fn report_answer(
        &self,
        report: &mut AssertionReport,
        answer: Answer,
        property: &Property,
        witness: Option<Evidence>,
    ) {
        report.count(&answer.counts);
        report.engine = Some(answer.engine);
        report.store_bytes = answer.counts.bytes;
        report.verdict = if witness.is_some() { Verdict::Fails } else { Verdict::Holds };
        report.result = Some(u8::from(witness.is_none()));
        if let Some(Evidence { finding: Finding::InvalidEnd, story: Some(story), .. }) = &witness {
            report.notes.extend(waiting::notes(&story.end, &self.file));
        }
        if answer.fewer_steps && witness.is_some() {
            report.notes.push("with partial-order reduction the counterexample need not be shortest".to_string());
        }
        report.witness = witness;
        match property {
            Property::Claim(..) => report.details = answer.reductions,
            _ => report.reductions = answer.reductions,
        }
        report.why = Some(answer.why);
        report.symmetry = answer.symmetry.map(used);
        report.notes.extend(answer.notes);
        if let Some(coverage) = answer.coverage.map(Coverage::from) {
            report.algorithm = Some(coverage.store.to_string());
            if report.verdict == Verdict::Holds {
                report.verdict = Verdict::Unknown;
                report.result = None;
                report.reason = Some(quality::quality(&coverage, answer.counts.states));
            }
            report.coverage = Some(coverage);
        } else if answer.complete && answer.counts.symbolic.is_none() && *property == Property::EndStates {
            // Local successors run statements in rows that are not reachable.
            report.unreached = self.unreached(report.symmetry.is_some());
            report.notes.extend(unreached::notes(&report.unreached, &self.file));
        }
    }

    /// The statements that no run reaches, by process type and range of lines.
    fn unreached(&self, reduced: bool) -> Vec<Unreached> {
        let symmetric = self.symmetries.as_ref().and_then(|found| found.symmetric.as_ref());
        let states = match symmetric.filter(|_| reduced) {
            Some(symmetric) => symmetry::unreached(symmetric),
            None => self.model.unreached(),
        };
        unreached::ranges(self.model.program(), &states)
    }
}

/// The text of a file, or of standard input; what is no UTF-8 is read as Latin-1.
fn load(texts: &Texts, name: &str, control: &Control) -> Result<String, String> {
    let bytes = texts.read(name, control)?;
    control.progress().begin(&format!("parsing {name}"), 0);
    let latin = |bytes: Vec<u8>| bytes.iter().map(|&byte| char::from(byte)).collect();
    Ok(String::from_utf8(bytes).unwrap_or_else(|wrong| latin(wrong.into_bytes())))
}

/// The properties.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Property {
    /// No assertion is violated, and no run-time error happens.
    Assertions,
    /// No run ends where it may not.
    EndStates,
    /// The `trace` is kept.
    Trace,
    /// A claim about whole runs, by its number among those that can be checked, and how a cycle violates it.
    Claim(usize, Violation),
    /// A claim that cannot be checked, and why.
    Refused(String),
}

/// The goals that must not be reached, by property.
fn goals() -> [Goal; 3] {
    let errors = FaultKind::ALL.into_iter().filter(|kind| *kind != FaultKind::Trace).map(FaultKind::number);
    [Goal::Error(ErrorKinds::of(errors)), Goal::InvalidEnd, Goal::Error(ErrorKinds::of([FaultKind::Trace.number()]))]
}

/// Errors whose steps Spin does not count.
fn without_steps() -> ErrorKinds {
    ErrorKinds::of(FaultKind::ALL.into_iter().filter(|kind| !kind.goes_on()).map(FaultKind::number))
}

impl Property {
    /// Its place among the goals of a search.
    fn goal(&self) -> usize {
        match self {
            Property::Assertions => 0,
            Property::EndStates => 1,
            Property::Trace => 2,
            Property::Claim(..) | Property::Refused(_) => unreachable!("a claim is no goal"),
        }
    }

    fn claim(&self) -> Claim {
        match self {
            Property::Assertions => Claim::Assertions,
            Property::EndStates => Claim::EndStates,
            Property::Trace => Claim::EventTrace,
            Property::Claim(..) | Property::Refused(_) => Claim::Temporal,
        }
    }
}
