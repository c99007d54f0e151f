//! What tests of decomposition share.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::{Lts, generate};
use trefoil_mcrl2::decompose::{Hiding, Partition};
use trefoil_mcrl2::linear::{Analyses, linearise};
use trefoil_mcrl2::system::Model;
use trefoil_mcrl2::{processes, syntax};
use trefoil_source::FileId;
use trefoil_system::{Label, Labels, Writing};
use trefoil_testkit::mcrl2::cleave::Process;

/// The model of a text.
pub(crate) fn model(text: &str, analyses: Analyses) -> Arc<Model> {
    let mut diagnostics = Vec::new();
    let tree = syntax::parse(text, FileId(0), &mut diagnostics);
    let typed = processes::check(&tree, text, &mut diagnostics).unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
    let control = Control::unlimited();
    let linear = linearise(&typed, analyses, &control).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
    let labels = Arc::new(Labels::written(Writing::Brackets));
    let model = Model::new(Arc::new(linear), labels, &control);
    Arc::new(model.unwrap_or_else(|none| panic!("{text}: {none:?}")))
}

/// Its state space.
pub(crate) fn graph(model: &Model) -> Lts {
    generate(model, 1, &Control::unlimited()).unwrap_or_else(|unfinished| panic!("{:?}", unfinished.cut)).lts
}

/// No label is hidden.
pub(crate) fn nothing() -> Hiding {
    Arc::new(|_: &Label| false)
}

/// A partition of the parameters of a text as one of those that its linear process has.
pub(crate) fn of_linear(process: &Process, model: &Model, partition: &Partition) -> Partition {
    let parameters = &model.linear().parameters;
    let slot = |&place: &usize| parameters.iter().position(|known| known.source == process.parameters[place].0);
    partition.iter().map(|part| part.iter().filter_map(slot).collect()).collect()
}
