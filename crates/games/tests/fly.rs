//! Games that are decided while they are explored: the winners of the oracle, early or at the end, with strategies that
//! do not depend on the number of threads.

use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_games::solve::{Deciding, Decision, PartialSolver, Played, Player, SOLVERS, Wanted, decide};
use trefoil_system::{
    Checked, Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Mark, MarkId, Meaning, Sink, Slot, Step, System,
    Value, Walk,
};
use trefoil_testkit::games::{GameShape, PlainGame, SHAPES, random_game, winners_by_fixpoints};
use trefoil_testkit::{Random, seed};

/// A game as a system with one slot, the vertex, which begins at vertex 0.
struct GameSystem {
    game: PlainGame,
    layout: Layout,
    labels: Arc<Labels>,
    groups: Vec<Group>,
    marks: Vec<Mark>,
    names: Vec<LabelId>,
}

impl GameSystem {
    fn new(game: PlainGame) -> GameSystem {
        let slots = || [0].into_iter().collect();
        let labels = Arc::new(Labels::new());
        let names = (0..8).map(|place| labels.name(&format!("m{place}"))).collect();
        let greatest = game.priority.iter().copied().max().unwrap_or(0);
        let mark = |meaning, values| Mark { meaning, reads: slots(), values };
        GameSystem {
            layout: Layout::new(vec![Slot::bounded("vertex", game.owner.len() as u32)]),
            groups: vec![Group { name: "move".into(), guards: slots(), must_write: slots(), ..Group::default() }],
            marks: vec![mark(Meaning::Owner, 2), mark(Meaning::Priority, greatest + 1)],
            game,
            labels,
            names,
        }
    }
}

impl System for GameSystem {
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
        Ok(vec![0])
    }

    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(GameExplorer(self))
    }
}

struct GameExplorer<'a>(&'a GameSystem);

impl Explorer for GameExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        for (place, &target) in self.0.game.moves[row[0] as usize].iter().enumerate() {
            sink(Step::of_group(GroupId(0), self.0.names[place % 8], &[target]))?;
        }
        Ok(())
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        let vertex = reads[0] as usize;
        Ok(if mark == MarkId(0) { self.0.game.owner[vertex].into() } else { self.0.game.priority[vertex] })
    }
}

fn player(number: u8) -> Player {
    Player::BOTH[usize::from(number)]
}

fn decided(system: &dyn System, options: &Deciding) -> Decision {
    decide(system, options, &Control::unlimited()).unwrap_or_else(|undecided| panic!("{:?}", undecided.cut))
}

/// Rows, and labels and targets of moves.
type Shape = Vec<(Vec<Value>, Vec<(LabelId, usize)>)>;

fn shape(played: &Played) -> Shape {
    let moves = |vertex: &trefoil_games::solve::PlayedVertex| {
        vertex.moves.iter().map(|step| (step.label, step.target)).collect::<Vec<_>>()
    };
    played.vertices.iter().map(|vertex| (vertex.row.clone(), moves(vertex))).collect()
}

#[test]
fn the_winner_is_that_of_the_oracle() {
    let mut random = Random::new(seed());
    for round in 0..1_500 {
        let plain = random_game(SHAPES[round % SHAPES.len()], 1 + random.below(24), &mut random);
        let expected = player(winners_by_fixpoints(&plain)[0]);
        let system = Checked::new(GameSystem::new(plain.clone()));
        let solver = &SOLVERS[round % SOLVERS.len()];
        for partial in [None, Some(PartialSolver::Fatal), Some(PartialSolver::Safe)] {
            for wanted in [Wanted::Nothing, Wanted::Of(player(0)), Wanted::Of(player(1)), Wanted::Winner] {
                let options = Deciding { threads: 1 + round % 3, solver, partial, wanted };
                let decision = decided(&system, &options);
                assert_eq!(decision.winner, expected, "{plain:?}");
                let played = wanted == Wanted::Winner || wanted == Wanted::Of(expected);
                assert_eq!(decision.played.is_some(), played);
            }
        }
    }
}

#[test]
fn a_game_takes_at_most_16_bytes_a_vertex_and_8_an_edge_beside_the_states() {
    let mut random = Random::new(seed());
    for shape in SHAPES {
        let plain = random_game(shape, if shape == GameShape::Dense { 300 } else { 20_000 }, &mut random);
        let system = GameSystem::new(plain);
        for wanted in [Wanted::Nothing, Wanted::Winner] {
            let options = Deciding { threads: 1, partial: None, wanted, ..Deciding::default() };
            let counts = decided(&system, &options).counts;
            // Tables that do not grow with a game, and what is left of a small one.
            let allowed = 16 * counts.vertices + 8 * counts.moves + (1 << 14);
            assert!(counts.bytes > 0 && counts.store_bytes > 0, "{shape:?}: {counts:?}");
            assert!(counts.bytes <= allowed, "{shape:?}: {counts:?}, at most {allowed}");
        }
    }
}

/// A game of `depth` levels of `width` vertices in which odd can reach a vertex without a move of even's in three
/// moves, among many other moves.
fn wide(width: usize, depth: usize, trap: bool) -> PlainGame {
    let mut plain = PlainGame::default();
    let count = width * depth;
    for vertex in 0..count {
        plain.owner.push(1);
        plain.priority.push(0);
        plain.incomplete.push(false);
        let level = vertex / width + 1;
        let next = |place: usize| ((level * width + place % width) % count) as u32;
        plain.moves.push(vec![next(vertex * 5 + 1), next(vertex * 3), next(vertex + 1)]);
    }
    if trap {
        let target = 3 * width + 7;
        plain.owner[target] = 0;
        plain.moves[target].clear();
        plain.moves[0] = vec![width as u32];
        plain.moves[width] = vec![2 * width as u32 + 1, 2 * width as u32];
        plain.moves[2 * width] = vec![3 * width as u32 + 1, target as u32];
    }
    plain
}

#[test]
fn a_near_violation_is_found_before_all_is_explored_and_far_ones_are_not_needed() {
    let system = GameSystem::new(wide(2_000, 40, true));
    let decision = decided(&system, &Deciding { threads: 2, ..Deciding::default() });
    assert_eq!(decision.winner, player(1));
    let played = decision.played.expect("a strategy is wanted");
    // Odd goes straight to the trap.
    assert_eq!(played.vertices.len(), 4);
    assert!(played.vertices[3].moves.is_empty());
    let verdict_only = decided(&system, &Deciding { threads: 1, wanted: Wanted::Nothing, ..Deciding::default() });
    assert_eq!(verdict_only.winner, player(1));
    assert!(verdict_only.early);
    assert!(verdict_only.counts.expanded < 40 * 2_000 / 2, "{:?}", verdict_only.counts);
    let holds = decided(&GameSystem::new(wide(2_000, 40, false)), &Deciding::default());
    assert_eq!((holds.winner, holds.early), (player(0), false));
}

#[test]
fn the_strategy_does_not_depend_on_the_number_of_threads_or_on_when_solvers_run() {
    let mut random = Random::new(seed() + 1);
    for round in 0..60 {
        let plain = random_game(SHAPES[round % SHAPES.len()], 200 + random.below(1_500), &mut random);
        let system = GameSystem::new(plain);
        let mut shapes = Vec::new();
        for threads in [1, 2, 4] {
            for partial in [None, Some(PartialSolver::Known), Some(PartialSolver::Safe)] {
                let options = Deciding { threads, partial, ..Deciding::default() };
                let decision = decided(&system, &options);
                shapes.push((decision.winner, shape(&decision.played.expect("a strategy is wanted"))));
            }
        }
        assert!(shapes.iter().all(|other| *other == shapes[0]));
    }
}

#[test]
fn running_out_is_an_answer_with_counts_at_every_poll() {
    let mut random = Random::new(seed() + 2);
    let system = GameSystem::new(random_game(SHAPES[6], 300, &mut random));
    let options = Deciding { threads: 1, ..Deciding::default() };
    let counting = Control::stopping_at(0, Stopped::Interrupted);
    let whole = decide(&system, &options, &counting).expect("it is not stopped");
    for poll in 1..=counting.polls().min(200) {
        let control = Control::stopping_at(poll, Stopped::Interrupted);
        match decide(&system, &options, &control) {
            // How often solvers run depends on the clock, and so does the number of polls.
            Ok(decision) => assert_eq!(decision.winner, whole.winner),
            Err(undecided) => assert_eq!(undecided.cut, Cut::Stopped),
        }
    }
}
