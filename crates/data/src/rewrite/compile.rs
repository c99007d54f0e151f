//! From equations to code.
//!
//! Patterns become match trees in `matching.rs`. Callers evaluate the arguments that every rule needs (`needed.rs`).
//! The others are delayed unless they are values already: a delayed expression is a term of its own symbol over the
//! values it uses, and its symbol has code. Functions as values and quantifiers are made the same way, so nothing is
//! ever copied or renamed, and a value is never walked again.

use std::collections::HashMap;

use trefoil_terms::{Section, Term};

use crate::signature::{FunctionId, Operator};
use crate::typed::{Quantifier, Typed, TypedEquation, TypedId, VariableId};

use super::code::{FunctionIndex, Guard, Op, Slot, Target};
use super::enumerate::{Sum, SumIndex};
use super::program::{Function, Kind, Program, Role, Template};

/// Rules of one function: the equations, and the patterns of each.
pub(super) type Rules = Vec<(usize, Vec<TypedId>)>;

/// Code that is still to be made for the body of a closure, delay or quantifier.
struct Pending {
    function: FunctionIndex,
    /// Variables whose slots may hold delayed values.
    lazy: Vec<VariableId>,
}

/// Makes the code of a program.
pub(super) struct Compiler<'s, 'w> {
    pub(super) program: Program,
    section: &'s Section<'w>,
    pending: Vec<Pending>,
}

/// Where variables lie, and which of them may be delayed.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) places: HashMap<VariableId, Slot>,
    pub(super) lazy: Vec<VariableId>,
    pub(super) size: Slot,
}

impl Frame {
    pub(super) fn fresh(&mut self) -> Slot {
        self.size += 1;
        self.size - 1
    }
}

impl<'s, 'w> Compiler<'s, 'w> {
    /// A compiler into a program that has its functions and no code yet.
    pub(super) fn new(program: Program, section: &'s Section<'w>) -> Compiler<'s, 'w> {
        Compiler { program, section, pending: Vec::new() }
    }

    /// The program with its code, and the functions that evaluate expressions for values of their variables.
    pub(super) fn run(
        mut self,
        expressions: &[(TypedId, Vec<VariableId>)],
        sums: &[Sum],
    ) -> (Program, Vec<FunctionIndex>, Vec<SumIndex>) {
        let codes = expressions.iter().map(|(body, variables)| self.outer(*body, variables)).collect();
        let sums = sums.iter().map(|sum| self.sum(sum)).collect();
        self.compile();
        (self.program, codes, sums)
    }
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

    pub(super) fn typed(&self, id: TypedId) -> Typed {
        self.program.specification.tree.expression(id).clone()
    }

    pub(super) fn list(&self, list: &crate::typed::TypedList) -> Vec<TypedId> {
        self.program.specification.tree.elements(list).to_vec()
    }

    pub(super) fn equation(&self, number: usize) -> TypedEquation {
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
    pub(super) fn apply(&mut self, arity: u16) -> FunctionIndex {
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

    pub(super) fn each_variable(&self, id: TypedId, visit: &mut impl FnMut(VariableId)) {
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

    pub(super) fn number(&mut self, digits: crate::syntax::tree::Symbol) -> Term {
        let digits = self.program.specification.names.text(digits).to_string();
        let term = self.program.numbers.from_digits(self.section, &digits);
        self.program.keep(term, self.section)
    }

    /// The term of a function symbol without arguments.
    pub(super) fn constant(&mut self, id: FunctionId) -> Term {
        let index = self.program.function_of(id);
        let function = self.program.function(index);
        let symbol = if function.arity == 0 { function.symbol } else { self.program.bare_symbol(index) };
        let term = self.section.create(symbol, &[]);
        self.program.keep(term, self.section)
    }

    pub(super) fn emit(&mut self, op: Op) -> Target {
        self.program.code.push(op);
        self.program.code.len() as Target - 1
    }

    pub(super) fn here(&self) -> Target {
        self.program.code.len() as Target
    }

    /// Emits code that ends with the value of an expression.
    pub(super) fn last(&mut self, id: TypedId, frame: &mut Frame) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.expression(id, frame, true));
    }

    /// Emits code that puts the value of an expression on top.
    pub(super) fn value(&mut self, id: TypedId, frame: &mut Frame) {
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
        if self.is_cheap(arguments[1], frame) {
            self.value(arguments[1], frame);
        } else {
            // The second operand is a function of its own here: its code twice would double with every connective.
            let slot = frame.fresh();
            self.site_value(SiteKind::Delay, &[], arguments[1], frame);
            self.emit(Op::Store(slot));
            self.emit(Op::Force { slot });
            self.emit(Op::Store(slot));
            self.emit(Op::Slot(slot));
        }
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
            let plan = self.plan(quantifier, body, &captured, bound);
            self.program.plans.insert(index, plan);
        } else {
            if let ([variable], SiteKind::Closure) = (bound, kind)
                && self.program.specification.tree.sort(body) == crate::sorts::BOOL
                && let Some(source) = self.held(body, &captured, *variable)
            {
                self.program.held.insert(index, source);
            }
            self.pending.push(Pending { function: index, lazy });
        }
        if !matches!(kind, SiteKind::Quantified(_)) {
            self.emit(Op::Make { symbol, arity });
        }
        index
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

    fn sum(&mut self, sum: &Sum) -> SumIndex {
        let plan = self.plan(Quantifier::Exists, sum.condition, &sum.parameters, &sum.variables);
        let arity = sum.parameters.len() as u16;
        let symbol = self.program.pool.fresh_symbol("@sum", arity as usize);
        let index = FunctionIndex(self.program.functions.len() as u32);
        self.program.functions.push(Function {
            kind: Kind::Quantified(Quantifier::Exists),
            symbol,
            arity,
            captured: arity,
            lazy: 0,
            entry: None,
            frame: arity,
            id: None,
            site: Some((sum.condition, sum.parameters.iter().chain(&sum.variables).copied().collect())),
            structured: false,
        });
        self.program.plans.insert(index, plan);
        SumIndex(index)
    }

    /// A function that evaluates an expression for values of its variables.
    pub(super) fn outer(&mut self, body: TypedId, variables: &[VariableId]) -> FunctionIndex {
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
        self.pending.push(Pending { function: index, lazy: Vec::new() });
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
pub(super) fn conversion(operator: Operator) -> Option<Guard> {
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
