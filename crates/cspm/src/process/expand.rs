//! From processes as the evaluator gives them to terms.

use trefoil_source::Span;

use super::chains::Listed;
use super::compressed::compression;
use super::events::SetId;
use super::terms::{Node, TermId};
use super::timed::{Clock, not_timed};
use super::{Compiler, Keep, codes};
use crate::eval::{
    Description, Failure, OperationId, ProcessId, ProcessValue, ReplicatedOperator, Result, SectionId, Shape, Value,
};
use crate::rename::Builtin;
use crate::syntax::{BinaryOperator, SynchronisedOperator};

const RED_ZONE: usize = 256 * 1024;
const SEGMENT: usize = 4 * 1024 * 1024;

/// Goes on with more stack when little is left: scripts nest operators as deeply as they like.
pub(super) fn deeply<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, SEGMENT, work)
}

/// A copy of a control point, so that the evaluator is free to evaluate its operands.
enum Head {
    Prefix,
    Binary(BinaryOperator, OperationId, OperationId),
    Synchronised(SynchronisedOperator, OperationId, OperationId, OperationId),
    Alphabetised(OperationId, OperationId, OperationId, OperationId),
    Link(OperationId, OperationId),
    Rename(OperationId),
    Replicated(ReplicatedOperator),
}

impl Compiler {
    /// The term of a process that is reached now.
    pub(super) fn expand(&mut self, process: &ProcessValue) -> Result<TermId> {
        let id = self.evaluator.identify(process)?;
        match self.expanded.get(&id) {
            Some(Some(term)) => return Ok(*term),
            Some(None) => return Err(self.unguarded(process)),
            None => {}
        }
        self.expanded.insert(id, None);
        self.processes.entry(id).or_insert_with(|| process.clone());
        match deeply(|| self.expand_new(process, id)) {
            Ok(term) => {
                self.expanded.insert(id, Some(term));
                self.origins.entry(term).or_insert(id);
                Ok(term)
            }
            Err(failure) => {
                self.expanded.remove(&id);
                Err(failure)
            }
        }
    }

    /// A term for a process that is not reached yet.
    pub(super) fn waiting(&mut self, process: ProcessValue) -> Result<TermId> {
        let id = self.evaluator.identify(&process)?;
        self.processes.entry(id).or_insert(process);
        Ok(self.terms.intern(Node::Waiting(id)))
    }

    /// What waited is reached.
    pub(super) fn reach(&mut self, term: TermId) -> Result<TermId> {
        match *self.terms.node(term) {
            Node::Waiting(id) => {
                let process = self.process_of(id);
                self.expand(&process)
            }
            // The operands of a replicated `;`, and of a long chain, wait in a chain.
            Node::Sequential(first, rest) if matches!(self.terms.node(first), Node::Waiting(_)) => {
                let first = self.reach(first)?;
                Ok(self.terms.intern(Node::Sequential(first, rest)))
            }
            Node::Sliding(first, rest) if matches!(self.terms.node(first), Node::Waiting(_)) => {
                let first = self.reach(first)?;
                Ok(self.terms.intern(Node::Sliding(first, rest)))
            }
            _ => Ok(term),
        }
    }

    fn span_of(&self, process: &ProcessValue) -> Option<Span> {
        match process.description() {
            Description::Made(point, _) => Some(self.evaluator.control_point(point).span),
            Description::Builtin(..) => None,
        }
    }

    fn unguarded(&self, process: &ProcessValue) -> Failure {
        if let Description::Builtin(builtin, _) = process.description()
            && builtin != Builtin::Loop
        {
            let message = format!("the argument of `{}` calls it recursively", builtin.text());
            return Failure::new(codes::UNGUARDED, message)
                .help("it explores its whole argument, so a recursion cannot pass through it");
        }
        let message = "this process calls itself before it performs an event";
        Failure::at(codes::UNGUARDED, message, self.span_of(process))
            .help("write an event before the recursive call, as in `P = a -> P`")
    }

    fn expand_new(&mut self, process: &ProcessValue, id: ProcessId) -> Result<TermId> {
        let point = match process.description() {
            Description::Builtin(builtin, arguments) => {
                let arguments = arguments.to_vec();
                if builtin == Builtin::Loop {
                    // What comes after a round is the process itself.
                    let round = self.argument(&arguments)?;
                    let again = self.terms.intern(Node::Waiting(id));
                    return Ok(self.terms.intern(Node::Sequential(round, again)));
                }
                return match process.section() {
                    Some(section) => self.timed_builtin(section, builtin, &arguments),
                    None => self.builtin(builtin, &arguments),
                };
            }
            Description::Made(point, _) => self.evaluator.control_point(point),
        };
        let span = point.span;
        let section = point.timed;
        let head = match &point.shape {
            Shape::Prefix { .. } => Head::Prefix,
            Shape::Binary { operator, left, right } => Head::Binary(*operator, *left, *right),
            Shape::Synchronised { operator, left, events, right } => {
                Head::Synchronised(*operator, *left, *events, *right)
            }
            Shape::Alphabetised { left, left_alphabet, right_alphabet, right } => {
                Head::Alphabetised(*left, *left_alphabet, *right_alphabet, *right)
            }
            Shape::Link { left, right, .. } => Head::Link(*left, *right),
            Shape::Rename { process, .. } => Head::Rename(*process),
            Shape::Replicated { operator, .. } => Head::Replicated(operator.clone()),
        };
        let clock = section.map(|section| self.clock(section)).transpose();
        clock
            .and_then(|clock| self.operator(process, id, head, (section, clock)))
            .map_err(|failure| failure.placed(span))
    }

    /// The term of an operator; with a clock, that of a timed section.
    fn operator(
        &mut self,
        process: &ProcessValue,
        id: ProcessId,
        head: Head,
        (section, clock): (Option<SectionId>, Option<Clock>),
    ) -> Result<TermId> {
        match head {
            Head::Prefix => {
                if clock.is_some() {
                    self.no_internal_choice(process)?;
                }
                Ok(self.terms.intern(Node::Prefix(id)))
            }
            Head::Binary(operator, left, right) => self.binary(process, operator, [left, right], (section, clock)),
            Head::Synchronised(operator, left, events, right) => {
                let mut set = self.events_of(process, events)?;
                if operator != SynchronisedOperator::Exception {
                    set = self.with_tock(set, clock)?;
                }
                if operator == SynchronisedOperator::Parallel {
                    let operands = self.listed(process, Listed::Parallel(set), [left, right], (section, clock))?;
                    return Ok(self.terms.parallel(set, operands));
                }
                let left = self.operand(process, left)?;
                match operator {
                    SynchronisedOperator::Exception => {
                        let right = self.waiting_operand(process, right)?;
                        Ok(self.terms.intern(Node::Exception(left, set, right)))
                    }
                    SynchronisedOperator::Parallel => unreachable!("it is a list"),
                    SynchronisedOperator::ExternalChoice => {
                        let right = self.operand(process, right)?;
                        Ok(self.terms.intern(Node::SynchronisingChoice(set, [left, right].into())))
                    }
                    SynchronisedOperator::Interrupt => {
                        let right = self.operand(process, right)?;
                        Ok(self.terms.intern(Node::SynchronisingInterrupt(set, left, right)))
                    }
                }
            }
            Head::Alphabetised(left, left_alphabet, right_alphabet, right) => {
                let mut sets = [self.events_of(process, left_alphabet)?, self.events_of(process, right_alphabet)?];
                for set in &mut sets {
                    *set = self.with_tock(*set, clock)?;
                }
                let terms = [self.operand(process, left)?, self.operand(process, right)?];
                Ok(self.terms.intern(Node::Alphabetised(sets.into(), terms.into())))
            }
            Head::Link(..) if clock.is_some() => Err(not_timed("linked parallel (`[a <-> b]`)")),
            Head::Link(left, right) => {
                let pairs = self.evaluator.ties(process)?;
                let ties = self.events.ties(pairs);
                let (left, right) = (self.operand(process, left)?, self.operand(process, right)?);
                Ok(self.terms.intern(Node::Link(ties, left, right)))
            }
            Head::Rename(operand) => {
                let pairs = self.evaluator.ties(process)?;
                let renaming = self.events.renaming(pairs);
                let term = self.operand(process, operand)?;
                Ok(self.terms.rename(renaming, term))
            }
            Head::Replicated(operator) => self.replicated(process, operator, clock),
        }
    }

    fn binary(
        &mut self,
        process: &ProcessValue,
        operator: BinaryOperator,
        [left, right]: [OperationId; 2],
        (section, clock): (Option<SectionId>, Option<Clock>),
    ) -> Result<TermId> {
        use BinaryOperator as B;
        match operator {
            B::Hide | B::Project => {
                let set = self.events_of(process, right)?;
                let term = self.operand(process, left)?;
                Ok(match operator {
                    B::Hide => self.terms.hide(set, term),
                    _ => self.terms.project(set, term),
                })
            }
            B::Interleave => {
                let set = clock.map_or(SetId::EMPTY, |clock| clock.only);
                let operands = self.listed(process, Listed::Parallel(set), [left, right], (section, clock))?;
                Ok(self.terms.parallel(set, operands))
            }
            B::ExternalChoice => {
                let operands = self.listed(process, Listed::ExternalChoice, [left, right], (section, clock))?;
                Ok(match clock {
                    Some(clock) => self.terms.synchronising(clock.only, operands),
                    None => self.terms.external(operands),
                })
            }
            B::InternalChoice => {
                let operands = [self.waiting_operand(process, left)?, self.waiting_operand(process, right)?];
                Ok(self.terms.intern(Node::Internal(operands.into())))
            }
            B::Interrupt => {
                let (left, right) = (self.operand(process, left)?, self.operand(process, right)?);
                Ok(self.terms.intern(match clock {
                    Some(clock) => Node::SynchronisingInterrupt(clock.only, left, right),
                    None => Node::Interrupt(left, right),
                }))
            }
            B::SlidingChoice | B::Sequential => self.waiting_chain(process, operator, [left, right], section),
            other => unreachable!("{other:?} makes no process"),
        }
    }

    fn replicated(
        &mut self,
        process: &ProcessValue,
        operator: ReplicatedOperator,
        clock: Option<Clock>,
    ) -> Result<TermId> {
        if clock.is_some() && matches!(operator, ReplicatedOperator::Link(..)) {
            return Err(not_timed("linked parallel (`[a <-> b]`)"));
        }
        let copies = self.evaluator.replicas(process)?;
        match operator {
            ReplicatedOperator::InternalChoice | ReplicatedOperator::Sequential => {
                let mut terms = Vec::with_capacity(copies.len());
                for (_, copy) in copies {
                    terms.push(self.waiting(copy)?);
                }
                if matches!(operator, ReplicatedOperator::Sequential) {
                    let chain =
                        terms.into_iter().rev().reduce(|rest, first| self.terms.intern(Node::Sequential(first, rest)));
                    return match chain {
                        Some(chain) => self.reach(chain),
                        None => Ok(self.skip(clock)),
                    };
                }
                if terms.is_empty() {
                    return Err(Failure::new(codes::NO_ALTERNATIVES, "an internal choice between no processes"));
                }
                Ok(self.terms.intern(Node::Internal(terms.into())))
            }
            ReplicatedOperator::Alphabetised(_) => {
                let (mut sets, mut terms) = (Vec::new(), Vec::new());
                for (alphabet, copy) in copies {
                    let alphabet = alphabet.expect("every copy has an alphabet");
                    let alphabet = self.events_in(alphabet)?;
                    sets.push(self.with_tock(alphabet, clock)?);
                    terms.push(self.expand(&copy)?);
                }
                if terms.is_empty() {
                    return Ok(self.idle(clock).unwrap_or(TermId::SKIP));
                }
                Ok(self.terms.intern(Node::Alphabetised(sets.into(), terms.into())))
            }
            ReplicatedOperator::Link(..) => {
                let pairs = self.evaluator.ties(process)?;
                let ties = self.events.ties(pairs);
                let mut terms = Vec::with_capacity(copies.len());
                for (_, copy) in copies {
                    terms.push(self.expand(&copy)?);
                }
                let chain =
                    terms.into_iter().rev().reduce(|right, left| self.terms.intern(Node::Link(ties, left, right)));
                Ok(chain.unwrap_or(TermId::SKIP))
            }
            ReplicatedOperator::Interleave => {
                let terms = self.expand_all(copies)?;
                self.beside(clock.map_or(SetId::EMPTY, |clock| clock.only), terms, clock)
            }
            ReplicatedOperator::Parallel(set) => {
                let set = self.events_of(process, set)?;
                let set = self.with_tock(set, clock)?;
                let terms = self.expand_all(copies)?;
                self.beside(set, terms, clock)
            }
            ReplicatedOperator::ExternalChoice => {
                let terms = self.expand_all(copies)?;
                Ok(match clock {
                    Some(clock) => self.terms.synchronising(clock.only, terms),
                    None => self.terms.external(terms),
                })
            }
            ReplicatedOperator::SynchronisingChoice(set) => {
                let set = self.events_of(process, set)?;
                let set = self.with_tock(set, clock)?;
                let terms = self.expand_all(copies)?;
                match terms[..] {
                    [] => Ok(self.idle(clock).unwrap_or(TermId::STOP)),
                    [only] => Ok(only),
                    _ => Ok(self.terms.intern(Node::SynchronisingChoice(set, terms.into()))),
                }
            }
        }
    }

    /// Generalised parallel; of no processes in a timed section, time just passes.
    fn beside(&mut self, set: SetId, terms: Vec<TermId>, clock: Option<Clock>) -> Result<TermId> {
        match self.idle(clock) {
            Some(idle) if terms.is_empty() => Ok(idle),
            _ => Ok(self.terms.parallel(set, terms)),
        }
    }

    fn expand_all(&mut self, copies: Vec<(Option<Value>, ProcessValue)>) -> Result<Vec<TermId>> {
        copies.into_iter().map(|(_, copy)| self.expand(&copy)).collect()
    }

    fn operand(&mut self, process: &ProcessValue, operation: OperationId) -> Result<TermId> {
        let operand = self.evaluator.operand_process(process, operation)?;
        self.expand(&operand)
    }

    fn waiting_operand(&mut self, process: &ProcessValue, operation: OperationId) -> Result<TermId> {
        let operand = self.evaluator.operand_process(process, operation)?;
        self.waiting(operand)
    }

    pub(super) fn events_of(&mut self, process: &ProcessValue, operation: OperationId) -> Result<SetId> {
        let value = self.evaluator.operand(process, operation)?;
        self.events_in(value)
    }

    pub(super) fn events_in(&mut self, value: Value) -> Result<SetId> {
        let value = self.evaluator.set(&value)?;
        if let Value::Set(set) = &value
            && set.is_scattered()
        {
            self.evaluator.list(&value)?;
        }
        let is_listed = matches!(&value, Value::Set(set) if set.listed().is_some());
        let set = self.events.set(value);
        if !is_listed {
            self.terms.note_described(set);
        }
        Ok(set)
    }

    pub(super) fn argument(&mut self, arguments: &[Value]) -> Result<TermId> {
        let value = self.evaluator.finish(arguments[0].clone())?;
        let process = self.evaluator.process(value)?;
        self.expand(&process)
    }

    pub(super) fn builtin(&mut self, builtin: Builtin, arguments: &[Value]) -> Result<TermId> {
        match builtin {
            Builtin::Stop => Ok(TermId::STOP),
            Builtin::Skip => Ok(TermId::SKIP),
            Builtin::Div => Ok(self.terms.intern(Node::Div)),
            Builtin::Run | Builtin::Chaos => {
                let set = self.events_in(arguments[0].clone())?;
                Ok(self.terms.intern(if builtin == Builtin::Run { Node::Run(set) } else { Node::Chaos(set) }))
            }
            Builtin::Buffer | Builtin::WeakBuffer | Builtin::SignalBuffer => self.buffer(builtin, arguments),
            // What these promise is kept by doing nothing.
            Builtin::Lazyenumerate | Builtin::Lazynorm => self.argument(arguments),
            Builtin::Chase | Builtin::ChaseNocache | Builtin::Deter if self.options.keep == Keep::Strong => {
                let message = format!("`{}` chooses between steps that a formula can tell apart", builtin.text());
                Err(Failure::new(codes::UNSUPPORTED, message).help("check the formula on a process without it"))
            }
            Builtin::Chase
            | Builtin::ChaseNocache
            | Builtin::Prioritise
            | Builtin::PrioritiseNocache
            | Builtin::PrioritisePo => {
                let term = self.argument(arguments)?;
                self.layer(builtin, term, arguments)
            }
            Builtin::TraceWatchdog => {
                let term = self.argument(arguments)?;
                self.watchdog(term, arguments)
            }
            other => match compression(other) {
                Some(compression) => {
                    let term = self.argument(arguments)?;
                    self.compresses = true;
                    if !self.options.keep.allows(compression) {
                        self.left_out.insert(other.text());
                        return Ok(term);
                    }
                    self.compressed(compression, term)
                }
                // FailureWatchdog: its type is published, but not what it does.
                None => Err(Failure::new(codes::UNSUPPORTED, format!("`{}` is not supported", other.text()))
                    .help("check the refinement itself, `P [F= Q`")),
            },
        }
    }
}
