//! The codes of what linearisation reports.

use trefoil_source::CodeEntry;

/// A process whose stack of calls grows.
pub const NOT_REGULAR: &str = "M301";
/// A parallel process where only a sequential one can be.
pub const PARALLEL_INSIDE: &str = "M302";
/// Too many combinations of steps.
pub const TOO_MANY: &str = "M303";
/// A sort without a known value.
pub const NO_VALUE: &str = "M304";
/// A parallel process that never ends to unfold.
pub const ENDLESS: &str = "M305";
/// A sum over infinitely many values that no condition bounds.
pub const UNBOUNDED: &str = "M306";
/// Too many control states.
pub const TOO_MANY_STATES: &str = "M307";
/// Every code of this stage.
pub const CODES: &[CodeEntry] = &[
    CodeEntry::new(
        NOT_REGULAR,
        "a process leaves more and more to be done after its recursive calls",
        "act a, b; proc P = a . P . b + b; init P;",
    ),
    CodeEntry::new(
        PARALLEL_INSIDE,
        "a parallel process below a choice, a sum, a sequence or an open condition",
        "act a; proc P = a . (P || P); init P;",
    ),
    CodeEntry::new(
        TOO_MANY,
        "parallel steps that nothing restricts make too many combinations",
        "act a; proc P = a . P; Q = P || P || P || P; R = Q || Q || Q || Q; init R || R;",
    ),
    CodeEntry::new(
        NO_VALUE,
        "a parameter needs a value of a sort that has none",
        "sort D; act a: D; proc P = sum d: D . a(d) . Q(d); Q(d: D) = a(d) . P; init P;",
    ),
    CodeEntry::new(
        ENDLESS,
        "parallel processes call each other without end",
        "act a; proc P(n: Nat) = (n > 0) -> (a || P(n + 1)) <> a; init P(1);",
    ),
    CodeEntry::new(
        UNBOUNDED,
        "a sum over infinitely many values without a condition on them",
        "act a: Nat; init sum n: Nat . a(n) . delta;",
    ),
    CodeEntry::new(
        TOO_MANY_STATES,
        "a process with too many control states",
        "act a, b; proc A = a.a.a.a.a.a.a.a.a.a; B = A.A.A.A.A.A.A.A.A.A; C = B.B.B.B.B.B.B.B.B.B; \
         D = C.C.C.C.C.C.C.C.C.C; init D.D.D.D.D.D.b;",
    ),
];
