//! The state of the stage, and the collection of what the top level and the modules declare.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use trefoil_source::{Diagnostic, Place, Span};

use super::*;
use trefoil_source::nearest;

/// What a name in a scope stands for.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) target: Resolved,
    pub(super) exported: bool,
    pub(super) span: Span,
}

/// The top level or a module.
pub(super) struct Scope {
    pub(super) parent: Option<usize>,
    /// The module; none for the top level.
    pub(super) module: Option<DefinitionId>,
    pub(super) entries: HashMap<Symbol, Entry, RandomState>,
    /// The names that broken text may declare. They stand for nothing known, so that nothing is said about their uses.
    pub(super) poisoned: HashSet<Symbol, RandomState>,
}

/// What was found for each place with a name.
pub(super) struct Sites {
    pub(super) expressions: Vec<Resolved>,
    pub(super) patterns: Vec<Resolved>,
    pub(super) types: Vec<Resolved>,
    pub(super) others: HashMap<NameSite, Resolved, RandomState>,
}

impl Sites {
    pub(super) fn get(&self, site: NameSite) -> Resolved {
        match site {
            NameSite::Expression(id) => self.expressions[id.index()],
            NameSite::Pattern(id) => self.patterns[id.index()],
            NameSite::Type(id) => self.types[id.index()],
            _ => self.others.get(&site).copied().unwrap_or(Resolved::Error),
        }
    }

    pub(super) fn set(&mut self, site: NameSite, name: Resolved) {
        match site {
            NameSite::Expression(id) => self.expressions[id.index()] = name,
            NameSite::Pattern(id) => self.patterns[id.index()] = name,
            NameSite::Type(id) => self.types[id.index()] = name,
            _ => drop(self.others.insert(site, name)),
        }
    }
}

/// The declarations of a scope, flattened over `include` and timed sections.
#[derive(Clone, Copy)]
pub(super) struct Declared {
    pub(super) id: DeclarationId,
    pub(super) exported: bool,
    pub(super) timed: bool,
}

/// What a symbol stands for locally, and how long the trail was when that began.
#[derive(Clone, Copy)]
pub(super) struct Binding {
    pub(super) target: Resolved,
    pub(super) since: usize,
}

pub(super) struct Resolver<'t> {
    pub(super) control: &'t Control,
    pub(super) tree: &'t Tree<Symbol>,
    pub(super) definitions: Vec<Definition>,
    pub(super) locals: Vec<Local>,
    /// Whether some expression mentions each local.
    pub(super) mentioned: Vec<bool>,
    pub(super) type_variables: Vec<Symbol>,
    pub(super) members: HashMap<(DefinitionId, DefinitionId), DefinitionId, RandomState>,
    /// The module of each instance.
    pub(super) targets: HashMap<DefinitionId, DefinitionId, RandomState>,
    pub(super) tocks: HashMap<DeclarationId, Resolved, RandomState>,
    pub(super) sites: Sites,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) scopes: Vec<Scope>,
    /// The scope of each module.
    pub(super) scope_of: HashMap<DefinitionId, usize, RandomState>,
    /// What each scope declares.
    pub(super) declared: Vec<Vec<Declared>>,
    /// The built-in behind each symbol.
    pub(super) builtins: Vec<Option<Builtin>>,
    /// The local binding of each symbol, and what it hid since when.
    pub(super) current: Vec<Option<Binding>>,
    pub(super) trail: Vec<(Symbol, Option<Binding>)>,
    /// Type variables in scope.
    pub(super) type_scope: Vec<(Symbol, TypeVariableId)>,
    /// The annotations whose names are resolved.
    pub(super) annotated: HashSet<TypeId, RandomState>,
    pub(super) timed: bool,
    /// Where each unknown name was reported, and how often it was seen since.
    pub(super) unknown: HashMap<Symbol, (usize, usize), RandomState>,
    /// Names that were reported because they are no modules.
    pub(super) not_modules: HashSet<Symbol, RandomState>,
}

impl<'t> Resolver<'t> {
    pub(super) fn new(tree: &'t Tree<Symbol>, control: &'t Control) -> Resolver<'t> {
        let mut builtins = vec![None; tree.names.len()];
        for &builtin in Builtin::ALL {
            if let Some(symbol) = tree.names.find(builtin.text()) {
                builtins[symbol.0 as usize] = Some(builtin);
            }
        }
        Resolver {
            control,
            tree,
            definitions: Vec::new(),
            locals: Vec::new(),
            mentioned: Vec::new(),
            type_variables: Vec::new(),
            members: HashMap::default(),
            targets: HashMap::default(),
            tocks: HashMap::default(),
            sites: Sites {
                expressions: vec![Resolved::Error; tree.expression_count()],
                patterns: vec![Resolved::Error; tree.pattern_count()],
                types: vec![Resolved::Error; tree.type_count()],
                others: HashMap::default(),
            },
            diagnostics: Vec::new(),
            scopes: Vec::new(),
            scope_of: HashMap::default(),
            declared: Vec::new(),
            builtins,
            current: vec![None; tree.names.len()],
            trail: Vec::new(),
            type_scope: Vec::new(),
            annotated: HashSet::default(),
            timed: false,
            unknown: HashMap::default(),
            not_modules: HashSet::default(),
        }
    }

    pub(super) fn text(&self, symbol: Symbol) -> &'t str {
        self.tree.names.text(symbol)
    }

    pub(super) fn error(&mut self, code: &'static str, message: String, span: Span) -> &mut Diagnostic {
        self.diagnostics.push(Diagnostic::error(code, message, Place::Span(span)));
        self.diagnostics.last_mut().expect("just pushed")
    }

    /// Finds all definitions, then what instances are instances of, then what patterns bind.
    pub(super) fn collect(&mut self) {
        let mut waiting = vec![(None, None, vec![(self.tree.declarations, true)])];
        // Breadth first, so that a module's parent has its scope before it.
        let mut next = 0;
        while next < waiting.len() {
            let (parent, module, lists) = waiting[next].clone();
            next += 1;
            let scope = self.scopes.len();
            self.scopes.push(Scope { parent, module, entries: HashMap::default(), poisoned: HashSet::default() });
            if let Some(module) = module {
                self.scope_of.insert(module, scope);
            }
            let mut declared = Vec::new();
            for (list, exported) in lists {
                self.flatten(list, exported, &mut declared);
            }
            for &declared in &declared {
                if let Some((module, private, exports)) = self.collect_labels(scope, declared) {
                    waiting.push((Some(scope), Some(module), vec![(private, false), (exports, true)]));
                }
            }
            self.declared.push(declared);
        }
        self.resolve_instances();
        for scope in 0..self.scopes.len() {
            self.collect_parameters(scope);
            for at in 0..self.declared[scope].len() {
                let declared = self.declared[scope][at];
                if let Declaration::Binding { pattern, .. } = *self.tree.declaration(declared.id) {
                    self.collect_pattern(scope, pattern, declared, DefinitionKind::Value);
                }
            }
            for at in 0..self.declared[scope].len() {
                let declared = self.declared[scope][at];
                if let Declaration::Annotation { names, .. } = *self.tree.declaration(declared.id) {
                    self.annotate(scope, declared.id, names);
                }
            }
        }
    }

    fn collect_parameters(&mut self, scope: usize) {
        let tree = self.tree;
        let Some(module) = self.scopes[scope].module else { return };
        let id = self.definitions[module.index()].declaration;
        if let Declaration::Module { parameters, .. } = *tree.declaration(id) {
            for &pattern in tree.list(parameters) {
                let declared = Declared { id, exported: false, timed: false };
                self.collect_pattern(scope, pattern, declared, DefinitionKind::Parameter);
            }
        }
    }

    fn flatten(&self, list: List<DeclarationId>, exported: bool, into: &mut Vec<Declared>) {
        let mut waiting: Vec<(DeclarationId, bool)> =
            self.tree.list(list).iter().rev().map(|&id| (id, false)).collect();
        while let Some((id, timed)) = waiting.pop() {
            match *self.tree.declaration(id) {
                Declaration::Include { declarations, .. } => {
                    waiting.extend(self.tree.list(declarations).iter().rev().map(|&id| (id, timed)));
                }
                Declaration::Timed { declarations, .. } => {
                    into.push(Declared { id, exported, timed });
                    waiting.extend(self.tree.list(declarations).iter().rev().map(|&id| (id, true)));
                }
                _ => into.push(Declared { id, exported, timed }),
            }
        }
    }

    /// Everything that is declared other than by a pattern. Gives back a module's lists.
    #[allow(clippy::type_complexity)]
    fn collect_labels(
        &mut self,
        scope: usize,
        declared: Declared,
    ) -> Option<(DefinitionId, List<DeclarationId>, List<DeclarationId>)> {
        let tree = self.tree;
        let own = NameSite::Declaration(declared.id);
        match *tree.declaration(declared.id) {
            Declaration::Function { name, .. } => {
                self.define(scope, name, own, DefinitionKind::Function, declared);
            }
            Declaration::Channel { names, .. } => {
                for (&name, at) in tree.list(names).iter().zip(names.range()) {
                    self.define(scope, name, NameSite::Listed(at), DefinitionKind::Channel, declared);
                }
            }
            Declaration::Datatype { name, constructors } => {
                let datatype = self.define(scope, name, own, DefinitionKind::Datatype, declared);
                for ((constructor, at), index) in tree.list(constructors).iter().zip(constructors.range()).zip(0..) {
                    let kind = DefinitionKind::Constructor { datatype, index };
                    self.define(scope, constructor.name, NameSite::Constructor(at), kind, declared);
                }
            }
            Declaration::Subtype { name, .. } => {
                self.define(scope, name, own, DefinitionKind::Subtype, declared);
            }
            Declaration::Nametype { name, .. } => {
                self.define(scope, name, own, DefinitionKind::Nametype, declared);
            }
            Declaration::External(names) | Declaration::Transparent(names) => {
                let external = matches!(tree.declaration(declared.id), Declaration::External(_));
                for (&name, at) in tree.list(names).iter().zip(names.range()) {
                    // An unknown one is declared all the same, or every use of it would be reported too.
                    let target = self.brought_in(name, external).map_or(Resolved::Error, Resolved::Builtin);
                    self.sites.set(NameSite::Listed(at), target);
                    self.enter(scope, name.name, Entry { target, exported: declared.exported, span: name.span });
                }
            }
            Declaration::Module { name, private, exported, .. } => {
                let module = self.define(scope, name, own, DefinitionKind::Module, declared);
                return Some((module, private, exported));
            }
            Declaration::Instance { name, .. } => {
                self.define(scope, name, own, DefinitionKind::Instance, declared);
            }
            Declaration::Error { names, .. } => {
                self.scopes[scope].poisoned.extend(tree.list(names).iter().map(|name| name.name));
            }
            _ => {}
        }
        None
    }

    /// The built-in that `external` or `transparent` names.
    pub(super) fn brought_in(&mut self, name: Named<Symbol>, external: bool) -> Option<Builtin> {
        let text = self.text(name.name);
        let found = Builtin::find_old(text).or_else(|| Builtin::find(text));
        if let Some(builtin) = found.filter(|builtin| builtin.comes_by(external)) {
            return Some(builtin);
        }
        let word = if external { "external" } else { "transparent" };
        let candidates = Builtin::ALL.iter().filter(|builtin| builtin.comes_by(external)).map(|builtin| builtin.text());
        let help = match found {
            Some(builtin) if builtin.comes_by(!external) => {
                Some(format!("write `{} {text}`", if external { "transparent" } else { "external" }))
            }
            Some(_) => Some("it needs no declaration".to_string()),
            None => nearest(text, candidates).map(|near| format!("did you mean `{near}`?")),
        };
        let message = format!("`{text}` is not {} {word} function", if external { "an" } else { "a" });
        self.error(codes::UNKNOWN_EXTERNAL, message, name.span).help = help;
        None
    }

    /// Adds a definition to a scope.
    fn define(
        &mut self,
        scope: usize,
        name: Named<Symbol>,
        site: NameSite,
        kind: DefinitionKind,
        declared: Declared,
    ) -> DefinitionId {
        let id = DefinitionId(self.definitions.len() as u32);
        self.definitions.push(Definition {
            name: name.name,
            span: name.span,
            kind,
            declaration: declared.id,
            module: self.scopes[scope].module,
            exported: declared.exported,
            timed: declared.timed,
            annotation: None,
        });
        self.sites.set(site, Resolved::Definition(id));
        let entry = Entry { target: Resolved::Definition(id), exported: declared.exported, span: name.span };
        self.enter(scope, name.name, entry);
        id
    }

    fn enter(&mut self, scope: usize, name: Symbol, entry: Entry) {
        if let Some(before) = self.scopes[scope].entries.get_mut(&name) {
            // The same built-in may be declared again, in an included file for instance.
            if before.target != entry.target {
                // A use may mean either, so nothing is said about its type.
                before.target = Resolved::Error;
                let first = before.span;
                self.duplicate(name, first, entry.span);
            }
            return;
        }
        self.scopes[scope].entries.insert(name, entry);
    }

    pub(super) fn duplicate(&mut self, name: Symbol, first: Span, second: Span) {
        let message = format!("`{}` is declared twice", self.text(name));
        let diagnostic = Diagnostic::error(codes::DUPLICATE, message, Place::Span(second));
        self.diagnostics.push(diagnostic.also(Place::Span(first), "first declared here"));
    }

    /// What a pattern of the top level or a module binds.
    fn collect_pattern(&mut self, scope: usize, pattern: PatternId, declared: Declared, kind: DefinitionKind) {
        let bare = matches!(self.tree.pattern(pattern), Pattern::Name(_));
        for (id, symbol) in self.pattern_names(pattern) {
            let span = self.tree.pattern_span(id);
            // The whole definition counts, not the broken text that may declare the name too.
            let broken = self.scopes[scope].poisoned.contains(&symbol);
            let found = self.label(scope, symbol, span);
            if let Some(found) = found.filter(|&found| found != Resolved::Error || !broken) {
                self.sites.set(NameSite::Pattern(id), found);
                let first = self.scopes[scope].entries.get(&symbol).map(|entry| entry.span);
                if let Some(first) = first.filter(|_| bare) {
                    self.sites.set(NameSite::Pattern(id), Resolved::Error);
                    self.duplicate(symbol, first, span);
                }
            } else if !self.refused_in_pattern(symbol, span) {
                self.define(scope, Named { name: symbol, span }, NameSite::Pattern(id), kind, declared);
            }
        }
    }

    /// The names in a pattern, from left to right. Reports what no pattern may hold.
    pub(super) fn pattern_names(&mut self, pattern: PatternId) -> Vec<(PatternId, Symbol)> {
        let tree = self.tree;
        let mut found = Vec::new();
        let mut waiting = vec![pattern];
        while let Some(id) = waiting.pop() {
            match *tree.pattern(id) {
                Pattern::Name(symbol) => found.push((id, symbol)),
                Pattern::Set(list) => {
                    if list.len() > 1 {
                        let message = "a set pattern has at most one element".to_string();
                        self.error(codes::SET_PATTERN, message, tree.pattern_span(id)).help =
                            Some("sets have no order, so a larger pattern could match in several ways".to_string());
                    }
                    waiting.extend(tree.list(list).iter().rev());
                }
                Pattern::Tuple(list) | Pattern::Sequence(list) | Pattern::Error(list) => {
                    waiting.extend(tree.list(list).iter().rev());
                }
                Pattern::Concatenate(left, right) | Pattern::Dot(left, right) | Pattern::Both(left, right) => {
                    waiting.extend([right, left]);
                }
                Pattern::Integer(number) if i32::try_from(number).is_err() => {
                    let message = format!("{number} does not fit in 32 bits");
                    self.error(codes::BIG_NUMBER, message, tree.pattern_span(id));
                }
                _ => {}
            }
        }
        found
    }

    /// Whether a name cannot be bound by a pattern; reports it.
    pub(super) fn refused_in_pattern(&mut self, symbol: Symbol, span: Span) -> bool {
        let text = self.text(symbol);
        if !text.contains("::") {
            return false;
        }
        let message = format!("`{text}` is neither a constructor nor a channel, so it cannot stand in a pattern");
        self.error(codes::QUALIFIED_PATTERN, message, span);
        true
    }

    /// Attaches an annotation of the top level or a module to what it annotates.
    fn annotate(&mut self, scope: usize, declaration: DeclarationId, names: List<Named<Symbol>>) {
        let tree = self.tree;
        for (&name, at) in tree.list(names).iter().zip(names.range()) {
            let entry = self.scopes[scope].entries.get(&name.name).copied();
            let Some(Entry { target: Resolved::Definition(id), .. }) = entry else {
                let duplicate = entry.is_some_and(|entry| entry.target == Resolved::Error);
                if !duplicate && !self.scopes[scope].poisoned.contains(&name.name) && !tree.is_incomplete() {
                    self.not_annotatable(name);
                }
                continue;
            };
            self.sites.set(NameSite::Listed(at), Resolved::Definition(id));
            let before = self.definitions[id.index()].annotation;
            self.annotated_once(name, before);
            self.definitions[id.index()].annotation = before.or(Some(declaration));
        }
    }

    pub(super) fn not_annotatable(&mut self, name: Named<Symbol>) {
        let message = format!("`{}` has a type annotation but no definition in this scope", self.text(name.name));
        self.error(codes::NOT_ANNOTATABLE, message, name.span);
    }

    pub(super) fn annotated_once(&mut self, name: Named<Symbol>, before: Option<DeclarationId>) {
        if let Some(first) = before {
            let message = format!("`{}` has two type annotations", self.text(name.name));
            let diagnostic = Diagnostic::error(codes::ANNOTATED_TWICE, message, Place::Span(name.span));
            let first = Place::Span(self.tree.declaration_span(first));
            self.diagnostics.push(diagnostic.also(first, "first annotation"));
        }
    }
}
