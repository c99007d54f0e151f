//! Classic mistakes of users who know C: each gets one diagnostic that says what to write in Promela.
//!
//! After the report the parser continues as if the text were right: it builds the tree that the user means (a `while`
//! becomes a `do`, a `=` inside an expression becomes a `==`), so that the compiler still checks the names and types
//! inside. A model with such a tree never runs, because its diagnostic is an error.

use trefoil_source::{Diagnostic, Place, Span, nearest};

use super::{Parsed, Parser, Wrong};
use crate::codes::{EXPECTED, NOT_SUPPORTED, SUSPICIOUS, UNKNOWN_NAME};
use crate::syntax::token::{Kind, Token};
use crate::syntax::tree::{Binary, Expression, ExpressionKind, Reference, Sequence, Statement, StatementKind, Word};

/// Text of the user that is longer than this is not quoted in a hint.
const LONGEST_QUOTE: usize = 40;

/// Types of other languages, and what to write instead of a declaration with them.
const FOREIGN_TYPES: &[(&str, &str)] = &[
    ("boolean", "write `bool`"),
    ("char", "write `byte`"),
    ("const", "write `#define NAME value` for a constant"),
    ("double", "Promela has integers only: write `int`"),
    ("enum", "write `mtype = { … }`"),
    ("float", "Promela has integers only: write `int`"),
    ("long", "write `int`, which has 32 bits"),
    ("string", "write `mtype = { … }` and use its names"),
    ("struct", "write `typedef NAME { … }`"),
    ("uint", "write `unsigned x : 5`, with the number of bits"),
    ("var", "write a type, such as `int`"),
    ("void", "write `inline NAME(…) { … }`, or a proctype"),
];

/// Temporal operators of other tools, and what to write instead.
const OPERATORS_ELSEWHERE: [&str; 2] = ["G", "F"];
const TEMPORAL_OPERATORS: &str = "write `[]` for G (always) and `<>` for F (eventually)";

/// What to write instead of a token that cannot stand where it is.
pub(super) fn hint(token: &Token, before: Option<&Token>) -> Option<String> {
    if OPERATORS_ELSEWHERE.iter().any(|name| before.is_some_and(|before| before.is_name(name))) {
        return Some(TEMPORAL_OPERATORS.to_string());
    }
    let text = match &token.kind {
        Kind::Name(name) => match &**name {
            "and" => "write `&&`",
            "or" => "write `||`",
            "not" => "write `!`",
            "then" => "write `->`",
            "else" => "`else` begins an option: write `:: else`",
            "while" => "Promela has no `while`: write `do :: condition -> … :: else -> break od`",
            _ => return foreign(before?),
        },
        Kind::Text(_) => "only `printf` takes a string; declare names with `mtype = { … }`",
        _ if token.is("@") => "`@label` follows the name of a proctype, as in `P@label` or `P[0]@label`",
        _ => return foreign(before?),
    };
    Some(text.to_string())
}

/// What to write instead of a type of another language.
fn foreign(token: &Token) -> Option<String> {
    let found = FOREIGN_TYPES.iter().find(|(name, _)| token.is_name(name));
    found.map(|(_, help)| (*help).to_string())
}

/// Is this the operator of an assignment such as `+=`?
pub(super) fn compounds(operator: &str) -> bool {
    matches!(operator, "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>")
}

impl Parser<'_> {
    /// Reports a mistake after which the parser continues as if the text were right.
    pub(super) fn report(&mut self, message: impl Into<String>, span: Span, help: impl Into<String>) {
        self.tell(Diagnostic::error(EXPECTED, message, Place::Span(span)).help(help));
    }

    /// The text of the tokens from here on to the current one, or an ellipsis when it is long.
    fn quote(&self, from: usize) -> String {
        let mut text = String::new();
        for (at, token) in self.tokens[from..self.at].iter().enumerate() {
            if at > 0 && token.spaced {
                text.push(' ');
            }
            text.push_str(token.describe().trim_matches('`'));
            if text.chars().count() > LONGEST_QUOTE {
                return "…".to_string();
            }
        }
        text
    }

    /// A declaration with a type of another language: reports it.
    pub(super) fn foreign_type(&mut self) -> bool {
        let token = self.peek().clone();
        let Some(help) = foreign(&token) else { return false };
        self.report(format!("Promela has no {}", token.describe()), token.span, help);
        true
    }

    /// Reports a declaration with a type of another language inside a proctype.
    pub(super) fn declares_foreign(&mut self) -> bool {
        let named = self.peek_at(1).name().is_some() && !self.peek_at(1).fresh;
        named && self.foreign_type()
    }

    /// `init()`
    pub(super) fn init_takes_no_parameters(&mut self) {
        if self.peek().is("(") {
            let open = self.next().span;
            self.report("`init` has no parameters", open, "write `init { … }`");
            self.take(")");
        }
    }

    /// `assert(x = 3)`, `x = y = 3`, `x + 1 = 3`: the parser stands before the `=`.
    pub(super) fn assignment_inside(&mut self, left: Expression) -> Parsed<Expression> {
        let from = left.span;
        let span = self.next().span;
        let turned = ["<", ">"].into_iter().find(|mark| self.peek().is(mark) && !self.peek().spaced);
        if let Some(mark) = turned {
            self.next();
            self.report(format!("Promela has no operator `={mark}`"), span, format!("write `{mark}=`"));
        } else if let ExpressionKind::Variable(_) = left.kind {
            let help = "write `==` to compare; an assignment is a statement of its own";
            self.report("an expression cannot contain the assignment `=`", span, help);
        } else {
            let help = "write `==` to compare";
            self.report("the left side of an assignment is not a variable", span, help);
        }
        let right = self.nested(Self::expression)?;
        let kind = ExpressionKind::Binary(Binary::Equal, Box::new(left), Box::new(right));
        Ok(Expression { kind, span: self.since(from) })
    }

    /// `x => 3`, where the parser stands behind the `=`.
    pub(super) fn turned_comparison(&mut self, left: Reference) -> Parsed<StatementKind> {
        let token = self.next();
        let help = format!("write `{}=`", token.describe().trim_matches('`'));
        self.report(format!("Promela has no operator `={}`", token.describe().trim_matches('`')), token.span, help);
        let right = self.expression()?;
        let span = left.span;
        let left = Expression { kind: ExpressionKind::Variable(left), span };
        let kind = ExpressionKind::Binary(Binary::Equal, Box::new(left), Box::new(right));
        Ok(StatementKind::Condition(Expression { kind, span: self.since(span) }))
    }

    /// `x += 3`
    pub(super) fn compound_assignment(&mut self, to: Reference, operator: &str) -> Parsed<StatementKind> {
        let span = self.next().span;
        let span = span.to(self.next().span);
        let name = &to.name.text;
        let help = match to.index.is_some() || to.field.is_some() {
            true => format!("write the variable again: `{name}… = {name}… {operator} …`"),
            false => format!("write `{name} = {name} {operator} …`"),
        };
        self.report(format!("Promela has no `{operator}=`"), span, help);
        Ok(StatementKind::Assign(to, self.expression()?))
    }

    /// `x := 3`
    pub(super) fn colon_assignment(&mut self) -> Parsed<StatementKind> {
        let to = self.reference()?;
        let span = self.next().span;
        let span = span.to(self.next().span);
        self.report("Promela has no `:=`", span, format!("write `{} = …`", to.name.text));
        Ok(StatementKind::Assign(to, self.expression()?))
    }

    /// Reports `i++` inside an expression, behind its operand.
    pub(super) fn no_step_inside(&mut self, operand: &Expression) {
        let step = self.peek().is("++") || self.peek().is("--");
        if !step || self.peek().fresh {
            return;
        }
        let token = self.next();
        let mark = token.describe();
        let mark = mark.trim_matches('`');
        let help = match &operand.kind {
            ExpressionKind::Variable(Reference { name, index: None, field: None, .. }) => {
                format!("write `{}{mark}` as a statement of its own", name.text)
            }
            _ => format!("write `{mark}` in a statement of its own"),
        };
        self.report(format!("an expression cannot contain `{mark}`"), token.span, help);
    }

    /// `++i`
    pub(super) fn step_before(&mut self) -> Parsed<Expression> {
        let token = self.next();
        let mark = token.describe();
        let mark = mark.trim_matches('`');
        let from = self.at;
        let operand = self.nested(|parser| parser.operand())?;
        let help = format!("write `{}{mark}` as a statement of its own", self.quote(from));
        self.report(format!("`{mark}` stands behind its variable, not before it"), token.span, help);
        Ok(operand)
    }

    /// `foo(1)` inside an expression, behind the name: nothing in Promela returns a value like this.
    pub(super) fn no_call(&mut self, left: Expression) -> Expression {
        let plain = match &left.kind {
            ExpressionKind::Variable(Reference { name, index: None, field: None, .. }) => Some(name.clone()),
            _ => None,
        };
        let Some(name) = plain.filter(|_| self.peek().is("(") && !self.peek().fresh && !self.sending) else {
            return left;
        };
        self.unknown_call(&name);
        Expression { kind: ExpressionKind::Broken, span: self.since(left.span) }
    }

    /// Reports a call of a name that is no inline above this place; the parser stands before the bracket.
    pub(super) fn unknown_call(&mut self, name: &Word) {
        let text = &name.text;
        let place = Place::Span(name.span);
        if self.inlines.contains_key(text) {
            let wrong = Diagnostic::error(NOT_SUPPORTED, "inlines that return a value are not supported", place);
            self.tell(wrong.help(format!("let `{text}` set a variable, and call it as a statement before this one")));
        } else if self.processes.contains_key(text) {
            self.report(format!("`{text}` is a proctype"), name.span, format!("write `run {text}(…)`"));
        } else if !self.poisoned.contains(text) {
            let below = self.tokens.windows(2).any(|pair| pair[0].is_name("inline") && pair[1].is_name(text));
            let message = format!("no inline or macro `{text}` is declared above this place");
            let near = nearest(text, self.inlines.keys().map(|inline| &**inline));
            let help = match (below, near) {
                (true, _) => Some(format!("move the inline `{text}` above this place")),
                (false, _) if OPERATORS_ELSEWHERE.contains(&&**text) => Some(TEMPORAL_OPERATORS.to_string()),
                (false, Some(near)) => Some(format!("did you mean `{near}`?")),
                (false, None) => None,
            };
            let wrong = Diagnostic::error(UNKNOWN_NAME, message, place);
            self.tell(match help {
                Some(help) => wrong.help(help),
                None => wrong,
            });
        }
        self.skip_brackets();
    }

    /// Goes behind the bracket that closes the one here.
    fn skip_brackets(&mut self) {
        let mut depth = 0;
        loop {
            depth += i32::from(self.peek().is("(")) - i32::from(self.peek().is(")"));
            if self.peek().kind == Kind::End || self.starts_unit() || self.peek().is("{") {
                return;
            }
            self.next();
            if depth <= 0 {
                return;
            }
        }
    }

    /// `P(1)` as a statement, where `P` is a proctype.
    pub(super) fn proctype_called(&mut self) -> Parsed<StatementKind> {
        let process = self.word("the name of a proctype")?;
        let name = &process.text;
        let help = format!("write `run {name}(…)`");
        self.report(format!("only `run` starts the proctype `{name}`"), process.span, help);
        let (span, arguments) = (process.span, self.arguments()?);
        let kind = ExpressionKind::Run { process, arguments, priority: None };
        Ok(StatementKind::Condition(Expression { kind, span }))
    }

    /// `run P` without brackets.
    pub(super) fn run_without_arguments(&mut self, process: &Word) -> ExpressionKind {
        if self.peek().kind != Kind::Reported {
            let help = format!("write `run {}()`", process.text);
            self.report("`run` needs brackets, even without arguments", process.span, help);
        }
        ExpressionKind::Broken
    }

    /// `printf(x)`
    pub(super) fn no_format<T>(&mut self) -> Parsed<T> {
        let token = self.peek().clone();
        if token.kind != Kind::Reported {
            let message = format!("expected a format string, found {}", token.describe());
            self.report(message, token.span, "write `printf(\"%d\\n\", …)`");
        }
        Err(Wrong)
    }

    /// Reports that two statements are not separated.
    pub(super) fn no_separator(&mut self) {
        let _: Parsed<()> = self.expected("`;` or `->` between statements");
    }

    /// Warns of an `else` that follows other statements of its sequence: Spin accepts it, as a statement.
    pub(super) fn else_inside(&mut self, span: Span) {
        let message = "this `else` follows other statements, so it is not an option of its own";
        let warning = Diagnostic::warning(SUSPICIOUS, message, Place::Span(span));
        self.tell(warning.help("write `:: else` to begin an option"));
    }

    /// Is this word a statement of C here, and not a name?
    pub(super) fn is_of_c(&self, name: &str) -> bool {
        name == "return" || self.peek_at(1).is("(")
    }

    /// `return`, `while (…) …` and `switch (…) …`.
    pub(super) fn statement_of_c(&mut self, name: &str, from: Span) -> Parsed<StatementKind> {
        self.next();
        match name {
            "return" => {
                let help = "write `goto` to a label at the end of the proctype";
                self.report("Promela has no `return`", from, help);
                while !self.ends_sequence() && !self.peek().is(";") && !self.peek().is("->") && !self.peek().fresh {
                    self.next();
                }
                Ok(StatementKind::Broken)
            }
            "while" => {
                let (guard, text) = self.condition_of_c()?;
                let help = format!("write `do :: {text} -> … :: else -> break od`");
                self.report("Promela has no `while`", from, help);
                let body = self.branch_of_c(guard)?;
                Ok(StatementKind::Do(vec![body, leave(from)]))
            }
            _ => {
                let start = self.at;
                self.skip_brackets();
                let text = self.quote(start);
                let text = text.trim_start_matches('(').trim_end_matches(')');
                let help = format!("write `if :: {text} == … -> … :: else -> … fi`");
                self.report("Promela has no `switch`", from, help);
                self.skip_block();
                Ok(StatementKind::Broken)
            }
        }
    }

    /// `(…)` behind a word of C, and its text.
    fn condition_of_c(&mut self) -> Parsed<(Statement, String)> {
        let start = self.at;
        let condition = self.expression()?;
        let span = condition.span;
        Ok((Statement { kind: StatementKind::Condition(condition), span }, self.quote(start)))
    }

    /// What follows a condition of C: a block or one statement.
    fn branch_of_c(&mut self, guard: Statement) -> Parsed<Sequence> {
        let mut branch = vec![guard];
        if self.peek().is("{") {
            self.next();
            self.closers.push("}");
            // An empty block is no mistake in C.
            let body = if self.peek().is("}") { Ok(Vec::new()) } else { self.sequence() };
            self.closers.pop();
            branch.extend(body?);
            self.take("}");
        } else if !self.ends_sequence() && !self.peek().is(";") {
            branch.push(self.nested(Self::step)?);
        }
        Ok(branch)
    }

    /// Goes behind a block in braces.
    fn skip_block(&mut self) {
        let mut depth = 0;
        while (depth > 0 || self.peek().is("{")) && self.peek().kind != Kind::End && !self.starts_unit() {
            depth += i32::from(self.peek().is("{")) - i32::from(self.peek().is("}"));
            self.next();
            if depth == 0 {
                return;
            }
        }
    }

    /// `if` or `do` without `::`: in the form of C, or with a first option that lacks its `::`.
    pub(super) fn without_options(&mut self, end: &'static str, open: Span) -> Parsed<StatementKind> {
        let word = if end == "fi" { "if" } else { "do" };
        if self.ends_sequence() || self.peek().kind == Kind::Reported {
            return self.expected("`::`");
        }
        if end == "od" && self.peek().is("{") {
            return self.do_of_c(open);
        }
        let start = self.at;
        if end == "fi" && self.peek().is("(") {
            let (guard, text) = self.condition_of_c()?;
            if !self.peek().is("->") && !self.peek().is("::") && !self.peek().is_name("fi") {
                let help = format!("write `if :: {text} -> … :: else -> … fi`");
                self.report("`if` takes options, not a condition in brackets", open, help);
                return self.if_of_c(guard);
            }
            self.at = start;
        }
        let help = format!("write `{word} :: …`");
        self.report(format!("an option of `{word}` begins with `::`"), self.peek().span, help);
        self.closers.push(end);
        let first = self.sequence();
        self.closers.pop();
        let mut options = vec![first?];
        options.extend(self.options(end, open)?);
        Ok(if end == "fi" { StatementKind::If(options) } else { StatementKind::Do(options) })
    }

    /// The branches of an `if` of C, from behind its condition on.
    fn if_of_c(&mut self, guard: Statement) -> Parsed<StatementKind> {
        let span = guard.span;
        let mut options = vec![self.branch_of_c(guard)?];
        loop {
            if self.peek().is(";") && self.peek_at(1).is_name("else") {
                self.next();
            }
            if !self.take_name("else") {
                let skip = Statement { kind: StatementKind::Else, span };
                options.push(vec![skip]);
                break;
            }
            if self.peek().is_name("if") && self.peek_at(1).is("(") {
                self.next();
                let (guard, _) = self.condition_of_c()?;
                options.push(self.branch_of_c(guard)?);
                continue;
            }
            self.take("->");
            options.push(self.branch_of_c(Statement { kind: StatementKind::Else, span })?);
            break;
        }
        // A mixture of both languages may still close its `if`.
        if !self.closers.contains(&"fi") {
            if self.peek().is(";") && self.peek_at(1).is_name("fi") {
                self.next();
            }
            self.take_name("fi");
        }
        Ok(StatementKind::If(options))
    }

    /// `do { … } while (…)`
    fn do_of_c(&mut self, open: Span) -> Parsed<StatementKind> {
        let body = self.block()?;
        if self.take_name("while") {
            let (_, text) = self.condition_of_c()?;
            let help = format!("write `do :: … if :: {text} :: else -> break fi od`");
            self.report("Promela has no `do … while`", open, help);
        } else {
            self.report("an option of `do` begins with `::`", open, "write `do :: …`");
            self.take(";");
            self.take_name("od");
        }
        Ok(StatementKind::Do(vec![body]))
    }

    /// Is this the head of a `for` of C, behind its bracket?
    pub(super) fn is_c_for(&self) -> bool {
        let mut ahead = 0;
        while !matches!(self.peek_at(ahead).kind, Kind::End | Kind::Mark("{" | "}" | ":" | "..")) {
            if self.peek_at(ahead).is(";") {
                return true;
            }
            ahead += 1;
        }
        false
    }

    /// `for (i = 0; i < n; i++) …`, from behind its bracket on.
    pub(super) fn c_for(&mut self, from: Span) -> Parsed<StatementKind> {
        let help = self.range_of_c().unwrap_or_else(|| "write `for (i : first .. last) { … }`".to_string());
        self.report("Promela has no `for` with a condition", from, help);
        let mut around = Vec::new();
        if !self.peek().is(";") {
            around.push(self.nested(Self::step)?);
        }
        self.take(";");
        let yes = Expression { kind: ExpressionKind::Number(1), span: from };
        let condition = if self.peek().is(";") { yes } else { self.expression()? };
        self.take(";");
        let mut step = None;
        if !self.peek().is(")") {
            step = Some(self.nested(Self::step)?);
        }
        self.need(")")?;
        let span = condition.span;
        let mut body = self.branch_of_c(Statement { kind: StatementKind::Condition(condition), span })?;
        body.extend(step);
        around.push(Statement { kind: StatementKind::Do(vec![body, leave(from)]), span: from });
        Ok(StatementKind::Block { body: around, inline: None })
    }

    /// The `for` of Promela with the same range, for a head such as `i = 0; i < n; i++`.
    fn range_of_c(&self) -> Option<String> {
        let mut at = self.at + usize::from(self.begins_declaration());
        let token = |at: usize| &self.tokens[at.min(self.tokens.len() - 1)];
        let name = token(at).name()?.clone();
        token(at + 1).is("=").then_some(())?;
        at += 2;
        let text = |from: usize, to: usize| {
            let words = self.tokens[from..to].iter().enumerate().map(|(at, token)| {
                let space = if at > 0 && token.spaced { " " } else { "" };
                format!("{space}{}", token.describe().trim_matches('`'))
            });
            Some(words.collect::<String>()).filter(|text| text.chars().count() <= LONGEST_QUOTE)
        };
        let end_of = |from: usize, mark: &str| (from..self.tokens.len()).find(|&at| self.tokens[at].is(mark));
        let middle = end_of(at, ";")?;
        let first = text(at, middle)?;
        let inclusive = token(middle + 2).is("<=");
        let compared = token(middle + 1).is_name(&name) && (inclusive || token(middle + 2).is("<"));
        let end = end_of(middle + 1, ";")?;
        let counts = token(end + 1).is_name(&name) && token(end + 2).is("++") && token(end + 3).is(")");
        let bound = (compared && counts && middle + 3 < end).then(|| text(middle + 3, end))??;
        let last = match bound.parse::<i32>() {
            _ if inclusive => bound,
            Ok(bound) => (bound.wrapping_sub(1)).to_string(),
            Err(_) => format!("{bound} - 1"),
        };
        Some(format!("write `for ({name} : {first} .. {last}) {{ … }}`"))
    }
}

/// `else -> break`
fn leave(span: Span) -> Sequence {
    let statement = |kind| Statement { kind, span };
    vec![statement(StatementKind::Else), statement(StatementKind::Break)]
}
