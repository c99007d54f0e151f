//! Values as CSPM text.
//!
//! What can be written in a script is shown as one would write it, so that reading the text again gives the same value:
//! names of constructors, channels and modules as the script has them, sequences of characters as strings, sets in
//! order. Parts of a dotted value that are dotted themselves stand in brackets. Functions and processes have no such
//! text: a function is shown by its name; a process by where it is made, or, for people, by the term that makes it and
//! the values of its variables.

use trefoil_source::Span;

use super::code::Program;
use super::machine::Machine;
use super::process::{ProcessKind, ProcessNode};
use super::sets::{SetKind, SetValue};
use super::value::{Elements, Value};

/// Messages show at most this much of a value.
const SHORT: usize = 80;

/// A part of what is to be written.
enum Piece {
    Text(&'static str),
    Value(Value),
    /// As an item between dots.
    Component(Value),
    /// The last item of all, whose own dots need no brackets.
    Owned(String),
}

struct Printer<'p> {
    program: &'p Program,
    out: String,
    /// What comes next is on top.
    waiting: Vec<Piece>,
    limit: usize,
    /// Gives the text of a place in the script, where processes are shown as terms.
    text: Option<&'p dyn Fn(Span) -> String>,
}

impl Machine<'_> {
    /// A finished value as text.
    pub(super) fn show(&self, value: &Value) -> String {
        show(self.program, value, usize::MAX)
    }

    /// A value as text for a message, as far as it is evaluated, cut short.
    pub(super) fn show_short(&mut self, value: &Value) -> String {
        trefoil_source::shortened(&show(self.program, value, SHORT), SHORT)
    }
}

/// A value as text; stops soon after the limit.
pub(super) fn show(program: &Program, value: &Value, limit: usize) -> String {
    printed(Printer { program, out: String::new(), waiting: vec![Piece::Value(value.clone())], limit, text: None })
}

/// An argument in the name of a process; a long one loses its end, between two words if it has several.
pub(super) fn show_argument(program: &Program, value: &Value) -> String {
    const MOST: usize = 60;
    let text = show(program, value, MOST);
    trefoil_source::shortened(&text, MOST)
}

/// A value as text without a limit, processes as terms; `text` gives the text of a place in the script.
pub(super) fn show_terms(program: &Program, value: &Value, text: &dyn Fn(Span) -> String) -> String {
    let (limit, text) = (usize::MAX, Some(text));
    printed(Printer { program, out: String::new(), waiting: vec![Piece::Value(value.clone())], limit, text })
}

fn printed(mut printer: Printer<'_>) -> String {
    while let Some(piece) = printer.waiting.pop() {
        if printer.out.len() > printer.limit {
            break;
        }
        match piece {
            Piece::Text(text) => printer.out.push_str(text),
            Piece::Owned(text) => printer.out.push_str(&text),
            Piece::Value(value) => printer.value(&value.seen()),
            Piece::Component(value) => {
                let value = value.seen();
                let bracketed = match &value {
                    Value::Data(data) => !data.fields.is_empty(),
                    Value::Dot(_) => true,
                    Value::Int(number) => *number < 0,
                    _ => false,
                };
                if bracketed {
                    printer.push([Piece::Text("("), Piece::Value(value), Piece::Text(")")]);
                } else {
                    printer.value(&value);
                }
            }
        }
    }
    printer.out
}

impl Printer<'_> {
    /// Puts pieces before everything that waits.
    fn push(&mut self, pieces: impl IntoIterator<Item = Piece, IntoIter: DoubleEndedIterator>) {
        self.waiting.extend(pieces.into_iter().rev());
    }

    fn list(&mut self, open: &'static str, items: impl IntoIterator<Item = Value>, close: &'static str) {
        let mut pieces = vec![Piece::Text(open)];
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                pieces.push(Piece::Text(", "));
            }
            pieces.push(Piece::Value(item));
            if self.limit != usize::MAX && at > self.limit {
                break;
            }
        }
        pieces.push(Piece::Text(close));
        self.push(pieces);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Int(number) => self.out.push_str(&number.to_string()),
            Value::Bool(truth) => self.out.push_str(if *truth { "true" } else { "false" }),
            Value::Char(character) => {
                self.out.push('\'');
                escaped(*character, '\'', &mut self.out);
                self.out.push('\'');
            }
            Value::Tuple(items) => self.list("(", items.items.clone(), ")"),
            Value::Sequence(..) => self.sequence(value),
            Value::Set(set) => self.set(set),
            Value::Map(map) => {
                if map.entries.is_empty() {
                    self.out.push_str("emptyMap");
                    return;
                }
                let mut pieces = vec![Piece::Text("(| ")];
                for (at, (key, value)) in map.entries.iter().enumerate() {
                    if at > 0 {
                        pieces.push(Piece::Text(", "));
                    }
                    pieces.extend([Piece::Value(key.clone()), Piece::Text(" => "), Piece::Value(value.clone())]);
                }
                pieces.push(Piece::Text(" |)"));
                self.push(pieces);
            }
            Value::Data(data) => {
                let name = self.program.constructors[data.constructor.index()].name.clone();
                let mut pieces = vec![Piece::Owned(name)];
                for field in &data.fields {
                    pieces.extend([Piece::Text("."), Piece::Component(field.clone())]);
                }
                self.push(pieces);
            }
            Value::Dot(items) => {
                let mut pieces = Vec::new();
                for (at, item) in items.items.iter().enumerate() {
                    if at > 0 {
                        pieces.push(Piece::Text("."));
                    }
                    pieces.push(Piece::Component(item.clone()));
                }
                self.push(pieces);
            }
            Value::Function(closure) => {
                let name = self.program.functions[closure.function.index()].name.clone();
                self.out.push_str(&name);
            }
            Value::Builtin(builtin, _) => self.out.push_str(builtin.text()),
            Value::Image(relation) => {
                self.push([
                    Piece::Text("relational_image("),
                    Piece::Value(Value::Set(relation.clone())),
                    Piece::Text(")"),
                ]);
            }
            Value::Process(process) => self.process(process),
            Value::Thunk(_) => self.out.push_str("..."),
            Value::Group(_) => self.out.push_str("<definitions>"),
        }
    }

    fn sequence(&mut self, value: &Value) {
        let mut elements = Elements::of(value);
        let first = elements.next().map(|first| first.seen());
        if let Some(Value::Char(_)) = first {
            let mut text = String::from("\"");
            let mut all = true;
            for (at, item) in Elements::of(value).enumerate() {
                match item.seen() {
                    Value::Char(character) => escaped(character, '"', &mut text),
                    _ => all = false,
                }
                if self.limit != usize::MAX && at > self.limit {
                    break;
                }
            }
            if all {
                text.push('"');
                self.out.push_str(&text);
                return;
            }
        }
        let limit = self.limit;
        self.list("<", Elements::of(value).take(limit.saturating_add(1)), ">");
    }

    fn set(&mut self, set: &SetValue) {
        if let Some(items) = set.listed() {
            // `{-` would begin a comment.
            let open = if matches!(items.first(), Some(Value::Int(first)) if *first < 0) { "{ " } else { "{" };
            self.list(open, items.iter().take(self.limit.saturating_add(1)).cloned().collect::<Vec<_>>(), "}");
            return;
        }
        let product =
            |open: &'static str, sets: &[std::rc::Rc<SetValue>], between: &'static str, close: &'static str| {
                let mut pieces = vec![Piece::Text(open)];
                for (at, set) in sets.iter().enumerate() {
                    if at > 0 {
                        pieces.push(Piece::Text(between));
                    }
                    pieces.push(Piece::Value(Value::Set(set.clone())));
                }
                pieces.push(Piece::Text(close));
                pieces
            };
        match &set.kind {
            SetKind::Listed => self.out.push_str("{}"),
            SetKind::Integers => self.out.push_str("Int"),
            SetKind::Characters => self.out.push_str("Char"),
            SetKind::Processes => self.out.push_str("Proc"),
            SetKind::From(from) => self.out.push_str(&format!("{{{}{from}..}}", if *from < 0 { " " } else { "" })),
            SetKind::Range(from, to) => {
                self.out.push_str(&format!("{{{}{from}..{to}}}", if *from < 0 { " " } else { "" }))
            }
            SetKind::Sequences(of) => {
                self.push([Piece::Text("Seq("), Piece::Value(Value::Set(of.clone())), Piece::Text(")")]);
            }
            SetKind::Subsets(of) => {
                self.push([Piece::Text("Set("), Piece::Value(Value::Set(of.clone())), Piece::Text(")")]);
            }
            SetKind::Maps(keys, values) => self.push(product("Map(", &[keys.clone(), values.clone()], ", ", ")")),
            SetKind::Productions(values) => self.list("{|", values.clone(), "|}"),
            SetKind::Tuples(sets) => self.push(product("(", sets, ", ", ")")),
            SetKind::Dots(sets) => self.push(product("(", sets, ".", ")")),
            SetKind::Constructed(constructor, sets) => {
                let name = self.program.constructors[constructor.index()].name.clone();
                let mut pieces = vec![Piece::Text("{"), Piece::Owned(name)];
                pieces.extend((0..sets.len()).map(|at| Piece::Owned(format!(".x{at}"))));
                for (at, set) in sets.iter().enumerate() {
                    pieces.push(Piece::Owned(format!("{}x{at} <- ", if at == 0 { " | " } else { ", " })));
                    pieces.push(Piece::Value(Value::Set(set.clone())));
                }
                pieces.push(Piece::Text("}"));
                self.push(pieces);
            }
            SetKind::Unions(sets) => {
                let mut pieces = Vec::new();
                for (at, set) in sets.iter().enumerate() {
                    if at + 1 < sets.len() {
                        pieces.push(Piece::Text("union("));
                    }
                    pieces.push(Piece::Value(Value::Set(set.clone())));
                    pieces.push(Piece::Text(if at + 1 < sets.len() { ", " } else { "" }));
                }
                pieces.extend((1..sets.len()).map(|_| Piece::Text(")")));
                self.push(pieces);
            }
        }
    }

    fn process(&mut self, process: &ProcessNode) {
        match &process.kind {
            ProcessKind::Builtin(builtin, _, arguments) => {
                self.out.push_str(builtin.text());
                if !arguments.is_empty() {
                    self.list("(", arguments.clone(), ")");
                }
            }
            ProcessKind::Made(point, captures) if self.text.is_some() => {
                let point = &self.program.control_points[point.index()];
                let inside = !(self.out.is_empty() && self.waiting.is_empty());
                let mut pieces = vec![Piece::Owned(self.term(process))];
                let variables = point.names.iter().zip(captures.iter());
                let variables = variables.filter_map(|(name, value)| Some((name.as_ref()?, value)));
                for (at, (name, value)) in variables.enumerate() {
                    pieces.push(Piece::Owned(format!("{}{name} = ", if at == 0 { " with " } else { ", " })));
                    // A process may hold itself; of processes inside only the terms are shown.
                    pieces.push(match value.seen() {
                        Value::Process(inner) => Piece::Owned(self.term(&inner)),
                        other => Piece::Value(other),
                    });
                }
                if inside {
                    pieces.insert(0, Piece::Text("("));
                    pieces.push(Piece::Text(")"));
                }
                self.push(pieces);
            }
            ProcessKind::Made(point, captures) => {
                let point = &self.program.control_points[point.index()];
                self.out.push_str(&format!("process#{}", point.expression.0));
                if !captures.is_empty() {
                    // A process may hold itself; of processes inside only the place is shown.
                    let mut pieces = vec![Piece::Text("(")];
                    for (at, value) in captures.iter().enumerate() {
                        if at > 0 {
                            pieces.push(Piece::Text(", "));
                        }
                        pieces.push(match value.seen() {
                            Value::Process(inner) => Piece::Owned(place_of(self.program, &inner)),
                            other => Piece::Value(other),
                        });
                    }
                    pieces.push(Piece::Text(")"));
                    self.push(pieces);
                }
            }
        }
    }
}

impl Printer<'_> {
    /// The term of a process, without the values of its variables.
    fn term(&self, process: &ProcessNode) -> String {
        match (&process.kind, self.text) {
            (ProcessKind::Made(point, _), Some(text)) => {
                one_line(&text(self.program.control_points[point.index()].span))
            }
            _ => place_of(self.program, process),
        }
    }
}

/// A piece of a script on one line, without comments.
pub(crate) fn one_line(text: &str) -> String {
    let (mut out, mut depth, mut quoted) = (String::with_capacity(text.len()), 0usize, false);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let mut taken = character.len_utf8();
        if depth == 0 && character == '"' {
            quoted = !quoted;
        }
        if quoted {
            out.push(character);
        } else if rest.starts_with("{-") {
            (depth, taken) = (depth + 1, 2);
        } else if depth > 0 && rest.starts_with("-}") {
            (depth, taken) = (depth - 1, 2);
            out.push(' ');
        } else if depth == 0 && rest.starts_with("--") {
            taken = rest.find('\n').unwrap_or(rest.len());
        } else if depth == 0 {
            out.push(character);
        }
        rest = &rest[taken..];
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn place_of(program: &Program, process: &ProcessNode) -> String {
    match &process.kind {
        ProcessKind::Builtin(builtin, ..) => builtin.text().to_string(),
        ProcessKind::Made(point, _) => format!("process#{}", program.control_points[point.index()].expression.0),
    }
}

fn escaped(character: char, quote: char, out: &mut String) {
    match character {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\\' => out.push_str("\\\\"),
        character if character == quote => {
            out.push('\\');
            out.push(character);
        }
        character => out.push(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_loses_its_comments_and_line_breaks() {
        assert_eq!(one_line("a ->  -- first\n  {- then {- nested -} -} STOP"), "a -> STOP");
        assert_eq!(one_line("error(\"-- no comment\")"), "error(\"-- no comment\")");
    }
}
