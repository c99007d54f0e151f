//! Tokens.

/// Sorts of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
pub(super) enum Kind {
    End, Bad,
    // Words and literals.
    Name, Integer, Character, String, Wildcard,
    // Keywords.
    True, False, If, Then, Else, Let, Within, And, Or, Not,
    Channel, Assert, Datatype, Subtype, External, Transparent, Nametype, Module, Exports, EndModule, Instance, Timed,
    // Brackets.
    OpenRound, CloseRound, OpenBrace, CloseBrace, OpenProductions, CloseProductions, OpenMap, CloseMap,
    OpenRename, CloseRename, OpenEvents, CloseEvents, CloseException, OpenSquare, CloseSquare,
    OpenSyncChoice, CloseSyncChoice, OpenSyncInterrupt, CloseSyncInterrupt, OpenProperty, CloseProperty,
    // Operators.
    Refines, ExternalChoice, InternalChoice, Interleave, Interrupt, Arrow, SlidingChoice, Parallel, Semicolon, Ampersand,
    Project, Backslash, EqualEqual, NotEqual, Less, LessEqual, Greater, GreaterEqual, Plus, Minus, Star, Slash, Percent,
    Caret, Hash, Bar, Comma, Dot, DotDot, Question, Exclamation, Dollar, LeftArrow, Tie, DoubleColon, Colon,
    YieldStar, Yield, AtAt, At, Equals,
}

/// A token: bytes `start..end`, and whether a newline comes between it and the token before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) after_newline: bool,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Kind {
    /// Whether an expression cannot end with it, so that a newline after it means nothing.
    pub(super) fn continues(self) -> bool {
        use Kind::*;
        !matches!(
            self,
            End | Bad
                | Name
                | Integer
                | Character
                | String
                | Wildcard
                | True
                | False
                | CloseRound
                | CloseBrace
                | CloseProductions
                | CloseMap
                | CloseRename
                | CloseProperty
                | CloseSquare
                | Greater
                | Exports
                | EndModule
        )
    }

    /// Whether a declaration can start with it.
    pub(super) fn starts_declaration(self) -> bool {
        use Kind::*;
        self.is_declaration_keyword()
            || matches!(self, Name | OpenRound | OpenBrace | Less | Wildcard | Exports | EndModule)
    }

    /// Whether it is the first word of a declaration that has one.
    pub(super) fn is_declaration_keyword(self) -> bool {
        use Kind::*;
        matches!(
            self,
            Channel | Assert | Datatype | Subtype | External | Transparent | Nametype | Module | Instance | Timed
        )
    }

    /// Whether an expression can start with it and none can go on with it.
    pub(super) fn only_starts_expression(self) -> bool {
        use Kind::*;
        matches!(
            self,
            Name | Integer | Character | String | True | False | OpenBrace | OpenProductions | OpenMap | Hash
        )
    }

    /// The closing bracket that belongs to an opening one.
    pub(super) fn closing(self) -> Option<Kind> {
        use Kind::*;
        Some(match self {
            OpenRound => CloseRound,
            OpenBrace => CloseBrace,
            OpenProductions => CloseProductions,
            OpenMap => CloseMap,
            OpenRename => CloseRename,
            OpenEvents => CloseEvents,
            OpenSquare => CloseSquare,
            OpenSyncChoice => CloseSyncChoice,
            OpenSyncInterrupt => CloseSyncInterrupt,
            Less => Greater,
            _ => return None,
        })
    }

    /// How it is shown in messages.
    pub(super) fn shown(self) -> &'static str {
        use Kind::*;
        match self {
            End => "the end of the file",
            Bad => "text that is not CSPM",
            Name => "a name",
            Integer => "a number",
            Character => "a character",
            String => "a string",
            Wildcard => "`_`",
            True => "`true`",
            False => "`false`",
            If => "`if`",
            Then => "`then`",
            Else => "`else`",
            Let => "`let`",
            Within => "`within`",
            And => "`and`",
            Or => "`or`",
            Not => "`not`",
            Channel => "`channel`",
            Assert => "`assert`",
            Datatype => "`datatype`",
            Subtype => "`subtype`",
            External => "`external`",
            Transparent => "`transparent`",
            Nametype => "`nametype`",
            Module => "`module`",
            Exports => "`exports`",
            EndModule => "`endmodule`",
            Instance => "`instance`",
            Timed => "`Timed`",
            OpenRound => "`(`",
            CloseRound => "`)`",
            OpenBrace => "`{`",
            CloseBrace => "`}`",
            OpenProductions => "`{|`",
            CloseProductions => "`|}`",
            OpenMap => "`(|`",
            CloseMap => "`|)`",
            OpenRename => "`[[`",
            CloseRename => "`]]`",
            OpenEvents => "`[|`",
            CloseEvents => "`|]`",
            CloseException => "`|>`",
            OpenSquare => "`[`",
            CloseSquare => "`]`",
            OpenSyncChoice => "`[+`",
            CloseSyncChoice => "`+]`",
            OpenSyncInterrupt => "`/+`",
            CloseSyncInterrupt => "`+\\`",
            OpenProperty => "`:[`",
            CloseProperty => "`]:`",
            Refines => "a refinement operator",
            ExternalChoice => "`[]`",
            InternalChoice => "`|~|`",
            Interleave => "`|||`",
            Interrupt => "`/\\`",
            Arrow => "`->`",
            SlidingChoice => "`[>`",
            Parallel => "`||`",
            Semicolon => "`;`",
            Ampersand => "`&`",
            Project => "`|\\`",
            Backslash => "`\\`",
            EqualEqual => "`==`",
            NotEqual => "`!=`",
            Less => "`<`",
            LessEqual => "`<=`",
            Greater => "`>`",
            GreaterEqual => "`>=`",
            Plus => "`+`",
            Minus => "`-`",
            Star => "`*`",
            Slash => "`/`",
            Percent => "`%`",
            Caret => "`^`",
            Hash => "`#`",
            Bar => "`|`",
            Comma => "`,`",
            Dot => "`.`",
            DotDot => "`..`",
            Question => "`?`",
            Exclamation => "`!`",
            Dollar => "`$`",
            LeftArrow => "`<-`",
            Tie => "`<->`",
            DoubleColon => "`::`",
            Colon => "`:`",
            YieldStar => "`=>*`",
            Yield => "`=>`",
            AtAt => "`@@`",
            At => "`@`",
            Equals => "`=`",
        }
    }
}
