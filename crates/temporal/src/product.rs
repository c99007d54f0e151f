//! Has a system a run that an automaton accepts? Decided on its kept steps, by components.
//!
//! The product has pairs of a state and an automaton state: the automaton reads the letter of a state, then the system
//! takes a step. A system that cannot move repeats its last state where the claim covers such runs, too. An accepted
//! run ends in a strongly connected component of the product on whose edges all marks occur (Couvreur, *On-the-fly
//! verification of linear temporal logic*, 1999). Where we depart: the components of the *automaton* are handled one
//! after the other, in the order in which runs pass through them, since a component of the product lies above one of
//! them. So
//!
//! - of a component without an accepting cycle only the reachable pairs matter: bits, no depth-first search; an
//!   automaton state that may always stay reaches, with the first state, all of them, and no search at all is made for
//!   it;
//! - a component is decomposed only as far as it was reached, with one number for each pair (Pearce, *A space-efficient
//!   algorithm for finding strongly connected components*, 2016);
//! - in a weak component any cycle will do, and edges are not looked at a second time.
//!
//! Invariant: when a component of the automaton is taken up, all pairs through which it is entered are known. Cost:
//! time linear in pairs and edges of the product, a bit for each pair, and 4 bytes for each pair of the component that
//! is decomposed.

use trefoil_control::{Control, Stopped};
use trefoil_questions::Fairness;
use trefoil_system::{Automaton, AutomatonEdge, Cube, Cut, Value};

use crate::components::components;
use crate::fairness::{demand, strongly_fair};
use crate::folded::{Folding, fair_parts};
use crate::graph::{Graph, Record};
use crate::simplify::accepting;

/// What a claim forbids: an automaton that reads letters.
pub(crate) struct Forbidden<'c> {
    pub(crate) automaton: &'c Automaton,
    /// The number of each of its propositions among those of the system.
    pub(crate) propositions: &'c [u32],
    /// Does a system that cannot move repeat its last state?
    pub(crate) stutters: bool,
    /// Which runs count?
    pub(crate) fairness: Fairness,
}

impl Forbidden<'_> {
    /// The propositions that hold, as the automaton numbers them, given the values of the marks.
    pub(crate) fn letter(&self, marks: &[Value]) -> u64 {
        let holds = |proposition: u32| marks[proposition as usize / 32] >> (proposition % 32) & 1 == 1;
        (0u32..).zip(self.propositions).filter(|&(_, &of)| holds(of)).fold(0, |all, (own, _)| all | 1 << own)
    }
}

/// A pair of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub(crate) state: u32,
    pub(crate) automaton: u32,
}

/// An edge of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PairStep {
    pub(crate) marks: u32,
    pub(crate) target: Pair,
    /// The set of agents of the step, where they are kept.
    pub(crate) agents: Option<u32>,
    /// The place of the step among those that were kept of its state.
    pub(crate) step: u32,
}

/// A product.
pub(crate) struct Product<'p> {
    pub(crate) graph: &'p Graph,
    pub(crate) automaton: &'p Automaton,
    stutters: bool,
    pub(crate) fairness: Fairness,
    /// Where the steps are those of a quotient.
    folding: Option<&'p Folding<'p>>,
    /// For each automaton state and letter, where its edges begin.
    starts: Vec<u32>,
    edges: Vec<AutomatonEdge>,
    pub(crate) component: Vec<u32>,
    count: u32,
    accepting: Vec<bool>,
}

/// A set of states.
struct Bits(Vec<u64>);

impl Bits {
    fn insert(&mut self, at: u32) -> bool {
        let word = &mut self.0[at as usize / 64];
        let bit = 1 << (at % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    fn contains(&self, at: u32) -> bool {
        self.0[at as usize / 64] >> (at % 64) & 1 == 1
    }

    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(|(at, &word)| {
            (0..64u32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as u32 * 64 + bit)
        })
    }
}

/// The pairs that show that a claim is violated.
pub(crate) struct Accepted {
    /// By automaton state: the states that lie, with it, on an accepting component; all of them in the end of the
    /// automaton.
    sets: Vec<Option<Bits>>,
    /// Where components are told apart: a number for each pair, by automaton state and state.
    numbers: Vec<Option<Numbers>>,
}

struct Numbers {
    numbers: std::rc::Rc<Vec<u32>>,
    width: usize,
    place: usize,
}

impl Accepted {
    pub(crate) fn contains(&self, pair: Pair) -> bool {
        self.sets[pair.automaton as usize].as_ref().is_some_and(|set| set.contains(pair.state))
    }

    /// Are two accepted pairs in one component?
    pub(crate) fn together(&self, one: Pair, other: Pair) -> bool {
        let of = |pair: Pair| self.numbers[pair.automaton as usize].as_ref();
        let (Some(own), Some(others)) = (of(one), of(other)) else { return false };
        let number = |of: &Numbers, pair: Pair| of.numbers[pair.state as usize * of.width + of.place];
        // Above different components of the automaton, equal numbers mean nothing.
        self.contains(one)
            && self.contains(other)
            && std::rc::Rc::ptr_eq(&own.numbers, &others.numbers)
            && number(own, one) == number(others, other)
    }
}

impl<'p> Product<'p> {
    pub(crate) fn new(
        graph: &'p Graph,
        forbidden: &Forbidden<'p>,
        folding: Option<&'p Folding<'p>>,
        control: &Control,
    ) -> Result<Product<'p>, Stopped> {
        let automaton = forbidden.automaton;
        let letters: Vec<u64> = graph.letters.iter().map(|marks| forbidden.letter(marks)).collect();
        control.afford(letters.len() * automaton.edges.len() * 4)?;
        let (mut starts, mut edges) = (Vec::with_capacity(letters.len() * automaton.edges.len() + 1), Vec::new());
        for own in &automaton.edges {
            for &letter in &letters {
                starts.push(edges.len() as u32);
                edges.extend(own.iter().filter(|edge| edge.letters.admits(letter)));
            }
        }
        starts.push(edges.len() as u32);
        let targets: Vec<Vec<u32>> =
            automaton.edges.iter().map(|own| own.iter().map(|edge| edge.target).collect()).collect();
        let (component, count) = components(&targets);
        let accepting = accepting(automaton, &component, count);
        let Forbidden { stutters, fairness, .. } = *forbidden;
        Ok(Product { graph, automaton, stutters, fairness, folding, starts, edges, component, count, accepting })
    }

    /// The edges of the automaton at a letter.
    #[inline]
    fn edges(&self, automaton: u32, letter: u32) -> &[AutomatonEdge] {
        let at = automaton as usize * self.graph.letters.len() + letter as usize;
        &self.edges[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The pairs that runs start in.
    pub(crate) fn initial(&self) -> impl Iterator<Item = Pair> + '_ {
        self.automaton.initial.iter().map(|&automaton| Pair { state: self.graph.initial.0, automaton })
    }

    /// The edges out of a pair.
    pub(crate) fn steps(&self, pair: Pair, mut step: impl FnMut(PairStep)) {
        let Some(record) = self.graph.record(pair.state) else { return };
        let own = [pair.state];
        let targets = self.targets(&record, &own);
        for edge in self.edges(pair.automaton, record.letter) {
            for (at, &state) in targets.iter().enumerate() {
                let target = Pair { state, automaton: edge.target };
                let agents = record.agents.get(at).copied();
                step(PairStep { marks: edge.marks, target, agents, step: at as u32 });
            }
        }
    }

    #[inline]
    fn targets<'r>(&self, record: &Record<'r>, own: &'r [u32; 1]) -> &'r [u32] {
        if record.targets.is_empty() && self.stutters && !record.broken { own } else { record.targets }
    }

    /// The pairs on accepting components, or nothing when there are none.
    pub(crate) fn accepted(&self, control: &Control) -> Result<Option<Accepted>, Cut> {
        let words = self.graph.bound().div_ceil(64);
        let count = self.automaton.edges.len();
        let mut reached: Vec<Option<Bits>> = (0..count).map(|_| None).collect();
        let mut accepted =
            Accepted { sets: (0..count).map(|_| None).collect(), numbers: (0..count).map(|_| None).collect() };
        let mut any = false;
        control.afford(count * words * 8)?;
        let reach = |reached: &mut Vec<Option<Bits>>, pair: Pair| {
            let set = reached[pair.automaton as usize].get_or_insert_with(|| Bits(vec![0; words]));
            set.insert(pair.state)
        };
        for pair in self.initial() {
            reach(&mut reached, pair);
        }
        for component in (0..self.count).rev() {
            control.check()?;
            let members: Vec<u32> = (0..count as u32).filter(|&at| self.component[at as usize] == component).collect();
            if members.iter().all(|&member| reached[member as usize].is_none()) {
                continue;
            }
            if let Some(end) = self.automaton.end.filter(|end| members.contains(end)) {
                any = true;
                accepted.sets[end as usize] = reached[end as usize].take();
                continue;
            }
            self.close(&members, component, &mut reached, control)?;
            // What leaves the component.
            for &member in &members {
                let Some(set) = reached[member as usize].take() else { continue };
                let leaves = self.automaton.edges[member as usize]
                    .iter()
                    .any(|edge| self.component[edge.target as usize] != component);
                if leaves {
                    for (done, state) in set.iter().enumerate() {
                        if done % 65_536 == 0 {
                            control.check()?;
                        }
                        let Some(record) = self.graph.record(state) else { continue };
                        let own = [state];
                        for edge in self.edges(member, record.letter) {
                            if self.component[edge.target as usize] == component {
                                continue;
                            }
                            for &state in self.targets(&record, &own) {
                                reach(&mut reached, Pair { state, automaton: edge.target });
                            }
                        }
                    }
                }
                reached[member as usize] = Some(set);
            }
            if self.accepting[component as usize] {
                any |= self.decompose(&members, component, &reached, &mut accepted, control)?;
            }
            for &member in &members {
                reached[member as usize] = None;
            }
        }
        Ok(any.then_some(accepted))
    }

    /// May the automaton stay in this state whatever it reads?
    fn stays(&self, member: u32) -> bool {
        self.automaton.edges[member as usize].iter().any(|edge| edge.target == member && edge.letters == Cube::ALL)
    }

    /// Adds all pairs of a component of the automaton that are reached inside it.
    fn close(
        &self,
        members: &[u32],
        component: u32,
        reached: &mut [Option<Bits>],
        control: &Control,
    ) -> Result<(), Stopped> {
        let words = self.graph.bound().div_ceil(64);
        if let &[only] = members {
            let inside = self.automaton.edges[only as usize].iter().any(|edge| edge.target == only);
            if !inside {
                return Ok(());
            }
            let Some(set) = &mut reached[only as usize] else { return Ok(()) };
            if set.contains(self.graph.initial.0) && self.stays(only) {
                for state in self.graph.expanded() {
                    set.insert(state);
                }
                return Ok(());
            }
        }
        let mut work: Vec<Pair> = Vec::new();
        for &automaton in members {
            if let Some(set) = &reached[automaton as usize] {
                work.extend(set.iter().map(|state| Pair { state, automaton }));
            }
        }
        let mut done = 0u32;
        while let Some(pair) = work.pop() {
            done = done.wrapping_add(1);
            if done.is_multiple_of(65_536) {
                control.check()?;
            }
            let Some(record) = self.graph.record(pair.state) else { continue };
            let own = [pair.state];
            for edge in self.edges(pair.automaton, record.letter) {
                if self.component[edge.target as usize] != component {
                    continue;
                }
                let set = reached[edge.target as usize].get_or_insert_with(|| Bits(vec![0; words]));
                for &state in self.targets(&record, &own) {
                    if set.insert(state) {
                        work.push(Pair { state, automaton: edge.target });
                    }
                }
            }
        }
        Ok(())
    }

    /// Finds the accepting components of the product above one of the automaton; whether there are any.
    fn decompose(
        &self,
        members: &[u32],
        component: u32,
        reached: &[Option<Bits>],
        accepted: &mut Accepted,
        control: &Control,
    ) -> Result<bool, Cut> {
        let width = members.len();
        let bound = self.graph.bound();
        control.afford(bound * width * 4)?;
        let mut place = vec![u32::MAX; self.automaton.edges.len()];
        for (at, &member) in members.iter().enumerate() {
            place[member as usize] = at as u32;
        }
        let all = self.automaton.all_marks();
        let weak = members.iter().all(|&member| {
            let own = self.automaton.edges[member as usize].iter();
            own.filter(|edge| self.component[edge.target as usize] == component).all(|edge| edge.marks == all)
        });
        let mut tarjan = Tarjan {
            product: self,
            members,
            place: &place,
            component,
            numbers: vec![0; bound * width],
            next: 1,
            finished: u32::MAX,
            open: Vec::new(),
            walk: Vec::new(),
            found: Vec::new(),
            weak,
            all,
            since_check: 0,
        };
        for (at, &member) in members.iter().enumerate() {
            let Some(set) = &reached[member as usize] else { continue };
            for state in set.iter() {
                if tarjan.numbers[state as usize * width + at] == 0 {
                    tarjan.from(Pair { state, automaton: member }, control)?;
                }
            }
        }
        let Tarjan { numbers, found, .. } = tarjan;
        if found.is_empty() {
            return Ok(false);
        }
        for pair in found {
            let words = bound.div_ceil(64);
            accepted.sets[pair.automaton as usize].get_or_insert_with(|| Bits(vec![0; words])).insert(pair.state);
        }
        let numbers = std::rc::Rc::new(numbers);
        for (at, &member) in members.iter().enumerate() {
            accepted.numbers[member as usize] = Some(Numbers { numbers: numbers.clone(), width, place: at });
        }
        Ok(true)
    }
}

/// A pair on the way of the depth-first search.
struct Frame {
    pair: Pair,
    /// The next edge of the automaton, and the next step of the system.
    edge: u32,
    step: u32,
    root: bool,
}

/// The decomposition of one component of the automaton's part of the product.
struct Tarjan<'t, 'p> {
    product: &'t Product<'p>,
    members: &'t [u32],
    place: &'t [u32],
    component: u32,
    /// 0 for a pair that was not met, small numbers on the way, large ones for finished components.
    numbers: Vec<u32>,
    next: u32,
    finished: u32,
    open: Vec<Pair>,
    walk: Vec<Frame>,
    /// The pairs of accepting components.
    found: Vec<Pair>,
    weak: bool,
    all: u32,
    since_check: u32,
}

impl Tarjan<'_, '_> {
    #[inline]
    fn number(&self, pair: Pair) -> usize {
        pair.state as usize * self.members.len() + self.place[pair.automaton as usize] as usize
    }

    fn enter(&mut self, pair: Pair) {
        let at = self.number(pair);
        self.numbers[at] = self.next;
        self.next += 1;
        self.walk.push(Frame { pair, edge: 0, step: 0, root: true });
    }

    fn from(&mut self, pair: Pair, control: &Control) -> Result<(), Cut> {
        self.enter(pair);
        while let Some(frame) = self.walk.last() {
            let Frame { pair, mut edge, mut step, .. } = *frame;
            let at = self.number(pair);
            let mut root = frame.root;
            let mut deeper = None;
            if let Some(record) = self.product.graph.record(pair.state) {
                let own = [pair.state];
                let targets = self.product.targets(&record, &own);
                let edges = self.product.edges(pair.automaton, record.letter);
                'edges: while let Some(taken) = edges.get(edge as usize) {
                    if self.product.component[taken.target as usize] == self.component {
                        while let Some(&state) = targets.get(step as usize) {
                            let target = Pair { state, automaton: taken.target };
                            let number = self.numbers[self.number(target)];
                            if number == 0 {
                                deeper = Some(target);
                                break 'edges;
                            }
                            if number < self.numbers[at] {
                                self.numbers[at] = number;
                                root = false;
                            }
                            step += 1;
                        }
                    }
                    edge += 1;
                    step = 0;
                }
            }
            if let Some(frame) = self.walk.last_mut() {
                (frame.edge, frame.step, frame.root) = (edge, step, root);
            }
            match deeper {
                Some(target) => {
                    if self.walk.len() == self.walk.capacity() {
                        control.afford(self.walk.len() * 2 * size_of::<Frame>())?;
                    }
                    self.enter(target);
                }
                None => {
                    self.walk.pop();
                    self.leave(pair, at, root, control)?;
                }
            }
            self.since_check += 1;
            if self.since_check == 65_536 {
                self.since_check = 0;
                control.check()?;
            }
        }
        Ok(())
    }

    fn leave(&mut self, pair: Pair, at: usize, root: bool, control: &Control) -> Result<(), Cut> {
        if !root {
            self.open.push(pair);
            return Ok(());
        }
        let own = self.numbers[at];
        self.next -= 1;
        let mut from = self.open.len();
        while from > 0 && own <= self.numbers[self.number(self.open[from - 1])] {
            from -= 1;
            let member = self.number(self.open[from]);
            self.numbers[member] = self.finished;
            self.next -= 1;
        }
        self.numbers[at] = self.finished;
        self.open.push(pair);
        if self.is_accepting(from) {
            self.keep_fair(from, control)?;
        }
        self.open.truncate(from);
        self.finished -= 1;
        Ok(())
    }

    /// Keeps the pairs of an accepting component that lie on fair cycles.
    fn keep_fair(&mut self, from: usize, control: &Control) -> Result<(), Cut> {
        let own = self.finished;
        let members = &self.open[from..];
        let inside = |pair: Pair| {
            self.product.component[pair.automaton as usize] == self.component && self.numbers[self.number(pair)] == own
        };
        let fairness = self.product.fairness;
        if fairness == Fairness::None {
            self.found.extend(members.iter().copied());
        } else if let Some(folding) = self.product.folding {
            let mut folder = folding.folder(control);
            let parts = fair_parts(self.product, &mut folder, members.to_vec(), self.all, control)?;
            self.keep(parts);
        } else if demand(self.product, members, inside, fairness).is_ok() {
            self.found.extend(members.iter().copied());
        } else if fairness == Fairness::Strong {
            self.keep(strongly_fair(self.product, members.to_vec(), self.all, control)?);
        }
        Ok(())
    }

    /// Keeps parts of a component.
    fn keep(&mut self, parts: Vec<Vec<Pair>>) {
        for part in parts {
            self.finished -= 1;
            for &pair in &part {
                let at = self.number(pair);
                self.numbers[at] = self.finished;
            }
            self.found.extend(part);
        }
    }

    /// Is the component of the open pairs from here on accepting?
    fn is_accepting(&self, from: usize) -> bool {
        let members = &self.open[from..];
        if self.weak && members.len() > 1 {
            return true;
        }
        let (mut marks, mut inside) = (0, false);
        for &member in members {
            self.product.steps(member, |PairStep { marks: carried, target, .. }| {
                let same = self.product.component[target.automaton as usize] == self.component
                    && self.numbers[self.number(target)] == self.finished;
                if same {
                    marks |= carried;
                    inside = true;
                }
            });
            if inside && marks == self.all {
                return true;
            }
        }
        false
    }
}
