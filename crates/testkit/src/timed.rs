//! Timed processes over explicit time: an interpreter that knows nothing of `tock`-CSP.
//!
//! FDR explains a timed section by a translation into untimed operators over an event `tock`. This is an independent
//! definition: a process has a relation *time passes* of its own beside its steps ([`Timed::pass`] and
//! [`Timed::steps`]), by rules for each operator, as for Timed CSP (Schneider, *Concurrent and Real-Time Systems*,
//! 2000). An offer waits; what is delayed counts down; operands of choices, interrupts and parallel compositions grow
//! older together; what is ready to terminate waits for the others. A state is a tree, copied at every step.
//!
//! [`Timed::explore`] finally makes the passing of time the label `tock` and closes the process: a process that is
//! ready to terminate and can do something else may terminate on its own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use trefoil_lts::random::Random;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_system::{LabelId, Labels, StateId};

/// The events, without `tock`, and how long each takes.
pub const EVENTS: [(&str, u32); 4] = [("a", 0), ("b", 1), ("c", 2), ("d", 1)];

/// What a script needs besides the process.
pub const DECLARATIONS: &str = "channel a, b, c, d, tock\n\
    takes(e) = if e == a then 0 else if e == c then 2 else 1\n\
    USTOP = STOP\nUSKIP = SKIP\nULOOP(e) = e -> ULOOP(e)\nUNTIMED(e, P) = e -> P\n";

/// A set of events as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Set(pub u8);

impl Set {
    fn has(self, event: u8) -> bool {
        self.0 >> event & 1 == 1
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            EVENTS.iter().enumerate().filter(|&(at, _)| self.has(at as u8)).map(|(_, event)| event.0).collect();
        write!(f, "{{{}}}", names.join(", "))
    }
}

/// A timed process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timed {
    /// Time passes forever.
    Stop,
    /// Ready to terminate.
    Skip,
    /// Time passes before it is ready to terminate.
    Wait(u32),
    /// An event, offered until it happens.
    Prefix(u8, Box<Timed>),
    /// Any of some events, `[] x : S @ x -> P`.
    Any(Set, Box<Timed>),
    /// An event has happened and takes this much more time.
    After(u32, Box<Timed>),
    /// Several processes; the first event decides between them.
    External(Vec<Timed>),
    /// A choice that the process makes.
    Internal(Box<Timed>, Box<Timed>),
    /// One after the other.
    Then(Box<Timed>, Box<Timed>),
    /// Interrupted by the first event of the second.
    Interrupt(Box<Timed>, Box<Timed>),
    /// The first one may be given up before anything happens, the passing of time included.
    Sliding(Box<Timed>, Box<Timed>),
    /// After one of these events the second one goes on.
    Exception(Box<Timed>, Set, Box<Timed>),
    /// Together on the set.
    Parallel(Box<Timed>, Set, Box<Timed>),
    /// Each on its alphabet.
    Alphabetised(Box<Timed>, Set, Set, Box<Timed>),
    /// As choice, but decided by no event of the set, which both do together.
    Synchronising(Box<Timed>, Set, Box<Timed>),
    /// As interrupt, likewise.
    SynchronisingInterrupt(Box<Timed>, Set, Box<Timed>),
    /// Some events are not seen.
    Hide(Box<Timed>, Set),
    /// The first event is seen as the second.
    Rename(Box<Timed>, u8, u8),
    /// Time passes only when nothing happens inside and termination is not possible.
    Urgently(Box<Timed>),
    /// An untimed process that does nothing, not even wait.
    Never,
    /// An untimed process that terminates and does not wait for it.
    Now,
    /// An untimed process that repeats an event forever and never waits.
    Loop(u8),
    /// An event that must happen immediately, then a timed process.
    Urgent(u8, Box<Timed>),
    /// Has terminated.
    Ended,
}

/// What a process does in no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Silent,
    Ends,
    Event(u8),
}

use Timed as T;

fn boxed(process: Timed) -> Box<Timed> {
    Box::new(process)
}

impl Timed {
    /// What it can be when a unit of time has passed; nothing when it does not let time pass.
    fn pass(&self) -> Vec<Timed> {
        let both = |left: &Timed, right: &Timed, make: &dyn Fn(Timed, Timed) -> Timed| {
            let mut made = Vec::new();
            for left in left.pass() {
                made.extend(right.pass().into_iter().map(|right| make(left.clone(), right)));
            }
            made
        };
        let one = |inner: &Timed, make: &dyn Fn(Timed) -> Timed| inner.pass().into_iter().map(make).collect();
        match self {
            T::Stop | T::Skip | T::Prefix(..) | T::Any(..) => vec![self.clone()],
            T::Wait(left) => vec![if *left == 1 { T::Skip } else { T::Wait(left - 1) }],
            T::After(left, then) => vec![if *left == 1 { (**then).clone() } else { T::After(left - 1, then.clone()) }],
            T::External(operands) => {
                let mut all = vec![Vec::new()];
                for operand in operands {
                    let older = operand.pass();
                    all = all
                        .iter()
                        .flat_map(|begun| {
                            older.iter().map(move |operand| [begun.as_slice(), std::slice::from_ref(operand)].concat())
                        })
                        .collect();
                }
                all.into_iter().map(T::External).collect()
            }
            T::Internal(..) | T::Never | T::Now | T::Loop(_) | T::Urgent(..) | T::Ended => Vec::new(),
            T::Then(first, then) => one(first, &|first| T::Then(boxed(first), then.clone())),
            T::Interrupt(left, right) => both(left, right, &|left, right| T::Interrupt(boxed(left), boxed(right))),
            T::Sliding(first, _) => first.pass(),
            T::Exception(first, set, then) => one(first, &|first| T::Exception(boxed(first), *set, then.clone())),
            T::Parallel(left, set, right) => {
                both(left, right, &|left, right| T::Parallel(boxed(left), *set, boxed(right)))
            }
            T::Alphabetised(left, a, b, right) => {
                both(left, right, &|left, right| T::Alphabetised(boxed(left), *a, *b, boxed(right)))
            }
            T::Synchronising(left, set, right) => {
                both(left, right, &|left, right| T::Synchronising(boxed(left), *set, boxed(right)))
            }
            T::SynchronisingInterrupt(left, set, right) => {
                both(left, right, &|left, right| T::SynchronisingInterrupt(boxed(left), *set, boxed(right)))
            }
            T::Hide(inner, set) => one(inner, &|inner| T::Hide(boxed(inner), *set)),
            T::Rename(inner, from, to) => one(inner, &|inner| T::Rename(boxed(inner), *from, *to)),
            T::Urgently(inner) => {
                let busy = inner.steps().iter().any(|(step, _)| matches!(step, Step::Silent | Step::Ends));
                if busy { Vec::new() } else { one(inner, &|inner| T::Urgently(boxed(inner))) }
            }
        }
    }

    fn done(event: u8, then: &Timed) -> Timed {
        match EVENTS[usize::from(event)].1 {
            0 => then.clone(),
            units => T::After(units, boxed(then.clone())),
        }
    }

    fn steps(&self) -> Vec<(Step, Timed)> {
        let mut found = Vec::new();
        match self {
            T::Stop | T::Wait(_) | T::After(..) | T::Never | T::Ended => {}
            T::Skip | T::Now => found.push((Step::Ends, T::Ended)),
            T::Prefix(event, then) => found.push((Step::Event(*event), Timed::done(*event, then))),
            T::Any(set, then) => {
                let events = (0..EVENTS.len() as u8).filter(|&event| set.has(event));
                found.extend(events.map(|event| (Step::Event(event), Timed::done(event, then))));
            }
            T::Loop(event) => found.push((Step::Event(*event), self.clone())),
            T::Urgent(event, then) => found.push((Step::Event(*event), (**then).clone())),
            T::External(operands) => {
                for (at, operand) in operands.iter().enumerate() {
                    for (step, target) in operand.steps() {
                        found.push(match step {
                            Step::Silent => {
                                let mut operands = operands.clone();
                                operands[at] = target;
                                (step, T::External(operands))
                            }
                            _ => (step, target),
                        });
                    }
                }
            }
            T::Internal(left, right) => {
                found.push((Step::Silent, (**left).clone()));
                found.push((Step::Silent, (**right).clone()));
            }
            T::Then(first, then) => found.extend(first.steps().into_iter().map(|(step, target)| match step {
                Step::Ends => (Step::Silent, (**then).clone()),
                _ => (step, T::Then(boxed(target), then.clone())),
            })),
            T::Sliding(first, then) => {
                found.push((Step::Silent, (**then).clone()));
                found.extend(first.steps().into_iter().map(|(step, target)| match step {
                    Step::Silent => (step, T::Sliding(boxed(target), then.clone())),
                    _ => (step, target),
                }));
            }
            T::Exception(first, set, then) => {
                found.extend(first.steps().into_iter().map(|(step, target)| match step {
                    Step::Event(event) if set.has(event) => (step, (**then).clone()),
                    Step::Ends => (step, T::Ended),
                    _ => (step, T::Exception(boxed(target), *set, then.clone())),
                }));
            }
            T::Interrupt(left, right) => Timed::interrupt(left, Set(0), right, &mut found),
            T::SynchronisingInterrupt(left, set, right) => Timed::interrupt(left, *set, right, &mut found),
            T::Synchronising(left, set, right) => {
                let make = |left: Timed, right: Timed| T::Synchronising(boxed(left), *set, boxed(right));
                for (step, target) in left.steps() {
                    match step {
                        Step::Silent => found.push((step, make(target, (**right).clone()))),
                        Step::Event(event) if set.has(event) => {
                            for (_, other) in right.steps().into_iter().filter(|(other, _)| *other == step) {
                                found.push((step, make(target.clone(), other)));
                            }
                        }
                        _ => found.push((step, target)),
                    }
                }
                for (step, target) in right.steps() {
                    match step {
                        Step::Silent => found.push((step, make((**left).clone(), target))),
                        Step::Event(event) if set.has(event) => {}
                        _ => found.push((step, target)),
                    }
                }
            }
            T::Parallel(left, set, right) => {
                let make = |left: Timed, right: Timed| T::Parallel(boxed(left), *set, boxed(right));
                Timed::beside(left, right, &|_, _| true, &|event| set.has(event), &make, &mut found);
            }
            T::Alphabetised(left, a, b, right) => {
                let make = |left: Timed, right: Timed| T::Alphabetised(boxed(left), *a, *b, boxed(right));
                let may = |right: bool, event: u8| if right { b.has(event) } else { a.has(event) };
                Timed::beside(left, right, &may, &|event| a.has(event) && b.has(event), &make, &mut found);
            }
            T::Hide(inner, set) => found.extend(inner.steps().into_iter().map(|(step, target)| match step {
                Step::Event(event) if set.has(event) => (Step::Silent, T::Hide(boxed(target), *set)),
                Step::Ends => (step, T::Ended),
                _ => (step, T::Hide(boxed(target), *set)),
            })),
            T::Urgently(inner) => found.extend(inner.steps().into_iter().map(|(step, target)| match step {
                Step::Ends => (step, T::Ended),
                _ => (step, T::Urgently(boxed(target))),
            })),
            T::Rename(inner, from, to) => found.extend(inner.steps().into_iter().map(|(step, target)| match step {
                Step::Event(event) if event == *from => (Step::Event(*to), T::Rename(boxed(target), *from, *to)),
                Step::Ends => (step, T::Ended),
                _ => (step, T::Rename(boxed(target), *from, *to)),
            })),
        }
        found
    }

    fn interrupt(left: &Timed, set: Set, right: &Timed, found: &mut Vec<(Step, Timed)>) {
        let make = |left: Timed, right: Timed| match set.0 {
            0 => T::Interrupt(boxed(left), boxed(right)),
            _ => T::SynchronisingInterrupt(boxed(left), set, boxed(right)),
        };
        for (step, target) in left.steps() {
            match step {
                Step::Ends => found.push((step, T::Ended)),
                Step::Event(event) if set.has(event) => {
                    for (_, other) in right.steps().into_iter().filter(|(other, _)| *other == step) {
                        found.push((step, make(target.clone(), other)));
                    }
                }
                _ => found.push((step, make(target, right.clone()))),
            }
        }
        for (step, target) in right.steps() {
            match step {
                Step::Silent => found.push((step, make(left.clone(), target))),
                Step::Event(event) if set.has(event) => {}
                _ => found.push((step, target)),
            }
        }
    }

    fn beside(
        left: &Timed,
        right: &Timed,
        may: &dyn Fn(bool, u8) -> bool,
        together: &dyn Fn(u8) -> bool,
        make: &dyn Fn(Timed, Timed) -> Timed,
        found: &mut Vec<(Step, Timed)>,
    ) {
        let (lefts, rights) = (left.steps(), right.steps());
        for (is_right, steps) in [(false, &lefts), (true, &rights)] {
            for (step, target) in steps {
                let alone = match *step {
                    Step::Silent => true,
                    Step::Ends => false,
                    Step::Event(event) => may(is_right, event) && !together(event),
                };
                if alone {
                    let made =
                        if is_right { make(left.clone(), target.clone()) } else { make(target.clone(), right.clone()) };
                    found.push((*step, made));
                }
            }
        }
        for (step, first) in &lefts {
            for (_, second) in rights.iter().filter(|(other, _)| other == step) {
                match *step {
                    Step::Ends => found.push((*step, T::Ended)),
                    Step::Event(event) if together(event) => found.push((*step, make(first.clone(), second.clone()))),
                    _ => {}
                }
            }
        }
    }

    /// All it can do, as an LTS over these labels, unless it has more states than this. The label of time is `tock`.
    pub fn explore(&self, labels: &Arc<Labels>, most: usize) -> Option<Lts> {
        let label = |name: &str| labels.name(name);
        let tock = label("tock");
        let mut builder = LtsBuilder::new(labels.clone());
        // Two states of their own: about to terminate, and terminated.
        let mut numbers: BTreeMap<Timed, u32> = BTreeMap::from([(T::Now, 0), (T::Ended, 1)]);
        let mut states = vec![T::Now, T::Ended];
        let mut number = |state: Timed, states: &mut Vec<Timed>| {
            let next = states.len() as u32;
            StateId(*numbers.entry(state.clone()).or_insert_with(|| {
                states.push(state);
                next
            }))
        };
        let initial = number(self.clone(), &mut states);
        let mut at = 0;
        while at < states.len() {
            if states.len() > most {
                return None;
            }
            let here = StateId(at as u32);
            let (older, steps) = (states[at].pass(), states[at].steps());
            let only_ends = older.is_empty() && steps.iter().all(|(step, _)| *step == Step::Ends);
            for target in older {
                builder.add(here, tock, number(target, &mut states));
            }
            for (step, target) in steps {
                match step {
                    Step::Silent => builder.add(here, LabelId::TAU, number(target, &mut states)),
                    Step::Ends if only_ends => builder.add(here, LabelId::TICK, StateId(1)),
                    Step::Ends => builder.add(here, LabelId::TAU, StateId(0)),
                    Step::Event(event) => {
                        builder.add(here, label(EVENTS[usize::from(event)].0), number(target, &mut states))
                    }
                };
            }
            at += 1;
        }
        builder.at_least(states.len() as u32);
        Some(builder.build(initial))
    }
}

impl fmt::Display for Timed {
    /// As CSPM, for a section `Timed(takes) { … }` after [`DECLARATIONS`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |event: &u8| EVENTS[usize::from(*event)].0;
        match self {
            T::Stop => write!(f, "STOP"),
            T::Skip => write!(f, "SKIP"),
            T::Wait(units) => write!(f, "WAIT({units})"),
            T::Prefix(event, then) => write!(f, "({} -> {then})", name(event)),
            T::Any(set, then) => write!(f, "([] x : {set} @ x -> {then})"),
            T::External(operands) if operands.is_empty() => write!(f, "([] x : {{}} @ STOP)"),
            T::External(operands) => {
                let operands: Vec<String> = operands.iter().map(Timed::to_string).collect();
                write!(f, "({})", operands.join(" [] "))
            }
            T::Internal(left, right) => write!(f, "({left} |~| {right})"),
            T::Then(first, then) => write!(f, "({first} ; {then})"),
            T::Interrupt(left, right) => write!(f, "({left} /\\ {right})"),
            T::Sliding(first, then) => write!(f, "({first} [> {then})"),
            T::Exception(first, set, then) => write!(f, "({first} [| {set} |> {then})"),
            T::Parallel(left, Set(0), right) => write!(f, "({left} ||| {right})"),
            T::Parallel(left, set, right) => write!(f, "({left} [| {set} |] {right})"),
            T::Alphabetised(left, a, b, right) => write!(f, "({left} [ {a} || {b} ] {right})"),
            T::Synchronising(left, set, right) => write!(f, "({left} [+ {set} +] {right})"),
            T::SynchronisingInterrupt(left, set, right) => write!(f, "({left} /+ {set} +\\ {right})"),
            T::Hide(inner, set) => write!(f, "({inner} \\ {set})"),
            T::Rename(inner, from, to) => write!(f, "({inner} [[ {} <- {} ]])", name(from), name(to)),
            T::Urgently(inner) => write!(f, "timed_priority({inner})"),
            T::Never => write!(f, "USTOP"),
            T::Now => write!(f, "USKIP"),
            T::Loop(event) => write!(f, "ULOOP({})", name(event)),
            T::Urgent(event, then) => write!(f, "UNTIMED({}, {then})", name(event)),
            T::After(..) | T::Ended => write!(f, "a state that no script begins in"),
        }
    }
}

/// A random timed process of about this size.
pub fn random_timed(size: usize, random: &mut Random) -> Timed {
    let event = |random: &mut Random| random.below(EVENTS.len()) as u8;
    if size <= 1 {
        return match random.below(12) {
            0 | 1 => T::Stop,
            2..=4 => T::Skip,
            5 | 6 => T::Wait(1 + random.below(3) as u32),
            7 => T::Never,
            8 => T::Now,
            9 => T::Loop(event(random)),
            10 => T::External(Vec::new()),
            _ => T::Prefix(event(random), boxed(T::Skip)),
        };
    }
    let set = |random: &mut Random| Set(random.below(16) as u8);
    let some = |random: &mut Random| Set(1 + random.below(15) as u8);
    let rest = size - 1;
    if random.chance(35) {
        let inner = boxed(random_timed(rest, random));
        return match random.below(9) {
            8 => T::Urgently(inner),
            0..=3 => T::Prefix(event(random), inner),
            4 => T::Any(set(random), inner),
            5 => T::Hide(inner, some(random)),
            6 => T::Rename(inner, event(random), event(random)),
            _ => T::Urgent(event(random), inner),
        };
    }
    let first = 1 + random.below(rest.max(2) - 1);
    let left = boxed(random_timed(first, random));
    let right = boxed(random_timed(rest - first.min(rest - 1), random));
    match random.below(14) {
        0 | 1 => T::External(vec![*left, *right]),
        2 => T::External(vec![*left, *right, T::Prefix(event(random), boxed(T::Skip))]),
        3 => T::Internal(left, right),
        4 | 5 => T::Then(left, right),
        6 => T::Interrupt(left, right),
        7 => T::Sliding(left, right),
        8 => T::Exception(left, some(random), right),
        9 => T::Parallel(left, Set(0), right),
        10 => T::Parallel(left, some(random), right),
        11 => T::Alphabetised(left, some(random), some(random), right),
        12 => T::Synchronising(left, some(random), right),
        _ => T::SynchronisingInterrupt(left, some(random), right),
    }
}
