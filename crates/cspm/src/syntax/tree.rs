//! The nodes of the tree.
//!
//! Nodes refer to each other by number; [`Tree`](super::Tree) holds them. A node's children always have smaller numbers
//! than the node itself, so a pass from the leaves to the roots is a loop over the numbers. `N` is what stands for a
//! name: a [`Symbol`] as parsed, something resolved later. Round brackets are no nodes; the tree remembers them beside
//! its nodes.

use trefoil_source::{FileId, Span};

use super::names::Symbol;
use super::store::List;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// An [`Expression`] in a tree.
    ExpressionId,
    /// A [`Pattern`] in a tree.
    PatternId,
    /// A [`Declaration`] in a tree.
    DeclarationId,
    /// A [`Type`] in a tree.
    TypeId,
}

/// An expression: value, process, set of events or set that serves as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expression<N> {
    /// Stands for text that could not be parsed, which was reported. The names in its parts that could be are resolved.
    Error(List<ExpressionId>),
    /// A name, perhaps qualified.
    Name(N),
    /// A number without a sign; at most 2³¹, and 2³¹ itself is only good under a minus.
    Integer(u32),
    /// `true` or `false`.
    Boolean(bool),
    /// `'c'`.
    Character(char),
    /// `"text"`, without its quotes and with its escapes replaced.
    String(Symbol),
    /// `not b`, `-n`, `#s`.
    Unary {
        /// Which.
        operator: UnaryOperator,
        /// Its operand.
        operand: ExpressionId,
    },
    /// Any operator between two operands that has no parameters.
    Binary {
        /// Which.
        operator: BinaryOperator,
        /// Left operand.
        left: ExpressionId,
        /// Right operand.
        right: ExpressionId,
    },
    /// `P [|A|] Q`, `P [|A|> Q`, `P [+A+] Q`, `P /+A+\ Q`.
    Synchronised {
        /// Which.
        operator: SynchronisedOperator,
        /// Left operand.
        left: ExpressionId,
        /// The events between the brackets.
        events: ExpressionId,
        /// Right operand.
        right: ExpressionId,
    },
    /// `P [A||B] Q`.
    Alphabetised {
        /// Left operand.
        left: ExpressionId,
        /// Its alphabet.
        left_alphabet: ExpressionId,
        /// The right operand's alphabet.
        right_alphabet: ExpressionId,
        /// Right operand.
        right: ExpressionId,
    },
    /// `P [a <-> b, … | x <- S] Q`.
    Link {
        /// Left operand.
        left: ExpressionId,
        /// The pairs.
        ties: List<Pair>,
        /// Their generators, often none.
        statements: List<Statement>,
        /// Right operand.
        right: ExpressionId,
    },
    /// `P [[a <- b, … | x <- S]]`.
    Rename {
        /// The process.
        process: ExpressionId,
        /// The pairs, `a` first.
        renames: List<Pair>,
        /// Their generators, often none.
        statements: List<Statement>,
    },
    /// `c?x!e -> P`.
    Prefix {
        /// What stands before the first field, dots included.
        channel: ExpressionId,
        /// The fields.
        fields: List<Field>,
        /// The process after it.
        process: ExpressionId,
    },
    /// `f(x, y)`.
    Apply {
        /// The function.
        function: ExpressionId,
        /// Its arguments.
        arguments: List<ExpressionId>,
    },
    /// `(x, y)`, two or more.
    Tuple(List<ExpressionId>),
    /// `<…>`, `{…}`, `{|…|}`: listed, a range, or a comprehension when there are statements.
    Collection {
        /// Which brackets.
        kind: CollectionKind,
        /// What comes before the bar.
        items: Items,
        /// What comes after the bar; none without a bar.
        statements: List<Statement>,
    },
    /// `(| k => v, … |)`.
    Map(List<Pair>),
    /// `if c then x else y`.
    If {
        /// The condition.
        condition: ExpressionId,
        /// Value when true.
        then: ExpressionId,
        /// Value when false.
        otherwise: ExpressionId,
    },
    /// `let … within e`.
    Let {
        /// The local declarations.
        declarations: List<DeclarationId>,
        /// The value.
        body: ExpressionId,
    },
    /// `\ x, y @ e`.
    Lambda {
        /// The parameters.
        parameters: List<PatternId>,
        /// The value.
        body: ExpressionId,
    },
    /// `[] x : S @ P` and its like.
    Replicated {
        /// Which.
        operator: Replication,
        /// The generators and conditions.
        statements: List<Statement>,
        /// The replicated process.
        body: ExpressionId,
    },
    /// `_` where a value is expected; only while a pattern is being read.
    Wildcard,
    /// `p @@ q` where a value is expected; only while a pattern is being read.
    Both(ExpressionId, ExpressionId),
}

/// Operators before one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `not`
    Not,
    /// `-`
    Negate,
    /// `#`
    Length,
}

/// Operators between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `\`
    Hide,
    /// `|\`
    Project,
    /// `|||`
    Interleave,
    /// `|~|`
    InternalChoice,
    /// `[]`
    ExternalChoice,
    /// `/\`
    Interrupt,
    /// `[>`
    SlidingChoice,
    /// `;`
    Sequential,
    /// `&`
    Guard,
    /// `.`; nests to the right, and means the same however it is nested
    Dot,
    /// `or`
    Or,
    /// `and`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `^`
    Concatenate,
}

/// Operators with a set of events inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynchronisedOperator {
    /// `[|A|]`
    Parallel,
    /// `[|A|>`
    Exception,
    /// `[+A+]`
    ExternalChoice,
    /// `/+A+\`
    Interrupt,
}

/// Which brackets a collection has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionKind {
    /// `<…>`
    Sequence,
    /// `{…}`
    Set,
    /// `{|…|}`, the productions of its items
    Productions,
}

/// What a collection holds before its bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// Listed.
    Listed(List<ExpressionId>),
    /// `a..`
    From(ExpressionId),
    /// `a..b`
    Range(ExpressionId, ExpressionId),
}

/// Replicated operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replication {
    /// `|||`
    Interleave,
    /// `[]`
    ExternalChoice,
    /// `|~|`
    InternalChoice,
    /// `;`
    Sequential,
    /// `[|A|]`
    Parallel(ExpressionId),
    /// `[+A+]`
    SynchronisingChoice(ExpressionId),
    /// `|| x : S @ [A] P`; the alphabet sees the variables
    Alphabetised(ExpressionId),
    /// `[a <-> b, … | x <- S]`
    Link(List<Pair>, List<Statement>),
}

/// Two expressions: `a <- b`, `a <-> b`, `k => v`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair(pub ExpressionId, pub ExpressionId);

/// A generator or a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `p <- S` or `p : S`.
    Generator {
        /// What is bound.
        pattern: PatternId,
        /// Where its values come from.
        set: ExpressionId,
    },
    /// A boolean.
    Condition(ExpressionId),
}

/// A field of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// `?p` or `?p:S`.
    Input(PatternId, Option<ExpressionId>),
    /// `$p` or `$p:S`.
    Choice(PatternId, Option<ExpressionId>),
    /// `!e`.
    Output(ExpressionId),
}

/// A pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern<N> {
    /// Stands for text that is no pattern, which was reported; the list has a pattern for each name in it.
    Error(List<PatternId>),
    /// `_`
    Wildcard,
    /// A variable, constructor or channel.
    Name(N),
    /// A number, perhaps negative.
    Integer(i64),
    /// `true` or `false`.
    Boolean(bool),
    /// `'c'`
    Character(char),
    /// `"text"`
    String(Symbol),
    /// `(p, q)`, two or more.
    Tuple(List<PatternId>),
    /// `{}` or `{p}`; more is for a later stage to refuse.
    Set(List<PatternId>),
    /// `<p, q>`
    Sequence(List<PatternId>),
    /// `p ^ q`
    Concatenate(PatternId, PatternId),
    /// `p.q`
    Dot(PatternId, PatternId),
    /// `p @@ q`
    Both(PatternId, PatternId),
}

/// A name and its place.
#[derive(Clone, Copy, Debug)]
pub struct Named<N> {
    /// The name.
    pub name: N,
    /// Where it stands.
    pub span: Span,
}

/// Places do not matter.
impl<N: PartialEq> PartialEq for Named<N> {
    fn eq(&self, other: &Named<N>) -> bool {
        self.name == other.name
    }
}

/// One equation of a function.
#[derive(Clone, Copy, Debug)]
pub struct Clause {
    /// The parameter lists; more than one when curried, and a list may be empty.
    pub parameters: List<List<PatternId>>,
    /// The value.
    pub body: ExpressionId,
    /// Where the equation stands.
    pub span: Span,
}

/// Places do not matter.
impl PartialEq for Clause {
    fn eq(&self, other: &Clause) -> bool {
        (self.parameters, self.body) == (other.parameters, other.body)
    }
}

/// An alternative of a `datatype` or `subtype`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constructor<N> {
    /// Its name.
    pub name: Named<N>,
    /// What follows its first dot.
    pub fields: Option<ExpressionId>,
}

/// A declaration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Declaration<N> {
    /// Stands for text that could not be parsed, which was reported.
    Error {
        /// The names that the text may have meant to declare.
        names: List<Named<N>>,
        /// The expressions in it that could be parsed.
        parts: List<ExpressionId>,
    },
    /// `f(x) = …`, all neighbouring equations of one name.
    Function {
        /// Its name.
        name: Named<N>,
        /// Its equations.
        clauses: List<Clause>,
    },
    /// `p = e`; a plain `x = e` is a pattern too.
    Binding {
        /// What is bound.
        pattern: PatternId,
        /// The value.
        body: ExpressionId,
    },
    /// `channel a, b : T`.
    Channel {
        /// Their names.
        names: List<Named<N>>,
        /// What they carry.
        fields: Option<ExpressionId>,
    },
    /// `datatype T = A | B.S`.
    Datatype {
        /// Its name.
        name: Named<N>,
        /// Its alternatives.
        constructors: List<Constructor<N>>,
    },
    /// `subtype T = A | B.S`.
    Subtype {
        /// Its name.
        name: Named<N>,
        /// Its alternatives.
        constructors: List<Constructor<N>>,
    },
    /// `nametype T = S`.
    Nametype {
        /// Its name.
        name: Named<N>,
        /// What it stands for.
        set: ExpressionId,
    },
    /// `external f, g`.
    External(List<Named<N>>),
    /// `transparent f, g`.
    Transparent(List<Named<N>>),
    /// `assert …`.
    Assert {
        /// Whether `not` comes first.
        negated: bool,
        /// What is checked.
        check: Check,
        /// How.
        options: List<CheckOption>,
    },
    /// `print e`.
    Print(ExpressionId),
    /// `include "path"`, with what the file declares; nothing when it was included before.
    Include {
        /// The path as written.
        path: Symbol,
        /// The file, unless it could not be read or was included before.
        file: Option<IncludedFile>,
        /// Its declarations.
        declarations: List<DeclarationId>,
    },
    /// `module M(x) … exports … endmodule`.
    Module {
        /// Its name.
        name: Named<N>,
        /// Its parameters.
        parameters: List<PatternId>,
        /// What only the module sees.
        private: List<DeclarationId>,
        /// What others see as `M::x`.
        exported: List<DeclarationId>,
    },
    /// `instance I = M(x)`.
    Instance {
        /// Its name.
        name: Named<N>,
        /// The module.
        module: Named<N>,
        /// Its arguments.
        arguments: List<ExpressionId>,
    },
    /// `Timed(f) { … }`.
    Timed {
        /// How long events take.
        durations: Option<ExpressionId>,
        /// What is timed.
        declarations: List<DeclarationId>,
    },
    /// `f, g :: Eq a => T`.
    Annotation {
        /// What is annotated.
        names: List<Named<N>>,
        /// Constraints on its variables.
        constraints: List<Constraint<N>>,
        /// The type.
        annotated: TypeId,
    },
}

/// The file behind an `include`. Its number does not matter when trees are compared.
#[derive(Clone, Copy, Debug)]
pub struct IncludedFile(pub FileId);

impl PartialEq for IncludedFile {
    fn eq(&self, _: &IncludedFile) -> bool {
        true
    }
}

/// What an assertion checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Stands where the text could not be read; already reported.
    Error,
    /// `S [M= I`.
    Refinement {
        /// Left of the operator.
        specification: ExpressionId,
        /// The semantic model.
        model: Model,
        /// Right of the operator.
        implementation: ExpressionId,
    },
    /// `P :[deadlock free [M]]` and its like.
    Property {
        /// The process.
        process: ExpressionId,
        /// The property.
        property: Property,
        /// The semantic model, when given.
        model: Option<Model>,
    },
    /// `P :[has trace [M]]: s`.
    HasTrace {
        /// The process.
        process: ExpressionId,
        /// The semantic model, when given.
        model: Option<Model>,
        /// The trace.
        trace: ExpressionId,
    },
    /// `E :[symmetric]: T, diff(T2, {| c |})`.
    Symmetric {
        /// What is symmetric.
        expression: ExpressionId,
        /// In which types, without which constants.
        types: List<ExpressionId>,
    },
}

/// Properties of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// `deadlock free`
    DeadlockFree,
    /// `livelock free` or `divergence free`
    LivelockFree,
    /// `deterministic`
    Deterministic,
}

/// Semantic models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// `T`
    Traces,
    /// `F`
    Failures,
    /// `FD`
    FailuresDivergences,
    /// `V`
    Revivals,
    /// `VD`
    RevivalsDivergences,
    /// `R`
    Refusals,
    /// `RD`
    RefusalsDivergences,
}

/// Options of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOption {
    /// `:[tau priority over]: S`
    TauPriority(ExpressionId),
    /// `:[partial order reduce]`, perhaps with a strategy
    PartialOrderReduce(Option<Symbol>),
    /// `:[symmetry reduce]`, perhaps only in these types
    SymmetryReduce(List<ExpressionId>),
}

/// A type in an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type<N> {
    /// Stands where the text could not be read; already reported.
    Error,
    /// A type or a variable.
    Name(N),
    /// `{T}`
    Set(TypeId),
    /// `<T>`
    Sequence(TypeId),
    /// `(T, U)`, two or more.
    Tuple(List<TypeId>),
    /// `(T, U) -> V`
    Function(List<TypeId>, TypeId),
    /// `T.U`
    Dot(TypeId, TypeId),
    /// `T => U`
    Dotable(TypeId, TypeId),
    /// `a =>* T`; the left one is a name
    Extendable(TypeId, TypeId),
    /// `(| K => V |)`
    Map(TypeId, TypeId),
}

/// `Eq a` in an annotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraint<N> {
    /// Which.
    pub kind: ConstraintKind,
    /// On which variable.
    pub variable: Named<N>,
}

/// The constraints that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintKind {
    /// `Eq`
    Eq,
    /// `Ord`
    Ord,
    /// `Set`
    Set,
    /// `Complete`
    Complete,
    /// `Yieldable`
    Yieldable,
}
