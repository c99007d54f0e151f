//! Recursion without an action in between.
//!
//! A call is *unguarded* in a definition when no action comes before it: in `P = Q . a + b`, `Q` is. A cycle of such
//! calls never gets to an action, with one exception: where conditions and `||` lie on the cycle, as in
//! `Row(n) = (n > 0) -> (Seat(n) || Row(Int2Nat(n - 1))) <> Seat(0)`, the values may end it, and they are known when
//! processes are put in parallel. So cycles are sought twice: among calls below no condition, and among calls below no
//! `||`. Definitions that the initial process does not reach are left alone.

use trefoil_source::{Diagnostic, Place, Span};

use super::codes;
use super::{DefinitionId, Process, ProcessRef, ProcessSpecification};

/// An unguarded call.
#[derive(Clone, Copy, Debug)]
struct Unguarded {
    called: DefinitionId,
    conditional: bool,
    parallel: bool,
    place: Span,
}

/// Reports recursion without an action, once for each cycle.
pub(super) fn refuse_unguarded(specification: &ProcessSpecification, diagnostics: &mut Vec<Diagnostic>) {
    let calls: Vec<Vec<Unguarded>> =
        specification.definitions.iter().map(|definition| unguarded(specification, definition.body)).collect();
    let reached = reached(specification);
    let mut reported = vec![false; calls.len()];
    let kinds: [fn(&Unguarded) -> bool; 2] = [|call| !call.conditional, |call| !call.parallel];
    for counts in kinds {
        for start in 0..calls.len() {
            if !reached[start] || reported[start] {
                continue;
            }
            let Some(cycle) = cycle_from(DefinitionId(start as u32), &calls, counts) else { continue };
            if cycle.iter().any(|call| reported[call.called.0 as usize]) {
                continue;
            }
            let names: Vec<&str> = [DefinitionId(start as u32)]
                .into_iter()
                .chain(cycle.iter().map(|call| call.called))
                .map(|id| specification.name(specification.definition(id).name))
                .collect();
            let message = format!("recursion without an action: {}", names.join(" → "));
            let mut diagnostic = Diagnostic::error(codes::UNGUARDED, message, Place::Span(cycle[0].place));
            for call in &cycle[1..] {
                diagnostic = diagnostic.also(Place::Span(call.place), "and from here");
            }
            diagnostics.push(diagnostic.help("an action comes before the call: `a . P`"));
            for call in &cycle {
                reported[call.called.0 as usize] = true;
            }
        }
    }
}

/// A shortest way from a definition back to itself.
fn cycle_from(start: DefinitionId, calls: &[Vec<Unguarded>], counts: fn(&Unguarded) -> bool) -> Option<Vec<Unguarded>> {
    let mut before: Vec<Option<(DefinitionId, Unguarded)>> = vec![None; calls.len()];
    let mut queue = vec![start];
    let mut next = 0;
    while let Some(&from) = queue.get(next) {
        next += 1;
        for call in calls[from.0 as usize].iter().filter(|call| counts(call)) {
            let known = &mut before[call.called.0 as usize];
            if known.is_some() {
                continue;
            }
            *known = Some((from, *call));
            if call.called == start {
                let mut cycle = Vec::new();
                let mut at = start;
                while let Some((from, call)) = before[at.0 as usize] {
                    cycle.push(call);
                    at = from;
                    if at == start {
                        break;
                    }
                }
                cycle.reverse();
                return Some(cycle);
            }
            queue.push(call.called);
        }
    }
    None
}

/// The unguarded calls of a process.
fn unguarded(specification: &ProcessSpecification, body: ProcessRef) -> Vec<Unguarded> {
    let mut found = Vec::new();
    let mut pending = vec![(body, false, false)];
    while let Some((id, conditional, parallel)) = pending.pop() {
        match specification.process(id) {
            Process::MultiAction(_) | Process::Delta => {}
            Process::Call(called, _) => {
                let place = specification.place(id);
                found.push(Unguarded { called: *called, conditional, parallel, place });
            }
            Process::Sequence(first, _) => pending.push((*first, conditional, parallel)),
            Process::Choice(left, right) => {
                pending.extend([(*right, conditional, parallel), (*left, conditional, parallel)]);
            }
            Process::Parallel(left, right) => pending.extend([(*right, conditional, true), (*left, conditional, true)]),
            Process::Condition(_, yes, no) => {
                pending.extend(no.map(|no| (no, true, parallel)));
                pending.push((*yes, true, parallel));
            }
            Process::Sum(_, inside)
            | Process::Block(_, inside)
            | Process::Hide(_, inside)
            | Process::Rename(_, inside)
            | Process::Allow(_, inside)
            | Process::Comm(_, inside) => pending.push((*inside, conditional, parallel)),
        }
    }
    found
}

/// Which definitions the initial process reaches; all of them when there is none.
fn reached(specification: &ProcessSpecification) -> Vec<bool> {
    let Some(init) = specification.init else { return vec![true; specification.definitions.len()] };
    let mut reached = vec![false; specification.definitions.len()];
    let mut pending = vec![init];
    while let Some(id) = pending.pop() {
        if let Process::Call(called, _) = specification.process(id)
            && !std::mem::replace(&mut reached[called.0 as usize], true)
        {
            pending.push(specification.definition(*called).body);
        }
        pending.extend(specification.process(id).parts());
    }
    reached
}
