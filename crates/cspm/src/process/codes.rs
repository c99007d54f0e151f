//! The codes of the failures of compilation.

use crate::code_table::code_table;

code_table! {
    pub(super)
    UNGUARDED = "E030", "a process calls itself before it performs an event", "P = P [] a -> STOP";
    GROWS = "E031", "a process grows without bound", "P = a -> (P ||| P)";
    UNSUPPORTED = "E032", "a process that Trefoil does not support", "failure_watchdog(P, {a}, b)";
    NO_ALTERNATIVES = "E033", "an internal choice without alternatives", "|~| x : {} @ P(x)";
    NOT_AN_EVENT = "E034", "a value is not a complete event where an event is needed", "P [[a <- c]] where c needs fields";
    TOO_LARGE = "E035", "a component is too large", "P(n) = a -> P(n + 1)";
    MERGED = "E036", "a layer over states that a compression has merged", "chase(normal(P))";
    BAD_ORDER = "E037", "contradictory priorities", "prioritise(P, <{a}, {a}>)";
    NOT_TIMED = "E040", "an operator without a timed meaning in a timed section", "Timed {\n P = Q [c <-> d] R\n}";
    NEGATIVE_TIME = "E041", "a negative time", "WAIT(-1)";
}
