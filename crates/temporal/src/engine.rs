//! The engine for claims about runs that never end.
//!
//! The system is searched once, breadth-first on every core, and kept ([`crate::graph`]); each claim is then decided on
//! it ([`crate::product`]). A claim that a state must never have a letter, such as `[] p`, is decided by the search
//! itself, which ends with a shortest run to such a state. Before a long search the claim is checked on the first
//! levels: a run among these states is a run of the system.
//!
//! A system with symmetries is searched up to them: its propositions have the same values in all states of an orbit
//! (the front end gives a group that keeps them), so a quotient has a run with these letters exactly when the system
//! has one, and a lasso of the quotient is unwound to one of the system. Fairness needs more: [`crate::folded`].

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use trefoil_control::{Control, Stopped};
use trefoil_questions::{
    Answer, Asked, Counts, Engine, Evidence, Explored, Facts, Fairness, Found, Kind, Prepared, Question, Ready, Recur,
    Refusal, Says, Setting, Store, Task, Terms, Unanswered, UsedSymmetry,
};
use trefoil_symmetry::{Quotient, Refusal as NoSymmetry, Symmetry, Tally, Unwinding, strategy_named};
use trefoil_system::{Action, Automaton, Cube, Cut, LabelId, Labels, Path, System, TakenStep, Value};

use crate::folded::{FoldedStep, Folding};
use crate::graph::{Graph, IsBad, Searched, Watch, explore, proposition_marks};
use crate::lasso::{Chooser, FoldedLasso, Lasso};
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

    fn honours(&self, _: Kind, facts: &Facts, asked: &mut Asked) {
        if facts.agents {
            asked.take(Setting::Fairness);
        }
        if asked.store.is_none_or(|store| store == Store::Exact) {
            asked.take(Setting::Store);
        }
    }

    fn reduces_by_symmetry(&self) -> bool {
        true
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
        let claim = &recur.claims[recur.decided_as];
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
    /// How many states the representatives stand for, where it is known.
    total: Option<String>,
    /// The claims that were decided, with their evidence.
    decided: Mutex<Vec<(usize, Fairness, Option<Evidence>)>>,
}

impl Kept {
    fn decided(&self, claim: usize, fairness: Fairness) -> Option<Option<Evidence>> {
        let decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = decided.iter().filter(|(own, under, _)| (*own, *under) == (claim, fairness));
        known.next().map(|(_, _, evidence)| evidence.clone())
    }
}

/// What is searched.
#[derive(Clone, Copy)]
struct Searching<'s> {
    system: &'s dyn System,
    /// Where it is a quotient: this, and the action that makes it.
    quotient: Option<(&'s Quotient<'s>, &'s dyn Action)>,
}

impl Prepared for Claimed<'_> {
    fn admits(&self, _: &[LabelId], _: &Labels, _: &Control) -> Result<Result<(), String>, Stopped> {
        Ok(Err("claims are about states and not about labels".to_string()))
    }

    fn answer(&self, task: &Task<'_>, control: &Control) -> Result<Answer, Unanswered> {
        let Some(name) = task.strategy else {
            return Ok(self.decide(Searching { system: task.system, quotient: None }, control)?.0);
        };
        let Some(action) = task.system.action() else {
            return Err(Unanswered::refused("no symmetry of this system was proved, so it cannot be reduced by one"));
        };
        let strategy = strategy_named(name);
        let strategy = strategy.ok_or_else(|| Unanswered::refused(format!("there is no strategy {name}")))?;
        let symmetry = Symmetry::of_action(action, strategy, control).map_err(|refusal| match refusal {
            NoSymmetry::Unsuitable(why) => Unanswered::refused(why),
            NoSymmetry::Stopped(stopped) => Unanswered::from(stopped),
        })?;
        let mut quotient = Quotient::new(task.system, action, &symmetry, control)?;
        quotient.count(|_| true);
        let (mut answer, total_states) =
            self.decide(Searching { system: &quotient, quotient: Some((&quotient, action)) }, control)?;
        let moved = symmetry.group().orbits().into_iter().filter(|orbit| orbit.len() > 1);
        let named = |orbit: Vec<u32>| orbit.into_iter().map(|point| action.describe_point(point)).collect();
        answer.symmetry = Some(UsedSymmetry {
            order: symmetry.order().to_string(),
            structure: symmetry.structure().name(),
            strategy: symmetry.strategy().name,
            reason: symmetry.reason().to_string(),
            total_states,
            orbits: moved.map(named).collect(),
        });
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
    /// The answer, and how many states the representatives stand for, where that is known.
    fn decide(&self, searching: Searching<'_>, control: &Control) -> Result<(Answer, Option<String>), Unanswered> {
        let started = Instant::now();
        let Recur { claims, asked, decided_as, fairness, explored, .. } = self.recur;
        let mut answer = Answer::new("temporal", claims.len());
        let claim = &claims[decided_as];
        let forbidden = Forbidden {
            automaton: &self.forbidden,
            propositions: &claim.propositions,
            stutters: claim.stutters,
            fairness,
        };
        let mut known = kept(explored, searching.system, fairness != Fairness::None);
        // Bugs that lie near are found without all states: first a few levels are searched and checked, then all.
        for most in NEAR {
            if known.is_some() {
                break;
            }
            match self.explore(searching.system, &forbidden, most, control)? {
                Searched::Partial(graph) => {
                    answer.counts = counted(&graph.counts, Some(graph.states.bytes() as u64));
                    if let Some(evidence) = self.violation(&graph, &forbidden, searching, control)? {
                        answer.found[asked] = Found::Fails(evidence);
                        answer.counts.elapsed = started.elapsed();
                        return Ok((answer, None));
                    }
                }
                Searched::Complete(mut graph) => {
                    let tally = Tally::of(std::mem::take(&mut graph.classes));
                    let total = searching.quotient.and_then(|(quotient, _)| quotient.total([&tally].into_iter()));
                    let width = searching.system.layout().width();
                    let total = total.map(|total| total.to_string());
                    let kept: Arc<dyn Any + Send + Sync> =
                        Arc::new(Kept { graph: *graph, width, total, decided: Mutex::default() });
                    explored.put(Some(kept.clone()));
                    known = Some(kept);
                }
                Searched::Bad(path, counts) => {
                    answer.counts = counted(&counts, None);
                    let path = match searching.quotient {
                        Some((quotient, _)) => quotient.unwind(&path, control)?,
                        None => path,
                    };
                    answer.counts.elapsed = started.elapsed();
                    answer.found[asked] = Found::Fails(Evidence::Prefix(path));
                    return Ok((answer, None));
                }
                Searched::Cut(cut, counts) => {
                    return Err(Unanswered::Cut { cut, counts: Box::new(counted(&counts, None)) });
                }
            }
        }
        let known = known.expect("the last search is not limited");
        let kept = known.downcast_ref::<Kept>().expect("the engine keeps its own");
        let graph = &kept.graph;
        answer.counts = counted(&graph.counts, Some(graph.states.bytes() as u64));
        answer.complete = true;
        let evidence = match kept.decided(decided_as, fairness) {
            Some(evidence) => evidence,
            None => {
                let evidence = self.violation(graph, &forbidden, searching, control)?;
                let mut decided = kept.decided.lock().unwrap_or_else(PoisonError::into_inner);
                decided.push((decided_as, fairness, evidence.clone()));
                evidence
            }
        };
        answer.found[asked] = evidence.map_or(Found::Holds(None), Found::Fails);
        let states = self.forbidden.edges.len();
        answer.reductions.push(format!("automaton of {states} states, {}", Strength::of(&self.forbidden).name()));
        answer.counts.elapsed = started.elapsed();
        Ok((answer, kept.total.clone()))
    }

    /// A run that violates the claim, as far as the system was searched.
    fn violation(
        &self,
        graph: &Graph,
        forbidden: &Forbidden<'_>,
        searching: Searching<'_>,
        control: &Control,
    ) -> Result<Option<Evidence>, Unanswered> {
        control.progress().begin("looking for cycles", 0);
        let no_steps = self.recur.no_steps;
        let folding =
            searching.quotient.map(|(quotient, action)| Folding::new(quotient, action, graph, no_steps, control));
        let product = Product::new(graph, forbidden, folding.as_ref(), control)?;
        let Some(accepted) = product.accepted(control)? else { return Ok(None) };
        let chooser = Chooser::new(&product, searching.system, no_steps, control);
        let reached = "an accepting component is reached";
        let Some(folding) = &folding else {
            let lasso = chooser.lasso(&accepted)?.expect(reached);
            return Ok(Some(self.evidence(&chooser, graph, lasso)?));
        };
        let quotient = folding.quotient;
        if forbidden.fairness != Fairness::None {
            let FoldedLasso { stem, round } = chooser.folded(&accepted, folding)?.expect(reached);
            if round.iter().any(|(_, place)| place.is_some()) {
                let mut unwinding = Unwinding::new(quotient, control);
                let path = unwinding.path(&run(&chooser, &stem)?)?;
                let cycle = around(&chooser, &mut unwinding, path.last(), &round, control)?;
                return Ok(Some(Evidence::Lasso { path, cycle }));
            }
            // It ends, or rests in a last state.
            let cycle = round.iter().map(|&(state, _)| (state, None)).collect();
            let evidence = self.evidence(&chooser, graph, Lasso { stem, cycle })?;
            return Ok(Some(unwound(quotient, evidence, control)?));
        }
        let lasso = chooser.lasso(&accepted)?.expect(reached);
        let evidence = self.evidence(&chooser, graph, lasso)?;
        Ok(Some(unwound(quotient, evidence, control)?))
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

/// Evidence of a quotient as evidence of the system.
fn unwound(quotient: &Quotient<'_>, evidence: Evidence, control: &Control) -> Result<Evidence, Cut> {
    Ok(match evidence {
        Evidence::Prefix(path) => Evidence::Prefix(quotient.unwind(&path, control)?),
        Evidence::Lasso { path, cycle } => {
            let (path, cycle) = quotient.unwind_lasso(&path, &cycle, control)?;
            Evidence::Lasso { path, cycle }
        }
        other => other,
    })
}

/// Goes around a cycle of a quotient until the system is where it began.
fn around(
    chooser: &Chooser<'_>,
    unwinding: &mut Unwinding<'_>,
    home: &[Value],
    round: &[FoldedStep],
    control: &Control,
) -> Result<Vec<TakenStep>, Cut> {
    let rows: Vec<Vec<Value>> = round.iter().map(|&(state, _)| chooser.row(state)).collect();
    let mut cycle: Vec<TakenStep> = Vec::new();
    loop {
        for (row, (_, place)) in rows.iter().zip(round) {
            let place = place.expect("a round that moves moves on");
            if cycle.len() == cycle.capacity() {
                control.afford(cycle.len() * 2 * (size_of::<TakenStep>() + size_of_val(&row[..])))?;
            }
            cycle.push(unwinding.step_at(row, place as usize)?);
        }
        if cycle.last().is_some_and(|last| last.row == home) {
            return Ok(cycle);
        }
    }
}
