//! The rules of a network as rows of numbers, and whether a map of components carries rules to rules.
//!
//! Rules that can never be taken, because a participant has no such label, are left out. Formats that cannot be reached
//! by rules from the initial one are left out too, and every map fixes them. What is hidden is a rule's label like any
//! other: where a hidden label came from makes no difference.

use std::collections::HashMap;

use trefoil_control::Stopped;
use trefoil_system::LabelId;

use super::leaves::{in_order, mix};
use super::relabelled;
use crate::network::Network;
use crate::rules::{FormatId, Rule};

/// No further rule.
const NONE: u32 = u32::MAX;

/// A rule as numbers.
pub(super) struct Flat {
    pub(super) format: u32,
    pub(super) label: LabelId,
    pub(super) next: u32,
    pub(super) parts: Vec<(u32, LabelId)>,
    pub(super) resets: Vec<u32>,
    /// A further rule that differs in the next format only.
    more: u32,
}

pub(super) struct Rulebook {
    pub(super) rules: Vec<Flat>,
    pub(super) formats: usize,
    pub(super) initial: u32,
    /// How many rules each format has.
    counts: Vec<u32>,
    /// Rules by all but their next format.
    index: HashMap<Box<[u32]>, u32, foldhash::fast::FixedState>,
}

/// The colours of components and formats on one side of a map.
#[derive(Clone)]
pub(super) struct Colours {
    pub(super) components: Vec<u64>,
    pub(super) formats: Vec<u64>,
}

impl Rulebook {
    pub(super) fn new(network: &Network) -> Rulebook {
        let mut book = Rulebook {
            rules: Vec::new(),
            formats: network.formats().len(),
            initial: network.initial_format().0,
            counts: vec![0; network.formats().len()],
            index: HashMap::default(),
        };
        let possible = |rule: &Rule| rule.parts().all(|(part, label)| network.local(part as u32, label).is_some());
        // Walks the formats that can be reached.
        let mut reached = vec![false; book.formats];
        let mut queue = vec![book.initial];
        reached[book.initial as usize] = true;
        while let Some(format) = queue.pop() {
            for rule in &network.formats()[format as usize].rules {
                if !possible(rule) {
                    continue;
                }
                let FormatId(next) = rule.next();
                if !std::mem::replace(&mut reached[next as usize], true) {
                    queue.push(next);
                }
                book.add(Flat {
                    format,
                    label: rule.label(),
                    next,
                    parts: rule.parts().map(|(part, label)| (part as u32, label)).collect(),
                    resets: rule.resets().map(|component| component as u32).collect(),
                    more: NONE,
                });
            }
        }
        book
    }

    fn add(&mut self, mut rule: Flat) {
        let mut key = Vec::new();
        write_key(&mut key, rule.format, rule.label, &rule.parts, &rule.resets);
        let number = self.rules.len() as u32;
        rule.more = self.index.insert(key.into(), number).unwrap_or(NONE);
        self.counts[rule.format as usize] += 1;
        self.rules.push(rule);
    }

    /// The rules with this key.
    fn find(&self, key: &[u32]) -> impl Iterator<Item = &Flat> + '_ {
        let first = self.index.get(key).copied().unwrap_or(NONE);
        let rule = |number: u32| self.rules.get(number as usize);
        std::iter::successors(rule(first), move |flat| rule(flat.more))
    }

    /// Refines the colours of components and formats by the rules, each rule seen through a renaming of labels.
    pub(super) fn refine(&self, labels: &[LabelId], colours: &mut Colours) {
        let Colours { components, formats } = colours;
        let (mut by_component, mut by_format) = (vec![0u64; components.len()], vec![0u64; formats.len()]);
        for rule in &self.rules {
            let mut digest = mix(u64::from(relabelled(labels, rule.label).0))
                .wrapping_add(mix(formats[rule.format as usize]).wrapping_mul(3))
                .wrapping_add(mix(formats[rule.next as usize]).wrapping_mul(5));
            let part = |&(component, label): &(u32, LabelId)| {
                mix(components[component as usize] ^ mix(u64::from(relabelled(labels, label).0) << 1))
            };
            let reset = |&component: &u32| mix(components[component as usize] ^ 0x5bd1_e995);
            digest = rule.parts.iter().map(part).fold(digest, u64::wrapping_add);
            digest = rule.resets.iter().map(reset).fold(digest, u64::wrapping_add);
            for seen in &rule.parts {
                let place = &mut by_component[seen.0 as usize];
                *place = place.wrapping_add(mix(digest ^ part(seen)));
            }
            for &component in &rule.resets {
                let place = &mut by_component[component as usize];
                *place = place.wrapping_add(mix(digest.wrapping_add(1)));
            }
            let place = &mut by_format[rule.format as usize];
            *place = place.wrapping_add(mix(digest));
            // The formats that lead to a format distinguish it, too.
            let place = &mut by_format[rule.next as usize];
            *place = place.wrapping_add(mix(digest.wrapping_mul(7)));
        }
        for (colour, seen) in components.iter_mut().zip(by_component) {
            *colour = mix(mix(*colour).wrapping_add(seen));
        }
        for (colour, seen) in formats.iter_mut().zip(by_format) {
            *colour = mix(mix(*colour).wrapping_add(seen));
        }
    }

    /// Refines the colours of the images and of the network together until nothing changes.
    pub(super) fn refine_together(
        &self,
        labels: &[LabelId],
        source: &mut Colours,
        target: &mut Colours,
        mut check: impl FnMut() -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let count = |colours: &Colours| distinct(&colours.components) + distinct(&colours.formats);
        let mut before = count(target);
        loop {
            check()?;
            self.refine(labels, source);
            self.refine(&[], target);
            let after = count(target);
            if after == before {
                return Ok(());
            }
            before = after;
        }
    }

    /// The colours of formats before any was refined.
    pub(super) fn first_colours(&self) -> Vec<u64> {
        (0..self.formats as u32).map(|format| u64::from(format == self.initial)).collect()
    }

    /// The colours of the formats' images and of the formats when the components are known.
    fn format_colours(&self, labels: &[LabelId], components: &[u32]) -> (Vec<u64>, Vec<u64>) {
        let formats = self.first_colours();
        let mut source =
            Colours { components: components.iter().map(|&c| u64::from(c)).collect(), formats: formats.clone() };
        let mut target = Colours { components: (0..components.len() as u64).collect(), formats };
        match self.refine_together(labels, &mut source, &mut target, || Ok(())) {
            Ok(()) | Err(_) => (source.formats, target.formats),
        }
    }

    /// The map of formats that goes with a map of components under which rules are carried to rules, one to one; or a
    /// rule whose image is not there. Formats that are alike are mapped in the order of their numbers if possible.
    pub(super) fn formats_under(&self, labels: &[LabelId], components: &[u32]) -> Result<Vec<u32>, &Flat> {
        let mut map = vec![NONE; self.formats];
        let mut taken = vec![false; self.formats];
        map[self.initial as usize] = self.initial;
        taken[self.initial as usize] = true;
        let mut key = Vec::new();
        let mut imaging = Imaging { labels, components, parts: Vec::new(), resets: Vec::new() };
        // Rules come format by format, each format after one that leads to it (the walk of `new`), so that one pass
        // finds the map wherever the next format is determined; a second pass checks everything.
        let mut undecided = true;
        let mut colours = None;
        while undecided {
            undecided = false;
            let mut progress = false;
            for rule in &self.rules {
                let to = map[rule.format as usize];
                if to == NONE || map[rule.next as usize] != NONE {
                    undecided |= map[rule.next as usize] == NONE;
                    continue;
                }
                imaging.write(rule, to, &mut key);
                let mut found = self.find(&key);
                let Some(one) = found.next() else { return Err(rule) };
                if found.next().is_some() {
                    undecided = true;
                    continue;
                }
                if std::mem::replace(&mut taken[one.next as usize], true) {
                    return Err(rule);
                }
                map[rule.next as usize] = one.next;
                progress = true;
            }
            if undecided && !progress {
                // Several rules differ in the next format only: the rules of that format decide which is meant.
                if colours.is_none() {
                    let (source, target) = self.format_colours(labels, components);
                    if let Some((map, _)) = in_order(&source, &target)
                        && self.wrong(labels, components, &map).is_none()
                    {
                        return Ok(map);
                    }
                    colours = Some((source, target));
                }
                let Some((source, target)) = &colours else { break };
                let open =
                    self.rules.iter().find(|rule| map[rule.format as usize] != NONE && map[rule.next as usize] == NONE);
                let Some(rule) = open else { break };
                imaging.write(rule, map[rule.format as usize], &mut key);
                let fits =
                    |one: &&Flat| !taken[one.next as usize] && source[rule.next as usize] == target[one.next as usize];
                let Some(one) = self.find(&key).filter(fits).min_by_key(|one| one.next) else { return Err(rule) };
                taken[one.next as usize] = true;
                map[rule.next as usize] = one.next;
            }
        }
        for (format, to) in map.iter_mut().enumerate() {
            if *to == NONE {
                *to = format as u32;
            }
        }
        match self.wrong(labels, components, &map) {
            None => Ok(map),
            Some(rule) => Err(rule),
        }
    }

    /// For each component the rules that name it.
    pub(super) fn rules_by_component(&self, components: usize) -> Vec<Vec<u32>> {
        let mut rules_of = vec![Vec::new(); components];
        for (number, rule) in (0..).zip(&self.rules) {
            for &(component, _) in &rule.parts {
                rules_of[component as usize].push(number);
            }
            for &component in rule.resets.iter().filter(|reset| rule.parts.iter().all(|part| part.0 != **reset)) {
                rules_of[component as usize].push(number);
            }
        }
        rules_of
    }

    /// Does exchanging two components carry the rules that name one of them to rules?
    pub(super) fn exchanges(&self, one: u32, other: u32, rules_of: &[Vec<u32>]) -> bool {
        let mut key = Vec::new();
        let exchanged = |component: u32| match component {
            component if component == one => other,
            component if component == other => one,
            component => component,
        };
        let mut named = rules_of[one as usize].iter().chain(&rules_of[other as usize]);
        named.all(|&number| {
            let rule = &self.rules[number as usize];
            let mut parts: Vec<(u32, LabelId)> = rule.parts.iter().map(|&(part, l)| (exchanged(part), l)).collect();
            let mut resets: Vec<u32> = rule.resets.iter().map(|&component| exchanged(component)).collect();
            parts.sort_unstable();
            resets.sort_unstable();
            write_key(&mut key, rule.format, rule.label, &parts, &resets);
            self.find(&key).any(|found| found.next == rule.next)
        })
    }

    /// A rule that these maps do not carry to a rule, if any; or one of a format with more rules or fewer than its
    /// image.
    fn wrong(&self, labels: &[LabelId], components: &[u32], formats: &[u32]) -> Option<&Flat> {
        let mut imaging = Imaging { labels, components, parts: Vec::new(), resets: Vec::new() };
        let mut key = Vec::new();
        self.rules.iter().find(|rule| {
            let to = formats[rule.format as usize];
            imaging.write(rule, to, &mut key);
            self.counts[rule.format as usize] != self.counts[to as usize]
                || !self.find(&key).any(|one| one.next == formats[rule.next as usize])
        })
    }
}

/// Images of rules under a permutation of labels and one of components.
struct Imaging<'a> {
    labels: &'a [LabelId],
    components: &'a [u32],
    parts: Vec<(u32, LabelId)>,
    resets: Vec<u32>,
}

impl Imaging<'_> {
    /// Makes the key of the image in a format.
    fn write(&mut self, rule: &Flat, format: u32, key: &mut Vec<u32>) {
        let Imaging { labels, components, parts, resets } = self;
        parts.clear();
        let part = |&(part, label): &(u32, LabelId)| (components[part as usize], relabelled(labels, label));
        parts.extend(rule.parts.iter().map(part));
        parts.sort_unstable();
        resets.clear();
        resets.extend(rule.resets.iter().map(|&component| components[component as usize]));
        resets.sort_unstable();
        write_key(key, format, relabelled(labels, rule.label), parts, resets);
    }
}

fn distinct(colours: &[u64]) -> usize {
    let mut all = colours.to_vec();
    all.sort_unstable();
    all.dedup();
    all.len()
}

fn write_key(key: &mut Vec<u32>, format: u32, label: LabelId, parts: &[(u32, LabelId)], resets: &[u32]) {
    key.clear();
    key.extend([format, label.0, parts.len() as u32]);
    key.extend(parts.iter().flat_map(|&(part, label)| [part, label.0]));
    key.extend_from_slice(resets);
}
