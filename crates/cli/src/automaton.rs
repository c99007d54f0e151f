//! `trefoil automaton`.

use std::process::ExitCode;

use trefoil_control::counted;
use trefoil_session::automata::{AutomatonReport, AutomatonTask, automaton};

use crate::arguments::Common;
use crate::run::{Answer, Destination, Run};
use crate::text::{resources, table};

pub(crate) fn run(task: AutomatonTask, common: Common) -> ExitCode {
    let mut run = Run::new("automaton", common, Destination::Out);
    let files: Vec<String> = task.file.iter().map(|file| file.display().to_string()).collect();
    run.check(&files, |job| automaton(&task, job));
    run.finish()
}

impl Answer for AutomatonReport {
    fn is_verbatim(&self) -> bool {
        self.document.is_some()
    }

    fn text(&self, _colour: bool) -> String {
        if let Some(document) = &self.document {
            return document.clone();
        }
        let (states, edges) = (counted(self.states as u64, "state"), counted(self.edges as u64, "edge"));
        let sets = counted(u64::from(self.acceptance_sets), "acceptance set");
        let mut rows = vec![("automaton", format!("{states}, {edges}, {sets}, {}", self.strength))];
        rows.extend(self.output.clone().map(|output| ("written to", output)));
        rows.extend(resources(&self.resources));
        format!("{}\n{}", self.accepts, table(&rows))
    }
}
