//! Writing mCRL2's binary `.lts` files; [`super::mcrl2`] and [`super::mcrl2_terms`] describe the format.
//!
//! A label becomes a multi-action: a label with parts is written by its parts, and a text such as `a(1, true)|b` is
//! taken apart; any other text is the name of an action. A system has no declarations, so the sorts of arguments come
//! from their texts, one sort for each place of an action: `Bool`, `Nat`, `Int` when there are negative numbers, and
//! otherwise a sort `Value` with the texts as its constructors. Numbers of 64 bits and more are such values, too. mCRL2
//! prints all of them as they are written here.
//!
//! Terms are shared: each is written when it first occurs. Memory: the terms of the labels.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;

use trefoil_control::Control;
use trefoil_source::{Diagnostic, Place};
use trefoil_system::{Label, LabelId, Part};

use super::mcrl2_terms::{TermId, width};
use super::output::Buffer;
use super::{WriteError, codes};
use crate::explicit::Lts;

/// The sort of what is neither a number nor a truth value.
const VALUE: &str = "Value";

/// Writes a system.
pub(crate) fn write(lts: &Lts, out: &mut dyn Write, name: &str, control: &Control) -> Result<(), WriteError> {
    let mut is_used = vec![false; lts.labels().len()];
    for block in lts.transitions().chunks(1 << 16) {
        control.check()?;
        block.iter().for_each(|transition| is_used[transition.label.index()] = true);
    }
    let used = (0..is_used.len()).filter(|&label| is_used[label]).map(|label| LabelId(label as u32));
    let labels: Vec<(LabelId, Vec<Part>)> =
        used.map(|label| (label, actions(label, lts.labels().get(label)))).collect();
    let sorts = Sorts::of(labels.iter().flat_map(|(_, parts)| parts));
    let mut stream = TermWriter::new(Buffer::new(out, control));
    stream.put("labelled_transition_system", &[]);
    sorts.declare(&mut stream);
    let mut known: HashMap<TermId, LabelId> = HashMap::new();
    let mut terms: Vec<TermId> = vec![0; is_used.len()];
    for (label, parts) in &labels {
        let actions = parts.iter().map(|part| sorts.action(&mut stream, part)).collect::<Vec<_>>();
        let actions = stream.list(&actions);
        if known.insert(actions, *label).is_some() {
            let text = lts.labels().get(*label);
            let message = format!("two different labels would both be written as the multi-action `{text}`");
            let diagnostic = Diagnostic::error(codes::LABELS_COLLIDE, message, Place::File(name.to_string()));
            return Err(diagnostic.help("write JSON, which keeps names and arguments apart").into());
        }
        terms[label.index()] = actions;
    }
    let (undefined, real) = (stream.name("@undefined_real"), stream.sort("Real"));
    let timeless = stream.share("DataVarId", &[undefined, real]);
    let mut mentioned = lts.initial().0;
    for (done, (source, transition)) in lts.all_transitions().enumerate() {
        stream.put("transition", &[]);
        stream.put_integer(u64::from(source.0));
        stream.put("TimedMultAct", &[terms[transition.label.index()], timeless]);
        stream.put_integer(u64::from(transition.target.0));
        stream.buffer.breathe(done)?;
        mentioned = mentioned.max(source.0).max(transition.target.0);
    }
    // States that no transition mentions are known by their labels, which are empty.
    if mentioned as usize + 1 < lts.state_count() {
        for _ in lts.states() {
            stream.put("<empty_list>", &[]);
            stream.buffer.breathe(lts.transition_count())?;
        }
    }
    stream.put("initial_state", &[]);
    stream.put_integer(1);
    stream.put_integer(u64::from(lts.initial().0));
    stream.finish().finish(lts.transition_count())
}

/// The actions of a label.
fn actions(id: LabelId, label: &Label) -> Vec<Part> {
    if id == LabelId::TICK {
        return vec![Part { name: "Terminate".into(), arguments: Box::default() }];
    }
    match label.parts() {
        [whole] if whole.arguments.is_empty() => parsed(&whole.name).unwrap_or_else(|| vec![whole.clone()]),
        parts => parts.to_vec(),
    }
}

/// The actions of a text in mCRL2's form.
fn parsed(text: &str) -> Option<Vec<Part>> {
    let mut parts: Vec<Part> = split(text, b'|').into_iter().map(action).collect::<Option<_>>()?;
    parts.sort();
    Some(parts)
}

fn action(text: &str) -> Option<Part> {
    let (name, arguments) = match text.strip_suffix(')') {
        None => (text, Vec::new()),
        Some(open) => {
            let (name, inside) = open.split_once('(')?;
            (name, split(inside, b',').into_iter().map(str::trim).collect())
        }
    };
    let mut letters = name.chars();
    let starts = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    let goes_on = letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '\'');
    let complete = !arguments.iter().any(|argument| argument.is_empty());
    (starts && goes_on && complete)
        .then(|| Part { name: name.into(), arguments: arguments.into_iter().map(Box::from).collect() })
}

/// The pieces between separators outside of brackets.
fn split(text: &str, separator: u8) -> Vec<&str> {
    let (mut pieces, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ if byte == separator && depth == 0 => {
                pieces.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[start..]);
    pieces
}

/// The sort of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Bool,
    Nat,
    Int,
    Value,
}

impl Sort {
    fn of(text: &str) -> Sort {
        let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u64>().is_ok();
        let plain = |digits: &str| number(digits) && (digits == "0" || !digits.starts_with('0'));
        match text.strip_prefix('-') {
            _ if text == "true" || text == "false" => Sort::Bool,
            None if plain(text) => Sort::Nat,
            Some(digits) if plain(digits) && digits != "0" => Sort::Int,
            _ => Sort::Value,
        }
    }

    /// The sort of both.
    fn with(self, other: Sort) -> Sort {
        match (self, other) {
            _ if self == other => self,
            (Sort::Nat, Sort::Int) | (Sort::Int, Sort::Nat) => Sort::Int,
            _ => Sort::Value,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Sort::Bool => "Bool",
            Sort::Nat => "Nat",
            Sort::Int => "Int",
            Sort::Value => VALUE,
        }
    }
}

/// The sorts of the arguments of each action, by name and number of arguments.
struct Sorts {
    actions: BTreeMap<(Box<str>, usize), Vec<Sort>>,
    values: BTreeSet<Box<str>>,
}

impl Sorts {
    fn of<'p>(parts: impl Iterator<Item = &'p Part> + Clone) -> Sorts {
        let mut sorts = Sorts { actions: BTreeMap::new(), values: BTreeSet::new() };
        for part in parts.clone() {
            let own = part.arguments.iter().map(|argument| Sort::of(argument));
            let key = (part.name.clone(), part.arguments.len());
            match sorts.actions.get_mut(&key) {
                Some(known) => known.iter_mut().zip(own).for_each(|(known, sort)| *known = known.with(sort)),
                None => {
                    sorts.actions.insert(key, own.collect());
                }
            }
        }
        for part in parts {
            let own = &sorts.actions[&(part.name.clone(), part.arguments.len())];
            let values = part.arguments.iter().zip(own).filter(|(_, sort)| **sort == Sort::Value);
            sorts.values.extend(values.map(|(text, _)| text.clone()));
        }
        sorts
    }

    /// The data specification, the parameters and the actions.
    fn declare(&self, stream: &mut TermWriter<'_>) {
        let has_values = !self.values.is_empty();
        stream.put_integer(u64::from(has_values));
        if has_values {
            let name = stream.name(VALUE);
            stream.put("SortId", &[name]);
        }
        stream.put_integer(0);
        stream.put_integer(self.values.len() as u64);
        for value in &self.values {
            let parts = [stream.name(value), stream.sort(VALUE)];
            stream.put("OpIdNoIndex", &parts);
        }
        stream.put_integer(0);
        stream.put_integer(0);
        stream.put("<empty_list>", &[]);
        let labels: Vec<TermId> = self.actions.iter().map(|((name, _), sorts)| label(stream, name, sorts)).collect();
        stream.put_list(&labels);
    }

    /// An action with its arguments.
    fn action(&self, stream: &mut TermWriter<'_>, part: &Part) -> TermId {
        let sorts = &self.actions[&(part.name.clone(), part.arguments.len())];
        let label = label(stream, &part.name, sorts);
        let arguments: Vec<TermId> =
            part.arguments.iter().zip(sorts).map(|(text, &sort)| stream.value(text, sort)).collect();
        let arguments = stream.list(&arguments);
        stream.share("Action", &[label, arguments])
    }
}

/// A declared action.
fn label(stream: &mut TermWriter<'_>, name: &str, sorts: &[Sort]) -> TermId {
    let sorts: Vec<TermId> = sorts.iter().map(|sort| stream.sort(sort.name())).collect();
    let parts = [stream.name(name), stream.list(&sorts)];
    stream.share("ActId", &parts)
}

/// Writes packets.
struct TermWriter<'a> {
    buffer: Buffer<'a>,
    /// The last `count` bits are not written yet.
    bits: u64,
    count: u32,
    symbols: HashMap<(Box<str>, usize), u32>,
    terms: HashMap<(u32, Box<[TermId]>), TermId>,
    integers: HashMap<u64, TermId>,
    known: u32,
}

impl<'a> TermWriter<'a> {
    /// Writes the head of the stream.
    fn new(buffer: Buffer<'a>) -> TermWriter<'a> {
        let mut writer = TermWriter {
            buffer,
            bits: 0,
            count: 0,
            symbols: HashMap::new(),
            terms: HashMap::new(),
            integers: HashMap::new(),
            known: 0,
        };
        [0, 0x8b, 0xaf, 0x83, 0x08].into_iter().for_each(|byte| writer.write(byte, 8));
        writer
    }

    /// Writes bits, at most 32, the highest first.
    fn write(&mut self, value: u64, wanted: u32) {
        self.bits = self.bits << wanted | value;
        self.count += wanted;
        while self.count >= 8 {
            self.count -= 8;
            self.buffer.bytes.push((self.bits >> self.count) as u8);
        }
        self.bits &= (1 << self.count) - 1;
    }

    fn integer(&mut self, mut value: u64) {
        while value > 127 {
            self.write(value & 127 | 128, 8);
            value >>= 7;
        }
        self.write(value, 8);
    }

    fn symbol(&mut self, name: &str, arity: usize) -> u32 {
        if let Some(&known) = self.symbols.get(&(Box::from(name), arity)) {
            return known;
        }
        self.write(0, 2);
        self.integer(name.len() as u64);
        name.bytes().for_each(|byte| self.write(u64::from(byte), 8));
        self.integer(arity as u64);
        // Number 0 is the end of the stream.
        let symbol = self.symbols.len() as u32 + 1;
        self.symbols.insert((name.into(), arity), symbol);
        symbol
    }

    fn packet(&mut self, kind: u64, symbol: u32, arguments: &[TermId]) {
        self.write(kind, 2);
        self.write(u64::from(symbol), width(self.symbols.len() + 1));
        for &argument in arguments {
            self.write(u64::from(argument), width(self.known as usize));
        }
    }

    /// A term that others can have as an argument.
    fn share(&mut self, name: &str, arguments: &[TermId]) -> TermId {
        let symbol = self.symbol(name, arguments.len());
        let key = (symbol, Box::from(arguments));
        if let Some(&known) = self.terms.get(&key) {
            return known;
        }
        self.packet(1, symbol, arguments);
        self.terms.insert(key, self.known);
        self.known += 1;
        self.known - 1
    }

    fn word(&mut self, value: u64) -> TermId {
        if let Some(&known) = self.integers.get(&value) {
            return known;
        }
        let symbol = self.symbol("<aterm_int>", 0);
        self.packet(1, symbol, &[]);
        self.integer(value);
        self.integers.insert(value, self.known);
        self.known += 1;
        self.known - 1
    }

    /// Puts out a term.
    fn put(&mut self, name: &str, arguments: &[TermId]) {
        let symbol = self.symbol(name, arguments.len());
        self.packet(2, symbol, arguments);
    }

    fn put_integer(&mut self, value: u64) {
        self.write(3, 2);
        self.integer(value);
    }

    fn put_list(&mut self, elements: &[TermId]) {
        match elements.split_first() {
            None => self.put("<empty_list>", &[]),
            Some((&first, rest)) => {
                let rest = self.list(rest);
                self.put("<list_constructor>", &[first, rest]);
            }
        }
    }

    fn list(&mut self, elements: &[TermId]) -> TermId {
        let end = self.share("<empty_list>", &[]);
        elements.iter().rev().fold(end, |rest, &element| self.share("<list_constructor>", &[element, rest]))
    }

    fn name(&mut self, name: &str) -> TermId {
        self.share(name, &[])
    }

    fn sort(&mut self, name: &str) -> TermId {
        let name = self.name(name);
        self.share("SortId", &[name])
    }

    /// A value of a sort.
    fn value(&mut self, text: &str, sort: Sort) -> TermId {
        match (sort, text.strip_prefix('-')) {
            (Sort::Nat, _) => self.number("@most_significant_digitNat", "Nat", text),
            (Sort::Int, Some(digits)) => {
                let positive = self.number("@most_significant_digit", "Pos", digits);
                self.apply("@cNeg", "Pos", "Int", positive)
            }
            (Sort::Int, None) => {
                let natural = self.number("@most_significant_digitNat", "Nat", text);
                self.apply("@cInt", "Nat", "Int", natural)
            }
            (Sort::Bool | Sort::Value, _) => {
                let parts = [self.name(text), self.sort(sort.name())];
                self.share("OpIdNoIndex", &parts)
            }
        }
    }

    fn number(&mut self, function: &str, sort: &str, digits: &str) -> TermId {
        let word = self.word(digits.parse().unwrap_or(u64::MAX));
        self.apply(function, "@word", sort, word)
    }

    /// A function of one argument.
    fn apply(&mut self, function: &str, from: &str, to: &str, argument: TermId) -> TermId {
        let domain = self.sort(from);
        let parts = [self.list(&[domain]), self.sort(to)];
        let sort = self.share("SortArrow", &parts);
        let parts = [self.name(function), sort];
        let head = self.share("OpIdNoIndex", &parts);
        self.share("DataAppl", &[head, argument])
    }

    /// Ends the stream.
    fn finish(mut self) -> Buffer<'a> {
        self.packet(1, 0, &[]);
        if self.count > 0 {
            self.write(0, 8 - self.count);
        }
        self.buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_multi_actions_are_taken_apart() {
        let parts = |text: &str| -> Option<Vec<String>> {
            Some(parsed(text)?.iter().map(|part| format!("{} {}", part.name, part.arguments.join(";"))).collect())
        };
        assert_eq!(parts("b|a(1, [2, 3], f(x, y))"), Some(vec!["a 1;[2, 3];f(x, y)".into(), "b ".into()]));
        for text in ["c.1", "c!1,2", "", "a()", "a(1)b", "1", "a||b", "a(,)"] {
            assert_eq!(parts(text), None, "{text}");
        }
    }

    #[test]
    fn sorts_come_from_texts() {
        for (text, sort) in [
            ("true", Sort::Bool),
            ("0", Sort::Nat),
            ("18446744073709551615", Sort::Nat),
            ("18446744073709551616", Sort::Value),
            ("-5", Sort::Int),
            ("-0", Sort::Value),
            ("007", Sort::Value),
            ("d1", Sort::Value),
            ("", Sort::Value),
        ] {
            assert_eq!(Sort::of(text), sort, "{text}");
        }
    }
}
