//! The same properties by a search that keeps no states: what it finds is real, what it does not find is not proved.

use trefoil_control::Stopped;
use trefoil_explore::{Finding, ProbeEnd, Sighting, Traces, probe};
use trefoil_promela::FaultKind;
use trefoil_system::{LabelId, System, TakenStep};

use super::Script;
use super::search::{Answers, Property, Spotted};
use crate::Job;
use crate::check::{CheckOptions, Coverage, Store};

/// Where a counterexample ends: the number of a state, and which of its steps is wrong, with its label.
type Seen = (u64, Option<(usize, LabelId)>);

/// What is said of a property for which no counterexample was found.
pub(super) fn probably(coverage: &Coverage, states: u64) -> String {
    let missed = match coverage.expected_omissions {
        missed if missed < 0.001 => format!("{missed:.0e}"),
        missed => format!("{missed:.3}"),
    };
    format!(
        "probably holds: {states} states visited and not kept ({}, {:.1} bits of the table for each); about {missed} states are expected to be missed",
        coverage.store, coverage.hash_factor
    )
}

impl Script {
    /// The answers of a search without states that was made, or of a new one.
    pub(super) fn probed_answers(
        &mut self,
        property: Property,
        options: &CheckOptions,
        job: &Job,
    ) -> Result<Answers, Stopped> {
        if let Some((store, known)) = &self.probed
            && *store == options.store
        {
            return Ok(known.clone());
        }
        let (traces, store) = match options.store {
            Store::Bitstate { bytes } => (Traces::Bitstate { bytes }, "bitstate"),
            _ => (Traces::HashCompact, "hash-compact"),
        };
        loop {
            job.control.check()?;
            job.control.progress().begin("searching", 0);
            let model = &self.model;
            let first_fault = model.first_fault_label();
            let mut seen: [Option<Seen>; 3] = [None; 3];
            let mut broken = 0;
            let probe = probe(model, traces, &job.control, &mut |state: &Sighting<'_>| {
                if model.needs_room() {
                    return Finding::State;
                }
                let mut over = false;
                let mut see = |what: Property, step| {
                    seen[what as usize].get_or_insert((state.number, step));
                    over |= !options.keep_going && what == property;
                };
                if state.labels.is_empty() && !model.is_valid_end(state.row) {
                    see(Property::EndStates, None);
                }
                for (place, &label) in state.labels.iter().enumerate().filter(|(_, label)| label.0 >= first_fault.0) {
                    let Some(fault) = model.fault(label) else { continue };
                    broken += u64::from(!fault.kind.goes_on());
                    let what = if fault.kind == FaultKind::Trace { Property::Trace } else { Property::Assertions };
                    see(what, Some((place, label)));
                }
                if over { Finding::State } else { Finding::Nothing }
            });
            if model.needs_room() {
                self.model = model.with_more_room();
                continue;
            }
            if let ProbeEnd::Stopped(stopped) = probe.end {
                return Err(stopped);
            }
            let complete = probe.end == ProbeEnd::Exhausted;
            let mut answers = Answers {
                states: probe.states,
                transitions: probe.transitions + 1 - broken,
                depth: probe.depth,
                bytes: probe.coverage.bytes,
                found: [None, None, None],
                complete,
                unreached: Vec::new(),
                symmetry: None,
                notes: Vec::new(),
                coverage: Some(Coverage {
                    store,
                    table_bytes: probe.coverage.bytes,
                    hash_factor: probe.coverage.hash_factor,
                    filled: probe.coverage.filled,
                    expected_omissions: probe.coverage.expected_omissions,
                }),
            };
            for (index, seen) in seen.into_iter().enumerate() {
                let Some((number, step)) = seen.filter(|_| complete || index == property as usize) else { continue };
                job.control.progress().begin("searching for the run", 0);
                let mut path = probe.path(model, number, &job.control)?;
                if let Some((place, label)) = step {
                    let mut at = 0;
                    let mut row = None;
                    model.explorer().successors(path.last(), &mut |step| {
                        if at == place {
                            row = Some(step.row.to_vec());
                        }
                        at += 1;
                    });
                    path.steps.extend(row.map(|row| TakenStep { label, row }));
                }
                let evidence = self.evidence(&path, step.map(|(_, label)| label), job)?;
                answers.found[index] = Some(Spotted { evidence });
            }
            if complete {
                self.probed = Some((options.store, answers.clone()));
            }
            return Ok(answers);
        }
    }
}
