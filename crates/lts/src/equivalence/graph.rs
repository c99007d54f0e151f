//! The graph that partition refinement works on: the reachable part, with cycles of `τ` contracted when `τ` is
//! internal.
//!
//! Minimisation counts only what can be reached, so everything else is dropped first. All states of a strongly
//! connected component of `τ`-steps are branching bisimilar (and therefore delay and weakly bisimilar), so for those
//! equivalences a component becomes one node and the `τ`-steps inside it vanish: what is left of `τ` is acyclic, which
//! the later stages rely on. Where divergence is observed, a component that has a cycle gets a step to itself under
//! [`DIVERGENCE`], a label that no table holds and that is visible to every algorithm; [`super::quotient`] turns it
//! back into a `τ`-loop.
//!
//! The components are those of [`crate::components`].
//! Nodes are numbered by their least state, so that neighbours in the input stay neighbours. When nothing is dropped or
//! contracted the transitions are borrowed, not copied. Cost: linear.

use std::borrow::Cow;

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, StateId};

use crate::components::{StateBits, components, reachable};
use crate::explicit::{Lts, Transition};

/// The label of the step that marks a divergent component.
pub(super) const DIVERGENCE: LabelId = LabelId(u32::MAX);

/// A state that is not in the graph.
pub(super) const ABSENT: u32 = u32::MAX;

/// More transitions than this do not fit the 31 bits that refinement numbers them with.
pub(super) const MOST_TRANSITIONS: usize = 1 << 31;

/// What `τ` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tau {
    /// A label like any other.
    Visible,
    /// Internal; an infinite sequence of them is not observed.
    Internal,
    /// Internal; an infinite sequence of them is observed.
    Divergent,
}

/// Nodes with their outgoing transitions in rows.
pub(super) struct Graph<'a> {
    pub(super) starts: Vec<u32>,
    pub(super) transitions: Cow<'a, [Transition]>,
    pub(super) initial: u32,
}

impl Graph<'_> {
    pub(super) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    #[inline]
    pub(super) fn row(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    #[inline]
    pub(super) fn outgoing(&self, node: u32) -> &[Transition] {
        &self.transitions[self.row(node)]
    }
}

/// The graph of an LTS, and the node of each state, [`ABSENT`] when it cannot be reached.
pub(super) struct Prepared<'a> {
    pub(super) graph: Graph<'a>,
    pub(super) node_of: Vec<u32>,
}

/// Prepares an LTS for an equivalence that treats `τ` in this way.
pub(super) fn prepare<'a>(lts: &'a Lts, tau: Tau, control: &Control) -> Result<Prepared<'a>, Stopped> {
    if lts.transition_count() >= MOST_TRANSITIONS {
        return Err(control.out_of_numbers());
    }
    control.progress().begin("preparing", lts.state_count() as u64);
    control.afford(lts.state_count() * 24)?;
    let reached = reachable(lts, control)?;
    let contracted = match tau {
        Tau::Visible => None,
        Tau::Internal | Tau::Divergent => tau_components(lts, &reached, control)?,
    };
    match contracted {
        None => restrict(lts, &reached, control),
        Some(node_of) => {
            let graph = contract(lts, &node_of, tau, control)?;
            Ok(Prepared { graph, node_of })
        }
    }
}

/// The graph of all states, reachable or not.
pub(super) fn whole<'a>(lts: &'a Lts, control: &Control) -> Result<Graph<'a>, Stopped> {
    if lts.transition_count() >= MOST_TRANSITIONS {
        return Err(control.out_of_numbers());
    }
    control.afford(lts.state_count() * 4)?;
    let mut starts: Vec<u32> = lts.states().map(|state| lts.start(state) as u32).collect();
    starts.push(lts.transition_count() as u32);
    Ok(Graph { starts, transitions: Cow::Borrowed(lts.transitions()), initial: lts.initial().0 })
}

/// Numbers the reachable states and keeps their rows.
fn restrict<'a>(lts: &'a Lts, reached: &StateBits, control: &Control) -> Result<Prepared<'a>, Stopped> {
    let mut nodes = 0u32;
    let number = |state: StateId| {
        let node = if reached.contains(state) { nodes } else { ABSENT };
        nodes += u32::from(node != ABSENT);
        node
    };
    let node_of: Vec<u32> = lts.states().map(number).collect();
    let mut starts = Vec::with_capacity(nodes as usize + 1);
    if nodes as usize == lts.state_count() {
        starts.extend(lts.states().map(|state| lts.start(state) as u32));
        starts.push(lts.transition_count() as u32);
        let graph = Graph { starts, transitions: Cow::Borrowed(lts.transitions()), initial: lts.initial().0 };
        return Ok(Prepared { graph, node_of });
    }
    control.afford(lts.transition_count() * 8)?;
    let mut transitions = Vec::new();
    starts.push(0);
    for state in lts.states().filter(|state| node_of[state.index()] != ABSENT) {
        let moved = |t: &Transition| Transition { label: t.label, target: StateId(node_of[t.target.index()]) };
        transitions.extend(lts.outgoing(state).iter().map(moved));
        starts.push(transitions.len() as u32);
    }
    let graph = Graph { starts, transitions: Cow::Owned(transitions), initial: node_of[lts.initial().index()] };
    Ok(Prepared { graph, node_of })
}

/// The component of every reachable state, numbered by least member; `None` when there is no cycle of `τ`.
fn tau_components(lts: &Lts, reached: &StateBits, control: &Control) -> Result<Option<Vec<u32>>, Stopped> {
    let is_tau = |transition: &Transition| transition.label == LabelId::TAU;
    let mut root_of = vec![ABSENT; lts.state_count()];
    let mut cyclic = false;
    components(
        lts,
        |state| reached.contains(state),
        is_tau,
        control,
        |members| {
            let root = members[0];
            let loops = |transition: &Transition| is_tau(transition) && transition.target == root;
            cyclic |= members.len() > 1 || lts.outgoing(root).iter().any(loops);
            members.iter().for_each(|member| root_of[member.index()] = root.0);
        },
    )?;
    if !cyclic {
        return Ok(None);
    }
    // Number the components in the order of their least state.
    let mut nodes = 0u32;
    let mut number = vec![ABSENT; lts.state_count()];
    for state in 0..root_of.len() {
        if root_of[state] != ABSENT {
            let root = root_of[state] as usize;
            if number[root] == ABSENT {
                number[root] = nodes;
                nodes += 1;
            }
            root_of[state] = number[root];
        }
    }
    Ok(Some(root_of))
}

/// One node a component, the outgoing transitions of its states together, without the `τ`-steps inside it.
fn contract<'a>(lts: &'a Lts, node_of: &[u32], tau: Tau, control: &Control) -> Result<Graph<'a>, Stopped> {
    let nodes = node_of.iter().filter(|node| **node != ABSENT).max().map_or(0, |&node| node as usize + 1);
    control.afford(lts.transition_count() * 8 + lts.state_count() * 8)?;
    // The members of each node together, ascending.
    let mut firsts = vec![0u32; nodes + 1];
    for &node in node_of.iter().filter(|node| **node != ABSENT) {
        firsts[node as usize + 1] += 1;
    }
    for node in 0..nodes {
        firsts[node + 1] += firsts[node];
    }
    let mut members = vec![0u32; firsts[nodes] as usize];
    let mut next = firsts.clone();
    for (state, &node) in node_of.iter().enumerate().filter(|(_, node)| **node != ABSENT) {
        members[next[node as usize] as usize] = state as u32;
        next[node as usize] += 1;
    }
    let mut starts = Vec::with_capacity(nodes + 1);
    let mut transitions = Vec::new();
    starts.push(0);
    for node in 0..nodes {
        if node.is_multiple_of(1 << 12) {
            control.check()?;
        }
        let mut diverges = false;
        for &member in &members[firsts[node] as usize..firsts[node + 1] as usize] {
            for transition in lts.outgoing(StateId(member)) {
                let target = node_of[transition.target.index()];
                if transition.label == LabelId::TAU && target as usize == node {
                    diverges = true;
                } else {
                    transitions.push(Transition { label: transition.label, target: StateId(target) });
                }
            }
        }
        if diverges && tau == Tau::Divergent {
            transitions.push(Transition { label: DIVERGENCE, target: StateId(node as u32) });
        }
        starts.push(transitions.len() as u32);
    }
    Ok(Graph { starts, transitions: Cow::Owned(transitions), initial: node_of[lts.initial().index()] })
}
