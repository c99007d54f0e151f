//! A formula of least depth that distinguishes two states.
//!
//! Let `Pₖ` be the partition into states that no formula of depth `k` distinguishes: `P₀` has one block, and two states
//! share a block of `Pₖ₊₁` when they have the same pairs of a label and a block of `Pₖ` (Hennessy and Milner 1985).
//! Where `s` and `t` part at level `k`, one of them, say `s`, has a step `a` to an `s'` such that no `a`-step of `t`
//! leads into the block of `s'` in `Pₖ₋₁`. Then `<a>` of the conjunction, over those `a`-successors `t'` of `t`, of
//! formulas that hold for `s'` and not for `t'` holds for `s` and not for `t` (Cleaveland, *On automatically explaining
//! bisimulation inequivalence*, 1991). Each part has the least depth for its two states, below `k`, so the whole has
//! depth `k`, the least possible (Martens and Groote, *Computing minimal distinguishing Hennessy–Milner formulas is
//! NP-hard, but variants are tractable*, 2023). Of the possible steps we take one with the fewest conjuncts; the
//! formula is not claimed to be the smallest.
//!
//! The levels are computed until the two states part. Only changes are kept: the largest part of a block keeps its
//! number, so a state has at most log n of them, and what its block was at any level is found by search. A part of the
//! formula depends only on the blocks of its two states at the level where they part, so parts are made once for each
//! two blocks.
//!
//! The input is a system without bisimilar states. Cost: levels as in partition refinement with signatures, then the
//! degrees of the two states for each part.

use std::collections::HashMap;

use trefoil_control::{Control, Stopped};
use trefoil_system::{Formula, FormulaId, LabelId, StateId};

use super::partition::Partition;
use super::signatures::Signatures;
use crate::explicit::Lts;

/// A formula that holds in one state and not in the other, which are not bisimilar.
pub(super) fn distinguish(lts: &Lts, holds: StateId, fails: StateId, control: &Control) -> Result<Formula, Stopped> {
    let levels = Levels::until_parted(lts, holds, fails, control)?;
    let mut formula = Formula::new(lts.labels().clone());
    let mut done: HashMap<(u32, u32, u32), FormulaId> = HashMap::new();
    // A goal waits on the stack until the goals it depends on are done.
    let mut goals: Vec<(StateId, StateId, Option<Choice>)> = vec![(holds, fails, None)];
    let mut steps = 0usize;
    while let Some((s, t, choice)) = goals.pop() {
        steps += 1;
        if steps.is_multiple_of(1 << 8) {
            control.check()?;
        }
        let key = levels.key(s, t);
        if done.contains_key(&key) {
            continue;
        }
        let Some(choice) = choice else {
            let choice = levels.choose(lts, s, t);
            let needed: Vec<(StateId, StateId)> = choice.others.iter().map(|&other| (choice.target, other)).collect();
            goals.push((s, t, Some(choice)));
            goals.extend(needed.into_iter().map(|(s, t)| (s, t, None)));
            continue;
        };
        let parts: Vec<FormulaId> =
            choice.others.iter().map(|&other| done[&levels.key(choice.target, other)]).collect();
        let all = formula.and(parts);
        let mut part = formula.diamond(choice.label, all);
        if choice.negated {
            part = formula.not(part);
        }
        done.insert(key, part);
    }
    let root = done[&levels.key(holds, fails)];
    formula.set_root(root);
    Ok(formula)
}

/// A step of one state that the other cannot match: where it leads, and where the other's steps by the label lead.
struct Choice {
    /// Is it a step of the state for which the formula is to fail?
    negated: bool,
    label: LabelId,
    target: StateId,
    others: Vec<StateId>,
}

/// The blocks of every state at every level.
pub(super) struct Levels {
    /// For each state its blocks, each with the first level at which the state is in it, ascending.
    history: Vec<Vec<(u32, u32)>>,
    depth: u32,
}

impl Levels {
    /// Level 0: one block.
    pub(super) fn new(states: usize) -> Levels {
        Levels { history: vec![vec![(0, 0)]; states], depth: 0 }
    }

    /// The next level, which differs in the blocks of these states.
    pub(super) fn next(&mut self, moved: impl IntoIterator<Item = (u32, u32)>) {
        self.depth += 1;
        for (state, block) in moved {
            self.history[state as usize].push((self.depth, block));
        }
    }

    /// The last level.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    fn until_parted(lts: &Lts, one: StateId, other: StateId, control: &Control) -> Result<Levels, Stopped> {
        control.progress().begin("finding a formula", 0);
        control.afford(lts.transition_count() * 8 + lts.state_count() * 64)?;
        let backward = lts.backward();
        let mut partition = Partition::new(lts.state_count());
        let mut levels = Levels::new(lts.state_count());
        let mut look_again: Vec<u32> = (0..lts.state_count() as u32).collect();
        let mut classes: Signatures<u64> = Signatures::new();
        let mut set: Vec<u64> = Vec::new();
        while partition.block_of[one.index()] == partition.block_of[other.index()] {
            assert!(!look_again.is_empty(), "the states are not bisimilar, so some level parts them");
            control.check()?;
            control.progress().depth(u64::from(levels.depth) + 1);
            let mut unstable = Vec::new();
            for &state in &look_again {
                if partition.mark(state) {
                    unstable.push(partition.block_of[state as usize]);
                }
            }
            // All signatures are taken before a block of this level exists.
            let mut moved: Vec<(u32, u32)> = Vec::new();
            let mut parts: Vec<Vec<Vec<u32>>> = Vec::new();
            for &number in &unstable {
                let block = partition.blocks[number as usize];
                classes.clear();
                let mut members: Vec<Vec<u32>> = Vec::new();
                for at in block.start..block.start + block.marked {
                    let state = partition.elements[at as usize];
                    let pair = |t: &crate::Transition| {
                        u64::from(t.label.0) << 32 | u64::from(partition.block_of[t.target.index()])
                    };
                    set.clear();
                    set.extend(lts.outgoing(StateId(state)).iter().map(pair));
                    set.sort_unstable();
                    set.dedup();
                    let class = classes.intern(&set) as usize;
                    members.resize_with(members.len().max(class), Vec::new);
                    members[class - 1].push(state);
                }
                parts.push(members);
            }
            for (&number, members) in unstable.iter().zip(&parts) {
                partition.divide(number, members, |state, block| moved.push((state, block)));
            }
            look_again.clear();
            levels.next(moved.iter().copied());
            for &(state, _) in &moved {
                look_again.extend(backward.incoming(StateId(state)).iter().map(|t| t.target.0));
            }
        }
        Ok(levels)
    }

    /// The block of a state at a level.
    pub(super) fn block(&self, state: StateId, level: u32) -> u32 {
        let history = &self.history[state.index()];
        history[history.partition_point(|&(from, _)| from <= level) - 1].1
    }

    /// The first level at which two states are in different blocks, and their blocks there.
    pub(super) fn key(&self, s: StateId, t: StateId) -> (u32, u32, u32) {
        let (mut low, mut high) = (0, self.depth);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.block(s, middle) == self.block(t, middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        (high, self.block(s, high), self.block(t, high))
    }

    /// A step of one of two states that the other cannot match one level below where they part.
    fn choose(&self, lts: &Lts, s: StateId, t: StateId) -> Choice {
        let level = self.key(s, t).0 - 1;
        let mut best: Option<(usize, Choice)> = None;
        for (from, against, negated) in [(s, t, false), (t, s, true)] {
            // By label, where the other can go: one state for each block.
            let mut answers: HashMap<LabelId, HashMap<u32, StateId>> = HashMap::new();
            for step in lts.outgoing(against) {
                let blocks = answers.entry(step.label).or_default();
                blocks.entry(self.block(step.target, level)).or_insert(step.target);
            }
            for step in lts.outgoing(from) {
                let blocks = answers.get(&step.label);
                let count = blocks.map_or(0, HashMap::len);
                let matched = blocks.is_some_and(|blocks| blocks.contains_key(&self.block(step.target, level)));
                if matched || best.as_ref().is_some_and(|(fewest, _)| *fewest <= count) {
                    continue;
                }
                let mut others: Vec<StateId> = blocks.into_iter().flat_map(HashMap::values).copied().collect();
                others.sort_unstable();
                best = Some((count, Choice { negated, label: step.label, target: step.target, others }));
            }
        }
        best.expect("two states that part have a step that is not matched").1
    }
}
