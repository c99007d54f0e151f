//! Where the nodes live.
//!
//! One vector for each sort of node and one for each sort of list, so that a tree of any depth is dropped, cloned and
//! compared without recursion. A parser that discards what it has just read (an expression that turned out to be a
//! pattern) cuts the vectors back: a tree holds no dead nodes, and equal texts modulo layout give equal vectors.

use std::marker::PhantomData;

use trefoil_source::{FileId, Span};

use super::names::Names;
use super::tree::*;

/// A list of `T` in a tree.
pub struct List<T> {
    pub(super) start: u32,
    pub(super) len: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> List<T> {
    /// The empty list.
    pub const EMPTY: List<T> = List { start: 0, len: 0, of: PhantomData };

    /// How many items it has.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Where its items lie among all items of their sort.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }

    fn retyped<U>(self) -> List<U> {
        List { start: self.start, len: self.len, of: PhantomData }
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> List<T> {
        *self
    }
}

impl<T> Copy for List<T> {}

impl<T> PartialEq for List<T> {
    fn eq(&self, other: &List<T>) -> bool {
        (self.start, self.len) == (other.start, other.len)
    }
}

impl<T> Eq for List<T> {}

impl<T> std::fmt::Debug for List<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.range())
    }
}

/// A comment, delimiters included.
#[derive(Clone, Debug)]
pub struct Comment {
    /// Where it stands.
    pub span: Span,
    /// What it says.
    pub text: Box<str>,
    /// Whether code comes before it on its line.
    pub trailing: bool,
    /// First byte of the token that follows it.
    pub(super) next: u32,
}

/// The round brackets that the text has around nodes of one sort, although the tree needs none.
#[derive(Clone, Debug, Default)]
pub(super) struct Brackets(Vec<Bracketed>);

/// A node with brackets around it.
#[derive(Clone, Copy, Debug)]
struct Bracketed {
    node: u32,
    pairs: u32,
    /// The node without its brackets.
    inner: Span,
}

impl Brackets {
    /// Records a pair of brackets around the node that was added last.
    pub(super) fn add(&mut self, node: usize, inner: Span) {
        match self.0.last_mut() {
            Some(last) if last.node == node as u32 => last.pairs += 1,
            _ => self.0.push(Bracketed { node: node as u32, pairs: 1, inner }),
        }
    }

    /// How many pairs a node has, and its place inside them.
    pub(super) fn around(&self, node: usize) -> Option<(u32, Span)> {
        let at = self.0.binary_search_by_key(&(node as u32), |bracketed| bracketed.node).ok()?;
        Some((self.0[at].pairs, self.0[at].inner))
    }

    fn cut_back(&mut self, nodes: usize) {
        while self.0.last().is_some_and(|last| last.node as usize >= nodes) {
            self.0.pop();
        }
    }
}

/// A script: its files' declarations with everything in them.
#[derive(Clone, Debug)]
pub struct Tree<N> {
    /// The texts of symbols.
    pub names: Names,
    /// The root file, when there is one.
    pub root: Option<FileId>,
    /// The root file's declarations.
    pub declarations: List<DeclarationId>,
    /// All comments, by file and place.
    pub comments: Vec<Comment>,
    /// What comes after a blank line, by file and first byte, in order.
    pub(super) after_blank: Vec<(FileId, u32)>,
    /// Whether the text had mistakes.
    pub(super) mistaken: bool,
    /// Whether a file that the script includes could not be read.
    pub(super) incomplete: bool,
    pub(super) expression_brackets: Brackets,
    pub(super) pattern_brackets: Brackets,
    pub(super) type_brackets: Brackets,
    pub(super) expressions: Vec<Expression<N>>,
    pub(super) expression_spans: Vec<Span>,
    pub(super) patterns: Vec<Pattern<N>>,
    pub(super) pattern_spans: Vec<Span>,
    pub(super) all_declarations: Vec<Declaration<N>>,
    pub(super) declaration_spans: Vec<Span>,
    pub(super) types: Vec<Type<N>>,
    pub(super) type_spans: Vec<Span>,
    pub(super) expression_lists: Vec<ExpressionId>,
    pub(super) pattern_lists: Vec<PatternId>,
    pub(super) parameter_lists: Vec<List<PatternId>>,
    pub(super) declaration_lists: Vec<DeclarationId>,
    pub(super) type_lists: Vec<TypeId>,
    pub(super) pairs: Vec<Pair>,
    pub(super) statements: Vec<Statement>,
    pub(super) fields: Vec<Field>,
    pub(super) clauses: Vec<Clause>,
    pub(super) options: Vec<CheckOption>,
    pub(super) named: Vec<Named<N>>,
    pub(super) constructors: Vec<Constructor<N>>,
    pub(super) constraints: Vec<Constraint<N>>,
}

/// What lists can be made of.
pub trait Stored<N>: Sized {
    #[doc(hidden)]
    fn all(tree: &Tree<N>) -> &Vec<Self>;
    #[doc(hidden)]
    fn all_mut(tree: &mut Tree<N>) -> &mut Vec<Self>;
}

macro_rules! stored {
    ($($item:ty => $vector:ident,)*) => {$(
        impl<N> Stored<N> for $item {
            fn all(tree: &Tree<N>) -> &Vec<Self> {
                &tree.$vector
            }
            fn all_mut(tree: &mut Tree<N>) -> &mut Vec<Self> {
                &mut tree.$vector
            }
        }
    )*};
}

stored! {
    ExpressionId => expression_lists,
    PatternId => pattern_lists,
    List<PatternId> => parameter_lists,
    DeclarationId => declaration_lists,
    TypeId => type_lists,
    Pair => pairs,
    Statement => statements,
    Field => fields,
    Clause => clauses,
    CheckOption => options,
    Named<N> => named,
    Constructor<N> => constructors,
    Constraint<N> => constraints,
}

impl<N> Default for Tree<N> {
    fn default() -> Tree<N> {
        Tree {
            names: Names::default(),
            root: None,
            declarations: List::EMPTY,
            comments: Vec::new(),
            after_blank: Vec::new(),
            mistaken: false,
            incomplete: false,
            expression_brackets: Brackets::default(),
            pattern_brackets: Brackets::default(),
            type_brackets: Brackets::default(),
            expressions: Vec::new(),
            expression_spans: Vec::new(),
            patterns: Vec::new(),
            pattern_spans: Vec::new(),
            all_declarations: Vec::new(),
            declaration_spans: Vec::new(),
            types: Vec::new(),
            type_spans: Vec::new(),
            expression_lists: Vec::new(),
            pattern_lists: Vec::new(),
            parameter_lists: Vec::new(),
            declaration_lists: Vec::new(),
            type_lists: Vec::new(),
            pairs: Vec::new(),
            statements: Vec::new(),
            fields: Vec::new(),
            clauses: Vec::new(),
            options: Vec::new(),
            named: Vec::new(),
            constructors: Vec::new(),
            constraints: Vec::new(),
        }
    }
}

/// Looking.
impl<N> Tree<N> {
    /// The items of a list.
    pub fn list<T: Stored<N>>(&self, list: List<T>) -> &[T] {
        if list.is_empty() { &[] } else { &T::all(self)[list.range()] }
    }

    /// A node.
    pub fn expression(&self, id: ExpressionId) -> &Expression<N> {
        &self.expressions[id.index()]
    }

    /// Its place.
    pub fn expression_span(&self, id: ExpressionId) -> Span {
        self.expression_spans[id.index()]
    }

    /// A node.
    pub fn pattern(&self, id: PatternId) -> &Pattern<N> {
        &self.patterns[id.index()]
    }

    /// Its place.
    pub fn pattern_span(&self, id: PatternId) -> Span {
        self.pattern_spans[id.index()]
    }

    /// A node.
    pub fn declaration(&self, id: DeclarationId) -> &Declaration<N> {
        &self.all_declarations[id.index()]
    }

    /// Its place.
    pub fn declaration_span(&self, id: DeclarationId) -> Span {
        self.declaration_spans[id.index()]
    }

    /// A node.
    pub fn type_of(&self, id: TypeId) -> &Type<N> {
        &self.types[id.index()]
    }

    /// Its place.
    pub fn type_span(&self, id: TypeId) -> Span {
        self.type_spans[id.index()]
    }

    /// How many expressions there are; their numbers are below this.
    pub fn expression_count(&self) -> usize {
        self.expressions.len()
    }

    /// How many patterns there are; their numbers are below this.
    pub fn pattern_count(&self) -> usize {
        self.patterns.len()
    }

    /// How many declarations there are; their numbers are below this.
    pub fn declaration_count(&self) -> usize {
        self.all_declarations.len()
    }

    /// How many types there are; their numbers are below this.
    pub fn type_count(&self) -> usize {
        self.types.len()
    }

    /// Whether the text had mistakes: the tree holds `Error` nodes, or lacks declarations.
    pub fn is_mistaken(&self) -> bool {
        self.mistaken
    }

    /// Whether a file that the script includes could not be read: any name may be declared there.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// The script's declarations in order, those of included files in the place of their `include`.
    pub fn flat_declarations(&self) -> Vec<DeclarationId> {
        self.flattened(self.declarations)
    }

    /// These declarations in order, those of included files in the place of their `include`.
    pub fn flattened(&self, list: List<DeclarationId>) -> Vec<DeclarationId> {
        let mut flat = Vec::new();
        let mut waiting: Vec<DeclarationId> = self.list(list).iter().rev().copied().collect();
        while let Some(id) = waiting.pop() {
            match *self.declaration(id) {
                Declaration::Include { declarations, .. } => waiting.extend(self.list(declarations).iter().rev()),
                _ => flat.push(id),
            }
        }
        flat
    }

    /// The files that were included.
    pub fn included_files(&self) -> impl Iterator<Item = FileId> {
        self.all_declarations.iter().filter_map(|declaration| match declaration {
            Declaration::Include { file, .. } => file.map(|file| file.0),
            _ => None,
        })
    }

    /// Whether two trees are the same but for places, comments and the numbers of their strings. Both must have been
    /// built from the leaves up, left to right, as parsing does.
    pub fn same(&self, other: &Tree<N>) -> bool
    where
        N: PartialEq,
    {
        let texts = |mine, others| self.names.text(mine) == other.names.text(others);
        let expressions = |pair: (&Expression<N>, &Expression<N>)| match pair {
            (&Expression::String(mine), &Expression::String(others)) => texts(mine, others),
            (mine, others) => mine == others,
        };
        let patterns = |pair: (&Pattern<N>, &Pattern<N>)| match pair {
            (&Pattern::String(mine), &Pattern::String(others)) => texts(mine, others),
            (mine, others) => mine == others,
        };
        let declarations = |pair: (&Declaration<N>, &Declaration<N>)| match pair {
            (
                &Declaration::Include { path: mine, declarations: inside, .. },
                &Declaration::Include { path: others, declarations, .. },
            ) => texts(mine, others) && inside == declarations,
            (mine, others) => mine == others,
        };
        self.expressions.len() == other.expressions.len()
            && self.expressions.iter().zip(&other.expressions).all(expressions)
            && self.patterns.len() == other.patterns.len()
            && self.patterns.iter().zip(&other.patterns).all(patterns)
            && self.all_declarations.len() == other.all_declarations.len()
            && self.all_declarations.iter().zip(&other.all_declarations).all(declarations)
            && self.types == other.types
            && self.expression_lists == other.expression_lists
            && self.pattern_lists == other.pattern_lists
            && self.parameter_lists == other.parameter_lists
            && self.declaration_lists == other.declaration_lists
            && self.type_lists == other.type_lists
            && self.pairs == other.pairs
            && self.statements == other.statements
            && self.fields == other.fields
            && self.clauses == other.clauses
            && self.options == other.options
            && self.named == other.named
            && self.constructors == other.constructors
            && self.constraints == other.constraints
            && self.declarations == other.declarations
    }
}

/// Building, from the leaves up.
impl<N> Tree<N> {
    /// Adds a list.
    pub fn add_list<T: Stored<N>>(&mut self, items: impl IntoIterator<Item = T>) -> List<T> {
        let all = T::all_mut(self);
        let start = all.len() as u32;
        all.extend(items);
        let len = all.len() as u32 - start;
        if len == 0 { List::EMPTY } else { List { start, len, of: PhantomData } }
    }

    /// Adds a node.
    pub fn add_expression(&mut self, expression: Expression<N>, span: Span) -> ExpressionId {
        self.expressions.push(expression);
        self.expression_spans.push(span);
        ExpressionId(self.expressions.len() as u32 - 1)
    }

    /// Adds a node.
    pub fn add_pattern(&mut self, pattern: Pattern<N>, span: Span) -> PatternId {
        self.patterns.push(pattern);
        self.pattern_spans.push(span);
        PatternId(self.patterns.len() as u32 - 1)
    }

    /// Adds a node.
    pub fn add_declaration(&mut self, declaration: Declaration<N>, span: Span) -> DeclarationId {
        self.all_declarations.push(declaration);
        self.declaration_spans.push(span);
        DeclarationId(self.all_declarations.len() as u32 - 1)
    }

    /// Adds a node.
    pub fn add_type(&mut self, node: Type<N>, span: Span) -> TypeId {
        self.types.push(node);
        self.type_spans.push(span);
        TypeId(self.types.len() as u32 - 1)
    }

    /// How much there is of what an unfinished pattern consists of.
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.expressions.len(), self.expression_lists.len())
    }

    /// Forgets the expressions made since the mark.
    pub(super) fn cut_back(&mut self, (expressions, lists): (usize, usize)) {
        self.expressions.truncate(expressions);
        self.expression_spans.truncate(expressions);
        self.expression_lists.truncate(lists);
        self.expression_brackets.cut_back(expressions);
    }
}

/// Where a name stands in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameSite {
    /// [`Expression::Name`].
    Expression(ExpressionId),
    /// [`Pattern::Name`].
    Pattern(PatternId),
    /// [`Type::Name`].
    Type(TypeId),
    /// What this declaration declares.
    Declaration(DeclarationId),
    /// The module of this instance.
    Module(DeclarationId),
    /// An item of a list of names, counted over the tree ([`List::range`]).
    Listed(usize),
    /// A constructor, counted over the tree ([`List::range`]).
    Constructor(usize),
    /// The variable of a constraint, counted over the tree ([`List::range`]).
    Constraint(usize),
}

/// Renaming.
impl<N> Tree<N> {
    /// The same tree with other names. All ids stay good.
    pub fn with_names<M>(self, mut rename: impl FnMut(NameSite, N) -> M) -> Tree<M> {
        let mut place = |site: NameSite, named: Named<N>| Named { name: rename(site, named.name), span: named.span };
        let all_declarations = self.all_declarations.into_iter().enumerate().map(|(at, declaration)| {
            let id = DeclarationId(at as u32);
            let own = NameSite::Declaration(id);
            match declaration {
                Declaration::Error { names, parts } => Declaration::Error { names: names.retyped(), parts },
                Declaration::Function { name, clauses } => Declaration::Function { name: place(own, name), clauses },
                Declaration::Binding { pattern, body } => Declaration::Binding { pattern, body },
                Declaration::Channel { names, fields } => Declaration::Channel { names: names.retyped(), fields },
                Declaration::Datatype { name, constructors } => {
                    Declaration::Datatype { name: place(own, name), constructors: constructors.retyped() }
                }
                Declaration::Subtype { name, constructors } => {
                    Declaration::Subtype { name: place(own, name), constructors: constructors.retyped() }
                }
                Declaration::Nametype { name, set } => Declaration::Nametype { name: place(own, name), set },
                Declaration::External(names) => Declaration::External(names.retyped()),
                Declaration::Transparent(names) => Declaration::Transparent(names.retyped()),
                Declaration::Assert { negated, check, options } => Declaration::Assert { negated, check, options },
                Declaration::Print(expression) => Declaration::Print(expression),
                Declaration::Include { path, file, declarations } => Declaration::Include { path, file, declarations },
                Declaration::Module { name, parameters, private, exported } => {
                    Declaration::Module { name: place(own, name), parameters, private, exported }
                }
                Declaration::Instance { name, module, arguments } => Declaration::Instance {
                    name: place(own, name),
                    module: place(NameSite::Module(id), module),
                    arguments,
                },
                Declaration::Timed { durations, declarations } => Declaration::Timed { durations, declarations },
                Declaration::Annotation { names, constraints, annotated } => {
                    Declaration::Annotation { names: names.retyped(), constraints: constraints.retyped(), annotated }
                }
            }
        });
        let all_declarations = all_declarations.collect();
        let named = self.named.into_iter().enumerate().map(|(at, named)| place(NameSite::Listed(at), named)).collect();
        let constructors = self.constructors.into_iter().enumerate().map(|(at, constructor)| Constructor {
            name: place(NameSite::Constructor(at), constructor.name),
            fields: constructor.fields,
        });
        let constructors = constructors.collect();
        let constraints = self.constraints.into_iter().enumerate().map(|(at, constraint)| Constraint {
            kind: constraint.kind,
            variable: place(NameSite::Constraint(at), constraint.variable),
        });
        let constraints = constraints.collect();
        let expressions = self.expressions.into_iter().enumerate().map(|(at, expression)| {
            expression.with_name(|name| rename(NameSite::Expression(ExpressionId(at as u32)), name))
        });
        let expressions = expressions.collect();
        let patterns = self
            .patterns
            .into_iter()
            .enumerate()
            .map(|(at, pattern)| pattern.with_name(|name| rename(NameSite::Pattern(PatternId(at as u32)), name)));
        let patterns = patterns.collect();
        let types = self.types.into_iter().enumerate();
        let types = types.map(|(at, node)| node.with_name(|name| rename(NameSite::Type(TypeId(at as u32)), name)));
        let types = types.collect();
        Tree {
            names: self.names,
            root: self.root,
            declarations: self.declarations,
            comments: self.comments,
            after_blank: self.after_blank,
            mistaken: self.mistaken,
            incomplete: self.incomplete,
            expression_brackets: self.expression_brackets,
            pattern_brackets: self.pattern_brackets,
            type_brackets: self.type_brackets,
            expressions,
            expression_spans: self.expression_spans,
            patterns,
            pattern_spans: self.pattern_spans,
            all_declarations,
            declaration_spans: self.declaration_spans,
            types,
            type_spans: self.type_spans,
            expression_lists: self.expression_lists,
            pattern_lists: self.pattern_lists,
            parameter_lists: self.parameter_lists,
            declaration_lists: self.declaration_lists,
            type_lists: self.type_lists,
            pairs: self.pairs,
            statements: self.statements,
            fields: self.fields,
            clauses: self.clauses,
            options: self.options,
            named,
            constructors,
            constraints,
        }
    }
}

/// `with_name` for an enum whose variant `Name` alone holds names.
macro_rules! with_name {
    ($node:ident, units [$($unit:ident),*], tuples [$($tuple:ident($($field:ident),*)),*], records [$($record:ident { $($part:ident),* }),*]) => {
        impl<N> $node<N> {
            fn with_name<M>(self, rename: impl FnOnce(N) -> M) -> $node<M> {
                match self {
                    $node::Name(name) => $node::Name(rename(name)),
                    $($node::$unit => $node::$unit,)*
                    $($node::$tuple($($field),*) => $node::$tuple($($field),*),)*
                    $($node::$record { $($part),* } => $node::$record { $($part),* },)*
                }
            }
        }
    };
}

with_name!(
    Expression,
    units [Wildcard],
    tuples [Error(x), Integer(x), Boolean(x), Character(x), String(x), Tuple(x), Map(x), Both(x, y)],
    records [
        Unary { operator, operand }, Binary { operator, left, right }, Synchronised { operator, left, events, right },
        Alphabetised { left, left_alphabet, right_alphabet, right }, Link { left, ties, statements, right },
        Rename { process, renames, statements }, Prefix { channel, fields, process }, Apply { function, arguments },
        Collection { kind, items, statements }, If { condition, then, otherwise }, Let { declarations, body },
        Lambda { parameters, body }, Replicated { operator, statements, body }
    ]
);

with_name!(
    Pattern,
    units [Wildcard],
    tuples [
        Error(x), Integer(x), Boolean(x), Character(x), String(x), Tuple(x), Set(x), Sequence(x), Concatenate(x, y), Dot(x, y),
        Both(x, y)
    ],
    records []
);

with_name!(
    Type,
    units [Error],
    tuples [
        Set(x), Sequence(x), Tuple(x), Function(x, y), Dot(x, y), Dotable(x, y), Extendable(x, y), Map(x, y)
    ],
    records []
);
