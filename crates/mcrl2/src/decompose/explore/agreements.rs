//! Agreements: labels of halves that agree on their common columns, and what the original calls them.
//!
//! A new label of a half is joined with the labels that the other participants of its summands have so far. These are
//! looked up one participant after the other, by a hash of the columns that were fixed before it. A column whose value
//! is not known, because a condition is stuck, agrees with every value.
//!
//! Cost: for each new label the combinations that agree; each participant with a known key is one look-up.

use std::collections::{BTreeSet, HashMap};

use trefoil_system::{Label, LabelId, Part as LabelPart, Value, Walk};

use super::super::cleave::{Argument, Cleaved, Joint};
use super::{Exploring, Poison, UNKNOWN, Unexplored};

/// Labels of one participant by the columns that are fixed before it.
struct Step {
    place: usize,
    /// Columns that are fixed, as places in the joint's list and in the half's.
    fixed: Vec<(usize, usize)>,
    index: HashMap<Box<[Value]>, Vec<u32>, foldhash::fast::FixedState>,
    /// Labels with an unknown column among the fixed ones.
    wild: Vec<u32>,
}

pub(super) struct JointRun {
    /// The columns of all participants.
    columns: Vec<usize>,
    /// For each participant, where its columns are in the list.
    places: Vec<Vec<usize>>,
    /// For each participant with a new label, the order in which labels of the others are looked up.
    orders: Vec<Vec<Step>>,
    all: Vec<Vec<u32>>,
    visible: HashMap<Box<[Value]>, LabelId, foldhash::fast::FixedState>,
}

impl JointRun {
    pub(super) fn new(joint: &Joint, cleaved: &Cleaved) -> JointRun {
        let of = |half: usize| cleaved.halves[half].columns.iter().map(|column| column.slot);
        let columns: Vec<usize> =
            joint.halves.iter().flat_map(|&half| of(half)).collect::<BTreeSet<usize>>().into_iter().collect();
        let place = |slot: usize| columns.binary_search(&slot).unwrap_or(0);
        let places: Vec<Vec<usize>> = joint.halves.iter().map(|&half| of(half).map(place).collect()).collect();
        let orders = (0..joint.halves.len())
            .map(|start| {
                let mut fixed: BTreeSet<usize> = places[start].iter().copied().collect();
                let mut left: Vec<usize> = (0..joint.halves.len()).filter(|&place| place != start).collect();
                let mut order = Vec::new();
                while !left.is_empty() {
                    let agreed = |other: &usize| places[*other].iter().filter(|column| fixed.contains(column)).count();
                    let Some(at) = (0..left.len()).max_by_key(|&at| (agreed(&left[at]), usize::MAX - at)) else {
                        break;
                    };
                    let next = left.remove(at);
                    let known = places[next].iter().enumerate().filter(|(_, column)| fixed.contains(column));
                    let step = Step {
                        place: next,
                        fixed: known.map(|(own, &column)| (column, own)).collect(),
                        index: HashMap::default(),
                        wild: Vec::new(),
                    };
                    fixed.extend(places[next].iter().copied());
                    order.push(step);
                }
                order
            })
            .collect();
        JointRun { orders, all: vec![Vec::new(); places.len()], columns, places, visible: HashMap::default() }
    }
}

impl Exploring<'_> {
    /// Finds the agreements of a new label with those that are there.
    pub(super) fn join(&mut self, half: usize, label: u32) -> Result<(), Unexplored> {
        for at in 0..self.halves[half].joints.len() {
            let (joint, place) = self.halves[half].joints[at];
            self.index(joint, place, label);
            let mut bound = vec![None; self.joints[joint].columns.len()];
            let own = &self.joints[joint].places[place];
            for (&column, &value) in own.iter().zip(&self.known[label as usize].columns) {
                bound[column] = (value != UNKNOWN).then_some(value);
            }
            let mut found = Vec::new();
            let mut chosen = vec![(place, label)];
            self.agree(joint, place, 0, &mut bound, &mut chosen, &mut found).map_err(Unexplored::Cut)?;
            for (chosen, bound) in found {
                self.agreed(joint, chosen, &bound)?;
            }
        }
        Ok(())
    }

    /// Files a label under the columns that others will have fixed.
    fn index(&mut self, joint: usize, place: usize, label: u32) {
        let columns = &self.known[label as usize].columns;
        let run = &mut self.joints[joint];
        run.all[place].push(label);
        for order in &mut run.orders {
            let Some(step) = order.iter_mut().find(|step| step.place == place) else { continue };
            let key: Box<[Value]> = step.fixed.iter().map(|&(_, own)| columns[own]).collect();
            if key.contains(&UNKNOWN) {
                step.wild.push(label);
            } else {
                step.index.entry(key).or_default().push(label);
            }
        }
    }

    #[allow(clippy::type_complexity)]
    fn agree(
        &self,
        joint: usize,
        start: usize,
        depth: usize,
        bound: &mut Vec<Option<Value>>,
        chosen: &mut Vec<(usize, u32)>,
        found: &mut Vec<(Vec<(usize, u32)>, Vec<Option<Value>>)>,
    ) -> Walk {
        let run = &self.joints[joint];
        let Some(step) = run.orders[start].get(depth) else {
            if found.len().is_multiple_of(1024) {
                self.control.check()?;
            }
            found.push((chosen.clone(), bound.clone()));
            return Ok(());
        };
        let key: Option<Box<[Value]>> = step.fixed.iter().map(|&(column, _)| bound[column]).collect();
        let candidates: Vec<u32> = match key {
            Some(key) => step.index.get(&key).into_iter().flatten().chain(&step.wild).copied().collect(),
            None => run.all[step.place].clone(),
        };
        for label in candidates {
            let columns = &self.known[label as usize].columns;
            let own = &run.places[step.place];
            let differs = |(&column, &value): (&usize, &Value)| {
                value != UNKNOWN && bound[column].is_some_and(|known| known != value)
            };
            if own.iter().zip(columns).any(differs) {
                continue;
            }
            let before = bound.clone();
            for (&column, &value) in own.iter().zip(columns) {
                if value != UNKNOWN {
                    bound[column] = Some(value);
                }
            }
            chosen.push((step.place, label));
            self.agree(joint, start, depth + 1, bound, chosen, found)?;
            chosen.pop();
            *bound = before;
        }
        Ok(())
    }

    /// Notes an agreement; its labels lead on from now.
    fn agreed(&mut self, joint: usize, chosen: Vec<(usize, u32)>, bound: &[Option<Value>]) -> Result<(), Unexplored> {
        let stuck = chosen.iter().find_map(|&(_, label)| self.known[label as usize].stuck.clone());
        let label = match stuck {
            Some((exact, wrong)) => {
                let label = self.labels.name(&format!("@poison{}", self.poison.len()));
                let summand = self.cleaved.joints[joint].original;
                let is_same =
                    |known: &&Poison| known.exact == exact && known.summand == summand && known.wrong == wrong;
                match self.poison.iter().find(is_same) {
                    Some(known) => known.label,
                    None => {
                        self.poison.push(Poison { label, summand, exact, wrong });
                        label
                    }
                }
            }
            None => self.visible(joint, bound),
        };
        let halves = &self.cleaved.joints[joint].halves;
        let mut parts: Vec<(usize, u32)> =
            chosen.iter().map(|&(place, label)| (self.cleaved.halves[halves[place]].part, label)).collect();
        parts.sort_unstable();
        self.agreements.insert((parts, label));
        for (_, label) in chosen {
            let known = &mut self.known[label as usize];
            if !known.enabled {
                known.enabled = true;
                self.enabled.push(label);
            }
        }
        Ok(())
    }

    /// The label of a joint step.
    fn visible(&mut self, joint: usize, bound: &[Option<Value>]) -> LabelId {
        let known = &self.cleaved.joints[joint];
        let run = &self.joints[joint];
        let values: Box<[Value]> = known
            .arguments
            .iter()
            .map(|argument| match argument {
                Argument::Constant(_) => 0,
                Argument::Column(slot) => {
                    let place = run.columns.binary_search(slot).unwrap_or(0);
                    bound[place].unwrap_or(UNKNOWN)
                }
            })
            .collect();
        if let Some(&label) = run.visible.get(&values) {
            return label;
        }
        let label = self.label(joint, &values);
        self.joints[joint].visible.insert(values, label);
        label
    }

    fn label(&self, joint: usize, values: &[Value]) -> LabelId {
        let known = &self.cleaved.joints[joint];
        let process = &self.cleaved.process;
        let Some(actions) = &known.actions else { return LabelId::TICK };
        let mut rest = known.arguments.iter().zip(values);
        let parts = actions.iter().map(|(action, count)| {
            let arguments = rest.by_ref().take(*count).map(|(argument, &value)| match argument {
                Argument::Constant(id) => self.original.constant_text(*id).unwrap_or_default().into(),
                Argument::Column(slot) => self.model.value_text(*slot, value).into(),
            });
            let arguments = arguments.collect();
            let name = process.data.names.text(process.actions[action.0 as usize].name);
            LabelPart { name: name.into(), arguments }
        });
        let label = Label::bag(parts.collect());
        if actions.is_empty() || (self.hidden)(&label) { LabelId::TAU } else { self.labels.intern(label) }
    }
}
