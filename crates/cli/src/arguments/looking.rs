//! The arguments of commands that show a process: graph, structure, trace, symmetry.

use std::path::PathBuf;

use clap::Args;
use trefoil_session::{check, look};

use super::values::choices;

/// A process of a script.
#[derive(Args, Clone, Debug)]
pub(crate) struct Looking {
    /// The script or specification; - is standard input. Or a file with a labelled transition system
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The process of a CSPM script: any expression over it; after -- if it begins with a minus
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
    /// File for the picture: .svg, .png, .dot or .gv, or any name with --format [default: standard output]
    #[arg(long, short, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Draw a quotient
    #[arg(long, value_name = "NAME", default_value = "none", value_parser = choices(look::COMPRESSIONS))]
    pub(crate) compress: &'static str,
    /// Direction from the initial state to later ones
    #[arg(long, value_name = "NAME", default_value = "down", value_parser = choices(look::DIRECTIONS))]
    pub(crate) direction: &'static str,
    /// Largest number of states to draw
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub(crate) max: usize,
    /// Draw only what lies around the state with this number, before and after it
    #[arg(long, value_name = "STATE")]
    pub(crate) around: Option<u32>,
    /// Draw only what lies within this many steps of the initial state, or of that of --around [default there: 2]
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
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
    /// Draw the run of --all or --random as a message-sequence chart (.svg, .png)
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
    /// File for a picture (.svg, .png, .dot, .gv): a script's groups, or a Promela model's static channel diagram
    #[arg(long, short, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// The language of the script [default: by extension]
    #[arg(long, value_name = "NAME", value_parser = choices(check::LANGUAGES))]
    pub(crate) language: Option<&'static str>,
}
