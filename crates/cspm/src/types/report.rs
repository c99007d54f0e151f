//! Diagnostics about types.

use super::*;

impl Checker<'_> {
    /// Makes a type the expected one, or says at the place why it is not.
    pub(super) fn unify(&mut self, expected: T, found: T, span: Span) -> Checked {
        match self.solver.unify(expected, found) {
            Ok(t) => Ok(t),
            Err(clash) => Err(self.clash(clash, expected, found, span)),
        }
    }

    /// Likewise where a dotted type is not good for the value of a datatype.
    pub(super) fn unify_directed(&mut self, expected: T, found: T, span: Span) -> Checked {
        match self.solver.unify_directed(expected, found) {
            Ok(t) => Ok(t),
            Err(clash) => Err(self.clash(clash, expected, found, span)),
        }
    }

    pub(super) fn constrain(&mut self, constraints: Constraints, t: T, span: Span) -> Checked {
        match self.solver.constrain(constraints, t) {
            Ok(()) => Ok(t),
            Err(clash) => Err(self.clash(clash, t, t, span)),
        }
    }

    pub(super) fn evaluate(&mut self, t: T, span: Span) -> Checked {
        match self.solver.evaluate(t) {
            Ok(t) => Ok(t),
            Err(clash) => Err(self.clash(clash, t, t, span)),
        }
    }

    /// Reports why two types do not go together. The types of the whole are shown, and where they differ inside, those
    /// too.
    fn clash(&mut self, clash: Clash, expected: T, found: T, span: Span) -> Failed {
        let place = Place::Span(span);
        // Types read better with their dots evaluated, if they can be.
        let expected = self.solver.evaluate(expected).unwrap_or(expected);
        let found = self.solver.evaluate(found).unwrap_or(found);
        let diagnostic = match clash {
            Clash::Mismatch(a, b) => {
                let texts = self.texts(&[expected, found, a, b]);
                // When the dots of one type do not fit together there are no two, and the parts say what is wrong.
                let one = texts[0] == texts[1];
                let (wanted, got) = if one { (&texts[2], &texts[3]) } else { (&texts[0], &texts[1]) };
                let message = format!("expected `{wanted}`, found `{got}`");
                let mut diagnostic =
                    Diagnostic::error(codes::MISMATCH, message, place).seen(format!("this is `{}`", texts[1]));
                if !one && (&texts[0], &texts[1]) != (&texts[2], &texts[3]) {
                    diagnostic = diagnostic.note(format!("`{}` and `{}` are different types", texts[2], texts[3]));
                }
                for (t, text) in [(a, &texts[2]), (b, &texts[3])] {
                    let from = self.origin(t);
                    let shown = diagnostic.labels.iter().any(|label| label.place == Place::Span(from));
                    if from.end > from.start && !shown {
                        diagnostic = diagnostic.also(Place::Span(from), format!("`{text}` comes from here"));
                    }
                }
                diagnostic
            }
            Clash::Constraint(constraint, t) => {
                let texts = self.texts(&[t, found]);
                let what = match constraint {
                    EQ => "cannot be compared with `==`",
                    ORD => "has no order",
                    SET => "cannot be in a set",
                    COMPLETE => "is not a complete value: a field is missing after it",
                    _ => "yields no values: it is neither an event nor a value of a datatype",
                };
                let message = format!("`{}` {what}", texts[0]);
                let mut diagnostic = Diagnostic::error(codes::NOT_COMPARABLE, message, place);
                if texts[1] != texts[0] {
                    diagnostic = diagnostic.seen(format!("this is `{}`", texts[1]));
                }
                let from = self.origin(t);
                if from.end > from.start && from != span {
                    diagnostic = diagnostic.also(Place::Span(from), format!("`{}` comes from here", texts[0]));
                }
                diagnostic
            }
            Clash::Infinite(variable, t) => {
                let texts = self.texts(&[variable, t]);
                let message = format!("the type `{}` would equal `{}`, which contains it", texts[0], texts[1]);
                Diagnostic::error(codes::INFINITE, message, place)
            }
            Clash::Count(a, b) => {
                let count = |this: &mut Self, t| match this.solver.arena.node(t) {
                    Node::Function(parts, _) => parts.len(),
                    _ => 0,
                };
                let (wanted, given) = (count(self, a), count(self, b));
                let texts = self.texts(&[a, b]);
                let message =
                    format!("expected a function of {}, found one of {}", arguments(wanted), arguments(given));
                let diagnostic = Diagnostic::error(codes::ARGUMENT_COUNT, message, place);
                diagnostic.note(format!("expected `{}`, found `{}`", texts[0], texts[1]))
            }
            Clash::TooLarge => return self.too_large(span),
        };
        self.diagnostics.push(diagnostic);
        Failed
    }

    pub(super) fn too_large(&mut self, span: Span) -> Failed {
        if !self.gave_up {
            self.gave_up = true;
            let message = "the types of this script are too large";
            let diagnostic = Diagnostic::error(codes::TOO_LARGE, message, Place::Span(span));
            self.diagnostics.push(diagnostic.seen("while checking this"));
        }
        Failed
    }

    pub(super) fn report(&mut self, code: &'static str, message: String, span: Span) -> Failed {
        self.diagnostics.push(Diagnostic::error(code, message, Place::Span(span)));
        Failed
    }

    fn origin(&mut self, t: T) -> Span {
        let t = self.solver.arena.head(t);
        self.solver.arena.origin(t)
    }
}

/// `1 field`, `2 fields`.
pub(super) fn fields(count: usize) -> String {
    if count == 1 { "1 field".to_string() } else { format!("{count} fields") }
}

/// `1 argument`, `2 arguments`.
pub(super) fn arguments(count: usize) -> String {
    if count == 1 { "1 argument".to_string() } else { format!("{count} arguments") }
}
