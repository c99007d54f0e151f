//! What a network is made of: components, rules over them, and formats that say which rules apply.

use std::fmt;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::Lts;
use trefoil_system::{Cut, LabelId, Labels, StateId, Value};

use crate::lazy::LazyMachine;

/// A component of a network.
#[derive(Clone, Debug)]
pub struct Component {
    /// Its name for users.
    pub name: String,
    /// What it does. Its initial state is also the one that it is reset to.
    pub behaviour: Behaviour,
    /// Do its `τ` choose among the acceptances of states that a compression has merged? Searches that observe nothing
    /// but traces, failures and divergences can do without them ([`crate::Network::accepting`]).
    pub chooses: bool,
}

/// What a component does.
#[derive(Clone)]
pub enum Behaviour {
    /// All states and transitions are there.
    Explicit(Arc<Lts>),
    /// States and transitions are found on demand.
    Lazy(Arc<LazyMachine>),
}

impl fmt::Debug for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Behaviour::Explicit(lts) => f.debug_tuple("Explicit").field(lts).finish(),
            Behaviour::Lazy(machine) => write!(f, "Lazy({} states met)", machine.states_met()),
        }
    }
}

impl Component {
    /// A component with this LTS.
    pub fn new(name: impl Into<String>, lts: Arc<Lts>) -> Component {
        Component { name: name.into(), behaviour: Behaviour::Explicit(lts), chooses: false }
    }

    /// A component whose states are found on demand.
    pub fn lazy(name: impl Into<String>, machine: Arc<LazyMachine>) -> Component {
        Component { name: name.into(), behaviour: Behaviour::Lazy(machine), chooses: false }
    }

    /// The same component, knowing whether its `τ` choose among acceptances.
    pub fn choosing(self, chooses: bool) -> Component {
        Component { chooses, ..self }
    }

    /// The state that it starts in.
    pub fn initial(&self) -> Value {
        self.behaviour.initial()
    }

    /// The labels that it can do in a state, ascending.
    pub fn offers(&self, state: Value, control: &Control) -> Result<Vec<LabelId>, Cut> {
        match &self.behaviour {
            Behaviour::Explicit(lts) => {
                let mut labels: Vec<LabelId> = lts.steps(StateId(state)).map(|step| step.label).collect();
                labels.sort_unstable();
                labels.dedup();
                Ok(labels)
            }
            Behaviour::Lazy(machine) => machine.offers(state, control),
        }
    }
}

impl Behaviour {
    /// The state that it starts in.
    pub fn initial(&self) -> Value {
        match self {
            Behaviour::Explicit(lts) => lts.initial().0,
            Behaviour::Lazy(_) => LazyMachine::INITIAL,
        }
    }

    /// The labels that occur, ascending.
    pub(crate) fn alphabet(&self) -> Vec<LabelId> {
        match self {
            Behaviour::Explicit(lts) => lts.alphabet(),
            Behaviour::Lazy(machine) => machine.labels().to_vec(),
        }
    }

    /// The label table of its transitions.
    pub(crate) fn label_table(&self) -> &Arc<Labels> {
        match self {
            Behaviour::Explicit(lts) => lts.labels(),
            Behaviour::Lazy(machine) => machine.label_table(),
        }
    }
}

/// The number of a format of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormatId(pub u32);

impl FormatId {
    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A phase of a network: the rules that apply while it lasts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Its name for users.
    pub name: String,
    /// Its rules.
    pub rules: Vec<Rule>,
}

/// When these components move with these labels, the network moves with that label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    parts: Vec<(u32, LabelId)>,
    label: LabelId,
    origin: LabelId,
    resets: Vec<u32>,
    next: FormatId,
}

impl Rule {
    /// A rule: for each participant its component and label, in any order; and the label of the whole. It resets
    /// nothing and leads to format 0.
    ///
    /// # Panics
    ///
    /// When a component takes part twice.
    pub fn new(parts: impl IntoIterator<Item = (usize, LabelId)>, label: LabelId) -> Rule {
        let mut parts: Vec<(u32, LabelId)> = parts.into_iter().map(|(part, label)| (part as u32, label)).collect();
        parts.sort_unstable();
        assert!(parts.windows(2).all(|pair| pair[0].0 != pair[1].0), "a component takes part once");
        Rule { parts, label, origin: label, resets: Vec::new(), next: FormatId(0) }
    }

    /// The same, its label having been this one before it was hidden.
    pub fn with_origin(mut self, origin: LabelId) -> Rule {
        self.origin = origin;
        self
    }

    /// The same, these components going to their initial states whether they take part or not.
    pub fn with_resets(mut self, components: impl IntoIterator<Item = usize>) -> Rule {
        self.resets = components.into_iter().map(|component| component as u32).collect();
        self.resets.sort_unstable();
        self.resets.dedup();
        self
    }

    /// The same, leading to this format.
    pub fn to(mut self, next: FormatId) -> Rule {
        self.next = next;
        self
    }

    /// The participants, ascending, with their labels.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (usize, LabelId)> + '_ {
        self.parts.iter().map(|&(component, label)| (component as usize, label))
    }

    /// The label of the whole.
    pub fn label(&self) -> LabelId {
        self.label
    }

    /// The label before it was hidden; the label itself when nothing was.
    pub fn origin(&self) -> LabelId {
        self.origin
    }

    /// The components that go to their initial states, ascending.
    pub fn resets(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.resets.iter().map(|&component| component as usize)
    }

    /// The format after the step.
    pub fn next(&self) -> FormatId {
        self.next
    }

    /// The greatest component that is named.
    pub(crate) fn greatest_component(&self) -> Option<usize> {
        let part = self.parts.last().map(|part| part.0);
        part.max(self.resets.last().copied()).map(|component| component as usize)
    }
}

/// How a step of a network came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepExplanation {
    /// The label before it was hidden.
    pub origin: LabelId,
    /// The components that moved, ascending, with their own labels.
    pub parts: Vec<(usize, LabelId)>,
    /// The format whose rule it was.
    pub format: FormatId,
}
