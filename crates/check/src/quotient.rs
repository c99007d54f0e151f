//! A quotient by symmetry for engines that know nothing of symmetries.

use trefoil_control::Control;
use trefoil_questions::{Answer, Evidence, Found, Prepared, Task, Unanswered, UsedSymmetry};
use trefoil_symmetry::{Promise, Quotient, Refusal, STRATEGIES, Strategy, Symmetry, Tally};
use trefoil_system::{Cut, Path, System, TakenStep, Value};

use crate::group::orbits;
use crate::reduction::Reduction;

/// Answers a question on one state of each orbit; runs are those of the system of the reduction.
pub(crate) fn in_quotient(
    prepared: &dyn Prepared,
    reduction: &dyn Reduction,
    strategy: &'static Strategy,
    control: &Control,
) -> Result<Answer, Unanswered> {
    let system = reduction.system();
    let Some(action) = system.action() else {
        return Err(Unanswered::refused("no symmetry of this system was proved, so it cannot be reduced by one"));
    };
    let with = |strategy| {
        Symmetry::of_action(action, strategy, control).map_err(|refusal| match refusal {
            Refusal::Unsuitable(why) => Unanswered::refused(why),
            Refusal::Stopped(stopped) => Unanswered::from(stopped),
        })
    };
    let mut symmetry = with(strategy)?;
    let mut notes = Vec::new();
    if let Some(why) = reduction.exact_only()
        && symmetry.strategy().promise != Promise::Exact
    {
        let given_up = symmetry.strategy().name;
        symmetry = with(&STRATEGIES[0])?;
        let used = symmetry.strategy().name;
        notes.push(format!("{why}, which needs an exact strategy; used {used} instead of {given_up}"));
    }
    let mut quotient = Quotient::new(system, action, &symmetry, control)?;
    quotient.count(|_| true);
    let beyond = |row: &[Value]| reduction.beyond(row);
    let task = Task { beyond: Some(&beyond), ..Task::of(&quotient) };
    let mut answer = prepared.answer(&task, control)?;
    for found in &mut answer.found {
        let path = match found {
            Found::Holds(Some(path)) | Found::Fails(Evidence::Error(path) | Evidence::InvalidEnd(path)) => path,
            Found::Won(_)
            | Found::Fails(
                Evidence::Witness(_) | Evidence::Strategy(_) | Evidence::Prefix(_) | Evidence::Lasso { .. },
            ) => {
                return Err(Unanswered::refused(
                    "an engine that gives witnesses or strategies reduces by symmetry itself",
                ));
            }
            Found::Holds(None) | Found::Open => continue,
        };
        *path = match reduction.exact_only() {
            Some(_) => found_again(system, &quotient, path, control)?,
            None => quotient.unwind(path, control)?,
        };
    }
    let tally = Tally::of(std::mem::take(&mut answer.counts.classes));
    let counts_all = answer.complete && !answer.fewer_steps;
    let total = counts_all.then(|| quotient.total([&tally].into_iter())).flatten();
    answer.symmetry = Some(UsedSymmetry {
        order: symmetry.order().to_string(),
        structure: symmetry.structure().name(),
        strategy: symmetry.strategy().name,
        reason: symmetry.reason().to_string(),
        total_states: total.map(|total| total.to_string()),
        orbits: orbits(action, &symmetry),
    });
    answer.notes.extend(notes);
    Ok(answer)
}

/// A run of the system that a run of the quotient represents, where elements of the group do not carry all steps to
/// steps: each step is found by its representative.
fn found_again(system: &dyn System, quotient: &Quotient<'_>, path: &Path, control: &Control) -> Result<Path, Cut> {
    let mut real = Path { start: system.initial(control)?, steps: Vec::with_capacity(path.steps.len()) };
    let (mut explorer, mut reducing) = (system.explorer(control), quotient.explorer(control));
    for taken in &path.steps {
        let mut steps: Vec<TakenStep> = Vec::new();
        explorer.successors(real.last(), &mut |step| {
            steps.push(TakenStep { label: step.label, row: step.row.to_vec() });
            Ok(())
        })?;
        let mut at = 0;
        let mut fitting = None;
        // The quotient gives the steps of a state in the same order.
        reducing.successors(real.last(), &mut |step| {
            let kind = system.error(step.label) == system.error(taken.label);
            if step.row == taken.row && kind && fitting.is_none() {
                fitting = Some(at);
            }
            at += 1;
            Ok(())
        })?;
        let Some(fitting) = fitting.filter(|_| at == steps.len()) else {
            panic!("a run of the quotient has a step that the system does not have");
        };
        real.steps.push(steps.swap_remove(fitting));
    }
    Ok(real)
}
