//! The codes of this stage's diagnostics.

crate::code_table::code_table! { pub(super)
    MISMATCH = "C060", "two types differ that should be equal", "x = 1 + true";
    NOT_COMPARABLE = "C061", "a type does not satisfy a constraint: equality, order, membership in sets, completeness or yielding",
        "x = STOP == STOP";
    INFINITE = "C062", "a type would have to contain itself", "f(x) = x(x)";
    AMBIGUOUS = "C063", "the type of a channel or constructor is not determined", "X = {}\nchannel c : X";
    ARGUMENT_COUNT = "C064", "a function or module has the wrong number of arguments", "f(x, y) = x\ny = f(1)";
    TOO_LARGE = "C065", "a type is too large to be checked", "f(x) = (x, x)\ng(x) = f(f(f(x)))";
    MODULE_CYCLE = "C066", "a module depends on an instance of itself",
        "module M(p)\nexports\n x = I::x\nendmodule\ninstance I = M(1)";
    SUBTYPE_FIELDS = "C067", "an alternative of a `subtype` has more fields than its constructor",
        "datatype T = A.{0..1}\nsubtype S = A.{0..1}.{0..1}";
    NOT_A_FUNCTION = "C068", "something that is not a function is applied", "x = 1\ny = x(2)";
}
