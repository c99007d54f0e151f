//! Trees to text.
//!
//! What was read is printed with even spacing and with the user's own brackets, comments and empty lines. A construct
//! that fits in its line stays in one; otherwise it is broken at its loosest operator, and the parts again where they
//! must be. Comments keep their order: before a part is printed, every comment that stood before it in the text is, at
//! the end of the line or in lines of its own as the user had it. So a construct with a comment inside is broken around
//! it, and printing what was printed changes nothing.
//!
//! The width of every part is found once, from the inside out; printing takes time in proportion to the text.

use trefoil_source::Span;

use super::parser::Layout;
use super::tree::{
    DataSection, Expression, ExpressionId, Functions, Identifier, Infix, Sort, SortDeclaration, SortId,
    StructConstructor, Tree, Variables,
};

/// Lines are at most this wide where they can be broken.
const WIDTH: usize = 100;

/// Lines start at most this far from the left, so that a deep nest is printed in proportion to its text.
const MOST_INDENT: usize = 60;

/// How far the declarations of a section stand from the left; its keyword stands before them.
const MARGIN: usize = 5;

/// A text in the making.
#[derive(Debug)]
pub struct Printer<'a> {
    /// The tree that is printed.
    pub tree: &'a Tree,
    text: &'a str,
    layout: &'a Layout,
    /// Comments before this one are printed.
    next_comment: usize,
    out: String,
    /// Characters in the current line.
    column: usize,
    indent: usize,
    /// Widths of expressions in one line, 0 for those not asked for yet.
    widths: Vec<u32>,
}

impl<'a> Printer<'a> {
    /// A printer of what was read from `text`.
    pub fn new(tree: &'a Tree, text: &'a str, layout: &'a Layout) -> Printer<'a> {
        Printer { tree, text, layout, next_comment: 0, out: String::new(), column: 0, indent: 0, widths: Vec::new() }
    }

    /// The text, with the comments that are left.
    pub fn finish(mut self) -> String {
        self.indent = 0;
        self.comments_before(u32::MAX);
        let length = self.out.trim_end().len();
        self.out.truncate(length);
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    /// Adds words to the line.
    pub fn put(&mut self, words: &str) {
        if self.column == 0 && !words.is_empty() {
            self.out.extend(std::iter::repeat_n(' ', self.indent));
            self.column = self.indent;
        }
        self.out.push_str(words);
        self.column += words.chars().count();
    }

    /// Starts a new line, unless one was just started.
    pub fn line(&mut self) {
        if self.column > 0 {
            while self.out.ends_with(' ') {
                self.out.pop();
            }
            self.out.push('\n');
            self.column = 0;
        }
    }

    /// Leaves one line empty.
    fn blank(&mut self) {
        self.line();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Prints with a larger indentation.
    pub fn indented(&mut self, by: usize, print: impl FnOnce(&mut Self)) {
        let before = self.indent;
        self.indent = (before + by).min(MOST_INDENT);
        print(self);
        self.indent = before;
    }

    /// Prints the comments that stand before a place in the text.
    pub fn comments_before(&mut self, place: u32) {
        while let Some(comment) = self.layout.comments.get(self.next_comment) {
            if comment.span.start >= place {
                break;
            }
            self.next_comment += 1;
            if comment.own_line || self.out.is_empty() {
                self.line();
                if comment.after_blank {
                    self.blank();
                }
            } else if self.column > 0 {
                self.put(if self.out.ends_with(' ') { " " } else { "  " });
            } else if self.out.ends_with('\n') && !self.out.ends_with("\n\n") {
                // The line it stood behind has just ended.
                self.out.pop();
                self.out.push_str("  ");
                self.column = 1;
            }
            let words = &self.text[comment.span.range()];
            self.put(words);
            self.line();
        }
    }

    /// Whether a comment that is not printed yet stands inside a span.
    pub fn has_comment(&self, span: Span) -> bool {
        let rest = &self.layout.comments[self.next_comment..];
        let first = rest.partition_point(|comment| comment.span.start < span.start);
        rest.get(first).is_some_and(|comment| comment.span.start < span.end)
    }

    /// Whether this many characters, of a part with this span, fit in the line.
    pub fn fits(&self, width: usize, span: Span) -> bool {
        let column = if self.column == 0 { self.indent } else { self.column };
        column + width <= WIDTH && !self.has_comment(span)
    }

    /// Prints a section: its keyword, and its declarations beneath each other.
    pub fn section<T>(
        &mut self,
        keyword: &str,
        keyword_place: Span,
        declarations: &[T],
        span: impl Fn(&T) -> Span,
        mut print: impl FnMut(&mut Self, &T),
    ) {
        self.line();
        self.indent = 0;
        self.comments_before(keyword_place.start);
        self.line();
        if self.is_after_blank(keyword_place.start)
            || !self.out.is_empty() && !self.out.ends_with("\n\n") && keyword != "eqn"
        {
            self.blank();
        }
        self.put(keyword);
        self.put(&" ".repeat(MARGIN - keyword.len()));
        self.indented(MARGIN, |printer| {
            for (index, declaration) in declarations.iter().enumerate() {
                let span = span(declaration);
                if index > 0 {
                    printer.line_before(span.start);
                } else if printer.has_comment(Span { start: keyword_place.end, end: span.start, ..span }) {
                    printer.comments_before(span.start);
                }
                print(printer, declaration);
            }
        });
        self.line();
    }

    /// Starts a line for a declaration: comments before it, and an empty line where the user left one.
    fn line_before(&mut self, place: u32) {
        self.comments_before(place);
        self.line();
        if self.is_after_blank(place) {
            self.blank();
        }
    }

    fn is_after_blank(&self, place: u32) -> bool {
        self.layout.after_blank.binary_search(&place).is_ok()
    }

    /// Prints a data section.
    pub fn data_section(&mut self, section: &DataSection, keyword: Span) {
        match section {
            DataSection::Sorts(sorts) => {
                self.section("sort", keyword, sorts, sort_declaration_span, |printer, declaration| match declaration {
                    SortDeclaration::New(names, _) => {
                        printer.names(names);
                        printer.put(";");
                    }
                    SortDeclaration::Alias(name, sort, _) => {
                        printer.put(printer.tree.names.text(name.symbol));
                        printer.put(" = ");
                        printer.sort(*sort);
                        printer.put(";");
                    }
                })
            }
            DataSection::Constructors(functions) => self.functions("cons", keyword, functions),
            DataSection::Maps(functions) => self.functions("map", keyword, functions),
            DataSection::Equations { variables, equations } => {
                if !variables.is_empty() {
                    self.variable_section("var", keyword, variables);
                }
                if equations.is_empty() {
                    return;
                }
                // Where variables stand before the equations, the keyword's own place is not known and not needed.
                let keyword = if variables.is_empty() { keyword } else { equations[0].span };
                self.section(
                    "eqn",
                    keyword,
                    equations,
                    |equation| equation.span,
                    |printer, equation| {
                        if let Some(condition) = equation.condition {
                            printer.expression(condition);
                            printer.put(" -> ");
                        }
                        let left = printer.width(equation.left);
                        let left_fits = printer.fits(left, printer.tree.span(equation.left));
                        if equation.condition.is_some() && !left_fits {
                            printer.line();
                            printer.put("  ");
                        }
                        printer.expression(equation.left);
                        printer.put(" = ");
                        let width = printer.width(equation.right) + 1;
                        if !printer.fits(width, printer.tree.span(equation.right)) {
                            printer.line();
                            printer.indented(2, |printer| printer.expression(equation.right));
                        } else {
                            printer.expression(equation.right);
                        }
                        printer.put(";");
                    },
                );
            }
        }
    }

    /// Prints a `var` or `glob` section.
    pub fn variable_section(&mut self, word: &str, keyword: Span, variables: &[(Vec<Variables>, Span)]) {
        self.section(
            word,
            keyword,
            variables,
            |(_, span)| *span,
            |printer, (variables, _)| {
                printer.variables(variables);
                printer.put(";");
            },
        );
    }

    fn functions(&mut self, word: &str, keyword: Span, functions: &[Functions]) {
        self.section(
            word,
            keyword,
            functions,
            |functions| functions.span,
            |printer, functions| {
                printer.names(&functions.names);
                printer.put(": ");
                printer.sort(functions.sort);
                printer.put(";");
            },
        );
    }

    /// Prints `x, y`.
    pub fn names(&mut self, names: &[Identifier]) {
        for (index, name) in names.iter().enumerate() {
            self.comments_before(name.span.start);
            if index > 0 {
                let width = self.tree.names.text(name.symbol).chars().count();
                self.put(if self.column + width + 4 > WIDTH { "," } else { ", " });
                if self.column + width + 3 > WIDTH {
                    self.line();
                }
            }
            self.put(self.tree.names.text(name.symbol));
        }
    }

    /// Prints `x, y: S, z: T`.
    pub fn variables(&mut self, variables: &[Variables]) {
        for (index, group) in variables.iter().enumerate() {
            if index > 0 {
                self.put(", ");
            }
            self.names(&group.names);
            self.put(": ");
            self.sort(group.sort);
        }
    }

    /// Prints a sort.
    pub fn sort(&mut self, id: SortId) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.sort_inside(id));
    }

    fn sort_inside(&mut self, id: SortId) {
        let tree = self.tree;
        self.comments_before(tree.sort_span(id).start);
        match tree.sort(id) {
            Sort::Basic(basic) => self.put(basic.text()),
            Sort::Name(name) => self.put(tree.names.text(*name)),
            Sort::Container(container, inside) => {
                self.put(container.text());
                self.put("(");
                self.sort(*inside);
                self.put(")");
            }
            Sort::Struct(constructors) => {
                let in_one_line = self.fits(self.sort_width(id) + 1, tree.sort_span(id));
                self.structured(constructors, in_one_line);
            }
            Sort::Function(domain, codomain) => {
                self.product(domain);
                self.put(" -> ");
                self.sort(*codomain);
            }
            Sort::Product(factors) => self.product(factors),
            Sort::Brackets(inside) => {
                self.put("(");
                self.sort(*inside);
                self.put(")");
            }
        }
    }

    fn product(&mut self, factors: &[SortId]) {
        for (index, &factor) in factors.iter().enumerate() {
            if index > 0 {
                self.put(" # ");
            }
            self.sort(factor);
        }
    }

    fn structured(&mut self, constructors: &[StructConstructor], in_one_line: bool) {
        self.put("struct ");
        // Bars stand beneath each other, under the `t` of `struct`.
        let indent = self.column.saturating_sub(2);
        let before = self.indent;
        for (index, constructor) in constructors.iter().enumerate() {
            if index > 0 {
                if in_one_line {
                    self.put(" | ");
                } else {
                    self.comments_before(constructor.name.span.start);
                    self.line();
                    self.indent = indent;
                    self.put("| ");
                }
            }
            self.put(self.tree.names.text(constructor.name.symbol));
            if !constructor.arguments.is_empty() {
                self.put("(");
                for (index, (projection, sort)) in constructor.arguments.iter().enumerate() {
                    if index > 0 {
                        self.put(", ");
                    }
                    if let Some(projection) = projection {
                        self.comments_before(projection.span.start);
                        self.put(self.tree.names.text(projection.symbol));
                        self.put(": ");
                    }
                    self.sort(*sort);
                }
                self.put(")");
            }
            if let Some(recogniser) = constructor.recogniser {
                self.put(" ? ");
                self.put(self.tree.names.text(recogniser.symbol));
            }
        }
        self.indent = before;
    }

    /// How wide an expression is in one line.
    pub fn width(&mut self, id: ExpressionId) -> usize {
        if self.widths.is_empty() {
            self.widths = vec![0; self.tree.expression_count()];
        }
        if self.widths[id.0 as usize] == 0 {
            let width = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.width_inside(id));
            self.widths[id.0 as usize] = width.clamp(1, u32::MAX as usize) as u32;
        }
        self.widths[id.0 as usize] as usize
    }

    fn width_inside(&mut self, id: ExpressionId) -> usize {
        let tree = self.tree;
        let name = |symbol| tree.names.text(symbol).chars().count();
        match tree.expression(id) {
            Expression::Name(symbol) | Expression::Number(symbol) => name(*symbol),
            Expression::List(list) | Expression::Set(list) | Expression::Bag(list) => {
                2 + tree.elements(list).iter().map(|&element| self.width(element) + 2).sum::<usize>()
            }
            Expression::Comprehension(variable, sort, body) => {
                name(variable.symbol) + self.sort_width(*sort) + 9 + self.width(*body)
            }
            Expression::Brackets(inside) => 2 + self.width(*inside),
            Expression::Where(body, definitions) => {
                let definitions: usize =
                    definitions.iter().map(|(variable, value)| name(variable.symbol) + 5 + self.width(*value)).sum();
                self.width(*body) + 8 + definitions
            }
            Expression::Binder(binder, variables, body) => {
                binder.text().len() + 3 + self.variables_width(variables) + self.width(*body)
            }
            Expression::Prefix(_, operand) => 1 + self.width(*operand),
            Expression::Infix(infix, left, right) => self.width(*left) + infix.text().len() + 2 + self.width(*right),
            Expression::Update(function, argument, value) => {
                self.width(*function) + self.width(*argument) + self.width(*value) + 6
            }
            Expression::Apply(function, arguments) => {
                let arguments: usize = tree.elements(arguments).iter().map(|&argument| self.width(argument) + 2).sum();
                self.width(*function) + arguments
            }
        }
    }

    /// How wide declarations of variables are in one line.
    pub fn variables_width(&self, variables: &[Variables]) -> usize {
        let group = |group: &Variables| {
            let names: usize =
                group.names.iter().map(|name| self.tree.names.text(name.symbol).chars().count() + 2).sum();
            names + self.sort_width(group.sort) + 2
        };
        variables.iter().map(group).sum::<usize>().saturating_sub(2)
    }

    /// How wide a sort is in one line.
    fn sort_width(&self, id: SortId) -> usize {
        let tree = self.tree;
        let name = |symbol| tree.names.text(symbol).chars().count();
        let several = |sorts: &[SortId]| sorts.iter().map(|&sort| self.sort_width(sort) + 3).sum::<usize>();
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match tree.sort(id) {
            Sort::Basic(basic) => basic.text().len(),
            Sort::Name(symbol) => name(*symbol),
            Sort::Container(container, inside) => container.text().len() + 2 + self.sort_width(*inside),
            Sort::Struct(constructors) => {
                let constructor = |constructor: &StructConstructor| {
                    let argument = |(projection, sort): &(Option<Identifier>, SortId)| {
                        projection.map_or(0, |projection| name(projection.symbol) + 2) + self.sort_width(*sort) + 2
                    };
                    let recogniser = constructor.recogniser.map_or(0, |recogniser| name(recogniser.symbol) + 3);
                    let arguments: usize = constructor.arguments.iter().map(argument).sum();
                    name(constructor.name.symbol) + arguments + recogniser + 3
                };
                constructors.iter().map(constructor).sum::<usize>() + 4
            }
            Sort::Function(domain, codomain) => several(domain) + 1 + self.sort_width(*codomain),
            Sort::Product(factors) => several(factors) - 3,
            Sort::Brackets(inside) => 2 + self.sort_width(*inside),
        })
    }

    /// Prints an expression.
    pub fn expression(&mut self, id: ExpressionId) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.expression_inside(id));
    }

    fn expression_inside(&mut self, id: ExpressionId) {
        let tree = self.tree;
        self.comments_before(tree.span(id).start);
        let width = self.width(id);
        let in_one_line = self.fits(width, tree.span(id));
        match tree.expression(id) {
            Expression::Name(symbol) | Expression::Number(symbol) => self.put(tree.names.text(*symbol)),
            Expression::List(list) => {
                self.put("[");
                self.list(tree.elements(list), in_one_line);
                self.close("]", tree.span(id));
            }
            Expression::Set(list) => {
                self.put("{");
                self.list(tree.elements(list), in_one_line);
                self.close("}", tree.span(id));
            }
            Expression::Bag(list) if list.is_empty() => self.put("{:}"),
            Expression::Bag(list) => {
                self.put("{");
                for (index, pair) in tree.elements(list).chunks(2).enumerate() {
                    if index > 0 {
                        self.put(", ");
                    }
                    self.expression(pair[0]);
                    self.put(": ");
                    self.expression(pair[1]);
                }
                self.close("}", tree.span(id));
            }
            Expression::Comprehension(variable, sort, body) => {
                self.put("{ ");
                self.put(tree.names.text(variable.symbol));
                self.put(": ");
                self.sort(*sort);
                self.put(" | ");
                self.expression(*body);
                self.close(" }", tree.span(id));
            }
            Expression::Brackets(inside) => {
                self.put("(");
                self.indented(1, |printer| printer.expression(*inside));
                self.close(")", tree.span(id));
            }
            Expression::Where(body, definitions) => {
                self.expression(*body);
                self.break_or_space(in_one_line);
                self.indented(2, |printer| {
                    printer.put("whr ");
                    for (index, (variable, value)) in definitions.iter().enumerate() {
                        if index > 0 {
                            printer.put(",");
                            printer.break_or_space(in_one_line);
                        }
                        printer.comments_before(variable.span.start);
                        printer.put(tree.names.text(variable.symbol));
                        printer.put(" = ");
                        printer.expression(*value);
                    }
                    printer.put(" end");
                });
            }
            Expression::Binder(binder, variables, body) => {
                self.put(binder.text());
                self.put(" ");
                self.variables(variables);
                self.put(".");
                self.break_or_space(in_one_line);
                self.indented(2, |printer| printer.expression(*body));
            }
            Expression::Prefix(prefix, operand) => {
                self.put(prefix.text());
                self.expression(*operand);
            }
            Expression::Infix(infix, ..) => self.chain(*infix, id, in_one_line),
            Expression::Update(function, argument, value) => {
                self.expression(*function);
                self.put("[");
                self.expression(*argument);
                self.put(" -> ");
                self.expression(*value);
                self.close("]", tree.span(id));
            }
            Expression::Apply(function, arguments) => {
                self.expression(*function);
                self.put("(");
                self.indented(2, |printer| printer.list(tree.elements(arguments), in_one_line));
                self.close(")", tree.span(id));
            }
        }
    }

    /// Prints a closing bracket that stands at the end of a span, after the comments before it.
    pub fn close(&mut self, bracket: &str, span: Span) {
        self.comments_before(span.end.saturating_sub(1));
        self.put(bracket);
    }

    /// A space, or a new line.
    pub fn break_or_space(&mut self, in_one_line: bool) {
        if in_one_line {
            self.put(" ");
        } else {
            self.line();
        }
    }

    /// Prints expressions with commas between them.
    pub fn list(&mut self, elements: &[ExpressionId], in_one_line: bool) {
        for (index, &element) in elements.iter().enumerate() {
            if index > 0 {
                self.put(",");
                let width = self.width(element);
                let fits = in_one_line || self.fits(width + 2, self.tree.span(element));
                self.break_or_space(fits);
            }
            self.expression(element);
        }
    }

    /// Prints operands of one operator, beneath each other when they do not fit in the line. A chain such as
    /// `a && b && c` is one construct whichever way it groups.
    fn chain(&mut self, infix: Infix, id: ExpressionId, in_one_line: bool) {
        let mut operands = Vec::new();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            match self.tree.expression(id) {
                Expression::Infix(other, left, right) if *other == infix => {
                    pending.push(*right);
                    pending.push(*left);
                }
                _ => operands.push(id),
            }
        }
        for (index, &operand) in operands.iter().enumerate() {
            if index > 0 {
                self.comments_before(self.tree.span(operand).start);
                self.break_or_space(in_one_line);
                self.put(infix.text());
                self.put(" ");
            }
            self.expression(operand);
        }
    }
}

fn sort_declaration_span(declaration: &SortDeclaration) -> Span {
    match declaration {
        SortDeclaration::New(_, span) | SortDeclaration::Alias(_, _, span) => *span,
    }
}
