//! Jobs on parity games in files.

use std::path::{Path, PathBuf};

use serde::Serialize;
use trefoil_control::counted;
use trefoil_draw::{Edge, Graph, Node, Options, Shape};
use trefoil_games::solve::pgsolver::{PgError, PgGame, read_game, read_solution, write_solution};
use trefoil_games::solve::{Player, SOLVERS, Solution, Vertex, find_flaw, solve, solver};
use trefoil_source::{Diagnostic, Place};

use crate::look::{draw_to, format_of};
use crate::problem::{TOO_LARGE_TO_DRAW, UNREADABLE};
use crate::{Choice, Job, Problem, Resources, Verdict, read_file, save};

/// The solvers.
pub const GAME_SOLVERS: &[Choice] = &[
    Choice { name: SOLVERS[0].name, about: SOLVERS[0].about },
    Choice { name: SOLVERS[1].name, about: SOLVERS[1].about },
    Choice { name: SOLVERS[2].name, about: SOLVERS[2].about },
];

/// The most vertices of a game that is drawn.
const MOST_DRAWN: usize = 500;

/// A game to solve.
#[derive(Clone, Debug)]
pub struct Solving {
    /// The file, in PGSolver's format; `-` is standard input.
    pub file: PathBuf,
    /// The solver, by its name in [`GAME_SOLVERS`].
    pub solver: &'static str,
    /// Where the solution goes, in PGSolver's format.
    pub output: Option<PathBuf>,
    /// A solution to verify instead of solving the game.
    pub check: Option<PathBuf>,
    /// Where a picture goes.
    pub picture: Option<PathBuf>,
    /// How many threads attract where an attractor is large.
    pub threads: usize,
}

/// A game that was solved, or whose solution was verified.
#[derive(Clone, Debug, Serialize)]
pub struct GameReport {
    /// The file.
    pub file: String,
    /// Holds when the game was solved, or when the solution to verify is right.
    pub verdict: Verdict,
    /// Vertices.
    pub vertices: usize,
    /// Edges.
    pub edges: usize,
    /// Different priorities, those of one parity without one of the other between them counted once.
    pub priorities: u32,
    /// The identifier of the vertex that the game starts with.
    pub start: u32,
    /// The winner of that vertex: `even` or `odd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<&'static str>,
    /// How many vertices even wins, and odd.
    pub won: WonReport,
    /// The solver, or nothing when a solution was verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<&'static str>,
    /// The solution that was verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flaw: Option<String>,
    /// Where the solution was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The solution, when it goes to standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solution: Option<String>,
    /// Where the picture was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// How many vertices each player wins.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WonReport {
    /// Even.
    pub even: usize,
    /// Odd.
    pub odd: usize,
}

/// Solves a game, or verifies a solution of it.
pub fn solve_game(task: &Solving, job: &Job) -> Result<GameReport, Problem> {
    let picture = task.picture.as_deref().map(|picture| format_of(Some(picture), None)).transpose()?;
    let file = task.file.display().to_string();
    job.control.progress().begin("reading the game", 0);
    let game = read_game(&file, bytes(&task.file, job)?, &job.control).map_err(problem)?;
    if task.picture.is_some() && game.game.len() > MOST_DRAWN {
        let why = format!("a picture of more than {} is unreadable", counted(MOST_DRAWN as u64, "vertex"));
        return Err(Diagnostic::error(TOO_LARGE_TO_DRAW, why, Place::File(file)).into());
    }
    let mut flaw = None;
    let (solution, used) = match &task.check {
        None => {
            job.control.progress().begin("solving", 0);
            let used = solver(task.solver).expect("the parser accepts only names of the table");
            (solve(&game.game, used, task.threads, &job.control)?, Some(used.name))
        }
        Some(given) => {
            let name = given.display().to_string();
            let solution = read_solution(&name, &bytes(given, job)?, &game, &job.control).map_err(problem)?;
            (solution, None)
        }
    };
    job.control.progress().begin("verifying", 0);
    if let Some(found) = find_flaw(&game.game, &solution, true, &job.control)? {
        let words = found.words(|vertex| game.identifier(vertex).to_string());
        assert!(used.is_none(), "the solver found a wrong solution: {words}");
        flaw = Some(words);
    }
    if let (Some(output), Some(format)) = (&task.picture, picture) {
        let graph = pictured(&file, &game, &solution);
        draw_to(output, &graph, format, Options::default(), &job.control)?;
    }
    let mut written = None;
    if let Some(output) = &task.output {
        let text = write_solution(&game, &solution);
        if output.as_os_str() == "-" {
            written = Some(text);
        } else {
            save(output, &text, &job.control)?;
        }
    }
    let named = |path: &PathBuf| path.display().to_string();
    Ok(GameReport {
        verdict: if flaw.is_some() { Verdict::Fails } else { Verdict::Holds },
        vertices: game.game.len(),
        edges: game.game.edge_count(),
        priorities: game.game.levels(),
        start: game.identifier(game.start),
        winner: solution.winner(game.start).map(Player::name),
        won: WonReport { even: solution.won[0].len(), odd: solution.won[1].len() },
        solver: used,
        checked: task.check.as_ref().map(named),
        flaw,
        output: task.output.as_ref().filter(|_| written.is_none()).map(named),
        solution: written,
        picture: task.picture.as_ref().map(named),
        resources: Resources::new(&job.control),
        file,
    })
}

fn bytes(file: &Path, job: &Job) -> Result<Vec<u8>, Problem> {
    read_file(file, job)?.map_err(|why| {
        let name = file.display().to_string();
        Diagnostic::error(UNREADABLE, trefoil_source::cannot_read(&name, &why), Place::File(name)).into()
    })
}

fn problem(error: PgError) -> Problem {
    match error {
        PgError::Diagnostic(diagnostic) => Problem::from(*diagnostic),
        PgError::Stopped(stopped) => Problem::Stopped(stopped),
    }
}

/// A picture: each vertex with its priority, even's in brackets `<>`, odd's in `[]`; the moves of winners are solid.
fn pictured(file: &str, game: &PgGame, solution: &Solution) -> Graph {
    let mut graph = Graph { caption: format!("{file}: <even>, [odd], priority after the colon"), ..Graph::default() };
    for vertex in 0..game.game.len() as Vertex {
        let identifier = game.identifier(vertex);
        let priority = game.priorities[vertex as usize];
        let inside = format!("{identifier}: {priority}");
        let owner = game.game.owner(vertex);
        let text = if owner == Player::Even { format!("<{inside}>") } else { format!("[{inside}]") };
        let name = game.names.get(vertex as usize).filter(|name| !name.is_empty());
        let winner = solution.winner(vertex).map_or("no player", Player::name);
        let mut title = format!("vertex {identifier} of {}, won by {winner}", owner.name());
        if let Some(name) = name {
            title = format!("{name}\n{title}");
        }
        let shape = if owner == Player::Even { Shape::Round } else { Shape::Box };
        graph.nodes.push(Node { text, title, initial: vertex == game.start, shape, ..Node::default() });
        let chosen = solution.moves[vertex as usize];
        for &target in game.game.successors(vertex) {
            let label = String::new();
            graph.edges.push(Edge { source: vertex as usize, target: target as usize, label, quiet: target != chosen });
        }
    }
    graph
}
