//! The resolution of names.
//!
//! The function [`rename()`] takes a parsed tree and returns a [`Renamed`]: the same tree, its nodes under the same
//! numbers, in which every name is a [`Resolved`]. Names of the top level and of modules are *definitions*; everything
//! that a function, `let`, lambda, generator or field binds is a *local*. Both are numbered over the whole script.
//!
//! Top-level and module scopes are mutually recursive, so their names are collected first: constructors and channels
//! before anything that a pattern binds, because a name in a pattern that is a constructor or channel in scope is
//! matched, and any other name is bound. Then the right-hand sides are resolved. Locals live on one stack per symbol
//! with a trail to undo, so that a look-up costs the same at any depth; modules cannot occur inside expressions, so a
//! name that is no local is looked up in the enclosing modules from the inside out, then among the built-ins.
//!
//! An instance of a module has no copies of the module's definitions in the tree. `I::x` becomes a definition of kind
//! [`DefinitionKind::Member`], made when it is first mentioned: the definition `x` of the module as the instance `I`
//! sees it. The instance of a member may itself be a member (`I::J::x`).

mod builtins;
mod codes;
mod collect;
mod declarations;
mod expressions;
mod paths;
mod unused;

use std::collections::HashMap;

use trefoil_control::{Control, Stopped};
use trefoil_source::{Diagnostic, Span};

pub use builtins::{Access, BasicType, Builtin};
pub use codes::CODES;

use crate::syntax::*;

/// A definition of the top level or of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefinitionId(pub u32);

/// A name bound inside an expression or by the parameters of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// A variable of a type annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeVariableId(pub u32);

impl DefinitionId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LocalId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl TypeVariableId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolved {
    /// Unknown; a diagnostic was reported, here or where the name is declared.
    Error,
    /// A built-in.
    Builtin(Builtin),
    /// A definition of the top level or of a module.
    Definition(DefinitionId),
    /// Something local.
    Local(LocalId),
    /// In types only.
    BasicType(BasicType),
    /// In types only.
    TypeVariable(TypeVariableId),
}

/// What sort of definition it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionKind {
    /// `f(x) = …`
    Function,
    /// Bound by the pattern of `p = e`.
    Value,
    /// A channel.
    Channel,
    /// A datatype, and the set of its values.
    Datatype,
    /// A constructor.
    Constructor {
        /// Of this datatype.
        datatype: DefinitionId,
        /// Its place among the constructors of the tree's datatype declaration, from 0.
        index: u32,
    },
    /// A subtype.
    Subtype,
    /// A `nametype`.
    Nametype,
    /// A module.
    Module,
    /// An instance of a module.
    Instance,
    /// Bound by a parameter of the module it belongs to.
    Parameter,
    /// A definition of a module as one of its instances sees it.
    Member {
        /// The instance: of kind `Instance`, or a `Member` whose `of` is an instance.
        instance: DefinitionId,
        /// The module's definition, itself no member.
        of: DefinitionId,
    },
}

/// A definition.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Its name without qualification.
    pub name: Symbol,
    /// Where the name stands; for a member, where it was first mentioned.
    pub span: Span,
    /// What sort it is.
    pub kind: DefinitionKind,
    /// The declaration that makes it; for a member, that of the module's definition.
    pub declaration: DeclarationId,
    /// The innermost module it belongs to.
    pub module: Option<DefinitionId>,
    /// Whether a module exports it; true at the top level.
    pub exported: bool,
    /// Whether it stands in a timed section.
    pub timed: bool,
    /// Its type annotation.
    pub annotation: Option<DeclarationId>,
}

/// What sort of local it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalKind {
    /// Bound by a pattern of a function, lambda, generator or field.
    Variable,
    /// A function of a `let`.
    Function(DeclarationId),
    /// Bound by the pattern of `p = e` in a `let`.
    Value(DeclarationId),
}

/// A local.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    /// Its name.
    pub name: Symbol,
    /// Where it is bound.
    pub span: Span,
    /// What sort it is.
    pub kind: LocalKind,
    /// Its type annotation.
    pub annotation: Option<DeclarationId>,
}

/// A script whose names are resolved.
#[derive(Clone, Debug)]
pub struct Renamed {
    tree: Tree<Resolved>,
    definitions: Vec<Definition>,
    locals: Vec<Local>,
    type_variables: Vec<Symbol>,
    members: HashMap<(DefinitionId, DefinitionId), DefinitionId, foldhash::fast::RandomState>,
    targets: HashMap<DefinitionId, DefinitionId, foldhash::fast::RandomState>,
    tocks: HashMap<DeclarationId, Resolved, foldhash::fast::RandomState>,
    queries: Vec<ExpressionId>,
}

impl Renamed {
    /// The tree; its nodes have the numbers they had in the tree that was renamed.
    pub fn tree(&self) -> &Tree<Resolved> {
        &self.tree
    }

    /// A definition.
    pub fn definition(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.index()]
    }

    /// All definitions in order of their numbers.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// A local.
    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.index()]
    }

    /// All locals in order of their numbers.
    pub fn locals(&self) -> &[Local] {
        &self.locals
    }

    /// The names of the type variables in order of their numbers.
    pub fn type_variables(&self) -> &[Symbol] {
        &self.type_variables
    }

    /// The text of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        self.tree.names.text(symbol)
    }

    /// A definition's name with its modules or instance: `A::b`.
    pub fn qualified(&self, id: DefinitionId) -> String {
        let mut parts = Vec::new();
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            let definition = self.definition(id);
            let before = match definition.kind {
                DefinitionKind::Member { instance, of } => {
                    // Modules between the instance's module and the member are named too.
                    let mut outer = self.definition(of).module;
                    parts.push(self.text(definition.name));
                    while let Some(module) = outer.filter(|&module| Some(module) != self.instantiated(instance)) {
                        parts.push(self.text(self.definition(module).name));
                        outer = self.definition(module).module;
                    }
                    Some(instance)
                }
                _ => {
                    parts.push(self.text(definition.name));
                    definition.module
                }
            };
            waiting.extend(before);
        }
        parts.reverse();
        parts.join("::")
    }

    /// What the module's definition `of` is in an instance, when the script mentions it.
    pub fn member(&self, instance: DefinitionId, of: DefinitionId) -> Option<DefinitionId> {
        self.members.get(&(instance, of)).copied()
    }

    /// The module that an instance is one of, through instances of instances; none when the script has an error there.
    pub fn instantiated(&self, instance: DefinitionId) -> Option<DefinitionId> {
        self.targets.get(&instance).copied()
    }

    /// The event `tock` that a timed section counts with.
    pub fn tock(&self, section: DeclarationId) -> Resolved {
        self.tocks.get(&section).copied().unwrap_or(Resolved::Error)
    }

    /// The further expressions, resolved as if they stood at the end of the script.
    pub fn queries(&self) -> &[ExpressionId] {
        &self.queries
    }

    /// The parts of a dotted expression from left to right, however the dots are nested; the expression itself when it
    /// has none.
    pub fn dotted(&self, id: ExpressionId) -> Vec<ExpressionId> {
        let mut parts = Vec::new();
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            match *self.tree.expression(id) {
                Expression::Binary { operator: BinaryOperator::Dot, left, right } => waiting.extend([right, left]),
                _ => parts.push(id),
            }
        }
        parts
    }

    /// The parts of a dotted pattern, likewise.
    pub fn dotted_pattern(&self, id: PatternId) -> Vec<PatternId> {
        let mut parts = Vec::new();
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            match *self.tree.pattern(id) {
                Pattern::Dot(left, right) => waiting.extend([right, left]),
                _ => parts.push(id),
            }
        }
        parts
    }

    /// Whether a name in a pattern is matched (a constructor or channel) rather than bound.
    pub fn is_label(&self, name: Resolved) -> bool {
        let Resolved::Definition(mut id) = name else { return false };
        if let DefinitionKind::Member { of, .. } = self.definition(id).kind {
            id = of;
        }
        matches!(self.definition(id).kind, DefinitionKind::Constructor { .. } | DefinitionKind::Channel)
    }
}

/// Resolves the names of a script, and of further expressions that were parsed into its tree (`queries`), which see the
/// names of the top level. The tree may have mistakes: names that broken text may declare resolve to
/// [`Resolved::Error`] without a diagnostic. Evaluation needs a result without errors.
pub fn rename(tree: Tree<Symbol>, queries: &[ExpressionId]) -> (Renamed, Vec<Diagnostic>) {
    resolve(tree, queries, &Control::unlimited())
}

/// As [`rename`]; ends early when the control stops it.
pub fn rename_under(
    control: &Control,
    tree: Tree<Symbol>,
    queries: &[ExpressionId],
) -> Result<(Renamed, Vec<Diagnostic>), Stopped> {
    let renamed = resolve(tree, queries, control);
    control.check()?;
    Ok(renamed)
}

fn resolve(tree: Tree<Symbol>, queries: &[ExpressionId], control: &Control) -> (Renamed, Vec<Diagnostic>) {
    let mut resolver = collect::Resolver::new(&tree, control);
    resolver.collect();
    resolver.resolve(queries);
    resolver.report_unused();
    let collect::Resolver {
        definitions, locals, type_variables, members, targets, tocks, sites, mut diagnostics, ..
    } = resolver;
    diagnostics.sort_by_key(|diagnostic: &Diagnostic| match diagnostic.labels[0].place {
        trefoil_source::Place::Span(span) => (span.file, span.start),
        _ => (trefoil_source::FileId(0), 0),
    });
    let tree = tree.with_names(|site, _| sites.get(site));
    let queries = queries.to_vec();
    (Renamed { tree, definitions, locals, type_variables, members, targets, tocks, queries }, diagnostics)
}
