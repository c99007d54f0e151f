//! The examples of the papers, by their numbers.

mod support;

use std::collections::BTreeSet;

use support::*;
use trefoil_control::Control;
use trefoil_groups::{Permutation, PermutationGroup};
use trefoil_system::Picture;

/// Every representative that a strategy gives to the states of an orbit.
fn representatives(group: &PermutationGroup, strategy: &str, picture: &Picture) -> BTreeSet<Form> {
    let control = Control::unlimited();
    let symmetry = prepared(group, strategy).expect("the strategy suits the group");
    let mut canoniser = symmetry.canoniser(&control);
    let orbit: BTreeSet<Form> = group.elements().map(|element| form(&permuted(picture, element.images()))).collect();
    orbit
        .into_iter()
        .map(|(colours, edges)| {
            let mut state = Picture::new(picture.points());
            (0..picture.points()).for_each(|point| state.set_colour(point as u32, colours[point]));
            colours[picture.points()..].iter().for_each(|&colour| {
                state.add_vertex(colour);
            });
            edges.iter().for_each(|&[from, label, to]| state.add_edge(from, to, label));
            let found = canoniser.representative(&state).expect("nothing stops it");
            form(&permuted(&state, found.element))
        })
        .collect()
}

/// A state of `n` components with a control state and one reference each, 0 being none, in the order of Donaldson and
/// Miller: `(l1, r1, l2, r2, …)`.
fn components(state: &[u32]) -> Picture {
    let mut picture = Picture::new(state.len() / 2);
    for (component, pair) in (0..).zip(state.chunks(2)) {
        picture.set_colour(component, pair[0]);
        if pair[1] > 0 {
            picture.add_edge(component, pair[1] - 1, 0);
        }
    }
    picture
}

fn state_of(picture: &Picture) -> Vec<u32> {
    let mut state: Vec<u32> = picture.colours().iter().flat_map(|&colour| [colour, 0]).collect();
    picture.edges().iter().for_each(|edge| state[2 * edge.from as usize + 1] = edge.to + 1);
    state
}

/// Control part, then references.
fn rank(state: &[u32]) -> (Vec<u32>, Vec<u32>) {
    (state.iter().copied().step_by(2).collect(), state.iter().copied().skip(1).step_by(2).collect())
}

fn apply(text: &str, state: &[u32]) -> Vec<u32> {
    let element = Permutation::parse(text, state.len() / 2).expect("the notation is right");
    state_of(&permuted(&components(state), element.images()))
}

/// Donaldson and Miller, 2007, section 3.2.
#[test]
fn a_permutation_moves_components_and_references() {
    assert_eq!(apply("(3,4)", &[1, 4, 2, 3, 0, 0, 0, 4]), [1, 3, 2, 4, 0, 3, 0, 0]);
}

/// Donaldson and Miller, 2007: sorting is not enough when there are references.
#[test]
fn lemma_4_4() {
    let state = [1, 0, 0, 2, 0, 2];
    assert_eq!(apply("(1,3)", &state), [0, 2, 0, 2, 1, 0]);
    assert!(rank(&apply("(1,3)", &state)) < rank(&state));
    assert!(rank(&apply("(2,3)", &state)) > rank(&state));
    let product = apply("(1,3)", &apply("(2,3)", &state));
    assert_eq!(product, [0, 1, 0, 1, 1, 0]);
    assert!(rank(&product) < rank(&apply("(1,3)", &state)));

    let control = Control::unlimited();
    let group = generate(3, &symmetric_on(3, &[&[0, 1, 2]]));
    let picture = components(&state);
    let image = |strategy: &str| {
        let symmetry = prepared(&group, strategy).expect("the strategy suits the group");
        let mut canoniser = symmetry.canoniser(&control);
        state_of(&permuted(&picture, canoniser.representative(&picture).expect("nothing stops it").element))
    };
    // Algorithm 2 ends at (1 3), where no single swap helps; the others find the least state.
    assert_eq!(image("fast"), [0, 2, 0, 2, 1, 0]);
    for strategy in ["enumerate", "segmented", "stabiliser"] {
        assert_eq!(image(strategy), [0, 1, 0, 1, 1, 0], "{strategy}");
    }
    assert!(representatives(&group, "fast", &picture).len() > 1);
    for strategy in ["enumerate", "segmented", "stabiliser", "canonical", "auto"] {
        assert_eq!(representatives(&group, strategy, &picture).len(), 1, "{strategy}");
    }
}

/// Donaldson and Miller, 2007, the example after theorem 5.5.
#[test]
fn segmentation_by_a_partition_stabiliser() {
    let control = Control::unlimited();
    let group = generate(4, &symmetric_on(4, &[&[0, 1, 2, 3]]));
    let symmetry = prepared(&group, "stabiliser").expect("any group");
    let picture = components(&[1, 2, 0, 1, 0, 1, 2, 1]);
    let mut canoniser = symmetry.canoniser(&control);
    let found = canoniser.representative(&picture).expect("nothing stops it");
    assert_eq!(state_of(&permuted(&picture, found.element)), [0, 3, 0, 3, 1, 1, 2, 3]);
    assert_eq!(found.stabiliser, Some(1u8.into()));
}

const FREE: u32 = 0;
const NODE: u32 = 1;
const LAST: u32 = 2;

/// A node process of Gibson-Robinson and Lowe, 2019, is drawn at its identity, which is a point; its datum and its
/// successor are edges. Data are the points after the nodes.
fn nodes(count: usize, data: usize, all: &[(u32, u32, Option<u32>)]) -> Picture {
    let mut picture = Picture::new(count + data);
    for &(me, datum, next) in all {
        picture.set_colour(me, if next.is_some() { NODE } else { LAST });
        picture.add_edge(me, count as u32 + datum, 0);
        if let Some(next) = next {
            picture.add_edge(me, next, 1);
        }
    }
    (0..data).for_each(|datum| picture.set_colour((count + datum) as u32, FREE));
    picture
}

fn nodes_and_data(nodes: u32, data: u32) -> PermutationGroup {
    let (identities, values): (Vec<u32>, Vec<u32>) = ((0..nodes).collect(), (nodes..nodes + data).collect());
    generate((nodes + data) as usize, &symmetric_on((nodes + data) as usize, &[&identities, &values]))
}

/// A linked list of four nodes with one datum, and two free nodes: refinement decides everything but the free nodes.
#[test]
fn example_37() {
    let b = 1;
    let picture = nodes(6, 4, &[(0, b, Some(4)), (1, b, Some(0)), (3, b, Some(1)), (4, b, None)]);
    let group = nodes_and_data(6, 4);
    for strategy in ["ordering", "canonical", "auto"] {
        assert_eq!(representatives(&group, strategy, &picture).len(), 1, "{strategy}");
    }
    assert!(representatives(&group, "sorted", &picture).len() > 1);
    let control = Control::unlimited();
    let symmetry = prepared(&group, "canonical").expect("any group");
    let mut canoniser = symmetry.canoniser(&control);
    // The two free nodes and the three unused data can be exchanged.
    let found = canoniser.representative(&picture).expect("nothing stops it");
    assert_eq!(found.stabiliser, Some(12u8.into()));
}

/// A ring with data A, A, B, B: `ordering` has two outcomes.
#[test]
fn example_43() {
    let (a, b) = (0, 1);
    let picture = nodes(4, 2, &[(0, a, Some(1)), (1, a, Some(2)), (2, b, Some(3)), (3, b, Some(0))]);
    let group = nodes_and_data(4, 2);
    assert_eq!(representatives(&group, "ordering", &picture).len(), 2);
    for strategy in ["canonical", "auto", "segmented", "stabiliser", "enumerate"] {
        assert_eq!(representatives(&group, strategy, &picture).len(), 1, "{strategy}");
    }
    // Data in turn, and different numbers of them, leave no choice that matters.
    let in_turn = nodes(4, 2, &[(0, a, Some(1)), (1, b, Some(2)), (2, a, Some(3)), (3, b, Some(0))]);
    let three = nodes(4, 2, &[(0, a, Some(1)), (1, a, Some(2)), (2, a, Some(3)), (3, b, Some(0))]);
    for picture in [in_turn, three] {
        assert_eq!(representatives(&group, "ordering", &picture).len(), 1);
    }
}

/// Seven nodes in three columns: four leaves with data B, A, B, A, two nodes with B and A, and a root with C; and six
/// nodes in three lists of two. A leaf has the datum of its successor or not, which refinement does not see.
#[test]
fn example_52() {
    let (a, b, c) = (0, 1, 2);
    let leaves = [(0, b, Some(4)), (1, a, Some(4)), (2, b, Some(5)), (3, a, Some(5))];
    let others = [(4, b, Some(6)), (5, a, Some(6)), (6, c, None)];
    let mut seven = nodes(7, 3, &[&leaves[..], &others[..]].concat());
    // Refinement finds the columns; as colours they are also in the order of the paper, so that leaves are split first.
    (0..4).for_each(|leaf| seven.set_colour(leaf, FREE));
    let firsts = [(0, a, Some(3)), (1, b, Some(4)), (2, c, Some(5))];
    let seconds = [(3, a, None), (4, c, None), (5, b, None)];
    let six = nodes(6, 3, &[&firsts[..], &seconds[..]].concat());
    for (count, picture) in [(7, seven), (6, six)] {
        let group = nodes_and_data(count, 3);
        assert!(representatives(&group, "ordering", &picture).len() > 1, "{count} nodes");
        assert_eq!(representatives(&group, "canonical", &picture).len(), 1, "{count} nodes");
    }
}
