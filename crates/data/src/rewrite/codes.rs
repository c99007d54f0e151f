//! The codes of what this stage reports.

crate::code_table::code_table! { pub
    STUCK = "M151", "a value is missing: no equation fits a term; a warning", "head([])";
    UNDECIDED = "M152", "a quantifier is not decided; a warning", "exists n: Nat. n * n == 50";
    UNLISTED = "M153", "the values of a variable cannot be listed, or are too many", "solve r: Real. r > 0";
}
