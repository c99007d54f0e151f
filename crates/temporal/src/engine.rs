//! The engine for claims about runs that never end.
//!
//! The system is searched once, breadth-first on every core, and kept ([`crate::graph`]); each claim is then decided on
//! it ([`crate::product`]). A claim that a state must never have a letter, such as `[] p`, is decided by the search
//! itself, which ends with a shortest run to such a state. Before a long search the claim is checked on the first
//! levels: a run among these states is a run of the system.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use trefoil_control::{Control, Stopped};
use trefoil_questions::{
    Answer, Asked, Counts, Engine, Evidence, Explored, Facts, Fairness, Found, Kind, Prepared, Question, Ready, Recur,
    Refusal, Says, Setting, Store, Task, Terms, Unanswered,
};
use trefoil_system::{Automaton, Cube, Cut, LabelId, Labels, Path, System, Value};

use crate::graph::{Graph, IsBad, Searched, Watch, explore, proposition_marks};
use crate::lasso::{Chooser, Lasso};
use crate::product::{Forbidden, Product};
use crate::simplify::simplify;
use crate::strength::Strength;
use crate::translate::{Untranslated, automaton};

/// Claims by automata.
pub struct TemporalEngine;

/// Claims by automata.
pub static TEMPORAL: TemporalEngine = TemporalEngine;

impl Engine for TemporalEngine {
    fn name(&self) -> &'static str {
        "temporal"
    }

    fn about(&self) -> &'static str {
        "explores once on every core, keeps the steps, and decides claims on products with automata"
    }

    fn takes(&self, kind: Kind, _: &Facts) -> Result<(), Refusal> {
        match kind {
            Kind::Recur => Ok(()),
            _ => Err(Refusal::new("the temporal engine takes only claims about runs that never end")),
        }
    }

    fn honours(&self, _: Kind, _: &Facts, asked: &mut Asked) {
        asked.take(Setting::Fairness);
        if asked.store.is_none_or(|store| store == Store::Exact) {
            asked.take(Setting::Store);
        }
    }

    fn reason(&self, _: &Facts) -> String {
        "a claim about runs that never end is decided on the kept steps of one search".to_string()
    }

    fn prepare<'q>(
        &self,
        question: Question<'q>,
        terms: &Terms<'_>,
        control: &Control,
    ) -> Result<Ready<'q>, Unanswered> {
        let Question::Recur(recur) = question else {
            return Err(Unanswered::refused("the temporal engine takes only claims about runs that never end"));
        };
        let claim = &recur.claims[recur.asked];
        let forbidden = match &claim.says {
            Says::Holds(ltl, formula) => match automaton(ltl, *formula, true, control) {
                Ok(automaton) => automaton,
                Err(Untranslated::Stopped) => return Err(Cut::Stopped.into()),
                Err(other) => return Err(Unanswered::refused(other.words())),
            },
            Says::Accepts(automaton) => {
                if claim.propositions.len() > 64 {
                    return Err(Unanswered::refused("the claim has more than 64 different propositions"));
                }
                simplify(automaton.clone(), control)?
            }
        };
        let mut forbidden = forbidden;
        // Where a run that ends does not count, accepting whatever follows is not enough: something has to follow.
        if !claim.stutters {
            forbidden.end = None;
        }
        Ok(Ready::Ready(Box::new(Claimed { recur, forbidden, threads: terms.threads })))
    }
}

/// How many states are searched before the claim is checked on what was found; the last search has no limit.
const NEAR: [u64; 3] = [20_000, 500_000, u64::MAX];

/// A claim with its automaton.
struct Claimed<'q> {
    recur: Recur<'q>,
    forbidden: Automaton,
    threads: usize,
}

/// What is kept of a search.
struct Kept {
    graph: Graph,
    width: usize,
}

impl Prepared for Claimed<'_> {
    fn admits(&self, _: &[LabelId], _: &Labels, _: &Control) -> Result<Result<(), String>, Stopped> {
        Ok(Err("the temporal engine uses no symmetries".to_string()))
    }

    fn answer(&self, task: &Task<'_>, control: &Control) -> Result<Answer, Unanswered> {
        let started = Instant::now();
        let mut answer = Answer::new("temporal", self.recur.claims.len());
        let claim = &self.recur.claims[self.recur.asked];
        let forbidden = Forbidden {
            automaton: &self.forbidden,
            propositions: &claim.propositions,
            stutters: claim.stutters,
            fairness: self.recur.fairness,
        };
        let fair = self.recur.fairness != Fairness::None;
        let mut known = kept(self.recur.explored, task.system, fair);
        // Bugs that lie near are found without all states: first a few levels are searched and checked, then all.
        for most in NEAR {
            if known.is_some() {
                break;
            }
            match self.explore(task.system, &forbidden, most, control)? {
                Searched::Partial(graph) => {
                    answer.counts = counted(&graph.counts, Some(graph.states.bytes() as u64));
                    if let Some(evidence) = self.violation(&graph, &forbidden, task.system, control)? {
                        answer.found[self.recur.asked] = Found::Fails(evidence);
                        answer.counts.elapsed = started.elapsed();
                        return Ok(answer);
                    }
                }
                Searched::Complete(graph) => {
                    let kept = Kept { graph: *graph, width: task.system.layout().width() };
                    let kept: Arc<dyn Any + Send + Sync> = Arc::new(kept);
                    self.recur.explored.put(Some(kept.clone()));
                    known = Some(kept);
                }
                Searched::Bad(path, counts) => {
                    answer.counts = counted(&counts, None);
                    answer.counts.elapsed = started.elapsed();
                    answer.found[self.recur.asked] = Found::Fails(Evidence::Prefix(path));
                    return Ok(answer);
                }
                Searched::Cut(cut, counts) => {
                    return Err(Unanswered::Cut { cut, counts: Box::new(counted(&counts, None)) });
                }
            }
        }
        let kept = known.expect("the last search is not limited");
        let graph = &kept.downcast_ref::<Kept>().expect("the engine keeps its own").graph;
        answer.counts = counted(&graph.counts, Some(graph.states.bytes() as u64));
        answer.complete = true;
        let found = match self.violation(graph, &forbidden, task.system, control)? {
            None => Found::Holds(None),
            Some(evidence) => Found::Fails(evidence),
        };
        answer.found[self.recur.asked] = found;
        let states = self.forbidden.edges.len();
        answer.reductions.push(format!("automaton of {states} states, {}", Strength::of(&self.forbidden).name()));
        answer.counts.elapsed = started.elapsed();
        Ok(answer)
    }
}

/// What an earlier claim's search has kept of this system.
fn kept(explored: &Explored, system: &dyn System, fair: bool) -> Option<Arc<dyn Any + Send + Sync>> {
    let known = explored.get()?;
    let width = system.layout().width();
    let fits = |kept: &Kept| kept.width == width && (kept.graph.agents.is_some() || !fair);
    let fits = known.downcast_ref::<Kept>().is_some_and(fits);
    fits.then_some(known)
}

fn counted(counts: &trefoil_explore::Counts, bytes: Option<u64>) -> Counts {
    Counts {
        states: counts.states,
        transitions: counts.transitions + 1,
        levels: u64::from(counts.depth) + 1,
        waiting: counts.waiting,
        bytes,
        ..Counts::default()
    }
}

impl Claimed<'_> {
    /// A run that violates the claim, as far as the system was searched.
    fn violation(
        &self,
        graph: &Graph,
        forbidden: &Forbidden<'_>,
        system: &dyn System,
        control: &Control,
    ) -> Result<Option<Evidence>, Unanswered> {
        control.progress().begin("looking for cycles", 0);
        let product = Product::new(graph, forbidden, control)?;
        let Some(accepted) = product.accepted(control)? else { return Ok(None) };
        let chooser = Chooser::new(&product, system, self.recur.no_steps, control);
        let lasso = chooser.lasso(&accepted)?.expect("an accepting component is reached");
        Ok(Some(self.evidence(&chooser, graph, lasso)?))
    }

    fn explore(
        &self,
        system: &dyn System,
        forbidden: &Forbidden<'_>,
        most: u64,
        control: &Control,
    ) -> Result<Searched, Cut> {
        control.progress().begin("exploring", 0);
        let marks = proposition_marks(system);
        let bad = |letter: &[Value]| {
            let letter = forbidden.letter(letter);
            let end = self.forbidden.end;
            self.forbidden.edges[0].iter().any(|edge| Some(edge.target) == end && edge.letters.admits(letter))
        };
        let bad: Option<&IsBad<'_>> = if self.is_about_states() { Some(&bad) } else { None };
        let agents = self.recur.fairness != Fairness::None;
        let watch = Watch { marks: &marks, no_steps: self.recur.no_steps, agents, most, bad };
        explore(system, &watch, self.threads, control)
    }

    /// Does the automaton wait in its first state until it reads one of some letters, and then accept?
    fn is_about_states(&self) -> bool {
        let Automaton { edges, initial, end: Some(end), .. } = &self.forbidden else { return false };
        let waits = edges[0].iter().any(|edge| edge.target == 0 && edge.letters == Cube::ALL);
        edges.len() == 2 && *end == 1 && initial[..] == [0] && waits
    }

    /// The evidence that a lasso is: without the steps that repeat a last state.
    fn evidence(&self, chooser: &Chooser<'_>, graph: &Graph, lasso: Lasso) -> Result<Evidence, Cut> {
        let Lasso { mut stem, mut cycle } = lasso;
        let rests = |state: &u32| graph.record(*state).is_some_and(|record| record.targets.is_empty());
        if cycle.is_empty() {
            // The last state is the one behind the letter that decided.
            if let Some(end) = stem.iter().position(rests) {
                stem.truncate(end + 1);
            } else if stem.len() > 1 {
                stem.pop();
            }
            return Ok(Evidence::Prefix(run(chooser, &stem)?));
        }
        if let Some(end) = stem.iter().position(rests) {
            stem.truncate(end + 1);
            cycle.clear();
        }
        let path = run(chooser, &stem)?;
        let home = stem[stem.len() - 1];
        let cycle = chooser.run(home, cycle)?.steps;
        Ok(Evidence::Lasso { path, cycle })
    }
}

/// A run through states, from the initial one.
fn run(chooser: &Chooser<'_>, stem: &[u32]) -> Result<Path, Cut> {
    chooser.run(stem[0], stem[1..].iter().map(|&state| (state, None)))
}
