//! The codes of this stage's diagnostics.

crate::code_table::code_table! { pub(super)
    UNKNOWN_NAME = "C040", "a name is not declared", "x = y";
    DUPLICATE = "C041", "a name is declared twice in one scope", "x = 1\ny = 2\nx = 3";
    PRIVATE = "C042", "a name is private to its module", "module M\n x = 1\nexports\nendmodule\ny = M::x";
    NEEDS_INSTANCE = "C043", "a name of a module with parameters is used without an instance",
        "module M(p)\nexports\n x = p\nendmodule\ny = M::x";
    UNKNOWN_EXTERNAL = "C044", "no such `external` or `transparent` function", "external prioritize";
    QUALIFIED_PATTERN = "C045", "a qualified name in a pattern is neither a constructor nor a channel",
        "module M\nexports\n x = 1\nendmodule\nf(M::x) = 1";
    FIELD_ORDER = "C046", "a field with `$` follows one with `?` or `!`", "channel c : {0..1}.{0..1}\nP = c?x$y -> STOP";
    SET_PATTERN = "C047", "a set pattern with two or more elements", "f({x, y}) = x";
    BIG_NUMBER = "C048", "a number without a minus does not fit in 32 bits", "x = 2147483648";
    NOT_ANNOTATABLE = "C049", "a type annotation without a definition in the same scope", "f :: Int";
    ANNOTATED_TWICE = "C050", "two type annotations for one name", "x :: Int\nx :: Int\nx = 1";
    NOT_A_TYPE_VARIABLE = "C051", "a constraint or `=>*` on something other than a type variable",
        "f :: Eq Int => Int\nf = 1";
    NOT_A_VALUE = "C052", "a module is used as a value, or something else as a module",
        "module M\nexports\nendmodule\nx = M";
    NO_TOCK = "C053", "a timed section without an event `tock`", "Timed {\n P = STOP\n}";
    NOT_A_CONSTRUCTOR = "C054", "an alternative of a `subtype` is not a constructor", "x = 1\nsubtype T = x";
    NOT_A_TYPE = "C055", "a name in a type is not a type", "x = 1\ny :: M::x\ny = 1\nmodule M\nexports\n x = 1\nendmodule";
    UNUSED = "C056", "a name declared by a `let` is never used; a warning", "x = let y = 1\n within 2";
    LIKE_A_LABEL = "C057",
        "a variable in a pattern is never used and is spelt almost like a constructor or channel; a warning",
        "datatype T = Read | Write\nf(Read) = 1\nf(Wirte) = 2";
}
