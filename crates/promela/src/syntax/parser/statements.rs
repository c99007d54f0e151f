//! Statements, and inlines where they are called.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_source::Span;

use super::{MOST_INLINES, Parsed, Parser, Wrong};
use crate::codes::{EXPECTED, MACRO_CALL, NOT_SUPPORTED, TOO_DEEP};
use crate::syntax::token::{Kind, Token};
use crate::syntax::tree::{Sequence, Statement, StatementKind, Word};

/// Inlines of a model that bring more tokens than this are refused.
const MOST_BROUGHT: usize = 10_000_000;

impl Parser<'_> {
    /// Statements up to a closing brace, `::`, `fi` or `od`.
    pub(super) fn sequence(&mut self) -> Parsed<Sequence> {
        let mut sequence = Vec::new();
        loop {
            while self.take(";") || self.take("->") {}
            if self.ends_sequence() {
                break;
            }
            let before = self.at;
            match self.nested(Self::step) {
                Ok(statement) => sequence.push(statement),
                Err(Wrong) => {
                    if self.hopeless || self.peek().kind == Kind::End || self.diagnostics.len() >= super::MOST_MISTAKES
                    {
                        return Err(Wrong);
                    }
                    self.skip_statement(before);
                    continue;
                }
            }
            // Behind `else`, a closing brace and at the end of a line a separator may be left out, as in Spin.
            let closed = self.at > 0 && {
                let last = &self.tokens[self.at - 1];
                last.is("}") || last.is_name("else") || last.is_name("fi") || last.is_name("od") || self.peek().fresh
            };
            if !self.peek().is(";") && !self.peek().is("->") && !self.ends_sequence() && !closed {
                let _: Parsed<()> = self.expected("`;`, `->` or the end of the sequence");
                let before = self.at;
                self.skip_statement(before);
            }
        }
        if sequence.is_empty() {
            return self.expected("a statement");
        }
        Ok(sequence)
    }

    fn ends_sequence(&self) -> bool {
        let token = self.peek();
        token.is("}") || token.is("::") || token.is_name("fi") || token.is_name("od") || token.kind == Kind::End
    }

    /// After a mistake: goes behind the statement, over what is in brackets.
    fn skip_statement(&mut self, before: usize) {
        if self.at == before && !self.ends_sequence() {
            self.next();
        }
        let mut depth = 0;
        loop {
            let token = self.peek();
            match &token.kind {
                Kind::End => return,
                _ if depth == 0 && (token.is(";") || token.is("->") || self.ends_sequence()) => return,
                Kind::Mark("{") => depth += 1,
                Kind::Mark("}") => depth -= 1,
                Kind::Name(name) if matches!(&**name, "if" | "do") => depth += 1,
                Kind::Name(name) if matches!(&**name, "fi" | "od") => depth -= 1,
                _ => {}
            }
            self.next();
        }
    }

    /// A declaration or statement, perhaps with `unless`.
    fn step(&mut self) -> Parsed<Statement> {
        let from = self.peek().span;
        if self.begins_declaration() {
            let declaration = self.declaration()?;
            return Ok(Statement { kind: StatementKind::Declare(declaration), span: self.since(from) });
        }
        if self.peek().is_name("xr") || self.peek().is_name("xs") {
            let receives = self.next().is_name("xr");
            let mut channels = vec![self.reference()?];
            while self.take(",") {
                channels.push(self.reference()?);
            }
            return Ok(Statement { kind: StatementKind::Exclusive { receives, channels }, span: self.since(from) });
        }
        let statement = self.statement()?;
        if !self.take_name("unless") {
            return Ok(statement);
        }
        let escape = self.nested(Self::statement)?;
        let kind = StatementKind::Unless(Box::new(statement), Box::new(escape));
        Ok(Statement { kind, span: self.since(from) })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let token = self.peek().clone();
        let from = token.span;
        let kind = match &token.kind {
            Kind::Mark("{") => {
                self.next();
                let body = self.sequence()?;
                self.need("}")?;
                StatementKind::Block { body, inline: None }
            }
            Kind::Name(name) => {
                let name = name.clone();
                self.named_statement(&name, from)?
            }
            _ => StatementKind::Condition(self.expression()?),
        };
        Ok(Statement { kind, span: self.since(from) })
    }

    fn named_statement(&mut self, name: &Arc<str>, from: Span) -> Parsed<StatementKind> {
        Ok(match &**name {
            "atomic" | "d_step" => {
                self.next();
                self.need("{")?;
                let body = self.sequence()?;
                self.need("}")?;
                if &**name == "atomic" { StatementKind::Atomic(body) } else { StatementKind::DStep(body) }
            }
            "if" | "do" => {
                self.next();
                let end = if &**name == "if" { "fi" } else { "od" };
                let mut options = Vec::new();
                while self.take("::") {
                    options.push(self.sequence()?);
                }
                if options.is_empty() {
                    return self.expected("`::`");
                }
                self.need_name(end)?;
                if end == "fi" { StatementKind::If(options) } else { StatementKind::Do(options) }
            }
            "for" => self.for_loop()?,
            "select" => {
                self.next();
                self.need("(")?;
                let variable = self.reference()?;
                self.need(":")?;
                let number = |token: &Token| matches!(token.kind, Kind::Number(_));
                let mut plain = number(self.peek()) && self.peek_at(1).is("..");
                let from = self.expression()?;
                self.need("..")?;
                plain &= number(self.peek()) && self.peek_at(1).is(")");
                let to = self.expression()?;
                self.need(")")?;
                plain &= variable.index.is_none() && variable.field.is_none() && !variable.name.text.contains('_');
                plain &= self.expanding == 0;
                StatementKind::Select { variable, from, to, plain }
            }
            "else" => {
                self.next();
                StatementKind::Else
            }
            "break" => {
                self.next();
                StatementKind::Break
            }
            "goto" => {
                self.next();
                StatementKind::Goto(self.word("a label")?)
            }
            "assert" => {
                self.next();
                StatementKind::Assert(self.expression()?)
            }
            "printf" => {
                self.next();
                self.need("(")?;
                let Kind::Text(text) = self.peek().kind.clone() else { return self.expected("a string") };
                self.next();
                let mut arguments = Vec::new();
                while self.take(",") {
                    arguments.push(self.expression()?);
                }
                self.need(")")?;
                StatementKind::Print(text, arguments)
            }
            "printm" => {
                self.next();
                self.need("(")?;
                let value = self.expression()?;
                self.need(")")?;
                StatementKind::PrintMtype(value)
            }
            "set_priority" => {
                self.next();
                self.need("(")?;
                let process = self.expression()?;
                self.need(",")?;
                let priority = self.expression()?;
                self.need(")")?;
                StatementKind::SetPriority(process, priority)
            }
            "c_code" | "c_decl" => {
                return self.refuse_c(name, from);
            }
            "return" if self.expanding > 0 => {
                return self.complain(NOT_SUPPORTED, "inlines that return a value are not supported", from);
            }
            "run" | "len" | "full" | "empty" | "nfull" | "nempty" | "timeout" | "np_" | "enabled" | "pc_value"
            | "get_priority" | "skip" | "true" | "false" => StatementKind::Condition(self.expression()?),
            _ if self.peek_at(1).is(":") && !self.processes.contains_key(name) => {
                let label = self.word("a label")?;
                self.next();
                // A label before nothing stands before a skip.
                let statement = if self.peek().is(";") || self.peek().is("->") || self.ends_sequence() {
                    let number = crate::syntax::tree::ExpressionKind::Number(1);
                    let skip = crate::syntax::tree::Expression { kind: number, span: label.span };
                    Statement { kind: StatementKind::Condition(skip), span: label.span }
                } else {
                    self.nested(Self::statement)?
                };
                StatementKind::Labelled(label, Box::new(statement))
            }
            _ if self.inlines.contains_key(name) && self.peek_at(1).is("(") => self.call_inline(name, from)?,
            _ => self.variable_statement()?,
        })
    }

    fn for_loop(&mut self) -> Parsed<StatementKind> {
        self.next();
        self.need("(")?;
        let variable = self.reference()?;
        let kind = if self.take_name("in") {
            let collection = self.reference()?;
            self.need(")")?;
            self.take(";");
            self.need("{")?;
            let body = self.sequence()?;
            StatementKind::ForIn { variable, collection, body }
        } else {
            self.need(":")?;
            let from = self.expression()?;
            self.need("..")?;
            let to = self.expression()?;
            self.need(")")?;
            self.take(";");
            self.need("{")?;
            let body = self.sequence()?;
            StatementKind::For { variable, from, to, body }
        };
        self.need("}")?;
        Ok(kind)
    }

    /// A statement that begins with a variable: assignment, send, receive, or a condition.
    fn variable_statement(&mut self) -> Parsed<StatementKind> {
        let before = self.at;
        let remote = self.processes.contains_key(self.peek().name().map_or("", |name| name));
        if remote {
            return Ok(StatementKind::Condition(self.expression()?));
        }
        let reference = self.reference()?;
        let token = self.peek().clone();
        match &token.kind {
            Kind::Mark("=") => {
                self.next();
                let call = self.peek().name().is_some_and(|name| self.inlines.contains_key(name));
                if call && self.peek_at(1).is("(") {
                    return self.complain(NOT_SUPPORTED, "inlines that return a value are not supported", token.span);
                }
                Ok(StatementKind::Assign(reference, self.expression()?))
            }
            Kind::Mark("++") => {
                self.next();
                Ok(StatementKind::Step(reference, 1))
            }
            Kind::Mark("--") => {
                self.next();
                Ok(StatementKind::Step(reference, -1))
            }
            Kind::Mark("!" | "!!") => {
                let sorted = self.next().is("!!");
                let arguments = self.send_arguments()?;
                Ok(StatementKind::Send { channel: reference, sorted, arguments })
            }
            Kind::Mark("?" | "??") if !self.peek_at(1).is("[") => {
                let random = self.next().is("??");
                let copy = self.take("<");
                let arguments = self.receive_arguments()?;
                if copy {
                    self.need(">")?;
                }
                Ok(StatementKind::Receive { channel: reference, random, copy, arguments })
            }
            _ => {
                self.at = before;
                Ok(StatementKind::Condition(self.expression()?))
            }
        }
    }

    /// `a, b`, or `a(b, c)`, which means the same.
    fn send_arguments(&mut self) -> Parsed<Vec<crate::syntax::tree::Expression>> {
        let mut arguments = vec![self.expression()?];
        if self.take("(") {
            loop {
                arguments.push(self.expression()?);
                if !self.take(",") {
                    break;
                }
            }
            self.need(")")?;
            return Ok(arguments);
        }
        while self.take(",") {
            arguments.push(self.expression()?);
        }
        Ok(arguments)
    }

    /// Parses the body of an inline with the arguments in the place of the parameters.
    fn call_inline(&mut self, name: &Arc<str>, place: Span) -> Parsed<StatementKind> {
        let call = self.next();
        let arguments = self.inline_arguments()?;
        let inline = self.inlines[name].clone();
        if arguments.len() != inline.parameters.len() {
            let message = format!("`{name}` takes {} arguments, not {}", inline.parameters.len(), arguments.len());
            return self.complain(MACRO_CALL, message, place);
        }
        if self.expanding >= MOST_INLINES {
            let message = format!("`{name}` calls itself, or inlines are nested too deeply");
            let told = self.complain(TOO_DEEP, message, place);
            self.hopeless = true;
            return told;
        }
        let by_name: HashMap<&Arc<str>, &Vec<Token>> = inline.parameters.iter().zip(&arguments).collect();
        let mut tokens: Vec<Token> = Vec::with_capacity(inline.body.len() + 1);
        for token in inline.body.iter() {
            match token.name().and_then(|name| by_name.get(name)) {
                Some(argument) => tokens.extend(argument.iter().cloned()),
                None => tokens.push(token.clone()),
            }
        }
        tokens.push(Token { kind: Kind::End, ..call });
        self.brought += tokens.len();
        if self.brought > MOST_BROUGHT {
            return self.complain(TOO_DEEP, "the inlines of this model bring too many statements", place);
        }
        let (kept, at) = (std::mem::replace(&mut self.tokens, tokens.into()), std::mem::replace(&mut self.at, 0));
        self.expanding += 1;
        let body = self.nested(|parser| {
            parser.need("{")?;
            let body = parser.sequence()?;
            parser.need("}")?;
            if parser.peek().kind == Kind::End { Ok(body) } else { parser.expected("the end of the inline") }
        });
        self.expanding -= 1;
        self.tokens = kept;
        self.at = at;
        if body.is_err()
            && !self.hopeless
            && let Some(last) = self.diagnostics.last_mut()
        {
            last.notes.push(format!("in the body of the inline `{name}`"));
        }
        let inline = Some(Word { text: name.clone(), span: place });
        Ok(StatementKind::Block { body: body?, inline })
    }

    fn inline_arguments(&mut self) -> Parsed<Vec<Vec<Token>>> {
        let open = self.need("(")?;
        let (mut arguments, mut depth) = (vec![Vec::new()], 0);
        loop {
            let token = self.next();
            match &token.kind {
                Kind::Mark(")") if depth == 0 => break,
                Kind::Mark(",") if depth == 0 => {
                    arguments.push(Vec::new());
                    continue;
                }
                Kind::Mark("(" | "[" | "{") => depth += 1,
                Kind::Mark(")" | "]" | "}") => depth -= 1,
                Kind::End => return self.complain(EXPECTED, "these arguments are not closed by `)`", open),
                _ => {}
            }
            arguments.last_mut().expect("there is one").push(token);
        }
        if arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        Ok(arguments)
    }
}
