//! Comparing values by their terms.
//!
//! Terms are maximally shared, so equal terms are equal values. Different terms are different values when somewhere
//! inside, below equal constructors, two constructors of a structured sort or of lists differ, or two numbers.
//! Where something else differs (a set, a function, a term that is stuck) the equations decide.

use std::cmp::Ordering;

use dashu_int::IBig;
use trefoil_terms::{Section, Symbol, Term};

use crate::signature::Operator;

use super::machine::Rewriter;
use super::numbers::Number;
use super::program::{Kind, Program, Role};

/// Pairs of terms that are looked at before it is left to the equations: a pair may be met again and again, and the
/// equations are run with polls between.
const MOST_PAIRS: usize = 10_000;

impl Program {
    /// A linear order of values that extends `<`. Where `<` is the subset relation, a smaller set comes first, and of
    /// two sets with the same size the one with the first element that differs. Nothing for terms that are no values.
    pub(super) fn order(&self, section: &Section<'_>, left: Term, right: Term) -> Option<Ordering> {
        let mut pending = vec![(left, right)];
        while let Some((left, right)) = pending.pop() {
            if left == right {
                continue;
            }
            if let Some(less) = self.numbers.less(section, left, right) {
                return Some(if less { Ordering::Less } else { Ordering::Greater });
            }
            let pairs: Vec<(Term, Term)> = match [left, right].map(|term| self.applied_operator(section, term)) {
                [Some(Operator::EmptyList), Some(Operator::Cons)] => return Some(Ordering::Less),
                [Some(Operator::Cons), Some(Operator::EmptyList)] => return Some(Ordering::Greater),
                [Some(Operator::EmptySet | Operator::FSetCons), Some(Operator::EmptySet | Operator::FSetCons)]
                | [Some(Operator::EmptyBag | Operator::FBagCons), Some(Operator::EmptyBag | Operator::FBagCons)] => {
                    let ((size, parts), (other, others)) = (self.chain(section, left)?, self.chain(section, right)?);
                    if size != other {
                        return Some(size.cmp(&other));
                    }
                    parts.into_iter().zip(others).collect()
                }
                [Some(Operator::SetConstructor), Some(Operator::SetConstructor)]
                | [Some(Operator::BagConstructor), Some(Operator::BagConstructor)] => {
                    let functions = [left, right].map(|term| section.argument(term, 0));
                    let is_constant = matches!(self.role(section.head(functions[0])), Role::Bare(_));
                    if !is_constant || functions[0] != functions[1] {
                        return None;
                    }
                    vec![(section.argument(left, 1), section.argument(right, 1))]
                }
                [Some(Operator::Cons), Some(Operator::Cons)] => arguments(section, left, right),
                _ => {
                    let places = [left, right].map(|term| self.constructor(section.head(term)));
                    let [Some(one), Some(other)] = places else { return None };
                    if one != other {
                        return Some(one.cmp(&other));
                    }
                    arguments(section, left, right)
                }
            };
            pending.extend(pairs.into_iter().rev());
        }
        Some(Ordering::Equal)
    }

    /// The size of a finite set or bag, and its elements, those of a bag each with its count.
    fn chain(&self, section: &Section<'_>, term: Term) -> Option<(IBig, Vec<Term>)> {
        let (mut size, mut parts, mut rest) = (IBig::ZERO, Vec::new(), term);
        loop {
            match self.applied_operator(section, rest)? {
                Operator::FSetCons => {
                    size += IBig::ONE;
                    parts.push(section.argument(rest, 0));
                    rest = section.argument(rest, 1);
                }
                Operator::FBagCons => {
                    let Number::Integer(count) = self.numbers.read(section, section.argument(rest, 1))? else {
                        return None;
                    };
                    size += count;
                    parts.extend([section.argument(rest, 0), section.argument(rest, 1)]);
                    rest = section.argument(rest, 2);
                }
                Operator::EmptySet | Operator::EmptyBag => return Some((size, parts)),
                _ => return None,
            }
        }
    }

    /// The place of a constructor of a structured sort, or of `false` and `true`.
    fn constructor(&self, symbol: Symbol) -> Option<u32> {
        match self.role(symbol) {
            Role::Applied(function) => match self.function(function).kind {
                Kind::Constructor(place) if self.is_structured(function) => Some(place),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The arguments of two applications of one constructor, in pairs.
fn arguments(section: &Section<'_>, left: Term, right: Term) -> Vec<(Term, Term)> {
    section.arguments(left).iter().zip(section.arguments(right).iter()).collect()
}

impl Rewriter<'_> {
    /// The truth of a comparison, where that is seen from the terms alone.
    #[inline]
    pub(super) fn compare(&self, operator: Operator, left: Term, right: Term) -> Option<bool> {
        match operator {
            Operator::Equal => self.equal(left, right),
            Operator::NotEqual => self.equal(left, right).map(|equal| !equal),
            Operator::Less => self.less(left, right, false),
            Operator::LessEqual => self.less(left, right, true),
            Operator::Greater => self.less(right, left, false),
            _ => self.less(right, left, true),
        }
    }

    #[inline]
    fn equal(&self, left: Term, right: Term) -> Option<bool> {
        if left == right { Some(true) } else { self.differ(left, right).then_some(false) }
    }

    /// Whether two terms that are not the same are surely different values.
    #[inline(never)]
    fn differ(&self, left: Term, right: Term) -> bool {
        let (mut one, mut other) = (left, right);
        let mut later: Vec<(Term, Term)> = Vec::new();
        for _ in 0..MOST_PAIRS {
            let heads = (self.section.head(one), self.section.head(other));
            let free = self.program.is_free(heads.0) && self.program.is_free(heads.1);
            if free && heads.0 != heads.1 {
                return true;
            }
            if free {
                // Equal values have equal arguments, so each pair of arguments may show the difference.
                let arguments = self.section.arguments(one).iter().zip(self.section.arguments(other).iter());
                let mut different = arguments.filter(|(one, other)| one != other);
                let Some(first) = different.next() else { unreachable!("different terms differ somewhere") };
                later.extend(different);
                (one, other) = first;
                continue;
            }
            let numbers = &self.program.numbers;
            if numbers.is_number(heads.0) && numbers.is_number(heads.1) {
                return true;
            }
            match later.pop() {
                Some(pair) => (one, other) = pair,
                None => return false,
            }
        }
        false
    }

    /// The order of two values, where that is seen from their heads.
    #[inline]
    fn less(&self, left: Term, right: Term, or_equal: bool) -> Option<bool> {
        if left == right {
            return Some(or_equal);
        }
        if let Some(less) = self.program.numbers.less(&self.section, left, right) {
            return Some(less);
        }
        let (one, other) = (self.section.head(left), self.section.head(right));
        let (one, other) = (self.program.constructor(one)?, self.program.constructor(other)?);
        (one != other).then_some(one < other)
    }
}
