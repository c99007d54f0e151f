//! mCRL2 specifications: open one, list its properties, check them.
//!
//! A specification has no assertions. Every one has the property that no run deadlocks; the user adds actions that must
//! not happen (`--never`). One search looks for all of them, and when it is complete it also says which summands of the
//! linear process never had a step.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Instant;

use trefoil_check::{Kept, Offered, Posed, Reduces, Reduction, Table};
use trefoil_control::{Control, count, counted, peak_memory};
use trefoil_lts::equivalence::Equivalence;
use trefoil_mcrl2::decompose::{Freedom, Hiding};
use trefoil_mcrl2::linear::{Analyses, Refusal, linearise};
use trefoil_mcrl2::syntax::tree::Specification;
use trefoil_mcrl2::system::{Model, NoModel};
use trefoil_questions::{
    Answer, Decompose, ErrorKinds, Evidence as Shown, Facts, Found, Goal, Question, Reach, Unanswered,
};
use trefoil_source::{Diagnostic, Place, ReportedPlace, Sources, nearest};
use trefoil_system::{Cut, Label, Labels, Path, System, TakenStep, Writing};

use super::Opened;
use super::decompose::{InParts, apart};
use super::growth::{remembered, show_growing, watched, width};
use super::words::LinearWords;
use crate::check::{
    Asked, Assertion, AssertionReport, Claim, Coverage, Evidence, Finding, Run, Unused, unused, unused_strategy,
};
use crate::cspm::Warnings;
use crate::look::words::Narrator;
use crate::problem::{NO_ACTION, NO_INITIAL_STATE, Origin, REFUSED, cut_short};
use crate::{Job, Problem, Unfinished, Verdict, seconds};

/// Groups that are named in a note before they are only counted.
const MOST_NAMED: usize = 10;

/// A specification that can be checked.
pub struct Script {
    pub(crate) file: String,
    sources: Sources,
    warnings: Warnings,
    model: Arc<Model>,
    /// Was a value of a finite sort stuck?
    outgrown: bool,
    listed: Vec<Assertion>,
    kept: Kept,
}

impl Script {
    /// Reads a specification and makes its linear process. Actions whose names match one of the patterns must not
    /// happen.
    pub fn open(file: &FilePath, never: &[String], job: &Job) -> Result<Script, Problem> {
        let model = open_model(file, job)?;
        let OpenedModel { file, sources, warnings, model, .. } = model;
        let mut script = Script {
            listed: Vec::new(),
            kept: Kept::default(),
            model: Arc::new(model),
            outgrown: false,
            file,
            sources,
            warnings,
        };
        script.list(Claim::NoDeadlock, "no run deadlocks".to_string());
        let mut forbidden: Vec<String> = Vec::new();
        let declared = script.model.declared_actions();
        for pattern in never {
            let before = forbidden.len();
            forbidden.extend(declared.iter().filter(|name| matches(pattern, name)).map(|name| name.to_string()));
            if forbidden.len() == before {
                let message = format!("no action matches `{pattern}`");
                let place = Place::File(script.file.clone());
                let help = match nearest(pattern, declared.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if declared.is_empty() => "the specification declares no actions".to_string(),
                    None => format!("the actions are {}", declared.join(", ")),
                };
                return Err(Problem::Input(vec![Diagnostic::error(NO_ACTION, message, place).help(help)]));
            }
        }
        if !never.is_empty() {
            script.model = Arc::new(script.model.never(forbidden));
            script.list(Claim::NeverActions, format!("never {}", never.join(", ")));
        }
        Ok(script)
    }

    fn list(&mut self, kind: Claim, text: String) {
        self.listed.push(Assertion {
            index: self.listed.len() + 1,
            assertion_string: text,
            kind,
            model: None,
            is_negated: false,
            options: Vec::new(),
            place: ReportedPlace { file: self.file.clone(), line: None, column: None, text: String::new() },
        });
    }

    /// The warnings about it.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// The properties, in order.
    pub fn assertions(&self) -> impl ExactSizeIterator<Item = &Assertion> {
        self.listed.iter()
    }

    fn listed(&self, index: usize) -> &Assertion {
        let listed = index.checked_sub(1).and_then(|at| self.listed.get(at));
        listed.expect("properties have the numbers that the model gives them")
    }

    /// The options that the property with this number cannot use.
    pub(crate) fn unused(&self, index: usize, options: &Asked) -> Vec<Unused> {
        unused(self.listed(index).kind, options)
    }

    /// Checks one of them.
    pub fn run(&mut self, index: usize, options: &Asked, job: &Job) -> AssertionReport {
        self.run_and_keep(index, options, job).0
    }

    /// The same, with the run that shows why it fails.
    pub(crate) fn run_and_keep(&mut self, index: usize, options: &Asked, job: &Job) -> (AssertionReport, Option<Path>) {
        let mut kept = None;
        let started = Instant::now();
        let mut report = AssertionReport::new(self.listed(index).clone());
        let unused = self.unused(index, options);
        report.notes.extend(unused.iter().map(|unused| unused.words.clone()));
        let asked = unused.iter().fold(options.clone(), |rest, unused| rest.without(unused.setting));
        report.notes.extend(unused_strategy(&asked));
        let place = Place::File(self.file.clone());
        match self.answered(index - 1, &asked, job) {
            Ok(answer) => {
                if let Found::Fails(evidence) = &answer.found[index - 1] {
                    kept = Some(evidence.path().clone());
                }
                if let Err(cut) = self.report_answer(&mut report, index - 1, answer, &job.control) {
                    report.tell(&cut_short(&cut, &job.control, place), &self.sources);
                }
            }
            Err(Unanswered::Refused(refusal)) => {
                report.tell(&Diagnostic::error(REFUSED, refusal.why, place), &self.sources);
            }
            Err(Unanswered::Cut { cut: Cut::Stopped, counts }) => {
                show_growing(&self.model, &job.control);
                report.give_up(Unfinished::new(job.control.why(), &job.control));
                report.count_unfinished(&counts);
            }
            Err(Unanswered::Cut { cut: cut @ Cut::Beyond(_), counts }) => {
                report.tell(&cut_short(&cut, &job.control, place), &self.sources);
                report.verdict = Verdict::Unknown;
                report.count(&counts);
            }
            Err(Unanswered::Cut { cut, .. }) => report.tell(&cut_short(&cut, &job.control, place), &self.sources),
        }
        report.check_seconds = seconds(started.elapsed());
        report.peak_memory_bytes = peak_memory();
        (report, kept)
    }

    /// The model that was searched last, and where it comes from.
    pub(crate) fn into_parts(self) -> (Arc<Model>, Origin) {
        (self.model, Origin { file: self.file, sources: self.sources })
    }

    fn answered(&mut self, goal: usize, asked: &Asked, job: &Job) -> Result<Answer, Unanswered> {
        let goals = [Goal::InvalidEnd, Goal::Error(ErrorKinds::of([1]))];
        let goals = &goals[..self.listed.len()];
        let question = Question::Reach(Reach { goals, asked: goal, no_steps: ErrorKinds::of([]) });
        let Script { kept, model, .. } = self;
        let answer = kept.answer(&question, asked, || {
            let facts = Facts { width: model.layout().width(), ..Claim::NoDeadlock.posing().facts };
            let posed = Posed::new(Table::standard(), question, &facts, asked, job.threads, &job.control)?;
            watched(model, &job.control, || match (&asked.decompose, posed.reduction()) {
                (Some(how), Some(Reduces::Decomposition)) => in_parts(model, how, &posed, job),
                _ => posed.answer(&Offered { system: model.clone(), reduction: None, insisted: false }, &job.control),
            })
        })?;
        if let Some(widest) = self.model.widest() {
            self.model = widest.clone();
            self.outgrown = true;
        }
        Ok(answer)
    }

    fn report_answer(
        &self,
        report: &mut AssertionReport,
        goal: usize,
        answer: Answer,
        control: &Control,
    ) -> Result<(), Cut> {
        report.count(&answer.counts);
        report.engine = Some(answer.engine);
        report.store_bytes = answer.counts.bytes;
        let witness = match &answer.found[goal] {
            Found::Fails(evidence) => Some(self.evidence(evidence, control)?),
            Found::Holds(_) | Found::Won(_) | Found::Open => None,
        };
        report.verdict = if witness.is_some() { Verdict::Fails } else { Verdict::Holds };
        report.result = Some(u8::from(witness.is_none()));
        report.witness = witness;
        report.why = Some(answer.why);
        report.reductions = self.model.linear().report.clone();
        let in_parts = !answer.reductions.is_empty();
        report.reductions.extend(answer.reductions);
        report.details = vec![width(&self.model, self.outgrown)];
        if in_parts {
            if report.verdict == Verdict::Fails {
                report.notes.push("with decomposition the counterexample need not be shortest".to_string());
            }
            report.details.push("summands that never have a step are not looked for in a decomposition".to_string());
        } else {
            report.details.extend(remembered(&self.model));
        }
        report.notes.extend(answer.notes);
        if let Some(coverage) = answer.coverage.map(Coverage::from) {
            report.algorithm = Some(coverage.store.to_string());
            if report.verdict == Verdict::Holds {
                report.verdict = Verdict::Unknown;
                report.result = None;
                report.reason = Some(crate::promela::quality::quality(&coverage, answer.counts.states));
            }
            report.coverage = Some(coverage);
        } else if answer.complete && answer.counts.symbolic.is_none() && !in_parts {
            report.notes.extend(self.never_taken());
        }
        Ok(())
    }

    /// What never happens, in a note.
    fn never_taken(&self) -> Option<String> {
        let idle = self.model.never_taken();
        if idle.is_empty() {
            return None;
        }
        let mut names: Vec<&str> = idle.iter().map(|&group| self.model.groups()[group].name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let more = names.len().saturating_sub(MOST_NAMED);
        names.truncate(MOST_NAMED);
        let mut text = names.join(", ");
        if more > 0 {
            text.push_str(&format!(" and {} more", count(more as u64)));
        }
        let all = self.model.groups().len();
        let verb = if idle.len() == 1 { "has" } else { "have" };
        Some(format!("{} of {all} never {verb} a step: {text}", counted(idle.len() as u64, "summand")))
    }

    /// A run in words; it was replayed before.
    fn evidence(&self, shown: &Shown, control: &Control) -> Result<Evidence, Cut> {
        let path = shown.path();
        let mut words = LinearWords::new(&self.model, &self.sources);
        let initial = words.states(&path.start);
        let mut steps = Vec::with_capacity(path.steps.len());
        let mut before = &path.start;
        for TakenStep { label, row } in &path.steps {
            steps.push(words.step(before, *label, row, control)?);
            before = row;
        }
        let finding = match (shown, path.steps.last()) {
            (Shown::Error(_), Some(step)) => Finding::Forbidden { event: words.event(step.label) },
            _ => Finding::Deadlock,
        };
        let components = words.components();
        let run = Run { initial, steps, cycle: Vec::new(), offered: None, refused: None, waiting: Vec::new() };
        Ok(Evidence {
            observed: Vec::new(),
            finding,
            length: path.steps.iter().filter(|step| step.label.is_visible()).count(),
            trace: path.trace().map(|label| words.event(label)).collect(),
            process: self.file.clone(),
            components,
            operators: Vec::new(),
            runs: vec![run],
            story: None,
            system: None,
        })
    }
}

/// The answer from a decomposition. Only forbidden actions are visible there: deadlocks and whether these can happen
/// are kept by divergence-preserving branching bisimilarity.
fn in_parts(model: &Arc<Model>, how: &Decompose, posed: &Posed<'_>, job: &Job) -> Result<Answer, Unanswered> {
    let mut model = model.clone();
    loop {
        let original = model.clone();
        let hidden: Hiding = Arc::new(move |label: &Label| !original.is_forbidden(label));
        let freedom = Freedom { equivalence: Equivalence::DivergenceBranching, hidden: &hidden, invariants: None };
        let answer = apart(&model, how, &freedom, &job.control).and_then(|(made, mut tried)| {
            let reduced = made.map(InParts::new);
            let reduction = reduced.as_ref().map(|reduced| reduced as &dyn Reduction);
            let offered = Offered { system: model.clone(), reduction, insisted: reduction.is_some() };
            let mut answer = posed.answer(&offered, &job.control)?;
            if reduced.is_none() {
                answer.notes.extend(tried.pop().map(|why| format!("checked without decomposition: {why}")));
            }
            Ok(answer)
        });
        match answer {
            // A value of a finite sort is stuck on the way back: values are numbered as they are met.
            Err(Unanswered::Cut { cut: Cut::Outgrown, counts }) => {
                model.widened();
                let Some(widest) = model.widest().cloned() else {
                    return Err(Unanswered::Cut { cut: Cut::Outgrown, counts });
                };
                model = widest;
            }
            answered => return answered,
        }
    }
}

/// A specification as a system.
pub(crate) struct OpenedModel {
    pub(crate) file: String,
    pub(crate) sources: Sources,
    pub(crate) warnings: Warnings,
    pub(crate) model: Model,
    /// What was read.
    pub(crate) specification: Specification,
    pub(crate) text: String,
}

/// Reads a specification and makes its system.
pub(crate) fn open_model(file: &FilePath, job: &Job) -> Result<OpenedModel, Problem> {
    let mut opened = Opened::read(file, &job.texts, &job.control)?;
    let typed = opened.typed_processes(&job.control)?;
    if typed.init.is_none() {
        let message = "this specification has no initial process";
        let wrong = Diagnostic::error(NO_INITIAL_STATE, message, Place::File(opened.file)).help("write `init P;`");
        return Err(Problem::Script(vec![wrong], opened.sources));
    }
    job.control.progress().begin("linearising", 0);
    let linear = linearise(&typed, Analyses::ALL, &job.control).map_err(|refusal| match refusal {
        Refusal::Wrong(diagnostics) => Problem::Script(diagnostics, opened.sources.clone()),
        Refusal::Stopped(stopped) => Problem::Stopped(stopped),
    })?;
    opened.diagnostics.extend(linear.warnings.iter().cloned());
    let warnings = opened.warnings();
    let Opened { file, sources, specification, text, .. } = opened;
    job.control.progress().begin("compiling", 0);
    let labels = Arc::new(Labels::written(Writing::Brackets));
    let model = Model::new(Arc::new(linear), labels, &job.control).map_err(|none| match none {
        NoModel::Unfinished(..) => Problem::Stopped(job.control.why()),
    })?;
    Ok(OpenedModel { file, sources, warnings, model, specification, text })
}

/// Whether a name matches a pattern in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len()).filter(|&at| name.is_char_boundary(at)).any(|at| matches(rest, &name[at..]))
        }),
    }
}
