//! Comparing values by their terms.
//!
//! Terms are maximally shared, so equal terms are equal values. Different terms are different values when somewhere
//! inside, below equal constructors, two constructors of a structured sort or of lists differ, or two numbers.
//! Where something else differs (a set, a function, a term that is stuck) the equations decide.

use trefoil_terms::{Symbol, Term};

use crate::signature::Operator;

use super::machine::Rewriter;
use super::program::{Kind, Role};

/// Pairs of terms that are looked at before it is left to the equations: a pair may be met again and again, and the
/// equations are run with polls between.
const MOST_PAIRS: usize = 10_000;

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
        let (one, other) = (self.constructor(one)?, self.constructor(other)?);
        (one != other).then_some(one < other)
    }

    /// The place of a constructor of a structured sort, or of `false` and `true`.
    fn constructor(&self, symbol: Symbol) -> Option<u32> {
        match self.program.role(symbol) {
            Role::Applied(function) => match self.program.function(function).kind {
                Kind::Constructor(place) if self.program.is_structured(function) => Some(place),
                _ => None,
            },
            _ => None,
        }
    }
}
