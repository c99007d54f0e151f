//! Hennessy–Milner formulas, and whether a state satisfies one.
//!
//! A [`Formula`] says what a state can do: `<a>φ` holds where an `a`-step leads to a state that satisfies `φ` (Hennessy and
//! Milner, *Algebraic laws for nondeterminism and concurrency*, 1985). Two systems that are not strongly bisimilar are told apart by one,
//! and that formula is the evidence. Written out it can be exponential in the number of its different parts, so it is kept
//! as a graph in which equal parts are one node, and it is printed with names for the parts that occur more than once.
//!
//! [`satisfies`] evaluates a formula on any system, naively: a node in a state, from the parts it needs, each once.
//! [`has_trace`] does the same for the simplest of formulas, a sequence of steps. They share nothing with the algorithms that
//! find formulas and traces. Nothing here recurses: formulas can be as deep as systems are long.
//!
//! Cost of `satisfies`: at most the number of nodes times the number of states and transitions within its depth.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};

use crate::labels::{LabelId, Labels};
use crate::layout::Value;
use crate::transitions::{Explorer, System};

/// The number of a node in its formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormulaId(pub u32);

impl FormulaId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A part of a formula; what it refers to has a smaller number.
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
}

/// A formula over the labels of a table: a graph of parts and the part that is meant.
#[derive(Clone)]
pub struct Formula {
    labels: Arc<Labels>,
    nodes: Vec<FormulaNode>,
    known: HashMap<FormulaNode, FormulaId, foldhash::fast::RandomState>,
    root: FormulaId,
}

impl Formula {
    /// The formula that holds everywhere, as a start.
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

    /// The part that is meant.
    pub fn root(&self) -> FormulaId {
        self.root
    }

    /// Says which part is meant.
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

    /// What holds everywhere.
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

    /// The greatest number of steps that one of its parts looks ahead.
    pub fn depth(&self) -> usize {
        let mut depths = vec![0usize; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            depths[index] = match node {
                FormulaNode::True => 0,
                FormulaNode::Not(part) => depths[part.index()],
                FormulaNode::And(parts) => parts.iter().map(|part| depths[part.index()]).max().unwrap_or(0),
                FormulaNode::Diamond(_, part) => depths[part.index()] + 1,
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
                FormulaNode::Not(part) | FormulaNode::Diamond(_, part) => uses[part.index()] += 1,
                FormulaNode::And(parts) => parts.iter().for_each(|part| uses[part.index()] += 1),
            }
        }
        uses
    }

    /// A part as text, with `X1`, `X2`, … for the parts that have names.
    fn write(&self, f: &mut fmt::Formatter<'_>, from: FormulaId, names: &[u32]) -> fmt::Result {
        enum Piece {
            Text(&'static str),
            Part(FormulaId, bool),
        }
        let mut pieces = vec![Piece::Part(from, false)];
        while let Some(piece) = pieces.pop() {
            let (part, inside) = match piece {
                Piece::Text(text) => {
                    f.write_str(text)?;
                    continue;
                }
                Piece::Part(part, inside) => (part, inside),
            };
            if part != from && names[part.index()] > 0 {
                write!(f, "X{}", names[part.index()])?;
                continue;
            }
            match &self.nodes[part.index()] {
                FormulaNode::True => f.write_str("true")?,
                FormulaNode::Not(inner) => {
                    // The negation of a step reads better as what holds after every such step.
                    match &self.nodes[inner.index()] {
                        FormulaNode::Diamond(label, next) if names[inner.index()] == 0 => {
                            write!(f, "[{}]", self.labels.get(*label))?;
                            match &self.nodes[next.index()] {
                                FormulaNode::True => f.write_str("false")?,
                                FormulaNode::Not(positive) if names[next.index()] == 0 => {
                                    pieces.push(Piece::Part(*positive, true));
                                }
                                _ => {
                                    f.write_str("!")?;
                                    pieces.push(Piece::Part(*next, true));
                                }
                            }
                        }
                        FormulaNode::True => f.write_str("false")?,
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
                FormulaNode::Diamond(label, next) => {
                    write!(f, "<{}>", self.labels.get(*label))?;
                    pieces.push(Piece::Part(*next, true));
                }
            }
        }
        Ok(())
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
            FormulaNode::Diamond(_, next) => is_true(next),
            FormulaNode::Not(inner) => match &self.nodes[inner.index()] {
                FormulaNode::Diamond(_, next) => is_true(next),
                node => *node == FormulaNode::True,
            },
            FormulaNode::And(_) => false,
        }
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Does the initial state of a system satisfy a formula? Labels are matched by what they say, so the system may have a table
/// of its own.
pub fn satisfies(system: &dyn System, formula: &Formula, control: &Control) -> Result<bool, Stopped> {
    let own = labels_in(system.labels(), formula.labels());
    let mut explored = Explored::new(system);
    let start = explored.number(&system.initial());
    let mut holds: HashMap<(FormulaId, usize), bool> = HashMap::new();
    // A question waits on the stack for the answers it depends on; it has used as many of them as it says.
    let mut questions = vec![(formula.root(), start, 0usize)];
    let mut asked = 0usize;
    while let Some((part, state, used)) = questions.pop() {
        asked += 1;
        if asked.is_multiple_of(1 << 12) {
            control.check()?;
        }
        let needed = match &formula.nodes()[part.index()] {
            FormulaNode::True => Err(true),
            FormulaNode::Not(inner) => match holds.get(&(*inner, state)) {
                Some(&known) => Err(!known),
                None => Ok((*inner, state, 0)),
            },
            FormulaNode::And(parts) => decide(parts.iter().map(|&conjunct| (conjunct, state)), used, false, &holds),
            FormulaNode::Diamond(label, next) => {
                explored.expand(state);
                let steps = explored.steps(state).iter().filter(|(step, _)| own.get(step) == Some(label));
                decide(steps.map(|&(_, target)| (*next, target)), used, true, &holds)
            }
        };
        match needed {
            Err(answer) => {
                holds.insert((part, state), answer);
            }
            Ok((needed_part, needed_state, answered)) => {
                questions.push((part, state, answered));
                questions.push((needed_part, needed_state, 0));
            }
        }
    }
    Ok(holds[&(formula.root(), start)])
}

/// Looks for an alternative with the given value, from the one after `used` on: the answer, or the question that must be
/// answered first and how many alternatives before it have the other value.
fn decide(
    alternatives: impl Iterator<Item = (FormulaId, usize)>,
    used: usize,
    wanted: bool,
    holds: &HashMap<(FormulaId, usize), bool>,
) -> Result<(FormulaId, usize, usize), bool> {
    for (index, question) in alternatives.enumerate().skip(used) {
        match holds.get(&question) {
            None => return Ok((question.0, question.1, index)),
            Some(&answer) if answer == wanted => return Err(wanted),
            Some(_) => {}
        }
    }
    Err(!wanted)
}

/// The states of a system that were met, and their steps once they are asked for.
struct Explored<'a> {
    explorer: Box<dyn Explorer + 'a>,
    numbers: HashMap<Vec<Value>, usize>,
    rows: Vec<Vec<Value>>,
    steps: Vec<Option<Vec<(LabelId, usize)>>>,
}

impl<'a> Explored<'a> {
    fn new(system: &'a dyn System) -> Explored<'a> {
        Explored { explorer: system.explorer(), numbers: HashMap::new(), rows: Vec::new(), steps: Vec::new() }
    }

    fn number(&mut self, row: &[Value]) -> usize {
        if let Some(&known) = self.numbers.get(row) {
            return known;
        }
        self.numbers.insert(row.to_vec(), self.rows.len());
        self.rows.push(row.to_vec());
        self.steps.push(None);
        self.rows.len() - 1
    }

    fn expand(&mut self, state: usize) {
        if self.steps[state].is_some() {
            return;
        }
        let mut found: Vec<(LabelId, Vec<Value>)> = Vec::new();
        self.explorer.successors(&self.rows[state], &mut |step| found.push((step.label, step.row.to_vec())));
        let steps = found.into_iter().map(|(label, row)| (label, self.number(&row))).collect();
        self.steps[state] = Some(steps);
    }

    fn steps(&self, state: usize) -> &[(LabelId, usize)] {
        self.steps[state].as_deref().unwrap_or_default()
    }
}

/// Does a system have a trace, its labels being those of the given table? With `weak`, steps of `τ` may come anywhere between.
pub fn has_trace(
    system: &dyn System,
    labels: &Arc<Labels>,
    trace: &[LabelId],
    weak: bool,
    control: &Control,
) -> Result<bool, Stopped> {
    let own = labels_in(system.labels(), labels);
    let mut explored = Explored::new(system);
    let mut here = BTreeSet::from([explored.number(&system.initial())]);
    let mut events = trace.iter();
    loop {
        control.check()?;
        if weak {
            let mut work: Vec<usize> = here.iter().copied().collect();
            while let Some(state) = work.pop() {
                explored.expand(state);
                let silent = explored.steps(state).iter().filter(|(label, _)| *label == LabelId::TAU);
                work.extend(silent.map(|&(_, target)| target).filter(|&target| here.insert(target)));
            }
        }
        let Some(event) = events.next() else { return Ok(!here.is_empty()) };
        let mut next = BTreeSet::new();
        for state in here {
            explored.expand(state);
            let steps = explored.steps(state).iter().filter(|(label, _)| own.get(label) == Some(event));
            next.extend(steps.map(|&(_, target)| target));
        }
        here = next;
    }
}

/// For each label of one table its number in another that has it.
fn labels_in(from: &Arc<Labels>, into: &Arc<Labels>) -> HashMap<LabelId, LabelId> {
    if Arc::ptr_eq(from, into) {
        return (0..from.len() as u32).map(|number| (LabelId(number), LabelId(number))).collect();
    }
    let known: HashMap<&crate::Label, LabelId> =
        (0..into.len() as u32).map(|number| (into.get(LabelId(number)), LabelId(number))).collect();
    let numbers = (0..from.len() as u32).map(LabelId);
    numbers.filter_map(|number| known.get(from.get(number)).map(|&other| (number, other))).collect()
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
