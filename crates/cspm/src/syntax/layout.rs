//! How wide things are, for the printer.
//!
//! Children come before their parents in a tree, so one loop over the expressions gives the width that each would have
//! on one line. Widths are close, not exact: parentheses are left out, and comments too.

use super::names::Symbol;
use super::store::{List, Tree};
use super::tree::*;

/// A width that no line has: the expression needs several lines.
const WIDE: u32 = 100_000;

/// The width of each expression on one line.
pub(super) struct Widths {
    widths: Vec<u32>,
    patterns: Vec<u32>,
}

impl Widths {
    pub(super) fn new(tree: &Tree<Symbol>) -> Widths {
        let mut measured = Widths { widths: Vec::new(), patterns: Vec::new() };
        measured.widths.reserve(tree.expression_count());
        measured.patterns.reserve(tree.pattern_count());
        for at in 0..tree.pattern_count() {
            let width = measured.pattern_width(tree, tree.pattern(PatternId(at as u32)));
            measured.patterns.push(width.min(WIDE));
        }
        for at in 0..tree.expression_count() {
            let width = measured.width(tree, tree.expression(ExpressionId(at as u32)));
            measured.widths.push(width.min(WIDE));
        }
        measured
    }

    pub(super) fn of(&self, id: ExpressionId) -> u32 {
        // A tree with mistakes may refer to what was cut off.
        self.widths.get(id.index()).copied().unwrap_or(0)
    }

    fn all(&self, tree: &Tree<Symbol>, list: List<ExpressionId>) -> u32 {
        tree.list(list).iter().fold(0, |sum, &item| (sum + self.of(item) + 2).min(WIDE))
    }

    fn pattern(&self, id: PatternId) -> u32 {
        self.patterns.get(id.index()).copied().unwrap_or(0)
    }

    fn all_patterns(&self, tree: &Tree<Symbol>, list: List<PatternId>) -> u32 {
        tree.list(list).iter().fold(0, |sum, &item| (sum + self.pattern(item) + 2).min(WIDE))
    }

    fn pairs(&self, tree: &Tree<Symbol>, list: List<Pair>) -> u32 {
        tree.list(list).iter().fold(0, |sum, pair| (sum + self.of(pair.0) + self.of(pair.1) + 6).min(WIDE))
    }

    fn statements(&self, tree: &Tree<Symbol>, list: List<Statement>) -> u32 {
        tree.list(list).iter().fold(0, |sum, statement| {
            let width = match *statement {
                Statement::Generator { pattern, set } => self.pattern(pattern) + 4 + self.of(set),
                Statement::Condition(condition) => self.of(condition),
            };
            (sum + width + 2).min(WIDE)
        })
    }

    fn pattern_width(&self, tree: &Tree<Symbol>, pattern: &Pattern<Symbol>) -> u32 {
        match *pattern {
            Pattern::Error(_) | Pattern::Wildcard => 1,
            Pattern::Name(name) | Pattern::String(name) => tree.names.text(name).len() as u32,
            Pattern::Integer(_) | Pattern::Boolean(_) | Pattern::Character(_) => 4,
            Pattern::Tuple(items) | Pattern::Set(items) | Pattern::Sequence(items) => self.all_patterns(tree, items),
            Pattern::Concatenate(left, right) | Pattern::Dot(left, right) | Pattern::Both(left, right) => {
                self.pattern(left) + self.pattern(right) + 2
            }
        }
    }

    fn width(&self, tree: &Tree<Symbol>, expression: &Expression<Symbol>) -> u32 {
        match *expression {
            Expression::Error(_) | Expression::Wildcard => 1,
            Expression::Name(name) | Expression::String(name) => tree.names.text(name).len() as u32,
            Expression::Integer(_) | Expression::Boolean(_) | Expression::Character(_) => 4,
            Expression::Unary { operand, .. } => 4 + self.of(operand),
            Expression::Binary { operator: BinaryOperator::Dot, left, right } => self.of(left) + 1 + self.of(right),
            Expression::Binary { left, right, .. } | Expression::Both(left, right) => {
                self.of(left) + 5 + self.of(right)
            }
            Expression::Synchronised { left, events, right, .. } => {
                self.of(left) + self.of(events) + self.of(right) + 6
            }
            Expression::Alphabetised { left, left_alphabet, right_alphabet, right } => {
                self.of(left) + self.of(left_alphabet) + self.of(right_alphabet) + self.of(right) + 8
            }
            Expression::Link { left, ties, statements, right } => {
                self.of(left) + self.pairs(tree, ties) + self.statements(tree, statements) + self.of(right) + 4
            }
            Expression::Rename { process, renames, statements } => {
                self.of(process) + self.pairs(tree, renames) + self.statements(tree, statements) + 4
            }
            Expression::Prefix { channel, fields, process } => {
                let fields = tree.list(fields).iter().fold(0, |sum, field| {
                    let width = match *field {
                        Field::Input(pattern, set) | Field::Choice(pattern, set) => {
                            self.pattern(pattern) + set.map_or(0, |set| self.of(set) + 1)
                        }
                        Field::Output(value) => self.of(value),
                    };
                    (sum + width + 1).min(WIDE)
                });
                self.of(channel) + fields + 4 + self.of(process)
            }
            Expression::Apply { function, arguments } => self.of(function) + self.all(tree, arguments),
            Expression::Tuple(items) => self.all(tree, items),
            Expression::Collection { items, statements, .. } => {
                let items = match items {
                    Items::Listed(items) => self.all(tree, items),
                    Items::From(first) => self.of(first) + 2,
                    Items::Range(first, last) => self.of(first) + self.of(last) + 2,
                };
                items + self.statements(tree, statements) + 4
            }
            Expression::Map(entries) => self.pairs(tree, entries) + 6,
            Expression::If { condition, then, otherwise } => {
                self.of(condition) + self.of(then) + self.of(otherwise) + 15
            }
            Expression::Let { .. } => WIDE,
            Expression::Lambda { parameters, body } => self.all_patterns(tree, parameters) + 4 + self.of(body),
            Expression::Replicated { operator, statements, body } => {
                let operator = match operator {
                    Replication::Parallel(events)
                    | Replication::SynchronisingChoice(events)
                    | Replication::Alphabetised(events) => self.of(events) + 5,
                    Replication::Link(ties, statements) => self.pairs(tree, ties) + self.statements(tree, statements),
                    _ => 3,
                };
                operator + self.statements(tree, statements) + self.of(body) + 3
            }
        }
    }
}
