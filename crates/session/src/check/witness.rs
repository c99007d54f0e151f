//! Witnesses in words: what every component did, in which states it was, and what it could do at the end.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_cspm::process::{Compiler, Machine, Operator};
use trefoil_lts::Lts;
use trefoil_source::{ReportedPlace, Sources, Span};
use trefoil_system::replay::{expected_after, needed_observations};
use trefoil_system::{Cut, Failure, Label, LabelId, Labels, Model, Path, TakenStep, Value, Witness};

use super::counterexample::{self, TAU, TICK};
use super::report::{Counterexample, Evidence, Finding, Observed, OperatorRow, Part, Run, Step};

/// Puts the witnesses of one machine into words.
pub(crate) struct Words<'a> {
    compiler: &'a mut Compiler,
    machine: &'a Machine,
    sources: &'a Sources,
    control: &'a Control,
    labels: Arc<Labels>,
    /// States that were described before: a run visits few of them many times.
    states: HashMap<(usize, Value), Arc<str>>,
    /// Where components take steps.
    places: HashMap<(usize, Value, LabelId), Option<ReportedPlace>>,
    /// The texts of the events that were mentioned, by their numbers.
    events: BTreeMap<u32, String>,
    numbers: HashMap<String, u32>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(
        compiler: &'a mut Compiler,
        machine: &'a Machine,
        sources: &'a Sources,
        control: &'a Control,
    ) -> Words<'a> {
        let labels = compiler.labels().clone();
        let mut words = Words {
            compiler,
            machine,
            sources,
            control,
            labels,
            states: HashMap::new(),
            places: HashMap::new(),
            events: BTreeMap::new(),
            numbers: HashMap::new(),
        };
        words.event(LabelId::TAU);
        words.event(LabelId::TICK);
        words
    }

    /// The events that were mentioned.
    pub(super) fn into_events(self) -> BTreeMap<u32, String> {
        self.events
    }

    /// The evidence in FDR's form.
    pub(super) fn counterexample(&self, evidence: &Evidence, specification: Option<&str>) -> Counterexample {
        let number = |event: &str| self.numbers.get(event).copied().unwrap_or(0);
        counterexample::counterexample(evidence, specification, &number)
    }

    /// Why a check fails.
    pub(super) fn evidence(
        &mut self,
        witness: &Witness,
        process: &str,
        specification: Option<(&Lts, Model)>,
    ) -> Result<Evidence, Cut> {
        // The refusals on the way that the witness needs.
        let observed = match specification {
            Some((lts, model)) => needed_observations(lts, &*self.machine.network, model, witness, self.control)?,
            None => Vec::new(),
        };
        let (finding, paths, cycle, accepted) = match witness {
            Witness::Path { path, failure } => {
                let (finding, accepted) = match failure {
                    Failure::Event => {
                        let event = path.trace().last().unwrap_or(LabelId::TAU);
                        let (last, before) = observed.split_last().map_or((None, &[][..]), |(l, b)| (Some(l), b));
                        let offered = last.and_then(|last| last.accepted.as_deref());
                        let allowed = match specification {
                            Some((lts, _)) => expected_after(lts, before, offered, self.control)?.events,
                            None => Vec::new(),
                        };
                        let offered = offered.map(|labels| self.set(labels));
                        (Finding::Event { event: self.event(event), offered, allowed: self.set(&allowed) }, None)
                    }
                    Failure::Acceptance(accepted) => {
                        let allowed = match specification {
                            Some((lts, _)) => expected_after(lts, &observed, None, self.control)?.minimal(None),
                            None => Vec::new(),
                        };
                        let allowed = allowed.iter().map(|set| self.set(set)).collect();
                        (Finding::Acceptance { accepted: self.set(accepted), allowed }, Some(accepted.clone()))
                    }
                    Failure::Deadlock => (Finding::Deadlock, Some(Vec::new())),
                    Failure::Missing(event) => (Finding::MissingTrace { event: self.event(*event) }, None),
                    Failure::Refusal { event, accepted } => {
                        (Finding::Refusal { event: self.event(*event) }, Some(accepted.clone()))
                    }
                };
                (finding, vec![path], None, accepted)
            }
            Witness::Lasso { path, cycle } => (Finding::Divergence, vec![path], Some(cycle), None),
            Witness::TwoRuns { can, cannot, accepted } => {
                let event = can.trace().last().unwrap_or(LabelId::TAU);
                let finding = Finding::Nondeterminism { event: self.event(event) };
                (finding, vec![can, cannot], None, Some(accepted.clone()))
            }
        };
        let trace: Vec<LabelId> = paths[0].trace().collect();
        // What is refused may be an event that only the specification or the question has.
        let asked = match witness {
            Witness::Path { failure: Failure::Refusal { event, .. }, .. } => Some(*event),
            _ => None,
        };
        let specified = specification.into_iter().flat_map(|(lts, _)| lts.transitions()).map(|step| step.label);
        let beside: BTreeSet<LabelId> = match accepted {
            Some(_) => specified.chain(asked).filter(|label| label.is_visible()).collect(),
            None => BTreeSet::new(),
        };
        let mut runs = Vec::with_capacity(paths.len());
        for (at, path) in paths.iter().enumerate() {
            let accepted = accepted.as_deref().filter(|_| at + 1 == paths.len());
            runs.push(self.run(path, cycle.map_or(&[], Vec::as_slice), accepted, &beside)?);
        }
        let mut evidence = self.told(finding, &trace, witness.length(), process, runs);
        // The one before a forbidden event is part of the finding.
        let events = witness.path().length();
        let on_the_way = observed.iter().enumerate().filter(|(place, _)| match evidence.finding {
            Finding::Event { .. } => place + 1 < events,
            _ => true,
        });
        for (before, observed) in on_the_way {
            if let Some(accepted) = &observed.accepted {
                let (event, offered) = (self.event(observed.event), self.set(accepted));
                evidence.observed.push(Observed { before, event, offered });
            }
        }
        Ok(evidence)
    }

    /// The run that shows that a process has a trace.
    pub(super) fn having(&mut self, path: &Path, process: &str) -> Result<Evidence, Cut> {
        let trace: Vec<LabelId> = path.trace().collect();
        let runs = vec![self.run(path, &[], None, &BTreeSet::new())?];
        Ok(self.told(Finding::HasTrace, &trace, trace.len(), process, runs))
    }

    fn told(&mut self, finding: Finding, trace: &[LabelId], length: usize, process: &str, runs: Vec<Run>) -> Evidence {
        let trace = self.all(trace);
        let components = self.components(process);
        let operators = self.operators();
        Evidence {
            finding,
            length,
            trace,
            observed: Vec::new(),
            process: process.to_string(),
            components,
            operators,
            runs,
            story: None,
            system: None,
        }
    }

    /// The operators above several components.
    pub(crate) fn operators(&mut self) -> Vec<OperatorRow> {
        let rows = self.compiler.operators(self.machine).into_iter();
        rows.map(|Operator { name, depth, first, count }| OperatorRow { name, depth, first, count }).collect()
    }

    /// What the components are called; the only one as the process.
    pub(crate) fn components(&mut self, process: &str) -> Vec<Arc<str>> {
        let sources = self.sources;
        let text = |span: Span| sources.text(span).to_string();
        let components = 0..self.machine.network.components().len();
        let components: Vec<Arc<str>> = match components.len() {
            1 => vec![Arc::from(process)],
            _ => components
                .map(|component| self.compiler.component_name(self.machine, component, &text).into())
                .collect(),
        };
        distinct(components)
    }

    /// A run and, if `accepted` is given, what its last state offers and refuses; `beside` adds refused events of
    /// others.
    fn run(
        &mut self,
        path: &Path,
        cycle: &[TakenStep],
        accepted: Option<&[LabelId]>,
        beside: &BTreeSet<LabelId>,
    ) -> Result<Run, Cut> {
        self.prepare([&path.start].into_iter().chain(path.steps.iter().chain(cycle).map(|step| &step.row)))?;
        let initial = self.states(&path.start);
        let (steps, before) = self.steps(&path.start, &path.steps)?;
        let (cycle, _) = self.steps(&before, cycle)?;
        let (mut refused, mut waiting) = (None, Vec::new());
        if let Some(accepted) = accepted {
            let alphabet = self.alphabet();
            let others: Vec<LabelId> =
                alphabet.union(beside).copied().filter(|label| !accepted.contains(label)).collect();
            refused = Some(self.set(&others));
            waiting = self.waiting(&before)?;
        }
        let offered = accepted.map(|labels| self.set(labels));
        Ok(Run { initial, steps, cycle, offered, refused, waiting })
    }

    /// Prepares all states of a run.
    fn prepare<'r>(&mut self, rows: impl Iterator<Item = &'r Vec<Value>>) -> Result<(), Cut> {
        let mut known: HashSet<(usize, Value)> = HashSet::new();
        for row in rows {
            self.control.check()?;
            for (component, &value) in row.iter().enumerate().take(self.machine.network.components().len()) {
                if known.insert((component, value)) && !self.states.contains_key(&(component, value)) {
                    self.compiler.prepare(self.machine, component, value);
                }
            }
        }
        Ok(())
    }

    /// Steps in words, and the row at their end.
    fn steps(&mut self, start: &[Value], taken: &[TakenStep]) -> Result<(Vec<Step>, Vec<Value>), Cut> {
        let mut before = start.to_vec();
        let mut steps = Vec::with_capacity(taken.len());
        for step in taken {
            self.control.check()?;
            steps.push(self.step(&before, step.label, &step.row, self.control)?);
            before.clone_from(&step.row);
        }
        Ok((steps, before))
    }

    /// One step in words.
    pub(crate) fn step(
        &mut self,
        before: &[Value],
        label: LabelId,
        after: &[Value],
        control: &Control,
    ) -> Result<Step, Cut> {
        let explained = self.machine.network.explain(before, label, after, control)?;
        let origin = explained.as_ref().map_or(label, |explained| explained.origin);
        let event = match (label, origin) {
            (LabelId::TAU, LabelId::TAU) => self.event(LabelId::TAU),
            (LabelId::TAU, hidden) => format!("τ ({})", self.event(hidden)),
            (label, _) => self.event(label),
        };
        let parts = explained.into_iter().flat_map(|explained| explained.parts);
        let parts: Vec<Part> = parts
            .map(|(component, label)| {
                let place = self.place(component, before, label);
                Part { component, event: self.event(label), place, number: number(label) }
            })
            .collect();
        let place = parts.iter().find_map(|part| part.place.clone());
        let states = self.states(after);
        let revealed = if label == LabelId::TAU { number(origin) } else { number(label) };
        Ok(Step { event, place, parts, states, number: number(label), revealed })
    }

    /// Where a component performs an event.
    fn place(&mut self, component: usize, row: &[Value], label: LabelId) -> Option<ReportedPlace> {
        let (machine, sources) = (self.machine, self.sources);
        let text = |span: Span| sources.text(span).to_string();
        let known = self.places.entry((component, row[component], label));
        let place = known.or_insert_with(|| {
            let span = self.compiler.place_of_step(machine, component, row[component], label, &text)?;
            Some(ReportedPlace::of(span, sources))
        });
        place.clone()
    }

    pub(crate) fn states(&mut self, row: &[Value]) -> Vec<Arc<str>> {
        let (machine, sources) = (self.machine, self.sources);
        let text = |span: Span| sources.text(span).to_string();
        let mut states = Vec::with_capacity(row.len());
        for (component, &value) in row.iter().enumerate().take(machine.network.components().len()) {
            let known = self.states.get(&(component, value)).cloned();
            states.push(known.unwrap_or_else(|| {
                let words: Arc<str> = self.compiler.describe(machine, component, value, &text).into();
                self.states.insert((component, value), words.clone());
                words
            }));
        }
        states
    }

    /// What each component on its own offers; nothing when it is switched off.
    fn waiting(&mut self, row: &[Value]) -> Result<Vec<Vec<String>>, Cut> {
        let network = &self.machine.network;
        let rules = &network.formats()[network.format(row).index()].rules;
        let active: BTreeSet<usize> =
            rules.iter().flat_map(|rule| rule.parts().map(|(component, _)| component)).collect();
        let offers: Result<Vec<Vec<LabelId>>, Cut> = network
            .components()
            .iter()
            .enumerate()
            .map(|(component, part)| {
                if !active.contains(&component) {
                    return Ok(Vec::new());
                }
                part.offers(row[component], self.control)
            })
            .collect();
        Ok(offers?.iter().map(|labels| self.set(labels)).collect())
    }

    /// Every visible event that some rule can give.
    pub(crate) fn alphabet(&self) -> BTreeSet<LabelId> {
        let rules = self.machine.network.formats().iter().flat_map(|format| &format.rules);
        rules.map(|rule| rule.label()).filter(|label| label.is_visible()).collect()
    }

    /// Events in the order given.
    fn all(&mut self, labels: &[LabelId]) -> Vec<String> {
        labels.iter().map(|&label| self.event(label)).collect()
    }

    /// Events in the order in which people look for them.
    fn set(&mut self, labels: &[LabelId]) -> Vec<String> {
        let mut sorted = labels.to_vec();
        sorted.sort_by(|&a, &b| natural(self.labels.get(a), self.labels.get(b)));
        self.all(&sorted)
    }

    /// The text of an event, remembered for the event map.
    pub(crate) fn event(&mut self, label: LabelId) -> String {
        let text = match number(label) {
            TAU => "τ".to_string(),
            TICK => "✓".to_string(),
            _ => self.labels.get(label).to_string(),
        };
        if self.events.insert(number(label), text.clone()).is_none() {
            self.numbers.insert(text.clone(), number(label));
        }
        text
    }
}

/// By name, then by arguments; numeric arguments by their value.
pub(crate) fn natural(a: &Label, b: &Label) -> Ordering {
    let argument = |x: &str, y: &str| match (x.parse::<i64>(), y.parse::<i64>()) {
        (Ok(x), Ok(y)) => x.cmp(&y),
        _ => x.cmp(y),
    };
    let part = |a: &trefoil_system::Part, b: &trefoil_system::Part| {
        let arguments = a.arguments.iter().zip(&b.arguments);
        let differs = arguments.map(|(x, y)| argument(x, y)).find(|order| order.is_ne());
        a.name.cmp(&b.name).then(differs.unwrap_or(a.arguments.len().cmp(&b.arguments.len())))
    };
    let differs = a.parts().iter().zip(b.parts()).map(|(a, b)| part(a, b)).find(|order| order.is_ne());
    differs.unwrap_or(a.parts().len().cmp(&b.parts().len()))
}

/// The number of a label in an event map.
pub(crate) fn number(label: LabelId) -> u32 {
    label.0 + 1
}

/// Adds numbers to names that several components have.
pub(super) fn distinct(names: Vec<Arc<str>>) -> Vec<Arc<str>> {
    let mut often: HashMap<Arc<str>, usize> = HashMap::new();
    for name in &names {
        *often.entry(name.clone()).or_default() += 1;
    }
    let mut met: HashMap<Arc<str>, usize> = HashMap::new();
    names
        .into_iter()
        .map(|name| {
            if often[&name] == 1 {
                return name;
            }
            let number = met.entry(name.clone()).or_default();
            *number += 1;
            format!("{name} #{number}").into()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_sorted_as_people_count() {
        let label = |argument: &str| Label::of("c", [Box::from(argument)]);
        assert_eq!(natural(&label("9"), &label("10")), Ordering::Less);
        assert_eq!(natural(&label("A"), &label("10")), Ordering::Greater);
        assert_eq!(natural(&Label::plain("c"), &label("1")), Ordering::Less);
    }

    #[test]
    fn names_that_repeat_get_numbers() {
        let names = ["P", "Q", "P"].map(Arc::from).to_vec();
        assert_eq!(distinct(names).iter().map(|name| &**name).collect::<Vec<_>>(), ["P #1", "Q", "P #2"]);
    }
}
