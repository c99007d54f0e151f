//! Patterns of properties, by name: each stands for a formula over sets of labels.
//!
//! The names follow Dwyer, Avrunin and Corbett, *Patterns in property specifications for finite-state verification*
//! (1999), with the scope of a whole run. Where a pattern promises that something happens, a run that stops before it
//! breaks the promise, and so does one that goes on without it forever; the fair forms only ask that it stays possible.

use trefoil_source::{Diagnostic, Place, nearest};

use super::codes;

/// A pattern.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Its name.
    pub name: &'static str,
    /// What its parameters are called.
    pub parameters: &'static [&'static str],
    /// What it promises.
    pub about: &'static str,
    /// The formula, with `$1`, `$2` for the parameters.
    pub formula: &'static str,
}

/// All patterns.
pub const TEMPLATES: &[Template] = &[
    Template {
        name: "deadlock_free",
        parameters: &[],
        about: "every reachable state has a step",
        formula: "[true*]<true>true",
    },
    Template { name: "absence", parameters: &["a"], about: "a never happens", formula: "[true* . ($1)]false" },
    Template { name: "possible", parameters: &["a"], about: "a can happen", formula: "<true* . ($1)>true" },
    Template {
        name: "always_possible",
        parameters: &["a"],
        about: "wherever a run is, a can still happen",
        formula: "[true*]<true* . ($1)>true",
    },
    Template {
        name: "existence",
        parameters: &["a"],
        about: "a happens on every run",
        formula: "mu X. [!($1)]X && <true>true",
    },
    Template {
        name: "recurrence",
        parameters: &["a"],
        about: "a happens infinitely often on every run",
        formula: "nu X. mu Y. [$1]X && [!($1)]Y && <true>true",
    },
    Template {
        name: "response",
        parameters: &["a", "b"],
        about: "after a, b happens",
        formula: "[true* . ($1)](mu X. [!($2)]X && <true>true)",
    },
    Template {
        name: "fair_response",
        parameters: &["a", "b"],
        about: "after a, as long as b has not happened, b can still happen",
        formula: "[true* . ($1) . !($2)*]<true* . ($2)>true",
    },
    Template {
        name: "precedence",
        parameters: &["a", "b"],
        about: "b happens only after a",
        formula: "[!($1)* . (($2) && !($1))]false",
    },
];

/// The formula that a pattern with its parameters stands for: `response(send, receive)`.
pub fn template(text: &str) -> Result<String, Box<Diagnostic>> {
    let wrong = |message: String, help: String| {
        let place = Place::File(format!("--property {text}"));
        Box::new(Diagnostic::error(codes::TEMPLATE, message, place).help(help))
    };
    let (name, arguments) = match text.trim().strip_suffix(')').and_then(|inside| inside.split_once('(')) {
        Some((name, inside)) => (name.trim(), pieces(inside)),
        None => (text.trim(), Vec::new()),
    };
    let Some(template) = TEMPLATES.iter().find(|template| template.name == name) else {
        let known = TEMPLATES.iter().map(|template| template.name);
        let help = match nearest(name, known.clone()) {
            Some(meant) => format!("is `{meant}` meant?"),
            None => format!("the patterns are {}", known.collect::<Vec<_>>().join(", ")),
        };
        return Err(wrong(format!("there is no pattern `{name}`"), help));
    };
    if arguments.len() != template.parameters.len() {
        let help = match template.parameters {
            [] => format!("write `{name}`"),
            parameters => format!("write `{name}({})`, with action formulas", parameters.join(", ")),
        };
        let message = format!("`{name}` takes {} action formulas, not {}", template.parameters.len(), arguments.len());
        return Err(wrong(message, help));
    }
    if let Some(place) = arguments.iter().position(|argument| argument.trim().is_empty()) {
        let parameters = template.parameters.join(", ");
        let message = format!("parameter {} of `{name}` is empty", place + 1);
        return Err(wrong(message, format!("write `{name}({parameters})`, with action formulas")));
    }
    let mut formula = template.formula.to_string();
    for (place, argument) in arguments.iter().enumerate() {
        formula = formula.replace(&format!("${}", place + 1), argument);
    }
    Ok(formula)
}

/// The parts between commas that are inside no brackets.
fn pieces(text: &str) -> Vec<String> {
    let (mut all, mut last, mut depth) = (Vec::new(), String::new(), 0_i32);
    for character in text.chars() {
        depth += i32::from("([{".contains(character)) - i32::from(")]}".contains(character));
        if character == ',' && depth == 0 {
            all.push(std::mem::take(&mut last));
        } else {
            last.push(character);
        }
    }
    all.push(last);
    all.iter().map(|piece| piece.trim().to_string()).collect()
}
