//! Rows packed to bits.
//!
//! A slot with `n` values takes as many bits as `n - 1` has, a slot whose values are not known beforehand takes 32, and
//! the slots follow each other without padding; a row is stored in the bytes that its bits fill. While it is worked with, a
//! packed row is a few 64-bit words, least significant first, unused bits zero, so that two rows are equal exactly when
//! their words are. All shifts are computed once. Most systems fit one word or two, which have their own loops.

use trefoil_system::{Layout, Slot, Value};

/// Where a slot lies in a packed row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    word: u32,
    pub(crate) shift: u32,
    bits: u32,
}

impl Field {
    /// The bit of the row that it begins at.
    #[inline]
    fn place(self) -> u32 {
        self.word * 64 + self.shift
    }

    /// What of a value does not fit.
    #[inline]
    pub(crate) fn excess(self, value: u64) -> u64 {
        value >> self.bits
    }

    /// Writes a value that fits to where zeros are.
    #[inline]
    pub(crate) fn put(self, value: u64, words: &mut [u64]) {
        let word = self.word as usize;
        words[word] |= value << self.shift;
        if self.is_split() {
            words[word + 1] |= value >> (64 - self.shift);
        }
    }

    /// The value that is there.
    #[inline]
    pub(crate) fn get(self, words: &[u64]) -> u64 {
        let word = self.word as usize;
        let mut found = words[word] >> self.shift;
        if self.is_split() {
            found |= words[word + 1] << (64 - self.shift);
        }
        found & mask(self.bits)
    }

    /// Its bits in one of its words.
    #[inline]
    fn ones_in(self, word: usize) -> u64 {
        if word == self.word as usize { mask(self.bits) << self.shift } else { mask(self.bits) >> (64 - self.shift) }
    }

    /// The first of the words that it lies in.
    #[inline]
    pub(crate) fn first_word(self) -> usize {
        self.word as usize
    }

    /// Does it lie in two words?
    #[inline]
    pub(crate) fn is_split(self) -> bool {
        self.shift + self.bits > 64
    }

    /// Writes a value that fits to where another is.
    #[inline]
    pub(crate) fn set(self, value: u64, words: &mut [u64]) {
        let (word, ones) = (self.word as usize, mask(self.bits));
        words[word] = words[word] & !(ones << self.shift) | value << self.shift;
        if self.is_split() {
            words[word + 1] = words[word + 1] & !(ones >> (64 - self.shift)) | value >> (64 - self.shift);
        }
    }

    /// Writes zeros.
    pub(crate) fn clear(self, words: &mut [u64]) {
        let (word, ones) = (self.word as usize, mask(self.bits));
        words[word] &= !(ones << self.shift);
        if self.is_split() {
            words[word + 1] &= !(ones >> (64 - self.shift));
        }
    }
}

/// How the rows of one layout are packed.
#[derive(Clone, Debug)]
pub struct Packing {
    fields: Vec<Field>,
    bits: usize,
    /// The slot of each bit, when a row has more words than one; bits that are no slot's have any.
    slot_at: Vec<u32>,
}

impl Packing {
    /// The packing of a layout.
    pub fn new(layout: &Layout) -> Packing {
        Packing::skipping(layout, |_, _| 0)
    }

    /// The same, but a part that would begin in the rest of a word and end in another begins with a word: parts that look
    /// alike then have words that are equal.
    pub(crate) fn aligned(layout: &Layout) -> Packing {
        let (slots, parts) = (layout.slots(), layout.parts());
        let mut next = parts.iter().copied().zip(parts.iter().copied().skip(1).chain([slots.len()])).peekable();
        Packing::skipping(layout, |slot, bits| {
            let Some((_, end)) = next.next_if(|&(begin, _)| begin == slot) else { return 0 };
            let size: usize = slots[slot..end].iter().map(|slot| bits_of(slot) as usize).sum();
            let rest = bits.next_multiple_of(64) - bits;
            if size > rest { rest } else { 0 }
        })
    }

    /// The packing of a layout; `skipped` says for each slot how many bits are left free before it, behind so many.
    fn skipping(layout: &Layout, mut skipped: impl FnMut(usize, usize) -> usize) -> Packing {
        let mut bits = 0usize;
        let slots = layout.slots().iter().enumerate();
        let fields = slots
            .map(|(at, slot)| {
                bits += skipped(at, bits);
                let width = bits_of(slot);
                // A slot with one value has nothing to say, and stands where there is always a word.
                let at = if width == 0 { 0 } else { bits };
                bits += width as usize;
                Field { word: (at / 64) as u32, shift: (at % 64) as u32, bits: width }
            })
            .collect();
        let fields: Vec<Field> = fields;
        let mut slot_at = Vec::new();
        if bits > 64 {
            slot_at.resize(bits.next_multiple_of(64), 0);
            for (slot, field) in fields.iter().enumerate() {
                slot_at[field.place() as usize..][..field.bits as usize].fill(slot as u32);
            }
        }
        Packing { fields, bits, slot_at }
    }

    /// How many slots a row has.
    pub fn width(&self) -> usize {
        self.fields.len()
    }

    /// Where a slot lies.
    pub(crate) fn field(&self, slot: usize) -> Field {
        self.fields[slot]
    }

    /// How many bits a packed row has.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// How many bytes a packed row is stored in.
    pub fn bytes(&self) -> usize {
        self.bits.div_ceil(8)
    }

    /// How many words a packed row is worked with in; at least one.
    pub fn words(&self) -> usize {
        self.bits.div_ceil(64).max(1)
    }

    /// Packs a row into `words`, which is as long as [`Packing::words`] says.
    ///
    /// # Panics
    ///
    /// When a value is not below its slot's number of values rounded up to a power of two: the system is wrong, and going on
    /// would confuse one state with another.
    #[inline]
    pub fn pack(&self, row: &[Value], words: &mut [u64]) {
        debug_assert_eq!(row.len(), self.fields.len());
        if let [word] = words {
            *word = self.pack_word(row);
        } else if let [low, high] = words {
            let packed = self.pack_two_words(row);
            (*low, *high) = (packed as u64, (packed >> 64) as u64);
        } else {
            let mut excess = 0u64;
            words.fill(0);
            for (field, &value) in self.fields.iter().zip(row) {
                let value = u64::from(value);
                excess |= field.excess(value);
                field.put(value, words);
            }
            assert_eq!(excess, 0, "a value does not fit its slot");
        }
    }

    /// Packs a row that fits one word; panics as [`Packing::pack`] does.
    #[inline]
    pub(crate) fn pack_word(&self, row: &[Value]) -> u64 {
        let (mut packed, mut excess) = (0u64, 0u64);
        for (field, &value) in self.fields.iter().zip(row) {
            let value = u64::from(value);
            excess |= value >> field.bits;
            packed |= value << (field.shift & 63);
        }
        assert_eq!(excess, 0, "a value does not fit its slot");
        packed
    }

    /// Packs a row that fits two words; panics as [`Packing::pack`] does.
    #[inline]
    fn pack_two_words(&self, row: &[Value]) -> u128 {
        let (mut packed, mut excess) = (0u128, 0u64);
        for (field, &value) in self.fields.iter().zip(row) {
            excess |= u64::from(value) >> field.bits;
            packed |= u128::from(value) << (field.place() & 127);
        }
        assert_eq!(excess, 0, "a value does not fit its slot");
        packed
    }

    /// Unpacks a row again.
    #[inline]
    pub fn unpack(&self, words: &[u64], row: &mut [Value]) {
        debug_assert_eq!(row.len(), self.fields.len());
        if let [word] = words {
            for (field, value) in self.fields.iter().zip(row) {
                *value = (word.wrapping_shr(field.shift) & mask(field.bits)) as Value;
            }
        } else if let [low, high] = *words {
            let packed = u128::from(high) << 64 | u128::from(low);
            for (field, value) in self.fields.iter().zip(row) {
                *value = ((packed >> (field.place() & 127)) as u64 & mask(field.bits)) as Value;
            }
        } else {
            for (field, value) in self.fields.iter().zip(row) {
                *value = field.get(words) as Value;
            }
        }
    }

    /// Unpacks some words, which follow each other, of a row again, of which `row` is what they were before: only slots whose bits differ are looked at. `from` is the number
    /// of the first of them; `words` are all words of the row, as they are now.
    #[inline]
    pub(crate) fn unpack_changes(&self, from: usize, before: &[u64], words: &[u64], row: &mut [Value]) {
        for (word, &before) in (from..).zip(before) {
            let mut difference = words[word] ^ before;
            while difference != 0 {
                let slot = self.slot_at[word * 64 + difference.trailing_zeros() as usize] as usize;
                let field = self.fields[slot];
                row[slot] = field.get(words) as Value;
                difference &= !field.ones_in(word);
            }
        }
    }
}

/// How many bits a slot takes.
fn bits_of(slot: &Slot) -> u32 {
    slot.values.map_or(32, |values| u32::BITS - values.saturating_sub(1).leading_zeros())
}

#[inline]
fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packing(values: &[Option<u32>]) -> Packing {
        let slot = |&values: &Option<u32>| Slot { name: String::new(), values, portable: true };
        Packing::new(&Layout::new(values.iter().map(slot).collect()))
    }

    #[test]
    fn rows_come_back_whatever_their_width() {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        for case in 0..500 {
            let width = 1 + case % 40;
            let domains: Vec<Option<u32>> = (0..width)
                .map(|_| match random() % 5 {
                    0 => None,
                    1 => Some(random() % 3),
                    2 => Some(u32::MAX),
                    _ => Some(1 + random() % 300),
                })
                .collect();
            let packing = packing(&domains);
            let row: Vec<Value> =
                domains.iter().map(|domain| random().wrapping_mul(3) % domain.unwrap_or(u32::MAX).max(1)).collect();
            let mut words = vec![7; packing.words()];
            packing.pack(&row, &mut words);
            let mut back = vec![9; width];
            packing.unpack(&words, &mut back);
            assert_eq!(row, back, "case {case}");
            // From another row by what differs, in two parts.
            if words.len() > 1 {
                let other: Vec<Value> = row.iter().map(|&value| if random() % 3 == 0 { 0 } else { value }).collect();
                let (mut before, mut back) = (vec![7; words.len()], other.clone());
                packing.pack(&other, &mut before);
                let middle = random() as usize % words.len();
                packing.unpack_changes(middle, &before[middle..], &words, &mut back);
                packing.unpack_changes(0, &before[..middle], &words, &mut back);
                assert_eq!(row, back, "case {case}");
            }
        }
    }

    #[test]
    fn widths_are_exact() {
        assert_eq!(packing(&[Some(1), Some(2), Some(3), Some(256), Some(257)]).bits(), 1 + 2 + 8 + 9);
        assert_eq!(packing(&[None, None]).bytes(), 8);
        assert_eq!(packing(&[None, None, Some(1)]).words(), 1);
        assert_eq!(packing(&[]).bytes(), 0);
    }

    #[test]
    #[should_panic(expected = "does not fit")]
    fn a_value_too_large_is_a_bug() {
        packing(&[Some(4), Some(4)]).pack(&[4, 0], &mut [0]);
    }
}
