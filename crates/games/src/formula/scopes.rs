//! Why a name is unknown that a quantifier or a fixpoint before it binds: its scope ended.
//!
//! In `[a]mu X. f || <b>X` the modality binds tighter than `||`, so it has `mu X. f` for its formula, and the scope of
//! `X` ends there. That is mCRL2's rule, and it surprises.

use trefoil_data::syntax::tree::{Symbol, Variables};
use trefoil_data::types::codes::UNKNOWN_NAME;
use trefoil_source::{Diagnostic, Place, Span};

use super::codes::UNKNOWN_FIXPOINT;
use super::tree::{FormulaText, State};

/// Adds to messages about unknown names where the scope of such a name ended.
pub(super) fn explain(read: &FormulaText, text: &str, diagnostics: &mut [Diagnostic]) {
    for diagnostic in diagnostics {
        if diagnostic.code != UNKNOWN_NAME && diagnostic.code != UNKNOWN_FIXPOINT {
            continue;
        }
        let Some(Place::Span(used)) = diagnostic.labels.first().map(|label| &label.place) else { continue };
        let used = *used;
        let Some(name) = text.get(used.start as usize..used.end as usize) else { continue };
        let Some((binder, scope)) = ended(read, name, used) else { continue };
        let rest = text.get(scope.end as usize..).unwrap_or_default().trim_start();
        let Some(operator) = ["||", "&&", "=>"].into_iter().find(|operator| rest.starts_with(operator)) else {
            continue;
        };
        let message = format!("the scope of this `{binder}` ends before `{operator}`");
        let labels = std::mem::take(&mut diagnostic.labels);
        let mut explained = Diagnostic { labels, ..diagnostic.clone() };
        explained = explained.also(Place::Span(scope), message);
        *diagnostic = explained.help(format!(
            "what stands before `{binder}` binds tighter than `{operator}`: put all of its formula in brackets, \
             `({binder}. … {operator} …)`"
        ));
    }
}

/// The last quantifier or fixpoint that binds a name and ends before a place: its first words, and all of it.
fn ended(read: &FormulaText, name: &str, used: Span) -> Option<(String, Span)> {
    let is_name = |symbol: Symbol| read.tree.names.text(symbol) == name;
    let declared = |groups: &[Variables]| groups.iter().any(|group| group.names.iter().any(|own| is_name(own.symbol)));
    let mut found: Option<(String, Span)> = None;
    for (state, span) in &read.states {
        if span.file != used.file || span.end > used.start {
            continue;
        }
        let binder = match state {
            State::Quantified(quantifier, variables, _) if declared(variables) => {
                format!("{} {name}", quantifier.text())
            }
            State::Fixpoint(kind, own, parameters, _)
                if is_name(own.symbol) || parameters.iter().any(|parameter| is_name(parameter.name.symbol)) =>
            {
                format!("{} {}", kind.text(), read.tree.names.text(own.symbol))
            }
            _ => continue,
        };
        if found.as_ref().is_none_or(|(_, known)| known.end < span.end) {
            found = Some((binder, *span));
        }
    }
    found
}
