//! Trefoil's JSON for labelled transition systems.
//!
//! ```json
//! {"format":"trefoil-lts","version":1,"initial":0,"states":3,
//! "labels":["tau","a",["c","1","true"]],
//! "transitions":[
//! [0,1,1],
//! [1,0,2]
//! ]}
//! ```
//!
//! `labels` has each label once: a string, an array of strings for a name with arguments, or an array of such arrays
//! for a label of several parts. A transition is source, index into `labels`, target. States are numbered from 0 and
//! all exist, transitions or not. The label `tau` is `τ`. Keys come in any order, except that `states` and `labels`
//! come before `transitions`, so that a reader needs to keep nothing else; unknown keys are passed over. The version
//! changes when an old reader would misread a new file.

use std::io::Write;
use std::sync::Arc;

use trefoil_control::{Control, available_memory, count as grouped, human_bytes};
use trefoil_system::{Label, LabelId, Labels, Part, StateId};

use super::gather::{Gather, row_bytes};
use super::json_bytes::{JsonBytes, shown};
use super::open::{BYTE_ORDER_MARK, Opened};
use super::output::{Buffer, LabelTexts};
use super::{ReadError, ReadOptions, WriteError, codes};
use crate::explicit::Lts;

const FORMAT: &str = "trefoil-lts";
const VERSION: u64 = 1;

/// How many transitions are read between two polls of the control.
const BATCH: usize = 1 << 14;

/// The keys that must be there, each at most once.
const KEYS: [&str; 6] = ["format", "version", "initial", "states", "labels", "transitions"];

#[derive(Default)]
struct Document {
    seen: [bool; KEYS.len()],
    initial: u64,
    states: Option<u32>,
    labels: Vec<LabelId>,
}

pub(crate) fn read(
    input: &mut Opened,
    options: &ReadOptions,
    labels: &Arc<Labels>,
    control: &Control,
) -> Result<Lts, ReadError> {
    let mut json = JsonBytes::new(input);
    let mut document = Document::default();
    let mut gather = Gather::new();
    let mut text = String::new();
    json.skip_prefix(BYTE_ORDER_MARK)?;
    json.token(b'{')?;
    let mut first = true;
    while json.another(&mut first, b'}')? {
        control.check()?;
        json.skip_blanks()?;
        let mark = json.mark();
        json.string("a key", &mut text)?;
        json.token(b':')?;
        let Some(key) = KEYS.iter().position(|key| *key == text) else {
            json.skip_value()?;
            continue;
        };
        if std::mem::replace(&mut document.seen[key], true) {
            return Err(json.error_at(mark, codes::JSON_SHAPE, format!("the key `{text}` stands here again")).into());
        }
        json.skip_blanks()?;
        let value = json.mark();
        match KEYS[key] {
            "format" => {
                json.string("the format", &mut text)?;
                if text != FORMAT {
                    let message = format!("this is `{text}`, not `{FORMAT}`");
                    return Err(json.error_at(value, codes::JSON_VERSION, message).into());
                }
            }
            "version" => {
                let version = json.natural("the version")?;
                if version != VERSION {
                    let message =
                        format!("version {} is not known; this Trefoil reads version {VERSION}", shown(version));
                    return Err(json.error_at(value, codes::JSON_VERSION, message).into());
                }
            }
            "initial" => document.initial = json.natural("the initial state")?,
            "states" => document.states = Some(states(&mut json, control)?),
            "labels" => read_labels(&mut json, options, labels, &mut document.labels, control)?,
            _ => {
                if let Some(missing) = ["states", "labels"].into_iter().find(|key| !document.has(key)) {
                    let message = format!("`{missing}` must come before `transitions`");
                    return Err(json.error_at(mark, codes::JSON_SHAPE, message).into());
                }
                read_transitions(&mut json, &document, &mut gather, control)?;
            }
        }
    }
    json.skip_blanks()?;
    if json.peek()?.is_some() {
        return Err(json.error(codes::JSON_SYNTAX, "the document has ended, but the file goes on").into());
    }
    if let Some(missing) = KEYS.into_iter().find(|key| !document.has(key)) {
        return Err(json.error(codes::JSON_SHAPE, format!("the key `{missing}` is missing")).into());
    }
    let states = document.states.unwrap_or_default();
    if document.initial >= u64::from(states) {
        let initial = shown(document.initial);
        let message = format!("the initial state {initial} is not below the number of states, {states}");
        return Err(json.error(codes::INITIAL_OUT_OF_RANGE, message).into());
    }
    Ok(gather.build(labels, StateId(document.initial as u32), states, control)?)
}

impl Document {
    fn has(&self, key: &str) -> bool {
        KEYS.iter().zip(self.seen).any(|(known, seen)| *known == key && seen)
    }
}

fn states(json: &mut JsonBytes<'_>, control: &Control) -> Result<u32, ReadError> {
    let mark = json.mark();
    let states = json.natural("the number of states")?;
    if states >= u64::from(u32::MAX) {
        let message = format!("{} states are more than the {} that Trefoil numbers", shown(states), u32::MAX - 1);
        return Err(json.error_at(mark, codes::TOO_MANY_STATES, message).into());
    }
    let bytes = row_bytes(states as usize);
    control.afford(bytes)?;
    if control.limits().memory.is_none() && available_memory().is_some_and(|free| free < bytes as u64) {
        let message =
            format!("{} states take {} and do not fit into memory", grouped(states), human_bytes(bytes as u64));
        return Err(json.error_at(mark, codes::TOO_MANY_STATES, message).into());
    }
    Ok(states as u32)
}

fn read_labels(
    json: &mut JsonBytes<'_>,
    options: &ReadOptions,
    labels: &Arc<Labels>,
    found: &mut Vec<LabelId>,
    control: &Control,
) -> Result<(), ReadError> {
    json.token(b'[')?;
    let mut first = true;
    let mut text = String::new();
    while json.another(&mut first, b']')? {
        if found.len().is_multiple_of(BATCH) {
            control.check()?;
        }
        let label = if json.take(b'[')? {
            if json.take(b'[')? {
                let mut parts = vec![read_part(json)?];
                let mut one_part = false;
                while json.another(&mut one_part, b']')? {
                    json.token(b'[')?;
                    parts.push(read_part(json)?);
                }
                Label::bag(parts)
            } else {
                Label::bag(vec![read_part(json)?])
            }
        } else {
            json.string("a label", &mut text)?;
            Label::plain(text.as_str())
        };
        let shown = label.to_string();
        found.push(if options.tau_names.contains(&shown) { LabelId::TAU } else { labels.intern(label) });
    }
    Ok(())
}

/// The rest of a name with arguments.
fn read_part(json: &mut JsonBytes<'_>) -> Result<Part, ReadError> {
    let mut text = String::new();
    json.string("the name of a label", &mut text)?;
    let name = text.as_str().into();
    let mut arguments: Vec<Box<str>> = Vec::new();
    let mut name_only = false;
    while json.another(&mut name_only, b']')? {
        json.string("an argument", &mut text)?;
        arguments.push(text.as_str().into());
    }
    Ok(Part { name, arguments: arguments.into() })
}

fn read_transitions(
    json: &mut JsonBytes<'_>,
    document: &Document,
    gather: &mut Gather,
    control: &Control,
) -> Result<(), ReadError> {
    let states = u64::from(document.states.unwrap_or_default());
    let state = |json: &mut JsonBytes<'_>, what| {
        json.peek()?;
        let mark = json.mark();
        let state = json.natural(what)?;
        if state < states {
            return Ok(StateId(state as u32));
        }
        let message = format!("state {} is not below the number of states, {states}", shown(state));
        Err(json.error_at(mark, codes::STATE_OUT_OF_RANGE, message))
    };
    json.token(b'[')?;
    let mut first = true;
    while json.another(&mut first, b']')? {
        if gather.count().is_multiple_of(BATCH) {
            control.check()?;
            control.progress().done(json.consumed());
            control.progress().add(0, BATCH as u64);
        }
        json.token(b'[')?;
        let source = state(json, "the source state")?;
        json.token(b',')?;
        json.peek()?;
        let mark = json.mark();
        let label = json.natural("the label's number")?;
        let Some(&label) = usize::try_from(label).ok().and_then(|label| document.labels.get(label)) else {
            let message =
                format!("label {} is not below the number of labels, {}", shown(label), document.labels.len());
            return Err(json.error_at(mark, codes::LABEL_OUT_OF_RANGE, message).into());
        };
        json.token(b',')?;
        let target = state(json, "the target state")?;
        json.token(b']')?;
        gather.add(source, label, target);
    }
    Ok(())
}

/// Writes the document, one transition a line.
pub(crate) fn write(lts: &Lts, out: &mut dyn Write, _name: &str, control: &Control) -> Result<(), WriteError> {
    let mut count = 0u64;
    let indices = LabelTexts::new(lts, control, |_, _, bytes| {
        super::output::decimal(bytes, count);
        count += 1;
        Ok(())
    })?;
    let mut buffer = Buffer::new(out, control);
    let head = format!(
        "{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\"initial\":{},\"states\":{},\n\"labels\":[",
        lts.initial().0,
        lts.state_count()
    );
    buffer.text(head.as_bytes());
    for (index, &id) in indices.used.iter().enumerate() {
        let label = lts.labels().get(id);
        buffer.text(if index == 0 { b"" } else { b"," });
        match label.parts() {
            [] => quote("tau", &mut buffer.bytes),
            [part] if part.arguments.is_empty() => quote(&part.name, &mut buffer.bytes),
            [part] => write_part(part, &mut buffer),
            parts => {
                for (at, part) in parts.iter().enumerate() {
                    buffer.text(if at == 0 { b"[" } else { b"," });
                    write_part(part, &mut buffer);
                }
                buffer.text(b"]");
            }
        }
        buffer.breathe(0)?;
    }
    buffer.text(b"],\n\"transitions\":[");
    for (done, (source, transition)) in lts.all_transitions().enumerate() {
        buffer.text(if done == 0 { b"\n[" } else { b",\n[" });
        buffer.number(u64::from(source.0));
        buffer.text(b",");
        buffer.text(indices.get(transition.label));
        buffer.text(b",");
        buffer.number(u64::from(transition.target.0));
        buffer.text(b"]");
        buffer.breathe(done)?;
    }
    buffer.text(b"\n]}\n");
    buffer.finish(lts.transition_count())
}

fn write_part(part: &Part, buffer: &mut Buffer<'_>) {
    buffer.text(b"[");
    quote(&part.name, &mut buffer.bytes);
    for argument in &part.arguments {
        buffer.text(b",");
        quote(argument, &mut buffer.bytes);
    }
    buffer.text(b"]");
}

fn quote(text: &str, bytes: &mut Vec<u8>) {
    bytes.push(b'"');
    for &byte in text.as_bytes() {
        match byte {
            b'"' => bytes.extend_from_slice(b"\\\""),
            b'\\' => bytes.extend_from_slice(b"\\\\"),
            b'\n' => bytes.extend_from_slice(b"\\n"),
            0..0x20 => bytes.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => bytes.push(byte),
        }
    }
    bytes.push(b'"');
}
