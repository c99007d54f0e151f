//! Fast text output: a buffer, decimal numbers, and label texts made ready once.

use std::collections::HashMap;
use std::io::Write;

use trefoil_control::Control;
use trefoil_source::{Diagnostic, Place};
use trefoil_system::LabelId;

use super::{WriteError, codes};
use crate::explicit::Lts;

const BUFFER: usize = 256 << 10;

/// A buffer before a writer. What is in it is lost unless [`Buffer::finish`] is called.
pub(crate) struct Buffer<'a> {
    out: &'a mut dyn Write,
    control: &'a Control,
    pub(crate) bytes: Vec<u8>,
}

impl<'a> Buffer<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, control: &'a Control) -> Buffer<'a> {
        Buffer { out, control, bytes: Vec::with_capacity(BUFFER + (4 << 10)) }
    }

    #[inline]
    pub(crate) fn text(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
    }

    #[inline]
    pub(crate) fn number(&mut self, number: u64) {
        decimal(&mut self.bytes, number);
    }

    /// To be called between transitions: passes the buffer on when it is full, and polls the control then.
    #[inline]
    pub(crate) fn breathe(&mut self, done: usize) -> Result<(), WriteError> {
        if self.bytes.len() >= BUFFER { self.pass_on(done) } else { Ok(()) }
    }

    #[cold]
    fn pass_on(&mut self, done: usize) -> Result<(), WriteError> {
        self.control.check()?;
        self.control.progress().done(done as u64);
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self, done: usize) -> Result<(), WriteError> {
        self.pass_on(done)?;
        self.out.flush()?;
        Ok(())
    }
}

const DIGIT_PAIRS: &[u8; 200] = b"\
0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Appends a number in decimal, two digits a step.
#[inline]
pub(crate) fn decimal(bytes: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    while number >= 100 {
        let pair = (number % 100) as usize * 2;
        number /= 100;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&DIGIT_PAIRS[pair..pair + 2]);
    }
    if number >= 10 {
        let pair = number as usize * 2;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&DIGIT_PAIRS[pair..pair + 2]);
    } else {
        at -= 1;
        digits[at] = b'0' + number as u8;
    }
    bytes.extend_from_slice(&digits[at..]);
}

/// The labels that a system uses, each with the bytes that stand for it in the file.
pub(crate) struct LabelTexts {
    /// By label number: where its bytes are, empty when it is not used.
    ranges: Vec<(usize, usize)>,
    bytes: Vec<u8>,
    /// The labels used, ascending.
    pub(crate) used: Vec<LabelId>,
}

impl LabelTexts {
    /// Makes the bytes of every label that is used with `express`, which gets the label's number and its text.
    pub(crate) fn new(
        lts: &Lts,
        control: &Control,
        mut express: impl FnMut(LabelId, &str, &mut Vec<u8>) -> Result<(), WriteError>,
    ) -> Result<LabelTexts, WriteError> {
        let table = lts.labels();
        let mut is_used = vec![false; table.len()];
        for block in lts.transitions().chunks(1 << 16) {
            control.check()?;
            for transition in block {
                is_used[transition.label.index()] = true;
            }
        }
        let used = (0..is_used.len()).filter(|&label| is_used[label]).map(|label| LabelId(label as u32));
        let mut texts = LabelTexts { ranges: vec![(0, 0); is_used.len()], bytes: Vec::new(), used: used.collect() };
        for &label in &texts.used {
            let start = texts.bytes.len();
            express(label, &table.get(label).to_string(), &mut texts.bytes)?;
            texts.ranges[label.index()] = (start, texts.bytes.len());
        }
        Ok(texts)
    }

    /// The bytes of a label that is used.
    #[inline]
    pub(crate) fn get(&self, label: LabelId) -> &[u8] {
        let (start, end) = self.ranges[label.index()];
        &self.bytes[start..end]
    }

    /// Refuses systems in which two labels look alike, for formats that keep only the text.
    pub(crate) fn all_different(&self, lts: &Lts, file: &str) -> Result<(), WriteError> {
        let mut seen: HashMap<&[u8], LabelId> = HashMap::with_capacity(self.used.len());
        for &label in &self.used {
            if seen.insert(self.get(label), label).is_some() {
                let text = lts.labels().get(label);
                let message = format!("two different labels would both be written as `{text}`");
                let place = Place::File(file.to_string());
                return Err(Diagnostic::error(codes::LABELS_COLLIDE, message, place)
                    .note("one has arguments, the other has the same characters as its name")
                    .help("write JSON, which keeps names and arguments apart")
                    .into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length() {
        let mut number = 0u64;
        for _ in 0..21 {
            for near in [number.saturating_sub(1), number, number.saturating_add(9)] {
                let mut bytes = Vec::new();
                decimal(&mut bytes, near);
                assert_eq!(String::from_utf8_lossy(&bytes), near.to_string());
            }
            number = number.saturating_mul(10).max(1);
        }
    }
}
