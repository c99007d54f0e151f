//! What can be reached, and strongly connected components.
//!
//! Components are found with Tarjan's algorithm (*Depth-first search and linear graph algorithms*, 1972) with an
//! explicit stack of states and, for each, the position of its next transition, so depth costs no call stack. Linear
//! time; four bytes a state and, at worst, as much again for the stacks.

use trefoil_control::{Control, Stopped};
use trefoil_system::StateId;

use crate::explicit::{Lts, Transition};
use crate::shared::SharedRows;

/// How many states are visited between two polls of the control.
const BATCH: usize = 1 << 12;

/// A set of states, one bit each: it fits into the processor's cache where one number per state does not.
pub(crate) struct StateBits {
    bits: Vec<u64>,
}

impl StateBits {
    /// The empty set, for states below this number.
    pub(crate) fn new(states: usize) -> StateBits {
        StateBits { bits: vec![0; states.div_ceil(64)] }
    }

    #[inline]
    pub(crate) fn contains(&self, state: StateId) -> bool {
        self.bits[state.index() / 64] >> (state.0 % 64) & 1 == 1
    }

    /// True when it was not in the set.
    #[inline]
    pub(crate) fn insert(&mut self, state: StateId) -> bool {
        let word = &mut self.bits[state.index() / 64];
        let before = *word;
        *word |= 1 << (state.0 % 64);
        *word != before
    }
}

/// What can be reached from the initial state.
pub(crate) fn reachable(lts: &Lts, control: &Control) -> Result<StateBits, Stopped> {
    let mut reached = StateBits::new(lts.state_count());
    reached.insert(lts.initial());
    let mut work = vec![lts.initial()];
    let mut steps = 0usize;
    let mut taken = vec![false; lts.shared().map_or(0, SharedRows::fragment_count)];
    while let Some(state) = work.pop() {
        steps += 1;
        if steps.is_multiple_of(BATCH) {
            control.check()?;
            control.progress().done(steps as u64);
        }
        if let Some(shared) = lts.shared() {
            let new = shared.fragments_of(state).iter().copied();
            let new = new.filter(|&fragment| !std::mem::replace(&mut taken[fragment as usize], true));
            let fragments: Vec<u32> = new.collect();
            let steps = fragments.iter().flat_map(|&fragment| shared.fragment(fragment)).chain(shared.own(state));
            work.extend(steps.map(|step| step.target).filter(|&target| reached.insert(target)));
            continue;
        }
        let targets = lts.outgoing(state).iter().map(|transition| transition.target);
        work.extend(targets.filter(|&target| reached.insert(target)));
    }
    Ok(reached)
}

/// Strongly connected components of what the roots reach over the chosen transitions, each reported after all
/// components that it leads to.
pub(crate) fn components(
    lts: &Lts,
    is_root: impl Fn(StateId) -> bool,
    chosen: impl Fn(&Transition) -> bool,
    control: &Control,
    mut found: impl FnMut(&[StateId]),
) -> Result<(), Stopped> {
    const UNSEEN: u32 = 0;
    const FINISHED: u32 = u32::MAX;
    // While a state is open this is the least entry number known to be reachable from it within its component.
    let mut low = vec![UNSEEN; lts.state_count()];
    let mut entered = 0u32;
    let mut waiting: Vec<StateId> = Vec::new();
    // The path: a state, its own entry number, and the position of its next transition among its own.
    let mut path: Vec<(StateId, u32, usize)> = Vec::new();
    let mut steps = 0usize;
    for root in lts.states().filter(|&state| is_root(state)) {
        if low[root.index()] != UNSEEN {
            continue;
        }
        entered += 1;
        low[root.index()] = entered;
        path.push((root, entered, 0));
        waiting.push(root);
        while let Some((state, number, next)) = path.last_mut() {
            steps += 1;
            if steps.is_multiple_of(BATCH) {
                control.check()?;
            }
            let (state, number) = (*state, *number);
            let rest = &lts.outgoing(state)[*next..];
            if let Some(skipped) = rest.iter().position(&chosen) {
                *next += skipped + 1;
                let target = rest[skipped].target;
                match low[target.index()] {
                    UNSEEN => {
                        entered += 1;
                        low[target.index()] = entered;
                        path.push((target, entered, 0));
                        waiting.push(target);
                    }
                    FINISHED => {}
                    known => low[state.index()] = low[state.index()].min(known),
                }
                continue;
            }
            path.pop();
            let least = low[state.index()];
            if least == number {
                // The component is everything on the stack from this state on.
                let start = waiting.iter().rposition(|&member| member == state).unwrap_or(0);
                found(&waiting[start..]);
                for member in waiting.drain(start..) {
                    low[member.index()] = FINISHED;
                }
            } else if let Some((parent, _, _)) = path.last() {
                low[parent.index()] = low[parent.index()].min(least);
            }
        }
    }
    Ok(())
}

/// The strongly connected component of every state, by a number that means nothing else.
pub fn component_of_states(lts: &Lts, control: &Control) -> Result<Vec<u32>, Stopped> {
    let mut component = vec![0; lts.state_count()];
    let mut next = 0;
    components(
        lts,
        |_| true,
        |_| true,
        control,
        |members| {
            members.iter().for_each(|member| component[member.index()] = next);
            next += 1;
        },
    )?;
    Ok(component)
}
