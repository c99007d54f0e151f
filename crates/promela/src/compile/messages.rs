//! Messages: the fields behind `!` and `?`.
//!
//! A record among them stands for all its fields. A number of fields that cannot be right is an error; one that Spin
//! accepts is a warning, and a run-time error of the statement.

use trefoil_source::Span;

use super::names::{Shape, Symbol};
use super::{Compiled, Compiler, Wrong};
use crate::codes::{ARGUMENTS, counted};
use crate::program::{ChannelKind, ExpressionId, Node, Pattern, Sort};
use crate::syntax::tree::{Argument, Expression, ExpressionKind};

impl Compiler<'_> {
    /// The fields of a receive or poll.
    pub(super) fn patterns(
        &mut self,
        arguments: &[Argument],
        kind: Option<&ChannelKind>,
        span: Span,
    ) -> Compiled<Vec<Pattern>> {
        let mut patterns = Vec::new();
        let mut wrong = false;
        for argument in arguments {
            // All fields are checked before a mistake in one of them ends this.
            wrong |= self.pattern(argument, kind, &mut patterns).is_err();
        }
        if wrong {
            return Err(Wrong);
        }
        if let Some(kind) = kind.filter(|kind| kind.fields.len() != patterns.len()) {
            self.suspect_fields(patterns.len(), kind.fields.len(), span);
        }
        Ok(patterns)
    }

    /// A field of a receive or poll.
    fn pattern(
        &mut self,
        argument: &Argument,
        kind: Option<&ChannelKind>,
        patterns: &mut Vec<Pattern>,
    ) -> Compiled<()> {
        match argument {
            Argument::Number(number, _) => patterns.push(Pattern::Match(self.node(Node::Constant(*number)))),
            Argument::Eval(value) => {
                let wanted: Vec<Sort> = kind.map_or(Vec::new(), |kind| kind.fields.clone());
                for value in self.expand(value, &wanted[patterns.len().min(wanted.len())..])? {
                    patterns.push(Pattern::Match(value));
                }
            }
            Argument::Variable(reference) => {
                let name = &*reference.name.text;
                let constant = match self.names.find(name) {
                    Some(Symbol::Constant { value, .. }) => Some(Node::Constant(*value)),
                    None if name == "_pid" => Some(Node::Pid),
                    _ => None,
                };
                if let Some(constant) = constant {
                    patterns.push(Pattern::Match(self.node(constant)));
                    return Ok(());
                }
                if name != "_" {
                    let found = self.find(reference)?;
                    if let Shape::Record(_) = found.shape {
                        patterns.extend(self.record_places(&found).into_iter().map(Pattern::Store));
                        return Ok(());
                    }
                }
                let (place, _) = self.written(reference)?;
                patterns.push(Pattern::Store(place));
            }
        }
        Ok(())
    }

    pub(super) fn check_fields(&mut self, given: usize, kind: Option<&ChannelKind>, span: Span) -> Compiled<()> {
        match kind {
            Some(kind) if kind.fields.len() != given => {
                let message = format!("{}, not {given}", length_of(kind.fields.len()));
                self.complain(ARGUMENTS, message, span)
            }
            _ => Ok(()),
        }
    }

    /// A wrong number of fields that Spin accepts: an error of the run that comes there.
    pub(super) fn suspect_fields(&mut self, given: usize, fields: usize, span: Span) {
        let message = format!("{}, not {given}: this is a run-time error", length_of(fields));
        self.warn(ARGUMENTS, message, span);
    }

    /// The fields of a send in a `trace`: constants are compared, everything else stands for any value.
    pub(super) fn event_arguments(
        &mut self,
        given: &[Expression],
        kind: Option<&ChannelKind>,
        span: Span,
    ) -> Compiled<Vec<ExpressionId>> {
        let mut arguments = Vec::new();
        let mut wrong = false;
        for argument in given {
            let plain = matches!(argument.kind, ExpressionKind::Number(_) | ExpressionKind::Variable(_));
            match self.fold(argument).filter(|_| plain) {
                Some(value) => arguments.push(self.node(Node::Constant(value))),
                None => {
                    let written = matches!(&argument.kind, ExpressionKind::Variable(name) if &*name.name.text == "_");
                    let fields = if written { Ok(1) } else { self.expand(argument, &[]).map(|values| values.len()) };
                    wrong |= fields.is_err();
                    // Whatever is no constant matches everything: what it is does not matter.
                    let zero = self.node(Node::Constant(0));
                    arguments.extend((0..fields.unwrap_or(0)).map(|_| self.node(Node::Negate(zero))));
                }
            }
        }
        if wrong {
            return Err(Wrong);
        }
        self.check_fields(arguments.len(), kind, span)?;
        Ok(arguments)
    }

    pub(super) fn send_arguments(
        &mut self,
        given: &[Expression],
        kind: Option<&ChannelKind>,
        span: Span,
    ) -> Compiled<Vec<ExpressionId>> {
        let wanted: &[Sort] = kind.map_or(&[], |kind| &kind.fields);
        let mut arguments = Vec::new();
        let mut wrong = false;
        for argument in given {
            match self.expand(argument, &wanted[arguments.len().min(wanted.len())..]) {
                Ok(values) => arguments.extend(values),
                Err(Wrong) => wrong = true,
            }
        }
        if wrong {
            return Err(Wrong);
        }
        if arguments.len() < wanted.len() {
            self.suspect_fields(arguments.len(), wanted.len(), span);
        } else {
            self.check_fields(arguments.len(), kind, span)?;
        }
        Ok(arguments)
    }
}

/// How long the messages of a channel are, in words.
fn length_of(fields: usize) -> String {
    format!("the messages of this channel have {}", counted(fields, "field"))
}
