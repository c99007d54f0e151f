//! Stepping through a system by hand.
//!
//! A stepper stands somewhere on a *path*: the steps taken so far, and steps that the user took back and can take again
//! until another step replaces them. A run to follow, be it a witness or a saved one, is put on the path as if it had
//! been taken and taken back; so following it means going forward, and leaving it means taking another step.
//!
//! Offers are numbered in the order of their events, `τ` last. An offer is a label and a state, so two ways to do the
//! same with the same result are one offer.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use trefoil_control::Control;
use trefoil_lts::random::Random;
use trefoil_system::{Cut, LabelId, System, TakenStep, Value};

use super::words::Narrator;
use crate::Problem;
use crate::check::witness::natural;
use crate::check::{Part, Run, Step};
use crate::problem::Origin;
use crate::promela::{EndState, Statement, Story};

/// What is stepped through.
#[derive(Clone, Debug, Serialize)]
pub struct Told {
    /// The file it comes from.
    pub file: String,
    /// The process.
    pub process: String,
}

/// A step that can be taken.
#[derive(Clone, Debug, Serialize)]
pub struct Offer {
    /// Its number, from 1.
    pub number: usize,
    /// The event as it is seen: `a`, `τ`, or `τ (a)` when `a` was hidden.
    pub event: String,
    /// The components that take part, each with its own event.
    pub parts: Vec<Part>,
    /// The states that change.
    pub changes: Vec<Change>,
    #[serde(skip)]
    label: LabelId,
    #[serde(skip)]
    row: Vec<Value>,
}

impl Offer {
    /// Is it an internal step?
    pub fn is_internal(&self) -> bool {
        !self.label.is_visible()
    }
}

/// A component that is in another state than before.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// The component, by its place among the components.
    pub component: usize,
    /// Its state now.
    pub state: Arc<str>,
}

/// Where a stepper stands.
#[derive(Clone, Debug, Serialize)]
pub struct Situation {
    /// How many steps were taken.
    pub taken: usize,
    /// How many steps can be taken again.
    pub ahead: usize,
    /// The state of each component.
    pub states: Vec<Arc<str>>,
    /// Those that the last step changed; all of them at the beginning.
    pub changed: Vec<usize>,
    /// The event of the last step.
    pub event: Option<String>,
    /// The components that took part in it.
    pub parts: Vec<Part>,
    /// Promela: its statements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<Statement>,
}

/// What cannot happen in a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Refusals {
    /// There are internal steps, so this state refuses nothing stably.
    Unstable,
    /// The state is stable.
    Stable {
        /// What it offers.
        offered: Vec<String>,
        /// What it refuses, of the events that may occur at all.
        refused: Vec<String>,
    },
    /// The state stands for several and carries what those could do.
    Carried {
        /// The minimal sets of events that are stably accepted.
        acceptances: Vec<Vec<String>>,
        /// Can it diverge?
        diverges: bool,
    },
}

/// Why a text does not name one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// There is no such offer.
    Nothing,
    /// There are several, with these numbers.
    Several(Vec<usize>),
}

/// A step of a recorded run.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its event.
    pub event: String,
    /// The states afterwards, if they were recorded.
    pub states: Option<Vec<String>>,
}

/// How far a recorded run could be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// To its end, states included.
    Exactly,
    /// To its end, but through states with other descriptions.
    ByEvents,
    /// So many steps; the next one cannot be taken.
    Until(usize),
}

/// A walk at random.
#[derive(Clone, Debug, Serialize)]
pub struct WalkReport {
    /// What was walked through.
    #[serde(flatten)]
    pub told: Told,
    /// The seed; absent when a run was followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The components.
    pub components: Vec<Arc<str>>,
    /// The walk.
    pub run: Run,
    /// Did it end in a deadlock?
    pub deadlock: bool,
    /// Promela: the walk statement by statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Story>,
    /// Promela: does it end in an invalid end state?
    #[serde(skip)]
    pub stuck: bool,
}

impl WalkReport {
    /// The walk as a message-sequence chart, an SVG picture; nothing when it has no step.
    pub fn chart(&self, caption: &str) -> Option<String> {
        match &self.story {
            Some(story) => Some(story.chart(caption, self.stuck)),
            None => self.run.chart(caption, &self.told.process, &self.components, false),
        }
    }
}

/// Steps through a system.
pub struct Stepper<'a> {
    system: &'a dyn System,
    narrator: Box<dyn Narrator + 'a>,
    told: Told,
    origin: Origin,
    components: Vec<Arc<str>>,
    start: Vec<Value>,
    path: Vec<TakenStep>,
    /// How many steps of the path are taken.
    taken: usize,
    /// The offers here, once computed.
    offers: Option<Arc<Vec<Offer>>>,
    runs: Vec<Vec<TakenStep>>,
    random: Random,
    seed: u64,
}

impl<'a> Stepper<'a> {
    pub(super) fn new(
        system: &'a dyn System,
        mut narrator: Box<dyn Narrator + 'a>,
        (told, origin): (Told, Origin),
        runs: Vec<Vec<TakenStep>>,
        seed: u64,
        control: &Control,
    ) -> Result<Stepper<'a>, Problem> {
        let mut stepper = Stepper {
            system,
            told,
            components: narrator.components(),
            narrator,
            start: system.initial(control).map_err(|cut| Problem::cut(cut, control, &origin))?,
            origin,
            path: Vec::new(),
            taken: 0,
            offers: None,
            runs,
            random: Random::new(seed),
            seed,
        };
        stepper.follow_found(0);
        Ok(stepper)
    }

    /// What is stepped through.
    pub fn told(&self) -> &Told {
        &self.told
    }

    /// What the components are called.
    pub fn components(&self) -> &[Arc<str>] {
        &self.components
    }

    /// How many runs were found before stepping began.
    pub fn found(&self) -> usize {
        self.runs.len()
    }

    /// Puts one of the runs that were found on the path, from the beginning; false when there is none of this number.
    pub fn follow_found(&mut self, run: usize) -> bool {
        let Some(steps) = self.runs.get(run) else { return false };
        self.path = steps.clone();
        self.stand(0);
        true
    }

    fn row(&self) -> &[Value] {
        self.row_at(self.taken)
    }

    fn row_at(&self, taken: usize) -> &[Value] {
        taken.checked_sub(1).map_or(&self.start, |last| &self.path[last].row)
    }

    fn stand(&mut self, taken: usize) {
        self.taken = taken;
        self.offers = None;
    }

    /// Where it stands.
    pub fn situation(&mut self, control: &Control) -> Result<Situation, Problem> {
        self.stands(control).map_err(|cut| Problem::cut(cut, control, &self.origin))
    }

    fn stands(&mut self, control: &Control) -> Result<Situation, Cut> {
        let states = {
            let row = self.row().to_vec();
            self.narrator.states(&row)
        };
        let mut situation = Situation {
            taken: self.taken,
            ahead: self.path.len() - self.taken,
            changed: (0..states.len()).collect(),
            states,
            event: None,
            parts: Vec::new(),
            statements: Vec::new(),
        };
        if let Some(last) = self.taken.checked_sub(1) {
            let before = self.row_at(last).to_vec();
            let step = &self.path[last];
            let old = self.narrator.states(&before);
            situation.changed.retain(|&component| old.get(component) != situation.states.get(component));
            let story = self.narrator.story(&before, std::slice::from_ref(step), control)?;
            situation.statements = story.map(|story| story.statements).unwrap_or_default();
            let step = self.narrator.step(&before, step.label, &step.row, control)?;
            (situation.event, situation.parts) = (Some(step.event), step.parts);
        }
        Ok(situation)
    }

    /// What can be done here.
    pub fn offers(&mut self, control: &Control) -> Result<Arc<Vec<Offer>>, Problem> {
        self.offered(control).map_err(|cut| Problem::cut(cut, control, &self.origin))
    }

    fn offered(&mut self, control: &Control) -> Result<Arc<Vec<Offer>>, Cut> {
        if let Some(known) = &self.offers {
            return Ok(known.clone());
        }
        let row = self.row().to_vec();
        let mut found: Vec<(LabelId, Vec<Value>)> = Vec::new();
        let mut known: HashSet<(LabelId, Vec<Value>)> = HashSet::new();
        self.system.explorer(control).successors(&row, &mut |step| {
            let offer = (step.label, step.row.to_vec());
            if known.insert(offer.clone()) {
                found.push(offer);
            }
            Ok(())
        })?;
        let labels = self.system.labels().clone();
        found.sort_by(|a, b| {
            let internal = |label: LabelId| !label.is_visible();
            internal(a.0).cmp(&internal(b.0)).then_with(|| natural(labels.get(a.0), labels.get(b.0)))
        });
        let old = self.narrator.states(&row);
        let mut offers = Vec::with_capacity(found.len());
        for (at, (label, target)) in found.into_iter().enumerate() {
            control.check()?;
            let Step { event, parts, states, .. } = self.narrator.step(&row, label, &target, control)?;
            let changed =
                states.into_iter().enumerate().filter(|(component, state)| old.get(*component) != Some(state));
            let changes = changed.map(|(component, state)| Change { component, state }).collect();
            offers.push(Offer { number: at + 1, event, parts, changes, label, row: target });
        }
        let offers = Arc::new(offers);
        self.offers = Some(offers.clone());
        Ok(offers)
    }

    /// What is refused here.
    pub fn refusals(&mut self, control: &Control) -> Result<Refusals, Problem> {
        let row = self.row().to_vec();
        if self.system.observations().carries_divergence() {
            let observed = self.system.explorer(control).observe(&row);
            let observation = observed.map_err(|cut| Problem::cut(cut, control, &self.origin))?;
            let acceptances = observation.acceptances.iter().map(|set| self.sorted(set)).collect();
            return Ok(Refusals::Carried { acceptances, diverges: observation.diverges });
        }
        let offers = self.offers(control)?;
        if offers.iter().any(Offer::is_internal) {
            return Ok(Refusals::Unstable);
        }
        let mut offered: Vec<LabelId> = offers.iter().map(|offer| offer.label).collect();
        offered.dedup();
        let known: HashSet<LabelId> = offered.iter().copied().collect();
        let refused: Vec<LabelId> =
            self.narrator.alphabet().into_iter().filter(|label| !known.contains(label)).collect();
        Ok(Refusals::Stable { offered: self.sorted(&offered), refused: self.sorted(&refused) })
    }

    fn sorted(&mut self, labels: &[LabelId]) -> Vec<String> {
        let table = self.system.labels().clone();
        let mut sorted = labels.to_vec();
        sorted.sort_by(|&a, &b| natural(table.get(a), table.get(b)));
        sorted.into_iter().map(|label| self.narrator.event(label)).collect()
    }

    /// Takes the step with this number; false when there is none.
    pub fn take(&mut self, number: usize, control: &Control) -> Result<bool, Problem> {
        let offers = self.offers(control)?;
        let Some(offer) = number.checked_sub(1).and_then(|at| offers.get(at)) else { return Ok(false) };
        let again = self.path.get(self.taken).is_some_and(|next| next.label == offer.label && next.row == offer.row);
        if !again {
            self.path.truncate(self.taken);
            self.path.push(TakenStep { label: offer.label, row: offer.row.clone() });
        }
        self.stand(self.taken + 1);
        Ok(true)
    }

    /// The number of the only step whose event is this text, blanks aside; `tau` is `τ`, whatever is behind it.
    pub fn named(&mut self, event: &str, control: &Control) -> Result<Result<usize, Unclear>, Problem> {
        let plain = |text: &str| text.chars().filter(|character| !character.is_whitespace()).collect::<String>();
        let wanted = plain(event);
        let internal = wanted == "tau" || wanted == "τ";
        let offers = self.offers(control)?;
        let fits = offers.iter().filter(|offer| plain(&offer.event) == wanted || (internal && offer.is_internal()));
        let numbers: Vec<usize> = fits.map(|offer| offer.number).collect();
        Ok(match numbers[..] {
            [] => Err(Unclear::Nothing),
            [only] => Ok(only),
            _ => Err(Unclear::Several(numbers)),
        })
    }

    /// Takes so many steps back, and says how many there were.
    pub fn back(&mut self, steps: usize) -> usize {
        let back = steps.min(self.taken);
        self.stand(self.taken - back);
        back
    }

    /// Takes so many steps of the path again, and says how many there were.
    pub fn forward(&mut self, steps: usize) -> usize {
        let forward = steps.min(self.path.len() - self.taken);
        self.stand(self.taken + forward);
        forward
    }

    /// Goes to where so many steps of the path are taken; false when it is not that long.
    pub fn go_to(&mut self, taken: usize) -> bool {
        let there = taken <= self.path.len();
        if there {
            self.stand(taken);
        }
        there
    }

    /// From now on steps are chosen by this seed.
    pub fn seed(&mut self, seed: u64) {
        self.random = Random::new(seed);
        self.seed = seed;
    }

    /// Takes so many steps at random, and says how many there were before nothing could be done.
    pub fn walk(&mut self, steps: usize, control: &Control) -> Result<usize, Problem> {
        self.walked(steps, control).map_err(|cut| Problem::cut(cut, control, &self.origin))
    }

    fn walked(&mut self, steps: usize, control: &Control) -> Result<usize, Cut> {
        let mut explorer = self.system.explorer(control);
        for taken in 0..steps {
            control.check()?;
            // Words would cost more than the walk.
            let mut offers: Vec<TakenStep> = Vec::new();
            let row = self.row().to_vec();
            explorer.successors(&row, &mut |step| {
                // A row with the places of a long channel is large by itself.
                control.afford(size_of_val(step.row))?;
                offers.push(TakenStep { label: step.label, row: step.row.to_vec() });
                Ok(())
            })?;
            if offers.is_empty() {
                return Ok(taken);
            }
            let chosen = offers.swap_remove(self.random.below(offers.len()));
            self.path.truncate(self.taken);
            self.path.push(chosen);
            self.stand(self.taken + 1);
        }
        Ok(steps)
    }

    /// The steps that were taken, in words.
    pub fn run(&mut self, control: &Control) -> Result<Run, Problem> {
        self.ran(control).map_err(|cut| Problem::cut(cut, control, &self.origin))
    }

    fn ran(&mut self, control: &Control) -> Result<Run, Cut> {
        let initial = self.narrator.states(&self.start);
        let mut steps = Vec::with_capacity(self.taken);
        for at in 0..self.taken {
            control.check()?;
            let before = self.row_at(at).to_vec();
            let TakenStep { label, row } = &self.path[at];
            steps.push(self.narrator.step(&before, *label, row, control)?);
        }
        Ok(Run { initial, steps, cycle: Vec::new(), offered: None, refused: None, waiting: Vec::new() })
    }

    /// A walk at random from here, as a report.
    pub fn walk_report(&mut self, steps: usize, control: &Control) -> Result<WalkReport, Problem> {
        self.walk(steps, control)?;
        let seed = Some(self.seed);
        Ok(WalkReport { seed, ..self.report(control)? })
    }

    /// The whole path, taken to its end, as a report.
    pub fn path_report(&mut self, control: &Control) -> Result<WalkReport, Problem> {
        self.stand(self.path.len());
        self.report(control)
    }

    /// What was done so far, as a report.
    pub fn report(&mut self, control: &Control) -> Result<WalkReport, Problem> {
        let deadlock = self.offers(control)?.is_empty();
        let run = self.run(control)?;
        let story = self.story(control)?;
        let stuck = deadlock
            && story.as_ref().is_some_and(|story| story.end.processes.iter().any(|process| !process.valid_end));
        let (told, components) = (self.told.clone(), self.components.clone());
        Ok(WalkReport { told, seed: None, components, run, deadlock, story, stuck })
    }

    /// The steps that were taken, statement by statement.
    pub fn story(&mut self, control: &Control) -> Result<Option<Story>, Problem> {
        let told = self.narrator.story(&self.start, &self.path[..self.taken], control);
        told.map_err(|cut| Problem::cut(cut, control, &self.origin))
    }

    /// The variables here, where the language has variables.
    pub fn end(&mut self, control: &Control) -> Option<EndState> {
        let row = self.row().to_vec();
        self.narrator.end(&row, control)
    }

    /// Puts a recorded run on the path, as far as the system has such a run.
    ///
    /// An event can lead to several states; the search keeps all of them until the end, so that it finds the run if
    /// there is one.
    pub fn follow(&mut self, run: &[Recorded], control: &Control) -> Result<Followed, Problem> {
        let origin = self.origin.clone();
        let problem = |cut| Problem::cut(cut, control, &origin);
        let (exact, path) = self.search(run, true, control).map_err(problem)?;
        if exact == run.len() {
            self.path = path;
            self.stand(0);
            return Ok(Followed::Exactly);
        }
        let (length, path) = self.search(run, false, control).map_err(problem)?;
        self.path = path;
        self.stand(0);
        Ok(if length == run.len() { Followed::ByEvents } else { Followed::Until(length) })
    }

    /// The longest beginning of a run that exists.
    fn search(&mut self, run: &[Recorded], states: bool, control: &Control) -> Result<(usize, Vec<TakenStep>), Cut> {
        let mut explorer = self.system.explorer(control);
        // By step, the rows that can be reached, each with its label and with the place of the row before.
        let mut levels: Vec<Vec<(LabelId, Vec<Value>, usize)>> = vec![vec![(LabelId::TAU, self.start.clone(), 0)]];
        for wanted in run {
            let mut next = Vec::new();
            let mut known: HashSet<Vec<Value>> = HashSet::new();
            let here = levels.last().map_or(&[][..], Vec::as_slice).to_vec();
            for (place, (_, row, _)) in here.iter().enumerate() {
                control.check()?;
                let mut steps: Vec<TakenStep> = Vec::new();
                explorer.successors(row, &mut |step| {
                    steps.push(TakenStep { label: step.label, row: step.row.to_vec() });
                    Ok(())
                })?;
                for step in steps {
                    let visible = step.label.is_visible();
                    if visible == wanted.event.starts_with('τ') || known.contains(&step.row) {
                        continue;
                    }
                    let told = self.narrator.step(row, step.label, &step.row, control)?;
                    let alike =
                        |old: &[String]| told.states.iter().map(|state| &**state).eq(old.iter().map(String::as_str));
                    let fits = told.event == wanted.event || (!states && !visible);
                    if fits && (!states || wanted.states.as_deref().is_none_or(alike)) {
                        known.insert(step.row.clone());
                        next.push((step.label, step.row, place));
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            levels.push(next);
        }
        let mut path = Vec::with_capacity(levels.len());
        let mut place = 0;
        for level in levels.iter().skip(1).rev() {
            let (label, row, before) = &level[place];
            path.push(TakenStep { label: *label, row: row.clone() });
            place = *before;
        }
        path.reverse();
        Ok((path.len(), path))
    }
}
