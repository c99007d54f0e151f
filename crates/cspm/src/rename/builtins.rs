//! The built-in names, available always or by declaration.

/// How a built-in name becomes available to a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Always there.
    Free,
    /// Only inside timed sections.
    Timed,
    /// After `external`.
    External,
    /// After `transparent`.
    Transparent,
    /// After either.
    Either,
}

macro_rules! builtins {
    ($($variant:ident $text:literal $access:ident,)*) => {
        /// A built-in name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Builtin {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
        }

        impl Builtin {
            /// All of them.
            pub const ALL: &[Builtin] = &[$(Builtin::$variant),*];

            /// As written in scripts.
            pub fn text(self) -> &'static str {
                match self {
                    $(Builtin::$variant => $text,)*
                }
            }

            /// How it becomes available to a script.
            pub fn access(self) -> Access {
                match self {
                    $(Builtin::$variant => Access::$access,)*
                }
            }
        }
    };
}

builtins! {
    Union "union" Free,
    Inter "inter" Free,
    Diff "diff" Free,
    BigUnion "Union" Free,
    BigInter "Inter" Free,
    Member "member" Free,
    Card "card" Free,
    Empty "empty" Free,
    SetOf "set" Free,
    Subsets "Set" Free,
    Sequences "Seq" Free,
    SeqOf "seq" Free,
    Length "length" Free,
    Null "null" Free,
    Head "head" Free,
    Tail "tail" Free,
    Concat "concat" Free,
    Elem "elem" Free,
    Stop "STOP" Free,
    Skip "SKIP" Free,
    Div "DIV" Free,
    Chaos "CHAOS" Free,
    Run "RUN" Free,
    Buffer "BUFFER" Free,
    WeakBuffer "WEAK_BUFFER" Free,
    SignalBuffer "SIGNAL_BUFFER" Free,
    Int "Int" Free,
    Bool "Bool" Free,
    Char "Char" Free,
    Proc "Proc" Free,
    Events "Events" Free,
    True "True" Free,
    False "False" Free,
    EmptyMap "emptyMap" Free,
    MapFromList "mapFromList" Free,
    MapLookup "mapLookup" Free,
    MapMember "mapMember" Free,
    MapToList "mapToList" Free,
    MapUpdate "mapUpdate" Free,
    MapUpdateMultiple "mapUpdateMultiple" Free,
    MapDelete "mapDelete" Free,
    Maps "Map" Free,
    Error "error" Free,
    Show "show" Free,
    Extensions "extensions" Free,
    Productions "productions" Free,
    Wait "WAIT" Timed,
    TimedStop "TSTOP" Timed,
    TimedSkip "TSKIP" Timed,
    TimedPriority "timed_priority" Timed,
    Chase "chase" Either,
    ChaseNocache "chase_nocache" Either,
    Deter "deter" External,
    FailureWatchdog "failure_watchdog" External,
    TraceWatchdog "trace_watchdog" External,
    Loop "loop" External,
    Prioritise "prioritise" External,
    PrioritiseNocache "prioritise_nocache" External,
    PrioritisePo "prioritisepo" External,
    Mtransclose "mtransclose" External,
    RelationalImage "relational_image" External,
    RelationalInverseImage "relational_inverse_image" External,
    Transpose "transpose" External,
    Explicate "explicate" Transparent,
    Lazyenumerate "lazyenumerate" Transparent,
    Diamond "diamond" Transparent,
    Normal "normal" Transparent,
    Lazynorm "lazynorm" Transparent,
    Sbisim "sbisim" Transparent,
    Wbisim "wbisim" Transparent,
    Dbisim "dbisim" Transparent,
    TauLoopFactor "tau_loop_factor" Transparent,
    ModelCompress "model_compress" Transparent,
}

impl Builtin {
    /// The one with this name.
    pub fn find(text: &str) -> Option<Builtin> {
        Builtin::ALL.iter().copied().find(|builtin| builtin.text() == text)
    }

    /// The one that older tools knew under this name, and that some scripts still ask for.
    pub fn find_old(text: &str) -> Option<Builtin> {
        (text == "normalise").then_some(Builtin::Normal)
    }

    /// Whether it can treat the constants of a datatype unlike each other: it lists a set in some order, makes text of
    /// a value, chooses representatives, or prunes a process by a rule of its own (Gibson-Robinson and Lowe, *Symmetry
    /// reduction in CSP model checking*, 2019, definition 23).
    pub fn tells_constants_apart(self) -> bool {
        matches!(self, Builtin::SeqOf | Builtin::MapToList | Builtin::Mtransclose | Builtin::Show) || self.prunes()
    }

    /// Whether it is one of those that prune a process.
    pub fn prunes(self) -> bool {
        matches!(self, Builtin::Chase | Builtin::ChaseNocache | Builtin::Deter | Builtin::ModelCompress)
    }

    /// Whether `external` (or else `transparent`) brings it in.
    pub fn comes_by(self, external: bool) -> bool {
        match self.access() {
            Access::Either => true,
            Access::External => external,
            Access::Transparent => !external,
            Access::Free | Access::Timed => false,
        }
    }
}

/// A type that needs no declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BasicType {
    /// `Int`
    Int,
    /// `Bool`
    Bool,
    /// `Char`
    Char,
    /// `Proc`
    Proc,
    /// `Event`
    Event,
}

impl BasicType {
    /// The one with this name.
    pub fn find(text: &str) -> Option<BasicType> {
        match text {
            "Int" => Some(BasicType::Int),
            "Bool" => Some(BasicType::Bool),
            "Char" => Some(BasicType::Char),
            "Proc" => Some(BasicType::Proc),
            "Event" => Some(BasicType::Event),
            _ => None,
        }
    }
}
