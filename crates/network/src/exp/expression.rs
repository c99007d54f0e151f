//! From text to a tree.
//!
//! A recursive descent over tokens. Nesting is limited, so that no text can exhaust the stack; chains of one operator
//! are one node, so they may have any length.

use std::ops::Range;

use trefoil_source::{Code, Diagnostic, FileId, Place, Sources, Span};

use crate::codes;

/// How deep brackets and blocks may be nested.
const DEEPEST: usize = 200;

/// What a file says.
#[derive(Debug)]
pub struct Expression {
    pub(super) root: Behaviour,
    /// The names of files as they are written, in order of first appearance, and where.
    pub(super) files: Vec<(String, Span)>,
}

impl Expression {
    /// The files that are put together, each once, with the place where it is named first.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&str, Span)> {
        self.files.iter().map(|(name, span)| (name.as_str(), *span))
    }
}

/// A name for labels.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) quoted: bool,
    pub(super) span: Span,
}

/// A list of names, or all that are not in it.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) all_but: bool,
    pub(super) names: Vec<Name>,
}

#[derive(Debug)]
pub(super) enum Behaviour {
    /// The number of a file.
    File(usize),
    Parallel {
        synchronised: Synchronised,
        branches: Vec<Branch>,
        span: Span,
    },
    Vectors {
        vectors: Vec<Vector>,
        branches: Vec<Behaviour>,
        span: Span,
    },
    Hide {
        names: Names,
        inside: Box<Behaviour>,
    },
    Cut {
        names: Names,
        inside: Box<Behaviour>,
    },
    Rename {
        arrows: Vec<(Name, Name)>,
        inside: Box<Behaviour>,
    },
}

#[derive(Debug)]
pub(super) enum Synchronised {
    /// Every label by all branches.
    All,
    /// Listed labels, by how many of the branches when that is said.
    Listed(Vec<(Name, Option<u32>)>),
}

#[derive(Debug)]
pub(super) struct Branch {
    /// What stands before its arrow.
    pub(super) interface: Vec<Name>,
    pub(super) behaviour: Behaviour,
}

#[derive(Debug)]
pub(super) struct Vector {
    /// By branch; none for one that does nothing.
    pub(super) parts: Vec<Option<Name>>,
    pub(super) result: Name,
    pub(super) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Quoted,
    Symbol(&'static str),
    End,
}

struct Token {
    kind: Kind,
    range: Range<usize>,
}

/// Reads the text of a file that is among the sources.
pub fn parse(file: FileId, sources: &Sources) -> Result<Expression, Diagnostic> {
    let text = sources.file(file).text();
    let tokens = tokens(text, file)?;
    let mut parser = Parser { text, file, tokens, at: 0, depth: 0, files: Vec::new() };
    let root = parser.behaviour()?;
    if parser.kind() != Kind::End {
        return Err(parser.unexpected("an operator or the end of the file"));
    }
    Ok(Expression { root, files: parser.files })
}

const SYMBOLS: [&str; 11] = ["|||", "||", "|[", "]|", "->", "(", ")", ",", "*", "#", "_"];

fn tokens(text: &str, file: FileId) -> Result<Vec<Token>, Diagnostic> {
    let bytes = text.as_bytes();
    let error = |code: Code, message: &str, range: Range<usize>| {
        let span = Span { file, start: range.start as u32, end: range.end as u32 };
        Diagnostic::error(code, message, Place::Span(span))
    };
    let in_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_./-@+~:".contains(&byte) || !byte.is_ascii();
    let mut found = Vec::new();
    let mut at = text.find(|c: char| c != '\u{feff}').unwrap_or(text.len());
    while at < bytes.len() {
        let rest = &text[at..];
        if bytes[at].is_ascii_whitespace() {
            at += 1;
        } else if rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(comment) = rest.strip_prefix("(*") {
            let Some(length) = comment.find("*)") else {
                return Err(error(codes::UNBALANCED, "this comment is not closed", at..at + 2));
            };
            at += length + 4;
        } else if bytes[at] == b'"' {
            let Some(length) = rest[1..].find(['"', '\n']).filter(|&end| rest.as_bytes()[end + 1] == b'"') else {
                return Err(error(codes::UNBALANCED, "this quote is not closed on its line", at..at + 1));
            };
            found.push(Token { kind: Kind::Quoted, range: at..at + length + 2 });
            at += length + 2;
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| {
            // An underscore may begin a name.
            let name = |after: &str| after.starts_with(|next: char| next.is_alphanumeric() || next == '_');
            rest.strip_prefix(**symbol).is_some_and(|after| **symbol != "_" || !name(after))
        }) {
            found.push(Token { kind: Kind::Symbol(symbol), range: at..at + symbol.len() });
            at += symbol.len();
        } else if in_word(bytes[at]) {
            let mut end = at;
            // An arrow or a comment ends a word.
            while end < bytes.len() && in_word(bytes[end]) && !text.as_bytes()[end..].starts_with(b"->") {
                if text.as_bytes()[end..].starts_with(b"--") {
                    break;
                }
                end += 1;
            }
            if end == at {
                return Err(error(codes::EXP_SYNTAX, "this is not understood", at..at + 1));
            }
            found.push(Token { kind: Kind::Word, range: at..end });
            at = end;
        } else {
            return Err(error(codes::EXP_SYNTAX, "this is not understood", at..at + 1));
        }
    }
    found.push(Token { kind: Kind::End, range: text.len()..text.len() });
    Ok(found)
}

struct Parser<'a> {
    text: &'a str,
    file: FileId,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    files: Vec<(String, Span)>,
}

/// The operator between two behaviours.
struct Operator {
    synchronised: Synchronised,
    span: Span,
}

impl Operator {
    /// Two associative operators: a chain of one of them is a single composition.
    fn joins(&self, other: &Operator) -> bool {
        match (&self.synchronised, &other.synchronised) {
            (Synchronised::All, Synchronised::All) => true,
            (Synchronised::Listed(some), Synchronised::Listed(others)) => {
                let texts = |names: &[(Name, Option<u32>)]| -> Vec<(String, bool)> {
                    names.iter().map(|(name, _)| (name.text.clone(), name.quoted)).collect()
                };
                texts(some) == texts(others)
            }
            _ => false,
        }
    }
}

impl<'a> Parser<'a> {
    fn kind(&self) -> Kind {
        self.tokens[self.at].kind
    }

    fn word(&self, at: usize) -> &'a str {
        match self.tokens.get(at) {
            Some(Token { kind: Kind::Word, range }) => &self.text[range.clone()],
            _ => "",
        }
    }

    fn span(&self, at: usize) -> Span {
        let range = &self.tokens[at].range;
        Span { file: self.file, start: range.start as u32, end: range.end as u32 }
    }

    fn unexpected(&self, wanted: &str) -> Diagnostic {
        let message = match self.kind() {
            Kind::End => format!("the file ends where {wanted} was expected"),
            _ => format!("{wanted} was expected here"),
        };
        Diagnostic::error(codes::EXP_SYNTAX, message, Place::Span(self.span(self.at)))
    }

    fn unsupported(&self, message: &str) -> Diagnostic {
        Diagnostic::error(codes::EXP_UNSUPPORTED, message, Place::Span(self.span(self.at)))
    }

    fn takes(&mut self, symbol: &'static str) -> bool {
        let found = self.kind() == Kind::Symbol(symbol);
        self.at += usize::from(found);
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.word(self.at) == word;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), Diagnostic> {
        if self.takes(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Diagnostic> {
        if self.takes_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    /// Behaviours with operators between them.
    fn behaviour(&mut self) -> Result<Behaviour, Diagnostic> {
        let mut operands = vec![self.primary()?];
        let mut operators = Vec::new();
        while let Some(operator) = self.operator()? {
            operators.push(operator);
            operands.push(self.primary()?);
        }
        // From the right: as long as the operator stays the same it is one composition.
        let mut right = operands.pop().expect("there is a first");
        let mut nested = 0;
        while let Some(operator) = operators.pop() {
            nested += 1;
            if nested + self.depth > DEEPEST {
                return Err(Diagnostic::error(
                    codes::EXP_NESTING,
                    format!("operators change more than {DEEPEST} times"),
                    Place::Span(operator.span),
                ));
            }
            let mut branches = vec![right, operands.pop().expect("one more operand than operators")];
            while operators.last().is_some_and(|before| before.joins(&operator)) {
                operators.pop();
                branches.push(operands.pop().expect("one more operand than operators"));
            }
            branches.reverse();
            let branches = branches.into_iter().map(|behaviour| Branch { interface: Vec::new(), behaviour }).collect();
            right = Behaviour::Parallel { synchronised: operator.synchronised, branches, span: operator.span };
        }
        Ok(right)
    }

    fn operator(&mut self) -> Result<Option<Operator>, Diagnostic> {
        let span = self.span(self.at);
        let synchronised = if self.takes("|||") {
            Synchronised::Listed(Vec::new())
        } else if self.takes("||") {
            Synchronised::All
        } else if self.takes("|[") {
            let names = if self.kind() == Kind::Symbol("]|") { Vec::new() } else { self.names()? };
            self.expect("]|")?;
            Synchronised::Listed(names.into_iter().map(|name| (name, None)).collect())
        } else {
            return Ok(None);
        };
        Ok(Some(Operator { synchronised, span }))
    }

    fn primary(&mut self) -> Result<Behaviour, Diagnostic> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("brackets and blocks are nested more than {DEEPEST} deep");
            return Err(Diagnostic::error(codes::EXP_NESTING, message, Place::Span(self.span(self.at))));
        }
        let result = self.primary_inside();
        self.depth -= 1;
        result
    }

    fn primary_inside(&mut self) -> Result<Behaviour, Diagnostic> {
        if self.takes("(") {
            let inside = self.behaviour()?;
            self.expect(")")?;
            return Ok(inside);
        }
        let (word, next) = (self.word(self.at), self.word(self.at + 1));
        match word {
            "hide" => {
                let (names, inside) = self.block("hide")?;
                Ok(Behaviour::Hide { names, inside })
            }
            "cut" => {
                let (names, inside) = self.block("cut")?;
                Ok(Behaviour::Cut { names, inside })
            }
            "par" => self.par(),
            "label" | "gate" if next == "par" => {
                self.at += 1;
                self.par()
            }
            "rename" => self.rename(),
            "gate" | "total" if next == "rename" => {
                self.at += 1;
                self.rename()
            }
            "partial" | "single" | "multiple" if next == "rename" => {
                Err(self.unsupported("only `rename`, `gate rename` and `total rename` are read"))
            }
            "prio" => Err(self.unsupported("priorities are not read")),
            _ => match self.kind() {
                Kind::Word | Kind::Quoted => Ok(self.named_file()),
                _ => Err(self.unexpected("a behaviour")),
            },
        }
    }

    fn named_file(&mut self) -> Behaviour {
        let span = self.span(self.at);
        let text = &self.text[span.range()];
        let name = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
        self.at += 1;
        let known = self.files.iter().position(|(file, _)| file == name);
        Behaviour::File(known.unwrap_or_else(|| {
            self.files.push((name.to_string(), span));
            self.files.len() - 1
        }))
    }

    /// `hide` and `cut`: what they name and what is inside.
    fn block(&mut self, word: &str) -> Result<(Names, Box<Behaviour>), Diagnostic> {
        self.at += 1;
        let all_but = self.word(self.at) == "all" && self.word(self.at + 1) == "but";
        if all_but {
            self.at += 2;
        }
        if self.word(self.at) == "using" {
            return Err(self.unsupported("lists of labels in other files are not read"));
        }
        let names = if self.word(self.at) == "in" { Vec::new() } else { self.names()? };
        self.expect_word("in")?;
        let inside = self.behaviour()?;
        self.expect_word("end")?;
        self.expect_word(word)?;
        Ok((Names { all_but, names }, Box::new(inside)))
    }

    fn rename(&mut self) -> Result<Behaviour, Diagnostic> {
        self.at += 1;
        if self.word(self.at) == "using" {
            return Err(self.unsupported("lists of labels in other files are not read"));
        }
        let mut arrows = Vec::new();
        loop {
            let old = self.name()?;
            self.expect("->")?;
            arrows.push((old, self.name()?));
            if !self.takes(",") {
                break;
            }
        }
        self.expect_word("in")?;
        let inside = Box::new(self.behaviour()?);
        self.expect_word("end")?;
        self.expect_word("rename")?;
        Ok(Behaviour::Rename { arrows, inside })
    }

    fn par(&mut self) -> Result<Behaviour, Diagnostic> {
        let span = self.span(self.at);
        self.at += 1;
        let using = self.takes_word("using");
        let mut listed = Vec::new();
        let mut vectors = Vec::new();
        while self.word(self.at) != "in" {
            let start = self.at;
            let first = self.part()?;
            if using || matches!(self.kind(), Kind::Symbol("*" | "->")) {
                vectors.push(self.vector(start, first)?);
            } else {
                let Some(name) = first else { return Err(self.unexpected("`*` or `->` of a vector")) };
                let count = if self.takes("#") { Some(self.number()?) } else { None };
                listed.push((name, count));
            }
            if !self.takes(",") {
                break;
            }
        }
        if !vectors.is_empty() && !listed.is_empty() {
            let message = "vectors and labels to synchronise cannot be mixed";
            return Err(Diagnostic::error(codes::EXP_SYNTAX, message, Place::Span(listed[0].0.span)));
        }
        self.expect_word("in")?;
        let mut branches = vec![self.branch()?];
        while self.takes("||") {
            branches.push(self.branch()?);
        }
        if matches!(self.kind(), Kind::Symbol("|||" | "|[")) {
            return Err(self
                .unexpected("`||` or `end par`")
                .help("a branch with an operator of its own goes in round brackets"));
        }
        self.expect_word("end")?;
        self.expect_word("par")?;
        if vectors.is_empty() && !using {
            return Ok(Behaviour::Parallel { synchronised: Synchronised::Listed(listed), branches, span });
        }
        if let Some(name) = branches.iter().find_map(|branch| branch.interface.first()) {
            let message = "with vectors no branch says what it synchronises on";
            return Err(Diagnostic::error(codes::EXP_SYNTAX, message, Place::Span(name.span)));
        }
        if let Some(vector) = vectors.iter().find(|vector| vector.parts.len() != branches.len()) {
            let message = format!("{} entries for {} branches", vector.parts.len(), branches.len());
            return Err(Diagnostic::error(codes::VECTOR_LENGTH, message, Place::Span(vector.span)));
        }
        let branches = branches.into_iter().map(|branch| branch.behaviour).collect();
        Ok(Behaviour::Vectors { vectors, branches, span })
    }

    /// A name, or nothing for `_`.
    fn part(&mut self) -> Result<Option<Name>, Diagnostic> {
        if self.takes("_") { Ok(None) } else { self.name().map(Some) }
    }

    fn vector(&mut self, start: usize, first: Option<Name>) -> Result<Vector, Diagnostic> {
        let mut parts = vec![first];
        while self.takes("*") {
            parts.push(self.part()?);
        }
        self.expect("->")?;
        let result = self.name()?;
        let span = self.span(start).to(result.span);
        if parts.iter().all(Option::is_none) {
            let message = "no branch takes part in this vector";
            return Err(Diagnostic::error(codes::VECTOR_SHAPE, message, Place::Span(span)));
        }
        Ok(Vector { parts, result, span })
    }

    fn number(&mut self) -> Result<u32, Diagnostic> {
        let count = self.word(self.at).parse().ok().filter(|&count: &u32| count > 0);
        let count = count.ok_or_else(|| self.unexpected("how many branches"))?;
        self.at += 1;
        Ok(count)
    }

    fn branch(&mut self) -> Result<Branch, Diagnostic> {
        // A list of names is an interface when an arrow follows it.
        let mut ahead = self.at;
        while matches!(self.tokens[ahead].kind, Kind::Word | Kind::Quoted) {
            ahead += 1;
            if self.tokens[ahead].kind != Kind::Symbol(",") {
                break;
            }
            ahead += 1;
        }
        let mut interface = Vec::new();
        if ahead > self.at && self.tokens[ahead].kind == Kind::Symbol("->") {
            interface = self.names()?;
            self.expect("->")?;
        }
        Ok(Branch { interface, behaviour: self.primary()? })
    }

    fn names(&mut self) -> Result<Vec<Name>, Diagnostic> {
        let mut names = vec![self.name()?];
        while self.takes(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    fn name(&mut self) -> Result<Name, Diagnostic> {
        const RESERVED: [&str; 5] = ["in", "end", "par", "hide", "cut"];
        let span = self.span(self.at);
        let text = &self.text[span.range()];
        let name = match self.kind() {
            Kind::Quoted => Name { text: text[1..text.len() - 1].to_string(), quoted: true, span },
            Kind::Word if !RESERVED.contains(&text) => Name { text: text.to_string(), quoted: false, span },
            _ => return Err(self.unexpected("a gate or a label in quotes")),
        };
        if matches!(name.text.as_str(), "tau" | "τ" | "i")
            && self.tokens[self.at.saturating_sub(1)].kind != Kind::Symbol("->")
        {
            let message = "this is the internal step: it cannot be synchronised, hidden, cut or renamed";
            return Err(Diagnostic::error(codes::RESERVED, message, Place::Span(span)));
        }
        self.at += 1;
        Ok(name)
    }
}
