//! The slots that each transition group reads and writes.
//!
//! A group ([`super::groups`]) begins with a move, or with a send and a receive, and touches the slots that these touch
//! themselves ([`super::survey`]). It reads and writes more than its statement names where
//!
//! - its process keeps control: the step is the whole run, so all statements that control can reach without being given
//!   up belong to it, and where one of them is a rendezvous, the receivers and the statements that these continue with
//!   ([`Steps::runs`]);
//! - moves before it decide whether an explorer tries it: `else` depends on all of them, and any move on escapes that
//!   it does not belong to ([`Steps::alternatives`]);
//! - it looks at other processes: references, `enabled`, priorities, and `timeout`, which is true when no process can
//!   move.
//!
//! Each group keeps which of these apply ([`Reason`]). A slot that no group writes keeps its initial value: no group
//! reads it.
//!
//! Cost: moves times slots, in bits, for each round of the analysis of runs; the longest chain of statements that keep
//! control bounds the number of rounds.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use trefoil_system::{Group, SlotSet};

use super::arrangement::{Arrangement, Queue};
use super::groups::{Grouping, looks_back};
use super::moves::Code;
use super::survey::{Assumed, Placed, Survey, placed};
use super::terms::Term;
use super::touched::{Reason, Touched};

/// The groups of a model and their reasons, in the order of positions, types, control states and transitions; pairs
/// come last.
pub(super) fn groups(
    survey: Survey<'_>,
    arrangement: &Arrangement,
    grouping: &Grouping,
) -> (Vec<Group>, Vec<Vec<Reason>>) {
    let steps = Steps::new(survey, arrangement);
    let (survey, all) = (&steps.survey, &steps.all);
    let (mut groups, runs) = steps.touched(grouping);
    let mut names: Vec<String> = all.iter().map(|one| survey.name(one)).collect();
    for &(send, receive) in &grouping.pairs {
        names.push(format!("{} to {}", names[send as usize], names[receive as usize]));
    }
    for &(number, value) in &grouping.split {
        let (one, slot) = (&all[number as usize], grouping.split_of(number).map_or(0, |split| split.slot));
        let touched = survey.assuming(slot, Assumed::Is(value), || steps.split(one, &runs));
        // What is left to the group of the move itself.
        groups[number as usize] = survey.assuming(slot, Assumed::Beyond, || steps.split(one, &runs));
        names.push(format!("{} with {} = {value}", names[number as usize], survey.slot_name(slot)));
        groups.push(touched);
    }
    for &number in &grouping.timeouts {
        names.push(format!("{} at a timeout", names[number as usize]));
        groups.push(groups[number as usize].clone());
    }
    let width = arrangement.width();
    // A slot that no group writes keeps its initial value, and nothing depends on it.
    let mut changing = vec![false; width];
    for touched in &groups {
        touched.writes.set(width).iter().for_each(|slot| changing[slot] = true);
    }
    let everything: SlotSet = (0..width).collect();
    let mut reasons = Vec::new();
    let groups = names.into_iter().zip(groups).enumerate().map(|(number, (name, touched))| {
        reasons.push(Reason::ALL.into_iter().filter(|&reason| touched.has(reason)).collect());
        let guards = if touched.all { &everything } else { &touched.reads.set(width) };
        let guards = guards.iter().filter(|&slot| changing[slot]).collect();
        let last_resort = grouping.is_timeout(number as u32);
        Group { name, guards, may_write: touched.writes.set(width), last_resort, ..Group::default() }
    });
    (groups.collect(), reasons)
}

/// The slots that the steps of each move touch, and those of each pair of a send and a receive.
pub(super) fn touched(survey: Survey<'_>, arrangement: &Arrangement, grouping: &Grouping) -> Vec<Touched> {
    Steps::new(survey, arrangement).touched(grouping).0
}

/// The slots that a process touches while it keeps control, by its position, type and control state.
type Runs = HashMap<(usize, usize, u32), Touched>;

/// All moves, and the order of their execution in a step.
struct Steps<'a> {
    code: &'a Code,
    survey: Survey<'a>,
    /// In the order of their numbers.
    all: Vec<Placed<'a>>,
    /// The moves that can receive the message that a move sends to a rendezvous channel.
    receivers: Vec<Vec<u32>>,
}

impl<'a> Steps<'a> {
    fn new(survey: Survey<'a>, arrangement: &'a Arrangement) -> Steps<'a> {
        let all = placed(&arrangement.code);
        let mut receivers = vec![Vec::new(); all.len()];
        if !arrangement.kinds.iter().any(|kind| kind.capacity == 0) {
            return Steps { code: &arrangement.code, survey, all, receivers };
        }
        let received: Vec<Vec<Queue>> = all.iter().map(|one| survey.receives(one)).collect();
        for (number, send) in all.iter().enumerate() {
            let Some(sent) = survey.sends(send) else { continue };
            let takes = |other: &usize| {
                all[*other].position != send.position && sent.iter().any(|queue| received[*other].contains(queue))
            };
            receivers[number] = (0..all.len()).filter(takes).map(|other| other as u32).collect();
        }
        Steps { code: &arrangement.code, survey, all, receivers }
    }

    /// The slots that the steps of each move touch, then those of each pair; and those that runs touch.
    fn touched(&self, grouping: &Grouping) -> (Vec<Touched>, Runs) {
        let (survey, all) = (&self.survey, &self.all);
        // The slots that each move touches itself: when it is the first of a step, and inside one.
        let mut first: Vec<Touched> = all.iter().map(|one| survey.one(one, true)).collect();
        let mut inside: Vec<Touched> = all.iter().map(|one| survey.one(one, false)).collect();
        if self.code.terms.terms.iter().any(|term| matches!(term, Term::Enabled(_))) {
            let mut everyone = Touched::default();
            first.iter().for_each(|touched| {
                everyone.ask(touched);
            });
            everyone.reasons = 0;
            for touched in first.iter_mut().chain(&mut inside).filter(|touched| touched.has(Reason::Enabled)) {
                touched.ask(&everyone);
            }
        }
        let runs = self.runs(&inside);
        let mut groups: Vec<Touched> = Vec::new();
        let mut alone: Vec<Touched> = Vec::new();
        for (number, one) in all.iter().enumerate() {
            let mut touched = first[number].clone();
            self.alternatives(one, &first, &mut touched);
            alone.push(touched.clone());
            if one.step.atomic {
                touched.add(&runs[&one.run()]);
                touched.because(Reason::Atomic);
            }
            if !grouping.has_pairs() && !self.receivers[number].is_empty() {
                self.handshakes(number, &inside, &runs, &mut touched);
                touched.because(Reason::Handshakes);
            }
            groups.push(touched);
        }
        for &(send, receive) in &grouping.pairs {
            let other = &all[receive as usize];
            let mut touched = alone[send as usize].clone();
            touched.add(&inside[receive as usize]);
            self.alternatives(other, &inside, &mut touched);
            if other.step.atomic {
                touched.add(&runs[&other.run()]);
                touched.because(Reason::Atomic);
            }
            touched.because(Reason::Handshake);
            groups.push(touched);
        }
        // No process comes to where these begin.
        for (one, touched) in all.iter().zip(&mut groups).filter(|(one, _)| !survey.is_reachable(one)) {
            *touched = Touched::default();
            touched.reads.insert(survey.control_slot(one.position));
        }
        (groups, runs)
    }

    /// The slots that a process touches while it keeps control, by where it stands.
    fn runs(&self, inside: &[Touched]) -> Runs {
        let mut runs: Runs = HashMap::new();
        for one in self.all.iter().filter(|one| one.step.atomic) {
            runs.entry(one.run()).or_default();
        }
        let mut states: Vec<(usize, usize, u32)> = runs.keys().copied().collect();
        states.sort_unstable();
        // Mostly control goes to states with greater numbers.
        states.reverse();
        loop {
            let mut grown = false;
            for &(position, index, control) in &states {
                let mut sum = runs.remove(&(position, index, control)).expect("it is one of them");
                for step in self.code.positions[position][index].moves(control) {
                    grown |= sum.add(&inside[step.group as usize]);
                    if step.atomic
                        && let Some(next) = runs.get(&(position, index, step.target))
                    {
                        grown |= sum.add(next);
                    }
                    grown |= self.handshakes(step.group as usize, inside, &runs, &mut sum);
                }
                runs.insert((position, index, control), sum);
            }
            if !grown {
                break;
            }
        }
        for state in self.endless(&states) {
            let touched = runs.get_mut(&state).expect("it is one of them");
            // An explorer recognises a run that goes round in circles by the values that it wrote.
            let writes = touched.writes.clone();
            touched.reads.add(&writes);
        }
        runs
    }

    /// The slots that the steps of a move touch under an assumption of the survey; no two processes
    /// synchronise in them.
    fn split(&self, one: &Placed<'_>, runs: &Runs) -> Touched {
        let mut touched = self.survey.one(one, true);
        self.tried(one, &|step| Cow::Owned(self.survey.one(&self.all[step as usize], true)), &mut touched);
        if !one.step.atomic {
            return touched;
        }
        touched.because(Reason::Atomic);
        let mut work = vec![one.step.target];
        let mut seen: HashSet<u32> = work.iter().copied().collect();
        while let Some(control) = work.pop() {
            for step in one.code.moves(control) {
                touched.add(&self.survey.one(&Placed { step, ..*one }, false));
                if step.atomic && seen.insert(step.target) {
                    work.push(step.target);
                }
            }
        }
        // See `runs`.
        if self.endless(&runs.keys().copied().collect::<Vec<_>>()).contains(&one.run()) {
            let writes = touched.writes.clone();
            touched.reads.add(&writes);
        }
        touched
    }

    /// The states from which a process can keep control endlessly.
    fn endless(&self, states: &[(usize, usize, u32)]) -> Vec<(usize, usize, u32)> {
        let mut left: HashSet<(usize, usize, u32)> = states.iter().copied().collect();
        loop {
            let goes_on = |&(position, index, control): &(usize, usize, u32)| {
                self.code.positions[position][index].moves(control).iter().any(|step| {
                    let received = self.receivers[step.group as usize].iter().map(|&other| &self.all[other as usize]);
                    step.atomic && left.contains(&(position, index, step.target))
                        || received.into_iter().any(|other| other.step.atomic && left.contains(&other.run()))
                })
            };
            let kept: HashSet<(usize, usize, u32)> = left.iter().copied().filter(goes_on).collect();
            if kept.len() == left.len() {
                return kept.into_iter().collect();
            }
            left = kept;
        }
    }

    /// Adds the slots that the receivers of a send touch, and returns whether anything is new.
    fn handshakes(&self, send: usize, inside: &[Touched], runs: &Runs, into: &mut Touched) -> bool {
        let mut grown = false;
        for &receiver in &self.receivers[send] {
            let other = &self.all[receiver as usize];
            grown |= into.add(&inside[receiver as usize]);
            grown |= self.alternatives(other, inside, into);
            if other.step.atomic
                && let Some(next) = runs.get(&other.run())
            {
                grown |= into.add(next);
            }
        }
        grown
    }

    /// Adds the slots that decide whether a move is tried, and returns whether anything is new.
    fn alternatives(&self, one: &Placed<'_>, own: &[Touched], into: &mut Touched) -> bool {
        self.tried(one, &|step| Cow::Borrowed(&own[step as usize]), into)
    }

    /// The same, with what each move touches.
    fn tried<'t>(&self, one: &Placed<'_>, own: &dyn Fn(u32) -> Cow<'t, Touched>, into: &mut Touched) -> bool {
        let moves = one.code.moves(one.step.control);
        let at = moves.iter().position(|other| other.group == one.step.group).expect("it is one of them");
        let depends = looks_back(&one.step.act);
        let mut grown = false;
        for other in moves[..at].iter().filter(|other| depends || other.escape != 0 && other.escape != one.step.escape)
        {
            grown |= into.ask(&own(other.group));
            into.because(Reason::Alternatives);
            // The receivers of a send to a rendezvous channel decide whether it passes.
            for &receiver in &self.receivers[other.group as usize] {
                let earlier = &self.all[receiver as usize];
                for step in earlier.code.moves(earlier.step.control) {
                    grown |= into.ask(&own(step.group));
                }
            }
        }
        grown
    }
}
