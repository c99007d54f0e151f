//! Evidence in the form of FDR's counterexamples: behaviours whose events are numbers of an event map.
//!
//! A number is that of the label plus one, because FDR keeps 0 for no event, 1 for `τ` and 2 for `✓`.

use std::collections::{BTreeMap, HashMap};

use super::report::{AssertionReport, Behaviour, Counterexample, Evidence, Finding, Run, Step};
use crate::Verdict;

/// The number of `τ`.
pub const TAU: u32 = 1;
/// The number of `✓`.
pub const TICK: u32 = 2;

/// Adds counterexamples in FDR's form to the answers of a run that have evidence only, as those of Promela models,
/// mCRL2 specifications and formulas do. Their events have no numbers of their own: texts are numbered in the order in
/// which the answers mention them.
pub(super) fn complete(results: &mut [AssertionReport]) {
    let mut numbers = Numbers::default();
    for result in results.iter_mut().filter(|result| result.verdict == Verdict::Fails) {
        let Some(evidence) = &mut result.witness else { continue };
        for step in evidence.runs.iter_mut().flat_map(|run| run.steps.iter_mut().chain(&mut run.cycle)) {
            (step.number, step.revealed) = numbers.of(&step.event);
            for part in &mut step.parts {
                part.number = numbers.of(&part.event).1;
            }
        }
        let mut found = counterexample(evidence, None, &|event| numbers.known(event));
        if evidence.runs.is_empty() {
            let run = &mut found.implementation_behaviour;
            (run.trace, run.revealed_trace) = evidence.trace.iter().map(|event| numbers.of(event)).unzip();
        }
        result.counterexamples = vec![found];
        result.events = numbers.events.clone();
    }
}

/// Texts of events with their numbers.
struct Numbers {
    numbers: HashMap<String, u32>,
    events: BTreeMap<u32, String>,
}

impl Default for Numbers {
    fn default() -> Numbers {
        let events = BTreeMap::from([(TAU, "τ".to_string()), (TICK, "✓".to_string())]);
        let numbers = [("τ", TAU), ("tau", TAU), ("✓", TICK), ("tick", TICK)];
        Numbers { numbers: numbers.map(|(text, number)| (text.to_string(), number)).into(), events }
    }
}

impl Numbers {
    /// The number of an event as it is seen, and of what it was before it was hidden.
    fn of(&mut self, event: &str) -> (u32, u32) {
        match event.strip_prefix("τ (").and_then(|rest| rest.strip_suffix(')')) {
            Some(hidden) => (TAU, self.number(hidden)),
            None => {
                let number = self.number(event);
                (number, number)
            }
        }
    }

    fn number(&mut self, event: &str) -> u32 {
        if let Some(&number) = self.numbers.get(event) {
            return number;
        }
        let number = self.events.len() as u32 + 1;
        self.numbers.insert(event.to_string(), number);
        self.events.insert(number, event.to_string());
        number
    }

    /// The number of an event that is on a run; 0, which FDR keeps for no event, for any other.
    fn known(&self, event: &str) -> u32 {
        self.numbers.get(event).copied().unwrap_or(0)
    }
}

/// The evidence in FDR's form; of a refinement, with the specification as the script writes it. `number` gives the
/// number of an event.
pub(super) fn counterexample(
    evidence: &Evidence,
    specification: Option<&str>,
    number: &dyn Fn(&str) -> u32,
) -> Counterexample {
    let all = |events: &[String]| -> Vec<u32> { events.iter().map(|event| number(event)).collect() };
    let first = evidence.runs.first();
    let mut main = behaviour(evidence, first);
    let (mut error_event, mut min_acceptance, mut available) = (None, None, None);
    let kind = match &evidence.finding {
        Finding::Event { event, offered, allowed } => {
            error_event = Some(number(event));
            min_acceptance = offered.as_deref().map(all);
            available = Some(all(allowed));
            main.cut();
            main.kind = "trace";
            "trace"
        }
        Finding::Acceptance { accepted, .. } => {
            min_acceptance = Some(all(accepted));
            main.kind = "min_acceptance";
            "min_acceptance"
        }
        Finding::Divergence => {
            main.cycle = Some(around(first));
            main.kind = "loop";
            "divergence"
        }
        Finding::Formula { repeats: true, .. } => {
            main.cycle = Some(around(first));
            main.kind = "loop";
            "formula"
        }
        Finding::Fault { .. } | Finding::InvalidEnd | Finding::Forbidden { .. } | Finding::Claim { .. } => "trace",
        Finding::Deadlock => {
            min_acceptance = Some(Vec::new());
            main.kind = "min_acceptance";
            "deadlock"
        }
        Finding::Nondeterminism { event } => {
            error_event = Some(number(event));
            main.cut();
            main.kind = "trace";
            "determinism"
        }
        Finding::MissingTrace { event } => {
            error_event = Some(number(event));
            main.kind = "irrelevant";
            "trace"
        }
        Finding::Refusal { event } => {
            error_event = Some(number(event));
            min_acceptance = first.and_then(|run| run.offered.as_deref()).map(all);
            main.kind = "min_acceptance";
            "min_acceptance"
        }
        Finding::HasTrace => "trace",
        Finding::Formula { .. } => "formula",
        Finding::NotSymmetric { .. } => "symmetry",
    };
    main.error_event = error_event.filter(|_| kind != "deadlock");
    main.min_acceptance = min_acceptance.clone();
    let specification_behaviour = match (&evidence.finding, evidence.runs.get(1), specification) {
        (Finding::Nondeterminism { .. }, Some(other), _) => {
            let mut second = behaviour(evidence, Some(other));
            second.kind = "min_acceptance";
            second.min_acceptance = other.offered.as_deref().map(all);
            Some(second)
        }
        (_, _, Some(name)) => {
            let visible: Vec<u32> = main.trace.iter().copied().filter(|event| *event != TAU).collect();
            Some(Behaviour {
                kind: "irrelevant",
                name: name.to_string(),
                trace: visible.clone(),
                revealed_trace: visible,
                error_event: None,
                min_acceptance: None,
                available_events: available,
                cycle: None,
                children: Vec::new(),
            })
        }
        _ => None,
    };
    Counterexample { kind, error_event, min_acceptance, implementation_behaviour: main, specification_behaviour }
}

/// The events around the cycle of a run.
fn around(run: Option<&Run>) -> Vec<u32> {
    run.map(|run| run.cycle.iter().map(|step| step.number).collect()).unwrap_or_default()
}

impl Behaviour {
    /// Leaves out the last event, of the whole and of the components that took part in it.
    fn cut(&mut self) {
        self.trace.pop();
        self.revealed_trace.pop();
    }
}

fn behaviour(evidence: &Evidence, run: Option<&Run>) -> Behaviour {
    let steps: &[Step] = run.map_or(&[], |run| &run.steps);
    let mut components: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for part in steps.iter().flat_map(|step| &step.parts) {
        components.entry(part.component).or_default().push(part.number);
    }
    let children = components.into_iter().map(|(component, trace)| {
        let name = evidence.components.get(component).map_or_else(String::new, |name| name.to_string());
        bare(name, trace.clone(), trace)
    });
    let children: Vec<Behaviour> = if evidence.components.len() > 1 { children.collect() } else { Vec::new() };
    let trace = steps.iter().map(|step| step.number).collect();
    let revealed = steps.iter().map(|step| step.revealed).collect();
    Behaviour { children, ..bare(evidence.process.clone(), trace, revealed) }
}

fn bare(name: String, trace: Vec<u32>, revealed_trace: Vec<u32>) -> Behaviour {
    Behaviour {
        kind: "trace",
        name,
        trace,
        revealed_trace,
        error_event: None,
        min_acceptance: None,
        available_events: None,
        cycle: None,
        children: Vec::new(),
    }
}
