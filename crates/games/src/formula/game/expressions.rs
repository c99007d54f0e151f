//! Data expressions of our own: connectives, equalities and quantifiers over those of a formula, with constants folded.

use trefoil_data::signature::{FunctionId, Operator, Origin};
use trefoil_data::sorts::{BOOL, SortRef};
use trefoil_data::typed::{DataSpecification, Quantifier, Typed, TypedId, VariableId};
use trefoil_source::Span;

/// Makes expressions at one place of the text.
pub(super) struct Maker<'a> {
    pub(super) data: &'a mut DataSpecification,
    pub(super) place: Span,
}

impl Maker<'_> {
    /// An operator applied to operands.
    pub(super) fn operator(&mut self, operator: Operator, operands: &[TypedId], sort: SortRef) -> TypedId {
        let domain: Vec<SortRef> = operands.iter().map(|&operand| self.data.tree.sort(operand)).collect();
        let whole = if domain.is_empty() { sort } else { self.data.sorts.function(&domain, sort) };
        let name = self.data.names.intern(operator.name());
        let function = self.data.signature.builtin(operator, name, whole);
        self.apply(function, operands, sort)
    }

    /// A function applied to operands.
    pub(super) fn apply(&mut self, function: FunctionId, operands: &[TypedId], sort: SortRef) -> TypedId {
        let whole = self.data.signature.function(function).sort;
        let head = self.data.tree.add(Typed::Function(function), whole, self.place);
        if operands.is_empty() {
            return head;
        }
        let operands = self.data.tree.add_list(operands);
        self.data.tree.add(Typed::Apply(head, operands), sort, self.place)
    }

    /// A new variable, and the expression that it is.
    pub(super) fn variable(&mut self, name: &str, sort: SortRef) -> (VariableId, TypedId) {
        let name = self.data.names.intern(name);
        let variable = self.data.tree.add_variable(name, sort);
        (variable, self.data.tree.add(Typed::Variable(variable), sort, self.place))
    }

    pub(super) fn constant(&mut self, value: bool) -> TypedId {
        self.operator(if value { Operator::True } else { Operator::False }, &[], BOOL)
    }

    /// The truth value that an expression is written as.
    pub(super) fn truth(&self, id: TypedId) -> Option<bool> {
        match self.data.tree.expression(id) {
            Typed::Function(function) => match self.data.signature.function(*function).origin {
                Origin::Builtin(Operator::True) => Some(true),
                Origin::Builtin(Operator::False) => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// The operands of an application of this operator.
    fn operands_of(&self, id: TypedId, operator: Operator) -> Option<Vec<TypedId>> {
        let Typed::Apply(head, operands) = self.data.tree.expression(id) else { return None };
        let Typed::Function(function) = self.data.tree.expression(*head) else { return None };
        let is_it = self.data.signature.function(*function).origin == Origin::Builtin(operator);
        is_it.then(|| self.data.tree.elements(operands).to_vec())
    }

    /// The two parts of a disjunction; `!(a && b)` is one of `!a` and `!b`.
    pub(super) fn alternatives(&mut self, id: TypedId) -> Option<(TypedId, TypedId)> {
        if let Some(&[left, right]) = self.operands_of(id, Operator::Or).as_deref() {
            return Some((left, right));
        }
        let inside = self.negated(id)?;
        let &[left, right] = self.operands_of(inside, Operator::And).as_deref()? else { return None };
        Some((self.not(left), self.not(right)))
    }

    /// The two parts of a conjunction; `!(a || b)` is one of `!a` and `!b`.
    pub(super) fn both(&mut self, id: TypedId) -> Option<(TypedId, TypedId)> {
        if let Some(&[left, right]) = self.operands_of(id, Operator::And).as_deref() {
            return Some((left, right));
        }
        let inside = self.negated(id)?;
        let &[left, right] = self.operands_of(inside, Operator::Or).as_deref()? else { return None };
        Some((self.not(left), self.not(right)))
    }

    /// The operand of a negation.
    fn negated(&self, id: TypedId) -> Option<TypedId> {
        self.operands_of(id, Operator::Not).map(|operands| operands[0])
    }

    pub(super) fn not(&mut self, id: TypedId) -> TypedId {
        match (self.truth(id), self.negated(id)) {
            (Some(value), _) => self.constant(!value),
            (None, Some(inside)) => inside,
            (None, None) => self.operator(Operator::Not, &[id], BOOL),
        }
    }

    pub(super) fn and(&mut self, left: TypedId, right: TypedId) -> TypedId {
        match (self.truth(left), self.truth(right)) {
            (Some(true), _) | (_, Some(false)) => right,
            (_, Some(true)) | (Some(false), _) => left,
            (None, None) => self.operator(Operator::And, &[left, right], BOOL),
        }
    }

    pub(super) fn or(&mut self, left: TypedId, right: TypedId) -> TypedId {
        match (self.truth(left), self.truth(right)) {
            (Some(false), _) | (_, Some(true)) => right,
            (_, Some(false)) | (Some(true), _) => left,
            (None, None) => self.operator(Operator::Or, &[left, right], BOOL),
        }
    }

    pub(super) fn conjunction(&mut self, parts: &[TypedId]) -> TypedId {
        let mut whole = self.constant(true);
        for &part in parts.iter().rev() {
            whole = self.and(part, whole);
        }
        whole
    }

    pub(super) fn equal(&mut self, left: TypedId, right: TypedId) -> TypedId {
        self.operator(Operator::Equal, &[left, right], BOOL)
    }

    /// A quantifier, over those of its variables that occur.
    pub(super) fn quantified(&mut self, quantifier: Quantifier, variables: &[VariableId], body: TypedId) -> TypedId {
        let free = self.data.tree.free_variables(body);
        let used: Vec<VariableId> = variables.iter().copied().filter(|variable| free.contains(variable)).collect();
        if used.is_empty() {
            return body;
        }
        self.data.tree.add(Typed::Quantified(quantifier, used, body), BOOL, self.place)
    }
}
