//! Sorts that are not known in full.
//!
//! While an expression is typed from the inside out, parts of its sort may be open: `[]` is a list of anything, and the
//! elements of `[1, 2]` may be any number sort from `Pos` on, because the elements of a literal are converted one by
//! one; for the same reason those of `[{1}]` are finite sets or sets. A [`Pattern`] is a sort with such holes. Two
//! patterns *meet* when one sort fits both; they *join* when values of both can be converted to one sort.

use crate::sorts::{SortKind, SortRef, Sorts, rank};
use crate::syntax::tree::Container;

/// A sort with holes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pattern {
    /// A sort without holes.
    Known(SortRef),
    /// Any sort.
    Any,
    /// This number sort or a wider one.
    AtLeast(SortRef),
    /// This finite container or the infinite one that it widens to.
    Finite(Container, Box<Pattern>),
    /// A container whose element sort has holes.
    Container(Container, Box<Pattern>),
    /// A function sort with holes.
    Function(Vec<Pattern>, Box<Pattern>),
    /// A variable of a built-in function's scheme.
    Variable(u8),
}

impl Pattern {
    /// A container, known when its element sort is.
    pub(super) fn container(container: Container, element: Pattern, sorts: &mut Sorts) -> Pattern {
        match element {
            Pattern::Known(element) => Pattern::Known(sorts.container(container, element)),
            element => Pattern::Container(container, Box::new(element)),
        }
    }

    /// A function sort, known when its parts are.
    pub(super) fn function(domain: Vec<Pattern>, codomain: Pattern, sorts: &mut Sorts) -> Pattern {
        let known: Option<Vec<SortRef>> = domain.iter().map(Pattern::known).collect();
        match (known, codomain.known()) {
            (Some(domain), Some(codomain)) => Pattern::Known(sorts.function(&domain, codomain)),
            _ => Pattern::Function(domain, Box::new(codomain)),
        }
    }

    /// What an element of a literal, or the body of a function, can be: these are converted one by one, so that a
    /// sort is only a lower bound.
    pub(super) fn opened(self, sorts: &Sorts) -> Pattern {
        match self {
            Pattern::Known(sort) if rank(sort).is_some() => Pattern::AtLeast(sort),
            pattern => match pattern.as_container(sorts) {
                Some((container @ (Container::FSet | Container::FBag), element)) => {
                    Pattern::Finite(container, Box::new(element))
                }
                _ => pattern,
            },
        }
    }

    /// How deeply containers and functions are nested in it.
    pub(super) fn depth(&self, sorts: &Sorts) -> u32 {
        match self {
            Pattern::Known(sort) => sorts.depth(*sort),
            Pattern::Any | Pattern::AtLeast(_) | Pattern::Variable(_) => 0,
            Pattern::Finite(_, element) | Pattern::Container(_, element) => element.depth(sorts) + 1,
            Pattern::Function(domain, codomain) => {
                domain.iter().map(|part| part.depth(sorts)).fold(codomain.depth(sorts), u32::max) + 1
            }
        }
    }

    fn known(&self) -> Option<SortRef> {
        match self {
            Pattern::Known(sort) => Some(*sort),
            _ => None,
        }
    }

    /// The container and its element pattern.
    pub(super) fn as_container(&self, sorts: &Sorts) -> Option<(Container, Pattern)> {
        match self {
            Pattern::Container(container, element) | Pattern::Finite(container, element) => {
                Some((*container, (**element).clone()))
            }
            Pattern::Known(sort) => match sorts.kind(*sort) {
                SortKind::Container(container, element) => Some((*container, Pattern::Known(*element))),
                _ => None,
            },
            _ => None,
        }
    }

    /// Domain and codomain of a function.
    pub(super) fn as_function(&self, sorts: &Sorts) -> Option<(Vec<Pattern>, Pattern)> {
        match self {
            Pattern::Function(domain, codomain) => Some((domain.clone(), (**codomain).clone())),
            Pattern::Known(sort) => sorts.as_function(*sort).map(|(domain, codomain)| {
                (domain.iter().map(|&sort| Pattern::Known(sort)).collect(), Pattern::Known(codomain))
            }),
            _ => None,
        }
    }

    /// The least number sort it can be.
    fn number(&self) -> Option<SortRef> {
        match self {
            Pattern::Known(sort) | Pattern::AtLeast(sort) => rank(*sort).map(|_| *sort),
            _ => None,
        }
    }

    /// The sort it stands for when nothing else decides: the least number sort, and no sort for a hole.
    pub(super) fn settle(&self, sorts: &mut Sorts) -> Option<SortRef> {
        match self {
            Pattern::Known(sort) | Pattern::AtLeast(sort) => Some(*sort),
            Pattern::Any | Pattern::Variable(_) => None,
            Pattern::Container(container, element) | Pattern::Finite(container, element) => {
                let element = element.settle(sorts)?;
                Some(sorts.container(*container, element))
            }
            Pattern::Function(domain, codomain) => {
                let domain: Option<Vec<SortRef>> = domain.iter().map(|part| part.settle(sorts)).collect();
                let codomain = codomain.settle(sorts)?;
                Some(sorts.function(&domain?, codomain))
            }
        }
    }
}

/// The sorts that fit both patterns.
pub(super) fn meet(one: &Pattern, other: &Pattern, sorts: &mut Sorts) -> Option<Pattern> {
    match (one, other) {
        (Pattern::Any, pattern) | (pattern, Pattern::Any) => Some(pattern.clone()),
        (Pattern::Known(one), Pattern::Known(other)) => (one == other).then_some(Pattern::Known(*one)),
        (Pattern::AtLeast(least), Pattern::Known(sort)) | (Pattern::Known(sort), Pattern::AtLeast(least)) => {
            (rank(*sort)? >= rank(*least)?).then_some(Pattern::Known(*sort))
        }
        (Pattern::AtLeast(one), Pattern::AtLeast(other)) => Some(Pattern::AtLeast((*one).max(*other))),
        (Pattern::Finite(finite, one), Pattern::Finite(same, other)) => {
            let element = (finite == same).then(|| meet(one, other, sorts))??;
            Some(Pattern::Finite(*finite, Box::new(element)))
        }
        (Pattern::Finite(finite, element), pattern) | (pattern, Pattern::Finite(finite, element)) => {
            let (container, other) = pattern.as_container(sorts)?;
            let fits = container == *finite || widens(*finite, container);
            let element = fits.then(|| meet(element, &other, sorts))??;
            Some(Pattern::container(container, element, sorts))
        }
        _ => {
            if let (Some((container, one)), Some((same, other))) = (one.as_container(sorts), other.as_container(sorts))
            {
                let element = (container == same).then(|| meet(&one, &other, sorts))??;
                return Some(Pattern::container(container, element, sorts));
            }
            let ((domain, codomain), (others, other)) = (one.as_function(sorts)?, other.as_function(sorts)?);
            if domain.len() != others.len() {
                return None;
            }
            let parts: Option<Vec<Pattern>> =
                domain.iter().zip(&others).map(|(one, other)| meet(one, other, sorts)).collect();
            let codomain = meet(&codomain, &other, sorts)?;
            Some(Pattern::function(parts?, codomain, sorts))
        }
    }
}

/// The least pattern that values of both patterns can be converted to, and how many conversions that takes.
pub(super) fn join(one: &Pattern, other: &Pattern, sorts: &mut Sorts) -> Option<(Pattern, u32)> {
    if let (Some(one), Some(other)) = (one.number(), other.number()) {
        return Some((Pattern::Known(one.max(other)), one.0.abs_diff(other.0)));
    }
    if let Some(both) = meet(one, other, sorts) {
        return Some((both, 0));
    }
    let (Some((container, one)), Some((another, other))) = (one.as_container(sorts), other.as_container(sorts)) else {
        return None;
    };
    let wider = if widens(container, another) {
        another
    } else if widens(another, container) {
        container
    } else {
        return None;
    };
    let element = meet(&one, &other, sorts)?;
    Some((Pattern::container(wider, element, sorts), 1))
}

/// Whether finite sets or bags become sets or bags.
fn widens(from: Container, to: Container) -> bool {
    matches!((from, to), (Container::FSet, Container::Set) | (Container::FBag, Container::Bag))
}

/// What a value of one pattern becomes when it is converted to the other one, and how many conversions that takes.
pub(super) fn convert(from: &Pattern, to: &Pattern, sorts: &mut Sorts) -> Option<(Pattern, u32)> {
    if let (Some(least), Some(wanted)) = (from.number(), to.number()) {
        return match to {
            Pattern::AtLeast(_) => Some((Pattern::AtLeast(least.max(wanted)), 0)),
            _ => (least <= wanted).then(|| (Pattern::Known(wanted), wanted.0 - least.0)),
        };
    }
    if let Some(both) = meet(from, to, sorts) {
        return Some((both, 0));
    }
    let ((container, element), (wanted, wanted_element)) = (from.as_container(sorts)?, to.as_container(sorts)?);
    if !widens(container, wanted) {
        return None;
    }
    let element = meet(&element, &wanted_element, sorts)?;
    Some((Pattern::container(wanted, element, sorts), 1))
}
