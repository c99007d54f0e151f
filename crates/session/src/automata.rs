//! The automata of formulas and claims: written as files, drawn.

use std::path::{Path, PathBuf};

use serde::Serialize;
use trefoil_control::{Control, counted};
use trefoil_draw::{Direction, Edge, Graph, Node, Options};
use trefoil_promela::program::ClaimSays;
use trefoil_source::{Diagnostic, Place, Sources};
use trefoil_system::{Automaton, Ltl, LtlId};
use trefoil_temporal::{Strength, Untranslated, automaton as translated, simplify, write_hoa};

use crate::check::language_of;
use crate::look::{drawn, save_picture};
use crate::ltl::read_ltl;
use crate::problem::{CANNOT_WRITE, REFUSED, TOO_LARGE_TO_DRAW};
use crate::{Choice, Job, Problem, Resources, promela};

/// How an automaton is written.
pub const FORMS: &[Choice] = &[
    Choice { name: "hoa", about: "the Hanoi omega-automata format, version 1" },
    Choice { name: "svg", about: "a picture for browsers, laid out" },
    Choice { name: "dot", about: "a graph for Graphviz, without a layout" },
];

/// Which automaton is wanted, and how.
#[derive(Clone, Debug)]
pub struct AutomatonTask {
    /// A Promela model, or an automaton in a file.
    pub file: Option<PathBuf>,
    /// A claim of the model, by its name or by its text in the list of questions.
    pub claim: Option<String>,
    /// A formula; without a file its propositions are names.
    pub ltl: Option<String>,
    /// Accept the runs that violate the formula.
    pub negate: bool,
    /// By its name in [`FORMS`]. When absent, the extension of the output chooses, and `hoa` is the default.
    pub form: Option<&'static str>,
    /// By its name in [`crate::look::DIRECTIONS`].
    pub direction: &'static str,
    /// Where it goes; into the report when absent or `-`.
    pub output: Option<PathBuf>,
}

/// An automaton was made.
#[derive(Clone, Debug, Serialize)]
pub struct AutomatonReport {
    /// What it accepts.
    pub accepts: String,
    /// How many states it has.
    pub states: usize,
    /// How many edges.
    pub edges: usize,
    /// How many acceptance sets.
    pub acceptance_sets: u32,
    /// How hard it is to check: terminal, weak or strong.
    pub strength: &'static str,
    /// Its propositions.
    pub propositions: Vec<String>,
    /// How it is written.
    pub form: &'static str,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The text, when it was not written anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// An automaton with the texts of its propositions.
struct Named {
    accepts: String,
    automaton: Automaton,
    propositions: Vec<String>,
}

fn refused(message: &str, place: Place) -> Problem {
    Problem::from(Diagnostic::error(REFUSED, message, place))
}

/// Makes an automaton and writes it.
pub fn automaton(task: &AutomatonTask, job: &Job) -> Result<AutomatonReport, Problem> {
    let form = form_of(task)?;
    let Named { accepts, automaton, propositions } = match &task.file {
        None => of_text(task, job)?,
        Some(file) if is_automaton(file) => of_file(file, task, job)?,
        Some(file) => of_model(file, task, job)?,
    };
    let text = match form {
        "hoa" => write_hoa(&automaton, &accepts, &propositions),
        picture => {
            let graph = graph(&automaton, &accepts, &propositions);
            let direction = if task.direction == "right" { Direction::Right } else { Direction::Down };
            let options = Options { direction, ..Options::default() };
            drawn(&graph, picture, options, &job.control)?
                .map_err(|why| Problem::from(Diagnostic::error(TOO_LARGE_TO_DRAW, why, Place::File(accepts.clone()))))?
        }
    };
    let output = task.output.as_deref().filter(|output| output.as_os_str() != "-");
    if let Some(output) = output {
        save_picture(output, &text, form, &job.control)?;
    }
    Ok(AutomatonReport {
        accepts,
        states: automaton.edges.len(),
        edges: automaton.edges.iter().map(Vec::len).sum(),
        acceptance_sets: automaton.marks,
        strength: Strength::of(&automaton).name(),
        propositions,
        form,
        output: output.map(|output| output.display().to_string()),
        document: output.is_none().then_some(text),
        resources: Resources::new(&job.control),
    })
}

fn is_automaton(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("hoa"))
}

fn form_of(task: &AutomatonTask) -> Result<&'static str, Problem> {
    let output = task.output.as_deref();
    let extension = output.and_then(Path::extension).and_then(|extension| extension.to_str());
    match (task.form, extension.map(str::to_ascii_lowercase).as_deref()) {
        (Some(form), _) => Ok(form),
        (None, Some("dot" | "gv")) => Ok("dot"),
        (None, Some("svg")) => Ok("svg"),
        (None, Some("png")) => Ok("png"),
        (None, Some("hoa") | None) => Ok("hoa"),
        (None, Some(other)) => {
            let place = Place::File(output.map_or_else(String::new, |output| output.display().to_string()));
            let message = format!("an automaton is not written as `.{other}`");
            let help = "name the file .hoa, .svg, .png, .dot or .gv";
            Err(Diagnostic::error(CANNOT_WRITE, message, place).help(help).into())
        }
    }
}

fn of_formula(ltl: &Ltl, root: LtlId, negate: bool, place: Place, control: &Control) -> Result<Automaton, Problem> {
    translated(ltl, root, negate, control).map_err(|wrong| match wrong {
        Untranslated::Stopped => Problem::Stopped(control.why()),
        other => refused(other.words(), place),
    })
}

fn of_text(task: &AutomatonTask, job: &Job) -> Result<Named, Problem> {
    let Some(text) = &task.ltl else {
        let message = "this command needs a model, a file with an automaton, or a formula (--ltl)";
        return Err(refused(message, Place::File("automaton".to_string())));
    };
    let mut sources = Sources::default();
    let id = sources.add("<ltl 1>", text.clone());
    let formula = read_ltl(text, id).map_err(|wrong| Problem::Script(vec![*wrong], sources))?;
    let place = Place::File("<ltl 1>".to_string());
    let automaton = of_formula(&formula.ltl, formula.root, task.negate, place, &job.control)?;
    let text = formula.written;
    let accepts = if task.negate { format!("!({text})") } else { text };
    Ok(Named { accepts, automaton, propositions: formula.atoms.into_iter().map(|atom| atom.text).collect() })
}

fn of_file(file: &Path, task: &AutomatonTask, job: &Job) -> Result<Named, Problem> {
    let place = || Place::File(file.display().to_string());
    if task.claim.is_some() || task.ltl.is_some() {
        return Err(refused("the file is an automaton already: give no claim and no formula", place()));
    }
    if task.negate {
        return Err(refused("--negate applies to formulas: an automaton is not complemented", place()));
    }
    let read = promela::read_automaton(file, job, &mut Sources::default())?;
    let automaton = simplify(read.automaton, &job.control)?;
    let propositions = read.propositions.into_iter().map(|proposition| proposition.text).collect();
    Ok(Named { accepts: read.name.unwrap_or_else(|| file.display().to_string()), automaton, propositions })
}

fn of_model(file: &Path, task: &AutomatonTask, job: &Job) -> Result<Named, Problem> {
    let place = || Place::File(file.display().to_string());
    if language_of(file, None)? != "promela" {
        let told = Diagnostic::error(REFUSED, "only Promela models have claims with automata", place());
        return Err(told.help("give a formula about labels alone: trefoil automaton --ltl TEXT").into());
    }
    if task.claim.is_some() && task.ltl.is_some() {
        return Err(refused("give a claim of the model or a formula, and not both", place()));
    }
    let formulas: Vec<String> = task.ltl.iter().cloned().collect();
    let script = promela::Script::open_with(file, &formulas, &[], job)?;
    let (program, sources) = script.program();
    let listed: Vec<String> = program.claims.iter().map(|claim| format!("{} {}", claim.kind, claim.name)).collect();
    let wanted = match (&task.ltl, &task.claim) {
        (Some(_), _) => listed.len().checked_sub(1),
        (None, Some(name)) => {
            listed.iter().position(|text| text == name || text.split_once(' ').is_some_and(|(_, own)| own == name))
        }
        (None, None) if listed.len() == 1 => Some(0),
        (None, None) => None,
    };
    let Some(wanted) = wanted else {
        let told = match &task.claim {
            Some(name) => Diagnostic::error(REFUSED, format!("the model has no claim `{name}`"), place()),
            None => Diagnostic::error(REFUSED, "this command needs a claim of the model", place()),
        };
        return Err(match listed.is_empty() {
            true => told.help("give a formula with --ltl").into(),
            false => told.help(format!("its claims are: {}", listed.join(", "))).into(),
        });
    };
    let claim = &program.claims[wanted];
    let propositions: Vec<String> =
        claim.propositions.iter().map(|&number| program.proposition_text(number, sources)).collect();
    let (automaton, accepts) = match &claim.says {
        ClaimSays::Formula(ltl, root) => {
            let text = ltl.text(*root, &|proposition| format!("({})", propositions[proposition as usize]));
            let accepts = if task.negate { format!("!({text})") } else { text };
            (of_formula(ltl, *root, task.negate, place(), &job.control)?, accepts)
        }
        ClaimSays::Automaton(_) if task.negate => {
            return Err(refused("--negate applies to formulas: a never claim is not complemented", place()));
        }
        ClaimSays::Automaton(automaton) => (simplify(automaton.clone(), &job.control)?, listed[wanted].clone()),
        ClaimSays::Refused(why) => return Err(refused(why, place())),
    };
    Ok(Named { accepts, automaton, propositions })
}

/// The graph that is drawn: acceptance sets of an edge as numbers in braces.
fn graph(automaton: &Automaton, accepts: &str, propositions: &[String]) -> Graph {
    let is_end = |state: usize| automaton.end == Some(state as u32);
    let node = |state: usize| Node {
        text: state.to_string(),
        title: if is_end(state) {
            format!("state {state}: accepts whatever follows")
        } else {
            format!("state {state}")
        },
        initial: automaton.initial.contains(&(state as u32)),
        ..Node::default()
    };
    let name = |proposition: u32| {
        let text = &propositions[proposition as usize];
        let is_name = text.chars().all(|letter| letter.is_alphanumeric() || "_@.[]".contains(letter));
        if is_name { text.clone() } else { format!("({text})") }
    };
    let edges = automaton.edges.iter().enumerate().flat_map(|(source, own)| own.iter().map(move |edge| (source, edge)));
    let edge = |(source, edge): (usize, &trefoil_system::AutomatonEdge)| {
        let marks = if is_end(source) { automaton.all_marks() } else { edge.marks };
        let sets: Vec<String> =
            (0..automaton.marks).filter(|at| marks >> at & 1 == 1).map(|at| at.to_string()).collect();
        let sets = if sets.is_empty() { String::new() } else { format!(" {{{}}}", sets.join(" ")) };
        let label = format!("{}{sets}", edge.letters.text(&name));
        Edge { source, target: edge.target as usize, label, quiet: false }
    };
    let states = counted(automaton.edges.len() as u64, "state");
    let sets = counted(u64::from(automaton.marks), "acceptance set");
    Graph {
        caption: format!("{accepts}: {states}, {sets}"),
        nodes: (0..automaton.edges.len()).map(node).collect(),
        edges: edges.map(edge).collect(),
    }
}
