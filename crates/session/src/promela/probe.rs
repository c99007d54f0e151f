//! The same properties by a search that keeps no states: what it finds is real, what it does not find is not proved.

use trefoil_explore::{Finding, ProbeEnd, Sighting, Traces, probe};
use trefoil_promela::FaultKind;
use trefoil_system::{Cut, LabelId, System, TakenStep};

use super::Script;
use super::search::{Answers, Property, Spotted};
use crate::Job;
use crate::check::{CheckOptions, Coverage, Store};

/// Where a counterexample ends: the number of a state, and which of its steps is wrong, with its label.
type Seen = (u64, Option<(usize, LabelId)>);

/// The share of missed states above which a search says nothing about what holds.
const MUCH: f64 = 0.01;

/// What is said of a property for which no counterexample was found.
pub(super) fn quality(coverage: &Coverage, states: u64) -> String {
    let missed = coverage.expected_omissions;
    let share = missed / (states as f64 + missed);
    let bits = match coverage.hash_factor {
        few if few < 10.0 => format!("{few:.1}"),
        many => rounded(many).to_string(),
    };
    let visited =
        format!("{states} states visited and not kept ({}, {bits} bits of the table for each)", coverage.store);
    if missed < 0.5 {
        format!("probably holds: {visited}; most likely no state was missed")
    } else if share <= MUCH {
        format!("probably holds: {visited}; about {} more were probably missed", rounded(missed))
    } else {
        let percent = ((share * 100.0).round() as u64).clamp(1, 99);
        let missed = rounded(missed);
        format!(
            "nothing was found, but too much was missed to say more: {visited}; about {missed} more, {percent} % of all that were met, were probably missed. A larger table misses less"
        )
    }
}

/// A number with two digits that mean something.
fn rounded(number: f64) -> u64 {
    let mut scale = 1.0;
    while number / scale >= 100.0 {
        scale *= 10.0;
    }
    ((number / scale).round() * scale) as u64
}

impl Script {
    /// The answers of a search without states that was made, or of a new one.
    pub(super) fn probed_answers(
        &mut self,
        property: Property,
        options: &CheckOptions,
        job: &Job,
    ) -> Result<Answers, Cut> {
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
            let model = &*self.model;
            let first_fault = model.first_fault_label();
            let mut seen: [Option<Seen>; 3] = [None; 3];
            let mut broken = 0;
            let probe = probe(model, traces, &job.control, &mut |state: &Sighting<'_>| {
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
            let complete = match probe.end {
                ProbeEnd::Exhausted => true,
                ProbeEnd::Found => false,
                ProbeEnd::Cut(Cut::Outgrown) => {
                    self.model = model.wider().ok_or(Cut::Outgrown)?.clone();
                    continue;
                }
                ProbeEnd::Cut(cut) => return Err(cut),
            };
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
                    model.explorer(&job.control).successors(path.last(), &mut |step| {
                        if at == place {
                            row = Some(step.row.to_vec());
                        }
                        at += 1;
                        Ok(())
                    })?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_sure_as_the_numbers() {
        let said = |expected_omissions, hash_factor| {
            let coverage = Coverage { store: "bitstate", table_bytes: 8, hash_factor, filled: 0.5, expected_omissions };
            quality(&coverage, 1000)
        };
        assert!(said(0.00003, 210526.3).contains("210000 bits"), "{}", said(0.00003, 210526.3));
        assert!(
            said(0.1, 200.0).starts_with("probably holds: 1000 states")
                && said(0.1, 200.0).ends_with("no state was missed")
        );
        assert!(said(7.4, 30.0).ends_with("about 7 more were probably missed"), "{}", said(7.4, 30.0));
        let much = said(1234.5, 2.04);
        assert!(!much.contains("probably holds") && much.contains("about 1200 more, 55 % of all"), "{much}");
        assert!(much.contains("2.0 bits"), "{much}");
    }
}
