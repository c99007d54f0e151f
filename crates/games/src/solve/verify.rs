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
//! For 3, the components of the graph that is left, without the priorities before the first one that is good for the
//! opponent, are found (Tarjan, *Depth-first search and linear graph algorithms*, 1972). A component with a cycle whose
//! least priority is the opponent's is such a cycle; else every bad cycle avoids the vertices of the least priority,
//! and the components of the rest are checked in the same way. Recursion ends, because each round removes vertices; a
//! component whose priorities are all good ends it at once. Components with many priorities would take many rounds;
//! [`super::cycles`] looks at them first, and only if it finds a bad cycle, rounds say where.
//!
//! Cost: linear times the number of priorities that are nested in each other, or its logarithm if it is large; 4 bytes
//! a vertex, 16 a vertex on the longest path of the depth-first search, 4 a vertex of a component that has to be looked
//! at again (and some 32 where it has many priorities).

use std::fmt;

use trefoil_control::{Control, Stopped};

use super::cycles::LevelGraph;
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

/// Checks a solution; in a complete one every vertex must have a winner. Has no budget.
pub fn verify(game: &Game, solution: &Solution, complete: bool) -> Result<(), Flaw> {
    let found = find_flaw(game, solution, complete, &Control::unlimited());
    found.expect("there is no budget").map_or(Ok(()), Err)
}

/// What is wrong with a solution, if anything; in a complete one every vertex must have a winner.
pub fn find_flaw(game: &Game, solution: &Solution, complete: bool, control: &Control) -> Result<Option<Flaw>, Stopped> {
    for vertex in 0..game.len() as Vertex {
        let winners = Player::BOTH.into_iter().filter(|player| solution.won[player.index()].contains(vertex)).count();
        if winners > 1 || complete && winners == 0 {
            return Ok(Some(Flaw::Winner(vertex)));
        }
    }
    control.afford(game.len() * 4)?;
    let mut found = vec![DONE; game.len()];
    for player in Player::BOTH {
        control.check()?;
        if let Some(flaw) = solution.won[player.index()].iter().find_map(|at| wrong_move(game, solution, player, at)) {
            return Ok(Some(flaw));
        }
        let mut cycles = Cycles { game, solution, player, control, found, time: 0, pending: Vec::new() };
        if let Some(vertex) = cycles.find()? {
            return Ok(Some(Flaw::Cycle(vertex)));
        }
        found = cycles.found;
    }
    Ok(None)
}

/// What is wrong with the moves from a vertex that a player wins.
fn wrong_move(game: &Game, solution: &Solution, player: Player, vertex: Vertex) -> Option<Flaw> {
    let won = &solution.won[player.index()];
    if game.owner(vertex) != player {
        if game.is_incomplete(vertex) {
            return Some(Flaw::Incomplete(vertex));
        }
        let outside = game.successors(vertex).iter().find(|&&target| !won.contains(target));
        return outside.map(|&target| Flaw::Leaves(vertex, target));
    }
    let target = solution.moves[vertex as usize];
    if target == NO_VERTEX {
        return Some(Flaw::NoMove(vertex));
    }
    if !game.successors(vertex).contains(&target) {
        return Some(Flaw::NoEdge(vertex, target));
    }
    (!won.contains(target)).then_some(Flaw::Leaves(vertex, target))
}

/// In no list, or in a component that was found.
const DONE: u32 = u32::MAX;

/// From how many levels on a list is checked by halves of its levels first.
const MANY_LEVELS: u32 = 12;

/// A search for cycles that the opponent of a player wins in what the player wins. It works off lists of vertices, at
/// first that of all, then those parts of components in which bad cycles may be left.
struct Cycles<'a> {
    game: &'a Game,
    solution: &'a Solution,
    player: Player,
    control: &'a Control,
    /// When a vertex of the present list was found, or the time when the list began, or [`DONE`].
    found: Vec<u32>,
    time: u32,
    /// The lists to be worked off, one behind the other, each with its length behind it.
    pending: Vec<u32>,
}

/// A vertex on the path of the search, the edge that is looked at, and the earliest vertex that is known to be reached.
struct Step {
    vertex: Vertex,
    edge: u32,
    low: u32,
}

impl<'a> Cycles<'a> {
    /// The moves from a vertex that are left when the player follows its strategy.
    fn played(&self, vertex: Vertex) -> &'a [Vertex] {
        if self.game.owner(vertex) == self.player {
            std::slice::from_ref(&self.solution.moves[vertex as usize])
        } else {
            self.game.successors(vertex)
        }
    }

    /// The vertex of the least priority of a bad cycle.
    fn find(&mut self) -> Result<Option<Vertex>, Stopped> {
        let (game, player) = (self.game, self.player);
        let won = self.solution.won[player.index()].iter();
        let is_bad = |priority: &u32| Player::of_parity(*priority) != player;
        let Some(bad) = won.clone().map(|vertex| game.priority(vertex)).filter(is_bad).min() else { return Ok(None) };
        if let Some(bad) = self.search(won.filter(|&vertex| game.priority(vertex) >= bad))? {
            return Ok(Some(bad));
        }
        while let Some(length) = self.pending.pop() {
            let list = self.pending.split_off(self.pending.len() - length as usize);
            if self.is_fine_by_levels(&list)? {
                continue;
            }
            if let Some(bad) = self.search(list.iter().copied())? {
                return Ok(Some(bad));
            }
        }
        Ok(None)
    }

    /// Where a list has many levels: is it known that it has no bad cycle?
    fn is_fine_by_levels(&mut self, list: &[Vertex]) -> Result<bool, Stopped> {
        let (game, player) = (self.game, self.player);
        let levels = list.iter().map(|&vertex| game.level(vertex));
        let (least, greatest) = (levels.clone().min().unwrap_or(0), levels.max().unwrap_or(0));
        if greatest - least < MANY_LEVELS {
            return Ok(false);
        }
        self.control.afford(list.len() * 32)?;
        for (number, &vertex) in list.iter().enumerate() {
            self.found[vertex as usize] = number as u32;
        }
        let mut graph = LevelGraph::default();
        for &vertex in list {
            let inside = self.played(vertex).iter().map(|&target| self.found[target as usize]);
            inside.filter(|&number| number != DONE).for_each(|number| graph.edge(number));
            graph.vertex(game.level(vertex));
        }
        list.iter().for_each(|&vertex| self.found[vertex as usize] = DONE);
        let is_bad = |level: u32| game.player_of(level) != player;
        Ok(!graph.has_bad_cycle(is_bad, self.control)?)
    }

    /// The components of a list, each of which is checked.
    fn search(&mut self, list: impl Iterator<Item = Vertex> + Clone) -> Result<Option<Vertex>, Stopped> {
        if self.time > DONE / 2 {
            self.found.fill(DONE);
            self.time = 0;
        }
        let begun = self.time;
        list.clone().for_each(|vertex| self.found[vertex as usize] = begun);
        let (mut open, mut path): (Vec<Vertex>, Vec<Step>) = (Vec::new(), Vec::new());
        for start in list.clone() {
            if self.found[start as usize] != begun {
                continue;
            }
            let mut enter = Some(start);
            loop {
                if let Some(vertex) = enter.take() {
                    self.time += 1;
                    if self.time.is_multiple_of(1 << 14) {
                        self.control.check()?;
                    }
                    self.found[vertex as usize] = self.time;
                    open.push(vertex);
                    path.push(Step { vertex, edge: 0, low: self.time });
                }
                let Some(step) = path.last_mut() else { break };
                if let Some(&target) = self.played(step.vertex).get(step.edge as usize) {
                    step.edge += 1;
                    match self.found[target as usize] {
                        DONE => {}
                        unseen if unseen == begun => enter = Some(target),
                        earlier => step.low = step.low.min(earlier),
                    }
                    continue;
                }
                let Step { vertex, low, .. } = path.pop().expect("it is the last");
                if let Some(above) = path.last_mut() {
                    above.low = above.low.min(low);
                }
                if low == self.found[vertex as usize] {
                    let place = open.iter().rposition(|&other| other == vertex).expect("it is open");
                    if let Some(bad) = self.check(&open[place..]) {
                        return Ok(Some(bad));
                    }
                    open.truncate(place);
                }
            }
        }
        self.time += 1;
        Ok(None)
    }

    /// Checks a component: its least priority, if it has a cycle. Cycles without that priority are left for later.
    fn check(&mut self, component: &[Vertex]) -> Option<Vertex> {
        component.iter().for_each(|&vertex| self.found[vertex as usize] = DONE);
        if let &[alone] = component
            && !self.played(alone).contains(&alone)
        {
            return None;
        }
        let game = self.game;
        let &least = component.iter().min_by_key(|&&vertex| game.priority(vertex)).expect("it has vertices");
        let is_bad = |priority: u32| Player::of_parity(priority) != self.player;
        if is_bad(game.priority(least)) {
            return Some(least);
        }
        // Only cycles whose least priority is the opponent's are left to look for.
        let bad = component.iter().map(|&vertex| game.priority(vertex)).filter(|&priority| is_bad(priority)).min()?;
        let length = self.pending.len();
        self.pending.extend(component.iter().copied().filter(|&vertex| game.priority(vertex) >= bad));
        self.pending.push((self.pending.len() - length) as u32);
        None
    }
}
