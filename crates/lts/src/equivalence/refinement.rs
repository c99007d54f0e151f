//! Strong and branching bisimilarity by partition refinement.
//!
//! # Idea
//!
//! Start with one block of all nodes and split blocks whose nodes behave differently, until none is left (Kanellakis
//! and Smolka 1990; for branching bisimilarity Groote and Vaandrager, *An efficient algorithm for branching
//! bisimulation and stuttering equivalence*, 1990). What a node does is its signature (Blom and Orzan, *A distributed
//! algorithm for strong bisimulation reduction of state spaces*, 2002; Blom and van de Pol, *Distributed branching
//! bisimulation reduction by inductive signatures*, 2009): the pairs of a label and the block it leads to. A `τ`-step
//! within a block is *inert* when `τ` is internal, and a node has the pairs of the nodes it reaches by inert steps as
//! well.
//!
//! The first rounds compute all signatures ([`super::bulk`]). Continuing like that would be quadratic. From then on we
//! depart from the papers in three ways:
//!
//! - **The largest part keeps the number of the block**, and only transitions into the other parts are looked at. A
//!   node is *touched* when one of its transitions now leads to a new block. An untouched node that reaches no touched
//!   one by inert steps has the signature it had, without any new block in it, so it never stays together with one that
//!   has: those nodes are split off without being visited. A node changes its block at most log n times, because each
//!   time its new block has at most half the size of the old one (Hopcroft 1971).
//! - **Bundles.** The transitions from one block by one label to one block share a bundle, a counter (compare the
//!   block-bunch slices of Jansen, Groote, Keiren and Wijs, *An O(m log n) algorithm for branching bisimilarity on
//!   labelled transition systems*, 2020). A signature is a set of bundles. A *bottom* node has no inert step. Every
//!   node reaches a bottom node of its block by inert steps, so a block is stable exactly when each of its bottom nodes
//!   takes part in every bundle of the block: long inert chains above bottom nodes that change alike are never walked.
//!   When a part of a block moves to a new one, bundles are renamed through a forwarding entry, without hashing.
//! - **Classes within a block.** When a block is not stable, its touched nodes and those above them are classified in
//!   the order of the inert steps, last first. With `σ(s)` the bundles of `s` and the classes that `s` reaches by one
//!   inert step, `s` joins the youngest class `X` it reaches when `σ(s) ∖ {X} ⊆ σ(X)`, and else opens (or finds) the
//!   class with the set `σ(s)`. Bisimilar nodes get one class, by induction along the inert steps: of a set of
//!   bisimilar nodes, those without a step into the set have equal `σ`, and the others have no more than those.
//!   Untouched nodes are the oldest class.
//!
//! # Invariants
//!
//! `bundle[t]` of a transition from a block with several nodes is [`INERT`] exactly when both ends are in it and its
//! label is internal `τ`; else it is the bundle of its source's block, label and target's block, and `count` is the
//! size of the bundle. Blocks of one node are settled: their bundles are never used again and not kept up to date.
//! Touched nodes are marked in the partition, and every block with marks is in the queue.
//!
//! # Cost
//!
//! Every move of a node costs its degree: O(m log n) in all. A touched bottom node costs its out-degree, once per round
//! in which it is touched; classifying costs the nodes above touched ones, once per split. There are inputs on which
//! the last two dominate; then the cost is bounded by m times the number of rounds. Memory: 24 bytes a transition and
//! 44 a node besides the graph.

use trefoil_control::{Control, Stopped};
use trefoil_system::LabelId;

use super::bulk::{Coarse, MOST_ROUNDS, is_subset, refine_in_bulk};
use super::graph::Graph;
use super::partition::{Block, Partition};
use super::signatures::Signatures;

/// The bundle of a transition that is inert.
const INERT: u32 = u32::MAX;

/// Distinguishes classes from bundles in a signature.
const CLASS: u32 = 1 << 31;

/// The class of nodes whose signature did not change.
const UNTOUCHED: u32 = 0;

/// A stable partition of the nodes of a graph.
pub(super) struct Refined {
    /// The block of each node.
    pub(super) block_of: Vec<u32>,
    /// How many blocks there are.
    pub(super) blocks: usize,
    /// How often the queue of blocks was processed.
    pub(super) rounds: u64,
}

/// The coarsest stable partition: strong bisimilarity, or branching bisimilarity when `internal` says that `τ` is
/// internal. In the latter case the graph has no cycle of `τ`.
pub(super) fn refine(graph: &Graph<'_>, internal: bool, control: &Control) -> Result<Refined, Stopped> {
    refine_after(MOST_ROUNDS, graph, internal, control)
}

/// The same, with at most this many rounds on all nodes at once.
fn refine_after(bulk_rounds: u64, graph: &Graph<'_>, internal: bool, control: &Control) -> Result<Refined, Stopped> {
    control.progress().begin("refining", graph.nodes() as u64);
    let Coarse { block_of, blocks, mut rounds, stable } = refine_in_bulk(graph, internal, bulk_rounds, control)?;
    if stable {
        return Ok(Refined { block_of, blocks, rounds });
    }
    control.afford(graph.transitions.len() * 24 + graph.nodes() * 44)?;
    let mut refiner = Refiner::new(graph, internal, Partition::from_blocks(block_of, blocks), control);
    while !refiner.queue.is_empty() {
        rounds += 1;
        control.progress().depth(rounds);
        for block in std::mem::take(&mut refiner.queue) {
            refiner.stabilise(block)?;
        }
    }
    Ok(Refined { blocks: refiner.partition.blocks.len(), block_of: refiner.partition.block_of, rounds })
}

/// Transitions of one source block, label and target block.
#[derive(Clone, Copy)]
struct Bundle {
    count: u32,
    /// Where its transitions go in the operation with this stamp.
    forward: u32,
    stamp: u32,
}

/// What is known of a block besides its nodes.
#[derive(Clone, Copy, Default)]
struct Facts {
    bottoms: u32,
    bundles: u32,
}

/// A transition into a node: its number, with [`SILENT`] added when it is internal, and where it comes from.
#[derive(Clone, Copy)]
struct Incoming {
    transition: u32,
    source: u32,
}

/// Marks internal transitions among the incoming ones, so that the others need not be looked up.
const SILENT: u32 = 1 << 31;

impl Incoming {
    fn is_silent(self) -> bool {
        self.transition & SILENT != 0
    }
}

struct Refiner<'a> {
    graph: &'a Graph<'a>,
    control: &'a Control,
    internal: bool,
    incoming_starts: Vec<u32>,
    incoming: Vec<Incoming>,
    partition: Partition,
    facts: Vec<Facts>,
    bundle: Vec<u32>,
    bundles: Vec<Bundle>,
    free: Vec<u32>,
    stamp: u32,
    /// Inert steps of each node; empty when `τ` is visible.
    inert: Vec<u32>,
    /// Inert steps to nodes that have no class yet; all zero between splits.
    pending: Vec<u32>,
    class_of: Vec<u32>,
    classes: Signatures<u32>,
    touched: Vec<u32>,
    queue: Vec<u32>,
    work: usize,
}

impl<'a> Refiner<'a> {
    fn new(graph: &'a Graph<'a>, internal: bool, partition: Partition, control: &'a Control) -> Refiner<'a> {
        let nodes = graph.nodes();
        let (incoming_starts, incoming) = backward(graph, &partition, internal);
        let mut refiner = Refiner {
            graph,
            control,
            internal,
            incoming_starts,
            incoming,
            facts: vec![Facts::default(); partition.blocks.len()],
            partition,
            bundle: vec![INERT; graph.transitions.len()],
            bundles: Vec::new(),
            free: Vec::new(),
            stamp: 0,
            inert: vec![0; if internal { nodes } else { 0 }],
            pending: vec![0; if internal { nodes } else { 0 }],
            class_of: vec![UNTOUCHED; nodes],
            classes: Signatures::new(),
            touched: Vec::new(),
            queue: Vec::new(),
            work: 0,
        };
        refiner.fill();
        refiner
    }

    /// Makes the bundles of the blocks with several nodes; all their nodes are touched.
    fn fill(&mut self) {
        let graph = self.graph;
        let mut ends: Signatures<u64> = Signatures::new();
        for number in 0..self.partition.blocks.len() as u32 {
            let block = self.partition.blocks[number as usize];
            if block.len() == 1 {
                continue;
            }
            ends.clear();
            let first = self.bundles.len() as u32;
            let mut bottoms = 0;
            for place in block.start..block.end {
                let node = self.partition.elements[place as usize];
                for at in graph.row(node) {
                    let transition = graph.transitions[at];
                    let target = self.partition.block_of[transition.target.index()];
                    if self.internal && transition.label == LabelId::TAU && target == number {
                        self.inert[node as usize] += 1;
                        continue;
                    }
                    let end = u64::from(transition.label.0) << 32 | u64::from(target);
                    let bundle = first + ends.intern(&[end]) - 1;
                    if bundle as usize == self.bundles.len() {
                        self.bundles.push(Bundle { count: 0, forward: 0, stamp: 0 });
                    }
                    self.bundle[at] = bundle;
                    self.bundles[bundle as usize].count += 1;
                }
                bottoms += u32::from(self.is_bottom(node));
            }
            self.facts[number as usize] = Facts { bottoms, bundles: ends.len() as u32 };
            self.partition.blocks[number as usize].marked = block.len();
            self.queue.push(number);
        }
    }

    #[inline]
    fn is_bottom(&self, node: u32) -> bool {
        !self.internal || self.inert[node as usize] == 0
    }

    #[inline]
    fn incoming_range(&self, node: u32) -> std::ops::Range<usize> {
        self.incoming_starts[node as usize] as usize..self.incoming_starts[node as usize + 1] as usize
    }

    fn next_stamp(&mut self) -> u32 {
        if self.stamp == u32::MAX {
            self.bundles.iter_mut().for_each(|bundle| bundle.stamp = 0);
            self.stamp = 0;
        }
        self.stamp += 1;
        self.stamp
    }

    /// Accounts for work done and polls the control.
    fn worked(&mut self, steps: usize) -> Result<(), Stopped> {
        self.work += steps;
        if self.work > 1 << 16 {
            self.work = 0;
            self.control.check()?;
            self.control.progress().done(self.partition.blocks.len() as u64);
        }
        Ok(())
    }

    /// Looks at a block with touched nodes, and splits it if it is not stable.
    fn stabilise(&mut self, number: u32) -> Result<(), Stopped> {
        let block = self.partition.blocks[number as usize];
        self.worked(block.marked as usize)?;
        if self.is_stable(number) {
            self.partition.blocks[number as usize].marked = 0;
            return Ok(());
        }
        if self.internal && block.marked < block.len() {
            self.mark_above(number)?;
        }
        self.classify(number)?;
        self.split(number)
    }

    /// Does every bottom node take part in every bundle?
    fn is_stable(&mut self, number: u32) -> bool {
        let block = self.partition.blocks[number as usize];
        let facts = self.facts[number as usize];
        let touched = block.start as usize..(block.start + block.marked) as usize;
        let bottoms = touched.clone().filter(|&at| self.is_bottom(self.partition.elements[at])).count();
        if bottoms != facts.bottoms as usize {
            return false;
        }
        for at in touched {
            let node = self.partition.elements[at];
            if !self.is_bottom(node) {
                continue;
            }
            let stamp = self.next_stamp();
            let mut distinct = 0;
            for transition in self.graph.row(node) {
                let bundle = &mut self.bundles[self.bundle[transition] as usize];
                distinct += u32::from(bundle.stamp != stamp);
                bundle.stamp = stamp;
            }
            if distinct != facts.bundles {
                return false;
            }
        }
        true
    }

    /// Marks every node of the block from which a marked one can be reached by inert steps.
    fn mark_above(&mut self, number: u32) -> Result<(), Stopped> {
        let start = self.partition.blocks[number as usize].start;
        let mut at = start;
        while at < start + self.partition.blocks[number as usize].marked {
            let node = self.partition.elements[at as usize];
            let range = self.incoming_range(node);
            self.worked(range.len())?;
            for index in range {
                let incoming = self.incoming[index];
                if incoming.is_silent() && self.partition.block_of[incoming.source as usize] == number {
                    self.partition.mark(incoming.source);
                }
            }
            at += 1;
        }
        Ok(())
    }

    /// Gives each marked node its class, in [`Refiner::class_of`].
    fn classify(&mut self, number: u32) -> Result<(), Stopped> {
        let block = self.partition.blocks[number as usize];
        let marked = block.start as usize..(block.start + block.marked) as usize;
        self.classes.clear();
        let mut set: Vec<u32> = Vec::new();
        if !self.internal {
            for at in marked {
                let node = self.partition.elements[at];
                set.clear();
                set.extend_from_slice(&self.bundle[self.graph.row(node)]);
                set.sort_unstable();
                set.dedup();
                self.worked(set.len())?;
                self.class_of[node as usize] = self.classes.intern(&set);
            }
            return Ok(());
        }
        // Last first: a node is ready when the marked nodes one inert step below it have their classes.
        let mut ready: Vec<u32> = Vec::new();
        for at in marked {
            let node = self.partition.elements[at];
            let below = if self.inert[node as usize] == 0 { 0 } else { self.marked_below(node, block) };
            self.pending[node as usize] = below;
            if below == 0 {
                ready.push(node);
            }
        }
        while let Some(node) = ready.pop() {
            self.class_of[node as usize] = self.class(node, block, &mut set);
            let range = self.incoming_range(node);
            self.worked(range.len() + set.len())?;
            for index in range {
                let incoming = self.incoming[index];
                if incoming.is_silent() && self.partition.block_of[incoming.source as usize] == number {
                    let pending = &mut self.pending[incoming.source as usize];
                    *pending -= 1;
                    if *pending == 0 {
                        ready.push(incoming.source);
                    }
                }
            }
        }
        Ok(())
    }

    fn marked_below(&self, node: u32, block: Block) -> u32 {
        let inert_to_marked = |&at: &usize| {
            self.bundle[at] == INERT && self.partition.is_marked(self.graph.transitions[at].target.0, block)
        };
        self.graph.row(node).filter(inert_to_marked).count() as u32
    }

    /// The class of a node whose inert steps lead to nodes that have theirs.
    fn class(&mut self, node: u32, block: Block, set: &mut Vec<u32>) -> u32 {
        set.clear();
        let mut youngest = UNTOUCHED;
        for at in self.graph.row(node) {
            if self.bundle[at] != INERT {
                set.push(self.bundle[at]);
                continue;
            }
            let target = self.graph.transitions[at].target.0;
            let class =
                if self.partition.is_marked(target, block) { self.class_of[target as usize] } else { UNTOUCHED };
            youngest = youngest.max(class);
            set.push(CLASS | class);
        }
        set.sort_unstable();
        set.dedup();
        if youngest != UNTOUCHED {
            // The youngest class has the greatest number, so it is the last of the set.
            let rest = &set[..set.len() - 1];
            if is_subset(rest, self.classes.get(youngest)) {
                return youngest;
            }
        }
        self.classes.intern(set)
    }

    /// Makes blocks of the classes of the marked nodes; the largest part keeps the number of the block.
    fn split(&mut self, number: u32) -> Result<(), Stopped> {
        let block = self.partition.blocks[number as usize];
        let marked = block.start as usize..(block.start + block.marked) as usize;
        let class_count = self.classes.len();
        // Sort the marked nodes by class, keeping the order within a class.
        let mut ends = vec![0u32; class_count + 1];
        for at in marked.clone() {
            ends[self.class_of[self.partition.elements[at] as usize] as usize] += 1;
        }
        let (mut largest, mut largest_size) = (UNTOUCHED, block.len() - block.marked);
        let mut sum = block.start;
        for class in 1..=class_count {
            if ends[class] > largest_size {
                (largest, largest_size) = (class as u32, ends[class]);
            }
            sum += ends[class];
            ends[class] = sum;
        }
        let sorted = self.partition.elements[marked.clone()].to_vec();
        for &node in sorted.iter().rev() {
            let end = &mut ends[self.class_of[node as usize] as usize];
            *end -= 1;
            self.partition.elements[*end as usize] = node;
            self.partition.position[node as usize] = *end;
        }
        // Each entry is now the start of its class.
        let mut parts: Vec<Block> = Vec::new();
        let kept = &mut self.partition.blocks[number as usize];
        kept.marked = 0;
        for class in 0..=class_count {
            let (start, end) = match class {
                0 => (marked.end as u32, block.end),
                _ => (ends[class], ends.get(class + 1).copied().unwrap_or(marked.end as u32)),
            };
            if class as u32 == largest {
                (kept.start, kept.end) = (start, end);
            } else if start < end {
                parts.push(Block { start, end, marked: 0 });
            }
        }
        for part in parts {
            self.separate(number, part)?;
        }
        let touched = std::mem::take(&mut self.touched);
        for &node in &touched {
            let home = self.partition.block_of[node as usize];
            if self.partition.blocks[home as usize].len() > 1 && self.partition.mark(node) {
                self.queue.push(home);
            }
        }
        self.touched = touched;
        self.touched.clear();
        Ok(())
    }

    /// Turns a range of nodes that were in block `old` into a block of their own, and brings the bundles of all
    /// transitions from and to it up to date. The nodes that now have a new bundle become touched.
    fn separate(&mut self, old: u32, part: Block) -> Result<(), Stopped> {
        let new = self.partition.blocks.len() as u32;
        let settled = part.len() == 1;
        let range = part.start as usize..part.end as usize;
        self.partition.blocks.push(part);
        self.facts.push(Facts::default());
        for at in range.clone() {
            let node = self.partition.elements[at];
            self.partition.block_of[node as usize] = new;
            if self.is_bottom(node) {
                self.facts[old as usize].bottoms -= 1;
                self.facts[new as usize].bottoms += 1;
            }
        }
        self.move_sources(old, new, range.clone(), settled)?;
        self.move_targets(old, new, range)
    }

    fn move_sources(
        &mut self,
        old: u32,
        new: u32,
        range: std::ops::Range<usize>,
        settled: bool,
    ) -> Result<(), Stopped> {
        let graph = self.graph;
        let stamp = self.next_stamp();
        let mut silent = INERT;
        for at in range {
            let node = self.partition.elements[at];
            let row = graph.row(node);
            self.worked(row.len())?;
            for transition in row {
                let bundle = self.bundle[transition];
                if bundle != INERT {
                    if settled {
                        self.leave(bundle, old);
                    } else {
                        self.forward(transition, stamp, old, new);
                    }
                } else if !settled && self.partition.block_of[graph.transitions[transition].target.index()] != new {
                    if silent == INERT {
                        silent = self.new_bundle(new);
                    }
                    self.wake(node, transition, silent, new);
                }
            }
        }
        Ok(())
    }

    fn move_targets(&mut self, old: u32, new: u32, range: std::ops::Range<usize>) -> Result<(), Stopped> {
        let stamp = self.next_stamp();
        let mut silent = INERT;
        for at in range {
            let node = self.partition.elements[at];
            let incoming = self.incoming_range(node);
            self.worked(incoming.len())?;
            for index in incoming {
                let Incoming { transition, source } = self.incoming[index];
                let transition = (transition & !SILENT) as usize;
                let home = self.partition.block_of[source as usize];
                if self.partition.blocks[home as usize].len() == 1 && home != old {
                    continue;
                }
                if self.bundle[transition] != INERT {
                    self.forward(transition, stamp, home, home);
                    self.touched.push(source);
                } else if home != new {
                    if silent == INERT {
                        silent = self.new_bundle(old);
                    }
                    self.wake(source, transition, silent, old);
                }
            }
        }
        Ok(())
    }

    /// An inert transition, of a node of block `home`, is inert no longer.
    fn wake(&mut self, node: u32, transition: usize, bundle: u32, home: u32) {
        self.bundle[transition] = bundle;
        self.bundles[bundle as usize].count += 1;
        self.inert[node as usize] -= 1;
        if self.inert[node as usize] == 0 {
            self.facts[home as usize].bottoms += 1;
        }
        self.touched.push(node);
    }

    /// Moves a transition to the bundle that those of its bundle go to in this operation.
    #[inline]
    fn forward(&mut self, transition: usize, stamp: u32, old_home: u32, new_home: u32) {
        let from = self.bundle[transition];
        let to = if self.bundles[from as usize].stamp == stamp {
            self.bundles[from as usize].forward
        } else {
            let to = self.new_bundle(new_home);
            let bundle = &mut self.bundles[from as usize];
            (bundle.stamp, bundle.forward) = (stamp, to);
            to
        };
        self.bundles[to as usize].count += 1;
        self.bundle[transition] = to;
        self.leave(from, old_home);
    }

    #[inline]
    fn leave(&mut self, bundle: u32, home: u32) {
        self.bundles[bundle as usize].count -= 1;
        if self.bundles[bundle as usize].count == 0 {
            self.facts[home as usize].bundles -= 1;
            self.free.push(bundle);
        }
    }

    fn new_bundle(&mut self, home: u32) -> u32 {
        self.facts[home as usize].bundles += 1;
        let empty = Bundle { count: 0, forward: 0, stamp: 0 };
        if let Some(bundle) = self.free.pop() {
            self.bundles[bundle as usize] = empty;
            return bundle;
        }
        self.bundles.push(empty);
        self.bundles.len() as u32 - 1
    }
}

/// The transitions by target, except those from blocks of one node, which no step uses.
fn backward(graph: &Graph<'_>, partition: &Partition, internal: bool) -> (Vec<u32>, Vec<Incoming>) {
    let nodes = graph.nodes();
    let unsettled = |&node: &u32| partition.blocks[partition.block_of[node as usize] as usize].len() > 1;
    let mut starts = vec![0u32; nodes + 1];
    for source in (0..nodes as u32).filter(unsettled) {
        for transition in graph.outgoing(source) {
            starts[transition.target.index()] += 1;
        }
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    // Filled from the back: each start moves from the end of its row to the beginning.
    let mut incoming = vec![Incoming { transition: 0, source: 0 }; sum as usize];
    for source in (0..nodes as u32).rev().filter(unsettled) {
        for at in graph.row(source).rev() {
            let transition = graph.transitions[at];
            let start = &mut starts[transition.target.index()];
            *start -= 1;
            let silent = if internal && transition.label == LabelId::TAU { SILENT } else { 0 };
            incoming[*start as usize] = Incoming { transition: at as u32 | silent, source };
        }
    }
    (starts, incoming)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trefoil_system::Labels;

    use super::super::graph::{Tau, prepare};
    use super::*;
    use crate::random::{Random, RandomShape, random_lts};

    /// Numbers the blocks by their first node.
    fn canonical(refined: &Refined) -> Vec<u32> {
        let mut numbers = vec![u32::MAX; refined.blocks];
        let mut next = 0;
        let number = |&block: &u32| {
            let number = &mut numbers[block as usize];
            if *number == u32::MAX {
                *number = next;
                next += 1;
            }
            *number
        };
        refined.block_of.iter().map(number).collect()
    }

    #[test]
    fn where_the_rounds_on_all_nodes_end_makes_no_difference() {
        let control = Control::unlimited();
        for seed in 0..3000 {
            let mut random = Random::new(seed);
            let states = 2 + random.below(150);
            let shape = RandomShape {
                states: states as u32,
                transitions: states + random.below(states),
                labels: 1 + random.below(2),
                tau_percent: [20, 50, 80, 95][random.below(4)],
            };
            let lts = random_lts(&Arc::new(Labels::new()), shape, &mut random);
            for tau in [Tau::Visible, Tau::Internal, Tau::Divergent] {
                let graph = prepare(&lts, tau, &control).expect("no budget").graph;
                let after = |bulk_rounds| {
                    let refined = refine_after(bulk_rounds, &graph, tau != Tau::Visible, &control);
                    canonical(&refined.expect("no budget"))
                };
                let expected = after(0);
                for bulk_rounds in [1, 2, MOST_ROUNDS] {
                    assert_eq!(after(bulk_rounds), expected, "seed {seed}, {bulk_rounds} rounds, {tau:?}");
                }
            }
        }
    }
}
