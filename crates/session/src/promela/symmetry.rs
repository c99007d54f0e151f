//! Searching one state of each orbit, and telling a counterexample in the model as it is written.
//!
//! A run of representatives is first unwound to a run of the model that was searched. Where that model keeps processes at their ends,
//! it is then followed in the model itself, in which processes go: the same statements are executed by the same processes, and a process goes
//! where the next statement or the end of the run has to wait for that. What reaches a user is a run of the model without any of this.

use trefoil_explore::{End, Options, Order, search};
use trefoil_promela::symmetry::{Symmetric, symmetries};
use trefoil_promela::{FaultKind, Model};
use trefoil_symmetry::{Promise, Quotient, Refusal, STRATEGIES, Symmetry, strategy_named};
use trefoil_system::{Action, Cut, LabelId, Path, System, TakenStep, Value};

use std::sync::Arc;

use super::Script;
use super::search::{Answers, Property, Spotted, Watch};
use crate::Job;
use crate::check::{CheckOptions, Permuted, PermutedKind, UsedSymmetry, Wanted};

/// Why there are no answers.
pub(super) enum Trouble {
    /// The options ask for what the model does not allow.
    Refused(String),
    /// A walk was cut: a budget ran out, the user interrupted, or the model could not go on.
    Cut(Cut),
}

impl<C: Into<Cut>> From<C> for Trouble {
    fn from(cut: C) -> Trouble {
        Trouble::Cut(cut.into())
    }
}

impl Script {
    /// The answers of a search among representatives; nothing when no symmetry is wanted or proved.
    pub(super) fn reduced_answers(
        &mut self,
        property: Property,
        options: &CheckOptions,
        job: &Job,
    ) -> Result<Option<Answers>, Trouble> {
        if options.symmetry != Wanted::Automatic {
            return Ok(None);
        }
        if self.symmetries.is_none() {
            job.control.progress().begin("proving symmetries", 0);
            let found = symmetries(self.model.program(), &job.control)?;
            if let Some(symmetric) = &found.symmetric {
                self.model = Arc::new(symmetric.model().letting_processes_go());
            }
            self.symmetries = Some(found);
        }
        let Some(symmetric) = self.symmetries.as_ref().and_then(|found| found.symmetric.as_ref()) else {
            return Ok(None);
        };
        let strategy = strategy_named(options.strategy).unwrap_or(&STRATEGIES[0]);
        let action = symmetric.action().expect("it is symmetric");
        let with = |strategy| {
            Symmetry::of_action(action, strategy, &job.control).map_err(|refusal| match refusal {
                Refusal::Unsuitable(why) => Trouble::Refused(why),
                Refusal::Stopped(stopped) => Trouble::from(stopped),
            })
        };
        let mut symmetry = with(strategy)?;
        // Where processes are started one by one, a run is found again by its representatives, of which there has to be one for each orbit.
        let mut notes = Vec::new();
        if symmetric.is_staggered() && symmetry.strategy().promise != Promise::Exact {
            let given_up = symmetry.strategy().name;
            symmetry = with(&STRATEGIES[0])?;
            let used = symmetry.strategy().name;
            notes.push(format!(
                "processes are started one by one, which {given_up} is not exact enough for: {used} is used"
            ));
        }
        let mut quotient = Quotient::new(symmetric, action, &symmetry, &job.control)?;
        quotient.count(|_| true);
        job.control.check()?;
        job.control.progress().begin("searching", 0);
        let settings = Options { threads: job.threads, order: Order::Steps, ..Options::default() };
        let stop = (!options.keep_going).then_some(property);
        let model = &**symmetric.model();
        let found = search(&quotient, &settings, &job.control, || Watch::among_representatives(symmetric, stop));
        let complete = match found.end {
            End::Complete => true,
            End::Found(_) => false,
            End::Cut(cut) => return Err(Trouble::Cut(cut)),
        };
        let total = complete.then(|| quotient.total(found.visitors.iter().map(|watch| &watch.tally))).flatten();
        let mut answers = Answers {
            states: found.counts.states,
            transitions: found.counts.transitions + 1 - found.visitors.iter().map(|watch| watch.broken).sum::<u64>(),
            depth: found.counts.depth,
            bytes: found.states.bytes() as u64,
            found: [None, None, None],
            complete,
            unreached: unreached(symmetric),
            symmetry: Some(UsedSymmetry {
                order: symmetry.order().to_string(),
                structure: symmetry.structure().name(),
                strategy: symmetry.strategy().name,
                total_states: total.map(|total| total.to_string()),
                permuted: permuted(action, &symmetry),
            }),
            notes,
            coverage: None,
        };
        if model.keeps_processes() {
            let note = "processes that have ended stay where they are, since nothing can tell that they do; the numbers are those of this model";
            answers.notes.push(note.to_string());
        }
        for index in 0..3 {
            if !complete && index != property as usize {
                continue;
            }
            let seen = found.visitors.iter().filter_map(|visitor| visitor.seen[index]);
            let Some(seen) = seen.min_by_key(|seen| seen.distance) else { continue };
            let path = found.path(&quotient, seen.state, &job.control)?;
            let mut path = path.expect("what was seen was expanded");
            if let Some((label, target)) = seen.step {
                path.steps.push(TakenStep { label, row: found.row(target) });
            }
            let mut run = if symmetric.is_staggered() {
                unwound(symmetric, &quotient, &path, job)?
            } else {
                quotient.unwind(&path, &job.control)?
            };
            if seen.step.is_none() && model.keeps_processes() && !symmetric.is_staggered() {
                let element = symmetric.fewest_go(run.last());
                run = permuted_run(action, &element, &run);
            }
            let run = self.followed(symmetric, &run, seen.step.is_none(), job)?;
            let wrong = seen.step.and_then(|_| run.steps.last()).map(|step| step.label);
            answers.found[index] = Some(Spotted { evidence: self.evidence(&run, wrong, job)? });
        }
        Ok(Some(answers))
    }

    /// A run of the model that was searched as one of the model itself, up to a state where nothing can happen if that is wanted.
    fn followed(&self, symmetric: &Symmetric, run: &Path, to_the_end: bool, job: &Job) -> Result<Path, Cut> {
        let searched = &**symmetric.model();
        let mut explorer = self.model.explorer(&job.control);
        let mut real = Path { start: self.model.initial(&job.control)?, steps: Vec::with_capacity(run.steps.len()) };
        let mut next = |here: &[Value]| -> Result<Vec<TakenStep>, Cut> {
            let mut steps: Vec<TakenStep> = Vec::new();
            explorer.successors(here, &mut |step| {
                steps.push(TakenStep { label: step.label, row: step.row.to_vec() });
                Ok(())
            })?;
            Ok(steps)
        };
        for wanted in &run.steps {
            let kind = searched.fault(wanted.label).map(|fault| fault.kind);
            let text = searched.labels().get(wanted.label);
            loop {
                job.control.check()?;
                let mut steps = next(real.last())?;
                let fits = |step: &TakenStep| {
                    kind_of(&self.model, step.label) == kind && self.model.is_but_for_gone(&step.row, &wanted.row)
                };
                let same = |step: &TakenStep| self.model.labels().get(step.label).name == text.name;
                let found = steps.iter().position(|step| fits(step) && same(step));
                if let Some(at) = found.or_else(|| steps.iter().position(fits)) {
                    real.steps.push(steps.swap_remove(at));
                    break;
                }
                let gone = steps.iter().position(|step| self.model.has_gone(real.last(), &step.row));
                let at = gone.expect("what was found can be done in the model itself");
                real.steps.push(steps.swap_remove(at));
            }
        }
        if !to_the_end {
            return Ok(real);
        }
        while let Some(step) = next(real.last())?.into_iter().next() {
            job.control.check()?;
            assert!(self.model.has_gone(real.last(), &step.row), "nothing but the end of processes is left");
            real.steps.push(step);
        }
        Ok(real)
    }
}

/// A run of the model that a run of the quotient stands for, where elements of the group do not carry all steps to steps.
fn unwound(symmetric: &Symmetric, quotient: &Quotient<'_>, path: &Path, job: &Job) -> Result<Path, Cut> {
    let mut real = Path { start: symmetric.model().initial(&job.control)?, steps: Vec::with_capacity(path.steps.len()) };
    let (mut explorer, mut reducing) = (symmetric.model().explorer(&job.control), quotient.explorer(&job.control));
    for taken in &path.steps {
        let mut steps: Vec<TakenStep> = Vec::new();
        explorer.successors(real.last(), &mut |step| {
            steps.push(TakenStep { label: step.label, row: step.row.to_vec() });
            Ok(())
        })?;
        let mut at = 0;
        let mut fitting = None;
        // The quotient tells the steps of a state in the same order.
        reducing.successors(real.last(), &mut |step| {
            let kind = kind_of(symmetric.model(), step.label) == kind_of(symmetric.model(), taken.label);
            if step.row == taken.row && kind && fitting.is_none() {
                fitting = Some(at);
            }
            at += 1;
            Ok(())
        })?;
        let Some(fitting) = fitting.filter(|_| at == steps.len()) else {
            panic!("a run of the quotient has a step that the model does not have");
        };
        real.steps.push(steps.swap_remove(fitting));
    }
    Ok(real)
}

/// What an element makes of a run from the initial state, which it keeps.
fn permuted_run(action: &dyn Action, element: &[u32], run: &Path) -> Path {
    let mut actor = action.actor();
    let mut image = |row: &[Value]| {
        let mut into = vec![0; row.len()];
        actor.apply(element, row, &mut into);
        into
    };
    let start = image(&run.start);
    let rows: Vec<Vec<Value>> = run.steps.iter().map(|step| image(&step.row)).collect();
    let labels = run.steps.iter().map(|step| actor.apply_to_label(element, step.label));
    Path { start, steps: labels.zip(rows).map(|(label, row)| TakenStep { label, row }).collect() }
}

fn kind_of(model: &Model, label: LabelId) -> Option<FaultKind> {
    model.fault(label).map(|fault| fault.kind)
}

/// The statements that were not reached, nor any that stands for them.
fn unreached(symmetric: &Symmetric) -> Vec<(u16, Vec<u32>)> {
    let model = symmetric.model();
    let mut unreached = model.unreached();
    for orbit in symmetric.control_orbits() {
        // All statements of a state are tried where one is.
        let statements: Vec<(u16, u32)> = orbit
            .iter()
            .flat_map(|&(kind, state)| {
                let transitions = &model.program().processes[usize::from(kind)].transitions[state as usize];
                let own = transitions.iter().map(move |transition| (kind, transition.statement));
                own.chain([(kind, state)])
            })
            .collect();
        if statements.iter().any(|&(kind, statement)| model.has_reached(kind, statement)) {
            for (kind, states) in &mut unreached {
                states.retain(|&state| !statements.contains(&(*kind, state)));
            }
        }
    }
    unreached
}

/// What is permuted, orbit by orbit.
pub(super) fn permuted(action: &dyn Action, symmetry: &Symmetry) -> Vec<Permuted> {
    let named = |orbit: Vec<u32>| Permuted {
        kind: PermutedKind::Processes,
        datatype: None,
        names: orbit.into_iter().map(|point| action.describe_point(point)).collect(),
    };
    symmetry.group().orbits().into_iter().filter(|orbit| orbit.len() > 1).map(named).collect()
}
