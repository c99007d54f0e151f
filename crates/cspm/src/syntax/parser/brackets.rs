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
            _ => parser.separated(|parser| parser.expression(0)),
        })?;
        self.close(open, Kind::CloseRound)?;
        let arguments = self.tree.add_list(arguments);
        Ok(self.add(Expression::Apply { function, arguments }, start))
    }

    pub(super) fn renaming(&mut self, process: ExpressionId, start: u32) -> Result<ExpressionId> {
        let open = self.advance();
        let (renames, statements) = self.inside(|parser| {
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
        })?;
        self.close(open, Kind::CloseRename)?;
        Ok(self.add(Expression::Rename { process, renames, statements }, start))
    }

    /// `(e)` or `(e, f)`.
    pub(super) fn round(&mut self) -> Result<ExpressionId> {
        let open = self.advance();
        let items = self.inside(|parser| parser.separated(|parser| parser.expression(0)))?;
        self.close(open, Kind::CloseRound)?;
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
        self.close(open, closing)?;
        Ok(self.add(Expression::Collection { kind, items, statements }, open.start))
    }

    fn contents(&mut self, closing: Kind) -> Result<(Items, List<Statement>)> {
        let empty = |parser: &Self| parser.peek() == closing || parser.peek() == Kind::Bar;
        if empty(self) {
            return Ok((Items::Listed(List::EMPTY), self.statements_after_bar()?));
        }
        let first = self.expression(0)?;
        let items = if self.accept(Kind::DotDot) {
            if empty(self) { Items::From(first) } else { Items::Range(first, self.expression(0)?) }
        } else {
            let mut listed = vec![first];
            while self.accept(Kind::Comma) {
                listed.push(self.expression(0)?);
            }
            Items::Listed(self.tree.add_list(listed))
        };
        Ok((items, self.statements_after_bar()?))
    }

    pub(super) fn statements_after_bar(&mut self) -> Result<List<Statement>> {
        if !self.accept(Kind::Bar) {
            return Ok(List::EMPTY);
        }
        let statements = self.separated(Self::statement)?;
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
            return Err(self.complain(complaint));
        }
        let body = self.expression(0)?;
        let declarations = self.tree.add_list(declarations);
        Ok(self.add(Expression::Let { declarations, body }, open.start))
    }
}
