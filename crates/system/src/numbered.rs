//! Things numbered in the order in which they are met, from any thread.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

/// A table that only grows: keys with their numbers, and something kept beside each key.
pub(crate) struct Numbered<K, V> {
    table: boxcar::Vec<(K, V)>,
    numbers: RwLock<HashMap<K, u32, foldhash::fast::RandomState>>,
}

impl<K, V> Default for Numbered<K, V> {
    fn default() -> Self {
        Numbered { table: boxcar::Vec::new(), numbers: RwLock::default() }
    }
}

impl<K: Clone + Eq + Hash, V: Default> Numbered<K, V> {
    /// The number of a key, when it has one.
    pub(crate) fn known<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
    {
        self.numbers.read().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    /// The number of a key; the next one, and the key `owned` makes, when it has none.
    pub(crate) fn number<Q: Eq + Hash + ?Sized>(&self, key: &Q, owned: impl FnOnce(&Q) -> K) -> u32
    where
        K: Borrow<Q>,
    {
        if let Some(known) = self.known(key) {
            return known;
        }
        let mut numbers = self.numbers.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = numbers.get(key) {
            return known;
        }
        let key = owned(key);
        let place = self.table.push((key.clone(), V::default()));
        let number = u32::try_from(place).expect("fewer than 2^32 labels");
        numbers.insert(key, number);
        number
    }

    /// A key and what is kept beside it.
    pub(crate) fn get(&self, number: u32) -> &(K, V) {
        &self.table[number as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.table.count()
    }
}
