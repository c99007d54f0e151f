//! What the propositions of claims look at, so that it is known which moves cannot change any of them.
//!
//! A proposition reads slots, as a statement does ([`super::survey`]), and whatever writes one of them may change it.
//! Of a control state it mostly asks less: whether a process is at one label (`P[1]@cs`), whether any is at a label of
//! progress. So the control states of a process are put into classes, and a proposition sees no difference between two
//! states of one class: a move inside a class changes nothing that a proposition asks of it. Only the state in which a
//! step ends counts, for claims do not see the states inside an atomic sequence.
//!
//! A claim that asks `enabled`, `timeout`, or anything else that depends on what processes can do sees everything.
//!
//! Cost: the terms of the propositions, and for each question about control states their number.

use std::collections::HashMap;

use super::arrangement::{Arrangement, COUNT};
use super::moves::{Move, TypeCode};
use super::survey::{Placed, Survey};
use super::terms::{RemoteTermTarget, Term, TermId};
use super::touched::{Reason, Slots, Touched};
use crate::program::ProcessTypeId;

/// What some propositions see.
pub(super) struct Visible {
    /// They depend on whatever is in these slots.
    slots: Slots,
    /// The slots of control states that classes are about.
    controls: Slots,
    /// The class of each standpoint ([`super::independence`]).
    classes: Vec<u32>,
    count: u32,
    /// The first standpoint of each type at each position.
    firsts: Vec<Vec<u32>>,
}

/// The first standpoint of each type at each position, and how many there are.
pub(super) fn standpoints(code: &[Vec<TypeCode>]) -> (Vec<Vec<u32>>, usize) {
    let mut count = 0;
    let mut first = |code: &TypeCode| {
        let first = count as u32;
        count += code.controls();
        first
    };
    let firsts = code.iter().map(|types| types.iter().map(&mut first).collect()).collect();
    (firsts, count)
}

impl Visible {
    /// What these propositions see, by their numbers; nothing when that is everything.
    pub(super) fn new(survey: &Survey<'_>, arrangement: &Arrangement, propositions: &[u32]) -> Option<Visible> {
        let code = &*arrangement.code;
        let (firsts, standpoints) = standpoints(&code.positions);
        let (slots, controls) = (Slots::default(), Slots::default());
        let mut visible = Visible { slots, controls, classes: vec![0; standpoints], count: 1, firsts };
        // Propositions are no process's; nothing that they name is found by its place.
        let mut moves = code.positions.iter().flatten().filter_map(|code| Some((code, code.all_moves().first()?)));
        let Some((code, step)) = moves.next() else { return Some(visible) };
        let nobody = Placed { position: 0, index: 0, code, step };
        let mut work: Vec<TermId> =
            propositions.iter().map(|&number| arrangement.code.propositions[number as usize]).collect();
        while let Some(term) = work.pop() {
            if !visible.see(survey, arrangement, &nobody, term, &mut work) {
                return None;
            }
        }
        Some(visible)
    }

    /// Adds what one term sees, or its operands to what is to be looked at; whether it sees less than everything.
    fn see(
        &mut self,
        survey: &Survey<'_>,
        arrangement: &Arrangement,
        nobody: &Placed<'_>,
        term: TermId,
        work: &mut Vec<TermId>,
    ) -> bool {
        let terms = &arrangement.code.terms;
        match terms.terms[term as usize] {
            Term::Not(inner) | Term::Negate(inner) | Term::Complement(inner) => work.push(inner),
            Term::Binary(_, left, right) => work.extend([left, right]),
            Term::Conditional(condition, yes, no) => work.extend([condition, yes, no]),
            Term::ProgramCounter(process) => {
                work.push(process);
                for position in survey.named(process) {
                    self.split(arrangement, position, |_, control| control + 1);
                }
            }
            Term::NonProgress | Term::Accepting => {
                let accepting = terms.terms[term as usize] == Term::Accepting;
                for position in 0..arrangement.positions.len() {
                    self.split(arrangement, position, |kind, control| {
                        let process = survey.process(kind);
                        let marks = if accepting { &process.accepting } else { &process.progress };
                        u32::from(marks[control as usize])
                    });
                }
            }
            Term::Remote(remote) => {
                let remote = &terms.remotes[remote as usize];
                let RemoteTermTarget::Label(state) = remote.target else {
                    return self.read(survey, nobody, term);
                };
                work.extend(remote.index);
                let all = 0..arrangement.positions.len();
                for position in remote.index.map_or(all, |index| survey.named(index)) {
                    let own = |kind, control| u32::from(kind == remote.process && control == state);
                    self.split(arrangement, position, own);
                }
                self.slots.extend(survey.type_slots());
            }
            _ => return self.read(survey, nobody, term),
        }
        true
    }

    /// Adds the slots that a term reads; whether these are not all.
    fn read(&mut self, survey: &Survey<'_>, nobody: &Placed<'_>, term: TermId) -> bool {
        let mut touched = Touched::default();
        survey.term(nobody, term, true, &mut touched);
        self.slots.add(&touched.reads);
        !touched.all && !touched.has(Reason::Enabled)
    }

    /// Tells the control states of the processes at a position apart by what a proposition says of them. Whether a
    /// process is there at all, and of which type, matters, too.
    fn split(&mut self, arrangement: &Arrangement, position: usize, asked: impl Fn(ProcessTypeId, u32) -> u32) {
        let place = &arrangement.positions[position];
        self.slots.insert(COUNT);
        if place.types.len() > 1 {
            self.slots.insert(place.base as usize);
        }
        self.controls.insert(place.base as usize + 1);
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        for (index, code) in arrangement.code.positions[position].iter().enumerate() {
            let first = self.firsts[position][index] as usize;
            for control in 0..code.controls() {
                let class = &mut self.classes[first + control];
                *class = *known.entry((*class, asked(code.kind, control as u32))).or_insert_with(|| {
                    self.count += 1;
                    self.count - 1
                });
            }
        }
    }

    /// May steps that write these slots, and take processes from one standpoint to another, change a proposition?
    pub(super) fn is_changed_by(&self, writes: &[u32], shifts: &[(u32, u32)]) -> bool {
        writes.iter().any(|&slot| self.slots.contains(slot as usize) || self.controls.contains(slot as usize))
            || shifts.iter().any(|&(from, to)| self.classes[from as usize] != self.classes[to as usize])
    }
}

/// The control states in which a step that begins with a move may leave its process, as long as no other process takes
/// part: where the process keeps control, it may stop at every state that it passes.
pub(super) fn ends(code: &TypeCode, step: &Move) -> Vec<u32> {
    let mut found = vec![step.target];
    let mut work: Vec<u32> = step.atomic.then_some(step.target).into_iter().collect();
    while let Some(control) = work.pop() {
        for step in code.moves(control) {
            if !found.contains(&step.target) {
                found.push(step.target);
                work.extend(step.atomic.then_some(step.target));
            }
        }
    }
    found
}
