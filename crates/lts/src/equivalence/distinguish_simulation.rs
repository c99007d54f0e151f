//! A formula without negation, of least depth, that one state satisfies and a state that does not simulate it does not.
//!
//! Where `t` does not simulate `s`, there is a step `s –a→ s'` such that no `a`-step of `t` leads to a state that
//! simulates `s'`. Then `<a>` of the conjunction, over the `a`-successors `t'` of `t`, of formulas for `s'` against
//! `t'` holds for `s` and not for `t`. For ready simulation there is a second reason: a label that only one of them can
//! do, and then `<a>true` or `[a]false` is the formula.
//!
//! This is a game on pairs, which the player that shows the difference wins. The pairs that can occur are collected and
//! then won in rounds: first those that are won immediately, then those with a step after which all answers are won. So
//! each pair is won in the first possible round, and its formula has that depth, the least possible. The input is a
//! system without little brothers: a formula that fails for a state also fails for the states that it simulates, and a
//! formula that holds for a state also holds for the states that simulate it, so no formula is lost.
//!
//! Cost: the number of pairs that occur, each times the product of the two states' degrees.

use std::collections::HashMap;

use trefoil_control::{Control, Stopped};
use trefoil_system::{Formula, FormulaId, LabelId, StateId};

use crate::explicit::Lts;

/// A step of the first state of a pair that the second cannot match.
struct Move {
    pair: u32,
    label: LabelId,
    /// The pairs that are left after the answers.
    after: Vec<u32>,
    open: u32,
}

/// How a pair is won.
enum Won {
    By(u32),
    /// Only the first of them can do the label, or only the second.
    Ready(LabelId, bool),
}

struct Game<'a> {
    lts: &'a Lts,
    ready: bool,
    above: &'a dyn Fn(StateId, StateId) -> bool,
    number_of: HashMap<(StateId, StateId), u32>,
    pairs: Vec<(StateId, StateId)>,
    moves: Vec<Move>,
    /// By pair, the moves that wait for it.
    waiting: Vec<Vec<u32>>,
    won: Vec<Option<Won>>,
    /// Pairs that were won, in order.
    order: Vec<u32>,
}

/// A formula that holds in one state and not in the other, which does not simulate it; `above(s, t)` says whether `t`
/// simulates `s`.
pub(super) fn distinguish(
    lts: &Lts,
    (holds, fails): (StateId, StateId),
    ready: bool,
    above: &dyn Fn(StateId, StateId) -> bool,
    control: &Control,
) -> Result<Formula, Stopped> {
    control.progress().begin("finding a formula", 0);
    let mut game = Game {
        lts,
        ready,
        above,
        number_of: HashMap::new(),
        pairs: Vec::new(),
        moves: Vec::new(),
        waiting: Vec::new(),
        won: Vec::new(),
        order: Vec::new(),
    };
    game.number(holds, fails);
    let mut at = 0;
    let mut bytes = 0;
    while at < game.pairs.len() {
        bytes += game.moves_of(at as u32) * 16 + 64;
        at += 1;
        if bytes > 1 << 20 {
            control.afford(bytes)?;
            bytes = 0;
        }
    }
    let mut next = 0usize;
    while game.won[0].is_none() {
        if next.is_multiple_of(1 << 12) {
            control.check()?;
        }
        let pair =
            *game.order.get(next).expect("some formula distinguishes a state from one that does not simulate it");
        next += 1;
        for number in std::mem::take(&mut game.waiting[pair as usize]) {
            let step = &mut game.moves[number as usize];
            step.open -= 1;
            if step.open == 0 {
                let pair = step.pair;
                game.win(pair, Won::By(number));
            }
        }
    }
    Ok(game.formula())
}

impl Game<'_> {
    fn number(&mut self, s: StateId, t: StateId) -> u32 {
        *self.number_of.entry((s, t)).or_insert_with(|| {
            self.pairs.push((s, t));
            self.waiting.push(Vec::new());
            self.won.push(None);
            self.pairs.len() as u32 - 1
        })
    }

    fn win(&mut self, pair: u32, how: Won) {
        if self.won[pair as usize].is_none() {
            self.won[pair as usize] = Some(how);
            self.order.push(pair);
        }
    }

    /// Adds the moves of a pair; how many pairs they name.
    fn moves_of(&mut self, pair: u32) -> usize {
        let (s, t) = self.pairs[pair as usize];
        let (steps, answers) = (self.lts.outgoing(s), self.lts.outgoing(t));
        if self.ready {
            let only = |some: &[crate::Transition], others: &[crate::Transition]| {
                let missing = |label: &LabelId| !others.iter().any(|step| step.label == *label);
                some.iter().map(|step| step.label).find(missing)
            };
            let how = only(steps, answers).map(|label| Won::Ready(label, true));
            if let Some(how) = how.or_else(|| only(answers, steps).map(|label| Won::Ready(label, false))) {
                self.win(pair, how);
                return 0;
            }
        }
        let mut named = 0;
        for step in steps {
            let matching = answers.iter().filter(|answer| answer.label == step.label);
            if matching.clone().any(|answer| (self.above)(step.target, answer.target)) {
                continue;
            }
            let mut after: Vec<u32> = matching.map(|answer| self.number(step.target, answer.target)).collect();
            after.sort_unstable();
            after.dedup();
            named += after.len() + 1;
            let number = self.moves.len() as u32;
            for &pair in &after {
                self.waiting[pair as usize].push(number);
            }
            let open = after.len() as u32;
            self.moves.push(Move { pair, label: step.label, after, open });
            if open == 0 {
                self.win(pair, Won::By(number));
                break;
            }
        }
        named
    }

    /// The formula of the first pair, from those of the pairs that were won before it.
    fn formula(&self) -> Formula {
        let mut formula = Formula::new(self.lts.labels().clone());
        let mut part_of: Vec<Option<FormulaId>> = vec![None; self.pairs.len()];
        // Only what the first pair needs; a pair needs pairs that were won earlier.
        let mut needed = vec![false; self.pairs.len()];
        needed[0] = true;
        for &pair in self.order.iter().rev() {
            if let (true, Some(Won::By(number))) = (needed[pair as usize], &self.won[pair as usize]) {
                self.moves[*number as usize].after.iter().for_each(|&after| needed[after as usize] = true);
            }
        }
        for &pair in self.order.iter().filter(|&&pair| needed[pair as usize]) {
            let part = match self.won[pair as usize].as_ref().expect("it is in the order of the won") {
                Won::By(number) => {
                    let step = &self.moves[*number as usize];
                    let parts: Vec<FormulaId> =
                        step.after.iter().map(|&after| part_of[after as usize].expect("won before")).collect();
                    let all = formula.and(parts);
                    formula.diamond(step.label, all)
                }
                Won::Ready(label, first) => {
                    let truth = formula.truth();
                    let can = formula.diamond(*label, truth);
                    if *first { can } else { formula.not(can) }
                }
            };
            part_of[pair as usize] = Some(part);
        }
        formula.set_root(part_of[0].expect("the first pair is won"));
        formula
    }
}
