//! Function symbols: what is declared, what a `struct` brings, and the built-in ones at the sorts they are used at.

use std::collections::HashMap;

use trefoil_source::Span;

use crate::sorts::SortRef;
use crate::syntax::tree::{Infix, Symbol};

/// A function symbol in a [`Signature`]: one name at one sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

macro_rules! operators {
    ($($(#[$what:meta])* $operator:ident = $name:literal : $($signature:literal),+;)*) => {
        /// A built-in function. One operator stands for a family: the sorts of its arguments say which is meant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Operator {
            $($(#[$what])* $operator,)*
        }

        impl Operator {
            /// How it is written.
            pub fn name(self) -> &'static str {
                match self {
                    $(Operator::$operator => $name,)*
                }
            }

            /// Every operator with its name and the sorts it may have; `S` and `T` stand for any sort. Names that
            /// begin with `@` cannot be written.
            pub const TABLE: &'static [(Operator, &'static str, &'static [&'static str])] =
                &[$((Operator::$operator, $name, &[$($signature),+]),)*];
        }
    };
}

impl Operator {
    /// The infix of an operator that is written between its operands.
    pub fn infix(self) -> Option<Infix> {
        Some(match self {
            Operator::And => Infix::And,
            Operator::Or => Infix::Or,
            Operator::Implies => Infix::Implies,
            Operator::Equal => Infix::Equal,
            Operator::NotEqual => Infix::NotEqual,
            Operator::Less => Infix::Less,
            Operator::LessEqual => Infix::LessEqual,
            Operator::Greater => Infix::Greater,
            Operator::GreaterEqual => Infix::GreaterEqual,
            Operator::In => Infix::In,
            Operator::Cons => Infix::Cons,
            Operator::Snoc => Infix::Snoc,
            Operator::Concat => Infix::Concat,
            Operator::At => Infix::At,
            Operator::Add | Operator::Union => Infix::Plus,
            Operator::Subtract | Operator::Difference => Infix::Minus,
            Operator::Multiply | Operator::Intersection => Infix::Times,
            Operator::Divide => Infix::Divide,
            Operator::Div => Infix::Div,
            Operator::Mod => Infix::Mod,
            _ => return None,
        })
    }
}

operators! {
    /// `true`
    True = "true": "Bool";
    /// `false`
    False = "false": "Bool";
    /// `!` on truth values.
    Not = "!": "Bool -> Bool";
    /// `&&`
    And = "&&": "Bool # Bool -> Bool";
    /// `||`
    Or = "||": "Bool # Bool -> Bool";
    /// `=>`
    Implies = "=>": "Bool # Bool -> Bool";
    /// `if`
    If = "if": "Bool # S # S -> S";
    /// `==`
    Equal = "==": "S # S -> Bool";
    /// `!=`
    NotEqual = "!=": "S # S -> Bool";
    /// `<`
    Less = "<": "S # S -> Bool";
    /// `<=`
    LessEqual = "<=": "S # S -> Bool";
    /// `>`
    Greater = ">": "S # S -> Bool";
    /// `>=`
    GreaterEqual = ">=": "S # S -> Bool";
    /// `Pos2Nat`
    Pos2Nat = "Pos2Nat": "Pos -> Nat";
    /// `Pos2Int`
    Pos2Int = "Pos2Int": "Pos -> Int";
    /// `Pos2Real`
    Pos2Real = "Pos2Real": "Pos -> Real";
    /// `Nat2Pos`
    Nat2Pos = "Nat2Pos": "Nat -> Pos";
    /// `Nat2Int`
    Nat2Int = "Nat2Int": "Nat -> Int";
    /// `Nat2Real`
    Nat2Real = "Nat2Real": "Nat -> Real";
    /// `Int2Pos`
    Int2Pos = "Int2Pos": "Int -> Pos";
    /// `Int2Nat`
    Int2Nat = "Int2Nat": "Int -> Nat";
    /// `Int2Real`
    Int2Real = "Int2Real": "Int -> Real";
    /// `Real2Pos`
    Real2Pos = "Real2Pos": "Real -> Pos";
    /// `Real2Nat`
    Real2Nat = "Real2Nat": "Real -> Nat";
    /// `Real2Int`
    Real2Int = "Real2Int": "Real -> Int";
    /// `max`
    Max = "max": "Pos # Pos -> Pos", "Pos # Nat -> Pos", "Nat # Pos -> Pos", "Nat # Nat -> Nat", "Pos # Int -> Pos",
        "Int # Pos -> Pos", "Nat # Int -> Nat", "Int # Nat -> Nat", "Int # Int -> Int", "Real # Real -> Real";
    /// `min`
    Min = "min": "Pos # Pos -> Pos", "Nat # Nat -> Nat", "Int # Int -> Int", "Real # Real -> Real";
    /// `abs`
    Abs = "abs": "Int -> Nat", "Real -> Real";
    /// `succ`
    Succ = "succ": "Pos -> Pos", "Nat -> Pos", "Int -> Int", "Real -> Real";
    /// `pred`
    Pred = "pred": "Pos -> Nat", "Nat -> Int", "Int -> Int", "Real -> Real";
    /// `-` before a number.
    Negate = "-": "Pos -> Int", "Nat -> Int", "Int -> Int", "Real -> Real";
    /// `+` on numbers.
    Add = "+": "Pos # Pos -> Pos", "Pos # Nat -> Pos", "Nat # Pos -> Pos", "Nat # Nat -> Nat", "Int # Int -> Int",
        "Real # Real -> Real";
    /// `-` between numbers.
    Subtract = "-": "Pos # Pos -> Int", "Nat # Nat -> Int", "Int # Int -> Int", "Real # Real -> Real";
    /// `*` on numbers.
    Multiply = "*": "Pos # Pos -> Pos", "Nat # Nat -> Nat", "Int # Int -> Int", "Real # Real -> Real";
    /// `div`
    Div = "div": "Nat # Pos -> Nat", "Int # Pos -> Int";
    /// `mod`
    Mod = "mod": "Nat # Pos -> Nat", "Int # Pos -> Nat";
    /// `exp`
    Exp = "exp": "Pos # Nat -> Pos", "Nat # Nat -> Nat", "Int # Nat -> Int", "Real # Int -> Real";
    /// `sqrt`
    Sqrt = "sqrt": "Nat -> Nat";
    /// `/`
    Divide = "/": "Pos # Pos -> Real", "Nat # Nat -> Real", "Int # Int -> Real", "Real # Real -> Real";
    /// `floor`
    Floor = "floor": "Real -> Int";
    /// `ceil`
    Ceil = "ceil": "Real -> Int";
    /// `round`
    Round = "round": "Real -> Int";
    /// `|>`
    Cons = "|>": "S # List(S) -> List(S)";
    /// `<|`
    Snoc = "<|": "List(S) # S -> List(S)";
    /// `++`
    Concat = "++": "List(S) # List(S) -> List(S)";
    /// `.`
    At = ".": "List(S) # Nat -> S";
    /// `head`
    Head = "head": "List(S) -> S";
    /// `tail`
    Tail = "tail": "List(S) -> List(S)";
    /// `rhead`
    Rhead = "rhead": "List(S) -> S";
    /// `rtail`
    Rtail = "rtail": "List(S) -> List(S)";
    /// `#`
    Size = "#": "List(S) -> Nat", "FSet(S) -> Nat", "FBag(S) -> Nat";
    /// `in`
    In = "in": "S # List(S) -> Bool", "S # FSet(S) -> Bool", "S # Set(S) -> Bool", "S # FBag(S) -> Bool",
        "S # Bag(S) -> Bool";
    /// `!` on sets.
    Complement = "!": "Set(S) -> Set(S)";
    /// `+` on sets and bags.
    Union = "+": "FSet(S) # FSet(S) -> FSet(S)", "Set(S) # Set(S) -> Set(S)", "FBag(S) # FBag(S) -> FBag(S)",
        "Bag(S) # Bag(S) -> Bag(S)";
    /// `*` on sets and bags.
    Intersection = "*": "FSet(S) # FSet(S) -> FSet(S)", "FSet(S) # Set(S) -> FSet(S)", "Set(S) # FSet(S) -> FSet(S)",
        "Set(S) # Set(S) -> Set(S)", "FBag(S) # FBag(S) -> FBag(S)", "FBag(S) # Bag(S) -> FBag(S)",
        "Bag(S) # FBag(S) -> FBag(S)", "Bag(S) # Bag(S) -> Bag(S)";
    /// `-` on sets and bags.
    Difference = "-": "FSet(S) # FSet(S) -> FSet(S)", "FSet(S) # Set(S) -> FSet(S)", "Set(S) # Set(S) -> Set(S)",
        "FBag(S) # FBag(S) -> FBag(S)", "FBag(S) # Bag(S) -> FBag(S)", "Bag(S) # Bag(S) -> Bag(S)";
    /// `pick`
    Pick = "pick": "FSet(S) -> S", "FBag(S) -> S";
    /// `count`
    Count = "count": "S # FBag(S) -> Nat", "S # Bag(S) -> Nat";
    /// `Set2Bag`
    Set2Bag = "Set2Bag": "Set(S) -> Bag(S)";
    /// `Bag2Set`
    Bag2Set = "Bag2Set": "Bag(S) -> Set(S)";
    /// A finite set as a set; the type checker inserts it where a set is needed.
    FSet2Set = "@fset2set": "FSet(S) -> Set(S)";
    /// A finite bag as a bag, inserted where a bag is needed.
    FBag2Bag = "@fbag2bag": "FBag(S) -> Bag(S)";
    /// `{ x: S | b }`, of a function.
    SetOf = "@setcomp": "(S -> Bool) -> Set(S)";
    /// `{ x: S | n }`, of a function.
    BagOf = "@bagcomp": "(S -> Nat) -> Bag(S)";
    /// `f[x -> e]`
    Update = "@update": "(S -> T) # S # T -> (S -> T)";
    /// `[]`
    EmptyList = "[]": "List(S)";
    /// `{}`
    EmptySet = "{}": "FSet(S)";
    /// `{:}`
    EmptyBag = "{:}": "FBag(S)";
    /// A finite set with a least element: finite sets are chains in the order of their elements.
    FSetCons = "@fset": "S # FSet(S) -> FSet(S)";
    /// A finite bag with a least element and how often it occurs.
    FBagCons = "@fbag": "S # Pos # FBag(S) -> FBag(S)";
    /// A set: the elements for which a function holds, but for the elements of a finite set it is the other way round.
    SetConstructor = "@set": "(S -> Bool) # FSet(S) -> Set(S)";
    /// A bag: how often a function says, except for the elements of a finite bag.
    BagConstructor = "@bag": "(S -> Nat) # FBag(S) -> Bag(S)";
    /// The function that holds for nothing.
    Nothing = "@nothing": "S -> Bool";
    /// The function that holds for everything.
    Everything = "@everything": "S -> Bool";
    /// Negation of a function.
    NotFunction = "@not": "(S -> Bool) -> (S -> Bool)";
    /// Conjunction of functions.
    AndFunction = "@and": "(S -> Bool) # (S -> Bool) -> (S -> Bool)";
    /// Disjunction of functions.
    OrFunction = "@or": "(S -> Bool) # (S -> Bool) -> (S -> Bool)";
    /// The function that is 0 everywhere.
    ZeroFunction = "@zero": "S -> Nat";
    /// Sum of functions.
    AddFunction = "@sum": "(S -> Nat) # (S -> Nat) -> (S -> Nat)";
    /// Minimum of functions.
    MinFunction = "@least": "(S -> Nat) # (S -> Nat) -> (S -> Nat)";
    /// Difference of functions, 0 where it would be negative.
    MonusFunction = "@monus": "(S -> Nat) # (S -> Nat) -> (S -> Nat)";
    /// Where a function is above 0.
    Occurs = "@occurs": "(S -> Nat) -> (S -> Bool)";
    /// 1 where a function holds.
    Counts = "@counts": "(S -> Bool) -> (S -> Nat)";
    /// A finite set with one more element if a condition holds.
    InsertIf = "@insert_if": "S # Bool # FSet(S) -> FSet(S)";
    /// The exceptions of a union of sets.
    UniteExceptions = "@unite": "(S -> Bool) # (S -> Bool) # FSet(S) # FSet(S) -> FSet(S)";
    /// The exceptions of an intersection of sets.
    MeetExceptions = "@meet": "(S -> Bool) # (S -> Bool) # FSet(S) # FSet(S) -> FSet(S)";
    /// The elements of a finite set for which a function holds.
    Filter = "@filter": "(S -> Bool) # FSet(S) -> FSet(S)";
    /// The elements of a finite bag, each once.
    FBag2FSet = "@fbag2fset": "FBag(S) -> FSet(S)";
    /// A finite bag with each element of a finite set once.
    FSet2FBag = "@fset2fbag": "FSet(S) -> FBag(S)";
    /// An update in a chain that is sorted by arguments.
    StableUpdate = "@updated": "(S -> T) # S # T -> (S -> T)";
    /// The function with one value.
    ConstantFunction = "@const": "T -> (S -> T)";
    /// Whether a value comes before another one in the chains of finite sets, bags and updates, where `<` does not put
    /// all values of the sort in a row.
    Before = "@before": "S # S -> Bool";
    /// Whether a condition is true, where it has no variables: one that is stuck is not.
    Holds = "@holds": "Bool -> Bool";
    /// Whether a function is an update of another one.
    IsUpdate = "@is_update": "(S -> T) -> Bool";
    /// A finite set with one more element.
    Insert = "@insert": "S # FSet(S) -> FSet(S)";
    /// A finite bag with more of an element.
    InsertMany = "@cinsert": "S # Nat # FBag(S) -> FBag(S)";
}

/// Where a function symbol comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// `cons`, or a constructor of a `struct`.
    Constructor,
    /// `map`
    Map,
    /// A projection of a `struct`.
    Projection,
    /// A recogniser of a `struct`.
    Recogniser,
    /// A built-in function.
    Builtin(Operator),
}

/// A function symbol.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Symbol,
    /// Its sort; a function sort exactly when it takes arguments.
    pub sort: SortRef,
    /// Where it comes from.
    pub origin: Origin,
    /// Its declaration, unless it is built in.
    pub place: Option<Span>,
}

/// Every function symbol of a specification.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    functions: Vec<Function>,
    by_name: HashMap<Symbol, Vec<FunctionId>, foldhash::fast::RandomState>,
    builtins: HashMap<(Operator, SortRef), FunctionId, foldhash::fast::RandomState>,
}

impl Signature {
    /// Adds a declared function.
    pub fn declare(&mut self, function: Function) -> FunctionId {
        let id = FunctionId(self.functions.len() as u32);
        self.by_name.entry(function.name).or_default().push(id);
        self.functions.push(function);
        id
    }

    /// A built-in function at a sort.
    pub fn builtin(&mut self, operator: Operator, name: Symbol, sort: SortRef) -> FunctionId {
        *self.builtins.entry((operator, sort)).or_insert_with(|| {
            let id = FunctionId(self.functions.len() as u32);
            self.functions.push(Function { name, sort, origin: Origin::Builtin(operator), place: None });
            id
        })
    }

    /// A built-in function at a sort, if it is used there.
    pub fn find_builtin(&self, operator: Operator, sort: SortRef) -> Option<FunctionId> {
        self.builtins.get(&(operator, sort)).copied()
    }

    /// A function symbol.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The declared functions of a name.
    pub fn named(&self, name: Symbol) -> &[FunctionId] {
        self.by_name.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Every declared name.
    pub fn names(&self) -> impl Iterator<Item = Symbol> {
        self.by_name.keys().copied()
    }

    /// How many function symbols there are.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }
}
