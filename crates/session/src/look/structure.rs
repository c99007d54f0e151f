//! What a process is made of, as plain data.

use serde::Serialize;
use trefoil_cspm::process::{Machine, Structure};
use trefoil_source::{Place, Span};
use trefoil_system::System;

use super::{Content, Looking, Subject, no_process, problem};
use crate::lts::Size;
use crate::{Job, Problem, Resources};

/// The structure of a process: operators, components, sizes.
#[derive(Clone, Debug, Serialize)]
pub struct StructureReport {
    /// The script.
    pub file: String,
    /// The process.
    pub process: String,
    /// Its parts; operands are numbers of parts.
    pub parts: Vec<PartReport>,
    /// The part that is the whole.
    pub root: usize,
    /// How many components the network has.
    pub components: usize,
    /// How many different machines they are.
    pub machines: usize,
    /// How many formats there are: arrangements of operators that can be reached.
    pub formats: usize,
    /// How many rules all formats have together.
    pub rules: usize,
    /// How many visible labels the rules give.
    pub labels: usize,
    /// An upper bound of the number of states, as a number or, if it is long, as a power of ten.
    pub state_bound: String,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// An operator with its operands, or a component.
#[derive(Clone, Debug, Serialize)]
pub struct PartReport {
    /// What kind of part it is.
    pub kind: &'static str,
    /// The script's name for it, or its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many of the events that occur the set of the operator has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<usize>,
    /// Its size before it was made small, when it is a component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Size>,
    /// Its size now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Size>,
    /// How many labels it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<usize>,
    /// What made it small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<&'static str>,
    /// How many components are this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<usize>,
    /// Its operands, those that look alike together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<OperandsReport>,
}

/// Operands that look alike.
#[derive(Clone, Debug, Serialize)]
pub struct OperandsReport {
    /// The first of them.
    pub part: usize,
    /// How many there are.
    pub count: usize,
    /// What the first of them are called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// What a process of a script is made of.
pub fn structure(task: &Looking, job: &Job) -> Result<StructureReport, Problem> {
    let Subject { file, process, content, .. } = Subject::open(task, job)?;
    let Content::Script(content) = content else {
        let message = "a system in a file has no structure; `trefoil lts info` shows its size";
        return Err(no_process(message, Place::File(file)).into());
    };
    let (mut compiler, machine, sources) = *content;
    compiler.set_control(job.control.clone());
    let text = |span: Span| sources.text(span).to_string();
    let told = compiler.structure(&machine, &text);
    let Structure { parts, root } =
        told.map_err(|failure| problem(&failure, sources.clone(), Place::File(file.clone())))?;
    let size = |(states, transitions): (usize, usize)| Size { states, transitions };
    let parts = parts.into_iter().map(|part| {
        let machine = part.machine.as_ref();
        PartReport {
            kind: part.kind,
            name: part.name,
            events: part.events,
            before: machine.map(|machine| size(machine.before)),
            after: machine.map(|machine| size(machine.after)),
            labels: machine.map(|machine| machine.labels),
            compression: machine.and_then(|machine| machine.compression),
            used: machine.map(|machine| machine.used),
            operands: part
                .operands
                .into_iter()
                .map(|operands| OperandsReport { part: operands.part, count: operands.count, names: operands.names })
                .collect(),
        }
    });
    let mut parts: Vec<PartReport> = parts.collect();
    // What the user calls it says more than what the script's functions make of it.
    if let Some(name) = &mut parts[root].name {
        name.clone_from(&process);
    }
    let network = &machine.network;
    let mut labels: Vec<_> =
        network.formats().iter().flat_map(|format| &format.rules).map(|rule| rule.label()).collect();
    labels.retain(|label| label.is_visible());
    labels.sort_unstable();
    labels.dedup();
    Ok(StructureReport {
        file,
        process,
        root,
        components: network.components().len(),
        machines: parts.iter().filter(|part| part.used.is_some_and(|used| used > 0)).count(),
        parts,
        formats: network.formats().len(),
        rules: network.formats().iter().map(|format| format.rules.len()).sum(),
        labels: labels.len(),
        state_bound: bound(&machine),
        resources: Resources::new(&job.control),
    })
}

/// An upper bound of the number of states: every combination of values of slots.
fn bound(machine: &Machine) -> String {
    const EXACT: u128 = 1_000_000_000_000_000;
    let slots = machine.network.layout().slots();
    let Some(values) = slots.iter().map(|slot| slot.values.count().map(u128::from)).collect::<Option<Vec<u128>>>()
    else {
        return "unknown".to_string();
    };
    let product = values.iter().try_fold(1u128, |product, &values| product.checked_mul(values));
    match product {
        Some(product) if product < EXACT => product.to_string(),
        _ => {
            let power: f64 = values.iter().map(|&values| (values as f64).log10()).sum();
            // Rounded to three digits; 9.996 becomes 10.0, which is 1.00 of the next power.
            let (digits, power) = ((10f64.powf(power.fract()) * 100.0).round() / 100.0, power.trunc());
            let (digits, power) = if digits >= 10.0 { (1.0, power + 1.0) } else { (digits, power) };
            format!("about {digits:.2} × 10^{power}")
        }
    }
}
