//! The structure of what is still to be done: processes that differ in the names of variables only are one shape.

use std::collections::HashMap;
use std::rc::Rc;

use trefoil_data::typed::{TypedId, VariableId};
use trefoil_terms::Term;

use super::super::expressions::Expressions;
use super::Sequential;
use super::stacks::StackId;
use crate::processes::{Process, ProcessRef};

/// An element of a stack, known by its structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ShapeId(pub(super) u32);

/// A piece of a structure that tells elements apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Token {
    Tag(u8),
    Number(u32),
    Data(Term),
}

/// Builds a structure.
struct Structure {
    tokens: Vec<Token>,
    places: HashMap<VariableId, usize>,
    /// Variables in the order of their first use.
    order: Vec<VariableId>,
    bound: Vec<VariableId>,
}

impl Structure {
    fn place(&mut self, variable: VariableId) {
        let next = self.order.len();
        if let std::collections::hash_map::Entry::Vacant(entry) = self.places.entry(variable) {
            entry.insert(next);
            self.order.push(variable);
        }
    }
}

impl Sequential<'_> {
    /// The name of what a continuation does first, as far as it is not nested deeply.
    pub(super) fn describe(&self, nodes: &[ProcessRef], out: &mut String) {
        self.describe_within(nodes, 32, out);
    }

    fn describe_within(&self, nodes: &[ProcessRef], depth: usize, out: &mut String) {
        let Some(depth) = depth.checked_sub(1) else {
            out.push('…');
            return;
        };
        for (index, &node) in nodes.iter().enumerate() {
            if index > 0 {
                out.push('.');
            }
            let definition = self.specification.definitions.iter().find(|definition| definition.body == node);
            match (definition, self.specification.process(node)) {
                (Some(definition), _) => out.push_str(self.specification.name(definition.name)),
                (None, Process::Call(definition, _)) => {
                    out.push_str(self.specification.name(self.specification.definition(*definition).name));
                }
                (None, Process::MultiAction(actions)) => {
                    let names: Vec<&str> = actions
                        .iter()
                        .map(|(action, _)| self.specification.name(self.specification.action(*action).name))
                        .collect();
                    out.push_str(&if names.is_empty() { "tau".to_string() } else { names.join("|") });
                }
                (None, Process::Sequence(left, right)) => self.describe_within(&[*left, *right], depth, out),
                (None, Process::Delta) => out.push_str("delta"),
                (None, Process::Sum(_, body)) => self.describe_within(&[*body], depth, out),
                (None, Process::Condition(_, yes, _)) => {
                    self.describe_within(&[*yes], depth, out);
                    out.push('…');
                }
                (None, Process::Choice(left, _)) => {
                    let mut first = *left;
                    while let Process::Choice(left, _) = self.specification.process(first) {
                        first = *left;
                    }
                    out.push('(');
                    self.describe_within(&[first], depth, out);
                    out.push_str(" + …)");
                }
                _ => out.push('…'),
            }
        }
    }

    /// The first elements of a stack as text.
    pub(super) fn text(&self, stack: StackId, most: usize) -> String {
        if stack == StackId::EMPTY {
            return "terminated".to_string();
        }
        let mut nodes: Vec<ProcessRef> = self.stacks.elements(stack).take(most + 1).map(|top| top.node).collect();
        let is_longer = nodes.len() > most;
        nodes.truncate(most);
        let mut out = String::new();
        self.describe(&nodes, &mut out);
        if is_longer {
            out.push_str(".…");
        }
        out
    }

    fn position(&mut self, x: &Expressions<'_>, place: usize) -> Term {
        while self.positions.len() <= place {
            let leaf = x.program.leaf(x.rewriter.section(), "@position");
            self.positions.push(leaf);
        }
        self.positions[place]
    }

    /// The structure of a process, and its variables in the order of that structure.
    pub(super) fn shape(&mut self, x: &Expressions<'_>, node: ProcessRef) -> (ShapeId, Rc<[VariableId]>) {
        if let Some(known) = self.by_node.get(&node) {
            return known.clone();
        }
        let mut builder =
            Structure { tokens: Vec::new(), places: HashMap::new(), order: Vec::new(), bound: Vec::new() };
        self.structure(x, node, &mut builder);
        let mut free = Vec::new();
        for &variable in &builder.order {
            if self.specification.globals.contains(&variable) {
                builder.tokens.extend([Token::Tag(b'g'), Token::Number(variable.0)]);
                continue;
            }
            let sort = self.specification.data.tree.variable(variable).1;
            builder.tokens.push(Token::Number(sort.0));
            if !builder.bound.contains(&variable) {
                free.push(variable);
            }
        }
        let variables: Rc<[VariableId]> = Rc::from(free);
        let next = ShapeId(self.by_structure.len() as u32);
        let id = *self.by_structure.entry(builder.tokens).or_insert(next);
        self.by_node.insert(node, (id, Rc::clone(&variables)));
        (id, variables)
    }

    fn data(&mut self, x: &Expressions<'_>, expression: TypedId, builder: &mut Structure) {
        let mut variables = self.specification.data.tree.free_variables(expression);
        // The order of `free_variables` is that of the expression, and the same for equal expressions.
        variables.dedup();
        for variable in variables {
            builder.place(variable);
        }
        for place in 0..builder.order.len() {
            self.position(x, place);
        }
        let positions = &self.positions;
        let places = &builder.places;
        let term = x.shape(expression, &|variable| positions[places[&variable]]);
        builder.tokens.push(Token::Data(term));
    }

    fn structure(&mut self, x: &Expressions<'_>, node: ProcessRef, builder: &mut Structure) {
        let specification = self.specification;
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match specification.process(node) {
            Process::MultiAction(actions) => {
                builder.tokens.push(Token::Tag(b'a'));
                for (action, arguments) in actions {
                    builder.tokens.push(Token::Number(action.0));
                    arguments.iter().for_each(|&argument| self.data(x, argument, builder));
                }
                builder.tokens.push(Token::Tag(b';'));
            }
            Process::Call(definition, arguments) => {
                builder.tokens.extend([Token::Tag(b'c'), Token::Number(definition.0)]);
                arguments.iter().for_each(|&argument| self.data(x, argument, builder));
            }
            Process::Delta => builder.tokens.push(Token::Tag(b'd')),
            Process::Choice(left, right) => {
                builder.tokens.push(Token::Tag(b'+'));
                self.structure(x, *left, builder);
                self.structure(x, *right, builder);
            }
            Process::Sequence(left, right) => {
                self.structure(x, *left, builder);
                builder.tokens.push(Token::Tag(b'.'));
                self.structure(x, *right, builder);
            }
            Process::Sum(variables, body) => {
                builder.tokens.extend([Token::Tag(b's'), Token::Number(variables.len() as u32)]);
                for &variable in variables {
                    builder.place(variable);
                    builder.bound.push(variable);
                }
                self.structure(x, *body, builder);
                builder.tokens.push(Token::Tag(b';'));
            }
            Process::Condition(condition, yes, no) => {
                builder.tokens.push(Token::Tag(if no.is_some() { b'i' } else { b'?' }));
                self.data(x, *condition, builder);
                self.structure(x, *yes, builder);
                builder.tokens.push(Token::Tag(b';'));
                if let Some(no) = no {
                    self.structure(x, *no, builder);
                    builder.tokens.push(Token::Tag(b';'));
                }
            }
            _ => unreachable!("a sequential component has no operators of parallel processes"),
        });
    }
}
