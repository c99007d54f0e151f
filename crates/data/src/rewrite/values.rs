//! Terms as mCRL2 writes them.

use std::fmt::Write as _;

use trefoil_terms::{Section, Term};

use crate::signature::Operator;
use crate::syntax::tree::{Infix, Power};
use crate::typed::{Quantifier, VariableId};

use super::code::FunctionIndex;
use super::functions::name_and_sort;
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
        let term = self.formed(term);
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
            Role::Bare(_) if self.combinator(term).is_some() => self.combined(term, around),
            Role::Bare(function) => {
                let name = self.name(function);
                self.out.push_str(&name);
            }
            Role::Form => self.form(term, around),
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
            (Some(Operator::FSetCons | Operator::Insert | Operator::FBagCons | Operator::InsertMany), _) => {
                self.finite(term, around);
            }
            (Some(Operator::SetConstructor | Operator::BagConstructor), &[function, exceptions]) => {
                self.set(function, exceptions, around);
            }
            (Some(Operator::FSet2Set | Operator::FBag2Bag), &[finite]) => self.term(finite, around),
            (Some(Operator::SetOf | Operator::BagOf), &[function]) if self.parameter(function).is_some() => {
                self.comprehension(function, None);
            }
            (Some(Operator::Filter), &[function, set]) if self.parameter(function).is_some() => {
                let (power, _) = Infix::Times.power();
                self.bracketed(power < around, |writer| {
                    writer.comprehension(function, None);
                    writer.out.push_str(" * ");
                    writer.term(set, power.tighter());
                });
            }
            (Some(Operator::Holds), &[condition]) => self.term(condition, around),
            (Some(operator), _) if operator.is_combinator() => self.combined(term, around),
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
            (Some(operator), &[left, right]) if operator.infix().is_some() => {
                let Some(infix) = operator.infix() else { unreachable!() };
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

    /// A finite set or bag. What a chain ends in that is not empty, because it is stuck, is added to the others.
    fn finite(&mut self, term: Term, around: Power) {
        let mut rest = term;
        let mut elements: Vec<(Term, Option<Term>)> = Vec::new();
        loop {
            let argument = |index| self.section.argument(rest, index);
            match self.operator_of(rest) {
                Some(Operator::FSetCons | Operator::Insert) => {
                    elements.push((argument(0), None));
                    rest = argument(1);
                }
                Some(Operator::FBagCons | Operator::InsertMany) => {
                    elements.push((argument(0), Some(argument(1))));
                    rest = argument(2);
                }
                _ => break,
            }
        }
        let is_whole = matches!(self.operator_of(rest), Some(Operator::EmptySet | Operator::EmptyBag));
        let (power, _) = Infix::Plus.power();
        self.bracketed(!is_whole && power < around, |writer| {
            writer.out.push('{');
            for (index, (element, count)) in elements.into_iter().enumerate() {
                if index > 0 {
                    writer.out.push_str(", ");
                }
                writer.term(element, Power::LOOSEST);
                if let Some(count) = count {
                    writer.out.push_str(": ");
                    writer.term(count, Power::LOOSEST);
                }
            }
            writer.out.push('}');
            if !is_whole {
                writer.out.push_str(" + ");
                writer.term(rest, power.tighter());
            }
        });
    }

    /// A set or bag by its function and the exceptions: the finite part alone where the function is constant.
    pub(super) fn set(&mut self, function: Term, exceptions: Term, around: Power) {
        let function = self.formed(function);
        match self.combinator(function) {
            Some(Operator::Nothing | Operator::ZeroFunction) => self.term(exceptions, around),
            Some(Operator::Everything) => {
                self.out.push('!');
                self.term(exceptions, Power::POSTFIX);
            }
            _ if self.parameter(function).is_some() => {
                let is_empty = matches!(self.operator_of(exceptions), Some(Operator::EmptySet | Operator::EmptyBag));
                self.comprehension(function, (!is_empty).then_some(exceptions));
            }
            _ => {
                self.out.push_str("@set");
                self.arguments(&[function, exceptions]);
            }
        }
    }

    /// `{ x: S | f(x) }`, the other way round for the exceptions.
    fn comprehension(&mut self, function: Term, exceptions: Option<Term>) {
        let function = self.formed(function);
        let Some((name, sort)) = self.parameter(function) else { return };
        let _ = write!(self.out, "{{ {name}: {sort} | ");
        match exceptions {
            None => self.at(function, &name, Power::LOOSEST),
            Some(exceptions) => {
                let (power, _) = Infix::NotEqual.power();
                self.at(function, &name, power);
                let _ = write!(self.out, " != {name} in ");
                self.term(exceptions, Infix::In.power().0.tighter());
            }
        }
        self.out.push_str(" }");
    }

    /// A function that is made of others, as `lambda x: S. f(x) && g(x)`.
    fn combined(&mut self, function: Term, around: Power) {
        let Some((name, sort)) = self.parameter(function) else { return };
        self.bracketed(around > Power::BINDER, |writer| {
            let _ = write!(writer.out, "lambda {name}: {sort}. ");
            writer.at(function, &name, Power::BINDER);
        });
    }

    fn combinator(&self, function: Term) -> Option<Operator> {
        self.program.combinator(self.section, function)
    }

    /// A name and the sort of the argument of a function.
    fn parameter(&self, function: Term) -> Option<(String, String)> {
        self.program.bound_by(self.section, function)?.into_iter().next()
    }

    /// A function value as its form, where that is known.
    fn formed(&self, function: Term) -> Term {
        if self.program.is_made_function(self.section, function) {
            self.program.form(function).unwrap_or(function)
        } else {
            function
        }
    }

    /// `lambda x: S, y: T. e`, of a form.
    fn form(&mut self, form: Term, around: Power) {
        let parts: Vec<Term> = self.section.arguments(form).iter().collect();
        let Some((&body, variables)) = parts.split_last() else { return };
        self.bracketed(around > Power::BINDER, |writer| {
            writer.out.push_str("lambda ");
            let bound: Vec<_> =
                variables.iter().filter_map(|&variable| name_and_sort(writer.section, variable)).collect();
            for (index, (name, sort)) in bound.iter().enumerate() {
                match bound.get(index + 1) {
                    Some((_, next)) if next == sort => {
                        let _ = write!(writer.out, "{name}, ");
                    }
                    next => {
                        let end = if next.is_some() { ", " } else { "" };
                        let _ = write!(writer.out, "{name}: {sort}{end}");
                    }
                }
            }
            writer.out.push_str(". ");
            writer.term(body, Power::BINDER);
        });
    }

    /// The value of a function for the variable of this name.
    fn at(&mut self, function: Term, name: &str, around: Power) {
        let arguments: Vec<Term> = self.section.arguments(function).iter().collect();
        match (self.combinator(function), &arguments[..]) {
            (Some(Operator::Nothing), _) => self.out.push_str("false"),
            (Some(Operator::Everything), _) => self.out.push_str("true"),
            (Some(Operator::ZeroFunction), _) => self.out.push('0'),
            (Some(Operator::NotFunction), &[inside]) => {
                self.out.push('!');
                self.at(inside, name, Power::POSTFIX);
            }
            (Some(Operator::AndFunction), &[one, other]) => self.both_at(Infix::And, [one, other], name, around),
            (Some(Operator::OrFunction), &[one, other]) => self.both_at(Infix::Or, [one, other], name, around),
            (Some(Operator::AddFunction), &[one, other]) => self.both_at(Infix::Plus, [one, other], name, around),
            (Some(Operator::MinFunction), &[one, other]) => {
                self.out.push_str("min(");
                self.at(one, name, Power::LOOSEST);
                self.out.push_str(", ");
                self.at(other, name, Power::LOOSEST);
                self.out.push(')');
            }
            (Some(Operator::MonusFunction), &[one, other]) => {
                self.out.push_str("Int2Nat(max(0, ");
                self.both_at(Infix::Minus, [one, other], name, Power::LOOSEST);
                self.out.push_str("))");
            }
            (Some(Operator::Occurs), &[inside]) => {
                let (power, _) = Infix::Greater.power();
                self.bracketed(power < around, |writer| {
                    writer.at(inside, name, power);
                    writer.out.push_str(" > 0");
                });
            }
            (Some(Operator::Counts), &[inside]) => {
                self.out.push_str("if(");
                self.at(inside, name, Power::LOOSEST);
                self.out.push_str(", 1, 0)");
            }
            _ => self.applied_to(function, name, around),
        }
    }

    /// The values of two functions with an operator between them.
    fn both_at(&mut self, infix: Infix, [left, right]: [Term; 2], name: &str, around: Power) {
        let (power, to_the_right) = infix.power();
        self.bracketed(power < around, |writer| {
            writer.at(left, name, if to_the_right { power.tighter() } else { power });
            let _ = write!(writer.out, " {} ", infix.text());
            writer.at(right, name, if to_the_right { power } else { power.tighter() });
        });
    }

    /// A function applied to a variable; the body of one that calls its own variable so.
    fn applied_to(&mut self, function: Term, name: &str, around: Power) {
        if self.program.role(self.section.head(function)) == Role::Form
            && self.section.arity(function) == 2
            && self.parameter(function).is_some_and(|(own, _)| own == name)
        {
            return self.term(self.section.argument(function, 1), around);
        }
        if let Role::Closure(index) = self.program.role(self.section.head(function))
            && self.parameter(function).is_some_and(|(own, _)| own == name)
        {
            let description = self.program.function(index);
            let Some((body, variables)) = &description.site else { return };
            let captured: Vec<Term> = self.section.arguments(function).iter().collect();
            return self.expression(*body, variables, &captured, around);
        }
        self.term(function, Power::POSTFIX);
        let _ = write!(self.out, "({name})");
    }

    /// Variables as a binder declares them: `x, y: S, z: T`.
    pub(super) fn bound(&mut self, variables: &[VariableId]) {
        let data = &self.program.specification;
        for (index, &variable) in variables.iter().enumerate() {
            let (name, sort) = data.tree.variable(variable);
            self.out.push_str(data.names.text(name));
            match variables.get(index + 1) {
                Some(&next) if data.tree.variable(next).1 == sort => self.out.push_str(", "),
                next => {
                    let end = if next.is_some() { ", " } else { "" };
                    let _ = write!(self.out, ": {}{end}", data.sort_text(sort));
                }
            }
        }
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
