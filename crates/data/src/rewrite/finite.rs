//! How many values a sort has, and the values of finite sorts by number.
//!
//! Values are made one by one, so that a sort of functions or sets with millions of values costs no memory; the values
//! of small sorts are kept. Structured values come in the order of `<`.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use trefoil_terms::{Section, Symbol, Term};

use crate::signature::{FunctionId, Operator};
use crate::sorts::{BOOL, INT, NAT, POS, REAL, SortKind, SortRef};
use crate::syntax::tree::Container;
use crate::typed::DataSpecification;

use super::code::FunctionIndex;
use super::program::Program;

/// The values of sorts with at most this many are kept.
const MOST_KEPT: u64 = 1 << 16;

/// Sets over sorts with at most this many values are kept as finite sets.
const MOST_ELEMENTS: u64 = 1 << 12;

/// From this number on, values are not listed.
const TOO_MANY: u64 = 1 << 32;

/// How many values a sort has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// This many, less than 2^32.
    Finite(u64),
    /// Finitely many, but too many.
    TooMany,
    /// Infinitely many, which can be listed one after the other.
    Infinite,
    /// The values of the sort, or of a part of it, cannot be listed: it has no constructors, or holds fractions, bags,
    /// or functions or sets over infinite sorts.
    Unlisted,
}

impl Size {
    fn plus(self, other: Size) -> Size {
        match (self, other) {
            (Size::Unlisted, _) | (_, Size::Unlisted) => Size::Unlisted,
            (Size::Infinite, _) | (_, Size::Infinite) => Size::Infinite,
            (Size::Finite(one), Size::Finite(other)) => Size::of(one.checked_add(other)),
            _ => Size::TooMany,
        }
    }

    fn times(self, other: Size) -> Size {
        match (self, other) {
            (Size::Finite(one), Size::Finite(other)) => Size::of(one.checked_mul(other)),
            _ => self.plus(other),
        }
    }

    fn power(self, exponent: Size) -> Size {
        match (self, exponent) {
            (Size::Finite(1), Size::Finite(_) | Size::TooMany) => Size::Finite(1),
            (Size::Finite(base), Size::Finite(exponent)) => {
                Size::of(u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent)))
            }
            (Size::Finite(_) | Size::TooMany, Size::Finite(_) | Size::TooMany) => Size::TooMany,
            _ => Size::Unlisted,
        }
    }

    fn of(values: Option<u64>) -> Size {
        values.filter(|&values| values < TOO_MANY).map_or(Size::TooMany, Size::Finite)
    }
}

impl DataSpecification {
    /// How many values a sort has.
    pub fn size(&self, sort: SortRef) -> Size {
        self.size_inside(sort, &mut HashSet::new())
    }

    fn size_inside(&self, sort: SortRef, around: &mut HashSet<SortRef>) -> Size {
        match (sort, self.sorts.kind(sort)) {
            (BOOL, _) => Size::Finite(2),
            (POS | NAT | INT, _) => Size::Infinite,
            (REAL, _) => Size::Unlisted,
            (_, SortKind::Basic(_)) => unreachable!("the basic sorts are listed above"),
            (_, SortKind::Container(Container::List, element)) => match self.size_inside(*element, around) {
                Size::Unlisted => Size::Unlisted,
                _ => Size::Infinite,
            },
            (_, SortKind::Container(Container::Set | Container::FSet, element)) => {
                Size::Finite(2).power(self.size_inside(*element, around))
            }
            (_, SortKind::Container(Container::Bag | Container::FBag, _)) => Size::Unlisted,
            (_, SortKind::Function(domain, codomain)) => match &**domain {
                [argument] => self.size_inside(*codomain, around).power(self.size_inside(*argument, around)),
                _ => Size::Unlisted,
            },
            (_, SortKind::Named(_) | SortKind::Structured(_)) => {
                let constructors = self.sorts.constructors(sort);
                if constructors.is_empty() {
                    return Size::Unlisted;
                }
                // A sort inside itself has infinitely many values.
                if !around.insert(sort) {
                    return Size::Infinite;
                }
                let sizes = constructors.iter().map(|&constructor| {
                    domain(self, constructor)
                        .iter()
                        .map(|&part| self.size_inside(part, around))
                        .fold(Size::Finite(1), Size::times)
                });
                let size = sizes.collect::<Vec<_>>().into_iter().fold(Size::Finite(0), Size::plus);
                around.remove(&sort);
                size
            }
        }
    }

    /// Whether a sort has few values, and `<` puts them in the order in which they are listed: then sets of them are
    /// kept as the finite sets that they are.
    pub(super) fn has_normal_sets(&self, element: SortRef) -> bool {
        matches!(self.size(element), Size::Finite(size) if size <= MOST_ELEMENTS)
            && self.is_made_of(element, &|sort| sort == BOOL, &mut HashSet::new())
    }

    /// Whether `<` puts the values of a sort in a row. It does not where they hold sets, bags or functions. A sort
    /// without constructors has the order that the specification gives it.
    pub(super) fn is_ordered(&self, sort: SortRef) -> bool {
        let of_others = |sort| matches!(self.sorts.kind(sort), SortKind::Basic(_) | SortKind::Named(_));
        self.is_made_of(sort, &of_others, &mut HashSet::new())
    }

    /// Whether a sort is one of `others`, or made of them by structures and lists.
    fn is_made_of(&self, sort: SortRef, others: &dyn Fn(SortRef) -> bool, around: &mut HashSet<SortRef>) -> bool {
        if let SortKind::Container(Container::List, element) = self.sorts.kind(sort) {
            return self.is_made_of(*element, others, around);
        }
        if !self.structured.iter().any(|(structured, _)| *structured == sort) {
            return others(sort);
        }
        !around.insert(sort)
            || self
                .sorts
                .constructors(sort)
                .iter()
                .all(|&constructor| domain(self, constructor).iter().all(|&part| self.is_made_of(part, others, around)))
    }
}

fn domain(specification: &DataSpecification, constructor: FunctionId) -> &[SortRef] {
    let whole = specification.signature.function(constructor).sort;
    specification.sorts.as_function(whole).map_or(&[][..], |(domain, _)| domain)
}

impl Program {
    /// How many values a sort has.
    pub fn size(&self, sort: SortRef) -> Size {
        self.specification.size(sort)
    }

    /// The sorts of a constructor's arguments.
    pub(super) fn domain(&self, constructor: FunctionId) -> &[SortRef] {
        domain(&self.specification, constructor)
    }

    /// The sorts that values of a sort are directly made of.
    pub(super) fn parts(&self, sort: SortRef) -> Vec<SortRef> {
        match self.specification.sorts.kind(sort) {
            SortKind::Container(Container::List, element) => vec![*element],
            SortKind::Named(_) | SortKind::Structured(_) => {
                let constructors = self.specification.sorts.constructors(sort);
                constructors.iter().flat_map(|&constructor| self.domain(constructor).to_vec()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Every value of a sort that has few, in its order.
    pub fn values(&self, section: &Section<'_>, sort: SortRef) -> Option<Arc<[Term]>> {
        let known = self.listed.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&sort).cloned();
        if let Some(known) = known {
            return known;
        }
        let values = match self.size(sort) {
            Size::Finite(size) if size <= MOST_KEPT && self.makes(sort, &mut HashSet::new()) => {
                let values: Vec<Term> = (0..size).map(|number| self.nth(section, sort, number)).collect();
                for &value in &values {
                    self.keep(value, section);
                }
                Some(values.into())
            }
            _ => None,
        };
        let mut listed = self.listed.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        listed.insert(sort, values.clone());
        values
    }

    /// Can values of a finite sort be made? Those of sets and functions only where listing them was foreseen.
    fn makes(&self, sort: SortRef, seen: &mut HashSet<SortRef>) -> bool {
        if !seen.insert(sort) {
            return true;
        }
        match self.specification.sorts.kind(sort) {
            SortKind::Basic(_) => true,
            SortKind::Container(_, element) => self.specification.taken.makes(sort) && self.makes(*element, seen),
            SortKind::Function(domain, codomain) => {
                let mut parts = domain.iter().chain([codomain]);
                self.specification.taken.makes(sort) && parts.all(|&part| self.makes(part, seen))
            }
            SortKind::Named(_) | SortKind::Structured(_) => {
                let mut constructors = self.specification.sorts.constructors(sort).iter();
                constructors.all(|&constructor| {
                    domain(&self.specification, constructor).iter().all(|&part| self.makes(part, seen))
                })
            }
        }
    }

    /// The value of a finite sort with a number.
    pub(super) fn nth(&self, section: &Section<'_>, sort: SortRef, number: u64) -> Term {
        let finite = |sort: SortRef| match self.size(sort) {
            Size::Finite(size) => size,
            other => unreachable!("a finite sort has finite parts, not {other:?}"),
        };
        if sort == BOOL {
            return self.truths[usize::from(number == 1)];
        }
        match self.specification.sorts.kind(sort) {
            SortKind::Container(container, element) => {
                let chosen = (0..finite(*element)).filter(|&bit| number >> bit & 1 == 1);
                let mut members: Vec<Term> = chosen.map(|bit| self.nth(section, *element, bit)).collect();
                self.put_in_row(section, *element, &mut members, |&member| member);
                if *container == Container::FSet {
                    return self.finite_set_of(section, &members);
                }
                self.set_of(section, *element, &members)
            }
            SortKind::Function(domain, codomain) => {
                let (argument, values) = (domain[0], finite(*codomain));
                let default = self.nth(section, *codomain, 0);
                let constant = self.builtin_symbol(Operator::ConstantFunction, &[*codomain], sort);
                let update = self.builtin_symbol(Operator::StableUpdate, &[sort, argument, *codomain], sort);
                let mut function = section.create(constant, &[default]);
                let mut rest = number;
                let mut digits = Vec::new();
                for place in 0..finite(argument) {
                    digits.push((place, rest % values));
                    rest /= values;
                }
                let updated = digits.into_iter().filter(|(_, digit)| *digit != 0);
                let mut updates: Vec<(Term, Term)> = updated
                    .map(|(place, digit)| (self.nth(section, argument, place), self.nth(section, *codomain, digit)))
                    .collect();
                self.put_in_row(section, argument, &mut updates, |&(argument, _)| argument);
                for (argument, value) in updates.into_iter().rev() {
                    function = section.create(update, &[function, argument, value]);
                }
                function
            }
            _ => {
                let mut number = number;
                for &constructor in self.specification.sorts.constructors(sort) {
                    let domain = self.domain(constructor);
                    let sizes: Vec<u64> = domain.iter().map(|&part| finite(part)).collect();
                    let all: u64 = sizes.iter().product();
                    if number >= all {
                        number -= all;
                        continue;
                    }
                    let mut arguments = vec![section.empty(); domain.len()];
                    for place in (0..domain.len()).rev() {
                        arguments[place] = self.nth(section, domain[place], number % sizes[place]);
                        number /= sizes[place];
                    }
                    return section.create(self.function(self.function_of(constructor)).symbol, &arguments);
                }
                unreachable!("a number below the size of the sort")
            }
        }
    }

    /// Sorts what belongs to values, which are listed in the order of `<` where there is one.
    fn put_in_row<T>(&self, section: &Section<'_>, sort: SortRef, all: &mut [T], value: impl Fn(&T) -> Term) {
        if !self.specification.is_ordered(sort) {
            all.sort_by(|one, other| self.order(section, value(one), value(other)).unwrap_or(Ordering::Equal));
        }
    }

    /// The finite set of members in their order.
    fn finite_set_of(&self, section: &Section<'_>, members: &[Term]) -> Term {
        let empty = section.create(self.pool.symbol("{}", 0), &[]);
        let cons = self.pool.symbol("@fset", 2);
        members.iter().rev().fold(empty, |rest, &member| section.create(cons, &[member, rest]))
    }

    /// The set of members in their order.
    pub(super) fn set_of(&self, section: &Section<'_>, element: SortRef, members: &[Term]) -> Term {
        let nothing = section.create(self.bare_symbol(self.builtin_at(Operator::Nothing, &[element], BOOL)), &[]);
        section.create(self.pool.symbol("@set", 2), &[nothing, self.finite_set_of(section, members)])
    }

    /// The symbol of a built-in function that was taken up because values of its sort may be listed.
    fn builtin_symbol(&self, operator: Operator, domain: &[SortRef], codomain: SortRef) -> Symbol {
        self.function(self.builtin_at(operator, domain, codomain)).symbol
    }

    pub(super) fn builtin_at(&self, operator: Operator, domain: &[SortRef], codomain: SortRef) -> FunctionIndex {
        let sort = self.specification.sorts.find_function(domain, codomain);
        match sort.and_then(|sort| self.specification.signature.find_builtin(operator, sort)) {
            Some(id) => self.function_of(id),
            None => unreachable!("{operator:?} was taken up for sorts whose values are listed"),
        }
    }
}
