//! Random specifications that are orthogonal and end by construction.
//!
//! Structured sorts hold sorts declared before them, truth values, lists of such and themselves. A function is defined
//! by cases: a left side with distinct variables is split again and again by the constructors of one of its variables,
//! so left sides never overlap; a case may be split further by a condition and its negation. A right side calls
//! functions declared before, and the function itself on a part of the argument that the cases take apart, so every
//! rewrite ends. A partial specification leaves cases out; it uses no function whose laziness would then show.

use crate::Random;

use super::{Expression, Rule, apply, variable};

/// A sort of a random specification.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sort {
    Bool,
    Struct(usize),
    List(Box<Sort>),
}

#[derive(Clone, Debug)]
struct Constructor {
    name: String,
    domain: Vec<Sort>,
}

#[derive(Clone, Debug)]
struct Function {
    name: String,
    domain: Vec<Sort>,
    codomain: Sort,
}

/// A specification with rules for all functions that it declares and for the built-in functions that it uses.
pub struct Specification {
    structs: Vec<Vec<Constructor>>,
    functions: Vec<Function>,
    /// The rules.
    pub rules: Vec<Rule>,
    /// How many of the rules are equations of the text; they come first.
    equations: usize,
    variables: Vec<(String, Sort)>,
    partial: bool,
    random: Random,
    fresh: usize,
}

/// Variables that may be used, each with its sort.
type Scope = Vec<(String, Sort)>;

/// What a right side may call.
#[derive(Clone)]
struct Calls {
    /// Functions before this one.
    below: usize,
    /// The function itself, the argument that gets smaller, and the variables that are smaller.
    recursion: Option<(usize, usize, Vec<String>)>,
}

impl Specification {
    /// A specification of a seed.
    pub fn new(seed: u64) -> Specification {
        let mut random = Random::new(seed);
        let partial = random.chance(25);
        let mut made = Specification {
            structs: Vec::new(),
            functions: Vec::new(),
            rules: Vec::new(),
            equations: 0,
            variables: Vec::new(),
            partial,
            random,
            fresh: 0,
        };
        for _ in 0..2 + made.random.below(2) {
            made.declare_struct();
        }
        for _ in 0..4 + made.random.below(5) {
            made.declare_function();
        }
        made.equations = made.rules.len();
        made.builtin_rules();
        made
    }

    fn declare_struct(&mut self) {
        let number = self.structs.len();
        let mut constructors = Vec::new();
        for index in 0..2 + self.random.below(3) {
            let mut domain = Vec::new();
            // The first constructor is a constant, so that every sort has a value.
            for _ in 0..if index == 0 { 0 } else { self.random.below(3) } {
                let sort = match self.random.below(10) {
                    0..4 => Sort::Struct(number),
                    4 => Sort::Bool,
                    5 if number > 0 => Sort::List(Box::new(Sort::Struct(self.random.below(number)))),
                    _ => Sort::Struct(self.random.below(number + 1)),
                };
                domain.push(sort);
            }
            constructors.push(Constructor { name: format!("c{number}_{index}"), domain });
        }
        self.structs.push(constructors);
    }

    fn sort(&mut self) -> Sort {
        match self.random.below(8) {
            0 | 1 => Sort::Bool,
            2 => Sort::List(Box::new(Sort::Struct(self.random.below(self.structs.len())))),
            _ => Sort::Struct(self.random.below(self.structs.len())),
        }
    }

    fn constructors(&self, sort: &Sort) -> Vec<Constructor> {
        let constructor = |name: &str, domain: Vec<Sort>| Constructor { name: name.to_string(), domain };
        match sort {
            Sort::Bool => vec![constructor("true", vec![]), constructor("false", vec![])],
            Sort::Struct(number) => self.structs[*number].clone(),
            Sort::List(element) => {
                vec![constructor("[]", vec![]), constructor("|>", vec![(**element).clone(), sort.clone()])]
            }
        }
    }

    fn sort_text(sort: &Sort) -> String {
        match sort {
            Sort::Bool => "Bool".to_string(),
            Sort::Struct(number) => format!("D{number}"),
            Sort::List(element) => format!("List({})", Specification::sort_text(element)),
        }
    }

    fn fresh(&mut self, sort: &Sort) -> String {
        self.fresh += 1;
        let name = format!("v{}", self.fresh);
        self.variables.push((name.clone(), sort.clone()));
        name
    }

    /// A variable that an expression binds itself.
    fn bound(&mut self) -> String {
        self.fresh += 1;
        format!("b{}", self.fresh)
    }

    fn declare_function(&mut self) {
        let number = self.functions.len();
        let domain: Vec<Sort> = (0..1 + self.random.below(3)).map(|_| self.sort()).collect();
        let codomain = self.sort();
        let name = format!("f{number}");
        self.functions.push(Function { name: name.clone(), domain: domain.clone(), codomain: codomain.clone() });
        let scope: Scope = domain.iter().map(|sort| (self.fresh(sort), sort.clone())).collect();
        let left: Vec<Expression> = scope.iter().map(|(name, _)| variable(name)).collect();
        // The argument that the first split takes apart is the one that recursion makes smaller.
        let place = self.random.below(domain.len());
        let mut cases: Vec<(Vec<Expression>, Scope, Vec<String>)> = vec![(left, scope, Vec::new())];
        for round in 0..1 + self.random.below(4) {
            let case = self.random.below(cases.len());
            let (patterns, scope, smaller) = cases.remove(case);
            let split = if round == 0 { place } else { self.random.below(scope.len().max(1)) };
            let Some((name, sort)) = scope.get(split).cloned() else {
                cases.push((patterns, scope, smaller));
                continue;
            };
            let in_place = round == 0 || smaller.contains(&name);
            for constructor in self.constructors(&sort) {
                let parts: Scope = constructor.domain.iter().map(|part| (self.fresh(part), part.clone())).collect();
                let by = apply(&constructor.name, parts.iter().map(|(name, _)| variable(name)).collect());
                let by = [(name.as_str(), &by)];
                let patterns = patterns.iter().map(|pattern| super::substitute(pattern, &by)).collect();
                let mut smaller: Vec<String> = smaller.iter().filter(|other| **other != name).cloned().collect();
                if in_place {
                    smaller
                        .extend(parts.iter().filter(|(_, part)| *part == domain[place]).map(|(name, _)| name.clone()));
                }
                let mut inner: Scope = scope.iter().filter(|(other, _)| *other != name).cloned().collect();
                inner.extend(parts);
                cases.push((patterns, inner, smaller));
            }
        }
        for (patterns, scope, smaller) in cases {
            if self.partial && self.random.chance(15) {
                continue;
            }
            let left = apply(&name, patterns);
            let below = Calls { below: number, recursion: None };
            let calls = Calls { below: number, recursion: Some((number, place, smaller)) };
            if self.random.chance(25) {
                let condition = self.expression(&Sort::Bool, 2, &scope, &below);
                for holds in [true, false] {
                    let condition = if holds { condition.clone() } else { apply("!", vec![condition.clone()]) };
                    let right = self.expression(&codomain, 3, &scope, &calls);
                    self.rules.push(Rule { condition: Some(condition), left: left.clone(), right });
                }
            } else {
                let right = self.expression(&codomain, 3, &scope, &calls);
                self.rules.push(Rule { condition: None, left, right });
            }
        }
    }

    /// Whether a sort has so few values that a quantifier may range over it.
    fn values(&self, sort: &Sort) -> Option<Vec<Expression>> {
        let mut values = Vec::new();
        for constructor in self.constructors(sort) {
            if constructor.domain.iter().any(|part| *part != Sort::Bool) {
                return None;
            }
            let mut tuples: Vec<Vec<Expression>> = vec![Vec::new()];
            for _ in &constructor.domain {
                let with = |tuple: &Vec<Expression>, truth: &str| [&tuple[..], &[apply(truth, vec![])]].concat();
                tuples = tuples.iter().flat_map(|tuple| [with(tuple, "true"), with(tuple, "false")]).collect();
            }
            values.extend(tuples.into_iter().map(|tuple| apply(&constructor.name, tuple)));
        }
        Some(values)
    }

    /// A closed expression of some sort.
    pub fn closed(&mut self) -> Expression {
        let sort = self.sort();
        let calls = Calls { below: self.functions.len(), recursion: None };
        self.expression(&sort, 6, &Vec::new(), &calls)
    }

    fn expression(&mut self, sort: &Sort, depth: usize, scope: &Scope, calls: &Calls) -> Expression {
        let known: Vec<&String> = scope.iter().filter(|(_, other)| other == sort).map(|(name, _)| name).collect();
        if !known.is_empty() && self.random.chance(if depth == 0 { 80 } else { 20 }) {
            return variable(known[self.random.below(known.len())]);
        }
        if depth == 0 {
            return apply(&self.constructors(sort)[0].name.clone(), vec![]);
        }
        match self.random.below(20) {
            0..8 => {
                let callable: Vec<usize> =
                    (0..calls.below).filter(|&index| self.functions[index].codomain == *sort).collect();
                if !callable.is_empty() {
                    let function = self.functions[callable[self.random.below(callable.len())]].clone();
                    let arguments = self.expressions(&function.domain, depth - 1, scope, calls);
                    return apply(&function.name, arguments);
                }
            }
            8..11 => {
                if let Some((function, place, smaller)) = calls.recursion.clone()
                    && self.functions[function].codomain == *sort
                    && !smaller.is_empty()
                {
                    let function = self.functions[function].clone();
                    // A recursion inside the arguments of a recursion would grow beyond every bound.
                    let inside = Calls { recursion: None, ..calls.clone() };
                    let mut arguments = self.expressions(&function.domain, depth - 1, scope, &inside);
                    arguments[place] = variable(&smaller[self.random.below(smaller.len())]);
                    return apply(&function.name, arguments);
                }
            }
            11 if !self.partial => {
                let condition = self.expression(&Sort::Bool, depth - 1, scope, calls);
                let branches = self.expressions(&[sort.clone(), sort.clone()], depth - 1, scope, calls);
                return apply("if", [vec![condition], branches].concat());
            }
            12 => {
                if let Some(made) = self.higher_order(sort, depth, scope, calls) {
                    return made;
                }
            }
            13 => {
                // The sort of `[]` would be open in a definition.
                let value_sort = Sort::Struct(self.random.below(self.structs.len()));
                let name = self.bound();
                let inner: Scope = [&scope[..], &[(name.clone(), value_sort.clone())]].concat();
                let body = self.expression(sort, depth - 1, &inner, calls);
                let value = self.expression(&value_sort, depth - 1, scope, calls);
                let variables = vec![(name, Specification::sort_text(&value_sort))];
                return Expression::Apply(Box::new(Expression::Lambda(variables, Box::new(body))), vec![value]);
            }
            14..16 if *sort == Sort::Bool && !self.partial => return self.truth(depth, scope, calls),
            14 if matches!(sort, Sort::List(_)) && !self.partial => {
                return apply("++", self.expressions(&[sort.clone(), sort.clone()], depth - 1, scope, calls));
            }
            _ => {}
        }
        let constructors = self.constructors(sort);
        let constructor = constructors[self.random.below(constructors.len())].clone();
        let arguments = self.expressions(&constructor.domain, depth - 1, scope, calls);
        apply(&constructor.name, arguments)
    }

    fn expressions(&mut self, sorts: &[Sort], depth: usize, scope: &Scope, calls: &Calls) -> Vec<Expression> {
        sorts.iter().map(|sort| self.expression(sort, depth, scope, calls)).collect()
    }

    /// A function of one argument as a value: declared, or a lambda. In a partial specification a lambda could stay in
    /// a normal form, whose text would then depend on how it is printed.
    fn function_value(
        &mut self,
        from: &Sort,
        to: &Sort,
        depth: usize,
        scope: &Scope,
        calls: &Calls,
    ) -> Option<Expression> {
        let declared: Vec<String> = self.functions[..calls.below]
            .iter()
            .filter(|function| function.domain == [from.clone()] && function.codomain == *to)
            .map(|function| function.name.clone())
            .collect();
        if !declared.is_empty() && self.random.chance(60) {
            return Some(apply(&declared[self.random.below(declared.len())], vec![]));
        }
        if self.partial {
            return None;
        }
        let name = self.bound();
        let inner: Scope = [&scope[..], &[(name.clone(), from.clone())]].concat();
        let calls = Calls { recursion: None, ..calls.clone() };
        let body = self.expression(to, depth - 1, &inner, &calls);
        Some(Expression::Lambda(vec![(name, Specification::sort_text(from))], Box::new(body)))
    }

    fn higher_order(&mut self, sort: &Sort, depth: usize, scope: &Scope, calls: &Calls) -> Option<Expression> {
        let (name, element) = match sort {
            Sort::List(element) => ("each", &**element),
            _ => ("twice", sort),
        };
        let function = self.function_value(element, element, depth, scope, calls)?;
        let argument = self.expression(sort, depth - 1, scope, calls);
        Some(apply(&format!("{name}{}", Specification::tag(element)), vec![function, argument]))
    }

    fn tag(sort: &Sort) -> String {
        match sort {
            Sort::Bool => "B".to_string(),
            Sort::Struct(number) => number.to_string(),
            Sort::List(_) => unreachable!("functions of lists take their elements"),
        }
    }

    /// A built-in function to truth values.
    fn truth(&mut self, depth: usize, scope: &Scope, calls: &Calls) -> Expression {
        match self.random.below(7) {
            0 => apply("!", self.expressions(&[Sort::Bool], depth - 1, scope, calls)),
            1 => apply("&&", self.expressions(&[Sort::Bool, Sort::Bool], depth - 1, scope, calls)),
            2 => apply("||", self.expressions(&[Sort::Bool, Sort::Bool], depth - 1, scope, calls)),
            3 => {
                let sort = self.sort();
                let (name, Some(values)) = (self.bound(), self.values(&sort)) else {
                    return apply("true", vec![]);
                };
                let inner: Scope = [&scope[..], &[(name.clone(), sort.clone())]].concat();
                let body = self.expression(&Sort::Bool, depth - 1, &inner, calls);
                let variable = (name, Specification::sort_text(&sort));
                Expression::Forall(self.random.chance(50), variable, values, Box::new(body))
            }
            4 => {
                let element = Sort::Struct(self.random.below(self.structs.len()));
                let list = Sort::List(Box::new(element.clone()));
                apply("in", self.expressions(&[element, list], depth - 1, scope, calls))
            }
            comparison => {
                let sort = self.sort();
                let operator = if comparison == 5 { "==" } else { ["<", "<="][self.random.below(2)] };
                apply(operator, self.expressions(&[sort.clone(), sort], depth - 1, scope, calls))
            }
        }
    }

    /// The rules of what is not in the text.
    fn builtin_rules(&mut self) {
        let (a, b) = (|| variable("a"), || variable("b"));
        let (yes, no) = (|| apply("true", vec![]), || apply("false", vec![]));
        let mut rules = vec![
            (apply("!", vec![yes()]), no()),
            (apply("!", vec![no()]), yes()),
            (apply("&&", vec![yes(), a()]), a()),
            (apply("&&", vec![no(), a()]), no()),
            (apply("||", vec![yes(), a()]), yes()),
            (apply("||", vec![no(), a()]), a()),
            (apply("if", vec![yes(), a(), b()]), a()),
            (apply("if", vec![no(), a(), b()]), b()),
        ];
        let rest = |name: &str| variable(name);
        let cons = |one, list| apply("|>", vec![one, list]);
        let empty = || apply("[]", vec![]);
        rules.push((apply("++", vec![empty(), a()]), a()));
        let tail = apply("++", vec![rest("s"), b()]);
        rules.push((apply("++", vec![cons(a(), rest("s")), b()]), cons(a(), tail)));
        rules.push((apply("in", vec![a(), empty()]), no()));
        let one = apply("==", vec![a(), b()]);
        let other = apply("in", vec![a(), rest("s")]);
        rules.push((apply("in", vec![a(), cons(b(), rest("s"))]), apply("||", vec![one, other])));
        let mut sorts: Vec<Vec<Constructor>> = self.structs.clone();
        // Lists of all sorts share their constructors, and so do truth values.
        sorts.push(self.constructors(&Sort::List(Box::new(Sort::Bool))));
        sorts.push(self.constructors(&Sort::Bool).into_iter().rev().collect());
        for constructors in sorts {
            for (i, one) in constructors.iter().enumerate() {
                for (j, other) in constructors.iter().enumerate() {
                    let names = |letter: &str, of: &Constructor| -> Vec<Expression> {
                        (0..of.domain.len()).map(|part| variable(&format!("{letter}{part}"))).collect()
                    };
                    let (ones, others) = (names("x", one), names("y", other));
                    let pair = vec![apply(&one.name, ones.clone()), apply(&other.name, others.clone())];
                    for operator in ["==", "<", "<="] {
                        let holds = if i == j { operator != "<" } else { operator != "==" && i < j };
                        let mut result = if holds { yes() } else { no() };
                        let parts = if i == j { ones.len() } else { 0 };
                        for (x, y) in ones.iter().zip(&others).take(parts).rev() {
                            let both = vec![x.clone(), y.clone()];
                            result = apply("&&", vec![apply("==", both.clone()), result]);
                            if operator != "==" {
                                result = apply("||", vec![apply("<", both), result]);
                            }
                        }
                        rules.push((apply(operator, pair.clone()), result));
                    }
                }
            }
        }
        for sort in self.tagged_sorts() {
            let tag = Specification::tag(&sort);
            let (f, x) = (|| variable("f"), || variable("x"));
            let once = |value| Expression::Apply(Box::new(f()), vec![value]);
            let (twice, each) = (format!("twice{tag}"), format!("each{tag}"));
            rules.push((apply(&twice, vec![f(), x()]), once(once(x()))));
            rules.push((apply(&each, vec![f(), empty()]), empty()));
            let tail = apply(&each, vec![f(), rest("s")]);
            rules.push((apply(&each, vec![f(), cons(x(), rest("s"))]), cons(once(x()), tail)));
        }
        self.rules.extend(rules.into_iter().map(|(left, right)| Rule { condition: None, left, right }));
    }

    fn tagged_sorts(&self) -> Vec<Sort> {
        let structs = (0..self.structs.len()).map(Sort::Struct);
        [Sort::Bool].into_iter().chain(structs).collect()
    }

    /// The specification as mCRL2 text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (number, constructors) in self.structs.iter().enumerate() {
            let constructors: Vec<String> = constructors
                .iter()
                .map(|Constructor { name, domain }| {
                    let domain: Vec<String> = domain.iter().map(Specification::sort_text).collect();
                    if domain.is_empty() { name.clone() } else { format!("{name}({})", domain.join(", ")) }
                })
                .collect();
            text += &format!("sort D{number} = struct {};\n", constructors.join(" | "));
        }
        for function in &self.functions {
            let domain: Vec<String> = function.domain.iter().map(Specification::sort_text).collect();
            let codomain = Specification::sort_text(&function.codomain);
            text += &format!("map {}: {} -> {codomain};\n", function.name, domain.join(" # "));
        }
        for sort in self.tagged_sorts() {
            let (tag, sort) = (Specification::tag(&sort), Specification::sort_text(&sort));
            text += &format!(
                "map twice{tag}: ({sort} -> {sort}) # {sort} -> {sort};\n\
                 map each{tag}: ({sort} -> {sort}) # List({sort}) -> List({sort});\n\
                 var f: {sort} -> {sort}; x: {sort}; s: List({sort});\n\
                 eqn twice{tag}(f, x) = f(f(x)); each{tag}(f, []) = [];\n    \
                 each{tag}(f, x |> s) = f(x) |> each{tag}(f, s);\n"
            );
        }
        if self.equations == 0 {
            return text;
        }
        text += "var\n";
        for (name, sort) in &self.variables {
            text += &format!("    {name}: {};\n", Specification::sort_text(sort));
        }
        text += "eqn\n";
        for Rule { condition, left, right } in &self.rules[..self.equations] {
            if let Some(condition) = condition {
                text += &format!("    {} -> ", condition.text());
            }
            text += &format!("    {} = {};\n", left.text(), right.text());
        }
        text
    }
}
