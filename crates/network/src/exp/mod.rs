//! Networks in a file of their own, in a part of CADP's language EXP.
//!
//! The language (Lang, *Exp.Open 2.0: a flexible tool integrating partial order, compositional, and on-the-fly
//! verification methods*, 2005) puts files with LTSs together by the parallel operators of several process algebras.
//! What is read here:
//!
//! ```text
//! B ::= "file.aut"  |  file.aut  |  ( B )
//!     | B || B  |  B ||| B  |  B |[ L, … ]| B
//!     | [label | gate] par [L, …] in [L, … ->] B || … end par
//!     | [label | gate] par [using] V, … in B || … end par
//!     | hide [all but] L, … in B end hide
//!     | cut [all but] L, … in B end cut
//!     | [gate | total] rename L -> L, … in B end rename
//! V ::= (L | _) * … * (L | _) -> L
//! L ::= gate  |  gate#n  |  "label"
//! ```
//!
//! with comments from `--` to the end of the line and between `(*` and `*)`. What it means:
//!
//! - A *gate* without quotes is the labels of this name, alone or followed by a space, `!` or `(`: `PUT` stands for
//!   `PUT`, `PUT !1` and `PUT(1)`. In quotes stands one label, in which one or more `*` stand for any text; regular
//!   expressions are not read.
//! - `||` synchronises all labels, `|||` none, `|[L, …]|` those listed; the same label, offers included, is done on
//!   both sides. Operators without brackets between them group to the right, as in LOTOS.
//! - `par L in …` synchronises a listed label in all branches, or, if some branches name it before their `->`, in
//!   those; `L#n` in any `n` of them. A label that is not listed but named by branches is synchronised in those that
//!   name it.
//! - With vectors only what a vector says happens (and `τ`, which every branch does alone): `PUT * _ * GET -> MOVE`.
//!   Gates keep their offers, which must agree; so do the texts that a `*` in quotes stands for.
//! - The labels `exit` (as in LOTOS) and `✓` are done by all branches together, except under vectors.
//! - `cut` forbids labels; `rename` takes for each label the first arrow that fits, and gives a gate another name or a
//!   label another text.
//!
//! A behaviour denotes rules over the files in it: a file has one rule for each of its labels, and the operators join,
//! relabel or drop rules. So the whole is one network, and the result of an operator is never explored. Joining can
//! multiply rules; there is a limit.
//!
//! `expression` reads the text, `flatten` makes the rules. Absent here: reading the files.

mod expression;
mod flatten;

pub use expression::{Expression, parse};
pub use flatten::{Flattened, NotFlattened};
