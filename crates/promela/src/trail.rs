//! Trails: runs in the format that Spin writes and replays.
//!
//! A trail consists of lines of three numbers, `depth:process:transition`. The depth counts from 1. The process is its
//! `_pid`. The transition is the number that Spin gives to its statement while it reads the model; the numbers run
//! through all proctypes and claims in the order of the text. A rendezvous is two lines, the send and then the receive.
//! A `d_step` is one line. The end of a process is a line.
//!
//! A line with a negative depth describes the whole trail: `-1` is the beginning of a cycle; `-2:n:-2` says that claim
//! `n` runs (it is then process 0, and the numbers of all others are one higher); `-4:-4:-4` says that the verifier
//! merges statements, so that a line stands for its statement and those that are merged with it. Lines from `-5` to
//! `-8` say that the verifier uses another search order.
//!
//! The trails that [`Trail::of`] writes have no such lines: no claim runs and no statements are merged. `spin -t`
//! replays them without options, because the numbers come from reading the model and no option of Spin (`-o1`, `-o2`,
//! `-o3`, …) changes them; only the line `-4:-4:-4` switches merging on. A verifier replays them (`pan -r`) if it was
//! generated without merging (`spin -a -o3`) and compiled without a claim (`-DNOCLAIM`).
//!
//! [`Trail::follow`] finds the moves of a model that a trail names. A line names a process and a statement. At most one
//! move fits, except where several processes can receive a rendezvous; then the next line decides. Statements that are
//! merged to that of a line are executed with it (see `merging`). Where a line still does not fit, its process
//! continues alone while it has no choice: no other process observes merged statements, so their time of execution is
//! irrelevant.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use trefoil_system::Cut;

use crate::machine::{FaultKind, Model};
use crate::merging::Merging;
use crate::program::Action;
use crate::simulate::{Act, Moment, Move, Simulator};

/// One line: a transition of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The process, as `_pid` numbers them.
    pub process: u8,
    /// Spin's number of the transition.
    pub transition: u32,
}

/// A run as Spin writes it down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    /// Its lines.
    pub lines: Vec<Line>,
    /// Before which line a cycle begins, if one does.
    pub cycle: Option<usize>,
    /// Are statements merged?
    pub merged: bool,
}

/// How far a trail could be followed.
pub struct Followed {
    /// The moments and the moves from them.
    pub moves: Vec<(Moment, Move)>,
    /// The line that does not fit, counted from 1; none when all do.
    pub lost: Option<usize>,
}

/// Lines that are read; a trail has one for each statement, and a verifier's stack has an end.
const MOST_LINES: usize = 50_000_000;
/// Statements that are filled in between two lines.
const MOST_FILLED: usize = 100_000;

impl Trail {
    /// The trail of a run.
    pub fn of<'a>(simulator: &Simulator<'_>, moves: impl IntoIterator<Item = &'a Move>) -> Trail {
        let lines = moves
            .into_iter()
            .flat_map(|step| &step.acts)
            .map(|&act| Line { process: act.process, transition: simulator.number(act) });
        Trail { lines: lines.collect(), cycle: None, merged: false }
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (at, line) in self.lines.iter().enumerate() {
            if self.cycle == Some(at) {
                text.push_str("-1:-1:-1\n");
            }
            let _ = writeln!(text, "{}:{}:{}", at + 1, line.process, line.transition);
        }
        text
    }

    /// Reads a trail; or what is wrong with it, and in which line.
    pub fn read(text: &str) -> Result<Trail, (usize, String)> {
        let mut trail = Trail::default();
        let mut claim = false;
        for (at, line) in text.lines().enumerate() {
            let wrong = |why: &str| Err((at + 1, why.to_string()));
            if line.trim().is_empty() {
                continue;
            }
            let numbers: Result<Vec<i64>, _> = line.trim().split(':').map(|number| number.trim().parse()).collect();
            let Ok(&[depth, process, transition]) = numbers.as_deref() else {
                return wrong("a line of a trail is three numbers, depth:process:transition");
            };
            match depth {
                -1 => trail.cycle = Some(trail.lines.len()),
                -2 => claim = true,
                -4 => trail.merged = true,
                -8..=-5 => {
                    return wrong("the verifier that wrote this trail chose another order of processes or transitions");
                }
                ..0 => return wrong("this depth has no meaning in a trail"),
                _ => {
                    let process = process - i64::from(claim);
                    // The claim's own lines say nothing about the model.
                    if process == -1 {
                        continue;
                    }
                    let (Ok(process), Ok(transition)) = (u8::try_from(process), u32::try_from(transition)) else {
                        return wrong("this process or transition does not exist");
                    };
                    if trail.lines.len() >= MOST_LINES {
                        return wrong("the trail is too long");
                    }
                    trail.lines.push(Line { process, transition });
                }
            }
        }
        Ok(trail)
    }

    /// The moves that it names, as far as the model has them.
    pub fn follow(&self, simulator: &mut Simulator<'_>, start: Moment) -> Result<Followed, Cut> {
        let mut moves: Vec<(Moment, Move)> = Vec::new();
        let mut here = start;
        let mut at = 0;
        // Statements that were filled in since the last line.
        let mut filled = 0;
        let merging = Merging::new(simulator.model);
        let known = numbers(simulator.model);
        // The lines of each process, the first one last.
        let mut ahead: HashMap<u8, Vec<usize>> = HashMap::new();
        for (line, Line { process, .. }) in self.lines.iter().enumerate().rev() {
            ahead.entry(*process).or_default().push(line);
        }
        while at < self.lines.len() {
            let possible = simulator.moves(&here)?;
            let fitting = possible.iter().find(|step| self.fits(simulator, step, at));
            if fitting.is_none() && self.repeats(at, &moves) {
                break;
            }
            if fitting.is_none() && self.merged && !known.contains(&self.lines[at].transition) {
                // A jump that is a step of its own only in a verifier that merges: it leads to the current state of the
                // process.
                at += 1;
                continue;
            }
            let (chosen, lines) = match fitting {
                Some(step) => (step, step.acts.len()),
                None => match self.filling(&possible, at) {
                    Some(step) if self.merged && filled < MOST_FILLED => (step, 0),
                    _ => return Ok(Followed { moves, lost: Some(at + 1) }),
                },
            };
            filled = if lines == 0 { filled + 1 } else { 0 };
            at += lines;
            let act = chosen.acts[0];
            let merges = self.merged && chosen.acts.len() == 1 && chosen.fault.is_none() && merging.starts(act, &here);
            let after = chosen.after.clone();
            moves.push((here, chosen.clone()));
            here = after;
            if merges {
                let own = ahead.entry(act.process).or_default();
                while own.last().is_some_and(|&line| line < at) {
                    own.pop();
                }
                let next = own.last().map(|&line| self.lines[line].transition);
                here = merge(simulator, &merging, (act, next), here, &mut moves)?;
            }
        }
        Ok(Followed { moves, lost: None })
    }

    /// Is it the last line for the second time? Verifiers write the event twice that a `trace` does not allow.
    fn repeats(&self, at: usize, moves: &[(Moment, Move)]) -> bool {
        let wrong = moves.last().and_then(|(_, last)| last.fault);
        at > 0
            && at + 1 == self.lines.len()
            && self.lines[at] == self.lines[at - 1]
            && wrong.is_some_and(|fault| fault.kind == FaultKind::Trace)
    }

    /// The only statement that the process of a line can execute on its way to the line, or else that of the line
    /// before.
    fn filling<'p>(&self, possible: &'p [Move], at: usize) -> Option<&'p Move> {
        let processes = [Some(at), at.checked_sub(1)];
        processes.into_iter().flatten().find_map(|line| {
            let own = |step: &&Move| step.acts[0].process == self.lines[line].process;
            let mut alone = possible.iter().filter(own);
            alone.next().filter(|step| step.acts.len() == 1 && alone.next().is_none())
        })
    }

    fn fits(&self, simulator: &Simulator<'_>, step: &Move, at: usize) -> bool {
        step.acts.iter().enumerate().all(|(place, &act)| {
            self.lines
                .get(at + place)
                .is_some_and(|line| line.process == act.process && line.transition == simulator.number(act))
        })
    }
}

/// Spin's numbers of the transitions that control can come to.
fn numbers(model: &Model) -> HashSet<u32> {
    let mut numbers = HashSet::new();
    for process in &model.program.processes {
        let mut seen = vec![false; process.transitions.len()];
        let mut work = vec![process.start];
        while let Some(state) = work.pop() {
            if std::mem::replace(&mut seen[state as usize], true) {
                continue;
            }
            for transition in &process.transitions[state as usize] {
                numbers.insert(process.statements[transition.statement as usize].number);
                if !matches!(*transition.action, Action::End) {
                    work.push(transition.target);
                }
            }
        }
    }
    numbers
}

/// Executes what is merged to an act, given the next line of its process.
fn merge(
    simulator: &mut Simulator<'_>,
    merging: &Merging<'_>,
    (act, next): (Act, Option<u32>),
    mut here: Moment,
    moves: &mut Vec<(Moment, Move)>,
) -> Result<Moment, Cut> {
    let mut passed = HashSet::from([act.control]);
    loop {
        let possible = simulator.moves(&here)?;
        let mut own = possible.iter().filter(|step| step.acts[0].process == act.process);
        let (Some(step), None) = (own.next(), own.next()) else { return Ok(here) };
        let merged = step.acts[0];
        // What has a line of its own was not merged.
        let named = next == Some(simulator.number(merged));
        if named || step.acts.len() > 1 || !merging.follows(merged, &here) || !passed.insert(merged.control) {
            return Ok(here);
        }
        let (after, wrong) = (step.after.clone(), step.fault.is_some());
        moves.push((here, step.clone()));
        here = after;
        if wrong {
            return Ok(here);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trails_are_read_as_they_are_written() {
        let line = |process, transition| Line { process, transition };
        let trail = Trail { lines: vec![line(1, 14), line(0, 7), line(2, 3)], cycle: Some(2), merged: false };
        assert_eq!(trail.text(), "1:1:14\n2:0:7\n-1:-1:-1\n3:2:3\n");
        assert_eq!(Trail::read(&trail.text()), Ok(trail));
    }

    #[test]
    fn a_claim_is_process_zero_and_left_out() {
        let trail = Trail::read("-2:3:-2\n-4:-4:-4\n0:0:30\n1:1:5\n2:0:31\n3:2:6\n").expect("a trail");
        assert_eq!(
            trail.lines.iter().map(|line| (line.process, line.transition)).collect::<Vec<_>>(),
            [(0, 5), (1, 6)]
        );
        assert!(trail.merged);
    }

    #[test]
    fn what_is_no_trail_is_told_with_its_line() {
        assert_eq!(Trail::read("1:0:1\nhello\n").map_err(|(line, _)| line), Err(2));
        assert_eq!(Trail::read("1:0\n").map_err(|(line, _)| line), Err(1));
        assert_eq!(Trail::read("1:300:1\n").map_err(|(line, _)| line), Err(1));
        assert_eq!(Trail::read("-6:0:0\n").map_err(|(line, _)| line), Err(1));
    }
}
