//! Whether a reduction by symmetry pays.
//!
//! A representative costs more than a state: its picture is drawn, labelled and carried back. On a board with eight
//! symmetries of many slots each representative can take the time of twenty states, and stands for at most eight. So
//! a search among representatives rests after [`FIRST`] of them, if more wait than before its last round, and another
//! thread computes the *price* from the first [`SAMPLE`]: the work for representatives
//! ([`trefoil_symmetry::MeteredExplorer`]) and their steps, by the work for the steps alone. Work is counted in units
//! of about a nanosecond that follow from the sizes of pictures and rows, not measured: a clock would give another
//! answer on a busy machine, and so other counts and another counterexample. The *gain* is the number of states that a
//! representative stands for. Orbits grow with the depth of a search, because fewer elements keep a state that has
//! moved on: the gain is [`GROWTH`] times that of the representatives found in the second half of the sample, and no
//! more than the order of the group.
//!
//! When the price exceeds the gain, the search begins anew without the reduction. It has lost the time for the
//! representatives until then, about [`FIRST`] of them, and for the sample. Verdicts and the lengths of witnesses are
//! the same either way, since representatives are reached by as many steps as their states; the answer says which way
//! it went (`--why`). Every run of a check goes the same way, whatever the number of threads: rounds have the same
//! representatives, and the sample is taken by one thread. Searches with fewer representatives take a moment either
//! way.
//!
//! Searches that do not work in rounds (antichains, depth-first search) never rest, and keep their reduction.
//!
//! Cost: a thread that waits; the time of [`SAMPLE`] representatives where there are more than [`FIRST`].

use std::collections::HashSet;
use std::sync::Arc;

use trefoil_control::{Control, Rests};
use trefoil_questions::{Answer, Unanswered};
use trefoil_symmetry::{Quotient, Refusal, Strategy, Symmetry, Tally};
use trefoil_system::{Cut, System, Value};

use crate::takeover::{EndOfRests, STACK};

/// After this many representatives their price is computed.
const FIRST: u64 = 10_000;
/// How many representatives are taken as a sample.
const SAMPLE: u64 = 2_000;
/// The work for a state and for a step of it, each with what a slot of the row adds; in the units of representatives.
const STATE: (u64, u64) = (20, 10);
const STEP: (u64, u64) = (20, 2);
/// When this many are expanded, the price is compared with the order of the group, which no gain exceeds.
const EARLY: usize = 200;
/// Orbits may still grow this much.
const GROWTH: f64 = 4.0;

/// When a reduction by symmetry may be left out.
#[derive(Clone, Copy, Debug)]
pub struct PriceRule {
    /// After how many representatives their price is computed.
    pub after: u64,
    /// Is it left out whatever they cost? For tests.
    pub always: bool,
}

impl Default for PriceRule {
    fn default() -> PriceRule {
        PriceRule { after: FIRST, always: false }
    }
}

/// What the first representatives show.
struct Price {
    /// How many states could be expanded with the work of one representative.
    price: f64,
    /// How many states a representative stands for.
    gain: f64,
    sample: usize,
}

/// The outcome of a search among representatives that may be given up; then with the reason.
pub(crate) enum Paid {
    Outcome(Box<Result<Answer, Unanswered>>),
    GivenUp(String),
}

/// Runs a search among the representatives of a system, and measures on the way whether it pays.
pub(crate) fn while_it_pays(
    rule: PriceRule,
    system: &dyn System,
    strategy: &'static Strategy,
    control: &Control,
    search: impl FnOnce(&Control) -> Result<Answer, Unanswered>,
) -> Paid {
    let rests = Arc::new(Rests::from(rule.after));
    let part = control.part(&rests);
    let (outcome, given_up) = std::thread::scope(|scope| {
        let asking = std::thread::Builder::new().name("price".into()).stack_size(STACK);
        let asking = asking
            .spawn_scoped(scope, || {
                let _end = EndOfRests(&rests);
                let rest = rests.next()?;
                let why = match rule.always {
                    true => Some(format!("given up after {} representatives", rest.states)),
                    false => priced(system, strategy, control).ok().flatten().and_then(|price| price.against()),
                };
                if why.is_some() {
                    part.cancel();
                }
                why
            })
            .expect("the operating system refuses a thread for measuring");
        let outcome = {
            let _end = EndOfRests(&rests);
            search(&part)
        };
        (outcome, asking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    match (outcome, given_up) {
        (Err(Unanswered::Cut { cut: Cut::Stopped, .. }), Some(why)) if control.check().is_ok() => {
            drop(part);
            Paid::GivenUp(why)
        }
        (Err(Unanswered::Cut { cut: Cut::Stopped, counts }), _) => {
            // The part has used up the memory of the job, which has to report so.
            if control.check().is_ok() {
                let reason = part.why();
                drop(part);
                control.end_for(reason);
            }
            Paid::Outcome(Box::new(Err(Unanswered::Cut { cut: Cut::Stopped, counts })))
        }
        (outcome, _) => Paid::Outcome(Box::new(outcome)),
    }
}

impl Price {
    /// Why the reduction is left out; nothing when it pays.
    fn against(&self) -> Option<String> {
        let Price { price, gain, sample } = *self;
        (price > gain).then(|| {
            format!(
                "a representative takes the work of {price:.1} states and stands for at most {gain:.1}, \
                 as the first {} show",
                trefoil_control::count(sample as u64)
            )
        })
    }
}

/// The price of the first representatives; nothing where there is no action.
fn priced(system: &dyn System, strategy: &'static Strategy, control: &Control) -> Result<Option<Price>, Cut> {
    let Some(action) = system.action() else { return Ok(None) };
    let symmetry = match Symmetry::of_action(action, strategy, control) {
        Ok(symmetry) => symmetry,
        Err(Refusal::Unsuitable(_)) => return Ok(None),
        Err(Refusal::Stopped(stopped)) => return Err(stopped.into()),
    };
    let mut quotient = Quotient::new(system, action, &symmetry, control)?;
    quotient.count(|_| true);
    let mut rows: Vec<Vec<Value>> = vec![quotient.initial(control)?];
    let mut met: HashSet<Vec<Value>> = rows.iter().cloned().collect();
    let mut explorer = quotient.metered(control);
    let number = |number: trefoil_symmetry::UBig| number.to_string().parse::<f64>().unwrap_or(f64::INFINITY);
    let order = number(symmetry.order());
    let width = system.layout().width() as u64;
    let price = |work: u64, states: usize, steps: u64| {
        let plain = states as u64 * (STATE.0 + STATE.1 * width) + steps * (STEP.0 + STEP.1 * width);
        1.0 + work as f64 / plain as f64
    };
    let (mut recent, mut found, mut steps) = (Tally::default(), 0u64, 0u64);
    let mut at = 0;
    while at < SAMPLE as usize && at < rows.len() {
        let row = rows[at].clone();
        explorer.successors(&row, &mut |step| {
            steps += 1;
            if !met.contains(step.row) {
                if rows.len() as u64 > SAMPLE / 2 {
                    recent.note(step.class);
                    found += 1;
                }
                met.insert(step.row.to_vec());
                rows.push(step.row.to_vec());
            }
            Ok(())
        })?;
        at += 1;
        let now = price(explorer.work(), at, steps);
        if at == EARLY && now > order {
            return Ok(Some(Price { price: now, gain: order, sample: at }));
        }
    }
    let price = price(explorer.work(), at, steps);
    let gain = match quotient.total([&recent].into_iter()) {
        Some(total) if found > 0 => (GROWTH * number(total) / found as f64).min(order),
        _ => order,
    };
    Ok(Some(Price { price, gain, sample: at }))
}
