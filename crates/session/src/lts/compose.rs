//! Parallel composition of files.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use trefoil_explore::End;
use trefoil_network::{Component, Composition, Synchronise};
use trefoil_system::Labels;

use super::{Reading, Size, check_output, name, read, write};
use crate::{Job, Problem, Resources};

/// What to compose, and how; the texts are as a user types them.
#[derive(Clone, Debug)]
pub struct Composing {
    /// The files with the components.
    pub files: Vec<PathBuf>,
    /// How they are read.
    pub reading: Reading,
    /// Lists of labels to synchronise on; `all` (also when empty) or `none`.
    pub sync: Vec<String>,
    /// Synchronisation vectors.
    pub vectors: Vec<String>,
    /// Lists of `old=new`.
    pub rename: Vec<String>,
    /// Lists of labels to hide.
    pub hide: Vec<String>,
    /// Lists of labels not to hide.
    pub hide_all_but: Option<Vec<String>>,
    /// Where the result goes, if anywhere.
    pub output: Option<PathBuf>,
    /// The format of the output by its name in [`super::FORMATS`].
    pub format: Option<&'static str>,
}

impl Composing {
    fn synchronise(&self) -> Synchronise {
        match self.sync.as_slice() {
            [] => Synchronise::Shared,
            [all] if all == "all" => Synchronise::Shared,
            [none] if none == "none" => Synchronise::None,
            lists => Synchronise::Only(lists.to_vec()),
        }
    }
}

/// A composition was explored.
#[derive(Clone, Debug, Serialize)]
pub struct ComposeReport {
    /// The components.
    pub files: Vec<String>,
    /// The size of the composition.
    #[serde(flatten)]
    pub size: Size,
    /// Levels of the breadth-first search.
    pub depth: u32,
    /// Where the result was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// Composes systems in parallel, exploring as it goes.
pub fn compose(task: &Composing, job: &Job) -> Result<ComposeReport, Problem> {
    check_output(task.output.as_deref(), task.format)?;
    let labels = Arc::new(Labels::new());
    let mut components = Vec::new();
    for file in &task.files {
        components.push(Component::new(name(file), Arc::new(read(file, &task.reading, &labels, job)?)));
    }
    let composition = Composition {
        synchronise: task.synchronise(),
        vectors: task.vectors.clone(),
        rename: task.rename.clone(),
        hide: task.hide.clone(),
        hide_all_but: task.hide_all_but.clone(),
        ..Composition::new(labels, components)
    };
    let network = composition.network().map_err(Problem::Input)?;
    let counts = match &task.output {
        Some(output) => {
            let composed =
                trefoil_network::compose(&network, job.threads, &job.control).map_err(|rest| rest.stopped)?;
            write(&composed.lts, output, task.format, job)?;
            composed.counts
        }
        None => match trefoil_network::count(&network, job.threads, &job.control) {
            (End::Stopped(stopped), _) => return Err(Problem::Stopped(stopped)),
            (_, counts) => counts,
        },
    };
    Ok(ComposeReport {
        files: task.files.iter().map(|file| name(file)).collect(),
        size: Size { states: counts.states as usize, transitions: counts.transitions as usize },
        depth: counts.depth,
        output: task.output.as_deref().map(name),
        resources: Resources::new(&job.control),
    })
}
