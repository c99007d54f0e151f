//! Fair cycles.
//!
//! A run is weakly fair when each agent takes part in infinitely many of its steps or cannot initiate one infinitely
//! often; strongly fair when each agent that can initiate a step infinitely often takes part infinitely often. What
//! recurs on a run is a strongly connected set of pairs. So weak fairness asks of a component, for each agent, a step
//! in which it takes part or a state in which it initiates nothing: one more mark each, and no copies of the product,
//! with which Spin pays (Choueka, *Theories of automata on omega-tapes*, 1974). Strong fairness is no mark: the states
//! in which an agent is enabled that never moves are taken out of the component, and what is left is decomposed again
//! (Emerson and Lei, *Modalities for model checking*, 1987).
//!
//! An agent is enabled in a state when it initiates one of its steps, inside the component or not: the receiver of a
//! handshake takes part and is not enabled by it.

use std::collections::HashMap;

use trefoil_control::{Control, Stopped};
use trefoil_questions::Fairness;

use crate::components::components;
use crate::graph::Part;
use crate::product::{Pair, Product};

/// A set of agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agents([u64; 4]);

impl Agents {
    pub(crate) const ALL: Agents = Agents([u64::MAX; 4]);

    fn insert(&mut self, agent: u32) {
        self.0[agent as usize / 64 % 4] |= 1 << (agent % 64);
    }

    pub(crate) fn contains(self, agent: u32) -> bool {
        self.0[agent as usize / 64 % 4] >> (agent % 64) & 1 == 1
    }

    pub(crate) fn or(self, other: Agents) -> Agents {
        Agents(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    pub(crate) fn and(self, other: Agents) -> Agents {
        Agents(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    pub(crate) fn without(self, other: Agents) -> Agents {
        Agents(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Agents::default()
    }
}

impl FromIterator<u32> for Agents {
    fn from_iter<I: IntoIterator<Item = u32>>(agents: I) -> Agents {
        let mut all = Agents::default();
        agents.into_iter().for_each(|agent| all.insert(agent));
        all
    }
}

/// What a fair cycle through a component needs of each agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    /// These must take part, or, where `resting` is allowed, have a state in which they initiate nothing.
    pub(crate) agents: Agents,
    pub(crate) resting: bool,
}

impl Demand {
    /// Nothing.
    pub(crate) const NONE: Demand = Demand { agents: Agents([0; 4]), resting: false };

    /// What a step of a pair does for the demand.
    pub(crate) fn met(&self, graph: Part<'_>, from: Pair, note: Option<u32>) -> Agents {
        let moving = graph.taking_part(note);
        let met = if self.resting { moving.or(Agents::ALL.without(graph.enabled(from.state))) } else { moving };
        met.and(self.agents)
    }
}

/// What is wanted of a cycle inside a component, as its edges can give it; nothing when they cannot.
pub(crate) fn demand(
    product: &Product<'_>,
    members: &[Pair],
    inside: impl Fn(Pair) -> bool,
    fairness: Fairness,
) -> Result<Demand, Agents> {
    if fairness == Fairness::None {
        return Ok(Demand::NONE);
    }
    let graph = product.graph;
    let (mut always, mut ever, mut moved) = (Agents::ALL, Agents::default(), Agents::default());
    for &member in members {
        let enabled = graph.enabled(member.state);
        always = always.and(enabled);
        ever = ever.or(enabled);
        // Where a step leads lies far away: it is looked up only for an agent that is not known to move or to rest.
        let waiting = if fairness == Fairness::Weak { always } else { Agents::ALL };
        if waiting.without(moved).is_empty() {
            continue;
        }
        product.steps(member, |step| {
            let moving = graph.taking_part(step.note);
            if !moving.and(waiting).without(moved).is_empty() && inside(step.target) {
                moved = moved.or(moving);
            }
        });
    }
    let (missing, demand) = match fairness {
        Fairness::Weak => (always.without(moved), Demand { agents: ever, resting: true }),
        _ => (ever.without(moved), Demand { agents: ever, resting: false }),
    };
    if missing.is_empty() { Ok(demand) } else { Err(missing) }
}

/// The strongly fair components inside a component on which all marks occur: each a list of pairs.
pub(crate) fn strongly_fair(
    product: &Product<'_>,
    members: Vec<Pair>,
    all: u32,
    control: &Control,
) -> Result<Vec<Vec<Pair>>, Stopped> {
    let mut fair = Vec::new();
    let mut work = vec![members];
    while let Some(members) = work.pop() {
        control.check()?;
        let numbers: HashMap<Pair, u32, foldhash::fast::FixedState> =
            members.iter().zip(0..).map(|(&pair, number)| (pair, number)).collect();
        let (mut marks, mut any) = (0, false);
        for &member in &members {
            product.steps(member, |step| {
                if numbers.contains_key(&step.target) {
                    marks |= step.marks;
                    any = true;
                }
            });
        }
        if !any || marks != all {
            continue;
        }
        let missing = match demand(product, &members, |pair| numbers.contains_key(&pair), Fairness::Strong) {
            Ok(_) => {
                fair.push(members);
                continue;
            }
            Err(missing) => missing,
        };
        let left: Vec<Pair> =
            members.into_iter().filter(|pair| product.graph.enabled(pair.state).and(missing).is_empty()).collect();
        work.extend(parts(product, &left));
    }
    Ok(fair)
}

/// The strongly connected components of some pairs.
pub(crate) fn parts(product: &Product<'_>, pairs: &[Pair]) -> Vec<Vec<Pair>> {
    let numbers: HashMap<Pair, u32, foldhash::fast::FixedState> =
        pairs.iter().zip(0..).map(|(&pair, number)| (pair, number)).collect();
    let targets: Vec<Vec<u32>> = pairs
        .iter()
        .map(|&pair| {
            let mut own = Vec::new();
            product.steps(pair, |step| own.extend(numbers.get(&step.target)));
            own
        })
        .collect();
    let (component, count) = components(&targets);
    let mut parts: Vec<Vec<Pair>> = vec![Vec::new(); count as usize];
    pairs.iter().zip(component).for_each(|(&pair, part)| parts[part as usize].push(pair));
    parts
}
