//! What processes offer: the events of a prefix, the copies of a replicated operator, pairs of renamings.

use std::rc::Rc;

use super::code::*;
use super::codes;
use super::failure::{Failure, Result};
use super::machine::{Machine, wrong_sort};
use super::open::Given;
use super::process::{Communication, ProcessNode, ProcessValue};
use super::value::Value;

impl<'p> Machine<'p> {
    pub(super) fn process_of(&mut self, value: Value) -> Result<ProcessValue> {
        match value {
            Value::Process(process) => Ok(ProcessValue(process)),
            other => Err(wrong_sort("a process", &other)),
        }
    }

    /// The events and successors of a prefix.
    pub(super) fn communications(&mut self, process: &Rc<ProcessNode>) -> Result<Vec<Communication>> {
        let mut found = Vec::new();
        self.in_process(process, |machine, point, base, captured| {
            let Shape::Prefix { channel, fields, process, .. } = &point.shape else {
                return Err(Failure::at(codes::WRONG_SORT, "this is not a prefix", Some(point.span)));
            };
            let place = |failure: Failure| failure.placed(point.span);
            let mut parts: &[OperationId] = &[];
            let channel = match machine.eval(*channel, base, captured) {
                Err(failure) if failure.needs().is_some() => match &machine.program.operations[channel.index()] {
                    Operation::Dot(dotted) => {
                        parts = &dotted[1..];
                        machine.eval(dotted[0], base, captured)?
                    }
                    _ => return Err(failure),
                },
                channel => channel?,
            };
            let channel = machine.finish(channel).map_err(place)?;
            let mut choices = 0;
            machine
                .outputs(parts, fields, channel, base, captured, &mut choices, &mut |machine, choice, event| {
                    let rest = machine.state.open_fields.clone();
                    match &event {
                        Value::Data(data)
                            if !rest.is_empty()
                                && !data.complete
                                && machine.program.constructors[data.constructor.index()].channel => {}
                        _ if !rest.is_empty() => return Err(machine.needs_fields()),
                        Value::Data(data)
                            if data.complete && machine.program.constructors[data.constructor.index()].channel => {}
                        other => {
                            let shown = machine.show_short(other);
                            let message = format!("{shown} is not a complete event");
                            return Err(Failure::at(codes::INCOMPLETE, message, Some(point.span)));
                        }
                    }
                    let then = machine.eval(*process, base, captured)?;
                    let then = machine.process_of(then).map_err(|failure| failure.placed(point.span))?;
                    found.push(Communication { choice, event, rest, then });
                    Ok(())
                })
                .map_err(place)
        })?;
        Ok(found)
    }

    /// Goes through the fields of a communication from left to right.
    #[allow(clippy::type_complexity)]
    fn fields(
        &mut self,
        fields: &[CommunicationField],
        event: Value,
        base: usize,
        captured: &[Value],
        choices: &mut u32,
        each: &mut dyn FnMut(&mut Machine<'p>, u32, Value) -> Result<()>,
    ) -> Result<()> {
        self.state.control.check()?;
        let Some((field, rest)) = fields.split_first() else { return each(self, choices.saturating_sub(1), event) };
        // Choices come first; when the last of them is made, a new group of offers begins.
        if !matches!(field, CommunicationField::Choice(..)) && *choices == 0 {
            *choices = 1;
        }
        match *field {
            CommunicationField::Output(value) => self.outputs(&[value], rest, event, base, captured, choices, each),
            CommunicationField::Input(matcher, set) | CommunicationField::Choice(matcher, set) => {
                if !self.state.open_fields.is_empty() {
                    return Err(self.needs_fields());
                }
                let choice = matches!(field, CommunicationField::Choice(..));
                let ends = choice && !matches!(rest.first(), Some(CommunicationField::Choice(..)));
                let before = *choices;
                let values = match set {
                    Some(set) => {
                        let set = self.eval(set, base, captured)?;
                        let set = self.set(&set)?;
                        vec![(event.clone(), self.list(&set)?)]
                    }
                    None => {
                        let mut parts = Vec::new();
                        self.input_parts(matcher, &mut parts);
                        return self.input(&parts, rest, event, base, captured, (choices, ends), each);
                    }
                };
                for (event, values) in values {
                    for value in values.iter() {
                        if self.matches(matcher, value.clone(), base)? {
                            if ends {
                                *choices += 1;
                            }
                            let event = self.combine(vec![event.clone(), value.clone()])?;
                            self.fields(rest, event, base, captured, choices, each)?;
                        }
                    }
                }
                if choice && *choices == before && ends {
                    return Err(Failure::new(codes::INCOMPLETE, "an internal choice (`$`) over no values"));
                }
                Ok(())
            }
        }
    }

    /// Goes on with values that are given, and then with further fields. An open variable is left open, also within
    /// dots.
    #[allow(clippy::type_complexity, clippy::too_many_arguments)]
    fn outputs(
        &mut self,
        values: &[OperationId],
        rest: &[CommunicationField],
        event: Value,
        base: usize,
        captured: &[Value],
        choices: &mut u32,
        each: &mut dyn FnMut(&mut Machine<'p>, u32, Value) -> Result<()>,
    ) -> Result<()> {
        let Some((&value, others)) = values.split_first() else {
            return self.fields(rest, event, base, captured, choices, each);
        };
        let field = match self.eval(value, base, captured) {
            Ok(value) if self.state.open_fields.is_empty() => {
                let event = self.combine(vec![event, value])?;
                return self.outputs(others, rest, event, base, captured, choices, each);
            }
            Ok(value) => Given::Value(self.finish(value)?),
            Err(failure) if failure.needs().is_some() => {
                if let Operation::Dot(parts) = &self.program.operations[value.index()] {
                    let values: Vec<OperationId> = parts.iter().chain(others).copied().collect();
                    return self.outputs(&values, rest, event, base, captured, choices, each);
                }
                match self.open_variable(value, base, captured) {
                    Some(open) => Given::Open(open),
                    None => return Err(failure),
                }
            }
            Err(failure) => return Err(failure),
        };
        self.state.open_fields.push(field);
        let result = self.outputs(others, rest, event, base, captured, choices, each);
        self.state.open_fields.pop();
        result
    }

    /// The first open field, which is needed.
    fn needs_fields(&self) -> Failure {
        let open = self.state.open_fields.iter().find_map(|field| match field {
            Given::Open(number) => Some(*number),
            Given::Value(_) => None,
        });
        Failure::open(open.expect("a field is open"))
    }

    /// The parts of an input pattern, each of which takes one component.
    fn input_parts(&self, matcher: MatcherId, into: &mut Vec<MatcherId>) {
        match &self.program.matchers[matcher.index()] {
            Matcher::Dot(parts) => parts.iter().for_each(|&part| self.input_parts(part, into)),
            _ => into.push(matcher),
        }
    }

    /// An input without a set: each part of its pattern ranges over the next component; the last part of the last field
    /// over everything that is missing.
    #[allow(clippy::too_many_arguments, clippy::type_complexity)]
    fn input(
        &mut self,
        parts: &[MatcherId],
        rest: &[CommunicationField],
        event: Value,
        base: usize,
        captured: &[Value],
        (choices, ends): (&mut u32, bool),
        each: &mut dyn FnMut(&mut Machine<'p>, u32, Value) -> Result<()>,
    ) -> Result<()> {
        let Some((&part, others)) = parts.split_first() else {
            if ends {
                *choices += 1;
            }
            return self.fields(rest, event, base, captured, choices, each);
        };
        if let Matcher::Constructor(constructor) = self.program.matchers[part.index()]
            && (!others.is_empty()
                || !rest.is_empty()
                || self.program.constructors[constructor.index()].fields.is_none())
        {
            let complete = self.program.constructors[constructor.index()].fields.is_none();
            let bare = Value::Data(Rc::new(super::value::Data::new(constructor, Vec::new(), complete)));
            let event = self.combine(vec![event, bare])?;
            return self.input(others, rest, event, base, captured, (choices, ends), each);
        }
        let values = if others.is_empty() && rest.is_empty() {
            Rc::new(self.extensions(&event)?)
        } else {
            self.next_components(&event)?
        };
        for value in values.iter() {
            if self.matches(part, value.clone(), base)? {
                let event = self.combine(vec![event.clone(), value.clone()])?;
                self.input(others, rest, event, base, captured, (&mut *choices, ends), each)?;
            }
        }
        Ok(())
    }

    /// The copies of a replicated operator: for each choice of its generators, the alphabet if it has one, and the
    /// process.
    pub(super) fn replicas(&mut self, process: &Rc<ProcessNode>) -> Result<Vec<(Option<Value>, ProcessValue)>> {
        let mut found = Vec::new();
        self.in_process(process, |machine, point, base, captured| {
            let Shape::Replicated { operator, steps, body } = &point.shape else {
                return Err(Failure::at(codes::WRONG_SORT, "this is not a replicated process", Some(point.span)));
            };
            machine.run_steps(steps, base, captured, &mut |machine, base, captured| {
                let alphabet = match operator {
                    ReplicatedOperator::Alphabetised(set) => Some(machine.eval(*set, base, captured)?),
                    _ => None,
                };
                let copy = machine.eval(*body, base, captured)?;
                let copy = machine.process_of(copy).map_err(|failure| failure.placed(point.span))?;
                found.push((alphabet, copy));
                Ok(())
            })
        })?;
        Ok(found)
    }

    /// The pairs of a renaming or link, for each choice of its generators. The values are as written: parts of events.
    pub(super) fn ties(&mut self, process: &Rc<ProcessNode>) -> Result<Vec<(Value, Value)>> {
        let mut found = Vec::new();
        self.in_process(process, |machine, point, base, captured| {
            let (pairs, steps) = match &point.shape {
                Shape::Rename { pairs, steps, .. } => (pairs, steps),
                Shape::Link { ties, steps, .. } => (ties, steps),
                Shape::Replicated { operator: ReplicatedOperator::Link(ties, steps), .. } => (ties, steps),
                _ => return Err(Failure::at(codes::WRONG_SORT, "this process has no pairs", Some(point.span))),
            };
            machine.run_steps(steps, base, captured, &mut |machine, base, captured| {
                for &(left, right) in pairs {
                    let left = machine.eval(left, base, captured)?;
                    let left = machine.finish(left)?;
                    let right = machine.eval(right, base, captured)?;
                    found.push((left, machine.finish(right)?));
                }
                Ok(())
            })
        })?;
        Ok(found)
    }
}
