//! Zielonka's recursive algorithm, over any representation of sets.
//!
//! Zielonka, *Infinite games on finitely coloured graphs with applications to automata on infinite trees* (1998). Let α
//! be the player that the least priority of a subgame is good for. α attracts to the vertices of that priority; what is
//! left is solved first. If the opponent wins nothing there, α wins the whole subgame: it wins where a play stays in
//! the rest, and else the least priority recurs. If the opponent wins some of it, then that and what it attracts to it
//! are won by the opponent in the whole subgame, and the remainder is solved anew.
//!
//! Where we depart from the textbook (as Oink does: van Dijk, *Oink: an implementation and evaluation of modern parity
//! game solvers*, 2018):
//!
//! - the second recursive call is a loop;
//! - priorities of one parity with none of the other between them are taken as one ([`super::Game`] has them as one
//!   level; in a subgame further levels may be missing);
//! - if the opponent attracts nothing to what it wins in the rest, then the rest is solved for good, and α wins
//!   everything else: the subgame is not solved again;
//! - calls are frames on a heap-allocated stack, because there may be as many levels as vertices.
//!
//! Invariants: no player is stuck in the subgame of a frame, except where the game is given so; moves recorded for a
//! vertex are those of the player that won it last, and later frames overwrite what earlier ones recorded there.
//!
//! Cost: exponential in the number of levels at worst, in practice near linear in their product with the edges; four
//! sets a frame.

use trefoil_control::Stopped;

use super::arena::{Arena, VertexSet};
use super::game::Player;

/// A subgame that is being solved.
struct Frame<S> {
    /// What is not decided yet.
    rest: S,
    /// The vertices of the least priorities of `rest`.
    least: S,
    player: Player,
    won: [S; 2],
}

/// The sets that the two players win of `within`, and their moves. Neither player may be stuck in `within`.
pub fn zielonka<A: Arena>(arena: &A, within: A::Set, strategy: &mut A::Strategy) -> Result<[A::Set; 2], Stopped> {
    let begin =
        |rest: A::Set| Frame { rest, least: arena.none(), player: Player::Even, won: [arena.none(), arena.none()] };
    let mut stack = vec![begin(within)];
    let mut solved: Option<[A::Set; 2]> = None;
    loop {
        arena.poll()?;
        let frame = stack.last_mut().expect("the loop ends with the last frame");
        if let Some(below) = solved.take() {
            // The subgame without what was attracted is solved.
            let opponent = frame.player.opponent();
            let lost = &below[opponent.index()];
            if lost.is_empty() {
                arena.step(frame.player, &frame.rest, &frame.least, &frame.rest, strategy)?;
                frame.won[frame.player.index()].unite(&frame.rest);
                frame.rest = arena.none();
            } else {
                let mut set = lost.clone();
                arena.attract(opponent, &frame.rest, &frame.rest, &mut set, strategy)?;
                frame.won[opponent.index()].unite(&set);
                frame.rest.subtract(&set);
                if set == *lost {
                    // The moves of the least priorities stay outside what the opponent wins: it would attract them.
                    arena.step(frame.player, &frame.rest, &frame.least, &frame.rest, strategy)?;
                    frame.won[frame.player.index()].unite(&frame.rest);
                    frame.rest = arena.none();
                }
            }
        }
        let Some(level) = arena.least_level(&frame.rest) else {
            let frame = stack.pop().expect("it is the last");
            if stack.is_empty() {
                return Ok(frame.won);
            }
            solved = Some(frame.won);
            continue;
        };
        frame.player = arena.player_of(level);
        frame.least = arena.at_level(level, &frame.rest);
        let mut below = frame.rest.without(&frame.least);
        // In this subgame there may be no level of the other parity before the next one of this.
        while let Some(next) = arena.least_level(&below).filter(|&next| arena.player_of(next) == frame.player) {
            let more = arena.at_level(next, &below);
            frame.least.unite(&more);
            below.subtract(&more);
        }
        let mut attracted = frame.least.clone();
        arena.attract(frame.player, &frame.rest, &frame.rest, &mut attracted, strategy)?;
        let below = frame.rest.without(&attracted);
        if below.is_empty() {
            solved = Some([arena.none(), arena.none()]);
        } else {
            stack.push(begin(below));
        }
    }
}
