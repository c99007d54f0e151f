//! Making types equal, and making them satisfy constraints.
//!
//! Unification is Robinson's (*A machine-oriented logic based on the resolution principle*, 1965) on the graph of
//! [`Arena`], with the rules for dots of FDR's type system, which its manual describes: `a.b` and a datatype are equal
//! when `a` is `b => datatype`; an extendable type `v =>* t` equals anything that becomes `t` after some dots. The
//! rules are directed: in some places, such as a pattern, `a.b` may not stand for a datatype's value (`symmetric` is
//! off). Unlike there, nodes found equal are tied together, so that comparing two graphs costs their size and not that
//! of their trees, and there is a bound on the work.

use super::arena::*;

/// Why types cannot be made equal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clash {
    /// These two differ.
    Mismatch(T, T),
    /// This type does not satisfy this constraint.
    Constraint(Constraints, T),
    /// This variable occurs in this type.
    Infinite(T, T),
    /// These functions have different numbers of arguments.
    Count(T, T),
    TooLarge,
}

pub(super) type Unified = Result<T, Clash>;

/// A script whose types take more steps than this, and more than this for each node of its tree, is refused.
pub(super) const STEPS: u64 = 20_000_000;

pub(super) struct Solver {
    pub(super) arena: Arena,
    /// Which datatypes can be compared for equality.
    pub(super) comparable: Vec<bool>,
    /// Whether the expected type may be the dotted one.
    pub(super) symmetric: bool,
    pub(super) most_steps: u64,
}

impl Solver {
    /// Makes two types equal; gives the more telling of them.
    pub(super) fn unify(&mut self, expected: T, actual: T) -> Unified {
        let expected = self.arena.head(expected);
        let actual = self.arena.head(actual);
        if expected == actual {
            return Ok(expected);
        }
        self.arena.steps += 1;
        if self.arena.steps > self.most_steps {
            return Err(Clash::TooLarge);
        }
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.unify_heads(expected, actual))
    }

    /// Without the symmetric rules for dots.
    pub(super) fn unify_directed(&mut self, expected: T, actual: T) -> Unified {
        let before = std::mem::replace(&mut self.symmetric, false);
        let unified = self.unify(expected, actual);
        self.symmetric = before;
        unified
    }

    fn unify_heads(&mut self, a: T, b: T) -> Unified {
        use Node::*;
        let clash = Err(Clash::Mismatch(a, b));
        match (self.arena.raw(a), self.arena.raw(b)) {
            (Wrong, _) => {
                self.poison(b, a);
                Ok(b)
            }
            (_, Wrong) => {
                self.poison(a, b);
                Ok(a)
            }
            (Variable { .. }, Variable { .. }) => self.unify_variables(a, b),
            (Variable { constraints, .. }, _) => self.bind(a, constraints, b),
            (_, Variable { constraints, .. }) => self.bind(b, constraints, a),
            (Int, Int) | (Bool, Bool) | (Char, Char) | (Proc, Proc) | (Event, Event) => Ok(a),
            (Datatype(one), Datatype(other)) if one == other => Ok(a),
            (Set(x), Set(y)) | (Sequence(x), Sequence(y)) => {
                let element = self.unify(x, y)?;
                let is_set = matches!(self.arena.raw(a), Set(_));
                match self.join(a, b, &[(x, y)]) {
                    true => Ok(a),
                    false if is_set => Ok(self.arena.set(element)),
                    false => Ok(self.arena.sequence(element)),
                }
            }
            (Map(k, v), Map(l, w)) => {
                self.unify(k, l)?;
                self.unify(v, w)?;
                self.join(a, b, &[(k, l), (v, w)]);
                Ok(a)
            }
            (Tuple(these), Tuple(those)) if these.len() == those.len() => {
                let mut parts = Vec::with_capacity(these.len());
                let mut pairs = Vec::with_capacity(these.len());
                for at in 0..these.len() {
                    let (x, y) = (self.arena.part(these, at), self.arena.part(those, at));
                    parts.push(self.unify(x, y)?);
                    pairs.push((x, y));
                }
                if self.join(a, b, &pairs) { Ok(a) } else { Ok(self.arena.tuple(&parts)) }
            }
            (Function(these, result), Function(those, other)) => {
                if these.len() != those.len() {
                    return Err(Clash::Count(a, b));
                }
                let mut parts = Vec::with_capacity(these.len());
                let mut pairs = Vec::with_capacity(these.len() + 1);
                for at in 0..these.len() {
                    let (x, y) = (self.arena.part(these, at), self.arena.part(those, at));
                    parts.push(self.unify(x, y)?);
                    pairs.push((x, y));
                }
                let to = self.unify(result, other)?;
                pairs.push((result, other));
                if self.join(a, b, &pairs) { Ok(a) } else { Ok(self.arena.function(&parts, to)) }
            }
            (Dotable(..), Dotable(..)) => self.unify_dotables(a, b),
            (Dot(..), Dot(..)) => {
                let these = self.normal_dot_list(a);
                let those = self.normal_dot_list(b);
                let parts = self.combine(these, those)?;
                Ok(self.dots(&parts))
            }
            (Dot(x, y), Datatype(_) | Event | Dotable(..)) => {
                if !self.symmetric {
                    return clash;
                }
                let whole = self.arena.make(Dotable(y, b));
                if matches!(self.arena.raw(b), Dotable(..)) {
                    self.unify(x, whole)?
                } else {
                    self.unify(whole, x)?
                };
                Ok(b)
            }
            (Datatype(_) | Event | Dotable(..), Dot(x, y)) => {
                let whole = self.arena.make(Dotable(y, a));
                self.unify(whole, x)?;
                Ok(a)
            }
            (Dot(x, y), Extendable(..)) => {
                if !self.symmetric {
                    return clash;
                }
                let whole = self.arena.make(Dotable(y, b));
                let first = self.unify(whole, x)?;
                Ok(self.arena.make(Dot(first, y)))
            }
            (Extendable(..), Dot(..)) => {
                // The expected type is extendable, so what is meant is most likely to consume one item only.
                let list = self.normal_dot_list(b);
                let list = self.evaluate_list(Match::Shortest, list)?;
                let evaluated = self.dots(&list);
                match self.arena.node(evaluated) {
                    Dot(x, y) => {
                        let whole = self.arena.make(Dotable(y, a));
                        let first = self.unify(whole, x)?;
                        Ok(self.arena.make(Dot(first, y)))
                    }
                    _ => self.unify(a, evaluated),
                }
            }
            (Dotable(argument, result), Extendable(base, variable))
            | (Extendable(base, variable), Dotable(argument, result)) => {
                let rest = self.arena.fresh();
                let extendable = self.arena.make(Extendable(base, rest));
                self.unify(extendable, result)?;
                let extension = self.arena.make(Dotable(argument, rest));
                self.extend(variable, extension, a, b)?;
                Ok(self.arena.make(Dotable(argument, extendable)))
            }
            (Extendable(base, variable), Extendable(other, another)) => {
                self.unify(base, other)?;
                let (variable, another) = (self.arena.find(variable), self.arena.find(another));
                if variable != another {
                    match self.arena.raw(another) {
                        Variable { rigid: Some(_), .. } => self.extend(variable, another, a, b)?,
                        _ => self.extend(another, variable, a, b)?,
                    }
                }
                Ok(a)
            }
            (Extendable(base, variable), _) => {
                let unified = self.unify(base, b)?;
                self.extend_no_further(variable, a, b)?;
                Ok(unified)
            }
            (_, Extendable(base, variable)) => {
                let unified = self.unify(a, base)?;
                self.extend_no_further(variable, a, b)?;
                Ok(unified)
            }
            (Dot(..), _) if self.has_wrong(a) => Ok(b),
            (_, Dot(..)) if self.has_wrong(b) => Ok(a),
            _ => clash,
        }
    }

    /// Nothing is known of a type that equals a wrong one: its variables become wrong too.
    fn poison(&mut self, t: T, wrong: T) {
        self.arena.walk(t, |arena, at| {
            if let Node::Variable { rigid: None, level, .. } = arena.raw(at)
                && level != GENERIC
            {
                arena.link(at, wrong);
            }
            true
        });
    }

    /// Whether an item of a dotted type is wrong: it may stand for several items.
    pub(super) fn has_wrong(&mut self, t: T) -> bool {
        let list = self.dot_list(t);
        self.wrong_item(&list).is_some()
    }

    /// The first item of a list that is wrong.
    pub(super) fn wrong_item(&mut self, list: &[T]) -> Option<T> {
        list.iter().copied().find(|&item| matches!(self.arena.node(item), Node::Wrong))
    }

    /// Ties two nodes together when their children have become the same.
    fn join(&mut self, a: T, b: T, pairs: &[(T, T)]) -> bool {
        let same = pairs.iter().all(|&(x, y)| {
            let (x, y) = (self.arena.head(x), self.arena.head(y));
            let (one, other) = (self.arena.raw(x), self.arena.raw(y));
            // Types without parts keep their nodes, which know where they come from.
            x == y || (one == other && self.arena.children(x) == ([None, None], &[]))
        });
        if same {
            self.arena.link(b, a);
        }
        same
    }

    /// Binds the variable of an extendable type.
    fn extend(&mut self, variable: T, to: T, a: T, b: T) -> Result<(), Clash> {
        let variable = self.arena.find(variable);
        match self.arena.raw(variable) {
            Node::Variable { rigid: None, .. } => {
                if self.arena.occurs(variable, to) {
                    return Err(Clash::Infinite(variable, to));
                }
                self.arena.link(variable, to);
                Ok(())
            }
            Node::Wrong => Ok(()),
            _ => Err(Clash::Mismatch(a, b)),
        }
    }

    pub(super) fn extend_no_further(&mut self, variable: T, a: T, b: T) -> Result<(), Clash> {
        let none = self.arena.make(Node::NoDots);
        self.extend(variable, none, a, b)
    }

    fn unify_variables(&mut self, a: T, b: T) -> Unified {
        let (
            Node::Variable { constraints, level, rigid },
            Node::Variable { constraints: others, level: its, rigid: other },
        ) = (self.arena.raw(a), self.arena.raw(b))
        else {
            return Err(Clash::Mismatch(a, b));
        };
        match (rigid, other) {
            (Some(_), Some(_)) => Err(Clash::Mismatch(a, b)),
            (Some(_), None) => {
                self.constrain(others, a)?;
                self.arena.occurs(b, a);
                self.arena.link(b, a);
                Ok(a)
            }
            (None, Some(_)) => {
                self.constrain(constraints, b)?;
                self.arena.occurs(a, b);
                self.arena.link(a, b);
                Ok(b)
            }
            (None, None) => {
                let merged = Node::Variable { constraints: constraints | others, level: level.min(its), rigid: None };
                self.arena.write(a, merged);
                self.arena.link(b, a);
                Ok(a)
            }
        }
    }

    fn bind(&mut self, variable: T, constraints: Constraints, t: T) -> Unified {
        if matches!(self.arena.raw(variable), Node::Variable { rigid: Some(_), .. }) {
            return match self.arena.node(t) {
                // An extendable type that is extended no further.
                Node::Extendable(base, extension) => {
                    let unified = self.unify(variable, base)?;
                    self.extend_no_further(extension, variable, t)?;
                    Ok(unified)
                }
                Node::Dot(..) => {
                    let evaluated = self.evaluate(t)?;
                    let evaluated = self.arena.head(evaluated);
                    match self.arena.raw(evaluated) {
                        Node::Dot(..) => Err(Clash::Mismatch(variable, t)),
                        _ => self.unify(variable, evaluated),
                    }
                }
                _ => Err(Clash::Mismatch(variable, t)),
            };
        }
        self.constrain(constraints, t)?;
        let mut t = self.arena.head(t);
        if self.arena.occurs(variable, t) {
            // Dots may evaluate to something that does not contain the variable after all.
            t = self.evaluate(t)?;
            t = self.arena.head(t);
            let variable_now = self.arena.head(variable);
            if t == variable_now {
                return Ok(t);
            }
            if variable_now != variable {
                return self.unify(variable_now, t);
            }
            if self.arena.occurs(variable, t) {
                return Err(Clash::Infinite(variable, t));
            }
        }
        self.arena.link(variable, t);
        Ok(t)
    }

    /// Makes a type satisfy constraints.
    pub(super) fn constrain(&mut self, constraints: Constraints, t: T) -> Result<(), Clash> {
        for bit in [EQ, ORD, SET, COMPLETE, YIELDABLE] {
            if constraints & bit != 0 {
                self.constrain_by(bit, t)?;
            }
        }
        Ok(())
    }

    fn constrain_by(&mut self, constraint: Constraints, t: T) -> Result<(), Clash> {
        use Node::*;
        let mut waiting = vec![(constraint, t)];
        let mut done: std::collections::HashSet<(Constraints, T), foldhash::fast::RandomState> = Default::default();
        while let Some((constraint, t)) = waiting.pop() {
            let t = self.arena.head(t);
            self.arena.steps += 1;
            if self.arena.steps > self.most_steps {
                return Err(Clash::TooLarge);
            }
            // Only what branches can be met exponentially often.
            let branches = matches!(self.arena.raw(t), Tuple(_) | Map(..) | Dot(..) | Dotable(..));
            if branches && !done.insert((constraint, t)) {
                continue;
            }
            let missing = Err(Clash::Constraint(constraint, t));
            match (constraint, self.arena.raw(t)) {
                (_, Wrong | NoDots) => {}
                (_, Variable { constraints, level, rigid }) => {
                    let has = constraints & constraint != 0 || (constraint == SET && constraints & EQ != 0);
                    if !has && rigid.is_some() {
                        return missing;
                    }
                    if !has {
                        let constraints = constraints | constraint;
                        self.arena.write(t, Variable { constraints, level, rigid });
                    }
                }
                (YIELDABLE, Extendable(_, variable)) => self.extend_no_further(variable, t, t)?,
                (COMPLETE, Extendable(base, variable)) => {
                    self.extend_no_further(variable, t, t)?;
                    waiting.push((COMPLETE, base));
                }
                (EQ | SET, Extendable(..)) => {}
                (YIELDABLE, Datatype(_) | Event) => {}
                (YIELDABLE | COMPLETE, Dot(..)) => {
                    let evaluated = self.evaluate(t)?;
                    match self.arena.node(evaluated) {
                        Dot(..) if constraint == YIELDABLE => return missing,
                        Dot(x, y) => waiting.extend([(COMPLETE, y), (COMPLETE, x)]),
                        _ => waiting.push((constraint, evaluated)),
                    }
                }
                (YIELDABLE, _) => return missing,
                (SET | COMPLETE, Proc) => {}
                (_, Int | Char) => {}
                (EQ | SET | COMPLETE, Bool | Event) => {}
                (EQ, Datatype(id)) => {
                    if !self.comparable[id.0 as usize] {
                        return missing;
                    }
                }
                (SET | COMPLETE, Datatype(_)) => {}
                (COMPLETE, Sequence(_) | Set(_) | Map(..) | Tuple(_)) => {}
                (EQ | SET, Sequence(x) | Set(x)) => waiting.push((constraint, x)),
                // Sequences are ordered by prefix and sets by inclusion, for which equality is enough.
                (ORD, Sequence(x) | Set(x)) => waiting.push((EQ, x)),
                (_, Tuple(parts)) => waiting.extend(self.arena.parts(parts).iter().rev().map(|&x| (constraint, x))),
                (_, Map(x, y)) => waiting.extend([(constraint, y), (constraint, x)]),
                (EQ | SET, Dotable(x, y) | Dot(x, y)) => waiting.extend([(constraint, y), (constraint, x)]),
                _ => return missing,
            }
        }
        Ok(())
    }
}

/// How much an extendable or dotable type takes of what follows it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Shortest,
    Longest,
}
