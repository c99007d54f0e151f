//! The symbolic engine beside an explicit one that was chosen.
//!
//! Before a search the number of states is not known. So the explicit engine begins, and the symbolic one takes
//! over by these rules, which the answer reports (`--why`):
//!
//! 1. Only systems whose groups read at most half of the slots on average, of at least [`LEAST_WIDTH`], where the
//!    symbolic engine honours every option. What has few slots, or reads nearly all of them, has nothing to share.
//! 2. After [`FIRST_ATTEMPT`] states, and then after each fourfold number, if more states wait than before the round,
//!    the explicit search rests and the symbolic engine tries. It gets one poll of its control for [`STATES_PER_POLL`]
//!    states that the explicit search has expanded: a count and no time, so that every run does the same. Processor
//!    time limits it as well, for polls that take unusually long.
//! 3. If it finds that everything holds, that is the answer, with the counts that the explicit search would give. A
//!    counterexample becomes the answer at the next rest, or when a budget ends, if the explicit search has not found
//!    its own by then.
//! 4. When the explicit search has used up the memory, or more states than can be numbered, its memory is freed, and
//!    the symbolic engine gets what is left of the budgets.
//!
//! So an explicit search that ends keeps its answer and loses less than a tenth of the time: each attempt may take four
//! times as long as the one before, so all of them together take a third more than the last one.
//!
//! Cost: a thread that waits, where rule 1 is met.

use std::sync::Arc;
use std::time::{Duration, Instant};

use trefoil_control::{Control, Rest, Rests, count};
use trefoil_questions::{Answer, Asked, Engine, Found, Prepared, Question, Ready, Task, Terms, Unanswered};
use trefoil_system::{Cut, System};

use crate::replay::replay;

/// Rows with fewer slots are not worth an attempt.
const LEAST_WIDTH: usize = 6;
/// The first attempt is made after this many states.
pub(crate) const FIRST_ATTEMPT: u64 = 1 << 18;
/// So many expanded states are worth a poll of an attempt.
const STATES_PER_POLL: u64 = 512;
/// An attempt gets at most one part in this many of the processor time since the question was put.
const TIME_SHARE: u32 = 16;
/// An attempt may always take this long: no user notices it.
const SHORT: Duration = Duration::from_millis(30);

/// The symbolic engine, and how it would answer a question.
pub(crate) struct Takeover {
    pub(crate) engine: &'static dyn Engine,
    pub(crate) asked: Asked,
    pub(crate) threads: usize,
    /// The first attempt is made after this many states.
    pub(crate) first: u64,
    /// Does an attempt get a small part of the work? Otherwise a poll for each state, and any time.
    pub(crate) sparing: bool,
}

/// How the groups of a system use its slots, when that is worth an attempt.
fn narrow(system: &dyn System) -> Option<String> {
    let width = system.layout().width();
    let groups = system.groups();
    let read: usize = groups.iter().map(|group| group.inputs().len()).sum();
    if width < LEAST_WIDTH || groups.is_empty() || 2 * read > width * groups.len() {
        return None;
    }
    let mean = read as f64 / groups.len() as f64;
    Some(format!("{} groups read {mean:.1} of {width} slots on average", groups.len()))
}

impl Takeover {
    /// The answer of an explicit engine in the system that it searches, or of the symbolic one in the system itself
    /// where that takes over; then with its reason.
    pub(crate) fn answer(
        &self,
        question: &Question<'_>,
        (explicit, searched): (&dyn Prepared, &dyn System),
        system: &dyn System,
        control: &Control,
    ) -> Result<(Answer, Option<String>), Unanswered> {
        let Some(narrow) = narrow(system) else {
            return Ok((explicit.answer(&Task::of(searched), control)?, None));
        };
        let rests = Arc::new(Rests::from(self.first));
        let part = control.part(&rests);
        let (outcome, tried) = std::thread::scope(|scope| {
            let symbolic = std::thread::Builder::new().name("attempts".into()).stack_size(STACK);
            let symbolic = symbolic
                .spawn_scoped(scope, || self.attempts(question, system, &rests, &part, control))
                .expect("the operating system refuses a thread for attempts");
            let outcome = {
                let _end = EndOfRests(&rests);
                explicit.answer(&Task::of(searched), &part)
            };
            (outcome, symbolic.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let stopped = match (outcome, tried) {
            // It was stopped for the answer, or by a budget.
            (Err(Unanswered::Cut { cut: Cut::Stopped, .. }), Some((answer, rest))) => {
                let Rest { states, before, waiting } = rest;
                let growth = format!("{} waited, and {} one round later", count(before), count(waiting));
                return Ok((answer, Some(format!("after {} states {growth}; {narrow}", count(states)))));
            }
            (Err(Unanswered::Cut { cut: Cut::Stopped, counts }), None) => counts,
            (outcome, _) => return Ok((outcome?, None)),
        };
        if control.check().is_err() {
            return Err(Unanswered::Cut { cut: Cut::Stopped, counts: stopped });
        }
        control.settle();
        let reason = part.why();
        // From now on the job itself answers for its memory again.
        drop(part);
        match self.symbolic(question, system, self.threads, control) {
            Ok(answer) => {
                let states = count(stopped.states);
                Ok((answer, Some(format!("explicit search ended after {states} states ({reason}); {narrow}"))))
            }
            Err(outgrown @ Unanswered::Cut { cut: Cut::Outgrown, .. }) => Err(outgrown),
            Err(unanswered) => {
                control.end_for(reason);
                let counts = match unanswered {
                    Unanswered::Cut { counts, .. } if counts.states > stopped.states => counts,
                    _ => stopped,
                };
                Err(Unanswered::Cut { cut: Cut::Stopped, counts })
            }
        }
    }

    /// Tries in the rests of an explicit search; stops it for an answer.
    fn attempts(
        &self,
        question: &Question<'_>,
        system: &dyn System,
        rests: &Rests,
        explicit: &Control,
        control: &Control,
    ) -> Option<(Answer, Rest)> {
        let _end = EndOfRests(rests);
        let started = Instant::now();
        let mut found: Option<(Answer, Rest)> = None;
        while let Some(rest) = rests.next() {
            if found.is_none() {
                let (polls, most) = match self.sparing {
                    true => (rest.states / STATES_PER_POLL, (started.elapsed() / TIME_SHARE).max(SHORT)),
                    false => (rest.states, Duration::MAX),
                };
                let attempt = control.attempt(polls, most);
                control.progress().detail("trying decision diagrams".to_string());
                let answer = self.symbolic(question, system, 1, &attempt).ok();
                control.progress().detail(String::new());
                let holds = |answer: &Answer| answer.found.iter().all(|found| matches!(found, Found::Holds(_)));
                let decided = answer.as_ref().is_some_and(holds);
                found = answer.map(|answer| (answer, rest));
                if !decided {
                    rests.go_on();
                    continue;
                }
            }
            explicit.cancel();
            break;
        }
        found
    }

    /// The symbolic engine's answer, replayed.
    fn symbolic(
        &self,
        question: &Question<'_>,
        system: &dyn System,
        threads: usize,
        control: &Control,
    ) -> Result<Answer, Unanswered> {
        let terms = Terms { asked: &self.asked, threads, symmetric: false };
        let Ready::Ready(prepared) = self.engine.prepare(*question, &terms, control)? else {
            return Err(Unanswered::refused("the symbolic engine gave up"));
        };
        let answer = prepared.answer(&Task::of(system), control)?;
        replay(question, &answer, system, control)?;
        Ok(answer)
    }
}

/// The stack of the thread for attempts; only what is used takes memory.
pub(crate) const STACK: usize = 64 << 20;

/// Lets the other thread go on, also when this one panics.
pub(crate) struct EndOfRests<'r>(pub(crate) &'r Rests);

impl Drop for EndOfRests<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
