//! A linear process as mCRL2 text.
//!
//! The data is printed as the user wrote it; the process is one equation. What the rewriter uses and users cannot write
//! (sets as functions with exceptions, insertions into chains) is printed by what it means. Conversions between numbers
//! are written out, except at literals.

use std::fmt::Write as _;

use trefoil_data::signature::{Operator, Origin};
use trefoil_data::sorts::{SortKind, SortRef};
use trefoil_data::syntax::tree::{Infix, Power};
use trefoil_data::typed::{DataSpecification, Quantifier, Typed, TypedId, VariableId};

use super::{Event, LinearProcess};
use crate::syntax::tree::{Section, Specification};

/// The linear process of the specification that was read from `text`.
pub fn print(linear: &LinearProcess, specification: &Specification, text: &str) -> String {
    let mut out = declarations(specification, text);
    let process = fresh(linear, "P");
    if linear.summands.iter().any(|summand| summand.event == Event::Terminate) {
        let _ = write!(out, "act {};\n\n", fresh(linear, TERMINATE));
    }
    out.push_str(&equation(linear, &process));
    let _ = write!(out, ";\n\ninit {};\n", call(linear, &process));
    out
}

/// The action that stands for termination.
pub(crate) const TERMINATE: &str = "Terminate";

/// The data and the actions of a specification that was read from `text`.
pub(crate) fn declarations(specification: &Specification, text: &str) -> String {
    let mut kept = specification.clone();
    // Comments belong to places that are gone.
    kept.layout = trefoil_data::syntax::Layout::default();
    kept.sections.retain(|(section, _)| matches!(section, Section::Data(_) | Section::Actions(_)));
    let mut out = crate::syntax::print(&kept, text);
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
    out
}

/// A name that no action, parameter and function has: a wanted one, or with primes.
pub(crate) fn fresh(linear: &LinearProcess, wanted: &str) -> String {
    let mut taken: Vec<&str> = linear.actions.iter().map(|action| linear.data.names.text(action.name)).collect();
    taken.extend(linear.parameters.iter().map(|parameter| name(&linear.data, parameter.variable)));
    let mut found = wanted.to_string();
    while taken.contains(&found.as_str()) || is_function(&linear.data, &found) {
        found.push('\'');
    }
    found
}

/// The call of a linear process with its initial values.
pub(crate) fn call(linear: &LinearProcess, process: &str) -> String {
    let mut writer = Writer { data: &linear.data, out: process.to_string() };
    let initial: Vec<TypedId> = linear.parameters.iter().map(|parameter| parameter.initial).collect();
    writer.arguments(&initial);
    writer.out
}

/// The equation of a linear process, without a semicolon.
pub(crate) fn equation(linear: &LinearProcess, process: &str) -> String {
    let mut writer = Writer { data: &linear.data, out: format!("proc {process}") };
    if !linear.parameters.is_empty() {
        writer.out.push('(');
        for (index, parameter) in linear.parameters.iter().enumerate() {
            if index > 0 {
                writer.out.push_str(", ");
            }
            let sort = linear.data.sort_text(parameter.sort);
            let _ = write!(writer.out, "{}: {sort}", name(&linear.data, parameter.variable));
        }
        writer.out.push(')');
    }
    writer.out.push_str(" =\n");
    if linear.summands.is_empty() {
        writer.out.push_str("    delta");
    }
    for (index, summand) in linear.summands.iter().enumerate() {
        writer.out.push_str(if index > 0 { "\n  + " } else { "    " });
        if !summand.variables.is_empty() {
            writer.out.push_str("sum ");
            writer.bound(&summand.variables);
            writer.out.push_str(" . ");
        }
        if !summand.conditions.is_empty() {
            writer.out.push('(');
            for (index, &condition) in summand.conditions.iter().enumerate() {
                if index > 0 {
                    writer.out.push_str(" && ");
                }
                writer.expression(condition, Infix::And.power().0.tighter());
            }
            writer.out.push_str(") -> ");
        }
        match &summand.event {
            Event::Terminate => writer.out.push_str(&fresh(linear, TERMINATE)),
            Event::Actions(actions) if actions.is_empty() => writer.out.push_str("tau"),
            Event::Actions(actions) => {
                for (index, (action, arguments)) in actions.iter().enumerate() {
                    if index > 0 {
                        writer.out.push('|');
                    }
                    let declaration = &linear.actions[action.0 as usize];
                    writer.out.push_str(linear.data.names.text(declaration.name));
                    writer.arguments(arguments);
                }
            }
        }
        let _ = write!(writer.out, " . {process}");
        if !linear.parameters.is_empty() {
            writer.out.push('(');
            for (index, (parameter, value)) in summand.updates.iter().enumerate() {
                if index > 0 {
                    writer.out.push_str(", ");
                }
                let _ = write!(writer.out, "{} = ", name(&linear.data, linear.parameters[*parameter].variable));
                writer.expression(*value, Power::LOOSEST);
            }
            writer.out.push(')');
        }
    }
    writer.out
}

fn name(data: &DataSpecification, variable: VariableId) -> &str {
    data.names.text(data.tree.variable(variable).0)
}

fn is_function(data: &DataSpecification, name: &str) -> bool {
    data.names.find(name).is_some_and(|symbol| !data.signature.named(symbol).is_empty())
}

struct Writer<'a> {
    data: &'a DataSpecification,
    out: String,
}

/// A variable for what is printed by its meaning; users cannot have it, as it is in no file.
const FRESH: &str = "elem_'";

impl Writer<'_> {
    fn arguments(&mut self, arguments: &[TypedId]) {
        if arguments.is_empty() {
            return;
        }
        self.out.push('(');
        self.list(arguments);
        self.out.push(')');
    }

    fn list(&mut self, elements: &[TypedId]) {
        for (index, &element) in elements.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.expression(element, Power::LOOSEST);
        }
    }

    fn bound(&mut self, variables: &[VariableId]) {
        for (index, &variable) in variables.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            let sort = self.data.sort_text(self.data.tree.variable(variable).1);
            let _ = write!(self.out, "{}: {sort}", self.bound_name(variable));
        }
    }

    /// The name of a variable; those that we made ourselves have names that are none.
    fn bound_name(&self, variable: VariableId) -> String {
        let name = name(self.data, variable);
        if name.starts_with('@') { format!("v_{}'", variable.0) } else { name.to_string() }
    }

    fn bracketed(&mut self, brackets: bool, write: impl FnOnce(&mut Self)) {
        if brackets {
            self.out.push('(');
        }
        write(self);
        if brackets {
            self.out.push(')');
        }
    }

    fn operator_of(&self, id: TypedId) -> Option<(Operator, Vec<TypedId>)> {
        let (head, arguments) = match self.data.tree.expression(id) {
            Typed::Function(function) => (*function, Vec::new()),
            Typed::Apply(function, arguments) => match self.data.tree.expression(*function) {
                Typed::Function(function) => (*function, self.data.tree.elements(arguments).to_vec()),
                _ => return None,
            },
            _ => return None,
        };
        match self.data.signature.function(head).origin {
            Origin::Builtin(operator) => Some((operator, arguments)),
            _ => None,
        }
    }

    fn expression(&mut self, id: TypedId, around: Power) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.inside(id, around));
    }

    fn inside(&mut self, id: TypedId, around: Power) {
        if let Some((operator, arguments)) = self.operator_of(id) {
            return self.operation(id, operator, &arguments, around);
        }
        match self.data.tree.expression(id).clone() {
            Typed::Variable(variable) => {
                let name = self.bound_name(variable);
                self.out.push_str(&name);
            }
            Typed::Number(digits) => self.out.push_str(self.data.names.text(digits)),
            Typed::Function(function) => {
                self.out.push_str(self.data.names.text(self.data.signature.function(function).name));
            }
            Typed::Apply(function, arguments) => {
                self.expression(function, Power::POSTFIX);
                let arguments = self.data.tree.elements(&arguments).to_vec();
                self.arguments(&arguments);
            }
            Typed::Lambda(bound, body) => self.binder("lambda", &bound, body, around),
            Typed::Quantified(Quantifier::Forall, bound, body) => self.binder("forall", &bound, body, around),
            Typed::Quantified(Quantifier::Exists, bound, body) => self.binder("exists", &bound, body, around),
            Typed::Where(body, definitions) => self.bracketed(around > Power::LOOSEST, |writer| {
                writer.expression(body, Power::LOOSEST);
                writer.out.push_str(" whr ");
                for (index, (variable, value)) in definitions.iter().enumerate() {
                    if index > 0 {
                        writer.out.push_str(", ");
                    }
                    let _ = write!(writer.out, "{} = ", writer.bound_name(*variable));
                    writer.expression(*value, Power::LOOSEST);
                }
                writer.out.push_str(" end");
            }),
        }
    }

    fn binder(&mut self, word: &str, bound: &[VariableId], body: TypedId, around: Power) {
        // What a binder's body reaches to depends on its surroundings, so it stands in brackets wherever it has some.
        self.bracketed(around > Power::LOOSEST, |writer| {
            writer.out.push_str(word);
            writer.out.push(' ');
            writer.bound(bound);
            writer.out.push_str(". ");
            writer.expression(body, Power::BINDER);
        });
    }

    fn element_sort(&self, id: TypedId) -> Option<SortRef> {
        match self.data.sorts.kind(self.data.tree.sort(id)) {
            SortKind::Container(_, element) => Some(*element),
            SortKind::Function(domain, _) => domain.first().copied(),
            _ => None,
        }
    }

    fn operation(&mut self, id: TypedId, operator: Operator, arguments: &[TypedId], around: Power) {
        match (operator, arguments) {
            (Operator::Cons, _) => self.cons(id, around),
            (Operator::FSetCons | Operator::Insert, _) => self.finite_set(id, around),
            (Operator::FBagCons | Operator::InsertMany, &[element, number, rest]) => {
                let empty = matches!(self.operator_of(rest), Some((Operator::EmptyBag, _)));
                self.bracketed(!empty && around > Infix::Plus.power().0, |writer| {
                    writer.out.push('{');
                    writer.expression(element, Power::LOOSEST);
                    writer.out.push_str(": ");
                    writer.expression(number, Power::LOOSEST);
                    writer.out.push('}');
                    if !empty {
                        writer.out.push_str(" + ");
                        writer.expression(rest, Infix::Plus.power().0.tighter());
                    }
                });
            }
            (Operator::FSet2Set | Operator::FBag2Bag, &[finite]) => self.expression(finite, around),
            (Operator::SetOf | Operator::BagOf, &[function]) => self.comprehension(function, None),
            (Operator::SetConstructor | Operator::BagConstructor, &[function, exceptions]) => {
                match self.operator_of(function) {
                    Some((Operator::Nothing | Operator::ZeroFunction, _)) => self.expression(exceptions, around),
                    Some((Operator::Everything, _)) => {
                        self.out.push('!');
                        self.expression(exceptions, Power::POSTFIX);
                    }
                    _ => {
                        let empty =
                            matches!(self.operator_of(exceptions), Some((Operator::EmptySet | Operator::EmptyBag, _)));
                        self.comprehension(function, (!empty).then_some(exceptions));
                    }
                }
            }
            (Operator::Nothing | Operator::Everything | Operator::ZeroFunction, _) => {
                let value = match operator {
                    Operator::Nothing => "false",
                    Operator::Everything => "true",
                    _ => "0",
                };
                if arguments.is_empty() {
                    let sort = self.element_sort(id).map_or(String::new(), |sort| self.data.sort_text(sort));
                    self.bracketed(around > Power::LOOSEST, |writer| {
                        let _ = write!(writer.out, "lambda {FRESH}: {sort}. {value}");
                    });
                } else {
                    self.out.push_str(value);
                }
            }
            (Operator::Not | Operator::Complement, &[operand]) => {
                self.out.push('!');
                self.expression(operand, Power::POSTFIX);
            }
            (Operator::Negate, &[operand]) => self.bracketed(around > Power::LOOSEST, |writer| {
                writer.out.push('-');
                writer.expression(operand, Power::POSTFIX);
            }),
            (Operator::Size, &[operand]) => {
                self.out.push('#');
                self.expression(operand, Power::POSTFIX);
            }
            (Operator::Update | Operator::StableUpdate, &[function, argument, value]) => {
                self.expression(function, Power::POSTFIX);
                self.out.push('[');
                self.expression(argument, Power::LOOSEST);
                self.out.push_str(" -> ");
                self.expression(value, Power::LOOSEST);
                self.out.push(']');
            }
            (
                Operator::Pos2Nat | Operator::Pos2Int | Operator::Pos2Real | Operator::Nat2Int | Operator::Nat2Real,
                &[operand],
            ) if matches!(self.data.tree.expression(operand), Typed::Number(_)) => self.expression(operand, around),
            (_, &[left, right]) if operator.infix().is_some() => {
                let Some(infix) = operator.infix() else { return };
                let (power, to_the_right) = infix.power();
                self.bracketed(power < around, |writer| {
                    writer.expression(left, if to_the_right { power.tighter() } else { power });
                    let _ = write!(writer.out, " {} ", infix.text());
                    writer.expression(right, if to_the_right { power } else { power.tighter() });
                });
            }
            _ => {
                self.out.push_str(operator.name());
                self.arguments(arguments);
            }
        }
    }

    /// `{ x: S | f(x) }`, the other way round for the exceptions.
    fn comprehension(&mut self, function: TypedId, exceptions: Option<TypedId>) {
        let lambda = match self.data.tree.expression(function).clone() {
            Typed::Lambda(bound, body) if bound.len() == 1 => Some((bound, body)),
            _ => None,
        };
        self.out.push_str("{ ");
        if let (Some((bound, body)), None) = (&lambda, exceptions) {
            self.bound(bound);
            self.out.push_str(" | ");
            self.expression(*body, Power::LOOSEST);
        } else {
            let sort = self.element_sort(function).map_or(String::new(), |sort| self.data.sort_text(sort));
            let _ = write!(self.out, "{FRESH}: {sort} | ");
            self.expression(function, Power::POSTFIX);
            let _ = write!(self.out, "({FRESH})");
            if let Some(exceptions) = exceptions {
                let _ = write!(self.out, " != ({FRESH} in ");
                self.expression(exceptions, Infix::In.power().0.tighter());
                self.out.push(')');
            }
        }
        self.out.push_str(" }");
    }

    fn cons(&mut self, id: TypedId, around: Power) {
        let mut elements = Vec::new();
        let mut rest = id;
        while let Some((Operator::Cons, arguments)) = self.operator_of(rest) {
            let &[element, tail] = &arguments[..] else { break };
            elements.push(element);
            rest = tail;
        }
        if matches!(self.operator_of(rest), Some((Operator::EmptyList, _))) {
            self.out.push('[');
            self.list(&elements);
            self.out.push(']');
            return;
        }
        let (power, _) = Infix::Cons.power();
        self.bracketed(power < around, |writer| {
            for element in elements {
                writer.expression(element, power.tighter());
                writer.out.push_str(" |> ");
            }
            writer.expression(rest, power);
        });
    }

    fn finite_set(&mut self, id: TypedId, around: Power) {
        let mut elements = Vec::new();
        let mut rest = id;
        while let Some((Operator::FSetCons | Operator::Insert, arguments)) = self.operator_of(rest) {
            let &[element, tail] = &arguments[..] else { break };
            elements.push(element);
            rest = tail;
        }
        let empty = matches!(self.operator_of(rest), Some((Operator::EmptySet, _)));
        self.bracketed(!empty && around > Infix::Plus.power().0, |writer| {
            writer.out.push('{');
            writer.list(&elements);
            writer.out.push('}');
            if !empty {
                writer.out.push_str(" + ");
                writer.expression(rest, Infix::Plus.power().0.tighter());
            }
        });
    }
}
