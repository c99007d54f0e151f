//! Data expressions with variables, as shared terms.
//!
//! While a process is linearised its expressions are terms in which variables are constants that no rule knows. An
//! expression of the text is code: run on the terms of its variables it gives the simplified instance, so putting
//! values in and simplifying are one thing, and equal expressions are equal numbers. A budget of steps bounds each run;
//! beyond it, and where the normal form uses functions that users cannot write, the instance stays as it is.
//!
//! Nothing is collected meanwhile: the caller holds a section of the worker around the whole linearisation.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use trefoil_control::Control;
use trefoil_data::rewrite::{FunctionIndex, Program, Rewriter, Unfinished, View, widens};
use trefoil_data::signature::{Operator, Origin};
use trefoil_data::sorts::{BOOL, INT, NAT, POS, REAL, SortKind, SortRef};
use trefoil_data::syntax::tree::Container;
use trefoil_data::typed::{DataSpecification, Typed, TypedId, VariableId};
use trefoil_source::Span;
use trefoil_terms::Term;

use super::Refusal;
use super::apart::{Cases, SetApart, Taken};
use crate::processes::{Process, ProcessRef, ProcessSpecification};

/// A variable of the linear process while it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Variable(pub(super) u32);

/// What a variable is.
#[derive(Clone, Debug)]
pub(super) struct Described {
    pub(super) name: String,
    pub(super) sort: SortRef,
    pub(super) leaf: Term,
}

/// Steps that the simplification of one expression may take.
const STEPS: u64 = 20_000;

/// Symbols of a term, as a tree, beyond which it is neither simplified nor put in for a variable.
const LARGEST: u64 = 20_000;

/// Values of the variables of one scope.
pub(super) type Environment = HashMap<VariableId, Term>;

/// The expressions that are compiled, and those that linearisation itself needs.
pub(super) struct Prepared {
    pub(super) data: DataSpecification,
    pub(super) expressions: Vec<(TypedId, Vec<VariableId>)>,
    equal: Vec<(SortRef, usize)>,
    not: usize,
    and: usize,
    or: usize,
    /// `if` at the sorts of parameters.
    choices: Vec<(SortRef, usize)>,
    defaults: Vec<(SortRef, usize)>,
    /// Sorts of parameters that can be taken apart.
    taken: Vec<(SortRef, Taken)>,
    cases: Vec<(SortRef, Cases)>,
    sets: Vec<(SortRef, SetApart)>,
}

impl Prepared {
    /// Collects every expression of the processes.
    pub(super) fn new(specification: &ProcessSpecification, reachable: &[ProcessRef]) -> Prepared {
        let mut prepared = Prepared {
            data: specification.data.clone(),
            expressions: Vec::new(),
            equal: Vec::new(),
            not: 0,
            and: 0,
            or: 0,
            choices: Vec::new(),
            defaults: Vec::new(),
            taken: Vec::new(),
            cases: Vec::new(),
            sets: Vec::new(),
        };
        let globals = specification.globals.iter();
        let mut sorts: BTreeSet<SortRef> = globals.map(|&one| specification.data.tree.variable(one).1).collect();
        for &id in reachable {
            match specification.process(id) {
                Process::MultiAction(actions) => {
                    for (_, arguments) in actions {
                        arguments.iter().for_each(|&argument| prepared.add(argument));
                    }
                }
                Process::Call(definition, arguments) => {
                    arguments.iter().for_each(|&argument| prepared.add(argument));
                    let parameters = &specification.definition(*definition).parameters;
                    sorts.extend(parameters.iter().map(|&parameter| specification.data.tree.variable(parameter).1));
                }
                Process::Condition(condition, ..) => prepared.add(*condition),
                Process::Sum(variables, _) => {
                    sorts.extend(variables.iter().map(|&variable| specification.data.tree.variable(variable).1));
                }
                _ => {}
            }
        }
        let mut maker = Maker { data: &mut prepared.data, place: place_of(specification) };
        let (mut taken, mut cases, mut sets) = (Vec::new(), Vec::new(), Vec::new());
        let mut pending: Vec<SortRef> = sorts.iter().copied().collect();
        while let Some(sort) = pending.pop() {
            let parts = if let Some(apart) = maker.taken_apart(sort) {
                let parts: Vec<SortRef> = apart.parts.iter().map(|part| part.sort).collect();
                taken.push((sort, apart));
                parts
            } else if let Some(apart) = maker.cases(sort) {
                let parts = apart.sorts();
                cases.push((sort, apart));
                parts
            } else if let Some(apart) = maker.set_apart(sort) {
                sets.push((sort, apart));
                continue;
            } else {
                continue;
            };
            pending.extend(parts.into_iter().filter(|&part| sorts.insert(part)));
        }
        let mut compared: BTreeSet<SortRef> = specification.actions.iter().flat_map(|a| a.sorts.clone()).collect();
        compared.extend([POS, BOOL]);
        compared.extend(sets.iter().map(|(_, apart)| apart.element));
        let mut made = Vec::new();
        for sort in compared {
            let (one, other) = (maker.variable(sort), maker.variable(sort));
            let body = maker.operator(Operator::Equal, &[sort, sort], BOOL, &[one.1, other.1]);
            made.push((sort, body, vec![one.0, other.0]));
        }
        let one = maker.variable(BOOL);
        let not = (maker.operator(Operator::Not, &[BOOL], BOOL, &[one.1]), vec![one.0]);
        let (one, other) = (maker.variable(BOOL), maker.variable(BOOL));
        let and = (maker.operator(Operator::And, &[BOOL, BOOL], BOOL, &[one.1, other.1]), vec![one.0, other.0]);
        let (one, other) = (maker.variable(BOOL), maker.variable(BOOL));
        let or = (maker.operator(Operator::Or, &[BOOL, BOOL], BOOL, &[one.1, other.1]), vec![one.0, other.0]);
        let mut choices = Vec::new();
        for &sort in sorts.iter().chain([&POS, &BOOL].into_iter().filter(|sort| !sorts.contains(sort))) {
            let (test, one, other) = (maker.variable(BOOL), maker.variable(sort), maker.variable(sort));
            let body = maker.operator(Operator::If, &[BOOL, sort, sort], sort, &[test.1, one.1, other.1]);
            choices.push((sort, body, vec![test.0, one.0, other.0]));
        }
        let mut defaults = Vec::new();
        for sort in sorts {
            if let Some(value) = maker.default(sort, &mut BTreeSet::new()) {
                defaults.push((sort, value));
            }
        }
        for (sort, body, variables) in made {
            prepared.equal.push((sort, prepared.expressions.len()));
            prepared.expressions.push((body, variables));
        }
        prepared.not = prepared.expressions.len();
        prepared.and = prepared.not + 1;
        prepared.or = prepared.not + 2;
        prepared.expressions.extend([not, and, or]);
        for (sort, body, variables) in choices {
            prepared.choices.push((sort, prepared.expressions.len()));
            prepared.expressions.push((body, variables));
        }
        for (_, apart) in &taken {
            prepared.expressions.push(apart.whole.clone());
            prepared.expressions.extend(apart.parts.iter().map(|part| (part.of.0, vec![part.of.1])));
        }
        prepared.taken = taken;
        cases.iter().for_each(|(_, apart)| prepared.expressions.extend(apart.expressions()));
        prepared.cases = cases;
        sets.iter().for_each(|(_, apart)| prepared.expressions.extend(apart.expressions()));
        prepared.sets = sets;
        for (sort, value) in defaults {
            prepared.defaults.push((sort, prepared.expressions.len()));
            prepared.expressions.push((value, Vec::new()));
        }
        prepared
    }

    fn add(&mut self, expression: TypedId) {
        let mut variables = self.data.tree.free_variables(expression);
        variables.sort_unstable();
        variables.dedup();
        self.expressions.push((expression, variables));
    }
}

fn place_of(specification: &ProcessSpecification) -> Span {
    match (specification.init, specification.actions.first()) {
        (Some(init), _) => specification.place(init),
        (None, Some(action)) => action.place,
        (None, None) => unreachable!("only processes are linearised"),
    }
}

/// Makes expressions of our own.
pub(crate) struct Maker<'a> {
    pub(crate) data: &'a mut DataSpecification,
    pub(crate) place: Span,
}

impl Maker<'_> {
    pub(crate) fn variable(&mut self, sort: SortRef) -> (VariableId, TypedId) {
        let name = self.data.names.intern("@v");
        let variable = self.data.tree.add_variable(name, sort);
        (variable, self.data.tree.add(Typed::Variable(variable), sort, self.place))
    }

    pub(super) fn apply(&mut self, function: TypedId, arguments: &[TypedId], sort: SortRef) -> TypedId {
        let list = self.data.tree.add_list(arguments);
        self.data.tree.add(Typed::Apply(function, list), sort, self.place)
    }

    pub(crate) fn operator(
        &mut self,
        op: Operator,
        domain: &[SortRef],
        codomain: SortRef,
        arguments: &[TypedId],
    ) -> TypedId {
        let whole = if domain.is_empty() { codomain } else { self.data.sorts.function(domain, codomain) };
        let name = self.data.names.intern(op.name());
        let function = self.data.signature.builtin(op, name, whole);
        let head = self.data.tree.add(Typed::Function(function), whole, self.place);
        if arguments.is_empty() { head } else { self.apply(head, arguments, codomain) }
    }

    /// A value of a sort: what a parameter holds while nothing reads it.
    pub(crate) fn default(&mut self, sort: SortRef, open: &mut BTreeSet<SortRef>) -> Option<TypedId> {
        let digits = |maker: &mut Self, digits: &str| {
            let digits = maker.data.names.intern(digits);
            Some(maker.data.tree.add(Typed::Number(digits), sort, maker.place))
        };
        match sort {
            BOOL => return Some(self.operator(Operator::False, &[], BOOL, &[])),
            POS => return digits(self, "1"),
            NAT | INT | REAL => return digits(self, "0"),
            _ => {}
        }
        match self.data.sorts.kind(sort).clone() {
            SortKind::Basic(_) => None,
            SortKind::Container(container, element) => Some(match container {
                Container::List => self.operator(Operator::EmptyList, &[], sort, &[]),
                Container::FSet => self.operator(Operator::EmptySet, &[], sort, &[]),
                Container::FBag => self.operator(Operator::EmptyBag, &[], sort, &[]),
                Container::Set => {
                    let finite = self.data.sorts.container(Container::FSet, element);
                    let empty = self.operator(Operator::EmptySet, &[], finite, &[]);
                    self.operator(Operator::FSet2Set, &[finite], sort, &[empty])
                }
                Container::Bag => {
                    let finite = self.data.sorts.container(Container::FBag, element);
                    let empty = self.operator(Operator::EmptyBag, &[], finite, &[]);
                    self.operator(Operator::FBag2Bag, &[finite], sort, &[empty])
                }
            }),
            SortKind::Function(domain, codomain) => {
                let body = self.default(codomain, open)?;
                let variables: Vec<VariableId> = domain.iter().map(|&part| self.variable(part).0).collect();
                Some(self.data.tree.add(Typed::Lambda(variables, body), sort, self.place))
            }
            SortKind::Named(_) | SortKind::Structured(_) => {
                if !open.insert(sort) {
                    return None;
                }
                let constructors = self.data.sorts.constructors(sort).to_vec();
                let candidates = if constructors.is_empty() {
                    // A sort without constructors has the values that functions give.
                    let all = (0..self.data.signature.len() as u32).map(trefoil_data::signature::FunctionId);
                    all.filter(|&id| {
                        let function = self.data.signature.function(id);
                        let result = self.data.sorts.as_function(function.sort).map_or(function.sort, |(_, c)| c);
                        result == sort && function.origin == Origin::Map
                    })
                    .collect()
                } else {
                    constructors
                };
                let mut found = None;
                for candidate in candidates {
                    let whole = self.data.signature.function(candidate).sort;
                    let domain = self.data.sorts.as_function(whole).map_or(Vec::new(), |(domain, _)| domain.to_vec());
                    let arguments: Option<Vec<TypedId>> = domain.iter().map(|&part| self.default(part, open)).collect();
                    if let Some(arguments) = arguments {
                        let head = self.data.tree.add(Typed::Function(candidate), whole, self.place);
                        found = Some(if arguments.is_empty() { head } else { self.apply(head, &arguments, sort) });
                        break;
                    }
                }
                open.remove(&sort);
                found
            }
        }
    }
}

/// Expressions with variables over a program.
pub(super) struct Expressions<'p> {
    pub(super) rewriter: Rewriter<'p>,
    pub(super) control: Control,
    pub(super) program: &'p Program,
    codes: HashMap<TypedId, (FunctionIndex, Rc<[VariableId]>)>,
    equal: HashMap<SortRef, FunctionIndex>,
    not: FunctionIndex,
    and: FunctionIndex,
    or: FunctionIndex,
    choices: HashMap<SortRef, (FunctionIndex, TypedId)>,
    defaults: HashMap<SortRef, Term>,
    taken: HashMap<SortRef, Rc<Taken>>,
    cases: HashMap<SortRef, Rc<Cases>>,
    sets: HashMap<SortRef, Rc<SetApart>>,
    variables: Vec<Described>,
    by_leaf: HashMap<Term, Variable>,
    /// Leaves of the variables of `glob`, and of variables that are free for other reasons.
    globals: HashMap<VariableId, Term>,
    free: HashMap<Term, Rc<[Variable]>>,
    plain: HashMap<Term, bool>,
    sizes: HashMap<Term, u64>,
    compared: HashMap<(SortRef, Term, Term), Term>,
    /// Simplifications that were given up.
    pub(super) given_up: usize,
}

impl<'p> Expressions<'p> {
    /// Expressions of a program that was made of what is prepared.
    pub(super) fn new(
        prepared: &Prepared,
        codes: &[FunctionIndex],
        program: &'p Program,
        rewriter: Rewriter<'p>,
        control: &Control,
    ) -> Result<Expressions<'p>, Refusal> {
        let mut table = HashMap::new();
        for ((expression, variables), &code) in prepared.expressions.iter().zip(codes) {
            table.insert(*expression, (code, Rc::from(variables.as_slice())));
        }
        let mut expressions = Expressions {
            rewriter,
            control: control.clone(),
            program,
            codes: table,
            equal: prepared.equal.iter().map(|&(sort, place)| (sort, codes[place])).collect(),
            not: codes[prepared.not],
            and: codes[prepared.and],
            or: codes[prepared.or],
            choices: prepared
                .choices
                .iter()
                .map(|&(sort, place)| (sort, (codes[place], prepared.expressions[place].0)))
                .collect(),
            defaults: HashMap::new(),
            taken: prepared.taken.iter().map(|(sort, apart)| (*sort, Rc::new(apart.clone()))).collect(),
            cases: prepared.cases.iter().map(|(sort, apart)| (*sort, Rc::new(apart.clone()))).collect(),
            sets: prepared.sets.iter().map(|(sort, apart)| (*sort, Rc::new(apart.clone()))).collect(),
            variables: Vec::new(),
            by_leaf: HashMap::new(),
            globals: HashMap::new(),
            free: HashMap::new(),
            plain: HashMap::new(),
            sizes: HashMap::new(),
            compared: HashMap::new(),
            given_up: 0,
        };
        for &(sort, place) in &prepared.defaults {
            let (expression, _) = prepared.expressions[place];
            let value = expressions.value(expression, &Environment::new())?;
            expressions.defaults.insert(sort, value);
        }
        Ok(expressions)
    }

    /// A fresh variable.
    pub(super) fn variable(&mut self, name: &str, sort: SortRef) -> Variable {
        let leaf = self.program.leaf(self.rewriter.section(), name);
        let variable = Variable(self.variables.len() as u32);
        self.variables.push(Described { name: name.to_string(), sort, leaf });
        self.by_leaf.insert(leaf, variable);
        variable
    }

    /// What a variable is.
    pub(super) fn described(&self, variable: Variable) -> &Described {
        &self.variables[variable.0 as usize]
    }

    /// The term of a variable.
    pub(super) fn leaf(&self, variable: Variable) -> Term {
        self.variables[variable.0 as usize].leaf
    }

    /// The variable that a term is.
    pub(super) fn as_variable(&self, term: Term) -> Option<Variable> {
        self.by_leaf.get(&term).copied()
    }

    /// What a parameter of a sort holds while nothing reads it.
    pub(super) fn default(&self, sort: SortRef) -> Option<Term> {
        self.defaults.get(&sort).copied()
    }

    /// How values of a sort can be taken apart.
    pub(super) fn taken_apart(&self, sort: SortRef) -> Option<Rc<Taken>> {
        self.taken.get(&sort).cloned()
    }

    /// The shapes of the values of a sort, where there are several.
    pub(super) fn cases(&self, sort: SortRef) -> Option<Rc<Cases>> {
        self.cases.get(&sort).cloned()
    }

    /// How sets of a sort can be taken apart.
    pub(super) fn set_apart(&self, sort: SortRef) -> Option<Rc<SetApart>> {
        self.sets.get(&sort).cloned()
    }

    /// Whether a term has another one inside; `met` are the terms that were looked at.
    pub(super) fn contains(&self, term: Term, inner: Term, met: &mut HashSet<Term>) -> bool {
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            if term == inner {
                return true;
            }
            if met.insert(term) {
                pending.extend(self.rewriter.section().arguments(term).iter());
            }
        }
        false
    }

    /// Gives a variable of the text a value wherever no environment has one.
    pub(super) fn bind_global(&mut self, variable: VariableId, value: Term) {
        self.globals.insert(variable, value);
    }

    fn lookup(&self, environment: &Environment, variable: VariableId) -> Term {
        match environment.get(&variable).or_else(|| self.globals.get(&variable)) {
            Some(&term) => term,
            None => unreachable!("the checker binds every variable"),
        }
    }

    fn within(
        &mut self,
        run: impl FnOnce(&mut Rewriter<'p>) -> Result<Term, Unfinished>,
    ) -> Result<Option<Term>, Refusal> {
        self.control.check()?;
        self.rewriter.limit_steps(STEPS);
        match run(&mut self.rewriter) {
            Ok(term) => Ok(Some(term)),
            Err(Unfinished::Steps) => {
                self.given_up += 1;
                Ok(None)
            }
            Err(Unfinished::Stopped(stopped)) => Err(Refusal::Stopped(stopped)),
        }
    }

    /// An expression of the text for terms of its variables, simplified.
    pub(super) fn value(&mut self, expression: TypedId, environment: &Environment) -> Result<Term, Refusal> {
        let (code, variables) = self.codes[&expression].clone();
        let values: Vec<Term> = variables.iter().map(|&variable| self.lookup(environment, variable)).collect();
        let made = self.within(|rewriter| rewriter.evaluate(code, &values))?;
        if let Some(made) = made
            && self.is_plain(made)
        {
            return Ok(made);
        }
        Ok(self.instance(expression, environment))
    }

    /// An expression of the text for terms of its variables, not evaluated.
    fn instance(&self, expression: TypedId, environment: &Environment) -> Term {
        self.rewriter.instantiate(expression, &|variable| {
            environment.get(&variable).or_else(|| self.globals.get(&variable)).copied()
        })
    }

    /// The term of an expression in which `name` says what stands for a variable.
    pub(super) fn shape(&self, expression: TypedId, name: &dyn Fn(VariableId) -> Term) -> Term {
        self.rewriter.instantiate(expression, &|variable| Some(name(variable)))
    }

    /// `left == right` at a sort.
    pub(super) fn equal(&mut self, sort: SortRef, left: Term, right: Term) -> Result<Term, Refusal> {
        if let Some(&known) = self.compared.get(&(sort, left, right)) {
            return Ok(known);
        }
        let code = self.equal[&sort];
        let made = match self.within(|rewriter| rewriter.evaluate(code, &[left, right]))? {
            Some(term) if self.is_plain(term) => term,
            _ => {
                let head = self.equality(sort);
                self.rewriter.section().create(head, &[left, right])
            }
        };
        self.compared.insert((sort, left, right), made);
        Ok(made)
    }

    /// The symbol of `==` at a sort: that of an instance of two constants.
    fn equality(&mut self, sort: SortRef) -> trefoil_terms::Symbol {
        let (one, other) = (self.variable("@v", sort), self.variable("@v", sort));
        let term = [self.leaf(one), self.leaf(other)];
        let found = self.codes.iter().find(|(_, (code, _))| *code == self.equal[&sort]);
        let Some((&expression, (_, variables))) = found else { unreachable!("equality is compiled for this sort") };
        let environment = Environment::from([(variables[0], term[0]), (variables[1], term[1])]);
        let made = self.instance(expression, &environment);
        self.rewriter.section().head(made)
    }

    /// The negation of a condition.
    pub(super) fn not(&mut self, term: Term) -> Result<Term, Refusal> {
        let code = self.not;
        match self.within(|rewriter| rewriter.evaluate(code, &[term]))? {
            Some(term) => Ok(term),
            None => unreachable!("negation takes few steps"),
        }
    }

    /// The conjunction of some conditions.
    pub(super) fn all(&mut self, terms: &[Term]) -> Result<Term, Refusal> {
        let mut all = self.program.truth_term(true);
        let code = self.and;
        for &term in terms.iter().rev() {
            all = match self.within(|rewriter| rewriter.evaluate(code, &[term, all]))? {
                Some(term) => term,
                None => unreachable!("conjunction takes few steps"),
            };
        }
        Ok(all)
    }

    /// The disjunction of two conditions.
    pub(super) fn either(&mut self, one: Term, other: Term) -> Result<Term, Refusal> {
        let code = self.or;
        match self.within(|rewriter| rewriter.evaluate(code, &[one, other]))? {
            Some(term) => Ok(term),
            None => unreachable!("disjunction takes few steps"),
        }
    }

    /// The condition that not all of some conditions hold.
    pub(super) fn not_all(&mut self, terms: &[Term]) -> Result<Term, Refusal> {
        let all = self.all(terms)?;
        self.not(all)
    }

    /// `if(test, one, other)` at the sort of a parameter.
    pub(super) fn choice(&mut self, sort: SortRef, test: Term, one: Term, other: Term) -> Result<Term, Refusal> {
        let (code, expression) = self.choices[&sort];
        if self.size(one).saturating_add(self.size(other)) <= LARGEST
            && let Some(made) = self.within(|rewriter| rewriter.evaluate(code, &[test, one, other]))?
            && self.is_plain(made)
        {
            return Ok(made);
        }
        let variables = Rc::clone(&self.codes[&expression].1);
        let environment = variables.iter().copied().zip([test, one, other]).collect();
        Ok(self.instance(expression, &environment))
    }

    /// Whether a term that no longer changes can be written by users.
    fn is_plain(&mut self, term: Term) -> bool {
        if let Some(&known) = self.plain.get(&term) {
            return known;
        }
        let plain = stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            let section = self.rewriter.section();
            let arguments: Vec<Term> = section.arguments(term).iter().collect();
            let operator = self.program.applied_operator(section, term);
            let fits = match operator {
                Some(
                    Operator::NotFunction
                    | Operator::AndFunction
                    | Operator::OrFunction
                    | Operator::AddFunction
                    | Operator::MinFunction
                    | Operator::MonusFunction
                    | Operator::Occurs
                    | Operator::Counts
                    | Operator::UniteExceptions
                    | Operator::MeetExceptions
                    | Operator::Filter
                    | Operator::Before
                    | Operator::IsUpdate
                    | Operator::FBag2FSet
                    | Operator::FSet2FBag
                    | Operator::InsertIf,
                ) => false,
                Some(Operator::StableUpdate) => self.free(term).is_empty(),
                Some(Operator::SetConstructor | Operator::BagConstructor) => {
                    matches!(self.program.view(section, arguments[0]), View::Function(_)) || self.free(term).is_empty()
                }
                _ => true,
            };
            fits && arguments.into_iter().all(|argument| self.is_plain(argument))
        });
        self.plain.insert(term, plain);
        plain
    }

    /// The variables of a term, in order.
    pub(super) fn free(&mut self, term: Term) -> Rc<[Variable]> {
        if let Some(known) = self.free.get(&term) {
            return Rc::clone(known);
        }
        let found: Rc<[Variable]> = match self.by_leaf.get(&term) {
            Some(&variable) => Rc::from([variable]),
            None => stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                let arguments: Vec<Term> = self.rewriter.section().arguments(term).iter().collect();
                let parts: Vec<Rc<[Variable]>> = arguments.into_iter().map(|argument| self.free(argument)).collect();
                match &parts[..] {
                    [one] => Rc::clone(one),
                    _ => {
                        let all: BTreeSet<Variable> = parts.iter().flat_map(|part| part.iter().copied()).collect();
                        Rc::from(all.into_iter().collect::<Vec<_>>())
                    }
                }
            }),
        };
        self.free.insert(term, Rc::clone(&found));
        found
    }

    /// The symbols of a term as a tree, which may be exponentially more than it has as a graph.
    pub(super) fn size(&mut self, term: Term) -> u64 {
        if let Some(&known) = self.sizes.get(&term) {
            return known;
        }
        let size = stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            let arguments: Vec<Term> = self.rewriter.section().arguments(term).iter().collect();
            arguments.into_iter().fold(1_u64, |size, argument| size.saturating_add(self.size(argument)))
        });
        self.sizes.insert(term, size);
        size
    }

    /// Whether a term has no variables.
    pub(super) fn is_closed(&mut self, term: Term) -> bool {
        self.free(term).is_empty()
    }

    /// A term with variables replaced, simplified where something changed.
    pub(super) fn replace(&mut self, term: Term, values: &HashMap<Variable, Term>) -> Result<Term, Refusal> {
        if values.is_empty() || !self.free(term).iter().any(|variable| values.contains_key(variable)) {
            return Ok(term);
        }
        let replaced = self.replaced(term, values, &mut HashMap::new());
        self.simplified(replaced)
    }

    /// A term that was put together, simplified.
    pub(super) fn simplified(&mut self, term: Term) -> Result<Term, Refusal> {
        if self.size(term) > LARGEST {
            return Ok(term);
        }
        match self.within(|rewriter| rewriter.normalise(term))? {
            Some(normal) if self.is_plain(normal) => Ok(normal),
            _ => Ok(term),
        }
    }

    fn replaced(&mut self, term: Term, values: &HashMap<Variable, Term>, done: &mut HashMap<Term, Term>) -> Term {
        if let Some(&known) = done.get(&term) {
            return known;
        }
        let made = match self.as_variable(term) {
            Some(variable) => values.get(&variable).copied().unwrap_or(term),
            None if self.free(term).is_empty() => term,
            None => stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                let arguments: Vec<Term> = self.rewriter.section().arguments(term).iter().collect();
                let inside: Vec<Term> =
                    arguments.into_iter().map(|argument| self.replaced(argument, values, done)).collect();
                let section = self.rewriter.section();
                section.create(section.head(term), &inside)
            }),
        };
        done.insert(term, made);
        made
    }

    /// Splits a condition into conjuncts that are not decided; false when it cannot hold.
    pub(super) fn conjuncts(&mut self, term: Term, into: &mut Vec<Term>) -> Result<bool, Refusal> {
        match self.program.truth_of(term) {
            Some(true) => return Ok(true),
            Some(false) => return Ok(false),
            None => {}
        }
        let section = self.rewriter.section();
        let arguments: Vec<Term> = section.arguments(term).iter().collect();
        match self.program.applied_operator(section, term) {
            Some(Operator::And) => {
                for argument in arguments {
                    if !self.conjuncts(argument, into)? {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
            Some(Operator::Not) => {
                let inside: Vec<Term> = section.arguments(arguments[0]).iter().collect();
                match self.program.applied_operator(section, arguments[0]) {
                    Some(Operator::Or) => {
                        for part in inside {
                            let negated = self.not(part)?;
                            if !self.conjuncts(negated, into)? {
                                return Ok(false);
                            }
                        }
                        return Ok(true);
                    }
                    Some(Operator::Implies) => {
                        let negated = self.not(inside[1])?;
                        return Ok(self.conjuncts(inside[0], into)? && self.conjuncts(negated, into)?);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        if !into.contains(&term) {
            let opposite = self.not(term)?;
            if into.contains(&opposite) {
                return Ok(false);
            }
            into.push(term);
        }
        Ok(true)
    }

    /// The sort of a number, as far as its head tells.
    pub(super) fn sort_of(&self, term: Term) -> Option<SortRef> {
        let section = self.rewriter.section();
        match self.program.view(section, term) {
            View::Applied(function) => {
                let sort = self.program.specification.signature.function(function).sort;
                let sorts = &self.program.specification.sorts;
                match sorts.as_function(sort) {
                    Some((_, codomain)) if section.arity(term) > 0 => Some(codomain),
                    _ => Some(sort),
                }
            }
            View::Leaf => self.as_variable(term).map(|variable| self.described(variable).sort),
            View::Number => self.program.number_sort(section, term),
            _ => None,
        }
    }

    /// The value that a conjunct gives to one of some variables: the one-point rule.
    pub(super) fn point(&mut self, conjunct: Term, among: &[Variable]) -> Option<(Variable, Term)> {
        if let Some(variable) = self.as_variable(conjunct)
            && among.contains(&variable)
        {
            return Some((variable, self.program.truth_term(true)));
        }
        let section = self.rewriter.section();
        let arguments: Vec<Term> = section.arguments(conjunct).iter().collect();
        match self.program.applied_operator(section, conjunct) {
            Some(Operator::Not) => {
                let variable = self.as_variable(arguments[0])?;
                among.contains(&variable).then(|| (variable, self.program.truth_term(false)))
            }
            Some(Operator::Equal) => {
                for (one, other) in [(arguments[0], arguments[1]), (arguments[1], arguments[0])] {
                    let Some(variable) = self.as_variable(one) else { continue };
                    if !among.contains(&variable) || self.free(other).contains(&variable) {
                        continue;
                    }
                    let sort = self.described(variable).sort;
                    let is_number = trefoil_data::sorts::rank(sort).is_some();
                    if !is_number || self.sort_of(other).is_some_and(|found| widens(found, sort)) {
                        return Some((variable, other));
                    }
                }
                None
            }
            _ => None,
        }
    }

    /// Gives summed variables the values that conditions say they have, and forgets variables that nothing uses; false
    /// when the conditions exclude each other.
    pub(super) fn solve(
        &mut self,
        sums: &mut Vec<Variable>,
        conditions: &mut Vec<Term>,
        terms: &mut [&mut Term],
    ) -> Result<bool, Refusal> {
        self.control.check()?;
        if sums.is_empty() {
            return Ok(true);
        }
        // Variables whose values are too large to be put in.
        let mut open: Vec<Variable> = sums.clone();
        'again: loop {
            for place in 0..conditions.len() {
                let Some((variable, value)) = self.point(conditions[place], &open) else { continue };
                let values = HashMap::from([(variable, value)]);
                let all = conditions.iter().copied().chain(terms.iter().map(|term| **term));
                let mut done = HashMap::new();
                let fits = all.collect::<Vec<_>>().into_iter().all(|term| {
                    let replaced = self.replaced(term, &values, &mut done);
                    replaced == term || self.size(replaced) <= LARGEST
                });
                if !fits {
                    open.retain(|&other| other != variable);
                    continue;
                }
                let mut left = Vec::new();
                for (other, &condition) in conditions.iter().enumerate() {
                    if other == place {
                        continue;
                    }
                    let replaced = self.replace(condition, &values)?;
                    if !self.conjuncts(replaced, &mut left)? {
                        return Ok(false);
                    }
                }
                *conditions = left;
                for term in terms.iter_mut() {
                    **term = self.replace(**term, &values)?;
                }
                sums.retain(|&other| other != variable);
                open.retain(|&other| other != variable);
                continue 'again;
            }
            break;
        }
        let mut used: BTreeSet<Variable> = BTreeSet::new();
        for term in conditions.iter().copied().chain(terms.iter().map(|term| **term)) {
            used.extend(self.free(term).iter());
        }
        sums.retain(|variable| used.contains(variable));
        Ok(true)
    }

    /// A term as text.
    pub(super) fn text(&self, term: Term) -> String {
        self.program.text(self.rewriter.section(), term)
    }
}
