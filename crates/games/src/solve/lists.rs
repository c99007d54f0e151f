//! The layers of a game in memory ([`super::layers`]), as parts of one list.
//!
//! All vertices that are not open stand in one list, layer behind layer: an attractor appends to it, and is its own
//! worklist. Closing a layer changes nothing in the list. Half a byte a vertex says whether the vertex is open, whether
//! it is *out* (in a layer below the topmost one, or not in this game at all), its owner and its believed winner, so
//! that an attractor finds all that it asks about a vertex in one place.
//!
//! - An open vertex of the opponent is attracted when none of its successors is open: what is not open is either in the
//!   layer that is being made, or in no subgame above.
//! - The opponent of a layer's player can attract first only heads of the layer to what it wins above: any other vertex
//!   of the layer was attracted by the player, and what is above is solved. So [`Layers::lose`] begins with the heads,
//!   and not with the edges into what the opponent wins.
//! - Open vertices are found by levels in a list of all of them. When few are opened again, they get such a list of
//!   their own; it is at most a sixteenth of the list before it, so that all of them together are small.
//! - The worklist of [`Layers::lose`] is bounded. What does not fit is found again by a walk over the subgame.
//!
//! Numbers in lists take three bytes where a game has at most 2^24 vertices.
//!
//! Cost: a layer costs its vertices and the edges into them, for each attracting player; 6.5 bytes a vertex and some
//! (8.5 above 2^24 vertices): both lists, half a byte of state, and at most half a byte of small lists.

use trefoil_control::Stopped;

use super::arena::Arena;
use super::bits::Bits;
use super::explicit::{Explicit, LARGE_ROUND, LARGEST_ROUND, Moves, POLLED, large_round};
use super::game::{Player, Vertex};
use super::layers::Layers;

/// A list of a fixed capacity, with numbers of three or four bytes.
struct List {
    bytes: Vec<u8>,
    length: usize,
    is_wide: bool,
}

impl List {
    fn new(capacity: usize, vertices: usize) -> List {
        let is_wide = vertices > 1 << 24;
        List { bytes: vec![0; capacity * if is_wide { 4 } else { 3 }], length: 0, is_wide }
    }

    #[inline]
    fn get(&self, at: usize) -> Vertex {
        if self.is_wide {
            let bytes = self.bytes[at * 4..].first_chunk::<4>().expect("it is inside");
            return u32::from_le_bytes(*bytes);
        }
        let &[low, middle, high] = self.bytes[at * 3..].first_chunk::<3>().expect("it is inside");
        u32::from_le_bytes([low, middle, high, 0])
    }

    #[inline]
    fn set(&mut self, at: usize, vertex: Vertex) {
        let bytes = vertex.to_le_bytes();
        if self.is_wide {
            *self.bytes[at * 4..].first_chunk_mut::<4>().expect("it is inside") = bytes;
        } else {
            let [low, middle, high, _] = bytes;
            *self.bytes[at * 3..].first_chunk_mut::<3>().expect("it is inside") = [low, middle, high];
        }
    }

    #[inline]
    fn push(&mut self, vertex: Vertex) {
        self.set(self.length, vertex);
        self.length += 1;
    }
}

/// Set for vertices of odd.
const OWNER: u8 = 1;
/// Set for vertices that odd is believed to win.
const WINNER: u8 = 2;
/// Set for open vertices.
const OPEN: u8 = 4;
/// Set for vertices that are not in the subgame of the topmost layer.
const OUT: u8 = 8;

/// Half a byte for each vertex.
struct Cells {
    pairs: Vec<u8>,
}

impl Cells {
    #[inline]
    fn get(&self, vertex: Vertex) -> u8 {
        self.pairs[vertex as usize / 2] >> (vertex % 2 * 4) & 15
    }

    /// Changes the bits of `mask` to those of `value`.
    #[inline]
    fn change(&mut self, vertex: Vertex, mask: u8, value: u8) {
        let shift = vertex % 2 * 4;
        let pair = &mut self.pairs[vertex as usize / 2];
        *pair = *pair & !(mask << shift) | value << shift;
    }
}

fn owned(player: Player) -> u8 {
    if player == Player::Odd { OWNER } else { 0 }
}

fn won(player: Player) -> u8 {
    if player == Player::Odd { WINNER } else { 0 }
}

/// A place in the list of open vertices by levels: 0 is the list of all, others are small lists.
#[derive(Clone, Copy)]
struct Cursor {
    list: usize,
    at: usize,
}

struct Layer {
    /// Where it begins in the list of layers, and how many vertices it has; the first ones are the heads.
    begin: usize,
    own: usize,
    heads: usize,
    owner: Player,
    /// How many vertices above it each player is believed to win.
    above: [usize; 2],
    /// Where its levels begin.
    cursor: Cursor,
    /// How many small lists there were before it.
    small: usize,
}

/// The layers; see the head of this file.
pub struct ListLayers<'a> {
    arena: &'a Explicit<'a>,
    cells: Cells,
    /// All vertices, by levels.
    all: List,
    small: Vec<Vec<Vertex>>,
    /// The vertices of the layers.
    stack: List,
    layers: Vec<Layer>,
    open: usize,
    cursor: Cursor,
    /// The worklist of the losing player.
    work: Vec<Vertex>,
    /// Set when a vertex did not fit in it.
    overflows: bool,
}

impl<'a> ListLayers<'a> {
    /// No layer; all of these vertices are open.
    pub(crate) fn new(arena: &'a Explicit<'a>, within: &Bits) -> Result<ListLayers<'a>, Stopped> {
        let (game, control) = (arena.game(), arena.control());
        let open = within.len();
        control.afford(open * 7 + game.len() / 2)?;
        // By counting: how many vertices each level has, where it begins, where it goes on.
        let mut places = vec![0usize; game.levels() as usize];
        within.iter().for_each(|vertex| places[game.level(vertex) as usize] += 1);
        let mut begin = 0;
        for place in &mut places {
            begin += std::mem::replace(place, begin);
        }
        let mut cells = Cells { pairs: vec![OUT | OUT << 4; game.len().div_ceil(2)] };
        let mut all = List::new(open, game.len());
        all.length = open;
        for vertex in within.iter() {
            let place = &mut places[game.level(vertex) as usize];
            all.set(*place, vertex);
            *place += 1;
            cells.change(vertex, 15, OPEN | owned(game.owner(vertex)));
        }
        control.check()?;
        let layers = ListLayers {
            arena,
            cells,
            all,
            small: Vec::new(),
            stack: List::new(open, game.len()),
            layers: Vec::new(),
            open,
            cursor: Cursor { list: 0, at: 0 },
            work: Vec::new(),
            overflows: false,
        };
        arena.holds(layers.bytes());
        Ok(layers)
    }

    /// Bytes that it takes.
    fn bytes(&self) -> usize {
        let small: usize = self.small.iter().map(|list| list.capacity() * size_of::<Vertex>()).sum();
        self.cells.pairs.len()
            + self.all.bytes.len()
            + self.stack.bytes.len()
            + small
            + self.work.capacity() * 4
            + self.layers.capacity() * size_of::<Layer>()
    }

    /// How many vertices a list by levels has.
    fn length(&self, list: usize) -> usize {
        if list == 0 { self.all.length } else { self.small[list - 1].len() }
    }

    /// Takes the next open vertices while their levels are good for one player: from the place of the cursor, which
    /// goes on. Returns where they begin.
    fn take_heads(&mut self) -> (Cursor, Player) {
        let game = self.arena.game();
        let Cursor { list, mut at } = self.cursor;
        let end = self.length(list);
        let (mut first, mut player) = (self.cursor, None);
        while at < end {
            let vertex = if list == 0 { self.all.get(at) } else { self.small[list - 1][at] };
            if self.cells.get(vertex) & OPEN != 0 {
                let parity = game.parity(vertex);
                match player {
                    None => (first, player) = (Cursor { list, at }, Some(parity)),
                    Some(player) if player == parity => {}
                    Some(_) => break,
                }
                self.cells.change(vertex, OPEN | WINNER, won(parity));
                self.stack.push(vertex);
            }
            at += 1;
        }
        self.cursor = Cursor { list, at };
        (first, player.expect("a vertex is open"))
    }

    /// Appends what the vertices of the list from `at` on attract, in what is open.
    fn attract(&mut self, player: Player, mut at: usize, moves: &mut Moves) -> Result<(), Stopped> {
        let game = self.arena.game();
        let (own, winner) = (owned(player), won(player));
        while at < self.stack.length {
            if self.stack.length - at >= LARGE_ROUND {
                at = self.attract_round(player, at, moves)?;
                continue;
            }
            let end = self.stack.length.min(at + POLLED);
            let mut looked_at = 0;
            while at < end {
                let target = self.stack.get(at);
                at += 1;
                let sources = game.predecessors(target);
                looked_at += sources.len();
                for &source in sources {
                    let cell = self.cells.get(source);
                    if cell & OPEN == 0 {
                        continue;
                    }
                    if cell & OWNER == own {
                        moves[source as usize] = target;
                    } else if game.successors(source).iter().any(|&next| self.cells.get(next) & OPEN != 0) {
                        continue;
                    }
                    self.cells.change(source, OPEN | WINNER, winner);
                    self.stack.push(source);
                }
            }
            self.arena.charge(looked_at)?;
        }
        Ok(())
    }

    /// The same for a large round, on several threads ([`large_round`]). Returns where the next round begins.
    fn attract_round(&mut self, player: Player, at: usize, moves: &mut Moves) -> Result<usize, Stopped> {
        let game = self.arena.game();
        let own = owned(player);
        let end = self.stack.length.min(at + LARGEST_ROUND);
        let (cells, stack) = (&self.cells, &self.stack);
        let (parts, looked_at) = large_round(at..end, self.arena.threads(), |place, found| {
            let target = stack.get(place);
            let sources = game.predecessors(target);
            for &source in sources {
                let cell = cells.get(source);
                if cell & OPEN != 0
                    && (cell & OWNER == own || game.successors(source).iter().all(|&next| cells.get(next) & OPEN == 0))
                {
                    found.push((source, target));
                }
            }
            sources.len()
        });
        for (source, target) in parts.into_iter().flatten() {
            let cell = self.cells.get(source);
            if cell & OPEN != 0 {
                if cell & OWNER == own {
                    moves[source as usize] = target;
                }
                self.cells.change(source, OPEN | WINNER, won(player));
                self.stack.push(source);
            }
        }
        self.arena.charge(looked_at)?;
        Ok(end)
    }

    fn top(&self) -> &Layer {
        self.layers.last().expect("there is a layer")
    }

    /// Does the player own the vertex and have a move to what it is believed to win, or has the opponent only such
    /// moves? Records the move.
    fn goes_to(&self, player: Player, vertex: Vertex, moves: &mut Moves) -> bool {
        let successors = self.arena.game().successors(vertex);
        if self.cells.get(vertex) & OWNER == owned(player) {
            let mine = |next: &&Vertex| self.cells.get(**next) & (OUT | WINNER) == won(player);
            let Some(&next) = successors.iter().find(mine) else { return false };
            moves[vertex as usize] = next;
            return true;
        }
        let theirs = won(player.opponent());
        successors.iter().all(|&next| self.cells.get(next) & (OUT | WINNER) != theirs)
    }

    /// A vertex of the topmost layer or above it is lost to this player.
    fn lost_to(&mut self, player: Player, vertex: Vertex) {
        self.cells.change(vertex, WINNER, won(player));
        if self.work.len() < self.work.capacity() {
            self.work.push(vertex);
        } else {
            self.overflows = true;
        }
    }

    /// Adds what the player attracts, in the subgame of the topmost layer, to the vertices of the worklist. Returns how
    /// many vertices.
    fn attract_lost(&mut self, player: Player, moves: &mut Moves) -> Result<usize, Stopped> {
        let game = self.arena.game();
        let (mut found, mut polled, mut looked_at) = (0, 0, 0);
        while let Some(target) = self.work.pop() {
            for &source in game.predecessors(target) {
                looked_at += 1;
                if self.cells.get(source) & (OUT | WINNER) != won(player.opponent()) {
                    continue;
                }
                if self.cells.get(source) & OWNER == owned(player) {
                    moves[source as usize] = target;
                } else if !self.goes_to(player, source, moves) {
                    continue;
                }
                self.lost_to(player, source);
                found += 1;
            }
            polled += 1;
            if polled == POLLED {
                self.arena.charge(std::mem::take(&mut looked_at))?;
                polled = 0;
            }
        }
        self.arena.charge(looked_at)?;
        Ok(found)
    }
}

impl Layers<Bits, Moves> for ListLayers<'_> {
    fn take_least(&mut self, moves: &mut Moves) -> Result<Option<Player>, Stopped> {
        if self.open == 0 {
            return Ok(None);
        }
        self.arena.poll()?;
        let begin = self.stack.length;
        if let Some(below) = self.layers.last() {
            for at in below.begin..begin {
                self.cells.change(self.stack.get(at), OUT, OUT);
            }
        }
        let (cursor, player) = self.take_heads();
        let heads = self.stack.length - begin;
        self.attract(player, begin, moves)?;
        let own = self.stack.length - begin;
        self.open -= own;
        let small = self.small.len();
        self.layers.push(Layer { begin, own, heads, owner: player, above: [0, 0], cursor, small });
        Ok(Some(player))
    }

    fn lose(&mut self, player: Player, moves: &mut Moves) -> Result<bool, Stopped> {
        let opponent = player.opponent();
        let Layer { begin, heads, above, .. } = *self.top();
        if above[opponent.index()] == 0 {
            return Ok(false);
        }
        if self.work.capacity() == 0 {
            self.work.reserve_exact((self.all.length / 16).max(2));
        }
        let mut found = 0;
        for at in begin..begin + heads {
            let head = self.stack.get(at);
            if self.goes_to(opponent, head, moves) {
                self.lost_to(opponent, head);
                found += 1;
            }
        }
        found += self.attract_lost(opponent, moves)?;
        while std::mem::take(&mut self.overflows) {
            for at in begin..self.stack.length {
                let vertex = self.stack.get(at);
                if self.cells.get(vertex) & WINNER == won(opponent) {
                    self.work.push(vertex);
                    found += self.attract_lost(opponent, moves)?;
                }
            }
        }
        self.layers.last_mut().expect("there is a layer").above[opponent.index()] += found;
        Ok(found > 0)
    }

    fn settle(&mut self, player: Player, moves: &mut Moves) -> Result<(), Stopped> {
        let Layer { begin, heads, .. } = *self.top();
        for at in begin..begin + heads {
            let goes = self.goes_to(player, self.stack.get(at), moves);
            debug_assert!(goes, "a head that cannot go on would have been lost");
        }
        self.arena.poll()
    }

    fn reopen(&mut self, player: Player) -> Result<bool, Stopped> {
        self.arena.poll()?;
        let game = self.arena.game();
        let Layer { begin, above, cursor, .. } = *self.top();
        // What the opponent wins in the subgame of the layer, the attracted vertices of the layer included.
        let kept = above[player.opponent().index()];
        let opened = self.stack.length - begin - kept;
        let is_small = opened * 16 <= self.length(cursor.list) - cursor.at;
        let mut small = Vec::with_capacity(if is_small { opened } else { 0 });
        let mut place = begin;
        for at in begin..self.stack.length {
            let vertex = self.stack.get(at);
            if self.cells.get(vertex) & WINNER != won(player) {
                self.stack.set(place, vertex);
                place += 1;
                continue;
            }
            self.cells.change(vertex, OPEN, OPEN);
            if is_small {
                small.push(vertex);
            }
        }
        debug_assert_eq!(place, begin + kept);
        self.stack.length = place;
        self.open = opened;
        self.cursor = cursor;
        if is_small && opened > 0 {
            small.sort_unstable_by_key(|&vertex| (game.level(vertex), vertex));
            self.small.push(small);
            self.arena.holds(self.bytes());
            self.cursor = Cursor { list: self.small.len(), at: 0 };
        }
        let layer = self.layers.last_mut().expect("there is a layer");
        layer.own = kept;
        layer.heads = 0;
        layer.owner = player.opponent();
        layer.above = [0, 0];
        Ok(opened > 0)
    }

    fn close(&mut self) {
        let layer = self.layers.pop().expect("there is a layer");
        self.small.truncate(layer.small);
        let Some(below) = self.layers.last_mut() else { return };
        below.above[layer.owner.index()] += layer.own;
        for player in Player::BOTH {
            below.above[player.index()] += layer.above[player.index()];
        }
        for at in below.begin..layer.begin {
            self.cells.change(self.stack.get(at), OUT, 0);
        }
    }

    fn won(self) -> [Bits; 2] {
        let mut sets = [self.arena.none(), self.arena.none()];
        for vertex in (0..self.stack.length).map(|at| self.stack.get(at)) {
            sets[usize::from(self.cells.get(vertex) & WINNER != 0)].insert(vertex);
        }
        sets
    }
}
