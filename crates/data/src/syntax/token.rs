//! Tokens of mCRL2: one set for data, processes and formulas.

use trefoil_source::Span;

macro_rules! kinds {
    ($($(#[$what:meta])* $kind:ident = $text:literal,)*) => {
        /// What a token is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            /// A name that is no reserved word.
            Name,
            /// Digits.
            Number,
            /// The end of the text.
            End,
            $($(#[$what])* $kind,)*
        }

        impl Kind {
            /// How the token is written, or what it is where that differs from one to the next.
            pub fn text(self) -> &'static str {
                match self {
                    Kind::Name => "a name",
                    Kind::Number => "a number",
                    Kind::End => "the end of the text",
                    $(Kind::$kind => $text,)*
                }
            }

            /// Every reserved word and operator.
            pub(super) const FIXED: &'static [Kind] = &[$(Kind::$kind,)*];
        }
    };
}

kinds! {
    /// `act`
    Act = "act",
    /// `allow`
    Allow = "allow",
    /// `block`
    Block = "block",
    /// `comm`
    Comm = "comm",
    /// `cons`
    Cons = "cons",
    /// `delay`
    Delay = "delay",
    /// `delta`
    Delta = "delta",
    /// `dist`
    Dist = "dist",
    /// `div`
    Div = "div",
    /// `end`
    EndWord = "end",
    /// `eqn`
    Eqn = "eqn",
    /// `exists`
    Exists = "exists",
    /// `false`
    False = "false",
    /// `forall`
    Forall = "forall",
    /// `glob`
    Glob = "glob",
    /// `hide`
    Hide = "hide",
    /// `in`
    In = "in",
    /// `init`
    Init = "init",
    /// `lambda`
    Lambda = "lambda",
    /// `map`
    Map = "map",
    /// `mod`
    Mod = "mod",
    /// `mu`
    Mu = "mu",
    /// `nu`
    Nu = "nu",
    /// `proc`
    Proc = "proc",
    /// `rename`
    Rename = "rename",
    /// `sort`
    Sort = "sort",
    /// `struct`
    Struct = "struct",
    /// `sum`
    Sum = "sum",
    /// `tau`
    Tau = "tau",
    /// `true`
    True = "true",
    /// `val`
    Val = "val",
    /// `var`
    Var = "var",
    /// `whr`
    Whr = "whr",
    /// `yaled`
    Yaled = "yaled",
    /// `Bag`
    Bag = "Bag",
    /// `Bool`
    Bool = "Bool",
    /// `FBag`
    FBag = "FBag",
    /// `FSet`
    FSet = "FSet",
    /// `Int`
    Int = "Int",
    /// `List`
    List = "List",
    /// `Nat`
    Nat = "Nat",
    /// `Pos`
    Pos = "Pos",
    /// `Real`
    Real = "Real",
    /// `Set`
    Set = "Set",
    /// `||_`
    LeftMerge = "||_",
    /// `->`
    Arrow = "->",
    /// `=>`
    Implies = "=>",
    /// `||`
    Or = "||",
    /// `&&`
    And = "&&",
    /// `==`
    Equal = "==",
    /// `!=`
    NotEqual = "!=",
    /// `<=`
    LessEqual = "<=",
    /// `>=`
    GreaterEqual = ">=",
    /// `<>`
    Else = "<>",
    /// `<<`
    Until = "<<",
    /// `<|`
    Snoc = "<|",
    /// `|>`
    ConsTo = "|>",
    /// `++`
    Concat = "++",
    /// `<`
    Less = "<",
    /// `>`
    Greater = ">",
    /// `+`
    Plus = "+",
    /// `-`
    Minus = "-",
    /// `*`
    Star = "*",
    /// `/`
    Slash = "/",
    /// `.`
    Dot = ".",
    /// `!`
    Not = "!",
    /// `#`
    Hash = "#",
    /// `|`
    Bar = "|",
    /// `=`
    Is = "=",
    /// `:`
    Colon = ":",
    /// `;`
    Semicolon = ";",
    /// `,`
    Comma = ",",
    /// `?`
    Question = "?",
    /// `@`
    At = "@",
    /// `(`
    Open = "(",
    /// `)`
    Close = ")",
    /// `[`
    OpenSquare = "[",
    /// `]`
    CloseSquare = "]",
    /// `{`
    OpenCurly = "{",
    /// `}`
    CloseCurly = "}",
}

impl Kind {
    /// Whether a section of a specification starts here: a place where reading can go on after a mistake.
    pub fn starts_section(self) -> bool {
        use Kind::{Act, Cons, Eqn, Glob, Init, Map, Proc, Sort, Var};
        matches!(self, Sort | Cons | Map | Var | Eqn | Glob | Act | Proc | Init)
    }

    /// Whether it is a word, reserved or not.
    pub fn is_word(self) -> bool {
        match self {
            Kind::Name => true,
            Kind::Number | Kind::End => false,
            _ => self.text().starts_with(|first: char| first.is_ascii_alphabetic()),
        }
    }

    /// The bracket that closes this one.
    pub(super) fn closing(self) -> Option<Kind> {
        match self {
            Kind::Open => Some(Kind::Close),
            Kind::OpenSquare => Some(Kind::CloseSquare),
            Kind::OpenCurly => Some(Kind::CloseCurly),
            _ => None,
        }
    }

    /// Whether it is a closing bracket.
    pub(super) fn closes(self) -> bool {
        matches!(self, Kind::Close | Kind::CloseSquare | Kind::CloseCurly)
    }
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

/// A comment, from its `%` to the end of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Where it stands, without the line end.
    pub span: Span,
    /// Whether nothing but blank space stands before it in its line.
    pub own_line: bool,
    /// Whether an empty line stands before it.
    pub after_blank: bool,
}
