//! A run as a message-sequence chart.
//!
//! Promela's runs are drawn statement by statement, with messages as arrows. In the other languages components
//! synchronise: a step is a box on the lifeline of every component that takes part, with the component's own event, and
//! the boxes are joined. Only components that take part in a step have lifelines. Steps have the numbers of the
//! explanation; those of the cycle that a run ends in follow.

use std::collections::BTreeMap;
use std::sync::Arc;

use trefoil_draw::{Chart, Happening, Lifeline, Message};

use super::report::{Evidence, Finding, Run, Step};

/// The longest text of a box.
const LETTERS: usize = 36;

impl Evidence {
    /// The run as an SVG picture; nothing when there is no run with a step.
    pub fn chart(&self, caption: &str) -> Option<String> {
        if let Some(story) = &self.story {
            return Some(story.chart(caption, matches!(self.finding, Finding::InvalidEnd)));
        }
        let wrong_end = matches!(self.finding, Finding::Event { .. } | Finding::Forbidden { .. });
        self.runs.first()?.chart(caption, &self.process, &self.components, wrong_end)
    }
}

impl Run {
    /// The run as an SVG picture; nothing when it has no step. `wrong_end` marks its last step.
    pub(crate) fn chart(
        &self,
        caption: &str,
        process: &str,
        components: &[Arc<str>],
        wrong_end: bool,
    ) -> Option<String> {
        let steps: Vec<&Step> = self.steps.iter().chain(&self.cycle).collect();
        if steps.is_empty() {
            return None;
        }
        let mut lanes: BTreeMap<usize, usize> = BTreeMap::new();
        for part in steps.iter().flat_map(|step| &step.parts) {
            lanes.insert(part.component, 0);
        }
        if steps.iter().any(|step| step.parts.is_empty()) {
            // The system as a whole, where it is not known which component takes a step.
            lanes.insert(usize::MAX, 0);
        }
        for (at, lane) in lanes.values_mut().enumerate() {
            *lane = at;
        }
        let name = |component: &usize| match components.get(*component) {
            Some(name) => name.to_string(),
            None => process.to_string(),
        };
        let lifelines =
            lanes.keys().map(|component| Lifeline { name: name(component), ..Lifeline::default() }).collect();
        let happening = |(at, step): (usize, &&Step)| {
            let text = |own: &str| {
                // A component that does what the whole does has the event of the whole, with what is hidden.
                let seen = step.event.strip_prefix("τ (").and_then(|rest| rest.strip_suffix(')'));
                let own = if own == "τ" || seen == Some(own) { step.event.as_str() } else { own };
                trefoil_source::shortened(own, LETTERS)
            };
            let mut boxes = step.parts.iter().map(|part| (lanes[&part.component], text(&part.event)));
            let (lifeline, first) = boxes.next().unwrap_or_else(|| (lanes[&usize::MAX], text(&step.event)));
            let others: Vec<(usize, String)> = boxes.collect();
            let message = if others.is_empty() { Message::Nothing } else { Message::Together { others } };
            let place = step.place.as_ref().and_then(|place| place.line.map(|line| format!("{}:{line}", place.file)));
            let mut title = vec![step.event.clone()];
            title.extend(place);
            let wrong = wrong_end && at + 1 == steps.len();
            Happening { lifeline, text: first, title: title.join("\n"), message, wrong, ..Happening::default() }
        };
        let happenings = steps.iter().enumerate().map(happening).collect();
        let cycle = (!self.cycle.is_empty()).then_some(self.steps.len());
        Some(Chart { caption: caption.to_string(), lifelines, happenings, cycle }.svg())
    }
}
