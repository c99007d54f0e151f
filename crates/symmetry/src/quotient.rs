//! The quotient of a system by a group that acts on it: one state of each orbit.
//!
//! After Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*, 2019, section 3: the states are
//! representatives, and a representative has the steps of the state that it is, each target being replaced by its
//! representative. Labels are those of the representative's own steps, so what a state offers or accepts can be read
//! off it; along a path they are right up to the elements that were applied on the way, which [`Quotient::unwind`]
//! composes. The quotient is a system like any other, and engines do not know that they explore one.
//!
//! The system may be a product of specification and implementation, and the action one that moves both sides; then
//! pairs are canonicalised as pairs. The paper's definition 17 chooses the element by the implementation alone; an
//! action whose pictures leave the specification out does that here.
//!
//! Why it is right: for each element `g`, a step from `r` to `s` labelled `a` means one from `g(r)` to `g(s)` labelled
//! `g(a)` (the promise of [`Action`]). So every state is `g(r)` for some representative `r` that is found, at the same
//! distance, with the same events up to `g`, and nothing else is found. This does not require a strategy that gives one
//! representative for each orbit; with several, more states are explored.
//!
//! # Counting without visiting
//!
//! The orbit of a state has as many states as the group has elements, divided by those that keep the state. Exact
//! strategies count the latter with each representative. So each step of a quotient carries the class of its target by
//! how many elements keep it ([`Step::class`]), and a visitor that sees which steps find states ([`Tally`]) knows the
//! sizes of all orbits that were found: after a complete search their sum is the number of reachable states of the
//! system, provided that the group keeps the initial state.
//!
//! # Cuts
//!
//! A reduction that the control or the actor cuts ends the walk, and so does the sink; a walk leaves nothing in the
//! explorer that a later one reads: the picture, the twins and the kept representatives are those of the row that the
//! walk begins with.
//!
//! # Cost
//!
//! A picture for each state, and for each step what differs in its target's picture, its canonical form and one
//! application of an element ([`crate::reducer`]), except for steps that equal an earlier one up to symmetry
//! ([`crate::twins`]); nothing is allocated. A representative depends on all slots and a step may change them all, so
//! the groups of transitions say so.

use std::sync::{Arc, Mutex, PoisonError};

use trefoil_control::Control;
use trefoil_groups::{UBig, follow, invert_into};
use trefoil_system::{
    Action, Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Mark, MarkId, Observation, Observations, Sink,
    SlotSet, Step, System, Value, Walk, Written,
};

use crate::reducer::Reducer;
use crate::registry::Promise;
use crate::symmetry::Symmetry;
use crate::twins::{Likeness, Twins};
use crate::weights::{self, Classes, Remembered, Tally, UNCOUNTED};

/// Up to this many slots that a step names are compared with each other, as a slot may be named twice.
const FEW_CHANGES: usize = 24;

/// A system, one state of each orbit.
pub struct Quotient<'a> {
    pub(crate) system: &'a dyn System,
    action: &'a dyn Action,
    symmetry: &'a Symmetry,
    /// For each group of the system, the group of its steps here.
    group_of: Vec<GroupId>,
    /// For each group of the system, the slots that its steps may write, when these are few.
    writes: Vec<Option<Box<[u32]>>>,
    groups: Vec<Group>,
    initial: Vec<Value>,
    /// The element that carries the initial state to its representative.
    pub(crate) carried: Vec<u32>,
    counted: Option<Counted<'a>>,
    /// How many elements keep the initial state, if it counts.
    initial_stabiliser: Option<UBig>,
    classes: Mutex<Classes>,
}

/// Which rows are states that count.
type Counted<'a> = Box<dyn Fn(&[Value]) -> bool + Send + Sync + 'a>;

impl<'a> Quotient<'a> {
    /// The quotient of a system by the group of an action on it, which `symmetry` was prepared for. Panics when the two
    /// have different numbers of points.
    pub fn new(
        system: &'a dyn System,
        action: &'a dyn Action,
        symmetry: &'a Symmetry,
        control: &Control,
    ) -> Result<Quotient<'a>, Cut> {
        assert_eq!(action.points(), symmetry.group().degree(), "the group acts on the points of the action");
        let mut reducer = Reducer::new(action, symmetry, control);
        let first = system.initial(control)?;
        let reduced = reducer.reduce(&first)?;
        let (initial, mut carried) = (reduced.row.to_vec(), reduced.element.to_vec());
        let initial_stabiliser = reduced.stabiliser;
        if reducer.actor.stands_still(&first) {
            make_identity(&mut carried);
        }
        Ok(Quotient {
            system,
            action,
            symmetry,
            group_of: vec![GroupId(0); system.groups().len()],
            writes: system.groups().iter().map(|group| few_writes(group, system.layout().width())).collect(),
            groups: vec![group("steps".into(), system.layout().width())],
            initial,
            carried,
            counted: None,
            initial_stabiliser,
            classes: Mutex::default(),
        })
    }

    /// The system itself.
    pub fn system(&self) -> &'a dyn System {
        self.system
    }

    /// Gives the steps of one group of the system a group of their own, which is returned; all others are in group 0.
    pub fn tell_apart(&mut self, apart: GroupId) -> GroupId {
        let own = GroupId(self.groups.len() as u32);
        self.groups.push(group(self.system.groups()[apart.index()].name.clone(), self.system.layout().width()));
        self.group_of[apart.index()] = own;
        own
    }

    /// Counts the orbits of the states that satisfy the predicate, which holds for all of an orbit or none. Without
    /// this call, and with strategies that are not exact, no orbits are counted.
    pub fn count(&mut self, counted: impl Fn(&[Value]) -> bool + Send + Sync + 'a) {
        if self.symmetry.strategy().promise == Promise::Exact {
            if !counted(&self.initial) {
                self.initial_stabiliser = None;
            }
            self.counted = Some(Box::new(counted));
        }
    }

    /// How many states the representatives of a complete search stand for, by what found them; `None` when nothing is
    /// counted.
    pub fn total<'t>(&self, tallies: impl Iterator<Item = &'t Tally>) -> Option<UBig> {
        self.counted.as_ref()?;
        let classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        Some(weights::total(tallies, &classes, self.initial_stabiliser.as_ref(), &self.symmetry.order()))
    }

    /// The slots in which the row that a step of the system leads to differs from the one that it comes from.
    #[inline]
    fn changed<'b>(&self, step: &Step<'_>, from: &[Value], changed: &'b mut Vec<u32>) -> &'b [u32] {
        changed.clear();
        let mut compare = |slot: u32| {
            if from[slot as usize] != step.row[slot as usize] {
                changed.push(slot);
            }
        };
        match (step.written, &self.writes[step.group.index()]) {
            (Written::Slots(written), _) if written.len() <= FEW_CHANGES => {
                for (at, &(slot, _)) in written.iter().enumerate() {
                    if (slot as usize) < from.len() && written[..at].iter().all(|&(other, _)| other != slot) {
                        compare(slot);
                    }
                }
            }
            (_, Some(slots)) => slots.iter().copied().for_each(compare),
            (_, None) => (0..from.len() as u32).for_each(&mut compare),
        }
        let differing = from.iter().zip(step.row).filter(|(old, new)| old != new).count();
        debug_assert_eq!(differing, changed.len(), "a group writes what it does not declare");
        changed
    }

    fn class_of(&self, order: &UBig) -> u32 {
        self.classes.lock().unwrap_or_else(PoisonError::into_inner).of(order)
    }

    /// A worker that carries rows to representatives.
    pub(crate) fn reducer<'r>(&'r self, control: &'r Control) -> Reducer<'r> {
        Reducer::new(self.action, self.symmetry, control)
    }
}

impl System for Quotient<'_> {
    fn layout(&self) -> &Layout {
        self.system.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        self.system.labels()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn marks(&self) -> &[Mark] {
        self.system.marks()
    }

    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(self.initial.clone())
    }

    fn explorer<'e>(&'e self, control: &'e Control) -> Box<dyn Explorer + 'e> {
        Box::new(QuotientExplorer::new(self, control))
    }

    fn reducing_explorer<'e>(
        &'e self,
        control: &'e Control,
        visible: &[u32],
    ) -> Result<Box<dyn Explorer + 'e>, &'static str> {
        let steps = self.system.reducing_explorer(control, visible)?;
        Ok(Box::new(QuotientExplorer { steps, ..QuotientExplorer::new(self, control) }))
    }

    fn observations(&self) -> Observations {
        self.system.observations()
    }

    fn error(&self, label: LabelId) -> u32 {
        self.system.error(label)
    }

    fn first_error(&self) -> LabelId {
        self.system.first_error()
    }

    fn describe(&self, row: &[Value]) -> String {
        self.system.describe(row)
    }
}

/// A group of a quotient: representatives depend on every slot and may differ in all of them.
fn group(name: String, width: usize) -> Group {
    let all: SlotSet = (0..width).collect();
    Group { name, guards: all.clone(), may_write: all, ..Group::default() }
}

/// The slots that steps of a group may write, when these are few of all slots.
fn few_writes(group: &Group, width: usize) -> Option<Box<[u32]>> {
    let slots: Vec<u32> = group.outputs().iter().map(|slot| slot as u32).collect();
    (2 * slots.len() <= width).then(|| slots.into_boxed_slice())
}

/// Makes an element the identity.
pub(crate) fn make_identity(element: &mut [u32]) {
    element.iter_mut().zip(0..).for_each(|(image, point)| *image = point);
}

struct QuotientExplorer<'a> {
    quotient: &'a Quotient<'a>,
    steps: Box<dyn Explorer + 'a>,
    reducer: Reducer<'a>,
    remembered: Remembered,
    twins: Twins,
    /// The slots that a step changes.
    changed: Vec<u32>,
    /// The representatives that steps which are the first of their kind lead to, and their classes.
    kept: Vec<Value>,
    kept_classes: Vec<u32>,
    /// The elements that carried them there, behind the inverses of their permutations of twins.
    kept_elements: Vec<u32>,
    element: Vec<u32>,
}

/// A step of a quotient with its origin.
pub struct CarriedStep<'s> {
    /// The step.
    pub step: Step<'s>,
    /// Where it leads in the system.
    pub target: &'s [Value],
    /// An element that carries this to its representative.
    pub element: &'s [u32],
}

/// Takes a step, where it leads in the system, and the element that carries this to its representative.
type CarriedSink<'s> = dyn FnMut(Step<'_>, &[Value], &[u32]) -> Walk + 's;

/// The steps of representatives with the elements that lead on to representatives: as many steps as an explorer of the
/// quotient gives, in the same order, with the same targets.
pub struct CarryingExplorer<'a>(QuotientExplorer<'a>);

impl CarryingExplorer<'_> {
    /// The steps of a representative.
    pub fn steps(&mut self, row: &[Value], sink: &mut dyn FnMut(&CarriedStep<'_>) -> Walk) -> Walk {
        let mut carried =
            |step: Step<'_>, target: &[Value], element: &[u32]| sink(&CarriedStep { step, target, element });
        self.0.walk::<true>(row, Which::All, &mut carried).map(|_| ())
    }

    /// The image of an agent under an element.
    pub fn agent(&mut self, element: &[u32], agent: u32) -> u32 {
        self.0.reducer.actor.apply_to_agent(element, agent)
    }
}

impl<'a> Quotient<'a> {
    /// A worker that gives steps with their elements.
    pub fn carrying(&'a self, control: &'a Control) -> CarryingExplorer<'a> {
        let mut explorer = QuotientExplorer::new(self, control);
        explorer.twins.remembers = true;
        CarryingExplorer(explorer)
    }
}

/// An explorer of a quotient that adds up its work, in units that are the same in every run.
pub struct MeteredExplorer<'a>(QuotientExplorer<'a>);

impl MeteredExplorer<'_> {
    /// The steps of a representative.
    pub fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.0.successors(row, sink)
    }

    /// The work that all representatives took until now.
    pub fn work(&self) -> u64 {
        self.0.reducer.work.unwrap_or_default()
    }
}

impl<'a> Quotient<'a> {
    /// A worker that adds up its work.
    pub fn metered(&'a self, control: &'a Control) -> MeteredExplorer<'a> {
        let mut explorer = QuotientExplorer::new(self, control);
        explorer.reducer.work = Some(0);
        MeteredExplorer(explorer)
    }
}

/// Which steps of a state are wanted.
#[derive(Clone, Copy)]
enum Which {
    All,
    /// Those of the first candidate with this number or a higher one.
    Candidate(u32),
}

impl<'a> QuotientExplorer<'a> {
    fn new(quotient: &'a Quotient<'a>, control: &'a Control) -> QuotientExplorer<'a> {
        QuotientExplorer {
            quotient,
            steps: quotient.system.explorer(control),
            reducer: quotient.reducer(control),
            remembered: Remembered::default(),
            twins: Twins::default(),
            changed: Vec::new(),
            kept: Vec::new(),
            kept_classes: Vec::new(),
            kept_elements: Vec::new(),
            element: Vec::new(),
        }
    }

    /// The steps of a representative, each with the row it leads to in the system and, where they are wanted, the
    /// element that carries this row to its representative. Of a candidate the number is the answer.
    #[inline]
    fn walk<const CARRYING: bool>(
        &mut self,
        row: &[Value],
        which: Which,
        sink: &mut CarriedSink<'_>,
    ) -> Result<Option<u32>, Cut> {
        let QuotientExplorer {
            quotient,
            steps,
            reducer,
            remembered,
            twins,
            changed,
            kept,
            kept_classes,
            kept_elements,
            element,
        } = self;
        let types = &quotient.symmetry.types;
        let picture = reducer.begin(row);
        let alike = types.symmetric && quotient.action.pictures_are_complete() && twins.begin(picture, types);
        kept.clear();
        kept_classes.clear();
        kept_elements.clear();
        let mut carried = |step: Step<'_>| {
            let (group, label, written) = (quotient.group_of[step.group.index()], step.label, Written::Group);
            let (agents, passes) = (step.agents, step.passes);
            let slots = quotient.changed(&step, row, changed);
            let mut first = false;
            if alike {
                match twins.compare(&mut *reducer.actor, step.row, slots)? {
                    Likeness::Unknown => {}
                    Likeness::First => first = true,
                    Likeness::Like(number) => {
                        if CARRYING {
                            element.clone_from(&twins.last);
                            let points = element.len();
                            follow(element, &kept_elements[number * points..][..points]);
                        }
                        let row = &kept[number * row.len()..][..row.len()];
                        let class = kept_classes[number];
                        return sink(Step { group, label, row, written, class, agents, passes }, step.row, element);
                    }
                }
            }
            let still = CARRYING && reducer.actor.stands_still(step.row);
            let reduced = reducer.reduce_near(row, step.row, slots)?;
            let class = match (&quotient.counted, &reduced.stabiliser) {
                (Some(counted), Some(order)) if counted(reduced.row) => {
                    remembered.class(order, || quotient.class_of(order))
                }
                _ => UNCOUNTED,
            };
            if first {
                kept.extend_from_slice(reduced.row);
                kept_classes.push(class);
            }
            if CARRYING {
                if first {
                    element.resize(twins.last.len(), 0);
                    invert_into(&twins.last, element);
                    follow(element, reduced.element);
                    kept_elements.extend_from_slice(element);
                }
                element.clear();
                element.extend_from_slice(reduced.element);
                if still {
                    make_identity(element);
                }
            }
            sink(Step { group, label, row: reduced.row, written, class, agents, passes }, step.row, element)
        };
        match which {
            Which::All => steps.successors(row, &mut carried).map(|()| None),
            Which::Candidate(from) => steps.candidate(row, from, &mut carried),
        }
    }
}

impl Explorer for QuotientExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.walk::<false>(row, Which::All, &mut |step, _, _| sink(step)).map(|_| ())
    }

    /// Independent steps of a state stay independent when the states they lead to are renamed.
    fn candidate(&mut self, row: &[Value], from: u32, sink: &mut Sink<'_>) -> Result<Option<u32>, Cut> {
        self.walk::<false>(row, Which::Candidate(from), &mut |step, _, _| sink(step))
    }

    fn level_ends(&mut self, first: bool) {
        self.steps.level_ends(first);
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        self.steps.mark(mark, reads)
    }

    fn undefined(&mut self, proposition: u32, row: &[Value]) -> Cut {
        self.steps.undefined(proposition, row)
    }

    fn observe(&mut self, row: &[Value]) -> Result<Observation, Cut> {
        self.steps.observe(row)
    }

    fn accepts_less(
        &mut self,
        row: &[Value],
        enough: &mut dyn FnMut(&[LabelId]) -> bool,
    ) -> Result<Option<Vec<LabelId>>, Cut> {
        self.steps.accepts_less(row, enough)
    }
}
