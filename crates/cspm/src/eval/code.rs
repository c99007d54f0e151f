//! What the machine runs.
//!
//! A script is compiled once into flat vectors; everything refers to everything by number. A *unit* is a piece that
//! runs in a frame of its own: the body of a function, of a delayed argument, of a definition, of a process. Its
//! variables are slots of its frame, or values it captured: a closure is flat, it holds exactly the values of its free
//! variables. The definitions of a `let` that depend on each other share one *group*, which holds what they capture
//! together; a definition is then reached through its group, and there are no cycles among values.

use trefoil_source::Span;

use super::value::{ConstructorId, Value};
use crate::rename::{DefinitionId, LocalId};
use crate::syntax::{BinaryOperator, ExpressionId, SynchronisedOperator};

macro_rules! ids {
    ($($(#[$doc:meta])* $visible:vis $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $visible struct $name(pub(super) u32);

        impl $name {
            /// As an index.
            $visible fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// An operation.
    pub OperationId,
    /// A pattern.
    pub MatcherId,
    /// A unit.
    pub(super) UnitId,
    /// A function.
    pub(super) FunctionId,
    /// A group of local definitions.
    pub(super) GroupId,
    /// A definition of the top level or of an instance of a module.
    pub(super) GlobalId,
    /// A comprehension.
    pub(super) ComprehensionId,
    /// A place where a process is made: a control point.
    pub ControlPointId,
    /// A timed section.
    pub SectionId,
}

impl ControlPointId {
    /// Its number.
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// The control point with this number.
    pub(crate) fn of_number(number: u32) -> ControlPointId {
        ControlPointId(number)
    }
}

/// Where a unit finds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// In a slot of its frame.
    Local(u32),
    /// Among its captures.
    Captured(u32),
    /// Among the captures of the group it belongs to, which is its first capture.
    Field(u32),
}

/// An operand that need not be evaluated now.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lazy {
    /// Costs nothing.
    Now(OperationId),
    /// Cheap when its variables are evaluated; else the unit.
    Cheap(OperationId, UnitId),
    /// Delayed.
    Later(UnitId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// How many items a range has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Span2 {
    From(OperationId),
    Between(OperationId, OperationId),
}

pub(super) enum Operation {
    /// Something that was reported before.
    Broken,
    Constant(Value),
    Variable(Access),
    Global(GlobalId),
    /// A definition of a group.
    Member(Access, u32),
    Not(OperationId),
    Negate(OperationId),
    Length(OperationId),
    Arithmetic(Arithmetic, OperationId, OperationId),
    Compare(Comparison, OperationId, OperationId),
    /// Whether equal; or unequal.
    Equal(bool, OperationId, OperationId),
    And(OperationId, OperationId),
    Or(OperationId, OperationId),
    If(OperationId, OperationId, OperationId),
    /// The condition, the process, and the timed section (its number plus one) or 0.
    Guard(OperationId, OperationId, u32),
    Concatenate(OperationId, Lazy),
    Call(OperationId, Vec<Lazy>),
    Tuple(Vec<Lazy>),
    Sequence(Vec<Lazy>),
    Set(Vec<OperationId>),
    Map(Vec<(OperationId, Lazy)>),
    SequenceRange(Span2),
    SetRange(Span2),
    Productions(Vec<OperationId>),
    Comprehension(ComprehensionId),
    Dot(Vec<OperationId>),
    Lambda(FunctionId),
    /// Makes a group in a slot, then goes on.
    Let(GroupId, u32, OperationId),
    /// Puts a value into a slot, then goes on.
    Bind(Lazy, u32, OperationId),
    /// A slot of a pattern after matching a value.
    Part(MatcherId, OperationId, u32),
    /// The set that a `nametype` names.
    TypeSet(OperationId),
    /// The values of a datatype.
    Datatype(Vec<ConstructorId>),
    /// The values of a subtype: constructors and what their fields range over.
    Subtype(Vec<(ConstructorId, Option<OperationId>)>),
    Process(ControlPointId),
}

/// A pattern.
#[derive(Debug)]
pub(super) enum Matcher {
    Any,
    Bind(u32),
    Int(i32),
    Bool(bool),
    Char(char),
    Text(Vec<char>),
    Tuple(Vec<MatcherId>),
    Sequence(Vec<MatcherId>),
    /// A beginning, what lies between, and an end.
    Around(Vec<MatcherId>, MatcherId, Vec<MatcherId>),
    EmptySet,
    Singleton(MatcherId),
    Dot(Vec<MatcherId>),
    Constructor(ConstructorId),
    Both(MatcherId, MatcherId),
    /// Several parts of a sequence could have any length.
    Ambiguous(Span),
    /// Matches nothing; it was reported.
    Never,
}

/// See the module's text.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) captures: Vec<Access>,
    pub(super) frame: u32,
    pub(super) body: OperationId,
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// Where it is defined.
    pub(super) span: Span,
    /// How many parameters each of its lists has.
    pub(super) lists: Vec<u32>,
    pub(super) parameters: u32,
    pub(super) clauses: Vec<FunctionClause>,
    pub(super) captures: Vec<Access>,
    pub(super) frame: u32,
    /// Whether it seems to give a process; then its results are kept.
    pub(super) process: bool,
}

#[derive(Debug)]
pub(super) struct FunctionClause {
    /// None when every parameter is a name that sits in its own slot.
    pub(super) matchers: Option<Vec<MatcherId>>,
    pub(super) body: OperationId,
}

/// Definitions that depend on each other.
#[derive(Debug)]
pub(super) struct GroupCode {
    /// What they capture, as seen where the `let` stands.
    pub(super) captures: Vec<Access>,
    pub(super) members: Vec<MemberCode>,
    pub(super) cells: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum MemberCode {
    Function(FunctionId),
    /// The cell and the unit that fills it.
    Value(u32, UnitId),
}

pub(super) struct Global {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) definition: GlobalDefinition,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum GlobalDefinition {
    /// What it stands for was reported.
    Broken,
    Function(FunctionId),
    Value(UnitId),
    Constructor(ConstructorId),
}

/// A channel or constructor.
pub(super) struct ConstructorCode {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) channel: bool,
    /// What its fields range over.
    pub(super) fields: Option<UnitId>,
}

pub(super) enum ComprehensionItems {
    Listed(Vec<Lazy>),
    Range(Span2),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComprehensionKind {
    Sequence,
    Set,
    Productions,
}

pub(super) struct Comprehension {
    pub(super) kind: ComprehensionKind,
    pub(super) items: ComprehensionItems,
    pub(super) steps: Vec<Step>,
}

/// A generator or a condition.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// What is bound, and to the elements of what.
    Generator(MatcherId, OperationId),
    /// What must hold.
    Condition(OperationId),
}

/// A field of a communication.
#[derive(Clone, Copy, Debug)]
pub enum CommunicationField {
    /// `?p`, perhaps of a set.
    Input(MatcherId, Option<OperationId>),
    /// `$p`, perhaps of a set.
    Choice(MatcherId, Option<OperationId>),
    /// `!e`.
    Output(OperationId),
}

/// A place where a process is made.
#[derive(Debug)]
pub struct ControlPoint {
    /// The expression.
    pub expression: ExpressionId,
    /// Its place.
    pub span: Span,
    /// Which variables it captures, in order, where they are variables of the script; local definitions have none.
    pub variables: Vec<Option<LocalId>>,
    /// What those variables are called.
    pub names: Vec<Option<Box<str>>>,
    /// What it is.
    pub shape: Shape,
    /// The timed section it stands in.
    pub timed: Option<SectionId>,
    pub(super) captures: Vec<Access>,
    pub(super) frame: u32,
}

/// What sort of process is made. The operations are to be run in the process's environment.
#[derive(Debug)]
pub enum Shape {
    /// `c?x -> P`.
    Prefix {
        /// What stands before the first field.
        channel: OperationId,
        /// The fields.
        fields: Vec<CommunicationField>,
        /// What comes after.
        process: OperationId,
        /// How long events take in a timed section of a `let`, which may see its variables.
        durations: Option<OperationId>,
    },
    /// An operator between two processes, or a process and a set for `\` and `|\`.
    Binary {
        /// Which.
        operator: BinaryOperator,
        /// Left operand.
        left: OperationId,
        /// Right operand.
        right: OperationId,
    },
    /// An operator with a set.
    Synchronised {
        /// Which.
        operator: SynchronisedOperator,
        /// Left operand.
        left: OperationId,
        /// The set.
        events: OperationId,
        /// Right operand.
        right: OperationId,
    },
    /// `P [A||B] Q`.
    Alphabetised {
        /// Left operand.
        left: OperationId,
        /// Its alphabet.
        left_alphabet: OperationId,
        /// The right operand's alphabet.
        right_alphabet: OperationId,
        /// Right operand.
        right: OperationId,
    },
    /// `P [a <-> b] Q`.
    Link {
        /// Left operand.
        left: OperationId,
        /// The pairs.
        ties: Vec<(OperationId, OperationId)>,
        /// Their generators.
        steps: Vec<Step>,
        /// Right operand.
        right: OperationId,
    },
    /// `P [[a <- b]]`.
    Rename {
        /// The process.
        process: OperationId,
        /// The pairs.
        pairs: Vec<(OperationId, OperationId)>,
        /// Their generators.
        steps: Vec<Step>,
    },
    /// `[] x : S @ P` and its like.
    Replicated {
        /// Which.
        operator: ReplicatedOperator,
        /// The generators.
        steps: Vec<Step>,
        /// What is replicated.
        body: OperationId,
    },
}

/// Replicated operators.
#[derive(Clone, Debug)]
pub enum ReplicatedOperator {
    /// `|||`
    Interleave,
    /// `[]`
    ExternalChoice,
    /// `|~|`
    InternalChoice,
    /// `;`
    Sequential,
    /// `[|A|]`
    Parallel(OperationId),
    /// `[+A+]`
    SynchronisingChoice(OperationId),
    /// `|| x : S @ [A] P`; the alphabet sees the variables
    Alphabetised(OperationId),
    /// `[a <-> b]`
    Link(Vec<(OperationId, OperationId)>, Vec<Step>),
}

/// A timed section.
pub(super) struct Section {
    /// The event that counts time.
    pub(super) tock: UnitId,
    /// How long events take.
    pub(super) durations: Option<UnitId>,
}

/// A compiled script.
#[derive(Default)]
pub(super) struct Program {
    pub(super) operations: Vec<Operation>,
    pub(super) spans: Vec<Span>,
    pub(super) matchers: Vec<Matcher>,
    pub(super) units: Vec<Unit>,
    pub(super) functions: Vec<Function>,
    pub(super) groups: Vec<GroupCode>,
    pub(super) globals: Vec<Global>,
    pub(super) constructors: Vec<ConstructorCode>,
    pub(super) comprehensions: Vec<Comprehension>,
    pub(super) control_points: Vec<ControlPoint>,
    pub(super) sections: Vec<Section>,
    /// The channels of the script and of its instances.
    pub(super) channels: Vec<ConstructorId>,
    /// The datatypes of the script and of its instances, with their constructors.
    pub(super) datatypes: Vec<(DefinitionId, String, Vec<ConstructorId>)>,
}

impl Program {
    pub(super) fn span(&self, operation: OperationId) -> Span {
        self.spans[operation.index()]
    }
}
