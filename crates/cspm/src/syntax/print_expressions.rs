//! Expressions and patterns as text.

use super::parser::{level, levels};
use super::printer::{LINE, Place, Printer, Shown, Work};
use super::store::List;
use super::tree::*;

pub(super) fn binary_text(operator: BinaryOperator) -> &'static str {
    use BinaryOperator::*;
    match operator {
        Hide => " \\ ",
        Project => " |\\ ",
        Interleave => " ||| ",
        InternalChoice => " |~| ",
        ExternalChoice => " [] ",
        Interrupt => " /\\ ",
        SlidingChoice => " [> ",
        Sequential => "; ",
        Guard => " & ",
        Dot => ".",
        Or => " or ",
        And => " and ",
        Equal => " == ",
        NotEqual => " != ",
        Less => " < ",
        LessOrEqual => " <= ",
        Greater => " > ",
        GreaterOrEqual => " >= ",
        Add => " + ",
        Subtract => " - ",
        Multiply => " * ",
        Divide => " / ",
        Remainder => " % ",
        Concatenate => " ^ ",
    }
}

/// Whether the operator may start a line anywhere.
fn may_lead(operator: BinaryOperator) -> bool {
    use BinaryOperator::*;
    !matches!(operator, Less | Subtract | Greater | Dot)
}

/// The same at the start of a line.
fn leading_text(operator: BinaryOperator) -> Option<&'static str> {
    use BinaryOperator::*;
    Some(match operator {
        Interleave => "||| ",
        InternalChoice => "|~| ",
        ExternalChoice => "[] ",
        Interrupt => "/\\ ",
        SlidingChoice => "[> ",
        Sequential => "; ",
        Hide => "\\ ",
        Project => "|\\ ",
        _ => return None,
    })
}

impl Printer<'_> {
    pub(super) fn expression(&mut self, shown: Shown) {
        let node = *self.tree.expression(shown.id);
        let span = self.tree.expression_span(shown.id);
        self.comments_inside(span, shown.indent);
        if let Some((pairs, inner)) = self.tree.expression_brackets.around(shown.id.index()) {
            let close = Work::Token { text: ")", before: Place::end_of(span), indent: shown.indent };
            for _ in 0..pairs {
                self.text("(");
                self.then(vec![close]);
            }
            self.comments_inside(inner, shown.indent);
            return self.node(node, Shown::free(shown.id, shown.indent));
        }
        if self.needs_brackets(&node, shown) {
            self.text("(");
            self.then(vec![Work::Text(")")]);
            return self.node(node, Shown::free(shown.id, shown.indent));
        }
        self.node(node, shown);
    }

    /// A token that stands before an expression.
    pub(super) fn token_before(&self, text: &'static str, id: ExpressionId, indent: u32) -> Work {
        Work::Token { text, before: Place::start_of(self.tree.expression_span(id)), indent }
    }

    /// The comments before a token that stands before an expression.
    fn comments_to(&self, id: ExpressionId, indent: u32) -> Work {
        Work::Comments(Place::start_of(self.tree.expression_span(id)), indent)
    }

    /// A bracket that closes an expression.
    fn closing(&self, text: &'static str, shown: Shown) -> Work {
        let span = match self.tree.expression_brackets.around(shown.id.index()) {
            Some((_, inner)) => inner,
            None => self.tree.expression_span(shown.id),
        };
        Work::Token { text, before: Place::end_of(span), indent: shown.indent }
    }

    fn needs_brackets(&self, node: &Expression<super::names::Symbol>, shown: Shown) -> bool {
        let own = match *node {
            // These reach as far right as they can.
            Expression::If { .. } | Expression::Lambda { .. } | Expression::Replicated { .. } => {
                return shown.followed;
            }
            Expression::Let { .. } => return shown.followed || shown.sequence,
            Expression::Binary { operator: BinaryOperator::Greater, right, .. }
                if shown.sequence && !self.is_compared_with(right) =>
            {
                return true;
            }
            Expression::Binary { operator, .. } => levels(operator).0,
            Expression::Unary { operator: UnaryOperator::Not, .. } => level::NOT,
            Expression::Unary { operator: UnaryOperator::Negate, .. } => level::NEGATE,
            Expression::Unary { operator: UnaryOperator::Length, .. } => level::LENGTH,
            Expression::Synchronised { operator, .. } => match operator {
                SynchronisedOperator::Parallel | SynchronisedOperator::Exception => level::PARALLEL,
                SynchronisedOperator::ExternalChoice => level::SYNC_CHOICE,
                SynchronisedOperator::Interrupt => level::SYNC_INTERRUPT,
            },
            Expression::Alphabetised { .. } | Expression::Link { .. } => level::PARALLEL,
            Expression::Prefix { .. } => level::PREFIX,
            Expression::Apply { .. } | Expression::Rename { .. } => level::APPLY,
            Expression::Both(..) => level::BOTH,
            _ => level::ATOM,
        };
        own < shown.least
    }

    /// Whether a `>` before this expression compares even inside a sequence: its first token cannot follow a sequence,
    /// and no comment puts it on another line.
    fn is_compared_with(&self, id: ExpressionId) -> bool {
        let mut first = id;
        let starts = loop {
            if self.tree.expression_brackets.around(first.index()).is_some() {
                break true;
            }
            first = match *self.tree.expression(first) {
                Expression::Name(_) | Expression::Integer(_) | Expression::Boolean(_) => break true,
                Expression::Character(_) | Expression::String(_) | Expression::Map(_) | Expression::Tuple(_) => {
                    break true;
                }
                Expression::Collection { kind, .. } => break kind != CollectionKind::Sequence,
                Expression::Unary { operator, .. } => break operator == UnaryOperator::Length,
                Expression::Binary { left, .. } => left,
                Expression::Apply { function, .. } => function,
                _ => break false,
            };
        };
        starts && !self.comments_wait_before(self.tree.expression_span(id))
    }

    fn node(&mut self, node: Expression<super::names::Symbol>, shown: Shown) {
        use Work::{Expression as Show, Line, Text};
        let wide = self.widths.of(shown.id) + shown.indent > LINE;
        let indent = shown.indent;
        match node {
            Expression::Error(_) | Expression::Wildcard => self.text("_"),
            Expression::Name(name) => self.text(self.tree.names.text(name)),
            Expression::Integer(number) => self.text(&number.to_string()),
            Expression::Boolean(value) => self.text(if value { "true" } else { "false" }),
            Expression::Character(value) => self.quoted(value.encode_utf8(&mut [0; 4]), '\''),
            Expression::String(value) => self.then(vec![Work::Quoted(value)]),
            Expression::Unary { operator, operand } => {
                let (text, least) = match operator {
                    UnaryOperator::Not => ("not ", level::NOT + 1),
                    UnaryOperator::Negate => ("-", level::NEGATE + 1),
                    UnaryOperator::Length => ("#", level::LENGTH + 1),
                };
                self.then(vec![Text(text), Show(shown.last(operand, least))]);
            }
            Expression::Binary { operator, left, right } => {
                let (own, right_level) = levels(operator);
                let left_level = match operator {
                    BinaryOperator::Dot | BinaryOperator::Guard => own + 1,
                    _ if own == level::COMPARE => own + 1,
                    _ => own,
                };
                let before = self.comments_to(right, indent);
                let token = match may_lead(operator) {
                    true => self.token_before(binary_text(operator), right, indent),
                    false => Text(binary_text(operator)),
                };
                let (left, right) = (Show(shown.before(left, left_level)), Show(shown.last(right, right_level)));
                match leading_text(operator) {
                    Some(text) if wide => self.then(vec![left, before, Line(indent), Text(text), right]),
                    _ => self.then(vec![left, token, right]),
                }
            }
            Expression::Synchronised { operator, left, events, right } => {
                let (open, close, own, left_level) = match operator {
                    SynchronisedOperator::Parallel => ("[|", "|]", level::PARALLEL, level::PARALLEL + 1),
                    SynchronisedOperator::Exception => ("[|", "|>", level::PARALLEL, level::PARALLEL + 1),
                    SynchronisedOperator::ExternalChoice => ("[+", "+]", level::SYNC_CHOICE, level::SYNC_CHOICE),
                    SynchronisedOperator::Interrupt => ("/+", "+\\", level::SYNC_INTERRUPT, level::SYNC_INTERRUPT),
                };
                let close = self.token_before(close, right, indent);
                let middle = vec![Text(open), Show(Shown::free(events, indent)), close];
                self.around(
                    shown,
                    left,
                    left_level,
                    (middle, Place::start_of(self.tree.expression_span(events))),
                    right,
                    own + 1,
                    wide,
                );
            }
            Expression::Alphabetised { left, left_alphabet, right_alphabet, right } => {
                let middle = vec![
                    Text("["),
                    Show(Shown::free(left_alphabet, indent)),
                    self.token_before(" || ", right_alphabet, indent),
                    Show(Shown::free(right_alphabet, indent)),
                    self.token_before("]", right, indent),
                ];
                let least = level::PARALLEL + 1;
                let inside = Place::start_of(self.tree.expression_span(left_alphabet));
                self.around(shown, left, least, (middle, inside), right, least, wide);
            }
            Expression::Link { left, ties, statements, right } => {
                let mut middle = vec![Text("[")];
                self.pairs(&mut middle, ties, " <-> ", shown);
                self.statements(&mut middle, statements, shown);
                middle.push(self.token_before("]", right, indent));
                let least = level::PARALLEL + 1;
                let first = self.tree.list(ties).first().map_or(right, |tie| tie.0);
                let inside = Place::start_of(self.tree.expression_span(first));
                self.around(shown, left, least, (middle, inside), right, least, wide);
            }
            Expression::Rename { process, renames, statements } => {
                let mut work = vec![Show(shown.before(process, level::APPLY))];
                if let Some(first) = self.tree.list(renames).first() {
                    work.push(self.comments_to(first.0, indent));
                }
                if wide {
                    work.push(Line(shown.indented().indent));
                }
                work.push(Text("[["));
                self.pairs(&mut work, renames, " <- ", shown);
                self.statements(&mut work, statements, shown);
                work.push(self.closing("]]", shown));
                self.then(work);
            }
            Expression::Prefix { channel, fields, process } => {
                let mut work = vec![Show(shown.before(channel, level::FIELD))];
                for &field in self.tree.list(fields) {
                    let (mark, pattern, set) = match field {
                        Field::Output(value) => {
                            work.extend([Text("!"), Show(shown.before(value, level::FIELD))]);
                            continue;
                        }
                        Field::Input(pattern, set) => ("?", pattern, set),
                        Field::Choice(pattern, set) => ("$", pattern, set),
                    };
                    work.extend([Text(mark), Work::Pattern(pattern, level::FIELD)]);
                    if let Some(set) = set {
                        work.extend([Text(":"), Show(shown.before(set, level::FIELD_SET))]);
                    }
                }
                work.push(self.token_before(if wide { " ->" } else { " -> " }, process, indent));
                if wide {
                    work.push(Line(indent));
                }
                work.push(Show(shown.last(process, level::PREFIX)));
                self.then(work);
            }
            Expression::Apply { function, arguments } => {
                // A `>` right before `(` would compare.
                let sequence = matches!(
                    self.tree.expression(function),
                    Expression::Collection { kind: CollectionKind::Sequence, .. }
                ) && self.tree.expression_brackets.around(function.index()).is_none();
                let mut work = match sequence {
                    true => vec![Text("("), Show(Shown::free(function, indent)), Text(")(")],
                    false => vec![Show(shown.before(function, level::APPLY)), Text("(")],
                };
                self.all(&mut work, arguments, Shown::free(shown.id, indent));
                work.push(self.closing(")", shown));
                self.then(work);
            }
            Expression::Tuple(items) => {
                let mut work = vec![Text("(")];
                self.all(&mut work, items, Shown::free(shown.id, indent));
                work.push(self.closing(")", shown));
                self.then(work);
            }
            Expression::Collection { kind, items, statements } => self.collection(kind, items, statements, shown),
            Expression::Map(entries) => {
                let mut work = vec![Text("(| ")];
                self.pairs(&mut work, entries, " => ", shown);
                work.push(self.closing(" |)", shown));
                self.then(work);
            }
            Expression::If { condition, then, otherwise } => {
                let inner = shown.indented();
                let work = if wide {
                    let word = self.token_before(" then", then, indent);
                    let mut work = vec![Text("if "), Show(inner.among(condition)), word, Line(inner.indent)];
                    let comments = self.comments_to(otherwise, inner.indent);
                    work.extend([Show(inner.among(then)), comments, Line(indent), Text("else")]);
                    // `else if` goes on at the same depth.
                    match self.tree.expression(otherwise) {
                        Expression::If { .. } => work.extend([Text(" "), Show(shown.among(otherwise))]),
                        _ => work.extend([Line(inner.indent), Show(inner.among(otherwise))]),
                    }
                    work
                } else {
                    let words =
                        (self.token_before(" then ", then, indent), self.token_before(" else ", otherwise, indent));
                    let (yes, no) = (Show(shown.among(then)), Show(shown.among(otherwise)));
                    vec![Text("if "), Show(shown.among(condition)), words.0, yes, words.1, no]
                };
                self.then(work);
            }
            Expression::Let { declarations, body } => {
                let inner = shown.indented();
                let mut work = vec![Text("let")];
                let list = self.tree.list(declarations);
                work.extend(list.iter().map(|&id| Work::Declaration(id, inner.indent)));
                work.push(self.comments_to(body, inner.indent));
                work.extend([Line(indent), Text("within"), Line(inner.indent), Show(inner.among(body))]);
                self.then(work);
            }
            Expression::Lambda { parameters, body } => {
                let mut work = vec![Text("\\ ")];
                self.patterns(&mut work, parameters, indent);
                work.extend([self.token_before(" @ ", body, indent), Show(shown.among(body))]);
                self.then(work);
            }
            Expression::Replicated { operator, statements, body } => {
                self.replicated(operator, statements, body, shown, wide);
            }
            Expression::Both(left, right) => {
                let right = Show(shown.last(right, level::BOTH + 1));
                self.then(vec![Show(shown.before(left, level::BOTH)), Text(" @@ "), right]);
            }
        }
    }

    /// Two operands with something between them.
    #[allow(clippy::too_many_arguments)]
    fn around(
        &mut self,
        shown: Shown,
        left: ExpressionId,
        left_level: u8,
        (middle, inside): (Vec<Work>, Place),
        right: ExpressionId,
        right_level: u8,
        wide: bool,
    ) {
        let mut work = vec![Work::Expression(shown.before(left, left_level))];
        work.push(match wide {
            true => Work::Comments(inside, shown.indent),
            false => Work::Token { text: " ", before: inside, indent: shown.indent },
        });
        if wide {
            work.push(Work::Line(shown.indent));
        }
        work.extend(middle);
        work.push(if wide { Work::Line(shown.indent) } else { Work::Text(" ") });
        work.push(Work::Expression(shown.last(right, right_level)));
        self.then(work);
    }

    fn collection(&mut self, kind: CollectionKind, items: Items, statements: List<Statement>, shown: Shown) {
        let (open, close) = match kind {
            CollectionKind::Sequence => ("<", ">"),
            CollectionKind::Set => ("{", "}"),
            CollectionKind::Productions => ("{|", "|}"),
        };
        let inner = Shown { sequence: kind == CollectionKind::Sequence, ..Shown::free(shown.id, shown.indent) };
        let mut work = vec![Work::Text(open)];
        match items {
            Items::Listed(items) => self.all(&mut work, items, inner),
            Items::From(first) => work.extend([Work::Expression(inner.among(first)), Work::Text("..")]),
            Items::Range(first, last) => {
                let dots = self.token_before("..", last, inner.indent);
                let (first, last) = (inner.among(first), inner.among(last));
                work.extend([Work::Expression(first), dots, Work::Expression(last)]);
            }
        }
        self.statements(&mut work, statements, inner);
        work.push(self.closing(close, shown));
        self.then(work);
    }

    fn replicated(
        &mut self,
        operator: Replication,
        statements: List<Statement>,
        body: ExpressionId,
        shown: Shown,
        wide: bool,
    ) {
        let free = |id| Work::Expression(Shown::free(id, shown.indent));
        let mut alphabet = None;
        let mut work = match operator {
            Replication::Interleave => vec![Work::Text("||| ")],
            Replication::ExternalChoice => vec![Work::Text("[] ")],
            Replication::InternalChoice => vec![Work::Text("|~| ")],
            Replication::Sequential => vec![Work::Text("; ")],
            Replication::Parallel(events) => vec![Work::Text("[|"), free(events), Work::Text("|] ")],
            Replication::SynchronisingChoice(events) => vec![Work::Text("[+"), free(events), Work::Text("+] ")],
            Replication::Alphabetised(events) => {
                alphabet = Some(events);
                vec![Work::Text("|| ")]
            }
            Replication::Link(ties, conditions) => {
                let mut work = vec![Work::Text("[")];
                self.pairs(&mut work, ties, " <-> ", shown);
                self.statements(&mut work, conditions, shown);
                work.push(Work::Text("] "));
                work
            }
        };
        self.listed_statements(&mut work, statements, " : ", shown);
        work.push(self.token_before(" @", alphabet.unwrap_or(body), shown.indent));
        let mut least = 0;
        if let Some(alphabet) = alphabet {
            let close = self.token_before("]", body, shown.indent);
            work.extend([Work::Text(" ["), free(alphabet), close]);
            least = level::PARALLEL + 1;
        }
        let inner = if wide { shown.indented() } else { shown };
        work.push(if wide { Work::Line(inner.indent) } else { Work::Text(" ") });
        work.push(Work::Expression(Shown { followed: false, ..inner.last(body, least) }));
        self.then(work);
    }

    /// `a, b, c` in brackets that `inner` describes.
    pub(super) fn all(&self, work: &mut Vec<Work>, items: List<ExpressionId>, inner: Shown) {
        for (at, &item) in self.tree.list(items).iter().enumerate() {
            if at > 0 {
                work.push(self.token_before(", ", item, inner.indent));
            }
            work.push(Work::Expression(inner.among(item)));
        }
    }

    /// Pairs stand in brackets that are no sequence.
    fn pairs(&self, work: &mut Vec<Work>, pairs: List<Pair>, between: &'static str, shown: Shown) {
        for (at, pair) in self.tree.list(pairs).iter().enumerate() {
            if at > 0 {
                work.push(self.token_before(", ", pair.0, shown.indent));
            }
            let between = self.token_before(between, pair.1, shown.indent);
            let (left, right) = (Shown::free(pair.0, shown.indent), Shown::free(pair.1, shown.indent));
            work.extend([Work::Expression(left), between, Work::Expression(right)]);
        }
    }

    fn statements(&self, work: &mut Vec<Work>, statements: List<Statement>, inner: Shown) {
        if let Some(first) = self.tree.list(statements).first() {
            work.push(self.token_before_statement(" | ", first, inner.indent));
            self.listed_statements(work, statements, " <- ", inner);
        }
    }

    fn token_before_statement(&self, text: &'static str, statement: &Statement, indent: u32) -> Work {
        let span = match *statement {
            Statement::Generator { pattern, .. } => self.tree.pattern_span(pattern),
            Statement::Condition(condition) => self.tree.expression_span(condition),
        };
        Work::Token { text, before: Place::start_of(span), indent }
    }

    fn listed_statements(&self, work: &mut Vec<Work>, list: List<Statement>, from: &'static str, inner: Shown) {
        for (at, &statement) in self.tree.list(list).iter().enumerate() {
            if at > 0 {
                work.push(self.token_before_statement(", ", &statement, inner.indent));
            }
            match statement {
                Statement::Generator { pattern, set } => {
                    let from = self.token_before(from, set, inner.indent);
                    work.extend([Work::Pattern(pattern, 0), from, Work::Expression(inner.among(set))]);
                }
                Statement::Condition(condition) => work.push(Work::Expression(inner.among(condition))),
            }
        }
    }

    pub(super) fn patterns(&self, work: &mut Vec<Work>, items: List<PatternId>, indent: u32) {
        for (at, &item) in self.tree.list(items).iter().enumerate() {
            let before = Place::start_of(self.tree.pattern_span(item));
            if at > 0 {
                work.push(Work::Token { text: ", ", before, indent });
            }
            work.extend([Work::CommentsInside(self.tree.pattern_span(item), indent), Work::Pattern(item, 0)]);
        }
    }

    pub(super) fn pattern(&mut self, id: PatternId, least: u8) {
        let node = *self.tree.pattern(id);
        let own = match node {
            Pattern::Both(..) => level::BOTH,
            Pattern::Dot(..) => level::DOT,
            Pattern::Integer(number) if number < 0 => level::NEGATE,
            Pattern::Concatenate(..) => level::CONCATENATE,
            _ => level::ATOM,
        };
        let pairs = self.tree.pattern_brackets.around(id.index()).map_or(u32::from(own < least), |(pairs, _)| pairs);
        for _ in 0..pairs {
            self.text("(");
            self.then(vec![Work::Text(")")]);
        }
        let two = |left, left_level, text, right, right_level| {
            vec![Work::Pattern(left, left_level), Work::Text(text), Work::Pattern(right, right_level)]
        };
        match node {
            Pattern::Error(_) | Pattern::Wildcard => self.text("_"),
            Pattern::Name(name) => self.text(self.tree.names.text(name)),
            Pattern::Integer(number) => self.text(&number.to_string()),
            Pattern::Boolean(value) => self.text(if value { "true" } else { "false" }),
            Pattern::Character(value) => self.quoted(value.encode_utf8(&mut [0; 4]), '\''),
            Pattern::String(value) => self.then(vec![Work::Quoted(value)]),
            Pattern::Tuple(items) => self.bracketed_patterns("(", items, ")"),
            Pattern::Set(items) => self.bracketed_patterns("{", items, "}"),
            Pattern::Sequence(items) => self.bracketed_patterns("<", items, ">"),
            Pattern::Concatenate(left, right) => {
                self.then(two(left, level::CONCATENATE, "^", right, level::CONCATENATE + 1));
            }
            Pattern::Dot(left, right) => self.then(two(left, level::DOT + 1, ".", right, level::DOT)),
            Pattern::Both(left, right) => self.then(two(left, level::BOTH, " @@ ", right, level::BOTH + 1)),
        }
    }

    fn bracketed_patterns(&mut self, open: &'static str, items: List<PatternId>, close: &'static str) {
        let mut work = vec![Work::Text(open)];
        self.patterns(&mut work, items, 0);
        work.push(Work::Text(close));
        self.then(work);
    }
}
