//! Normal forms that are no values: which part is stuck, and what is missing.
//!
//! mCRL2 has no errors of evaluation: a function without an equation that fits stays in the normal form. Such terms are
//! legal values there, equal only to themselves. Here the innermost stuck part is found, since what is around it is
//! stuck because of it, and reported with the declaration and the equations that do not fit.

use std::collections::HashSet;

use trefoil_source::{Diagnostic, FileId, Place};
use trefoil_terms::{Section, Term};

use crate::signature::{FunctionId, Operator, Origin};
use crate::sorts::{SortKind, SortRef};
use crate::typed::{Typed, TypedId, VariableId};

use super::code::FunctionIndex;
use super::codes;
use super::enumerate::MOST_TRIED;
use super::finite::Size;
use super::numbers::{MOST_BITS, Number};
use super::plan::Source;
use super::program::{Kind, Program, Role};

/// Equations that are shown beside a stuck term.
const MOST_SHOWN: usize = 3;

/// How deep a stuck term inside a stuck term is sought.
const DEEPEST: usize = 1000;

/// Longer texts of terms are cut.
const LONGEST: usize = 80;

impl Program {
    /// The innermost part of a normal form that is stuck, the first from the left; nothing for values.
    pub fn stuck(&self, section: &Section<'_>, term: Term) -> Option<Term> {
        let mut found = self.first_stuck(section, &[term])?;
        for _ in 0..DEEPEST {
            match self.first_stuck(section, &self.inside(section, found)) {
                Some(inner) => found = inner,
                None => break,
            }
        }
        Some(found)
    }

    fn first_stuck(&self, section: &Section<'_>, terms: &[Term]) -> Option<Term> {
        let mut pending: Vec<Term> = terms.iter().rev().copied().collect();
        let mut seen: HashSet<Term> = HashSet::new();
        while let Some(term) = pending.pop() {
            if !seen.insert(term) {
                continue;
            }
            if self.is_stuck(section, term) {
                return Some(term);
            }
            pending.extend(self.inside(section, term).iter().rev());
        }
        None
    }

    /// The parts of a term that were evaluated.
    fn inside(&self, section: &Section<'_>, term: Term) -> Vec<Term> {
        match self.role(section.head(term)) {
            Role::Applied(function) if self.operator(function) == Some(Operator::If) => {
                vec![section.argument(term, 0)]
            }
            Role::Applied(_) => section.arguments(term).iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the head of a term is no constructor, and the term is no function.
    fn is_stuck(&self, section: &Section<'_>, term: Term) -> bool {
        let function = match self.role(section.head(term)) {
            Role::Applied(function) => function,
            Role::Quantified(_) => return true,
            _ => return false,
        };
        match self.function(function).kind {
            Kind::Constructor(_) => false,
            Kind::Apply(_) => true,
            _ => match self.function(function).id {
                Some(id) => !self.is_value(id),
                None => true,
            },
        }
    }

    /// Whether applications of a function are values: they are functions, or the function stands for a constructor of a
    /// sort that has none.
    fn is_value(&self, id: FunctionId) -> bool {
        let data = &self.specification;
        let function = data.signature.function(id);
        let codomain = data.sorts.as_function(function.sort).map_or(function.sort, |(_, codomain)| codomain);
        let is_open =
            matches!(data.sorts.kind(codomain), SortKind::Named(_)) && data.sorts.constructors(codomain).is_empty();
        data.sorts.as_function(codomain).is_some() || is_open && self.equations_of(id).is_empty()
    }

    /// The places of the equations that a user wrote for a function.
    fn equations_of(&self, id: FunctionId) -> Vec<Place> {
        let data = &self.specification;
        let head = |left: TypedId| {
            let mut at = left;
            while let Typed::Apply(function, _) = data.tree.expression(at) {
                at = *function;
            }
            *data.tree.expression(at) == Typed::Function(id)
        };
        let own = data.equations.iter().filter(|equation| equation.place.file != FileId(u32::MAX));
        own.filter(|equation| head(equation.left)).map(|equation| Place::Span(equation.place)).collect()
    }

    /// Reports the stuck part of a normal form; `place` is where the expression stands.
    pub fn explain(&self, section: &Section<'_>, term: Term, place: Place) -> Option<Diagnostic> {
        let stuck = self.stuck(section, term)?;
        let text = self.short(section, stuck);
        let function = match self.role(section.head(stuck)) {
            Role::Quantified(function) => return Some(self.undecided(function, &text, place)),
            Role::Applied(function) => function,
            _ => return None,
        };
        let Some(id) = self.function(function).id else {
            let message = format!("`{text}` has no value: what is applied is not known");
            return Some(Diagnostic::warning(codes::STUCK, message, place));
        };
        let data = &self.specification;
        let function = data.signature.function(id);
        let name = data.names.text(function.name);
        Some(match (function.origin, function.place) {
            (Origin::Builtin(operator), _) => {
                let diagnostic = Diagnostic::warning(codes::STUCK, format!("`{text}` has no value"), place);
                match needed(operator) {
                    _ if self.is_too_large(section, operator, stuck) => {
                        diagnostic.help(format!("the result would have more than {MOST_BITS} bits"))
                    }
                    Some(needed) => diagnostic.help(needed),
                    None => diagnostic,
                }
            }
            (Origin::Projection, Some(declared)) => {
                let constructors = data.structured.iter().flat_map(|(_, constructors)| constructors);
                let owners: Vec<_> = constructors.filter(|found| found.projections.contains(&Some(id))).collect();
                let names: Vec<String> = owners
                    .iter()
                    .map(|owner| format!("`{}`", data.names.text(data.signature.function(owner.constructor).name)))
                    .collect();
                let message = format!("`{text}` has no value: `{name}` is a projection of {}", names.join(" and "));
                let diagnostic =
                    Diagnostic::warning(codes::STUCK, message, place).also(Place::Span(declared), "the projection");
                match owners.iter().find_map(|owner| owner.recogniser) {
                    Some(recogniser) => {
                        let recogniser = data.names.text(data.signature.function(recogniser).name);
                        diagnostic.help(format!("test with `{recogniser}` before it is used"))
                    }
                    None => diagnostic,
                }
            }
            (_, declared) => {
                let equations = self.equations_of(id);
                let message = if equations.is_empty() {
                    format!("`{text}` has no value: `{name}` has no equations")
                } else {
                    format!("`{text}` has no value: no equation of `{name}` fits")
                };
                let mut diagnostic = Diagnostic::warning(codes::STUCK, message, place);
                if let Some(declared) = declared {
                    diagnostic = diagnostic.also(Place::Span(declared), format!("`{name}` is declared here"));
                }
                let more = equations.len().saturating_sub(MOST_SHOWN);
                for equation in equations.into_iter().take(MOST_SHOWN) {
                    diagnostic = diagnostic.also(equation, "this equation does not fit");
                }
                if more > 0 {
                    diagnostic = diagnostic.note(format!("nor do {more} other equations of `{name}`"));
                }
                diagnostic.help(format!("add an equation for `{text}`"))
            }
        })
    }

    /// Whether an operation on numbers is stuck because its result is too large.
    fn is_too_large(&self, section: &Section<'_>, operator: Operator, stuck: Term) -> bool {
        let arguments = section.arguments(stuck);
        let numbers: Vec<_> = arguments.iter().filter_map(|part| self.numbers.read(section, part)).collect();
        let all_numbers = numbers.len() == arguments.len();
        match operator {
            Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Succ | Operator::Pred => all_numbers,
            Operator::Divide => all_numbers && numbers[1] != Number::ZERO,
            Operator::Exp => all_numbers && numbers[0] != Number::ZERO,
            _ => false,
        }
    }

    fn short(&self, section: &Section<'_>, term: Term) -> String {
        let text = self.text(section, term);
        if text.chars().count() <= LONGEST { text } else { text.chars().take(LONGEST - 1).chain(['…']).collect() }
    }

    fn undecided(&self, function: FunctionIndex, text: &str, place: Place) -> Diagnostic {
        let searched = self.plans[&function].levels.iter().filter(|level| matches!(level.source, Source::Search));
        let variables: Vec<(VariableId, SortRef)> = searched.flat_map(|level| level.variables.clone()).collect();
        let worst = |&&(_, sort): &&(VariableId, SortRef)| self.size(sort) != Size::Infinite;
        let Some(&(variable, _)) = variables.iter().find(worst).or(variables.first()) else {
            let message = format!("`{text}` is not decided: for some values its body is neither true nor false");
            return Diagnostic::warning(codes::UNDECIDED, message, place);
        };
        let (why, help) = self.unlisted(variable, Some(MOST_TRIED));
        Diagnostic::warning(codes::UNDECIDED, format!("`{text}` is not decided: {why}"), place).help(help)
    }

    /// Why the values of a variable cannot all be tried, where so many were, and what would help.
    pub fn unlisted(&self, variable: VariableId, tried: Option<u64>) -> (String, String) {
        let data = &self.specification;
        let (name, sort) = data.tree.variable(variable);
        let (name, text) = (data.names.text(name), data.sort_text(sort));
        let bound = if crate::sorts::rank(sort).is_some() { format!(" or `{name} < …`") } else { String::new() };
        let tried = tried.map_or(String::new(), |tried| format!("; {tried} were tried"));
        let why = match self.size(sort) {
            Size::Infinite => format!("`{name}: {text}` has infinitely many values{tried}"),
            Size::TooMany => format!("`{name}: {text}` has 2^32 values or more"),
            _ => format!("the values of `{name}: {text}` cannot be listed"),
        };
        (why, format!("say what `{name}` can be: `{name} == …`, `{name} in […]`{bound}"))
    }
}

/// What a built-in function needs.
fn needed(operator: Operator) -> Option<&'static str> {
    Some(match operator {
        Operator::Head | Operator::Tail | Operator::Rhead | Operator::Rtail => "the list must not be empty",
        Operator::At => "the place must be less than the length of the list",
        Operator::Nat2Pos | Operator::Int2Pos | Operator::Real2Pos => "the number must be a whole one above 0",
        Operator::Int2Nat | Operator::Real2Nat => "the number must be a whole one, and not below 0",
        Operator::Real2Int => "the number must be a whole one",
        Operator::Div | Operator::Mod => "the divisor must be above 0",
        Operator::Divide => "the divisor must not be 0",
        Operator::Pick => "the set or bag must not be empty",
        Operator::Exp => "0 has no negative power",
        Operator::Insert
        | Operator::InsertMany
        | Operator::Union
        | Operator::Intersection
        | Operator::Difference
        | Operator::Less
        | Operator::LessEqual => "the sort needs an order: a structured sort, numbers and lists of them have one",
        _ => return None,
    })
}
