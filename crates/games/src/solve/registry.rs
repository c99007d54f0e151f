//! The table of solvers. Help texts, `--solver` and tests read it.

use trefoil_control::Stopped;

use super::bits::Bits;
use super::explicit::{Explicit, Moves};
use super::fixpoint::fixpoint;
use super::promotion::promotion;
use super::zielonka::zielonka;

/// Solves a part of a game in which no player is stuck: the sets that the players win, and their moves.
pub type Run = fn(&Explicit<'_>, Bits, &mut Moves) -> Result<[Bits; 2], Stopped>;

/// A row of the table.
pub struct Solver {
    /// Its name.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// The solver.
    pub run: Run,
}

/// All solvers; the first one is the default.
pub static SOLVERS: [Solver; 3] = [
    Solver {
        name: "zielonka",
        about: "recursive; works on any representation of sets",
        paper: "Zielonka, Infinite games on finitely coloured graphs, 1998",
        run: |arena, within, moves| zielonka(arena, within, moves),
    },
    Solver {
        name: "promotion",
        about: "priority promotion, on arrays; best with many priorities",
        paper: "Benerecetti, Dell'Erba, Mogavero, Solving parity games via priority promotion, 2016",
        run: promotion,
    },
    Solver {
        name: "fixpoint",
        about: "fixpoint iteration with freezing; works on any representation of sets, best with few priorities",
        paper: "van Dijk, Rubbens, Simple fixpoint iteration to solve parity games, 2019",
        run: |arena, within, moves| fixpoint(arena, within, moves),
    },
];

/// The solver with a name.
pub fn solver(name: &str) -> Option<&'static Solver> {
    SOLVERS.iter().find(|solver| solver.name == name)
}
