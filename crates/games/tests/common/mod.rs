//! Games of the testkit as games of this crate.

use trefoil_control::Control;
use trefoil_games::solve::{Game, GameBuilder, Player};
use trefoil_testkit::games::PlainGame;

pub(crate) fn player(number: u8) -> Player {
    Player::BOTH[usize::from(number)]
}

pub(crate) fn game(plain: &PlainGame) -> Game {
    let mut builder = GameBuilder::default();
    for vertex in 0..plain.owner.len() {
        builder.vertex(player(plain.owner[vertex]), plain.priority[vertex]);
        plain.moves[vertex].iter().for_each(|&target| builder.edge(target));
        if plain.incomplete[vertex] {
            builder.leave_incomplete();
        }
    }
    builder.finish(&Control::unlimited()).expect("there is no budget")
}
