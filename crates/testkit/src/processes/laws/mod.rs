//! Algebraic laws of CSP.
//!
//! Both sides of a law mean the same for all processes, events and sets. They are those of Roscoe, *The Theory and
//! Practice of Concurrency* (1998) and *Understanding Concurrent Systems* (2010), and Hoare, *Communicating Sequential
//! Processes* (1985), in the form that holds when `✓` is a signal, with the models in which they hold; those of link
//! parallel and of the synchronising operators follow from the equations in [`super::equations`].

mod choice;
mod hiding;
mod infinite;
mod parallel;
mod renaming;
mod sequence;

use trefoil_system::Model;

use super::alphabet::{Event, Events};
use super::random::{Maker, Shape};
use super::tree::{Pairs, Process};
use crate::Random;

/// Every model.
const ALL: &[Model] = &[Model::Traces, Model::Failures, Model::FailuresDivergences];
/// The traces model, for laws that do not distinguish divergence.
const TRACES: &[Model] = &[Model::Traces];
/// Failures-divergences, for laws that rely on a divergence hiding all that follows it.
const DIVERGENCES: &[Model] = &[Model::FailuresDivergences];

/// A law.
pub struct Law {
    /// What it says.
    pub name: &'static str,
    /// Where it holds.
    pub models: &'static [Model],
    /// Its two sides for random operands.
    pub sides: fn(&mut Operands<'_>) -> (Process, Process),
}

/// Every law.
pub fn laws() -> impl Iterator<Item = &'static Law> {
    [choice::LAWS, sequence::LAWS, parallel::LAWS, hiding::LAWS, renaming::LAWS, infinite::LAWS].into_iter().flatten()
}

/// The operands of a law: every call gives a new one.
pub struct Operands<'a> {
    /// Where the operands come from.
    pub random: &'a mut Random,
    /// What they may have.
    pub shape: Shape,
}

impl Operands<'_> {
    fn maker(&mut self) -> Maker<'_> {
        Maker { shape: self.shape, random: self.random }
    }

    /// Any process.
    fn process(&mut self) -> Process {
        let size = 1 + self.random.below(self.shape.size);
        self.maker().process(size)
    }

    /// A process that never diverges.
    fn calm(&mut self) -> Process {
        let shape = Shape { divergence: false, infinite: false, ..self.shape };
        Operands { random: self.random, shape }.process()
    }

    /// A process with finitely many traces: it can be hidden.
    fn finite(&mut self) -> Process {
        let shape = Shape { infinite: false, ..self.shape };
        Operands { random: self.random, shape }.process()
    }

    /// A process without some event.
    fn avoiding(&mut self, event: Event) -> Process {
        let events = self.shape.events.without(Events::one(event));
        let shape = Shape { infinite: false, events, ..self.shape };
        Operands { random: self.random, shape }.process()
    }

    fn event(&mut self) -> Event {
        self.maker().event()
    }

    /// A different event.
    fn other(&mut self, event: Event) -> Event {
        let others: Vec<Event> = self.shape.events.members().filter(|&other| other != event).collect();
        others[self.random.below(others.len())]
    }

    fn events(&mut self) -> Events {
        self.maker().events()
    }

    /// A set with some events in it.
    fn with(&mut self, events: &[Event]) -> Events {
        self.events().union(Events::of(events.iter().copied()))
    }

    /// A set without some events.
    fn without(&mut self, events: &[Event]) -> Events {
        self.events().without(Events::of(events.iter().copied()))
    }

    /// Any renaming, not empty.
    fn renaming(&mut self) -> Pairs {
        self.maker().pairs()
    }

    /// A permutation of the events, with every event in it.
    fn permutation(&mut self) -> Pairs {
        let mut images: Vec<Event> = Events::SIGMA.members().collect();
        for index in (1..images.len()).rev() {
            images.swap(index, self.random.below(index + 1));
        }
        Events::SIGMA.members().zip(images).collect()
    }
}

/// The images of a set.
fn image(pairs: &Pairs, events: Events) -> Events {
    let images = |event: Event| {
        let new = Events::of(pairs.iter().filter(|pair| pair.0 == event).map(|pair| pair.1));
        if new == Events::NONE { Events::one(event) } else { new }
    };
    events.members().map(images).fold(Events::NONE, Events::union)
}
