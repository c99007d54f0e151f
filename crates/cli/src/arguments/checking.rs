//! The arguments of `trefoil check`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use trefoil_session::check::{
    self, Algorithm, Asked, Decompose, EngineChoice, Fairness, GameSolver, Store, SymmetryUse,
};

use super::values::{algorithm, choices, engine, fairness, game_solver, parse_decompose, parse_store, parse_symmetry};

/// What to check and how.
#[derive(Args, Clone, Debug)]
pub(crate) struct Checking {
    /// Scripts; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Only these assertions, by number or by a part of their text; may be repeated
    #[arg(long, value_name = "N|TEXT")]
    pub(crate) only: Vec<String>,
    /// Show the counterexamples of these assertions step by step, and check no others unless --only chooses some;
    /// without a value, of every assertion that fails; may be repeated
    #[arg(long, value_name = "N|TEXT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) explain: Vec<String>,
    /// List the assertions and check none
    #[arg(long)]
    pub(crate) list: bool,
    /// What searches the states of a model of any language, or the game of a formula [default: auto]
    #[arg(long, value_name = "NAME", value_parser = choices(check::ENGINES).map(engine))]
    pub(crate) engine: Option<EngineChoice>,
    /// Formulas: what looks for winners while the game of a formula is explored [default: auto]
    #[arg(long, value_name = "NAME", value_parser = choices(check::GAME_SOLVERS).map(game_solver))]
    pub(crate) solver: Option<GameSolver>,
    /// Algorithm for refinement [default: automatic]
    #[arg(long, value_name = "NAME", value_parser = choices(check::ALGORITHMS).map(algorithm))]
    pub(crate) algorithm: Option<Algorithm>,
    /// Do not compress sequential components by strong bisimulation
    #[arg(long)]
    pub(crate) no_leaf_compression: bool,
    /// Partial-order reduction, in CSPM and Promela: take independent steps in one order. auto: in Promela wherever it
    /// is sound, in CSPM where `:[partial order reduce]` asks for it; on when no value follows [default: auto]
    #[arg(long, value_name = "auto|on|off", num_args = 0..=1, require_equals = true, default_missing_value = "on",
          value_parser = PossibleValuesParser::new(["auto", "on", "off"]).map(InOneOrder::from))]
    pub(crate) partial_order: Option<InOneOrder>,
    /// Symmetry reduction: auto (every symmetry that can be proved), off, or by the datatypes named [default: auto]
    #[arg(long, value_name = "auto|off|TYPE,…", value_parser = parse_symmetry)]
    pub(crate) symmetry: Option<SymmetryUse>,
    /// Strategy that chooses representatives of symmetric states [default: auto]
    #[arg(long, value_name = "NAME", value_parser = choices(check::STRATEGIES))]
    pub(crate) strategy: Option<&'static str>,
    /// mCRL2: take the specification apart along its parameters and search a composition of minimised parts, chosen or
    /// given as 'a,b / c,a / *'
    #[arg(long, value_name = "PARTS", num_args = 0..=1, require_equals = true, default_missing_value = "",
          value_parser = parse_decompose)]
    pub(crate) decompose: Option<Decompose>,
    /// Promela, mCRL2, and CSPM with --engine symbolic: continue the search after the first counterexample, so that the
    /// counts are those of the whole model
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Promela: how the search stores states: exact, or by hashes, which take less memory and prove nothing:
    /// hash-compact (8 bytes a state), bitstate (a table of 64 Mi) or bitstate:SIZE [default: exact]
    #[arg(long, value_name = "NAME", value_parser = parse_store)]
    pub(crate) store: Option<Store>,
    /// Promela: write the counterexample as a trail that `spin -t` replays; further ones have their number before
    /// .trail
    #[arg(long, value_name = "FILE")]
    pub(crate) trail: Option<PathBuf>,
    /// Write a report with everything about the answers, as one file for browsers (.html)
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Draw the counterexample as a message-sequence chart (.svg, .png); further ones have their number in
    /// the name
    #[arg(long, value_name = "FILE")]
    pub(crate) chart: Option<PathBuf>,
    /// Formulas: write the part of the model that the counterexample needs, as a system (.aut, .lts, .fsm, .json) or a
    /// picture (.svg, .png, .dot, .gv); further ones have their number before the extension
    #[arg(long, value_name = "FILE")]
    pub(crate) evidence: Option<PathBuf>,
    /// Formulas: show also why a formula holds
    #[arg(long)]
    pub(crate) witness: bool,
    /// mCRL2: actions with names like this must not happen; * stands for any text; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) never: Vec<String>,
    /// Check this formula of the modal µ-calculus, and nothing else: a file (.mcf) or the formula itself; may be
    /// repeated
    #[arg(long, value_name = "FILE|TEXT")]
    pub(crate) formula: Vec<String>,
    /// The same for a pattern of properties, such as 'response(a, b)'; docs/formulas.md lists them; may be repeated
    #[arg(long, value_name = "PATTERN(…)")]
    pub(crate) property: Vec<String>,
    /// Check this formula of linear temporal logic; may be repeated. In Promela it is about states, read as if it stood
    /// at the end of the model; in other languages about labels, and nothing else is checked
    #[arg(long, value_name = "TEXT")]
    pub(crate) ltl: Vec<String>,
    /// Check that this automaton accepts no run: a file in the HOA format whose propositions are expressions of a
    /// Promela model, or action formulas; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) claim: Vec<PathBuf>,
    /// Promela: claims are about these runs only: weak, a process that can always move does; strong, one that can move
    /// again and again does [default: none, all runs]
    #[arg(long, value_name = "NAME", value_parser = choices(check::FAIRNESS).map(fairness))]
    pub(crate) fairness: Option<Fairness>,
    /// CSPM: the process that formulas (--formula, --property, --ltl) and automata (--claim) are about, such as
    /// 'SYSTEM' or 'P(3) ||| Q'
    #[arg(long, value_name = "TERM")]
    pub(crate) process: Option<String>,
    /// Report which engine answers each assertion, why, and what made its state space smaller
    #[arg(long)]
    pub(crate) why: bool,
    /// The language of the scripts [default: by extension]
    #[arg(long, value_name = "NAME", value_parser = choices(check::LANGUAGES))]
    pub(crate) language: Option<&'static str>,
}

/// Are independent steps taken in one order?
#[derive(Clone, Copy, Debug)]
pub(crate) enum InOneOrder {
    Auto,
    On,
    Off,
}

impl From<String> for InOneOrder {
    fn from(value: String) -> InOneOrder {
        match value.as_str() {
            "on" => InOneOrder::On,
            "off" => InOneOrder::Off,
            _ => InOneOrder::Auto,
        }
    }
}

impl Checking {
    /// The options that engines and languages honour.
    pub(crate) fn asked(&self) -> Asked {
        Asked {
            engine: self.engine,
            solver: self.solver,
            algorithm: self.algorithm,
            symmetry: self.symmetry.clone(),
            strategy: self.strategy,
            partial_order: match self.partial_order {
                Some(InOneOrder::On) => Some(true),
                Some(InOneOrder::Off) => Some(false),
                Some(InOneOrder::Auto) | None => None,
            },
            store: self.store,
            keep_going: self.keep_going,
            no_leaf_compression: self.no_leaf_compression,
            trail: self.trail.is_some(),
            evidence: self.evidence.is_some(),
            witness: self.witness,
            fairness: self.fairness,
            decompose: self.decompose.clone(),
            ..Asked::default()
        }
    }
}
