//! The commands that work on the texts of one language: `trefoil cspm` and `trefoil mcrl2`.

use std::path::PathBuf;

use clap::Subcommand;
use trefoil_session::mcrl2::decompose::KEPT;

use super::systems::Writing;
use super::values::choices;

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
    /// Show every function, action and process that a specification declares with its sorts
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
        /// Keep parameters that hold structures, lists, functions or sets as they are
        #[arg(long)]
        keep_whole: bool,
        /// Say which analyses ran and what each gained
        #[arg(long)]
        why: bool,
        /// Do not show warnings
        #[arg(long)]
        no_warnings: bool,
    },
    /// Take a specification apart along its parameters, minimise the parts and compose them again
    Decompose {
        /// The specification; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The parts, such as 'a,b / c,a / *': names of parameters as `trefoil mcrl2 linear` shows them; one that is in
        /// several parts is shared, * stands for those that are not named [default: chosen]
        #[arg(long, value_name = "PARTS")]
        partition: Option<String>,
        /// A condition on the parameters that holds initially and that every step keeps, such as 'n <= 3'; it is proved
        /// before it is used to make the parts smaller; may be given several times
        #[arg(long = "invariant", value_name = "EXPRESSION")]
        invariants: Vec<String>,
        /// The equivalence that the parts and their compositions keep
        #[arg(long, short, value_name = "NAME", default_value = "strong", value_parser = choices(KEPT))]
        equivalence: &'static str,
        /// File for the last composition, before it is minimised; - is standard output; without it only sizes are
        /// printed
        #[arg(long, short, value_name = "OUT")]
        output: Option<PathBuf>,
        /// File for a picture of the parts and their compositions (.svg, .png, .dot, .gv)
        #[arg(long, value_name = "FILE")]
        picture: Option<PathBuf>,
        /// Folder for the two parts and their composition as mCRL2 specifications
        #[arg(long, value_name = "DIR")]
        write_parts: Option<PathBuf>,
        /// Show the partitions that were tried
        #[arg(long)]
        why: bool,
        /// Do not show warnings
        #[arg(long)]
        no_warnings: bool,
        #[command(flatten)]
        writing: Writing,
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
