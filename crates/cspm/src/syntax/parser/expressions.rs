//! Expressions by precedence.
//!
//! The levels, loosest first: 1 `@@`, 2 `\ |\`, 3 `|||`, 4 `[|A|] [|A|> [A||B] [a<->b]`, 5 `|~|`, 6 `[] [+A+]`, 7 `/\
//! /+A+\`, 8 `[>`, 9 `;`, 10 `& ->` (to the right), 11 `? ! $`, 13 `.` (to the right), 15 `or`, 16 `and`, 17 `not`, 18
//! comparisons, 19 `+ -`, 20 `* / %`, 21 `#`, 22 `^`, 23 application and renaming. The dot is looser than arithmetic,
//! so `c.x+1` is `c.(x+1)`. Hiding takes everything to its left but only a set to its right: `P \ A ||| Q` is `(P \ A)
//! ||| Q`. `if`, `let`, lambda and the replicated operators reach as far right as they can.

use trefoil_source::{Diagnostic, Place};

use super::super::codes;
use super::super::lexer::unescape;
use super::super::names::Symbol;
use super::super::store::List;
use super::super::token::Kind;
use super::super::tree::*;
use super::{DEEPEST, Failed, Parser, Result};

/// Levels that more than one place uses.
pub(in super::super) mod level {
    pub(in super::super::super) const BOTH: u8 = 1;
    pub(in super::super::super) const HIDE: u8 = 2;
    pub(in super::super::super) const PARALLEL: u8 = 4;
    pub(in super::super::super) const SYNC_CHOICE: u8 = 6;
    pub(in super::super::super) const SYNC_INTERRUPT: u8 = 7;
    pub(in super::super::super) const PREFIX: u8 = 10;
    pub(in super::super::super) const FIELD: u8 = 12;
    pub(in super::super::super) const DOT: u8 = 13;
    pub(in super::super::super) const FIELD_SET: u8 = 15;
    pub(in super::super::super) const NOT: u8 = 17;
    pub(in super::super::super) const COMPARE: u8 = 18;
    pub(in super::super::super) const NEGATE: u8 = 19;
    pub(in super::super::super) const LENGTH: u8 = 21;
    pub(in super::super::super) const CONCATENATE: u8 = 22;
    pub(in super::super::super) const APPLY: u8 = 23;
    pub(in super::super::super) const ATOM: u8 = 24;
}

/// The level of an operator and the least level of its right operand.
pub(in super::super) fn levels(operator: BinaryOperator) -> (u8, u8) {
    use BinaryOperator::*;
    match operator {
        Hide | Project => (level::HIDE, level::PREFIX),
        Interleave => (3, 4),
        InternalChoice => (5, 6),
        ExternalChoice => (6, 7),
        Interrupt => (7, 8),
        SlidingChoice => (8, 9),
        Sequential => (9, 10),
        Guard => (level::PREFIX, level::PREFIX),
        Dot => (level::DOT, level::DOT),
        Or => (15, 16),
        And => (16, 17),
        Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual => (level::COMPARE, level::COMPARE + 1),
        Add | Subtract => (19, 20),
        Multiply | Divide | Remainder => (20, 21),
        Concatenate => (22, 23),
    }
}

fn binary_operator(kind: Kind) -> Option<BinaryOperator> {
    use BinaryOperator::*;
    Some(match kind {
        Kind::Backslash => Hide,
        Kind::Project => Project,
        Kind::Interleave => Interleave,
        Kind::InternalChoice => InternalChoice,
        Kind::ExternalChoice => ExternalChoice,
        Kind::Interrupt => Interrupt,
        Kind::SlidingChoice => SlidingChoice,
        Kind::Semicolon => Sequential,
        Kind::Ampersand => Guard,
        Kind::Dot => Dot,
        Kind::Or => Or,
        Kind::And => And,
        Kind::EqualEqual => Equal,
        Kind::NotEqual => NotEqual,
        Kind::Less => Less,
        Kind::LessEqual => LessOrEqual,
        Kind::Greater => Greater,
        Kind::GreaterEqual => GreaterOrEqual,
        Kind::Plus => Add,
        Kind::Minus => Subtract,
        Kind::Star => Multiply,
        Kind::Slash => Divide,
        Kind::Percent => Remainder,
        Kind::Caret => Concatenate,
        _ => return None,
    })
}

impl Parser<'_, '_> {
    /// Reads an expression whose operators are no looser than `least`.
    pub(super) fn expression(&mut self, least: u8) -> Result<ExpressionId> {
        if self.depth >= DEEPEST {
            let place = Place::Span(self.span_of(self.token()));
            let message = format!("expressions are nested more than {} deep", trefoil_control::count(DEEPEST as u64));
            self.report(Diagnostic::error(codes::TOO_DEEP, message, place));
            return Err(Failed);
        }
        self.depth += 1;
        let result = stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.climb(least));
        self.depth -= 1;
        result
    }

    fn climb(&mut self, least: u8) -> Result<ExpressionId> {
        let start = self.token().start;
        let mut left = self.operand()?;
        loop {
            let kind = self.peek();
            let starts_anew = matches!(kind, Kind::Less | Kind::Minus) && self.at_new_line();
            if starts_anew || (kind == Kind::Greater && self.closes_sequence()) {
                return Ok(left);
            }
            if let Some(operator) = binary_operator(kind) {
                let (own, right_level) = levels(operator);
                if own < least {
                    return Ok(left);
                }
                self.advance();
                let right = self.part(right_level, start, |_, right| Expression::Binary { operator, left, right })?;
                left = self.add(Expression::Binary { operator, left, right }, start);
                continue;
            }
            left = match kind {
                Kind::Arrow | Kind::Question | Kind::Exclamation | Kind::Dollar if least <= level::PREFIX => {
                    self.prefix(left, start)?
                }
                Kind::OpenSquare if self.asserting && self.mend_assertion() => continue,
                Kind::OpenEvents | Kind::OpenSquare if least <= level::PARALLEL => self.parallel(left, start)?,
                Kind::OpenSyncChoice if least <= level::SYNC_CHOICE => {
                    let right_level = level::SYNC_CHOICE + 1;
                    self.synchronised(SynchronisedOperator::ExternalChoice, left, right_level, start)?
                }
                Kind::OpenSyncInterrupt if least <= level::SYNC_INTERRUPT => {
                    let right_level = level::SYNC_INTERRUPT + 1;
                    self.synchronised(SynchronisedOperator::Interrupt, left, right_level, start)?
                }
                Kind::AtAt if least <= level::BOTH => {
                    self.advance();
                    let right = self.expression(level::BOTH + 1);
                    let right = self.dropping(right)?;
                    self.add(Expression::Both(left, right), start)
                }
                _ => return Ok(left),
            };
        }
    }

    /// Whether the `>` that comes next closes a sequence. It compares if none is open, or if a value follows on the
    /// line.
    pub(super) fn closes_sequence(&self) -> bool {
        let next = self.tokens[(self.at + 1).min(self.tokens.len() - 1)];
        let compares = next.kind.only_starts_expression() || next.kind == Kind::OpenRound;
        self.sequences > 0 && (next.after_newline || !compares)
    }

    fn prefix(&mut self, channel: ExpressionId, start: u32) -> Result<ExpressionId> {
        let mut fields = Vec::new();
        let said = self.session.diagnostics.len();
        loop {
            let kind = self.peek();
            match kind {
                Kind::Arrow => break,
                Kind::Exclamation => {
                    self.advance();
                    let value = self.expression(level::FIELD);
                    fields.push(Field::Output(self.keeping(&[channel], value)?));
                }
                Kind::Question | Kind::Dollar => {
                    self.advance();
                    let pattern = self.field_pattern();
                    let pattern = self.keeping(&[channel], pattern)?;
                    let mut set = None;
                    if self.accept(Kind::Colon) {
                        let values = self.expression(level::FIELD_SET);
                        set = Some(self.keeping(&[channel], values)?);
                    }
                    let input = if kind == Kind::Question { Field::Input } else { Field::Choice };
                    fields.push(input(pattern, set));
                }
                _ => {
                    // `c?x (P)` takes `x(P)` for a pattern, but that is not the mistake.
                    self.session.diagnostics.truncate(said);
                    let complaint = self.complaint(codes::NO_PREFIX, "`->` after the communication");
                    let complaint = match kind {
                        Kind::Dot => complaint.help("put the set after `:` in brackets"),
                        _ if complaint.help.is_some() => complaint,
                        _ => complaint.help("write `->` and a process after a communication"),
                    };
                    let values = fields.iter().filter_map(|field| match *field {
                        Field::Output(value) => Some(value),
                        _ => None,
                    });
                    self.read = std::iter::once(channel).chain(values).collect();
                    return Err(self.complain(complaint));
                }
            }
        }
        self.advance();
        let process = self.part(level::PREFIX, start, |parser, process| {
            let fields = parser.tree.add_list(fields.clone());
            Expression::Prefix { channel, fields, process }
        })?;
        let fields = self.tree.add_list(fields);
        Ok(self.add(Expression::Prefix { channel, fields, process }, start))
    }

    /// `x@@y` needs no brackets in a field.
    fn field_pattern(&mut self) -> Result<PatternId> {
        let start = self.token().start;
        let mark = self.tree.mark();
        let expression = self.expression(level::FIELD);
        let mut expression = self.dropping(expression)?;
        while self.accept(Kind::AtAt) {
            let right = self.expression(level::FIELD);
            let right = self.dropping(right)?;
            expression = self.add(Expression::Both(expression, right), start);
        }
        Ok(self.pattern_from(expression, mark))
    }

    fn synchronised(
        &mut self,
        operator: SynchronisedOperator,
        left: ExpressionId,
        right_level: u8,
        start: u32,
    ) -> Result<ExpressionId> {
        let open = self.advance();
        let closing = open.kind.closing().unwrap_or(Kind::End);
        let events = self.events(operator, left, start, (open, closing))?;
        let around = |_: &mut Self, right| Expression::Synchronised { operator, left, events, right };
        let right = self.part(right_level, start, around)?;
        Ok(self.add(Expression::Synchronised { operator, left, events, right }, start))
    }

    /// Reads the events of an operator and the bracket behind them.
    fn events(
        &mut self,
        operator: SynchronisedOperator,
        left: ExpressionId,
        start: u32,
        (open, closing): (super::Token, Kind),
    ) -> Result<ExpressionId> {
        let events = self.inside(|parser| parser.expression(0)).and_then(|events| {
            let exception = closing == Kind::CloseEvents && self.peek() == Kind::CloseException;
            let closed = if exception { Ok(()) } else { self.close(open, closing) };
            self.keeping(&[events], closed)?;
            Ok(events)
        });
        events.inspect_err(|_| {
            let rest = self.rest();
            self.keep_around(rest, start, |parser, events| {
                let right = parser.unread();
                Expression::Synchronised { operator, left, events, right }
            });
        })
    }

    fn parallel(&mut self, left: ExpressionId, start: u32) -> Result<ExpressionId> {
        let right_level = level::PARALLEL + 1;
        let open = self.advance();
        if open.kind == Kind::OpenEvents {
            let parallel = SynchronisedOperator::Parallel;
            let first = self.events(parallel, left, start, (open, Kind::CloseEvents))?;
            let exception = self.accept(Kind::CloseException);
            let operator = if exception { SynchronisedOperator::Exception } else { parallel };
            let around = |_: &mut Self, right| Expression::Synchronised { operator, left, events: first, right };
            let right = self.part(right_level, start, around)?;
            return Ok(self.add(Expression::Synchronised { operator, left, events: first, right }, start));
        }
        let first = self.inside(|parser| parser.expression(0));
        let first = self.keeping(&[left], first)?;
        if self.peek() == Kind::Tie {
            let tied = self.inside(|parser| parser.ties(first));
            let (ties, statements) = self.keeping(&[left], tied)?;
            let closed = self.close(open, Kind::CloseSquare);
            self.keeping(&[left], closed)?;
            let around = |_: &mut Self, right| Expression::Link { left, ties, statements, right };
            let right = self.part(right_level, start, around)?;
            return Ok(self.add(Expression::Link { left, ties, statements, right }, start));
        }
        if self.peek() != Kind::Parallel {
            let failed = self.unexpected(codes::TOKEN_EXPECTED, "`||` or `<->`");
            return self.keeping(&[left, first], Err(failed));
        }
        self.advance();
        let second = self.inside(|parser| parser.expression(0));
        let second = self.keeping(&[left, first], second)?;
        let closed = self.close(open, Kind::CloseSquare);
        self.keeping(&[left, first, second], closed)?;
        let node = |right| Expression::Alphabetised { left, left_alphabet: first, right_alphabet: second, right };
        let right = self.part(right_level, start, |_, right| node(right))?;
        Ok(self.add(node(right), start))
    }

    /// Reads the rest of `a <-> b, c <-> d | x <- S`, after `a`.
    pub(super) fn ties(&mut self, first: ExpressionId) -> Result<(List<Pair>, List<Statement>)> {
        self.expect(Kind::Tie)?;
        let mut ties = vec![Pair(first, self.expression(0)?)];
        while self.accept(Kind::Comma) {
            let left = self.expression(0)?;
            self.expect(Kind::Tie)?;
            ties.push(Pair(left, self.expression(0)?));
        }
        let ties = self.tree.add_list(ties);
        Ok((ties, self.statements_after_bar()?))
    }

    /// Reads an operand with the arguments and renamings after it.
    fn operand(&mut self) -> Result<ExpressionId> {
        let token = self.token();
        let start = token.start;
        let mut operand = match token.kind {
            Kind::Not => return self.unary(UnaryOperator::Not, level::NOT + 1),
            Kind::Minus => return self.unary(UnaryOperator::Negate, level::NEGATE + 1),
            Kind::Hash => return self.unary(UnaryOperator::Length, level::LENGTH + 1),
            Kind::If => return self.conditional(),
            Kind::Let => return self.local(),
            Kind::Backslash => return self.lambda(),
            Kind::Interleave
            | Kind::ExternalChoice
            | Kind::InternalChoice
            | Kind::Semicolon
            | Kind::Parallel
            | Kind::OpenEvents
            | Kind::OpenSyncChoice
            | Kind::OpenSquare => return self.replicated(),
            _ => self.atom()?,
        };
        loop {
            operand = match self.peek() {
                Kind::OpenRound if !self.at_new_line() => self.application(operand, start)?,
                Kind::OpenRename => self.renaming(operand, start)?,
                _ => return Ok(operand),
            }
        }
    }

    fn atom(&mut self) -> Result<ExpressionId> {
        let token = self.token();
        let node: Expression<Symbol> = match token.kind {
            Kind::Name => Expression::Name(self.symbol_of(token)),
            Kind::Integer => Expression::Integer(self.number(token)),
            Kind::True => Expression::Boolean(true),
            Kind::False => Expression::Boolean(false),
            Kind::Wildcard => Expression::Wildcard,
            Kind::Character => {
                let text = unescape(self.inner(token));
                Expression::Character(text.chars().next().unwrap_or('\u{fffd}'))
            }
            Kind::String => {
                let text = unescape(self.inner(token));
                Expression::String(self.tree.names.intern(&text))
            }
            Kind::OpenRound => return self.round(),
            Kind::OpenBrace => return self.collection(CollectionKind::Set),
            Kind::OpenProductions => return self.collection(CollectionKind::Productions),
            Kind::Less => return self.collection(CollectionKind::Sequence),
            Kind::LeftArrow => {
                // `<-1, 2>`: the longest token was too long.
                let split = &mut self.tokens[self.at];
                (split.kind, split.end) = (Kind::Less, token.start + 1);
                let minus = super::Token { kind: Kind::Minus, after_newline: false, start: token.start + 1, ..token };
                self.tokens.insert(self.at + 1, minus);
                return self.collection(CollectionKind::Sequence);
            }
            Kind::OpenMap => return self.map(),
            _ => return Err(self.unexpected(codes::EXPRESSION_EXPECTED, "an expression")),
        };
        self.advance();
        Ok(self.add(node, token.start))
    }

    /// A literal without its quotes.
    fn inner(&self, token: super::Token) -> &str {
        let text = self.text_of(token);
        &text[1..text.len() - 1]
    }

    fn number(&mut self, token: super::Token) -> u32 {
        match self.text_of(token).parse::<u32>() {
            Ok(number) if number <= 1 << 31 => number,
            _ => {
                let message = "this number does not fit in 32 bits";
                let place = Place::Span(self.span_of(token));
                self.report(Diagnostic::error(codes::BIG_NUMBER, message, place));
                0
            }
        }
    }

    fn unary(&mut self, operator: UnaryOperator, operand_level: u8) -> Result<ExpressionId> {
        let start = self.advance().start;
        let operand = self.part(operand_level, start, |_, operand| Expression::Unary { operator, operand })?;
        Ok(self.add(Expression::Unary { operator, operand }, start))
    }

    fn conditional(&mut self) -> Result<ExpressionId> {
        let word = self.advance();
        let condition = self.expression(0)?;
        let followed = self.expect(Kind::Then).map(drop);
        self.keeping(&[condition], followed)?;
        let then = self.part(0, word.start, |parser, then| {
            let otherwise = parser.unread();
            Expression::If { condition, then, otherwise }
        })?;
        let otherwise = if self.accept(Kind::Else) {
            self.part(0, word.start, |_, otherwise| Expression::If { condition, then, otherwise })?
        } else {
            self.missing_else(word).inspect_err(|_| {
                // The text may go on behind what was read of the branch.
                let then = self.broken(vec![then], word.start);
                let otherwise = self.unread();
                self.keep_around(then, word.start, |_, then| Expression::If { condition, then, otherwise });
            })?
        };
        Ok(self.add(Expression::If { condition, then, otherwise }, word.start))
    }

    /// Reports an `if` without `else`. When the `if` ends here, what was read of it stands.
    fn missing_else(&mut self, word: super::Token) -> Result<ExpressionId> {
        let complaint = self.complaint(codes::TOKEN_EXPECTED, "`else`");
        let complaint = complaint.also(Place::Span(self.span_of(word)), "this `if` needs an `else`");
        let help = "write an `else` branch, such as `else STOP`, or a guard, `condition & P`, instead of the `if`";
        let token = self.token();
        if self.is_foreign(token, &["endif", "fi"]) {
            let help = format!("CSPM has no {}; write an `else` branch, such as `else STOP`", self.shown(token));
            self.complain(complaint.help(help));
            self.advance();
            return Ok(self.unread());
        }
        let failed = self.complain(if complaint.help.is_none() { complaint.help(help) } else { complaint });
        let ends = matches!(token.kind, Kind::CloseRound | Kind::CloseBrace | Kind::Comma | Kind::Within | Kind::End);
        if !(ends || self.at_declaration()) {
            return Err(failed);
        }
        Ok(self.unread())
    }

    fn lambda(&mut self) -> Result<ExpressionId> {
        let start = self.advance().start;
        let said = self.session.diagnostics.len();
        let parameters = self.separated(|parser| parser.pattern(0))?;
        if self.peek() != Kind::At {
            // `\\ x -> e` and its like are no patterns, but that is not the mistake.
            self.session.diagnostics.truncate(said);
        }
        self.expect_at("write a function as `\\ x @ e`")?;
        let body = self.part(0, start, |parser, body| {
            let parameters = parser.tree.add_list(parameters.clone());
            Expression::Lambda { parameters, body }
        })?;
        let parameters = self.tree.add_list(parameters);
        Ok(self.add(Expression::Lambda { parameters, body }, start))
    }

    fn replicated(&mut self) -> Result<ExpressionId> {
        let open = self.advance();
        let operator = match open.kind {
            Kind::Interleave => Replication::Interleave,
            Kind::ExternalChoice => Replication::ExternalChoice,
            Kind::InternalChoice => Replication::InternalChoice,
            Kind::Semicolon => Replication::Sequential,
            Kind::Parallel => return self.replicated_alphabetised(open.start),
            Kind::OpenEvents => {
                let events = self.inside(|parser| parser.expression(0))?;
                self.close(open, Kind::CloseEvents)?;
                Replication::Parallel(events)
            }
            Kind::OpenSyncChoice => {
                let events = self.inside(|parser| parser.expression(0))?;
                self.close(open, Kind::CloseSyncChoice)?;
                Replication::SynchronisingChoice(events)
            }
            _ => {
                let first = self.inside(|parser| parser.expression(0))?;
                let (ties, statements) = self.inside(|parser| parser.ties(first))?;
                self.close(open, Kind::CloseSquare)?;
                Replication::Link(ties, statements)
            }
        };
        let statements = self.separated(Self::statement);
        let statements = self.dropping(statements)?;
        let statements = self.tree.add_list(statements);
        let around = |_: &mut Self, body| Expression::Replicated { operator, statements, body };
        if let Err(failed) = self.expect_at("write `@` between the generators and the process") {
            // Without a generator nothing is known of the names.
            if let Some(Statement::Generator { .. }) = self.tree.list(statements).first() {
                let body = self.unread();
                self.keep_around(body, open.start, around);
            }
            return Err(failed);
        }
        let body = self.part(0, open.start, around)?;
        Ok(self.add(Expression::Replicated { operator, statements, body }, open.start))
    }

    fn expect_at(&mut self, help: &str) -> Result<()> {
        if self.accept(Kind::At) {
            return Ok(());
        }
        let complaint = self.complaint(codes::TOKEN_EXPECTED, Kind::At.shown()).help(help);
        Err(self.complain(complaint))
    }

    fn replicated_alphabetised(&mut self, start: u32) -> Result<ExpressionId> {
        let statements = self.separated(Self::statement);
        let statements = self.dropping(statements)?;
        let statements = self.tree.add_list(statements);
        self.expect_at("write `|| x : S @ [A] P`, where `A` is the alphabet of `P`")?;
        let open = self.expect(Kind::OpenSquare)?;
        let alphabet = self.inside(|parser| parser.expression(0))?;
        self.close(open, Kind::CloseSquare)?;
        let operator = Replication::Alphabetised(alphabet);
        let around = |_: &mut Self, body| Expression::Replicated { operator, statements, body };
        let body = self.part(level::PARALLEL + 1, start, around)?;
        Ok(self.add(Expression::Replicated { operator, statements, body }, start))
    }
}
