//! The largest simulation and ready simulation: which states can do all that another state does.
//!
//! `t` *simulates* `s`, `s ≤ t`, when there is a relation that has this pair and in which, for every step `s –a→ s'` of
//! a pair `(s, t)`, there is a step `t –a→ t'` with `(s', t')` related (Milner, *An algebraic definition of simulation
//! between programs*, 1971). It is a *ready* simulation when related states can do the same labels (Bloom, Istrail and
//! Meyer, *Bisimulation can't be traced*, 1995). `τ` is a label as any other.
//!
//! # The algorithm
//!
//! A partition `P` of the states and a relation `Rel` on its blocks together over-approximate simulation and are
//! refined until they are exact (Ranzato and Tapparo, *A new efficient simulation equivalence algorithm*, 2007; for
//! labels as in Abdulla, Holík, Kaati and Vojnar, *A uniform (bi-)simulation-based framework for reducing tree
//! automata*, 2009). `Rel(B)` are the blocks that may still simulate block `B`. A block has for each label a set
//! `Remove`: states that have lost their last step by it into the blocks of `Rel(B)`, so that they cannot simulate
//! anything that has such a step into `B`. To process it is to split every block by it (the two parts inheriting
//! everything) and to take `D` out of `Rel(C)` for every block `D` inside the set and every `C` with a step into `B`; a
//! state that loses its last step by that joins the `Remove` of `C`. At the start blocks are the states that can do the
//! same labels, and `Rel` is inclusion of those (for ready simulation: equality). At the end blocks are the classes of
//! simulation equivalence, and `Rel` is the order between them.
//!
//! Why a single state of `C` with a step into `B` is enough: the other states of `C` are related to it by `Rel`, so
//! they have such a step into `Rel(B)`, or they would be in `Remove` and split off.
//!
//! Where we depart: the paper keeps a counter for every block and state, which takes more memory than all the rest. We
//! scan the steps of a state again when one is lost. The systems come reduced modulo strong bisimilarity, which is
//! finer than simulation equivalence.
//!
//! Cost: a bit for every pair of classes, and time in proportion to classes times transitions times the number of steps
//! that one state has by one label.
//!
//! # The quotient
//!
//! A class has the steps of any of its states, less those to a class that another step by the same label exceeds
//! (*little brothers*); then it is the smallest equivalent system, in states and in transitions (Bustan and Grumberg,
//! *Simulation-based minimization*, 2003).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, StateId};

use super::partition::Partition;
use super::quotient::collect;
use super::signatures::Signatures;
use crate::explicit::{Lts, Transition};

/// A relation on numbers as rows of bits.
#[derive(Clone, Debug, Default)]
pub(super) struct Relation {
    rows: Vec<Vec<u64>>,
}

impl Relation {
    #[inline]
    pub(super) fn has(&self, one: u32, other: u32) -> bool {
        let row = &self.rows[one as usize];
        row.get(other as usize / 64).is_some_and(|word| word >> (other % 64) & 1 == 1)
    }

    fn insert(&mut self, one: u32, other: u32) {
        let row = &mut self.rows[one as usize];
        let word = other as usize / 64;
        if row.len() <= word {
            row.resize(word + 1, 0);
        }
        row[word] |= 1 << (other % 64);
    }

    fn remove(&mut self, one: u32, other: u32) {
        self.rows[one as usize][other as usize / 64] &= !(1 << (other % 64));
    }
}

/// The classes of an equivalence and the preorder between them.
pub(super) struct Simulation {
    pub(super) class_of: Vec<u32>,
    pub(super) classes: usize,
    /// `above.has(c, d)`: the states of `d` simulate those of `c`.
    pub(super) above: Relation,
    /// How many sets of states were processed.
    pub(super) rounds: u64,
}

/// The largest simulation, or ready simulation, on a system.
pub(super) fn simulate(lts: &Lts, ready: bool, control: &Control) -> Result<Simulation, Stopped> {
    control.progress().begin("simulating", lts.state_count() as u64);
    control.afford(lts.state_count() * 64 + lts.transition_count() * 16)?;
    let mut run = Run::new(lts, ready, control)?;
    let mut rounds = 0;
    while let Some((block, label)) = run.work.pop() {
        let Some(lost) = run.remove[block as usize].remove(&label) else { continue };
        rounds += 1;
        run.process(block, label, &lost)?;
    }
    let Partition { block_of, blocks, .. } = run.partition;
    Ok(Simulation { class_of: block_of, classes: blocks.len(), above: run.relation, rounds })
}

struct Run<'a> {
    lts: &'a Lts,
    control: &'a Control,
    /// The transitions by target, then by label.
    incoming_starts: Vec<usize>,
    incoming: Vec<Transition>,
    partition: Partition,
    relation: Relation,
    /// By block and label, the states that have no such step into what simulates the block. Parts of one block share
    /// them until one of them loses more.
    remove: Vec<BTreeMap<LabelId, Arc<Vec<u32>>>>,
    work: Vec<(u32, LabelId)>,
    /// The blocks that were visited last, by the number of the search.
    met: Vec<u32>,
    searches: u32,
    steps: usize,
}

impl<'a> Run<'a> {
    fn new(lts: &'a Lts, ready: bool, control: &'a Control) -> Result<Run<'a>, Stopped> {
        let backward = lts.backward();
        let mut incoming_starts = vec![0];
        let mut incoming: Vec<Transition> = Vec::with_capacity(lts.transition_count());
        for state in lts.states() {
            let from = incoming.len();
            incoming.extend_from_slice(backward.incoming(state));
            incoming[from..].sort_unstable();
            incoming_starts.push(incoming.len());
        }
        // Blocks are the states that can do the same labels.
        let mut sets: Signatures<u32> = Signatures::new();
        let mut set: Vec<u32> = Vec::new();
        let mut block_of = Vec::with_capacity(lts.state_count());
        for state in lts.states() {
            set.clear();
            set.extend(lts.outgoing(state).iter().map(|step| step.label.0));
            set.sort_unstable();
            set.dedup();
            block_of.push(sets.intern(&set) - 1);
        }
        let blocks = block_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut relation = Relation { rows: vec![Vec::new(); blocks] };
        for block in 0..blocks as u32 {
            relation.insert(block, block);
        }
        if !ready {
            relate_by_inclusion(&mut relation, &sets, blocks as u32, control)?;
        }
        let mut run = Run {
            lts,
            control,
            incoming_starts,
            incoming,
            partition: Partition::from_blocks(block_of, blocks),
            relation,
            remove: vec![BTreeMap::new(); blocks],
            work: Vec::new(),
            met: Vec::new(),
            searches: 0,
            steps: 0,
        };
        for block in 0..blocks as u32 {
            run.first_losses(block)?;
        }
        Ok(run)
    }

    fn worked(&mut self, steps: usize) -> Result<(), Stopped> {
        self.steps += steps;
        if self.steps > 1 << 16 {
            self.steps = 0;
            self.control.check()?;
            self.control.progress().done(self.partition.blocks.len() as u64);
        }
        Ok(())
    }

    fn incoming(&self, state: u32) -> &[Transition] {
        &self.incoming[self.incoming_starts[state as usize]..self.incoming_starts[state as usize + 1]]
    }

    fn members(&self, block: u32) -> std::ops::Range<usize> {
        let block = self.partition.blocks[block as usize];
        block.start as usize..block.end as usize
    }

    /// For a block of the start, every label and the states that can do it but not into what simulates the block. Only
    /// labels by which something steps into the block matter.
    fn first_losses(&mut self, block: u32) -> Result<(), Stopped> {
        let mut labels: Vec<LabelId> = Vec::new();
        for at in self.members(block) {
            labels.extend(self.incoming(self.partition.elements[at]).iter().map(|step| step.label));
        }
        labels.sort_unstable();
        labels.dedup();
        self.worked(labels.len())?;
        if labels.is_empty() {
            return Ok(());
        }
        let mut losers: BTreeMap<LabelId, Vec<u32>> = BTreeMap::new();
        for state in self.lts.states() {
            let steps = self.lts.outgoing(state);
            self.worked(steps.len() + 1)?;
            for step in steps {
                if labels.binary_search(&step.label).is_ok() && !self.reaches(state.0, step.label, block) {
                    losers.entry(step.label).or_default().push(state.0);
                }
            }
        }
        for (label, states) in losers {
            self.work.push((block, label));
            self.remove[block as usize].insert(label, Arc::new(states));
        }
        Ok(())
    }

    /// Has a state a step by the label into a block that may simulate this one?
    fn reaches(&self, state: u32, label: LabelId, block: u32) -> bool {
        let mut steps = self.lts.outgoing(StateId(state)).iter().filter(|step| step.label == label);
        steps.any(|step| self.relation.has(block, self.partition.block_of[step.target.index()]))
    }

    fn process(&mut self, block: u32, label: LabelId, lost: &[u32]) -> Result<(), Stopped> {
        // The states with a step into the block, before it is split itself.
        let mut sources: Vec<u32> = Vec::new();
        for at in self.members(block) {
            let steps = self.incoming(self.partition.elements[at]);
            let from = steps.partition_point(|step| step.label < label);
            sources.extend(steps[from..].iter().take_while(|step| step.label == label).map(|step| step.target.0));
        }
        self.worked(sources.len() + lost.len())?;
        self.split(lost)?;
        let simulated = self.blocks_of(&sources);
        let unable = self.blocks_of(lost);
        for &lower in &simulated {
            self.worked(unable.len())?;
            for &upper in &unable {
                if self.relation.has(lower, upper) {
                    self.relation.remove(lower, upper);
                    self.lose(lower, upper)?;
                }
            }
        }
        Ok(())
    }

    /// The blocks of states, each once.
    fn blocks_of(&mut self, states: &[u32]) -> Vec<u32> {
        self.searches = self.searches.wrapping_add(1);
        if self.searches == 0 {
            self.met.fill(0);
            self.searches = 1;
        }
        self.met.resize(self.partition.blocks.len(), 0);
        let mut blocks = Vec::new();
        for &state in states {
            let block = self.partition.block_of[state as usize];
            if std::mem::replace(&mut self.met[block as usize], self.searches) != self.searches {
                blocks.push(block);
            }
        }
        blocks
    }

    /// Collects the states whose last step into what simulates `lower` led into the block `upper`.
    fn lose(&mut self, lower: u32, upper: u32) -> Result<(), Stopped> {
        for at in self.members(upper) {
            let target = self.partition.elements[at] as usize;
            let range = self.incoming_starts[target]..self.incoming_starts[target + 1];
            self.worked(range.len() + 1)?;
            for index in range {
                let Transition { label, target: source } = self.incoming[index];
                if !self.reaches(source.0, label, lower) {
                    let losers = self.remove[lower as usize].entry(label).or_insert_with(|| {
                        self.work.push((lower, label));
                        Arc::default()
                    });
                    Arc::make_mut(losers).push(source.0);
                }
            }
        }
        Ok(())
    }

    /// Splits every block into what is in the set and what is not.
    fn split(&mut self, set: &[u32]) -> Result<(), Stopped> {
        let mut touched = Vec::new();
        for &state in set {
            if self.partition.mark(state) {
                touched.push(self.partition.block_of[state as usize]);
            }
        }
        for number in touched {
            let block = self.partition.blocks[number as usize];
            let inside: Vec<u32> =
                self.partition.elements[block.start as usize..(block.start + block.marked) as usize].to_vec();
            let before = self.partition.blocks.len();
            if block.marked < block.len() {
                self.partition.divide(number, &[inside], |_, _| {});
            } else {
                self.partition.blocks[number as usize].marked = 0;
            }
            for fresh in before as u32..self.partition.blocks.len() as u32 {
                self.inherit(number, fresh)?;
            }
        }
        Ok(())
    }

    /// A new block has the relations and the losses of the one that it was part of.
    fn inherit(&mut self, old: u32, fresh: u32) -> Result<(), Stopped> {
        if fresh.is_multiple_of(64) {
            self.control.afford(fresh as usize / 8 * 64)?;
        }
        self.worked(fresh as usize / 8)?;
        self.relation.rows.push(self.relation.rows[old as usize].clone());
        for block in 0..=fresh {
            if self.relation.has(block, old) {
                self.relation.insert(block, fresh);
            }
        }
        let losses = self.remove[old as usize].clone();
        self.work.extend(losses.keys().map(|&label| (fresh, label)));
        self.remove.push(losses);
        Ok(())
    }
}

/// Relates blocks whose labels are included in one another; a block that has a rare label looks only at those that have
/// it.
fn relate_by_inclusion(
    relation: &mut Relation,
    sets: &Signatures<u32>,
    blocks: u32,
    control: &Control,
) -> Result<(), Stopped> {
    let mut holders: HashMap<u32, Vec<u32>> = HashMap::new();
    for block in 0..blocks {
        for &label in sets.get(block + 1) {
            holders.entry(label).or_default().push(block);
        }
    }
    let all: Vec<u32> = (0..blocks).collect();
    for block in 0..blocks {
        control.afford(blocks as usize / 8)?;
        let labels = sets.get(block + 1);
        let rarest = labels.iter().map(|label| &holders[label]).min_by_key(|holders| holders.len());
        for &other in rarest.unwrap_or(&all) {
            let others = sets.get(other + 1);
            if labels.iter().all(|label| others.binary_search(label).is_ok()) {
                relation.insert(block, other);
            }
        }
    }
    Ok(())
}

impl Simulation {
    /// One state a class, the class of the initial state first, the others by their least states; without little
    /// brothers. `number_of` has the state of each class. With `reachable`, only what can be reached is there.
    pub(super) fn quotient(&self, lts: &Lts, reachable: bool, control: &Control) -> Result<(Lts, Vec<u32>), Stopped> {
        const ABSENT: u32 = u32::MAX;
        let mut speaker = vec![ABSENT; self.classes];
        for state in lts.states() {
            let class = self.class_of[state.index()] as usize;
            if speaker[class] == ABSENT {
                speaker[class] = state.0;
            }
        }
        let mut rows: Vec<Vec<Transition>> = vec![Vec::new(); self.classes];
        let mut steps = 0;
        for (row, &state) in rows.iter_mut().zip(&speaker) {
            let class = |step: &Transition| Transition {
                label: step.label,
                target: StateId(self.class_of[step.target.index()]),
            };
            row.extend(lts.outgoing(StateId(state)).iter().map(class));
            steps += row.len() * row.len();
            if steps > 1 << 16 {
                steps = 0;
                control.check()?;
            }
            let all = row.clone();
            let exceeded = |step: &Transition| {
                all.iter().any(|other| {
                    let same = other.label == step.label && other.target != step.target;
                    same && self.above.has(step.target.0, other.target.0)
                })
            };
            row.retain(|step| !exceeded(step));
        }
        let initial = self.class_of[lts.initial().index()];
        let mut wanted = vec![!reachable; self.classes];
        wanted[initial as usize] = true;
        let mut work = vec![initial];
        while let Some(class) = work.pop() {
            for step in &rows[class as usize] {
                if !std::mem::replace(&mut wanted[step.target.index()], true) {
                    work.push(step.target.0);
                }
            }
        }
        let mut number_of = vec![ABSENT; self.classes];
        let mut order: Vec<u32> = Vec::new();
        let by_state = lts.states().map(|state| self.class_of[state.index()]);
        for class in std::iter::once(initial).chain(by_state).filter(|&class| wanted[class as usize]) {
            if number_of[class as usize] == ABSENT {
                number_of[class as usize] = order.len() as u32;
                order.push(class);
            }
        }
        let row = |number: usize, row: &mut Vec<Transition>| {
            let steps = rows[order[number] as usize].iter();
            row.extend(steps.map(|t| Transition { label: t.label, target: StateId(number_of[t.target.index()]) }));
        };
        let most = order.iter().map(|&class| rows[class as usize].len()).sum();
        let small = collect(order.len(), most, row, lts.labels(), control)?;
        Ok((small, number_of))
    }
}
