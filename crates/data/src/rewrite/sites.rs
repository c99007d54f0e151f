//! Code for what is not evaluated where it stands: functions as values, delayed expressions and quantifiers.
//!
//! Each becomes a term of its own symbol over the values it uses, and its symbol has code. So nothing is ever copied or
//! renamed, and a value is never walked again.

use std::collections::HashSet;

use crate::typed::{Quantifier, TypedId, VariableId};

use super::code::{FunctionIndex, Op, Slot};
use super::compile::{Compiler, Frame};
use super::program::{Function, Kind, Role};
use super::quantifiers::{self, Fact, Source};

/// Code that is still to be made for the body of a closure, delay or quantifier.
pub(super) struct Pending {
    function: FunctionIndex,
    /// Variables whose slots may hold delayed values.
    lazy: Vec<VariableId>,
}

/// What is made of a body that is not evaluated at once.
#[derive(Clone, Copy, Debug)]
pub(super) enum SiteKind {
    Closure,
    Delay,
    Quantified(Quantifier),
}

impl Compiler<'_, '_> {
    /// Emits code that makes a closure or a delayed expression out of the values it uses, or evaluates a quantifier
    /// over them, into the first free slot.
    pub(super) fn site_value(
        &mut self,
        kind: SiteKind,
        bound: &[VariableId],
        body: TypedId,
        frame: &mut Frame,
    ) -> Slot {
        let mut captured: Vec<VariableId> = Vec::new();
        self.each_variable(body, &mut |variable| {
            if frame.places.contains_key(&variable) && !captured.contains(&variable) {
                captured.push(variable);
            }
        });
        let function = match self.known_site(kind, body, &captured) {
            Some(function) => function,
            None => self.new_site(kind, bound, body, &captured, frame),
        };
        let at = frame.top;
        let copies = captured.len() > 3 || matches!(kind, SiteKind::Quantified(_));
        let mut slots = Vec::new();
        for &variable in &captured {
            let slot = frame.places[&variable];
            slots.push(if copies || frame.parts.contains_key(&slot) { self.copied(variable, frame) } else { slot });
        }
        frame.top = at;
        if let SiteKind::Quantified(_) = kind {
            self.emit(Op::Quantify { function, at });
            return self.fresh(frame);
        }
        let symbol = self.program.function(function).symbol;
        self.make_of(symbol, &slots, frame)
    }

    fn new_site(
        &mut self,
        kind: SiteKind,
        bound: &[VariableId],
        body: TypedId,
        captured: &[VariableId],
        frame: &Frame,
    ) -> FunctionIndex {
        let arity = captured.len() as u16;
        let name = match kind {
            SiteKind::Closure => "@lambda",
            SiteKind::Delay => "@delayed",
            SiteKind::Quantified(Quantifier::Forall) => "@forall",
            SiteKind::Quantified(Quantifier::Exists) => "@exists",
        };
        let symbol = self.program.pool.fresh_symbol(name, arity as usize);
        let index = FunctionIndex(self.program.functions.len() as u32);
        // A body is compiled for each leaf of a match tree it is in, and its code is that of the first. So what some
        // leaf may capture delayed is taken for delayed.
        let lazy: Vec<VariableId> =
            captured.iter().filter(|variable| frame.delayable.contains(variable)).copied().collect();
        let variables: Vec<VariableId> = captured.iter().chain(bound).copied().collect();
        let total = variables.len() as u16;
        self.program.functions.push(Function {
            kind: match kind {
                SiteKind::Quantified(quantifier) => Kind::Quantified(quantifier),
                _ => Kind::Defined,
            },
            symbol,
            arity: if matches!(kind, SiteKind::Quantified(_)) { arity } else { total },
            captured: arity,
            lazy: 0,
            entry: None,
            id: None,
            site: Some((body, variables)),
            structured: false,
        });
        let role = match kind {
            SiteKind::Closure => Role::Closure(index),
            SiteKind::Delay => Role::Delay(index),
            SiteKind::Quantified(_) => Role::Quantified(index),
        };
        self.program.set_role(symbol, role);
        self.program.sites.insert(body, index);
        if let SiteKind::Quantified(quantifier) = kind {
            self.sources(index, quantifier, body, captured, bound, &lazy);
        }
        self.pending.push(Pending { function: index, lazy });
        index
    }

    /// Finds where the values of a quantifier's variables come from.
    fn sources(
        &mut self,
        quantified: FunctionIndex,
        quantifier: Quantifier,
        body: TypedId,
        captured: &[VariableId],
        bound: &[VariableId],
        lazy: &[VariableId],
    ) {
        let mut before: Vec<VariableId> = captured.to_vec();
        let mut sources = Vec::new();
        for &variable in bound {
            let known: HashSet<VariableId> = before.iter().copied().collect();
            let found = quantifiers::fact(&self.program.specification, quantifier, body, variable, &known);
            let mut code = |expression: TypedId| self.outer_with(expression, &before, lazy);
            sources.push(match found {
                Some(Fact::Point(value)) => Source::Point(code(value)),
                Some(Fact::Elements(container)) => Source::Elements(code(container)),
                Some(Fact::Range { lower, upper }) => Source::Range { lower: lower.map(&mut code), upper: code(upper) },
                None => Source::All(self.program.specification.tree.variable(variable).1),
            });
            before.push(variable);
        }
        self.program.sources.insert(quantified, sources);
    }

    /// The site of a body that was met before with the same captured variables. A body is compiled for each leaf of a
    /// match tree it is in; its closures are equal all the same.
    fn known_site(&self, kind: SiteKind, body: TypedId, captured: &[VariableId]) -> Option<FunctionIndex> {
        let index = self.program.site_of(body)?;
        let function = self.program.function(index);
        let (_, variables) = function.site.as_ref()?;
        let same_kind = matches!(
            (kind, self.program.role(function.symbol)),
            (SiteKind::Closure, Role::Closure(_))
                | (SiteKind::Delay, Role::Delay(_))
                | (SiteKind::Quantified(_), Role::Quantified(_))
        );
        (same_kind && variables[..function.captured as usize] == *captured).then_some(index)
    }

    /// A function that evaluates an expression for values of its variables.
    pub(super) fn outer(&mut self, body: TypedId, variables: &[VariableId]) -> FunctionIndex {
        self.outer_with(body, variables, &[])
    }

    fn outer_with(&mut self, body: TypedId, variables: &[VariableId], lazy: &[VariableId]) -> FunctionIndex {
        let symbol = self.program.pool.fresh_symbol("@expression", variables.len());
        let index = FunctionIndex(self.program.functions.len() as u32);
        let arity = variables.len() as u16;
        self.program.functions.push(Function {
            kind: Kind::Defined,
            symbol,
            arity,
            captured: 0,
            lazy: 0,
            entry: None,
            id: None,
            site: Some((body, variables.to_vec())),
            structured: false,
        });
        self.pending.push(Pending { function: index, lazy: lazy.to_vec() });
        index
    }

    /// Emits the code of a closure, delay or quantifier.
    pub(super) fn site(&mut self, pending: Pending) {
        let Some((body, variables)) = self.program.function(pending.function).site.clone() else { return };
        let places = variables.iter().zip(0..).map(|(&variable, slot)| (variable, slot)).collect();
        let top = variables.len() as Slot;
        let mut frame = Frame { places, lazy: pending.lazy.clone(), delayable: pending.lazy, top, ..Frame::default() };
        self.use_slots(top);
        let entry = self.here();
        self.last(body, &mut frame);
        self.program.functions[pending.function.0 as usize].entry = Some(entry);
    }
}
