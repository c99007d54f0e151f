//! Labelled transition systems in compressed sparse rows.
//!
//! Transitions of state `s` are `transitions[starts[s]..starts[s + 1]]`, in the order in which they were given: 8 bytes
//! a transition and 8 bytes a state. Building sorts by source with one counting pass, in linear time and without
//! comparisons. A system whose states have parts of their rows in common may be given by these parts
//! ([`crate::SharedRows`]); then whole rows are made when an algorithm first asks for them.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use trefoil_control::{Control, Stopped};
use trefoil_system::{
    Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Sink, Slot, SlotSet, StateId, Step, System, Value, Walk,
};

use crate::generate::keep_distinct;
use crate::shared::SharedRows;

/// One transition, its source being known from where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Transition {
    /// Its label.
    pub label: LabelId,
    /// Where it leads.
    pub target: StateId,
}

/// A labelled transition system, all of it in memory.
#[derive(Clone)]
pub struct Lts {
    labels: Arc<Labels>,
    initial: StateId,
    states: usize,
    count: usize,
    /// The rows in parts, where they have been given in parts.
    shared: Option<Arc<SharedRows>>,
    /// Whole rows; there from the beginning unless the rows are given in parts.
    whole: OnceLock<WholeRows>,
    layout: Layout,
    groups: Vec<Group>,
}

#[derive(Clone)]
struct WholeRows {
    starts: Vec<usize>,
    transitions: Vec<Transition>,
}

/// Rows in parts are worth their trouble from this many transitions on …
const LEAST_SHARED: usize = 1 << 12;
/// … and where whole rows would take at least this many times their room.
const LEAST_SAVED: usize = 4;

impl fmt::Debug for Lts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "lts from {} with {} states", self.initial.0, self.state_count())?;
        for (source, transition) in self.all_transitions() {
            writeln!(f, "  {} --{}-> {}", source.0, self.labels.get(transition.label), transition.target.0)?;
        }
        Ok(())
    }
}

impl Lts {
    /// Makes an LTS from rows that are already compressed: `starts` has one entry more than there are states.
    pub fn from_rows(labels: Arc<Labels>, initial: StateId, starts: Vec<usize>, transitions: Vec<Transition>) -> Lts {
        let states = starts.len() - 1;
        assert!(initial.index() < states, "the initial state is one of the states");
        assert_eq!(starts[states], transitions.len(), "the rows cover the transitions");
        debug_assert!(starts.is_sorted() && transitions.iter().all(|t| t.target.index() < states));
        let count = transitions.len();
        Lts::made(labels, initial, states, count, None, OnceLock::from(WholeRows { starts, transitions }))
    }

    /// Makes an LTS from rows in parts; they become whole rows where that takes little room.
    pub fn from_shared(labels: Arc<Labels>, initial: StateId, rows: SharedRows) -> Lts {
        let count = rows.transition_count();
        if count < LEAST_SHARED || rows.stored().saturating_mul(LEAST_SAVED) > count {
            let (starts, transitions) = rows.whole();
            return Lts::from_rows(labels, initial, starts, transitions);
        }
        let states = rows.states();
        assert!(initial.index() < states, "the initial state is one of the states");
        debug_assert!(rows.all().all(|t| t.target.index() < states));
        Lts::made(labels, initial, states, count, Some(Arc::new(rows)), OnceLock::new())
    }

    fn made(
        labels: Arc<Labels>,
        initial: StateId,
        states: usize,
        count: usize,
        shared: Option<Arc<SharedRows>>,
        whole: OnceLock<WholeRows>,
    ) -> Lts {
        let own: SlotSet = [0].into_iter().collect();
        let groups = vec![Group {
            name: "lts".into(),
            guards: own.clone(),
            reads: own.clone(),
            may_write: own,
            ..Group::default()
        }];
        let layout = Layout::new(vec![Slot::bounded("state", states as u32)]);
        Lts { labels, initial, states, count, shared, whole, layout, groups }
    }

    fn whole(&self) -> &WholeRows {
        self.whole.get_or_init(|| {
            let (starts, transitions) = self.shared.as_ref().map_or_else(Default::default, |rows| rows.whole());
            WholeRows { starts, transitions }
        })
    }

    /// The rows in parts, where they are given in parts.
    pub fn shared(&self) -> Option<&SharedRows> {
        self.shared.as_deref()
    }

    /// The transitions of a state, in no particular order and without making whole rows.
    pub fn steps(&self, state: StateId) -> impl Iterator<Item = &Transition> + Clone {
        let (own, fragments) = match &self.shared {
            Some(shared) => (shared.own(state), shared.fragments_of(state)),
            None => (self.outgoing(state), &[][..]),
        };
        let fragment = move |&number: &u32| self.shared.as_ref().map_or(&[][..], |shared| shared.fragment(number));
        own.iter().chain(fragments.iter().flat_map(fragment))
    }

    /// The transitions that are stored: every label and every target occurs in one of them.
    pub fn stored(&self) -> impl Iterator<Item = &Transition> {
        let whole = if self.shared.is_some() { &[][..] } else { self.transitions() };
        whole.iter().chain(self.shared.iter().flat_map(|shared| shared.all()))
    }

    /// The labels that occur, ascending.
    pub fn alphabet(&self) -> Vec<LabelId> {
        let stored = self.shared.as_ref().map_or(self.count, |shared| shared.stored());
        if self.labels.len() > 64 + 4 * stored {
            // A small component of a large network does not look at the whole table.
            let mut labels: Vec<LabelId> = self.stored().map(|transition| transition.label).collect();
            labels.sort_unstable();
            labels.dedup();
            return labels;
        }
        let mut occurs = vec![false; self.labels.len()];
        for transition in self.stored() {
            occurs[transition.label.index()] = true;
        }
        (0..occurs.len() as u32).map(LabelId).filter(|label| occurs[label.index()]).collect()
    }

    /// The system with these of its states, which have the numbers of their places, and with the transitions that a
    /// predicate keeps; these lead to states that are kept.
    pub fn part(&self, states: &[u32], initial: StateId, keep: impl Fn(&Transition) -> bool) -> Lts {
        let mut places = vec![0u32; self.state_count()];
        for (place, &state) in (0..).zip(states) {
            places[state as usize] = place;
        }
        let moved = |step: &Transition| Transition { label: step.label, target: StateId(places[step.target.index()]) };
        let initial = StateId(places[initial.index()]);
        let Some(shared) = self.shared() else {
            let (mut starts, mut transitions) = (Vec::with_capacity(states.len() + 1), Vec::new());
            starts.push(0);
            for &state in states {
                transitions.extend(self.outgoing(StateId(state)).iter().filter(|step| keep(step)).map(moved));
                starts.push(transitions.len());
            }
            return Lts::from_rows(self.labels.clone(), initial, starts, transitions);
        };
        let mut used = vec![false; shared.fragment_count()];
        for &state in states {
            shared.fragments_of(StateId(state)).iter().for_each(|&fragment| used[fragment as usize] = true);
        }
        let mut rows = SharedRows::default();
        for fragment in 0..shared.fragment_count() as u32 {
            let steps = shared.fragment(fragment).iter().filter(|step| used[fragment as usize] && keep(step));
            rows.add_fragment(steps.map(moved));
        }
        for &state in states {
            let own: Vec<Transition> = shared.own(StateId(state)).iter().filter(|step| keep(step)).map(moved).collect();
            rows.add_state(&own, shared.fragments_of(StateId(state)));
        }
        Lts::from_shared(self.labels.clone(), initial, rows)
    }

    /// The label table it shares.
    pub fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// Where it starts.
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// How many states it has, reachable or not.
    pub fn state_count(&self) -> usize {
        self.states
    }

    /// How many transitions it has.
    pub fn transition_count(&self) -> usize {
        self.count
    }

    /// All states, ascending.
    pub fn states(&self) -> impl ExactSizeIterator<Item = StateId> + Clone + use<> {
        (0..self.state_count() as u32).map(StateId)
    }

    /// Makes whole rows of rows that are given in parts, if there is room for them. To be called before an algorithm
    /// that needs [`Lts::outgoing`].
    pub fn make_whole(&self, control: &Control) -> Result<(), Stopped> {
        if self.whole.get().is_none() {
            let bytes = self.count.saturating_mul(size_of::<Transition>());
            control.afford(bytes.saturating_add(self.states.saturating_mul(size_of::<usize>())))?;
            self.whole();
        }
        Ok(())
    }

    /// The transitions of a state. Rows that are given in parts are made whole, all of them, at the first request.
    #[inline]
    pub fn outgoing(&self, state: StateId) -> &[Transition] {
        let WholeRows { starts, transitions } = self.whole();
        &transitions[starts[state.index()]..starts[state.index() + 1]]
    }

    /// The position of a state's first transition among all of them.
    #[inline]
    pub fn start(&self, state: StateId) -> usize {
        self.whole().starts[state.index()]
    }

    /// Every transition, by source.
    pub fn transitions(&self) -> &[Transition] {
        &self.whole().transitions
    }

    /// Every transition with its source.
    pub fn all_transitions(&self) -> impl Iterator<Item = (StateId, Transition)> + Clone + '_ {
        self.states().flat_map(|source| self.outgoing(source).iter().map(move |&transition| (source, transition)))
    }

    /// The same system over another table, every label replaced by its image and equal transitions made one.
    pub fn relabelled(&self, labels: Arc<Labels>, images: &[LabelId]) -> Lts {
        let mut starts = Vec::with_capacity(self.states + 1);
        let mut transitions = Vec::with_capacity(self.count);
        let mut row: Vec<(LabelId, StateId)> = Vec::new();
        starts.push(0);
        for state in self.states() {
            row.clear();
            row.extend(self.outgoing(state).iter().map(|t| (images[t.label.index()], t.target)));
            let count = row.len();
            let kept = keep_distinct(&mut row, 0, count, 0);
            transitions.extend(row[..kept].iter().map(|&(label, target)| Transition { label, target }));
            starts.push(transitions.len());
        }
        Lts::from_rows(labels, self.initial, starts, transitions)
    }

    /// The transitions again, by target.
    pub fn backward(&self) -> Backward {
        Backward::new(self)
    }
}

/// The transitions of an [`Lts`] by target: which states lead here, and by which label.
pub struct Backward {
    starts: Vec<usize>,
    transitions: Vec<Transition>,
}

impl Backward {
    fn new(lts: &Lts) -> Backward {
        let edges = lts.all_transitions().map(|(source, t)| (t.target, Transition { label: t.label, target: source }));
        let (starts, transitions) = compress(lts.state_count(), lts.transition_count(), edges);
        Backward { starts, transitions }
    }

    /// The transitions into a state; their `target` is the state they come from.
    #[inline]
    pub fn incoming(&self, state: StateId) -> &[Transition] {
        &self.transitions[self.starts[state.index()]..self.starts[state.index() + 1]]
    }
}

/// Counting sort by the first component, keeping the order among equals. The edges are walked twice.
fn compress(
    rows: usize,
    count: usize,
    edges: impl Iterator<Item = (StateId, Transition)> + Clone,
) -> (Vec<usize>, Vec<Transition>) {
    let mut starts = vec![0usize; rows + 1];
    for (row, _) in edges.clone() {
        starts[row.index() + 1] += 1;
    }
    for row in 0..rows {
        starts[row + 1] += starts[row];
    }
    let mut next = starts.clone();
    let nothing = Transition { label: LabelId::TAU, target: StateId(0) };
    let mut transitions = vec![nothing; count];
    for (row, transition) in edges {
        transitions[next[row.index()]] = transition;
        next[row.index()] += 1;
    }
    (starts, transitions)
}

/// Collects transitions in any order. States are numbered from 0; a state exists when it was named or counted. A reader
/// of a file refuses `u32::MAX` and above before it adds a transition.
#[derive(Clone)]
pub struct LtsBuilder {
    labels: Arc<Labels>,
    states: u32,
    edges: Vec<(StateId, Transition)>,
}

impl LtsBuilder {
    /// An empty system over a label table.
    pub fn new(labels: Arc<Labels>) -> LtsBuilder {
        LtsBuilder { labels, states: 0, edges: Vec::new() }
    }

    /// Makes sure that there are at least `states` states.
    pub fn at_least(&mut self, states: u32) -> &mut LtsBuilder {
        self.states = self.states.max(states);
        self
    }

    /// Adds a transition.
    pub fn add(&mut self, source: StateId, label: LabelId, target: StateId) -> &mut LtsBuilder {
        self.states = self.states.max(source.0 + 1).max(target.0 + 1);
        self.edges.push((source, Transition { label, target }));
        self
    }

    /// How many transitions were added.
    pub fn transition_count(&self) -> usize {
        self.edges.len()
    }

    /// The system; `initial` becomes a state if it was none.
    pub fn build(mut self, initial: StateId) -> Lts {
        self.at_least(initial.0 + 1);
        let (starts, transitions) = compress(self.states as usize, self.edges.len(), self.edges.iter().copied());
        Lts::from_rows(self.labels, initial, starts, transitions)
    }
}

impl System for Lts {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(vec![self.initial.0])
    }

    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(LtsExplorer { lts: self })
    }

    fn in_memory(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn describe(&self, row: &[Value]) -> String {
        row[0].to_string()
    }
}

struct LtsExplorer<'a> {
    lts: &'a Lts,
}

impl Explorer for LtsExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        for transition in self.lts.steps(StateId(row[0])) {
            sink(Step::of_group(GroupId(0), transition.label, &[transition.target.0]))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diamond() -> Lts {
        let labels = Arc::new(Labels::new());
        let (a, b) = (labels.name("a"), labels.name("b"));
        let mut builder = LtsBuilder::new(labels);
        builder.add(StateId(2), b, StateId(3));
        builder.add(StateId(0), a, StateId(1));
        builder.add(StateId(0), a, StateId(2));
        builder.add(StateId(1), LabelId::TAU, StateId(3));
        builder.build(StateId(0))
    }

    #[test]
    fn rows_are_compressed_in_the_order_given() {
        let lts = diamond();
        assert_eq!((lts.state_count(), lts.transition_count()), (4, 4));
        let targets: Vec<u32> = lts.outgoing(StateId(0)).iter().map(|t| t.target.0).collect();
        assert_eq!(targets, [1, 2]);
        assert!(lts.outgoing(StateId(3)).is_empty());
    }

    #[test]
    fn whole_rows_are_made_only_if_there_is_room() {
        let labels = Arc::new(Labels::new());
        let names: Vec<LabelId> = (0..1_000).map(|number| labels.name(&format!("a{number}"))).collect();
        let mut rows = SharedRows::default();
        rows.add_fragment((0..).zip(&names).map(|(to, &label)| Transition { label, target: StateId(to) }));
        (0..1_000).for_each(|_| rows.add_state(&[], &[0]));
        let lts = Lts::from_shared(labels, StateId(0), rows);
        let limits = trefoil_control::Limits { memory: Some(1 << 20), time: None };
        assert!(lts.make_whole(&Control::new(limits)).is_err() && lts.whole.get().is_none());
        assert_eq!(lts.make_whole(&Control::unlimited()), Ok(()));
        assert_eq!(lts.outgoing(StateId(7)).len(), 1_000);
    }

    #[test]
    fn backward_rows_name_the_sources() {
        let lts = diamond();
        let sources: Vec<u32> = lts.backward().incoming(StateId(3)).iter().map(|t| t.target.0).collect();
        assert_eq!(sources, [1, 2]);
    }

    #[test]
    fn an_lts_is_an_honest_system() {
        let lts = diamond();
        let checked = trefoil_system::Checked::new(lts.clone());
        let control = Control::unlimited();
        let mut explorer = checked.explorer(&control);
        for state in lts.states() {
            let mut found = Vec::new();
            let walk = explorer.successors(&[state.0], &mut |step| {
                found.push((step.label, step.row[0]));
                Ok(())
            });
            assert_eq!(walk, Ok(()));
            assert!(found.into_iter().eq(lts.outgoing(state).iter().map(|t| (t.label, t.target.0))));
        }
    }
}
