//! The search for a witness in the product of a normal form and an implementation.
//!
//! This is the improved family of algorithms 4, 5 and 6 of Laveaux, *Accelerated verification of concurrent systems*
//! (2022, chapter 2; first Laveaux, Groote and Willemse, *Correct and efficient antichain algorithms for refinement
//! checking*, 2019), which correct Wang et al., *More anti-chain based refinement checking* (2012). A pair (U, s) of a
//! set of specification states and an implementation state is a witness when
//!
//! - s has an event that no state of U has (all models; the pair (∅, s') after it, in the words of the thesis);
//! - s accepts a set of labels that no acceptance of U is inside (all models but traces), s being stable;
//! - s is stable and has an event that no stable state of U that offers nothing but what s offers has (revivals);
//! - s diverges (models with divergences).
//!
//! Refusal testing observes what s refuses before its events as well. So for a stable s the search goes on with those
//! stable states of U that offer nothing but what s offers: there must be one, and s must have no event that none of
//! them has. The set is taken when the pair is explored; the pair itself is kept with U, and a smaller U asks the
//! stronger question as in the other models.
//!
//! With divergences none of this is a witness when U diverges, and no pair behind such a pair is explored
//! (definition 2.2.21): the normal form returns chaos, and the search drops the pair. Pairs are inserted into the
//! antichain when they are discovered, and larger ones are evicted then. With [`crate::visited::Everything`] in place
//! of the antichain the same search is the classical one on the normal form.
//!
//! # Breadth-first search and the shortest witness
//!
//! The length of a witness is its number of visible events. A level is all pairs at one such distance, and a round
//! those of a level that are also at one distance in silent steps: a visible event leads from round (d, s) to round
//! (d + 1, s), a `τ` to round (d, s + 1). Rounds are made in their lexicographic order, each from two earlier ones:
//! first by the events of round (d − 1, s), then by the `τ`-steps of round (d, s − 1). So pairs are inserted in the
//! order of their rounds, and that is what keeps lengths exact under pruning and eviction:
//!
//! - If (V, s) is not inserted because (U, s) with U ⊆ V is kept, then (U, s) was found in the same round or an earlier
//!   one, and whatever witness (V, s) leads to by some events, (U, s) leads to by the same events (proposition 2.4.7
//!   and lemma 2.4.8).
//! - If (U, s) evicts (V, s), U prunes everything that V would have pruned from now on, for the same reason: it comes
//!   in U's round or later. A pair that was evicted in its own round need not be explored, by the first point with the
//!   order in time reversed; one that is evicted from a later round must be, and is: its witness may be shorter, or
//!   have fewer silent steps.
//!
//! Were the targets of events inserted as soon as a pair is found, a set found by an event could prune or evict a set
//! found by `τ` afterwards, one level nearer, and a longer witness be reported. The specification's successors by the
//! events of a pair are looked up as soon as the round of the pair is made, and kept until the events are taken: that
//! inserts nothing.
//!
//! A missing event on level n is a witness of length n + 1, an acceptance or a divergence on level n one of length n:
//! where these are observed, the former is held back until the level is complete. In the traces model it ends the
//! search with its round, whatever `τ` may still reach. Of several witnesses of a round the pair that was found first
//! is taken, and pairs are found in the order in which the implementation gives its steps, so that the witness is the
//! same every time.
//!
//! Depth-first search explores the pair discovered last and promises nothing about length. There a pair that was
//! evicted while it waited is skipped: its evictor, or the evictor's evictor, is explored or waits, and is at least as
//! near to a witness.
//!
//! # Representatives
//!
//! With symmetries the states of the implementation are representatives ([`crate::representatives`]), and a node is
//! carried along by the element that carried the state: definition 17 of Gibson-Robinson and Lowe, *Symmetry reduction
//! in CSP model checking* (2019). Everything said above stays true of pairs that stand for their images. A pair (V, s)
//! is pruned by (U, s) with U ⊆ V as before: if an image of (V, s) leads to a witness, then (V, s) leads to the image
//! of that witness, (U, s) leads to it by the same events, and so does the image of (U, s). Sets that become comparable
//! only by an element that keeps s are not found; that costs pairs, not verdicts.
//!
//! Cost: every inserted pair takes 16 bytes for the path; on the level that is made and on the one before it, every
//! pair takes 8 bytes more and every event 12, so that the implementation is not explored twice. Every step takes one
//! look-up in the memo of the normal form and one in the antichain.

use trefoil_control::{Control, Stopped};
use trefoil_lts::divergence::Divergence;
use trefoil_lts::{LazyNormalForm, NodeId, Scratch, Transition};
use trefoil_system::{Cut, LabelId, Model};

use crate::Search;
use crate::implementation::{Graph, Taus};
use crate::representatives::Carrier;
use crate::statistics::Statistics;
use crate::visited::{Insertion, Visited};

/// A pair of the product and how it was reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) state: u32,
    pub(crate) node: NodeId,
    pub(crate) parent: u32,
    pub(crate) label: LabelId,
}

const ROOT: u32 = u32::MAX;

/// A witness, in terms of pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A pair whose implementation has an event that the specification does not have, or does not have where it refuses
    /// as much; then the node after it is known.
    Event { pair: u32, label: LabelId, target: u32, node: Option<NodeId> },
    /// A pair whose implementation accepts only these labels.
    Acceptance { pair: u32, accepted: Vec<LabelId> },
    /// A pair whose implementation diverges.
    Divergence { pair: u32 },
}

/// One search: its systems, and its results so far.
pub(crate) struct ProductSearch<'a, G, V> {
    pub(crate) graph: &'a mut G,
    pub(crate) divergence: Divergence,
    model: Model,
    product: Product<'a, V>,
    offers: Offers,
    /// The labels that a stable state offers, ascending, in models that need them so.
    offered: Vec<LabelId>,
}

/// The pairs that were found, apart from the implementation so that its rows can be read meanwhile.
struct Product<'a, V> {
    normal_form: &'a LazyNormalForm,
    visited: V,
    pairs: Vec<Pair>,
    scratch: Scratch,
    carrier: Option<Carrier<'a>>,
    control: &'a Control,
    statistics: &'a mut Statistics,
    kept: u64,
    waiting: u64,
    since_check: u32,
    reported: (u64, u64),
}

impl<'a, G: Graph, V: Visited> ProductSearch<'a, G, V> {
    pub(crate) fn new(
        normal_form: &'a LazyNormalForm,
        graph: &'a mut G,
        model: Model,
        visited: V,
        carrier: Option<Carrier<'a>>,
        control: &'a Control,
        statistics: &'a mut Statistics,
    ) -> Self {
        let product = Product {
            normal_form,
            visited,
            pairs: Vec::new(),
            scratch: Scratch::default(),
            carrier,
            control,
            statistics,
            kept: 0,
            waiting: 0,
            since_check: 0,
            reported: (0, 0),
        };
        ProductSearch {
            graph,
            divergence: Divergence::new(),
            model,
            product,
            offers: Offers::default(),
            offered: Vec::new(),
        }
    }

    /// Searches a witness.
    pub(crate) fn run(&mut self, search: Search) -> Result<Option<Found>, Cut> {
        let initial = self.graph.initial();
        self.product.discover(ROOT, LabelId::TAU, initial, self.product.normal_form.initial())?;
        // The initial pair is inserted without a look-up.
        self.product.statistics.antichain_misses = 0;
        self.product.statistics.transitions = 0;
        match search {
            Search::BreadthFirst => self.breadth_first(),
            Search::DepthFirst => self.depth_first(),
        }
    }

    /// The steps from the initial pair to a pair: labels and implementation states.
    pub(crate) fn path(&self, pair: u32) -> Vec<(LabelId, u32)> {
        let mut steps = Vec::new();
        let mut here = self.product.pairs[pair as usize];
        while here.parent != ROOT {
            steps.push((here.label, here.state));
            here = self.product.pairs[here.parent as usize];
        }
        steps.reverse();
        steps
    }

    /// The pairs from the initial one to a pair.
    pub(crate) fn pairs_to(&self, pair: u32) -> Vec<Pair> {
        let mut pairs = vec![self.product.pairs[pair as usize]];
        let mut here = pairs[0];
        while here.parent != ROOT {
            here = self.product.pairs[here.parent as usize];
            pairs.push(here);
        }
        pairs.reverse();
        pairs
    }

    /// A pair that was found.
    pub(crate) fn pair(&self, pair: u32) -> Pair {
        self.product.pairs[pair as usize]
    }

    fn breadth_first(&mut self) -> Result<Option<Found>, Cut> {
        let [before, level] = &mut [Level::default(), Level::default()];
        let (mut before, mut level) = (before, level);
        let mut missing_event = None;
        // The initial pair is the first round; chaos is none.
        let (mut first, mut silent, mut evictions) = (0, 0, 0);
        loop {
            if first < self.product.pairs.len() as u32 {
                let stale = self.product.statistics.antichain_evictions > evictions;
                if let Some(found) = self.judge(first, stale, level, &mut missing_event)? {
                    return Ok(Some(found));
                }
                level.end_round(silent);
            }
            first = self.product.pairs.len() as u32;
            evictions = self.product.statistics.antichain_evictions;
            if let Some(next) = self.make_round(before, level, silent)? {
                silent = next;
                continue;
            }
            if missing_event.is_some() || level.rounds.is_empty() {
                return Ok(missing_event);
            }
            std::mem::swap(&mut before, &mut level);
            level.clear();
            self.product.statistics.levels += 1;
            self.product.control.progress().depth(self.product.statistics.levels);
        }
    }

    /// Finds the pairs of the round that comes after the one with so many silent steps, and gives its number of silent
    /// steps; `None` when the level is through.
    fn make_round(&mut self, before: &mut Level, level: &mut Level, silent: u32) -> Result<Option<u32>, Cut> {
        let by_event = before.rounds.get(before.entered).map(|round| round.silent);
        let by_silence = (!level.unstable.is_empty()).then_some(silent + 1);
        let Some(next) = by_event.into_iter().chain(by_silence).min() else { return Ok(None) };
        if by_event == Some(next) {
            self.product.enter(before)?;
        }
        if by_silence == Some(next) {
            for &index in &level.unstable {
                let pair = self.product.pairs[index as usize];
                self.product.internal(index, pair, self.graph)?;
            }
            level.unstable.clear();
        }
        Ok(Some(next))
    }

    /// Looks at the pairs of a round, which are those from the first one on, and lets them wait in the level, except
    /// those that one of the round evicted. The result is the first witness that ends the search; a missing event ends
    /// it in the traces model only.
    fn judge(
        &mut self,
        first: u32,
        stale: bool,
        level: &mut Level,
        missing_event: &mut Option<Found>,
    ) -> Result<Option<Found>, Cut> {
        let last = self.product.pairs.len() as u32;
        make_room(&mut level.waiting, (last - first) as usize, self.product.control)?;
        for index in first..last {
            self.product.tick()?;
            let pair = self.product.pairs[index as usize];
            if stale && !self.product.visited.keeps(pair.state, pair.node) {
                self.product.waiting -= 1;
                continue;
            }
            if self.diverges(pair)? {
                return Ok(Some(Found::Divergence { pair: index }));
            }
            self.graph.explore(pair.state)?;
            let seen = match self.observe(pair)? {
                Observed::Allowed(node) => Pair { node, ..pair },
                Observed::Refused(accepted) => return Ok(Some(Found::Acceptance { pair: index, accepted })),
            };
            let events = level.events.len();
            if missing_event.is_none()
                && let Some(missing) = self.missing_event(index, seen, &mut level.events)?
            {
                if self.model == Model::Traces {
                    return Ok(Some(missing));
                }
                *missing_event = Some(missing);
            }
            level.waiting.push(Waiting { pair: index, events: (level.events.len() - events) as u32 });
            if !self.graph.is_stable(pair.state) {
                level.unstable.push(index);
            }
        }
        Ok(None)
    }

    fn depth_first(&mut self) -> Result<Option<Found>, Cut> {
        let mut stack: Vec<u32> = (0..self.product.pairs.len() as u32).collect();
        while let Some(index) = stack.pop() {
            self.product.waiting -= 1;
            let pair = self.product.pairs[index as usize];
            if !self.product.visited.keeps(pair.state, pair.node) {
                continue;
            }
            if self.diverges(pair)? {
                return Ok(Some(Found::Divergence { pair: index }));
            }
            self.graph.explore(pair.state)?;
            let seen = match self.observe(pair)? {
                Observed::Allowed(node) => Pair { node, ..pair },
                Observed::Refused(accepted) => return Ok(Some(Found::Acceptance { pair: index, accepted })),
            };
            if let Some(missing) = self.not_revived(index, seen)? {
                return Ok(Some(missing));
            }
            let first = self.product.pairs.len() as u32;
            if !self.graph.is_stable(pair.state) {
                self.product.internal(index, pair, self.graph)?;
            }
            if let Some(missing) = self.product.events(index, seen, self.graph)? {
                return Ok(Some(missing));
            }
            stack.extend(first..self.product.pairs.len() as u32);
        }
        Ok(None)
    }

    /// Does the implementation diverge, where that is observed? The specification does not: such pairs are dropped.
    #[inline]
    fn diverges(&mut self, pair: Pair) -> Result<bool, Cut> {
        if !self.model.observes_divergence() {
            return Ok(false);
        }
        match self.graph.says_that_it_diverges(pair.state)? {
            Some(diverges) => Ok(diverges),
            None => self.divergence.diverges(pair.state, &mut Taus(self.graph), self.product.control),
        }
    }

    /// What the specification makes of what the implementation stably accepts, where that is observed.
    #[inline]
    fn observe(&mut self, pair: Pair) -> Result<Observed, Cut> {
        if self.model == Model::Traces {
            return Ok(Observed::Allowed(pair.node));
        }
        self.compare_acceptances(pair)
    }

    fn compare_acceptances(&mut self, pair: Pair) -> Result<Observed, Cut> {
        let normal_form = self.product.normal_form;
        if self.graph.carries_acceptances() {
            let refused = self.graph.accepts_less(pair.state, &mut |accepted| {
                normal_form.allows(pair.node, |label| accepted.binary_search(&label).is_ok())
            })?;
            return Ok(refused.map_or(Observed::Allowed(pair.node), Observed::Refused));
        }
        if !self.graph.is_stable(pair.state) {
            return Ok(Observed::Allowed(pair.node));
        }
        let row = self.graph.row(pair.state);
        if self.model.observes_refusals_on_the_way() {
            self.offered.clear();
            self.offered.extend(row.iter().map(|step| step.label));
            self.offered.sort_unstable();
            self.offered.dedup();
            let Product { scratch, control, .. } = &mut self.product;
            return Ok(match normal_form.within(pair.node, &self.offered, scratch, control)? {
                Some(node) => Observed::Allowed(node),
                None => Observed::Refused(self.offered.clone()),
            });
        }
        self.offers.set(row.iter().map(|step| step.label));
        if normal_form.allows(pair.node, |label| self.offers.contains(label)) {
            return Ok(Observed::Allowed(pair.node));
        }
        let mut accepted: Vec<LabelId> = row.iter().map(|step| step.label).collect();
        accepted.sort_unstable();
        accepted.dedup();
        Ok(Observed::Refused(accepted))
    }

    /// Looks up where the visible steps of a pair lead. The result is the first step that the specification does not
    /// have, or does not have where it refuses as much.
    #[inline]
    fn missing_event(&mut self, index: u32, pair: Pair, events: &mut Vec<Event>) -> Result<Option<Found>, Cut> {
        if let Some(step) = self.product.look_up(pair, self.graph, events)? {
            return Ok(Some(Found::Event { pair: index, label: step.label, target: step.target.0, node: None }));
        }
        self.not_revived(index, pair)
    }

    /// The first event of a stable state that the specification has in no stable state that refuses as much, where that
    /// is observed.
    #[inline]
    fn not_revived(&mut self, index: u32, pair: Pair) -> Result<Option<Found>, Cut> {
        if !self.model.observes_revivals() || !self.graph.is_stable(pair.state) {
            return Ok(None);
        }
        let row = self.graph.row(pair.state);
        self.offered.clear();
        self.offered.extend(row.iter().map(|step| step.label));
        self.offered.sort_unstable();
        self.offered.dedup();
        let Product { normal_form, scratch, .. } = &mut self.product;
        let Some(label) = normal_form.not_revived(pair.node, &self.offered, scratch) else { return Ok(None) };
        let Some(place) = row.iter().position(|step| step.label == label) else { unreachable!("it is offered") };
        let target = row[place].target.0;
        let node = match self.product.successor(pair.node, label)? {
            Some(node) => Some(self.product.carry(self.graph, pair.state, place, node)?),
            None => None,
        };
        Ok(Some(Found::Event { pair: index, label, target, node }))
    }
}

/// What the specification makes of what a state of the implementation stably accepts.
enum Observed {
    /// It goes on from here.
    Allowed(NodeId),
    /// It accepts more; these are all that the implementation accepts.
    Refused(Vec<LabelId>),
}

impl<V: Visited> Product<'_, V> {
    fn successor(&mut self, node: NodeId, label: LabelId) -> Result<Option<NodeId>, Stopped> {
        self.normal_form.successor(node, label, &mut self.scratch, self.control)
    }

    /// Takes the internal steps of a pair.
    fn internal<G: Graph>(&mut self, index: u32, pair: Pair, graph: &G) -> Result<(), Cut> {
        let steps = graph.row(pair.state).iter().enumerate();
        for (at, step) in steps.filter(|(_, step)| step.label == LabelId::TAU) {
            let node = self.carry(graph, pair.state, at, pair.node)?;
            self.discover(index, step.label, step.target.0, node)?;
        }
        Ok(())
    }

    /// The node beside the representative that a step leads to.
    #[inline]
    fn carry<G: Graph>(&mut self, graph: &G, state: u32, step: usize, node: NodeId) -> Result<NodeId, Cut> {
        match (&mut self.carrier, graph.carried(state, step)) {
            (Some(carrier), Some((number, element))) => carrier.carry(node, number, element),
            _ => Ok(node),
        }
    }

    /// Takes the visible steps of a pair; a step that the specification does not have is a witness.
    fn events<G: Graph>(&mut self, index: u32, pair: Pair, graph: &G) -> Result<Option<Found>, Cut> {
        let (mut known, mut following) = ((LabelId::TAU, NodeId::CHAOS), self.normal_form.following(pair.node));
        let steps = graph.row(pair.state).iter().enumerate();
        for (at, step) in steps.filter(|(_, step)| step.label.is_visible()) {
            if step.label != known.0 {
                match following.successor(step.label, &mut self.scratch, self.control)? {
                    Some(node) => known = (step.label, node),
                    None => {
                        let (label, target) = (step.label, step.target.0);
                        return Ok(Some(Found::Event { pair: index, label, target, node: None }));
                    }
                }
            }
            let node = self.carry(graph, pair.state, at, known.1)?;
            self.discover(index, step.label, step.target.0, node)?;
        }
        Ok(None)
    }

    /// Looks up where the visible steps of a pair lead. The result is the first step that the specification does not
    /// have.
    fn look_up<G: Graph>(&mut self, pair: Pair, graph: &G, events: &mut Vec<Event>) -> Result<Option<Transition>, Cut> {
        let row = graph.row(pair.state);
        make_room(events, row.len(), self.control)?;
        let (mut known, mut following) = ((LabelId::TAU, NodeId::CHAOS), self.normal_form.following(pair.node));
        for (at, step) in row.iter().enumerate().filter(|(_, step)| step.label.is_visible()) {
            if step.label != known.0 {
                match following.successor(step.label, &mut self.scratch, self.control)? {
                    Some(node) => known = (step.label, node),
                    None => return Ok(Some(*step)),
                }
            }
            let node = self.carry(graph, pair.state, at, known.1)?;
            events.push(Event { label: step.label, state: step.target.0, node });
        }
        Ok(None)
    }

    /// Takes the events of the next round of a level.
    fn enter(&mut self, level: &mut Level) -> Result<(), Stopped> {
        let (pairs, mut rest) = level.enter();
        for waiting in pairs {
            let (events, others) = rest.split_at(waiting.events as usize);
            rest = others;
            self.waiting -= 1;
            for &Event { label, state, node } in events {
                self.discover(waiting.pair, label, state, node)?;
            }
        }
        Ok(())
    }

    /// Polls the control from time to time, and reports progress.
    #[inline]
    fn tick(&mut self) -> Result<(), Stopped> {
        self.since_check += 1;
        if self.since_check == 4096 {
            self.since_check = 0;
            self.control.check()?;
            let (states, transitions) = (self.statistics.states, self.statistics.transitions);
            self.control.progress().add(states - self.reported.0, transitions - self.reported.1);
            self.reported = (states, transitions);
        }
        Ok(())
    }

    #[inline]
    fn discover(&mut self, parent: u32, label: LabelId, state: u32, node: NodeId) -> Result<(), Stopped> {
        self.tick()?;
        self.statistics.transitions += 1;
        if node == NodeId::CHAOS {
            return Ok(());
        }
        match self.visited.insert(self.normal_form, state, node, self.control)? {
            Insertion::Hit => self.statistics.antichain_hits += 1,
            Insertion::Inserted(evicted) => {
                if self.pairs.len() >= ROOT as usize {
                    return Err(self.control.out_of_numbers());
                }
                if self.pairs.len() == self.pairs.capacity() {
                    self.control.afford(self.pairs.len() * 2 * size_of::<Pair>())?;
                }
                self.pairs.push(Pair { state, node, parent, label });
                let statistics = &mut *self.statistics;
                statistics.antichain_misses += 1;
                statistics.states += 1;
                statistics.antichain_evictions += u64::from(evicted);
                self.kept = self.kept + 1 - u64::from(evicted);
                self.waiting += 1;
                statistics.antichain_max = statistics.antichain_max.max(self.kept);
                statistics.working_max = statistics.working_max.max(self.waiting);
            }
        }
        Ok(())
    }
}

/// The pairs of a level that are to be explored, round after round.
#[derive(Default)]
struct Level {
    waiting: Vec<Waiting>,
    /// Their events, those of one pair after those of the other.
    events: Vec<Event>,
    /// The rounds that have pairs.
    rounds: Vec<Round>,
    /// How many rounds had their events taken.
    entered: usize,
    /// The pairs of the last round whose silent steps are still to be followed.
    unstable: Vec<u32>,
}

/// A pair that waits for its events to be taken, and how many these are.
struct Waiting {
    pair: u32,
    events: u32,
}

/// An event of a pair, and the state and the node that it leads to.
#[derive(Clone, Copy)]
struct Event {
    label: LabelId,
    state: u32,
    node: NodeId,
}

/// The pairs at one distance in silent steps: how many wait in the level up to its end, and how many events they have.
#[derive(Clone, Copy)]
struct Round {
    silent: u32,
    waiting: usize,
    events: usize,
}

impl Level {
    /// Ends a round whose pairs are all there.
    fn end_round(&mut self, silent: u32) {
        self.rounds.push(Round { silent, waiting: self.waiting.len(), events: self.events.len() });
    }

    /// The pairs of the next round to take the events of, and these events.
    fn enter(&mut self) -> (&[Waiting], &[Event]) {
        let Round { waiting, events, .. } = self.rounds[self.entered];
        let earlier = self.entered.checked_sub(1).map(|earlier| self.rounds[earlier]);
        self.entered += 1;
        let (first, first_event) = earlier.map_or((0, 0), |round| (round.waiting, round.events));
        (&self.waiting[first..waiting], &self.events[first_event..events])
    }

    /// Forgets everything but the room that it took.
    fn clear(&mut self) {
        self.waiting.clear();
        self.events.clear();
        self.rounds.clear();
        self.entered = 0;
    }
}

/// Makes room for some more, if there is.
#[inline]
fn make_room<T>(list: &mut Vec<T>, more: usize, control: &Control) -> Result<(), Stopped> {
    if list.capacity() - list.len() < more {
        control.afford(list.len().max(more) * 2 * size_of::<T>())?;
        list.reserve(more);
    }
    Ok(())
}

/// The labels that a state offers, with queries in constant time.
#[derive(Default)]
struct Offers {
    marks: Vec<u32>,
    round: u32,
}

impl Offers {
    fn set(&mut self, labels: impl Iterator<Item = LabelId>) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.marks.fill(0);
            self.round = 1;
        }
        for label in labels {
            if label.index() >= self.marks.len() {
                self.marks.resize(label.index() + 1, 0);
            }
            self.marks[label.index()] = self.round;
        }
    }

    fn contains(&self, label: LabelId) -> bool {
        self.marks.get(label.index()) == Some(&self.round)
    }
}
