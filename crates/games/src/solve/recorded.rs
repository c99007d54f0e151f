//! What is written down about the vertices of a game while its system is explored, and the game that is made of it.
//!
//! A [`Chunk`] holds vertices at one distance from the initial one, each with its number in the store of states, its
//! owner and priority, and the numbers of its successors: 7 bytes a vertex and 4 a move. It ends where it would have
//! more than 2^16 moves or 2^8 different pairs of owner and priority, so that two bytes and one suffice for them.
//!
//! [`assemble`] numbers the vertices breadth-first in the order of the moves, so that a game does not depend on the
//! threads that wrote it down. One list is enough for that: it says where a state stands in the chunks until the state
//! has a number, and then says that number. Chunks are dropped as soon as all of their vertices are in the game, where
//! no other thread holds them.
//!
//! [`Held`] counts the bytes of all that: the most that were held at one time beside the store of states.
//!
//! Cost: while a game is made, 4 bytes a state for the list, 8 a vertex and 4 a move for the game, and the chunks that
//! are left.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use trefoil_control::{Control, Stopped};

use super::game::{GameBuilder, Player, Vertex};

/// The bytes that are held for a game.
#[derive(Debug, Default)]
pub(super) struct Held {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Held {
    /// So many bytes more are held.
    pub(super) fn take(&self, bytes: usize) {
        let now = self.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.most.fetch_max(now, Ordering::Relaxed);
    }

    /// So many bytes are held no longer.
    pub(super) fn give(&self, bytes: usize) {
        self.now.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The most bytes that were held at one time.
    pub(super) fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

/// The moves of some vertices at one distance.
#[derive(Default)]
pub(super) struct Chunk {
    pub(super) distance: u32,
    states: Vec<u32>,
    /// Behind the last move of each vertex but the last one.
    ends: Vec<u16>,
    /// Which of the tags each vertex has.
    kinds: Vec<u8>,
    /// Priorities times 2, plus the owner.
    tags: Vec<u32>,
    targets: Vec<u32>,
}

impl Chunk {
    pub(super) fn new(distance: u32) -> Chunk {
        Chunk { distance, ..Chunk::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// How much it holds, where a vertex counts as much as four moves.
    pub(super) fn weight(&self) -> usize {
        self.states.len() + self.targets.len() / 4
    }

    /// The first vertex.
    pub(super) fn first(&self) -> Option<u32> {
        self.states.first().copied()
    }

    /// Whether there is room for a vertex.
    pub(super) fn fits(&self, tag: u32, moves: usize) -> bool {
        self.is_empty()
            || self.targets.len() + moves <= usize::from(u16::MAX)
                && (self.tags.len() <= usize::from(u8::MAX) || self.tags.contains(&tag))
    }

    /// Adds a vertex, for which there must be room.
    pub(super) fn push(&mut self, state: u32, tag: u32, targets: impl Iterator<Item = u32>) {
        if !self.is_empty() {
            self.ends.push(self.targets.len() as u16);
        }
        let kind = self.tags.iter().position(|&known| known == tag).unwrap_or_else(|| {
            self.tags.push(tag);
            self.tags.len() - 1
        });
        self.states.push(state);
        self.kinds.push(kind as u8);
        self.targets.extend(targets);
    }

    /// Gives room back that is not used.
    pub(super) fn shrink(&mut self) {
        self.states.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.kinds.shrink_to_fit();
        self.tags.shrink_to_fit();
        self.targets.shrink_to_fit();
    }

    /// The bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Chunk>()
            + (self.states.capacity() + self.targets.capacity() + self.tags.capacity()) * 4
            + self.ends.capacity() * 2
            + self.kinds.capacity()
    }

    fn tag(&self, own: usize) -> u32 {
        self.tags[usize::from(self.kinds[own])]
    }

    fn targets(&self, own: usize) -> &[u32] {
        let begin = if own == 0 { 0 } else { usize::from(self.ends[own - 1]) };
        let end = self.ends.get(own).map_or(self.targets.len(), |&end| usize::from(end));
        &self.targets[begin..end]
    }
}

/// Set in the entry of a state that has no number yet: the others say where the state stands in the chunks.
const PLACE: u32 = 1 << 31;
/// The entry of a state that is in no chunk and has no number.
const UNMET: u32 = u32::MAX;

/// An entry for each state, dense or sparse.
enum Entries {
    Dense(Vec<u32>),
    Sparse(HashMap<u32, u32>),
}

impl Entries {
    fn new(bound: usize, count: usize) -> Entries {
        if bound <= count * 4 + 1024 { Entries::Dense(vec![UNMET; bound]) } else { Entries::Sparse(HashMap::new()) }
    }

    #[inline]
    fn get(&self, state: u32) -> u32 {
        match self {
            Entries::Dense(entries) => entries[state as usize],
            Entries::Sparse(entries) => entries.get(&state).copied().unwrap_or(UNMET),
        }
    }

    #[inline]
    fn set(&mut self, state: u32, entry: u32) {
        match self {
            Entries::Dense(entries) => entries[state as usize] = entry,
            Entries::Sparse(entries) => drop(entries.insert(state, entry)),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Entries::Dense(entries) => entries.capacity() * 4,
            Entries::Sparse(entries) => entries.capacity() * 9,
        }
    }
}

/// The game of what was written down at distances up to `last`, numbered breadth-first from the initial vertex in the
/// order of the moves, and how many vertices there are up to each distance, of those that are expanded. With `frees`
/// the chunks are dropped on the way; then all vertices at these distances must have been written down.
pub(super) fn assemble(
    mut chunks: Vec<Arc<Chunk>>,
    initial: u32,
    last: u32,
    frees: Option<&Held>,
    control: &Control,
) -> Result<(GameBuilder, Vec<Vertex>), Stopped> {
    chunks.retain(|chunk| chunk.distance <= last);
    chunks.sort_by_key(|chunk| chunk.distance);
    // The number of the first vertex of each chunk, all vertices being in one list.
    let mut firsts = Vec::with_capacity(chunks.len());
    let (mut vertices, mut edges, mut greatest) = (0usize, 0usize, initial);
    for chunk in &chunks {
        firsts.push(vertices as u32);
        vertices += chunk.states.len();
        edges += chunk.targets.len();
        greatest = chunk.targets.iter().chain(&chunk.states).copied().max().unwrap_or(0).max(greatest);
    }
    let bound = greatest as usize + 1;
    if bound >= PLACE as usize {
        return Err(control.out_of_numbers());
    }
    control.afford(vertices * 12 + edges * 4)?;
    let mut entries = Entries::new(bound, vertices);
    for (chunk, &first) in chunks.iter().zip(&firsts) {
        for (own, &state) in chunk.states.iter().enumerate() {
            entries.set(state, (first + own as u32) | PLACE);
        }
    }
    // Each chunk, with how many of its vertices are not in the game yet.
    let with_count = |chunk: Arc<Chunk>| {
        let left = chunk.states.len();
        (Some(chunk), left)
    };
    let mut chunks: Vec<(Option<Arc<Chunk>>, usize)> = chunks.into_iter().map(with_count).collect();
    // Where the vertices that have a number and are not in the game yet stand.
    let mut waiting = VecDeque::from([entries.get(initial)]);
    entries.set(initial, 0);
    let mut numbered = 1;
    let mut builder = GameBuilder::with_capacity(vertices, edges);
    let mut ends: Vec<Vertex> = Vec::new();
    let mut tag = 0;
    while let Some(place) = waiting.pop_front() {
        if builder.len().is_multiple_of(1 << 16) {
            control.check()?;
        }
        let player = |tag: u32| if tag & 1 == 0 { Player::Even } else { Player::Odd };
        if place == UNMET {
            // Its owner and priority are not known, and of no importance: it is never won.
            builder.vertex(player(tag), tag >> 1);
            builder.leave_incomplete();
            continue;
        }
        let place = place & !PLACE;
        let number = firsts.partition_point(|&first| first <= place) - 1;
        let chunk = chunks[number].0.as_deref().expect("chunks are dropped behind all of their vertices");
        let own = (place - firsts[number]) as usize;
        tag = chunk.tag(own);
        builder.vertex(player(tag), tag >> 1);
        let distance = chunk.distance;
        if ends.len() <= distance as usize {
            ends.resize(distance as usize + 1, 0);
        }
        ends[distance as usize] = builder.len() as Vertex;
        for &target in chunk.targets(own) {
            let mut entry = entries.get(target);
            if entry & PLACE != 0 {
                waiting.push_back(entry);
                entry = numbered;
                entries.set(target, entry);
                numbered += 1;
            }
            builder.edge(entry);
        }
        chunks[number].1 -= 1;
        if let (Some(held), 0) = (frees, chunks[number].1) {
            let bytes = chunks[number].0.take().map_or(0, |chunk| chunk.bytes());
            let own = entries.bytes() + waiting.capacity() * 4 + builder.bytes();
            held.take(own);
            held.give(own + bytes);
        }
    }
    if let Some(held) = frees {
        let own = entries.bytes() + waiting.capacity() * 4 + builder.bytes();
        held.take(own);
        held.give(
            own + chunks.iter().filter_map(|(chunk, _)| chunk.as_ref()).map(|chunk| chunk.bytes()).sum::<usize>(),
        );
    }
    Ok((builder, ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_gives_back_what_it_was_given() {
        let mut chunk = Chunk::new(3);
        assert!(chunk.fits(7, 1 << 20));
        chunk.push(5, 7, [1, 2, 3].into_iter());
        chunk.push(6, 9, std::iter::empty());
        chunk.push(4, 7, [8].into_iter());
        chunk.shrink();
        let all: Vec<(u32, u32, &[u32])> =
            (0..3).map(|own| (chunk.states[own], chunk.tag(own), chunk.targets(own))).collect();
        assert_eq!(all, [(5, 7, &[1, 2, 3][..]), (6, 9, &[]), (4, 7, &[8])]);
        assert!(chunk.fits(7, usize::from(u16::MAX) - 4) && !chunk.fits(7, usize::from(u16::MAX) - 3));
        for tag in 0..254 {
            assert!(chunk.fits(100 + tag, 0));
            chunk.push(100 + tag, 100 + tag, std::iter::empty());
        }
        assert!(chunk.fits(7, 0) && !chunk.fits(1000, 0));
    }
}
