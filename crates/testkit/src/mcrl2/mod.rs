//! Processes over data, straight from the rules of the process algebra, and random specifications.
//!
//! [`semantics`] walks process terms by structured operational semantics: no linear process, no control states, nothing
//! remembered. It knows data only through [`Data`], so that a test decides which evaluator it trusts. [`random`] makes
//! specifications as text together with their trees here and an evaluator of its own; what reads and explores the text
//! shares nothing with it.

pub mod cleave;
pub mod invariants;
pub mod random;
pub mod semantics;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;

/// A variable; every binder binds variables of its own.
pub type Variable = u32;

/// Values of variables.
pub type Environment<V> = BTreeMap<Variable, V>;

/// What processes need to know of their data.
pub trait Data {
    /// An expression.
    type Expression: Clone + Debug;
    /// A value; equal values are equal here.
    type Value: Clone + Debug + Ord + Hash;

    /// The value of an expression.
    fn evaluate(&mut self, expression: &Self::Expression, environment: &Environment<Self::Value>) -> Self::Value;

    /// Which truth value this is; none for a stuck term.
    fn truth(&self, value: &Self::Value) -> Option<bool>;

    /// The values that a `sum` over a variable runs through.
    fn values(&mut self, variable: Variable) -> Vec<Self::Value>;

    /// A value as mCRL2 prints it.
    fn text(&self, value: &Self::Value) -> String;

    /// The variables of an expression that it does not bind itself.
    fn free_variables(&self, expression: &Self::Expression) -> Vec<Variable>;
}

/// A process expression in a [`Specification`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub usize);

/// A process expression over expressions `E`.
#[derive(Clone, Debug)]
pub enum Node<E> {
    /// Actions that happen together, each with a name and arguments; `tau` is none.
    Actions(Vec<(String, Vec<E>)>),
    /// A call of a definition, by its number.
    Call(usize, Vec<E>),
    /// `delta`
    Delta,
    /// `p + q`
    Choice(NodeId, NodeId),
    /// `p . q`
    Sequence(NodeId, NodeId),
    /// `p || q`
    Parallel(NodeId, NodeId),
    /// `sum x: S. p`
    Sum(Vec<Variable>, NodeId),
    /// `c -> p <> q`
    Condition(E, NodeId, Option<NodeId>),
    /// An operator on what happens.
    Operator(Operator, NodeId),
}

/// An operator that changes or forbids what happens. Bags of names are sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// `block`
    Block(Vec<String>),
    /// `hide`
    Hide(Vec<String>),
    /// `rename`
    Rename(Vec<(String, String)>),
    /// `allow`
    Allow(Vec<Vec<String>>),
    /// `comm`
    Comm(Vec<(Vec<String>, String)>),
}

/// Definitions and an initial process.
#[derive(Clone, Debug)]
pub struct Specification<E> {
    /// The process expressions.
    pub nodes: Vec<Node<E>>,
    /// Parameters and body of each definition.
    pub definitions: Vec<(Vec<Variable>, NodeId)>,
    /// The initial process.
    pub init: NodeId,
}

impl<E> Specification<E> {
    /// Adds a process expression.
    pub fn add(&mut self, node: Node<E>) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() - 1)
    }
}
