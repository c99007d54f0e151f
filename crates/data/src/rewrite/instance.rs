//! Terms of expressions that are not evaluated, and rewriting of terms that did not come from code.

use trefoil_terms::Term;

use crate::typed::{Typed, TypedId, VariableId};

use super::machine::{Rewriter, Unfinished};
use super::program::{Kind, Role};

/// Finds the term of a variable.
type Lookup<'l, 'p> = &'l dyn Fn(&Rewriter<'p>, VariableId) -> Option<Term>;

impl<'p> Rewriter<'p> {
    /// The term of an expression, its variables replaced and nothing evaluated.
    pub(super) fn instance(&self, id: TypedId, lookup: Lookup<'_, 'p>) -> Term {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.instance_inside(id, lookup))
    }

    fn instance_inside(&self, id: TypedId, lookup: Lookup<'_, 'p>) -> Term {
        let program = self.program;
        let tree = &program.specification.tree;
        match tree.expression(id) {
            Typed::Variable(variable) => match lookup(self, *variable) {
                Some(term) => self.undelayed(term),
                None => self.variable(*variable),
            },
            Typed::Number(digits) => {
                program.numbers.from_digits(&self.section, program.specification.names.text(*digits))
            }
            Typed::Function(function) => {
                let index = program.function_of(*function);
                let description = program.function(index);
                let symbol = if description.arity == 0 { description.symbol } else { program.bare_symbol(index) };
                self.section.create(symbol, &[])
            }
            Typed::Apply(function, arguments) => {
                let inside: Vec<Term> =
                    tree.elements(arguments).iter().map(|&argument| self.instance(argument, lookup)).collect();
                if let Typed::Function(function) = tree.expression(*function) {
                    let index = program.function_of(*function);
                    if program.operator(index).is_some_and(super::compile::is_conversion) {
                        return inside[0];
                    }
                    return self.section.create(program.function(index).symbol, &inside);
                }
                let function = self.instance(*function, lookup);
                let Some(apply) = program.apply_function(inside.len() as u16) else {
                    unreachable!("applications in code were compiled")
                };
                let all: Vec<Term> = std::iter::once(function).chain(inside).collect();
                self.section.create(program.function(apply).symbol, &all)
            }
            Typed::Lambda(_, body) | Typed::Quantified(_, _, body) => {
                let Some(index) = program.site_of(*body) else { unreachable!("every body in code has a site") };
                let function = program.function(index);
                let Some((_, variables)) = &function.site else { unreachable!("a site has its variables") };
                let captured: Vec<Term> = variables[..function.captured as usize]
                    .iter()
                    .map(|&variable| lookup(self, variable).unwrap_or_else(|| self.variable(variable)))
                    .collect();
                self.section.create(function.symbol, &captured)
            }
            Typed::Where(body, definitions) => {
                let values: Vec<(VariableId, Term)> =
                    definitions.iter().map(|(variable, value)| (*variable, self.instance(*value, lookup))).collect();
                self.instance(*body, &|rewriter, variable| {
                    let defined = values.iter().find(|(known, _)| *known == variable).map(|(_, term)| *term);
                    defined.or_else(|| lookup(rewriter, variable))
                })
            }
        }
    }

    /// A variable as a term: a constant of its own.
    pub(super) fn variable(&self, variable: VariableId) -> Term {
        let (name, _) = self.program.specification.tree.variable(variable);
        let name = self.program.specification.names.text(name);
        self.section.create(self.program.pool.symbol(&format!("{name}#{}", variable.0), 0), &[])
    }

    /// A term that may be delayed, as the expression that it is.
    pub(super) fn undelayed(&self, term: Term) -> Term {
        match self.program.role(self.section.head(term)) {
            Role::Delay(function) => {
                let Some((body, variables)) = &self.program.function(function).site else {
                    unreachable!("a delayed expression has its body")
                };
                let captured: Vec<Term> = self.section.arguments(term).iter().collect();
                self.instance(*body, &|_, variable| {
                    variables.iter().position(|&known| known == variable).map(|place| captured[place])
                })
            }
            Role::Later => self.section.argument(term, 0),
            _ => term,
        }
    }

    /// Puts the normal form of a term on top.
    pub(super) fn rewrite(&mut self, term: Term) -> Result<(), Unfinished> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.rewrite_inside(term))
    }

    fn rewrite_inside(&mut self, term: Term) -> Result<(), Unfinished> {
        let place = self.stack.len();
        match self.program.role(self.section.head(term)) {
            Role::Applied(function) => {
                // The term itself is held below its arguments: rewriting them may collect.
                self.stack.push(term);
                let description = self.program.function(function);
                let (kind, lazy, arity) = (description.kind, description.lazy, description.arity);
                for index in 0..arity {
                    let argument = self.section.argument(self.stack[place], index as usize);
                    if index < 64 && lazy >> index & 1 == 1 {
                        let later = self.section.create(self.program.later, &[argument]);
                        self.stack.push(later);
                    } else {
                        self.rewrite(argument)?;
                    }
                }
                self.stack.remove(place);
                match kind {
                    Kind::Constructor(_) => {
                        let symbol = self.program.function(function).symbol;
                        let made = self.section.create(symbol, &self.stack[place..]);
                        self.stack.truncate(place);
                        self.stack.push(made);
                        Ok(())
                    }
                    Kind::Apply(arity) => self.apply(arity),
                    _ => self.call(function),
                }
            }
            Role::Delay(_) | Role::Later => self.force(term),
            Role::Quantified(function) => {
                let captured: Vec<Term> = self.section.arguments(term).iter().collect();
                self.stack.extend(captured);
                self.call(function)
            }
            Role::Foreign | Role::Bare(_) | Role::Closure(_) | Role::Form => {
                self.stack.push(term);
                Ok(())
            }
        }
    }
}
