//! Deciding the game of a system with diagrams while exploring it.
//!
//! After a round of exploration, when it is time for it, what is won is grown, and then a partial solver looks at the
//! rest (Laveaux, *Accelerated verification of concurrent systems*, chapter 4). When the initial vertex is won, that is
//! the answer; when everything is explored, what is left is solved as a complete game.
//!
//! # Which solver
//!
//! As long as no vertex that is not won belongs to the player that its priority is good for, nothing but vertices
//! without moves can decide: that is so for safety properties, whose games have one priority. Else cycles of one player
//! are looked for, which costs little. Where priorities of both players occur and [`FRUITLESS`] calls in a row have won
//! nothing, fatal attractors are looked for from then on.
//!
//! # When
//!
//! Solving gets about a tenth of the work. Chapter 4 measures time; then how much is explored when the game is decided,
//! and with it the evidence, would depend on the clock. Here work is counted in nodes of the diagrams that are gone
//! through and in local walks of the model ([`GrowingGame::exploring_work`]), so that every run does the same, with any
//! number of threads. A call is not cut short.

use std::time::{Duration, Instant};

use trefoil_control::Control;
use trefoil_diagrams::UBig;
use trefoil_system::{Cut, System};

use super::evidence::played;
use super::growing::{BREADTH_FIRST_BELOW, GrowingGame, Growth, SATURATING_FROM};
use crate::solve::{PartialSolver, Played, Player, Wanted};

/// Which partial solver runs while a game is explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolverChoice {
    /// Chosen by the priorities that occur and by what was won.
    #[default]
    Automatic,
    /// This one.
    Always(PartialSolver),
    /// None: the game is explored to its end.
    AtTheEnd,
}

/// How to decide the game of a system.
#[derive(Clone, Copy, Debug)]
pub struct SymbolicDeciding {
    /// How many threads; 0 means one per core.
    pub threads: usize,
    /// As long as there are fewer vertices, rounds are breadth-first; from then on they are chaining.
    pub breadth_first_below: u64,
    /// From so many vertices on rounds saturate; from the beginning where the game is solved at its end.
    pub saturating_from: u64,
    /// The solver.
    pub solver: SolverChoice,
    /// Whose strategies are wanted.
    pub wanted: Wanted,
    /// Of a strategy with more vertices one play is written down.
    pub most_played: usize,
    /// Is a better order of slots looked for after every round? For tests.
    pub restless: bool,
}

impl Default for SymbolicDeciding {
    fn default() -> SymbolicDeciding {
        SymbolicDeciding {
            threads: 0,
            breadth_first_below: BREADTH_FIRST_BELOW,
            saturating_from: SATURATING_FROM,
            solver: SolverChoice::default(),
            wanted: Wanted::Winner,
            most_played: MOST_PLAYED,
            restless: false,
        }
    }
}

/// How much was done.
#[derive(Clone, Debug, Default)]
pub struct SymbolicGameCounts {
    /// Vertices that were found.
    pub vertices: UBig,
    /// Edges of those that are complete.
    pub edges: UBig,
    /// Rounds of exploration.
    pub rounds: u64,
    /// How often what is won was grown, and a partial solver ran.
    pub calls: u32,
    /// Time for exploring.
    pub exploring: Duration,
    /// Time for solving.
    pub solving: Duration,
    /// The most nodes of diagrams at one time.
    pub peak_nodes: u64,
}

/// The winner of the initial vertex.
#[derive(Clone, Debug)]
pub struct SymbolicDecision {
    /// The winner.
    pub winner: Player,
    /// Was it known before all vertices were explored?
    pub early: bool,
    /// The solver that decided, by its name.
    pub solver: &'static str,
    /// Why this solver.
    pub why: &'static str,
    /// How much was done.
    pub counts: SymbolicGameCounts,
    /// What the winner does, when that was wanted.
    pub played: Option<Played>,
    /// Is that one play only, because all of it would be too large? Then what is won was verified with sets.
    pub is_one_play: bool,
    /// How many vertices the winner is known to win.
    pub won: UBig,
}

/// A game that was not decided.
#[derive(Clone, Debug)]
pub struct SymbolicUndecided {
    /// Why.
    pub cut: Cut,
    /// The solver that ran last or would have come next, by its name.
    pub solver: &'static str,
    /// How much was done.
    pub counts: Box<SymbolicGameCounts>,
}

/// Solving gets one part in this many of the work.
const SHARE: u64 = 10;

/// After this many calls that won nothing a stronger solver is used.
const FRUITLESS: u32 = 3;

/// Strategies with more vertices are not written down.
const MOST_PLAYED: usize = 1 << 18;

/// The name of a partial solver.
pub fn partial_name(how: PartialSolver) -> &'static str {
    match how {
        PartialSolver::Known => "sinks",
        PartialSolver::Solitaire => "solitaire",
        PartialSolver::Forced => "forced",
        PartialSolver::Fatal => "fatal",
        PartialSolver::Safe => "recursive",
    }
}

/// The name of the solver for games that are explored.
const COMPLETE: &str = "zielonka";

/// Decides which player wins the initial state of a system with the marks `Owner` and `Priority`.
pub fn decide_symbolically(
    system: &dyn System,
    options: &SymbolicDeciding,
    control: &Control,
) -> Result<SymbolicDecision, SymbolicUndecided> {
    let recorded = Player::BOTH.map(|player| options.wanted.includes(player));
    let saturating_from = if options.solver == SolverChoice::AtTheEnd { 0 } else { options.saturating_from };
    let SymbolicDeciding { threads, breadth_first_below, restless, .. } = *options;
    let growth = Growth { threads, breadth_first_below, saturating_from, recorded, restless };
    let mut counts = SymbolicGameCounts::default();
    let mut game = match GrowingGame::new(system, &growth, control) {
        Ok(game) => game,
        Err(cut) => {
            return Err(SymbolicUndecided {
                cut,
                solver: partial_name(PartialSolver::Known),
                counts: Box::new(counts),
            });
        }
    };
    let mut at_work = partial_name(chosen(&game, options.solver, 0).0);
    let decided = decided(&mut game, options, &mut counts, &mut at_work);
    counts.rounds = game.space().rounds();
    counts.peak_nodes = game.space().diagrams().peak_nodes();
    let outcome = decided.and_then(|(winner, solver, why)| {
        counts.vertices = game.count()?;
        counts.edges = game.edges()?;
        let won = game.won_count(winner)?;
        let played = match options.wanted.includes(winner) {
            true => Some(played(system, &game, winner, options.most_played, control)?),
            false => None,
        };
        Ok((winner, solver, why, won, played))
    });
    match outcome {
        Ok((winner, solver, why, won, walked)) => {
            let early = !game.is_explored();
            let is_one_play = walked.as_ref().is_some_and(|walked| !walked.is_whole);
            let played = walked.map(|walked| walked.played);
            Ok(SymbolicDecision { winner, early, solver, why, counts, played, is_one_play, won })
        }
        Err(cut) => {
            counts.vertices = game.count_of_cut();
            Err(SymbolicUndecided { cut, solver: at_work, counts: Box::new(counts) })
        }
    }
}

/// Explores and solves. The winner, the solver that decided, and why it was used; `at_work` is the solver that ran
/// last.
fn decided(
    game: &mut GrowingGame<'_>,
    options: &SymbolicDeciding,
    counts: &mut SymbolicGameCounts,
    at_work: &mut &'static str,
) -> Result<(Player, &'static str, &'static str), Cut> {
    let mut fruitless = 0;
    // The work of the last call.
    let mut recent = 0;
    while !game.is_explored() {
        let begun = Instant::now();
        game.advance()?;
        counts.exploring += begun.elapsed();
        let (exploring, solving) = (game.exploring_work(), game.solving_work());
        let is_time = (solving + recent) * (SHARE - 1) <= exploring;
        if options.solver == SolverChoice::AtTheEnd || !is_time || game.is_explored() {
            continue;
        }
        let begun = Instant::now();
        counts.calls += 1;
        let grown = game.grow()?;
        if let Some(winner) = grown {
            counts.solving += begun.elapsed();
            return Ok((winner, partial_name(PartialSolver::Known), "a vertex without moves was enough"));
        }
        let (how, why) = chosen(game, options.solver, fruitless);
        *at_work = partial_name(how);
        // What grows by vertices without moves says nothing about the partial solver.
        let before = game.both_won().clone();
        let winner = if how == PartialSolver::Known { None } else { game.solve(how)? };
        let stays = how == PartialSolver::Fatal || *game.both_won() == before;
        fruitless = if stays { fruitless + 1 } else { 0 };
        counts.solving += begun.elapsed();
        recent = game.solving_work() - solving;
        if let Some(winner) = winner {
            return Ok((winner, partial_name(how), why));
        }
    }
    let begun = Instant::now();
    let grown = game.grow()?;
    let decided = match grown {
        Some(winner) => (winner, partial_name(PartialSolver::Known), "a vertex without moves was enough"),
        None => {
            *at_work = COMPLETE;
            (game.finish()?, COMPLETE, "the whole game was explored")
        }
    };
    counts.solving += begun.elapsed();
    Ok(decided)
}

/// The partial solver for a call, and why.
fn chosen(game: &GrowingGame<'_>, choice: SolverChoice, fruitless: u32) -> (PartialSolver, &'static str) {
    match choice {
        SolverChoice::Always(how) => (how, "--solver asks for it"),
        SolverChoice::AtTheEnd => (PartialSolver::Known, "--solver asks for it"),
        SolverChoice::Automatic if fruitless >= FRUITLESS && game.has_both_parities() => {
            (PartialSolver::Fatal, "priorities of both players occur, and weaker solvers won nothing")
        }
        SolverChoice::Automatic if game.may_have_solitaire_cycles() => {
            (PartialSolver::Solitaire, "a player may keep a play in priorities that are good for it")
        }
        SolverChoice::Automatic => (PartialSolver::Known, "no player owns vertices that are good for it"),
    }
}
