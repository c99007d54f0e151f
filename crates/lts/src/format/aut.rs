//! Aldebaran files: streamed in, streamed out.
//!
//! Reading takes blocks of whole lines. A line in the form that tools write costs one search for its end, two short
//! scans for the numbers and one look into the reader's own label table; every other line goes to the careful reader in
//! `aut_line`. The header is checked against the body, and nothing is allocated because of what it promises except,
//! after the control has agreed, one row start a state.
//!
//! Memory: see `gather`; besides that one block, and the texts of the labels.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};
use trefoil_control::{Control, available_memory, count as grouped, human_bytes};
use trefoil_source::{Diagnostic, Line, Place};
use trefoil_system::{Labels, StateId};

use super::aut_line::{self, Fault, Header, Mistake, Number};
use super::gather::{Gather, row_bytes};
use super::intern::Interner;
use super::lines::{LONGEST, Lines, NoBlock};
use super::open::{BYTE_ORDER_MARK, Opened};
use super::output::{Buffer, LabelTexts};
use super::{ReadError, ReadOptions, WriteError, codes};
use crate::explicit::Lts;

/// Below this size the row starts are allocated without checking whether they fit.
const LARGE: usize = 64 << 20;

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
        header: None,
        line: 0,
        pending: Vec::new(),
        pending_line: 0,
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

struct Promised {
    initial: StateId,
    states: u32,
    transitions: u64,
    /// As the header writes it.
    transitions_text: String,
    /// The header's number of transitions, to point at when it is wrong.
    transitions_place: Line,
}

struct Reading<'a> {
    name: String,
    control: &'a Control,
    interner: Interner,
    gather: Gather,
    header: Option<Promised>,
    /// Lines seen.
    line: usize,
    /// Lines of a statement that is not complete, each with its line break.
    pending: Vec<u8>,
    pending_line: usize,
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
            let line = &rest[..end];
            if !self.quick(line) {
                self.careful(line)?;
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Ok(())
    }

    /// Takes a line that is a whole and faultless transition in the usual form, with a label that was seen before.
    #[inline]
    fn quick(&mut self, line: &[u8]) -> bool {
        if let Some(header) = &self.header
            && self.pending.is_empty()
            && let Some((source, label, target)) = aut_line::quick(line)
            && source < u64::from(header.states)
            && target < u64::from(header.states)
            && let Some(label) = self.interner.known(label)
        {
            self.gather.add(StateId(source as u32), label, StateId(target as u32));
            return true;
        }
        false
    }

    fn careful(&mut self, line: &[u8]) -> Result<(), ReadError> {
        if self.pending.is_empty() {
            if aut_line::is_blank_line(line) {
                return Ok(());
            }
            self.pending_line = self.line;
        }
        let mut text = std::mem::take(&mut self.pending);
        text.extend_from_slice(line);
        if text.len() > LONGEST {
            return Err(self.too_long(line).into());
        }
        let complete = !aut_line::is_blank_line(line) && self.statement(&text)?;
        if !complete {
            text.push(b'\n');
            self.pending = text;
        }
        Ok(())
    }

    /// Takes a header or a transition; `false` when it is not complete.
    fn statement(&mut self, text: &[u8]) -> Result<bool, ReadError> {
        let fault = match &self.header {
            None => match aut_line::header(text) {
                Ok(header) => {
                    self.header = Some(self.promise(text, &header)?);
                    return Ok(true);
                }
                Err(fault) => fault,
            },
            Some(header) => match aut_line::transition(text) {
                Ok(parts) => {
                    let source = self.state(text, &parts.source, header)?;
                    let target = self.state(text, &parts.target, header)?;
                    let Some(label) = self.interner.label(&text[parts.label.clone()]) else {
                        let place = self.place(text, &parts.label);
                        return Err(Diagnostic::error(codes::LABEL_NOT_TEXT, "this label is not UTF-8 text", place)
                            .help("convert the file, for example with `iconv -f latin1 -t utf8`")
                            .into());
                    };
                    self.gather.add(source, label, target);
                    return Ok(true);
                }
                Err(fault) => fault,
            },
        };
        match fault {
            Fault::Incomplete => Ok(false),
            Fault::Wrong(mistake) => Err(self.mistake(text, mistake).into()),
        }
    }

    fn promise(&self, text: &[u8], header: &Header) -> Result<Promised, ReadError> {
        let states = header.states.value;
        let count_place = || self.place(text, &header.states.at);
        if states == 0 {
            return Err(Diagnostic::error(
                codes::INITIAL_OUT_OF_RANGE,
                "a system has at least one state",
                count_place(),
            )
            .seen("no states")
            .help("the initial state counts, too")
            .into());
        }
        if states >= u64::from(u32::MAX) {
            let states = written(text, &header.states);
            let message =
                format!("{states} states are more than the {} that Trefoil numbers", grouped(u64::from(u32::MAX - 1)));
            return Err(Diagnostic::error(codes::TOO_MANY_STATES, message, count_place())
                .help("if the file has fewer states, correct the header")
                .into());
        }
        if header.initial.value >= states {
            let initial = written(text, &header.initial);
            let message = format!("the initial state {initial} is not below the number of states");
            return Err(Diagnostic::error(codes::INITIAL_OUT_OF_RANGE, message, self.place(text, &header.initial.at))
                .also(count_place(), format!("{} states, numbered from 0", grouped(states)))
                .into());
        }
        let bytes = row_bytes(states as usize);
        if bytes > LARGE {
            self.control.afford(bytes)?;
            if self.control.limits().memory.is_none() && available_memory().is_some_and(|free| free < bytes as u64) {
                let message =
                    format!("{} states take {} and do not fit into memory", grouped(states), human_bytes(bytes as u64));
                return Err(Diagnostic::error(codes::TOO_MANY_STATES, message, count_place()).into());
            }
        }
        Ok(Promised {
            initial: StateId(header.initial.value as u32),
            states: states as u32,
            transitions: header.transitions.value,
            transitions_text: written(text, &header.transitions),
            transitions_place: self.line_at(text, &header.transitions.at),
        })
    }

    fn state(&self, text: &[u8], number: &Number, header: &Promised) -> Result<StateId, Diagnostic> {
        if number.value < u64::from(header.states) {
            return Ok(StateId(number.value as u32));
        }
        let message = format!("state {} is not below the number of states", written(text, number));
        Err(Diagnostic::error(codes::STATE_OUT_OF_RANGE, message, self.place(text, &number.at))
            .seen(format!("the header promises {} states, numbered from 0", grouped(u64::from(header.states)))))
    }

    fn finish(self, labels: &Arc<Labels>) -> Result<Lts, ReadError> {
        if !self.pending.is_empty() {
            let end = self.pending.trim_ascii_end().len();
            let (code, what) = match self.header {
                None => (codes::MALFORMED_HEADER, "header"),
                Some(_) => (codes::MALFORMED_TRANSITION, "transition"),
            };
            let place = self.place(&self.pending, &(end..end));
            return Err(Diagnostic::error(code, format!("the file ends inside a {what}"), place)
                .help("the file may have been cut off")
                .into());
        }
        let Some(header) = self.header else {
            return Err(Diagnostic::error(codes::EMPTY, "there is nothing but blank lines", Place::File(self.name))
                .help("an .aut file starts with `des (initial,transitions,states)`")
                .into());
        };
        let count = self.gather.count();
        if count as u64 != header.transitions {
            let promised = header.transitions_text;
            let message = format!("the header promises {promised} transitions, but there are {count}");
            let corrected = format!("des ({},{count},{})", header.initial.0, header.states);
            let place = Place::Line(header.transitions_place);
            return Err(Diagnostic::error(codes::TRANSITION_COUNT, message, place)
                .help(format!("the file may have been cut off; if it is complete, its header is `{corrected}`"))
                .into());
        }
        Ok(self.gather.build(labels, header.initial, header.states, self.control)?)
    }

    fn mistake(&self, text: &[u8], mistake: Mistake) -> Diagnostic {
        Diagnostic::error(mistake.code, mistake.message, self.place(text, &mistake.at)).help(mistake.help)
    }

    fn too_long(&self, line: &[u8]) -> Diagnostic {
        let message = format!("this line is longer than {}", human_bytes(LONGEST as u64));
        let start = &line[..line.len().min(200)];
        let place = Place::Line(Line::cut(&self.name, self.line + 1, start, 0..0));
        Diagnostic::error(codes::TOO_LONG, message, place).help("an .aut file has one transition on each line")
    }

    fn place(&self, text: &[u8], at: &Range<usize>) -> Place {
        Place::Line(self.line_at(text, at))
    }

    /// A place in the statement `text`, which begins on the line `pending_line` and may go over several.
    fn line_at(&self, text: &[u8], at: &Range<usize>) -> Line {
        let before = &text[..at.start.min(text.len())];
        let number = self.pending_line + memchr_iter(b'\n', before).count();
        let start = memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let end = memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length);
        let line = &text[start..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Line::cut(&self.name, number, line, at.start - start..at.end.max(at.start) - start)
    }
}

/// A number as a message shows it: as it is written, for its value stops at the largest that 64 bits hold. One that is
/// too long to read is only described.
fn written(text: &[u8], number: &Number) -> String {
    const READABLE: usize = 40;
    match text[number.at.clone()].trim_ascii() {
        digits if digits.len() <= READABLE => String::from_utf8_lossy(digits).into_owned(),
        _ if number.value == u64::MAX => format!("more than {}", u64::MAX - 1),
        _ => number.value.to_string(),
    }
}

/// Writes the file as mCRL2 does: every label quoted and unescaped, so a line break in a label cannot be expressed.
pub(crate) fn write(lts: &Lts, out: &mut dyn Write, name: &str, control: &Control) -> Result<(), WriteError> {
    let texts = LabelTexts::new(lts, control, |_, text, bytes| {
        if text.contains('\n') {
            let message = format!("the label {text:?} has a line break, which .aut files cannot express");
            return Err(Diagnostic::error(codes::LABEL_NOT_WRITABLE, message, Place::File(name.to_string()))
                .help("write JSON instead")
                .into());
        }
        if aut_line::swallows(text.as_bytes(), true) {
            let message = format!("the label `{text}` would be read as two transitions");
            return Err(Diagnostic::error(codes::LABEL_NOT_WRITABLE, message, Place::File(name.to_string()))
                .help("write JSON instead")
                .into());
        }
        bytes.extend_from_slice(b",\"");
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(b"\",");
        Ok(())
    })?;
    texts.all_different(lts, name)?;
    let mut buffer = Buffer::new(out, control);
    let header = format!("des ({},{},{})\n", lts.initial().0, lts.transition_count(), lts.state_count());
    buffer.text(header.as_bytes());
    for (done, (source, transition)) in lts.all_transitions().enumerate() {
        buffer.text(b"(");
        buffer.number(u64::from(source.0));
        buffer.text(texts.get(transition.label));
        buffer.number(u64::from(transition.target.0));
        buffer.text(b")\n");
        buffer.breathe(done)?;
    }
    buffer.finish(lts.transition_count())
}
