//! From expressions to code.
//!
//! A value is put into the first free slot, or taken from where it is: operands of constructors are slots of variables.
//! Constructor terms without variables are made once, with the code. The arguments of the last call are put in the
//! place of the parameters, in an order in which none is overwritten before its last use.

use trefoil_terms::{Symbol, Term};

use crate::signature::Operator;
use crate::typed::{Typed, TypedId, VariableId};

use super::code::{FunctionIndex, Guard, Op, Slot, Target};
use super::compile::{Compiler, Frame};
use super::program::{Kind, Template};
use super::sites::SiteKind;

/// Where the value of an argument of the last call is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Argument {
    Slot(Slot),
    Part(Slot, u16),
    Constant(Term),
}

impl Argument {
    fn reads(self, slot: Slot) -> bool {
        match self {
            Argument::Slot(from) | Argument::Part(from, _) => from == slot,
            Argument::Constant(_) => false,
        }
    }
}

/// Second operands of connectives with more parts are functions of their own.
const LARGEST_INLINE: usize = 256;

impl Compiler<'_, '_> {
    /// Emits code that ends with the value of an expression.
    pub(super) fn last(&mut self, id: TypedId, frame: &mut Frame) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.last_inside(id, frame));
    }

    fn last_inside(&mut self, id: TypedId, frame: &mut Frame) {
        if let Some(term) = self.ground(id) {
            self.emit(Op::Give { term });
            return;
        }
        match self.typed(id) {
            Typed::Apply(function, arguments) => {
                let arguments = self.list(&arguments);
                let Typed::Function(id) = self.typed(function) else {
                    let mut all = vec![self.argument(function, frame)];
                    for &argument in &arguments {
                        all.push(self.argument(argument, frame));
                    }
                    self.put_in_place(&all, frame);
                    let arity = arguments.len() as u16;
                    self.apply(arity);
                    self.emit(Op::JumpApply { arity });
                    return;
                };
                let function = self.program.function_of(id);
                let description = self.program.function(function);
                let (symbol, lazy) = (description.symbol, description.lazy);
                match description.kind {
                    Kind::Builtin(operator) if conversion(operator).is_some() => self.last(arguments[0], frame),
                    Kind::Builtin(Operator::If) => {
                        self.conditional(function, &arguments, frame, true);
                    }
                    Kind::Builtin(Operator::And | Operator::Or | Operator::Implies) => {
                        self.connective(function, &arguments, frame, true);
                    }
                    Kind::Constructor(_) => {
                        let slot = self.make(symbol, &arguments, frame);
                        self.emit(Op::Return { slot });
                    }
                    _ => {
                        let mut all = Vec::new();
                        for (index, &argument) in arguments.iter().enumerate() {
                            all.push(if index < 64 && lazy >> index & 1 == 1 {
                                self.delayed(argument, frame)
                            } else {
                                self.argument(argument, frame)
                            });
                        }
                        self.put_in_place(&all, frame);
                        self.jump(function);
                    }
                }
            }
            Typed::Where(body, definitions) => {
                let mut inner = self.definitions(definitions, frame);
                self.last(body, &mut inner);
            }
            Typed::Function(id) if !self.is_value(id) => {
                let index = self.program.function_of(id);
                let function = self.program.unapplied.get(&index).copied().unwrap_or(index);
                self.jump(function);
            }
            _ => {
                let slot = self.operand(id, frame);
                self.emit(Op::Return { slot });
            }
        }
    }

    /// Emits code that leaves the value of an expression in a slot, and gives the slot.
    pub(super) fn operand(&mut self, id: TypedId, frame: &mut Frame) -> Slot {
        match self.typed(id) {
            Typed::Variable(variable) => {
                let slot = frame.places[&variable];
                if frame.parts.contains_key(&slot) {
                    return self.value(id, frame);
                }
                self.forced(variable, frame);
                slot
            }
            _ => self.value(id, frame),
        }
    }

    /// Evaluates a variable that may be delayed.
    fn forced(&mut self, variable: VariableId, frame: &mut Frame) {
        if let Some(place) = frame.lazy.iter().position(|&lazy| lazy == variable) {
            frame.lazy.remove(place);
            self.force(frame.places[&variable], frame);
        }
    }

    /// Emits code that evaluates a slot which may be delayed.
    pub(super) fn force(&mut self, slot: Slot, frame: &Frame) {
        self.use_slots(frame.top + 1);
        self.emit(Op::Force { slot, at: frame.top });
        self.emit(Op::Move { from: frame.top, to: slot });
        self.here();
    }

    /// Emits code that puts the value of an expression into the first free slot, and gives that.
    pub(super) fn value(&mut self, id: TypedId, frame: &mut Frame) -> Slot {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.value_inside(id, frame))
    }

    fn value_inside(&mut self, id: TypedId, frame: &mut Frame) -> Slot {
        if let Some(term) = self.ground(id) {
            let to = self.fresh(frame);
            self.emit(Op::Constant { to, term });
            return to;
        }
        match self.typed(id) {
            Typed::Variable(variable) => {
                self.forced(variable, frame);
                self.copied(variable, frame)
            }
            Typed::Number(_) => unreachable!("a number is ground"),
            Typed::Function(id) => {
                let index = self.program.function_of(id);
                let function = self.program.unapplied.get(&index).copied().unwrap_or(index);
                let at = self.fresh(frame);
                self.call(function, at);
                at
            }
            Typed::Apply(function, arguments) => {
                let arguments = self.list(&arguments);
                match self.typed(function) {
                    Typed::Function(id) => {
                        let function = self.program.function_of(id);
                        self.application(function, &arguments, frame)
                    }
                    _ => {
                        let at = self.value(function, frame);
                        for &argument in &arguments {
                            self.value(argument, frame);
                        }
                        let arity = arguments.len() as u16;
                        self.apply(arity);
                        self.emit(Op::Apply { arity, at });
                        frame.top = at + 1;
                        at
                    }
                }
            }
            Typed::Lambda(variables, body) => self.site_value(SiteKind::Closure, &variables, body, frame),
            Typed::Quantified(quantifier, variables, body) => {
                self.site_value(SiteKind::Quantified(quantifier), &variables, body, frame)
            }
            Typed::Where(body, definitions) => {
                let to = frame.top;
                let mut inner = self.definitions(definitions, frame);
                let from = self.operand(body, &mut inner);
                if from != to {
                    self.emit(Op::Move { from, to });
                }
                self.fresh(frame)
            }
        }
    }

    /// Copies a variable's slot to the first free one.
    pub(super) fn copied(&mut self, variable: VariableId, frame: &mut Frame) -> Slot {
        let from = frame.places[&variable];
        let to = self.fresh(frame);
        match frame.parts.get(&from) {
            Some(&(from, index)) => self.emit(Op::Load { from, index, to }),
            None => self.emit(Op::Move { from, to }),
        };
        to
    }

    /// Evaluates definitions; gives the frame in which they are known.
    fn definitions(&mut self, definitions: Vec<(VariableId, TypedId)>, frame: &mut Frame) -> Frame {
        let mut inner = frame.clone();
        for (variable, value) in definitions {
            let mut outer = frame.clone();
            outer.top = inner.top;
            let slot = self.value(value, &mut outer);
            inner.top = slot + 1;
            inner.places.insert(variable, slot);
        }
        inner
    }

    /// Calls a function whose arguments lie from a slot on.
    fn call(&mut self, function: FunctionIndex, at: Slot) {
        match self.direct(function) {
            Some(arity) => {
                let call = self.emit(Op::Call { entry: function.0, at, arity });
                self.calls.push(call);
            }
            None => {
                self.emit(Op::Builtin { function, at });
            }
        }
    }

    /// The same as the last call, with the arguments in place.
    fn jump(&mut self, function: FunctionIndex) {
        match self.direct(function) {
            Some(arity) => {
                let call = self.emit(Op::Jump { entry: function.0, arity });
                self.calls.push(call);
            }
            None => {
                self.emit(Op::JumpBuiltin { function });
            }
        }
    }

    /// The arity of a function that is rules and nothing else.
    fn direct(&self, function: FunctionIndex) -> Option<u16> {
        let description = self.program.function(function);
        match description.kind {
            Kind::Builtin(operator) if is_native(operator) => None,
            Kind::Comprehension(_) => None,
            _ => Some(description.arity),
        }
    }

    fn application(&mut self, function: FunctionIndex, arguments: &[TypedId], frame: &mut Frame) -> Slot {
        let description = self.program.function(function);
        let (symbol, lazy) = (description.symbol, description.lazy);
        match description.kind {
            Kind::Builtin(operator) if conversion(operator).is_some() => self.value(arguments[0], frame),
            Kind::Builtin(Operator::If) => self.conditional(function, arguments, frame, false),
            Kind::Builtin(Operator::And | Operator::Or | Operator::Implies) => {
                self.connective(function, arguments, frame, false)
            }
            Kind::Constructor(_) => self.make(symbol, arguments, frame),
            _ => {
                let at = frame.top;
                for (index, &argument) in arguments.iter().enumerate() {
                    if index < 64 && lazy >> index & 1 == 1 {
                        let argument = self.delayed(argument, frame);
                        self.put(argument, at + index as Slot, frame);
                    } else {
                        self.value(argument, frame);
                    }
                }
                self.call(function, at);
                frame.top = at;
                self.fresh(frame)
            }
        }
    }

    /// Emits code that applies a constructor.
    fn make(&mut self, symbol: Symbol, arguments: &[TypedId], frame: &mut Frame) -> Slot {
        let to = frame.top;
        let slots: Vec<Slot> = if arguments.len() <= 3 {
            arguments.iter().map(|&argument| self.operand(argument, frame)).collect()
        } else {
            arguments.iter().map(|&argument| self.value(argument, frame)).collect()
        };
        frame.top = to;
        self.make_of(symbol, &slots, frame)
    }

    /// Emits code that applies a symbol to slots, which are neighbours from the first free one on if there are more
    /// than three.
    pub(super) fn make_of(&mut self, symbol: Symbol, slots: &[Slot], frame: &mut Frame) -> Slot {
        let to = self.fresh(frame);
        match *slots {
            [] => {
                let term = self.section.create(symbol, &[]);
                let term = self.program.keep(term, self.section);
                self.emit(Op::Constant { to, term })
            }
            [one] => self.emit(Op::Make1 { symbol, one, to }),
            [one, other] => self.emit(Op::Make2 { symbol, one, other, to }),
            [one, two, three] => self.emit(Op::Make3 { symbol, slots: [one, two, three], to }),
            _ => self.emit(Op::Make { symbol, arity: slots.len() as u16, at: to }),
        };
        to
    }

    /// The value of an argument of the last call.
    fn argument(&mut self, id: TypedId, frame: &mut Frame) -> Argument {
        if let Some(term) = self.ground(id) {
            return Argument::Constant(term);
        }
        if let Typed::Variable(variable) = self.typed(id) {
            self.forced(variable, frame);
            return self.place_of(variable, frame);
        }
        Argument::Slot(self.value(id, frame))
    }

    fn place_of(&self, variable: VariableId, frame: &Frame) -> Argument {
        let slot = frame.places[&variable];
        match frame.parts.get(&slot) {
            Some(&(from, index)) => Argument::Part(from, index),
            None => Argument::Slot(slot),
        }
    }

    /// An expression that is not evaluated, unless that costs nothing.
    fn delayed(&mut self, id: TypedId, frame: &mut Frame) -> Argument {
        match self.typed(id) {
            // What may be delayed already stays so.
            Typed::Variable(variable) => self.place_of(variable, frame),
            _ if self.weight(id, &frame.lazy.iter().copied().collect()).is_some() => self.argument(id, frame),
            _ => Argument::Slot(self.site_value(SiteKind::Delay, &[], id, frame)),
        }
    }

    /// Puts an argument into a slot.
    fn put(&mut self, argument: Argument, to: Slot, frame: &mut Frame) {
        match argument {
            Argument::Slot(from) if from == to => 0,
            Argument::Slot(from) => self.emit(Op::Move { from, to }),
            Argument::Part(from, index) => self.emit(Op::Load { from, index, to }),
            Argument::Constant(term) => self.emit(Op::Constant { to, term }),
        };
        frame.top = frame.top.max(to + 1);
        self.use_slots(frame.top);
    }

    /// Puts arguments in the place of the parameters.
    fn put_in_place(&mut self, arguments: &[Argument], frame: &mut Frame) {
        frame.top = frame.top.max(arguments.len() as Slot);
        self.use_slots(frame.top);
        let mut waiting: Vec<(Slot, Argument)> = (0..).zip(arguments.iter().copied()).collect();
        waiting.retain(|&(to, argument)| argument != Argument::Slot(to));
        while !waiting.is_empty() {
            let free = waiting
                .iter()
                .position(|&(to, _)| waiting.iter().all(|&(other, argument)| other == to || !argument.reads(to)));
            match free {
                Some(place) => {
                    let (to, argument) = waiting.remove(place);
                    self.put(argument, to, frame);
                }
                None => {
                    // All of them are read by others: one is copied.
                    let (from, _) = waiting[0];
                    let to = self.fresh(frame);
                    self.emit(Op::Move { from, to });
                    for (_, argument) in &mut waiting {
                        match argument {
                            Argument::Slot(slot) | Argument::Part(slot, _) if *slot == from => *slot = to,
                            _ => {}
                        }
                    }
                }
            }
        }
    }

    /// Emits code that goes on if a condition is true; the other targets are to be filled in. With `open` the slot of
    /// the condition's value is given where it may be open.
    pub(super) fn test(&mut self, condition: TypedId, frame: &mut Frame) -> Tests {
        let top = frame.top;
        let mut tests = Tests { places: Vec::new(), slot: top };
        if let Typed::Apply(function, arguments) = self.typed(condition)
            && let Typed::Function(id) = self.typed(function)
            && let function = self.program.function_of(id)
            && let Some(operator) = self.program.operator(function)
            && is_comparison(operator)
        {
            let arguments = self.list(&arguments);
            let slots: Vec<Slot> = arguments.iter().map(|&argument| self.operand(argument, frame)).collect();
            let (one, other) = (slots[0], slots[1]);
            tests.places.push(self.emit(Op::Compare { operator, one, other, otherwise: 0 }));
            let at = frame.top;
            self.use_slots(at + 2);
            self.emit(Op::Move2 { from: [one, other], to: [at, at + 1] });
            self.emit(Op::Builtin { function, at });
            tests.slot = at;
        } else {
            tests.slot = self.operand(condition, frame);
        }
        tests.places.push(self.emit(Op::Test { slot: tests.slot, otherwise: 0, open: 0 }));
        self.here();
        frame.top = top;
        tests
    }

    /// Fills in where tests go that are not true.
    pub(super) fn decide(&mut self, tests: &Tests, no: Target, unknown: Target) {
        for &place in &tests.places {
            match &mut self.program.code[place as usize] {
                Op::Compare { otherwise, .. } => *otherwise = no,
                Op::Test { otherwise, open, .. } => (*otherwise, *open) = (no, unknown),
                _ => unreachable!("only tests are filled in"),
            }
        }
    }

    /// Emits code for one of several ways to a value: as the last thing, or into the first free slot, behind which
    /// the code goes on elsewhere.
    fn branch(&mut self, id: TypedId, frame: &Frame, last: bool, ends: &mut Vec<Target>) {
        let mut inner = frame.clone();
        if last {
            return self.last(id, &mut inner);
        }
        self.value(id, &mut inner);
        ends.push(self.emit(Op::Goto(0)));
    }

    /// Ends what [`Compiler::branch`] began.
    fn join(&mut self, ends: Vec<Target>, frame: &mut Frame, last: bool) -> Slot {
        let here = self.here();
        for end in ends {
            self.program.code[end as usize] = Op::Goto(here);
        }
        if last { frame.top } else { self.fresh(frame) }
    }

    fn conditional(&mut self, function: FunctionIndex, arguments: &[TypedId], frame: &mut Frame, last: bool) -> Slot {
        let tests = self.test(arguments[0], frame);
        let mut ends = Vec::new();
        self.branch(arguments[1], frame, last, &mut ends);
        let otherwise = self.here();
        self.branch(arguments[2], frame, last, &mut ends);
        // The condition is open: its branches are kept as they are.
        let open = self.here();
        let mut inner = frame.clone();
        inner.top = inner.top.max(tests.slot + 1);
        let mut slots = vec![tests.slot];
        for &branch in &arguments[1..] {
            let template = self.template(branch, &mut inner);
            let to = self.fresh(&mut inner);
            self.emit(Op::Instance { template, to });
            slots.push(to);
        }
        let symbol = self.program.function(function).symbol;
        let mut outer = frame.clone();
        let slot = self.make_of(symbol, &slots, &mut outer);
        if last {
            self.emit(Op::Return { slot });
        }
        self.decide(&tests, otherwise, open);
        self.join(ends, frame, last)
    }

    /// `a && b`, `a || b` and `a => b`: the second operand is evaluated only when the first does not decide.
    fn connective(&mut self, function: FunctionIndex, arguments: &[TypedId], frame: &mut Frame, last: bool) -> Slot {
        let operator = self.program.operator(function);
        let tests = self.test(arguments[0], frame);
        let [no, yes] = self.program.truths;
        let mut ends = Vec::new();
        let mut decided = |compiler: &mut Self, decided: Option<Term>| match decided {
            Some(term) if last => {
                compiler.emit(Op::Give { term });
            }
            Some(term) => {
                let to = compiler.fresh(&mut frame.clone());
                compiler.emit(Op::Constant { to, term });
                ends.push(compiler.emit(Op::Goto(0)));
            }
            None if compiler.program.specification.tree.is_smaller(arguments[1], LARGEST_INLINE) => {
                compiler.branch(arguments[1], frame, last, &mut ends);
            }
            None => {
                // A long chain is cut into functions: each operand has the code of what follows it twice.
                let mut inner = frame.clone();
                let slot = compiler.site_value(SiteKind::Delay, &[], arguments[1], &mut inner);
                compiler.force(slot, &inner);
                if last {
                    compiler.emit(Op::Return { slot });
                } else {
                    ends.push(compiler.emit(Op::Goto(0)));
                }
            }
        };
        let (if_true, if_false) = match operator {
            Some(Operator::And) => (None, Some(no)),
            Some(Operator::Or) => (Some(yes), None),
            _ => (None, Some(yes)),
        };
        decided(self, if_true);
        let otherwise = self.here();
        decided(self, if_false);
        let open = self.here();
        let mut inner = frame.clone();
        let at = self.fresh(&mut inner);
        if tests.slot != at {
            self.emit(Op::Move { from: tests.slot, to: at });
        }
        if self.weight(arguments[1], &inner.lazy.iter().copied().collect()).is_some() {
            self.value(arguments[1], &mut inner);
        } else {
            // The second operand is a function of its own here: its code twice would double with every connective.
            let slot = self.site_value(SiteKind::Delay, &[], arguments[1], &mut inner);
            self.force(slot, &inner);
        }
        self.emit(Op::Join { function, at });
        if last {
            self.emit(Op::Return { slot: at });
        }
        self.decide(&tests, otherwise, open);
        self.join(ends, frame, last)
    }

    /// An expression to be instantiated, with its variables in their slots.
    fn template(&mut self, expression: TypedId, frame: &mut Frame) -> u32 {
        let mut places: Vec<(VariableId, Slot)> = Vec::new();
        self.each_variable(expression, &mut |variable| {
            if let Some(&slot) = frame.places.get(&variable)
                && !places.contains(&(variable, slot))
            {
                places.push((variable, slot));
            }
        });
        for (_, to) in &places {
            if let Some((from, index)) = frame.parts.remove(to) {
                self.emit(Op::Load { from, index, to: *to });
            }
        }
        self.program.templates.push(Template { expression, places });
        self.program.templates.len() as u32 - 1
    }

    /// The term of an expression that is made of constructors and numbers alone.
    fn ground(&mut self, id: TypedId) -> Option<Term> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match self.typed(id) {
            Typed::Number(digits) => Some(self.number(digits)),
            Typed::Function(id) => self.is_value(id).then(|| self.constant(id)),
            Typed::Apply(function, arguments) => {
                let Typed::Function(id) = self.typed(function) else { return None };
                let function = self.program.function(self.program.function_of(id));
                let (kind, symbol) = (function.kind, function.symbol);
                let converts = matches!(kind, Kind::Builtin(operator) if conversion(operator).is_some());
                if !converts && !matches!(kind, Kind::Constructor(_)) {
                    return None;
                }
                let arguments: Option<Vec<Term>> =
                    self.list(&arguments).into_iter().map(|argument| self.ground(argument)).collect();
                let arguments = arguments?;
                if converts {
                    return Some(arguments[0]);
                }
                let term = self.section.create(symbol, &arguments);
                Some(self.program.keep(term, self.section))
            }
            _ => None,
        })
    }

    /// Whether a function symbol without arguments is its own value.
    pub(super) fn is_value(&self, id: crate::signature::FunctionId) -> bool {
        let index = self.program.function_of(id);
        let function = self.program.function(index);
        !self.program.unapplied.contains_key(&index)
            && (function.arity > 0 || matches!(function.kind, Kind::Constructor(_)))
    }
}

/// Tests of one condition: where they are, and the slot of the condition's value where that may be open.
pub(super) struct Tests {
    places: Vec<Target>,
    slot: Slot,
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
pub(super) fn is_arithmetic(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Succ | Operator::Pred | Operator::Negate
    )
}

fn is_comparison(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Equal
            | Operator::NotEqual
            | Operator::Less
            | Operator::LessEqual
            | Operator::Greater
            | Operator::GreaterEqual
    )
}

/// Whether the machine may know the value of an operator; the others are equations alone.
fn is_native(operator: Operator) -> bool {
    !matches!(
        operator,
        Operator::If
            | Operator::And
            | Operator::Or
            | Operator::Implies
            | Operator::Snoc
            | Operator::Concat
            | Operator::At
            | Operator::Head
            | Operator::Tail
            | Operator::Rhead
            | Operator::Rtail
            | Operator::Size
            | Operator::In
            | Operator::Union
            | Operator::Intersection
            | Operator::Difference
            | Operator::Count
    )
}
