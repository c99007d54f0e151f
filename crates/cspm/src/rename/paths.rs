//! Looking names up: `x` from the inside out, `A::b::c` from left to right.

use trefoil_source::{Diagnostic, Place, Span};

use super::collect::{Resolver, Scope};
use super::*;
use trefoil_source::nearest;

/// Why a name cannot be used.
pub(super) enum Problem {
    Unknown,
    /// Not exported by its module; where it is declared.
    Private(Span),
    /// Belongs to this module with parameters.
    NeedsInstance(DefinitionId),
    /// Has `::` after something that is no module.
    NotAModule(Symbol),
    /// Goes through an instance that has a mistake of its own, or is not resolved yet.
    Broken,
}

impl Resolver<'_> {
    /// What a name stands for at a place in a scope.
    pub(super) fn find(&mut self, scope: usize, symbol: Symbol, span: Span) -> Result<Resolved, Problem> {
        if let Some(local) = self.current[symbol.0 as usize] {
            return Ok(local.target);
        }
        if let Some(found) = self.find_outside(scope, symbol) {
            return Ok(found);
        }
        if self.text(symbol).contains("::") { self.walk(scope, symbol, span) } else { Err(Problem::Unknown) }
    }

    /// An unqualified name among the enclosing modules and built-ins.
    fn find_outside(&self, scope: usize, symbol: Symbol) -> Option<Resolved> {
        let mut at = Some(scope);
        while let Some(scope) = at {
            if let Some(entry) = self.scopes[scope].entries.get(&symbol) {
                return Some(entry.target);
            }
            if self.scopes[scope].poisoned.contains(&symbol) {
                return Some(Resolved::Error);
            }
            at = self.scopes[scope].parent;
        }
        let builtin = self.builtins[symbol.0 as usize]?;
        let visible = match builtin.access() {
            Access::Free => true,
            Access::Timed => self.timed,
            _ => false,
        };
        visible.then_some(Resolved::Builtin(builtin))
    }

    /// An unqualified name of a type among the enclosing modules.
    pub(super) fn find_type(&self, scope: usize, symbol: Symbol) -> Option<Resolved> {
        let mut at = Some(scope);
        while let Some(scope) = at {
            let scope = &self.scopes[scope];
            if let Some(entry) = scope.entries.get(&symbol)
                && self.is_type(entry.target)
            {
                return Some(entry.target);
            }
            at = scope.parent;
        }
        None
    }

    /// Whether annotations can name it.
    pub(super) fn is_type(&self, target: Resolved) -> bool {
        let Resolved::Definition(id) = target else { return false };
        let base = match self.definitions[id.index()].kind {
            DefinitionKind::Member { of, .. } => of,
            _ => id,
        };
        let kind = self.definitions[base.index()].kind;
        matches!(kind, DefinitionKind::Datatype | DefinitionKind::Subtype | DefinitionKind::Nametype)
    }

    fn inside(&self, scope: usize, module: DefinitionId) -> bool {
        let mut at = Some(scope);
        while let Some(scope) = at {
            if self.scopes[scope].module == Some(module) {
                return true;
            }
            at = self.scopes[scope].parent;
        }
        false
    }

    fn has_parameters(&self, module: DefinitionId) -> bool {
        let declaration = self.definitions[module.index()].declaration;
        matches!(self.tree.declaration(declaration), Declaration::Module { parameters, .. } if !parameters.is_empty())
    }

    /// A qualified name.
    fn walk(&mut self, scope: usize, symbol: Symbol, span: Span) -> Result<Resolved, Problem> {
        let tree = self.tree;
        let mut parts = tree.names.parts(symbol).map(|part| tree.names.find(part).ok_or(Problem::Unknown));
        let first = parts.next().ok_or(Problem::Unknown)??;
        if self.current[first.0 as usize].is_some_and(|bound| bound.target == Resolved::Error) {
            return Err(Problem::Broken);
        }
        let mut found = self.find_outside(scope, first).ok_or(Problem::Unknown)?;
        let mut before = first;
        let mut instance = None;
        for part in parts {
            let id = match found {
                Resolved::Definition(id) => id,
                Resolved::Error => return Err(Problem::Broken),
                _ => return Err(Problem::NotAModule(before)),
            };
            let definition = self.definitions[id.index()];
            let base = match definition.kind {
                DefinitionKind::Member { of, .. } => of,
                _ => id,
            };
            let module = match self.definitions[base.index()].kind {
                DefinitionKind::Module => {
                    if self.has_parameters(base) && !self.inside(scope, base) {
                        return Err(Problem::NeedsInstance(base));
                    }
                    base
                }
                DefinitionKind::Instance => {
                    instance = Some(id);
                    self.targets.get(&id).copied().ok_or(Problem::Broken)?
                }
                _ => return Err(Problem::NotAModule(before)),
            };
            let part = part?;
            let inner = self.scope_of[&module];
            let Some(&entry) = self.scopes[inner].entries.get(&part) else {
                let broken = self.scopes[inner].poisoned.contains(&part);
                return Err(if broken { Problem::Broken } else { Problem::Unknown });
            };
            if !entry.exported && !self.inside(scope, module) {
                return Err(Problem::Private(entry.span));
            }
            found = match (entry.target, instance) {
                (Resolved::Definition(of), Some(instance)) => Resolved::Definition(self.member(instance, of, span)),
                (target, _) => target,
            };
            before = part;
        }
        Ok(found)
    }

    /// The definition of a module as an instance sees it.
    fn member(&mut self, instance: DefinitionId, of: DefinitionId, span: Span) -> DefinitionId {
        if let Some(&member) = self.members.get(&(instance, of)) {
            return member;
        }
        let member = DefinitionId(self.definitions.len() as u32);
        let kind = DefinitionKind::Member { instance, of };
        self.definitions.push(Definition { kind, span, ..self.definitions[of.index()] });
        self.members.insert((instance, of), member);
        if let Some(&target) = self.targets.get(&of) {
            self.targets.insert(member, target);
        }
        member
    }

    /// Whether this is a constructor or channel.
    pub(super) fn is_label(&self, name: Resolved) -> bool {
        let Resolved::Definition(mut id) = name else { return false };
        if let DefinitionKind::Member { of, .. } = self.definitions[id.index()].kind {
            id = of;
        }
        matches!(self.definitions[id.index()].kind, DefinitionKind::Constructor { .. } | DefinitionKind::Channel)
    }

    /// The constructor or channel that a name in a pattern means, or may mean if broken text declares the name.
    pub(super) fn label(&mut self, scope: usize, symbol: Symbol, span: Span) -> Option<Resolved> {
        let found = self.find(scope, symbol, span);
        // In a file that could not be read there may be constructors, which mostly begin with capital letters.
        let constructor = || self.tree.is_incomplete() && self.text(symbol).starts_with(char::is_uppercase);
        match found {
            Err(Problem::Broken) => return Some(Resolved::Error),
            Err(Problem::Unknown) if constructor() => return Some(Resolved::Error),
            _ => {}
        }
        found.ok().filter(|&found| found == Resolved::Error || self.is_label(found))
    }

    /// Whether this is a module or instance.
    fn is_module(&self, name: Resolved) -> bool {
        let Resolved::Definition(mut id) = name else { return false };
        if let DefinitionKind::Member { of, .. } = self.definitions[id.index()].kind {
            id = of;
        }
        matches!(self.definitions[id.index()].kind, DefinitionKind::Module | DefinitionKind::Instance)
    }

    /// What a name stands for as a value; reports it when there is nothing.
    pub(super) fn value(&mut self, scope: usize, symbol: Symbol, span: Span) -> Resolved {
        match self.find(scope, symbol, span) {
            Ok(found) if self.is_module(found) => {
                let message = format!("`{}` is a module, not a value", self.text(symbol));
                let help =
                    format!("declare an instance, `instance I = {}`, or name a definition in it", self.text(symbol));
                self.error(codes::NOT_A_VALUE, message, span).help = Some(help);
                Resolved::Error
            }
            Ok(found) => {
                if let Resolved::Local(local) = found {
                    self.mentioned[local.index()] = true;
                }
                found
            }
            Err(problem) => {
                self.report(scope, symbol, span, problem);
                Resolved::Error
            }
        }
    }

    /// Finds the modules of all instances. An instance may go through another one that is declared later, so this goes
    /// on while it helps.
    pub(super) fn resolve_instances(&mut self) {
        let mut waiting = Vec::new();
        for (scope, declared) in self.declared.iter().enumerate() {
            let instances = declared.iter().filter_map(|declared| match *self.tree.declaration(declared.id) {
                Declaration::Instance { module, .. } => Some((scope, declared.id, module)),
                _ => None,
            });
            waiting.extend(instances);
        }
        loop {
            let before = waiting.len();
            let mut left = Vec::new();
            for (scope, declaration, module) in waiting {
                if !self.resolve_instance(scope, declaration, module) {
                    left.push((scope, declaration, module));
                }
            }
            waiting = left;
            if waiting.is_empty() || waiting.len() == before {
                break;
            }
        }
        for (_, _, module) in waiting {
            let first = self.tree.names.parts(module.name).next().and_then(|first| self.tree.names.find(first));
            if first.is_some_and(|first| self.broken_somewhere(first)) {
                continue;
            }
            let message = format!("the module `{}` is unknown or depends on this instance", self.text(module.name));
            self.error(codes::UNKNOWN_NAME, message, module.span);
        }
    }

    /// Whether broken text declares a name, in whatever scope.
    fn broken_somewhere(&self, name: Symbol) -> bool {
        let duplicate = |scope: &Scope| scope.entries.get(&name).is_some_and(|entry| entry.target == Resolved::Error);
        self.scopes.iter().any(|scope| scope.poisoned.contains(&name) || duplicate(scope))
    }

    /// False when this must wait for another instance.
    fn resolve_instance(&mut self, scope: usize, declaration: DeclarationId, module: Named<Symbol>) -> bool {
        let found = match self.find(scope, module.name, module.span) {
            Ok(Resolved::Error) => return true,
            Ok(found) => found,
            Err(Problem::Broken) => return false,
            Err(Problem::Unknown) if self.tree.is_incomplete() => return true,
            Err(Problem::Unknown) => {
                let help = self.suggestion(scope, module.name);
                let message = format!("there is no module `{}`", self.text(module.name));
                self.error(codes::UNKNOWN_NAME, message, module.span).help = help;
                return true;
            }
            Err(problem) => {
                self.report(scope, module.name, module.span, problem);
                return true;
            }
        };
        if !self.is_module(found) {
            let message = format!("`{}` is not a module", self.text(module.name));
            self.error(codes::NOT_A_VALUE, message, module.span);
            return true;
        }
        let (Resolved::Definition(target), Resolved::Definition(instance)) =
            (found, self.sites.get(NameSite::Declaration(declaration)))
        else {
            return true;
        };
        let base = match self.definitions[target.index()].kind {
            DefinitionKind::Member { of, .. } => of,
            _ => target,
        };
        let module = match self.definitions[base.index()].kind {
            DefinitionKind::Module => Some(base),
            _ => self.targets.get(&base).copied(),
        };
        let Some(module) = module else { return false };
        self.targets.insert(instance, module);
        self.sites.set(NameSite::Module(declaration), found);
        true
    }

    /// Says why a name cannot be used; an unknown name is reported once, with its first place.
    pub(super) fn report(&mut self, scope: usize, symbol: Symbol, span: Span, problem: Problem) {
        let text = self.text(symbol);
        match problem {
            // A file that could not be read may declare it.
            Problem::Unknown if self.tree.is_incomplete() => {}
            Problem::Unknown => {
                if let Some((at, again)) = self.unknown.get_mut(&symbol) {
                    *again += 1;
                    let places =
                        if *again == 1 { "1 further place".to_string() } else { format!("{again} further places") };
                    self.diagnostics[*at].notes = vec![format!("also in {places}")];
                    return;
                }
                self.unknown.insert(symbol, (self.diagnostics.len(), 0));
                let help = self.suggestion(scope, symbol);
                let message = format!("`{text}` is not declared");
                self.error(codes::UNKNOWN_NAME, message, span).help = help;
            }
            Problem::Private(declared) => {
                let message = format!("`{text}` is private to its module");
                let diagnostic = Diagnostic::error(codes::PRIVATE, message, Place::Span(span));
                let diagnostic = diagnostic.also(Place::Span(declared), "declared here, before `exports`");
                self.diagnostics.push(diagnostic.help("move the declaration after `exports`"));
            }
            Problem::NeedsInstance(module) => {
                let name = self.text(self.definitions[module.index()].name);
                let message = format!("`{text}` belongs to a module with parameters, which needs an instance");
                self.error(codes::NEEDS_INSTANCE, message, span).help =
                    Some(format!("declare `instance I = {name}(…)` and write `I::…`"));
            }
            Problem::NotAModule(before) if !self.not_modules.insert(before) => {}
            Problem::NotAModule(before) => {
                let message = format!("`{}` is not a module", self.text(before));
                self.error(codes::NOT_A_VALUE, message, span);
            }
            Problem::Broken => {}
        }
    }

    /// What an unknown name may have been meant to be.
    fn suggestion(&self, scope: usize, symbol: Symbol) -> Option<String> {
        // Suggestions look at every name in scope, which is too slow for a file full of unknown names.
        if self.unknown.len() > 100 {
            return None;
        }
        let text = self.text(symbol);
        if let Some(builtin) = self.builtins[symbol.0 as usize] {
            return match builtin.access() {
                Access::External => Some(format!("declare it: `external {text}`")),
                Access::Transparent | Access::Either => Some(format!("declare it: `transparent {text}`")),
                Access::Timed => Some("it is available only inside `Timed` sections".to_string()),
                Access::Free => None,
            };
        }
        let (prefix, last) = text.rsplit_once("::").map_or(("", text), |(prefix, last)| (prefix, last));
        let mut candidates: Vec<&str> = Vec::new();
        if prefix.is_empty() {
            candidates.extend(self.trail.iter().map(|&(symbol, _)| self.text(symbol)));
            let mut at = Some(scope);
            while let Some(scope) = at {
                candidates.extend(self.scopes[scope].entries.keys().map(|&symbol| self.text(symbol)));
                at = self.scopes[scope].parent;
            }
            candidates.extend(Builtin::ALL.iter().filter(|b| b.access() == Access::Free).map(|b| b.text()));
            return nearest(last, candidates).map(|near| format!("did you mean `{near}`?"));
        }
        // The module may be known although the name in it is not.
        let module = self.tree.names.find(prefix).and_then(|prefix| self.find_outside(scope, prefix))?;
        let Resolved::Definition(id) = module else { return None };
        let module = self.targets.get(&id).copied().unwrap_or(id);
        let inner = self.scope_of.get(&module)?;
        let exported = self.scopes[*inner].entries.iter().filter(|(_, entry)| entry.exported);
        candidates.extend(exported.map(|(&symbol, _)| self.text(symbol)));
        nearest(last, candidates).map(|near| format!("did you mean `{prefix}::{near}`?"))
    }
}
