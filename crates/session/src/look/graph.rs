//! A system as a picture: explored, compressed if the options say so, its special states marked.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use trefoil_control::{Control, Stopped, counted};
use trefoil_draw::{Direction, Edge, Graph, Mark, Node, Options, Trouble};
use trefoil_lts::divergence::diverging_states;
use trefoil_lts::equivalence::{Equivalence, minimise};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_system::{Cut, LabelId, Labels, StateId, System, Value};

use super::part::{Shown, StateData, SystemData, no_state, too_large};
use super::picture::{format_of, save_picture};
use super::words::Narrator;
use super::{Content, Looking, Subject};
use crate::lts::{Reading, Size, read};
use crate::{Choice, Job, Problem, Resources};

/// Compressions of a system before it is drawn.
pub const COMPRESSIONS: &[Choice] = &[
    Choice { name: "none", about: "draw every state" },
    Choice { name: "branching", about: "draw the quotient by divergence-preserving branching bisimilarity" },
    Choice { name: "components", about: "draw the strongly connected components, with the number of their states" },
    Choice { name: "sbisim", about: "draw the quotient by strong bisimilarity" },
    Choice { name: "dbisim", about: "draw the quotient by divergence-preserving delay bisimilarity" },
    Choice { name: "wbisim", about: "draw the quotient by divergence-preserving weak bisimilarity" },
];

/// The direction from the initial state to later ones.
pub const DIRECTIONS: &[Choice] = &[
    Choice { name: "down", about: "from top to bottom" },
    Choice { name: "right", about: "from left to right; suits long labels" },
];

/// The kinds of pictures.
pub const PICTURES: &[Choice] = &[
    Choice { name: "svg", about: "a picture for browsers, laid out" },
    Choice { name: "dot", about: "a graph for Graphviz, without a layout" },
];

/// Above this number of states, the events behind `τ` are not looked up.
const EXPLAINED: usize = 20_000;
/// How many steps around a state are drawn when the user does not say.
const AROUND: usize = 2;
/// How many components the title of a state names.
const NAMED: usize = 40;

/// How a picture is made.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// By its name in [`COMPRESSIONS`].
    pub compression: &'static str,
    /// By its name in [`DIRECTIONS`].
    pub direction: &'static str,
    /// By its name in [`PICTURES`]. When absent, the extension of the output chooses (`.png` too), and SVG is the
    /// default.
    pub picture: Option<&'static str>,
    /// The most states that are drawn.
    pub most: usize,
    /// Only what lies around this state; from the initial one onwards when absent.
    pub around: Option<u32>,
    /// Only what lies within so many steps.
    pub depth: Option<usize>,
    /// Whether the report has the system as data.
    pub data: bool,
    /// Where it goes; into the report when absent or `-`.
    pub output: Option<PathBuf>,
}

/// A picture was made.
#[derive(Clone, Debug, Serialize)]
pub struct GraphReport {
    /// The file with the process or system.
    pub file: String,
    /// The process, or the file again.
    pub process: String,
    /// What is drawn.
    #[serde(flatten)]
    pub size: Size,
    /// What was explored, when it was made smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explored: Option<Size>,
    /// What made it smaller, by its name.
    pub compression: &'static str,
    /// The kind of picture.
    pub picture_format: &'static str,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The picture, when it was not written anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// What is drawn, as data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemData>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// Draws a process of a script, or a system in a file.
pub fn graph(task: &Looking, drawing: &Drawing, job: &Job) -> Result<GraphReport, Problem> {
    picture_format(drawing)?;
    let mut subject = Subject::open_to_step(task, job)?;
    let expression = task.expression.as_deref();
    if let Content::File(lts) = subject.content {
        return report(&task.file, (subject.process, expression), shown(*lts), drawing, job);
    }
    job.control.progress().begin("exploring", 0);
    let whole = drawing.compression != "none" || drawing.around.is_some();
    let extent = match drawing.depth {
        _ if whole => Extent { most: None, depth: None },
        depth => Extent { most: Some(drawing.most), depth },
    };
    let (system, mut narrator) = subject.parts();
    let explored = explored(system, &mut *narrator, extent, &job.control);
    drop(narrator);
    let explored = explored.map_err(|cut| Problem::cut(cut, &job.control, subject.origin()))?;
    let Some(explored) = explored else {
        return Err(too_large(&task.file, expression, &more_than(drawing.most)).into());
    };
    report(&task.file, (subject.process, expression), explored, drawing, job)
}

/// Draws a system in a file.
pub fn draw(file: &Path, reading: &Reading, drawing: &Drawing, job: &Job) -> Result<GraphReport, Problem> {
    picture_format(drawing)?;
    let lts = read(file, reading, &Arc::new(Labels::new()), job)?;
    report(file, (file.display().to_string(), None), shown(lts), drawing, job)
}

/// The kind of picture to make; a file name that promises another kind of file is refused.
fn picture_format(drawing: &Drawing) -> Result<&'static str, Problem> {
    format_of(drawing.output.as_deref(), drawing.picture)
}

fn shown(lts: Lts) -> Shown {
    let titles = lts.states().map(|state| format!("state {}", state.0)).collect();
    let hidden = vec![0; lts.state_count()];
    Shown::whole(lts, titles, BTreeMap::new(), hidden)
}

fn more_than(most: usize) -> String {
    format!("a picture of more than {} is unreadable", counted(most as u64, "state"))
}

/// How far a system is explored.
struct Extent {
    /// More states than this are too many.
    most: Option<usize>,
    /// States so many steps away are not left.
    depth: Option<usize>,
}

/// The states of a system in the order of a breadth-first search; nothing when there are too many.
fn explored(
    system: &dyn System,
    narrator: &mut dyn Narrator,
    extent: Extent,
    control: &Control,
) -> Result<Option<Shown>, Cut> {
    let mut numbers: HashMap<Vec<Value>, u32> = HashMap::new();
    let mut rows: Vec<Vec<Value>> = vec![system.initial(control)?];
    numbers.insert(rows[0].clone(), 0);
    let mut builder = LtsBuilder::new(system.labels().clone());
    let mut explorer = system.explorer(control);
    let (mut at, mut level, mut level_ends) = (0, 0, 1);
    let mut hidden = Vec::new();
    while at < rows.len() {
        control.check()?;
        if extent.most.is_some_and(|most| rows.len() > most) {
            return Ok(None);
        }
        let last = extent.depth == Some(level);
        let row = rows[at].clone();
        hidden.push(0);
        explorer.successors(&row, &mut |step| {
            let next = rows.len() as u32;
            let target = match numbers.get(step.row) {
                Some(&known) => known,
                None if last => {
                    hidden[at] += 1;
                    return Ok(());
                }
                None => {
                    numbers.insert(step.row.to_vec(), next);
                    rows.push(step.row.to_vec());
                    next
                }
            };
            builder.add(StateId(at as u32), step.label, StateId(target));
            Ok(())
        })?;
        control.progress().add(1, 0);
        at += 1;
        if at == level_ends {
            (level, level_ends) = (level + 1, rows.len());
        }
    }
    builder.at_least(rows.len() as u32);
    let lts = builder.build(StateId(0));
    let components = narrator.components();
    let mut titles = Vec::new();
    let mut origins: BTreeMap<(u32, u32), BTreeSet<String>> = BTreeMap::new();
    if rows.len() <= EXPLAINED {
        for (number, row) in rows.iter().enumerate() {
            control.check()?;
            titles.push(title(&components, &narrator.states(row)));
            for step in lts.outgoing(StateId(number as u32)).iter().filter(|step| step.label == LabelId::TAU) {
                let event = narrator.step(row, step.label, &rows[step.target.index()], control)?.event;
                origins.entry((number as u32, step.target.0)).or_default().insert(event);
            }
        }
    } else {
        titles = (0..rows.len()).map(|number| format!("state {number}")).collect();
    }
    Ok(Some(Shown::whole(lts, titles, origins, hidden)))
}

/// A state in words: a line for each component.
pub(crate) fn title(components: &[Arc<str>], states: &[Arc<str>]) -> String {
    if let [only] = states {
        return only.to_string();
    }
    let line = |(name, state): (&Arc<str>, &Arc<str>)| {
        if name == state { name.to_string() } else { format!("{name}: {state}") }
    };
    let mut lines: Vec<String> = components.iter().zip(states).take(NAMED).map(line).collect();
    if states.len() > NAMED {
        lines.push(format!("… and {}", counted((states.len() - NAMED) as u64, "more component")));
    }
    lines.join("\n")
}

/// The system modulo an equivalence; a state keeps the words of the first that it stands for.
fn compressed(shown: &Shown, equivalence: Equivalence, control: &Control) -> Result<Shown, Stopped> {
    let small = minimise(&shown.lts, equivalence, control)?;
    let mut members: Vec<(usize, Option<usize>)> = vec![(0, None); small.lts.state_count()];
    let block = |state: u32| small.block_of(StateId(state)).map(|block| block.0);
    for state in 0..shown.lts.state_count() {
        if let Some(block) = block(state as u32) {
            let (count, first) = &mut members[block as usize];
            *count += 1;
            first.get_or_insert(state);
        }
    }
    let counts = members.iter().map(|&(count, _)| count.max(1)).collect();
    let titles = members.into_iter().map(|(count, first)| {
        let words = first.map_or("", |first| shown.titles[first].as_str());
        match count {
            0 | 1 => words.to_string(),
            _ => format!("{words}\nand {}", counted(count as u64 - 1, "equivalent state")),
        }
    });
    let titles = titles.collect();
    let mut origins: BTreeMap<(u32, u32), BTreeSet<String>> = BTreeMap::new();
    for ((source, target), events) in &shown.origins {
        if let (Some(source), Some(target)) = (block(*source), block(*target)) {
            origins.entry((source, target)).or_default().extend(events.iter().cloned());
        }
    }
    let hidden = vec![0; small.lts.state_count()];
    Ok(Shown { counts, ..Shown::whole(small.lts, titles, origins, hidden) })
}

fn report(
    file: &Path,
    (process, expression): (String, Option<&str>),
    mut shown: Shown,
    drawing: &Drawing,
    job: &Job,
) -> Result<GraphReport, Problem> {
    let equivalence = match drawing.compression {
        "branching" => Some(Equivalence::DivergenceBranching),
        "sbisim" => Some(Equivalence::Strong),
        "dbisim" => Some(Equivalence::DivergenceDelay),
        "wbisim" => Some(Equivalence::DivergenceWeak),
        _ => None,
    };
    let mut explored = None;
    if let Some(equivalence) = equivalence {
        explored = Some(Size::of(&shown.lts));
        shown = compressed(&shown, equivalence, &job.control)?;
    } else if drawing.compression == "components" {
        explored = Some(Size::of(&shown.lts));
        shown = shown.condensed(&job.control)?;
    }
    // Divergence is a property of the whole, and marks are found before a part is taken.
    let marks = marks(&shown, &job.control)?;
    let mut part = String::new();
    let mut kept: Vec<Mark> = marks.clone();
    if drawing.around.is_some() || drawing.depth.is_some() {
        let centre = drawing.around.unwrap_or(shown.lts.initial().0);
        if centre as usize >= shown.lts.state_count() {
            return Err(no_state(file, centre, shown.lts.state_count()));
        }
        let depth = drawing.depth.unwrap_or(AROUND);
        let (place, steps) = (drawing.around, counted(depth as u64, "step"));
        part = place.map_or_else(|| format!(", the first {steps}"), |state| format!(", {steps} around state {state}"));
        let whole = shown.numbers.iter().copied().zip(marks).collect::<HashMap<u32, Mark>>();
        shown = shown.around(centre, depth, drawing.around.is_some());
        kept = shown.numbers.iter().map(|number| whole[number]).collect();
    }
    let size = Size::of(&shown.lts);
    if size.states > drawing.most {
        return Err(too_large(file, expression, &more_than(drawing.most)).into());
    }
    let modulo = match drawing.compression {
        "none" => part,
        name => format!(" modulo {name}{part}"),
    };
    let graph = picture(&format!("{process}{modulo}"), &shown, &kept);
    let picture_format = picture_format(drawing)?;
    let direction = if drawing.direction == "right" { Direction::Right } else { Direction::Down };
    let options = Options { direction, nodes: drawing.most };
    let unreadable = |trouble: Trouble| match trouble {
        Trouble::Stopped(stopped) => Problem::Stopped(stopped),
        trouble => too_large(file, expression, &trouble.to_string()).into(),
    };
    let placed = match picture_format == "dot" && !drawing.data {
        true => None,
        false => Some(trefoil_draw::draw(&graph, options, &job.control).map_err(unreadable)?),
    };
    let text = match &placed {
        Some(placed) if picture_format != "dot" => placed.svg(),
        _ => trefoil_draw::dot(&graph),
    };
    let system = placed.filter(|_| drawing.data).map(|placed| data(&graph, &shown, &placed));
    let output = drawing.output.as_deref().filter(|output| output.as_os_str() != "-");
    if let Some(output) = output {
        save_picture(output, &text, picture_format, &job.control)?;
    }
    Ok(GraphReport {
        file: file.display().to_string(),
        process,
        size,
        explored,
        compression: drawing.compression,
        picture_format,
        output: output.map(|output| output.display().to_string()),
        picture: output.is_none().then_some(text),
        system,
        resources: Resources::new(&job.control),
    })
}

/// What is special about each state.
fn marks(shown: &Shown, control: &Control) -> Result<Vec<Mark>, Stopped> {
    let lts = &shown.lts;
    let diverging = diverging_states(lts, control)?;
    // A state without steps that only `✓` leads to has terminated; it is no deadlock.
    let (mut ended, mut entered) = (vec![true; lts.state_count()], vec![false; lts.state_count()]);
    for step in lts.transitions() {
        entered[step.target.index()] = true;
        ended[step.target.index()] &= step.label == LabelId::TICK;
    }
    let mark = |state: StateId| {
        let at = state.index();
        match (lts.outgoing(state).is_empty() && shown.hidden[at] == 0, diverging[at]) {
            // In a summary a state that stands for several has steps to itself.
            (true, _) if shown.counts[at] > 1 => Mark::Plain,
            (true, _) if entered[at] && ended[at] => Mark::Terminated,
            (true, _) => Mark::Deadlock,
            (_, true) => Mark::Diverging,
            _ => Mark::Plain,
        }
    };
    Ok(lts.states().map(mark).collect())
}

/// The graph that is drawn.
fn picture(process: &str, shown: &Shown, marks: &[Mark]) -> Graph {
    let lts = &shown.lts;
    let node = |state: StateId| {
        let at = state.index();
        let mark = if marks[at] == Mark::Plain && shown.hidden[at] > 0 { Mark::Continues } else { marks[at] };
        let mut title = shown.titles[at].clone();
        if mark != Mark::Plain {
            title = format!("{title}\n{}", mark.words());
        }
        let initial = shown.has_initial && state == lts.initial();
        Node { text: shown.text(at), title, mark, initial, ..Node::default() }
    };
    let mut edges = Vec::with_capacity(lts.transition_count());
    for (source, step) in lts.all_transitions() {
        let quiet = step.label == LabelId::TAU;
        let mut add =
            |label: String| edges.push(Edge { source: source.index(), target: step.target.index(), label, quiet });
        match shown.origins.get(&(source.0, step.target.0)).filter(|_| quiet) {
            Some(events) => events.iter().for_each(|event| add(event.clone())),
            None if quiet => add("τ".to_string()),
            None => add(lts.labels().get(step.label).to_string()),
        }
    }
    let (states, transitions) = (lts.state_count(), lts.transition_count());
    let caption =
        format!("{process}: {}, {}", counted(states as u64, "state"), counted(transitions as u64, "transition"));
    Graph { caption, nodes: lts.states().map(node).collect(), edges }
}

/// What is drawn, as data.
fn data(graph: &Graph, shown: &Shown, placed: &trefoil_draw::Drawing) -> SystemData {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut labels: Vec<String> = Vec::new();
    let mut edges = Vec::with_capacity(graph.edges.len());
    for edge in &graph.edges {
        let next = labels.len() as u32;
        let label = *numbers.entry(&edge.label).or_insert(next);
        if label == next {
            labels.push(edge.label.clone());
        }
        edges.push([edge.source as u32, label, edge.target as u32]);
    }
    let state = |(at, node): (usize, &Node)| {
        let middle = placed.nodes[at].area.middle();
        let tenth = |value: f64| (value * 10.0).round() / 10.0;
        StateData {
            number: shown.numbers[at],
            words: shown.titles[at].clone(),
            mark: node.mark.words(),
            count: shown.counts[at],
            x: tenth(middle.x),
            y: tenth(middle.y),
        }
    };
    let initial = graph.nodes.iter().position(|node| node.initial);
    SystemData { labels, states: graph.nodes.iter().enumerate().map(state).collect(), edges, initial }
}
