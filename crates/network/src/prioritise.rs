//! Priority between labels: a label is blocked while one with priority over it is offered.
//!
//! In every state a label is removed when one with priority over it is offered in the same state (Roscoe,
//! *Understanding Concurrent Systems*, 2010, section 20.2; Roscoe and Hopkins, *SVA, a tool for analysing
//! shared-variable programs*, 2007). `τ` and `✓` are above all others except those that are declared their equals, and
//! are never removed. There are two kinds of orders:
//!
//! - *ranks*: every label has a rank, or none. A label is removed by any label of lower rank; a label without a rank
//!   neither removes nor is removed. `τ` and `✓` have rank 0.
//! - *a partial order*: a label lists what is above it, whether `τ` and `✓` are, too.
//!
//! Priority depends on the states of a system and not only on its traces and refusals, and it is undefined for a state
//! that stands for several others (as after normalisation): front ends refuse such arguments. Strong bisimilarity is a
//! congruence for it, and of the coarser ones those that keep what a stable state offers.
//!
//! Cost: a row is expanded once; steps that are known to be removed are not kept, the others are copied.

use std::collections::HashMap;

use trefoil_control::Control;
use trefoil_system::{Explorer, GroupId, LabelId, Sink, Step, Value, Walk};

use crate::network::Network;
use crate::successors::NetworkExplorer;

/// An order on labels; see the head of this file.
#[derive(Clone, Debug)]
pub enum Priorities {
    /// The rank of each label that has one, `τ` and `✓` left out.
    Ranks(HashMap<LabelId, u32>),
    /// What is above each label that something is above, itself left out.
    Above(HashMap<LabelId, Vec<LabelId>>),
}

/// Priorities, arranged for one network.
pub(crate) enum Arranged {
    /// By label.
    Ranks(Vec<u32>),
    /// By label; nothing is above a label without an entry.
    Above(Vec<Option<Box<[LabelId]>>>),
}

/// How many steps of a row are kept between two polls of the control; a power of two.
const PATIENCE: usize = 1 << 12;

const UNRANKED: u32 = u32::MAX;

impl Priorities {
    pub(crate) fn arranged(&self, network: &Network) -> Arranged {
        let labels = network.alphabet();
        let size = labels.last().map_or(0, |last| last.index() + 1);
        match self {
            Priorities::Ranks(ranks) => {
                let mut by_label = vec![UNRANKED; size.max(2)];
                for label in labels {
                    by_label[label.index()] = ranks.get(&label).copied().unwrap_or(UNRANKED);
                }
                by_label[LabelId::TAU.index()] = 0;
                by_label[LabelId::TICK.index()] = 0;
                Arranged::Ranks(by_label)
            }
            Priorities::Above(above) => {
                let mut by_label = vec![None; size];
                for label in labels.into_iter().filter(|&label| label > LabelId::TICK) {
                    by_label[label.index()] = above.get(&label).map(|list| list.clone().into_boxed_slice());
                }
                Arranged::Above(by_label)
            }
        }
    }
}

impl Arranged {
    /// A label of an alphabet (ascending) that a renaming of labels gives another place in the order, if there is one.
    pub(crate) fn moved_by(&self, alphabet: &[LabelId], rename: impl Fn(LabelId) -> LabelId) -> Option<LabelId> {
        let kept = |label: LabelId| match self {
            Arranged::Ranks(ranks) => {
                let rank = |label: LabelId| ranks.get(label.index()).copied().unwrap_or(UNRANKED);
                rank(label) == rank(rename(label))
            }
            Arranged::Above(above) => {
                // A label that is never offered removes nothing.
                let above = |label: LabelId| above.get(label.index()).and_then(Option::as_deref).unwrap_or_default();
                let offered = |label: &LabelId| alphabet.binary_search(label).is_ok();
                let sorted = |mut list: Vec<LabelId>| {
                    list.sort_unstable();
                    list.dedup();
                    list
                };
                let images = above(label).iter().copied().filter(offered).map(&rename).collect();
                sorted(images) == sorted(above(rename(label)).iter().copied().filter(offered).collect())
            }
        };
        alphabet.iter().copied().find(|&label| !kept(label))
    }
}

pub(crate) struct PrioritisedExplorer<'a> {
    inner: NetworkExplorer<'a>,
    order: &'a Arranged,
    control: &'a Control,
    /// The steps that may win, and their rows back to back.
    steps: Vec<LabelId>,
    rows: Vec<Value>,
    /// By label, in which round it was offered last.
    offered: Vec<u32>,
    round: u32,
}

impl<'a> PrioritisedExplorer<'a> {
    pub(crate) fn new(network: &'a Network, order: &'a Arranged, control: &'a Control) -> PrioritisedExplorer<'a> {
        let offered = match order {
            Arranged::Ranks(_) => Vec::new(),
            Arranged::Above(by_label) => vec![0; by_label.len().max(2)],
        };
        let inner = NetworkExplorer::new(network, control);
        PrioritisedExplorer { inner, order, control, steps: Vec::new(), rows: Vec::new(), offered, round: 0 }
    }

    /// Passes on the steps that remain.
    fn each(&mut self, row: &[Value], sink: &mut impl FnMut(LabelId, &[Value]) -> Walk) -> Walk {
        self.steps.clear();
        self.rows.clear();
        let (steps, rows, control) = (&mut self.steps, &mut self.rows, self.control);
        let width = row.len();
        let mut keep = |label: LabelId, row: &[Value]| -> Walk {
            steps.push(label);
            rows.extend_from_slice(row);
            if steps.len().is_multiple_of(PATIENCE) {
                control.check()?;
            }
            Ok(())
        };
        match self.order {
            Arranged::Ranks(ranks) => {
                let mut best = UNRANKED;
                self.inner.each(row, &mut |outcome, next| {
                    let rank = ranks[outcome.label.index()];
                    if rank > best && rank != UNRANKED {
                        return Ok(());
                    }
                    best = best.min(rank);
                    keep(outcome.label, next)
                })?;
                for (at, &label) in steps.iter().enumerate() {
                    let rank = ranks[label.index()];
                    if rank == best || rank == UNRANKED {
                        sink(label, &rows[at * width..(at + 1) * width])?;
                    }
                }
            }
            Arranged::Above(above) => {
                if self.round == u32::MAX {
                    self.offered.fill(0);
                    self.round = 0;
                }
                self.round += 1;
                let (offered, round) = (&mut self.offered, self.round);
                self.inner.each(row, &mut |outcome, next| {
                    offered[outcome.label.index()] = round;
                    keep(outcome.label, next)
                })?;
                let is_offered = |label: &LabelId| offered.get(label.index()) == Some(&round);
                for (at, &label) in steps.iter().enumerate() {
                    let loses = above[label.index()].as_ref().is_some_and(|above| above.iter().any(is_offered));
                    if !loses {
                        sink(label, &rows[at * width..(at + 1) * width])?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Explorer for PrioritisedExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.each(row, &mut |label, row| sink(Step::of_group(GroupId(0), label, row)))
    }
}
