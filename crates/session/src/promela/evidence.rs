//! A counterexample in words.

use std::sync::Arc;

use trefoil_promela::{Fault, Move, Simulator};
use trefoil_questions::Evidence as Shown;
use trefoil_source::ReportedPlace;
use trefoil_system::{Cut, LabelId, Path, System, TakenStep, Value};

use super::Script;
use super::story::{Story, place_of};
use crate::Job;
use crate::check::{Evidence, Finding, Run, Step, Violation};

impl Script {
    /// A run in words; it was replayed before. A cycle violates a claim in a way.
    pub(super) fn evidence(&self, shown: &Shown, way: Violation, job: &Job) -> Result<Evidence, Cut> {
        let model = &*self.model;
        let path = shown.path();
        let wrong = match shown {
            Shown::Error(path) => path.steps.last().map(|step| step.label),
            Shown::InvalidEnd(_) | Shown::Witness(_) | Shown::Strategy(_) | Shown::Prefix(_) | Shown::Lasso { .. } => {
                None
            }
        };
        let stem = path.steps.len();
        let finding = match shown {
            Shown::Prefix(_) => Finding::Claim { violation: Violation::AtOnce, stem, cycle: 0 },
            Shown::Lasso { cycle, .. } if cycle.is_empty() => {
                Finding::Claim { violation: Violation::End, stem, cycle: 0 }
            }
            Shown::Lasso { cycle, .. } => Finding::Claim { violation: way, stem, cycle: cycle.len() },
            _ => wrong
                .and_then(|label| model.fault(label))
                .map_or(Finding::InvalidEnd, |fault| self.fault_finding(fault)),
        };
        let repeated: &[TakenStep] = if let Shown::Lasso { cycle, .. } = shown { cycle } else { &[] };
        let (story, places) = self.story(path, repeated, wrong, job)?;
        let mut places = places.into_iter();
        let states = |row: &[Value]| -> Vec<Arc<str>> { model.parts(row).into_iter().map(Arc::from).collect() };
        let mut told = |step: &TakenStep| Step {
            event: self.step_text(step.label),
            place: places.next().flatten(),
            parts: Vec::new(),
            states: states(&step.row),
            number: 0,
            revealed: 0,
        };
        let steps: Vec<Step> = path.steps.iter().map(&mut told).collect();
        let run = Run {
            initial: states(&path.start),
            steps,
            cycle: repeated.iter().map(&mut told).collect(),
            offered: None,
            refused: None,
            waiting: Vec::new(),
        };
        Ok(Evidence {
            observed: Vec::new(),
            finding,
            length: path.steps.len(),
            trace: path.steps.iter().map(|step| self.step_text(step.label)).collect(),
            process: self.file.clone(),
            components: model.part_names().into_iter().map(Arc::from).collect(),
            operators: Vec::new(),
            runs: vec![run],
            story: Some(story),
            system: None,
        })
    }

    /// The run statement by statement, to where it goes wrong, and where each of its steps stands.
    fn story(
        &self,
        path: &Path,
        cycle: &[TakenStep],
        wrong: Option<LabelId>,
        job: &Job,
    ) -> Result<(Story, Vec<Option<ReportedPlace>>), Cut> {
        let mut places = Vec::with_capacity(path.steps.len() + cycle.len());
        let mut simulator = Simulator::new(&self.model, &job.control);
        let mut moves: Vec<Move> = Vec::new();
        let mut before = &path.start;
        let mut repeats_from = None;
        for (at, step) in path.steps.iter().chain(cycle).enumerate() {
            if at == path.steps.len() {
                repeats_from = Some(moves.len());
            }
            let unfolded = simulator.unfold(before, step.label, &step.row)?;
            let mut unfolded = unfolded.expect("every step is made of statements");
            let fault = wrong.filter(|_| at + 1 == path.steps.len()).and_then(|label| self.model.fault(label));
            if let Some(wrong) = unfolded.iter().position(|step| fault.is_some() && step.fault == fault) {
                unfolded.truncate(wrong + 1);
            }
            places.push(unfolded.first().and_then(|first| place_of(&self.model, first)));
            moves.append(&mut unfolded);
            before = &step.row;
        }
        let start = simulator.moment(&path.start);
        // Statements that the search takes in one step are one.
        let story = Story::with_cycle(&mut simulator, &start, &moves, repeats_from);
        Ok((Story { steps: path.steps.len() + cycle.len(), ..story }, places))
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
        let label = self.model.labels().get(label);
        match (label.name(), label.arguments()) {
            (Some(name), [line, text, ..]) => format!("{name} line {line}: {text}"),
            _ => label.to_string(),
        }
    }
}
