//! Rows packed to bits.
//!
//! A slot with `n` values takes as many bits as `n - 1` has, a slot whose values are not known beforehand takes 32, and
//! slots are adjacent, without padding; a row is stored in the bytes that its bits fill. In memory under work, a packed
//! row is a few 64-bit words, least significant first, unused bits zero, so that two rows are equal exactly when their
//! words are. All shifts are computed once. Most systems fit one word or two, which have their own loops.
//!
//! Where it is known that a slot takes fewer values than it may ([`crate::fit`]), it gets fewer bits, and a constant
//! slot none: a value is packed as its exclusive or with a base value. Behind the slots there may be free bits. A slot
//! that turns out to be too narrow gets more of its bits there ([`Packing::stretched`]), and rows that were packed
//! before are packed in the new way, too, since these bits are zero.

use trefoil_system::{Layout, Slot, Value};

/// What a slot is packed into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Width {
    /// The value that is packed to zero.
    pub(crate) base: Value,
    /// How many of its bits vary.
    pub(crate) bits: u32,
}

/// Where a slot lies in a packed row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    word: u32,
    high_word: u32,
    base: Value,
    pub(crate) shift: u8,
    bits: u8,
    /// How many bits are there; the others, if any, are in another place.
    low: u8,
    high_shift: u8,
}

impl Field {
    /// A field that begins at a bit of the row; bits that the first word cannot hold are in the next.
    fn at(place: usize, width: Width) -> Field {
        let (word, shift, bits) = ((place / 64) as u32, (place % 64) as u8, width.bits as u8);
        let low = bits.min(64 - shift);
        Field { word, shift, bits, base: width.base, low, high_word: word + 1, high_shift: 0 }
    }

    /// The bit of the row that it begins at.
    #[inline]
    fn place(self) -> u32 {
        self.word * 64 + u32::from(self.shift)
    }

    /// What a value is packed to.
    #[inline]
    pub(crate) fn packed(self, value: Value) -> u64 {
        u64::from(value ^ self.base)
    }

    /// The bits of a packed value that do not fit.
    #[inline]
    pub(crate) fn excess(self, packed: u64) -> u64 {
        packed >> self.bits
    }

    /// Writes a packed value that fits over zeros.
    #[inline]
    pub(crate) fn put(self, packed: u64, words: &mut [u64]) {
        words[self.word as usize] |= (packed & mask(self.low)) << self.shift;
        if self.is_split() {
            words[self.high_word as usize] |= packed >> self.low << self.high_shift;
        }
    }

    /// The value that is stored there.
    #[inline]
    pub(crate) fn get(self, words: &[u64]) -> Value {
        let mut found = words[self.word as usize] >> self.shift;
        if self.is_split() {
            found = found & mask(self.low) | words[self.high_word as usize] >> self.high_shift << self.low;
        }
        self.unpacked(found)
    }

    /// The value whose bits are the lowest of these.
    #[inline]
    fn unpacked(self, found: u64) -> Value {
        (found & mask(self.bits)) as Value ^ self.base
    }

    /// Its bits in one of its words.
    #[inline]
    fn ones_in(self, word: usize) -> u64 {
        let mut ones = if word == self.word as usize { mask(self.low) << self.shift } else { 0 };
        if self.is_split() && word == self.high_word as usize {
            ones |= mask(self.bits - self.low) << self.high_shift;
        }
        ones
    }

    /// The first of the words that it lies in.
    #[inline]
    pub(crate) fn first_word(self) -> usize {
        self.word as usize
    }

    /// The word of its other place, where it has one.
    #[inline]
    pub(crate) fn other_word(self) -> Option<usize> {
        self.is_split().then_some(self.high_word as usize)
    }

    /// Does it lie in two places?
    #[inline]
    fn is_split(self) -> bool {
        self.low < self.bits
    }

    /// Writes a packed value that fits over another.
    #[inline]
    pub(crate) fn set(self, packed: u64, words: &mut [u64]) {
        let (word, ones) = (&mut words[self.word as usize], mask(self.low));
        *word = *word & !(ones << self.shift) | (packed & ones) << self.shift;
        if self.is_split() {
            let (word, ones) = (&mut words[self.high_word as usize], mask(self.bits - self.low));
            *word = *word & !(ones << self.high_shift) | packed >> self.low << self.high_shift;
        }
    }

    /// Writes zeros.
    pub(crate) fn clear(self, words: &mut [u64]) {
        self.set(0, words);
    }
}

/// How the rows of one layout are packed.
#[derive(Clone, Debug)]
pub struct Packing {
    fields: Vec<Field>,
    bits: usize,
    /// How many of the bits are in use.
    used: usize,
    /// Does a slot lie in two places that are not adjacent?
    is_stretched: bool,
    /// The slot of each bit, when a row has more words than one, or may be stretched; bits that are no slot's have any.
    slot_at: Vec<u32>,
}

impl Packing {
    /// The packing of a layout.
    pub fn new(layout: &Layout) -> Packing {
        Packing::of(&declared(layout))
    }

    /// The packing of slots of these widths.
    pub(crate) fn of(widths: &[Width]) -> Packing {
        Packing::skipping(widths, |_, _| 0)
    }

    /// The same, but a part that would begin in the rest of a word and end in another begins with a word: parts that
    /// look alike then have words that are equal. `parts`: the slots where they begin.
    pub(crate) fn aligned(widths: &[Width], parts: &[usize]) -> Packing {
        let mut next = parts.iter().copied().zip(parts.iter().copied().skip(1).chain([widths.len()])).peekable();
        Packing::skipping(widths, |slot, bits| {
            let Some((_, end)) = next.next_if(|&(begin, _)| begin == slot) else { return 0 };
            let size: usize = widths[slot..end].iter().map(|width| width.bits as usize).sum();
            let rest = bits.next_multiple_of(64) - bits;
            if size > rest { rest } else { 0 }
        })
    }

    /// The packing of slots of these widths; `skipped` says for each slot how many bits are left free before it, given
    /// the number of bits in use.
    fn skipping(widths: &[Width], mut skipped: impl FnMut(usize, usize) -> usize) -> Packing {
        let mut bits = 0usize;
        let fields = widths
            .iter()
            .enumerate()
            .map(|(at, width)| {
                bits += skipped(at, bits);
                // A slot with one value takes no bits; its place is the first word, which always exists.
                let at = if width.bits == 0 { 0 } else { bits };
                bits += width.bits as usize;
                Field::at(at, *width)
            })
            .collect();
        let mut packing = Packing { fields, bits, used: bits, is_stretched: false, slot_at: Vec::new() };
        if packing.words() > 1 {
            packing.find_slots();
        }
        packing
    }

    /// Notes the slot of each bit.
    fn find_slots(&mut self) {
        self.slot_at.clear();
        self.slot_at.resize(self.words() * 64, 0);
        for (slot, field) in (0..).zip(&self.fields) {
            let high = field.high_word as usize * 64 + usize::from(field.high_shift);
            self.slot_at[field.place() as usize..][..usize::from(field.low)].fill(slot);
            if field.is_split() {
                self.slot_at[high..][..usize::from(field.bits - field.low)].fill(slot);
            }
        }
    }

    /// The same with free bits behind the slots, so that there are at least this many bits.
    pub(crate) fn with_room(mut self, bits: usize) -> Packing {
        self.bits = self.bits.max(bits);
        self.find_slots();
        self
    }

    /// The same with slots of these widths, none of which is less than before, for rows that are packed already; `None`
    /// when there are not enough free bits.
    pub(crate) fn stretched(&self, widths: &[Width]) -> Option<Packing> {
        let mut packing = self.clone();
        for (field, width) in packing.fields.iter_mut().zip(widths) {
            debug_assert!(field.base == width.base && u32::from(field.bits) <= width.bits);
            let more = width.bits as usize - usize::from(field.bits);
            if more == 0 {
                continue;
            }
            let place = packing.used;
            packing.used += more;
            if packing.used > packing.bits {
                return None;
            }
            if field.bits == 0 {
                *field = Field::at(place, *width);
                continue;
            }
            if field.is_split() || place / 64 != (packing.used - 1) / 64 {
                return None;
            }
            (field.high_word, field.high_shift) = ((place / 64) as u32, (place % 64) as u8);
            field.bits = width.bits as u8;
            packing.is_stretched = true;
        }
        packing.find_slots();
        Some(packing)
    }

    /// Does a slot lie in two places that are not adjacent?
    #[inline]
    pub(crate) fn is_stretched(&self) -> bool {
        self.is_stretched
    }

    /// The row whose words are zero.
    pub(crate) fn least_row(&self) -> Vec<Value> {
        self.fields.iter().map(|field| field.base).collect()
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

    /// How many words a packed row takes in memory; at least one.
    pub fn words(&self) -> usize {
        self.bits.div_ceil(64).max(1)
    }

    /// Packs a row into `words`, which is as long as [`Packing::words`] says.
    ///
    /// # Panics
    ///
    /// When a value is not below its slot's number of values rounded up to a power of two: the system is wrong, and
    /// going on would confuse one state with another.
    #[inline]
    pub fn pack(&self, row: &[Value], words: &mut [u64]) {
        debug_assert_eq!(row.len(), self.fields.len());
        if let [word] = words
            && !self.is_stretched
        {
            *word = self.pack_word(row);
        } else if let [low, high] = words
            && !self.is_stretched
        {
            let packed = self.pack_two_words(row);
            (*low, *high) = (packed as u64, (packed >> 64) as u64);
        } else {
            let mut excess = 0u64;
            words.fill(0);
            for (field, &value) in self.fields.iter().zip(row) {
                let packed = field.packed(value);
                excess |= field.excess(packed);
                field.put(packed, words);
            }
            assert_eq!(excess, 0, "a value does not fit its slot");
        }
    }

    /// Packs a row that fits one word; panics as [`Packing::pack`] does.
    #[inline]
    pub(crate) fn pack_word(&self, row: &[Value]) -> u64 {
        let (mut packed, mut excess) = (0u64, 0u64);
        for (field, &value) in self.fields.iter().zip(row) {
            let value = field.packed(value);
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
            let value = field.packed(value);
            excess |= value >> field.bits;
            packed |= u128::from(value) << (field.place() & 127);
        }
        assert_eq!(excess, 0, "a value does not fit its slot");
        packed
    }

    /// Unpacks a row again.
    #[inline]
    pub fn unpack(&self, words: &[u64], row: &mut [Value]) {
        debug_assert_eq!(row.len(), self.fields.len());
        if let [word] = words
            && !self.is_stretched
        {
            for (field, value) in self.fields.iter().zip(row) {
                *value = field.unpacked(word.wrapping_shr(u32::from(field.shift)));
            }
        } else if let [low, high] = *words
            && !self.is_stretched
        {
            let packed = u128::from(high) << 64 | u128::from(low);
            for (field, value) in self.fields.iter().zip(row) {
                *value = field.unpacked((packed >> (field.place() & 127)) as u64);
            }
        } else {
            for (field, value) in self.fields.iter().zip(row) {
                *value = field.get(words);
            }
        }
    }

    /// Re-unpacks a range of words into `row`, which holds their previous contents: only slots whose bits differ are
    /// read. `from` is the number of the first word of the range; `words` are all words of the row, as they are now.
    #[inline]
    pub(crate) fn unpack_changes(&self, from: usize, before: &[u64], words: &[u64], row: &mut [Value]) {
        self.changes(from, before, words, |slot, value| row[slot] = value);
    }

    /// Calls `with` for the slots whose bits differ, and their values, some more than once; arguments are those of
    /// [`Packing::unpack_changes`].
    #[inline]
    pub(crate) fn changes(&self, from: usize, before: &[u64], words: &[u64], mut with: impl FnMut(usize, Value)) {
        for (word, &before) in (from..).zip(before) {
            let mut difference = words[word] ^ before;
            while difference != 0 {
                let slot = self.slot_at[word * 64 + difference.trailing_zeros() as usize] as usize;
                let field = self.fields[slot];
                with(slot, field.get(words));
                difference &= !field.ones_in(word);
            }
        }
    }

    /// Writes one value over another.
    ///
    /// # Panics
    ///
    /// As [`Packing::pack`] does.
    #[inline]
    pub(crate) fn set(&self, slot: usize, value: Value, words: &mut [u64]) {
        let field = self.fields[slot];
        let packed = field.packed(value);
        assert_eq!(field.excess(packed), 0, "a value does not fit its slot");
        field.set(packed, words);
    }

    /// The first slot in which two packed rows differ, and its values.
    pub fn first_difference(&self, left: &[u64], right: &[u64]) -> Option<(usize, Value, Value)> {
        let values = |slot: usize| (slot, self.fields[slot].get(left), self.fields[slot].get(right));
        if self.is_stretched || !self.knows_slots() {
            return (0..self.fields.len()).map(values).find(|(_, one, other)| one != other);
        }
        // Slots ascend with their bits.
        let differs = |(word, (one, other)): (usize, (&u64, &u64))| {
            (one != other).then(|| word * 64 + (one ^ other).trailing_zeros() as usize)
        };
        let bit = left.iter().zip(right).enumerate().find_map(differs)?;
        Some(values(self.slot_at[bit] as usize))
    }

    /// Is the slot of each bit known, so that differing words identify differing slots?
    pub(crate) fn knows_slots(&self) -> bool {
        !self.slot_at.is_empty()
    }
}

/// The widths that the slots of a layout need for all their possible values.
pub(crate) fn declared(layout: &Layout) -> Vec<Width> {
    let bits = |slot: &Slot| slot.values.count().map_or(32, |values| bits_of(values.saturating_sub(1)));
    layout.slots().iter().map(|slot| Width { base: 0, bits: bits(slot) }).collect()
}

/// How many bits a value takes.
pub(crate) fn bits_of(value: Value) -> u32 {
    u32::BITS - value.leading_zeros()
}

#[inline]
fn mask(bits: u8) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packing(values: &[Option<u32>]) -> Packing {
        let slot = |values: &Option<u32>| values.map_or_else(|| Slot::word(""), |values| Slot::bounded("", values));
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
            let other: Vec<Value> = row.iter().map(|&value| if random() % 3 == 0 { 0 } else { value }).collect();
            let mut before = vec![7; words.len()];
            packing.pack(&other, &mut before);
            let first = (0..width).find(|&slot| row[slot] != other[slot]).map(|slot| (slot, row[slot], other[slot]));
            assert_eq!(packing.first_difference(&words, &before), first, "case {case}");
            // From another row by what differs, in two parts.
            if words.len() > 1 {
                let mut back = other.clone();
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
