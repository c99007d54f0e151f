//! The arena of a game in memory: attractors by worklists, on several threads where a round is large.
//!
//! A vertex is examined when a successor of it was attracted. An own vertex is attracted at once; one of the opponent
//! when none of its successors is left outside, which is seen by walking over its edges. Counters of the edges that are
//! left would avoid second walks, and cost four bytes a vertex: on games of models a vertex of the opponent has few
//! edges or is attracted by its last one, and the walk ends at the first edge that is outside.
//!
//! # Rounds on several threads
//!
//! A round of at least [`LARGE_ROUND`] vertices is divided among threads ([`large_round`]). During such a round the set
//! is not written: each thread collects what it would attract, with the moves, and the lists are added after the round
//! in their order. A vertex whose last successor was attracted in the round before is a predecessor of that round, so
//! nothing is missed, and no atomic operation is needed. One thread does the same, so that neither the result nor the
//! recorded moves depend on the number of threads.
//!
//! Cost: each edge into the set is looked at once, and the edges of opponent's vertices until the first one outside,
//! for each of their edges into the set; the worklist, 4 bytes an attracted vertex.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use trefoil_control::{Control, Stopped};

use super::arena::{Arena, VertexSet};
use super::bits::Bits;
use super::game::{Game, NO_VERTEX, Player, Vertex};
use super::lists::ListLayers;

/// From how many vertices on a round is divided among threads, and how many vertices it has at most.
pub(crate) const LARGE_ROUND: usize = 1 << 15;
pub(crate) const LARGEST_ROUND: usize = 1 << 17;

/// How many vertices are worked off between two polls of the budget.
pub(crate) const POLLED: usize = 1 << 14;

/// Where the players move: a vertex, or [`NO_VERTEX`].
pub type Moves = Vec<Vertex>;

/// A game in memory as an arena.
pub struct Explicit<'a> {
    game: &'a Game,
    control: &'a Control,
    threads: usize,
    /// Are vertices incomplete that the game says are?
    heeds_incomplete: bool,
    /// How many edges a solver may look at, and has looked at.
    limit: u64,
    looked_at: AtomicU64,
    /// The most bytes that a solver said it held beside the game.
    held: Arc<AtomicUsize>,
}

/// Calls `collect` with each place of a round and the list that it may add vertices and moves to; it returns how many
/// edges it looked at. Returns the lists, in the order of the places, and the sum.
pub(crate) fn large_round(
    places: Range<usize>,
    threads: usize,
    collect: impl Fn(usize, &mut Vec<(Vertex, Vertex)>) -> usize + Sync,
) -> (Vec<Vec<(Vertex, Vertex)>>, usize) {
    let run = |part: Range<usize>| {
        let mut found = Vec::new();
        let looked_at: usize = part.map(|place| collect(place, &mut found)).sum();
        (found, looked_at)
    };
    if threads == 1 {
        let (found, looked_at) = run(places);
        return (vec![found], looked_at);
    }
    let (share, end) = (places.len().div_ceil(threads), places.end);
    std::thread::scope(|scope| {
        let run = &run;
        let parts = places.step_by(share).map(|begin| begin..end.min(begin + share));
        let handles: Vec<_> = parts.map(|part| scope.spawn(move || run(part))).collect();
        let found = handles.into_iter().map(|handle| handle.join().expect("no thread panics"));
        let (lists, counts): (Vec<_>, Vec<usize>) = found.unzip();
        (lists, counts.into_iter().sum())
    })
}

impl<'a> Explicit<'a> {
    /// The arena of a game. Its attractors use this many threads at most.
    pub fn new(game: &'a Game, threads: usize, control: &'a Control) -> Explicit<'a> {
        let heeds_incomplete = game.has_incomplete();
        Explicit {
            game,
            control,
            threads: threads.max(1),
            heeds_incomplete,
            limit: u64::MAX,
            looked_at: 0.into(),
            held: Arc::default(),
        }
    }

    /// The same, for a solver that is stopped after it has looked at about this many edges
    /// ([`Explicit::is_exhausted`]).
    pub(crate) fn limited(game: &'a Game, threads: usize, edges: u64, control: &'a Control) -> Explicit<'a> {
        Explicit { limit: edges, ..Explicit::new(game, threads, control) }
    }

    /// Was the solver stopped because it looked at too many edges?
    pub(crate) fn is_exhausted(&self) -> bool {
        self.looked_at.load(Ordering::Relaxed) > self.limit
    }

    /// Polls the budget after a solver looked at so many edges.
    pub(crate) fn charge(&self, edges: usize) -> Result<(), Stopped> {
        let before = self.looked_at.fetch_add(edges as u64, Ordering::Relaxed);
        if before + edges as u64 > self.limit {
            return Err(Stopped::Interrupted);
        }
        self.control.check()
    }

    /// A solver holds so many bytes beside the game and its result.
    pub(crate) fn holds(&self, bytes: usize) {
        self.held.fetch_max(bytes, Ordering::Relaxed);
    }

    /// The most bytes that a solver held.
    pub(crate) fn most_held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The game.
    pub fn game(&self) -> &'a Game {
        self.game
    }

    /// The control.
    pub fn control(&self) -> &'a Control {
        self.control
    }

    /// Does the opponent of `player`, which owns the vertex, have moves, all of them into the set?
    #[inline]
    fn is_forced(&self, vertex: Vertex, within: &Bits, set: &Bits) -> bool {
        if self.heeds_incomplete && self.game.is_incomplete(vertex) {
            return false;
        }
        let mut moves = false;
        for &target in self.game.successors(vertex) {
            if set.contains(target) {
                moves = true;
            } else if within.contains(target) {
                return false;
            }
        }
        moves
    }

    /// Adds to `set` what the vertices of `work`, which are in it, attract; `work` grows by it.
    pub fn attract_from(
        &self,
        player: Player,
        (within, candidates): (&Bits, &Bits),
        set: &mut Bits,
        work: &mut Vec<Vertex>,
        moves: &mut Moves,
    ) -> Result<(), Stopped> {
        let mut at = 0;
        while at < work.len() {
            self.control.check()?;
            if work.len() - at >= LARGE_ROUND {
                let end = work.len().min(at + LARGEST_ROUND);
                let (so_far, targets) = (&*set, &work[..]);
                let (parts, _) = large_round(at..end, self.threads, |place, found| {
                    let target = targets[place];
                    let sources = self.game.predecessors(target);
                    for &source in sources {
                        if so_far.contains(source) || !candidates.contains(source) {
                            continue;
                        }
                        if self.game.owner(source) == player {
                            found.push((source, target));
                        } else if self.is_forced(source, within, so_far) {
                            found.push((source, NO_VERTEX));
                        }
                    }
                    sources.len()
                });
                for (source, target) in parts.into_iter().flatten() {
                    if !set.contains(source) {
                        set.insert(source);
                        moves[source as usize] = target;
                        work.push(source);
                    }
                }
                at = end;
                continue;
            }
            let end = work.len().min(at + POLLED);
            while at < end {
                let target = work[at];
                at += 1;
                for &source in self.game.predecessors(target) {
                    if set.contains(source) || !candidates.contains(source) {
                        continue;
                    }
                    if self.game.owner(source) == player {
                        moves[source as usize] = target;
                    } else if self.is_forced(source, within, set) {
                        moves[source as usize] = NO_VERTEX;
                    } else {
                        continue;
                    }
                    set.insert(source);
                    work.push(source);
                }
            }
        }
        Ok(())
    }
}

impl Arena for Explicit<'_> {
    type Set = Bits;
    type Strategy = Moves;
    type Layers<'l>
        = ListLayers<'l>
    where
        Self: 'l;

    fn none(&self) -> Bits {
        Bits::none(self.game.len())
    }

    fn all(&self) -> Bits {
        Bits::all(self.game.len())
    }

    fn owned_by(&self, player: Player) -> Bits {
        Bits::of(self.game.len(), |vertex| self.game.owner(vertex) == player)
    }

    fn sinks(&self) -> Bits {
        Bits::of(self.game.len(), |vertex| self.game.successors(vertex).is_empty())
    }

    fn incomplete(&self) -> Bits {
        if !self.heeds_incomplete {
            return self.none();
        }
        Bits::of(self.game.len(), |vertex| self.game.is_incomplete(vertex))
    }

    fn levels(&self) -> u32 {
        self.game.levels()
    }

    fn player_of(&self, level: u32) -> Player {
        self.game.player_of(level)
    }

    fn at_level(&self, level: u32, within: &Bits) -> Bits {
        let mut set = self.none();
        within.iter().filter(|&vertex| self.game.level(vertex) == level).for_each(|vertex| set.insert(vertex));
        set
    }

    fn least_level(&self, within: &Bits) -> Option<u32> {
        within.iter().map(|vertex| self.game.level(vertex)).min()
    }

    fn blank(&self) -> Moves {
        vec![NO_VERTEX; self.game.len()]
    }

    fn step(
        &self,
        player: Player,
        within: &Bits,
        among: &Bits,
        target: &Bits,
        moves: &mut Moves,
    ) -> Result<Bits, Stopped> {
        self.control.check()?;
        let mut set = self.none();
        for vertex in among.iter() {
            if self.game.owner(vertex) == player {
                let inside = |next: &&Vertex| target.contains(**next) && within.contains(**next);
                let Some(&next) = self.game.successors(vertex).iter().find(inside) else { continue };
                moves[vertex as usize] = next;
            } else if self.is_forced(vertex, within, target) {
                moves[vertex as usize] = NO_VERTEX;
            } else {
                continue;
            }
            set.insert(vertex);
        }
        Ok(set)
    }

    fn attract(
        &self,
        player: Player,
        within: &Bits,
        candidates: &Bits,
        set: &mut Bits,
        moves: &mut Moves,
    ) -> Result<(), Stopped> {
        let mut work: Vec<Vertex> = set.iter().collect();
        debug_assert!(set.is_subset(within) && candidates.is_subset(within));
        self.attract_from(player, (within, candidates), set, &mut work, moves)
    }

    fn keep(&self, player: Player, within: &Bits, set: &mut Bits, moves: &mut Moves) -> Result<(), Stopped> {
        let stays = |vertex: Vertex, set: &Bits| match self.game.owner(vertex) == player {
            true => self.game.successors(vertex).iter().any(|&next| set.contains(next)),
            false => self.is_forced(vertex, within, set),
        };
        let mut work: Vec<Vertex> = set.iter().filter(|&vertex| !stays(vertex, set)).collect();
        work.iter().for_each(|&vertex| set.remove(vertex));
        let mut polled = 0usize;
        while let Some(target) = work.pop() {
            polled += 1;
            if polled.is_multiple_of(POLLED) {
                self.control.check()?;
            }
            for &source in self.game.predecessors(target) {
                if set.contains(source) && !stays(source, set) {
                    set.remove(source);
                    work.push(source);
                }
            }
        }
        let all = set.clone();
        self.step(player, within, &all, set, moves).map(drop)
    }

    fn completed(&self) -> Self {
        let Explicit { game, control, threads, limit, .. } = *self;
        let held = Arc::clone(&self.held);
        Explicit { game, control, threads, heeds_incomplete: false, limit, looked_at: 0.into(), held }
    }

    fn layers(&self, open: Bits) -> Result<ListLayers<'_>, Stopped> {
        ListLayers::new(self, &open)
    }

    fn poll(&self) -> Result<(), Stopped> {
        self.charge(0)
    }
}
