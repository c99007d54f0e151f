//! The types of a script.
//!
//! [`typecheck`] infers the type of every name (Damas and Milner, *Principal type-schemes for functional programs*,
//! 1982), with the dot types and constraints of CSPM. Declarations are checked in dependency groups: what a group
//! defines is generalised before anything that uses it is checked. As in other checkers of this language, a local
//! definition of a `let` is generalised only if it has an annotation. A group with an error gets the wrong type, which
//! equals every type, so that no consequence of the error is reported; there is at most one error for each group. An
//! unknown name and text that could not be parsed have the wrong type, too.
//!
//! A module without parameters is part of the scope around it. One with parameters is checked once, its parameters
//! being monomorphic in it, and generalised as a whole; an instance gets new variables for those of the parameters, and
//! datatypes of its own. The types of an instance's names are worked out when they are used.

mod annotations;
mod arena;
mod builtins;
mod codes;
mod contents;
mod declarations;
mod dots;
mod expressions;
mod groups;
mod hints;
mod modules;
mod patterns;
mod print;
mod report;
mod unify;

use std::collections::HashMap;

use foldhash::fast::RandomState;
use trefoil_control::{Control, Stopped};
use trefoil_source::{Diagnostic, FileId, Place, Span};

pub use codes::CODES;
pub use contents::{Content, Contents, VariableId};

use self::arena::*;
use self::modules::{InstanceId, InstanceType};
use self::unify::*;
use crate::rename::*;
use crate::syntax::*;

/// A script that has types.
#[derive(Clone, Debug)]
pub struct Typed {
    renamed: Renamed,
    types: Vec<(DefinitionId, String)>,
    queries: Vec<String>,
    contents: Contents,
}

impl Typed {
    /// The script.
    pub fn renamed(&self) -> &Renamed {
        &self.renamed
    }

    /// The script, without its types.
    pub fn into_renamed(self) -> Renamed {
        self.renamed
    }

    /// Every definition that is a value, in the order of the script, with its type as CSPM text.
    pub fn types(&self) -> &[(DefinitionId, String)] {
        &self.types
    }

    /// Summaries of types; empty if the script uses no built-in that distinguishes constants of datatypes.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The types of the queries as CSPM text.
    pub fn query_types(&self) -> &[String] {
        &self.queries
    }
}

/// Checks the types of a script and of its queries. Evaluation needs a result without errors.
pub fn typecheck(renamed: Renamed) -> (Typed, Vec<Diagnostic>) {
    check(renamed, &Control::unlimited())
}

/// As [`typecheck`]; ends early when the control stops it.
pub fn typecheck_under(control: &Control, renamed: Renamed) -> Result<(Typed, Vec<Diagnostic>), Stopped> {
    let typed = check(renamed, control);
    control.check()?;
    Ok(typed)
}

fn check(renamed: Renamed, control: &Control) -> (Typed, Vec<Diagnostic>) {
    let mut checker = Checker::new(&renamed, control);
    checker.script();
    let queries = checker.queries();
    let types = checker.definition_texts();
    let contents = checker.contents();
    let mut diagnostics = checker.diagnostics;
    diagnostics.sort_by_key(|diagnostic: &Diagnostic| match diagnostic.labels[0].place {
        Place::Span(span) => (span.file, span.start),
        _ => (FileId(0), 0),
    });
    (Typed { renamed, types, queries, contents }, diagnostics)
}

/// An error was reported.
#[derive(Clone, Copy, Debug)]
struct Failed;

type Checked<X = T> = Result<X, Failed>;

/// The type of a name, and whether it has generalised variables.
#[derive(Clone, Copy)]
struct Scheme {
    t: T,
    generic: bool,
}

struct Checker<'r> {
    control: &'r Control,
    renamed: &'r Renamed,
    tree: &'r Tree<Resolved>,
    solver: Solver,
    definitions: Vec<Option<Scheme>>,
    locals: Vec<Option<Scheme>>,
    builtins: HashMap<Builtin, Scheme, RandomState>,
    /// The instance it belongs to and the declaration of each datatype.
    datatypes: Vec<(Option<InstanceId>, DefinitionId)>,
    datatype_ids: HashMap<(Option<InstanceId>, DefinitionId), DatatypeId, RandomState>,
    /// The instance around it and the declaration of each instance.
    instances: Vec<(Option<InstanceId>, DefinitionId)>,
    instance_ids: HashMap<(Option<InstanceId>, DefinitionId), InstanceId, RandomState>,
    instance_types: HashMap<InstanceId, InstanceType, RandomState>,
    member_types: HashMap<(InstanceId, DefinitionId), Scheme, RandomState>,
    /// The parameters of checked modules, as a tuple.
    modules: HashMap<DefinitionId, T, RandomState>,
    type_variables: Vec<Option<T>>,
    diagnostics: Vec<Diagnostic>,
    /// Whether [`contents`] are needed, and what the variables of names became where these are used.
    keeps_uses: bool,
    uses: Vec<(ExpressionId, Vec<(T, T)>)>,
    /// A type was too large, or the control stopped the check; nothing more is checked.
    gave_up: bool,
}

impl<'r> Checker<'r> {
    fn new(renamed: &'r Renamed, control: &'r Control) -> Checker<'r> {
        let tree = renamed.tree();
        let nowhere = Span { file: tree.root.unwrap_or(FileId(0)), start: 0, end: 0 };
        let solver = Solver {
            arena: Arena::new(nowhere),
            comparable: Vec::new(),
            symmetric: true,
            most_steps: STEPS + 100 * tree.expression_count() as u64,
        };
        Checker {
            control,
            renamed,
            tree,
            solver,
            definitions: vec![None; renamed.definitions().len()],
            locals: vec![None; renamed.locals().len()],
            builtins: HashMap::default(),
            datatypes: Vec::new(),
            datatype_ids: HashMap::default(),
            instances: Vec::new(),
            instance_ids: HashMap::default(),
            instance_types: HashMap::default(),
            member_types: HashMap::default(),
            modules: HashMap::default(),
            type_variables: vec![None; renamed.type_variables().len()],
            diagnostics: Vec::new(),
            keeps_uses: Checker::tells_constants_apart(tree),
            uses: Vec::new(),
            gave_up: false,
        }
    }

    fn script(&mut self) {
        let declarations = self.tree.flat_declarations();
        self.declarations(&declarations, groups::Kind::Top);
    }

    fn queries(&mut self) -> Vec<String> {
        let mut texts = Vec::new();
        for &query in self.renamed.queries() {
            self.solver.arena.level += 1;
            let checked = self.infer(query).and_then(|t| {
                let span = self.tree.expression_span(query);
                self.evaluate(t, span)
            });
            self.solver.arena.level -= 1;
            let t = checked.unwrap_or_else(|Failed| self.wrong());
            self.solver.arena.generalise(t);
            texts.push(self.text(t));
        }
        texts
    }

    fn definition_texts(&mut self) -> Vec<(DefinitionId, String)> {
        let mut texts = Vec::new();
        for at in 0..self.definitions.len() {
            let id = DefinitionId(at as u32);
            let definition = self.renamed.definition(id);
            match definition.kind {
                DefinitionKind::Member { .. } | DefinitionKind::Module | DefinitionKind::Instance => continue,
                _ => {}
            }
            if self.control.check().is_err() {
                break;
            }
            let t = self.definitions[at].map_or_else(|| self.wrong(), |scheme| scheme.t);
            texts.push((id, self.text(t)));
        }
        texts.sort_by_key(|&(id, _)| {
            let span = self.renamed.definition(id).span;
            (span.file, span.start)
        });
        texts
    }

    fn wrong(&mut self) -> T {
        self.solver.arena.make(Node::Wrong)
    }

    fn here(&mut self, span: Span) {
        self.solver.arena.here = span;
    }

    /// The type of a name where it is used.
    fn name(&mut self, name: Resolved) -> T {
        let scheme = self.scheme(name);
        if scheme.generic { self.solver.arena.instantiate(scheme.t) } else { scheme.t }
    }

    fn scheme(&mut self, name: Resolved) -> Scheme {
        match name {
            Resolved::Local(id) => self.local(id),
            Resolved::Definition(id) => self.definition(id),
            Resolved::Builtin(builtin) => self.builtin(builtin),
            _ => Scheme { t: self.wrong(), generic: false },
        }
    }

    /// A local that has no type yet gets a variable.
    fn local(&mut self, id: LocalId) -> Scheme {
        if let Some(scheme) = self.locals[id.index()] {
            return scheme;
        }
        let here = std::mem::replace(&mut self.solver.arena.here, self.renamed.local(id).span);
        let scheme = Scheme { t: self.solver.arena.fresh(), generic: false };
        self.solver.arena.here = here;
        self.locals[id.index()] = Some(scheme);
        scheme
    }

    fn definition(&mut self, id: DefinitionId) -> Scheme {
        if let DefinitionKind::Member { instance, of } = self.renamed.definition(id).kind {
            let instance = self.instance(instance);
            return self.member(instance, of);
        }
        match self.definitions[id.index()] {
            Some(scheme) => scheme,
            None => Scheme { t: self.wrong(), generic: false },
        }
    }
}
