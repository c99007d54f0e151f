//! A naive term map: a list of terms, in which a term is found by comparing it with the others.
//!
//! A term is a place in the list. Nothing is collected, so places never change; which terms a collector may take is
//! worked out from the definition ([`NaiveTerms::reachable`]).

use std::collections::{BTreeMap, BTreeSet};

/// A term whose arguments are places in the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NaiveTerm {
    /// A symbol and arguments.
    Application(String, Vec<usize>),
    /// A machine word.
    Word(u64),
    /// A byte string.
    Bytes(Vec<u8>),
}

/// The list.
#[derive(Default)]
pub struct NaiveTerms {
    terms: Vec<NaiveTerm>,
    places: BTreeMap<NaiveTerm, usize>,
}

impl NaiveTerms {
    /// The place of a term, which is added if it is not there.
    pub fn make(&mut self, term: NaiveTerm) -> usize {
        if let Some(&place) = self.places.get(&term) {
            return place;
        }
        self.terms.push(term.clone());
        self.places.insert(term, self.terms.len() - 1);
        self.terms.len() - 1
    }

    /// The term at a place.
    pub fn get(&self, place: usize) -> &NaiveTerm {
        &self.terms[place]
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Is there no term?
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The terms at these places and all below them.
    pub fn reachable(&self, roots: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut pending: Vec<usize> = roots.into_iter().collect();
        while let Some(place) = pending.pop() {
            if found.insert(place)
                && let NaiveTerm::Application(_, arguments) = self.get(place)
            {
                pending.extend(arguments);
            }
        }
        found
    }

    /// The term as text, as a tree.
    pub fn text(&self, place: usize) -> String {
        match self.get(place) {
            NaiveTerm::Application(name, arguments) if arguments.is_empty() => name.clone(),
            NaiveTerm::Application(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(|&argument| self.text(argument)).collect();
                format!("{name}({})", arguments.join(", "))
            }
            NaiveTerm::Word(word) => word.to_string(),
            NaiveTerm::Bytes(bytes) => {
                format!("0x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
            }
        }
    }
}
