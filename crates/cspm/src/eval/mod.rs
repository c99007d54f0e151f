//! Evaluation: from a typed script to values.
//!
//! [`Evaluator::new`] compiles a script and evaluates nothing. Everything that is not a process is evaluated call by
//! need; definitions of the top level are evaluated once. A process evaluates to a closed description, its control
//! point and the values of its free variables ([`ProcessValue`]), that can be compared, hashed and stepped.
//!
//! Evaluation ends with a value or with a [`Failure`]: a mistake in the script with its place and the calls that led
//! there, or a budget that ran out.
//!
//! Where the language leaves something open: division rounds down; fields of constructors and channels are evaluated
//! when they are dotted on and must belong to the declared set; elements of sets and keys of maps are evaluated when
//! they are put in; `mapUpdateMultiple` lets the last pair of a key count.

mod builtins;
mod calls;
mod code;
mod codes;
mod collections;
mod communications;
mod compile;
mod control_points;
mod dots;
mod evaluator;
mod failure;
mod listing;
mod locals;
mod machine;
mod matching;
mod open;
mod order;
mod permutation;
mod process;
mod relations;
mod scopes;
mod sequences;
mod sets;
mod show;
mod translate;
mod value;

pub use code::{
    CommunicationField, ControlPoint, ControlPointId, MatcherId, OperationId, ReplicatedOperator, SectionId, Shape,
    Step,
};
pub use codes::CODES;
pub use evaluator::{Evaluator, Options};
pub use failure::{Failure, Mistake, Reason, Result};
pub(crate) use open::{Captured, Computation, Given, constructor_of, fits, has_all, is_data, with_fields};
pub use order::{compare, hash_of};
pub use permutation::{Datatype, Misfit, Permutation, constants_in};
pub use process::{Communication, Description, ProcessId, ProcessNode, ProcessValue};
pub use sets::SetValue;
pub(crate) use show::one_line;
pub use value::{Chunk, Closure, ConstructorId, Data, Elements, Group, Items, MapValue, Thunk, Value};
