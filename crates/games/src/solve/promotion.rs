//! Priority promotion, on arrays.
//!
//! Benerecetti, Dell'Erba and Mogavero, *Solving parity games via priority promotion* (2016). Beginning with the least
//! priority, the player α that a priority is good for attracts to the vertices of it, in what earlier priorities have
//! left; that is the *region* of the priority. If the opponent can leave the region into what is left, or α has to, the
//! next priority follows. Else the opponent can leave it only into regions of lesser priorities, and all of those are
//! α's (it would have been attracted to its own): the region is *promoted* to the nearest of them, and everything above
//! that begins anew. A region that the opponent cannot leave at all is a dominion: it is removed with all that α
//! attracts to it.
//!
//! Where we depart: regions are reset when their priority is reached again, not at the promotion (as Oink does), since
//! an attractor takes vertices from every region of a greater priority, whether that is stale or not.
//!
//! Invariant: when a level is reached, the regions of all lesser levels are those of this descent, and what is left is
//! a game in which no player is stuck.
//!
//! Cost: exponential in the number of levels at worst, in practice few promotions a dominion; 12 to 16 bytes a vertex:
//! its region, its place in the order of levels, and the list of the region that it is in.

use trefoil_control::Stopped;

use super::arena::Arena;
use super::bits::Bits;
use super::explicit::{Explicit, Moves};
use super::game::{Game, NO_VERTEX, Player, Vertex};

/// The region of a vertex is its level plus 1, or this when it has left the game.
const LEFT: u32 = 0;

/// How a region can be left.
enum Exit {
    /// Into what is left.
    Open,
    /// Not at all.
    Dominion,
    /// Only into regions of lesser priorities; this is the nearest of them.
    Promote(u32),
}

struct Promotion<'a> {
    game: &'a Game,
    region: Vec<u32>,
    moves: &'a mut Moves,
}

/// The sets that the two players win of `within`, and their moves. Neither player may be stuck in `within`.
pub fn promotion(arena: &Explicit<'_>, within: Bits, moves: &mut Moves) -> Result<[Bits; 2], Stopped> {
    let game = arena.game();
    let control = arena.control();
    let mut left = within.len();
    control.afford(game.len() * 4 + left * 8)?;
    let (starts, order) = by_level(game, &within);
    let region = (0..game.len() as Vertex).map(|v| if within.contains(v) { game.level(v) + 1 } else { LEFT }).collect();
    let mut search = Promotion { game, region, moves };
    let mut lists: Vec<Vec<Vertex>> = vec![Vec::new(); game.levels() as usize + 1];
    let mut won = [arena.none(), arena.none()];
    let mut at = 1;
    while left > 0 {
        arena.poll()?;
        let mut list = std::mem::take(&mut lists[at as usize]);
        search.reset(&list, at);
        list.clear();
        let own = &order[starts[at as usize - 1] as usize..starts[at as usize] as usize];
        list.extend(own.iter().copied().filter(|&vertex| search.region[vertex as usize] == at));
        if !list.is_empty() {
            search.attract(&mut list, 0, at);
        }
        while !list.is_empty() {
            // Each turn looks at the edges of the list at least once.
            arena.charge(list.len() * 2)?;
            match search.exit(&list, at) {
                Exit::Open => break,
                Exit::Promote(to) => {
                    list.iter().for_each(|&vertex| search.region[vertex as usize] = to);
                    let mut larger = std::mem::take(&mut lists[to as usize]);
                    let begin = larger.len();
                    larger.append(&mut list);
                    lists[at as usize] = list;
                    (list, at) = (larger, to);
                    search.attract(&mut list, begin, at);
                }
                Exit::Dominion => {
                    let player = game.player_of(at - 1);
                    search.remove(&mut list, player);
                    left -= list.len();
                    list.iter().for_each(|&vertex| won[player.index()].insert(vertex));
                    list.clear();
                    lists[at as usize] = Vec::new();
                    at = 0;
                }
            }
        }
        if at > 0 {
            lists[at as usize] = list;
        }
        at += 1;
    }
    Ok(won)
}

/// The vertices of a set by their levels, and where each level ends.
fn by_level(game: &Game, within: &Bits) -> (Vec<u32>, Vec<Vertex>) {
    let mut starts = vec![0u32; game.levels() as usize + 1];
    within.iter().for_each(|vertex| starts[game.level(vertex) as usize + 1] += 1);
    for level in 1..starts.len() {
        starts[level] += starts[level - 1];
    }
    let mut order = vec![0; within.len()];
    let mut next = starts.clone();
    for vertex in within.iter() {
        let place = &mut next[game.level(vertex) as usize];
        order[*place as usize] = vertex;
        *place += 1;
    }
    (starts, order)
}

impl Promotion<'_> {
    /// Puts the vertices of an old region back to their own priorities.
    fn reset(&mut self, list: &[Vertex], at: u32) {
        for &vertex in list {
            if self.region[vertex as usize] == at {
                self.region[vertex as usize] = self.game.level(vertex) + 1;
            }
        }
    }

    /// Can the opponent not move from the vertex into what the region leaves?
    #[inline]
    fn is_forced(&self, vertex: Vertex, at: u32) -> bool {
        self.game.successors(vertex).iter().all(|&target| self.region[target as usize] <= at)
    }

    /// Adds to a region what its vertices from `begin` on attract.
    fn attract(&mut self, list: &mut Vec<Vertex>, begin: usize, at: u32) {
        let player = self.game.player_of(at - 1);
        let mut done = begin;
        while done < list.len() {
            let target = list[done];
            done += 1;
            for &source in self.game.predecessors(target) {
                if self.region[source as usize] <= at {
                    continue;
                }
                if self.game.owner(source) == player {
                    self.moves[source as usize] = target;
                } else if self.is_forced(source, at) {
                    self.moves[source as usize] = NO_VERTEX;
                } else {
                    continue;
                }
                self.region[source as usize] = at;
                list.push(source);
            }
        }
    }

    /// How a region can be left; records moves that stay in it.
    fn exit(&mut self, list: &[Vertex], at: u32) -> Exit {
        let player = self.game.player_of(at - 1);
        let mut nearest = LEFT;
        for &vertex in list {
            if self.game.owner(vertex) == player {
                let known = self.moves[vertex as usize];
                if known != NO_VERTEX && self.region[known as usize] == at {
                    continue;
                }
                let inside = |target: &&Vertex| self.region[**target as usize] == at;
                let Some(&target) = self.game.successors(vertex).iter().find(inside) else { return Exit::Open };
                self.moves[vertex as usize] = target;
            } else {
                for &target in self.game.successors(vertex) {
                    let there = self.region[target as usize];
                    if there > at {
                        return Exit::Open;
                    }
                    if there < at {
                        nearest = nearest.max(there);
                    }
                }
                self.moves[vertex as usize] = NO_VERTEX;
            }
        }
        if nearest == LEFT { Exit::Dominion } else { Exit::Promote(nearest) }
    }

    /// Removes a dominion and all that its player attracts to it, which `list` becomes.
    fn remove(&mut self, list: &mut Vec<Vertex>, player: Player) {
        list.iter().for_each(|&vertex| self.region[vertex as usize] = LEFT);
        let mut done = 0;
        while done < list.len() {
            let target = list[done];
            done += 1;
            for &source in self.game.predecessors(target) {
                if self.region[source as usize] == LEFT {
                    continue;
                }
                if self.game.owner(source) == player {
                    self.moves[source as usize] = target;
                } else if self.is_forced(source, LEFT) {
                    self.moves[source as usize] = NO_VERTEX;
                } else {
                    continue;
                }
                self.region[source as usize] = LEFT;
                list.push(source);
            }
        }
    }
}
