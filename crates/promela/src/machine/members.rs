//! Sets of the processes of a state, by their positions.
//!
//! Most models have at most 64 processes, and then a set is a word: searches compute several in each state.

/// How many words there are at most, for 64 positions each.
pub(super) const MOST_WORDS: usize = 4;

/// Processes of a state, by their positions: at most 64 for each word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Members<const WORDS: usize = MOST_WORDS>([u64; WORDS]);

impl<const WORDS: usize> Default for Members<WORDS> {
    fn default() -> Self {
        Members([0; WORDS])
    }
}

impl Members {
    /// The same in fewer words, where positions are fewer.
    #[inline]
    pub(super) fn narrow<const WORDS: usize>(&self) -> Members<WORDS> {
        let mut narrow = Members::default();
        narrow.0.copy_from_slice(&self.0[..WORDS]);
        narrow
    }
}

impl<const WORDS: usize> Members<WORDS> {
    #[inline]
    pub(super) fn insert(&mut self, position: usize) {
        self.0[position / 64] |= 1 << (position % 64);
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    #[inline]
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
        self
    }

    #[inline]
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
        self
    }

    /// Those that are not in another set.
    #[inline]
    pub(super) fn without(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= !other);
        self
    }

    /// Takes out the one with the highest position.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<usize> {
        for (at, word) in self.0.iter_mut().enumerate().rev() {
            if *word != 0 {
                let bit = 63 - word.leading_zeros() as usize;
                *word &= !(1 << bit);
                return Some(64 * at + bit);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_out_from_the_highest_position_on() {
        let (mut some, mut others): (Members, Members) = (Members::default(), Members::default());
        [0, 63, 64, 255].into_iter().for_each(|position| some.insert(position));
        [63, 100].into_iter().for_each(|position| others.insert(position));
        assert_eq!((some.len(), some.and(&others).len(), some.or(&others).len()), (4, 1, 5));
        let mut rest = some.without(&others);
        assert_eq!(std::iter::from_fn(|| rest.pop()).collect::<Vec<usize>>(), [255, 64, 0]);
        assert!(rest.is_empty() && !some.is_empty());
        let mut narrow = some.narrow::<1>();
        assert_eq!((narrow.len(), narrow.pop(), narrow.pop(), narrow.pop()), (2, Some(63), Some(0), None));
    }
}
