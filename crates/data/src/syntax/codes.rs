//! The codes of what this stage reports.

crate::code_table::code_table! { pub
    BAD_CHARACTER = "M001", "a character that no token starts with", "map f: Nat & Nat -> Nat;";
    BAD_NUMBER = "M002", "a number starts with a zero, or is too large", "eqn f = 007;";
    EXPECTED = "M003", "the text goes on with something that cannot stand there", "map f Nat;";
    UNCLOSED = "M004", "a bracket is not closed", "eqn f = (1 + 2;";
    RESERVED = "M005", "a reserved word stands where a name is needed", "map val: Nat;";
    SINGLE_EQUALS = "M006", "`=` stands where `==` is meant", "eqn n = 0 -> f(n) = 1;";
    NO_SORT = "M007", "a bound variable without its sort", "eqn f = forall x. x == x;";
    TOO_DEEP = "M008", "expressions are nested too deeply", "eqn f = ((((…))));";
    SECTION_EXPECTED = "M009", "a declaration outside of every section", "f: Nat;";
    VARIABLES_ALONE = "M010", "a `var` section without equations after it; a warning", "var x: Nat;";
    OTHER_NOTATION = "M011", "notation of another language", "eqn f(x) = if x then 1 else 2;";
}
