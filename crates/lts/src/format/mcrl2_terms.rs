//! mCRL2's binary stream of terms: bits, packets and the table of shared terms.
//!
//! After five bytes (0, the magic number 0x8baf and a version, highest bytes first) the stream is a sequence of packets
//! of bits, most significant first. Two bits say what a packet is: a function symbol (name and arity), a shared term, a
//! term that is put out, or an integer that is put out. A shared term is a symbol and the numbers of its arguments,
//! which came before it; it gets the next number itself. Numbers of symbols and terms have as many bits as the largest
//! of them needs at that place. Symbol 0 ends the stream. Integers come in groups of seven bits, lowest group first.
//!
//! What the stream holds is up to the caller ([`super::mcrl2`]). Memory: 8 bytes a shared term and 4 an argument; the
//! input is never kept.

use trefoil_control::{Control, human_bytes};
use trefoil_source::{Diagnostic, Place};

use super::lines::LONGEST;
use super::open::Opened;
use super::{ReadError, codes};

/// Version 0x8307 has binary numbers where 0x8308 has machine words; the terms are read the same way.
const VERSIONS: [u64; 2] = [0x8307, 0x8308];

/// How many packets are read between two polls of the control.
const BATCH: u64 = 1 << 14;

/// The number of a shared term.
pub(crate) type TermId = u32;

/// A function symbol.
pub(crate) struct Symbol {
    pub(crate) name: String,
    arity: usize,
}

/// A shared term: an application, or an integer.
#[derive(Clone, Copy)]
pub(crate) enum Term<'t> {
    /// A symbol and its arguments.
    Application(&'t str, &'t [TermId]),
    /// A machine word.
    Integer(u64),
}

/// Every shared term so far.
pub(crate) struct Terms {
    /// Symbol 0 stands for the end and has no name.
    symbols: Vec<Symbol>,
    /// The symbol of each term; 0 for an integer.
    heads: Vec<u32>,
    /// Where the arguments of each term end; an integer has two, its halves.
    ends: Vec<usize>,
    arguments: Vec<u32>,
}

impl Terms {
    fn new() -> Terms {
        let end = Symbol { name: String::new(), arity: 0 };
        Terms { symbols: vec![end], heads: Vec::new(), ends: Vec::new(), arguments: Vec::new() }
    }

    /// The term with this number, which a packet named.
    pub(crate) fn get(&self, id: TermId) -> Term<'_> {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        let arguments = &self.arguments[start..self.ends[id]];
        match self.heads[id] {
            0 => Term::Integer(u64::from(arguments[0]) << 32 | u64::from(arguments[1])),
            head => Term::Application(&self.symbols[head as usize].name, arguments),
        }
    }

    /// The name and the arguments of a term; nothing and none when it is an integer.
    pub(crate) fn parts(&self, id: TermId) -> (&str, &[TermId]) {
        match self.get(id) {
            Term::Application(name, arguments) => (name, arguments),
            Term::Integer(_) => ("", &[]),
        }
    }

    /// The elements of a list; none when it is no list.
    pub(crate) fn list(&self, mut id: TermId) -> Option<Vec<TermId>> {
        let mut elements = Vec::new();
        loop {
            match self.parts(id) {
                ("<empty_list>", []) => return Some(elements),
                ("<list_constructor>", &[element, rest]) => {
                    elements.push(element);
                    id = rest;
                }
                _ => return None,
            }
        }
    }

    fn bytes(&self) -> usize {
        self.heads.capacity() * 4 + self.ends.capacity() * size_of::<usize>() + self.arguments.capacity() * 4
    }
}

/// What is put out. The arguments of an application are in [`TermReader::output`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// An application of the symbol with this number.
    Application(u32),
    /// An integer.
    Integer(u64),
    /// Nothing more.
    End,
}

/// Reads packets from an input.
pub(crate) struct TermReader<'a> {
    input: &'a mut Opened,
    control: &'a Control,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    /// The last `count` bits are not taken yet.
    bits: u64,
    count: u32,
    packets: u64,
    pub(crate) terms: Terms,
    output: Vec<TermId>,
}

impl<'a> TermReader<'a> {
    /// Reads the head of the stream.
    pub(crate) fn new(input: &'a mut Opened, control: &'a Control) -> Result<TermReader<'a>, ReadError> {
        let buffer = vec![0; 64 << 10];
        let (terms, output) = (Terms::new(), Vec::new());
        let mut reader =
            TermReader { input, control, buffer, at: 0, filled: 0, bits: 0, count: 0, packets: 0, terms, output };
        // `open` has seen the magic number.
        reader.bits(24)?;
        let version = reader.bits(16)?;
        if !VERSIONS.contains(&version) {
            let message = format!("this is version {version:#06x} of mCRL2's binary format");
            let diagnostic = Diagnostic::error(codes::MCRL2_BINARY, message, reader.place())
                .note("Trefoil reads the versions 0x8307 and 0x8308 (2023 and later)")
                .help("convert the file to .aut with the mCRL2 tools that wrote it");
            return Err(diagnostic.into());
        }
        Ok(reader)
    }

    pub(crate) fn place(&self) -> Place {
        Place::File(self.input.name.clone())
    }

    pub(crate) fn damaged(&self, why: &str) -> Diagnostic {
        let message = format!("the binary content is damaged or cut off: {why}");
        Diagnostic::error(codes::MCRL2_DAMAGED, message, self.place())
            .note(format!("in the packet before byte {}", self.input.consumed().saturating_sub(self.unread())))
    }

    /// Bytes that were taken from the file but not from the buffer.
    fn unread(&self) -> u64 {
        (self.filled - self.at) as u64
    }

    /// The name of a symbol that was put out.
    pub(crate) fn symbol(&self, symbol: u32) -> &str {
        &self.terms.symbols[symbol as usize].name
    }

    /// The arguments of the application that was put out last.
    pub(crate) fn output(&self) -> &[TermId] {
        &self.output
    }

    /// Reads on to what is put out next.
    pub(crate) fn next(&mut self) -> Result<Output, ReadError> {
        loop {
            self.packets += 1;
            if self.packets.is_multiple_of(BATCH) {
                self.control.check()?;
                self.control.afford(self.terms.bytes())?;
                self.control.progress().done(self.input.consumed());
            }
            match self.bits(2)? {
                0 => self.function_symbol()?,
                3 => return Ok(Output::Integer(self.integer()?)),
                kind => {
                    let symbol = self.bits(width(self.terms.symbols.len()))? as u32;
                    if symbol == 0 {
                        return Ok(Output::End);
                    }
                    if symbol as usize >= self.terms.symbols.len() {
                        return Err(self.damaged("a function symbol that was not declared").into());
                    }
                    if self.symbol(symbol) == "<aterm_int>" {
                        let value = self.integer()?;
                        self.share(0, &[(value >> 32) as u32, value as u32])?;
                        continue;
                    }
                    let mut output = std::mem::take(&mut self.output);
                    output.clear();
                    self.arguments(symbol, &mut output)?;
                    self.output = output;
                    if kind == 2 {
                        return Ok(Output::Application(symbol));
                    }
                    let arguments = std::mem::take(&mut self.output);
                    self.share(symbol, &arguments)?;
                    self.output = arguments;
                }
            }
        }
    }

    fn function_symbol(&mut self) -> Result<(), ReadError> {
        let length = self.integer()?;
        if length > LONGEST as u64 {
            let message = format!("a name is longer than {}", human_bytes(LONGEST as u64));
            return Err(Diagnostic::error(codes::TOO_LONG, message, self.place()).into());
        }
        let mut name = Vec::new();
        for _ in 0..length {
            name.push(self.bits(8)? as u8);
        }
        let Ok(name) = String::from_utf8(name) else {
            return Err(self.damaged("a name is not UTF-8 text").into());
        };
        let Ok(arity) = usize::try_from(self.integer()?) else {
            return Err(self.damaged("a function symbol with too many arguments").into());
        };
        if self.terms.symbols.len() >= u32::MAX as usize {
            return Err(self.damaged("too many function symbols").into());
        }
        self.terms.symbols.push(Symbol { name, arity });
        Ok(())
    }

    fn arguments(&mut self, symbol: u32, into: &mut Vec<TermId>) -> Result<(), ReadError> {
        let known = self.terms.heads.len();
        for _ in 0..self.terms.symbols[symbol as usize].arity {
            let argument = if known == 0 { 0 } else { self.bits(width(known))? };
            if argument as usize >= known {
                return Err(self.damaged("a term that was not written before").into());
            }
            into.push(argument as TermId);
        }
        Ok(())
    }

    fn share(&mut self, head: u32, arguments: &[u32]) -> Result<(), ReadError> {
        if self.terms.heads.len() >= u32::MAX as usize {
            return Err(self.damaged("too many terms").into());
        }
        self.terms.heads.push(head);
        self.terms.arguments.extend_from_slice(arguments);
        self.terms.ends.push(self.terms.arguments.len());
        Ok(())
    }

    fn integer(&mut self) -> Result<u64, ReadError> {
        let mut value = 0u64;
        for group in 0..10 {
            let byte = self.bits(8)?;
            if group == 9 && byte > 1 {
                break;
            }
            value |= (byte & 127) << (7 * group);
            if byte & 128 == 0 {
                return Ok(value);
            }
        }
        Err(self.damaged("an integer of more than 64 bits").into())
    }

    /// The next bits, at most 32.
    #[inline]
    fn bits(&mut self, wanted: u32) -> Result<u64, ReadError> {
        while self.count < wanted {
            if self.at == self.filled {
                self.filled = self.input.read(&mut self.buffer)?;
                self.at = 0;
                if self.filled == 0 {
                    return Err(self.damaged("it ends inside a packet").into());
                }
            }
            self.bits = self.bits << 8 | u64::from(self.buffer[self.at]);
            self.at += 1;
            self.count += 8;
        }
        self.count -= wanted;
        Ok((self.bits >> self.count) & ((1 << wanted) - 1))
    }
}

/// How many bits a number has when there are this many things.
pub(crate) fn width(things: usize) -> u32 {
    things.ilog2() + 1
}
