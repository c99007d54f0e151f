//! A run of a model in full, statement by statement, in the format of Spin.

use serde::Serialize;
use trefoil_promela::{Message, Model, Moment, Move, Simulator, Told, Trail};
use trefoil_source::ReportedPlace;

/// A run statement by statement.
#[derive(Clone, Debug, Serialize)]
pub struct Story {
    /// The statements in order.
    pub statements: Vec<Statement>,
    /// The end state.
    pub end: EndState,
    /// The run as a trail that Spin replays.
    pub trail: String,
    /// The first statement of the cycle that the run ends in, by its place among the statements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<usize>,
    /// How many steps of the search the statements are.
    #[serde(skip)]
    pub steps: usize,
}

/// A statement that was executed.
#[derive(Clone, Debug, Serialize)]
pub struct Statement {
    /// The line of the trail that stands for it.
    pub depth: usize,
    /// Whose: the number of the process.
    pub process: u8,
    /// The name of its type.
    pub name: String,
    /// Its priority.
    pub priority: i32,
    /// The file of the statement.
    pub file: String,
    /// Its line.
    pub line: usize,
    /// Its column.
    pub column: usize,
    /// Its control state, as Spin numbers them.
    pub state: u32,
    /// Its text.
    pub statement: String,
    /// The transition, as Spin's trails name it.
    pub transition: u32,
    /// The text that it prints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed: Option<String>,
    /// Variables and channels that it changes, with their values afterwards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Variable>,
    /// Processes that it creates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<Created>,
    /// Its run-time error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Is the process gone afterwards?
    #[serde(skip)]
    pub ended: bool,
    /// Is the next statement the other half of a rendezvous?
    #[serde(skip)]
    pub offers: bool,
    /// Its effect on a channel.
    #[serde(skip)]
    pub message: Option<Message>,
}

/// A variable or channel and its value.
#[derive(Clone, Debug, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A process that was created.
#[derive(Clone, Debug, Serialize)]
pub struct Created {
    /// Its number.
    pub process: u8,
    /// The name of its type.
    pub name: String,
}

/// The end state of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EndState {
    /// Channels and variables of the model.
    pub variables: Vec<Variable>,
    /// Processes, oldest first.
    pub processes: Vec<Process>,
    /// The events that a trace declaration waits for, unless a run may end where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_waits_for: Option<Vec<Awaited>>,
}

/// A process at the end of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Process {
    /// The name of its type.
    pub name: String,
    /// Its priority.
    pub priority: i32,
    /// The file of its next statement.
    pub file: String,
    /// The line of its next statement.
    pub line: usize,
    /// Its control state.
    pub state: u32,
    /// The statements that it can execute next, once they are enabled.
    pub waits_for: Vec<Awaited>,
    /// May a run end there?
    pub valid_end: bool,
    /// Its channels and variables.
    pub variables: Vec<Variable>,
}

/// A statement that a process waits for.
#[derive(Clone, Debug, Serialize)]
pub struct Awaited {
    /// Its line.
    pub line: usize,
    /// Its text.
    pub statement: String,
}

fn variables(pairs: Vec<(String, String)>) -> Vec<Variable> {
    pairs.into_iter().map(|(name, value)| Variable { name, value }).collect()
}

impl EndState {
    /// The state at a moment.
    pub(crate) fn of(simulator: &mut Simulator<'_>, moment: &Moment) -> EndState {
        let there = simulator.variables(moment);
        let process = |process: trefoil_promela::Standing| Process {
            name: process.name,
            priority: process.priority,
            file: process.file,
            line: process.line,
            state: process.state,
            waits_for: process.waits_for.into_iter().map(|(line, statement)| Awaited { line, statement }).collect(),
            valid_end: process.valid_end,
            variables: variables(process.variables),
        };
        let awaited = |list: Vec<(usize, String)>| {
            list.into_iter().map(|(line, statement)| Awaited { line, statement }).collect()
        };
        EndState {
            variables: variables(there.globals),
            processes: there.processes.into_iter().map(process).collect(),
            trace_waits_for: there.trace_waits_for.map(awaited),
        }
    }
}

impl Story {
    /// The story of moves, each with the moment it is made at.
    pub(crate) fn of(simulator: &mut Simulator<'_>, start: &Moment, moves: &[Move]) -> Story {
        Story::with_cycle(simulator, start, moves, None)
    }

    /// The same of a run whose moves from a place on repeat.
    pub(crate) fn with_cycle(
        simulator: &mut Simulator<'_>,
        start: &Moment,
        moves: &[Move],
        repeats_from: Option<usize>,
    ) -> Story {
        let mut statements = Vec::new();
        let mut cycle = None;
        let mut here = start.clone();
        let mut depth = 0;
        for (place, step) in moves.iter().enumerate() {
            if repeats_from == Some(place) {
                cycle = Some(statements.len());
            }
            let told = simulator.tell(&here, step);
            let last = told.len();
            for (at, told) in told.into_iter().enumerate() {
                depth += usize::from(told.begins);
                let error = step.fault.filter(|_| at + 1 == last).map(|fault| fault.kind.to_string());
                let offers = matches!(&told.message, Some(message) if message.way == trefoil_promela::Way::Offered);
                statements.push(Statement::of(told, depth, error, offers && step.acts.len() > 1));
            }
            here = step.after.clone();
        }
        let before = repeats_from.map(|from| moves[..from].iter().map(|step| step.acts.len()).sum());
        let trail = Trail { cycle: before, ..Trail::of(simulator, moves) }.text();
        Story { statements, end: EndState::of(simulator, &here), trail, cycle, steps: moves.len() }
    }
}

/// Where the first statement of a move stands.
pub(crate) fn place_of(model: &Model, step: &Move) -> Option<ReportedPlace> {
    let statement = step.acts.first()?.statement(model);
    let (line, column) = (Some(statement.line), Some(statement.column));
    Some(ReportedPlace { file: statement.file.to_string(), line, column, text: String::new() })
}

impl Statement {
    fn of(told: Told, depth: usize, error: Option<String>, offers: bool) -> Statement {
        Statement {
            depth,
            process: told.process,
            name: told.name,
            priority: told.priority,
            file: told.file,
            line: told.line,
            column: told.column,
            state: told.state,
            statement: told.text,
            transition: told.transition,
            printed: told.printed,
            changes: variables(told.changes),
            created: told.created.into_iter().map(|(process, name)| Created { process, name }).collect(),
            error,
            ended: told.ended,
            offers,
            message: told.message,
        }
    }
}
