//! Opening a model to be stepped through.

use std::path::Path;
use std::sync::Arc;

use trefoil_check::{Surveyed, survey};
use trefoil_promela::{Model, Simulation, Simulator, Trail};
use trefoil_source::{Diagnostic, Place};
use trefoil_system::{Cut, System, TakenStep};

use super::Script;
use crate::cspm::Warnings;
use crate::problem::{Origin, UNREADABLE};
use crate::{Job, Problem, read_file};

/// So many states are looked at to find out which processes a model creates.
const LOOKED_AT: u64 = 20_000;

impl Script {
    /// The model statement by statement. If a short exploration does not show which processes may run, there is room
    /// for all.
    pub(crate) fn simulation(self, job: &Job) -> Result<(Simulation, Origin), Problem> {
        let (model, origin, _) = self.surveyed(true, job)?;
        Ok((Simulation::new(model), origin))
    }

    /// The model with room for the processes that a short exploration finds; for all where that does not show it and
    /// `all` is true.
    pub(crate) fn surveyed(self, all: bool, job: &Job) -> Result<(Arc<Model>, Origin, Warnings), Problem> {
        let Script { mut model, file, sources, warnings, .. } = self;
        let origin = Origin { file, sources };
        if !model.program().runs.is_empty() {
            job.control.progress().begin("looking for processes", 0);
            let system: Arc<dyn System> = model.clone();
            let surveyed = survey(&system, LOOKED_AT, &job.control);
            model = match surveyed.map_err(|cut| Problem::cut(cut, &job.control, &origin))? {
                Surveyed::Everything => model.widest().unwrap_or(&model).clone(),
                Surveyed::More if !all => model.widest().unwrap_or(&model).clone(),
                Surveyed::More => Arc::new(model.widest().unwrap_or(&model).with_all_room()),
            };
        }
        Ok((model, origin, warnings))
    }
}

/// The run that a trail names, and what is wrong where it cannot be followed.
pub(crate) fn along_trail(
    simulation: &Simulation,
    trail: &Trail,
    job: &Job,
) -> Result<(Vec<TakenStep>, Option<String>), Cut> {
    let mut simulator = Simulator::new(simulation.model(), &job.control);
    let start = simulation.moment(&simulation.initial(&job.control)?);
    let followed = trail.follow(&mut simulator, start)?;
    let path = simulation.path(followed.moves.iter().map(|(_, step)| step), &job.control)?;
    let lost = followed.lost.map(|line| {
        let wanted = trail.lines[line - 1];
        format!(
            "line {line} of the trail cannot be followed: process {} cannot take transition {} here",
            wanted.process, wanted.transition
        )
    });
    Ok((path.steps, lost))
}

/// Reads a trail from a file.
pub(crate) fn read_trail(file: &Path, job: &Job) -> Result<Trail, Problem> {
    let name = file.display().to_string();
    let wrong = |why: String| {
        let message = trefoil_source::cannot_read(&name, &why);
        Problem::from(Diagnostic::error(UNREADABLE, message, Place::File(name.clone())))
    };
    let bytes = read_file(file, job)?.map_err(wrong)?;
    let text = String::from_utf8_lossy(&bytes);
    Trail::read(&text).map_err(|(line, why)| wrong(format!("line {line}: {why}")))
}
