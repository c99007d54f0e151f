//! Names and strings, each kept once.

use std::collections::HashMap;
use std::sync::Arc;

/// A name or string of a script, as a number in its [`Names`]. A qualified name such as `A::b` is one symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// The table behind [`Symbol`].
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: Vec<Arc<str>>,
    symbols: HashMap<Arc<str>, Symbol, foldhash::fast::RandomState>,
}

impl Names {
    /// The symbol of a text, new if need be.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(text) {
            return symbol;
        }
        let symbol = Symbol(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.symbols.insert(text, symbol);
        symbol
    }

    /// The symbol of a text that was interned before.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.symbols.get(text).copied()
    }

    /// The text of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.0 as usize]
    }

    /// The parts of a qualified name: `A`, `b` for `A::b`.
    pub fn parts(&self, symbol: Symbol) -> impl Iterator<Item = &str> {
        self.text(symbol).split("::")
    }

    /// How many symbols there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
