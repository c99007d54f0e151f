//! One search of a model for all its properties.

use std::sync::Arc;

use trefoil_explore::{End, Exploration, Finding as Reported, Options, Order, Visited, Visitor, search};
use trefoil_promela::symmetry::Symmetric;
use trefoil_promela::{Fault, FaultKind, Model, Move, Simulator};
use trefoil_symmetry::Tally;
use trefoil_system::replay::{Rejection, replay_path};
use trefoil_system::{Cut, Explorer, LabelId, Path, StateId, TakenStep, Value};

use super::Script;
use super::story::Story;
use super::symmetry::Trouble;
use crate::Job;
use crate::check::{CheckOptions, Coverage, Evidence, Finding, Run, Step, UsedSymmetry};

/// What can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Property {
    /// No assertion is violated, and no run-time error happens.
    Assertions,
    /// No run ends where it may not.
    EndStates,
    /// The `trace` is kept.
    Trace,
    /// A claim about whole runs.
    Claim,
}

/// What a search has found.
#[derive(Clone)]
pub(super) struct Answers {
    pub(super) states: u64,
    /// As Spin counts: stored and matched, the initial state included.
    pub(super) transitions: u64,
    pub(super) depth: u32,
    /// What the store took.
    pub(super) bytes: u64,
    /// By property.
    pub(super) found: [Option<Spotted>; 3],
    pub(super) complete: bool,
    pub(super) unreached: Vec<(u16, Vec<u32>)>,
    /// When states were not kept.
    pub(super) coverage: Option<Coverage>,
    /// The symmetry that was used.
    pub(super) symmetry: Option<UsedSymmetry>,
    pub(super) notes: Vec<String>,
}

/// A counterexample.
#[derive(Clone)]
pub(super) struct Spotted {
    pub(super) evidence: Evidence,
}

/// Where a counterexample ends.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) distance: u32,
    pub(super) state: StateId,
    pub(super) step: Option<(LabelId, StateId)>,
}

pub(super) struct Watch<'m> {
    model: &'m Model,
    first_fault: LabelId,
    /// The search ends with the first counterexample for this one.
    stop: Option<Property>,
    pub(super) seen: [Option<Seen>; 3],
    /// Steps that only show a fault.
    pub(super) broken: u64,
    /// How many states representatives stand for.
    pub(super) tally: Tally,
    /// When representatives are searched.
    symmetric: Option<&'m Symmetric>,
}

impl<'m> Watch<'m> {
    /// The search ends with the first counterexample for a property, if one is given.
    pub(super) fn new(model: &'m Model, stop: Option<Property>) -> Watch<'m> {
        let first_fault = model.first_fault_label();
        Watch { model, first_fault, stop, seen: [None; 3], broken: 0, tally: Tally::default(), symmetric: None }
    }

    /// The same for a search among representatives.
    pub(super) fn among_representatives(symmetric: &'m Symmetric, stop: Option<Property>) -> Watch<'m> {
        Watch { symmetric: Some(symmetric), ..Watch::new(symmetric.model(), stop) }
    }

    fn see(&mut self, property: Property, seen: Seen) -> bool {
        let known = &mut self.seen[property as usize];
        if known.is_none_or(|known| seen.distance < known.distance) {
            *known = Some(seen);
        }
        self.stop == Some(property)
    }
}

impl Visitor for Watch<'_> {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Reported, Cut> {
        if state.steps.is_empty() && !self.model.is_valid_end(state.row) {
            // Where processes stay, those that are in the way have to go in the model itself.
            let more = self.symmetric.map_or(0, |symmetric| symmetric.must_go(state.row));
            let seen = Seen { distance: state.distance + more, state: state.id, step: None };
            self.see(Property::EndStates, seen);
        }
        if self.stop == Some(Property::EndStates)
            && self.seen[Property::EndStates as usize].is_some_and(|seen| seen.distance <= state.distance)
        {
            return Ok(Reported::State);
        }
        let mut reported = Reported::Nothing;
        for (index, edge) in state.steps.iter().enumerate() {
            if edge.fresh {
                self.tally.note(edge.class);
            }
            if edge.label.0 < self.first_fault.0 {
                continue;
            }
            let Some(fault) = self.model.fault(edge.label) else { continue };
            self.broken += u64::from(!fault.kind.goes_on());
            let property = if fault.kind == FaultKind::Trace { Property::Trace } else { Property::Assertions };
            let step = Some((edge.label, edge.target));
            let seen = Seen { distance: state.distance + 1, state: state.id, step };
            if self.see(property, seen) && reported == Reported::Nothing {
                reported = Reported::Step(index);
            }
        }
        Ok(reported)
    }
}

impl Script {
    /// The answers of a search that was made, or of a new one.
    pub(super) fn answers(
        &mut self,
        property: Property,
        options: &CheckOptions,
        job: &Job,
    ) -> Result<Answers, Trouble> {
        if let Some(complete) = &self.complete {
            return Ok(complete.clone());
        }
        let reduced = self.reduced_answers(property, options, job)?;
        if let Some(answers) = reduced {
            if answers.complete {
                self.complete = Some(answers.clone());
            }
            return Ok(answers);
        }
        let stop = (!options.keep_going).then_some(property);
        loop {
            job.control.check()?;
            job.control.progress().begin("searching", 0);
            let settings = Options { threads: job.threads, order: Order::Steps, ..Options::default() };
            let found = search(&*self.model, &settings, &job.control, || Watch::new(&self.model, stop));
            match found.end {
                End::Complete | End::Found(_) => {}
                End::Cut(Cut::Outgrown) => {
                    drop(found);
                    self.model = self.model.wider().ok_or(Cut::Outgrown)?.clone();
                    continue;
                }
                End::Cut(cut) => return Err(Trouble::Cut(cut)),
            }
            let answers = self.collect(&found, property, job)?;
            if answers.complete {
                self.complete = Some(answers.clone());
            }
            return Ok(answers);
        }
    }

    fn collect(&self, found: &Exploration<Watch<'_>>, property: Property, job: &Job) -> Result<Answers, Cut> {
        let complete = found.end == End::Complete;
        let broken: u64 = found.visitors.iter().map(|visitor| visitor.broken).sum();
        let mut answers = Answers {
            states: found.counts.states,
            transitions: found.counts.transitions + 1 - broken,
            depth: found.counts.depth,
            bytes: found.states.bytes() as u64,
            found: [None, None, None],
            complete,
            unreached: self.model.unreached(),
            coverage: None,
            symmetry: None,
            notes: Vec::new(),
        };
        for index in 0..3 {
            // Only what the search was made for is a shortest one when it ended early.
            if !complete && index != property as usize {
                continue;
            }
            let seen = found.visitors.iter().filter_map(|visitor| visitor.seen[index]);
            let Some(seen) = seen.min_by_key(|seen| seen.distance) else { continue };
            let path = found.path(&*self.model, seen.state, &job.control)?;
            let mut path = path.expect("what was seen was expanded");
            if let Some((label, target)) = seen.step {
                path.steps.push(TakenStep { label, row: found.row(target) });
            }
            answers.found[index] = Some(Spotted { evidence: self.evidence(&path, seen.step.map(|step| step.0), job)? });
        }
        Ok(answers)
    }

    /// A run in words, after it was replayed.
    pub(super) fn evidence(&self, path: &Path, wrong: Option<LabelId>, job: &Job) -> Result<Evidence, Cut> {
        let model = &*self.model;
        match replay_path(model, path, &job.control) {
            Ok(()) => {}
            Err(Rejection::Cut(cut)) => return Err(cut),
            Err(rejection) => panic!("a counterexample does not replay: {rejection}"),
        }
        let finding = match wrong.and_then(|label| model.fault(label)) {
            Some(fault) => self.fault_finding(fault),
            None => {
                let mut stuck = true;
                let mut explorer = trefoil_system::System::explorer(model, &job.control);
                Cut::had_enough(explorer.successors(path.last(), &mut |_| {
                    stuck = false;
                    Err(Cut::Enough)
                }))?;
                assert!(stuck && !model.is_valid_end(path.last()), "the run does not end in an invalid end state");
                Finding::InvalidEnd
            }
        };
        let story = self.story(path, wrong, job)?;
        let states = |row: &[Value]| -> Vec<Arc<str>> { model.parts(row).into_iter().map(Arc::from).collect() };
        let steps: Vec<Step> = path
            .steps
            .iter()
            .map(|step| Step {
                event: self.step_text(step.label),
                parts: Vec::new(),
                states: states(&step.row),
                number: 0,
                revealed: 0,
            })
            .collect();
        let run = Run {
            initial: states(&path.start),
            steps,
            cycle: Vec::new(),
            offered: None,
            refused: None,
            waiting: Vec::new(),
        };
        Ok(Evidence {
            finding,
            length: path.steps.len(),
            trace: path.steps.iter().map(|step| self.step_text(step.label)).collect(),
            process: self.file.clone(),
            components: model.part_names().into_iter().map(Arc::from).collect(),
            runs: vec![run],
            story: Some(story),
        })
    }

    /// The run statement by statement, to where it goes wrong.
    fn story(&self, path: &Path, wrong: Option<LabelId>, job: &Job) -> Result<Story, Cut> {
        let mut simulator = Simulator::new(&self.model, &job.control);
        let mut moves: Vec<Move> = Vec::new();
        let mut before = &path.start;
        for (at, step) in path.steps.iter().enumerate() {
            let unfolded = simulator.unfold(before, step.label, &step.row)?;
            let mut unfolded = unfolded.expect("every step is made of statements");
            let fault = wrong.filter(|_| at + 1 == path.steps.len()).and_then(|label| self.model.fault(label));
            if let Some(wrong) = unfolded.iter().position(|step| fault.is_some() && step.fault == fault) {
                unfolded.truncate(wrong + 1);
            }
            moves.append(&mut unfolded);
            before = &step.row;
        }
        let start = simulator.moment(&path.start);
        Ok(Story::of(&mut simulator, &start, &moves))
    }

    fn fault_finding(&self, fault: Fault) -> Finding {
        let process = &self.model.program().processes[usize::from(fault.process)];
        let statement = &process.statements[fault.statement as usize];
        Finding::Fault {
            error: fault.kind.to_string(),
            process: process.name.to_string(),
            line: statement.line,
            statement: statement.text.clone(),
        }
    }

    /// `P(1) line 12: x = 1`
    fn step_text(&self, label: LabelId) -> String {
        let label = trefoil_system::System::labels(&*self.model).get(label);
        match &label.arguments[..] {
            [line, text, ..] => format!("{} line {line}: {text}", label.name),
            _ => label.to_string(),
        }
    }
}
