//! Terms as mCRL2 writes them.

use std::fmt::Write as _;

use trefoil_terms::{Section, Term};

use crate::signature::Operator;
use crate::syntax::tree::{Infix, Power};
use crate::typed::{Quantifier, VariableId};

use super::code::FunctionIndex;
use super::numbers;
use super::program::{Kind, Program, Role};

/// Texts longer than this are cut: a term may be exponentially larger than its memory.
const LONGEST: usize = 1 << 20;

impl Program {
    /// A term in mCRL2's notation.
    pub fn text(&self, section: &Section<'_>, term: Term) -> String {
        let mut writer = Writer { program: self, section, out: String::new() };
        writer.term(term, Power::LOOSEST);
        writer.out
    }
}

pub(super) struct Writer<'a, 'w> {
    pub(super) program: &'a Program,
    section: &'a Section<'w>,
    pub(super) out: String,
}

/// The infix of an operator that stands between its operands.
pub(super) fn infix(operator: Operator) -> Option<Infix> {
    Some(match operator {
        Operator::And => Infix::And,
        Operator::Or => Infix::Or,
        Operator::Implies => Infix::Implies,
        Operator::Equal => Infix::Equal,
        Operator::NotEqual => Infix::NotEqual,
        Operator::Less => Infix::Less,
        Operator::LessEqual => Infix::LessEqual,
        Operator::Greater => Infix::Greater,
        Operator::GreaterEqual => Infix::GreaterEqual,
        Operator::In => Infix::In,
        Operator::Cons => Infix::Cons,
        Operator::Snoc => Infix::Snoc,
        Operator::Concat => Infix::Concat,
        Operator::At => Infix::At,
        Operator::Add | Operator::Union => Infix::Plus,
        Operator::Subtract | Operator::Difference => Infix::Minus,
        Operator::Multiply | Operator::Intersection => Infix::Times,
        Operator::Divide => Infix::Divide,
        Operator::Div => Infix::Div,
        Operator::Mod => Infix::Mod,
        _ => return None,
    })
}

impl Writer<'_, '_> {
    pub(super) fn term(&mut self, term: Term, around: Power) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.inside(term, around));
    }

    pub(super) fn bracketed(&mut self, brackets: bool, write: impl FnOnce(&mut Self)) {
        if brackets {
            self.out.push('(');
        }
        write(self);
        if brackets {
            self.out.push(')');
        }
    }

    fn inside(&mut self, term: Term, around: Power) {
        if self.out.len() > LONGEST {
            if !self.out.ends_with('…') {
                self.out.push('…');
            }
            return;
        }
        if let Some(number) = self.program.numbers.read(self.section, term) {
            let text = numbers::text(&number);
            let brackets = around > Power(11) && text.contains([' ', '-']);
            self.bracketed(brackets, |writer| writer.out.push_str(&text));
            return;
        }
        let head = self.section.head(term);
        match self.program.role(head) {
            Role::Applied(function) => self.applied(function, term, around),
            Role::Bare(function) => {
                let name = self.name(function);
                self.out.push_str(&name);
            }
            Role::Closure(function) => self.site(function, term, "lambda", around),
            Role::Quantified(function) => {
                let word = match self.program.function(function).kind {
                    Kind::Quantified(Quantifier::Exists) => "exists",
                    _ => "forall",
                };
                self.site(function, term, word, around);
            }
            Role::Delay(_) | Role::Later | Role::Foreign => {
                let name = self.section.name(head);
                let name = name.split('#').next().unwrap_or_default().to_string();
                self.out.push_str(&name);
                let arguments: Vec<Term> = self.section.arguments(term).iter().collect();
                if !arguments.is_empty() {
                    self.arguments(&arguments);
                }
            }
        }
    }

    fn name(&self, function: FunctionIndex) -> String {
        match self.program.function(function).id {
            Some(id) => {
                let name = self.program.specification.signature.function(id).name;
                self.program.specification.names.text(name).to_string()
            }
            None => self.section.name(self.program.function(function).symbol).to_string(),
        }
    }

    fn arguments(&mut self, arguments: &[Term]) {
        self.out.push('(');
        for (index, &argument) in arguments.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.term(argument, Power::LOOSEST);
        }
        self.out.push(')');
    }

    fn operator_of(&self, term: Term) -> Option<Operator> {
        match self.program.role(self.section.head(term)) {
            Role::Applied(function) => {
                let id = self.program.function(function).id?;
                match self.program.specification.signature.function(id).origin {
                    crate::signature::Origin::Builtin(operator) => Some(operator),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn applied(&mut self, function: FunctionIndex, term: Term, around: Power) {
        let arguments: Vec<Term> = self.section.arguments(term).iter().collect();
        let operator = self.operator_of(term);
        match (operator, &arguments[..]) {
            (Some(Operator::Cons), _) => self.list(term, around),
            (Some(Operator::FSetCons), _) => self.chain(term, "{", "}"),
            (Some(Operator::FBagCons), _) => self.bag(term),
            (Some(Operator::SetConstructor), &[characteristic, exceptions])
            | (Some(Operator::BagConstructor), &[characteristic, exceptions]) => {
                self.set(characteristic, exceptions, around);
            }
            (Some(Operator::Not | Operator::Complement), &[operand]) => {
                self.out.push('!');
                self.term(operand, Power::POSTFIX);
            }
            (Some(Operator::Negate), &[operand]) => {
                self.out.push('-');
                self.term(operand, Power::POSTFIX);
            }
            (Some(Operator::Size), &[operand]) => {
                self.out.push('#');
                self.term(operand, Power::POSTFIX);
            }
            (Some(Operator::Update | Operator::StableUpdate), &[function, argument, value]) => {
                self.term(function, Power::POSTFIX);
                self.out.push('[');
                self.term(argument, Power::LOOSEST);
                self.out.push_str(" -> ");
                self.term(value, Power::LOOSEST);
                self.out.push(']');
            }
            (Some(Operator::ConstantFunction), &[value]) => {
                let data = &self.program.specification;
                let of = self.program.function(function).id.map(|id| data.signature.function(id).sort);
                let made = of.and_then(|sort| data.sorts.as_function(sort)).map(|(_, made)| made);
                let argument = made.and_then(|made| data.sorts.as_function(made)).map(|(domain, _)| domain[0]);
                let argument = argument.map_or(String::new(), |sort| data.sort_text(sort));
                self.bracketed(around > Power::BINDER, |writer| {
                    let _ = write!(writer.out, "lambda x: {argument}. ");
                    writer.term(value, Power::BINDER);
                });
            }
            (Some(operator), &[left, right]) if infix(operator).is_some() => {
                let Some(infix) = infix(operator) else { unreachable!() };
                let (power, to_the_right) = infix.power();
                self.bracketed(power < around, |writer| {
                    writer.term(left, if to_the_right { power.tighter() } else { power });
                    let _ = write!(writer.out, " {} ", infix.text());
                    writer.term(right, if to_the_right { power } else { power.tighter() });
                });
            }
            _ => {
                if let Kind::Apply(_) = self.program.function(function).kind {
                    self.term(arguments[0], Power::POSTFIX);
                    self.arguments(&arguments[1..]);
                    return;
                }
                let name = self.name(function);
                self.out.push_str(&name);
                if !arguments.is_empty() {
                    self.arguments(&arguments);
                }
            }
        }
    }

    /// A list in brackets if it is one to its end, else by its operator.
    fn list(&mut self, term: Term, around: Power) {
        let mut rest = term;
        let mut elements = Vec::new();
        while self.operator_of(rest) == Some(Operator::Cons) {
            elements.push(self.section.argument(rest, 0));
            rest = self.section.argument(rest, 1);
        }
        if self.operator_of(rest) == Some(Operator::EmptyList) {
            self.out.push('[');
            for (index, element) in elements.into_iter().enumerate() {
                if index > 0 {
                    self.out.push_str(", ");
                }
                self.term(element, Power::LOOSEST);
            }
            self.out.push(']');
            return;
        }
        let (power, _) = Infix::Cons.power();
        self.bracketed(power < around, |writer| {
            for element in elements {
                writer.term(element, power.tighter());
                writer.out.push_str(" |> ");
            }
            writer.term(rest, power);
        });
    }

    fn chain(&mut self, term: Term, open: &str, close: &str) {
        self.out.push_str(open);
        let mut rest = term;
        let mut first = true;
        while self.operator_of(rest) == Some(Operator::FSetCons) {
            if !first {
                self.out.push_str(", ");
            }
            first = false;
            self.term(self.section.argument(rest, 0), Power::LOOSEST);
            rest = self.section.argument(rest, 1);
        }
        self.out.push_str(close);
    }

    fn bag(&mut self, term: Term) {
        self.out.push('{');
        let mut rest = term;
        let mut first = true;
        while self.operator_of(rest) == Some(Operator::FBagCons) {
            if !first {
                self.out.push_str(", ");
            }
            first = false;
            self.term(self.section.argument(rest, 0), Power::LOOSEST);
            self.out.push_str(": ");
            self.term(self.section.argument(rest, 1), Power::LOOSEST);
            rest = self.section.argument(rest, 2);
        }
        self.out.push('}');
    }

    /// A set or bag: its finite part alone where the function is constant.
    fn set(&mut self, characteristic: Term, exceptions: Term, around: Power) {
        let constant = match self.program.role(self.section.head(characteristic)) {
            Role::Bare(function) => self.program.operator(function),
            _ => None,
        };
        match constant {
            Some(Operator::Nothing | Operator::ZeroFunction) => self.term(exceptions, around),
            Some(Operator::Everything) => {
                self.out.push('!');
                self.term(exceptions, Power::POSTFIX);
            }
            _ => {
                let empty = matches!(self.operator_of(exceptions), Some(Operator::EmptySet | Operator::EmptyBag));
                if empty && let Role::Closure(function) = self.program.role(self.section.head(characteristic)) {
                    self.comprehension(function, characteristic);
                    return;
                }
                self.out.push_str("@set");
                self.arguments(&[characteristic, exceptions]);
            }
        }
    }

    pub(super) fn bound(&mut self, variables: &[VariableId]) {
        for (index, &variable) in variables.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            let (name, sort) = self.program.specification.tree.variable(variable);
            let sort = self.program.specification.sort_text(sort);
            let _ = write!(self.out, "{}: {sort}", self.program.specification.names.text(name));
        }
    }

    fn comprehension(&mut self, function: FunctionIndex, closure: Term) {
        let description = self.program.function(function);
        let Some((body, variables)) = &description.site else { return };
        self.out.push_str("{ ");
        self.bound(&variables[description.captured as usize..]);
        self.out.push_str(" | ");
        let captured: Vec<Term> = self.section.arguments(closure).iter().collect();
        self.expression(*body, variables, &captured, Power::LOOSEST);
        self.out.push_str(" }");
    }

    fn site(&mut self, function: FunctionIndex, term: Term, word: &str, around: Power) {
        let description = self.program.function(function);
        let Some((body, variables)) = &description.site else { return };
        self.bracketed(around > Power::BINDER, |writer| {
            writer.out.push_str(word);
            writer.out.push(' ');
            writer.bound(&variables[description.captured as usize..]);
            writer.out.push_str(". ");
            let captured: Vec<Term> = writer.section.arguments(term).iter().collect();
            writer.expression(*body, variables, &captured, Power::BINDER);
        });
    }
}
