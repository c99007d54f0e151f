//! Values of parameters as the numbers that slots hold.
//!
//! A parameter that only ever gets constants has few values, which are listed, and so has a parameter of a small finite
//! sort: its slot is `Below(n)`. All other values are numbered as they are found, one numbering for all sorts whose
//! terms can be the same: numbers of every sort are the same terms, and so is `[]` in all lists.
//!
//! A term that is stuck (`head([])`) can be the value of a parameter of a finite sort, and is not in its list. The
//! system then is outgrown, and its wider form numbers the values of finite sorts, too.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_data::rewrite::{Program, Rewriter, Unfinished};
use trefoil_data::sorts::{BOOL, INT, NAT, POS, REAL, SortKind, SortRef};
use trefoil_system::{Domain, Value};
use trefoil_terms::{Numbering, Pool, Section, Term};

/// Finite sorts with at most this many values are listed.
const MOST_LISTED: usize = 256;

/// Sorts whose terms can be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Family {
    Numbers,
    Compound,
    Functions,
    Sort(SortRef),
}

/// The numberings of a program's values.
#[derive(Default)]
pub(super) struct Numberings {
    families: HashMap<Family, Arc<Met>>,
}

impl Numberings {
    /// The numbering of a sort's values.
    pub(super) fn of(&mut self, sort: SortRef, program: &Arc<Program>, pool: &Pool) -> Arc<Met> {
        let functions = program.holds_functions(sort);
        let family = match (sort, program.specification.sorts.kind(sort)) {
            (POS | NAT | INT | REAL, _) => Family::Numbers,
            (_, SortKind::Container(..) | SortKind::Function(..)) if functions => Family::Functions,
            (_, SortKind::Container(..)) => Family::Compound,
            _ => Family::Sort(sort),
        };
        let made =
            || Arc::new(Met { program: program.clone(), pool: pool.clone(), numbering: pool.numbering(), functions });
        self.families.entry(family).or_insert_with(made).clone()
    }
}

/// Values that are numbered as they are found.
pub(super) struct Met {
    program: Arc<Program>,
    pool: Pool,
    numbering: Numbering,
    /// Whether values can hold functions, which are kept in one form.
    functions: bool,
}

impl Domain for Met {
    fn bytes(&self, value: Value, into: &mut Vec<u8>) {
        self.numbering.bytes(value, into);
    }

    fn value(&self, bytes: &[u8]) -> Option<Value> {
        self.numbering.value(bytes)
    }

    fn compare(&self, left: Value, right: Value) -> std::cmp::Ordering {
        self.numbering.compare(left, right)
    }

    fn text(&self, value: Value) -> String {
        let term = self.numbering.term(value).expect("a value of this domain");
        let worker = self.pool.worker();
        self.program.text(&worker.enter(), term)
    }

    fn len(&self) -> usize {
        self.numbering.len()
    }
}

/// Which numbers stand for the values of a parameter or an argument.
#[derive(Clone)]
pub(super) enum Encoding {
    /// Values that are known before the search.
    Listed(Arc<Listed>),
    /// Values that are found.
    Met(Arc<Met>),
}

/// Values in order, and the place of each.
pub(super) struct Listed {
    values: Vec<Term>,
    places: HashMap<Term, Value, foldhash::fast::FixedState>,
    texts: Vec<String>,
}

impl Listed {
    /// The values, in order.
    pub(super) fn values(&self) -> &[Term] {
        &self.values
    }
}

impl Encoding {
    /// The values in this list, each once; they live as long as the program.
    pub(super) fn listed(program: &Program, section: &Section<'_>, values: impl IntoIterator<Item = Term>) -> Encoding {
        let mut listed = Listed { values: Vec::new(), places: HashMap::default(), texts: Vec::new() };
        for value in values {
            let place = listed.values.len() as Value;
            if *listed.places.entry(value).or_insert(place) == place {
                listed.values.push(value);
                listed.texts.push(program.text(section, value));
            }
        }
        Encoding::Listed(Arc::new(listed))
    }

    /// How many values were found and the last of them as text, where values are numbered as they are found.
    pub(super) fn latest(&self) -> Option<(usize, String)> {
        let Encoding::Met(met) = self else { return None };
        let found = met.numbering.len();
        // A thread that took a number may not have stored its term yet.
        let term = (0..found as u32).rev().find_map(|number| met.numbering.term(number))?;
        let worker = met.pool.worker();
        Some((found, met.program.text(&worker.enter(), term)))
    }

    /// The values of a sort, when it is finite and has few.
    pub(super) fn finite(program: &Program, section: &Section<'_>, sort: SortRef) -> Option<Encoding> {
        let is_declared =
            matches!(program.specification.sorts.kind(sort), SortKind::Named(_) | SortKind::Structured(_));
        if sort != BOOL && !is_declared {
            return None;
        }
        let values = program.values(section, sort)?;
        (values.len() <= MOST_LISTED).then(|| Encoding::listed(program, section, values.iter().copied()))
    }

    /// Whether a number stands for the same value in both.
    pub(super) fn is_same(&self, other: &Encoding) -> bool {
        match (self, other) {
            (Encoding::Listed(one), Encoding::Listed(other)) => Arc::ptr_eq(one, other),
            (Encoding::Met(one), Encoding::Met(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// The number of a value; nothing when it is not in the list.
    #[inline]
    pub(super) fn encode(&self, section: &Section<'_>, term: Term) -> Option<Value> {
        match self {
            Encoding::Listed(listed) => listed.places.get(&term).copied(),
            Encoding::Met(met) => Some(met.numbering.number(section, term)),
        }
    }

    /// The number of a value that was just computed; nothing when it is not in the list.
    #[inline]
    pub(super) fn number(&self, rewriter: &mut Rewriter<'_>, term: Term) -> Result<Option<Value>, Unfinished> {
        let term = match self {
            Encoding::Met(met) if met.functions => rewriter.settled(term)?,
            _ => term,
        };
        Ok(self.encode(rewriter.section(), term))
    }

    /// The value with a number.
    #[inline]
    pub(super) fn decode(&self, value: Value) -> Term {
        match self {
            Encoding::Listed(listed) => listed.values[value as usize],
            Encoding::Met(met) => met.numbering.term(value).expect("a value that was numbered"),
        }
    }

    /// The value with a number as text.
    pub(super) fn text(&self, value: Value) -> String {
        match self {
            Encoding::Listed(listed) => listed.texts[value as usize].clone(),
            Encoding::Met(met) => met.text(value),
        }
    }

    /// How a slot of these values is declared.
    pub(super) fn values(&self) -> trefoil_system::Values {
        match self {
            Encoding::Listed(listed) => trefoil_system::Values::Below(listed.values.len() as u32),
            Encoding::Met(met) => trefoil_system::Values::Met(met.clone()),
        }
    }
}
