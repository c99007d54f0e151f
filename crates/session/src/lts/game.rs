//! Equivalence of two files or models as a game, decided with decision diagrams: neither system is explored by itself.
//!
//! The game ([`trefoil_check::equivalence`]) goes to the table of engines as the game of a formula does. Labels get
//! their common names where they are met. Where the systems differ, a play shows it: steps of one system with the
//! answers of the other, until one has no answer or the play comes back; the strategy behind it has been verified.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use trefoil_check::equivalence::{EquivalenceGame, EquivalenceNotion, Exchange, LabelMap, Side};
use trefoil_check::{Offered, Posed, Table};
use trefoil_lts::equivalence::Equivalence;
use trefoil_promela::Exchanges;
use trefoil_questions::{Asked, EngineChoice, Evidence, Facts, Found, Question, Setting, Strategy, Unanswered};
use trefoil_source::{Diagnostic, Place};
use trefoil_system::{Cut, LabelId, Labels, System, Wrong};

use super::compare::{CompareReport, Comparing, Difference, PlayStep};
use super::minimise::{COUPLED, equivalence_named};
use super::models::{Common, Named, Opening, language, ordered, processes};
use super::{name, read};
use crate::check::Number;
use crate::look::{Looking, Subject};
use crate::problem::{Origin, REFUSED};
use crate::{Job, Problem, Resources, Verdict, promela};

/// A system, and where it comes from.
struct Unexplored {
    named: Named,
    system: Arc<dyn System>,
    origin: Origin,
}

/// The equivalences that are games, by their names.
const GAMES: [(&str, EquivalenceNotion); 3] = [
    ("strong", EquivalenceNotion::Strong),
    ("branching", EquivalenceNotion::Branching),
    ("dpbranching", EquivalenceNotion::DivergenceBranching),
];

fn notion(task: &Comparing) -> Result<EquivalenceNotion, Problem> {
    let equivalence = (task.equivalence != COUPLED.name).then(|| equivalence_named(task.equivalence));
    match equivalence {
        Some(Equivalence::Strong) => Ok(EquivalenceNotion::Strong),
        Some(Equivalence::Branching) => Ok(EquivalenceNotion::Branching),
        Some(Equivalence::DivergenceBranching) => Ok(EquivalenceNotion::DivergenceBranching),
        _ => {
            let message = format!("--engine symbolic does not decide {}", task.equivalence);
            let known: Vec<&str> = GAMES.iter().map(|(name, _)| *name).collect();
            let help = format!("it decides {} as games", known.join(", "));
            Err(Diagnostic::error(REFUSED, message, Place::File(name(&task.left))).help(help).into())
        }
    }
}

/// Opens a file or a model without exploring it.
fn unexplored(
    file: &Path,
    process: Option<String>,
    opening: &Opening,
    labels: &Arc<Labels>,
    job: &Job,
) -> Result<Unexplored, Problem> {
    let language = language(file, &opening.reading)?;
    let named = Named { file: name(file), language };
    let (system, origin): (Arc<dyn System>, Origin) = match language {
        None => {
            let lts = read(file, &opening.reading, labels, job)?;
            (Arc::new(ordered(&lts).unwrap_or(lts)), Origin::file(name(file)))
        }
        Some("promela") => {
            let (simulation, origin) = promela::Script::open(file, job)?.simulation(job)?;
            (Arc::new(Exchanges::new(simulation)), origin)
        }
        Some(language) => {
            let file = file.to_path_buf();
            let task = Looking { file, expression: process, language: Some(language), compress_leaves: true };
            let subject = Subject::open(&task, job)?;
            subject.shared_system()
        }
    };
    Ok(Unexplored { named, system, origin })
}

/// Decides whether two systems are equivalent, as a game.
pub(super) fn compare_symbolically(task: &Comparing, job: &Job) -> Result<CompareReport, Problem> {
    let notion = notion(task)?;
    if task.opening.decompose.is_some() {
        let message = format!("{} cannot be used together with --engine symbolic", Setting::Decompose.name());
        return Err(Diagnostic::error(REFUSED, message, Place::File(name(&task.left))).into());
    }
    let files = [&*task.left, &*task.right];
    let mut processes = processes(&files, &task.opening)?.into_iter();
    let labels = Arc::new(Labels::new());
    let mut opened = |file| unexplored(file, processes.next().flatten(), &task.opening, &labels, job);
    let sides = [opened(&task.left)?, opened(&task.right)?];
    let is_plain = task.opening.view.is_empty() && sides.iter().all(|side| side.named.language.is_none());
    let common =
        Common::new(&task.opening.view, [&sides[0].named, &sides[1].named], sides[0].system.labels().writing())?;
    let table = if is_plain { labels.clone() } else { common.table().clone() };
    // The names that are met, and the first label that cannot be compared.
    let shared: Arc<Mutex<(Common, Option<Diagnostic>)>> = Arc::new(Mutex::new((common, None)));
    let map = |side: &Unexplored| -> LabelMap {
        if is_plain {
            return Arc::new(Ok);
        }
        let (named, labels, shared) = (side.named.clone(), side.system.labels().clone(), shared.clone());
        Arc::new(move |label: LabelId| {
            let (common, refused) = &mut *shared.lock().unwrap_or_else(PoisonError::into_inner);
            common.image(&labels, label, &named).map_err(|diagnostic| {
                let wrong = Wrong { message: diagnostic.message.clone(), place: None, hint: None };
                refused.get_or_insert(*diagnostic);
                Cut::Wrong(Box::new(wrong))
            })
        })
    };
    let maps = [map(&sides[0]), map(&sides[1])];
    for side in &sides {
        side.system.initial(&job.control).map_err(|cut| Problem::cut(cut, &job.control, &side.origin))?;
    }
    let systems = [sides[0].system.clone(), sides[1].system.clone()];
    let cut = |cut: Cut| Problem::cut(cut, &job.control, &Origin::file(name(&task.left)));
    let game = Arc::new(EquivalenceGame::new(notion, systems, maps, table, &job.control).map_err(cut)?);
    let asked = Asked { engine: Some(EngineChoice::Symbolic), ..Asked::default() };
    let facts = Facts::of(&*game);
    let answer =
        Posed::new(Table::standard(), Question::Win, &facts, &asked, job.threads, &job.control).and_then(|posed| {
            posed.answer(&Offered { system: game.clone(), reduction: None, insisted: false }, &job.control)
        });
    let (common, refused) = &mut *shared.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(diagnostic) = refused.take() {
        return Err(diagnostic.into());
    }
    let answer = match answer {
        Ok(answer) => answer,
        Err(Unanswered::Refused(refusal)) => {
            return Err(Diagnostic::error(REFUSED, refusal.why, Place::File(name(&task.left))).into());
        }
        // Where a model is at fault, its text has the place.
        Err(Unanswered::Cut { cut, .. }) => {
            let origin = &sides[usize::from(game.at_fault() == Some(Side::Right))].origin;
            return Err(Problem::cut(cut, &job.control, origin));
        }
    };
    if answer.complete {
        common.has_all_visible(&sides[0].named.file)?;
    }
    let mut names = [sides[0].named.file.clone(), sides[1].named.file.clone()];
    if names[0] == names[1] {
        names = [format!("{} (first)", names[0]), format!("{} (second)", names[1])];
    }
    let (verdict, difference) = match &answer.found[0] {
        Found::Fails(Evidence::Strategy(strategy)) => (Verdict::Fails, Some(told(&game, strategy, &names))),
        _ => (Verdict::Holds, None),
    };
    let counted = |digits: Option<&String>, plain: u64| digits.map_or(plain.into(), |digits| Number::of_digits(digits));
    let symbolic = answer.counts.symbolic.as_ref();
    Ok(CompareReport {
        left: name(&task.left),
        right: name(&task.right),
        equivalence: task.equivalence,
        verdict,
        left_size: None,
        right_size: None,
        vertices: Some(counted(symbolic.map(|counts| &counts.states), answer.counts.states)),
        edges: Some(counted(symbolic.map(|counts| &counts.transitions), answer.counts.transitions)),
        engine: Some(answer.engine),
        peak_nodes: symbolic.map(|counts| counts.peak_nodes),
        solver: answer.solver,
        classes: None,
        difference,
        trace: None,
        decomposed: Vec::new(),
        resources: Resources::new(&job.control),
    })
}

/// A play that the systems' difference decides.
fn told(game: &EquivalenceGame, strategy: &Strategy, files: &[String; 2]) -> Difference {
    let file = |side: Side| files[usize::from(side == Side::Right)].clone();
    let exchanges = game.told(&strategy.play, &strategy.groups);
    let label = |label: LabelId| game.labels().get(label).to_string();
    let steps = exchanges.iter().map(|(_, exchange)| match exchange {
        Exchange::Challenge(side, own) => PlayStep::Takes { file: file(*side), label: label(*own) },
        Exchange::Answer(side, own) => PlayStep::Answers { file: file(*side), label: label(*own) },
        Exchange::Stay(side) => PlayStep::Stays { file: file(*side) },
        Exchange::Internal(side) => PlayStep::Internal { file: file(*side) },
        Exchange::Compare => PlayStep::Compared,
    });
    // The steps from which on the play repeats.
    let back_to = strategy.back_to.map(|back| exchanges.iter().filter(|(place, _)| *place < back).count());
    Difference::Play { steps: steps.collect(), back_to, positions: strategy.positions }
}
