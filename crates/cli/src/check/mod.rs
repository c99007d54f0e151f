//! `trefoil check`: from arguments to assertions, and their answers in every format.

pub(crate) mod evidence;
pub(crate) mod explain;
mod junit;
mod page;
pub(crate) mod results;
pub(crate) mod runner;
mod sarif;
mod table;

use std::process::ExitCode;

use serde::Serialize;
use trefoil_session::check::{RunReport, Wanted, never_used};
use trefoil_session::formulas::check_evidence_file;

use crate::arguments::{Checking, Common, Output};
use crate::run::Jobs;
use crate::{exit, terminal};

use runner::Explaining;
pub(crate) use runner::{Choosing, Runner, Watcher, exit_code};

pub(crate) fn run(checking: Checking, common: Common) -> ExitCode {
    if checking.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
        terminal::say_err("error: standard input (-) is named twice, but it can be read only once\n");
        return ExitCode::from(exit::WRONG);
    }
    if let Some(why) = Choosing::refused(&checking.only) {
        terminal::say_err(&format!("error: {why}\n"));
        return ExitCode::from(exit::WRONG);
    }
    let evidence = evidence::Files {
        trail: checking.trail.clone(),
        chart: checking.chart.clone(),
        evidence: checking.evidence.clone(),
    };
    if evidence.wanted() && checking.files.len() > 1 {
        terminal::say_err("error: --trail, --chart and --evidence need exactly one model\n");
        return ExitCode::from(exit::WRONG);
    }
    if let Some(Err(problem)) = checking.evidence.as_deref().map(check_evidence_file) {
        terminal::say_err(&problem.render(terminal::colour_err()));
        return ExitCode::from(exit::WRONG);
    }
    let refused = checking.report.as_deref().and_then(page::refused);
    if let Some(why) = refused.or_else(|| checking.chart.as_deref().and_then(evidence::not_a_chart)) {
        terminal::say_err(&format!("error: {why}\n"));
        return ExitCode::from(exit::WRONG);
    }
    let format = common.format;
    let several = checking.files.len() > 1;
    let options = checking.asked();
    let wanted = match checking.only.is_empty() {
        true => Explaining::needed(&checking.explain),
        false => Choosing::new(&checking.only),
    };
    let runner = Runner {
        jobs: Jobs::new(common),
        options,
        language: checking.language,
        wanted,
        only_list: checking.list,
        why: checking.why,
        properties: Wanted {
            never: checking.never.clone(),
            formulas: checking.formula.clone(),
            properties: checking.property.clone(),
            process: checking.process.clone(),
            no_leaf_compression: checking.no_leaf_compression,
            ltl: checking.ltl.clone(),
            claims: checking.claim.clone(),
        },
    };
    let explained = Explaining::new(&checking.explain);
    let (mut reports, mut codes) = (Vec::new(), Vec::new());
    let opened: Vec<_> = checking.files.iter().map(|file| runner.open(file)).collect();
    // An option that applies to nothing in the run is refused before anything runs.
    let unused: Vec<_> = opened.iter().flat_map(|opened| runner.unused(opened)).collect();
    let never = never_used(&unused);
    for unused in &never {
        terminal::say_err(&format!("error: {}\n", unused.words));
    }
    if !never.is_empty() {
        return ExitCode::from(exit::WRONG);
    }
    for opened in opened {
        let mut watcher = table::Table::new(format == Output::Text, several);
        let report = runner.run(opened, &mut watcher);
        drop(watcher);
        codes.push(exit_code(&report));
        if format == Output::Text {
            terminal::say(&results::after(&report, &explained, checking.list, terminal::colour_out()));
        }
        match evidence.write(&report, &runner.jobs) {
            Ok(said) if format == Output::Text => {
                said.iter().for_each(|line| {
                    terminal::say(&format!("{line}\n"));
                });
            }
            Ok(_) => {}
            Err(why) => {
                codes.push(exit::WRONG);
                terminal::say_err(&format!("error: {why}\n"));
            }
        }
        reports.push(report);
    }
    if reports.iter().all(|report| report.errors.is_empty()) {
        for why in unmatched(&checking, &runner.wanted, &explained, &reports) {
            codes.push(exit::WRONG);
            terminal::say_err(&format!("error: {why}\n"));
        }
    }
    if let Some(file) = &checking.report {
        let made = page::page(&document(&reports), &reports, &checking.files, checking.language, &runner.jobs);
        match runner.jobs.during(|control| evidence::save(file, &made, control)) {
            Ok(()) if format == Output::Text => {
                terminal::say(&format!("wrote the report to {}\n", file.display()));
            }
            Ok(()) => {}
            Err(why) => {
                codes.push(exit::WRONG);
                terminal::say_err(&format!("error: {why}\n"));
            }
        }
    }
    terminal::print(&match format {
        Output::Text | Output::Svg | Output::Dot => String::new(),
        Output::Json => document(&reports),
        Output::Junit => junit::document(&reports),
        Output::Sarif => sarif::document(&reports),
    });
    ExitCode::from(exit::together(codes))
}

/// Complaints about choices that fit no assertion.
fn unmatched(checking: &Checking, wanted: &Choosing, explained: &Explaining, reports: &[RunReport]) -> Vec<String> {
    for answer in reports.iter().flat_map(|report| &report.results) {
        explained.takes(answer);
    }
    // Without --only, the choices of --explain are also those of the assertions to run.
    let chosen = !checking.only.is_empty();
    let among = if chosen { " among those that --only chooses" } else { "" };
    let only = wanted.never().filter(|_| chosen).map(|why| format!("--only {why}"));
    let explain = explained.never().filter(|_| !checking.list).map(|why| format!("--explain {why}{among}"));
    only.chain(explain).collect()
}

/// What `--format json` prints. It is written as it is, because a JSON value would round long counts.
#[derive(Serialize)]
struct Document<'r> {
    schema: u32,
    trefoil: &'static str,
    command: &'static str,
    runs: &'r [RunReport],
}

fn document(reports: &[RunReport]) -> String {
    let (schema, trefoil) = (crate::schema::VERSION, env!("CARGO_PKG_VERSION"));
    let document = Document { schema, trefoil, command: "check", runs: reports };
    let text = serde_json::to_string_pretty(&document).expect("reports are plain data") + "\n";
    crate::schema::check(&text);
    text
}

#[cfg(test)]
pub(crate) mod samples;
