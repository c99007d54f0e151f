//! Networks that are closed under a group, and whether what is said to act on a network does.

// Each test uses what it needs of it.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::equivalence::{Equivalence, minimise};
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_network::symmetry::{Candidate, Image, NetworkAction, Symmetric};
use trefoil_network::{Component, Format, FormatId, Network, Rule};
use trefoil_system::{Actor, LabelId, Labels, Picture, StateId, System, Value};
use trefoil_testkit::Random;
use trefoil_testkit::permutations::{Element, Object, shown, shuffle};

pub(crate) type Step = (Object, Object, Object, Object);
pub(crate) type NamedRule = (Object, Object, Vec<(Object, Object)>, BTreeSet<Object>, Object);

/// Transitions (component, source, label, target) and rules (format, label, parts, resets, next format), by name.
#[derive(Clone, Default)]
pub(crate) struct Model {
    pub(crate) components: BTreeSet<Object>,
    pub(crate) steps: BTreeSet<Step>,
    pub(crate) rules: BTreeSet<NamedRule>,
}

const START: Object = Object::Tag(0);

impl Model {
    /// A random model that is closed under the elements.
    pub(crate) fn random(points: usize, elements: &[Element], random: &mut Random) -> Model {
        let kinds: Vec<Object> = (0..1 + random.below(3) as u32)
            .map(|tag| match random.below(4) {
                0 => Object::Tag(tag),
                1 | 2 => Object::Sequence(vec![Object::Tag(tag), Object::Point(random.below(points) as u32)]),
                _ => Object::Sequence(vec![Object::Tag(tag), Object::random(points, 1, random)]),
            })
            .collect();
        let labels: Vec<Object> = (0..1 + random.below(3)).map(|_| Object::random(points, 1, random)).collect();
        let mut model = Model::default();
        for kind in &kinds {
            model.components.extend(elements.iter().map(|element| kind.under(element)));
            let mut states = vec![START];
            for _ in 0..2 + random.below(4) {
                let source = states[random.below(states.len())].clone();
                let label = labels[random.below(labels.len())].under(&elements[random.below(elements.len())]);
                let target = if random.chance(60) { Object::random(points, 1, random) } else { START };
                let all = elements.iter().map(|element| {
                    (kind.under(element), source.under(element), label.under(element), target.under(element))
                });
                model.steps.extend(all);
                states.push(target);
            }
        }
        let mut formats = vec![START];
        if random.chance(50) {
            formats.push(Object::random(points, 1, random));
        }
        let steps: Vec<Step> = model.steps.iter().cloned().collect();
        let components: Vec<Object> = model.components.iter().cloned().collect();
        for _ in 0..2 + random.below(3) {
            let mut parts: BTreeMap<Object, Object> = BTreeMap::new();
            for _ in 0..1 + random.below(2) {
                let (component, _, label, _) = &steps[random.below(steps.len())];
                parts.insert(component.clone(), label.clone());
            }
            let label = match random.below(3) {
                0 => Object::Tag(77),
                1 => parts.values().next().cloned().unwrap_or(START),
                _ => Object::random(points, 1, random),
            };
            let mut resets = BTreeSet::new();
            if random.chance(20) {
                resets.insert(components[random.below(components.len())].clone());
            }
            let format = formats[random.below(formats.len())].clone();
            let next = formats[random.below(formats.len())].clone();
            for element in elements {
                let parts = parts.iter().map(|(part, label)| (part.under(element), label.under(element)));
                let parts: BTreeMap<Object, Object> = parts.collect();
                let resets = resets.iter().map(|component| component.under(element)).collect();
                let rule = (
                    format.under(element),
                    label.under(element),
                    parts.into_iter().collect(),
                    resets,
                    next.under(element),
                );
                model.rules.insert(rule);
            }
        }
        model
    }

    fn label(&self, labels: &Labels, name: &Object) -> LabelId {
        if *name == Object::Tag(77) { LabelId::TAU } else { labels.name(&format!("{name:?}")) }
    }

    fn label_names(&self) -> BTreeSet<Object> {
        let steps = self.steps.iter().map(|step| &step.2);
        let rules = self.rules.iter().flat_map(|rule| rule.2.iter().map(|part| &part.1).chain([&rule.1]));
        steps.chain(rules).filter(|name| **name != Object::Tag(77)).cloned().collect()
    }

    pub(crate) fn candidate(&self, labels: &Labels, element: &Element) -> Candidate {
        let mut images: Vec<LabelId> = (0..labels.len() as u32).map(LabelId).collect();
        for name in self.label_names() {
            images[self.label(labels, &name).index()] = self.label(labels, &name.under(element));
        }
        Candidate { points: element.clone(), labels: images }
    }

    /// The points that each label mentions, from left to right.
    pub(crate) fn mentions(&self, labels: &Labels) -> BTreeMap<LabelId, Vec<u32>> {
        fn points(object: &Object, found: &mut Vec<u32>) {
            match object {
                Object::Tag(_) => {}
                Object::Point(point) => found.push(*point),
                Object::Sequence(parts) => parts.iter().for_each(|part| points(part, found)),
                Object::Set(parts) => parts.iter().for_each(|part| points(part, found)),
            }
        }
        let mentioned = |name: Object| {
            let mut found = Vec::new();
            points(&name, &mut found);
            (self.label(labels, &name), found)
        };
        self.label_names().into_iter().map(mentioned).collect()
    }

    /// The network, with everything numbered at random, and with minimal machines or not.
    pub(crate) fn network(&self, labels: &Arc<Labels>, minimal: bool, random: &mut Random) -> Network {
        for name in self.label_names() {
            self.label(labels, &name);
        }
        let mut order: Vec<&Object> = self.components.iter().collect();
        shuffle(&mut order, random);
        let number = |name: &Object| order.iter().position(|known| *known == name).expect("a component");
        let machine = |name: &&Object| -> Lts {
            let steps: Vec<&Step> = self.steps.iter().filter(|step| step.0 == **name).collect();
            let mut states: BTreeSet<&Object> = steps.iter().flat_map(|step| [&step.1, &step.3]).collect();
            states.insert(&START);
            let mut states: Vec<&Object> = states.into_iter().collect();
            shuffle(&mut states, random);
            let place =
                |name: &Object| StateId(states.iter().position(|known| *known == name).expect("a state") as u32);
            let mut builder = LtsBuilder::new(labels.clone());
            builder.at_least(states.len() as u32);
            for (_, source, label, target) in steps {
                builder.add(place(source), self.label(labels, label), place(target));
            }
            let lts = builder.build(place(&START));
            if minimal { minimise(&lts, Equivalence::Strong, &Control::unlimited()).expect("small").lts } else { lts }
        };
        let machines: Vec<Arc<Lts>> = order.iter().map(machine).map(Arc::new).collect();
        let components =
            order.iter().zip(machines).map(|(name, lts)| Component::new(format!("{name:?}"), lts)).collect();
        let formats: BTreeSet<&Object> =
            self.rules.iter().flat_map(|rule| [&rule.0, &rule.4]).chain([&START]).collect();
        let mut formats: Vec<&Object> = formats.into_iter().collect();
        shuffle(&mut formats, random);
        let format_number =
            |name: &Object| FormatId(formats.iter().position(|known| *known == name).expect("a format") as u32);
        let rules_of = |format: &&Object| {
            let rules = self.rules.iter().filter(|rule| rule.0 == **format);
            let rule = |(_, label, parts, resets, next): &NamedRule| {
                let parts = parts.iter().map(|(part, label)| (number(part), self.label(labels, label)));
                Rule::new(parts, self.label(labels, label))
                    .with_resets(resets.iter().map(number))
                    .to(format_number(next))
            };
            Format { name: format!("{format:?}"), rules: rules.map(rule).collect() }
        };
        let all = formats.iter().map(rules_of).collect();
        Network::with_formats(labels.clone(), components, all, format_number(&START)).expect("small")
    }
}

pub(crate) fn successors(system: &dyn System, row: &[Value]) -> Vec<(LabelId, Vec<Value>)> {
    let mut found = Vec::new();
    let walk = system.explorer(&Control::unlimited()).successors(row, &mut |step| {
        found.push((step.label, step.row.to_vec()));
        Ok(())
    });
    assert_eq!(walk, Ok(()));
    found.sort();
    found
}

/// Some reachable rows.
pub(crate) fn rows(system: &dyn System, most: usize) -> Vec<Vec<Value>> {
    let mut rows = vec![system.initial(&Control::unlimited()).expect("nothing stops it")];
    let mut known: BTreeSet<Vec<Value>> = rows.iter().cloned().collect();
    let mut at = 0;
    while at < rows.len() && rows.len() < most {
        for (_, next) in successors(system, &rows[at].clone()) {
            if known.insert(next.clone()) {
                rows.push(next);
            }
        }
        at += 1;
    }
    rows
}

/// A picture is what its slots draw, some of them and the others.
fn check_slots(actor: &mut dyn Actor, row: &[Value], drawn: &Picture, some: usize) {
    let slots: Vec<u32> = (0..row.len() as u32).collect();
    let (mut all, mut first, mut second) = (Picture::default(), Picture::default(), Picture::default());
    if !actor.draw_slots(row, &slots, &mut all) {
        return;
    }
    assert_eq!(shown(&all), shown(drawn), "{row:?}");
    assert!(actor.draw_slots(row, &slots[..some], &mut first) && actor.draw_slots(row, &slots[some..], &mut second));
    let sums = first.colours().iter().zip(second.colours()).map(|(one, other)| one + other);
    let sums: Vec<u32> = sums.take(drawn.points()).collect();
    assert_eq!(sums, drawn.colours()[..drawn.points()], "{row:?}");
    assert_eq!(first.edges().len() + second.edges().len(), drawn.edges().len(), "{row:?}");
}

/// Applying elements to rows commutes with taking steps, is an action, and agrees with the pictures.
pub(crate) fn check_action(system: &Symmetric, elements: &[Element], random: &mut Random, what: &str) {
    let action = system.action().expect("it has one");
    let control = Control::unlimited();
    let mut actor = action.actor(&control);
    let rows = rows(system, 40);
    let width = rows[0].len();
    let mut apply = |element: &Element, row: &[Value]| {
        let mut into = vec![Value::MAX; width];
        actor.apply(element, row, &mut into).expect("nothing cuts it");
        into
    };
    for element in elements {
        assert_eq!(apply(element, &rows[0]), rows[0], "{what}: the initial row is fixed");
    }
    let mut actor = action.actor(&control);
    for (at, row) in rows.iter().enumerate() {
        let element = &elements[random.below(elements.len())];
        let other = &elements[random.below(elements.len())];
        let image = apply(element, row);
        let mut expected: Vec<(LabelId, Vec<Value>)> = successors(system, row)
            .into_iter()
            .map(|(label, next)| (actor.apply_to_label(element, label), apply(element, &next)))
            .collect();
        expected.sort();
        assert_eq!(successors(system, &image), expected, "{what}: row {row:?} under {element:?}");
        let product: Element = element.iter().map(|&point| other[point as usize]).collect();
        assert_eq!(apply(&product, row), apply(other, &image), "{what}: an action");
        // Pictures tell exactly which elements carry one row to another.
        let target = if at % 2 == 0 { image } else { rows[random.below(rows.len())].clone() };
        let (mut drawn, mut drawn_target, mut moved) = (Picture::default(), Picture::default(), Picture::default());
        actor.picture(row, &mut drawn);
        actor.picture(&target, &mut drawn_target);
        check_slots(&mut *actor, row, &drawn, at % (width + 1));
        for (point, &colour) in (0..).zip(&drawn.colours()[..drawn.points()]) {
            assert!(action.colours(point).is_none_or(|most| colour < most), "{what}: point {point} of {row:?}");
        }
        let drawn_target = shown(&drawn_target);
        for element in elements {
            drawn.permuted(element, &mut moved);
            let (carries, pictures) = (apply(element, row) == target, shown(&moved) == drawn_target);
            assert_eq!(carries, pictures, "{what}: {row:?} to {target:?} under {element:?}");
        }
    }
}

pub(crate) fn action_of(network: &Arc<Network>, points: usize, proved: &[(Candidate, Image)]) -> Option<Symmetric> {
    let names = (0..points).map(|point| format!("v{point}")).collect();
    let action = NetworkAction::new(network, names, proved, &Control::unlimited()).expect("no budget");
    match action {
        Ok(action) => Some(Symmetric::new(network.clone(), action)),
        Err(refusal) => {
            println!("{refusal}");
            None
        }
    }
}

/// Clients that ask a server, each with its own label.
pub(crate) fn clients(count: u32, favoured: Option<u32>) -> (Arc<Labels>, Network, Candidate) {
    let labels = Arc::new(Labels::new());
    let ask: Vec<LabelId> = (0..count).map(|client| labels.name(&format!("ask.{client}"))).collect();
    let done: Vec<LabelId> = (0..count).map(|client| labels.name(&format!("done.{client}"))).collect();
    let mut server = LtsBuilder::new(labels.clone());
    let mut components = Vec::new();
    let mut rules = Vec::new();
    for client in 0..count as usize {
        server.add(StateId(0), ask[client], StateId(1 + client as u32));
        if favoured != Some(client as u32) {
            server.add(StateId(1 + client as u32), done[client], StateId(0));
        }
        let mut builder = LtsBuilder::new(labels.clone());
        builder.add(StateId(0), ask[client], StateId(1)).add(StateId(1), done[client], StateId(0));
        components.push(Component::new(format!("Client.{client}"), Arc::new(builder.build(StateId(0)))));
        for label in [ask[client], done[client]] {
            rules.push(Rule::new([(client, label), (count as usize, label)], label));
        }
    }
    components.push(Component::new("Server", Arc::new(server.build(StateId(0)))));
    let network = Network::new(labels.clone(), components, rules).expect("small");
    let mut images: Vec<LabelId> = (0..labels.len() as u32).map(LabelId).collect();
    for pair in [&ask, &done] {
        images[pair[0].index()] = pair[1];
        images[pair[1].index()] = pair[0];
    }
    let mut points: Vec<u32> = (0..count).collect();
    points.swap(0, 1);
    (labels, network, Candidate { points, labels: images })
}
