//! Whether a reduction by symmetry pays.
//!
//! A representative costs more than a state: its picture is drawn, labelled and carried back. On a board with eight
//! symmetries of many slots each representative can take the time of twenty states, and stands for at most eight. So
//! a search among representatives rests after [`FIRST`] of them, if more wait than before its last round, and another
//! thread measures the *price*: the time for the steps of a representative among representatives, by the time for its
//! steps as they are. Both are measured on the same rows, the first [`SAMPLE`], in turns of [`TURN`] rows, so that a
//! busy machine disturbs both alike, and both look up where they lead. The *gain* is the number of states that a
//! representative stands for. Orbits grow with the depth of a search, because fewer elements keep a state that has
//! moved on: the gain is [`GROWTH`] times that of the representatives found in the second half of the sample, and no
//! more than the order of the group.
//!
//! When the price exceeds the gain, the search begins anew without the reduction. It has lost the time for the
//! representatives until then, about [`FIRST`] of them, and for the sample. Verdicts and the lengths of witnesses are
//! the same either way, since representatives are reached by as many steps as their states. Which states a search
//! reports depends on a clock only where price and gain are close; the answer says which way it went (`--why`).
//! Searches with fewer representatives take a moment either way.
//!
//! Searches that do not work in rounds (antichains, depth-first search) never rest, and keep their reduction.
//!
//! Cost: a thread that waits; the time of [`SAMPLE`] representatives where there are more than [`FIRST`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use trefoil_control::{Control, Rests};
use trefoil_questions::{Answer, Unanswered};
use trefoil_symmetry::{Quotient, Refusal, Strategy, Symmetry, Tally};
use trefoil_system::{Cut, System, Value};

use crate::takeover::{EndOfRests, STACK};

/// After this many representatives their price is measured.
const FIRST: u64 = 10_000;
/// How many representatives are measured.
const SAMPLE: u64 = 2_000;
/// How many rows are taken in one way before they are taken in the other.
const TURN: usize = 64;
/// Orbits may still grow this much.
const GROWTH: f64 = 4.0;

/// When a reduction by symmetry may be left out.
#[derive(Clone, Copy, Debug)]
pub struct PriceRule {
    /// After how many representatives their price is measured.
    pub after: u64,
    /// Is it left out whatever they cost? For tests.
    pub always: bool,
}

impl Default for PriceRule {
    fn default() -> PriceRule {
        PriceRule { after: FIRST, always: false }
    }
}

/// What was measured.
struct Price {
    /// How many states could be expanded in the time of one representative.
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
                    false => measured(system, strategy, control).ok().flatten().and_then(|price| price.against()),
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
                "a representative takes the time of {price:.1} states and stands for at most {gain:.1}, \
                 as the first {} show",
                trefoil_control::count(sample as u64)
            )
        })
    }
}

/// The rows that were met, by a bit for each of their hashes: to take one row for another does little harm here, and
/// a table of rows would cost more than the steps that are measured.
struct Met(Vec<u64>);

impl Met {
    const BITS: u32 = 22;

    fn new() -> Met {
        Met(vec![0; 1 << (Met::BITS - 6)])
    }

    fn is_new(&mut self, row: &[Value]) -> bool {
        let mix =
            |hash: u64, value: &Value| (hash.rotate_left(5) ^ u64::from(*value)).wrapping_mul(0x517c_c1b7_2722_0a95);
        let place = row.iter().fold(0, mix) >> (64 - Met::BITS);
        let (word, bit) = (&mut self.0[(place >> 6) as usize], 1 << (place & 63));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

/// The price of the first representatives; nothing where it cannot be measured.
fn measured(system: &dyn System, strategy: &'static Strategy, control: &Control) -> Result<Option<Price>, Cut> {
    let Some(action) = system.action() else { return Ok(None) };
    let symmetry = match Symmetry::of_action(action, strategy, control) {
        Ok(symmetry) => symmetry,
        Err(Refusal::Unsuitable(_)) => return Ok(None),
        Err(Refusal::Stopped(stopped)) => return Err(stopped.into()),
    };
    let mut quotient = Quotient::new(system, action, &symmetry, control)?;
    quotient.count(|_| true);
    let width = system.layout().width();
    let mut rows: Vec<Value> = quotient.initial(control)?;
    let (mut representatives, mut states) = (Met::new(), Met::new());
    representatives.is_new(&rows);
    let (mut reducing, mut plain) = (quotient.explorer(control), system.explorer(control));
    let (mut among_orbits, mut as_they_are) = (Duration::ZERO, Duration::ZERO);
    let (mut recent, mut found) = (Tally::default(), 0u64);
    let mut at = 0;
    while at < SAMPLE as usize && at * width < rows.len() {
        let until = (at + TURN).min(rows.len() / width);
        let started = Instant::now();
        for row in at..until {
            let row = rows[row * width..][..width].to_vec();
            reducing.successors(&row, &mut |step| {
                if representatives.is_new(step.row) {
                    if (rows.len() / width) as u64 > SAMPLE / 2 {
                        recent.note(step.class);
                        found += 1;
                    }
                    rows.extend_from_slice(step.row);
                }
                Ok(())
            })?;
        }
        among_orbits += started.elapsed();
        let started = Instant::now();
        for row in at..until {
            let row = rows[row * width..][..width].to_vec();
            plain.successors(&row, &mut |step| {
                states.is_new(step.row);
                Ok(())
            })?;
        }
        as_they_are += started.elapsed();
        at = until;
    }
    let number = |number: trefoil_symmetry::UBig| number.to_string().parse::<f64>().unwrap_or(f64::INFINITY);
    let order = number(symmetry.order());
    let gain = match quotient.total([&recent].into_iter()) {
        Some(total) if found > 0 => (GROWTH * number(total) / found as f64).min(order),
        _ => order,
    };
    Ok(Some(Price { price: among_orbits.as_secs_f64() / as_they_are.as_secs_f64().max(1e-9), gain, sample: at }))
}
