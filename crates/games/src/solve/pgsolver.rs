//! PGSolver's text formats of games and solutions.
//!
//! A game (`.pg`) is `parity N;` (optional; N is the greatest identifier), perhaps `start v;`, then a line
//! `identifier priority owner successor,successor,… "name";` for each vertex; owner 0 is even. A solution is
//! `paritysol N;` and lines `identifier winner successor;`, the successor only where the winner owns the vertex and
//! moves.
//!
//! There the *greatest* recurring priority decides, and every vertex has a move; here the least one decides, and a
//! player without a move loses. Priorities are turned around by subtracting them from an even number, which keeps their
//! parities. A vertex without moves is written with an edge to itself and a priority that is bad for its owner.
//!
//! Identifiers may have gaps and come in any order: vertices are numbered in the order of the file, and [`PgGame`]
//! keeps the identifiers. Comments do not exist in the format; blank lines and blanks are skipped.
//!
//! Cost: one pass over the bytes; 8 bytes a vertex (12 where identifiers are not 0, 1, 2, …) and 4 an edge beside the
//! text, until it becomes a game.

use std::collections::HashMap;
use std::fmt::Write;

use trefoil_control::{Control, Stopped};
use trefoil_source::{Code, CodeEntry, Diagnostic, Line, Place};

use super::game::{GREATEST_PRIORITY, Game, GameBuilder, NO_VERTEX, Player, Vertex};
use super::whole::Solution;

const SYNTAX: Code = "J001";
const NUMBER: Code = "J002";
const OWNER: Code = "J003";
const TWICE: Code = "J004";
const UNDEFINED: Code = "J005";
const NO_SUCCESSOR: Code = "J006";
const EMPTY: Code = "J007";

/// The codes of these formats.
pub const CODES: &[CodeEntry] = &[
    CodeEntry::new(SYNTAX, "a line of a game or solution is malformed", "0 2 0 1 \"a\""),
    CodeEntry::new(NUMBER, "a number of a game or solution is too large", "0 99999999999 0 1;"),
    CodeEntry::new(OWNER, "an owner or winner is neither 0 nor 1", "0 2 2 1;"),
    CodeEntry::new(TWICE, "a vertex is defined twice", "0 1 0 0; 0 2 1 0;"),
    CodeEntry::new(UNDEFINED, "a vertex is not defined by the game", "0 1 0 7;"),
    CodeEntry::new(NO_SUCCESSOR, "a vertex of a game has no successor", "0 1 0;"),
    CodeEntry::new(EMPTY, "a game has no vertex", "parity 0;"),
];

/// A game that was read.
pub struct PgGame {
    /// The game: the least priority decides.
    pub game: Game,
    /// The identifier of each vertex, where some vertex has another one than its number.
    identifiers: Vec<u32>,
    /// The names that the file gives to vertices; empty where it gives none, or shorter than the game. None in a game
    /// of more than [`DETAILED`] vertices.
    pub names: Vec<String>,
    /// The vertex that the file starts with, or the first one.
    pub start: Vertex,
    /// The priorities of the file. None in a game of more than [`DETAILED`] vertices.
    pub priorities: Vec<u32>,
}

/// The most vertices of a game whose names and priorities are kept as the file has them.
pub const DETAILED: usize = 1 << 16;

impl PgGame {
    /// The identifier of a vertex.
    pub fn identifier(&self, vertex: Vertex) -> u32 {
        self.identifiers.get(vertex as usize).copied().unwrap_or(vertex)
    }
}

/// Why a file was not read.
#[derive(Debug)]
pub enum PgError {
    /// It is not what it should be.
    Diagnostic(Box<Diagnostic>),
    /// The budget ran out, or the user interrupted.
    Stopped(Stopped),
}

impl From<Diagnostic> for PgError {
    fn from(diagnostic: Diagnostic) -> PgError {
        PgError::Diagnostic(Box::new(diagnostic))
    }
}

impl From<Stopped> for PgError {
    fn from(stopped: Stopped) -> PgError {
        PgError::Stopped(stopped)
    }
}

/// Reads text, number after number.
struct Scanner<'a> {
    file: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn skip_blanks(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// An error at the token that begins here.
    #[cold]
    fn error(&self, code: Code, message: impl Into<String>, from: usize) -> Diagnostic {
        let from = from.min(self.bytes.len());
        let begin = self.bytes[..from].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let number = self.bytes[..begin].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let line = &self.bytes[begin..];
        let line = &line[..line.iter().position(|&byte| byte == b'\n').unwrap_or(line.len())];
        let token = line[from - begin..].iter().take_while(|byte| !b" \t\r,;".contains(byte)).count().max(1);
        let place = Line::cut(self.file, number, line, from - begin..from - begin + token);
        Diagnostic::error(code, message, Place::Line(place))
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.at >= self.bytes.len()
    }

    /// Takes a byte, if it is next.
    fn takes(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let is_next = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn takes_word(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let is_next = self.bytes[self.at..].starts_with(word.as_bytes());
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn is_digit(&mut self) -> bool {
        self.skip_blanks();
        self.bytes.get(self.at).is_some_and(u8::is_ascii_digit)
    }

    fn number(&mut self, what: &str) -> Result<u32, Diagnostic> {
        self.skip_blanks();
        let from = self.at;
        let mut number = 0u64;
        while let Some(digit) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            number = (number * 10 + u64::from(digit - b'0')).min(1 << 40);
            self.at += 1;
        }
        if self.at == from {
            return Err(self.error(SYNTAX, format!("expected {what}"), from));
        }
        if number > u64::from(GREATEST_PRIORITY) {
            return Err(self.error(NUMBER, format!("{what} is too large"), from).note("the greatest is 2147483647"));
        }
        Ok(number as u32)
    }

    /// Goes behind the next `;` that is not in a name.
    fn skip_line(&mut self) {
        let mut is_name = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            is_name ^= byte == b'"';
            if byte == b';' && !is_name {
                return;
            }
        }
    }

    fn player(&mut self, what: &str) -> Result<Player, Diagnostic> {
        self.skip_blanks();
        let from = self.at;
        match self.number(what)? {
            0 => Ok(Player::Even),
            1 => Ok(Player::Odd),
            _ => Err(self.error(OWNER, format!("{what} is 0 (even) or 1 (odd)"), from)),
        }
    }

    fn semicolon(&mut self) -> Result<(), Diagnostic> {
        if self.takes(b';') {
            return Ok(());
        }
        Err(self.error(SYNTAX, "expected `;`", self.at))
    }
}

/// The vertex of each identifier: a table, or a map where most numbers are no identifiers.
enum Vertices {
    /// The numbers of vertices, below this one, are their identifiers.
    Same(u32),
    Dense(Vec<Vertex>),
    Sparse(HashMap<u32, Vertex>),
}

impl Vertices {
    /// The vertices with these identifiers; with their numbers as identifiers, when there is none. An error is the
    /// vertex whose identifier an earlier one has.
    fn of(identifiers: &[u32], vertices: usize) -> Result<Vertices, usize> {
        if identifiers.is_empty() {
            return Ok(Vertices::Same(vertices as u32));
        }
        let greatest = identifiers.iter().copied().max().unwrap_or(0) as usize;
        let mut vertices = if greatest <= identifiers.len() * 4 + 1024 {
            Vertices::Dense(vec![NO_VERTEX; greatest + 1])
        } else {
            Vertices::Sparse(HashMap::new())
        };
        for (vertex, &identifier) in identifiers.iter().enumerate() {
            let known = match &mut vertices {
                Vertices::Same(_) => false,
                Vertices::Dense(of) => std::mem::replace(&mut of[identifier as usize], vertex as Vertex) != NO_VERTEX,
                Vertices::Sparse(of) => of.insert(identifier, vertex as Vertex).is_some(),
            };
            if known {
                return Err(vertex);
            }
        }
        Ok(vertices)
    }

    fn get(&self, identifier: u32) -> Option<Vertex> {
        match self {
            Vertices::Same(end) => (identifier < *end).then_some(identifier),
            Vertices::Dense(of) => of.get(identifier as usize).copied().filter(|&vertex| vertex != NO_VERTEX),
            Vertices::Sparse(of) => of.get(&identifier).copied(),
        }
    }
}

/// Reads a game; `file` is its name for diagnostics. A text that is given away is dropped before the game is made.
pub fn read_game(file: &str, text: impl AsRef<[u8]>, control: &Control) -> Result<PgGame, PgError> {
    let bytes = text.as_ref();
    let mut scanner = Scanner { file, bytes, at: 0 };
    if scanner.takes_word("parity") {
        scanner.number("the greatest identifier")?;
        scanner.semicolon()?;
    }
    let mut start = None;
    if scanner.takes_word("start") {
        scanner.skip_blanks();
        start = Some((scanner.at, scanner.number("the first vertex")?));
        scanner.semicolon()?;
    }
    // A name may hold further ones; else this is what there is.
    let count = |wanted: u8| bytes.iter().filter(|&&byte| byte == wanted).count();
    let vertices = count(b';');
    let edges = vertices + count(b',');
    control.afford(vertices * 8 + edges * 4)?;
    let mut builder = GameBuilder::with_capacity(vertices, edges);
    // Empty as long as each vertex has its number as identifier.
    let mut identifiers: Vec<u32> = Vec::new();
    let (mut names, mut priorities): (Vec<String>, Vec<u32>) = (Vec::new(), Vec::new());
    while !scanner.is_at_end() {
        let vertex = builder.len();
        if vertex.is_multiple_of(1 << 14) {
            control.check()?;
        }
        let identifier = scanner.number("the identifier of a vertex")?;
        if !identifiers.is_empty() || identifier as usize != vertex {
            if identifiers.is_empty() {
                identifiers.extend(0..vertex as u32);
            }
            identifiers.push(identifier);
        }
        let priority = scanner.number("a priority")?;
        builder.vertex(scanner.player("an owner")?, priority);
        if !scanner.is_digit() {
            let message = format!("vertex {identifier} has no successor");
            let help = "give a vertex in which its owner loses an edge to itself, and a priority that is bad for it";
            return Err(scanner.error(NO_SUCCESSOR, message, scanner.at).help(help).into());
        }
        loop {
            builder.edge(scanner.number("a successor")?);
            if !scanner.takes(b',') {
                break;
            }
        }
        if vertex < DETAILED {
            priorities.push(priority);
        }
        if scanner.takes(b'"') {
            let from = scanner.at;
            let Some(length) = bytes[from..].iter().position(|&byte| byte == b'"') else {
                return Err(scanner.error(SYNTAX, "this name has no end", from - 1).into());
            };
            if vertex < DETAILED {
                names.resize(vertex, String::new());
                names.push(String::from_utf8_lossy(&bytes[from..from + length]).into_owned());
            }
            scanner.at = from + length + 1;
        }
        scanner.semicolon()?;
    }
    if builder.is_empty() {
        return Err(Diagnostic::error(EMPTY, "this game has no vertex", Place::File(file.into()))
            .help("a vertex is a line such as `0 2 1 0,1;`: identifier, priority, owner, successors")
            .into());
    }
    if builder.len() > DETAILED {
        (names, priorities) = (Vec::new(), Vec::new());
    }
    control.check()?;
    let vertices = match Vertices::of(&identifiers, builder.len()) {
        Ok(vertices) => vertices,
        Err(second) => {
            let first = identifiers.iter().position(|&other| other == identifiers[second]).expect("it is there twice");
            let line = |vertex: usize| {
                let Diagnostic { labels, .. } = scanner.error(TWICE, "", vertex_place(&scanner, vertex));
                labels.into_iter().next().expect("an error has a place").place
            };
            let message = format!("vertex {} is defined twice", identifiers[second]);
            return Err(Diagnostic::error(TWICE, message, line(second)).also(line(first), "first here").into());
        }
    };
    if let Err((vertex, target)) = builder.retarget(|identifier| vertices.get(identifier)) {
        let place = successor_place(&scanner, vertex as usize, target);
        let vertex = identifiers.get(vertex as usize).copied().unwrap_or(vertex);
        let message = format!("vertex {target} is not defined, but vertex {vertex} leads to it");
        return Err(scanner.error(UNDEFINED, message, place).into());
    }
    let start = match start {
        None => 0,
        Some((at, identifier)) => vertices.get(identifier).ok_or_else(|| {
            scanner.error(UNDEFINED, format!("vertex {identifier}, with which the game starts, is not defined"), at)
        })?,
    };
    drop((vertices, text));
    builder.turn_around();
    Ok(PgGame { game: builder.finish(control)?, identifiers, names, start, priorities })
}

/// Where a vertex, counted from 0, is defined.
fn vertex_place(scanner: &Scanner<'_>, vertex: usize) -> usize {
    let mut again = Scanner { file: scanner.file, bytes: scanner.bytes, at: 0 };
    for head in ["parity", "start"] {
        if again.takes_word(head) {
            again.skip_line();
        }
    }
    (0..vertex).for_each(|_| again.skip_line());
    again.skip_blanks();
    again.at
}

/// Where a vertex, counted from 0, names a successor.
fn successor_place(scanner: &Scanner<'_>, vertex: usize, target: u32) -> usize {
    let at = vertex_place(scanner, vertex);
    let mut again = Scanner { file: scanner.file, bytes: scanner.bytes, at };
    let _ = (again.number(""), again.number(""), again.number(""));
    loop {
        again.skip_blanks();
        let place = again.at;
        match again.number("") {
            Ok(found) if found == target => return place,
            Ok(_) if again.takes(b',') => {}
            _ => return place,
        }
    }
}

/// Reads a solution of a game. A vertex that it does not mention has no winner.
pub fn read_solution(file: &str, bytes: &[u8], game: &PgGame, control: &Control) -> Result<Solution, PgError> {
    let mut scanner = Scanner { file, bytes, at: 0 };
    let vertices = Vertices::of(&game.identifiers, game.game.len()).expect("a game has each vertex once");
    if scanner.takes_word("paritysol") {
        scanner.number("the greatest identifier")?;
        scanner.semicolon()?;
    }
    let none = super::bits::Bits::none(game.game.len());
    let mut solution = Solution { won: [none.clone(), none], moves: vec![NO_VERTEX; game.game.len()] };
    let mut lines = 0usize;
    while !scanner.is_at_end() {
        lines += 1;
        if lines.is_multiple_of(1 << 14) {
            control.check()?;
        }
        let vertex = |scanner: &mut Scanner<'_>| -> Result<Vertex, Diagnostic> {
            scanner.skip_blanks();
            let place = scanner.at;
            let identifier = scanner.number("the identifier of a vertex")?;
            let unknown = || scanner.error(UNDEFINED, format!("the game has no vertex {identifier}"), place);
            vertices.get(identifier).ok_or_else(unknown)
        };
        let place = scanner.at;
        let won = vertex(&mut scanner)?;
        if solution.winner(won).is_some() {
            return Err(scanner.error(TWICE, "this vertex has a winner already", place).into());
        }
        let winner = scanner.player("a winner")?;
        solution.won[winner.index()].insert(won);
        if scanner.is_digit() {
            solution.moves[won as usize] = vertex(&mut scanner)?;
        }
        scanner.semicolon()?;
    }
    Ok(solution)
}

/// The text of a solution of a game.
pub fn write_solution(read: &PgGame, solution: &Solution) -> String {
    let game = &read.game;
    let vertices = 0..game.len() as Vertex;
    let greatest = vertices.clone().map(|vertex| read.identifier(vertex)).max().unwrap_or(0);
    let mut text = format!("paritysol {greatest};\n");
    for vertex in vertices {
        let Some(winner) = solution.winner(vertex) else { continue };
        let _ = write!(text, "{} {}", read.identifier(vertex), winner.index());
        let next = solution.moves[vertex as usize];
        if game.owner(vertex) == winner && next != NO_VERTEX {
            let _ = write!(text, " {}", read.identifier(next));
        }
        text.push_str(";\n");
    }
    text
}

/// The text of a complete game, as PGSolver and Oink read it.
pub fn write_game(game: &Game) -> String {
    let vertices = 0..game.len() as Vertex;
    let greatest = vertices.clone().map(|vertex| game.priority(vertex)).max().unwrap_or(0);
    let top = greatest.next_multiple_of(2);
    let mut text = format!("parity {};\n", game.len().saturating_sub(1));
    for vertex in vertices {
        let owner = game.owner(vertex).index();
        if game.successors(vertex).is_empty() {
            // Its owner loses: the priority of the edge to itself is the opponent's.
            let _ = writeln!(text, "{vertex} {} {owner} {vertex};", 1 - owner);
            continue;
        }
        let _ = write!(text, "{vertex} {} {owner} ", top - game.priority(vertex));
        for (at, target) in game.successors(vertex).iter().enumerate() {
            let _ = write!(text, "{}{target}", if at == 0 { "" } else { "," });
        }
        text.push_str(";\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PgGame, Diagnostic> {
        read_game("g.pg", text.as_bytes(), &Control::unlimited()).map_err(|error| match error {
            PgError::Diagnostic(diagnostic) => *diagnostic,
            PgError::Stopped(_) => panic!("there is no budget"),
        })
    }

    #[test]
    fn the_greatest_priority_becomes_the_least() {
        let read = read("parity 9;\nstart 9;\n9 5 0 4,9 \"nine; or\";\n4 2 1 9;\n").expect("it is a game");
        assert_eq!([0, 1].map(|vertex| read.identifier(vertex)), [9, 4]);
        assert_eq!(read.start, 0);
        assert_eq!(read.names, ["nine; or"]);
        assert_eq!(read.game.successors(0), [1, 0]);
        assert_eq!(read.game.parity(0), Player::Odd);
        assert!(read.game.level(0) < read.game.level(1));
    }

    #[test]
    fn mistakes_have_a_code_and_a_place() {
        for (text, code, line, column) in [
            ("parity 1;\n0 1 0 1\n1 2 1 0;", SYNTAX, 3, 1),
            ("0 1 x 0;", SYNTAX, 1, 5),
            ("0 1 2 0;", OWNER, 1, 5),
            ("0 99999999999 0 0;", NUMBER, 1, 3),
            ("0 1 0 0;\n1 1 0 1;\n0 1 1 0;", TWICE, 3, 1),
            ("0 1 0 0;\n1 1 0 0,7;", UNDEFINED, 2, 9),
            ("parity 1;\n0 1 0;", NO_SUCCESSOR, 2, 6),
            ("0 1 0 0 \"a;", SYNTAX, 1, 9),
            ("start 3;\n0 1 0 0;", UNDEFINED, 1, 7),
        ] {
            let diagnostic = read(text).err().unwrap_or_else(|| panic!("{text} is no game"));
            assert_eq!(diagnostic.code, code, "{text}");
            let Place::Line(place) = &diagnostic.labels[0].place else { panic!("{text}: a line") };
            assert_eq!((place.number, place.column), (line, column), "{text}");
        }
        let sparse = read("2147483647 1 0 5;\n5 2 1 2147483647;").expect("identifiers may have gaps");
        assert_eq!((sparse.game.successors(0), sparse.identifier(0)), (&[1][..], 2_147_483_647));
        assert_eq!(read("parity 0;").err().map(|diagnostic| diagnostic.code), Some(EMPTY));
    }
}
