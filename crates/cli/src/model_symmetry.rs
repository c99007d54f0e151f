//! `trefoil symmetry` for Promela models: the group, its generators, and what breaks further symmetries.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use trefoil_control::counted;
use trefoil_session::promela::{ModelSymmetry, model_symmetry};

use crate::arguments::Common;
use crate::run::{Answer, Destination, Run};
use crate::symmetry::reasons;
use crate::text::{list, magnitude, resources, table};

/// How many generators are shown; the JSON has all of them.
const GENERATORS: usize = 12;

pub(crate) fn run(file: &Path, output: Option<&Path>, common: Common) -> ExitCode {
    let mut run = Run::new("symmetry", common, Destination::Out);
    run.check(&[file.display().to_string()], |job| model_symmetry(file, output, job));
    run.finish()
}

impl Answer for ModelSymmetry {
    fn text(&self, _colour: bool) -> String {
        let mut text = format!("{}\n", self.file);
        if self.generators.is_empty() {
            text.push_str("  no symmetry found\n");
        } else {
            let _ = writeln!(text, "  the group is {}, |G| = {}", self.structure, magnitude(&self.order));
            for permuted in &self.permuted {
                let _ = writeln!(text, "  it permutes {{{}}}", list(&permuted.names, ", "));
            }
            text.push_str("  generators:\n");
            for generator in self.generators.iter().take(GENERATORS) {
                let _ = writeln!(text, "    {generator}");
            }
            if self.generators.len() > GENERATORS {
                let more = counted((self.generators.len() - GENERATORS) as u64, "more generator");
                let _ = writeln!(text, "    … and {more}");
            }
        }
        if self.keeps_processes {
            text.push_str("  the search keeps processes that have ended: no statement can detect it\n");
        }
        if !self.reasons.is_empty() {
            text.push_str("  broken symmetries:\n");
            text.push_str(&reasons(&self.reasons, "    "));
        }
        if let Some(output) = &self.output {
            let _ = writeln!(text, "  wrote the static channel diagram to {output}");
        }
        text.push_str(&table(&resources(&self.resources)));
        text
    }

    fn complaints(&self, colour: bool) -> &str {
        self.warnings.text(colour)
    }
}
