//! Does a system satisfy a formula, and does it have a trace? Naively.
//!
//! [`satisfies`] evaluates a node in a state after the nodes and states that the answer depends on, each once;
//! [`has_trace`] does the same for the simplest of formulas, a sequence of steps. They share nothing with the
//! algorithms that find formulas and traces.
//!
//! `until` and `forever` depend on all states that `τ` leads to. All of them are evaluated together, backwards: from
//! the states in which an `until` holds immediately to their predecessors; and, for `forever`, by removing states
//! without a remaining successor. Such a set of states is closed under `τ`, so its answers are final, and for each node
//! a state is in one such set.
//!
//! Cost of `satisfies`: at most the number of nodes times the number of states and transitions that the formula
//! reaches.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use trefoil_control::Control;

use super::{Formula, FormulaId, FormulaNode};
use crate::cut::{Cut, Walk};
use crate::labels::{LabelId, Labels};
use crate::layout::Value;
use crate::transitions::{Explorer, System};

/// Does the initial state of a system satisfy a formula? Labels are matched by what they say, so the system may have a
/// table of its own.
pub fn satisfies(system: &dyn System, formula: &Formula, control: &Control) -> Result<bool, Cut> {
    let own = labels_in(system.labels(), formula.labels());
    let mut explored = Explored::new(system, control);
    let start = explored.number(&system.initial(control)?);
    let mut holds: Answers = HashMap::default();
    // A question waits on the stack for the answers it depends on, and counts how many of them it has used.
    let mut questions = vec![(formula.root(), start, 0usize)];
    let mut asked = 0usize;
    while let Some((part, state, used)) = questions.pop() {
        asked += 1;
        if asked.is_multiple_of(1 << 12) {
            control.check()?;
        }
        if holds.contains_key(&(part, state)) {
            continue;
        }
        let needed = match &formula.nodes()[part.index()] {
            FormulaNode::True => Err(true),
            FormulaNode::Not(inner) => match holds.get(&(*inner, state)) {
                Some(&known) => Err(!known),
                None => Ok((*inner, state, 0)),
            },
            FormulaNode::And(parts) => decide(parts.iter().map(|&conjunct| (conjunct, state)), used, false, &holds),
            FormulaNode::Diamond(label, next) => {
                explored.expand(state)?;
                let steps = explored.steps(state).iter().filter(|(step, _)| own.get(step) == Some(label));
                decide(steps.map(|&(_, target)| (*next, target)), used, true, &holds)
            }
            node @ (FormulaNode::Until { .. } | FormulaNode::Forever(_)) => {
                let region = Region::new(&mut explored, part, state, &holds, control)?;
                let before = questions.len();
                questions.push((part, state, 0));
                region.questions(&explored, node, &own, &holds, &mut questions);
                if questions.len() == before + 1 {
                    questions.truncate(before);
                    region.answer(&explored, part, node, &own, &mut holds, control)?;
                }
                continue;
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

/// Answers so far: does the part hold in the state?
type Answers = HashMap<(FormulaId, usize), bool, foldhash::fast::RandomState>;

/// The states that `τ` leads to and in which a part has not been decided.
struct Region {
    states: Vec<usize>,
}

impl Region {
    fn new(
        explored: &mut Explored<'_>,
        part: FormulaId,
        from: usize,
        holds: &Answers,
        control: &Control,
    ) -> Result<Region, Cut> {
        let mut seen = BTreeSet::from([from]);
        let mut states = vec![from];
        let mut at = 0;
        while at < states.len() {
            if at.is_multiple_of(1 << 10) {
                control.check()?;
            }
            explored.expand(states[at])?;
            for &(label, target) in explored.steps(states[at]) {
                if label == LabelId::TAU && !holds.contains_key(&(part, target)) && seen.insert(target) {
                    states.push(target);
                }
            }
            at += 1;
        }
        Ok(Region { states })
    }

    /// Pushes the unanswered questions that the states' answers depend on.
    fn questions(
        &self,
        explored: &Explored<'_>,
        node: &FormulaNode,
        own: &HashMap<LabelId, LabelId>,
        holds: &Answers,
        questions: &mut Vec<(FormulaId, usize, usize)>,
    ) {
        let mut ask = |part: FormulaId, state: usize| {
            if !holds.contains_key(&(part, state)) {
                questions.push((part, state, 0));
            }
        };
        for &state in &self.states {
            match node {
                FormulaNode::Until { during, label, then } => {
                    ask(*during, state);
                    match label {
                        None => ask(*then, state),
                        Some(label) => explored
                            .steps(state)
                            .iter()
                            .filter(|(step, _)| own.get(step) == Some(label))
                            .for_each(|&(_, target)| ask(*then, target)),
                    }
                }
                FormulaNode::Forever(inner) => ask(*inner, state),
                _ => unreachable!("only these look past τ"),
            }
        }
    }

    /// Answers for all states of the region; the answers that they depend on are known.
    fn answer(
        &self,
        explored: &Explored<'_>,
        part: FormulaId,
        node: &FormulaNode,
        own: &HashMap<LabelId, LabelId>,
        holds: &mut Answers,
        control: &Control,
    ) -> Result<(), Cut> {
        control.check()?;
        let place: HashMap<usize, usize> = self.states.iter().enumerate().map(|(at, &state)| (state, at)).collect();
        let silent = |state: usize| {
            explored.steps(state).iter().filter(|(label, _)| *label == LabelId::TAU).map(|&(_, target)| target)
        };
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.states.len()];
        for (at, &state) in self.states.iter().enumerate() {
            for target in silent(state) {
                if let Some(&to) = place.get(&target) {
                    before[to].push(at);
                }
            }
        }
        let mut answers = vec![false; self.states.len()];
        match node {
            FormulaNode::Until { during, label, then } => {
                let mut work = Vec::new();
                for (at, &state) in self.states.iter().enumerate() {
                    let on_the_way = holds[&(*during, state)];
                    let at_once = match label {
                        None => holds[&(*then, state)],
                        Some(label) => {
                            let mut steps =
                                explored.steps(state).iter().filter(|(step, _)| own.get(step) == Some(label));
                            on_the_way && steps.any(|&(_, target)| holds[&(*then, target)])
                        }
                    };
                    // A successor outside the region has its answer already.
                    let later = || on_the_way && silent(state).any(|next| holds.get(&(part, next)) == Some(&true));
                    if at_once || later() {
                        answers[at] = true;
                        work.push(at);
                    }
                }
                while let Some(at) = work.pop() {
                    for &from in &before[at] {
                        if !answers[from] && holds[&(*during, self.states[from])] {
                            answers[from] = true;
                            work.push(from);
                        }
                    }
                }
            }
            FormulaNode::Forever(inner) => {
                // How many successors are left; a state without any is removed.
                let mut left = vec![0usize; self.states.len()];
                let mut work = Vec::new();
                for (at, &state) in self.states.iter().enumerate() {
                    answers[at] = holds[&(*inner, state)];
                    left[at] = silent(state)
                        .filter(|next| place.contains_key(next) || holds.get(&(part, *next)) == Some(&true))
                        .count();
                    if !answers[at] || left[at] == 0 {
                        answers[at] = false;
                        work.push(at);
                    }
                }
                while let Some(at) = work.pop() {
                    for &from in &before[at] {
                        left[from] -= 1;
                        if left[from] == 0 && answers[from] {
                            answers[from] = false;
                            work.push(from);
                        }
                    }
                }
            }
            _ => unreachable!("only these look past τ"),
        }
        holds.extend(self.states.iter().zip(answers).map(|(&state, answer)| ((part, state), answer)));
        Ok(())
    }
}

/// Looks for an alternative with the given value, from the one after `used` on: the answer, or the question that must
/// be answered first and how many alternatives before it have the other value.
fn decide(
    alternatives: impl Iterator<Item = (FormulaId, usize)>,
    used: usize,
    wanted: bool,
    holds: &Answers,
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

/// The states of a system that were found, and their steps once they are needed.
struct Explored<'a> {
    explorer: Box<dyn Explorer + 'a>,
    numbers: HashMap<Vec<Value>, usize>,
    rows: Vec<Vec<Value>>,
    steps: Vec<Option<Vec<(LabelId, usize)>>>,
}

impl<'a> Explored<'a> {
    fn new(system: &'a dyn System, control: &'a Control) -> Explored<'a> {
        Explored { explorer: system.explorer(control), numbers: HashMap::new(), rows: Vec::new(), steps: Vec::new() }
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

    fn expand(&mut self, state: usize) -> Walk {
        if self.steps[state].is_some() {
            return Ok(());
        }
        let mut found: Vec<(LabelId, Vec<Value>)> = Vec::new();
        self.explorer.successors(&self.rows[state], &mut |step| {
            found.push((step.label, step.row.to_vec()));
            Ok(())
        })?;
        let steps = found.into_iter().map(|(label, row)| (label, self.number(&row))).collect();
        self.steps[state] = Some(steps);
        Ok(())
    }

    fn steps(&self, state: usize) -> &[(LabelId, usize)] {
        self.steps[state].as_deref().unwrap_or_default()
    }
}

/// Does a system have a trace over the labels of the given table? With `weak`, `τ` may occur anywhere between.
pub fn has_trace(
    system: &dyn System,
    labels: &Arc<Labels>,
    trace: &[LabelId],
    weak: bool,
    control: &Control,
) -> Result<bool, Cut> {
    let own = labels_in(system.labels(), labels);
    let mut explored = Explored::new(system, control);
    let mut here = BTreeSet::from([explored.number(&system.initial(control)?)]);
    let mut events = trace.iter();
    loop {
        control.check()?;
        if weak {
            let mut work: Vec<usize> = here.iter().copied().collect();
            while let Some(state) = work.pop() {
                explored.expand(state)?;
                let silent = explored.steps(state).iter().filter(|(label, _)| *label == LabelId::TAU);
                work.extend(silent.map(|&(_, target)| target).filter(|&target| here.insert(target)));
            }
        }
        let Some(event) = events.next() else { return Ok(!here.is_empty()) };
        let mut next = BTreeSet::new();
        for state in here {
            explored.expand(state)?;
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
