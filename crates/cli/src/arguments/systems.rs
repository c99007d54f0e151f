//! The commands that work on labelled transition systems: `trefoil lts`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use trefoil_session::check::{Algorithm, Decompose, EngineChoice, Order, Preprocess};
use trefoil_session::lts::{
    ALGORITHMS, COMPARING, COMPARISONS, FORMATS, MINIMISERS, MODELS, PREPROCESSING, READ_FORMATS, SEARCHES,
};

use super::looking::Picture;
use super::values::{algorithm, choices, engine, order, parse_decompose, preprocess};

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
        /// One system: a file, a CSPM script (with --process), a Promela model or an mCRL2 specification
        #[arg(value_name = "FILE")]
        left: PathBuf,
        /// The other
        #[arg(value_name = "FILE")]
        right: PathBuf,
        /// The equivalence
        #[arg(long, short, value_name = "NAME", default_value = "strong", value_parser = choices(COMPARISONS))]
        equivalence: &'static str,
        /// mCRL2: take the specification apart along its parameters and compose it again from minimised parts, chosen
        /// or given as 'a,b / c,a / *'
        #[arg(long, value_name = "PARTS", num_args = 0..=1, require_equals = true, default_missing_value = "",
              value_parser = parse_decompose)]
        decompose: Option<Decompose>,
        /// How it is decided [default: explicit]
        #[arg(long, value_name = "NAME", value_parser = choices(COMPARING).map(engine))]
        engine: Option<EngineChoice>,
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
        /// mCRL2: take specifications apart along their parameters and compose them again from minimised parts, chosen
        /// or given as 'a,b / c,a / *'
        #[arg(long, value_name = "PARTS", num_args = 0..=1, require_equals = true, default_missing_value = "",
              value_parser = parse_decompose)]
        decompose: Option<Decompose>,
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
        /// A CSPM script, a Promela model or an mCRL2 specification
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The process of a CSPM script
        #[arg(long, value_name = "PROCESS")]
        process: Option<String>,
        /// mCRL2: take the specification apart along its parameters and compose it again from minimised parts, chosen
        /// or given as 'a,b / c,a / *'
        #[arg(long, value_name = "PARTS", num_args = 0..=1, require_equals = true, default_missing_value = "",
              value_parser = parse_decompose)]
        decompose: Option<Decompose>,
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
