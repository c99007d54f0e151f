//! Cycles of `τ`: states that reach each other by `τ` alone become one state that has a `τ`-loop.
//!
//! Each of them can become any other before it does anything that can be seen, so they have the same traces, failures
//! and divergences, and are bisimilar in every sense in which `τ` is internal. The loop stands for the divergence; a
//! `τ`-loop that was there stays.
//!
//! States are numbered by the least state of their component, the initial one first. Cost: linear, plus sorting rows.

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, StateId};

use crate::components::{components, reachable};
use crate::explicit::{Lts, Transition};

const NONE: u32 = u32::MAX;

/// The system with every cycle of `τ` in one state.
pub(super) fn factor(lts: &Lts, control: &Control) -> Result<Lts, Stopped> {
    control.progress().begin("factoring τ-loops", lts.state_count() as u64);
    lts.make_whole(control)?;
    control.afford(lts.state_count() * 16 + lts.transition_count() * size_of::<Transition>())?;
    let reached = reachable(lts, control)?;
    let mut component_of = vec![NONE; lts.state_count()];
    let mut count = 0;
    let silent = |step: &Transition| step.label == LabelId::TAU;
    components(
        lts,
        |state| reached.contains(state),
        silent,
        control,
        |members| {
            for member in members {
                component_of[member.index()] = count;
            }
            count += 1;
        },
    )?;
    let mut number_of = vec![NONE; count as usize];
    let mut members: Vec<Vec<StateId>> = Vec::with_capacity(count as usize);
    for state in std::iter::once(lts.initial()).chain(lts.states()) {
        let component = component_of[state.index()];
        if component == NONE {
            continue;
        }
        let number = &mut number_of[component as usize];
        if *number == NONE {
            *number = members.len() as u32;
            members.push(Vec::new());
        }
        members[*number as usize].push(state);
    }
    // The initial state was counted twice.
    members[0].remove(0);
    let mut starts = Vec::with_capacity(members.len() + 1);
    starts.push(0);
    let mut transitions = Vec::new();
    let mut row: Vec<Transition> = Vec::new();
    for (number, states) in members.iter().enumerate() {
        if number.is_multiple_of(1 << 12) {
            control.check()?;
            control.progress().done(number as u64);
        }
        row.clear();
        for &state in states {
            row.extend(lts.outgoing(state).iter().map(|step| Transition {
                label: step.label,
                target: StateId(number_of[component_of[step.target.index()] as usize]),
            }));
        }
        row.sort_unstable();
        row.dedup();
        transitions.extend_from_slice(&row);
        starts.push(transitions.len());
    }
    Ok(Lts::from_rows(lts.labels().clone(), StateId(0), starts, transitions))
}
