//! The search of variables of infinite sorts.
//!
//! A queue holds tuples in which parts are still unknown. A tuple whose condition is not false already is replaced by
//! those in which its first unknown part is each constructor over further unknown parts, or the next number; or an
//! unknown part is each of the values that the open condition leaves it (`narrow.rs`). The queue makes the search fair:
//! every solution is found after finitely many tuples, and a condition that becomes false while parts are unknown cuts
//! off infinitely many values.
//!
//! An unknown part is a constant that no rule knows, so a condition that depends on it stays open. A search inside
//! another one (a quantifier inside a quantifier) has unknown parts of its own: their numbers follow those of the outer
//! search, whose unknown parts may stand in the inner condition.

use std::ops::ControlFlow;
use std::rc::Rc;

use dashu_int::IBig;
use trefoil_terms::{Root, Term};

use crate::signature::Operator;
use crate::sorts::{INT, NAT, POS, SortKind, SortRef};
use crate::syntax::tree::Container;

use super::enumerate::{Found, Progress, Tested};
use super::finite::Size;
use super::machine::{Rewriter, Unfinished};
use super::numbers::Number;
use super::plan::Level;
use super::program::{Program, Role};

impl<'p> Rewriter<'p> {
    /// Searches the values of the first level's variables together, breadth-first.
    pub(super) fn search(
        &mut self,
        levels: &'p [Level],
        base: usize,
        open: Option<&Rc<Root>>,
        progress: &mut Progress,
        found: Found<'_, 'p>,
    ) -> Result<ControlFlow<()>, Unfinished> {
        let level = &levels[0];
        let queue = self.stack.len();
        let outer = self.last_unknown;
        let mut fresh = outer;
        let unknowns: Vec<Term> = level
            .variables
            .iter()
            .map(|&(_, sort)| {
                fresh += 1;
                self.program.unknown(&self.section, sort, fresh, 0)
            })
            .collect();
        let first = self.section.list(&unknowns);
        self.stack.push(first);
        let mut next = queue;
        while next < self.stack.len() {
            self.tick()?;
            let tuple: Vec<Term> = self.section.elements(self.stack[next]).collect();
            next += 1;
            let unknown = tuple.iter().enumerate().find_map(|(place, &term)| Some((place, self.first_unknown(term)?)));
            if progress.left == 0 {
                let place = unknown.map_or(0, |(place, _)| place);
                progress.unbounded = progress.unbounded.or(Some(level.variables[place].0));
                break;
            }
            progress.left -= 1;
            self.last_unknown = fresh;
            let frame = self.stack.len();
            self.stack.extend_from_within(base..queue);
            self.stack.extend_from_slice(&tuple);
            let tested = self.test(&level.filters, frame)?;
            let flow = match (tested, unknown) {
                (Tested::False, _) => ControlFlow::Continue(()),
                (Tested::True, None) => self.level(&levels[1..], frame, open, progress, found)?,
                (Tested::Open(terms), None) => {
                    let open = open.or(terms.first().map(|(term, _)| term));
                    self.level(&levels[1..], frame, open, progress, found)?
                }
                // Whatever the unknown parts are, this is a solution.
                (Tested::True, Some(_)) if progress.one_is_enough && levels.len() == 1 && open.is_none() => {
                    found(self, frame)?
                }
                (tested, Some((place, unknown))) => {
                    self.stack.truncate(frame);
                    let (unknown, choices) = match self.narrowed(&tested, &tuple) {
                        Some((unknown, values)) => (unknown, Some(values)),
                        None => (unknown, self.choices(unknown, &mut fresh)),
                    };
                    match choices {
                        Some(choices) => {
                            for choice in choices {
                                let made: Vec<Term> =
                                    tuple.iter().map(|&part| self.replaced(part, unknown, choice)).collect();
                                let made = self.section.list(&made);
                                self.stack.push(made);
                            }
                        }
                        None => progress.unbounded = progress.unbounded.or(Some(level.variables[place].0)),
                    }
                    continue;
                }
            };
            self.stack.truncate(frame);
            if flow.is_break() {
                self.stack.truncate(queue);
                self.last_unknown = outer;
                return Ok(flow);
            }
        }
        self.stack.truncate(queue);
        self.last_unknown = outer;
        Ok(ControlFlow::Continue(()))
    }

    /// The first unknown part of a term.
    fn first_unknown(&self, term: Term) -> Option<Term> {
        if self.program.unknown_sorts.contains_key(&self.section.head(term)) {
            return Some(term);
        }
        if self.program.numbers.is_number(self.section.head(term)) {
            return None;
        }
        self.section.arguments(term).iter().find_map(|argument| self.first_unknown(argument))
    }

    fn replaced(&self, term: Term, part: Term, by: Term) -> Term {
        if term == part {
            return by;
        }
        if self.program.numbers.is_number(self.section.head(term)) || self.section.arity(term) == 0 {
            return term;
        }
        let arguments: Vec<Term> =
            self.section.arguments(term).iter().map(|argument| self.replaced(argument, part, by)).collect();
        self.section.create(self.section.head(term), &arguments)
    }

    /// What an unknown part can be, one step further: all values of a finite sort, each constructor over unknown parts,
    /// or a number and the numbers after it. Nothing for sorts whose values cannot be listed.
    fn choices(&self, unknown: Term, fresh: &mut u64) -> Option<Vec<Term>> {
        let program: &Program = self.program;
        let section = &self.section;
        let sort = program.unknown_sorts[&section.head(unknown)];
        if let Some(values) = program.values(section, sort) {
            return Some(values.to_vec());
        }
        let mut another = |sort: SortRef| {
            *fresh += 1;
            program.unknown(section, sort, *fresh, 0)
        };
        if let POS | NAT | INT = sort {
            let from = section.word_of(section.argument(unknown, 1))?;
            let number = section.word_of(section.argument(unknown, 0))?;
            let value = match sort {
                POS => IBig::from(from) + IBig::ONE,
                NAT => IBig::from(from),
                // 0, 1, -1, 2, -2 and so on.
                _ if from % 2 == 1 => IBig::from(from / 2 + 1),
                _ => -IBig::from(from / 2),
            };
            let value = program.numbers.term(section, &Number::Integer(value));
            return Some(vec![value, program.unknown(section, sort, number, from + 1)]);
        }
        match program.specification.sorts.kind(sort) {
            SortKind::Container(Container::List, element) => {
                let empty = section.create(program.pool.symbol("[]", 0), &[]);
                let parts = [another(*element), another(sort)];
                Some(vec![empty, section.create(program.pool.symbol("|>", 2), &parts)])
            }
            SortKind::Named(_) | SortKind::Structured(_) => {
                let constructors = program.specification.sorts.constructors(sort);
                let made = constructors.iter().map(|&constructor| {
                    let parts: Vec<Term> = program.domain(constructor).iter().map(|&part| another(part)).collect();
                    section.create(program.function(program.function_of(constructor)).symbol, &parts)
                });
                Some(made.collect()).filter(|made: &Vec<Term>| !made.is_empty())
            }
            SortKind::Basic(_) | SortKind::Container(..) | SortKind::Function(..) => match program.size(sort) {
                Size::Finite(size) => Some((0..size).map(|number| program.nth(section, sort, number)).collect()),
                _ => None,
            },
        }
    }

    /// Whether an open comparison is false because one side is at least so large: `#l + 3 < 3` is, whatever `l` is.
    /// This ends the search of lists of bounded length and of sums.
    pub(super) fn is_too_large(&self, comparison: Term) -> bool {
        let Role::Applied(function) = self.program.role(self.section.head(comparison)) else { return false };
        let sides: Vec<Term> = self.section.arguments(comparison).iter().collect();
        let (Some(operator), &[left, right]) = (self.program.operator(function), &sides[..]) else { return false };
        let bound = |term: Term| match self.program.numbers.read(&self.section, term) {
            Some(Number::Integer(value)) => Some(value),
            _ => None,
        };
        let exceeds =
            |term: Term, other: Term| bound(other).zip(self.least(term)).is_some_and(|(bound, least)| least > bound);
        match operator {
            Operator::Less => bound(right).zip(self.least(left)).is_some_and(|(bound, least)| least >= bound),
            Operator::LessEqual => exceeds(left, right),
            Operator::Equal => exceeds(left, right) || exceeds(right, left),
            _ => false,
        }
    }

    /// A number that a term is not below.
    pub(super) fn least(&self, term: Term) -> Option<IBig> {
        let head = self.section.head(term);
        if let Some(number) = self.program.numbers.read(&self.section, term) {
            return match number {
                Number::Integer(value) => Some(value),
                Number::Fraction(..) => None,
            };
        }
        if let Some(&sort) = self.program.unknown_sorts.get(&head) {
            let from = IBig::from(self.section.word_of(self.section.argument(term, 1))?);
            return match sort {
                POS => Some(from + IBig::ONE),
                NAT => Some(from),
                _ => None,
            };
        }
        let Role::Applied(function) = self.program.role(head) else { return None };
        if self.program.operator(function) == Some(Operator::Add) {
            return Some(self.least(self.section.argument(term, 0))? + self.least(self.section.argument(term, 1))?);
        }
        let sort = self.program.specification.signature.function(self.program.function(function).id?).sort;
        match self.program.specification.sorts.as_function(sort).map_or(sort, |(_, codomain)| codomain) {
            POS => Some(IBig::ONE),
            NAT => Some(IBig::ZERO),
            _ => None,
        }
    }
}
