//! Coupled similarity, as a game whose lost positions are formulas.
//!
//! Coupled similarity (J. Parrow, P. Sjödin, *Multiway synchronization verified with coupled simulation*, 1992; here
//! the form without stability, R. van Glabbeek, *The linear time – branching time spectrum II*, 1993) lies between weak
//! bisimilarity and weak similarity in both directions: choices by `τ` may be made gradually in one system and at once
//! in the other. It is the greatest preorder `⊑` such that `s ⊑ t` implies
//!
//! - a step `s –a→ s'` is matched by `t ⇒ –a→ ⇒ t'` with `s' ⊑ t'`, and `s –τ→ s'` by `t ⇒ t'` with `s' ⊑ t'`;
//! - *coupling*: some `t'` with `t ⇒ t'` has `t' ⊑ s`;
//!
//! and two states are coupled similar when each is below the other. B. Bisping, U. Nestmann, *Computing coupled
//! similarity* (2019), play this as a game on pairs: the attacker names a step or the coupling, the defender answers.
//! We collect the pairs that occur in it, from both directions, on the quotient modulo weak bisimilarity, which is
//! finer, and win pairs for the attacker in rounds, as [`super::distinguish_simulation`] does. What is not won at the
//! end is a coupled simulation.
//!
//! A pair that is won gives a formula that holds in `s` and not in `t`: for a step, `⟨τ* a τ*⟩` of the conjunction of
//! the formulas of the answers; for the coupling, `⟨τ*⟩` of the conjunction of their negations, which `s` satisfies
//! without a step. Coupled similar states agree on formulas that are made in this way: if `s ⊑ t` and `s ⇒ s'` where
//! formulas `φ` fail, then `t ⇒ t'` with `s' ⊑ t'`, and by coupling `t' ⇒ t''` with `t'' ⊑ s'`, where they fail, too.
//!
//! Cost: quadratic in the states of the quotient for the pairs, each times its steps and the states behind `τ*`.

use std::collections::HashMap;

use trefoil_control::{Control, Stopped};
use trefoil_system::{Formula, FormulaId, LabelId, StateId};

use crate::explicit::Lts;

/// A way to attack a pair, and the pairs that are left after the answers.
struct Attack {
    pair: u32,
    /// A step by this label, or the coupling.
    step: Option<LabelId>,
    after: Vec<u32>,
    open: u32,
}

struct Game<'a> {
    lts: &'a Lts,
    /// By state, the states that `τ*` leads to, ascending.
    silent: Vec<Vec<u32>>,
    /// By state and visible label, the states that `τ* a τ*` leads to.
    weak: HashMap<(u32, LabelId), Vec<u32>>,
    number_of: HashMap<(u32, u32), u32>,
    pairs: Vec<(u32, u32)>,
    attacks: Vec<Attack>,
    /// By pair, the attacks that wait for it.
    waiting: Vec<Vec<u32>>,
    won: Vec<Option<u32>>,
    /// Pairs that were won, in order.
    order: Vec<u32>,
}

/// A formula that holds in the first state and not in the second, or the other way round, which is said; none when they
/// are coupled similar. The system has no cycles of `τ`.
pub(super) fn difference(
    lts: &Lts,
    (left, right): (StateId, StateId),
    control: &Control,
) -> Result<Option<(Formula, bool)>, Stopped> {
    control.progress().begin("comparing by coupled simulation", 0);
    let mut game = Game {
        lts,
        silent: silent(lts, control)?,
        weak: HashMap::new(),
        number_of: HashMap::new(),
        pairs: Vec::new(),
        attacks: Vec::new(),
        waiting: Vec::new(),
        won: Vec::new(),
        order: Vec::new(),
    };
    let firsts = [game.number(left.0, right.0), game.number(right.0, left.0)];
    let (mut at, mut bytes) = (0, 0);
    while at < game.pairs.len() {
        bytes += game.attacks_on(at as u32) * 16 + 64;
        at += 1;
        if bytes > 1 << 20 {
            control.afford(bytes)?;
            bytes = 0;
        }
    }
    let mut next = 0;
    while let Some(&pair) = game.order.get(next) {
        next += 1;
        if next.is_multiple_of(1 << 12) {
            control.check()?;
        }
        for number in std::mem::take(&mut game.waiting[pair as usize]) {
            let attack = &mut game.attacks[number as usize];
            attack.open -= 1;
            if attack.open == 0 {
                game.win(number);
            }
        }
    }
    let place = |&first: &u32| game.order.iter().position(|&pair| pair == first);
    // The one that is won first has the smaller formula.
    let found = firsts.iter().filter_map(|first| place(first).map(|place| (place, *first))).min();
    Ok(found.map(|(_, first)| (game.formula(first), first == firsts[0])))
}

/// By state, the states that `τ*` leads to.
fn silent(lts: &Lts, control: &Control) -> Result<Vec<Vec<u32>>, Stopped> {
    let mut all = Vec::with_capacity(lts.state_count());
    let mut size = 0;
    for state in lts.states() {
        let mut reached = vec![state.0];
        let mut at = 0;
        while at < reached.len() {
            for step in lts.outgoing(StateId(reached[at])).iter().filter(|step| step.label == LabelId::TAU) {
                if !reached.contains(&step.target.0) {
                    reached.push(step.target.0);
                }
            }
            at += 1;
        }
        reached.sort_unstable();
        size += reached.len() * 4 + 24;
        if size > 1 << 20 {
            control.afford(size)?;
            size = 0;
        }
        all.push(reached);
    }
    Ok(all)
}

impl Game<'_> {
    fn number(&mut self, s: u32, t: u32) -> u32 {
        *self.number_of.entry((s, t)).or_insert_with(|| {
            self.pairs.push((s, t));
            self.waiting.push(Vec::new());
            self.won.push(None);
            self.pairs.len() as u32 - 1
        })
    }

    /// The states that `τ* a τ*` leads to.
    fn behind(&mut self, state: u32, label: LabelId) -> Vec<u32> {
        if label == LabelId::TAU {
            return self.silent[state as usize].clone();
        }
        if let Some(known) = self.weak.get(&(state, label)) {
            return known.clone();
        }
        let mut reached = Vec::new();
        for &before in &self.silent[state as usize] {
            for step in self.lts.outgoing(StateId(before)).iter().filter(|step| step.label == label) {
                reached.extend_from_slice(&self.silent[step.target.index()]);
            }
        }
        reached.sort_unstable();
        reached.dedup();
        self.weak.insert((state, label), reached.clone());
        reached
    }

    fn win(&mut self, number: u32) {
        let pair = self.attacks[number as usize].pair;
        if self.won[pair as usize].is_none() {
            self.won[pair as usize] = Some(number);
            self.order.push(pair);
        }
    }

    /// Adds the attacks on a pair; how many pairs they name.
    fn attacks_on(&mut self, pair: u32) -> usize {
        let (s, t) = self.pairs[pair as usize];
        // A state is below itself.
        if s == t {
            return 0;
        }
        let mut named = 0;
        for step in self.lts.outgoing(StateId(s)) {
            let answers = self.behind(t, step.label);
            named += self.attack(pair, Some(step.label), answers.iter().map(|&answer| (step.target.0, answer)));
        }
        let answers = self.silent[t as usize].clone();
        named + self.attack(pair, None, answers.iter().map(|&answer| (answer, s)))
    }

    fn attack(&mut self, pair: u32, step: Option<LabelId>, answers: impl Iterator<Item = (u32, u32)>) -> usize {
        let number = self.attacks.len() as u32;
        let mut after = Vec::new();
        for (s, t) in answers {
            // An answer that leads to the same state is never lost.
            if s == t {
                return after.len();
            }
            after.push((s, t));
        }
        let after: Vec<u32> = after.into_iter().map(|(s, t)| self.number(s, t)).collect();
        for &other in &after {
            self.waiting[other as usize].push(number);
        }
        let (named, open) = (after.len() + 1, after.len() as u32);
        self.attacks.push(Attack { pair, step, after, open });
        if open == 0 {
            self.win(number);
        }
        named
    }

    /// The formula of a pair, from those of the pairs that were won before it.
    fn formula(&self, first: u32) -> Formula {
        let mut formula = Formula::new(self.lts.labels().clone());
        let mut needed = vec![false; self.pairs.len()];
        needed[first as usize] = true;
        let attack = |pair: u32| &self.attacks[self.won[pair as usize].expect("it was won") as usize];
        for &pair in self.order.iter().rev().filter(|&&pair| self.won[pair as usize].is_some()) {
            if needed[pair as usize] {
                attack(pair).after.iter().for_each(|&after| needed[after as usize] = true);
            }
        }
        let mut part_of: Vec<Option<FormulaId>> = vec![None; self.pairs.len()];
        for &pair in self.order.iter().filter(|&&pair| needed[pair as usize]) {
            let Attack { step, after, .. } = attack(pair);
            let mut parts: Vec<FormulaId> =
                after.iter().map(|&after| part_of[after as usize].expect("won before")).collect();
            if step.is_none() {
                parts = parts.into_iter().map(|part| formula.not(part)).collect();
            }
            let all = formula.and(parts);
            part_of[pair as usize] = Some(formula.weakly(step.filter(|label| label.is_visible()), all));
        }
        formula.set_root(part_of[first as usize].expect("it was won"));
        formula
    }
}
