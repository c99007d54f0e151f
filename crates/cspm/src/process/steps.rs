//! The firing rules of every operator.
//!
//! These are the rules of Roscoe, *Understanding Concurrent Systems* (2010, chapter 9), with termination as the head of
//! [`super`] says, and those of the FDR manual for operators that the book does not have. The rules of the parallel
//! operators are in [`super::parallel`].

use std::rc::Rc;

use trefoil_system::LabelId;

use super::events::SetId;
use super::expand::deeply;
use super::families::family_of;
use super::terms::{Node, TermId};
use super::{Compiler, codes};
use crate::eval::{Failure, ProcessId, Result};

/// The components that take part in a step and their labels, ascending; none in a term without holes.
pub(super) type Parts = Option<Rc<[(u32, LabelId)]>>;

/// A step that a term can take.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Move {
    pub(super) label: LabelId,
    /// What the step was before it was hidden; the label itself when it was not.
    pub(super) origin: LabelId,
    pub(super) parts: Parts,
    pub(super) target: TermId,
}

impl Move {
    /// A step in which no component takes part.
    pub(super) fn alone(label: LabelId, target: TermId) -> Move {
        Move { label, origin: label, parts: None, target }
    }

    pub(super) fn tau(target: TermId) -> Move {
        Move::alone(LabelId::TAU, target)
    }

    /// The same step of a larger term.
    pub(super) fn to(&self, target: TermId) -> Move {
        Move { target, ..self.clone() }
    }

    /// The same step, seen as `τ`.
    pub(super) fn hidden(&self, target: TermId) -> Move {
        Move { label: LabelId::TAU, target, ..self.clone() }
    }
}

/// The steps of both.
pub(super) fn join(left: &Parts, right: &Parts) -> Parts {
    match (left, right) {
        (None, other) | (other, None) => other.clone(),
        (Some(left), Some(right)) => {
            let mut all: Vec<(u32, LabelId)> = left.iter().chain(right.iter()).copied().collect();
            all.sort_unstable();
            Some(all.into())
        }
    }
}

/// Terminations of an operator beside whose `✓` something else may be offered.
struct Endings {
    ticks: Vec<Move>,
    /// Termination can be made to wait, and is offered beside what else is offered.
    waits: bool,
}

impl Endings {
    /// Adds the terminations: as they are when nothing else is offered or they wait, else by way of `SKIP`.
    fn finish(self, moves: &mut Vec<Move>) {
        if self.waits {
            moves.extend(self.ticks.iter().map(|tick| tick.to(TermId::OMEGA)));
            return;
        }
        let pure = moves.is_empty() && self.ticks.iter().all(|tick| tick.parts.is_none());
        for tick in self.ticks {
            moves.push(if pure { tick.to(TermId::OMEGA) } else { tick.hidden(TermId::SKIP) });
        }
    }
}

impl Compiler {
    fn endings(&self) -> Endings {
        Endings { ticks: Vec::new(), waits: self.is_timed }
    }

    /// The steps of a term.
    pub(super) fn steps(&mut self, term: TermId) -> Result<Rc<[Move]>> {
        if let Some(known) = &self.terms.moves[term.index()] {
            return Ok(known.clone());
        }
        self.control.check()?;
        let mut moves = deeply(|| self.find_steps(term))?;
        // Steps of a deep term are made on the way back, without another look at the budgets.
        self.control.check()?;
        distinct(&mut moves);
        let moves: Rc<[Move]> = moves.into();
        self.terms.moves[term.index()] = Some(moves.clone());
        Ok(moves)
    }

    fn find_steps(&mut self, term: TermId) -> Result<Vec<Move>> {
        if self.terms.is_fixed(term) && self.terms.has_holes(term) {
            return self.fixed_steps(term);
        }
        match self.terms.node(term).clone() {
            Node::Stop | Node::Omega => Ok(Vec::new()),
            Node::Skip => Ok(vec![Move::alone(LabelId::TICK, TermId::OMEGA)]),
            Node::Div => Ok(vec![Move::tau(term)]),
            Node::Run(set) => {
                let events = self.events.list(set, &mut self.evaluator)?;
                Ok(events.into_iter().map(|event| Move::alone(event, term)).collect())
            }
            Node::Chaos(set) => {
                let events = self.events.list(set, &mut self.evaluator)?;
                let mut moves = vec![Move::tau(TermId::STOP)];
                moves.extend(events.into_iter().map(|event| Move::alone(event, term)));
                Ok(moves)
            }
            Node::Waiting(_) => {
                let reached = self.reach(term)?;
                Ok(self.steps(reached)?.to_vec())
            }
            Node::Prefix(id) => self.prefix(term, id),
            Node::Wait(tock, 0) => Ok(vec![Move::alone(tock, term), Move::alone(LabelId::TICK, TermId::OMEGA)]),
            Node::Wait(tock, left) => Ok(vec![Move::alone(tock, self.terms.intern(Node::Wait(tock, left - 1)))]),
            Node::Delay(tock, left, then) => {
                let target =
                    if left > 1 { self.terms.intern(Node::Delay(tock, left - 1, then)) } else { self.reach(then)? };
                Ok(vec![Move::alone(tock, target)])
            }
            Node::Closed(inner) => {
                let mut moves = Vec::new();
                let mut endings = Endings { ticks: Vec::new(), waits: false };
                for step in self.steps(inner)?.iter() {
                    match step.label {
                        LabelId::TICK => endings.ticks.push(step.clone()),
                        _ => moves
                            .push(step.to(self.unary_target(term, inner, step, |terms, inner| terms.closed(inner)))),
                    }
                }
                endings.finish(&mut moves);
                Ok(moves)
            }
            Node::Offer(id, _) => {
                // The prefix notes the steps of all its offers.
                let prefix = self.terms.intern(Node::Prefix(id));
                self.terms.moves[prefix.index()] = None;
                self.steps(prefix)?;
                Ok(self.terms.moves[term.index()].as_ref().expect("an offer of the prefix").to_vec())
            }
            Node::Hole(component) => Ok(self.hole_steps(term, component)),
            Node::State(machine, state) => self.state_steps(machine, state),
            Node::Layer(id, state) => self.layer_steps(id, state),
            Node::Buffer(id, inside) => Ok(self.buffer_steps(term, id, &inside)),
            Node::External(operands) => self.external(&operands),
            Node::Internal(operands) => operands.iter().map(|&operand| Ok(Move::tau(self.reach(operand)?))).collect(),
            Node::Sequential(first, then) => {
                let mut moves = Vec::new();
                for step in self.steps(first)?.iter() {
                    moves.push(if step.label == LabelId::TICK {
                        step.hidden(self.reach(then)?)
                    } else {
                        step.to(self.terms.intern(Node::Sequential(step.target, then)))
                    });
                }
                Ok(moves)
            }
            Node::Interrupt(first, second) => self.interrupt(first, second),
            Node::Sliding(first, then) => {
                let mut endings = self.endings();
                let mut moves = vec![Move::tau(self.reach(then)?)];
                for step in self.steps(first)?.iter() {
                    match step.label {
                        LabelId::TAU => moves.push(step.to(self.terms.intern(Node::Sliding(step.target, then)))),
                        LabelId::TICK => endings.ticks.push(step.clone()),
                        _ => moves.push(step.clone()),
                    }
                }
                endings.finish(&mut moves);
                Ok(moves)
            }
            Node::Exception(first, set, then) => {
                let mut moves = Vec::new();
                for step in self.steps(first)?.iter() {
                    moves.push(if step.label == LabelId::TICK {
                        step.to(self.after_tick(term, first, step))
                    } else if self.has(set, step.label)? {
                        step.to(self.reach(then)?)
                    } else {
                        step.to(self.terms.intern(Node::Exception(step.target, set, then)))
                    });
                }
                Ok(moves)
            }
            Node::Hide(set, inner) => {
                let mut moves = Vec::new();
                for step in self.steps(inner)?.iter() {
                    let target = self.unary_target(term, inner, step, |terms, inner| terms.hide(set, inner));
                    moves.push(if self.has(set, step.label)? { step.hidden(target) } else { step.to(target) });
                }
                Ok(moves)
            }
            Node::Project(set, inner) => {
                let mut moves = Vec::new();
                for step in self.steps(inner)?.iter() {
                    let target = self.unary_target(term, inner, step, |terms, inner| terms.project(set, inner));
                    let kept = step.label <= LabelId::TICK || self.has(set, step.label)?;
                    moves.push(if kept { step.to(target) } else { step.hidden(target) });
                }
                Ok(moves)
            }
            Node::Rename(renaming, inner) => {
                let mut moves = Vec::new();
                for step in self.steps(inner)?.iter() {
                    let target = self.unary_target(term, inner, step, |terms, inner| terms.rename(renaming, inner));
                    if step.label <= LabelId::TICK {
                        moves.push(step.to(target));
                        continue;
                    }
                    for &label in self.events.images(renaming, step.label, &mut self.evaluator)?.iter() {
                        moves.push(Move { label, origin: label, ..step.to(target) });
                    }
                }
                Ok(moves)
            }
            Node::Parallel(set, operands) => self.parallel(term, set, &operands),
            Node::Alphabetised(sets, operands) => self.alphabetised(term, &sets, &operands),
            Node::Link(ties, left, right) => self.link(term, ties, left, right),
            Node::SynchronisingChoice(set, operands) => self.synchronising_choice(term, set, &operands),
            Node::SynchronisingInterrupt(set, first, second) => self.synchronising_interrupt(term, set, first, second),
        }
    }

    /// The target of an operator with one operand, which stays itself when the operand does.
    fn unary_target(
        &mut self,
        term: TermId,
        inner: TermId,
        step: &Move,
        make: impl FnOnce(&mut super::Terms, TermId) -> TermId,
    ) -> TermId {
        if step.target == inner { term } else { make(&mut self.terms, step.target) }
    }

    /// What an operator is after the `✓` of its operand: itself when that is a component, which has then ended.
    pub(super) fn after_tick(&self, term: TermId, inner: TermId, step: &Move) -> TermId {
        if step.target == inner { term } else { TermId::OMEGA }
    }

    pub(super) fn has(&mut self, set: SetId, label: LabelId) -> Result<bool> {
        self.control.check()?;
        self.events.has(set, label, &mut self.evaluator)
    }

    /// Labels that are compared with others are no families: their open values are needed.
    pub(super) fn not_open(&self, label: LabelId) -> Result<()> {
        match family_of(label) {
            Some(family) => Err(self.events.families.needs(family)),
            None => Ok(()),
        }
    }

    /// The events of a prefix, and of all its internal choices.
    fn prefix(&mut self, term: TermId, id: ProcessId) -> Result<Vec<Move>> {
        let process = self.process_of(id);
        if let Some(section) = self.section_of(&process) {
            return self.timed_prefix(term, &process, section);
        }
        let offers = self.evaluator.communications(&process)?;
        let choices = offers.iter().map(|offer| offer.choice).max().map_or(0, |most| most + 1);
        let mut groups: Vec<Vec<Move>> = (0..choices).map(|_| Vec::new()).collect();
        for offer in offers {
            self.control.check()?;
            let event = match offer.rest.is_empty() {
                true => self.events.label(&offer.event, &self.evaluator)?,
                false => self.events.family(offer.event, offer.rest, &mut self.evaluator)?,
            };
            let target = self.expand(&offer.then)?;
            groups[offer.choice as usize].push(Move::alone(event, target));
        }
        if groups.len() <= 1 {
            return Ok(groups.pop().unwrap_or_default());
        }
        let mut moves = Vec::new();
        for (choice, mut group) in groups.into_iter().enumerate() {
            distinct(&mut group);
            let offer = self.terms.intern(Node::Offer(id, choice as u32));
            self.terms.moves[offer.index()] = Some(group.into());
            moves.push(Move::tau(offer));
        }
        Ok(moves)
    }

    fn external(&mut self, operands: &Rc<[TermId]>) -> Result<Vec<Move>> {
        let mut moves = Vec::new();
        let mut endings = self.endings();
        for (at, &operand) in operands.iter().enumerate() {
            for step in self.steps(operand)?.iter() {
                match step.label {
                    LabelId::TAU => {
                        let replaced =
                            operands.iter().enumerate().map(|(i, &other)| if i == at { step.target } else { other });
                        moves.push(step.to(self.terms.external(replaced)));
                    }
                    LabelId::TICK => endings.ticks.push(step.clone()),
                    _ => moves.push(step.clone()),
                }
            }
        }
        endings.finish(&mut moves);
        Ok(moves)
    }

    fn interrupt(&mut self, first: TermId, second: TermId) -> Result<Vec<Move>> {
        let mut moves = Vec::new();
        let mut endings = self.endings();
        for step in self.steps(first)?.iter() {
            match step.label {
                LabelId::TICK => endings.ticks.push(step.clone()),
                _ => moves.push(step.to(self.terms.intern(Node::Interrupt(step.target, second)))),
            }
        }
        for step in self.steps(second)?.iter() {
            match step.label {
                LabelId::TAU => moves.push(step.to(self.terms.intern(Node::Interrupt(first, step.target)))),
                LabelId::TICK => endings.ticks.push(step.clone()),
                _ => moves.push(step.clone()),
            }
        }
        endings.finish(&mut moves);
        Ok(moves)
    }

    /// Events of the set are done by all and leave the choice open; any other event of one makes the choice.
    fn synchronising_choice(&mut self, term: TermId, set: SetId, operands: &Rc<[TermId]>) -> Result<Vec<Move>> {
        let mut moves = Vec::new();
        let mut endings = self.endings();
        let rebuild = |compiler: &mut Compiler, list: Vec<TermId>| {
            compiler.terms.intern(Node::SynchronisingChoice(set, list.into()))
        };
        for (at, &operand) in operands.iter().enumerate() {
            for step in self.steps(operand)?.iter() {
                match step.label {
                    LabelId::TAU => {
                        let mut list = operands.to_vec();
                        list[at] = step.target;
                        moves.push(step.to(rebuild(self, list)));
                    }
                    LabelId::TICK => endings.ticks.push(step.clone()),
                    label if self.has(set, label)? => {}
                    _ => moves.push(step.clone()),
                }
            }
        }
        self.together(term, set, operands, &mut moves, rebuild)?;
        endings.finish(&mut moves);
        Ok(moves)
    }

    /// As interrupt, but events of the set are done by both and do not interrupt.
    fn synchronising_interrupt(
        &mut self,
        term: TermId,
        set: SetId,
        first: TermId,
        second: TermId,
    ) -> Result<Vec<Move>> {
        let mut moves = Vec::new();
        let mut endings = self.endings();
        for (at, operand) in [first, second].into_iter().enumerate() {
            for step in self.steps(operand)?.iter() {
                let stays = match step.label {
                    LabelId::TICK => {
                        endings.ticks.push(step.clone());
                        continue;
                    }
                    LabelId::TAU => true,
                    label if self.has(set, label)? => continue,
                    _ => at == 0,
                };
                let target = match (stays, at) {
                    (false, _) => step.target,
                    (true, 0) => self.terms.intern(Node::SynchronisingInterrupt(set, step.target, second)),
                    (true, _) => self.terms.intern(Node::SynchronisingInterrupt(set, first, step.target)),
                };
                moves.push(step.to(target));
            }
        }
        self.together(term, set, &[first, second].into(), &mut moves, |compiler, list| {
            compiler.terms.intern(Node::SynchronisingInterrupt(set, list[0], list[1]))
        })?;
        endings.finish(&mut moves);
        Ok(moves)
    }

    /// A failure if the terms of a process only grow: it is probably infinite. A state costs as much as its term is
    /// large, so a process that grows for n rounds would cost n².
    pub(super) fn grows(&self, start: TermId, now: u32) -> Option<Failure> {
        const ALLOWED: u32 = 600;
        let before = self.terms.weight(start);
        if now <= before.saturating_mul(2).saturating_add(ALLOWED) {
            return None;
        }
        let message = format!("this process grows without bound ({now} operands reached)");
        let place = self.some_place(start);
        let help = "every recursive call below a parallel operator, hiding or renaming, or before `;`, adds operands; \
                    a recursion that ends may do so a few hundred times";
        Some(Failure::at(codes::GROWS, message, place).help(help))
    }
}

/// Keeps the first of equal steps.
fn distinct(moves: &mut Vec<Move>) {
    if moves.len() < 2 {
        return;
    }
    if moves.len() <= 16 {
        let mut kept: Vec<Move> = Vec::with_capacity(moves.len());
        for step in moves.drain(..) {
            if !kept.contains(&step) {
                kept.push(step);
            }
        }
        *moves = kept;
        return;
    }
    let mut seen: std::collections::HashSet<Move, foldhash::fast::FixedState> = std::collections::HashSet::default();
    moves.retain(|step| seen.insert(step.clone()));
}
