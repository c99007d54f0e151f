//! `let`: local definitions, in the order in which they depend on each other.
//!
//! A definition that does not depend on itself is a variable like any other. Definitions that depend on each other
//! become a group. Keeping groups small matters: a process captures the groups it mentions with everything those
//! capture.

use std::collections::HashMap;

use trefoil_source::Span;

use super::code::*;
use super::compile::Compiler;
use super::scopes::{Binding, GroupScope, Key};
use crate::rename::{Builtin, DefinitionId, DefinitionKind, LocalId, LocalKind, Resolved};
use crate::syntax::*;

/// Inside so many other `let`s, dependencies are no longer looked at and one group holds all: looking is quadratic in
/// the depth.
const DEEP: u32 = 40;

/// A local definition.
struct Item {
    what: What,
    binds: Vec<LocalId>,
    section: Option<SectionId>,
}

#[derive(Clone, Copy)]
enum What {
    Function(LocalId, List<Clause>, Span),
    Value(PatternId, ExpressionId),
}

/// What to do before the body.
enum Before {
    Bind(Lazy, u32),
    Group(GroupId, u32),
}

impl Compiler<'_> {
    pub(super) fn let_within(
        &mut self,
        declarations: List<DeclarationId>,
        body: ExpressionId,
        scope: usize,
    ) -> OperationId {
        let mut items = Vec::new();
        self.local_items(declarations, self.section, &mut items);
        self.lets += 1;
        let order = if self.lets > DEEP { vec![(0..items.len()).collect()] } else { self.dependency_order(&items) };
        let mut before = Vec::new();
        for component in order {
            let alone = component.len() == 1 && self.lets <= DEEP && !self.depends_on_itself(&items[component[0]]);
            if alone {
                self.single(&items[component[0]], scope, &mut before);
            } else {
                self.group(&items, &component, scope, &mut before);
            }
        }
        let span = self.tree.expression_span(body);
        let mut operation = self.expression(body, scope);
        self.lets -= 1;
        for step in before.into_iter().rev() {
            operation = match step {
                Before::Bind(value, slot) => self.emit(Operation::Bind(value, slot, operation), span),
                Before::Group(group, slot) => self.emit(Operation::Let(group, slot, operation), span),
            };
        }
        operation
    }

    fn local_items(&mut self, declarations: List<DeclarationId>, section: Option<SectionId>, into: &mut Vec<Item>) {
        for id in self.tree.flattened(declarations) {
            match *self.tree.declaration(id) {
                Declaration::Function { name, clauses } => {
                    if let Resolved::Local(local) = name.name {
                        into.push(Item {
                            what: What::Function(local, clauses, name.span),
                            binds: vec![local],
                            section,
                        });
                    }
                }
                Declaration::Binding { pattern, body } => {
                    let binds = self.bound_locals(pattern);
                    into.push(Item { what: What::Value(pattern, body), binds, section });
                }
                Declaration::Timed { declarations, .. } => {
                    let section = self.section_code(id, true);
                    self.local_items(declarations, Some(section), into);
                }
                _ => {}
            }
        }
    }

    fn bound_locals(&self, pattern: PatternId) -> Vec<LocalId> {
        let mut found = Vec::new();
        let mut waiting = vec![pattern];
        while let Some(pattern) = waiting.pop() {
            match *self.tree.pattern(pattern) {
                Pattern::Name(Resolved::Local(local)) => found.push(local),
                Pattern::Tuple(list) | Pattern::Set(list) | Pattern::Sequence(list) => {
                    waiting.extend(self.tree.list(list))
                }
                Pattern::Concatenate(a, b) | Pattern::Dot(a, b) | Pattern::Both(a, b) => waiting.extend([a, b]),
                _ => {}
            }
        }
        found
    }

    /// The locals that an item's right-hand side mentions.
    fn mentions(&self, item: &Item, mut each: impl FnMut(LocalId)) {
        let mut waiting: Vec<ExpressionId> = match item.what {
            What::Function(_, clauses, _) => self.tree.list(clauses).iter().map(|clause| clause.body).collect(),
            What::Value(_, body) => vec![body],
        };
        waiting.extend(item.section.and_then(|section| self.local_durations.get(&section)));
        while let Some(id) = waiting.pop() {
            if let Expression::Name(Resolved::Local(local)) = *self.tree.expression(id) {
                each(local);
            }
            self.children(id, &mut waiting);
        }
    }

    fn depends_on_itself(&self, item: &Item) -> bool {
        let mut found = false;
        self.mentions(item, |local| found |= item.binds.contains(&local));
        found
    }

    /// The items in an order in which each comes after what it depends on, those that depend on each other together
    /// (Tarjan, Depth-first search and linear graph algorithms, 1972).
    fn dependency_order(&self, items: &[Item]) -> Vec<Vec<usize>> {
        let mut owner: HashMap<LocalId, usize, foldhash::fast::RandomState> = HashMap::default();
        for (at, item) in items.iter().enumerate() {
            owner.extend(item.binds.iter().map(|&local| (local, at)));
        }
        let edges: Vec<Vec<usize>> = items
            .iter()
            .map(|item| {
                let mut edges = Vec::new();
                self.mentions(item, |local| edges.extend(owner.get(&local)));
                edges.sort_unstable();
                edges.dedup();
                edges
            })
            .collect();
        let unseen = usize::MAX;
        let (mut index, mut low) = (vec![unseen; items.len()], vec![0; items.len()]);
        let mut open = vec![false; items.len()];
        let (mut path, mut components, mut next) = (Vec::new(), Vec::new(), 0);
        for root in 0..items.len() {
            if index[root] != unseen {
                continue;
            }
            let mut work = vec![(root, 0)];
            while let Some(&mut (node, ref mut at)) = work.last_mut() {
                if *at == 0 {
                    (index[node], low[node], open[node]) = (next, next, true);
                    next += 1;
                    path.push(node);
                }
                if let Some(&target) = edges[node].get(*at) {
                    *at += 1;
                    if index[target] == unseen {
                        work.push((target, 0));
                    } else if open[target] {
                        low[node] = low[node].min(index[target]);
                    }
                    // A node with edges is not entered again.
                    continue;
                }
                work.pop();
                if let Some(&(parent, _)) = work.last() {
                    low[parent] = low[parent].min(low[node]);
                }
                if low[node] == index[node] {
                    let from = path.iter().rposition(|&member| member == node).expect("a node lies on its own path");
                    let mut component = path.split_off(from);
                    component.iter().for_each(|&member| open[member] = false);
                    component.sort_unstable();
                    components.push(component);
                }
            }
        }
        components
    }

    fn single(&mut self, item: &Item, scope: usize, before: &mut Vec<Before>) {
        let outside = std::mem::replace(&mut self.section, item.section);
        match item.what {
            What::Function(local, clauses, span) => {
                let inner = self.open(Some(scope));
                let name = self.renamed.text(self.renamed.local(local).name).to_string();
                let function = self.function(name, span, clauses, inner);
                let value = self.emit(Operation::Lambda(function), span);
                let slot = self.bind_local(scope, local);
                before.push(Before::Bind(Lazy::Now(value), slot));
            }
            What::Value(pattern, body) => {
                let value = self.lazy(body, scope);
                if let Pattern::Name(Resolved::Local(local)) = *self.tree.pattern(pattern) {
                    let slot = self.bind_local(scope, local);
                    before.push(Before::Bind(value, slot));
                } else {
                    let source = self.slot(scope, None);
                    before.push(Before::Bind(value, source));
                    let span = self.tree.pattern_span(pattern);
                    let mut parts = Vec::new();
                    for &local in &item.binds {
                        // Each part is a unit that captures the whole value and matches it again.
                        let inner = self.open(Some(scope));
                        self.scopes[inner].captures.push(Access::Local(source));
                        self.scopes[inner].captured.push(Key::Local(local));
                        let from = self.emit(Operation::Variable(Access::Captured(0)), span);
                        let part = self.part(pattern, from, local, inner, span);
                        parts.push((local, self.close_unit(part)));
                    }
                    for (local, unit) in parts {
                        let slot = self.bind_local(scope, local);
                        before.push(Before::Bind(Lazy::Later(unit), slot));
                    }
                }
            }
        }
        self.section = outside;
    }

    /// What a pattern binds to one of its names.
    fn part(&mut self, pattern: PatternId, from: OperationId, local: LocalId, scope: usize, span: Span) -> OperationId {
        let mut wanted = 0;
        let matcher = self.pattern(pattern, scope, &mut |name, slot| {
            if name == Resolved::Local(local) {
                wanted = slot;
            }
        });
        self.emit(Operation::Part(matcher, from, wanted), span)
    }

    fn group(&mut self, items: &[Item], component: &[usize], scope: usize, before: &mut Vec<Before>) {
        let group = GroupId(self.groups.len() as u32);
        self.groups.push(GroupScope { home: scope, ..GroupScope::default() });
        self.program.groups.push(GroupCode { captures: Vec::new(), members: Vec::new(), cells: 0 });
        let slot = self.slot(scope, Some(Key::Group(group)));
        before.push(Before::Group(group, slot));
        // First where each is found, then what each is.
        let mut count = 0;
        let mut sources = HashMap::new();
        let members = |item: &Item| -> Vec<(LocalId, u32)> {
            let mut members = Vec::new();
            if let What::Value(pattern, _) = item.what
                && !matches!(self.tree.pattern(pattern), Pattern::Name(_))
            {
                sources.insert(pattern, count);
                count += 1;
            }
            for &local in &item.binds {
                members.push((local, count));
                count += 1;
            }
            members
        };
        let found: Vec<(LocalId, u32)> = component.iter().map(|&at| &items[at]).flat_map(members).collect();
        self.bindings.extend(found.iter().map(|&(local, member)| (local, Binding::Member(group, member))));
        let mut codes = Vec::with_capacity(count as usize);
        let mut cells = 0;
        for &at in component {
            let item = &items[at];
            let outside = std::mem::replace(&mut self.section, item.section);
            match item.what {
                What::Function(local, clauses, span) => {
                    let inner = self.open_member(group, scope);
                    let name = self.renamed.text(self.renamed.local(local).name).to_string();
                    codes.push(MemberCode::Function(self.function(name, span, clauses, inner)));
                }
                What::Value(pattern, body) => {
                    let inner = self.open_member(group, scope);
                    let value = self.expression(body, inner);
                    codes.push(MemberCode::Value(cells, self.close_unit(value)));
                    cells += 1;
                    if let Some(&source) = sources.get(&pattern) {
                        let span = self.tree.pattern_span(pattern);
                        for &local in &item.binds {
                            let inner = self.open_member(group, scope);
                            let from = self.emit(Operation::Member(Access::Captured(0), source), span);
                            let part = self.part(pattern, from, local, inner, span);
                            codes.push(MemberCode::Value(cells, self.close_unit(part)));
                            cells += 1;
                        }
                        // Matching bound the names to slots; others see them as members.
                        let members = found.iter().filter(|(local, _)| item.binds.contains(local));
                        self.bindings.extend(members.map(|&(local, member)| (local, Binding::Member(group, member))));
                    }
                }
            }
            self.section = outside;
        }
        let captures = std::mem::take(&mut self.groups[group.index()].captures);
        self.program.groups[group.index()] = GroupCode { captures, members: codes, cells };
    }

    /// The expressions directly inside one.
    fn children(&self, id: ExpressionId, into: &mut Vec<ExpressionId>) {
        let tree = self.tree;
        let pairs = |list: List<Pair>, into: &mut Vec<ExpressionId>| {
            into.extend(tree.list(list).iter().flat_map(|pair| [pair.0, pair.1]));
        };
        let statements = |list: List<Statement>, into: &mut Vec<ExpressionId>| {
            into.extend(tree.list(list).iter().map(|statement| match *statement {
                Statement::Generator { set, .. } => set,
                Statement::Condition(condition) => condition,
            }));
        };
        match *tree.expression(id) {
            Expression::Error(_)
            | Expression::Name(_)
            | Expression::Integer(_)
            | Expression::Boolean(_)
            | Expression::Character(_)
            | Expression::String(_)
            | Expression::Wildcard => {}
            Expression::Unary { operand, .. } => into.push(operand),
            Expression::Binary { left, right, .. } | Expression::Both(left, right) => into.extend([left, right]),
            Expression::Synchronised { left, events, right, .. } => into.extend([left, events, right]),
            Expression::Alphabetised { left, left_alphabet, right_alphabet, right } => {
                into.extend([left, left_alphabet, right_alphabet, right]);
            }
            Expression::Link { left, ties, statements: steps, right } => {
                into.extend([left, right]);
                pairs(ties, into);
                statements(steps, into);
            }
            Expression::Rename { process, renames, statements: steps } => {
                into.push(process);
                pairs(renames, into);
                statements(steps, into);
            }
            Expression::Prefix { channel, fields, process } => {
                into.extend([channel, process]);
                into.extend(tree.list(fields).iter().filter_map(|field| match *field {
                    Field::Input(_, set) | Field::Choice(_, set) => set,
                    Field::Output(value) => Some(value),
                }));
            }
            Expression::Apply { function, arguments } => {
                into.push(function);
                into.extend(tree.list(arguments));
            }
            Expression::Tuple(list) => into.extend(tree.list(list)),
            Expression::Collection { items, statements: steps, .. } => {
                match items {
                    Items::Listed(list) => into.extend(tree.list(list)),
                    Items::From(from) => into.push(from),
                    Items::Range(from, to) => into.extend([from, to]),
                }
                statements(steps, into);
            }
            Expression::Map(list) => pairs(list, into),
            Expression::If { condition, then, otherwise } => into.extend([condition, then, otherwise]),
            Expression::Let { declarations, body } => {
                into.push(body);
                self.right_hand_sides(declarations, into);
            }
            Expression::Lambda { body, .. } => into.push(body),
            Expression::Replicated { operator, statements: steps, body } => {
                into.push(body);
                statements(steps, into);
                match operator {
                    Replication::Parallel(set)
                    | Replication::SynchronisingChoice(set)
                    | Replication::Alphabetised(set) => {
                        into.push(set);
                    }
                    Replication::Link(ties, steps) => {
                        pairs(ties, into);
                        statements(steps, into);
                    }
                    _ => {}
                }
            }
        }
    }

    fn right_hand_sides(&self, declarations: List<DeclarationId>, into: &mut Vec<ExpressionId>) {
        for id in self.tree.flattened(declarations) {
            match *self.tree.declaration(id) {
                Declaration::Function { clauses, .. } => {
                    into.extend(self.tree.list(clauses).iter().map(|clause| clause.body));
                }
                Declaration::Binding { body, .. } => into.push(body),
                Declaration::Timed { durations, declarations } => {
                    into.extend(durations);
                    self.right_hand_sides(declarations, into);
                }
                _ => {}
            }
        }
    }

    /// Finds the expressions and functions that seem to give processes, for which results of calls are kept. Being
    /// wrong costs time, never a result.
    pub(super) fn find_processes(&mut self) {
        let tree = self.tree;
        let mut definitions = vec![false; self.renamed.definitions().len()];
        let mut locals = vec![false; self.renamed.locals().len()];
        let mut gives = vec![false; tree.expression_count()];
        for _ in 0..8 {
            for at in 0..gives.len() {
                gives[at] = gives[at] || self.seems_process(ExpressionId(at as u32), &gives, &definitions, &locals);
            }
            let mut changed = false;
            for at in 0..tree.declaration_count() {
                let (name, found) = match *tree.declaration(DeclarationId(at as u32)) {
                    Declaration::Function { name, clauses } => {
                        (name.name, tree.list(clauses).iter().any(|clause| gives[clause.body.index()]))
                    }
                    Declaration::Binding { pattern, body } => match *tree.pattern(pattern) {
                        Pattern::Name(name) => (name, gives[body.index()]),
                        _ => continue,
                    },
                    _ => continue,
                };
                let flag = match name {
                    Resolved::Definition(id) => &mut definitions[id.index()],
                    Resolved::Local(id) => &mut locals[id.index()],
                    _ => continue,
                };
                changed |= found && !*flag;
                *flag |= found;
            }
            if !changed {
                break;
            }
        }
        self.gives_process = gives;
        self.local_process = locals;
    }

    fn seems_process(&self, id: ExpressionId, gives: &[bool], definitions: &[bool], locals: &[bool]) -> bool {
        use BinaryOperator as B;
        let named = |name: Resolved| match name {
            Resolved::Definition(id) => definitions[self.of_member(id).index()],
            Resolved::Local(id) => !matches!(self.renamed.local(id).kind, LocalKind::Variable) && locals[id.index()],
            Resolved::Builtin(Builtin::Stop | Builtin::Skip | Builtin::Div | Builtin::Chaos | Builtin::Run) => true,
            _ => false,
        };
        match *self.tree.expression(id) {
            Expression::Synchronised { .. }
            | Expression::Alphabetised { .. }
            | Expression::Link { .. }
            | Expression::Rename { .. }
            | Expression::Prefix { .. }
            | Expression::Replicated { .. } => true,
            Expression::Binary { operator, .. } => matches!(
                operator,
                B::Hide
                    | B::Project
                    | B::Interleave
                    | B::InternalChoice
                    | B::ExternalChoice
                    | B::Interrupt
                    | B::SlidingChoice
                    | B::Sequential
                    | B::Guard
            ),
            Expression::If { then, otherwise, .. } => gives[then.index()] || gives[otherwise.index()],
            Expression::Let { body, .. } => gives[body.index()],
            Expression::Name(name) => named(name),
            Expression::Apply { function, .. } => match *self.tree.expression(function) {
                Expression::Name(name) => named(name),
                _ => false,
            },
            _ => false,
        }
    }

    fn of_member(&self, id: DefinitionId) -> DefinitionId {
        match self.renamed.definition(id).kind {
            DefinitionKind::Member { of, .. } => of,
            _ => id,
        }
    }
}
