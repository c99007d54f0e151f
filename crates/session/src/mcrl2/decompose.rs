//! Decomposition of specifications: taken apart along their parameters, minimised, and composed again.

use std::collections::BTreeSet;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use trefoil_check::Reduction;
use trefoil_control::{Control, count, counted};
use trefoil_draw::{Direction, Edge, Graph, Node, Options};
use trefoil_lts::Lts;
use trefoil_lts::equivalence::Equivalence;
use trefoil_mcrl2::decompose::{
    Composed, ComposedSystem, Decomposition, Freedom, Hiding, Partition, Undone, WrittenInvariant, choose,
    decompose as taken_apart, read_invariant, written_parts,
};
use trefoil_mcrl2::system::{Model, NoModel};
use trefoil_questions::{Decompose, Evidence, Unanswered};
use trefoil_source::{Diagnostic, Place, nearest};
use trefoil_system::{Cut, Path, System};

use super::check::{OpenedModel, open_model};
use crate::check::{language_of, not_decomposed};
use crate::cspm::Warnings;
use crate::look::{draw_to, format_of};
use crate::lts::{check_output, name, write};
use crate::problem::{CANNOT_WRITE, Origin, REFUSED};
use crate::{Choice, Job, Problem, Resources, save};

/// The equivalences that a decomposition can keep.
pub const KEPT: &[Choice] = &[
    Choice { name: "strong", about: "strong bisimilarity: every formula has the same value" },
    Choice {
        name: "dpbranching",
        about: "divergence-preserving branching bisimilarity: internal steps that decide nothing vanish",
    },
];

/// What to decompose.
#[derive(Clone, Debug)]
pub struct Decomposing {
    /// The specification.
    pub file: PathBuf,
    /// The parts, as the user names them; none to choose them.
    pub partition: Option<String>,
    /// Invariants over the parameters that the user knows.
    pub invariants: Vec<String>,
    /// The equivalence that is kept, by its name in [`KEPT`].
    pub equivalence: &'static str,
    /// Where the last composition goes, if anywhere.
    pub output: Option<PathBuf>,
    /// The format of the output.
    pub format: Option<&'static str>,
    /// Where the picture goes, if anywhere.
    pub picture: Option<PathBuf>,
    /// The folder for two parts and their composition as specifications, if any.
    pub write_parts: Option<PathBuf>,
}

/// A specification in parts.
#[derive(Clone, Debug, Serialize)]
pub struct DecomposeReport {
    /// The file.
    pub file: String,
    /// The equivalence that was kept.
    pub equivalence: &'static str,
    /// The parts.
    pub parts: Vec<PartOfProcess>,
    /// The compositions, in the order in which they were made.
    pub compositions: Vec<CompositionReport>,
    /// Summands, with their cases apart, that one part does alone.
    pub alone: usize,
    /// Summands, with their cases apart, that several parts do together.
    pub together: usize,
    /// The pairs of parts that do summands together.
    pub synchronisation: Vec<PairReport>,
    /// The invariants that were used: what the user wrote, and what was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<String>,
    /// States of the largest part or composition, before it was minimised.
    pub peak_states: usize,
    /// States of the last composition, before it was minimised.
    pub states: usize,
    /// Transitions of the last composition, before it was minimised.
    pub transitions: usize,
    /// States of the last composition, minimised.
    pub minimised_states: usize,
    /// Transitions of the last composition, minimised.
    pub minimised_transitions: usize,
    /// The partitions that were tried, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<String>,
    /// Where the last composition was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Where the picture was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// The specifications that were written: both parts, and their composition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<String>,
    /// What is suspicious about the specification.
    pub warnings: Warnings,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// A part of a specification.
#[derive(Clone, Debug, Serialize)]
pub struct PartOfProcess {
    /// Its parameters, by their names in the linear process.
    pub parameters: Vec<String>,
    /// Those of them that other parts have, too.
    pub shared: Vec<String>,
    /// States.
    pub states: usize,
    /// Transitions.
    pub transitions: usize,
    /// States when minimised.
    pub minimised_states: usize,
    /// Transitions when minimised.
    pub minimised_transitions: usize,
}

/// Parts that were composed.
#[derive(Clone, Debug, Serialize)]
pub struct CompositionReport {
    /// The parts in it, by their numbers, from 1.
    pub parts: Vec<usize>,
    /// States.
    pub states: usize,
    /// Transitions.
    pub transitions: usize,
    /// States when minimised.
    pub minimised_states: usize,
    /// Transitions when minimised.
    pub minimised_transitions: usize,
}

/// Two parts that do summands together.
#[derive(Clone, Debug, Serialize)]
pub struct PairReport {
    /// The numbers of both.
    pub parts: [usize; 2],
    /// How many summands, with their cases apart.
    pub summands: usize,
}

/// Takes a specification apart, and composes it again.
pub fn decompose(task: &Decomposing, job: &Job) -> Result<DecomposeReport, Problem> {
    if let Some(why) = language_of(&task.file, None).ok().and_then(not_decomposed) {
        let message = format!("decomposition applies to mCRL2 specifications only: {why}");
        return Err(Diagnostic::error(REFUSED, message, Place::File(name(&task.file))).into());
    }
    check_output(task.output.as_deref(), task.format)?;
    if task.picture.as_deref() == Some(FilePath::new("-")) {
        let message = "the picture cannot go to standard output, where the report is written";
        let wrong = Diagnostic::error(CANNOT_WRITE, message, Place::File("-".to_string()));
        return Err(wrong.help("name a file, such as --picture parts.svg").into());
    }
    let picture = format_of(task.picture.as_deref(), None)?;
    let OpenedModel { file, sources, warnings, model, specification, text } = open_model(&task.file, job)?;
    let origin = Origin { file, sources };
    let (model, written) = observing(model, &task.invariants, &origin, job)?;
    let how = task.partition.clone().map_or(Decompose::Chosen, Decompose::By);
    let hidden: Hiding = Arc::new(|_| false);
    let invariants = (!written.is_empty()).then_some(&written[..]);
    let freedom = Freedom { equivalence: equivalence_named(task.equivalence), hidden: &hidden, invariants };
    let model = Arc::new(model);
    let (made, tried) =
        apart(&model, &how, &freedom, &job.control).map_err(|unanswered| problem(unanswered, &origin, job))?;
    let Some(made) = made else {
        let message = match tried.split_last() {
            Some((last, _)) => format!("this specification was not decomposed: {last}"),
            None => "this specification was not decomposed".to_string(),
        };
        let mut wrong = Diagnostic::error(REFUSED, message, Place::File(origin.file));
        for tried in tried.iter().rev().skip(1).rev() {
            wrong = wrong.note(tried.clone());
        }
        let is_divisible = model.linear().parameters.len() > 1;
        return Err(if is_divisible { wrong.help("choose the parts with --partition") } else { wrong }.into());
    };
    let mut files = Vec::new();
    if let Some(folder) = &task.write_parts {
        let [first, second] = &made.partition[..] else {
            let parts = counted(made.partition.len() as u64, "part");
            let message = format!("--write-parts writes two parts, and this decomposition has {parts}");
            let wrong = Diagnostic::error(REFUSED, message, Place::File(origin.file));
            return Err(wrong.help("choose two parts with --partition 'a,b / *'").into());
        };
        let texts = written_parts(made.original().linear(), [first, second], &written, &specification, &text);
        let [first, second] = &texts.parts;
        std::fs::create_dir_all(folder).map_err(|error| {
            let message = format!("cannot make this folder: {error}");
            Problem::from(Diagnostic::error(CANNOT_WRITE, message, Place::File(name(folder))))
        })?;
        for (file, text) in [("part1", first), ("part2", second), ("composition", &texts.composition)] {
            let file = folder.join(format!("{file}.mcrl2"));
            save(&file, text, &job.control)?;
            files.push(name(&file));
        }
    }
    if let Some(output) = &task.output {
        write(made.lts(), output, task.format, job)?;
    }
    let mut report = DecomposeReport::new(&made, task.equivalence, tried, origin.file, warnings, job);
    report.output = task.output.as_deref().map(name);
    report.written = files;
    if let Some(file) = &task.picture {
        let options = Options { direction: Direction::Right, ..Options::default() };
        draw_to(file, &report.graph(), picture, options, &job.control)?;
        report.picture = Some(name(file));
    }
    Ok(report)
}

/// The model with invariants that the user wrote, and their conjuncts.
fn observing(
    model: Model,
    invariants: &[String],
    origin: &Origin,
    job: &Job,
) -> Result<(Model, Vec<WrittenInvariant>), Problem> {
    if invariants.is_empty() {
        return Ok((model, Vec::new()));
    }
    let mut linear = model.linear().clone();
    let mut written = Vec::new();
    for text in invariants {
        let mut sources = origin.sources.clone();
        let file = sources.add("invariant", text);
        let read = read_invariant(&mut linear, text, file);
        written.extend(read.map_err(|diagnostics| Problem::Script(diagnostics, sources))?);
    }
    let conditions: Vec<_> = written.iter().map(|one| one.condition).collect();
    let model = Model::observing(Arc::new(linear), &conditions, model.labels().clone(), &job.control);
    let model = model.map_err(|NoModel::Unfinished(..)| Problem::Stopped(job.control.why()))?;
    Ok((model, written))
}

impl DecomposeReport {
    fn new(
        made: &Decomposition,
        equivalence: &'static str,
        tried: Vec<String>,
        file: String,
        warnings: Warnings,
        job: &Job,
    ) -> DecomposeReport {
        let original = made.original();
        let slots = original.layout().slots();
        let parts = made.partition.iter().zip(&made.parts).enumerate().map(|(number, (own, composed))| {
            let name = |&slot: &usize| slots[slot].name.clone();
            let is_shared = |slot: &&usize| {
                made.partition.iter().enumerate().any(|(other, part)| other != number && part.contains(slot))
            };
            PartOfProcess {
                parameters: own.iter().map(name).collect(),
                shared: own.iter().filter(is_shared).map(name).collect(),
                states: composed.states,
                transitions: composed.transitions,
                minimised_states: composed.minimised_states,
                minimised_transitions: composed.minimised_transitions,
            }
        });
        let composition = |composed: &Composed| CompositionReport {
            parts: composed.parts.iter().map(|part| part + 1).collect(),
            states: composed.states,
            transitions: composed.transitions,
            minimised_states: composed.minimised_states,
            minimised_transitions: composed.minimised_transitions,
        };
        let pair =
            |&(one, other, summands): &(usize, usize, usize)| PairReport { parts: [one + 1, other + 1], summands };
        DecomposeReport {
            file,
            equivalence,
            parts: parts.collect(),
            compositions: made.compositions.iter().map(composition).collect(),
            alone: made.synchronisation.alone,
            together: made.synchronisation.together,
            synchronisation: made.synchronisation.pairs.iter().map(pair).collect(),
            invariants: made.invariants.clone(),
            peak_states: made.peak_states(),
            states: made.lts().state_count(),
            transitions: made.lts().transition_count(),
            minimised_states: made.minimised().state_count(),
            minimised_transitions: made.minimised().transition_count(),
            tried,
            output: None,
            picture: None,
            written: Vec::new(),
            warnings,
            resources: Resources::new(&job.control),
        }
    }

    /// The picture: the parts, how many summands they do together, and the compositions that were made of them.
    fn graph(&self) -> Graph {
        let mut nodes: Vec<Node> = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            let text = format!("{}: {}", number + 1, crate::shortened(&part.parameters.join(", "), 60));
            let title = sizes(part.states, part.transitions, part.minimised_states, part.minimised_transitions);
            nodes.push(Node { text, title, ..Node::default() });
        }
        let together = |pair: &PairReport| Edge {
            source: pair.parts[0] - 1,
            target: pair.parts[1] - 1,
            label: counted(pair.summands as u64, "summand"),
            quiet: false,
        };
        let mut edges: Vec<Edge> = self.synchronisation.iter().map(together).collect();
        // The node that each part is in so far.
        let mut inside: Vec<usize> = (0..self.parts.len()).collect();
        for made in &self.compositions {
            let node = nodes.len();
            let title = sizes(made.states, made.transitions, made.minimised_states, made.minimised_transitions);
            let text = format!("{} → {}", counted(made.states as u64, "state"), count(made.minimised_states as u64));
            nodes.push(Node { text, title, ..Node::default() });
            let sources: BTreeSet<usize> = made.parts.iter().map(|&part| inside[part - 1]).collect();
            let edge = |source| Edge { source, target: node, label: String::new(), quiet: true };
            edges.extend(sources.into_iter().map(edge));
            made.parts.iter().for_each(|&part| inside[part - 1] = node);
        }
        Graph { caption: format!("the parts of {}", self.file), nodes, edges }
    }
}

fn sizes(states: usize, transitions: usize, small: usize, few: usize) -> String {
    format!(
        "{}, {}; minimised {}, {}",
        counted(states as u64, "state"),
        counted(transitions as u64, "transition"),
        counted(small as u64, "state"),
        counted(few as u64, "transition")
    )
}

fn equivalence_named(name: &str) -> Equivalence {
    name.parse().expect("the name comes from the table")
}

/// A decomposition that was not made, as the problem of a job.
fn problem(unanswered: Unanswered, origin: &Origin, job: &Job) -> Problem {
    match unanswered {
        Unanswered::Cut { cut, .. } => Problem::cut(cut, &job.control, origin),
        Unanswered::Refused(refusal) => {
            Diagnostic::error(REFUSED, refusal.why, Place::File(origin.file.clone())).into()
        }
    }
}

/// Takes a specification apart: the last composition, with a line about it; none where no partition is worth it.
pub(crate) fn in_parts(
    file: &FilePath,
    how: &Decompose,
    freedom: &Freedom<'_>,
    job: &Job,
) -> Result<(Option<Arc<Lts>>, String), Problem> {
    let OpenedModel { file, sources, model, .. } = open_model(file, job)?;
    let origin = Origin { file, sources };
    let (made, mut tried) =
        apart(&Arc::new(model), how, freedom, &job.control).map_err(|unanswered| problem(unanswered, &origin, job))?;
    Ok(match made {
        Some(made) => (Some(made.lts().clone()), format!("{}: {}", origin.file, words(&made))),
        None => (None, format!("{}: not decomposed: {}", origin.file, tried.pop().unwrap_or_default())),
    })
}

/// Takes a model apart as the user wants it. There is nothing where no partition is worth it; the lines say what was
/// tried, and the last one what came of it.
pub(crate) fn apart(
    model: &Arc<Model>,
    how: &Decompose,
    freedom: &Freedom<'_>,
    control: &Control,
) -> Result<(Option<Decomposition>, Vec<String>), Unanswered> {
    control.progress().begin("decomposing", 0);
    let undone = |undone: Undone| match undone {
        Undone::Cut(cut) => Unanswered::from(cut),
        Undone::Refused(why) => Unanswered::refused(why),
    };
    match how {
        Decompose::Chosen => {
            let chosen = choose(model, freedom, control).map_err(undone)?;
            Ok((chosen.decomposition, chosen.report))
        }
        Decompose::By(text) => {
            let partition = partition(text, model).map_err(Unanswered::refused)?;
            // Parts that the user names are made as small as possible.
            let freedom = Freedom { invariants: Some(freedom.invariants.unwrap_or_default()), ..*freedom };
            Ok((Some(taken_apart(model, &partition, &freedom, control).map_err(undone)?), Vec::new()))
        }
    }
}

/// A partition that the user wrote: `a,b / c,a / *`. A star stands for the parameters that are named nowhere.
fn partition(text: &str, model: &Model) -> Result<Partition, String> {
    let linear = model.linear();
    let slots = model.layout().slots();
    let mut parts: Vec<(Vec<usize>, bool)> = Vec::new();
    for written in text.split('/') {
        let mut part = (Vec::new(), false);
        for word in written.split(',').map(str::trim) {
            match word {
                "" => return Err(format!("a part of the partition `{text}` has an empty name")),
                "*" if parts.iter().any(|(_, rest)| *rest) || part.1 => {
                    return Err(format!("the partition `{text}` has more than one `*`"));
                }
                "*" => part.1 = true,
                word => part.0.push(parameter(word, linear, slots)?),
            }
        }
        parts.push(part);
    }
    let named: BTreeSet<usize> = parts.iter().flat_map(|(part, _)| part).copied().collect();
    let rest: Vec<usize> = (0..slots.len()).filter(|slot| !named.contains(slot)).collect();
    let star = parts.iter_mut().find(|(_, rest)| *rest);
    match star {
        Some((part, _)) => part.extend(&rest),
        None if rest.is_empty() => {}
        None => {
            let names: Vec<&str> = rest.iter().map(|&slot| slots[slot].name.as_str()).collect();
            let names = crate::shortened(&names.join(", "), 200);
            return Err(format!("no part of `{text}` has {names}; `*` stands for all that are not named"));
        }
    }
    if parts.len() < 2 {
        return Err(format!("the partition `{text}` has one part; parts are separated by `/`"));
    }
    if parts.iter().any(|(part, _)| part.is_empty()) {
        return Err(format!("no parameter is left for the `*` of `{text}`"));
    }
    Ok(parts.into_iter().map(|(part, _)| part).collect())
}

/// The place of a parameter, by its name in the linear process or, where only one has it, in the text.
fn parameter(
    word: &str,
    linear: &trefoil_mcrl2::linear::LinearProcess,
    slots: &[trefoil_system::Slot],
) -> Result<usize, String> {
    if let Some(place) = slots.iter().position(|slot| slot.name == word) {
        return Ok(place);
    }
    let same: Vec<usize> = (0..slots.len()).filter(|&slot| linear.parameters[slot].source == word).collect();
    match same[..] {
        [place] => Ok(place),
        [] => {
            let names = slots.iter().map(|slot| slot.name.as_str());
            let all: Vec<&str> = names.clone().collect();
            let hint = match nearest(word, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None if all.is_empty() => "it has no parameters".to_string(),
                None => format!("the parameters are {}", crate::shortened(&all.join(", "), 400)),
            };
            Err(format!("the linear process has no parameter `{word}`; {hint}"))
        }
        [..] => {
            let names: Vec<&str> = same.iter().map(|&slot| slots[slot].name.as_str()).collect();
            Err(format!("several processes have a parameter `{word}`: {}", names.join(", ")))
        }
    }
}

/// A decomposition that is searched in place of a specification.
pub(crate) struct InParts(ComposedSystem);

impl InParts {
    pub(crate) fn new(made: Decomposition) -> InParts {
        InParts(ComposedSystem::new(Arc::new(made)))
    }
}

/// A decomposition in one line.
pub(crate) fn words(made: &Decomposition) -> String {
    let parts = made
        .parts
        .iter()
        .map(|part| format!("{} → {}", count(part.states as u64), count(part.minimised_states as u64)));
    let parts: Vec<String> = parts.collect();
    format!(
        "decomposition into {} ({} states), composed with at most {} at a time",
        counted(parts.len() as u64, "part"),
        crate::shortened(&parts.join(", "), 120),
        counted(made.peak_states() as u64, "state")
    )
}

impl Reduction for InParts {
    fn system(&self) -> &dyn System {
        &self.0
    }

    fn words(&self) -> Option<String> {
        Some(words(self.0.decomposition()))
    }

    fn run_back(&self, path: Path, control: &Control) -> Result<Path, Cut> {
        self.0.run_of_original(&path, control)
    }

    fn back(&self, evidence: Evidence, control: &Control) -> Result<Evidence, Cut> {
        match evidence {
            Evidence::Error(path) => Ok(Evidence::Error(self.0.run_of_original(&path, control)?)),
            Evidence::InvalidEnd(path) => Ok(Evidence::InvalidEnd(self.0.deadlock_of_original(&path, control)?)),
            // No engine for the questions that specifications pose gives any other.
            other => Ok(other),
        }
    }
}
