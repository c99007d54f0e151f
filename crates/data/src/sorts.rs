//! Sorts, each kept once.
//!
//! Aliases are equalities: before anything is typed, every sort expression becomes a [`SortRef`], and two sorts are
//! equal exactly when their references are. A structured sort is known by its name, or by what it holds where it has
//! none, so that recursion ends at it.

use std::collections::HashMap;

use crate::signature::FunctionId;
use crate::syntax::tree::{Basic, Container, Symbol};

/// A sort in [`Sorts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SortRef(pub u32);

/// What a sort is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SortKind {
    /// A built-in sort.
    Basic(Basic),
    /// A declared sort, with or without constructors.
    Named(Symbol),
    /// A structured sort without a name; the number tells it from others.
    Structured(u32),
    /// `List(S)` and the others.
    Container(Container, SortRef),
    /// `A # B -> C`
    Function(Box<[SortRef]>, SortRef),
}

/// The table behind [`SortRef`].
#[derive(Clone, Debug)]
pub struct Sorts {
    kinds: Vec<SortKind>,
    /// How deeply containers and functions are nested in each sort.
    depths: Vec<u32>,
    references: HashMap<SortKind, SortRef, foldhash::fast::RandomState>,
    /// Constructors of declared sorts, in the order of declaration.
    constructors: HashMap<SortRef, Vec<FunctionId>, foldhash::fast::RandomState>,
}

/// `Bool`
pub const BOOL: SortRef = SortRef(0);
/// `Pos`
pub const POS: SortRef = SortRef(1);
/// `Nat`
pub const NAT: SortRef = SortRef(2);
/// `Int`
pub const INT: SortRef = SortRef(3);
/// `Real`
pub const REAL: SortRef = SortRef(4);

impl Default for Sorts {
    fn default() -> Sorts {
        let mut sorts = Sorts {
            kinds: Vec::new(),
            depths: Vec::new(),
            references: HashMap::default(),
            constructors: HashMap::default(),
        };
        for basic in [Basic::Bool, Basic::Pos, Basic::Nat, Basic::Int, Basic::Real] {
            sorts.intern(SortKind::Basic(basic));
        }
        sorts
    }
}

impl Sorts {
    /// The reference of a sort, made at its first use.
    pub fn intern(&mut self, kind: SortKind) -> SortRef {
        if let Some(&reference) = self.references.get(&kind) {
            return reference;
        }
        let reference = SortRef(self.kinds.len() as u32);
        self.depths.push(match &kind {
            SortKind::Basic(_) | SortKind::Named(_) | SortKind::Structured(_) => 0,
            SortKind::Container(_, element) => self.depth(*element) + 1,
            SortKind::Function(domain, codomain) => {
                domain.iter().map(|&part| self.depth(part)).fold(self.depth(*codomain), u32::max) + 1
            }
        });
        self.kinds.push(kind.clone());
        self.references.insert(kind, reference);
        reference
    }

    /// What a sort is.
    pub fn kind(&self, sort: SortRef) -> &SortKind {
        &self.kinds[sort.0 as usize]
    }

    /// How deeply containers and functions are nested in a sort; the parts of a structured sort do not count.
    pub fn depth(&self, sort: SortRef) -> u32 {
        self.depths[sort.0 as usize]
    }

    /// The container sort over an element sort.
    pub fn container(&mut self, container: Container, element: SortRef) -> SortRef {
        self.intern(SortKind::Container(container, element))
    }

    /// The sort of functions.
    pub fn function(&mut self, domain: &[SortRef], codomain: SortRef) -> SortRef {
        self.intern(SortKind::Function(domain.into(), codomain))
    }

    /// The sort of functions, if it was made before.
    pub fn find_function(&self, domain: &[SortRef], codomain: SortRef) -> Option<SortRef> {
        self.references.get(&SortKind::Function(domain.into(), codomain)).copied()
    }

    /// Domain and codomain of a function sort.
    pub fn as_function(&self, sort: SortRef) -> Option<(&[SortRef], SortRef)> {
        match self.kind(sort) {
            SortKind::Function(domain, codomain) => Some((domain, *codomain)),
            _ => None,
        }
    }

    /// How many sorts there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none, which is never.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Adds a constructor to a declared sort.
    pub fn add_constructor(&mut self, sort: SortRef, constructor: FunctionId) {
        self.constructors.entry(sort).or_default().push(constructor);
    }

    /// The constructors of a declared sort, in the order of declaration.
    pub fn constructors(&self, sort: SortRef) -> &[FunctionId] {
        self.constructors.get(&sort).map_or(&[], Vec::as_slice)
    }
}

/// The place of a number sort in Pos < Nat < Int < Real.
pub fn rank(sort: SortRef) -> Option<u32> {
    (POS.0..=REAL.0).contains(&sort.0).then(|| sort.0 - POS.0)
}
