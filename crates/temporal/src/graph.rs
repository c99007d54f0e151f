//! The steps of a system, kept by the search that found them.
//!
//! One search serves every claim: for each state it keeps the targets of its steps and the number of its *letter*,
//! which propositions hold in it; where fairness matters, or what a step passes, also a *note* of each step: its agents
//! and whether it passes what counts, as the search hands them over with the step. Checking then reads no row and
//! computes no step again. Each thread appends records to segments of its own (`id, letter, steps, targets…, notes…`),
//! and numbers letters and notes in tables that all threads share, so nothing is copied: at a pause and at the end of
//! the search one pass notes where the record of each state is.
//!
//! A search pauses from time to time, at the end of a level. The states that it has expanded until then are a *part* of
//! the graph ([`Part`]), and remain one when it has gone on. A run in a part is a run of the system; a state that is
//! not in the part has no steps, and repeats nothing.
//!
//! Cost: 20 bytes a state and 4 a step (8 with notes), beside the store of the search.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use trefoil_control::{Control, Stopped};
use trefoil_explore::{
    Counts, End, Exploration, Finding, Options, Order, Paused, Proviso, Reducing, States, Stretch, Visited, Visitor,
    search_until,
};
use trefoil_questions::ErrorKinds;
use trefoil_system::{Cut, Explorer, LabelId, MarkId, Meaning, Path, StateId, Step, System, Value};

use crate::fairness::Agents;

/// Words of a segment.
const SEGMENT: usize = 1 << 20;
/// Words of a record before its targets.
const HEAD: usize = 3;
/// In the number of steps: the state has steps that go wrong, and none else.
const BROKEN: u32 = 1 << 31;
const NOWHERE: u64 = u64::MAX;
/// Notes of up to two agents below this number are found by their place in a table.
const FEW_AGENTS: u32 = 64;
const FEW_NOTES: u32 = 1 + FEW_AGENTS + FEW_AGENTS * FEW_AGENTS;

/// The values of the marks of a state: those that show propositions, then those that say which have no value.
pub(crate) type Letter = Box<[Value]>;

/// A system that was searched, with its steps.
#[derive(Default)]
pub(crate) struct Graph {
    segments: Vec<Vec<u32>>,
    /// For each state, the segment and the place of its record in it.
    places: Vec<u64>,
    /// The letters that occur.
    letters: Vec<Letter>,
    /// The notes that occur; nothing where they are not kept.
    notes: Option<Notes>,
    initial: u32,
    /// How many segments there were at each pause, and what was counted.
    parts: Vec<(u32, Counts)>,
    /// The number of states that were found, by the class of the step that found them.
    pub(crate) classes: Vec<u64>,
}

/// What is noted of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Note {
    /// Its agents, with the one that initiates first.
    pub(crate) agents: Box<[u32]>,
    /// Does it pass what counts?
    pub(crate) passes: bool,
}

/// Notes by their numbers.
#[derive(Default)]
struct Notes {
    list: Vec<Note>,
    /// The agents of each as bits, and the one that initiates.
    moving: Vec<Agents>,
    initiating: Vec<Agents>,
}

/// What a search has expanded until some moment.
#[derive(Clone, Copy)]
pub(crate) struct Part<'g> {
    graph: &'g Graph,
    pub(crate) states: &'g States,
    /// How many segments it has.
    end: u32,
}

/// A state with its steps.
#[derive(Clone, Copy)]
pub(crate) struct Record<'g> {
    pub(crate) letter: u32,
    pub(crate) targets: &'g [u32],
    /// The notes of the steps, where they are kept.
    pub(crate) notes: &'g [u32],
    /// Has it steps that go wrong, and none else?
    pub(crate) broken: bool,
}

impl Graph {
    /// All of it.
    pub(crate) fn whole<'g>(&'g self, states: &'g States) -> Part<'g> {
        Part { graph: self, states, end: self.segments.len() as u32 }
    }

    /// What there was at each pause, with what was counted until then.
    pub(crate) fn parts<'g>(&'g self, states: &'g States) -> impl Iterator<Item = (Part<'g>, Counts)> + 'g {
        self.parts.iter().map(move |&(end, counts)| (Part { graph: self, states, end }, counts))
    }

    pub(crate) fn keeps_notes(&self) -> bool {
        self.notes.is_some()
    }

    /// Takes what the threads have written since the last time.
    fn absorb(
        &mut self,
        visitors: &mut [Recorder<'_>],
        recording: &Recording<'_>,
        states: &States,
        control: &Control,
    ) -> Result<(), Stopped> {
        let bound = states.id_bound();
        control.afford(bound.saturating_sub(self.places.len()) * 8)?;
        self.places.reserve_exact(bound.saturating_sub(self.places.len()));
        self.places.resize(bound, NOWHERE);
        for visitor in visitors {
            let classes = std::mem::take(&mut visitor.classes);
            self.classes.resize(self.classes.len().max(classes.len()), 0);
            self.classes.iter_mut().zip(&classes).for_each(|(sum, count)| *sum += count);
            for segment in std::mem::take(&mut visitor.segments) {
                control.check()?;
                let number = (self.segments.len() as u64) << 32;
                let mut at = 0;
                while at < segment.len() {
                    self.places[segment[at] as usize] = number | at as u64;
                    let count = (segment[at + 2] & !BROKEN) as usize;
                    at += HEAD + if recording.watch.notes { 2 * count } else { count };
                }
                self.segments.push(segment);
            }
        }
        let letters = recording.letters.lock();
        self.letters.extend_from_slice(&letters.list[self.letters.len()..]);
        drop(letters);
        if recording.watch.notes {
            let own = self.notes.get_or_insert_default();
            let notes = recording.notes.lock();
            for note in &notes.list[own.list.len()..] {
                own.moving.push(note.agents.iter().copied().collect());
                own.initiating.push(note.agents.first().copied().into_iter().collect());
                own.list.push(note.clone());
            }
        }
        Ok(())
    }
}

impl<'g> Part<'g> {
    /// Numbers of states are below this.
    pub(crate) fn bound(self) -> usize {
        self.graph.places.len()
    }

    pub(crate) fn initial(self) -> u32 {
        self.graph.initial
    }

    /// The letters of its states, and perhaps others.
    pub(crate) fn letters(self) -> &'g [Letter] {
        &self.graph.letters
    }

    /// The notes of steps by number.
    pub(crate) fn notes(self) -> &'g [Note] {
        self.graph.notes.as_ref().map_or(&[], |notes| &notes.list)
    }

    /// The place of a state's record, if the state is in this part.
    #[inline]
    pub(crate) fn place(self, state: u32) -> Option<u64> {
        let place = self.graph.places[state as usize];
        // That of a state without a record is beyond all.
        (place >> 32 < u64::from(self.end)).then_some(place)
    }

    /// The record at a place.
    #[inline]
    pub(crate) fn at(self, place: u64) -> Record<'g> {
        let segment = &self.graph.segments[(place >> 32) as usize];
        record(segment, place as u32 as usize, self.graph.notes.is_some()).0
    }

    /// A state of this part.
    #[inline]
    pub(crate) fn record(self, state: u32) -> Option<Record<'g>> {
        self.place(state).map(|place| self.at(place))
    }

    /// All states of this part, in the order in which they lie.
    pub(crate) fn records(self) -> impl Iterator<Item = (u32, Record<'g>)> + 'g {
        let keeps = self.graph.notes.is_some();
        self.graph.segments[..self.end as usize].iter().flat_map(move |segment| {
            let mut at = 0;
            std::iter::from_fn(move || {
                let id = *segment.get(at)?;
                let (record, end) = record(segment, at, keeps);
                at = end;
                Some((id, record))
            })
        })
    }

    /// The agents that can initiate a step of a state.
    pub(crate) fn enabled(self, state: u32) -> Agents {
        let (Some(record), Some(notes)) = (self.record(state), &self.graph.notes) else { return Agents::default() };
        record.notes.iter().fold(Agents::default(), |all, &note| all.or(notes.initiating[note as usize]))
    }

    /// The agents that take part in a step, by the number of its note.
    #[inline]
    pub(crate) fn taking_part(self, note: Option<u32>) -> Agents {
        match (note, &self.graph.notes) {
            (Some(note), Some(notes)) => notes.moving[note as usize],
            _ => Agents::default(),
        }
    }

    /// Does a step pass what counts, by the number of its note?
    #[inline]
    pub(crate) fn passes(self, note: Option<u32>) -> bool {
        note.is_some_and(|note| self.notes()[note as usize].passes)
    }
}

/// The record at a place in a segment, and the place behind it.
#[inline]
fn record(segment: &[u32], at: usize, keeps_notes: bool) -> (Record<'_>, usize) {
    let steps = segment[at + 2];
    let from = at + HEAD;
    let count = (steps & !BROKEN) as usize;
    let kept = if keeps_notes { count } else { 0 };
    let end = from + count + kept;
    let record = Record {
        letter: segment[at + 1],
        targets: &segment[from..from + count],
        notes: &segment[from + count..end],
        broken: steps & BROKEN != 0,
    };
    (record, end)
}

/// Decides by the values of the marks whether a state is looked for.
pub(crate) type IsBad<'w> = dyn Fn(&[Value]) -> bool + Sync + 'w;

/// What a search for claims looks for on its way.
pub(crate) struct Watch<'w> {
    /// Marks that show propositions, then those that say which have no value.
    pub(crate) marks: &'w [MarkId],
    /// Errors whose steps are none.
    pub(crate) no_steps: ErrorKinds,
    /// Are notes of steps kept?
    pub(crate) notes: bool,
    /// Is a state with this letter what is looked for?
    pub(crate) bad: Option<&'w IsBad<'w>>,
    /// Where independent steps are taken in one order: the propositions that matter.
    pub(crate) visible: Option<&'w [u32]>,
}

/// Things that are numbered as they come, for all threads.
struct Numbered<T>(Mutex<Numbers<T>>);

struct Numbers<T> {
    list: Vec<T>,
    numbers: HashMap<T, u32, foldhash::fast::FixedState>,
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    fn new() -> Numbered<T> {
        Numbered(Mutex::new(Numbers { list: Vec::new(), numbers: HashMap::default() }))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Numbers<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn number(&self, thing: &T) -> u32 {
        let mut known = self.lock();
        let Numbers { list, numbers } = &mut *known;
        *numbers.entry(thing.clone()).or_insert_with(|| {
            list.push(thing.clone());
            list.len() as u32 - 1
        })
    }
}

/// What all threads of a search write down.
pub(crate) struct Recording<'w> {
    system: &'w dyn System,
    watch: &'w Watch<'w>,
    first_error: LabelId,
    /// Does each mark read every slot?
    whole: bool,
    letters: Numbered<Letter>,
    notes: Numbered<Note>,
}

/// How a search for claims ended, or where it pauses.
pub(crate) enum Searched<'w> {
    /// Everything was found.
    Complete(Graph, States, Counts),
    /// The search can go on.
    Paused(Growing<'w>),
    /// A state with a bad letter: a shortest run to it.
    Bad(Path, Counts),
    /// It was cut; what it has kept, if that is still there.
    Cut(Cut, Counts, Option<(Graph, States)>),
}

/// A search that pauses.
pub(crate) struct Growing<'w> {
    pub(crate) graph: Graph,
    paused: Box<Paused<Recorder<'w>>>,
}

impl Growing<'_> {
    /// What was expanded until now.
    pub(crate) fn part(&self) -> Part<'_> {
        self.graph.whole(&self.paused.states)
    }

    pub(crate) fn counts(&self) -> Counts {
        self.paused.counts
    }
}

impl<'w> Recording<'w> {
    pub(crate) fn new(system: &'w dyn System, watch: &'w Watch<'w>) -> Recording<'w> {
        let width = system.layout().width();
        let whole = watch.marks.iter().all(|mark| system.marks()[mark.index()].reads.iter().count() == width);
        let first_error = system.first_error();
        Recording { system, watch, first_error, whole, letters: Numbered::new(), notes: Numbered::new() }
    }

    pub(crate) fn watch(&self) -> &'w Watch<'w> {
        self.watch
    }

    pub(crate) fn recorder(&'w self) -> Recorder<'w> {
        Recorder {
            recording: self,
            segments: Vec::new(),
            letters: HashMap::default(),
            last: None,
            few: vec![u32::MAX; 2 * FEW_NOTES as usize],
            notes: Default::default(),
            reads: Vec::new(),
            letter: Vec::new(),
            last_targets: 0..0,
            classes: Vec::new(),
        }
    }

    /// Searches the system, from where the search paused or from the start, until it is over or has expanded `pause`
    /// states. Under `exploring` the states are found; `control` is for what follows.
    pub(crate) fn search(
        &'w self,
        growing: Option<Growing<'w>>,
        pause: u64,
        threads: usize,
        exploring: &Control,
        control: &Control,
    ) -> Result<Searched<'w>, Cut> {
        let make = || self.recorder();
        let reducing = self.watch.visible.map(|visible| Reducing { visible, proviso: Proviso::All });
        let (mut graph, stretch) = match growing {
            Some(Growing { graph, paused }) => (graph, paused.resume(reducing, pause, self.system, exploring, make)),
            None => {
                let options = Options { threads, order: Order::Steps, ..Options::default() };
                (Graph::default(), search_until(self.system, &options, reducing, pause, exploring, make))
            }
        };
        let exploration = match stretch {
            Stretch::Ended(exploration) => exploration,
            Stretch::Paused(mut paused) => {
                graph.initial = paused.initial.0;
                graph.absorb(&mut paused.visitors, self, &paused.states, control)?;
                graph.parts.push((graph.segments.len() as u32, paused.counts));
                return Ok(Searched::Paused(Growing { graph, paused }));
            }
        };
        let counts = exploration.counts;
        if let End::Found(found) = &exploration.end {
            return Ok(match exploration.path_to(self.system, found, control) {
                Ok(path) => Searched::Bad(path, counts),
                Err(cut) => Searched::Cut(cut, counts, None),
            });
        }
        let Exploration { end, initial, states, mut visitors, has_states, .. } = *exploration;
        graph.initial = initial.0;
        let has_all = has_states && graph.absorb(&mut visitors, self, &states, control).is_ok();
        Ok(match end {
            End::Cut(cut) => Searched::Cut(cut, counts, has_all.then_some((graph, states))),
            _ if has_all => Searched::Complete(graph, states, counts),
            _ => Searched::Cut(Cut::Stopped, counts, None),
        })
    }
}

/// What one thread writes down.
pub(crate) struct Recorder<'w> {
    recording: &'w Recording<'w>,
    segments: Vec<Vec<u32>>,
    /// The numbers of letters that this thread has met, and of the last one.
    letters: HashMap<Letter, u32, foldhash::fast::FixedState>,
    last: Option<(Letter, u32)>,
    /// The numbers of notes: of those of few agents by place; of others by their agents, those that pass what counts
    /// last.
    few: Vec<u32>,
    notes: [HashMap<Box<[u32]>, u32, foldhash::fast::FixedState>; 2],
    reads: Vec<Value>,
    letter: Vec<Value>,
    /// Where the targets of the last state are.
    last_targets: std::ops::Range<usize>,
    classes: Vec<u64>,
}

impl<'w> Recorder<'w> {
    /// A graph of what this recorder alone has written, of these states.
    pub(crate) fn graph(mut self, initial: StateId, states: &States, control: &Control) -> Result<Graph, Stopped> {
        let mut graph = Graph { initial: initial.0, ..Graph::default() };
        let recording = self.recording;
        graph.absorb(std::slice::from_mut(&mut self), recording, states, control)?;
        Ok(graph)
    }

    /// The values of the marks of the state that was visited last.
    pub(crate) fn letter(&self) -> &[Value] {
        &self.letter
    }

    /// The targets of the state that was visited last.
    pub(crate) fn last_targets(&self) -> &[u32] {
        self.segments.last().map_or(&[], |segment| &segment[self.last_targets.clone()])
    }

    fn note_number(&mut self, agents: &[u32], passes: bool) -> u32 {
        let place = match *agents {
            [] => Some(0),
            [one] if one < FEW_AGENTS => Some(1 + one),
            [one, other] if one < FEW_AGENTS && other < FEW_AGENTS => Some(1 + FEW_AGENTS * (1 + one) + other),
            _ => None,
        };
        let number = || self.recording.notes.number(&Note { agents: agents.into(), passes });
        match place {
            Some(place) => {
                let known = &mut self.few[(place + FEW_NOTES * u32::from(passes)) as usize];
                if *known == u32::MAX {
                    *known = number();
                }
                *known
            }
            None => match self.notes[usize::from(passes)].get(agents) {
                Some(&known) => known,
                None => *self.notes[usize::from(passes)].entry(agents.into()).or_insert_with(number),
            },
        }
    }

    fn letter_number(&mut self) -> u32 {
        if let Some((letter, number)) = &self.last
            && **letter == *self.letter
        {
            return *number;
        }
        let number = match self.letters.get(&self.letter[..]) {
            Some(&known) => known,
            None => {
                let letter: Letter = self.letter[..].into();
                let number = self.recording.letters.number(&letter);
                self.letters.insert(letter, number);
                number
            }
        };
        match &mut self.last {
            Some((letter, known)) => {
                letter.copy_from_slice(&self.letter);
                *known = number;
            }
            None => self.last = Some((self.letter[..].into(), number)),
        }
        number
    }
}

impl Visitor for Recorder<'_> {
    fn visit(&mut self, state: &Visited<'_>, explorer: &mut dyn Explorer) -> Result<Finding, Cut> {
        let Recording { system, watch, first_error, whole, .. } = *self.recording;
        self.letter.clear();
        for &mark in watch.marks {
            // A mark that reads every slot gets the row as it is.
            let reads = match whole {
                true => state.row,
                false => {
                    self.reads.clear();
                    system.marks()[mark.index()].reads.values(state.row, &mut self.reads);
                    &self.reads
                }
            };
            self.letter.push(explorer.mark(mark, reads)?);
        }
        let letter = self.letter_number();
        if watch.bad.is_some_and(|bad| bad(&self.letter)) {
            return Ok(Finding::State);
        }
        let most = 2 * state.steps.len() + HEAD;
        if self.segments.last().is_none_or(|segment| segment.len() + most > segment.capacity()) {
            self.segments.push(Vec::with_capacity(SEGMENT.max(most)));
        }
        let Some(segment) = self.segments.last_mut() else { return Ok(Finding::Nothing) };
        let at = segment.len();
        segment.extend_from_slice(&[state.id.0, letter, 0]);
        let is_step = |label: LabelId| label < first_error || !watch.no_steps.contains(system.error(label));
        for edge in state.steps {
            if edge.fresh {
                let class = edge.class as usize;
                if class >= self.classes.len() {
                    self.classes.resize(class + 1, 0);
                }
                self.classes[class] += 1;
            }
            if is_step(edge.label) {
                segment.push(edge.target.0);
            }
        }
        self.last_targets = at + HEAD..segment.len();
        let count = self.last_targets.len() as u32;
        if watch.notes {
            segment.extend(state.steps.iter().filter(|edge| is_step(edge.label)).map(|edge| edge.note));
        }
        segment[at + 2] = if count == 0 && !state.steps.is_empty() { BROKEN } else { count };
        Ok(Finding::Nothing)
    }

    #[inline]
    fn note(&mut self, step: &Step<'_>) -> u32 {
        if self.recording.watch.notes { self.note_number(step.agents, step.passes) } else { 0 }
    }
}

/// The marks of a system that show propositions, and those that say which have no value.
pub(crate) fn proposition_marks(system: &dyn System) -> (Vec<MarkId>, Vec<MarkId>) {
    let of = |meaning| {
        let marks = (0u32..).zip(system.marks());
        marks.filter(|(_, mark)| mark.meaning == meaning).map(|(at, _)| MarkId(at)).collect()
    };
    (of(Meaning::Proposition), of(Meaning::Undefined))
}
