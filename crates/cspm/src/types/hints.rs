//! Hints for mistakes with channels: a channel with fields is no event before its fields are given.
//!
//! `P [| {call} |] Q`, `P \\ call` and `call -> P` are mistakes when `call` has fields, and their plain type errors
//! (`expected {Event}, found {Int => Event}`) do not say what to write. The functions here change the diagnostic that
//! was just reported.

use super::*;

/// A channel, perhaps with some of its fields.
struct Communication {
    /// As the user wrote it, if that is short.
    text: String,
    span: Span,
    declared: Span,
    /// The types of the fields that are not given, as CSPM text.
    missing: Vec<String>,
}

impl Checker<'_> {
    /// After a set of events was expected: the set has channels in braces that need `{|` and `|}`, or a channel stands
    /// without braces.
    pub(super) fn hint_at_events(&mut self, id: ExpressionId) {
        let tree = self.tree;
        if let Some(channel) = self.communication(id) {
            let Communication { text, span, declared, missing } = channel;
            let what = if missing.is_empty() { "event" } else { "channel" };
            self.replace_last(format!("expected a set of events, found the {what} `{text}`"), span, |diagnostic| {
                diagnostic.also(Place::Span(declared), "declared here").help(format!("write `{{| {text} |}}`"))
            });
            return;
        }
        match *tree.expression(id) {
            Expression::Collection { kind: CollectionKind::Set, items: Items::Listed(list), .. } => {
                self.hint_at_incomplete(list);
            }
            Expression::Name(Resolved::Definition(definition)) => {
                let declaration = self.renamed.definition(definition).declaration;
                if let Declaration::Binding { pattern, body } = *tree.declaration(declaration)
                    && matches!(tree.pattern(pattern), Pattern::Name(_))
                    && let Expression::Collection { kind: CollectionKind::Set, items: Items::Listed(list), .. } =
                        *tree.expression(body)
                    && let Some(used) = self.diagnostics.last().map(|last| last.labels[0].place.clone())
                {
                    self.hint_at_incomplete(list);
                    if let Some(last) = self.diagnostics.last_mut()
                        && last.labels[0].place != used
                    {
                        *last = last.clone().also(used, "a set of events is expected here");
                    }
                }
            }
            Expression::Apply { function, arguments } => self.hint_at_operation(function, arguments),
            _ => {}
        }
    }

    /// After the arguments of an operation on sets had wrong types: one is a set of channels.
    pub(super) fn hint_at_operation(&mut self, function: ExpressionId, arguments: List<ExpressionId>) {
        let tree = self.tree;
        let operation = match *tree.expression(function) {
            Expression::Name(Resolved::Builtin(builtin)) => {
                matches!(builtin, Builtin::Union | Builtin::Inter | Builtin::Diff | Builtin::Run | Builtin::Chaos)
            }
            _ => false,
        };
        for &argument in tree.list(arguments).iter().filter(|_| operation) {
            if let Expression::Collection { kind: CollectionKind::Set, items: Items::Listed(list), .. } =
                *tree.expression(argument)
            {
                self.hint_at_incomplete(list);
            }
        }
    }

    /// After the elements of a set in braces had wrong types: the first channel that lacks fields, if there is one.
    pub(super) fn hint_at_incomplete(&mut self, list: List<ExpressionId>) {
        let tree = self.tree;
        let found: Vec<Option<Communication>> = tree.list(list).iter().map(|&item| self.communication(item)).collect();
        if found.iter().any(Option::is_none) {
            return;
        }
        let found: Vec<Communication> = found.into_iter().flatten().collect();
        let all: Vec<&str> = found.iter().take(6).map(|channel| channel.text.as_str()).collect();
        let more = if found.len() > all.len() { ", …" } else { "" };
        let help = format!("write `{{| {}{more} |}}` for the set of all events of these channels", all.join(", "));
        let Some(first) = found.iter().find(|channel| !channel.missing.is_empty()) else { return };
        let message = format!("`{}` is not an event: {}", first.text, lacks(&first.missing));
        self.replace_last(message, first.span, |diagnostic| {
            diagnostic.also(Place::Span(first.declared), "declared here").help(help)
        });
    }

    /// After a process was expected and an event was found: what to write behind the event.
    pub(super) fn hint_at_process(&mut self, id: ExpressionId) {
        let Some(Communication { text, missing, .. }) = self.communication(id) else { return };
        if !missing.is_empty() {
            return;
        }
        if let Some(last) = self.diagnostics.last_mut() {
            last.help = Some(format!("write `->` and a process after an event: `{text} -> STOP`"));
        }
    }

    /// After the communication before `->` was no event: the fields that are missing, if it is a channel without them.
    pub(super) fn hint_at_fields(&mut self, channel: ExpressionId, fields: usize) {
        let Some(Communication { text, span, declared, missing }) = self.communication(channel) else { return };
        if missing.len() <= fields {
            return;
        }
        let missing = &missing[fields..];
        let field = if missing.len() == 1 { "the field" } else { "the fields" };
        let message = format!("the communication lacks {field} `{}` of the channel `{text}`", missing.join("."));
        self.replace_last(message, span, |diagnostic| {
            diagnostic
                .also(Place::Span(declared), "declared here")
                .help("write `?x` to receive a field, `!value` to send one")
        });
    }

    /// Replaces the message and the places of the diagnostic that was just reported; its code and notes stay.
    fn replace_last(&mut self, message: String, span: Span, rest: impl FnOnce(Diagnostic) -> Diagnostic) {
        if let Some(last) = self.diagnostics.pop() {
            let mut replaced = Diagnostic::error(last.code, message, Place::Span(span));
            replaced.notes = last.notes;
            self.diagnostics.push(rest(replaced));
        }
    }

    /// The channel that an expression names, with or without fields after dots.
    fn communication(&mut self, id: ExpressionId) -> Option<Communication> {
        let tree = self.tree;
        let parts = self.renamed.dotted(id);
        let Expression::Name(Resolved::Definition(definition)) = *tree.expression(parts[0]) else { return None };
        if !self.renamed.is_label(Resolved::Definition(definition)) {
            return None;
        }
        let t = self.definition(definition).t;
        let (fields, result) = self.solver.reduce(t);
        if !matches!(self.solver.arena.node(result), Node::Event) {
            return None;
        }
        let mut texts = Vec::with_capacity(parts.len());
        for &part in &parts {
            texts.push(match *tree.expression(part) {
                Expression::Name(Resolved::Definition(id)) => self.renamed.qualified(id),
                Expression::Name(Resolved::Local(id)) => self.renamed.text(self.renamed.local(id).name).to_string(),
                Expression::Integer(number) => number.to_string(),
                Expression::Boolean(value) => value.to_string(),
                _ => "…".to_string(),
            });
        }
        let missing = fields.get(parts.len() - 1..).unwrap_or(&[]).to_vec();
        let missing = missing.into_iter().map(|field| self.text(field)).collect();
        let declared = self.renamed.definition(definition).span;
        Some(Communication { text: texts.join("."), span: tree.expression_span(id), declared, missing })
    }
}

fn lacks(missing: &[String]) -> String {
    match missing {
        [one] => format!("its field `{one}` is missing"),
        several => format!("its fields `{}` are missing", several.join(".")),
    }
}
