//! Components without bound: noticed early, and named.
//!
//! `COUNT(n) = up -> COUNT(n + 1) [] n > 0 & down -> COUNT(n - 1)` has infinitely many states. Exploring it until a
//! budget is used up is correct, but no help. Here a process that has many states is *pumped*:
//!
//! 1. From a state that was found late, a few steps are followed to another state of the same control point whose
//!    numbers and sequences differ from the first one's, and whose other values are the same: `COUNT(n)` reaches
//!    `COUNT(n + 1)`. The difference is added to a number, or joined to an end of a sequence.
//! 2. The same steps are tried from states far away: every number that changed is moved by [`FAR`] in its direction,
//!    and every sequence that changed becomes [`LONG`] elements long. If the same difference is reached from there too,
//!    no guard compares these arguments with a bound that a search could reach.
//!
//! A guard such as `n < 1000000` stops the second step, so a bounded process is explored however large it is; that is
//! also how a user goes on. A process is given the benefit of the doubt up to [`NUMBERS_FROM`] states because step 2
//! does not see guards that compare with `==`: `if n == 65535 then P(0) else P(n + 1)` has fewer states than that.
//! Scripts do not compare sequences with long ones by `==`, and sequences cost memory as they grow, so they are tried
//! earlier ([`SEQUENCES_FROM`]).
//!
//! Cost: some hundred steps whenever the number of states has doubled.

use trefoil_control::count;

use super::states::States;
use super::terms::{Node, TermId};
use super::{Compiler, codes};
use crate::eval::{Description, Elements, Failure, ProcessId, ProcessValue, Reason, Result, Value};

/// Processes with fewer states are not suspected of growing in a number, or in a sequence.
const NUMBERS_FROM: usize = 200_000;
const SEQUENCES_FROM: usize = 4_096;

/// How far away a number is tried, and how long a sequence.
const FAR: [i32; 2] = [500_000_000, 1_000_000_000];
const LONG: usize = 2_000;

/// States that are pumped, and steps that are followed from each.
const PUMPED: usize = 8;
const FOLLOWED: usize = 24;

/// How many of the last states a message names.
const SHOWN: usize = 3;

/// How an argument changes.
#[derive(Clone, PartialEq)]
enum Change {
    Same,
    Add(i32),
    Append(Vec<Value>),
    Prepend(Vec<Value>),
}

impl Change {
    fn between(old: &Value, new: &Value) -> Option<Change> {
        match (old, new) {
            _ if old == new => Some(Change::Same),
            (Value::Int(old), Value::Int(new)) => new.checked_sub(*old).map(Change::Add),
            (Value::Sequence(..), Value::Sequence(..)) => {
                let (old, new) = (Elements::of(old).collect::<Vec<_>>(), Elements::of(new).collect::<Vec<_>>());
                if new.len() <= old.len() {
                    None
                } else if new.starts_with(&old) {
                    Some(Change::Append(new[old.len()..].to_vec()))
                } else if new.ends_with(&old) {
                    Some(Change::Prepend(new[..new.len() - old.len()].to_vec()))
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// A value far away in the direction of the change.
    fn far(&self, value: &Value, far: i32) -> Option<Value> {
        match (self, value) {
            (Change::Add(more), Value::Int(number)) => number.checked_add(more.signum() * far).map(Value::Int),
            (Change::Append(more) | Change::Prepend(more), _) => {
                let own: Vec<Value> = Elements::of(value).collect();
                let repeated = if own.is_empty() { more.clone() } else { own };
                Some(Value::sequence(repeated.iter().cycle().take(LONG).cloned().collect()))
            }
            (_, value) => Some(value.clone()),
        }
    }
}

/// A process that was made at a control point, with its values.
struct Made {
    process: ProcessValue,
    values: Vec<Value>,
}

impl Compiler {
    /// A failure if a process with these states, in the order in which they were found, has no bound. To be called for
    /// each number of states.
    pub(super) fn unbounded(&mut self, states: &mut States) -> Result<()> {
        let found = states.len();
        if !found.is_power_of_two() && !found.is_multiple_of(NUMBERS_FROM) || found < SEQUENCES_FROM {
            return Ok(());
        }
        for state in (0..found).rev().take(PUMPED) {
            let state = self.named_state_term(states, state, 1)?;
            let Some((id, made)) = self.made(state) else { continue };
            let Some(changes) = self.tolerant(|compiler| compiler.pumped(state, &made, found))? else { continue };
            return Err(self.without_bound(id, &made, &changes, states));
        }
        Ok(())
    }

    /// A mistake on a way that the script does not take is no mistake of the script.
    fn tolerant<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<Option<T>>) -> Result<Option<T>> {
        match work(self) {
            Err(failure) if matches!(failure.reason(), Reason::Mistake(_)) => Ok(None),
            other => other,
        }
    }

    /// The process of a state, or of the operand that takes its next step.
    fn made(&mut self, state: TermId) -> Option<(ProcessId, Made)> {
        let mut term = state;
        let id = loop {
            if let Some(&id) = self.origins.get(&term)
                && matches!(self.processes[&id].description(), Description::Made(..))
            {
                break id;
            }
            term = match *self.terms.node(term) {
                Node::Sequential(first, _) | Node::Sliding(first, _) | Node::Exception(first, ..) => first,
                Node::Hide(_, inner) | Node::Project(_, inner) | Node::Rename(_, inner) | Node::Closed(inner) => inner,
                _ => return None,
            };
        };
        let process = self.process_of(id);
        let Description::Made(_, captured) = process.description() else { return None };
        let values = captured.iter().map(Value::seen).collect();
        Some((id, Made { process, values }))
    }

    /// The changes that a few steps make to the values of a process, if they make the same ones far away.
    fn pumped(&mut self, state: TermId, made: &Made, found: usize) -> Result<Option<Vec<Change>>> {
        let Some(changes) = self.changed(state, made, None)? else { return Ok(None) };
        if found < NUMBERS_FROM && changes.iter().any(|change| matches!(change, Change::Add(_))) {
            return Ok(None);
        }
        for far in FAR {
            let moved: Option<Vec<Value>> =
                changes.iter().zip(&made.values).map(|(change, value)| change.far(value, far)).collect();
            let Some(values) = moved else { return Ok(None) };
            let process = made.process.with_values(values.clone());
            let term = self.expand(&process)?;
            if self.changed(term, &Made { process, values }, Some(&changes))?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(changes))
    }

    /// Follows steps to a state of the same control point, and returns how it differs; only these changes count if some
    /// are given.
    fn changed(&mut self, state: TermId, made: &Made, wanted: Option<&[Change]>) -> Result<Option<Vec<Change>>> {
        let Description::Made(point, _) = made.process.description() else { return Ok(None) };
        let mut met = vec![state];
        let mut at = 0;
        while at < met.len() && at < FOLLOWED {
            for step in self.steps(met[at])?.iter() {
                if met.contains(&step.target) || met.len() > 4 * FOLLOWED {
                    continue;
                }
                met.push(step.target);
                let Some((_, next)) = self.made(step.target) else { continue };
                if !matches!(next.process.description(), Description::Made(other, _) if other == point) {
                    continue;
                }
                let changes: Option<Vec<Change>> =
                    made.values.iter().zip(&next.values).map(|(old, new)| Change::between(old, new)).collect();
                let Some(changes) = changes.filter(|changes| changes.iter().any(|change| *change != Change::Same))
                else {
                    continue;
                };
                if wanted.is_none_or(|wanted| *wanted == changes[..]) {
                    return Ok(Some(changes));
                }
            }
            at += 1;
        }
        Ok(None)
    }

    fn without_bound(&mut self, id: ProcessId, made: &Made, changes: &[Change], states: &mut States) -> Failure {
        let Description::Made(point, _) = made.process.description() else { unreachable!("only these are pumped") };
        let (span, names) = {
            let point = self.evaluator.control_point(point);
            (point.span, point.names.clone())
        };
        let grown = changes.iter().zip(&names).filter(|(change, _)| **change != Change::Same);
        let grown: Vec<String> = grown.filter_map(|(_, name)| Some(format!("`{}`", name.as_ref()?))).collect();
        let call = self.named(id);
        let name = call.as_deref().map(|call| call.split('(').next().unwrap_or(call).to_string());
        let process = name.map_or("this process".to_string(), |name| format!("`{name}`"));
        let argument = match &grown[..] {
            [] => String::new(),
            names => format!(" in {}", names.join(" and ")),
        };
        let mut last = Vec::new();
        for state in (0..states.len()).rev().take(64) {
            let Ok(state) = self.named_state_term(states, state, 1) else { break };
            if let Some((id, other)) = self.made(state)
                && matches!(other.process.description(), Description::Made(own, _) if own == point)
                && last.len() < SHOWN
            {
                let shown = self.named(id).unwrap_or_else(|| {
                    let values = names.iter().zip(&other.values);
                    let one = |(name, value): (&Option<Box<str>>, &Value)| {
                        name.as_ref().map(|name| format!("{name} = {}", self.evaluator.show(value)))
                    };
                    values.filter_map(one).collect::<Vec<_>>().join(", ")
                });
                last.push(trefoil_source::shortened(&shown, 60));
            }
        }
        last.reverse();
        let message = format!(
            "{process} grows without bound{argument}: {} states found, the last ones {}",
            count(states.len() as u64),
            last.join(", ")
        );
        let bound = grown.first().map_or("a bound".to_string(), |name| format!("a bound on {name}"));
        Failure::at(codes::TOO_LARGE, message, Some(span)).help(format!(
            "a component is explored alone, whatever its neighbours allow; write {bound} as a guard, such as \
             `n < 100 & …`: with one, all states are explored"
        ))
    }
}
