//! Formulas of linear temporal logic, and whether a lasso satisfies one.
//!
//! A formula speaks about an infinite sequence of letters; a letter says which propositions hold (Pnueli, *The temporal
//! logic of programs*, 1977). [`Ltl`] keeps it as a graph in which equal parts are one node and parts have smaller
//! numbers than what is made of them, so nothing here recurses. The operators are those of negation normal form plus
//! negation: `a until b` holds where `b` holds now or later and `a` at every moment before; `a release b` is its dual.
//! `eventually a` is `true until a`, `always a` is `false release a`.
//!
//! [`Ltl::holds_on`] evaluates a formula on a lasso straight from the definitions: positions of the stem, then of the
//! cycle, whose last position is followed by its first. `until` is a least and `release` a greatest fixed point over
//! the positions, found by two passes against the direction of time. The replayer uses it, so that a counterexample to
//! a formula is checked against the formula itself and not against an automaton.

use std::collections::HashMap;

/// The number of a part of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LtlId(pub u32);

impl LtlId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A part of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LtlNode {
    /// Holds always.
    True,
    /// Holds never.
    False,
    /// A proposition, by its number.
    Proposition(u32),
    /// Holds where the part does not.
    Not(LtlId),
    /// Holds where both do.
    And(LtlId, LtlId),
    /// Holds where one of them does.
    Or(LtlId, LtlId),
    /// Holds where the part does at the next moment.
    Next(LtlId),
    /// Holds where the second does now or later, and the first at every moment before.
    Until(LtlId, LtlId),
    /// Holds where the second does up to and including the first moment at which the first does; forever if it never
    /// does.
    Release(LtlId, LtlId),
}

/// Formulas that share their parts.
#[derive(Clone, Debug, Default)]
pub struct Ltl {
    nodes: Vec<LtlNode>,
    known: HashMap<LtlNode, LtlId>,
}

impl PartialEq for Ltl {
    fn eq(&self, other: &Ltl) -> bool {
        self.nodes == other.nodes
    }
}

impl Eq for Ltl {}

impl Ltl {
    /// The number of a part, made of parts that are there.
    pub fn add(&mut self, node: LtlNode) -> LtlId {
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        let id = LtlId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.known.insert(node, id);
        id
    }

    /// A part by its number.
    pub fn node(&self, id: LtlId) -> LtlNode {
        self.nodes[id.index()]
    }

    /// All parts; each is made of earlier ones.
    pub fn nodes(&self) -> &[LtlNode] {
        &self.nodes
    }

    /// `true`
    pub fn truth(&mut self) -> LtlId {
        self.add(LtlNode::True)
    }

    /// `false`
    pub fn falsehood(&mut self) -> LtlId {
        self.add(LtlNode::False)
    }

    /// A proposition.
    pub fn proposition(&mut self, number: u32) -> LtlId {
        self.add(LtlNode::Proposition(number))
    }

    /// `!a`
    pub fn not(&mut self, part: LtlId) -> LtlId {
        match self.node(part) {
            LtlNode::True => self.falsehood(),
            LtlNode::False => self.truth(),
            LtlNode::Not(inner) => inner,
            _ => self.add(LtlNode::Not(part)),
        }
    }

    /// `a && b`
    pub fn and(&mut self, left: LtlId, right: LtlId) -> LtlId {
        match (self.node(left), self.node(right)) {
            (LtlNode::True, _) => right,
            (_, LtlNode::True) => left,
            (LtlNode::False, _) | (_, LtlNode::False) => self.falsehood(),
            _ if left == right => left,
            _ => self.add(LtlNode::And(left.min(right), left.max(right))),
        }
    }

    /// `a || b`
    pub fn or(&mut self, left: LtlId, right: LtlId) -> LtlId {
        match (self.node(left), self.node(right)) {
            (LtlNode::False, _) => right,
            (_, LtlNode::False) => left,
            (LtlNode::True, _) | (_, LtlNode::True) => self.truth(),
            _ if left == right => left,
            _ => self.add(LtlNode::Or(left.min(right), left.max(right))),
        }
    }

    /// `a -> b`
    pub fn implies(&mut self, left: LtlId, right: LtlId) -> LtlId {
        let not = self.not(left);
        self.or(not, right)
    }

    /// `a <-> b`
    pub fn equivalent(&mut self, left: LtlId, right: LtlId) -> LtlId {
        let (not_left, not_right) = (self.not(left), self.not(right));
        let (both, none) = (self.and(left, right), self.and(not_left, not_right));
        self.or(both, none)
    }

    /// `X a`
    pub fn next(&mut self, part: LtlId) -> LtlId {
        match self.node(part) {
            LtlNode::True | LtlNode::False => part,
            _ => self.add(LtlNode::Next(part)),
        }
    }

    /// `a U b`
    pub fn until(&mut self, left: LtlId, right: LtlId) -> LtlId {
        match (self.node(left), self.node(right)) {
            (_, LtlNode::True | LtlNode::False) | (LtlNode::False, _) => right,
            _ if left == right => right,
            _ => self.add(LtlNode::Until(left, right)),
        }
    }

    /// `a V b`
    pub fn release(&mut self, left: LtlId, right: LtlId) -> LtlId {
        match (self.node(left), self.node(right)) {
            (_, LtlNode::True | LtlNode::False) | (LtlNode::True, _) => right,
            _ if left == right => right,
            _ => self.add(LtlNode::Release(left, right)),
        }
    }

    /// `a W b`: `a U b`, or `a` forever.
    pub fn weak_until(&mut self, left: LtlId, right: LtlId) -> LtlId {
        let either = self.or(left, right);
        self.release(right, either)
    }

    /// `<> a`
    pub fn eventually(&mut self, part: LtlId) -> LtlId {
        let truth = self.truth();
        self.until(truth, part)
    }

    /// `[] a`
    pub fn always(&mut self, part: LtlId) -> LtlId {
        let falsehood = self.falsehood();
        self.release(falsehood, part)
    }

    /// Which parts occur in a formula.
    pub fn parts(&self, formula: LtlId) -> Vec<bool> {
        let mut used = vec![false; self.nodes.len()];
        used[formula.index()] = true;
        for at in (0..=formula.index()).rev() {
            if !used[at] {
                continue;
            }
            match self.nodes[at] {
                LtlNode::True | LtlNode::False | LtlNode::Proposition(_) => {}
                LtlNode::Not(one) | LtlNode::Next(one) => used[one.index()] = true,
                LtlNode::And(one, other)
                | LtlNode::Or(one, other)
                | LtlNode::Until(one, other)
                | LtlNode::Release(one, other) => {
                    used[one.index()] = true;
                    used[other.index()] = true;
                }
            }
        }
        used
    }

    /// Does a formula hold on a lasso? `holds(proposition, position)` gives the letters; the positions are below
    /// `length`, and the one behind the last is `back_to`.
    pub fn holds_on(&self, formula: LtlId, length: usize, back_to: usize, holds: impl Fn(u32, usize) -> bool) -> bool {
        assert!(back_to < length, "a lasso has a cycle");
        let next = |at: usize| if at + 1 == length { back_to } else { at + 1 };
        let used = self.parts(formula);
        let mut values: Vec<Vec<bool>> = Vec::with_capacity(formula.index() + 1);
        for (at, node) in self.nodes[..=formula.index()].iter().enumerate() {
            if !used[at] {
                values.push(Vec::new());
                continue;
            }
            let of = |part: &LtlId| &values[part.index()];
            let each = |value: &dyn Fn(usize) -> bool| (0..length).map(value).collect::<Vec<bool>>();
            let own = match node {
                LtlNode::True => each(&|_| true),
                LtlNode::False => each(&|_| false),
                LtlNode::Proposition(number) => each(&|at| holds(*number, at)),
                LtlNode::Not(part) => each(&|at| !of(part)[at]),
                LtlNode::And(one, other) => each(&|at| of(one)[at] && of(other)[at]),
                LtlNode::Or(one, other) => each(&|at| of(one)[at] || of(other)[at]),
                LtlNode::Next(part) => each(&|at| of(part)[next(at)]),
                LtlNode::Until(one, other) => {
                    let mut own = vec![false; length];
                    for at in (0..length).rev().chain((0..length).rev()) {
                        own[at] = of(other)[at] || (of(one)[at] && own[next(at)]);
                    }
                    own
                }
                LtlNode::Release(one, other) => {
                    let mut own = vec![true; length];
                    for at in (0..length).rev().chain((0..length).rev()) {
                        own[at] = of(other)[at] && (of(one)[at] || own[next(at)]);
                    }
                    own
                }
            };
            values.push(own);
        }
        values[formula.index()][0]
    }

    /// A formula as text, in Promela's writing, with names for propositions. It can be long: parts that occur twice are
    /// written twice.
    pub fn text(&self, formula: LtlId, name: &dyn Fn(u32) -> String) -> String {
        let used = self.parts(formula);
        let mut texts: Vec<String> = Vec::with_capacity(formula.index() + 1);
        for (at, node) in self.nodes[..=formula.index()].iter().enumerate() {
            if !used[at] {
                texts.push(String::new());
                continue;
            }
            let of = |part: &LtlId| texts[part.index()].as_str();
            let is = |part: &LtlId, node: LtlNode| self.nodes[part.index()] == node;
            let own = match node {
                LtlNode::True => "true".to_string(),
                LtlNode::False => "false".to_string(),
                LtlNode::Proposition(number) => name(*number),
                LtlNode::Not(part) => format!("!{}", of(part)),
                LtlNode::And(one, other) => format!("({} && {})", of(one), of(other)),
                LtlNode::Or(one, other) => format!("({} || {})", of(one), of(other)),
                LtlNode::Next(part) => format!("X {}", of(part)),
                LtlNode::Until(one, other) if is(one, LtlNode::True) => format!("<> {}", of(other)),
                LtlNode::Release(one, other) if is(one, LtlNode::False) => format!("[] {}", of(other)),
                LtlNode::Until(one, other) => format!("({} U {})", of(one), of(other)),
                LtlNode::Release(one, other) => format!("({} V {})", of(one), of(other)),
            };
            texts.push(own);
        }
        texts.swap_remove(formula.index())
    }

    /// Does a formula mention the next moment?
    pub fn has_next(&self, formula: LtlId) -> bool {
        let used = self.parts(formula);
        self.nodes.iter().zip(used).any(|(node, used)| used && matches!(node, LtlNode::Next(_)))
    }
}
