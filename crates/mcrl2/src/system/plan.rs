//! What a summand needs to know for taking steps: which tests of listed parameters it begins with, which slots it
//! reads, and code for its conditions, arguments and updates.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use trefoil_data::rewrite::{FunctionIndex, Program, Rewriter, Sum, SumIndex, Unfinished, View};
use trefoil_data::signature::{Operator, Origin};
use trefoil_data::sorts::SortRef;
use trefoil_data::typed::{DataSpecification, Typed, TypedId, VariableId};
use trefoil_source::Span;
use trefoil_system::{LabelId, Value};
use trefoil_terms::{Pool, Section, Term, Worker};

use super::parts::{self, PartValue, Parts, Pieces, Split, Use};
use super::values::{Encoding, Numberings};
use crate::linear::{Event, LinearProcess, Summand};

/// How a value comes about.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    /// A variable, by its place among the inputs of its group.
    Input(u32),
    /// A term that never changes.
    Constant(Term),
    /// Code over inputs, by their places.
    Code(FunctionIndex, Box<[u32]>),
}

/// The new value of a slot.
#[derive(Clone, Debug)]
pub(super) enum Update {
    /// Always the same.
    Constant(Value),
    /// To be evaluated.
    Evaluated(Expression),
}

/// What a step is called.
#[derive(Clone)]
pub(super) enum Naming {
    /// Always the same.
    Constant(LabelId),
    /// By the values of the arguments of all actions, in order.
    Evaluated(Vec<(Expression, Encoding)>),
}

/// A summand, ready for taking steps. Its inputs are the values of the slots that it reads, then of the variables that
/// it sums over.
#[derive(Clone)]
pub(super) struct Plan {
    /// Slots and the values that they must have.
    pub(super) tests: Vec<(u32, Value)>,
    /// Whether a test asks for a value that a parameter never has.
    pub(super) never: bool,
    /// The slots whose values are inputs, ascending.
    pub(super) reads: Vec<u32>,
    /// Conjuncts that are not tests and without summed variables.
    pub(super) conjuncts: Vec<Expression>,
    /// The sum, and the inputs that its condition needs.
    pub(super) sum: Option<(SumIndex, Box<[u32]>)>,
    pub(super) naming: Naming,
    /// Slots and their new values, ascending.
    pub(super) updates: Vec<(u32, Update)>,
    /// Slots that conditions read, those of tests included.
    pub(super) guards: Vec<u32>,
    /// Slots that every step writes without reading them.
    pub(super) overwritten: Vec<u32>,
    /// A joined summand in its parts.
    pub(super) parts: Option<Parts>,
}

/// A linear process as code.
pub(super) struct Compiled {
    pub(super) linear: Arc<LinearProcess>,
    pub(super) program: Arc<Program>,
    pub(super) pool: Pool,
    codes: HashMap<TypedId, (FunctionIndex, Vec<VariableId>)>,
    /// The values of expressions without variables.
    constants: HashMap<TypedId, Term>,
    /// The sums of summands with variables, each with the parameters that its condition needs.
    sums: HashMap<usize, (SumIndex, Vec<VariableId>)>,
    /// The slot of a parameter's variable.
    slots: HashMap<VariableId, u32>,
    /// Expressions of joined summands over several components.
    pub(super) splits: HashMap<TypedId, Split>,
    /// Every system of the process has its numbers from here: a term has one number.
    pub(super) numberings: Mutex<Numberings>,
}

impl Compiled {
    /// Compiles the expressions of a linear process and other ones over its parameters, and evaluates those without
    /// variables.
    pub(super) fn new(
        linear: Arc<LinearProcess>,
        others: &[TypedId],
        pool: Pool,
    ) -> Result<Compiled, (TypedId, Unfinished)> {
        let mut data = linear.data.clone();
        let splits = parts::split_mixed(&mut data, &linear);
        let mut expressions: Vec<(TypedId, Vec<VariableId>)> = Vec::new();
        let mut add = |expression: TypedId| {
            let mut variables = data.tree.free_variables(expression);
            variables.sort_unstable();
            variables.dedup();
            expressions.push((expression, variables));
        };
        linear.parameters.iter().for_each(|parameter| add(parameter.initial));
        others.iter().for_each(|&other| add(other));
        for summand in &linear.summands {
            for &condition in &summand.conditions {
                add(condition);
                equated(&linear, condition).into_iter().flatten().for_each(&mut add);
            }
            if let Event::Actions(actions) = &summand.event {
                actions.iter().flat_map(|(_, arguments)| arguments).for_each(|&argument| add(argument));
            }
            summand.updates.iter().for_each(|&(_, value)| add(value));
        }
        for split in splits.values() {
            split.inner.values().copied().chain([split.outer]).for_each(&mut add);
        }
        expressions.sort_unstable();
        expressions.dedup();
        let summing = linear.summands.iter().enumerate().filter(|(_, summand)| !summand.variables.is_empty());
        let (places, sums): (Vec<usize>, Vec<Sum>) =
            summing.map(|(place, summand)| (place, sum_of(&mut data, summand, linear.components[0].place))).unzip();
        let (program, codes, indices) = Program::with_sums(data, &expressions, &sums, &pool);
        let parameters = sums.into_iter().map(|sum| sum.parameters);
        let mut compiled = Compiled {
            slots: linear.parameters.iter().enumerate().map(|(slot, known)| (known.variable, slot as u32)).collect(),
            linear: linear.clone(),
            program: Arc::new(program),
            pool,
            codes: HashMap::new(),
            constants: HashMap::new(),
            numberings: Mutex::default(),
            splits,
            sums: places.into_iter().zip(indices.into_iter().zip(parameters)).collect(),
        };
        let worker = compiled.pool.worker();
        let mut rewriter = Rewriter::new(&compiled.program, &worker);
        for ((expression, variables), code) in expressions.into_iter().zip(codes) {
            if variables.is_empty() {
                let value = rewriter.evaluate(code, &[]).and_then(|value| rewriter.settled(value));
                let value = value.map_err(|unfinished| (expression, unfinished))?;
                compiled.program.keep(value, rewriter.section());
                compiled.constants.insert(expression, value);
            } else {
                compiled.codes.insert(expression, (code, variables));
            }
        }
        drop(rewriter);
        drop(worker);
        Ok(compiled)
    }

    /// Values of a sort that are numbered as they are met.
    pub(super) fn met(&self, sort: SortRef) -> Encoding {
        let mut numberings = self.numberings.lock().unwrap_or_else(PoisonError::into_inner);
        Encoding::Met(numberings.of(sort, &self.program, &self.pool))
    }

    /// The code of an expression with variables, and these.
    pub(super) fn code(&self, expression: TypedId) -> (FunctionIndex, &[VariableId]) {
        let (code, variables) = &self.codes[&expression];
        (*code, variables)
    }

    /// The slot of a variable that is a parameter.
    pub(super) fn slot(&self, variable: VariableId) -> Option<u32> {
        self.slots.get(&variable).copied()
    }

    /// The value of an expression without variables.
    pub(super) fn constant(&self, expression: TypedId) -> Option<Term> {
        self.constants.get(&expression).copied()
    }

    /// How the values of each parameter are numbered. In a wide system values of finite sorts are met, not listed.
    pub(super) fn encodings(&self, worker: &Worker, wide: bool) -> Vec<Encoding> {
        let section = worker.enter();
        let linear = &*self.linear;
        (0..linear.parameters.len())
            .map(|slot| {
                let parameter = &linear.parameters[slot];
                let updates = linear.summands.iter().flat_map(|summand| &summand.updates);
                let given = updates.filter(|&&(target, _)| target == slot).map(|&(_, value)| self.constant(value));
                let all: Option<Vec<Term>> = [self.constant(parameter.initial)].into_iter().chain(given).collect();
                // A cluster computes the next control state, but there are no others than these.
                let states = || parameter.control.map(|states| self.states(&section, states));
                if let Some(values) = all.or_else(states) {
                    return Encoding::listed(&self.program, &section, values);
                }
                let finite = if wide { None } else { Encoding::finite(&self.program, &section, parameter.sort) };
                finite.unwrap_or_else(|| self.met(parameter.sort))
            })
            .collect()
    }

    /// The values of a control parameter, which live as long as the program.
    fn states(&self, section: &Section<'_>, states: u32) -> Vec<Term> {
        (1..=states).map(|state| self.program.keep(section.word(state.into()), section)).collect()
    }

    /// The plan of a summand. `name` gives labels to the terms of arguments, in order.
    pub(super) fn plan(
        &self,
        place: usize,
        encodings: &[Encoding],
        pieces: &mut Pieces,
        worker: &Worker,
        name: impl FnOnce(&[Term]) -> LabelId,
    ) -> Plan {
        let section = worker.enter();
        let summand = &self.linear.summands[place];
        let (mut tests, mut never, mut rest) = (Vec::new(), false, Vec::new());
        for &condition in &summand.conditions {
            match self.test(&section, condition, encodings) {
                Some((slot, term)) => match encodings[slot as usize].encode(&section, term) {
                    Some(value) => tests.push((slot, value)),
                    None => never = true,
                },
                None => match self.constant(condition).and_then(|value| self.program.truth_of(value)) {
                    Some(true) => {}
                    Some(false) => never = true,
                    None => rest.push(condition),
                },
            }
        }
        let arguments: Vec<(TypedId, Encoding)> = match &summand.event {
            Event::Terminate => Vec::new(),
            Event::Actions(actions) => actions
                .iter()
                .flat_map(|(action, arguments)| arguments.iter().zip(&self.linear.actions[action.0 as usize].sorts))
                .map(|(&argument, &sort)| (argument, self.met(sort)))
                .collect(),
        };
        // An update that writes what was there is not an update.
        let mut updates: Vec<(usize, TypedId)> = summand
            .updates
            .iter()
            .copied()
            .filter(|&(slot, value)| self.variable(value) != Some(slot as u32))
            .collect();
        updates.sort_unstable_by_key(|&(slot, _)| slot);
        let slots_of = |expression: TypedId| -> Vec<u32> {
            let free = self.codes.get(&expression).map_or(&[][..], |(_, variables)| variables);
            free.iter().filter_map(|variable| self.slots.get(variable).copied()).collect()
        };
        let mut guards: Vec<u32> = rest.iter().flat_map(|&condition| slots_of(condition)).collect();
        let others = arguments.iter().map(|&(argument, _)| argument).chain(updates.iter().map(|&(_, value)| value));
        let mut reads: Vec<u32> = others.flat_map(slots_of).chain(guards.iter().copied()).collect();
        reads.sort_unstable();
        reads.dedup();
        let mut inputs: HashMap<VariableId, u32> = HashMap::new();
        for (place, &slot) in reads.iter().enumerate() {
            inputs.insert(self.linear.parameters[slot as usize].variable, place as u32);
        }
        for (place, &variable) in summand.variables.iter().enumerate() {
            inputs.insert(variable, (reads.len() + place) as u32);
        }
        let expression = |id: TypedId| match self.constant(id) {
            Some(term) => Expression::Constant(term),
            None => self.expression(id, &inputs),
        };
        let parts = parts::is_joined(&self.linear, summand)
            .then(|| self.parts(&section, &rest, &arguments, &updates, encodings, pieces))
            .flatten();
        let constants: Option<Vec<Term>> = arguments.iter().map(|&(argument, _)| self.constant(argument)).collect();
        let naming = match constants {
            Some(terms) => Naming::Constant(name(&terms)),
            None => Naming::Evaluated(
                arguments.into_iter().map(|(argument, encoding)| (expression(argument), encoding)).collect(),
            ),
        };
        let overwritten = updates
            .iter()
            .filter(|&&(slot, value)| !slots_of(value).contains(&(slot as u32)))
            .map(|&(slot, _)| slot as u32)
            .collect();
        let mut plan = Plan {
            never,
            conjuncts: rest
                .iter()
                .filter(|&&condition| !mentions(&self.linear.data, condition, &summand.variables))
                .map(|&condition| expression(condition))
                .collect(),
            sum: self
                .sums
                .get(&place)
                .map(|(sum, parameters)| (*sum, parameters.iter().map(|parameter| inputs[parameter]).collect())),
            naming,
            updates: updates
                .iter()
                .map(|&(slot, value)| {
                    let constant = self.constant(value).and_then(|term| encodings[slot].encode(&section, term));
                    let update = match constant {
                        Some(value) => Update::Constant(value),
                        None => Update::Evaluated(expression(value)),
                    };
                    (slot as u32, update)
                })
                .collect(),
            overwritten,
            guards: Vec::new(),
            tests,
            reads,
            parts,
        };
        guards.extend(plan.tests.iter().map(|&(slot, _)| slot));
        plan.guards = guards;
        plan
    }

    /// A joined summand in its parts; nothing when a constant has no place in the list of a slot's values.
    fn parts(
        &self,
        section: &Section<'_>,
        conjuncts: &[TypedId],
        arguments: &[(TypedId, Encoding)],
        updates: &[(usize, TypedId)],
        encodings: &[Encoding],
        pieces: &mut Pieces,
    ) -> Option<Parts> {
        let mut value = |id: TypedId, encoding: &Encoding, used: Use| -> Option<PartValue> {
            if let Some(constant) = self.constant(id) {
                return encoding.encode(section, constant).map(PartValue::Constant);
            }
            match self.variable(id) {
                Some(slot) if encodings[slot as usize].is_same(encoding) => Some(PartValue::Slot(slot)),
                _ => Some(PartValue::Piece(pieces.add(self, encodings, id, used))),
            }
        };
        let arguments = arguments
            .iter()
            .map(|(id, encoding)| value(*id, encoding, Use::Sort(self.linear.data.tree.sort(*id))))
            .collect::<Option<_>>()?;
        let updates = updates
            .iter()
            .map(|&(slot, id)| value(id, &encodings[slot], Use::Slot(slot as u32)))
            .collect::<Option<_>>()?;
        let conjuncts = conjuncts.iter().map(|&id| pieces.add(self, encodings, id, Use::Truth)).collect();
        Some(Parts { conjuncts, arguments, updates })
    }

    fn expression(&self, id: TypedId, inputs: &HashMap<VariableId, u32>) -> Expression {
        if let Typed::Variable(variable) = self.linear.data.tree.expression(id) {
            return Expression::Input(inputs[variable]);
        }
        let (code, variables) = &self.codes[&id];
        Expression::Code(*code, variables.iter().map(|variable| inputs[variable]).collect())
    }

    /// The slot that an expression is.
    fn variable(&self, id: TypedId) -> Option<u32> {
        match self.linear.data.tree.expression(id) {
            Typed::Variable(variable) => self.slots.get(variable).copied(),
            _ => None,
        }
    }

    /// A conjunct that compares a parameter with listed values to a constant: `s == 3`, `b`, `!b`. All of these are
    /// made of constructors alone, so that they are equal when they are the same terms.
    fn test(&self, section: &Section<'_>, condition: TypedId, encodings: &[Encoding]) -> Option<(u32, Term)> {
        let listed = |slot: &u32| match &encodings[*slot as usize] {
            Encoding::Listed(listed) => listed.values().iter().all(|&value| self.is_plain(section, value)),
            Encoding::Met(_) => false,
        };
        if let Some(slot) = self.variable(condition).filter(listed) {
            return Some((slot, self.program.truth_term(true)));
        }
        let pair = |parameter: TypedId, value: TypedId| {
            let value = self.constant(value).filter(|&value| self.is_plain(section, value))?;
            Some((self.variable(parameter).filter(listed)?, value))
        };
        match applied(&self.linear, condition)? {
            (Operator::Equal, &[left, right]) => pair(left, right).or_else(|| pair(right, left)),
            (Operator::Not, &[inside]) => Some((self.variable(inside).filter(listed)?, self.program.truth_term(false))),
            _ => None,
        }
    }

    /// Whether a term is a number or made of constructors and numbers, none of which have equations.
    pub(super) fn is_plain(&self, section: &Section<'_>, term: Term) -> bool {
        let is_constructor = match self.program.view(section, term) {
            View::Number => return true,
            View::Applied(function) => match self.program.specification.signature.function(function).origin {
                Origin::Constructor => true,
                Origin::Builtin(operator) => {
                    matches!(operator, Operator::True | Operator::False | Operator::Cons | Operator::EmptyList)
                }
                _ => false,
            },
            _ => false,
        };
        is_constructor && section.arguments(term).iter().all(|argument| self.is_plain(section, argument))
    }
}

/// A built-in function and what it is applied to.
fn applied(linear: &LinearProcess, expression: TypedId) -> Option<(Operator, &[TypedId])> {
    let tree = &linear.data.tree;
    let Typed::Apply(function, arguments) = tree.expression(expression) else { return None };
    let Typed::Function(function) = tree.expression(*function) else { return None };
    let Origin::Builtin(operator) = linear.data.signature.function(*function).origin else { return None };
    Some((operator, tree.elements(arguments)))
}

/// The sides of an equation.
fn equated(linear: &LinearProcess, condition: TypedId) -> Option<[TypedId; 2]> {
    match applied(linear, condition)? {
        (Operator::Equal, &[left, right]) => Some([left, right]),
        _ => None,
    }
}

/// Whether an expression depends on one of these variables.
fn mentions(data: &DataSpecification, expression: TypedId, variables: &[VariableId]) -> bool {
    data.tree.free_variables(expression).iter().any(|variable| variables.contains(variable))
}

/// The sum of a summand over the conjuncts that its variables decide.
fn sum_of(data: &mut DataSpecification, summand: &Summand, place: Span) -> Sum {
    let conjuncts: Vec<TypedId> =
        summand.conditions.iter().copied().filter(|&condition| mentions(data, condition, &summand.variables)).collect();
    let condition = data.conjunction(&conjuncts, place);
    let mut parameters = data.tree.free_variables(condition);
    parameters.retain(|variable| !summand.variables.contains(variable));
    parameters.sort_unstable();
    parameters.dedup();
    Sum { parameters, variables: summand.variables.clone(), condition }
}
