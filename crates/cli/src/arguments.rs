//! The command line, in one definition: parsing, help, shell completions and the manual page all come from it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use trefoil_session::check::{Algorithm, Asked, Order, Preprocess, Store, SymmetryUse};
use trefoil_session::lts::{
    ALGORITHMS, Choice, EQUIVALENCES, FORMATS, MINIMISERS, MODELS, PREPROCESSING, READ_FORMATS, SEARCHES,
};
use trefoil_session::{check, look};

/// A verifier for concurrent systems: it checks CSPM scripts, Promela models, mCRL2 specifications and labelled
/// transition systems.
#[derive(Parser)]
#[command(name = "trefoil", version, propagate_version = true, after_help = EXIT_CODES)]
pub(crate) struct Trefoil {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

const EXIT_CODES: &str =
    "Exit codes: 0 holds or done, 1 fails, 2 bad input or usage or unwritable output, 3 unknown (budget, interrupt).
Of several checks: 2 if any has an error, else 1 if any fails, else 3 if any is unknown, else 0.";

/// The options of every command.
#[derive(Args, Clone, Debug)]
pub(crate) struct Common {
    /// Format of results: text or json; for check also junit and sarif, for graph and lts draw also svg and dot
    #[arg(long, global = true, value_enum, default_value_t = Output::Text, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) format: Output,
    /// Number of threads [default: one per core]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Memory budget: bytes, or with k, M, G (1000) or Ki, Mi, Gi (1024) [default: 80% of the available memory]
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// Time budget of each check: seconds, or with ms, s, m, h
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For build servers, as the XML of JUnit.
    Junit,
    /// For code scanners, as SARIF.
    Sarif,
    /// A picture for browsers.
    Svg,
    /// A picture for Graphviz.
    Dot,
}

impl Trefoil {
    /// Why these arguments cannot be combined, if they cannot.
    pub(crate) fn refused(&self) -> Option<&'static str> {
        let checks = matches!(self.command, Command::Check(_));
        let special = matches!(self.common.format, Output::Junit | Output::Sarif);
        if special && !checks {
            return Some("--format junit and --format sarif apply to `trefoil check` only");
        }
        let draws = matches!(self.command, Command::Graph { .. } | Command::Lts(LtsCommand::Draw { .. }));
        let picture = matches!(self.common.format, Output::Svg | Output::Dot);
        (picture && !draws)
            .then_some("--format svg and --format dot apply to `trefoil graph` and `trefoil lts draw` only")
    }
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Check the assertions of scripts and explain counterexamples
    Check(Checking),
    /// Check CSPM scripts with the options and output of FDR's `refines`; also a program of its own
    #[command(disable_help_flag = true)]
    Refines {
        /// FDR's options and scripts; --help lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// Draw a process of a script as a graph of states and events
    Graph {
        #[command(flatten)]
        looking: Looking,
        #[command(flatten)]
        picture: Picture,
    },
    /// Show the structure of a process: operators and components with their sizes before and after compression
    Structure {
        #[command(flatten)]
        looking: Looking,
    },
    /// Step through a process or a Promela model by hand, at random, or along a counterexample
    Trace(Tracing),
    /// Show the symmetries of each assertion of a script, or of a Promela model: types, groups, orders, and what breaks
    /// others
    Symmetry(Symmetries),
    /// Work on labelled transition systems in files: inspect, convert, minimise, compare, refine, compose
    #[command(subcommand)]
    Lts(LtsCommand),
    /// Work on CSPM scripts: check and show types, format, evaluate expressions
    #[command(subcommand)]
    Cspm(CspmCommand),
    /// Work on mCRL2 specifications: check and show types of data, format, evaluate data expressions
    #[command(subcommand)]
    Mcrl2(Mcrl2Command),
    /// Analyse the group that permutations generate: order, structure, orbits, stabilisers
    Group {
        /// Files with one generator per line (- is standard input, # begins a comment), or generators in cycle
        /// notation, such as '(1,2,3)(4,5)'
        #[arg(required = true, value_name = "FILE|PERMUTATION")]
        generators: Vec<String>,
        /// Also give the stabiliser of a set, '{1,2}', or of several, '{1,2}|{3,4}', each mapped to itself
        #[arg(long, visible_alias = "stabilize", value_name = "SETS")]
        stabilise: Option<String>,
    },
    /// Find the symmetries of a graph in a DOT or JSON file: generators, order, structure, orbits
    Automorphisms {
        /// The graph; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Treat labels of vertices as colours
        #[arg(long)]
        labels: bool,
    },
    /// Print which engine answers which question, with which options and reductions
    Matrix,
    /// Write a completion script for a shell to standard output
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual page (roff) to standard output
    Man,
}

/// A process of a script.
#[derive(Args, Clone, Debug)]
pub(crate) struct Looking {
    /// The script; - is standard input. Or a file with a labelled transition system
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The process: any expression over the script; after -- if it begins with a minus
    #[arg(value_name = "EXPRESSION")]
    pub(crate) expression: Option<String>,
    /// Do not compress sequential components by strong bisimulation
    #[arg(long)]
    pub(crate) no_leaf_compression: bool,
    /// The language of the script [default: by extension]
    #[arg(long, value_name = "NAME", value_parser = choices(check::LANGUAGES))]
    pub(crate) language: Option<&'static str>,
}

/// How a picture is made.
#[derive(Args, Clone, Debug)]
pub(crate) struct Picture {
    /// File for the picture: .svg, .dot or .gv, or any name with --format [default: standard output]
    #[arg(long, short, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Draw a quotient
    #[arg(long, value_name = "NAME", default_value = "none", value_parser = choices(look::COMPRESSIONS))]
    pub(crate) compress: &'static str,
    /// Direction from the initial state to later ones
    #[arg(long, value_name = "NAME", default_value = "down", value_parser = choices(look::DIRECTIONS))]
    pub(crate) direction: &'static str,
    /// Largest number of states to draw
    #[arg(long, value_name = "N", default_value_t = 4000)]
    pub(crate) max: usize,
}

/// What to step through.
#[derive(Args, Clone, Debug)]
pub(crate) struct Tracing {
    #[command(flatten)]
    pub(crate) looking: Looking,
    /// Check the assertion with this number and follow its counterexample; needs no expression
    #[arg(long, value_name = "N", conflicts_with = "expression")]
    pub(crate) assertion: Option<usize>,
    /// Follow a run from a file that `trefoil check --format json` or the command save wrote
    #[arg(long, value_name = "JSON", conflicts_with = "assertion")]
    pub(crate) replay: Option<PathBuf>,
    /// Promela: follow a trail that Spin's verifier or `trefoil check --trail` wrote
    #[arg(long, value_name = "FILE", conflicts_with_all = ["assertion", "replay"])]
    pub(crate) trail: Option<PathBuf>,
    /// Print the whole run and exit
    #[arg(long, conflicts_with = "random")]
    pub(crate) all: bool,
    /// Take this many random steps, print them and exit
    #[arg(long, value_name = "N")]
    pub(crate) random: Option<usize>,
    /// Promela: draw the run of --all or --random as a message-sequence chart (SVG)
    #[arg(long, value_name = "FILE")]
    pub(crate) chart: Option<PathBuf>,
    /// Seed of the random steps; the same seed gives the same walk
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// A script or model whose symmetries to show.
#[derive(Args, Clone, Debug)]
pub(crate) struct Symmetries {
    /// The script; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Only these assertions, by number or by a part of their text; may be repeated
    #[arg(long, value_name = "N|TEXT")]
    pub(crate) only: Vec<String>,
    /// Analyse the text only: compile and prove nothing
    #[arg(long)]
    pub(crate) text_only: bool,
    /// Do not compress sequential components by strong bisimulation
    #[arg(long)]
    pub(crate) no_leaf_compression: bool,
    /// Promela: file for the static channel diagram (SVG)
    #[arg(long, short, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// The language of the script [default: by extension]
    #[arg(long, value_name = "NAME", value_parser = choices(check::LANGUAGES))]
    pub(crate) language: Option<&'static str>,
}

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
    /// Algorithm for refinement [default: automatic]
    #[arg(long, value_name = "NAME", value_parser = choices(check::ALGORITHMS).map(algorithm))]
    pub(crate) algorithm: Option<Algorithm>,
    /// Do not compress sequential components by strong bisimulation
    #[arg(long)]
    pub(crate) no_leaf_compression: bool,
    /// Partial-order reduction, as `:[partial order reduce]` asks for: take independent steps in one order; on when no
    /// value follows [default: off]
    #[arg(long, value_name = "on|off", num_args = 0..=1, require_equals = true, default_missing_value = "on",
          value_parser = PossibleValuesParser::new(["on", "off"]).map(|value| value == "on"))]
    pub(crate) partial_order: Option<bool>,
    /// Symmetry reduction: auto (every symmetry that can be proved), off, or by the datatypes named [default: auto]
    #[arg(long, value_name = "auto|off|TYPE,…", value_parser = parse_symmetry)]
    pub(crate) symmetry: Option<SymmetryUse>,
    /// Strategy that chooses representatives of symmetric states [default: auto]
    #[arg(long, value_name = "NAME", value_parser = choices(check::STRATEGIES))]
    pub(crate) strategy: Option<&'static str>,
    /// Promela: continue the search after the first counterexample
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
    /// Promela: draw the counterexample as a message-sequence chart (SVG); further ones have their number before .svg
    #[arg(long, value_name = "FILE")]
    pub(crate) chart: Option<PathBuf>,
    /// mCRL2: actions with names like this must not happen; * stands for any text; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) never: Vec<String>,
    /// Report which engine answers each assertion, and why
    #[arg(long)]
    pub(crate) why: bool,
    /// The language of the scripts [default: by extension]
    #[arg(long, value_name = "NAME", value_parser = choices(check::LANGUAGES))]
    pub(crate) language: Option<&'static str>,
}

impl Checking {
    /// The options that engines and languages honour.
    pub(crate) fn asked(&self) -> Asked {
        Asked {
            algorithm: self.algorithm,
            symmetry: self.symmetry.clone(),
            strategy: self.strategy,
            partial_order: self.partial_order,
            store: self.store,
            keep_going: self.keep_going,
            no_leaf_compression: self.no_leaf_compression,
            trail: self.trail.is_some(),
            chart: self.chart.is_some(),
            ..Asked::default()
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum CspmCommand {
    /// Check the types of scripts
    Typecheck {
        /// Scripts; - is standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Do not show warnings
        #[arg(long)]
        no_warnings: bool,
    },
    /// Show the type of every name that a script defines
    Types {
        /// The script; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Do not show warnings
        #[arg(long)]
        no_warnings: bool,
    },
    /// Format a script, with its comments, to standard output
    Print {
        /// The script; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Do not show warnings
        #[arg(long)]
        no_warnings: bool,
    },
    /// Evaluate expressions in a script and print their values as CSPM text
    Eval {
        /// The script; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The expressions; after -- if one begins with a minus
        #[arg(required = true, value_name = "EXPRESSION")]
        expressions: Vec<String>,
        /// Stop after this many calls
        #[arg(long, value_name = "N")]
        steps: Option<u64>,
    },
    /// Evaluate expressions at a prompt; :help lists its commands
    Repl {
        /// The script
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Stop an evaluation after this many calls
        #[arg(long, value_name = "N")]
        steps: Option<u64>,
    },
}

#[derive(Subcommand)]
pub(crate) enum Mcrl2Command {
    /// Check the types of specifications, their data and their processes
    Typecheck {
        /// Specifications; - is standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Do not show warnings
        #[arg(long)]
        no_warnings: bool,
    },
    /// Show every function that a specification declares with its sort
    Types {
        /// The specification; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Do not show warnings
        #[arg(long)]
        no_warnings: bool,
    },
    /// Write a specification to standard output again, formatted, with its comments
    Print {
        /// The specification; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Do not show warnings
        #[arg(long)]
        no_warnings: bool,
    },
    /// Write the linear process of a specification to standard output, as a specification
    Linear {
        /// The specification; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Keep parameters that never change
        #[arg(long)]
        keep_constants: bool,
        /// Keep parameters that nothing depends on
        #[arg(long)]
        keep_redundant: bool,
        /// Keep sums over finite sorts as they are
        #[arg(long)]
        keep_sums: bool,
        /// Keep the values of parameters that are not read any more
        #[arg(long)]
        keep_dead: bool,
        /// Say which analyses ran and what each gained
        #[arg(long)]
        why: bool,
        /// Do not show warnings
        #[arg(long)]
        no_warnings: bool,
    },
    /// Rewrite data expressions to normal form
    Eval {
        /// The specification; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The expressions; after -- if one begins with a minus
        #[arg(required = true, value_name = "EXPRESSION")]
        expressions: Vec<String>,
        /// Give up on an expression after N steps
        #[arg(long, value_name = "N")]
        steps: Option<u64>,
    },
    /// Type data expressions and see their normal forms; :help lists the commands
    Repl {
        /// The specification
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Give up on an expression after N steps
        #[arg(long, value_name = "N")]
        steps: Option<u64>,
    },
}

#[derive(Subcommand)]
pub(crate) enum LtsCommand {
    /// Count states, transitions and labels; find deadlocks and divergences
    Info {
        /// Files to read; - is standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        reading: Reading,
    },
    /// Read a system in one format and write it in another
    Convert {
        /// The file to read; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The file to write; - is standard output
        #[arg(value_name = "OUT")]
        out: PathBuf,
        #[command(flatten)]
        reading: Reading,
        #[command(flatten)]
        writing: Writing,
    },
    /// Compute the smallest equivalent system
    #[command(visible_alias = "minimize")]
    Minimise {
        /// The file to read; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The equivalence, or a compression of CSP
        #[arg(long, short, value_name = "NAME", default_value = "strong", value_parser = choices(MINIMISERS))]
        equivalence: &'static str,
        /// File for the result; without it only the size is printed
        #[arg(long, short, value_name = "OUT")]
        output: Option<PathBuf>,
        #[command(flatten)]
        reading: Reading,
        #[command(flatten)]
        writing: Writing,
    },
    /// Decide whether two systems are equivalent; if not, show what distinguishes them
    Compare {
        /// One system: a file, a CSPM script (with --process) or a Promela model
        #[arg(value_name = "FILE")]
        left: PathBuf,
        /// The other
        #[arg(value_name = "FILE")]
        right: PathBuf,
        /// The equivalence
        #[arg(long, short, value_name = "NAME", default_value = "strong", value_parser = choices(EQUIVALENCES))]
        equivalence: &'static str,
        #[command(flatten)]
        models: Models,
        #[command(flatten)]
        reading: Reading,
    },
    /// Decide whether implementations refine a specification; if not, show a shortest counterexample
    Refine {
        /// The specification
        #[arg(value_name = "SPEC")]
        specification: PathBuf,
        /// The implementations, checked one by one
        #[arg(required = true, value_name = "IMPL")]
        implementations: Vec<PathBuf>,
        /// The semantic model
        #[arg(long, short, value_name = "NAME", default_value = "failures-divergences", value_parser = choices(MODELS))]
        model: &'static str,
        /// Algorithm [default: antichain]
        #[arg(long, short, value_name = "NAME", value_parser = choices(ALGORITHMS).map(algorithm))]
        algorithm: Option<Algorithm>,
        /// Search order [default: bfs]
        #[arg(long, value_name = "NAME", value_parser = choices(SEARCHES).map(order))]
        search: Option<Order>,
        /// Minimise these modulo divergence-preserving branching bisimulation first [default: spec]
        #[arg(long, value_name = "NAME", value_parser = choices(PREPROCESSING).map(preprocess))]
        preprocess: Option<Preprocess>,
        #[command(flatten)]
        models: Models,
        #[command(flatten)]
        reading: Reading,
    },
    /// Draw a system as a graph
    Draw {
        /// The file to read; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        picture: Picture,
        #[command(flatten)]
        reading: Reading,
    },
    /// Compose systems in parallel, with synchronisation, renaming and hiding
    Compose {
        /// The components, or one .exp file that composes them
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        composition: Composition,
        /// File for the result; without it only the size is printed
        #[arg(long, short, value_name = "OUT")]
        output: Option<PathBuf>,
        #[command(flatten)]
        reading: Reading,
        #[command(flatten)]
        writing: Writing,
    },
    /// Explore a model and write it as a system
    Generate {
        /// A CSPM script or a Promela model
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The process of a CSPM script
        #[arg(long, value_name = "PROCESS")]
        process: Option<String>,
        /// File for the result; - is standard output
        #[arg(long, short, value_name = "OUT")]
        output: PathBuf,
        #[command(flatten)]
        writing: Writing,
    },
    /// Generate a random system
    Random {
        /// The file to write; - is standard output
        #[arg(value_name = "OUT")]
        out: PathBuf,
        /// Number of states
        #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        states: u32,
        /// Number of transitions
        #[arg(long, default_value_t = 20, value_name = "N")]
        transitions: u64,
        /// Number of visible labels
        #[arg(long, default_value_t = 3, value_name = "N")]
        labels: u32,
        /// Percentage of internal transitions
        #[arg(long, default_value_t = 20, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
        tau: u8,
        /// Seed; the same seed gives the same system
        #[arg(long, default_value_t = 1, value_name = "N")]
        seed: u64,
        #[command(flatten)]
        writing: Writing,
    },
}

/// How files are read.
#[derive(Args, Clone, Debug)]
pub(crate) struct Reading {
    /// Labels of internal steps, besides tau
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) tau: Vec<String>,
    /// Format of the files to read [default: by extension, then by content]
    #[arg(long, value_name = "FORMAT", value_parser = choices(READ_FORMATS))]
    pub(crate) from: Option<&'static str>,
}

/// How models are compared.
#[derive(Args, Clone, Debug)]
pub(crate) struct Models {
    /// The process of a CSPM script; once for all scripts, or once for each in their order
    #[arg(long, value_name = "PROCESS")]
    pub(crate) process: Vec<String>,
    /// Names of the labels to compare, after renaming; the others become internal [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) visible: Vec<String>,
    /// Rename labels, arguments kept
    #[arg(long, value_name = "OLD=NEW,…", value_delimiter = ',')]
    pub(crate) rename: Vec<String>,
}

/// How a file is written.
#[derive(Args, Clone, Debug)]
pub(crate) struct Writing {
    /// Format of the file to write [default: by extension]
    #[arg(long, value_name = "FORMAT", value_parser = choices(FORMATS))]
    pub(crate) to: Option<&'static str>,
}

/// How components are composed. Lists are separated by commas; * in a label stands for any text.
#[derive(Args, Clone, Debug)]
pub(crate) struct Composition {
    /// Labels on which all components that have them synchronise: all (every shared label), none, or a list [default:
    /// all]
    #[arg(long, value_name = "LABELS")]
    pub(crate) sync: Vec<String>,
    /// Synchronisation vector over the components in order, such as "send,_,receive -> message"; may be repeated
    #[arg(long, value_name = "RULE")]
    pub(crate) vector: Vec<String>,
    /// Rename labels of the composition
    #[arg(long, value_name = "OLD=NEW,…")]
    pub(crate) rename: Vec<String>,
    /// Hide these labels of the composition, after renaming
    #[arg(long, value_name = "LABELS")]
    pub(crate) hide: Vec<String>,
    /// Hide all labels of the composition except these, after renaming
    #[arg(long, value_name = "LABELS")]
    pub(crate) hide_all_but: Option<Vec<String>>,
}

/// A value of a registry: only its names are accepted, and help lists them with their lines.
fn choices(table: &'static [Choice]) -> impl TypedValueParser<Value = &'static str> {
    let values = table.iter().map(|choice| PossibleValue::new(choice.name).help(choice.about));
    PossibleValuesParser::new(values).map(move |chosen| {
        let found = table.iter().find(|choice| choice.name == chosen);
        found.expect("the parser accepts only names of the table").name
    })
}

fn algorithm(name: &'static str) -> Algorithm {
    let found = Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name);
    found.expect("the table has the names of the algorithms")
}

fn order(name: &'static str) -> Order {
    Order::ALL.into_iter().find(|order| order.name() == name).expect("the table has the names of the orders")
}

fn preprocess(name: &'static str) -> Preprocess {
    let found = Preprocess::ALL.into_iter().find(|preprocess| preprocess.name() == name);
    found.expect("the table has the names of what can be minimised")
}

/// Which symmetries are used.
fn parse_symmetry(text: &str) -> Result<SymmetryUse, String> {
    Ok(match text {
        "auto" => SymmetryUse::Automatic,
        "off" => SymmetryUse::Off,
        types => {
            let mut names: Vec<String> = Vec::new();
            for name in types.split(',').map(str::trim) {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_string());
                }
            }
            SymmetryUse::Types(names)
        }
    })
}

/// Bytes: a number with an optional unit.
fn parse_size(text: &str) -> Result<u64, String> {
    const UNITS: &[(&str, f64)] = &[
        ("ki", 1024.0),
        ("mi", 1048576.0),
        ("gi", 1073741824.0),
        ("ti", 1099511627776.0),
        ("k", 1e3),
        ("m", 1e6),
        ("g", 1e9),
        ("t", 1e12),
        ("", 1.0),
    ];
    let lower = text.trim().to_ascii_lowercase();
    let plain = lower.strip_suffix('b').unwrap_or(&lower);
    let bytes = with_unit(plain, UNITS).ok_or("expected a size such as 512M, 2G or 1.5Gi")?;
    if bytes < 1.0 { Err("a budget must be positive".into()) } else { Ok(bytes as u64) }
}

/// How states are remembered.
fn parse_store(text: &str) -> Result<Store, String> {
    match text.split_once(':') {
        None if text == "exact" => Ok(Store::Exact),
        None if text == "hash-compact" => Ok(Store::HashCompact),
        None if text == "bitstate" => Ok(Store::Bitstate { bytes: 64 << 20 }),
        Some(("bitstate", size)) => Ok(Store::Bitstate { bytes: parse_size(size)? }),
        _ => Err("expected exact, hash-compact, bitstate or bitstate:SIZE".to_string()),
    }
}

/// A time: a number with an optional unit.
fn parse_duration(text: &str) -> Result<Duration, String> {
    const UNITS: &[(&str, f64)] = &[("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)];
    let seconds = with_unit(text.trim(), UNITS).ok_or("expected a time such as 30, 1.5s, 10m or 2h")?;
    if seconds == 0.0 {
        return Err("a budget must be positive".into());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| "this time is too long".into())
}

fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find_map(|(unit, factor)| {
        let number = text.strip_suffix(unit)?.trim_end();
        let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
        let value = number.parse::<f64>().ok().filter(|_| digits)? * factor;
        value.is_finite().then_some(value)
    })
}

/// Joins options whose value may be missing with the value that follows: `--partial-order off` as
/// `--partial-order=off`, `--explain 2` as `--explain=2`. The next argument may also be a script or another option.
pub(crate) fn joined(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for argument in arguments {
        let is_value = match joined.last().and_then(|last| last.to_str()) {
            Some("--partial-order") => argument == "on" || argument == "off",
            Some("--explain") => !is_option(&argument) && !is_script(&argument),
            _ => false,
        };
        match joined.last_mut() {
            Some(last) if is_value => {
                last.push("=");
                last.push(argument);
            }
            _ => joined.push(argument),
        }
    }
    joined
}

fn is_option(argument: &OsStr) -> bool {
    argument.to_string_lossy().starts_with('-')
}

/// Does an argument name a script, and not a part of an assertion?
fn is_script(argument: &OsStr) -> bool {
    let path = Path::new(argument);
    check::language(path, None).is_some() || path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Trefoil::command().debug_assert();
    }

    #[test]
    fn every_name_of_a_table_is_known() {
        for table in [check::ALGORITHMS, ALGORITHMS] {
            table.iter().for_each(|choice| assert_eq!(algorithm(choice.name).name(), choice.name));
        }
        SEARCHES.iter().for_each(|choice| assert_eq!(order(choice.name).name(), choice.name));
        PREPROCESSING.iter().for_each(|choice| assert_eq!(preprocess(choice.name).name(), choice.name));
        MODELS.iter().for_each(|choice| assert!(trefoil_session::lts::Comparison::named(choice.name).is_some()));
    }

    #[test]
    fn explain_takes_a_value_that_is_no_script() {
        let parsed = |arguments: &[&str]| {
            let arguments = ["trefoil", "check"].iter().chain(arguments).map(OsString::from);
            let Command::Check(checking) = Trefoil::parse_from(joined(arguments)).command else { panic!("a check") };
            (checking.explain, checking.files.len())
        };
        assert_eq!(parsed(&["a.csp", "--explain", "2"]), (vec!["2".to_string()], 1));
        assert_eq!(parsed(&["--explain", "a.csp"]), (vec![String::new()], 1));
        assert_eq!(parsed(&["a.csp", "--explain"]), (vec![String::new()], 1));
        assert_eq!(parsed(&["a.csp", "--explain", "--why"]), (vec![String::new()], 1));
        assert_eq!(parsed(&["a.csp", "--explain", "P [T= Q", "--explain=3"]), (vec!["P [T= Q".into(), "3".into()], 1));
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("1G"), Ok(1_000_000_000));
        assert_eq!(parse_size("1.5Gi"), Ok(1_610_612_736));
        assert_eq!(parse_size("64 MB"), Ok(64_000_000));
        assert_eq!(parse_size("4096"), Ok(4096));
        for wrong in ["", "G", "-1", "1X", "nan", "inf", "0", "1e400"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(parse_duration("5"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("2h"), Ok(Duration::from_secs(7200)));
        assert!(parse_duration("soon").is_err() && parse_duration("0").is_err());
    }
}
