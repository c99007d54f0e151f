//! What the user asked for: the options that were given, and no defaults.
//!
//! An engine takes out what it honours ([`Asked::take`]); what is then left over is what it does not. A new option is
//! therefore refused everywhere until an engine takes it. A value that asks for nothing (`off`, `auto`, `automatic`,
//! `exact`) is honoured by everything. Threads, memory and time are limits of a job and no options.

use std::fmt::Write;

/// How refinement is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Chosen by the size of the specification's normal form.
    Automatic,
    /// The search keeps minimal pairs of a set of specification states and an implementation state.
    Antichain,
    /// The specification is normalised and minimised before the search.
    NormalForm,
    /// The specification is normalised as far as the search reaches.
    LazyNormalForm,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 4] =
        [Algorithm::Automatic, Algorithm::Antichain, Algorithm::NormalForm, Algorithm::LazyNormalForm];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Automatic => "automatic",
            Algorithm::Antichain => "antichain",
            Algorithm::NormalForm => "normal-form",
            Algorithm::LazyNormalForm => "lazy-normal-form",
        }
    }
}

/// In which order a product is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// By the number of visible events: a witness is a shortest one.
    BreadthFirst,
    /// The pair found last first: no promise about length.
    DepthFirst,
}

impl Order {
    /// All of them.
    pub const ALL: [Order; 2] = [Order::BreadthFirst, Order::DepthFirst];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Order::BreadthFirst => "bfs",
            Order::DepthFirst => "dfs",
        }
    }
}

/// What is minimised modulo divergence-preserving branching bisimulation before a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preprocess {
    /// Nothing.
    Nothing,
    /// The specification.
    Specification,
    /// The implementation.
    Implementation,
    /// Both.
    Both,
}

impl Preprocess {
    /// All of them.
    pub const ALL: [Preprocess; 4] =
        [Preprocess::Nothing, Preprocess::Specification, Preprocess::Implementation, Preprocess::Both];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Preprocess::Nothing => "none",
            Preprocess::Specification => "spec",
            Preprocess::Implementation => "impl",
            Preprocess::Both => "both",
        }
    }
}

/// Which symmetries are used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SymmetryUse {
    /// All that can be proved.
    Automatic,
    /// Those that assertions ask for.
    AsWritten,
    /// None, whatever assertions ask for.
    Off,
    /// Those of these types, whatever assertions ask for; a type that is not symmetric is an error.
    Types(Vec<String>),
}

/// How a search remembers the states that it has met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Store {
    /// As whole states.
    #[default]
    Exact,
    /// By 64 bits of a hash: a search without a counterexample proves nothing.
    HashCompact,
    /// By three bits in a table of a given size: a search without a counterexample proves nothing.
    Bitstate {
        /// The size of the table.
        bytes: u64,
    },
}

impl Store {
    /// Its name, without a size.
    pub const fn name(self) -> &'static str {
        match self {
            Store::Exact => "exact",
            Store::HashCompact => "hash-compact",
            Store::Bitstate { .. } => "bitstate",
        }
    }
}

/// What searches a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineChoice {
    /// Chosen by the question, and by how many states there turn out to be.
    Automatic,
    /// One state after the other.
    Explicit,
    /// Decision diagrams.
    Symbolic,
}

impl EngineChoice {
    /// All of them.
    pub const ALL: [EngineChoice; 3] = [EngineChoice::Automatic, EngineChoice::Explicit, EngineChoice::Symbolic];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            EngineChoice::Automatic => "auto",
            EngineChoice::Explicit => "explicit",
            EngineChoice::Symbolic => "symbolic",
        }
    }
}

/// What looks for winners while the game of a formula is explored with decision diagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameSolver {
    /// Chosen by the game.
    Automatic,
    /// Vertices without moves, and attractors.
    Sinks,
    /// Also cycles that a player walks alone.
    Solitaire,
    /// Also cycles that a player can force.
    Forced,
    /// Also fatal attractors.
    Fatal,
    /// Everything that is decided already.
    Recursive,
    /// Nothing: the game is solved when all of it is explored.
    Full,
}

impl GameSolver {
    /// All of them.
    pub const ALL: [GameSolver; 7] = [
        GameSolver::Automatic,
        GameSolver::Sinks,
        GameSolver::Solitaire,
        GameSolver::Forced,
        GameSolver::Fatal,
        GameSolver::Recursive,
        GameSolver::Full,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            GameSolver::Automatic => "auto",
            GameSolver::Sinks => "sinks",
            GameSolver::Solitaire => "solitaire",
            GameSolver::Forced => "forced",
            GameSolver::Fatal => "fatal",
            GameSolver::Recursive => "recursive",
            GameSolver::Full => "full",
        }
    }
}

/// Which runs a claim is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fairness {
    /// All.
    #[default]
    None,
    /// Those on which an agent that can always initiate a step, from some moment on, takes part in steps again and
    /// again.
    Weak,
    /// Those on which an agent that can initiate a step again and again takes part in steps again and again.
    Strong,
}

impl Fairness {
    /// All of them.
    pub const ALL: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Fairness::None => "none",
            Fairness::Weak => "weak",
            Fairness::Strong => "strong",
        }
    }
}

/// How a system is taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Decompose {
    /// By a partition that is chosen.
    Chosen,
    /// By this partition of the parameters: names with commas between them, parts with slashes.
    By(String),
}

/// The options that were given. `None` and `false` mean that the user did not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Asked {
    /// What searches a system.
    pub engine: Option<EngineChoice>,
    /// What solves a game while it is explored.
    pub solver: Option<GameSolver>,
    /// How refinement is decided.
    pub algorithm: Option<Algorithm>,
    /// In which order a product is searched.
    pub order: Option<Order>,
    /// What is minimised before a search.
    pub preprocess: Option<Preprocess>,
    /// Which symmetries are used.
    pub symmetry: Option<SymmetryUse>,
    /// How representatives are chosen, by the name of a strategy.
    pub strategy: Option<&'static str>,
    /// Are independent steps taken in one order?
    pub partial_order: Option<bool>,
    /// How states are remembered.
    pub store: Option<Store>,
    /// Does the search go on after the first counterexample?
    pub keep_going: bool,
    /// Are sequential components left as they are, instead of being compressed?
    pub no_leaf_compression: bool,
    /// Is a counterexample written as a trail of Spin's?
    pub trail: bool,
    /// Is the evidence about a formula written as a system or drawn?
    pub evidence: bool,
    /// Is it shown why a formula holds?
    pub witness: bool,
    /// Which runs claims are about.
    pub fairness: Option<Fairness>,
    /// Is the system taken apart, and composed again from minimised parts?
    pub decompose: Option<Decompose>,
}

/// The name of the strategy that picks one of the others.
const ANY_STRATEGY: &str = "auto";

/// The options, each by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Setting {
    /// [`Asked::engine`]
    Engine,
    /// [`Asked::solver`]
    Solver,
    /// [`Asked::algorithm`]
    Algorithm,
    /// [`Asked::order`]
    Order,
    /// [`Asked::preprocess`]
    Preprocess,
    /// [`Asked::symmetry`]
    Symmetry,
    /// [`Asked::strategy`]
    Strategy,
    /// [`Asked::partial_order`]
    PartialOrder,
    /// [`Asked::store`]
    Store,
    /// [`Asked::keep_going`]
    KeepGoing,
    /// [`Asked::no_leaf_compression`]
    LeafCompression,
    /// [`Asked::trail`]
    Trail,
    /// [`Asked::evidence`]
    Evidence,
    /// [`Asked::witness`]
    Witness,
    /// [`Asked::fairness`]
    Fairness,
    /// [`Asked::decompose`]
    Decompose,
}

impl Setting {
    /// All of them.
    pub const ALL: [Setting; 16] = [
        Setting::Engine,
        Setting::Solver,
        Setting::Algorithm,
        Setting::Order,
        Setting::Preprocess,
        Setting::Symmetry,
        Setting::Strategy,
        Setting::PartialOrder,
        Setting::Store,
        Setting::KeepGoing,
        Setting::LeafCompression,
        Setting::Trail,
        Setting::Evidence,
        Setting::Witness,
        Setting::Fairness,
        Setting::Decompose,
    ];

    /// As the command line writes it.
    pub fn name(self) -> &'static str {
        match self {
            Setting::Engine => "--engine",
            Setting::Solver => "--solver",
            Setting::Algorithm => "--algorithm",
            Setting::Order => "--search",
            Setting::Preprocess => "--preprocess",
            Setting::Symmetry => "--symmetry",
            Setting::Strategy => "--strategy",
            Setting::PartialOrder => "--partial-order",
            Setting::Store => "--store",
            Setting::KeepGoing => "--keep-going",
            Setting::LeafCompression => "--no-leaf-compression",
            Setting::Trail => "--trail",
            Setting::Evidence => "--evidence",
            Setting::Witness => "--witness",
            Setting::Fairness => "--fairness",
            Setting::Decompose => "--decompose",
        }
    }
}

impl Asked {
    /// A value that asks for something, of each option: for tables and tests.
    pub fn everything() -> Asked {
        Asked {
            engine: Some(EngineChoice::Symbolic),
            solver: Some(GameSolver::Fatal),
            algorithm: Some(Algorithm::Antichain),
            order: Some(Order::DepthFirst),
            preprocess: Some(Preprocess::Both),
            symmetry: Some(SymmetryUse::Types(vec!["T".into()])),
            strategy: Some("canonical"),
            partial_order: Some(true),
            store: Some(Store::HashCompact),
            keep_going: true,
            no_leaf_compression: true,
            trail: true,
            evidence: true,
            witness: true,
            fairness: Some(Fairness::Weak),
            decompose: Some(Decompose::Chosen),
        }
    }

    /// Was this option given with a value that asks for something?
    pub fn wants(&self, setting: Setting) -> bool {
        match setting {
            Setting::Engine => self.engine.is_some_and(|engine| engine != EngineChoice::Automatic),
            Setting::Solver => self.solver.is_some_and(|solver| solver != GameSolver::Automatic),
            Setting::Algorithm => self.algorithm.is_some_and(|algorithm| algorithm != Algorithm::Automatic),
            Setting::Order => self.order.is_some(),
            Setting::Preprocess => self.preprocess.is_some_and(|preprocess| preprocess != Preprocess::Nothing),
            Setting::Symmetry => matches!(self.symmetry, Some(SymmetryUse::Types(_))),
            Setting::Strategy => self.strategy.is_some_and(|strategy| strategy != ANY_STRATEGY),
            Setting::PartialOrder => self.partial_order == Some(true),
            Setting::Store => self.store.is_some_and(|store| store != Store::Exact),
            Setting::KeepGoing => self.keep_going,
            Setting::LeafCompression => self.no_leaf_compression,
            Setting::Trail => self.trail,
            Setting::Evidence => self.evidence,
            Setting::Witness => self.witness,
            Setting::Fairness => self.fairness.is_some_and(|fairness| fairness != Fairness::None),
            Setting::Decompose => self.decompose.is_some(),
        }
    }

    /// The options that ask for something.
    pub fn wanted(&self) -> impl Iterator<Item = Setting> + '_ {
        Setting::ALL.into_iter().filter(|&setting| self.wants(setting))
    }

    /// Takes an option out; whether it asked for something.
    pub fn take(&mut self, setting: Setting) -> bool {
        let wanted = self.wants(setting);
        match setting {
            Setting::Engine => self.engine = None,
            Setting::Solver => self.solver = None,
            Setting::Algorithm => self.algorithm = None,
            Setting::Order => self.order = None,
            Setting::Preprocess => self.preprocess = None,
            Setting::Symmetry => self.symmetry = None,
            Setting::Strategy => self.strategy = None,
            Setting::PartialOrder => self.partial_order = None,
            Setting::Store => self.store = None,
            Setting::KeepGoing => self.keep_going = false,
            Setting::LeafCompression => self.no_leaf_compression = false,
            Setting::Trail => self.trail = false,
            Setting::Evidence => self.evidence = false,
            Setting::Witness => self.witness = false,
            Setting::Fairness => self.fairness = None,
            Setting::Decompose => self.decompose = None,
        }
        wanted
    }

    /// The same without one option.
    pub fn without(&self, setting: Setting) -> Asked {
        let mut rest = self.clone();
        rest.take(setting);
        rest
    }

    /// The same with these options only.
    pub fn only(&self, settings: &[Setting]) -> Asked {
        let mut rest = self.clone();
        for setting in Setting::ALL.into_iter().filter(|setting| !settings.contains(setting)) {
            rest.take(setting);
        }
        rest
    }

    /// Was this option given, whatever its value?
    pub fn gives(&self, setting: Setting) -> bool {
        *self != self.without(setting)
    }

    /// An option with its value, as a user writes it.
    pub fn text(&self, setting: Setting) -> String {
        let mut text = setting.name().to_string();
        let value = match setting {
            Setting::Engine => self.engine.map(EngineChoice::name),
            Setting::Solver => self.solver.map(GameSolver::name),
            Setting::Algorithm => self.algorithm.map(Algorithm::name),
            Setting::Order => self.order.map(Order::name),
            Setting::Preprocess => self.preprocess.map(Preprocess::name),
            Setting::Strategy => self.strategy,
            Setting::PartialOrder => self.partial_order.filter(|on| !on).map(|_| "off"),
            Setting::Store => self.store.map(Store::name),
            Setting::Fairness => self.fairness.map(Fairness::name),
            Setting::Decompose => match &self.decompose {
                Some(Decompose::By(partition)) => {
                    let _ = write!(text, "='{partition}'");
                    None
                }
                Some(Decompose::Chosen) | None => None,
            },
            Setting::Symmetry => match &self.symmetry {
                Some(SymmetryUse::Types(types)) => {
                    let _ = write!(text, " {}", types.join(","));
                    None
                }
                Some(SymmetryUse::Off) => Some("off"),
                Some(SymmetryUse::Automatic) => Some("auto"),
                Some(SymmetryUse::AsWritten) | None => None,
            },
            Setting::KeepGoing | Setting::LeafCompression | Setting::Trail | Setting::Evidence | Setting::Witness => {
                None
            }
        };
        if let Some(value) = value {
            let _ = write!(text, " {value}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_can_be_given_and_taken_out() {
        let mut asked = Asked::everything();
        for setting in Setting::ALL {
            assert!(asked.wants(setting) && asked.gives(setting), "{}", setting.name());
            assert_eq!(asked.only(&[setting]).wanted().collect::<Vec<_>>(), [setting]);
            assert!(asked.take(setting));
            assert!(!asked.wants(setting) && !asked.gives(setting));
        }
        assert_eq!(asked, Asked::default());
    }

    #[test]
    fn values_that_ask_for_nothing_are_never_left_over() {
        let asked = Asked {
            engine: Some(EngineChoice::Automatic),
            solver: Some(GameSolver::Automatic),
            algorithm: Some(Algorithm::Automatic),
            symmetry: Some(SymmetryUse::Off),
            strategy: Some("auto"),
            partial_order: Some(false),
            store: Some(Store::Exact),
            preprocess: Some(Preprocess::Nothing),
            ..Asked::default()
        };
        assert_eq!(asked.wanted().count(), 0);
        assert!(asked.gives(Setting::Symmetry) && asked.text(Setting::Symmetry) == "--symmetry off");
    }
}
