//! Rewriting straight from the definitions: innermost and outermost, by substitution on trees.
//!
//! A rule applies where its left side matches and the normal form of its condition is `true`. The innermost strategy
//! rewrites arguments first; the outermost strategy looks for the first place from the top at which a rule applies,
//! rewrites there and starts again at the top. Nothing is shared, compiled or remembered. Where rules are orthogonal
//! and every rewrite ends, as in [`random`], both give the one normal form.

pub mod random;

/// An expression or a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A variable.
    Variable(String),
    /// A function symbol.
    Symbol(String),
    /// An application.
    Apply(Box<Expression>, Vec<Expression>),
    /// `lambda x: S. e`; each variable with its sort.
    Lambda(Vec<(String, String)>, Box<Expression>),
    /// `forall x: S. e`, or `exists` where the flag is false, with every value of `S`.
    Forall(bool, (String, String), Vec<Expression>, Box<Expression>),
}

use Expression::{Apply, Forall, Lambda, Symbol, Variable};

/// A function symbol applied to arguments, or alone where there are none.
pub fn apply(name: &str, arguments: Vec<Expression>) -> Expression {
    let symbol = Symbol(name.to_string());
    if arguments.is_empty() { symbol } else { Apply(Box::new(symbol), arguments) }
}

/// A variable.
pub fn variable(name: &str) -> Expression {
    Variable(name.to_string())
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The condition, if it has one.
    pub condition: Option<Expression>,
    /// The left side.
    pub left: Expression,
    /// The right side.
    pub right: Expression,
}

/// What one step makes may not be larger: substitution doubles trees, and nothing is shared.
const LARGEST: usize = 1000;

/// More steps than the caller allows were taken, or more places tried, or an expression grew too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

type Substitution<'e> = Vec<(&'e str, &'e Expression)>;

/// What a variable is replaced by.
fn replaced<'e>(name: &str, by: &[(&str, &'e Expression)]) -> Option<&'e Expression> {
    by.iter().find(|(known, _)| *known == name).map(|(_, expression)| *expression)
}

/// Extends a substitution to one that makes an expression of a pattern.
fn matches<'e>(pattern: &'e Expression, expression: &'e Expression, found: &mut Substitution<'e>) -> bool {
    match (pattern, expression) {
        (Variable(name), _) => match replaced(name, found) {
            Some(before) => before == expression,
            None => {
                found.push((name, expression));
                true
            }
        },
        (Symbol(one), Symbol(other)) => one == other,
        (Apply(one, ones), Apply(other, others)) => {
            ones.len() == others.len()
                && matches(one, other, found)
                && ones.iter().zip(others).all(|(one, other)| matches(one, other, found))
        }
        _ => false,
    }
}

/// Replaces variables. What they are replaced by is closed, so nothing is captured.
fn substitute(expression: &Expression, by: &[(&str, &Expression)]) -> Expression {
    match expression {
        Variable(name) => replaced(name, by).unwrap_or(expression).clone(),
        Symbol(_) => expression.clone(),
        Apply(function, arguments) => Apply(
            Box::new(substitute(function, by)),
            arguments.iter().map(|argument| substitute(argument, by)).collect(),
        ),
        Lambda(variables, body) => {
            let mut inside = by.to_vec();
            inside.retain(|(known, _)| variables.iter().all(|(name, _)| name != known));
            Lambda(variables.clone(), Box::new(substitute(body, &inside)))
        }
        Forall(all, variable, values, body) => {
            let mut inside = by.to_vec();
            inside.retain(|(known, _)| *known != variable.0);
            Forall(*all, variable.clone(), values.clone(), Box::new(substitute(body, &inside)))
        }
    }
}

/// Rules with a count of steps.
pub struct Rewriting<'r> {
    /// The rules.
    pub rules: &'r [Rule],
    /// How many steps may still be taken.
    pub steps: usize,
    /// At how many places rules may still be tried: outermost rewriting tries them from the top after every step.
    pub places: usize,
}

impl Rewriting<'_> {
    fn step(&mut self) -> Result<(), TooLong> {
        self.steps = self.steps.checked_sub(1).ok_or(TooLong)?;
        Ok(())
    }

    /// What one step at the root makes of an expression; `normalise` evaluates conditions.
    fn at_root(
        &mut self,
        expression: &Expression,
        normalise: fn(&mut Self, &Expression) -> Result<Expression, TooLong>,
    ) -> Result<Option<Expression>, TooLong> {
        self.places = self.places.checked_sub(1).ok_or(TooLong)?;
        let next = self.rewritten(expression, normalise)?;
        match &next {
            Some(next) if next.size() > LARGEST => Err(TooLong),
            _ => Ok(next),
        }
    }

    fn rewritten(
        &mut self,
        expression: &Expression,
        normalise: fn(&mut Self, &Expression) -> Result<Expression, TooLong>,
    ) -> Result<Option<Expression>, TooLong> {
        if let Apply(function, arguments) = expression
            && let Lambda(variables, body) = &**function
        {
            self.step()?;
            let by = variables.iter().map(|(name, _)| name.as_str()).zip(arguments).collect::<Vec<_>>();
            return Ok(Some(substitute(body, &by)));
        }
        if let Forall(all, (name, _), values, body) = expression {
            self.step()?;
            let (connective, end) = if *all { ("&&", "true") } else { ("||", "false") };
            return Ok(Some(values.iter().rev().fold(apply(end, vec![]), |rest, value| {
                let one = substitute(body, &[(name, value)]);
                apply(connective, vec![one, rest])
            })));
        }
        for rule in self.rules {
            let mut found = Substitution::new();
            if !matches(&rule.left, expression, &mut found) {
                continue;
            }
            if let Some(condition) = &rule.condition
                && normalise(self, &substitute(condition, &found))? != apply("true", vec![])
            {
                continue;
            }
            self.step()?;
            return Ok(Some(substitute(&rule.right, &found)));
        }
        Ok(None)
    }

    /// The normal form, arguments first.
    pub fn innermost(&mut self, expression: &Expression) -> Result<Expression, TooLong> {
        let inside = match expression {
            Apply(function, arguments) => {
                let function = self.innermost(function)?;
                let arguments: Result<_, _> = arguments.iter().map(|argument| self.innermost(argument)).collect();
                Apply(Box::new(function), arguments?)
            }
            other => other.clone(),
        };
        match self.at_root(&inside, Self::innermost)? {
            Some(next) => self.innermost(&next),
            None => Ok(inside),
        }
    }

    /// The normal form, from the top.
    pub fn outermost(&mut self, expression: &Expression) -> Result<Expression, TooLong> {
        let mut expression = expression.clone();
        while let Some(next) = self.outermost_step(&expression)? {
            expression = next;
        }
        Ok(expression)
    }

    fn outermost_step(&mut self, expression: &Expression) -> Result<Option<Expression>, TooLong> {
        if let Some(next) = self.at_root(expression, Self::outermost)? {
            return Ok(Some(next));
        }
        let Apply(function, arguments) = expression else { return Ok(None) };
        if let Some(next) = self.outermost_step(function)? {
            return Ok(Some(Apply(Box::new(next), arguments.clone())));
        }
        for (place, argument) in arguments.iter().enumerate() {
            if let Some(next) = self.outermost_step(argument)? {
                let mut arguments = arguments.clone();
                arguments[place] = next;
                return Ok(Some(Apply(function.clone(), arguments)));
            }
        }
        Ok(None)
    }
}

/// Operators that stand between their operands in mCRL2.
const INFIX: [&str; 8] = ["&&", "||", "==", "<", "<=", "|>", "++", "in"];

impl Expression {
    /// How many symbols and variables it has.
    fn size(&self) -> usize {
        match self {
            Variable(_) | Symbol(_) => 1,
            Apply(function, arguments) => function.size() + arguments.iter().map(Expression::size).sum::<usize>(),
            Lambda(_, body) | Forall(_, _, _, body) => 1 + body.size(),
        }
    }

    /// As mCRL2 text, with every operator in brackets.
    pub fn text(&self) -> String {
        let list = |parts: &[Expression]| parts.iter().map(Expression::text).collect::<Vec<_>>().join(", ");
        match self {
            Variable(name) | Symbol(name) => name.clone(),
            Apply(function, arguments) => match (&**function, &arguments[..]) {
                (Symbol(name), [left, right]) if INFIX.contains(&name.as_str()) => {
                    format!("({} {name} {})", left.text(), right.text())
                }
                (Symbol(name), [operand]) if name == "!" => format!("!({})", operand.text()),
                (Symbol(name), _) => format!("{name}({})", list(arguments)),
                // Every other local definition is written as one.
                (Lambda(variables, body), [value]) if variables[0].0.ends_with(['0', '2', '4', '6', '8']) => {
                    format!("({} whr {} = {} end)", body.text(), variables[0].0, value.text())
                }
                _ => format!("({})({})", function.text(), list(arguments)),
            },
            Lambda(variables, body) => {
                let variables: Vec<String> = variables.iter().map(|(name, sort)| format!("{name}: {sort}")).collect();
                format!("(lambda {}. {})", variables.join(", "), body.text())
            }
            Forall(all, (name, sort), _, body) => {
                format!("({} {name}: {sort}. {})", if *all { "forall" } else { "exists" }, body.text())
            }
        }
    }

    /// A normal form as an mCRL2 tool prints it: lists in brackets, no brackets that are not needed.
    pub fn shown(&self) -> String {
        match self {
            Apply(function, arguments) if **function == Symbol("|>".to_string()) => {
                let (mut elements, mut rest) = (vec![arguments[0].shown()], &arguments[1]);
                while let Apply(function, arguments) = rest
                    && **function == Symbol("|>".to_string())
                {
                    elements.push(arguments[0].shown());
                    rest = &arguments[1];
                }
                if *rest == apply("[]", vec![]) {
                    return format!("[{}]", elements.join(", "));
                }
                format!("{} |> {}", elements.join(" |> "), rest.shown())
            }
            Apply(function, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(Expression::shown).collect();
                format!("{}({})", function.shown(), arguments.join(", "))
            }
            other => other.text(),
        }
    }
}
