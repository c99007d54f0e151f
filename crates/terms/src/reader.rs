//! Looking at terms: head, arguments, leaves, lists, text. No lock is taken and nothing is written.

#![allow(unsafe_code)]

use std::cmp::Ordering as Order;
use std::fmt;
use std::sync::Arc;

use crate::canonical;
use crate::cells::{Term, arguments_of};
use crate::pool::Inner;
use crate::symbols::Symbol;
use crate::sync::{AtomicU32, Ordering};

/// Looks at terms. A [`crate::Section`] is one.
///
/// A method panics when a term was collected and its memory is given back, and in debug builds whenever it notices that
/// a term was collected; see [`crate::Section::poll`].
pub struct Reader<'p> {
    pool: &'p Inner,
}

/// The arguments of a term.
#[derive(Clone, Copy)]
pub struct Arguments<'r> {
    words: &'r [AtomicU32],
}

impl<'r> Arguments<'r> {
    /// How many there are.
    #[inline]
    pub fn len(self) -> usize {
        self.words.len()
    }

    /// Is the term a constant or a leaf?
    #[inline]
    pub fn is_empty(self) -> bool {
        self.words.is_empty()
    }

    /// The argument at this place, counted from 0.
    #[inline]
    pub fn get(self, at: usize) -> Option<Term> {
        self.words.get(at).map(|word| Term::of(word.load(Ordering::Relaxed)))
    }

    /// The arguments in order.
    #[inline]
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Term> + ExactSizeIterator + Clone + 'r {
        self.words.iter().map(|word| Term::of(word.load(Ordering::Relaxed)))
    }
}

impl<'p> Reader<'p> {
    /// # Safety
    ///
    /// While the reader is used the calling thread is in a section of the pool's lock, or it reads permanent terms
    /// only.
    pub(crate) unsafe fn new(pool: &'p Inner) -> Reader<'p> {
        Reader { pool }
    }

    pub(crate) fn pool(&self) -> &'p Inner {
        self.pool
    }

    #[inline]
    pub(crate) fn cell(&self, term: Term) -> &[AtomicU32] {
        // SAFETY: by the contract of `new`.
        let cell = unsafe { self.pool.cells.cell(term.id()) };
        debug_assert!(
            cell[0].load(Ordering::Relaxed) != Symbol::POISON.0,
            "term {term:?} was collected: it was held over a poll without a root"
        );
        cell
    }

    /// The symbol of a term; of a leaf, [`Symbol::WORD`] or [`Symbol::BYTES`].
    #[inline]
    pub fn head(&self, term: Term) -> Symbol {
        Symbol(self.cell(term)[0].load(Ordering::Relaxed))
    }

    /// The arguments of a term; a leaf has none.
    #[inline]
    pub fn arguments(&self, term: Term) -> Arguments<'_> {
        Arguments { words: arguments_of(self.cell(term)) }
    }

    /// An argument of a term, counted from 0.
    ///
    /// # Panics
    ///
    /// When the term does not have so many.
    #[inline]
    pub fn argument(&self, term: Term, at: usize) -> Term {
        Term::of(arguments_of(self.cell(term))[at].load(Ordering::Relaxed))
    }

    /// How many arguments a term has.
    #[inline]
    pub fn arity(&self, term: Term) -> usize {
        self.arguments(term).len()
    }

    /// The value of a machine word; nothing for other terms.
    #[inline]
    pub fn word_of(&self, term: Term) -> Option<u64> {
        let cell = self.cell(term);
        let word = |at: usize| u64::from(cell[at].load(Ordering::Relaxed));
        (word(0) == u64::from(Symbol::WORD.0)).then(|| word(2) | word(3) << 32)
    }

    /// The bytes of a byte string; nothing for other terms.
    pub fn bytes_of(&self, term: Term) -> Option<Vec<u8>> {
        let cell = self.cell(term);
        if Symbol(cell[0].load(Ordering::Relaxed)) != Symbol::BYTES {
            return None;
        }
        let length = cell[2].load(Ordering::Relaxed) as usize;
        let words = &cell[3..3 + length.div_ceil(4)];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        bytes.truncate(length);
        Some(bytes)
    }

    /// The first element and the rest of a list that is not empty; nothing for other terms.
    #[inline]
    pub fn cons_of(&self, term: Term) -> Option<(Term, Term)> {
        (self.head(term) == Symbol::CONS).then(|| (self.argument(term, 0), self.argument(term, 1)))
    }

    /// The elements of a list, up to something that is no list.
    pub fn elements(&self, list: Term) -> impl Iterator<Item = Term> + '_ {
        let mut rest = list;
        std::iter::from_fn(move || {
            let (first, others) = self.cons_of(rest)?;
            rest = others;
            Some(first)
        })
    }

    /// The name of a symbol.
    pub fn name(&self, symbol: Symbol) -> Arc<str> {
        self.pool.symbols.name(symbol)
    }

    /// Appends the canonical bytes of a term: equal for equal terms in every run and every pool. They describe the term
    /// as a graph, so they are as long as the term is in memory, however large it is as a tree.
    pub fn canonical(&self, term: Term, into: &mut Vec<u8>) {
        canonical::write(self, term, into);
    }

    /// The order of two terms by their canonical bytes: the same in every run.
    pub fn compare(&self, left: Term, right: Term) -> Order {
        if left == right {
            return Order::Equal;
        }
        let (mut one, mut other) = (Vec::new(), Vec::new());
        self.canonical(left, &mut one);
        self.canonical(right, &mut other);
        one.cmp(&other)
    }

    /// The term as text, `f(a, [b, 3])`. As a tree a term may be exponentially large; so after 1000 symbols, or as many
    /// as the precision of the format says (`{:.50}`), `…` stands for the rest.
    pub fn display(&self, term: Term) -> Display<'_> {
        Display { reader: self, term }
    }
}

/// A term as text, see [`Reader::display`].
pub struct Display<'r> {
    reader: &'r Reader<'r>,
    term: Term,
}

/// What is still to be written.
enum Piece {
    Term(Term),
    Rest(Term),
    Text(&'static str),
}

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reader = self.reader;
        let mut left = f.precision().unwrap_or(1000);
        let mut pieces = vec![Piece::Term(self.term)];
        while let Some(piece) = pieces.pop() {
            let term = match piece {
                Piece::Text(text) => {
                    f.write_str(text)?;
                    continue;
                }
                Piece::Rest(list) => {
                    match reader.cons_of(list) {
                        Some(_) if left == 0 => return f.write_str(", …"),
                        Some((first, rest)) => {
                            pieces.extend([Piece::Rest(rest), Piece::Term(first), Piece::Text(", ")]);
                        }
                        None if reader.head(list) == Symbol::EMPTY => pieces.push(Piece::Text("]")),
                        None => pieces.extend([Piece::Text("]"), Piece::Term(list), Piece::Text(" | ")]),
                    }
                    continue;
                }
                Piece::Term(term) => term,
            };
            if left == 0 {
                return f.write_str("…");
            }
            left -= 1;
            match reader.head(term) {
                Symbol::WORD => write!(f, "{}", reader.word_of(term).unwrap_or_default())?,
                Symbol::BYTES => {
                    f.write_str("0x")?;
                    let bytes = reader.bytes_of(term).unwrap_or_default();
                    let shown = bytes.len().min(left.saturating_mul(8).max(8));
                    bytes[..shown].iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                    f.write_str(if shown < bytes.len() { "…" } else { "" })?;
                }
                Symbol::EMPTY => f.write_str("[]")?,
                Symbol::CONS => {
                    f.write_str("[")?;
                    pieces.extend([Piece::Rest(reader.argument(term, 1)), Piece::Term(reader.argument(term, 0))]);
                }
                symbol => {
                    f.write_str(&reader.name(symbol))?;
                    let arguments = reader.arguments(term);
                    if arguments.is_empty() {
                        continue;
                    }
                    f.write_str("(")?;
                    pieces.push(Piece::Text(")"));
                    // No more arguments than can be written, for terms with very many.
                    let shown = arguments.len().min(left + 1);
                    for (at, argument) in arguments.iter().enumerate().take(shown).rev() {
                        pieces.push(Piece::Term(argument));
                        if at > 0 {
                            pieces.push(Piece::Text(", "));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
