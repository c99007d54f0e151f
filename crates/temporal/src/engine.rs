//! The engine for claims about runs that never end.
//!
//! The system is searched once, breadth-first on every core, and kept ([`crate::graph`]); each claim is then decided on
//! it ([`crate::product`]). A claim that a state must never have a letter, such as `[] p`, is decided by the search
//! itself, which ends with a shortest run to such a state.
//!
//! # Bugs that lie near, and budgets
//!
//! A long search pauses, at first after the level of the 20,000th state and then whenever it has 16 times as many. The
//! claim is decided on the levels that are complete, and then on a short depth-first walk ([`crate::walk`]): a run in
//! either is a run of the system. So a claim about a system of up to 20,000 states is shown violated by the component
//! nearest to the start, ties by rows; in a larger system by the nearest one of the first part, of search or walk, that
//! shows a violation. Every claim passes through the same parts in the same order, also where another claim's search
//! has kept them all, so the evidence depends neither on the threads nor on what else is checked.
//!
//! A claim about states, such as `[] p`, waits with what the first walk has found until the second pause, or until a
//! budget ends the search: a shorter run that the search finds until then is reported in its place.
//!
//! A claim such as `<> p` also holds already in a part when every run of the automaton ends in it: no pair of the
//! product has a state that was not expanded. Then the rest of the system is not searched.
//!
//! A proposition may have no value in a state, as where an index is outside its array. A claim whose automaton looks at
//! it there ([`crate::product`]) has no answer but this error; other claims have theirs. A violation in the same part
//! of the search that does without such a look is still reported: it is one whatever value the proposition is given.
//!
//! The search may use up three quarters of the time and two thirds of the memory that are left
//! ([`Control::reserving`]). If that is not enough, what it has expanded is a last part, and is checked with the rest
//! of the budgets: a violation in it is real, a claim whose runs all end in it holds, and only else is the answer
//! `unknown`. This part depends on the budgets and on the machine. Other claims are checked on it, too. An interrupt
//! ends everything at once.
//!
//! A system with symmetries is searched up to them: its propositions have the same values in all states of an orbit
//! (the front end gives a group that keeps them), so a quotient has a run with these letters exactly when the system
//! has one, and a lasso of the quotient is unwound to one of the system. Fairness needs more: [`crate::folded`].
//!
//! # Fewer steps
//!
//! Where a question names the propositions that matter ([`Recur::visible`]), independent steps are taken in one order:
//! no candidate has a step that may change one, and all its steps lead to later levels, or to states with all their
//! steps ([`Proviso::All`](trefoil_explore::Proviso::All)). So the searched system is fixed before any product is made,
//! and each run of the system has one in it that differs only in how often letters are repeated. Products are not
//! reduced further: choosing candidates in the product is unsound (Siegel, *What's wrong with on-the-fly partial order
//! reduction*, 2019).

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use trefoil_control::{Control, Stopped};
use trefoil_explore::{FEWER_STEPS, States, soon_after};
use trefoil_questions::{
    Answer, Asked, Counts, Engine, Evidence, Explored, Facts, Fairness, Found, Kind, Prepared, Question, Ready, Recur,
    Refusal, Says, Setting, Store, Task, Terms, Unanswered, UsedSymmetry,
};
use trefoil_symmetry::{Quotient, Refusal as NoSymmetry, Symmetry, Tally, Unwinding, strategy_named};
use trefoil_system::{Action, Automaton, AutomatonEdge, Cube, Cut, LabelId, Labels, Path, StateId, System, Value};

use crate::folded::Folding;
use crate::graph::{Graph, Growing, IsBad, Letter, Part, Recording, Searched, Watch, proposition_marks};
use crate::lasso::{Chooser, FoldedLasso, Lasso};
use crate::product::{Forbidden, Looked, Product, Shown};
use crate::runs::{around, evidence, run, unwound};
use crate::shorten::surroundings;
use crate::simplify::simplify;
use crate::strength::Strength;
use crate::translate::{Untranslated, automaton};
use crate::walk::walk;

/// Claims by automata.
pub struct TemporalEngine {
    near: u64,
}

/// Claims by automata.
pub static TEMPORAL: TemporalEngine = TemporalEngine::pausing_after(NEAR);

impl TemporalEngine {
    /// The engine with a first pause after another number of states than the usual one.
    pub const fn pausing_after(near: u64) -> TemporalEngine {
        TemporalEngine { near }
    }
}

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
        if facts.candidates {
            asked.take(Setting::PartialOrder);
        }
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
                // Where steps carry marks themselves, an edge that leads nowhere by its own may be wanted.
                if claim.passing == 0 { simplify(automaton.clone(), control)? } else { automaton.clone() }
            }
        };
        let mut forbidden = forbidden;
        // Where a run that ends does not count, accepting whatever follows is not enough: something has to follow.
        if !claim.stutters {
            forbidden.end = None;
        }
        Ok(Ready::Ready(Box::new(Claimed { recur, forbidden, threads: terms.threads, near: self.near })))
    }
}

/// How many states are expanded before the first pause, and how many times as many before each other one.
const NEAR: u64 = 20_000;
const FARTHER: u64 = 16;
/// How many states the search expands for each one of a walk.
const WALK: u64 = 16;

/// A claim with its automaton.
struct Claimed<'q> {
    recur: Recur<'q>,
    forbidden: Automaton,
    threads: usize,
    near: u64,
}

/// What is kept of a search.
struct Kept {
    graph: Graph,
    states: States,
    counts: trefoil_explore::Counts,
    width: usize,
    /// Why the search ended before it had all states, if it did.
    stopped: Option<Stopped>,
    /// How many states the representatives stand for, where it is known.
    total: Option<String>,
    /// The claims that were decided: with what was counted for evidence from a part, and the evidence.
    decided: Mutex<Vec<(usize, Fairness, Decided)>>,
}

/// What is known of a claim; with what was counted until then, where that is not all.
#[derive(Clone)]
enum Decided {
    Fails(Evidence, Option<trefoil_explore::Counts>),
    Holds(Option<trefoil_explore::Counts>),
    /// It looks at a proposition where it has no value.
    Undefined(Undefined, Option<trefoil_explore::Counts>),
    /// No run that was searched violates it, and some go on.
    Open,
}

/// A proposition that has no value where a claim looks at it.
#[derive(Clone)]
struct Undefined {
    /// Its number among those of the claim.
    proposition: u32,
    /// Why it has none.
    why: Cut,
}

/// What a part of the search says of a claim.
enum Seen {
    Fails(Evidence),
    /// Every run of the automaton was seen to its end.
    Holds,
    /// It looks at a proposition where it has no value.
    Undefined(Undefined),
    Open,
}

impl Kept {
    fn decided(&self, claim: usize, fairness: Fairness) -> Option<Decided> {
        let decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = decided.iter().filter(|(own, under, _)| (*own, *under) == (claim, fairness));
        known.next().map(|(_, _, decided)| decided.clone())
    }
}

impl Seen {
    /// With what was counted until then.
    fn decided(self, counts: Option<trefoil_explore::Counts>) -> Decided {
        match self {
            Seen::Fails(evidence) => Decided::Fails(evidence, counts),
            Seen::Holds => Decided::Holds(counts),
            Seen::Undefined(why) => Decided::Undefined(why, counts),
            Seen::Open => Decided::Open,
        }
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
fn kept(explored: &Explored, system: &dyn System, notes: bool) -> Option<Arc<dyn Any + Send + Sync>> {
    let known = explored.get()?;
    let width = system.layout().width();
    let fits = |kept: &Kept| kept.width == width && (kept.graph.keeps_notes() || !notes);
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
        let (shown, undefined) = proposition_marks(searching.system);
        let forbidden = Forbidden {
            automaton: &self.forbidden,
            propositions: &claim.propositions,
            stutters: claim.stutters,
            fairness,
            passing: claim.passing,
            shown: shown.len(),
        };
        let marks = [shown, undefined].concat();
        let bad = |letter: &[Value]| self.is_bad(&forbidden, letter);
        let bad: Option<&IsBad<'_>> = if self.is_about_states() { Some(&bad) } else { None };
        let notes = fairness != Fairness::None || claims.iter().any(|claim| claim.passing != 0);
        let visible = self.recur.visible;
        let watch = Watch { marks: &marks, no_steps: self.recur.no_steps, notes, bad, visible };
        let recording = Recording::new(searching.system, &watch);
        let deciding = Deciding { claimed: self, forbidden: &forbidden, searching, recording: &recording, control };
        let states = trefoil_control::counted(self.forbidden.edges.len() as u64, "state");
        answer.reductions.push(format!("automaton of {states}, {}", Strength::of(&self.forbidden).name()));
        answer.fewer_steps = visible.is_some();
        if answer.fewer_steps {
            answer.reductions.push(FEWER_STEPS.to_string());
        }
        let mut known = kept(explored, searching.system, notes);
        if known.is_none() {
            match deciding.search(self.threads)? {
                Outcome::Kept(kept) => {
                    let is_complete = kept.stopped.is_none();
                    let kept: Arc<dyn Any + Send + Sync> = Arc::new(*kept);
                    explored.put(Some(kept.clone()), is_complete);
                    known = Some(kept);
                }
                Outcome::Early(early) => {
                    let Early { evidence, counts, fewer_steps } = *early;
                    answer.counts = counts;
                    answer.fewer_steps = fewer_steps;
                    answer.counts.elapsed = started.elapsed();
                    answer.found[asked] = match evidence {
                        Some(evidence) => Found::Fails(evidence),
                        None => Found::Holds(None),
                    };
                    return Ok((answer, None));
                }
            }
        }
        let known = known.expect("what is searched is kept");
        let kept = known.downcast_ref::<Kept>().expect("the engine keeps its own");
        let decided = match kept.decided(decided_as, fairness) {
            Some(decided) => decided,
            None => {
                let decided = deciding.violation_in(kept)?;
                let mut all = kept.decided.lock().unwrap_or_else(PoisonError::into_inner);
                all.push((decided_as, fairness, decided.clone()));
                decided
            }
        };
        let bytes = Some(kept.states.bytes() as u64);
        answer.counts = counted(&kept.counts, bytes);
        answer.complete = kept.stopped.is_none();
        if let Decided::Fails(_, Some(part)) | Decided::Holds(Some(part)) | Decided::Undefined(_, Some(part)) = &decided
        {
            answer.counts = counted(part, bytes);
            answer.complete = false;
        }
        match (decided, kept.stopped) {
            (Decided::Fails(evidence, _), _) => answer.found[asked] = Found::Fails(evidence),
            (Decided::Holds(_), _) | (Decided::Open, None) => answer.found[asked] = Found::Holds(None),
            (Decided::Undefined(undefined, _), _) => {
                answer.counts.elapsed = started.elapsed();
                return Err(self.unanswered(undefined, answer.counts));
            }
            (Decided::Open, Some(stopped)) => {
                control.end_for(stopped);
                control.progress().begin("exploring", 0);
                control.progress().add(kept.counts.states, kept.counts.transitions);
                answer.counts.elapsed = started.elapsed();
                return Err(Unanswered::Cut { cut: Cut::Stopped, counts: Box::new(answer.counts) });
            }
        }
        answer.counts.elapsed = started.elapsed();
        let total = if answer.complete { kept.total.clone() } else { None };
        Ok((answer, total))
    }

    /// Is a state with these marks what the claim forbids?
    fn is_bad(&self, forbidden: &Forbidden<'_>, letter: &[Value]) -> bool {
        let (letter, end) = (forbidden.reading(letter), self.forbidden.end);
        let mut edges = self.forbidden.edges[0].iter().filter(|edge| Some(edge.target) == end);
        edges.any(|edge| letter.is_admitted(edge.letters) == Some(true))
    }

    /// That the asked claim looks at a proposition that has no value, with the place where it names that one.
    fn unanswered(&self, undefined: Undefined, counts: Counts) -> Unanswered {
        let Undefined { proposition, mut why } = undefined;
        let place = self.recur.claims[self.recur.asked].places.get(proposition as usize);
        if let (Cut::Wrong(wrong), Some(&place)) = (&mut why, place) {
            wrong.place = Some(place);
        }
        Unanswered::Cut { cut: why, counts: Box::new(counts) }
    }

    /// Does a claim about states look at a proposition that has no value in a state with some of these letters?
    fn looks_at_undefined(&self, forbidden: &Forbidden<'_>, graph: Part<'_>) -> bool {
        let looks = |edge: &AutomatonEdge, marks: &Letter| forbidden.reading(marks).looked_at(edge.letters) != 0;
        graph.letters().iter().any(|marks| self.forbidden.edges[0].iter().any(|edge| looks(edge, marks)))
    }

    /// Does the automaton wait in its first state until it reads one of some letters, and then accept?
    fn is_about_states(&self) -> bool {
        let Automaton { edges, initial, end: Some(end), .. } = &self.forbidden else { return false };
        let waits = edges[0].iter().any(|edge| edge.target == 0 && edge.letters == Cube::ALL);
        edges.len() == 2 && *end == 1 && initial[..] == [0] && waits
    }
}

/// How a claim is decided.
struct Deciding<'d> {
    claimed: &'d Claimed<'d>,
    forbidden: &'d Forbidden<'d>,
    searching: Searching<'d>,
    recording: &'d Recording<'d>,
    control: &'d Control,
}

/// What a search has brought.
enum Outcome {
    /// The steps, with the claim decided on all parts but the last.
    Kept(Box<Kept>),
    /// The claim was decided before the search was over.
    Early(Box<Early>),
}

/// What decided a claim before a search was over.
struct Early {
    /// A violation, or nothing where it holds.
    evidence: Option<Evidence>,
    counts: Counts,
    /// Were independent steps taken in one order only?
    fewer_steps: bool,
}

impl Deciding<'_> {
    /// Searches the system, and decides the claim at each pause.
    fn search(&self, threads: usize) -> Result<Outcome, Unanswered> {
        let Deciding { claimed, searching, recording, control, .. } = *self;
        control.progress().begin("exploring", 0);
        // A claim about states is decided with each state, and leaves nothing to be checked.
        let is_about_states = claimed.is_about_states();
        let mut exploring = if is_about_states { control.clone() } else { control.reserving() };
        let mut found_by_walk = None;
        let mut growing: Option<Growing<'_>> = None;
        let mut pause = claimed.near;
        let (graph, states, counts, stopped) = loop {
            match recording.search(growing.take(), pause, threads, &exploring, control)? {
                Searched::Paused(paused) => {
                    // Other claims will want the part.
                    let part = paused.part();
                    let seen = match is_about_states {
                        true if claimed.looks_at_undefined(self.forbidden, part) => self.seen(part, control)?,
                        true => self.shorter_than_walk(&mut found_by_walk, pause)?,
                        false => self.seen_at_pause(part, pause)?,
                    };
                    if found_by_walk.is_some() {
                        exploring = control.reserving();
                    }
                    let evidence = match seen {
                        Seen::Fails(evidence) => Some(Some(evidence)),
                        Seen::Holds => Some(None),
                        Seen::Undefined(undefined) => {
                            let counts = counted(&paused.counts(), Some(part.states.bytes() as u64));
                            return Err(claimed.unanswered(undefined, counts));
                        }
                        Seen::Open => None,
                    };
                    if let Some(evidence) = evidence {
                        let counts = counted(&paused.counts(), Some(paused.part().states.bytes() as u64));
                        let fewer_steps = recording.watch().visible.is_some();
                        return Ok(Outcome::Early(Box::new(Early { evidence, counts, fewer_steps })));
                    }
                    control.progress().begin("exploring", 0);
                    pause = pause.saturating_mul(FARTHER);
                    growing = Some(paused);
                }
                Searched::Complete(graph, states, counts) => break (graph, states, counts, None),
                Searched::Bad(path, counts) => {
                    let (path, counts, fewer_steps) = self.shortest(path, counts, threads)?;
                    let path = match searching.quotient {
                        Some((quotient, _)) => quotient.unwind(&path, control)?,
                        None => path,
                    };
                    let (evidence, counts) = (Some(Evidence::Prefix(path)), counted(&counts, None));
                    return Ok(Outcome::Early(Box::new(Early { evidence, counts, fewer_steps })));
                }
                Searched::Cut(cut, counts, kept) => {
                    let failed = |cut| Unanswered::Cut { cut, counts: Box::new(counted(&counts, None)) };
                    if let Some(evidence) = found_by_walk.filter(|_| cut == Cut::Stopped && control.check().is_ok()) {
                        let (evidence, counts) = (Some(evidence), counted(&counts, None));
                        let fewer_steps = recording.watch().visible.is_some();
                        return Ok(Outcome::Early(Box::new(Early { evidence, counts, fewer_steps })));
                    }
                    match kept {
                        // What was expanded is checked with what is left of the budgets, if something is.
                        Some((graph, states)) if cut == Cut::Stopped && !is_about_states && control.check().is_ok() => {
                            break (graph, states, counts, Some(exploring.why()));
                        }
                        _ => {
                            if cut == Cut::Stopped {
                                control.end_for(exploring.why());
                            }
                            return Err(failed(cut));
                        }
                    }
                }
            }
        };
        let mut graph = graph;
        let tally = Tally::of(std::mem::take(&mut graph.classes));
        let total = searching.quotient.and_then(|(quotient, _)| quotient.total([&tally].into_iter()));
        // Some states of the system are met by no order of steps that was taken.
        let has_all = stopped.is_none() && recording.watch().visible.is_none();
        let total = total.filter(|_| has_all).map(|total| total.to_string());
        let width = searching.system.layout().width();
        let kept = Kept { graph, states, counts, width, stopped, total, decided: Mutex::default() };
        // Nothing is left to be checked in the parts, nor anywhere where states decide.
        let whole = kept.graph.whole(&kept.states);
        let decided = match is_about_states && !claimed.looks_at_undefined(self.forbidden, whole) {
            true => Decided::Open,
            false => match self.seen(whole, control) {
                Ok(seen) => seen.decided(None),
                Err(Unanswered::Cut { cut, .. }) => {
                    return Err(Unanswered::Cut { cut, counts: Box::new(counted(&counts, None)) });
                }
                Err(refused) => return Err(refused),
            },
        };
        let mut all = kept.decided.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((claimed.recur.decided_as, claimed.recur.fairness, decided));
        drop(all);
        Ok(Outcome::Kept(Box::new(kept)))
    }

    /// The run to a bad state that a search with fewer steps has found, or a shortest one where a search with all steps
    /// finds that soon; and whether it was found with fewer steps.
    fn shortest(
        &self,
        path: Path,
        counts: trefoil_explore::Counts,
        threads: usize,
    ) -> Result<(Path, trefoil_explore::Counts, bool), Unanswered> {
        let Deciding { searching, recording, control, .. } = *self;
        if recording.watch().visible.is_none() {
            return Ok((path, counts, false));
        }
        let watch = Watch { visible: None, ..*recording.watch() };
        let with_all_steps = Recording::new(searching.system, &watch);
        match with_all_steps.search(None, soon_after(counts.expanded), threads, control, control)? {
            Searched::Bad(path, counts) => Ok((path, counts, false)),
            _ => Ok((path, counts, true)),
        }
    }

    /// The same on what another claim's search has kept: on each part as it was at the pause, and on the whole.
    fn violation_in(&self, kept: &Kept) -> Result<Decided, Unanswered> {
        let Deciding { claimed, forbidden, control, .. } = *self;
        let whole = kept.graph.whole(&kept.states);
        let is_about_states = claimed.is_about_states();
        if is_about_states
            && kept.stopped.is_none()
            && !claimed.looks_at_undefined(forbidden, whole)
            && !whole.letters().iter().any(|letter| claimed.is_bad(forbidden, letter))
        {
            return Ok(Decided::Open);
        }
        let mut found_by_walk = None;
        let mut pause = claimed.near;
        for (part, counts) in kept.graph.parts(&kept.states) {
            let seen = match is_about_states {
                true => match self.seen(part, control)? {
                    Seen::Open => self.shorter_than_walk(&mut found_by_walk, pause)?,
                    seen => seen,
                },
                false => self.seen_at_pause(part, pause)?,
            };
            if !matches!(seen, Seen::Open) {
                return Ok(seen.decided(Some(counts)));
            }
            pause = pause.saturating_mul(FARTHER);
        }
        Ok(match (self.seen(whole, control)?, found_by_walk) {
            (Seen::Open, Some(evidence)) => Decided::Fails(evidence, None),
            (seen, _) => seen.decided(None),
        })
    }

    /// What a part of the search says, or else a walk.
    fn seen_at_pause(&self, part: Part<'_>, pause: u64) -> Result<Seen, Unanswered> {
        match self.seen(part, self.control)? {
            Seen::Open => self.walked(pause),
            seen => Ok(seen),
        }
    }

    /// The same for a claim about states where the part has none that violates it. What the first walk finds waits for
    /// the next pause: until then the search may find a shortest run.
    fn shorter_than_walk(&self, found_by_walk: &mut Option<Evidence>, pause: u64) -> Result<Seen, Unanswered> {
        if let Some(evidence) = found_by_walk.take() {
            return Ok(Seen::Fails(evidence));
        }
        Ok(match self.walked(pause)? {
            Seen::Fails(evidence) if pause == self.claimed.near => {
                *found_by_walk = Some(evidence);
                Seen::Open
            }
            seen => seen,
        })
    }

    /// What a walk says.
    fn walked(&self, pause: u64) -> Result<Seen, Unanswered> {
        let Deciding { forbidden, searching, recording, control, .. } = *self;
        // It keeps the states that the search ends with.
        let watch = Watch { bad: None, ..*recording.watch() };
        let recording = &Recording::new(searching.system, &watch);
        let (graph, states) = walk(searching.system, recording, forbidden, pause.div_ceil(WALK), control)?;
        self.seen(graph.whole(&states), control)
    }

    /// What a part of the system says: perhaps a run in it violates the claim.
    fn seen(&self, graph: Part<'_>, control: &Control) -> Result<Seen, Unanswered> {
        control.progress().begin("looking for cycles", 0);
        let Deciding { claimed, forbidden, searching, .. } = *self;
        let no_steps = claimed.recur.no_steps;
        let folding =
            searching.quotient.map(|(quotient, action)| Folding::new(quotient, action, graph, no_steps, control));
        let product = Product::new(graph, forbidden, folding.as_ref(), control)?;
        let accepted = match product.accepted(control)? {
            Shown::Accepted(accepted) => accepted,
            Shown::Nothing { looked: Some(looked), .. } => return self.undefined(&looked, graph, control),
            Shown::Nothing { beyond: true, .. } => return Ok(Seen::Open),
            Shown::Nothing { beyond: false, .. } => return Ok(Seen::Holds),
        };
        let chooser = Chooser::new(&product, searching.system, no_steps, control);
        let reached = "an accepting component is reached";
        let Some(folding) = &folding else {
            let lasso = chooser.lasso(&accepted)?.expect(reached);
            return Ok(Seen::Fails(evidence(&chooser, graph, lasso)?));
        };
        let quotient = folding.quotient;
        // Where a step leads does not say what it passes: such a cycle is followed by the places of its steps.
        if forbidden.fairness == Fairness::None && forbidden.passing == 0 {
            let lasso = chooser.lasso(&accepted)?.expect(reached);
            let automaton = lasso.automaton;
            let evidence = unwound(quotient, evidence(&chooser, graph, lasso)?, control)?;
            return Ok(Seen::Fails(self.shortened(evidence, automaton)?));
        }
        let FoldedLasso { stem, round, automaton } = chooser.folded(&accepted, folding)?.expect(reached);
        if round.iter().any(|(_, place)| place.is_some()) {
            let mut unwinding = Unwinding::new(quotient, control);
            let path = unwinding.path(&run(&chooser, &stem)?)?;
            let cycle = around(&chooser, &mut unwinding, path.last(), &round, control)?;
            return Ok(Seen::Fails(self.shortened(Evidence::Lasso { path, cycle }, automaton)?));
        }
        // It ends, or rests in a last state.
        let cycle = round.iter().map(|&(state, _)| (state, None)).collect();
        let evidence = evidence(&chooser, graph, Lasso { stem, cycle, automaton })?;
        Ok(Seen::Fails(unwound(quotient, evidence, control)?))
    }

    /// Why a proposition has no value where the automaton looks at it: in the first of these states, by rows.
    fn undefined(&self, looked: &Looked, graph: Part<'_>, control: &Control) -> Result<Seen, Unanswered> {
        let Deciding { forbidden, searching, .. } = *self;
        let mut reader = graph.states.reader();
        let mut row = vec![0; searching.system.layout().width()];
        let mut least: Option<Vec<Value>> = None;
        for state in looked.states.iter() {
            reader.row(StateId(state), &mut row);
            if least.as_ref().is_none_or(|least| row < *least) {
                least = Some(row.clone());
            }
        }
        let least = least.expect("the automaton looks at it in a state");
        let proposition = forbidden.propositions[looked.proposition as usize];
        let why = searching.system.explorer(control).undefined(proposition, &least);
        Ok(Seen::Undefined(Undefined { proposition: looked.proposition, why }))
    }

    /// A lasso of the system whose cycle begins in this automaton state, or a shorter one.
    fn shortened(&self, evidence: Evidence, automaton: u32) -> Result<Evidence, Unanswered> {
        let Deciding { claimed, forbidden, searching, recording, control } = *self;
        let (Evidence::Lasso { path, cycle }, Some((quotient, _))) = (&evidence, searching.quotient) else {
            return Ok(evidence);
        };
        let system = quotient.system();
        let recording = Recording::new(system, recording.watch());
        let near = surroundings(system, &recording, forbidden, path.last(), cycle, control)?;
        let Some((graph, states)) = near.filter(|_| !cycle.is_empty()) else { return Ok(evidence) };
        let from_there = Automaton { initial: vec![automaton], ..claimed.forbidden.clone() };
        let product =
            Product::new(graph.whole(&states), &Forbidden { automaton: &from_there, ..*forbidden }, None, control)?;
        let Shown::Accepted(accepted) = product.accepted(control)? else { return Ok(evidence) };
        let chooser = Chooser::new(&product, system, claimed.recur.no_steps, control);
        let Some(lasso) = chooser.lasso(&accepted)? else { return Ok(evidence) };
        match crate::runs::evidence(&chooser, product.graph, lasso)? {
            Evidence::Lasso { path: on, cycle: shorter }
                if !shorter.is_empty() && on.steps.len() + shorter.len() < cycle.len() =>
            {
                let mut path = path.clone();
                path.steps.extend(on.steps);
                Ok(Evidence::Lasso { path, cycle: shorter })
            }
            _ => Ok(evidence),
        }
    }
}
