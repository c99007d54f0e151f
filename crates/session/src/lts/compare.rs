//! Equivalence of two files.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use trefoil_system::Labels;

use super::minimise::equivalence_named;
use super::{Reading, Size, name, read};
use crate::{Job, Problem, Resources, Verdict};

/// What to compare.
#[derive(Clone, Debug)]
pub struct Comparing {
    /// One file.
    pub left: PathBuf,
    /// The other.
    pub right: PathBuf,
    /// How both are read.
    pub reading: Reading,
    /// The equivalence, by its name in [`super::EQUIVALENCES`].
    pub equivalence: &'static str,
}

/// The answer of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct CompareReport {
    /// One file.
    pub left: String,
    /// The other.
    pub right: String,
    /// The equivalence.
    pub equivalence: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// The size of the first as read.
    pub left_size: Size,
    /// The size of the second as read.
    pub right_size: Size,
    /// What tells them apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// What it took.
    #[serde(flatten)]
    pub resources: Resources,
}
