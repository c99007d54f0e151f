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
//! - calls are layers on a stack ([`super::layers`]), because there may be as many levels as vertices.
//!
//! Invariants: no player is stuck in the subgame of a layer, except where the game is given so; moves recorded for a
//! vertex are those of the player that won it last, and later layers overwrite what earlier ones recorded there.
//!
//! Cost: exponential in the number of levels at worst, in practice near linear in their product with the edges; the
//! memory of the layers.

use trefoil_control::Stopped;

use super::arena::Arena;
use super::layers::Layers;

/// The sets that the two players win of `within`, and their moves. Neither player may be stuck in `within`.
pub fn zielonka<A: Arena>(arena: &A, within: A::Set, strategy: &mut A::Strategy) -> Result<[A::Set; 2], Stopped> {
    let mut layers = arena.layers(within)?;
    // The player of each layer, and whether what the opponent does not win of its subgame is being solved again.
    let mut calls = Vec::new();
    loop {
        while let Some(player) = layers.take_least(strategy)? {
            calls.push((player, false));
        }
        // The subgame above the topmost layer is solved.
        loop {
            arena.poll()?;
            let Some((player, is_again)) = calls.last_mut() else { return Ok(layers.won()) };
            if !*is_again {
                if !layers.lose(*player, strategy)? {
                    layers.settle(*player, strategy)?;
                } else if layers.reopen(*player)? {
                    *is_again = true;
                    break;
                }
            }
            calls.pop();
            layers.close();
        }
    }
}
