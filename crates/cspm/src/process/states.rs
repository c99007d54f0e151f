//! The states of a component while it is explored, and their terms afterwards.
//!
//! At first a state is a term. From [`super::CompileOptions::schemas_from`] states on, or when there are many
//! transitions, a state is the number of a [shape](super::shapes) and the numbers of its values, all in one array, and
//! its steps come from [schemas](super::schemas). Its term is made when something asks for it: a report that names the
//! state, or a look at whether the process grows without bound.
//!
//! What a state is called is found by the calls that led to it, so a state remembers from which one it was found first.
//! Before its term is shown, the steps of that one are found one by one; then everything has the name that it has in a
//! small component.
//!
//! Cost: 20 bytes a state and 4 for each value.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use trefoil_lts::{SliceTable, Transition};
use trefoil_system::{LabelId, StateId};

use super::Compiler;
use super::families::family_of;
use super::leaf::{Exploring, LEAST_FRAGMENT, MachineId};
use super::schemas::{SchemaId, Target};
use super::shapes::{NoShape, ShapeId, Source};
use super::terms::TermId;
use crate::eval::{Reason, Result, is_data};

/// The states of a component in the order in which they were found.
#[derive(Default)]
pub(super) struct States {
    /// The terms of the first states.
    terms: Vec<TermId>,
    /// The states whose terms are known.
    numbers: HashMap<TermId, u32, FixedState>,
    packed: Option<Packed>,
}

/// States as shapes with values.
#[derive(Default)]
struct Packed {
    /// The shape and the values of each state.
    rows: SliceTable,
    /// The state from which each was found first.
    parents: Vec<u32>,
    /// The terms of states that are not among the first ones, as far as they are known.
    terms: HashMap<u32, TermId, FixedState>,
}

/// Names are looked for on so many steps before a state.
const NAMED_AFTER: usize = 200;

/// States are packed when they and their shapes take no more than this many words each, counting at least
/// [`LEAST_STATES`].
const WORDS_A_STATE: usize = 64;
const LEAST_STATES: usize = 1_000;

const NOT_FOUND: u32 = u32::MAX;

impl States {
    pub(super) fn new(root: TermId) -> States {
        let mut states = States { terms: vec![root], ..States::default() };
        states.numbers.insert(root, 0);
        states
    }

    pub(super) fn len(&self) -> usize {
        self.packed.as_ref().map_or(self.terms.len(), |packed| packed.parents.len())
    }

    pub(super) fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// The terms, when no state is packed.
    pub(super) fn terms(&self) -> &[TermId] {
        &self.terms
    }

    fn known_term(&self, state: usize) -> Option<TermId> {
        let later = || self.packed.as_ref().and_then(|packed| packed.terms.get(&(state as u32)));
        self.terms.get(state).or_else(later).copied()
    }
}

/// The terms of the states of a machine.
#[derive(Default)]
pub(super) struct StateTerms {
    states: States,
    /// By state of the machine, which of the states that were found it is.
    found: Vec<u32>,
}

impl StateTerms {
    /// Some of the states of a component that was explored.
    pub(super) fn some(mut states: States, found: Vec<u32>) -> StateTerms {
        if !states.is_packed() {
            return StateTerms::listed(found.iter().map(|&state| states.terms[state as usize]).collect());
        }
        states.numbers = HashMap::default();
        StateTerms { states, found }
    }

    /// Terms that are all known.
    pub(super) fn listed(terms: Vec<TermId>) -> StateTerms {
        StateTerms { found: (0..terms.len() as u32).collect(), states: States { terms, ..States::default() } }
    }

    /// How many states have terms.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }
}

impl Compiler {
    /// The term of a state of a machine; none for what was compressed as a whole, or when a budget ends.
    pub(super) fn term_of_state(&mut self, machine: MachineId, state: u32) -> Option<TermId> {
        let data = self.machines.data[machine.index()].as_mut()?;
        let found = *data.terms.found.get(state as usize)? as usize;
        if let Some(&known) = data.terms.states.terms.get(found) {
            return Some(known);
        }
        let mut states = std::mem::take(&mut data.terms.states);
        let term = self.named_state_term(&mut states, found, NAMED_AFTER);
        if let Some(data) = &mut self.machines.data[machine.index()] {
            data.terms.states = states;
        }
        term.ok()
    }

    /// Turns terms into shapes with values; false when that does not serve: the states are long terms that differ in
    /// more than values, or two terms that were told apart are one shape with equal values, as processes that hold
    /// themselves may be.
    pub(super) fn pack(&mut self, states: &mut States) -> Result<bool> {
        let mut packed = Packed::default();
        let mut room = WORDS_A_STATE * states.terms.len().max(LEAST_STATES);
        for (state, &term) in (0..).zip(&states.terms) {
            self.control.check()?;
            let known = self.shapes.len();
            let row = self.row_of(term)?;
            let new = if self.shapes.len() > known { self.shapes.length(ShapeId(row[0])) } else { 0 };
            if row.len() + new > room {
                return Ok(false);
            }
            room -= row.len() + new;
            let number = packed.rows.intern(&row, &self.control)?;
            if number != state {
                return Ok(false);
            }
            // The first states have their terms.
            packed.parents.push(state);
        }
        states.packed = Some(packed);
        Ok(true)
    }

    /// A term as the number of its shape and those of its values.
    fn row_of(&mut self, term: TermId) -> Result<Vec<u32>> {
        let (shape, sources) = match self.shape_of(term, false) {
            Ok(found) => found,
            Err(NoShape::Failure(failure)) => return Err(failure),
            Err(NoShape::Deep) => unreachable!("a term without open values has a shape"),
        };
        let value = |source: &Source| match *source {
            Source::Value(number) => number,
            _ => unreachable!("no value is open"),
        };
        Ok([shape.0].into_iter().chain(sources.iter().map(value)).collect())
    }

    /// The number of a state by its term, found from another state; whether it is new.
    pub(super) fn state_of_term(&mut self, states: &mut States, term: TermId, from: usize) -> Result<(u32, bool)> {
        if let Some(&known) = states.numbers.get(&term) {
            return Ok((known, false));
        }
        let next = states.len() as u32;
        let row = if states.is_packed() { self.row_of(term)? } else { Vec::new() };
        let number = match &mut states.packed {
            Some(packed) => {
                let number = packed.rows.intern(&row, &self.control)?;
                if number == next {
                    packed.parents.push(from as u32);
                }
                packed.terms.insert(number, term);
                number
            }
            None => {
                states.terms.push(term);
                next
            }
        };
        states.numbers.insert(term, number);
        Ok((number, number == next))
    }

    /// The term of a state.
    pub(super) fn state_term(&mut self, states: &mut States, state: usize) -> Result<TermId> {
        if let Some(known) = states.known_term(state) {
            return Ok(known);
        }
        let packed = states.packed.as_ref().expect("states without terms are packed");
        let row: Vec<u32> = packed.rows.get(state as u32).to_vec();
        let term =
            self.with_values(ShapeId(row[0]), &|compiler, place| compiler.events.data.get(row[place + 1]).clone())?;
        states.packed.as_mut().expect("it was looked at").terms.insert(state as u32, term);
        states.numbers.insert(term, state as u32);
        Ok(term)
    }

    /// The term of a state after the calls that give it and its parts names were made, on so many steps before it.
    pub(super) fn named_state_term(&mut self, states: &mut States, state: usize, steps: usize) -> Result<TermId> {
        let mut way = Vec::new();
        let mut at = state;
        while at >= states.terms.len() && way.len() < steps {
            let Some(packed) = &states.packed else { break };
            at = packed.parents[at] as usize;
            way.push(at);
        }
        for &before in way.iter().rev() {
            let term = self.state_term(states, before)?;
            if self.terms.moves[term.index()].is_none() {
                self.steps(term)?;
                self.names = None;
            }
        }
        self.state_term(states, state)
    }

    /// The weight, and whether parallel operators and layers are in it, of a state's term.
    pub(super) fn facts_of(&self, states: &States, state: u32) -> (u32, bool, bool) {
        match &states.packed {
            Some(packed) => {
                let shape = self.shapes.get(ShapeId(packed.rows.get(state)[0]));
                (shape.weight, shape.parallel, shape.layers)
            }
            None => {
                let term = states.terms[state as usize];
                (self.terms.weight(term), self.terms.has_parallel(term), self.terms.has_layers(term))
            }
        }
    }

    /// The schema of a packed state, whose values are noted.
    pub(super) fn schema_of(&mut self, exploring: &mut Exploring, state: usize) -> Result<Option<SchemaId>> {
        let Some(packed) = &exploring.states.packed else { return Ok(None) };
        let row = packed.rows.get(state as u32);
        exploring.values.clear();
        exploring.values.extend_from_slice(&row[1..]);
        self.schema(ShapeId(row[0]), &exploring.values)
    }

    /// Completes a schema for a state: its transitions and fragments. False when something goes wrong, so that the
    /// state is to be explored one by one.
    pub(super) fn follow(&mut self, exploring: &mut Exploring, state: usize, schema: SchemaId) -> Result<bool> {
        let made = self.schemas.get(schema);
        exploring.targets.clear();
        exploring.targets.resize(made.targets.len(), NOT_FOUND);
        for (at, piece) in made.pieces.iter().enumerate() {
            let is_fragment = made.pieces.len() > 1 && piece.steps.len() >= LEAST_FRAGMENT;
            if is_fragment {
                let values = &exploring.values;
                exploring.read.clear();
                exploring.read.extend(piece.reads.iter().map(|&place| values[place as usize]));
                if let Some(known) = exploring.fragments.of_piece(schema, at, piece, &exploring.read) {
                    exploring.parts.push(known);
                    continue;
                }
            }
            let from = exploring.row.len();
            for &(label, target) in &piece.steps {
                self.control.check()?;
                let Some(label) = self.completed_label(label, exploring)? else { return Ok(false) };
                let known = exploring.targets[target as usize];
                let target = if known != NOT_FOUND {
                    known
                } else {
                    let next = exploring.states.len() as u32;
                    let Some(number) = self.completed_target(&made.targets[target as usize], state, exploring)? else {
                        return Ok(false);
                    };
                    exploring.targets[target as usize] = number;
                    if number == next {
                        self.found_new(exploring, number)?;
                    }
                    number
                };
                exploring.row.push(Transition { label, target: StateId(target) });
            }
            if is_fragment {
                let fragment = exploring.fragment_from(from);
                exploring.fragments.insert(schema, at, piece, &exploring.read, fragment);
                exploring.parts.push(fragment);
            }
        }
        Ok(true)
    }

    /// The label of a step of a schema; none when that goes wrong.
    fn completed_label(&mut self, label: LabelId, exploring: &Exploring) -> Result<Option<LabelId>> {
        let Some(family) = family_of(label) else { return Ok(Some(label)) };
        let values = &exploring.values;
        unless_mistaken(self.events.member(family, |place| values[place as usize], &mut self.evaluator))
    }

    /// The target of a step of a schema; none when that goes wrong.
    fn completed_target(&mut self, target: &Target, from: usize, exploring: &mut Exploring) -> Result<Option<u32>> {
        let mut next = std::mem::take(&mut exploring.next);
        next.clear();
        next.push(target.shape.0);
        for source in &target.row {
            let number = match *source {
                Source::Value(number) => number,
                Source::Copied(place) => exploring.values[place as usize],
                Source::Computed(number) => {
                    let Some(value) = self.computed(number, &exploring.values)? else { return Ok(None) };
                    value
                }
            };
            next.push(number);
        }
        let packed = exploring.states.packed.as_mut().expect("schemas are for packed states");
        let number = packed.rows.intern(&next, &self.control)?;
        if number as usize == packed.parents.len() {
            packed.parents.push(from as u32);
        }
        exploring.next = next;
        Ok(Some(number))
    }

    /// The number of a computed value; none when that goes wrong, or gives no data.
    fn computed(&mut self, number: u32, values: &[u32]) -> Result<Option<u32>> {
        let computation = self.shapes.computation(number);
        let data = &self.events.data;
        let value = self.evaluator.compute(computation, |place| data.get(values[place as usize]).clone());
        let value = unless_mistaken(value)?.filter(is_data);
        Ok(value.map(|value| self.events.data.number(value)))
    }

    /// A state was found that was not known: its process may be too large.
    pub(super) fn found_new(&mut self, exploring: &mut Exploring, state: u32) -> Result<()> {
        let (weight, parallel, layers) = self.facts_of(&exploring.states, state);
        if let Some(grows) = self.grows(exploring.root, weight) {
            return Err(grows);
        }
        exploring.parallel |= parallel;
        exploring.layers |= layers;
        self.unbounded(&mut exploring.states)
    }
}

/// A mistake is nothing here: it is made again, and reported, when the state is explored one by one.
fn unless_mistaken<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(failure) if matches!(failure.reason(), Reason::Mistake(_)) => Ok(None),
        other => other.map(Some),
    }
}
