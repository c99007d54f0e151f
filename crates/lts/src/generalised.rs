//! Generalised labelled transition systems: states that stand for several states of an original.
//!
//! Compressing or normalising a system merges states and eliminates `τ`, and with it the information about refusals and
//! divergence that the transitions carried. A generalised system keeps that information: for each state the *minimal
//! acceptances*, the least sets of labels that one of its constituents stably accepts, and whether it can diverge. This
//! is definition 54 of Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking* (2019); an ordinary system
//! is one of these by their lemma 55 ([`Glts::from_lts`]).
//!
//! Many states share few acceptances. A set of labels is stored once, a family of sets is stored once as numbers of
//! sets, and a state holds the number of its family: 4 bytes and a flag a state.

use std::any::Any;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::{
    Cut, Explorer, Group, LabelId, Labels, Layout, Observation, Observations, Sink, StateId, System, Value, Walk,
};

use crate::divergence::diverging_states;
use crate::explicit::Lts;
use crate::interner::SliceTable;

/// The number of a set of labels in a table of acceptances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AcceptanceId(pub u32);

/// The number of a family of acceptances, none of them inside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FamilyId(pub u32);

/// Sets of labels and families of such sets, each stored once.
#[derive(Clone, Debug)]
pub struct Acceptances {
    sets: SliceTable,
    families: SliceTable,
}

impl Default for Acceptances {
    fn default() -> Self {
        Acceptances::new()
    }
}

impl Acceptances {
    /// A table with the empty family.
    pub fn new() -> Acceptances {
        let mut acceptances = Acceptances { sets: SliceTable::default(), families: SliceTable::default() };
        assert_eq!(acceptances.families.intern(&[], &Control::unlimited()), Ok(Acceptances::NONE.0));
        acceptances
    }

    /// The family of a state that accepts nothing stably: the empty one.
    pub const NONE: FamilyId = FamilyId(0);

    /// The number of a set of labels, given ascending and without repetition.
    pub fn set(&mut self, labels: &[LabelId], control: &Control) -> Result<AcceptanceId, Stopped> {
        debug_assert!(labels.is_sorted_by(|a, b| a < b));
        let numbers: Vec<u32> = labels.iter().map(|label| label.0).collect();
        self.sets.intern(&numbers, control).map(AcceptanceId)
    }

    /// The number of the family of the least among these sets.
    pub fn family(&mut self, mut sets: Vec<AcceptanceId>, control: &Control) -> Result<FamilyId, Stopped> {
        self.keep_minimal(&mut sets);
        self.family_of(&sets, control)
    }

    /// Removes repetitions and every set that contains another one.
    pub fn keep_minimal(&self, sets: &mut Vec<AcceptanceId>) {
        sets.sort_unstable();
        sets.dedup();
        if sets.len() < 2 {
            return;
        }
        let all = sets.clone();
        sets.retain(|&set| !all.iter().any(|&other| other != set && self.is_inside(other, set)));
    }

    /// Removes repetitions and every set each of whose labels is in a smaller one, so that of the sets with a label the
    /// least remain; the empty set remains. What a set of labels is the union of is then the same as before.
    pub fn keep_minimal_with_each_label(&self, sets: &mut Vec<AcceptanceId>) {
        sets.sort_unstable();
        sets.dedup();
        if sets.len() < 2 {
            return;
        }
        let all = sets.clone();
        sets.retain(|&set| {
            let inside: Vec<AcceptanceId> =
                all.iter().copied().filter(|&other| other != set && self.is_inside(other, set)).collect();
            let labels = self.sets.get(set.0);
            labels.is_empty() || labels.iter().any(|&label| !inside.iter().any(|&other| self.contains(other, label)))
        });
    }

    fn contains(&self, set: AcceptanceId, label: u32) -> bool {
        self.sets.get(set.0).binary_search(&label).is_ok()
    }

    /// The number of the family of exactly these sets, given ascending and without repetition.
    pub(crate) fn family_of(&mut self, sets: &[AcceptanceId], control: &Control) -> Result<FamilyId, Stopped> {
        debug_assert!(sets.is_sorted_by(|a, b| a < b));
        let numbers: Vec<u32> = sets.iter().map(|set| set.0).collect();
        self.families.intern(&numbers, control).map(FamilyId)
    }

    fn is_inside(&self, inner: AcceptanceId, outer: AcceptanceId) -> bool {
        let (inner, outer) = (self.sets.get(inner.0), self.sets.get(outer.0));
        inner.len() <= outer.len() && inner.iter().all(|label| outer.binary_search(label).is_ok())
    }

    /// The sets of a family.
    pub fn sets(&self, family: FamilyId) -> impl Iterator<Item = AcceptanceId> + '_ {
        self.families.get(family.0).iter().map(|&set| AcceptanceId(set))
    }

    /// The labels of a set, ascending.
    pub fn labels(&self, set: AcceptanceId) -> impl Iterator<Item = LabelId> + '_ {
        self.sets.get(set.0).iter().map(|&label| LabelId(label))
    }
}

/// A generalised labelled transition system.
#[derive(Clone, Debug)]
pub struct Glts {
    lts: Lts,
    acceptances: Acceptances,
    families: Vec<FamilyId>,
    diverging: Vec<bool>,
}

impl Glts {
    /// A system from its parts; families and divergence have one entry a state.
    pub fn new(lts: Lts, acceptances: Acceptances, families: Vec<FamilyId>, diverging: Vec<bool>) -> Glts {
        assert_eq!(families.len(), lts.state_count(), "every state has a family of acceptances");
        assert_eq!(diverging.len(), lts.state_count(), "every state says whether it diverges");
        Glts { lts, acceptances, families, diverging }
    }

    /// An ordinary system, seen as a generalised one.
    pub fn from_lts(lts: Lts, control: &Control) -> Result<Glts, Stopped> {
        let diverging = diverging_states(&lts, control)?;
        let (acceptances, families) = stable_acceptances(&lts, control)?;
        Ok(Glts::new(lts, acceptances, families, diverging))
    }

    /// Its transitions.
    pub fn lts(&self) -> &Lts {
        &self.lts
    }

    /// The table of its acceptances.
    pub fn acceptances(&self) -> &Acceptances {
        &self.acceptances
    }

    /// The minimal acceptances of a state.
    pub fn family(&self, state: StateId) -> FamilyId {
        self.families[state.index()]
    }

    /// Can the state diverge?
    pub fn diverges(&self, state: StateId) -> bool {
        self.diverging[state.index()]
    }
}

/// A stable state accepts what it offers; another one accepts nothing.
pub(crate) fn stable_acceptances(lts: &Lts, control: &Control) -> Result<(Acceptances, Vec<FamilyId>), Stopped> {
    control.afford(lts.state_count() * size_of::<FamilyId>())?;
    let mut acceptances = Acceptances::new();
    let mut families = Vec::with_capacity(lts.state_count());
    let mut offered = Vec::new();
    for state in lts.states() {
        if state.0.is_multiple_of(4096) {
            control.check()?;
        }
        let steps = lts.outgoing(state);
        if steps.iter().any(|step| step.label == LabelId::TAU) {
            families.push(Acceptances::NONE);
            continue;
        }
        offered.clear();
        offered.extend(steps.iter().map(|step| step.label));
        offered.sort_unstable();
        offered.dedup();
        let set = acceptances.set(&offered, control)?;
        families.push(acceptances.family(vec![set], control)?);
    }
    Ok((acceptances, families))
}

impl System for Glts {
    fn layout(&self) -> &Layout {
        System::layout(&self.lts)
    }

    fn labels(&self) -> &Arc<Labels> {
        self.lts.labels()
    }

    fn groups(&self) -> &[Group] {
        System::groups(&self.lts)
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        System::initial(&self.lts, control)
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(GltsExplorer { glts: self, steps: self.lts.explorer(control) })
    }

    fn observations(&self) -> Observations {
        Observations::Explicit
    }

    fn in_memory(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn describe(&self, row: &[Value]) -> String {
        self.lts.describe(row)
    }
}

struct GltsExplorer<'a> {
    glts: &'a Glts,
    steps: Box<dyn Explorer + 'a>,
}

impl Explorer for GltsExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.steps.successors(row, sink)
    }

    fn observe(&mut self, row: &[Value]) -> Result<Observation, Cut> {
        let state = StateId(row[0]);
        let table = &self.glts.acceptances;
        let acceptances = table.sets(self.glts.family(state)).map(|set| table.labels(set).collect()).collect();
        Ok(Observation { acceptances, diverges: self.glts.diverges(state) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explicit::LtsBuilder;

    #[test]
    fn an_ordinary_system_observes_its_transitions() {
        let labels = Arc::new(Labels::new());
        let (a, b) = (labels.name("a"), labels.name("b"));
        let mut builder = LtsBuilder::new(labels);
        builder.add(StateId(0), b, StateId(1)).add(StateId(0), a, StateId(1)).add(StateId(0), a, StateId(0));
        builder.add(StateId(1), LabelId::TAU, StateId(1)).add(StateId(1), a, StateId(2));
        let glts = Glts::from_lts(builder.build(StateId(0)), &Control::unlimited()).unwrap();
        let control = Control::unlimited();
        let mut explorer = glts.explorer(&control);
        assert_eq!(explorer.observe(&[0]), Ok(Observation { acceptances: vec![vec![a, b]], diverges: false }));
        assert_eq!(explorer.observe(&[1]), Ok(Observation { acceptances: vec![], diverges: true }));
        assert_eq!(explorer.observe(&[2]), Ok(Observation { acceptances: vec![vec![]], diverges: false }));
    }

    #[test]
    fn the_least_sets_with_each_label_are_kept() {
        let labels = Labels::new();
        let (a, b, c) = (labels.name("a"), labels.name("b"), labels.name("c"));
        let (mut table, control) = (Acceptances::new(), Control::unlimited());
        let mut kept = |sets: &[&[LabelId]]| -> Vec<Vec<LabelId>> {
            let mut sets: Vec<AcceptanceId> = sets.iter().map(|set| table.set(set, &control).unwrap()).collect();
            table.keep_minimal_with_each_label(&mut sets);
            sets.iter().map(|&set| table.labels(set).collect()).collect()
        };
        assert_eq!(kept(&[&[a], &[a, b], &[a]]), [vec![a], vec![a, b]], "the only set with b");
        assert_eq!(kept(&[&[a], &[b], &[a, b]]), [vec![a], vec![b]], "the union of the others");
        assert_eq!(kept(&[&[], &[a, b, c], &[a, b], &[b, c]]), [vec![a, b], vec![], vec![b, c]]);
    }

    #[test]
    fn a_family_keeps_the_least_sets() {
        let labels = Labels::new();
        let (a, b, c) = (labels.name("a"), labels.name("b"), labels.name("c"));
        let (mut table, control) = (Acceptances::new(), Control::unlimited());
        let sets = vec![
            table.set(&[a, b], &control).unwrap(),
            table.set(&[a, c], &control).unwrap(),
            table.set(&[b], &control).unwrap(),
            table.set(&[a, b, c], &control).unwrap(),
        ];
        let family = table.family(sets, &control).unwrap();
        let found: Vec<Vec<LabelId>> = table.sets(family).map(|set| table.labels(set).collect()).collect();
        assert_eq!(found, [vec![a, c], vec![b]]);
        let anything = table.set(&[], &control).unwrap();
        let sets = vec![table.set(&[b], &control).unwrap(), anything];
        let family = table.family(sets, &control).unwrap();
        assert!(table.sets(family).eq([anything]));
    }
}
