//! Short lassos, the same ones whatever the number of threads.
//!
//! The numbers of states depend on the threads of the search, so nothing here is decided by them. From the start a
//! breadth-first search goes level by level to the nearest accepted pairs; among those of one level the one with the
//! least row counts. Its way back takes the least pair of the level before that has a step to it. Inside its component
//! the cycle is found in the same manner: from the pair to the nearest edge with a mark that is missing, and so on, and
//! home.
//!
//! The result is short and not always shortest: of one mark a shortest cycle through this pair, of several a greedy
//! one. Cost: a set of the pairs that are seen before the nearest accepted one, and of those of its component.

use std::collections::HashSet;

use trefoil_control::{Control, Stopped};
use trefoil_questions::ErrorKinds;
use trefoil_system::{Cut, Explorer, Path, StateId, System, TakenStep, Value};

use crate::product::{Accepted, Pair, Product};

type Pairs = HashSet<Pair, foldhash::fast::FixedState>;

/// A run that shows that a claim is violated, as numbers of states.
#[derive(Clone, Debug)]
pub(crate) struct Lasso {
    /// From the initial state to the first one of the cycle.
    pub(crate) stem: Vec<u32>,
    /// The states behind it, back to it; empty when the automaton has reached its end.
    pub(crate) cycle: Vec<u32>,
}

/// Chooses among pairs by their rows.
pub(crate) struct Chooser<'c> {
    product: &'c Product<'c>,
    system: &'c dyn System,
    control: &'c Control,
    /// Errors whose steps are none.
    no_steps: ErrorKinds,
}

/// A walk by levels: the pairs of each, and the edge that ended it.
struct Levels {
    levels: Vec<Vec<Pair>>,
}

impl<'c> Chooser<'c> {
    pub(crate) fn new(
        product: &'c Product<'c>,
        system: &'c dyn System,
        no_steps: ErrorKinds,
        control: &'c Control,
    ) -> Chooser<'c> {
        Chooser { product, system, control, no_steps }
    }

    fn row(&self, pair: Pair) -> Vec<Value> {
        let mut row = vec![0; self.system.layout().width()];
        self.product.graph.states.reader().row(StateId(pair.state), &mut row);
        row
    }

    /// The least of some pairs.
    fn least(&self, pairs: impl IntoIterator<Item = Pair>) -> Option<Pair> {
        let mut least: Option<(Vec<Value>, Pair)> = None;
        for pair in pairs {
            let row = self.row(pair);
            let is_less = least.as_ref().is_none_or(|(known, old)| {
                self.system.layout().compare(&row, known).then(pair.automaton.cmp(&old.automaton)).is_lt()
            });
            if is_less {
                least = Some((row, pair));
            }
        }
        least.map(|(_, pair)| pair)
    }

    /// Goes from some pairs, level by level, until `found` holds of an edge: the levels until there, and the sources of
    /// such edges. `inside` says which pairs may be entered.
    fn walk(
        &self,
        starts: &[Pair],
        inside: impl Fn(Pair) -> bool,
        found: impl Fn(u32, Pair) -> bool,
    ) -> Result<Option<Levels>, Stopped> {
        let mut seen: Pairs = starts.iter().copied().collect();
        let mut levels = vec![starts.to_vec()];
        while let Some(level) = levels.last().filter(|level| !level.is_empty()) {
            let (mut next, mut hit) = (Vec::new(), false);
            for (done, &pair) in level.iter().enumerate() {
                if done % 4096 == 0 {
                    self.control.check()?;
                }
                self.product.steps(pair, |marks, target| {
                    if inside(target) {
                        hit |= found(marks, target);
                        if seen.insert(target) {
                            next.push(target);
                        }
                    }
                });
            }
            if hit {
                return Ok(Some(Levels { levels }));
            }
            levels.push(next);
        }
        Ok(None)
    }

    /// The way through the levels to a pair of the last one: the pairs in order.
    fn way(&self, levels: &Levels, last: Pair) -> Vec<Pair> {
        let mut way = vec![last];
        for level in levels.levels.iter().rev().skip(1) {
            let target = way[way.len() - 1];
            let before = level.iter().copied().filter(|&pair| {
                let mut leads = false;
                self.product.steps(pair, |_, step| leads |= step == target);
                leads
            });
            way.extend(self.least(before));
        }
        way.reverse();
        way
    }

    /// The least edge that was looked for: its source, target and marks.
    fn hit(
        &self,
        levels: &Levels,
        inside: impl Fn(Pair) -> bool,
        found: impl Fn(u32, Pair) -> bool,
    ) -> Option<(Pair, Pair, u32)> {
        let last = levels.levels.last()?;
        let sources = last.iter().copied().filter(|&pair| {
            let mut hits = false;
            self.product.steps(pair, |marks, target| hits |= inside(target) && found(marks, target));
            hits
        });
        let source = self.least(sources)?;
        let mut edges = Vec::new();
        self.product.steps(source, |marks, target| {
            if inside(target) && found(marks, target) {
                edges.push((marks, target));
            }
        });
        let target = self.least(edges.iter().map(|&(_, target)| target))?;
        let marks = edges.iter().filter(|(_, to)| *to == target).fold(0, |all, (marks, _)| all | marks);
        Some((source, target, marks))
    }

    /// A lasso through accepted pairs.
    pub(crate) fn lasso(&self, accepted: &Accepted) -> Result<Option<Lasso>, Stopped> {
        let starts: Vec<Pair> = self.product.initial().collect();
        let at_once = starts.iter().copied().filter(|&pair| accepted.contains(pair));
        let stem = match self.least(at_once) {
            Some(pair) => vec![pair],
            None => {
                let anywhere = |_: Pair| true;
                let found = |_: u32, pair: Pair| accepted.contains(pair);
                let Some(levels) = self.walk(&starts, anywhere, found)? else { return Ok(None) };
                // The least accepted pair of the next level, and a way to it.
                let last = levels.levels.last().map_or(&[][..], |level| &level[..]);
                let mut targets: Pairs = Pairs::default();
                for &pair in last {
                    self.product.steps(pair, |_, target| {
                        if accepted.contains(target) {
                            targets.insert(target);
                        }
                    });
                }
                let Some(goal) = self.least(targets) else { return Ok(None) };
                let sources = last.iter().copied().filter(|&pair| {
                    let mut leads = false;
                    self.product.steps(pair, |_, target| leads |= target == goal);
                    leads
                });
                let Some(source) = self.least(sources) else { return Ok(None) };
                let mut way = self.way(&levels, source);
                way.push(goal);
                way
            }
        };
        let home = stem[stem.len() - 1];
        let stem: Vec<u32> = stem.iter().map(|pair| pair.state).collect();
        if self.product.automaton.end == Some(home.automaton) {
            return Ok(Some(Lasso { stem, cycle: Vec::new() }));
        }
        let all = self.product.automaton.all_marks();
        let inside = |pair: Pair| accepted.together(pair, home);
        let (mut here, mut collected, mut cycle) = (home, 0, Vec::new());
        while collected != all {
            let missing = all & !collected;
            let found = |marks: u32, _: Pair| marks & missing != 0;
            let Some(levels) = self.walk(&[here], inside, found)? else { return Ok(None) };
            let Some((source, target, marks)) = self.hit(&levels, inside, found) else { return Ok(None) };
            cycle.extend(self.way(&levels, source).into_iter().skip(1).map(|pair| pair.state));
            cycle.push(target.state);
            collected |= marks;
            here = target;
        }
        if here != home || cycle.is_empty() {
            let found = |_: u32, pair: Pair| pair == home;
            let Some(levels) = self.walk(&[here], inside, found)? else { return Ok(None) };
            let Some((source, target, _)) = self.hit(&levels, inside, found) else { return Ok(None) };
            cycle.extend(self.way(&levels, source).into_iter().skip(1).map(|pair| pair.state));
            cycle.push(target.state);
        }
        Ok(Some(Lasso { stem, cycle }))
    }

    /// The states of a run as steps of the system, each with its least label.
    pub(crate) fn run(&self, states: &[u32]) -> Result<Path, Cut> {
        let rows: Vec<Vec<Value>> = states.iter().map(|&state| self.row(Pair { state, automaton: 0 })).collect();
        let mut explorer = self.system.explorer(self.control);
        let mut path = Path { start: rows[0].clone(), steps: Vec::with_capacity(rows.len() - 1) };
        for step in rows.windows(2) {
            path.steps.push(self.step(&mut *explorer, &step[0], &step[1])?);
        }
        Ok(path)
    }

    fn step(&self, explorer: &mut dyn Explorer, before: &[Value], after: &[Value]) -> Result<TakenStep, Cut> {
        let labels = self.system.labels();
        let mut least = None;
        explorer.successors(before, &mut |step| {
            let is_step = step.row == after && !self.no_steps.contains(self.system.error(step.label));
            let new = is_step && least.is_none_or(|known| labels.compare(step.label, known).is_lt());
            if new {
                least = Some(step.label);
            }
            Ok(())
        })?;
        let label = least.expect("a kept step is a step of the system");
        Ok(TakenStep { label, row: after.to_vec() })
    }
}
