//! Verifies that a solution is right. Shares no code with the solvers: of a game it uses owners, priorities and edges
//! forward.
//!
//! A set W with moves is won by α when
//!
//! 1. it is a trap for the opponent: all moves of the opponent from W are known and stay in W;
//! 2. α's moves exist, and stay in W: so α is never stuck;
//! 3. no cycle that is left when α makes its moves and the opponent any has a least priority that is good for the
//!    opponent.
//!
//! For 3, the components of the graph that is left are found (Tarjan, *Depth-first search and linear graph algorithms*,
//! 1972). A component with a cycle whose least priority is the opponent's is such a cycle; else every bad cycle avoids
//! the vertices of the least priority, and the components of the rest are checked in the same way. Recursion ends,
//! because each round removes vertices; a component whose priorities are all good ends it at once.
//!
//! Cost: linear times the number of priorities that are nested in each other.

use std::fmt;

use super::game::{Game, NO_VERTEX, Player, Vertex};
use super::whole::Solution;

/// What is wrong with a solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A vertex is won by both players, or by none in a solution that should be complete.
    Winner(Vertex),
    /// The winner of a vertex owns it and does not say where to move, though it has to.
    NoMove(Vertex),
    /// The move from a vertex is not an edge.
    NoEdge(Vertex, Vertex),
    /// An edge, a move of the winner or any of the loser, leaves what the winner wins.
    Leaves(Vertex, Vertex),
    /// The loser owns a vertex that may have further edges.
    Incomplete(Vertex),
    /// A vertex on a cycle that the loser can force, with the least priority of the cycle.
    Cycle(Vertex),
}

impl Flaw {
    /// The flaw in words, with names for vertices.
    pub fn words(&self, name: impl Fn(Vertex) -> String) -> String {
        match *self {
            Flaw::Winner(vertex) => format!("vertex {} is not won by exactly one player", name(vertex)),
            Flaw::NoMove(vertex) => format!("the winner of vertex {} owns it, but has no move there", name(vertex)),
            Flaw::NoEdge(vertex, target) => {
                format!("the move from vertex {} to {} is not an edge", name(vertex), name(target))
            }
            Flaw::Leaves(vertex, target) => {
                let (vertex, target) = (name(vertex), name(target));
                format!("a play can move from vertex {vertex} to {target}, which has another winner")
            }
            Flaw::Incomplete(vertex) => {
                format!("the loser owns vertex {}, which may have further edges", name(vertex))
            }
            Flaw::Cycle(vertex) => {
                let vertex = name(vertex);
                format!("the loser can force a cycle through vertex {vertex} whose priority is good for the loser")
            }
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(|vertex| vertex.to_string()))
    }
}

/// Checks a solution; in a complete one every vertex must have a winner.
pub fn verify(game: &Game, solution: &Solution, complete: bool) -> Result<(), Flaw> {
    for vertex in 0..game.len() as Vertex {
        let winners = Player::BOTH.into_iter().filter(|player| solution.won[player.index()].contains(vertex)).count();
        if winners > 1 || complete && winners == 0 {
            return Err(Flaw::Winner(vertex));
        }
    }
    Player::BOTH.into_iter().try_for_each(|player| verify_player(game, solution, player))
}

fn verify_player(game: &Game, solution: &Solution, player: Player) -> Result<(), Flaw> {
    let won = &solution.won[player.index()];
    for vertex in won.iter() {
        if game.owner(vertex) == player {
            let target = solution.moves[vertex as usize];
            if target == NO_VERTEX {
                return Err(Flaw::NoMove(vertex));
            }
            if !game.successors(vertex).contains(&target) {
                return Err(Flaw::NoEdge(vertex, target));
            }
            if !won.contains(target) {
                return Err(Flaw::Leaves(vertex, target));
            }
        } else {
            if game.is_incomplete(vertex) {
                return Err(Flaw::Incomplete(vertex));
            }
            if let Some(&target) = game.successors(vertex).iter().find(|&&target| !won.contains(target)) {
                return Err(Flaw::Leaves(vertex, target));
            }
        }
    }
    let played = |vertex: Vertex| -> &[Vertex] {
        if game.owner(vertex) == player {
            std::slice::from_ref(&solution.moves[vertex as usize])
        } else {
            game.successors(vertex)
        }
    };
    // Which list of vertices a vertex is in at the moment; 0 for none.
    let mut list_of = vec![0u32; game.len()];
    let mut found = vec![0u32; game.len()];
    let mut lists = vec![won.iter().collect::<Vec<Vertex>>()];
    let mut number = 0;
    while let Some(list) = lists.pop() {
        number += 1;
        for &vertex in &list {
            list_of[vertex as usize] = number;
            found[vertex as usize] = 0;
        }
        let inside = &list_of[..];
        let edges = |vertex: Vertex| played(vertex).iter().copied().filter(move |&t| inside[t as usize] == number);
        for component in tarjan(&list, &mut found, &edges) {
            if component.len() == 1 && edges(component[0]).all(|target| target != component[0]) {
                continue;
            }
            let &least = component.iter().min_by_key(|&&vertex| game.priority(vertex)).expect("it has vertices");
            if Player::of_parity(game.priority(least)) != player {
                return Err(Flaw::Cycle(least));
            }
            // Only cycles whose least priority is the opponent's are left to look for.
            let bad = component.iter().map(|&vertex| game.priority(vertex));
            if let Some(bad) = bad.filter(|&priority| Player::of_parity(priority) != player).min() {
                lists.push(component.into_iter().filter(|&vertex| game.priority(vertex) >= bad).collect());
            }
        }
    }
    Ok(())
}

/// The strongly connected components of some vertices; `found` is 0 for each of them.
fn tarjan<'g, E: Iterator<Item = Vertex> + 'g>(
    list: &[Vertex],
    found: &mut [u32],
    edges: &'g impl Fn(Vertex) -> E,
) -> Vec<Vec<Vertex>> {
    const DONE: u32 = u32::MAX;
    let mut components = Vec::new();
    let mut time = 0;
    let mut open: Vec<Vertex> = Vec::new();
    // A vertex, the edges that are left, and the earliest vertex that is known to be reached from it.
    let mut path: Vec<(Vertex, E, u32)> = Vec::new();
    for &start in list {
        if found[start as usize] != 0 {
            continue;
        }
        let mut enter = Some(start);
        loop {
            if let Some(vertex) = enter.take() {
                time += 1;
                found[vertex as usize] = time;
                open.push(vertex);
                path.push((vertex, edges(vertex), time));
            }
            let Some((vertex, left, low)) = path.last_mut() else { break };
            if let Some(target) = left.next() {
                match found[target as usize] {
                    0 => enter = Some(target),
                    DONE => {}
                    earlier => *low = (*low).min(earlier),
                }
                continue;
            }
            let (vertex, low) = (*vertex, *low);
            path.pop();
            if let Some((_, _, above)) = path.last_mut() {
                *above = (*above).min(low);
            }
            if low == found[vertex as usize] {
                let place = open.iter().rposition(|&other| other == vertex).expect("it is open");
                let component = open.split_off(place);
                component.iter().for_each(|&member| found[member as usize] = DONE);
                components.push(component);
            }
        }
    }
    components
}
