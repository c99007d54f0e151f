//! Expressions of the specification as mCRL2 writes them: the bodies of functions and quantifiers in normal forms.

use std::fmt::Write as _;

use trefoil_terms::Term;

use crate::signature::{Operator, Origin};
use crate::syntax::tree::{Infix, Power};
use crate::typed::{Quantifier, Typed, TypedId, VariableId};

use super::compile::is_conversion;
use super::values::Writer;

impl Writer<'_, '_> {
    /// An expression of the specification with its captured variables replaced.
    pub(super) fn expression(&mut self, id: TypedId, variables: &[VariableId], captured: &[Term], around: Power) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            let tree = &self.program.specification.tree;
            match tree.expression(id) {
                Typed::Variable(variable) => {
                    let place = variables.iter().position(|known| known == variable);
                    match place.and_then(|place| captured.get(place)) {
                        Some(&term) => self.term(term, around),
                        None => {
                            let (name, _) = tree.variable(*variable);
                            self.out.push_str(self.program.specification.names.text(name));
                        }
                    }
                }
                Typed::Number(digits) => self.out.push_str(self.program.specification.names.text(*digits)),
                Typed::Function(function) => {
                    let name = self.program.specification.signature.function(*function).name;
                    self.out.push_str(self.program.specification.names.text(name));
                }
                Typed::Apply(function, arguments) => {
                    let arguments = tree.elements(arguments);
                    if let Typed::Function(function) = tree.expression(*function)
                        && let Origin::Builtin(operator) =
                            self.program.specification.signature.function(*function).origin
                    {
                        if let Operator::FSet2Set | Operator::FBag2Bag = operator {
                            return self.expression(arguments[0], variables, captured, around);
                        }
                        if is_conversion(operator) {
                            return self.expression(arguments[0], variables, captured, around);
                        }
                        if self.literal(operator, id, arguments, variables, captured, around) {
                            return;
                        }
                        if let (Some(infix), &[left, right]) = (operator.infix(), arguments) {
                            let (power, to_the_right) = infix.power();
                            return self.bracketed(power < around, |writer| {
                                let left_power = if to_the_right { power.tighter() } else { power };
                                writer.expression(left, variables, captured, left_power);
                                let _ = write!(writer.out, " {} ", infix.text());
                                let right_power = if to_the_right { power } else { power.tighter() };
                                writer.expression(right, variables, captured, right_power);
                            });
                        }
                        let prefix = match operator {
                            Operator::Not | Operator::Complement => Some('!'),
                            Operator::Negate => Some('-'),
                            Operator::Size => Some('#'),
                            _ => None,
                        };
                        if let (Some(prefix), &[operand]) = (prefix, arguments) {
                            self.out.push(prefix);
                            return self.expression(operand, variables, captured, Power::POSTFIX);
                        }
                    }
                    self.expression(*function, variables, captured, Power::POSTFIX);
                    self.between("(", arguments, ")", variables, captured);
                }
                Typed::Lambda(bound, body) => self.binder("lambda", bound, *body, variables, captured, around),
                Typed::Quantified(Quantifier::Forall, bound, body) => {
                    self.binder("forall", bound, *body, variables, captured, around);
                }
                Typed::Quantified(Quantifier::Exists, bound, body) => {
                    self.binder("exists", bound, *body, variables, captured, around);
                }
                Typed::Where(body, definitions) => self.bracketed(around > Power::LOOSEST, |writer| {
                    writer.expression(*body, variables, captured, Power::LOOSEST);
                    writer.out.push_str(" whr ");
                    for (index, (variable, value)) in definitions.iter().enumerate() {
                        if index > 0 {
                            writer.out.push_str(", ");
                        }
                        let (name, _) = tree.variable(*variable);
                        let _ = write!(writer.out, "{} = ", writer.program.specification.names.text(name));
                        writer.expression(*value, variables, captured, Power::LOOSEST);
                    }
                    writer.out.push_str(" end");
                }),
            }
        });
    }

    fn between(&mut self, open: &str, parts: &[TypedId], close: &str, variables: &[VariableId], captured: &[Term]) {
        self.out.push_str(open);
        for (index, &part) in parts.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.expression(part, variables, captured, Power::LOOSEST);
        }
        self.out.push_str(close);
    }

    fn applied_operator(&self, id: TypedId) -> Option<(Operator, &[TypedId])> {
        let tree = &self.program.specification.tree;
        let (function, arguments) = match tree.expression(id) {
            Typed::Apply(function, arguments) => (*function, tree.elements(arguments)),
            _ => (id, &[][..]),
        };
        let Typed::Function(function) = tree.expression(function) else { return None };
        match self.program.specification.signature.function(*function).origin {
            Origin::Builtin(operator) => Some((operator, arguments)),
            _ => None,
        }
    }

    /// Writes lists, sets, bags, comprehensions and updates as users write them; false for other functions.
    fn literal(
        &mut self,
        operator: Operator,
        id: TypedId,
        arguments: &[TypedId],
        variables: &[VariableId],
        captured: &[Term],
        around: Power,
    ) -> bool {
        let program = self.program;
        match (operator, arguments) {
            (Operator::Cons | Operator::Insert | Operator::FSetCons | Operator::InsertMany | Operator::FBagCons, _) => {
                let mut elements = Vec::new();
                let mut rest = id;
                while let Some((found, parts)) = self.applied_operator(rest)
                    && found == operator
                {
                    elements.push(parts[..parts.len() - 1].to_vec());
                    rest = parts[parts.len() - 1];
                }
                let end = self.applied_operator(rest).map(|(found, _)| found);
                let is_whole = matches!(end, Some(Operator::EmptyList | Operator::EmptySet | Operator::EmptyBag));
                if operator == Operator::Cons && !is_whole {
                    return false;
                }
                let (open, close) = if operator == Operator::Cons { ('[', ']') } else { ('{', '}') };
                let (power, _) = Infix::Plus.power();
                self.bracketed(!is_whole && power < around, |writer| {
                    writer.out.push(open);
                    for (index, element) in elements.iter().enumerate() {
                        if index > 0 {
                            writer.out.push_str(", ");
                        }
                        writer.expression(element[0], variables, captured, Power::LOOSEST);
                        if let Some(&count) = element.get(1) {
                            writer.out.push_str(": ");
                            writer.expression(count, variables, captured, Power::LOOSEST);
                        }
                    }
                    writer.out.push(close);
                    if !is_whole {
                        writer.out.push_str(" + ");
                        writer.expression(rest, variables, captured, power.tighter());
                    }
                });
                true
            }
            (Operator::SetConstructor | Operator::BagConstructor, &[function, exceptions]) => {
                let given = [function, exceptions].map(|part| match program.specification.tree.expression(part) {
                    Typed::Variable(variable) => {
                        let place = variables.iter().position(|known| known == variable)?;
                        captured.get(place).copied()
                    }
                    _ => None,
                });
                let [Some(function), Some(exceptions)] = given else { return false };
                self.set(function, exceptions, around);
                true
            }
            (Operator::SetOf | Operator::BagOf, &[function]) => {
                let Typed::Lambda(bound, body) = program.specification.tree.expression(function) else { return false };
                self.out.push_str("{ ");
                self.bound(bound);
                self.out.push_str(" | ");
                self.expression(*body, variables, captured, Power::LOOSEST);
                self.out.push_str(" }");
                true
            }
            (Operator::Update, &[function, argument, value]) => {
                self.expression(function, variables, captured, Power::POSTFIX);
                self.out.push('[');
                self.expression(argument, variables, captured, Power::LOOSEST);
                self.out.push_str(" -> ");
                self.expression(value, variables, captured, Power::LOOSEST);
                self.out.push(']');
                true
            }
            _ => false,
        }
    }

    fn binder(
        &mut self,
        word: &str,
        bound: &[VariableId],
        body: TypedId,
        variables: &[VariableId],
        captured: &[Term],
        around: Power,
    ) {
        self.bracketed(around > Power::BINDER, |writer| {
            writer.out.push_str(word);
            writer.out.push(' ');
            writer.bound(bound);
            writer.out.push_str(". ");
            writer.expression(body, variables, captured, Power::BINDER);
        });
    }
}
