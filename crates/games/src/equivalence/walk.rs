//! The moves of a game of equivalence, from whole rows and from what one group reads.
//!
//! Both ways make the same row: [`EquivalenceGame::after_step`] does for a move that looks at a step of a system, given
//! what the step writes, and [`EquivalenceGame::after`] for all others.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use trefoil_control::Control;
use trefoil_system::{
    Change, Cut, Explorer, GroupId, LabelId, LocalGroup, LocalSink, LocalStep, MarkId, Meaning, Sink, SlotSet, Step,
    System, Value, Walk, Written,
};

use super::kinds::{EquivalenceNotion, Kind, Phase};
use super::{EquivalenceGame, KIND, LABEL, Move, WAITING};
use crate::solve::Player;

/// One thread's view of a game.
pub(super) struct EquivalenceWalker<'a> {
    game: &'a EquivalenceGame,
    control: &'a Control,
    models: [Box<dyn Explorer + 'a>; 2],
    /// The common labels of those that were met.
    known: [HashMap<LabelId, LabelId>; 2],
    /// The groups of the systems.
    local: Option<[Vec<LocalGroup>; 2]>,
}

/// A step of a system.
struct ModelStep {
    group: usize,
    label: LabelId,
    row: Vec<Value>,
    /// The slots that it wrote; all that its group declares when there is no list.
    slots: Option<Vec<u32>>,
}

impl EquivalenceGame {
    /// The kind of the rows that a move begins in, but for where Odd chooses.
    fn begins(&self, one: Move) -> Kind {
        let (phase, answers) = match one {
            Move::Challenge(..) => return Kind::CHOOSE,
            Move::Answer(side, _) | Move::Stay(side) | Move::Silent(side, _) => (Phase::Answer, side),
            Move::Compare(side) | Move::Demand(side) => (Phase::Inspect, side),
            Move::TakeAnswered(side, _) => (Phase::TakeAnswered, 1 - side),
            Move::TakeAlone(side, _) => (Phase::TakeAlone, 1 - side),
        };
        Kind { phase, answers }
    }

    /// Can a move be made in rows of this kind, with this label to be answered and this group that waits?
    fn is_possible(&self, one: Move, row: &[Value]) -> bool {
        let kind = Kind::of(row[KIND]);
        match one {
            Move::Challenge(..) => matches!(kind.phase, Phase::Choose | Phase::ChooseAgain),
            Move::Stay(_) => kind == self.begins(one) && row[LABEL] == LabelId::TAU.0,
            Move::TakeAnswered(_, group) | Move::TakeAlone(_, group) => {
                kind == self.begins(one) && row[WAITING] as usize == group
            }
            _ => kind == self.begins(one),
        }
    }

    /// Does a move look at a step of a system with this label?
    fn takes(&self, one: Move, row: &[Value], label: LabelId) -> bool {
        match one {
            Move::Answer(..) => row[LABEL] == label.0,
            Move::Silent(..) => label == LabelId::TAU,
            _ => true,
        }
    }

    /// The row after a move that looks at a step: `next` begins as the row before it, and `new` has the values that the
    /// step writes, by the slots of the system.
    fn after_step(&self, one: Move, label: LabelId, new: &dyn Fn(usize) -> Option<Value>, next: &mut [Value]) {
        let (Move::Challenge(side, group) | Move::Answer(side, group) | Move::Silent(side, group)) = one else {
            unreachable!("this move looks at no step")
        };
        let is_strong = self.notion == EquivalenceNotion::Strong;
        let waits = matches!(one, Move::Challenge(..)) && !is_strong;
        let (row, to) = (&self.rows[side], if waits { &self.steps[side] } else { &self.rows[side] });
        for slot in self.outputs[side][group].iter() {
            match new(slot) {
                Some(value) => next[to.start + slot] = value,
                None if waits => next[to.start + slot] = next[row.start + slot],
                None => {}
            }
        }
        let kind = |phase: Phase, answers: usize| Kind { phase, answers }.value();
        match one {
            Move::Challenge(..) => {
                next[KIND] = kind(Phase::Answer, 1 - side);
                next[LABEL] = label.0;
                if waits {
                    next[WAITING] = group as Value;
                }
            }
            Move::Answer(..) => {
                next[KIND] = if is_strong { Kind::CHOOSE.value() } else { kind(Phase::TakeAnswered, side) };
                next[LABEL] = LabelId::TAU.0;
            }
            _ => next[KIND] = kind(Phase::Inspect, side),
        }
    }

    /// The row after any other move.
    fn after(&self, one: Move, next: &mut [Value]) {
        let kind = |phase: Phase, answers: usize| Kind { phase, answers }.value();
        match one {
            Move::Demand(side) => next[KIND] = kind(Phase::Answer, side),
            Move::Stay(side) => {
                next[KIND] = kind(Phase::TakeAlone, side);
                next[LABEL] = LabelId::TAU.0;
            }
            Move::Compare(side) => {
                let waiting = self.steps[1 - side].clone();
                next[waiting.clone()].copy_from_slice(&self.initial[waiting]);
                next[KIND] = Kind::CHOOSE.value();
                next[LABEL] = LabelId::TAU.0;
                next[WAITING] = 0;
            }
            Move::TakeAnswered(side, group) | Move::TakeAlone(side, group) => {
                for slot in self.outputs[side][group].iter() {
                    let waiting = self.steps[side].start + slot;
                    next[self.rows[side].start + slot] = next[waiting];
                    next[waiting] = self.initial[waiting];
                }
                let is_alone = matches!(one, Move::TakeAlone(..));
                let counts = self.notion == EquivalenceNotion::DivergenceBranching;
                next[KIND] = if is_alone && counts { Kind::CHOOSE_AGAIN } else { Kind::CHOOSE }.value();
                next[WAITING] = 0;
            }
            Move::Challenge(..) | Move::Answer(..) | Move::Silent(..) => unreachable!("this move looks at a step"),
        }
    }

    /// The moves that may be made in rows of a kind, as places in the list of all; those of one sort stand together.
    fn candidates(&self, row: &[Value]) -> Vec<usize> {
        (0..self.moves.len()).filter(|&place| self.is_possible(self.moves[place], row)).collect()
    }
}

impl<'a> EquivalenceWalker<'a> {
    pub(super) fn new(game: &'a EquivalenceGame, control: &'a Control) -> EquivalenceWalker<'a> {
        let models = [game.models[0].explorer(control), game.models[1].explorer(control)];
        EquivalenceWalker { game, control, models, known: [HashMap::new(), HashMap::new()], local: None }
    }

    fn common(&mut self, side: usize, label: LabelId) -> Result<LabelId, Cut> {
        if let Some(&known) = self.known[side].get(&label) {
            return Ok(known);
        }
        let common = (self.game.maps[side])(label)?;
        self.known[side].insert(label, common);
        Ok(common)
    }
}

impl Explorer for EquivalenceWalker<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let game = self.game;
        let places = game.candidates(row);
        let mut next = row.to_vec();
        let mut written: Vec<Change> = Vec::new();
        // Moves of one sort on one side look at all steps of a system; their places ascend by the system's groups.
        let mut at = 0;
        while let Some(&place) = places.get(at) {
            let one = game.moves[place];
            let (Move::Challenge(side, first) | Move::Answer(side, first) | Move::Silent(side, first)) = one else {
                next.copy_from_slice(row);
                game.after(one, &mut next);
                sink(Step::of_group(GroupId(place as u32), LabelId::TAU, &next))?;
                at += 1;
                continue;
            };
            debug_assert_eq!(first, 0, "all groups of a system follow each other");
            at += game.models[side].groups().len();
            let mut steps: Vec<ModelStep> = Vec::new();
            self.models[side]
                .successors(&row[game.rows[side].clone()], &mut |step| {
                    let slots = match step.written {
                        Written::Group => None,
                        Written::Slots(slots) => Some(slots.iter().map(|&(slot, _)| slot).collect()),
                    };
                    let (group, label, row) = (step.group.index(), step.label, step.row.to_vec());
                    steps.push(ModelStep { group, label, row, slots });
                    Ok(())
                })
                .inspect_err(|_| game.cut.store(side + 1, Ordering::Relaxed))?;
            for ModelStep { group, label, row: own_row, slots } in steps {
                let label = self.common(side, label)?;
                let one = match one {
                    Move::Challenge(..) => Move::Challenge(side, group),
                    Move::Answer(..) => Move::Answer(side, group),
                    _ => Move::Silent(side, group),
                };
                if !game.takes(one, row, label) {
                    continue;
                }
                let is_written = |slot: usize| slots.as_ref().is_none_or(|slots| slots.contains(&(slot as u32)));
                next.copy_from_slice(row);
                game.after_step(one, label, &|slot| is_written(slot).then(|| own_row[slot]), &mut next);
                let number = GroupId((place + group) as u32);
                written.clear();
                let waits = matches!(one, Move::Challenge(..)) && game.notion != EquivalenceNotion::Strong;
                let kept = match (&slots, waits) {
                    (Some(slots), false) => {
                        let base = game.rows[side].start as u32;
                        let inside = slots.iter().filter(|&&slot| (slot as usize) < own_row.len());
                        written.extend(inside.map(|&slot| (base + slot, row[(base + slot) as usize])));
                        let last = if matches!(one, Move::Silent(..)) { KIND } else { LABEL };
                        written.extend((KIND..=last).map(|slot| (slot as u32, row[slot])));
                        Written::Slots(&written)
                    }
                    _ => Written::Group,
                };
                sink(Step { group: number, label, row: &next, written: kept, class: 0, agents: &[], passes: false })?;
            }
        }
        Ok(())
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        let game = self.game;
        let row = group.filled_in(reads);
        let one = game.moves[group.id.index()];
        if !game.is_possible(one, &row) {
            return Ok(());
        }
        let (Move::Challenge(side, number) | Move::Answer(side, number) | Move::Silent(side, number)) = one else {
            let mut next = row.clone();
            game.after(one, &mut next);
            let values: Vec<Value> = group.outputs.iter().map(|slot| next[slot]).collect();
            return sink(LocalStep { label: LabelId::TAU, values: &values, written: &vec![true; values.len()] });
        };
        if self.local.is_none() {
            let all = |side: usize| LocalGroup::all(&*game.models[side], self.control);
            self.local = Some([all(0)?, all(1)?]);
        }
        let own = &self.local.as_ref().expect("they were made")[side][number];
        let mut values = Vec::new();
        own.inputs.values(&row[game.rows[side].clone()], &mut values);
        let mut steps: Vec<(LabelId, Vec<Value>, Vec<bool>)> = Vec::new();
        self.models[side]
            .local_successors(own, &values, &mut |step| {
                steps.push((step.label, step.values.to_vec(), step.written.to_vec()));
                Ok(())
            })
            .inspect_err(|_| game.cut.store(side + 1, Ordering::Relaxed))?;
        let outputs: SlotSet = game.outputs[side][number].clone();
        let waits = matches!(one, Move::Challenge(..)) && game.notion != EquivalenceNotion::Strong;
        for (label, own_values, own_written) in steps {
            let label = self.common(side, label)?;
            if !game.takes(one, &row, label) {
                continue;
            }
            let new = |slot: usize| {
                let place = outputs.iter().position(|own| own == slot)?;
                own_written[place].then(|| own_values[place])
            };
            let mut next = row.clone();
            game.after_step(one, label, &new, &mut next);
            let values: Vec<Value> = group.outputs.iter().map(|slot| next[slot]).collect();
            let base = game.rows[side].clone();
            let is_written = |slot: usize| waits || !base.contains(&slot) || new(slot - base.start).is_some();
            let written: Vec<bool> = group.outputs.iter().map(is_written).collect();
            sink(LocalStep { label, values: &values, written: &written })?;
        }
        Ok(())
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        let kind = Kind::of(reads[0]);
        Ok(match self.game.marks()[mark.index()].meaning {
            Meaning::Owner => Value::from(kind.owner() == Player::Odd),
            _ => kind.priority(self.game.notion),
        })
    }
}
