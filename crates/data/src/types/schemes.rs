//! Sorts of built-in functions, with variables, and how a use determines them.
//!
//! A variable of a scheme is determined by three kinds of facts: *exactly* this pattern (from a container argument, or
//! from a container that is expected), *at least* this one (from an argument of the variable's own sort, which can be
//! converted), *at most* this one (from what is expected of the result).

use std::collections::HashMap;
use std::sync::OnceLock;

use trefoil_source::FileId;

use crate::signature::Operator;
use crate::sorts::{BOOL, INT, NAT, POS, REAL, Sorts};
use crate::syntax::Parser;
use crate::syntax::tree::{Basic, Sort, SortId, Tree};

use super::patterns::{Pattern, convert, join, meet};

/// A sort of a built-in function.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    pub(super) operator: Operator,
    /// Empty for constants.
    pub(super) domain: Vec<Pattern>,
    pub(super) codomain: Pattern,
}

/// The schemes of every built-in name, in the order of the table.
pub(super) fn schemes() -> &'static HashMap<&'static str, Vec<Scheme>> {
    static SCHEMES: OnceLock<HashMap<&'static str, Vec<Scheme>>> = OnceLock::new();
    SCHEMES.get_or_init(|| {
        let mut schemes: HashMap<&str, Vec<Scheme>> = HashMap::new();
        for &(operator, name, signatures) in Operator::TABLE {
            for signature in signatures {
                let mut parser = Parser::new(signature, FileId(0));
                let Ok(sort) = parser.sort() else { unreachable!("the table's `{signature}` is a sort") };
                let (domain, codomain) = match read(&parser.tree, sort) {
                    Pattern::Function(domain, codomain) => (domain, *codomain),
                    constant => (Vec::new(), constant),
                };
                schemes.entry(name).or_default().push(Scheme { operator, domain, codomain });
            }
        }
        schemes
    })
}

fn read(tree: &Tree, sort: SortId) -> Pattern {
    match tree.sort(sort) {
        Sort::Basic(basic) => Pattern::Known(match basic {
            Basic::Bool => BOOL,
            Basic::Pos => POS,
            Basic::Nat => NAT,
            Basic::Int => INT,
            Basic::Real => REAL,
        }),
        Sort::Name(name) => Pattern::Variable(u8::from(tree.names.text(*name) == "T")),
        Sort::Container(container, element) => Pattern::Container(*container, Box::new(read(tree, *element))),
        Sort::Function(domain, codomain) => {
            let domain = domain.iter().map(|&part| read(tree, part)).collect();
            Pattern::Function(domain, Box::new(read(tree, *codomain)))
        }
        Sort::Brackets(inside) => read(tree, *inside),
        Sort::Struct(_) | Sort::Product(_) => unreachable!("schemes have no such sorts"),
    }
}

/// What is known of one variable.
#[derive(Clone, Debug, Default)]
struct Facts {
    exactly: Option<Pattern>,
    at_least: Option<Pattern>,
    at_most: Option<Pattern>,
}

/// The use of a scheme: what its variables are, and how many conversions the use takes.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) domain: Vec<Pattern>,
    pub(super) codomain: Pattern,
    pub(super) cost: u32,
}

/// Determines a scheme's variables from the patterns of its arguments and, where there is one, of the expected result.
pub(super) fn solve(
    domain: &[Pattern],
    codomain: &Pattern,
    arguments: &[&Pattern],
    expected: Option<&Pattern>,
    sorts: &mut Sorts,
) -> Option<Use> {
    let mut facts: [Facts; 2] = Default::default();
    let mut cost = 0;
    for (parameter, argument) in domain.iter().zip(arguments) {
        cost += take_argument(parameter, argument, &mut facts, sorts)?;
    }
    if let Some(expected) = expected {
        cost += give_result(codomain, expected, &mut facts, sorts)?;
    }
    let mut variables = [Pattern::Any, Pattern::Any];
    for (variable, facts) in variables.iter_mut().zip(facts) {
        let (pattern, conversions) = determine(facts, sorts)?;
        *variable = pattern;
        cost += conversions;
    }
    let domain: Vec<Pattern> = domain.iter().map(|part| fill(part, &variables, sorts)).collect();
    let codomain = fill(codomain, &variables, sorts);
    Some(Use { domain, codomain, cost })
}

/// Notes what an argument says of the variables in its parameter.
fn take_argument(parameter: &Pattern, argument: &Pattern, facts: &mut [Facts; 2], sorts: &mut Sorts) -> Option<u32> {
    match parameter {
        Pattern::Variable(variable) => {
            let at_least = &mut facts[*variable as usize].at_least;
            match at_least {
                None => *at_least = Some(argument.clone()),
                Some(before) => {
                    let (both, conversions) = join(before, argument, sorts)?;
                    *at_least = Some(both);
                    return Some(conversions);
                }
            }
            Some(0)
        }
        Pattern::Known(_) => convert(argument, parameter, sorts).map(|(_, conversions)| conversions),
        Pattern::Container(wanted, inside) => {
            if *argument == Pattern::Any {
                return Some(0);
            }
            let (container, element) = argument.as_container(sorts)?;
            let whole = Pattern::Container(container, Box::new(Pattern::Any));
            let (_, conversions) = convert(&whole, &Pattern::Container(*wanted, Box::new(Pattern::Any)), sorts)?;
            exactly(inside, &element, facts, sorts)?;
            Some(conversions)
        }
        Pattern::Function(..) => {
            exactly(parameter, argument, facts, sorts)?;
            Some(0)
        }
        Pattern::Any | Pattern::AtLeast(_) | Pattern::Finite(..) => unreachable!("schemes have no holes"),
    }
}

/// Notes what an expected result says of the variables in it.
fn give_result(result: &Pattern, expected: &Pattern, facts: &mut [Facts; 2], sorts: &mut Sorts) -> Option<u32> {
    match result {
        Pattern::Variable(variable) => {
            facts[*variable as usize].at_most = Some(expected.clone());
            Some(0)
        }
        Pattern::Known(_) => convert(result, expected, sorts).map(|(_, conversions)| conversions),
        Pattern::Container(container, inside) => {
            if *expected == Pattern::Any {
                return Some(0);
            }
            let (wanted, element) = expected.as_container(sorts)?;
            let whole = Pattern::Container(*container, Box::new(Pattern::Any));
            let (_, conversions) = convert(&whole, &Pattern::Container(wanted, Box::new(Pattern::Any)), sorts)?;
            exactly(inside, &element, facts, sorts)?;
            Some(conversions)
        }
        Pattern::Function(..) => {
            exactly(result, expected, facts, sorts)?;
            Some(0)
        }
        Pattern::Any | Pattern::AtLeast(_) | Pattern::Finite(..) => unreachable!("schemes have no holes"),
    }
}

/// Notes that a part of a scheme is this pattern.
fn exactly(part: &Pattern, pattern: &Pattern, facts: &mut [Facts; 2], sorts: &mut Sorts) -> Option<()> {
    match part {
        Pattern::Variable(variable) => {
            let facts = &mut facts[*variable as usize];
            facts.exactly = Some(match &facts.exactly {
                None => pattern.clone(),
                Some(before) => meet(before, pattern, sorts)?,
            });
        }
        Pattern::Known(_) => {
            meet(part, pattern, sorts)?;
        }
        Pattern::Container(wanted, inside) => {
            if *pattern != Pattern::Any {
                let (container, element) = pattern.as_container(sorts)?;
                (container == *wanted).then_some(())?;
                exactly(inside, &element, facts, sorts)?;
            }
        }
        Pattern::Function(domain, codomain) => {
            if *pattern != Pattern::Any {
                let (others, other) = pattern.as_function(sorts)?;
                (others.len() == domain.len()).then_some(())?;
                for (part, other) in domain.iter().zip(&others) {
                    exactly(part, other, facts, sorts)?;
                }
                exactly(codomain, &other, facts, sorts)?;
            }
        }
        Pattern::Any | Pattern::AtLeast(_) | Pattern::Finite(..) => unreachable!("schemes have no holes"),
    }
    Some(())
}

/// The pattern of a variable.
fn determine(facts: Facts, sorts: &mut Sorts) -> Option<(Pattern, u32)> {
    let Facts { exactly, at_least, at_most } = facts;
    let mut cost = 0;
    let mut pattern = match (exactly, at_least) {
        (None, None) => Pattern::Any,
        (Some(exactly), None) => exactly,
        (None, Some(at_least)) => at_least,
        (Some(exactly), Some(at_least)) => {
            // An open container takes what it is given: the elements of a literal are converted one by one.
            if exactly == Pattern::Any {
                at_least.opened(sorts)
            } else {
                let (both, conversions) = convert(&at_least, &exactly, sorts)?;
                cost += conversions;
                both
            }
        }
    };
    if let Some(at_most) = at_most {
        let (converted, conversions) = convert(&pattern, &at_most, sorts)?;
        cost += conversions;
        // Holes are filled by what is expected; what is known stays, and its result is converted.
        if pattern.settle(sorts).is_none() || matches!(pattern, Pattern::AtLeast(_) | Pattern::Finite(..)) {
            pattern = converted;
        } else if let Some(both) = meet(&pattern, &at_most, sorts) {
            pattern = both;
        }
    }
    Some((pattern, cost))
}

/// A part of a scheme with its variables replaced.
fn fill(part: &Pattern, variables: &[Pattern; 2], sorts: &mut Sorts) -> Pattern {
    match part {
        Pattern::Variable(variable) => variables[*variable as usize].clone(),
        Pattern::Container(container, inside) => {
            let inside = fill(inside, variables, sorts);
            Pattern::container(*container, inside, sorts)
        }
        Pattern::Function(domain, codomain) => {
            let domain = domain.iter().map(|part| fill(part, variables, sorts)).collect();
            let codomain = fill(codomain, variables, sorts);
            Pattern::function(domain, codomain, sorts)
        }
        Pattern::Known(_) | Pattern::Any | Pattern::AtLeast(_) | Pattern::Finite(..) => part.clone(),
    }
}
