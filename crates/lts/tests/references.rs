//! References against brute force: random groups act on nested sets and sequences of points, every element is applied to every state, and
//! drawings are compared as trees.

use std::collections::{BTreeMap, BTreeSet};

use trefoil_control::Control;
use trefoil_lts::random::Random;
use trefoil_lts::references::{Map, References, Refusal};
use trefoil_system::Picture;

type Element = Vec<u32>;

/// Something that a permutation of points acts on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Object {
    Tag(u32),
    Point(u32),
    Sequence(Vec<Object>),
    Set(BTreeSet<Object>),
}

impl Object {
    fn under(&self, element: &Element) -> Object {
        match self {
            Object::Tag(tag) => Object::Tag(*tag),
            Object::Point(point) => Object::Point(element[*point as usize]),
            Object::Sequence(parts) => Object::Sequence(parts.iter().map(|part| part.under(element)).collect()),
            Object::Set(parts) => Object::Set(parts.iter().map(|part| part.under(element)).collect()),
        }
    }

    fn random(points: usize, depth: usize, random: &mut Random) -> Object {
        match random.below(if depth == 0 { 2 } else { 4 }) {
            0 => Object::Tag(0),
            1 => Object::Point(random.below(points) as u32),
            2 => Object::Sequence((0..random.below(3)).map(|_| Object::random(points, depth - 1, random)).collect()),
            _ => Object::Set((0..random.below(4)).map(|_| Object::random(points, depth - 1, random)).collect()),
        }
    }
}

fn shuffled(count: usize, random: &mut Random) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..count as u32).collect();
    for place in (1..count).rev() {
        numbers.swap(place, random.below(place + 1));
    }
    numbers
}

/// Generators of a random group: symmetric on parts, rings, blocks that are exchanged, or anything.
fn generators(points: usize, random: &mut Random) -> Vec<Element> {
    let identity: Element = (0..points as u32).collect();
    let names = shuffled(points, random);
    let cycle = |members: &[u32]| {
        let mut element = identity.clone();
        for (at, &member) in members.iter().enumerate() {
            element[member as usize] = members[(at + 1) % members.len()];
        }
        element
    };
    match random.below(5) {
        0 => names.windows(2).map(cycle).collect(),
        1 => {
            let (left, right) = names.split_at(random.below(points + 1));
            let parts = [left, right].into_iter().filter(|part| part.len() > 1);
            parts.flat_map(|part| [cycle(&part[..2]), cycle(part)]).collect()
        }
        2 => {
            let mut reversed = identity.clone();
            for (at, &name) in names.iter().enumerate() {
                reversed[name as usize] = names[points - 1 - at];
            }
            if random.chance(50) { vec![cycle(&names)] } else { vec![cycle(&names), reversed] }
        }
        3 => {
            let half = points / 2;
            let mut exchanged = identity.clone();
            for at in 0..half {
                exchanged[names[at] as usize] = names[half + at];
                exchanged[names[half + at] as usize] = names[at];
            }
            let mut all = vec![exchanged];
            all.extend((1..half).map(|at| cycle(&[names[0], names[at]])));
            all
        }
        _ => (0..1 + random.below(2)).map(|_| shuffled(points, random)).collect(),
    }
}

fn elements(points: usize, generators: &[Element]) -> Vec<Element> {
    let mut all = vec![(0..points as u32).collect::<Element>()];
    let mut known: BTreeSet<Element> = all.iter().cloned().collect();
    let mut at = 0;
    while at < all.len() {
        for generator in generators {
            let next: Element = all[at].iter().map(|&point| generator[point as usize]).collect();
            if known.insert(next.clone()) {
                all.push(next);
            }
        }
        at += 1;
    }
    all
}

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

/// A picture with anonymous vertices replaced by what hangs on them.
fn trees(picture: &Picture) -> Vec<String> {
    fn tree(picture: &Picture, vertex: u32) -> String {
        if (vertex as usize) < picture.points() {
            return format!("p{vertex}");
        }
        let edges = picture.edges().iter().filter(|edge| edge.from == vertex);
        let mut below: Vec<String> = edges.map(|edge| format!("{}:{}", edge.label, tree(picture, edge.to))).collect();
        below.sort();
        format!("{}({})", picture.colours()[vertex as usize], below.join(" "))
    }
    let roots = (picture.points() as u32..picture.vertices() as u32)
        .filter(|vertex| picture.edges().iter().all(|edge| edge.to != *vertex));
    let mut all: Vec<String> = roots.map(|root| tree(picture, root)).collect();
    all.sort();
    all
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
        let generators = generators(points, &mut random);
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
            let (drawn, target) = (draw(&picked), trees(&draw(&other)));
            let mut expected = other.clone();
            expected.sort();
            for element in &elements {
                let mut images: Vec<_> = picked.iter().map(|&(m, s)| family.apply(element, m, s)).collect();
                images.sort();
                let mut moved = Picture::default();
                drawn.permuted(element, &mut moved);
                assert_eq!(
                    images == expected,
                    trees(&moved) == target,
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
