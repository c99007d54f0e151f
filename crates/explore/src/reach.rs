//! Engines that search for what must not be reached: steps that show errors, and states in which a system must not end.
//!
//! One search serves all goals of a question. It ends with the first finding for the question's own goal, unless the
//! user wants it to continue; when it was complete, every goal has its verdict and its shortest run.
//!
//! [`EXACT`] keeps every state. [`HASH_COMPACT`] and [`BITSTATE`] keep a few bits of each state ([`crate::probe`]):
//! what they find is real, but not finding anything is no proof.

use std::time::Instant;

use trefoil_control::{Control, Stopped};
use trefoil_questions::{
    Answer, Asked, Beyond, Counts, Coverage, Engine, Evidence, Facts, Found, Goal, Kind, Prepared, Question, Reach,
    Ready, Refusal, Setting, Store, Task, Terms, Unanswered,
};
use trefoil_system::{
    Cut, Explorer, LabelId, Labels, MarkId, Meaning, Path, SlotSet, StateId, System, TakenStep, Value,
};

use crate::probe::{Observer, Probe, ProbeEnd, Sighting, Traces, probe};
use crate::search::{
    End, Exploration, Finding, Options, Order, Proviso, Reducing, Stretch, Visited, Visitor, search_reducing,
    search_until,
};

/// A search for what must not be reached.
pub struct ReachEngine {
    name: &'static str,
    about: &'static str,
    reason: &'static str,
    sort: Sort,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Exact,
    HashCompact,
    Bitstate,
}

/// Keeps every state.
pub static EXACT: ReachEngine = ReachEngine {
    name: "exact",
    about: "breadth-first on every core; keeps every state, so finding nothing is a proof",
    reason: "every state is kept, so that finding nothing is a proof",
    sort: Sort::Exact,
};

/// Keeps 64 bits of a hash of each state.
pub static HASH_COMPACT: ReachEngine = ReachEngine {
    name: "hash-compact",
    about: "breadth-first on one core; keeps 8 bytes of a hash of each state, so finding nothing is no proof",
    reason: "--store asks for it",
    sort: Sort::HashCompact,
};

/// Keeps three bits for each state.
pub static BITSTATE: ReachEngine = ReachEngine {
    name: "bitstate",
    about: "breadth-first on one core; keeps three bits of a table for each state, so finding nothing is no proof",
    reason: "--store asks for it",
    sort: Sort::Bitstate,
};

impl Engine for ReachEngine {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn takes(&self, kind: Kind, _: &Facts) -> Result<(), Refusal> {
        match kind {
            Kind::Reach => Ok(()),
            _ => Err(Refusal::new(format!("{} looks for states and steps, and compares no processes", self.name))),
        }
    }

    fn honours(&self, _: Kind, facts: &Facts, asked: &mut Asked) {
        asked.take(Setting::KeepGoing);
        if facts.candidates && self.sort == Sort::Exact {
            asked.take(Setting::PartialOrder);
        }
        let own = match asked.store {
            None | Some(Store::Exact) => self.sort == Sort::Exact,
            Some(Store::HashCompact) => self.sort == Sort::HashCompact,
            Some(Store::Bitstate { .. }) => self.sort == Sort::Bitstate,
        };
        if own {
            asked.take(Setting::Store);
        }
    }

    fn reason(&self, _: &Facts) -> String {
        self.reason.to_string()
    }

    fn prepare<'q>(&self, question: Question<'q>, terms: &Terms<'_>, _: &Control) -> Result<Ready<'q>, Unanswered> {
        let Question::Reach(reach) = question else {
            return Err(Unanswered::refused(format!("{} takes only questions about what can be reached", self.name)));
        };
        let store = match (self.sort, terms.asked.store) {
            (Sort::Exact, _) => Store::Exact,
            (Sort::HashCompact, _) => Store::HashCompact,
            (Sort::Bitstate, Some(store @ Store::Bitstate { .. })) => store,
            (Sort::Bitstate, _) => Store::Bitstate { bytes: USUAL_TABLE },
        };
        Ok(Ready::Ready(Box::new(Reaching {
            engine: self.name,
            reach,
            store,
            until: (!terms.asked.keep_going).then_some(reach.asked),
            threads: terms.threads,
            partial_order: terms.asked.partial_order,
        })))
    }
}

/// How a search with fewer steps is reported.
pub const FEWER_STEPS: &str = "independent steps were taken in one order (partial-order reduction)";

/// How many states a search with all steps expands at most that follows one with fewer steps, for a shortest run: an
/// eighth of what that one has expanded, and no fewer than 65,536.
pub fn soon_after(expanded: u64) -> u64 {
    (expanded / 8).max(1 << 16)
}

/// The default size of a table.
const USUAL_TABLE: u64 = 64 << 20;

struct Reaching<'q> {
    engine: &'static str,
    reach: Reach<'q>,
    store: Store,
    /// The search ends with the first finding for this goal.
    until: Option<usize>,
    threads: usize,
    /// Are independent steps to be taken in one order only, where it is known which are? They are unless the user says
    /// no.
    partial_order: Option<bool>,
}

impl Prepared for Reaching<'_> {
    /// The front end that proves symmetries knows which errors a symmetry preserves; a search for goals has no labels
    /// of its own.
    fn admits(&self, _: &[LabelId], _: &Labels, _: &Control) -> Result<Result<(), String>, Stopped> {
        Ok(Ok(()))
    }

    fn answer(&self, task: &Task<'_>, control: &Control) -> Result<Answer, Unanswered> {
        let started = Instant::now();
        control.check()?;
        control.progress().begin("searching", 0);
        let mut answer = match self.store {
            Store::Exact => self.searched(task, control),
            Store::HashCompact => self.probed(task, Traces::HashCompact, control),
            Store::Bitstate { bytes } => self.probed(task, Traces::Bitstate { bytes }, control),
        }?;
        answer.counts.elapsed = started.elapsed();
        Ok(answer)
    }
}

impl Reaching<'_> {
    fn looking<'t>(&'t self, task: &Task<'t>) -> Looking<'t> {
        let system = task.system;
        let valid_end = system.mark(Meaning::ValidEnd).map(|mark| (mark, &system.marks()[mark.index()].reads));
        Looking { reach: &self.reach, system, first_error: system.first_error(), valid_end, values: Vec::new() }
    }

    fn answer_of(&self, complete: bool, counts: Counts, coverage: Option<Coverage>) -> Answer {
        let mut answer = Answer { complete, counts, coverage, ..Answer::new(self.engine, self.reach.goals.len()) };
        if complete {
            answer.found.fill(Found::Holds(None));
        }
        answer
    }

    fn evidence(&self, goal: usize, path: Path) -> Found {
        Found::Fails(match self.reach.goals[goal] {
            Goal::Error(_) => Evidence::Error(path),
            Goal::InvalidEnd => Evidence::InvalidEnd(path),
        })
    }

    fn searched(&self, task: &Task<'_>, control: &Control) -> Result<Answer, Unanswered> {
        let settings = Options { threads: self.threads, order: Order::Steps, ..Options::default() };
        let watch = || Watch {
            looking: self.looking(task),
            until: self.until,
            beyond: task.beyond,
            seen: self.reach.goals.iter().map(|_| None).collect(),
            broken: 0,
            classes: Vec::new(),
        };
        let (mut fewer_steps, why_not) = match self.partial_order {
            Some(false) => (false, None),
            _ => match task.system.reducing_explorer(control, &[]) {
                Ok(_) => (true, None),
                Err(why) => (false, Some(why)),
            },
        };
        let reducing = fewer_steps.then_some(Reducing { visible: &[], proviso: Proviso::One });
        let mut found: Exploration<Watch<'_>> = search_reducing(task.system, &settings, reducing, control, watch);
        if fewer_steps && matches!(found.end, End::Found(_)) {
            // The run that was found need not be shortest. Where a search with all steps finds one soon, that one is.
            let soon = soon_after(found.counts.expanded);
            if let Stretch::Ended(all) = search_until(task.system, &settings, None, soon, control, watch)
                && matches!(all.end, End::Found(_))
            {
                (found, fewer_steps) = (*all, false);
            }
        }
        let complete = match found.end {
            End::Complete => true,
            End::Found(_) => false,
            End::Cut(cut) => {
                let counts = Box::new(Counts {
                    states: found.counts.states,
                    transitions: found.counts.transitions,
                    levels: u64::from(found.counts.depth) + 1,
                    ..Counts::default()
                });
                return Err(Unanswered::Cut { cut, counts });
            }
        };
        let broken: u64 = found.visitors.iter().map(|watch| watch.broken).sum();
        let mut classes = Vec::new();
        for watch in &found.visitors {
            classes.resize(classes.len().max(watch.classes.len()), 0);
            classes.iter_mut().zip(&watch.classes).for_each(|(sum, count): (&mut u64, _)| *sum += count);
        }
        let counts = Counts {
            states: found.counts.states,
            transitions: found.counts.transitions + 1 - broken,
            levels: u64::from(found.counts.depth) + 1,
            waiting: found.counts.waiting,
            bytes: Some(found.states.bytes() as u64),
            classes,
            ..Counts::default()
        };
        let mut answer = self.answer_of(complete, counts, None);
        if fewer_steps {
            answer.fewer_steps = true;
            answer.reductions.push(FEWER_STEPS.to_string());
        }
        if let (Some(why), Some(true)) = (why_not, self.partial_order) {
            answer.notes.push(format!("checked without partial-order reduction: {why}"));
        }
        for goal in 0..self.reach.goals.len() {
            // When the search ended early, only the run to its own goal is a shortest one.
            if !complete && goal != self.reach.asked {
                continue;
            }
            let seen = found.visitors.iter().filter_map(|visitor| visitor.seen[goal].as_ref());
            let Some(seen) = seen.min_by(|one, other| one.compare(other, task.system)) else { continue };
            let path = found.path(task.system, seen.state, control)?;
            let mut path = path.expect("what was seen was expanded");
            if let Some((_, label, target)) = seen.step {
                path.steps.push(TakenStep { label, row: found.row(target) });
            }
            answer.found[goal] = self.evidence(goal, path);
        }
        Ok(answer)
    }

    fn probed(&self, task: &Task<'_>, traces: Traces, control: &Control) -> Result<Answer, Unanswered> {
        let mut glimpse = Glimpse {
            looking: self.looking(task),
            until: self.until,
            seen: vec![None; self.reach.goals.len()],
            broken: 0,
        };
        let probe: Probe = probe(task.system, traces, control, &mut glimpse);
        let mut counts = Counts {
            states: probe.states,
            transitions: probe.transitions + 1 - glimpse.broken,
            levels: u64::from(probe.depth) + 1,
            ..Counts::default()
        };
        let complete = match probe.end {
            ProbeEnd::Exhausted => true,
            ProbeEnd::Found => false,
            ProbeEnd::Cut(cut) => return Err(Unanswered::Cut { cut, counts: Box::new(counts) }),
        };
        counts.bytes = Some(probe.coverage.bytes);
        let coverage = Coverage {
            store: self.store,
            table_bytes: probe.coverage.bytes,
            hash_factor: probe.coverage.hash_factor,
            filled: probe.coverage.filled,
            expected_omissions: probe.coverage.expected_omissions,
        };
        let mut answer = self.answer_of(complete, counts, Some(coverage));
        for (goal, seen) in glimpse.seen.iter().enumerate() {
            let Some((number, step)) = seen.filter(|_| complete || goal == self.reach.asked) else { continue };
            control.progress().begin("searching for the run", 0);
            let mut path = probe.path(task.system, number, control)?;
            if let Some((place, label)) = step {
                let mut at = 0;
                let mut row = None;
                Cut::had_enough(task.system.explorer(control).successors(path.last(), &mut |step| {
                    if at == place {
                        row = Some(step.row.to_vec());
                        return Err(Cut::Enough);
                    }
                    at += 1;
                    Ok(())
                }))?;
                path.steps.extend(row.map(|row| TakenStep { label, row }));
            }
            answer.found[goal] = self.evidence(goal, path);
        }
        Ok(answer)
    }
}

/// The goals, and what recognising them needs.
struct Looking<'t> {
    reach: &'t Reach<'t>,
    system: &'t dyn System,
    first_error: LabelId,
    valid_end: Option<(MarkId, &'t SlotSet)>,
    /// Values that a mark reads.
    values: Vec<Value>,
}

impl<'t> Looking<'t> {
    /// May the system end in this state? Without a mark it may.
    fn is_valid_end(&mut self, row: &[Value], explorer: &mut dyn Explorer) -> Result<bool, Cut> {
        let Some((mark, reads)) = self.valid_end else { return Ok(true) };
        reads.values(row, &mut self.values);
        Ok(explorer.mark(mark, &self.values)? != 0)
    }

    fn goals<F: Fn(Goal) -> bool>(&self, wanted: F) -> impl Iterator<Item = usize> + use<'t, F> {
        let goals: &'t [Goal] = self.reach.goals;
        goals.iter().enumerate().filter(move |(_, goal)| wanted(**goal)).map(|(at, _)| at)
    }

    /// The kind of error that a step shows, and whether it is no transition; nothing when it shows none.
    #[inline]
    fn error(&self, label: LabelId) -> Option<(u32, bool)> {
        if label.0 < self.first_error.0 {
            return None;
        }
        let kind = self.system.error(label);
        (kind != 0).then(|| (kind, self.reach.no_steps.contains(kind)))
    }
}

/// Where a run ends that reaches a goal.
struct Seen {
    distance: u32,
    state: StateId,
    row: Vec<Value>,
    /// The place of the last step among those of the state, its label and its target.
    step: Option<(usize, LabelId, StateId)>,
}

impl Seen {
    /// Which of two runs to show: the same whatever the number of threads.
    fn compare(&self, other: &Seen, system: &dyn System) -> std::cmp::Ordering {
        let place = |seen: &Seen| seen.step.map(|(place, ..)| place);
        let by_row = || system.layout().compare(&self.row, &other.row);
        self.distance.cmp(&other.distance).then_with(by_row).then_with(|| place(self).cmp(&place(other)))
    }
}

struct Watch<'t> {
    looking: Looking<'t>,
    until: Option<usize>,
    beyond: Option<&'t Beyond<'t>>,
    /// By goal.
    seen: Vec<Option<Seen>>,
    /// Steps that only show an error.
    broken: u64,
    /// States that were found, by class.
    classes: Vec<u64>,
}

impl Watch<'_> {
    fn see(
        &mut self,
        goal: usize,
        distance: u32,
        state: &Visited<'_>,
        step: Option<(usize, LabelId, StateId)>,
    ) -> bool {
        let seen = || Seen { distance, state: state.id, row: state.row.to_vec(), step };
        match &mut self.seen[goal] {
            Some(known) if known.distance < distance => {}
            Some(known) if known.distance == distance => {
                let new = seen();
                if new.compare(known, self.looking.system).is_lt() {
                    *known = new;
                }
            }
            known => *known = Some(seen()),
        }
        self.until == Some(goal)
    }
}

impl Visitor for Watch<'_> {
    fn visit(&mut self, state: &Visited<'_>, explorer: &mut dyn Explorer) -> Result<Finding, Cut> {
        if state.steps.is_empty() && !self.looking.is_valid_end(state.row, explorer)? {
            let beyond = self.beyond.map_or(0, |beyond| beyond(state.row));
            for goal in self.looking.goals(|goal| goal == Goal::InvalidEnd) {
                self.see(goal, state.distance + beyond, state, None);
            }
        }
        // A run into an end state may get longer when it is mapped back from a reduction, so a later one may be the
        // shortest.
        if let Some(until) = self.until
            && self.looking.reach.goals[until] == Goal::InvalidEnd
            && self.seen[until].as_ref().is_some_and(|seen| seen.distance <= state.distance)
        {
            return Ok(Finding::State);
        }
        let mut reported = Finding::Nothing;
        for (index, edge) in state.steps.iter().enumerate() {
            if edge.fresh {
                let class = edge.class as usize;
                if class >= self.classes.len() {
                    self.classes.resize(class + 1, 0);
                }
                self.classes[class] += 1;
            }
            let Some((kind, no_step)) = self.looking.error(edge.label) else { continue };
            self.broken += u64::from(no_step);
            let step = Some((index, edge.label, edge.target));
            for goal in self.looking.goals(|goal| matches!(goal, Goal::Error(kinds) if kinds.contains(kind))) {
                if self.see(goal, state.distance + 1, state, step) && reported == Finding::Nothing {
                    reported = Finding::Step(index);
                }
            }
        }
        Ok(reported)
    }
}

/// The number of a state, and which of its steps is wrong, with its label.
type Glimpsed = (u64, Option<(usize, LabelId)>);

struct Glimpse<'t> {
    looking: Looking<'t>,
    until: Option<usize>,
    /// By goal.
    seen: Vec<Option<Glimpsed>>,
    broken: u64,
}

impl Glimpse<'_> {
    fn see(&mut self, goal: usize, number: u64, step: Option<(usize, LabelId)>) -> bool {
        self.seen[goal].get_or_insert((number, step));
        self.until == Some(goal)
    }
}

impl Observer for Glimpse<'_> {
    fn look(&mut self, state: &Sighting<'_>, explorer: &mut dyn Explorer) -> Result<Finding, Cut> {
        let mut over = false;
        if state.labels.is_empty() && !self.looking.is_valid_end(state.row, explorer)? {
            for goal in self.looking.goals(|goal| goal == Goal::InvalidEnd) {
                over |= self.see(goal, state.number, None);
            }
        }
        for (place, &label) in state.labels.iter().enumerate() {
            let Some((kind, no_step)) = self.looking.error(label) else { continue };
            self.broken += u64::from(no_step);
            for goal in self.looking.goals(|goal| matches!(goal, Goal::Error(kinds) if kinds.contains(kind))) {
                over |= self.see(goal, state.number, Some((place, label)));
            }
        }
        Ok(if over { Finding::State } else { Finding::Nothing })
    }
}
