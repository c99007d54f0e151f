//! Questions about processes: refinement in the models of CSP, deadlock and divergence.
//!
//! The system is the one that explicit search goes through: the implementation beside the normal form of the
//! specification ([`beside`]). All of it is explored by chaining, and then asked, as sets of states:
//!
//! - *traces*: is there a step that the specification forbids? The relations know.
//! - *failures*: is there a stable state that refuses more than its node allows ([`offers`])?
//! - *divergences*: is there a greatest set of states, not empty, in which each has a silent step to another: νZ.
//!   pre_τ(Z)? A pair whose specification diverges is no state of the system, so that any such set is a violation.
//!
//! Where one is not empty a shortest run is searched by levels of visible events ([`rounds`]), as explicit search does,
//! and replayed by code that shares nothing with this. Counts are thus those of explicit search whenever it would go
//! through everything.
//!
//! Roscoe's *Understanding Concurrent Systems* (2010, chapter 8) has the explicit algorithms; for divergence by
//! greatest fixpoints see E. Emerson, C.-L. Lei, *Efficient model checking in fragments of the propositional
//! mu-calculus* (1986).

mod beside;
mod offers;
mod rounds;

use std::time::Instant;

use trefoil_control::{Control, Stopped};
use trefoil_diagrams::Set;
use trefoil_lts::NodeId;
use trefoil_questions::{Answer, Asked, Counts, Evidence, Found, Prepared, Question, Ready, Task, Terms, Unanswered};
use trefoil_refine::{Algorithm, Prepared as Specification, prepare_product};
use trefoil_system::replay::{Rejection, replay_deadlock, replay_divergence, replay_refinement};
use trefoil_system::{Cut, Explorer, Failure, LabelId, Labels, Model, Path, System, TakenStep, Value, Witness};

pub use beside::Beside;
use beside::FORBIDDEN;
use offers::Offers;
use rounds::{Finding, Run, Sought, diverging, nearest};

use crate::engine::{counts_so_far, symbolic_counts};
use crate::guided::Counting;
use crate::space::{Options, PHASE, Space};

/// Gets ready to answer a question about processes.
pub(crate) fn prepare<'q>(
    question: Question<'q>,
    terms: &Terms<'_>,
    control: &Control,
) -> Result<Ready<'q>, Unanswered> {
    let mut specification = None;
    match question {
        Question::Refine { specification: given, model } => {
            specification = Some(prepare_product(given, model, terms, control)?);
        }
        Question::Deadlock { model: Model::Traces } => {
            return Err(Unanswered::refused("the traces model does not observe deadlock; [F] and [FD] do"));
        }
        Question::Deadlock { .. } | Question::Divergence => {}
        _ => return Err(Unanswered::refused("the symbolic engine does not answer this question")),
    }
    let keep_going = keeps_going(terms.asked);
    Ok(Ready::Ready(Box::new(Observing { question, specification, keep_going, threads: terms.threads })))
}

fn keeps_going(asked: &Asked) -> bool {
    asked.keep_going
}

struct Observing<'q> {
    question: Question<'q>,
    specification: Option<Specification<'q>>,
    keep_going: bool,
    threads: usize,
}

impl Prepared for Observing<'_> {
    /// No symmetries are used.
    fn admits(&self, _: &[LabelId], _: &Labels, _: &Control) -> Result<Result<(), String>, Stopped> {
        Ok(Err("the symbolic engine uses no symmetries".to_string()))
    }

    fn answer(&self, task: &Task<'_>, control: &Control) -> Result<Answer, Unanswered> {
        let started = Instant::now();
        if task.system.observations().carries_acceptances() {
            return Err(Unanswered::refused(
                "the symbolic engine finds failures and divergences from transitions, and these states carry their own",
            ));
        }
        control.check()?;
        control.progress().begin(PHASE, 0);
        let mut answer = Answer::new("symbolic", 1);
        let normal_form = self.specification.as_ref().map(Specification::normal_form);
        if let Some(specification) = &self.specification {
            if specification.is_minimised() {
                let words = "specification minimised modulo divergence-preserving branching bisimulation";
                answer.reductions.push(words.to_string());
            }
            if self.is_normalised_on_the_way() {
                let words = "it was built as far as needed, and `--engine explicit` needs none";
                answer.notes.push(format!("{LARGE_NORMAL_FORM}; {words}"));
            }
        }
        let beside = Beside::new(normal_form.map(|known| &**known), task.system, control)?;
        // What components do together depends on nothing but their states. Only a network that is chased or has
        // priorities, which has one group with all slots, may be without an answer where no run leads.
        let width = task.system.layout().width();
        let anticipation = task.system.groups().iter().any(|group| group.inputs().len() < width);
        let options = Options { threads: self.threads, anticipation, ..Options::default() };
        let mut space = Space::new(&beside, &options, control)?;
        // Where everything is allowed from the beginning there is nothing to search.
        let allowed = normal_form.is_some_and(|known| known.initial() == NodeId::CHAOS);
        let mut witness = None;
        if allowed {
            answer.complete = true;
        } else {
            let explored = space.explore(|kind| !self.keep_going && kind == FORBIDDEN);
            if let Err(cut) = explored {
                let counts = Counts { elapsed: started.elapsed(), ..counts_so_far(&mut space) };
                if self.is_normalised_on_the_way() {
                    let progress = control.progress();
                    let sizes = progress.snapshot().detail;
                    progress.detail(format!("{sizes}; {LARGE_NORMAL_FORM}: `--engine explicit` needs none"));
                }
                return Err(Unanswered::Cut { cut, counts: Box::new(counts) });
            }
            answer.complete = space.is_complete();
            answer.counts = self.counts(&space, answer.complete, started)?;
            witness = self.witness(&beside, &mut space, control)?;
        }
        if let Some(symbolic) = &mut answer.counts.symbolic {
            symbolic.peak_nodes = space.diagrams().peak_nodes();
        }
        if let Some(witness) = &witness {
            control.progress().begin("replaying the witness", 0);
            self.replay(witness, task.system, control)?;
        }
        answer.found[0] = match witness {
            Some(witness) => Found::Fails(Evidence::Witness(witness)),
            None => Found::Holds(None),
        };
        let preparation = self.specification.as_ref().map(Specification::took).unwrap_or_default();
        answer.counts.preparation = preparation;
        answer.counts.elapsed = preparation + started.elapsed();
        Ok(answer)
    }
}

/// Why a check is slow, or has more states than an explicit search, which uses antichains then.
const LARGE_NORMAL_FORM: &str = "the normal form of the specification is too large";

impl Observing<'_> {
    /// Did the normal form of the specification grow too large to be built before the search?
    fn is_normalised_on_the_way(&self) -> bool {
        self.specification.as_ref().is_some_and(|known| known.algorithm() == Algorithm::Antichain)
    }

    fn model(&self) -> Model {
        match self.question {
            Question::Refine { model, .. } | Question::Deadlock { model } => model,
            _ => Model::FailuresDivergences,
        }
    }

    fn counts(&self, space: &Space<'_>, complete: bool, started: Instant) -> Result<Counts, Cut> {
        let transitions = if complete { Some(space.transitions(space.states())?) } else { None };
        Ok(Counts {
            specification_states: self.specification.as_ref().map_or(0, Specification::states),
            elapsed: started.elapsed(),
            ..symbolic_counts(space, &transitions.unwrap_or_default())?
        })
    }

    /// What is sought, once the space is explored, or a step that is forbidden was met.
    fn witness(&self, beside: &Beside<'_>, space: &mut Space<'_>, control: &Control) -> Result<Option<Witness>, Cut> {
        let model = self.model();
        let refines = matches!(self.question, Question::Refine { .. });
        let mut sought = Seeking {
            offers: (refines && model.observes_refusals()).then(|| Offers::new(beside, space)).transpose()?,
            deadlocks: matches!(self.question, Question::Deadlock { .. }),
            forbidden: refines,
            diverging: model.observes_divergence(),
        };
        // The states with findings, where all of these are of one kind.
        let mut known = None;
        if space.is_complete() {
            let states = space.states().clone();
            control.progress().begin("looking at all states", 0);
            let steps = sought.steps(space, &states)?;
            let diverging = sought.diverging(space, &states)?;
            let refusing = sought.states(space, &states)?;
            (sought.forbidden, sought.diverging) = (!steps.is_empty(), !diverging.is_empty());
            known = match [!steps.is_empty(), !diverging.is_empty(), !refusing.is_empty()] {
                [false, false, false] => return Ok(None),
                [true, false, false] => Some((steps, Finding::Step)),
                [false, true, false] => Some((diverging.clone(), Finding::Diverges(diverging))),
                [false, false, true] => Some((refusing, Finding::State)),
                _ => None,
            };
        }
        control.progress().begin("finding a shortest run", 0);
        let guided = match known {
            Some((states, finding)) => space.guided(&states, Counting::Events)?.map(|rows| Run::along(rows, finding)),
            None => None,
        };
        let run = match guided {
            Some(run) => run,
            None => nearest(space, &mut sought)?.expect("what was reached has a run"),
        };
        let explorer = beside.implementation().explorer(control);
        Telling { beside, space, explorer, control }.witness(run, &self.question).map(Some)
    }

    fn replay(&self, witness: &Witness, system: &dyn System, control: &Control) -> Result<(), Cut> {
        let replayed = match self.question {
            Question::Refine { specification, model } => {
                replay_refinement(specification, system, model, witness, control)
            }
            Question::Deadlock { model } => replay_deadlock(system, model, witness, control),
            _ => replay_divergence(system, witness, control),
        };
        match replayed {
            Ok(()) => Ok(()),
            Err(Rejection::Cut(cut)) => Err(cut),
            Err(rejection) => panic!("the search gave a witness that does not replay ({rejection}): {witness:?}"),
        }
    }
}

/// What a question seeks.
struct Seeking<'b> {
    /// States that refuse too much, where that is sought.
    offers: Option<Offers<'b>>,
    deadlocks: bool,
    forbidden: bool,
    diverging: bool,
}

impl<'s> Sought<'s> for Seeking<'_> {
    fn states(&mut self, space: &mut Space<'s>, round: &Set) -> Result<Set, Cut> {
        match &mut self.offers {
            Some(offers) => offers.refusing(space, round),
            None if self.deadlocks => space.deadlocks(round),
            None => Ok(space.diagrams.empty()),
        }
    }

    fn steps(&mut self, space: &mut Space<'s>, round: &Set) -> Result<Set, Cut> {
        if self.forbidden { space.erring(round, |kind| kind == FORBIDDEN) } else { Ok(space.diagrams.empty()) }
    }

    fn diverging(&mut self, space: &mut Space<'s>, level: &Set) -> Result<Set, Cut> {
        if self.diverging { diverging(space, level) } else { Ok(space.diagrams.empty()) }
    }

    fn steps_only(&self) -> bool {
        self.offers.is_none() && !self.deadlocks && !self.diverging
    }
}

/// From a run of rows to a witness of the implementation.
struct Telling<'t, 's> {
    beside: &'t Beside<'t>,
    space: &'t Space<'s>,
    explorer: Box<dyn Explorer + 't>,
    control: &'t Control,
}

impl Telling<'_, '_> {
    fn witness(mut self, run: Run, question: &Question<'_>) -> Result<Witness, Cut> {
        let Run { start, steps, finding } = run;
        let mut path = Path { start: self.beside.of_implementation(&start).to_vec(), steps: Vec::new() };
        let mut now = start;
        for (silent, row) in steps {
            let taken = self.least(&now, |label, target, node| {
                label.is_visible() != silent && target == self.beside.of_implementation(&row) && node == Some(row[0])
            })?;
            path.steps.push(taken.expect("the relations have only steps of the system"));
            now = row;
        }
        match finding {
            Finding::Step => {
                let taken = self.least(&now, |_, _, node| node.is_none())?;
                path.steps.push(taken.expect("a state has the step that was found"));
                Ok(Witness::Path { path, failure: Failure::Event })
            }
            Finding::State => {
                let failure = match question {
                    Question::Deadlock { .. } => Failure::Deadlock,
                    _ => Failure::Acceptance(self.offered(path.last())?),
                };
                Ok(Witness::Path { path, failure })
            }
            Finding::Diverges(inside) => self.lasso(path, now, &inside),
        }
    }

    /// The step of a state with the least label for which a condition holds: of the label, the next row of the
    /// implementation, and the next node, which is nothing where the specification forbids the step; without a
    /// specification that is the first value of the next row.
    fn least(
        &mut self,
        from: &[Value],
        mut wanted: impl FnMut(LabelId, &[Value], Option<Value>) -> bool,
    ) -> Result<Option<TakenStep>, Cut> {
        let labels = self.beside.implementation().labels();
        let mut least: Option<TakenStep> = None;
        let mut scratch = trefoil_lts::Scratch::default();
        let (beside, control) = (self.beside, self.control);
        self.explorer.successors(beside.of_implementation(from), &mut |step| {
            let node = match beside.specification() {
                Some(normal_form) if step.label.is_visible() => {
                    normal_form.successor(NodeId(from[0]), step.label, &mut scratch, control)?.map(|node| node.0)
                }
                Some(_) => Some(from[0]),
                None => step.row.first().copied(),
            };
            let is_less = |known: &TakenStep| {
                labels.compare(step.label, known.label).then_with(|| step.row.cmp(&known.row)).is_lt()
            };
            if wanted(step.label, step.row, node) && least.as_ref().is_none_or(is_less) {
                least = Some(TakenStep { label: step.label, row: step.row.to_vec() });
            }
            Ok(())
        })?;
        Ok(least)
    }

    /// The labels that a state offers, ascending.
    fn offered(&mut self, row: &[Value]) -> Result<Vec<LabelId>, Cut> {
        let mut labels = Vec::new();
        self.explorer.successors(row, &mut |step| {
            labels.push(step.label);
            Ok(())
        })?;
        labels.sort_unstable();
        labels.dedup();
        Ok(labels)
    }

    /// A run on from a state that diverges, always to the first state that diverges too, until one comes back.
    fn lasso(&mut self, mut path: Path, start: Vec<Value>, inside: &Set) -> Result<Witness, Cut> {
        let mut walk: Vec<Vec<Value>> = vec![start];
        let mut known: std::collections::HashMap<Vec<Value>, usize> = std::collections::HashMap::new();
        known.insert(walk[0].clone(), 0);
        loop {
            self.control.check()?;
            let now = walk[walk.len() - 1].clone();
            let node = self.beside.specification().map(|_| now[0]);
            let mut targets: Vec<Vec<Value>> = Vec::new();
            self.explorer.successors(self.beside.of_implementation(&now), &mut |step| {
                if step.label == LabelId::TAU {
                    targets.push(node.into_iter().chain(step.row.iter().copied()).collect());
                }
                Ok(())
            })?;
            targets.sort_unstable();
            let mut next = None;
            for target in targets {
                let here = self.space.single(&target)?;
                if !self.space.diagrams.intersection(&here, inside)?.is_empty() {
                    next = Some(target);
                    break;
                }
            }
            let next = next.expect("a state that diverges has a silent step to another");
            let row = self.beside.of_implementation(&next).to_vec();
            if let Some(&first) = known.get(&next) {
                let taken = |row: &Vec<Value>| TakenStep {
                    label: LabelId::TAU,
                    row: self.beside.of_implementation(row).to_vec(),
                };
                path.steps.extend(walk[1..=first].iter().map(taken));
                let cycle = walk[first + 1..].iter().map(taken).chain([TakenStep { label: LabelId::TAU, row }]);
                return Ok(Witness::Lasso { path, cycle: cycle.collect() });
            }
            known.insert(next.clone(), walk.len());
            walk.push(next);
        }
    }
}
