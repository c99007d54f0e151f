//! Which labels a set of labels has, one by one.

use trefoil_control::Control;
use trefoil_system::{Cut, LabelId};

use super::choosing::Asking;
use super::compile::Use;
use super::product::FormulaGame;
use crate::formula::tree::{FormulaText, Modality, Regular, State};

impl FormulaText {
    /// Is it `<A>true`, `A` being an action formula?
    pub fn is_about_one_step(&self) -> bool {
        let Some(State::Modal(Modality::May, regular, inside)) = self.root.map(|root| self.state(root)) else {
            return false;
        };
        let mut regular = self.regular(*regular);
        while let Regular::Brackets(inside) = regular {
            regular = self.regular(*inside);
        }
        matches!(regular, Regular::Action(_)) && *self.state(*inside) == State::True
    }
}

impl FormulaGame {
    /// Of a formula `<A>true` ([`FormulaText::is_about_one_step`]): is a label in `A`?
    pub fn admits(&self, label: LabelId, control: &Control) -> Result<bool, Cut> {
        let mut asking = Asking::new(self);
        let (mut choosing, row) = asking.choosing(self, control);
        let root = self.compiled.graph.root.0 as usize;
        for (plan, &number) in self.compiled.nodes[root].moves.iter().zip(&self.first_groups[root]) {
            if plan.uses != Use::Nothing && choosing.choices(plan, number, Some(label), &row)?.count > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
