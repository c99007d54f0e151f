//! What an engine found.

use std::time::Duration;

use trefoil_system::{GroupId, LabelId, Path, TakenStep, Value, Witness};

use crate::asked::Store;

/// The answer to a question, of a search that was not cut.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The engine that gave it.
    pub engine: &'static str,
    /// Why it was this engine, in one line.
    pub why: String,
    /// A verdict for each goal of the question.
    pub found: Vec<Found>,
    /// Whether everything that can be reached was searched.
    pub complete: bool,
    /// What was counted.
    pub counts: Counts,
    /// The reductions that were used, in words.
    pub reductions: Vec<String>,
    /// Whether independent steps were taken in one order only: then states are missing that other orders lead to.
    pub fewer_steps: bool,
    /// The symmetry that was used.
    pub symmetry: Option<UsedSymmetry>,
    /// What a search that kept no states knows about what it missed: what it did not find is not proved.
    pub coverage: Option<Coverage>,
    /// The solver that decided it, by its name, where the engine has several.
    pub solver: Option<&'static str>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

impl Answer {
    /// The answer of an engine that knows nothing yet of `goals` goals.
    pub fn new(engine: &'static str, goals: usize) -> Answer {
        Answer {
            engine,
            why: String::new(),
            found: vec![Found::Open; goals],
            complete: false,
            counts: Counts::default(),
            reductions: Vec::new(),
            fewer_steps: false,
            symmetry: None,
            coverage: None,
            solver: None,
            notes: Vec::new(),
        }
    }
}

/// The verdict on one goal.
#[derive(Clone, Debug)]
pub enum Found {
    /// It holds, as far as the search knows what it missed; a run shows it where one run can.
    Holds(Option<Path>),
    /// It holds, as a strategy of Even shows.
    Won(Strategy),
    /// It fails.
    Fails(Evidence),
    /// The search ended before it was known.
    Open,
}

/// Why something fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Of a question about traces, failures and divergences.
    Witness(Witness),
    /// A run whose last step shows an error.
    Error(Path),
    /// A run to a state without steps where the system may not rest.
    InvalidEnd(Path),
    /// A strategy of Odd in a parity game.
    Strategy(Strategy),
    /// A run that violates a claim whatever follows.
    Prefix(Path),
    /// A run that violates a claim.
    Lasso {
        /// The run to the first state of the cycle.
        path: Path,
        /// The steps around the cycle, back to that state. Empty when the run ends there, without steps.
        cycle: Vec<TakenStep>,
    },
}

/// A strategy in a parity game, and all that can happen when the winner follows it. It has been verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// The vertices; the first one is initial.
    pub vertices: Vec<StrategyVertex>,
    /// How many vertices the strategy has. If there are more than are listed, those of the play are listed, each with
    /// one move.
    pub positions: u64,
    /// A play: the loser takes its first move each time, until a player has no move, or the play comes back to a
    /// vertex.
    pub play: Path,
    /// The groups of its steps.
    pub groups: Vec<GroupId>,
    /// For a play that comes back, the number of steps before the vertex that it comes back to.
    pub back_to: Option<usize>,
    /// Whether the loser has a choice somewhere: then the play is one of several.
    pub has_choices: bool,
}

/// A vertex of a strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrategyVertex {
    /// The state of the game.
    pub row: Vec<Value>,
    /// Whether the winner moves.
    pub winner_moves: bool,
    /// The one move of the winner, or all moves of the loser: groups, labels, and places among the vertices.
    pub moves: Vec<(GroupId, LabelId, usize)>,
}

impl Evidence {
    /// The run, or the first of two; of a strategy, one play.
    pub fn path(&self) -> &Path {
        match self {
            Evidence::Witness(witness) => witness.path(),
            Evidence::Error(path)
            | Evidence::InvalidEnd(path)
            | Evidence::Prefix(path)
            | Evidence::Lasso { path, .. } => path,
            Evidence::Strategy(strategy) => &strategy.play,
        }
    }
}

/// What a game took beside the states of its vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameBytes {
    /// The most bytes at one time, while no partial solver ran.
    pub most: u64,
    /// The most bytes at one time while one ran; 0 if none did.
    pub partial: u64,
}

/// Counts of a search, complete or as far as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// States that were found: of the system, or of its product with a specification.
    pub states: u64,
    /// Transitions that were looked at.
    pub transitions: u64,
    /// Levels of the search.
    pub levels: u64,
    /// The most states that waited to be expanded at one time.
    pub waiting: u64,
    /// What the states took, where that is known.
    pub bytes: Option<u64>,
    /// Of a game, what it took beside its states.
    pub game: Option<GameBytes>,
    /// Of a game that was not decided, the solver that was at work or came next, by its name.
    pub solver: Option<&'static str>,
    /// States of the specification that was searched, after preprocessing.
    pub specification_states: u64,
    /// States of the implementation that was searched, after preprocessing.
    pub implementation_states: u64,
    /// Of a quotient, how many states each class of stabilisers ([`trefoil_system::Step::class`]) has.
    pub classes: Vec<u64>,
    /// Of a search with decision diagrams, its counts as they are.
    pub symbolic: Option<SymbolicCounts>,
    /// Of an antichain, what it kept.
    pub antichain: Option<AntichainCounts>,
    /// Time for preprocessing and normal forms.
    pub preparation: Duration,
    /// The time from preparing the question to its answer.
    pub elapsed: Duration,
}

/// Counts of a search with decision diagrams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymbolicCounts {
    /// The number of states, as text since it may be large; [`Counts::states`] is the largest number there when it is.
    pub states: String,
    /// The same of transitions.
    pub transitions: String,
    /// The most nodes that were in the table at one time.
    pub peak_nodes: u64,
}

/// What an antichain kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AntichainCounts {
    /// Pairs that something smaller covered.
    pub hits: u64,
    /// Pairs that nothing covered.
    pub misses: u64,
    /// Its largest size.
    pub most: u64,
}

/// A symmetry that made the state space smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedSymmetry {
    /// The number of elements of the group, as text since it may be large.
    pub order: String,
    /// How the group is built.
    pub structure: String,
    /// How representatives were chosen.
    pub strategy: &'static str,
    /// Why in this way.
    pub reason: String,
    /// How many states the representatives stand for, as text; absent when the search was not complete or the strategy
    /// keeps several representatives of one orbit.
    pub total_states: Option<String>,
    /// What is permuted, orbit by orbit, by the names of points.
    pub orbits: Vec<Vec<String>>,
}

/// What a search that keeps no states knows about what it missed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// How states were remembered.
    pub store: Store,
    /// The size of the table.
    pub table_bytes: u64,
    /// Bits of the table for each state that was found; large is good.
    pub hash_factor: f64,
    /// The part of the table that is used.
    pub filled: f64,
    /// How many states were missed, as far as that can be expected.
    pub expected_omissions: f64,
}
