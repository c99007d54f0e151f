//! The code that rules become.
//!
//! A function is code over a frame: its parameters, then the parts that matching takes out of them, the values of
//! `whr`, and what is evaluated on the way. Slots above those in use are free, so a function that is called has its
//! frame where its arguments were put, and leaves its value there. Code either returns a value or ends in the last
//! call, whose arguments take the place of the parameters.

use trefoil_terms::{Symbol, Term};

use crate::signature::Operator;

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

/// How many operations follow an [`Op::Compare`] for operands that it cannot compare.
pub(super) const COMPARED_SLOWLY: Target = 3;

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    /// Ends a run: the first operation of every program, to which outermost calls return.
    Halt,
    /// Goes where the entries of a table say for the head of a slot's term. The last entry is for other heads.
    Switch { count: u16, slot: Slot, first: u32 },
    /// Goes elsewhere when the head of a slot's term is another symbol.
    Is { slot: Slot, symbol: Symbol, otherwise: Target },
    /// Goes elsewhere when a slot has another term.
    IsTerm { slot: Slot, term: Term, otherwise: Target },
    /// Takes an argument out of a slot's term.
    Load { from: Slot, index: u16, to: Slot },
    /// Takes two arguments out of a slot's term.
    Load2 { indices: [u8; 2], from: Slot, to: [Slot; 2] },
    /// Copies a slot.
    Move { from: Slot, to: Slot },
    /// Copies a slot, then another one.
    Move2 { from: [Slot; 2], to: [Slot; 2] },
    /// Puts a term into a slot.
    Constant { to: Slot, term: Term },
    /// Goes elsewhere when two slots hold different terms.
    Same { one: Slot, other: Slot, otherwise: Target },
    /// Goes elsewhere when a slot's term is a number that does not fit, or no number.
    Guard { slot: Slot, guard: Guard, otherwise: Target },
    /// Evaluates what a slot holds if it is delayed, at the first free slot; a [`Op::Move`] follows, which is left out
    /// if it is not.
    Force { slot: Slot, at: Slot },
    /// Applies a symbol to slots.
    Make1 { symbol: Symbol, one: Slot, to: Slot },
    /// Applies a symbol to slots.
    Make2 { symbol: Symbol, one: Slot, other: Slot, to: Slot },
    /// Applies a symbol to slots.
    Make3 { symbol: Symbol, slots: [Slot; 3], to: Slot },
    /// Applies a symbol to neighbouring slots and puts the term into the first one.
    Make { symbol: Symbol, arity: u16, at: Slot },
    /// Calls code with neighbouring slots; its value goes into the first one.
    Call { entry: Target, at: Slot, arity: u16 },
    /// Goes on with other code in the same frame, whose parameters are in place.
    Jump { entry: Target, arity: u16 },
    /// Calls a built-in function with neighbouring slots; its value goes into the first one.
    Builtin { function: FunctionIndex, at: Slot },
    /// The same as the last call, with the parameters in place.
    JumpBuiltin { function: FunctionIndex },
    /// Evaluates a quantifier over neighbouring slots with what it captured; its value goes into the first one.
    Quantify { function: FunctionIndex, at: Slot },
    /// Applies a function value to the slots behind it; the value goes into its slot.
    Apply { arity: u16, at: Slot },
    /// The same as the last call, with function value and arguments in place.
    JumpApply { arity: u16 },
    /// Compares two slots: true goes on behind the next [`COMPARED_SLOWLY`] operations, false goes elsewhere. Those
    /// operations come next when the terms alone do not decide.
    Compare { operator: Operator, one: Slot, other: Slot, otherwise: Target },
    /// Looks at a truth value: true goes on, false and open go elsewhere.
    Test { slot: Slot, otherwise: Target, open: Target },
    /// Goes on elsewhere.
    Goto(Target),
    /// Gives a slot as the value.
    Return { slot: Slot },
    /// Gives a term as the value.
    Give { term: Term },
    /// Gives the application of a symbol to a slot as the value.
    Give1 { symbol: Symbol, one: Slot },
    /// Gives the application of a symbol to slots as the value.
    Give2 { symbol: Symbol, one: Slot, other: Slot },
    /// No rule applies: the value is the function applied to its evaluated parameters.
    Stuck { function: FunctionIndex },
    /// Puts the instance of an expression into a slot, not evaluated.
    Instance { template: u32, to: Slot },
    /// Joins two neighbouring truth values, the first one open, by conjunction, disjunction or implication.
    Join { function: FunctionIndex, at: Slot },
}

/// Where to go for a head; of the last entry of a table the symbol does not matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) symbol: Symbol,
    pub(super) target: Target,
}

impl Op {
    /// One operation that does the same as this one and the next.
    pub(super) fn joined(self, next: Op) -> Option<Op> {
        match (self, next) {
            (Op::Load { from, index, to }, Op::Load { from: again, index: second, to: other })
                if from == again && from != to =>
            {
                Some(Op::Load2 { indices: [index.try_into().ok()?, second.try_into().ok()?], from, to: [to, other] })
            }
            (Op::Move { from, to }, Op::Move { from: second, to: other }) => {
                Some(Op::Move2 { from: [from, second], to: [to, other] })
            }
            (Op::Make1 { symbol, one, to }, Op::Return { slot }) if slot == to => Some(Op::Give1 { symbol, one }),
            (Op::Make2 { symbol, one, other, to }, Op::Return { slot }) if slot == to => {
                Some(Op::Give2 { symbol, one, other })
            }
            _ => None,
        }
    }
}
