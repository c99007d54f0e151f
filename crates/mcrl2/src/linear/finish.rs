//! From terms back to typed expressions, with names that are unique.

use std::collections::{BTreeSet, HashMap, HashSet};

use trefoil_data::rewrite::ReadBack;
use trefoil_data::signature::{FunctionId, Origin};
use trefoil_data::sorts::{BOOL, SortRef};
use trefoil_data::typed::{DataSpecification, Typed, TypedId, VariableId};
use trefoil_terms::Term;

use super::component::SequentialComponent;
use super::draft::Draft;
use super::expressions::{Expressions, Variable};
use super::{Component, ComponentSummand, Event, LinearProcess, Parameter, Part, Summand};
use crate::processes::ProcessSpecification;

/// The linear process of a draft.
pub(super) fn finish(
    specification: &ProcessSpecification,
    x: &Expressions<'_>,
    components: &[SequentialComponent],
    draft: Draft,
    report: Vec<String>,
) -> LinearProcess {
    let mut data = x.program.specification.clone();
    let mut names = Names::new(specification, &data);
    let mut variables: HashMap<Term, VariableId> = HashMap::new();
    let mut own = Vec::new();
    for parameter in &draft.parameters {
        let described = x.described(parameter.variable);
        let name = names.global(&described.name, components.len() > 1, parameter.component);
        let symbol = data.names.intern(&name);
        let variable = data.tree.add_variable(symbol, described.sort);
        variables.insert(described.leaf, variable);
        own.push(variable);
    }
    let place = components[0].place;
    let reader = ReadBack { program: x.program, target: &mut data, variables, place, known: HashMap::new() };
    let mut reading = Reading { x, reader };
    let parameters: Vec<Parameter> = draft
        .parameters
        .iter()
        .zip(own)
        .map(|(parameter, variable)| {
            let described = x.described(parameter.variable);
            Parameter {
                variable,
                source: described.name.clone(),
                sort: described.sort,
                initial: reading.read(parameter.initial, described.sort),
                component: parameter.component,
                control: parameter.control,
            }
        })
        .collect();
    let summands = draft
        .summands
        .iter()
        .map(|summand| {
            let variables = reading.bind(&summand.sums, &names);
            let made = Summand {
                variables,
                conditions: summand.conditions.iter().map(|&condition| reading.read(condition, BOOL)).collect(),
                event: match &summand.action {
                    None => Event::Terminate,
                    Some(actions) => Event::Actions(
                        actions
                            .iter()
                            .map(|(action, arguments)| {
                                let sorts = &specification.action(*action).sorts;
                                let pairs = arguments.iter().zip(sorts);
                                (*action, pairs.map(|(&term, &sort)| reading.read(term, sort)).collect())
                            })
                            .collect(),
                    ),
                },
                updates: summand
                    .updates
                    .iter()
                    .map(|(&parameter, &value)| (parameter, reading.read(value, parameters[parameter].sort)))
                    .collect(),
                parts: summand
                    .parts
                    .iter()
                    .map(|part| Part {
                        component: part.component,
                        summand: part.summand,
                        moves: part.moves.iter().map(|&(from, to)| (from as u32 + 1, to as u32 + 1)).collect(),
                    })
                    .collect(),
            };
            reading.unbind(&summand.sums);
            made
        })
        .collect();
    LinearProcess {
        data,
        actions: specification.actions.clone(),
        components: components
            .iter()
            .map(|component| Component {
                name: component.name.clone(),
                place: component.place,
                states: component.states.clone(),
                summands: component
                    .summands
                    .iter()
                    .map(|summand| ComponentSummand {
                        actions: summand.action.iter().map(|(action, _)| *action).collect(),
                        place: summand.place,
                    })
                    .collect(),
            })
            .collect(),
        parameters,
        summands,
        report,
        warnings: Vec::new(),
    }
}

/// Reads the terms of a draft.
struct Reading<'a, 'p> {
    x: &'a Expressions<'p>,
    reader: ReadBack<'a>,
}

impl Reading<'_, '_> {
    fn read(&mut self, term: Term, sort: SortRef) -> TypedId {
        match self.reader.expression(self.x.rewriter.section(), term, sort) {
            Some(read) => read,
            None => unreachable!("every leaf of a linear process is one of its variables: {}", self.x.text(term)),
        }
    }

    /// Variables of a summand, which have other names in each.
    fn bind(&mut self, sums: &[Variable], names: &Names) -> Vec<VariableId> {
        let mut taken: HashSet<String> = HashSet::new();
        let mut bound = Vec::new();
        for &sum in sums {
            let described = self.x.described(sum);
            let name = names.local(&described.name, &mut taken);
            let symbol = self.reader.target.names.intern(&name);
            let variable = self.reader.target.tree.add_variable(symbol, described.sort);
            self.reader.variables.insert(described.leaf, variable);
            bound.push(variable);
        }
        bound
    }

    fn unbind(&mut self, sums: &[Variable]) {
        for &sum in sums {
            self.reader.variables.remove(&self.x.leaf(sum));
        }
        if !sums.is_empty() {
            self.reader.known.clear();
        }
    }
}

/// Names that no declaration and no binder inside an expression has.
struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    fn new(specification: &ProcessSpecification, data: &DataSpecification) -> Names {
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for index in 0..data.signature.len() as u32 {
            let function = data.signature.function(FunctionId(index));
            if !matches!(function.origin, Origin::Builtin(_)) {
                taken.insert(data.names.text(function.name).to_string());
            }
        }
        taken.extend(BUILT_IN_WORDS.iter().map(|word| (*word).to_string()));
        taken.extend(specification.actions.iter().map(|action| specification.name(action.name).to_string()));
        taken.extend(specification.definitions.iter().map(|one| specification.name(one.name).to_string()));
        // Binders inside expressions keep their names, so that a value put below them must not have one of these.
        for id in 0..data.tree.len() as u32 {
            let bound: Vec<VariableId> = match data.tree.expression(TypedId(id)) {
                Typed::Lambda(bound, _) | Typed::Quantified(_, bound, _) => bound.clone(),
                Typed::Where(_, definitions) => definitions.iter().map(|(variable, _)| *variable).collect(),
                _ => continue,
            };
            taken.extend(bound.into_iter().map(|variable| data.names.text(data.tree.variable(variable).0).to_string()));
        }
        Names { taken }
    }

    /// A name of a parameter.
    fn global(&mut self, name: &str, several: bool, component: usize) -> String {
        let mut chosen = name.to_string();
        if self.taken.contains(&chosen) && several {
            chosen = format!("{name}_{}", component + 1);
        }
        let mut number = 2;
        while self.taken.contains(&chosen) {
            chosen = format!("{name}_{}_{number}", component + 1);
            number += 1;
        }
        self.taken.insert(chosen.clone());
        chosen
    }

    /// A name of a variable of one summand.
    fn local(&self, name: &str, taken: &mut HashSet<String>) -> String {
        let mut chosen = name.to_string();
        let mut number = 1;
        while self.taken.contains(&chosen) || taken.contains(&chosen) {
            chosen = format!("{name}_{number}'");
            number += 1;
        }
        taken.insert(chosen.clone());
        chosen
    }
}

/// Built-in functions with names like variables.
const BUILT_IN_WORDS: &[&str] = &[
    "if", "min", "max", "succ", "pred", "abs", "div", "mod", "exp", "sqrt", "floor", "ceil", "round", "head", "tail",
    "rhead", "rtail", "pick", "count", "true", "false", "Set2Bag", "Bag2Set",
];
