//! Components that do the same and can be exchanged, labels staying what they are.
//!
//! Two components can be exchanged when they are the same machine up to the numbers of states and the exchange carries rules to
//! rules, all others staying in place. That is an equivalence: exchanging `a` with `c` is exchanging `a` with `b`, `b` with `c` and
//! `a` with `b` again. So a component is compared with one of each class. Only the rules that name one of the two
//! need be looked at.
//!
//! An exchange permutes no value, so the components themselves are points. Symmetries of values carry such components to such
//! components, and [`Exchanges::join`] makes one list of generators of both.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::LabelId;

use super::leaves::LAZY;
use super::{Candidate, Image, Prover};

/// The classes of components that can be exchanged.
pub struct Exchanges {
    /// Those with more than one component, each ascending.
    pub classes: Vec<Vec<u32>>,
    /// For each class the exchanges of its first component with each other one.
    images: Vec<Vec<Image>>,
}

impl Exchanges {
    /// Adds the components as points to symmetries of values, after the points that are there, and the exchanges as generators. Points
    /// are called by what `name` says of a component.
    pub fn join(
        &self,
        mut names: Vec<String>,
        generators: Vec<(Candidate, Image)>,
        name: impl Fn(u32) -> String,
    ) -> (Vec<String>, Vec<(Candidate, Image)>) {
        let added: Vec<u32> = self.classes.concat();
        let exchanges = self.images.concat().into_iter().map(|image| {
            let points = (0..names.len() as u32).collect();
            (Candidate { points, labels: Vec::new() }, image)
        });
        let all: Vec<(Candidate, Image)> = generators.into_iter().chain(exchanges).collect();
        let all = with_components(&all, &added, names.len());
        names.extend(added.iter().map(|&component| name(component)));
        (names, all)
    }
}

/// The same generators with some components as further points, after the first ones. They carry these components to each other.
pub(super) fn with_components(
    generators: &[(Candidate, Image)],
    components: &[u32],
    points: usize,
) -> Vec<(Candidate, Image)> {
    let place: HashMap<u32, u32> = components.iter().copied().zip(points as u32..).collect();
    let extended = |(candidate, image): &(Candidate, Image)| {
        let mut candidate = candidate.clone();
        let to = |&component: &u32| {
            let to = image.components[component as usize];
            place.get(&to).copied().unwrap_or(u32::MAX)
        };
        candidate.points.extend(components.iter().map(to));
        (candidate, image.clone())
    };
    generators.iter().map(extended).collect()
}

impl Prover<'_> {
    /// The components that can be exchanged.
    pub fn exchangeable(&self, control: &Control) -> Result<Exchanges, Stopped> {
        let mut exchanges = Exchanges { classes: Vec::new(), images: Vec::new() };
        if self.layers(&[]).is_some() {
            return Ok(exchanges);
        }
        let fixed: &[LabelId] = &[];
        let mut matching = self.leaves.matching(fixed, control)?;
        let machine = |component: usize| self.leaves.machine_of[component];
        let rules_of = self.book.rules_by_component(self.leaves.machine_of.len());
        // Components by what can be told at once.
        let mut kinds: HashMap<(u32, usize), Vec<usize>> = HashMap::new();
        for component in 0..self.leaves.machine_of.len() {
            if machine(component) != LAZY {
                let kind = (matching.own[machine(component) as usize], rules_of[component].len());
                kinds.entry(kind).or_default().push(component);
            }
        }
        let mut kinds: Vec<Vec<usize>> = kinds.into_values().filter(|members| members.len() > 1).collect();
        kinds.sort_unstable();
        for members in kinds {
            let mut classes: Vec<(Vec<u32>, Vec<Image>)> = Vec::new();
            for member in members {
                control.check()?;
                let mut home = None;
                for (number, (class, _)) in classes.iter().enumerate() {
                    let first = class[0] as usize;
                    if self.book.exchanges(first as u32, member as u32, &rules_of) {
                        let there = self.leaves.map(&mut matching, fixed, machine(first), machine(member), control)?;
                        let back = self.leaves.map(&mut matching, fixed, machine(member), machine(first), control)?;
                        home = there.zip(back).map(|maps| (number, self.exchange(first, member, maps)));
                    }
                    if home.is_some() {
                        break;
                    }
                }
                match home {
                    Some((number, image)) => {
                        classes[number].0.push(member as u32);
                        classes[number].1.push(image);
                    }
                    None => classes.push((vec![member as u32], Vec::new())),
                }
            }
            for (class, images) in classes.into_iter().filter(|(class, _)| class.len() > 1) {
                exchanges.classes.push(class);
                exchanges.images.push(images);
            }
        }
        Ok(exchanges)
    }

    fn exchange(&self, one: usize, other: usize, (there, back): (Arc<[u32]>, Arc<[u32]>)) -> Image {
        let mut components: Vec<u32> = (0..self.leaves.machine_of.len() as u32).collect();
        components.swap(one, other);
        let state = |component: usize| (0..self.network.states_of(component) as u32).collect();
        let mut states: Vec<Arc<[u32]>> = (0..components.len()).map(state).collect();
        (states[one], states[other]) = (there, back);
        Image { components, states, formats: (0..self.book.formats as u32).collect(), lazy: self.still() }
    }
}
