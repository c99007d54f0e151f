//! One sequential component as a graph of control states.
//!
//! A control state is a stack of continuations. A continuation is what one call of a process still has to do: parts of
//! its body in sequence, over the values of the variables that these parts use. Two continuations are one when they
//! differ in the names of variables only, so `P = a.c.P + b.c.P` has two control states. A call that comes first on the
//! stack is replaced by the body of its process, its arguments evaluated: `P(f(x)).Q(g(x))` is the body of `P` over
//! `f(x)` above that of `Q` over `g(x)`, which is mCRL2's `regular2`; where nothing is above it, and where a call comes
//! later in a sequence, the values of the variables are kept, which is `regular`. What follows a process that cannot
//! terminate is dropped. Only a recursion that keeps pushing continuations (`P = a.P.b + b`) has no end; it is refused
//! with the stack.
//!
//! The slots of a control state are the variables of its continuations. Each is known to hold one value as long as
//! every step into the state brings that value (conditional constant propagation: Wegman and Zadeck, *Constant
//! propagation with conditional branches*, 1991), and is a parameter of the component otherwise. Slots of one name and
//! sort share a parameter across control states, so a value that is handed on needs no update. A parameter that a state
//! does not use holds its initial value, or the default of its sort.
//!
//! Cost: a control state is expanded again when a slot of it turns out to vary, at most twice for each slot.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;

use trefoil_data::sorts::SortRef;
use trefoil_data::typed::{TypedId, VariableId};
use trefoil_source::{Diagnostic, Place, Span};
use trefoil_terms::Term;

use super::expressions::{Environment, Expressions, Variable};
use super::{Refusal, codes};
use crate::processes::{ActionId, DefinitionId, Process, ProcessRef, ProcessSpecification};

/// Continuations on a stack beyond which it is taken to grow without bound.
const DEEPEST: usize = 64;

/// Calls without an action between them beyond which recursion is taken to be unguarded.
const MOST_CALLS: usize = 2_000;

/// Control states of a component beyond which it is refused.
const MOST_STATES: usize = 100_000;

/// An action with arguments.
pub(super) type OpenAction = (ActionId, Vec<Term>);

/// A parameter of a component.
#[derive(Clone, Debug)]
pub(super) struct ComponentParameter {
    pub(super) variable: Variable,
    pub(super) initial: Term,
    /// What it holds while nothing reads it; nothing for sorts without a known value.
    pub(super) idle: Option<Term>,
}

/// A summand of a component.
#[derive(Clone, Debug)]
pub(super) struct ComponentSummand {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) sums: Vec<Variable>,
    pub(super) conditions: Vec<Term>,
    pub(super) action: Vec<OpenAction>,
    pub(super) updates: Vec<(usize, Term)>,
}

/// A sequential component.
#[derive(Clone, Debug)]
pub(super) struct SequentialComponent {
    pub(super) name: String,
    pub(super) place: Span,
    pub(super) parameters: Vec<ComponentParameter>,
    /// What each control state is about to do, as text.
    pub(super) states: Vec<String>,
    /// The state in which it has terminated.
    pub(super) terminated: Option<usize>,
    pub(super) summands: Vec<ComponentSummand>,
}

/// A continuation, known by its structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct ShapeId(u32);

/// Parts of a body in sequence, and the variables they use in the order of their first use.
#[derive(Clone, Debug)]
struct Shape {
    nodes: Rc<[ProcessRef]>,
    variables: Rc<[VariableId]>,
}

/// A piece of a structure that tells continuations apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Token {
    Tag(u8),
    Number(u32),
    Data(Term),
}

/// A scope: the variables of one call, and which call that is.
#[derive(Clone, Debug)]
struct Scope {
    instance: u32,
    values: Rc<Environment>,
}

/// What is still to be done after a part of a body: a list with shared ends.
type After = Option<Rc<Pending>>;

#[derive(Debug)]
struct Pending {
    node: ProcessRef,
    scope: Scope,
    rest: After,
}

/// A step that was found.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    sums: Vec<Variable>,
    conditions: Vec<Term>,
    action: Vec<OpenAction>,
    /// The continuations after it, each with the values of its variables.
    next: Vec<(ShapeId, Vec<Term>)>,
}

/// A slot of a control state: its parameter, and the one value that it has, if it has one only.
#[derive(Clone, Debug)]
struct Slot {
    parameter: usize,
    constant: Option<Term>,
}

#[derive(Clone, Debug)]
struct State {
    key: Vec<ShapeId>,
    slots: Vec<Slot>,
    steps: Vec<(usize, Step)>,
    expanded: bool,
    queued: bool,
}

/// Linearises components; continuations are shared among them.
pub(super) struct Sequential<'a> {
    specification: &'a ProcessSpecification,
    terminating: Vec<bool>,
    shapes: Vec<Shape>,
    by_nodes: HashMap<Vec<ProcessRef>, (ShapeId, Rc<[VariableId]>)>,
    by_structure: HashMap<Vec<Token>, ShapeId>,
    /// Constants that stand for variables by position.
    positions: Vec<Term>,
    instances: u32,
}

impl<'a> Sequential<'a> {
    /// A lineariser for a specification.
    pub(super) fn new(specification: &'a ProcessSpecification) -> Sequential<'a> {
        let mut sequential = Sequential {
            specification,
            terminating: vec![false; specification.definitions.len()],
            shapes: Vec::new(),
            by_nodes: HashMap::new(),
            by_structure: HashMap::new(),
            positions: Vec::new(),
            instances: 0,
        };
        loop {
            let mut changed = false;
            for (index, definition) in specification.definitions.iter().enumerate() {
                if !sequential.terminating[index] && sequential.can_terminate(definition.body) {
                    sequential.terminating[index] = true;
                    changed = true;
                }
            }
            if !changed {
                return sequential;
            }
        }
    }

    /// Whether a process may terminate, whatever its conditions say.
    pub(super) fn can_terminate(&self, id: ProcessRef) -> bool {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match self.specification.process(id) {
            Process::MultiAction(_) => true,
            Process::Call(definition, _) => self.terminating[definition.0 as usize],
            Process::Delta => false,
            Process::Choice(left, right) => self.can_terminate(*left) || self.can_terminate(*right),
            Process::Sequence(left, right) | Process::Parallel(left, right) => {
                self.can_terminate(*left) && self.can_terminate(*right)
            }
            Process::Sum(_, body)
            | Process::Block(_, body)
            | Process::Hide(_, body)
            | Process::Rename(_, body)
            | Process::Allow(_, body)
            | Process::Comm(_, body) => self.can_terminate(*body),
            Process::Condition(_, yes, no) => self.can_terminate(*yes) || no.is_some_and(|no| self.can_terminate(no)),
        })
    }

    /// The name of what a continuation does first.
    fn describe(&self, nodes: &[ProcessRef], out: &mut String) {
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
                (None, Process::Sequence(left, right)) => self.describe(&[*left, *right], out),
                (None, Process::Delta) => out.push_str("delta"),
                (None, Process::Sum(_, body)) => self.describe(&[*body], out),
                (None, Process::Condition(_, yes, _)) => {
                    self.describe(&[*yes], out);
                    out.push('…');
                }
                (None, Process::Choice(left, _)) => {
                    out.push('(');
                    self.describe(&[*left], out);
                    out.push_str(" + …)");
                }
                _ => out.push('…'),
            }
        }
    }

    fn text(&self, key: &[ShapeId]) -> String {
        let mut out = String::new();
        for (index, &shape) in key.iter().enumerate() {
            if index > 0 {
                out.push_str(" . ");
            }
            self.describe(&self.shapes[shape.0 as usize].nodes, &mut out);
        }
        if key.is_empty() { "terminated".to_string() } else { out }
    }

    fn position(&mut self, x: &Expressions<'_>, place: usize) -> Term {
        while self.positions.len() <= place {
            let leaf = x.program.leaf(x.rewriter.section(), "@position");
            self.positions.push(leaf);
        }
        self.positions[place]
    }

    /// The continuation of parts of a body, and their variables in its order.
    fn shape(&mut self, x: &Expressions<'_>, nodes: &[ProcessRef]) -> (ShapeId, Rc<[VariableId]>) {
        if let Some(known) = self.by_nodes.get(nodes) {
            return known.clone();
        }
        let mut builder =
            Structure { tokens: Vec::new(), places: HashMap::new(), order: Vec::new(), bound: Vec::new() };
        for &node in nodes {
            self.structure(x, node, &mut builder);
            builder.tokens.push(Token::Tag(b'.'));
        }
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
        let next = ShapeId(self.shapes.len() as u32);
        let id = *self.by_structure.entry(builder.tokens).or_insert(next);
        if id == next {
            self.shapes.push(Shape { nodes: Rc::from(nodes), variables: Rc::clone(&variables) });
        }
        self.by_nodes.insert(nodes.to_vec(), (id, Rc::clone(&variables)));
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

    fn scope(&mut self, values: Environment) -> Scope {
        self.instances += 1;
        Scope { instance: self.instances, values: Rc::new(values) }
    }

    /// The scope of a call: its arguments as the values of the parameters.
    fn call(
        &mut self,
        x: &mut Expressions<'_>,
        definition: DefinitionId,
        arguments: &[TypedId],
        scope: &Scope,
    ) -> Result<Scope, Refusal> {
        let parameters = &self.specification.definition(definition).parameters;
        let mut values = Environment::new();
        for (&parameter, &argument) in parameters.iter().zip(arguments) {
            values.insert(parameter, x.value(argument, &scope.values)?);
        }
        Ok(self.scope(values))
    }

    /// The continuations on a stack, with the values of their variables.
    fn continuations(
        &mut self,
        x: &mut Expressions<'_>,
        mut after: After,
    ) -> Result<Vec<(ShapeId, Vec<Term>)>, Refusal> {
        let mut found = Vec::new();
        while let Some(first) = after {
            match self.specification.process(first.node) {
                // A call that comes first is replaced by the body; the checker refuses circles of such calls.
                Process::Call(definition, arguments) if found.is_empty() => {
                    let inner = self.call(x, *definition, arguments, &first.scope)?;
                    let body = self.specification.definition(*definition).body;
                    after = self.push(body, &inner, &first.rest);
                    continue;
                }
                Process::Sequence(left, right) if found.is_empty() => {
                    let rest = self.push(*right, &first.scope, &first.rest);
                    after = self.push(*left, &first.scope, &rest);
                    continue;
                }
                _ => {}
            }
            // Parts of one scope are one continuation.
            let mut nodes = vec![first.node];
            let mut values = Rc::clone(&first.scope.values);
            let mut rest = first.rest.clone();
            while let Some(next) = &rest
                && next.scope.instance == first.scope.instance
            {
                nodes.push(next.node);
                if next.scope.values.len() > values.len() {
                    values = Rc::clone(&next.scope.values);
                }
                rest = next.rest.clone();
            }
            after = rest;
            // Further down only the arguments of a call are evaluated: it may never be reached.
            if let (&[node], false) = (&nodes[..], found.is_empty())
                && let Process::Call(definition, arguments) = self.specification.process(node)
            {
                let inner = self.call(x, *definition, arguments, &first.scope)?;
                let body = self.specification.definition(*definition).body;
                found.push(self.continuation(x, &[body], &inner.values));
                continue;
            }
            found.push(self.continuation(x, &nodes, &values));
        }
        Ok(found)
    }

    fn continuation(
        &mut self,
        x: &Expressions<'_>,
        nodes: &[ProcessRef],
        values: &Environment,
    ) -> (ShapeId, Vec<Term>) {
        let (shape, variables) = self.shape(x, nodes);
        let values = variables.iter().filter_map(|variable| values.get(variable).copied()).collect();
        (shape, values)
    }

    /// The component that a process is, over values of its variables.
    pub(super) fn component(
        &mut self,
        x: &mut Expressions<'_>,
        node: ProcessRef,
        values: &Environment,
    ) -> Result<SequentialComponent, Refusal> {
        let scope = self.scope(values.clone());
        let name = self.component_name(x, node, &scope)?;
        let start = self.continuations(x, Some(Rc::new(Pending { node, scope, rest: None })))?;
        let mut graph = Graph::default();
        let (first, values) = self.enter(x, &mut graph, start, node)?;
        debug_assert!(first == 0);
        let initial = values;
        let mut queue = VecDeque::from([first]);
        graph.states[first].queued = true;
        while let Some(index) = queue.pop_front() {
            graph.states[index].queued = false;
            graph.states[index].expanded = true;
            let steps = self.steps_of(x, &graph, index)?;
            let mut kept = Vec::new();
            for step in steps {
                let (target, values) = self.enter(x, &mut graph, step.next.clone(), node)?;
                let state = &mut graph.states[target];
                let mut changed = !state.expanded;
                for (slot, &value) in state.slots.iter_mut().zip(&values) {
                    if slot.constant.is_some_and(|constant| constant != value) {
                        slot.constant = None;
                        changed = true;
                    }
                }
                if changed && !state.queued {
                    state.queued = true;
                    queue.push_back(target);
                }
                kept.push((target, step));
            }
            graph.states[index].steps = kept;
        }
        self.finish(x, graph, name, self.specification.place(node), &initial)
    }

    fn component_name(&mut self, x: &mut Expressions<'_>, node: ProcessRef, scope: &Scope) -> Result<String, Refusal> {
        let Process::Call(definition, arguments) = self.specification.process(node) else {
            let mut out = String::new();
            self.describe(&[node], &mut out);
            return Ok(out);
        };
        let inner = self.call(x, *definition, arguments, scope)?;
        let definition = self.specification.definition(*definition);
        let name = self.specification.name(definition.name).to_string();
        if definition.parameters.is_empty() {
            return Ok(name);
        }
        let arguments: Vec<String> =
            definition.parameters.iter().map(|parameter| x.text(inner.values[parameter])).collect();
        Ok(format!("{name}({})", arguments.join(", ")))
    }

    /// The state of some continuations, which is made when it is new, and the values of its slots.
    fn enter(
        &mut self,
        x: &mut Expressions<'_>,
        graph: &mut Graph,
        continuations: Vec<(ShapeId, Vec<Term>)>,
        node: ProcessRef,
    ) -> Result<(usize, Vec<Term>), Refusal> {
        let key: Vec<ShapeId> = continuations.iter().map(|(shape, _)| *shape).collect();
        let values: Vec<Term> = continuations.into_iter().flat_map(|(_, values)| values).collect();
        if let Some(&known) = graph.by_key.get(&key) {
            return Ok((known, values));
        }
        if key.len() > DEEPEST || graph.states.len() >= MOST_STATES {
            return Err(self.too_deep(&key, node));
        }
        let mut used: HashMap<(String, SortRef), usize> = HashMap::new();
        let mut slots = Vec::new();
        let mut place = 0;
        for &shape in &key {
            let variables = Rc::clone(&self.shapes[shape.0 as usize].variables);
            for &variable in variables.iter() {
                let (symbol, sort) = self.specification.data.tree.variable(variable);
                let name = self.specification.name(symbol).to_string();
                let count = used.entry((name.clone(), sort)).or_insert(0);
                let parameter = *graph.parameters.entry((name.clone(), sort, *count)).or_insert_with(|| {
                    graph.variables.push(x.variable(&name, sort));
                    graph.variables.len() - 1
                });
                *count += 1;
                let value = values[place];
                place += 1;
                slots.push(Slot { parameter, constant: x.is_closed(value).then_some(value) });
            }
        }
        let index = graph.states.len();
        graph.by_key.insert(key.clone(), index);
        graph.states.push(State { key, slots, steps: Vec::new(), expanded: false, queued: false });
        Ok((index, values))
    }

    fn too_deep(&self, key: &[ShapeId], node: ProcessRef) -> Refusal {
        let mut shown = self.text(&key[..key.len().min(6)]);
        if key.len() > 6 {
            shown.push_str(" . …");
        }
        // The process that recurs: the one that most continuations belong to.
        let message = "the process has no finite control: each turn leaves more to be done afterwards".to_string();
        Refusal::Wrong(vec![
            Diagnostic::error(codes::NOT_REGULAR, message, Place::Span(self.specification.place(node)))
                .note(format!("what is still to be done after some turns: {shown}"))
                .help("let the recursive call be the last thing that a process does, and count in a parameter"),
        ])
    }

    fn steps_of(&mut self, x: &mut Expressions<'_>, graph: &Graph, state: usize) -> Result<Vec<Step>, Refusal> {
        // The variables of all continuations, as parameters or as the values that they always have.
        let State { key, slots, .. } = &graph.states[state];
        let mut slots = slots.iter();
        let mut scopes = Vec::new();
        for &shape in key {
            let variables = Rc::clone(&self.shapes[shape.0 as usize].variables);
            let mut values = Environment::new();
            for (&variable, slot) in variables.iter().zip(slots.by_ref()) {
                values.insert(variable, slot.constant.unwrap_or_else(|| x.leaf(graph.variables[slot.parameter])));
            }
            scopes.push(self.scope(values));
        }
        let mut after: After = None;
        for (&shape, scope) in key.iter().zip(scopes).rev() {
            let nodes = Rc::clone(&self.shapes[shape.0 as usize].nodes);
            for &node in nodes.iter().rev() {
                after = self.push(node, &scope, &after);
            }
        }
        let Some(first) = after else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let open = Open { sums: Vec::new(), conditions: Vec::new(), calls: 0 };
        self.steps(x, first.node, &first.scope, open, &first.rest, &mut found)?;
        Ok(found)
    }

    /// What is to be done when a part comes before the rest. What follows something that cannot terminate is dropped.
    fn push(&self, node: ProcessRef, scope: &Scope, rest: &After) -> After {
        let rest = if self.can_terminate(node) { rest.clone() } else { None };
        Some(Rc::new(Pending { node, scope: scope.clone(), rest }))
    }

    /// Finds the first steps of a process that is followed by others.
    fn steps(
        &mut self,
        x: &mut Expressions<'_>,
        node: ProcessRef,
        scope: &Scope,
        open: Open,
        after: &After,
        found: &mut Vec<Step>,
    ) -> Result<(), Refusal> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.steps_inside(x, node, scope, open, after, found))
    }

    fn steps_inside(
        &mut self,
        x: &mut Expressions<'_>,
        node: ProcessRef,
        scope: &Scope,
        mut open: Open,
        after: &After,
        found: &mut Vec<Step>,
    ) -> Result<(), Refusal> {
        let specification = self.specification;
        match specification.process(node) {
            Process::MultiAction(actions) => {
                let mut action = Vec::new();
                for (name, arguments) in actions {
                    let mut values = Vec::new();
                    for &argument in arguments {
                        values.push(x.value(argument, &scope.values)?);
                    }
                    action.push((*name, values));
                }
                self.arrive(x, &action, open, after.clone(), found)
            }
            Process::Call(definition, arguments) => {
                open.calls += 1;
                if open.calls > MOST_CALLS {
                    let name = specification.name(specification.definition(*definition).name);
                    let message = format!("`{name}` calls itself without an action in between");
                    let place = Place::Span(specification.place(node));
                    return Err(Refusal::Wrong(vec![Diagnostic::error(codes::UNGUARDED, message, place)]));
                }
                let inner = self.call(x, *definition, arguments, scope)?;
                let body = specification.definition(*definition).body;
                self.steps(x, body, &inner, open, after, found)
            }
            Process::Delta => Ok(()),
            Process::Choice(left, right) => {
                self.steps(x, *left, scope, open.clone(), after, found)?;
                self.steps(x, *right, scope, open, after, found)
            }
            Process::Sequence(left, right) => {
                let after = self.push(*right, scope, after);
                self.steps(x, *left, scope, open, &after, found)
            }
            Process::Sum(variables, body) => {
                let mut values = Environment::clone(&scope.values);
                for &variable in variables {
                    let (name, sort) = specification.data.tree.variable(variable);
                    let fresh = x.variable(specification.name(name), sort);
                    open.sums.push(fresh);
                    values.insert(variable, x.leaf(fresh));
                }
                let scope = Scope { instance: scope.instance, values: Rc::new(values) };
                self.steps(x, *body, &scope, open, after, found)
            }
            Process::Condition(condition, yes, no) => {
                let condition = x.value(*condition, &scope.values)?;
                let mut holds = open.clone();
                if x.conjuncts(condition, &mut holds.conditions)? {
                    self.steps(x, *yes, scope, holds, after, found)?;
                }
                let Some(no) = no else { return Ok(()) };
                let negated = x.not(condition)?;
                if x.conjuncts(negated, &mut open.conditions)? {
                    self.steps(x, *no, scope, open, after, found)?;
                }
                Ok(())
            }
            _ => unreachable!("a sequential component has no operators of parallel processes"),
        }
    }

    /// Adds the steps with an action after which something is still to be done. A choice by a condition that stands right
    /// after the action is made here: what is chosen needs fewer variables than the choice, so there are fewer states.
    fn arrive(
        &mut self,
        x: &mut Expressions<'_>,
        action: &[OpenAction],
        mut open: Open,
        mut after: After,
        found: &mut Vec<Step>,
    ) -> Result<(), Refusal> {
        while let Some(first) = after.clone() {
            match self.specification.process(first.node) {
                Process::Sequence(left, right) => {
                    let rest = self.push(*right, &first.scope, &first.rest);
                    after = self.push(*left, &first.scope, &rest);
                }
                Process::Condition(condition, yes, Some(no)) => {
                    let condition = x.value(*condition, &first.scope.values)?;
                    let mut holds = open.clone();
                    if x.conjuncts(condition, &mut holds.conditions)? {
                        let chosen = self.push(*yes, &first.scope, &first.rest);
                        self.arrive(x, action, holds, chosen, found)?;
                    }
                    let negated = x.not(condition)?;
                    if !x.conjuncts(negated, &mut open.conditions)? {
                        return Ok(());
                    }
                    after = self.push(*no, &first.scope, &first.rest);
                }
                _ => break,
            }
        }
        let next = self.continuations(x, after)?;
        let mut step = Step { sums: open.sums, conditions: open.conditions, action: action.to_vec(), next };
        if step.solve(x)? && !found.contains(&step) {
            found.push(step);
        }
        Ok(())
    }

    /// The component of an explored graph.
    fn finish(
        &self,
        x: &mut Expressions<'_>,
        graph: Graph,
        name: String,
        place: Span,
        initial: &[Term],
    ) -> Result<SequentialComponent, Refusal> {
        // Only slots that vary need a parameter.
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        for slot in graph.states.iter().flat_map(|state| &state.slots) {
            if slot.constant.is_none() {
                numbers.insert(slot.parameter, 0);
            }
        }
        for (number, (_, place)) in numbers.iter_mut().enumerate() {
            *place = number;
        }
        let mut parameters = Vec::new();
        for &parameter in numbers.keys() {
            let variable = graph.variables[parameter];
            let sort = x.described(variable).sort;
            let at_start = graph.states[0].slots.iter().position(|slot| slot.parameter == parameter);
            let idle = at_start.map(|slot| initial[slot]).or_else(|| x.default(sort));
            let initial = match idle {
                Some(value) => value,
                None => graph.any_value(x, parameter).ok_or_else(|| {
                    let sort = self.specification.data.sort_text(sort);
                    let message = format!("no value of the sort `{sort}` is known");
                    Refusal::Wrong(vec![Diagnostic::error(codes::NO_VALUE, message, Place::Span(place))])
                })?,
            };
            parameters.push(ComponentParameter { variable, initial, idle });
        }
        let mut summands = Vec::new();
        for (from, state) in graph.states.iter().enumerate() {
            for (to, step) in &state.steps {
                let target = &graph.states[*to];
                let values: Vec<Term> = step.next.iter().flat_map(|(_, values)| values.iter().copied()).collect();
                let mut updates = BTreeMap::new();
                // What the target does not use is idle; what this state does not use is idle already.
                for slot in &state.slots {
                    if slot.constant.is_none()
                        && let Some(idle) = parameters[numbers[&slot.parameter]].idle
                    {
                        updates.insert(numbers[&slot.parameter], idle);
                    }
                }
                for (slot, &value) in target.slots.iter().zip(&values) {
                    if slot.constant.is_none() {
                        updates.insert(numbers[&slot.parameter], value);
                    }
                }
                updates.retain(|&parameter, value| x.leaf(parameters[parameter].variable) != *value);
                summands.push(ComponentSummand {
                    from,
                    to: *to,
                    sums: step.sums.clone(),
                    conditions: step.conditions.clone(),
                    action: step.action.clone(),
                    updates: updates.into_iter().collect(),
                });
            }
        }
        Ok(SequentialComponent {
            name,
            place,
            parameters,
            states: graph.states.iter().map(|state| self.text(&state.key)).collect(),
            terminated: graph.states.iter().position(|state| state.key.is_empty()),
            summands,
        })
    }
}

/// The control states that were found so far.
#[derive(Debug, Default)]
struct Graph {
    states: Vec<State>,
    by_key: HashMap<Vec<ShapeId>, usize>,
    /// Parameters by name, sort and how many of both come before it on the stack.
    parameters: HashMap<(String, SortRef, usize), usize>,
    variables: Vec<Variable>,
}

impl Graph {
    /// A value without variables that a parameter gets.
    fn any_value(&self, x: &mut Expressions<'_>, parameter: usize) -> Option<Term> {
        for (to, step) in self.states.iter().flat_map(|state| &state.steps) {
            let values = step.next.iter().flat_map(|(_, values)| values);
            for (slot, &value) in self.states[*to].slots.iter().zip(values) {
                if slot.parameter == parameter && x.is_closed(value) {
                    return Some(value);
                }
            }
        }
        None
    }
}

/// What was passed on the way to an action.
#[derive(Clone, Debug)]
struct Open {
    sums: Vec<Variable>,
    conditions: Vec<Term>,
    /// Calls since the last action.
    calls: usize,
}

impl Step {
    /// Gives summed variables the values that conditions say they have; false when no value is possible.
    fn solve(&mut self, x: &mut Expressions<'_>) -> Result<bool, Refusal> {
        let mut terms: Vec<&mut Term> = Vec::new();
        terms.extend(self.action.iter_mut().flat_map(|(_, arguments)| arguments));
        terms.extend(self.next.iter_mut().flat_map(|(_, values)| values));
        x.solve(&mut self.sums, &mut self.conditions, &mut terms)
    }
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

impl SequentialComponent {
    /// The component that does nothing.
    pub(super) fn delta(place: Span) -> SequentialComponent {
        SequentialComponent {
            name: "delta".to_string(),
            place,
            parameters: Vec::new(),
            states: vec!["delta".to_string()],
            terminated: None,
            summands: Vec::new(),
        }
    }
}
