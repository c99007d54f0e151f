//! Modules with parameters, and instances.
//!
//! The types of an instance's names are those of the module's names with two changes: the variables of the module's
//! parameters stand for what the arguments made of them, and the module's datatypes are the instance's own. A module
//! that is itself reached through an instance (`instance J = I::N(…)`) has the changes of that instance too, so
//! instances form chains, and the changes of all links apply.

use super::*;
use crate::types::report::arguments;

/// An instance, in the instance around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct InstanceId(pub(super) u32);

/// What an instance makes of its module.
#[derive(Clone)]
pub(super) struct InstanceType {
    module: DefinitionId,
    /// What the variables of the module's parameters stand for.
    variables: HashMap<T, T, RandomState>,
    /// The instance through which the module was reached.
    outer: Option<InstanceId>,
}

impl Checker<'_> {
    /// The instance that a definition of kind instance, or a member that is one, stands for.
    pub(super) fn instance(&mut self, id: DefinitionId) -> InstanceId {
        // Innermost first.
        let mut path = Vec::new();
        let mut at = id;
        while let DefinitionKind::Member { instance, of } = self.renamed.definition(at).kind {
            path.push(of);
            at = instance;
        }
        let outermost = self.instance_in(None, at);
        path.into_iter().rev().fold(outermost, |outer, of| self.instance_in(Some(outer), of))
    }

    fn instance_in(&mut self, outer: Option<InstanceId>, definition: DefinitionId) -> InstanceId {
        let next = InstanceId(self.instances.len() as u32);
        let id = *self.instance_ids.entry((outer, definition)).or_insert(next);
        if id == next {
            self.instances.push((outer, definition));
        }
        id
    }

    pub(super) fn datatype(&mut self, instance: Option<InstanceId>, definition: DefinitionId) -> DatatypeId {
        let next = DatatypeId(self.datatypes.len() as u32);
        let id = *self.datatype_ids.entry((instance, definition)).or_insert(next);
        if id == next {
            self.datatypes.push((instance, definition));
            // An instance's datatype is comparable when the module's is.
            let original = self.datatype_ids.get(&(None, definition)).copied();
            let comparable =
                original.and_then(|original| self.solver.comparable.get(original.0 as usize).copied()).unwrap_or(true);
            self.solver.comparable.push(comparable);
        }
        id
    }

    /// Whether a definition lies in a module, at any depth.
    fn is_inside(&self, definition: DefinitionId, module: DefinitionId) -> bool {
        let mut at = self.renamed.definition(definition).module;
        while let Some(outer) = at {
            if outer == module {
                return true;
            }
            at = self.renamed.definition(outer).module;
        }
        false
    }

    fn instance_type(&mut self, id: InstanceId) -> Option<InstanceType> {
        if let Some(known) = self.instance_types.get(&id) {
            return Some(known.clone());
        }
        // An instance inside a module, seen from an instance of that module.
        let (outer, definition) = self.instances[id.0 as usize];
        let outer = outer?;
        let plain = self.instance_in(None, definition);
        let original = self.instance_types.get(&plain)?.clone();
        let mut variables = HashMap::default();
        for (&variable, &t) in &original.variables {
            let t = self.seen_from(outer, t);
            variables.insert(variable, t);
        }
        let through = match original.outer {
            None => outer,
            Some(through) => self.lifted(outer, through),
        };
        let seen = InstanceType { module: original.module, variables, outer: Some(through) };
        self.instance_types.insert(id, seen.clone());
        Some(seen)
    }

    /// An instance as another one sees it: its own, if it is declared in the other's module.
    fn lifted(&mut self, outer: InstanceId, instance: InstanceId) -> InstanceId {
        let (around, definition) = self.instances[instance.0 as usize];
        let Some(its) = self.instance_type(outer) else { return instance };
        match around {
            None if self.is_inside(definition, its.module) => self.instance_in(Some(outer), definition),
            None => instance,
            Some(around) => {
                let around = self.lifted(outer, around);
                self.instance_in(Some(around), definition)
            }
        }
    }

    /// A type of an instance's module as the instance sees it.
    fn seen_from(&mut self, instance: InstanceId, t: T) -> T {
        let mut chain = Vec::new();
        let mut at = Some(instance);
        while let Some(id) = at {
            let Some(its) = self.instance_type(id) else { return self.wrong() };
            at = its.outer;
            chain.push((id, its));
            if chain.len() > 1000 {
                return self.wrong();
            }
        }
        // New datatypes are made before the copy, which only looks them up.
        let mut mentioned = Vec::new();
        self.solver.arena.walk(t, |arena, at| {
            if let Node::Datatype(id) = arena.raw(at) {
                mentioned.push(id);
            }
            true
        });
        let mut datatypes: HashMap<DatatypeId, DatatypeId, RandomState> = HashMap::default();
        for id in mentioned {
            let (around, definition) = self.datatypes[id.0 as usize];
            let new = match around {
                None => {
                    let owner = chain.iter().find(|(_, its)| self.is_inside(definition, its.module)).map(|&(id, _)| id);
                    owner.map(|owner| self.datatype(Some(owner), definition))
                }
                Some(around) => {
                    let mut lifted = around;
                    for &(id, _) in &chain {
                        lifted = self.lifted(id, around);
                        if lifted != around {
                            break;
                        }
                    }
                    Some(self.datatype(Some(lifted), definition))
                }
            };
            if let Some(new) = new {
                datatypes.insert(id, new);
            }
        }
        self.solver.arena.copy(t, &mut |arena, node, t| match node {
            Node::Datatype(id) => match datatypes.get(&id) {
                Some(&new) if new != id => arena.make(Node::Datatype(new)),
                _ => t,
            },
            _ => chain.iter().find_map(|(_, its)| its.variables.get(&t)).copied().unwrap_or(t),
        })
    }

    /// The variables of the parameters of modules, with what each instance made of them.
    pub(super) fn instance_variables(&self) -> Vec<(T, T)> {
        let of_each = self.instance_types.values();
        of_each.flat_map(|its| its.variables.iter().map(|(&variable, &t)| (variable, t))).collect()
    }

    /// The type of a module's name in an instance.
    pub(super) fn member(&mut self, instance: InstanceId, of: DefinitionId) -> Scheme {
        if let Some(&scheme) = self.member_types.get(&(instance, of)) {
            return scheme;
        }
        let original = match self.definitions[of.index()] {
            Some(scheme) => scheme.t,
            None => self.wrong(),
        };
        let t = self.seen_from(instance, original);
        let scheme = Scheme { t, generic: self.solver.arena.is_generic(t) };
        self.member_types.insert((instance, of), scheme);
        scheme
    }

    /// A module with parameters.
    pub(super) fn module(
        &mut self,
        definition: DefinitionId,
        parameters: List<PatternId>,
        lists: [List<DeclarationId>; 2],
    ) -> Checked {
        let tree = self.tree;
        for &pattern in tree.list(parameters) {
            for name in self.bound_by(pattern) {
                if let Resolved::Definition(id) = name {
                    self.here(self.renamed.definition(id).span);
                    self.definitions[id.index()] = Some(Scheme { t: self.solver.arena.fresh(), generic: false });
                }
            }
            self.evaluated_pattern(pattern)?;
        }
        let inside: Vec<DeclarationId> = lists.into_iter().flat_map(|list| tree.flattened(list)).collect();
        self.declarations(&inside, groups::Kind::Module);
        let mut types = Vec::with_capacity(parameters.len());
        for &pattern in tree.list(parameters) {
            types.push(self.evaluated_pattern(pattern)?);
        }
        let tuple = self.solver.arena.tuple(&types);
        self.modules.insert(definition, tuple);
        Ok(tuple)
    }

    /// `instance I = M(x)`. Gives the types that its parameters' variables stand for.
    pub(super) fn module_instance(
        &mut self,
        definition: DefinitionId,
        module: Named<Resolved>,
        list: List<ExpressionId>,
    ) -> Checked<Vec<T>> {
        let tree = self.tree;
        let Some(target) = self.renamed.instantiated(definition) else { return Err(Failed) };
        let Resolved::Definition(mut reached) = module.name else { return Err(Failed) };
        let mut outer = None;
        if let DefinitionKind::Member { instance, of } = self.renamed.definition(reached).kind {
            outer = Some(self.instance(instance));
            reached = of;
        }
        if matches!(self.renamed.definition(reached).kind, DefinitionKind::Instance) {
            // An instance of an instance is one of the same module, reached as that one was.
            let through = match outer {
                Some(outer) => self.instance_in(Some(outer), reached),
                None => self.instance_in(None, reached),
            };
            outer = self.instance_type(through).and_then(|its| its.outer);
        }
        let tuple = match self.modules.get(&target).copied() {
            Some(tuple) => tuple,
            None => self.solver.arena.tuple(&[]),
        };
        let mut variables: HashMap<T, T, RandomState> = HashMap::default();
        let mut generic = Vec::new();
        self.solver.arena.walk(tuple, |arena, at| {
            if let Node::Variable { constraints, level: GENERIC, .. } = arena.raw(at) {
                generic.push((at, constraints));
            }
            true
        });
        // Variables of the modules around this one are not this one's to replace.
        let around = outer.and_then(|outer| self.instance_type(outer));
        for (variable, constraints) in generic {
            if around.as_ref().is_none_or(|around| !around.variables.contains_key(&variable)) {
                variables.insert(variable, self.solver.arena.fresh_with(constraints));
            }
        }
        let made: Vec<T> = variables.values().copied().collect();
        let id = self.instance_in(None, definition);
        self.instance_types.insert(id, InstanceType { module: target, variables, outer });
        let parameters = self.seen_from(id, tuple);
        let Node::Tuple(parts) = self.solver.arena.node(parameters) else { return Err(Failed) };
        let known = (0..parts.len()).all(|at| {
            let part = self.solver.arena.part(parts, at);
            !matches!(self.solver.arena.node(part), Node::Wrong)
        });
        if parts.len() != list.len() && known {
            self.instance_types.remove(&id);
            let name = self.renamed.text(self.renamed.definition(target).name);
            let message = format!("the module `{name}` takes {}, not {}", arguments(parts.len()), list.len());
            return Err(self.report(codes::ARGUMENT_COUNT, message, module.span));
        }
        for (at, &argument) in tree.list(list).iter().enumerate().take(parts.len()) {
            let expected = self.solver.arena.part(parts, at);
            if let Err(failed) = self.expect(argument, expected) {
                self.instance_types.remove(&id);
                return Err(failed);
            }
        }
        Ok(made)
    }

    /// Channels and constructors of an instance must have types that are known.
    pub(super) fn instance_is_unambiguous(&mut self, definition: DefinitionId) {
        let id = self.instance_in(None, definition);
        let Some(its) = self.instance_type(id) else { return };
        if its.variables.is_empty() {
            return;
        }
        for at in 0..self.definitions.len() {
            let label = DefinitionId(at as u32);
            let found = self.renamed.definition(label);
            let is_label = matches!(found.kind, DefinitionKind::Channel | DefinitionKind::Constructor { .. });
            if is_label && found.module == Some(its.module) && self.member(id, label).generic {
                let member = self.member(id, label);
                self.ambiguous(label, member.t, self.renamed.definition(definition).span);
            }
        }
    }
}
