//! The rules of a skeleton that never changes.
//!
//! Most networks are parallel operators, hiding and renaming over components, and nothing else: every step leaves the
//! skeleton as it is. Then no targets have to be built, and a step that has become `τ` is not touched again by any
//! operator above: it goes to the list of settled ones at once. So a chain of ten thousand linked components costs what
//! its rules cost, and not that times its depth. The rules themselves are those of [`super::steps`] and
//! [`super::parallel`].

use std::collections::HashMap;

use trefoil_system::LabelId;

use super::Compiler;
use super::events::{SetId, TiesId};
use super::expand::deeply;
use super::parallel::{in_order, participants};
use super::steps::{Move, Parts, join};
use super::terms::{Node, TermId};
use crate::eval::Result;

/// Visible and terminating steps: the label and the components that take part.
type Seen = Vec<(LabelId, Parts)>;

type Shared = HashMap<LabelId, Vec<(u32, Parts)>, foldhash::fast::FixedState>;

/// Every choice of one entry for each operand; entries come ordered by operand.
fn combinations(entries: &[(u32, Parts)]) -> Vec<Parts> {
    let mut all = vec![None];
    for same in entries.chunk_by(|a, b| a.0 == b.0) {
        all = all.iter().flat_map(|begun| same.iter().map(|(_, parts)| join(begun, parts))).collect();
    }
    all
}

impl Compiler {
    /// The steps of a term whose steps all lead back to it.
    pub(super) fn fixed_steps(&mut self, term: TermId) -> Result<Vec<Move>> {
        let mut settled = Vec::new();
        let seen = self.seen(term, &mut settled)?;
        let settled =
            settled.into_iter().map(|(origin, parts)| Move { label: LabelId::TAU, origin, parts, target: term });
        let seen = seen.into_iter().map(|(label, parts)| Move { label, origin: label, parts, target: term });
        Ok(settled.chain(seen).collect())
    }

    fn seen(&mut self, term: TermId, settled: &mut Seen) -> Result<Seen> {
        deeply(|| match self.terms.node(term).clone() {
            Node::Stop => Ok(Vec::new()),
            Node::Run(set) => {
                Ok(self.events.list(set, &mut self.evaluator)?.into_iter().map(|label| (label, None)).collect())
            }
            Node::Hole(component) => {
                let (mut seen, steps) = (Vec::new(), self.hole_steps(term, component));
                for Move { label, parts, .. } in steps {
                    if label == LabelId::TAU { settled.push((label, parts)) } else { seen.push((label, parts)) }
                }
                Ok(seen)
            }
            Node::Hide(set, inner) => self.seen_outside(inner, settled, |compiler, label| compiler.has(set, label)),
            Node::Project(set, inner) => self.seen_outside(inner, settled, |compiler, label| {
                Ok(label != LabelId::TICK && !compiler.has(set, label)?)
            }),
            Node::Rename(renaming, inner) => {
                let mut seen = Vec::new();
                for (label, parts) in self.seen(inner, settled)? {
                    for &image in self.events.images(renaming, label, &mut self.evaluator)?.iter() {
                        seen.push((image, parts.clone()));
                    }
                }
                Ok(seen)
            }
            Node::Parallel(set, operands) => self.seen_parallel(set, &operands, settled),
            Node::Alphabetised(sets, operands) => self.seen_alphabetised(&sets, &operands, settled),
            Node::Link(ties, left, right) => self.seen_link(ties, left, right, settled),
            other => unreachable!("{other:?} is not fixed"),
        })
    }

    /// What is seen of an operand when some labels are hidden.
    fn seen_outside(
        &mut self,
        inner: TermId,
        settled: &mut Seen,
        hidden: impl Fn(&mut Compiler, LabelId) -> Result<bool>,
    ) -> Result<Seen> {
        let mut seen = Vec::new();
        for (label, parts) in self.seen(inner, settled)? {
            if hidden(self, label)? { settled.push((label, parts)) } else { seen.push((label, parts)) }
        }
        Ok(seen)
    }

    fn seen_parallel(&mut self, set: SetId, operands: &[TermId], settled: &mut Seen) -> Result<Seen> {
        let mut seen = Vec::new();
        let mut shared = Shared::default();
        for (at, &operand) in operands.iter().enumerate() {
            let mine = self.seen(operand, settled)?;
            if seen.capacity() == 0 {
                seen.reserve(mine.len());
            }
            for (label, parts) in mine {
                if label == LabelId::TICK || self.has(set, label)? {
                    shared.entry(label).or_default().push((at as u32, parts));
                } else {
                    seen.push((label, parts));
                }
            }
        }
        for (label, entries) in in_order(shared) {
            if participants(&entries) == operands.len() {
                seen.extend(combinations(&entries).into_iter().map(|parts| (label, parts)));
            }
        }
        Ok(seen)
    }

    fn seen_alphabetised(&mut self, sets: &[SetId], operands: &[TermId], settled: &mut Seen) -> Result<Seen> {
        let mut shared = Shared::default();
        for (at, &operand) in operands.iter().enumerate() {
            for (label, parts) in self.seen(operand, settled)? {
                if label == LabelId::TICK || self.has(sets[at], label)? {
                    shared.entry(label).or_default().push((at as u32, parts));
                }
            }
        }
        let holders = self.holders(sets)?;
        let mut seen = Vec::with_capacity(shared.len());
        for (label, entries) in in_order(shared) {
            let needed = if label == LabelId::TICK { sets.len() } else { self.needed(sets, label, holders.as_ref())? };
            if participants(&entries) == needed {
                seen.extend(combinations(&entries).into_iter().map(|parts| (label, parts)));
            }
        }
        Ok(seen)
    }

    fn seen_link(&mut self, ties: TiesId, left: TermId, right: TermId, settled: &mut Seen) -> Result<Seen> {
        let (mut seen, mut ticks) = (Vec::new(), Vec::new());
        let mut waiting = Shared::default();
        for (label, parts) in self.seen(right, settled)? {
            if label == LabelId::TICK {
                ticks.push(parts);
            } else if self.events.tied_right(ties, label, &mut self.evaluator)? {
                waiting.entry(label).or_default().push((1, parts));
            } else {
                seen.push((label, parts));
            }
        }
        for (label, parts) in self.seen(left, settled)? {
            if label == LabelId::TICK {
                seen.extend(ticks.iter().map(|other| (label, join(&parts, other))));
                continue;
            }
            let partners = self.events.tied(ties, label, &mut self.evaluator)?;
            if partners.is_empty() {
                seen.push((label, parts.clone()));
            }
            for partner in partners.iter() {
                for (_, other) in waiting.get(partner).into_iter().flatten() {
                    settled.push((label, join(&parts, other)));
                }
            }
        }
        Ok(seen)
    }
}
