//! Summaries of types for later analyses.
//!
//! The analysis of symmetry needs to know whether an expression can yield constants of a datatype, and only for scripts
//! that use a built-in which can distinguish constants ([`Builtin::tells_constants_apart`]); for other scripts nothing
//! is kept. A summary lists the datatypes and variables of a type. A generalised variable stands for something else at
//! every use of the name whose type it belongs to, so each use is kept with what its variables became; what a variable
//! can stand for is then the union over the uses that matter, followed through the variables of the users. A variable
//! of a module's parameter stands for what the instances gave it. A variable that was neither bound nor generalised
//! holds no values.

use super::*;

/// A generalised variable of some type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(u32);

/// A summary of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The datatypes in it; those of instances are the module's.
    pub datatypes: Vec<DefinitionId>,
    /// The generalised variables in it.
    pub variables: Vec<VariableId>,
    /// Whether there are events in it.
    pub events: bool,
    /// Whether there are processes in it.
    pub processes: bool,
    /// Whether part of it has an unknown type.
    pub unknown: bool,
}

/// The contents of the types of a script.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    uses: HashMap<ExpressionId, Vec<(VariableId, Content)>, RandomState>,
    parameters: Vec<(VariableId, Content)>,
    definitions: Vec<Content>,
    locals: Vec<Content>,
}

impl Contents {
    /// What the generalised variables of a name became where it is used.
    pub fn of_use(&self, expression: ExpressionId) -> &[(VariableId, Content)] {
        self.uses.get(&expression).map_or(&[], Vec::as_slice)
    }

    /// What instances gave for the variables of the parameters of modules.
    pub fn parameters(&self) -> &[(VariableId, Content)] {
        &self.parameters
    }

    /// The content of the type of a definition that is no member of an instance; for a constructor or channel, of its
    /// fields.
    pub fn of_definition(&self, definition: DefinitionId) -> Option<&Content> {
        self.definitions.get(definition.index())
    }

    /// The content of the type of a local.
    pub fn of_local(&self, local: LocalId) -> Option<&Content> {
        self.locals.get(local.index())
    }
}

impl Checker<'_> {
    /// Whether a later analysis needs the uses of the script.
    pub(super) fn tells_constants_apart(tree: &Tree<Resolved>) -> bool {
        (0..tree.expression_count()).any(|at| match *tree.expression(ExpressionId(at as u32)) {
            Expression::Name(Resolved::Builtin(builtin)) => builtin.tells_constants_apart(),
            _ => false,
        })
    }

    /// The type of a name where it is used, recorded if a later analysis needs it.
    pub(super) fn used(&mut self, id: ExpressionId, name: Resolved) -> T {
        if !self.keeps_uses {
            return self.name(name);
        }
        let scheme = self.scheme(name);
        if !scheme.generic {
            return scheme.t;
        }
        let mut became = Vec::new();
        let t = self.solver.arena.copy(scheme.t, &mut |arena, node, t| match node {
            Node::Variable { constraints, level: GENERIC, .. } => {
                let fresh = arena.fresh_with(constraints);
                became.push((t, fresh));
                fresh
            }
            _ => t,
        });
        self.uses.push((id, became));
        t
    }

    /// Everything that was kept, once all types are known.
    pub(super) fn contents(&mut self) -> Contents {
        if !self.keeps_uses {
            return Contents::default();
        }
        let mut contents = Contents::default();
        for (id, became) in std::mem::take(&mut self.uses) {
            if self.control.check().is_err() {
                break;
            }
            let became: Vec<_> = became.into_iter().map(|pair| self.became(pair)).collect();
            contents.uses.entry(id).or_default().extend(became);
        }
        contents.parameters = self.instance_variables().into_iter().map(|pair| self.became(pair)).collect();
        for at in 0..self.definitions.len() {
            let content = self.definitions[at].map(|scheme| self.content(scheme.t));
            contents.definitions.push(content.unwrap_or_else(unknown));
        }
        for at in 0..self.locals.len() {
            let content = self.locals[at].map(|scheme| self.content(scheme.t));
            contents.locals.push(content.unwrap_or_else(unknown));
        }
        contents
    }

    fn became(&mut self, (variable, t): (T, T)) -> (VariableId, Content) {
        (VariableId(self.solver.arena.head(variable).0), self.content(t))
    }

    fn content(&mut self, t: T) -> Content {
        let mut content = Content::default();
        let datatypes = &self.datatypes;
        self.solver.arena.walk(t, |arena, at| {
            match arena.raw(at) {
                Node::Variable { level: GENERIC, .. } => content.variables.push(VariableId(at.0)),
                Node::Datatype(id) => content.datatypes.push(datatypes[id.0 as usize].1),
                Node::Event => content.events = true,
                Node::Proc => content.processes = true,
                Node::Wrong => content.unknown = true,
                _ => {}
            }
            true
        });
        content.datatypes.sort_unstable();
        content.datatypes.dedup();
        content
    }
}

fn unknown() -> Content {
    Content { unknown: true, ..Content::default() }
}
