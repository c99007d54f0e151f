//! Why a formula fails or holds, from the strategy of the player that wins its game.
//!
//! The strategy comes verified, cut to what can happen when the winner follows it. It is shown in two ways. One play of
//! it is a run of the model: a path to a state, or a run into a cycle. And all of it is a system: the states of the
//! model that the strategy visits, with the steps that it takes or has to answer ([`ProofSystem`]). Where the loser has
//! no choice, that system is the path or the lasso.
//!
//! Invariant: the formula has the same value in the system as in the model. Where the winner moves, the system has the
//! step that it takes; where the loser moves, the system has no step that the model does not have, and the strategy
//! answers those of the model. So the same strategy wins the game of the formula and the system. (After S. Cranen,
//! B. Luttik, T. Willemse, *Evidence for fixpoint logic*, 2015: such a system is a counterexample or a witness that is
//! smaller than the model.)
//!
//! Cost: linear in the strategy.

use std::collections::{BTreeMap, HashMap};
use std::path::Path as FilePath;
use std::sync::Arc;

use trefoil_check::formula::game::FormulaGame;
use trefoil_control::{Control, counted};
use trefoil_draw::{Edge, Graph, Node, Options};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_mcrl2::decompose::ComposedSystem;
use trefoil_questions::{Strategy, StrategyVertex};
use trefoil_source::{Diagnostic, Place};
use trefoil_system::replay::{Rejection, replay_path};
use trefoil_system::{Cut, LabelId, Labels, Path, StateId, System, TakenStep, Value, Writing};

use super::Script;
use crate::check::{Evidence, Finding, Move, Position, Run};
use crate::look::{drawn, save_picture};
use crate::problem::{CANNOT_WRITE, TOO_LARGE_TO_DRAW};
use crate::{Job, Problem};

/// Positions of larger proofs are counted and not listed.
const MOST_POSITIONS: usize = 10_000;

/// The text of a state in a picture has at most this many letters.
const LETTERS: usize = 48;

impl Script {
    /// A strategy in words: one play of it as a run of the model, and the part of the model that it needs. The game may
    /// be that of a decomposition; the run is one of the model then.
    pub(super) fn evidence(
        &self,
        game: &FormulaGame,
        strategy: &Strategy,
        holds: bool,
        composed: Option<&ComposedSystem>,
        job: &Job,
    ) -> Result<Evidence, Cut> {
        let event = |label: LabelId| -> String { game.labels().get(label).to_string() };
        let mut path = Path { start: game.model_row(&strategy.play.start).to_vec(), steps: Vec::new() };
        let mut cycle = Vec::new();
        for (place, (step, &group)) in strategy.play.steps.iter().zip(&strategy.groups).enumerate() {
            if !game.takes_step(group) {
                continue;
            }
            let taken = TakenStep { label: step.label, row: game.model_row(&step.row).to_vec() };
            let inside = strategy.back_to.is_some_and(|back_to| place >= back_to);
            if inside { cycle.push(taken) } else { path.steps.push(taken) }
        }
        if let Some(composed) = composed {
            (path, cycle) = composed.lasso_of_original(&path, &cycle, &job.control)?;
            replayed(&**composed.decomposition().original(), &path, &cycle, &job.control)?;
        }
        let mut before = &path.start;
        let mut told = Vec::new();
        for step in path.steps.iter().chain(&cycle) {
            told.push(self.model.step(before, step.label, &step.row, event(step.label), &self.sources));
            before = &step.row;
        }
        let initial = self.model.states(&path.start);
        let around = told.split_off(path.steps.len());
        let run = Run { initial, steps: told, cycle: around, offered: None, refused: None, waiting: Vec::new() };
        path.steps.extend(cycle);
        let trace: Vec<String> = path.steps.iter().map(|step| event(step.label)).collect();
        let story = self.model.story(&path, job);
        let states = |row: &[Value]| match composed {
            Some(_) => vec![Arc::from(format!("state {} of the decomposition", row[0]))],
            None => self.model.states(row),
        };
        let mut proof = Vec::new();
        let is_whole = strategy.positions == strategy.vertices.len() as u64;
        if is_whole && strategy.has_choices && strategy.vertices.len() <= MOST_POSITIONS {
            proof.extend(strategy.vertices.iter().map(|vertex| {
                Position {
                    part: game.node_text(&vertex.row),
                    states: states(game.model_row(&vertex.row)),
                    chosen: vertex.winner_moves,
                    moves: vertex
                        .moves
                        .iter()
                        .map(|&(group, label, to)| Move { event: game.takes_step(group).then(|| event(label)), to })
                        .collect(),
                }
            }));
        }
        let play = &strategy.play;
        let rows: Vec<&[Value]> =
            [&play.start[..]].into_iter().chain(play.steps.iter().map(|step| &step.row[..])).collect();
        let part = match strategy.back_to {
            Some(back_to) => game.cycle_text(&rows[back_to..]),
            None => game.end_text(&rows, &strategy.groups),
        };
        let finding = Finding::Formula {
            holds,
            proof,
            part,
            repeats: strategy.back_to.is_some(),
            has_choices: strategy.has_choices,
            positions: strategy.positions,
        };
        let components = self.model.components(&self.file);
        let system = is_whole.then(|| {
            ProofSystem::new(game, strategy, |row| match composed {
                Some(_) => format!("state {}", row[0]),
                None => crate::look::state_title(&components, &states(row)),
            })
        });
        Ok(Evidence {
            observed: Vec::new(),
            finding,
            length: path.steps.iter().filter(|step| step.label != LabelId::TAU).count(),
            trace,
            process: self.file.clone(),
            components,
            operators: self.model.operators(),
            runs: vec![run],
            story,
            system,
        })
    }
}

/// Walks a run into a cycle that was lifted from a decomposition, in the model itself.
fn replayed(model: &dyn System, path: &Path, cycle: &[TakenStep], control: &Control) -> Result<(), Cut> {
    let mut whole = path.clone();
    whole.steps.extend_from_slice(cycle);
    match replay_path(model, &whole, control) {
        Ok(()) if cycle.is_empty() || whole.last() == path.last() => Ok(()),
        Ok(()) => panic!("the cycle of a run that was lifted from a decomposition does not return"),
        Err(Rejection::Cut(cut)) => Err(cut),
        Err(rejection) => panic!("a run that was lifted from a decomposition is rejected: {rejection}"),
    }
}

/// The states of a model that a proof visits, with the steps that it takes or answers. The formula that it proves or
/// refutes has the same value there.
#[derive(Clone, Debug)]
pub struct ProofSystem {
    lts: Lts,
    /// For each state, the parts of the formula that the proof claims of it; none of them in large systems.
    claims: Vec<Vec<String>>,
    /// For each state, the state of the model; none of them in large systems.
    titles: Vec<String>,
    /// The steps that the proof does not choose but answers.
    answered: BTreeMap<(StateId, StateId), Vec<LabelId>>,
    /// Its labels as formulas write them.
    written: HashMap<LabelId, String>,
}

impl ProofSystem {
    fn new(game: &FormulaGame, strategy: &Strategy, title: impl Fn(&[Value]) -> String) -> ProofSystem {
        let mut numbers: HashMap<&[Value], u32> = HashMap::new();
        let mut rows: Vec<&[Value]> = Vec::new();
        for vertex in &strategy.vertices {
            let row = game.model_row(&vertex.row);
            numbers.entry(row).or_insert_with(|| {
                rows.push(row);
                rows.len() as u32 - 1
            });
        }
        let at = |vertex: &StrategyVertex| StateId(numbers[game.model_row(&vertex.row)]);
        let listed = strategy.vertices.len() <= MOST_POSITIONS;
        let mut claims: Vec<Vec<String>> = if listed { vec![Vec::new(); rows.len()] } else { Vec::new() };
        let (mut steps, mut answered) = (Vec::new(), BTreeMap::<_, Vec<LabelId>>::new());
        for vertex in &strategy.vertices {
            let source = at(vertex);
            if let Some(claims) = claims.get_mut(source.index()) {
                let claim = game.node_text(&vertex.row);
                if !claims.contains(&claim) {
                    claims.push(claim);
                }
            }
            for &(group, label, target) in &vertex.moves {
                if !game.takes_step(group) {
                    continue;
                }
                let target = at(&strategy.vertices[target]);
                steps.push((source, label, target));
                if !vertex.winner_moves {
                    answered.entry((source, target)).or_default().push(label);
                }
            }
        }
        steps.sort_unstable();
        steps.dedup();
        let written = steps.iter().map(|&(_, label, _)| (label, game.written_label(label))).collect();
        let mut builder = LtsBuilder::new(game.labels().clone());
        builder.at_least(rows.len() as u32);
        for (source, label, target) in steps {
            builder.add(source, label, target);
        }
        let titles = if listed { rows.iter().map(|row| title(row)).collect() } else { Vec::new() };
        ProofSystem { lts: builder.build(StateId(0)), claims, titles, answered, written }
    }

    /// The system.
    pub fn lts(&self) -> &Lts {
        &self.lts
    }

    /// The system with its labels as formulas write them, so that a formula can be checked again in a file.
    fn rewritten(&self) -> Lts {
        let labels = Arc::new(Labels::written(Writing::Brackets));
        let mut builder = LtsBuilder::new(labels.clone());
        builder.at_least(self.lts.state_count() as u32);
        for (source, step) in self.lts.all_transitions() {
            let label = match step.label {
                LabelId::TAU => LabelId::TAU,
                label => labels.name(&self.written[&label]),
            };
            builder.add(source, label, step.target);
        }
        builder.build(self.lts.initial())
    }

    /// How large it is, in words.
    pub fn size(&self) -> String {
        let (states, steps) = (self.lts.state_count() as u64, self.lts.transition_count() as u64);
        format!("{}, {}", counted(states, "state"), counted(steps, "transition"))
    }

    /// Writes it to a file whose extension says how: as a picture or as a transition system.
    pub fn save(&self, caption: &str, file: &FilePath, job: &Job) -> Result<(), Problem> {
        match EvidenceFormat::of(file)? {
            EvidenceFormat::System => crate::lts::write(&self.rewritten(), file, None, job),
            EvidenceFormat::Picture(format) => {
                let drawn = drawn(&self.graph(caption), format, Options::default(), &job.control)?;
                let picture = drawn.map_err(|why| {
                    let error = Diagnostic::error(TOO_LARGE_TO_DRAW, why, Place::File(file.display().to_string()));
                    error.help("write it as a system instead, to a file named .aut")
                })?;
                save_picture(file, &picture, format, &job.control)
            }
        }
    }

    /// States with what is claimed of them; steps that the proof chooses are solid, those that it answers dashed.
    fn graph(&self, caption: &str) -> Graph {
        let node = |state: StateId| {
            let at = state.index();
            let claims = self.claims.get(at).map(Vec::as_slice).unwrap_or_default();
            // A truth value says less than the part that has it.
            let said = claims.iter().rfind(|claim| *claim != "true" && *claim != "false").or(claims.last());
            let text = match said {
                // The values of variables come first: a picture cuts long texts.
                Some(claim) => match claim.rsplit_once(" with ") {
                    Some((part, values)) => cut(&format!("{at} ({values}): {part}"), LETTERS),
                    None => cut(&format!("{at}: {claim}"), LETTERS),
                },
                None => at.to_string(),
            };
            let title = [self.titles.get(at).cloned().unwrap_or_default()].into_iter().chain(claims.iter().cloned());
            Node { text, title: title.collect::<Vec<_>>().join("\n"), initial: at == 0, ..Node::default() }
        };
        let labels = self.lts.labels();
        let edge = |(source, step): (StateId, trefoil_lts::Transition)| {
            let label = labels.get(step.label).to_string();
            let answered = self.answered.get(&(source, step.target));
            let quiet = answered.is_some_and(|labels| labels.contains(&step.label));
            Edge { source: source.index(), target: step.target.index(), label, quiet }
        };
        Graph {
            caption: format!("{caption}; {}", self.size()),
            nodes: self.lts.states().map(node).collect(),
            edges: self.lts.all_transitions().map(edge).collect(),
        }
    }
}

/// A text of at most this many letters.
fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_string();
    }
    text.chars().take(letters - 1).chain(['…']).collect()
}

/// How evidence is written.
enum EvidenceFormat {
    System,
    /// A picture of this kind.
    Picture(&'static str),
}

impl EvidenceFormat {
    fn of(file: &FilePath) -> Result<EvidenceFormat, Problem> {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("aut" | "lts" | "fsm" | "json") => Ok(EvidenceFormat::System),
            Some("svg") => Ok(EvidenceFormat::Picture("svg")),
            Some("png") => Ok(EvidenceFormat::Picture("png")),
            Some("dot" | "gv") => Ok(EvidenceFormat::Picture("dot")),
            _ => {
                let place = Place::File(file.display().to_string());
                let error = Diagnostic::error(CANNOT_WRITE, "this name does not say how evidence is written", place);
                let help =
                    "name the file .aut, .lts, .fsm or .json for a system, .svg, .png, .dot or .gv for a picture";
                Err(error.help(help).into())
            }
        }
    }
}

/// Refuses, before any work, a file whose name does not say how evidence is written.
pub fn check_evidence_file(file: &FilePath) -> Result<(), Problem> {
    EvidenceFormat::of(file).map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trefoil_check::formula::{ActionSignature, Formula, Signature};
    use trefoil_lts::format::{Input, ReadOptions, read_lts};
    use trefoil_questions::{Asked, Evidence as Shown, Found};
    use trefoil_source::FileId;
    use trefoil_testkit::formulas::{Formula as Plain, LabelledSystem, SPECIFICATION};
    use trefoil_testkit::{Random, seed};

    use super::*;
    use crate::check::Claim;
    use crate::formulas::answered;

    fn signature() -> Signature {
        let mut mistakes = Vec::new();
        let read = trefoil_mcrl2::syntax::parse(SPECIFICATION, FileId(0), &mut mistakes);
        let typed = trefoil_mcrl2::processes::check(&read, SPECIFICATION, &mut mistakes).expect("a specification");
        let actions = typed.actions.iter();
        let actions =
            actions.map(|action| ActionSignature { name: action.name, sorts: action.sorts.clone() }).collect();
        Signature { data: typed.data, actions, ..Signature::default() }
    }

    /// Whether the formula holds, and the strategy that shows it.
    fn decided(formula: &Formula, lts: Lts) -> (Arc<FormulaGame>, bool, Strategy) {
        let job = Job::new(Control::unlimited(), 1);
        let game =
            Arc::new(FormulaGame::new(formula.clone(), Arc::new(lts), &job.control).expect("there is no budget"));
        let asked = Asked { witness: true, ..Asked::default() };
        let mut answer =
            answered(&game, None, Claim::Formula, &asked, &job).unwrap_or_else(|_| panic!("there is no budget"));
        match answer.found.swap_remove(0) {
            Found::Won(strategy) => (game, true, strategy),
            Found::Fails(Shown::Strategy(strategy)) => (game, false, strategy),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_formula_has_the_same_value_in_what_its_proof_needs() {
        let (signature, seed) = (signature(), seed());
        let (mut smaller, mut shapes) = (0, [0; 2]);
        for round in 0..500 {
            let mut random = Random::new(seed.wrapping_add(round));
            let system = LabelledSystem::random(&mut random);
            let text = Plain::random(&mut random).to_string();
            let context = format!("TREFOIL_SEED={}\n{text}\n{}", seed.wrapping_add(round), system.aut());
            let input = Input::text("test.aut", system.aut());
            let lts = read_lts(input, &ReadOptions::default(), &Arc::new(Labels::new()), &Control::default());
            let lts = lts.expect("an .aut file");
            let mut mistakes = Vec::new();
            let formula = Formula::read(&text, FileId(1), &signature, &mut mistakes).expect("a formula");
            let (game, holds, strategy) = decided(&formula, lts.clone());
            let proof = ProofSystem::new(&game, &strategy, |row| format!("state {}", row[0]));
            assert_eq!(proof.claims.len(), proof.lts.state_count());
            assert!(proof.claims.iter().all(|claims| !claims.is_empty()), "{context}");
            // Its states and steps are some of the model's.
            let model = |state: StateId| StateId(proof.titles[state.index()][6..].parse().expect("a number"));
            for (source, step) in proof.lts.all_transitions() {
                let there = lts.outgoing(model(source)).iter();
                let target = model(step.target);
                assert!(there.into_iter().any(|own| own.label == step.label && own.target == target), "{context}");
            }
            smaller += usize::from(proof.lts.transition_count() < lts.transition_count());
            shapes[usize::from(strategy.has_choices)] += 1;
            for lts in [proof.lts.clone(), proof.rewritten()] {
                let (_, again, _) = decided(&formula, lts);
                assert_eq!(again, holds, "of what the proof needs: {context}");
            }
            let picture = drawn(&proof.graph("a proof"), "svg", Options::default(), &Control::default());
            assert!(picture.expect("no budget").expect("it is small").contains("<svg"), "{context}");
        }
        assert!(smaller > 200 && shapes.iter().all(|&count| count > 50), "{smaller} {shapes:?}");
    }
}
