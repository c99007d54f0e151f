//! The parser: tokens to tree.
//!
//! Recursive descent with precedence climbing. CSPM has no layout rule, yet newlines matter: a declaration ends at the
//! end of a line if the next line starts with a token that cannot continue an expression. Only `(`, `<` and `-` can
//! both continue an expression and start one; at the start of a line and outside brackets they start a new declaration.
//! `>` closes a sequence if one is open in the innermost bracket, otherwise it compares. A possible pattern is parsed
//! as an expression and converted when `=`, `<-`, `:` or `->` shows that it is one.
//!
//! A mistake is reported once. The parser resumes at the next line that looks like a declaration and is indented no
//! deeper than the broken one, and records the names that the broken text may declare, so that later stages do not
//! report their uses. The parts of a broken declaration that were read stay in the tree, and their names are
//! resolved. Depth costs heap, not stack: every nested expression checks for room and moves to a fresh segment.

mod assertions;
mod brackets;
mod broken;
mod declarations;
mod expressions;
mod hints;
mod patterns;
mod types;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use trefoil_control::{Control, Stopped, count};
use trefoil_source::{Diagnostic, FileId, Place, Severity, SourceFile, Sources, Span, cannot_read};

use super::codes;
use super::lexer::lex;
use super::loader::{Encoding, Loader, decode};
use super::names::Symbol;
use super::store::{List, Tree};
use super::token::{Kind, Token};
use super::tree::*;
use declarations::Context;
pub(super) use expressions::{level, levels};

/// The result of parsing a script.
#[derive(Debug)]
pub struct Parsed {
    /// The tree; `Error` nodes stand for text that could not be parsed.
    pub tree: Tree<Symbol>,
    /// The mistakes, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// The deepest nesting of expressions that the parser accepts.
const DEEPEST: u32 = 200_000;

/// The size of the largest file that the parser accepts.
const LONGEST: usize = 1 << 30;

/// The largest number of inclusions: modules that include a file with modules double the work with each level.
const MOST_INCLUSIONS: usize = 20_000;
/// How many missing files are searched for under similar names.
const MOST_SEARCHES: usize = 100;

/// Parses the script `file` and the files that it includes.
pub fn parse(file: &str, loader: &dyn Loader, sources: &mut Sources) -> Parsed {
    read(file, loader, sources, &Control::unlimited())
}

/// As [`parse`], until the control says stop.
pub fn parse_under(
    control: &Control,
    file: &str,
    loader: &dyn Loader,
    sources: &mut Sources,
) -> std::result::Result<Parsed, Stopped> {
    let parsed = read(file, loader, sources, control);
    control.check()?;
    Ok(parsed)
}

fn read(file: &str, loader: &dyn Loader, sources: &mut Sources, control: &Control) -> Parsed {
    let mut tree = Tree::default();
    let mut session = Session::new(loader, file, sources, control);
    match session.load(file) {
        Ok(loaded) => {
            tree.root = Some(loaded.id);
            tree.declarations = session.file(loaded, &mut tree);
        }
        Err(reason) => {
            let message = cannot_read(file, &reason);
            let diagnostic = Diagnostic::error(codes::CANNOT_READ, message, Place::File(file.to_string()));
            let diagnostic = session.suggest_file(diagnostic, file);
            session.diagnostics.push(diagnostic);
        }
    }
    Parsed { diagnostics: session.finish(&mut tree, 0), tree }
}

/// Parses one expression from a file of `sources` into a tree that may already hold a script.
pub fn parse_expression_into(
    tree: &mut Tree<Symbol>,
    file: FileId,
    sources: &Sources,
) -> (ExpressionId, Vec<Diagnostic>) {
    let from = tree.expressions.len();
    let mut sources = sources.clone();
    let control = Control::unlimited();
    let mut session = Session::new(&NoLoader, "", &mut sources, &control);
    let mut parser = Parser::new(file, tree, &mut session);
    let whole = Span { file, start: 0, end: parser.source.text().len() as u32 };
    let read = parser.expression(0).and_then(|expression| match parser.peek() {
        Kind::End => Ok(expression),
        _ => Err(parser.unexpected(codes::TOKEN_EXPECTED, "the end of the expression")),
    });
    let expression = read.unwrap_or_else(|Failed| parser.tree.add_expression(Expression::Error(List::EMPTY), whole));
    (expression, session.finish(tree, from))
}

/// Parses declarations from a file of `sources` into a tree that may already hold a script. They are not added to the
/// tree's own list, and they cannot include files.
pub fn parse_declarations_into(
    tree: &mut Tree<Symbol>,
    file: FileId,
    sources: &Sources,
) -> (List<DeclarationId>, Vec<Diagnostic>) {
    let from = tree.expressions.len();
    let mut sources = sources.clone();
    let control = Control::unlimited();
    let mut session = Session::new(&NoLoader, "", &mut sources, &control);
    let list = session.file(Loaded { id: file, again: false }, tree);
    (list, session.finish(tree, from))
}

struct NoLoader;

impl Loader for NoLoader {
    fn read(&self, _: &str, _: &Control) -> Result<Vec<u8>, String> {
        Err("files cannot be included here".to_string())
    }
}

/// What all files of one script share.
struct Session<'a> {
    control: &'a Control,
    loader: &'a dyn Loader,
    sources: &'a mut Sources,
    root: String,
    diagnostics: Vec<Diagnostic>,
    /// All files that were read.
    read: HashSet<String>,
    /// The files included in each scope that is open, the innermost last: a scope has a file once, another scope may
    /// have it too.
    included: Vec<HashSet<String>>,
    inclusions: usize,
    /// The file that exists instead of each one that does not.
    similar: HashMap<String, Option<String>>,
    /// The files being read, each included by the one before it.
    open: Vec<String>,
    /// Whether a file could not be read.
    incomplete: bool,
}

/// A file among the sources.
#[derive(Clone, Copy)]
struct Loaded {
    id: FileId,
    /// Whether it had been read before, for another scope.
    again: bool,
}

impl Session<'_> {
    fn new<'a>(loader: &'a dyn Loader, root: &str, sources: &'a mut Sources, control: &'a Control) -> Session<'a> {
        Session {
            control,
            loader,
            sources,
            root: root.to_string(),
            diagnostics: Vec::new(),
            read: HashSet::new(),
            included: vec![HashSet::new()],
            inclusions: 0,
            similar: HashMap::new(),
            open: Vec::new(),
            incomplete: false,
        }
    }

    /// A file that exists and has nearly this name. Whole folders are searched, so there is an end to it.
    fn similar(&mut self, name: &str) -> Option<String> {
        if let Some(found) = self.similar.get(name) {
            return found.clone();
        }
        if self.similar.len() == MOST_SEARCHES {
            return None;
        }
        let found = self.loader.similar(name);
        self.similar.insert(name.to_string(), found.clone());
        found
    }

    /// Adds the file that may have been meant.
    fn suggest_file(&mut self, diagnostic: Diagnostic, name: &str) -> Diagnostic {
        match self.similar(name) {
            Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")),
            None => diagnostic,
        }
    }

    /// Puts a file among the sources.
    fn load(&mut self, name: &str) -> Result<Loaded, String> {
        if self.inclusions == MOST_INCLUSIONS {
            return Err(format!(
                "files are included more than {} times",
                trefoil_control::count(MOST_INCLUSIONS as u64)
            ));
        }
        self.inclusions += 1;
        if self.control.check().is_err() {
            return Err("reading was interrupted".to_string());
        }
        let bytes = self.loader.read(name, self.control)?;
        self.control.progress().begin(&format!("parsing {name}"), 0);
        if bytes.len() > LONGEST {
            return Err(format!("it has {} bytes; the limit is {}", count(bytes.len() as u64), count(LONGEST as u64)));
        }
        let (text, encoding) = decode(bytes);
        let rich = text.starts_with("{\\rtf1");
        let again = !self.read.insert(name.to_string());
        self.here().insert(name.to_string());
        self.open.push(name.to_string());
        let id = self.sources.add(name, if rich { String::new() } else { text });
        let place = || Place::File(name.to_string());
        if again {
            return Ok(Loaded { id, again });
        }
        if rich {
            let message = "the file is a word processor's document (RTF), not plain text";
            let diagnostic = Diagnostic::error(codes::RICH_TEXT, message, place());
            self.incomplete = true;
            self.diagnostics.push(diagnostic.help("save the script as plain text"));
        }
        if encoding == Encoding::Windows1252 {
            let message = "the file is not UTF-8 and is read as Windows-1252";
            let diagnostic = Diagnostic::warning(codes::NOT_UTF8, message, place());
            self.diagnostics.push(diagnostic.help("save the file as UTF-8 if letters look wrong"));
        }
        Ok(Loaded { id, again })
    }

    /// Reads the declarations of a loaded file.
    fn file(&mut self, Loaded { id, again }: Loaded, tree: &mut Tree<Symbol>) -> List<DeclarationId> {
        let said = self.diagnostics.len();
        let mut parser = Parser::new(id, tree, self);
        let declarations = parser.file();
        self.open.pop();
        if again {
            // Its mistakes were reported when it was read first.
            self.diagnostics.truncate(said);
        }
        tree.add_list(declarations)
    }

    /// The files included in the innermost scope.
    fn here(&mut self) -> &mut HashSet<String> {
        self.included.last_mut().expect("the script is a scope")
    }

    /// Reports tokens that only patterns may hold, and returns the diagnostics in order.
    fn finish(mut self, tree: &mut Tree<Symbol>, from: usize) -> Vec<Diagnostic> {
        for at in from..tree.expressions.len() {
            let shown = match tree.expressions[at] {
                Expression::Wildcard => "`_`",
                Expression::Both(..) => "`@@`",
                _ => continue,
            };
            tree.expressions[at] = Expression::Error(List::EMPTY);
            let place = Place::Span(tree.expression_spans[at]);
            let message = format!("{shown} is allowed only in patterns");
            self.diagnostics.push(Diagnostic::error(codes::PATTERN_ONLY, message, place));
        }
        tree.incomplete |= self.incomplete;
        tree.mistaken |= self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        let order = |diagnostic: &Diagnostic| match &diagnostic.labels[0].place {
            Place::Span(span) => (span.file.0 + 1, span.start),
            _ => (0, 0),
        };
        self.diagnostics.sort_by_key(order);
        self.diagnostics
    }
}

/// A mistake was reported.
#[derive(Clone, Copy, Debug)]
struct Failed;

type Result<T, E = Failed> = std::result::Result<T, E>;

/// The reading of one file.
struct Parser<'a, 'b> {
    tree: &'a mut Tree<Symbol>,
    session: &'a mut Session<'b>,
    source: Arc<SourceFile>,
    file: FileId,
    tokens: Vec<Token>,
    at: usize,
    /// How many sequences are open in the innermost bracket.
    sequences: u32,
    /// Whether we are inside brackets, where newlines mean nothing.
    free: bool,
    /// Whether we are in the subject of an assertion, outside brackets.
    asserting: bool,
    /// Where reading goes on after a mistake, if the mistake shows it.
    resume: Option<usize>,
    /// The token that stands where a bracket should be closed, which was reported.
    closed_at: Option<usize>,
    /// What was read of the expression that failed, and the token before the mistake.
    read: Vec<ExpressionId>,
    beside: Option<Token>,
    depth: u32,
    context: Context,
}

impl<'a, 'b> Parser<'a, 'b> {
    fn new(file: FileId, tree: &'a mut Tree<Symbol>, session: &'a mut Session<'b>) -> Parser<'a, 'b> {
        let source = Arc::clone(session.sources.file(file));
        let lexed = lex(source.text(), file);
        tree.comments.extend(lexed.comments);
        tree.after_blank.extend(lexed.after_blank);
        session.diagnostics.extend(lexed.diagnostics);
        let mut parser = Parser {
            tree,
            session,
            source,
            file,
            tokens: lexed.tokens,
            at: 0,
            sequences: 0,
            free: false,
            asserting: false,
            resume: None,
            closed_at: None,
            read: Vec::new(),
            beside: None,
            depth: 0,
            context: Context::default(),
        };
        parser.mend_tokens();
        parser
    }

    fn peek(&self) -> Kind {
        self.tokens[self.at].kind
    }

    fn peek_at(&self, ahead: usize) -> Kind {
        self.tokens.get(self.at + ahead).map_or(Kind::End, |token| token.kind)
    }

    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn advance(&mut self) -> Token {
        let token = self.tokens[self.at];
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    fn accept(&mut self, kind: Kind) -> bool {
        let accepted = self.peek() == kind;
        if accepted {
            self.advance();
        }
        accepted
    }

    /// Whether a newline that counts comes before the next token.
    fn at_new_line(&self) -> bool {
        !self.free && self.token().after_newline
    }

    fn text_of(&self, token: Token) -> &str {
        &self.source.text()[token.start as usize..token.end as usize]
    }

    fn span_of(&self, token: Token) -> Span {
        Span { file: self.file, start: token.start, end: token.end }
    }

    /// From a byte to the end of the last token read.
    fn span_from(&self, start: u32) -> Span {
        let end = if self.at == 0 { start } else { self.tokens[self.at - 1].end };
        Span { file: self.file, start, end: end.max(start) }
    }

    fn symbol_of(&mut self, token: Token) -> Symbol {
        let text = &self.source.text()[token.start as usize..token.end as usize];
        self.tree.names.intern(text)
    }

    fn add(&mut self, expression: Expression<Symbol>, start: u32) -> ExpressionId {
        if self.session.control.check().is_err() {
            // The rest of the file is not looked at.
            self.at = self.tokens.len() - 1;
        }
        let span = self.span_from(start);
        self.tree.add_expression(expression, span)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.session.diagnostics.push(diagnostic);
    }

    /// The next token as messages show it.
    fn found(&self) -> String {
        self.shown(self.token())
    }

    /// A token as messages show it.
    fn shown(&self, token: Token) -> String {
        match token.kind {
            Kind::Name | Kind::Integer | Kind::Character | Kind::String | Kind::Refines => {
                let text: String = self.text_of(token).chars().take(40).collect();
                format!("`{text}`")
            }
            kind => kind.shown().to_string(),
        }
    }

    /// A diagnostic about the next token, which is not what was expected. When that token starts a line, something is
    /// missing at the end of the text before it.
    fn complaint(&self, code: &'static str, expected: &str) -> Diagnostic {
        let token = self.token();
        let mut span = self.span_of(token);
        let mut message = format!("expected {expected}, found {}", self.found());
        let missing = token.after_newline && code != codes::DECLARATION_EXPECTED;
        if let Some(before) = self.before().filter(|_| missing) {
            span = Span { start: before.end, end: before.end, ..span };
            if token.kind != Kind::End {
                message = format!("expected {expected}, but the next line starts with {}", self.found());
            }
        }
        let complaint = Diagnostic::error(code, message, Place::Span(span));
        match self.hint() {
            Some(hint) => complaint.help(hint),
            None => complaint,
        }
    }

    /// Reports the next token, unless the lexer did.
    fn unexpected(&mut self, code: &'static str, expected: &str) -> Failed {
        let complaint = self.complaint(code, expected);
        self.complain(complaint)
    }

    fn complain(&mut self, complaint: Diagnostic) -> Failed {
        if self.peek() != Kind::Bad {
            self.report(complaint);
        }
        Failed
    }

    fn expect(&mut self, kind: Kind) -> Result<Token> {
        if self.peek() == kind { Ok(self.advance()) } else { Err(self.unexpected(codes::TOKEN_EXPECTED, kind.shown())) }
    }

    /// Expects the bracket that closes `open`. Where a declaration ends without it, reading goes on as if it were
    /// there.
    fn close(&mut self, open: Token, kind: Kind) -> Result<()> {
        self.close_or_mend(open, kind, true)
    }

    /// As [`Self::close`]; fails where the bracket is missing.
    fn expect_closing(&mut self, open: Token, kind: Kind) -> Result<()> {
        self.close_or_mend(open, kind, false)
    }

    fn close_or_mend(&mut self, open: Token, kind: Kind, mends: bool) -> Result<()> {
        // `[x]]`: the longest token was too long.
        if kind == Kind::CloseSquare && self.peek() == Kind::CloseRename {
            let token = &mut self.tokens[self.at];
            token.kind = Kind::CloseSquare;
            token.start += 1;
            return Ok(());
        }
        if self.accept(kind) {
            return Ok(());
        }
        if self.closed_at == Some(self.at) {
            // The brackets inside this one end here too, which was reported.
            return Ok(());
        }
        if (kind, self.peek()) == (Kind::CloseEvents, Kind::Bar) {
            let token = self.advance();
            let complaint =
                Diagnostic::error(codes::TOKEN_EXPECTED, "expected `|]`, found `|`", Place::Span(self.span_of(token)));
            let complaint = complaint.also(Place::Span(self.span_of(open)), "to close this bracket");
            self.report(complaint.help("write `|]` after the set of events: `P [|A|] Q`"));
            return Ok(());
        }
        let code = if self.token().after_newline { codes::UNCLOSED } else { codes::TOKEN_EXPECTED };
        let mut complaint = self.complaint(code, kind.shown());
        let first = self.tokens.partition_point(|token| token.start <= open.start);
        if let Some(line) = self.continued_line(first) {
            // The next definition was taken for something inside the brackets.
            let end = self.tokens[line - 1].end;
            let place = Place::Span(Span { file: self.file, start: end, end });
            let message = format!("expected {}, but the next line is a definition", kind.shown());
            complaint = Diagnostic::error(codes::UNCLOSED, message, place);
            self.resume = Some(line);
        }
        complaint = complaint.also(Place::Span(self.span_of(open)), "to close this bracket");
        if self.peek() == Kind::Bar && matches!(kind, Kind::CloseBrace | Kind::CloseProductions | Kind::Greater) {
            complaint = complaint.help("separate generators and conditions by commas");
        }
        let failed = self.complain(complaint);
        if mends && self.resume.is_none() && (self.at_declaration() || self.peek() == Kind::End) {
            // Nothing is missing but the bracket.
            self.closed_at = Some(self.at);
            return Ok(());
        }
        Err(failed)
    }

    /// The line, between this token and the next one, that starts a definition although the text before it goes on
    /// there: the next token is its `=`.
    fn continued_line(&self, first: usize) -> Option<usize> {
        if self.peek() != Kind::Equals {
            return None;
        }
        let line = (first..self.at).rfind(|&at| self.tokens[at].after_newline)?;
        self.tokens[line].kind.starts_declaration().then_some(line)
    }

    /// Reads something inside brackets.
    fn inside<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outside = (self.sequences, self.free, self.asserting);
        (self.sequences, self.free, self.asserting) = (0, true, false);
        let result = read(self);
        (self.sequences, self.free, self.asserting) = outside;
        result
    }

    /// Reads `item, item, …`.
    fn separated<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![read(self)?];
        while self.accept(Kind::Comma) {
            items.push(read(self)?);
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{MemoryLoader, print_expression};

    #[test]
    fn an_expression_can_be_read_beside_a_script() {
        let mut sources = Sources::default();
        let mut parsed = parse("a.csp", &MemoryLoader::one("a.csp", "f(x) = x + 1\n"), &mut sources);
        assert!(parsed.diagnostics.is_empty());
        let file = sources.add("prompt", "f(2)  *  3");
        let (expression, diagnostics) = parse_expression_into(&mut parsed.tree, file, &sources);
        assert!(diagnostics.is_empty());
        assert_eq!(print_expression(&parsed.tree, expression), "f(2) * 3");
        let file = sources.add("prompt", "f(2) 3");
        assert_eq!(parse_expression_into(&mut parsed.tree, file, &sources).1.len(), 1);
        let file = sources.add("prompt", "y = f(2)");
        let (declarations, diagnostics) = parse_declarations_into(&mut parsed.tree, file, &sources);
        assert_eq!((declarations.len(), diagnostics.len()), (1, 0));
    }
}
