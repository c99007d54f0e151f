//! From one format to another, and from nothing at all.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use trefoil_lts::Lts;
use trefoil_lts::random::{Random, RandomShape, budgeted_random_lts};
use trefoil_system::Labels;

use super::{Reading, Size, check_output, name, read, write};
use crate::{Job, Problem, Resources};

/// A system was written.
#[derive(Clone, Debug, Serialize)]
pub struct ConvertReport {
    /// The file it was written to.
    pub output: String,
    /// Its size.
    #[serde(flatten)]
    pub size: Size,
    /// What came of `--decompose`, if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decomposed: Option<String>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}

fn written(lts: &Lts, output: &Path, job: &Job) -> ConvertReport {
    let (size, resources) = (Size::of(lts), Resources::new(&job.control));
    ConvertReport { output: name(output), size, decomposed: None, resources }
}

/// Reads a system and writes it again.
pub fn convert(
    file: &Path,
    reading: &Reading,
    output: &Path,
    format: Option<&'static str>,
    job: &Job,
) -> Result<ConvertReport, Problem> {
    check_output(Some(output), format)?;
    let lts = read(file, reading, &Arc::new(Labels::new()), job)?;
    write(&lts, output, format, job)?;
    Ok(written(&lts, output, job))
}

/// The shape of a random system.
pub type Shape = RandomShape;

/// Writes a random system.
pub fn random(
    shape: Shape,
    seed: u64,
    output: &Path,
    format: Option<&'static str>,
    job: &Job,
) -> Result<ConvertReport, Problem> {
    check_output(Some(output), format)?;
    let transition = size_of::<(u32, u32, u32)>() + 2 * size_of::<u64>();
    job.control.afford(shape.transitions.saturating_mul(transition).saturating_add(shape.states as usize * 8))?;
    let lts = budgeted_random_lts(&Arc::new(Labels::new()), shape, &mut Random::new(seed), &job.control)?;
    write(&lts, output, format, job)?;
    Ok(written(&lts, output, job))
}
