//! Deciding the game of a system while exploring it.
//!
//! The states of a system with the marks `Owner` and `Priority` are the vertices of a game, its steps are the moves.
//! Threads explore breadth-first ([`trefoil_explore::search`]) and write down the moves of each vertex that they
//! expand; now and then one of them makes the incomplete game of what is written down so far, and runs a partial solver
//! on it, while the others go on. When the winner of the initial vertex is known, exploring ends; when all is explored,
//! a solver for complete games decides (Laveaux, *Accelerated verification of concurrent systems*, chapter 4; as there,
//! partial solvers get about a tenth of the time).
//!
//! # The same evidence every time
//!
//! How much was explored when the winner became known depends on the clock and on the threads. So when a strategy is
//! wanted, the level (distance from the initial vertex) in which the winner became known is finished, the game is
//! numbered breadth-first in the order of the system's steps, and the least level is looked for whose vertices, and
//! those of the levels before, suffice to decide: by theorem 4.2.12 of chapter 4 that level is a property of the game.
//! Vertices are numbered by level, so such a part of the game is a prefix of its vertices, and no game is made anew.
//! The strategy is the one that the solver finds there: it does not depend on the number of threads, and no shallower
//! part of the game proves the verdict.
//!
//! # Evidence
//!
//! A [`Played`] is what can be reached from the initial vertex when the winner follows its strategy. It is made by
//! computing the successors of its rows again, not from what was written down: the moves of the loser are all those of
//! the system, and the moves of the winner are among them. Then the verifier of strategies checks it.
//!
//! Cost: exploring, with 7 bytes a vertex and 4 a move for what is written down ([`super::recorded`]), until it becomes
//! a game (4 and 8 bytes, [`Game`]) and is solved (10 bytes a vertex): at most 16 bytes a vertex and 8 a move beside
//! the store of states. A partial solver makes its game anew, so while it runs what is written down and the game of the
//! vertices so far are both there: about 21 bytes a vertex and 12 a move. [`GameCounts::bytes`] and
//! [`GameCounts::partial_bytes`] are what was held.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use trefoil_control::{Control, Stopped};
use trefoil_explore::{Counts, End, Finding, Options, Order, Visited, Visitor, search};
use trefoil_system::{Cut, Explorer, GroupId, LabelId, MarkId, Meaning, SlotSet, System, Value};

use super::arena::Arena;
use super::bits::Bits;
use super::explicit::Explicit;
use super::game::{Game, GameBuilder, Player, Vertex};
use super::partial::{PartialSolver, solve_partially};
use super::recorded::{Chunk, Held, assemble};
use super::registry::{SOLVERS, Solver};
use super::verify::find_flaw;
use super::whole::{Solution, solve_counting};

/// How to decide the game of a system.
#[derive(Clone, Copy)]
pub struct Deciding {
    /// How many threads; 0 means one per core.
    pub threads: usize,
    /// The solver for complete games, and for the safe parts of incomplete ones.
    pub solver: &'static Solver,
    /// What is looked for while exploring; nothing when there is none.
    pub partial: Option<PartialSolver>,
    /// Whose strategies are wanted. That of a player that wins everywhere has as many vertices as the game.
    pub wanted: Wanted,
}

/// Whose strategies are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// None: the winner is enough.
    Nothing,
    /// The strategy of this player, if it wins.
    Of(Player),
    /// The strategy of the winner.
    Winner,
}

impl Wanted {
    pub(crate) fn includes(self, winner: Player) -> bool {
        match self {
            Wanted::Nothing => false,
            Wanted::Of(player) => player == winner,
            Wanted::Winner => true,
        }
    }
}

impl Default for Deciding {
    fn default() -> Deciding {
        Deciding { threads: 0, solver: &SOLVERS[0], partial: Some(PartialSolver::default()), wanted: Wanted::Winner }
    }
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GameCounts {
    /// Vertices that were found.
    pub vertices: u64,
    /// Vertices whose moves were computed.
    pub expanded: u64,
    /// Moves of these.
    pub moves: u64,
    /// The greatest distance of an expanded vertex.
    pub depth: u32,
    /// How often a partial solver ran, and the processor time of its thread in it.
    pub calls: u32,
    /// Time in partial solvers.
    pub solving: Duration,
    /// Levels of priorities of the game; 0 when no game was solved to the end.
    pub levels: u32,
    /// What the store of states took when all was explored.
    pub store_bytes: u64,
    /// The most bytes that were held for the game at one time beside that store, while no partial solver ran.
    pub bytes: u64,
    /// The most bytes that were held while a partial solver ran.
    pub partial_bytes: u64,
}

/// The winner of the initial vertex.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The winner.
    pub winner: Player,
    /// Was it known before all vertices were explored?
    pub early: bool,
    /// The solver that decided.
    pub solver: &'static str,
    /// How much was done.
    pub counts: GameCounts,
    /// What the winner does, when that was wanted.
    pub played: Option<Played>,
}

/// A game that was not decided: the budget ran out, the user interrupted, or the model is at fault.
#[derive(Clone, Debug)]
pub struct Undecided {
    /// Why.
    pub cut: Cut,
    /// How much was done.
    pub counts: GameCounts,
}

/// A strategy, and all that can happen when the winner follows it from the initial vertex. It has been verified.
#[derive(Clone, Debug)]
pub struct Played {
    /// The winner, which wins every vertex here.
    pub winner: Player,
    /// The vertices; the first one is the initial one.
    pub vertices: Vec<PlayedVertex>,
}

/// A vertex of a strategy.
#[derive(Clone, Debug)]
pub struct PlayedVertex {
    /// Its row.
    pub row: Vec<Value>,
    /// The player that moves.
    pub owner: Player,
    /// Its priority.
    pub priority: u32,
    /// The one move of the winner, or all moves of the loser, in the order of the system.
    pub moves: Vec<PlayedMove>,
}

/// A move of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayedMove {
    /// The label of the step.
    pub label: LabelId,
    /// Its group.
    pub group: GroupId,
    /// Where it leads: an index into [`Played::vertices`].
    pub target: usize,
}

/// Decides which player wins the initial state of a system with the marks `Owner` and `Priority`.
///
/// A system whose rows have no room for a step ends with [`Cut::Outgrown`]; the caller tries again with
/// [`System::widened`].
pub fn decide(system: &dyn System, options: &Deciding, control: &Control) -> Result<Decision, Undecided> {
    let marks = [Meaning::Owner, Meaning::Priority].map(|meaning| {
        let mark = system.mark(meaning).expect("a game has the marks of owners and priorities");
        (mark, &system.marks()[mark.index()].reads)
    });
    let shared = Shared {
        control,
        options,
        chunks: Mutex::default(),
        pace: Mutex::default(),
        last: AtomicU32::new(u32::MAX),
        started: Instant::now(),
        held: Held::default(),
        partial: Held::default(),
    };
    let search_options = Options { threads: options.threads, order: Order::Steps, ..Options::default() };
    let exploration = search(system, &search_options, control, || Recorder {
        shared: &shared,
        chunk: Chunk::default(),
        limit: FIRST_CHUNK,
        owner: MarkReader::new(marks[0]),
        priority: MarkReader::new(marks[1]),
    });
    let (end, found, initial) = (exploration.end, exploration.counts, exploration.initial);
    let store = exploration.states.bytes();
    for mut recorder in exploration.visitors {
        recorder.publish(0);
    }
    drop(exploration.states);
    let Shared { chunks, pace, last, held, partial, .. } = shared;
    let chunks = chunks.into_inner().unwrap_or_else(PoisonError::into_inner);
    let pace = pace.into_inner().unwrap_or_else(PoisonError::into_inner);
    let counts = GameCounts {
        store_bytes: store as u64,
        bytes: held.most() as u64,
        partial_bytes: partial.most() as u64,
        ..counted(&found, &pace)
    };
    let undecided = |cut: Cut| Undecided { cut, counts };
    let last = match (pace.winner, end) {
        (Some(_), _) => last.load(Ordering::Relaxed),
        (None, End::Cut(cut)) => return Err(undecided(cut)),
        (None, End::Complete | End::Found(_)) => u32::MAX,
    };
    let early = pace.winner.is_some();
    if let Some(winner) = pace.winner
        && !options.wanted.includes(winner)
    {
        return Ok(Decision { winner, early, solver: options.solver.name, counts, played: None });
    }
    let stopped = |stopped: Stopped| undecided(stopped.into());
    let (builder, ends) = assemble(chunks, initial.0, last, Some(&held), control).map_err(stopped)?;
    let game = builder.finish(control).map_err(stopped)?;
    held.take(game.bytes_to_make());
    held.give(game.bytes_to_make());
    let mut counts = GameCounts { levels: game.levels(), ..counts };
    let undecided = |cut: Cut| Undecided { cut, counts };
    let stopped = |stopped: Stopped| undecided(stopped.into());
    let mut solution = None;
    let mut solving = 0;
    let winner = match pace.winner {
        Some(winner) => winner,
        None => {
            let (whole, bytes) = solve_counting(&game, options.solver, SOLVING_THREADS, control).map_err(stopped)?;
            solving = bytes;
            let winner = whole.winner(0).expect("a complete game is decided everywhere");
            solution = Some(whole);
            winner
        }
    };
    let mut played = None;
    if options.wanted.includes(winner) {
        let shallow = shallowest(&game, &ends, winner, options.solver, control).map_err(stopped)?;
        let solution = shallow.or(solution).expect("what decided the game decides it again");
        played = Some(replayed(system, &game, &solution, winner, control).map_err(undecided)?);
    }
    held.take(game.bytes() + solving);
    counts.bytes = held.most() as u64;
    Ok(Decision { winner, early, solver: options.solver.name, counts, played })
}

fn counted(found: &Counts, pace: &Pace) -> GameCounts {
    GameCounts {
        vertices: found.states,
        expanded: found.expanded,
        moves: found.transitions,
        depth: found.depth,
        calls: pace.calls,
        solving: pace.spent,
        ..GameCounts::default()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many vertices a thread writes down before it shows them to others: at first, and at most.
const FIRST_CHUNK: usize = 64;
const LAST_CHUNK: usize = 1 << 13;

/// How many threads solve a game once it is explored: two gain nothing on most games of 10^6 vertices.
const SOLVING_THREADS: usize = 1;

/// Partial solvers get one part in this many of the time.
const SHARE: u32 = 10;

/// What the threads share.
struct Shared<'a> {
    control: &'a Control,
    options: &'a Deciding,
    chunks: Mutex<Vec<Arc<Chunk>>>,
    /// Held by the thread that runs a partial solver.
    pace: Mutex<Pace>,
    /// The last distance that is to be explored.
    last: AtomicU32,
    started: Instant,
    /// What is held for the game, and by partial solvers beside it.
    held: Held,
    partial: Held,
}

/// When partial solvers run, and what they found.
#[derive(Default)]
struct Pace {
    calls: u32,
    /// The time of the last call, and of all.
    recent: Duration,
    spent: Duration,
    winner: Option<Player>,
}

impl Shared<'_> {
    /// Runs a partial solver, if it is time for it and no thread runs one.
    fn consider(&self) -> Result<(), Cut> {
        let (Some(how), Ok(mut pace)) = (self.options.partial, self.pace.try_lock()) else { return Ok(()) };
        if pace.winner.is_some() || (pace.spent + pace.recent) * SHARE > self.started.elapsed() {
            return Ok(());
        }
        let begun = Instant::now();
        let chunks = lock(&self.chunks).clone();
        let deepest = chunks.iter().map(|chunk| chunk.distance).max().unwrap_or(0);
        // The initial state is the one that was expanded at distance 0.
        let Some(initial) = chunks.iter().find(|chunk| chunk.distance == 0).and_then(|chunk| chunk.first()) else {
            return Ok(());
        };
        let recorded: usize = chunks.iter().map(|chunk| chunk.bytes()).sum();
        let (builder, _) = assemble(chunks, initial, u32::MAX, None, self.control)?;
        let game = builder.finish(self.control)?;
        let arena = Explicit::new(&game, 1, self.control);
        let solution = partially(&arena, how, &arena.all(), self.options.solver)?;
        let own = (game.bytes() + arena.most_held() + solution.bytes()).max(game.bytes_to_make());
        self.partial.take(recorded + own);
        self.partial.give(recorded + own);
        pace.calls += 1;
        let took = begun.elapsed();
        pace.recent = took;
        pace.spent += took;
        if let Some(winner) = solution.winner(0) {
            pace.winner = Some(winner);
            self.last.store(deepest, Ordering::Relaxed);
            if !self.options.wanted.includes(winner) {
                return Err(Cut::Enough);
            }
        }
        Ok(())
    }
}

/// What a partial solver finds among some vertices.
fn partially(arena: &Explicit<'_>, how: PartialSolver, known: &Bits, solver: &Solver) -> Result<Solution, Stopped> {
    let (mut won, mut moves) = ([arena.none(), arena.none()], arena.blank());
    solve_partially(arena, how, known, &mut won, &mut moves, solver.run)?;
    let mut solution = Solution { won, moves };
    solution.tidy(arena.game());
    Ok(solution)
}

/// Reads a mark; remembers the values of one that reads a single slot.
pub(crate) struct MarkReader<'a> {
    mark: MarkId,
    reads: &'a SlotSet,
    values: Vec<Value>,
    known: Vec<Option<Value>>,
}

impl<'a> MarkReader<'a> {
    fn new((mark, reads): (MarkId, &'a SlotSet)) -> MarkReader<'a> {
        MarkReader { mark, reads, values: Vec::new(), known: Vec::new() }
    }

    /// Readers of owners and priorities.
    pub(crate) fn of_game(system: &'a dyn System) -> [MarkReader<'a>; 2] {
        [Meaning::Owner, Meaning::Priority].map(|meaning| {
            let mark = system.mark(meaning).expect("a game has the marks of owners and priorities");
            MarkReader::new((mark, &system.marks()[mark.index()].reads))
        })
    }

    pub(crate) fn read(&mut self, row: &[Value], explorer: &mut dyn Explorer) -> Result<Value, Cut> {
        const REMEMBERED: usize = 1 << 12;
        self.reads.values(row, &mut self.values);
        let [single] = self.values[..] else { return explorer.mark(self.mark, &self.values) };
        let place = single as usize;
        if place >= REMEMBERED {
            return explorer.mark(self.mark, &self.values);
        }
        if place >= self.known.len() {
            self.known.resize(place + 1, None);
        }
        if let Some(value) = self.known[place] {
            return Ok(value);
        }
        let value = explorer.mark(self.mark, &self.values)?;
        self.known[place] = Some(value);
        Ok(value)
    }
}

/// Writes down the moves of the vertices that a thread expands.
struct Recorder<'a> {
    shared: &'a Shared<'a>,
    chunk: Chunk,
    limit: usize,
    owner: MarkReader<'a>,
    priority: MarkReader<'a>,
}

impl Recorder<'_> {
    fn publish(&mut self, distance: u32) {
        let mut chunk = std::mem::replace(&mut self.chunk, Chunk::new(distance));
        if !chunk.is_empty() {
            chunk.shrink();
            self.shared.held.take(chunk.bytes());
            lock(&self.shared.chunks).push(Arc::new(chunk));
        }
    }
}

impl Visitor for Recorder<'_> {
    fn visit(&mut self, state: &Visited<'_>, explorer: &mut dyn Explorer) -> Result<Finding, Cut> {
        if state.distance > self.shared.last.load(Ordering::Relaxed) {
            return Err(Cut::Enough);
        }
        if state.distance != self.chunk.distance {
            // Levels may be smaller than chunks.
            self.publish(state.distance);
            self.shared.consider()?;
        }
        let owner = self.owner.read(state.row, explorer)?;
        let priority = self.priority.read(state.row, explorer)?;
        let tag = priority << 1 | owner;
        if !self.chunk.fits(tag, state.steps.len()) {
            self.publish(state.distance);
        }
        self.chunk.push(state.id.0, tag, state.steps.iter().map(|edge| edge.target.0));
        if self.chunk.weight() >= self.limit {
            self.limit = (self.limit * 2).min(LAST_CHUNK);
            self.publish(state.distance);
            self.shared.consider()?;
        }
        Ok(Finding::Nothing)
    }
}

/// What decides the initial vertex within the least number of levels, `ends` being where they end.
fn shallowest(
    game: &Game,
    ends: &[Vertex],
    winner: Player,
    solver: &Solver,
    control: &Control,
) -> Result<Option<Solution>, Stopped> {
    let arena = Explicit::new(game, SOLVING_THREADS, control);
    let within = |levels: usize| -> Result<Option<Solution>, Stopped> {
        let known = Bits::of(game.len(), |vertex| vertex < ends[levels]);
        let solution = partially(&arena, PartialSolver::Safe, &known, solver)?;
        Ok((solution.winner(0) == Some(winner)).then_some(solution))
    };
    // Levels whose vertices double are tried first, so that all trials together cost little more than the last one.
    let (mut undecided, mut size) = (0, 0);
    let mut best = None;
    for levels in 0..ends.len() {
        if ends[levels] < size && levels + 1 < ends.len() {
            continue;
        }
        size = ends[levels].saturating_mul(2);
        if let Some(solution) = within(levels)? {
            best = Some((levels, solution));
            break;
        }
        undecided = levels + 1;
    }
    let Some((mut decided, mut solution)) = best else { return Ok(None) };
    while undecided < decided {
        let middle = undecided.midpoint(decided);
        match within(middle)? {
            Some(better) => (decided, solution) = (middle, better),
            None => undecided = middle + 1,
        }
    }
    Ok(Some(solution))
}

/// What can be reached when the winner follows its strategy, from the system itself, and verified.
fn replayed(
    system: &dyn System,
    game: &Game,
    solution: &Solution,
    winner: Player,
    control: &Control,
) -> Result<Played, Cut> {
    let mut explorer = system.explorer(control);
    let mut readers = MarkReader::of_game(system);
    let mut numbers: HashMap<Vec<Value>, usize> = HashMap::new();
    let initial = system.initial(control)?;
    numbers.insert(initial.clone(), 0);
    // The rows to be expanded, each with its vertex.
    let mut waiting = vec![(initial, 0 as Vertex)];
    let mut vertices: Vec<PlayedVertex> = Vec::new();
    while let Some((row, vertex)) = waiting.get(vertices.len()).cloned() {
        control.check()?;
        let owner = if readers[0].read(&row, &mut *explorer)? == 0 { Player::Even } else { Player::Odd };
        let priority = readers[1].read(&row, &mut *explorer)?;
        let targets = game.successors(vertex);
        let chosen = solution.moves[vertex as usize];
        let chosen = targets.iter().position(|&target| target == chosen);
        let mut moves = Vec::new();
        let mut at = 0usize;
        explorer.successors(&row, &mut |step| {
            let place = at;
            at += 1;
            if owner == winner && chosen != Some(place) {
                return Ok(());
            }
            let next = waiting.len();
            let target = match numbers.get(step.row) {
                Some(&target) => target,
                None => {
                    numbers.insert(step.row.to_vec(), next);
                    waiting.push((step.row.to_vec(), targets[place]));
                    next
                }
            };
            moves.push(PlayedMove { label: step.label, group: step.group, target });
            Ok(())
        })?;
        assert_eq!(at, targets.len(), "a system gives the same steps every time");
        vertices.push(PlayedVertex { row, owner, priority, moves });
    }
    let played = Played { winner, vertices };
    played.verify(control)?;
    Ok(played)
}

impl Played {
    /// Verifies it as a strategy; a flaw is a bug.
    pub(crate) fn verify(&self, control: &Control) -> Result<(), Stopped> {
        let mut builder = GameBuilder::default();
        for vertex in &self.vertices {
            builder.vertex(vertex.owner, vertex.priority);
            vertex.moves.iter().for_each(|step| builder.edge(step.target as Vertex));
        }
        let game = builder.finish(control)?;
        let arena = Explicit::new(&game, 1, control);
        let mut solution = Solution { won: [arena.none(), arena.none()], moves: arena.blank() };
        solution.won[self.winner.index()] = arena.all();
        for (vertex, played) in self.vertices.iter().enumerate() {
            if let (true, Some(step)) = (played.owner == self.winner, played.moves.first()) {
                solution.moves[vertex] = step.target as Vertex;
            }
        }
        if let Some(flaw) = find_flaw(&game, &solution, true, control)? {
            panic!("the strategy that the solver found is wrong: {flaw}");
        }
        Ok(())
    }
}
