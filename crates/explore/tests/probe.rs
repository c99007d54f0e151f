//! Searches that keep no states: never more than there is, all of it when the table is large, and runs that are real
//! and shortest.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_explore::{Finding, ProbeEnd, Sighting, Traces, probe};
use trefoil_lts::Lts;
use trefoil_system::replay::replay_path;
use trefoil_system::{Labels, StateId, System};
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

fn random_system(random: &mut Random) -> Lts {
    let labels = Arc::new(Labels::new());
    let states = 2 + random.below(400) as u32;
    let shape = RandomShape { states, transitions: 2 * states as usize, labels: 3, tau_percent: 20 };
    random_lts(&labels, shape, random)
}

/// The distance of every state that is reachable, straight from the definition.
fn distances(lts: &Lts) -> Vec<Option<u32>> {
    let control = Control::unlimited();
    let mut known = vec![None; lts.state_count()];
    let mut explorer = lts.explorer(&control);
    let mut level = vec![lts.initial()];
    known[lts.initial().index()] = Some(0);
    let mut distance = 0;
    while !level.is_empty() {
        distance += 1;
        let mut next = Vec::new();
        for state in level {
            let walk = explorer.successors(&[state.0], &mut |step| {
                let target = &mut known[step.row[0] as usize];
                if target.is_none() {
                    *target = Some(distance);
                    next.push(StateId(step.row[0]));
                }
                Ok(())
            });
            assert_eq!(walk, Ok(()));
        }
        level = next;
    }
    known
}

#[test]
fn large_tables_find_everything_and_small_ones_no_more() {
    let seed = seed();
    let control = Control::unlimited();
    for case in 0..60 {
        let lts = random_system(&mut Random::new(seed.wrapping_add(case)));
        let expected = distances(&lts);
        let reachable = expected.iter().flatten().count() as u64;
        for traces in [Traces::HashCompact, Traces::Bitstate { bytes: 1 << 20 }] {
            let mut visited = vec![0; expected.len()];
            let found = probe(&lts, traces, &control, &mut |state: &Sighting<'_>| {
                visited[state.row[0] as usize] += 1;
                assert_eq!(expected[state.row[0] as usize], Some(state.distance), "TREFOIL_SEED={seed}, case {case}");
                Finding::Nothing
            });
            assert_eq!((found.end, found.states), (ProbeEnd::Exhausted, reachable), "TREFOIL_SEED={seed}, case {case}");
            assert!(visited.iter().all(|&times| times <= 1));
            assert_eq!(Some(found.depth), expected.iter().flatten().max().copied());
            assert!(found.coverage.expected_omissions < 0.01, "{:?}", found.coverage);
        }
        let small = Traces::Bitstate { bytes: 16 };
        let mut visited = vec![0; expected.len()];
        let found = probe(&lts, small, &control, &mut |state: &Sighting<'_>| {
            visited[state.row[0] as usize] += 1;
            Finding::Nothing
        });
        assert!(visited.iter().all(|&times| times <= 1) && found.states <= reachable);
        assert!(reachable < 120 || found.coverage.expected_omissions > 1.0, "{:?}", found.coverage);
    }
}

#[test]
fn runs_are_real_and_as_short_as_the_state_is_far() {
    let seed = seed();
    let control = Control::unlimited();
    for case in 0..40 {
        let lts = random_system(&mut Random::new(seed.wrapping_add(500 + case)));
        let expected = distances(&lts);
        for traces in [Traces::HashCompact, Traces::Bitstate { bytes: 1 << 16 }, Traces::Bitstate { bytes: 16 }] {
            let mut numbers = Vec::new();
            let found = probe(&lts, traces, &control, &mut |state: &Sighting<'_>| {
                numbers.push((state.number, state.row[0], state.distance));
                Finding::Nothing
            });
            for &(number, state, distance) in numbers.iter().step_by(7) {
                let path = found.path(&lts, number, &control).expect("no budget");
                assert_eq!(path.last(), &[state][..], "TREFOIL_SEED={seed}, case {case}");
                assert_eq!(path.steps.len(), distance as usize);
                assert!(distance >= expected[state as usize].expect("it is reachable"));
                assert_eq!(replay_path(&lts, &path, &control), Ok(()));
            }
        }
    }
}

#[test]
fn a_search_ends_where_its_observer_says_so() {
    let lts = random_system(&mut Random::new(7));
    let control = Control::unlimited();
    let mut looked = 0;
    let found = probe(&lts, Traces::HashCompact, &control, &mut |_: &Sighting<'_>| {
        looked += 1;
        if looked == 2 { Finding::State } else { Finding::Nothing }
    });
    assert_eq!((found.end, looked), (ProbeEnd::Found, 2));
    control.cancel();
    let stopped = probe(&lts, Traces::HashCompact, &control, &mut |_: &Sighting<'_>| Finding::Nothing);
    assert!(matches!(stopped.end, ProbeEnd::Cut(_)));
}
