//! Shorter cycles of a system than a cycle of its quotient gives.
//!
//! A cycle of representatives is repeated until the system is where it began, as often as the order of its element
//! says, and what it serves it serves in the order of the quotient. The system itself often has a shorter cycle there,
//! most simply where the same state recurs earlier with the same automaton state. So the states of the unwound cycle
//! are expanded in the system, and as many others around them, breadth-first from the cycle's first state. The claim is
//! decided on these alone, from the automaton state in which the cycle begins: the unwound cycle lies in them, so there
//! is a lasso, which is short as any other ([`crate::lasso`]), without representatives and without renamings. The
//! shorter of the two is taken.
//!
//! Cost: at most [`MOST`] states, expanded once.

use std::collections::HashSet;

use trefoil_control::Control;
use trefoil_explore::States;
use trefoil_system::{Cut, StateId, System, TakenStep, Value};

use crate::graph::{Graph, Recording};
use crate::ground::Ground;
use crate::product::Forbidden;

/// The most states that are expanded.
const MOST: u64 = 20_000;
/// How many states are expanded for each one of the cycle, beside a few.
const AROUND: u64 = 16;
const FEW: u64 = 1_000;

/// The states of a cycle of a system and some others, from the first state of the cycle; nothing where the cycle is too
/// long.
pub(crate) fn surroundings(
    system: &dyn System,
    recording: &Recording<'_>,
    forbidden: &Forbidden<'_>,
    home: &[Value],
    cycle: &[TakenStep],
    control: &Control,
) -> Result<Option<(Graph, States)>, Cut> {
    if cycle.len() as u64 > MOST / 2 {
        return Ok(None);
    }
    let mut ground = Ground::new(system, recording, forbidden, control);
    let mut order = ground.find(home)?;
    for step in cycle {
        order.extend(ground.find(&step.row)?);
    }
    let most = (FEW + AROUND * cycle.len() as u64).min(MOST);
    let initial = order[0];
    let mut is_waiting: HashSet<u32> = order.iter().map(|state| state.0).collect();
    let mut at = 0;
    while at < order.len() {
        let Some((_, targets)) = ground.steps(order[at].0, most)? else { break };
        for place in targets {
            let target = ground.target(place);
            if is_waiting.insert(target) {
                order.push(StateId(target));
            }
        }
        at += 1;
    }
    ground.graph(initial).map(Some)
}
