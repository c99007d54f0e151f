//! mCRL2's binary `.lts` files: a stream of terms ([`super::mcrl2_terms`]) with a fixed order.
//!
//! First the marker `labelled_transition_system`, then a data specification (five sequences, each with its length in
//! front), the parameters of the process and the declared actions: all of these are passed over. Then, in any mix,
//! transitions (a marker, source, multi-action, target), labels of states (lists, passed over, one a state) and the
//! initial state. Transitions to a distribution of states are refused.
//!
//! A multi-action becomes one label, whose text is that of mCRL2's `.aut` files, its actions by name and then by
//! arguments ([`super::mcrl2_text`]); the text of each distinct one is made once.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::{Control, available_memory, count as grouped, human_bytes};
use trefoil_source::Diagnostic;
use trefoil_system::{LabelId, Labels, StateId};

use super::gather::{Gather, row_bytes};
use super::intern::Interner;
use super::mcrl2_terms::{Output, TermId, TermReader};
use super::mcrl2_text::multi_action;
use super::open::Opened;
use super::{ReadError, ReadOptions, codes};
use crate::explicit::Lts;

pub(crate) fn read(
    input: &mut Opened,
    options: &ReadOptions,
    labels: &Arc<Labels>,
    control: &Control,
) -> Result<Lts, ReadError> {
    let stream = TermReader::new(input, control)?;
    let interner = Interner::new(labels, &options.tau_names);
    let mut reading =
        Reading { stream, control, interner, known: HashMap::default(), gather: Gather::new(), states: 1, listed: 0 };
    reading.head()?;
    let mut initial = None;
    loop {
        match reading.stream.next()? {
            Output::End => break,
            Output::Integer(_) => return Err(reading.stream.damaged("an integer where a marker stands").into()),
            Output::Application(symbol) => match reading.stream.symbol(symbol) {
                "transition" => reading.transition()?,
                "probabilistic_transition" => return Err(reading.probabilistic("a transition leads").into()),
                "<list_constructor>" | "<empty_list>" => reading.listed = reading.listed.saturating_add(1),
                "initial_state" => initial = Some(reading.initial()?),
                _ => return Err(reading.stream.damaged("an unknown marker").into()),
            },
        }
    }
    let Some(initial) = initial else {
        return Err(reading.stream.damaged("there is no initial state").into());
    };
    let states = reading.states.max(initial.0 + 1).max(reading.listed.min(u32::MAX - 1));
    // Each state has a transition, a label or is the first, so that a number costs no more memory than the file has
    // bytes.
    let named = reading.gather.count().saturating_mul(2).saturating_add(reading.listed as usize + 1);
    if states as usize > named {
        let why = format!("state {} occurs, but at most {named} states are named", states - 1);
        return Err(reading.stream.damaged(&why).into());
    }
    let bytes = row_bytes(states as usize);
    control.afford(bytes)?;
    if control.limits().memory.is_none() && available_memory().is_some_and(|free| free < bytes as u64) {
        let message = format!(
            "{} states take {} and do not fit into memory",
            grouped(u64::from(states)),
            human_bytes(bytes as u64)
        );
        return Err(Diagnostic::error(codes::TOO_MANY_STATES, message, reading.stream.place()).into());
    }
    Ok(reading.gather.build(labels, initial, states, control)?)
}

struct Reading<'a> {
    stream: TermReader<'a>,
    control: &'a Control,
    interner: Interner,
    /// Multi-actions and times with their labels.
    known: HashMap<(TermId, TermId), LabelId, foldhash::fast::RandomState>,
    gather: Gather,
    /// One more than the largest state of a transition.
    states: u32,
    /// States with labels.
    listed: u32,
}

impl Reading<'_> {
    /// Passes over what comes before the transitions.
    fn head(&mut self) -> Result<(), ReadError> {
        const MARKER: &str = "labelled_transition_system";
        let marker = match self.stream.next()? {
            Output::Application(symbol) => self.stream.symbol(symbol).to_string(),
            _ => String::new(),
        };
        if marker != MARKER {
            let what = match marker.as_str() {
                "linear_process_specification" => "a linear process",
                "parameterised_boolean_equation_system" => "a parameterised Boolean equation system",
                _ => "no labelled transition system",
            };
            let message = format!("this file of mCRL2 has {what}, not a labelled transition system");
            let diagnostic = Diagnostic::error(codes::MCRL2_BINARY, message, self.stream.place());
            return Err(diagnostic
                .help("make the states of a linear process with mCRL2: lps2lts in.lps out.lts")
                .into());
        }
        for _ in 0..5 {
            for _ in 0..self.integer()? {
                self.term()?;
            }
        }
        self.term()?;
        self.term()?;
        Ok(())
    }

    fn transition(&mut self) -> Result<(), ReadError> {
        let source = self.state()?;
        let label = self.label()?;
        let target = self.state()?;
        self.gather.add(source, label, target);
        Ok(())
    }

    fn initial(&mut self) -> Result<StateId, ReadError> {
        match self.integer()? {
            1 => self.state(),
            0 => Err(self.stream.damaged("no initial state").into()),
            _ => Err(self.probabilistic("the system starts").into()),
        }
    }

    fn label(&mut self) -> Result<LabelId, ReadError> {
        let Output::Application(symbol) = self.stream.next()? else {
            return Err(self.stream.damaged("an integer where a multi-action stands").into());
        };
        let (name, &[actions, time]) = (self.stream.symbol(symbol), self.stream.output()) else {
            return Err(self.stream.damaged("no multi-action").into());
        };
        if name != "TimedMultAct" {
            return Err(self.stream.damaged("no multi-action").into());
        }
        if let Some(&known) = self.known.get(&(actions, time)) {
            return Ok(known);
        }
        let text = match multi_action(&self.stream.terms, actions, time) {
            Ok(text) => text,
            Err(unreadable) => return Err(unreadable.diagnostic(&self.stream).into()),
        };
        // Many small terms can share one large one: the texts may be far longer than the file.
        self.control.afford(3 * text.len())?;
        let label = self.interner.label(text.as_bytes()).unwrap_or(LabelId::TAU);
        self.known.insert((actions, time), label);
        Ok(label)
    }

    fn state(&mut self) -> Result<StateId, ReadError> {
        let state = self.integer()?;
        match u32::try_from(state) {
            Ok(state) if state < u32::MAX - 1 => {
                self.states = self.states.max(state + 1);
                Ok(StateId(state))
            }
            _ => {
                let message = format!(
                    "state {state} is beyond the {} states that Trefoil numbers",
                    grouped(u64::from(u32::MAX - 1))
                );
                Err(Diagnostic::error(codes::TOO_MANY_STATES, message, self.stream.place()).into())
            }
        }
    }

    fn integer(&mut self) -> Result<u64, ReadError> {
        match self.stream.next()? {
            Output::Integer(value) => Ok(value),
            _ => Err(self.stream.damaged("a term where an integer stands").into()),
        }
    }

    fn term(&mut self) -> Result<(), ReadError> {
        match self.stream.next()? {
            Output::Application(_) => Ok(()),
            _ => Err(self.stream.damaged("the data specification is not complete").into()),
        }
    }

    fn probabilistic(&self, what: &str) -> Diagnostic {
        let message = format!("{what} to a distribution over states: the system is probabilistic");
        Diagnostic::error(codes::PROBABILISTIC, message, self.stream.place())
            .help("Trefoil has no probabilities; remove `dist` from the model")
    }
}
