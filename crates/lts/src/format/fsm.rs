//! mCRL2's textual FSM files: parameters, states, transitions, and perhaps where it starts.
//!
//! Sections are separated by lines of three dashes. A *parameter* is `name(count) Type "value" …`, with `count` values
//! (none are needed when the count is 0, and then the parameter is ignored). A *state* is a row of numbers, one a
//! parameter, each the number of a value. A *transition* is `source target "label"`, states being numbered from 1 in
//! the order of their rows. State 1 is the initial one unless a fourth section names another. Blank lines mean nothing
//! anywhere, as in mCRL2; so a file without parameters cannot list its states, and has those that its transitions name
//! (without gaps, so that a number costs no more memory than the file has bytes).
//!
//! Trefoil's systems have no state vectors: parameters and rows are checked and dropped. Where we are stricter than
//! mCRL2: rows have as many values as there are parameters, values exist, and where states are listed transitions name
//! no others. On the way out a file has one parameter, `deadlock`, for viewers to colour by and for the states to be
//! listed; the initial state and state 0 change places when they differ.
//!
//! Reading is streamed as for Aldebaran: see `gather` for the memory it takes.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memrchr};
use trefoil_control::{Control, available_memory, count as grouped, human_bytes};
use trefoil_source::{Code, Diagnostic, Line, Place};
use trefoil_system::{Labels, StateId};

use super::gather::{Gather, row_bytes};
use super::intern::Interner;
use super::lines::{LONGEST, Lines, NoBlock};
use super::open::{BYTE_ORDER_MARK, Opened};
use super::output::{Buffer, LabelTexts};
use super::{ReadError, ReadOptions, WriteError, codes};
use crate::explicit::Lts;

/// Below this size the row starts are allocated without checking whether they fit.
const LARGE: usize = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Parameters,
    States,
    Transitions,
    Initial,
}

impl Section {
    fn next(self) -> Option<Section> {
        match self {
            Section::Parameters => Some(Section::States),
            Section::States => Some(Section::Transitions),
            Section::Transitions => Some(Section::Initial),
            Section::Initial => None,
        }
    }
}

pub(crate) fn read(
    input: &mut Opened,
    options: &ReadOptions,
    labels: &Arc<Labels>,
    control: &Control,
) -> Result<Lts, ReadError> {
    let mut reading = Reading {
        name: input.name.clone(),
        control,
        interner: Interner::new(labels, &options.tau_names),
        gather: Gather::new(),
        section: Section::Parameters,
        line: 0,
        cardinalities: Vec::new(),
        listed: 0,
        greatest: None,
        initial: None,
    };
    let mut lines = Lines::new();
    loop {
        control.check()?;
        let block = match lines.next(input) {
            Ok(Some(block)) => block,
            Ok(None) => break,
            Err(NoBlock::Unreadable(diagnostic)) => return Err(diagnostic.into()),
            Err(NoBlock::TooLong) => return Err(reading.too_long(lines.unfinished()).into()),
        };
        let before = reading.gather.count();
        reading.block(block)?;
        control.progress().done(input.consumed());
        control.progress().add(0, (reading.gather.count() - before) as u64);
    }
    reading.finish(labels)
}

struct Reading<'a> {
    name: String,
    control: &'a Control,
    interner: Interner,
    gather: Gather,
    section: Section,
    /// Lines seen.
    line: usize,
    /// How many values each parameter has.
    cardinalities: Vec<u64>,
    /// States with a row.
    listed: u64,
    /// The greatest state that a transition names when none is listed, counted from 0, and where.
    greatest: Option<(u32, Line)>,
    /// The state that the fourth section names, counted from 0, and where.
    initial: Option<(u64, Line)>,
}

/// A line that is being taken apart.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// A run of digits as a number, which stops at the largest that 64 bits hold, and where it is.
    fn number(&mut self) -> Option<(u64, Range<usize>)> {
        self.blanks();
        let start = self.at;
        let mut value = 0u64;
        while let Some(digit) = self.text.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        (self.at > start).then_some((value, start..self.at))
    }

    fn rest(&self) -> Range<usize> {
        self.at..self.text.len()
    }

    fn is_done(&mut self) -> bool {
        self.blanks();
        self.at == self.text.len()
    }
}

impl Reading<'_> {
    fn block(&mut self, block: &[u8]) -> Result<(), ReadError> {
        let mut rest = block;
        if self.line == 0 {
            rest = rest.strip_prefix(BYTE_ORDER_MARK).unwrap_or(rest);
        }
        while !rest.is_empty() {
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            self.line += 1;
            let line = rest[..end].trim_ascii_end();
            if !line.is_empty() {
                self.take(line)?;
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Ok(())
    }

    fn take(&mut self, line: &[u8]) -> Result<(), ReadError> {
        if line.trim_ascii_start() == b"---" {
            self.section = self.section.next().ok_or_else(|| {
                self.error(codes::FSM_SECTIONS, "a fifth section begins here", line, 0..line.len())
                    .help("an .fsm file has parameters, states, transitions, and perhaps the initial state")
            })?;
            return Ok(());
        }
        match self.section {
            Section::Parameters => self.parameter(line).map_err(ReadError::from),
            Section::States => self.state(line).map_err(ReadError::from),
            Section::Transitions => self.transition(line).map_err(ReadError::from),
            Section::Initial => self.initial_state(line).map_err(ReadError::from),
        }
    }

    fn parameter(&mut self, line: &[u8]) -> Result<(), Diagnostic> {
        let malformed = |reading: &Reading<'_>, message: &str, range| {
            reading
                .error(codes::FSM_PARAMETER, message, line, range)
                .help("write `name(count) Type \"value\" …`; a line `---` ends the parameters")
        };
        let mut cursor = Cursor { text: line, at: 0 };
        cursor.blanks();
        let start = cursor.at;
        let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_'@.-".contains(byte) || !byte.is_ascii();
        while line.get(cursor.at).filter(in_name).is_some() {
            cursor.at += 1;
        }
        if cursor.at == start || line.get(cursor.at) != Some(&b'(') {
            return Err(malformed(self, "a parameter was expected here", start..cursor.at.max(start + 1)));
        }
        cursor.at += 1;
        let Some((count, count_at)) = cursor.number() else {
            return Err(malformed(self, "the number of its values is missing", cursor.at..cursor.at + 1));
        };
        cursor.blanks();
        if line.get(cursor.at) != Some(&b')') {
            return Err(malformed(self, "`)` was expected here", cursor.at..cursor.at + 1));
        }
        cursor.at += 1;
        cursor.at = memchr(b'"', &line[cursor.at..]).map_or(line.len(), |at| cursor.at + at);
        let mut values = 0u64;
        while !cursor.is_done() {
            let from = cursor.at;
            let closing = if line[from] == b'"' { memchr(b'"', &line[from + 1..]) } else { None };
            let Some(length) = closing else {
                return Err(malformed(self, "a value in quotes was expected here", cursor.rest()));
            };
            cursor.at = from + length + 2;
            values += 1;
        }
        if count > 0 && values != count {
            let message = format!("the parameter has {values} values, not as many as it says");
            return Err(malformed(self, &message, count_at));
        }
        self.cardinalities.push(count);
        Ok(())
    }

    fn state(&mut self, line: &[u8]) -> Result<(), Diagnostic> {
        let mut cursor = Cursor { text: line, at: 0 };
        let mut count = 0;
        while !cursor.is_done() {
            let Some((value, at)) = cursor.number() else {
                let rest = cursor.rest();
                return Err(self
                    .error(codes::FSM_STATE, "the number of a value was expected here", line, rest)
                    .help("a state is a row of numbers, one a parameter; a line `---` ends the states"));
            };
            let wrong = match self.cardinalities.get(count) {
                None => Some(format!("this row has more values than the {} parameters", self.cardinalities.len())),
                Some(&values) if values > 0 && value >= values => {
                    Some(format!("the parameter has only {values} values, numbered from 0"))
                }
                Some(_) => None,
            };
            if let Some(message) = wrong {
                return Err(self.error(codes::FSM_STATE, message, line, at));
            }
            count += 1;
        }
        if count < self.cardinalities.len() {
            let message = format!("this row has {count} values for {} parameters", self.cardinalities.len());
            return Err(self.error(codes::FSM_STATE, message, line, line.len()..line.len()));
        }
        self.listed += 1;
        if self.listed >= u64::from(u32::MAX) {
            let message =
                format!("these are more than the {} states that Trefoil numbers", grouped(u64::from(u32::MAX - 1)));
            return Err(self.error(codes::TOO_MANY_STATES, message, line, 0..line.len()));
        }
        Ok(())
    }

    fn transition(&mut self, line: &[u8]) -> Result<(), Diagnostic> {
        let mut cursor = Cursor { text: line, at: 0 };
        let mut states = [StateId(0); 2];
        for state in &mut states {
            let Some((number, at)) = cursor.number() else {
                cursor.blanks();
                return Err(self.no_state(line, cursor.at));
            };
            if line.get(cursor.at).is_some_and(|byte| !byte.is_ascii_whitespace() && *byte != b'"') {
                return Err(self.no_state(line, cursor.at));
            }
            *state = self.numbered(number, at, line)?;
        }
        cursor.blanks();
        let label = match (line.get(cursor.at), memrchr(b'"', line)) {
            (Some(b'"'), Some(last)) if last + 1 == line.len() && last > cursor.at => cursor.at + 1..last,
            (Some(b'"'), _) => {
                let rest = cursor.rest();
                return Err(self.error(codes::UNCLOSED_LABEL, "this label does not end on its line", line, rest));
            }
            _ => {
                let rest = cursor.rest();
                return Err(self
                    .error(codes::FSM_TRANSITION, "a label in quotes was expected here", line, rest)
                    .help("a transition is `source target \"label\"`"));
            }
        };
        let Some(name) = self.interner.label(&line[label.clone()]) else {
            return Err(self
                .error(codes::LABEL_NOT_TEXT, "this label is not UTF-8 text", line, label)
                .help("convert the file, for example with `iconv -f latin1 -t utf8`"));
        };
        self.gather.add(states[0], name, states[1]);
        Ok(())
    }

    fn no_state(&self, line: &[u8], at: usize) -> Diagnostic {
        if line.get(at) == Some(&b'[') {
            return self
                .error(codes::PROBABILISTIC, "this system is probabilistic", line, at..at + 1)
                .help("Trefoil reads systems without probabilities");
        }
        self.error(codes::FSM_TRANSITION, "the number of a state was expected here", line, at..at + 1)
            .help("a transition is `source target \"label\"`")
    }

    /// The state with this number, which counts from 1.
    fn numbered(&mut self, number: u64, at: Range<usize>, line: &[u8]) -> Result<StateId, Diagnostic> {
        let shown = String::from_utf8_lossy(&line[at.start..at.end.min(at.start + 40)]).into_owned();
        if number == 0 {
            let message = "states are numbered from 1 in .fsm files";
            return Err(self.error(codes::STATE_OUT_OF_RANGE, message, line, at));
        }
        if self.listed > 0 && number > self.listed {
            let message = format!("there is no state {shown}");
            let listed = format!("{} states are listed, numbered from 1", grouped(self.listed));
            return Err(self.error(codes::STATE_OUT_OF_RANGE, message, line, at).seen(listed));
        }
        if number >= u64::from(u32::MAX) {
            let message =
                format!("state {shown} is beyond the {} that Trefoil numbers", grouped(u64::from(u32::MAX - 1)));
            return Err(self.error(codes::TOO_MANY_STATES, message, line, at));
        }
        let state = number as u32 - 1;
        if self.listed == 0 && self.greatest.as_ref().is_none_or(|(greatest, _)| *greatest < state) {
            self.greatest = Some((state, Line::cut(&self.name, self.line, line, at)));
        }
        Ok(StateId(state))
    }

    fn initial_state(&mut self, line: &[u8]) -> Result<(), Diagnostic> {
        let mut cursor = Cursor { text: line, at: 0 };
        let Some((number, at)) = cursor.number().filter(|_| self.initial.is_none()) else {
            cursor.blanks();
            if line.get(cursor.at) == Some(&b'[') {
                return Err(self.no_state(line, cursor.at));
            }
            let message = "nothing but the number of the initial state was expected here";
            return Err(self.error(codes::FSM_SECTIONS, message, line, 0..line.len()));
        };
        if !cursor.is_done() {
            let rest = cursor.rest();
            return Err(self.error(codes::FSM_SECTIONS, "nothing was expected after the initial state", line, rest));
        }
        let Some(state) = number.checked_sub(1) else {
            let message = "states are numbered from 1 in .fsm files";
            return Err(self.error(codes::INITIAL_OUT_OF_RANGE, message, line, at));
        };
        self.initial = Some((state, Line::cut(&self.name, self.line, line, at)));
        Ok(())
    }

    fn finish(self, labels: &Arc<Labels>) -> Result<Lts, ReadError> {
        if matches!(self.section, Section::Parameters | Section::States) {
            let missing = if self.section == Section::Parameters { "states and transitions" } else { "transitions" };
            let message = format!("the file ends before its {missing}");
            return Err(Diagnostic::error(codes::FSM_SECTIONS, message, Place::File(self.name))
                .help("parameters, states and transitions are separated by lines `---`; the file may have been cut off")
                .into());
        }
        // Nothing listed and nothing named: the one state that every system has.
        let states = match &self.greatest {
            Some((greatest, _)) => u64::from(*greatest) + 1,
            None => self.listed.max(1),
        };
        // A few bytes do not make a system of a billion states: each state that is not listed is on some transition.
        let most = 2 * self.gather.count() as u64 + 1;
        if let Some((_, line)) = self.greatest.as_ref().filter(|_| states > most) {
            let message = format!(
                "this would make {} states, at least {} of them without steps",
                grouped(states),
                grouped(states - most)
            );
            return Err(Diagnostic::error(codes::STATE_OUT_OF_RANGE, message, Place::Line(line.clone()))
                .help("states are numbered without gaps; a file with states that are on no transition lists them")
                .into());
        }
        let bytes = row_bytes(states as usize);
        if bytes > LARGE {
            self.control.afford(bytes)?;
            if self.control.limits().memory.is_none() && available_memory().is_some_and(|free| free < bytes as u64) {
                let message =
                    format!("{} states take {} and do not fit into memory", grouped(states), human_bytes(bytes as u64));
                let place = self.greatest.map_or(Place::File(self.name), |(_, line)| Place::Line(line));
                return Err(Diagnostic::error(codes::TOO_MANY_STATES, message, place).into());
            }
        }
        let initial = match self.initial {
            None => 0,
            Some((state, _)) if state < states => state as u32,
            Some((state, line)) => {
                let message =
                    format!("the initial state {} is none of the {} states", state.saturating_add(1), grouped(states));
                return Err(Diagnostic::error(codes::INITIAL_OUT_OF_RANGE, message, Place::Line(line)).into());
            }
        };
        Ok(self.gather.build(labels, StateId(initial), states as u32, self.control)?)
    }

    fn error(&self, code: Code, message: impl Into<String>, line: &[u8], range: Range<usize>) -> Diagnostic {
        Diagnostic::error(code, message, Place::Line(Line::cut(&self.name, self.line, line, range)))
    }

    fn too_long(&self, line: &[u8]) -> Diagnostic {
        let message = format!("this line is longer than {}", human_bytes(LONGEST as u64));
        let start = &line[..line.len().min(200)];
        let place = Place::Line(Line::cut(&self.name, self.line + 1, start, 0..0));
        Diagnostic::error(codes::TOO_LONG, message, place).help("an .fsm file has one transition on each line")
    }
}

/// Writes the file so that mCRL2 reads it: labels have neither quotes nor line breaks.
pub(crate) fn write(lts: &Lts, out: &mut dyn Write, name: &str, control: &Control) -> Result<(), WriteError> {
    let texts = LabelTexts::new(lts, control, |_, text, bytes| {
        if text.contains(['\n', '\r', '"']) {
            let message = format!("the label {text:?} has a quote or a line break, which .fsm files cannot express");
            return Err(Diagnostic::error(codes::LABEL_NOT_WRITABLE, message, Place::File(name.to_string()))
                .help("write JSON instead")
                .into());
        }
        bytes.extend_from_slice(b" \"");
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(b"\"\n");
        Ok(())
    })?;
    texts.all_different(lts, name)?;
    let first = lts.initial();
    let number = |state: StateId| match state {
        state if state == first => 1,
        StateId(0) => u64::from(first.0) + 1,
        other => u64::from(other.0) + 1,
    };
    // What stands at a place: the same exchange, which is its own inverse.
    let placed = |place: u32| StateId(number(StateId(place)) as u32 - 1);
    let mut buffer = Buffer::new(out, control);
    buffer.text(b"deadlock(2) Bool \"false\" \"true\"\n---\n");
    for place in 0..lts.state_count() as u32 {
        buffer.text(if lts.outgoing(placed(place)).is_empty() { b"1\n" } else { b"0\n" });
        buffer.breathe(0)?;
    }
    buffer.text(b"---\n");
    let mut done = 0;
    for place in 0..lts.state_count() as u32 {
        for transition in lts.outgoing(placed(place)) {
            buffer.number(u64::from(place) + 1);
            buffer.text(b" ");
            buffer.number(number(transition.target));
            buffer.text(texts.get(transition.label));
            done += 1;
            buffer.breathe(done)?;
        }
    }
    buffer.finish(lts.transition_count())
}
