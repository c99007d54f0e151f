//! Answers of `trefoil lts` for people.

use std::fmt::Write;

use trefoil_control::{count, counted, digits};
use trefoil_session::check::Observed;
use trefoil_session::lts::{
    CompareReport, ComposeReport, ConvertReport, Difference, InfoReport, MinimiseReport, PlayStep, RefineReport,
    SimulationReport, Size,
};
use trefoil_session::{FailureReport, Resources, StepReport, Verdict, WitnessReport};

use crate::run::Answer;
use crate::text::{list, resources, table, unfinished, verdict};

impl Answer for ConvertReport {
    fn text(&self, _colour: bool) -> String {
        let mut text = format!("{}: {}\n", self.output, size(self.size));
        if let Some(line) = &self.decomposed {
            let _ = writeln!(text, "  {line}");
        }
        text
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
            Some(state) if count_of == 1 => format!("1: state {state}"),
            Some(state) => format!("{}; the first is state {state}", count(count_of as u64)),
            None => "none".to_string(),
        };
        let (least, average, most) = self.branching;
        let unreachable = self.states - self.reachable_states;
        let mut states = count(self.states as u64);
        if unreachable > 0 {
            let _ = write!(states, ", {} unreachable", count(unreachable as u64));
        }
        let transitions =
            format!("{}, {} internal", count(self.transitions as u64), count(self.tau_transitions as u64));
        let rows = vec![
            ("states", states),
            ("initial state", self.initial.to_string()),
            ("transitions", transitions),
            ("visible labels", count(self.labels as u64)),
            ("transitions per state", format!("{least} to {most}, {average} on average")),
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
        let mut rows = Vec::new();
        rows.extend(self.left_size.map(|own| ("first", size(own))));
        rows.extend(self.right_size.map(|own| ("second", size(own))));
        if let (Some(vertices), Some(edges)) = (&self.vertices, &self.edges) {
            rows.push(("game", format!("{} vertices, {} edges", digits(vertices.digits()), digits(edges.digits()))));
        }
        rows.extend(self.solver.map(|solver| ("decided by", solver.to_string())));
        if let Some((left, right)) = self.classes {
            rows.push(("classes", format!("{} and {}", count(left as u64), count(right as u64))));
        }
        rows.extend(self.decomposed.iter().map(|line| ("decomposed", line.clone())));
        rows.extend(resources(&self.resources));
        text.push_str(&table(&rows));
        text
    }
}

/// What distinguishes two systems.
fn difference(shown: &Difference, files: &[&str; 2], text: &mut String) {
    match shown {
        Difference::Trace { only, trace, weak } => {
            let kind = if *weak { "weak trace" } else { "trace" };
            let _ = writeln!(text, "  only {only} has the {kind} <{}>", list(trace, ", "));
        }
        Difference::Formula { only, formula, depth } => {
            let other = files.iter().find(|file| *file != only).unwrap_or(&files[1]);
            let _ = writeln!(text, "  {only} satisfies this formula of depth {depth}, {other} does not:");
            for line in formula.lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
        Difference::Play { steps, back_to, .. } => {
            let named = |place: usize, which: &str| match files[0] == files[1] {
                true => format!("{} ({which})", files[place]),
                false => files[place].to_string(),
            };
            play(steps, *back_to, &[named(0, "first"), named(1, "second")], text);
        }
    }
}

/// A play, one line for each step that has to be answered.
fn play(steps: &[PlayStep], back_to: Option<usize>, files: &[String; 2], text: &mut String) {
    let _ = writeln!(text, "  a play distinguishes them, whatever is answered:");
    let other = |file: &str| files.iter().find(|one| *one != file).unwrap_or(&files[1]);
    let mut at = 0;
    while at < steps.len() {
        if back_to == Some(at) {
            if let PlayStep::Internal { file } = &steps[at]
                && steps[at..].iter().all(|step| matches!(step, PlayStep::Internal { .. }))
            {
                let _ = writeln!(text, "    and {file} takes internal steps forever, without an answer");
                return;
            }
            let _ = writeln!(text, "    and from here on again and again:");
        }
        let mut line = match &steps[at] {
            PlayStep::Takes { file, label } => format!("{file} takes {label}"),
            PlayStep::Internal { file } => format!("{file} takes an internal step"),
            PlayStep::Answers { file, label } => format!("{file} answers {label}"),
            PlayStep::Stays { file } => format!("{file} stays"),
            PlayStep::Compared => "the states are compared".to_string(),
        };
        let asks = match &steps[at] {
            PlayStep::Takes { file, .. } => Some(other(file)),
            _ => None,
        };
        at += 1;
        // What belongs to the answer, unless the play repeats in the middle of it.
        let begin = at;
        while at < steps.len() && matches!(steps[at], PlayStep::Internal { .. }) && back_to != Some(at) {
            at += 1;
        }
        if at > begin {
            let answers = asks.unwrap_or(&files[1]);
            let _ = write!(line, ", {answers} takes {}", counted((at - begin) as u64, "internal step"));
        }
        match steps.get(at).filter(|_| asks.is_some() && back_to != Some(at)) {
            Some(PlayStep::Answers { file, .. }) => {
                let _ = write!(line, ", and {file} answers it");
                at += 1;
            }
            Some(PlayStep::Stays { file }) => {
                let _ = write!(line, ", and {file} stays");
                at += 1;
            }
            Some(PlayStep::Compared) => {
                line.push_str(", which is taken back: the states are compared first");
                at += 1;
            }
            _ => {}
        }
        if let (true, None, Some(file)) = (at >= steps.len(), back_to, asks) {
            let _ = write!(line, ", and {file} has no answer");
        }
        let _ = writeln!(text, "    {line}");
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
        let mut rows =
            vec![("specification", size(self.specification_size)), ("implementation", size(self.implementation_size))];
        let classes = |(left, right)| format!("{} and {}", count(left as u64), count(right as u64));
        rows.extend(self.classes.map(|both| ("classes", classes(both))));
        rows.extend(self.decomposed.iter().map(|line| ("decomposed", line.clone())));
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
            ("largest frontier", counted(statistics.working_max, "pair")),
        ];
        if let (Some(hits), Some(misses), Some(most)) =
            (statistics.antichain_hits, statistics.antichain_misses, statistics.antichain_max)
        {
            let (hits, misses, most) = (counted(hits, "hit"), counted(misses, "miss"), counted(most, "pair"));
            let words = format!("{hits}, {misses}, at most {most}");
            rows.push(("antichain", words));
        }
        rows.extend(self.decomposed.iter().map(|line| ("decomposed", line.clone())));
        rows.extend(resources(&self.resources));
        text.push_str(&table(&rows));
        text
    }
}

/// What the implementation does, and where it fails.
fn counterexample(witness: &WitnessReport) -> String {
    let mut text = String::new();
    let event_fails = matches!(witness.failure, FailureReport::Event { .. });
    let allowed = if event_fails { witness.trace.len() - 1 } else { witness.trace.len() };
    let after = after(&witness.trace[..allowed], &witness.observed);
    let does = format!("  {after} the implementation");
    let mut cycled = None;
    let _ = match &witness.failure {
        FailureReport::Event { event, offered: Some(offered), allowed } => {
            let _ = writeln!(text, "{does} offers {} and performs {event}", only(offered));
            let allowed = allowed.as_deref().unwrap_or_default();
            writeln!(text, "  where the specification offers no more, it performs {}", only(allowed))
        }
        FailureReport::Event { event, .. } => {
            writeln!(text, "{does} performs {event}, which the specification does not allow")
        }
        FailureReport::Acceptance { accepted, allowed } => {
            let sets: Vec<String> = allowed.iter().map(|labels| set(labels)).collect();
            let _ = writeln!(text, "{does} offers {}", only(accepted));
            match sets.is_empty() {
                true => writeln!(text, "  the specification is never stable there"),
                false => writeln!(text, "  the specification offers at least {}", list(&sets, " or ")),
            }
        }
        FailureReport::Deadlock => writeln!(text, "{does} deadlocks: it offers no event"),
        FailureReport::Missing { event } => writeln!(text, "{does} cannot perform {event}"),
        FailureReport::Refusal { event, accepted } => {
            writeln!(text, "{does} may refuse {event} and offer {}", only(accepted))
        }
        FailureReport::Divergence { cycle } => {
            let states: Vec<String> = cycle.iter().map(|step| step.state.clone()).collect();
            cycled = Some(if states.is_empty() { "this state".into() } else { list(&states, ", ") });
            writeln!(text, "{does} diverges (infinite τ-loop), which the specification does not allow")
        }
    };
    let mut rows = vec![("run", run(&witness.initial, &witness.steps))];
    rows.extend(cycled.map(|states| ("τ-loop", format!("through {states}"))));
    text.push_str(&table(&rows));
    text
}

/// After which events, and after which refusals before these.
pub(crate) fn after(trace: &[String], observed: &[Observed]) -> String {
    if trace.is_empty() {
        return "initially".to_string();
    }
    let offering = |place: usize| observed.iter().find(|observed| observed.before == place);
    let events = trace.iter().enumerate().map(|(place, event)| match offering(place) {
        Some(observed) => format!("{event} (where only {} was offered)", set(&observed.offered)),
        None => event.clone(),
    });
    format!("after <{}>", list(&events.collect::<Vec<_>>(), ", "))
}

/// A run on one line; a long one loses its middle.
fn run(initial: &str, steps: &[StepReport]) -> String {
    const SHOWN: usize = 40;
    let mut text = initial.to_string();
    for (index, step) in steps.iter().enumerate() {
        if index == SHOWN / 2 && steps.len() > SHOWN {
            let _ = write!(text, " … {} …", counted((steps.len() - SHOWN) as u64, "step"));
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

/// What a stable state offers.
fn only(labels: &[String]) -> String {
    if labels.is_empty() { "no event".to_string() } else { format!("only {}", set(labels)) }
}

fn size(size: Size) -> String {
    format!("{}, {}", counted(size.states as u64, "state"), counted(size.transitions as u64, "transition"))
}

fn headed(head: &str, mut rows: Vec<(&str, String)>, used: &Resources) -> String {
    rows.extend(resources(used));
    format!("{head}\n{}", table(&rows))
}
