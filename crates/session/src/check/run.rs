//! One assertion: evaluated, compiled and decided, and its evidence described.

use std::sync::Arc;
use std::time::{Duration, Instant};

use trefoil_check::{Offered, Posed, Reduces, Reduction, Table};
use trefoil_control::peak_memory;
use trefoil_cspm::process::Machine;
use trefoil_cspm::symmetry::{builtins, roots};
use trefoil_cspm::syntax::{Check, CheckOption, Property};
use trefoil_lts::Lts;
use trefoil_network::{Network, PartialOrder, Preserve};
use trefoil_questions::{
    Algorithm, Answer, Counts, EngineChoice, Evidence, Facts, Found as Decided, Preprocess, Question, Setting,
    Unanswered,
};
use trefoil_source::{Place, Report, render};
use trefoil_system::{Cut, Model, Path, System, Witness};

use super::assertions::Listed;
use super::compiled::{Compiled, Trouble};
use super::posing::{Unused, unused};
use super::reduction::{Looked, OnStates, Reduced};
use super::report::{AssertionReport, UsedSymmetry};
use super::witness::Words;
use super::{Asked, Script, line};
use crate::problem::cut_short;
use crate::{Job, Unfinished, Verdict, seconds};

/// What is known of an assertion while it is run.
#[derive(Default)]
pub(super) struct Progress {
    compiling: Duration,
    counts: Counts,
    algorithm: Option<String>,
    engine: Option<&'static str>,
    why: Option<String>,
    reductions: Vec<String>,
    symmetry: Option<UsedSymmetry>,
    notes: Vec<String>,
}

/// A system with what the words of its witness need.
pub(crate) struct Found {
    decided: Decided,
    pub(crate) machine: Machine,
    specification: Option<Lts>,
    model: Model,
}

impl Found {
    /// Why the claim fails.
    pub(crate) fn witness(&self) -> Option<&Witness> {
        match &self.decided {
            Decided::Fails(Evidence::Witness(witness)) => Some(witness),
            _ => None,
        }
    }

    /// A run that shows that it holds.
    pub(crate) fn run(&self) -> Option<&Path> {
        match &self.decided {
            Decided::Holds(run) => run.as_ref(),
            _ => None,
        }
    }
}

impl Script {
    /// Runs the assertion with this number, as [`Script::assertions`] gives it.
    pub fn run(&mut self, index: usize, options: &Asked, job: &Job) -> AssertionReport {
        self.run_and_keep(index, options, job).0
    }

    /// The same, with the machine that was searched and what was found in it, when it was.
    pub(crate) fn run_and_keep(
        &mut self,
        index: usize,
        options: &Asked,
        job: &Job,
    ) -> (AssertionReport, Option<Found>) {
        let listed = index.checked_sub(1).and_then(|at| self.assertions.get(at)).cloned();
        let listed = listed.expect("assertions have the numbers that the script gives them");
        let started = Instant::now();
        let mut progress = Progress::default();
        let found = match listed.check {
            Check::Symmetric { .. } => {
                progress.notes.extend(self.unused(index, options).into_iter().map(|unused| unused.words));
                None
            }
            _ => Some(self.decide(&listed, options, job, &mut progress)),
        };
        let mut report = AssertionReport {
            algorithm: progress.algorithm,
            engine: progress.engine,
            why: progress.why,
            reductions: progress.reductions,
            symmetry: progress.symmetry,
            notes: progress.notes,
            compile_seconds: seconds(progress.compiling),
            ..AssertionReport::new(listed.shown.clone())
        };
        report.count(&progress.counts);
        let mut kept = None;
        let answered = match (found, listed.check) {
            (Some(found), _) => {
                found.and_then(|found| Ok(self.answer(&listed, kept.insert(found), &mut report, job)?))
            }
            (None, Check::Symmetric { expression, types }) => {
                self.answer_symmetric(&listed, (expression, types), &mut report)
            }
            (None, _) => Err(self.unsupported(&listed, "this cannot be checked")),
        };
        match answered {
            Ok(()) => {}
            Err(Trouble::Cut(Cut::Stopped)) => {
                let unfinished = Unfinished::new(job.control.why(), &job.control);
                report.verdict = Verdict::Unknown;
                report.reason = Some(unfinished.reason.clone());
                // A check that was stopped while it was prepared has found what the preparation found.
                report.visited.states = progress.counts.states.max(unfinished.states).into();
                report.visited.transitions = progress.counts.transitions.max(unfinished.transitions).into();
                report.visited.plys = report.visited.plys.max(unfinished.depth);
                report.count_unfinished(&progress.counts);
                report.unfinished = Some(unfinished);
            }
            Err(Trouble::Cut(cut)) => {
                report.tell(&cut_short(&cut, &job.control, Place::Span(listed.span)), &self.sources);
            }
            Err(Trouble::Wrong(diagnostic)) => {
                let told = Report::new(&diagnostic, &self.sources);
                report.reason = Some(told.message.clone());
                report.errors = vec![line(&told)];
                report.rendered = [false, true].map(|colour| render(&diagnostic, &self.sources, colour));
                report.diagnostics = vec![told];
            }
        }
        if progress.compiling.is_zero() {
            report.compile_seconds = seconds(started.elapsed());
        } else {
            report.check_seconds = seconds(started.elapsed().saturating_sub(progress.compiling));
        }
        report.peak_memory_bytes = peak_memory();
        (report, kept)
    }

    /// The answer, with what shows it.
    fn answer(&mut self, listed: &Listed, found: &Found, report: &mut AssertionReport, job: &Job) -> Result<(), Cut> {
        let holds = found.witness().is_none() != listed.shown.is_negated;
        report.result = Some(u8::from(holds));
        report.verdict = if holds { Verdict::Holds } else { Verdict::Fails };
        let Some(compiler) = &mut self.compiler else { return Ok(()) };
        let mut words = Words::new(compiler, &found.machine, &self.sources, &job.control);
        let specification = found.specification.as_ref().map(|lts| (lts, listed.specification.as_str()));
        let beside = specification.map(|(lts, _)| (lts, found.model));
        report.witness = match (found.witness(), found.run()) {
            (Some(witness), _) => Some(words.evidence(witness, &listed.process, beside)?),
            (None, Some(run)) => Some(words.having(run, &listed.process)?),
            (None, None) => None,
        };
        let fails = found.witness().is_some();
        if let Some(evidence) = report.witness.as_ref().filter(|_| fails) {
            let beside = specification.map(|(_, name)| name);
            report.counterexamples = vec![words.counterexample(evidence, beside)];
        }
        report.events = words.into_events();
        Ok(())
    }

    fn decide(
        &mut self,
        listed: &Listed,
        options: &Asked,
        job: &Job,
        progress: &mut Progress,
    ) -> Result<Found, Trouble> {
        self.options(listed, progress);
        let unused = self.unused(listed.shown.index, options);
        progress.notes.extend(unused.iter().map(|unused| unused.words.clone()));
        let mut asked = unused.iter().fold(options.clone(), |rest, unused| rest.without(unused.setting));
        let started = Instant::now();
        let compiled = self.compiled(listed, &asked, job)?;
        if !asked.no_leaf_compression {
            progress.reductions.push("components compressed by strong bisimulation".to_string());
        }
        progress.compiling = started.elapsed();
        progress.notes.extend(self.left_out(listed, compiled.model));
        let network = compiled.machine.network.clone();
        let fewer_steps = self.reduced(listed, &network, compiled.model, &asked, progress);
        if fewer_steps.is_some() && self.insists_on_symmetry(listed, &asked) {
            return Err(self.unsupported(listed, "symmetry reduction and partial-order reduction cannot be combined"));
        }
        if asked.engine == Some(EngineChoice::Symbolic) && self.insists_on_symmetry(listed, &asked) {
            let engine = asked.text(Setting::Engine);
            return Err(self.unsupported(listed, &format!("symmetry reduction and {engine} cannot be combined")));
        }
        if asked.engine == Some(EngineChoice::Symbolic) && !compiled.model.has_minimal_acceptances() {
            let engine = asked.text(Setting::Engine);
            let why = "decides the models T, F and FD; revivals and refusals on the way need single states";
            return Err(self.unsupported(listed, &format!("{engine} {why}")));
        }
        asked.partial_order = fewer_steps.as_ref().map(|_| true);
        let composed = compiled.specification(job)?;
        let question = self.question(listed, &compiled, composed.as_ref())?;
        let facts = Facts { width: network.layout().width(), ..listed.shown.kind.posing().facts };
        if composed.is_some() {
            progress.algorithm = Some(asked.algorithm.unwrap_or(Algorithm::Automatic).name().to_string());
        }
        let posed = Posed::new(Table::standard(), question, &facts, &asked, job.threads, &job.control);
        let posed = posed.map_err(|why| self.unanswered(why, listed, progress))?;
        let looked = match posed.reduction() {
            Some(Reduces::Symmetry) => {
                self.symmetries(listed, &asked, &compiled, &posed, composed.as_ref(), &job.control)?
            }
            Some(Reduces::PartialOrder | Reduces::Decomposition) | None => None,
        };
        let mut symmetric = looked.and_then(|looked| self.told_by(looked, listed, &asked, progress));
        if let Some(reduced) = symmetric.as_mut().filter(|_| !self.insists_on_symmetry(listed, &asked)) {
            reduced.price = Some(self.price);
        }
        if symmetric.is_none() {
            progress.notes.extend(unused_strategy(&asked));
        }
        let mut instead = None;
        if fewer_steps.is_none() && self.keeps_acceptances_on_states(&question, compiled.model, &asked) {
            if let Some(mut reduced) = symmetric.take() {
                if let Some(accepting) = reduced.searched.network().accepting(&job.control)? {
                    reduced.system = reduced.system.with_acceptances(accepting);
                }
                symmetric = Some(reduced);
            }
            let accepting = network.accepting(&job.control)?;
            instead = accepting.map(|accepting| OnStates { network: network.clone(), accepting });
        }
        let instead = instead.as_ref().map(|instead| instead as &dyn Reduction);
        let reduction = symmetric.as_ref().map(|reduced| reduced as &dyn Reduction);
        let offered = Offered {
            system: network.clone(),
            reduction: reduction.or(fewer_steps.as_ref().map(|reduced| reduced as &dyn Reduction)),
            insisted: symmetric.as_ref().is_some_and(|reduced| reduced.insisted),
        };
        let answer = posed.answer_in(&offered, instead, &job.control);
        let Answer { engine, why, mut found, counts, reductions, symmetry: used, notes, .. } =
            answer.map_err(|why| self.unanswered(why, listed, progress))?;
        drop(posed);
        if composed.is_some() {
            progress.algorithm = Some(engine.to_string());
        }
        progress.engine = Some(engine);
        progress.why = Some(why);
        progress.counts = counts;
        progress.reductions.extend(reductions);
        progress.notes.extend(notes);
        if symmetric.is_some() && used.is_none() {
            progress.notes.extend(unused_strategy(&asked));
        }
        progress.symmetry = symmetric.zip(used).map(|(reduced, used)| reduced.told(used));
        let decided = found.swap_remove(0);
        Ok(Found { decided, machine: compiled.machine, specification: composed, model: compiled.model })
    }

    /// Whether merged states keep their acceptances in a search: where the question looks at nothing but traces,
    /// failures and divergences, and its engine goes from state to state.
    fn keeps_acceptances_on_states(&self, question: &Question<'_>, model: Model, asked: &Asked) -> bool {
        let asks = matches!(question, Question::Refine { .. } | Question::Deadlock { .. } | Question::Divergence);
        let explicit = asked.engine != Some(EngineChoice::Symbolic)
            && !matches!(asked.preprocess, Some(Preprocess::Implementation | Preprocess::Both));
        self.acceptances_on_states && asks && explicit && model.has_minimal_acceptances()
    }

    /// The options that the assertion with this number cannot use, given those that it is written with.
    pub(super) fn unused(&self, index: usize, options: &Asked) -> Vec<Unused> {
        let listed = index.checked_sub(1).and_then(|at| self.assertions.get(at));
        let listed = listed.expect("assertions have the numbers that the script gives them");
        if options.partial_order.is_some() || !self.wants_partial_order(listed) {
            return unused(listed.shown.kind, options);
        }
        let in_one_order = Asked { partial_order: Some(true), ..options.clone() };
        let written = in_one_order.text(Setting::PartialOrder);
        let mut unused = unused(listed.shown.kind, &in_one_order);
        // The user did not give it: where it is left over, the check itself says so.
        unused.retain(|unused| unused.setting != Setting::PartialOrder);
        for unused in unused.iter_mut().filter(|unused| unused.conflict.as_ref() == Some(&written)) {
            let option = &unused.option;
            unused.words =
                format!("{option} cannot be used together with `partial order reduce`, which the assertion asks for");
        }
        unused
    }

    /// Whether an assertion is written with `partial order reduce`.
    fn wants_partial_order(&self, listed: &Listed) -> bool {
        let mut written = self.typed.renamed().tree().list(listed.options).iter();
        written.any(|option| matches!(option, CheckOption::PartialOrderReduce(_)))
    }

    /// The question that an assertion poses.
    pub(super) fn question<'c>(
        &self,
        listed: &Listed,
        compiled: &'c Compiled,
        specification: Option<&'c Lts>,
    ) -> Result<Question<'c>, Trouble> {
        let model = compiled.model;
        match (listed.check, specification, &compiled.trace) {
            (Check::Refinement { .. }, Some(specification), _) => Ok(Question::Refine { specification, model }),
            (Check::HasTrace { .. }, _, Some(trace)) => Ok(Question::HasTrace { trace, model }),
            (Check::Property { property, .. }, ..) => Ok(match property {
                Property::DeadlockFree => Question::Deadlock { model },
                Property::LivelockFree => Question::Divergence,
                Property::Deterministic => Question::Determinism { model },
            }),
            _ => Err(self.unsupported(listed, "this cannot be checked")),
        }
    }

    /// The symmetries that are used; `progress` gets what there is to tell about those that are not.
    fn told_by(
        &mut self,
        looked: Looked,
        listed: &Listed,
        options: &Asked,
        progress: &mut Progress,
    ) -> Option<Reduced> {
        let Looked { reduced, reasons } = looked;
        progress.notes.extend(reasons.unexpected);
        if reduced.is_none() && self.insists_on_symmetry(listed, options) {
            progress.notes.push("no symmetry was found that could reduce it".to_string());
            let shown = self.against_by_text(listed);
            progress.notes.extend(shown.into_iter().chain(reasons.others).take(MOST_REASONS));
        }
        reduced
    }

    /// What an engine that gives no answer means for an assertion.
    pub(super) fn unanswered(&self, why: Unanswered, listed: &Listed, progress: &mut Progress) -> Trouble {
        match why {
            Unanswered::Cut { cut, counts } => {
                progress.counts = *counts;
                Trouble::Cut(cut)
            }
            Unanswered::Refused(refusal) => self.unsupported(listed, &refusal.why),
        }
    }

    /// Notes options that would only make a check cheaper.
    fn options(&self, listed: &Listed, progress: &mut Progress) {
        for option in self.typed.renamed().tree().list(listed.options) {
            match option {
                CheckOption::TauPriority(_) => {
                    progress.notes.push("`τ` and `✓` take priority over the events of a set".to_string());
                }
                // They are looked at when there is something to reduce.
                CheckOption::PartialOrderReduce(_) | CheckOption::SymmetryReduce(_) => {}
            }
        }
    }

    /// The note on compressions that a model does not allow. The compiler serves all assertions, and knows those of
    /// earlier ones as well.
    fn left_out(&self, listed: &Listed, model: Model) -> Option<String> {
        let all: Vec<&str> = self.compiler.iter().flat_map(|compiler| compiler.left_out()).collect();
        if all.is_empty() {
            return None;
        }
        let renamed = self.typed.renamed();
        let reached = builtins(renamed, &roots(renamed.tree(), listed.check, listed.options));
        let names: Vec<String> =
            all.into_iter().filter(|name| reached.contains(name)).map(|name| format!("`{name}`")).collect();
        let kept = if model.observes_revivals() { "revivals" } else { "refusals before later events" };
        let does_not = if names.len() == 1 { "it does not" } else { "they do not" };
        (!names.is_empty()).then(|| format!("{} left out: {does_not} preserve {kept}", names.join(", ")))
    }

    /// The network with fewer steps, if the options want it and it is possible.
    fn reduced<'n>(
        &self,
        listed: &Listed,
        network: &'n Arc<Network>,
        model: Model,
        options: &Asked,
        progress: &mut Progress,
    ) -> Option<InOneOrder<'n>> {
        if !options.partial_order.unwrap_or_else(|| self.wants_partial_order(listed)) {
            return None;
        }
        if model.observes_refusals_on_the_way() {
            let why = "it preserves what is refused after a trace, not what is refused before later events";
            progress.notes.push(format!("checked without partial-order reduction: {why}"));
            return None;
        }
        let deadlocks = matches!(listed.check, Check::Property { property: Property::DeadlockFree, .. });
        let (preserve, what) = if deadlocks && model == Model::Failures {
            (Preserve::Deadlocks, "partial-order reduction that preserves deadlocks")
        } else {
            (Preserve::Everything, "partial-order reduction that preserves traces, failures and divergences")
        };
        match PartialOrder::new(network, preserve) {
            Ok(reduced) => {
                progress.reductions.push(what.to_string());
                Some(InOneOrder(reduced))
            }
            Err(why) => {
                progress.notes.push(format!("checked without partial-order reduction: {why}"));
                None
            }
        }
    }
}

/// The note of a check without symmetry reduction on a strategy that the user gave.
pub(crate) fn unused_strategy(asked: &Asked) -> Option<String> {
    let note = |option| format!("{option} was not used: there was no symmetry to reduce by");
    asked.wants(Setting::Strategy).then(|| note(asked.text(Setting::Strategy)))
}

/// How many reasons an answer gives; `trefoil symmetry` gives all of them.
const MOST_REASONS: usize = 6;

/// A network in which independent steps are taken in one order only: its runs are runs of the network.
struct InOneOrder<'n>(PartialOrder<'n>);

impl Reduction for InOneOrder<'_> {
    fn system(&self) -> &dyn System {
        &self.0
    }

    fn note(&self, fails: bool) -> Option<&'static str> {
        fails.then_some("with partial-order reduction the counterexample need not be shortest")
    }
}
