//! From the renamed tree to code: instances of modules, and the definitions of each.
//!
//! An instance of a module is a copy of it: its channels are other channels, and its definitions see its parameters. So
//! definitions are compiled once for the script (its modules without parameters included) and once more for each
//! instance. A *copy* knows the module it copies and the copy around it; a definition that is named inside one is
//! looked for in it, then in the copies around it, and what an instance exports in that instance's copy.

use std::collections::HashMap;

use trefoil_source::Span;

use super::code::*;
use super::scopes::{Binding, GroupScope, Scope};
use super::value::ConstructorId;
use crate::rename::{DefinitionId, DefinitionKind, LocalId, Renamed, Resolved};
use crate::syntax::*;

/// A copy of a module, or the script itself.
struct Copy {
    module: Option<DefinitionId>,
    /// Where the module stands.
    parent: usize,
    /// The instance that makes it, and the copy in which that is declared.
    instance: Option<(usize, DefinitionId)>,
    name: String,
    depth: u32,
}

/// More copies are not made: modules that instantiate themselves have no end.
const MOST_COPIES: usize = 20_000;
const DEEPEST_COPY: u32 = 64;

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

pub(super) struct Compiler<'r> {
    pub(super) renamed: &'r Renamed,
    pub(super) tree: &'r Tree<Resolved>,
    pub(super) program: Program,
    pub(super) scopes: Vec<Scope>,
    pub(super) groups: Vec<GroupScope>,
    pub(super) bindings: Map<LocalId, Binding>,
    /// Which expressions seem to give a process.
    pub(super) gives_process: Vec<bool>,
    pub(super) local_process: Vec<bool>,
    pub(super) section: Option<SectionId>,
    pub(super) lets: u32,
    /// The copy whose definitions are being compiled.
    copy: usize,
    copies: Vec<Copy>,
    instances: Map<(usize, DefinitionId), Option<usize>>,
    globals: Map<(usize, DefinitionId), GlobalId>,
    constructors: Map<(usize, DefinitionId), ConstructorId>,
    /// The right-hand sides of patterns that bind several names, and arguments of modules, by declaration and place.
    sources: Map<(usize, DeclarationId, usize), GlobalId>,
    sections: Map<(usize, DeclarationId), SectionId>,
    section_of: Map<DeclarationId, DeclarationId>,
    /// How long events take in the sections of `let`s.
    pub(super) local_durations: Map<SectionId, ExpressionId>,
}

/// The code of a script, the globals of the top level by definition, and units for its queries.
pub(super) struct Compiled {
    pub(super) program: Program,
    pub(super) globals: Map<DefinitionId, GlobalId>,
    pub(super) queries: Vec<UnitId>,
    pub(super) checks: Map<ExpressionId, UnitId>,
}

/// Compiles a script in which nothing is wrong any more.
pub(super) fn compile(renamed: &Renamed) -> Compiled {
    let tree = renamed.tree();
    let mut compiler = Compiler {
        renamed,
        tree,
        program: Program::default(),
        scopes: Vec::new(),
        groups: Vec::new(),
        bindings: Map::default(),
        gives_process: Vec::new(),
        local_process: Vec::new(),
        section: None,
        lets: 0,
        copy: 0,
        copies: vec![Copy { module: None, parent: 0, instance: None, name: String::new(), depth: 0 }],
        instances: Map::default(),
        globals: Map::default(),
        constructors: Map::default(),
        sources: Map::default(),
        sections: Map::default(),
        section_of: Map::default(),
        local_durations: Map::default(),
    };
    compiler.find_processes();
    compiler.find_sections();
    // `Events` has the first number.
    compiler.program.globals.push(Global {
        name: "Events".to_string(),
        span: Span { file: trefoil_source::FileId(0), start: 0, end: 0 },
        definition: GlobalDefinition::Broken,
    });
    let belongs = compiler.declare_copies();
    for (copy, definitions) in belongs.iter().enumerate() {
        for &definition in definitions {
            compiler.define(copy, definition);
        }
    }
    compiler.copy = 0;
    compiler.section = None;
    let channels = compiler.program.channels.clone();
    let nowhere = compiler.program.globals[EVENTS.index()].span;
    let events = compiler.whole_unit(|compiler, _| compiler.emit(Operation::Datatype(channels), nowhere));
    compiler.program.globals[EVENTS.index()].definition = GlobalDefinition::Value(events);
    let queries = renamed.queries().iter().map(|&query| compiler.expression_unit(query)).collect();
    let checks = compiler.checks();
    let top = compiler.globals.iter().filter(|((copy, _), _)| *copy == 0);
    let globals = top.map(|(&(_, definition), &global)| (definition, global)).collect();
    Compiled { program: compiler.program, globals, queries, checks }
}

/// `Events` among the globals.
pub(super) const EVENTS: GlobalId = GlobalId(0);

impl<'r> Compiler<'r> {
    pub(super) fn emit(&mut self, operation: Operation, span: Span) -> OperationId {
        self.program.operations.push(operation);
        self.program.spans.push(span);
        OperationId(self.program.operations.len() as u32 - 1)
    }

    pub(super) fn matcher(&mut self, matcher: Matcher) -> MatcherId {
        self.program.matchers.push(matcher);
        MatcherId(self.program.matchers.len() as u32 - 1)
    }

    /// A unit that sees no locals from outside.
    fn whole_unit(&mut self, body: impl FnOnce(&mut Self, usize) -> OperationId) -> UnitId {
        let scope = self.open(None);
        let body = body(self, scope);
        self.close_unit(body)
    }

    fn expression_unit(&mut self, expression: ExpressionId) -> UnitId {
        self.whole_unit(|compiler, scope| compiler.expression(expression, scope))
    }

    /// The sections that declarations stand in.
    fn find_sections(&mut self) {
        for at in 0..self.tree.declaration_count() {
            let section = DeclarationId(at as u32);
            if let Declaration::Timed { declarations, .. } = *self.tree.declaration(section) {
                for inner in self.tree.flattened(declarations) {
                    self.section_of.insert(inner, section);
                }
            }
        }
    }

    /// The code of a section in the copy being compiled. The durations of a section in a `let` are compiled
    /// where they are used, with the variables there.
    pub(super) fn section_code(&mut self, declaration: DeclarationId, is_local: bool) -> SectionId {
        if let Some(&section) = self.sections.get(&(self.copy, declaration)) {
            return section;
        }
        let span = self.tree.declaration_span(declaration);
        let name = self.renamed.tock(declaration);
        let tock = self.whole_unit(|compiler, scope| compiler.name(name, span, scope));
        let section = SectionId(self.program.sections.len() as u32);
        self.program.sections.push(Section { tock, durations: None });
        if let Declaration::Timed { durations: Some(durations), .. } = *self.tree.declaration(declaration) {
            if is_local {
                self.local_durations.insert(section, durations);
            } else {
                let unit = self.expression_unit(durations);
                self.program.sections[section.index()].durations = Some(unit);
            }
        }
        self.sections.insert((self.copy, declaration), section);
        section
    }

    fn is_parametrised(&self, module: DefinitionId) -> bool {
        let declaration = self.renamed.definition(module).declaration;
        matches!(self.tree.declaration(declaration), Declaration::Module { parameters, .. } if !parameters.is_empty())
    }

    fn is_inside(&self, definition: DefinitionId, module: DefinitionId) -> bool {
        let mut outer = self.renamed.definition(definition).module;
        while let Some(found) = outer {
            if found == module {
                return true;
            }
            outer = self.renamed.definition(found).module;
        }
        false
    }

    /// The copy in which a definition is found from another one.
    fn owner(&self, mut copy: usize, definition: DefinitionId) -> usize {
        while let Some(module) = self.copies[copy].module {
            if self.is_inside(definition, module) {
                return copy;
            }
            copy = self.copies[copy].parent;
        }
        0
    }

    /// A definition as seen from a copy: the copy it belongs to and the definition that is no member.
    fn place(&mut self, copy: usize, definition: DefinitionId) -> Option<(usize, DefinitionId)> {
        match self.renamed.definition(definition).kind {
            DefinitionKind::Member { instance, of } => {
                let copy = self.copy_of(copy, instance)?;
                Some((self.owner(copy, of), of))
            }
            _ => Some((self.owner(copy, definition), definition)),
        }
    }

    /// The copy that an instance, as seen from a copy, makes.
    fn copy_of(&mut self, copy: usize, instance: DefinitionId) -> Option<usize> {
        let (copy, instance) = self.place(copy, instance)?;
        if let Some(&known) = self.instances.get(&(copy, instance)) {
            return known;
        }
        self.instances.insert((copy, instance), None);
        let declaration = self.renamed.definition(instance).declaration;
        let Declaration::Instance { module, .. } = *self.tree.declaration(declaration) else { return None };
        let Resolved::Definition(module) = module.name else { return None };
        let (parent, module) = self.place(copy, module)?;
        let made = match self.renamed.definition(module).kind {
            DefinitionKind::Instance => self.copy_of(parent, module),
            _ => {
                let depth = self.copies[copy].depth + 1;
                if self.copies.len() >= MOST_COPIES || depth > DEEPEST_COPY {
                    return None;
                }
                let name = self.display(copy, instance);
                let instance = Some((copy, instance));
                self.copies.push(Copy { module: Some(module), parent, instance, name, depth });
                Some(self.copies.len() - 1)
            }
        };
        self.instances.insert((copy, instance), made);
        made
    }

    /// A definition's name as a user would write it at the top level.
    fn display(&self, copy: usize, definition: DefinitionId) -> String {
        let Some(module) = self.copies[copy].module else { return self.renamed.qualified(definition) };
        let mut parts = vec![self.renamed.text(self.renamed.definition(definition).name)];
        let mut outer = self.renamed.definition(definition).module;
        while let Some(found) = outer.filter(|&found| found != module) {
            parts.push(self.renamed.text(self.renamed.definition(found).name));
            outer = self.renamed.definition(found).module;
        }
        parts.push(&self.copies[copy].name);
        parts.reverse();
        parts.join("::")
    }

    /// Finds all copies and numbers their definitions; gives the definitions of each.
    fn declare_copies(&mut self) -> Vec<Vec<DefinitionId>> {
        let mut inside: Map<Option<DefinitionId>, Vec<DefinitionId>> = Map::default();
        for (at, definition) in self.renamed.definitions().iter().enumerate() {
            if !matches!(definition.kind, DefinitionKind::Member { .. }) {
                inside.entry(definition.module).or_default().push(DefinitionId(at as u32));
            }
        }
        let mut belongs = Vec::new();
        let mut copy = 0;
        while copy < self.copies.len() {
            let mut definitions = Vec::new();
            let mut modules = vec![self.copies[copy].module];
            while let Some(module) = modules.pop() {
                for &definition in inside.get(&module).map_or(&[][..], Vec::as_slice) {
                    definitions.push(definition);
                    if self.renamed.definition(definition).kind == DefinitionKind::Module
                        && !self.is_parametrised(definition)
                    {
                        modules.push(Some(definition));
                    }
                }
            }
            definitions.sort_unstable();
            for &definition in &definitions {
                if self.renamed.definition(definition).kind == DefinitionKind::Instance {
                    self.copy_of(copy, definition);
                }
            }
            for &definition in &definitions {
                self.declare(copy, definition);
            }
            belongs.push(definitions);
            copy += 1;
        }
        belongs
    }

    fn declare(&mut self, copy: usize, definition: DefinitionId) {
        let found = self.renamed.definition(definition);
        let (name, span) = (self.display(copy, definition), found.span);
        let mut code = GlobalDefinition::Broken;
        if let DefinitionKind::Channel | DefinitionKind::Constructor { .. } = found.kind {
            let id = ConstructorId(self.program.constructors.len() as u32);
            let channel = found.kind == DefinitionKind::Channel;
            self.program.constructors.push(ConstructorCode { name: name.clone(), span, channel, fields: None });
            self.constructors.insert((copy, definition), id);
            if channel {
                self.program.channels.push(id);
            }
            code = GlobalDefinition::Constructor(id);
        }
        let id = self.global(name, span, code);
        self.globals.insert((copy, definition), id);
    }

    fn global(&mut self, name: String, span: Span, definition: GlobalDefinition) -> GlobalId {
        self.program.globals.push(Global { name, span, definition });
        GlobalId(self.program.globals.len() as u32 - 1)
    }

    /// The constructor or channel that a name stands for in the copy being compiled.
    pub(super) fn constructor(&mut self, name: Resolved) -> Option<ConstructorId> {
        let Resolved::Definition(definition) = name else { return None };
        let place = self.place(self.copy, definition)?;
        self.constructors.get(&place).copied()
    }

    /// The global that a definition is in the copy being compiled.
    pub(super) fn definition(&mut self, definition: DefinitionId) -> Option<GlobalId> {
        let place = self.place(self.copy, definition)?;
        self.globals.get(&place).copied()
    }

    /// Compiles one definition of a copy.
    fn define(&mut self, copy: usize, id: DefinitionId) {
        let definition = *self.renamed.definition(id);
        let global = self.globals[&(copy, id)];
        self.copy = copy;
        self.section = None;
        if let Some(&section) = self.section_of.get(&definition.declaration) {
            self.section = Some(self.section_code(section, false));
        }
        let declaration = *self.tree.declaration(definition.declaration);
        let code = match (definition.kind, declaration) {
            (DefinitionKind::Function, Declaration::Function { clauses, .. }) => {
                let name = self.program.globals[global.index()].name.clone();
                let scope = self.open(None);
                let function = self.function(name, definition.span, clauses, scope);
                GlobalDefinition::Function(function)
            }
            (DefinitionKind::Value, Declaration::Binding { pattern, body }) => {
                if let Pattern::Name(_) = self.tree.pattern(pattern) {
                    GlobalDefinition::Value(self.expression_unit(body))
                } else {
                    let source = self.source(definition.declaration, 0, body);
                    GlobalDefinition::Value(self.part_of_global(pattern, source, id, definition.span))
                }
            }
            (DefinitionKind::Channel, Declaration::Channel { fields, .. }) => {
                self.define_fields(copy, id, fields);
                return;
            }
            (DefinitionKind::Constructor { index, .. }, Declaration::Datatype { constructors, .. }) => {
                let fields =
                    self.tree.list(constructors).get(index as usize).and_then(|constructor| constructor.fields);
                self.define_fields(copy, id, fields);
                return;
            }
            (DefinitionKind::Datatype, Declaration::Datatype { constructors, .. }) => {
                let names: Vec<Resolved> = self.tree.list(constructors).iter().map(|c| c.name.name).collect();
                let ids: Vec<ConstructorId> = names.into_iter().filter_map(|name| self.constructor(name)).collect();
                let name = self.program.globals[global.index()].name.clone();
                self.program.datatypes.push((id, name, ids.clone()));
                let span = definition.span;
                GlobalDefinition::Value(self.whole_unit(|compiler, _| compiler.emit(Operation::Datatype(ids), span)))
            }
            (DefinitionKind::Subtype, Declaration::Subtype { constructors, .. }) => {
                let clauses: Vec<_> = self.tree.list(constructors).to_vec();
                let span = definition.span;
                GlobalDefinition::Value(self.whole_unit(|compiler, scope| {
                    let mut parts = Vec::with_capacity(clauses.len());
                    for clause in clauses {
                        let fields = clause.fields.map(|fields| compiler.expression(fields, scope));
                        if let Some(constructor) = compiler.constructor(clause.name.name) {
                            parts.push((constructor, fields));
                        }
                    }
                    compiler.emit(Operation::Subtype(parts), span)
                }))
            }
            (DefinitionKind::Nametype, Declaration::Nametype { set, .. }) => {
                let span = definition.span;
                GlobalDefinition::Value(self.whole_unit(|compiler, scope| {
                    let set = compiler.expression(set, scope);
                    compiler.emit(Operation::TypeSet(set), span)
                }))
            }
            (DefinitionKind::Parameter, Declaration::Module { parameters, .. }) => {
                match self.parameter(copy, id, parameters, definition.span) {
                    Some(unit) => GlobalDefinition::Value(unit),
                    None => return,
                }
            }
            _ => return,
        };
        self.program.globals[global.index()].definition = code;
    }

    fn define_fields(&mut self, copy: usize, id: DefinitionId, fields: Option<ExpressionId>) {
        let constructor = self.constructors[&(copy, id)];
        if let Some(fields) = fields {
            let unit = self.expression_unit(fields);
            self.program.constructors[constructor.index()].fields = Some(unit);
        }
    }

    /// A parameter of the module that a copy copies, from the arguments of its instance.
    fn parameter(&mut self, copy: usize, id: DefinitionId, parameters: List<PatternId>, span: Span) -> Option<UnitId> {
        let (outer, instance) = self.copies[copy].instance?;
        let declaration = self.renamed.definition(instance).declaration;
        let Declaration::Instance { arguments, .. } = *self.tree.declaration(declaration) else { return None };
        let arguments = self.tree.list(arguments).to_vec();
        for (at, &pattern) in self.tree.list(parameters).iter().enumerate() {
            if !self.binds(pattern, id) {
                continue;
            }
            let argument = *arguments.get(at)?;
            self.copy = outer;
            let source = self.source_in(copy, declaration, at, argument);
            self.copy = copy;
            return Some(self.part_of_global(pattern, source, id, span));
        }
        None
    }

    fn binds(&self, pattern: PatternId, id: DefinitionId) -> bool {
        let mut waiting = vec![pattern];
        while let Some(pattern) = waiting.pop() {
            match *self.tree.pattern(pattern) {
                Pattern::Name(Resolved::Definition(found)) if found == id => return true,
                Pattern::Tuple(list) | Pattern::Set(list) | Pattern::Sequence(list) => {
                    waiting.extend(self.tree.list(list))
                }
                Pattern::Concatenate(a, b) | Pattern::Dot(a, b) | Pattern::Both(a, b) => waiting.extend([a, b]),
                _ => {}
            }
        }
        false
    }

    /// The global of a right-hand side that several names share.
    fn source(&mut self, declaration: DeclarationId, at: usize, body: ExpressionId) -> GlobalId {
        self.source_in(self.copy, declaration, at, body)
    }

    fn source_in(&mut self, key: usize, declaration: DeclarationId, at: usize, body: ExpressionId) -> GlobalId {
        if let Some(&source) = self.sources.get(&(key, declaration, at)) {
            return source;
        }
        let unit = self.expression_unit(body);
        let span = self.tree.expression_span(body);
        let source = self.global("a pattern's value".to_string(), span, GlobalDefinition::Value(unit));
        self.sources.insert((key, declaration, at), source);
        source
    }

    /// What a pattern of the top level binds to one of its names.
    fn part_of_global(&mut self, pattern: PatternId, source: GlobalId, id: DefinitionId, span: Span) -> UnitId {
        self.whole_unit(|compiler, scope| {
            let from = compiler.emit(Operation::Global(source), span);
            if let Pattern::Name(_) = compiler.tree.pattern(pattern) {
                return from;
            }
            let mut wanted = 0;
            let matcher = compiler.pattern(pattern, scope, &mut |name, slot| {
                if name == Resolved::Definition(id) {
                    wanted = slot;
                }
            });
            compiler.emit(Operation::Part(matcher, from, wanted), span)
        })
    }

    /// Units for what assertions and print statements mention; in a timed section they are evaluated as everything
    /// there is.
    fn checks(&mut self) -> Map<ExpressionId, UnitId> {
        let mut units = Map::default();
        let mut waiting: Vec<(DeclarationId, Option<SectionId>)> = Vec::new();
        waiting.extend(self.tree.flat_declarations().into_iter().map(|id| (id, None)));
        while let Some((id, section)) = waiting.pop() {
            let mut expressions = Vec::new();
            match *self.tree.declaration(id) {
                Declaration::Timed { declarations, .. } => {
                    let inner = Some(self.section_code(id, false));
                    waiting.extend(self.tree.flattened(declarations).into_iter().map(|id| (id, inner)));
                }
                Declaration::Print(expression) => expressions.push(expression),
                Declaration::Assert { check, options, .. } => {
                    match check {
                        Check::Error => {}
                        Check::Refinement { specification, implementation, .. } => {
                            expressions.extend([specification, implementation]);
                        }
                        Check::Property { process, .. } => expressions.push(process),
                        Check::HasTrace { process, trace, .. } => expressions.extend([process, trace]),
                        Check::Symmetric { expression, types } => {
                            expressions.push(expression);
                            expressions.extend(self.tree.list(types));
                        }
                    }
                    for option in self.tree.list(options) {
                        match *option {
                            CheckOption::TauPriority(set) => expressions.push(set),
                            CheckOption::SymmetryReduce(types) => expressions.extend(self.tree.list(types)),
                            CheckOption::PartialOrderReduce(_) => {}
                        }
                    }
                }
                _ => {}
            }
            self.section = section;
            for expression in expressions {
                units.insert(expression, self.expression_unit(expression));
            }
            self.section = None;
        }
        units
    }
}
