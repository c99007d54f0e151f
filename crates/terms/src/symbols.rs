//! Symbols: names with arities. They are never collected.
//!
//! A symbol is 32 bits: an index and, in the low byte, its arity, so that the arity of a term needs no table; an
//! arity of 255 or more is written into the term itself. Two symbols are equal when name and arity are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A function symbol of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Symbol(pub(crate) u32);

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "symbol {}", self.0 >> 8)
    }
}

/// The arity code of symbols whose terms say themselves how many arguments they have.
pub(crate) const WIDE: u32 = 255;
/// How many symbols a pool can have.
const MOST_SYMBOLS: usize = (1 << 24) - 1;

impl Symbol {
    /// The symbol of machine words, which [`crate::Section::word`] makes.
    pub const WORD: Symbol = Symbol(1 << 8);
    /// The symbol of byte strings, which [`crate::Section::bytes`] makes.
    pub const BYTES: Symbol = Symbol(2 << 8);
    /// The symbol of the empty list, a constant.
    pub const EMPTY: Symbol = Symbol(3 << 8);
    /// The symbol of a list with a first element, of arity 2: the element and the list of the others.
    pub const CONS: Symbol = Symbol(4 << 8 | 2);
    /// What stands where a term was that is collected, in debug builds.
    pub(crate) const POISON: Symbol = Symbol(u32::MAX);

    /// A number of its own, counted from 0 in the order of first use: an index for tables by symbol.
    #[inline]
    pub fn number(self) -> usize {
        (self.0 >> 8) as usize
    }

    #[inline]
    pub(crate) fn code(self) -> u32 {
        self.0 & 0xff
    }

    #[inline]
    pub(crate) fn is_leaf(self) -> bool {
        self == Symbol::WORD || self == Symbol::BYTES
    }
}

/// The names of the symbols of a pool.
pub(crate) struct Symbols {
    table: RwLock<SymbolTable>,
}

#[derive(Default)]
struct SymbolTable {
    all: Vec<(Arc<str>, u32)>,
    by_name: HashMap<(Arc<str>, u32), Symbol>,
    /// How many fresh symbols were made.
    fresh: u64,
}

impl SymbolTable {
    fn add(&mut self, name: Arc<str>, arity: u32) -> Symbol {
        let index = self.all.len();
        assert!(index < MOST_SYMBOLS, "a pool has at most {MOST_SYMBOLS} symbols");
        let symbol = Symbol((index as u32) << 8 | arity.min(WIDE));
        self.all.push((name.clone(), arity));
        self.by_name.insert((name, arity), symbol);
        symbol
    }
}

impl Symbols {
    pub(crate) fn new() -> Symbols {
        let mut table = SymbolTable::default();
        // Index 0 stands for no symbol, and leaves have no name that can be looked up.
        table.all.extend([("", 0), ("word", 0), ("bytes", 0)].map(|(name, arity)| (name.into(), arity)));
        assert_eq!(table.add("[]".into(), 0), Symbol::EMPTY);
        assert_eq!(table.add("|>".into(), 2), Symbol::CONS);
        Symbols { table: RwLock::new(table) }
    }

    fn read(&self) -> RwLockReadGuard<'_, SymbolTable> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, SymbolTable> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn symbol(&self, name: &str, arity: usize) -> Symbol {
        let arity = u32::try_from(arity).expect("an arity of 32 bits");
        let key = (Arc::from(name), arity);
        if let Some(&symbol) = self.read().by_name.get(&key) {
            return symbol;
        }
        let mut table = self.write();
        let known = match table.by_name.entry(key) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(missing) => Err(missing.into_key()),
        };
        known.unwrap_or_else(|(name, arity)| table.add(name, arity))
    }

    pub(crate) fn fresh(&self, name: &str, arity: usize) -> Symbol {
        let arity = u32::try_from(arity).expect("an arity of 32 bits");
        let mut table = self.write();
        loop {
            table.fresh += 1;
            let name: Arc<str> = format!("{name}@{}", table.fresh).into();
            if !table.by_name.contains_key(&(name.clone(), arity)) {
                return table.add(name, arity);
            }
        }
    }

    pub(crate) fn name(&self, symbol: Symbol) -> Arc<str> {
        self.read().all.get((symbol.0 >> 8) as usize).map_or_else(|| "".into(), |(name, _)| name.clone())
    }

    pub(crate) fn arity(&self, symbol: Symbol) -> usize {
        if symbol.code() < WIDE {
            return symbol.code() as usize;
        }
        self.read().all.get((symbol.0 >> 8) as usize).map_or(0, |(_, arity)| *arity as usize)
    }

    pub(crate) fn len(&self) -> usize {
        self.read().all.len() - 3
    }
}
