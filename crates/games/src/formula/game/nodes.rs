//! A formula as a graph of nodes, each of them a choice of one player.
//!
//! Every node has an owner and moves. A move chooses values of some variables for which conditions hold, perhaps takes
//! a step of the model whose label is in a set, and leads to another node in which fixpoint parameters have new values.
//! So a node is one disjunction of `exists e. f && Y(h)` or one conjunction of `forall e. f => Y(h)`: the standard
//! recursive form of parameterised Boolean equation systems (Neele, Willemse, Wesselink, *Partial-order reduction for
//! parity games with an application on parameterised Boolean equation systems*, 2020; Laveaux, *Accelerated
//! verification of concurrent systems*, 2024, chapter 4), with the steps of the model left to the model. Even tries to
//! make the formula true, Odd to make it false.
//!
//! How a formula becomes one. Negations are pushed inwards as parts are visited: a part is visited with a polarity.
//! What belongs to the owner of a node (`&&`, `forall`, `[R]` to Odd; `||`, `exists`, `<R>` to Even) is gathered into
//! its moves, what belongs to the opponent becomes a node of its own, and data inside an opponent's choice becomes a
//! condition: `forall i: Nat. val(i <= 1) => [wish(i)]f` is one move of Odd, with the variable `i`, the condition
//! `i <= 1` and a step in the set of `wish(i)`. A quantifier thus stays with the modality or condition that it governs,
//! and where no label of the step has its variable it is passed on to what follows the step: `forall n: Nat.
//! [true* . error(n)]f` chooses `n` when an `error` happens. The conditions that read it are passed on with it, so in
//! `forall i, j: Nat. val(i != j) => [enter(i) . enter(j)]f` each label binds its number. That is sound because the
//! steps are the owner's, too: a choice that turns out to be impossible loses, as a move does that is not there, and so
//! does a repetition without end. A condition that reads the state of the model stays before the step. `[A || B]f` is
//! `[A]f && [B]f` where the two have different variables. Where a variable of an infinite sort stands below an
//! opponent's choice with a modality of the owner in it (`forall n: Nat. <a(n)>true => X(n)`), only values that are
//! offered matter, because the modality holds for all others.
//!
//! Regular formulas are not copied: a node is what is left of a regular formula and the node after it, so `R*` is a
//! node with the moves of `R` back to it and of what follows.
//!
//! Priorities: the least one that recurs decides, greatest fixpoints have even ones. A fixpoint has the least priority
//! of its parity that is at least that of every fixpoint whose variable is free in it; plays leave a closed subformula
//! never. `R*` is a fixpoint whose priority is found in the same way. All other nodes have the largest priority, which
//! decides nothing, because every cycle has a fixpoint's node on it.
//!
//! Invariants: a node's owner owns the choice of every variable, condition and step of its moves. A variable that is
//! not live in a node is not read by any play from it, until it is chosen or assigned again.
//!
//! Cost: nodes and moves are linear in the formula, except that a choice of sequences shares what follows, and that a
//! node has the first steps of what repetitions inside each other begin with, [`DEEPEST_STEPS`] levels down. The
//! variables that are free or live in each part can take quadratic time and memory. Formulas may be nested as deeply as
//! their text is, so every recursion grows its stack, and every loop polls the budget.

mod fold;
mod gather;
mod priorities;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use trefoil_control::{Control, Stopped};
use trefoil_data::typed::{Quantifier as DataQuantifier, TypedId, VariableId};
use trefoil_source::Span;

use super::super::tree::{Connective, Modality, Quantifier};
use super::super::typed::{FixpointId, Formula, LabelSetId, Part, PartId, Steps, StepsId};
use super::expressions::Maker;
use super::live::live;
use crate::solve::Player;

/// A node of a formula's graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A move of a node.
#[derive(Clone, Debug)]
pub(super) struct Move {
    /// Variables whose values the owner chooses.
    pub(super) variables: Vec<VariableId>,
    /// What must hold for the chosen values.
    pub(super) conditions: Vec<TypedId>,
    /// The labels of the step that is taken; none where the model stays where it is.
    pub(super) step: Option<LabelSetId>,
    /// Where no step is taken: the values are those with which a step in this set is possible.
    pub(super) offered: Option<LabelSetId>,
    /// Where it leads.
    pub(super) target: NodeId,
    /// New values of variables there.
    pub(super) assignments: Vec<(VariableId, TypedId)>,
    /// Where it leads to a truth value: the part of the formula that has it, and whether that is negated.
    pub(super) decided: Option<(PartId, bool)>,
}

/// A node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) owner: Player,
    pub(super) priority: u32,
    pub(super) moves: Vec<Move>,
    /// The part of the formula that it comes from, and whether it is negated.
    pub(super) part: (PartId, bool),
    /// The truth value that it stands for, if it is one.
    pub(super) constant: Option<bool>,
    /// Whether it is a fixpoint or a repetition, whose priority decides cycles.
    pub(super) recurs: bool,
    /// The variables whose values matter, ascending.
    pub(super) live: Vec<VariableId>,
}

/// How many levels of a regular formula the moves of one node look through.
const DEEPEST_STEPS: u32 = 8;

/// A [`Key`] by its number: keys hold each other as deeply as a formula is nested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct KeyId(u32);

/// What a node is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Part(PartId, bool),
    /// The body of a fixpoint, negated or not.
    Fixpoint(FixpointId, bool),
    /// What is left of the steps of a modality, and what comes after them.
    Steps(Player, StepsId, KeyId),
    /// The same after repetitions of steps.
    Star(Player, StepsId, KeyId),
    /// Variables that the owner still has to choose, and what must hold for them.
    Chosen(Player, Rc<[VariableId]>, Rc<[TypedId]>, KeyId),
    Constant(bool),
}

/// What the owner has chosen on the way to a move.
#[derive(Clone, Debug, Default)]
struct Chosen {
    variables: Vec<VariableId>,
    conditions: Vec<TypedId>,
}

/// The graph of a formula.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
}

/// Makes the graph of a formula; its expressions are added to the formula's data.
///
/// The values of the variables `observed` are those of the state in which a node is.
pub(super) fn graph(
    formula: &mut Formula,
    is_finite: &dyn Fn(&Formula, VariableId) -> bool,
    observed: &BTreeSet<VariableId>,
    control: &Control,
) -> Result<Graph, Stopped> {
    let parts = formula.parts.iter().enumerate().filter_map(|(place, (part, _))| match part {
        Part::Fixpoint(fixpoint, body) => Some((*fixpoint, (PartId(place as u32), *body))),
        _ => None,
    });
    let fixpoint_parts = parts.collect();
    let mut modalities = HashMap::new();
    for (place, (part, _)) in formula.parts.iter().enumerate() {
        let Part::Modal(_, steps, _) = part else { continue };
        let mut pending = vec![*steps];
        control.check()?;
        while let Some(steps) = pending.pop() {
            modalities.insert(steps, PartId(place as u32));
            match formula.steps(steps) {
                Steps::One(_) => {}
                Steps::Sequence(left, right) | Steps::Choice(left, right) => pending.extend([*left, *right]),
                Steps::Star(inside) | Steps::Plus(inside) => pending.push(*inside),
            }
        }
    }
    let mut builder = Builder {
        formula,
        is_finite,
        observed,
        fixpoint_parts,
        modalities,
        nodes: Vec::new(),
        keys: Vec::new(),
        numbers: HashMap::new(),
        known: HashMap::new(),
        pending: Vec::new(),
        data_parts: HashMap::new(),
        priorities: HashMap::new(),
        free: HashMap::new(),
        used: HashMap::new(),
        conjuncts: HashMap::new(),
        control,
    };
    let start = builder.key(Key::Part(builder.formula.root, false));
    let root = builder.node(start)?;
    while let Some((id, key)) = builder.pending.pop() {
        builder.fill(id, key)?;
    }
    let Builder { mut nodes, .. } = builder;
    let most = nodes.iter().map(|node| node.priority).filter(|&priority| priority != u32::MAX).max().unwrap_or(0);
    for node in &mut nodes {
        node.priority = node.priority.min(most);
    }
    let (mut nodes, root) = fold::folded(formula, nodes, root, observed, control)?;
    live(formula, &mut nodes, observed, control)?;
    Ok(Graph { nodes, root })
}

struct Builder<'a> {
    formula: &'a mut Formula,
    is_finite: &'a dyn Fn(&Formula, VariableId) -> bool,
    observed: &'a BTreeSet<VariableId>,
    /// For each fixpoint its part and its body.
    fixpoint_parts: HashMap<FixpointId, (PartId, PartId)>,
    nodes: Vec<Node>,
    keys: Vec<Key>,
    numbers: HashMap<Key, KeyId>,
    known: HashMap<KeyId, NodeId>,
    /// The modality that steps belong to.
    modalities: HashMap<StepsId, PartId>,
    /// Nodes without their moves.
    pending: Vec<(NodeId, KeyId)>,
    /// Parts that have no modality and no fixpoint variable, as expressions, by polarity.
    data_parts: HashMap<(PartId, bool), Option<TypedId>>,
    priorities: HashMap<KeyId, u32>,
    /// The fixpoint variables that are free in a part, each with whether it stands below an odd number of negations.
    free: HashMap<PartId, Rc<BTreeSet<(FixpointId, bool)>>>,
    /// The variables of steps.
    used: HashMap<StepsId, Rc<BTreeSet<VariableId>>>,
    /// Conditions taken apart.
    conjuncts: HashMap<TypedId, Rc<[TypedId]>>,
    control: &'a Control,
}

impl Builder<'_> {
    /// The number of a key.
    fn key(&mut self, key: Key) -> KeyId {
        if let Some(&known) = self.numbers.get(&key) {
            return known;
        }
        let id = KeyId(self.keys.len() as u32);
        self.keys.push(key.clone());
        self.numbers.insert(key, id);
        id
    }

    fn at(&self, key: KeyId) -> &Key {
        &self.keys[key.0 as usize]
    }

    /// The same node where a key says the same as a simpler one.
    fn simplified(&mut self, mut key: KeyId) -> KeyId {
        loop {
            let simpler = match self.at(key) {
                Key::Part(part, negated) => {
                    // Negations are looked through before anything is numbered.
                    let (mut part, mut negated) = (*part, *negated);
                    while let Part::Not(inside) = self.formula.part(part) {
                        (part, negated) = (*inside, !negated);
                    }
                    match self.formula.part(part) {
                        Part::Constant(value) => Key::Constant(*value != negated),
                        Part::Instance(fixpoint, values) if values.is_empty() => Key::Fixpoint(*fixpoint, negated),
                        Part::Fixpoint(fixpoint, _) if self.formula.fixpoint(*fixpoint).parameters.is_empty() => {
                            Key::Fixpoint(*fixpoint, negated)
                        }
                        Part::Modal(modality, steps, inside) => {
                            let (player, steps) = (player_of(*modality, negated), *steps);
                            let inside = self.key(Key::Part(*inside, negated));
                            Key::Steps(player, steps, inside)
                        }
                        _ => return self.key(Key::Part(part, negated)),
                    }
                }
                Key::Steps(player, steps, after) => match self.formula.steps(*steps) {
                    Steps::Star(inside) => Key::Star(*player, *inside, *after),
                    _ => return key,
                },
                Key::Chosen(_, variables, conditions, after) if variables.is_empty() && conditions.is_empty() => {
                    key = *after;
                    continue;
                }
                _ => return key,
            };
            key = self.key(simpler);
        }
    }

    fn node(&mut self, key: KeyId) -> Result<NodeId, Stopped> {
        self.control.check()?;
        let key = self.simplified(key);
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let id = NodeId(self.nodes.len() as u32);
        let priority = match self.at(key) {
            Key::Fixpoint(..) | Key::Star(..) => self.priority(key)?,
            _ => u32::MAX,
        };
        let recurs = priority != u32::MAX;
        let (owner, part) = (self.owner(key), self.part_of(key));
        let constant = match self.at(key) {
            Key::Constant(value) => Some(*value),
            _ => None,
        };
        self.nodes.push(Node { owner, priority, moves: Vec::new(), part, constant, recurs, live: Vec::new() });
        self.known.insert(key, id);
        self.pending.push((id, key));
        Ok(id)
    }

    fn owner(&mut self, key: KeyId) -> Player {
        match *self.at(key) {
            Key::Part(part, negated) => self.part_owner(part, negated),
            Key::Fixpoint(fixpoint, negated) => self.part_owner(self.fixpoint_parts[&fixpoint].1, negated),
            Key::Steps(player, ..) | Key::Star(player, ..) | Key::Chosen(player, ..) => player,
            // The owner of a node without moves loses.
            Key::Constant(value) => {
                if value {
                    Player::Odd
                } else {
                    Player::Even
                }
            }
        }
    }

    fn part_owner(&mut self, mut part: PartId, mut negated: bool) -> Player {
        while let Part::Not(inside) = self.formula.part(part) {
            (part, negated) = (*inside, !negated);
        }
        let odd = match self.formula.part(part) {
            Part::Value(value) if !self.observed.is_empty() => {
                let value = *value;
                let place = self.formula.signature.data.tree.place(value);
                let is_disjunction = self.maker(place).alternatives(value).is_some();
                let inside = self.maker(place).not(value);
                let is_conjunction = self.maker(place).alternatives(inside).is_some();
                if negated { !is_conjunction } else { !is_disjunction }
            }
            Part::Constant(_) | Part::Value(_) | Part::Instance(..) | Part::Fixpoint(..) => true,
            Part::Not(_) => unreachable!("negations are looked through"),
            Part::Infix(connective, ..) => (*connective == Connective::And) != negated,
            Part::Quantified(quantifier, ..) => (*quantifier == Quantifier::Forall) != negated,
            Part::Modal(modality, ..) => (*modality == Modality::Must) != negated,
        };
        if odd { Player::Odd } else { Player::Even }
    }

    fn part_of(&self, mut key: KeyId) -> (PartId, bool) {
        loop {
            match self.at(key) {
                Key::Part(part, negated) => return (*part, *negated),
                Key::Fixpoint(fixpoint, negated) => return (self.fixpoint_parts[fixpoint].0, *negated),
                Key::Steps(player, steps, _) | Key::Star(player, steps, _) => {
                    let part = self.modalities[steps];
                    let Part::Modal(modality, ..) = self.formula.part(part) else { return (part, false) };
                    return (part, player_of(*modality, false) != *player);
                }
                Key::Chosen(.., after) => key = *after,
                Key::Constant(_) => return (self.formula.root, false),
            }
        }
    }

    fn maker(&mut self, place: Span) -> Maker<'_> {
        Maker { data: &mut self.formula.signature.data, place }
    }

    /// A part that has no modality and no fixpoint variable, as an expression.
    fn as_data(&mut self, part: PartId, negated: bool) -> Result<Option<TypedId>, Stopped> {
        if let Some(known) = self.data_parts.get(&(part, negated)) {
            return Ok(*known);
        }
        self.control.check()?;
        let data = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.as_data_inside(part, negated))?;
        self.data_parts.insert((part, negated), data);
        Ok(data)
    }

    fn as_data_inside(&mut self, part: PartId, negated: bool) -> Result<Option<TypedId>, Stopped> {
        let place = self.formula.place(part);
        Ok(Some(match self.formula.part(part).clone() {
            Part::Constant(value) => self.maker(place).constant(value != negated),
            Part::Value(value) if negated => self.maker(place).not(value),
            Part::Value(value) => value,
            Part::Not(inside) => return self.as_data(inside, !negated),
            Part::Infix(connective, left, right) => {
                let Some(left) = self.as_data(left, negated != (connective == Connective::Implies))? else {
                    return Ok(None);
                };
                let Some(right) = self.as_data(right, negated)? else { return Ok(None) };
                let mut maker = self.maker(place);
                if (connective == Connective::And) != negated { maker.and(left, right) } else { maker.or(left, right) }
            }
            Part::Quantified(quantifier, mut variables, mut inside) => {
                // Quantifiers inside each other are one.
                while let Part::Quantified(same, more, body) = self.formula.part(inside)
                    && *same == quantifier
                {
                    variables.extend(more);
                    inside = *body;
                }
                let Some(inside) = self.as_data(inside, negated)? else { return Ok(None) };
                let quantifier = if (quantifier == Quantifier::Forall) != negated {
                    DataQuantifier::Forall
                } else {
                    DataQuantifier::Exists
                };
                self.maker(place).quantified(quantifier, &variables, inside)
            }
            Part::Instance(..) | Part::Modal(..) | Part::Fixpoint(..) => return Ok(None),
        }))
    }
}

/// The union of two sets, shared where one of them has all of it.
fn union<T: Copy + Ord>(left: &Rc<BTreeSet<T>>, right: &Rc<BTreeSet<T>>) -> Rc<BTreeSet<T>> {
    let (small, large) = if left.len() < right.len() { (left, right) } else { (right, left) };
    if small.iter().all(|one| large.contains(one)) { large.clone() } else { Rc::new(&**small | &**large) }
}

fn player_of(modality: Modality, negated: bool) -> Player {
    if (modality == Modality::Must) != negated { Player::Odd } else { Player::Even }
}
