//! Which search decides: level by level on all threads, or pair by pair on one.

use trefoil_control::Control;
use trefoil_lts::LazyNormalForm;
use trefoil_symmetry::{Quotient, Strategy};
use trefoil_system::{Cut, Witness};

use crate::acting::{Drawn, ProductAction};
use crate::implementation::{Explicit, Graph, OnTheFly};
use crate::reduction::{self, Unreduced};
use crate::representatives::{self, Searched};
use crate::search::ProductSearch;
use crate::specification::Normalised;
use crate::visited::{Antichain, Everything, Visited};
use crate::{Algorithm, Implementation, Options, Search, Statistics, evidence, parallel};

/// Searches a witness in an implementation.
pub(crate) fn decide(
    specification: &Normalised,
    implementation: Implementation<'_>,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Unreduced> {
    control.progress().begin("checking refinement", 0);
    let normal_form = &specification.normal_form;
    let result = if let Some(strategy) = options.symmetry {
        reduced(specification, implementation, strategy, options, control, statistics)
    } else if level_by_level(specification.algorithm, options) {
        in_levels(specification, implementation, options, control, statistics).map_err(Unreduced::Cut)
    } else {
        let algorithm = specification.algorithm;
        match implementation {
            Implementation::Lts(lts) => {
                on_one_thread(normal_form, &mut Explicit::new(lts), algorithm, options, control, statistics)
            }
            Implementation::System(system) => {
                let graph = &mut OnTheFly::new(system, control)?;
                on_one_thread(normal_form, graph, algorithm, options, control, statistics)
            }
        }
        .map_err(Unreduced::Cut)
    };
    statistics.specification_sets = normal_form.node_count() as u64;
    result
}

/// The engine that explores levels keeps every pair, as a packed row, and gives the same witness on any number of
/// threads.
fn level_by_level(algorithm: Algorithm, options: Options) -> bool {
    algorithm != Algorithm::Antichain && options.search == Search::BreadthFirst
}

/// One thread alone decides three times as fast with numbered states, when the implementation has them. Which witness
/// it finds first is arbitrary, so when there is one, the engine that explores levels searches again, up to that level.
fn in_levels(
    specification: &Normalised,
    implementation: Implementation<'_>,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Cut> {
    if let (Implementation::Lts(lts), 1) = (implementation, options.threads) {
        let mut graph = Explicit::new(lts);
        let (normal_form, mut counted) = (&specification.normal_form, statistics.clone());
        let (everything, model) = (Everything::default(), options.model);
        let found = ProductSearch::new(normal_form, &mut graph, model, everything, None, control, &mut counted)
            .run(options.search);
        if !matches!(found, Ok(Some(_))) {
            *statistics = counted;
            statistics.implementation_states = lts.state_count() as u64;
            return found.map(|_| None);
        }
    }
    on_threads(specification, implementation, options, control, statistics)
}

fn on_threads(
    specification: &Normalised,
    implementation: Implementation<'_>,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Cut> {
    if let Implementation::Lts(lts) = implementation {
        statistics.implementation_states = lts.state_count() as u64;
    }
    let Normalised { normal_form, nodes, .. } = specification;
    let product = parallel::Product::new(normal_form, *nodes, options.model, implementation.system());
    parallel::search(&product, None, options.model, options.threads, control, statistics)
}

/// By the symmetries of the implementation.
fn reduced(
    specification: &Normalised,
    implementation: Implementation<'_>,
    strategy: &'static Strategy,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Unreduced> {
    let system = implementation.system();
    let symmetry = reduction::prepare(reduction::action(system)?, strategy, control, statistics)?;
    let Normalised { normal_form, nodes, .. } = specification;
    let product = parallel::Product::new(normal_form, *nodes, options.model, system);
    let action = reduction::action(system)?;
    let one_thread = specification.algorithm == Algorithm::Antichain || options.search == Search::DepthFirst;
    // Refusal testing meets sets of many states, which are slow to draw: the representative of a pair is that of its
    // implementation, and some orbits have several.
    let drawn = match one_thread || options.model.observes_refusals_on_the_way() {
        true => Drawn::Implementation,
        false => Drawn::Pair,
    };
    let action = ProductAction::new(specification, action, drawn, product.forbidden(), control)?;
    let action = action.map_err(Unreduced::refused)?;
    if one_thread {
        let quotient = Quotient::new(&product, &action, &symmetry, control)?;
        let searched = Searched {
            product: &product,
            implementation: reduction::action(system)?,
            pairs: &action,
            quotient: &quotient,
            symmetry: &symmetry,
        };
        return Ok(if specification.algorithm == Algorithm::Antichain {
            representatives::search(&searched, Antichain::new(0, control)?, options, control, statistics)
        } else {
            representatives::search(&searched, Everything::default(), options, control, statistics)
        }?);
    }
    let quotient = parallel::quotient(&product, &action, &symmetry, drawn, control)?;
    Ok(parallel::search(&product, Some(&quotient), options.model, options.threads, control, statistics)?)
}

fn on_one_thread<G: Graph>(
    normal_form: &LazyNormalForm,
    graph: &mut G,
    algorithm: Algorithm,
    options: Options,
    control: &Control,
    statistics: &mut Statistics,
) -> Result<Option<Witness>, Cut> {
    let result = if algorithm == Algorithm::Antichain {
        let antichain = Antichain::new(graph.state_count(), control)?;
        with(antichain, normal_form, graph, options, control, statistics)
    } else {
        with(Everything::default(), normal_form, graph, options, control, statistics)
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
) -> Result<Option<Witness>, Cut> {
    let mut search = ProductSearch::new(normal_form, graph, options.model, visited, None, control, statistics);
    match search.run(options.search)? {
        Some(found) => evidence::witness(&mut search, found, control).map(Some),
        None => Ok(None),
    }
}
