//! A system that remembers the steps of each group by the values that the group reads.
//!
//! The idea is that of LTSmin's local transition caching (Blom, van de Pol, Weber, *LTSmin: distributed and symbolic
//! reachability*, 2010): where a group reads few slots, far fewer combinations of their values occur than states, and
//! its steps are computed once for each. Steps are delivered group by group, so their order is not that of the system
//! itself.
//!
//! Invariant: an entry is made only from a walk that ended with `Ok`; a walk that was cut leaves no entry.
//!
//! Cost: a look-up for each group and row, the entries in memory, one table for each explorer.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::Control;

use crate::action::Action;
use crate::cut::{Cut, Walk};
use crate::labels::{LabelId, Labels};
use crate::layout::{Layout, Value};
use crate::local::{LocalGroup, LocalSink, LocalStep};
use crate::marks::{Mark, MarkId};
use crate::transitions::{Change, Explorer, Group, Observation, Observations, Sink, Step, System, Written};
use crate::wrapper::the_system_itself;

/// A system whose groups' steps are remembered.
pub struct Cached<S> {
    system: S,
}

impl<S: System> Cached<S> {
    /// Wraps a system.
    pub fn new(system: S) -> Cached<S> {
        Cached { system }
    }
}

impl<S: System> System for Cached<S> {
    the_system_itself!();

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(CachedExplorer {
            system: &self.system,
            control,
            inner: self.system.explorer(control),
            groups: None,
            reads: Vec::new(),
            next: Vec::new(),
            changes: Vec::new(),
        })
    }
}

struct CachedExplorer<'a> {
    system: &'a dyn System,
    control: &'a Control,
    inner: Box<dyn Explorer + 'a>,
    groups: Option<Vec<Remembered>>,
    reads: Vec<Value>,
    next: Vec<Value>,
    changes: Vec<Change>,
}

/// A group and its steps by what it reads.
struct Remembered {
    group: LocalGroup,
    outputs: Box<[u32]>,
    entries: HashMap<Box<[Value]>, Entry, foldhash::fast::FixedState>,
}

/// The steps for one combination of values: labels, and for each step the values and the flags of the outputs.
#[derive(Default)]
struct Entry {
    labels: Vec<LabelId>,
    values: Vec<Value>,
    written: Vec<bool>,
}

impl Remembered {
    /// The steps for these values, computed now if they were not known.
    fn entry(&mut self, reads: &[Value], explorer: &mut dyn Explorer) -> Result<&Entry, Cut> {
        // The second look-up is the price of returning a reference.
        if !self.entries.contains_key(reads) {
            let mut entry = Entry::default();
            explorer.local_successors(&self.group, reads, &mut |step| {
                entry.labels.push(step.label);
                entry.values.extend_from_slice(step.values);
                entry.written.extend_from_slice(step.written);
                Ok(())
            })?;
            self.entries.insert(reads.into(), entry);
        }
        Ok(&self.entries[reads])
    }
}

impl Entry {
    fn steps(&self, outputs: usize) -> impl Iterator<Item = LocalStep<'_>> {
        self.labels.iter().enumerate().map(move |(index, &label)| LocalStep {
            label,
            values: &self.values[index * outputs..][..outputs],
            written: &self.written[index * outputs..][..outputs],
        })
    }
}

impl CachedExplorer<'_> {
    fn groups(&mut self) -> Result<Vec<Remembered>, Cut> {
        if let Some(groups) = self.groups.take() {
            return Ok(groups);
        }
        let remember = |group: LocalGroup| {
            let outputs = group.outputs.iter().map(|slot| slot as u32).collect();
            Remembered { group, outputs, entries: HashMap::default() }
        };
        Ok(LocalGroup::all(self.system, self.control)?.into_iter().map(remember).collect())
    }

    fn walk(&mut self, groups: &mut [Remembered], row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let CachedExplorer { inner, reads, next, changes, .. } = self;
        next.clear();
        next.extend_from_slice(row);
        for remembered in groups {
            remembered.group.inputs.values(row, reads);
            let id = remembered.group.id;
            let outputs = remembered.outputs.clone();
            for step in remembered.entry(reads, &mut **inner)?.steps(outputs.len()) {
                changes.clear();
                for (at, &slot) in outputs.iter().enumerate() {
                    if step.written[at] {
                        changes.push((slot, row[slot as usize]));
                        next[slot as usize] = step.values[at];
                    }
                }
                sink(Step {
                    group: id,
                    label: step.label,
                    row: next,
                    written: Written::Slots(changes),
                    class: 0,
                    agents: &[],
                    passes: false,
                })?;
                for &(slot, old) in changes.iter() {
                    next[slot as usize] = old;
                }
            }
        }
        Ok(())
    }
}

impl Explorer for CachedExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let mut groups = self.groups()?;
        let walk = self.walk(&mut groups, row, sink);
        self.groups = Some(groups);
        walk
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        let mut groups = self.groups()?;
        let remembered = &mut groups[group.id.index()];
        let outputs = remembered.outputs.len();
        let walk = remembered.entry(reads, &mut *self.inner).and_then(|entry| entry.steps(outputs).try_for_each(sink));
        self.groups = Some(groups);
        walk
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        self.inner.mark(mark, reads)
    }

    fn undefined(&mut self, proposition: u32, row: &[Value]) -> Cut {
        self.inner.undefined(proposition, row)
    }

    fn observe(&mut self, row: &[Value]) -> Result<Observation, Cut> {
        self.inner.observe(row)
    }

    fn accepts_less(
        &mut self,
        row: &[Value],
        enough: &mut dyn FnMut(&[LabelId]) -> bool,
    ) -> Result<Option<Vec<LabelId>>, Cut> {
        self.inner.accepts_less(row, enough)
    }
}
