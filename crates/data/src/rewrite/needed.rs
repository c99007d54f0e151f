//! Which arguments every rule of a function needs.
//!
//! An argument is *needed* by a rule when it is matched, or compared with another one, or tested in the condition, or
//! when the value of the right side depends on it in every case. Callers evaluate the arguments that all rules need.

use std::collections::HashMap;

use crate::signature::Operator;
use crate::typed::{Typed, TypedId, VariableId};

use super::code::FunctionIndex;
use super::compile::{Compiler, Rules};
use super::program::Kind;

impl Compiler<'_, '_> {
    /// Finds the arguments that some rule does not need. Every argument is assumed to be needed until a rule shows that
    /// it is not: a recursion alone does not make an argument unneeded.
    pub(super) fn find_lazy(&mut self, rules: &HashMap<FunctionIndex, Rules>) {
        let mut changed = true;
        while changed {
            changed = false;
            for (&function, rows) in rules {
                let description = self.program.function(function);
                if description.kind != Kind::Defined {
                    continue;
                }
                for argument in 0..(description.arity as usize).min(64) {
                    let bit = 1 << argument;
                    if self.program.function(function).lazy & bit != 0 {
                        continue;
                    }
                    if !rows.iter().all(|(equation, patterns)| self.needs(*equation, patterns, argument)) {
                        self.program.functions[function.0 as usize].lazy |= bit;
                        changed = true;
                    }
                }
            }
        }
    }

    fn needs(&self, equation: usize, patterns: &[TypedId], argument: usize) -> bool {
        let Typed::Variable(variable) = self.typed(patterns[argument]) else { return true };
        let equation = self.equation(equation);
        let mut seen = 0;
        for &pattern in patterns {
            self.each_variable(pattern, &mut |found| seen += u32::from(found == variable));
        }
        if seen > 1 {
            return true;
        }
        if let Some(condition) = equation.condition {
            let mut used = false;
            self.each_variable(condition, &mut |found| used |= found == variable);
            if used {
                return true;
            }
        }
        self.value_needs(equation.right, variable)
    }

    /// Whether the value of an expression depends on that of a variable in every case.
    fn value_needs(&self, id: TypedId, variable: VariableId) -> bool {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match self.typed(id) {
            Typed::Variable(found) => found == variable,
            Typed::Function(_) | Typed::Number(_) | Typed::Lambda(..) | Typed::Quantified(..) => false,
            Typed::Where(body, definitions) => {
                self.value_needs(body, variable)
                    || definitions.iter().any(|(_, value)| self.value_needs(*value, variable))
            }
            Typed::Apply(function, arguments) => {
                let arguments = self.list(&arguments);
                let Typed::Function(function) = self.typed(function) else {
                    return self.value_needs(function, variable);
                };
                let function = self.program.function(self.program.function_of(function));
                match function.kind {
                    Kind::Builtin(Operator::If) => {
                        self.value_needs(arguments[0], variable)
                            || self.value_needs(arguments[1], variable) && self.value_needs(arguments[2], variable)
                    }
                    Kind::Builtin(Operator::And | Operator::Or | Operator::Implies) => {
                        self.value_needs(arguments[0], variable)
                    }
                    _ => arguments.iter().enumerate().any(|(index, &argument)| {
                        (index >= 64 || function.lazy >> index & 1 == 0) && self.value_needs(argument, variable)
                    }),
                }
            }
        })
    }
}
