//! `diamond`: `τ` is eliminated without making sets of states.
//!
//! After Roscoe, Gardiner, Goldsmith, Hulance, Jackson and Scattergood, *Hierarchical compression for model-checking
//! CSP* (1995). When every cycle of `τ` has become one state ([`super::tau_loops`]), the new transitions of a state are
//! all those of the states that it reaches by `τ`; it accepts what the stable ones among them accept, and diverges if
//! one of them does. Of two transitions with one label, one is removed if `τ` leads from the other's target to its own:
//! whatever follows it also follows the other. Only the initial state and targets of remaining transitions are states
//! of the result. So the result never has more states than the argument, however much nondeterminism there is; a normal
//! form can.
//!
//! All covered transitions can be removed in one step because `τ` is acyclic: in a chain of transitions that cover each
//! other, the last one stays.
//!
//! *Divergence.* A state that only loops has no visible transitions and no acceptance, so only the mark of divergence
//! represents it: the mark is collected over all states that `τ` reaches, not only over those that are kept. Otherwise
//! a diverging process would appear not to diverge.
//!
//! Cost: the sum of the states and transitions that `τ` reaches from each state that is kept, at worst quadratic; it
//! stops at a limit.

use std::collections::HashMap;

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, StateId};

use super::normal_form::loops;
use super::tau_loops;
use super::unmerged::unmerged;
use crate::explicit::{Lts, Transition};
use crate::generalised::{Acceptances, Glts, stable_acceptances};

/// How many steps of work one unit of the size limit allows.
const WORK: usize = 16;

/// A system with the same traces, stable failures and divergences in which only states that stand for a choice of
/// acceptances have `τ`. It can be larger than the argument; none when it is larger than `limit` or takes
/// disproportionate work.
pub fn diamond_form(lts: &Lts, limit: usize, control: &Control) -> Result<Option<Lts>, Stopped> {
    let factored = tau_loops::factor(lts, control)?;
    control.progress().begin("eliminating τ", factored.state_count() as u64);
    control.afford(factored.state_count() * 16)?;
    let (mut acceptances, accepted) = stable_acceptances(&factored, control)?;
    let looping = loops(&factored);
    let mut silence = Silence::new(&factored, limit.saturating_mul(WORK), control);
    let mut numbers: HashMap<StateId, StateId, foldhash::fast::FixedState> = HashMap::default();
    let mut states = vec![factored.initial()];
    numbers.insert(factored.initial(), StateId(0));
    let (mut starts, mut transitions, mut families, mut diverging) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    while families.len() < states.len() {
        let Some(reached) = silence.after(states[families.len()])? else { return Ok(None) };
        let mut sets: Vec<_> = reached.iter().flat_map(|state| acceptances.sets(accepted[state.index()])).collect();
        acceptances.keep_minimal(&mut sets);
        families.push(if sets.is_empty() { Acceptances::NONE } else { acceptances.family(sets, control)? });
        diverging.push(reached.iter().any(|state| looping[state.index()]));
        let mut row: Vec<Transition> = reached
            .iter()
            .flat_map(|&state| factored.outgoing(state))
            .filter(|step| step.label != LabelId::TAU)
            .copied()
            .collect();
        row.sort_unstable();
        row.dedup();
        for same in row.chunk_by(|one, other| one.label == other.label) {
            let Some(left) = uncovered(same, &mut silence)? else { return Ok(None) };
            for step in left {
                let next = StateId(states.len() as u32);
                let target = *numbers.entry(step.target).or_insert(next);
                if target == next {
                    states.push(step.target);
                }
                transitions.push(Transition { label: step.label, target });
            }
        }
        starts.push(transitions.len());
        control.progress().done(families.len() as u64);
        if transitions.len() > limit {
            return Ok(None);
        }
    }
    let merged = Lts::from_rows(lts.labels().clone(), StateId(0), starts, transitions);
    unmerged(&Glts::new(merged, acceptances, families, diverging), limit, control)
}

/// Of transitions with one label those whose targets `τ` does not reach from the target of another.
fn uncovered(same: &[Transition], silence: &mut Silence<'_>) -> Result<Option<Vec<Transition>>, Stopped> {
    if same.len() == 1 {
        return Ok(Some(same.to_vec()));
    }
    let mut left = same.to_vec();
    for step in same {
        // Covering is transitive: whatever a covered transition covers is covered by its coverer.
        if !left.contains(step) {
            continue;
        }
        if silence.after(step.target)?.is_none() {
            return Ok(None);
        }
        left.retain(|other| other.target == step.target || !silence.reached(other.target));
    }
    Ok(Some(left))
}

/// Walks over `τ`, as long as there is work left.
struct Silence<'a> {
    lts: &'a Lts,
    control: &'a Control,
    marks: Vec<u32>,
    round: u32,
    left: usize,
}

impl<'a> Silence<'a> {
    fn new(lts: &'a Lts, work: usize, control: &'a Control) -> Silence<'a> {
        Silence { lts, control, marks: vec![0; lts.state_count()], round: 0, left: work }
    }

    /// Was the state reached last time?
    fn reached(&self, state: StateId) -> bool {
        self.marks[state.index()] == self.round
    }

    /// The states that `τ` reaches from a state, itself included; none when it took too much work.
    fn after(&mut self, state: StateId) -> Result<Option<Vec<StateId>>, Stopped> {
        self.control.check()?;
        self.round += 1;
        self.marks[state.index()] = self.round;
        let mut reached = vec![state];
        let mut at = 0;
        while at < reached.len() {
            let row = self.lts.outgoing(reached[at]);
            at += 1;
            self.left = self.left.saturating_sub(1 + row.len());
            if self.left == 0 {
                return Ok(None);
            }
            for step in row.iter().filter(|step| step.label == LabelId::TAU) {
                let mark = &mut self.marks[step.target.index()];
                if *mark != self.round {
                    *mark = self.round;
                    reached.push(step.target);
                }
            }
        }
        Ok(Some(reached))
    }
}
