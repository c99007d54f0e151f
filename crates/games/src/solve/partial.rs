//! Partial solvers for incomplete games, over any representation of sets.
//!
//! Laveaux, *Accelerated verification of concurrent systems*, chapter 4 (with Wesselink and Willemse, *On-the-fly
//! solving for symbolic parity games*, 2022). Some vertices of an incomplete game may get further edges. What a solver
//! finds here stays true in every game that this one can become.
//!
//! A play is in danger for α when the opponent can bring it to an incomplete vertex of its own. Attractors and steps of
//! an [`Arena`] never force an incomplete vertex of the opponent, so α-dominions that are found with them are safe
//! without computing the safe set first. In that set the opponent has no unknown move, and α's known moves suffice.
//!
//! Every call begins with what is known: a *complete* vertex without moves is lost by its owner, and each player
//! attracts to what it has won (corollaries 4.3.3 and 4.3.4). Without it, cycles alone would find no violation of a
//! safety property, because there a play ends in a vertex without moves. Then, in what is left, for each player α:
//!
//! | [`PartialSolver`] | finds |
//! |---|---|
//! | `Known` | nothing more |
//! | `Solitaire` | cycles of own vertices with priorities that are good for α: `νZ.(Pα ∩ Vα ∩ pre Z)` |
//! | `Forced` | plays that α keeps in priorities that are good for it: `νZ.(Pα ∩ spre Z)` |
//! | `Fatal` | fatal attractors: vertices of a level `c` of α to which α can return through priorities of at least `c` |
//! | `Safe` | all that can be found: a solver runs on the greatest set in which α keeps every play by known moves |
//!
//! `Fatal` takes the levels from the greatest to the least (Huth, Kuo and Piterman, *Fatal attractors in parity games*,
//! 2013); that `Safe` finds everything is theorem 4.2.12.
//!
//! The edges of a vertex to what its owner's opponent has won do not matter, and a vertex with an edge to what its
//! owner has won is won itself; so each of them looks at the undecided vertices alone.
//!
//! Cost: `Known`, `Solitaire` and `Forced` are linear on a game in memory, `Fatal` is linear for each level and each
//! round in which vertices of the level turn out not to return.

use trefoil_control::Stopped;

use super::arena::{Arena, VertexSet};
use super::game::Player;

/// How much a partial solver looks for; each finds at least what those before `Fatal` and it find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialSolver {
    /// Vertices without moves, and attractors.
    Known,
    /// Cycles that a player walks alone.
    Solitaire,
    /// Cycles that a player can force through priorities that are good for it.
    Forced,
    /// Fatal attractors.
    Fatal,
    /// Everything that cannot change any more.
    #[default]
    Safe,
}

/// Adds to `won` what a partial solver finds among `known`: the other vertices count as incomplete, even what is known
/// of their edges. What is in `won` must have been found in this game or in one that became it. `full` solves a subgame
/// in which no player is stuck and every vertex counts as complete.
pub fn solve_partially<A: Arena>(
    arena: &A,
    how: PartialSolver,
    known: &A::Set,
    won: &mut [A::Set; 2],
    strategy: &mut A::Strategy,
    full: impl Fn(&A, A::Set, &mut A::Strategy) -> Result<[A::Set; 2], Stopped>,
) -> Result<(), Stopped> {
    grow_won(arena, known, won, strategy)?;
    find_dominions(arena, how, known, won, strategy, full)
}

/// The first part of it: adds complete vertices without moves, and what players attract to what they have won.
pub fn grow_won<A: Arena>(
    arena: &A,
    known: &A::Set,
    won: &mut [A::Set; 2],
    strategy: &mut A::Strategy,
) -> Result<(), Stopped> {
    let all = arena.all();
    let mut ends = arena.sinks();
    ends.subtract(&arena.incomplete());
    ends.intersect(known);
    for player in Player::BOTH {
        let lost = ends.and(&arena.owned_by(player.opponent()));
        won[player.index()].unite(&lost);
        arena.attract(player, &all, known, &mut won[player.index()], strategy)?;
    }
    Ok(())
}

/// The second part of it: what is won was grown before.
pub fn find_dominions<A: Arena>(
    arena: &A,
    how: PartialSolver,
    known: &A::Set,
    won: &mut [A::Set; 2],
    strategy: &mut A::Strategy,
    full: impl Fn(&A, A::Set, &mut A::Strategy) -> Result<[A::Set; 2], Stopped>,
) -> Result<(), Stopped> {
    let all = arena.all();
    // Edges to vertices that are not decided count, also to those that are not known; only known ones can be won.
    let undecided = |won: &[A::Set; 2]| all.without(&won[0]).without(&won[1]);
    match how {
        PartialSolver::Known => {}
        PartialSolver::Solitaire | PartialSolver::Forced => {
            for player in Player::BOTH {
                let rest = undecided(won);
                let mut set = arena.none();
                for level in (0..arena.levels()).filter(|&level| arena.player_of(level) == player) {
                    set.unite(&arena.at_level(level, &rest.and(known)));
                }
                if how == PartialSolver::Solitaire {
                    set.intersect(&arena.owned_by(player));
                }
                arena.keep(player, &rest, &mut set, strategy)?;
                add(arena, known, player, set, won, strategy)?;
            }
        }
        PartialSolver::Fatal => {
            let mut above = arena.none();
            for level in (0..arena.levels()).rev() {
                let rest = undecided(won);
                let mut heads = arena.at_level(level, &rest.and(known));
                above.unite(&heads);
                above.intersect(&rest);
                let player = arena.player_of(level);
                while !heads.is_empty() {
                    let mut set = heads.clone();
                    arena.attract(player, &rest, &above, &mut set, strategy)?;
                    let returning = arena.step(player, &rest, &heads, &set, strategy)?;
                    if returning == heads {
                        add(arena, known, player, set, won, strategy)?;
                        break;
                    }
                    heads = returning;
                }
            }
        }
        PartialSolver::Safe => {
            for player in Player::BOTH {
                let rest = undecided(won);
                let mut safe = rest.and(known);
                arena.keep(player, &rest, &mut safe, strategy)?;
                if !safe.is_empty() {
                    let [even, odd] = full(&arena.completed(), safe, strategy)?;
                    let dominion = if player == Player::Even { even } else { odd };
                    add(arena, known, player, dominion, won, strategy)?;
                }
            }
        }
    }
    Ok(())
}

/// A dominion is won, and what its player attracts to it.
fn add<A: Arena>(
    arena: &A,
    known: &A::Set,
    player: Player,
    dominion: A::Set,
    won: &mut [A::Set; 2],
    strategy: &mut A::Strategy,
) -> Result<(), Stopped> {
    if dominion.is_empty() {
        return Ok(());
    }
    let set = &mut won[player.index()];
    set.unite(&dominion);
    arena.attract(player, &arena.all(), known, set, strategy)
}
