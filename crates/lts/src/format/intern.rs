//! Label texts of one file to the numbers of the shared table, without an allocation per line.
//!
//! The shared [`Labels`] take a lock and an owned label for each lookup; a file repeats few labels millions of times.
//! So the reader keeps its own open-addressing table from raw bytes to numbers and asks the shared one only for texts
//! that are new in this file. The hash is seeded, so no file can be made to collide. Linear probing, at most half full.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use foldhash::fast::RandomState;
use trefoil_system::{LabelId, Labels};

const FREE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Slot {
    fingerprint: u32,
    entry: u32,
}

struct Entry {
    /// Where its text ends; it starts where the entry before it ends.
    end: usize,
    label: LabelId,
}

/// The labels of one file.
pub(crate) struct Interner {
    labels: Arc<Labels>,
    seed: RandomState,
    slots: Vec<Slot>,
    entries: Vec<Entry>,
    texts: Vec<u8>,
}

impl Interner {
    /// A table in which `tau` and every name in `tau_names` mean `τ`.
    pub(crate) fn new(labels: &Arc<Labels>, tau_names: &[String]) -> Interner {
        let mut interner = Interner {
            labels: labels.clone(),
            seed: RandomState::default(),
            slots: vec![Slot { fingerprint: 0, entry: FREE }; 64],
            entries: Vec::new(),
            texts: Vec::new(),
        };
        for name in std::iter::once("tau").chain(tau_names.iter().map(String::as_str)) {
            if let Err(hash) = interner.find(name.as_bytes()) {
                interner.insert(name.as_bytes(), hash, LabelId::TAU);
            }
        }
        interner
    }

    /// The number of the label with this text; `None` when the text is not UTF-8.
    pub(crate) fn label(&mut self, text: &[u8]) -> Option<LabelId> {
        match self.find(text) {
            Ok(label) => Some(label),
            Err(hash) => {
                let label = self.labels.name(std::str::from_utf8(text).ok()?);
                self.insert(text, hash, label);
                Some(label)
            }
        }
    }

    /// The number of the label with this text when this file has used it before.
    #[inline]
    pub(crate) fn known(&self, text: &[u8]) -> Option<LabelId> {
        self.find(text).ok()
    }

    #[inline]
    fn find(&self, text: &[u8]) -> Result<LabelId, u64> {
        let mut hasher = self.seed.build_hasher();
        hasher.write(text);
        let hash = hasher.finish();
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.entry == FREE {
                return Err(hash);
            }
            if slot.fingerprint == fingerprint(hash) && self.text(slot.entry) == text {
                return Ok(self.entries[slot.entry as usize].label);
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    fn text(&self, entry: u32) -> &[u8] {
        let entry = entry as usize;
        let start = if entry == 0 { 0 } else { self.entries[entry - 1].end };
        &self.texts[start..self.entries[entry].end]
    }

    #[cold]
    fn insert(&mut self, text: &[u8], hash: u64, label: LabelId) {
        if (self.entries.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let entry = self.entries.len() as u32;
        self.texts.extend_from_slice(text);
        self.entries.push(Entry { end: self.texts.len(), label });
        self.place(hash, entry);
    }

    fn place(&mut self, hash: u64, entry: u32) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at].entry != FREE {
            at = (at + 1) & mask;
        }
        self.slots[at] = Slot { fingerprint: fingerprint(hash), entry };
    }

    fn grow(&mut self) {
        self.slots = vec![Slot { fingerprint: 0, entry: FREE }; self.slots.len() * 2];
        for entry in 0..self.entries.len() as u32 {
            let mut hasher = self.seed.build_hasher();
            hasher.write(self.text(entry));
            self.place(hasher.finish(), entry);
        }
    }
}

/// The half of the hash that does not choose the slot.
#[inline]
fn fingerprint(hash: u64) -> u32 {
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_numbers_while_the_table_grows() {
        let labels = Arc::new(Labels::new());
        let mut interner = Interner::new(&labels, &["i".to_string(), "tau".to_string()]);
        let texts: Vec<String> = (0..5000).map(|i| format!("send({i})")).collect();
        let first: Vec<_> = texts.iter().map(|text| interner.label(text.as_bytes())).collect();
        let again: Vec<_> = texts.iter().map(|text| labels.find(text)).collect();
        assert_eq!(first, again);
        assert!(texts.iter().zip(&first).all(|(text, id)| interner.label(text.as_bytes()) == *id));
        assert_eq!(interner.label(b"i"), Some(LabelId::TAU));
        assert_eq!(interner.label(b"tau"), Some(LabelId::TAU));
        assert_eq!(interner.label(b""), Some(labels.name("")));
        assert_eq!(interner.label(b"\xff"), None);
    }
}
