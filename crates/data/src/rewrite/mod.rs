//! Rewriting: equations compiled to code, and the machine that runs it.
//!
//! The rules of a function become a match tree (`matching.rs`) whose leaves hold the condition and the right side
//! as code for slots and operands (`code.rs`). The strategy is innermost with delayed arguments: arguments that every
//! rule needs are evaluated before a call, others when a rule asks for them, so `fst(7, loop)` is 7 with
//! `fst(n, m) = n`. `if`, `&&`, `||` and `=>` are jumps. Terms are maximally shared; nothing else is, and no call is
//! remembered. The equations of lists, sets, bags and function updates are written in the language itself
//! (`pages.rs`); numbers are machine words and big numbers with built-in functions (`numbers.rs`).
//!
//! The match trees are those of Augustsson, *Compiling pattern matching* (1985), with the order of mCRL2's jitty
//! strategy (van de Pol, *Just-in-time: on strategy annotations*, 2001) for rules that overlap. What differs from
//! jitty: an argument that is delayed and needed twice may be evaluated twice, there as here, but an argument that
//! every rule needs is evaluated once and first; and the branches of an `if` whose condition stays open are not
//! evaluated, so that an open `fac(n)` ends.
//!
//! Cost: a step is a few instructions of the machine and one look-up for each constructor that is made.

mod bodies;
mod code;
pub mod codes;
mod comparison;
mod compile;
mod enumerate;
mod exclusion;
mod expansion;
mod expressions;
mod facts;
mod finite;
mod functions;
mod instance;
mod linear;
mod machine;
mod matching;
mod narrow;
mod needed;
pub mod numbers;
mod open;
mod overlaps;
mod pages;
mod plan;
mod prelude;
mod program;
mod search;
mod sites;
mod stuck;
mod values;

use trefoil_terms::Term;

pub use code::FunctionIndex;
pub use enumerate::{EachSolution, Enumerated, Sum, SumIndex};
pub use finite::Size;
pub use machine::{Rewriter, Unfinished};
pub use open::{ReadBack, View, widens};
pub use overlaps::overlaps;
pub(crate) use prelude::Taken;
pub use program::Program;

impl Rewriter<'_> {
    /// Evaluates one of the expressions that the program was made with, over values of its variables.
    pub fn evaluate(&mut self, code: FunctionIndex, values: &[Term]) -> Result<Term, Unfinished> {
        let height = self.stack.len();
        self.stack.extend_from_slice(values);
        match self.call(code) {
            Ok(()) => Ok(self.pop()),
            Err(unfinished) => {
                self.reset(height);
                Err(unfinished)
            }
        }
    }
}
