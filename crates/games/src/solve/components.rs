//! Strongly connected components, and cycles that one player wins alone.
//!
//! Components: Pearce, *A space-efficient algorithm for finding strongly connected components* (2016), which needs one
//! number a vertex, with an explicit stack. They come out before the components that lead to them.
//!
//! Cycles ([`Components::winning_cycles`]): in a graph where one player makes all moves it wins a component whose least
//! priority is good for it, by returning to that priority again and again. In any other component the vertices of the
//! least priority are of no use, and the components of the rest are looked at in the same way. That takes a walk over
//! the edges for each level of priorities; after [`Components::ROUNDS`] levels the search gives up and says so.
//!
//! Cost: linear for components; 4 bytes a vertex, and 8 a vertex of the longest path of the depth-first search.

use trefoil_control::{Control, Stopped};

use super::bits::Bits;
use super::explicit::Moves;
use super::game::{Game, Player, Vertex};

/// Finds components and cycles; keeps its tables between calls.
pub(crate) struct Components<'a> {
    game: &'a Game,
    control: &'a Control,
    number: Vec<u32>,
    current: Bits,
}

/// Lists of vertices, one behind the other.
#[derive(Default)]
pub(crate) struct Parts {
    vertices: Vec<Vertex>,
    ends: Vec<u32>,
}

impl Parts {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Vertex]> {
        let mut begin = 0;
        self.ends.iter().map(move |&end| &self.vertices[std::mem::replace(&mut begin, end as usize)..end as usize])
    }
}

/// The cycles that a player wins alone.
pub(crate) struct Cycles {
    /// The vertices of the components that are won.
    pub(crate) won: Vec<Vertex>,
    /// Was every level looked at?
    pub(crate) complete: bool,
}

/// A vertex on the path of the search, the edge that is looked at, and whether no earlier vertex is known to be reached
/// from it: that is bit 0 of `edge`.
struct Visit {
    vertex: Vertex,
    edge: u32,
}

/// At the first edge, and no earlier vertex is known to be reached.
const FRESH: u32 = 1;

impl<'a> Components<'a> {
    /// How many levels of one component are looked at.
    pub(crate) const ROUNDS: usize = 64;

    pub(crate) fn new(game: &'a Game, control: &'a Control) -> Components<'a> {
        Components { game, control, number: vec![0; game.len()], current: Bits::none(game.len()) }
    }

    /// The components of the graph on some vertices with the edges that `has` allows, which must lead to them. Without
    /// `trivial`, components of one vertex without an edge to itself are left out.
    pub(crate) fn find(
        &mut self,
        vertices: impl Iterator<Item = Vertex> + Clone,
        has: impl Fn(Vertex, Vertex) -> bool,
        trivial: bool,
    ) -> Result<Parts, Stopped> {
        let (game, number) = (self.game, &mut self.number);
        vertices.clone().for_each(|vertex| number[vertex as usize] = 0);
        let mut parts = Parts::default();
        let (mut index, mut component) = (1u32, u32::MAX);
        let (mut path, mut waiting): (Vec<Visit>, Vec<Vertex>) = (Vec::new(), Vec::new());
        let mut polled = 0u32;
        for start in vertices {
            if number[start as usize] != 0 {
                continue;
            }
            number[start as usize] = index;
            index += 1;
            path.push(Visit { vertex: start, edge: FRESH });
            'path: while let Some(visit) = path.last_mut() {
                polled = polled.wrapping_add(1);
                if polled.is_multiple_of(1 << 16) {
                    self.control.check()?;
                }
                let vertex = visit.vertex;
                let successors = game.successors(vertex);
                while let Some(&target) = successors.get((visit.edge >> 1) as usize) {
                    if has(vertex, target) {
                        let there = number[target as usize];
                        if there == 0 {
                            // The edge is looked at once more after the visit.
                            number[target as usize] = index;
                            index += 1;
                            path.push(Visit { vertex: target, edge: FRESH });
                            continue 'path;
                        }
                        if there < number[vertex as usize] {
                            number[vertex as usize] = there;
                            visit.edge &= !FRESH;
                        }
                    }
                    visit.edge += 2;
                }
                let is_root = visit.edge & FRESH == FRESH;
                path.pop();
                if !is_root {
                    waiting.push(vertex);
                    continue;
                }
                index -= 1;
                let own = number[vertex as usize];
                while let Some(member) = waiting.pop_if(|member| own <= number[*member as usize]) {
                    number[member as usize] = component;
                    parts.vertices.push(member);
                    index -= 1;
                }
                number[vertex as usize] = component;
                let alone = parts.vertices.len() as u32 == parts.ends.last().copied().unwrap_or(0);
                if trivial || !alone || (successors.contains(&vertex) && has(vertex, vertex)) {
                    parts.vertices.push(vertex);
                    parts.ends.push(parts.vertices.len() as u32);
                }
                component -= 1;
            }
        }
        Ok(parts)
    }

    /// The cycles that a player wins in the graph on some vertices, with the edges that `has` allows, when it makes all
    /// moves; records its moves. With `first`, the first component that is found is enough.
    pub(crate) fn winning_cycles(
        &mut self,
        vertices: Vec<Vertex>,
        has: impl Fn(Vertex, Vertex) -> bool,
        player: Player,
        first: bool,
        moves: &mut Moves,
    ) -> Result<Cycles, Stopped> {
        let game = self.game;
        let mut cycles = Cycles { won: Vec::new(), complete: true };
        let mut work = vec![(vertices, 0)];
        while let Some((vertices, round)) = work.pop() {
            let mut current = std::mem::take(&mut self.current);
            vertices.iter().for_each(|&vertex| current.insert(vertex));
            let edge = |source: Vertex, target: Vertex| current.contains(target) && has(source, target);
            let parts = self.find(vertices.iter().copied(), edge, false)?;
            for part in parts.iter() {
                let least = part.iter().map(|&vertex| game.level(vertex)).min().expect("it is not empty");
                if game.player_of(least) != player {
                    let rest: Vec<Vertex> = part.iter().copied().filter(|&vertex| game.level(vertex) > least).collect();
                    if round + 1 == Components::ROUNDS {
                        cycles.complete = false;
                    } else if !rest.is_empty() {
                        work.push((rest, round + 1));
                    }
                    continue;
                }
                if first {
                    cycles.won.extend_from_slice(part);
                    break;
                }
                // Back from the vertices of the least level, through the component.
                let component = self.number[part[0] as usize];
                let begin = cycles.won.len();
                cycles.won.extend(part.iter().copied().filter(|&vertex| game.level(vertex) == least));
                for &head in &cycles.won[begin..] {
                    let inside = |target: &Vertex| {
                        current.contains(*target) && self.number[*target as usize] == component && has(head, *target)
                    };
                    let next = game.successors(head).iter().copied().find(inside);
                    moves[head as usize] = next.expect("a component has a cycle through each of its vertices");
                }
                cycles.won[begin..].iter().for_each(|&vertex| current.remove(vertex));
                let mut at = begin;
                while at < cycles.won.len() {
                    let target = cycles.won[at];
                    at += 1;
                    for &source in game.predecessors(target) {
                        let inside = current.contains(source) && self.number[source as usize] == component;
                        if inside && has(source, target) {
                            current.remove(source);
                            moves[source as usize] = target;
                            cycles.won.push(source);
                        }
                    }
                }
            }
            vertices.iter().for_each(|&vertex| current.remove(vertex));
            self.current = current;
            if first && !cycles.won.is_empty() {
                break;
            }
        }
        Ok(cycles)
    }
}
