//! The tree of a formula as it was read: three kinds of formulas in three arenas, over the data of crate `data`.
//!
//! Brackets are kept, so that the printer writes what the user wrote.

use trefoil_data::syntax::tree::{DataSection, ExpressionId, Identifier, SortId, Tree, Variables};
use trefoil_source::Span;

/// A state formula in a [`FormulaText`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub u32);

/// A regular formula in a [`FormulaText`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegularId(pub u32);

/// An action formula in a [`FormulaText`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActionFormulaId(pub u32);

/// `forall` and `exists`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// `forall`
    Forall,
    /// `exists`
    Exists,
}

impl Quantifier {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            Quantifier::Forall => "forall",
            Quantifier::Exists => "exists",
        }
    }

    /// The other one.
    pub fn dual(self) -> Quantifier {
        match self {
            Quantifier::Forall => Quantifier::Exists,
            Quantifier::Exists => Quantifier::Forall,
        }
    }
}

/// Operators between two state formulas or two action formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Connective {
    /// `=>`
    Implies,
    /// `||`
    Or,
    /// `&&`
    And,
}

impl Connective {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            Connective::Implies => "=>",
            Connective::Or => "||",
            Connective::And => "&&",
        }
    }
}

/// `[R]` and `<R>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modality {
    /// `[R]f`: `f` holds after every such sequence of steps.
    Must,
    /// `<R>f`: `f` holds after some such sequence of steps.
    May,
}

/// `mu` and `nu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fixpoint {
    /// `mu`
    Least,
    /// `nu`
    Greatest,
}

impl Fixpoint {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            Fixpoint::Least => "mu",
            Fixpoint::Greatest => "nu",
        }
    }

    /// The other one.
    pub fn dual(self) -> Fixpoint {
        match self {
            Fixpoint::Least => Fixpoint::Greatest,
            Fixpoint::Greatest => Fixpoint::Least,
        }
    }
}

/// A parameter of a fixpoint with its first value: `n: Nat = 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: Identifier,
    /// Its sort.
    pub sort: SortId,
    /// Its first value.
    pub value: ExpressionId,
}

/// A state formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// `true`
    True,
    /// `false`
    False,
    /// `val(e)`
    Value(ExpressionId),
    /// `X(e, …)`
    Variable(Identifier, Vec<ExpressionId>),
    /// `(f)`
    Brackets(StateId),
    /// `!f`
    Not(StateId),
    /// Two formulas.
    Infix(Connective, StateId, StateId),
    /// `forall x: S. f`, `exists x: S. f`
    Quantified(Quantifier, Vec<Variables>, StateId),
    /// `[R]f`, `<R>f`
    Modal(Modality, RegularId, StateId),
    /// `mu X(n: Nat = 0). f`, `nu X. f`
    Fixpoint(Fixpoint, Identifier, Vec<Parameter>, StateId),
}

/// A regular formula: a set of sequences of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Regular {
    /// One step.
    Action(ActionFormulaId),
    /// `(R)`
    Brackets(RegularId),
    /// `R . S`
    Sequence(RegularId, RegularId),
    /// `R + S`
    Choice(RegularId, RegularId),
    /// `R*`
    Star(RegularId),
    /// `R+`
    Plus(RegularId),
}

/// An action formula: a set of labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionFormula {
    /// `true`: every label.
    True,
    /// `false`
    False,
    /// `val(e)`
    Value(ExpressionId),
    /// `a(e, …)|b`; `tau` has no parts.
    Multi(Vec<(Identifier, Vec<ExpressionId>)>),
    /// `(A)`
    Brackets(ActionFormulaId),
    /// `!A`
    Not(ActionFormulaId),
    /// Two formulas.
    Infix(Connective, ActionFormulaId, ActionFormulaId),
    /// `forall x: S. A`, `exists x: S. A`
    Quantified(Quantifier, Vec<Variables>, ActionFormulaId),
}

/// Actions that a text with a formula declares: `act a, b: S # T;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredActions {
    /// The names.
    pub names: Vec<Identifier>,
    /// The sorts of the arguments, a product for several.
    pub sort: Option<SortId>,
}

/// A formula as it was read, with the declarations before it.
#[derive(Clone, Debug, Default)]
pub struct FormulaText {
    /// Names, data expressions and sorts.
    pub tree: Tree,
    /// Data that the text declares.
    pub data: Vec<DataSection>,
    /// Actions that the text declares.
    pub actions: Vec<DeclaredActions>,
    /// The formula; none where it could not be read.
    pub root: Option<StateId>,
    /// Closed formulas with names, which follow the formula: `where X1 = f`.
    pub definitions: Vec<(Identifier, StateId)>,
    pub(super) states: Vec<(State, Span)>,
    pub(super) regulars: Vec<(Regular, Span)>,
    pub(super) action_formulas: Vec<(ActionFormula, Span)>,
}

impl FormulaText {
    /// A state formula.
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.0 as usize].0
    }

    /// Where a state formula stands.
    pub fn span(&self, id: StateId) -> Span {
        self.states[id.0 as usize].1
    }

    /// A regular formula.
    pub fn regular(&self, id: RegularId) -> &Regular {
        &self.regulars[id.0 as usize].0
    }

    /// Where a regular formula stands.
    pub fn regular_span(&self, id: RegularId) -> Span {
        self.regulars[id.0 as usize].1
    }

    /// An action formula.
    pub fn action_formula(&self, id: ActionFormulaId) -> &ActionFormula {
        &self.action_formulas[id.0 as usize].0
    }

    /// Where an action formula stands.
    pub fn action_span(&self, id: ActionFormulaId) -> Span {
        self.action_formulas[id.0 as usize].1
    }
}
