//! The rules of a format, arranged for finding those that can happen.
//!
//! Rules with one participant go to that component's seat. The others are led by one of their participants, and go to
//! its seat, or are found by masks when that is faster ([`crate::masks`]); this is decided for a format as a whole.

use std::collections::HashMap;

use trefoil_system::{Group, GroupId, LabelId, SlotSet, Value, Visibility};

use crate::masks::{Led, Masks};
use crate::network::{Effect, Network, Outcome, Plan, Seat, Synchronisation};
use crate::rules::{Format, FormatId, Rule};

/// The effects that are known by what they write.
pub(crate) type Effects = HashMap<Vec<(u32, Value)>, u32>;

/// What the rules of one format are arranged into.
enum Arranged {
    Move(Outcome),
    Led(Synchronisation),
}

/// The arranging of one format.
pub(crate) struct Compiling<'a> {
    network: &'a mut Network,
    format: &'a Format,
    id: FormatId,
    format_slot: Option<u32>,
    effects: &'a mut Effects,
    /// By participants, resets, and whether the format changes.
    groups: HashMap<(Vec<u32>, Vec<u32>, bool), GroupId>,
    /// By component and local label.
    arranged: Vec<(u32, u32, Arranged)>,
    /// Rules with several participants.
    led: Vec<Led>,
}

impl<'a> Compiling<'a> {
    pub(crate) fn new(
        network: &'a mut Network,
        format: &'a Format,
        id: FormatId,
        format_slot: Option<u32>,
        effects: &'a mut Effects,
    ) -> Compiling<'a> {
        Compiling {
            network,
            format,
            id,
            format_slot,
            effects,
            groups: HashMap::new(),
            arranged: Vec::new(),
            led: Vec::new(),
        }
    }

    /// Arranges the rules; masks take from the spare words what they need.
    pub(crate) fn compile(mut self, spare_words: &mut usize) {
        let idle = self.network.idle.len() as u32;
        for (number, rule) in self.format.rules.iter().enumerate() {
            self.rule(number as u32, rule);
        }
        let idle = (idle, self.network.idle.len() as u32);
        let led = std::mem::take(&mut self.led);
        let masks = Masks::new(self.network, &led, spare_words);
        if masks.is_none() {
            let seated = led
                .into_iter()
                .map(|Led { leader, synchronisation }| (leader.0, leader.1, Arranged::Led(synchronisation)));
            self.arranged.extend(seated);
        }
        let seats = self.network.seats.len() as u32;
        self.seats();
        self.network.plans.push(Plan { seats: (seats, self.network.seats.len() as u32), idle, masks });
    }

    fn rule(&mut self, number: u32, rule: &Rule) {
        // A participant that never offers its label disables the rule permanently.
        let local = |(component, label): (usize, LabelId)| {
            Some((component as u32, self.network.local(component as u32, label)?))
        };
        let Some(parts) = rule.parts().map(local).collect::<Option<Vec<(u32, u32)>>>() else { return };
        let group = self.group(rule);
        let outcome = Outcome { label: rule.label(), group, effect: self.effect(rule), rule: number };
        match parts[..] {
            [] => self.network.idle.push(outcome),
            [(component, local)] => self.arranged.push((component, local, Arranged::Move(outcome))),
            _ => {
                let network = &mut *self.network;
                let mut parts: Vec<(f64, u32, u32)> = parts
                    .into_iter()
                    .map(|(component, local)| (network.frequency(component, local), component, local))
                    .collect();
                // The participant that is least likely to agree leads; the others are checked in that order, too.
                parts.sort_by(|a, b| a.0.total_cmp(&b.0));
                let from = network.others.len() as u32;
                network.others.extend(parts[1..].iter().map(|&(_, component, local)| (component, local)));
                let others = (from, network.others.len() as u32);
                let synchronisation = Synchronisation { outcome, others };
                self.led.push(Led { leader: (parts[0].1, parts[0].2), synchronisation });
            }
        }
    }

    fn group(&mut self, rule: &Rule) -> GroupId {
        let slots: Vec<u32> = rule.parts().map(|(component, _)| component as u32).collect();
        let resets: Vec<u32> = rule.resets().map(|component| component as u32).collect();
        let changes = rule.next() != self.id;
        let visibility = if rule.label() == LabelId::TAU { Visibility::Silent } else { Visibility::Visible };
        let network = &mut *self.network;
        let id = *self.groups.entry((slots, resets, changes)).or_insert_with_key(|(slots, resets, changes)| {
            let set = |slots: &[u32], more: Option<u32>| -> SlotSet {
                slots.iter().copied().chain(more).map(|slot| slot as usize).collect()
            };
            let mut names: Vec<&str> =
                slots.iter().map(|&slot| network.components[slot as usize].name.as_str()).collect();
            if self.format_slot.is_some() {
                names.push(&self.format.name);
            }
            network.groups.push(Group {
                name: names.join(" "),
                guards: set(slots, self.format_slot),
                reads: SlotSet::default(),
                may_write: slots
                    .iter()
                    .filter(|slot| resets.binary_search(slot).is_err())
                    .copied()
                    .chain(self.format_slot.filter(|_| *changes))
                    .map(|slot| slot as usize)
                    .collect(),
                must_write: set(resets, None),
                visibility,
                ..Group::default()
            });
            network.group_formats.push(self.id);
            GroupId(network.groups.len() as u32 - 1)
        });
        let declared = &mut network.groups[id.index()].visibility;
        if *declared != visibility {
            *declared = Visibility::Mixed;
        }
        id
    }

    fn effect(&mut self, rule: &Rule) -> u32 {
        let initial = |component: usize| self.network.components[component].initial();
        let mut writes: Vec<(u32, Value)> =
            rule.resets().map(|component| (component as u32, initial(component))).collect();
        if let Some(slot) = self.format_slot.filter(|_| rule.next() != self.id) {
            writes.push((slot, rule.next().0));
        }
        if writes.is_empty() {
            return 0;
        }
        let effects = &mut self.network.effects;
        *self.effects.entry(writes).or_insert_with_key(|writes| {
            effects.push(Effect { writes: writes.clone() });
            effects.len() as u32
        })
    }

    /// Seats and their ports for what was arranged.
    fn seats(&mut self) {
        let network = &mut *self.network;
        self.arranged.sort_by_key(|&(component, local, _)| (component, local));
        for seat in self.arranged.chunk_by(|a, b| a.0 == b.0) {
            let component = seat[0].0;
            let labels = network.labels_of(component).len();
            let used = seat.chunk_by(|a, b| a.1 == b.1).count();
            let every = labels <= 4 * used + 4;
            let (first, list) = (network.ports.len() as u32, network.listed.len() as u32);
            let mut next_label = 0;
            for port in seat.chunk_by(|a, b| a.1 == b.1) {
                let local = port[0].1;
                let here = (network.moves.len() as u32, network.led.len() as u32);
                if every {
                    // Labels without a rule, and this one.
                    let count = (local - next_label + 1) as usize;
                    network.ports.extend(std::iter::repeat_n(here, count));
                    next_label = local + 1;
                } else {
                    network.ports.push(here);
                    network.listed.push(local);
                }
                for (_, _, arranged) in port {
                    match *arranged {
                        Arranged::Move(outcome) => network.moves.push(outcome),
                        Arranged::Led(synchronisation) => network.led.push(synchronisation),
                    }
                }
            }
            let end = (network.moves.len() as u32, network.led.len() as u32);
            let rest = if every { labels - next_label as usize + 1 } else { 1 };
            network.ports.extend(std::iter::repeat_n(end, rest));
            let listed = (!every).then_some((list, network.listed.len() as u32));
            let machine = network.placed(component);
            network.seats.push(Seat { component, machine, ports: first, listed });
        }
    }
}
