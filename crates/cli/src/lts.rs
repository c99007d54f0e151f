//! `trefoil lts`: from arguments to jobs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use trefoil_session::check::Asked;
use trefoil_session::lts::{
    self, Comparing, Comparison, Composing, Minimising, Opening, Refining, Shape, Specification, View,
};

use crate::arguments::{Common, LtsCommand, Models, Reading};
use crate::run::{Destination, Run};

pub(crate) fn run(command: LtsCommand, common: Common) -> ExitCode {
    match command {
        LtsCommand::Info { files, reading } => {
            let mut run = Run::new("lts info", common, Destination::Out);
            if !reads_once(&mut run, &names(&files)) {
                return run.finish();
            }
            for file in &files {
                run.check(&names([file]), |job| lts::info(file, &reading.clone().into(), job));
            }
            run.finish()
        }
        LtsCommand::Convert { file, out, reading, writing } => {
            let mut run = Run::new("lts convert", common, destination(Some(&out)));
            run.check(&names([&file]), |job| lts::convert(&file, &reading.into(), &out, writing.to, job));
            run.finish()
        }
        LtsCommand::Minimise { file, equivalence, output, reading, writing } => {
            let mut run = Run::new("lts minimise", common, destination(output.as_deref()));
            let files = names([&file]);
            let task = Minimising { file, reading: reading.into(), equivalence, output, format: writing.to };
            run.check(&files, |job| lts::minimise(&task, job));
            run.finish()
        }
        LtsCommand::Compare { left, right, equivalence, decompose, engine, models, reading } => {
            let mut run = Run::new("lts compare", common, Destination::Out);
            let files = names([&left, &right]);
            if !reads_once(&mut run, &files) {
                return run.finish();
            }
            let opening = Opening { decompose, ..opening(models, reading) };
            let task = Comparing { left, right, opening, equivalence, engine };
            run.check(&files, |job| lts::compare(&task, job));
            run.finish()
        }
        LtsCommand::Refine {
            specification,
            implementations,
            model,
            algorithm,
            search,
            preprocess,
            decompose,
            models,
            reading,
        } => {
            let mut run = Run::new("lts refine", common, Destination::Out);
            let all = names(std::iter::once(&specification).chain(&implementations));
            if !reads_once(&mut run, &all) {
                return run.finish();
            }
            let opening = Opening { decompose, ..opening(models, reading) };
            let comparison = Comparison::named(model).expect("the parser accepts only names of the table");
            let opened = run
                .prepare(&all, |job| Specification::open(&specification, &implementations, opening, comparison, job));
            if let Some(opened) = opened {
                for (place, implementation) in implementations.into_iter().enumerate() {
                    let files = names([&specification, &implementation]);
                    let asked = Asked { algorithm, order: search, preprocess, ..Asked::default() };
                    let task = Refining { implementation, place, model, comparison, asked };
                    match comparison {
                        Comparison::Simulation { ready } => {
                            run.check(&files, |job| lts::simulate(&opened, &task, Some(ready), job));
                        }
                        Comparison::ImpossibleFutures => {
                            run.check(&files, |job| lts::simulate(&opened, &task, None, job));
                        }
                        Comparison::Refinement(model) | Comparison::Strong(model) => {
                            run.check(&files, |job| lts::refine(&opened, &task, model, job));
                        }
                    }
                }
            }
            run.finish()
        }
        LtsCommand::Draw { file, picture, reading } => crate::look::draw(file, reading, picture, common),
        LtsCommand::Compose { files, composition, output, reading, writing } => {
            let mut run = Run::new("lts compose", common, destination(output.as_deref()));
            let shown = names(&files);
            if !reads_once(&mut run, &shown) {
                return run.finish();
            }
            let task = Composing {
                files,
                reading: reading.into(),
                sync: composition.sync,
                vectors: composition.vector,
                rename: composition.rename,
                hide: composition.hide,
                hide_all_but: composition.hide_all_but,
                output,
                format: writing.to,
            };
            run.check(&shown, |job| lts::compose(&task, job));
            run.finish()
        }
        LtsCommand::Generate { file, process, decompose, output, writing } => {
            let mut run = Run::new("lts generate", common, destination(Some(&output)));
            let opening = Opening { processes: process.into_iter().collect(), decompose, ..Opening::default() };
            run.check(&names([&file]), |job| lts::generate_lts(&file, &opening, &output, writing.to, job));
            run.finish()
        }
        LtsCommand::Random { out, states, transitions, labels, tau, seed, writing } => {
            let mut run = Run::new("lts random", common, destination(Some(&out)));
            let transitions = usize::try_from(transitions).unwrap_or(usize::MAX);
            let shape = Shape { states, transitions, labels: labels as usize, tau_percent: tau.into() };
            run.check(&names([&out]), |job| lts::random(shape, seed, &out, writing.to, job));
            run.finish()
        }
    }
}

impl From<Reading> for lts::Reading {
    fn from(reading: Reading) -> lts::Reading {
        lts::Reading { tau: reading.tau, format: reading.from }
    }
}

fn opening(models: Models, reading: Reading) -> Opening {
    let Models { process, visible, rename } = models;
    Opening { reading: reading.into(), processes: process, view: View { visible, rename }, decompose: None }
}

fn names<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Vec<String> {
    files.into_iter().map(|file| file.display().to_string()).collect()
}

/// Standard input can be read once; says so when it is named twice.
fn reads_once(run: &mut Run, files: &[String]) -> bool {
    let once = files.iter().filter(|file| *file == "-").count() <= 1;
    if !once {
        run.misuse("standard input (-) is named twice, but it can be read only once");
    }
    once
}

/// When a system goes to standard output, words about it do not.
fn destination(output: Option<&Path>) -> Destination {
    if output.is_some_and(|file| file.as_os_str() == "-") { Destination::Err } else { Destination::Out }
}
