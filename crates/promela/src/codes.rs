//! The codes of what this crate says about a model.

use trefoil_source::{Code, CodeEntry};

macro_rules! codes {
    ($($name:ident = $code:literal, $meaning:literal, $example:literal;)*) => {
        $(pub(crate) const $name: Code = $code;)*

        /// Every code of this crate, with what it means and an example.
        pub const CODES: &[CodeEntry] = &[$(CodeEntry::new($code, $meaning, $example)),*];
    };
}

codes! {
    CANNOT_READ = "P001", "a file cannot be read", "#include \"no-such-file.h\"";
    BAD_CHARACTER = "P002", "a character that no token starts with", "x = $1";
    OPEN_LITERAL = "P003", "a comment, string or character is not closed", "/* the rest";
    BIG_NUMBER = "P004", "a number does not fit in 32 bits", "x = 4294967296";
    DIRECTIVE = "P005", "a preprocessor directive is wrong", "#define 1 2";
    MACRO_CALL = "P006", "a macro or inline is called with the wrong arguments", "#define max(a, b) a\nx = max(1)";
    EXPECTED = "P010", "something else was expected", "if :: x -> y fi fi";
    TOO_DEEP = "P011", "statements or expressions are nested too deeply", "x = ((((…))))";
    EMBEDDED_C = "P012", "embedded C code is not supported", "c_code { x++; }";
    NOT_SUPPORTED = "P013", "a construct that is not supported", "x = f(1), where f is an inline";
    UNKNOWN_NAME = "P020", "a name that nothing declares", "y = 1";
    DECLARED_TWICE = "P021", "a name is declared twice in one scope", "byte x; byte x;";
    WRONG_TYPE = "P022", "a value of another sort is needed", "byte x; x!1";
    NOT_CONSTANT = "P023", "a constant is needed", "byte x[y];";
    LABEL = "P024", "a label is unknown, declared twice or cannot stand here", "goto nowhere";
    ARGUMENTS = "P025", "the wrong number of arguments or message fields", "chan c = [1] of { byte }; c!1,2";
    D_STEP = "P026", "something that a d_step cannot contain", "d_step { run P() }";
    MISPLACED = "P027", "a statement that has no meaning here", "break";
    TOO_LARGE = "P028", "an array, a channel or the number of processes is too large", "active [300] proctype P() { skip }";
    LOOP_OF_JUMPS = "P029", "jumps that lead to each other and never to a statement", "L: goto L";
    SUSPICIOUS = "P040", "something that probably means something else; a warning", "if :: c?x :: else fi";
    NO_PROCESS = "P042", "nothing runs: there is no init and no active proctype", "proctype P() { skip }";
}
