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
//! have to act on these; and where a formula looks at variables of the state that elements change, on what it sees.
//! Both are refused, with the part of the formula that does it.
//!
//! Where all labels are known beforehand, they are compared beforehand ([`FormulaGame::keeps`]). Where they are met on
//! the way ([`FormulaGame::symmetric_as_explored`]), each move compares a label that is new to it with all others of
//! its orbit, and the walk ends with [`Cut::Beyond`] at the first one that is told apart. What was explored until then
//! is right, so an engine may decide a game that it knows in part; and one that was cut decides nothing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::{Action, Actor, Cut, LabelId, MarkId, Picture, System, Value, Walk, Wrong};

use super::choosing::{Asking, Choosing};
use super::compile::{MovePlan, Use};
use super::product::FormulaGame;

impl FormulaGame {
    /// The same formula beside a model with an action whose generators were all proved to keep the formula
    /// ([`FormulaGame::keeps`]).
    pub fn symmetric(&self, model: Arc<dyn System>, control: &Control) -> Result<FormulaGame, Stopped> {
        assert!(model.action().is_some(), "the model has symmetries");
        let mut game = FormulaGame::of(self.compiled.clone(), model, self.reader.clone(), control)?;
        game.lifted = Some(LiftedAction { model: game.model.clone(), offset: game.offset, watches: false });
        Ok(game)
    }

    /// The same beside a model whose labels are met on the way: exploring ends with [`Cut::Beyond`] where the formula
    /// tells a label from its image.
    pub fn symmetric_as_explored(&self, model: Arc<dyn System>, control: &Control) -> Result<FormulaGame, Stopped> {
        let mut game = self.symmetric(model, control)?;
        game.lifted.as_mut().expect("it was made").watches = true;
        Ok(game)
    }

    /// The part of the formula that depends on more than the labels of steps, and on what; with such a part no
    /// symmetry is used.
    pub fn symmetry_obstacle(&self) -> Option<String> {
        self.symmetry_obstacle_but_for(&|_| false)
    }

    /// The same where symmetries do not change some marks of the model.
    pub fn symmetry_obstacle_but_for(&self, is_kept: &dyn Fn(MarkId) -> bool) -> Option<String> {
        let data = &self.compiled.formula.signature.data;
        let name = |variable| data.names.text(data.tree.variable(variable).0).trim_start_matches('@');
        let text = |node: usize| self.compiled.formula.part_text(self.compiled.graph.nodes[node].part.0);
        for (place, node) in self.compiled.nodes.iter().enumerate() {
            if let Some(&variable) = self.compiled.graph.nodes[place].live.first() {
                return Some(format!("`{}` remembers the value of `{}`", text(place), name(variable)));
            }
            let is_changed = |seen: &u32| !is_kept(self.compiled.observed[*seen as usize].mark);
            if let Some(&seen) = node.moves.iter().flat_map(|plan| &plan.observed).find(|seen| is_changed(seen)) {
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
        let mut asking = Asking::new(self);
        let (mut choosing, row) = asking.choosing(self, control);
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
                        return Ok(Err(self.told_apart(place, label, image)));
                    }
                }
            }
        }
        Ok(Ok(()))
    }

    fn told_apart(&self, node: usize, label: LabelId, image: LabelId) -> String {
        let part = self.compiled.formula.part_text(self.compiled.graph.nodes[node].part.0);
        let names = self.model.labels();
        format!("`{part}` tells {} and {} apart", names.get(label), names.get(image))
    }

    /// What compares the labels that one thread meets, where that is wanted.
    pub(super) fn label_orbits<'a>(&'a self, control: &'a Control) -> Option<LabelOrbits<'a>> {
        let own = self.lifted.as_ref().filter(|lifted| lifted.watches)?.own();
        let (actor, generators) = (own.actor(control), own.generators());
        Some(LabelOrbits { actor, generators, orbits: HashMap::new(), compared: HashSet::new() })
    }
}

/// One thread's comparison of the labels that it meets with all others of their orbits.
pub(super) struct LabelOrbits<'a> {
    actor: Box<dyn Actor + 'a>,
    generators: &'a [Vec<u32>],
    orbits: HashMap<LabelId, Arc<[LabelId]>>,
    /// What was compared: the move, the label, and what the move sees of the state.
    compared: HashSet<(u32, LabelId, Box<[Value]>)>,
}

impl LabelOrbits<'_> {
    fn orbit(&mut self, label: LabelId) -> Arc<[LabelId]> {
        if let Some(known) = self.orbits.get(&label) {
            return known.clone();
        }
        let mut orbit = vec![label];
        let mut next = 0;
        while let Some(&one) = orbit.get(next) {
            next += 1;
            for generator in self.generators {
                let image = self.actor.apply_to_label(generator, one);
                if !orbit.contains(&image) {
                    orbit.push(image);
                }
            }
        }
        let orbit: Arc<[LabelId]> = orbit.into();
        self.orbits.insert(label, orbit.clone());
        orbit
    }

    /// Ends the walk where a move takes a step with some label of the orbit and not with this one, or the reverse.
    pub(super) fn compare<'c, 'a: 'c>(
        &mut self,
        choosing: &mut Choosing<'c, 'a>,
        plan: &'a MovePlan,
        number: u32,
        label: LabelId,
        row: &[Value],
    ) -> Walk {
        let shown = plan.observed.iter().map(|&place| choosing.shown[place as usize]).collect();
        if !self.compared.insert((number, label, shown)) {
            return Ok(());
        }
        let own = choosing.choices(plan, number, Some(label), row)?;
        for &image in self.orbit(label).iter().skip(1) {
            let others = choosing.choices(plan, number, Some(image), row)?;
            if others.count != own.count {
                // Behind a cut nothing is remembered.
                self.compared.clear();
                let message = choosing.game.told_apart(row[0] as usize, label, image);
                return Err(Cut::Beyond(Box::new(Wrong { message, place: None, hint: None })));
            }
        }
        Ok(())
    }
}

/// The action of a model on the game: nodes are fixed.
///
/// Pictures are those of the model's rows, so two vertices that differ in their nodes alone have the same picture.
pub(super) struct LiftedAction {
    model: Arc<dyn System>,
    /// Where the row of the model begins.
    offset: usize,
    /// Whether labels are compared where they are met.
    watches: bool,
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
