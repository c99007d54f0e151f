//! References against brute force: random groups act on nested sets and sequences of points, every element is applied
//! to every state, and drawings are compared as trees.

use std::collections::{BTreeMap, BTreeSet};

use trefoil_control::Control;
use trefoil_lts::references::{Map, References, Refusal};
use trefoil_system::Picture;
use trefoil_testkit::Random;
use trefoil_testkit::permutations::{Element, Object, elements, random_generators, shown, shuffled};

/// Machines and their states as objects, closed under the group.
struct Family {
    machines: Vec<Object>,
    states: Vec<Vec<Object>>,
}

impl Family {
    fn random(points: usize, elements: &[Element], random: &mut Random) -> Family {
        let mut machines: BTreeMap<Object, BTreeSet<Object>> = BTreeMap::new();
        for tag in 0..1 + random.below(3) as u32 {
            let name = match random.below(4) {
                0 => Object::Tag(tag),
                1 => Object::Sequence(vec![Object::Tag(tag), Object::Point(random.below(points) as u32)]),
                _ => Object::Sequence(vec![Object::Tag(tag), Object::random(points, 1, random)]),
            };
            for _ in 0..1 + random.below(4) {
                let state = Object::random(points, 2, random);
                for element in elements {
                    machines.entry(name.under(element)).or_default().insert(state.under(element));
                }
            }
        }
        let mut family = Family { machines: Vec::new(), states: Vec::new() };
        for (machine, states) in machines {
            let states: Vec<Object> = states.into_iter().collect();
            family.machines.push(machine);
            family.states.push(shuffled(states.len(), random).iter().map(|&at| states[at as usize].clone()).collect());
        }
        family
    }

    fn apply(&self, element: &Element, machine: u32, state: u32) -> (u32, u32) {
        let place =
            |objects: &[Object], object: &Object| objects.iter().position(|known| known == object).unwrap() as u32;
        let image = place(&self.machines, &self.machines[machine as usize].under(element));
        let state = self.states[machine as usize][state as usize].under(element);
        (image, place(&self.states[image as usize], &state))
    }

    fn map(&self, element: &Element) -> Map {
        let machines = (0..self.machines.len() as u32).map(|machine| self.apply(element, machine, 0).0).collect();
        let row = |machine: usize| {
            (0..self.states[machine].len() as u32).map(|state| self.apply(element, machine as u32, state).1).collect()
        };
        Map { machines, states: (0..self.machines.len()).map(row).collect() }
    }
}

#[test]
fn references_agree_with_brute_force() {
    let seed = trefoil_testkit::seed();
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let control = Control::unlimited();
    let (mut several, mut blocks) = (0, 0);
    for round in 0..400 {
        let points = 2 + random.below(4);
        let generators = random_generators(points, &mut random);
        let elements = elements(points, &generators);
        let family = Family::random(points, &elements, &mut random);
        let sizes: Vec<usize> = family.states.iter().map(Vec::len).collect();
        let maps: Vec<Map> = generators.iter().map(|generator| family.map(generator)).collect();
        let references = References::new(points, &generators, &sizes, &maps, &control)
            .expect("no budget")
            .unwrap_or_else(|refusal| panic!("seed {seed} round {round}: {refusal}"));
        let pairs: Vec<(u32, u32)> = (0..sizes.len() as u32)
            .flat_map(|machine| (0..sizes[machine as usize] as u32).map(move |state| (machine, state)))
            .collect();
        for &(machine, state) in &pairs {
            let shape = references.shape(machine, state);
            several += usize::from(references.tuples_per_state(shape) > 1);
            blocks += usize::from(references.blocks(shape).windows(2).any(|pair| pair[0] == pair[1]));
            let (orbit, known): (BTreeSet<_>, BTreeSet<_>) = (
                elements.iter().map(|element| family.apply(element, machine, state)).collect(),
                references.members(shape).collect(),
            );
            assert_eq!(orbit, known, "seed {seed} round {round}");
            for element in &elements {
                let image = references.apply(element, machine, state);
                assert_eq!(image, family.apply(element, machine, state), "seed {seed} round {round}");
                let identities = [machine, image.0].map(|machine| references.identity(machine));
                assert_eq!(identities[0].map(|point| element[point as usize]), identities[1]);
            }
        }
        // Some states together, and states of the same shapes.
        for _ in 0..4 {
            let picked: Vec<(u32, u32)> = (0..1 + random.below(3)).map(|_| pairs[random.below(pairs.len())]).collect();
            let alike = random.chance(50);
            let member = |&(machine, state): &(u32, u32)| {
                let shape = references.shape(machine, state);
                let members: Vec<_> = references.members(shape).collect();
                members[random.below(members.len())]
            };
            let other: Vec<(u32, u32)> = if alike {
                picked.iter().map(member).collect()
            } else {
                let element = &elements[random.below(elements.len())];
                picked.iter().map(|&(machine, state)| family.apply(element, machine, state)).collect()
            };
            let draw = |states: &[(u32, u32)]| {
                let mut picture = Picture::new(points);
                states.iter().for_each(|&(machine, state)| references.draw(machine, state, 7, &mut picture));
                picture
            };
            let (drawn, target) = (draw(&picked), shown(&draw(&other)));
            let mut expected = other.clone();
            expected.sort();
            for element in &elements {
                let mut images: Vec<_> = picked.iter().map(|&(m, s)| family.apply(element, m, s)).collect();
                images.sort();
                let mut moved = Picture::default();
                drawn.permuted(element, &mut moved);
                assert_eq!(
                    images == expected,
                    shown(&moved) == target,
                    "seed {seed} round {round}: {picked:?} {other:?}"
                );
            }
        }
    }
    assert!(several > 0 && blocks > 0, "all ways to refer were met");
}

#[test]
fn what_is_no_action_is_refused() {
    let control = Control::unlimited();
    // The exchange of two points, done twice, moves a state.
    let turn = Map { machines: vec![0], states: vec![vec![1, 2, 0]] };
    let refused = References::new(2, &[vec![1, 0]], &[3], std::slice::from_ref(&turn), &control).expect("no budget");
    assert!(matches!(refused.err(), Some(Refusal::Ambiguous { machine: 0, .. })));
    // As a turn of three points it is one.
    let references =
        References::new(3, &[vec![1, 2, 0]], &[3], &[turn], &control).expect("no budget").expect("an action");
    assert_eq!(references.apply(&[2, 0, 1], 0, 0), (0, 2));
    let twice = Map { machines: vec![0], states: vec![vec![1, 1, 0]] };
    let refused = References::new(3, &[vec![1, 2, 0]], &[3], &[twice], &control).expect("no budget");
    assert_eq!(refused.err(), Some(Refusal::NotAPermutation { generator: 0 }));
    // Machines of different sizes are not exchanged.
    let swapped = Map { machines: vec![1, 0], states: vec![vec![0], vec![0, 1]] };
    let refused = References::new(2, &[vec![1, 0]], &[1, 2], &[swapped], &control).expect("no budget");
    assert!(refused.is_err());
}

#[test]
fn large_sets_of_values_are_hashed() {
    // All sets of seven of fourteen points: tuples are sorted, not listed in every order.
    let sets: Vec<u32> = (0..1u32 << 14).filter(|set| set.count_ones() == 7).collect();
    let permuted =
        |set: u32, element: &[u32]| (0..14).filter(|at| set >> at & 1 == 1).fold(0, |all, at| all | 1 << element[at]);
    let place = |set: u32| sets.binary_search(&set).expect("seven points") as u32;
    let swap: Vec<u32> = (0..14).map(|point| [1, 0].get(point as usize).copied().unwrap_or(point)).collect();
    let turn: Vec<u32> = (0..14).map(|point| (point + 1) % 14).collect();
    let map = |element: &[u32]| Map {
        machines: vec![0],
        states: vec![sets.iter().map(|&set| place(permuted(set, element))).collect()],
    };
    let generators = [swap.clone(), turn.clone()];
    let maps = [map(&swap), map(&turn)];
    let control = Control::unlimited();
    let references =
        References::new(14, &generators, &[sets.len()], &maps, &control).expect("no budget").expect("small");
    assert_eq!(references.shapes(), 1);
    assert_eq!(references.blocks(0), [0; 7]);
    let mut random = Random::new(trefoil_testkit::seed());
    for _ in 0..200 {
        let element = shuffled(14, &mut random);
        let set = sets[random.below(sets.len())];
        assert_eq!(references.apply(&element, 0, place(set)), (0, place(permuted(set, &element))));
    }
}
