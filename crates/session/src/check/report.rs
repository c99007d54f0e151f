//! What a run of a script's assertions gives, as plain data.
//!
//! Fields with FDR's meaning have the names of FDR's `refines` (`assertion_string`, `result`, `visited_states`,
//! `counterexamples`, `event_map`, …), so that programs that read FDR's output read this too; other fields stand
//! beside.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use trefoil_questions::Counts;
use trefoil_source::{Diagnostic, Report as DiagnosticReport, ReportedPlace, Sources, render};

use super::line;
use crate::formulas::ProofSystem;
use crate::promela::{Story, Unreached};
use crate::symmetry::BrokenSymmetry;
use crate::{Unfinished, Verdict};

/// What running the assertions of one script gave.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunReport {
    /// The script as the user named it.
    pub file_name: String,
    /// Why the script could not be used; empty when it could.
    pub errors: Vec<String>,
    /// Warnings about it.
    pub warnings: Vec<String>,
    /// What its print statements say, in order.
    pub print_statement_results: Vec<PrintResult>,
    /// The events that counterexamples mention, by their numbers there; 1 is `τ`, 2 is `✓`.
    pub event_map: BTreeMap<u32, String>,
    /// One for each assertion that was run, in order.
    pub results: Vec<AssertionReport>,
    /// All assertions of the script.
    pub assertions: Vec<Assertion>,
    /// How far opening came, when it was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// Errors and warnings with their places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticReport>,
}

/// What a print statement says.
#[derive(Clone, Debug, Serialize)]
pub struct PrintResult {
    /// The expression as written.
    pub expression: String,
    /// Its value as CSPM text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Why it has none.
    pub errors: Vec<String>,
}

/// An assertion, before it is run.
#[derive(Clone, Debug, Serialize)]
pub struct Assertion {
    /// Its number in the script, from 1.
    pub index: usize,
    /// As text on one line, `not` included.
    pub assertion_string: String,
    /// What it claims.
    pub kind: Claim,
    /// In which model, as written or as implied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<&'static str>,
    /// Whether it begins with `not`.
    pub is_negated: bool,
    /// Its options, such as `symmetry reduce`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<&'static str>,
    /// Where it stands.
    pub place: ReportedPlace,
}

/// The sorts of assertions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// `P [T= Q`
    Refinement,
    /// `P :[deadlock free]`
    DeadlockFree,
    /// `P :[livelock free]`, `P :[divergence free]`
    LivelockFree,
    /// `P :[deterministic]`
    Deterministic,
    /// `P :[has trace]: <…>`
    HasTrace,
    /// `E :[symmetric]: T`
    Symmetric,
    /// Promela: no assertion is violated and no run-time error happens.
    Assertions,
    /// Promela: no run ends where it may not.
    EndStates,
    /// Promela: a `trace` or `notrace` is kept.
    EventTrace,
    /// Promela: an `ltl` formula or `never` claim.
    Temporal,
    /// A formula of linear temporal logic about the actions of an mCRL2 specification or a file with a system.
    Ltl,
    /// The same about the events of a process of a CSPM script.
    #[serde(rename = "ltl")]
    ScriptLtl,
    /// mCRL2: no run ends in a state without steps, unless all of it has terminated.
    NoDeadlock,
    /// mCRL2: actions that must not happen.
    NeverActions,
    /// A formula of the modal µ-calculus about an mCRL2 specification or a file with a transition system.
    Formula,
    /// The same about a process of a CSPM script.
    #[serde(rename = "formula")]
    ScriptFormula,
    /// The same about a Promela model.
    #[serde(rename = "formula")]
    ModelFormula,
}

impl Claim {
    /// Is it a formula of linear temporal logic about labels?
    pub fn is_linear(self) -> bool {
        matches!(self, Claim::Ltl | Claim::ScriptLtl)
    }

    /// Is it a formula of the modal µ-calculus, whose counts are those of a game?
    pub fn is_formula(self) -> bool {
        matches!(self, Claim::Formula | Claim::ScriptFormula | Claim::ModelFormula)
    }
}

/// The answer to an assertion.
#[derive(Clone, Debug, Serialize)]
pub struct AssertionReport {
    /// The assertion.
    #[serde(flatten)]
    pub assertion: Assertion,
    /// 1 when the assertion as written holds, 0 when it does not, absent (`null`) when that is not known.
    pub result: Option<u8>,
    /// The same in words; `error` when the assertion could not be evaluated.
    pub verdict: Verdict,
    /// Why the result is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why the assertion could not be evaluated.
    pub errors: Vec<String>,
    /// What the search found.
    #[serde(flatten)]
    pub visited: Visited,
    /// In FDR's form; the same as `witness`.
    pub counterexamples: Vec<Counterexample>,
    /// How it was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// The solver that decided the game of a formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<&'static str>,
    /// The engine that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<&'static str>,
    /// Of the symbolic engine, the most nodes of decision diagrams that it had at one time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_nodes: Option<u64>,
    /// Which engine answered, and why this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What made the state space smaller.
    pub reductions: Vec<String>,
    /// The symmetry that was used, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symmetry: Option<UsedSymmetry>,
    /// Notes on the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How a check worked: for mCRL2, how states and steps are kept; for a claim, what its automaton is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// How the search grew: levels with the number of states found before each, some of them if there are many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub growth: Vec<(u64, u64)>,
    /// Promela: the statements that no run reaches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreached: Vec<Unreached>,
    /// Time for evaluating and compiling.
    pub compile_seconds: f64,
    /// Time for preparing and searching.
    pub check_seconds: f64,
    /// The largest resident size of the process so far, when the operating system reports it.
    pub peak_memory_bytes: Option<u64>,
    /// The coverage of a search that does not store whole states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// What the states that were found took, where one search was for this alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_bytes: Option<u64>,
    /// Of the game of a formula, the most bytes that it took at one time beside the states of its vertices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_bytes: Option<u64>,
    /// The same while a partial solver ran, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_game_bytes: Option<u64>,
    /// How far it came, when it was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// Errors with their places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticReport>,
    /// The same for a terminal, without and with colours.
    #[serde(skip)]
    pub rendered: [String; 2],
    /// Why what is claimed fails. With `not` before the claim, this is why the assertion holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Evidence>,
    /// The events that it mentions, for the event map of the run.
    #[serde(skip)]
    pub events: BTreeMap<u32, String>,
}

impl AssertionReport {
    /// An assertion about which nothing is known yet.
    pub fn new(assertion: Assertion) -> AssertionReport {
        let visited = Visited { game: assertion.kind.is_formula(), ..Visited::default() };
        AssertionReport {
            assertion,
            result: None,
            verdict: Verdict::Error,
            reason: None,
            errors: Vec::new(),
            visited,
            counterexamples: Vec::new(),
            algorithm: None,
            solver: None,
            engine: None,
            peak_nodes: None,
            why: None,
            reductions: Vec::new(),
            symmetry: None,
            notes: Vec::new(),
            details: Vec::new(),
            growth: Vec::new(),
            unreached: Vec::new(),
            compile_seconds: 0.0,
            check_seconds: 0.0,
            peak_memory_bytes: None,
            coverage: None,
            store_bytes: None,
            game_bytes: None,
            partial_game_bytes: None,
            unfinished: None,
            diagnostics: Vec::new(),
            rendered: Default::default(),
            witness: None,
            events: Default::default(),
        }
    }
}

impl AssertionReport {
    /// Records what an engine counted.
    pub(crate) fn count(&mut self, counts: &Counts) {
        self.visited.states = counts.states.into();
        self.visited.transitions = counts.transitions.into();
        self.visited.plys = counts.levels;
        if let Some(symbolic) = &counts.symbolic {
            self.visited.states = Number(symbolic.states.clone());
            self.visited.transitions = Number(symbolic.transitions.clone());
            self.peak_nodes = Some(symbolic.peak_nodes);
        }
    }

    /// Records how far a stopped check came.
    pub(crate) fn give_up(&mut self, unfinished: Unfinished) {
        self.verdict = Verdict::Unknown;
        self.reason = Some(unfinished.reason.clone());
        self.visited.states = unfinished.vertices.unwrap_or(unfinished.states).into();
        self.visited.transitions = unfinished.edges.unwrap_or(unfinished.transitions).into();
        self.visited.plys = unfinished.depth;
        self.unfinished = Some(unfinished);
    }

    /// Records what a stopped engine counted that the counters of the progress have no room for.
    pub(crate) fn count_unfinished(&mut self, counts: &Counts) {
        if counts.symbolic.is_some() {
            self.count(counts);
            self.engine = Some("symbolic");
        }
    }

    /// Records why the assertion has no answer.
    pub(crate) fn tell(&mut self, diagnostic: &Diagnostic, sources: &Sources) {
        let told = DiagnosticReport::new(diagnostic, sources);
        self.reason = Some(told.message.clone());
        self.errors = vec![line(&told)];
        self.rendered = [false, true].map(|colour| render(diagnostic, sources, colour));
        self.diagnostics = vec![told];
    }
}

/// What a search found: states of a product, or vertices of the game of a formula. In JSON they are `visited_states`,
/// `visited_transitions` and `visited_plys`, as FDR calls them, or `vertices`, `edges` and `depth`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visited {
    /// Whether these are the counts of a game.
    pub game: bool,
    /// States of the product, or vertices of the game.
    pub states: Number,
    /// Transitions of the product, or edges of the game.
    pub transitions: Number,
    /// Levels of the search.
    pub plys: u64,
}

impl Serialize for Visited {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = match self.game {
            true => ["vertices", "edges", "depth"],
            false => ["visited_states", "visited_transitions", "visited_plys"],
        };
        let mut map = serializer.serialize_map(Some(names.len()))?;
        map.serialize_entry(names[0], &self.states)?;
        map.serialize_entry(names[1], &self.transitions)?;
        map.serialize_entry(names[2], &self.plys)?;
        map.end()
    }
}

/// A natural number of any length, by its decimal digits; a number in JSON, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(String);

impl Number {
    /// Is it 0?
    pub fn is_zero(&self) -> bool {
        self.0 == "0"
    }

    /// The number with these decimal digits.
    pub(crate) fn of_digits(digits: &str) -> Number {
        Number(digits.to_string())
    }

    /// Its digits.
    pub fn digits(&self) -> &str {
        &self.0
    }
}

impl Default for Number {
    fn default() -> Number {
        Number::from(0)
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Number {
        Number(number.to_string())
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.parse::<u64>() {
            Ok(number) => serializer.serialize_u64(number),
            Err(_) => RawValue::from_string(self.0.clone()).map_err(S::Error::custom)?.serialize(serializer),
        }
    }
}

/// The coverage of a search that does not store whole states.
#[derive(Clone, Debug, Serialize)]
pub struct Coverage {
    /// `hash-compact` or `bitstate`.
    pub store: &'static str,
    /// The size of the table.
    pub table_bytes: u64,
    /// Bits of the table for each state that was found; large is good.
    pub hash_factor: f64,
    /// The part of the table that is used.
    pub filled: f64,
    /// The expected number of missed states; states that are reached only through them are not counted.
    pub expected_omissions: f64,
}

impl From<trefoil_questions::Coverage> for Coverage {
    fn from(coverage: trefoil_questions::Coverage) -> Coverage {
        Coverage {
            store: coverage.store.name(),
            table_bytes: coverage.table_bytes,
            hash_factor: coverage.hash_factor,
            filled: coverage.filled,
            expected_omissions: coverage.expected_omissions,
        }
    }
}

/// A symmetry that made the state space smaller.
#[derive(Clone, Debug, Serialize)]
pub struct UsedSymmetry {
    /// The number of elements of the group, as text since it may be large.
    pub order: String,
    /// How the group is built.
    pub structure: String,
    /// How representatives were chosen.
    pub strategy: &'static str,
    /// How many states the representatives stand for, as text; absent when the search did not finish or the strategy
    /// keeps several representatives of an orbit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_states: Option<String>,
    /// What is permuted: names of a type's values, or of components.
    pub permuted: Vec<Permuted>,
}

/// What a group permutes among themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Permuted {
    /// What sort of things.
    pub kind: PermutedKind,
    /// The datatype of constants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datatype: Option<String>,
    /// The constants; or components, and labels where components do not tell everything.
    pub names: Vec<String>,
}

/// Sorts of things that groups permute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PermutedKind {
    /// Constants of a datatype, in every way.
    Constants,
    /// Components that do the same, in every way.
    EqualComponents,
    /// Components and labels, as symmetries of the network permute them.
    Network,
    /// Processes and channels of a Promela model, or the numbers that it gives to them.
    Processes,
}

/// Why a claim fails: runs of the process, step by step, and what goes wrong at their ends.
#[derive(Clone, Debug, Serialize)]
pub struct Evidence {
    /// What is wrong.
    pub finding: Finding,
    /// The number of visible events.
    pub length: usize,
    /// The visible events.
    pub trace: Vec<String>,
    /// Refusal testing: what the process was seen to refuse before events of the trace, where the claim needs it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<Observed>,
    /// The process that runs, as the script writes it.
    pub process: String,
    /// Its components.
    pub components: Vec<Arc<str>>,
    /// CSP: the operators above several components, each before those inside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<OperatorRow>,
    /// One run; two when the process is not deterministic.
    pub runs: Vec<Run>,
    /// Promela: the run statement by statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Story>,
    /// Of a formula: the part of the model that the proof needs.
    #[serde(skip)]
    pub system: Option<ProofSystem>,
}

/// An operator above neighbouring components.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperatorRow {
    /// What the script calls it, or what it is.
    pub name: String,
    /// How many of these operators stand above it.
    pub depth: usize,
    /// Its first component.
    pub first: usize,
    /// How many components it has.
    pub count: usize,
}

/// What a process was seen to refuse before an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Observed {
    /// How many visible events came before.
    pub before: usize,
    /// The event that came next.
    pub event: String,
    /// All that the process offered, being stable; it refused everything else.
    pub offered: Vec<String>,
}

/// What is wrong at the end.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// The last event is not allowed by the specification.
    Event {
        /// The event.
        event: String,
        /// Revivals and refusal testing: all that the process offered before the event, being stable, where the claim
        /// needs it.
        #[serde(skip_serializing_if = "Option::is_none")]
        offered: Option<Vec<String>>,
        /// What the specification allows there, where it offers nothing else if that was observed.
        allowed: Vec<String>,
    },
    /// The last event must not happen.
    Forbidden {
        /// The event.
        event: String,
    },
    /// The process is stable and accepts too little.
    Acceptance {
        /// All that it accepts.
        accepted: Vec<String>,
        /// The specification accepts at least all of one of these.
        allowed: Vec<Vec<String>>,
    },
    /// The process diverges: it takes internal steps forever.
    Divergence,
    /// The process deadlocks.
    Deadlock,
    /// The first run does the event, the second ends where it is refused.
    Nondeterminism {
        /// The event.
        event: String,
    },
    /// The process has the trace in question; the run shows it.
    HasTrace,
    /// After the run, the process may refuse the next event of the trace in question.
    Refusal {
        /// The event.
        event: String,
    },
    /// The process does not have the trace in question.
    MissingTrace {
        /// What comes next in that trace, after the events of the run.
        event: String,
    },
    /// Types that are claimed to be symmetric are not.
    NotSymmetric {
        /// Which, and why.
        types: Vec<BrokenSymmetry>,
    },
    /// Promela: the last step violates an assertion, breaks a `trace`, or is a run-time error.
    Fault {
        /// What is wrong.
        error: String,
        /// The process type.
        process: String,
        /// The line of the statement.
        line: usize,
        /// The statement.
        statement: String,
    },
    /// Promela: a run violates a claim.
    Claim {
        /// In which way.
        violation: Violation,
        /// Steps before the cycle, or of the whole run.
        stem: usize,
        /// Steps of the cycle; none when there is no cycle.
        cycle: usize,
    },
    /// Promela: no process can move, and one of them is neither at its end nor at an `end` label.
    InvalidEnd,
    /// A formula fails, or holds.
    Formula {
        /// Whether it holds.
        holds: bool,
        /// The part of the formula at the end of the run, with the values of its variables.
        part: String,
        /// Whether the run ends in a cycle.
        repeats: bool,
        /// Whether the run is one of several: the proof has to answer every choice of an opponent.
        has_choices: bool,
        /// How many positions the proof has: parts of the formula in states of the model.
        positions: u64,
        /// Where the run is one of several, the proof itself: the first position is the initial one.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        proof: Vec<Position>,
    },
}

/// How a run violates a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Violation {
    /// Whatever follows.
    AtOnce,
    /// By going round a cycle forever.
    Cycle,
    /// By a cycle without progress.
    NonProgress,
    /// By a cycle through an accept label.
    Acceptance,
    /// By ending where it ends.
    End,
    /// By a deadlock: after it nothing happens any more.
    Deadlock,
    /// By a divergence: after it nothing visible happens any more.
    Divergence,
}

/// A position of a proof that a formula fails or holds.
#[derive(Clone, Debug, Serialize)]
pub struct Position {
    /// The part of the formula, with the values of its variables.
    pub part: String,
    /// The state of each component of the model.
    pub states: Vec<Arc<str>>,
    /// Whether the proof chooses the next position. If not, every move is an opponent's choice that it answers.
    pub chosen: bool,
    /// The moves.
    pub moves: Vec<Move>,
}

/// A move between positions of a proof.
#[derive(Clone, Debug, Serialize)]
pub struct Move {
    /// The step of the model; none where only the part of the formula changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The position that it leads to.
    pub to: usize,
}

/// A run of a process.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The state that each component starts in.
    pub initial: Vec<Arc<str>>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The steps around the cycle that the run ends in; none when it ends in a state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<Step>,
    /// What the process offers at the end, when it is stable there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<Vec<String>>,
    /// What it refuses there, of the events that matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Vec<String>>,
    /// What each component on its own offers there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Vec<String>>,
}

/// One step of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// The event as it is seen: `a`, `τ`, or `τ (a)` when `a` was hidden.
    pub event: String,
    /// Where it stands in the text: what the first component does that took part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<ReportedPlace>,
    /// The components that took part, each with its own event.
    pub parts: Vec<Part>,
    /// The state of each component afterwards.
    pub states: Vec<Arc<str>>,
    /// The number of the visible label in the event map.
    #[serde(skip)]
    pub number: u32,
    /// The number of the label before it was hidden.
    #[serde(skip)]
    pub revealed: u32,
}

/// What a component does in a step.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
    /// The component, by its place among the components.
    pub component: usize,
    /// Its own event, before renaming and hiding.
    pub event: String,
    /// Where it stands in the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<ReportedPlace>,
    /// The number of that event in the event map.
    #[serde(skip)]
    pub number: u32,
}

/// A counterexample in FDR's form.
#[derive(Clone, Debug, Serialize)]
pub struct Counterexample {
    /// `trace`, `min_acceptance`, `divergence`, `deadlock`, `determinism` or `formula`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The event that is not allowed, or that is done and refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_event: Option<u32>,
    /// What is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_acceptance: Option<Vec<u32>>,
    /// The process that runs.
    pub implementation_behaviour: Behaviour,
    /// The specification beside it; of a process that is not deterministic, its other run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specification_behaviour: Option<Behaviour>,
}

/// A run in FDR's form: events are numbers of the event map.
#[derive(Clone, Debug, Serialize)]
pub struct Behaviour {
    /// `trace`, `min_acceptance`, `loop` or `irrelevant`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whose it is.
    pub name: String,
    /// Its events, hidden ones as `τ`; without the error event.
    pub trace: Vec<u32>,
    /// The same with hidden events as they were before hiding.
    pub revealed_trace: Vec<u32>,
    /// The event that is not allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_event: Option<u32>,
    /// What is accepted at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_acceptance: Option<Vec<u32>>,
    /// What may happen at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_events: Option<Vec<u32>>,
    /// The events that repeat forever.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Vec<u32>>,
    /// The same for each component that took part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Behaviour>,
}
