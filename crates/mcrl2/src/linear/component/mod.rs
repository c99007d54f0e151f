//! One sequential component as a graph of control states.
//!
//! A control state is a stack of what is still to be done: actions, choices, calls, one after the other. Each element
//! is known by its structure alone, in which variables are positions, and the variables of all elements are the slots
//! of the state; a variable of a caller that is handed on to a callee is one slot for both. So states are equal when
//! their texts differ in the names of variables only, wherever calls begin and end: `P = a.c.P + b.c.P` has two control
//! states. A call at the top is replaced by the body of its process, its arguments evaluated; one further down keeps
//! the values of its variables. So `P(f(x)).Q(g(x))` is the body of `P` over `f(x)` above `Q(g(x))` over `x`, which is
//! mCRL2's `regular`, and there are as many control states where mCRL2 needs `regular2` because arguments pile up. What
//! follows a process that cannot terminate is dropped. Only a recursion that keeps pushing (`P = a.P.b + b`) has no
//! end; it is refused with the stack.
//!
//! Each slot is known to hold one value as long as every step into the state brings that value (conditional constant
//! propagation: Wegman and Zadeck, *Constant propagation with conditional branches*, 1991), and is a parameter of the
//! component otherwise. Slots of one name and sort share a parameter across control states, so a value that is handed
//! on needs no update. A parameter that a state does not use holds its initial value, or the default of its sort.
//!
//! Cost: a control state is expanded again when a slot of it turns out to vary, at most twice for each slot. A step
//! looks at what it takes from the stack and puts on it, and at the slots of the stack, not at all elements.

mod cluster;
mod control;
mod shapes;
mod stacks;

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use trefoil_control::count;
use trefoil_data::sorts::SortRef;
use trefoil_data::typed::{Typed, TypedId, VariableId};
use trefoil_source::{Diagnostic, Place, Span};
use trefoil_terms::Term;

use super::expressions::{Environment, Expressions, Variable};
use super::{Refusal, codes};
use control::{Graph, Slot, State};
use shapes::{ShapeId, Token};
use stacks::{Stack, StackId, Stacks};

use crate::processes::{ActionId, DefinitionId, Process, ProcessRef, ProcessSpecification};

/// Calls of one process inside each other beyond which a stack is taken to grow without bound.
const MOST_NESTED: u32 = 64;

/// Control states of a component beyond which it is refused.
const MOST_STATES: usize = 50_000;

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
    /// The control states before and after; several when summands of several states were clustered.
    pub(super) moves: Vec<(usize, usize)>,
    /// The value of the control afterwards, for a summand of several states.
    pub(super) control: Option<Term>,
    pub(super) sums: Vec<Variable>,
    pub(super) conditions: Vec<Term>,
    pub(super) action: Vec<OpenAction>,
    pub(super) updates: Vec<(usize, Term)>,
    /// Where the action stands.
    pub(super) place: Span,
}

/// A sequential component.
#[derive(Clone, Debug)]
pub(super) struct SequentialComponent {
    pub(super) name: String,
    pub(super) place: Span,
    /// The variable of its control, where summands use it.
    pub(super) control: Option<Variable>,
    pub(super) parameters: Vec<ComponentParameter>,
    /// What each control state is about to do, as text.
    pub(super) states: Vec<String>,
    /// The state in which it has terminated.
    pub(super) terminated: Option<usize>,
    pub(super) summands: Vec<ComponentSummand>,
}

/// A scope: the variables of one call, and which call that is.
#[derive(Clone, Debug)]
struct Scope {
    instance: u32,
    values: Rc<Environment>,
    /// Variables that hold what another one holds, of a caller or of the control state: which one that is.
    roots: Rc<HashMap<VariableId, Root>>,
}

/// The origin of a value: a variable of a scope, or a slot of a control state.
type Root = (u32, u32);

impl Scope {
    fn root(&self, variable: VariableId) -> Root {
        self.roots.get(&variable).copied().unwrap_or((self.instance, variable.0))
    }
}

/// What is still to be done after a part of a body: a list with shared ends.
#[derive(Clone, Debug)]
enum After {
    /// Something that this step puts on the stack.
    Pending(Rc<Pending>),
    /// What is left of the stack of the control state that is being expanded.
    Rest(StackId),
}

impl After {
    const NOTHING: After = After::Rest(StackId::EMPTY);
}

#[derive(Debug)]
struct Pending {
    node: ProcessRef,
    scope: Scope,
    rest: After,
}

/// A step that was found.
#[derive(Clone, Debug)]
struct Step {
    sums: Vec<Variable>,
    conditions: Vec<Term>,
    action: Vec<OpenAction>,
    next: Stack,
    /// The action in the text.
    node: ProcessRef,
}

/// Linearises components; structures are shared among them.
pub(super) struct Sequential<'a> {
    specification: &'a ProcessSpecification,
    terminating: Vec<bool>,
    /// Which processes may terminate, as far as it was needed.
    terminates: HashMap<ProcessRef, bool>,
    stacks: Stacks,
    /// The values of the slots of the control state that is being expanded, and the scope that they are in.
    slots: (u32, Vec<Term>),
    by_node: HashMap<ProcessRef, (ShapeId, Rc<[VariableId]>)>,
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
            terminates: HashMap::new(),
            stacks: Stacks::default(),
            slots: (0, Vec::new()),
            by_node: HashMap::new(),
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

    fn scope(&mut self, values: Environment, roots: HashMap<VariableId, Root>) -> Scope {
        self.instances += 1;
        Scope { instance: self.instances, values: Rc::new(values), roots: Rc::new(roots) }
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
        let mut roots = HashMap::new();
        for (&parameter, &argument) in parameters.iter().zip(arguments) {
            values.insert(parameter, x.value(argument, &scope.values)?);
            // Two parameters keep their own slots, even while they hold the same.
            if let Typed::Variable(variable) = self.specification.data.tree.expression(argument)
                && !roots.values().any(|&root| root == scope.root(*variable))
            {
                roots.insert(parameter, scope.root(*variable));
            }
        }
        Ok(self.scope(values, roots))
    }

    /// The first thing that is to be done, and what comes after it.
    fn first(&mut self, after: &After) -> Option<(ProcessRef, Scope, After)> {
        let rest = match after {
            After::Pending(pending) => return Some((pending.node, pending.scope.clone(), pending.rest.clone())),
            After::Rest(rest) => *rest,
        };
        let top = self.stacks.top(rest)?;
        let (node, below) = (top.node, top.below);
        let (mut values, mut roots) = (Environment::new(), HashMap::new());
        for (&variable, &slot) in self.by_node[&node].1.iter().zip(top.slots.iter()) {
            values.insert(variable, self.slots.1[slot]);
            roots.insert(variable, (self.slots.0, slot as u32));
        }
        Some((node, self.scope(values, roots), After::Rest(below)))
    }

    /// What is still to be done, as a stack of elements.
    fn stack(&mut self, x: &mut Expressions<'_>, mut after: After) -> Result<Stack, Refusal> {
        let mut elements: Vec<(ProcessRef, Scope)> = Vec::new();
        let rest = loop {
            if let After::Rest(rest) = after
                && !(elements.is_empty() && self.stacks.top(rest).is_some_and(|top| self.is_call(top.node)))
            {
                break rest;
            }
            let Some((node, scope, rest)) = self.first(&after) else { break StackId::EMPTY };
            match self.specification.process(node) {
                Process::Sequence(left, right) => {
                    let rest = self.push(*right, &scope, &rest);
                    after = self.push(*left, &scope, &rest);
                }
                // The checker refuses circles of calls that come first.
                Process::Call(definition, arguments) if elements.is_empty() => {
                    let inner = self.call(x, *definition, arguments, &scope)?;
                    let body = self.specification.definition(*definition).body;
                    after = self.push(body, &inner, &rest);
                }
                _ => {
                    elements.push((node, scope));
                    after = rest;
                }
            }
        };
        let kept = self.stacks.named(rest).len();
        let mut stack = Stack { id: rest, values: self.slots.1[..kept].to_vec() };
        let mut known: HashMap<Root, usize> = (0..kept).map(|slot| ((self.slots.0, slot as u32), slot)).collect();
        for (node, scope) in elements.into_iter().rev() {
            let (shape, variables) = self.shape(x, node);
            let mut slots = Vec::new();
            let mut new = Vec::new();
            for &variable in variables.iter() {
                let slot = *known.entry(scope.root(variable)).or_insert_with(|| {
                    stack.values.push(scope.values[&variable]);
                    new.push(variable);
                    stack.values.len() - 1
                });
                slots.push(slot);
            }
            stack.id = self.stacks.put(node, shape, &slots, &new, stack.id);
        }
        Ok(stack)
    }

    fn is_call(&self, node: ProcessRef) -> bool {
        matches!(self.specification.process(node), Process::Call(..))
    }

    /// The component that a process is, over values of its variables.
    pub(super) fn component(
        &mut self,
        x: &mut Expressions<'_>,
        node: ProcessRef,
        values: &Environment,
    ) -> Result<SequentialComponent, Refusal> {
        // Slots are named after the variables of this component.
        self.stacks = Stacks::default();
        self.slots = (0, Vec::new());
        let scope = self.scope(values.clone(), HashMap::new());
        let name = self.component_name(x, node, &scope)?;
        let start = self.stack(x, After::Pending(Rc::new(Pending { node, scope, rest: After::NOTHING })))?;
        let mut graph = Graph::default();
        let first = self.enter(x, &mut graph, &start, node)?;
        let initial = start.values;
        let mut queue = VecDeque::from([first]);
        graph.states[first].queued = true;
        while let Some(index) = queue.pop_front() {
            graph.states[index].queued = false;
            graph.states[index].expanded = true;
            x.control.check()?;
            let steps = self.steps_of(x, &graph, index)?;
            let mut kept = Vec::new();
            for step in steps {
                let target = self.enter(x, &mut graph, &step.next, node)?;
                let state = &mut graph.states[target];
                let mut changed = !state.expanded;
                for (slot, &value) in state.slots.iter_mut().zip(&step.next.values) {
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

    /// The state of a stack, which is made when it is new.
    fn enter(
        &mut self,
        x: &mut Expressions<'_>,
        graph: &mut Graph,
        stack: &Stack,
        node: ProcessRef,
    ) -> Result<usize, Refusal> {
        if let Some(&known) = graph.by_stack.get(&stack.id) {
            return Ok(known);
        }
        let nested = self.stacks.nested(stack.id);
        if nested > MOST_NESTED || graph.states.len() >= MOST_STATES {
            return Err(self.too_deep(stack.id, node));
        }
        let mut used: HashMap<(String, SortRef), usize> = HashMap::new();
        let mut slots = Vec::new();
        for (&variable, &value) in self.stacks.named(stack.id).iter().zip(&stack.values) {
            let (symbol, sort) = self.specification.data.tree.variable(variable);
            let name = self.specification.name(symbol).to_string();
            let count = used.entry((name.clone(), sort)).or_insert(0);
            let parameter = *graph.parameters.entry((name.clone(), sort, *count)).or_insert_with(|| {
                graph.variables.push(x.variable(&name, sort));
                graph.variables.len() - 1
            });
            *count += 1;
            slots.push(Slot { parameter, constant: x.is_closed(value).then_some(value) });
        }
        let index = graph.states.len();
        graph.by_stack.insert(stack.id, index);
        graph.states.push(State { stack: stack.id, slots, steps: Vec::new(), expanded: false, queued: false });
        Ok(index)
    }

    /// The refusal of a stack that grows, or of too many stacks that do not.
    fn too_deep(&self, stack: StackId, node: ProcessRef) -> Refusal {
        let place = Place::Span(self.specification.place(node));
        let shown = self.text(stack, 6);
        let diagnostic = if self.stacks.nested(stack) > 1 {
            let message = "the process has no finite control: each turn leaves more to be done afterwards";
            Diagnostic::error(codes::NOT_REGULAR, message, place)
                .note(format!("what is still to be done after some turns: {shown}"))
                .help("let the recursive call be the last thing that a process does, and count in a parameter")
        } else {
            let message = format!("the process has more than {} control states", count(MOST_STATES as u64));
            Diagnostic::error(codes::TOO_MANY_STATES, message, place)
                .note(format!("one of them has still to do {shown}"))
                .help("count in a parameter what is repeated: `P(n: Nat) = (n < 100) -> a . P(n + 1)`")
        };
        Refusal::Wrong(vec![diagnostic])
    }

    fn steps_of(&mut self, x: &mut Expressions<'_>, graph: &Graph, state: usize) -> Result<Vec<Step>, Refusal> {
        let State { stack, slots, .. } = &graph.states[state];
        self.instances += 1;
        let value =
            |Slot { parameter, constant }: &Slot| constant.unwrap_or_else(|| x.leaf(graph.variables[*parameter]));
        self.slots = (self.instances, slots.iter().map(value).collect());
        let mut found = Vec::new();
        if let Some((node, scope, rest)) = self.first(&After::Rest(*stack)) {
            let open = Open { sums: Vec::new(), conditions: Vec::new() };
            self.steps(x, node, &scope, open, &rest, &mut found)?;
        }
        Ok(found)
    }

    /// What is to be done when a part comes before the rest. What follows something that cannot terminate is dropped.
    fn push(&mut self, node: ProcessRef, scope: &Scope, rest: &After) -> After {
        let terminates = match self.terminates.get(&node) {
            Some(&known) => known,
            None => {
                let found = self.can_terminate(node);
                self.terminates.insert(node, found);
                found
            }
        };
        let rest = if terminates { rest.clone() } else { After::NOTHING };
        After::Pending(Rc::new(Pending { node, scope: scope.clone(), rest }))
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
                self.arrive(x, (node, &action), open, after.clone(), found)
            }
            Process::Call(definition, arguments) => {
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
                let scope = Scope { values: Rc::new(values), ..scope.clone() };
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

    /// Adds the steps with an action after which something is still to be done. A choice by a condition that stands
    /// right after the action is made here: what is chosen needs fewer variables than the choice, so there are fewer
    /// states.
    fn arrive(
        &mut self,
        x: &mut Expressions<'_>,
        (node, action): (ProcessRef, &[OpenAction]),
        mut open: Open,
        mut after: After,
        found: &mut Vec<Step>,
    ) -> Result<(), Refusal> {
        while let Some((next, scope, rest)) = self.first(&after) {
            match self.specification.process(next) {
                Process::Sequence(left, right) => {
                    let rest = self.push(*right, &scope, &rest);
                    after = self.push(*left, &scope, &rest);
                }
                Process::Condition(condition, yes, Some(no)) => {
                    let condition = x.value(*condition, &scope.values)?;
                    let mut holds = open.clone();
                    if x.conjuncts(condition, &mut holds.conditions)? {
                        let chosen = self.push(*yes, &scope, &rest);
                        self.arrive(x, (node, action), holds, chosen, found)?;
                    }
                    let negated = x.not(condition)?;
                    if !x.conjuncts(negated, &mut open.conditions)? {
                        return Ok(());
                    }
                    after = self.push(*no, &scope, &rest);
                }
                _ => break,
            }
        }
        let next = self.stack(x, after)?;
        let mut step = Step { sums: open.sums, conditions: open.conditions, action: action.to_vec(), next, node };
        if step.solve(x)? && !found.iter().any(|known| known.is_same(&step)) {
            found.push(step);
        }
        Ok(())
    }
}

/// What was passed on the way to an action.
#[derive(Clone, Debug)]
struct Open {
    sums: Vec<Variable>,
    conditions: Vec<Term>,
}

impl Step {
    /// Does another step do the same, wherever it stands?
    fn is_same(&self, other: &Step) -> bool {
        self.sums == other.sums
            && self.conditions == other.conditions
            && self.action == other.action
            && self.next == other.next
    }

    /// Gives summed variables the values that conditions say they have; false when no value is possible.
    fn solve(&mut self, x: &mut Expressions<'_>) -> Result<bool, Refusal> {
        let mut terms: Vec<&mut Term> = Vec::new();
        terms.extend(self.action.iter_mut().flat_map(|(_, arguments)| arguments));
        terms.extend(self.next.values.iter_mut());
        x.solve(&mut self.sums, &mut self.conditions, &mut terms)
    }
}

impl SequentialComponent {
    /// The component that does nothing.
    pub(super) fn delta(place: Span) -> SequentialComponent {
        SequentialComponent {
            name: "delta".to_string(),
            place,
            control: None,
            parameters: Vec::new(),
            states: vec!["delta".to_string()],
            terminated: None,
            summands: Vec::new(),
        }
    }
}
