//! The codes of the failures of evaluation.

use crate::code_table::code_table;

code_table! {
    pub(super)
    OVERFLOW = "E001", "a number does not fit in 32 bits", "2147483647 + 1";
    ZERO_DIVISOR = "E002", "division by zero", "1 / 0";
    NO_MATCH = "E003", "no equation of a function matches its arguments", "let f(0) = 1 within f(1)";
    BINDING_MISMATCH = "E004", "a value does not match the pattern it is bound to", "let <x> = <> within x";
    EMPTY_SEQUENCE = "E005", "the head or tail of an empty sequence", "head(<>)";
    USER_ERROR = "E006", "the script calls `error`", "error(\"no\")";
    INFINITE = "E007", "an infinite set or sequence would have to be enumerated", "card(Int)";
    DEPENDS_ON_ITSELF = "E008", "a value depends on itself", "let x = x + 1 within x";
    BAD_FIELD = "E009", "a field of a channel or constructor is outside its type", "c.2 for channel c : {0, 1}";
    NO_SUCH_KEY = "E010", "a map has no such key", "mapLookup(emptyMap, 1)";
    STEPS = "E011", "the step budget is used up", "let f(n) = f(n + 1) within f(0)";
    DEPTH = "E012", "evaluation is nested too deeply", "let f(n) = 1 + f(n + 1) within f(0)";
    NOT_RECTANGULAR = "E013", "the fields of a channel or constructor are not a product of sets", "c.0.0 for channel c : {0.0, 1.1}";
    WRONG_SORT = "E014", "a value of another sort is needed", "1 + true";
    NO_EQUALITY = "E015", "functions and processes cannot be compared", "union == union";
    EMPTY_INTERSECTION = "E016", "the intersection of no sets", "Inter({})";
    TOO_LARGE = "E017", "a set or sequence is too large to be enumerated", "card(Set(Set({0..9})))";
    WRONG_COUNT = "E018", "a function has too many or too few arguments", "head(<1>, 2)";
    INCOMPLETE = "E019", "an event or value lacks fields", "c -> STOP for channel c : Bool";
    BUFFER_BOUND = "E020", "a buffer without room", "BUFFER(0, {})";
    BROKEN = "E021", "evaluation reached a mistake that was reported before", "x +";
    AMBIGUOUS = "E022", "a pattern in which several parts of a sequence may have any length", "let s^t = <1> within s";
}
