//! Runs that never end: formulas on lassos, and acceptance and fairness on small graphs, straight from the definitions.
//!
//! [`holds`] evaluates a formula at a position of a lasso by looking at all later positions: `a until b` holds when
//! some later position has `b` and all before it have `a`. A lasso has no more different positions than its length, so
//! looking that far suffices.
//!
//! [`has_accepted_run`] tries every set of pairs of a state and an automaton state as the set of those that recur on a
//! run. A run can visit exactly these forever, taking every edge between them again and again, when they are strongly
//! connected. More edges never hurt: each mark and each move of a process is one more that recurs.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_system::{
    Automaton, AutomatonEdge, Cube, Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Ltl, LtlId, LtlNode, Mark,
    MarkId, Meaning, Sink, Slot, SlotSet, Step, System, Value, Values, Walk, Wrong,
};

use crate::Random;

/// Letters, and the position behind the last one.
#[derive(Clone, Debug)]
pub struct PlainLasso {
    /// The propositions that hold at each position.
    pub letters: Vec<u64>,
    /// The position that follows the last one.
    pub back_to: usize,
}

impl PlainLasso {
    fn at(&self, position: usize) -> usize {
        let length = self.letters.len();
        if position < length { position } else { self.back_to + (position - length) % (length - self.back_to) }
    }

    /// All lassos of a length over some propositions.
    pub fn all(length: usize, propositions: u32) -> impl Iterator<Item = PlainLasso> {
        let letters = 1u64 << propositions;
        (0..letters.pow(length as u32)).flat_map(move |code| {
            let word: Vec<u64> = (0..length as u32).map(|at| code / letters.pow(at) % letters).collect();
            (0..length).map(move |back_to| PlainLasso { letters: word.clone(), back_to })
        })
    }
}

/// Does a formula hold at a position of a lasso?
pub fn holds(ltl: &Ltl, formula: LtlId, lasso: &PlainLasso, position: usize) -> bool {
    let position = lasso.at(position);
    let later = position..position + lasso.letters.len();
    let of = |part: LtlId, at: usize| holds(ltl, part, lasso, at);
    match ltl.node(formula) {
        LtlNode::True => true,
        LtlNode::False => false,
        LtlNode::Proposition(number) => lasso.letters[position] >> number & 1 == 1,
        LtlNode::Not(part) => !of(part, position),
        LtlNode::And(one, other) => of(one, position) && of(other, position),
        LtlNode::Or(one, other) => of(one, position) || of(other, position),
        LtlNode::Next(part) => of(part, position + 1),
        LtlNode::Until(one, other) => {
            later.clone().any(|at| of(other, at) && (position..at).all(|before| of(one, before)))
        }
        LtlNode::Release(one, other) => {
            later.clone().all(|at| of(other, at) || (position..at).any(|before| of(one, before)))
        }
    }
}

/// The words of visible labels of all lassos of a system with so many steps at most, stem and cycle together, and of
/// the runs that end so early. Steps are sources, labels (none for internal steps), targets; the run begins in state 0.
/// A letter has the bit of its label. Behind a run that ends or diverges there are empty letters.
pub fn words_of_lassos(steps: &[(u32, Option<usize>, u32)], most: usize) -> Vec<PlainLasso> {
    fn letters(run: &[(u32, Option<usize>, u32)]) -> Vec<u64> {
        run.iter().filter_map(|(_, name, _)| name.map(|name| 1 << name)).collect()
    }
    let mut words = Vec::new();
    let mut work: Vec<Vec<(u32, Option<usize>, u32)>> = vec![Vec::new()];
    while let Some(run) = work.pop() {
        let here = run.last().map_or(0, |step| step.2);
        let next: Vec<_> = steps.iter().filter(|step| step.0 == here).collect();
        for from in 0..run.len() {
            if run[from].0 == here {
                let (mut word, around) = (letters(&run[..from]), letters(&run[from..]));
                let back_to = word.len();
                if around.is_empty() {
                    word.push(0)
                } else {
                    word.extend(around)
                }
                words.push(PlainLasso { letters: word, back_to });
            }
        }
        if next.is_empty() {
            let mut word = letters(&run);
            word.push(0);
            words.push(PlainLasso { back_to: word.len() - 1, letters: word });
        }
        if run.len() < most {
            for &step in next {
                work.push([&run[..], &[step]].concat());
            }
        }
    }
    words
}

/// A random formula with so many operators at most, over some propositions.
pub fn random_formula(ltl: &mut Ltl, size: usize, propositions: u32, random: &mut Random) -> LtlId {
    if size == 0 {
        return match random.below(12) {
            0 => ltl.add(LtlNode::True),
            1 => ltl.add(LtlNode::False),
            _ => {
                let literal = ltl.add(LtlNode::Proposition(random.below(propositions as usize) as u32));
                if random.chance(40) { ltl.add(LtlNode::Not(literal)) } else { literal }
            }
        };
    }
    let left = random.below(size);
    let one = random_formula(ltl, left, propositions, random);
    let node = match random.below(12) {
        0 => LtlNode::Not(one),
        1 | 2 => LtlNode::Next(one),
        3 | 4 => LtlNode::Until(ltl.add(LtlNode::True), one),
        5 | 6 => LtlNode::Release(ltl.add(LtlNode::False), one),
        kind => {
            let other = random_formula(ltl, size - 1 - left, propositions, random);
            match kind {
                7 => LtlNode::And(one, other),
                8 => LtlNode::Or(one, other),
                9 | 10 => LtlNode::Until(one, other),
                _ => LtlNode::Release(one, other),
            }
        }
    };
    ltl.add(node)
}

/// A random automaton.
pub fn random_automaton(states: usize, propositions: u32, random: &mut Random) -> Automaton {
    let marks = random.below(3) as u32;
    let edges = (0..states).map(|_| {
        let count = random.below(4);
        (0..count)
            .map(|_| {
                let mut letters = Cube::ALL;
                for proposition in 0..propositions {
                    match random.below(4) {
                        0 => letters.yes |= 1 << proposition,
                        1 => letters.no |= 1 << proposition,
                        _ => {}
                    }
                }
                let marks = random.bits() as u32 & random.bits() as u32 & ((1 << marks) - 1);
                AutomatonEdge { letters, marks, target: random.below(states) as u32 }
            })
            .collect()
    });
    Automaton { edges: edges.collect(), initial: vec![0], marks, end: None }
}

/// A step of a plain system.
#[derive(Clone, Debug)]
pub struct PlainStep {
    /// Where it leads.
    pub target: u32,
    /// The process that initiates it.
    pub initiator: u32,
    /// The processes that take part, one bit each.
    pub taking_part: u64,
    /// Does it pass what counts for claims ([`Step::passes`])?
    pub passes: bool,
}

/// A system with numbered states.
pub struct PlainSystem {
    /// The steps of each state.
    pub steps: Vec<Vec<PlainStep>>,
    /// The propositions that hold in each state.
    pub letters: Vec<u32>,
    /// Those that have no value there.
    undefined: Vec<u32>,
    layout: Layout,
    labels: Arc<Labels>,
    names: Vec<LabelId>,
    groups: Vec<Group>,
    marks: Vec<Mark>,
}

impl PlainSystem {
    /// A random one, with steps of some processes.
    pub fn random(states: usize, propositions: u32, processes: u32, random: &mut Random) -> PlainSystem {
        let steps = (0..states)
            .map(|_| {
                (0..random.below(4))
                    .map(|_| {
                        let initiator = random.below(processes as usize) as u32;
                        let mut taking_part = 1 << initiator;
                        if random.chance(30) {
                            taking_part |= 1 << random.below(processes as usize);
                        }
                        let (target, passes) = (random.below(states) as u32, random.chance(30));
                        PlainStep { target, initiator, taking_part, passes }
                    })
                    .collect()
            })
            .collect();
        let letters = (0..states).map(|_| random.below(1 << propositions) as u32).collect();
        PlainSystem::new(steps, letters)
    }

    /// With these steps and letters.
    pub fn new(steps: Vec<Vec<PlainStep>>, letters: Vec<u32>) -> PlainSystem {
        let labels = Arc::new(Labels::new());
        let names = (0..8).map(|process| labels.name(&format!("p{process}"))).collect();
        let all: SlotSet = [0].into_iter().collect();
        let slot = Slot { name: "state".into(), values: Values::Below(steps.len() as Value) };
        let group = Group { name: "step".into(), guards: all.clone(), may_write: all.clone(), ..Group::default() };
        let marks = vec![Mark { meaning: Meaning::Proposition, reads: all, values: Value::MAX }];
        let (undefined, layout) = (vec![0; letters.len()], Layout::new(vec![slot]));
        PlainSystem { steps, letters, undefined, layout, labels, names, groups: vec![group], marks }
    }

    /// The same system, with propositions that have no value in some states.
    pub fn with_undefined(mut self, undefined: Vec<u32>) -> PlainSystem {
        self.undefined = undefined;
        let reads = self.marks[0].reads.clone();
        self.marks.push(Mark { meaning: Meaning::Undefined, reads, values: Value::MAX });
        self
    }
}

struct PlainExplorer<'s>(&'s PlainSystem);

impl Explorer for PlainExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        for step in &self.0.steps[row[0] as usize] {
            let label = self.0.names[step.initiator as usize];
            let others = (0..64).filter(|agent| step.taking_part >> agent & 1 == 1 && *agent != step.initiator);
            let agents: Vec<u32> = std::iter::once(step.initiator).chain(others).collect();
            let passes = step.passes;
            sink(Step { agents: &agents, passes, ..Step::of_group(GroupId(0), label, &[step.target]) })?;
        }
        Ok(())
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        let shown = if mark.index() == 0 { &self.0.letters } else { &self.0.undefined };
        Ok(shown[reads[0] as usize])
    }

    fn undefined(&mut self, proposition: u32, row: &[Value]) -> Cut {
        assert!(self.0.undefined[row[0] as usize] >> proposition & 1 == 1, "it has a value");
        let message = format!("proposition {proposition} has no value in state {}", row[0]);
        Cut::Wrong(Box::new(Wrong { message, place: None, hint: None }))
    }
}

impl System for PlainSystem {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(vec![0])
    }

    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(PlainExplorer(self))
    }
}

/// Which runs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainFairness {
    /// All.
    None,
    /// Those on which a process that could always initiate a step from some moment on moves again and again.
    Weak,
    /// Those on which a process that could initiate a step again and again moves again and again.
    Strong,
}

/// Has a system a fair run that an automaton accepts? A run that ends repeats its last state, if `stutters`; a step
/// that passes what counts has the marks `passing` beside those of the automaton's edge.
pub fn has_accepted_run(
    system: &PlainSystem,
    automaton: &Automaton,
    stutters: bool,
    passing: u32,
    fairness: PlainFairness,
) -> Option<bool> {
    let width = automaton.edges.len();
    let pair = |state: u32, own: u32| state as usize * width + own as usize;
    // Marks, processes that take part, target.
    let steps = |at: usize| -> Vec<(u32, u64, usize)> {
        let (state, own) = (at / width, at % width);
        let letter = u64::from(system.letters[state]);
        let edges = automaton.edges[own].iter().filter(|edge| edge.letters.admits(letter));
        let rest = PlainStep { target: state as u32, initiator: u32::MAX, taking_part: 0, passes: false };
        let mut moves: Vec<&PlainStep> = system.steps[state].iter().collect();
        if moves.is_empty() && stutters {
            moves.push(&rest);
        }
        let joined = edges.flat_map(|edge| {
            moves.iter().map(|step| {
                let marks = edge.marks | if step.passes { passing } else { 0 };
                (marks, step.taking_part, pair(step.target, edge.target))
            })
        });
        joined.collect()
    };
    let mut reached: Vec<usize> = Vec::new();
    let mut work: Vec<usize> = automaton.initial.iter().map(|&own| pair(0, own)).collect();
    while let Some(at) = work.pop() {
        if !reached.contains(&at) {
            reached.push(at);
            work.extend(steps(at).into_iter().map(|(_, _, target)| target));
        }
    }
    if automaton.end.is_some_and(|end| reached.iter().any(|at| at % width == end as usize)) {
        return Some(true);
    }
    if reached.len() > 11 {
        return None;
    }
    let enabled = |at: usize| system.steps[at / width].iter().fold(0u64, |all, step| all | 1 << step.initiator);
    Some((1u32..1 << reached.len()).any(|set| {
        let members: Vec<usize> = (0..reached.len()).filter(|at| set >> at & 1 == 1).map(|at| reached[at]).collect();
        let inside: Vec<(usize, u32, u64, usize)> = members
            .iter()
            .flat_map(|&at| steps(at).into_iter().map(move |(marks, part, target)| (at, marks, part, target)))
            .filter(|(_, _, _, target)| members.contains(target))
            .collect();
        let closes = |&from: &usize| {
            let mut seen: Vec<usize> = Vec::new();
            let mut work = vec![from];
            while let Some(at) = work.pop() {
                for (_, _, _, target) in inside.iter().filter(|edge| edge.0 == at) {
                    if !seen.contains(target) {
                        seen.push(*target);
                        work.push(*target);
                    }
                }
            }
            members.iter().all(|member| seen.contains(member))
        };
        let marks = inside.iter().fold(0, |all, edge| all | edge.1);
        let moving = inside.iter().fold(0, |all, edge| all | edge.2);
        let demanded = match fairness {
            PlainFairness::None => 0,
            PlainFairness::Weak => members.iter().fold(u64::MAX, |all, &at| all & enabled(at)),
            PlainFairness::Strong => members.iter().fold(0, |all, &at| all | enabled(at)),
        };
        members.iter().all(closes) && marks == automaton.all_marks() && demanded & !moving == 0
    }))
}
