//! A game that grows while it is explored, as diagrams.
//!
//! The vertices are the states of a system with the marks `Owner` and `Priority`, explored round by round
//! ([`Space::advance`]): breadth-first while there are few, then by chaining, where a round goes several steps deep,
//! and by saturation once there are many. A vertex is *complete* once every relation was learned for it and applied to
//! it. A round does that to all vertices that it begins with, the *frontier*, and, unless it saturates, to no others:
//! what is found in the middle of a chaining round has met only the relations that come later. So the incomplete
//! vertices are the frontier of the next round, and those that left it because they are won.
//!
//! Saturation closes all vertices under the relations that are known. Then a vertex is complete exactly if every
//! relation was learned for the values that it reads there, so the incomplete ones are known as a set, too
//! ([`Space::unlearned`]): this departs from the thesis, which saturates for reachability only. A round goes as far as
//! the relations do, and diagrams of saturated sets are small where those of frontiers are not; solvers see less of
//! what happens in between.
//!
//! After a round the slots may be sifted ([`Space::reorder`]), those of marks excepted; every set here and in the trail
//! follows. Saturation depends on it: WMS-1 of chapter 4 (272,998,113 vertices) took 15 s without it, and takes about
//! one second with it.
//!
//! Of an incomplete vertex some edges are known: a relation that was learned for another vertex with the same values
//! has them. They are edges of the game, so an arena may use them; it never takes them for all edges.
//!
//! Won vertices leave the frontier: what follows them does not matter. When the frontier is empty, every vertex that is
//! not won is complete, and its edges lead to vertices that are known. So the rest of the game is solved as a complete
//! one.
//!
//! Invariants: `complete` and the frontier are disjoint; a vertex in neither is won. Sinks are complete.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use trefoil_control::{Control, Stopped};
use trefoil_diagrams::UBig;
use trefoil_symbolic::{Options, SlotOrder, Space, Strategy};
use trefoil_system::{Cut, MarkId, Meaning, System, Value};

use super::arena::SymbolicArena;
use super::sets::{DiagramSet, Pool};
use super::trail::Trail;
use crate::solve::{Arena, PartialSolver, Player, VertexSet, find_dominions, grow_won, zielonka};

/// How a game is explored.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// How many threads; 0 means one per core.
    pub threads: usize,
    /// As long as there are fewer vertices, rounds are breadth-first; from then on they are chaining.
    pub breadth_first_below: u64,
    /// From so many vertices on rounds saturate.
    pub saturating_from: u64,
    /// Whose moves are recorded.
    pub recorded: [bool; 2],
    /// Is a better order of slots looked for after every round? For tests.
    pub restless: bool,
}

impl Default for Growth {
    fn default() -> Growth {
        Growth {
            threads: 0,
            breadth_first_below: BREADTH_FIRST_BELOW,
            saturating_from: SATURATING_FROM,
            recorded: [false; 2],
            restless: false,
        }
    }
}

/// A round of chaining can go through most of a small game before a solver sees any of it.
pub(super) const BREADTH_FIRST_BELOW: u64 = 1 << 19;

/// Frontiers of games of this size have larger diagrams than what is closed under the relations.
pub(super) const SATURATING_FROM: u64 = 1 << 21;

/// A game, as far as it is explored and solved.
pub struct GrowingGame<'s> {
    space: Space<'s>,
    pool: Rc<Pool>,
    owner: MarkId,
    priority: MarkId,
    initial: Vec<Value>,
    all: DiagramSet,
    complete: DiagramSet,
    frontier: DiagramSet,
    owned: [DiagramSet; 2],
    priorities: BTreeMap<Value, DiagramSet>,
    sinks: DiagramSet,
    won: [DiagramSet; 2],
    recorded: [bool; 2],
    /// From so many vertices on rounds are chaining, and from so many on they saturate.
    chaining_from: UBig,
    saturating_from: UBig,
    trail: Trail,
    /// What exploring and solving cost, in nodes of diagrams.
    explored: u64,
    solved: Rc<Cell<u64>>,
}

/// What one local walk of a model costs, in nodes of diagrams.
const WALK: u64 = 64;

impl<'s> GrowingGame<'s> {
    /// The game of a system, with the initial vertex.
    pub fn new(system: &'s dyn System, growth: &Growth, control: &'s Control) -> Result<GrowingGame<'s>, Cut> {
        let strategy = if growth.breadth_first_below > 0 { Strategy::BreadthFirst } else { Strategy::Chaining };
        let Growth { threads, restless, .. } = *growth;
        let options = Options { threads, strategy, order: SlotOrder::MarksFirst, restless, ..Options::default() };
        let space = Space::new(system, &options, control)?;
        let pool = Pool::new(space.shared_diagrams());
        let [owner, priority] = [Meaning::Owner, Meaning::Priority]
            .map(|meaning| system.mark(meaning).expect("a game has the marks of owners and priorities"));
        let none = DiagramSet::none(&pool);
        let initial = system.initial(control)?;
        let first = DiagramSet::new(space.states().clone(), &pool);
        let mut game = GrowingGame {
            owner,
            priority,
            all: none.clone(),
            complete: none.clone(),
            frontier: none.clone(),
            owned: [none.clone(), none.clone()],
            priorities: BTreeMap::new(),
            sinks: none.clone(),
            won: [none.clone(), none],
            recorded: growth.recorded,
            chaining_from: UBig::from(growth.breadth_first_below),
            saturating_from: UBig::from(growth.saturating_from),
            trail: Trail::of(growth.recorded),
            explored: 0,
            solved: Rc::default(),
            initial,
            space,
            pool,
        };
        game.add(&first)?;
        Ok(game)
    }

    /// Adds vertices that were found.
    fn add(&mut self, found: &DiagramSet) -> Result<(), Cut> {
        for (owner, set) in self.space.by_mark(self.owner, found.diagram())? {
            self.owned[owner as usize & 1].unite(&DiagramSet::new(set, &self.pool));
        }
        for (priority, set) in self.space.by_mark(self.priority, found.diagram())? {
            let none = DiagramSet::none(&self.pool);
            self.priorities.entry(priority).or_insert(none).unite(&DiagramSet::new(set, &self.pool));
        }
        self.all.unite(found);
        self.frontier.unite(found);
        Ok(self.pool.check()?)
    }

    /// Explores the frontier. The vertices that are found are the next one.
    pub fn advance(&mut self) -> Result<(), Cut> {
        let (walks, count) = (self.space.walks(), self.count()?);
        if count >= self.saturating_from {
            self.space.go_on_by(Strategy::Saturation);
        } else if self.space.strategy() == Strategy::BreadthFirst && count >= self.chaining_from {
            self.space.go_on_by(Strategy::Chaining);
        }
        let (from, found) = match self.space.strategy() {
            Strategy::Saturation => self.saturate()?,
            Strategy::BreadthFirst | Strategy::Chaining => self.advance_frontier()?,
        };
        let diagrams = self.pool.diagrams();
        let nodes = diagrams.nodes(from.diagram()) + diagrams.nodes(found.diagram());
        let relations = self.space.relations().count() as u64;
        self.explored += (1 + nodes as u64) * relations + (self.space.walks() - walks) * WALK;
        if !self.is_explored()
            && let Some(moved) = self.space.reorder()?
        {
            self.follow(&moved)?;
        }
        Ok(())
    }

    /// Puts the slots of all sets into the order that the space has now.
    fn follow(&mut self, moved: &[usize]) -> Result<(), Stopped> {
        let [mine, theirs] = &mut self.owned;
        let [even, odd] = &mut self.won;
        let sets = [&mut self.all, &mut self.complete, &mut self.frontier, &mut self.sinks, mine, theirs, even, odd];
        sets.into_iter().chain(self.priorities.values_mut()).for_each(|set| set.reorder(moved));
        self.trail.reorder(moved);
        self.pool.check()
    }

    /// One round from the frontier. Returns it, and what was found.
    fn advance_frontier(&mut self) -> Result<(DiagramSet, DiagramSet), Cut> {
        let from = std::mem::replace(&mut self.frontier, DiagramSet::none(&self.pool));
        let found = DiagramSet::new(self.space.advance(from.diagram())?, &self.pool);
        let sinks = DiagramSet::new(self.space.deadlocks(from.diagram())?, &self.pool);
        self.complete.unite(&from);
        self.sinks.unite(&sinks);
        self.add(&found)?;
        Ok((from, found))
    }

    /// One round of saturation. Returns what became complete, and what was found.
    fn saturate(&mut self) -> Result<(DiagramSet, DiagramSet), Cut> {
        let all = DiagramSet::new(self.space.saturate_once()?, &self.pool);
        let incomplete = DiagramSet::new(self.space.unlearned(all.diagram())?, &self.pool);
        let found = all.without(&self.all);
        let completed = all.without(&incomplete).without(&self.complete);
        let sinks = DiagramSet::new(self.space.deadlocks(completed.diagram())?, &self.pool);
        self.complete.unite(&completed);
        self.sinks.unite(&sinks);
        self.add(&found)?;
        self.frontier = incomplete.without(&self.won[0]).without(&self.won[1]);
        self.pool.check()?;
        Ok((completed, found))
    }

    /// Is there nothing left to explore?
    pub fn is_explored(&self) -> bool {
        self.frontier.is_empty()
    }

    /// The arena of the game as it is now.
    pub fn arena(&self) -> SymbolicArena<'_, 's> {
        SymbolicArena {
            space: &self.space,
            pool: self.pool.clone(),
            all: self.all.clone(),
            owned: self.owned.clone(),
            sinks: self.sinks.clone(),
            incomplete: self.incomplete(),
            levels: self.levels(),
            recorded: self.recorded,
            work: self.solved.clone(),
        }
    }

    /// Priorities of one parity without one of the other between them are one level.
    fn levels(&self) -> Rc<[(Player, DiagramSet)]> {
        let mut levels: Vec<(Player, DiagramSet)> = Vec::new();
        for (&priority, set) in &self.priorities {
            let player = Player::of_parity(priority);
            match levels.last_mut() {
                Some((last, level)) if *last == player => level.unite(set),
                _ => levels.push((player, set.clone())),
            }
        }
        levels.into()
    }

    /// Grows what is won by vertices without moves and by attractors. Returns the winner of the initial vertex, once it
    /// is known.
    pub fn grow(&mut self) -> Result<Option<Player>, Stopped> {
        let (mut won, arena) = (self.won.clone(), self.arena());
        let mut trail = arena.blank();
        grow_won(&arena, &arena.all(), &mut won, &mut trail)?;
        drop(arena);
        self.win(won, trail)
    }

    /// Lets a partial solver look at what is not won. What is won was grown before.
    pub fn solve(&mut self, how: PartialSolver) -> Result<Option<Player>, Stopped> {
        let (mut won, arena) = (self.won.clone(), self.arena());
        let mut trail = arena.blank();
        find_dominions(&arena, how, &arena.all(), &mut won, &mut trail, zielonka)?;
        drop(arena);
        self.win(won, trail)
    }

    /// Solves what is left when everything is explored and what is won was grown.
    pub fn finish(&mut self) -> Result<Player, Stopped> {
        assert!(self.is_explored(), "a game is solved to its end when it is explored");
        let (mut won, arena) = (self.won.clone(), self.arena());
        let mut trail = arena.blank();
        let rest = arena.all().without(&won[0]).without(&won[1]);
        let [even, odd] = zielonka(&arena.completed(), rest, &mut trail)?;
        won[Player::Even.index()].unite(&even);
        won[Player::Odd.index()].unite(&odd);
        drop(arena);
        let winner = self.win(won, trail)?;
        Ok(winner.expect("a complete game is decided everywhere"))
    }

    /// Takes what a solver won, unless an operation on sets was stopped meanwhile.
    fn win(&mut self, won: [DiagramSet; 2], mut trail: Trail) -> Result<Option<Player>, Stopped> {
        let new = [won[0].without(&self.won[0]), won[1].without(&self.won[1])];
        trail.keep_won(&new);
        let mut frontier = self.frontier.without(&new[0]);
        frontier.subtract(&new[1]);
        self.pool.check()?;
        self.trail.append(trail);
        self.frontier = frontier;
        self.won = won;
        Ok(self.winner())
    }

    /// The winner of the initial vertex, if it is known.
    pub fn winner(&self) -> Option<Player> {
        Player::BOTH.into_iter().find(|player| self.space.contains(self.won[player.index()].diagram(), &self.initial))
    }

    /// What a player is known to win.
    pub fn won(&self, player: Player) -> &DiagramSet {
        &self.won[player.index()]
    }

    /// What both players are known to win.
    pub(super) fn both_won(&self) -> &[DiagramSet; 2] {
        &self.won
    }

    /// Says that a player wins everything, whether it does or not: for tests of the verifier.
    #[doc(hidden)]
    pub fn claim(&mut self, player: Player) {
        self.won[player.index()] = self.all.clone();
        let everything = self.all.and(&self.owned[player.index()]);
        self.trail.record(player, &everything, &self.all);
    }

    /// How many vertices a player is known to win.
    pub fn won_count(&self, player: Player) -> Result<UBig, Stopped> {
        self.pool.diagrams().count(self.won[player.index()].diagram())
    }

    /// How many edges leave the vertices that are complete.
    pub fn edges(&self) -> Result<UBig, Cut> {
        self.space.transitions(self.complete.diagram())
    }

    /// The vertices from which not all edges are known.
    pub fn incomplete(&self) -> DiagramSet {
        self.all.without(&self.complete)
    }

    /// The vertices that were found.
    pub fn vertices(&self) -> &DiagramSet {
        &self.all
    }

    /// How many there are.
    pub fn count(&self) -> Result<UBig, Stopped> {
        self.pool.diagrams().count(self.all.diagram())
    }

    /// How many vertices there are when the exploration was cut.
    pub fn count_of_cut(&mut self) -> UBig {
        self.space.count_of_cut(self.all.diagram())
    }

    /// How the players win.
    pub fn trail(&self) -> &Trail {
        &self.trail
    }

    /// The states and relations.
    pub fn space(&self) -> &Space<'s> {
        &self.space
    }

    /// Are there levels of both players?
    pub fn has_both_parities(&self) -> bool {
        self.levels().len() > 1
    }

    /// Is there a vertex, not won and with moves, whose owner its priority is good for?
    pub fn may_have_solitaire_cycles(&self) -> bool {
        self.levels().iter().any(|(player, level)| {
            let own = level.and(&self.owned[player.index()]).without(&self.sinks);
            !own.without(&self.won[0]).without(&self.won[1]).is_empty()
        })
    }

    /// What exploring cost, in nodes of diagrams.
    pub fn exploring_work(&self) -> u64 {
        self.explored
    }

    /// What solving cost, in the same measure.
    pub fn solving_work(&self) -> u64 {
        self.solved.get()
    }
}
