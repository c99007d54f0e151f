//! Choosing a partition.
//!
//! The state space is sampled: the first states of a breadth-first search and of a random walk say how many values each
//! parameter has. The summands are the edges of a hypergraph over the parameters. A partition is judged in two ways.
//!
//! *Estimated*, from the hypergraph alone: the bits of its largest part, and for each summand that several parts do
//! together the bits of the values that they have to exchange, by the rules of the cleave. Moves of single parameters
//! change few summands, so that passes in the manner of Fiduccia and Mattheyses, *A linear-time heuristic for improving
//! network partitions* (1982), are cheap: move each parameter once, always to the best place, and keep the best prefix
//! of moves. There are any number of parts here and no balance but the size of the largest part.
//!
//! *Measured*: the parts are explored and composed with at most 10^3, then 10^4, then 10^5 states each. As soon as some
//! candidates fit, the one with the smallest peak is chosen; until then half of them are dropped in each round: those
//! for which the components that were left, when a composition became too large, have the most combinations of states.
//! A two-way minimum cut would not do: it splits off one parameter and leaves the rest whole.
//!
//! Candidates, each as it is and improved by passes: the processes that the model was written with; control against
//! data; each parameter alone; parameters that many summands read against each other one alone; greedy merging. A
//! parameter is copied into a part when that makes more summands independent than it makes synchronised.
//!
//! Invariants: all limits are counts, so that the choice depends on the input alone. The one candidate in which all
//! parameters are together is never offered.
//!
//! Cost: the sample, a pass for each candidate (parameters × parts × summands of a parameter), and the measured runs.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_data::signature::Operator;
use trefoil_data::typed::{TypedId, VariableId};
use trefoil_system::{Cut, System, Value};

use super::explore::Limits;
use super::expressions::{applied, cases, variable, variables};
use super::{Decomposition, Freedom, Partition, Unbuilt, Undone, bounded};
use crate::linear::{Event, LinearProcess};
use crate::system::Model;

/// States of the sample, found breadth-first, and as many by random steps.
const SAMPLE: usize = 20_000;

/// Candidates that are measured.
const MEASURED: usize = 8;

/// States of a part or a composition in the rounds of measuring.
const ROUNDS: [usize; 3] = [1_000, 10_000, 100_000];

/// Estimates of summands after which candidates are improved no further.
const ESTIMATES: u64 = 1_000_000;

/// Evaluations of halves for each state that is allowed.
const WORK: u64 = 100;

/// What was sampled.
struct Sample {
    rows: Vec<Vec<Value>>,
    /// Whether these are all states.
    complete: bool,
}

/// Explores the first states, and walks on from them.
fn sample(model: &Model, control: &Control) -> Result<Sample, Cut> {
    let mut explorer = model.explorer(control);
    let initial = model.initial(control)?;
    let mut known: HashSet<Vec<Value>> = HashSet::from([initial.clone()]);
    let mut rows = vec![initial];
    let mut at = 0;
    while at < rows.len() && rows.len() < SAMPLE {
        control.check()?;
        let row = rows[at].clone();
        let walked = explorer.successors(&row, &mut |step| {
            if known.insert(step.row.to_vec()) {
                rows.push(step.row.to_vec());
            }
            if rows.len() >= SAMPLE { Err(Cut::Enough) } else { Ok(()) }
        });
        match walked {
            // A mistake in the model is found again where it counts.
            Ok(()) | Err(Cut::Enough | Cut::Wrong(_) | Cut::Beyond(_) | Cut::Outgrown) => {}
            Err(cut) => return Err(cut),
        }
        at += 1;
    }
    let complete = at == rows.len() && rows.len() < SAMPLE;
    let mut row = rows[rows.len() - 1].clone();
    let mut bits: u64 = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..if complete { 0 } else { SAMPLE } {
        control.check()?;
        let mut next: Vec<Vec<Value>> = Vec::new();
        match explorer.successors(&row, &mut |step| {
            next.push(step.row.to_vec());
            Ok(())
        }) {
            Ok(()) | Err(Cut::Wrong(_) | Cut::Beyond(_) | Cut::Outgrown) => {}
            Err(cut) => return Err(cut),
        }
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        row = match next.len() {
            0 => rows[(bits % rows.len() as u64) as usize].clone(),
            count => next.swap_remove((bits % count as u64) as usize),
        };
        if known.insert(row.clone()) {
            rows.push(row.clone());
        }
    }
    Ok(Sample { rows, complete })
}

/// A condition as the estimate sees it: its cases, each a list of conjuncts.
type Cases = Vec<Vec<Conjunct>>;

/// The parameters of a conjunct; of an equation, those of its sides.
#[derive(Clone, Debug)]
struct Conjunct {
    reads: BTreeSet<usize>,
    sides: Option<[BTreeSet<usize>; 2]>,
}

/// A summand as the estimate sees it.
#[derive(Clone, Debug)]
struct Edge {
    changed: BTreeSet<usize>,
    /// For each update the parameter, and those it depends on.
    updates: Vec<(usize, BTreeSet<usize>)>,
    arguments: Vec<BTreeSet<usize>>,
    conditions: Vec<Cases>,
    touched: BTreeSet<usize>,
}

/// The hypergraph.
struct Graph {
    edges: Vec<Edge>,
    /// The edges of each parameter.
    at: Vec<Vec<usize>>,
    /// Bits of the values of each parameter.
    bits: Vec<f64>,
    /// Summands that were estimated so far.
    spent: Cell<u64>,
}

impl Graph {
    fn new(linear: &LinearProcess, sample: &Sample) -> Graph {
        let mut data = linear.data.clone();
        let slots: BTreeMap<VariableId, usize> =
            linear.parameters.iter().enumerate().map(|(slot, known)| (known.variable, slot)).collect();
        let reads = |data: &trefoil_data::typed::DataSpecification, id: TypedId| -> BTreeSet<usize> {
            variables(data, id).iter().filter_map(|variable| slots.get(variable).copied()).collect()
        };
        let mut edges = Vec::new();
        for summand in &linear.summands {
            let updates: Vec<(usize, BTreeSet<usize>)> = summand
                .updates
                .iter()
                .filter(|&&(slot, value)| variable(&data, value) != Some(linear.parameters[slot].variable))
                .map(|&(slot, value)| (slot, reads(&data, value)))
                .collect();
            let arguments = match &summand.event {
                Event::Terminate => Vec::new(),
                Event::Actions(actions) => {
                    actions.iter().flat_map(|(_, all)| all).map(|&argument| reads(&data, argument)).collect()
                }
            };
            let mut conditions = Vec::new();
            for &condition in &summand.conditions {
                let ways = cases(&mut data, condition);
                let conjunct = |&id: &TypedId| {
                    let sides = match applied(&data, id) {
                        Some((Operator::Equal, &[left, right])) => Some([reads(&data, left), reads(&data, right)]),
                        _ => None,
                    };
                    Conjunct { reads: reads(&data, id), sides }
                };
                conditions.push(ways.iter().map(|way| way.iter().map(conjunct).collect()).collect());
            }
            let mut edge = Edge {
                changed: updates.iter().map(|(slot, _)| *slot).collect(),
                updates,
                arguments,
                conditions,
                touched: BTreeSet::new(),
            };
            edge.touched = edge.changed.clone();
            edge.touched.extend(edge.updates.iter().flat_map(|(_, reads)| reads));
            edge.touched.extend(edge.arguments.iter().flatten());
            let conjuncts = edge.conditions.iter().flatten().flatten();
            let read: BTreeSet<usize> = conjuncts.flat_map(|conjunct| conjunct.reads.clone()).collect();
            edge.touched.extend(read);
            edges.push(edge);
        }
        let mut at = vec![Vec::new(); linear.parameters.len()];
        for (edge, known) in edges.iter().enumerate() {
            known.touched.iter().for_each(|&slot| at[slot].push(edge));
        }
        let bits = (0..linear.parameters.len())
            .map(|slot| {
                let values: HashSet<Value> = sample.rows.iter().map(|row| row[slot]).collect();
                (values.len() as f64).log2()
            })
            .collect();
        Graph { edges, at, bits, spent: Cell::new(0) }
    }

    /// The bits that the parts exchange in a summand.
    fn exchanged(&self, edge: usize, part_of: &[usize]) -> f64 {
        self.spent.set(self.spent.get() + 1);
        let edge = &self.edges[edge];
        let parts: BTreeSet<usize> = edge.touched.iter().map(|&slot| part_of[slot]).collect();
        if parts.len() < 2 {
            return 0.0;
        }
        // Parameters that each part gets from others.
        let mut foreign: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (slot, reads) in &edge.updates {
            let part = part_of[*slot];
            foreign.entry(part).or_default().extend(reads.iter().filter(|&&read| part_of[read] != part));
        }
        let mut more = 0.0;
        let cheapest = |reads: &BTreeSet<usize>, foreign: &BTreeMap<usize, BTreeSet<usize>>| {
            let own: BTreeSet<usize> = reads.iter().map(|&slot| part_of[slot]).collect();
            let cost = |part: usize| {
                let missing = reads.iter().filter(|&&slot| {
                    part_of[slot] != part && !foreign.get(&part).is_some_and(|known| known.contains(&slot))
                });
                missing.map(|&slot| self.bits[slot] + 0.1).sum::<f64>()
            };
            own.into_iter().map(cost).fold(f64::INFINITY, f64::min)
        };
        for reads in edge.arguments.iter().filter(|reads| !reads.is_empty()) {
            more += cheapest(reads, &foreign);
        }
        for condition in &edge.conditions {
            for conjunct in condition.iter().flatten().filter(|conjunct| !conjunct.reads.is_empty()) {
                let whole = cheapest(&conjunct.reads, &foreign);
                let side = |side: &BTreeSet<usize>| {
                    let parts: BTreeSet<usize> = side.iter().map(|&slot| part_of[slot]).collect();
                    let bits: f64 = side.iter().map(|&slot| self.bits[slot] + 0.1).sum();
                    if parts.len() == 1 { bits } else { f64::INFINITY }
                };
                let split = conjunct.sides.as_ref().map_or(f64::INFINITY, |sides| side(&sides[0]).min(side(&sides[1])));
                more += whole.min(split);
            }
        }
        let given: f64 = foreign.values().flatten().map(|&slot| self.bits[slot] + 0.1).sum();
        // That they do it together at all costs a little.
        given + more + 0.05 * (parts.len() - 1) as f64
    }

    fn largest(&self, part_of: &[usize]) -> f64 {
        let mut sizes: BTreeMap<usize, f64> = BTreeMap::new();
        for (slot, &part) in part_of.iter().enumerate() {
            *sizes.entry(part).or_default() += self.bits[slot];
        }
        sizes.values().fold(0.0, |most, &size| most.max(size))
    }

    fn estimate(&self, part_of: &[usize]) -> f64 {
        let exchanged: f64 = (0..self.edges.len()).map(|edge| self.exchanged(edge, part_of)).sum();
        self.largest(part_of) + exchanged
    }

    /// One pass of moves; whether it gained.
    fn pass(&self, part_of: &mut [usize], control: &Control) -> Result<bool, Cut> {
        let before = self.estimate(part_of);
        let mut current = part_of.to_vec();
        let mut free: BTreeSet<usize> = (0..current.len()).collect();
        let mut best = (before, part_of.to_vec());
        while !free.is_empty() && self.spent.get() < ESTIMATES {
            let parts: BTreeSet<usize> = current.iter().copied().collect();
            let unused = (0..=current.len()).find(|part| !parts.contains(part)).unwrap_or(current.len());
            let mut chosen: Option<(f64, usize, usize)> = None;
            for &slot in &free {
                control.check()?;
                let from = current[slot];
                let old: f64 = self.at[slot].iter().map(|&edge| self.exchanged(edge, &current)).sum();
                // A parameter moves to a part with which it shares a summand, or to one of its own.
                let mut near: BTreeSet<usize> = self.at[slot]
                    .iter()
                    .flat_map(|&edge| &self.edges[edge].touched)
                    .map(|&other| current[other])
                    .collect();
                near.insert(unused);
                near.remove(&from);
                for to in near {
                    current[slot] = to;
                    let new: f64 = self.at[slot].iter().map(|&edge| self.exchanged(edge, &current)).sum();
                    let score = new - old + self.largest(&current);
                    if chosen.is_none_or(|(known, ..)| score < known - 1e-9) {
                        chosen = Some((score, slot, to));
                    }
                }
                current[slot] = from;
            }
            let Some((_, slot, to)) = chosen else { break };
            current[slot] = to;
            free.remove(&slot);
            let score = self.estimate(&current);
            let several = current.iter().any(|&part| part != current[0]);
            if several && score < best.0 - 1e-9 {
                best = (score, current.clone());
            }
            // Moves that lead nowhere for long are not worth their price.
            if free.len() + 24 < current.len() {
                break;
            }
        }
        let gained = best.0 < before - 1e-9;
        part_of.copy_from_slice(&best.1);
        Ok(gained)
    }

    /// Merges parts while that lowers the estimate.
    fn merge(&self, part_of: &mut [usize], control: &Control) -> Result<(), Cut> {
        loop {
            let before = self.estimate(part_of);
            let parts: Vec<usize> = part_of.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            if parts.len() <= 2 || self.spent.get() > ESTIMATES / 2 {
                return Ok(());
            }
            let mut best: Option<(f64, usize, usize)> = None;
            let mut neighbours: BTreeSet<(usize, usize)> = BTreeSet::new();
            for edge in &self.edges {
                let own: Vec<usize> =
                    edge.touched.iter().map(|&slot| part_of[slot]).collect::<BTreeSet<_>>().into_iter().collect();
                for (at, &one) in own.iter().enumerate() {
                    neighbours.extend(own[at + 1..].iter().map(|&other| (one, other)));
                }
            }
            for (one, other) in neighbours {
                control.check()?;
                let merged: Vec<usize> = part_of.iter().map(|&part| if part == other { one } else { part }).collect();
                let touched: BTreeSet<usize> = (0..part_of.len())
                    .filter(|&slot| merged[slot] == one)
                    .flat_map(|slot| self.at[slot].clone())
                    .collect();
                let gain: f64 = touched
                    .iter()
                    .map(|&edge| self.exchanged(edge, &merged) - self.exchanged(edge, part_of))
                    .sum::<f64>()
                    + self.largest(&merged)
                    - self.largest(part_of);
                if best.is_none_or(|(known, ..)| gain < known - 1e-9) {
                    best = Some((gain, one, other));
                }
            }
            match best {
                Some((gain, one, other)) if gain < -1e-9 => {
                    part_of.iter_mut().filter(|part| **part == other).for_each(|part| *part = one);
                }
                _ => return Ok(()),
            }
            debug_assert!(self.estimate(part_of) < before + 1e-6);
        }
    }

    /// Copies of parameters that make more summands independent than they make synchronised.
    fn copies(&self, partition: &Partition) -> Partition {
        let mut copied = partition.clone();
        for part in &mut copied {
            loop {
                let own: BTreeSet<usize> = part.iter().copied().collect();
                let gain = |slot: usize| {
                    let alone = self.at[slot].iter().filter(|&&edge| {
                        let edge = &self.edges[edge];
                        !edge.changed.contains(&slot)
                            && edge.changed.is_subset(&own)
                            && !edge.changed.is_empty()
                            && edge.touched.iter().all(|touched| own.contains(touched) || *touched == slot)
                    });
                    let changing = self.at[slot].iter().filter(|&&edge| self.edges[edge].changed.contains(&slot));
                    alone.count() as i64 - changing.count() as i64
                };
                let others = (0..self.bits.len()).filter(|slot| !own.contains(slot));
                match others.max_by_key(|&slot| (gain(slot), usize::MAX - slot)) {
                    Some(slot) if gain(slot) > 0 => part.push(slot),
                    _ => break,
                }
            }
        }
        copied
    }
}

fn as_partition(part_of: &[usize]) -> Partition {
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    part_of.iter().enumerate().for_each(|(slot, &part)| parts.entry(part).or_default().push(slot));
    let mut partition: Partition = parts.into_values().collect();
    partition.sort();
    partition
}

/// A partition that may be chosen.
struct Candidate {
    name: String,
    partition: Partition,
    estimate: f64,
    /// Bits of the combinations of the components that were left when it was last given up.
    left: f64,
}

/// What was chosen, and why.
pub struct Choice {
    /// The decomposition; none where no partition is worth it.
    pub decomposition: Option<Decomposition>,
    /// What was tried, one line each.
    pub report: Vec<String>,
}

fn candidates(linear: &LinearProcess, graph: &Graph, control: &Control) -> Result<Vec<Candidate>, Cut> {
    let count = linear.parameters.len();
    let mut starts: Vec<(String, Vec<usize>)> = Vec::new();
    starts.push(("processes".into(), linear.parameters.iter().map(|parameter| parameter.component).collect()));
    let is_control = |slot: usize| linear.parameters[slot].control.is_some();
    starts.push(("control against data".into(), (0..count).map(|slot| usize::from(is_control(slot))).collect()));
    starts.push(("each parameter alone".into(), (0..count).collect()));
    // Parameters that many summands look at without changing them, against each of the others.
    let looked: Vec<usize> = (0..count).map(|slot| self_reads(graph, slot)).collect();
    let mut levels: Vec<usize> = looked.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    levels.reverse();
    for level in levels.into_iter().take(3) {
        let part = |slot: usize| if looked[slot] >= level { count } else { slot };
        starts.push((format!("shared by {level} summands against each other"), (0..count).map(part).collect()));
    }
    let mut merged: Vec<usize> = (0..count).collect();
    graph.merge(&mut merged, control)?;
    starts.push(("merged".into(), merged));
    let mut found: Vec<Candidate> = Vec::new();
    let mut met: HashSet<Partition> = HashSet::new();
    let mut add = |name: String, part_of: &[usize], found: &mut Vec<Candidate>| {
        let partition = as_partition(part_of);
        let estimate = graph.estimate(part_of);
        let copied = graph.copies(&partition);
        if partition.len() > 1 && met.insert(partition.clone()) {
            found.push(Candidate { name: name.clone(), partition, estimate, left: f64::INFINITY });
        }
        if copied.len() > 1 && met.insert(copied.clone()) {
            let name = format!("{name}, with copies");
            found.push(Candidate { name, partition: copied, estimate, left: f64::INFINITY });
        }
    };
    for (name, start) in starts {
        add(name.clone(), &start, &mut found);
        let mut improved = start;
        for _ in 0..4 {
            if !graph.pass(&mut improved, control)? {
                break;
            }
        }
        add(format!("{name}, improved"), &improved, &mut found);
    }
    found.sort_by(|one, other| one.estimate.total_cmp(&other.estimate));
    Ok(found)
}

/// Summands that look at a parameter and change others.
fn self_reads(graph: &Graph, slot: usize) -> usize {
    let looks = |edge: &&usize| {
        let edge = &graph.edges[**edge];
        !edge.changed.contains(&slot) && !edge.changed.is_empty()
    };
    graph.at[slot].iter().filter(looks).count()
}

/// Chooses a partition and takes the model apart by it.
pub fn choose(original: &Arc<Model>, freedom: &Freedom<'_>, control: &Control) -> Result<Choice, Undone> {
    let linear = original.linear();
    let mut report = Vec::new();
    if linear.parameters.len() < 2 {
        report.push("the process has fewer than two parameters".to_string());
        return Ok(Choice { decomposition: None, report });
    }
    let sampled = sample(original, control).map_err(Undone::Cut)?;
    let graph = Graph::new(linear, &sampled);
    let mut left = candidates(linear, &graph, control).map_err(Undone::Cut)?;
    left.truncate(MEASURED);
    for limit in ROUNDS {
        let mut best: Option<(usize, Decomposition, String)> = None;
        for candidate in &mut left {
            let limits = Limits { states: limit, work: limit as u64 * WORK };
            let sizes = format!("{} ({} parts)", candidate.name, candidate.partition.len());
            match bounded(original, &candidate.partition, freedom, (limits, limit), control) {
                Ok(made) => {
                    let peak = made.peak_states();
                    report.push(format!("{sizes}: peak {peak} states"));
                    if best.as_ref().is_none_or(|(known, ..)| peak < *known) {
                        best = Some((peak, made, sizes));
                    }
                }
                Err(Unbuilt::Limit(bits)) => {
                    candidate.left = bits;
                    report.push(format!("{sizes}: more than {limit} states"));
                }
                Err(Unbuilt::Undone(Undone::Cut(cut @ (Cut::Stopped | Cut::Outgrown | Cut::Enough)))) => {
                    return Err(Undone::Cut(cut));
                }
                Err(Unbuilt::Undone(Undone::Cut(Cut::Wrong(wrong) | Cut::Beyond(wrong)))) => {
                    report.push(format!("{sizes}: {}", wrong.message));
                }
                Err(Unbuilt::Undone(Undone::Refused(why))) => report.push(format!("{sizes}: {why}")),
            }
        }
        if let Some((peak, made, name)) = best {
            let large = if sampled.complete {
                sampled.rows.len() >= 2 * peak
            } else {
                sampled.rows.len() >= 2 * peak || has_states(original, 2 * peak, control).map_err(Undone::Cut)?
            };
            if large {
                report.push(format!("chosen: {name}"));
                return Ok(Choice { decomposition: Some(made), report });
            }
            report.push(format!("no partition halves the state space: the smallest peak is {peak} states"));
            return Ok(Choice { decomposition: None, report });
        }
        // The sort is stable: candidates that came equally far stand in the order of their estimates.
        left.sort_by(|one, other| one.left.total_cmp(&other.left));
        let half = left.len().div_ceil(2);
        left.truncate(half);
    }
    report.push(format!("no partition has parts and compositions of at most {} states", ROUNDS[ROUNDS.len() - 1]));
    Ok(Choice { decomposition: None, report })
}

/// Whether a model has at least so many states.
fn has_states(model: &Model, least: usize, control: &Control) -> Result<bool, Cut> {
    let mut explorer = model.explorer(control);
    let mut pending = vec![model.initial(control)?];
    let mut known: HashSet<Vec<Value>> = pending.iter().cloned().collect();
    while let Some(row) = pending.pop() {
        if known.len() >= least {
            return Ok(true);
        }
        control.check()?;
        match explorer.successors(&row, &mut |step| {
            if known.insert(step.row.to_vec()) {
                pending.push(step.row.to_vec());
            }
            Ok(())
        }) {
            Ok(()) | Err(Cut::Wrong(_) | Cut::Beyond(_) | Cut::Outgrown) => {}
            Err(cut) => return Err(cut),
        }
    }
    Ok(known.len() >= least)
}
