//! Type annotations.
//!
//! Loosest first: `->`, then `=>` and `=>*`, then `.`, all to the right.

use trefoil_source::{Diagnostic, Place};

use super::super::codes;
use super::super::names::Symbol;
use super::super::store::List;
use super::super::token::Kind;
use super::super::tree::*;
use super::{DEEPEST, Failed, Parser, Result};

impl Parser<'_, '_> {
    pub(super) fn annotation(&mut self) -> Result<Declaration<Symbol>> {
        let names = self.names()?;
        self.expect(Kind::DoubleColon)?;
        let bracketed =
            self.peek() == Kind::OpenRound && (self.peek_at(1), self.peek_at(2)) == (Kind::Name, Kind::Name);
        let mut constraints = List::EMPTY;
        let mut unknown = false;
        let start = self.token().start;
        if bracketed {
            let open = self.advance();
            let items = self.inside(|parser| parser.separated(Self::constraint))?;
            self.close(open, Kind::CloseRound)?;
            self.expect(Kind::Yield)?;
            unknown = items.iter().any(Option::is_none);
            constraints = self.tree.add_list(items.into_iter().flatten());
        } else if (self.peek(), self.peek_at(1)) == (Kind::Name, Kind::Name) && self.peek_at(2) == Kind::Yield {
            let item = self.constraint()?;
            self.expect(Kind::Yield)?;
            unknown = item.is_none();
            constraints = self.tree.add_list(item);
        }
        let mut annotated = self.type_expression(0)?;
        if unknown {
            annotated = self.add_type(Type::Error, start);
        }
        Ok(Declaration::Annotation { names, constraints, annotated })
    }

    fn constraint(&mut self) -> Result<Option<Constraint<Symbol>>> {
        let token = self.expect(Kind::Name)?;
        let kind = match self.text_of(token) {
            "Eq" => Some(ConstraintKind::Eq),
            "Ord" => Some(ConstraintKind::Ord),
            "Set" => Some(ConstraintKind::Set),
            "Complete" => Some(ConstraintKind::Complete),
            "Yieldable" => Some(ConstraintKind::Yieldable),
            other => {
                let message = format!("there is no type constraint `{other}`");
                let place = Place::Span(self.span_of(token));
                let diagnostic = Diagnostic::error(codes::UNKNOWN_CONSTRAINT, message, place);
                self.report(diagnostic.help("the constraints are `Eq`, `Ord`, `Set`, `Complete` and `Yieldable`"));
                None
            }
        };
        let variable = self.name()?;
        Ok(kind.map(|kind| Constraint { kind, variable }))
    }

    /// Reads a type whose operators are no looser than `least`.
    fn type_expression(&mut self, least: u8) -> Result<TypeId> {
        if self.depth >= DEEPEST {
            let place = Place::Span(self.span_of(self.token()));
            let message = format!("types are nested more than {} deep", trefoil_control::count(DEEPEST as u64));
            self.report(Diagnostic::error(codes::TOO_DEEP, message, place));
            return Err(Failed);
        }
        self.depth += 1;
        let result = stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.type_operators(least));
        self.depth -= 1;
        result
    }

    fn type_operators(&mut self, least: u8) -> Result<TypeId> {
        let start = self.token().start;
        if self.peek() == Kind::OpenRound {
            let open = self.advance();
            let items = self.inside(|parser| match parser.peek() {
                Kind::CloseRound => Ok(Vec::new()),
                _ => parser.separated(|parser| parser.type_expression(0)),
            })?;
            self.close(open, Kind::CloseRound)?;
            if self.peek() == Kind::Arrow && least == 0 || items.is_empty() {
                self.expect(Kind::Arrow)?;
                let result = self.type_expression(0)?;
                let arguments = self.tree.add_list(items);
                return Ok(self.add_type(Type::Function(arguments, result), start));
            }
            let left = match items[..] {
                [alone] => {
                    let inner = self.tree.type_span(alone);
                    self.tree.type_brackets.add(alone.index(), inner);
                    alone
                }
                _ => {
                    let items = self.tree.add_list(items);
                    self.add_type(Type::Tuple(items), start)
                }
            };
            return self.type_tail(left, least, start);
        }
        let left = self.type_atom()?;
        self.type_tail(left, least, start)
    }

    fn type_tail(&mut self, mut left: TypeId, least: u8, start: u32) -> Result<TypeId> {
        loop {
            left = match self.peek() {
                Kind::Arrow if least == 0 => {
                    let message = "the arguments of a function type need brackets";
                    let place = Place::Span(self.tree.type_span(left));
                    self.report(Diagnostic::error(codes::NOT_ARGUMENTS, message, place));
                    self.advance();
                    self.type_expression(0)?;
                    self.add_type(Type::Error, start)
                }
                Kind::Yield if least <= 1 => {
                    self.advance();
                    let right = self.type_expression(1)?;
                    self.add_type(Type::Dotable(left, right), start)
                }
                Kind::YieldStar if least <= 1 => {
                    self.advance();
                    let right = self.type_expression(1)?;
                    self.add_type(Type::Extendable(left, right), start)
                }
                Kind::Dot => {
                    self.advance();
                    let right = self.type_expression(2)?;
                    self.add_type(Type::Dot(left, right), start)
                }
                _ => return Ok(left),
            }
        }
    }

    fn type_atom(&mut self) -> Result<TypeId> {
        let open = self.token();
        let node = match open.kind {
            Kind::Name => {
                let name = self.symbol_of(open);
                self.advance();
                Type::Name(name)
            }
            Kind::OpenBrace | Kind::Less => {
                self.advance();
                let item = self.inside(|parser| parser.type_expression(0))?;
                if open.kind == Kind::OpenBrace {
                    self.close(open, Kind::CloseBrace)?;
                    Type::Set(item)
                } else {
                    self.close(open, Kind::Greater)?;
                    Type::Sequence(item)
                }
            }
            Kind::OpenMap => {
                self.advance();
                let key = self.inside(|parser| parser.type_expression(2))?;
                self.expect(Kind::Yield)?;
                let value = self.inside(|parser| parser.type_expression(0))?;
                self.close(open, Kind::CloseMap)?;
                Type::Map(key, value)
            }
            _ => return Err(self.unexpected(codes::TOKEN_EXPECTED, "a type")),
        };
        Ok(self.add_type(node, open.start))
    }

    fn add_type(&mut self, node: Type<Symbol>, start: u32) -> TypeId {
        let span = self.span_from(start);
        self.tree.add_type(node, span)
    }
}
