//! `trefoil game`: from arguments to jobs, and their answers for people.

use std::process::ExitCode;

use trefoil_control::count;
use trefoil_session::Verdict;
use trefoil_session::games::{self, GameReport, Solving};

use crate::arguments::{Common, GameCommand};
use crate::run::{Answer, Destination, Run};
use crate::text::{resources, table, verdict};

pub(crate) fn run(command: GameCommand, common: Common) -> ExitCode {
    let GameCommand::Solve { file, solver, output, check, picture } = command;
    // Two threads gain nothing on most games, so they are used only on request.
    let threads = common.threads.map_or(1, |threads| threads as usize);
    let mut run = Run::new("game solve", common, Destination::Out);
    if check.as_ref().is_some_and(|check| check.as_os_str() == "-") && file.as_os_str() == "-" {
        run.misuse("standard input (-) is named twice, but it can be read only once");
        return run.finish();
    }
    let files = [file.display().to_string()];
    let task = Solving { file, solver, output, check, picture, threads };
    run.check(&files, |job| games::solve_game(&task, job));
    run.finish()
}

impl Answer for GameReport {
    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn is_verbatim(&self) -> bool {
        self.solution.is_some()
    }

    fn text(&self, colour: bool) -> String {
        if let Some(solution) = &self.solution {
            return solution.clone();
        }
        let mut text = match (&self.checked, &self.flaw, self.winner) {
            (Some(checked), Some(flaw), _) => {
                format!("{}: {checked} is not a solution of {}: {flaw}\n", verdict(self.verdict, colour), self.file)
            }
            (Some(checked), None, _) => {
                format!("{}: {checked} is a solution of {}\n", verdict(self.verdict, colour), self.file)
            }
            (None, _, winner) => {
                format!("{}: {} wins vertex {}\n", self.file, winner.unwrap_or("no player"), self.start)
            }
        };
        let mut rows = vec![
            ("vertices", count(self.vertices as u64)),
            ("edges", count(self.edges as u64)),
            ("priorities", count(self.priorities.into())),
            ("won by even", count(self.won.even as u64)),
            ("won by odd", count(self.won.odd as u64)),
        ];
        rows.extend(self.solver.map(|solver| ("solver", solver.to_string())));
        rows.extend(self.output.clone().map(|output| ("written to", output)));
        rows.extend(self.picture.clone().map(|picture| ("picture", picture)));
        rows.extend(resources(&self.resources));
        text.push_str(&table(&rows));
        text
    }
}
