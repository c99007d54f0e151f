//! The firing rules of the parallel operators.
//!
//! All of them have any number of operands at once, so that the rules of a thousand interleaved components are found in
//! one pass. Steps that operands take together are the product of what each of them can do under the label; in almost
//! all scripts that is one step each.

use std::collections::HashMap;
use std::rc::Rc;

use trefoil_system::LabelId;

use super::Compiler;
use super::events::{SetId, TiesId};
use super::steps::{Move, Parts, join};
use super::terms::{Node, TermId};
use crate::eval::Result;

type ByLabel = HashMap<LabelId, Vec<(u32, Move)>, foldhash::fast::FixedState>;

/// In how many alphabets labels are.
pub(super) type Holders = HashMap<LabelId, usize, foldhash::fast::FixedState>;

/// From how many operands on alphabets are listed instead of asked event by event.
const LISTED: usize = 24;

/// One step of each operand that takes part.
struct Combination {
    parts: Parts,
    targets: Vec<(u32, TermId)>,
}

/// Every choice of one step for each operand in `steps`, which come ordered by operand.
fn combinations(steps: &[(u32, Move)]) -> Vec<Combination> {
    let mut all = vec![Combination { parts: None, targets: Vec::new() }];
    for same in steps.chunk_by(|a, b| a.0 == b.0) {
        let mut more = Vec::with_capacity(all.len() * same.len());
        for begun in &all {
            for (operand, step) in same {
                let mut targets = begun.targets.clone();
                targets.push((*operand, step.target));
                more.push(Combination { parts: join(&begun.parts, &step.parts), targets });
            }
        }
        all = more;
    }
    all
}

/// How many operands take part; the steps come ordered by operand.
pub(super) fn participants<T>(steps: &[(u32, T)]) -> usize {
    steps.chunk_by(|a, b| a.0 == b.0).count()
}

/// What operands can do together by label, ascending.
pub(super) fn in_order<T>(
    by_label: HashMap<LabelId, Vec<(u32, T)>, foldhash::fast::FixedState>,
) -> Vec<(LabelId, Vec<(u32, T)>)> {
    let mut all: Vec<_> = by_label.into_iter().collect();
    all.sort_unstable_by_key(|&(label, _)| label);
    all
}

impl Compiler {
    /// The operands with some replaced; none when nothing changed.
    fn replaced(operands: &[TermId], targets: &[(u32, TermId)]) -> Option<Vec<TermId>> {
        if targets.iter().all(|&(at, target)| operands[at as usize] == target) {
            return None;
        }
        let mut list = operands.to_vec();
        for &(at, target) in targets {
            list[at as usize] = target;
        }
        Some(list)
    }

    fn rebuilt(
        &mut self,
        term: TermId,
        operands: &[TermId],
        targets: &[(u32, TermId)],
        rebuild: impl FnOnce(&mut Compiler, Vec<TermId>) -> TermId,
    ) -> TermId {
        match Compiler::replaced(operands, targets) {
            None => term,
            Some(list) => rebuild(self, list),
        }
    }

    /// All operands terminate together.
    fn terminate(&mut self, term: TermId, operands: &[TermId], ticks: &[(u32, Move)], moves: &mut Vec<Move>) {
        if participants(ticks) < operands.len() {
            return;
        }
        for combination in combinations(ticks) {
            let target = match Compiler::replaced(operands, &combination.targets) {
                None => term,
                Some(_) => TermId::OMEGA,
            };
            moves.push(Move { parts: combination.parts, ..Move::alone(LabelId::TICK, target) });
        }
    }

    /// The events of a set that all operands do together.
    pub(super) fn together(
        &mut self,
        term: TermId,
        set: SetId,
        operands: &Rc<[TermId]>,
        moves: &mut Vec<Move>,
        rebuild: impl Fn(&mut Compiler, Vec<TermId>) -> TermId,
    ) -> Result<()> {
        if set == SetId::EMPTY {
            return Ok(());
        }
        let mut by_label = ByLabel::default();
        for (at, &operand) in operands.iter().enumerate() {
            for step in self.steps(operand)?.iter() {
                if self.has(set, step.label)? {
                    self.not_open(step.label)?;
                    by_label.entry(step.label).or_default().push((at as u32, step.clone()));
                }
            }
        }
        for (label, steps) in in_order(by_label) {
            if participants(&steps) < operands.len() {
                continue;
            }
            for combination in combinations(&steps) {
                let target = self.rebuilt(term, operands, &combination.targets, &rebuild);
                moves.push(Move { parts: combination.parts, ..Move::alone(label, target) });
            }
        }
        Ok(())
    }

    /// `P [|A|] Q` for any number of operands.
    pub(super) fn parallel(&mut self, term: TermId, set: SetId, operands: &Rc<[TermId]>) -> Result<Vec<Move>> {
        let mut moves = Vec::new();
        let mut ticks = Vec::new();
        let rebuild = |compiler: &mut Compiler, list: Vec<TermId>| compiler.terms.parallel(set, list);
        for (at, &operand) in operands.iter().enumerate() {
            for step in self.steps(operand)?.iter() {
                match step.label {
                    LabelId::TICK => ticks.push((at as u32, step.clone())),
                    label if self.has(set, label)? => {}
                    _ => {
                        let target = self.rebuilt(term, operands, &[(at as u32, step.target)], rebuild);
                        moves.push(step.to(target));
                    }
                }
            }
        }
        self.together(term, set, operands, &mut moves, rebuild)?;
        self.terminate(term, operands, &ticks, &mut moves);
        Ok(moves)
    }

    /// `P [A||B] Q` for any number of operands: an event is done by all that have it in their alphabet.
    pub(super) fn alphabetised(
        &mut self,
        term: TermId,
        sets: &Rc<[SetId]>,
        operands: &Rc<[TermId]>,
    ) -> Result<Vec<Move>> {
        let mut moves = Vec::new();
        let mut ticks = Vec::new();
        let mut by_label = ByLabel::default();
        let rebuild = |compiler: &mut Compiler, list: Vec<TermId>| {
            compiler.terms.intern(Node::Alphabetised(sets.clone(), list.into()))
        };
        for (at, &operand) in operands.iter().enumerate() {
            for step in self.steps(operand)?.iter() {
                match step.label {
                    LabelId::TICK => ticks.push((at as u32, step.clone())),
                    LabelId::TAU => {
                        let target = self.rebuilt(term, operands, &[(at as u32, step.target)], rebuild);
                        moves.push(step.to(target));
                    }
                    label if self.has(sets[at], label)? => {
                        self.not_open(label)?;
                        by_label.entry(label).or_default().push((at as u32, step.clone()));
                    }
                    _ => {}
                }
            }
        }
        let holders = self.holders(sets)?;
        for (label, steps) in in_order(by_label) {
            let needed = self.needed(sets, label, holders.as_ref())?;
            if participants(&steps) < needed {
                continue;
            }
            for combination in combinations(&steps) {
                let target = self.rebuilt(term, operands, &combination.targets, rebuild);
                moves.push(Move { parts: combination.parts, ..Move::alone(label, target) });
            }
        }
        self.terminate(term, operands, &ticks, &mut moves);
        Ok(moves)
    }

    /// In how many alphabets a label is.
    pub(super) fn needed(&mut self, sets: &[SetId], label: LabelId, holders: Option<&Holders>) -> Result<usize> {
        if let Some(holders) = holders {
            return Ok(holders.get(&label).copied().unwrap_or_default());
        }
        let mut needed = 0;
        for &set in sets {
            needed += usize::from(self.has(set, label)?);
        }
        Ok(needed)
    }

    /// In how many alphabets each label is, when there are so many alphabets that listing them is cheaper than asking.
    pub(super) fn holders(&mut self, sets: &[SetId]) -> Result<Option<Holders>> {
        if sets.len() < LISTED {
            return Ok(None);
        }
        let mut holders = Holders::default();
        for &set in sets {
            for label in self.events.list(set, &mut self.evaluator)? {
                *holders.entry(label).or_default() += 1;
            }
        }
        Ok(Some(holders))
    }

    /// `P [a <-> b] Q`: an `a` of the left and a `b` of the right happen together, unseen, and only so.
    pub(super) fn link(&mut self, term: TermId, ties: TiesId, left: TermId, right: TermId) -> Result<Vec<Move>> {
        let operands: Rc<[TermId]> = [left, right].into();
        let rebuild =
            |compiler: &mut Compiler, list: Vec<TermId>| compiler.terms.intern(Node::Link(ties, list[0], list[1]));
        let mut moves = Vec::new();
        let mut ticks = Vec::new();
        let mut waiting = ByLabel::default();
        for step in self.steps(right)?.iter() {
            match step.label {
                LabelId::TICK => ticks.push((1, step.clone())),
                label if self.events.tied_right(ties, label, &mut self.evaluator)? => {
                    waiting.entry(label).or_default().push((1, step.clone()));
                }
                _ => {
                    let target = self.rebuilt(term, &operands, &[(1, step.target)], rebuild);
                    moves.push(step.to(target));
                }
            }
        }
        for step in self.steps(left)?.iter() {
            if step.label == LabelId::TICK {
                ticks.insert(0, (0, step.clone()));
                continue;
            }
            let partners = self.events.tied(ties, step.label, &mut self.evaluator)?;
            if partners.is_empty() {
                let target = self.rebuilt(term, &operands, &[(0, step.target)], rebuild);
                moves.push(step.to(target));
            }
            for partner in partners.iter() {
                for (_, other) in waiting.get(partner).into_iter().flatten() {
                    let target = self.rebuilt(term, &operands, &[(0, step.target), (1, other.target)], rebuild);
                    let parts = join(&step.parts, &other.parts);
                    moves.push(Move { label: LabelId::TAU, origin: step.label, parts, target });
                }
            }
        }
        self.terminate(term, &operands, &ticks, &mut moves);
        Ok(moves)
    }
}
