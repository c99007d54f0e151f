//! Reads an automaton from its text.

use std::collections::HashMap;

use trefoil_source::{Code, Diagnostic, FileId, Place, Span};
use trefoil_system::{Automaton, AutomatonEdge, Cube};

use super::codes::{ACCEPTANCE, ALTERNATING, HEADER, LABELS, RANGE, SYNTAX, TOO_LARGE};
use super::labels::{Labels, Part};
use super::tokens::{Token, tokens};
use super::{HoaAutomaton, HoaProposition};

/// Labels and conditions that are nested deeper are refused.
const DEEPEST: usize = 256;
/// Automata with more states or edges are refused.
const MOST: usize = 1 << 24;

type Read<X> = Result<X, Box<Diagnostic>>;

/// Reads the first automaton of a text.
pub fn read_hoa(text: &str, file: FileId) -> Result<HoaAutomaton, Box<Diagnostic>> {
    let tokens = tokens(text, file)?;
    let end = Span { file, start: text.len() as u32, end: text.len() as u32 };
    let mut reader = Reader { tokens, at: 0, end, labels: Labels::default(), aliases: HashMap::new() };
    let header = reader.header()?;
    reader.body(header)
}

/// What a header says.
#[derive(Default)]
struct Header {
    name: Option<String>,
    states: Option<u32>,
    start: Vec<(u32, Span)>,
    propositions: Option<Vec<HoaProposition>>,
    /// How many sets there are, and those that have to occur again and again, or whose complements have to.
    acceptance: Option<(u32, Condition)>,
    /// Numbers of propositions in aliases, which may stand before `AP:`.
    mentioned: Vec<(u32, Span)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    Never,
    /// Each with whether it is complemented.
    All(Vec<(u32, bool)>),
}

struct Reader {
    tokens: Vec<(Token, Span)>,
    at: usize,
    end: Span,
    labels: Labels,
    aliases: HashMap<String, usize>,
}

/// Edges of a state as they are written.
struct WrittenEdge {
    label: Option<usize>,
    target: (u32, Span),
    sets: Vec<u32>,
}

fn wrong(code: Code, message: impl Into<String>, span: Span) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(code, message, Place::Span(span)))
}

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |(_, span)| *span)
    }

    fn next(&mut self) -> Option<Token> {
        let (token, _) = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token.clone())
    }

    fn expected<X>(&self, what: &str) -> Read<X> {
        if self.peek() == Some(&Token::Abort) {
            return Err(wrong(SYNTAX, "the writer of this automaton has discarded it", self.span()));
        }
        let found = self.peek().map_or("the end of the file".to_string(), Token::shown);
        Err(wrong(SYNTAX, format!("expected {what}, found {found}"), self.span()))
    }

    fn takes(&mut self, sign: char) -> bool {
        let is_there = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(is_there);
        is_there
    }

    fn sign(&mut self, sign: char) -> Read<()> {
        if self.takes(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    fn number(&mut self, what: &str) -> Read<(u32, Span)> {
        let span = self.span();
        match self.peek() {
            Some(&Token::Number(number)) => {
                self.at += 1;
                Ok((number, span))
            }
            _ => self.expected(what),
        }
    }

    fn header(&mut self) -> Read<Header> {
        let first = self.span();
        if self.next() != Some(Token::Header("HOA".to_string())) {
            return Err(wrong(HEADER, "an automaton begins with `HOA: v1`", first));
        }
        match (self.span(), self.next()) {
            (_, Some(Token::Word(version))) if version == "v1" => {}
            (span, _) => return Err(wrong(HEADER, "only version `v1` of the format is read", span)),
        }
        let mut header = Header::default();
        let mut seen: Vec<String> = Vec::new();
        loop {
            let span = self.span();
            let name = match self.peek() {
                Some(Token::Body) => {
                    self.at += 1;
                    break;
                }
                Some(Token::Header(name)) => name.clone(),
                _ => return self.expected("a header or `--BODY--`"),
            };
            self.at += 1;
            if seen.contains(&name) && !["Start", "Alias", "properties"].contains(&name.as_str()) {
                return Err(wrong(HEADER, format!("`{name}:` is there twice"), span));
            }
            self.item(&name, span, &mut header)?;
            seen.push(name);
        }
        if header.acceptance.is_none() {
            return Err(wrong(HEADER, "the header `Acceptance:` is missing", first));
        }
        let count = header.propositions.as_ref().map_or(0, Vec::len) as u32;
        if let Some(&(_, span)) = header.mentioned.iter().find(|(number, _)| *number >= count) {
            return Err(self.no_proposition(count, span));
        }
        Ok(header)
    }

    fn item(&mut self, name: &str, span: Span, header: &mut Header) -> Read<()> {
        match name {
            "States" => header.states = Some(self.number("the number of states")?.0),
            "Start" => {
                let start = self.number("a state")?;
                self.no_conjunction()?;
                header.start.push(start);
            }
            "AP" => header.propositions = Some(self.propositions()?),
            "Alias" => {
                let span = self.span();
                let Some(Token::Alias(alias)) = self.next() else {
                    self.at -= 1;
                    return self.expected("a name with `@`");
                };
                let label = self.label(0, &mut header.mentioned)?;
                if self.aliases.insert(alias, label).is_some() {
                    return Err(wrong(HEADER, "this alias is defined twice", span));
                }
            }
            "Acceptance" => {
                let (sets, span) = self.number("the number of acceptance sets")?;
                let condition = self.condition(0)?;
                if let Condition::All(all) = &condition {
                    if let Some((set, _)) = all.iter().find(|(set, _)| *set >= sets) {
                        return Err(wrong(RANGE, format!("set {set} is used, and {sets} are declared"), span));
                    }
                    if all.len() > 32 {
                        return Err(wrong(TOO_LARGE, "the condition names more than 32 sets", span));
                    }
                }
                header.acceptance = Some((sets, condition));
            }
            "name" => match self.next() {
                Some(Token::Text(text)) => header.name = Some(text),
                _ => {
                    self.at -= 1;
                    return self.expected("a string");
                }
            },
            known if known.starts_with(|first: char| first.is_ascii_uppercase()) => {
                let message = format!("`{known}:` is not known, and its capital says that it changes the automaton");
                return Err(wrong(HEADER, message, span));
            }
            _ => {
                // What has a small initial may be ignored.
                while matches!(self.peek(), Some(Token::Word(_) | Token::Number(_) | Token::Text(_))) {
                    self.at += 1;
                }
            }
        }
        Ok(())
    }

    fn no_conjunction(&self) -> Read<()> {
        match self.peek() {
            Some(Token::Sign('&')) => {
                let message = "an automaton with universal branching (`&` between states) cannot be checked";
                Err(wrong(ALTERNATING, message, self.span()))
            }
            _ => Ok(()),
        }
    }

    fn propositions(&mut self) -> Read<Vec<HoaProposition>> {
        let (count, span) = self.number("the number of propositions")?;
        if count > 64 {
            return Err(wrong(
                TOO_LARGE,
                format!("a claim has at most 64 propositions, and this one has {count}"),
                span,
            ));
        }
        let mut all: Vec<HoaProposition> = Vec::new();
        for _ in 0..count {
            let span = self.span();
            let Some(Token::Text(text)) = self.next() else {
                self.at -= 1;
                return self.expected("a proposition in quotation marks");
            };
            if all.iter().any(|other| other.text == text) {
                return Err(wrong(HEADER, "this proposition is there twice", span));
            }
            all.push(HoaProposition { text, span: Span { start: span.start + 1, end: span.end - 1, ..span } });
        }
        Ok(all)
    }

    /// `|` of `&` of literals; numbers of propositions are noted.
    fn label(&mut self, depth: usize, mentioned: &mut Vec<(u32, Span)>) -> Read<usize> {
        let mut left = self.label_and(depth, mentioned)?;
        while self.takes('|') {
            let right = self.label_and(depth, mentioned)?;
            left = self.labels.add(Part::Or(left, right));
        }
        Ok(left)
    }

    fn label_and(&mut self, depth: usize, mentioned: &mut Vec<(u32, Span)>) -> Read<usize> {
        let mut left = self.label_not(depth, mentioned)?;
        while self.takes('&') {
            let right = self.label_not(depth, mentioned)?;
            left = self.labels.add(Part::And(left, right));
        }
        Ok(left)
    }

    fn label_not(&mut self, depth: usize, mentioned: &mut Vec<(u32, Span)>) -> Read<usize> {
        let span = self.span();
        let mut negated = false;
        while self.takes('!') {
            negated = !negated;
        }
        let inner = match self.next() {
            Some(Token::Word(word)) if word == "t" || word == "f" => self.labels.add(Part::Constant(word == "t")),
            Some(Token::Number(number)) => {
                let place = self.tokens[self.at - 1].1;
                mentioned.push((number, place));
                self.labels.add(Part::Proposition(number.min(63)))
            }
            Some(Token::Alias(name)) => match self.aliases.get(&name) {
                Some(&known) => known,
                None => {
                    let message = format!("the alias `@{name}` is not defined before");
                    return Err(wrong(RANGE, message, self.tokens[self.at - 1].1));
                }
            },
            Some(Token::Sign('(')) if depth < DEEPEST => {
                let inner = self.label(depth + 1, mentioned)?;
                self.sign(')')?;
                inner
            }
            Some(Token::Sign('(')) => return Err(wrong(TOO_LARGE, "this label is nested too deeply", span)),
            other => {
                self.at -= usize::from(other.is_some());
                return self.expected("a label: a proposition by its number, `t`, `f`, an alias, `!` or `(`");
            }
        };
        Ok(if negated { self.labels.add(Part::Not(inner)) } else { inner })
    }

    fn condition(&mut self, depth: usize) -> Read<Condition> {
        let mut left = self.condition_part(depth)?;
        loop {
            if self.peek() == Some(&Token::Sign('|')) {
                return Err(self.other_acceptance());
            }
            if !self.takes('&') {
                return Ok(left);
            }
            left = match (left, self.condition_part(depth)?) {
                (Condition::All(mut all), Condition::All(more)) => {
                    for one in more {
                        if !all.contains(&one) {
                            all.push(one);
                        }
                    }
                    Condition::All(all)
                }
                _ => Condition::Never,
            };
        }
    }

    fn condition_part(&mut self, depth: usize) -> Read<Condition> {
        match self.peek().cloned() {
            Some(Token::Sign('(')) if depth < DEEPEST => {
                self.at += 1;
                let inner = self.condition(depth + 1)?;
                self.sign(')')?;
                Ok(inner)
            }
            Some(Token::Sign('(')) => Err(wrong(TOO_LARGE, "this condition is nested too deeply", self.span())),
            Some(Token::Word(word)) if word == "t" || word == "f" => {
                self.at += 1;
                Ok(if word == "t" { Condition::All(Vec::new()) } else { Condition::Never })
            }
            Some(Token::Word(word)) if word == "Inf" => {
                self.at += 1;
                self.sign('(')?;
                let complemented = self.takes('!');
                let (set, _) = self.number("an acceptance set")?;
                self.sign(')')?;
                Ok(Condition::All(vec![(set, complemented)]))
            }
            Some(Token::Word(word)) if word == "Fin" => Err(self.other_acceptance()),
            _ => self.expected("`Inf(…)`, `t` or `f`"),
        }
    }

    fn other_acceptance(&self) -> Box<Diagnostic> {
        let message = "only Büchi and generalised Büchi acceptance can be checked: `Inf(0)`, `Inf(0)&Inf(1)`, …";
        let told = wrong(ACCEPTANCE, message, self.span());
        Box::new(told.help("other tools convert automata, such as `autfilt --gba` of Spot"))
    }

    fn no_proposition(&self, count: u32, span: Span) -> Box<Diagnostic> {
        let declared = if count == 1 { "1 is declared".to_string() } else { format!("{count} are declared") };
        wrong(RANGE, format!("there is no such proposition: {declared}, numbered from 0"), span)
    }

    fn body(&mut self, header: Header) -> Read<HoaAutomaton> {
        let propositions = header.propositions.unwrap_or_default();
        let (sets, condition) = header.acceptance.expect("the header was checked");
        let accepted: &[(u32, bool)] = match &condition {
            Condition::All(all) => all,
            Condition::Never => &[],
        };
        let mut edges: Vec<Vec<AutomatonEdge>> = Vec::new();
        let mut known = vec![false; header.states.unwrap_or(0).min(MOST as u32) as usize];
        let mut targets: Vec<(u32, Span)> = header.start.clone();
        if header.states.is_some_and(|states| states as usize > MOST) {
            return Err(wrong(TOO_LARGE, "there are too many states", self.span()));
        }
        edges.resize(known.len(), Vec::new());
        let mut count = 0;
        while let Some(Token::Header(name)) = self.peek() {
            if name != "State" {
                return self.expected("`State:` or `--END--`");
            }
            self.at += 1;
            let mut mentioned = Vec::new();
            let own_label = if self.takes('[') { Some(self.closed_label(&mut mentioned)?) } else { None };
            let (state, span) = self.number("the number of a state")?;
            if header.states.is_some_and(|states| state >= states) {
                return Err(self.no_state(header.states, span));
            }
            if state as usize >= MOST {
                return Err(wrong(TOO_LARGE, "there are too many states", span));
            }
            if state as usize >= known.len() {
                known.resize(state as usize + 1, false);
                edges.resize(state as usize + 1, Vec::new());
            }
            if std::mem::replace(&mut known[state as usize], true) {
                return Err(wrong(RANGE, format!("state {state} is there twice"), span));
            }
            if let Some(Token::Text(_)) = self.peek() {
                self.at += 1;
            }
            let own_sets = self.sets(sets)?;
            let written = self.edges(sets, &mut mentioned)?;
            let declared = propositions.len() as u32;
            if let Some(&(_, span)) = mentioned.iter().find(|(number, _)| *number >= declared) {
                return Err(self.no_proposition(declared, span));
            }
            let cubes = self.edge_cubes(own_label, &written, declared, span)?;
            for (edge, cubes) in written.iter().zip(cubes) {
                targets.push(edge.target);
                let is_in = |set: u32| own_sets.contains(&set) || edge.sets.contains(&set);
                let marks = (0u32..).zip(accepted).filter(|(_, (set, complemented))| is_in(*set) != *complemented);
                let marks = marks.fold(0, |all, (mark, _)| all | 1 << mark);
                count += cubes.len();
                if count > MOST {
                    return Err(wrong(TOO_LARGE, "there are too many edges", span));
                }
                let own = cubes.into_iter().map(|letters| AutomatonEdge { letters, marks, target: edge.target.0 });
                edges[state as usize].extend(own);
            }
        }
        if self.peek() != Some(&Token::End) {
            return self.expected("`State:` or `--END--`");
        }
        let bound = header.states.unwrap_or(known.len() as u32);
        if let Some(&(_, span)) = targets.iter().find(|(target, _)| *target >= bound) {
            return Err(self.no_state(Some(bound), span));
        }
        let mut initial: Vec<u32> = header.start.iter().map(|(state, _)| *state).collect();
        if condition == Condition::Never {
            initial.clear();
        }
        let automaton = Automaton { edges, initial, marks: accepted.len() as u32, end: None };
        Ok(HoaAutomaton { name: header.name, automaton, propositions })
    }

    fn no_state(&self, states: Option<u32>, span: Span) -> Box<Diagnostic> {
        let states = states.unwrap_or(0);
        wrong(RANGE, format!("there is no such state: there are {states}, numbered from 0"), span)
    }

    fn closed_label(&mut self, mentioned: &mut Vec<(u32, Span)>) -> Read<usize> {
        let label = self.label(0, mentioned)?;
        self.sign(']')?;
        Ok(label)
    }

    /// An optional list of acceptance sets.
    fn sets(&mut self, declared: u32) -> Read<Vec<u32>> {
        let mut all = Vec::new();
        if self.takes('{') {
            while !self.takes('}') {
                let (set, span) = self.number("an acceptance set or `}`")?;
                if set >= declared {
                    let message = format!("there is no such acceptance set: {declared} are declared, numbered from 0");
                    return Err(wrong(RANGE, message, span));
                }
                all.push(set);
            }
        }
        Ok(all)
    }

    fn edges(&mut self, sets: u32, mentioned: &mut Vec<(u32, Span)>) -> Read<Vec<WrittenEdge>> {
        let mut all = Vec::new();
        while let Some(Token::Sign('[') | Token::Number(_)) = self.peek() {
            let label = if self.takes('[') { Some(self.closed_label(mentioned)?) } else { None };
            let target = self.number("the state that the edge leads to")?;
            self.no_conjunction()?;
            all.push(WrittenEdge { label, target, sets: self.sets(sets)? });
        }
        Ok(all)
    }

    /// The cubes of each edge of a state.
    fn edge_cubes(
        &mut self,
        own: Option<usize>,
        written: &[WrittenEdge],
        propositions: u32,
        span: Span,
    ) -> Read<Vec<Vec<Cube>>> {
        let labelled = written.iter().filter(|edge| edge.label.is_some()).count();
        let too_many = |_: ()| wrong(TOO_LARGE, "a label of this state needs too many cubes", span);
        if let Some(own) = own {
            if labelled > 0 {
                return Err(wrong(LABELS, "this state has a label, and so have edges that leave it", span));
            }
            let cubes = self.labels.cubes(own).ok_or(()).map_err(too_many)?.to_vec();
            return Ok(vec![cubes; written.len()]);
        }
        if labelled == 0 {
            // Implicit labels: an edge for each letter, in the order of their numbers.
            let letters = 1u64.checked_shl(propositions).unwrap_or(0);
            if !written.is_empty() && written.len() as u64 != letters {
                let message = format!(
                    "the edges of this state have no labels, so there must be one for each of the 2^{propositions} \
                     letters, and there are {}",
                    written.len()
                );
                return Err(wrong(LABELS, message, span));
            }
            let mask = letters.wrapping_sub(1);
            let cube = |letter: u64| vec![Cube { yes: letter, no: !letter & mask }];
            return Ok((0..written.len() as u64).map(cube).collect());
        }
        if labelled < written.len() {
            return Err(wrong(LABELS, "some edges of this state have labels and some have none", span));
        }
        let mut all = Vec::with_capacity(written.len());
        for edge in written {
            let label = edge.label.unwrap_or_default();
            all.push(self.labels.cubes(label).ok_or(()).map_err(too_many)?.to_vec());
        }
        Ok(all)
    }
}
