//! Solving a whole game: what is easy first, then a solver of the registry, on all of it or component after component.
//!
//! 1. A player without a move loses; the other one attracts.
//! 2. The owner of a vertex whose priority is good for it wins where it can stay forever (an edge to itself), and a
//!    vertex whose only move is to itself is won by the player that its priority is good for.
//! 3. The solver gets all that is left, and may look at each edge [`AT_ONCE`] times on average. Most games take less,
//!    and for them all that follows costs more than it gives.
//! 4. Where that did not suffice, a player wins cycles that it can walk alone and whose least priority is good for it.
//! 5. Then come the strongly connected components of what is left, those that lead nowhere else first. A component
//!    - in which all cycles are won by one player belongs to it (so a game of an alternation-free formula is solved in
//!      linear time);
//!    - in which one player makes all choices (solitaire) is solved by the components of its levels;
//!    - is else given to the solver, as a game of its own unless it is more than half of the game.
//!
//!    Each player then attracts, in all of the game, to what it has won.
//!
//! Compare the preprocessing of PGSolver (Friedmann and Lange, *Solving parity games in practice*, 2009) and of Oink.
//!
//! Invariant: what is decided is closed under both players' attractors, so in the rest no player is stuck, and edges
//! that leave it are of no use to their owners.
//!
//! Cost: linear in the edges times [`AT_ONCE`] and at most [`Components::ROUNDS`] levels, and the solver on what it
//! gets. In place of a component of its own, which needs memory, a large one is solved in the whole game. Beside the
//! game: 4 bytes a vertex for moves, and what the solver takes, or up to 20 bytes a vertex while components are
//! searched.

use std::collections::HashMap;

use trefoil_control::{Control, Stopped};

use super::arena::{Arena, VertexSet};
use super::bits::Bits;
use super::components::Components;
use super::explicit::{Explicit, Moves};
use super::game::{Game, NO_VERTEX, Player, Vertex};
use super::registry::Solver;

/// What is known about a game: the vertices that each player wins, and how.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The vertices that each player wins.
    pub won: [Bits; 2],
    /// Where the winner of a vertex moves that it owns; [`NO_VERTEX`] elsewhere.
    pub moves: Moves,
}

impl Solution {
    /// The winner of a vertex, when it is known.
    pub fn winner(&self, vertex: Vertex) -> Option<Player> {
        Player::BOTH.into_iter().find(|player| self.won[player.index()].contains(vertex))
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.won.iter().map(Bits::bytes).sum::<usize>() + self.moves.len() * size_of::<Vertex>()
    }

    /// Removes moves that do not belong to the winner.
    pub(crate) fn tidy(&mut self, game: &Game) {
        for vertex in 0..game.len() as Vertex {
            if self.winner(vertex) != Some(game.owner(vertex)) {
                self.moves[vertex as usize] = NO_VERTEX;
            }
        }
    }
}

/// Solves a complete game.
pub fn solve(game: &Game, solver: &Solver, threads: usize, control: &Control) -> Result<Solution, Stopped> {
    Ok(solve_counting(game, solver, threads, control)?.0)
}

/// Solves a complete game, and says how many bytes were held for that beside the game.
pub(crate) fn solve_counting(
    game: &Game,
    solver: &Solver,
    threads: usize,
    control: &Control,
) -> Result<(Solution, usize), Stopped> {
    let mut whole = Whole::new(game, threads, control)?;
    if !whole.take_at_once(solver, threads)? {
        whole.take_parts(solver, threads)?;
        // Components keep a number a vertex, and list the vertices; a path of their search is as long as the game at
        // most.
        whole.held = whole.held.max(game.len() * 16).max(whole.arena.most_held());
    }
    let held = whole.held + whole.rest.bytes();
    let solution = whole.solution();
    let bytes = held + solution.bytes();
    Ok((solution, bytes))
}

/// Solves a complete game by its components, without a trial of the solver on all of it.
pub fn solve_in_parts(game: &Game, solver: &Solver, threads: usize, control: &Control) -> Result<Solution, Stopped> {
    let mut whole = Whole::new(game, threads, control)?;
    whole.take_parts(solver, threads)?;
    Ok(whole.solution())
}

/// How often a solver may look at each edge of a game before the components of the game are searched.
const AT_ONCE: u64 = 32;

struct Whole<'a> {
    game: &'a Game,
    control: &'a Control,
    arena: Explicit<'a>,
    /// What is not decided.
    rest: Bits,
    won: [Bits; 2],
    moves: Moves,
    /// The most bytes that a solver held beside all this.
    held: usize,
}

impl<'a> Whole<'a> {
    /// A game whose easiest parts are decided.
    fn new(game: &'a Game, threads: usize, control: &'a Control) -> Result<Whole<'a>, Stopped> {
        assert!(!game.has_incomplete(), "only complete games can be solved completely");
        control.afford(game.len() * 5)?;
        let arena = Explicit::new(game, threads, control);
        let won = [arena.none(), arena.none()];
        let mut whole = Whole { game, control, rest: arena.all(), won, moves: arena.blank(), arena, held: 0 };
        whole.take_stuck()?;
        whole.take_loops()?;
        Ok(whole)
    }

    fn solution(self) -> Solution {
        let mut solution = Solution { won: self.won, moves: self.moves };
        solution.tidy(self.game);
        solution
    }

    /// These vertices are won by a player, and so is what it attracts to them.
    fn win(&mut self, player: Player, mut vertices: Vec<Vertex>) -> Result<(), Stopped> {
        let set = &mut self.won[player.index()];
        vertices.iter().for_each(|&vertex| set.insert(vertex));
        self.arena.attract_from(player, (&self.rest, &self.rest), set, &mut vertices, &mut self.moves)?;
        vertices.iter().for_each(|&vertex| self.rest.remove(vertex));
        Ok(())
    }

    fn take_stuck(&mut self) -> Result<(), Stopped> {
        for player in Player::BOTH {
            let stuck = |&vertex: &Vertex| self.game.successors(vertex).is_empty() && self.game.owner(vertex) != player;
            let stuck: Vec<Vertex> = self.rest.iter().filter(stuck).collect();
            self.win(player, stuck)?;
        }
        Ok(())
    }

    fn take_loops(&mut self) -> Result<(), Stopped> {
        let game = self.game;
        for player in Player::BOTH {
            let mut won = Vec::new();
            for vertex in self.rest.iter() {
                let successors = game.successors(vertex);
                if game.parity(vertex) != player || !successors.contains(&vertex) {
                    continue;
                }
                if game.owner(vertex) == player {
                    self.moves[vertex as usize] = vertex;
                } else if successors.iter().any(|&target| target != vertex && self.rest.contains(target)) {
                    continue;
                }
                won.push(vertex);
            }
            self.win(player, won)?;
        }
        Ok(())
    }

    /// Runs the solver on all that is left, as long as that takes little. Returns whether it came to an end.
    fn take_at_once(&mut self, solver: &Solver, threads: usize) -> Result<bool, Stopped> {
        if self.rest.is_empty() {
            return Ok(true);
        }
        let edges = (self.game.len() + self.game.edge_count()) as u64 * AT_ONCE;
        let arena = Explicit::limited(self.game, threads, edges, self.control);
        let solved = (solver.run)(&arena, self.rest.clone(), &mut self.moves);
        self.held = self.held.max(arena.most_held());
        let [even, odd] = match solved {
            Err(_) if arena.is_exhausted() => return Ok(false),
            solved => solved?,
        };
        self.won[0].unite(&even);
        self.won[1].unite(&odd);
        self.rest = self.arena.none();
        Ok(true)
    }

    fn take_parts(&mut self, solver: &Solver, threads: usize) -> Result<(), Stopped> {
        let mut components = Components::new(self.game, self.control);
        for player in Player::BOTH {
            self.take_cycles(player, &mut components)?;
        }
        self.take_components(solver, &mut components, threads)
    }

    fn take_cycles(&mut self, player: Player, components: &mut Components<'_>) -> Result<(), Stopped> {
        let game = self.game;
        let own: Vec<Vertex> = self.rest.iter().filter(|&vertex| game.owner(vertex) == player).collect();
        let (rest, moves) = (&self.rest, &mut self.moves);
        let has = |_: Vertex, target: Vertex| rest.contains(target) && game.owner(target) == player;
        let cycles = components.winning_cycles(own, has, player, false, moves)?;
        self.win(player, cycles.won)
    }

    fn take_components(
        &mut self,
        solver: &Solver,
        components: &mut Components<'_>,
        threads: usize,
    ) -> Result<(), Stopped> {
        let rest = self.rest.clone();
        let parts = components.find(rest.iter(), |_, target| rest.contains(target), true)?;
        let mut numbers: Vec<u32> = Vec::new();
        for part in parts.iter() {
            let part: Vec<Vertex> = part.iter().copied().filter(|&vertex| self.rest.contains(vertex)).collect();
            if part.is_empty() {
                continue;
            }
            self.control.check()?;
            if self.take_uniform(&part, components)? || self.take_solitaire(&part, components)? {
                continue;
            }
            if part.len() * 2 > self.game.len() {
                let mut inside = self.arena.none();
                part.iter().for_each(|&vertex| inside.insert(vertex));
                let won = (solver.run)(&self.arena, inside, &mut self.moves)?;
                for player in Player::BOTH {
                    self.win(player, won[player.index()].iter().collect())?;
                }
                continue;
            }
            numbers.resize(self.game.len(), 0);
            // Lower components are decided, higher ones are not reached: an edge that stays undecided stays inside.
            let game = self.game.part(&part, |target| self.rest.contains(target), &mut numbers, self.control)?;
            let arena = Explicit::new(&game, threads, self.control);
            let mut moves = arena.blank();
            let won = (solver.run)(&arena, arena.all(), &mut moves)?;
            for (vertex, &next) in part.iter().zip(&moves) {
                self.moves[*vertex as usize] = if next == NO_VERTEX { NO_VERTEX } else { part[next as usize] };
            }
            for player in Player::BOTH {
                let mine = won[player.index()].iter().map(|vertex| part[vertex as usize]).collect();
                self.win(player, mine)?;
            }
        }
        debug_assert!(VertexSet::is_empty(&self.rest), "every component was decided");
        Ok(())
    }

    /// A component in which one player wins all cycles.
    fn take_uniform(&mut self, part: &[Vertex], components: &mut Components<'_>) -> Result<bool, Stopped> {
        let game = self.game;
        let least = part.iter().map(|&vertex| game.level(vertex)).min().expect("it is not empty");
        let player = game.player_of(least);
        if part.iter().any(|&vertex| game.parity(vertex) != player) {
            if self.meets_cycle_of(player.opponent(), part) {
                return Ok(false);
            }
            let (rest, moves) = (&self.rest, &mut self.moves);
            let has = |_: Vertex, target: Vertex| rest.contains(target);
            let other = components.winning_cycles(part.to_vec(), has, player.opponent(), true, moves)?;
            if !other.won.is_empty() || !other.complete {
                return Ok(false);
            }
        }
        for &vertex in part {
            let inside = game.successors(vertex).iter().copied().find(|&target| self.rest.contains(target));
            self.moves[vertex as usize] = inside.expect("no player is stuck");
        }
        self.win(player, part.to_vec())?;
        Ok(true)
    }

    /// Does a walk through a component come to a cycle that a player wins? A few are tried; most components in which
    /// both players win cycles are recognised by that, which spares a search of all of it.
    fn meets_cycle_of(&self, player: Player, part: &[Vertex]) -> bool {
        const WALKS: usize = 32;
        const STEPS: usize = 1 << 10;
        let game = self.game;
        let mut walked: Vec<Vertex> = Vec::new();
        let mut places: HashMap<Vertex, usize> = HashMap::new();
        for walk in 0..WALKS {
            walked.clear();
            places.clear();
            let mut at = part[walk * part.len() / WALKS];
            while walked.len() < STEPS {
                if let Some(&begin) = places.get(&at) {
                    let cycle = &walked[begin..];
                    let least = cycle.iter().map(|&vertex| game.level(vertex)).min().expect("it is not empty");
                    if game.player_of(least) == player {
                        return true;
                    }
                    break;
                }
                places.insert(at, walked.len());
                walked.push(at);
                // The edge with the greatest level: a cycle of the other player avoids the least one.
                let inside = game.successors(at).iter().copied().filter(|&target| self.rest.contains(target));
                at = inside.max_by_key(|&target| game.level(target)).expect("no player is stuck");
            }
        }
        false
    }

    /// A component in which one player makes all choices.
    fn take_solitaire(&mut self, part: &[Vertex], components: &mut Components<'_>) -> Result<bool, Stopped> {
        let game = self.game;
        let rest = &self.rest;
        let mut player = None;
        for &vertex in part {
            if game.successors(vertex).iter().filter(|&&target| rest.contains(target)).nth(1).is_some() {
                match player {
                    None => player = Some(game.owner(vertex)),
                    Some(other) if other == game.owner(vertex) => {}
                    Some(_) => return Ok(false),
                }
            }
        }
        let player = player.unwrap_or(Player::Even);
        let has = |_: Vertex, target: Vertex| rest.contains(target);
        let cycles = components.winning_cycles(part.to_vec(), has, player, false, &mut self.moves)?;
        if !cycles.complete {
            return Ok(false);
        }
        self.win(player, cycles.won)?;
        // What the player cannot bring to a cycle that it wins ends in one that it loses.
        let lost: Vec<Vertex> = part.iter().copied().filter(|&vertex| self.rest.contains(vertex)).collect();
        for &vertex in &lost {
            let inside = game.successors(vertex).iter().copied().find(|&target| self.rest.contains(target));
            self.moves[vertex as usize] = inside.expect("no player is stuck");
        }
        self.win(player.opponent(), lost)?;
        Ok(true)
    }
}
