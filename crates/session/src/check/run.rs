//! One assertion: evaluated, compiled, decided, and what was found put into words.

use std::time::{Duration, Instant};

use trefoil_control::{Control, peak_memory};
use trefoil_cspm::process::Machine;
use trefoil_cspm::syntax::{Check, CheckOption, Property};
use trefoil_lts::Lts;
use trefoil_network::{Network, PartialOrder, Preserve};
use trefoil_refine::{
    Algorithm, CheckOptions as PropertyOptions, Outcome, Statistics, Unanswered, deadlock, determinism, divergence,
    has_trace,
};
use trefoil_source::{Place, Report, render};
use trefoil_symmetry::strategy_named;
use trefoil_system::replay::{
    Rejection, replay_deadlock, replay_determinism, replay_divergence, replay_has_trace, replay_refinement, replay_run,
};
use trefoil_system::{Cut, LabelId, Model, System};

use super::assertions::Listed;
use super::compiled::{Compiled, Trouble};
use super::reduction::{Looked, Reduced, in_order_of_use};
use super::report::{AssertionReport, UsedSymmetry};
use super::witness::Words;
use super::{CheckOptions, Script, line};
use crate::problem::cut_short;
use crate::{Job, Unfinished, Verdict, seconds};

/// What is known of an assertion while it is run.
#[derive(Default)]
struct Progress {
    compiling: Duration,
    statistics: Statistics,
    algorithm: Option<String>,
    reductions: Vec<String>,
    symmetry: Option<UsedSymmetry>,
    notes: Vec<String>,
}

/// A system with what the words of its witness need.
pub(crate) struct Found {
    pub(crate) outcome: Outcome,
    pub(crate) machine: Machine,
    specification: Option<Lts>,
}

impl Script {
    /// Runs the assertion with this number, as [`Script::assertions`] gives it.
    pub fn run(&mut self, index: usize, options: &CheckOptions, job: &Job) -> AssertionReport {
        self.run_and_keep(index, options, job).0
    }

    /// The same, with the machine that was searched and what was found in it, when it was.
    pub(crate) fn run_and_keep(
        &mut self,
        index: usize,
        options: &CheckOptions,
        job: &Job,
    ) -> (AssertionReport, Option<Found>) {
        let listed = index.checked_sub(1).and_then(|at| self.assertions.get(at)).cloned();
        let listed = listed.expect("assertions have the numbers that the script gives them");
        let started = Instant::now();
        let mut progress = Progress::default();
        let found = match listed.check {
            Check::Symmetric { .. } => None,
            _ => Some(self.decide(&listed, options, job, &mut progress)),
        };
        let mut report = AssertionReport {
            visited_states: progress.statistics.states,
            visited_transitions: progress.statistics.transitions,
            visited_plys: progress.statistics.levels,
            algorithm: progress.algorithm,
            reductions: progress.reductions,
            symmetry: progress.symmetry,
            notes: progress.notes,
            compile_seconds: seconds(progress.compiling),
            ..AssertionReport::new(listed.shown.clone())
        };
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
                report.visited_states = report.visited_states.max(unfinished.states);
                report.visited_transitions = report.visited_transitions.max(unfinished.transitions);
                report.visited_plys = report.visited_plys.max(unfinished.depth);
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
    fn answer(
        &mut self,
        listed: &Listed,
        found: &Found,
        report: &mut AssertionReport,
        job: &Job,
    ) -> Result<(), Cut> {
        let holds = found.outcome.holds() != listed.shown.is_negated;
        report.result = Some(u8::from(holds));
        report.verdict = if holds { Verdict::Holds } else { Verdict::Fails };
        let Some(compiler) = &mut self.compiler else { return Ok(()) };
        let mut words = Words::new(compiler, &found.machine, &self.sources, &job.control);
        let specification = found.specification.as_ref().map(|lts| (lts, listed.specification.as_str()));
        report.witness = match (&found.outcome.witness, &found.outcome.run) {
            (Some(witness), _) => Some(words.evidence(witness, &listed.process, specification)?),
            (None, Some(run)) => Some(words.having(run, &listed.process)?),
            (None, None) => None,
        };
        let fails = found.outcome.witness.is_some();
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
        options: &CheckOptions,
        job: &Job,
        progress: &mut Progress,
    ) -> Result<Found, Trouble> {
        self.options(listed, progress);
        let started = Instant::now();
        let compiled = self.compiled(listed, options, job)?;
        let Compiled { model, trace, .. } = &compiled;
        let (model, trace) = (*model, trace.as_deref());
        if options.compress_leaves {
            progress.reductions.push("components compressed by strong bisimulation".to_string());
        }
        progress.compiling = started.elapsed();
        let network = compiled.machine.network.clone();
        let fewer_steps = self.reduced(listed, &network, model, options, progress);
        if fewer_steps.is_some() && self.insists_on_symmetry(listed, options) {
            return Err(
                self.unsupported(listed, "symmetry reduction and partial order reduction are not done together")
            );
        }
        let strategy = strategy_named(options.strategy).filter(|_| fewer_steps.is_none());
        let composed = compiled.specification(job)?;
        if composed.is_some() {
            progress.algorithm = Some(options.algorithm.to_string());
            progress
                .reductions
                .push("specification minimised modulo divergence-preserving branching bisimulation".to_string());
        }
        let prepared = compiled.prepared(composed.as_ref(), options, strategy, job);
        let prepared = prepared.map_err(|why| self.unanswered(why, listed, progress))?;
        let looked = match strategy {
            Some(_) => {
                let specification = prepared.as_ref().zip(composed.as_ref());
                self.symmetries(listed, options, &compiled, specification, &job.control)?
            }
            None => None,
        };
        let symmetric = looked.and_then(|looked| self.told_by(looked, listed, options, progress));
        let plain: &dyn System = match &fewer_steps {
            Some(reduced) => reduced,
            None => &*network,
        };
        let check = |strategy| {
            let properties = PropertyOptions { threads: job.threads, symmetry: strategy };
            let control = &job.control;
            let system = match &symmetric {
                Some(reduced) if strategy.is_some() => &reduced.system,
                _ => plain,
            };
            match (listed.check, &prepared, trace) {
                (Check::Refinement { .. }, Some(prepared), _) => Some(prepared.check(system, strategy, control)),
                (Check::HasTrace { .. }, _, Some(trace)) => Some(has_trace(system, trace, model, properties, control)),
                (Check::Property { property, .. }, ..) => Some(match property {
                    Property::DeadlockFree => deadlock(system, model, properties, control),
                    Property::LivelockFree => divergence(system, properties, control),
                    Property::Deterministic => determinism(system, model, properties, control),
                }),
                _ => None,
            }
        };
        let mut outcome = check(strategy.filter(|_| symmetric.is_some()));
        if symmetric.as_ref().is_some_and(|reduced| !reduced.insisted) {
            // Nobody insists on the reduction, so the strategy gives way to another one, and that to none.
            if let (Some(Err(Unanswered::Refused(why))), false) = (&outcome, options.strategy == "auto") {
                let why = why.to_string();
                outcome = check(strategy_named("auto"));
                if let Some(Ok(Outcome { statistics: Statistics { symmetry: Some(used), .. }, .. })) = &outcome {
                    progress.notes.push(format!("{why}; {} was used instead", used.strategy));
                }
            }
            if let Some(Err(Unanswered::Refused(why))) = &outcome {
                progress.notes.push(format!("checked without symmetry reduction: {why}"));
                outcome = check(None);
            }
        }
        let Some(outcome) = outcome else { return Err(self.unsupported(listed, "this cannot be checked")) };
        if let (Ok(outcome), true) = (&outcome, prepared.is_some()) {
            progress.algorithm = Some(algorithm_name(outcome.statistics.algorithm).to_string());
        }
        let symmetric = symmetric.filter(|_| matches!(&outcome, Ok(outcome) if outcome.statistics.symmetry.is_some()));
        match outcome {
            Ok(mut outcome) => {
                if let Some(reduced) = &symmetric {
                    outcome.witness =
                        outcome.witness.map(|witness| reduced.searched.restored(&in_order_of_use(&witness, reduced)));
                    outcome.run = outcome.run.map(|run| reduced.searched.restored_path(&run));
                }
                if fewer_steps.is_some() || symmetric.is_some() {
                    let asked = Asked { check: listed.check, model, trace, specification: composed.as_ref() };
                    asked.replay(&outcome, &*network, &job.control)?;
                    if outcome.witness.is_some() && fewer_steps.is_some() {
                        progress
                            .notes
                            .push("because of partial order reduction it need not be a shortest one".to_string());
                    }
                }
                drop(prepared);
                progress.statistics = outcome.statistics.clone();
                progress.symmetry = symmetric.map(|reduced| reduced.told(&outcome.statistics));
                Ok(Found { outcome, machine: compiled.machine, specification: composed })
            }
            Err(why) => Err(self.unanswered(why, listed, progress)),
        }
    }

    /// The symmetries that are used; `progress` gets what there is to tell about those that are not.
    fn told_by(
        &mut self,
        looked: Looked,
        listed: &Listed,
        options: &CheckOptions,
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
    fn unanswered(&self, why: Unanswered, listed: &Listed, progress: &mut Progress) -> Trouble {
        match why {
            Unanswered::Cut { cut, statistics } => {
                progress.statistics = *statistics;
                Trouble::Cut(cut)
            }
            Unanswered::Refused(why) => self.unsupported(listed, &why),
        }
    }

    /// Notes options that would only make a check cheaper.
    fn options(&self, listed: &Listed, progress: &mut Progress) {
        for option in self.typed.renamed().tree().list(listed.options) {
            match option {
                CheckOption::TauPriority(_) => {
                    progress.notes.push("`τ` and `✓` have priority over a set of events".to_string());
                }
                // They are looked at when there is something to reduce.
                CheckOption::PartialOrderReduce(_) | CheckOption::SymmetryReduce(_) => {}
            }
        }
    }

    /// The network with fewer steps, if that is asked for and possible.
    fn reduced<'n>(
        &self,
        listed: &Listed,
        network: &'n Network,
        model: Model,
        options: &CheckOptions,
        progress: &mut Progress,
    ) -> Option<PartialOrder<'n>> {
        let written = self.typed.renamed().tree().list(listed.options);
        let asked = written.iter().any(|option| matches!(option, CheckOption::PartialOrderReduce(_)));
        if !asked && !options.partial_order {
            return None;
        }
        let deadlocks = matches!(listed.check, Check::Property { property: Property::DeadlockFree, .. });
        let (preserve, what) = if deadlocks && model == Model::Failures {
            (Preserve::Deadlocks, "partial order reduction that preserves deadlocks")
        } else {
            (Preserve::Everything, "partial order reduction that preserves traces, failures and divergences")
        };
        match PartialOrder::new(network, preserve) {
            Ok(reduced) => {
                progress.reductions.push(what.to_string());
                Some(reduced)
            }
            Err(why) => {
                progress.notes.push(format!("checked without partial order reduction: {why}"));
                None
            }
        }
    }
}

/// How many reasons are told with an answer; `trefoil symmetry` tells all of them.
const MOST_REASONS: usize = 6;

/// What was asked of a system, for the replayer.
struct Asked<'a> {
    check: Check,
    model: Model,
    trace: Option<&'a [LabelId]>,
    specification: Option<&'a Lts>,
}

impl Asked<'_> {
    /// Replays what was found in a reduced system on the system itself.
    fn replay(&self, outcome: &Outcome, original: &dyn System, control: &Control) -> Result<(), Cut> {
        let replayed = match (&outcome.witness, &outcome.run) {
            (None, None) => Ok(()),
            (None, Some(run)) => replay_run(original, self.trace.unwrap_or_default(), run, control),
            (Some(witness), _) => match (self.check, self.specification, self.trace) {
                (Check::Refinement { .. }, Some(specification), _) => {
                    replay_refinement(specification, original, self.model, witness, control)
                }
                (Check::HasTrace { .. }, _, Some(trace)) => {
                    replay_has_trace(original, trace, self.model, witness, control)
                }
                (Check::Property { property: Property::DeadlockFree, .. }, ..) => {
                    replay_deadlock(original, self.model, witness, control)
                }
                (Check::Property { property: Property::LivelockFree, .. }, ..) => {
                    replay_divergence(original, witness, control)
                }
                _ => replay_determinism(original, self.model, witness, control),
            },
        };
        match replayed {
            Ok(()) => Ok(()),
            Err(Rejection::Cut(cut)) => Err(cut),
            Err(rejection) => {
                panic!("a reduction gave evidence that does not replay ({rejection}): {outcome:?}")
            }
        }
    }
}

/// The name of the algorithm that was used.
fn algorithm_name(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Antichain => "antichain",
        Algorithm::NormalForm => "normal-form",
        Algorithm::LazyNormalForm => "lazy-normal-form",
        Algorithm::Automatic => "automatic",
    }
}
