//! The moves of a node: what belongs to its owner is gathered, with the conditions and steps on the way.

use std::collections::BTreeSet;
use std::rc::Rc;

use trefoil_control::Stopped;
use trefoil_data::typed::{TypedId, VariableId};

use super::super::super::tree::{Connective, Quantifier};
use super::super::super::typed::{LabelSet, LabelSetId, Part, PartId, Steps, StepsId};
use super::super::live::label_variables;
use super::{Builder, Chosen, DEEPEST_STEPS, Key, KeyId, Move, NodeId, player_of, union};
use crate::solve::Player;

impl Builder<'_> {
    /// Gives a node its moves.
    pub(super) fn fill(&mut self, id: NodeId, key: KeyId) -> Result<(), Stopped> {
        let owner = self.nodes[id.0 as usize].owner;
        let mut moves = Vec::new();
        match self.at(key).clone() {
            Key::Constant(_) => {}
            Key::Part(part, negated) => self.gather(owner, Chosen::default(), part, negated, true, &mut moves)?,
            Key::Fixpoint(fixpoint, negated) => {
                let body = self.fixpoint_parts[&fixpoint].1;
                self.gather(owner, Chosen::default(), body, negated, false, &mut moves)?;
            }
            Key::Steps(_, steps, after) => self.gather_steps(owner, Chosen::default(), steps, after, 0, &mut moves)?,
            Key::Star(_, steps, after) => {
                self.gather_key(owner, Chosen::default(), after, &mut moves)?;
                self.gather_steps(owner, Chosen::default(), steps, key, 0, &mut moves)?;
            }
            Key::Chosen(_, variables, conditions, after) => {
                let chosen = Chosen { variables: variables.to_vec(), conditions: conditions.to_vec() };
                self.gather_key(owner, chosen, after, &mut moves)?;
            }
        }
        self.nodes[id.0 as usize].moves = moves;
        Ok(())
    }

    fn gather_key(
        &mut self,
        owner: Player,
        mut chosen: Chosen,
        mut key: KeyId,
        moves: &mut Vec<Move>,
    ) -> Result<(), Stopped> {
        loop {
            self.control.check()?;
            match self.at(key) {
                &Key::Part(part, negated) => return self.gather(owner, chosen, part, negated, false, moves),
                &Key::Steps(player, steps, after) if player == owner => {
                    return self.gather_steps(owner, chosen, steps, after, 0, moves);
                }
                Key::Chosen(player, variables, conditions, after) if *player == owner => {
                    chosen.variables.extend(variables.iter());
                    chosen.conditions.extend(conditions.iter());
                    key = *after;
                }
                _ => return self.silent(chosen, key, Vec::new(), moves),
            }
        }
    }

    /// A move that takes no step.
    fn silent(
        &mut self,
        chosen: Chosen,
        key: KeyId,
        assignments: Vec<(VariableId, TypedId)>,
        moves: &mut Vec<Move>,
    ) -> Result<(), Stopped> {
        let Chosen { variables, conditions } = chosen;
        let target = self.node(key)?;
        moves.push(Move { variables, conditions, step: None, offered: None, target, assignments, decided: None });
        Ok(())
    }

    /// Adds the moves that a part gives the owner of a node; `whole` where the part is the node itself.
    fn gather(
        &mut self,
        owner: Player,
        chosen: Chosen,
        part: PartId,
        negated: bool,
        whole: bool,
        moves: &mut Vec<Move>,
    ) -> Result<(), Stopped> {
        self.control.check()?;
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.gather_inside(owner, chosen, part, negated, whole, moves))
    }

    fn gather_inside(
        &mut self,
        owner: Player,
        mut chosen: Chosen,
        part: PartId,
        negated: bool,
        whole: bool,
        moves: &mut Vec<Move>,
    ) -> Result<(), Stopped> {
        // What is true decides nothing for Odd, what is false ends the play; and the other way round.
        if let Some(data) = self.as_data(part, negated != (owner == Player::Odd))? {
            match self.maker_truth(data) {
                Some(false) => {}
                truth => {
                    let target = self.key(Key::Constant(owner == Player::Even));
                    // Parts that look at the state of the model are a group each.
                    let mut parts = vec![data];
                    if truth.is_none() && !self.observed.is_empty() {
                        parts = self.disjuncts(data);
                    }
                    for data in parts {
                        let mut chosen = chosen.clone();
                        if truth.is_none() {
                            chosen.conditions.push(data);
                        }
                        self.silent(chosen, target, Vec::new(), moves)?;
                        moves.last_mut().expect("a move was added").decided = Some((part, negated));
                    }
                }
            }
            return Ok(());
        }
        match self.formula.part(part).clone() {
            Part::Constant(_) | Part::Value(_) => unreachable!("this is data"),
            Part::Not(inside) => self.gather(owner, chosen, inside, !negated, whole, moves)?,
            Part::Infix(connective, left, right) => {
                let left = (left, negated != (connective == Connective::Implies));
                let right = (right, negated);
                let is_conjunction = (connective == Connective::And) != negated;
                if is_conjunction == (owner == Player::Odd) {
                    self.gather(owner, chosen.clone(), left.0, left.1, false, moves)?;
                    return self.gather(owner, chosen, right.0, right.1, false, moves);
                }
                assert!(!whole, "a node's own connective is its owner's");
                self.opponents_choice(owner, chosen, (part, negated), moves)?;
            }
            Part::Quantified(quantifier, variables, inside) => {
                if ((quantifier == Quantifier::Forall) != negated) == (owner == Player::Odd) {
                    chosen.variables.extend(variables);
                    self.gather(owner, chosen, inside, negated, false, moves)?;
                } else {
                    self.opponents_choice(owner, chosen, (part, negated), moves)?;
                }
            }
            Part::Modal(modality, steps, inside) => {
                if player_of(modality, negated) == owner {
                    let after = self.key(Key::Part(inside, negated));
                    self.gather_steps(owner, chosen, steps, after, 0, moves)?;
                } else {
                    let opponent = self.key(Key::Part(part, negated));
                    self.silent(chosen, opponent, Vec::new(), moves)?;
                }
            }
            Part::Instance(fixpoint, values) => {
                let parameters = self.formula.fixpoint(fixpoint).parameters.clone();
                let assignments = parameters.into_iter().map(|(variable, _)| variable).zip(values).collect();
                let target = self.key(Key::Fixpoint(fixpoint, negated));
                self.silent(chosen, target, assignments, moves)?;
            }
            Part::Fixpoint(fixpoint, _) => {
                let assignments = self.formula.fixpoint(fixpoint).parameters.clone();
                let target = self.key(Key::Fixpoint(fixpoint, negated));
                self.silent(chosen, target, assignments, moves)?;
            }
        }
        Ok(())
    }

    /// The parts of a condition, at least one of which must hold.
    fn disjuncts(&mut self, data: TypedId) -> Vec<TypedId> {
        let place = self.formula.signature.data.tree.place(data);
        let (mut parts, mut pending) = (Vec::new(), vec![data]);
        while let Some(part) = pending.pop() {
            match self.maker(place).alternatives(part) {
                Some((left, right)) => pending.extend([right, left]),
                None => parts.push(part),
            }
        }
        parts
    }

    /// The parts of a condition, all of which must hold.
    fn conjuncts(&mut self, data: TypedId) -> Rc<[TypedId]> {
        if let Some(known) = self.conjuncts.get(&data) {
            return known.clone();
        }
        let place = self.formula.signature.data.tree.place(data);
        let (mut parts, mut pending) = (Vec::new(), vec![data]);
        while let Some(part) = pending.pop() {
            match self.maker(place).both(part) {
                Some((left, right)) => pending.extend([right, left]),
                None => parts.push(part),
            }
        }
        let parts: Rc<[TypedId]> = parts.into();
        for &part in parts.iter() {
            self.conjuncts.entry(part).or_insert_with(|| Rc::new([part]));
        }
        self.conjuncts.insert(data, parts.clone());
        parts
    }

    fn maker_truth(&mut self, data: TypedId) -> Option<bool> {
        let place = self.formula.signature.data.tree.place(data);
        self.maker(place).truth(data)
    }

    /// A part that is the opponent's choice: its data become conditions of the owner, and what is left is a node.
    fn opponents_choice(
        &mut self,
        owner: Player,
        mut chosen: Chosen,
        part: (PartId, bool),
        moves: &mut Vec<Move>,
    ) -> Result<(), Stopped> {
        let choices = self.choices(owner, part);
        let mut left = Vec::new();
        for choice in choices {
            match self.as_data(choice.0, choice.1 != (owner == Player::Odd))? {
                Some(data) => chosen.conditions.push(data),
                None => left.push(choice),
            }
        }
        if let [only] = left[..]
            && only != part
        {
            return self.gather(owner, chosen, only.0, only.1, false, moves);
        }
        let offered = if chosen.variables.iter().all(|&variable| (self.is_finite)(self.formula, variable)) {
            None
        } else {
            left.iter().find_map(|&choice| self.first_labels(owner, choice, &chosen.variables))
        };
        let target = self.key(Key::Part(part.0, part.1));
        self.silent(chosen, target, Vec::new(), moves)?;
        moves.last_mut().expect("a move was added").offered = offered;
        Ok(())
    }

    /// The parts between which the opponent chooses.
    fn choices(&self, owner: Player, part: (PartId, bool)) -> Vec<(PartId, bool)> {
        let (mut found, mut pending) = (Vec::new(), vec![part]);
        while let Some(part) = pending.pop() {
            match self.formula.part(part.0) {
                Part::Not(inside) => pending.push((*inside, !part.1)),
                Part::Infix(connective, left, right)
                    if ((*connective == Connective::And) != part.1) != (owner == Player::Odd) =>
                {
                    pending.push((*right, part.1));
                    pending.push((*left, part.1 != (*connective == Connective::Implies)));
                }
                _ => found.push(part),
            }
        }
        found
    }

    /// The labels of the first step of a modality of the owner, where they have one of the variables.
    fn first_labels(&self, owner: Player, part: (PartId, bool), variables: &[VariableId]) -> Option<LabelSetId> {
        let mut part = part;
        while let Part::Not(inside) = self.formula.part(part.0) {
            part = (*inside, !part.1);
        }
        let Part::Modal(modality, steps, _) = self.formula.part(part.0) else { return None };
        if player_of(*modality, part.1) != owner {
            return None;
        }
        let mut steps = *steps;
        let labels = loop {
            match self.formula.steps(steps) {
                Steps::One(labels) => break *labels,
                Steps::Sequence(first, _) | Steps::Plus(first) => steps = *first,
                Steps::Choice(..) | Steps::Star(_) => return None,
            }
        };
        let free = label_variables(self.formula, labels);
        variables.iter().any(|variable| free.contains(variable)).then_some(labels)
    }

    /// Adds the moves that the steps of a modality give its owner, `depth` levels inside them.
    fn gather_steps(
        &mut self,
        owner: Player,
        mut chosen: Chosen,
        steps: StepsId,
        after: KeyId,
        depth: u32,
        moves: &mut Vec<Move>,
    ) -> Result<(), Stopped> {
        self.control.check()?;
        if depth > DEEPEST_STEPS && chosen.variables.is_empty() {
            let target = self.key(Key::Steps(owner, steps, after));
            return self.silent(chosen, target, Vec::new(), moves);
        }
        let mut after = after;
        if !chosen.variables.is_empty() {
            let used = self.step_variables(steps)?;
            (chosen, after) = self.postponed(owner, chosen, &used, after);
        }
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match *self.formula.steps(steps) {
            Steps::One(labels) => self.gather_labels(owner, chosen, labels, after, moves),
            Steps::Sequence(first, rest) => {
                let after = self.key(Key::Steps(owner, rest, after));
                self.gather_steps(owner, chosen, first, after, depth + 1, moves)
            }
            Steps::Choice(left, right) => {
                self.gather_steps(owner, chosen.clone(), left, after, depth, moves)?;
                self.gather_steps(owner, chosen, right, after, depth, moves)
            }
            Steps::Plus(inside) => {
                let after = self.key(Key::Star(owner, inside, after));
                self.gather_steps(owner, chosen, inside, after, depth + 1, moves)
            }
            Steps::Star(inside) => {
                let target = self.key(Key::Star(owner, inside, after));
                self.silent(chosen, target, Vec::new(), moves)
            }
        })
    }

    /// Adds the moves that one step gives the owner of a modality: one for each part of a disjunction whose parts have
    /// different variables that are chosen, else one.
    fn gather_labels(
        &mut self,
        owner: Player,
        chosen: Chosen,
        labels: LabelSetId,
        after: KeyId,
        moves: &mut Vec<Move>,
    ) -> Result<(), Stopped> {
        self.control.check()?;
        if let LabelSet::Infix(Connective::Or, left, right) = *self.formula.label_set(labels) {
            let (of_left, of_right) = (label_variables(self.formula, left), label_variables(self.formula, right));
            if chosen.variables.iter().any(|variable| of_left.contains(variable) != of_right.contains(variable)) {
                return stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                    for (labels, used) in [(left, of_left), (right, of_right)] {
                        let (chosen, after) = self.postponed(owner, chosen.clone(), &used, after);
                        self.gather_labels(owner, chosen, labels, after, moves)?;
                    }
                    Ok(())
                });
            }
        }
        let target = self.node(after)?;
        let Chosen { variables, conditions } = chosen;
        let (step, assignments) = (Some(labels), Vec::new());
        moves.push(Move { variables, conditions, step, offered: None, target, assignments, decided: None });
        Ok(())
    }

    /// What the owner chooses for steps that use some variables, and what comes after them: variables that they do not
    /// use are chosen later, and conditions that read such a variable are checked then. A condition that reads the
    /// state of the model is checked now, so its variables are chosen now.
    fn postponed(
        &mut self,
        owner: Player,
        chosen: Chosen,
        used: &BTreeSet<VariableId>,
        after: KeyId,
    ) -> (Chosen, KeyId) {
        if chosen.variables.iter().all(|variable| used.contains(variable)) {
            return (chosen, after);
        }
        let mut conditions = Vec::new();
        for condition in chosen.conditions {
            for &part in self.conjuncts(condition).iter() {
                conditions.push((part, self.formula.signature.data.tree.free_variables(part)));
            }
        }
        let mut now: BTreeSet<VariableId> = used.clone();
        for (_, read) in &conditions {
            if read.iter().any(|variable| self.observed.contains(variable)) {
                now.extend(read);
            }
        }
        let (now, later): (Vec<_>, Vec<_>) = chosen.variables.iter().partition(|variable| now.contains(variable));
        let is_later = |read: &[VariableId]| read.iter().any(|variable| later.contains(variable));
        let (wait, check): (Vec<_>, Vec<_>) = conditions.into_iter().partition(|(_, read)| is_later(read));
        let only = |conditions: Vec<(TypedId, Vec<VariableId>)>| -> Vec<TypedId> {
            conditions.into_iter().map(|(condition, _)| condition).collect()
        };
        let (wait, check) = (only(wait), only(check));
        let after =
            if later.is_empty() { after } else { self.key(Key::Chosen(owner, later.into(), wait.into(), after)) };
        (Chosen { variables: now, conditions: check }, after)
    }

    /// The variables of steps that their labels do not bind.
    fn step_variables(&mut self, steps: StepsId) -> Result<Rc<BTreeSet<VariableId>>, Stopped> {
        if let Some(known) = self.used.get(&steps) {
            return Ok(known.clone());
        }
        self.control.check()?;
        let found = stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            Ok(match *self.formula.steps(steps) {
                Steps::One(labels) => Rc::new(label_variables(self.formula, labels)),
                Steps::Sequence(left, right) | Steps::Choice(left, right) => {
                    let left = self.step_variables(left)?;
                    union(&left, &self.step_variables(right)?)
                }
                Steps::Star(inside) | Steps::Plus(inside) => self.step_variables(inside)?,
            })
        })?;
        self.used.insert(steps, found.clone());
        Ok(found)
    }
}
