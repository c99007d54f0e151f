//! Declarations, and recovery after a broken one.

use std::collections::HashSet;

use trefoil_source::{Diagnostic, Place, Span, cannot_read};

use super::super::codes;
use super::super::lexer::unescape;
use super::super::names::Symbol;
use super::super::store::List;
use super::super::token::{Kind, Token};
use super::super::tree::*;
use super::{Failed, Parser, Result};

/// What encloses the declarations being read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    pub(super) local: bool,
    pub(super) module: bool,
    pub(super) timed: bool,
}

/// Something declared; equations wait for their neighbours.
#[derive(Clone, Copy)]
enum Declared {
    Whole(Declaration<Symbol>, Span),
    Equation(Named<Symbol>, Clause),
}

/// The declarations of one list, equations of one name put together.
#[derive(Default)]
struct Gathered {
    declarations: Vec<DeclarationId>,
    function: Option<(Named<Symbol>, Vec<Clause>)>,
    /// The first text that could not be read, and the names that this and further such text may declare.
    broken: Option<Span>,
    may_be_declared: Vec<Named<Symbol>>,
    /// What was read of declarations that are not kept.
    parts: Vec<ExpressionId>,
}

impl Parser<'_, '_> {
    /// Reads the whole file.
    pub(super) fn file(&mut self) -> Vec<DeclarationId> {
        let mut gathered = Gathered::default();
        while self.peek() != Kind::End {
            self.declarations(&mut gathered, |_| false);
        }
        self.finish(gathered)
    }

    /// Reads the declarations of a `let`. The first mistake ends them, and the declaration around the `let` too.
    pub(super) fn local_declarations(&mut self) -> Result<Vec<DeclarationId>> {
        self.session.included.push(HashSet::new());
        let gathered = self.local_list();
        self.session.included.pop();
        gathered
    }

    fn local_list(&mut self) -> Result<Vec<DeclarationId>> {
        let mut gathered = Gathered::default();
        let mut first = true;
        while self.peek() != Kind::Within && self.peek() != Kind::End {
            if !first && (!self.token().after_newline || self.closes_module() || self.left_the_let()) {
                break;
            }
            first = false;
            let (declared, whole) = self.declaration()?;
            if !whole {
                self.read.extend(body_of(declared));
                return Err(Failed);
            }
            self.gather(&mut gathered, declared);
        }
        self.flush(&mut gathered);
        Ok(gathered.declarations)
    }

    /// A keyword that no `let` can hold, at the start of a line.
    fn left_the_let(&self) -> bool {
        let kind = self.peek();
        let allowed = matches!(kind, Kind::External | Kind::Transparent | Kind::Timed);
        kind.is_declaration_keyword() && !allowed && self.column(self.token()) == 0
    }

    fn closes_module(&self) -> bool {
        matches!(self.peek(), Kind::Exports | Kind::EndModule)
    }

    /// Reads declarations up to where `stop` says, and recovers from broken ones.
    fn declarations(&mut self, gathered: &mut Gathered, stop: fn(Kind) -> bool) {
        while self.peek() != Kind::End && !stop(self.peek()) {
            let start = self.at;
            let nodes = self.tree.expression_count();
            self.read.clear();
            self.closed_at = None;
            let (sequences, free, depth, context) = (self.sequences, self.free, self.depth, self.context);
            // Modules and timed sections hold declarations, as deep as they please.
            let read = stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.declaration());
            if let Ok((declared, true)) = read
                && self.ends_here(start, stop)
            {
                self.gather(gathered, declared);
                continue;
            }
            (self.sequences, self.free, self.depth, self.context) = (sequences, free, depth, context);
            self.asserting = false;
            let span = self.span_from(self.tokens[start].start);
            let mut declared = read.ok().map(|(declared, _)| declared);
            let mistake = self.at;
            self.beside = self.before();
            let outdented = |at: &usize| self.column(self.tokens[*at]) <= self.column(self.tokens[start]);
            let line = self.resume.filter(|at| *at > start && outdented(at));
            self.resume = None;
            let mut end = line.unwrap_or_else(|| self.next_start(start));
            let mut parts = std::mem::take(&mut self.read);
            if line.is_some() {
                // The next declaration was taken for the rest of this one.
                let again;
                (again, end) = self.cut_short(start, end, Self::declaration);
                declared = again.ok().map(|(declared, _)| declared);
                parts = std::mem::take(&mut self.read);
            } else if declared.and_then(body_of).is_some() {
                parts.extend(self.strays(mistake, end));
            }
            (self.sequences, self.free, self.depth, self.context) = (sequences, free, depth, context);
            self.silence(nodes);
            self.at = end;
            self.gather_broken(gathered, declared, parts, span, start);
        }
    }

    /// Keeps what is known of a broken declaration, from the token at `start` to here: its names, and what else is
    /// whole.
    fn gather_broken(
        &mut self,
        gathered: &mut Gathered,
        declared: Option<Declared>,
        parts: Vec<ExpressionId>,
        span: Span,
        start: usize,
    ) {
        let mut names = self.may_declare(start, self.at);
        let equals = self.tokens[start..self.at].iter().position(|token| token.kind == Kind::Equals);
        let from = equals.map_or(start, |equals| start + equals + 1);
        match declared {
            Some(Declared::Equation(name, clause)) => {
                let body = self.broken_body(clause.body, parts, from);
                names.retain(|other| other.name != name.name);
                self.gather(gathered, Declared::Equation(name, Clause { body, ..clause }));
            }
            Some(Declared::Whole(Declaration::Binding { pattern, body }, span)) => {
                let body = self.broken_body(body, parts, from);
                let bound = self.tree.pattern_span(pattern);
                names.retain(|other| other.span.start >= bound.end);
                self.gather(gathered, Declared::Whole(Declaration::Binding { pattern, body }, span));
            }
            Some(Declared::Whole(
                node @ (Declaration::Module { .. } | Declaration::Timed { .. } | Declaration::Include { .. }),
                span,
            )) => {
                // Its declarations were read one by one.
                names.clear();
                self.gather(gathered, Declared::Whole(node, span));
            }
            Some(Declared::Whole(node @ Declaration::Assert { .. }, span)) => {
                self.gather(gathered, Declared::Whole(node, span));
            }
            // Broken text between two equations does not make them two functions, so these are not put together yet.
            _ => {
                self.break_before(gathered, start);
                gathered.parts.extend(self.under_binders(parts, start, self.at));
            }
        }
        gathered.broken.get_or_insert(span);
        gathered.may_be_declared.extend(names);
    }

    /// Broken text that is indented deeper than the declaration before it probably belongs to it.
    fn break_before(&mut self, gathered: &mut Gathered, start: usize) {
        let line_of = |parser: &Self, span: Span| {
            let at = parser.tokens.partition_point(|token| token.start < span.start);
            span.file == parser.file && parser.column(parser.tokens[at]) < parser.column(parser.tokens[start])
        };
        if let Some(last) = gathered.function.as_ref().and_then(|(_, clauses)| clauses.last().copied()) {
            if line_of(self, last.span) {
                let body = self.broken_body(last.body, Vec::new(), start);
                if let Some(last) = gathered.function.as_mut().and_then(|(_, clauses)| clauses.last_mut()) {
                    last.body = body;
                }
            }
        } else if let Some(&last) = gathered.declarations.last()
            && let Declaration::Binding { pattern, body } = *self.tree.declaration(last)
            && line_of(self, self.tree.declaration_span(last))
        {
            let body = self.broken_body(body, Vec::new(), start);
            self.tree.all_declarations[last.index()] = Declaration::Binding { pattern, body };
        }
    }

    /// Whether the next line is a declaration, as far as one can see without reading it.
    pub(super) fn at_declaration(&self) -> bool {
        let token = self.token();
        let ends = |token: &Token| token.after_newline || token.kind == Kind::End;
        let mut line = self.tokens[self.at + 1..].iter().take_while(|token| !ends(token));
        token.after_newline && (token.kind.is_declaration_keyword() || line.any(|token| token.kind == Kind::Equals))
    }

    /// The body of a declaration that is broken behind the token at `from`: nothing is known of it but its parts.
    fn broken_body(&mut self, body: ExpressionId, more: Vec<ExpressionId>, from: usize) -> ExpressionId {
        let span = self.tree.expression_span(body);
        let mut parts = match *self.tree.expression(body) {
            Expression::Error(parts) => self.tree.list(parts).to_vec(),
            _ => vec![body],
        };
        parts.extend(more);
        let parts = self.under_binders(parts, from.min(self.at), self.at);
        let parts = self.tree.add_list(parts);
        self.tree.add_expression(Expression::Error(parts), span)
    }

    /// The declarations of a list that has been read.
    fn finish(&mut self, mut gathered: Gathered) -> Vec<DeclarationId> {
        self.flush(&mut gathered);
        if let Some(span) = gathered.broken {
            let names = self.tree.add_list(gathered.may_be_declared);
            let parts = self.tree.add_list(gathered.parts);
            gathered.declarations.push(self.tree.add_declaration(Declaration::Error { names, parts }, span));
        }
        gathered.declarations
    }

    /// Checks that nothing follows a declaration, which started at the token `start`, on its line.
    fn ends_here(&mut self, start: usize, stop: fn(Kind) -> bool) -> bool {
        let token = self.token();
        if token.after_newline || stop(token.kind) {
            return true;
        }
        if let Some(line) = self.continued_line(start + 1) {
            self.report_dangling(line);
            self.resume = Some(line);
            return false;
        }
        let place = Place::Span(self.span_of(token));
        let closes = matches!(
            token.kind,
            Kind::CloseRound
                | Kind::CloseBrace
                | Kind::CloseProductions
                | Kind::CloseMap
                | Kind::CloseRename
                | Kind::CloseEvents
                | Kind::CloseSquare
                | Kind::Greater
        );
        let complaint = if closes {
            Diagnostic::error(codes::UNOPENED, format!("{} has no opening bracket", token.kind.shown()), place)
        } else {
            let message = format!("{} follows a complete declaration on its line", self.found());
            let keyword = self.tokens[start].kind;
            let before = self.before().map(|before| before.kind);
            let starts = token.kind.only_starts_expression() || token.kind == Kind::OpenRound;
            let help = match token.kind {
                Kind::Comma if keyword == Kind::Channel => {
                    "a `channel` declaration has one type; write another declaration for other channels".to_string()
                }
                Kind::OpenRound if keyword == Kind::Datatype => {
                    "write the fields of a constructor after a dot: `A.T`".to_string()
                }
                Kind::Name if matches!(keyword, Kind::Channel | Kind::External | Kind::Transparent) => {
                    "separate names by commas".to_string()
                }
                _ => match self.hint() {
                    Some(hint) => hint,
                    None if starts && before == Some(Kind::Name) => {
                        "write `->` between an event and a process, and an operator between processes".to_string()
                    }
                    None => "write an operator before it, or start a new line".to_string(),
                },
            };
            Diagnostic::error(codes::SAME_LINE, message, place).help(help)
        };
        self.complain(complaint);
        false
    }

    /// Reports the line before this one: it ends with an operator, so that the next definition was taken for its
    /// operand.
    pub(super) fn report_dangling(&mut self, line: usize) {
        let last = self.tokens[line - 1];
        let message = format!("a declaration cannot end with {}", self.shown(last));
        let next = Place::Span(self.span_of(self.tokens[line]));
        let complaint = Diagnostic::error(codes::SAME_LINE, message, Place::Span(self.span_of(last)));
        self.report(complaint.also(next, "this line is another declaration"));
    }

    /// The remains of a broken declaration are not reported again.
    fn silence(&mut self, from: usize) {
        for at in from..self.tree.expressions.len() {
            if matches!(self.tree.expressions[at], Expression::Wildcard | Expression::Both(..)) {
                self.tree.expressions[at] = Expression::Error(List::EMPTY);
            }
        }
    }

    /// Where the parser resumes after the declaration at `broken`: the next line that looks like a declaration.
    fn next_start(&self, broken: usize) -> usize {
        let indent = self.column(self.tokens[broken]);
        (broken + 1..self.tokens.len())
            .find(|&at| {
                let token = self.tokens[at];
                let ends_block = match token.kind {
                    Kind::End => return true,
                    Kind::CloseBrace => self.context.timed,
                    Kind::Exports | Kind::EndModule => self.context.module,
                    _ => false,
                };
                let defines = token.kind == Kind::Name && self.tokens[at + 1].kind == Kind::Equals;
                let whole = defines || !self.tokens[at - 1].kind.continues();
                let starts = token.kind.is_declaration_keyword() || (token.kind.starts_declaration() && whole);
                let outdented = || token.kind.is_declaration_keyword() || self.column(token) <= indent;
                token.after_newline && (starts || ends_block) && outdented()
            })
            .unwrap_or(self.tokens.len() - 1)
    }

    pub(super) fn column(&self, token: Token) -> usize {
        let before = &self.source.text().as_bytes()[..token.start as usize];
        before.iter().rev().take_while(|&&byte| byte != b'\n' && byte != b'\r').count()
    }

    fn gather(&mut self, gathered: &mut Gathered, declared: Declared) {
        match declared {
            Declared::Whole(node, span) => {
                self.flush(gathered);
                gathered.declarations.push(self.tree.add_declaration(node, span));
            }
            Declared::Equation(name, clause) => match &mut gathered.function {
                Some((other, clauses)) if other.name == name.name => clauses.push(clause),
                _ => {
                    self.flush(gathered);
                    gathered.function = Some((name, vec![clause]));
                }
            },
        }
    }

    fn flush(&mut self, gathered: &mut Gathered) {
        if let Some((name, clauses)) = gathered.function.take() {
            let span = Span { start: clauses[0].span.start, ..clauses[clauses.len() - 1].span };
            let clauses = self.tree.add_list(clauses);
            gathered.declarations.push(self.tree.add_declaration(Declaration::Function { name, clauses }, span));
        }
    }

    /// Reads a declaration; says too whether all of it was good.
    fn declaration(&mut self) -> Result<(Declared, bool)> {
        let token = self.token();
        let (first, start) = (self.at, token.start);
        let (mut node, forbidden) = match token.kind {
            Kind::Channel => (self.channel()?, self.context.local),
            Kind::Datatype | Kind::Subtype => (self.datatype()?, self.context.local),
            Kind::Nametype => (self.nametype()?, self.context.local),
            Kind::External => (Declaration::External(self.names_after_keyword()?), false),
            Kind::Transparent => (Declaration::Transparent(self.names_after_keyword()?), false),
            Kind::Assert => (self.assertion()?, self.context.local || self.context.module),
            Kind::Module => (self.module()?, self.context.local),
            Kind::Instance => (self.instance()?, self.context.local),
            Kind::Timed => (self.timed()?, false),
            Kind::Name if self.is_directive("include") => (self.include()?, false),
            Kind::Name if self.is_directive("print") => {
                self.advance();
                let shown = Declaration::Print(self.expression(0)?);
                (shown, self.context.local || self.context.module || self.context.timed)
            }
            Kind::Name if self.is_annotation() => (self.annotation()?, false),
            Kind::Exports | Kind::EndModule => {
                return Err(self.unexpected(codes::DECLARATION_EXPECTED, "a declaration"));
            }
            Kind::Name if self.mend_keyword() => return self.declaration(),
            kind if kind.starts_declaration() || self.starts_pattern() => return self.definition(),
            _ => return Err(self.unexpected(codes::DECLARATION_EXPECTED, "a declaration")),
        };
        let span = self.span_from(start);
        if forbidden {
            let inside = match self.context {
                Context { local: true, .. } => "a `let`",
                Context { module: true, .. } => "a module",
                _ => "a timed section",
            };
            let message = format!("`{}` is not allowed in {inside}", self.text_of(token));
            let mut refusal = Diagnostic::error(codes::NOT_HERE, message, Place::Span(self.span_of(token)));
            if inside == "a module" {
                refusal =
                    refusal.help("write it after `endmodule` and qualify its names with the module, as in `M::P`");
            }
            self.report(refusal);
            if self.context.local {
                let names = self.may_declare(first, self.at);
                node = Declaration::Error { names: self.tree.add_list(names), parts: List::EMPTY };
            }
        }
        Ok((Declared::Whole(node, span), true))
    }

    fn starts_pattern(&self) -> bool {
        matches!(self.peek(), Kind::Integer | Kind::True | Kind::False | Kind::Character | Kind::String | Kind::Minus)
    }

    /// Whether the next name is a word that is no keyword elsewhere.
    fn is_directive(&self, word: &str) -> bool {
        let next = self.tokens[self.at + 1];
        let defines =
            matches!(next.kind, Kind::Equals | Kind::Caret | Kind::AtAt | Kind::Comma | Kind::DoubleColon | Kind::Dot);
        let applied = next.kind == Kind::OpenRound && next.start == self.token().end;
        self.text_of(self.token()) == word && !defines && !applied
    }

    fn is_annotation(&self) -> bool {
        let mut ahead = 1;
        while self.peek_at(ahead) == Kind::Comma && self.peek_at(ahead + 1) == Kind::Name {
            ahead += 2;
        }
        self.peek_at(ahead) == Kind::DoubleColon
    }

    pub(super) fn name(&mut self) -> Result<Named<Symbol>> {
        let token = self.expect(Kind::Name)?;
        Ok(Named { name: self.symbol_of(token), span: self.span_of(token) })
    }

    pub(super) fn names(&mut self) -> Result<List<Named<Symbol>>> {
        let names = self.separated(Self::name)?;
        Ok(self.tree.add_list(names))
    }

    fn names_after_keyword(&mut self) -> Result<List<Named<Symbol>>> {
        self.advance();
        self.names()
    }

    fn channel(&mut self) -> Result<Declaration<Symbol>> {
        let names = self.names_after_keyword()?;
        let fields = if self.accept(Kind::Colon) { Some(self.expression(0)?) } else { None };
        Ok(Declaration::Channel { names, fields })
    }

    fn datatype(&mut self) -> Result<Declaration<Symbol>> {
        let keyword = self.advance();
        let name = self.name()?;
        self.expect(Kind::Equals)?;
        let mut constructors = Vec::new();
        loop {
            let name = self.name()?;
            let mut fields = None;
            if self.accept(Kind::Dot) {
                // Names in broken fields may be further constructors.
                let read = self.expression(0);
                fields = Some(self.dropping(read)?);
            }
            constructors.push(Constructor { name, fields });
            if !self.accept(Kind::Bar) {
                break;
            }
        }
        let constructors = self.tree.add_list(constructors);
        Ok(match keyword.kind {
            Kind::Datatype => Declaration::Datatype { name, constructors },
            _ => Declaration::Subtype { name, constructors },
        })
    }

    fn nametype(&mut self) -> Result<Declaration<Symbol>> {
        self.advance();
        let name = self.name()?;
        self.expect(Kind::Equals)?;
        Ok(Declaration::Nametype { name, set: self.expression(0)? })
    }

    fn module(&mut self) -> Result<Declaration<Symbol>> {
        let keyword = self.advance();
        // What was read of the module is better than nothing.
        let name = self.name().unwrap_or(Named { name: self.tree.names.intern("_"), span: self.span_of(keyword) });
        let mut parameters = Vec::new();
        if self.peek() == Kind::OpenRound && !self.token().after_newline {
            let open = self.token();
            parameters = match self.bracketed("module", |parser| parser.pattern(0)) {
                Ok(parameters) => parameters,
                Err(Failed) => {
                    // The module is read although nothing is known of its parameters.
                    let after = (self.at..self.tokens.len()).find(|&at| self.tokens[at].after_newline);
                    self.at = after.unwrap_or(self.tokens.len() - 1);
                    vec![self.broken_pattern(self.span_from(open.start))]
                }
            };
        }
        let outside = self.context;
        self.context.module = true;
        self.session.included.push(HashSet::new());
        let stop = |kind| matches!(kind, Kind::Exports | Kind::EndModule);
        let mut parts = [Vec::new(), Vec::new()];
        for (part, end) in [Kind::Exports, Kind::EndModule].into_iter().enumerate() {
            let mut gathered = Gathered::default();
            self.declarations(&mut gathered, stop);
            parts[part] = self.finish(gathered);
            if !self.accept(end) {
                self.context = outside;
                let complaint = self.complaint(codes::NO_EXPORTS, end.shown());
                let complaint = complaint.also(Place::Span(self.span_of(keyword)), "in this module");
                // What was read of the module is better than nothing.
                self.complain(complaint);
                self.accept(Kind::EndModule);
                if part == 0 {
                    // The text does not show which names are exported, so all are.
                    parts.swap(0, 1);
                }
                break;
            }
        }
        self.context = outside;
        self.session.included.pop();
        let parameters = self.tree.add_list(parameters);
        let [private, exported] = parts;
        let private = self.tree.add_list(private);
        let exported = self.tree.add_list(exported);
        Ok(Declaration::Module { name, parameters, private, exported })
    }

    /// Reads `(x, y)` after a module's name; `()` is refused.
    fn bracketed<T>(&mut self, of: &str, read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let open = self.advance();
        if self.peek() == Kind::CloseRound {
            let place = Place::Span(self.span_of(self.token()));
            let message = format!("the brackets of the {of} are empty");
            let help = "remove the brackets";
            self.report(Diagnostic::error(codes::EMPTY_PARAMETERS, message, place).help(help));
            self.advance();
            return Ok(Vec::new());
        }
        let items = self.inside(|parser| parser.separated(read))?;
        self.close(open, Kind::CloseRound)?;
        Ok(items)
    }

    fn instance(&mut self) -> Result<Declaration<Symbol>> {
        self.advance();
        let name = self.name()?;
        self.expect(Kind::Equals)?;
        let module = self.name()?;
        let mut arguments = Vec::new();
        if self.peek() == Kind::OpenRound && !self.at_new_line() {
            arguments = self.bracketed("instance", |parser| parser.expression(0))?;
        }
        let arguments = self.tree.add_list(arguments);
        Ok(Declaration::Instance { name, module, arguments })
    }

    fn timed(&mut self) -> Result<Declaration<Symbol>> {
        self.advance();
        let mut durations = None;
        if self.peek() == Kind::OpenRound {
            let open = self.advance();
            durations = Some(self.inside(|parser| parser.expression(0))?);
            self.close(open, Kind::CloseRound)?;
        }
        let open = self.expect(Kind::OpenBrace)?;
        let outside = self.context;
        self.context.timed = true;
        let mut gathered = Gathered::default();
        self.declarations(&mut gathered, |kind| kind == Kind::CloseBrace);
        let declarations = self.finish(gathered);
        self.context = outside;
        // What was read of the section is better than nothing.
        let _ = self.close(open, Kind::CloseBrace);
        let declarations = self.tree.add_list(declarations);
        Ok(Declaration::Timed { durations, declarations })
    }

    fn include(&mut self) -> Result<Declaration<Symbol>> {
        let keyword = self.advance();
        let token = self.token();
        if token.kind != Kind::String || token.after_newline {
            self.session.incomplete = true;
            let message = "`include` needs a path in double quotes on its line";
            let place = Place::Span(self.span_of(keyword));
            self.complain(Diagnostic::error(codes::BAD_INCLUDE, message, place));
            return Err(Failed);
        }
        self.advance();
        let text = self.text_of(token);
        let written = &text[1..text.len() - 1];
        // A backslash in a path is a separator, not an escape, unless it makes a quote.
        let path = if written.contains("\\\"") { unescape(written) } else { written.to_string() };
        let symbol = self.tree.names.intern(&path);
        let (file, declarations) = self.included(&path, token);
        Ok(Declaration::Include { path: symbol, file, declarations })
    }

    fn included(&mut self, path: &str, token: Token) -> (Option<IncludedFile>, List<DeclarationId>) {
        let place = Place::Span(self.span_of(token));
        let name = self.session.loader.resolve(self.source.name(), path);
        if self.session.open.contains(&name) {
            let message = format!("`{path}` includes itself, perhaps through other files");
            let diagnostic = Diagnostic::error(codes::CYCLE, message, place);
            let chain = self.session.open.join("`, which includes `");
            self.report(diagnostic.note(format!("the files being read: `{chain}`")));
            self.session.incomplete = true;
            return (None, List::EMPTY);
        }
        if self.session.here().contains(&name) {
            return (None, List::EMPTY);
        }
        let read = self.session.load(&name).or_else(|reason| {
            // Some scripts use paths relative to the root script.
            let other = self.session.loader.resolve(&self.session.root, path);
            if other == name || self.session.open.contains(&other) || self.session.here().contains(&other) {
                return Err(reason);
            }
            self.session.load(&other).map_err(|_| reason)
        });
        let read = read.or_else(|reason| match self.session.similar(&name) {
            // Some file systems ignore case.
            Some(other) if other.eq_ignore_ascii_case(&name) && !self.session.open.contains(&other) => {
                self.session.load(&other)
            }
            _ => Err(reason),
        });
        match read {
            Ok(loaded) => {
                let list = stacker::maybe_grow(256 * 1024, 4 * 1024 * 1024, || self.session.file(loaded, self.tree));
                (Some(IncludedFile(loaded.id)), list)
            }
            Err(reason) => {
                let message = cannot_read(path, &reason);
                let diagnostic = Diagnostic::error(codes::CANNOT_READ, message, place);
                let diagnostic = diagnostic.note(format!("looked for `{name}`"));
                let diagnostic = self.session.suggest_file(diagnostic, &name);
                self.report(diagnostic);
                self.session.incomplete = true;
                (None, List::EMPTY)
            }
        }
    }

    /// Reads `f(x) = e` or `p = e`. When only `e` is broken the names are still declared.
    fn definition(&mut self) -> Result<(Declared, bool)> {
        let start = self.token().start;
        let mark = self.tree.mark();
        let left = self.expression(0);
        let left = self.dropping(left)?;
        if self.peek() != Kind::Equals {
            let span = self.tree.expression_span(left);
            let compares =
                matches!(self.tree.expression(left), Expression::Binary { operator: BinaryOperator::Equal, .. });
            let complaint = if self.token().after_newline {
                let message = "a definition needs `=` and a value";
                Diagnostic::error(codes::NO_EQUALS, message, Place::Span(span))
            } else {
                self.complaint(codes::NO_EQUALS, "`=` to make this a definition").also(Place::Span(span), "")
            };
            let help = "write `=` to define, `==` to compare";
            return Err(self.complain(if compares { complaint.help(help) } else { complaint }));
        }
        // `f(x)(y)`: the innermost function is the name, the outermost arguments the last parameters.
        let mut groups = Vec::new();
        let mut function = left;
        while let Expression::Apply { function: inner, arguments } = *self.tree.expression(function) {
            groups.push(arguments);
            function = inner;
        }
        let name = match *self.tree.expression(function) {
            Expression::Name(name) if !groups.is_empty() => {
                Some(Named { name, span: self.tree.expression_span(function) })
            }
            _ => None,
        };
        let Some(name) = name else {
            let pattern = self.pattern_from(left, mark);
            self.advance();
            let (body, whole) = self.body();
            let span = self.span_from(start);
            return Ok((Declared::Whole(Declaration::Binding { pattern, body }, span), whole));
        };
        let mut parameters = Vec::new();
        for group in groups.into_iter().rev() {
            parameters.push(self.all_converted(group));
        }
        self.tree.cut_back(mark);
        let parameters = self.tree.add_list(parameters);
        self.advance();
        let (body, whole) = self.body();
        let clause = Clause { parameters, body, span: self.span_from(start) };
        Ok((Declared::Equation(name, clause), whole))
    }

    fn body(&mut self) -> (ExpressionId, bool) {
        let start = self.token().start;
        match self.expression(0) {
            Ok(body) => (body, true),
            Err(Failed) => {
                let parts = std::mem::take(&mut self.read);
                (self.broken(parts, start), false)
            }
        }
    }
}

/// The body of an equation or a binding.
fn body_of(declared: Declared) -> Option<ExpressionId> {
    match declared {
        Declared::Equation(_, clause) => Some(clause.body),
        Declared::Whole(Declaration::Binding { body, .. }, _) => Some(body),
        Declared::Whole(..) => None,
    }
}
