//! What is known of a system and a question before a search.

use trefoil_system::{Model, Observations, System};

use crate::question::Question;

/// The facts by which an engine is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Which symmetries may be proved of it.
    pub symmetries: ProvableSymmetries,
    /// Can independent steps be taken in one order only?
    pub partial_order: bool,
    /// Do its explorers know parts of the steps of a state that suffice, where a search takes care of the rest?
    pub candidates: bool,
    /// Can it be taken apart along its parameters?
    pub decomposition: bool,
    /// Is all of it in memory already?
    pub explicit: bool,
    /// Where its failures and divergences come from.
    pub observations: Observations,
    /// How many slots a state has; 0 before the system is made.
    pub width: usize,
    /// Is all of the specification in memory already?
    pub explicit_specification: bool,
    /// The model in which it is compared with a specification, once that is known.
    pub model: Option<Model>,
    /// Do its steps say which agents take them? Fairness is about agents.
    pub agents: bool,
}

/// Which symmetries may be proved of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvableSymmetries {
    /// None.
    None,
    /// Those that its front end proposes.
    Found,
    /// Those, and those of types that the user names.
    Named,
}

impl Facts {
    /// Facts of a system that comes without a front end.
    pub fn of(system: &dyn System) -> Facts {
        Facts {
            symmetries: if system.action().is_some() { ProvableSymmetries::Found } else { ProvableSymmetries::None },
            partial_order: false,
            candidates: false,
            decomposition: false,
            explicit: system.in_memory().is_some(),
            observations: system.observations(),
            width: system.layout().width(),
            explicit_specification: false,
            model: None,
            agents: true,
        }
    }

    /// The same, with what the question tells.
    pub fn with(self, question: &Question<'_>) -> Facts {
        let Question::Refine { specification, model } = *question else { return self };
        Facts { explicit_specification: specification.in_memory().is_some(), model: Some(model), ..self }
    }
}
