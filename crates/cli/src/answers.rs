//! Answers of `trefoil lts` for people.

use std::fmt::Write;

use trefoil_session::lts::{
    CompareReport, ComposeReport, ConvertReport, Difference, InfoReport, MinimiseReport, RefineReport,
    SimulationReport, Size,
};
use trefoil_session::{FailureReport, Resources, StepReport, Verdict, WitnessReport};

use crate::run::Answer;
use crate::text::{count, counted, list, resources, table, unfinished, verdict};

impl Answer for ConvertReport {
    fn text(&self, _colour: bool) -> String {
        format!("{}: {}\n", self.output, size(self.size))
    }
}

impl Answer for MinimiseReport {
    fn text(&self, _colour: bool) -> String {
        let mut rows = vec![("before", size(self.before)), ("after", size(self.after))];
        rows.extend(self.rounds.map(|rounds| ("rounds", count(rounds))));
        rows.extend(self.output.clone().map(|output| ("written to", output)));
        headed(&format!("{} modulo {}", self.file, self.equivalence), rows, &self.resources)
    }
}

impl Answer for InfoReport {
    fn text(&self, _colour: bool) -> String {
        let yes = |holds: bool| if holds { "yes" } else { "no" }.to_string();
        let first = |count_of: usize, first: Option<u32>| match first {
            Some(state) => format!("{}, the first is state {state}", count(count_of as u64)),
            None => "none".to_string(),
        };
        let (least, average, most) = self.branching;
        let unreachable = self.states - self.reachable_states;
        let mut states = count(self.states as u64);
        if unreachable > 0 {
            let _ = write!(states, ", {} of them unreachable", count(unreachable as u64));
        }
        let transitions =
            format!("{}, {} of them internal", count(self.transitions as u64), count(self.tau_transitions as u64));
        let rows = vec![
            ("states", states),
            ("initial state", self.initial.to_string()),
            ("transitions", transitions),
            ("visible labels", count(self.labels as u64)),
            ("transitions a state", format!("{least} to {most}, on average {average}")),
            ("deterministic", yes(self.deterministic)),
            ("strongly connected", yes(self.strongly_connected)),
            ("deadlocks", first(self.deadlocks, self.first_deadlock)),
            ("diverging states", first(self.diverging_states, self.first_diverging)),
        ];
        headed(&self.file, rows, &self.resources)
    }
}

impl Answer for CompareReport {
    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn text(&self, colour: bool) -> String {
        let equivalent = self.verdict == Verdict::Holds;
        let relation = if equivalent { "is equivalent to" } else { "is not equivalent to" };
        let mut text = format!(
            "{}: {} {relation} {} ({})\n",
            verdict(self.verdict, colour),
            self.left,
            self.right,
            self.equivalence
        );
        for shown in self.trace.iter().chain(&self.difference) {
            difference(shown, &[&self.left, &self.right], &mut text);
        }
        let mut rows = vec![("first", size(self.left_size)), ("second", size(self.right_size))];
        if let Some((left, right)) = self.classes {
            rows.push(("classes", format!("{} and {}", count(left as u64), count(right as u64))));
        }
        rows.extend(resources(&self.resources));
        text.push_str(&table(&rows));
        text
    }
}

/// What tells two systems apart.
fn difference(shown: &Difference, files: &[&str; 2], text: &mut String) {
    match shown {
        Difference::Trace { only, trace, weak } => {
            let words = if trace.is_empty() { "the empty trace".to_string() } else { list(trace, ", ") };
            let kind = if *weak { "does, internal steps aside," } else { "does" };
            let _ = writeln!(text, "  only {only} {kind} {words}");
        }
        Difference::Formula { only, formula, depth } => {
            let other = files.iter().find(|file| *file != only).unwrap_or(&files[1]);
            let _ = writeln!(text, "  for {only} it holds, for {other} it does not (depth {depth}):");
            for line in formula.lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
}

impl Answer for SimulationReport {
    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn text(&self, colour: bool) -> String {
        let relation = if self.verdict == Verdict::Holds { "refines" } else { "does not refine" };
        let mut text = format!(
            "{}: {} {relation} {} ({})\n",
            verdict(self.verdict, colour),
            self.implementation,
            self.specification,
            self.model
        );
        if let Some(shown) = &self.difference {
            difference(shown, &[&self.implementation, &self.specification], &mut text);
        }
        let (left, right) = self.classes;
        let mut rows = vec![
            ("specification", size(self.specification_size)),
            ("implementation", size(self.implementation_size)),
            ("classes", format!("{} and {}", count(left as u64), count(right as u64))),
        ];
        rows.extend(resources(&self.resources));
        text.push_str(&table(&rows));
        text
    }
}

impl Answer for ComposeReport {
    fn text(&self, _colour: bool) -> String {
        let mut rows = vec![
            ("states", count(self.size.states as u64)),
            ("transitions", count(self.size.transitions as u64)),
            ("depth", count(self.depth.into())),
        ];
        rows.extend(self.output.clone().map(|output| ("written to", output)));
        headed(&self.files.join(" || "), rows, &self.resources)
    }

    fn complaints(&self, colour: bool) -> &str {
        self.warnings.text(colour)
    }
}

impl Answer for RefineReport {
    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn text(&self, colour: bool) -> String {
        let mut text = match &self.unfinished {
            Some(rest) => unfinished(&[self.specification.clone(), self.implementation.clone()], rest),
            None => format!(
                "{}: {} {} {} ({})\n",
                verdict(self.verdict, colour),
                self.implementation,
                if self.verdict == Verdict::Holds { "refines" } else { "does not refine" },
                self.specification,
                self.model
            ),
        };
        if let Some(witness) = &self.witness {
            text.push_str(&counterexample(witness));
        }
        let statistics = &self.statistics;
        let mut rows = vec![
            ("algorithm", format!("{}, {}, preprocessed: {}", self.algorithm, self.search, self.preprocess)),
            ("specification", counted(statistics.specification_states, "state")),
            ("implementation", counted(statistics.implementation_states, "state")),
            (
                "product",
                format!(
                    "{}, {}",
                    counted(statistics.product_states, "state"),
                    counted(statistics.product_transitions, "transition")
                ),
            ),
            ("most waiting", count(statistics.working_max)),
        ];
        if let (Some(hits), Some(misses), Some(most)) =
            (statistics.antichain_hits, statistics.antichain_misses, statistics.antichain_max)
        {
            let words = format!("{} hits, {} misses, at most {}", count(hits), count(misses), counted(most, "pair"));
            rows.push(("antichain", words));
        }
        rows.extend(resources(&self.resources));
        text.push_str(&table(&rows));
        text
    }
}

/// What the implementation did, step by step, and what is wrong with it.
fn counterexample(witness: &WitnessReport) -> String {
    let mut text = String::new();
    let event_fails = matches!(witness.failure, FailureReport::Event { .. });
    let allowed = if event_fails { witness.trace.len() - 1 } else { witness.trace.len() };
    let after = &witness.trace[..allowed];
    let _ = writeln!(text, "  after     {}", if after.is_empty() { "nothing".to_string() } else { list(after, ", ") });
    match &witness.failure {
        FailureReport::Event { event } => {
            let _ = writeln!(text, "  it does   {event}, which the specification does not allow");
        }
        FailureReport::Acceptance { accepted, allowed } => {
            let _ = writeln!(text, "  it accepts only {}", set(accepted));
            let sets: Vec<String> = allowed.iter().map(|labels| set(labels)).collect();
            let demand = if sets.is_empty() { "never to be stable".to_string() } else { list(&sets, " or ") };
            let _ = writeln!(text, "  the specification insists on {demand}");
        }
        FailureReport::Deadlock => {
            let _ = writeln!(text, "  it can do nothing more");
        }
        FailureReport::Missing { event } => {
            let _ = writeln!(text, "  it cannot do {event}");
        }
        FailureReport::Refusal { event, accepted } => {
            let _ = writeln!(text, "  it may refuse {event} and accept only {}", set(accepted));
        }
        FailureReport::Divergence { cycle } => {
            let states: Vec<String> = cycle.iter().map(|step| step.state.clone()).collect();
            let _ = writeln!(text, "  it diverges, which the specification does not allow");
            let _ = writeln!(
                text,
                "  cycle     τ through {}",
                if states.is_empty() { "this state".into() } else { list(&states, ", ") }
            );
        }
    }
    let _ = writeln!(text, "  run       {}", run(&witness.initial, &witness.steps));
    text
}

/// A run on one line, its middle left out when it is long.
fn run(initial: &str, steps: &[StepReport]) -> String {
    const SHOWN: usize = 40;
    let mut text = initial.to_string();
    for (index, step) in steps.iter().enumerate() {
        if index == SHOWN / 2 && steps.len() > SHOWN {
            let _ = write!(text, " … {} steps …", steps.len() - SHOWN);
        }
        if steps.len() <= SHOWN || index < SHOWN / 2 || index >= steps.len() - SHOWN / 2 {
            let label = if step.label == "tau" { "τ" } else { &step.label };
            let _ = write!(text, " —{label}→ {}", step.state);
        }
    }
    text
}

fn set(labels: &[String]) -> String {
    format!("{{{}}}", list(labels, ", "))
}

fn size(size: Size) -> String {
    format!("{}, {}", counted(size.states as u64, "state"), counted(size.transitions as u64, "transition"))
}

fn headed(head: &str, mut rows: Vec<(&str, String)>, used: &Resources) -> String {
    rows.extend(resources(used));
    format!("{head}\n{}", table(&rows))
}
