//! The machine that runs code.
//!
//! One stack of terms holds frames and operands, another one where to return; neither is Rust's, so a recursion 10^6
//! deep costs a few dozen megabytes and nothing overflows. The stack of terms is lent to the pool at every poll, so
//! nothing is protected term by term. Polls come after a fixed number of calls.

use trefoil_control::{Control, Stopped};
use trefoil_terms::{RootStack, Section, Symbol, Term, Worker};

use crate::signature::Operator;

use super::code::{FunctionIndex, Guard, Op, Target};
use super::program::{Kind, Program, Role};

/// Calls between two polls.
const POLL: u32 = 1000;

/// Where to go on when a function returns.
#[derive(Clone, Copy, Debug)]
struct Return {
    at: Target,
    base: u32,
    function: FunctionIndex,
}

/// Where code of the outermost call returns to.
const OUTSIDE: Target = Target::MAX;

/// Why a rewrite did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// A budget ran out, or the user interrupted.
    Stopped(Stopped),
    /// More steps than the caller allows.
    Steps,
}

impl From<Stopped> for Unfinished {
    fn from(stopped: Stopped) -> Unfinished {
        Unfinished::Stopped(stopped)
    }
}

/// A rewriter of one thread over a program.
pub struct Rewriter<'p> {
    pub(super) program: &'p Program,
    pub(super) section: Section<'p>,
    roots: RootStack,
    pub(super) stack: Vec<Term>,
    returns: Vec<Return>,
    until_poll: u32,
    interrupted: Vec<FunctionIndex>,
    control: Option<&'p Control>,
    /// Calls up to the last poll.
    polled: u64,
    /// Calls between the last poll and the next one.
    interval: u32,
    /// Calls after which a rewrite is given up.
    most_steps: u64,
}

impl<'p> Rewriter<'p> {
    /// A rewriter that makes its terms through a worker.
    pub fn new(program: &'p Program, worker: &'p Worker) -> Rewriter<'p> {
        let roots = worker.stack();
        let section = worker.enter();
        Rewriter {
            program,
            section,
            roots,
            stack: Vec::new(),
            returns: Vec::new(),
            until_poll: POLL,
            interrupted: Vec::new(),
            control: None,
            polled: 0,
            interval: POLL,
            most_steps: u64::MAX,
        }
    }

    /// Obeys a control besides that of the pool: the control of one question.
    pub fn obey(&mut self, control: &'p Control) {
        self.control = Some(control);
    }

    /// The section in which terms are made and read.
    pub fn section(&self) -> &Section<'p> {
        &self.section
    }

    /// Calls so far, since they were limited last.
    pub fn steps(&self) -> u64 {
        self.polled + u64::from(self.interval - self.until_poll)
    }

    /// Gives up at the first call beyond so many, counted from now.
    pub fn limit_steps(&mut self, most: u64) {
        self.polled = 0;
        self.most_steps = most;
        self.plan_poll();
    }

    /// The next poll comes after the usual number of calls, or at the first one that is not allowed.
    fn plan_poll(&mut self) {
        let allowed = (self.most_steps - self.polled).saturating_add(1);
        self.interval = u32::try_from(allowed).map_or(POLL, |allowed| allowed.min(POLL));
        self.until_poll = self.interval;
    }

    /// The functions that were being evaluated when the last evaluation was cut off, the innermost first.
    pub fn interrupted(&self) -> &[FunctionIndex] {
        &self.interrupted
    }

    /// Lets the pool collect; the terms on the stack stay.
    fn poll(&mut self) -> Result<(), Unfinished> {
        self.polled += u64::from(self.interval);
        if self.polled > self.most_steps {
            return Err(Unfinished::Steps);
        }
        if let Some(control) = self.control {
            control.check()?;
        }
        self.plan_poll();
        self.roots.exchange(&mut self.stack);
        let polled = self.section.poll();
        self.roots.exchange(&mut self.stack);
        Ok(polled?)
    }

    /// Counts as a call: for loops outside of code, whose terms are all held.
    pub(super) fn tick(&mut self) -> Result<(), Unfinished> {
        self.until_poll -= 1;
        if self.until_poll == 0 { self.poll() } else { Ok(()) }
    }

    /// Forgets an evaluation that was cut off. What was running stays known until the next one.
    pub(super) fn reset(&mut self, height: usize) {
        self.stack.truncate(height);
        self.interrupted = self.returns.iter().rev().map(|frame| frame.function).take(64).collect();
        self.returns.clear();
    }

    /// Calls a function with the topmost terms, and leaves its value in their place.
    pub(super) fn call(&mut self, function: FunctionIndex) -> Result<(), Unfinished> {
        let outside = self.returns.len();
        let mut at = OUTSIDE;
        self.enter(function, &mut at)?;
        self.run(at, outside)
    }

    /// Applies the function value below the topmost terms to them, and leaves the value in their place.
    pub(super) fn apply(&mut self, arity: u16) -> Result<(), Unfinished> {
        let outside = self.returns.len();
        let mut at = OUTSIDE;
        self.enter_value(arity, &mut at)?;
        self.run(at, outside)
    }

    /// Begins a call: `at` is where to return to, and becomes where to go on.
    #[inline]
    fn enter(&mut self, function: FunctionIndex, at: &mut Target) -> Result<(), Unfinished> {
        self.until_poll -= 1;
        if self.until_poll == 0 {
            self.poll()?;
        }
        let description = &self.program.functions[function.0 as usize];
        if let Kind::Builtin(operator) = description.kind
            && let Some(value) = self.builtin(operator, description.arity as usize)
        {
            self.stack.truncate(self.stack.len() - description.arity as usize);
            self.stack.push(value);
            return Ok(());
        }
        match description.kind {
            Kind::Quantified(_) => return self.quantify(function),
            Kind::Comprehension(element) => return self.comprehend(element),
            _ => {}
        }
        let Some(entry) = description.entry else {
            return self.without_rules(function);
        };
        let base = self.stack.len() - description.arity as usize;
        self.returns.push(Return { at: *at, base: base as u32, function });
        let filler = self.program.truths[0];
        self.stack.resize(base + description.frame as usize, filler);
        *at = entry;
        Ok(())
    }

    /// A function without rules: the application is the value.
    #[cold]
    fn without_rules(&mut self, function: FunctionIndex) -> Result<(), Unfinished> {
        let description = &self.program.functions[function.0 as usize];
        let from = self.stack.len() - description.arity as usize;
        let term = self.section.create(description.symbol, &self.stack[from..]);
        self.stack.truncate(from);
        self.stack.push(term);
        Ok(())
    }

    /// Begins the application of a value.
    fn enter_value(&mut self, arity: u16, at: &mut Target) -> Result<(), Unfinished> {
        let place = self.stack.len() - arity as usize - 1;
        let value = self.stack[place];
        match self.program.role(self.section.head(value)) {
            Role::Bare(function) if self.program.functions[function.0 as usize].arity == arity => {
                let description = &self.program.functions[function.0 as usize];
                self.stack.remove(place);
                if let Kind::Constructor(_) = description.kind {
                    return self.without_rules(function);
                }
                self.enter(function, at)
            }
            Role::Closure(function) => {
                let captured: Vec<Term> = self.section.arguments(value).iter().collect();
                self.stack.splice(place..=place, captured);
                self.enter(function, at)
            }
            _ => {
                let Some(apply) = self.program.apply_function(arity) else {
                    unreachable!("code applies values only with arities it was compiled for")
                };
                self.enter(apply, at)
            }
        }
    }

    /// Runs code until the call that began it returns.
    fn run(&mut self, start: Target, outside: usize) -> Result<(), Unfinished> {
        let program = self.program;
        let mut at = start;
        // A call that needed no code has its value on the stack already.
        if self.returns.len() == outside {
            return Ok(());
        }
        let mut base = self.returns[self.returns.len() - 1].base as usize;
        loop {
            let op = program.code[at as usize];
            at += 1;
            match op {
                Op::Slot(slot) => {
                    let term = self.stack[base + slot as usize];
                    self.stack.push(term);
                }
                Op::Constant(term) => self.stack.push(term),
                Op::Load { from, index, to } => {
                    let term = self.section.argument(self.stack[base + from as usize], index as usize);
                    self.stack[base + to as usize] = term;
                }
                Op::Switch { slot, table } => {
                    let term = self.stack[base + slot as usize];
                    let table = &program.tables[table as usize];
                    at = self.target(term, table);
                }
                Op::Make { symbol, arity } => {
                    let from = self.stack.len() - arity as usize;
                    let term = self.section.create(symbol, &self.stack[from..]);
                    self.stack.truncate(from);
                    self.stack.push(term);
                }
                Op::Call { function } => {
                    self.enter(function, &mut at)?;
                    base = self.returns[self.returns.len() - 1].base as usize;
                }
                Op::Jump { function } => {
                    let arity = program.functions[function.0 as usize].arity as usize;
                    at = self.leave(base, arity);
                    self.enter(function, &mut at)?;
                    if self.returns.len() == outside {
                        return Ok(());
                    }
                    base = self.returns[self.returns.len() - 1].base as usize;
                }
                Op::Return => {
                    at = self.leave(base, 1);
                    if self.returns.len() == outside {
                        return Ok(());
                    }
                    base = self.returns[self.returns.len() - 1].base as usize;
                }
                Op::Test { otherwise, open } => {
                    let top = self.stack[self.stack.len() - 1];
                    if top == program.truths[1] {
                        self.stack.pop();
                    } else if top == program.truths[0] {
                        self.stack.pop();
                        at = otherwise;
                    } else {
                        at = open;
                    }
                }
                Op::Goto(target) => at = target,
                Op::Store(slot) => {
                    let term = self.pop();
                    self.stack[base + slot as usize] = term;
                }
                Op::Force { slot } => {
                    let term = self.stack[base + slot as usize];
                    match program.role(self.section.head(term)) {
                        Role::Delay(function) => {
                            let captured = self.section.arguments(term);
                            self.stack.extend(captured.iter());
                            self.enter(function, &mut at)?;
                            base = self.returns[self.returns.len() - 1].base as usize;
                        }
                        Role::Later => {
                            let inside = self.section.argument(term, 0);
                            self.rewrite(inside)?;
                        }
                        _ => at += 1,
                    }
                }
                Op::Same { one, other, otherwise } => {
                    if self.stack[base + one as usize] != self.stack[base + other as usize] {
                        at = otherwise;
                    }
                }
                Op::Guard { slot, guard, otherwise } => {
                    if !self.passes(guard, self.stack[base + slot as usize]) {
                        at = otherwise;
                    }
                }
                Op::Apply { arity } => {
                    self.enter_value(arity, &mut at)?;
                    base = self.returns[self.returns.len() - 1].base as usize;
                }
                Op::JumpApply { arity } => {
                    at = self.leave(base, arity as usize + 1);
                    self.enter_value(arity, &mut at)?;
                    if self.returns.len() == outside {
                        return Ok(());
                    }
                    base = self.returns[self.returns.len() - 1].base as usize;
                }
                Op::Stuck { function } => {
                    self.stuck(function, base)?;
                    at = self.leave(base, 1);
                    if self.returns.len() == outside {
                        return Ok(());
                    }
                    base = self.returns[self.returns.len() - 1].base as usize;
                }
                Op::Instance { template } => {
                    let template = &program.templates[template as usize];
                    let places = &template.places;
                    let term = self.instance(template.expression, &|rewriter, variable| {
                        let slot = places.iter().find(|(known, _)| *known == variable)?.1;
                        Some(rewriter.stack[base + slot as usize])
                    });
                    self.stack.push(term);
                }
                Op::Join { function } => {
                    let right = self.pop();
                    let left = self.pop();
                    let joined = self.join(function, left, right);
                    self.stack.push(joined);
                }
            }
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Term {
        match self.stack.pop() {
            Some(term) => term,
            None => unreachable!("code takes only what it put on the stack"),
        }
    }

    /// Ends a frame and keeps the topmost terms in its place; gives where to return to.
    #[inline]
    fn leave(&mut self, base: usize, kept: usize) -> Target {
        let from = self.stack.len() - kept;
        self.stack.copy_within(from.., base);
        self.stack.truncate(base + kept);
        match self.returns.pop() {
            Some(frame) => frame.at,
            None => unreachable!("a frame ends once"),
        }
    }

    #[inline]
    fn target(&self, term: Term, table: &super::code::Table) -> Target {
        for &(known, target) in &table.terms {
            if known == term {
                return target;
            }
        }
        let head = self.section.head(term);
        for &(symbol, target) in &table.symbols {
            if symbol == head {
                return target;
            }
        }
        table.otherwise
    }

    fn passes(&self, guard: Guard, term: Term) -> bool {
        use super::numbers::Number;
        let Some(number) = self.program.numbers.read(&self.section, term) else { return false };
        match (guard, number) {
            (Guard::Integer, Number::Integer(_)) => true,
            (Guard::Natural, Number::Integer(value)) => value >= dashu_int::IBig::ZERO,
            (Guard::Positive, Number::Integer(value)) => value > dashu_int::IBig::ZERO,
            (_, Number::Fraction(..)) => false,
        }
    }

    /// The function applied to the parameters of a frame, all of them evaluated, is put on top.
    #[cold]
    fn stuck(&mut self, function: FunctionIndex, base: usize) -> Result<(), Unfinished> {
        let description = &self.program.functions[function.0 as usize];
        let is_conditional = description.kind == Kind::Builtin(Operator::If);
        for slot in 0..description.arity as usize {
            let term = self.stack[base + slot];
            if is_conditional && slot > 0 {
                let undone = self.undelayed(term);
                self.stack[base + slot] = undone;
                continue;
            }
            self.force(term)?;
            let value = self.pop();
            self.stack[base + slot] = value;
        }
        let arity = description.arity as usize;
        let arguments: Vec<Term> = self.stack[base..base + arity].to_vec();
        let term = self.section.create(description.symbol, &arguments);
        self.stack.push(term);
        Ok(())
    }

    /// Puts the value of a term on top that may be delayed.
    pub(super) fn force(&mut self, term: Term) -> Result<(), Unfinished> {
        match self.program.role(self.section.head(term)) {
            Role::Delay(function) => {
                let captured: Vec<Term> = self.section.arguments(term).iter().collect();
                self.stack.extend(captured);
                self.call(function)
            }
            Role::Later => {
                let inside = self.section.argument(term, 0);
                self.rewrite(inside)
            }
            _ => {
                self.stack.push(term);
                Ok(())
            }
        }
    }

    fn join(&self, function: FunctionIndex, left: Term, right: Term) -> Term {
        let [no, yes] = self.program.truths;
        let operator = self.program.operator(function);
        match operator {
            Some(Operator::And) if right == yes => left,
            Some(Operator::And) if right == no => no,
            Some(Operator::Or) if right == no => left,
            Some(Operator::Or) if right == yes => yes,
            Some(Operator::And | Operator::Or) if left == right => left,
            Some(Operator::Implies) if right == yes || left == right => yes,
            _ => self.section.create(self.program.function(function).symbol, &[left, right]),
        }
    }

    /// The value of a built-in function of the topmost terms, where they decide it.
    #[inline]
    fn builtin(&self, operator: Operator, arity: usize) -> Option<Term> {
        let from = self.stack.len() - arity;
        let arguments = &self.stack[from..];
        let [no, yes] = self.program.truths;
        let truth = |value: bool| if value { yes } else { no };
        match (operator, arguments) {
            (Operator::Equal, &[left, right]) => self.equal(left, right).map(truth),
            (Operator::NotEqual, &[left, right]) => self.equal(left, right).map(|equal| truth(!equal)),
            (Operator::Less, &[left, right]) => self.less(left, right, false).map(truth),
            (Operator::LessEqual, &[left, right]) => self.less(left, right, true).map(truth),
            (Operator::Greater, &[left, right]) => self.less(right, left, false).map(truth),
            (Operator::GreaterEqual, &[left, right]) => self.less(right, left, true).map(truth),
            (Operator::Not, &[term]) if term == yes => Some(no),
            (Operator::Not, &[term]) if term == no => Some(yes),
            (Operator::IsUpdate, &[term]) => self.is_update(term).map(truth),
            (Operator::Holds, &[term]) => self.holds(term).map(truth),
            (_, &[argument]) => self.program.numbers.unary(&self.section, operator, argument),
            (_, &[left, right]) => self.program.numbers.binary(&self.section, operator, left, right),
            _ => None,
        }
    }

    /// Whether two values are equal, where that is seen from the terms alone.
    #[inline]
    fn equal(&self, left: Term, right: Term) -> Option<bool> {
        if left == right {
            return Some(true);
        }
        let (one, other) = (self.section.head(left), self.section.head(right));
        if self.program.numbers.is_number(one) && self.program.numbers.is_number(other) {
            return Some(false);
        }
        let (one, other) = (self.constructor(one)?, self.constructor(other)?);
        (one != other).then_some(false)
    }

    /// The order of two values, where that is seen from their heads.
    #[inline]
    fn less(&self, left: Term, right: Term, or_equal: bool) -> Option<bool> {
        if left == right {
            return Some(or_equal);
        }
        if let Some(less) = self.program.numbers.less(&self.section, left, right) {
            return Some(less);
        }
        let (one, other) = (self.section.head(left), self.section.head(right));
        let (one, other) = (self.constructor(one)?, self.constructor(other)?);
        (one != other).then_some(one < other)
    }

    /// The place of a constructor of a structured sort, or of `false` and `true`.
    fn constructor(&self, symbol: Symbol) -> Option<u32> {
        match self.program.role(symbol) {
            Role::Applied(function) => match self.program.function(function).kind {
                Kind::Constructor(place) if self.program.is_structured(function) => Some(place),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_update(&self, term: Term) -> Option<bool> {
        let is_update = matches!(self.program.role(self.section.head(term)), Role::Applied(function)
            if self.program.operator(function) == Some(Operator::StableUpdate));
        (is_update || self.is_closed(term)).then_some(is_update)
    }
}
