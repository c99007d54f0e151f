//! Choosing a partition.
//!
//! The state space is sampled ([`sample`]). A partition is judged in two ways.
//!
//! *Estimated*, from the expressions of the summands and the numbers of values alone ([`estimate`]): the bits of its
//! largest part, and of what its parts have to exchange.
//!
//! *Measured*: the parts are explored and composed with at most 10^3, then 10^4, then 10^5 states each. In the first
//! round the smallest peak wins, and a candidate is given up as soon as it is larger than the best so far. In the
//! others, which take long, the first one that fits wins: candidates stand in the order of what they left in the round
//! before, the combinations of states of the components when a composition became too large. Half of them are dropped
//! after each round. A candidate is taken apart and compiled once, for all rounds.
//! A two-way minimum cut would not do: it splits off one parameter and leaves the rest whole.
//!
//! Candidates, each as it is and improved by passes: the processes that the model was written with; control against
//! data; each parameter alone; parameters that many summands read against each other one alone; greedy merging. A
//! parameter is copied into a part when that makes more summands independent than it makes synchronised.
//!
//! Invariants: all limits are counts, so that the choice depends on the input alone. The one candidate in which all
//! parameters are together is never offered.
//!
//! Cost: the sample, the passes, and the measured runs.

mod estimate;
mod sample;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use trefoil_control::{Control, counted};
use trefoil_system::Cut;

use super::explore::Limits;
use super::invariants::{self, Invariants};
use super::{Decomposition, Freedom, Partition, TakenApart, Unbuilt, Undone};
use crate::linear::LinearProcess;
use crate::system::Model;
use estimate::Graph;
pub(super) use sample::Sample;

/// Candidates that are measured.
const MEASURED: usize = 8;

/// States of a part or a composition in the rounds of measuring.
const ROUNDS: [usize; 3] = [1_000, 10_000, 100_000];

/// Evaluations of halves for each state that is allowed.
const WORK: u64 = 100;

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
    /// Its parts, compiled, once it was measured.
    taken: Option<TakenApart>,
    /// Bits of the combinations of the components that were left when it was last given up.
    left: f64,
}

impl Candidate {
    /// Explores and composes its parts with so many states at most.
    fn measured(
        &mut self,
        original: &Arc<Model>,
        (freedom, invariants): (&Freedom<'_>, Option<&Arc<Invariants>>),
        most: usize,
        control: &Control,
    ) -> Result<Decomposition, Unbuilt> {
        let taken = match &mut self.taken {
            Some(taken) => taken,
            none => {
                none.insert(TakenApart::new(original, &self.partition, invariants, control).map_err(Unbuilt::Undone)?)
            }
        };
        let limits = Limits { states: most, work: most as u64 * WORK };
        taken.composed(freedom, limits, most, control)
    }
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
    let looked: Vec<usize> = (0..count).map(|slot| graph.looks(slot)).collect();
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
            found.push(Candidate { name: name.clone(), partition, estimate, taken: None, left: f64::INFINITY });
        }
        if copied.len() > 1 && met.insert(copied.clone()) {
            let name = format!("{name}, with copies");
            found.push(Candidate { name, partition: copied, estimate, taken: None, left: f64::INFINITY });
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

/// Chooses a partition and takes the model apart by it. Where no partition is worth it, invariants are looked for, and
/// it is tried again with them.
pub fn choose(original: &Arc<Model>, freedom: &Freedom<'_>, control: &Control) -> Result<Choice, Undone> {
    let linear = original.linear();
    if linear.parameters.len() < 2 {
        let report = vec!["the process has fewer than two parameters".to_string()];
        return Ok(Choice { decomposition: None, report });
    }
    let mut sample = Sample::new(original, control).map_err(Undone::Cut)?;
    let graph = Graph::new(linear, &sample.values());
    let mut report = Vec::new();
    let found = match freedom.invariants {
        Some(written) => Some(Arc::new(invariants::find(original, &sample, written, control)?)),
        None => None,
    };
    let chosen = measured(original, (freedom, found.as_ref()), &graph, &mut sample, &mut report, control)?;
    if chosen.is_some() || found.is_some() {
        return Ok(Choice { decomposition: chosen, report });
    }
    let found = Arc::new(invariants::find(original, &sample, &[], control)?);
    if found.words.is_empty() {
        return Ok(Choice { decomposition: None, report });
    }
    let mut again = vec![format!("with {}:", counted(found.words.len() as u64, "invariant"))];
    let chosen = measured(original, (freedom, Some(&found)), &graph, &mut sample, &mut again, control)?;
    if chosen.is_some() {
        report.append(&mut again);
    }
    Ok(Choice { decomposition: chosen, report })
}

/// The best of the candidates; none where no partition is worth it.
fn measured(
    original: &Arc<Model>,
    (freedom, invariants): (&Freedom<'_>, Option<&Arc<Invariants>>),
    graph: &Graph,
    sample: &mut Sample,
    report: &mut Vec<String>,
    control: &Control,
) -> Result<Option<Decomposition>, Undone> {
    let mut left = candidates(original.linear(), graph, control).map_err(Undone::Cut)?;
    left.truncate(MEASURED);
    // A partition that does not halve a state space which is known is not worth a second look.
    let half = sample.is_complete().then(|| sample.count() / 2);
    let mut failed: Option<String> = None;
    for limit in ROUNDS {
        let is_last = half.is_some_and(|half| half <= limit);
        let limit = half.map_or(limit, |half| half.min(limit));
        if left.is_empty() || limit == 0 {
            break;
        }
        let mut dropped: BTreeSet<usize> = BTreeSet::new();
        let mut best: Option<(usize, Decomposition, String)> = None;
        for (place, candidate) in left.iter_mut().enumerate() {
            let most = match &best {
                // The order is that of what was left: another one is hardly worth the time.
                Some(_) if limit > ROUNDS[0] => break,
                Some((peak, ..)) => peak - 1,
                None => limit,
            };
            let sizes = format!("{} ({} parts)", candidate.name, candidate.partition.len());
            match candidate.measured(original, (freedom, invariants), most, control) {
                Ok(made) => {
                    let peak = made.peak_states();
                    report.push(format!("{sizes}: peak {}", counted(peak as u64, "state")));
                    if best.as_ref().is_none_or(|(known, ..)| peak < *known) {
                        best = Some((peak, made, sizes));
                    }
                }
                Err(Unbuilt::Limit(bits)) => {
                    candidate.left = bits;
                    report.push(format!("{sizes}: more than {}", counted(most as u64, "state")));
                }
                Err(Unbuilt::Undone(Undone::Cut(cut @ (Cut::Stopped | Cut::Outgrown | Cut::Enough)))) => {
                    return Err(Undone::Cut(cut));
                }
                Err(Unbuilt::Undone(Undone::Cut(Cut::Wrong(wrong) | Cut::Beyond(wrong)))) => {
                    dropped.insert(place);
                    report.push(format!("{sizes}: {}", wrong.message));
                    failed = Some(wrong.message);
                }
                Err(Unbuilt::Undone(Undone::Refused(why))) => {
                    dropped.insert(place);
                    report.push(format!("{sizes}: {why}"));
                    failed = Some(why);
                }
            }
        }
        if let Some((peak, made, name)) = best {
            if sample.reaches(2 * peak, original, control).map_err(Undone::Cut)? {
                report.push(format!("chosen: {name}"));
                return Ok(Some(made));
            }
            report.push(format!(
                "no partition halves the state space: the smallest peak is {}",
                counted(peak as u64, "state")
            ));
            return Ok(None);
        }
        let mut place = 0..;
        left.retain(|_| place.next().is_some_and(|place| !dropped.contains(&place)));
        if is_last {
            break;
        }
        // The sort is stable: candidates that came equally far stand in the order of their estimates.
        left.sort_by(|one, other| one.left.total_cmp(&other.left));
        let kept = left.len().div_ceil(2);
        left.truncate(kept);
    }
    report.push(match (failed, half) {
        (Some(why), _) if left.is_empty() => format!("no partition can be used: {why}"),
        (_, Some(_)) => format!("no partition halves the state space of {}", counted(sample.count() as u64, "state")),
        (_, None) => {
            let most = counted(ROUNDS[ROUNDS.len() - 1] as u64, "state");
            format!("no partition has parts and compositions of at most {most}")
        }
    });
    Ok(None)
}
