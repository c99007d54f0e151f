//! What the transition groups of a system declare to read and write, as plain data.
//!
//! A symbolic search learns a group by the values of the slots that it reads, and can gain only where these are few. So
//! the table shows before a search whether it is worth a try.

use serde::Serialize;
use trefoil_source::Place;
use trefoil_system::{Group, System};

use super::{Content, Looking, Subject, no_process};
use crate::check::{component_names, language_of};
use crate::{Job, Problem, Resources, promela};

/// The transition groups of a system.
#[derive(Clone, Debug, Serialize)]
pub struct GroupsReport {
    /// The file.
    pub file: String,
    /// The process of a script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// How many slots a state has.
    pub slots: usize,
    /// The groups, in their order.
    pub groups: Vec<GroupReport>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// What a group declares.
#[derive(Clone, Debug, Serialize)]
pub struct GroupReport {
    /// Its name: components, a statement, actions.
    pub name: String,
    /// How many slots its steps depend on.
    pub reads: usize,
    /// How many slots its steps may write.
    pub writes: usize,
    /// How many slots it reads or writes.
    pub touches: usize,
    /// The names of the slots that it reads.
    pub read_slots: Vec<String>,
    /// The names of the slots that it may write.
    pub written_slots: Vec<String>,
}

/// The groups of a process of a script, of a model or of a specification.
pub(super) fn groups(task: &Looking, job: &Job) -> Result<GroupsReport, Problem> {
    let file = task.file.display().to_string();
    if language_of(&task.file, task.language).is_ok_and(|language| language == "promela") {
        if task.expression.is_some() {
            let message = "this command looks at a whole Promela model; give no expression";
            return Err(no_process(message, Place::File(file)).into());
        }
        task.has_no_leaves()?;
        let (model, ..) = promela::Script::open(&task.file, job)?.surveyed(false, job)?;
        return Ok(report(file, None, &*model, job));
    }
    let subject = Subject::open(task, job)?;
    let process = task.expression.as_ref().map(|_| subject.process().to_string());
    let mut report = report(subject.file().to_string(), process, subject.system(), job);
    name_components(&mut report, subject);
    Ok(report)
}

/// Calls the components of a script what its other reports call them; a network has numbers.
fn name_components(report: &mut GroupsReport, subject: Subject) {
    let Content::Script(content) = subject.content else { return };
    let (mut compiler, machine, sources) = *content;
    let names = component_names(&mut compiler, &machine, &|span| sources.text(span).to_string());
    let slots: Vec<String> = machine.network.layout().slots().iter().map(|slot| slot.name.clone()).collect();
    let called = |slot: &String| {
        let component = slots.iter().position(|known| known == slot).and_then(|at| names.get(at));
        component.unwrap_or(slot).clone()
    };
    for group in &mut report.groups {
        let components: Vec<String> = group.read_slots.iter().map(called).collect();
        group.name = components.join(", ");
        group.written_slots = group.written_slots.iter().map(called).collect();
        group.read_slots = components;
    }
}

fn report(file: String, process: Option<String>, system: &dyn System, job: &Job) -> GroupsReport {
    // As the symbolic engine has them.
    let apart = system.with_last_resorts();
    let system = apart.as_deref().unwrap_or(system);
    let slots = system.layout().slots();
    let one = |group: &Group| {
        let (inputs, outputs) = (group.inputs(), group.outputs());
        GroupReport {
            name: group.name.clone(),
            reads: inputs.len(),
            writes: outputs.len(),
            touches: inputs.union(&outputs).len(),
            read_slots: inputs.iter().map(|slot| slots[slot].name.clone()).collect(),
            written_slots: outputs.iter().map(|slot| slots[slot].name.clone()).collect(),
        }
    };
    let groups = system.groups().iter().map(one).collect();
    GroupsReport { file, process, slots: slots.len(), groups, resources: Resources::new(&job.control) }
}
