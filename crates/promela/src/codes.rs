//! The codes of the diagnostics about a model.

use trefoil_source::{Code, CodeEntry};

/// A number and what it counts: `1 argument`, `2 arguments`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

macro_rules! codes {
    ($($name:ident = $code:literal, $meaning:literal, $example:literal;)*) => {
        $(pub(crate) const $name: Code = $code;)*

        /// Every code of this crate, with what it means and an example.
        pub const CODES: &[CodeEntry] = &[$(CodeEntry::new($code, $meaning, $example)),*];
    };
}

codes! {
    CANNOT_READ = "P001", "a file cannot be read", "#include \"no-such-file.h\"";
    BAD_CHARACTER = "P002", "a character that begins no token", "x = $1";
    OPEN_LITERAL = "P003", "a comment, string or character is not closed", "/* the rest";
    BIG_NUMBER = "P004", "a number does not fit in 32 bits", "x = 4294967296";
    DIRECTIVE = "P005", "a preprocessor directive is wrong", "#define 1 2";
    MACRO_CALL = "P006", "a macro or inline is called with the wrong arguments", "#define max(a, b) a\nx = max(1)";
    EXPECTED = "P010", "a syntax error: another token was expected", "if :: x -> y fi fi";
    TOO_DEEP = "P011", "statements or expressions are nested too deeply", "x = ((((…))))";
    EMBEDDED_C = "P012", "embedded C code is not supported", "c_code { x++; }";
    NOT_SUPPORTED = "P013", "a construct that Trefoil does not support", "x = f(1), where f is an inline";
    UNKNOWN_NAME = "P020", "a name that is not declared", "y = 1";
    DECLARED_TWICE = "P021", "a name is declared twice in one scope", "byte x; byte x;";
    WRONG_TYPE = "P022", "a value or variable of the wrong type", "byte x; x!1";
    NOT_CONSTANT = "P023", "an expression that is not a constant", "byte x[len(c)];";
    LABEL = "P024", "a label is unknown, declared twice or in the wrong place", "goto nowhere";
    ARGUMENTS = "P025", "the wrong number of arguments or message fields", "chan c = [1] of { byte }; c!1,2";
    D_STEP = "P026", "a construct that a d_step cannot contain", "d_step { run P() }";
    MISPLACED = "P027", "a statement or expression in the wrong place", "break";
    TOO_LARGE = "P028", "an array, a channel or the number of processes is too large",
        "active [300] proctype P() { skip }";
    LOOP_OF_JUMPS = "P029", "jumps that lead to each other and to no statement", "L: goto L";
    SUSPICIOUS = "P040", "a construct that probably means something else; a warning", "if :: c?x :: else fi";
    NO_PROCESS = "P042", "no process runs: the model has no init and no active proctype", "proctype P() { skip }";
}
