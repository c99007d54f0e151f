//! What operators ask of a part: bags of names.

use std::collections::BTreeSet;

use trefoil_data::syntax::tree::Symbol;

/// Names of a step, sorted.
pub(super) type Bag = Vec<Symbol>;

/// Which other names may come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Others {
    Only(BTreeSet<Symbol>),
    AllBut(BTreeSet<Symbol>),
}

impl Others {
    pub(super) fn none() -> Others {
        Others::Only(BTreeSet::new())
    }

    pub(super) fn contains(&self, name: Symbol) -> bool {
        match self {
            Others::Only(names) => names.contains(&name),
            Others::AllBut(names) => !names.contains(&name),
        }
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Others::Only(names) if names.is_empty())
    }
}

/// A bag that must come, and names that may come as well.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Demand {
    pub(super) exact: Bag,
    pub(super) others: Others,
}

impl Demand {
    pub(super) fn takes(&self, bag: &[Symbol]) -> bool {
        let mut rest = bag.to_vec();
        for name in &self.exact {
            match rest.iter().position(|other| other == name) {
                Some(place) => {
                    rest.remove(place);
                }
                None => return false,
            }
        }
        rest.into_iter().all(|name| self.others.contains(name))
    }
}

/// Every way to take a part of a bag, among some names: what is taken, and what is left.
pub(super) fn shares(bag: &[Symbol], names: &BTreeSet<Symbol>) -> Vec<(Bag, Bag)> {
    let mut shares = vec![(Vec::new(), Vec::new())];
    let mut start = 0;
    while start < bag.len() {
        let name = bag[start];
        let end = start + bag[start..].iter().take_while(|&&other| other == name).count();
        let most = if names.contains(&name) { end - start } else { 0 };
        shares = shares
            .iter()
            .flat_map(|(taken, left): &(Bag, Bag)| {
                (0..=most).map(move |number| {
                    let mut pair = (taken.clone(), left.clone());
                    pair.0.extend(std::iter::repeat_n(name, number));
                    pair.1.extend(std::iter::repeat_n(name, end - start - number));
                    pair
                })
            })
            .collect();
        start = end;
    }
    shares
}
