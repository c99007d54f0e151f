//! What is kept of text that cannot be parsed.
//!
//! When an expression fails, the parts of it that were read whole stay in `read`, each inside the binders that it
//! needs: of `c?x -> (NOPE(x) [] ` the prefix stays, with the operand `NOPE(x)` as its process. The text between the
//! mistake and the end of the declaration is read as further expressions ([`Parser::strays`]). All of them become the
//! parts of an `Error` node, so that later stages resolve their names and check their types, although nothing is known
//! of the whole. Whatever the broken text may bind is bound around the parts, so that its uses are no mistakes.

use std::collections::HashSet;

use super::super::names::Symbol;
use super::super::token::{Kind, Token};
use super::super::tree::*;
use super::{Parser, Result};

/// Words of other languages; they are no names when they stand in broken text.
const FOREIGN: &[&str] = &[
    "begin", "case", "do", "done", "elif", "elseif", "elsif", "end", "endif", "esac", "fi", "for", "in", "od", "of",
    "return", "switch", "where", "while",
];

impl Parser<'_, '_> {
    /// A node for text that was not read.
    pub(super) fn unread(&mut self) -> ExpressionId {
        let start = self.token().start;
        self.broken(Vec::new(), start)
    }

    /// A node for broken text with these parts.
    pub(super) fn broken(&mut self, parts: Vec<ExpressionId>, start: u32) -> ExpressionId {
        let parts = self.tree.add_list(parts);
        let span = self.span_from(start);
        self.tree.add_expression(Expression::Error(parts), span)
    }

    /// A node for the expression that failed, with what was read of it.
    pub(super) fn rest(&mut self) -> ExpressionId {
        let parts = std::mem::take(&mut self.read);
        let start = self.token().start;
        self.broken(parts, start)
    }

    /// Reads an expression; when it fails, what was read of it becomes a part of the expression around it.
    pub(super) fn part(
        &mut self,
        least: u8,
        start: u32,
        around: impl FnOnce(&mut Self, ExpressionId) -> Expression<Symbol>,
    ) -> Result<ExpressionId> {
        self.expression(least).inspect_err(|_| {
            let rest = self.rest();
            self.keep_around(rest, start, around);
        })
    }

    /// Keeps an expression that failed inside the one around it.
    pub(super) fn keep_around(
        &mut self,
        rest: ExpressionId,
        start: u32,
        around: impl FnOnce(&mut Self, ExpressionId) -> Expression<Symbol>,
    ) {
        let node = around(self, rest);
        let span = self.span_from(start);
        let whole = self.tree.add_expression(node, span);
        self.read.push(whole);
    }

    /// Keeps expressions that were read whole, when what follows them fails.
    pub(super) fn keeping<T>(&mut self, whole: &[ExpressionId], result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.read.extend(whole);
        }
        result
    }

    /// Drops what was read of a pattern that failed: its names are bound, not used.
    pub(super) fn dropping<T>(&mut self, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.read.clear();
        }
        result
    }

    /// Reads `e, e, …`.
    pub(super) fn listed(&mut self) -> Result<Vec<ExpressionId>> {
        let mut items = Vec::new();
        loop {
            let item = self.expression(0);
            items.push(self.keeping(&items, item)?);
            if !self.accept(Kind::Comma) {
                return Ok(items);
            }
        }
    }

    /// Reads the declaration at `start` again, up to the token at `end`: the text behind `end` was taken for its
    /// continuation by mistake. Returns what it read and where the token at `end` is now.
    pub(super) fn cut_short<T>(&mut self, start: usize, end: usize, read: impl FnOnce(&mut Self) -> T) -> (T, usize) {
        let said = self.session.diagnostics.len();
        let cut = self.tokens[end];
        self.tokens[end].kind = Kind::End;
        self.at = start;
        self.read.clear();
        let result = read(self);
        // Tokens may have been split or joined.
        let mut end = self.tokens.partition_point(|token| token.start < cut.start);
        while self.tokens[end].kind != Kind::End {
            end += 1;
        }
        self.tokens[end] = cut;
        self.session.diagnostics.truncate(said);
        self.resume = None;
        (result, end)
    }

    /// The names between the mistake and the end of the declaration.
    pub(super) fn strays(&mut self, mistake: usize, end: usize) -> Vec<ExpressionId> {
        let comment = matches!(self.tokens[mistake].kind, Kind::Slash | Kind::Star | Kind::Bad | Kind::Hash);
        let end = end.max(mistake);
        let names: Vec<Token> = match comment {
            true => Vec::new(),
            false => self.tokens[mistake..end].iter().filter(|token| token.kind == Kind::Name).copied().collect(),
        };
        let name = |token: Token| {
            let symbol = self.symbol_of(token);
            self.tree.add_expression(Expression::Name(symbol), self.span_of(token))
        };
        names.into_iter().map(name).collect()
    }

    /// The parts of a broken body under everything that its tokens may bind.
    pub(super) fn under_binders(&mut self, parts: Vec<ExpressionId>, from: usize, to: usize) -> Vec<ExpressionId> {
        let Some(&first) = parts.first() else { return parts };
        let start = self.tree.expression_span(first).start;
        let mut seen: HashSet<Symbol> = HashSet::new();
        let mut names = Vec::new();
        for token in self.may_bind(from, to) {
            let symbol = self.symbol_of(token);
            if seen.insert(symbol) {
                names.push(self.tree.add_pattern(Pattern::Name(symbol), self.span_of(token)));
            }
        }
        if names.is_empty() {
            return parts;
        }
        let names = self.tree.add_list(names);
        let span = self.span_from(start);
        let pattern = self.tree.add_pattern(Pattern::Error(names), span);
        let parameters = self.tree.add_list([pattern]);
        let body = self.broken(parts, start);
        vec![self.tree.add_expression(Expression::Lambda { parameters, body }, span)]
    }

    /// The names between two tokens that something there may bind, and words of other languages.
    fn may_bind(&self, from: usize, to: usize) -> Vec<Token> {
        let tokens = &self.tokens[from..to];
        let is_name = |token: &&Token| token.kind == Kind::Name && !self.text_of(**token).contains("::");
        let in_pattern = |token: &&Token| {
            use Kind::*;
            let literal = matches!(token.kind, Integer | True | False | Character | String | Wildcard);
            literal || matches!(token.kind, Name | Comma | Dot | Caret | AtAt | OpenRound | CloseRound | Less | Greater)
        };
        // A name right before the mistake may have been meant to be bound, or to be a keyword.
        let mut found: Vec<Token> = self.beside.filter(|token| token.kind == Kind::Name).into_iter().collect();
        let mut renaming = 0_usize;
        for (at, token) in tokens.iter().enumerate() {
            let (before, after) = (&tokens[..at], &tokens[at + 1..]);
            let generator = token.kind == Kind::LeftArrow && renaming == 0;
            match token.kind {
                Kind::OpenRename => renaming += 1,
                Kind::CloseRename => renaming = renaming.saturating_sub(1),
                Kind::Question | Kind::Dollar => found.extend(after.iter().take_while(in_pattern).filter(is_name)),
                Kind::Backslash => {
                    let pattern = after.iter().take_while(in_pattern).count();
                    let binds = after.get(pattern).is_some_and(|next| matches!(next.kind, Kind::At | Kind::Arrow));
                    found.extend(after[..pattern].iter().filter(|_| binds).filter(is_name));
                }
                Kind::Colon => found.extend(before.iter().rev().take_while(in_pattern).filter(is_name)),
                Kind::Equals => {
                    let line = before.iter().rposition(|token| token.after_newline || token.kind == Kind::Let);
                    found.extend(before[line.unwrap_or(0)..].iter().filter(is_name));
                }
                Kind::Name if FOREIGN.contains(&self.text_of(*token)) => {
                    found.push(*token);
                    if self.text_of(*token) == "in" {
                        found.extend(before.iter().rev().take_while(in_pattern).filter(is_name));
                    }
                }
                _ if generator => found.extend(before.iter().rev().take_while(in_pattern).filter(is_name)),
                _ => {}
            }
        }
        found
    }

    /// Whether a token is a word of another language.
    pub(super) fn is_foreign(&self, token: Token, words: &[&str]) -> bool {
        token.kind == Kind::Name && words.contains(&self.text_of(token))
    }
}
