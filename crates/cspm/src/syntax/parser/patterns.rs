//! Patterns, which are read as expressions first.

use std::collections::HashSet;

use trefoil_source::{Diagnostic, Place, Span};

use super::super::codes;
use super::super::names::Symbol;
use super::super::store::List;
use super::super::token::{Kind, Token};
use super::super::tree::*;
use super::{Parser, Result};

impl Parser<'_, '_> {
    /// Reads a pattern whose operators are no looser than `least`.
    pub(super) fn pattern(&mut self, least: u8) -> Result<PatternId> {
        let mark = self.tree.mark();
        let expression = self.expression(least);
        let expression = self.dropping(expression)?;
        Ok(self.pattern_from(expression, mark))
    }

    /// Turns the only expression made since the mark into a pattern.
    pub(super) fn pattern_from(&mut self, expression: ExpressionId, mark: (usize, usize)) -> PatternId {
        let pattern = self.converted(expression);
        self.tree.cut_back(mark);
        pattern
    }

    /// The pattern that an expression looks like; the expression stays.
    pub(super) fn converted(&mut self, id: ExpressionId) -> PatternId {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || {
            let span = self.tree.expression_span(id);
            let node = self.conversion(id);
            let pattern = self.tree.add_pattern(node, span);
            if let Some((pairs, inner)) = self.tree.expression_brackets.around(id.index()) {
                for _ in 0..pairs {
                    self.tree.pattern_brackets.add(pattern.index(), inner);
                }
            }
            pattern
        })
    }

    fn conversion(&mut self, id: ExpressionId) -> Pattern<Symbol> {
        match *self.tree.expression(id) {
            Expression::Error(_) => Pattern::Error(List::EMPTY),
            Expression::Wildcard => Pattern::Wildcard,
            Expression::Name(name) => Pattern::Name(name),
            Expression::Integer(number) => Pattern::Integer(i64::from(number)),
            Expression::Boolean(value) => Pattern::Boolean(value),
            Expression::Character(value) => Pattern::Character(value),
            Expression::String(value) => Pattern::String(value),
            Expression::Unary { operator: UnaryOperator::Negate, operand } => match *self.tree.expression(operand) {
                Expression::Integer(number) => Pattern::Integer(-i64::from(number)),
                _ => self.not_a_pattern(id),
            },
            Expression::Tuple(items) => Pattern::Tuple(self.all_converted(items)),
            Expression::Collection { kind, items: Items::Listed(items), statements } if statements.is_empty() => {
                match kind {
                    CollectionKind::Sequence => Pattern::Sequence(self.all_converted(items)),
                    CollectionKind::Set => Pattern::Set(self.all_converted(items)),
                    CollectionKind::Productions => self.not_a_pattern(id),
                }
            }
            Expression::Binary { operator: BinaryOperator::Concatenate, left, right } => {
                let left = self.converted(left);
                Pattern::Concatenate(left, self.converted(right))
            }
            Expression::Binary { operator: BinaryOperator::Dot, left, right } => {
                let left = self.converted(left);
                Pattern::Dot(left, self.converted(right))
            }
            Expression::Both(left, right) => {
                let left = self.converted(left);
                Pattern::Both(left, self.converted(right))
            }
            _ => self.not_a_pattern(id),
        }
    }

    pub(super) fn all_converted(&mut self, items: List<ExpressionId>) -> List<PatternId> {
        let items = self.tree.list(items).to_vec();
        let patterns: Vec<PatternId> = items.into_iter().map(|item| self.converted(item)).collect();
        self.tree.add_list(patterns)
    }

    fn not_a_pattern(&mut self, id: ExpressionId) -> Pattern<Symbol> {
        let span = self.tree.expression_span(id);
        let diagnostic = Diagnostic::error(codes::NOT_A_PATTERN, "this is not a pattern", Place::Span(span));
        let help = "a pattern consists of names, `_`, literals, `.`, `^`, `@@`, tuples, sequences and sets";
        self.report(diagnostic.help(help));
        Pattern::Error(self.names_within(span))
    }

    /// A pattern for text that could not be read.
    pub(super) fn broken_pattern(&mut self, span: Span) -> PatternId {
        let names = self.names_within(span);
        self.tree.add_pattern(Pattern::Error(names), span)
    }

    /// A pattern for each name in a piece of text.
    fn names_within(&mut self, span: Span) -> List<PatternId> {
        let inside = self.tokens.partition_point(|token| token.start < span.start);
        let tokens = self.tokens[inside..].iter().take_while(|token| token.end <= span.end);
        let names: Vec<Token> = tokens.filter(|token| token.kind == Kind::Name).copied().collect();
        let mut seen: HashSet<Symbol> = HashSet::new();
        let mut patterns = Vec::new();
        for token in names {
            let symbol = self.symbol_of(token);
            if !self.text_of(token).contains("::") && seen.insert(symbol) {
                patterns.push(self.tree.add_pattern(Pattern::Name(symbol), self.span_of(token)));
            }
        }
        self.tree.add_list(patterns)
    }
}
