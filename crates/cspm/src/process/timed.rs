//! Timed sections: discrete time by an event `tock`.
//!
//! In a section `Timed(f) { … }` one `tock` is one unit of time, and all processes of a system do it together.
//! Definitions in the section are written as if there were no time, and mean what follows here; it is the translation
//! that FDR makes (Armstrong, Lowe, Ouaknine and Roscoe, *Model checking Timed CSP*, 2012, and the sources of FDR's
//! front end), in terms of the untimed operators.
//!
//! | written in a section | means |
//! |---|---|
//! | `STOP` | `TSTOP = tock -> TSTOP` |
//! | `SKIP` | `TSKIP = tock -> TSKIP [] SKIP` |
//! | `WAIT(n)` | `n` times `tock`, then `TSKIP` |
//! | `c?x -> P` | `X = tock -> X [] c?x -> tock -> … -> P`, with `f(c.x)` times `tock` after the event; 1 without `f` |
//! | `b & P` | `P` or `TSTOP` |
//! | `P [] Q`, `P /\ Q` | `P [+{tock}+] Q`, `P /+{tock}+\ Q`: time passes for both and decides nothing |
//! | `P \|\|\| Q`, `P [\|A\|] Q`, `P [A\|\|B] Q` | the same with `tock` in the set, and in both alphabets |
//! | `P [+A+] Q`, `P /+A+\ Q` | the same with `tock` in the set |
//! | replicated `[]`, `[+A+]`, `\|\|\|`, `[\|A\|]`, `\|\|` | likewise; `TSTOP` of no processes |
//! | replicated `;` | as it is; `TSKIP` of no processes |
//! | `\|~\|`, `;`, `[>`, `[\|A\|>`, `\`, `\|\`, `[[…]]`, `CHAOS`, `RUN`, `DIV`, buffers, compressions | as they are |
//! | `timed_priority(P)` | `prioritise(P, <{}, {tock}>)`: no `tock` where `τ` or `✓` is possible |
//! | `P [c <-> d] Q`, `c$x -> P` | nothing; FDR refuses them too |
//!
//! So `tock` of `P` does decide `P [> Q` and is an event like any other for `\|\`, which hides it unless it is in the
//! set. A process that was defined outside keeps its meaning when it is named inside, and the other way round: what
//! matters is where an operator is written. `tock` is the event that is called so where the section stands.
//!
//! # Termination waits
//!
//! `TSKIP` is ready to terminate and lets time pass until all other operands are ready too: in `WAIT(1) ||| WAIT(2)`
//! the first one does a second `tock`. So a state that offers `✓` offers `tock` beside it, and `✓` waits for the others
//! of a parallel composition. The law `P [] SKIP = P [> SKIP`, by which every state of other scripts that offers `✓`
//! offers nothing else (see [`super`]), would let `TSKIP` become `SKIP` by itself, and stop the time of all. Therefore,
//! in a script with timed sections, choices and interrupts keep `✓` beside what else they offer, `;` makes it `τ`, and
//! parallel operators make it common. What is checked is *closed*: no process outside has to wait, so there the law
//! holds, and `✓` beside something else is `τ` to `SKIP` ([`Node::Closed`]). A network of parallel operators over
//! components that never offer `✓` beside something else needs no closing, because then neither does it. Where no
//! parallel operator stands above a choice that can terminate, both readings give the same traces, failures and
//! divergences.
//!
//! # Cost
//!
//! The duration of an event is evaluated once per section and event. A prefix has one more step, and a state more for
//! every unit of time that its event takes; `WAIT(n)` has `n + 1` states.

use std::collections::HashMap;

use trefoil_system::LabelId;

use super::events::SetId;
use super::steps::Move;
use super::terms::{Node, TermId};
use super::{Compiler, codes};
use crate::eval::{CommunicationField, Description, Failure, ProcessValue, Result, SectionId, Shape, Value};
use crate::rename::Builtin;

/// What a timed section counts with.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    tock: LabelId,
    /// `{tock}`
    pub(super) only: SetId,
}

/// The timed sections of a script: clocks, and the durations of events.
#[derive(Default)]
pub(super) struct Time {
    sections: HashMap<SectionId, (Clock, Option<Value>), foldhash::fast::FixedState>,
    durations: HashMap<(SectionId, LabelId), u32, foldhash::fast::FixedState>,
}

/// The failure of an operator without a timed meaning.
pub(super) fn not_timed(what: &str) -> Failure {
    Failure::new(codes::NOT_TIMED, format!("{what} has no meaning in a timed section"))
        .help("define the process outside the section and use its name here")
}

fn units(value: &Value, what: impl FnOnce() -> String) -> Result<u32> {
    match value {
        Value::Int(number) => u32::try_from(*number)
            .map_err(|_| Failure::new(codes::NEGATIVE_TIME, format!("{} {number} units of time", what()))),
        _ => Err(Failure::new(codes::NEGATIVE_TIME, format!("{} a value that is not a number", what()))),
    }
}

impl Compiler {
    /// The timed section in which a process is made.
    pub(super) fn section_of(&self, process: &ProcessValue) -> Option<SectionId> {
        match process.description() {
            Description::Made(point, _) => self.evaluator.control_point(point).timed,
            Description::Builtin(..) => process.section(),
        }
    }

    /// What a section counts with.
    pub(super) fn clock(&mut self, section: SectionId) -> Result<Clock> {
        if let Some((clock, _)) = self.time.sections.get(&section) {
            return Ok(*clock);
        }
        let (tock, durations) = self.evaluator.section(section)?;
        let tock = self.event(&tock)?;
        let only = self.events.with(SetId::EMPTY, tock, &mut self.evaluator)?;
        let clock = Clock { tock, only };
        self.time.sections.insert(section, (clock, durations));
        Ok(clock)
    }

    /// How many units of time pass after an event of a prefix.
    fn duration(&mut self, process: &ProcessValue, section: SectionId, label: LabelId, event: &Value) -> Result<u32> {
        if let Some(function) = self.local_durations(process)? {
            return self.units_after(&function, event);
        }
        let Some((_, Some(function))) = self.time.sections.get(&section) else { return Ok(1) };
        if let Some(&known) = self.time.durations.get(&(section, label)) {
            return Ok(known);
        }
        let found = self.units_after(&function.clone(), event)?;
        self.time.durations.insert((section, label), found);
        Ok(found)
    }

    /// How long events take when the section stands in a `let`.
    fn local_durations(&mut self, process: &ProcessValue) -> Result<Option<Value>> {
        let Description::Made(point, _) = process.description() else { return Ok(None) };
        match self.evaluator.control_point(point).shape {
            Shape::Prefix { durations: Some(function), .. } => self.evaluator.operand(process, function).map(Some),
            _ => Ok(None),
        }
    }

    fn units_after(&mut self, function: &Value, event: &Value) -> Result<u32> {
        let value = self.evaluator.apply(function, vec![event.clone()])?;
        let value = self.evaluator.finish(value)?;
        units(&value, || format!("{} takes", self.evaluator.show(event)))
    }

    /// A set with the event that counts time.
    pub(super) fn with_tock(&mut self, set: SetId, clock: Option<Clock>) -> Result<SetId> {
        match clock {
            Some(clock) => self.events.with(set, clock.tock, &mut self.evaluator),
            None => Ok(set),
        }
    }

    /// `TSTOP` of a timed section.
    pub(super) fn idle(&mut self, clock: Option<Clock>) -> Option<TermId> {
        clock.map(|clock| self.terms.intern(Node::Run(clock.only)))
    }

    /// `SKIP`, or `TSKIP` in a timed section.
    pub(super) fn skip(&mut self, clock: Option<Clock>) -> TermId {
        clock.map_or(TermId::SKIP, |clock| self.terms.intern(Node::Wait(clock.tock, 0)))
    }

    /// The built-in processes of a timed section.
    pub(super) fn timed_builtin(
        &mut self,
        section: SectionId,
        builtin: Builtin,
        arguments: &[Value],
    ) -> Result<TermId> {
        let clock = self.clock(section)?;
        match builtin {
            Builtin::Stop | Builtin::TimedStop => Ok(self.terms.intern(Node::Run(clock.only))),
            Builtin::Skip | Builtin::TimedSkip => Ok(self.skip(Some(clock))),
            Builtin::Wait => {
                let value = self.evaluator.finish(arguments[0].clone())?;
                let left = units(&value, || "a process that waits".to_string())?;
                Ok(self.terms.intern(Node::Wait(clock.tock, left)))
            }
            Builtin::TimedPriority => {
                let term = self.argument(arguments)?;
                self.after_internal(builtin, term, clock.tock)
            }
            other => self.builtin(other, arguments),
        }
    }

    /// Refuses `$` in the prefixes of timed sections.
    pub(super) fn no_internal_choice(&self, process: &ProcessValue) -> Result<()> {
        let Description::Made(point, _) = process.description() else { return Ok(()) };
        match &self.evaluator.control_point(point).shape {
            Shape::Prefix { fields, .. }
                if fields.iter().any(|field| matches!(field, CommunicationField::Choice(..))) =>
            {
                Err(not_timed("an internal choice of a field (`$`)"))
            }
            _ => Ok(()),
        }
    }

    /// The steps of a prefix: its events, with time after each, and time before.
    pub(super) fn timed_prefix(
        &mut self,
        term: TermId,
        process: &ProcessValue,
        section: SectionId,
    ) -> Result<Vec<Move>> {
        let clock = self.clock(section)?;
        let mut moves = vec![Move::alone(clock.tock, term)];
        for offer in self.evaluator.communications(process)? {
            let event = self.events.label(&offer.event, &self.evaluator)?;
            let duration = self.duration(process, section, event, &offer.event);
            let target = match duration.map_err(|failure| self.place_in(process, failure))? {
                0 => self.expand(&offer.then)?,
                left => {
                    let then = self.waiting(offer.then)?;
                    self.terms.intern(Node::Delay(clock.tock, left, then))
                }
            };
            moves.push(Move::alone(event, target));
        }
        Ok(moves)
    }

    fn place_in(&self, process: &ProcessValue, failure: Failure) -> Failure {
        match process.description() {
            Description::Made(point, _) => failure.placed(self.evaluator.control_point(point).span),
            Description::Builtin(..) => failure,
        }
    }
}
