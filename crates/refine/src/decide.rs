//! Which search answers: one thread or several, an antichain or all pairs.

use trefoil_control::{Control, Stopped};
use trefoil_lts::LazyNormalForm;
use trefoil_lts::divergence::diverging_states;
use trefoil_system::{Model, Observations, Witness};

use crate::implementation::{Explicit, Graph, OnTheFly};
use crate::search::ProductSearch;
use crate::visited::{Antichain, Everything, Visited};
use crate::{Algorithm, Implementation, Options, Search, Statistics, evidence, parallel};

/// Looks for a witness in an implementation.
pub(crate) fn decide(
    normal_form: &LazyNormalForm,
    implementation: Implementation<'_>,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Stopped> {
    control.progress().begin("refinement", 0);
    let result = if in_parallel(implementation, options) {
        on_threads(normal_form, implementation, options, control, statistics)
    } else {
        match implementation {
            Implementation::Lts(lts) => {
                on_one_thread(normal_form, &mut Explicit::new(lts), options, control, statistics)
            }
            Implementation::System(system) => {
                on_one_thread(normal_form, &mut OnTheFly::new(system, control)?, options, control, statistics)
            }
        }
    };
    statistics.specification_sets = normal_form.node_count() as u64;
    result
}

/// Several threads need an engine that sees all pairs level by level, and divergence known without looking ahead.
fn in_parallel(implementation: Implementation<'_>, options: Options) -> bool {
    let divergence_is_known =
        matches!(implementation, Implementation::Lts(_)) || options.model != Model::FailuresDivergences;
    options.threads != 1
        && options.algorithm != Algorithm::Antichain
        && options.search == Search::BreadthFirst
        && divergence_is_known
        && implementation.system().observations() == Observations::FromTransitions
}

fn on_threads(
    normal_form: &LazyNormalForm,
    implementation: Implementation<'_>,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Stopped> {
    let explicit = match implementation {
        Implementation::Lts(lts) => Some(lts),
        Implementation::System(_) => None,
    };
    statistics.implementation_states = explicit.map_or(0, |lts| lts.state_count() as u64);
    let diverging = match explicit {
        Some(lts) if options.model == Model::FailuresDivergences => diverging_states(lts, control)?,
        _ => Vec::new(),
    };
    let product = parallel::Product::new(normal_form, implementation.system(), control);
    match parallel::search(&product, options.model, &diverging, options.threads, statistics)? {
        Some(path) => parallel::witness(&product, path, options.model, explicit).map(Some),
        None => Ok(None),
    }
}

fn on_one_thread<G: Graph>(
    normal_form: &LazyNormalForm,
    graph: &mut G,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Stopped> {
    let result = match options.algorithm {
        Algorithm::Antichain => {
            let antichain = Antichain::new(graph.state_count(), control)?;
            with(antichain, normal_form, graph, options, control, statistics)
        }
        Algorithm::NormalForm | Algorithm::LazyNormalForm => {
            with(Everything::default(), normal_form, graph, options, control, statistics)
        }
    };
    statistics.implementation_states = graph.state_count() as u64;
    result
}

fn with<G: Graph, V: Visited>(
    visited: V,
    normal_form: &LazyNormalForm,
    graph: &mut G,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Stopped> {
    let mut search = ProductSearch::new(normal_form, graph, options.model, visited, control, statistics);
    match search.run(options.search)? {
        Some(found) => evidence::witness(&mut search, found, control).map(Some),
        None => Ok(None),
    }
}
