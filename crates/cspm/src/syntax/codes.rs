//! The codes of this stage's diagnostics.

crate::code_table::code_table! { pub(super)
    NOT_UTF8 = "C001", "the file is not UTF-8 and is read as Windows-1252 (Latin-1); a warning", "-- caf\u{e9} in Latin-1";
    BAD_CHARACTER = "C002", "a character that starts no token", "P = a ~> STOP";
    OPEN_COMMENT = "C003", "a block comment is not closed", "P = STOP {- the rest";
    BAD_LITERAL = "C004", "a string is not closed, or a character literal does not hold one character", "x = \"abc";
    BIG_NUMBER = "C005", "a number does not fit in 32 bits", "x = 4294967296";
    RICH_TEXT = "C006", "the file is a word processor's document, not plain text", "{\\rtf1 P = STOP}";
    EXPRESSION_EXPECTED = "C010", "an expression was expected", "x = 1 + * 2";
    TOKEN_EXPECTED = "C011", "another token was expected", "x = if true 1 else 2";
    UNCLOSED = "C012", "a bracket is not closed", "P = (a -> STOP\nQ = STOP";
    UNOPENED = "C013", "a closing bracket without an opening one", "x = card({1}))";
    SAME_LINE = "C014", "text follows a complete declaration on its line, or a declaration ends with an operator", "x = 1 y = 2";
    NOT_A_PATTERN = "C015", "an expression where a pattern is needed", "f(x + 1) = x";
    DECLARATION_EXPECTED = "C016", "a declaration was expected", "= STOP";
    NOT_HERE = "C017", "a declaration of this kind is not allowed here", "x = let channel c\n within 1";
    TOO_DEEP = "C018", "expressions are nested too deeply", "x = ((((…))))";
    UNKNOWN_MODEL = "C019", "no such semantic model", "assert STOP [X= STOP";
    UNKNOWN_PROPERTY = "C020", "no such property or option of an assertion", "assert STOP :[deadly]";
    OPTION_TWICE = "C021", "an option occurs twice, or in place of a property",
        "assert STOP :[tau priority]: {} :[tau priority]: {}";
    NO_WITHIN = "C022", "a `let` without `within`", "x = let y = 1\nz = 2";
    NO_PREFIX = "C023", "a communication is not followed by `->`", "P = c?x STOP";
    PATTERN_ONLY = "C024", "`_` and `@@` mean something only in patterns", "x = {0 | 0 <- _}";
    NO_EQUALS = "C025", "a definition without `=`", "P [] Q";
    EMPTY_PARAMETERS = "C026", "a module or instance with empty brackets", "module M()\nexports\nendmodule";
    NO_EXPORTS = "C027", "a module without `exports` or `endmodule`", "module M\nx = 1\nendmodule";
    UNKNOWN_CONSTRAINT = "C028", "no such type constraint", "f :: Eqs a => a";
    NOT_ARGUMENTS = "C029", "the arguments of a function type are not in brackets", "f :: a -> b";
    CANNOT_READ = "C030", "a file cannot be read", "include \"no-such-file.csp\"";
    CYCLE = "C031", "files include each other in a cycle", "include \"itself.csp\"";
    BAD_INCLUDE = "C032", "`include` without a path in double quotes on its line", "include other.csp";
}
