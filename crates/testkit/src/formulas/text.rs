//! The text of random formulas, in the notation of mCRL2.

use std::fmt;

use super::{Condition, Formula, Labels, Sort, Steps, VALUES, Value, Variable, value_text};

/// Something as text.
struct Written<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result>(F);

impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for Written<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(f)
    }
}

fn separated<T>(items: &[T], separator: &str, text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(separator)
}

fn declared((name, sort): &Variable) -> String {
    match sort {
        Sort::D => format!("x{name}: D"),
        Sort::Nat => format!("x{name}: Nat"),
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Constant(value, sort) => f.write_str(&value_text(*value, *sort)),
            Value::Variable((name, _)) => write!(f, "x{name}"),
            Value::Next((name, _)) => write!(f, "(x{name} + 1) mod {VALUES}"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Equal(left, right) => write!(f, "val({left} == {right})"),
            Condition::Different(left, right) => write!(f, "val({left} != {right})"),
        }
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Labels::Constant(value) => write!(f, "{value}"),
            Labels::Condition(condition) => write!(f, "{condition}"),
            Labels::Multi(parts) if parts.is_empty() => f.write_str("tau"),
            Labels::Multi(parts) => f.write_str(&separated(parts, "|", |(name, values)| match values[..] {
                [] => (*name).to_string(),
                _ => format!("{name}({})", separated(values, ", ", Value::to_string)),
            })),
            Labels::Not(inside) => write!(f, "!({inside})"),
            Labels::And(left, right) => write!(f, "(({left}) && ({right}))"),
            Labels::Or(left, right) => write!(f, "(({left}) || ({right}))"),
            Labels::Exists(variable, inside) => {
                // A number is bounded by the arguments of the label, or by a condition.
                let is_next = |value: &Value| matches!(value, Value::Next(_));
                let bounds = |parts: &[(&str, Vec<Value>)]| !parts.iter().flat_map(|(_, values)| values).any(is_next);
                match (variable.1, &**inside) {
                    (Sort::Nat, Labels::Multi(parts)) if bounds(parts) => {}
                    (Sort::D, _) => {}
                    _ => {
                        return write!(
                            f,
                            "(exists {}. val(x{} < {VALUES}) && ({inside}))",
                            declared(variable),
                            variable.0
                        );
                    }
                }
                write!(f, "(exists {}. {inside})", declared(variable))
            }
            Labels::Forall(variable, inside) => write!(f, "(forall {}. {inside})", declared(variable)),
        }
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Steps::One(labels) => write!(f, "({labels})"),
            Steps::Sequence(first, rest) => write!(f, "({first} . {rest})"),
            Steps::Choice(left, right) => write!(f, "({left} + {right})"),
            Steps::Star(inside) => write!(f, "({inside}*)"),
            Steps::Plus(inside) => write!(f, "({inside}+)"),
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Formula::Constant(value) => write!(f, "{value}"),
            Formula::Condition(condition) => write!(f, "{condition}"),
            Formula::Not(inside) => write!(f, "!({inside})"),
            Formula::And(left, right) => write!(f, "({left} && {right})"),
            Formula::Or(left, right) => write!(f, "({left} || {right})"),
            Formula::Implies(left, right) => write!(f, "({left} => {right})"),
            Formula::Forall(variable, bound, inside) => {
                let guard = Written(|f| match (variable.1, bound) {
                    (Sort::Nat, false) => write!(f, "val(x{} < {VALUES}) => ", variable.0),
                    _ => Ok(()),
                });
                write!(f, "(forall {}. ({guard}{inside}))", declared(variable))
            }
            Formula::Exists(variable, bound, inside) => {
                let guard = Written(|f| match (variable.1, bound) {
                    (Sort::Nat, false) => write!(f, "val(x{} < {VALUES}) && ", variable.0),
                    _ => Ok(()),
                });
                write!(f, "(exists {}. ({guard}{inside}))", declared(variable))
            }
            Formula::Must(steps, inside) => write!(f, "[{steps}]({inside})"),
            Formula::May(steps, inside) => write!(f, "<{steps}>({inside})"),
            Formula::Instance(name, values) => match values[..] {
                [] => write!(f, "X{name}"),
                _ => write!(f, "X{name}({})", separated(values, ", ", Value::to_string)),
            },
            Formula::Fixpoint(greatest, name, parameters, inside) => {
                let word = if *greatest { "nu" } else { "mu" };
                let parameters = match parameters[..] {
                    [] => String::new(),
                    _ => {
                        let one = |(variable, value): &(Variable, Value)| format!("{} = {value}", declared(variable));
                        format!("({})", separated(parameters, ", ", one))
                    }
                };
                write!(f, "({word} X{name}{parameters}. {inside})")
            }
        }
    }
}
