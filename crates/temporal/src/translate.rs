//! Formulas to automata: through very weak alternating automata to transition-based generalised Büchi automata.
//!
//! Gastin and Oddoux, *Fast LTL to Büchi automata translation*, 2001. A formula in negation normal form is an
//! alternating automaton whose states are its temporal parts and literals: what a part asks of a letter, and which
//! parts it then asks of the rest, is a set of *moves* (a cube of literals and a set of parts). Such an automaton is
//! very weak: a part moves to itself or to smaller parts. A state of the Büchi automaton is a set of parts that all
//! must hold of what is left of the word; its edges are the combinations of one move of each part. A run of the
//! alternating automaton must not stay in an `until` forever, so each `until` is a mark: an edge carries it when the
//! `until` is not required of the rest, or when the letter and the other parts would have allowed to be done with it.
//!
//! Where we depart: parts are at most 128, so that sets are numbers; edges that another edge of the same state covers
//! are left out (weaker cube, fewer parts, no fewer marks); all further reductions are those of [`crate::simplify`],
//! which knows nothing of formulas. The first automaton of the paper has co-Büchi acceptance by states; its second by
//! edges is ours.
//!
//! Cost: exponential in the number of parts in the worst case, as it must be; the budget is polled for each state.

use std::collections::HashMap;

use trefoil_control::{Control, Stopped};
use trefoil_system::{Automaton, AutomatonEdge, Cube, Ltl, LtlId, LtlNode};

use crate::normal::normal;
use crate::simplify::simplify;

/// Why there is no automaton for a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untranslated {
    /// A budget is used up.
    Stopped,
    /// It has more than 64 propositions.
    Propositions,
    /// It has more than 128 different parts, or more than 32 different eventualities.
    Parts,
    /// The automaton has more than a million edges.
    Edges,
}

impl Untranslated {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Untranslated::Stopped => "the translation was stopped",
            Untranslated::Propositions => "the formula has more than 64 different propositions",
            Untranslated::Parts => {
                "the formula has more than 128 different temporal parts or more than 32 different eventualities"
            }
            Untranslated::Edges => "the automaton of the formula has more than a million edges",
        }
    }
}

impl From<Stopped> for Untranslated {
    fn from(_: Stopped) -> Untranslated {
        Untranslated::Stopped
    }
}

/// More edges are refused.
const MOST_EDGES: usize = 1_000_000;

/// A set of parts, by their numbers among those that are required.
type Parts = u128;

/// One way to satisfy a part: what it asks of the letter, and of the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Move {
    letters: Cube,
    rest: Parts,
}

impl Move {
    fn and(self, other: Move) -> Option<Move> {
        Some(Move { letters: self.letters.and(other.letters)?, rest: self.rest | other.rest })
    }

    /// Is it at least as easy to take?
    fn covers(self, other: Move) -> bool {
        self.letters.covers(other.letters) && self.rest & !other.rest == 0
    }
}

/// The automaton that accepts the words that a formula holds of, or, when `negated`, the others.
pub fn automaton(ltl: &Ltl, formula: LtlId, negated: bool, control: &Control) -> Result<Automaton, Untranslated> {
    let (normal, root) = normal(ltl, formula, negated);
    let mut translator = Translator { ltl: &normal.ltl, moves: Vec::new(), numbers: HashMap::new(), asked: Vec::new() };
    let automaton = translator.translate(root, control)?;
    Ok(simplify(automaton, control)?)
}

struct Translator<'l> {
    ltl: &'l Ltl,
    /// The moves of each part, as far as they are known.
    moves: Vec<Option<Vec<Move>>>,
    /// The numbers of parts that are required of the rest, and the parts.
    numbers: HashMap<LtlId, u32>,
    asked: Vec<LtlId>,
}

impl Translator<'_> {
    fn translate(&mut self, root: LtlId, control: &Control) -> Result<Automaton, Untranslated> {
        self.moves = vec![None; self.ltl.nodes().len()];
        let used = self.ltl.parts(root);
        let highest = self.ltl.nodes().iter().zip(&used).filter_map(|(node, used)| match node {
            LtlNode::Proposition(number) if *used => Some(*number),
            _ => None,
        });
        if highest.max().is_some_and(|number| number >= 64) {
            return Err(Untranslated::Propositions);
        }
        for part in (0..=root.0).map(LtlId).filter(|part| used[part.index()]) {
            control.check()?;
            let own = self.moves_of(part)?;
            self.moves[part.index()] = Some(own);
        }
        let starts = self.alternatives(root)?;
        let mut states: HashMap<Parts, u32> = HashMap::new();
        let mut sets: Vec<Parts> = Vec::new();
        let mut number = |set: Parts, sets: &mut Vec<Parts>| {
            *states.entry(set).or_insert_with(|| {
                sets.push(set);
                sets.len() as u32 - 1
            })
        };
        let initial: Vec<u32> = starts.iter().map(|&set| number(set, &mut sets)).collect();
        let mut edges: Vec<Vec<(Move, u32)>> = Vec::new();
        let mut total = 0;
        let mut at = 0;
        while at < sets.len() {
            control.check()?;
            let own = self.edges_of(sets[at], control)?;
            total += own.len();
            if total > MOST_EDGES {
                return Err(Untranslated::Edges);
            }
            edges.push(own.into_iter().map(|step| (step, number(step.rest, &mut sets))).collect());
            at += 1;
        }
        let untils: Vec<u32> = (0..self.asked.len() as u32)
            .filter(|&part| matches!(self.ltl.node(self.asked[part as usize]), LtlNode::Until(..)))
            .filter(|&part| sets.iter().any(|set| set >> part & 1 == 1))
            .collect();
        if untils.len() > 32 {
            return Err(Untranslated::Parts);
        }
        let marks = |step: Move| {
            let done = |&part: &u32| self.is_done(part, step);
            untils.iter().enumerate().filter(|(_, part)| done(part)).fold(0u32, |all, (mark, _)| all | 1 << mark)
        };
        let edges = edges.into_iter().map(|own| {
            let own: Vec<AutomatonEdge> = own
                .into_iter()
                .map(|(step, target)| AutomatonEdge { letters: step.letters, marks: marks(step), target })
                .collect();
            // An edge that another one covers; of two that cover each other the first stays.
            let covers = |one: &AutomatonEdge, other: &AutomatonEdge| {
                let (fewer, more) = (sets[one.target as usize], sets[other.target as usize]);
                one.letters.covers(other.letters) && fewer & !more == 0 && other.marks & !one.marks == 0
            };
            let kept = |at: usize| {
                !own.iter().enumerate().any(|(other, edge)| {
                    other != at && covers(edge, &own[at]) && (other < at || !covers(&own[at], edge))
                })
            };
            (0..own.len()).filter(|&at| kept(at)).map(|at| own[at]).collect()
        });
        Ok(Automaton { edges: edges.collect(), initial, marks: untils.len() as u32, end: None })
    }

    /// May a step be done with an `until`?
    fn is_done(&self, part: u32, step: Move) -> bool {
        let bit = 1 << part;
        step.rest & bit == 0
            || self
                .known(self.asked[part as usize])
                .iter()
                .any(|own| own.rest & bit == 0 && own.rest & !step.rest == 0 && own.letters.covers(step.letters))
    }

    fn known(&self, part: LtlId) -> &[Move] {
        self.moves[part.index()].as_deref().unwrap_or_default()
    }

    /// The number of a part that is required of the rest.
    fn ask(&mut self, part: LtlId) -> Result<Parts, Untranslated> {
        let next = self.asked.len() as u32;
        let number = *self.numbers.entry(part).or_insert(next);
        if number == next {
            self.asked.push(part);
        }
        if number >= Parts::BITS { Err(Untranslated::Parts) } else { Ok(1 << number) }
    }

    /// The sets of parts, none of them a conjunction or disjunction: a formula holds where all parts of one set do.
    fn alternatives(&mut self, formula: LtlId) -> Result<Vec<Parts>, Untranslated> {
        let mut made: HashMap<LtlId, Vec<Parts>> = HashMap::new();
        let mut work = vec![formula];
        while let Some(&part) = work.last() {
            if made.contains_key(&part) {
                work.pop();
                continue;
            }
            let own = match self.ltl.node(part) {
                LtlNode::True => vec![0],
                LtlNode::False => Vec::new(),
                LtlNode::And(one, other) | LtlNode::Or(one, other) => {
                    let (Some(left), Some(right)) = (made.get(&one), made.get(&other)) else {
                        work.extend([one, other].into_iter().filter(|part| !made.contains_key(part)));
                        continue;
                    };
                    let mut own: Vec<Parts> = match self.ltl.node(part) {
                        LtlNode::And(..) => {
                            left.iter().flat_map(|one| right.iter().map(move |other| one | other)).collect()
                        }
                        _ => left.iter().chain(right).copied().collect(),
                    };
                    own.sort_unstable();
                    own.dedup();
                    if own.len() > MOST_EDGES {
                        return Err(Untranslated::Edges);
                    }
                    let least = |&set: &Parts| !own.iter().any(|&other| other != set && other & !set == 0);
                    own.iter().copied().filter(least).collect()
                }
                _ => vec![self.ask(part)?],
            };
            made.insert(part, own);
            work.pop();
        }
        Ok(made.remove(&formula).unwrap_or_default())
    }

    /// The moves of a part whose parts have theirs.
    fn moves_of(&mut self, part: LtlId) -> Result<Vec<Move>, Untranslated> {
        let plain = |letters| vec![Move { letters, rest: 0 }];
        let own = match self.ltl.node(part) {
            LtlNode::True => plain(Cube::ALL),
            LtlNode::False => Vec::new(),
            LtlNode::Proposition(number) => plain(Cube::literal(number, true)),
            LtlNode::Not(inner) => match self.ltl.node(inner) {
                LtlNode::Proposition(number) => plain(Cube::literal(number, false)),
                _ => unreachable!("in negation normal form only propositions are negated"),
            },
            LtlNode::And(one, other) => combined(self.known(one), self.known(other))?,
            LtlNode::Or(one, other) => [self.known(one), self.known(other)].concat(),
            LtlNode::Next(inner) => {
                let sets = self.alternatives(inner)?;
                sets.into_iter().map(|rest| Move { letters: Cube::ALL, rest }).collect()
            }
            LtlNode::Until(one, other) => {
                let again = [Move { letters: Cube::ALL, rest: self.ask(part)? }];
                [self.known(other), &combined(self.known(one), &again)?].concat()
            }
            LtlNode::Release(one, other) => {
                let again = Move { letters: Cube::ALL, rest: self.ask(part)? };
                let free = [self.known(one), &[again]].concat();
                combined(self.known(other), &free)?
            }
        };
        Ok(least(own))
    }

    /// The combinations of one move of each part of a set.
    fn edges_of(&self, set: Parts, control: &Control) -> Result<Vec<Move>, Untranslated> {
        let mut all = vec![Move { letters: Cube::ALL, rest: 0 }];
        for part in (0..self.asked.len()).filter(|part| set >> part & 1 == 1) {
            control.check()?;
            all = combined(&all, self.known(self.asked[part]))?;
            all.sort_unstable();
            all.dedup();
        }
        Ok(all)
    }
}

/// All combinations of two sets of moves.
fn combined(one: &[Move], other: &[Move]) -> Result<Vec<Move>, Untranslated> {
    if one.len().saturating_mul(other.len()) > 16 * MOST_EDGES {
        return Err(Untranslated::Edges);
    }
    Ok(one.iter().flat_map(|left| other.iter().filter_map(|right| left.and(*right))).collect())
}

/// Without moves that another one covers.
fn least(mut all: Vec<Move>) -> Vec<Move> {
    all.sort_unstable();
    all.dedup();
    let kept = |step: &&Move| !all.iter().any(|other| other != *step && other.covers(**step));
    all.iter().filter(kept).copied().collect()
}
