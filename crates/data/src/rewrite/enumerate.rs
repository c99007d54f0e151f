//! Values of finite sorts, and quantifiers over them.

use std::collections::HashSet;
use std::sync::Arc;

use trefoil_terms::{Section, Term};

use crate::sorts::{BOOL, SortKind, SortRef};
use crate::typed::Quantifier;

use super::code::FunctionIndex;
use super::machine::{Rewriter, Unfinished};
use super::program::{Kind, Program};

/// Sorts with more values than this are not listed.
const MOST_VALUES: usize = 1 << 16;

impl Program {
    /// Every value of a finite sort, in its order; nothing for sorts that are infinite or have too many values.
    pub fn values(&self, section: &Section<'_>, sort: SortRef) -> Option<Arc<[Term]>> {
        let known = self.listed.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&sort).cloned();
        if let Some(known) = known {
            return known;
        }
        let values = self.list_values(section, sort, &mut HashSet::new()).map(Arc::from);
        if let Some(values) = &values {
            for &value in &**values {
                self.keep(value, section);
            }
        }
        let mut listed = self.listed.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        listed.insert(sort, values.clone());
        values
    }

    fn list_values(&self, section: &Section<'_>, sort: SortRef, open: &mut HashSet<SortRef>) -> Option<Vec<Term>> {
        if sort == BOOL {
            return Some(self.truths.to_vec());
        }
        if !matches!(self.specification.sorts.kind(sort), SortKind::Named(_) | SortKind::Structured(_)) {
            return None;
        }
        let constructors = self.specification.sorts.constructors(sort);
        // A sort inside of itself has no end of values.
        if constructors.is_empty() || !open.insert(sort) {
            return None;
        }
        let mut values = Vec::new();
        for &constructor in constructors {
            let function = self.function(self.function_of(constructor));
            let whole = self.specification.signature.function(constructor).sort;
            let domain = self.specification.sorts.as_function(whole).map_or(&[][..], |(domain, _)| domain);
            let mut tuples: Vec<Vec<Term>> = vec![Vec::new()];
            for &part in domain {
                let parts = self.list_values(section, part, open)?;
                if tuples.len().checked_mul(parts.len())? > MOST_VALUES {
                    return None;
                }
                tuples = tuples
                    .iter()
                    .flat_map(|tuple| parts.iter().map(move |&part| tuple.iter().copied().chain([part]).collect()))
                    .collect();
            }
            values.extend(tuples.iter().map(|tuple| section.create(function.symbol, tuple)));
            if values.len() > MOST_VALUES {
                return None;
            }
        }
        open.remove(&sort);
        Some(values)
    }
}

impl Rewriter<'_> {
    /// Replaces the captured values on top by the value of a quantifier over them.
    pub(super) fn quantify(&mut self, function: FunctionIndex) -> Result<(), Unfinished> {
        let program = self.program;
        let description = program.function(function);
        let captured = description.captured as usize;
        let base = self.stack.len() - captured;
        let Some((_, variables)) = &description.site else { unreachable!("a quantifier has its body") };
        let sorts = variables[captured..].iter().map(|&variable| program.specification.tree.variable(variable).1);
        let domains: Option<Vec<Arc<[Term]>>> = sorts.map(|sort| program.values(&self.section, sort)).collect();
        let [no, yes] = program.truths;
        // The truth value that one valuation with it decides.
        let decisive = if description.kind == Kind::Quantified(Quantifier::Forall) { no } else { yes };
        let mut value = Some(if decisive == no { yes } else { no });
        match domains {
            Some(domains) if domains.iter().all(|domain| !domain.is_empty()) => {
                let mut counters = vec![0; domains.len()];
                'valuations: loop {
                    self.stack.extend_from_within(base..base + captured);
                    self.stack.extend(counters.iter().zip(&domains).map(|(&at, domain)| domain[at]));
                    self.call_body(function)?;
                    let result = self.pop();
                    if result == decisive {
                        value = Some(decisive);
                        break;
                    }
                    if result != no && result != yes {
                        value = None;
                    }
                    for (counter, domain) in counters.iter_mut().zip(&domains).rev() {
                        *counter += 1;
                        if *counter < domain.len() {
                            continue 'valuations;
                        }
                        *counter = 0;
                    }
                    break;
                }
            }
            _ => value = None,
        }
        let term = match value {
            Some(term) => term,
            None => self.section.create(description.symbol, &self.stack[base..]),
        };
        self.stack.truncate(base);
        self.stack.push(term);
        Ok(())
    }
}
