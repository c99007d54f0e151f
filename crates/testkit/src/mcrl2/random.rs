//! Random specifications with data, communication and termination: as text, and as what it means.
//!
//! Sequential processes over a few small sorts call each other in tail position, some after a process that ends. The
//! initial process puts one to three of them in parallel, below random sets of actions. Arguments of calls stay within
//! finite sorts (numbers are taken modulo three), so most specifications have less than a thousand states. Nothing here
//! is above what mCRL2 linearises: `||` and sets of actions stand above sequential processes only.

use trefoil_lts::Lts;

use super::semantics::{Failure, explore};
use super::{Data, Environment, Node, NodeId, Operator, Specification, Variable};
use crate::Random;

/// Sorts of random specifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// `Bool`
    Truth,
    /// `D`, a sort of two or three constants.
    Element,
    /// `Nat`
    Number,
    /// `Pair`, of an element and a truth value.
    Pair,
}

const SORTS: [Sort; 4] = [Sort::Truth, Sort::Element, Sort::Number, Sort::Pair];

impl Sort {
    fn text(self) -> &'static str {
        match self {
            Sort::Truth => "Bool",
            Sort::Element => "D",
            Sort::Number => "Nat",
            Sort::Pair => "Pair",
        }
    }
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// A truth value.
    Truth(bool),
    /// An element of `D`.
    Element(usize),
    /// A number.
    Number(usize),
    /// A pair.
    Pair(usize, bool),
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A variable.
    Variable(Variable),
    /// A constant.
    Constant(Value),
    /// `next(d)`
    Next(Box<Expression>),
    /// `(n + 1) mod 3`
    Successor(Box<Expression>),
    /// `pair(d, b)`
    Pair(Box<Expression>, Box<Expression>),
    /// `first(p)`
    First(Box<Expression>),
    /// `second(p)`
    Second(Box<Expression>),
    /// `x == y`
    Equal(Box<Expression>, Box<Expression>),
    /// `n < m`
    Less(Box<Expression>, Box<Expression>),
    /// `!b`
    Not(Box<Expression>),
    /// `b && c`
    And(Box<Expression>, Box<Expression>),
    /// `if(b, x, y)`
    If(Box<Expression>, Box<Expression>, Box<Expression>),
}

/// The data of a random specification.
#[derive(Clone, Debug)]
pub struct RandomData {
    /// What `next` gives for each element of `D`.
    next: Vec<usize>,
    /// The sorts of the variables.
    sorts: Vec<Sort>,
}

impl RandomData {
    fn all(&self, sort: Sort) -> Vec<Value> {
        match sort {
            Sort::Truth => [false, true].map(Value::Truth).to_vec(),
            Sort::Element => (0..self.next.len()).map(Value::Element).collect(),
            Sort::Number => panic!("no sum is over numbers"),
            Sort::Pair => (0..self.next.len())
                .flat_map(|element| [false, true].map(|truth| Value::Pair(element, truth)))
                .collect(),
        }
    }

    fn written(&self, expression: &Expression) -> String {
        let text = |inside: &Expression| self.written(inside);
        match expression {
            Expression::Variable(variable) => format!("x{variable}"),
            Expression::Constant(value) => self.text(value),
            Expression::Next(inside) => format!("next({})", text(inside)),
            Expression::Successor(inside) => format!("({} + 1) mod 3", text(inside)),
            Expression::Pair(first, second) => format!("pair({}, {})", text(first), text(second)),
            Expression::First(pair) => format!("first({})", text(pair)),
            Expression::Second(pair) => format!("second({})", text(pair)),
            Expression::Equal(left, right) => format!("(({}) == ({}))", text(left), text(right)),
            Expression::Less(left, right) => format!("(({}) < ({}))", text(left), text(right)),
            Expression::Not(inside) => format!("!({})", text(inside)),
            Expression::And(left, right) => format!("({} && {})", text(left), text(right)),
            Expression::If(condition, yes, no) => format!("if({}, {}, {})", text(condition), text(yes), text(no)),
        }
    }
}

impl Data for RandomData {
    type Expression = Expression;
    type Value = Value;

    fn evaluate(&mut self, expression: &Expression, environment: &Environment<Value>) -> Value {
        let mut value = |inside: &Expression| self.evaluate(inside, environment);
        match expression {
            Expression::Variable(variable) => environment[variable],
            Expression::Constant(constant) => *constant,
            Expression::Next(inside) => {
                let Value::Element(element) = value(inside) else { panic!("an element") };
                Value::Element(self.next[element])
            }
            Expression::Successor(inside) => {
                let Value::Number(number) = value(inside) else { panic!("a number") };
                Value::Number((number + 1) % 3)
            }
            Expression::Pair(first, second) => {
                let (Value::Element(first), Value::Truth(second)) = (value(first), value(second)) else {
                    panic!("parts of a pair")
                };
                Value::Pair(first, second)
            }
            Expression::First(pair) => {
                let Value::Pair(first, _) = value(pair) else { panic!("a pair") };
                Value::Element(first)
            }
            Expression::Second(pair) => {
                let Value::Pair(_, second) = value(pair) else { panic!("a pair") };
                Value::Truth(second)
            }
            Expression::Equal(left, right) => Value::Truth(value(left) == value(right)),
            Expression::Less(left, right) => Value::Truth(value(left) < value(right)),
            Expression::Not(inside) => Value::Truth(value(inside) == Value::Truth(false)),
            Expression::And(left, right) => {
                Value::Truth(value(left) == Value::Truth(true) && value(right) == Value::Truth(true))
            }
            Expression::If(condition, yes, no) => {
                if value(condition) == Value::Truth(true) {
                    value(yes)
                } else {
                    value(no)
                }
            }
        }
    }

    fn truth(&self, value: &Value) -> Option<bool> {
        match value {
            Value::Truth(truth) => Some(*truth),
            _ => None,
        }
    }

    fn values(&mut self, variable: Variable) -> Vec<Value> {
        self.all(self.sorts[variable as usize])
    }

    fn text(&self, value: &Value) -> String {
        match value {
            Value::Truth(truth) => truth.to_string(),
            Value::Element(element) => format!("d{}", element + 1),
            Value::Number(number) => number.to_string(),
            Value::Pair(first, second) => format!("pair(d{}, {second})", first + 1),
        }
    }

    fn free_variables(&self, expression: &Expression) -> Vec<Variable> {
        match expression {
            Expression::Variable(variable) => vec![*variable],
            Expression::Constant(_) => Vec::new(),
            Expression::Next(inside)
            | Expression::Successor(inside)
            | Expression::First(inside)
            | Expression::Second(inside)
            | Expression::Not(inside) => self.free_variables(inside),
            Expression::Pair(left, right)
            | Expression::Equal(left, right)
            | Expression::Less(left, right)
            | Expression::And(left, right) => [left, right].iter().flat_map(|part| self.free_variables(part)).collect(),
            Expression::If(condition, yes, no) => {
                [condition, yes, no].iter().flat_map(|part| self.free_variables(part)).collect()
            }
        }
    }
}

/// A random specification.
#[derive(Clone, Debug)]
pub struct RandomSpecification {
    /// Its processes.
    pub specification: Specification<Expression>,
    /// Its data.
    pub data: RandomData,
    /// Its text.
    pub text: String,
}

/// The actions, with the sorts of their arguments. `o` is overloaded.
const ACTIONS: [(&str, &[Sort]); 14] = [
    ("a", &[]),
    ("b", &[]),
    ("c", &[]),
    ("r", &[Sort::Element]),
    ("s", &[Sort::Element]),
    ("t", &[Sort::Element]),
    ("u", &[Sort::Number, Sort::Truth]),
    ("v", &[Sort::Number, Sort::Truth]),
    ("w", &[Sort::Number, Sort::Truth]),
    ("p", &[Sort::Pair]),
    ("q", &[Sort::Pair]),
    ("o", &[]),
    ("o", &[Sort::Element]),
    ("o", &[Sort::Truth, Sort::Number]),
];

/// Rules of `comm`; at most one of each row is used.
const RULES: [&[(&[&str], &str)]; 4] = [
    &[(&["a", "b"], "c"), (&["a", "a"], "b"), (&["a", "a", "b"], "c"), (&["a", "a"], "a")],
    &[(&["r", "s"], "t"), (&["r", "s"], "t"), (&["r", "r"], "s"), (&["r", "r", "s"], "r")],
    &[(&["u", "v"], "w"), (&["u", "v"], "w"), (&["v", "v"], "v")],
    &[(&["p", "q"], "p"), (&["p", "q"], "q"), (&["q", "q"], "p")],
];

impl RandomSpecification {
    /// A specification.
    pub fn new(random: &mut Random) -> RandomSpecification {
        let elements = 2 + random.below(2);
        let next = (0..elements).map(|_| random.below(elements)).collect();
        let mut writer = Writer {
            random,
            data: RandomData { next, sorts: Vec::new() },
            specification: Specification { nodes: Vec::new(), definitions: Vec::new(), init: NodeId(0) },
            texts: Vec::new(),
            names: Vec::new(),
            ending: 0,
        };
        writer.definitions();
        let init = writer.composition(3);
        writer.specification.init = init;
        let text = writer.whole(init);
        RandomSpecification { specification: writer.specification, data: writer.data, text }
    }

    /// Its transition system.
    pub fn lts(&mut self, most_states: usize) -> Result<Lts, Failure> {
        explore(&self.specification, &Environment::new(), &mut self.data, most_states)
    }
}

struct Writer<'r> {
    random: &'r mut Random,
    data: RandomData,
    specification: Specification<Expression>,
    /// The text of each process expression.
    texts: Vec<String>,
    /// The name of each definition.
    names: Vec<String>,
    /// How many definitions always end; they come first and call only those before them.
    ending: usize,
}

/// Where a process stands.
struct Scope {
    variables: Vec<Variable>,
    /// The definition whose body it is.
    own: usize,
    /// Whether it always ends, so that something may follow it.
    ends: bool,
}

impl Writer<'_> {
    fn chance(&mut self, percent: usize) -> bool {
        self.random.chance(percent)
    }

    fn add(&mut self, node: Node<Expression>, text: String) -> NodeId {
        self.texts.push(text);
        self.specification.add(node)
    }

    fn fresh(&mut self, sort: Sort) -> Variable {
        self.data.sorts.push(sort);
        self.data.sorts.len() as Variable - 1
    }

    fn expression(&mut self, sort: Sort, scope: &[Variable], depth: usize) -> Expression {
        let known: Vec<Variable> =
            scope.iter().copied().filter(|&variable| self.data.sorts[variable as usize] == sort).collect();
        if !known.is_empty() && self.chance(75) {
            return Expression::Variable(known[self.random.below(known.len())]);
        }
        let inside = |writer: &mut Self, sort| Box::new(writer.expression(sort, scope, depth - 1));
        if depth > 0 && self.chance(60) {
            if self.chance(15) {
                return Expression::If(inside(self, Sort::Truth), inside(self, sort), inside(self, sort));
            }
            match sort {
                Sort::Element if self.chance(25) => return Expression::First(inside(self, Sort::Pair)),
                Sort::Element => return Expression::Next(inside(self, Sort::Element)),
                Sort::Number => return Expression::Successor(inside(self, Sort::Number)),
                Sort::Pair => return Expression::Pair(inside(self, Sort::Element), inside(self, Sort::Truth)),
                Sort::Truth => match self.random.below(5) {
                    0 => return Expression::Not(inside(self, Sort::Truth)),
                    1 => return Expression::And(inside(self, Sort::Truth), inside(self, Sort::Truth)),
                    2 => return Expression::Less(inside(self, Sort::Number), inside(self, Sort::Number)),
                    3 => return Expression::Second(inside(self, Sort::Pair)),
                    _ => {
                        let sort = SORTS[self.random.below(SORTS.len())];
                        return Expression::Equal(inside(self, sort), inside(self, sort));
                    }
                },
            }
        }
        let elements = self.data.next.len();
        Expression::Constant(match sort {
            Sort::Truth => Value::Truth(self.chance(50)),
            Sort::Element => Value::Element(self.random.below(elements)),
            Sort::Number => Value::Number(self.random.below(3)),
            Sort::Pair => Value::Pair(self.random.below(elements), self.chance(50)),
        })
    }

    fn definitions(&mut self) {
        self.ending = self.random.below(3);
        let total = self.ending + 1 + self.random.below(3);
        for index in 0..total {
            let parameters: Vec<Variable> = (0..self.random.below(3))
                .map(|_| {
                    let sort = SORTS[self.random.below(SORTS.len())];
                    self.fresh(sort)
                })
                .collect();
            // Several definitions may share a name when their parameters differ.
            let sorts = |data: &RandomData, parameters: &[Variable]| -> Vec<Sort> {
                parameters.iter().map(|&parameter| data.sorts[parameter as usize]).collect()
            };
            let own = sorts(&self.data, &parameters);
            let taken = (0..index).any(|other| {
                self.names[other] == "P" && sorts(&self.data, &self.specification.definitions[other].0) == own
            });
            let name = if taken || self.chance(70) { format!("P{index}") } else { "P".to_string() };
            self.names.push(name);
            self.specification.definitions.push((parameters, NodeId(usize::MAX)));
        }
        for index in 0..total {
            let variables = self.specification.definitions[index].0.clone();
            let scope = Scope { variables, own: index, ends: index < self.ending };
            let mut body = self.process(&scope, 2);
            // Processes that go on offer more.
            while !scope.ends && self.chance(60) {
                let other = self.process(&scope, 1);
                let text = format!("({} + {})", self.texts[body.0], self.texts[other.0]);
                body = self.add(Node::Choice(body, other), text);
            }
            self.specification.definitions[index].1 = body;
        }
    }

    /// A process whose calls come after an action.
    fn process(&mut self, scope: &Scope, depth: usize) -> NodeId {
        match self.random.below(if depth == 0 { 1 } else { 6 }) {
            0 | 1 => self.sequence(scope, depth),
            2 | 3 => {
                let (left, right) = (self.process(scope, depth - 1), self.process(scope, depth - 1));
                let text = format!("({} + {})", self.texts[left.0], self.texts[right.0]);
                self.add(Node::Choice(left, right), text)
            }
            4 => {
                let sort = [Sort::Truth, Sort::Element, Sort::Pair][self.random.below(3)];
                let variable = self.fresh(sort);
                let mut variables = scope.variables.clone();
                variables.push(variable);
                let inside = self.process(&Scope { variables, ..*scope }, depth - 1);
                let text = format!("(sum x{variable}: {}. {})", sort.text(), self.texts[inside.0]);
                self.add(Node::Sum(vec![variable], inside), text)
            }
            _ => {
                let condition = self.expression(Sort::Truth, &scope.variables, 2);
                let yes = self.process(scope, depth - 1);
                // A process that must end has two branches.
                let no = (scope.ends || self.chance(50)).then(|| self.process(scope, depth - 1));
                let mut text = format!("(({}) -> {}", self.data.written(&condition), self.texts[yes.0]);
                if let Some(no) = no {
                    text.push_str(&format!(" <> {}", self.texts[no.0]));
                }
                text.push(')');
                self.add(Node::Condition(condition, yes, no), text)
            }
        }
    }

    /// Actions, and then an end, a call or a choice.
    fn sequence(&mut self, scope: &Scope, depth: usize) -> NodeId {
        let first = self.actions(scope);
        let then = match self.random.below(20) {
            0 | 1 => return first,
            2 if !scope.ends => self.add(Node::Delta, "delta".to_string()),
            3..=6 if depth > 0 => self.process(scope, depth - 1),
            7 | 8 => self.sequence(scope, depth),
            // A process that ends, and what follows it.
            9..=11 if self.ending.min(scope.own) > 0 => {
                let called = self.random.below(self.ending.min(scope.own));
                let call = self.call(called, scope);
                if scope.ends && self.chance(50) {
                    call
                } else {
                    let after = self.sequence(scope, 0);
                    let text = format!("({} . {})", self.texts[call.0], self.texts[after.0]);
                    self.add(Node::Sequence(call, after), text)
                }
            }
            _ if scope.ends => return first,
            _ => {
                let total = self.names.len();
                let called = if self.chance(60) { scope.own } else { self.random.below(total) };
                self.call(called, scope)
            }
        };
        let text = format!("({} . {})", self.texts[first.0], self.texts[then.0]);
        self.add(Node::Sequence(first, then), text)
    }

    fn actions(&mut self, scope: &Scope) -> NodeId {
        let count = [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3][self.random.below(16)];
        let mut actions = Vec::new();
        let mut texts = Vec::new();
        for _ in 0..count {
            let (name, sorts) = ACTIONS[self.random.below(ACTIONS.len())];
            let arguments: Vec<Expression> =
                sorts.iter().map(|&sort| self.expression(sort, &scope.variables, 1)).collect();
            let written: Vec<String> = arguments.iter().map(|argument| self.data.written(argument)).collect();
            texts.push(if written.is_empty() { name.to_string() } else { format!("{name}({})", written.join(", ")) });
            actions.push((name.to_string(), arguments));
        }
        let text = if texts.is_empty() { "tau".to_string() } else { texts.join("|") };
        self.add(Node::Actions(actions), text)
    }

    /// A call; one of its own definition may keep parameters silently.
    fn call(&mut self, called: usize, scope: &Scope) -> NodeId {
        let parameters = self.specification.definitions[called].0.clone();
        let name = self.names[called].clone();
        let own = called == scope.own && self.names.iter().filter(|other| **other == name).count() == 1;
        let short = own && self.chance(40);
        let mut values = Vec::new();
        let mut texts = Vec::new();
        for parameter in parameters {
            if short && self.chance(50) {
                values.push(Expression::Variable(parameter));
                continue;
            }
            let value = self.expression(self.data.sorts[parameter as usize], &scope.variables, 1);
            let written = self.data.written(&value);
            texts.push(if short { format!("x{parameter} = {written}") } else { written });
            values.push(value);
        }
        let text = if short || !texts.is_empty() { format!("{name}({})", texts.join(", ")) } else { name };
        self.add(Node::Call(called, values), text)
    }

    /// Processes in parallel below sets of actions.
    fn composition(&mut self, components: usize) -> NodeId {
        let inside = if components > 1 && self.chance(80) {
            let left = self.composition(components / 2);
            let right = self.composition(components - 1);
            let text = format!("({} || {})", self.texts[left.0], self.texts[right.0]);
            self.add(Node::Parallel(left, right), text)
        } else {
            // Mostly a process that goes on.
            let least = if self.chance(85) { self.ending } else { 0 };
            let called = least + self.random.below(self.names.len() - least);
            self.call(called, &Scope { variables: Vec::new(), own: usize::MAX, ends: false })
        };
        // Sets are of use where processes meet.
        let most =
            if matches!(self.specification.nodes[inside.0], Node::Parallel(..)) || self.chance(25) { 3 } else { 1 };
        let mut whole = inside;
        for _ in 0..self.random.below(most) {
            whole = self.operator(whole);
        }
        whole
    }

    fn names_of_actions(&mut self, percent: usize) -> Vec<String> {
        let mut names: Vec<String> =
            ACTIONS.iter().map(|(name, _)| name.to_string()).filter(|_| self.random.chance(percent)).collect();
        names.sort();
        names.dedup();
        names
    }

    fn operator(&mut self, inside: NodeId) -> NodeId {
        let body = self.texts[inside.0].clone();
        let (operator, text) = match self.random.below(7) {
            0 => {
                let names = self.names_of_actions(8);
                if names.is_empty() {
                    return inside;
                }
                let text = format!("block({{{}}}, {body})", names.join(", "));
                (Operator::Block(names), text)
            }
            1 => {
                let names = self.names_of_actions(25);
                if names.is_empty() {
                    return inside;
                }
                let text = format!("hide({{{}}}, {body})", names.join(", "));
                (Operator::Hide(names), text)
            }
            2 => {
                let families = [["a", "b", "c"], ["r", "s", "t"], ["u", "v", "w"]];
                let mut pairs = Vec::new();
                for family in families {
                    let (from, to) = (self.random.below(3), self.random.below(3));
                    if from != to && self.chance(60) {
                        pairs.push((family[from].to_string(), family[to].to_string()));
                    }
                }
                if pairs.is_empty() {
                    return inside;
                }
                let written: Vec<String> = pairs.iter().map(|(from, to)| format!("{from} -> {to}")).collect();
                let text = format!("rename({{{}}}, {body})", written.join(", "));
                (Operator::Rename(pairs), text)
            }
            3 | 4 => {
                let mut bags: Vec<Vec<String>> = self.names_of_actions(85).into_iter().map(|name| vec![name]).collect();
                for _ in 0..self.random.below(8) {
                    let mut bag: Vec<String> = (0..2 + self.random.below(2))
                        .map(|_| ACTIONS[self.random.below(ACTIONS.len())].0.to_string())
                        .collect();
                    bag.sort();
                    if !bags.contains(&bag) {
                        bags.push(bag);
                    }
                }
                if bags.is_empty() {
                    return inside;
                }
                let written: Vec<String> = bags.iter().map(|bag| bag.join("|")).collect();
                let text = format!("allow({{{}}}, {body})", written.join(", "));
                (Operator::Allow(bags), text)
            }
            _ => {
                let mut rules = Vec::new();
                for row in RULES {
                    let (names, result) = row[self.random.below(row.len())];
                    if self.chance(60) {
                        rules.push((names.iter().map(|name| name.to_string()).collect::<Vec<_>>(), result.to_string()));
                    }
                }
                if rules.is_empty() {
                    return inside;
                }
                let written: Vec<String> =
                    rules.iter().map(|(names, result)| format!("{} -> {result}", names.join("|"))).collect();
                let text = format!("comm({{{}}}, {body})", written.join(", "));
                (Operator::Comm(rules), text)
            }
        };
        self.add(Node::Operator(operator, inside), text)
    }

    fn whole(&self, init: NodeId) -> String {
        let elements: Vec<String> = (0..self.data.next.len()).map(|element| format!("d{}", element + 1)).collect();
        let mut text =
            format!("sort D = struct {}; Pair = struct pair(first: D, second: Bool);\n", elements.join(" | "));
        text.push_str("map next: D -> D;\neqn");
        for (from, to) in self.data.next.iter().enumerate() {
            text.push_str(&format!(" next({}) = {};", elements[from], elements[*to]));
        }
        text.push_str("\nact");
        for (name, sorts) in ACTIONS {
            let sorts: Vec<&str> = sorts.iter().map(|sort| sort.text()).collect();
            let sorts = if sorts.is_empty() { String::new() } else { format!(": {}", sorts.join(" # ")) };
            text.push_str(&format!(" {name}{sorts};"));
        }
        text.push('\n');
        for (index, (parameters, body)) in self.specification.definitions.iter().enumerate() {
            let parameters: Vec<String> = parameters
                .iter()
                .map(|&parameter| format!("x{parameter}: {}", self.data.sorts[parameter as usize].text()))
                .collect();
            let parameters = if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
            text.push_str(&format!("proc {}{parameters} =\n  {};\n", self.names[index], self.texts[body.0]));
        }
        text.push_str(&format!("init {};\n", self.texts[init.0]));
        text
    }
}
