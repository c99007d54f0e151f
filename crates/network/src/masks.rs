//! Which synchronisations can happen, found by masks.
//!
//! When a format has many components that offer much, and few rules, walking the offers of every leader costs far more
//! than it finds: on a board of 64 squares each square listens to every move, and five of thirty thousand offers lead
//! to a step. Then each component gets a mask for each of its states, a bit a rule: the rule does not name the
//! component, or the state offers the label that the rule requires. The rules that can happen are the bits that all
//! masks of a row have in common, 64 rules at a time. FDR looks up the rules of its supercombinators in this way too
//! (Gibson-Robinson, Armstrong, Boulgakov and Roscoe, *FDR3: a parallel refinement checker for CSP*, 2016, section 4).
//!
//! Components are combined in the order of how few bits their masks have, so that a word becomes zero soon. Lazy
//! components have no masks; they are checked when all others agree.
//!
//! # When
//!
//! Both ways are estimated in look-ups of one offer: for leaders, the offers of the components that lead, and for every
//! rule how often its leader can move and how many of the others have to be checked then, as if they were independent;
//! for masks, an eighth of a look-up a word. Masks are taken when they save more than a few look-ups, if there is room.
//!
//! Cost: components times words a row, and a bit for every rule and state of a component.

use trefoil_system::Value;

use crate::network::{Network, Synchronisation};

/// How many words the masks of a network may take, 16 MiB.
pub(crate) const SPARE_WORDS: usize = 1 << 21;

/// How many words of masks are read in the time of one look-up.
const WORDS_A_LOOK_UP: f64 = 8.0;

/// How many look-ups masks must save; small formats stay with leaders.
const WORTHWHILE: f64 = 16.0;

/// A rule with several participants: its leader and the label that it takes part with, and the others.
#[derive(Clone, Copy)]
pub(crate) struct Led {
    pub(crate) leader: (u32, u32),
    pub(crate) synchronisation: Synchronisation,
}

/// The masks of one component.
struct Column {
    component: u32,
    /// Where those of its state 0 begin.
    start: usize,
}

/// The masks of a format.
pub(crate) struct Masks {
    rules: Vec<Led>,
    /// Words of one state.
    words: usize,
    columns: Vec<Column>,
    bits: Vec<u64>,
}

impl Masks {
    /// The masks for these rules; `None` when leaders find them faster, or there is no room.
    pub(crate) fn new(network: &Network, rules: &[Led], spare_words: &mut usize) -> Option<Masks> {
        let mut parts = participants(network, rules);
        parts.sort_unstable();
        let components: Vec<u32> =
            parts.chunk_by(|a, b| a.component == b.component).map(|own| own[0].component).collect();
        let words = rules.len().div_ceil(64);
        let cost = (components.len() * words) as f64 / WORDS_A_LOOK_UP;
        if components.is_empty() || cost + WORTHWHILE >= cost_of_leaders(network, rules) {
            return None;
        }
        let states = |component: u32| network.machine(network.placed(component)).state_count();
        let size = components.iter().try_fold(0usize, |size, &component| size.checked_add(states(component)));
        let size = size.and_then(|states| states.checked_mul(words)).filter(|&size| size <= *spare_words)?;
        *spare_words -= size;
        let mut masks = Masks { rules: rules.to_vec(), words, columns: Vec::new(), bits: Vec::with_capacity(size) };
        let mut selective = Vec::new();
        for own in parts.chunk_by(|a, b| a.component == b.component) {
            let start = masks.bits.len();
            masks.add_column(network, own);
            let ones: u64 = masks.bits[start..].iter().map(|word| u64::from(word.count_ones())).sum();
            selective
                .push((ones as f64 / states(own[0].component) as f64, Column { component: own[0].component, start }));
        }
        selective.sort_by(|a, b| a.0.total_cmp(&b.0));
        masks.columns = selective.into_iter().map(|(_, column)| column).collect();
        Some(masks)
    }

    /// Appends the masks of one component, which takes part as `own` says, ascending.
    fn add_column(&mut self, network: &Network, own: &[Participant]) {
        let machine = network.machine(network.placed(own[0].component));
        let mut others = vec![u64::MAX; self.words];
        if !self.rules.len().is_multiple_of(64) {
            others[self.words - 1] = (1 << (self.rules.len() % 64)) - 1;
        }
        for part in own {
            others[part.rule as usize / 64] &= !(1 << (part.rule % 64));
        }
        for state in 0..machine.state_count() as u32 {
            let start = self.bits.len();
            self.bits.extend_from_slice(&others);
            for index in machine.offers_of(state) {
                let local = machine.offer(index).label;
                let first = own.partition_point(|part| part.local < local);
                for part in own[first..].iter().take_while(|part| part.local == local) {
                    self.bits[start + part.rule as usize / 64] |= 1 << (part.rule % 64);
                }
            }
        }
    }

    /// How many words of rules there are.
    #[inline]
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Which of the rules of a word can happen, as far as masks can tell.
    #[inline]
    pub(crate) fn possible(&self, row: &[Value], word: usize) -> u64 {
        let mut possible = u64::MAX;
        for column in &self.columns {
            possible &= self.bits[column.start + row[column.component as usize] as usize * self.words + word];
            if possible == 0 {
                break;
            }
        }
        possible
    }

    /// The rules, in the order in which they are found.
    pub(crate) fn rules(&self) -> impl Iterator<Item = Led> + '_ {
        self.rules.iter().copied()
    }

    /// A rule.
    #[inline]
    pub(crate) fn rule(&self, word: usize, bit: u32) -> &Led {
        &self.rules[word * 64 + bit as usize]
    }
}

/// That a component takes part in a rule with a label; ordered by component and label.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Participant {
    component: u32,
    local: u32,
    rule: u32,
}

/// The participants of all rules that are not lazy.
fn participants(network: &Network, rules: &[Led]) -> Vec<Participant> {
    let mut parts = Vec::new();
    for (rule, led) in rules.iter().enumerate() {
        for &(component, local) in std::iter::once(&led.leader).chain(network.others(&led.synchronisation)) {
            if network.placed(component).lazy().is_none() {
                parts.push(Participant { component, local, rule: rule as u32 });
            }
        }
    }
    parts
}

/// How many look-ups it takes to find the rules of a row by their leaders.
fn cost_of_leaders(network: &Network, rules: &[Led]) -> f64 {
    let mut leaders: Vec<u32> = rules.iter().map(|led| led.leader.0).collect();
    leaders.sort_unstable();
    leaders.dedup();
    let offers = |component: u32| -> f64 {
        (0..network.labels_of(component).len() as u32).map(|local| network.frequency(component, local)).sum()
    };
    let mut cost: f64 = leaders.into_iter().map(offers).sum();
    for led in rules {
        let mut asked = network.frequency(led.leader.0, led.leader.1).min(1.0);
        for &(component, local) in network.others(&led.synchronisation) {
            cost += asked;
            asked *= network.frequency(component, local).min(1.0);
        }
    }
    cost
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use trefoil_control::Control;
    use trefoil_lts::random::{Random, RandomShape, random_lts};
    use trefoil_system::{Checked, Explorer, LabelId, Labels, LocalGroup, System};

    use super::*;
    use crate::rules::{Component, Format, FormatId, Rule};

    /// The steps of a row; they are those of its groups, one after the other, as their local successors are.
    fn steps(explorer: &mut dyn Explorer, groups: &[LocalGroup], row: &[Value]) -> BTreeSet<(LabelId, Vec<Value>)> {
        let (mut found, mut by_group) = (Vec::new(), Vec::new());
        let walk = explorer.successors(row, &mut |step| {
            found.push((step.group, step.label, step.row.to_vec()));
            Ok(())
        });
        assert_eq!(walk, Ok(()));
        let mut reads = Vec::new();
        for group in groups {
            group.inputs.values(row, &mut reads);
            let walk = explorer.local_successors(group, &reads, &mut |step| {
                let mut next = row.to_vec();
                group.outputs.iter().zip(step.values).for_each(|(slot, &value)| next[slot] = value);
                by_group.push((group.id, step.label, next));
                Ok(())
            });
            assert_eq!(walk, Ok(()));
        }
        found.sort_by_key(|step| step.0);
        assert_eq!(found, by_group, "a group gives its steps in the order of all");
        found.into_iter().map(|(_, label, row)| (label, row)).collect()
    }

    #[test]
    fn masks_and_leaders_find_the_same_steps() {
        let (mut masked, mut rows_seen) = (0, 0);
        for seed in 0..120 {
            let mut random = Random::new(seed);
            let labels = Arc::new(Labels::new());
            let count = 2 + random.below(70);
            let shape = RandomShape { states: 4, transitions: 14, labels: 4, tau_percent: 0 };
            let kinds: Vec<_> = (0..3).map(|_| Arc::new(random_lts(&labels, shape, &mut random))).collect();
            let components: Vec<Component> =
                (0..count).map(|at| Component::new(at.to_string(), kinds[random.below(3)].clone())).collect();
            let names: Vec<LabelId> = (0..kinds[0].labels().len() as u32).map(LabelId).filter(|l| l.0 > 1).collect();
            let mut rules = Vec::new();
            for _ in 0..1 + random.below(150) {
                let first = random.below(count);
                let width = 1 + random.below(3).min(count - 1);
                let parts: Vec<(usize, LabelId)> =
                    (0..width).map(|i| ((first + i) % count, names[random.below(names.len())])).collect();
                let mut rule = Rule::new(parts, names[random.below(names.len())]).to(FormatId(random.below(2) as u32));
                if random.below(4) == 0 {
                    rule = rule.with_resets([random.below(count)]);
                }
                rules.push(rule);
            }
            let half = rules.len() / 2;
            let formats = [&rules[..half], &rules[half..]];
            let formats = formats.map(|rules| Format { name: "f".into(), rules: rules.to_vec() }).to_vec();
            let make = |spare| {
                let made = Network::arranged(labels.clone(), components.clone(), formats.clone(), FormatId(0), spare);
                made.expect("small")
            };
            let (led, by_masks) = (make(0), make(SPARE_WORDS));
            assert!((0..2).all(|format| led.masks(FormatId(format)).is_none()));
            masked += (0..2).filter(|&format| by_masks.masks(FormatId(format)).is_some()).count();
            assert_eq!(led.groups(), by_masks.groups());
            let control = Control::unlimited();
            let groups = LocalGroup::all(&led, &control).expect("nothing stops it");
            let (led, by_masks) = (Checked::new(led), Checked::new(by_masks));
            let (mut one, mut other) = (led.explorer(&control), by_masks.explorer(&control));
            let initial = led.initial(&control).expect("nothing stops it");
            let mut known = BTreeSet::from([initial.clone()]);
            let mut work = vec![initial];
            while let Some(row) = work.pop().filter(|_| known.len() < 60) {
                rows_seen += 1;
                let steps = [&mut one, &mut other].map(|explorer| self::steps(&mut **explorer, &groups, &row));
                assert_eq!(steps[0], steps[1], "seed {seed}");
                work.extend(steps[0].iter().map(|step| step.1.clone()).filter(|row| known.insert(row.clone())));
            }
        }
        assert!(masked > 60 && rows_seen > 400, "{masked} formats with masks, {rows_seen} rows");
    }
}
