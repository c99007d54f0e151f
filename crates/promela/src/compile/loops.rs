//! Loops that are written as one statement: `for`, `for … in`, `select`. They become the elements of a `do`.

use std::sync::Arc;

use trefoil_source::Span;

use super::Compiled;
use super::flow::{Jump, Kind};
use super::names::Shape;
use super::statements::{Builder, Declarations, Prepared};
use crate::codes::WRONG_TYPE;
use crate::program::{Action, Node, Receive, Send, Shown, Sort};
use crate::syntax::tree::{Binary, Expression, ExpressionKind, Reference, Sequence};

/// `select` over so many values is a choice of assignments.
const LONGEST_SELECTION: i64 = 32;

impl Builder<'_, '_> {
    /// `variable operator bound`
    pub(super) fn comparison(&mut self, variable: &Reference, operator: Binary, bound: &Expression) -> Compiled<Kind> {
        let left = Expression { kind: ExpressionKind::Variable(variable.clone()), span: variable.span };
        let left = self.compiler.expression(&left)?;
        let right = self.compiler.expression(bound)?;
        let condition = self.compiler.node(Node::Binary(operator, left, right));
        Ok(Kind::Basic(Arc::new(Action::Condition(condition))))
    }

    pub(super) fn increment(&mut self, variable: &Reference, by: i32) -> Compiled<Kind> {
        let kind = ExpressionKind::Variable(variable.clone());
        let value = self.compiler.expression(&Expression { kind, span: variable.span })?;
        let one = self.compiler.node(Node::Constant(by.abs()));
        let operator = if by < 0 { Binary::Minus } else { Binary::Plus };
        let sum = self.compiler.node(Node::Binary(operator, value, one));
        let (place, sort) = self.compiler.written(variable)?;
        if sort == Sort::Channel {
            return self.compiler.complain(WRONG_TYPE, "channels cannot be counted", variable.span);
        }
        Ok(Kind::Basic(Arc::new(Action::Assign(place, sum))))
    }

    /// Adds a statement that is not written as it is executed.
    fn add_shown(&mut self, kind: Kind, span: Span, left: Option<Span>, between: &'static str, right: Option<Span>) {
        self.add_kind(kind, span);
        if let Some(element) = self.body.elements.last_mut() {
            element.shown = Some(Shown { left, between, right });
        }
    }

    /// The rest of a loop whose body is in the open sequence: step, and the way out.
    pub(super) fn finish_loop(
        &mut self,
        step: Kind,
        counter: Option<Span>,
        number: usize,
        otherwise: bool,
        span: Span,
    ) -> Compiled<Prepared> {
        self.add_shown(step, span, counter, if counter.is_some() { "++" } else { "next message" }, None);
        let body = self.close_sequence(span)?;
        self.open_sequence();
        if otherwise {
            self.add_shown(Kind::Else, span, None, "else", None);
        }
        self.add_shown(Kind::Goto(Jump::Break(number)), span, None, "break", None);
        let exit = self.close_sequence(span)?;
        Ok(Prepared::Do(vec![exit, body], number))
    }

    pub(super) fn loop_body(&mut self, body: &Sequence, names: &mut Declarations) -> Compiled<()> {
        self.compiler.names.open();
        let outcome = stacker::maybe_grow(128 << 10, 2 << 20, || self.statements(body, names));
        self.compiler.names.close();
        if outcome.is_err() {
            self.open.pop();
        }
        outcome
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of a for loop")]
    pub(super) fn prepare_for(
        &mut self,
        variable: &Reference,
        from: &Expression,
        to: &Expression,
        body: &Sequence,
        names: &mut Declarations,
        span: Span,
        number: usize,
    ) -> Compiled<Prepared> {
        self.check_range(from, to)?;
        let start = self.assignment(variable, from)?;
        let condition = self.comparison(variable, Binary::AtMost, to)?;
        let step = self.increment(variable, 1)?;
        // The bounds of `for (i in array)` are not written.
        let (low, high) = match from.span == span {
            true => ((" = 0", None), (" < the length", None)),
            false => ((" = ", Some(from.span)), (" <= ", Some(to.span))),
        };
        self.add_shown(start, span, Some(variable.span), low.0, low.1);
        self.open_sequence();
        self.add_shown(condition, span, Some(variable.span), high.0, high.1);
        self.loop_body(body, names)?;
        self.finish_loop(step, Some(variable.span), number, true, span)
    }

    /// A range of numbers that are written down is not empty.
    fn check_range(&mut self, from: &Expression, to: &Expression) -> Compiled<()> {
        match (&from.kind, &to.kind) {
            (ExpressionKind::Number(low), ExpressionKind::Number(high)) if low > high => {
                let message = format!("there is no number from {low} to {high}");
                self.compiler.complain(WRONG_TYPE, message, from.span.to(to.span))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn prepare_for_in(
        &mut self,
        variable: &Reference,
        collection: &Reference,
        body: &Sequence,
        names: &mut Declarations,
        span: Span,
        number: usize,
    ) -> Compiled<Prepared> {
        let found = self.compiler.find(collection)?;
        let constant = |value: i32| Expression { kind: ExpressionKind::Number(value), span };
        if let Some(length) = found.whole {
            return self.prepare_for(variable, &constant(0), &constant(length as i32 - 1), body, names, span, number);
        }
        let Some(kind) = found.channel.filter(|kind| kind.capacity > 0) else {
            let message = "`for … in` needs an array, or a channel with room that is declared with its messages";
            return self.compiler.complain(WRONG_TYPE, message, collection.span);
        };
        let record = self.compiler.find(variable).is_ok_and(|found| matches!(found.shape, Shape::Record(_)));
        if !record || !kind.is_record {
            let message = "`for … in` goes through a channel only if its messages are one record, and into a variable of that type";
            return self.compiler.complain(WRONG_TYPE, message, collection.span);
        }
        // Every message is taken out and put back, so that all have been seen after one turn.
        let sort = if kind.capacity > 255 { Sort::Short } else { Sort::Byte };
        self.temporaries += 1;
        let name = format!("_for_{}", self.temporaries);
        let base = self.frame.cells.len() as u32;
        self.frame.cells.push(crate::program::Cell { name, sort, hidden: false, span });
        let place = crate::program::Place { global: false, base, sort, indices: Box::default(), scratch: false, span };
        self.compiler.program.places.push(place);
        let place = self.compiler.program.places.len() as u32 - 1;
        let node = if sort == Sort::Short { Node::Place(place) } else { Node::Local(base) };
        let (channel, _) = self.compiler.channel(collection)?;
        let zero = self.compiler.node(Node::Constant(0));
        let counter = self.compiler.node(node);
        let length = self.compiler.node(Node::Length(channel));
        let condition = self.compiler.node(Node::Binary(Binary::Less, counter, length));
        let one = self.compiler.node(Node::Constant(1));
        let sum = self.compiler.node(Node::Binary(Binary::Plus, counter, one));
        let argument = crate::syntax::tree::Argument::Variable(variable.clone());
        let fields = self.compiler.patterns(&[argument], Some(&*kind), variable.span)?;
        let whole = Expression { kind: ExpressionKind::Variable(variable.clone()), span: variable.span };
        let arguments = self.compiler.expand(&whole, &kind.fields)?;
        let receive = Receive { channel, random: false, copy: false, fields };
        let send = Send { channel, sorted: false, arguments };
        let basic = |action| Kind::Basic(Arc::new(action));
        let (all, one) = (Some(collection.span), Some(variable.span));
        self.add_shown(basic(Action::Assign(place, zero)), span, None, "first message of ", all);
        self.open_sequence();
        self.add_shown(basic(Action::Condition(condition)), span, None, "messages left in ", all);
        self.add_shown(basic(Action::Receive(Box::new(receive))), span, all, "?", one);
        self.add_shown(basic(Action::Send(Box::new(send))), span, all, "!", one);
        self.loop_body(body, names)?;
        self.finish_loop(basic(Action::Assign(place, sum)), None, number, true, span)
    }

    pub(super) fn prepare_select(
        &mut self,
        variable: &Reference,
        from: &Expression,
        to: &Expression,
        plain: bool,
        span: Span,
    ) -> Compiled<Prepared> {
        self.check_range(from, to)?;
        if let (Some(low), Some(high)) = (self.compiler.fold(from), self.compiler.fold(to))
            && plain
            && (0..=LONGEST_SELECTION).contains(&(i64::from(high) - i64::from(low)))
        {
            let mut options = Vec::new();
            for value in low..=high {
                let value = Expression { kind: ExpressionKind::Number(value), span: from.span };
                let kind = self.assignment(variable, &value)?;
                options.push(self.alone(Prepared::Simple(kind), span)?);
            }
            return Ok(Prepared::If(options));
        }
        let start = self.assignment(variable, from)?;
        let condition = self.comparison(variable, Binary::Less, to)?;
        let step = self.increment(variable, 1)?;
        self.add_shown(start, span, Some(variable.span), " = ", Some(from.span));
        self.open_sequence();
        self.add_shown(condition, span, Some(variable.span), " < ", Some(to.span));
        let number = self.open_loop();
        self.loops.pop();
        self.finish_loop(step, Some(variable.span), number, false, span)
    }
}
