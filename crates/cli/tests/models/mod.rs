//! Promela models on the command line: where the examples are, and what is answered about a model.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela")
}

pub(crate) fn trefoil(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trefoil")).args(arguments).output().expect("trefoil runs")
}

pub(crate) fn results(file: &Path, options: &[&str]) -> Vec<Value> {
    let file = file.to_string_lossy();
    let mut arguments = vec!["check", &*file, "--format", "json"];
    arguments.extend(options);
    let document: Value = serde_json::from_slice(&trefoil(&arguments).stdout).expect("JSON");
    document["runs"][0]["results"].as_array().cloned().unwrap_or_default()
}
