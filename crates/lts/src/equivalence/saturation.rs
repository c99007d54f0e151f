//! Delay and weak bisimilarity, on a system that is already reduced modulo branching bisimilarity.
//!
//! # Definitions
//!
//! Write `⇒` for any number of `τ`-steps. A symmetric relation `R` is a *weak bisimulation* (Milner, *Communication and
//! concurrency*, 1989) when `s R t` and `s –a→ s'` imply `t ⇒ –a→ ⇒ t'` with `s' R t'` for visible `a`, and `t ⇒ t'`
//! with `s' R t'` for `a = τ`. In a *delay bisimulation* (Van Glabbeek, *The linear time – branching time spectrum
//! II*, 1993) no `τ` may come after the visible step: `t ⇒ –a→ t'`. Branching bisimilarity is finer than delay
//! bisimilarity, which is finer than weak bisimilarity, so reducing modulo branching bisimilarity first loses nothing;
//! the same holds for the three that preserve divergence, where the mark of a divergent state is a visible step to
//! itself.
//!
//! # How
//!
//! Both are strong bisimilarity of the saturated system, whose steps are `⇒` and `⇒ –a→ ⇒` (or `⇒ –a→`). That relation
//! is often quadratic, so it is never made. Signature refinement needs only the *blocks* that can be reached:
//!
//! - `silent(s)`: the blocks of the states `t` with `s ⇒ t`, its own included;
//! - `visible(s)`: the pairs of a label `a` and a block with `s ⇒ –a→ ⇒ t`, or `s ⇒ –a→ t`, for a `t` in the block.
//!
//! `τ` is acyclic here, so both follow from those of the direct successors, in the order of the `τ`-steps, last first.
//! Sets are interned: equal sets are one number, and most are shared. The largest part of a split block keeps its
//! number; then only the states that moved, and those whose successors' sets changed, are computed again, and (as in
//! [`super::refinement`]) a state whose sets changed never stays together with one whose sets did not.
//!
//! # The quotient
//!
//! Its states are the blocks. It has a step `B –a→ C` when a state of `B` has one to a state of `C`, except: no `τ`
//! within a block; no `τ` to `C` when another `τ` leads to a block from which `C` is reached silently; no visible `a`
//! to `C` when the same follows after a first `τ`, or (weak) from another `a`-step by silent ones after it. All of
//! those can be removed in one step: each follows from steps that begin lower or end higher in the order of `τ`, which
//! is acyclic on blocks, since blocks that reach each other silently are equivalent.
//!
//! Cost: a round costs the sets that change in it; in the worst case all of them, each up to the number of blocks
//! (times labels). The memory budget is polled while they grow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, StateId};

use super::distinguish::Levels;
use super::graph::{DIVERGENCE, Graph};
use super::partition::Partition;
use super::refinement::Refined;
use super::signatures::Signatures;
use crate::explicit::Transition;

/// Which `τ` are passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Those before a step that stay in the block: branching bisimilarity.
    Inert,
    /// Any before a step: delay bisimilarity.
    Before,
    /// Any before and after a step: weak bisimilarity.
    Around,
}

/// A stable partition and the steps of its blocks.
pub(super) struct Saturated {
    pub(super) refined: Refined,
    /// The steps of each block, none of which follows from the others.
    pub(super) rows: Vec<Vec<Transition>>,
}

/// The coarsest delay or weak bisimulation of a graph without `τ`-cycles.
pub(super) fn saturate(graph: &Graph<'_>, pass: Pass, control: &Control) -> Result<Saturated, Stopped> {
    control.progress().begin("saturating", graph.nodes() as u64);
    control.afford(graph.transitions.len() * 8 + graph.nodes() * 64)?;
    let mut saturation = Saturation::new(graph, pass, control);
    let mut rounds = 0;
    loop {
        rounds += 1;
        control.progress().depth(rounds);
        saturation.round()?;
        if saturation.moved.is_empty() {
            break;
        }
    }
    let rows = saturation.rows()?;
    let partition = saturation.partition;
    let refined = Refined { blocks: partition.blocks.len(), block_of: partition.block_of, rounds };
    Ok(Saturated { refined, rows })
}

/// The blocks of every node after every round until two nodes part.
///
/// A round splits by what is seen of the blocks of the round before, so nodes that are together after `k` rounds are
/// those that no formula with `k` nested modalities distinguishes (for branching bisimilarity: of the formulas that
/// [`super::distinguish_silent`] makes).
pub(super) fn levels_until_parted(
    graph: &Graph<'_>,
    pass: Pass,
    (one, other): (u32, u32),
    control: &Control,
) -> Result<Levels, Stopped> {
    control.progress().begin("finding a formula", 0);
    control.afford(graph.transitions.len() * 8 + graph.nodes() * 128)?;
    let mut saturation = Saturation::new(graph, pass, control);
    let mut levels = Levels::new(graph.nodes());
    while saturation.partition.block_of[one as usize] == saturation.partition.block_of[other as usize] {
        saturation.round()?;
        assert!(!saturation.moved.is_empty(), "the nodes are not equivalent, so some round parts them");
        let block_of = &saturation.partition.block_of;
        levels.next(saturation.moved.iter().map(|&node| (node, block_of[node as usize])));
        control.progress().depth(u64::from(levels.depth()));
    }
    Ok(levels)
}

/// Nodes to be computed, those below first.
struct Work {
    heap: BinaryHeap<Reverse<u32>>,
    waiting: Vec<bool>,
}

impl Work {
    fn push(&mut self, rank: u32) {
        if !self.waiting[rank as usize] {
            self.waiting[rank as usize] = true;
            self.heap.push(Reverse(rank));
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let Reverse(rank) = self.heap.pop()?;
        self.waiting[rank as usize] = false;
        Some(rank)
    }
}

struct Saturation<'a> {
    graph: &'a Graph<'a>,
    pass: Pass,
    control: &'a Control,
    incoming_starts: Vec<u32>,
    incoming: Vec<Transition>,
    /// Nodes in the order of `τ`, last first, and the place of each.
    order: Vec<u32>,
    rank: Vec<u32>,
    partition: Partition,
    /// Nodes that got a new block in the last round; at first all.
    moved: Vec<u32>,
    silent: Vec<u32>,
    visible: Vec<u32>,
    silent_sets: Signatures<u32>,
    visible_sets: Signatures<u64>,
    silent_work: Work,
    visible_work: Work,
    changed: Vec<u32>,
    /// Bytes of the sets after they were last collected.
    collected: usize,
    steps: usize,
}

fn pair(label: LabelId, block: u32) -> u64 {
    u64::from(label.0) << 32 | u64::from(block)
}

impl<'a> Saturation<'a> {
    fn new(graph: &'a Graph<'a>, pass: Pass, control: &'a Control) -> Saturation<'a> {
        let nodes = graph.nodes();
        let (incoming_starts, incoming) = backward(graph);
        let order = silent_order(graph, &incoming_starts, &incoming);
        let mut rank = vec![0u32; nodes];
        for (place, &node) in order.iter().enumerate() {
            rank[node as usize] = place as u32;
        }
        let work = || Work { heap: BinaryHeap::new(), waiting: vec![false; nodes] };
        let mut visible_work = work();
        (0..nodes as u32).for_each(|rank| visible_work.push(rank));
        Saturation {
            graph,
            pass,
            control,
            incoming_starts,
            incoming,
            order,
            rank,
            partition: Partition::new(nodes),
            moved: (0..nodes as u32).collect(),
            silent: vec![0; nodes],
            visible: vec![0; nodes],
            silent_sets: Signatures::new(),
            visible_sets: Signatures::new(),
            silent_work: work(),
            visible_work,
            changed: Vec::new(),
            collected: 0,
            steps: 0,
        }
    }

    fn worked(&mut self, steps: usize) -> Result<(), Stopped> {
        self.steps += steps;
        if self.steps > 1 << 16 {
            self.control.afford(self.steps * 8)?;
            self.steps = 0;
            self.control.progress().done(self.partition.blocks.len() as u64);
        }
        Ok(())
    }

    /// Tables that grow are copied, and are large.
    fn grows(&self, bytes: usize) -> Result<(), Stopped> {
        match bytes > 1 << 20 {
            true => self.control.afford(bytes),
            false => Ok(()),
        }
    }

    fn incoming(&self, node: u32) -> std::ops::Range<usize> {
        self.incoming_starts[node as usize] as usize..self.incoming_starts[node as usize + 1] as usize
    }

    fn round(&mut self) -> Result<(), Stopped> {
        self.silent_sets()?;
        self.visible_sets()?;
        self.split();
        self.forget()?;
        self.control.check()
    }

    fn silent_sets(&mut self) -> Result<(), Stopped> {
        if self.pass == Pass::Inert {
            // What is inert depends on the blocks at both ends of a step.
            for node in std::mem::take(&mut self.moved) {
                self.visible_work.push(self.rank[node as usize]);
                for at in self.incoming(node) {
                    self.visible_work.push(self.rank[self.incoming[at].target.index()]);
                }
            }
            return Ok(());
        }
        for node in std::mem::take(&mut self.moved) {
            self.silent_work.push(self.rank[node as usize]);
            if self.pass == Pass::Before {
                self.wake_visible(node);
            }
        }
        let graph = self.graph;
        let mut set: Vec<u32> = Vec::new();
        while let Some(rank) = self.silent_work.pop() {
            let node = self.order[rank as usize];
            set.clear();
            set.push(self.partition.block_of[node as usize]);
            for transition in graph.outgoing(node).iter().filter(|t| t.label == LabelId::TAU) {
                set.extend_from_slice(self.silent_sets.get(self.silent[transition.target.index()]));
            }
            self.worked(set.len())?;
            set.sort_unstable();
            set.dedup();
            self.grows(self.silent_sets.growth(set.len()))?;
            let number = self.silent_sets.intern(&set);
            if number == self.silent[node as usize] {
                continue;
            }
            self.silent[node as usize] = number;
            self.changed.push(node);
            for at in self.incoming(node) {
                let Transition { label, target } = self.incoming[at];
                if label == LabelId::TAU {
                    self.silent_work.push(self.rank[target.index()]);
                } else if self.pass == Pass::Around {
                    self.visible_work.push(self.rank[target.index()]);
                }
            }
        }
        Ok(())
    }

    /// The nodes with a visible step to this one must look again.
    fn wake_visible(&mut self, node: u32) {
        for at in self.incoming(node) {
            let Transition { label, target } = self.incoming[at];
            if label != LabelId::TAU {
                self.visible_work.push(self.rank[target.index()]);
            }
        }
    }

    fn visible_sets(&mut self) -> Result<(), Stopped> {
        let graph = self.graph;
        let mut set: Vec<u64> = Vec::new();
        while let Some(rank) = self.visible_work.pop() {
            let node = self.order[rank as usize];
            set.clear();
            for &Transition { label, target } in graph.outgoing(node) {
                let block = self.partition.block_of[target.index()];
                let passed = self.pass != Pass::Inert || block == self.partition.block_of[node as usize];
                if label == LabelId::TAU && passed {
                    set.extend_from_slice(self.visible_sets.get(self.visible[target.index()]));
                } else if self.pass != Pass::Around || label == DIVERGENCE {
                    // The block of a divergence is observed; what follows the divergence is observed without it.
                    set.push(pair(label, block));
                } else {
                    let blocks = self.silent_sets.get(self.silent[target.index()]);
                    set.extend(blocks.iter().map(|&block| pair(label, block)));
                }
            }
            self.worked(set.len())?;
            set.sort_unstable();
            set.dedup();
            self.grows(self.visible_sets.growth(set.len()))?;
            let number = self.visible_sets.intern(&set);
            if number == self.visible[node as usize] {
                continue;
            }
            self.visible[node as usize] = number;
            self.changed.push(node);
            for at in self.incoming(node) {
                let Transition { label, target } = self.incoming[at];
                if label == LabelId::TAU {
                    self.visible_work.push(self.rank[target.index()]);
                }
            }
        }
        Ok(())
    }

    /// Splits every block by the sets of its nodes; those whose sets did not change stay together.
    fn split(&mut self) {
        let mut unstable: Vec<u32> = Vec::new();
        for node in std::mem::take(&mut self.changed) {
            if self.partition.mark(node) {
                unstable.push(self.partition.block_of[node as usize]);
            }
        }
        let mut classes: Signatures<u64> = Signatures::new();
        for number in unstable {
            classes.clear();
            let block = self.partition.blocks[number as usize];
            let marked = block.start as usize..(block.start + block.marked) as usize;
            let mut members: Vec<Vec<u32>> = Vec::new();
            for at in marked {
                let node = self.partition.elements[at];
                let key = u64::from(self.silent[node as usize]) << 32 | u64::from(self.visible[node as usize]);
                let class = classes.intern(&[key]) as usize;
                members.resize_with(members.len().max(class), Vec::new);
                members[class - 1].push(node);
            }
            let moved = &mut self.moved;
            self.partition.divide(number, &members, |node, _| moved.push(node));
        }
    }

    /// Drops the sets that no node has any more, when they are the larger part.
    fn forget(&mut self) -> Result<(), Stopped> {
        if self.pass == Pass::Inert {
            if self.visible_sets.bytes() >= 2 * self.collected + (1 << 20) {
                collect(&mut self.visible_sets, &mut self.visible, self.control)?;
                self.collected = self.visible_sets.bytes();
            }
            return Ok(());
        }
        if self.silent_sets.bytes() + self.visible_sets.bytes() < 2 * self.collected + (1 << 20) {
            return Ok(());
        }
        collect(&mut self.silent_sets, &mut self.silent, self.control)?;
        collect(&mut self.visible_sets, &mut self.visible, self.control)?;
        self.collected = self.silent_sets.bytes() + self.visible_sets.bytes();
        Ok(())
    }

    /// The steps of each block that do not follow from others.
    fn rows(&mut self) -> Result<Vec<Vec<Transition>>, Stopped> {
        let mut rows: Vec<Vec<Transition>> = vec![Vec::new(); self.partition.blocks.len()];
        let mut leader = vec![u32::MAX; rows.len()];
        for node in 0..self.graph.nodes() as u32 {
            let block = self.partition.block_of[node as usize];
            if leader[block as usize] == u32::MAX {
                leader[block as usize] = node;
            }
            for &Transition { label, target } in self.graph.outgoing(node) {
                let target = self.partition.block_of[target.index()];
                if label != LabelId::TAU || target != block {
                    rows[block as usize].push(Transition { label, target: StateId(target) });
                }
            }
        }
        let silently = |from: u32, to: u32| {
            let set = self.silent_sets.get(self.silent[leader[from as usize] as usize]);
            set.binary_search(&to).is_ok()
        };
        let visibly = |from: u32, label: LabelId, to: u32| {
            let set = self.visible_sets.get(self.visible[leader[from as usize] as usize]);
            set.binary_search(&pair(label, to)).is_ok()
        };
        for row in &mut rows {
            self.control.check()?;
            // The order in which the steps were found is the one that states are numbered by.
            let mut sorted = row.clone();
            sorted.sort_unstable();
            sorted.dedup();
            let silent_steps = sorted.iter().take_while(|step| step.label == LabelId::TAU).count();
            let silent = &sorted[..silent_steps];
            let follows = |step: &Transition| {
                let Transition { label, target } = *step;
                if label == LabelId::TAU {
                    return silent.iter().any(|t| t.target != target && silently(t.target.0, target.0));
                }
                if silent.iter().any(|t| visibly(t.target.0, label, target.0)) {
                    return true;
                }
                let first = sorted.partition_point(|t| t.label < label);
                let mut same = sorted[first..].iter().take_while(|t| t.label == label);
                self.pass == Pass::Around && same.any(|t| t.target != target && silently(t.target.0, target.0))
            };
            row.retain(|step| !follows(step));
        }
        Ok(rows)
    }
}

/// Interns again what is in use.
fn collect<T: super::signatures::Element>(
    sets: &mut Signatures<T>,
    used: &mut [u32],
    control: &Control,
) -> Result<(), Stopped> {
    let mut kept = Signatures::new();
    for number in used.iter_mut() {
        let set = sets.get(*number);
        let growth = kept.growth(set.len());
        if growth > 1 << 20 {
            control.afford(growth)?;
        }
        *number = kept.intern(set);
    }
    *sets = kept;
    Ok(())
}

/// Nodes such that every `τ`-step leads to an earlier one.
fn silent_order(graph: &Graph<'_>, incoming_starts: &[u32], incoming: &[Transition]) -> Vec<u32> {
    let silent_steps = |node: u32| graph.outgoing(node).iter().filter(|t| t.label == LabelId::TAU).count() as u32;
    let mut left: Vec<u32> = (0..graph.nodes() as u32).map(silent_steps).collect();
    let mut order: Vec<u32> = (0..graph.nodes() as u32).filter(|&node| left[node as usize] == 0).collect();
    let mut at = 0;
    while at < order.len() {
        let node = order[at] as usize;
        for transition in &incoming[incoming_starts[node] as usize..incoming_starts[node + 1] as usize] {
            if transition.label == LabelId::TAU {
                left[transition.target.index()] -= 1;
                if left[transition.target.index()] == 0 {
                    order.push(transition.target.0);
                }
            }
        }
        at += 1;
    }
    assert_eq!(order.len(), graph.nodes(), "τ is acyclic after reduction modulo branching bisimilarity");
    order
}

/// The transitions by target; their `target` is where they come from.
fn backward(graph: &Graph<'_>) -> (Vec<u32>, Vec<Transition>) {
    let nodes = graph.nodes();
    let mut starts = vec![0u32; nodes + 1];
    for transition in graph.transitions.iter() {
        starts[transition.target.index()] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut incoming = vec![Transition { label: LabelId::TAU, target: StateId(0) }; graph.transitions.len()];
    for source in (0..nodes as u32).rev() {
        for transition in graph.outgoing(source).iter().rev() {
            let start = &mut starts[transition.target.index()];
            *start -= 1;
            incoming[*start as usize] = Transition { label: transition.label, target: StateId(source) };
        }
    }
    (starts, incoming)
}
