//! Parity games: random ones of every shape, and their winners straight from the definitions.
//!
//! A play moves along edges; the owner of a vertex chooses. A player without a move loses; else the least priority that
//! recurs decides, and even wins for player 0. Two oracles:
//!
//! - [`winners_by_strategies`] tries every positional strategy of player 0. One of them wins from a vertex when no play
//!   that follows it ends in a vertex of player 0 without moves, and none enters a cycle whose least priority is odd.
//!   That positional strategies suffice is the theorem of Emerson and Jutla (*Tree automata, mu-calculus and
//!   determinacy*, 1991). For games of about ten vertices.
//! - [`winners_by_fixpoints`] evaluates the µ-calculus formula that defines the winning set (Walukiewicz, *Monadic
//!   second order logic on tree-like structures*, 1996) by its nested fixpoints. For games of at most 64 vertices and
//!   few priorities.
//!
//! An incomplete game has vertices that may get more edges. [`extension`] makes a random game that it may become,
//! [`escape`] the one in which every incomplete vertex of a player can move to a vertex where the other player is
//! stuck.

use crate::Random;

/// A game as plain data: vertex `v` is `owner[v]`, `priority[v]` and `moves[v]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainGame {
    /// The player that moves: 0 or 1.
    pub owner: Vec<u8>,
    /// The priorities; the least that recurs decides.
    pub priority: Vec<u32>,
    /// The targets of the edges.
    pub moves: Vec<Vec<u32>>,
    /// Which vertices may have further edges that are not known yet.
    pub incomplete: Vec<bool>,
}

/// What random games look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameShape {
    /// Two or three priorities.
    FewPriorities,
    /// About as many priorities as vertices.
    ManyPriorities,
    /// Many vertices without moves.
    Sinks,
    /// Many vertices with an edge to themselves.
    SelfLoops,
    /// All vertices with a choice belong to one player.
    Solitaire,
    /// Edges lead to vertices of the same priority or of a greater one.
    AlternationFree,
    /// Every vertex has a move, and there are many edges.
    Dense,
    /// Rings of rings, with few edges between them.
    Nested,
}

/// All shapes.
pub const SHAPES: [GameShape; 8] = [
    GameShape::FewPriorities,
    GameShape::ManyPriorities,
    GameShape::Sinks,
    GameShape::SelfLoops,
    GameShape::Solitaire,
    GameShape::AlternationFree,
    GameShape::Dense,
    GameShape::Nested,
];

/// A random complete game of a shape.
pub fn random_game(shape: GameShape, vertices: usize, random: &mut Random) -> PlainGame {
    let priorities = match shape {
        GameShape::ManyPriorities => vertices + 1,
        GameShape::FewPriorities => 2 + random.below(2),
        _ => 2 + random.below(5),
    };
    let mut game = PlainGame::default();
    for _ in 0..vertices {
        game.owner.push(random.below(2) as u8);
        game.priority.push(random.below(priorities) as u32);
        game.incomplete.push(false);
    }
    let player = random.below(2) as u8;
    for vertex in 0..vertices {
        let least = match shape {
            GameShape::Sinks => 0,
            GameShape::Dense => 2,
            _ => usize::from(!random.chance(5)),
        };
        let most = if shape == GameShape::Sinks { 3 } else { 4 };
        let mut degree = least + random.below(most - least);
        if shape == GameShape::Solitaire && game.owner[vertex] != player {
            degree = degree.min(1);
        }
        let mut targets = Vec::new();
        for _ in 0..degree {
            let target = match shape {
                GameShape::Nested if random.chance(70) => (vertex & !3) + (vertex + 1) % 4,
                GameShape::Nested if random.chance(50) => (vertex + 4) % vertices.max(1),
                _ => random.below(vertices),
            };
            targets.push(target.min(vertices - 1) as u32);
        }
        if shape == GameShape::SelfLoops && random.chance(50) && degree > 0 {
            targets.push(vertex as u32);
        }
        if shape == GameShape::AlternationFree {
            targets.retain(|&target| game.priority[target as usize] >= game.priority[vertex]);
        }
        targets.sort_unstable();
        targets.dedup();
        // The solver may not depend on the order of the edges.
        for at in (1..targets.len()).rev() {
            targets.swap(at, random.below(at + 1));
        }
        game.moves.push(targets);
    }
    game
}

/// A random game of a shape in which some vertices are incomplete, and lack some or all of their edges.
pub fn random_incomplete_game(shape: GameShape, vertices: usize, random: &mut Random) -> PlainGame {
    let mut game = random_game(shape, vertices, random);
    let percent = [10, 25, 50][random.below(3)];
    for vertex in 0..vertices {
        if random.chance(percent) {
            game.incomplete[vertex] = true;
            let keep = [0, 50, 100][random.below(3)];
            game.moves[vertex].retain(|_| random.chance(keep));
        }
    }
    game
}

/// A random complete game that an incomplete one may become: more vertices, and more edges from incomplete vertices.
pub fn extension(game: &PlainGame, random: &mut Random) -> PlainGame {
    let mut larger = game.clone();
    let fresh = random.below(4);
    let greatest = game.priority.iter().max().map_or(1, |&most| most as usize + 2);
    for _ in 0..fresh {
        larger.owner.push(random.below(2) as u8);
        larger.priority.push(random.below(greatest) as u32);
        larger.moves.push(Vec::new());
        larger.incomplete.push(true);
    }
    let vertices = larger.owner.len();
    for vertex in 0..vertices {
        if larger.incomplete[vertex] {
            for _ in 0..random.below(4) {
                let target = random.below(vertices) as u32;
                if !larger.moves[vertex].contains(&target) {
                    larger.moves[vertex].push(target);
                }
            }
            larger.incomplete[vertex] = false;
        }
    }
    larger
}

/// The complete game in which every incomplete vertex can also move to a new vertex of `player`, which has no move.
pub fn escape(game: &PlainGame, player: u8) -> PlainGame {
    let mut larger = game.clone();
    let stuck = game.owner.len() as u32;
    for vertex in 0..game.owner.len() {
        if larger.incomplete[vertex] {
            larger.moves[vertex].push(stuck);
            larger.incomplete[vertex] = false;
        }
    }
    larger.owner.push(player);
    larger.priority.push(0);
    larger.moves.push(Vec::new());
    larger.incomplete.push(false);
    larger
}

/// The winner of each vertex, by trying every positional strategy of player 0.
pub fn winners_by_strategies(game: &PlainGame) -> Vec<u8> {
    let vertices = game.owner.len();
    let own: Vec<usize> = (0..vertices).filter(|&v| game.owner[v] == 0 && !game.moves[v].is_empty()).collect();
    let count: usize = own.iter().map(|&v| game.moves[v].len()).product();
    assert!(count <= 1 << 16, "the oracle is for tiny games");
    let mut winner = vec![1; vertices];
    for number in 0..count {
        let mut left = number;
        let mut moves = game.moves.clone();
        for &vertex in &own {
            let chosen = moves[vertex][left % moves[vertex].len()];
            left /= moves[vertex].len();
            moves[vertex] = vec![chosen];
        }
        let lost = lost_plays(game, &moves);
        (0..vertices).filter(|&vertex| !lost[vertex]).for_each(|vertex| winner[vertex] = 0);
    }
    winner
}

/// From which vertices a play can be lost by player 0 when all moves are those of the other player.
fn lost_plays(game: &PlainGame, moves: &[Vec<u32>]) -> Vec<bool> {
    let vertices = moves.len();
    let reach = |from: usize, least: u32| -> Vec<bool> {
        // What is reached by one move or more through vertices of at least this priority.
        let mut seen = vec![false; vertices];
        let mut work = vec![from];
        while let Some(vertex) = work.pop() {
            for &target in &moves[vertex] {
                let target = target as usize;
                if game.priority[target] >= least && !seen[target] {
                    seen[target] = true;
                    work.push(target);
                }
            }
        }
        seen
    };
    let bad: Vec<bool> = (0..vertices)
        .map(|vertex| {
            let stuck = game.owner[vertex] == 0 && moves[vertex].is_empty();
            let odd = game.priority[vertex] % 2 == 1 && reach(vertex, game.priority[vertex])[vertex];
            stuck || odd
        })
        .collect();
    (0..vertices)
        .map(|vertex| bad[vertex] || reach(vertex, 0).iter().zip(&bad).any(|(&reached, &bad)| reached && bad))
        .collect()
}

/// The winner of each vertex, by nested fixpoints.
pub fn winners_by_fixpoints(game: &PlainGame) -> Vec<u8> {
    let vertices = game.owner.len();
    assert!(vertices <= 64, "the oracle is for small games");
    let mut priorities: Vec<u32> = game.priority.clone();
    priorities.sort_unstable();
    priorities.dedup();
    let mut sets = vec![0u64; priorities.len()];
    let won = nested(game, &priorities, 0, &mut sets);
    (0..vertices).map(|vertex| u8::from(won >> vertex & 1 == 0)).collect()
}

/// The value of the formula from one fixpoint on, the sets of the outer ones being given.
fn nested(game: &PlainGame, priorities: &[u32], depth: usize, sets: &mut Vec<u64>) -> u64 {
    let vertices = game.owner.len();
    if depth == priorities.len() {
        let in_set = |target: &u32| {
            let place = priorities.binary_search(&game.priority[*target as usize]).expect("a priority of the game");
            sets[place] >> *target & 1 == 1
        };
        let wins = |vertex: &usize| match game.owner[*vertex] {
            0 => game.moves[*vertex].iter().any(in_set),
            _ => game.moves[*vertex].iter().all(in_set),
        };
        return (0..vertices).filter(wins).fold(0, |set, vertex| set | 1 << vertex);
    }
    let all = if vertices == 64 { u64::MAX } else { (1 << vertices) - 1 };
    sets[depth] = if priorities[depth].is_multiple_of(2) { all } else { 0 };
    loop {
        let value = nested(game, priorities, depth + 1, sets);
        if value == sets[depth] {
            return value;
        }
        sets[depth] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_oracles_agree() {
        let mut random = Random::new(crate::seed());
        for round in 0..2_000 {
            let shape = SHAPES[round % SHAPES.len()];
            let game = random_game(shape, 1 + random.below(8), &mut random);
            assert_eq!(winners_by_strategies(&game), winners_by_fixpoints(&game), "{game:?}");
        }
    }

    #[test]
    fn a_player_without_a_move_loses() {
        let game = PlainGame {
            owner: vec![0, 1, 0],
            priority: vec![0, 1, 1],
            moves: vec![vec![], vec![], vec![0, 1]],
            incomplete: vec![false; 3],
        };
        assert_eq!(winners_by_strategies(&game), [1, 0, 0]);
        assert_eq!(winners_by_fixpoints(&game), [1, 0, 0]);
    }
}
