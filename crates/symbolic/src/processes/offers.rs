//! Which states offer which events, and which refuse more than a specification allows.
//!
//! A state that has no silent step is stable and accepts what it offers. The specification allows that after a trace
//! when one of the minimal acceptances of its node is inside it. So for each label `a` the states that offer it
//! (`pre_a` of all states) are enough: a stable state is allowed when some acceptance `A` of its node has all of its
//! labels among those that the state offers, that is when it is in the intersection of `pre_a` for `a` in `A`.
//!
//! What a group offers depends on the slots that it reads alone; it is learned once for each combination of their
//! values in a stable state, as relations are ([`crate::learned`]), but by label and without the node.
//!
//! Cost: for each family of acceptances that occurs, a filter for each label of its sets and each group with it.

use std::collections::BTreeMap;

use trefoil_diagrams::{Set, Slots};
use trefoil_lts::{AcceptanceId, NodeId};
use trefoil_system::{Cut, Explorer, LabelId, Value, Visibility};

use super::beside::Beside;
use crate::space::Space;

/// What the groups of an implementation offer.
pub(crate) struct Offers<'b> {
    beside: &'b Beside<'b>,
    explorer: Box<dyn Explorer + 'b>,
    groups: Vec<Offering>,
    /// Where the node is.
    node: usize,
}

/// What one group offers.
struct Offering {
    /// Its number in the implementation.
    group: usize,
    /// The positions of the slots that it reads, ascending.
    positions: Vec<usize>,
    /// For each slot that it reads, ascending, where its value is in a projection.
    read_at: Vec<usize>,
    slots: Slots,
    known: Set,
    by_label: BTreeMap<LabelId, Set>,
}

impl<'b> Offers<'b> {
    pub(crate) fn new<'s: 'b>(beside: &'b Beside<'b>, space: &Space<'s>) -> Result<Offers<'b>, Cut> {
        let place = space.places();
        let visible = |&index: &usize| beside.implementation().groups()[index].visibility != Visibility::Silent;
        let mut groups = Vec::new();
        for index in (0..beside.own().len()).filter(visible) {
            let inputs: Vec<usize> = beside.own()[index].inputs.iter().map(|slot| slot + beside.offset()).collect();
            let mut positions: Vec<usize> = inputs.iter().map(|&slot| place[slot]).collect();
            positions.sort_unstable();
            let read_at = inputs.iter().map(|&slot| positions.partition_point(|&at| at < place[slot])).collect();
            groups.push(Offering {
                group: index,
                read_at,
                slots: space.diagrams.slots(&positions)?,
                positions,
                known: space.diagrams.empty(),
                by_label: BTreeMap::new(),
            });
        }
        Ok(Offers { beside, explorer: beside.implementation().explorer(space.control), groups, node: place[0] })
    }

    /// The states among these that refuse more than the specification allows. All bundles have learned from them.
    pub(crate) fn refusing(&mut self, space: &Space<'_>, states: &Set) -> Result<Set, Cut> {
        let diagrams = &space.diagrams;
        let mut stable = states.clone();
        for bundle in space.bundles.iter().filter(|bundle| bundle.visibility() == Visibility::Silent) {
            stable = diagrams.difference(&stable, &bundle.enabled(&stable, diagrams)?)?;
        }
        let Some(normal_form) = self.beside.specification().filter(|_| !stable.is_empty()) else {
            return Ok(diagrams.empty());
        };
        self.learn(space, &stable)?;
        let nodes = diagrams.project(&stable, &diagrams.slots(&[self.node])?)?;
        let mut families: BTreeMap<Vec<AcceptanceId>, Vec<Vec<Value>>> = BTreeMap::new();
        for node in diagrams.rows(&nodes) {
            space.control.check()?;
            families.entry(normal_form.family(NodeId(node[0])).to_vec()).or_default().push(node);
        }
        let mut refusing = diagrams.empty();
        for (family, nodes) in families {
            let nodes = diagrams.rows_of(nodes.iter().map(Vec::as_slice))?;
            let mut left = diagrams.image(&stable, &diagrams.filter(&[self.node], &nodes)?)?;
            for acceptance in family {
                if left.is_empty() {
                    break;
                }
                let mut allowed = left.clone();
                for label in normal_form.acceptances().labels(acceptance) {
                    allowed = self.offering(space, &allowed, label)?;
                    if allowed.is_empty() {
                        break;
                    }
                }
                left = diagrams.difference(&left, &allowed)?;
            }
            refusing = diagrams.union(&refusing, &left)?;
        }
        Ok(refusing)
    }

    /// The states among these that offer an event.
    fn offering(&self, space: &Space<'_>, states: &Set, label: LabelId) -> Result<Set, Cut> {
        let diagrams = &space.diagrams;
        let mut all = diagrams.empty();
        for group in &self.groups {
            if let Some(rows) = group.by_label.get(&label) {
                let found = diagrams.image(states, &diagrams.filter(&group.positions, rows)?)?;
                all = diagrams.union(&all, &found)?;
            }
        }
        Ok(all)
    }

    fn learn(&mut self, space: &Space<'_>, states: &Set) -> Result<(), Cut> {
        let diagrams = &space.diagrams;
        let mut values = Vec::new();
        for offering in &mut self.groups {
            let met = diagrams.project(states, &offering.slots)?;
            let fresh = diagrams.difference(&met, &offering.known)?;
            let mut new: BTreeMap<LabelId, Vec<Vec<Value>>> = BTreeMap::new();
            for row in diagrams.rows(&fresh) {
                space.control.check()?;
                values.clear();
                values.extend(offering.read_at.iter().map(|&at| row[at]));
                self.explorer.local_successors(&self.beside.own()[offering.group], &values, &mut |step| {
                    if step.label.is_visible() {
                        let rows = new.entry(step.label).or_default();
                        if rows.last() != Some(&row) {
                            rows.push(row.clone());
                        }
                    }
                    Ok(())
                })?;
            }
            for (label, rows) in new {
                let rows = diagrams.rows_of(rows.iter().map(Vec::as_slice))?;
                let known = offering.by_label.entry(label).or_insert_with(|| diagrams.empty());
                *known = diagrams.union(known, &rows)?;
            }
            offering.known = diagrams.union(&offering.known, &fresh)?;
        }
        Ok(())
    }
}
