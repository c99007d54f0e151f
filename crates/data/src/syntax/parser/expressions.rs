//! Data expressions, by precedence climbing.

use crate::syntax::codes;
use crate::syntax::token::Kind;
use crate::syntax::tree::{Binder, Expression, ExpressionId, ExpressionList, Infix, Power, Prefix};

use super::{Failed, Parser, Reads};

impl Parser<'_> {
    /// Reads an expression whose operators all bind at least as tightly as `least`.
    pub fn expression(&mut self, least: Power) -> Reads<ExpressionId> {
        self.nest(|parser| {
            let first = parser.operand(least)?;
            parser.operators(first, least)
        })
    }

    /// Reads the operators and operands after a first operand.
    fn operators(&mut self, first: ExpressionId, least: Power) -> Reads<ExpressionId> {
        let start = self.tree.span(first);
        let mut left = first;
        loop {
            let kind = self.peek();
            if let Some(infix) = infix(kind) {
                let (power, to_the_right) = infix.power();
                if power < least {
                    return Ok(left);
                }
                self.advance();
                let right = self.expression(if to_the_right { power } else { power.tighter() })?;
                let span = start.to(self.before());
                left = self.tree.add(Expression::Infix(infix, left, right), span);
            } else if kind == Kind::Whr && least == Power::LOOSEST {
                self.advance();
                let definitions = self.assignments()?;
                self.expect(Kind::EndWord)?;
                let span = start.to(self.before());
                left = self.tree.add(Expression::Where(left, definitions), span);
            } else {
                return Ok(left);
            }
        }
    }

    /// Reads an operand: a prefix operator with its own operand, or something tighter.
    fn operand(&mut self, least: Power) -> Reads<ExpressionId> {
        let start = self.here();
        if let Some(prefix) = prefix(self.peek()) {
            self.advance();
            let operand = self.expression(Power::PREFIX.tighter())?;
            let span = start.to(self.before());
            return Ok(self.tree.add(Expression::Prefix(prefix, operand), span));
        }
        let binder = match self.peek() {
            Kind::Forall => Some(Binder::Forall),
            Kind::Exists => Some(Binder::Exists),
            Kind::Lambda => Some(Binder::Lambda),
            _ => None,
        };
        if let Some(binder) = binder {
            self.advance();
            let variables = self.variables()?;
            self.expect(Kind::Dot)?;
            let body = self.expression(least.max(Power::BINDER))?;
            let span = start.to(self.before());
            return Ok(self.tree.add(Expression::Binder(binder, variables, body), span));
        }
        self.postfixed()
    }

    /// Reads a simple expression with its applications and updates.
    fn postfixed(&mut self) -> Reads<ExpressionId> {
        let start = self.here();
        let mut expression = self.simple()?;
        loop {
            let node = match self.peek() {
                Kind::Open => {
                    self.advance();
                    let arguments = self.expressions(Kind::Close)?;
                    Expression::Apply(expression, arguments)
                }
                Kind::OpenSquare => {
                    self.advance();
                    let argument = self.expression(Power::LOOSEST)?;
                    self.expect(Kind::Arrow)?;
                    let value = self.expression(Power::LOOSEST)?;
                    self.expect(Kind::CloseSquare)?;
                    Expression::Update(expression, argument, value)
                }
                _ => return Ok(expression),
            };
            let span = start.to(self.before());
            expression = self.tree.add(node, span);
        }
    }

    fn simple(&mut self) -> Reads<ExpressionId> {
        let start = self.here();
        let node = match self.peek() {
            Kind::Name => {
                self.refuse_other_notation()?;
                Expression::Name(self.name()?.symbol)
            }
            Kind::True | Kind::False => {
                let symbol = self.tree.names.intern(self.next_text());
                self.advance();
                Expression::Name(symbol)
            }
            Kind::Number => {
                let digits = self.tree.names.intern(self.next_text());
                self.advance();
                Expression::Number(digits)
            }
            Kind::OpenSquare => {
                self.advance();
                Expression::List(self.expressions(Kind::CloseSquare)?)
            }
            Kind::OpenCurly => {
                self.advance();
                self.curly()?
            }
            Kind::Open => {
                self.advance();
                let inside = self.expression(Power::LOOSEST)?;
                self.close(Kind::Close)?;
                Expression::Brackets(inside)
            }
            _ => return Err(self.expected("an expression")),
        };
        let span = start.to(self.before());
        Ok(self.tree.add(node, span))
    }

    /// Reads expressions up to a closing bracket; none between brackets of a list.
    fn expressions(&mut self, closing: Kind) -> Reads<ExpressionList> {
        let mut elements = Vec::new();
        if closing == Kind::CloseSquare && self.accept(closing) {
            return Ok(self.tree.add_list(&elements));
        }
        loop {
            elements.push(self.expression(Power::LOOSEST)?);
            if !self.accept(Kind::Comma) {
                break;
            }
        }
        self.close(closing)?;
        Ok(self.tree.add_list(&elements))
    }

    /// Expects a closing bracket after an expression.
    fn close(&mut self, closing: Kind) -> Reads<()> {
        if self.peek() == Kind::Is {
            return Err(self.single_equals());
        }
        self.expect(closing).map(|_| ())
    }

    /// Reports `=` inside an expression.
    pub(super) fn single_equals(&mut self) -> Failed {
        let message = "`=` inside an expression".to_string();
        let help = self.hint("`==`").unwrap_or_else(|| "equality is written `==`".to_string());
        self.report(codes::SINGLE_EQUALS, message, self.here(), Some(help))
    }

    /// Reads what follows `{`: a set, a bag or a comprehension.
    fn curly(&mut self) -> Reads<Expression> {
        if self.accept(Kind::CloseCurly) {
            return Ok(Expression::Set(self.tree.add_list(&[])));
        }
        if self.peek() == Kind::Colon {
            self.advance();
            self.expect(Kind::CloseCurly)?;
            return Ok(Expression::Bag(self.tree.add_list(&[])));
        }
        if self.peek() == Kind::Name && self.peek_after(1) == Kind::Colon && self.is_comprehension() {
            let variable = self.name()?;
            self.advance();
            let sort = self.sort()?;
            self.expect(Kind::Bar)?;
            let body = self.expression(Power::LOOSEST)?;
            self.close(Kind::CloseCurly)?;
            return Ok(Expression::Comprehension(variable, sort, body));
        }
        let mut elements = vec![self.expression(Power::LOOSEST)?];
        let is_bag = self.peek() == Kind::Colon;
        loop {
            if is_bag {
                self.expect(Kind::Colon)?;
                elements.push(self.expression(Power::LOOSEST)?);
            }
            if !self.accept(Kind::Comma) {
                break;
            }
            elements.push(self.expression(Power::LOOSEST)?);
        }
        if self.peek() == Kind::Bar {
            let message = "a comprehension needs the sort of its variable".to_string();
            return Err(self.report(codes::NO_SORT, message, self.here(), Some("write `{ x: S | e }`".to_string())));
        }
        self.close(Kind::CloseCurly)?;
        let elements = self.tree.add_list(&elements);
        Ok(if is_bag { Expression::Bag(elements) } else { Expression::Set(elements) })
    }

    /// Whether `{ x: …` is a comprehension: its `|` comes before a comma and the end.
    fn is_comprehension(&self) -> bool {
        let mut position = self.position();
        loop {
            match self.kind_at(position) {
                Kind::Bar => return true,
                Kind::Comma | Kind::CloseCurly | Kind::Semicolon | Kind::End => return false,
                _ => position = self.past_bracket(position),
            }
        }
    }

    /// Reads `x = d, y = e`.
    pub fn assignments(&mut self) -> Reads<Vec<(crate::syntax::tree::Identifier, ExpressionId)>> {
        let mut assignments = Vec::new();
        loop {
            let name = self.name()?;
            self.expect(Kind::Is)?;
            assignments.push((name, self.expression(Power::LOOSEST)?));
            if !self.accept(Kind::Comma) {
                return Ok(assignments);
            }
        }
    }

    /// Reads a condition of a process or a time: a name, a number, a bracketed expression, prefix operators before them
    /// and applications after them, but no operator between operands.
    pub fn unit(&mut self) -> Reads<ExpressionId> {
        self.nest(|parser| {
            let start = parser.here();
            if let Some(prefix) = prefix(parser.peek()) {
                parser.advance();
                let operand = parser.unit()?;
                let span = start.to(parser.before());
                return Ok(parser.tree.add(Expression::Prefix(prefix, operand), span));
            }
            let mut expression = parser.simple()?;
            while parser.accept(Kind::Open) {
                let arguments = parser.expressions(Kind::Close)?;
                let span = start.to(parser.before());
                expression = parser.tree.add(Expression::Apply(expression, arguments), span);
            }
            Ok(expression)
        })
    }

    /// Refuses `if x then …`, `not x`, `x and y` with what mCRL2 writes instead.
    fn refuse_other_notation(&mut self) -> Reads<()> {
        let starts_operand =
            |kind: Kind| matches!(kind, Kind::Name | Kind::Number | Kind::True | Kind::False | Kind::Not);
        let help = match (self.next_text(), self.peek_after(1)) {
            ("if", next) if starts_operand(next) => "a conditional expression is written `if(c, a, b)`",
            ("not", next) if starts_operand(next) => "negation is written `!`",
            _ => return Ok(()),
        };
        let message = format!("`{}` is not an operator", self.next_text());
        Err(self.report(codes::OTHER_NOTATION, message, self.here(), Some(help.to_string())))
    }
}

fn prefix(kind: Kind) -> Option<Prefix> {
    match kind {
        Kind::Not => Some(Prefix::Not),
        Kind::Minus => Some(Prefix::Minus),
        Kind::Hash => Some(Prefix::Size),
        _ => None,
    }
}

fn infix(kind: Kind) -> Option<Infix> {
    Some(match kind {
        Kind::Implies => Infix::Implies,
        Kind::Or => Infix::Or,
        Kind::And => Infix::And,
        Kind::Equal => Infix::Equal,
        Kind::NotEqual => Infix::NotEqual,
        Kind::Less => Infix::Less,
        Kind::LessEqual => Infix::LessEqual,
        Kind::GreaterEqual => Infix::GreaterEqual,
        Kind::Greater => Infix::Greater,
        Kind::In => Infix::In,
        Kind::ConsTo => Infix::Cons,
        Kind::Snoc => Infix::Snoc,
        Kind::Concat => Infix::Concat,
        Kind::Plus => Infix::Plus,
        Kind::Minus => Infix::Minus,
        Kind::Slash => Infix::Divide,
        Kind::Div => Infix::Div,
        Kind::Mod => Infix::Mod,
        Kind::Star => Infix::Times,
        Kind::Dot => Infix::At,
        _ => return None,
    })
}
