//! The tree of a formula to its text, which reads as the same tree.
//!
//! Brackets are nodes of the tree, so none is added: the printer decides only about spaces. A formula stands in one
//! line, as messages and results need it; the declarations before it stand in lines of their own.

use std::fmt::Write;

use trefoil_data::syntax::tree::{ExpressionId, SortId, Variables};
use trefoil_data::syntax::{Layout, Printer};
use trefoil_source::Span;

use super::tree::{ActionFormula, ActionFormulaId, FormulaText, Modality, Regular, RegularId, State, StateId};

impl FormulaText {
    /// The formula with its declarations; the formula alone where there are none.
    pub fn print(&self) -> String {
        let mut formula = self.root.map_or_else(String::new, |root| self.state_text(root));
        for &(name, definition) in &self.definitions {
            let _ = write!(formula, "\n  where {} = ", self.tree.names.text(name.symbol));
            self.write_state(definition, &mut formula);
        }
        if self.data.is_empty() && self.actions.is_empty() {
            return formula;
        }
        let layout = Layout::default();
        let mut printer = Printer::new(&self.tree, "", &layout);
        let place = self.root.map_or_else(nowhere, |root| self.span(root));
        for section in &self.data {
            printer.data_section(section, place);
            printer.line();
        }
        let mut text = printer.finish();
        for declared in &self.actions {
            let names: Vec<&str> = declared.names.iter().map(|name| self.tree.names.text(name.symbol)).collect();
            let sort = declared.sort.map_or_else(String::new, |sort| format!(": {}", self.sort_text(sort)));
            let _ = writeln!(text, "act {}{sort};", names.join(", "));
        }
        format!("{text}form {formula};\n")
    }

    /// A state formula in one line.
    pub fn state_text(&self, id: StateId) -> String {
        let mut text = String::new();
        self.write_state(id, &mut text);
        text
    }

    fn data_text(&self, id: ExpressionId) -> String {
        let layout = Layout::default();
        let mut printer = Printer::new(&self.tree, "", &layout);
        printer.expression(id);
        one_line(&printer.finish())
    }

    pub(crate) fn sort_text(&self, id: SortId) -> String {
        let layout = Layout::default();
        let mut printer = Printer::new(&self.tree, "", &layout);
        printer.sort(id);
        one_line(&printer.finish())
    }

    fn write_values(&self, values: &[ExpressionId], text: &mut String) {
        if values.is_empty() {
            return;
        }
        let values: Vec<String> = values.iter().map(|&value| self.data_text(value)).collect();
        let _ = write!(text, "({})", values.join(", "));
    }

    fn write_variables(&self, variables: &[Variables], text: &mut String) {
        for (at, group) in variables.iter().enumerate() {
            let names: Vec<&str> = group.names.iter().map(|name| self.tree.names.text(name.symbol)).collect();
            let separator = if at > 0 { ", " } else { "" };
            let _ = write!(text, "{separator}{}: {}", names.join(", "), self.sort_text(group.sort));
        }
    }

    fn write_state(&self, id: StateId, text: &mut String) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match self.state(id) {
            State::True => text.push_str("true"),
            State::False => text.push_str("false"),
            State::Value(value) => {
                let _ = write!(text, "val({})", self.data_text(*value));
            }
            State::Variable(name, values) => {
                text.push_str(self.tree.names.text(name.symbol));
                self.write_values(values, text);
            }
            State::Brackets(inside) => {
                text.push('(');
                self.write_state(*inside, text);
                text.push(')');
            }
            State::Not(inside) => {
                text.push('!');
                self.write_state(*inside, text);
            }
            State::Infix(connective, left, right) => {
                self.write_state(*left, text);
                let _ = write!(text, " {} ", connective.text());
                self.write_state(*right, text);
            }
            State::Quantified(quantifier, variables, inside) => {
                let _ = write!(text, "{} ", quantifier.text());
                self.write_variables(variables, text);
                text.push_str(". ");
                self.write_state(*inside, text);
            }
            State::Modal(modality, regular, inside) => {
                let (open, close) = if *modality == Modality::Must { ('[', ']') } else { ('<', '>') };
                text.push(open);
                self.write_regular(*regular, text);
                text.push(close);
                self.write_state(*inside, text);
            }
            State::Fixpoint(fixpoint, name, parameters, inside) => {
                let _ = write!(text, "{} {}", fixpoint.text(), self.tree.names.text(name.symbol));
                for (at, parameter) in parameters.iter().enumerate() {
                    let name = self.tree.names.text(parameter.name.symbol);
                    let (sort, value) = (self.sort_text(parameter.sort), self.data_text(parameter.value));
                    let _ = write!(text, "{}{name}: {sort} = {value}", if at > 0 { ", " } else { "(" });
                }
                text.push_str(if parameters.is_empty() { ". " } else { "). " });
                self.write_state(*inside, text);
            }
        });
    }

    fn write_regular(&self, id: RegularId, text: &mut String) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match self.regular(id) {
            Regular::Action(formula) => self.write_action(*formula, text),
            Regular::Brackets(inside) => {
                text.push('(');
                self.write_regular(*inside, text);
                text.push(')');
            }
            Regular::Sequence(left, right) => {
                self.write_regular(*left, text);
                text.push_str(" . ");
                self.write_regular(*right, text);
            }
            Regular::Choice(left, right) => {
                self.write_regular(*left, text);
                text.push_str(" + ");
                self.write_regular(*right, text);
            }
            Regular::Star(inside) => {
                self.write_regular(*inside, text);
                text.push('*');
            }
            Regular::Plus(inside) => {
                self.write_regular(*inside, text);
                text.push('+');
            }
        });
    }

    /// An action formula in one line.
    pub fn action_text(&self, id: ActionFormulaId) -> String {
        let mut text = String::new();
        self.write_action(id, &mut text);
        text
    }

    fn write_action(&self, id: ActionFormulaId, text: &mut String) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match self.action_formula(id) {
            ActionFormula::True => text.push_str("true"),
            ActionFormula::False => text.push_str("false"),
            ActionFormula::Value(value) => {
                let _ = write!(text, "val({})", self.data_text(*value));
            }
            ActionFormula::Multi(parts) => {
                if parts.is_empty() {
                    text.push_str("tau");
                }
                for (at, (name, values)) in parts.iter().enumerate() {
                    text.push_str(if at > 0 { "|" } else { "" });
                    text.push_str(self.tree.names.text(name.symbol));
                    self.write_values(values, text);
                }
            }
            ActionFormula::Brackets(inside) => {
                text.push('(');
                self.write_action(*inside, text);
                text.push(')');
            }
            ActionFormula::Not(inside) => {
                text.push('!');
                self.write_action(*inside, text);
            }
            ActionFormula::Infix(connective, left, right) => {
                self.write_action(*left, text);
                let _ = write!(text, " {} ", connective.text());
                self.write_action(*right, text);
            }
            ActionFormula::Quantified(quantifier, variables, inside) => {
                let _ = write!(text, "{} ", quantifier.text());
                self.write_variables(variables, text);
                text.push_str(". ");
                self.write_action(*inside, text);
            }
        });
    }
}

fn nowhere() -> Span {
    Span { file: trefoil_source::FileId(0), start: 0, end: 0 }
}

/// A text without line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
