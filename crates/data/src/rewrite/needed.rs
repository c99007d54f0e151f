//! Which arguments every rule of a function needs.
//!
//! An argument is *needed* by a rule when it is matched, or compared with another one, or tested in the condition, or
//! when the value of the right side depends on it in every case. Callers evaluate the arguments that all rules need.
//!
//! They also evaluate an argument that some rule does not need if no call in the whole program has one there that takes
//! more than a few steps: delaying it would cost more.

use std::collections::{HashMap, HashSet};

use crate::signature::Operator;
use crate::typed::{Typed, TypedId, VariableId};

use super::code::FunctionIndex;
use super::compile::{Compiler, Rules};
use super::expressions::{conversion, is_arithmetic};
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

    /// Finds the functions whose value takes a few steps for any values: their rules need other such functions only.
    pub(super) fn find_cheap(&mut self, rules: &HashMap<FunctionIndex, Rules>) {
        // Weighed in rounds: the weight of a function is known when those of all that it calls are.
        let mut changed = true;
        while changed {
            changed = false;
            for (&function, rows) in rules {
                if self.weights.contains_key(&function) || self.program.function(function).kind != Kind::Defined {
                    continue;
                }
                let mut weight = 1;
                for (equation, _) in rows {
                    let equation = self.equation(*equation);
                    for side in equation.condition.into_iter().chain([equation.right]) {
                        weight = weight.max(1 + self.weight(side, &HashSet::new()).unwrap_or(MOST_STEPS));
                    }
                }
                if weight < MOST_STEPS {
                    self.weights.insert(function, weight);
                    changed = true;
                }
            }
        }
    }

    /// How many steps the value of an expression takes at most for any values of its variables, but for those that may
    /// be delayed; none if that is not known to be few.
    pub(super) fn weight(&self, id: TypedId, delayed: &HashSet<VariableId>) -> Option<u32> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.weight_inside(id, delayed))
    }

    fn weight_inside(&self, id: TypedId, delayed: &HashSet<VariableId>) -> Option<u32> {
        let weight = match self.typed(id) {
            Typed::Variable(variable) if delayed.contains(&variable) => return None,
            Typed::Variable(_) | Typed::Number(_) | Typed::Lambda(..) => 0,
            Typed::Function(id) => {
                if self.is_value(id) {
                    0
                } else {
                    *self.weights.get(&self.program.function_of(id))?
                }
            }
            Typed::Apply(function, arguments) => {
                let Typed::Function(id) = self.typed(function) else { return None };
                let index = self.program.function_of(id);
                let mut weight = match self.program.function(index).kind {
                    Kind::Constructor(_) => 0,
                    Kind::Builtin(operator) if conversion(operator).is_some() || is_arithmetic(operator) => 0,
                    _ => *self.weights.get(&index)?,
                };
                for argument in self.list(&arguments) {
                    weight += self.weight(argument, delayed)?;
                }
                weight
            }
            Typed::Quantified(..) | Typed::Where(..) => return None,
        };
        (weight < MOST_STEPS).then_some(weight)
    }

    /// Takes arguments for needed that some rule does not need, if no call delays them for good reason.
    pub(super) fn find_delayed(&mut self, rules: &HashMap<FunctionIndex, Rules>, expressions: &[TypedId]) {
        let mut delayed: HashMap<FunctionIndex, u64> = HashMap::new();
        let mut changed = true;
        while changed {
            changed = false;
            for (function, rows) in rules {
                for (equation, patterns) in rows {
                    let lazy = delayed.get(function).copied().unwrap_or(0);
                    let variables: HashSet<VariableId> = (0..64)
                        .zip(patterns)
                        .filter(|(argument, _)| lazy >> argument & 1 == 1)
                        .filter_map(|(_, &pattern)| match self.typed(pattern) {
                            Typed::Variable(variable) => Some(variable),
                            _ => None,
                        })
                        .collect();
                    let equation = self.equation(*equation);
                    for side in equation.condition.into_iter().chain([equation.right]) {
                        changed |= self.delays(side, &variables, &mut delayed);
                    }
                }
            }
            for body in expressions {
                changed |= self.delays(*body, &HashSet::new(), &mut delayed);
            }
        }
        for function in rules.keys() {
            self.program.functions[function.0 as usize].lazy &= delayed.get(function).copied().unwrap_or(0);
        }
    }

    /// Notes the arguments that calls in an expression delay; whether one is new.
    fn delays(&self, id: TypedId, variables: &HashSet<VariableId>, delayed: &mut HashMap<FunctionIndex, u64>) -> bool {
        let mut changed = false;
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            match self.typed(id) {
                Typed::Variable(_) | Typed::Function(_) | Typed::Number(_) => {}
                Typed::Apply(function, arguments) => {
                    let arguments = self.list(&arguments);
                    if let Typed::Function(id) = self.typed(function) {
                        let function = self.program.function_of(id);
                        let lazy = self.program.function(function).lazy;
                        let known = delayed.entry(function).or_default();
                        for (place, &argument) in (0..64).zip(&arguments) {
                            let bit = 1 << place;
                            if lazy & bit & !*known != 0 && self.weight(argument, variables).is_none() {
                                *known |= bit;
                                changed = true;
                            }
                        }
                    }
                    pending.push(function);
                    pending.extend(arguments);
                }
                Typed::Lambda(_, body) | Typed::Quantified(_, _, body) => pending.push(body),
                Typed::Where(body, definitions) => {
                    pending.push(body);
                    pending.extend(definitions.iter().map(|(_, value)| *value));
                }
            }
        }
        changed
    }
}

/// A value that takes fewer steps is not delayed.
const MOST_STEPS: u32 = 8;
