//! The codes of what compilation says.

use crate::code_table::code_table;

code_table! {
    pub(super)
    UNGUARDED = "E030", "a process calls itself before it does anything", "P = P [] a -> STOP";
    GROWS = "E031", "a process grows without bound", "P = a -> (P ||| P)";
    UNSUPPORTED = "E032", "a process that is not supported yet", "failure_watchdog(P, {a}, b)";
    NO_ALTERNATIVES = "E033", "an internal choice between no processes", "|~| x : {} @ P(x)";
    NOT_AN_EVENT = "E034", "something that is not a complete event stands where one is needed", "P [[a <- c]] where c needs fields";
    TOO_LARGE = "E035", "a component is too large", "P(n) = a -> P(n + 1)";
    MERGED = "E036", "a layer over states that a compression has merged", "chase(normal(P))";
    BAD_ORDER = "E037", "priorities that contradict themselves", "prioritise(P, <{a}, {a}>)";
    NOT_TIMED = "E040", "an operator that timed sections do not have", "Timed {\n P = Q [c <-> d] R\n}";
    NEGATIVE_TIME = "E041", "a time that is negative", "WAIT(-1)";
}
