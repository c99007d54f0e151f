//! The symmetries of a model as an observer of its messages sees it.
//!
//! Rows are those of the model, so elements act on them as ever. A label is a bag of messages, and its image is that of
//! each message: the channel becomes its image, and a field whose values identify items holds the image of its value.
//! This is what the image of a step does, because a statement is carried to the statement whose terms are the images of
//! its own ([`super::proof`]).
//!
//! A mark of the observer is kept when no element moves what it looks at nor renames its values.
//!
//! Where processes stay at their ends ([`Model::keeps_processes`]), the steps in which they disappear are missing.
//! Nothing else differs: those steps are `τ`, they neither enable nor disable any statement (but `timeout`, which waits
//! for them), and there are finitely many of them in a run. So a state is divergence-preserving branching bisimilar to
//! itself without some of the ended processes, and a formula that does not notice internal steps has the same value in
//! both models. Where processes are started one by one this is not so: the number of a process then depends on
//! those that have disappeared before it.
//!
//! Labels are texts, and an image is found from the messages that a text was made of; so there are none where two kinds
//! of channels have one name.

use std::collections::BTreeSet;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_system::{
    Action, Actor, Cut, Explorer, Group, LabelId, Labels, Layout, Mark, MarkId, Picture, System, Value, Walk,
};

use super::Symmetric;
use super::action::ModelAction;
use crate::machine::{Messages, Watched};

/// A model with symmetries, as an observer sees it.
pub struct SymmetricMessages {
    messages: Arc<Messages>,
    action: ObservedAction,
}

/// The group, which acts on labels that are messages.
struct ObservedAction {
    symmetric: Arc<Symmetric>,
    messages: Arc<Messages>,
}

impl SymmetricMessages {
    /// What the observer of another form of the model sees of this one; none where labels do not determine messages.
    pub fn new(symmetric: Arc<Symmetric>, observer: &Messages) -> Option<SymmetricMessages> {
        let kinds = symmetric.model().channel_kinds();
        let program = symmetric.model().program();
        let global = program.globals.channels.len();
        let owners = program.processes.iter().flat_map(|process| process.frame.channels.iter().map(|_| &*process.name));
        let owners = std::iter::repeat_n("", global).chain(owners);
        let names: BTreeSet<(&str, &str)> = owners.zip(kinds).map(|(owner, kind)| (owner, &*kind.name)).collect();
        if names.len() < kinds.len() {
            return None;
        }
        let messages = Arc::new(observer.on(symmetric.model().clone()));
        Some(SymmetricMessages { action: ObservedAction { symmetric, messages: messages.clone() }, messages })
    }

    /// Whether the steps in which processes disappear are missing; then only formulas that do not notice internal steps
    /// have the value that they have in the model itself.
    pub fn keeps_processes(&self) -> bool {
        self.action.symmetric.model().keeps_processes()
    }

    /// Whether every element of the group leaves a mark as it is.
    pub fn keeps(&self, mark: MarkId) -> bool {
        let model = self.action.symmetric.model();
        let action = &self.action.symmetric.action.action;
        match &self.messages.watched()[mark.index()] {
            Watched::Global(cell) => {
                let slot = model.arrangement.globals[*cell as usize];
                !action.rows.globals.iter().any(|part| part.slot == slot)
            }
            Watched::Length(channel) => {
                let slot = model.arrangement.queues[*channel as usize].slot;
                let is_moved =
                    |part: &super::rows::ChannelPart| part.slot == slot && action.points.keys(part.item).is_some();
                !action.rows.channels.iter().any(is_moved)
            }
            Watched::Local { process, .. } | Watched::At { process, .. } => {
                let position = *process as u32;
                !self.keeps_processes() && !action.rows.processes.iter().any(|part| part.position == position)
            }
        }
    }
}

impl System for SymmetricMessages {
    fn layout(&self) -> &Layout {
        self.messages.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        self.messages.labels()
    }

    fn groups(&self) -> &[Group] {
        self.messages.groups()
    }

    fn marks(&self) -> &[Mark] {
        self.messages.marks()
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        self.messages.initial(control)
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        self.messages.explorer(control)
    }

    fn action(&self) -> Option<&dyn Action> {
        Some(&self.action)
    }

    fn describe(&self, row: &[Value]) -> String {
        self.messages.describe(row)
    }
}

impl ObservedAction {
    fn own(&self) -> &dyn Action {
        &self.symmetric.action
    }

    /// The image of messages, as machines record them.
    fn image(&self, element: &[u32], recorded: &[u32]) -> Vec<u32> {
        let action: &ModelAction = &self.symmetric.action.action;
        let model = self.symmetric.model();
        let mut image = recorded.to_vec();
        let mut end = recorded.len();
        while end > 0 {
            let (owner, channel) = (recorded[end - 2], recorded[end - 1]);
            let kind = channel >> 1;
            let is_this = |queue: &&crate::machine::Queue| {
                queue.kind == kind && queue.position.map_or(0, |position| u32::from(position) + 1) == owner
            };
            let Some(number) = model.channels().iter().position(|queue| is_this(&queue)) else { return image };
            let item = action.points.image(element, action.items.channel(number as u32 + 1));
            let to = &model.channels()[action.items.value_of(item) as usize - 1];
            image[end - 2] = to.position.map_or(0, |position| u32::from(position) + 1);
            image[end - 1] = to.kind << 1 | channel & 1;
            let lookups = &action.rows.fields[kind as usize];
            let start = end - 2 - lookups.len();
            for (value, &lookup) in image[start..end - 2].iter_mut().zip(lookups) {
                if let Some(item) = action.rows.item(lookup, *value) {
                    *value = action.items.value_of(action.points.image(element, item)) as u32;
                }
            }
            end = start;
        }
        image
    }
}

impl Action for ObservedAction {
    fn points(&self) -> usize {
        self.own().points()
    }

    fn generators(&self) -> &[Vec<u32>] {
        self.own().generators()
    }

    fn pictures_are_complete(&self) -> bool {
        self.own().pictures_are_complete()
    }

    fn colours(&self, point: u32) -> Option<u32> {
        self.own().colours(point)
    }

    fn describe_point(&self, point: u32) -> String {
        self.own().describe_point(point)
    }

    fn actor<'a>(&'a self, control: &'a Control) -> Box<dyn Actor + 'a> {
        Box::new(ObservedActor { action: self, own: self.own().actor(control) })
    }
}

struct ObservedActor<'a> {
    action: &'a ObservedAction,
    own: Box<dyn Actor + 'a>,
}

impl Actor for ObservedActor<'_> {
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        self.own.picture(row, picture);
    }

    fn draw_slots(&mut self, row: &[Value], slots: &[u32], picture: &mut Picture) -> bool {
        self.own.draw_slots(row, slots, picture)
    }

    fn begin(&mut self, row: &[Value], picture: &mut Picture) {
        self.own.begin(row, picture);
    }

    fn draw_change(
        &mut self,
        from: &[Value],
        to: &[Value],
        slots: &[u32],
        before: &mut Picture,
        after: &mut Picture,
    ) -> bool {
        self.own.draw_change(from, to, slots, before, after)
    }

    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) -> Walk {
        self.own.apply(element, row, into)
    }

    fn references(&mut self, slot: usize, value: Value, points: &mut Vec<u32>) -> bool {
        self.own.references(slot, value, points)
    }

    fn apply_to_slot(&mut self, element: &[u32], slot: usize, value: Value) -> Result<(usize, Value), Cut> {
        self.own.apply_to_slot(element, slot, value)
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        match self.action.messages.messages_of(label) {
            Some(recorded) => self.action.messages.label(&self.action.image(element, &recorded)),
            None => label,
        }
    }
}
