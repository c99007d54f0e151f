//! Partial solvers on random incomplete games: what they find stays true in every extension, and what the strongest of
//! them leaves undecided changes hands in some extension.

mod common;

use common::{game, player};
use trefoil_control::Control;
use trefoil_games::solve::{
    Arena, Bits, Explicit, Game, PartialSolver, SOLVERS, Solution, Vertex, VertexSet, solve_partially, verify,
};
use trefoil_testkit::games::{
    PlainGame, SHAPES, escape, extension, random_game, random_incomplete_game, winners_by_fixpoints,
};
use trefoil_testkit::{Random, seed};

const ALL: [PartialSolver; 5] =
    [PartialSolver::Known, PartialSolver::Solitaire, PartialSolver::Forced, PartialSolver::Fatal, PartialSolver::Safe];

fn partially(game: &Game, how: PartialSolver, solver: usize, known: &Bits) -> Solution {
    let control = Control::unlimited();
    let arena = Explicit::new(game, 1, &control);
    let (mut won, mut moves) = ([arena.none(), arena.none()], arena.blank());
    solve_partially(&arena, how, known, &mut won, &mut moves, SOLVERS[solver].run).expect("there is no budget");
    Solution { won, moves }
}

fn all(plain: &PlainGame) -> Bits {
    Bits::all(plain.owner.len())
}

#[test]
fn no_vertex_that_is_declared_won_changes_hands_in_an_extension() {
    let mut random = Random::new(seed());
    for round in 0..4_000 {
        let plain = random_incomplete_game(SHAPES[round % SHAPES.len()], 1 + random.below(10), &mut random);
        let game = game(&plain);
        let mut larger: Vec<PlainGame> = (0..4).map(|_| extension(&plain, &mut random)).collect();
        larger.extend([escape(&plain, 0), escape(&plain, 1)]);
        let winners: Vec<Vec<u8>> = larger.iter().map(winners_by_fixpoints).collect();
        for how in ALL {
            for solver in 0..SOLVERS.len() {
                let solution = partially(&game, how, solver, &all(&plain));
                verify(&game, &solution, false).unwrap_or_else(|flaw| panic!("{how:?}: {flaw}: {plain:?}"));
                for vertex in 0..plain.owner.len() {
                    let Some(winner) = solution.winner(vertex as Vertex) else { continue };
                    for (larger, winners) in larger.iter().zip(&winners) {
                        let there = player(winners[vertex]);
                        assert_eq!(there, winner, "{how:?}: vertex {vertex} of {plain:?} in {larger:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_vertex_that_stays_undecided_changes_hands_in_an_extension() {
    let mut random = Random::new(seed() + 1);
    let mut undecided = 0;
    for round in 0..6_000 {
        let plain = random_incomplete_game(SHAPES[round % SHAPES.len()], 1 + random.below(10), &mut random);
        let game = game(&plain);
        // As the game is now, nothing being added.
        let now = winners_by_fixpoints(&plain);
        let escapes = [escape(&plain, 0), escape(&plain, 1)].map(|larger| winners_by_fixpoints(&larger));
        for solver in 0..SOLVERS.len() {
            let solution = partially(&game, PartialSolver::Safe, solver, &all(&plain));
            for vertex in (0..plain.owner.len()).filter(|&vertex| solution.winner(vertex as Vertex).is_none()) {
                undecided += 1;
                let there = escapes[usize::from(now[vertex])][vertex];
                assert_ne!(there, now[vertex], "vertex {vertex} of {plain:?} could be decided");
            }
        }
    }
    assert!(undecided > 10_000, "{undecided}");
}

#[test]
fn stronger_partial_solvers_find_more_and_none_more_than_the_strongest() {
    let mut random = Random::new(seed() + 2);
    let mut found = [0; ALL.len()];
    for round in 0..3_000 {
        let plain = random_incomplete_game(SHAPES[round % SHAPES.len()], 2 + random.below(20), &mut random);
        let game = game(&plain);
        let solutions = ALL.map(|how| partially(&game, how, 0, &all(&plain)));
        for (count, solution) in found.iter_mut().zip(&solutions) {
            *count += solution.won[0].len() + solution.won[1].len();
            for player in 0..2 {
                assert!(solutions[0].won[player].is_subset(&solution.won[player]), "{plain:?}");
                assert!(solution.won[player].is_subset(&solutions[4].won[player]), "{plain:?}");
            }
        }
    }
    assert!(found[0] < found[1] && found[1] < found[2] && found[2] < found[3] && found[3] < found[4], "{found:?}");
}

#[test]
fn vertices_that_are_not_known_count_as_incomplete() {
    let mut random = Random::new(seed() + 3);
    for round in 0..3_000 {
        let plain = random_game(SHAPES[round % SHAPES.len()], 2 + random.below(9), &mut random);
        let size = plain.owner.len();
        let bound = random.below(size + 1);
        let mut cut = plain.clone();
        for vertex in bound..size {
            cut.incomplete[vertex] = true;
            cut.moves[vertex].clear();
        }
        let known = Bits::of(size, |vertex| (vertex as usize) < bound);
        for how in ALL {
            let here = partially(&game(&plain), how, 0, &known);
            let there = partially(&game(&cut), how, 0, &all(&cut));
            assert_eq!(here.won, there.won, "{how:?}, {bound} vertices of {plain:?}");
        }
    }
}

#[test]
fn a_complete_vertex_without_moves_is_lost_and_found_by_every_solver() {
    // A violation of a safety property: odd can move to a vertex in which even is stuck; the rest is not explored.
    let plain = PlainGame {
        owner: vec![1, 1, 0, 1],
        priority: vec![0, 0, 0, 0],
        moves: vec![vec![3, 1], vec![2], vec![], vec![]],
        incomplete: vec![false, false, false, true],
    };
    for how in ALL {
        let solution = partially(&game(&plain), how, 0, &all(&plain));
        assert_eq!(solution.winner(0), Some(player(1)), "{how:?}");
        assert_eq!(solution.winner(3), None, "{how:?}");
    }
}
