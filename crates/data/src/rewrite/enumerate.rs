//! Solutions of conditions: what quantifiers and sums range over.
//!
//! A plan (`plan.rs`) says in which order variables get their values. The variables of its levels are tried one after
//! the other, depth-first: each has finitely many values. Variables of infinite sorts are searched together
//! (`search.rs`).

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::rc::Rc;

use dashu_int::IBig;
use trefoil_terms::{Root, Term};

use crate::signature::{Operator, Origin};
use crate::sorts::{BOOL, NAT, POS, SortRef};
use crate::typed::{Quantifier, TypedId, VariableId};

use super::code::FunctionIndex;
use super::expansion::{Expansion, MOST_ALTERNATIVES};
use super::finite::Size;
use super::linear::Interval;
use super::machine::{Rewriter, Unfinished};
use super::numbers::Number;
use super::plan::{Filter, Level, Plan, Source};
use super::program::{Kind, Role};

/// Tuples that are tried in a search before a quantifier stays as it is.
pub(super) const MOST_TRIED: u64 = 1000;

/// Longer ranges are not taken for the members of a set.
const LONGEST_RANGE: u64 = 1 << 20;

/// Variables that range over all values for which a condition holds, given values of parameters.
#[derive(Clone, Debug)]
pub struct Sum {
    /// Variables of the condition whose values are given.
    pub parameters: Vec<VariableId>,
    /// Variables whose values are sought.
    pub variables: Vec<VariableId>,
    /// The condition over both.
    pub condition: TypedId,
}

/// A sum of a [`super::Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SumIndex(pub(super) FunctionIndex);

/// How a list of solutions ended.
pub enum Enumerated {
    /// Every solution was given.
    All,
    /// The caller wanted no more.
    Left,
    /// For some values a part of the condition is neither true nor false, but this term.
    Open(Rc<Root>),
    /// The values of this variable cannot be listed, or there are more than the budget allows.
    Unbounded(VariableId),
}

/// What a caller does with a solution, the values of the variables in the order of their declaration.
pub type EachSolution<'f, 'p> = &'f mut dyn FnMut(&mut Rewriter<'p>, &[Term]) -> Result<ControlFlow<()>, Unfinished>;

/// What is done with a solution; the values lie above a place on the stack, captured ones first.
pub(super) type Found<'f, 'p> = &'f mut dyn FnMut(&mut Rewriter<'p>, usize) -> Result<ControlFlow<()>, Unfinished>;

/// What an enumeration has met.
pub(super) struct Progress {
    /// Tuples of searches that may still be tried.
    pub(super) left: u64,
    /// Whether one solution is enough, so that unknown parts of it do not matter.
    pub(super) one_is_enough: bool,
    /// A part of the condition that stayed open.
    open: Option<Rc<Root>>,
    /// For how many tuples of values it did.
    opened: u64,
    pub(super) unbounded: Option<VariableId>,
    /// Where these tuples are wanted: what the condition is for each of them.
    pub(super) expansion: Option<Expansion>,
}

impl Progress {
    pub(super) fn new(most: u64, one_is_enough: bool) -> Progress {
        Progress { left: most, one_is_enough, open: None, opened: 0, unbounded: None, expansion: None }
    }
}

/// What the tests of a level say.
pub(super) enum Tested {
    False,
    True,
    /// These stayed open, each with the truth value that it must have.
    Open(Vec<(Rc<Root>, bool)>),
}

impl<'p> Rewriter<'p> {
    /// Gives every solution of a sum to `each`, as the values of its variables in the order of their declaration.
    /// `each` may evaluate further expressions over them; it ends the enumeration by breaking off. At most `most`
    /// tuples of values of infinite sorts are tried.
    pub fn solutions(
        &mut self,
        sum: SumIndex,
        parameters: &[Term],
        most: u64,
        each: EachSolution<'_, 'p>,
    ) -> Result<Enumerated, Unfinished> {
        let program = self.program;
        let plan = &program.plans[&sum.0];
        let height = self.stack.len();
        self.stack.extend_from_slice(parameters);
        let mut progress = Progress::new(most, false);
        let captured = parameters.len();
        let mut values: Vec<Term> = Vec::with_capacity(plan.places.len());
        let outcome = self.begin(plan, height, &mut progress, &mut |rewriter, base| {
            values.clear();
            values.extend(plan.places.iter().map(|place| rewriter.stack[base + captured + place]));
            each(rewriter, &values)
        });
        match outcome {
            Ok(flow) => {
                self.stack.truncate(height);
                Ok(match (flow, progress.unbounded, progress.open) {
                    (ControlFlow::Break(()), ..) => Enumerated::Left,
                    (_, Some(variable), _) => Enumerated::Unbounded(variable),
                    (_, _, Some(term)) => Enumerated::Open(term),
                    _ => Enumerated::All,
                })
            }
            Err(unfinished) => {
                self.reset(height);
                Err(unfinished)
            }
        }
    }

    /// Replaces the captured values on top by the value of a quantifier over them.
    pub(super) fn quantify(&mut self, function: FunctionIndex) -> Result<(), Unfinished> {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.quantify_inside(function))
    }

    fn quantify_inside(&mut self, function: FunctionIndex) -> Result<(), Unfinished> {
        let program = self.program;
        let description = program.function(function);
        let base = self.stack.len() - description.captured as usize;
        for place in base..self.stack.len() {
            self.force(self.stack[place])?;
            self.stack[place] = self.pop();
        }
        let found = description.kind == Kind::Quantified(Quantifier::Exists);
        let plan = &program.plans[&function];
        let mut progress = Progress::new(MOST_TRIED, true);
        let flow = self.begin(plan, base, &mut progress, &mut |_, _| Ok(ControlFlow::Break(())))?;
        self.stack.truncate(base + description.captured as usize);
        let term = match flow {
            ControlFlow::Break(()) => program.truths[usize::from(found)],
            ControlFlow::Continue(()) if progress.open.is_none() && progress.unbounded.is_none() => {
                program.truths[usize::from(!found)]
            }
            ControlFlow::Continue(()) => {
                let few = progress.unbounded.is_none() && progress.opened <= MOST_ALTERNATIVES;
                let expanded = if few { self.expanded(function, base)? } else { None };
                expanded.unwrap_or_else(|| self.section.create(description.symbol, &self.stack[base..]))
            }
        };
        self.stack.truncate(base);
        self.stack.push(term);
        Ok(())
    }

    /// Replaces the function on top by the set of those values of a sort for which it holds, or by a comprehension
    /// where that is not decided for some value.
    pub(super) fn comprehend(&mut self, element: SortRef) -> Result<(), Unfinished> {
        let program = self.program;
        let place = self.stack.len() - 1;
        let Some(values) = program.values(&self.section, element) else { unreachable!("the sort has few values") };
        let mut members = Vec::new();
        for &value in &*values {
            self.stack.extend([self.stack[place], value]);
            self.apply(1)?;
            match self.pop() {
                term if term == program.truths[1] => members.push(value),
                term if term == program.truths[0] => {}
                _ => {
                    let empty = self.section.create(program.pool.symbol("{}", 0), &[]);
                    let parts = [self.stack[place], empty];
                    self.stack[place] = self.section.create(program.pool.symbol("@set", 2), &parts);
                    return Ok(());
                }
            }
        }
        self.stack[place] = program.set_of(&self.section, element, &members);
        Ok(())
    }

    pub(super) fn begin(
        &mut self,
        plan: &'p Plan,
        base: usize,
        progress: &mut Progress,
        found: Found<'_, 'p>,
    ) -> Result<ControlFlow<()>, Unfinished> {
        match self.test(&plan.filters, base)? {
            Tested::False => Ok(ControlFlow::Continue(())),
            Tested::True => self.level(&plan.levels, base, None, progress, found),
            Tested::Open(terms) => self.level(&plan.levels, base, terms.first().map(|(term, _)| term), progress, found),
        }
    }

    /// Tries the values of the first level for the values above a place. `open` is a test that was open before.
    pub(super) fn level(
        &mut self,
        levels: &'p [Level],
        base: usize,
        open: Option<&Rc<Root>>,
        progress: &mut Progress,
        found: Found<'_, 'p>,
    ) -> Result<ControlFlow<()>, Unfinished> {
        let Some((level, _)) = levels.split_first() else {
            return match open {
                None => found(self, base),
                Some(term) => {
                    progress.open.get_or_insert_with(|| term.clone());
                    progress.opened += 1;
                    if let Some(expansion) = &mut progress.expansion {
                        self.add_alternative(expansion, base)?;
                    }
                    Ok(ControlFlow::Continue(()))
                }
            };
        };
        let values = match level.source {
            Source::Search => return self.search(levels, base, open, progress, found),
            Source::All => None,
            Source::Range { .. } | Source::Between => match self.numbers(level, base)? {
                Some((first, last)) => return self.range(levels, base, open, first, last, progress, found),
                None => None,
            },
            source => self.listed(source, base)?,
        };
        let sort = level.variables[0].1;
        if let Some(values) = values {
            // The values are held below those that are tried.
            let holder = self.section.list(&values);
            self.stack.insert(base, holder);
            let mut flow = ControlFlow::Continue(());
            for value in values {
                flow = self.with_value(levels, base + 1, open, value, progress, found)?;
                if flow.is_break() {
                    break;
                }
            }
            self.stack.remove(base);
            return Ok(flow);
        }
        if let Some(values) = self.program.values(&self.section, sort) {
            // What a quantifier is expanded to is in mCRL2's order.
            let from_last = progress.expansion.is_some() && sort == BOOL;
            for place in 0..values.len() {
                let value = values[if from_last { values.len() - 1 - place } else { place }];
                if self.with_value(levels, base, open, value, progress, found)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        if let Size::Finite(size) = self.program.size(sort) {
            for number in 0..size {
                let value = self.program.nth(&self.section, sort, number);
                if self.with_value(levels, base, open, value, progress, found)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        self.search(levels, base, open, progress, found)
    }

    /// Tries one value of the first level's variable.
    fn with_value(
        &mut self,
        levels: &'p [Level],
        base: usize,
        open: Option<&Rc<Root>>,
        value: Term,
        progress: &mut Progress,
        found: Found<'_, 'p>,
    ) -> Result<ControlFlow<()>, Unfinished> {
        self.stack.push(value);
        self.tick()?;
        let flow = match self.test(&levels[0].filters, base)? {
            Tested::False => ControlFlow::Continue(()),
            Tested::True => self.level(&levels[1..], base, open, progress, found)?,
            Tested::Open(terms) => {
                let open = open.or(terms.first().map(|(term, _)| term));
                self.level(&levels[1..], base, open, progress, found)?
            }
        };
        self.stack.pop();
        Ok(flow)
    }

    /// Evaluates tests in order for the values above a place, until one is false.
    pub(super) fn test(&mut self, filters: &[Filter], base: usize) -> Result<Tested, Unfinished> {
        let [no, yes] = self.program.truths;
        let mut open = Vec::new();
        for filter in filters {
            let value = self.evaluate_above(filter.code, base)?;
            let (right, wrong) = if filter.wanted { (yes, no) } else { (no, yes) };
            if value == wrong || filter.wanted && value != yes && self.is_too_large(value) {
                return Ok(Tested::False);
            }
            if value != right {
                open.push((Rc::new(self.section.root(value)), filter.wanted));
            }
        }
        Ok(if open.is_empty() { Tested::True } else { Tested::Open(open) })
    }

    /// Evaluates code for what lies above a place.
    pub(super) fn evaluate_above(&mut self, code: FunctionIndex, base: usize) -> Result<Term, Unfinished> {
        self.stack.extend_from_within(base..);
        self.call(code)?;
        Ok(self.pop())
    }

    /// Tries numbers from one to another.
    #[allow(clippy::too_many_arguments)]
    fn range(
        &mut self,
        levels: &'p [Level],
        base: usize,
        open: Option<&Rc<Root>>,
        first: IBig,
        last: IBig,
        progress: &mut Progress,
        found: Found<'_, 'p>,
    ) -> Result<ControlFlow<()>, Unfinished> {
        let mut next = first;
        while next <= last {
            let value = self.program.numbers.term(&self.section, &Number::Integer(next.clone()));
            if self.with_value(levels, base, open, value, progress, found)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            next += IBig::ONE;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The first and the last number that a level tries; nothing where they are open.
    fn numbers(&mut self, level: &Level, base: usize) -> Result<Option<(IBig, IBig)>, Unfinished> {
        let simple = match level.source {
            Source::Range { lower, upper } => self.bounds(lower, upper, level.variables[0].1, base)?,
            _ => None,
        };
        let Some(bounds) = &level.bounds else { return Ok(simple) };
        let Interval { first, last } = self.interval(bounds, base)?;
        Ok(match (simple, first, last) {
            (Some((least, most)), first, last) => Some((
                first.map_or(least.clone(), |first| first.max(least)),
                last.map_or(most.clone(), |last| last.min(most)),
            )),
            (None, first, last) => first.zip(last),
        })
    }

    /// The bounds of a range, both included; nothing where they are open.
    fn bounds(
        &mut self,
        lower: Option<FunctionIndex>,
        upper: FunctionIndex,
        sort: SortRef,
        base: usize,
    ) -> Result<Option<(IBig, IBig)>, Unfinished> {
        let least = match sort {
            POS => Some(IBig::ONE),
            NAT => Some(IBig::ZERO),
            _ => None,
        };
        let lower = match lower {
            Some(code) => {
                let term = self.evaluate_above(code, base)?;
                self.program.numbers.read(&self.section, term)
            }
            None => None,
        };
        let upper = self.evaluate_above(upper, base)?;
        let upper = self.program.numbers.read(&self.section, upper);
        // Of a fraction both neighbours may be tried; the tests refuse one of them.
        let near = |number: Number, towards: IBig| match number {
            Number::Integer(value) => value,
            Number::Fraction(numerator, denominator) => numerator / IBig::from(denominator) + towards,
        };
        let first = match (lower.map(|lower| near(lower, -IBig::ONE)), least) {
            (Some(lower), Some(least)) => lower.max(least),
            (Some(first), None) | (None, Some(first)) => first,
            (None, None) => return Ok(None),
        };
        Ok(upper.map(|upper| (first, near(upper, IBig::ONE))))
    }

    /// The values that a source lists, each once; nothing where that is not known.
    fn listed(&mut self, source: Source, base: usize) -> Result<Option<Vec<Term>>, Unfinished> {
        let values = match source {
            Source::Known(value) => Some(vec![value]),
            Source::Point(code) => Some(vec![self.evaluate_above(code, base)?]),
            Source::Less { than, by, least } => {
                let number = self.evaluate_above(than, base)?;
                self.program.numbers.read(&self.section, number).map(|number| match number {
                    Number::Integer(value) if value >= IBig::from(by) + IBig::from(least) => {
                        let value = Number::Integer(value - IBig::from(by));
                        vec![self.program.numbers.term(&self.section, &value)]
                    }
                    _ => Vec::new(),
                })
            }
            Source::Elements(code) => {
                let container = self.evaluate_above(code, base)?;
                self.elements(container)?
            }
            Source::Holds(code) => {
                let function = self.evaluate_above(code, base)?;
                self.candidates(function)?
            }
            Source::Range { .. } | Source::Between | Source::All | Source::Search => None,
        };
        Ok(values.map(|mut values| {
            let mut seen = HashSet::new();
            values.retain(|value| seen.insert(*value));
            values
        }))
    }

    /// The elements of a list or finite set that is known to its end; of a set, values among which its elements are.
    fn elements(&mut self, container: Term) -> Result<Option<Vec<Term>>, Unfinished> {
        let mut rest = container;
        let mut elements = Vec::new();
        loop {
            let Role::Applied(function) = self.program.role(self.section.head(rest)) else { return Ok(None) };
            let Some(id) = self.program.function(function).id else { return Ok(None) };
            match self.program.specification.signature.function(id).origin {
                Origin::Builtin(Operator::EmptyList | Operator::EmptySet) => return Ok(Some(elements)),
                Origin::Builtin(Operator::Cons | Operator::FSetCons) => {
                    elements.push(self.section.argument(rest, 0));
                    rest = self.section.argument(rest, 1);
                }
                Origin::Builtin(Operator::SetConstructor) => {
                    let (function, exceptions) = (self.section.argument(rest, 0), self.section.argument(rest, 1));
                    // The set is held while its parts are looked at.
                    self.stack.push(rest);
                    let candidates = self.candidates(function)?;
                    self.stack.pop();
                    let exceptions = self.elements(exceptions)?;
                    return Ok(candidates.zip(exceptions).map(|(one, other)| [one, other].concat()));
                }
                _ => return Ok(None),
            }
        }
    }

    /// Values among which are all those for which a function holds; nothing where that is not known.
    fn candidates(&mut self, function: Term) -> Result<Option<Vec<Term>>, Unfinished> {
        let program = self.program;
        match program.role(self.section.head(function)) {
            Role::Bare(index) if program.operator(index) == Some(Operator::Nothing) => Ok(Some(Vec::new())),
            Role::Applied(index) => {
                let parts: Vec<Term> = self.section.arguments(function).iter().collect();
                match (program.operator(index), &parts[..]) {
                    (Some(Operator::AndFunction), &[one, other]) => {
                        self.stack.push(function);
                        let mut candidates = self.candidates(one)?;
                        if candidates.is_none() {
                            candidates = self.candidates(other)?;
                        }
                        self.stack.pop();
                        Ok(candidates)
                    }
                    (Some(Operator::OrFunction), &[one, other]) => {
                        self.stack.push(function);
                        let candidates = self.candidates(one)?;
                        let holder = self.section.list(candidates.as_deref().unwrap_or_default());
                        self.stack.push(holder);
                        let others = self.candidates(other)?;
                        self.stack.truncate(self.stack.len() - 2);
                        Ok(candidates.zip(others).map(|(one, other)| [one, other].concat()))
                    }
                    _ => Ok(None),
                }
            }
            Role::Closure(index) => {
                let Some(&source) = program.held.get(&index) else { return Ok(None) };
                let Some((_, variables)) = &program.function(index).site else { return Ok(None) };
                let sort = program.specification.tree.variable(variables[variables.len() - 1]).1;
                let base = self.stack.len();
                let captured: Vec<Term> = self.section.arguments(function).iter().collect();
                self.stack.extend(captured);
                for place in base..self.stack.len() {
                    self.force(self.stack[place])?;
                    self.stack[place] = self.pop();
                }
                let values = match source {
                    Source::Range { lower, upper } => {
                        self.bounds(lower, upper, sort, base)?.and_then(|(first, last)| {
                            let length = u64::try_from(&last - &first).ok().filter(|&length| length <= LONGEST_RANGE);
                            let numbers = || (0..=length.unwrap_or(0)).map(|step| &first + IBig::from(step));
                            let term = |number| program.numbers.term(&self.section, &Number::Integer(number));
                            if last < first { Some(Vec::new()) } else { length.map(|_| numbers().map(term).collect()) }
                        })
                    }
                    source => self.listed(source, base)?,
                };
                self.stack.truncate(base);
                Ok(values)
            }
            _ => Ok(None),
        }
    }
}
