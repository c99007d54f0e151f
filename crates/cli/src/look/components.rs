//! The structure of an mCRL2 specification for people: its components, and what they do together.

use std::collections::HashMap;
use std::fmt::Write;

use trefoil_control::{count, counted};
use trefoil_session::mcrl2::structure::{ComponentReport, Interaction, InteractionStep, LinearStructure};

use super::{LETTERS, most_states};
use crate::text::{cut, list, resources, table};

/// How many interactions are shown one by one; beyond that, those of alike components are one line.
const INTERACTIONS: usize = 40;

/// The components, their interactions, and the sizes of the whole.
pub(super) fn text(report: &LinearStructure) -> String {
    let mut text = format!("{}\n", report.file);
    let classes = classes(&report.components);
    let mut first: HashMap<usize, Vec<&ComponentReport>> = HashMap::new();
    let mut order = Vec::new();
    for (component, &class) in report.components.iter().zip(&classes) {
        let alike = first.entry(class).or_default();
        if alike.is_empty() {
            order.push(class);
        }
        alike.push(component);
    }
    for class in order {
        let alike = &first[&class];
        let names: Vec<String> = alike.iter().map(|component| cut(&component.name, LETTERS)).collect();
        let times = if alike.len() > 1 { format!("{} × ", count(alike.len() as u64)) } else { String::new() };
        let _ = writeln!(text, "  {times}{}: {}", list(&names, ", "), alike[0].sizes());
        for parameter in &alike[0].parameters {
            let values = parameter
                .values
                .map_or_else(String::new, |values| format!(" ({})", counted(u64::from(values), "value")));
            let _ = writeln!(text, "      {}: {}{values}", parameter.name, cut(&parameter.sort, LETTERS));
        }
    }
    let (together, alone): (Vec<&Interaction>, Vec<&Interaction>) =
        report.interactions.iter().partition(|interaction| interaction.components.len() > 1);
    section(&mut text, "steps of several components", &together, &report.components, &classes);
    section(&mut text, "steps of one component", &alone, &report.components, &classes);
    let mut rows = vec![
        ("components", count(report.components.len() as u64)),
        ("parameters", count(report.parameters as u64)),
        ("summands", count(report.summands as u64)),
        ("upper bound of states", most_states(&report.state_bound)),
    ];
    rows.extend(report.output.clone().map(|output| ("picture", output)));
    rows.extend(resources(&report.resources));
    text.push_str(&table(&rows));
    text
}

/// For each component, the number of the first one that looks like it.
fn classes(components: &[ComponentReport]) -> Vec<usize> {
    let shape = |component: &ComponentReport| {
        let process = component.name.split('(').next().unwrap_or_default().to_string();
        let parameters: Vec<(String, String)> =
            component.parameters.iter().map(|parameter| (parameter.name.clone(), parameter.sort.clone())).collect();
        (process, component.control_states.len(), component.summands, parameters)
    };
    let mut known = HashMap::new();
    components.iter().enumerate().map(|(number, component)| *known.entry(shape(component)).or_insert(number)).collect()
}

fn section(
    text: &mut String,
    head: &str,
    interactions: &[&Interaction],
    components: &[ComponentReport],
    classes: &[usize],
) {
    if interactions.is_empty() {
        return;
    }
    let _ = writeln!(text, "  {head}");
    let mut shown: Vec<(&Interaction, u64)> = Vec::new();
    let mut known: HashMap<(Vec<usize>, Vec<String>), usize> = HashMap::new();
    for interaction in interactions {
        let key = (
            interaction.components.iter().map(|&component| classes[component]).collect(),
            interaction.steps.iter().map(step).collect(),
        );
        match known.get(&key).filter(|_| interactions.len() > INTERACTIONS) {
            Some(&row) => shown[row].1 += 1,
            None => {
                known.insert(key, shown.len());
                shown.push((interaction, 1));
            }
        }
    }
    let names = |interaction: &Interaction| {
        let names: Vec<String> =
            interaction.components.iter().map(|&component| cut(&components[component].name, LETTERS)).collect();
        list(&names, ", ")
    };
    for (interaction, times) in shown {
        let steps: Vec<String> = interaction.steps.iter().map(step).collect();
        let alike = if times > 1 { format!(" and {} like it", counted(times - 1, "set")) } else { String::new() };
        let _ = writeln!(text, "    {}{alike}: {}", names(interaction), steps.join(", "));
    }
}

/// A step: what each component contributes, and what is seen of it.
fn step(step: &InteractionStep) -> String {
    let own = step.parts.join(" | ");
    if own == step.event || step.parts.iter().all(|part| *part == step.event) {
        step.event.clone()
    } else {
        format!("{own} → {}", step.event)
    }
}
