//! The right-hand sides of declarations, and the types in annotations.

use trefoil_source::Span;

use super::collect::Resolver;
use super::*;

impl<'t> Resolver<'t> {
    /// Resolves everything that was collected, then the queries.
    pub(super) fn resolve(&mut self, queries: &[ExpressionId]) {
        for scope in 0..self.scopes.len() {
            for at in 0..self.declared[scope].len() {
                let declared = self.declared[scope][at];
                self.timed = declared.timed;
                self.right_hand_side(scope, declared.id);
            }
        }
        self.timed = false;
        for &query in queries {
            self.expression(0, query);
        }
    }

    /// A declaration of the top level or a module. What it declares is in scope already.
    fn right_hand_side(&mut self, scope: usize, id: DeclarationId) {
        let tree = self.tree;
        match *tree.declaration(id) {
            Declaration::Function { clauses, .. } => {
                let annotation = match self.sites.get(NameSite::Declaration(id)) {
                    Resolved::Definition(definition) => self.definitions[definition.index()].annotation,
                    _ => None,
                };
                self.with_annotation(scope, annotation, |this| this.clauses(scope, clauses));
            }
            Declaration::Binding { pattern, body } => {
                let annotation = match self.sites.get(NameSite::Pattern(pattern)) {
                    Resolved::Definition(definition) if matches!(tree.pattern(pattern), Pattern::Name(_)) => {
                        self.definitions[definition.index()].annotation
                    }
                    _ => None,
                };
                self.with_annotation(scope, annotation, |this| this.expression(scope, body));
            }
            Declaration::Annotation { constraints, annotated, .. } => {
                self.lone_annotation(scope, constraints, annotated);
            }
            Declaration::Channel { fields, .. } => self.optional(scope, fields),
            Declaration::Datatype { constructors, .. } => {
                for constructor in tree.list(constructors) {
                    self.optional(scope, constructor.fields);
                }
            }
            Declaration::Subtype { constructors, .. } => self.subtype(scope, constructors),
            Declaration::Nametype { set, .. } => self.expression(scope, set),
            Declaration::Assert { check, options, .. } => self.assertion(scope, check, options),
            Declaration::Print(expression) => self.expression(scope, expression),
            Declaration::Error { parts, .. } => self.expressions(scope, parts),
            Declaration::Instance { arguments, .. } => self.expressions(scope, arguments),
            Declaration::Timed { durations, .. } => self.timed_section(scope, id, durations),
            _ => {}
        }
    }

    pub(super) fn timed_section(&mut self, scope: usize, id: DeclarationId, durations: Option<ExpressionId>) {
        self.optional(scope, durations);
        let whole = self.tree.declaration_span(id);
        // The word `Timed`.
        let span = Span { end: whole.end.min(whole.start + 5), ..whole };
        let symbol = self.tree.names.find("tock");
        match symbol.map(|symbol| self.find(scope, symbol, span)) {
            Some(Ok(tock)) if !matches!(tock, Resolved::Local(_)) => drop(self.tocks.insert(id, tock)),
            _ if self.tree.is_incomplete() => {}
            _ => {
                self.error(codes::NO_TOCK, "a timed section needs an event `tock`".to_string(), span).help =
                    Some("declare `channel tock`".to_string());
            }
        }
    }

    fn subtype(&mut self, scope: usize, constructors: List<Constructor<Symbol>>) {
        let tree = self.tree;
        for (constructor, at) in tree.list(constructors).iter().zip(constructors.range()) {
            let Named { name, span } = constructor.name;
            let mut found = self.value(scope, name, span);
            if found != Resolved::Error && !self.is_label(found) {
                let message = format!("`{}` is not a constructor of a datatype", self.text(name));
                self.error(codes::NOT_A_CONSTRUCTOR, message, span);
                found = Resolved::Error;
            }
            self.sites.set(NameSite::Constructor(at), found);
            self.optional(scope, constructor.fields);
        }
    }

    fn assertion(&mut self, scope: usize, check: Check, options: List<CheckOption>) {
        match check {
            Check::Error => {}
            Check::Refinement { specification, implementation, .. } => {
                self.expression(scope, specification);
                self.expression(scope, implementation);
            }
            Check::Property { process, .. } => self.expression(scope, process),
            Check::HasTrace { process, trace, .. } => {
                self.expression(scope, process);
                self.expression(scope, trace);
            }
            Check::Symmetric { expression, types } => {
                self.expression(scope, expression);
                self.expressions(scope, types);
            }
        }
        let tree = self.tree;
        for option in tree.list(options) {
            match *option {
                CheckOption::TauPriority(events) => self.expression(scope, events),
                CheckOption::PartialOrderReduce(_) => {}
                CheckOption::SymmetryReduce(types) => self.expressions(scope, types),
            }
        }
    }

    /// The equations of a function.
    pub(super) fn clauses(&mut self, scope: usize, clauses: List<Clause>) {
        let tree = self.tree;
        for clause in tree.list(clauses) {
            let mark = self.trail.len();
            for &list in tree.list(clause.parameters) {
                for &pattern in tree.list(list) {
                    self.bind(scope, pattern, mark);
                }
            }
            self.expression(scope, clause.body);
            self.undo(mark);
        }
    }

    /// Runs with the type variables of an annotation in scope.
    pub(super) fn with_annotation(
        &mut self,
        scope: usize,
        annotation: Option<DeclarationId>,
        run: impl FnOnce(&mut Resolver<'t>),
    ) {
        let from = self.type_scope.len();
        if let Some(Declaration::Annotation { constraints, annotated, .. }) =
            annotation.map(|annotation| *self.tree.declaration(annotation))
        {
            if self.annotated.contains(&annotated) {
                // It annotates several names: its variables are in scope for each of them.
                let variables = self.variables_of(annotated);
                self.type_scope.extend(variables);
            } else {
                self.annotation(scope, constraints, annotated);
            }
        }
        run(self);
        self.type_scope.truncate(from);
    }

    /// An annotation where it stands, unless it was resolved with what it annotates.
    pub(super) fn lone_annotation(&mut self, scope: usize, constraints: List<Constraint<Symbol>>, annotated: TypeId) {
        if !self.annotated.contains(&annotated) {
            let from = self.type_scope.len();
            self.annotation(scope, constraints, annotated);
            self.type_scope.truncate(from);
        }
    }

    fn variables_of(&self, annotated: TypeId) -> Vec<(Symbol, TypeVariableId)> {
        let leaves = self.type_leaves(annotated);
        let variables = leaves.into_iter().filter_map(|(id, symbol)| match self.sites.get(NameSite::Type(id)) {
            Resolved::TypeVariable(variable) => Some((symbol, variable)),
            _ => None,
        });
        variables.collect()
    }

    /// The names in a type from left to right.
    fn type_leaves(&self, annotated: TypeId) -> Vec<(TypeId, Symbol)> {
        let tree = self.tree;
        let mut leaves = Vec::new();
        let mut waiting = vec![annotated];
        while let Some(id) = waiting.pop() {
            match *tree.type_of(id) {
                Type::Error => {}
                Type::Name(symbol) => leaves.push((id, symbol)),
                Type::Set(inner) | Type::Sequence(inner) => waiting.push(inner),
                Type::Tuple(list) => waiting.extend(tree.list(list).iter().rev()),
                Type::Function(arguments, result) => {
                    waiting.push(result);
                    waiting.extend(tree.list(arguments).iter().rev());
                }
                Type::Dot(left, right)
                | Type::Dotable(left, right)
                | Type::Extendable(left, right)
                | Type::Map(left, right) => waiting.extend([right, left]),
            }
        }
        leaves
    }

    /// The names of an annotation. A name that is no type is a variable, the same one throughout, also in annotations
    /// inside what is annotated. The variables stay in scope until the caller ends it.
    pub(super) fn annotation(&mut self, scope: usize, constraints: List<Constraint<Symbol>>, annotated: TypeId) {
        let tree = self.tree;
        self.annotated.insert(annotated);
        let from = self.type_scope.len();
        for (id, symbol) in self.type_leaves(annotated) {
            let found = self.type_name(scope, symbol, tree.type_span(id));
            self.sites.set(NameSite::Type(id), found);
        }
        let mut waiting = vec![annotated];
        while let Some(id) = waiting.pop() {
            match *tree.type_of(id) {
                Type::Extendable(left, right) => {
                    let variable = matches!(tree.type_of(left), Type::Name(_))
                        && matches!(self.sites.get(NameSite::Type(left)), Resolved::TypeVariable(_) | Resolved::Error);
                    if !variable {
                        let message = "only a type variable can stand left of `=>*`".to_string();
                        self.error(codes::NOT_A_TYPE_VARIABLE, message, tree.type_span(left));
                    }
                    waiting.push(right);
                }
                Type::Error | Type::Name(_) => {}
                Type::Set(inner) | Type::Sequence(inner) => waiting.push(inner),
                Type::Tuple(list) => waiting.extend(tree.list(list)),
                Type::Function(arguments, result) => {
                    waiting.extend(tree.list(arguments));
                    waiting.push(result);
                }
                Type::Dot(left, right) | Type::Dotable(left, right) | Type::Map(left, right) => {
                    waiting.extend([left, right]);
                }
            }
        }
        for (constraint, at) in tree.list(constraints).iter().zip(constraints.range()) {
            let Named { name, span } = constraint.variable;
            let own = self.type_scope[from..].iter().find(|&&(symbol, _)| symbol == name).copied();
            let Some((_, variable)) = own else {
                let message = format!("`{}` is not a type variable of this annotation", self.text(name));
                self.error(codes::NOT_A_TYPE_VARIABLE, message, span);
                continue;
            };
            self.sites.set(NameSite::Constraint(at), Resolved::TypeVariable(variable));
        }
    }

    fn type_name(&mut self, scope: usize, symbol: Symbol, span: Span) -> Resolved {
        let text = self.text(symbol);
        let found = self.find(scope, symbol, span);
        if let Ok(target) = found
            && (self.is_type(target) || target == Resolved::Error)
        {
            return target;
        }
        // A value does not hide a type: in `module M(T)` a type that is called T outside still is one.
        if let Some(target) = self.find_type(scope, symbol) {
            return target;
        }
        if let Some(basic) = BasicType::find(text) {
            return Resolved::BasicType(basic);
        }
        if text.contains("::") {
            match found {
                Ok(_) => {
                    let message = format!("`{text}` is not a type");
                    self.error(codes::NOT_A_TYPE, message, span);
                }
                Err(problem) => self.report(scope, symbol, span, problem),
            }
            return Resolved::Error;
        }
        if let Some(&(_, variable)) = self.type_scope.iter().rev().find(|&&(name, _)| name == symbol) {
            return Resolved::TypeVariable(variable);
        }
        if self.tree.is_incomplete() {
            return Resolved::Error;
        }
        let variable = TypeVariableId(self.type_variables.len() as u32);
        self.type_variables.push(symbol);
        self.type_scope.push((symbol, variable));
        Resolved::TypeVariable(variable)
    }
}
