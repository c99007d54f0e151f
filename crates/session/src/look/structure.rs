//! What a process is made of, as plain data.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use serde::Serialize;
use trefoil_control::counted;
use trefoil_cspm::process::Structure;
use trefoil_draw::{Direction, Edge, Graph, Node, Options, Shape};
use trefoil_source::{Place, Span};
use trefoil_system::{Slot, System};

use super::declared::{GroupsReport, groups};
use super::picture::{draw_to, format_of};
use super::{Content, Looking, Subject, no_process, problem};
use crate::check::language_of;
use crate::lts::Size;
use crate::mcrl2::structure::{LinearStructure, linear_structure};
use crate::problem::Origin;
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
    /// Where its picture was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
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

/// What a process of a script, or a whole specification, is made of.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Structured {
    /// Operators over components.
    Operators(StructureReport),
    /// Components and what they do together.
    Linear(LinearStructure),
    /// The slots that transition groups read and write.
    Groups(GroupsReport),
}

/// What is shown of the structure.
#[derive(Clone, Debug)]
pub enum Showing {
    /// Operators, components and what they do together, with a picture where a file is given.
    Parts(Option<PathBuf>),
    /// Transition groups.
    Groups,
}

/// Finds out what a process of a script, or a whole specification, is made of, and draws it if there is an output.
pub fn structure(task: &Looking, showing: &Showing, job: &Job) -> Result<Structured, Problem> {
    let output = match showing {
        Showing::Groups => return Ok(Structured::Groups(groups(task, job)?)),
        Showing::Parts(output) => output.as_deref(),
    };
    let format = format_of(output, None)?;
    let language = language_of(&task.file, task.language);
    let mut structured = match language {
        Ok("mcrl2") => {
            task.is_whole()?;
            Structured::Linear(linear_structure(&task.file, job)?)
        }
        Ok("promela") => {
            let help = "`trefoil symmetry -o OUT.svg` draws its processes, channels and variables, and `--groups` lists \
                        its transition groups";
            let message = "without `--groups` this command works on CSPM scripts and mCRL2 specifications";
            return Err(no_process(message, Place::File(task.file.display().to_string())).help(help).into());
        }
        _ => Structured::Operators(operators(task, job)?),
    };
    if let Some(output) = output {
        let graph = structured.graph();
        let options = Options { direction: Direction::Right, ..Options::default() };
        draw_to(output, &graph, format, options, &job.control)?;
        structured.written(output.display().to_string());
    }
    Ok(structured)
}

impl Structured {
    fn written(&mut self, file: String) {
        match self {
            Structured::Operators(report) => report.output = Some(file),
            Structured::Linear(report) => report.output = Some(file),
            Structured::Groups(_) => {}
        }
    }

    /// The picture: a tree of operators, or components with what they do together.
    fn graph(&self) -> Graph {
        let node = |text: String, title: String| Node { text, title, ..Node::default() };
        let edge = |source, target, label| Edge { source, target, label, quiet: false };
        match self {
            Structured::Groups(report) => {
                Graph { caption: format!("the groups of {}", report.file), nodes: Vec::new(), edges: Vec::new() }
            }
            Structured::Operators(report) => report.graph(),
            Structured::Linear(report) => {
                let mut nodes: Vec<Node> =
                    report.components.iter().map(|component| node(component.name.clone(), component.sizes())).collect();
                let mut edges = Vec::new();
                for together in report.interactions.iter().filter(|together| together.components.len() > 1) {
                    let results: BTreeSet<&str> = together.steps.iter().map(|step| step.event.as_str()).collect();
                    let results = results.into_iter().collect::<Vec<_>>().join(", ");
                    for (at, &component) in together.components.iter().enumerate() {
                        let own: BTreeSet<&str> = together.steps.iter().map(|step| step.parts[at].as_str()).collect();
                        edges.push(edge(component, nodes.len(), own.into_iter().collect::<Vec<_>>().join(", ")));
                    }
                    let together = node(results, "what they do together".to_string());
                    nodes.push(Node { shape: Shape::Box, ..together });
                }
                Graph { caption: format!("the components of {}", report.file), nodes, edges }
            }
        }
    }
}

impl StructureReport {
    /// The parts that the whole leads to; operands that look alike are one node, with their number beside its edge.
    fn graph(&self) -> Graph {
        let mut places: HashMap<usize, usize> = HashMap::from([(self.root, 0)]);
        let (mut found, mut at) = (vec![self.root], 0);
        let mut edges = Vec::new();
        while at < found.len() {
            for operands in &self.parts[found[at]].operands {
                let target = *places.entry(operands.part).or_insert_with(|| {
                    found.push(operands.part);
                    found.len() - 1
                });
                let label = if operands.count > 1 { format!("{} ×", operands.count) } else { String::new() };
                edges.push(Edge { source: at, target, label, quiet: false });
            }
            at += 1;
        }
        let node = |part: &usize| {
            let PartReport { kind, name, after, .. } = &self.parts[*part];
            let what = after.map_or_else(|| kind.to_string(), |size| states(size.states));
            let size = |size: &Size| format!("{}, {}", states(size.states), transitions(size.transitions));
            Node {
                text: name.as_ref().map_or_else(|| what.clone(), |name| format!("{name}: {what}")),
                title: after.as_ref().map_or_else(|| kind.to_string(), size),
                initial: *part == self.root,
                // Operators are boxes, components are round.
                shape: if after.is_some() { Shape::Round } else { Shape::Box },
                ..Node::default()
            }
        };
        let caption = format!("the structure of {} in {}", self.process, self.file);
        Graph { caption, nodes: found.iter().map(node).collect(), edges }
    }
}

fn states(number: usize) -> String {
    counted(number as u64, "state")
}

fn transitions(number: usize) -> String {
    counted(number as u64, "transition")
}

/// The operators and components of a process of a script.
fn operators(task: &Looking, job: &Job) -> Result<StructureReport, Problem> {
    let Subject { origin: Origin { file, .. }, process, content, .. } = Subject::open(task, job)?;
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
        state_bound: bound(machine.network.layout().slots()),
        output: None,
        resources: Resources::new(&job.control),
    })
}

/// An upper bound of the number of states: every combination of values of slots.
pub(crate) fn bound<'a>(slots: impl IntoIterator<Item = &'a Slot>) -> String {
    const EXACT: u128 = 1_000_000_000_000_000;
    let Some(values) = slots.into_iter().map(|slot| slot.values.count().map(u128::from)).collect::<Option<Vec<u128>>>()
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
