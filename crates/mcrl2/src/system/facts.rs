//! What a search has found out about a system: how often remembered steps were of use, and which parameters grow.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering};

use trefoil_system::Value;

use super::Model;
use super::values::Encoding;

/// What searches of a system have found out so far.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The table of remembered steps of each group, in the order of the groups. Searches that run do not count yet.
    pub tables: Vec<TableFacts>,
    /// The tables of the expressions of joined summands, all together.
    pub parts: TableFacts,
    /// The values of each parameter, in the order of the slots.
    pub parameters: Vec<ParameterFacts>,
}

/// How often remembered steps of a group were of use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableFacts {
    /// How often the group's steps were looked up.
    pub questions: u64,
    /// How often it remembered them.
    pub hits: u64,
    /// How many keys it has steps for.
    pub entries: u64,
    /// What these take.
    pub bytes: u64,
    /// Whether the table was dropped because it was seldom hit.
    pub dropped: bool,
}

/// The values of a parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterFacts {
    /// At least this many values were found.
    pub values: u64,
    /// The value that was found last, as text, when values are numbered as they are found.
    pub latest: Option<String>,
}

impl TableFacts {
    pub(super) fn add(&mut self, other: &TableFacts) {
        self.questions += other.questions;
        self.hits += other.hits;
        self.entries += other.entries;
        self.bytes += other.bytes;
        self.dropped |= other.dropped;
    }
}

/// How many values a slot was given, counted where steps are computed. Numbers of values ascend as they are found, so
/// that a number above all others of the slot is a new value.
#[derive(Debug)]
pub(super) struct Growth {
    latest: AtomicU32,
    values: AtomicU32,
}

impl Growth {
    pub(super) fn new(initial: Value) -> Growth {
        Growth { latest: AtomicU32::new(initial), values: AtomicU32::new(1) }
    }

    #[inline]
    pub(super) fn note(&self, value: Value) {
        if value > self.latest.load(Ordering::Relaxed) && self.latest.fetch_max(value, Ordering::Relaxed) < value {
            self.values.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Model {
    /// What searches have found out so far; of the widest form that a search needed.
    pub fn facts(&self) -> Facts {
        if let Some(wider) = self.wider.get() {
            return wider.facts();
        }
        let mut tables = vec![TableFacts::default(); self.plans.len()];
        let mut parts = TableFacts::default();
        for memory in self.memories.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            for (group, facts) in tables.iter_mut().enumerate() {
                facts.add(&memory.table_facts(group));
            }
            parts.add(&memory.part_facts());
        }
        let parameters = self.encodings.iter().zip(&self.growth).map(|(encoding, growth)| match encoding {
            Encoding::Listed(listed) => ParameterFacts { values: listed.values().len() as u64, latest: None },
            Encoding::Met(_) => ParameterFacts {
                values: growth.values.load(Ordering::Relaxed).into(),
                latest: Some(encoding.text(growth.latest.load(Ordering::Relaxed))),
            },
        });
        Facts { tables, parts, parameters: parameters.collect() }
    }
}
