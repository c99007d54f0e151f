//! Names that nothing mentions.
//!
//! A local definition of a `let` without a use deserves a warning: it is dead code, or its use is misspelt. An unused
//! variable of a pattern does not: `c?x -> P`, `||| i : S @ P` and an equation that ignores a parameter are common. One
//! case is an exception: a variable that is never used, begins with a capital letter and is spelt almost like a
//! constructor or channel. The user probably meant the constructor, and the equation matches everything instead.
//!
//! Names of the top level and of modules are for other scripts to use, and a leading `_` marks a name as unused. A
//! script with errors gets no such warnings: a name may be unused because the place that uses it has a mistake.

use foldhash::fast::RandomState;
use trefoil_control::count;
use trefoil_source::{Diagnostic, Place, Severity};

use super::collect::Resolver;
use super::*;
use trefoil_source::nearest;

/// How many unused names are reported one by one: generated scripts have hundreds.
const MOST_REPORTED: usize = 8;

/// The largest number of pairs of a variable and a constructor to compare; larger scripts are not searched for misspelt
/// ones.
const MOST_COMPARED: usize = 1_000_000;
/// Shorter names are near to anything.
const SHORTEST: usize = 3;

impl<'t> Resolver<'t> {
    /// Warns of names that are never used, after everything else is resolved.
    pub(super) fn report_unused(&mut self) {
        let wrong = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
        if self.tree.is_mistaken() || self.diagnostics.iter().any(wrong) {
            return;
        }
        let unused = || self.locals.iter().zip(&self.mentioned).filter(|(_, mentioned)| !**mentioned);
        let mut found = Vec::new();
        let mut left_out = 0;
        for (local, _) in unused() {
            let text = self.text(local.name);
            let declared = match local.kind {
                LocalKind::Variable => false,
                LocalKind::Function(_) => true,
                // A pattern takes a value apart; some parts may not matter.
                LocalKind::Value(id) => match *self.tree.declaration(id) {
                    Declaration::Binding { pattern, .. } => matches!(self.tree.pattern(pattern), Pattern::Name(_)),
                    _ => false,
                },
            };
            if declared && !text.starts_with('_') && found.len() == MOST_REPORTED {
                left_out += 1;
            } else if declared && !text.starts_with('_') {
                let message = format!("`{text}` is never used");
                let warning = Diagnostic::warning(codes::UNUSED, message, Place::Span(local.span));
                found.push(warning.help("remove it, or begin its name with `_` to keep it"));
            }
        }
        if left_out > 0
            && let Some(last) = found.pop()
        {
            found.push(last.note(format!("{} more names are never used", count(left_out as u64))));
        }
        let capital = |text: &str| text.chars().count() >= SHORTEST && text.starts_with(char::is_uppercase);
        let variables: Vec<&Local> =
            unused().map(|(local, _)| local).filter(|local| local.kind == LocalKind::Variable).collect();
        let mut meant: HashMap<Symbol, Option<&'t str>, RandomState> =
            variables.iter().filter(|local| capital(self.text(local.name))).map(|local| (local.name, None)).collect();
        if !meant.is_empty() {
            let labels = self.labels();
            if meant.len().saturating_mul(labels.len()) > MOST_COMPARED {
                meant.clear();
            }
            for (&name, near) in &mut meant {
                *near = nearest(self.text(name), labels.iter().copied());
            }
        }
        for local in variables {
            let Some(&Some(near)) = meant.get(&local.name) else { continue };
            let text = self.text(local.name);
            let message = format!("the variable `{text}` matches any value and is never used");
            let warning = Diagnostic::warning(codes::LIKE_A_LABEL, message, Place::Span(local.span));
            found.push(warning.help(format!("did you mean `{near}`? Otherwise write `_`")));
        }
        self.diagnostics.extend(found);
    }

    /// The constructors and channels of the script, unqualified.
    fn labels(&self) -> Vec<&'t str> {
        let is_label =
            |kind: &DefinitionKind| matches!(kind, DefinitionKind::Constructor { .. } | DefinitionKind::Channel);
        let labels = self.definitions.iter().filter(|definition| is_label(&definition.kind));
        let mut labels: Vec<&str> = labels.map(|definition| self.text(definition.name)).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }
}
