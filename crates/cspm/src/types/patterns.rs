//! The types of patterns.

use super::*;

impl Checker<'_> {
    /// The type of a pattern; the names it binds have their types from before, or get variables.
    pub(super) fn pattern(&mut self, id: PatternId) -> Checked {
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.pattern_here(id))
    }

    fn pattern_here(&mut self, id: PatternId) -> Checked {
        let tree = self.tree;
        let span = tree.pattern_span(id);
        self.here(span);
        Ok(match *tree.pattern(id) {
            Pattern::Error(names) => {
                let wrong = self.wrong();
                for &name in tree.list(names) {
                    let t = self.pattern(name)?;
                    self.unify(wrong, t, span)?;
                }
                wrong
            }
            Pattern::Wildcard => self.solver.arena.fresh(),
            Pattern::Name(Resolved::Local(local)) => self.local(local).t,
            // What a pattern binds has one type, generalised or not; constructors and channels have one type anyway.
            Pattern::Name(Resolved::Definition(definition)) => self.definition(definition).t,
            Pattern::Name(_) => self.wrong(),
            Pattern::Integer(_) => self.solver.arena.make(Node::Int),
            Pattern::Boolean(_) => self.solver.arena.make(Node::Bool),
            Pattern::Character(_) => self.solver.arena.make(Node::Char),
            Pattern::String(_) => {
                let char = self.solver.arena.make(Node::Char);
                self.solver.arena.sequence(char)
            }
            Pattern::Tuple(list) => {
                let mut parts = Vec::with_capacity(list.len());
                for &part in tree.list(list) {
                    parts.push(self.pattern(part)?);
                }
                self.here(span);
                self.solver.arena.tuple(&parts)
            }
            Pattern::Set(list) => {
                let element = self.same_patterns(list, span)?;
                // A set of processes is a set, but matching it would compare processes.
                self.constrain(EQ, element, span)?;
                self.here(span);
                self.solver.arena.set(element)
            }
            Pattern::Sequence(list) => {
                let element = self.same_patterns(list, span)?;
                self.here(span);
                self.solver.arena.sequence(element)
            }
            Pattern::Concatenate(left, right) => {
                let element = self.solver.arena.fresh();
                let sequence = self.solver.arena.sequence(element);
                let first = self.pattern(left)?;
                let first = self.unify(sequence, first, tree.pattern_span(left))?;
                let second = self.pattern(right)?;
                self.unify(first, second, tree.pattern_span(right))?
            }
            Pattern::Dot(left, right) => {
                let (left, right) = (self.pattern(left)?, self.pattern(right)?);
                self.here(span);
                self.solver.arena.make(Node::Dot(left, right))
            }
            Pattern::Both(left, right) => {
                let first = self.pattern(left)?;
                let second = self.pattern(right)?;
                self.unify(first, second, tree.pattern_span(right))?
            }
        })
    }

    fn same_patterns(&mut self, list: List<PatternId>, span: Span) -> Checked {
        let tree = self.tree;
        let Some((&first, others)) = tree.list(list).split_first() else {
            self.here(span);
            return Ok(self.solver.arena.fresh());
        };
        let t = self.pattern(first)?;
        for &other in others {
            let found = self.pattern(other)?;
            self.unify(t, found, tree.pattern_span(other))?;
        }
        Ok(t)
    }

    /// The type of a pattern with its dots evaluated.
    pub(super) fn evaluated_pattern(&mut self, id: PatternId) -> Checked {
        let t = self.pattern(id)?;
        self.evaluate(t, self.tree.pattern_span(id))
    }
}
