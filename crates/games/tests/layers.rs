//! Recursive solvers on layers that are sets, as other representations of sets have them, against layers of lists.

mod common;

use common::{game, player};
use trefoil_control::{Control, Stopped};
use trefoil_games::solve::{
    Arena, Bits, Explicit, Moves, PartialSolver, Player, SetLayers, Solution, Vertex, VertexSet, solve_partially,
    verify, zielonka,
};
use trefoil_testkit::games::{SHAPES, random_game, random_incomplete_game, winners_by_fixpoints};
use trefoil_testkit::{Random, seed};

/// A game in memory that has nothing but sets.
struct Sets<'a>(Explicit<'a>);

impl Arena for Sets<'_> {
    type Set = Bits;
    type Strategy = Moves;
    type Layers<'l>
        = SetLayers<'l, Self>
    where
        Self: 'l;

    fn none(&self) -> Bits {
        self.0.none()
    }

    fn all(&self) -> Bits {
        self.0.all()
    }

    fn owned_by(&self, player: Player) -> Bits {
        self.0.owned_by(player)
    }

    fn sinks(&self) -> Bits {
        self.0.sinks()
    }

    fn incomplete(&self) -> Bits {
        self.0.incomplete()
    }

    fn levels(&self) -> u32 {
        self.0.levels()
    }

    fn player_of(&self, level: u32) -> Player {
        self.0.player_of(level)
    }

    fn at_level(&self, level: u32, within: &Bits) -> Bits {
        self.0.at_level(level, within)
    }

    fn least_level(&self, within: &Bits) -> Option<u32> {
        self.0.least_level(within)
    }

    fn blank(&self) -> Moves {
        self.0.blank()
    }

    fn step(
        &self,
        player: Player,
        within: &Bits,
        among: &Bits,
        target: &Bits,
        moves: &mut Moves,
    ) -> Result<Bits, Stopped> {
        self.0.step(player, within, among, target, moves)
    }

    /// By steps, straight from the definition.
    fn attract(
        &self,
        player: Player,
        within: &Bits,
        candidates: &Bits,
        set: &mut Bits,
        moves: &mut Moves,
    ) -> Result<(), Stopped> {
        loop {
            let more = self.step(player, within, &candidates.without(set), set, moves)?;
            if VertexSet::is_empty(&more) {
                return Ok(());
            }
            set.unite(&more);
        }
    }

    fn completed(&self) -> Self {
        Sets(self.0.completed())
    }

    fn layers(&self, open: Bits) -> Result<SetLayers<'_, Self>, Stopped> {
        Ok(SetLayers::new(self, open))
    }

    fn poll(&self) -> Result<(), Stopped> {
        self.0.poll()
    }
}

#[test]
fn layers_of_sets_and_of_lists_give_the_same_winners() {
    let mut random = Random::new(seed());
    let control = Control::unlimited();
    for round in 0..3_000 {
        let plain = random_game(SHAPES[round % SHAPES.len()], 1 + random.below(18), &mut random);
        if plain.moves.iter().any(Vec::is_empty) {
            continue;
        }
        let game = game(&plain);
        let winners = winners_by_fixpoints(&plain);
        let sets = Sets(Explicit::new(&game, 1, &control));
        let (mut set_moves, mut list_moves) = (sets.blank(), sets.blank());
        let from_sets = zielonka(&sets, sets.all(), &mut set_moves).expect("there is no budget");
        let from_lists = zielonka(&sets.0, sets.all(), &mut list_moves).expect("there is no budget");
        for (won, moves) in [(from_sets, set_moves), (from_lists, list_moves)] {
            let solution = Solution { won, moves };
            verify(&game, &solution, true).unwrap_or_else(|flaw| panic!("{flaw}: {plain:?}"));
            for (vertex, &winner) in winners.iter().enumerate() {
                assert_eq!(solution.winner(vertex as Vertex), Some(player(winner)), "{plain:?}");
            }
        }
    }
}

#[test]
fn partial_solvers_find_the_same_with_sets_alone() {
    let mut random = Random::new(seed() + 1);
    let control = Control::unlimited();
    let all = [PartialSolver::Known, PartialSolver::Solitaire, PartialSolver::Forced, PartialSolver::Fatal];
    for round in 0..2_000 {
        let plain = random_incomplete_game(SHAPES[round % SHAPES.len()], 1 + random.below(18), &mut random);
        let game = game(&plain);
        let sets = Sets(Explicit::new(&game, 1, &control));
        for how in all.into_iter().chain([PartialSolver::Safe]) {
            let mut found = Vec::new();
            let blank = || ([sets.none(), sets.none()], sets.blank());
            let (mut won, mut moves) = blank();
            solve_partially(&sets, how, &sets.all(), &mut won, &mut moves, zielonka).expect("there is no budget");
            found.push(Solution { won, moves });
            let (mut won, mut moves) = blank();
            solve_partially(&sets.0, how, &sets.all(), &mut won, &mut moves, zielonka).expect("there is no budget");
            found.push(Solution { won, moves });
            assert_eq!(found[0].won, found[1].won, "{how:?}: {plain:?}");
            for solution in &found {
                verify(&game, solution, false).unwrap_or_else(|flaw| panic!("{how:?}: {flaw}: {plain:?}"));
            }
        }
    }
}
