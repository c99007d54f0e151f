//! Graphs in Graphviz' DOT language.
//!
//! The whole language is read: directed and undirected graphs, chains of edges, subgraphs as the ends of edges,
//! defaults (`node [color=red]`) with their scopes, ports, strings of all kinds, comments. What counts: the attribute
//! `color` (or `colour`) of vertices and edges, the `label` of edges, and, if requested, the `label` of vertices.
//! Parallel edges count as often as they are written, except in `strict` graphs, where the last one counts. Everything
//! else is about drawing and is skipped.
//!
//! Subgraphs nest as deep as memory allows: the parser keeps its own stack. The vertices that a subgraph mentions are a
//! range of one list of all mentions, so nesting costs nothing.

use std::collections::HashMap;
use std::ops::Range;

use trefoil_control::Control;

use super::dot_tokens::{Token, Tokens};
use super::{Gathered, GraphError, GraphReading, MOST, NamedGraph, Words, codes};
use crate::permutation::Point;

/// Attributes that count; 0 is none.
#[derive(Clone, Copy, Default)]
struct Attributes {
    colour: u32,
    label: u32,
}

impl Attributes {
    fn pair(self) -> (u32, u32) {
        (self.colour, self.label)
    }
}

/// Attributes as a list gives them.
#[derive(Clone, Copy, Default)]
struct Given {
    colour: Option<u32>,
    label: Option<u32>,
}

impl Given {
    fn over(self, before: Attributes) -> Attributes {
        Attributes { colour: self.colour.unwrap_or(before.colour), label: self.label.unwrap_or(before.label) }
    }
}

/// The graph or a subgraph whose statements are being read.
struct Scope {
    vertex_defaults: Attributes,
    edge_defaults: Attributes,
    /// Where in the list of mentions it began.
    begin: usize,
    opened: Range<usize>,
    statement: Statement,
}

/// A statement under way: ends of edges and the arrows between them.
#[derive(Default)]
struct Statement {
    /// Ranges of the list of mentions.
    ends: Vec<Range<usize>>,
    /// Does another end have to follow?
    after_arrow: bool,
    /// Is its only end a vertex, which can have attributes?
    is_vertex: bool,
}

struct Reader<'a> {
    tokens: Tokens<'a>,
    control: &'a Control,
    gathered: Gathered,
    strict: bool,
    numbers: HashMap<String, Point>,
    /// In strict graphs, the edge between two vertices.
    known: HashMap<(Point, Point), usize>,
    words: Words,
    mentions: Vec<Point>,
    scopes: Vec<Scope>,
}

pub(super) fn read(
    name: &str,
    text: &str,
    begin: usize,
    reading: GraphReading,
    control: &Control,
) -> Result<NamedGraph, GraphError> {
    control.afford(text.len().saturating_mul(4))?;
    let mut reader = Reader {
        tokens: Tokens::new(name, text, begin)?,
        control,
        gathered: Gathered::default(),
        strict: false,
        numbers: HashMap::new(),
        known: HashMap::new(),
        words: Words::default(),
        mentions: Vec::new(),
        scopes: Vec::new(),
    };
    reader.header()?;
    let mut steps = 0u32;
    while !reader.scopes.is_empty() {
        steps = steps.wrapping_add(1);
        if steps & 0xfff == 0 {
            control.check()?;
        }
        reader.step()?;
    }
    if reader.tokens.next != Token::End {
        let range = reader.tokens.range.clone();
        let message = "one graph is read from a file, and something follows it";
        return Err(reader.tokens.error(codes::DOT_AFTER_END, message, range).into());
    }
    Ok(reader.gathered.finish(reading, control)?)
}

impl Reader<'_> {
    /// `[strict] graph|digraph [name] {`.
    fn header(&mut self) -> Result<(), GraphError> {
        const EXPECTED: &str = "`graph` or `digraph`";
        if self.tokens.next.is("strict") {
            self.tokens.advance()?;
            self.strict = true;
        }
        self.gathered.directed = self.tokens.next.is("digraph");
        if !self.gathered.directed && !self.tokens.next.is("graph") {
            let error = self.tokens.unexpected(codes::DOT_HEADER, EXPECTED);
            return Err(error.help("a DOT file looks like `graph { a -- b }` or `digraph { a -> b }`").into());
        }
        self.tokens.advance()?;
        if matches!(self.tokens.next, Token::Name(..)) {
            self.name()?;
        }
        if self.tokens.next != Token::Mark(b'{') {
            return Err(self.tokens.unexpected(codes::DOT_HEADER, "`{`").into());
        }
        self.open_scope()
    }

    /// A name, perhaps of several quoted parts with plus signs between them.
    fn name(&mut self) -> Result<String, GraphError> {
        let Token::Name(first, _) = self.tokens.advance()? else {
            return Err(self.tokens.unexpected(codes::DOT_STATEMENT, "a name").into());
        };
        let mut whole = first.into_owned();
        while self.tokens.take_mark(b'+')? {
            match self.tokens.advance()? {
                Token::Name(more, false) => whole.push_str(&more),
                other => {
                    let message = format!("a quoted string must follow `+`, not {}", other.words());
                    let range = self.tokens.range.start.saturating_sub(1)..self.tokens.range.start;
                    return Err(self.tokens.error(codes::DOT_STATEMENT, message, range).into());
                }
            }
        }
        Ok(whole)
    }

    /// At `{`.
    fn open_scope(&mut self) -> Result<(), GraphError> {
        let (vertex_defaults, edge_defaults) = match self.scopes.last() {
            Some(scope) => (scope.vertex_defaults, scope.edge_defaults),
            None => Default::default(),
        };
        let opened = self.tokens.range.clone();
        let begin = self.mentions.len();
        self.scopes.push(Scope { vertex_defaults, edge_defaults, begin, opened, statement: Statement::default() });
        self.tokens.advance()?;
        Ok(())
    }

    fn scope(&mut self) -> &mut Scope {
        let Some(scope) = self.scopes.last_mut() else { unreachable!("the loop ends with the last scope") };
        scope
    }

    /// One piece of a statement.
    fn step(&mut self) -> Result<(), GraphError> {
        let statement = &self.scope().statement;
        let wants_end = statement.after_arrow || statement.ends.is_empty();
        let begins = statement.ends.is_empty();
        match &self.tokens.next {
            Token::End => {
                let opened = self.scope().opened.clone();
                Err(self.tokens.error(codes::DOT_UNCLOSED, "this brace is not closed", opened).into())
            }
            Token::Mark(b'}') => {
                self.finish_statement(Given::default())?;
                self.tokens.advance()?;
                if let Some(closed) = self.scopes.pop()
                    && let Some(outer) = self.scopes.last_mut()
                {
                    outer.statement.ends.push(closed.begin..self.mentions.len());
                    outer.statement.after_arrow = false;
                    outer.statement.is_vertex = false;
                }
                Ok(())
            }
            Token::Mark(b';') => {
                self.finish_statement(Given::default())?;
                self.tokens.advance()?;
                Ok(())
            }
            Token::Arrow | Token::Line => self.arrow(wants_end),
            Token::Mark(b'[') => self.own_attributes(wants_end),
            Token::Mark(b'{') => {
                if !wants_end {
                    self.finish_statement(Given::default())?;
                }
                self.open_scope()
            }
            Token::Name(..) => {
                if !wants_end {
                    return self.finish_statement(Given::default());
                }
                if self.tokens.next.is("subgraph") {
                    self.tokens.advance()?;
                    if matches!(self.tokens.next, Token::Name(..)) {
                        self.name()?;
                    }
                    if self.tokens.next != Token::Mark(b'{') {
                        return Err(self.tokens.unexpected(codes::DOT_STATEMENT, "`{` of a subgraph").into());
                    }
                    return self.open_scope();
                }
                let kind = ["graph", "node", "edge"].into_iter().find(|kind| self.tokens.next.is(kind));
                match kind {
                    Some(kind) if begins => self.defaults(kind),
                    Some(_) => Err(self.tokens.unexpected(codes::DOT_STATEMENT, "a vertex or a subgraph").into()),
                    None => self.vertex_or_assignment(begins),
                }
            }
            Token::Mark(_) => Err(self.tokens.unexpected(codes::DOT_STATEMENT, "a statement").into()),
        }
    }

    fn arrow(&mut self, wants_end: bool) -> Result<(), GraphError> {
        if wants_end {
            return Err(self.tokens.unexpected(codes::DOT_STATEMENT, "a vertex or a subgraph").into());
        }
        if (self.tokens.next == Token::Arrow) != self.gathered.directed {
            let (kind, right) = if self.gathered.directed { ("digraph", "->") } else { ("graph", "--") };
            let message = format!("edges of a {kind} are written `{right}`");
            let range = self.tokens.range.clone();
            return Err(self.tokens.error(codes::DOT_ARROW, message, range).into());
        }
        self.scope().statement.after_arrow = true;
        self.tokens.advance()?;
        Ok(())
    }

    /// Attributes after a vertex or an edge.
    fn own_attributes(&mut self, wants_end: bool) -> Result<(), GraphError> {
        let statement = &self.scope().statement;
        let has_attributes = statement.is_vertex || statement.ends.len() > 1;
        if wants_end || !has_attributes {
            return Err(self.tokens.unexpected(codes::DOT_STATEMENT, "a statement").into());
        }
        let given = self.attribute_lists()?;
        self.finish_statement(given)
    }

    /// `graph|node|edge [ … ]`.
    fn defaults(&mut self, kind: &str) -> Result<(), GraphError> {
        self.tokens.advance()?;
        if self.tokens.next != Token::Mark(b'[') {
            return Err(self.tokens.unexpected(codes::DOT_ATTRIBUTES, "`[`").into());
        }
        let given = self.attribute_lists()?;
        let scope = self.scope();
        match kind {
            "node" => scope.vertex_defaults = given.over(scope.vertex_defaults),
            "edge" => scope.edge_defaults = given.over(scope.edge_defaults),
            _ => {}
        }
        Ok(())
    }

    /// `name = value`, about the drawing, or a vertex with an optional port.
    fn vertex_or_assignment(&mut self, begins: bool) -> Result<(), GraphError> {
        let name = self.name()?;
        if begins && self.tokens.take_mark(b'=')? {
            if !matches!(self.tokens.next, Token::Name(..)) {
                return Err(self.tokens.unexpected(codes::DOT_ATTRIBUTES, "a value").into());
            }
            self.name()?;
            return Ok(());
        }
        for _ in 0..2 {
            if self.tokens.take_mark(b':')? {
                if !matches!(self.tokens.next, Token::Name(..)) {
                    return Err(self.tokens.unexpected(codes::DOT_STATEMENT, "a port").into());
                }
                self.name()?;
            }
        }
        let vertex = match self.numbers.get(&name) {
            Some(&vertex) => vertex,
            None => {
                let vertex = self.gathered.names.len() as Point;
                let defaults = self.scope().vertex_defaults;
                self.gathered.names.push(name.clone());
                self.gathered.vertices.push(defaults.pair());
                self.numbers.insert(name, vertex);
                vertex
            }
        };
        let place = self.mentions.len();
        self.mentions.push(vertex);
        let statement = &mut self.scope().statement;
        statement.is_vertex = statement.ends.is_empty();
        statement.ends.push(place..place + 1);
        statement.after_arrow = false;
        Ok(())
    }

    /// One or more `[name=value, …]`; a name without a value is true.
    fn attribute_lists(&mut self) -> Result<Given, GraphError> {
        let mut given = Given::default();
        while self.tokens.next == Token::Mark(b'[') {
            let opened = self.tokens.range.clone();
            self.tokens.advance()?;
            loop {
                match &self.tokens.next {
                    Token::Mark(b']') => {
                        self.tokens.advance()?;
                        break;
                    }
                    Token::Mark(b',' | b';') => {
                        self.tokens.advance()?;
                    }
                    Token::Name(..) => {
                        let name = self.name()?;
                        if !self.tokens.take_mark(b'=')? {
                            return Err(self.tokens.unexpected(codes::DOT_ATTRIBUTES, "`=` and a value").into());
                        }
                        if !matches!(self.tokens.next, Token::Name(..)) {
                            return Err(self.tokens.unexpected(codes::DOT_ATTRIBUTES, "a value").into());
                        }
                        let value = self.name()?;
                        // An empty value is how DOT takes an attribute back.
                        let number = |words: &mut Words| if value.is_empty() { 0 } else { words.number(&value) };
                        match name.as_str() {
                            "color" | "colour" => given.colour = Some(number(&mut self.words)),
                            "label" => given.label = Some(number(&mut self.words)),
                            _ => {}
                        }
                    }
                    Token::End => {
                        return Err(self.tokens.error(codes::DOT_UNCLOSED, "this list is not closed", opened).into());
                    }
                    _ => return Err(self.tokens.unexpected(codes::DOT_ATTRIBUTES, "`name=value` or `]`").into()),
                }
            }
        }
        Ok(given)
    }

    /// Makes the edges of the statement, or colours its vertex.
    fn finish_statement(&mut self, given: Given) -> Result<(), GraphError> {
        if self.scope().statement.after_arrow {
            return Err(self.tokens.unexpected(codes::DOT_STATEMENT, "a vertex or a subgraph").into());
        }
        let statement = std::mem::take(&mut self.scope().statement);
        if let [only] = &statement.ends[..] {
            if statement.is_vertex {
                let vertex = self.mentions[only.start] as usize;
                let (colour, label) = self.gathered.vertices[vertex];
                self.gathered.vertices[vertex] = given.over(Attributes { colour, label }).pair();
            }
            return Ok(());
        }
        let kind = given.over(self.scope().edge_defaults);
        for pair in statement.ends.windows(2) {
            let [from, to] = [&pair[0], &pair[1]].map(|end| distinct(&self.mentions[end.clone()]));
            let count = from.len().saturating_mul(to.len());
            if count.saturating_add(self.gathered.edges.len()) > MOST {
                let range = self.tokens.range.clone();
                return Err(self.tokens.error(codes::TOO_LARGE, "the graph has too many edges", range).into());
            }
            self.control.afford(count.saturating_mul(16))?;
            for &one in &from {
                to.iter().for_each(|&other| self.add_edge(one, other, given, kind));
            }
        }
        Ok(())
    }

    fn add_edge(&mut self, from: Point, to: Point, given: Given, kind: Attributes) {
        let edges = &mut self.gathered.edges;
        if self.strict {
            let ends = if self.gathered.directed { (from, to) } else { (from.min(to), from.max(to)) };
            if let Some(&known) = self.known.get(&ends) {
                let (colour, label) = edges[known].2;
                edges[known].2 = given.over(Attributes { colour, label }).pair();
                return;
            }
            self.known.insert(ends, edges.len());
        }
        edges.push((from, to, kind.pair()));
    }
}

fn distinct(vertices: &[Point]) -> Vec<Point> {
    let mut distinct = vertices.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}
