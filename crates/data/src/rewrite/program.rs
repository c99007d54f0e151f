//! A data specification as code: its functions, what symbols stand for, and the constants that code mentions.
//!
//! `compile.rs` makes the code; here is what it is made into, and what the machine looks up.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use trefoil_terms::{Kept, Pool, Section, Symbol, Term};

use crate::signature::{FunctionId, Operator, Origin};
use crate::sorts::{SortKind, SortRef};
use crate::typed::{DataSpecification, Quantifier, TypedId, VariableId};

use super::code::{Entry, FunctionIndex, Op, Slot, Target};
use super::compile::Compiler;
use super::enumerate::{Sum, SumIndex};
use super::numbers::Numbers;
use super::plan::{Plan, Source};

/// Functions of more arguments have no forms.
const MOST_VARIABLES: usize = 8;

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A symbol that was not made here.
    Foreign,
    /// A function applied to its arguments.
    Applied(FunctionIndex),
    /// A function with arguments, as a value.
    Bare(FunctionIndex),
    /// A function value with its captured values.
    Closure(FunctionIndex),
    /// A delayed expression with its captured values.
    Delay(FunctionIndex),
    /// A term that waits to be rewritten.
    Later,
    /// A quantifier with its captured values.
    Quantified(FunctionIndex),
    /// Variables and the normal form of a function's body over them, for printing and comparing functions.
    Form,
}

/// What a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A constructor, with its place among the constructors of its sort.
    Constructor(u32),
    /// A declared function or a part of a rule.
    Defined,
    /// A built-in function, tried before its rules.
    Builtin(Operator),
    /// The application of a function value to so many arguments.
    Apply(u16),
    /// A quantifier.
    Quantified(Quantifier),
    /// The set of a function whose arguments are of this sort, which has few values.
    Comprehension(SortRef),
}

/// A function of a program.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) kind: Kind,
    /// The symbol of its applications; of captured values for closures, delays and quantifiers.
    pub(super) symbol: Symbol,
    pub(super) arity: u16,
    /// Captured values of a closure, which come before its arguments.
    pub(super) captured: u16,
    /// Which parameters are delayed.
    pub(super) lazy: u64,
    /// Its code; none for constructors and for functions without rules.
    pub(super) entry: Option<Target>,
    /// The function symbol, for functions that have one.
    pub(super) id: Option<FunctionId>,
    /// The body of a closure, delay or quantifier, with captured and bound variables in order.
    pub(super) site: Option<(TypedId, Vec<VariableId>)>,
    /// Whether it is a constructor of a structured sort, or a truth value.
    pub(super) structured: bool,
}

impl Function {
    /// Whether callers delay an argument.
    pub(super) fn is_lazy(&self, argument: u16) -> bool {
        argument < 64 && self.lazy >> argument & 1 == 1
    }
}

/// An expression that is instantiated without being evaluated, and where its variables lie in the frame.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pub(super) expression: TypedId,
    pub(super) places: Vec<(VariableId, Slot)>,
}

/// A data specification as code. Any number of threads may run it, each with a [`super::Rewriter`] of its own.
pub struct Program {
    /// The specification, with the equations of the built-in sorts.
    pub specification: DataSpecification,
    pub(super) pool: Pool,
    pub(super) numbers: Numbers,
    pub(super) functions: Vec<Function>,
    pub(super) code: Vec<Op>,
    /// The tables of switches, one behind the other.
    pub(super) entries: Vec<Entry>,
    /// Where the code of functions begins, ascending.
    pub(super) begins: Vec<(Target, FunctionIndex)>,
    /// Slots of the largest frame.
    pub(super) room: usize,
    pub(super) templates: Vec<Template>,
    /// What symbols stand for, by number.
    pub(super) roles: Vec<Role>,
    /// Whether symbols are constructors whose applications differ where their arguments do, by number.
    pub(super) free: Vec<bool>,
    /// Keeps the constants in the code alive.
    pub(super) permanent: Kept,
    pub(super) truths: [Term; 2],
    pub(super) later: Symbol,
    pub(super) applies: HashMap<u16, FunctionIndex>,
    /// How the variables of quantifiers and sums get their values.
    pub(super) plans: HashMap<FunctionIndex, Plan>,
    /// Where the arguments come from for which function values hold.
    pub(super) held: HashMap<FunctionIndex, Source>,
    /// The symbols of unknown parts of values while infinite sorts are searched.
    pub(super) unknowns: HashMap<SortRef, Symbol>,
    pub(super) unknown_sorts: HashMap<Symbol, SortRef>,
    /// Functions with arguments whose equations say what they are as values.
    pub(super) unapplied: HashMap<FunctionIndex, FunctionIndex>,
    /// Closures, delays and quantifiers by their bodies.
    pub(super) sites: HashMap<TypedId, FunctionIndex>,
    /// Values of finite sorts that were listed.
    pub(super) listed: RwLock<HashMap<SortRef, Option<Arc<[Term]>>>>,
    /// Function values that were met, with their forms: none where the body has no normal form.
    pub(super) forms: RwLock<HashMap<Term, Option<Term>>>,
    /// The function values that were met first, by their forms.
    pub(super) first: RwLock<HashMap<Term, Term>>,
    /// The symbols of forms, by the number of variables.
    pub(super) form_symbols: Vec<Symbol>,
    pub(super) by_id: HashMap<FunctionId, FunctionIndex>,
    pub(super) bare: HashMap<FunctionIndex, Symbol>,
}

impl Program {
    /// Compiles a specification, and expressions over it with the variables that each is evaluated for. Terms are made
    /// in the pool.
    pub fn new(
        specification: DataSpecification,
        expressions: &[(TypedId, Vec<VariableId>)],
        pool: &Pool,
    ) -> (Program, Vec<FunctionIndex>) {
        Program::listing(specification, expressions, &[], pool)
    }

    /// The same, when values of the sorts of some variables are going to be listed.
    pub fn listing(
        specification: DataSpecification,
        expressions: &[(TypedId, Vec<VariableId>)],
        listed: &[VariableId],
        pool: &Pool,
    ) -> (Program, Vec<FunctionIndex>) {
        let specification = super::prelude::complete(specification, listed);
        let (program, codes, _) = Program::with_sums(specification, expressions, &[], pool);
        (program, codes)
    }

    /// The same with sums, whose solutions a [`super::Rewriter`] lists.
    pub fn with_sums(
        specification: DataSpecification,
        expressions: &[(TypedId, Vec<VariableId>)],
        sums: &[Sum],
        pool: &Pool,
    ) -> (Program, Vec<FunctionIndex>, Vec<SumIndex>) {
        let listed: Vec<VariableId> = sums.iter().flat_map(|sum| sum.variables.iter().copied()).collect();
        let specification = super::prelude::complete(specification, &listed);
        let worker = pool.worker();
        let section = worker.enter();
        let permanent = pool.kept();
        let later = pool.symbol("@later", 1);
        let mut program = Program {
            numbers: Numbers::new(pool),
            pool: pool.clone(),
            functions: Vec::new(),
            code: Vec::new(),
            entries: Vec::new(),
            begins: Vec::new(),
            room: 1,
            templates: Vec::new(),
            roles: Vec::new(),
            free: Vec::new(),
            truths: [section.empty(); 2],
            permanent,
            later,
            applies: HashMap::new(),
            plans: HashMap::new(),
            held: HashMap::new(),
            unknowns: HashMap::new(),
            unknown_sorts: HashMap::new(),
            unapplied: HashMap::new(),
            sites: HashMap::new(),
            listed: RwLock::default(),
            forms: RwLock::default(),
            first: RwLock::default(),
            form_symbols: Vec::new(),
            by_id: HashMap::new(),
            bare: HashMap::new(),
            specification,
        };
        program.set_role(later, Role::Later);
        for arity in 1..=MOST_VARIABLES + 1 {
            let symbol = pool.symbol("@form", arity);
            program.set_role(symbol, Role::Form);
            program.form_symbols.push(symbol);
        }
        for index in 0..program.specification.signature.len() as u32 {
            program.add_function(FunctionId(index));
        }
        program.truths = [Operator::False, Operator::True].map(|operator| program.truth(operator, &section));
        Compiler::new(program, &section).run(expressions, sums)
    }

    pub(super) fn set_role(&mut self, symbol: Symbol, role: Role) {
        let number = symbol.number();
        if self.roles.len() <= number {
            self.roles.resize(number + 1, Role::Foreign);
        }
        self.roles[number] = role;
    }

    /// What a symbol stands for.
    #[inline]
    pub(super) fn role(&self, symbol: Symbol) -> Role {
        self.roles.get(symbol.number()).copied().unwrap_or(Role::Foreign)
    }

    fn truth(&mut self, operator: Operator, section: &Section<'_>) -> Term {
        let symbol = self.pool.symbol(operator.name(), 0);
        let term = section.create(symbol, &[]);
        self.keep(term, section)
    }

    /// Keeps a term alive as long as the pool.
    pub fn keep(&self, term: Term, section: &Section<'_>) -> Term {
        self.permanent.keep(section, term);
        term
    }

    fn add_function(&mut self, id: FunctionId) -> FunctionIndex {
        let function = self.specification.signature.function(id).clone();
        let sorts = &self.specification.sorts;
        let (domain, codomain) = match sorts.as_function(function.sort) {
            Some((domain, codomain)) => (domain.to_vec(), codomain),
            None => (Vec::new(), function.sort),
        };
        let name = self.specification.names.text(function.name).to_string();
        let kind = match function.origin {
            Origin::Constructor => {
                let place = sorts.constructors(codomain).iter().position(|&constructor| constructor == id);
                Kind::Constructor(place.unwrap_or(0) as u32)
            }
            Origin::Map | Origin::Projection | Origin::Recogniser => Kind::Defined,
            Origin::Builtin(operator) => match operator {
                Operator::True
                | Operator::False
                | Operator::Cons
                | Operator::EmptyList
                | Operator::EmptySet
                | Operator::EmptyBag
                | Operator::FSetCons
                | Operator::FBagCons
                | Operator::SetConstructor
                | Operator::BagConstructor => Kind::Constructor(u32::from(operator == Operator::True)),
                Operator::SetOf => match *sorts.kind(codomain) {
                    SortKind::Container(_, element) if self.specification.has_normal_sets(element) => {
                        Kind::Comprehension(element)
                    }
                    _ => Kind::Builtin(operator),
                },
                operator => Kind::Builtin(operator),
            },
        };
        // Functions of one name and arity at several sorts are several symbols, except where sorts do not matter.
        let shared = matches!(kind, Kind::Constructor(_)) && matches!(function.origin, Origin::Builtin(_));
        let symbol =
            if shared { self.pool.symbol(&name, domain.len()) } else { self.pool.fresh_symbol(&name, domain.len()) };
        let index = FunctionIndex(self.functions.len() as u32);
        self.functions.push(Function {
            kind,
            symbol,
            arity: domain.len() as u16,
            captured: 0,
            lazy: 0,
            entry: None,
            id: Some(id),
            site: None,
            structured: matches!(kind, Kind::Constructor(_)) && self.is_structured_constructor(id, codomain),
        });
        if self.role(symbol) == Role::Foreign {
            self.set_role(symbol, Role::Applied(index));
            let of_lists = symbol == Symbol::CONS || symbol == Symbol::EMPTY;
            self.free.resize(self.roles.len().max(self.free.len()), false);
            self.free[symbol.number()] = of_lists || self.function(index).structured;
        }
        self.by_id.insert(id, index);
        if !domain.is_empty() {
            let bare = self.pool.fresh_symbol(&name, 0);
            self.set_role(bare, Role::Bare(index));
            self.bare.insert(index, bare);
        }
        index
    }

    /// Whether two applications of different constructors of a sort differ: structured sorts and truth values.
    fn is_structured_constructor(&self, id: FunctionId, sort: SortRef) -> bool {
        sort == crate::sorts::BOOL && matches!(self.specification.signature.function(id).origin, Origin::Builtin(_))
            || self.specification.structured.iter().any(|(structured, _)| *structured == sort)
    }

    /// The function of a function symbol.
    pub(super) fn function_of(&self, id: FunctionId) -> FunctionIndex {
        self.by_id[&id]
    }

    pub(super) fn function(&self, index: FunctionIndex) -> &Function {
        &self.functions[index.0 as usize]
    }

    /// The function that has code before a place, to which a call in it returns.
    pub(super) fn function_at(&self, place: Target) -> Option<FunctionIndex> {
        let before = self.begins.partition_point(|(begin, _)| *begin < place.max(1));
        Some(self.begins.get(before.checked_sub(1)?)?.1)
    }

    /// The symbol of a function with arguments as a value.
    pub(super) fn bare_symbol(&self, index: FunctionIndex) -> Symbol {
        self.bare[&index]
    }

    /// The function that applies values to so many arguments.
    pub(super) fn apply_function(&self, arity: u16) -> Option<FunctionIndex> {
        self.applies.get(&arity).copied()
    }

    /// The name of a function, for those that have one.
    pub fn name(&self, index: FunctionIndex) -> Option<String> {
        let id = self.function(index).id?;
        Some(self.specification.names.text(self.specification.signature.function(id).name).to_string())
    }

    /// The closure, delay or quantifier of a body.
    pub(super) fn site_of(&self, body: TypedId) -> Option<FunctionIndex> {
        self.sites.get(&body).copied()
    }

    /// Whether applications of a symbol differ from those of other such symbols, and from each other where their
    /// arguments do: constructors of structured sorts and of lists, and truth values.
    #[inline]
    pub(super) fn is_free(&self, symbol: Symbol) -> bool {
        self.free.get(symbol.number()).is_some_and(|&free| free)
    }

    /// Whether a constructor's arguments and place decide equality and order.
    pub(super) fn is_structured(&self, index: FunctionIndex) -> bool {
        self.function(index).structured
    }

    /// The operator of a built-in function.
    pub(super) fn operator(&self, index: FunctionIndex) -> Option<Operator> {
        match self.function(index).kind {
            Kind::Builtin(operator) => Some(operator),
            _ => None,
        }
    }
}
