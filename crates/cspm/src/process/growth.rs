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
//! 3. The same steps are tried from states near by: at every number that the script has as a literal or as the value of
//!    a definition, and at sums, differences and products of two of them, and one before and after it; a sequence at
//!    each of the next [`NEAR`] lengths as well. So `if n == 300000 then P(0) else P(n + 1)` and `#s == size` are seen,
//!    which step 2 passes by.
//!
//! A guard such as `n < 1000000` stops the second step, so a bounded process is explored however large it is; that is
//! also how a user goes on. A process is given the benefit of the doubt up to [`NUMBERS_FROM`] states. Sequences cost
//! memory as they grow, so they are tried earlier ([`SEQUENCES_FROM`]).
//!
//! Sets and values of datatypes grow by elements and constructors that differ from round to round (`union(s,
//! {card(s)})`, `S.x`), and have no states far away to try. There the growth is followed for [`LONG`] rounds, and a
//! number of the script that the size may still reach is taken for a bound.
//!
//! `P(n) = P(n + 1) [] a -> STOP` grows before it performs an event: the operands of its chain are pumped in the same
//! way, in place of its steps.
//!
//! Cost: some hundred steps whenever the number of states has doubled, and some thousand before a process is refused.

use trefoil_control::count;

use super::states::States;
use super::terms::{Node, TermId};
use super::{Compiler, codes};
use crate::eval::{Description, Elements, Failure, ProcessId, ProcessValue, Reason, Result, Shape, Value};

/// Processes with fewer states are not suspected of growing in a number, or in a sequence.
const NUMBERS_FROM: usize = 200_000;
const SEQUENCES_FROM: usize = 4_096;

/// How far away a number is tried, and how long a sequence.
const FAR: [i32; 2] = [500_000_000, 1_000_000_000];
const LONG: usize = 2_000;

/// How many lengths of a sequence are tried one by one, and the longest and the number of those that are tried because
/// of a number in the script.
const NEAR: usize = 512;
const LONGEST: usize = 20_000;
const NUMBERS: usize = 1_000;
/// Two numbers of the script are combined if there are no more of them than this.
const COMBINED: usize = 40;

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
    /// More elements of a set, or another constructor around a value.
    Grow,
}

/// Is a value a part of another one, not far inside?
fn is_inside(part: &Value, whole: &Value, depth: usize) -> bool {
    let Value::Data(data) = whole else { return false };
    data.fields.iter().any(|field| field == part || depth > 0 && is_inside(part, field, depth - 1))
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
            (Value::Set(old), Value::Set(new)) => {
                let (old, new) = (old.listed()?, new.listed()?);
                (old.len() < new.len() && old.iter().all(|item| new.binary_search(item).is_ok()))
                    .then_some(Change::Grow)
            }
            (Value::Data(_), Value::Data(_)) => is_inside(old, new, 2).then_some(Change::Grow),
            _ => None,
        }
    }

    /// A value far away in the direction of the change.
    fn far(&self, value: &Value, far: i32) -> Option<Value> {
        match (self, value) {
            (Change::Add(more), Value::Int(number)) => number.checked_add(more.signum() * far).map(Value::Int),
            (Change::Append(_) | Change::Prepend(_), _) => Some(self.of_length(value, LONG)),
            (_, value) => Some(value.clone()),
        }
    }

    /// A sequence that is that long and begins as a given one, if there is room for it.
    fn of_length(&self, value: &Value, length: usize) -> Value {
        let own: Vec<Value> = Elements::of(value).collect();
        match self {
            Change::Append(more) | Change::Prepend(more) => {
                let repeated = if own.is_empty() { more } else { &own };
                Value::sequence(repeated.iter().cycle().take(length).cloned().collect())
            }
            _ => value.clone(),
        }
    }

    /// A value so many rounds later.
    fn later(&self, value: &Value, rounds: i32) -> Value {
        match (self, value) {
            (Change::Add(more), Value::Int(number)) => {
                Value::Int(more.checked_mul(rounds).and_then(|more| number.checked_add(more)).unwrap_or(*number))
            }
            (_, value) => value.clone(),
        }
    }
}

/// A process that was made at a control point, with its values.
struct Made {
    process: ProcessValue,
    values: Vec<Value>,
}

/// Goes from a process to another one of its control point that has other values, and gives how they changed: as wanted
/// if something is.
type Changing<'c> = dyn FnMut(&mut Compiler, &Made, Option<&[Change]>) -> Result<Option<(Vec<Change>, Made)>> + 'c;

/// How the values of a process changed, if they did, and as wanted.
fn changes_between(old: &Made, new: &Made, wanted: Option<&[Change]>) -> Option<Vec<Change>> {
    let changes: Option<Vec<Change>> =
        old.values.iter().zip(&new.values).map(|(old, new)| Change::between(old, new)).collect();
    let changes = changes.filter(|changes| changes.iter().any(|change| *change != Change::Same))?;
    wanted.is_none_or(|wanted| *wanted == changes[..]).then_some(changes)
}

/// The numbers in this direction from one, with those beside them, the nearest first.
fn ahead(numbers: &[i32], from: i32, direction: i32) -> Vec<i32> {
    let beside = numbers.iter().flat_map(|number| [number.checked_sub(1), Some(*number), number.checked_add(1)]);
    let mut found: Vec<i32> =
        beside.flatten().filter(|&near| (near > from) == (direction > 0) && near != from).collect();
    found.sort_unstable_by_key(|near| near.abs_diff(from));
    found.dedup();
    found.truncate(NUMBERS);
    found
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

    /// The changes that a few steps make to the values of a process, if they make the same ones elsewhere.
    fn pumped(&mut self, state: TermId, made: &Made, found: usize) -> Result<Option<Vec<Change>>> {
        self.pumped_by(made, found, &mut |compiler, from, wanted| {
            let term = if std::ptr::eq(from, made) { state } else { compiler.expand(&from.process)? };
            compiler.changed(term, from, wanted)
        })
    }

    /// The same where `changed` goes from a process to another one of its control point.
    fn pumped_by(&mut self, made: &Made, found: usize, changed: &mut Changing<'_>) -> Result<Option<Vec<Change>>> {
        let Some((changes, next)) = changed(self, made, None)? else { return Ok(None) };
        let numbers = self.numbers(made);
        if changes.contains(&Change::Grow) {
            return Ok(self.grows_on(made, next, &numbers, changed)?.then_some(changes));
        }
        if found < NUMBERS_FROM && changes.iter().any(|change| matches!(change, Change::Add(_))) {
            return Ok(None);
        }
        let mut elsewhere: Vec<Vec<Value>> = Vec::new();
        for far in FAR {
            let moved: Option<Vec<Value>> =
                changes.iter().zip(&made.values).map(|(change, value)| change.far(value, far)).collect();
            let Some(values) = moved else { return Ok(None) };
            elsewhere.push(values);
        }
        for (at, change) in changes.iter().enumerate() {
            match (change, &made.values[at]) {
                (&Change::Add(more), &Value::Int(number)) => {
                    for near in ahead(&numbers, number, more.signum()) {
                        let rounds = near.checked_sub(number).map_or(0, |distance| distance / more);
                        let later = |(change, value): (&Change, &Value)| change.later(value, rounds);
                        let mut values: Vec<Value> = changes.iter().zip(&made.values).map(later).collect();
                        values[at] = Value::Int(near);
                        elsewhere.push(values);
                    }
                }
                (Change::Append(_) | Change::Prepend(_), value) => {
                    let length = Elements::of(value).count();
                    let lengths = ahead(&numbers, i32::try_from(length).unwrap_or(i32::MAX), 1);
                    let lengths = lengths.into_iter().map(|length| length as usize).filter(|&length| length <= LONGEST);
                    for length in (length + 1..=length + NEAR).chain(lengths.take(NUMBERS / 16)) {
                        let mut values = made.values.clone();
                        values[at] = change.of_length(value, length);
                        elsewhere.push(values);
                    }
                }
                _ => {}
            }
        }
        for values in elsewhere {
            self.control.check()?;
            let from = Made { process: made.process.with_values(values.clone()), values };
            if changed(self, &from, Some(&changes))?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(changes))
    }

    /// Does a process whose sets or values of datatypes have grown go on growing?
    fn grows_on(&mut self, first: &Made, next: Made, numbers: &[i32], changed: &mut Changing<'_>) -> Result<bool> {
        let size = |value: &Value| match value {
            Value::Set(set) => set.listed().map(|items| items.len() as i32),
            Value::Int(number) => Some(*number),
            _ => None,
        };
        // A bound that is compared with `==` may be ahead.
        let may_end = |value: &Value, later: &Value| {
            let reached = size(value).filter(|_| value != later);
            reached.is_some_and(|reached| ahead(numbers, reached, 1).iter().any(|&number| number <= LONGEST as i32))
        };
        if first.values.iter().zip(&next.values).any(|(value, later)| may_end(value, later)) {
            return Ok(false);
        }
        let mut made = next;
        for _ in 0..LONG {
            self.control.check()?;
            match changed(self, &made, None)? {
                Some((changes, next)) if changes.contains(&Change::Grow) => made = next,
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The numbers that a process could be compared with, ascending.
    fn numbers(&self, made: &Made) -> Vec<i32> {
        let mut numbers = self.evaluator.numbers();
        numbers.extend(made.values.iter().filter_map(|value| match value {
            Value::Int(number) => Some(*number),
            _ => None,
        }));
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() <= COMBINED {
            let pairs = numbers.iter().flat_map(|&one| numbers.iter().map(move |&other| (one, other)));
            let combined: Vec<i32> = pairs
                .flat_map(|(one, other)| [one.checked_add(other), one.checked_sub(other), one.checked_mul(other)])
                .flatten()
                .collect();
            numbers.extend(combined);
            numbers.sort_unstable();
            numbers.dedup();
        }
        numbers
    }

    /// A failure if a process that has met so many operands of itself, none of which performs an event before the next,
    /// has no bound. To be called for each number of them.
    pub(super) fn unguarded_growth(&mut self, process: &ProcessValue, found: usize) -> Result<()> {
        if !found.is_power_of_two() || found < SEQUENCES_FROM {
            return Ok(());
        }
        let Description::Made(point, captured) = process.description() else { return Ok(()) };
        let values = captured.iter().map(Value::seen).collect();
        let made = Made { process: process.clone(), values };
        let pumped = self.tolerant(|compiler| {
            compiler.pumped_by(&made, found, &mut |compiler, from, wanted| compiler.changed_operand(from, wanted))
        })?;
        let Some(changes) = pumped else { return Ok(()) };
        let (span, names) = {
            let point = self.evaluator.control_point(point);
            (point.span, point.names.clone())
        };
        let grown = changes.iter().zip(&names).filter(|(change, _)| **change != Change::Same);
        let grown: Vec<String> = grown.filter_map(|(_, name)| Some(format!("`{}`", name.as_ref()?))).collect();
        let id = self.evaluator.identify(process)?;
        self.processes.entry(id).or_insert_with(|| process.clone());
        let last = self.named(id).unwrap_or_else(|| "this process".to_string());
        let name = last.split('(').next().unwrap_or(&last).to_string();
        let last = trefoil_source::shortened(&last, 60);
        let message = format!(
            "`{name}` calls itself before it performs an event, each time with another {}: {} operands found, the last \
             one {last}",
            if grown.is_empty() { "value".to_string() } else { grown.join(" and ") },
            count(found as u64)
        );
        Err(Failure::at(codes::UNGUARDED, message, Some(span)).help(
            "write an event before the recursive call, as in `P(n) = a -> P(n + 1)`, or a condition that ends it",
        ))
    }

    /// Follows operands to a process of the same control point, as [`Compiler::changed`] follows steps.
    fn changed_operand(&mut self, made: &Made, wanted: Option<&[Change]>) -> Result<Option<(Vec<Change>, Made)>> {
        let Description::Made(own, _) = made.process.description() else { return Ok(None) };
        let mut met = vec![made.process.clone()];
        let mut at = 0;
        while at < met.len() && at < FOLLOWED {
            let process = met[at].clone();
            at += 1;
            let Description::Made(point, _) = process.description() else { continue };
            let operands = match self.evaluator.control_point(point).shape {
                Shape::Binary { left, right, .. } | Shape::Synchronised { left, right, .. } => [left, right],
                _ => continue,
            };
            for operand in operands {
                let next = self.evaluator.operand_process(&process, operand)?;
                if let Description::Made(point, captured) = next.description()
                    && point == own
                {
                    let values = captured.iter().map(Value::seen).collect();
                    let next = Made { process: next.clone(), values };
                    if let Some(changes) = changes_between(made, &next, wanted) {
                        return Ok(Some((changes, next)));
                    }
                    continue;
                }
                met.push(next);
            }
        }
        Ok(None)
    }

    /// Follows steps to a state of the same control point, and returns how it differs; only these changes count if some
    /// are given.
    fn changed(
        &mut self,
        state: TermId,
        made: &Made,
        wanted: Option<&[Change]>,
    ) -> Result<Option<(Vec<Change>, Made)>> {
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
                if let Some(changes) = changes_between(made, &next, wanted) {
                    return Ok(Some((changes, next)));
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
        let first = changes.iter().zip(&names).zip(&made.values).find(|((change, _), _)| **change != Change::Same);
        let guard = first.and_then(|((_, name), value)| {
            let name = name.as_ref()?;
            match value {
                Value::Sequence(..) => Some(format!("`#{name} < 100 & …`")),
                Value::Set(_) => Some(format!("`card({name}) < 100 & …`")),
                Value::Int(_) => Some(format!("`{name} < 100 & …`")),
                _ => None,
            }
        });
        let guard = guard.map_or(String::new(), |guard| format!(", such as {guard}"));
        Failure::at(codes::TOO_LARGE, message, Some(span)).help(format!(
            "a component is explored alone, whatever its neighbours allow; write {bound} as a guard{guard}: with one, \
             all states are explored"
        ))
    }
}
