//! The steps of a system, kept by the search that found them.
//!
//! One search serves every claim: for each state it keeps the targets of its steps and the number of its *letter*,
//! which propositions hold in it; where fairness matters, also the agents of each step, for which the steps are
//! computed a second time. Checking then reads no row again. Each thread appends records to segments of its own (`id,
//! letter, steps, targets…, agents…`), so nothing is copied while the search runs; afterwards one pass notes where the
//! record of each state is.
//!
//! Cost: 20 bytes a state and 4 a step (8 with agents), beside the store of the search.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use trefoil_control::Control;
use trefoil_explore::{End, Exploration, Finding, Options, Order, States, Visited, Visitor, search};
use trefoil_questions::ErrorKinds;
use trefoil_system::{Cut, Explorer, LabelId, MarkId, Meaning, StateId, System, Value};

/// Words of a segment.
const SEGMENT: usize = 1 << 20;
/// Words of a record before its targets.
const HEAD: usize = 3;
/// In the number of steps: the state has steps that go wrong, and none else.
const BROKEN: u32 = 1 << 31;
const NOWHERE: u64 = u64::MAX;

/// The values of the marks of a state.
pub(crate) type Letter = Box<[Value]>;

/// A system that was searched, with its steps.
pub(crate) struct Graph {
    segments: Vec<Vec<u32>>,
    /// For each state, the segment and the place of its record in it.
    places: Vec<u64>,
    /// The letters that occur.
    pub(crate) letters: Vec<Letter>,
    /// The sets of agents that occur, each with the agent that initiates first; nothing where they are not kept.
    pub(crate) agents: Option<Vec<Box<[u32]>>>,
    pub(crate) initial: StateId,
    pub(crate) states: States,
    pub(crate) counts: trefoil_explore::Counts,
    /// The number of states that were found, by the class of the step that found them.
    pub(crate) classes: Vec<u64>,
}

/// A state with its steps.
#[derive(Clone, Copy)]
pub(crate) struct Record<'g> {
    pub(crate) letter: u32,
    pub(crate) targets: &'g [u32],
    /// The sets of agents of the steps, where they are kept.
    pub(crate) agents: &'g [u32],
    /// Has it steps that go wrong, and none else?
    pub(crate) broken: bool,
}

impl Graph {
    /// Numbers of states are below this.
    pub(crate) fn bound(&self) -> usize {
        self.places.len()
    }

    /// A state, if the search expanded it.
    #[inline]
    pub(crate) fn record(&self, state: u32) -> Option<Record<'_>> {
        let place = self.places[state as usize];
        if place == NOWHERE {
            return None;
        }
        let segment = &self.segments[(place >> 32) as usize];
        let at = place as u32 as usize;
        let steps = segment[at + 2];
        let from = at + HEAD;
        let count = (steps & !BROKEN) as usize;
        let kept = if self.agents.is_some() { count } else { 0 };
        Some(Record {
            letter: segment[at + 1],
            targets: &segment[from..from + count],
            agents: &segment[from + count..from + count + kept],
            broken: steps & BROKEN != 0,
        })
    }

    /// All states that were expanded.
    pub(crate) fn expanded(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.places.len() as u32).filter(|&state| self.places[state as usize] != NOWHERE)
    }
}

/// Decides by the values of the marks whether a state is looked for.
pub(crate) type IsBad<'w> = dyn Fn(&[Value]) -> bool + Sync + 'w;

/// What a search for claims looks for on its way.
pub(crate) struct Watch<'w> {
    /// Marks that show propositions.
    pub(crate) marks: &'w [MarkId],
    /// Errors whose steps are none.
    pub(crate) no_steps: ErrorKinds,
    /// Are agents kept?
    pub(crate) agents: bool,
    /// The search ends with the level in which it has expanded so many states.
    pub(crate) most: u64,
    /// Is a state with this letter what is looked for?
    pub(crate) bad: Option<&'w IsBad<'w>>,
}

/// How a search for claims ended.
pub(crate) enum Searched {
    /// Everything was found.
    Complete(Box<Graph>),
    /// The search has as many states as it may: it expanded those of some levels, all of them.
    Partial(Box<Graph>),
    /// A state with a bad letter: a shortest run to it.
    Bad(trefoil_system::Path, trefoil_explore::Counts),
    /// It was cut.
    Cut(Cut, trefoil_explore::Counts),
}

struct Recorder<'w> {
    system: &'w dyn System,
    watch: &'w Watch<'w>,
    first_error: LabelId,
    /// Does each mark read every slot?
    whole: bool,
    /// States that all threads have expanded.
    expanded: &'w AtomicU64,
    segments: Vec<Vec<u32>>,
    letters: HashMap<Letter, u32, foldhash::fast::FixedState>,
    /// The sets of agents by number.
    agents: HashMap<Box<[u32]>, u32, foldhash::fast::FixedState>,
    /// Those of the steps of the state that is visited.
    own: Vec<u32>,
    reads: Vec<Value>,
    letter: Vec<Value>,
    classes: Vec<u64>,
}

impl Visitor for Recorder<'_> {
    fn visit(&mut self, state: &Visited<'_>, explorer: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.letter.clear();
        for &mark in self.watch.marks {
            let slots = &self.system.marks()[mark.index()].reads;
            // A mark that reads every slot gets the row as it is.
            let reads = match self.whole {
                true => state.row,
                false => {
                    self.reads.clear();
                    slots.values(state.row, &mut self.reads);
                    &self.reads
                }
            };
            self.letter.push(explorer.mark(mark, reads)?);
        }
        let letter = match self.letters.get(&self.letter[..]) {
            Some(&known) => known,
            None => {
                let number = self.letters.len() as u32;
                self.letters.insert(self.letter.clone().into_boxed_slice(), number);
                number
            }
        };
        if self.watch.bad.is_some_and(|bad| bad(&self.letter)) {
            return Ok(Finding::State);
        }
        self.own.clear();
        if self.watch.agents {
            // The same steps in the same order.
            let (known, own) = (&mut self.agents, &mut self.own);
            explorer.successors(state.row, &mut |step| {
                let next = known.len() as u32;
                own.push(match known.get(step.agents) {
                    Some(&number) => number,
                    None => *known.entry(step.agents.into()).or_insert(next),
                });
                Ok(())
            })?;
        }
        for edge in state.steps.iter().filter(|edge| edge.fresh) {
            let class = edge.class as usize;
            if class >= self.classes.len() {
                self.classes.resize(class + 1, 0);
            }
            self.classes[class] += 1;
        }
        let most = 2 * state.steps.len() + HEAD;
        if self.segments.last().is_none_or(|segment| segment.len() + most > segment.capacity()) {
            self.segments.push(Vec::with_capacity(SEGMENT.max(most)));
        }
        let (system, first_error, no_steps) = (self.system, self.first_error, self.watch.no_steps);
        let Some(segment) = self.segments.last_mut() else { return Ok(Finding::Nothing) };
        let at = segment.len();
        segment.extend([state.id.0, letter, 0]);
        let is_wrong = |label: LabelId| label >= first_error && no_steps.contains(system.error(label));
        let steps = || state.steps.iter().enumerate().filter(|(_, edge)| !is_wrong(edge.label));
        segment.extend(steps().map(|(_, edge)| edge.target.0));
        let count = (segment.len() - at - HEAD) as u32;
        segment.extend(steps().filter_map(|(place, _)| self.own.get(place)));
        segment[at + 2] = if count == 0 && !state.steps.is_empty() { BROKEN } else { count };
        let expanded = self.expanded.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(if expanded == self.watch.most { Finding::State } else { Finding::Nothing })
    }
}

/// Searches a system and keeps its steps.
pub(crate) fn explore(
    system: &dyn System,
    watch: &Watch<'_>,
    threads: usize,
    control: &Control,
) -> Result<Searched, Cut> {
    let options = Options { threads, order: Order::Steps, ..Options::default() };
    let width = system.layout().width();
    let whole = watch.marks.iter().all(|mark| system.marks()[mark.index()].reads.iter().count() == width);
    let expanded = AtomicU64::new(0);
    let exploration = search(system, &options, control, || Recorder {
        whole,
        expanded: &expanded,
        system,
        watch,
        first_error: system.first_error(),
        segments: Vec::new(),
        letters: HashMap::default(),
        agents: HashMap::default(),
        own: Vec::new(),
        reads: Vec::new(),
        letter: Vec::new(),
        classes: Vec::new(),
    });
    let counts = exploration.counts;
    let complete = match &exploration.end {
        End::Complete => true,
        End::Cut(cut) => return Ok(Searched::Cut(cut.clone(), counts)),
        End::Found(found) => {
            if is_bad(system, watch, &found.row, control)? {
                return Ok(match exploration.path_to(system, found, control) {
                    Ok(path) => Searched::Bad(path, counts),
                    Err(cut) => Searched::Cut(cut, counts),
                });
            }
            false
        }
    };
    let Exploration { initial, states, visitors, .. } = exploration;
    control.afford(states.id_bound() * 8)?;
    let mut places = vec![NOWHERE; states.id_bound()];
    let mut letters: Vec<Letter> = Vec::new();
    let mut numbers: HashMap<Letter, u32> = HashMap::new();
    let mut segments: Vec<Vec<u32>> = Vec::new();
    let mut agents: Vec<Box<[u32]>> = Vec::new();
    let mut agent_numbers: HashMap<Box<[u32]>, u32> = HashMap::new();
    let mut classes: Vec<u64> = Vec::new();
    for visitor in visitors {
        control.check()?;
        classes.resize(classes.len().max(visitor.classes.len()), 0);
        classes.iter_mut().zip(&visitor.classes).for_each(|(sum, count): (&mut u64, _)| *sum += count);
        // A thread's own numbers of letters become common ones.
        let mut own: Vec<u32> = vec![0; visitor.letters.len()];
        for (letter, number) in visitor.letters {
            own[number as usize] = *numbers.entry(letter.clone()).or_insert_with(|| {
                letters.push(letter);
                letters.len() as u32 - 1
            });
        }
        let mut own_agents: Vec<u32> = vec![0; visitor.agents.len()];
        for (set, number) in visitor.agents {
            own_agents[number as usize] = *agent_numbers.entry(set.clone()).or_insert_with(|| {
                agents.push(set);
                agents.len() as u32 - 1
            });
        }
        for mut segment in visitor.segments {
            let mut at = 0;
            while at < segment.len() {
                let (id, letter, steps) = (segment[at], segment[at + 1], segment[at + 2]);
                places[id as usize] = (segments.len() as u64) << 32 | at as u64;
                segment[at + 1] = own[letter as usize];
                let count = (steps & !BROKEN) as usize;
                at += HEAD + count;
                if watch.agents {
                    for number in &mut segment[at..at + count] {
                        *number = own_agents[*number as usize];
                    }
                    at += count;
                }
            }
            segments.push(segment);
        }
    }
    let agents = watch.agents.then_some(agents);
    let graph = Box::new(Graph { segments, places, letters, agents, initial, states, counts, classes });
    Ok(if complete { Searched::Complete(graph) } else { Searched::Partial(graph) })
}

/// Is a state what was looked for?
fn is_bad(system: &dyn System, watch: &Watch<'_>, row: &[Value], control: &Control) -> Result<bool, Cut> {
    let Some(bad) = watch.bad else { return Ok(false) };
    let mut explorer = system.explorer(control);
    let mut letter = Vec::with_capacity(watch.marks.len());
    for &mark in watch.marks {
        let mut reads = Vec::new();
        system.marks()[mark.index()].reads.values(row, &mut reads);
        letter.push(explorer.mark(mark, &reads)?);
    }
    Ok(bad(&letter))
}

/// The marks of a system that show propositions.
pub(crate) fn proposition_marks(system: &dyn System) -> Vec<MarkId> {
    let marks = system.marks().iter().enumerate();
    marks.filter(|(_, mark)| mark.meaning == Meaning::Proposition).map(|(at, _)| MarkId(at as u32)).collect()
}
