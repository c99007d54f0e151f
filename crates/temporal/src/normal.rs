//! Negation normal form, made smaller.
//!
//! Negations move down to propositions, and equivalences make the formula smaller on the way: those of Somenzi and
//! Bloem, *Efficient Büchi automata from LTL formulae*, 2000, and of Etessami and Holzmann, *Optimizing Büchi
//! automata*, 2000. Two notions carry most of them. A formula is an *eventuality* when `<> f` is `f` already: it does
//! not matter how late one looks. It is *universal* when `[] f` is `f`. `[] <> p` is both.
//!
//! Each rule replaces a formula by an equivalent one with fewer temporal operators or with the same ones nearer to the
//! propositions, so the result is never larger. Cost: linear in the number of different parts.

use trefoil_system::{Ltl, LtlId, LtlNode};

/// Formulas in negation normal form.
pub(crate) struct Normal {
    pub(crate) ltl: Ltl,
    eventuality: Vec<bool>,
    universal: Vec<bool>,
}

/// The negation normal form of a formula, or of its negation.
pub(crate) fn normal(source: &Ltl, formula: LtlId, negated: bool) -> (Normal, LtlId) {
    let mut normal = Normal { ltl: Ltl::default(), eventuality: Vec::new(), universal: Vec::new() };
    let used = source.parts(formula);
    // Each part as it is, and negated.
    let mut made: Vec<[LtlId; 2]> = Vec::with_capacity(formula.index() + 1);
    let nothing = normal.falsehood();
    for (at, node) in source.nodes()[..=formula.index()].iter().enumerate() {
        if !used[at] {
            made.push([nothing; 2]);
            continue;
        }
        let of = |part: &LtlId| made[part.index()];
        made.push(match node {
            LtlNode::True => [normal.truth(), normal.falsehood()],
            LtlNode::False => [normal.falsehood(), normal.truth()],
            LtlNode::Proposition(number) => {
                let literal = normal.keep(LtlNode::Proposition(*number));
                [literal, normal.keep(LtlNode::Not(literal))]
            }
            LtlNode::Not(part) => {
                let [plain, negated] = of(part);
                [negated, plain]
            }
            LtlNode::And(one, other) => {
                let ([one, not_one], [other, not_other]) = (of(one), of(other));
                [normal.and(one, other), normal.or(not_one, not_other)]
            }
            LtlNode::Or(one, other) => {
                let ([one, not_one], [other, not_other]) = (of(one), of(other));
                [normal.or(one, other), normal.and(not_one, not_other)]
            }
            LtlNode::Next(part) => {
                let [plain, negated] = of(part);
                [normal.next(plain), normal.next(negated)]
            }
            LtlNode::Until(one, other) => {
                let ([one, not_one], [other, not_other]) = (of(one), of(other));
                [normal.until(one, other), normal.release(not_one, not_other)]
            }
            LtlNode::Release(one, other) => {
                let ([one, not_one], [other, not_other]) = (of(one), of(other));
                [normal.release(one, other), normal.until(not_one, not_other)]
            }
        });
    }
    let root = made[formula.index()][usize::from(negated)];
    (normal, root)
}

impl Normal {
    fn node(&self, id: LtlId) -> LtlNode {
        self.ltl.node(id)
    }

    fn truth(&mut self) -> LtlId {
        self.keep(LtlNode::True)
    }

    fn falsehood(&mut self) -> LtlId {
        self.keep(LtlNode::False)
    }

    /// A node as it is, with what is known about it.
    fn keep(&mut self, node: LtlNode) -> LtlId {
        let id = self.ltl.add(node);
        if id.index() == self.eventuality.len() {
            let eventuality = |part: LtlId| self.eventuality[part.index()];
            let universal = |part: LtlId| self.universal[part.index()];
            let both = match node {
                LtlNode::True | LtlNode::False => (true, true),
                LtlNode::Proposition(_) | LtlNode::Not(_) => (false, false),
                LtlNode::And(one, other) | LtlNode::Or(one, other) => {
                    (eventuality(one) && eventuality(other), universal(one) && universal(other))
                }
                LtlNode::Next(part) => (eventuality(part), universal(part)),
                LtlNode::Until(one, other) => {
                    (self.ltl.node(one) == LtlNode::True || eventuality(other), universal(one) && universal(other))
                }
                LtlNode::Release(one, other) => {
                    (eventuality(one) && eventuality(other), self.ltl.node(one) == LtlNode::False || universal(other))
                }
            };
            self.eventuality.push(both.0);
            self.universal.push(both.1);
        }
        id
    }

    fn is_eventuality(&self, id: LtlId) -> bool {
        self.eventuality[id.index()]
    }

    fn is_universal(&self, id: LtlId) -> bool {
        self.universal[id.index()]
    }

    fn opposite(&self, one: LtlId, other: LtlId) -> bool {
        self.node(one) == LtlNode::Not(other) || self.node(other) == LtlNode::Not(one)
    }

    fn is(&self, id: LtlId, node: LtlNode) -> bool {
        self.node(id) == node
    }

    fn and(&mut self, left: LtlId, right: LtlId) -> LtlId {
        use LtlNode::{And, False, Next, Or, Release, True, Until};
        match (self.node(left), self.node(right)) {
            (True, _) => return right,
            (_, True) => return left,
            (False, _) | (_, False) => return self.falsehood(),
            _ if left == right => return left,
            _ if self.opposite(left, right) => return self.falsehood(),
            (Next(one), Next(other)) => {
                let both = self.and(one, other);
                return self.next(both);
            }
            // a V b && a V c
            (Release(one, b), Release(other, c)) if one == other => {
                let both = self.and(b, c);
                return self.release(one, both);
            }
            (Until(one, b), Until(other, c)) if b == c => {
                let both = self.and(one, other);
                return self.until(both, b);
            }
            // <>[]a && <>[]b
            (Until(one, a), Until(other, b))
                if self.is(one, True) && self.is(other, True) && self.is_universal(a) && self.is_universal(b) =>
            {
                let both = self.and(a, b);
                return self.until(one, both);
            }
            // a && (a U b) stays; (a U b) && b is b, and so on.
            (Until(_, b), _) if b == right => return right,
            (_, Until(_, b)) if b == left => return left,
            (Release(_, b), _) if b == right => return left,
            (_, Release(_, b)) if b == left => return right,
            (And(one, other), _) if one == right || other == right => return left,
            (_, And(one, other)) if one == left || other == left => return right,
            (Or(one, other), _) if one == right || other == right => return right,
            (_, Or(one, other)) if one == left || other == left => return left,
            _ => {}
        }
        self.keep(And(left.min(right), left.max(right)))
    }

    fn or(&mut self, left: LtlId, right: LtlId) -> LtlId {
        use LtlNode::{And, False, Next, Or, Release, True, Until};
        match (self.node(left), self.node(right)) {
            (False, _) => return right,
            (_, False) => return left,
            (True, _) | (_, True) => return self.truth(),
            _ if left == right => return left,
            _ if self.opposite(left, right) => return self.truth(),
            (Next(one), Next(other)) => {
                let either = self.or(one, other);
                return self.next(either);
            }
            // a U b || a U c
            (Until(one, b), Until(other, c)) if one == other => {
                let either = self.or(b, c);
                return self.until(one, either);
            }
            (Release(one, b), Release(other, c)) if b == c => {
                let either = self.or(one, other);
                return self.release(either, b);
            }
            // []<>a || []<>b
            (Release(one, a), Release(other, b))
                if self.is(one, False) && self.is(other, False) && self.is_eventuality(a) && self.is_eventuality(b) =>
            {
                let either = self.or(a, b);
                return self.release(one, either);
            }
            (Until(_, b), _) if b == right => return left,
            (_, Until(_, b)) if b == left => return right,
            (Release(_, b), _) if b == right => return right,
            (_, Release(_, b)) if b == left => return left,
            (Or(one, other), _) if one == right || other == right => return left,
            (_, Or(one, other)) if one == left || other == left => return right,
            (And(one, other), _) if one == right || other == right => return right,
            (_, And(one, other)) if one == left || other == left => return left,
            _ => {}
        }
        self.keep(Or(left.min(right), left.max(right)))
    }

    fn next(&mut self, part: LtlId) -> LtlId {
        let constant = matches!(self.node(part), LtlNode::True | LtlNode::False);
        // Whatever holds both always from now on and as late as one likes does not depend on the moment.
        if constant || (self.is_eventuality(part) && self.is_universal(part)) {
            return part;
        }
        self.keep(LtlNode::Next(part))
    }

    fn until(&mut self, left: LtlId, right: LtlId) -> LtlId {
        use LtlNode::{False, Next, Or, True, Until};
        if self.is_eventuality(right) || self.is(left, False) || left == right {
            return right;
        }
        match (self.node(left), self.node(right)) {
            // a U (a U b), and <>(a U b)
            (_, Until(inner, _)) if inner == left => return right,
            (True, Until(_, b)) => return self.until(left, b),
            (True, Next(part)) => {
                let inner = self.until(left, part);
                return self.next(inner);
            }
            (True, Or(a, b)) if self.is_eventuality(a) || self.is_eventuality(b) => {
                let (a, b) = (self.until(left, a), self.until(left, b));
                return self.or(a, b);
            }
            (Next(a), Next(b)) => {
                let inner = self.until(a, b);
                return self.next(inner);
            }
            _ => {}
        }
        self.keep(Until(left, right))
    }

    fn release(&mut self, left: LtlId, right: LtlId) -> LtlId {
        use LtlNode::{And, False, Next, Release, True};
        if self.is_universal(right) || self.is(left, True) || left == right {
            return right;
        }
        match (self.node(left), self.node(right)) {
            (_, Release(inner, _)) if inner == left => return right,
            (False, Release(_, b)) => return self.release(left, b),
            (False, Next(part)) => {
                let inner = self.release(left, part);
                return self.next(inner);
            }
            (False, And(a, b)) if self.is_universal(a) || self.is_universal(b) => {
                let (a, b) = (self.release(left, a), self.release(left, b));
                return self.and(a, b);
            }
            (Next(a), Next(b)) => {
                let inner = self.release(a, b);
                return self.next(inner);
            }
            _ => {}
        }
        self.keep(Release(left, right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_get_smaller() {
        let mut ltl = Ltl::default();
        let (p, q) = (ltl.proposition(0), ltl.proposition(1));
        let text = |ltl: &Ltl, formula, negated| {
            let (normal, root) = normal(ltl, formula, negated);
            normal.ltl.text(root, &|number| ["p", "q"][number as usize].to_string())
        };
        let always_eventually = |ltl: &mut Ltl, part| {
            let inner = ltl.eventually(part);
            ltl.always(inner)
        };
        let (one, other) = (always_eventually(&mut ltl, p), always_eventually(&mut ltl, q));
        let either = ltl.or(one, other);
        assert_eq!(text(&ltl, either, false), "[] <> (p || q)");
        assert_eq!(text(&ltl, either, true), "<> [] (!p && !q)");
        let late = ltl.eventually(one);
        assert_eq!(text(&ltl, late, false), "[] <> p");
        let next = ltl.next(one);
        assert_eq!(text(&ltl, next, false), "[] <> p");
        let until = ltl.until(q, late);
        assert_eq!(text(&ltl, until, false), "[] <> p");
        let (x, y) = (ltl.next(p), ltl.next(q));
        let until = ltl.until(x, y);
        assert_eq!(text(&ltl, until, true), "X (!p V !q)");
        let not = ltl.not(p);
        let nothing = ltl.and(p, not);
        assert_eq!(text(&ltl, nothing, false), "false");
    }
}
