//! Statements, and inlines where they are called.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_source::{Diagnostic, Place, Span};

use super::mistakes::compounds;
use super::{MOST_INLINES, Parsed, Parser, Wrong};
use crate::codes::{EXPECTED, MACRO_CALL, NOT_SUPPORTED, TOO_DEEP, counted};
use crate::syntax::token::{Kind, TYPES, Token};
use crate::syntax::tree::{Expression, ExpressionKind, Sequence, Statement, StatementKind, Word};

/// Inlines of a model that bring more tokens than this are refused.
const MOST_BROUGHT: usize = 10_000_000;

impl Parser<'_> {
    /// Statements up to a closing brace, `::`, `fi`, `od` or the next unit.
    pub(super) fn sequence(&mut self) -> Parsed<Sequence> {
        let mut sequence = Vec::new();
        let mut outside = false;
        loop {
            while self.take(";") || self.take("->") {}
            if self.ends_sequence() {
                if self.closes_nothing(&mut outside) {
                    continue;
                }
                break;
            }
            let before = self.at;
            let otherwise = self.peek().is_name("else");
            match self.nested(Self::step) {
                Ok(statement) => {
                    if otherwise && !sequence.is_empty() && !outside {
                        self.else_inside(statement.span);
                    }
                    sequence.push(statement);
                }
                Err(Wrong) => {
                    let span = self.tokens[before].span;
                    sequence.push(Statement { kind: StatementKind::Broken, span });
                    if self.gives_up() {
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
                self.no_separator();
                // Two names in a row are a declaration with an unknown type; with a comma, the type may be missing.
                let comma = self.peek().is(",");
                if let Some(last) = sequence.last_mut().filter(|last| comma || may_declare(last)) {
                    last.kind = StatementKind::Broken;
                    self.poison_declared(before);
                }
                let from = self.at;
                while comma && !self.peek().is(";") && !self.peek().is("->") && !self.ends_sequence() {
                    self.next();
                }
                (from..self.at).for_each(|at| self.poison(at));
                if comma {
                    self.poison(before);
                    continue;
                }
                let before = self.at;
                self.skip_statement(before);
            }
        }
        if sequence.is_empty() {
            if outside {
                return Err(Wrong);
            }
            let span = self.peek().span;
            let _: Parsed<()> = self.expected("a statement");
            sequence.push(Statement { kind: StatementKind::Broken, span });
        }
        Ok(sequence)
    }

    pub(super) fn ends_sequence(&self) -> bool {
        let token = self.peek();
        let closes = token.is("}") || token.is("::") || token.is_name("fi") || token.is_name("od");
        closes || token.kind == Kind::End || self.starts_unit()
    }

    /// Whether the word that ends a sequence here belongs to no block or selection around it; reports and skips it.
    fn closes_nothing(&mut self, outside: &mut bool) -> bool {
        let token = self.peek().clone();
        let open = |word: &str| self.closers.contains(&word);
        let selection = open("fi") || open("od");
        let (stray, message, help) = match &token.kind {
            Kind::Mark("::") if !selection => (true, "this option belongs to no `if` or `do`", "write `if` or `do`"),
            Kind::Name(name) if &**name == "fi" && !selection => (true, "`fi` closes no `if`", "remove it"),
            Kind::Name(name) if &**name == "od" && !selection => (true, "`od` closes no `do`", "remove it"),
            _ => (false, "", ""),
        };
        if stray {
            if !*outside {
                self.report(message, token.span, help);
            }
            *outside = true;
            self.next();
        }
        stray
    }

    /// After a syntax error: continues behind the statement, over text in brackets, and poisons what it may declare.
    fn skip_statement(&mut self, before: usize) {
        if self.at == before && !self.ends_sequence() {
            self.next();
        }
        let mut depth = 0;
        loop {
            let token = self.peek();
            match &token.kind {
                Kind::End => break,
                _ if self.starts_unit() => break,
                // What was reported ends with its line.
                _ if depth <= 0 && token.fresh && self.tokens[self.at.saturating_sub(1)].kind == Kind::Reported => {
                    break;
                }
                _ if depth <= 0 && (token.is(";") || token.is("->") || self.ends_sequence()) => break,
                Kind::Mark("{") => depth += 1,
                Kind::Mark("}") => depth -= 1,
                Kind::Name(name) if matches!(&**name, "if" | "do") => depth += 1,
                Kind::Name(name) if matches!(&**name, "fi" | "od") => depth -= 1,
                _ => {}
            }
            self.next();
        }
        self.poison_declared(before);
    }

    /// Poisons the names that text from this token on may declare: labels, and what stands behind a type.
    fn poison_declared(&mut self, before: usize) {
        let mut declares = false;
        for at in before..self.at {
            let token = &self.tokens[at];
            let behind = |mark: &str| self.tokens.get(at + 1).is_some_and(|next| next.is(mark));
            let typed = token.name().is_some_and(|name| TYPES.contains(&&**name) || self.records.contains_key(name));
            // Two names in a row: the first may be a type that is not known.
            let follows = at > 0 && !token.fresh && self.tokens[at - 1].name().is_some();
            declares = (declares || typed) && !token.is(";");
            if declares || behind(":") || follows {
                self.poison(at);
            }
        }
    }

    /// `{ … }`: reports an opening brace that nothing closes.
    pub(super) fn block(&mut self) -> Parsed<Sequence> {
        let open = self.peek().span;
        if !self.take("{") {
            let missing: Parsed<()> = self.expected("`{`");
            // The closing brace may still be there.
            if self.ends_sequence() || self.peek().is(";") || self.peek().is("->") {
                missing?;
            }
        }
        self.closers.push("}");
        let body = self.sequence();
        self.closers.pop();
        let body = body?;
        if !self.take("}") {
            self.unclosed(open, "this `{` is not closed by `}`", "write `}` where the block ends");
        }
        Ok(body)
    }

    /// The options of `if` or `do`, from the first `::` on, to `fi` or `od`.
    pub(super) fn options(&mut self, end: &'static str, open: Span) -> Parsed<Vec<Sequence>> {
        let mut options = Vec::new();
        self.closers.push(end);
        let outcome = loop {
            if !self.take("::") {
                break Ok(());
            }
            match self.sequence() {
                Ok(option) => options.push(option),
                Err(Wrong) => break Err(Wrong),
            }
        };
        self.closers.pop();
        outcome?;
        self.close_selection(end, open);
        Ok(options)
    }

    /// Takes `fi` or `od`, or reports that it is missing.
    pub(super) fn close_selection(&mut self, end: &'static str, open: Span) {
        if self.take_name(end) {
            return;
        }
        let (word, other) = if end == "fi" { ("if", "od") } else { ("do", "fi") };
        if self.peek().is_name(other) && !self.closers.contains(&other) {
            let span = self.next().span;
            let message = format!("`{other}` does not close `{word}`");
            let wrong = Diagnostic::error(EXPECTED, message, Place::Span(span));
            let opened = format!("this `{word}` is open");
            self.tell(wrong.also(Place::Span(open), opened).help(format!("write `{end}`")));
        } else {
            let message = format!("this `{word}` is not closed by `{end}`");
            self.unclosed(open, &message, &format!("write `{end}` behind the last option"));
        }
    }

    /// Reports a block or selection that nothing closes: of several that end at one token, the innermost.
    fn unclosed(&mut self, open: Span, message: &str, help: &str) {
        let reported = |token: &Token| token.kind == Kind::Reported;
        let silent = reported(self.peek()) || reported(&self.tokens[self.at.saturating_sub(1)]);
        if self.unclosed.replace(self.at) != Some(self.at) && !silent {
            self.report(message, open, help);
        }
    }

    /// A declaration or statement, perhaps with `unless`.
    pub(super) fn step(&mut self) -> Parsed<Statement> {
        let from = self.peek().span;
        if self.declares_foreign() {
            return Err(Wrong);
        }
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
        if self.control.check().is_err() {
            self.hopeless = true;
            return Err(Wrong);
        }
        let token = self.peek().clone();
        let from = token.span;
        let kind = match &token.kind {
            Kind::Mark("{") => StatementKind::Block { body: self.block()?, inline: None },
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
                let body = self.block()?;
                if &**name == "atomic" { StatementKind::Atomic(body) } else { StatementKind::DStep(body) }
            }
            "if" | "do" => {
                self.next();
                let end = if &**name == "if" { "fi" } else { "od" };
                if !self.peek().is("::") {
                    return self.without_options(end, from);
                }
                let options = self.options(end, from)?;
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
                let Kind::Text(text) = self.peek().kind.clone() else { return self.no_format() };
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
            "return" | "while" | "switch" if !self.inlines.contains_key(name) && self.is_of_c(name) => {
                self.statement_of_c(name, from)?
            }
            "run" | "len" | "full" | "empty" | "nfull" | "nempty" | "timeout" | "np_" | "enabled" | "pc_value"
            | "get_priority" | "skip" | "true" | "false" => StatementKind::Condition(self.expression()?),
            _ if self.peek_at(1).is(":") && self.peek_at(2).is("=") && !self.peek_at(2).spaced => {
                self.colon_assignment()?
            }
            _ if self.peek_at(1).is(":") && !self.processes.contains_key(name) => {
                let label = self.word("a label")?;
                self.next();
                // A label before nothing stands before a skip.
                let statement = if self.peek().is(";") || self.peek().is("->") || self.ends_sequence() {
                    let skip = Expression { kind: ExpressionKind::Number(1), span: label.span };
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
        let from = self.next().span;
        self.need("(")?;
        if self.is_c_for() {
            return self.c_for(from);
        }
        let variable = self.reference()?;
        let range = matches!(self.peek_at(1).kind, Kind::Number(_)) || self.peek_at(2).is("..");
        let kind = if self.peek().is_name("in") && !range {
            self.next();
            let collection = self.reference()?;
            self.need(")")?;
            self.take(";");
            let body = self.loop_body()?;
            StatementKind::ForIn { variable, collection, body }
        } else {
            if self.peek().is_name("in") {
                let help = format!("write `for ({} : first .. last)`", variable.name.text);
                let span = self.next().span;
                self.report("`in` needs an array or a channel, not a range of numbers", span, help);
            } else {
                self.need(":")?;
            }
            let from = self.expression()?;
            self.need("..")?;
            let to = self.expression()?;
            self.need(")")?;
            self.take(";");
            let body = self.loop_body()?;
            StatementKind::For { variable, from, to, body }
        };
        Ok(kind)
    }

    /// The body of a `for`: a block; C also permits one statement.
    fn loop_body(&mut self) -> Parsed<Sequence> {
        if self.peek().is("{") {
            return self.block();
        }
        let missing: Parsed<()> = self.expected("`{`");
        if self.ends_sequence() {
            missing?;
        }
        Ok(vec![self.nested(Self::step)?])
    }

    /// A statement that begins with a variable: assignment, send, receive, or a condition.
    fn variable_statement(&mut self) -> Parsed<StatementKind> {
        let before = self.at;
        let remote = self.processes.contains_key(self.peek().name().map_or("", |name| name));
        if remote && self.peek_at(1).is("(") {
            return self.proctype_called();
        }
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
                    let span = self.peek().span;
                    return self.complain(NOT_SUPPORTED, "inlines that return a value are not supported", span);
                }
                if (self.peek().is("<") || self.peek().is(">")) && !self.peek().spaced {
                    return self.turned_comparison(reference);
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
            Kind::Mark("(") if reference.index.is_none() && reference.field.is_none() => {
                self.unknown_call(&reference.name);
                Err(Wrong)
            }
            Kind::Mark(operator) if self.peek_at(1).is("=") && !self.peek_at(1).spaced && compounds(operator) => {
                self.compound_assignment(reference, operator)
            }
            _ => {
                self.at = before;
                Ok(StatementKind::Condition(self.expression()?))
            }
        }
    }

    /// `a, b`, or `a(b, c)`, which means the same.
    fn send_arguments(&mut self) -> Parsed<Vec<Expression>> {
        self.sending = true;
        let first = self.expression();
        self.sending = false;
        let mut arguments = vec![first?];
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
            let wanted = counted(inline.parameters.len(), "argument");
            let message = format!("the inline `{name}` takes {wanted}, not {}", arguments.len());
            return self.complain(MACRO_CALL, message, place);
        }
        if self.expanding >= MOST_INLINES {
            let message = format!("`{name}` calls itself, or inlines are nested too deeply");
            let outcome = self.complain(TOO_DEEP, message, place);
            self.hopeless = true;
            return outcome;
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
            let message = format!(
                "the inlines of this model expand to more than {} tokens",
                trefoil_control::count(MOST_BROUGHT as u64)
            );
            return self.complain(TOO_DEEP, message, place);
        }
        let (kept, at) = (std::mem::replace(&mut self.tokens, tokens.into()), std::mem::replace(&mut self.at, 0));
        let (closers, told) = (std::mem::take(&mut self.closers), self.diagnostics.len());
        self.expanding += 1;
        let body = self.nested(|parser| {
            let body = parser.block()?;
            if parser.peek().kind == Kind::End { Ok(body) } else { parser.expected("the end of the inline") }
        });
        self.expanding -= 1;
        self.tokens = kept;
        self.at = at;
        self.closers = closers;
        self.unclosed = None;
        if !self.hopeless {
            for new in &mut self.diagnostics[told..] {
                new.notes.push(format!("in the body of the inline `{name}`"));
            }
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

/// Is this statement a declaration, or a name that may be a type?
fn may_declare(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Declare(_) => true,
        StatementKind::Condition(Expression { kind: ExpressionKind::Variable(reference), .. }) => {
            reference.index.is_none() && reference.field.is_none()
        }
        _ => false,
    }
}
