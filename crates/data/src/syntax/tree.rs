//! The tree of a specification's data part.
//!
//! Nodes lie in arenas and refer to each other by number: a chain of 10^5 operators is as deep as it is long, and an
//! arena is dropped without recursion. Every node knows its place. The user's brackets are nodes of their own, so that
//! the printer gives them back; [`Tree::bare`] looks through them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use trefoil_source::Span;

/// A name, as a number in its [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// The table behind [`Symbol`].
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: Vec<Arc<str>>,
    symbols: HashMap<Arc<str>, Symbol, foldhash::fast::RandomState>,
}

impl Names {
    /// The symbol of a text, made at its first use.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(text) {
            return symbol;
        }
        let symbol = Symbol(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.symbols.insert(text, symbol);
        symbol
    }

    /// The symbol of a text that was interned before.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.symbols.get(text).copied()
    }

    /// The text of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.0 as usize]
    }
}

/// A name at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identifier {
    /// The name.
    pub symbol: Symbol,
    /// Where it stands.
    pub span: Span,
}

/// An expression in a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExpressionId(pub u32);

/// A sort expression in a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SortId(pub u32);

/// A list of expressions in a [`Tree`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionList(Range<u32>);

impl ExpressionList {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Sorts that are built into the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Basic {
    /// `Bool`
    Bool,
    /// `Pos`
    Pos,
    /// `Nat`
    Nat,
    /// `Int`
    Int,
    /// `Real`
    Real,
}

impl Basic {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            Basic::Bool => "Bool",
            Basic::Pos => "Pos",
            Basic::Nat => "Nat",
            Basic::Int => "Int",
            Basic::Real => "Real",
        }
    }
}

/// Sorts built over one other sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Container {
    /// `List`
    List,
    /// `Set`
    Set,
    /// `FSet`
    FSet,
    /// `Bag`
    Bag,
    /// `FBag`
    FBag,
}

impl Container {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            Container::List => "List",
            Container::Set => "Set",
            Container::FSet => "FSet",
            Container::Bag => "Bag",
            Container::FBag => "FBag",
        }
    }
}

/// A constructor of a structured sort: `c(p: S, …)?r`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructConstructor {
    /// Its name.
    pub name: Identifier,
    /// Its arguments, each with its projection function if it has one.
    pub arguments: Vec<(Option<Identifier>, SortId)>,
    /// Its recogniser.
    pub recogniser: Option<Identifier>,
}

/// A sort expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A built-in sort.
    Basic(Basic),
    /// A declared sort or an alias.
    Name(Symbol),
    /// `List(S)` and the others.
    Container(Container, SortId),
    /// `struct …`
    Struct(Vec<StructConstructor>),
    /// `A # B -> C`
    Function(Vec<SortId>, SortId),
    /// `A # B`, which only actions may have.
    Product(Vec<SortId>),
    /// `(S)`
    Brackets(SortId),
}

/// Operators before their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prefix {
    /// `!`
    Not,
    /// `-`
    Minus,
    /// `#`
    Size,
}

impl Prefix {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            Prefix::Not => "!",
            Prefix::Minus => "-",
            Prefix::Size => "#",
        }
    }
}

/// Operators between their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Infix {
    /// `=>`
    Implies,
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>=`
    GreaterEqual,
    /// `>`
    Greater,
    /// `in`
    In,
    /// `|>`
    Cons,
    /// `<|`
    Snoc,
    /// `++`
    Concat,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `/`
    Divide,
    /// `div`
    Div,
    /// `mod`
    Mod,
    /// `*`
    Times,
    /// `.`
    At,
}

impl Infix {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            Infix::Implies => "=>",
            Infix::Or => "||",
            Infix::And => "&&",
            Infix::Equal => "==",
            Infix::NotEqual => "!=",
            Infix::Less => "<",
            Infix::LessEqual => "<=",
            Infix::GreaterEqual => ">=",
            Infix::Greater => ">",
            Infix::In => "in",
            Infix::Cons => "|>",
            Infix::Snoc => "<|",
            Infix::Concat => "++",
            Infix::Plus => "+",
            Infix::Minus => "-",
            Infix::Divide => "/",
            Infix::Div => "div",
            Infix::Mod => "mod",
            Infix::Times => "*",
            Infix::At => ".",
        }
    }

    /// How tightly it binds, and whether it groups to the right.
    pub fn power(self) -> (Power, bool) {
        match self {
            Infix::Implies => (Power(2), true),
            Infix::Or => (Power(3), true),
            Infix::And => (Power(4), true),
            Infix::Equal | Infix::NotEqual => (Power(5), false),
            Infix::Less | Infix::LessEqual | Infix::GreaterEqual | Infix::Greater | Infix::In => (Power(6), false),
            Infix::Cons => (Power(7), true),
            Infix::Snoc => (Power(8), false),
            Infix::Concat => (Power(9), false),
            Infix::Plus | Infix::Minus => (Power(10), false),
            Infix::Divide | Infix::Div | Infix::Mod => (Power(11), false),
            Infix::Times | Infix::At => (Power(12), false),
        }
    }
}

/// How tightly an operator binds; a higher power binds more tightly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Power(pub u8);

impl Power {
    /// `whr`, the loosest: a whole expression.
    pub const LOOSEST: Power = Power(0);
    /// `forall`, `exists`, `lambda`.
    pub const BINDER: Power = Power(1);
    /// Operators before their operand.
    pub const PREFIX: Power = Power(12);
    /// Application and update.
    pub const POSTFIX: Power = Power(13);

    /// The next tighter power.
    pub fn tighter(self) -> Power {
        Power(self.0 + 1)
    }
}

/// Operators that bind variables in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binder {
    /// `forall`
    Forall,
    /// `exists`
    Exists,
    /// `lambda`
    Lambda,
}

impl Binder {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            Binder::Forall => "forall",
            Binder::Exists => "exists",
            Binder::Lambda => "lambda",
        }
    }
}

/// Variables of one sort: `x, y: S`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variables {
    /// Their names.
    pub names: Vec<Identifier>,
    /// Their sort.
    pub sort: SortId,
}

/// A data expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A name: a variable, a constructor or a map; `true` and `false` too.
    Name(Symbol),
    /// A number, by its digits.
    Number(Symbol),
    /// `[a, b]`
    List(ExpressionList),
    /// `{a, b}`
    Set(ExpressionList),
    /// `{a: 1, b: 2}`: elements and their counts, in turn; `{:}` is the empty one.
    Bag(ExpressionList),
    /// `{ x: S | e }`
    Comprehension(Identifier, SortId, ExpressionId),
    /// `(e)`
    Brackets(ExpressionId),
    /// `e whr x = d, … end`
    Where(ExpressionId, Vec<(Identifier, ExpressionId)>),
    /// `forall x: S. e` and the others.
    Binder(Binder, Vec<Variables>, ExpressionId),
    /// An operator before its operand.
    Prefix(Prefix, ExpressionId),
    /// An operator between its operands.
    Infix(Infix, ExpressionId, ExpressionId),
    /// `f[x -> e]`
    Update(ExpressionId, ExpressionId, ExpressionId),
    /// `f(a, b)`
    Apply(ExpressionId, ExpressionList),
}

/// `c -> l = r;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equation {
    /// The condition, if it has one.
    pub condition: Option<ExpressionId>,
    /// The left side.
    pub left: ExpressionId,
    /// The right side.
    pub right: ExpressionId,
    /// The whole equation with its semicolon.
    pub span: Span,
}

/// Names with one sort: `f, g: S;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Functions {
    /// The names.
    pub names: Vec<Identifier>,
    /// Their sort.
    pub sort: SortId,
    /// The declaration with its semicolon.
    pub span: Span,
}

/// A line of a `sort` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortDeclaration {
    /// `A, B;`
    New(Vec<Identifier>, Span),
    /// `A = S;`
    Alias(Identifier, SortId, Span),
}

/// A section of the data part, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataSection {
    /// `sort …`
    Sorts(Vec<SortDeclaration>),
    /// `cons …`
    Constructors(Vec<Functions>),
    /// `map …`
    Maps(Vec<Functions>),
    /// `var … eqn …`
    Equations {
        /// The variables, one list for each line that ends in a semicolon.
        variables: Vec<(Vec<Variables>, Span)>,
        /// The equations.
        equations: Vec<Equation>,
    },
}

/// The nodes of one specification.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The names.
    pub names: Names,
    expressions: Vec<Expression>,
    places: Vec<Span>,
    lists: Vec<ExpressionId>,
    sorts: Vec<Sort>,
    sort_places: Vec<Span>,
}

impl Tree {
    /// Adds an expression.
    pub fn add(&mut self, expression: Expression, span: Span) -> ExpressionId {
        let id = ExpressionId(self.expressions.len() as u32);
        self.expressions.push(expression);
        self.places.push(span);
        id
    }

    /// Adds a list of expressions.
    pub fn add_list(&mut self, elements: &[ExpressionId]) -> ExpressionList {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(elements);
        ExpressionList(start..self.lists.len() as u32)
    }

    /// Adds a sort.
    pub fn add_sort(&mut self, sort: Sort, span: Span) -> SortId {
        let id = SortId(self.sorts.len() as u32);
        self.sorts.push(sort);
        self.sort_places.push(span);
        id
    }

    /// An expression.
    pub fn expression(&self, id: ExpressionId) -> &Expression {
        &self.expressions[id.0 as usize]
    }

    /// How many expressions there are.
    pub fn expression_count(&self) -> usize {
        self.expressions.len()
    }

    /// Where an expression stands.
    pub fn span(&self, id: ExpressionId) -> Span {
        self.places[id.0 as usize]
    }

    /// The elements of a list.
    pub fn elements(&self, list: &ExpressionList) -> &[ExpressionId] {
        &self.lists[list.0.start as usize..list.0.end as usize]
    }

    /// A sort expression.
    pub fn sort(&self, id: SortId) -> &Sort {
        &self.sorts[id.0 as usize]
    }

    /// Where a sort expression stands.
    pub fn sort_span(&self, id: SortId) -> Span {
        self.sort_places[id.0 as usize]
    }

    /// The expression inside brackets.
    pub fn bare(&self, id: ExpressionId) -> ExpressionId {
        let mut id = id;
        while let Expression::Brackets(inside) = self.expression(id) {
            id = *inside;
        }
        id
    }

    /// The sort inside brackets.
    pub fn bare_sort(&self, id: SortId) -> SortId {
        let mut id = id;
        while let Sort::Brackets(inside) = self.sort(id) {
            id = *inside;
        }
        id
    }

    /// Whether two sort expressions are written alike, brackets aside.
    pub fn same_sort(&self, one: SortId, other: SortId) -> bool {
        let all = |ones: &[SortId], others: &[SortId]| {
            ones.len() == others.len() && ones.iter().zip(others).all(|(&one, &other)| self.same_sort(one, other))
        };
        let name = |name: &Option<Identifier>| name.map(|name| name.symbol);
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            match (self.sort(self.bare_sort(one)), self.sort(self.bare_sort(other))) {
                (Sort::Basic(one), Sort::Basic(other)) => one == other,
                (Sort::Name(one), Sort::Name(other)) => one == other,
                (Sort::Container(one, inside), Sort::Container(other, within)) => {
                    one == other && self.same_sort(*inside, *within)
                }
                (Sort::Function(domain, one), Sort::Function(others, other)) => {
                    all(domain, others) && self.same_sort(*one, *other)
                }
                (Sort::Product(ones), Sort::Product(others)) => all(ones, others),
                (Sort::Struct(ones), Sort::Struct(others)) => {
                    let same = |one: &StructConstructor, other: &StructConstructor| {
                        let sorts = |constructor: &StructConstructor| {
                            constructor.arguments.iter().map(|(_, sort)| *sort).collect::<Vec<_>>()
                        };
                        let projections = |constructor: &StructConstructor| {
                            constructor.arguments.iter().map(|(projection, _)| name(projection)).collect::<Vec<_>>()
                        };
                        one.name.symbol == other.name.symbol
                            && name(&one.recogniser) == name(&other.recogniser)
                            && projections(one) == projections(other)
                            && all(&sorts(one), &sorts(other))
                    };
                    ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
                }
                _ => false,
            }
        })
    }
}
