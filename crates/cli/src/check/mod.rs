//! `trefoil check`: from arguments to assertions, and their answers in every format.

pub(crate) mod evidence;
pub(crate) mod explain;
mod junit;
pub(crate) mod results;
pub(crate) mod runner;
mod sarif;
mod table;

use std::process::ExitCode;

use serde_json::json;
use trefoil_session::check::{CheckOptions, RunReport, Wanted, is_promela};

use crate::arguments::{Checking, Common, Output};
use crate::run::Jobs;
use crate::{exit, terminal};

pub(crate) use runner::{Choosing, Runner, Watcher, exit_code};

pub(crate) fn run(checking: Checking, common: Common) -> ExitCode {
    if checking.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
        terminal::complain("error: standard input (-) is named twice, but it can be read only once\n");
        return ExitCode::from(exit::WRONG);
    }
    let evidence = evidence::Files { trail: checking.trail.clone(), chart: checking.chart.clone() };
    if evidence.wanted() {
        let why = if checking.files.len() > 1 {
            Some("--trail and --chart need one model, not several")
        } else if checking.files.iter().any(|file| !is_promela(file, checking.language)) {
            Some("--trail and --chart are for Promela models")
        } else {
            None
        };
        if let Some(why) = why {
            terminal::complain(&format!("error: {why}\n"));
            return ExitCode::from(exit::WRONG);
        }
    }
    let format = common.format;
    let several = checking.files.len() > 1;
    let options = CheckOptions {
        algorithm: checking.algorithm,
        compress_leaves: !checking.no_leaf_compression,
        symmetry: wanted(&checking.symmetry),
        strategy: checking.strategy,
        partial_order: checking.partial_order == "on",
        keep_going: checking.keep_going,
        store: checking.store,
    };
    let wanted: Vec<String> = if checking.only.is_empty() { checking.explain.clone() } else { checking.only.clone() };
    let runner = Runner {
        jobs: Jobs::new(common),
        options,
        language: checking.language,
        wanted: Choosing::new(&wanted),
        only_list: checking.list,
    };
    let explained = Choosing::new(&checking.explain);
    let (mut reports, mut codes) = (Vec::new(), Vec::new());
    for file in &checking.files {
        let mut watcher = table::Table::new(format == Output::Text, several);
        let report = runner.run(file, &mut watcher);
        drop(watcher);
        codes.push(exit_code(&report));
        if format == Output::Text {
            print(&mut codes, &results::after(&report, &explained, checking.list, terminal::colour_out()));
        }
        match evidence.write(&report) {
            Ok(said) if format == Output::Text => {
                said.iter().for_each(|line| print(&mut codes, &format!("{line}\n")));
            }
            Ok(_) => {}
            Err(why) => {
                codes.push(exit::WRONG);
                terminal::complain(&format!("error: {why}\n"));
            }
        }
        reports.push(report);
    }
    for (chosen, what) in [(&runner.wanted, "--only"), (&explained, "--explain")] {
        for text in chosen.never() {
            codes.push(exit::WRONG);
            terminal::complain(&format!("error: {what} {text}: there is no such assertion\n"));
        }
    }
    match format {
        Output::Text | Output::Svg | Output::Dot => {}
        Output::Json => print(&mut codes, &document(&reports)),
        Output::Junit => print(&mut codes, &junit::document(&reports)),
        Output::Sarif => print(&mut codes, &sarif::document(&reports)),
    }
    ExitCode::from(exit::together(codes))
}

/// What `--symmetry` says.
fn wanted(symmetry: &str) -> Wanted {
    match symmetry {
        "auto" => Wanted::Automatic,
        "off" => Wanted::Nothing,
        types => {
            let mut names: Vec<String> = Vec::new();
            for name in types.split(',').map(str::trim) {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_string());
                }
            }
            Wanted::Types(names)
        }
    }
}

fn print(codes: &mut Vec<u8>, text: &str) {
    if let Err(error) = terminal::print(text) {
        terminal::complain(&format!("error: standard output cannot be written: {error}\n"));
        codes.push(exit::WRONG);
    }
}

fn document(reports: &[RunReport]) -> String {
    let document = json!({ "trefoil": env!("CARGO_PKG_VERSION"), "command": "check", "runs": reports });
    serde_json::to_string_pretty(&document).expect("reports are plain data") + "\n"
}

#[cfg(test)]
pub(crate) mod samples;
