//! Short lassos, the same ones whatever the number of threads.
//!
//! The numbers of states depend on the threads of the search, so nothing here is decided by them. From the start a
//! breadth-first search goes level by level to the nearest accepted pairs; among those of one level the one with the
//! least row counts. Its way back takes the least pair of the level before that has a step to it. Inside its component
//! the cycle is found in the same manner: from the pair to the nearest edge with a mark that is missing, or with what
//! fairness demands of an agent, and so on, and home.
//!
//! The result is short and not always shortest: of one mark a shortest cycle through this pair, of several a greedy
//! one. Cost: 8 bytes and a bit for each pair that is seen before the nearest accepted one, and of its component.

use std::collections::HashSet;

use trefoil_control::{Control, Stopped};
use trefoil_questions::{ErrorKinds, Fairness};
use trefoil_system::{Cut, Explorer, Path, StateId, System, TakenStep, Value};

use crate::fairness::{Agents, Demand, demand};
use crate::folded::{FoldedStep, Folding, fair_round};
use crate::product::{Accepted, Bits, Pair, PairStep, Product};

type Pairs = HashSet<Pair, foldhash::fast::FixedState>;

/// A run that shows that a claim is violated, as numbers of states.
#[derive(Clone, Debug)]
pub(crate) struct Lasso {
    /// From the initial state to the first one of the cycle.
    pub(crate) stem: Vec<u32>,
    /// The steps from there back to it: each with the state it leads to and, where it matters, its note.
    /// Empty when the automaton has reached its end.
    pub(crate) cycle: Vec<(u32, Option<u32>)>,
    /// The automaton state in the first state of the cycle.
    pub(crate) automaton: u32,
}

/// The same in a quotient.
#[derive(Clone, Debug)]
pub(crate) struct FoldedLasso {
    /// From the initial state to the first one of the round.
    pub(crate) stem: Vec<u32>,
    /// From there back to it, up to symmetry.
    pub(crate) round: Vec<FoldedStep>,
    /// The automaton state in the first state of the round.
    pub(crate) automaton: u32,
}

/// The pairs that were seen: bits, for there may be as many as states.
struct Seen {
    bound: usize,
    sets: Vec<Option<Bits>>,
}

impl Seen {
    fn new(product: &Product<'_>) -> Seen {
        Seen { bound: product.graph.bound(), sets: product.automaton.edges.iter().map(|_| None).collect() }
    }

    fn insert(&mut self, pair: Pair) -> bool {
        self.sets[pair.automaton as usize].get_or_insert_with(|| Bits::new(self.bound)).insert(pair.state)
    }
}

/// Chooses among pairs by their rows.
pub(crate) struct Chooser<'c> {
    product: &'c Product<'c>,
    system: &'c dyn System,
    control: &'c Control,
    /// Errors whose steps are none.
    no_steps: ErrorKinds,
}

/// The pairs of a walk by levels.
type Levels = Vec<Vec<Pair>>;

impl<'c> Chooser<'c> {
    pub(crate) fn new(
        product: &'c Product<'c>,
        system: &'c dyn System,
        no_steps: ErrorKinds,
        control: &'c Control,
    ) -> Chooser<'c> {
        Chooser { product, system, control, no_steps }
    }

    pub(crate) fn row(&self, state: u32) -> Vec<Value> {
        let mut row = vec![0; self.system.layout().width()];
        self.product.graph.states.reader().row(StateId(state), &mut row);
        row
    }

    /// The least of some pairs.
    fn least(&self, pairs: impl IntoIterator<Item = Pair>) -> Option<Pair> {
        let mut least: Option<(Vec<Value>, Pair)> = None;
        for pair in pairs {
            let row = self.row(pair.state);
            let is_less = least.as_ref().is_none_or(|(known, old)| {
                self.system.layout().compare(&row, known).then(pair.automaton.cmp(&old.automaton)).is_lt()
            });
            if is_less {
                least = Some((row, pair));
            }
        }
        least.map(|(_, pair)| pair)
    }

    /// Goes from some pairs, level by level, until `found` holds of an edge: the levels until there. `inside` says
    /// which pairs may be entered.
    fn walk(
        &self,
        starts: &[Pair],
        inside: impl Fn(Pair) -> bool,
        found: impl Fn(Pair, &PairStep) -> bool,
    ) -> Result<Option<Levels>, Stopped> {
        let mut seen = Seen::new(self.product);
        starts.iter().for_each(|&pair| _ = seen.insert(pair));
        let mut levels = vec![starts.to_vec()];
        while let Some(level) = levels.last().filter(|level| !level.is_empty()) {
            let (mut next, mut hit) = (Vec::new(), false);
            for (done, &pair) in level.iter().enumerate() {
                if done % 4096 == 0 {
                    self.control.check()?;
                }
                self.product.steps(pair, |step| {
                    if inside(step.target) {
                        hit |= found(pair, &step);
                        if seen.insert(step.target) {
                            next.push(step.target);
                        }
                    }
                });
            }
            if hit {
                return Ok(Some(levels));
            }
            levels.push(next);
        }
        Ok(None)
    }

    /// Those of some pairs that have such an edge.
    fn sources(&self, level: &[Pair], found: impl Fn(Pair, &PairStep) -> bool) -> Vec<Pair> {
        let has = |&pair: &Pair| {
            let mut has = false;
            self.product.steps(pair, |step| has |= found(pair, &step));
            has
        };
        level.iter().copied().filter(has).collect()
    }

    /// The way through the levels to a pair of the last one: the pairs in order.
    fn way(&self, levels: &[Vec<Pair>], last: Pair) -> Vec<Pair> {
        let mut way = vec![last];
        for level in levels.iter().rev().skip(1) {
            let target = way[way.len() - 1];
            way.extend(self.least(self.sources(level, |_, step| step.target == target)));
        }
        way.reverse();
        way
    }

    /// The least edge out of the last level that was looked for.
    fn hit(
        &self,
        levels: &[Vec<Pair>],
        inside: impl Fn(Pair) -> bool,
        found: impl Fn(Pair, &PairStep) -> bool,
    ) -> Option<(Pair, PairStep)> {
        let wanted = |pair: Pair, step: &PairStep| inside(step.target) && found(pair, step);
        let source = self.least(self.sources(levels.last()?, wanted))?;
        let mut edges: Vec<PairStep> = Vec::new();
        self.product.steps(source, |step| {
            if wanted(source, &step) {
                edges.push(step);
            }
        });
        let target = self.least(edges.iter().map(|step| step.target))?;
        let notes = self.product.graph.notes();
        let note = |step: &PairStep| step.note.map(|note| &notes[note as usize]);
        edges.retain(|step| step.target == target);
        let first = edges.iter().min_by(|one, other| note(one).cmp(&note(other)))?;
        // Where only marks differ, a run can take the one edge and the other in turn.
        let alike = edges.iter().filter(|step| step.note == first.note);
        let marks = alike.fold(0, |all, step| all | step.marks);
        Some((source, PairStep { marks, ..*first }))
    }

    /// A run to the least of the nearest accepted pairs.
    fn stem(&self, accepted: &Accepted) -> Result<Option<Vec<Pair>>, Stopped> {
        let starts: Vec<Pair> = self.product.initial().collect();
        if let Some(pair) = self.least(starts.iter().copied().filter(|&pair| accepted.contains(pair))) {
            return Ok(Some(vec![pair]));
        }
        let found = |_: Pair, step: &PairStep| accepted.contains(step.target);
        let Some(levels) = self.walk(&starts, |_| true, found)? else { return Ok(None) };
        let last = levels.last().map_or(&[][..], |level| &level[..]);
        let mut targets: Pairs = Pairs::default();
        for &pair in last {
            self.product.steps(pair, |step| {
                if accepted.contains(step.target) {
                    targets.insert(step.target);
                }
            });
        }
        // Where the automaton ends, the run is over before the step: the state that it has read counts.
        let end = self.product.automaton.end;
        if targets.iter().any(|target| Some(target.automaton) == end) {
            let deciding = self.sources(last, |_, step| Some(step.target.automaton) == end);
            let deciding = self.least(deciding);
            targets.clear();
            if let Some(source) = deciding {
                self.product.steps(source, |step| {
                    if Some(step.target.automaton) == end {
                        targets.insert(step.target);
                    }
                });
            }
        }
        let Some(goal) = self.least(targets) else { return Ok(None) };
        let sources = self.sources(last, |_, step| step.target == goal);
        let Some(source) = self.least(sources) else { return Ok(None) };
        let mut way = self.way(&levels, source);
        way.push(goal);
        Ok(Some(way))
    }

    /// A run to an accepted pair and a round from there on which all marks occur and fairness is served, in a quotient.
    pub(crate) fn folded(&self, accepted: &Accepted, folding: &Folding<'_>) -> Result<Option<FoldedLasso>, Cut> {
        let Some(stem) = self.stem(accepted)? else { return Ok(None) };
        let home = stem[stem.len() - 1];
        let (stem, automaton): (Vec<u32>, _) = (stem.iter().map(|pair| pair.state).collect(), home.automaton);
        if self.product.automaton.end == Some(home.automaton) {
            return Ok(Some(FoldedLasso { stem, round: Vec::new(), automaton }));
        }
        let inside = |pair: Pair| accepted.together(pair, home);
        let round = fair_round(self.product, folding, home, inside, self.control)?;
        Ok(Some(FoldedLasso { stem, round, automaton }))
    }

    /// A lasso through accepted pairs.
    pub(crate) fn lasso(&self, accepted: &Accepted) -> Result<Option<Lasso>, Stopped> {
        let Some(stem) = self.stem(accepted)? else { return Ok(None) };
        let home = stem[stem.len() - 1];
        let (stem, automaton): (Vec<u32>, _) = (stem.iter().map(|pair| pair.state).collect(), home.automaton);
        if self.product.automaton.end == Some(home.automaton) {
            return Ok(Some(Lasso { stem, cycle: Vec::new(), automaton }));
        }
        let all = self.product.automaton.all_marks();
        let inside = |pair: Pair| accepted.together(pair, home);
        let wanted = match self.product.fairness {
            Fairness::None => Demand::NONE,
            fairness => {
                let mut members = vec![home];
                let mut seen = Seen::new(self.product);
                seen.insert(home);
                let mut at = 0;
                while at < members.len() {
                    self.product.steps(members[at], |step| {
                        if inside(step.target) && seen.insert(step.target) {
                            members.push(step.target);
                        }
                    });
                    at += 1;
                }
                demand(self.product, &members, inside, fairness).unwrap_or(Demand::NONE)
            }
        };
        let graph = self.product.graph;
        let (mut here, mut collected, mut met, mut cycle) = (home, 0, Agents::default(), Vec::new());
        loop {
            let (missing, left) = (all & !collected, wanted.agents.without(met));
            if missing == 0 && left.is_empty() {
                break;
            }
            let found = |pair: Pair, step: &PairStep| {
                step.marks & missing != 0 || !wanted.met(graph, pair, step.note).and(left).is_empty()
            };
            let Some(levels) = self.walk(&[here], inside, found)? else { return Ok(None) };
            let Some((source, step)) = self.hit(&levels, inside, found) else { return Ok(None) };
            cycle.extend(self.way(&levels, source).into_iter().skip(1).map(|pair| (pair.state, None)));
            cycle.push((step.target.state, step.note));
            collected |= step.marks;
            met = met.or(wanted.met(graph, source, step.note));
            here = step.target;
        }
        if here != home || cycle.is_empty() {
            let found = |_: Pair, step: &PairStep| step.target == home;
            let Some(levels) = self.walk(&[here], inside, found)? else { return Ok(None) };
            let Some((source, step)) = self.hit(&levels, inside, found) else { return Ok(None) };
            cycle.extend(self.way(&levels, source).into_iter().skip(1).map(|pair| (pair.state, None)));
            cycle.push((step.target.state, None));
        }
        Ok(Some(Lasso { stem, cycle, automaton }))
    }

    /// A run from a state through others: the steps of the system, each with its least label.
    pub(crate) fn run(&self, from: u32, steps: impl IntoIterator<Item = (u32, Option<u32>)>) -> Result<Path, Cut> {
        let mut explorer = self.system.explorer(self.control);
        let mut path = Path { start: self.row(from), steps: Vec::new() };
        for (state, note) in steps {
            let step = self.step(&mut *explorer, path.last(), self.row(state), note)?;
            path.steps.push(step);
        }
        Ok(path)
    }

    fn step(
        &self,
        explorer: &mut dyn Explorer,
        before: &[Value],
        after: Vec<Value>,
        note: Option<u32>,
    ) -> Result<TakenStep, Cut> {
        let labels = self.system.labels();
        let wanted = note.map(|note| &self.product.graph.notes()[note as usize]);
        let mut least = None;
        explorer.successors(before, &mut |step| {
            let is_step = step.row == after
                && wanted.is_none_or(|wanted| *wanted.agents == *step.agents && wanted.passes == step.passes)
                && !self.no_steps.contains(self.system.error(step.label));
            if is_step && least.is_none_or(|known| labels.compare(step.label, known).is_lt()) {
                least = Some(step.label);
            }
            Ok(())
        })?;
        let label = least.expect("a kept step is a step of the system");
        Ok(TakenStep { label, row: after })
    }
}
