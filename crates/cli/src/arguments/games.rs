//! The commands that work on parity games in files: `trefoil game`.

use std::path::PathBuf;

use clap::Subcommand;
use trefoil_session::games::GAME_SOLVERS;

use super::values::choices;

#[derive(Subcommand)]
pub(crate) enum GameCommand {
    /// Solve a parity game in PGSolver's format: the winner of each vertex, and a strategy
    Solve {
        /// The game; - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The solver
        #[arg(long, value_name = "NAME", default_value = GAME_SOLVERS[0].name, value_parser = choices(GAME_SOLVERS))]
        solver: &'static str,
        /// File for the solution, in PGSolver's format; - is standard output
        #[arg(long, short, value_name = "OUT")]
        output: Option<PathBuf>,
        /// Verify this solution instead of solving the game
        #[arg(long, value_name = "SOLUTION", conflicts_with_all = ["solver", "output"])]
        check: Option<PathBuf>,
        /// File for a picture of the game and its solution: .svg, .png, .dot or .gv
        #[arg(long, value_name = "PICTURE")]
        picture: Option<PathBuf>,
    },
}
