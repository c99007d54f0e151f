//! What stands in brackets: arguments, tuples, collections, maps, renamings, statements, local declarations.

use trefoil_source::Place;

use super::super::codes;
use super::super::store::List;
use super::super::token::Kind;
use super::super::tree::*;
use super::{Failed, Parser, Result};

impl Parser<'_, '_> {
    pub(super) fn application(&mut self, function: ExpressionId, start: u32) -> Result<ExpressionId> {
        let open = self.advance();
        let arguments = self.inside(|parser| match parser.peek() {
            Kind::CloseRound => Ok(Vec::new()),
            _ => parser.listed(),
        });
        let arguments = self.keeping(&[function], arguments)?;
        if let Err(failed) = self.close(open, Kind::CloseRound) {
            self.read.push(function);
            self.read.extend(arguments);
            return Err(failed);
        }
        let arguments = self.tree.add_list(arguments);
        Ok(self.add(Expression::Apply { function, arguments }, start))
    }

    pub(super) fn renaming(&mut self, process: ExpressionId, start: u32) -> Result<ExpressionId> {
        let open = self.advance();
        let renamed = self.inside(|parser| {
            let renames = match parser.peek() {
                Kind::CloseRename | Kind::Bar => Vec::new(),
                _ => parser.separated(|parser| {
                    let from = parser.expression(0)?;
                    if !parser.accept(Kind::LeftArrow) {
                        let complaint = parser.complaint(codes::TOKEN_EXPECTED, Kind::LeftArrow.shown());
                        let help = "write `P[[a <- b]]` to rename `a` to `b`";
                        return Err(parser.complain(complaint.help(help)));
                    }
                    Ok(Pair(from, parser.expression(0)?))
                })?,
            };
            let renames = parser.tree.add_list(renames);
            Ok((renames, parser.statements_after_bar()?))
        });
        let (renames, statements) = self.keeping(&[process], renamed)?;
        let closed = self.close(open, Kind::CloseRename);
        self.keeping(&[process], closed)?;
        Ok(self.add(Expression::Rename { process, renames, statements }, start))
    }

    /// `(e)` or `(e, f)`.
    pub(super) fn round(&mut self) -> Result<ExpressionId> {
        let open = self.advance();
        let items = self.inside(Self::listed)?;
        let closed = self.close(open, Kind::CloseRound);
        self.keeping(&items, closed)?;
        match items[..] {
            [alone] => {
                let inner = self.tree.expression_span(alone);
                self.tree.expression_brackets.add(alone.index(), inner);
                self.tree.expression_spans[alone.index()] = self.span_from(open.start);
                Ok(alone)
            }
            _ => {
                let items = self.tree.add_list(items);
                Ok(self.add(Expression::Tuple(items), open.start))
            }
        }
    }

    pub(super) fn map(&mut self) -> Result<ExpressionId> {
        let open = self.advance();
        let entries = self.inside(|parser| match parser.peek() {
            Kind::CloseMap => Ok(Vec::new()),
            _ => parser.separated(|parser| {
                let key = parser.expression(0)?;
                parser.expect(Kind::Yield)?;
                Ok(Pair(key, parser.expression(0)?))
            }),
        })?;
        self.close(open, Kind::CloseMap)?;
        let entries = self.tree.add_list(entries);
        Ok(self.add(Expression::Map(entries), open.start))
    }

    /// `<…>`, `{…}` or `{|…|}`.
    pub(super) fn collection(&mut self, kind: CollectionKind) -> Result<ExpressionId> {
        let open = self.advance();
        let closing = open.kind.closing().unwrap_or(Kind::End);
        let outside = (self.sequences, self.free, self.asserting);
        (self.free, self.asserting) = (true, false);
        self.sequences = if kind == CollectionKind::Sequence { self.sequences + 1 } else { 0 };
        let contents = self.contents(closing);
        (self.sequences, self.free, self.asserting) = outside;
        let (items, statements) = contents?;
        let closed = match statements.is_empty() || self.peek() == closing {
            true => self.close(open, closing),
            // `{0.. | C`: the text may belong to something else.
            false => self.expect_closing(open, closing),
        };
        if let Err(failed) = closed {
            self.keep_collection(kind, items, statements, open.start);
            return Err(failed);
        }
        Ok(self.add(Expression::Collection { kind, items, statements }, open.start))
    }

    /// Keeps a collection whose end was not read: its last part may be longer than what was read of it.
    fn keep_collection(&mut self, kind: CollectionKind, items: Items, statements: List<Statement>, start: u32) {
        if statements.is_empty() {
            match items {
                Items::Listed(list) => self.read.extend(self.tree.list(list)),
                Items::From(first) => self.read.push(first),
                Items::Range(first, last) => self.read.extend([first, last]),
            }
            return;
        }
        let mut known = self.tree.list(statements).to_vec();
        match known.last_mut() {
            Some(Statement::Condition(last) | Statement::Generator { set: last, .. }) => {
                *last = self.broken(vec![*last], start);
            }
            None => {}
        }
        let statements = self.tree.add_list(known);
        let rest = self.unread();
        self.keep_around(rest, start, |_, _| Expression::Collection { kind, items, statements });
    }

    fn contents(&mut self, closing: Kind) -> Result<(Items, List<Statement>)> {
        let empty = |parser: &Self| parser.peek() == closing || parser.peek() == Kind::Bar;
        if empty(self) {
            return Ok((Items::Listed(List::EMPTY), self.statements_after_bar()?));
        }
        let first = self.expression(0)?;
        let items = if self.accept(Kind::DotDot) {
            if empty(self) {
                Items::From(first)
            } else {
                let last = self.expression(0);
                Items::Range(first, self.keeping(&[first], last)?)
            }
        } else {
            let mut listed = vec![first];
            while self.accept(Kind::Comma) {
                let item = self.expression(0);
                listed.push(self.keeping(&listed, item)?);
            }
            Items::Listed(self.tree.add_list(listed))
        };
        Ok((items, self.statements_after_bar()?))
    }

    pub(super) fn statements_after_bar(&mut self) -> Result<List<Statement>> {
        if !self.accept(Kind::Bar) {
            return Ok(List::EMPTY);
        }
        let statements = self.separated(Self::statement);
        let statements = self.dropping(statements)?;
        Ok(self.tree.add_list(statements))
    }

    pub(super) fn statement(&mut self) -> Result<Statement> {
        let mark = self.tree.mark();
        let expression = self.expression(0)?;
        if !matches!(self.peek(), Kind::LeftArrow | Kind::Colon) {
            return Ok(Statement::Condition(expression));
        }
        let pattern = self.pattern_from(expression, mark);
        self.advance();
        Ok(Statement::Generator { pattern, set: self.expression(0)? })
    }

    /// `let … within e`.
    pub(super) fn local(&mut self) -> Result<ExpressionId> {
        let open = self.advance();
        let outside = (self.free, self.asserting, self.context);
        (self.free, self.asserting) = (false, false);
        self.context.local = true;
        let declarations = self.local_declarations();
        (self.free, self.asserting, self.context) = outside;
        let declarations = declarations?;
        if !self.accept(Kind::Within) {
            let first = self.tokens.partition_point(|token| token.start <= open.start);
            if let Some(line) = self.continued_line(first) {
                self.report_dangling(line);
                return Err(Failed);
            }
            let complaint = self.complaint(codes::NO_WITHIN, "`within`");
            let complaint = complaint.also(Place::Span(self.span_of(open)), "this `let` needs a `within`");
            let help = "write `within` and the expression that uses the names: `let x = 3 within f(x)`";
            let failed = self.complain(if complaint.help.is_none() { complaint.help(help) } else { complaint });
            let body = self.unread();
            let declarations = self.tree.add_list(declarations);
            self.keep_around(body, open.start, |_, body| Expression::Let { declarations, body });
            return Err(failed);
        }
        let body = self.part(0, open.start, |parser, body| {
            let declarations = parser.tree.add_list(declarations.clone());
            Expression::Let { declarations, body }
        })?;
        let declarations = self.tree.add_list(declarations);
        Ok(self.add(Expression::Let { declarations, body }, open.start))
    }
}
