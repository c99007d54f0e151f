//! How fast parity games are solved, by each solver, and in how many bytes; beside Oink where its path is given.
//!
//! Games of [VERTICES] vertices: random ones with few, some and many priorities, where players move in turn or not, and
//! games as formulas make them of models (a torus with two kinds of steps is the model): a safety property that holds,
//! an alternation-free property, and one with alternation. The time of a solver is that of solving with all that is
//! done before it; the verifier runs afterwards, with a time of its own. Oink reads the game as text; its time is what
//! it reports for preprocessing and solving, without reading, with one worker.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trefoil_control::{Control, Limits, peak_memory, resident_memory};
use trefoil_explore::{Options, Order, search};
use trefoil_games::solve::pgsolver::{read_game, write_game};
use trefoil_games::solve::{
    Deciding, Game, GameBuilder, PartialSolver, Player, SOLVERS, Solver, Wanted, decide, solve, verify,
};
use trefoil_lts::random::Random;
use trefoil_system::{
    Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Mark, MarkId, Meaning, Sink, Slot, SlotSet, Step, System,
    Value, Walk,
};

/// A solver that takes longer is stopped.
const LIMIT: Duration = Duration::from_secs(60);

/// The solvers of Oink that are compared.
const OINK: [&str; 4] = ["--zlk", "--npp", "--tl", "--fpi"];

/// A name, and what makes a game of about so many vertices.
type Family = (&'static str, fn(usize) -> Game);

const FAMILIES: [Family; 13] = [
    ("random, 2 priorities", |vertices| random(vertices, 2, false, 1)),
    ("random, 64 priorities", |vertices| random(vertices, 64, false, 2)),
    ("random, a priority a vertex", |vertices| random(vertices, vertices, false, 3)),
    ("players in turn, 3 priorities", |vertices| random(vertices, 3, true, 4)),
    ("players in turn, 16 priorities", |vertices| random(vertices, 16, true, 5)),
    ("players in turn, 1000 priorities", |vertices| random(vertices, 1000, true, 6)),
    ("one player, 64 priorities", |vertices| scattered(vertices, 64, 7, |_, _| 0)),
    ("edges to themselves, 8 priorities", |vertices| looping(vertices, 8, 8)),
    ("a ladder", ladder),
    ("a clique", |vertices| clique((vertices as f64 * 2.5).sqrt() as usize)),
    ("safety of a torus", |vertices| torus(vertices, Property::Safety)),
    ("alternation-free on a torus", |vertices| torus(vertices, Property::AlternationFree)),
    ("alternating on a torus", |vertices| torus(vertices, Property::Alternating)),
];

/// `games [VERTICES] [PATH of oink]`; with a family and a solver as further arguments it is the process that one solver
/// is measured in, so that memory of the solvers before it does not count.
pub(crate) fn run(arguments: &[String]) {
    let vertices: usize = arguments.first().and_then(|number| number.parse().ok()).unwrap_or(1_000_000);
    let number = |at: usize| arguments.get(at).and_then(|number| number.parse::<usize>().ok());
    if let (Some(family), Some(solver)) = (number(1), number(2)) {
        return measure(&(FAMILIES[family].1)(vertices), &SOLVERS[solver]);
    }
    on_the_fly(vertices);
    let program = std::env::current_exe().expect("this program");
    for (family, (name, make)) in FAMILIES.iter().enumerate() {
        let game = make(vertices);
        let (count, edges) = (game.len(), game.edge_count());
        let bytes = (game.bytes() as f64 - 8.0 * edges as f64) / count as f64;
        println!(
            "{name}: {count} vertices, {edges} edges, {} levels; {bytes:.1} bytes a vertex, 8 an edge",
            game.levels()
        );
        let theirs = arguments.get(1).and_then(|oink| compare(&game, oink));
        drop(game);
        for solver in 0..SOLVERS.len() {
            let arguments = ["games".to_string(), vertices.to_string(), family.to_string(), solver.to_string()];
            let output = Command::new(&program).args(arguments).output().expect("this program runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let said = String::from_utf8_lossy(&output.stdout);
            print!("{said}");
            let ours = said.split_whitespace().nth(1).and_then(|seconds| seconds.parse::<f64>().ok());
            if let (Some(ours), Some(theirs)) = (ours, theirs) {
                println!("    {:.2} times Oink's best", ours / theirs.max(0.001));
            }
        }
    }
}

/// Measures one solver.
fn measure(game: &Game, solver: &Solver) {
    // Where the system allows it, the high-water mark is reset here.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let before = resident_memory().unwrap_or_default();
    let control = Control::new(Limits { time: Some(LIMIT), memory: None });
    let start = Instant::now();
    let solved = solve(game, solver, 1, &control);
    let seconds = start.elapsed().as_secs_f64();
    let peak = peak_memory().unwrap_or_default().saturating_sub(before) as f64 / game.len() as f64;
    let Ok(solution) = solved else {
        return println!("  {:<12} more than {} s", solver.name, LIMIT.as_secs());
    };
    let start = Instant::now();
    verify(game, &solution, true).unwrap_or_else(|flaw| panic!("{}: {flaw}", solver.name));
    let won = solution.won[0].len() as f64 / game.len() as f64 * 100.0;
    let verified = start.elapsed().as_secs_f64();
    println!(
        "  {:<12} {seconds:.3} s, {peak:.1} bytes a vertex beside the game while solving; even wins {won:.1} %; verified in {verified:.3} s",
        solver.name
    );
}

/// Solves a game with Oink. Returns the seconds of its fastest solver.
fn compare(game: &Game, oink: &str) -> Option<f64> {
    let file: PathBuf = std::env::temp_dir().join(format!("trefoil-games-{}.pg", std::process::id()));
    let text = write_game(game);
    let start = Instant::now();
    let read = read_game("game.pg", text.as_bytes(), &Control::unlimited()).expect("it is what was written");
    println!("  text of {:.0} MB read in {:.3} s", text.len() as f64 / 1e6, start.elapsed().as_secs_f64());
    assert_eq!(read.game.len(), game.len());
    fs::write(&file, text).expect("space in the temporary folder");
    let mut best: Option<f64> = None;
    for solver in OINK {
        let output = Command::new(oink).arg(&file).args([solver, "-w", "-1", "-z", "60"]).output();
        let output = output.unwrap_or_else(|error| panic!("{oink}: {error}"));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let took = |what: &str| -> Option<f64> {
            let line = text.lines().rfind(|line| line.contains(what))?;
            line.split(what).nth(1)?.trim().trim_end_matches(" sec.").parse().ok()
        };
        // A game that is solved by preprocessing has no further time.
        match (took("preprocessing took"), took("solving took").unwrap_or(0.0), took("parsing took")) {
            (Some(before), after, Some(reading)) => {
                println!("  oink {solver:<7} {:.3} s; reading {reading:.3} s", before + after);
                best = Some(best.map_or(before + after, |best| best.min(before + after)));
            }
            _ => println!("  oink {solver:<7} no answer: {}", text.lines().last().unwrap_or("")),
        }
    }
    let _ = fs::remove_file(file);
    best
}

/// One to four moves from each vertex, to any vertex or, when players move in turn, to any of the other player.
fn random(vertices: usize, priorities: usize, in_turn: bool, seed: u64) -> Game {
    if !in_turn {
        return scattered(vertices, priorities, seed, |_, random| random.below(2));
    }
    let mut random = Random::new(seed);
    let mut builder = GameBuilder::with_capacity(vertices, vertices * 5 / 2);
    for vertex in 0..vertices {
        let owner = vertex % 2;
        builder.vertex(Player::BOTH[owner], random.below(priorities) as u32);
        for _ in 0..1 + random.below(4) {
            let target = random.below(vertices);
            builder.edge((target / 2 * 2 + 1 - owner).min(vertices - 1 - owner) as u32);
        }
    }
    builder.finish(&Control::unlimited()).expect("there is no budget")
}

/// One to four moves from each vertex to any vertex; owners as given.
fn scattered(vertices: usize, priorities: usize, seed: u64, owner: fn(usize, &mut Random) -> usize) -> Game {
    let mut random = Random::new(seed);
    let mut builder = GameBuilder::with_capacity(vertices, vertices * 5 / 2);
    for vertex in 0..vertices {
        let owner = owner(vertex, &mut random);
        builder.vertex(Player::BOTH[owner], random.below(priorities) as u32);
        (0..1 + random.below(4)).for_each(|_| builder.edge(random.below(vertices) as u32));
    }
    builder.finish(&Control::unlimited()).expect("there is no budget")
}

/// Moves to any vertex, and from every third vertex to itself.
fn looping(vertices: usize, priorities: usize, seed: u64) -> Game {
    let mut random = Random::new(seed);
    let mut builder = GameBuilder::with_capacity(vertices, vertices * 3);
    for vertex in 0..vertices {
        builder.vertex(Player::BOTH[random.below(2)], random.below(priorities) as u32);
        (0..1 + random.below(4)).for_each(|_| builder.edge(random.below(vertices) as u32));
        if vertex.is_multiple_of(3) {
            builder.edge(vertex as u32);
        }
    }
    builder.finish(&Control::unlimited()).expect("there is no budget")
}

/// Two rails, one for each player and its priority, whose rungs lead to each other.
fn ladder(vertices: usize) -> Game {
    let mut builder = GameBuilder::with_capacity(vertices, vertices * 2);
    for vertex in 0..vertices {
        builder.vertex(Player::BOTH[vertex % 2], (vertex % 2) as u32);
        [1, 2].iter().for_each(|step| builder.edge(((vertex + step) % vertices) as u32));
    }
    builder.finish(&Control::unlimited()).expect("there is no budget")
}

/// An edge between any two vertices, each with its own priority.
fn clique(vertices: usize) -> Game {
    let mut builder = GameBuilder::with_capacity(vertices, vertices * vertices);
    for vertex in 0..vertices {
        builder.vertex(Player::BOTH[vertex % 2], vertex as u32);
        (0..vertices).filter(|&other| other != vertex).for_each(|other| builder.edge(other as u32));
    }
    builder.finish(&Control::unlimited()).expect("there is no budget")
}

/// A torus of states with a property, as a system: slots for the node of the property and for the state.
struct TorusSystem {
    side: u32,
    /// Is there a state, near the initial one, that breaks the property?
    broken: bool,
    layout: Layout,
    labels: Arc<Labels>,
    groups: Vec<Group>,
    marks: Vec<Mark>,
}

impl TorusSystem {
    fn new(side: u32, broken: bool) -> TorusSystem {
        let both: SlotSet = [0, 1].into_iter().collect();
        let node: SlotSet = [0].into_iter().collect();
        let group = Group { name: "move".into(), guards: both.clone(), must_write: both, ..Group::default() };
        let mark = |meaning| Mark { meaning, reads: node.clone(), values: 2 };
        TorusSystem {
            side,
            broken,
            layout: Layout::new(vec![Slot::bounded("node", 3), Slot::bounded("state", side * side)]),
            labels: Arc::new(Labels::new()),
            groups: vec![group],
            marks: vec![mark(Meaning::Owner), mark(Meaning::Priority)],
        }
    }
}

impl System for TorusSystem {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(vec![0, 0])
    }

    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(TorusExplorer(self))
    }
}

struct TorusExplorer<'a>(&'a TorusSystem);

/// `nu X. [true]X && (mu Y. <true>Y || goal)`: the nodes are X, its box, and Y.
impl Explorer for TorusExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let (side, states) = (self.0.side, self.0.side * self.0.side);
        let (node, state) = (row[0], row[1]);
        let right = state / side * side + (state % side + 1) % side;
        let steps = [right, (state + side) % states, (right + side) % states];
        let mut go = |node: Value, state: Value| sink(Step::of_group(GroupId(0), LabelId::TAU, &[node, state]));
        match node {
            0 => [1, 2].into_iter().try_for_each(|node| go(node, state)),
            1 => steps.into_iter().try_for_each(|state| go(0, state)),
            // A state that cannot reach a goal.
            _ if self.0.broken && state == side * 40 + 40 => Ok(()),
            _ if state.is_multiple_of(97) => go(0, state),
            _ => steps[..2].iter().try_for_each(|&state| go(2, state)),
        }
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        Ok(match mark.index() {
            0 => Value::from(reads[0] != 2),
            _ => Value::from(reads[0] == 2),
        })
    }
}

/// Explores games of systems, alone and while deciding them.
fn on_the_fly(vertices: usize) {
    let side = ((vertices / 3) as f64).sqrt() as u32;
    for broken in [false, true] {
        let system = TorusSystem::new(side, broken);
        let control = Control::unlimited();
        let start = Instant::now();
        let options = Options { order: Order::Steps, ..Options::default() };
        let states = search(&system, &options, &control, || ()).counts.states;
        println!(
            "on the fly, broken: {broken}; exploring {states} states alone {:.3} s",
            start.elapsed().as_secs_f64()
        );
        for (name, partial) in [("at the end", None), ("early", Some(PartialSolver::Safe))] {
            for wanted in [Wanted::Nothing, Wanted::Of(Player::Odd)] {
                let start = Instant::now();
                let decided = decide(&system, &Deciding { partial, wanted, ..Deciding::default() }, &control);
                let decision = decided.expect("there is no budget");
                println!(
                    "  {name:<10} {:.3} s, {} wins, {} vertices expanded; partial solvers ran {} times for {:.3} s; a \
                     strategy of {} vertices",
                    start.elapsed().as_secs_f64(),
                    decision.winner.name(),
                    decision.counts.expanded,
                    decision.counts.calls,
                    decision.counts.solving.as_secs_f64(),
                    decision.played.map_or(0, |played| played.vertices.len())
                );
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Property {
    /// `nu X. [true]X && φ`.
    Safety,
    /// `nu X. [true]X && (mu Y. <a>Y || goal)`.
    AlternationFree,
    /// `nu X. mu Y. [a]X && (<b>Y || goal)`, as fairness makes it.
    Alternating,
}

/// A torus of states with steps `a` to the right and `b` (two of them) downwards, with goals here and there, and a
/// property of it.
fn torus(vertices: usize, property: Property) -> Game {
    // X, Y, the conjunction in X, the disjunction in Y.
    const NODES: usize = 4;
    let side = ((vertices / NODES) as f64).sqrt() as usize;
    let states = side * side;
    let mut builder = GameBuilder::with_capacity(states * NODES, states * NODES * 2);
    let goal = |state: usize| state.is_multiple_of(97);
    let right = |state: usize| state / side * side + (state % side + 1) % side;
    let down = |state: usize| (state + side) % states;
    let slanted = |state: usize| (right(state) + side) % states;
    let at = |node: usize, state: usize| (state * NODES + node) as u32;
    for state in 0..states {
        let mut vertex = |owner: Player, priority: u32, moves: &[u32]| {
            builder.vertex(owner, priority);
            moves.iter().for_each(|&target| builder.edge(target));
        };
        let steps = |node: usize| [at(node, right(state)), at(node, down(state)), at(node, slanted(state))];
        match property {
            Property::Safety => {
                vertex(Player::Odd, 0, &[at(1, state), at(2, state)]);
                vertex(Player::Odd, 0, &steps(0));
                vertex(Player::Odd, 0, &[at(3, state), at(1, state)]);
                vertex(Player::Odd, 0, &[]);
            }
            Property::AlternationFree => {
                vertex(Player::Odd, 0, &[at(1, state), at(2, state)]);
                vertex(Player::Odd, 0, &steps(0));
                let goals: &[u32] =
                    if goal(state) { &[at(3, state)] } else { &[at(2, right(state)), at(2, down(state))] };
                vertex(Player::Even, 1, goals);
                vertex(Player::Odd, 1, &[]);
            }
            Property::Alternating => {
                vertex(Player::Odd, 0, &[at(1, state)]);
                vertex(Player::Odd, 1, &[at(2, state), at(3, state)]);
                vertex(Player::Odd, 2, &[at(0, right(state))]);
                let moves = [at(1, down(state)), at(1, slanted(state)), at(0, state)];
                vertex(Player::Even, 2, if goal(state) { &moves } else { &moves[..2] });
            }
        }
    }
    builder.finish(&Control::unlimited()).expect("there is no budget")
}
