//! Parallel composition of files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use trefoil_network::exp::{self, NotFlattened};
use trefoil_network::{Component, Composition, Synchronise};
use trefoil_source::{Diagnostic, Place, Sources};
use trefoil_system::Labels;

use super::{Reading, Size, check_output, name, read, write};
use crate::cspm::Warnings;
use crate::problem::{Origin, REFUSED, UNREADABLE};
use crate::{Job, Problem, Resources, read_file};

/// What to compose, and how; the texts are as a user types them.
#[derive(Clone, Debug)]
pub struct Composing {
    /// The files with the components; or one `.exp` file that names them.
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
    /// What is suspicious about an `.exp` file.
    #[serde(skip_serializing_if = "Warnings::is_empty")]
    pub warnings: Warnings,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

/// Does the name promise an expression over further files?
fn is_expression(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("exp"))
}

/// The composition that an `.exp` file describes.
fn expression(task: &Composing, file: &Path, job: &Job) -> Result<(Composition, Warnings), Problem> {
    let shown = name(file);
    let refused = |why: &str| Problem::from(Diagnostic::error(REFUSED, why, Place::File(shown.clone())));
    if task.files.len() > 1 {
        return Err(refused("an .exp file names its components itself; give no other file beside it"));
    }
    if !task.sync.is_empty() || !task.vectors.is_empty() {
        return Err(refused("an .exp file says itself which labels synchronise; --sync and --vector do not apply"));
    }
    let unreadable = |why: String| Problem::from(Diagnostic::error(UNREADABLE, why, Place::File(shown.clone())));
    // Spans hold 32 bits, and an expression is written by people or small programs.
    const LONGEST: u64 = 256 << 20;
    if std::fs::metadata(file).is_ok_and(|there| there.len() > LONGEST) {
        return Err(unreadable(format!("`{shown}` is larger than 256 MiB, too large for an expression")));
    }
    let bytes = read_file(file, job)?.map_err(|why| unreadable(trefoil_source::cannot_read(&shown, &why)))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable(format!("`{shown}` is not UTF-8 text")))?;
    let mut sources = Sources::default();
    let id = sources.add(shown.clone(), text);
    let wrong = |diagnostic: Diagnostic, sources: &Sources| Problem::Script(vec![diagnostic], sources.clone());
    let parsed = exp::parse(id, &sources).map_err(|diagnostic| wrong(diagnostic, &sources))?;
    // CADP, whose language it is, writes `i` for the internal step.
    let mut reading = task.reading.clone();
    reading.tau.push("i".to_string());
    let folder = file.parent().unwrap_or(Path::new(""));
    let labels = Arc::new(Labels::new());
    let mut systems = Vec::new();
    for (named, _) in parsed.files() {
        let mut path = folder.join(named);
        if path.extension().is_none() && !path.exists() {
            path.set_extension("aut");
        }
        systems.push(Arc::new(read(&path, &reading, &labels, job)?));
    }
    let flat = parsed.flatten(&labels, &systems, &job.control).map_err(|why| match why {
        NotFlattened::Wrong(diagnostic) => wrong(diagnostic, &sources),
        NotFlattened::Stopped(stopped) => Problem::Stopped(stopped),
    })?;
    let composition = Composition { rules: Some(flat.rules), ..Composition::new(labels, flat.components) };
    Ok((composition, Warnings::new(&flat.warnings, &sources)))
}

/// The composition that the options describe.
fn options(task: &Composing, job: &Job) -> Result<(Composition, Warnings), Problem> {
    let labels = Arc::new(Labels::new());
    let mut components = Vec::new();
    for file in &task.files {
        components.push(Component::new(name(file), Arc::new(read(file, &task.reading, &labels, job)?)));
    }
    let composition = Composition {
        synchronise: task.synchronise(),
        vectors: task.vectors.clone(),
        ..Composition::new(labels, components)
    };
    Ok((composition, Warnings::default()))
}

/// Composes systems in parallel, exploring as it goes.
pub fn compose(task: &Composing, job: &Job) -> Result<ComposeReport, Problem> {
    check_output(task.output.as_deref(), task.format)?;
    let (composition, warnings) = match task.files.iter().find(|file| is_expression(file)) {
        Some(file) => expression(task, file, job)?,
        None => options(task, job)?,
    };
    let composition = Composition {
        rename: task.rename.clone(),
        hide: task.hide.clone(),
        hide_all_but: task.hide_all_but.clone(),
        ..composition
    };
    job.control.afford(composition.bytes_to_make())?;
    let network = composition.network().map_err(Problem::Input)?;
    let origin = Origin::file(task.files.first().map_or_else(String::new, |file| name(file)));
    let counts = match &task.output {
        Some(output) => {
            let composed = trefoil_network::compose(&network, job.threads, &job.control)
                .map_err(|rest| Problem::cut(rest.cut, &job.control, &origin))?;
            write(&composed.lts, output, task.format, job)?;
            composed.counts
        }
        None => trefoil_network::count(&network, job.threads, &job.control)
            .map_err(|rest| Problem::cut(rest.cut, &job.control, &origin))?,
    };
    Ok(ComposeReport {
        files: task.files.iter().map(|file| name(file)).collect(),
        size: Size { states: counts.states as usize, transitions: counts.transitions as usize },
        depth: counts.depth,
        output: task.output.as_deref().map(name),
        warnings,
        resources: Resources::new(&job.control),
    })
}
