//! The public interface of the evaluator.

use std::collections::HashMap;

use trefoil_control::Control;
use trefoil_source::Span;

use super::code::{
    ControlPoint, ControlPointId, GlobalId, Matcher, Operation, OperationId, Program, SectionId, UnitId,
};
use super::compile::{Compiled, compile};
use super::dots::difference;
use super::failure::Result;
use super::machine::{GlobalState, Machine, State};
use super::permutation::Datatype;
use super::process::{Communication, ProcessId, ProcessValue};
use super::sets::{SetValue, begins};
use super::show::{show, show_argument, show_terms};
use super::value::{ConstructorId, Elements, Value};
use crate::rename::{DefinitionId, Renamed};
use crate::syntax::ExpressionId;
use crate::types::Typed;

/// Budgets of evaluation, besides those of [`Control`].
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many calls may be made.
    pub steps: Option<u64>,
    /// How deeply calls may be nested.
    pub depth: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { steps: None, depth: 3_000_000 }
    }
}

/// A compiled script with the values computed so far.
pub struct Evaluator {
    pub(super) program: Program,
    globals: HashMap<DefinitionId, GlobalId, foldhash::fast::RandomState>,
    queries: Vec<UnitId>,
    checks: HashMap<ExpressionId, UnitId, foldhash::fast::RandomState>,
    pub(super) state: State,
}

impl Evaluator {
    /// Compiles a script without mistakes.
    pub fn new(typed: &Typed, control: Control, options: Options) -> Evaluator {
        Evaluator::untyped(typed.renamed(), control, options)
    }

    /// Compiles a script without type checking; evaluation fails when it reaches a value of a wrong sort.
    pub fn untyped(renamed: &Renamed, control: Control, options: Options) -> Evaluator {
        let Compiled { program, globals, queries, checks } = compile(renamed);
        let state = State {
            stack: Vec::new(),
            globals: program.globals.iter().map(|_| GlobalState::Untouched).collect(),
            fields: vec![None; program.constructors.len()],
            fields_running: vec![false; program.constructors.len()],
            listing: Vec::new(),
            calls_kept: HashMap::default(),
            transposed: Vec::new(),
            processes: HashMap::default(),
            steps: 0,
            open_fields: Vec::new(),
            identified: 0,
            step_limit: options.steps.unwrap_or(u64::MAX),
            depth: 0,
            depth_limit: options.depth,
            control,
        };
        Evaluator { program, globals, queries, checks, state }
    }

    /// Runs the machine and resets it after a failure.
    pub(super) fn with<T>(&mut self, work: impl FnOnce(&mut Machine<'_>) -> Result<T>) -> Result<T> {
        let (height, depth, listing) = (self.state.stack.len(), self.state.depth, self.state.listing.len());
        let result = work(&mut Machine { program: &self.program, state: &mut self.state });
        self.state.stack.truncate(height);
        self.state.depth = depth;
        self.state.listing.truncate(listing);
        self.state.open_fields.clear();
        result
    }

    /// The value of a query, by its place among the queries that were renamed with the script.
    pub fn query(&mut self, at: usize) -> Result<Value> {
        let unit = self.queries[at];
        self.with(|machine| machine.run(unit, &[]))
    }

    /// The value of a definition of the top level or of a module without parameters.
    pub fn definition(&mut self, id: DefinitionId) -> Option<Result<Value>> {
        let global = *self.globals.get(&id)?;
        Some(self.with(|machine| machine.global(global)))
    }

    /// The value of an expression that an assertion or a print statement of the script mentions.
    pub fn mentioned(&mut self, id: ExpressionId) -> Option<Result<Value>> {
        let unit = *self.checks.get(&id)?;
        Some(self.with(|machine| machine.run(unit, &[])))
    }

    /// The numbers that the script has as literals and patterns, and as values of definitions that were evaluated; for
    /// sets and sequences, how many elements they have.
    pub(crate) fn numbers(&self) -> Vec<i32> {
        let number = |value: &Value| match value {
            Value::Int(number) => Some(*number),
            Value::Set(set) => set.listed().and_then(|items| i32::try_from(items.len()).ok()),
            Value::Sequence(..) => i32::try_from(Elements::of(value).count()).ok(),
            _ => None,
        };
        let literals = self.program.operations.iter().filter_map(|operation| match operation {
            Operation::Constant(value) => number(value),
            _ => None,
        });
        let patterns = self.program.matchers.iter().filter_map(|matcher| match matcher {
            Matcher::Int(number) => Some(*number),
            _ => None,
        });
        let known = self.state.globals.iter().filter_map(|global| match global {
            GlobalState::Done(value) => number(value),
            _ => None,
        });
        let mut numbers: Vec<i32> = literals.chain(patterns).chain(known).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Evaluates a value completely.
    pub fn finish(&mut self, value: Value) -> Result<Value> {
        self.with(|machine| machine.finish(value))
    }

    /// Sets the control for budgets and interruptions.
    pub fn set_control(&mut self, control: Control) {
        self.state.control = control;
    }

    /// A value as a set, without enumerating it.
    pub fn set(&mut self, value: &Value) -> Result<Value> {
        self.with(|machine| machine.set(value).map(Value::Set))
    }

    /// The elements of a set in order.
    pub fn list(&mut self, value: &Value) -> Result<Vec<Value>> {
        self.with(|machine| {
            let set = machine.set(value)?;
            Ok(machine.list(&set)?.to_vec())
        })
    }

    /// The set without elements.
    pub fn no_events(&self) -> Value {
        Value::Set(SetValue::from_finished(Vec::new()))
    }

    /// Whether a value belongs to a set, without enumerating it.
    pub fn member(&mut self, value: &Value, set: &Value) -> Result<bool> {
        self.with(|machine| {
            let value = machine.finish(value.clone())?;
            let set = machine.set(set)?;
            machine.member_of(&value, &set)
        })
    }

    /// All complete values that begin with this one: the events of a channel with some of its fields.
    pub fn productions(&mut self, value: &Value) -> Result<Vec<Value>> {
        self.with(|machine| machine.productions(value))
    }

    /// Applies a function.
    pub fn apply(&mut self, function: &Value, arguments: Vec<Value>) -> Result<Value> {
        let span = Span { file: trefoil_source::FileId(0), start: 0, end: 0 };
        self.with(|machine| machine.apply(function, arguments, span))
    }

    /// A finished value as CSPM text.
    pub fn show(&self, value: &Value) -> String {
        show(&self.program, value, usize::MAX)
    }

    /// The same for people: a process is shown as the term that makes it, with the values of its variables. `text`
    /// gives the text of a place in the script.
    pub fn show_terms(&self, value: &Value, text: &dyn Fn(Span) -> String) -> String {
        show_terms(&self.program, value, text)
    }

    /// The name of a constructor or channel as scripts write it, and whether it is a channel.
    pub fn constructor(&self, id: ConstructorId) -> (&str, bool) {
        let constructor = &self.program.constructors[id.index()];
        (&constructor.name, constructor.channel)
    }

    /// The constructors and channels of the script.
    pub fn constructors(&self) -> impl Iterator<Item = ConstructorId> + use<> {
        (0..self.program.constructors.len() as u32).map(ConstructorId)
    }

    /// For each field of a constructor or channel whether its values are numbers from 0 on.
    pub fn natural_fields(&mut self, id: ConstructorId) -> Result<Vec<bool>> {
        self.with(|machine| Ok(machine.fields_of(id)?.iter().map(|set| set.is_natural()).collect()))
    }

    /// The datatypes of the script and of its instances of modules.
    pub fn datatypes(&self) -> Vec<Datatype> {
        let named = |&id: &ConstructorId| (self.program.constructors[id.index()].name.clone(), id);
        let is_constant = |id: &ConstructorId| self.program.constructors[id.index()].fields.is_none();
        let datatype = |(definition, name, ids): &(DefinitionId, String, Vec<ConstructorId>)| Datatype {
            definition: *definition,
            name: name.clone(),
            constructors: ids.iter().map(named).collect(),
            constants: ids.iter().filter(|id| is_constant(id)).map(named).collect(),
        };
        self.program.datatypes.iter().map(datatype).collect()
    }

    /// A number for a process; equal ones have equal numbers. Evaluates what the process captured.
    pub fn identify(&mut self, process: &ProcessValue) -> Result<ProcessId> {
        let finished = match self.finish(Value::Process(process.0.clone())) {
            // What has open values is equal to nothing else.
            Err(failure) if failure.needs().is_some() => return self.new_number(),
            other => other?,
        };
        let Value::Process(finished) = finished else { unreachable!("finishing a process gives a process") };
        let finished = ProcessValue(finished);
        if let Some(&known) = self.state.processes.get(&finished) {
            return Ok(known);
        }
        let next = self.new_number()?;
        self.state.processes.insert(finished, next);
        Ok(next)
    }

    fn new_number(&mut self) -> Result<ProcessId> {
        let next = ProcessId(self.state.identified);
        self.state.identified += 1;
        Ok(next)
    }

    /// A control point.
    pub fn control_point(&self, id: ControlPointId) -> &ControlPoint {
        &self.program.control_points[id.index()]
    }

    /// What an operation of a process's control point evaluates to in the process's environment: an operand, a set, an
    /// alphabet. Not for what sees variables of generators.
    pub fn operand(&mut self, process: &ProcessValue, operation: OperationId) -> Result<Value> {
        self.with(|machine| {
            machine.in_process(&process.0, |machine, _, base, captured| machine.eval(operation, base, captured))
        })
    }

    /// The same for an operand that is a process.
    pub fn operand_process(&mut self, process: &ProcessValue, operation: OperationId) -> Result<ProcessValue> {
        let value = self.operand(process, operation)?;
        self.process(value)
    }

    /// A value as a process.
    pub fn process(&mut self, value: Value) -> Result<ProcessValue> {
        self.with(|machine| machine.process_of(value))
    }

    /// What a prefix offers.
    pub fn communications(&mut self, process: &ProcessValue) -> Result<Vec<Communication>> {
        self.with(|machine| machine.communications(&process.0))
    }

    /// The copies of a replicated operator, with their alphabets if it has alphabets.
    pub fn replicas(&mut self, process: &ProcessValue) -> Result<Vec<(Option<Value>, ProcessValue)>> {
        self.with(|machine| machine.replicas(&process.0))
    }

    /// The pairs of a renaming or of linked parallel, as written: parts of events, to be extended alike.
    pub fn ties(&mut self, process: &ProcessValue) -> Result<Vec<(Value, Value)>> {
        self.with(|machine| machine.ties(&process.0))
    }

    /// When an event begins with the left part of a pair, the right part with the same continuation.
    pub fn carry(&mut self, (left, right): (&Value, &Value), event: &Value) -> Result<Option<Value>> {
        if !begins(left, event) {
            return Ok(None);
        }
        self.with(|machine| {
            let mut missing = vec![right.clone()];
            difference(left, event, &mut missing);
            machine.combine(missing).map(Some)
        })
    }

    /// Processes that the script has names for, as far as they were evaluated: definitions, and calls with their
    /// arguments.
    pub fn named_processes(&self) -> Vec<(String, ProcessValue)> {
        let mut named = Vec::new();
        for (global, state) in self.program.globals.iter().zip(&self.state.globals) {
            if let GlobalState::Done(Value::Process(process)) = state {
                named.push((global.name.clone(), ProcessValue(process.clone())));
            }
        }
        for ((function, key), value) in &self.state.calls_kept {
            let function = &self.program.functions[function.index()];
            if let Some(Value::Process(process)) = value {
                let arguments = &key[key.len() - function.parameters as usize..];
                let shown: Vec<String> = arguments.iter().map(|value| show_argument(&self.program, value)).collect();
                named.push((format!("{}({})", function.name, shown.join(", ")), ProcessValue(process.clone())));
            }
        }
        named
    }

    /// The event that counts time in a timed section, and how long events take there if that is given.
    pub fn section(&mut self, id: SectionId) -> Result<(Value, Option<Value>)> {
        let (tock, durations) = (self.program.sections[id.index()].tock, self.program.sections[id.index()].durations);
        self.with(|machine| {
            let tock = machine.run(tock, &[])?;
            let durations = durations.map(|unit| machine.run(unit, &[])).transpose()?;
            Ok((tock, durations))
        })
    }

    /// Whether the script has timed sections.
    pub fn is_timed(&self) -> bool {
        !self.program.sections.is_empty()
    }

    /// How many calls were made so far.
    pub fn steps(&self) -> u64 {
        self.state.steps
    }
}
