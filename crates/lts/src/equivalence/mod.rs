//! Equivalences on labelled transition systems: making a system as small as possible, and comparing two.
//!
//! [`EQUIVALENCES`] is the table of what there is; the essays are in the files: the graph that is worked on
//! ([`graph`]), strong and branching bisimilarity ([`refinement`], and [`shared_rows`] for rows in parts), delay and
//! weak bisimilarity ([`saturation`]), simulation and ready simulation ([`simulation`]), traces ([`determinise`]), the
//! result ([`quotient`]), and verdicts with their evidence ([`compare`], with formulas from [`distinguish`],
//! [`distinguish_silent`] and [`distinguish_simulation`]). Coupled similarity ([`coupled`]) and the preorder of
//! impossible futures ([`futures`]) are decided for two systems only.
//!
//! In all of them only the reachable part of a system counts, `τ` is [`LabelId::TAU`](trefoil_system::LabelId::TAU),
//! and the result, including the numbers of its states, depends on the input alone.

mod bulk;
mod compare;
mod coupled;
mod determinise;
mod distinguish;
mod distinguish_silent;
mod distinguish_simulation;
mod futures;
mod graph;
mod partition;
mod quotient;
mod refinement;
mod saturation;
mod shared_rows;
mod signatures;
mod simulation;

use std::fmt;
use std::str::FromStr;

use trefoil_control::{Control, Stopped};
use trefoil_system::{LabelId, Logic, StateId};

use crate::explicit::{Lts, Transition};
pub use compare::{
    Comparison, Evidence, Side, Simulated, check, compare, compare_coupled, has_no_other_futures, is_simulated,
};

use determinise::determinise;
use graph::{ABSENT, Prepared, Tau, prepare, whole};
use quotient::{Numbering, Quotient, collect, quotient};
use refinement::{Refined, refine};
use saturation::{Pass, Saturated, saturate};
use simulation::simulate;

/// When two systems count as the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Equivalence {
    /// Strong bisimilarity.
    Strong,
    /// Branching bisimilarity.
    Branching,
    /// Divergence-preserving branching bisimilarity.
    DivergenceBranching,
    /// Delay bisimilarity.
    Delay,
    /// Divergence-preserving delay bisimilarity.
    DivergenceDelay,
    /// Weak bisimilarity.
    Weak,
    /// Divergence-preserving weak bisimilarity.
    DivergenceWeak,
    /// Ready simulation in both directions.
    ReadySimulation,
    /// Simulation in both directions.
    Simulation,
    /// The same traces, `τ` being a label as any other.
    Trace,
    /// The same traces of visible labels.
    WeakTrace,
}

/// An equivalence as help shows it.
#[derive(Clone, Copy, Debug)]
pub struct EquivalenceInfo {
    /// The equivalence.
    pub equivalence: Equivalence,
    /// Its name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Where it, or the way it is decided, comes from.
    pub paper: &'static str,
}

/// Every equivalence, finest kinds first.
pub const EQUIVALENCES: &[EquivalenceInfo] = &[
    EquivalenceInfo {
        equivalence: Equivalence::Strong,
        name: "strong",
        about: "strong bisimilarity: every step is matched by one step, τ included",
        paper: "Paige and Tarjan, Three partition refinement algorithms, 1987",
    },
    EquivalenceInfo {
        equivalence: Equivalence::Branching,
        name: "branching",
        about: "branching bisimilarity: τ-steps between equivalent states may precede a step",
        paper: "Van Glabbeek and Weijland, Branching time and abstraction in bisimulation semantics, 1996",
    },
    EquivalenceInfo {
        equivalence: Equivalence::DivergenceBranching,
        name: "dpbranching",
        about: "branching bisimilarity that also preserves infinite sequences of τ",
        paper: "Van Glabbeek, Luttik and Trčka, Branching bisimilarity with explicit divergence, 2009",
    },
    EquivalenceInfo {
        equivalence: Equivalence::Delay,
        name: "delay",
        about: "delay bisimilarity: any τ-steps may precede a step",
        paper: "Van Glabbeek, The linear time – branching time spectrum II, 1993",
    },
    EquivalenceInfo {
        equivalence: Equivalence::DivergenceDelay,
        name: "dpdelay",
        about: "delay bisimilarity that also preserves infinite sequences of τ",
        paper: "Van Glabbeek, The linear time – branching time spectrum II, 1993",
    },
    EquivalenceInfo {
        equivalence: Equivalence::Weak,
        name: "weak",
        about: "weak bisimilarity: any τ-steps may precede and follow a step",
        paper: "Milner, Communication and concurrency, 1989",
    },
    EquivalenceInfo {
        equivalence: Equivalence::DivergenceWeak,
        name: "dpweak",
        about: "weak bisimilarity that also preserves infinite sequences of τ",
        paper: "Van Glabbeek, The linear time – branching time spectrum II, 1993",
    },
    EquivalenceInfo {
        equivalence: Equivalence::ReadySimulation,
        name: "ready-simulation",
        about: "mutual ready simulation: matching states offer the same labels; τ counts as a label",
        paper: "Bloom, Istrail and Meyer, Bisimulation can't be traced, 1995",
    },
    EquivalenceInfo {
        equivalence: Equivalence::Simulation,
        name: "simulation",
        about: "mutual simulation: each system matches every step of the other; τ counts as a label",
        paper: "Ranzato and Tapparo, A new efficient simulation equivalence algorithm, 2007",
    },
    EquivalenceInfo {
        equivalence: Equivalence::Trace,
        name: "trace",
        about: "the same sequences of labels; τ counts as a label",
        paper: "Rabin and Scott, Finite automata and their decision problems, 1959",
    },
    EquivalenceInfo {
        equivalence: Equivalence::WeakTrace,
        name: "weaktrace",
        about: "the same sequences of visible labels",
        paper: "Rabin and Scott, Finite automata and their decision problems, 1959",
    },
];

impl Equivalence {
    /// Its row in the table.
    pub fn info(self) -> &'static EquivalenceInfo {
        EQUIVALENCES.iter().find(|info| info.equivalence == self).expect("every equivalence is in the table")
    }

    /// The formulas on which equivalent states agree; none is known here for traces.
    pub fn logic(self) -> Option<Logic> {
        let divergence = self.tau() == Tau::Divergent;
        match self {
            Equivalence::Strong => Some(Logic::Strong),
            Equivalence::Branching | Equivalence::DivergenceBranching => Some(Logic::Branching { divergence }),
            Equivalence::Delay | Equivalence::DivergenceDelay => Some(Logic::Delay { divergence }),
            Equivalence::Weak | Equivalence::DivergenceWeak => Some(Logic::Weak { divergence }),
            Equivalence::ReadySimulation => Some(Logic::ReadySimulation),
            Equivalence::Simulation => Some(Logic::Simulation),
            Equivalence::Trace | Equivalence::WeakTrace => None,
        }
    }

    fn tau(self) -> Tau {
        match self {
            Equivalence::Strong | Equivalence::ReadySimulation | Equivalence::Simulation | Equivalence::Trace => {
                Tau::Visible
            }
            Equivalence::Branching | Equivalence::Delay | Equivalence::Weak | Equivalence::WeakTrace => Tau::Internal,
            Equivalence::DivergenceBranching | Equivalence::DivergenceDelay | Equivalence::DivergenceWeak => {
                Tau::Divergent
            }
        }
    }
}

impl fmt::Display for Equivalence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

/// A name that no equivalence has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEquivalence(pub String);

impl fmt::Display for UnknownEquivalence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = EQUIVALENCES.iter().map(|info| info.name).collect();
        write!(f, "no equivalence is called '{}'; there are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownEquivalence {}

impl FromStr for Equivalence {
    type Err = UnknownEquivalence;

    fn from_str(name: &str) -> Result<Equivalence, UnknownEquivalence> {
        let found = EQUIVALENCES.iter().find(|info| info.name == name);
        found.map(|info| info.equivalence).ok_or_else(|| UnknownEquivalence(name.to_string()))
    }
}

/// A smallest equivalent system.
#[derive(Clone, Debug)]
pub struct Minimised {
    /// The system; no two of its states are equivalent.
    pub lts: Lts,
    /// Rounds of partition refinement that it took.
    pub rounds: u64,
    block_of: Vec<u32>,
}

impl Minimised {
    /// The state of the smallest system that stands for a state of the given one; none for a state that could not be
    /// reached, nor (for simulations) for one reached only through little brothers, nor for traces, where the states of
    /// the smallest system stand for sets of states.
    pub fn block_of(&self, state: StateId) -> Option<StateId> {
        self.block_of.get(state.index()).copied().filter(|&block| block != ABSENT).map(StateId)
    }
}

/// The smallest system, in its number of states, that is equivalent to the given one.
///
/// `strong`, `branching` and the simulations have the least number of transitions too. For traces the result is
/// deterministic. Except where divergence is preserved there is no `τ`-loop in the result of an equivalence for which
/// `τ` is internal, and there only to mark a divergence.
pub fn minimise(lts: &Lts, equivalence: Equivalence, control: &Control) -> Result<Minimised, Stopped> {
    if let Some(small) = minimise_shared(lts, equivalence, control)? {
        return Ok(small);
    }
    lts.make_whole(control)?;
    match equivalence {
        Equivalence::Strong | Equivalence::Branching | Equivalence::DivergenceBranching => {
            minimise_bisimilar(lts, equivalence.tau(), control)
        }
        Equivalence::Delay | Equivalence::DivergenceDelay => {
            minimise_saturated(lts, equivalence.tau(), Pass::Before, control)
        }
        Equivalence::Weak | Equivalence::DivergenceWeak => {
            minimise_saturated(lts, equivalence.tau(), Pass::Around, control)
        }
        Equivalence::ReadySimulation => minimise_simulated(lts, true, control),
        Equivalence::Simulation => minimise_simulated(lts, false, control),
        Equivalence::Trace | Equivalence::WeakTrace => minimise_traces(lts, equivalence.tau(), control),
    }
}

/// For each state the number of its class modulo strong bisimilarity, and the number of classes. States that cannot be
/// reached count as well.
pub fn strong_classes(lts: &Lts, control: &Control) -> Result<(Vec<u32>, usize), Stopped> {
    lts.make_whole(control)?;
    let graph = whole(lts, control)?;
    let refined = refine(&graph, false, control)?;
    Ok((refined.block_of, refined.blocks))
}

/// Reduces a system with rows in parts modulo strong bisimilarity, where the equivalence is no coarser on this system.
fn minimise_shared(lts: &Lts, equivalence: Equivalence, control: &Control) -> Result<Option<Minimised>, Stopped> {
    let Some(shared) = lts.shared() else { return Ok(None) };
    let is_strong = match equivalence {
        Equivalence::Strong => true,
        Equivalence::Branching
        | Equivalence::DivergenceBranching
        | Equivalence::Delay
        | Equivalence::DivergenceDelay
        | Equivalence::Weak
        | Equivalence::DivergenceWeak => shared.all().all(|step| step.label != LabelId::TAU),
        Equivalence::ReadySimulation | Equivalence::Simulation | Equivalence::Trace | Equivalence::WeakTrace => false,
    };
    if !is_strong {
        return Ok(None);
    }
    let Some(mut refined) = shared_rows::refine(lts, shared, control)? else { return Ok(None) };
    let (small, number_of) = shared_rows::quotient(lts, shared, &refined, control)?;
    for block in &mut refined.block_of {
        *block = number_of[*block as usize];
    }
    Ok(Some(Minimised { lts: small, rounds: refined.rounds, block_of: refined.block_of }))
}

/// The deterministic system whose states are the sets of states after each sequence of labels, `τ` being a label as any
/// other; nothing else is merged.
pub fn deterministic(lts: &Lts, control: &Control) -> Result<Lts, Stopped> {
    lts.make_whole(control)?;
    determinise(lts, Tau::Visible, control)
}

/// The system without `τ` in which a label leads where `τ*` and then the label led, reduced modulo branching
/// bisimilarity before and strong bisimilarity afterwards. It preserves traces of visible labels; what `τ` decided is a
/// choice between steps with one label.
pub fn tau_star(lts: &Lts, control: &Control) -> Result<Lts, Stopped> {
    let small = minimise(lts, Equivalence::Branching, control)?.lts;
    let (mut starts, mut transitions) = (vec![0], Vec::new());
    let mut reached: Vec<StateId> = Vec::new();
    let mut seen = vec![false; small.state_count()];
    for state in small.states() {
        reached.clear();
        reached.push(state);
        seen[state.index()] = true;
        let first = transitions.len();
        let mut at = 0;
        while at < reached.len() {
            for step in small.outgoing(reached[at]) {
                match step.label {
                    LabelId::TAU if !std::mem::replace(&mut seen[step.target.index()], true) => {
                        reached.push(step.target);
                    }
                    LabelId::TAU => {}
                    _ => transitions.push(*step),
                }
            }
            at += 1;
        }
        reached.iter().for_each(|state| seen[state.index()] = false);
        control.afford((transitions.len() - first) * size_of::<Transition>())?;
        let mut row = transitions.split_off(first);
        row.sort_unstable();
        row.dedup();
        transitions.append(&mut row);
        starts.push(transitions.len());
    }
    let closed = Lts::from_rows(small.labels().clone(), small.initial(), starts, transitions);
    Ok(minimise(&closed, Equivalence::Strong, control)?.lts)
}

fn minimise_bisimilar(lts: &Lts, tau: Tau, control: &Control) -> Result<Minimised, Stopped> {
    let Prepared { graph, node_of } = prepare(lts, tau, control)?;
    let internal = tau != Tau::Visible;
    let refined = refine(&graph, internal, control)?;
    let result = quotient(&graph, &refined.block_of, refined.blocks, internal, lts.labels(), control)?;
    Ok(minimised(result, refined, node_of))
}

fn minimised(quotient: Quotient, refined: Refined, node_of: Vec<u32>) -> Minimised {
    let mut block_of = node_of;
    for node in block_of.iter_mut().filter(|node| **node != ABSENT) {
        *node = quotient.number_of[refined.block_of[*node as usize] as usize];
    }
    Minimised { lts: quotient.lts, rounds: refined.rounds, block_of }
}

/// Reduces modulo branching bisimilarity, then modulo delay or weak bisimilarity.
fn minimise_saturated(lts: &Lts, tau: Tau, pass: Pass, control: &Control) -> Result<Minimised, Stopped> {
    let branching = minimise_bisimilar(lts, tau, control)?;
    let Prepared { graph, node_of } = prepare(&branching.lts, tau, control)?;
    let Saturated { refined, rows } = saturate(&graph, pass, control)?;
    let Numbering { number_of, order } = Numbering::new(graph.initial, &refined.block_of, refined.blocks);
    let row = |number: usize, row: &mut Vec<Transition>| {
        let steps = rows[order[number] as usize].iter();
        row.extend(steps.map(|t| Transition { label: t.label, target: StateId(number_of[t.target.index()]) }));
    };
    let most = rows.iter().map(Vec::len).sum();
    let lts = collect(refined.blocks, most, row, lts.labels(), control)?;
    let result = Quotient { lts, number_of };
    let mut small = minimised(result, refined, node_of);
    small.rounds += branching.rounds;
    let mut block_of = branching.block_of;
    for block in block_of.iter_mut().filter(|block| **block != ABSENT) {
        *block = small.block_of[*block as usize];
    }
    small.block_of = block_of;
    Ok(small)
}

/// Reduces modulo strong bisimilarity, then modulo simulation equivalence.
fn minimise_simulated(lts: &Lts, ready: bool, control: &Control) -> Result<Minimised, Stopped> {
    let mut small = minimise_bisimilar(lts, Tau::Visible, control)?;
    let simulation = simulate(&small.lts, ready, control)?;
    let (lts, number_of) = simulation.quotient(&small.lts, true, control)?;
    for block in small.block_of.iter_mut().filter(|block| **block != ABSENT) {
        *block = number_of[simulation.class_of[*block as usize] as usize];
    }
    Ok(Minimised { lts, rounds: small.rounds + simulation.rounds, block_of: small.block_of })
}

/// Reduces modulo a bisimilarity that is finer, makes the result deterministic, and minimises that.
fn minimise_traces(lts: &Lts, tau: Tau, control: &Control) -> Result<Minimised, Stopped> {
    let bisimilar = minimise_bisimilar(lts, tau, control)?;
    let deterministic = determinise(&bisimilar.lts, tau, control)?;
    let mut small = minimise_bisimilar(&deterministic, Tau::Visible, control)?;
    small.rounds += bisimilar.rounds;
    small.block_of = Vec::new();
    Ok(small)
}
