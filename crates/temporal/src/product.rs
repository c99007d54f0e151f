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
//!   automaton state that may always stay reaches, with the first state, all of them, and the records are passed
//!   through once, in the order in which they lie, for the edges that leave it;
//! - a component is decomposed only as far as it is entered, with one number for each pair ([`depth_first`]); the
//!   edges that leave it are followed in the same pass;
//! - pairs that lie on no cycle are left out as far as one pass over the records finds them ([`crate::trim`]);
//! - a pair by itself without a loop, as most are where a claim holds, is done with when it is left;
//! - in a weak component any cycle will do, and edges are not looked at a second time.
//!
//! # Propositions without a value
//!
//! In some states some propositions have no value: their evaluation is an error. An edge of the automaton whose letters
//! depend on one of them there is left out, and it is noted that the automaton *looks* at it. Where it looks at none,
//! the product is the same whatever values they are given, and so is the verdict; what is accepted without such edges
//! is accepted with them, too, so a violation is real in any case. But that nothing is accepted says nothing where the
//! automaton has looked ([`Shown::Nothing`]). It looks at less than the formula names: with `a` false, an edge at
//! `a && p` is out of the question whatever `p` is.
//!
//! Invariant: when a component of the automaton is taken up, all pairs through which it is entered are known. Cost:
//! time linear in pairs and edges of the product, a bit for each pair that is entered, 4 bytes for each pair of the
//! component that is decomposed, and 24 for each on the way of the depth-first search.

mod depth_first;

use trefoil_control::{Control, Stopped};
use trefoil_questions::Fairness;
use trefoil_system::{Automaton, Cube, Cut, Value};

use crate::components::components;
use crate::folded::Folding;
use crate::graph::{Part, Record};
use crate::simplify::accepting;

use depth_first::Tarjan;

/// What a claim forbids: an automaton that reads letters.
pub(crate) struct Forbidden<'c> {
    pub(crate) automaton: &'c Automaton,
    /// The number of each of its propositions among those of the system.
    pub(crate) propositions: &'c [u32],
    /// Does a system that cannot move repeat its last state?
    pub(crate) stutters: bool,
    /// Which runs count?
    pub(crate) fairness: Fairness,
    /// The marks of a step that passes what counts, beside those of the automaton's edge.
    pub(crate) passing: u32,
    /// How many marks show propositions; those that say which have no value follow them, if there are any.
    pub(crate) shown: usize,
}

/// A letter as an automaton reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// The propositions that hold.
    holds: u64,
    /// Those that have no value.
    undefined: u64,
}

impl Reading {
    /// May an edge with these letters be taken? Nothing where that depends on a proposition without a value.
    pub(crate) fn is_admitted(self, letters: Cube) -> Option<bool> {
        letters.admits_partly(self.holds, self.undefined)
    }

    /// The propositions without a value on which an edge with these letters depends.
    pub(crate) fn looked_at(self, letters: Cube) -> u64 {
        match self.is_admitted(letters) {
            Some(_) => 0,
            None => (letters.yes | letters.no) & self.undefined,
        }
    }
}

impl Forbidden<'_> {
    /// The propositions that hold and those that have no value, as the automaton numbers them, given the values of the
    /// marks.
    pub(crate) fn reading(&self, marks: &[Value]) -> Reading {
        let (shown, undefined) = marks.split_at(self.shown);
        let own = |marks: &[Value]| {
            let is_in = |proposition: u32| marks[proposition as usize / 32] >> (proposition % 32) & 1 == 1;
            (0u32..).zip(self.propositions).filter(|&(_, &of)| is_in(of)).fold(0, |all, (own, _)| all | 1 << own)
        };
        Reading { holds: own(shown), undefined: if undefined.is_empty() { 0 } else { own(undefined) } }
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
    /// The note of the step, where notes are kept.
    pub(crate) note: Option<u32>,
    /// The place of the step among those that were kept of its state.
    pub(crate) step: u32,
}

/// A product.
pub(crate) struct Product<'p> {
    pub(crate) graph: Part<'p>,
    pub(crate) automaton: &'p Automaton,
    stutters: bool,
    pub(crate) fairness: Fairness,
    passing: u32,
    /// Where the steps are those of a quotient.
    folding: Option<&'p Folding<'p>>,
    /// For each automaton state and letter, where its moves begin, and where those of them that leave its component.
    starts: Vec<(u32, u32)>,
    moves: Vec<Move>,
    /// How many letters there are.
    letters: usize,
    /// For each automaton state and letter, the propositions without a value that are looked at; empty where all have
    /// values.
    looks: Vec<u64>,
    pub(crate) component: Vec<u32>,
    count: u32,
    accepting: Vec<bool>,
}

/// An edge of the automaton at some letter.
#[derive(Clone, Copy)]
pub(crate) struct Move {
    pub(crate) target: u32,
    marks: u32,
}

/// A set of states.
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// An empty set of numbers below a bound.
    pub(crate) fn new(bound: usize) -> Bits {
        Bits(vec![0; bound.div_ceil(64)])
    }

    /// All numbers below a bound, and perhaps some others.
    pub(crate) fn full(bound: usize) -> Bits {
        Bits(vec![u64::MAX; bound.div_ceil(64)])
    }

    #[inline]
    pub(crate) fn remove(&mut self, at: u32) {
        self.0[at as usize / 64] &= !(1 << (at % 64));
    }

    #[inline]
    pub(crate) fn insert(&mut self, at: u32) -> bool {
        let word = &mut self.0[at as usize / 64];
        let bit = 1 << (at % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    #[inline]
    pub(crate) fn contains(&self, at: u32) -> bool {
        self.0[at as usize / 64] >> (at % 64) & 1 == 1
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().zip(0u32..).filter(|(word, _)| **word != 0).flat_map(|(&word, at)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(at * 64 + bit)
            })
        })
    }
}

/// What a product shows.
pub(crate) enum Shown {
    /// Pairs on accepting components.
    Accepted(Accepted),
    /// Nothing is accepted, as far as the automaton has not looked at propositions without a value. `beyond` says
    /// whether runs come to states that were not expanded, behind which something may be.
    Nothing { beyond: bool, looked: Option<Looked> },
}

/// Where an automaton looks at a proposition that has no value.
pub(crate) struct Looked {
    /// The first such proposition, as the automaton numbers them.
    pub(crate) proposition: u32,
    /// The states.
    pub(crate) states: Bits,
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
        graph: Part<'p>,
        forbidden: &Forbidden<'p>,
        folding: Option<&'p Folding<'p>>,
        control: &Control,
    ) -> Result<Product<'p>, Stopped> {
        let automaton = forbidden.automaton;
        let targets: Vec<Vec<u32>> =
            automaton.edges.iter().map(|own| own.iter().map(|edge| edge.target).collect()).collect();
        let (component, count) = components(&targets);
        let letters: Vec<Reading> = graph.letters().iter().map(|marks| forbidden.reading(marks)).collect();
        control.afford(letters.len() * automaton.edges.len() * 16)?;
        let (mut starts, mut moves) = (Vec::with_capacity(letters.len() * automaton.edges.len() + 1), Vec::new());
        for (own, &within) in automaton.edges.iter().zip(&component) {
            for &letter in &letters {
                let mut add = |inside: bool| {
                    let from = moves.len() as u32;
                    let chosen = own
                        .iter()
                        .filter(|edge| (component[edge.target as usize] == within) == inside)
                        .filter(|edge| letter.is_admitted(edge.letters) == Some(true));
                    moves.extend(chosen.map(|edge| Move { target: edge.target, marks: edge.marks }));
                    from
                };
                starts.push((add(true), add(false)));
            }
        }
        starts.push((moves.len() as u32, moves.len() as u32));
        let mut looks = Vec::new();
        if letters.iter().any(|letter| letter.undefined != 0) {
            looks.reserve_exact(starts.len());
            for own in &automaton.edges {
                let all = |letter: &Reading| own.iter().fold(0, |all, edge| all | letter.looked_at(edge.letters));
                looks.extend(letters.iter().map(all));
            }
        }
        let Forbidden { stutters, fairness, passing, .. } = *forbidden;
        let accepting = accepting(automaton, &component, count, passing);
        let letters = letters.len();
        Ok(Product {
            graph,
            automaton,
            stutters,
            fairness,
            passing,
            folding,
            starts,
            moves,
            letters,
            looks,
            component,
            count,
            accepting,
        })
    }

    #[inline]
    fn place(&self, automaton: u32, letter: u32) -> usize {
        automaton as usize * self.letters + letter as usize
    }

    /// The moves of the automaton at a letter inside its component.
    #[inline]
    pub(crate) fn inside(&self, automaton: u32, letter: u32) -> &[Move] {
        let (begin, end) = self.starts[self.place(automaton, letter)];
        &self.moves[begin as usize..end as usize]
    }

    /// The moves of the automaton at a letter that leave its component.
    #[inline]
    pub(crate) fn leaving(&self, automaton: u32, letter: u32) -> &[Move] {
        let at = self.place(automaton, letter);
        &self.moves[self.starts[at].1 as usize..self.starts[at + 1].0 as usize]
    }

    /// The propositions without a value that the automaton looks at in this state at a letter.
    #[inline]
    pub(crate) fn looks(&self, automaton: u32, letter: u32) -> u64 {
        if self.looks.is_empty() { 0 } else { self.looks[self.place(automaton, letter)] }
    }

    /// The pairs that runs start in.
    pub(crate) fn initial(&self) -> impl Iterator<Item = Pair> + '_ {
        self.automaton.initial.iter().map(|&automaton| Pair { state: self.graph.initial(), automaton })
    }

    /// The edges out of a pair.
    pub(crate) fn steps(&self, pair: Pair, mut step: impl FnMut(PairStep)) {
        let Some(record) = self.graph.record(pair.state) else { return };
        let own = [pair.state];
        let targets = self.targets(&record, &own);
        let (inside, leaving) =
            (self.inside(pair.automaton, record.letter), self.leaving(pair.automaton, record.letter));
        for edge in inside.iter().chain(leaving) {
            for (at, &state) in targets.iter().enumerate() {
                let target = Pair { state, automaton: edge.target };
                let note = record.notes.get(at).copied();
                let passing = if self.passing != 0 && self.graph.passes(note) { self.passing } else { 0 };
                step(PairStep { marks: edge.marks | passing, target, note, step: at as u32 });
            }
        }
    }

    #[inline]
    pub(crate) fn targets<'r>(&self, record: &Record<'r>, own: &'r [u32; 1]) -> &'r [u32] {
        if record.targets.is_empty() && self.stutters && !record.broken { own } else { record.targets }
    }

    /// The pairs on accepting components, if there are any.
    pub(crate) fn accepted(&self, control: &Control) -> Result<Shown, Cut> {
        let count = self.automaton.edges.len();
        let mut reached = Reached::new(self.graph.bound(), count);
        let mut accepted =
            Accepted { sets: (0..count).map(|_| None).collect(), numbers: (0..count).map(|_| None).collect() };
        let mut any = false;
        control.afford(count * reached.bound / 8)?;
        for pair in self.initial() {
            reached.insert(pair.automaton, pair.state);
        }
        for component in (0..self.count).rev() {
            control.check()?;
            let members: Vec<u32> = (0..count as u32).filter(|&at| self.component[at as usize] == component).collect();
            if members.iter().all(|&member| reached.sets[member as usize].is_none()) {
                continue;
            }
            if let Some(end) = self.automaton.end.filter(|end| members.contains(end)) {
                any = true;
                accepted.sets[end as usize] = reached.sets[end as usize].take();
            } else if self.accepting[component as usize] {
                any |= self.decompose(&members, &mut reached, &mut accepted, control)?;
            } else {
                self.pass_through(&members, &mut reached, control)?;
            }
            for &member in &members {
                reached.sets[member as usize] = None;
            }
        }
        let Reached { beyond, looked, .. } = reached;
        Ok(if any { Shown::Accepted(accepted) } else { Shown::Nothing { beyond, looked } })
    }

    /// May the automaton stay in this state whatever it reads?
    fn stays(&self, member: u32) -> bool {
        self.automaton.edges[member as usize].iter().any(|edge| edge.target == member && edge.letters == Cube::ALL)
    }

    /// Reaches what a component of the automaton without an accepting cycle leads to.
    fn pass_through(&self, members: &[u32], reached: &mut Reached, control: &Control) -> Result<(), Stopped> {
        let is_reached = |reached: &Reached, state| {
            reached.sets[members[0] as usize].as_ref().is_some_and(|set: &Bits| set.contains(state))
        };
        if let &[only] = members
            && is_reached(reached, self.graph.initial())
            && self.stays(only)
        {
            // It is everywhere, also in states that were found and not expanded.
            reached.beyond = true;
            for (done, (state, record)) in self.graph.records().enumerate() {
                if done % 65_536 == 0 {
                    control.check()?;
                }
                self.leave(only, state, &record, reached);
            }
            return Ok(());
        }
        let mut work: Vec<Pair> = Vec::new();
        match *members {
            [only] => self.sweep(only, reached, &mut work, control)?,
            _ => {
                for &automaton in members {
                    let Some(set) = &reached.sets[automaton as usize] else { continue };
                    work.extend(set.iter().map(|state| Pair { state, automaton }));
                    control.afford(work.len() * size_of::<Pair>())?;
                }
            }
        }
        let mut done = 0u32;
        while let Some(pair) = work.pop() {
            done = done.wrapping_add(1);
            if done.is_multiple_of(65_536) {
                control.check()?;
            }
            let Some(record) = self.graph.record(pair.state) else {
                reached.beyond = true;
                continue;
            };
            let own = [pair.state];
            for edge in self.inside(pair.automaton, record.letter) {
                for &state in self.targets(&record, &own) {
                    if reached.insert(edge.target, state) {
                        work.push(Pair { state, automaton: edge.target });
                    }
                }
            }
            self.leave(pair.automaton, pair.state, &record, reached);
        }
        Ok(())
    }

    /// Passes once over the states that are reached with an automaton state, in the order of their numbers, and reaches
    /// what they lead to. Most steps of a breadth-first search lead to larger numbers, and so to states that are passed
    /// later, in the order in which they lie; what lies behind is left for another time.
    fn sweep(&self, only: u32, reached: &mut Reached, left: &mut Vec<Pair>, control: &Control) -> Result<(), Stopped> {
        let Some(mut set) = reached.sets[only as usize].take() else { return Ok(()) };
        for word in 0..set.0.len() {
            if word % 1024 == 0 {
                control.afford(left.len() * size_of::<Pair>())?;
            }
            let mut passed = 0;
            while set.0[word] & !passed != 0 {
                let bit = (set.0[word] & !passed).trailing_zeros();
                passed |= u64::MAX >> (63 - bit);
                let own = word as u32 * 64 + bit;
                let Some(record) = self.graph.record(own) else {
                    reached.beyond = true;
                    continue;
                };
                for _ in self.inside(only, record.letter) {
                    for &state in self.targets(&record, &[own]) {
                        if set.insert(state) && state < own {
                            left.push(Pair { state, automaton: only });
                        }
                    }
                }
                self.leave(only, own, &record, reached);
            }
        }
        reached.sets[only as usize] = Some(set);
        Ok(())
    }

    /// Reaches the pairs behind the edges of a pair that leave the automaton's component. Called once for each pair.
    #[inline]
    fn leave(&self, automaton: u32, state: u32, record: &Record<'_>, reached: &mut Reached) {
        let own = [state];
        let looked = self.looks(automaton, record.letter);
        if looked != 0 {
            reached.look(looked, state);
        }
        for edge in self.leaving(automaton, record.letter) {
            for &state in self.targets(record, &own) {
                reached.insert(edge.target, state);
            }
        }
    }

    /// Finds the accepting components of the product above one of the automaton, and reaches what it leads to; whether
    /// there are any.
    fn decompose(
        &self,
        members: &[u32],
        reached: &mut Reached,
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
            own.filter(|edge| place[edge.target as usize] != u32::MAX).all(|edge| edge.marks == all)
        });
        let entered: Vec<Option<Bits>> = members.iter().map(|&member| reached.sets[member as usize].take()).collect();
        let entries = || entered.iter().zip(0u32..).flat_map(|(set, at)| set.iter().map(move |set| (set, at)));
        // A pass over all states pays where a search would come to many of them.
        let enters_many = || entries().map(|(set, _)| set.iter().count()).sum::<usize>() >= bound / MANY;
        let left = match entries().any(|(set, _)| set.contains(self.graph.initial())) || enters_many() {
            true => self.not_idle(members, &place, control)?,
            false => None,
        };
        let numbers = match left {
            Some(left) => {
                let is_left = |state: u32, at: u32| left.contains(state * width as u32 + at);
                if !entries().any(|(set, at)| set.iter().any(|state| is_left(state, at))) {
                    return Ok(false);
                }
                (0..(bound * width) as u32).map(|at| if left.contains(at) { 0 } else { IDLE }).collect()
            }
            None => vec![0; bound * width],
        };
        let mut tarjan = Tarjan::new(self, &place, numbers, width, weak);
        for (at, (&member, set)) in members.iter().zip(&entered).enumerate() {
            let Some(set) = set else { continue };
            for state in set.iter() {
                if !tarjan.has_met(state, at) {
                    tarjan.from(Pair { state, automaton: member }, reached, control)?;
                }
            }
        }
        let (numbers, found) = tarjan.finish();
        if found.is_empty() {
            return Ok(false);
        }
        for pair in found {
            accepted.sets[pair.automaton as usize].get_or_insert_with(|| Bits::new(bound)).insert(pair.state);
        }
        let numbers = std::rc::Rc::new(numbers);
        for (at, &member) in members.iter().enumerate() {
            accepted.numbers[member as usize] = Some(Numbers { numbers: numbers.clone(), width, place: at });
        }
        Ok(true)
    }
}

/// The pairs through which components of the automaton are entered, by automaton state.
struct Reached {
    bound: usize,
    sets: Vec<Option<Bits>>,
    /// Is there a pair whose state was not expanded?
    beyond: bool,
    /// Where the automaton looks at the first proposition that has no value where it looks.
    looked: Option<Looked>,
}

impl Reached {
    fn new(bound: usize, automaton_states: usize) -> Reached {
        Reached { bound, sets: (0..automaton_states).map(|_| None).collect(), beyond: false, looked: None }
    }

    #[inline]
    fn insert(&mut self, automaton: u32, state: u32) -> bool {
        self.sets[automaton as usize].get_or_insert_with(|| Bits::new(self.bound)).insert(state)
    }

    /// Notes that the automaton looks at these propositions in a state that gives them no value.
    fn look(&mut self, propositions: u64, state: u32) {
        let proposition = propositions.trailing_zeros();
        if self.looked.as_ref().is_some_and(|known| known.proposition < proposition) {
            return;
        }
        let looked = self.looked.take().filter(|known| known.proposition == proposition);
        let mut looked = looked.unwrap_or_else(|| Looked { proposition, states: Bits::new(self.bound) });
        looked.states.insert(state);
        self.looked = Some(looked);
    }
}

/// The number of a pair that is left out.
const IDLE: u32 = u32::MAX;
/// A component of the automaton is entered in many states if the share of these is at least one in `MANY`.
const MANY: usize = 16;
