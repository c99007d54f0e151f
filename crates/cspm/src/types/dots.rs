//! Lists of dotted types.
//!
//! A dotted type `a.b.c` is a list. A dotable item consumes what follows it: `Int => Event` before `Int` is `Event`. A
//! variable at the end of a list takes everything that the dotable before it wants (the longest match), one in the
//! middle takes one item (the shortest).

use super::arena::*;
use super::unify::*;

impl Solver {
    /// The items of a dotted type.
    pub(super) fn dot_list(&mut self, t: T) -> Vec<T> {
        let mut list = Vec::new();
        let mut waiting = vec![t];
        while let Some(t) = waiting.pop() {
            let t = self.arena.head(t);
            match self.arena.raw(t) {
                Node::Dot(left, right) => waiting.extend([right, left]),
                _ => list.push(t),
            }
        }
        list
    }

    /// A dotted type of these items; there is at least one.
    pub(super) fn dots(&mut self, items: &[T]) -> T {
        let (&last, before) = items.split_last().expect("a dotted type has an item");
        before.iter().rev().fold(last, |rest, &item| self.arena.make(Node::Dot(item, rest)))
    }

    /// `a => b => … => result`.
    pub(super) fn dotable(&mut self, arguments: &[T], result: T) -> T {
        if let Some(wrong) = self.wrong_item(arguments) {
            // It may stand for any number of items.
            return wrong;
        }
        arguments.iter().rev().fold(result, |rest, &argument| self.arena.make(Node::Dotable(argument, rest)))
    }

    /// The items, each dotable one with undotted arguments.
    pub(super) fn normal_dot_list(&mut self, t: T) -> Vec<T> {
        let list = self.dot_list(t);
        list.into_iter().map(|item| self.normal(item)).collect()
    }

    /// `a.b => c` as `a => b => c`.
    fn normal(&mut self, t: T) -> T {
        let t = self.arena.head(t);
        let mut at = t;
        while let Node::Dotable(argument, result) = self.arena.raw(at) {
            if matches!(self.arena.node(argument), Node::Dot(..)) {
                let (arguments, result) = self.reduce(t);
                return self.dotable(&arguments, result);
            }
            at = self.arena.head(result);
        }
        t
    }

    /// What a dotable type wants, and what it is then.
    pub(super) fn reduce(&mut self, t: T) -> (Vec<T>, T) {
        let mut arguments = Vec::new();
        let mut t = self.arena.head(t);
        while let Node::Dotable(argument, result) = self.arena.raw(t) {
            arguments.extend(self.dot_list(argument));
            t = self.arena.head(result);
        }
        (arguments, t)
    }

    fn is_dotable(&mut self, t: T) -> bool {
        matches!(self.arena.node(t), Node::Dotable(..))
    }

    /// Whether a dotted type is a plain list in which nothing consumes what follows it. Such a type is kept as it is:
    /// the fields of a channel are checked from the last to the first, and making a new list for each would cost the
    /// square of their number.
    fn is_evaluated(&mut self, t: T) -> bool {
        let mut at = t;
        loop {
            self.arena.steps += 1;
            let here = self.arena.head(at);
            match self.arena.raw(here) {
                Node::Dot(left, rest) => {
                    let consumes = Node::is_consumer(self.arena.node(left));
                    if consumes || matches!(self.arena.node(left), Node::Dot(..)) {
                        return false;
                    }
                    at = rest;
                }
                node => return !node.is_consumer(),
            }
        }
    }

    /// Evaluates the dots in a type: what can be consumed is. Gives the type itself when there is nothing to do.
    pub(super) fn evaluate(&mut self, t: T) -> Unified {
        let t = self.arena.head(t);
        match self.arena.raw(t) {
            Node::Dot(..) => {
                if self.is_evaluated(t) {
                    return if self.arena.steps > self.most_steps { Err(Clash::TooLarge) } else { Ok(t) };
                }
                let list = self.normal_dot_list(t);
                let list = self.evaluate_list(Match::Longest, list)?;
                Ok(self.dots(&list))
            }
            Node::Set(_) | Node::Sequence(_) | Node::Map(..) | Node::Tuple(_) | Node::Function(..) => {
                let mut has_dots = false;
                self.arena.walk(t, |arena, at| {
                    has_dots = matches!(arena.raw(at), Node::Dot(..));
                    !has_dots
                });
                if self.arena.steps > self.most_steps {
                    return Err(Clash::TooLarge);
                }
                if !has_dots {
                    return Ok(t);
                }
                stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.evaluate_inside(t))
            }
            _ => Ok(t),
        }
    }

    fn evaluate_inside(&mut self, t: T) -> Unified {
        match self.arena.raw(t) {
            Node::Set(x) => {
                let x = self.evaluate(x)?;
                Ok(self.arena.set(x))
            }
            Node::Sequence(x) => {
                let x = self.evaluate(x)?;
                Ok(self.arena.sequence(x))
            }
            Node::Map(x, y) => {
                let (x, y) = (self.evaluate(x)?, self.evaluate(y)?);
                Ok(self.arena.make(Node::Map(x, y)))
            }
            Node::Tuple(parts) => {
                let parts = self.evaluate_parts(parts)?;
                Ok(self.arena.tuple(&parts))
            }
            Node::Function(parts, result) => {
                let parts = self.evaluate_parts(parts)?;
                let result = self.evaluate(result)?;
                Ok(self.arena.function(&parts, result))
            }
            _ => Ok(t),
        }
    }

    fn evaluate_parts(&mut self, parts: Parts) -> Result<Vec<T>, Clash> {
        (0..parts.len()).map(|at| self.evaluate(self.arena.part(parts, at))).collect()
    }

    /// Lets the items of a list consume what follows them. The list is kept reversed, so that its first item is cheap
    /// to replace.
    pub(super) fn evaluate_list(&mut self, mode: Match, list: Vec<T>) -> Result<Vec<T>, Clash> {
        if let Some(wrong) = self.wrong_item(&list) {
            return Ok(vec![wrong]);
        }
        let mut done = Vec::new();
        let mut rest: Vec<T> = list.into_iter().rev().collect();
        while let Some(first) = rest.pop() {
            let first = self.arena.head(first);
            self.arena.steps += 1;
            if self.arena.steps > self.most_steps {
                return Err(Clash::TooLarge);
            }
            let Some(&next) = rest.last() else {
                done.push(first);
                break;
            };
            let next = self.arena.head(next);
            match self.arena.raw(first) {
                Node::Dot(left, right) => rest.extend([right, left]),
                Node::Dotable(wanted, result) => {
                    rest.pop();
                    self.consume(mode, (first, wanted, result), next, &mut rest)?;
                }
                Node::Extendable(base, variable) => match mode {
                    Match::Longest => {
                        rest.reverse();
                        let arguments = self.evaluate_list(Match::Longest, std::mem::take(&mut rest))?;
                        let none = self.arena.make(Node::NoDots);
                        let extension = self.dotable(&arguments, none);
                        self.bind_extension(variable, extension, first)?;
                        done.push(self.arena.head(base));
                    }
                    Match::Shortest => {
                        rest.pop();
                        let none = self.arena.make(Node::NoDots);
                        let extension = self.arena.make(Node::Dotable(next, none));
                        self.bind_extension(variable, extension, first)?;
                        rest.push(base);
                    }
                },
                _ => done.push(first),
            }
        }
        Ok(done)
    }

    fn bind_extension(&mut self, variable: T, extension: T, whole: T) -> Result<(), Clash> {
        let variable = self.arena.find(variable);
        match self.arena.raw(variable) {
            Node::Variable { rigid: None, .. } => {
                if self.arena.occurs(variable, extension) {
                    return Err(Clash::Infinite(variable, extension));
                }
                self.arena.link(variable, extension);
                Ok(())
            }
            Node::Wrong => Ok(()),
            _ => Err(Clash::Mismatch(whole, extension)),
        }
    }

    /// A dotable type consumes the item after it. The result is pushed back.
    fn consume(
        &mut self,
        mode: Match,
        (first, wanted, result): (T, T, T),
        next: T,
        rest: &mut Vec<T>,
    ) -> Result<(), Clash> {
        match self.arena.raw(next) {
            Node::Variable { .. } if rest.is_empty() => {
                let (arguments, result) = self.reduce(first);
                match mode {
                    Match::Longest => {
                        let all = self.dots(&arguments);
                        self.unify(next, all)?;
                        rest.push(result);
                    }
                    Match::Shortest => {
                        self.unify(arguments[0], next)?;
                        let left = self.dotable(&arguments[1..], result);
                        rest.push(left);
                    }
                }
            }
            Node::Extendable(base, variable) => {
                self.unify(wanted, base)?;
                let extendable = self.arena.make(Node::Extendable(result, variable));
                rest.push(extendable);
            }
            Node::Dotable(..) if !self.is_dotable(wanted) => {
                let (arguments, its) = self.reduce(next);
                self.unify(wanted, its)?;
                let left = self.dotable(&arguments, result);
                rest.push(left);
            }
            _ => {
                self.unify(wanted, next)?;
                rest.push(result);
            }
        }
        Ok(())
    }

    /// Makes two lists of dotted items equal; gives the items of both.
    pub(super) fn combine(&mut self, these: Vec<T>, those: Vec<T>) -> Result<Vec<T>, Clash> {
        let (mut a, mut b): (Vec<T>, Vec<T>) = (these.into_iter().rev().collect(), those.into_iter().rev().collect());
        let mut done = Vec::new();
        loop {
            self.arena.steps += 1;
            if self.arena.steps > self.most_steps {
                return Err(Clash::TooLarge);
            }
            let (Some(&x), Some(&y)) = (a.last(), b.last()) else { return Ok(done) };
            let (x, y) = (self.arena.head(x), self.arena.head(y));
            match (self.arena.raw(x), self.arena.raw(y)) {
                // It may stand for any number of items.
                (Node::Wrong, _) | (_, Node::Wrong) => {
                    done.push(if matches!(self.arena.raw(x), Node::Wrong) { x } else { y });
                    return Ok(done);
                }
                (Node::Dot(left, right), _) => {
                    a.pop();
                    a.extend([right, left]);
                    continue;
                }
                (_, Node::Dot(left, right)) => {
                    b.pop();
                    b.extend([right, left]);
                    continue;
                }
                _ => {}
            }
            if a.len() == 1 || b.len() == 1 {
                a.reverse();
                b.reverse();
                let (left, right) = (self.dots(&a), self.dots(&b));
                if a.len() > 1 || b.len() > 1 {
                    done.push(self.unify(left, right)?);
                } else {
                    done.push(self.unify(x, y)?);
                }
                return Ok(done);
            }
            let (x_node, y_node) = (self.arena.raw(x), self.arena.raw(y));
            if let Node::Dotable(wanted, result) = x_node {
                a.pop();
                if self.combine_dotable((x, wanted, result), &mut a, &mut b, &mut done, false)? {
                    return Ok(done);
                }
            } else if let Node::Dotable(wanted, result) = y_node {
                b.pop();
                if self.combine_dotable((y, wanted, result), &mut b, &mut a, &mut done, true)? {
                    return Ok(done);
                }
            } else {
                done.push(self.unify(x, y)?);
                a.pop();
                b.pop();
            }
        }
    }

    /// The first item of one list is dotable and has been popped. True when the lists are done.
    fn combine_dotable(
        &mut self,
        (first, wanted, result): (T, T, T),
        mine: &mut Vec<T>,
        others: &mut Vec<T>,
        done: &mut Vec<T>,
        swapped: bool,
    ) -> Result<bool, Clash> {
        let next = mine.pop().ok_or(Clash::Mismatch(first, first))?;
        let next = self.arena.head(next);
        let next_is_variable = self.arena.is_variable(next);
        if self.is_dotable(wanted)
            || (next_is_variable && !mine.is_empty())
            || !(next_is_variable || self.is_dotable(next))
        {
            self.unify_swapped(wanted, next, swapped)?;
            mine.push(result);
            return Ok(false);
        }
        if !next_is_variable {
            let (arguments, its) = self.reduce(next);
            self.unify_swapped(wanted, its, swapped)?;
            let left = self.dotable(&arguments, result);
            mine.push(left);
            return Ok(false);
        }
        // The variable stands for all that is wanted, and for what the other list has beyond that.
        let (mut arguments, last) = self.reduce(first);
        others.reverse();
        let evaluated = self.evaluate_list(Match::Longest, std::mem::take(others))?;
        done.push(self.unify_swapped(last, evaluated[0], swapped)?);
        arguments.extend(&evaluated[1..]);
        let all = self.dots(&arguments);
        self.unify_swapped(all, next, swapped)?;
        done.extend(&evaluated[1..]);
        Ok(true)
    }

    fn unify_swapped(&mut self, a: T, b: T, swapped: bool) -> Unified {
        if swapped { self.unify(b, a) } else { self.unify(a, b) }
    }

    pub(super) fn unify_dotables(&mut self, a: T, b: T) -> Unified {
        let (these, one) = self.reduce(a);
        let (those, other) = self.reduce(b);
        let is_extendable = |this: &mut Solver, t| matches!(this.arena.node(t), Node::Extendable(..));
        match (is_extendable(self, one), is_extendable(self, other)) {
            (false, false) => {
                let result = self.unify(one, other)?;
                let arguments = self.combine(these, those)?;
                Ok(self.dotable(&arguments, result))
            }
            (true, true) => {
                let result = self.unify(one, other)?;
                let these = self.evaluate_list(Match::Longest, these)?;
                let those = self.evaluate_list(Match::Longest, those)?;
                let mut arguments = Vec::new();
                for (&x, &y) in these.iter().zip(&those) {
                    let (x, y) = (self.reduce(x).1, self.reduce(y).1);
                    arguments.push(self.unify(x, y)?);
                }
                let longer = if these.len() > those.len() { &these } else { &those };
                let from = arguments.len();
                arguments.extend(&longer[from..]);
                Ok(self.dotable(&arguments, result))
            }
            (true, false) => self.unify_with_extendable((one, these), (other, those), false),
            (false, true) => self.unify_with_extendable((other, those), (one, these), true),
        }
    }

    /// The first type becomes extendable after its arguments; the second has arguments for certain.
    fn unify_with_extendable(
        &mut self,
        (extendable, few): (T, Vec<T>),
        (result, many): (T, Vec<T>),
        swapped: bool,
    ) -> Unified {
        let few = self.evaluate_list(Match::Longest, few)?;
        let many = self.evaluate_list(Match::Longest, many)?;
        if let Some(wrong) = self.wrong_item(&few).or_else(|| self.wrong_item(&many)) {
            return Ok(wrong);
        }
        let mut arguments = Vec::new();
        for (&x, &y) in few.iter().zip(&many) {
            let x = self.reduce(x).1;
            arguments.push(self.unify_swapped(x, y, swapped)?);
        }
        let from = arguments.len();
        if few.len() > many.len() {
            return Err(Clash::Mismatch(few[from], result));
        }
        let left = self.dotable(&many[from..], result);
        self.unify_swapped(extendable, left, swapped)?;
        arguments.extend(&many[from..]);
        Ok(self.dotable(&arguments, result))
    }
}
