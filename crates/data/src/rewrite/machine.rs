//! The machine that runs code.
//!
//! One stack of terms holds frames, another one where to return; neither is Rust's, so a recursion 10^6 deep costs a
//! few dozen megabytes and nothing overflows. The stack of terms is lent to the pool at every poll, so nothing is
//! protected term by term. Polls come after a fixed number of calls.
//!
//! Inside a run the stack is longer than what is in use: there is room above the base of the running frame for the
//! largest frame of the program, so that calls compare once and write without growing. What lies above the slots in use
//! is old, but was written since the last poll, because a poll cuts the stack to what is in use. Whatever is done
//! outside of code (quantifiers, terms that did not come from code) takes the end of the stack for its top, so the
//! stack is cut before it.

use std::cmp::Ordering;

use trefoil_control::{Control, Stopped};
use trefoil_terms::{RootStack, Section, Term, Worker};

use crate::signature::Operator;

use super::code::{COMPARED_SLOWLY, FunctionIndex, Guard, Op, Target};
use super::program::{Kind, Program, Role};

/// Calls between two polls.
const POLL: u32 = 1000;

/// Slots by which the stack grows at least.
const GROWTH: usize = 256;

/// Where to go on when a function returns.
#[derive(Clone, Copy, Debug)]
struct Return {
    at: Target,
    base: u32,
}

/// Where code of the outermost call returns to: [`Op::Halt`].
const OUTSIDE: Target = 0;

/// How a call goes on.
enum Known {
    Value(Term),
    Code(Target, u16),
    /// By searching values, outside of code: the arity.
    Outside(u16),
}

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
    /// The number of the last unknown part that a search around this one made.
    pub(super) last_unknown: u64,
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
            last_unknown: 0,
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

    /// Steps since they were limited last: calls of functions that have rules, and values that were tried.
    pub fn steps(&self) -> u64 {
        self.polled + u64::from(self.interval - self.until_poll)
    }

    /// Gives up at the first step beyond so many, counted from now.
    pub fn limit_steps(&mut self, most: u64) {
        self.polled = 0;
        self.most_steps = most;
        self.plan_poll();
    }

    /// The next poll comes after the usual number of steps, or at the first one that is not allowed.
    fn plan_poll(&mut self) {
        let allowed = self.most_steps.saturating_sub(self.polled).saturating_add(1);
        self.interval = u32::try_from(allowed).map_or(POLL, |allowed| allowed.min(POLL));
        self.until_poll = self.interval;
    }

    /// Does work that leaves a term on top, in at most `most` steps. Where it takes more there is no term, and the
    /// stack has its former height. Nothing may be running.
    pub(super) fn within_steps(
        &mut self,
        most: u64,
        height: usize,
        work: impl FnOnce(&mut Self) -> Result<(), Unfinished>,
    ) -> Result<Option<Term>, Unfinished> {
        debug_assert!(self.returns.is_empty(), "what is cut off would be forgotten");
        let (before, allowed) = (self.steps(), self.most_steps);
        self.limit_steps(most.min(allowed.saturating_sub(before)));
        let outcome = work(self);
        self.polled = before + self.steps();
        self.most_steps = allowed;
        self.plan_poll();
        match outcome {
            Ok(()) => Ok(Some(self.pop())),
            Err(Unfinished::Steps) if self.polled <= allowed => {
                self.reset(height);
                Ok(None)
            }
            Err(unfinished) => Err(unfinished),
        }
    }

    /// The functions that were being evaluated when the last evaluation was cut off, the innermost first.
    pub fn interrupted(&self) -> &[FunctionIndex] {
        &self.interrupted
    }

    /// Lets the pool collect; the lowest terms on the stack stay, and no others.
    #[cold]
    #[inline(never)]
    fn poll(&mut self, top: usize) -> Result<(), Unfinished> {
        self.polled += u64::from(self.interval);
        self.plan_poll();
        if self.polled > self.most_steps {
            return Err(Unfinished::Steps);
        }
        if let Some(control) = self.control {
            control.check()?;
        }
        self.stack.truncate(top);
        self.roots.exchange(&mut self.stack);
        let polled = self.section.poll();
        self.roots.exchange(&mut self.stack);
        Ok(polled?)
    }

    /// Counts as a step: for loops outside of code, whose terms all lie on the stack.
    pub(super) fn tick(&mut self) -> Result<(), Unfinished> {
        self.until_poll -= 1;
        if self.until_poll == 0 { self.poll(self.stack.len()) } else { Ok(()) }
    }

    /// Makes room for a frame.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, base: usize) {
        let filler = self.program.truths[0];
        let length = (base + self.program.room + GROWTH).max(self.stack.len());
        self.stack.resize(length, filler);
    }

    /// Forgets an evaluation that was cut off. What was running stays known until the next one.
    pub(super) fn reset(&mut self, height: usize) {
        self.stack.truncate(height);
        self.last_unknown = 0;
        let running = self.returns.iter().rev().filter(|frame| frame.at != OUTSIDE);
        self.interrupted = running.filter_map(|frame| self.program.function_at(frame.at)).take(64).collect();
        self.returns.clear();
    }

    /// Calls a function with the topmost terms, and leaves its value in their place.
    pub(super) fn call(&mut self, function: FunctionIndex) -> Result<(), Unfinished> {
        let description = self.program.function(function);
        let arity = description.arity as usize;
        let place = self.stack.len() - arity;
        match description.kind {
            Kind::Quantified(_) => return self.quantify(function),
            Kind::Comprehension(element) => return self.comprehend(element),
            Kind::Builtin(operator) => {
                if let Some(value) = self.builtin(operator, &self.stack[place..]) {
                    self.stack.truncate(place);
                    self.stack.push(value);
                    return Ok(());
                }
            }
            _ => {}
        }
        match description.entry {
            Some(entry) => self.run(entry, arity),
            None => {
                // A function without rules: the application is the value.
                let term = self.section.create(description.symbol, &self.stack[place..]);
                self.stack.truncate(place);
                self.stack.push(term);
                Ok(())
            }
        }
    }

    /// Applies the function value below the topmost terms to them, and leaves the value in their place.
    pub(super) fn apply(&mut self, arity: u16) -> Result<(), Unfinished> {
        let place = self.stack.len() - arity as usize - 1;
        let function = self.spread(place, arity);
        let arguments = self.program.function(function).arity as usize;
        self.stack.truncate(place + arguments);
        self.call(function)
    }

    /// Puts the arguments of an application where the function that the value stands for has them, from `place` on, and
    /// gives the function.
    fn spread(&mut self, place: usize, arity: u16) -> FunctionIndex {
        let value = self.stack[place];
        let (from, to) = (place + 1, place + 1 + arity as usize);
        match self.program.role(self.section.head(value)) {
            Role::Bare(function) if self.program.function(function).arity == arity => {
                self.stack.copy_within(from..to, place);
                function
            }
            Role::Closure(function) => {
                let captured = self.section.arguments(value);
                let needed = place + captured.len() + arity as usize;
                if self.stack.len() < needed {
                    self.stack.resize(needed, value);
                }
                self.stack.copy_within(from..to, place + captured.len());
                for (slot, term) in self.stack[place..].iter_mut().zip(captured.iter()) {
                    *slot = term;
                }
                function
            }
            _ => match self.program.apply_function(arity) {
                Some(apply) => apply,
                None => unreachable!("code applies values only with arities it was compiled for"),
            },
        }
    }

    /// Runs code for the topmost terms, and leaves its value in their place.
    fn run(&mut self, entry: Target, arity: usize) -> Result<(), Unfinished> {
        let place = self.stack.len() - arity;
        self.tick()?;
        self.returns.push(Return { at: OUTSIDE, base: 0 });
        self.run_at(entry, place)?;
        self.stack.truncate(place + 1);
        Ok(())
    }

    fn run_at(&mut self, entry: Target, place: usize) -> Result<(), Unfinished> {
        let program = self.program;
        let (code, room) = (&program.code[..], program.room);
        let (mut at, mut base) = (entry, place);
        if self.stack.len() < base + room {
            self.grow(base);
        }
        // The stack is held here while code runs, so that the compiler keeps it in registers.
        let mut stack = std::mem::take(&mut self.stack);
        macro_rules! slot {
            ($slot:expr) => {
                stack[base + $slot as usize]
            };
        }
        // Does something that needs the stack where it belongs.
        macro_rules! outside {
            ($work:expr) => {{
                self.stack = stack;
                let result = $work;
                stack = std::mem::take(&mut self.stack);
                result
            }};
        }
        // The same with the stack cut to what is in use, which may fail.
        macro_rules! try_outside {
            ($top:expr, $work:expr) => {
                self.stack = stack;
                self.stack.truncate($top);
                $work?;
                if self.stack.len() < base + room {
                    self.grow(base);
                }
                stack = std::mem::take(&mut self.stack);
            };
        }
        // Ends the function whose value is in its first slot.
        macro_rules! leave {
            () => {
                match self.returns.pop() {
                    Some(frame) => (at, base) = (frame.at, frame.base as usize),
                    None => unreachable!("a frame ends once"),
                }
            };
        }
        // Counts a step of code that begins with parameters in place.
        macro_rules! begin {
            ($entry:expr, $arity:expr) => {
                at = $entry;
                self.until_poll -= 1;
                if self.until_poll == 0 {
                    self.stack = stack;
                    if let Err(unfinished) = self.poll(base + $arity as usize) {
                        // What was about to run is known to have been running.
                        self.returns.push(Return { at: at + 1, base: base as u32 });
                        return Err(unfinished);
                    }
                    stack = std::mem::take(&mut self.stack);
                }
                if stack.len() < base + room {
                    outside!(self.grow(base));
                }
            };
        }
        // The value of a function whose parameters are in place from `$place` on, if it is known without rules; else
        // its code, if it has any.
        macro_rules! known {
            ($function:expr, $place:expr) => {{
                let description = program.function($function);
                let arguments = &stack[$place..$place + description.arity as usize];
                let native = match description.kind {
                    Kind::Builtin(operator) => self.builtin(operator, arguments),
                    _ => None,
                };
                let searches = matches!(description.kind, Kind::Quantified(_) | Kind::Comprehension(_));
                match (native, description.entry) {
                    (Some(value), _) => Known::Value(value),
                    _ if searches => Known::Outside(description.arity),
                    (None, None) => Known::Value(self.section.create(description.symbol, arguments)),
                    (None, Some(entry)) => Known::Code(entry, description.arity),
                }
            }};
        }
        macro_rules! call {
            ($function:expr, $at:expr) => {{
                let place = base + $at as usize;
                match known!($function, place) {
                    Known::Value(value) => stack[place] = value,
                    Known::Outside(arity) => {
                        try_outside!(place + arity as usize, self.call($function));
                    }
                    Known::Code(entry, arity) => {
                        self.returns.push(Return { at, base: base as u32 });
                        base = place;
                        begin!(entry, arity);
                    }
                }
            }};
        }
        // The same as the last call.
        macro_rules! jump {
            ($function:expr) => {
                match known!($function, base) {
                    Known::Value(value) => {
                        stack[base] = value;
                        leave!();
                    }
                    Known::Outside(arity) => {
                        try_outside!(base + arity as usize, self.call($function));
                        leave!();
                    }
                    Known::Code(entry, arity) => {
                        begin!(entry, arity);
                    }
                }
            };
        }
        loop {
            let op = &code[at as usize];
            at += 1;
            // The operands are read where they are used: copying an operation takes longer than most of them.
            match *op {
                Op::Halt => {
                    self.stack = stack;
                    return Ok(());
                }
                Op::Switch { count, slot, first } => {
                    let head = self.section.head(slot!(slot));
                    let entries = &program.entries[first as usize..][..=count as usize];
                    let (others, known) = (entries[count as usize], &entries[..count as usize]);
                    at = known.iter().find(|entry| entry.symbol == head).unwrap_or(&others).target;
                }
                Op::Is { slot, symbol, otherwise } => {
                    if self.section.head(slot!(slot)) != symbol {
                        at = otherwise;
                    }
                }
                Op::IsTerm { slot, term, otherwise } => {
                    if slot!(slot) != term {
                        at = otherwise;
                    }
                }
                Op::Load { from, index, to } => {
                    slot!(to) = self.section.argument(slot!(from), index as usize);
                }
                Op::Load2 { indices, from, to } => {
                    let arguments = self.section.arguments(slot!(from));
                    let [one, other] = indices.map(|index| arguments.get(index as usize));
                    let (Some(one), Some(other)) = (one, other) else { unreachable!("the head was looked at before") };
                    slot!(to[0]) = one;
                    slot!(to[1]) = other;
                }
                Op::Move { from, to } => slot!(to) = slot!(from),
                Op::Move2 { from, to } => {
                    slot!(to[0]) = slot!(from[0]);
                    slot!(to[1]) = slot!(from[1]);
                }
                Op::Constant { to, term } => slot!(to) = term,
                Op::Make1 { symbol, one, to } => {
                    slot!(to) = self.section.create(symbol, &[slot!(one)]);
                }
                Op::Make2 { symbol, one, other, to } => {
                    slot!(to) = self.section.create(symbol, &[slot!(one), slot!(other)]);
                }
                Op::Make3 { symbol, slots: [one, two, three], to } => {
                    slot!(to) = self.section.create(symbol, &[slot!(one), slot!(two), slot!(three)]);
                }
                Op::Make { symbol, arity, at } => {
                    let place = base + at as usize;
                    stack[place] = self.section.create(symbol, &stack[place..place + arity as usize]);
                }
                Op::Call { entry, at: place, arity } => {
                    self.returns.push(Return { at, base: base as u32 });
                    base += place as usize;
                    begin!(entry, arity);
                }
                Op::Jump { entry, arity } => {
                    begin!(entry, arity);
                }
                Op::Return { slot } => {
                    stack[base] = slot!(slot);
                    leave!();
                }
                Op::Give { term } => {
                    stack[base] = term;
                    leave!();
                }
                Op::Give1 { symbol, one } => {
                    stack[base] = self.section.create(symbol, &[slot!(one)]);
                    leave!();
                }
                Op::Give2 { symbol, one, other } => {
                    stack[base] = self.section.create(symbol, &[slot!(one), slot!(other)]);
                    leave!();
                }
                Op::Compare { operator, one, other, otherwise } => {
                    match self.compare(operator, slot!(one), slot!(other)) {
                        Some(true) => at += COMPARED_SLOWLY,
                        Some(false) => at = otherwise,
                        None => {}
                    }
                }
                Op::Test { slot, otherwise, open } => {
                    let term = slot!(slot);
                    if term == program.truths[0] {
                        at = otherwise;
                    } else if term != program.truths[1] {
                        at = open;
                    }
                }
                Op::Goto(target) => at = target,
                Op::Force { slot, at: place } => {
                    let term = slot!(slot);
                    match program.role(self.section.head(term)) {
                        Role::Delay(function) => {
                            let captured = self.section.arguments(term);
                            let arity = captured.len();
                            let to = &mut stack[base + place as usize..];
                            for (slot, term) in to.iter_mut().zip(captured.iter()) {
                                *slot = term;
                            }
                            let Some(entry) = program.function(function).entry else {
                                unreachable!("a delayed expression has code")
                            };
                            self.returns.push(Return { at, base: base as u32 });
                            base += place as usize;
                            begin!(entry, arity);
                        }
                        Role::Later => {
                            let inside = self.section.argument(term, 0);
                            try_outside!(base + place as usize, self.rewrite(inside));
                        }
                        _ => at += 1,
                    }
                }
                Op::Same { one, other, otherwise } => {
                    if slot!(one) != slot!(other) {
                        at = otherwise;
                    }
                }
                Op::Guard { slot, guard, otherwise } => {
                    if !self.passes(guard, slot!(slot)) {
                        at = otherwise;
                    }
                }
                Op::Builtin { function, at: place } => call!(function, place),
                Op::JumpBuiltin { function } => jump!(function),
                Op::Quantify { function, at: place } => {
                    let top = base + place as usize + program.function(function).captured as usize;
                    try_outside!(top, self.quantify(function));
                }
                Op::Apply { arity, at: place } => {
                    let function = outside!(self.spread(base + place as usize, arity));
                    call!(function, place)
                }
                Op::JumpApply { arity } => {
                    let function = outside!(self.spread(base, arity));
                    jump!(function)
                }
                Op::Stuck { function } => {
                    let top = base + program.function(function).arity as usize;
                    try_outside!(top, self.stuck(function, base));
                    leave!();
                }
                Op::Instance { template, to } => {
                    let template = &program.templates[template as usize];
                    let places = &template.places;
                    let term = outside!(self.instance(template.expression, &|rewriter, variable| {
                        let slot = places.iter().find(|(known, _)| *known == variable)?.1;
                        Some(rewriter.stack[base + slot as usize])
                    }));
                    slot!(to) = term;
                }
                Op::Join { function, at: place } => {
                    slot!(place) = self.join(function, slot!(place), slot!(place + 1));
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

    /// Puts the function applied to the topmost terms, which are its parameters from `base` on, in their place, all of
    /// them evaluated.
    #[cold]
    fn stuck(&mut self, function: FunctionIndex, base: usize) -> Result<(), Unfinished> {
        let description = &self.program.functions[function.0 as usize];
        let is_conditional = description.kind == Kind::Builtin(Operator::If);
        for slot in 0..description.arity as usize {
            let term = self.stack[base + slot];
            if is_conditional && slot > 0 {
                self.stack[base + slot] = self.undelayed(term);
                continue;
            }
            self.force(term)?;
            let value = self.pop();
            self.stack[base + slot] = value;
        }
        let term = self.section.create(description.symbol, &self.stack[base..]);
        self.stack.truncate(base);
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

    pub(super) fn join(&self, function: FunctionIndex, left: Term, right: Term) -> Term {
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

    /// The value of a built-in function, where its arguments decide it.
    #[inline]
    fn builtin(&self, operator: Operator, arguments: &[Term]) -> Option<Term> {
        let [no, yes] = self.program.truths;
        let truth = |value: bool| if value { yes } else { no };
        match (operator, arguments) {
            (
                Operator::Equal
                | Operator::NotEqual
                | Operator::Less
                | Operator::LessEqual
                | Operator::Greater
                | Operator::GreaterEqual,
                &[left, right],
            ) => self.compare(operator, left, right).map(truth),
            (Operator::Not, &[term]) if term == yes => Some(no),
            (Operator::Not, &[term]) if term == no => Some(yes),
            (Operator::IsUpdate, &[term]) => self.is_update(term).map(truth),
            (Operator::Holds, &[term]) => self.holds(term).map(truth),
            (Operator::Before, &[left, right]) => {
                self.program.order(&self.section, left, right).map(|order| truth(order == Ordering::Less))
            }
            (_, &[argument]) => self.program.numbers.unary(&self.section, operator, argument),
            (_, &[left, right]) => self.program.numbers.binary(&self.section, operator, left, right),
            _ => None,
        }
    }

    fn is_update(&self, term: Term) -> Option<bool> {
        let is_update = matches!(self.program.role(self.section.head(term)), Role::Applied(function)
            if self.program.operator(function) == Some(Operator::StableUpdate));
        (is_update || self.is_closed(term)).then_some(is_update)
    }
}
