//! What an assertion is about, evaluated and compiled: what is searched, and what it is held against.

use std::sync::Arc;

use trefoil_cspm::eval::{Elements, Evaluator, Failure, Options as EvaluationOptions, Reason, Value};
use trefoil_cspm::process::{CompileOptions, Compiler, Keep, Machine};
use trefoil_cspm::syntax::{Check, CheckOption, ExpressionId, Model as Written, Property};
use trefoil_lts::Lts;
use trefoil_network::{Network, Trimmed, compose};
use trefoil_source::{Diagnostic, Place, Span};
use trefoil_system::{Cut, LabelId, Labels, Model, Path, TakenStep, Witness};

use super::assertions::{Listed, model_name};
use super::{Asked, Script};
use crate::Job;
use crate::problem::NOT_SUPPORTED;

/// Why an assertion has no answer.
pub(crate) enum Trouble {
    /// It cannot be evaluated, or it asks for what cannot be checked.
    Wrong(Box<Diagnostic>),
    /// A walk was cut: a budget ran out, the user interrupted, or the process could not go on.
    Cut(Cut),
}

impl<C: Into<Cut>> From<C> for Trouble {
    fn from(cut: C) -> Trouble {
        Trouble::Cut(cut.into())
    }
}

/// An assertion, compiled.
pub(super) struct Compiled {
    pub(super) model: Model,
    /// The process that is searched.
    pub(super) machine: Machine,
    /// The process that it is held against.
    specification: Option<Machine>,
    /// The trace of `has trace`.
    pub(super) trace: Option<Vec<LabelId>>,
}

impl Compiled {
    /// The specification, explored.
    pub(super) fn specification(&self, job: &Job) -> Result<Option<Lts>, Cut> {
        let explored = |specification: &Machine| {
            let composed = compose(&specification.network, job.threads, &job.control);
            composed.map(|composed| composed.lts).map_err(|unfinished| unfinished.cut)
        };
        self.specification.as_ref().map(explored).transpose()
    }
}

/// What is searched for symmetries: the network of a machine, without what never happens.
pub(crate) enum Searched {
    /// Everything may happen.
    Whole(Arc<Network>),
    /// Something went.
    Trimmed(Trimmed),
}

impl Searched {
    pub(super) fn network(&self) -> &Arc<Network> {
        match self {
            Searched::Whole(network) => network,
            Searched::Trimmed(trimmed) => trimmed.network(),
        }
    }

    /// A run as one of the machine's network.
    pub(super) fn restored_path(&self, path: &Path) -> Path {
        let Searched::Trimmed(trimmed) = self else { return path.clone() };
        let restored = |step: &TakenStep| TakenStep { label: step.label, row: trimmed.restored(&step.row) };
        Path { start: trimmed.restored(&path.start), steps: path.steps.iter().map(restored).collect() }
    }

    /// Evidence as evidence of the machine's network.
    pub(super) fn restored(&self, witness: &Witness) -> Witness {
        match witness {
            Witness::Path { path, failure } => {
                Witness::Path { path: self.restored_path(path), failure: failure.clone() }
            }
            Witness::Lasso { path, cycle } => {
                let around = self.restored_path(&Path { start: path.last().to_vec(), steps: cycle.clone() });
                Witness::Lasso { path: self.restored_path(path), cycle: around.steps }
            }
            Witness::TwoRuns { can, cannot, accepted } => Witness::TwoRuns {
                can: self.restored_path(can),
                cannot: self.restored_path(cannot),
                accepted: accepted.clone(),
            },
        }
    }
}

impl Script {
    /// Evaluates and compiles what an assertion is about.
    pub(super) fn compiled(&mut self, listed: &Listed, options: &Asked, job: &Job) -> Result<Compiled, Trouble> {
        job.control.check()?;
        let model = self.model(listed)?;
        self.prepare_compiler(options, Some(keeping(model)), job);
        let (process, specification, trace) = match listed.check {
            Check::Refinement { specification, implementation, .. } => (implementation, Some(specification), None),
            Check::HasTrace { process, trace, .. } => (process, None, Some(trace)),
            Check::Property { process, .. } => (process, None, None),
            Check::Symmetric { .. } | Check::Error => {
                return Err(self.unsupported(listed, "this cannot be checked"));
            }
        };
        let low = self.low_priority(listed)?;
        let specification =
            specification.map(|id| self.machine(id, &listed.specification, low.as_ref(), listed)).transpose()?;
        let machine = self.machine(process, &listed.process, low.as_ref(), listed)?;
        let trace = trace.map(|id| self.trace(id, listed)).transpose()?;
        Ok(Compiled { model, machine, specification, trace })
    }

    /// The model, as written or as implied.
    fn model(&self, listed: &Listed) -> Result<Model, Trouble> {
        let written = match listed.check {
            Check::Refinement { model, .. } => model,
            Check::Property { model, .. } => model.unwrap_or(Written::FailuresDivergences),
            Check::HasTrace { model, .. } => model.unwrap_or(Written::Traces),
            Check::Symmetric { .. } | Check::Error => Written::Traces,
        };
        let divergence = matches!(listed.check, Check::Property { property: Property::LivelockFree, .. });
        let silent = matches!(written, Written::Traces | Written::Failures | Written::Revivals | Written::Refusals);
        if divergence && silent {
            let message = format!("the model `{}` does not observe divergence; `FD` does", model_name(written));
            return Err(self.unsupported(listed, &message));
        }
        let refines = matches!(listed.check, Check::Refinement { .. });
        Ok(match written {
            Written::Traces => Model::Traces,
            Written::Failures => Model::Failures,
            Written::FailuresDivergences => Model::FailuresDivergences,
            Written::Revivals if refines => Model::Revivals,
            Written::RevivalsDivergences if refines => Model::RevivalsDivergences,
            Written::Refusals if refines => Model::Refusals,
            Written::RefusalsDivergences if refines => Model::RefusalsDivergences,
            // A property of one process depends on its failures and divergences only.
            Written::Revivals | Written::Refusals => Model::Failures,
            Written::RevivalsDivergences | Written::RefusalsDivergences => Model::FailuresDivergences,
        })
    }

    /// The events that `τ` and `✓` have priority over, when the assertion says so.
    fn low_priority(&mut self, listed: &Listed) -> Result<Option<Value>, Trouble> {
        let options = self.typed.renamed().tree().list(listed.options);
        let set = options.iter().find_map(|option| match option {
            CheckOption::TauPriority(set) => Some(*set),
            _ => None,
        });
        let Some(set) = set else { return Ok(None) };
        let Some(compiler) = &mut self.compiler else { return Err(self.nowhere(listed)) };
        let Some(value) = compiler.evaluator().mentioned(set) else { return Err(self.nowhere(listed)) };
        value.map(Some).map_err(|failure| trouble(failure, listed.span))
    }

    pub(super) fn unsupported(&self, listed: &Listed, why: &str) -> Trouble {
        Trouble::Wrong(Box::new(Diagnostic::error(NOT_SUPPORTED, why, Place::Span(listed.span))))
    }

    /// The compiler that all assertions share, under the budgets of this one. What compressions have to keep stays as
    /// it was unless it is given.
    pub(super) fn prepare_compiler(&mut self, options: &Asked, keep: Option<Keep>, job: &Job) -> &mut Compiler {
        let keep = keep.or(self.compiler.as_ref().map(Compiler::keep)).unwrap_or_default();
        let chosen = CompileOptions {
            compress_leaves: !options.no_leaf_compression,
            threads: job.threads,
            keep,
            ..CompileOptions::default()
        };
        let typed = &self.typed;
        let compiler = self.compiler.get_or_insert_with(|| {
            let evaluator = Evaluator::new(typed, job.control.clone(), EvaluationOptions::default());
            Compiler::new(evaluator, Arc::new(Labels::new()), job.control.clone(), chosen)
        });
        compiler.set_control(job.control.clone());
        compiler.set_options(chosen);
        compiler
    }

    /// What an expression of an assertion evaluates to, as something that moves.
    fn machine(
        &mut self,
        id: ExpressionId,
        name: &str,
        low: Option<&Value>,
        listed: &Listed,
    ) -> Result<Machine, Trouble> {
        let Some(compiler) = &mut self.compiler else { return Err(self.nowhere(listed)) };
        compiler.set_subject(name);
        let Some(value) = compiler.evaluator().mentioned(id) else { return Err(self.nowhere(listed)) };
        let value = value.and_then(|value| compiler.evaluator().process(value));
        let machine = value.and_then(|process| match low {
            None => compiler.compile(&process),
            Some(low) => compiler.compile_with_priority(&process, low),
        });
        machine.map_err(|failure| trouble(failure, listed.span))
    }

    /// The labels of the trace of `has trace`.
    fn trace(&mut self, id: ExpressionId, listed: &Listed) -> Result<Vec<LabelId>, Trouble> {
        let Some(compiler) = &mut self.compiler else { return Err(self.nowhere(listed)) };
        let Some(value) = compiler.evaluator().mentioned(id) else { return Err(self.nowhere(listed)) };
        let value = value.and_then(|value| compiler.evaluator().finish(value));
        let value = value.map_err(|failure| trouble(failure, listed.span))?;
        let labels = Elements::of(&value).map(|event| compiler.event(&event));
        labels.collect::<Result<Vec<LabelId>, Failure>>().map_err(|failure| trouble(failure, listed.span))
    }

    fn nowhere(&self, listed: &Listed) -> Trouble {
        self.unsupported(listed, "assertions in this place cannot be checked")
    }
}

/// What compressions have to keep for a model.
fn keeping(model: Model) -> Keep {
    if model.has_minimal_acceptances() { Keep::Failures } else { Keep::Refusals }
}

/// A mistake without a place is one of the assertion.
pub(super) fn trouble(failure: Failure, span: Span) -> Trouble {
    match (failure.reason(), failure.diagnostic()) {
        (Reason::Stopped(stopped), _) => Trouble::from(*stopped),
        (_, Some(mut diagnostic)) => {
            let nowhere = diagnostic.labels.first().is_none_or(|label| matches!(label.place, Place::File(_)));
            if nowhere {
                diagnostic.labels.clear();
            }
            diagnostic = diagnostic.also(Place::Span(span), "in this assertion");
            Trouble::Wrong(Box::new(diagnostic))
        }
        (_, None) => {
            let message = "this assertion cannot be evaluated";
            Trouble::Wrong(Box::new(Diagnostic::error(NOT_SUPPORTED, message, Place::Span(span))))
        }
    }
}
