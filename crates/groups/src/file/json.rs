//! Graphs in JSON.
//!
//! ```json
//! { "directed": true,
//!   "vertices": ["a", { "name": "b", "color": "red" }],
//!   "edges": [["a", "b"], { "from": "b", "to": "a", "color": "blue" }] }
//! ```
//!
//! `vertices` is a list of names or objects, or a number `n`, which makes vertices `0` to `n - 1`. An edge is a pair, a
//! triple with a colour, or an object. Vertices are named by text or by number; a number that is no name is a place in
//! the list, counted from 0. Without `directed` edges have no direction. Words of other tools are understood: `nodes`,
//! `links`, `id`, `source`, `target`, `colour`, `label`; `multigraph`, `graph` and `name` of the whole and `key` of an
//! edge say nothing here. Any other field is refused: a misspelt `color` would give another group.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use trefoil_control::Control;
use trefoil_source::{Code, Diagnostic, Place};

use super::{Gathered, GraphError, GraphReading, MOST, NamedGraph, Words, codes, place_in_bytes, place_of_character};
use crate::permutation::Point;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Top<'a> {
    #[serde(default)]
    directed: bool,
    #[serde(borrow, alias = "nodes")]
    vertices: &'a RawValue,
    #[serde(borrow, alias = "links")]
    edges: Vec<&'a RawValue>,
    #[serde(default, rename = "multigraph")]
    _multigraph: IgnoredAny,
    #[serde(default, rename = "graph")]
    _graph: IgnoredAny,
    #[serde(default, rename = "name")]
    _name: IgnoredAny,
}

const OF_A_VERTEX: &[&str] = &["name", "id", "color", "colour", "label"];
const OF_AN_EDGE: &[&str] = &["from", "to", "source", "target", "color", "colour", "label", "key"];

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    gathered: Gathered,
    numbers: HashMap<String, Point>,
    words: Words,
}

const SHAPE: &str = "a graph is `{ \"directed\": true, \"vertices\": [\"a\", \"b\"], \"edges\": [[\"a\", \"b\"]] }`";

pub(super) fn read(
    name: &str,
    text: &str,
    begin: usize,
    reading: GraphReading,
    control: &Control,
) -> Result<NamedGraph, GraphError> {
    control.afford(text.len().saturating_mul(8))?;
    let body = &text[begin..];
    if !body.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(body).is_ok() {
        let at = begin + body.len() - body.trim_start().len();
        let place = place_of_character(name, text, at);
        return Err(Diagnostic::error(codes::JSON_SHAPE, "a graph is an object", place).help(SHAPE).into());
    }
    let top: Top = serde_json::from_str(body).map_err(|error| syntax_or_shape(name, text, begin, &error))?;
    let mut reader =
        Reader { name, text, gathered: Gathered::default(), numbers: HashMap::new(), words: Words::default() };
    reader.gathered.directed = top.directed;
    reader.vertices(top.vertices, control)?;
    for (index, edge) in top.edges.into_iter().enumerate() {
        if index & 0xfff == 0 {
            control.check()?;
        }
        reader.edge(edge)?;
    }
    Ok(reader.gathered.finish(reading, control)?)
}

/// What the JSON library says, at its line and column.
fn syntax_or_shape(name: &str, text: &str, begin: usize, error: &serde_json::Error) -> Diagnostic {
    let line_start =
        text[begin..].split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let at = (begin + line_start + error.column().saturating_sub(1)).min(text.len());
    let words = error.to_string();
    let message = words.rsplit_once(" at line ").map_or(words.as_str(), |(message, _)| message);
    let place = place_of_character(name, text, at);
    if error.is_data() {
        Diagnostic::error(codes::JSON_SHAPE, message, place).help(SHAPE)
    } else {
        Diagnostic::error(codes::JSON_SYNTAX, message, place)
    }
}

impl<'a> Reader<'a> {
    fn place(&self, value: &RawValue) -> Place {
        let start = (value.get().as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        place_in_bytes(self.name, self.text.as_bytes(), start..start + value.get().len())
    }

    fn error(&self, code: Code, message: impl Into<String>, value: &RawValue) -> GraphError {
        Diagnostic::error(code, message, self.place(value)).into()
    }

    fn parse<X: Deserialize<'a>>(&self, value: &'a RawValue, expected: &str) -> Result<X, GraphError> {
        serde_json::from_str(value.get()).map_err(|_| {
            Diagnostic::error(codes::JSON_SHAPE, format!("expected {expected}"), self.place(value)).help(SHAPE).into()
        })
    }

    fn vertices(&mut self, vertices: &'a RawValue, control: &Control) -> Result<(), GraphError> {
        const EXPECTED: &str = "a list of vertices, or how many there are";
        match vertices.get().as_bytes().first() {
            Some(b'[') => {
                let list: Vec<&RawValue> = self.parse(vertices, EXPECTED)?;
                for (index, vertex) in list.into_iter().enumerate() {
                    if index & 0xfff == 0 {
                        control.check()?;
                    }
                    self.vertex(vertex)?;
                }
                Ok(())
            }
            _ => {
                let count: u64 = self.parse(vertices, EXPECTED)?;
                if count > MOST as u64 {
                    return Err(self.error(codes::TOO_LARGE, "the graph has too many vertices", vertices));
                }
                control.afford(count as usize * 80)?;
                self.gathered.names = (0..count).map(|number| number.to_string()).collect();
                self.gathered.vertices = vec![(0, 0); count as usize];
                Ok(())
            }
        }
    }

    fn vertex(&mut self, vertex: &'a RawValue) -> Result<(), GraphError> {
        let value: Value = self.parse(vertex, "a vertex")?;
        let (name, kind) = match &value {
            Value::Object(fields) => {
                self.only_known(fields, OF_A_VERTEX, "a vertex", vertex)?;
                let name = ["name", "id"].iter().find_map(|field| fields.get(*field)).and_then(word);
                (name, self.kind(&value))
            }
            other => (word(other), (0, 0)),
        };
        let Some(name) = name else {
            let message = "a vertex is a name, or an object with a `name`";
            return Err(self.error(codes::JSON_SHAPE, message, vertex));
        };
        let number = self.gathered.names.len() as Point;
        if self.numbers.insert(name.clone(), number).is_some() {
            return Err(self.error(codes::NAME_TWICE, format!("a second vertex is called `{name}`"), vertex));
        }
        self.gathered.names.push(name);
        self.gathered.vertices.push(kind);
        Ok(())
    }

    fn only_known(
        &self,
        fields: &serde_json::Map<String, Value>,
        known: &[&str],
        what: &str,
        value: &RawValue,
    ) -> Result<(), GraphError> {
        match fields.keys().find(|field| !known.contains(&field.as_str())) {
            None => Ok(()),
            Some(field) => {
                let message = format!("{what} has no field `{field}`; it has {}", known.join(", "));
                Err(self.error(codes::JSON_SHAPE, message, value))
            }
        }
    }

    /// The colour and the label of an object.
    fn kind(&mut self, value: &Value) -> (u32, u32) {
        let mut number = |field: &str| match value.get(field) {
            None | Some(Value::Null) => 0,
            Some(Value::String(text)) => self.words.number(text),
            // Numbers and the like count by how they are written.
            Some(other) => self.words.number(&other.to_string()),
        };
        let colour = match number("color") {
            0 => number("colour"),
            colour => colour,
        };
        (colour, number("label"))
    }

    fn edge(&mut self, edge: &'a RawValue) -> Result<(), GraphError> {
        let value: Value = self.parse(edge, "an edge")?;
        if let Value::Object(fields) = &value {
            self.only_known(fields, OF_AN_EDGE, "an edge", edge)?;
        }
        let field = |names: [&str; 2]| names.iter().find_map(|name| value.get(*name)).cloned();
        let (from, to, kind) = match &value {
            Value::Array(parts) if (2..=3).contains(&parts.len()) => {
                let colour = match parts.get(2) {
                    None | Some(Value::Null) => 0,
                    Some(Value::String(text)) => self.words.number(text),
                    Some(other) => self.words.number(&other.to_string()),
                };
                (Some(parts[0].clone()), Some(parts[1].clone()), (colour, 0))
            }
            Value::Object(_) => (field(["from", "source"]), field(["to", "target"]), self.kind(&value)),
            _ => (None, None, (0, 0)),
        };
        let (Some(from), Some(to)) = (from, to) else {
            let message = "an edge is a pair, a triple with a colour, or an object with `from` and `to`";
            return Err(self.error(codes::JSON_SHAPE, message, edge));
        };
        let [from, to] = [from, to].map(|end| self.end(&end, edge));
        self.gathered.edges.push((from?, to?, kind));
        Ok(())
    }

    fn end(&self, end: &Value, edge: &RawValue) -> Result<Point, GraphError> {
        let Some(name) = word(end) else {
            return Err(self.error(codes::JSON_SHAPE, "a vertex is named by text or by number", edge));
        };
        if let Some(&vertex) = self.numbers.get(&name) {
            return Ok(vertex);
        }
        match end.as_u64() {
            Some(number) if number < self.gathered.names.len() as u64 => Ok(number as Point),
            _ => Err(self.error(codes::NO_SUCH_VERTEX, format!("there is no vertex `{name}`"), edge)),
        }
    }
}

/// A name: text, or a number as it is written.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
