//! Processes whose names are resolved and whose data is typed.
//!
//! Every name stands for one declaration here: `a(x)` is an action or a call, of two actions of one name the sorts of
//! the arguments have chosen one, and a call lists a value for every parameter (`P(x = e)` and `P()` are filled in with
//! the caller's variables). Sets of actions hold names, because `block({a}, p)` means every action `a`. What is refused
//! (time, probabilities, `||_`, `<<`) has no form here; `delta@0` is `delta`.
//!
//! Recursion is guarded: on every path from a definition back to itself stands an action, or a condition. A condition
//! may end an unfolding (`Row(n) = (n > 0) -> (Seat(n) || Row(Int2Nat(n - 1)))`), which values decide, not names.

pub mod codes;
mod guarded;
mod sets;
mod types;

use trefoil_data::signature::{FunctionId, Origin};
use trefoil_data::sorts::SortRef;
use trefoil_data::syntax::tree::Symbol;
use trefoil_data::typed::{DataSpecification, TypedId, VariableId};
use trefoil_source::{Diagnostic, Place, Span};

pub use types::check;

/// A process in a [`ProcessSpecification`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessRef(pub u32);

/// An action of a [`ProcessSpecification`]: one name with the sorts of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActionId(pub u32);

/// A definition of a [`ProcessSpecification`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefinitionId(pub u32);

/// A declared action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionDeclaration {
    /// Its name, which several actions with other sorts may share.
    pub name: Symbol,
    /// The sorts of its arguments.
    pub sorts: Vec<SortRef>,
    /// Where it is declared.
    pub place: Span,
}

/// A defined process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name, which several definitions with other parameters may share.
    pub name: Symbol,
    /// Its parameters, which are variables of its body.
    pub parameters: Vec<VariableId>,
    /// Its body.
    pub body: ProcessRef,
    /// The name in the definition.
    pub place: Span,
}

/// An action with its arguments.
pub type Action = (ActionId, Vec<TypedId>);

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Process {
    /// Actions that happen together, sorted by their names; `tau` is none.
    MultiAction(Vec<Action>),
    /// A call with a value for each parameter, of the parameter's sort.
    Call(DefinitionId, Vec<TypedId>),
    /// `delta`
    Delta,
    /// `p + q`
    Choice(ProcessRef, ProcessRef),
    /// `p . q`
    Sequence(ProcessRef, ProcessRef),
    /// `p || q`
    Parallel(ProcessRef, ProcessRef),
    /// `sum x: S. p`
    Sum(Vec<VariableId>, ProcessRef),
    /// `c -> p` and `c -> p <> q`
    Condition(TypedId, ProcessRef, Option<ProcessRef>),
    /// `block({a}, p)`: the names, in order of their texts and each once.
    Block(Vec<Symbol>, ProcessRef),
    /// `hide({a}, p)`: the names, in order of their texts and each once.
    Hide(Vec<Symbol>, ProcessRef),
    /// `rename({a -> b}, p)`: no name is renamed twice.
    Rename(Vec<(Symbol, Symbol)>, ProcessRef),
    /// `allow({a, b|c}, p)`: each bag is sorted by the texts of its names, and there once.
    Allow(Vec<Vec<Symbol>>, ProcessRef),
    /// `comm({a|b -> c}, p)`: each left side is a sorted bag of two names or more. No name stands in two left sides,
    /// and no result in the left side of another rule.
    Comm(Vec<(Vec<Symbol>, Symbol)>, ProcessRef),
}

impl Process {
    /// The processes that it is made of.
    pub fn parts(&self) -> Vec<ProcessRef> {
        match self {
            Process::MultiAction(_) | Process::Call(..) | Process::Delta => Vec::new(),
            Process::Choice(left, right) | Process::Sequence(left, right) | Process::Parallel(left, right) => {
                vec![*left, *right]
            }
            Process::Condition(_, yes, no) => [*yes].into_iter().chain(*no).collect(),
            Process::Sum(_, inside)
            | Process::Block(_, inside)
            | Process::Hide(_, inside)
            | Process::Rename(_, inside)
            | Process::Allow(_, inside)
            | Process::Comm(_, inside) => vec![*inside],
        }
    }
}

/// A specification with its types.
#[derive(Clone, Debug, Default)]
pub struct ProcessSpecification {
    /// The data: names, sorts, functions, equations, and every expression in the processes.
    pub data: DataSpecification,
    /// The actions, in the order of the text; an [`ActionId`] counts them.
    pub actions: Vec<ActionDeclaration>,
    /// The definitions, in the order of the text; a [`DefinitionId`] counts them.
    pub definitions: Vec<Definition>,
    /// The variables of `glob`, which may have any value.
    pub globals: Vec<VariableId>,
    /// The initial process. A specification of data alone has none.
    pub init: Option<ProcessRef>,
    processes: Vec<Process>,
    places: Vec<Span>,
}

impl ProcessSpecification {
    /// A process.
    pub fn process(&self, id: ProcessRef) -> &Process {
        &self.processes[id.0 as usize]
    }

    /// Where a process stands in the text.
    pub fn place(&self, id: ProcessRef) -> Span {
        self.places[id.0 as usize]
    }

    /// The variables that processes sum over.
    pub(crate) fn summed(&self) -> Vec<VariableId> {
        let sums = self.processes.iter().filter_map(|process| match process {
            Process::Sum(variables, _) => Some(variables),
            _ => None,
        });
        sums.flatten().copied().collect()
    }

    /// Adds a process.
    pub fn add(&mut self, process: Process, place: Span) -> ProcessRef {
        let id = ProcessRef(self.processes.len() as u32);
        self.processes.push(process);
        self.places.push(place);
        id
    }

    /// A declared action.
    pub fn action(&self, id: ActionId) -> &ActionDeclaration {
        &self.actions[id.0 as usize]
    }

    /// A definition.
    pub fn definition(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.0 as usize]
    }

    /// The initial process, or that there is none in this file.
    pub fn initial(&self, file: &str) -> Result<ProcessRef, Diagnostic> {
        self.init.ok_or_else(|| {
            let message = format!("{file} has no initial process");
            let help = "`init p;` says which process is meant";
            Diagnostic::error(codes::NO_INIT, message, Place::File(file.to_string())).help(help)
        })
    }

    /// How many names the specification declares, of data and of processes.
    pub fn declared(&self) -> usize {
        let signature = &self.data.signature;
        let functions = (0..signature.len() as u32).map(|index| signature.function(FunctionId(index)));
        let functions = functions.filter(|function| !matches!(function.origin, Origin::Builtin(_))).count();
        functions + self.data.sort_names.len() + self.globals.len() + self.actions.len() + self.definitions.len()
    }

    /// The text of a name.
    pub fn name(&self, name: Symbol) -> &str {
        self.data.names.text(name)
    }
}
