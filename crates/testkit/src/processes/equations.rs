//! The operators' equations on traces, stable failures and divergences.
//!
//! `T`, `F` and `D` are the three sets of [`super::denotation`], `s` and `t` are traces without `✓`, and `s ∥_A t` is
//! the set of all ways to run `s` and `t` together that synchronise on `A`. The equations of the operators of Roscoe's
//! books are theirs. Those of the three that only FDR has are derived here from how its manual says that they run; in
//! all of them `✓` is never in `A`:
//!
//! - *Link parallel* `P [a<->b] Q`: `P`'s `a` and `Q`'s `b` happen together and are hidden; other events of either
//!   happen alone, also those that both can do; `✓` happens together. So it is `s` and `t` run together with tied
//!   events cancelled against each other; it is at rest when both are and no tie has both its ends offered; and it
//!   refuses `x` when each side that could do `x` alone does.
//! - *Synchronising choice* `P [+A+] Q`: both do events of `A` together, and any other event (`✓` too) decides for the
//!   side that does it. So after a common trace of `A` both are there, and `x ∈ A` is refused when either refuses it,
//!   any other when both do; and a trace that leaves `A` is one of `P` or of `Q` alone, and its part before leaving is
//!   a trace of both.
//! - *Synchronising interrupt* `P /+A+\ Q`: both do events of `A` together, `P` does others alone, and an event of `Q`
//!   outside `A` (`✓` too) ends `P`. So after `s` of `P`, `Q` has done `s ↾ A`, and from there either can continue.
//!
//! When a `✓` is possible beside other events, the process can at any moment decide to terminate, so that the choice
//! operators and interrupts have the failure `(s, Σ)` there even where one side cannot refuse all of `Σ`.

use std::collections::BTreeSet;

use super::alphabet::{Event, Events, TICK};
use super::denotation::{After, Beyond, Denotation, HORIZON, Trace};
use super::tree::{Modifier, Operator, Pairs, Process, Replication};

type Meaning = Result<Denotation, Beyond>;

impl Process {
    /// Its traces, stable failures and divergences.
    pub fn denotation(&self) -> Meaning {
        if self.well_founded() { meaning(self, &mut Vec::new()) } else { Err(Beyond::Unfounded) }
    }
}

/// The meaning of a process, given those of its variables.
fn meaning(process: &Process, known: &mut Vec<(usize, Denotation)>) -> Meaning {
    match process {
        Process::Stop => stop(),
        Process::Skip => constant(After::terminated()),
        Process::Div => constant(After::divergence()),
        Process::Run(events) => words(*events, After::refuses(Events::ALL.without(*events))),
        Process::Chaos(events) => words(*events, After::refuses(Events::ALL)),
        Process::Variable(name) => {
            let found = known.iter().rev().find(|(other, _)| other == name);
            Ok(found.expect("a variable is inside its recursion").1.clone())
        }
        Process::Recursion(name, body) => recursion(*name, body, known),
        Process::Prefix(event, then) => prefixed(*event, &meaning(then, known)?),
        Process::Input { chosen, branches } => {
            let (operator, mut whole) = (if *chosen { Operator::Internal } else { Operator::External }, None);
            for (value, then) in branches {
                let branch = prefixed(super::alphabet::communication(*value), &meaning(then, known)?)?;
                whole = Some(match whole {
                    None => branch,
                    Some(others) => binary(&operator, &others, &branch)?,
                });
            }
            Ok(whole.expect("an input has values"))
        }
        Process::Unary(modifier, process) => unary(modifier, process, known),
        Process::Binary(operator, left, right) => binary(operator, &meaning(left, known)?, &meaning(right, known)?),
        Process::Replicated(replication, copies) => {
            let copies = copies.iter().map(|copy| meaning(copy, known)).collect::<Result<Vec<_>, _>>()?;
            replicated(replication, &copies)
        }
    }
}

/// Behind an event, two approximations that agree after traces of `n` events make bodies that agree after traces of
/// `n + 1`. So from any beginning, one approximation more than the horizon has events is the meaning up to the horizon.
/// No operator that hides is around a variable, so that the horizons of the approximations, which say nothing of the
/// meaning, do not matter on the way.
fn recursion(name: usize, body: &Process, known: &mut Vec<(usize, Denotation)>) -> Meaning {
    let mut approximation = words(Events::NONE, After::refuses(Events::ALL))?;
    for _ in 0..=HORIZON {
        known.push((name, approximation));
        let next = meaning(body, known).and_then(|next| next.known_to(HORIZON).finished());
        known.pop();
        approximation = next?;
    }
    Ok(approximation)
}

fn constant(after: After) -> Meaning {
    let mut whole = Denotation::of_parts([]);
    whole.add(Vec::new(), after);
    whole.finished()
}

fn stop() -> Meaning {
    constant(After::refuses(Events::ALL))
}

/// `T = A*`, with the same behaviours after each trace.
fn words(events: Events, after: After) -> Meaning {
    let mut whole = Denotation::infinite();
    let mut longest = vec![Trace::new()];
    for _ in 0..=HORIZON {
        let mut longer = Vec::new();
        for trace in longest {
            longer.extend(events.members().map(|event| joined(&trace, &[event])));
            whole.add(trace, after.clone());
        }
        longest = longer;
        // More than five events are too many, which is reported below: no need to list them.
        if longest.len() > 2_000 {
            return Err(Beyond::TooLarge);
        }
    }
    whole.finished()
}

fn joined(first: &[Event], second: &[Event]) -> Trace {
    [first, second].concat()
}

/// `F = {(<>, X) | a ∉ X} ∪ {(<a>^s, X) | (s, X) ∈ F(P)}`
fn prefixed(event: Event, then: &Denotation) -> Meaning {
    let mut whole = Denotation::of_parts([then]);
    whole.add(Vec::new(), After::refuses(Events::ALL.without(Events::one(event))));
    for (s, after) in then.traces() {
        whole.add(joined(&[event], s), after.clone());
    }
    whole.finished()
}

fn unary(modifier: &Modifier, process: &Process, known: &mut Vec<(usize, Denotation)>) -> Meaning {
    match modifier {
        Modifier::Guard(true) | Modifier::Compress(_) => meaning(process, known),
        Modifier::Guard(false) => stop(),
        Modifier::Hide(events) => hidden(process, *events, known),
        Modifier::Project(events) => hidden(process, Events::SIGMA.without(*events), known),
        Modifier::Rename(pairs) => renamed(&meaning(process, known)?, pairs),
    }
}

/// `F = {(s \ A, X) | (s, X ∪ A) ∈ F(P)}`, `D = {s \ A | s ∈ D(P)}`, and infinitely many hidden events diverge; a
/// process with finitely many traces has no such run.
///
/// When `A ∩ B ≠ ∅`, both `RUN(A) \ B` and `CHAOS(A) \ B` diverge after every trace of `(A ∖ B)*`: in both some event
/// of `B` is possible again after every trace. `RUN(A)` never refuses it, so `RUN(A) \ B` has no stable failure;
/// `CHAOS(A)` can refuse everything at any time.
fn hidden(process: &Process, events: Events, known: &mut Vec<(usize, Denotation)>) -> Meaning {
    match process {
        Process::Run(all) if all.meet(events) != Events::NONE => {
            return words(all.without(events), After::divergence());
        }
        Process::Chaos(all) if all.meet(events) != Events::NONE => {
            let after = After { diverges: true, ..After::refuses(Events::ALL) };
            return words(all.without(events), after);
        }
        _ => {}
    }
    let inner = meaning(process, known)?;
    if events == Events::NONE {
        return Ok(inner);
    }
    if inner.horizon().is_some() {
        return Err(Beyond::HidesTheInfinite);
    }
    let mut whole = Denotation::of_parts([]);
    for (s, after) in inner.traces() {
        let visible = s.iter().copied().filter(|&event| !events.has(event)).collect();
        let mut after = after.clone();
        let refusals = std::mem::take(&mut after.refusals);
        for &set in refusals.greatest().iter().filter(|&&set| events.within(set)) {
            after.refusals.add(set);
        }
        whole.add(visible, after);
    }
    whole.finished()
}

/// `F = {(t, X) | s R t, (s, R⁻¹(X)) ∈ F(P)}`, events that are not renamed being related to themselves.
fn renamed(inner: &Denotation, pairs: &Pairs) -> Meaning {
    let images = |event: Event| {
        let new = Events::of(pairs.iter().filter(|pair| pair.0 == event).map(|pair| pair.1));
        if new == Events::NONE { Events::one(event) } else { new }
    };
    let mut whole = Denotation::of_parts([inner]);
    for (s, after) in inner.traces() {
        let mut after = after.clone();
        let refusals = std::mem::take(&mut after.refusals);
        for &set in refusals.greatest() {
            // The greatest X with R⁻¹(X) refused: all that no event that is not refused becomes.
            let offered = Events::ALL.without(set).members().map(images).fold(Events::NONE, Events::union);
            after.refusals.add(Events::ALL.without(offered));
        }
        let mut traces = vec![Trace::new()];
        for &event in s {
            let longer = |trace: Trace| images(event).members().map(move |new| joined(&trace, &[new]));
            traces = traces.into_iter().flat_map(longer).collect();
        }
        for trace in traces {
            whole.add(trace, after.clone());
        }
    }
    whole.finished()
}

fn binary(operator: &Operator, left: &Denotation, right: &Denotation) -> Meaning {
    match operator {
        Operator::External => synchronising_choice(left, right, Events::NONE),
        Operator::Internal => internal(left, right),
        Operator::Sliding => sliding(left, right),
        Operator::Sequence => sequence(left, right),
        Operator::Interrupt => interrupt(left, right),
        Operator::Exception(events) => exception(left, right, *events),
        Operator::Interleave => parallel(left, right, Events::NONE),
        Operator::Parallel(events) => parallel(left, right, *events),
        Operator::Alphabetised(ours, theirs) => alphabetised(left, right, *ours, *theirs),
        Operator::Link(ties) => link(left, right, ties),
        Operator::SynchronisingChoice(events) => synchronising_choice(left, right, *events),
        Operator::SynchronisingInterrupt(events) => synchronising_interrupt(left, right, *events),
    }
}

/// All three sets are unions.
fn internal(left: &Denotation, right: &Denotation) -> Meaning {
    let mut whole = Denotation::of_parts([left, right]);
    for (s, after) in left.traces().chain(right.traces()) {
        whole.add(s.clone(), after.clone());
    }
    whole.finished()
}

/// `P [] Q` when `A` is empty: `F = {(<>, X) ∈ F(P) ∩ F(Q)} ∪ {(s, X) ∈ F(P) ∪ F(Q) | s ≠ <>} ∪ {(<>, X) | <✓> ∈ T(P) ∪
/// T(Q), ✓ ∉ X}`, `D = D(P) ∪ D(Q)`. For other `A` as the head of the file says.
fn synchronising_choice(left: &Denotation, right: &Denotation, together: Events) -> Meaning {
    let mut whole = Denotation::of_parts([left, right]);
    let undecided = |s: &Trace| s.iter().all(|&event| together.has(event));
    for (s, p) in left.traces().filter(|(s, _)| undecided(s)) {
        let Some(q) = right.after(s) else { continue };
        let refusals = p.refusals.combine(&q.refusals, |y, z| y.union(z).meet(together).union(y.meet(z)));
        whole.add(s.clone(), After { refusals, diverges: p.diverges || q.diverges, terminates: false });
        if p.terminates || q.terminates {
            whole.add(s.clone(), After::terminated());
        }
    }
    for (decider, other) in [(left, right), (right, left)] {
        for (s, after) in decider.traces() {
            let common = s.iter().take_while(|&&event| together.has(event)).count();
            if common < s.len() && other.after(&s[..common]).is_some() {
                whole.add(s.clone(), after.clone());
            }
        }
    }
    whole.finished()
}

/// `F = F(Q) ∪ {(s, X) ∈ F(P) | s ≠ <>} ∪ {(<>, X) | <✓> ∈ T(P), ✓ ∉ X}`, `D = D(P) ∪ D(Q)`
fn sliding(left: &Denotation, right: &Denotation) -> Meaning {
    let mut whole = Denotation::of_parts([left, right]);
    for (s, after) in right.traces() {
        whole.add(s.clone(), after.clone());
    }
    for (s, after) in left.traces().filter(|(s, _)| !s.is_empty()) {
        whole.add(s.clone(), after.clone());
    }
    if left.initially().terminates {
        whole.add(Vec::new(), After::terminated());
    }
    if left.initially().diverges {
        whole.add(Vec::new(), After::divergence());
    }
    whole.finished()
}

/// `F = {(s, X) | (s, X ∪ {✓}) ∈ F(P)} ∪ {(s^t, X) | s^<✓> ∈ T(P), (t, X) ∈ F(Q)}`, `D = D(P) ∪ {s^t | s^<✓> ∈ T(P), t
/// ∈ D(Q)}`
fn sequence(left: &Denotation, right: &Denotation) -> Meaning {
    Denotation::pairs(left, right)?;
    let mut whole = Denotation::of_parts([left, right]);
    for (s, p) in left.traces() {
        let mut after = After { diverges: p.diverges, ..After::default() };
        for &set in p.refusals.greatest().iter().filter(|set| set.has(TICK)) {
            after.refusals.add(set);
        }
        whole.add(s.clone(), after);
        if p.terminates {
            for (t, q) in right.traces() {
                whole.add(joined(s, t), q.clone());
            }
        }
    }
    whole.finished()
}

/// `F = {(s, X) ∈ F(P) | (<>, X) ∈ F(Q)} ∪ {(s, X) | s^<✓> ∈ T(P) or <✓> ∈ T(Q), ✓ ∉ X} ∪ {(s^t, X) | s ∈ T(P), (t, X)
/// ∈ F(Q), t ≠ <>}`, `D = D(P) ∪ {s^t | s ∈ T(P), t ∈ D(Q)}`
fn interrupt(left: &Denotation, right: &Denotation) -> Meaning {
    Denotation::pairs(left, right)?;
    let mut whole = Denotation::of_parts([left, right]);
    let start = right.initially();
    for (s, p) in left.traces() {
        let refusals = p.refusals.combine(&start.refusals, Events::meet);
        whole.add(s.clone(), After { refusals, diverges: p.diverges || start.diverges, terminates: false });
        if p.terminates || start.terminates {
            whole.add(s.clone(), After::terminated());
        }
        for (t, q) in right.traces().filter(|(t, _)| !t.is_empty()) {
            whole.add(joined(s, t), q.clone());
        }
    }
    whole.finished()
}

/// As [`interrupt`], the second process having done `s ↾ A` when the first has done `s`.
fn synchronising_interrupt(left: &Denotation, right: &Denotation, together: Events) -> Meaning {
    Denotation::pairs(left, right)?;
    let mut whole = Denotation::of_parts([left, right]);
    for (s, p) in left.traces() {
        let done: Trace = s.iter().copied().filter(|&event| together.has(event)).collect();
        let Some(q) = right.after(&done) else { continue };
        let refusals = p.refusals.combine(&q.refusals, |y, z| y.union(z).meet(together).union(y.meet(z)));
        whole.add(s.clone(), After { refusals, diverges: p.diverges || q.diverges, terminates: false });
        if p.terminates || q.terminates {
            whole.add(s.clone(), After::terminated());
        }
        for (t, later) in right.traces() {
            if let Some(rest) = t.strip_prefix(done.as_slice())
                && rest.first().is_some_and(|&event| !together.has(event))
            {
                whole.add(joined(s, rest), later.clone());
            }
        }
    }
    whole.finished()
}

/// `F = {(s, X) ∈ F(P) | s ∈ (Σ ∖ A)*} ∪ {(s^<a>^t, X) | s^<a> ∈ T(P), s ∈ (Σ ∖ A)*, a ∈ A, (t, X) ∈
/// F(Q)}`, and the same for `D`
fn exception(left: &Denotation, right: &Denotation, thrown: Events) -> Meaning {
    Denotation::pairs(left, right)?;
    let mut whole = Denotation::of_parts([left, right]);
    for (s, p) in left.traces() {
        match s.iter().position(|&event| thrown.has(event)) {
            None => whole.add(s.clone(), p.clone()),
            Some(at) if at + 1 == s.len() => {
                for (t, q) in right.traces() {
                    whole.add(joined(s, t), q.clone());
                }
            }
            Some(_) => {}
        }
    }
    whole.finished()
}

/// `F = {(u, Y ∪ Z) | (s, Y) ∈ F(P), (t, Z) ∈ F(Q), Y ∖ (A ∪ {✓}) = Z ∖ (A ∪ {✓}), u ∈ s ∥_A t}`, `D = {u ∈ s ∥_A t | s
/// ∈ D(P) and t ∈ T(Q), or the other way round}`
fn parallel(left: &Denotation, right: &Denotation, together: Events) -> Meaning {
    Denotation::pairs(left, right)?;
    let mut whole = Denotation::of_parts([left, right]);
    let shared = together.union(Events::one(TICK));
    for (s, p) in left.traces() {
        for (t, q) in right.traces() {
            let runs = merges(s, t, &|x, y| (x == y && together.has(x)).then_some(true), together, together, &whole);
            if !runs.is_empty() {
                let after = After {
                    terminates: p.terminates && q.terminates,
                    refusals: p.refusals.combine(&q.refusals, |y, z| y.union(z).meet(shared).union(y.meet(z))),
                    diverges: p.diverges || q.diverges,
                };
                runs.into_iter().for_each(|run| whole.add(run, after.clone()));
            }
        }
    }
    whole.finished()
}

/// `F = {(u, X) | u ∈ (A ∪ B)*, (u ↾ A, Y) ∈ F(P), (u ↾ B, Z) ∈ F(Q), X ∩ (A ∪ B ∪ {✓}) = (Y ∩ (A ∪ {✓})) ∪ (Z ∩ (B ∪
/// {✓}))}`, `D = {u ∈ (A ∪ B)* | u ↾ A ∈ D(P) and u ↾ B ∈ T(Q), or the other way round}`
fn alphabetised(left: &Denotation, right: &Denotation, ours: Events, theirs: Events) -> Meaning {
    Denotation::pairs(left, right)?;
    let mut whole = Denotation::of_parts([left, right]);
    let tick = Events::one(TICK);
    let shared = ours.meet(theirs);
    let outside = Events::SIGMA.without(ours.union(theirs));
    let only = |s: &Trace, events: Events| s.iter().all(|&event| events.has(event));
    for (s, p) in left.traces().filter(|(s, _)| only(s, ours)) {
        for (t, q) in right.traces().filter(|(t, _)| only(t, theirs)) {
            let runs = merges(s, t, &|x, y| (x == y && shared.has(x)).then_some(true), shared, shared, &whole);
            if !runs.is_empty() {
                let refused =
                    |y: Events, z: Events| y.meet(ours.union(tick)).union(z.meet(theirs.union(tick))).union(outside);
                let after = After {
                    terminates: p.terminates && q.terminates,
                    refusals: p.refusals.combine(&q.refusals, refused),
                    diverges: p.diverges || q.diverges,
                };
                runs.into_iter().for_each(|run| whole.add(run, after.clone()));
            }
        }
    }
    whole.finished()
}

/// As the head of the file says.
fn link(left: &Denotation, right: &Denotation, ties: &Pairs) -> Meaning {
    Denotation::pairs(left, right)?;
    if left.horizon().is_some() || right.horizon().is_some() {
        return Err(Beyond::HidesTheInfinite);
    }
    let mut whole = Denotation::of_parts([]);
    let lefts = Events::of(ties.iter().map(|tie| tie.0));
    let rights = Events::of(ties.iter().map(|tie| tie.1));
    for (s, p) in left.traces() {
        for (t, q) in right.traces() {
            let runs = merges(s, t, &|x, y| ties.contains(&(x, y)).then_some(false), lefts, rights, &whole);
            if runs.is_empty() {
                continue;
            }
            let mut after = After {
                terminates: p.terminates && q.terminates,
                diverges: p.diverges || q.diverges,
                ..After::default()
            };
            for &y in p.refusals.greatest() {
                for &z in q.refusals.greatest() {
                    if ties.iter().all(|&(x, partner)| y.has(x) || z.has(partner)) {
                        let tick = y.union(z).meet(Events::one(TICK));
                        let free = y.union(lefts).meet(z.union(rights)).meet(Events::SIGMA);
                        after.refusals.add(free.union(tick));
                    }
                }
            }
            runs.into_iter().for_each(|run| whole.add(run, after.clone()));
        }
    }
    whole.finished()
}

/// All ways to run `s` and `t` together. Events of `lefts` in `s` and of `rights` in `t` happen only with a partner of
/// the other: `meets` says whether two are partners and, if so, whether what they do can be seen (as the first's
/// event). Nothing beyond the whole's horizon.
fn merges(
    s: &[Event],
    t: &[Event],
    meets: &dyn Fn(Event, Event) -> Option<bool>,
    lefts: Events,
    rights: Events,
    whole: &Denotation,
) -> BTreeSet<Trace> {
    /// What is the same at every step.
    struct Rules<'a> {
        meets: &'a dyn Fn(Event, Event) -> Option<bool>,
        lefts: Events,
        rights: Events,
        longest: usize,
    }
    fn go(s: &[Event], t: &[Event], so_far: &mut Trace, rules: &Rules<'_>, all: &mut BTreeSet<Trace>) {
        if so_far.len() > rules.longest {
            return;
        }
        if s.is_empty() && t.is_empty() {
            all.insert(so_far.clone());
            return;
        }
        if let Some((&event, rest)) = s.split_first()
            && !rules.lefts.has(event)
        {
            so_far.push(event);
            go(rest, t, so_far, rules, all);
            so_far.pop();
        }
        if let Some((&event, rest)) = t.split_first()
            && !rules.rights.has(event)
        {
            so_far.push(event);
            go(s, rest, so_far, rules, all);
            so_far.pop();
        }
        if let (Some((&x, after_x)), Some((&y, after_y))) = (s.split_first(), t.split_first()) {
            match (rules.meets)(x, y) {
                Some(true) => {
                    so_far.push(x);
                    go(after_x, after_y, so_far, rules, all);
                    so_far.pop();
                }
                Some(false) => go(after_x, after_y, so_far, rules, all),
                None => {}
            }
        }
    }
    let mut all = BTreeSet::new();
    let rules = Rules { meets, lefts, rights, longest: whole.horizon().unwrap_or(usize::MAX) };
    go(s, t, &mut Trace::new(), &rules, &mut all);
    all
}

/// The operator from right to left; alphabets are joined on the way.
fn replicated(replication: &Replication, copies: &[Denotation]) -> Meaning {
    let Some((last, others)) = copies.split_last() else {
        return match replication {
            Replication::External | Replication::SynchronisingChoice(_) => stop(),
            Replication::Internal | Replication::Link(_) => unreachable!("there is at least one copy"),
            _ => constant(After::terminated()),
        };
    };
    if let (Replication::Alphabetised(alphabets), []) = (replication, others) {
        // One process alone is still held to its alphabet.
        return alphabetised(last, &constant(After::terminated())?, alphabets[0], Events::NONE);
    }
    let mut whole = last.clone();
    for (index, copy) in others.iter().enumerate().rev() {
        let operator = match replication {
            Replication::External => Operator::External,
            Replication::Internal => Operator::Internal,
            Replication::Interleave => Operator::Interleave,
            Replication::Sequence => Operator::Sequence,
            Replication::Parallel(events) => Operator::Parallel(*events),
            Replication::SynchronisingChoice(events) => Operator::SynchronisingChoice(*events),
            Replication::Link(ties) => Operator::Link(ties.clone()),
            Replication::Alphabetised(alphabets) => {
                let rest = alphabets[index + 1..].iter().copied().fold(Events::NONE, Events::union);
                Operator::Alphabetised(alphabets[index], rest)
            }
        };
        whole = binary(&operator, copy, &whole)?;
    }
    Ok(whole)
}
