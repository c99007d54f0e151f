//! What a specification answered about a node and the labels that an implementation offers.
//!
//! Revivals and refusal testing compare what a stable state offers with every acceptance of a node. A search meets few
//! different offers beside one node and very many states, so each thread keeps the last answers: a table with one place
//! for each hash, in which a newer answer replaces an older one. What is found there was stored for the same node and
//! the same labels; nothing depends on whether it is still there.
//!
//! Cost: a look-up hashes the labels and compares them. The table takes at most about 2 MB a thread.

use trefoil_system::LabelId;

use super::subsets::NodeId;

/// Places of the table; a power of two.
const PLACES: usize = 1 << 14;
/// When more labels than this are kept, all answers are dropped.
const MOST_LABELS: usize = 1 << 18;
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Clone, Copy)]
struct Answer {
    hash: u64,
    node: NodeId,
    first: u32,
    count: u32,
    answer: u32,
}

/// See the module's text.
#[derive(Default)]
pub(crate) struct Answers {
    /// Which normal form gave the answers.
    of: u64,
    places: Vec<Option<Answer>>,
    labels: Vec<LabelId>,
}

impl Answers {
    /// The hash under which an answer is kept.
    pub(crate) fn hash(node: NodeId, offered: &[LabelId]) -> u64 {
        let start = (u64::from(node.0) + 1).wrapping_mul(MULTIPLIER);
        let mixed = offered
            .iter()
            .fold(start, |hash, label| (hash.rotate_left(23) ^ u64::from(label.0)).wrapping_mul(MULTIPLIER));
        mixed ^ mixed >> 32
    }

    /// What the normal form with this number answered, if it is known.
    pub(crate) fn find(&self, of: u64, hash: u64, node: NodeId, offered: &[LabelId]) -> Option<u32> {
        let known = (*self.places.get(hash as usize % PLACES)?)?;
        let same = self.of == of && known.hash == hash && known.node == node;
        (same && self.labels[known.first as usize..][..known.count as usize] == *offered).then_some(known.answer)
    }

    /// Keeps an answer of the normal form with this number.
    pub(crate) fn keep(&mut self, of: u64, hash: u64, node: NodeId, offered: &[LabelId], answer: u32) {
        if self.of != of || self.places.is_empty() || self.labels.len() + offered.len() > MOST_LABELS {
            self.of = of;
            self.labels.clear();
            self.places.clear();
            self.places.resize(PLACES, None);
        }
        let (first, count) = (self.labels.len() as u32, offered.len() as u32);
        self.labels.extend_from_slice(offered);
        self.places[hash as usize % PLACES] = Some(Answer { hash, node, first, count, answer });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::random::Random;

    #[test]
    fn an_answer_is_that_of_the_same_question_or_none() {
        let (mut answers, mut given, mut random) = (Answers::default(), HashMap::new(), Random::new(11));
        let mut found = 0;
        for number in 0..200_000 {
            let of = 1 + number / 50_000;
            let node = NodeId(random.below(9) as u32);
            let offered: Vec<LabelId> = (0..random.below(4)).map(|_| LabelId(random.below(60) as u32)).collect();
            let hash = Answers::hash(node, &offered);
            let known = answers.find(of, hash, node, &offered);
            assert!(
                known.is_none() || known == given.get(&(of, node, offered.clone())).copied(),
                "{node:?} {offered:?}"
            );
            found += usize::from(known.is_some());
            answers.keep(of, hash, node, &offered, number as u32);
            given.insert((of, node, offered), number as u32);
        }
        assert!(found > 20_000, "{found} answers were known");
    }
}
