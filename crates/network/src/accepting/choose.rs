//! Whether some choice of acceptances is not enough, by backtracking over the components.
//!
//! Every merged component of a row takes one of its choices. A rule fires when each participant offers its label, so
//! the rule *needs* some of the choices of some components. A combination is wanted that is stable, that is, no rule
//! with `τ` fires, and whose offers are not enough. To be enough is monotone: what is enough stays so when more is
//! offered. A rule whose label alone is enough must not fire either; when a deadlock is looked for that is every rule.
//! These rules are *hard*.
//!
//! This is a constraint problem over few values, solved as such: a hard rule all of whose needs but one are met takes
//! the choices that would meet that one from their component, again and again (unit propagation); then a component with
//! the fewest choices left takes each of them in turn. Rules that are not hard only add to what is offered, and a
//! branch ends when that is enough. The order depends on numbers of components and choices alone, so the answer is the
//! same every time.
//!
//! Cost: exponential in the number of components at worst, as deadlock of such a network is a satisfiability problem;
//! linear in the rules where propagation decides, which is usual: networks are sparse.

use trefoil_control::Control;
use trefoil_system::{Cut, LabelId, StateId, Value};

use super::AcceptingExplorer;
use super::merged::ChoiceSet;

/// A combination of choices.
pub(super) struct Chosen {
    /// What the network offers then, ascending.
    pub(super) accepted: Vec<LabelId>,
    /// The merged components of the format, each with the state that was chosen.
    pub(super) states: Vec<(u32, StateId)>,
}

/// A rule that fires with some choices and not with others.
#[derive(Clone, Copy)]
struct Possible {
    label: LabelId,
    hard: bool,
    /// Its needs: from here to there.
    needs: (usize, usize),
}

/// Room for one search, kept for the next.
#[derive(Default)]
pub(super) struct Choosing {
    fired: Vec<u32>,
    /// By place among the merged components of the format, the variable; a component with several choices that a rule
    /// depends on is one.
    variable_of: Vec<usize>,
    possible: Vec<Possible>,
    /// A variable and the choices that meet the need.
    needs: Vec<(usize, ChoiceSet)>,
    /// What is offered whatever is chosen.
    always: Vec<LabelId>,
}

const NONE: usize = usize::MAX;

/// What a rule needs, given what is left.
enum Needs {
    /// Nothing: it fires.
    Nothing,
    /// What is not left: it does not fire.
    Gone,
    /// This variable outside these choices, for it not to fire.
    One(usize, ChoiceSet),
    Several,
}

impl AcceptingExplorer<'_> {
    /// The first combination whose offers are not enough; `enough` holds for whatever contains what it holds for.
    pub(super) fn choose(
        &mut self,
        row: &[Value],
        enough: &mut dyn FnMut(&[LabelId]) -> bool,
    ) -> Result<Option<Chosen>, Cut> {
        let network = &self.accepting.network;
        let format = network.format(row).index();
        let on = &self.accepting.on[format];
        let merged = |component: u32| self.accepting.merged[component as usize].as_deref();
        let choices = |component: u32| merged(component).map_or(&[][..], |it| it.choices(row[component as usize]));
        if on.iter().any(|&component| choices(component).is_empty()) {
            return Ok(None);
        }
        let Choosing { fired, variable_of, possible, needs, always } = &mut self.choosing;
        fired.clear();
        possible.clear();
        needs.clear();
        always.clear();
        variable_of.clear();
        variable_of.resize(on.len(), NONE);
        let mut domains: Vec<ChoiceSet> = Vec::new();
        self.steps.each(row, &mut |outcome, _| {
            if fired.last() != Some(&outcome.rule) {
                fired.push(outcome.rule);
            }
            Ok(())
        })?;
        fired.sort_unstable();
        fired.dedup();
        'rules: for &number in fired.iter() {
            let rule = &network.formats()[format].rules[number as usize];
            let first = needs.len();
            for (component, label) in rule.parts() {
                let component = component as u32;
                let Some(it) = merged(component) else { continue };
                let all = all_of(choices(component).len());
                let offering = it.offering(row[component as usize], label);
                // A choice is stable.
                if offering == 0 {
                    needs.truncate(first);
                    continue 'rules;
                }
                if offering == all {
                    continue;
                }
                let place = on.binary_search(&component).expect("the format names the participants of its rules");
                if variable_of[place] == NONE {
                    variable_of[place] = domains.len();
                    domains.push(all);
                }
                needs.push((variable_of[place], offering));
            }
            let label = rule.label();
            let hard = label == LabelId::TAU || enough(&[label]);
            if needs.len() > first {
                possible.push(Possible { label, hard, needs: (first, needs.len()) });
            } else if hard {
                return Ok(None);
            } else {
                always.push(label);
            }
        }
        let problem = Problem { possible, needs, always, control: self.control };
        let Some((domains, accepted)) = problem.solve(domains, enough)? else { return Ok(None) };
        let chosen = |(place, &component): (usize, &u32)| {
            let choice = match variable_of[place] {
                NONE => 0,
                variable => domains[variable].trailing_zeros() as usize,
            };
            (component, choices(component)[choice])
        };
        let states = on.iter().enumerate().map(chosen).collect();
        Ok(Some(Chosen { accepted, states }))
    }
}

/// The first `count` choices.
fn all_of(count: usize) -> ChoiceSet {
    ChoiceSet::MAX >> (ChoiceSet::BITS as usize - count)
}

struct Problem<'a> {
    possible: &'a [Possible],
    needs: &'a [(usize, ChoiceSet)],
    always: &'a [LabelId],
    control: &'a Control,
}

/// What is left for the variables, and what is offered then.
type Solution = (Vec<ChoiceSet>, Vec<LabelId>);

impl Problem<'_> {
    /// What is left for the variables when no hard rule fires, and what is offered then.
    fn solve(
        &self,
        domains: Vec<ChoiceSet>,
        enough: &mut dyn FnMut(&[LabelId]) -> bool,
    ) -> Result<Option<Solution>, Cut> {
        // Alternatives that are still to be tried, the next one last.
        let mut waiting = vec![domains];
        while let Some(mut domains) = waiting.pop() {
            self.control.check()?;
            if !self.propagate(&mut domains) {
                continue;
            }
            let offered = self.offered(&domains);
            if enough(&offered) {
                continue;
            }
            let Some(variable) = self.open_variable(&domains) else { return Ok(Some((domains, offered))) };
            let mut left = domains[variable];
            let first = waiting.len();
            while left != 0 {
                let choice = left & left.wrapping_neg();
                left ^= choice;
                let mut next = domains.clone();
                next[variable] = choice;
                waiting.push(next);
            }
            waiting[first..].reverse();
        }
        Ok(None)
    }

    fn needs_of(&self, rule: &Possible, domains: &[ChoiceSet]) -> Needs {
        let mut found = Needs::Nothing;
        for &(variable, choices) in &self.needs[rule.needs.0..rule.needs.1] {
            let left = domains[variable];
            if left & choices == 0 {
                return Needs::Gone;
            }
            if left & !choices != 0 {
                found = match found {
                    Needs::Nothing => Needs::One(variable, choices),
                    _ => Needs::Several,
                };
            }
        }
        found
    }

    /// Takes choices away that would make a hard rule fire. False when one fires whatever is chosen.
    fn propagate(&self, domains: &mut [ChoiceSet]) -> bool {
        loop {
            let mut changed = false;
            for rule in self.possible.iter().filter(|rule| rule.hard) {
                match self.needs_of(rule, domains) {
                    Needs::Nothing => return false,
                    // Something is left, because not all that is left meets the need.
                    Needs::One(variable, choices) => {
                        domains[variable] &= !choices;
                        changed = true;
                    }
                    Needs::Gone | Needs::Several => {}
                }
            }
            if !changed {
                return true;
            }
        }
    }

    /// What is offered whatever is chosen of what is left, ascending.
    fn offered(&self, domains: &[ChoiceSet]) -> Vec<LabelId> {
        let fires = |rule: &&Possible| !rule.hard && matches!(self.needs_of(rule, domains), Needs::Nothing);
        let mut offered: Vec<LabelId> = self.possible.iter().filter(fires).map(|rule| rule.label).collect();
        offered.extend_from_slice(self.always);
        offered.sort_unstable();
        offered.dedup();
        offered
    }

    /// A variable that a rule still depends on, with the fewest choices left; one of a hard rule, if there is one.
    fn open_variable(&self, domains: &[ChoiceSet]) -> Option<usize> {
        let open = |hard: bool| {
            let rules = self.possible.iter().filter(move |rule| rule.hard == hard);
            let undecided =
                rules.filter(|rule| matches!(self.needs_of(rule, domains), Needs::One(..) | Needs::Several));
            undecided
                .flat_map(|rule| &self.needs[rule.needs.0..rule.needs.1])
                .map(|&(variable, _)| variable)
                .filter(|&variable| domains[variable].count_ones() > 1)
                .min_by_key(|&variable| (domains[variable].count_ones(), variable))
        };
        open(true).or_else(|| open(false))
    }
}
