//! What expressions reach: every definition that evaluating them could look at, and every name that stands there.
//!
//! Only what an assertion reaches can spoil a symmetry of what it is about; the rest of the file is not looked at. A
//! name reaches its declaration, and so on. Definitions of a `let` are reached when they are named, as evaluation is
//! lazy. Besides:
//!
//! - a channel or constructor reaches what its fields range over, and a constructor its datatype;
//! - `Events` reaches every channel, every datatype and every instance of a module;
//! - what an instance of a module exports reaches the arguments of the instance. Instances are not distinguished beyond
//!   that: what one of them reaches counts for all. From an expression inside a module it is not known which instance
//!   it stands in, so there a parameter reaches the arguments of all instances;
//! - what stands in a timed section reaches its `tock` and the durations of its events;
//! - the argument of `error` is not reached. Evaluating `error(e)` fails, whatever `e` is, and failing is the same for
//!   all constants.
//!
//! Cost: linear in what is reached. There is no recursion, so scripts may nest as deeply as they like.

use std::collections::{BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;
use trefoil_source::Span;

use crate::rename::{Builtin, DefinitionId, DefinitionKind, LocalId, LocalKind, Renamed, Resolved};
use crate::syntax::*;

/// Where a constructor is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mention {
    /// As a value.
    Expression,
    /// In a pattern.
    Pattern,
}

/// A constructor that is named.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) constructor: DefinitionId,
    pub(super) how: Mention,
    pub(super) span: Span,
    /// The definition of the top level or of a module in which it stands.
    pub(super) within: Option<DefinitionId>,
}

/// A built-in that is named and can tell constants apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    pub(super) builtin: Builtin,
    /// The name.
    pub(super) name: ExpressionId,
    /// What it is applied to; none when it is passed on as a function.
    pub(super) arguments: Option<List<ExpressionId>>,
    pub(super) span: Span,
    pub(super) within: Option<DefinitionId>,
}

/// See the module's text.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// Definitions, members of instances as the definitions of their modules.
    definitions: HashSet<DefinitionId, RandomState>,
    pub(super) named: Vec<Named>,
    pub(super) used: Vec<Used>,
    /// Names with polymorphic types may stand here.
    pub(super) names: Vec<ExpressionId>,
    /// Variables outside of definitions of the top level and of modules, which are closed: used, and bound.
    variables: HashSet<(Region, LocalId), RandomState>,
    bound: HashSet<(Region, LocalId), RandomState>,
}

/// The expressions one starts from, or a definition of a `let`. A variable that a region uses and does not bind itself
/// is from around it; a binding in another region, such as the one around it, says nothing about its value here.
type Region = Option<DeclarationId>;

impl Reach {
    pub(super) fn has(&self, definition: DefinitionId) -> bool {
        self.definitions.contains(&definition)
    }

    /// All definitions that are reached, in the order of their numbers.
    pub(super) fn definitions(&self) -> Vec<DefinitionId> {
        let mut all: Vec<DefinitionId> = self.definitions.iter().copied().collect();
        all.sort_unstable();
        all
    }

    /// Variables that are used and not bound: those of what stands around an expression.
    pub(super) fn free(&self) -> impl Iterator<Item = LocalId> {
        self.variables.difference(&self.bound).map(|&(_, local)| local)
    }
}

/// Finds what is reached; made once for a script.
pub(super) struct Reacher<'r> {
    renamed: &'r Renamed,
    /// The timed section of each declaration that stands in one.
    sections: HashMap<DeclarationId, DeclarationId, RandomState>,
    /// The timed section of each expression that an assertion in one is about.
    timed: HashMap<ExpressionId, DeclarationId, RandomState>,
    /// The expressions that assertions in modules are about.
    inside: HashSet<ExpressionId, RandomState>,
    /// The instances of each module.
    instances: HashMap<DefinitionId, Vec<DefinitionId>, RandomState>,
}

enum Work {
    Expression(ExpressionId),
    Pattern(PatternId),
    Declaration(DeclarationId),
    Definition(DefinitionId),
}

struct Walk<'w, 'r> {
    reacher: &'w Reacher<'r>,
    /// Whether parameters of modules may be met whose instance was not.
    may_be_inside: bool,
    tree: &'r Tree<Resolved>,
    reach: Reach,
    /// What was looked at, in a definition of the top level or of a module, or not.
    declarations: HashSet<(DeclarationId, bool), RandomState>,
    waiting: Vec<(Work, Context)>,
    /// Where what is being looked at stands.
    context: Context,
}

#[derive(Clone, Copy, Default)]
struct Context {
    /// The definition of the top level or of a module.
    within: Option<DefinitionId>,
    /// Without one, the region.
    region: Region,
}

/// The expressions that an assertion is about. What it says about symmetry itself is none of them.
pub fn roots(tree: &Tree<Resolved>, check: Check, options: List<CheckOption>) -> Vec<ExpressionId> {
    let mut roots = match check {
        Check::Error => Vec::new(),
        Check::Refinement { specification, implementation, .. } => vec![specification, implementation],
        Check::Property { process, .. } => vec![process],
        Check::HasTrace { process, trace, .. } => vec![process, trace],
        Check::Symmetric { expression, .. } => vec![expression],
    };
    for option in tree.list(options) {
        if let CheckOption::TauPriority(events) = *option {
            roots.push(events);
        }
    }
    roots
}

/// The names of the built-ins that these expressions reach.
pub fn builtins(renamed: &Renamed, roots: &[ExpressionId]) -> BTreeSet<&'static str> {
    let reach = Reacher::new(renamed).reach(roots);
    let name = |&id: &ExpressionId| match *renamed.tree().expression(id) {
        Expression::Name(Resolved::Builtin(builtin)) => Some(builtin.text()),
        _ => None,
    };
    reach.names.iter().filter_map(name).collect()
}

impl<'r> Reacher<'r> {
    pub(super) fn new(renamed: &'r Renamed) -> Reacher<'r> {
        let tree = renamed.tree();
        let mut sections = HashMap::default();
        for at in 0..tree.declaration_count() {
            let section = DeclarationId(at as u32);
            if let Declaration::Timed { declarations, .. } = *tree.declaration(section) {
                sections.extend(tree.flattened(declarations).into_iter().map(|inner| (inner, section)));
            }
        }
        let mut timed = HashMap::default();
        for (&inner, &section) in &sections {
            if let Declaration::Assert { check, options, .. } = *tree.declaration(inner) {
                timed.extend(roots(tree, check, options).into_iter().map(|root| (root, section)));
            }
        }
        let mut inside = HashSet::default();
        for at in 0..tree.declaration_count() {
            if let Declaration::Module { private, exported, .. } = *tree.declaration(DeclarationId(at as u32)) {
                for inner in tree.flattened(private).into_iter().chain(tree.flattened(exported)) {
                    let section = match *tree.declaration(inner) {
                        Declaration::Timed { declarations, .. } => tree.flattened(declarations),
                        _ => vec![inner],
                    };
                    for inner in section {
                        if let Declaration::Assert { check, options, .. } = *tree.declaration(inner) {
                            inside.extend(roots(tree, check, options));
                        }
                    }
                }
            }
        }
        let mut instances: HashMap<DefinitionId, Vec<DefinitionId>, RandomState> = HashMap::default();
        for (at, definition) in renamed.definitions().iter().enumerate() {
            let id = DefinitionId(at as u32);
            if let (DefinitionKind::Instance, Some(module)) = (definition.kind, renamed.instantiated(id)) {
                instances.entry(module).or_default().push(id);
            }
        }
        Reacher { renamed, sections, timed, inside, instances }
    }

    /// What the expressions that an assertion is about, or that stand beside the script, reach.
    pub(super) fn reach(&self, roots: &[ExpressionId]) -> Reach {
        self.reach_from(roots, roots.iter().any(|root| self.inside.contains(root)))
    }

    /// What these expressions reach, wherever they stand.
    pub(super) fn reach_inside(&self, roots: &[ExpressionId]) -> Reach {
        self.reach_from(roots, true)
    }

    fn reach_from(&self, roots: &[ExpressionId], may_be_inside: bool) -> Reach {
        let mut walk = Walk {
            reacher: self,
            may_be_inside,
            tree: self.renamed.tree(),
            reach: Reach::default(),
            declarations: HashSet::default(),
            waiting: roots.iter().map(|&root| (Work::Expression(root), Context::default())).collect(),
            context: Context::default(),
        };
        for root in roots {
            if let Some(&section) = self.timed.get(root) {
                walk.section(section);
            }
        }
        while let Some((work, context)) = walk.waiting.pop() {
            walk.context = context;
            match work {
                Work::Expression(id) => walk.expression(id),
                Work::Pattern(id) => walk.pattern(id),
                Work::Declaration(id) => walk.declaration(id),
                Work::Definition(id) => walk.definition(id),
            }
        }
        walk.reach
    }
}

impl Walk<'_, '_> {
    fn push(&mut self, work: Work) {
        self.waiting.push((work, self.context));
    }

    fn push_all(&mut self, expressions: impl IntoIterator<Item = ExpressionId>) {
        let context = self.context;
        self.waiting.extend(expressions.into_iter().map(|id| (Work::Expression(id), context)));
    }

    fn push_list(&mut self, list: List<ExpressionId>) {
        self.push_all(self.tree.list(list).iter().copied());
    }

    fn push_patterns(&mut self, list: List<PatternId>) {
        let context = self.context;
        self.waiting.extend(self.tree.list(list).iter().map(|&id| (Work::Pattern(id), context)));
    }

    fn push_definition(&mut self, id: DefinitionId) {
        self.waiting.push((Work::Definition(id), Context::default()));
    }

    fn statements(&mut self, list: List<Statement>) {
        for statement in self.tree.list(list) {
            match *statement {
                Statement::Condition(condition) => self.push(Work::Expression(condition)),
                Statement::Generator { pattern, set } => {
                    self.push(Work::Pattern(pattern));
                    self.push(Work::Expression(set));
                }
            }
        }
    }

    fn pairs(&mut self, list: List<Pair>) {
        self.push_all(self.tree.list(list).iter().flat_map(|&Pair(left, right)| [left, right]));
    }

    /// The module's definition behind a member of an instance.
    fn plain(&self, id: DefinitionId) -> DefinitionId {
        match self.reacher.renamed.definition(id).kind {
            DefinitionKind::Member { of, .. } => of,
            _ => id,
        }
    }

    /// A name that stands somewhere.
    fn name(&mut self, name: Resolved, how: Mention, span: Span) {
        match name {
            Resolved::Definition(id) => {
                let constructor = self.plain(id);
                if let DefinitionKind::Constructor { .. } = self.reacher.renamed.definition(constructor).kind {
                    self.reach.named.push(Named { constructor, how, span, within: self.context.within });
                }
                self.push_definition(id);
            }
            Resolved::Local(id) => match self.reacher.renamed.local(id).kind {
                LocalKind::Variable if self.context.within.is_some() => {}
                LocalKind::Variable if how == Mention::Pattern => {
                    self.reach.bound.insert((self.context.region, id));
                }
                LocalKind::Variable => {
                    self.reach.variables.insert((self.context.region, id));
                }
                LocalKind::Function(declaration) | LocalKind::Value(declaration) => {
                    self.push(Work::Declaration(declaration));
                }
            },
            Resolved::Builtin(Builtin::Events) => {
                for (at, definition) in self.reacher.renamed.definitions().iter().enumerate() {
                    // What the channels of an instance carry may depend on its arguments.
                    let kinds = [DefinitionKind::Channel, DefinitionKind::Datatype, DefinitionKind::Instance];
                    if kinds.contains(&definition.kind) {
                        self.push_definition(DefinitionId(at as u32));
                    }
                }
            }
            _ => {}
        }
    }

    fn definition(&mut self, id: DefinitionId) {
        if !self.reach.definitions.insert(id) {
            return;
        }
        let definition = *self.reacher.renamed.definition(id);
        self.context = Context { within: Some(id), region: None };
        match definition.kind {
            DefinitionKind::Member { instance, of } => {
                self.push_definition(instance);
                self.push_definition(of);
            }
            DefinitionKind::Constructor { datatype, .. } => self.push_definition(datatype),
            DefinitionKind::Parameter if self.may_be_inside => {
                let instances = definition.module.and_then(|module| self.reacher.instances.get(&module));
                for &instance in instances.into_iter().flatten() {
                    self.push_definition(instance);
                }
            }
            DefinitionKind::Module | DefinitionKind::Parameter => {}
            _ => self.push(Work::Declaration(definition.declaration)),
        }
    }

    fn declaration(&mut self, id: DeclarationId) {
        if !self.declarations.insert((id, self.context.within.is_some())) {
            return;
        }
        if self.context.within.is_none() {
            self.context.region = Some(id);
        }
        if let Some(&section) = self.reacher.sections.get(&id) {
            self.section(section);
        }
        match *self.tree.declaration(id) {
            Declaration::Function { clauses, .. } => {
                for clause in self.tree.list(clauses) {
                    for &list in self.tree.list(clause.parameters) {
                        self.push_patterns(list);
                    }
                    self.push(Work::Expression(clause.body));
                }
            }
            Declaration::Binding { pattern, body } => {
                self.push(Work::Pattern(pattern));
                self.push(Work::Expression(body));
            }
            Declaration::Channel { fields, .. } => self.push_all(fields),
            // The analysis of constants considers the alternatives of a subtype as a whole.
            Declaration::Datatype { constructors, .. } | Declaration::Subtype { constructors, .. } => {
                for constructor in self.tree.list(constructors) {
                    if let Resolved::Definition(name) = constructor.name.name {
                        self.push_definition(name);
                    }
                    self.push_all(constructor.fields);
                }
            }
            Declaration::Nametype { set, .. } => self.push(Work::Expression(set)),
            Declaration::Instance { module, arguments, .. } => {
                if let Resolved::Definition(module) = module.name {
                    self.push_definition(module);
                }
                self.push_list(arguments);
            }
            _ => {}
        }
    }

    fn section(&mut self, section: DeclarationId) {
        if !self.declarations.insert((section, self.context.within.is_some())) {
            return;
        }
        let span = self.tree.declaration_span(section);
        self.name(self.reacher.renamed.tock(section), Mention::Expression, span);
        if let Declaration::Timed { durations, .. } = *self.tree.declaration(section) {
            self.push_all(durations);
        }
    }

    fn pattern(&mut self, id: PatternId) {
        match *self.tree.pattern(id) {
            Pattern::Name(name) => self.name(name, Mention::Pattern, self.tree.pattern_span(id)),
            Pattern::Tuple(list) | Pattern::Set(list) | Pattern::Sequence(list) => self.push_patterns(list),
            Pattern::Concatenate(left, right) | Pattern::Dot(left, right) | Pattern::Both(left, right) => {
                self.push(Work::Pattern(left));
                self.push(Work::Pattern(right));
            }
            _ => {}
        }
    }

    fn builtin(&mut self, name: ExpressionId, arguments: Option<List<ExpressionId>>, span: Span) {
        if let Expression::Name(Resolved::Builtin(builtin)) = *self.tree.expression(name)
            && builtin.tells_constants_apart()
        {
            self.reach.used.push(Used { builtin, name, arguments, span, within: self.context.within });
        }
    }

    fn apply(&mut self, id: ExpressionId, function: ExpressionId, arguments: List<ExpressionId>) {
        let Expression::Name(name) = *self.tree.expression(function) else {
            self.push(Work::Expression(function));
            return self.push_list(arguments);
        };
        let span = self.tree.expression_span(function);
        if name == Resolved::Builtin(Builtin::Error) {
            return;
        }
        self.builtin(function, Some(arguments), self.tree.expression_span(id));
        self.reach.names.push(function);
        self.name(name, Mention::Expression, span);
        self.push_list(arguments);
    }

    fn expression(&mut self, id: ExpressionId) {
        let span = self.tree.expression_span(id);
        match *self.tree.expression(id) {
            Expression::Name(name) => {
                self.builtin(id, None, span);
                self.reach.names.push(id);
                self.name(name, Mention::Expression, span);
            }
            Expression::Unary { operand, .. } => self.push(Work::Expression(operand)),
            Expression::Binary { left, right, .. } | Expression::Both(left, right) => self.push_all([left, right]),
            Expression::Synchronised { left, events, right, .. } => self.push_all([left, events, right]),
            Expression::Alphabetised { left, left_alphabet, right_alphabet, right } => {
                self.push_all([left, left_alphabet, right_alphabet, right]);
            }
            Expression::Link { left, ties, statements, right } => {
                self.push_all([left, right]);
                self.pairs(ties);
                self.statements(statements);
            }
            Expression::Rename { process, renames, statements } => {
                self.push(Work::Expression(process));
                self.pairs(renames);
                self.statements(statements);
            }
            Expression::Prefix { channel, fields, process } => {
                self.push_all([channel, process]);
                for field in self.tree.list(fields) {
                    match *field {
                        Field::Output(value) => self.push(Work::Expression(value)),
                        Field::Input(pattern, set) | Field::Choice(pattern, set) => {
                            self.push(Work::Pattern(pattern));
                            self.push_all(set);
                        }
                    }
                }
            }
            Expression::Apply { function, arguments } => self.apply(id, function, arguments),
            Expression::Tuple(list) => self.push_list(list),
            Expression::Collection { items, statements, .. } => {
                match items {
                    Items::Listed(list) => self.push_list(list),
                    Items::From(first) => self.push(Work::Expression(first)),
                    Items::Range(first, last) => self.push_all([first, last]),
                }
                self.statements(statements);
            }
            Expression::Map(pairs) => self.pairs(pairs),
            Expression::If { condition, then, otherwise } => self.push_all([condition, then, otherwise]),
            Expression::Let { body, .. } => self.push(Work::Expression(body)),
            Expression::Lambda { parameters, body } => {
                self.push_patterns(parameters);
                self.push(Work::Expression(body));
            }
            Expression::Replicated { operator, statements, body } => {
                self.statements(statements);
                self.push(Work::Expression(body));
                match operator {
                    Replication::Parallel(events)
                    | Replication::SynchronisingChoice(events)
                    | Replication::Alphabetised(events) => self.push(Work::Expression(events)),
                    Replication::Link(ties, generators) => {
                        self.pairs(ties);
                        self.statements(generators);
                    }
                    Replication::Interleave
                    | Replication::ExternalChoice
                    | Replication::InternalChoice
                    | Replication::Sequential => {}
                }
            }
            Expression::Error(_)
            | Expression::Integer(_)
            | Expression::Boolean(_)
            | Expression::Character(_)
            | Expression::String(_)
            | Expression::Wildcard => {}
        }
    }
}
