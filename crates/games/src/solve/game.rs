//! A parity game in memory: compressed rows of edges, forwards and backwards.
//!
//! The owner of a vertex moves along one of its edges. A player without a move loses. On an infinite play the least
//! priority that recurs decides: even wins for [`Player::Even`]. Vertices may be *incomplete*: not all of their edges
//! are known yet (Laveaux, *Accelerated verification of concurrent systems*, chapter 4; see [`super::partial`]).
//!
//! Priorities are kept as *levels*: the priorities that occur, numbered ascending, where consecutive priorities of one
//! parity share a number, because no play distinguishes them. The parity of a level alternates from one to the next, so
//! one bit says which parity level 0 has.
//!
//! Edges back are laid out by counting and kept ascending by source, edges forward keep the order of the caller: what a
//! solver chooses depends on the game alone.
//!
//! Cost: little more than a byte for the start of each row and direction ([`super::rows`]), 1 byte for level and owner
//! (2 where there are more than 2^7 levels, 4 where there are more than 2^15), 4 bytes an edge and direction: 4 bytes a
//! vertex and 8 an edge in most games. At most 2^32 - 2 vertices and edges.

use trefoil_control::{Control, Stopped};

use super::bits::Bits;
use super::rows::Rows;

/// A vertex of a game.
pub type Vertex = u32;

/// No vertex.
pub const NO_VERTEX: Vertex = Vertex::MAX;

/// One of the two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Player {
    /// Wins plays whose least recurring priority is even.
    Even,
    /// Wins the others.
    Odd,
}

impl Player {
    /// Both.
    pub const BOTH: [Player; 2] = [Player::Even, Player::Odd];

    /// The other player.
    #[inline]
    pub fn opponent(self) -> Player {
        match self {
            Player::Even => Player::Odd,
            Player::Odd => Player::Even,
        }
    }

    /// The player that a priority is good for.
    #[inline]
    pub fn of_parity(priority: u32) -> Player {
        if priority.is_multiple_of(2) { Player::Even } else { Player::Odd }
    }

    /// 0 for even, 1 for odd.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name for users.
    pub fn name(self) -> &'static str {
        match self {
            Player::Even => "even",
            Player::Odd => "odd",
        }
    }
}

/// Level and owner of each vertex, in as few bytes as they need: the level times 2, plus the owner.
#[derive(Clone, Debug)]
enum Tags {
    Byte(Vec<u8>),
    Short(Vec<u16>),
    Long(Vec<u32>),
}

impl Tags {
    #[inline]
    fn get(&self, vertex: Vertex) -> u32 {
        match self {
            Tags::Byte(tags) => u32::from(tags[vertex as usize]),
            Tags::Short(tags) => u32::from(tags[vertex as usize]),
            Tags::Long(tags) => tags[vertex as usize],
        }
    }
}

/// A game in memory; see the head of this file.
#[derive(Clone, Debug)]
pub struct Game {
    /// Where the edges of a vertex stand in `forward`.
    rows: Rows,
    forward: Vec<Vertex>,
    back_rows: Rows,
    back: Vec<Vertex>,
    tags: Tags,
    /// Which player level 0 is good for.
    first: Player,
    levels: u32,
    /// The least priority of each level, as the maker of the game numbered them.
    priorities: Vec<u32>,
    incomplete: Bits,
    has_incomplete: bool,
}

/// Makes a game, vertex after vertex.
#[derive(Clone, Debug, Default)]
pub struct GameBuilder {
    starts: Vec<u32>,
    forward: Vec<Vertex>,
    /// Priority times 2, plus the owner.
    tags: Vec<u32>,
    incomplete: Vec<Vertex>,
}

/// The greatest priority that a game can have.
pub const GREATEST_PRIORITY: u32 = (1 << 31) - 1;

impl GameBuilder {
    /// A builder with room.
    pub fn with_capacity(vertices: usize, edges: usize) -> GameBuilder {
        let starts = Vec::with_capacity(vertices + 1);
        let (forward, tags) = (Vec::with_capacity(edges), Vec::with_capacity(vertices));
        GameBuilder { starts, forward, tags, incomplete: Vec::new() }
    }

    /// Adds the next vertex, without edges so far.
    pub fn vertex(&mut self, owner: Player, priority: u32) -> Vertex {
        assert!(priority <= GREATEST_PRIORITY, "a priority has 31 bits");
        let vertex = self.tags.len() as Vertex;
        self.starts.push(self.forward.len() as u32);
        self.tags.push(priority << 1 | owner as u32);
        vertex
    }

    /// Adds an edge to the vertex that was added last. The target may be added later.
    pub fn edge(&mut self, target: Vertex) {
        self.forward.push(target);
    }

    /// The vertex that was added last may have further edges.
    pub fn leave_incomplete(&mut self) {
        self.incomplete.push(self.tags.len() as Vertex - 1);
    }

    /// How many vertices it has so far.
    pub fn len(&self) -> usize {
        self.tags.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// How many edges it has so far.
    pub fn edge_count(&self) -> usize {
        self.forward.len()
    }

    /// Bytes that it takes so far.
    pub(crate) fn bytes(&self) -> usize {
        (self.starts.len() + self.tags.len() + self.forward.len() + self.incomplete.len()) * 4
    }

    /// Gives every edge another target; an error is the first vertex with an edge that gets none, and its target.
    pub(crate) fn retarget(&mut self, target: impl Fn(u32) -> Option<Vertex>) -> Result<(), (Vertex, u32)> {
        for at in 0..self.forward.len() {
            let before = self.forward[at];
            match target(before) {
                Some(after) => self.forward[at] = after,
                None => {
                    let source = self.starts.partition_point(|&start| start as usize <= at) - 1;
                    return Err((source as Vertex, before));
                }
            }
        }
        Ok(())
    }

    /// Subtracts every priority from the least even number that is not less than any of them, so that the greatest
    /// priority becomes the least one and parities stay.
    pub(crate) fn turn_around(&mut self) {
        let top = self.tags.iter().map(|tag| tag >> 1).max().unwrap_or(0).next_multiple_of(2);
        self.tags.iter_mut().for_each(|tag| *tag = (top - (*tag >> 1)) << 1 | *tag & 1);
    }

    /// The game. Every target must have been added.
    pub fn finish(self, control: &Control) -> Result<Game, Stopped> {
        let GameBuilder { mut starts, mut forward, tags, incomplete } = self;
        let vertices = tags.len();
        if forward.len() >= NO_VERTEX as usize || vertices >= NO_VERTEX as usize {
            return Err(control.out_of_numbers());
        }
        starts.push(forward.len() as u32);
        let (tags, first, priorities) = compress(tags);
        let rows = Rows::new(starts);
        forward.shrink_to_fit();
        control.afford(vertices * 5 + forward.len() * 4)?;
        let (back_rows, back) = reversed(&rows, vertices, &forward);
        control.check()?;
        let mut set = Bits::none(if incomplete.is_empty() { 0 } else { vertices });
        incomplete.iter().for_each(|&vertex| set.insert(vertex));
        let levels = priorities.len() as u32;
        let has_incomplete = !incomplete.is_empty();
        Ok(Game { rows, forward, back_rows, back, tags, first, levels, priorities, incomplete: set, has_incomplete })
    }
}

/// Levels for priorities; the player that level 0 is good for; the least priority of each level.
fn compress(tags: Vec<u32>) -> (Tags, Player, Vec<u32>) {
    let greatest = tags.iter().map(|tag| tag >> 1).max().unwrap_or(0);
    let mut used: Vec<u32> = if (greatest as usize) < tags.len().max(1 << 16) {
        let mut seen = vec![false; greatest as usize + 1];
        tags.iter().for_each(|tag| seen[(tag >> 1) as usize] = true);
        (0..=greatest).filter(|&priority| seen[priority as usize]).collect()
    } else {
        let mut used: Vec<u32> = tags.iter().map(|tag| tag >> 1).collect();
        used.sort_unstable();
        used.dedup();
        used
    };
    if tags.is_empty() {
        used.clear();
    }
    let mut level_of: Vec<u32> = Vec::with_capacity(used.len());
    let mut priorities: Vec<u32> = Vec::new();
    for &priority in &used {
        if priorities.last().is_none_or(|last| last % 2 != priority % 2) {
            priorities.push(priority);
        }
        level_of.push(priorities.len() as u32 - 1);
    }
    let first = Player::of_parity(priorities.first().copied().unwrap_or(0));
    let dense = used.len() == greatest as usize + 1;
    let level = |tag: u32| {
        let priority = tag >> 1;
        let place = if dense { priority as usize } else { used.binary_search(&priority).expect("it occurs") };
        level_of[place] << 1 | tag & 1
    };
    let tags = if priorities.len() <= 1 << 7 {
        Tags::Byte(tags.into_iter().map(|tag| level(tag) as u8).collect())
    } else if priorities.len() <= 1 << 15 {
        Tags::Short(tags.into_iter().map(|tag| level(tag) as u16).collect())
    } else {
        Tags::Long(tags.into_iter().map(level).collect())
    };
    (tags, first, priorities)
}

/// The edges in the other direction, ascending by source in each row.
fn reversed(rows: &Rows, vertices: usize, forward: &[Vertex]) -> (Rows, Vec<Vertex>) {
    // First how many edges lead to each vertex, then where its row begins, then (while filling) where its row goes on.
    let mut starts = vec![0u32; vertices + 1];
    for &target in forward {
        starts[target as usize] += 1;
    }
    let mut begin = 0;
    for start in &mut starts {
        begin += std::mem::replace(start, begin);
    }
    let mut back = vec![0; forward.len()];
    for source in 0..vertices as Vertex {
        for &target in &forward[rows.of(source)] {
            let place = &mut starts[target as usize];
            back[*place as usize] = source;
            *place += 1;
        }
    }
    // Every row has ended where the next one begins.
    starts.copy_within(0..vertices, 1);
    starts[0] = 0;
    (Rows::new(starts), back)
}

impl Game {
    /// How many vertices it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many edges it has.
    pub fn edge_count(&self) -> usize {
        self.forward.len()
    }

    /// The vertices that an edge leads to.
    #[inline]
    pub fn successors(&self, vertex: Vertex) -> &[Vertex] {
        &self.forward[self.rows.of(vertex)]
    }

    /// The vertices that an edge comes from, ascending.
    #[inline]
    pub fn predecessors(&self, vertex: Vertex) -> &[Vertex] {
        &self.back[self.back_rows.of(vertex)]
    }

    /// The player that moves.
    #[inline]
    pub fn owner(&self, vertex: Vertex) -> Player {
        if self.tags.get(vertex) & 1 == 0 { Player::Even } else { Player::Odd }
    }

    /// The level of the priority of a vertex.
    #[inline]
    pub fn level(&self, vertex: Vertex) -> u32 {
        self.tags.get(vertex) >> 1
    }

    /// How many levels there are.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// The player that a level is good for.
    #[inline]
    pub fn player_of(&self, level: u32) -> Player {
        if level.is_multiple_of(2) { self.first } else { self.first.opponent() }
    }

    /// The player that the priority of a vertex is good for.
    #[inline]
    pub fn parity(&self, vertex: Vertex) -> Player {
        self.player_of(self.level(vertex))
    }

    /// The least priority of the level of a vertex.
    pub fn priority(&self, vertex: Vertex) -> u32 {
        self.priorities[self.level(vertex) as usize]
    }

    /// May the vertex have further edges?
    #[inline]
    pub fn is_incomplete(&self, vertex: Vertex) -> bool {
        self.has_incomplete && self.incomplete.contains(vertex)
    }

    /// Is any vertex incomplete?
    pub fn has_incomplete(&self) -> bool {
        self.has_incomplete
    }

    /// Bytes that the game takes.
    pub fn bytes(&self) -> usize {
        let tags = match &self.tags {
            Tags::Byte(tags) => tags.len(),
            Tags::Short(tags) => tags.len() * 2,
            Tags::Long(tags) => tags.len() * 4,
        };
        (self.forward.len() + self.back.len() + self.priorities.len()) * 4
            + self.rows.bytes()
            + self.back_rows.bytes()
            + tags
            + self.incomplete.bytes()
    }

    /// The most bytes that were held while it was made of its builder: first tags and starts of rows in both forms,
    /// then the game and where the rows of edges back begin.
    pub(crate) fn bytes_to_make(&self) -> usize {
        (self.forward.len() * 4 + self.len() * 10).max(self.bytes() + self.len() * 4)
    }

    /// The game on some of its vertices, with the edges between them; `numbers` becomes the number of each of them in
    /// that game, and is left as it is elsewhere.
    pub(crate) fn part(
        &self,
        vertices: &[Vertex],
        inside: impl Fn(Vertex) -> bool,
        numbers: &mut [u32],
        control: &Control,
    ) -> Result<Game, Stopped> {
        for (number, &vertex) in vertices.iter().enumerate() {
            numbers[vertex as usize] = number as u32;
        }
        let mut part = GameBuilder::with_capacity(vertices.len(), 0);
        for &vertex in vertices {
            // A level has the parity of its priority only up to the parity of the first one.
            part.vertex(self.owner(vertex), self.level(vertex) + self.first as u32);
            for &target in self.successors(vertex) {
                if inside(target) {
                    part.edge(numbers[target as usize]);
                }
            }
            if self.is_incomplete(vertex) {
                part.leave_incomplete();
            }
        }
        part.finish(control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_of_one_parity_share_a_level_where_nothing_lies_between() {
        let mut builder = GameBuilder::default();
        for priority in [7, 1, 4, 6, 3, 12] {
            builder.vertex(Player::Even, priority);
        }
        let game = builder.finish(&Control::unlimited()).expect("no budget");
        let levels: Vec<u32> = (0..6).map(|vertex| game.level(vertex)).collect();
        assert_eq!(levels, [2, 0, 1, 1, 0, 3]);
        assert_eq!(game.player_of(0), Player::Odd);
        assert_eq!((0..6).map(|vertex| game.priority(vertex)).collect::<Vec<_>>(), [7, 1, 4, 4, 1, 12]);
    }

    #[test]
    fn edges_are_known_in_both_directions_and_take_the_bytes_that_the_head_of_the_file_says() {
        let mut builder = GameBuilder::default();
        builder.vertex(Player::Even, 0);
        builder.edge(1);
        builder.edge(2);
        builder.vertex(Player::Odd, 1);
        builder.edge(2);
        builder.vertex(Player::Odd, 1);
        let game = builder.finish(&Control::unlimited()).expect("no budget");
        assert_eq!(game.successors(0), [1, 2]);
        assert_eq!(game.predecessors(2), [0, 1]);
        assert_eq!(game.predecessors(0), [0u32; 0]);
        let (vertices, edges) = (1000, 3000);
        let mut builder = GameBuilder::default();
        for vertex in 0..vertices {
            builder.vertex(Player::Even, vertex % 5);
            (0..edges / vertices).for_each(|next| builder.edge((vertex + next) % vertices));
        }
        let game = builder.finish(&Control::unlimited()).expect("no budget");
        assert!(game.bytes() <= vertices as usize * 4 + edges as usize * 8 + 64);
    }
}
