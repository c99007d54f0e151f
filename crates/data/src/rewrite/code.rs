//! The code that rules become.
//!
//! A function is code over a frame: its parameters, then the parts that matching takes out of them and the values of
//! `whr`, then operands. Code either returns a value or ends in the last call, which takes the place of its frame.

use trefoil_terms::{Symbol, Term};

/// A place in a frame.
pub(super) type Slot = u16;

/// A place in the code.
pub(super) type Target = u32;

/// A function of a [`super::Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionIndex(pub(super) u32);

/// What a number must be to match a variable of a narrower sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// Above 0.
    Positive,
    /// At least 0.
    Natural,
    /// No fraction.
    Integer,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    /// Goes where the table says for the head of a slot's term.
    Switch { slot: Slot, table: u32 },
    /// Takes an argument out of a slot's term.
    Load { from: Slot, index: u16, to: Slot },
    /// Goes elsewhere when two slots hold different terms.
    Same { one: Slot, other: Slot, otherwise: Target },
    /// Goes elsewhere when a slot's term is a number that does not fit, or no number.
    Guard { slot: Slot, guard: Guard, otherwise: Target },
    /// Evaluates what a slot holds if it is delayed; a [`Op::Store`] follows, which is left out if it is not.
    Force { slot: Slot },
    /// Puts what a slot holds on top.
    Slot(Slot),
    /// Puts a term on top.
    Constant(Term),
    /// Takes the topmost term into a slot.
    Store(Slot),
    /// Applies a symbol to the topmost terms.
    Make { symbol: Symbol, arity: u16 },
    /// Calls a function with the topmost terms.
    Call { function: FunctionIndex },
    /// Calls a function with the topmost terms; its value is that of the present one.
    Jump { function: FunctionIndex },
    /// Applies a function value to the topmost terms above it.
    Apply { arity: u16 },
    /// The same as the last call.
    JumpApply { arity: u16 },
    /// Takes the topmost truth value: true goes on, false and open go elsewhere. An open one stays on top.
    Test { otherwise: Target, open: Target },
    /// Goes on elsewhere.
    Goto(Target),
    /// Gives the topmost term as the value.
    Return,
    /// No rule applies: the value is the function applied to its evaluated parameters.
    Stuck { function: FunctionIndex },
    /// Puts the instance of an expression on top, not evaluated.
    Instance { template: u32 },
    /// Joins two truth values, the first one open: conjunction, disjunction or implication.
    Join { function: FunctionIndex },
}

/// Where to go by head.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Symbols of applications, each with its target.
    pub(super) symbols: Vec<(Symbol, Target)>,
    /// Terms without arguments, numbers among them, each with its target.
    pub(super) terms: Vec<(Term, Target)>,
    pub(super) otherwise: Target,
}
