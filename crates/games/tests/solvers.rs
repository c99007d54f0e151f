//! Every solver against the oracles and the verifier, on random games of every shape; the verifier on wrong solutions.

mod common;

use common::{game, player};
use trefoil_control::{Control, Stopped};
use trefoil_games::solve::pgsolver::{read_game, read_solution, write_game, write_solution};
use trefoil_games::solve::{
    Arena, Explicit, Game, NO_VERTEX, SOLVERS, Solution, Vertex, solve, solve_in_parts, verify,
};
use trefoil_testkit::games::{PlainGame, SHAPES, random_game, winners_by_fixpoints, winners_by_strategies};
use trefoil_testkit::{Random, seed};

fn check(plain: &PlainGame, expected: &[u8]) {
    let game = game(plain);
    let control = Control::unlimited();
    for solver in &SOLVERS {
        for threads in [1, 3] {
            let how = if threads == 1 { solve } else { solve_in_parts };
            let solution = how(&game, solver, threads, &control).expect("there is no budget");
            for (vertex, &winner) in expected.iter().enumerate() {
                let found = solution.winner(vertex as Vertex);
                assert_eq!(found, Some(player(winner)), "{}: vertex {vertex} of {plain:?}", solver.name);
            }
            verify(&game, &solution, true).unwrap_or_else(|flaw| panic!("{}: {flaw}: {plain:?}", solver.name));
        }
        // The solver alone, without what is done before it: it may not depend on that.
        if plain.moves.iter().all(|moves| !moves.is_empty()) {
            let arena = Explicit::new(&game, 1, &control);
            let mut moves = arena.blank();
            let won = (solver.run)(&arena, arena.all(), &mut moves).expect("there is no budget");
            let solution = Solution { won, moves };
            for (vertex, &winner) in expected.iter().enumerate() {
                assert_eq!(solution.winner(vertex as Vertex), Some(player(winner)), "{}: {plain:?}", solver.name);
            }
            verify(&game, &solution, true).unwrap_or_else(|flaw| panic!("{} alone: {flaw}: {plain:?}", solver.name));
        }
    }
}

#[test]
fn solvers_agree_with_all_strategies_of_tiny_games() {
    let mut random = Random::new(seed());
    for round in 0..6_000 {
        let plain = random_game(SHAPES[round % SHAPES.len()], 1 + random.below(8), &mut random);
        check(&plain, &winners_by_strategies(&plain));
    }
}

#[test]
fn solvers_agree_with_nested_fixpoints_of_small_games() {
    let mut random = Random::new(seed() + 1);
    for round in 0..1_500 {
        let shape = SHAPES[round % SHAPES.len()];
        let plain = random_game(shape, 9 + random.below(12), &mut random);
        check(&plain, &winners_by_fixpoints(&plain));
    }
}

#[test]
fn solvers_agree_with_each_other_on_larger_games() {
    let mut random = Random::new(seed() + 2);
    let control = Control::unlimited();
    for round in 0..160 {
        let shape = SHAPES[round % SHAPES.len()];
        let vertices = 50 + random.below(1_000);
        let game = game(&random_game(shape, vertices, &mut random));
        let solutions: Vec<Solution> = SOLVERS
            .iter()
            // Fixpoint iteration takes long where there are many priorities.
            .filter(|solver| solver.name != "fixpoint" || game.levels() < 20)
            .map(|solver| {
                let solution = solve(&game, solver, 2, &control).expect("there is no budget");
                let in_parts = solve_in_parts(&game, solver, 1, &control).expect("there is no budget");
                for solution in [&solution, &in_parts] {
                    verify(&game, solution, true).unwrap_or_else(|flaw| panic!("{}, {shape:?}: {flaw}", solver.name));
                }
                assert_eq!(solution.won, in_parts.won, "{shape:?}");
                solution
            })
            .collect();
        assert!(solutions.iter().all(|solution| solution.won == solutions[0].won), "{shape:?}");
    }
}

/// A ladder in which one player attracts long rounds: `width` vertices in each of `height` levels.
fn ladder(width: usize, height: usize) -> PlainGame {
    let mut plain = PlainGame::default();
    for level in 0..height {
        for place in 0..width {
            plain.owner.push((level % 2) as u8);
            plain.priority.push(1);
            plain.incomplete.push(false);
            let next = |place: usize| ((level + 1) * width + place % width) as u32;
            plain.moves.push(if level + 1 == height { vec![] } else { vec![next(place), next(place * 7 + 1)] });
        }
    }
    plain
}

/// Friedmann's recursive ladder, on which Zielonka's algorithm takes exponential time (2011); there the greatest
/// priority decides.
fn recursive_ladder(steps: usize) -> PlainGame {
    let (up, down, high, core, low) = (0, 1, 2, 3, 4);
    let at = |step: usize, place: usize| (step * 5 + place) as u32;
    let mut plain = PlainGame::default();
    let top = (steps as u32 + 1) * 3 + 3;
    let mut vertex = |owner: usize, priority: usize, moves: Vec<u32>| {
        plain.owner.push(owner as u8);
        plain.priority.push(top.next_multiple_of(2) - priority as u32);
        plain.moves.push(moves);
        plain.incomplete.push(false);
    };
    for step in 0..steps {
        let (player, other) = (step % 2, 1 - step % 2);
        let is_last = step + 1 == steps;
        let priority = (step + 1) * 3 + 2;
        let before = if step == 0 { vec![] } else { vec![at(step - 1, core)] };
        vertex(other, other, [before.clone(), vec![at(step, down)]].concat());
        vertex(player, other, vec![at(step, up), at(step, high)]);
        let next = if is_last { at(0, down) } else { at(step + 1, down) };
        vertex(other, priority, vec![next, at(step, core)]);
        let after = if is_last { vec![] } else { vec![at(step + 1, core)] };
        vertex(player, priority - 1, [before, after, vec![at(step, low)]].concat());
        vertex(other, priority - 2, vec![at(step, core), next]);
    }
    plain
}

#[test]
fn a_game_that_takes_long_is_solved_after_all_and_stopped_on_request() {
    let plain = recursive_ladder(12);
    let solved = game(&plain);
    let control = Control::unlimited();
    let solutions = SOLVERS.each_ref().map(|solver| solve(&solved, solver, 1, &control).expect("there is no budget"));
    for solution in &solutions {
        verify(&solved, solution, true).expect("it is right");
        assert_eq!(solution.won, solutions[0].won);
    }
    // Far too large for the recursive solver.
    let large = game(&recursive_ladder(300));
    let control = Control::stopping_at(20_000, Stopped::Interrupted);
    assert_eq!(solve(&large, &SOLVERS[0], 1, &control).err(), Some(Stopped::Interrupted));
}

#[test]
fn rounds_on_several_threads_attract_what_one_thread_attracts() {
    let plain = ladder(40_000, 4);
    let game = game(&plain);
    let control = Control::unlimited();
    let one = solve(&game, &SOLVERS[0], 1, &control).expect("there is no budget");
    let four = solve(&game, &SOLVERS[0], 4, &control).expect("there is no budget");
    assert_eq!(one.won, four.won);
    verify(&game, &four, true).expect("it is right");
    for threads in [2, 3] {
        let again = solve(&game, &SOLVERS[0], threads, &control).expect("there is no budget");
        assert_eq!(four.moves, again.moves, "moves do not depend on the number of threads");
    }
    assert_eq!(four.moves, one.moves, "moves do not depend on the number of threads");
    // A recursive solver, without vertices that have no moves.
    let mut plain = plain;
    for (vertex, moves) in plain.moves.iter_mut().enumerate() {
        if moves.is_empty() {
            moves.push((vertex % 40_000) as u32);
        }
        plain.priority[vertex] = (vertex % 3) as u32;
    }
    let game = common::game(&plain);
    let one = solve(&game, &SOLVERS[0], 1, &control).expect("there is no budget");
    verify(&game, &one, true).expect("it is right");
    for threads in [2, 3] {
        let again = solve(&game, &SOLVERS[0], threads, &control).expect("there is no budget");
        assert_eq!((&one.won, &one.moves), (&again.won, &again.moves), "{threads} threads");
    }
}

#[test]
fn the_verifier_finds_every_change_that_makes_a_solution_wrong() {
    let mut random = Random::new(seed() + 3);
    let control = Control::unlimited();
    let mut rejected = 0;
    for round in 0..3_000 {
        let plain = random_game(SHAPES[round % SHAPES.len()], 2 + random.below(7), &mut random);
        let game = game(&plain);
        let mut solution = solve(&game, &SOLVERS[0], 1, &control).expect("there is no budget");
        let vertex = random.below(game.len()) as Vertex;
        let winner = solution.winner(vertex).expect("it is solved");
        match random.below(3) {
            // The other player wins a vertex: whatever its moves, that is wrong.
            0 => {
                solution.won[winner.index()].remove(vertex);
                solution.won[winner.opponent().index()].insert(vertex);
                if let Some(&any) = game.successors(vertex).first() {
                    solution.moves[vertex as usize] = any;
                }
                assert!(verify(&game, &solution, true).is_err(), "{plain:?}");
                rejected += 1;
            }
            // Another move: the winner must still be the winner when it moves so.
            1 if game.owner(vertex) == winner && !game.successors(vertex).is_empty() => {
                let moves = game.successors(vertex);
                solution.moves[vertex as usize] = moves[random.below(moves.len())];
                let mut forced = plain.clone();
                for other in 0..game.len() {
                    let next = solution.moves[other];
                    if next != NO_VERTEX {
                        forced.moves[other] = vec![next];
                    }
                }
                let holds = winners_by_strategies(&forced) == winners_by_strategies(&plain);
                assert_eq!(verify(&game, &solution, true).is_ok(), holds, "{plain:?} {:?}", solution.moves);
                rejected += usize::from(!holds);
            }
            _ => {
                solution.won[winner.index()].remove(vertex);
                assert!(verify(&game, &solution, true).is_err());
            }
        }
    }
    assert!(rejected > 500, "{rejected}");
}

#[test]
fn games_and_solutions_survive_their_text() {
    let mut random = Random::new(seed() + 4);
    let control = Control::unlimited();
    for round in 0..800 {
        let plain = random_game(SHAPES[round % SHAPES.len()], 1 + random.below(8), &mut random);
        let game = game(&plain);
        let text = write_game(&game);
        let read = read_game("g.pg", text.as_bytes(), &control).unwrap_or_else(|error| panic!("{error:?}: {text}"));
        let solve = |game: &Game| solve(game, &SOLVERS[0], 1, &control).expect("there is no budget");
        let solution = solve(&read.game);
        assert_eq!(solution.won, solve(&game).won, "{text}");
        let written = write_solution(&read, &solution);
        let again = read_solution("g.sol", written.as_bytes(), &read, &control).expect("it is a solution");
        assert_eq!(again.won, solution.won);
        assert_eq!(again.moves, solution.moves);
    }
}

#[test]
fn a_solver_that_is_stopped_says_so_at_every_poll() {
    let mut random = Random::new(seed() + 5);
    let plain = random_game(SHAPES[1], 40, &mut random);
    let game = game(&plain);
    for solver in &SOLVERS {
        let counting = Control::stopping_at(0, Stopped::Interrupted);
        let whole = solve(&game, solver, 1, &counting).expect("it is not stopped");
        for poll in 1..=counting.polls() {
            let control = Control::stopping_at(poll, Stopped::Interrupted);
            assert_eq!(solve(&game, solver, 1, &control).err(), Some(Stopped::Interrupted));
        }
        let counting = Control::stopping_at(0, Stopped::Interrupted);
        solve_in_parts(&game, solver, 1, &counting).expect("it is not stopped");
        for poll in 1..=counting.polls() {
            let control = Control::stopping_at(poll, Stopped::Interrupted);
            assert_eq!(solve_in_parts(&game, solver, 1, &control).err(), Some(Stopped::Interrupted));
        }
        assert_eq!(solve(&game, solver, 1, &Control::unlimited()).expect("no budget").won, whole.won);
    }
}
