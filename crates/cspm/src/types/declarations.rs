//! The types of declarations.

use super::groups::{Kind, components};
use super::report::fields;
use super::*;

/// The largest type that the checker accepts, in nodes.
const LARGEST: usize = 50_000;

impl Checker<'_> {
    /// Checks declarations that may need each other, group by group.
    pub(super) fn declarations(&mut self, list: &[DeclarationId], kind: Kind) {
        let nodes = self.flattened(list);
        let mut node_of: HashMap<Resolved, u32, RandomState> = HashMap::default();
        let mut bound: Vec<Vec<Resolved>> = Vec::with_capacity(nodes.len());
        for (at, &id) in nodes.iter().enumerate() {
            let names = self.bound_names(id);
            node_of.extend(names.iter().map(|&name| (name, at as u32)));
            bound.push(names);
        }
        let place_of: HashMap<DeclarationId, u32, RandomState> = nodes.iter().copied().zip(0..).collect();
        let mut edges: Vec<Vec<u32>> = Vec::with_capacity(nodes.len());
        for &id in &nodes {
            // A single local declaration needs nothing beside it; looking would make deeply nested ones expensive.
            let alone = kind == Kind::Let && nodes.len() == 1;
            let mut to = if alone { Vec::new() } else { self.needed(id, &node_of, &place_of) };
            to.sort_unstable();
            to.dedup();
            edges.push(to);
        }
        for group in components(&edges) {
            let cyclic = group.len() > 1 || edges[group[0] as usize].contains(&group[0]);
            let names: Vec<Resolved> = group.iter().flat_map(|&at| bound[at as usize].iter().copied()).collect();
            let mut members: Vec<DeclarationId> = group.iter().map(|&at| nodes[at as usize]).collect();
            let is_datatype = |id: &DeclarationId| !matches!(self.tree.declaration(*id), Declaration::Datatype { .. });
            members.sort_by_key(is_datatype);
            let checked = if self.gave_up || (cyclic && self.module_cycle(&members)) {
                Err(Failed)
            } else {
                self.group(&members, &names, kind)
            };
            if checked.is_err() {
                for &name in &names {
                    let t = self.wrong();
                    self.assign(name, Scheme { t, generic: false });
                }
            }
        }
    }

    /// The declarations that are checked on their own: those in included files, timed sections and modules without
    /// parameters too.
    fn flattened(&self, list: &[DeclarationId]) -> Vec<DeclarationId> {
        let tree = self.tree;
        let mut flat = Vec::new();
        let mut waiting: Vec<DeclarationId> = list.iter().rev().copied().collect();
        while let Some(id) = waiting.pop() {
            match *tree.declaration(id) {
                Declaration::Include { declarations, .. } => waiting.extend(tree.list(declarations).iter().rev()),
                Declaration::Timed { declarations, .. } => {
                    flat.push(id);
                    waiting.extend(tree.list(declarations).iter().rev());
                }
                Declaration::Module { parameters, private, exported, .. } => {
                    flat.push(id);
                    if parameters.is_empty() {
                        waiting.extend(tree.list(exported).iter().rev());
                        waiting.extend(tree.list(private).iter().rev());
                    }
                }
                Declaration::Annotation { .. } | Declaration::External(_) | Declaration::Transparent(_) => {}
                _ => flat.push(id),
            }
        }
        flat
    }

    fn bound_names(&self, id: DeclarationId) -> Vec<Resolved> {
        let tree = self.tree;
        match *tree.declaration(id) {
            Declaration::Function { name, .. }
            | Declaration::Subtype { name, .. }
            | Declaration::Nametype { name, .. }
            | Declaration::Module { name, .. }
            | Declaration::Instance { name, .. } => vec![name.name],
            Declaration::Binding { pattern, .. } => self.bound_by(pattern),
            Declaration::Channel { names, .. } => tree.list(names).iter().map(|name| name.name).collect(),
            Declaration::Datatype { name, constructors } => {
                let constructors = tree.list(constructors).iter().map(|constructor| constructor.name.name);
                std::iter::once(name.name).chain(constructors).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What must be checked before a declaration, or together with it.
    fn needed(
        &self,
        id: DeclarationId,
        node_of: &HashMap<Resolved, u32, RandomState>,
        place_of: &HashMap<DeclarationId, u32, RandomState>,
    ) -> Vec<u32> {
        let tree = self.tree;
        let mut needed = Vec::new();
        let mut need = |name: Resolved| {
            let mut name = name;
            while let Resolved::Definition(member) = name
                && let DefinitionKind::Member { instance, .. } = self.renamed.definition(member).kind
            {
                name = Resolved::Definition(instance);
            }
            needed.extend(node_of.get(&name));
        };
        match *tree.declaration(id) {
            Declaration::Timed { durations, .. } => {
                need(self.renamed.tock(id));
                if let Some(durations) = durations {
                    self.expression_names(durations, need);
                }
            }
            Declaration::Module { parameters, private, exported, .. } if parameters.is_empty() => {
                let inside = tree.list(private).iter().chain(tree.list(exported)).copied().collect::<Vec<_>>();
                needed.extend(self.flattened(&inside).iter().filter_map(|inner| place_of.get(inner)));
            }
            _ => self.references(id, need),
        }
        needed
    }

    /// A module that needs an instance of itself has no types.
    fn module_cycle(&mut self, members: &[DeclarationId]) -> bool {
        let tree = self.tree;
        let found = members.iter().find_map(|&id| match *tree.declaration(id) {
            Declaration::Module { name, .. } => Some((name, "this module")),
            Declaration::Instance { name, .. } => Some((name, "this instance")),
            _ => None,
        });
        let Some((name, what)) = found else { return false };
        let Resolved::Definition(definition) = name.name else { return false };
        let text = self.renamed.text(self.renamed.definition(definition).name);
        let message = format!("`{text}` depends on itself through an instance of a module");
        let diagnostic = Diagnostic::error(codes::MODULE_CYCLE, message, Place::Span(name.span)).seen(what);
        let instance = members.iter().find_map(|&id| match *tree.declaration(id) {
            Declaration::Instance { name: instance, .. } if instance.span != name.span => Some(instance.span),
            _ => None,
        });
        let diagnostic = match instance {
            Some(span) => diagnostic.also(Place::Span(span), "the instance"),
            None => diagnostic,
        };
        self.diagnostics.push(diagnostic);
        true
    }

    fn assign(&mut self, name: Resolved, scheme: Scheme) {
        match name {
            Resolved::Definition(id) => self.definitions[id.index()] = Some(scheme),
            Resolved::Local(id) => self.locals[id.index()] = Some(scheme),
            _ => {}
        }
    }

    fn place_of(&self, name: Resolved) -> Option<Span> {
        match name {
            Resolved::Definition(id) => Some(self.renamed.definition(id).span),
            Resolved::Local(id) => Some(self.renamed.local(id).span),
            _ => None,
        }
    }

    /// The type that a name has so far.
    fn assigned(&mut self, name: Resolved) -> T {
        match name {
            Resolved::Definition(id) => self.definition(id).t,
            Resolved::Local(id) => self.local(id).t,
            _ => self.wrong(),
        }
    }

    /// Declarations that need each other.
    fn group(&mut self, members: &[DeclarationId], names: &[Resolved], kind: Kind) -> Checked<()> {
        self.solver.arena.level += 1;
        for &name in names {
            if let Some(span) = self.place_of(name) {
                self.here(span);
            }
            let t = self.solver.arena.fresh();
            self.assign(name, Scheme { t, generic: false });
        }
        let mut checked = Ok(());
        let mut made = Vec::new();
        for &id in members {
            checked = self.declaration(id, &mut made);
            if checked.is_err() {
                break;
            }
        }
        self.solver.arena.level -= 1;
        checked?;
        for &t in &made {
            self.solver.arena.generalise(t);
        }
        for &name in names {
            let t = self.assigned(name);
            let span = self.place_of(name).unwrap_or(self.solver.arena.here);
            if self.solver.arena.size(t, LARGEST) > LARGEST {
                return Err(self.too_large(span));
            }
            let generalised = kind != Kind::Let || self.annotation_of(name).is_some();
            let generic = if generalised {
                self.solver.arena.generalise(t);
                self.solver.arena.is_generic(t)
            } else {
                self.lower(t);
                false
            };
            self.assign(name, Scheme { t, generic });
            let Resolved::Definition(definition) = name else { continue };
            match self.renamed.definition(definition).kind {
                DefinitionKind::Channel | DefinitionKind::Constructor { .. } if generic && kind != Kind::Module => {
                    self.ambiguous(definition, t, span);
                }
                DefinitionKind::Instance if kind != Kind::Module => self.instance_is_unambiguous(definition),
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn ambiguous(&mut self, label: DefinitionId, t: T, span: Span) {
        if self.solver.arena.has_wrong(t) {
            return;
        }
        let definition = self.renamed.definition(label);
        let name = self.renamed.text(definition.name);
        let sort = if definition.kind == DefinitionKind::Channel { "channel" } else { "constructor" };
        let text = self.text(t);
        let message = format!("the type of the {sort} `{name}` is not determined: it is `{text}`");
        let diagnostic = Diagnostic::error(codes::AMBIGUOUS, message, Place::Span(span));
        self.diagnostics.push(diagnostic.help("add an annotation, or declare its fields with a more specific set"));
    }

    /// What a `let` leaves open belongs to the scope around it.
    fn lower(&mut self, t: T) {
        let level = self.solver.arena.level;
        self.solver.arena.walk(t, |arena, at| {
            if let Node::Variable { constraints, level: its, rigid } = arena.raw(at)
                && its > level
                && its != GENERIC
            {
                arena.write(at, Node::Variable { constraints, level, rigid });
            }
            true
        });
    }

    /// Checks a declaration; `made` collects types to generalise besides those of the names.
    fn declaration(&mut self, id: DeclarationId, made: &mut Vec<T>) -> Checked<()> {
        let tree = self.tree;
        match *tree.declaration(id) {
            Declaration::Function { name, clauses } => self.function(name.name, clauses),
            Declaration::Binding { pattern, body } => self.binding(pattern, body),
            Declaration::Channel { names, fields } => self.channel(names, fields),
            Declaration::Datatype { name, constructors } => self.datatype_declaration(name, constructors),
            Declaration::Subtype { name, constructors } => self.subtype(name, constructors),
            Declaration::Nametype { name, set } => {
                let span = tree.expression_span(set);
                let t = self.infer(set)?;
                let element = self.element(t, span)?;
                self.constrain(COMPLETE, element, span)?;
                self.here(span);
                let t = self.solver.arena.set(element);
                let annotation = self.annotation_of(name.name);
                let t = self.annotated(annotation, t, span)?;
                self.unify_name(name.name, t, span)
            }
            Declaration::Assert { check, options, .. } => self.assertion(check, options),
            Declaration::Print(expression) => self.infer(expression).map(drop),
            Declaration::Module { name, parameters, private, exported } => {
                let Resolved::Definition(definition) = name.name else { return Ok(()) };
                if !parameters.is_empty() {
                    let tuple = self.module(definition, parameters, [private, exported])?;
                    made.push(tuple);
                }
                Ok(())
            }
            Declaration::Instance { name, module, arguments } => {
                let Resolved::Definition(definition) = name.name else { return Ok(()) };
                made.extend(self.module_instance(definition, module, arguments)?);
                Ok(())
            }
            Declaration::Timed { durations, .. } => self.timed(id, durations),
            _ => Ok(()),
        }
    }

    fn timed(&mut self, id: DeclarationId, durations: Option<ExpressionId>) -> Checked<()> {
        let span = self.tree.declaration_span(id);
        self.here(Span { end: span.start, ..span });
        let event = self.solver.arena.make(Node::Event);
        let tock = self.name(self.renamed.tock(id));
        self.unify(event, tock, span)?;
        if let Some(durations) = durations {
            let int = self.solver.arena.make(Node::Int);
            let function = self.solver.arena.function(&[event], int);
            self.expect(durations, function)?;
        }
        Ok(())
    }

    /// Makes a name's type this one.
    fn unify_name(&mut self, name: Resolved, t: T, span: Span) -> Checked<()> {
        let so_far = self.assigned(name);
        let t = self.unify(so_far, t, span)?;
        self.assign(name, Scheme { t, generic: false });
        Ok(())
    }

    fn function(&mut self, name: Resolved, clauses: List<Clause>) -> Checked<()> {
        let tree = self.tree;
        let annotation = self.annotation_of(name);
        let own = self.open_annotation(annotation);
        let mut types = Vec::with_capacity(clauses.len());
        let mut checked = Ok(());
        for clause in tree.list(clauses) {
            match self.clause(clause, own.as_ref().map(|own| own.t)) {
                Ok(t) => types.push(t),
                Err(failed) => {
                    checked = Err(failed);
                    break;
                }
            }
        }
        self.close_annotation(own);
        checked?;
        let heads: Vec<Span> = tree.list(clauses).iter().map(|clause| self.equation_span(clause)).collect();
        let Some(mut all) = types.pop() else { return Ok(()) };
        while let Some(t) = types.pop() {
            all = self.unify(t, all, heads[types.len() + 1])?;
        }
        self.unify_name(name, all, heads[0])
    }

    /// The left-hand side of an equation.
    fn equation_span(&self, clause: &Clause) -> Span {
        let body = self.tree.expression_span(clause.body);
        if body.file == clause.span.file && body.start > clause.span.start {
            Span { end: body.start, ..clause.span }
        } else {
            clause.span
        }
    }

    fn clause(&mut self, clause: &Clause, expected: Option<T>) -> Checked {
        let tree = self.tree;
        let lists: Vec<List<PatternId>> = tree.list(clause.parameters).to_vec();
        let span = self.equation_span(clause);
        let mut wanted_result = None;
        if let Some(expected) = expected {
            self.here(span);
            let result = self.solver.arena.fresh();
            let wanted: Vec<Vec<T>> =
                lists.iter().map(|list| (0..list.len()).map(|_| self.solver.arena.fresh()).collect()).collect();
            let shape = wanted.iter().rev().fold(result, |result, list| self.solver.arena.function(list, result));
            self.unify(expected, shape, span)?;
            for (&list, wanted) in lists.iter().zip(&wanted) {
                for (&pattern, &wanted) in tree.list(list).iter().zip(wanted) {
                    let place = tree.pattern_span(pattern);
                    let wanted = self.evaluate(wanted, place)?;
                    let found = self.evaluated_pattern(pattern)?;
                    self.unify_directed(found, wanted, place)?;
                }
            }
            wanted_result = Some(result);
        } else {
            for &list in &lists {
                for &pattern in tree.list(list) {
                    self.evaluated_pattern(pattern)?;
                }
            }
        }
        let found = self.infer(clause.body)?;
        let body = tree.expression_span(clause.body);
        let found = match wanted_result {
            Some(wanted) => self.unify(wanted, found, body)?,
            None => found,
        };
        let mut result = self.evaluate(found, body)?;
        // What the body says about the parameters may have made more dots disappear.
        for &list in lists.iter().rev() {
            let mut types = Vec::with_capacity(list.len());
            for &pattern in tree.list(list) {
                types.push(self.evaluated_pattern(pattern)?);
            }
            self.here(span);
            result = self.solver.arena.function(&types, result);
        }
        Ok(result)
    }

    fn binding(&mut self, pattern: PatternId, body: ExpressionId) -> Checked<()> {
        let tree = self.tree;
        let span = tree.expression_span(body);
        let annotation = match *tree.pattern(pattern) {
            Pattern::Name(name) => self.annotation_of(name),
            _ => None,
        };
        let own = self.open_annotation(annotation);
        let found = self.infer(body);
        let wanted = own.as_ref().map(|own| own.t);
        self.close_annotation(own);
        let mut found = found?;
        let mut bound = self.pattern(pattern)?;
        if let Some(wanted) = wanted {
            bound = self.unify(wanted, bound, tree.pattern_span(pattern))?;
            found = self.unify(wanted, found, span)?;
        } else {
            for name in self.bound_by(pattern) {
                let annotation = self.annotation_of(name);
                let t = self.assigned(name);
                self.annotated(annotation, t, span)?;
            }
        }
        let bound = self.evaluate(bound, tree.pattern_span(pattern))?;
        let found = self.evaluate(found, span)?;
        // Not the other way round: `x.y = B` would split the value of a datatype.
        self.unify_directed(bound, found, span).map(drop)
    }

    /// What a set that serves as a type holds: `A.B` and `(A, B)` are sets of dotted values and of tuples.
    fn element(&mut self, t: T, span: Span) -> Checked {
        let t = self.solver.arena.head(t);
        match self.solver.arena.raw(t) {
            Node::Tuple(parts) => {
                let mut elements = Vec::with_capacity(parts.len());
                for at in 0..parts.len() {
                    let part = self.solver.arena.part(parts, at);
                    elements.push(self.element(part, span)?);
                }
                self.here(span);
                Ok(self.solver.arena.tuple(&elements))
            }
            Node::Dot(..) => {
                let mut elements = Vec::new();
                for part in self.solver.dot_list(t) {
                    elements.push(self.element(part, span)?);
                }
                self.here(span);
                Ok(self.solver.dots(&elements))
            }
            Node::Wrong => Ok(t),
            _ => {
                self.here(Span { end: span.start, ..span });
                let element = self.solver.arena.fresh();
                let set = self.solver.arena.set(element);
                self.unify(set, t, span)?;
                Ok(element)
            }
        }
    }

    /// The types of the fields that follow a channel or constructor.
    fn fields(&mut self, fields: Option<ExpressionId>, constraints: Constraints) -> Checked<Vec<T>> {
        let Some(fields) = fields else { return Ok(Vec::new()) };
        let span = self.tree.expression_span(fields);
        let t = self.infer(fields)?;
        let t = self.evaluate(t, span)?;
        let element = self.element(t, span)?;
        self.constrain(constraints, element, span)?;
        Ok(self.solver.dot_list(element))
    }

    fn channel(&mut self, names: List<Named<Resolved>>, fields: Option<ExpressionId>) -> Checked<()> {
        let tree = self.tree;
        let items = self.fields(fields, EQ | COMPLETE)?;
        for name in tree.list(names) {
            self.here(name.span);
            let event = self.solver.arena.make(Node::Event);
            let t = self.solver.dotable(&items, event);
            let annotation = self.annotation_of(name.name);
            let t = self.annotated(annotation, t, name.span)?;
            self.unify_name(name.name, t, name.span)?;
        }
        Ok(())
    }

    fn datatype_declaration(
        &mut self,
        name: Named<Resolved>,
        constructors: List<Constructor<Resolved>>,
    ) -> Checked<()> {
        let tree = self.tree;
        let Resolved::Definition(definition) = name.name else { return Ok(()) };
        let id = self.datatype(None, definition);
        self.here(name.span);
        let datatype = self.solver.arena.make(Node::Datatype(id));
        let set = self.solver.arena.set(datatype);
        let annotation = self.annotation_of(name.name);
        let set = self.annotated(annotation, set, name.span)?;
        self.unify_name(name.name, set, name.span)?;
        let mut all = Vec::new();
        for constructor in tree.list(constructors) {
            let items = self.fields(constructor.fields, COMPLETE)?;
            let Named { name, span } = constructor.name;
            self.here(span);
            let t = self.solver.dotable(&items, datatype);
            let annotation = self.annotation_of(name);
            let t = self.annotated(annotation, t, span)?;
            self.unify_name(name, t, span)?;
            all.extend(items);
        }
        // The datatype can be compared when everything in it can, which may be the datatype itself.
        let comparable = all.iter().all(|&item| self.may_be_compared(item));
        self.solver.comparable[id.0 as usize] = comparable;
        if comparable {
            for item in all {
                self.constrain(EQ, item, name.span)?;
            }
        }
        Ok(())
    }

    /// Whether a type can be compared with `==`, or could once its variables are known.
    fn may_be_compared(&mut self, t: T) -> bool {
        let mut possible = true;
        let comparable = std::mem::take(&mut self.solver.comparable);
        self.solver.arena.walk(t, |arena, at| {
            possible = match arena.raw(at) {
                Node::Proc | Node::Function(..) => false,
                Node::Datatype(id) => comparable[id.0 as usize],
                Node::Variable { rigid: Some(_), constraints, .. } => constraints & EQ != 0,
                _ => true,
            };
            possible
        });
        self.solver.comparable = comparable;
        possible
    }

    fn subtype(&mut self, name: Named<Resolved>, constructors: List<Constructor<Resolved>>) -> Checked<()> {
        let tree = self.tree;
        self.here(name.span);
        let parent = self.solver.arena.fresh();
        for constructor in tree.list(constructors) {
            let items = self.fields(constructor.fields, COMPLETE)?;
            let span = constructor.name.span;
            self.here(span);
            let whole = self.name(constructor.name.name);
            let (wanted, datatype) = self.solver.reduce(whole);
            if items.len() > wanted.len() && !matches!(self.solver.arena.raw(datatype), Node::Wrong) {
                let message = format!("this constructor has {}, found {}", fields(wanted.len()), items.len());
                return Err(self.report(codes::SUBTYPE_FIELDS, message, span));
            }
            let variable = self.solver.arena.fresh();
            let extendable = self.solver.arena.make(Node::Extendable(parent, variable));
            self.unify(extendable, datatype, span)?;
            for (&wanted, &item) in wanted.iter().zip(&items) {
                self.unify(wanted, item, span)?;
            }
        }
        self.here(name.span);
        let set = self.solver.arena.set(parent);
        self.unify_name(name.name, set, name.span)
    }

    fn assertion(&mut self, check: Check, options: List<CheckOption>) -> Checked<()> {
        let tree = self.tree;
        match check {
            Check::Error => {}
            Check::Refinement { specification, implementation, .. } => {
                self.expect_process(specification)?;
                self.expect_process(implementation)?;
            }
            Check::Property { process, .. } => drop(self.expect_process(process)?),
            Check::HasTrace { process, trace, .. } => {
                self.expect_process(process)?;
                let span = tree.expression_span(trace);
                self.here(Span { end: span.start, ..span });
                let event = self.solver.arena.make(Node::Event);
                let events = self.solver.arena.sequence(event);
                self.expect(trace, events)?;
            }
            Check::Symmetric { expression, types } => {
                self.infer(expression)?;
                self.sets(types)?;
            }
        }
        for option in tree.list(options) {
            match *option {
                CheckOption::TauPriority(events) => drop(self.expect_events(events)?),
                CheckOption::PartialOrderReduce(_) => {}
                CheckOption::SymmetryReduce(types) => self.sets(types)?,
            }
        }
        Ok(())
    }

    fn sets(&mut self, list: List<ExpressionId>) -> Checked<()> {
        for &id in self.tree.list(list) {
            let span = self.tree.expression_span(id);
            self.here(Span { end: span.start, ..span });
            let element = self.solver.arena.fresh();
            let set = self.solver.arena.set(element);
            self.expect(id, set)?;
        }
        Ok(())
    }
}
