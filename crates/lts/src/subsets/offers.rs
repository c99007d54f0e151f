//! What a node of a normal form says about the events that a stable state of an implementation offers: which of them
//! the specification does not revive, and which of its states remain possible once all other events were seen to be
//! refused.
//!
//! A search puts the same question for many states that offer the same, so each thread remembers its answers
//! ([`Answers`](crate::answers::Answers)). States that remain become a node when they are met again: most are met once,
//! and then only their events matter.
//!
//! Cost: a question is linear in the acceptances of the node, or of its states; a remembered one in what is offered.

use trefoil_control::{Control, Stopped};
use trefoil_system::LabelId;

use super::{LazyNormalForm, NodeId, Scratch};
use crate::answers::Answers;
use crate::explicit::Transition;
use crate::generalised::Acceptances;

/// An answer that names no label, or no node.
const NOTHING: u32 = u32::MAX;
/// An answer that was given once without a node.
pub(super) const MET: u32 = u32::MAX - 1;
/// States with more events than this become a node when they are first met.
const MOST_SINGLE: usize = 64;

/// What remains possible of a node once labels were seen to be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// No state.
    Nothing,
    /// This node.
    Node(NodeId),
    /// States whose events were listed.
    Steps,
}

impl LazyNormalForm {
    /// Of the labels that a stable state offers, ascending, the first that no stable state of the node offers beside
    /// nothing but these; none when there is no such label, or no such state at all ([`LazyNormalForm::allows`]).
    pub fn not_revived(&self, node: NodeId, offered: &[LabelId], scratch: &mut Scratch) -> Option<LabelId> {
        let hash = Answers::hash(node, offered);
        let answer = match scratch.answers.find(self.number, hash, node, offered) {
            Some(answer) => answer,
            None => {
                let answer = self.find_not_revived(node, offered, scratch).map_or(NOTHING, |label| label.0);
                scratch.answers.keep(self.number, hash, node, offered, answer);
                answer
            }
        };
        (answer != NOTHING).then_some(LabelId(answer))
    }

    fn find_not_revived(&self, node: NodeId, offered: &[LabelId], scratch: &mut Scratch) -> Option<LabelId> {
        let family = self.family(node);
        scratch.offer(offered);
        let mut missing = offered.len();
        'sets: for &set in family {
            for label in self.acceptances.labels(set) {
                if !scratch.is_offered(label) {
                    continue 'sets;
                }
            }
            for label in self.acceptances.labels(set) {
                missing -= usize::from(scratch.revive(label));
            }
            if missing == 0 {
                return None;
            }
        }
        offered.iter().copied().find(|&label| scratch.revive(label))
    }

    /// The node of the stable states among those of a node that offer nothing but the given labels, ascending: those
    /// that remain possible when all other labels were seen to be refused. `None` when there are none.
    pub fn within(
        &self,
        node: NodeId,
        offered: &[LabelId],
        scratch: &mut Scratch,
        control: &Control,
    ) -> Result<Option<NodeId>, Stopped> {
        let hash = Answers::hash(node, offered);
        let answer = match scratch.answers.find(self.number, hash, node, offered) {
            Some(answer) if answer != MET => answer,
            _ => {
                let answer = self.find_within(node, offered, scratch, control)?.map_or(NOTHING, |node| node.0);
                scratch.answers.keep(self.number, hash, node, offered, answer);
                answer
            }
        };
        Ok((answer != NOTHING).then_some(NodeId(answer)))
    }

    fn find_within(
        &self,
        node: NodeId,
        offered: &[LabelId],
        scratch: &mut Scratch,
        control: &Control,
    ) -> Result<Option<NodeId>, Stopped> {
        self.keep_within(node, offered, scratch);
        match scratch.kept.len() {
            0 => Ok(None),
            kept if kept == self.states(node).len() => Ok(Some(node)),
            _ => self.intern(&scratch.kept, control).map(Some),
        }
    }

    /// What can follow the stable states of [`LazyNormalForm::within`]. They become a node when they are met again, or
    /// when an event leads them to several states; until then their events are given in `steps`.
    pub fn steps_within(
        &self,
        node: NodeId,
        offered: &[LabelId],
        scratch: &mut Scratch,
        steps: &mut Vec<(LabelId, NodeId)>,
        control: &Control,
    ) -> Result<Within, Stopped> {
        let hash = Answers::hash(node, offered);
        match scratch.answers.find(self.number, hash, node, offered) {
            Some(NOTHING) => return Ok(Within::Nothing),
            Some(MET) => {}
            Some(known) => return Ok(Within::Node(NodeId(known))),
            None => {
                self.keep_within(node, offered, scratch);
                let kept = scratch.kept.len();
                if 0 < kept && kept < self.states(node).len() && self.single_steps(scratch, steps, control)? {
                    scratch.answers.keep(self.number, hash, node, offered, MET);
                    return Ok(Within::Steps);
                }
            }
        }
        let found = self.find_within(node, offered, scratch, control)?;
        scratch.answers.keep(self.number, hash, node, offered, found.map_or(NOTHING, |node| node.0));
        Ok(found.map_or(Within::Nothing, Within::Node))
    }

    /// The events of the states that were kept, ascending, if each of them leads to one state.
    fn single_steps(
        &self,
        scratch: &mut Scratch,
        steps: &mut Vec<(LabelId, NodeId)>,
        control: &Control,
    ) -> Result<bool, Stopped> {
        let Scratch { kept, single, .. } = scratch;
        if kept.iter().map(|&state| self.rows.visible(state).len()).sum::<usize>() > MOST_SINGLE {
            return Ok(false);
        }
        single.clear();
        kept.iter().for_each(|&state| single.extend_from_slice(self.rows.visible(state)));
        single.sort_unstable();
        single.dedup();
        if single.windows(2).any(|pair| pair[0].label == pair[1].label) {
            return Ok(false);
        }
        steps.clear();
        for at in 0..scratch.single.len() {
            let Transition { label, target } = scratch.single[at];
            scratch.begin(self.kept.len());
            scratch.add(target.0);
            steps.push((label, self.closure_of(target.0, scratch, control)?));
        }
        Ok(true)
    }

    /// Keeps the stable states of a node that offer nothing but these labels.
    fn keep_within(&self, node: NodeId, offered: &[LabelId], scratch: &mut Scratch) {
        let states = self.states(node);
        scratch.kept.clear();
        scratch.offer(offered);
        let mut known = (Acceptances::NONE, false);
        for &state in states {
            let family = self.families[state as usize];
            if family != known.0 {
                let inside = |set| self.acceptances.labels(set).all(|label| scratch.is_offered(label));
                known = (family, self.acceptances.sets(family).any(inside));
            }
            if known.1 {
                scratch.kept.push(state);
            }
        }
    }
}

impl Scratch {
    /// Only these labels are offered from now on.
    fn offer(&mut self, offered: &[LabelId]) {
        self.offers += 2;
        if self.offers >= u32::MAX - 2 {
            self.offered.fill(0);
            self.offers = 2;
        }
        for label in offered {
            if label.index() >= self.offered.len() {
                self.offered.resize(label.index() + 1, 0);
            }
            self.offered[label.index()] = self.offers;
        }
    }

    #[inline]
    fn is_offered(&self, label: LabelId) -> bool {
        self.offered.get(label.index()).is_some_and(|&round| round & !1 == self.offers)
    }

    /// Notes that a label that is offered is revived; whether it was not before.
    #[inline]
    fn revive(&mut self, label: LabelId) -> bool {
        let round = &mut self.offered[label.index()];
        let first = *round == self.offers;
        *round |= 1;
        first
    }
}
