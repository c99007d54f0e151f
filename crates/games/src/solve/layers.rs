//! A subgame that a recursive solver takes apart, layer by layer.
//!
//! A recursive solver removes an attractor from its game, solves the rest, and often has to solve a part of the rest
//! again. What it removed are disjoint *layers*, one above the other: the topmost one was removed last. A vertex is
//! *open*, that is in the subgame that is to be solved now, or in one layer, where it has a *believed winner*. The
//! subgame of a layer is its vertices and those above it. When a layer is closed, its vertices count as above the layer
//! below it, each with the winner that it has.
//!
//! This is what keeps recursion in little memory: a subgame is not stored for each call, because it is what lies above.
//! [`SetLayers`] has layers as sets, in any representation; for games in memory [`super::lists`] has them as parts of
//! one list.

use trefoil_control::Stopped;

use super::arena::{Arena, VertexSet};
use super::game::Player;

/// Layers of a game; see the head of this file.
pub trait Layers<Set, Strategy> {
    /// Makes a layer of the open vertices of the least level, with those of the next levels that occur while they are
    /// good for the same player, and of what the player attracts to them in what is open. They are its *heads*. Returns
    /// the player, which is believed to win the layer; nothing when no vertex is open.
    fn take_least(&mut self, strategy: &mut Strategy) -> Result<Option<Player>, Stopped>;

    /// Lets the opponent attract, in the subgame of the topmost layer, to what it is believed to win above the layer.
    /// Returns whether it attracts anything; if so, it is now believed to win that, too. No vertex may be open, and
    /// what is above must be solved.
    fn lose(&mut self, player: Player, strategy: &mut Strategy) -> Result<bool, Stopped>;

    /// Records moves of the player from the heads of the topmost layer to what it wins.
    fn settle(&mut self, player: Player, strategy: &mut Strategy) -> Result<(), Stopped>;

    /// Opens what the player is believed to win in the subgame of the topmost layer. The rest of the subgame becomes
    /// the layer. Returns whether any vertex is open now.
    fn reopen(&mut self, player: Player) -> Result<bool, Stopped>;

    /// Closes the topmost layer.
    fn close(&mut self);

    /// The believed winners of all vertices, when every layer is closed.
    fn won(self) -> [Set; 2];
}

/// Layers as sets.
pub struct SetLayers<'a, A: Arena> {
    arena: &'a A,
    open: A::Set,
    layers: Vec<SetLayer<A::Set>>,
    /// What was won when the last layer was closed.
    won: [A::Set; 2],
}

struct SetLayer<S> {
    heads: S,
    /// The vertices of the layer.
    own: S,
    owner: Player,
    /// The believed winners of what is above.
    above: [S; 2],
}

impl<'a, A: Arena> SetLayers<'a, A> {
    /// No layer; all of these vertices are open.
    pub fn new(arena: &'a A, open: A::Set) -> SetLayers<'a, A> {
        SetLayers { arena, open, layers: Vec::new(), won: [arena.none(), arena.none()] }
    }

    fn top(&mut self) -> &mut SetLayer<A::Set> {
        self.layers.last_mut().expect("there is a layer")
    }
}

impl<S: VertexSet> SetLayer<S> {
    /// What a player is believed to win of the subgame of the layer.
    fn won_by(&self, player: Player) -> S {
        let mut won = self.above[player.index()].clone();
        if self.owner == player {
            won.unite(&self.own);
        }
        won
    }
}

impl<A: Arena> Layers<A::Set, A::Strategy> for SetLayers<'_, A> {
    fn take_least(&mut self, strategy: &mut A::Strategy) -> Result<Option<Player>, Stopped> {
        let arena = self.arena;
        arena.poll()?;
        let Some(level) = arena.least_level(&self.open) else { return Ok(None) };
        let player = arena.player_of(level);
        let mut heads = arena.at_level(level, &self.open);
        let mut rest = self.open.without(&heads);
        while let Some(next) = arena.least_level(&rest).filter(|&next| arena.player_of(next) == player) {
            // Operations on sets may have been stopped, and then nothing is removed.
            arena.poll()?;
            let more = arena.at_level(next, &rest);
            heads.unite(&more);
            rest.subtract(&more);
        }
        let mut own = heads.clone();
        arena.attract(player, &self.open, &self.open, &mut own, strategy)?;
        self.open.subtract(&own);
        self.layers.push(SetLayer { heads, own, owner: player, above: [arena.none(), arena.none()] });
        Ok(Some(player))
    }

    fn lose(&mut self, player: Player, strategy: &mut A::Strategy) -> Result<bool, Stopped> {
        let arena = self.arena;
        let opponent = player.opponent();
        let layer = self.top();
        if layer.above[opponent.index()].is_empty() {
            return Ok(false);
        }
        let rest = layer.won_by(player);
        let mut set = layer.above[opponent.index()].clone();
        let mut within = rest.clone();
        within.unite(&set);
        arena.attract(opponent, &within, &rest, &mut set, strategy)?;
        if set == layer.above[opponent.index()] {
            return Ok(false);
        }
        layer.own.subtract(&set);
        layer.above[player.index()].subtract(&set);
        layer.above[opponent.index()] = set;
        Ok(true)
    }

    fn settle(&mut self, player: Player, strategy: &mut A::Strategy) -> Result<(), Stopped> {
        let arena = self.arena;
        let layer = self.top();
        let mine = layer.won_by(player);
        arena.step(player, &mine, &layer.heads, &mine, strategy).map(drop)
    }

    fn reopen(&mut self, player: Player) -> Result<bool, Stopped> {
        let none = self.arena.none();
        let layer = self.top();
        let open = layer.won_by(player);
        let lost = layer.won_by(player.opponent());
        *layer = SetLayer { heads: none.clone(), own: lost, owner: player.opponent(), above: [none.clone(), none] };
        self.open = open;
        Ok(!self.open.is_empty())
    }

    fn close(&mut self) {
        let layer = self.layers.pop().expect("there is a layer");
        let below = self.layers.last_mut().map_or(&mut self.won, |below| &mut below.above);
        for player in Player::BOTH {
            below[player.index()].unite(&layer.won_by(player));
        }
    }

    fn won(self) -> [A::Set; 2] {
        self.won
    }
}
