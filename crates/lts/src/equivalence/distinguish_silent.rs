//! Formulas that distinguish states that are not branching, delay or weakly bisimilar, with or without divergence.
//!
//! As for strong bisimilarity ([`super::distinguish`]) the states are split level by level, each level by what can be
//! observed of the previous level's blocks. Where two states part, one of them has an observation that the other lacks,
//! and a formula expresses it, with formulas for the blocks of lower levels inside.
//!
//! **Delay and weak.** What a state sees is `(a, B)`: after any `τ`, an `a` leads into `B` (for weak bisimilarity, and
//! then any `τ`); `(τ, B)`: any `τ` lead into `B`; and, if divergence counts, `(Δ, B)`: any `τ` lead to a divergence in
//! `B`. If `s` sees `(a, B)` by a state `s'` and `t` does not, then `<tau*.a>` of the conjunction of formulas for `s'`
//! against all the states that `t` comes to by `a` is the formula, of as many nested modalities as the level, and none
//! with fewer suffices (the argument of Hennessy and Milner, with double arrows for steps). `(Δ, B)` becomes
//! `<tau*>forever φ`: the states of a cycle of `τ` are equivalent, so `φ` holds on all of it or nowhere.
//!
//! **Branching.** What a state sees is `(a, B)`: steps of `τ` within its own block `B₀` lead to a state with an
//! `a`-step into `B`; `(τ, B)` likewise for `B ≠ B₀`; `(Δ, B₀)`: they lead to a divergence (Blom and Orzan,
//! *Distributed branching bisimulation reduction of state spaces*, 2003). The formula is `(φ until <a>ψ)` (Korver,
//! *Computing distinguishing formulas for branching bisimulation*, 1991). `ψ` is made against all states into which `t`
//! has an `a`-step from within `B₀`. `φ` is made for `s` against all states `u` into which `t` leaves `B₀` by `τ`,
//! because `ψ` may hold after them; those after which there is no `a` are left out. On `B₀` both formulas are constant,
//! being of lower levels. For `(τ, B)` the formula is `(φ until ψ)`, with `ψ` against `t` and every such `u`; for
//! `(Δ, B₀)`, it is `forever φ`. These have at most as many nested modalities as the level; that none has fewer is not
//! claimed.
//!
//! The input is a quotient, in which `τ` has no cycles but the loops that mark divergence. Cost: the levels as in
//! [`super::saturation`], then for each part what `τ` reaches from its two states.

use std::collections::{BTreeMap, HashMap, HashSet};

use trefoil_control::{Control, Stopped};
use trefoil_system::{Formula, FormulaId, LabelId, StateId};

use super::distinguish::Levels;
use super::graph::{DIVERGENCE, Graph, Prepared, Tau, prepare};
use super::saturation::{Pass, levels_until_parted};
use crate::explicit::Lts;

/// A formula that holds in one state and not in the other, which are not equivalent, and the level at which they part.
pub(super) fn distinguish(
    lts: &Lts,
    (holds, fails): (StateId, StateId),
    tau: Tau,
    pass: Pass,
    control: &Control,
) -> Result<(Formula, usize), Stopped> {
    let Prepared { graph, node_of } = prepare(lts, tau, control)?;
    let ends = (node_of[holds.index()], node_of[fails.index()]);
    let levels = levels_until_parted(&graph, pass, ends, control)?;
    let view = View { graph: &graph, levels: &levels, pass };
    let mut formula = Formula::new(lts.labels().clone());
    let mut done: HashMap<(u32, u32, u32), FormulaId> = HashMap::new();
    // A goal waits on the stack until the goals it depends on are done.
    let mut goals: Vec<(u32, u32, Option<Plan>)> = vec![(ends.0, ends.1, None)];
    let mut steps = 0usize;
    while let Some((s, t, plan)) = goals.pop() {
        steps += 1;
        if steps.is_multiple_of(1 << 8) {
            control.check()?;
        }
        let key = view.key(s, t);
        if done.contains_key(&key) {
            continue;
        }
        let Some(plan) = plan else {
            let plan = view.plan(s, t);
            let needed: Vec<(u32, u32)> = plan.during.iter().chain(&plan.then).copied().collect();
            goals.push((s, t, Some(plan)));
            goals.extend(needed.into_iter().map(|(s, t)| (s, t, None)));
            continue;
        };
        let mut all =
            |pairs: &[(u32, u32)]| formula.and(pairs.iter().map(|&(s, t)| done[&view.key(s, t)]).collect::<Vec<_>>());
        let (during, then) = (all(&plan.during), all(&plan.then));
        let part = match (plan.seen, pass) {
            (LabelId::TAU, _) => formula.until(during, None, then),
            (DIVERGENCE, Pass::Inert) => formula.forever(during),
            (DIVERGENCE, _) => {
                let diverges = formula.forever(then);
                formula.silently(diverges)
            }
            (label, Pass::Around) => {
                let later = formula.silently(then);
                formula.until(during, Some(label), later)
            }
            (label, _) => formula.until(during, Some(label), then),
        };
        done.insert(key, if plan.negated { formula.not(part) } else { part });
    }
    formula.set_root(done[&view.key(ends.0, ends.1)]);
    Ok((formula, levels.depth() as usize))
}

/// What one of two states sees and the other does not, and the pairs of states whose formulas say so.
struct Plan {
    /// Is it seen by the state for which the formula is to fail?
    negated: bool,
    /// A label, `τ` or [`DIVERGENCE`].
    seen: LabelId,
    during: Vec<(u32, u32)>,
    then: Vec<(u32, u32)>,
}

/// What a state sees: by label and block a state in that block; and, for branching, where `τ` leaves its own block.
struct Sight {
    seen: BTreeMap<(LabelId, u32), u32>,
    exits: BTreeMap<u32, u32>,
}

struct View<'a> {
    graph: &'a Graph<'a>,
    levels: &'a Levels,
    pass: Pass,
}

impl View<'_> {
    fn key(&self, s: u32, t: u32) -> (u32, u32, u32) {
        self.levels.key(StateId(s), StateId(t))
    }

    fn block(&self, node: u32, level: u32) -> u32 {
        self.levels.block(StateId(node), level)
    }

    /// The nodes that `τ` leads to, as far as `within` lets it, the first included.
    fn closure(&self, from: u32, within: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut seen = HashSet::from([from]);
        let mut nodes = vec![from];
        let mut at = 0;
        while at < nodes.len() {
            for step in self.graph.outgoing(nodes[at]).iter().filter(|step| step.label == LabelId::TAU) {
                if within(step.target.0) && seen.insert(step.target.0) {
                    nodes.push(step.target.0);
                }
            }
            at += 1;
        }
        nodes
    }

    fn sight(&self, from: u32, level: u32) -> Sight {
        let mut sight = Sight { seen: BTreeMap::new(), exits: BTreeMap::new() };
        let own = self.block(from, level);
        let inert = self.pass == Pass::Inert;
        for node in self.closure(from, |next| !inert || self.block(next, level) == own) {
            if !inert {
                sight.seen.entry((LabelId::TAU, self.block(node, level))).or_insert(node);
            }
            for step in self.graph.outgoing(node) {
                let target = step.target.0;
                if step.label == LabelId::TAU {
                    let block = self.block(target, level);
                    if inert && block != own {
                        sight.exits.entry(block).or_insert(target);
                        sight.seen.entry((LabelId::TAU, block)).or_insert(target);
                    }
                } else if self.pass == Pass::Around && step.label != DIVERGENCE {
                    for after in self.closure(target, |_| true) {
                        sight.seen.entry((step.label, self.block(after, level))).or_insert(after);
                    }
                } else {
                    sight.seen.entry((step.label, self.block(target, level))).or_insert(target);
                }
            }
        }
        sight
    }

    /// Is there a step by this label behind a state?
    fn offers(&self, from: u32, label: LabelId) -> bool {
        let offered = |&node: &u32| self.graph.outgoing(node).iter().any(|step| step.label == label);
        self.closure(from, |_| true).iter().any(offered)
    }

    /// Something that one of two states sees and the other does not, one level below where they part.
    fn plan(&self, s: u32, t: u32) -> Plan {
        let level = self.key(s, t).0 - 1;
        let sights = [self.sight(s, level), self.sight(t, level)];
        let mut best: Option<Plan> = None;
        for (from, against, negated) in [(s, t, false), (t, s, true)] {
            let (mine, theirs) = (&sights[usize::from(negated)], &sights[usize::from(!negated)]);
            // What is seen first of a label decides; all of them have the same states against them, one block less or
            // more.
            for (&(label, block), &target) in mine.seen.iter().filter(|(what, _)| !theirs.seen.contains_key(what)) {
                let answers = theirs.seen.range((label, 0)..=(label, u32::MAX));
                let mut then: Vec<(u32, u32)> = answers.map(|(_, &answer)| (target, answer)).collect();
                let mut during = Vec::new();
                if self.pass == Pass::Inert {
                    debug_assert!(label == DIVERGENCE || label != LabelId::TAU || block != self.block(from, level));
                    if label == LabelId::TAU {
                        then.push((target, against));
                    }
                    let blocked = theirs.exits.values().filter(|&&exit| self.offers(exit, label));
                    during.extend(blocked.map(|&exit| (from, exit)));
                }
                let size = during.len() + then.len();
                if best.as_ref().is_none_or(|best| size < best.during.len() + best.then.len()) {
                    best = Some(Plan { negated, seen: label, during, then });
                }
            }
        }
        best.expect("two states that part do not see the same")
    }
}
