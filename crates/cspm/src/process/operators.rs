//! The operators above the components of a machine, as rows of a table: each spans neighbouring components.
//!
//! Components are numbered in the order in which the first skeleton of a network places them, which is the order of the
//! script, so every operator of it stands above a range of components. Operators above the same range are one row; the
//! whole has none, and neither has what stands above a single component.

use super::expand::deeply;
use super::structure::kind_of;
use super::terms::{Node, TermId};
use super::{Compiler, Machine};

/// An operator above several components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// What the script calls it, or what it is.
    pub name: String,
    /// How many operators of the table stand above it.
    pub depth: usize,
    /// Its first component.
    pub first: usize,
    /// How many components it has.
    pub count: usize,
}

/// What is known of the operators above the same components.
#[derive(Default)]
struct Above {
    /// The outermost name that the script has.
    name: Option<String>,
    kinds: Vec<&'static str>,
}

impl Above {
    fn words(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.kinds.join(" of "))
    }
}

impl Compiler {
    /// The operators above the components of a machine, each before those inside it.
    pub fn operators(&mut self, machine: &Machine) -> Vec<Operator> {
        let Some(skeleton) = machine.skeleton else { return Vec::new() };
        let (mut holes, mut found) = (Vec::new(), Vec::new());
        self.operators_of(skeleton, Above::default(), &mut holes, &mut found);
        let all = machine.network.components().len();
        if !holes.is_sorted() || holes.len() > all {
            return Vec::new();
        }
        found.retain(|operator: &Operator| operator.count > 1 && operator.count < all);
        // An operator ends before those begin that are not inside it.
        let mut open: Vec<usize> = Vec::new();
        for operator in &mut found {
            open.retain(|&end| end > operator.first);
            operator.depth = open.len();
            open.push(operator.first + operator.count);
        }
        found
    }

    /// Adds the operators of a term, and the holes below it.
    fn operators_of(&mut self, term: TermId, mut above: Above, holes: &mut Vec<u32>, found: &mut Vec<Operator>) {
        let node = self.terms.node(term).clone();
        if let Node::Hole(hole) = node {
            holes.push(hole);
            return;
        }
        if !self.terms.has_holes(term) {
            return;
        }
        let both = node.both();
        let inner: Vec<TermId> = node.active().iter().chain(both.iter().flatten()).copied().collect();
        above.name = above.name.or_else(|| self.term_name(term));
        above.kinds.push(kind_of(&node).0);
        if let [only] = inner[..] {
            return deeply(|| self.operators_of(only, above, holes, found));
        }
        let (first, at) = (holes.len(), found.len());
        found.push(Operator { name: above.words(), depth: 0, first, count: 0 });
        for operand in inner {
            deeply(|| self.operators_of(operand, Above::default(), holes, found));
        }
        found[at].count = holes.len() - first;
    }
}
