//! A formula with its types: names resolved, data typed, brackets gone.
//!
//! Parts refer to the text's tree by [`StateId`], so that evidence can name a subformula as the user wrote it.

use trefoil_data::sorts::SortRef;
use trefoil_data::syntax::tree::Symbol;
use trefoil_data::typed::{DataSpecification, TypedId, VariableId};
use trefoil_source::Span;
use trefoil_system::{MarkId, Value};

use super::tree::{Connective, Fixpoint, FormulaText, Modality, Quantifier, StateId};

/// An action of a model as formulas see it: a name with the sorts of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionSignature {
    /// Its name, which several actions with other sorts may share.
    pub name: Symbol,
    /// The sorts of its arguments.
    pub sorts: Vec<SortRef>,
}

/// What formulas are typed against: the data and the actions of a model.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// Sorts, functions and equations.
    pub data: DataSpecification,
    /// The actions.
    pub actions: Vec<ActionSignature>,
    /// Whether these are only the actions that were seen: a model without declarations. Another one never happens.
    pub open: bool,
    /// Names that were seen with values without a common sort: the formula says of which sort they are.
    pub unsorted: Vec<String>,
    /// Names of the model that formulas cannot use, each with why.
    pub refused: Vec<(String, String)>,
    /// What a state of the model shows: constants and functions of the data, whose values are marks of the model.
    pub propositions: Vec<Proposition>,
}

/// A name whose value depends on the state of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposition {
    /// The name of a function of [`Signature::data`] without equations.
    pub name: String,
    /// The marks of the model that have its values, by its arguments; one without arguments for a constant.
    pub elements: Vec<(Vec<u32>, MarkId)>,
    /// How a value of the mark is written in the data language.
    pub writing: ValueWriting,
}

/// How a value of a mark is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueWriting {
    /// `false` for 0, else `true`.
    Boolean,
    /// The number.
    Natural,
    /// The same bits as a signed number.
    Signed,
    /// The name in this place.
    Names(Vec<String>),
}

impl ValueWriting {
    /// A value as text.
    pub fn text(&self, value: Value) -> String {
        match self {
            ValueWriting::Boolean => (value != 0).to_string(),
            ValueWriting::Natural => value.to_string(),
            ValueWriting::Signed => (value as i32).to_string(),
            ValueWriting::Names(names) => names.get(value as usize).cloned().unwrap_or_else(|| value.to_string()),
        }
    }
}

/// A part of a [`Formula`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartId(pub u32);

/// A regular part of a [`Formula`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepsId(pub u32);

/// A set of labels in a [`Formula`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelSetId(pub u32);

/// A fixpoint variable of a [`Formula`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FixpointId(pub u32);

/// A state formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// `true` or `false`
    Constant(bool),
    /// `val(e)`
    Value(TypedId),
    /// `X(e, …)`
    Instance(FixpointId, Vec<TypedId>),
    /// `!f`
    Not(PartId),
    /// Two formulas.
    Infix(Connective, PartId, PartId),
    /// `forall x: S. f`, `exists x: S. f`
    Quantified(Quantifier, Vec<VariableId>, PartId),
    /// `[R]f`, `<R>f`
    Modal(Modality, StepsId, PartId),
    /// `mu X. f`, `nu X. f`
    Fixpoint(FixpointId, PartId),
}

/// A regular formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steps {
    /// One step.
    One(LabelSetId),
    /// `R . S`
    Sequence(StepsId, StepsId),
    /// `R + S`
    Choice(StepsId, StepsId),
    /// `R*`
    Star(StepsId),
    /// `R+`
    Plus(StepsId),
}

/// An action formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelSet {
    /// `true` or `false`
    Constant(bool),
    /// `val(e)`
    Value(TypedId),
    /// `a(e)|b`: places in [`Signature::actions`], with arguments of their sorts. `tau` has none.
    Multi(Vec<(usize, Vec<TypedId>)>),
    /// `!A`
    Not(LabelSetId),
    /// Two formulas.
    Infix(Connective, LabelSetId, LabelSetId),
    /// `forall x: S. A`, `exists x: S. A`
    Quantified(Quantifier, Vec<VariableId>, LabelSetId),
}

/// A fixpoint variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixpointVariable {
    /// `mu` or `nu`.
    pub kind: Fixpoint,
    /// Its name.
    pub name: Symbol,
    /// Its parameters, each with its first value.
    pub parameters: Vec<(VariableId, TypedId)>,
    /// Where the name stands.
    pub place: Span,
}

/// A formula with its types.
#[derive(Clone, Debug)]
pub struct Formula {
    /// The formula as it was read.
    pub text: FormulaText,
    /// Data, with every expression of the formula, and actions.
    pub signature: Signature,
    /// The fixpoint variables; a [`FixpointId`] counts them.
    pub fixpoints: Vec<FixpointVariable>,
    /// The whole.
    pub root: PartId,
    pub(super) parts: Vec<(Part, StateId)>,
    pub(super) steps: Vec<Steps>,
    pub(super) label_sets: Vec<LabelSet>,
}

impl Formula {
    /// A part.
    pub fn part(&self, id: PartId) -> &Part {
        &self.parts[id.0 as usize].0
    }

    /// What a part comes from.
    pub fn source(&self, id: PartId) -> StateId {
        self.parts[id.0 as usize].1
    }

    /// Where a part stands.
    pub fn place(&self, id: PartId) -> Span {
        self.text.span(self.source(id))
    }

    /// A part as text.
    pub fn part_text(&self, id: PartId) -> String {
        self.text.state_text(self.source(id))
    }

    /// The first modality as text; where `names_actions`, the first one that names an action.
    pub fn first_modality(&self, names_actions: bool) -> Option<String> {
        let parts = (0..self.parts.len() as u32).map(PartId).filter(|&id| match self.part(id) {
            Part::Modal(_, steps, _) => !names_actions || self.names_action(*steps),
            _ => false,
        });
        parts.min_by_key(|&id| self.place(id).start).map(|id| self.part_text(id))
    }

    fn names_action(&self, steps: StepsId) -> bool {
        let mut sets = Vec::new();
        let mut pending = vec![steps];
        while let Some(steps) = pending.pop() {
            match self.steps(steps) {
                Steps::One(labels) => sets.push(*labels),
                Steps::Sequence(left, right) | Steps::Choice(left, right) => pending.extend([*left, *right]),
                Steps::Star(inside) | Steps::Plus(inside) => pending.push(*inside),
            }
        }
        while let Some(set) = sets.pop() {
            match self.label_set(set) {
                LabelSet::Multi(parts) if !parts.is_empty() => return true,
                LabelSet::Constant(_) | LabelSet::Value(_) | LabelSet::Multi(_) => {}
                LabelSet::Not(inside) | LabelSet::Quantified(_, _, inside) => sets.push(*inside),
                LabelSet::Infix(_, left, right) => sets.extend([*left, *right]),
            }
        }
        false
    }

    /// A regular part.
    pub fn steps(&self, id: StepsId) -> &Steps {
        &self.steps[id.0 as usize]
    }

    /// A set of labels.
    pub fn label_set(&self, id: LabelSetId) -> &LabelSet {
        &self.label_sets[id.0 as usize]
    }

    /// A fixpoint variable.
    pub fn fixpoint(&self, id: FixpointId) -> &FixpointVariable {
        &self.fixpoints[id.0 as usize]
    }
}
