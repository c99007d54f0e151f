//! From equations to code.
//!
//! The rules of a function become one match tree. Rows of patterns are tried in order of how many arguments they need,
//! as in mCRL2 (`f(0) = 5; f(n) = 6` gives 6 for `f(0)`), then in order of the text; the first row says which argument
//! is looked at next, so a tree looks at no argument that the first row that can still apply does not need.
//!
//! An argument is *needed* when every rule needs it: it is matched, or compared with another one, or tested in a
//! condition, or the value of the right side needs it. Needed arguments are evaluated by the caller. The others are
//! delayed unless they are values already: a delayed expression is a term of its own symbol over the values it uses,
//! and its symbol has code. Functions as values and quantifiers are made the same way, so nothing is ever copied or
//! renamed, and a value is never walked again.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, RwLock};

use trefoil_terms::{Numbering, Pool, Section, Symbol, Term};

use crate::signature::{FunctionId, Operator, Origin};
use crate::sorts::SortRef;
use crate::typed::{DataSpecification, Quantifier, Typed, TypedEquation, TypedId, VariableId};

use super::code::{FunctionIndex, Guard, Op, Slot, Table, Target};
use super::numbers::Numbers;
use super::quantifiers::{self, Fact, Source};

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
    /// Slots of a frame.
    pub(super) frame: u16,
    /// The function symbol, for functions that have one.
    pub(super) id: Option<FunctionId>,
    /// The body of a closure, delay or quantifier, with captured and bound variables in order.
    pub(super) site: Option<(TypedId, Vec<VariableId>)>,
    /// Whether it is a constructor of a structured sort, or a truth value.
    pub(super) structured: bool,
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
    pub(super) tables: Vec<Table>,
    pub(super) templates: Vec<Template>,
    /// What symbols stand for, by number.
    pub(super) roles: Vec<Role>,
    /// Keeps the constants in the code alive.
    permanent: Numbering,
    pub(super) truths: [Term; 2],
    pub(super) later: Symbol,
    applies: HashMap<u16, FunctionIndex>,
    /// Where the values of the variables of quantifiers come from.
    pub(super) sources: HashMap<FunctionIndex, Vec<Source>>,
    /// Functions with arguments whose equations say what they are as values.
    unapplied: HashMap<FunctionIndex, FunctionIndex>,
    /// Closures, delays and quantifiers by their bodies.
    sites: HashMap<TypedId, FunctionIndex>,
    /// Values of finite sorts that were listed.
    pub(super) listed: RwLock<HashMap<SortRef, Option<Arc<[Term]>>>>,
    by_id: HashMap<FunctionId, FunctionIndex>,
    bare: HashMap<FunctionIndex, Symbol>,
}

/// Rules of one function: the equations, and the patterns of each.
type Rules = Vec<(usize, Vec<TypedId>)>;

impl Program {
    /// Compiles a specification, and expressions over it with the variables that each is evaluated for. Terms are made
    /// in the pool.
    pub fn new(
        specification: DataSpecification,
        expressions: &[(TypedId, Vec<VariableId>)],
        pool: &Pool,
    ) -> (Program, Vec<FunctionIndex>) {
        let specification = super::prelude::complete(specification);
        let worker = pool.worker();
        let section = worker.enter();
        let permanent = pool.numbering();
        let later = pool.symbol("@later", 1);
        let mut program = Program {
            numbers: Numbers::new(pool),
            pool: pool.clone(),
            functions: Vec::new(),
            code: Vec::new(),
            tables: Vec::new(),
            templates: Vec::new(),
            roles: Vec::new(),
            truths: [section.empty(); 2],
            permanent,
            later,
            applies: HashMap::new(),
            sources: HashMap::new(),
            unapplied: HashMap::new(),
            sites: HashMap::new(),
            listed: RwLock::default(),
            by_id: HashMap::new(),
            bare: HashMap::new(),
            specification,
        };
        program.set_role(later, Role::Later);
        for index in 0..program.specification.signature.len() as u32 {
            program.add_function(FunctionId(index));
        }
        program.truths = [Operator::False, Operator::True].map(|operator| program.truth(operator, &section));
        let mut compiler = Compiler { program, section: &section, pending: Vec::new() };
        let codes = expressions.iter().map(|(body, variables)| compiler.outer(*body, variables)).collect();
        compiler.compile();
        (compiler.program, codes)
    }

    fn set_role(&mut self, symbol: Symbol, role: Role) {
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

    /// Keeps a term of the code alive.
    pub(super) fn keep(&self, term: Term, section: &Section<'_>) -> Term {
        self.permanent.number(section, term);
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
            frame: domain.len() as u16,
            id: Some(id),
            site: None,
            structured: matches!(kind, Kind::Constructor(_)) && self.is_free(id, codomain),
        });
        if self.role(symbol) == Role::Foreign {
            self.set_role(symbol, Role::Applied(index));
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
    fn is_free(&self, id: FunctionId, sort: SortRef) -> bool {
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

/// Code that is still to be made for the body of a closure, delay or quantifier.
struct Pending {
    function: FunctionIndex,
    /// Variables whose slots may hold delayed values.
    lazy: Vec<VariableId>,
}

struct Compiler<'s, 'w> {
    program: Program,
    section: &'s Section<'w>,
    pending: Vec<Pending>,
}

/// Where variables lie, and which of them may be delayed.
#[derive(Clone, Debug, Default)]
struct Frame {
    places: HashMap<VariableId, Slot>,
    lazy: Vec<VariableId>,
    size: Slot,
}

impl Frame {
    fn fresh(&mut self) -> Slot {
        self.size += 1;
        self.size - 1
    }
}

/// A row of the matrix of patterns.
#[derive(Clone, Debug)]
struct Row {
    equation: usize,
    /// Slots whose terms must still match a pattern.
    open: Vec<(Slot, TypedId)>,
    bound: Vec<(VariableId, Slot)>,
    /// Slots that must hold one term.
    same: Vec<(Slot, Slot)>,
    guards: Vec<(Slot, Guard)>,
}

/// What a pattern looks for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wanted {
    Symbol(Symbol, u16),
    Term(Term),
}

impl Compiler<'_, '_> {
    fn compile(&mut self) {
        let mut rules: HashMap<FunctionIndex, Rules> = HashMap::new();
        for number in 0..self.program.specification.equations.len() {
            let left = self.program.specification.equations[number].left;
            if let Some((function, patterns)) = self.head(left) {
                rules.entry(function).or_default().push((number, patterns));
            }
        }
        self.find_lazy(&rules);
        let mut order: Vec<FunctionIndex> = rules.keys().copied().collect();
        order.sort_unstable();
        for function in order {
            let rows = self.rows(function, &rules[&function]);
            self.function(function, rows);
        }
        self.connectives();
        while let Some(pending) = self.pending.pop() {
            self.site(pending);
        }
    }

    fn typed(&self, id: TypedId) -> Typed {
        self.program.specification.tree.expression(id).clone()
    }

    fn list(&self, list: &crate::typed::TypedList) -> Vec<TypedId> {
        self.program.specification.tree.elements(list).to_vec()
    }

    fn equation(&self, number: usize) -> TypedEquation {
        self.program.specification.equations[number].clone()
    }

    /// The function that a left side is about, and its patterns.
    fn head(&mut self, left: TypedId) -> Option<(FunctionIndex, Vec<TypedId>)> {
        match self.typed(left) {
            Typed::Function(function) => {
                let index = self.program.function_of(function);
                let index = if self.program.function(index).arity == 0 { index } else { self.unapplied(index) };
                Some((index, Vec::new()))
            }
            Typed::Apply(function, arguments) => {
                let arguments = self.list(&arguments);
                if let Typed::Function(function) = self.typed(function) {
                    return Some((self.program.function_of(function), arguments));
                }
                let apply = self.apply(arguments.len() as u16);
                Some((apply, std::iter::once(function).chain(arguments).collect()))
            }
            _ => None,
        }
    }

    /// The function without arguments that stands for a function as a value, where equations say what that is.
    fn unapplied(&mut self, function: FunctionIndex) -> FunctionIndex {
        if let Some(&index) = self.program.unapplied.get(&function) {
            return index;
        }
        let index = FunctionIndex(self.program.functions.len() as u32);
        self.program.functions.push(Function {
            kind: Kind::Defined,
            symbol: self.program.bare_symbol(function),
            arity: 0,
            captured: 0,
            lazy: 0,
            entry: None,
            frame: 0,
            id: None,
            site: None,
            structured: false,
        });
        self.program.unapplied.insert(function, index);
        index
    }

    /// The function that applies a value.
    fn apply(&mut self, arity: u16) -> FunctionIndex {
        if let Some(&index) = self.program.applies.get(&arity) {
            return index;
        }
        let symbol = self.program.pool.fresh_symbol("@apply", arity as usize + 1);
        let index = FunctionIndex(self.program.functions.len() as u32);
        self.program.functions.push(Function {
            kind: Kind::Apply(arity),
            symbol,
            arity: arity + 1,
            captured: 0,
            lazy: 0,
            entry: None,
            frame: arity + 1,
            id: None,
            site: None,
            structured: false,
        });
        self.program.set_role(symbol, Role::Applied(index));
        self.program.applies.insert(arity, index);
        index
    }

    /// Finds the arguments that some rule does not need. Every argument is assumed to be needed until a rule shows that
    /// it is not: a recursion alone does not make an argument unneeded.
    fn find_lazy(&mut self, rules: &HashMap<FunctionIndex, Rules>) {
        let mut changed = true;
        while changed {
            changed = false;
            for (&function, rows) in rules {
                let description = self.program.function(function);
                if description.kind != Kind::Defined {
                    continue;
                }
                for argument in 0..(description.arity as usize).min(64) {
                    let bit = 1 << argument;
                    if self.program.function(function).lazy & bit != 0 {
                        continue;
                    }
                    if !rows.iter().all(|(equation, patterns)| self.needs(*equation, patterns, argument)) {
                        self.program.functions[function.0 as usize].lazy |= bit;
                        changed = true;
                    }
                }
            }
        }
    }

    fn needs(&self, equation: usize, patterns: &[TypedId], argument: usize) -> bool {
        let Typed::Variable(variable) = self.typed(patterns[argument]) else { return true };
        let equation = self.equation(equation);
        let mut seen = 0;
        for &pattern in patterns {
            self.each_variable(pattern, &mut |found| seen += u32::from(found == variable));
        }
        if seen > 1 {
            return true;
        }
        if let Some(condition) = equation.condition {
            let mut used = false;
            self.each_variable(condition, &mut |found| used |= found == variable);
            if used {
                return true;
            }
        }
        self.value_needs(equation.right, variable)
    }

    fn each_variable(&self, id: TypedId, visit: &mut impl FnMut(VariableId)) {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            match self.typed(id) {
                Typed::Variable(variable) => visit(variable),
                Typed::Function(_) | Typed::Number(_) => {}
                Typed::Apply(function, arguments) => {
                    pending.push(function);
                    pending.extend(self.list(&arguments));
                }
                Typed::Lambda(_, body) | Typed::Quantified(_, _, body) => pending.push(body),
                Typed::Where(body, definitions) => {
                    pending.push(body);
                    pending.extend(definitions.iter().map(|(_, value)| *value));
                }
            }
        }
    }

    /// Whether the value of an expression depends on that of a variable in every case.
    fn value_needs(&self, id: TypedId, variable: VariableId) -> bool {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match self.typed(id) {
            Typed::Variable(found) => found == variable,
            Typed::Function(_) | Typed::Number(_) | Typed::Lambda(..) | Typed::Quantified(..) => false,
            Typed::Where(body, definitions) => {
                self.value_needs(body, variable)
                    || definitions.iter().any(|(_, value)| self.value_needs(*value, variable))
            }
            Typed::Apply(function, arguments) => {
                let arguments = self.list(&arguments);
                let Typed::Function(function) = self.typed(function) else {
                    return self.value_needs(function, variable);
                };
                let function = self.program.function(self.program.function_of(function));
                match function.kind {
                    Kind::Builtin(Operator::If) => {
                        self.value_needs(arguments[0], variable)
                            || self.value_needs(arguments[1], variable) && self.value_needs(arguments[2], variable)
                    }
                    Kind::Builtin(Operator::And | Operator::Or | Operator::Implies) => {
                        self.value_needs(arguments[0], variable)
                    }
                    _ => arguments.iter().enumerate().any(|(index, &argument)| {
                        (index >= 64 || function.lazy >> index & 1 == 0) && self.value_needs(argument, variable)
                    }),
                }
            }
        })
    }

    /// The rows of a function, those that need fewer arguments first.
    fn rows(&mut self, function: FunctionIndex, rules: &Rules) -> Vec<Row> {
        let arity = self.program.function(function).arity;
        let mut rows: Vec<(usize, Row)> = Vec::new();
        for (equation, patterns) in rules {
            let needed = (0..patterns.len())
                .filter(|&argument| {
                    let Typed::Variable(variable) = self.typed(patterns[argument]) else { return true };
                    let mut uses = 0;
                    for &pattern in patterns {
                        self.each_variable(pattern, &mut |found| uses += u32::from(found == variable));
                    }
                    let condition = self.equation(*equation).condition;
                    condition.into_iter().for_each(|condition| {
                        self.each_variable(condition, &mut |found| uses += u32::from(found == variable));
                    });
                    uses > 1
                })
                .count();
            let mut row =
                Row { equation: *equation, open: Vec::new(), bound: Vec::new(), same: Vec::new(), guards: Vec::new() };
            let fits = (0..arity).zip(patterns).all(|(slot, &pattern)| self.take(&mut row, slot, pattern));
            if fits {
                rows.push((needed, row));
            }
        }
        rows.sort_by_key(|(needed, _)| *needed);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Adds a pattern to a row: variables are bound at once. False for patterns that nothing matches.
    fn take(&mut self, row: &mut Row, slot: Slot, pattern: TypedId) -> bool {
        match self.typed(pattern) {
            Typed::Variable(variable) => {
                match row.bound.iter().find(|(bound, _)| *bound == variable) {
                    Some(&(_, before)) => row.same.push((before, slot)),
                    None => row.bound.push((variable, slot)),
                }
                true
            }
            Typed::Apply(function, arguments) => match self.typed(function) {
                Typed::Function(id) => {
                    let index = self.program.function_of(id);
                    let inside = self.list(&arguments);
                    if let Some(operator) = self.program.operator(index)
                        && let Some(guard) = conversion(operator)
                    {
                        row.guards.push((slot, guard));
                        return self.take(row, slot, inside[0]);
                    }
                    row.open.push((slot, pattern));
                    true
                }
                Typed::Apply(..) => {
                    row.open.push((slot, pattern));
                    true
                }
                _ => false,
            },
            Typed::Function(_) | Typed::Number(_) => {
                row.open.push((slot, pattern));
                true
            }
            Typed::Lambda(..) | Typed::Quantified(..) | Typed::Where(..) => false,
        }
    }

    /// What a pattern looks for, and the patterns of its arguments.
    fn wanted(&mut self, pattern: TypedId) -> (Wanted, Vec<TypedId>) {
        match self.typed(pattern) {
            Typed::Number(digits) => {
                let term = self.number(digits);
                (Wanted::Term(term), Vec::new())
            }
            Typed::Function(id) => {
                let term = self.constant(id);
                (Wanted::Term(term), Vec::new())
            }
            Typed::Apply(function, arguments) => {
                let arguments = self.list(&arguments);
                match self.typed(function) {
                    Typed::Function(id) => {
                        let function = self.program.function(self.program.function_of(id));
                        (Wanted::Symbol(function.symbol, function.arity), arguments)
                    }
                    _ => {
                        let apply = self.apply(arguments.len() as u16);
                        let function_ = self.program.function(apply);
                        let wanted = Wanted::Symbol(function_.symbol, function_.arity);
                        (wanted, std::iter::once(function).chain(arguments).collect())
                    }
                }
            }
            other => unreachable!("{other:?} is not kept as a pattern"),
        }
    }

    fn number(&mut self, digits: crate::syntax::tree::Symbol) -> Term {
        let digits = self.program.specification.names.text(digits).to_string();
        let term = self.program.numbers.from_digits(self.section, &digits);
        self.program.keep(term, self.section)
    }

    /// The term of a function symbol without arguments.
    fn constant(&mut self, id: FunctionId) -> Term {
        let index = self.program.function_of(id);
        let function = self.program.function(index);
        let symbol = if function.arity == 0 { function.symbol } else { self.program.bare_symbol(index) };
        let term = self.section.create(symbol, &[]);
        self.program.keep(term, self.section)
    }

    fn emit(&mut self, op: Op) -> Target {
        self.program.code.push(op);
        self.program.code.len() as Target - 1
    }

    fn here(&self) -> Target {
        self.program.code.len() as Target
    }

    fn function(&mut self, function: FunctionIndex, rows: Vec<Row>) {
        if rows.is_empty() {
            return;
        }
        let description = self.program.function(function).clone();
        let mut frame = Frame { size: description.arity, ..Frame::default() };
        let entry = self.here();
        let mut forced = Vec::new();
        for slot in 0..description.arity.min(64) {
            if description.lazy >> slot & 1 == 0 {
                forced.push(slot);
            }
        }
        forced.extend(64..description.arity.max(64));
        self.tree(function, rows, &mut frame, &forced);
        let described = &mut self.program.functions[function.0 as usize];
        described.entry = Some(entry);
        described.frame = frame.size;
    }

    /// Emits the tree for rows; `forced` lists the slots whose values are there.
    fn tree(&mut self, function: FunctionIndex, rows: Vec<Row>, frame: &mut Frame, forced: &[Slot]) {
        let Some(first) = rows.first() else {
            self.emit(Op::Stuck { function });
            return;
        };
        if first.open.is_empty() {
            self.leaf(function, rows, frame, forced);
            return;
        }
        // Of the slots that the first row looks at, the one that most rows look at.
        let slots: Vec<Slot> = first.open.iter().map(|(slot, _)| *slot).collect();
        let uses = |slot: Slot| rows.iter().filter(|row| row.open.iter().any(|(open, _)| *open == slot)).count();
        let Some(slot) = slots.iter().copied().rev().max_by_key(|&slot| uses(slot)) else { unreachable!() };
        let mut forced = forced.to_vec();
        if !forced.contains(&slot) {
            self.emit(Op::Force { slot });
            self.emit(Op::Store(slot));
            forced.push(slot);
        }
        let mut groups: Vec<(Wanted, Vec<TypedId>)> = Vec::new();
        for row in &rows {
            if let Some(&(_, pattern)) = row.open.iter().find(|(open, _)| *open == slot) {
                let (wanted, arguments) = self.wanted(pattern);
                if !groups.iter().any(|(known, _)| *known == wanted) {
                    groups.push((wanted, arguments));
                }
            }
        }
        let table = self.program.tables.len() as u32;
        self.program.tables.push(Table::default());
        self.emit(Op::Switch { slot, table });
        let mut filled = Table::default();
        for (wanted, _) in groups {
            let target = self.here();
            let parts = match wanted {
                Wanted::Symbol(symbol, arity) => {
                    filled.symbols.push((symbol, target));
                    (0..arity).map(|_| frame.fresh()).collect::<Vec<Slot>>()
                }
                Wanted::Term(term) => {
                    filled.terms.push((term, target));
                    Vec::new()
                }
            };
            let mut inside = Vec::new();
            for row in &rows {
                let mut row = row.clone();
                let Some(place) = row.open.iter().position(|(open, _)| *open == slot) else {
                    inside.push(row);
                    continue;
                };
                let (_, pattern) = row.open.remove(place);
                let (other, arguments) = self.wanted(pattern);
                if other == wanted
                    && parts.iter().zip(arguments).all(|(&part, pattern)| self.take(&mut row, part, pattern))
                {
                    inside.push(row);
                }
            }
            for (index, &part) in parts.iter().enumerate() {
                let used = inside.iter().any(|row| {
                    row.open.iter().any(|(slot, _)| *slot == part)
                        || row.bound.iter().any(|(_, slot)| *slot == part)
                        || row.same.iter().any(|(_, slot)| *slot == part)
                });
                if used {
                    self.emit(Op::Load { from: slot, index: index as u16, to: part });
                }
            }
            let mut forced = forced.clone();
            forced.extend(&parts);
            self.tree(function, inside, frame, &forced);
        }
        filled.otherwise = self.here();
        self.program.tables[table as usize] = filled;
        let others = rows.into_iter().filter(|row| row.open.iter().all(|(open, _)| *open != slot)).collect();
        self.tree(function, others, frame, &forced);
    }

    /// Emits the first row, whose patterns have matched, and where its tests fail the others.
    fn leaf(&mut self, function: FunctionIndex, mut rows: Vec<Row>, frame: &mut Frame, forced: &[Slot]) {
        let row = rows.remove(0);
        let equation = self.equation(row.equation);
        let mut forced = forced.to_vec();
        let mut fixes: Vec<Target> = Vec::new();
        for (one, other) in &row.same {
            for slot in [*one, *other] {
                self.force(slot, &mut forced);
            }
            fixes.push(self.emit(Op::Same { one: *one, other: *other, otherwise: 0 }));
        }
        for (slot, guard) in &row.guards {
            self.force(*slot, &mut forced);
            fixes.push(self.emit(Op::Guard { slot: *slot, guard: *guard, otherwise: 0 }));
        }
        let places: HashMap<VariableId, Slot> = row.bound.iter().copied().collect();
        let lazy: Vec<VariableId> =
            row.bound.iter().filter(|(_, slot)| !forced.contains(slot)).map(|(variable, _)| *variable).collect();
        let mut inner = Frame { places, lazy, size: frame.size };
        if let Some(condition) = equation.condition {
            self.value(condition, &mut inner);
            fixes.push(self.emit(Op::Test { otherwise: 0, open: 0 }));
        }
        let always = fixes.is_empty();
        self.last(equation.right, &mut inner);
        frame.size = frame.size.max(inner.size);
        if always {
            return;
        }
        let here = self.here();
        for fix in fixes {
            match &mut self.program.code[fix as usize] {
                Op::Same { otherwise, .. } | Op::Guard { otherwise, .. } => *otherwise = here,
                // An open condition is not true; what is left of it on the stack is dropped with the frame.
                Op::Test { otherwise, open } => (*otherwise, *open) = (here, here),
                _ => unreachable!("only tests are fixed"),
            }
        }
        self.tree(function, rows, frame, &forced);
    }

    fn force(&mut self, slot: Slot, forced: &mut Vec<Slot>) {
        if !forced.contains(&slot) {
            self.emit(Op::Force { slot });
            self.emit(Op::Store(slot));
            forced.push(slot);
        }
    }

    /// Emits code that ends with the value of an expression.
    fn last(&mut self, id: TypedId, frame: &mut Frame) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.expression(id, frame, true));
    }

    /// Emits code that puts the value of an expression on top.
    fn value(&mut self, id: TypedId, frame: &mut Frame) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.expression(id, frame, false));
    }

    fn done(&mut self, last: bool) {
        if last {
            self.emit(Op::Return);
        }
    }

    fn expression(&mut self, id: TypedId, frame: &mut Frame, last: bool) {
        match self.typed(id) {
            Typed::Variable(variable) => {
                let slot = frame.places[&variable];
                if frame.lazy.contains(&variable) {
                    self.emit(Op::Force { slot });
                    self.emit(Op::Store(slot));
                }
                self.emit(Op::Slot(slot));
                self.done(last);
            }
            Typed::Number(digits) => {
                let term = self.number(digits);
                self.emit(Op::Constant(term));
                self.done(last);
            }
            Typed::Function(id) => {
                let index = self.program.function_of(id);
                let function = self.program.function(index);
                if let Some(&unapplied) = self.program.unapplied.get(&index) {
                    self.call(unapplied, last);
                } else if function.arity > 0 || matches!(function.kind, Kind::Constructor(_)) {
                    let term = self.constant(id);
                    self.emit(Op::Constant(term));
                    self.done(last);
                } else {
                    self.call(index, last);
                }
            }
            Typed::Apply(function, arguments) => {
                let arguments = self.list(&arguments);
                match self.typed(function) {
                    Typed::Function(id) => {
                        let function = self.program.function_of(id);
                        self.application(function, &arguments, frame, last);
                    }
                    _ => {
                        self.value(function, frame);
                        for &argument in &arguments {
                            self.value(argument, frame);
                        }
                        let arity = arguments.len() as u16;
                        self.apply(arity);
                        self.emit(if last { Op::JumpApply { arity } } else { Op::Apply { arity } });
                    }
                }
            }
            Typed::Lambda(variables, body) => {
                self.site_value(SiteKind::Closure, &variables, body, frame);
                self.done(last);
            }
            Typed::Quantified(quantifier, variables, body) => {
                let function = self.site_value(SiteKind::Quantified(quantifier), &variables, body, frame);
                self.call(function, last);
            }
            Typed::Where(body, definitions) => {
                let mut inner = frame.clone();
                for (variable, value) in definitions {
                    self.value(value, frame);
                    inner.size = inner.size.max(frame.size);
                    let slot = inner.fresh();
                    frame.size = inner.size;
                    self.emit(Op::Store(slot));
                    inner.places.insert(variable, slot);
                }
                self.expression(body, &mut inner, last);
                frame.size = frame.size.max(inner.size);
            }
        }
    }

    fn call(&mut self, function: FunctionIndex, last: bool) {
        self.emit(if last { Op::Jump { function } } else { Op::Call { function } });
    }

    fn application(&mut self, function: FunctionIndex, arguments: &[TypedId], frame: &mut Frame, last: bool) {
        let description = self.program.function(function).clone();
        match description.kind {
            Kind::Builtin(operator) if conversion(operator).is_some() => {
                self.expression(arguments[0], frame, last);
            }
            Kind::Builtin(Operator::If) => self.conditional(function, arguments, frame, last),
            Kind::Builtin(Operator::And | Operator::Or | Operator::Implies) => {
                self.connective(function, arguments, frame, last);
            }
            Kind::Constructor(_) => {
                for &argument in arguments {
                    self.value(argument, frame);
                }
                let op = Op::Make { symbol: description.symbol, arity: description.arity };
                self.emit(op);
                self.done(last);
            }
            _ => {
                for (index, &argument) in arguments.iter().enumerate() {
                    if index < 64 && description.lazy >> index & 1 == 1 {
                        self.delayed(argument, frame);
                    } else {
                        self.value(argument, frame);
                    }
                }
                self.call(function, last);
            }
        }
    }

    fn conditional(&mut self, function: FunctionIndex, arguments: &[TypedId], frame: &mut Frame, last: bool) {
        self.value(arguments[0], frame);
        let test = self.emit(Op::Test { otherwise: 0, open: 0 });
        let mut ends = Vec::new();
        self.expression(arguments[1], frame, last);
        if !last {
            ends.push(self.emit(Op::Goto(0)));
        }
        let otherwise = self.here();
        self.expression(arguments[2], frame, last);
        if !last {
            ends.push(self.emit(Op::Goto(0)));
        }
        // The condition is open: its branches are kept as they are.
        let open = self.here();
        for &branch in &arguments[1..] {
            let template = self.template(branch, frame);
            self.emit(Op::Instance { template });
        }
        let symbol = self.program.function(function).symbol;
        self.emit(Op::Make { symbol, arity: 3 });
        self.done(last);
        self.program.code[test as usize] = Op::Test { otherwise, open };
        let here = self.here();
        for end in ends {
            self.program.code[end as usize] = Op::Goto(here);
        }
    }

    /// `a && b`, `a || b` and `a => b`: the second operand is evaluated only when the first does not decide.
    fn connective(&mut self, function: FunctionIndex, arguments: &[TypedId], frame: &mut Frame, last: bool) {
        let operator = self.program.operator(function);
        self.value(arguments[0], frame);
        let test = self.emit(Op::Test { otherwise: 0, open: 0 });
        let [no, yes] = self.program.truths;
        let mut ends = Vec::new();
        let mut branch = |compiler: &mut Self, frame: &mut Frame, decided: Option<Term>| {
            match decided {
                Some(term) => {
                    compiler.emit(Op::Constant(term));
                    compiler.done(last);
                }
                None => compiler.expression(arguments[1], frame, last),
            }
            if !last {
                ends.push(compiler.emit(Op::Goto(0)));
            }
        };
        let (if_true, if_false) = match operator {
            Some(Operator::And) => (None, Some(no)),
            Some(Operator::Or) => (Some(yes), None),
            _ => (None, Some(yes)),
        };
        branch(self, frame, if_true);
        let otherwise = self.here();
        branch(self, frame, if_false);
        let open = self.here();
        self.value(arguments[1], frame);
        self.emit(Op::Join { function });
        self.done(last);
        self.program.code[test as usize] = Op::Test { otherwise, open };
        let here = self.here();
        for end in ends {
            self.program.code[end as usize] = Op::Goto(here);
        }
    }

    fn template(&mut self, expression: TypedId, frame: &Frame) -> u32 {
        let mut places = Vec::new();
        self.each_variable(expression, &mut |variable| {
            if let Some(&slot) = frame.places.get(&variable)
                && !places.contains(&(variable, slot))
            {
                places.push((variable, slot));
            }
        });
        self.program.templates.push(Template { expression, places });
        self.program.templates.len() as u32 - 1
    }

    /// Emits code that puts an expression on top without evaluating it, unless that costs nothing.
    fn delayed(&mut self, id: TypedId, frame: &mut Frame) {
        match self.typed(id) {
            // What may be delayed already stays so.
            Typed::Variable(variable) => {
                let slot = frame.places[&variable];
                self.emit(Op::Slot(slot));
            }
            _ if self.is_cheap(id, frame) => self.value(id, frame),
            _ => {
                self.site_value(SiteKind::Delay, &[], id, frame);
            }
        }
    }

    /// Whether the value of an expression is made in a few steps, whatever its variables are.
    fn is_cheap(&self, id: TypedId, frame: &Frame) -> bool {
        match self.typed(id) {
            Typed::Variable(variable) => !frame.lazy.contains(&variable),
            Typed::Number(_) | Typed::Lambda(..) => true,
            Typed::Function(id) => {
                let index = self.program.function_of(id);
                let function = self.program.function(index);
                !self.program.unapplied.contains_key(&index)
                    && (function.arity > 0 || matches!(function.kind, Kind::Constructor(_)))
            }
            Typed::Apply(function, arguments) => {
                let Typed::Function(id) = self.typed(function) else { return false };
                let function = self.program.function(self.program.function_of(id));
                let cheap = match function.kind {
                    Kind::Constructor(_) => true,
                    Kind::Builtin(operator) => conversion(operator).is_some() || is_arithmetic(operator),
                    _ => false,
                };
                cheap && self.list(&arguments).iter().all(|&argument| self.is_cheap(argument, frame))
            }
            Typed::Quantified(..) | Typed::Where(..) => false,
        }
    }

    /// Emits code that makes a closure, a delayed expression or the operands of a quantifier out of the values it uses.
    fn site_value(&mut self, kind: SiteKind, bound: &[VariableId], body: TypedId, frame: &mut Frame) -> FunctionIndex {
        let mut captured: Vec<VariableId> = Vec::new();
        self.each_variable(body, &mut |variable| {
            if frame.places.contains_key(&variable) && !captured.contains(&variable) {
                captured.push(variable);
            }
        });
        for variable in &captured {
            let slot = frame.places[variable];
            self.emit(Op::Slot(slot));
        }
        let arity = captured.len() as u16;
        if let Some(index) = self.known_site(kind, body, &captured) {
            if !matches!(kind, SiteKind::Quantified(_)) {
                let symbol = self.program.function(index).symbol;
                self.emit(Op::Make { symbol, arity });
            }
            return index;
        }
        let name = match kind {
            SiteKind::Closure => "@lambda",
            SiteKind::Delay => "@delayed",
            SiteKind::Quantified(Quantifier::Forall) => "@forall",
            SiteKind::Quantified(Quantifier::Exists) => "@exists",
        };
        let symbol = self.program.pool.fresh_symbol(name, arity as usize);
        let index = FunctionIndex(self.program.functions.len() as u32);
        let lazy: Vec<VariableId> = captured.iter().filter(|variable| frame.lazy.contains(variable)).copied().collect();
        let variables: Vec<VariableId> = captured.iter().chain(bound).copied().collect();
        let total = variables.len() as u16;
        self.program.functions.push(Function {
            kind: match kind {
                SiteKind::Quantified(quantifier) => Kind::Quantified(quantifier),
                _ => Kind::Defined,
            },
            symbol,
            arity: if matches!(kind, SiteKind::Quantified(_)) { arity } else { total },
            captured: arity,
            lazy: 0,
            entry: None,
            frame: total,
            id: None,
            site: Some((body, variables)),
            structured: false,
        });
        let role = match kind {
            SiteKind::Closure => Role::Closure(index),
            SiteKind::Delay => Role::Delay(index),
            SiteKind::Quantified(_) => Role::Quantified(index),
        };
        self.program.set_role(symbol, role);
        self.program.sites.insert(body, index);
        if let SiteKind::Quantified(quantifier) = kind {
            self.sources(index, quantifier, body, &captured, bound, &lazy);
        }
        self.pending.push(Pending { function: index, lazy });
        if !matches!(kind, SiteKind::Quantified(_)) {
            self.emit(Op::Make { symbol, arity });
        }
        index
    }

    /// Finds where the values of a quantifier's variables come from.
    fn sources(
        &mut self,
        quantified: FunctionIndex,
        quantifier: Quantifier,
        body: TypedId,
        captured: &[VariableId],
        bound: &[VariableId],
        lazy: &[VariableId],
    ) {
        let mut before: Vec<VariableId> = captured.to_vec();
        let mut sources = Vec::new();
        for &variable in bound {
            let known: HashSet<VariableId> = before.iter().copied().collect();
            let found = quantifiers::fact(&self.program.specification, quantifier, body, variable, &known);
            let mut code = |expression: TypedId| self.outer_with(expression, &before, lazy);
            sources.push(match found {
                Some(Fact::Point(value)) => Source::Point(code(value)),
                Some(Fact::Elements(container)) => Source::Elements(code(container)),
                Some(Fact::Range { lower, upper }) => Source::Range { lower: lower.map(&mut code), upper: code(upper) },
                None => Source::All(self.program.specification.tree.variable(variable).1),
            });
            before.push(variable);
        }
        self.program.sources.insert(quantified, sources);
    }

    /// The site of a body that was met before with the same captured variables. A body is compiled for each leaf of a
    /// match tree it is in; its closures are equal all the same.
    fn known_site(&self, kind: SiteKind, body: TypedId, captured: &[VariableId]) -> Option<FunctionIndex> {
        let index = self.program.site_of(body)?;
        let function = self.program.function(index);
        let (_, variables) = function.site.as_ref()?;
        let same_kind = matches!(
            (kind, self.program.role(function.symbol)),
            (SiteKind::Closure, Role::Closure(_))
                | (SiteKind::Delay, Role::Delay(_))
                | (SiteKind::Quantified(_), Role::Quantified(_))
        );
        (same_kind && variables[..function.captured as usize] == *captured).then_some(index)
    }

    /// A function that evaluates an expression for values of its variables.
    fn outer(&mut self, body: TypedId, variables: &[VariableId]) -> FunctionIndex {
        self.outer_with(body, variables, &[])
    }

    fn outer_with(&mut self, body: TypedId, variables: &[VariableId], lazy: &[VariableId]) -> FunctionIndex {
        let symbol = self.program.pool.fresh_symbol("@expression", variables.len());
        let index = FunctionIndex(self.program.functions.len() as u32);
        let arity = variables.len() as u16;
        self.program.functions.push(Function {
            kind: Kind::Defined,
            symbol,
            arity,
            captured: 0,
            lazy: 0,
            entry: None,
            frame: arity,
            id: None,
            site: Some((body, variables.to_vec())),
            structured: false,
        });
        self.pending.push(Pending { function: index, lazy: lazy.to_vec() });
        index
    }

    /// Emits the code of a closure, delay or quantifier.
    fn site(&mut self, pending: Pending) {
        let Some((body, variables)) = self.program.function(pending.function).site.clone() else { return };
        let places = variables.iter().zip(0..).map(|(&variable, slot)| (variable, slot)).collect();
        let mut frame = Frame { places, lazy: pending.lazy, size: variables.len() as Slot };
        let entry = self.here();
        self.last(body, &mut frame);
        let function = &mut self.program.functions[pending.function.0 as usize];
        function.entry = Some(entry);
        function.frame = frame.size;
    }

    /// Code of `if` and of the connectives as functions that are called with parameters, some of them delayed.
    fn connectives(&mut self) {
        for index in 0..self.program.functions.len() as u32 {
            let function = FunctionIndex(index);
            let Some(operator) = self.program.operator(function) else { continue };
            let (lazy, arity) = match operator {
                Operator::If => (0b110, 3),
                Operator::And | Operator::Or | Operator::Implies => (0b10, 2),
                _ => continue,
            };
            let entry = self.here();
            self.emit(Op::Slot(0));
            let test = self.emit(Op::Test { otherwise: 0, open: 0 });
            let [no, yes] = self.program.truths;
            let forced = |compiler: &mut Self, slot: Slot| {
                compiler.emit(Op::Force { slot });
                compiler.emit(Op::Store(slot));
                compiler.emit(Op::Slot(slot));
                compiler.emit(Op::Return);
            };
            let constant = |compiler: &mut Self, term: Term| {
                compiler.emit(Op::Constant(term));
                compiler.emit(Op::Return);
            };
            if operator == Operator::Or {
                constant(self, yes);
            } else {
                forced(self, 1);
            }
            let otherwise = self.here();
            match operator {
                Operator::If => forced(self, 2),
                Operator::And => constant(self, no),
                Operator::Or => forced(self, 1),
                _ => constant(self, yes),
            }
            let open = self.here();
            if operator == Operator::If {
                self.emit(Op::Stuck { function });
            } else {
                self.emit(Op::Force { slot: 1 });
                self.emit(Op::Store(1));
                self.emit(Op::Slot(1));
                self.emit(Op::Join { function });
                self.emit(Op::Return);
            }
            self.program.code[test as usize] = Op::Test { otherwise, open };
            let described = &mut self.program.functions[index as usize];
            described.entry = Some(entry);
            described.lazy = lazy;
            described.frame = arity;
        }
    }
}

/// What is made of a body that is not evaluated at once.
#[derive(Clone, Copy, Debug)]
enum SiteKind {
    Closure,
    Delay,
    Quantified(Quantifier),
}

/// What a number must be to be a value of the sort that is converted from; nothing for other operators.
fn conversion(operator: Operator) -> Option<Guard> {
    match operator {
        Operator::Pos2Nat | Operator::Pos2Int | Operator::Pos2Real => Some(Guard::Positive),
        Operator::Nat2Int | Operator::Nat2Real => Some(Guard::Natural),
        Operator::Int2Real => Some(Guard::Integer),
        _ => None,
    }
}

/// Whether an operator converts a number upwards, which costs nothing.
pub(super) fn is_conversion(operator: Operator) -> bool {
    conversion(operator).is_some()
}

/// Whether an operator takes one step on numbers.
fn is_arithmetic(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Succ | Operator::Pred | Operator::Negate
    )
}
