//! Names that nothing mentions.
//!
//! What a `let` declares and nobody uses is worth a warning: it is dead, or its use is misspelt. A variable of a pattern is not:
//! `c?x -> P`, `||| i : S @ P` and an equation that ignores a parameter are how scripts are written. One case is: a
//! variable that is never used, begins with a capital letter and is spelt almost like a constructor or channel. Whoever wrote
//! it meant the constructor, and the equation takes everything instead.
//!
//! Names of the top level and of modules are for others to use, and names that begin with `_` say that they are not used.
//! Nothing is said beside errors: a name may be unused because the place that uses it is wrong.

use foldhash::fast::RandomState;
use trefoil_source::{Diagnostic, Place, Severity};

use super::collect::Resolver;
use super::*;
use trefoil_source::nearest;

/// How many unused names are told one by one: generated scripts have hundreds.
const MOST_TOLD: usize = 8;

/// So many pairs of a variable and a constructor are compared; a script with more is not searched for misspelt ones.
const MOST_COMPARED: usize = 1_000_000;
/// Shorter names are near to anything.
const SHORTEST: usize = 3;

impl<'t> Resolver<'t> {
    /// Warns of names that are never used, after everything else is resolved.
    pub(super) fn report_unused(&mut self) {
        if self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
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
                // A pattern takes a value apart, of which some parts may not matter.
                LocalKind::Value(id) => match *self.tree.declaration(id) {
                    Declaration::Binding { pattern, .. } => matches!(self.tree.pattern(pattern), Pattern::Name(_)),
                    _ => false,
                },
            };
            if declared && !text.starts_with('_') && found.len() == MOST_TOLD {
                left_out += 1;
            } else if declared && !text.starts_with('_') {
                let message = format!("`{text}` is never used");
                let warning = Diagnostic::warning(codes::UNUSED, message, Place::Span(local.span));
                found.push(warning.help("remove it, or begin its name with `_` if it is meant"));
            }
        }
        if left_out > 0
            && let Some(last) = found.pop()
        {
            found.push(last.note(format!("{left_out} more names are never used")));
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
            let message = format!("`{text}` is a variable that takes any value, and is never used");
            let warning = Diagnostic::warning(codes::LIKE_A_LABEL, message, Place::Span(local.span));
            found.push(warning.help(format!("did you mean `{near}`? If not, write `_`")));
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
