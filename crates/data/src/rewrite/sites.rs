//! Code for what is not evaluated where it stands: functions as values, delayed expressions and quantifiers.
//!
//! Each becomes a term of its own symbol over the values it uses, and its symbol has code. So nothing is ever copied or
//! renamed, and a value is never walked again.

use std::collections::{HashMap, HashSet};

use crate::typed::{Quantifier, Typed, TypedId, VariableId};

use super::code::{FunctionIndex, Op, Slot};
use super::compile::{Compiler, Frame};
use super::enumerate::{Sum, SumIndex};
use super::program::{Function, Kind, Role};

/// Functions with larger bodies are told apart by their places in the text.
const LARGEST_KEY: usize = 256;

/// Code that is still to be made for the body of a closure or delay, or for an expression.
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
            None => {
                let key = match kind {
                    SiteKind::Closure if captured.is_empty() => self.closure_key(bound, body),
                    _ => None,
                };
                match key.as_ref().and_then(|key| self.closures.get(key)) {
                    Some(&function) => {
                        self.program.sites.insert(body, function);
                        function
                    }
                    None => {
                        let function = self.new_site(kind, bound, body, &captured, frame);
                        self.closures.extend(key.map(|key| (key, function)));
                        function
                    }
                }
            }
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

    /// What a small function without captured values is, up to the place in the text: two such functions that are
    /// written alike are one value, as in mCRL2, where names of variables matter as well.
    fn closure_key(&self, bound: &[VariableId], body: TypedId) -> Option<Vec<u32>> {
        let tree = &self.program.specification.tree;
        if !tree.is_smaller(body, LARGEST_KEY) {
            return None;
        }
        let mut numbers: HashMap<VariableId, u32> = HashMap::new();
        let mut key = vec![tree.sort(body).0];
        let bind = |variables: &[VariableId], key: &mut Vec<u32>, numbers: &mut HashMap<VariableId, u32>| {
            key.push(variables.len() as u32);
            for &variable in variables {
                let (name, sort) = tree.variable(variable);
                key.extend([name.0, sort.0]);
                let number = numbers.len() as u32;
                numbers.insert(variable, number);
            }
        };
        bind(bound, &mut key, &mut numbers);
        let mut pending = vec![body];
        while let Some(id) = pending.pop() {
            match tree.expression(id) {
                Typed::Variable(variable) => key.extend([0, *numbers.get(variable)?]),
                Typed::Function(function) => key.extend([1, function.0]),
                Typed::Number(digits) => key.extend([2, digits.0, tree.sort(id).0]),
                Typed::Apply(function, arguments) => {
                    let arguments = tree.elements(arguments);
                    key.extend([3, arguments.len() as u32]);
                    pending.extend(arguments.iter().rev());
                    pending.push(*function);
                }
                Typed::Lambda(variables, body) => {
                    key.push(4);
                    bind(variables, &mut key, &mut numbers);
                    pending.push(*body);
                }
                Typed::Quantified(quantifier, variables, body) => {
                    key.push(if *quantifier == Quantifier::Forall { 5 } else { 6 });
                    bind(variables, &mut key, &mut numbers);
                    pending.push(*body);
                }
                Typed::Where(..) => return None,
            }
        }
        Some(key)
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
            // Every sort has a value, so a variable that does not occur decides nothing.
            let mut occurring: HashSet<VariableId> = HashSet::new();
            self.each_variable(body, &mut |variable| {
                occurring.insert(variable);
            });
            let occurring: Vec<VariableId> =
                bound.iter().copied().filter(|variable| occurring.contains(variable)).collect();
            let plan = self.plan(quantifier, body, captured, &occurring);
            self.program.plans.insert(index, plan);
            return index;
        }
        if let ([variable], SiteKind::Closure) = (bound, kind)
            && self.program.specification.tree.sort(body) == crate::sorts::BOOL
            && let Some(source) = self.held(body, captured, *variable)
        {
            self.program.held.insert(index, source);
        }
        self.pending.push(Pending { function: index, lazy });
        index
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

    /// The plan of a sum, as that of a quantifier over its condition which has captured the parameters.
    pub(super) fn sum(&mut self, sum: &Sum) -> SumIndex {
        let plan = self.plan(Quantifier::Exists, sum.condition, &sum.parameters, &sum.variables);
        let arity = sum.parameters.len() as u16;
        let symbol = self.program.pool.fresh_symbol("@sum", arity as usize);
        let index = FunctionIndex(self.program.functions.len() as u32);
        self.program.functions.push(Function {
            kind: Kind::Quantified(Quantifier::Exists),
            symbol,
            arity,
            captured: arity,
            lazy: 0,
            entry: None,
            id: None,
            site: Some((sum.condition, sum.parameters.iter().chain(&sum.variables).copied().collect())),
            structured: false,
        });
        self.program.plans.insert(index, plan);
        SumIndex(index)
    }

    /// A function that evaluates an expression for values of its variables.
    pub(super) fn outer(&mut self, body: TypedId, variables: &[VariableId]) -> FunctionIndex {
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
        self.pending.push(Pending { function: index, lazy: Vec::new() });
        index
    }

    /// Emits the code of a closure, a delay or an expression.
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
