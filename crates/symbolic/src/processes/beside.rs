//! An implementation beside the node of a specification, with groups that a diagram can use.
//!
//! The slots are those of the implementation; a refinement has one more, the first, with the node of the
//! specification's normal form. Every group of the implementation becomes up to two groups, one of its silent and one
//! of its visible steps. Silent steps do not touch the node, so that most groups of a network stay as small as they
//! were; visible steps read the node and move it on.
//!
//! Where we depart from the product that explicit search goes through: a step after which the specification allows
//! everything (chaos), and a step that it forbids, lead back to where they begin. They carry codes in place of their
//! labels, which are those of errors ([`System::error`]): what they show is known from the relations without a state
//! behind them, and no state is reached where silent steps would have to stop. The states are thus the pairs that
//! explicit search counts, and the steps are as many.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::{LazyNormalForm, NodeId, Scratch};
use trefoil_system::{
    Change, Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, LocalGroup, LocalSink, LocalStep, Mark, Sink, Slot,
    SlotSet, Step, System, Value, Visibility, Walk, Written,
};

/// The kind of error that a step shows which the specification does not have.
pub(crate) const FORBIDDEN: u32 = 1;
/// The kind of a step after which the specification diverges.
pub(crate) const CHAOTIC: u32 = 2;

/// A system beside a specification, or alone, whose groups have either silent or visible steps.
pub struct Beside<'a> {
    specification: Option<&'a LazyNormalForm>,
    implementation: &'a dyn System,
    /// How many labels there are: labels from here on are codes.
    labels: u32,
    layout: Layout,
    groups: Vec<Group>,
    /// For each group, that of the implementation.
    of: Vec<usize>,
    own: Vec<LocalGroup>,
    /// For each group of the implementation, those of its silent and of its visible steps.
    parted: Vec<[Option<GroupId>; 2]>,
}

impl<'a> Beside<'a> {
    /// The system beside this normal form, or alone.
    pub fn new(
        specification: Option<&'a LazyNormalForm>,
        implementation: &'a dyn System,
        control: &Control,
    ) -> Result<Beside<'a>, Cut> {
        let offset = usize::from(specification.is_some());
        let node = specification.map(|_| Slot::word("specification"));
        let slots = node.into_iter().chain(implementation.layout().slots().iter().cloned()).collect();
        let shifted = |slots: &SlotSet| -> SlotSet { slots.iter().map(|slot| slot + offset).collect() };
        let with_node = |slots: &SlotSet| -> SlotSet { (0..offset).chain(shifted(slots).iter()).collect() };
        let (mut groups, mut of, mut parted) = (Vec::new(), Vec::new(), Vec::new());
        for (index, group) in implementation.groups().iter().enumerate() {
            let mut parts = [None; 2];
            for (part, visibility) in parts.iter_mut().zip([Visibility::Silent, Visibility::Visible]) {
                if group.visibility != Visibility::Mixed && group.visibility != visibility {
                    continue;
                }
                *part = Some(GroupId(groups.len() as u32));
                let moves_node = visibility == Visibility::Visible && specification.is_some();
                let name = group.name.clone();
                groups.push(match moves_node {
                    // A step that the specification forbids does not write what others must.
                    true => Group {
                        name,
                        guards: with_node(&group.guards),
                        reads: shifted(&group.reads),
                        may_write: with_node(&group.outputs()),
                        must_write: SlotSet::default(),
                        visibility,
                        last_resort: false,
                    },
                    false => Group {
                        name,
                        guards: shifted(&group.guards),
                        reads: shifted(&group.reads),
                        may_write: shifted(&group.may_write),
                        must_write: shifted(&group.must_write),
                        visibility,
                        last_resort: false,
                    },
                });
                of.push(index);
            }
            parted.push(parts);
        }
        Ok(Beside {
            specification,
            implementation,
            labels: implementation.labels().len() as u32,
            layout: Layout::new(slots),
            groups,
            of,
            own: LocalGroup::all(implementation, control)?,
            parted,
        })
    }

    /// The row of the implementation in a row.
    pub fn of_implementation<'r>(&self, row: &'r [Value]) -> &'r [Value] {
        &row[usize::from(self.specification.is_some())..]
    }

    /// The groups of the implementation.
    pub(crate) fn own(&self) -> &[LocalGroup] {
        &self.own
    }

    /// How many slots are before those of the implementation.
    pub(crate) fn offset(&self) -> usize {
        usize::from(self.specification.is_some())
    }

    /// The specification.
    pub(crate) fn specification(&self) -> Option<&'a LazyNormalForm> {
        self.specification
    }

    /// The implementation.
    pub(crate) fn implementation(&self) -> &'a dyn System {
        self.implementation
    }

    /// What becomes of a node by a visible step: the next node, and the label or its code.
    fn moved(
        &self,
        node: Value,
        label: LabelId,
        scratch: &mut Scratch,
        control: &Control,
    ) -> Result<(Option<Value>, LabelId), Cut> {
        let Some(normal_form) = self.specification else { return Ok((None, label)) };
        Ok(match normal_form.successor(NodeId(node), label, scratch, control)? {
            Some(NodeId::CHAOS) => (None, LabelId(label.0 + self.labels)),
            Some(next) => (Some(next.0), label),
            None => (None, LabelId(label.0 + 2 * self.labels)),
        })
    }
}

impl System for Beside<'_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        self.implementation.labels()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn marks(&self) -> &[Mark] {
        &[]
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        let node = self.specification.map(|normal_form| normal_form.initial().0);
        Ok(node.into_iter().chain(self.implementation.initial(control)?).collect())
    }

    fn explorer<'e>(&'e self, control: &'e Control) -> Box<dyn Explorer + 'e> {
        Box::new(BesideExplorer {
            beside: self,
            control,
            steps: self.implementation.explorer(control),
            scratch: Scratch::default(),
            row: Vec::new(),
            changes: Vec::new(),
            values: Vec::new(),
            written: Vec::new(),
        })
    }

    fn error(&self, label: LabelId) -> u32 {
        match label.0 / self.labels.max(1) {
            0 => 0,
            1 => CHAOTIC,
            _ => FORBIDDEN,
        }
    }

    fn first_error(&self) -> LabelId {
        LabelId(self.labels)
    }
}

struct BesideExplorer<'a> {
    beside: &'a Beside<'a>,
    control: &'a Control,
    steps: Box<dyn Explorer + 'a>,
    scratch: Scratch,
    row: Vec<Value>,
    changes: Vec<Change>,
    values: Vec<Value>,
    written: Vec<bool>,
}

impl Explorer for BesideExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let BesideExplorer { beside, control, steps, scratch, row: next, changes, .. } = self;
        let offset = beside.offset();
        steps.successors(&row[offset..], &mut |step| {
            let visible = step.label.is_visible();
            let group = beside.parted[step.group.index()][usize::from(visible)].expect("the group allows its labels");
            changes.clear();
            next.clear();
            next.extend_from_slice(row);
            let mut label = step.label;
            let mut leads_back = false;
            if visible && offset == 1 {
                changes.push((0, row[0]));
                let (node, code) = beside.moved(row[0], label, scratch, control)?;
                (label, leads_back) = (code, node.is_none());
                next[0] = node.unwrap_or(row[0]);
            }
            if !leads_back {
                next[offset..].copy_from_slice(step.row);
                let named = |&(slot, old): &Change| (slot + offset as u32, old);
                match step.written {
                    Written::Slots(slots) => {
                        changes.extend(slots.iter().filter(|(slot, _)| (*slot as usize) < step.row.len()).map(named));
                    }
                    Written::Group => {
                        let own = beside.own[step.group.index()].outputs.iter();
                        changes.extend(own.map(|slot| ((slot + offset) as u32, row[slot + offset])));
                    }
                }
            }
            sink(Step { group, label, row: next, written: Written::Slots(changes), class: 0, ..step })
        })
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        let BesideExplorer { beside, control, steps, scratch, values, written, .. } = self;
        let visibility = beside.groups[group.id.index()].visibility;
        let own = &beside.own[beside.of[group.id.index()]];
        let beside_node = beside.offset() == 1 && visibility == Visibility::Visible;
        let (node, own_reads) = if beside_node { (reads[0], &reads[1..]) } else { (0, reads) };
        steps.local_successors(own, own_reads, &mut |step| {
            if !visibility.allows(step.label) {
                return Ok(());
            }
            if !beside_node {
                return sink(step);
            }
            let (next, label) = beside.moved(node, step.label, scratch, control)?;
            values.clear();
            values.push(next.unwrap_or(node));
            values.extend_from_slice(step.values);
            written.clear();
            written.push(true);
            match next {
                Some(_) => written.extend_from_slice(step.written),
                None => written.resize(values.len(), false),
            }
            sink(LocalStep { label, values, written })
        })
    }
}
