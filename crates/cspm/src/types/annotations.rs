//! Annotations: types as written.

use super::*;

/// An annotation whose variables are in scope.
pub(super) struct Opened {
    pub(super) t: T,
    variables: Vec<TypeVariableId>,
}

impl Checker<'_> {
    /// Brings the variables of an annotation into scope, each a type of its own.
    pub(super) fn open_annotation(&mut self, annotation: Option<DeclarationId>) -> Option<Opened> {
        let tree = self.tree;
        let Declaration::Annotation { constraints, annotated, .. } = *tree.declaration(annotation?) else {
            return None;
        };
        if tree.list(constraints).iter().any(|constraint| constraint.variable.name == Resolved::Error) {
            return None;
        }
        let mut variables = Vec::new();
        let mut mentioned = Vec::new();
        self.type_names(annotated, &mut mentioned);
        for name in mentioned {
            let Resolved::TypeVariable(variable) = name else { continue };
            // Those of an annotation around this one keep their types.
            if self.type_variables[variable.index()].is_some() {
                continue;
            }
            let mut bits = 0;
            for constraint in tree.list(constraints) {
                if constraint.variable.name == name {
                    bits |= match constraint.kind {
                        ConstraintKind::Eq => EQ,
                        ConstraintKind::Ord => ORD,
                        ConstraintKind::Set => SET,
                        ConstraintKind::Complete => COMPLETE,
                        ConstraintKind::Yieldable => YIELDABLE,
                    };
                }
            }
            self.here(tree.type_span(annotated));
            let level = self.solver.arena.level;
            let t = self.solver.arena.make(Node::Variable { constraints: bits, level, rigid: Some(variable.0) });
            self.type_variables[variable.index()] = Some(t);
            variables.push(variable);
        }
        let t = self.written(annotated);
        Some(Opened { t, variables })
    }

    pub(super) fn close_annotation(&mut self, opened: Option<Opened>) {
        for variable in opened.into_iter().flat_map(|opened| opened.variables) {
            self.type_variables[variable.index()] = None;
        }
    }

    /// Makes a type the annotated one, if there is an annotation.
    pub(super) fn annotated(&mut self, annotation: Option<DeclarationId>, t: T, span: Span) -> Checked {
        let Some(opened) = self.open_annotation(annotation) else { return Ok(t) };
        let wanted = opened.t;
        self.close_annotation(Some(opened));
        self.unify(wanted, t, span)
    }

    fn type_names(&self, id: TypeId, into: &mut Vec<Resolved>) {
        let tree = self.tree;
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            match *tree.type_of(id) {
                Type::Error => {}
                Type::Name(name) => into.push(name),
                Type::Set(inner) | Type::Sequence(inner) => waiting.push(inner),
                Type::Tuple(list) => waiting.extend(tree.list(list).iter().rev()),
                Type::Function(list, result) => {
                    waiting.push(result);
                    waiting.extend(tree.list(list).iter().rev());
                }
                Type::Dot(left, right)
                | Type::Dotable(left, right)
                | Type::Extendable(left, right)
                | Type::Map(left, right) => waiting.extend([right, left]),
            }
        }
    }

    /// The type that was written.
    fn written(&mut self, id: TypeId) -> T {
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.written_here(id))
    }

    fn written_here(&mut self, id: TypeId) -> T {
        let tree = self.tree;
        let span = tree.type_span(id);
        let node = match *tree.type_of(id) {
            Type::Error => Node::Wrong,
            Type::Name(name) => {
                self.here(span);
                return self.written_name(name);
            }
            Type::Set(inner) => Node::Set(self.written(inner)),
            Type::Sequence(inner) => Node::Sequence(self.written(inner)),
            Type::Tuple(list) => {
                let parts: Vec<T> = tree.list(list).iter().map(|&part| self.written(part)).collect();
                Node::Tuple(self.solver.arena.list(&parts))
            }
            Type::Function(list, result) => {
                let parts: Vec<T> = tree.list(list).iter().map(|&part| self.written(part)).collect();
                let result = self.written(result);
                Node::Function(self.solver.arena.list(&parts), result)
            }
            Type::Dot(left, right) => Node::Dot(self.written(left), self.written(right)),
            Type::Dotable(left, right) => Node::Dotable(self.written(left), self.written(right)),
            Type::Extendable(variable, _)
                if !matches!(tree.type_of(variable), Type::Name(Resolved::TypeVariable(_))) =>
            {
                Node::Wrong
            }
            Type::Extendable(variable, base) => {
                let variable = self.written(variable);
                Node::Extendable(self.written(base), variable)
            }
            Type::Map(left, right) => Node::Map(self.written(left), self.written(right)),
        };
        self.here(span);
        self.solver.arena.make(node)
    }

    fn written_name(&mut self, name: Resolved) -> T {
        match name {
            Resolved::BasicType(basic) => self.solver.arena.make(match basic {
                BasicType::Int => Node::Int,
                BasicType::Bool => Node::Bool,
                BasicType::Char => Node::Char,
                BasicType::Proc => Node::Proc,
                BasicType::Event => Node::Event,
            }),
            Resolved::TypeVariable(variable) => match self.type_variables[variable.index()] {
                Some(t) => t,
                None => self.wrong(),
            },
            Resolved::Definition(_) => {
                // A datatype, subtype or nametype is a set; as a type it is what the set holds.
                let set = self.name(name);
                match self.solver.arena.node(set) {
                    Node::Set(element) => element,
                    Node::Variable { .. } => {
                        let element = self.solver.arena.fresh();
                        let wanted = self.solver.arena.set(element);
                        if self.solver.unify(wanted, set).is_ok() { element } else { self.wrong() }
                    }
                    _ => self.wrong(),
                }
            }
            _ => self.wrong(),
        }
    }
}
