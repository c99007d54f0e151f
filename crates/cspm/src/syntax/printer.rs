//! Tree to text.
//!
//! The printer is a machine with a stack of things to print, so that depth costs heap and not stack. Parentheses appear where
//! the levels of the parser demand them, around what reaches as far right as it can when something follows, and around a
//! `>` directly inside a sequence. Comments are given back before the first declaration or operand that followed them, where a
//! newline means nothing. Blank lines between declarations stay; other layout is made anew: what does not fit on a line is
//! broken at process operators, prefixes and the parts of `if` and `let`.

use trefoil_source::{FileId, Span};

use super::layout::Widths;
use super::names::Symbol;
use super::store::Tree;
use super::tree::*;

/// The script's root file as text; included files stay included.
pub fn print(tree: &Tree<Symbol>) -> String {
    let mut printer = Printer::new(tree, tree.root);
    let list: Vec<Work> = tree.list(tree.declarations).iter().map(|&id| Work::Declaration(id, 0)).collect();
    printer.run(list);
    printer.comments_before(u32::MAX, 0);
    if !printer.out.is_empty() {
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

pub(super) struct Printer<'a> {
    pub(super) tree: &'a Tree<Symbol>,
    pub(super) widths: Widths,
    pub(super) out: String,
    stack: Vec<Work>,
    file: Option<FileId>,
    /// Comments up to here are printed.
    comment: usize,
}

impl<'a> Printer<'a> {
    fn new(tree: &'a Tree<Symbol>, file: Option<FileId>) -> Printer<'a> {
        Printer { tree, widths: Widths::new(tree), out: String::new(), stack: Vec::new(), file, comment: 0 }
    }

    fn run(&mut self, work: Vec<Work>) {
        self.then(work);
        while let Some(work) = self.stack.pop() {
            match work {
                Work::Text(text) => self.text(text),
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

    /// Whether a comment waits that came before this place.
    fn comment_waits(&mut self, before: u32) -> bool {
        let comments = &self.tree.comments;
        while comments.get(self.comment).is_some_and(|comment| Some(comment.span.file) != self.file) {
            self.comment += 1;
        }
        comments.get(self.comment).is_some_and(|comment| comment.span.start < before)
    }

    /// Prints the comments before this place, each on its own line or at the end of one.
    pub(super) fn comments_before(&mut self, before: u32, indent: u32) {
        while self.file.is_some() && self.comment_waits(before) {
            let comment = &self.tree.comments[self.comment];
            self.comment += 1;
            if comment.trailing && !self.at_line_start() {
                self.out.push(' ');
            } else {
                self.blank_line(comment.span.start);
                self.line(indent);
            }
            self.out.push_str(&comment.text);
            if comment.text.starts_with("--") {
                self.out.push('\n');
            }
        }
    }

    /// Prints the comments before an operand.
    pub(super) fn comments_inside(&mut self, span: Span, indent: u32) {
        if self.file != Some(span.file) || !self.comment_waits(span.start) {
            return;
        }
        self.comments_before(span.start, deeper(indent));
        self.line(deeper(indent));
    }
}
