//! The tree of a specification: sections in the order of the text, and process expressions in an arena.

use trefoil_data::syntax::Layout;
use trefoil_data::syntax::tree::{
    DataSection, ExpressionId, ExpressionList, Identifier, SortId, Symbol, Tree, Variables,
};
use trefoil_source::Span;

/// A process expression in a [`Specification`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(pub u32);

/// Operators between two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProcessInfix {
    /// `+`
    Choice,
    /// `||`
    Parallel,
    /// `||_`
    LeftMerge,
    /// `<<`
    Until,
    /// `.`
    Sequence,
    /// `|`
    Merge,
}

impl ProcessInfix {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            ProcessInfix::Choice => "+",
            ProcessInfix::Parallel => "||",
            ProcessInfix::LeftMerge => "||_",
            ProcessInfix::Until => "<<",
            ProcessInfix::Sequence => ".",
            ProcessInfix::Merge => "|",
        }
    }
}

/// Names of actions that happen together: `a|b`.
pub type ActionBag = Vec<Identifier>;

/// A process expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Process {
    /// `a(d, e)`: an action or a call, which types decide.
    Action(Identifier, ExpressionList),
    /// `P(x = e)`, `P()`: a call in which parameters without a value keep it.
    Assign(Identifier, Vec<(Identifier, ExpressionId)>),
    /// `delta`
    Delta,
    /// `tau`
    Tau,
    /// `block({a}, p)`
    Block(Vec<Identifier>, ProcessId),
    /// `hide({a}, p)`
    Hide(Vec<Identifier>, ProcessId),
    /// `rename({a -> b}, p)`
    Rename(Vec<(Identifier, Identifier)>, ProcessId),
    /// `allow({a, b|c}, p)`
    Allow(Vec<ActionBag>, ProcessId),
    /// `comm({a|b -> c}, p)`
    Comm(Vec<(ActionBag, Identifier)>, ProcessId),
    /// `(p)`
    Brackets(ProcessId),
    /// Two processes.
    Infix(ProcessInfix, ProcessId, ProcessId),
    /// `sum x: S. p`
    Sum(Vec<Variables>, ProcessId),
    /// `dist x: S[e]. p`
    Dist(Vec<Variables>, ExpressionId, ProcessId),
    /// `c -> p`, `c -> p <> q`
    Condition(ExpressionId, ProcessId, Option<ProcessId>),
    /// `p @ t`
    At(ProcessId, ExpressionId),
}

/// `a, b: S # T;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actions {
    /// The names.
    pub names: Vec<Identifier>,
    /// The sorts of the arguments, a product for several; none for actions without data.
    pub sort: Option<SortId>,
    /// The declaration with its semicolon.
    pub span: Span,
}

/// `P(x: S) = p;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name.
    pub name: Identifier,
    /// The parameters.
    pub parameters: Vec<Variables>,
    /// The body.
    pub body: ProcessId,
    /// The definition with its semicolon.
    pub span: Span,
}

/// A section of a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Section {
    /// `sort`, `cons`, `map`, `var` and `eqn`.
    Data(DataSection),
    /// `glob …`
    Globals(Vec<(Vec<Variables>, Span)>),
    /// `act …`
    Actions(Vec<Actions>),
    /// `proc …`
    Processes(Vec<Definition>),
    /// `init p;`
    Init(ProcessId, Span),
}

/// A specification as it was read.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// Names, data expressions and sorts.
    pub tree: Tree,
    /// The sections, in order, each with the place of its keyword.
    pub sections: Vec<(Section, Span)>,
    /// Names of declarations with mistakes, whose uses no later stage reports.
    pub broken: Vec<Symbol>,
    /// Comments and empty lines.
    pub layout: Layout,
    pub(super) processes: Vec<Process>,
    pub(super) places: Vec<Span>,
}

impl Specification {
    /// A process expression.
    pub fn process(&self, id: ProcessId) -> &Process {
        &self.processes[id.0 as usize]
    }

    /// Where a process expression stands.
    pub fn span(&self, id: ProcessId) -> Span {
        self.places[id.0 as usize]
    }

    /// The data sections, in order.
    pub fn data(&self) -> impl Iterator<Item = &DataSection> + Clone {
        self.sections.iter().filter_map(|(section, _)| match section {
            Section::Data(section) => Some(section),
            _ => None,
        })
    }
}
