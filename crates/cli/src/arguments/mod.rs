//! The command line, in one definition: parsing, help, shell completions and the manual page all come from it.

mod checking;
mod games;
mod languages;
mod looking;
mod systems;
mod values;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use trefoil_session::{check, look};

pub(crate) use checking::Checking;
pub(crate) use games::GameCommand;
pub(crate) use languages::{CspmCommand, Mcrl2Command};
pub(crate) use looking::{Looking, Picture, Symmetries, Tracing};
pub(crate) use systems::{LtsCommand, Models, Reading};
use values::{choices, parse_duration, parse_size};

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
        let draws = matches!(
            self.command,
            Command::Graph { .. } | Command::Automaton { .. } | Command::Lts(LtsCommand::Draw { .. })
        );
        let picture = matches!(self.common.format, Output::Svg | Output::Dot);
        (picture && !draws).then_some(
            "--format svg and --format dot apply to `trefoil graph`, `trefoil automaton` and `trefoil lts draw` only",
        )
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
    /// Draw a process of a script, or an mCRL2 specification, as a graph of states and events
    Graph {
        #[command(flatten)]
        looking: Looking,
        #[command(flatten)]
        picture: Picture,
    },
    /// Show the structure of a process: operators and components with their sizes before and after compression; of an
    /// mCRL2 specification: components with their parameters, and which of them communicate by which actions
    Structure {
        #[command(flatten)]
        looking: Looking,
        /// File for a picture of it: .svg, .png, .dot or .gv
        #[arg(long, short, value_name = "OUT")]
        output: Option<PathBuf>,
        /// Show instead how many slots of a state each transition group reads and writes; Promela models have these,
        /// too
        #[arg(long, conflicts_with = "output")]
        groups: bool,
    },
    /// Step through a process, a Promela model or an mCRL2 specification by hand, at random, or along a counterexample
    Trace(Tracing),
    /// Show the symmetries of each assertion of a script, or of a Promela model: types, groups, orders, and what breaks
    /// others
    Symmetry(Symmetries),
    /// Work on labelled transition systems in files: inspect, convert, minimise, compare, refine, compose
    #[command(subcommand)]
    Lts(LtsCommand),
    /// Work on parity games in files: solve them, verify solutions, draw
    #[command(subcommand)]
    Game(GameCommand),
    /// Work on CSPM scripts: check and show types, format, evaluate expressions
    #[command(subcommand)]
    Cspm(CspmCommand),
    /// Work on mCRL2 specifications: check and show types, format, make linear processes, evaluate data expressions
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
    /// Write or draw the automaton of a formula of linear temporal logic, of a claim of a Promela model, or of a file
    Automaton {
        /// A Promela model, or an automaton (.hoa); none for a formula alone
        file: Option<PathBuf>,
        /// The claim of the model, such as 'ltl alive'
        claim: Option<String>,
        /// A formula: about the model, or alone, with names as propositions
        #[arg(long, value_name = "TEXT")]
        ltl: Option<String>,
        /// Accept the runs that violate the formula, as a check looks for them
        #[arg(long)]
        negate: bool,
        /// File for the automaton: .hoa, .svg, .png, .dot or .gv [default: standard output, as .hoa]
        #[arg(long, short, value_name = "OUT")]
        output: Option<PathBuf>,
        /// Direction of a picture from initial states to later ones
        #[arg(long, value_name = "NAME", value_parser = choices(look::DIRECTIONS), default_value = "right")]
        direction: &'static str,
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

/// Joins options whose value may be missing with the value that follows: `--partial-order off` as
/// `--partial-order=off`, `--explain 2` as `--explain=2`, `--decompose 'x / *'` as `--decompose='x / *'`. The next
/// argument may also be a script or another option.
pub(crate) fn joined(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for argument in arguments {
        let is_value = match joined.last().and_then(|last| last.to_str()) {
            Some("--partial-order") => ["auto", "on", "off"].iter().any(|value| argument == *value),
            Some("--explain") => !is_option(&argument) && !is_script(&argument),
            Some("--decompose") => is_partition(&argument) && !is_script(&argument),
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

/// Can an argument be a partition of parameters? Names of files have a dot or begin with a slash.
fn is_partition(argument: &OsStr) -> bool {
    let text = argument.to_string_lossy();
    let letters = |letter: char| letter.is_alphanumeric() || "_'*,/ ".contains(letter);
    !text.trim().is_empty() && !text.starts_with('/') && text.chars().all(letters)
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
    fn a_partition_may_follow_after_a_blank() {
        let parsed = |arguments: &[&str]| {
            let arguments = ["trefoil", "lts", "compare"].iter().chain(arguments).map(OsString::from);
            let Command::Lts(LtsCommand::Compare { left, right, decompose, .. }) =
                Trefoil::parse_from(joined(arguments)).command
            else {
                panic!("a comparison")
            };
            let by = match decompose {
                Some(check::Decompose::By(partition)) => partition,
                Some(check::Decompose::Chosen) => "chosen".to_string(),
                None => "none".to_string(),
            };
            (left.display().to_string(), right.display().to_string(), by)
        };
        let expected = |by: &str| ("a.mcrl2".to_string(), "b.mcrl2".to_string(), by.to_string());
        assert_eq!(parsed(&["a.mcrl2", "--decompose", "x / *", "b.mcrl2"]), expected("x / *"));
        assert_eq!(parsed(&["--decompose", "x,y_1 / *", "a.mcrl2", "b.mcrl2"]), expected("x,y_1 / *"));
        assert_eq!(parsed(&["--decompose=x/*", "a.mcrl2", "b.mcrl2"]), expected("x/*"));
        assert_eq!(parsed(&["a.mcrl2", "--decompose", "b.mcrl2"]), expected("chosen"));
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
}
