//! Counterexamples as code flows of SARIF: viewers walk from step to step in the text of the script.
//!
//! Each run is a flow with one thread, because the steps of a run have one order whatever the components. A step has
//! the place where its event or statement stands, the components that took part, and what changed. Of a Promela model
//! each statement is a step. A step without a place in a text, such as one of a system in a file, has its words alone.

use std::collections::BTreeMap;

use serde::Serialize;
use trefoil_control::counted;
use trefoil_session::check::{Evidence, Run, Step};
use trefoil_session::promela::{Statement, Story};

use super::super::results::found;
use super::{Location, Message, location};
use crate::text::{cut, list};

/// The most steps of a flow; code scanners refuse longer ones. The middle of a longer run is left out.
const MOST_STEPS: usize = 1_000;

/// The most letters of a name or a value.
const LETTERS: usize = 200;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeFlow {
    message: Message,
    thread_flows: [ThreadFlow; 1],
}

#[derive(Serialize)]
struct ThreadFlow {
    locations: Vec<Stop>,
}

/// A step of a run, as a location of a thread.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Stop {
    location: Location,
    /// The new states of components, or the new values of variables, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    state: BTreeMap<String, Message>,
    /// The place in the order of steps, from 1.
    execution_order: usize,
}

/// A flow for each run that shows what is wrong; none where nothing has to happen for it.
pub(super) fn flows(evidence: &Evidence) -> Vec<CodeFlow> {
    let flow = |text: String, stops: Vec<Stop>| {
        let stops = shortened(stops);
        (!stops.is_empty())
            .then_some(CodeFlow { message: Message { text }, thread_flows: [ThreadFlow { locations: stops }] })
    };
    if let Some(story) = &evidence.story {
        return flow(found(evidence), statements(story)).into_iter().collect();
    }
    let several = evidence.runs.len() > 1;
    let runs = evidence.runs.iter().enumerate().filter_map(|(number, run)| {
        let which = if number == 0 { "first run" } else { "second run" };
        let text = if several { format!("{which}: {}", found(evidence)) } else { found(evidence) };
        flow(text, steps(run, evidence))
    });
    runs.collect()
}

fn steps(run: &Run, evidence: &Evidence) -> Vec<Stop> {
    let names = &evidence.components;
    let mut before = &run.initial;
    let mut stops = Vec::new();
    for (place, step) in run.steps.iter().chain(&run.cycle).enumerate() {
        let changed = step.states.iter().enumerate().filter(|(component, state)| before.get(*component) != Some(state));
        let state = changed.map(|(component, state)| (name(names, component), value(state))).collect();
        let text = match place >= run.steps.len() {
            true => format!("{} (repeats forever)", said(step, names)),
            false => said(step, names),
        };
        let own = step.place.as_ref().or_else(|| step.parts.iter().find_map(|part| part.place.as_ref()));
        let at = own.map(|place| location(&place.file, place.line, place.column));
        stops.push(stop(at, text, state, place));
        before = &step.states;
    }
    stops
}

/// The event of a step, and the components that take it.
fn said(step: &Step, names: &[std::sync::Arc<str>]) -> String {
    let parts: Vec<String> = step.parts.iter().map(|part| name(names, part.component)).collect();
    match names.len() {
        0 | 1 => cut(&step.event, LETTERS),
        _ => format!("{} by {}", cut(&step.event, LETTERS), list(&parts, ", ")),
    }
}

fn name(names: &[std::sync::Arc<str>], component: usize) -> String {
    names.get(component).map_or_else(|| "?".to_string(), |name| cut(name, LETTERS))
}

fn statements(story: &Story) -> Vec<Stop> {
    let cycle = story.cycle.unwrap_or(usize::MAX);
    let stops = story.statements.iter().enumerate().map(|(place, statement)| {
        let at = location(&statement.file, Some(statement.line), Some(statement.column).filter(|&column| column > 0));
        let state = statement.changes.iter().map(|change| (cut(&change.name, LETTERS), value(&change.value))).collect();
        stop(Some(at), taken(statement, place >= cycle), state, place)
    });
    stops.collect()
}

/// A statement and its process, and the error that it ends in.
fn taken(statement: &Statement, repeats: bool) -> String {
    let Statement { name, process, .. } = statement;
    let mut text = format!("{name}({process}): {}", cut(&statement.statement, LETTERS));
    if let Some(error) = &statement.error {
        text.push_str(&format!(": {error}"));
    }
    if repeats {
        text.push_str(" (repeats forever)");
    }
    text
}

fn value(text: &str) -> Message {
    Message { text: cut(text, LETTERS) }
}

fn stop(at: Option<Location>, text: String, state: BTreeMap<String, Message>, place: usize) -> Stop {
    let physical_location = at.and_then(|at| at.physical_location);
    let location = Location { physical_location, message: Some(Message { text }) };
    Stop { location, state, execution_order: place + 1 }
}

/// The first third and the end of a long run, and between them how many steps are left out.
fn shortened(mut stops: Vec<Stop>) -> Vec<Stop> {
    let left_out = stops.len().saturating_sub(MOST_STEPS);
    if left_out > 0 {
        let from = MOST_STEPS / 3;
        let text = format!("… {} left out …", counted(left_out as u64 + 1, "step"));
        stops.splice(from..=from + left_out, [stop(None, text, BTreeMap::new(), from)]);
    }
    stops
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::samples;

    fn flows_of(run: impl Fn(&mut Evidence)) -> Vec<serde_json::Value> {
        let mut report = samples::run();
        let evidence = report.results[1].witness.as_mut().expect("a witness");
        run(evidence);
        flows(evidence).iter().map(|flow| serde_json::to_value(flow).expect("plain data")).collect()
    }

    #[test]
    fn a_run_is_a_flow_whose_steps_have_events_components_and_new_states() {
        let flows = flows_of(|_| {});
        assert_eq!(flows.len(), 1);
        assert_eq!(flows[0]["message"]["text"], "after <a, b> the process deadlocks: it offers no event");
        let stops = flows[0]["threadFlows"][0]["locations"].as_array().expect("steps");
        assert_eq!(stops.len(), 3);
        assert_eq!(stops[0]["location"]["message"]["text"], "a by P, Q");
        assert_eq!(stops[0]["executionOrder"], 1);
        assert_eq!(stops[1]["state"], serde_json::json!({ "Q": { "text": "Q2" } }));
    }

    #[test]
    fn the_middle_of_a_long_run_is_left_out() {
        let flows = flows_of(|evidence| {
            let step = evidence.runs[0].steps[0].clone();
            evidence.runs[0].steps = vec![step; 5_000];
        });
        let stops = flows[0]["threadFlows"][0]["locations"].as_array().expect("steps");
        assert_eq!(stops.len(), MOST_STEPS);
        assert_eq!(stops[333]["location"]["message"]["text"], "… 4,001 steps left out …");
        assert_eq!(stops[332]["executionOrder"], 333);
        assert_eq!(stops[334]["executionOrder"], 4_335);
        assert_eq!(stops[999]["executionOrder"], 5_000);
    }

    #[test]
    fn a_run_without_steps_has_no_flow() {
        assert!(flows_of(|evidence| evidence.runs[0].steps.clear()).is_empty());
    }
}
