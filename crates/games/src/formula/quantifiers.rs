//! Where the quantifier of a variable stands in the text of a formula, for messages about values that cannot be listed.
//!
//! Formulas are negated and simplified before they are decided, so a condition that is stuck may have the dual of the
//! quantifier that the user wrote. The name of the variable finds it again.

use trefoil_data::syntax::tree::{Binder, Expression, ExpressionId, Variables};
use trefoil_source::Span;

use super::tree::{ActionFormula, FormulaText, State};

/// A quantifier as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenQuantifier {
    /// `forall` or `exists`.
    pub(crate) quantifier: &'static str,
    /// The variable.
    pub(crate) name: String,
    /// Its sort.
    pub(crate) sort: String,
    /// From the quantifier to the sort.
    pub(crate) place: Span,
}

impl FormulaText {
    /// The quantifier of a variable with this name: of several, the first inside a place; else the first.
    pub(crate) fn quantifier(&self, name: &str, inside: Span) -> Option<WrittenQuantifier> {
        let mut found: Vec<WrittenQuantifier> = Vec::new();
        let mut look = |quantifier: &'static str, variables: &[Variables], whole: Span| {
            for group in variables {
                if group.names.iter().any(|own| self.tree.names.text(own.symbol) == name) {
                    let place = Span { end: self.tree.sort_span(group.sort).end, ..whole };
                    found.push(WrittenQuantifier {
                        quantifier,
                        name: name.to_string(),
                        sort: self.sort_text(group.sort),
                        place,
                    });
                }
            }
        };
        for (state, span) in &self.states {
            if let State::Quantified(quantifier, variables, _) = state {
                look(quantifier.text(), variables, *span);
            }
        }
        for (action, span) in &self.action_formulas {
            if let ActionFormula::Quantified(quantifier, variables, _) = action {
                look(quantifier.text(), variables, *span);
            }
        }
        for expression in (0..self.tree.expression_count() as u32).map(ExpressionId) {
            if let Expression::Binder(binder @ (Binder::Forall | Binder::Exists), variables, _) =
                self.tree.expression(expression)
            {
                look(binder.text(), variables, self.tree.span(expression));
            }
        }
        found.sort_by_key(|one| one.place.start);
        let is_inside = |one: &WrittenQuantifier| {
            one.place.file == inside.file && inside.start <= one.place.start && one.place.end <= inside.end
        };
        let at = found.iter().position(is_inside).unwrap_or(0);
        (!found.is_empty()).then(|| found.swap_remove(at))
    }
}
