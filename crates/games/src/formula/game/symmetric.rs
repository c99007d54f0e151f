//! Symmetries of a model that a formula does not notice.
//!
//! An element `g` of a group that acts on a model acts on the game as well: it carries the model's part of a row and
//! leaves the node as it is. It is a symmetry of the game when each move of each node takes a step labelled `a` exactly
//! where it takes one labelled `g(a)`: then it carries moves to moves, and owner and priority depend on the node alone.
//! A vertex and its image are thus won by the same player, and so the quotient of the game, which has one vertex of
//! each orbit, has the same winner (the projection to it is a functional bisimulation that keeps owners and
//! priorities).
//!
//! This is decided by evaluation, and not by the text of the formula: `exists i: P. c(i)` is fixed by every permutation
//! of `P`, and `c(p1) || c(p2)` by the exchange of `p1` and `p2`. Where a node remembers values of data, elements would
//! have to act on these; and where a formula looks at variables of the state, on what it sees. Both are refused, with
//! the part of the formula that does it.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::{Action, Actor, Cut, LabelId, Picture, System, Value, Walk};

use super::choosing::Choosing;
use super::compile::Use;
use super::product::FormulaGame;
use super::values::NONE;

impl FormulaGame {
    /// The same formula beside a model with an action whose generators were all proved to keep the formula
    /// ([`FormulaGame::keeps`]).
    pub fn symmetric(&self, model: Arc<dyn System>, control: &Control) -> Result<FormulaGame, Stopped> {
        assert!(model.action().is_some(), "the model has symmetries");
        let mut game = FormulaGame::of(self.compiled.clone(), model, self.reader.clone(), control)?;
        game.lifted = Some(LiftedAction { model: game.model.clone(), offset: game.offset });
        Ok(game)
    }

    /// The part of the formula that depends on more than the labels of steps, and on what; with such a part no
    /// symmetry is used.
    pub fn symmetry_obstacle(&self) -> Option<String> {
        let data = &self.compiled.formula.signature.data;
        let name = |variable| data.names.text(data.tree.variable(variable).0).trim_start_matches('@');
        let text = |node: usize| self.compiled.formula.part_text(self.compiled.graph.nodes[node].part.0);
        for (place, node) in self.compiled.nodes.iter().enumerate() {
            if let Some(&variable) = self.compiled.graph.nodes[place].live.first() {
                return Some(format!("`{}` remembers the value of `{}`", text(place), name(variable)));
            }
            if let Some(&seen) = node.moves.iter().find_map(|plan| plan.observed.first()) {
                let variable = self.compiled.observed[seen as usize].variable;
                return Some(format!("`{}` looks at `{}`", text(place), name(variable)));
            }
        }
        None
    }

    /// Does a permutation of the labels, `images[l]` being the image of `l` and labels beyond being their own images,
    /// keep the formula? If not, which part of it does it change?
    pub fn keeps(&self, images: &[LabelId], control: &Control) -> Result<Result<(), String>, Cut> {
        if let Some(obstacle) = self.symmetry_obstacle() {
            return Ok(Err(obstacle));
        }
        let worker = self.compiled.pool.worker();
        let (mut labels, mut known, mut records) = (HashMap::default(), HashMap::default(), Vec::new());
        let mut choosing = Choosing {
            game: self,
            control,
            worker: &worker,
            rewriter: None,
            labels: &mut labels,
            known: &mut known,
            records: &mut records,
            shown: &[],
        };
        let row = vec![NONE; self.offset];
        for (label, &image) in (0..).map(LabelId).zip(images).filter(|(label, image)| label != *image) {
            control.check()?;
            for (place, node) in self.compiled.nodes.iter().enumerate() {
                for (plan, &number) in node.moves.iter().zip(&self.first_groups[place]) {
                    if plan.uses == Use::Nothing {
                        continue;
                    }
                    let own = choosing.choices(plan, number, Some(label), &row)?;
                    let others = choosing.choices(plan, number, Some(image), &row)?;
                    if own.count != others.count {
                        let part = self.compiled.formula.part_text(self.compiled.graph.nodes[place].part.0);
                        let names = self.model.labels();
                        let (label, image) = (names.get(label), names.get(image));
                        return Ok(Err(format!("`{part}` tells {label} and {image} apart")));
                    }
                }
            }
        }
        Ok(Ok(()))
    }
}

/// The action of a model on the game: nodes are fixed.
///
/// Pictures are those of the model's rows, so two vertices that differ in their nodes alone have the same picture.
pub(super) struct LiftedAction {
    model: Arc<dyn System>,
    /// Where the row of the model begins.
    offset: usize,
}

impl LiftedAction {
    fn own(&self) -> &dyn Action {
        self.model.action().expect("the model has symmetries")
    }
}

impl Action for LiftedAction {
    fn points(&self) -> usize {
        self.own().points()
    }

    fn generators(&self) -> &[Vec<u32>] {
        self.own().generators()
    }

    fn pictures_are_complete(&self) -> bool {
        false
    }

    fn colours(&self, point: u32) -> Option<u32> {
        self.own().colours(point)
    }

    fn describe_point(&self, point: u32) -> String {
        self.own().describe_point(point)
    }

    fn actor<'a>(&'a self, control: &'a Control) -> Box<dyn Actor + 'a> {
        Box::new(LiftedActor { own: self.own().actor(control), offset: self.offset, slots: Vec::new() })
    }
}

struct LiftedActor<'a> {
    own: Box<dyn Actor + 'a>,
    offset: usize,
    /// Slots of the model.
    slots: Vec<u32>,
}

impl LiftedActor<'_> {
    fn shift(&mut self, slots: &[u32]) {
        self.slots.clear();
        let offset = self.offset as u32;
        self.slots.extend(slots.iter().filter(|&&slot| slot >= offset).map(|slot| slot - offset));
    }
}

impl Actor for LiftedActor<'_> {
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        self.own.picture(&row[self.offset..], picture);
    }

    fn draw_slots(&mut self, row: &[Value], slots: &[u32], picture: &mut Picture) -> bool {
        self.shift(slots);
        self.own.draw_slots(&row[self.offset..], &self.slots, picture)
    }

    fn begin(&mut self, row: &[Value], picture: &mut Picture) {
        self.own.begin(&row[self.offset..], picture);
    }

    fn draw_change(
        &mut self,
        from: &[Value],
        to: &[Value],
        slots: &[u32],
        before: &mut Picture,
        after: &mut Picture,
    ) -> bool {
        self.shift(slots);
        self.own.draw_change(&from[self.offset..], &to[self.offset..], &self.slots, before, after)
    }

    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) -> Walk {
        let (nodes, model) = into.split_at_mut(self.offset);
        nodes.copy_from_slice(&row[..self.offset]);
        self.own.apply(element, &row[self.offset..], model)
    }

    fn references(&mut self, slot: usize, value: Value, points: &mut Vec<u32>) -> bool {
        slot < self.offset || self.own.references(slot - self.offset, value, points)
    }

    fn apply_to_slot(&mut self, element: &[u32], slot: usize, value: Value) -> Result<(usize, Value), Cut> {
        if slot < self.offset {
            return Ok((slot, value));
        }
        let (slot, value) = self.own.apply_to_slot(element, slot - self.offset, value)?;
        Ok((slot + self.offset, value))
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        self.own.apply_to_label(element, label)
    }
}
