//! Labels of transitions: a name with arguments, and a table that numbers them.
//!
//! One table serves a whole check: a specification and an implementation intern into the same [`Labels`], so that equal
//! labels are equal numbers and no engine ever compares text. The table only grows, and from any thread, because some
//! systems find new labels while they are explored.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};

/// The number of a label in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

impl LabelId {
    /// The internal step, `τ`.
    pub const TAU: LabelId = LabelId(0);
    /// Successful termination, `✓`.
    pub const TICK: LabelId = LabelId(1);

    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Can an observer see it?
    #[inline]
    pub fn is_visible(self) -> bool {
        self != LabelId::TAU
    }
}

/// A structured label: the name of an event, action or channel, and the values that go with it.
///
/// A label read from a file that only has text keeps that text, whole, as its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label {
    /// The name.
    pub name: Box<str>,
    /// The values.
    pub arguments: Box<[Box<str>]>,
}

impl Label {
    /// A label without arguments.
    pub fn plain(name: impl Into<Box<str>>) -> Label {
        Label { name: name.into(), arguments: Box::default() }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for argument in &self.arguments {
            write!(f, ".{argument}")?;
        }
        Ok(())
    }
}

/// The table of labels of one check. [`LabelId::TAU`] is `tau`, [`LabelId::TICK`] is `✓`.
pub struct Labels {
    table: boxcar::Vec<Label>,
    numbers: RwLock<HashMap<Label, LabelId, foldhash::fast::RandomState>>,
}

impl Default for Labels {
    fn default() -> Self {
        Labels::new()
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.table.iter().map(|(_, label)| label.to_string())).finish()
    }
}

impl Labels {
    /// A table with the two reserved labels.
    pub fn new() -> Labels {
        let labels = Labels { table: boxcar::Vec::new(), numbers: RwLock::default() };
        assert_eq!(labels.name("tau"), LabelId::TAU);
        assert_eq!(labels.name("✓"), LabelId::TICK);
        labels
    }

    /// The number of a label; a new one when it was not known.
    pub fn intern(&self, label: Label) -> LabelId {
        if let Some(&known) = self.numbers.read().unwrap_or_else(PoisonError::into_inner).get(&label) {
            return known;
        }
        let mut numbers = self.numbers.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = numbers.get(&label) {
            return known;
        }
        let id = LabelId(u32::try_from(self.table.push(label.clone())).expect("fewer than 2^32 labels"));
        numbers.insert(label, id);
        id
    }

    /// The number of a label without arguments.
    pub fn name(&self, name: &str) -> LabelId {
        self.intern(Label::plain(name))
    }

    /// The number of a label without arguments, when it is known.
    pub fn find(&self, name: &str) -> Option<LabelId> {
        let numbers = self.numbers.read().unwrap_or_else(PoisonError::into_inner);
        numbers.get(&Label::plain(name)).copied()
    }

    /// The label with this number.
    pub fn get(&self, id: LabelId) -> &Label {
        &self.table[id.index()]
    }

    /// The order of two labels by their text: the same in every run, whichever was interned first. `τ` comes before `✓`
    /// and both before all others.
    pub fn compare(&self, left: LabelId, right: LabelId) -> Ordering {
        if left == right {
            return Ordering::Equal;
        }
        let reserved = LabelId::TICK;
        match (left <= reserved, right <= reserved) {
            (false, false) => self.get(left).cmp(self.get(right)),
            _ => left.cmp(&right),
        }
    }

    /// How many labels there are, the reserved ones included.
    pub fn len(&self) -> usize {
        self.table.count()
    }

    /// Never: the reserved labels are always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Labels as text, in the order given.
    pub fn texts(&self, ids: impl IntoIterator<Item = LabelId>) -> Vec<String> {
        ids.into_iter().map(|id| self.get(id).to_string()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_labels_have_their_numbers_and_equal_labels_one_number() {
        let labels = Labels::new();
        assert_eq!(labels.name("tau"), LabelId::TAU);
        let a = labels.name("a");
        let a1 = labels.intern(Label { name: "a".into(), arguments: Box::new(["1".into()]) });
        assert_ne!(a, a1);
        assert_eq!(labels.name("a"), a);
        assert_eq!(labels.get(a1).to_string(), "a.1");
        assert_eq!(labels.len(), 4);
    }

    #[test]
    fn many_threads_agree_on_the_numbers() {
        let labels = Labels::new();
        let names: Vec<String> = (0..500).map(|i| format!("e{i}")).collect();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| names.iter().all(|name| labels.name(name).index() > 1));
            }
        });
        assert_eq!(labels.len(), 502);
        assert!(names.iter().all(|name| labels.get(labels.name(name)).to_string() == *name));
    }
}
