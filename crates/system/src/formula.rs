//! Hennessy–Milner formulas, with modalities that abstract from `τ`, and whether a state satisfies one.
//!
//! A [`Formula`] says what a state can do: `<a>φ` holds where an `a`-step leads to a state that satisfies `φ` (Hennessy
//! and Milner, *Algebraic laws for nondeterminism and concurrency*, 1985). A formula distinguishes any two systems that
//! are not strongly bisimilar, and that formula is the evidence. As text it can be exponential in the number of its
//! different parts, so it is kept as a graph in which equal parts are one node, and it is printed with names for the
//! parts that occur more than once.
//!
//! # Formulas that abstract from `τ`
//!
//! `(φ until ψ)`, printed as `(mu Y. ψ || (φ && <tau>Y))`, holds where a path of `τ`-steps, perhaps of none, leads
//! through states with `φ` to one with `ψ`; `(φ until <a>ψ)`, printed as `(mu Y. φ && (<a>ψ || <tau>Y))`, where it
//! leads through states with `φ` to one that has `φ`, too, and an `a`-step to one with `ψ` (De Nicola and Vaandrager,
//! *Three logics for branching bisimulation*, 1995). With `true` for `φ` they are written `<tau*>ψ` and `<tau*.a>ψ`,
//! and `<tau*.a.tau*>ψ` is the second followed by the first. `forever φ`, printed as `(nu Y. φ && <tau>Y)`, holds where
//! an infinite path of `τ`-steps stays in states with `φ` (Van Glabbeek, Luttik and Trčka, *Branching bisimilarity with
//! explicit divergence*, 2009).
//!
//! A formula is evidence against an equivalence only if equivalent states agree on it, so [`Logic`] says which of these
//! belong together: strong bisimilarity preserves `<a>`; simulation preserves it without negation, and ready simulation
//! with refusals beside; branching bisimilarity preserves `until`; delay bisimilarity `<tau*>` and `<tau*.a>`; weak
//! bisimilarity `<tau*>` and `<tau*.a.tau*>`; where divergence is preserved, `forever` belongs to the logic, after
//! `<tau*>` for delay and weak bisimilarity (which do not constrain the states on the way to a divergence). Coupled
//! similarity and impossible futures preserve parts of the logic of weak bisimilarity, with few negations.
//! [`Formula::is_in`] decides it by checking every part.
//!
//! [`satisfies`] evaluates a formula on any system ([`satisfaction`]). Nothing here recurses: formulas can be as deep
//! as systems have states.

mod satisfaction;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use crate::labels::{LabelId, Labels};

pub use satisfaction::{has_trace, satisfies};

/// The number of a node in its formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormulaId(pub u32);

impl FormulaId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A part of a formula; it refers to parts with smaller numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FormulaNode {
    /// Holds everywhere.
    True,
    /// Holds where the part does not.
    Not(FormulaId),
    /// Holds where all parts do; ascending, at least two.
    And(Vec<FormulaId>),
    /// Holds where a step by this label leads to a state in which the part holds.
    Diamond(LabelId, FormulaId),
    /// Holds where `τ`-steps, perhaps none, lead through states with `during` to one with `then`; or, when there is a
    /// (visible) label, to one with `during` that has a step by the label to one with `then`.
    Until {
        /// What holds on the way.
        during: FormulaId,
        /// The step at its end.
        label: Option<LabelId>,
        /// What holds there.
        then: FormulaId,
    },
    /// Holds where infinitely many `τ`-steps lead through states with the part.
    Forever(FormulaId),
}

/// Formulas on which certain equivalent states agree; see the head of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    /// Hennessy and Milner's: strong bisimilarity.
    Strong,
    /// Without negation: where the simulated state has it, the simulating one has it.
    Simulation,
    /// The same, and which labels are not offered: ready simulation.
    ReadySimulation,
    /// Branching bisimilarity.
    Branching {
        /// Is divergence preserved?
        divergence: bool,
    },
    /// Delay bisimilarity.
    Delay {
        /// Is divergence preserved?
        divergence: bool,
    },
    /// Weak bisimilarity.
    Weak {
        /// Is divergence preserved?
        divergence: bool,
    },
    /// Coupled similarity: where the lower state has it, the upper one has it.
    CoupledSimulation,
    /// Impossible futures: where an implementation has it, what it refines has it.
    ImpossibleFutures,
}

/// A formula over the labels of a table: a graph of parts and its root.
#[derive(Clone)]
pub struct Formula {
    labels: Arc<Labels>,
    nodes: Vec<FormulaNode>,
    known: HashMap<FormulaNode, FormulaId, foldhash::fast::RandomState>,
    root: FormulaId,
}

impl Formula {
    /// The formula that holds everywhere, to start with.
    pub fn new(labels: Arc<Labels>) -> Formula {
        let mut formula = Formula { labels, nodes: Vec::new(), known: HashMap::default(), root: FormulaId(0) };
        formula.root = formula.node(FormulaNode::True);
        formula
    }

    /// The table of its labels.
    pub fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// All parts, each after those it refers to.
    pub fn nodes(&self) -> &[FormulaNode] {
        &self.nodes
    }

    /// The root.
    pub fn root(&self) -> FormulaId {
        self.root
    }

    /// Sets the root.
    pub fn set_root(&mut self, root: FormulaId) {
        assert!(root.index() < self.nodes.len());
        self.root = root;
    }

    fn node(&mut self, node: FormulaNode) -> FormulaId {
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        let id = FormulaId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 parts"));
        self.nodes.push(node.clone());
        self.known.insert(node, id);
        id
    }

    /// The part that holds everywhere.
    pub fn truth(&mut self) -> FormulaId {
        self.node(FormulaNode::True)
    }

    /// The negation; of a negation, its part.
    pub fn not(&mut self, part: FormulaId) -> FormulaId {
        match self.nodes[part.index()] {
            FormulaNode::Not(inner) => inner,
            _ => self.node(FormulaNode::Not(part)),
        }
    }

    /// The conjunction; parts that always hold or are named twice add nothing.
    pub fn and(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        let parts: BTreeSet<FormulaId> =
            parts.into_iter().filter(|part| self.nodes[part.index()] != FormulaNode::True).collect();
        match parts.len() {
            0 => self.truth(),
            1 => parts.into_iter().next().expect("there is one"),
            _ => self.node(FormulaNode::And(parts.into_iter().collect())),
        }
    }

    /// After some step by the label, the part holds.
    pub fn diamond(&mut self, label: LabelId, part: FormulaId) -> FormulaId {
        self.node(FormulaNode::Diamond(label, part))
    }

    /// Through states with `during`, by `τ`, to a state with `then`, or to a (visible) step that leads to one.
    pub fn until(&mut self, during: FormulaId, label: Option<LabelId>, then: FormulaId) -> FormulaId {
        debug_assert!(label != Some(LabelId::TAU));
        self.node(FormulaNode::Until { during, label, then })
    }

    /// After some `τ`, perhaps none, the part holds.
    pub fn silently(&mut self, part: FormulaId) -> FormulaId {
        let truth = self.truth();
        self.until(truth, None, part)
    }

    /// After `τ*`, or `τ* a τ*` for a (visible) label, the part holds.
    pub fn weakly(&mut self, label: Option<LabelId>, part: FormulaId) -> FormulaId {
        let (then, truth) = (self.silently(part), self.truth());
        if label.is_some() { self.until(truth, label, then) } else { then }
    }

    /// Infinitely many `τ` through states with the part.
    pub fn forever(&mut self, part: FormulaId) -> FormulaId {
        self.node(FormulaNode::Forever(part))
    }

    /// Is every part that the root needs one of this logic?
    pub fn is_in(&self, logic: Logic) -> bool {
        match logic {
            Logic::CoupledSimulation => return self.is_coupled(),
            Logic::ImpossibleFutures => return self.is_future(),
            _ => {}
        }
        let uses = self.uses();
        let is_true = |part: FormulaId| self.nodes[part.index()] == FormulaNode::True;
        let silent = |part: FormulaId| match self.nodes[part.index()] {
            FormulaNode::Until { during, label: None, .. } => is_true(during),
            _ => false,
        };
        let refusal = |part: FormulaId| match self.nodes[part.index()] {
            FormulaNode::Diamond(_, next) => is_true(next),
            _ => false,
        };
        // `forever` is preserved on its own, or only when the formula does not constrain the way to it.
        let bare = |part: &FormulaId| matches!(self.nodes[part.index()], FormulaNode::Forever(_));
        let after_silence = |index: usize| match &self.nodes[index] {
            FormulaNode::True => true,
            FormulaNode::Until { during, label: None, .. } => is_true(*during),
            FormulaNode::Until { during, then, .. } => !bare(during) && !bare(then),
            FormulaNode::And(parts) => !parts.iter().any(bare),
            FormulaNode::Not(part) | FormulaNode::Diamond(_, part) | FormulaNode::Forever(part) => !bare(part),
        };
        let belongs = |index: usize| match (&self.nodes[index], logic) {
            (FormulaNode::True | FormulaNode::And(_), _) => true,
            (FormulaNode::Not(_), Logic::Simulation) => false,
            (FormulaNode::Not(part), Logic::ReadySimulation) => refusal(*part),
            (FormulaNode::Not(_), _) => true,
            (FormulaNode::Diamond(..), Logic::Strong | Logic::Simulation | Logic::ReadySimulation) => true,
            (FormulaNode::Until { .. }, Logic::Branching { .. }) => true,
            (FormulaNode::Until { during, .. }, Logic::Delay { .. }) => is_true(*during),
            (FormulaNode::Until { during, label: None, .. }, Logic::Weak { .. }) => is_true(*during),
            (FormulaNode::Until { during, then, .. }, Logic::Weak { .. }) => is_true(*during) && silent(*then),
            (FormulaNode::Forever(_), Logic::Branching { divergence }) => divergence,
            (FormulaNode::Forever(_), Logic::Delay { divergence } | Logic::Weak { divergence }) => divergence,
            _ => false,
        };
        let past_silence = matches!(logic, Logic::Delay { .. } | Logic::Weak { .. });
        if past_silence && bare(&self.root) {
            return false;
        }
        let mut used = (0..self.nodes.len()).filter(|&index| uses[index] > 0);
        used.all(|index| belongs(index) && (!past_silence || after_silence(index)))
    }

    /// What `τ*` or `τ* a τ*` leads to, if that is what a part says, and the label.
    fn behind(&self, part: FormulaId) -> Option<(Option<LabelId>, FormulaId)> {
        let FormulaNode::Until { during, label, then } = self.nodes[part.index()] else { return None };
        let (Some(_), true) = (label, self.nodes[during.index()] == FormulaNode::True) else {
            return (self.nodes[during.index()] == FormulaNode::True).then_some((label, then));
        };
        self.behind(then).filter(|(silent, _)| silent.is_none()).map(|(_, then)| (label, then))
    }

    /// Is it made of `true`, conjunctions, `<tau*.a.tau*>`, `<tau*>`, and `<tau*>` of conjunctions of negations?
    fn is_coupled(&self) -> bool {
        let mut good = vec![false; self.nodes.len()];
        // Conjunctions of negations of good parts.
        let mut denied = vec![false; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            let part = FormulaId(index as u32);
            (good[index], denied[index]) = match node {
                FormulaNode::True => (true, false),
                FormulaNode::Not(part) => (false, good[part.index()]),
                FormulaNode::And(parts) => {
                    (parts.iter().all(|part| good[part.index()]), parts.iter().all(|part| denied[part.index()]))
                }
                _ => match self.behind(part) {
                    Some((_, then)) => (good[then.index()] || denied[then.index()], false),
                    None => (false, false),
                },
            };
        }
        good[self.root.index()]
    }

    /// Is it a trace, `<tau*.a.tau*>…`, after which some traces are not possible?
    fn is_future(&self) -> bool {
        let after = |mut part: FormulaId| {
            while let Some((_, then)) = self.behind(part) {
                part = then;
            }
            part
        };
        let impossible = |part: &FormulaId| match self.nodes[part.index()] {
            FormulaNode::True => true,
            FormulaNode::Not(trace) => self.nodes[after(trace).index()] == FormulaNode::True,
            _ => false,
        };
        let end = after(self.root);
        match &self.nodes[end.index()] {
            FormulaNode::And(parts) => parts.iter().all(impossible),
            _ => impossible(&end),
        }
    }

    /// How deep its modalities are nested.
    pub fn depth(&self) -> usize {
        let mut depths = vec![0usize; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            depths[index] = match node {
                FormulaNode::True => 0,
                FormulaNode::Not(part) => depths[part.index()],
                FormulaNode::And(parts) => parts.iter().map(|part| depths[part.index()]).max().unwrap_or(0),
                FormulaNode::Diamond(_, part) | FormulaNode::Forever(part) => depths[part.index()] + 1,
                FormulaNode::Until { during, then, .. } => depths[during.index()].max(depths[then.index()]) + 1,
            };
        }
        depths[self.root.index()]
    }

    /// How often each part is needed by the parts that the root needs.
    fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0u32; self.nodes.len()];
        uses[self.root.index()] = 1;
        for index in (0..=self.root.index()).rev() {
            if uses[index] == 0 {
                continue;
            }
            match &self.nodes[index] {
                FormulaNode::True => {}
                FormulaNode::Not(part) | FormulaNode::Diamond(_, part) | FormulaNode::Forever(part) => {
                    uses[part.index()] += 1;
                }
                FormulaNode::Until { during, then, .. } => {
                    uses[during.index()] += 1;
                    uses[then.index()] += 1;
                }
                FormulaNode::And(parts) => parts.iter().for_each(|part| uses[part.index()] += 1),
            }
        }
        uses
    }

    /// A part as text, with `X1`, `X2`, … for the parts that have names.
    fn write(&self, f: &mut fmt::Formatter<'_>, from: FormulaId, names: &[u32]) -> fmt::Result {
        enum Piece {
            Text(&'static str),
            Step(LabelId),
            Part(FormulaId, bool),
        }
        let mut pieces = vec![Piece::Part(from, false)];
        while let Some(piece) = pieces.pop() {
            let (part, inside) = match piece {
                Piece::Text(text) => {
                    f.write_str(text)?;
                    continue;
                }
                Piece::Step(label) => {
                    write!(f, "<{}>", self.action(label))?;
                    continue;
                }
                Piece::Part(part, inside) => (part, inside),
            };
            if part != from && names[part.index()] > 0 {
                write!(f, "X{}", names[part.index()])?;
                continue;
            }
            if let Some((word, next)) = self.modality(part, names) {
                write!(f, "<{word}>")?;
                pieces.push(Piece::Part(next, true));
                continue;
            }
            match &self.nodes[part.index()] {
                FormulaNode::True => f.write_str("true")?,
                FormulaNode::Not(inner) => {
                    // The negation of a step reads better as what holds after every such step.
                    let step = if names[inner.index()] == 0 { self.modality(*inner, names) } else { None };
                    match (&self.nodes[inner.index()], step) {
                        (_, Some((word, next))) => {
                            write!(f, "[{word}]")?;
                            match &self.nodes[next.index()] {
                                FormulaNode::True => f.write_str("false")?,
                                FormulaNode::Not(positive) if names[next.index()] == 0 => {
                                    pieces.push(Piece::Part(*positive, true));
                                }
                                _ => {
                                    f.write_str("!")?;
                                    pieces.push(Piece::Part(next, true));
                                }
                            }
                        }
                        (FormulaNode::True, _) => f.write_str("false")?,
                        _ => {
                            f.write_str("!")?;
                            pieces.push(Piece::Part(*inner, true));
                        }
                    }
                }
                FormulaNode::And(parts) => {
                    if inside {
                        f.write_str("(")?;
                        pieces.push(Piece::Text(")"));
                    }
                    for (index, &conjunct) in parts.iter().enumerate().rev() {
                        pieces.push(Piece::Part(conjunct, true));
                        if index > 0 {
                            pieces.push(Piece::Text(" && "));
                        }
                    }
                }
                FormulaNode::Until { during, label: Some(label), then } => {
                    f.write_str("(mu Y. ")?;
                    pieces.push(Piece::Text(" || <tau>Y))"));
                    pieces.push(Piece::Part(*then, true));
                    pieces.push(Piece::Step(*label));
                    pieces.push(Piece::Text(" && ("));
                    pieces.push(Piece::Part(*during, true));
                }
                FormulaNode::Until { during, label: None, then } => {
                    f.write_str("(mu Y. ")?;
                    pieces.push(Piece::Text(" && <tau>Y))"));
                    pieces.push(Piece::Part(*during, true));
                    pieces.push(Piece::Text(" || ("));
                    pieces.push(Piece::Part(*then, true));
                }
                FormulaNode::Forever(inner) => {
                    f.write_str("(nu Y. ")?;
                    pieces.push(Piece::Text(" && <tau>Y)"));
                    pieces.push(Piece::Part(*inner, true));
                }
                FormulaNode::Diamond(..) => unreachable!("a step is a modality"),
            }
        }
        Ok(())
    }

    /// A label as an action formula: `c(1, true)`, where a dot would be a sequence.
    fn action(&self, label: LabelId) -> String {
        if label == LabelId::TICK {
            return "tick".to_string();
        }
        let part = |part: &crate::labels::Part| match &part.arguments[..] {
            [] => part.name.to_string(),
            arguments => format!("{}({})", part.name, arguments.join(", ")),
        };
        match self.labels.get(label).parts() {
            [] => "tau".to_string(),
            parts => parts.iter().map(part).collect::<Vec<_>>().join("|"),
        }
    }

    /// What stands between the angle brackets of a part that is written with them, and what follows.
    fn modality(&self, part: FormulaId, names: &[u32]) -> Option<(String, FormulaId)> {
        let is_true = |part: FormulaId| self.nodes[part.index()] == FormulaNode::True;
        match self.nodes[part.index()] {
            FormulaNode::Diamond(label, next) => Some((self.action(label), next)),
            FormulaNode::Until { during, label, then } if is_true(during) => {
                let Some(label) = label else { return Some(("tau*".to_string(), then)) };
                let word = format!("tau*.{}", self.action(label));
                match self.nodes[then.index()] {
                    FormulaNode::Until { during, label: None, then: next }
                        if is_true(during) && names[then.index()] == 0 =>
                    {
                        Some((format!("{word}.tau*"), next))
                    }
                    _ => Some((word, then)),
                }
            }
            _ => None,
        }
    }
}

/// `<a>(<b>true && [c]false)`; parts that are used more than once follow as `where X1 = …`.
impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let uses = self.uses();
        let mut names = vec![0u32; self.nodes.len()];
        let mut named: Vec<FormulaId> = Vec::new();
        for index in (0..self.root.index()).rev() {
            let negates_named_text = matches!(self.nodes[index], FormulaNode::True);
            if uses[index] > 1 && !negates_named_text && !self.is_short(FormulaId(index as u32)) {
                named.push(FormulaId(index as u32));
                names[index] = named.len() as u32;
            }
        }
        self.write(f, self.root, &names)?;
        for &part in &named {
            write!(f, "\n  where X{} = ", names[part.index()])?;
            self.write(f, part, &names)?;
        }
        Ok(())
    }
}

impl Formula {
    /// Is a part better written again than named?
    fn is_short(&self, part: FormulaId) -> bool {
        let is_true = |part: &FormulaId| self.nodes[part.index()] == FormulaNode::True;
        match &self.nodes[part.index()] {
            FormulaNode::True => true,
            FormulaNode::Diamond(_, next) | FormulaNode::Forever(next) => is_true(next),
            FormulaNode::Not(inner) => match &self.nodes[inner.index()] {
                FormulaNode::Diamond(_, next) => is_true(next),
                node => *node == FormulaNode::True,
            },
            FormulaNode::Until { during, then, .. } => {
                let silent = |part: &FormulaId| match &self.nodes[part.index()] {
                    FormulaNode::Until { during, label: None, then } => is_true(during) && is_true(then),
                    node => *node == FormulaNode::True,
                };
                is_true(during) && silent(then)
            }
            FormulaNode::And(_) => false,
        }
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_parts_are_named_and_short_ones_written_out() {
        let labels = Arc::new(Labels::new());
        let (a, b) = (labels.name("a"), labels.name("b"));
        let mut formula = Formula::new(labels);
        let truth = formula.truth();
        let can_a = formula.diamond(a, truth);
        let can_b = formula.diamond(b, truth);
        let not_b = formula.not(can_b);
        let both = formula.and([can_a, not_b]);
        let later = formula.diamond(b, both);
        let never = formula.diamond(a, both);
        let never = formula.not(never);
        let root = formula.and([later, never, can_a]);
        formula.set_root(root);
        assert_eq!(formula.to_string(), "<a>true && <b>X1 && [a]!X1\n  where X1 = <a>true && [b]false");
        assert_eq!(formula.depth(), 2);
    }

    #[test]
    fn what_is_past_tau_is_written_as_regular_steps() {
        let labels = Arc::new(Labels::new());
        let (a, b) = (labels.name("a"), labels.name("b"));
        let mut formula = Formula::new(labels);
        let truth = formula.truth();
        let late = formula.silently(truth);
        let weak = formula.until(truth, Some(a), late);
        let delay = formula.until(truth, Some(b), weak);
        let never = formula.not(delay);
        let way = formula.until(never, Some(b), weak);
        let stays = formula.forever(never);
        let rest = formula.until(stays, None, delay);
        let root = formula.and([way, rest]);
        formula.set_root(root);
        let expected = "(mu Y. X1 && (<b><tau*.a.tau*>true || <tau>Y)) && (mu Y. X2 || ((nu Y. X1 && <tau>Y) && \
            <tau>Y))\n  where X1 = !X2\n  where X2 = <tau*.b><tau*.a.tau*>true";
        assert_eq!(formula.to_string(), expected);
        assert!(formula.is_in(Logic::Branching { divergence: true }));
        assert!(!formula.is_in(Logic::Branching { divergence: false }));
        assert!(!formula.is_in(Logic::Delay { divergence: true }));
        formula.set_root(delay);
        assert!(formula.is_in(Logic::Delay { divergence: false }) && !formula.is_in(Logic::Weak { divergence: false }));
        formula.set_root(weak);
        assert!(formula.is_in(Logic::Weak { divergence: false }) && !formula.is_in(Logic::Strong));
        formula.set_root(stays);
        assert!(!formula.is_in(Logic::Weak { divergence: true }));
        let after = formula.forever(truth);
        let after = formula.silently(after);
        formula.set_root(after);
        assert_eq!(formula.to_string(), "<tau*>(nu Y. true && <tau>Y)");
        assert!(formula.is_in(Logic::Weak { divergence: true }) && !formula.is_in(Logic::Weak { divergence: false }));
    }

    #[test]
    fn negation_is_no_part_of_simulation() {
        let labels = Arc::new(Labels::new());
        let a = labels.name("a");
        let mut formula = Formula::new(labels);
        let truth = formula.truth();
        let can = formula.diamond(a, truth);
        let twice = formula.diamond(a, can);
        let refusal = formula.not(can);
        let refusal = formula.diamond(a, refusal);
        let never = formula.not(twice);
        let mut logics = |root| {
            formula.set_root(root);
            [Logic::Strong, Logic::Simulation, Logic::ReadySimulation].map(|logic| formula.is_in(logic))
        };
        assert_eq!(logics(twice), [true, true, true]);
        assert_eq!(logics(refusal), [true, false, true]);
        assert_eq!(logics(never), [true, false, false]);
    }

    #[test]
    fn a_deep_formula_overflows_nothing() {
        let labels = Arc::new(Labels::new());
        let a = labels.name("a");
        let mut formula = Formula::new(labels);
        let mut part = formula.truth();
        for _ in 0..200_000 {
            part = formula.diamond(a, part);
            part = formula.not(part);
        }
        formula.set_root(part);
        assert_eq!(formula.depth(), 200_000);
        assert!(formula.to_string().len() > 200_000);
    }
}
