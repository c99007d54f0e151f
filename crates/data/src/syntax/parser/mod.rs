//! Tokens to a tree, with recovery.
//!
//! Recursive descent; expressions by precedence climbing. One rule is unusual and is mCRL2's own: an operator that
//! stands before its operand and binds loosely (`forall`, and in other parts of the language `sum` and the fixpoints)
//! reads the operand with the tighter of its own power and the power that surrounds it. `A && forall x: S. B || C` is
//! `(A && forall x: S. B) || C`, where a textbook parser would give the quantifier everything to its right. So every
//! function that reads an expression takes the enclosing [`Power`], and process and formula parsers pass theirs.
//!
//! A mistake ends the declaration it stands in: reading goes on after the next semicolon or at the next section. The
//! names that such a declaration would have declared are kept in [`Parsed::broken`], so that later stages do not report
//! their uses as well.
//!
//! Where a decision needs to look far ahead (a set comprehension or a bag, a condition or a process) the partner of
//! each bracket is known beforehand, so the look costs one step for each bracket and not its inside.

mod declarations;
mod expressions;
mod sorts;

use trefoil_source::{Diagnostic, FileId, Place, Span, nearest};

use super::codes;
use super::lexer;
use super::token::{Comment, Kind, Token};
use super::tree::{Binder, Expression, ExpressionId, Identifier, Names, Power, Symbol, Tree};

/// A mistake was reported, and this construct cannot be finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// What reading a part of the text gave.
pub type Reads<T> = Result<T, Failed>;

/// Nested brackets, operators and binders beyond this are refused.
const MOST_NESTED: u32 = 20_000;

/// Text outside of the tree that the printer needs.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The comments, in order.
    pub comments: Vec<Comment>,
    /// First bytes of tokens after an empty line, in order.
    pub after_blank: Vec<u32>,
}

/// A reader of one text.
#[derive(Debug)]
pub struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// For every bracket the index of its partner, for every other token its own.
    partner: Vec<u32>,
    at: usize,
    nested: u32,
    /// How many mistakes of characters and brackets there are; they stand first in the list.
    early: usize,
    /// The nodes read so far.
    pub tree: Tree,
    /// The mistakes found so far.
    pub diagnostics: Vec<Diagnostic>,
    /// Names of declarations that could not be read.
    pub broken: Vec<Symbol>,
    /// What the printer needs beside the tree.
    pub layout: Layout,
}

impl<'a> Parser<'a> {
    /// A reader at the beginning of a text.
    pub fn new(text: &'a str, file: FileId) -> Parser<'a> {
        Parser::reading(text, file, false)
    }

    /// A reader of a text of our own, in which names may start with `@`.
    pub(crate) fn internal(text: &'a str, names: Names) -> Parser<'a> {
        let mut parser = Parser::reading(text, FileId(u32::MAX), true);
        parser.tree.names = names;
        parser
    }

    fn reading(text: &'a str, file: FileId, internal: bool) -> Parser<'a> {
        let lexed = lexer::lex(text, file, internal);
        let mut parser = Parser {
            text,
            partner: partners(&lexed.tokens),
            tokens: lexed.tokens,
            at: 0,
            nested: 0,
            early: 0,
            tree: Tree::default(),
            diagnostics: lexed.diagnostics,
            broken: Vec::new(),
            layout: Layout { comments: lexed.comments, after_blank: lexed.after_blank },
        };
        parser.report_brackets();
        parser.early = parser.diagnostics.len();
        parser
    }

    /// A reader whose names continue those of another text.
    pub fn with_names(text: &'a str, file: FileId, names: Names) -> Parser<'a> {
        let mut parser = Parser::new(text, file);
        parser.tree.names = names;
        parser
    }

    /// Reads one expression and nothing after it.
    pub fn whole_expression(&mut self) -> Reads<ExpressionId> {
        if !self.diagnostics.is_empty() {
            return Err(Failed);
        }
        let expression = self.expression(Power::LOOSEST)?;
        match self.peek() {
            Kind::End => Ok(expression),
            Kind::Is => Err(self.single_equals()),
            _ => Err(self.expected("an operator or the end of the expression")),
        }
    }

    /// Reads variables and a condition on them to the end, `x, y: S; z: T. e`, as the `exists` that they make.
    pub fn whole_solve(&mut self) -> Reads<ExpressionId> {
        if !self.diagnostics.is_empty() {
            return Err(Failed);
        }
        let start = self.here();
        let mut variables = self.variables()?;
        while self.peek() == Kind::Semicolon {
            self.advance();
            variables.extend(self.variables()?);
        }
        self.expect(Kind::Dot)?;
        let body = self.whole_expression()?;
        let span = start.to(self.before());
        Ok(self.tree.add(Expression::Binder(Binder::Exists, variables, body), span))
    }

    /// The next token's kind.
    pub fn peek(&self) -> Kind {
        self.tokens[self.at].kind
    }

    /// The kind of a later token; the end when there are fewer.
    pub fn peek_after(&self, skipped: usize) -> Kind {
        self.tokens.get(self.at + skipped).map_or(Kind::End, |token| token.kind)
    }

    /// Where the next token stands.
    pub fn here(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Where the last token that was read stands.
    pub fn before(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// The text of the next token.
    pub fn next_text(&self) -> &'a str {
        &self.text[self.here().range()]
    }

    /// The position of the next token, for [`Parser::kind_at`] and [`Parser::past_bracket`].
    pub fn position(&self) -> usize {
        self.at
    }

    /// The kind of a token by position.
    pub fn kind_at(&self, position: usize) -> Kind {
        self.tokens.get(position).map_or(Kind::End, |token| token.kind)
    }

    /// The position after an opening bracket's partner, or after any other token.
    pub fn past_bracket(&self, position: usize) -> usize {
        self.partner.get(position).map_or(position + 1, |&partner| (partner as usize).max(position) + 1)
    }

    /// Reads any token.
    pub fn advance(&mut self) -> Token {
        let token = self.tokens[self.at];
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// Reads a token of this kind if it is next.
    pub fn accept(&mut self, kind: Kind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.advance();
        }
        found
    }

    /// Reads a token of this kind or reports that it is missing.
    pub fn expect(&mut self, kind: Kind) -> Reads<Span> {
        if self.peek() == kind {
            return Ok(self.advance().span);
        }
        let wanted = if kind == Kind::Name { kind.text().to_string() } else { format!("`{}`", kind.text()) };
        Err(self.expected(&wanted))
    }

    /// Reads a name.
    pub fn name(&mut self) -> Reads<Identifier> {
        if self.peek() == Kind::Name {
            let span = self.here();
            let symbol = self.tree.names.intern(self.next_text());
            self.advance();
            return Ok(Identifier { symbol, span });
        }
        if self.peek().is_word() && !self.peek().starts_section() {
            let message = format!("`{}` is a reserved word, not a name", self.next_text());
            let help = format!("choose another name, such as `{}_`", self.next_text());
            return Err(self.report(codes::RESERVED, message, self.here(), Some(help)));
        }
        Err(self.expected("a name"))
    }

    /// Reads `x, y, z`.
    pub fn names(&mut self) -> Reads<Vec<Identifier>> {
        let mut names = vec![self.name()?];
        while self.accept(Kind::Comma) {
            names.push(self.name()?);
        }
        Ok(names)
    }

    /// Reports that something else was expected here.
    pub fn expected(&mut self, wanted: &str) -> Failed {
        let found = match self.peek() {
            Kind::End => "the end of the text".to_string(),
            kind if kind.starts_section() => format!("`{}`, which starts a section", kind.text()),
            _ => format!("`{}`", shortened(self.next_text())),
        };
        let message = format!("expected {wanted}, found {found}");
        let help = self.hint(wanted);
        // A missing semicolon is missing after what stands before it, which may be lines ago.
        let end = self.before().end;
        let place = if wanted == "`;`" { Span { start: end, end, ..self.before() } } else { self.here() };
        self.report(codes::EXPECTED, message, place, help)
    }

    /// What the user may have meant where `wanted` was expected.
    pub(super) fn hint(&self, wanted: &str) -> Option<String> {
        let last = self.at.checked_sub(1).map_or(Kind::End, |last| self.kind_at(last));
        let meant = match (self.peek(), self.peek_after(1)) {
            (Kind::Name, _) if self.next_text() == "and" => "conjunction is written `&&`",
            (Kind::Name, _) if self.next_text() == "or" => "disjunction is written `||`",
            (Kind::Name, _) if last == Kind::Number => "a number has digits alone, and a name does not start with one",
            (Kind::Question, _) if wanted.contains("operator") => "a conditional expression is written `if(c, a, b)`",
            (Kind::Star, _) if last == Kind::Star => "a power is written `exp(b, e)`",
            (Kind::Close, _) if last == Kind::Open && wanted == "an expression" => {
                "a constant is written without brackets"
            }
            (Kind::Equal, _) if wanted == "`=`" => "a definition is written `x = e`",
            (Kind::Comma | Kind::CloseCurly, _) if wanted == "`:`" => "every element of a bag has a count: `{e: n}`",
            (Kind::Colon, _) if wanted == "`}`" => "a bag has a count for every element: `{e: n}`",
            (Kind::Bool | Kind::Pos | Kind::Nat | Kind::Int | Kind::Real, Kind::CloseCurly)
                if wanted == "an expression" =>
            {
                "a comprehension is written `{ x: S | e }`"
            }
            (Kind::CloseSquare, _) if wanted == "`->`" => "an update is written `f[x -> e]`, an application `f(x)`",
            (Kind::Colon, Kind::Is) => "an equation is written with `=`",
            (Kind::Is, Kind::Less) => "write `<=`",
            (Kind::Is, Kind::Greater) => "write `>=`, or `=>` for an implication",
            (Kind::Else, _) => "inequality is written `!=`; `<>` is the else of a process",
            (Kind::Bar, Kind::Bar) => "write `||` without a space",
            (Kind::Is, Kind::Not) => "inequality is written `!=`",
            _ => match wanted {
                "`;`" => "a declaration ends in `;`",
                "`.`" => "a dot follows the variables: `forall x: S. e`",
                "`:`" => "a sort follows the names: `x: S`",
                "an expression" => "an operand is missing, or one operator too many stands here",
                "a sort" => "a sort is a name, or one of `Bool`, `Pos`, `Nat`, `Int`, `Real`, `List(S)`, `Set(S)`, …",
                _ => return None,
            },
        };
        if wanted == "`;`" && self.peek() == Kind::Name {
            let words = Kind::FIXED.iter().filter(|kind| kind.is_word()).map(|kind| kind.text());
            if let Some(near) = nearest(self.next_text(), words) {
                return Some(format!("is `{near}` meant?"));
            }
        }
        Some(meant.to_string())
    }

    /// Reports a mistake.
    pub fn report(&mut self, code: &'static str, message: String, span: Span, help: Option<String>) -> Failed {
        let mut diagnostic = Diagnostic::error(code, message, Place::Span(span));
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.diagnostics.push(diagnostic);
        Failed
    }

    /// Runs a reader one level deeper, with room on the stack for it.
    pub fn nest<T>(&mut self, read: impl FnOnce(&mut Self) -> Reads<T>) -> Reads<T> {
        self.deeper()?;
        let result = stacker::maybe_grow(64 * 1024, 1024 * 1024, || read(self));
        self.shallower();
        result
    }

    /// Counts a level of nesting, or refuses it.
    pub fn deeper(&mut self) -> Reads<()> {
        if self.nested >= MOST_NESTED {
            let message = format!("expressions are nested more than {MOST_NESTED} deep");
            return Err(self.report(codes::TOO_DEEP, message, self.here(), None));
        }
        self.nested += 1;
        Ok(())
    }

    /// Ends a level that [`Parser::deeper`] began.
    pub fn shallower(&mut self) {
        self.nested -= 1;
    }

    /// After a mistake in the declaration that began at `start`: keeps the names it would have declared, and goes on
    /// after the next semicolon or at the next section.
    pub fn recover(&mut self, start: usize) {
        let mut position = start;
        while self.kind_at(position) == Kind::Name {
            let text = &self.text[self.tokens[position].span.range()];
            let symbol = self.tree.names.intern(text);
            self.broken.push(symbol);
            position += 1;
            if self.kind_at(position) != Kind::Comma {
                break;
            }
            position += 1;
        }
        self.at = self.at.max(start);
        loop {
            match self.peek() {
                Kind::End => break,
                kind if kind.starts_section() && self.at > start => break,
                kind => {
                    self.advance();
                    if kind == Kind::Semicolon {
                        break;
                    }
                }
            }
        }
        self.drop_consequences(self.tokens[start].span.start, self.before().end);
    }

    /// Where a character or a bracket is wrong, what follows from it in the same declaration is not reported.
    fn drop_consequences(&mut self, from: u32, to: u32) {
        let inside = |diagnostic: &Diagnostic| match diagnostic.labels.first().map(|label| &label.place) {
            Some(Place::Span(span)) => (from..=to).contains(&span.start),
            _ => false,
        };
        if self.diagnostics[..self.early].iter().any(inside) {
            let mut later = self.diagnostics.split_off(self.early);
            later.retain(|diagnostic| !inside(diagnostic));
            self.diagnostics.append(&mut later);
        }
    }

    /// Reports brackets without partners, so that the mistake stands where the bracket does.
    fn report_brackets(&mut self) {
        for position in 0..self.tokens.len() {
            let Token { kind, span } = self.tokens[position];
            if let Some(closing) = kind.closing()
                && self.partner[position] as usize == position
            {
                let message = format!("`{}` is not closed", kind.text());
                self.report(codes::UNCLOSED, message, span, Some(format!("`{}` is missing", closing.text())));
            }
        }
    }
}

/// At most forty characters of a text.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_string() } else { text.chars().take(39).chain(['…']).collect() }
}

/// The partner of every bracket. A semicolon and the start of a section close nothing and are inside nothing: what
/// is open there has no partner.
fn partners(tokens: &[Token]) -> Vec<u32> {
    let mut partner: Vec<u32> = (0..tokens.len() as u32).collect();
    let mut open: Vec<usize> = Vec::new();
    for (position, token) in tokens.iter().enumerate() {
        if token.kind.closing().is_some() {
            open.push(position);
        } else if token.kind.closes() {
            let matches = |&opened: &usize| tokens[opened].kind.closing() == Some(token.kind);
            if let Some(depth) = open.iter().rposition(matches) {
                let opened = open[depth];
                open.truncate(depth);
                partner[opened] = position as u32;
                partner[position] = opened as u32;
            }
        } else if token.kind == Kind::Semicolon || token.kind.starts_section() {
            open.clear();
        }
    }
    partner
}
