//! Expressions, by precedence; chains of operators are loops, brackets recursion.

use trefoil_source::Span;

use super::{Parsed, Parser};
use crate::codes::TOO_DEEP;
use crate::syntax::token::Kind;
use crate::syntax::tree::{Argument, Binary, Expression, ExpressionKind, Probe, Reference, Unary, Word};

/// An operator at the head of the rest of an expression.
enum Operator {
    Plain(Binary),
    Temporal(&'static str),
}

/// Operators of one chain; the tree of a longer one would be too deep.
const MOST_CHAINED: usize = 4000;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        let left = self.binary(0)?;
        if self.peek().is("=") { self.assignment_inside(left) } else { Ok(left) }
    }

    fn operator(&self) -> Option<(u8, Operator)> {
        use Binary::*;
        let token = self.peek();
        let plain = |level, operator| Some((level, Operator::Plain(operator)));
        match &token.kind {
            Kind::Mark(mark) => match *mark {
                "||" => plain(3, Or),
                "&&" => plain(4, And),
                "|" => plain(7, BitOr),
                "^" => plain(8, BitXor),
                "&" => plain(9, BitAnd),
                "==" => plain(10, Equal),
                "!=" => plain(10, Different),
                "<" => plain(11, Less),
                ">" => plain(11, Greater),
                "<=" => plain(11, AtMost),
                ">=" => plain(11, AtLeast),
                "<<" => plain(12, ShiftLeft),
                ">>" => plain(12, ShiftRight),
                "+" => plain(13, Plus),
                "-" => plain(13, Minus),
                "*" => plain(14, Times),
                "/" => plain(14, Divide),
                "%" => plain(14, Modulo),
                "->" if self.temporal => Some((2, Operator::Temporal("implies"))),
                "<->" if self.temporal => Some((2, Operator::Temporal("equivalent"))),
                _ => None,
            },
            Kind::Name(name) if self.temporal => match &**name {
                "U" | "until" | "stronguntil" => Some((6, Operator::Temporal("until"))),
                "W" | "weakuntil" => Some((6, Operator::Temporal("weakuntil"))),
                "V" | "release" => Some((6, Operator::Temporal("release"))),
                "implies" => Some((2, Operator::Temporal("implies"))),
                "equivalent" => Some((2, Operator::Temporal("equivalent"))),
                _ => None,
            },
            _ => None,
        }
    }

    fn binary(&mut self, least: u8) -> Parsed<Expression> {
        let mut left = self.nested(Self::operand)?;
        left = self.no_call(left);
        self.no_step_inside(&left);
        let mut chained = 0;
        while let Some((level, operator)) = self.operator() {
            if level <= least {
                break;
            }
            chained += 1;
            if chained > MOST_CHAINED {
                return self.complain(
                    TOO_DEEP,
                    format!("more than {} operators follow each other", trefoil_control::count(MOST_CHAINED as u64)),
                    left.span,
                );
            }
            self.next();
            let right = self.binary(level)?;
            let span = self.since(left.span);
            let kind = match operator {
                Operator::Plain(operator) => ExpressionKind::Binary(operator, Box::new(left), Box::new(right)),
                Operator::Temporal(name) => ExpressionKind::Temporal(name, vec![left, right]),
            };
            left = Expression { kind, span };
        }
        Ok(left)
    }

    pub(super) fn operand(&mut self) -> Parsed<Expression> {
        let token = self.peek().clone();
        let from = token.span;
        let unary = |operator| move |part| ExpressionKind::Unary(operator, Box::new(part));
        let kind = match &token.kind {
            Kind::Number(number) => {
                self.next();
                ExpressionKind::Number(*number)
            }
            Kind::Mark("(") => {
                self.next();
                let first = self.nested(Self::expression)?;
                if !self.temporal && self.take("->") {
                    let second = self.nested(Self::expression)?;
                    self.need(":")?;
                    let third = self.nested(Self::expression)?;
                    self.need(")")?;
                    ExpressionKind::Conditional(Box::new([first, second, third]))
                } else {
                    self.need(")")?;
                    return Ok(Expression { span: self.since(from), ..first });
                }
            }
            Kind::Mark("-") => {
                self.next();
                unary(Unary::Minus)(self.nested(Self::operand)?)
            }
            Kind::Mark("~") => {
                self.next();
                unary(Unary::Complement)(self.nested(Self::operand)?)
            }
            Kind::Mark("!") => {
                self.next();
                unary(Unary::Not)(self.nested(Self::operand)?)
            }
            Kind::Mark("!!") => {
                self.next();
                let part = unary(Unary::Not)(self.nested(Self::operand)?);
                unary(Unary::Not)(Expression { kind: part, span: self.since(from) })
            }
            Kind::Mark("[]") if self.temporal => self.temporal_prefix("always")?,
            Kind::Mark("<>") if self.temporal => self.temporal_prefix("eventually")?,
            Kind::Name(name) => {
                let name = name.clone();
                self.named(&name, from)?
            }
            Kind::Mark("++" | "--") => return self.step_before(),
            Kind::Reported => {
                self.next();
                ExpressionKind::Broken
            }
            _ => return self.expected("an expression"),
        };
        Ok(Expression { kind, span: self.since(from) })
    }

    fn temporal_prefix(&mut self, name: &'static str) -> Parsed<ExpressionKind> {
        self.next();
        let part = self.nested(Self::operand)?;
        Ok(ExpressionKind::Temporal(name, vec![part]))
    }

    /// An operand that begins with a name.
    fn named(&mut self, name: &str, from: Span) -> Parsed<ExpressionKind> {
        Ok(match name {
            "true" | "skip" => {
                self.next();
                ExpressionKind::Number(1)
            }
            "false" => {
                self.next();
                ExpressionKind::Number(0)
            }
            "timeout" => {
                self.next();
                ExpressionKind::Timeout
            }
            "np_" => {
                self.next();
                ExpressionKind::NonProgress
            }
            "always" if self.temporal => self.temporal_prefix("always")?,
            "eventually" if self.temporal => self.temporal_prefix("eventually")?,
            "X" | "next" if self.temporal && !self.peek_at(1).is(")") => self.temporal_prefix("next")?,
            "run" => {
                self.next();
                let process = self.word("the name of a proctype")?;
                if !self.peek().is("(") {
                    return Ok(self.run_without_arguments(&process));
                }
                let arguments = self.arguments()?;
                let priority =
                    if self.take_name("priority") { Some(self.number("a number for the priority")?) } else { None };
                ExpressionKind::Run { process, arguments, priority }
            }
            "len" | "full" | "empty" | "nfull" | "nempty" => {
                self.next();
                self.need("(")?;
                let channel = Box::new(self.reference()?);
                self.need(")")?;
                match name {
                    "len" => ExpressionKind::Length(channel),
                    "full" => ExpressionKind::Probe(Probe::Full, channel),
                    "empty" => ExpressionKind::Probe(Probe::Empty, channel),
                    "nfull" => ExpressionKind::Probe(Probe::NotFull, channel),
                    _ => ExpressionKind::Probe(Probe::NotEmpty, channel),
                }
            }
            "enabled" | "pc_value" | "get_priority" => {
                self.next();
                self.need("(")?;
                let process = Box::new(self.nested(Self::expression)?);
                self.need(")")?;
                match name {
                    "enabled" => ExpressionKind::Enabled(process),
                    "pc_value" => ExpressionKind::ProgramCounter(process),
                    _ => ExpressionKind::Priority(process),
                }
            }
            "c_expr" => return self.refuse_c("c_expr", from),
            _ if self.processes.contains_key(name) && self.is_remote() => self.remote()?,
            _ => {
                let reference = self.reference()?;
                let poll = (self.peek().is("?") || self.peek().is("??")) && self.peek_at(1).is("[");
                if !poll {
                    return Ok(ExpressionKind::Variable(reference));
                }
                let random = self.next().is("??");
                self.next();
                let arguments = self.receive_arguments()?;
                self.need("]")?;
                ExpressionKind::Poll { channel: Box::new(reference), random, arguments }
            }
        })
    }

    /// Does a remote reference begin here? `P@l`, `P:x`, or `P[i]@l`, `P[i]:x`.
    fn is_remote(&self) -> bool {
        if !self.peek_at(1).is("[") {
            return self.peek_at(1).is("@") || self.peek_at(1).is(":");
        }
        let (mut ahead, mut depth) = (2, 1);
        while depth > 0 {
            match self.peek_at(ahead).kind {
                Kind::Mark("[") => depth += 1,
                Kind::Mark("]") => depth -= 1,
                Kind::End => return false,
                _ => {}
            }
            ahead += 1;
        }
        self.peek_at(ahead).is("@") || self.peek_at(ahead).is(":")
    }

    fn remote(&mut self) -> Parsed<ExpressionKind> {
        let process = self.word("the name of a proctype")?;
        let mut index = None;
        if self.take("[") {
            index = Some(Box::new(self.nested(Self::expression)?));
            self.need("]")?;
        }
        if self.take("@") {
            let label = self.word("a label")?;
            return Ok(ExpressionKind::RemoteLabel { process, index, label });
        }
        self.need(":")?;
        let variable = Box::new(self.reference()?);
        Ok(ExpressionKind::RemoteVariable { process, index, variable })
    }

    /// `( e, … )`
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expression>> {
        self.need("(")?;
        let mut arguments = Vec::new();
        while !self.peek().is(")") {
            arguments.push(self.nested(Self::expression)?);
            if !self.take(",") {
                break;
            }
        }
        self.need(")")?;
        Ok(arguments)
    }

    pub(super) fn reference(&mut self) -> Parsed<Reference> {
        self.nested(|parser| {
            let name: Word = parser.word("a variable")?;
            let from = name.span;
            let mut index = None;
            if parser.peek().is("[") {
                parser.next();
                index = Some(Box::new(parser.nested(Self::expression)?));
                parser.need("]")?;
            }
            let mut field = None;
            if parser.take(".") {
                field = Some(Box::new(parser.reference()?));
            }
            Ok(Reference { name, index, field, span: parser.since(from) })
        })
    }

    /// The fields of a receive or poll: `a, eval(b), 3`, or `a(b, 3)`.
    pub(super) fn receive_arguments(&mut self) -> Parsed<Vec<Argument>> {
        let mut arguments = Vec::new();
        let mut brackets = 0;
        loop {
            while self.take("(") {
                brackets += 1;
            }
            let token = self.peek().clone();
            arguments.push(match &token.kind {
                Kind::Number(number) => {
                    self.next();
                    Argument::Number(*number, token.span)
                }
                Kind::Mark("-") => {
                    self.next();
                    Argument::Number(self.number("a number")?.wrapping_neg(), token.span)
                }
                Kind::Name(name) if &**name == "eval" => {
                    self.next();
                    self.need("(")?;
                    let value = self.nested(Self::expression)?;
                    self.need(")")?;
                    Argument::Eval(value)
                }
                Kind::Name(name) if matches!(&**name, "true" | "skip" | "false") => {
                    self.next();
                    Argument::Number(i32::from(&**name != "false"), token.span)
                }
                _ => Argument::Variable(self.reference()?),
            });
            if self.peek().is("(") {
                continue;
            }
            while brackets > 0 && self.take(")") {
                brackets -= 1;
            }
            if !self.take(",") {
                break;
            }
        }
        if brackets > 0 {
            return self.expected("`)`");
        }
        Ok(arguments)
    }
}
