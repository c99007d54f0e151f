//! Processes of `testkit`, compiled and checked by the tool in every way it has; no test uses all of it.
#![allow(dead_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_cspm::eval::{Evaluator, Options as EvaluatorOptions};
use trefoil_cspm::process::{CompileOptions, Compiler, Machine};
use trefoil_cspm::rename::rename;
use trefoil_cspm::syntax::{MemoryLoader, parse, parse_expression_into};
use trefoil_cspm::types::typecheck;
use trefoil_lts::Lts;
use trefoil_network::{PartialOrder, Preserve, compose};
use trefoil_refine::{
    Algorithm, CheckOptions, Implementation, Options, Outcome, Preprocess, Unanswered, deadlock, determinism,
    divergence, has_trace, refine,
};
use trefoil_source::{Severity, Sources, render};
use trefoil_system::{LabelId, Labels, Model, System};
use trefoil_testkit::processes::{DECLARATIONS, Denotation, Events, Process, Trace, Verdict, verdicts};

/// How processes are compiled and checks are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) compile: CompileOptions,
    pub(crate) algorithm: Algorithm,
    pub(crate) preprocess: Preprocess,
    pub(crate) threads: usize,
    /// Is the implementation explored before the check?
    pub(crate) explored: bool,
    /// Is the network of the implementation reduced? Then it is not explored before.
    pub(crate) partial_order: bool,
    /// Do merged states keep their acceptances in the search? Then it is neither explored before nor reduced.
    pub(crate) on_states: bool,
}

/// Every way to compile: leaves compressed or not; as it is, networks of the smallest components, or one component.
pub(crate) fn compilations() -> Vec<CompileOptions> {
    let mut all = Vec::new();
    for compress_leaves in [true, false] {
        let options = CompileOptions { compress_leaves, ..CompileOptions::default() };
        all.push(options);
        all.push(CompileOptions { leaf_states: 0, threads: 2, ..options });
        all.push(CompileOptions { expand: true, ..options });
    }
    all
}

/// A way to check for each number.
pub(crate) fn way(compile: CompileOptions, number: usize) -> Way {
    Way {
        compile,
        algorithm: [Algorithm::Antichain, Algorithm::NormalForm, Algorithm::LazyNormalForm, Algorithm::Automatic]
            [number % 4],
        preprocess: [Preprocess::Nothing, Preprocess::Specification, Preprocess::Both][number / 4 % 3],
        threads: usize::from(!number.is_multiple_of(5)),
        explored: (number / 2).is_multiple_of(3),
        partial_order: false,
        on_states: false,
    }
}

/// A question about a specification and an implementation; all but the first are about the implementation alone.
#[derive(Clone, Debug)]
pub(crate) enum Check {
    Refines(Model),
    DeadlockFree(Model),
    DivergenceFree,
    Deterministic(Model),
    HasTrace(Model, Trace),
}

impl Check {
    /// What the answer must be: the length of a shortest violation where it is promised, else whether there is one (0
    /// stands for any).
    pub(crate) fn expected(&self, specification: &Denotation, implementation: &Denotation) -> Verdict {
        match self {
            Check::Refines(model) => verdicts::refines(*model, specification, implementation),
            Check::DeadlockFree(model) => verdicts::deadlock_free(*model, implementation),
            Check::DivergenceFree => verdicts::divergence_free(implementation),
            Check::Deterministic(model) => {
                let verdict = verdicts::deterministic(*model, implementation);
                match model {
                    Model::FailuresDivergences => Verdict { violation: verdict.violation.map(|_| 0), ..verdict },
                    _ => verdict,
                }
            }
            Check::HasTrace(model, trace) => match verdicts::has_trace(*model, implementation, trace) {
                Some(has) => Verdict { violation: (!has).then_some(0), horizon: None },
                // Any answer is longer than this.
                None => Verdict { violation: None, horizon: Some(0) },
            },
        }
    }

    /// Is a length promised?
    fn has_length(&self) -> bool {
        !matches!(self, Check::Deterministic(Model::FailuresDivergences) | Check::HasTrace(..))
    }

    /// Does the answer agree?
    pub(crate) fn agrees(&self, expected: Verdict, found: Option<usize>) -> bool {
        if self.has_length() {
            return expected.agrees(found);
        }
        // Without a length only a certain answer can be wrong.
        expected.holds().is_none_or(|holds| holds == found.is_none())
    }
}

/// A compiled process.
pub(crate) struct Compiled {
    pub(crate) machine: Machine,
    pub(crate) lts: Lts,
}

/// Processes in one script.
pub(crate) struct Batch {
    pub(crate) compiler: Compiler,
    /// The labels of the six events.
    labels: Vec<LabelId>,
}

impl Batch {
    /// A script in which each process has a name; it must have no mistakes, types included.
    pub(crate) fn new(processes: &[&Process]) -> Batch {
        let texts: Vec<String> = processes.iter().map(|process| process.to_string()).collect();
        Batch::scripted("", &texts)
    }

    /// The same of processes as scripts write them, after more declarations; process `i` is called `P`i.
    pub(crate) fn scripted(more: &str, processes: &[String]) -> Batch {
        let mut script = format!("{DECLARATIONS}{more}");
        for (index, process) in processes.iter().enumerate() {
            script += &format!("P{index} = {process}\n");
        }
        let mut sources = Sources::default();
        let parsed = parse("test.csp", &MemoryLoader::one("test.csp", script.as_str()), &mut sources);
        let (mut tree, mut diagnostics) = (parsed.tree, parsed.diagnostics);
        let events = Events::SIGMA.members().map(|event| event.text().to_string());
        let names = (0..processes.len()).map(|index| format!("P{index}"));
        let mut queries = Vec::new();
        for text in names.chain(events) {
            let file = sources.add("expression", text);
            let (query, found) = parse_expression_into(&mut tree, file, &sources);
            queries.push(query);
            diagnostics.extend(found);
        }
        let (renamed, found) = rename(tree, &queries);
        diagnostics.extend(found);
        let (typed, found) = typecheck(renamed);
        diagnostics.extend(found);
        let errors: Vec<String> = diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Error)
            .map(|diagnostic| render(diagnostic, &sources, false))
            .collect();
        assert!(errors.is_empty(), "{}\n{script}", errors.join("\n"));
        let evaluator = Evaluator::new(&typed, Control::unlimited(), EvaluatorOptions::default());
        let labels = Arc::new(Labels::new());
        let mut compiler = Compiler::new(evaluator, labels, Control::unlimited(), CompileOptions::default());
        let mut label = |at: usize| {
            let event = compiler.evaluator().query(at).expect("an event");
            compiler.event(&event).expect("an event")
        };
        let labels = Events::SIGMA.members().map(|event| label(processes.len() + usize::from(event.0))).collect();
        Batch { compiler, labels }
    }

    /// Compiles a process of the script.
    pub(crate) fn compile(&mut self, index: usize, options: CompileOptions) -> Result<Compiled, String> {
        let compiler = AssertUnwindSafe(&mut self.compiler);
        let job = move || {
            let compiler = compiler;
            let compiler = compiler.0;
            compiler.set_options(options);
            let value = compiler.evaluator().query(index).map_err(|failure| format!("{failure:?}"))?;
            let process = compiler.evaluator().process(value).map_err(|failure| format!("{failure:?}"))?;
            let machine = compiler.compile(&process).map_err(|failure| format!("{failure:?}"))?;
            let composed = compose(&machine.network, 1, &Control::unlimited()).map_err(|_| "stopped".to_string())?;
            Ok(Compiled { machine, lts: composed.lts })
        };
        catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| Err(words(panic)))
    }

    /// The tool's answer: the length of the witness, or none when the check holds.
    pub(crate) fn check(
        &self,
        check: &Check,
        way: Way,
        specification: &Compiled,
        implementation: &Compiled,
    ) -> Result<Option<usize>, String> {
        let job = || {
            let outcome = self.outcome(check, way, specification, implementation);
            let outcome = outcome.map_err(|unanswered| unanswered.to_string())?;
            Ok(outcome.witness.map(|witness| if check.has_length() { witness.length() } else { 0 }))
        };
        catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| Err(words(panic)))
    }

    fn outcome(
        &self,
        check: &Check,
        way: Way,
        specification: &Compiled,
        implementation: &Compiled,
    ) -> Result<Outcome, Unanswered> {
        let control = Control::unlimited();
        let preserve = match check {
            Check::DeadlockFree(Model::Failures) => Preserve::Deadlocks,
            _ => Preserve::Everything,
        };
        let reduce = || {
            PartialOrder::new(&implementation.machine.network, preserve).map_err(|why| Unanswered::Refused(why.into()))
        };
        let reduced = way.partial_order.then(reduce).transpose()?;
        let on_states = || implementation.machine.network.accepting(&control).expect("no budget");
        let accepting = way.on_states.then(on_states).flatten();
        let system: &dyn System = match (&reduced, &accepting) {
            (_, Some(accepting)) => &**accepting,
            (Some(reduced), None) => reduced,
            (None, None) if way.explored => &implementation.lts,
            (None, None) => &*implementation.machine.network,
        };
        let options = CheckOptions { threads: way.threads, ..CheckOptions::default() };
        match check {
            Check::Refines(model) => {
                let options = Options {
                    algorithm: way.algorithm,
                    preprocess: way.preprocess,
                    threads: way.threads,
                    ..Options::new(*model)
                };
                let implementation = match way.explored && !way.partial_order && accepting.is_none() {
                    true => Implementation::from(&implementation.lts),
                    false => Implementation::from(system),
                };
                refine(&specification.lts, implementation, options, &control)
            }
            Check::DeadlockFree(model) => deadlock(system, *model, options, &control),
            Check::DivergenceFree => divergence(system, options, &control),
            Check::Deterministic(model) => determinism(system, *model, options, &control),
            Check::HasTrace(model, trace) => {
                let labels: Vec<LabelId> = trace.iter().map(|event| self.labels[usize::from(event.0)]).collect();
                has_trace(system, &labels, *model, options, &control)
            }
        }
    }
}

fn words(panic: Box<dyn std::any::Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
    format!("panic: {}", text.unwrap_or_default())
}

/// What is wrong with the tool's answer about two processes, if anything.
pub(crate) fn wrong(specification: &Process, implementation: &Process, check: &Check, way: Way) -> Option<String> {
    let expected = check.expected(&specification.denotation().ok()?, &implementation.denotation().ok()?);
    let mut batch = Batch::new(&[specification, implementation]);
    let found = batch.compile(0, way.compile).and_then(|specification| {
        let implementation = batch.compile(1, way.compile)?;
        batch.check(check, way, &specification, &implementation)
    });
    match found {
        Ok(found) if check.agrees(expected, found) => None,
        found => Some(format!("the equations say {expected:?}, the tool says {found:?}")),
    }
}
