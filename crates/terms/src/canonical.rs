//! Canonical bytes: a term as a graph, in the order of first visit.
//!
//! The nodes of the graph are visited depth first, arguments from left to right, and counted. A node that was visited
//! before is its number in that count; so the bytes are as long as the graph, while the tree may be exponential. A
//! symbol is its name and arity where it occurs first, and its number in the order of first occurrence afterwards. So
//! nothing depends on ids.
//!
//! ```text
//! node := 0 number-of-node                                an earlier node
//!       | 1 arity length-of-name name nodes-of-arguments  a symbol that occurs first here
//!       | 2 number-of-symbol nodes-of-arguments           an earlier symbol
//!       | 3 eight bytes                                   a machine word, most significant byte first
//!       | 4 length bytes                                  a byte string
//! ```
//!
//! Numbers, lengths and arities have seven bits a byte, the low ones first. Nothing but what [`write()`] makes is
//! accepted by [`read`].

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::cells::{MOST_ARGUMENTS, MOST_BYTES, Term};
use crate::reader::Reader;
use crate::symbols::Symbol;
use crate::worker::Section;

const EARLIER_NODE: u8 = 0;
const NEW_SYMBOL: u8 = 1;
const EARLIER_SYMBOL: u8 = 2;
const WORD: u8 = 3;
const BYTES: u8 = 4;

/// Appends the canonical bytes of a term.
pub(crate) fn write(reader: &Reader<'_>, term: Term, into: &mut Vec<u8>) {
    let mut nodes: HashMap<Term, usize, FixedState> = HashMap::default();
    let mut symbols: HashMap<Symbol, usize, FixedState> = HashMap::default();
    let mut pending = vec![term];
    while let Some(term) = pending.pop() {
        let number = nodes.len();
        if let Some(&earlier) = nodes.get(&term) {
            into.push(EARLIER_NODE);
            write_number(earlier, into);
            continue;
        }
        nodes.insert(term, number);
        match reader.head(term) {
            Symbol::WORD => {
                into.push(WORD);
                into.extend_from_slice(&reader.word_of(term).unwrap_or_default().to_be_bytes());
            }
            Symbol::BYTES => {
                let bytes = reader.bytes_of(term).unwrap_or_default();
                into.push(BYTES);
                write_number(bytes.len(), into);
                into.extend_from_slice(&bytes);
            }
            symbol => {
                let number = symbols.len();
                let arguments = reader.arguments(term);
                if let Some(&earlier) = symbols.get(&symbol) {
                    into.push(EARLIER_SYMBOL);
                    write_number(earlier, into);
                } else {
                    symbols.insert(symbol, number);
                    let name = reader.name(symbol);
                    into.push(NEW_SYMBOL);
                    write_number(arguments.len(), into);
                    write_number(name.len(), into);
                    into.extend_from_slice(name.as_bytes());
                }
                pending.extend(arguments.iter().rev());
            }
        }
    }
}

fn write_number(mut number: usize, into: &mut Vec<u8>) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

/// A node whose arguments are not all read yet.
struct Open {
    node: usize,
    symbol: Symbol,
    arity: usize,
    /// Where its arguments begin among those that were read.
    from: usize,
}

/// The term with these canonical bytes.
pub(crate) fn read(section: &Section<'_>, bytes: &[u8]) -> Option<Term> {
    let term = read_graph(section, &mut { bytes })?;
    // What reads as a term may have been written in another way: a node twice, a number with leading zeros.
    let mut canonical = Vec::with_capacity(bytes.len());
    write(section, term, &mut canonical);
    (canonical == bytes).then_some(term)
}

fn read_graph(section: &Section<'_>, rest: &mut &[u8]) -> Option<Term> {
    let mut nodes: Vec<Option<Term>> = Vec::new();
    let mut symbols: Vec<(Symbol, usize)> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut arguments: Vec<Term> = Vec::new();
    loop {
        let node = nodes.len();
        let mut applied = |nodes: &mut Vec<Option<Term>>, (symbol, arity): (Symbol, usize), from: usize| {
            nodes.push(None);
            open.push(Open { node, symbol, arity, from });
        };
        match take(rest, 1)?[0] {
            EARLIER_NODE => arguments.push((*nodes.get(read_number(rest)?)?)?),
            NEW_SYMBOL => {
                let arity = read_number(rest).filter(|&arity| arity <= MOST_ARGUMENTS && arity <= rest.len())?;
                let length = read_number(rest)?;
                let name = std::str::from_utf8(take(rest, length)?).ok()?;
                symbols.push((section.symbol(name, arity), arity));
                applied(&mut nodes, *symbols.last()?, arguments.len());
            }
            EARLIER_SYMBOL => applied(&mut nodes, *symbols.get(read_number(rest)?)?, arguments.len()),
            WORD => {
                let word = u64::from_be_bytes(take(rest, 8)?.try_into().ok()?);
                arguments.push(section.word(word));
                nodes.push(arguments.last().copied());
            }
            BYTES => {
                let length = read_number(rest).filter(|&length| length <= MOST_BYTES)?;
                arguments.push(section.bytes(take(rest, length)?));
                nodes.push(arguments.last().copied());
            }
            _ => return None,
        }
        while let Some(last) = open.last().filter(|last| arguments.len() - last.from == last.arity) {
            let term = section.create(last.symbol, &arguments[last.from..]);
            nodes[last.node] = Some(term);
            arguments.truncate(last.from);
            arguments.push(term);
            open.pop();
        }
        if open.is_empty() {
            return if rest.is_empty() { arguments.pop() } else { None };
        }
    }
}

fn take<'b>(rest: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, others) = rest.split_at_checked(length)?;
    *rest = others;
    Some(taken)
}

fn read_number(rest: &mut &[u8]) -> Option<usize> {
    let mut number = 0usize;
    for shift in (0..usize::BITS).step_by(7) {
        let byte = take(rest, 1)?[0];
        number |= ((byte & 0x7f) as usize).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
