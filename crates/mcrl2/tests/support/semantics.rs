//! The slow semantics of a text: processes as the type checker resolves them, expressions as the rewriter evaluates
//! them.

use std::collections::HashMap;

use trefoil_data::rewrite::{FunctionIndex, Program, Rewriter};
use trefoil_data::signature::Operator as BuiltIn;
use trefoil_data::sorts::{BOOL, INT, NAT, POS, SortRef};
use trefoil_data::syntax::tree::Symbol;
use trefoil_data::typed::{DataSpecification, Typed, TypedId, VariableId};
use trefoil_lts::Lts;
use trefoil_mcrl2::processes::{self, Process, ProcessRef, ProcessSpecification};
use trefoil_mcrl2::syntax;
use trefoil_source::{FileId, Span};
use trefoil_terms::{Options, Pool, Term};
use trefoil_testkit::mcrl2::semantics::{Failure, explore};
use trefoil_testkit::mcrl2::{Data, Environment, Node, NodeId, Operator, Specification};

/// The transition system of a text. A `sum` over numbers runs up to `largest`.
///
/// # Panics
///
/// When the text has a mistake, or a `sum` is over a sort without a list of values.
pub(crate) fn space(text: &str, largest: u32, most_states: usize) -> Result<Lts, Failure> {
    let mut diagnostics = Vec::new();
    let read = syntax::parse(text, FileId(0), &mut diagnostics);
    let Some(mut typed) = processes::check(&read, text, &mut diagnostics) else { panic!("{text}\n{diagnostics:#?}") };
    let translated = translate(&typed);
    let mut values: HashMap<VariableId, Vec<TypedId>> = HashMap::new();
    let mut bound = typed.globals.clone();
    for node in &translated.nodes {
        if let Node::Sum(variables, _) = node {
            bound.extend(variables.iter().map(|&variable| VariableId(variable)));
        }
    }
    for variable in bound {
        let sort = typed.data.tree.variable(variable).1;
        let listed = listed(&mut typed.data, sort, largest, &mut Vec::new());
        values.insert(variable, listed);
    }
    let mut expressions: Vec<(TypedId, Vec<VariableId>)> = Vec::new();
    let mut expect = |id: TypedId| {
        let mut free = typed.data.tree.free_variables(id);
        free.sort_unstable();
        free.dedup();
        expressions.push((id, free));
    };
    for node in &translated.nodes {
        match node {
            Node::Actions(actions) => actions.iter().flat_map(|(_, values)| values).for_each(|&value| expect(value)),
            Node::Call(_, values) => values.iter().for_each(|&value| expect(value)),
            Node::Condition(condition, ..) => expect(*condition),
            _ => {}
        }
    }
    values.values().flatten().for_each(|&value| expect(value));
    let pool = Pool::new(Options { collecting: false, ..Options::default() });
    let (program, codes) = Program::new(typed.data.clone(), &expressions, &pool);
    let worker = pool.worker();
    let mut data = Rewritten {
        program: &program,
        rewriter: Rewriter::new(&program, &worker),
        codes: expressions.iter().zip(codes).map(|((id, free), code)| (*id, (code, free.clone()))).collect(),
        values,
        terms: Vec::new(),
        numbers: HashMap::new(),
    };
    let globals: Environment<u32> = typed.globals.iter().map(|global| (global.0, data.values(global.0)[0])).collect();
    explore(&translated, &globals, &mut data, most_states)
}

/// Expressions for the values of a sort.
fn listed(data: &mut DataSpecification, sort: SortRef, largest: u32, open: &mut Vec<SortRef>) -> Vec<TypedId> {
    let place = Span { file: FileId(0), start: 0, end: 0 };
    if sort == BOOL {
        // The comparisons of a number with itself are the truth values that need no name.
        let digit = data.names.intern("1");
        let number = data.tree.add(Typed::Number(digit), POS, place);
        let binary = data.sorts.function(&[POS, POS], BOOL);
        return [BuiltIn::NotEqual, BuiltIn::Equal]
            .into_iter()
            .map(|operator| {
                let name = data.names.intern(operator.name());
                let function = data.signature.builtin(operator, name, binary);
                let function = data.tree.add(Typed::Function(function), binary, place);
                let arguments = data.tree.add_list(&[number, number]);
                data.tree.add(Typed::Apply(function, arguments), BOOL, place)
            })
            .collect();
    }
    if [POS, NAT, INT].contains(&sort) {
        let least = u32::from(sort == POS);
        return (least..=largest)
            .map(|number| {
                let digits: Symbol = data.names.intern(&number.to_string());
                data.tree.add(Typed::Number(digits), sort, place)
            })
            .collect();
    }
    let constructors = data.sorts.constructors(sort).to_vec();
    assert!(!constructors.is_empty() && !open.contains(&sort), "a sum over {}", data.sort_text(sort));
    open.push(sort);
    let mut values = Vec::new();
    for constructor in constructors {
        let whole = data.signature.function(constructor).sort;
        let domain = data.sorts.as_function(whole).map(|(domain, _)| domain.to_vec()).unwrap_or_default();
        let mut tuples: Vec<Vec<TypedId>> = vec![Vec::new()];
        for part in &domain {
            let parts = listed(data, *part, largest, open);
            tuples = tuples
                .iter()
                .flat_map(|tuple| parts.iter().map(|&part| tuple.iter().copied().chain([part]).collect()))
                .collect();
        }
        for tuple in tuples {
            let function = data.tree.add(Typed::Function(constructor), whole, place);
            values.push(if tuple.is_empty() {
                function
            } else {
                let arguments = data.tree.add_list(&tuple);
                data.tree.add(Typed::Apply(function, arguments), sort, place)
            });
        }
    }
    open.pop();
    values
}

/// Typed processes as the semantics takes them.
fn translate(typed: &ProcessSpecification) -> Specification<TypedId> {
    let mut translated = Specification { nodes: Vec::new(), definitions: Vec::new(), init: NodeId(0) };
    for definition in &typed.definitions {
        let parameters = definition.parameters.iter().map(|parameter| parameter.0).collect();
        let body = node(typed, definition.body, &mut translated);
        translated.definitions.push((parameters, body));
    }
    translated.init = node(typed, typed.init.expect("an initial process"), &mut translated);
    translated
}

fn node(typed: &ProcessSpecification, id: ProcessRef, into: &mut Specification<TypedId>) -> NodeId {
    let name = |symbol: &Symbol| typed.name(*symbol).to_string();
    let names = |symbols: &[Symbol]| symbols.iter().map(name).collect::<Vec<_>>();
    let translated = match typed.process(id) {
        Process::MultiAction(actions) => Node::Actions(
            actions.iter().map(|(action, values)| (name(&typed.action(*action).name), values.clone())).collect(),
        ),
        Process::Call(called, values) => Node::Call(called.0 as usize, values.clone()),
        Process::Delta => Node::Delta,
        Process::Choice(left, right) => Node::Choice(node(typed, *left, into), node(typed, *right, into)),
        Process::Sequence(left, right) => Node::Sequence(node(typed, *left, into), node(typed, *right, into)),
        Process::Parallel(left, right) => Node::Parallel(node(typed, *left, into), node(typed, *right, into)),
        Process::Sum(variables, inside) => {
            Node::Sum(variables.iter().map(|variable| variable.0).collect(), node(typed, *inside, into))
        }
        Process::Condition(condition, yes, no) => {
            let yes = node(typed, *yes, into);
            Node::Condition(*condition, yes, no.map(|no| node(typed, no, into)))
        }
        Process::Block(set, inside) => Node::Operator(Operator::Block(names(set)), node(typed, *inside, into)),
        Process::Hide(set, inside) => Node::Operator(Operator::Hide(names(set)), node(typed, *inside, into)),
        Process::Rename(pairs, inside) => {
            let pairs = pairs.iter().map(|(from, to)| (name(from), name(to))).collect();
            Node::Operator(Operator::Rename(pairs), node(typed, *inside, into))
        }
        Process::Allow(bags, inside) => {
            let bags = bags.iter().map(|bag| names(bag)).collect();
            Node::Operator(Operator::Allow(bags), node(typed, *inside, into))
        }
        Process::Comm(rules, inside) => {
            let rules = rules.iter().map(|(bag, result)| (names(bag), name(result))).collect();
            Node::Operator(Operator::Comm(rules), node(typed, *inside, into))
        }
    };
    into.add(translated)
}

/// Values are numbers of normal forms.
struct Rewritten<'p> {
    program: &'p Program,
    rewriter: Rewriter<'p>,
    codes: HashMap<TypedId, (FunctionIndex, Vec<VariableId>)>,
    values: HashMap<VariableId, Vec<TypedId>>,
    terms: Vec<Term>,
    numbers: HashMap<Term, u32>,
}

impl Data for Rewritten<'_> {
    type Expression = TypedId;
    type Value = u32;

    fn evaluate(&mut self, expression: &TypedId, environment: &Environment<u32>) -> u32 {
        let (code, free) = &self.codes[expression];
        let values: Vec<Term> = free.iter().map(|variable| self.terms[environment[&variable.0] as usize]).collect();
        let term = self.rewriter.evaluate(*code, &values).expect("rewriting ends");
        *self.numbers.entry(term).or_insert_with(|| {
            self.terms.push(term);
            self.terms.len() as u32 - 1
        })
    }

    fn truth(&self, value: &u32) -> Option<bool> {
        self.text(value).parse().ok()
    }

    fn values(&mut self, variable: u32) -> Vec<u32> {
        let values = self.values[&VariableId(variable)].clone();
        values.iter().map(|value| self.evaluate(value, &Environment::new())).collect()
    }

    fn text(&self, value: &u32) -> String {
        self.program.text(self.rewriter.section(), self.terms[*value as usize])
    }

    fn free_variables(&self, expression: &TypedId) -> Vec<u32> {
        self.codes[expression].1.iter().map(|variable| variable.0).collect()
    }
}
