//! Narrators, which describe systems.

use std::collections::BTreeSet;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_system::{Cut, LabelId, System, TakenStep, Value};

use crate::check::Step;
use crate::check::witness::{Words, number};
use crate::promela::{EndState, Story};

/// Words for the labels and states of a system.
pub(crate) trait Narrator {
    /// What the components are called; one when there are no components.
    fn components(&mut self) -> Vec<Arc<str>>;

    /// An event.
    fn event(&mut self, label: LabelId) -> String;

    /// The state of each component.
    fn states(&mut self, row: &[Value]) -> Vec<Arc<str>>;

    /// A step: its event, with the hidden event behind a `τ`, the components that took part, and the states afterwards.
    fn step(&mut self, before: &[Value], label: LabelId, after: &[Value], control: &Control) -> Result<Step, Cut>;

    /// Every visible label that may occur.
    fn alphabet(&mut self) -> BTreeSet<LabelId>;

    /// A run statement by statement, where the language has statements.
    fn story(&mut self, _start: &[Value], _steps: &[TakenStep], _control: &Control) -> Result<Option<Story>, Cut> {
        Ok(None)
    }

    /// The variables of a state, where the language has variables.
    fn end(&mut self, _row: &[Value], _control: &Control) -> Option<EndState> {
        None
    }
}

/// Words for a process of a script.
pub(super) struct ScriptWords<'a> {
    words: Words<'a>,
    process: &'a str,
}

impl<'a> ScriptWords<'a> {
    pub(super) fn new(words: Words<'a>, process: &'a str) -> ScriptWords<'a> {
        ScriptWords { words, process }
    }
}

impl Narrator for ScriptWords<'_> {
    fn components(&mut self) -> Vec<Arc<str>> {
        self.words.components(self.process)
    }

    fn event(&mut self, label: LabelId) -> String {
        self.words.event(label)
    }

    fn states(&mut self, row: &[Value]) -> Vec<Arc<str>> {
        self.words.states(row)
    }

    fn step(&mut self, before: &[Value], label: LabelId, after: &[Value], control: &Control) -> Result<Step, Cut> {
        self.words.step(before, label, after, control)
    }

    fn alphabet(&mut self) -> BTreeSet<LabelId> {
        self.words.alphabet()
    }
}

/// Words for any system, by what the waist knows of it.
pub(super) struct PlainWords<'a> {
    system: &'a dyn System,
    name: &'a str,
}

impl<'a> PlainWords<'a> {
    pub(super) fn new(system: &'a dyn System, name: &'a str) -> PlainWords<'a> {
        PlainWords { system, name }
    }
}

impl Narrator for PlainWords<'_> {
    fn components(&mut self) -> Vec<Arc<str>> {
        vec![Arc::from(self.name)]
    }

    fn event(&mut self, label: LabelId) -> String {
        match label {
            LabelId::TAU => "τ".to_string(),
            other => self.system.labels().get(other).to_string(),
        }
    }

    fn states(&mut self, row: &[Value]) -> Vec<Arc<str>> {
        vec![self.system.describe(row).into()]
    }

    fn step(&mut self, _: &[Value], label: LabelId, after: &[Value], _: &Control) -> Result<Step, Cut> {
        let event = self.event(label);
        let states = self.states(after);
        Ok(Step { event, place: None, parts: Vec::new(), states, number: number(label), revealed: number(label) })
    }

    fn alphabet(&mut self) -> BTreeSet<LabelId> {
        let labels = self.system.labels().len() as u32;
        // `✓` belongs to them only if the system can terminate, which the table of labels does not show.
        (LabelId::TICK.0 + 1..labels).map(LabelId).collect()
    }
}
