//! Searching one state of each orbit, and telling a counterexample in the model as it is written.
//!
//! A run of representatives is first unwound to a run of the model that was searched. Where that model keeps processes
//! at their ends, it is then followed in the model itself, in which processes go: the same statements are executed by
//! the same processes, and a process goes where the next statement or the end of the run has to wait for that. What
//! reaches a user is a run of the model without any of this.

use std::sync::Arc;

use trefoil_check::{Offered, Posed, Reduces, Reduction, Table};
use trefoil_control::Control;
use trefoil_promela::symmetry::{Symmetric, Symmetries, symmetries};
use trefoil_promela::{FaultKind, Model};
use trefoil_questions::{Answer, Asked, Evidence, Facts, Question, Unanswered};
use trefoil_system::{Cut, LabelId, Path, System, TakenStep, Value};

use crate::Job;
use crate::check::{Claim, Permuted, PermutedKind, UsedSymmetry};

/// The answer of a search: among representatives where symmetries are wanted and proved.
pub(super) fn answer(
    question: Question<'_>,
    asked: &Asked,
    model: &mut Arc<Model>,
    found: &mut Option<Symmetries>,
    job: &Job,
) -> Result<Answer, Unanswered> {
    let control = &job.control;
    let facts = Facts { width: model.layout().width(), ..Claim::Assertions.posing().facts };
    let posed = Posed::new(Table::standard(), question, &facts, asked, job.threads, control)?;
    if posed.reduction() == Some(Reduces::Symmetry) && found.is_none() {
        control.progress().begin("proving symmetries", 0);
        let proved = symmetries(model.program(), control)?;
        if let Some(symmetric) = &proved.symmetric {
            *model = Arc::new(symmetric.model().letting_processes_go());
        }
        *found = Some(proved);
    }
    let symmetric = found.as_ref().and_then(|found| found.symmetric.as_ref());
    let symmetric = symmetric.filter(|_| posed.reduction() == Some(Reduces::Symmetry));
    let reduced = symmetric.map(|symmetric| Reduced { symmetric, model });
    let reduction = reduced.as_ref().map(|reduced| reduced as &dyn Reduction);
    posed.answer(&Offered { system: model.clone(), reduction, insisted: false }, control)
}

/// A model with its symmetries, whose processes may stay at their ends, in place of the model itself.
struct Reduced<'m> {
    symmetric: &'m Symmetric,
    /// The model itself, in which processes go.
    model: &'m Model,
}

impl Reduction for Reduced<'_> {
    fn system(&self) -> &dyn System {
        self.symmetric
    }

    fn run_back(&self, path: Path, control: &Control) -> Result<Path, Cut> {
        self.followed(&path, false, control)
    }

    fn back(&self, evidence: Evidence, control: &Control) -> Result<Evidence, Cut> {
        Ok(match evidence {
            Evidence::Error(path) => Evidence::Error(self.followed(&path, false, control)?),
            Evidence::InvalidEnd(mut path) => {
                let keeps = self.symmetric.model().keeps_processes();
                if let (true, false, Some(action)) = (keeps, self.symmetric.is_staggered(), self.symmetric.action()) {
                    let element = self.symmetric.fewest_go(path.last());
                    path = path.permuted(&element, &mut *action.actor(control))?;
                }
                Evidence::InvalidEnd(self.followed(&path, true, control)?)
            }
            other @ (Evidence::Witness(_) | Evidence::Strategy(_) | Evidence::Prefix(_) | Evidence::Lasso { .. }) => {
                other
            }
        })
    }

    fn beyond(&self, row: &[Value]) -> u32 {
        self.symmetric.must_go(row)
    }

    fn exact_only(&self) -> Option<&'static str> {
        self.symmetric.is_staggered().then_some("processes start one by one")
    }

    fn note(&self, _: bool) -> Option<&'static str> {
        let note =
            "ended processes keep their slots, which no statement can observe; the counts are those of this model";
        self.symmetric.model().keeps_processes().then_some(note)
    }
}

impl Reduced<'_> {
    /// Turns a run of the searched model into one of the model itself, up to a state without successors if that is
    /// wanted.
    fn followed(&self, run: &Path, to_the_end: bool, control: &Control) -> Result<Path, Cut> {
        let searched = &**self.symmetric.model();
        let mut explorer = self.model.explorer(control);
        let mut real = Path { start: self.model.initial(control)?, steps: Vec::with_capacity(run.steps.len()) };
        let mut next = |here: &[Value]| -> Result<Vec<TakenStep>, Cut> {
            let mut steps: Vec<TakenStep> = Vec::new();
            explorer.successors(here, &mut |step| {
                steps.push(TakenStep { label: step.label, row: step.row.to_vec() });
                Ok(())
            })?;
            Ok(steps)
        };
        for wanted in &run.steps {
            let kind = searched.fault(wanted.label).map(|fault| fault.kind);
            let text = searched.labels().get(wanted.label);
            loop {
                control.check()?;
                let mut steps = next(real.last())?;
                let fits = |step: &TakenStep| {
                    kind_of(self.model, step.label) == kind && self.model.is_but_for_gone(&step.row, &wanted.row)
                };
                let same = |step: &TakenStep| self.model.labels().get(step.label).name() == text.name();
                let found = steps.iter().position(|step| fits(step) && same(step));
                if let Some(at) = found.or_else(|| steps.iter().position(fits)) {
                    real.steps.push(steps.swap_remove(at));
                    break;
                }
                let gone = steps.iter().position(|step| self.model.has_gone(real.last(), &step.row));
                let at = gone.expect("what was found can be done in the model itself");
                real.steps.push(steps.swap_remove(at));
            }
        }
        if !to_the_end {
            return Ok(real);
        }
        while let Some(step) = next(real.last())?.into_iter().next() {
            control.check()?;
            assert!(self.model.has_gone(real.last(), &step.row), "nothing but the end of processes is left");
            real.steps.push(step);
        }
        Ok(real)
    }
}

fn kind_of(model: &Model, label: LabelId) -> Option<FaultKind> {
    model.fault(label).map(|fault| fault.kind)
}

/// The statements that were not reached, nor any that stands for them.
pub(super) fn unreached(symmetric: &Symmetric) -> Vec<(u16, Vec<u32>)> {
    let model = symmetric.model();
    let mut unreached = model.unreached();
    for orbit in symmetric.control_orbits() {
        // All statements of a state are tried where one is.
        let statements: Vec<(u16, u32)> = orbit
            .iter()
            .flat_map(|&(kind, state)| {
                let transitions = &model.program().processes[usize::from(kind)].transitions[state as usize];
                let own = transitions.iter().map(move |transition| (kind, transition.statement));
                own.chain([(kind, state)])
            })
            .collect();
        if statements.iter().any(|&(kind, statement)| model.has_reached(kind, statement)) {
            for (kind, states) in &mut unreached {
                states.retain(|&state| !statements.contains(&(*kind, state)));
            }
        }
    }
    unreached
}

/// The symmetry that was used, for people.
pub(super) fn used(used: trefoil_questions::UsedSymmetry) -> UsedSymmetry {
    UsedSymmetry {
        order: used.order,
        structure: used.structure,
        strategy: used.strategy,
        total_states: used.total_states,
        permuted: permuted(used.orbits),
    }
}

/// The permuted processes, orbit by orbit.
pub(crate) fn permuted(orbits: Vec<Vec<String>>) -> Vec<Permuted> {
    orbits.into_iter().map(|names| Permuted { kind: PermutedKind::Processes, datatype: None, names }).collect()
}
