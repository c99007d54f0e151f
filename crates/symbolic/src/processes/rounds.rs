//! Shortest runs where only visible events count.
//!
//! A *level* has the states at one number of visible events, a *round* of it those at one number of silent steps
//! beside. Rounds are made in the order of (events, silent steps), each from the round of the level before with as
//! many silent steps, by events, and from the round of its own level with one less, by silence; so each state is in
//! the round of its least distance, as in explicit search ([`trefoil_system::Path::length`]). From a state that is
//! sought a run is found backwards, round by round.
//!
//! A finding is a state, or a step of a state, which is one event longer, or a state that diverges, which is known
//! when its level is complete. A state ends the search with its round, a step in the traces model too; else the
//! search ends with the level.
//!
//! Cost: an image of every round by each relation, of known relations where the space was explored before.

use trefoil_diagrams::Set;
use trefoil_system::{Cut, Value, Visibility};

use crate::guided::Rows;
use crate::space::Space;

/// What is looked for.
pub(crate) trait Sought<'s> {
    /// The states of a round that are findings.
    fn states(&mut self, space: &mut Space<'s>, round: &Set) -> Result<Set, Cut>;

    /// The states of a round with a step that is a finding.
    fn steps(&mut self, space: &mut Space<'s>, round: &Set) -> Result<Set, Cut>;

    /// The states of a level, which is complete, that diverge, where that is a finding.
    fn diverging(&mut self, space: &mut Space<'s>, level: &Set) -> Result<Set, Cut>;

    /// Are steps the only findings?
    fn steps_only(&self) -> bool;
}

/// What was found at the end of a run.
pub(crate) enum Finding {
    /// The last state.
    State,
    /// A step of the last state.
    Step,
    /// The last state diverges inside this set.
    Diverges(Set),
}

/// A shortest run: its states, and whether the step to each but the first is silent.
pub(crate) struct Run {
    pub(crate) start: Vec<Value>,
    pub(crate) steps: Vec<(bool, Vec<Value>)>,
    pub(crate) finding: Finding,
}

impl Run {
    /// The run along these states.
    pub(crate) fn along(rows: Rows, finding: Finding) -> Run {
        let mut rows = rows.into_iter();
        let (_, start) = rows.next().expect("a run begins somewhere");
        Run { start, steps: rows.collect(), finding }
    }
}

struct Round {
    silent: u32,
    states: Set,
}

/// The nearest finding.
pub(crate) fn nearest<'s>(space: &mut Space<'s>, sought: &mut dyn Sought<'s>) -> Result<Option<Run>, Cut> {
    let mut levels: Vec<Vec<Round>> = Vec::new();
    let mut seen = space.diagrams.empty();
    loop {
        levels.push(Vec::new());
        let mut entered = 0;
        let mut last: Option<(u32, Set)> = None;
        let mut stepping: Option<(usize, Set)> = None;
        loop {
            space.control.check()?;
            let here = levels.len() - 1;
            let before = here.checked_sub(1).map(|before| &levels[before]);
            let by_event = match before {
                Some(before) => before.get(entered).map(|round| round.silent),
                None => (entered == 0).then_some(0),
            };
            let by_silence = last.as_ref().map(|(silent, _)| silent + 1);
            let Some(silent) = by_event.into_iter().chain(by_silence).min() else { break };
            let mut states = space.diagrams.empty();
            if by_event == Some(silent) {
                states = match before {
                    Some(before) => image(space, &before[entered].states, Visibility::Visible)?,
                    None => space.initial.clone(),
                };
                entered += 1;
            }
            if by_silence == Some(silent)
                && let Some((_, from)) = last.take()
            {
                states = space.diagrams.union(&states, &image(space, &from, Visibility::Silent)?)?;
            }
            states = space.diagrams.difference(&states, &seen)?;
            if states.is_empty() {
                continue;
            }
            seen = space.diagrams.union(&seen, &states)?;
            space.learn_all(&states)?;
            levels[here].push(Round { silent, states: states.clone() });
            last = Some((silent, states.clone()));
            let at = levels[here].len() - 1;
            let found = sought.states(space, &states)?;
            if !found.is_empty() {
                return run(space, &levels, at, &found, Finding::State).map(Some);
            }
            if stepping.is_none() {
                let found = sought.steps(space, &states)?;
                stepping = (!found.is_empty()).then_some((at, found));
            }
            if sought.steps_only() && stepping.is_some() {
                break;
            }
        }
        let rounds = &levels[levels.len() - 1];
        let mut level = space.diagrams.empty();
        for round in rounds {
            level = space.diagrams.union(&level, &round.states)?;
        }
        let diverging = sought.diverging(space, &level)?;
        if !diverging.is_empty() {
            for (at, round) in rounds.iter().enumerate() {
                let found = space.diagrams.intersection(&round.states, &diverging)?;
                if !found.is_empty() {
                    return run(space, &levels, at, &found, Finding::Diverges(diverging)).map(Some);
                }
            }
        }
        if let Some((at, found)) = stepping {
            return run(space, &levels, at, &found, Finding::Step).map(Some);
        }
        if rounds.is_empty() {
            return Ok(None);
        }
    }
}

/// What is one step of a kind from these states.
fn image(space: &Space<'_>, from: &Set, visibility: Visibility) -> Result<Set, Cut> {
    let mut all = space.diagrams.empty();
    for bundle in space.bundles.iter().filter(|bundle| bundle.visibility() == visibility) {
        all = space.diagrams.union(&all, &bundle.image(from, &space.diagrams)?)?;
    }
    Ok(all)
}

/// A state among these from which a step of a kind leads to a state.
fn before(
    space: &Space<'_>,
    target: &[Value],
    within: &Set,
    visibility: Visibility,
) -> Result<Option<Vec<Value>>, Cut> {
    let target = space.single(target)?;
    for bundle in space.bundles.iter().filter(|bundle| bundle.visibility() == visibility) {
        let sources = space.diagrams.preimage(&target, bundle.relation(), within)?;
        if let Some(row) = space.first(&sources) {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// The run to the first of some states in a round of the last level.
fn run(space: &Space<'_>, levels: &[Vec<Round>], at: usize, found: &Set, finding: Finding) -> Result<Run, Cut> {
    let mut level = levels.len() - 1;
    let mut silent = levels[level][at].silent;
    let mut row = space.first(found).expect("something was found");
    let mut steps = Vec::new();
    while level > 0 || silent > 0 {
        space.control.check()?;
        let of = |level: usize, silent: u32| levels[level].iter().find(|round| round.silent == silent);
        let by_event = match level.checked_sub(1).and_then(|level| of(level, silent)) {
            Some(round) => before(space, &row, &round.states, Visibility::Visible)?,
            None => None,
        };
        let by_silence = match silent.checked_sub(1).and_then(|silent| of(level, silent)) {
            Some(round) if by_event.is_none() => before(space, &row, &round.states, Visibility::Silent)?,
            _ => None,
        };
        let is_silent = by_event.is_none();
        let source = by_event.or(by_silence).expect("a state of a round has a predecessor in one before");
        steps.push((is_silent, std::mem::replace(&mut row, source)));
        if is_silent {
            silent -= 1;
        } else {
            level -= 1;
        }
    }
    steps.reverse();
    Ok(Run { start: row, steps, finding })
}

/// The states among these with an endless silent run inside them: the greatest set in which each has a silent step to
/// another.
pub(crate) fn diverging(space: &Space<'_>, states: &Set) -> Result<Set, Cut> {
    let silent: Vec<_> = space.bundles.iter().filter(|bundle| bundle.visibility() == Visibility::Silent).collect();
    let mut now = states.clone();
    loop {
        space.control.check()?;
        let mut next = space.diagrams.empty();
        for bundle in &silent {
            next = space.diagrams.union(&next, &space.diagrams.preimage(&now, bundle.relation(), &now)?)?;
        }
        if next == now {
            return Ok(now);
        }
        now = next;
    }
}
