//! Dependency groups: declarations that need each other are checked together, after everything else that they need.
//!
//! Strongly connected components are found by Tarjan's algorithm (*Depth-first search and linear graph algorithms*,
//! 1972), without recursion; they come out in the order in which they must be checked.

use super::*;

/// What sort of scope the declarations are in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Top,
    /// In a module with parameters.
    Module,
    Let,
}

/// The strongly connected components of a graph, each after those it has edges to.
pub(super) fn components(edges: &[Vec<u32>]) -> Vec<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let mut order = vec![NEW; edges.len()];
    let mut low = vec![0u32; edges.len()];
    let mut on_stack = vec![false; edges.len()];
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
    let mut path: Vec<(u32, usize)> = Vec::new();
    for root in 0..edges.len() as u32 {
        if order[root as usize] != NEW {
            continue;
        }
        path.push((root, 0));
        while let Some(&(node, at)) = path.last() {
            let here = node as usize;
            if at == 0 && order[here] == NEW {
                order[here] = next;
                low[here] = next;
                next += 1;
                stack.push(node);
                on_stack[here] = true;
            }
            if let Some(&to) = edges[here].get(at) {
                path.last_mut().expect("not empty").1 += 1;
                if order[to as usize] == NEW {
                    path.push((to, 0));
                } else if on_stack[to as usize] {
                    low[here] = low[here].min(order[to as usize]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent as usize] = low[parent as usize].min(low[here]);
            }
            if low[here] == order[here] {
                let from = stack.iter().rposition(|&member| member == node).unwrap_or(0);
                let mut component = stack.split_off(from);
                for &member in &component {
                    on_stack[member as usize] = false;
                }
                component.sort_unstable();
                found.push(component);
            }
        }
    }
    found
}

/// Something to look at for names.
enum Work {
    Expression(ExpressionId),
    Pattern(PatternId),
    Declaration(DeclarationId),
    Type(TypeId),
}

impl Checker<'_> {
    /// The names that a declaration mentions.
    pub(super) fn references(&self, id: DeclarationId, found: impl FnMut(Resolved)) {
        self.names_in(Work::Declaration(id), found);
    }

    /// The names that an expression mentions.
    pub(super) fn expression_names(&self, id: ExpressionId, found: impl FnMut(Resolved)) {
        self.names_in(Work::Expression(id), found);
    }

    fn names_in(&self, work: Work, mut found: impl FnMut(Resolved)) {
        let tree = self.tree;
        let mut waiting = vec![work];
        while let Some(work) = waiting.pop() {
            match work {
                Work::Declaration(id) => self.declaration_references(id, &mut waiting, &mut found),
                Work::Expression(id) => self.expression_references(id, &mut waiting, &mut found),
                Work::Pattern(id) => match *tree.pattern(id) {
                    Pattern::Name(name) => found(name),
                    Pattern::Tuple(list) | Pattern::Set(list) | Pattern::Sequence(list) | Pattern::Error(list) => {
                        waiting.extend(tree.list(list).iter().map(|&id| Work::Pattern(id)));
                    }
                    Pattern::Concatenate(left, right) | Pattern::Dot(left, right) | Pattern::Both(left, right) => {
                        waiting.extend([Work::Pattern(left), Work::Pattern(right)]);
                    }
                    _ => {}
                },
                Work::Type(id) => match *tree.type_of(id) {
                    Type::Error => {}
                    Type::Name(name) => found(name),
                    Type::Set(inner) | Type::Sequence(inner) => waiting.push(Work::Type(inner)),
                    Type::Tuple(list) => waiting.extend(tree.list(list).iter().map(|&id| Work::Type(id))),
                    Type::Function(list, result) => {
                        waiting.extend(tree.list(list).iter().map(|&id| Work::Type(id)));
                        waiting.push(Work::Type(result));
                    }
                    Type::Dot(left, right)
                    | Type::Dotable(left, right)
                    | Type::Extendable(left, right)
                    | Type::Map(left, right) => waiting.extend([Work::Type(left), Work::Type(right)]),
                },
            }
        }
    }

    fn declaration_references(&self, id: DeclarationId, waiting: &mut Vec<Work>, found: &mut impl FnMut(Resolved)) {
        let tree = self.tree;
        let mut annotated = |annotation: Option<DeclarationId>| {
            if let Some(Declaration::Annotation { annotated, .. }) = annotation.map(|id| *tree.declaration(id)) {
                waiting.push(Work::Type(annotated));
            }
        };
        match *tree.declaration(id) {
            Declaration::Function { name, clauses } => {
                annotated(self.annotation_of(name.name));
                for clause in tree.list(clauses) {
                    for &list in tree.list(clause.parameters) {
                        waiting.extend(tree.list(list).iter().map(|&id| Work::Pattern(id)));
                    }
                    waiting.push(Work::Expression(clause.body));
                }
            }
            Declaration::Binding { pattern, body } => {
                for name in self.bound_by(pattern) {
                    annotated(self.annotation_of(name));
                }
                waiting.push(Work::Pattern(pattern));
                waiting.push(Work::Expression(body));
            }
            Declaration::Channel { names, fields } => {
                annotated(tree.list(names).first().and_then(|name| self.annotation_of(name.name)));
                waiting.extend(fields.map(Work::Expression));
            }
            Declaration::Datatype { constructors, .. } => {
                for constructor in tree.list(constructors) {
                    waiting.extend(constructor.fields.map(Work::Expression));
                }
            }
            Declaration::Subtype { constructors, .. } => {
                for constructor in tree.list(constructors) {
                    found(constructor.name.name);
                    waiting.extend(constructor.fields.map(Work::Expression));
                }
            }
            Declaration::Nametype { name, set } => {
                annotated(self.annotation_of(name.name));
                waiting.push(Work::Expression(set));
            }
            Declaration::Assert { check, options, .. } => {
                match check {
                    Check::Error => {}
                    Check::Refinement { specification, implementation, .. } => {
                        waiting.extend([Work::Expression(specification), Work::Expression(implementation)]);
                    }
                    Check::Property { process, .. } => waiting.push(Work::Expression(process)),
                    Check::HasTrace { process, trace, .. } => {
                        waiting.extend([Work::Expression(process), Work::Expression(trace)]);
                    }
                    Check::Symmetric { expression, types } => {
                        waiting.push(Work::Expression(expression));
                        waiting.extend(tree.list(types).iter().map(|&id| Work::Expression(id)));
                    }
                }
                for option in tree.list(options) {
                    match *option {
                        CheckOption::TauPriority(events) => waiting.push(Work::Expression(events)),
                        CheckOption::PartialOrderReduce(_) => {}
                        CheckOption::SymmetryReduce(types) => {
                            waiting.extend(tree.list(types).iter().map(|&id| Work::Expression(id)));
                        }
                    }
                }
            }
            Declaration::Print(expression) => waiting.push(Work::Expression(expression)),
            Declaration::Include { declarations, .. } => {
                waiting.extend(tree.list(declarations).iter().map(|&id| Work::Declaration(id)));
            }
            Declaration::Module { private, exported, .. } => {
                waiting.extend(tree.list(private).iter().chain(tree.list(exported)).map(|&id| Work::Declaration(id)));
            }
            Declaration::Instance { module, arguments, .. } => {
                found(module.name);
                waiting.extend(tree.list(arguments).iter().map(|&id| Work::Expression(id)));
            }
            Declaration::Timed { durations, declarations } => {
                found(self.renamed.tock(id));
                waiting.extend(durations.map(Work::Expression));
                waiting.extend(tree.list(declarations).iter().map(|&id| Work::Declaration(id)));
            }
            Declaration::Error { parts, .. } => {
                waiting.extend(tree.list(parts).iter().map(|&id| Work::Expression(id)));
            }
            Declaration::External(_) | Declaration::Transparent(_) | Declaration::Annotation { .. } => {}
        }
    }

    fn expression_references(&self, id: ExpressionId, waiting: &mut Vec<Work>, found: &mut impl FnMut(Resolved)) {
        let tree = self.tree;
        let mut generators = List::EMPTY;
        let mut more = List::EMPTY;
        let mut pairs = List::EMPTY;
        match *tree.expression(id) {
            Expression::Name(name) => found(name),
            Expression::Unary { operand, .. } => waiting.push(Work::Expression(operand)),
            Expression::Binary { left, right, .. } | Expression::Both(left, right) => {
                waiting.extend([left, right].map(Work::Expression));
            }
            Expression::Synchronised { left, events, right, .. } => {
                waiting.extend([left, events, right].map(Work::Expression));
            }
            Expression::Alphabetised { left, left_alphabet, right_alphabet, right } => {
                waiting.extend([left, left_alphabet, right_alphabet, right].map(Work::Expression));
            }
            Expression::Link { left, ties, statements, right } => {
                waiting.extend([left, right].map(Work::Expression));
                (pairs, generators) = (ties, statements);
            }
            Expression::Rename { process, renames, statements } => {
                waiting.push(Work::Expression(process));
                (pairs, generators) = (renames, statements);
            }
            Expression::Prefix { channel, fields, process } => {
                waiting.extend([channel, process].map(Work::Expression));
                for field in tree.list(fields) {
                    match *field {
                        Field::Output(value) => waiting.push(Work::Expression(value)),
                        Field::Input(pattern, set) | Field::Choice(pattern, set) => {
                            waiting.push(Work::Pattern(pattern));
                            waiting.extend(set.map(Work::Expression));
                        }
                    }
                }
            }
            Expression::Apply { function, arguments } => {
                waiting.push(Work::Expression(function));
                waiting.extend(tree.list(arguments).iter().map(|&id| Work::Expression(id)));
            }
            Expression::Tuple(list) | Expression::Error(list) => {
                waiting.extend(tree.list(list).iter().map(|&id| Work::Expression(id)))
            }
            Expression::Collection { items, statements, .. } => {
                generators = statements;
                match items {
                    Items::Listed(list) => waiting.extend(tree.list(list).iter().map(|&id| Work::Expression(id))),
                    Items::From(first) => waiting.push(Work::Expression(first)),
                    Items::Range(first, last) => waiting.extend([first, last].map(Work::Expression)),
                }
            }
            Expression::Map(list) => pairs = list,
            Expression::If { condition, then, otherwise } => {
                waiting.extend([condition, then, otherwise].map(Work::Expression));
            }
            Expression::Let { declarations, body } => {
                waiting.extend(tree.list(declarations).iter().map(|&id| Work::Declaration(id)));
                waiting.push(Work::Expression(body));
            }
            Expression::Lambda { parameters, body } => {
                waiting.extend(tree.list(parameters).iter().map(|&id| Work::Pattern(id)));
                waiting.push(Work::Expression(body));
            }
            Expression::Replicated { operator, statements, body } => {
                generators = statements;
                waiting.push(Work::Expression(body));
                match operator {
                    Replication::Parallel(events)
                    | Replication::SynchronisingChoice(events)
                    | Replication::Alphabetised(events) => waiting.push(Work::Expression(events)),
                    Replication::Link(ties, its) => (pairs, more) = (ties, its),
                    _ => {}
                }
            }
            _ => {}
        }
        waiting.extend(tree.list(pairs).iter().flat_map(|&Pair(left, right)| [left, right].map(Work::Expression)));
        for statement in tree.list(generators).iter().chain(tree.list(more)) {
            match *statement {
                Statement::Condition(condition) => waiting.push(Work::Expression(condition)),
                Statement::Generator { pattern, set } => {
                    waiting.extend([Work::Pattern(pattern), Work::Expression(set)]);
                }
            }
        }
    }

    /// The annotation of a name.
    pub(super) fn annotation_of(&self, name: Resolved) -> Option<DeclarationId> {
        match name {
            Resolved::Definition(id) => self.renamed.definition(id).annotation,
            Resolved::Local(id) => self.renamed.local(id).annotation,
            _ => None,
        }
    }

    /// The names that a pattern binds.
    pub(super) fn bound_by(&self, pattern: PatternId) -> Vec<Resolved> {
        let tree = self.tree;
        let mut bound = Vec::new();
        let mut waiting = vec![pattern];
        while let Some(id) = waiting.pop() {
            match *tree.pattern(id) {
                Pattern::Name(name) if !self.renamed.is_label(name) => bound.push(name),
                Pattern::Tuple(list) | Pattern::Set(list) | Pattern::Sequence(list) | Pattern::Error(list) => {
                    waiting.extend(tree.list(list));
                }
                Pattern::Concatenate(left, right) | Pattern::Dot(left, right) | Pattern::Both(left, right) => {
                    waiting.extend([left, right]);
                }
                _ => {}
            }
        }
        bound
    }
}
