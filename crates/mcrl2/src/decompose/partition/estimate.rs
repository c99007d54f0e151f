//! The estimate of a partition, and moves that lower it.
//!
//! The summands are the edges of a hypergraph over the parameters. A partition costs the bits of its largest part, and
//! for each summand that several parts do together the bits of the values that they have to exchange, by the rules of
//! the cleave. Moves of single parameters change few summands, so that passes in the manner of Fiduccia and Mattheyses,
//! *A linear-time heuristic for improving network partitions* (1982), are cheap: move each parameter once, always to
//! the best place, and keep the best prefix of moves. There are any number of parts here and no balance but the size of
//! the largest part.
//!
//! Invariant: what each summand costs is remembered ([`Costs`]) and computed again only where a parameter moved.
//!
//! Cost: a pass is parameters × parts beside them × summands of a parameter; all passes together estimate at most
//! [`ESTIMATES`] summands.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use trefoil_control::Control;
use trefoil_data::signature::Operator;
use trefoil_data::typed::{DataSpecification, TypedId, VariableId};
use trefoil_system::Cut;

use super::super::Partition;
use super::super::expressions::{applied, cases, variable, variables};
use crate::linear::{Event, LinearProcess};

/// Estimates of summands after which candidates are improved no further.
const ESTIMATES: u64 = 1_000_000;

/// Moves of a pass; those that lead nowhere for long are not worth their price.
const MOST_MOVES: usize = 24;

/// Numbers that differ by less are the same.
const SMALL: f64 = 1e-9;

/// Parameters by their places, ascending.
type Slots = Vec<usize>;

/// The parameters of a conjunct; of an equation, those of its sides.
#[derive(Clone, Debug)]
struct Conjunct {
    reads: Slots,
    sides: Option<[Slots; 2]>,
}

/// A summand as the estimate sees it.
#[derive(Clone, Debug)]
struct Edge {
    changed: Slots,
    /// For each update the parameter, and those it depends on.
    updates: Vec<(usize, Slots)>,
    arguments: Vec<Slots>,
    /// Of all cases of its condition.
    conjuncts: Vec<Conjunct>,
    touched: Slots,
}

/// The hypergraph.
pub(super) struct Graph {
    edges: Vec<Edge>,
    /// The edges of each parameter.
    at: Vec<Vec<usize>>,
    /// Bits of the values of each parameter.
    bits: Vec<f64>,
    /// Summands that were estimated so far.
    spent: Cell<u64>,
    scratch: RefCell<Scratch>,
}

/// Lists that are made again and again.
#[derive(Default)]
struct Scratch {
    parts: Vec<usize>,
    own: Vec<usize>,
    /// Parts and parameters that they get from others.
    foreign: Vec<(usize, usize)>,
}

/// What a partition costs, summand by summand and part by part.
struct Costs {
    edges: Vec<f64>,
    sizes: Vec<f64>,
}

impl Costs {
    fn new(graph: &Graph, part_of: &[usize]) -> Costs {
        let mut sizes = vec![0.0; part_of.iter().max().map_or(0, |most| most + 1).max(part_of.len()) + 1];
        for (slot, &part) in part_of.iter().enumerate() {
            sizes[part] += graph.bits[slot];
        }
        Costs { edges: (0..graph.edges.len()).map(|edge| graph.exchanged(edge, part_of)).collect(), sizes }
    }

    fn largest(&self) -> f64 {
        self.sizes.iter().fold(0.0, |most, &size| most.max(size))
    }

    fn total(&self) -> f64 {
        self.largest() + self.edges.iter().sum::<f64>()
    }
}

fn distinct(list: &mut Vec<usize>) {
    list.sort_unstable();
    list.dedup();
}

impl Graph {
    /// The graph of a process whose parameters have so many values.
    pub(super) fn new(linear: &LinearProcess, values: &[usize]) -> Graph {
        let mut data = linear.data.clone();
        let slots: BTreeMap<VariableId, usize> =
            linear.parameters.iter().enumerate().map(|(slot, known)| (known.variable, slot)).collect();
        let reads = |data: &DataSpecification, id: TypedId| -> Slots {
            let mut found: Slots =
                variables(data, id).iter().filter_map(|variable| slots.get(variable).copied()).collect();
            distinct(&mut found);
            found
        };
        let mut edges = Vec::new();
        for summand in &linear.summands {
            let updates: Vec<(usize, Slots)> = summand
                .updates
                .iter()
                .filter(|&&(slot, value)| variable(&data, value) != Some(linear.parameters[slot].variable))
                .map(|&(slot, value)| (slot, reads(&data, value)))
                .collect();
            let mut arguments: Vec<Slots> = match &summand.event {
                Event::Terminate => Vec::new(),
                Event::Actions(actions) => {
                    actions.iter().flat_map(|(_, all)| all).map(|&argument| reads(&data, argument)).collect()
                }
            };
            arguments.retain(|reads| !reads.is_empty());
            let mut conjuncts = Vec::new();
            for &condition in &summand.conditions {
                for conjunct in cases(&mut data, condition).into_iter().flatten() {
                    let sides = match applied(&data, conjunct) {
                        Some((Operator::Equal, &[left, right])) => Some([reads(&data, left), reads(&data, right)]),
                        _ => None,
                    };
                    conjuncts.push(Conjunct { reads: reads(&data, conjunct), sides });
                }
            }
            conjuncts.retain(|conjunct| !conjunct.reads.is_empty());
            let mut changed: Slots = updates.iter().map(|(slot, _)| *slot).collect();
            distinct(&mut changed);
            let mut touched = changed.clone();
            touched.extend(updates.iter().flat_map(|(_, reads)| reads));
            touched.extend(arguments.iter().flatten());
            touched.extend(conjuncts.iter().flat_map(|conjunct| &conjunct.reads));
            distinct(&mut touched);
            edges.push(Edge { changed, updates, arguments, conjuncts, touched });
        }
        let mut at = vec![Vec::new(); linear.parameters.len()];
        for (edge, known) in edges.iter().enumerate() {
            known.touched.iter().for_each(|&slot| at[slot].push(edge));
        }
        let bits = values.iter().map(|&values| (values as f64).log2()).collect();
        Graph { edges, at, bits, spent: Cell::new(0), scratch: RefCell::default() }
    }

    /// What a value of a parameter costs when it is exchanged.
    fn price(&self, slot: usize) -> f64 {
        self.bits[slot] + 0.1
    }

    /// The bits that the parts exchange in a summand.
    fn exchanged(&self, edge: usize, part_of: &[usize]) -> f64 {
        self.spent.set(self.spent.get() + 1);
        let edge = &self.edges[edge];
        let Some(&first) = edge.touched.first() else { return 0.0 };
        if edge.touched.iter().all(|&slot| part_of[slot] == part_of[first]) {
            return 0.0;
        }
        let mut scratch = self.scratch.borrow_mut();
        let Scratch { parts, own, foreign } = &mut *scratch;
        parts.clear();
        parts.extend(edge.touched.iter().map(|&slot| part_of[slot]));
        distinct(parts);
        foreign.clear();
        for (slot, reads) in &edge.updates {
            let part = part_of[*slot];
            foreign.extend(reads.iter().filter(|&&read| part_of[read] != part).map(|&read| (part, read)));
        }
        foreign.sort_unstable();
        foreign.dedup();
        let mut cheapest = |reads: &[usize]| {
            own.clear();
            own.extend(reads.iter().map(|&slot| part_of[slot]));
            distinct(own);
            let cost = |part: usize| {
                let is_missing =
                    |slot: &&usize| part_of[**slot] != part && foreign.binary_search(&(part, **slot)).is_err();
                reads.iter().filter(is_missing).map(|&slot| self.price(slot)).sum::<f64>()
            };
            own.iter().map(|&part| cost(part)).fold(f64::INFINITY, f64::min)
        };
        let mut more: f64 = edge.arguments.iter().map(|reads| cheapest(reads)).sum();
        for conjunct in &edge.conjuncts {
            let whole = cheapest(&conjunct.reads);
            let side = |side: &Slots| match side.first() {
                Some(&first) if side.iter().all(|&slot| part_of[slot] == part_of[first]) => {
                    side.iter().map(|&slot| self.price(slot)).sum()
                }
                _ => f64::INFINITY,
            };
            let split = conjunct.sides.as_ref().map_or(f64::INFINITY, |[one, other]| side(one).min(side(other)));
            more += whole.min(split);
        }
        let given: f64 = foreign.iter().map(|&(_, slot)| self.price(slot)).sum();
        // That they do it together at all costs a little.
        given + more + 0.05 * (parts.len() - 1) as f64
    }

    /// What a partition costs.
    pub(super) fn estimate(&self, part_of: &[usize]) -> f64 {
        Costs::new(self, part_of).total()
    }

    /// One pass of moves; whether it gained.
    pub(super) fn pass(&self, part_of: &mut [usize], control: &Control) -> Result<bool, Cut> {
        let mut current = part_of.to_vec();
        let mut costs = Costs::new(self, &current);
        let before = costs.total();
        let mut free: BTreeSet<usize> = (0..current.len()).collect();
        let mut best = (before, part_of.to_vec());
        let mut near: Vec<usize> = Vec::new();
        while !free.is_empty() && self.spent.get() < ESTIMATES {
            let mut used = vec![false; costs.sizes.len()];
            current.iter().for_each(|&part| used[part] = true);
            let unused = used.iter().position(|used| !used).unwrap_or(used.len() - 1);
            let mut chosen: Option<(f64, usize, usize)> = None;
            for &slot in &free {
                control.check()?;
                let from = current[slot];
                let old: f64 = self.at[slot].iter().map(|&edge| costs.edges[edge]).sum();
                // A parameter moves to a part with which it shares a summand, or to one of its own.
                near.clear();
                near.push(unused);
                for &edge in &self.at[slot] {
                    near.extend(self.edges[edge].touched.iter().map(|&other| current[other]));
                }
                distinct(&mut near);
                costs.sizes[from] -= self.bits[slot];
                for &to in near.iter().filter(|&&to| to != from) {
                    current[slot] = to;
                    costs.sizes[to] += self.bits[slot];
                    let largest = costs.largest();
                    costs.sizes[to] -= self.bits[slot];
                    let mut score = largest - old;
                    for &edge in &self.at[slot] {
                        score += self.exchanged(edge, &current);
                        // Costs are not negative: the rest cannot make it better.
                        if chosen.is_some_and(|(known, ..)| score >= known) {
                            break;
                        }
                    }
                    if chosen.is_none_or(|(known, ..)| score < known - SMALL) {
                        chosen = Some((score, slot, to));
                    }
                }
                current[slot] = from;
                costs.sizes[from] += self.bits[slot];
            }
            let Some((_, slot, to)) = chosen else { break };
            costs.sizes[current[slot]] -= self.bits[slot];
            costs.sizes[to] += self.bits[slot];
            current[slot] = to;
            for &edge in &self.at[slot] {
                costs.edges[edge] = self.exchanged(edge, &current);
            }
            free.remove(&slot);
            let score = costs.total();
            let several = current.iter().any(|&part| part != current[0]);
            if several && score < best.0 - SMALL {
                best = (score, current.clone());
            }
            if free.len() + MOST_MOVES < current.len() {
                break;
            }
        }
        let gained = best.0 < before - SMALL;
        part_of.copy_from_slice(&best.1);
        Ok(gained)
    }

    /// Merges parts while that lowers the estimate.
    pub(super) fn merge(&self, part_of: &mut [usize], control: &Control) -> Result<(), Cut> {
        let mut costs = Costs::new(self, part_of);
        let mut parts = part_of.iter().copied().collect::<BTreeSet<usize>>().len();
        while parts > 2 && self.spent.get() <= ESTIMATES / 2 {
            let mut best: Option<(f64, usize, usize)> = None;
            let mut neighbours: BTreeSet<(usize, usize)> = BTreeSet::new();
            for edge in &self.edges {
                let mut own: Vec<usize> = edge.touched.iter().map(|&slot| part_of[slot]).collect();
                distinct(&mut own);
                for (at, &one) in own.iter().enumerate() {
                    neighbours.extend(own[at + 1..].iter().map(|&other| (one, other)));
                }
            }
            let largest = costs.largest();
            let mut touched: Vec<usize> = Vec::new();
            for (one, other) in neighbours {
                control.check()?;
                let merged: Vec<usize> = part_of.iter().map(|&part| if part == other { one } else { part }).collect();
                touched.clear();
                let inside = (0..part_of.len()).filter(|&slot| merged[slot] == one);
                touched.extend(inside.flat_map(|slot| &self.at[slot]));
                distinct(&mut touched);
                let mut gain = largest.max(costs.sizes[one] + costs.sizes[other]) - largest;
                gain += touched.iter().map(|&edge| self.exchanged(edge, &merged) - costs.edges[edge]).sum::<f64>();
                if best.is_none_or(|(known, ..)| gain < known - SMALL) {
                    best = Some((gain, one, other));
                }
            }
            match best {
                Some((gain, one, other)) if gain < -SMALL => {
                    part_of.iter_mut().filter(|part| **part == other).for_each(|part| *part = one);
                    costs = Costs::new(self, part_of);
                    parts -= 1;
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// Copies of parameters that make more summands independent than they make synchronised.
    pub(super) fn copies(&self, partition: &Partition) -> Partition {
        let mut copied = partition.clone();
        for part in &mut copied {
            let mut own = vec![false; self.bits.len()];
            part.iter().for_each(|&slot| own[slot] = true);
            loop {
                let gain = |slot: usize| {
                    let is_alone = |edge: &&usize| {
                        let edge = &self.edges[**edge];
                        !edge.changed.contains(&slot)
                            && !edge.changed.is_empty()
                            && edge.changed.iter().all(|&changed| own[changed])
                            && edge.touched.iter().all(|&touched| own[touched] || touched == slot)
                    };
                    let alone = self.at[slot].iter().filter(is_alone);
                    let changing = self.at[slot].iter().filter(|&&edge| self.edges[edge].changed.contains(&slot));
                    alone.count() as i64 - changing.count() as i64
                };
                let others = (0..self.bits.len()).filter(|&slot| !own[slot]);
                let Some((gain, place)) = others.map(|slot| (gain(slot), usize::MAX - slot)).max() else { break };
                if gain <= 0 {
                    break;
                }
                let slot = usize::MAX - place;
                part.push(slot);
                own[slot] = true;
            }
        }
        copied
    }

    /// Summands that look at a parameter and change others.
    pub(super) fn looks(&self, slot: usize) -> usize {
        let looks = |edge: &&usize| {
            let edge = &self.edges[**edge];
            !edge.changed.contains(&slot) && !edge.changed.is_empty()
        };
        self.at[slot].iter().filter(looks).count()
    }
}
