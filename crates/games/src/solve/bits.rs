//! Sets of vertices as bit vectors.
//!
//! Cost: a bit a vertex; an operation on two sets touches every word of both.

use super::arena::VertexSet;
use super::game::Vertex;

/// A set of vertices of one game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    words: Box<[u64]>,
}

impl Bits {
    /// The empty set, for a game of this many vertices.
    pub fn none(vertices: usize) -> Bits {
        Bits { words: vec![0; vertices.div_ceil(64)].into_boxed_slice() }
    }

    /// The set of all vertices of such a game.
    pub fn all(vertices: usize) -> Bits {
        let mut words = vec![u64::MAX; vertices.div_ceil(64)].into_boxed_slice();
        if let Some(last) = words.last_mut()
            && !vertices.is_multiple_of(64)
        {
            *last = (1 << (vertices % 64)) - 1;
        }
        Bits { words }
    }

    /// Those of the vertices for which something holds.
    pub fn of(vertices: usize, holds: impl Fn(Vertex) -> bool) -> Bits {
        let mut set = Bits::none(vertices);
        (0..vertices as Vertex).filter(|&vertex| holds(vertex)).for_each(|vertex| set.insert(vertex));
        set
    }

    /// Is the vertex in the set?
    #[inline]
    pub fn contains(&self, vertex: Vertex) -> bool {
        self.words[vertex as usize / 64] >> (vertex % 64) & 1 == 1
    }

    /// Adds a vertex.
    #[inline]
    pub fn insert(&mut self, vertex: Vertex) {
        self.words[vertex as usize / 64] |= 1 << (vertex % 64);
    }

    /// Removes a vertex.
    #[inline]
    pub fn remove(&mut self, vertex: Vertex) {
        self.words[vertex as usize / 64] &= !(1 << (vertex % 64));
    }

    /// Its vertices, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Vertex> + Clone + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut word = word;
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros())?;
                word &= word - 1;
                Some(at as Vertex * 64 + bit)
            })
        })
    }

    /// How many vertices it has.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Its least vertex.
    pub fn first(&self) -> Option<Vertex> {
        self.iter().next()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.words.len() * 8
    }
}

impl VertexSet for Bits {
    fn is_empty(&self) -> bool {
        Bits::is_empty(self)
    }

    fn unite(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    fn intersect(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    fn subtract(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    fn is_subset(&self, other: &Bits) -> bool {
        self.words.iter().zip(&other.words).all(|(word, other)| word & !other == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_do_what_sets_do() {
        let mut one = Bits::of(130, |vertex| vertex.is_multiple_of(2));
        let other = Bits::of(130, |vertex| vertex.is_multiple_of(3));
        assert_eq!(one.len(), 65);
        assert!(!one.is_subset(&other));
        one.intersect(&other);
        assert_eq!(one.iter().take(3).collect::<Vec<_>>(), [0, 6, 12]);
        assert!(one.is_subset(&other));
        one.subtract(&other);
        assert!(one.is_empty());
        one.unite(&other);
        assert_eq!(one, other);
        assert_eq!(Bits::all(130).len(), 130);
        assert_eq!(other.first(), Some(0));
    }
}
