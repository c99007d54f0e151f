//! Tree to text.
//!
//! The printer is a machine with a stack of things to print, so that depth costs heap and not stack. The user's round
//! brackets stay. Where there are none, brackets appear where the levels of the parser demand them, around an
//! expression that reaches as far right as it can when something follows, and around a `>` directly inside a sequence.
//!
//! A comment knows the token that follows it. The printer writes it before that token, or before the nearest token
//! after it whose place the tree knows: declarations, names, operands, and the operators, words, commas and closing
//! brackets between operands (such a token lies before the operand after it). Two operators are an exception: `<` and
//! `-` at the start of a line would start a new declaration, so comments before them move behind them.
//!
//! Blank lines between declarations stay. Other layout is made anew: an expression that does not fit on a line is
//! broken at process operators, prefixes and the parts of `if` and `let`.

use trefoil_source::{FileId, Span};

use super::layout::Widths;
use super::names::Symbol;
use super::store::{Comment, Tree};
use super::tree::*;

/// The script's root file as text; included files stay included.
pub fn print(tree: &Tree<Symbol>) -> String {
    let mut printer = Printer::new(tree, tree.root);
    let list: Vec<Work> = tree.list(tree.declarations).iter().map(|&id| Work::Declaration(id, 0)).collect();
    printer.run(list);
    printer.comments_before(u32::MAX, 0);
    if !printer.out.is_empty() && !printer.out.ends_with('\n') {
        printer.out.push('\n');
    }
    printer.out
}

/// An expression as text, without its comments.
pub fn print_expression(tree: &Tree<Symbol>, expression: ExpressionId) -> String {
    let mut printer = Printer::new(tree, None);
    printer.run(vec![Work::Expression(Shown::free(expression, 0))]);
    printer.out
}

/// Lines are broken when they would be longer.
pub(super) const LINE: u32 = 100;

/// Indentation stops growing here, or deep nesting would print mostly blanks.
const DEEPEST_INDENT: u32 = 60;

/// An expression in its surroundings.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    pub(super) id: ExpressionId,
    /// The least level that needs no parentheses.
    pub(super) least: u8,
    /// Whether an operator follows without a bracket between.
    pub(super) followed: bool,
    /// Whether a sequence is the innermost bracket.
    pub(super) sequence: bool,
    pub(super) indent: u32,
}

impl Shown {
    /// Alone between brackets or commas.
    pub(super) fn free(id: ExpressionId, indent: u32) -> Shown {
        Shown { id, least: 0, followed: false, sequence: false, indent }
    }

    /// Another expression in the same brackets, with something after it.
    pub(super) fn before(self, id: ExpressionId, least: u8) -> Shown {
        Shown { id, least, followed: true, ..self }
    }

    /// Another expression in the same brackets, at the end of this one.
    pub(super) fn last(self, id: ExpressionId, least: u8) -> Shown {
        Shown { id, least, ..self }
    }

    /// Another expression in the same brackets, with a word or comma after it.
    pub(super) fn among(self, id: ExpressionId) -> Shown {
        Shown { id, least: 0, followed: false, ..self }
    }

    pub(super) fn indented(self) -> Shown {
        Shown { indent: deeper(self.indent), ..self }
    }
}

pub(super) fn deeper(indent: u32) -> u32 {
    (indent + 2).min(DEEPEST_INDENT)
}

/// Something to print.
#[derive(Clone, Copy)]
pub(super) enum Work {
    Text(&'static str),
    /// A token that stands before the byte `before`, with the comments before it.
    Token {
        text: &'static str,
        before: Place,
        indent: u32,
    },
    /// The comments before a token that stands before this place; a new line follows.
    Comments(Place, u32),
    /// The comments before an operand.
    CommentsInside(Span, u32),
    /// A name with the comments before it.
    Name(Named<Symbol>, u32),
    Symbol(Symbol),
    /// A string with quotes.
    Quoted(Symbol),
    /// A path with quotes, as written.
    Path(Symbol),
    Expression(Shown),
    Pattern(PatternId, u8),
    Type(TypeId, u8),
    Declaration(DeclarationId, u32),
    Equation(Symbol, Clause, u32),
    /// A new line.
    Line(u32),
}

/// A place that comments are compared with: a byte of a file.
#[derive(Clone, Copy)]
pub(super) struct Place {
    file: FileId,
    at: u32,
}

impl Place {
    pub(super) fn start_of(span: Span) -> Place {
        Place { file: span.file, at: span.start }
    }

    pub(super) fn end_of(span: Span) -> Place {
        Place { file: span.file, at: span.end }
    }
}

pub(super) struct Printer<'a> {
    pub(super) tree: &'a Tree<Symbol>,
    pub(super) widths: Widths,
    pub(super) out: String,
    stack: Vec<Work>,
    file: Option<FileId>,
    /// Comments up to here are printed.
    comment: usize,
    /// The length of the output after a comment with nothing but comments before it on its line.
    after_lone_comment: usize,
}

impl<'a> Printer<'a> {
    fn new(tree: &'a Tree<Symbol>, file: Option<FileId>) -> Printer<'a> {
        Printer {
            tree,
            widths: Widths::new(tree),
            out: String::new(),
            stack: Vec::new(),
            file,
            comment: 0,
            after_lone_comment: usize::MAX,
        }
    }

    fn run(&mut self, work: Vec<Work>) {
        self.then(work);
        while let Some(work) = self.stack.pop() {
            match work {
                Work::Text(text) => self.text(text),
                Work::Token { text, before, indent } => self.token(text, before, indent),
                Work::Comments(before, indent) => drop(self.comments_of_token(before, indent)),
                Work::CommentsInside(span, indent) => self.comments_inside(span, indent),
                Work::Name(named, indent) => {
                    self.comments_inside(named.span, indent);
                    self.text(self.tree.names.text(named.name));
                }
                Work::Symbol(symbol) => self.text(self.tree.names.text(symbol)),
                Work::Quoted(symbol) => self.quoted(self.tree.names.text(symbol), '"'),
                Work::Path(symbol) => {
                    self.out.push('"');
                    self.out.push_str(self.tree.names.text(symbol));
                    self.out.push('"');
                }
                Work::Expression(shown) => self.expression(shown),
                Work::Pattern(id, least) => self.pattern(id, least),
                Work::Type(id, least) => self.type_expression(id, least),
                Work::Declaration(id, indent) => self.declaration(id, indent),
                Work::Equation(name, clause, indent) => self.equation(name, clause, indent),
                Work::Line(indent) => self.line(indent),
            }
        }
    }

    /// Prints these next, in order.
    pub(super) fn then(&mut self, work: Vec<Work>) {
        self.stack.extend(work.into_iter().rev());
    }

    /// Appends a token; a blank keeps it apart from what it would merge with.
    pub(super) fn text(&mut self, text: &str) {
        let merges = matches!(
            (self.out.as_bytes().last(), text.as_bytes().first()),
            (Some(b'{'), Some(b'|' | b'-'))
                | (Some(b'<' | b'-'), Some(b'-'))
                | (Some(b'('), Some(b'|'))
                | (Some(b'['), Some(b'|' | b'+' | b'[' | b'>' | b']'))
                | (Some(b'|'), Some(b'|' | b'~' | b'\\' | b'>'))
        );
        if merges {
            self.out.push(' ');
        }
        self.out.push_str(text);
    }

    pub(super) fn quoted(&mut self, text: &str, quote: char) {
        self.out.push(quote);
        for character in text.chars() {
            match character {
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\\' => self.out.push_str("\\\\"),
                other if other == quote => {
                    self.out.push('\\');
                    self.out.push(other);
                }
                other => self.out.push(other),
            }
        }
        self.out.push(quote);
    }

    /// Starts a new line, unless one was just started.
    pub(super) fn line(&mut self, indent: u32) {
        let blank = self.out.len() - self.out.trim_end_matches(' ').len();
        self.out.truncate(self.out.len() - blank);
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n(' ', indent as usize));
    }

    fn at_line_start(&self) -> bool {
        let line = self.out.rfind('\n').map_or(0, |at| at + 1);
        self.out[line..].bytes().all(|byte| byte == b' ')
    }

    /// Keeps the blank line that stood before this place.
    pub(super) fn blank_line(&mut self, start: u32) {
        let Some(file) = self.file else { return };
        if !self.out.is_empty() && self.tree.after_blank.binary_search(&(file, start)).is_ok() {
            self.line(0);
            if !self.out.ends_with("\n\n") {
                self.out.push('\n');
            }
        }
    }

    /// The first comment that is not printed yet.
    fn waiting(&mut self) -> Option<&'a Comment> {
        let comments = &self.tree.comments;
        while comments.get(self.comment).is_some_and(|comment| Some(comment.span.file) != self.file) {
            self.comment += 1;
        }
        comments.get(self.comment)
    }

    /// Prints the comments before this place, each on its own line or at the end of one.
    pub(super) fn comments_before(&mut self, before: u32, indent: u32) {
        self.comments_while(indent, |comment| comment.span.start < before);
    }

    /// Prints the comments that wait as long as they satisfy the condition; says whether there were any.
    fn comments_while(&mut self, indent: u32, wanted: impl Fn(&Comment) -> bool) -> bool {
        let mut printed = false;
        while let Some(comment) = self.waiting().filter(|comment| wanted(comment)) {
            self.comment += 1;
            printed = true;
            let lone = self.at_line_start() || self.out.len() == self.after_lone_comment;
            if comment.trailing && !lone {
                let attached = self.out.ends_with('(') && !comment.text.starts_with("--");
                if !attached && !self.out.ends_with(' ') {
                    self.out.push(' ');
                }
            } else {
                self.blank_line(comment.span.start);
                self.line(indent);
            }
            let starts_line = self.at_line_start();
            self.out.push_str(&comment.text);
            if starts_line {
                self.after_lone_comment = self.out.len();
            }
            if comment.text.starts_with("--") {
                self.out.push('\n');
            }
        }
        printed
    }

    /// Prints the comments before an operand or a name.
    pub(super) fn comments_inside(&mut self, span: Span, indent: u32) {
        let waits = self.waiting().is_some_and(|comment| comment.span.start < span.start);
        if !waits || self.file != Some(span.file) {
            return;
        }
        let indent = if self.at_line_start() { indent } else { deeper(indent) };
        if self.comments_while(indent, |comment| comment.span.start < span.start) {
            self.after_comments(indent);
        }
    }

    /// Whether a comment that is not printed yet stands before the end of a span.
    pub(super) fn comments_wait_before(&self, span: Span) -> bool {
        let comments = self.tree.comments.get(self.comment..).unwrap_or(&[]);
        self.file.is_some()
            && comments.iter().any(|comment| comment.span.file == span.file && comment.span.start < span.end)
    }

    /// Goes to the place of the token after a comment: the next line, or after a blank if it was a block comment.
    fn after_comments(&mut self, indent: u32) {
        if self.out.ends_with('\n') {
            self.line(indent);
        } else {
            self.out.push(' ');
        }
    }

    /// Prints the comments before a token that stands before this place; says whether there were any.
    fn comments_of_token(&mut self, before: Place, indent: u32) -> bool {
        self.file == Some(before.file) && self.comments_while(indent, |comment| comment.next < before.at)
    }

    fn token(&mut self, text: &str, before: Place, indent: u32) {
        if !self.comments_of_token(before, deeper(indent)) {
            return self.text(text);
        }
        if self.out.ends_with('\n') || text.starts_with(' ') {
            self.after_comments(deeper(indent));
        }
        self.text(text.trim_start());
    }
}
