//! The steps of one transition group of a network, from the values of its participants and the format alone.
//!
//! The rules of every group are listed once, at the first request for local successors, in the order in which they
//! occur among all successors: by seats, labels and then rules, or as masks have them. The rules of one group are
//! checked one by one, or, when one component leads them all and offers fewer labels than there are rules, by its
//! offers.

use trefoil_system::{GroupId, LocalGroup, LocalSink, LocalStep, Value, Walk};

use crate::masks::Led;
use crate::network::{Network, Outcome, Synchronisation};
use crate::rules::FormatId;
use crate::successors::NetworkExplorer;

/// The rules with participants, by group.
pub(crate) struct GroupRules {
    /// The rules of group `g` are `rules[starts[g]..starts[g + 1]]`.
    starts: Vec<u32>,
    /// A component leads what it does alone, and nothing else takes part.
    rules: Vec<Led>,
    /// By group, whether its rules have one leader that is not lazy, and ascend by its labels.
    by_label: Vec<bool>,
}

impl GroupRules {
    pub(crate) fn new(network: &Network) -> GroupRules {
        let mut all: Vec<Led> = Vec::new();
        for format in (0..network.formats().len() as u32).map(FormatId) {
            for seat in network.seats(format) {
                for local in network.port_labels(seat) {
                    let leader = (seat.component, local);
                    let (moves, led) = network.rules_at(seat, local);
                    let alone = moves.iter().map(|&outcome| Synchronisation { outcome, others: (0, 0) });
                    all.extend(alone.chain(led.iter().copied()).map(|synchronisation| Led { leader, synchronisation }));
                }
            }
            all.extend(network.masks(format).into_iter().flat_map(|masks| masks.rules()));
        }
        let group = |led: &Led| led.synchronisation.outcome.group;
        all.sort_by_key(group);
        let groups = network.group_formats.len() as u32;
        let starts: Vec<u32> =
            (0..=groups).map(|id| all.partition_point(|led| group(led) < GroupId(id)) as u32).collect();
        let by_label = |bounds: &[u32]| {
            let rules = &all[bounds[0] as usize..bounds[1] as usize];
            let one = |first: &Led| {
                let component = first.leader.0;
                network.placed(component).lazy().is_none() && rules.iter().all(|led| led.leader.0 == component)
            };
            rules.first().is_some_and(one) && rules.is_sorted_by_key(|led| led.leader)
        };
        GroupRules { by_label: starts.windows(2).map(by_label).collect(), starts, rules: all }
    }

    fn of(&self, group: GroupId) -> &[Led] {
        &self.rules[self.starts[group.index()] as usize..self.starts[group.index() + 1] as usize]
    }
}

/// Buffers for local successors.
#[derive(Default)]
pub(crate) struct LocalScratch {
    /// A row in which only the slots that the group reads are meaningful.
    row: Vec<Value>,
    values: Vec<Value>,
    written: Vec<bool>,
}

impl NetworkExplorer<'_> {
    /// The steps of a group, given the values that it reads.
    pub(crate) fn of_group(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        let LocalScratch { mut row, mut values, mut written } = std::mem::take(&mut self.local);
        let width = self.network.components().len() + usize::from(self.network.formats().len() > 1);
        row.resize(width, 0);
        self.next.resize(width, 0);
        for (slot, &value) in group.inputs.iter().zip(reads) {
            row[slot] = value;
            self.next[slot] = value;
        }
        written.clear();
        written.resize(group.outputs.len(), true);
        let walk = self.each_of(group.id, &row, &mut |outcome, next| {
            group.outputs.values(next, &mut values);
            sink(LocalStep { label: outcome.label, values: &values, written: &written })
        });
        self.local = LocalScratch { row, values, written };
        walk
    }

    fn each_of(&mut self, group: GroupId, row: &[Value], sink: &mut impl FnMut(&Outcome, &[Value]) -> Walk) -> Walk {
        let network = self.network;
        let format = network.group_format(group);
        if network.format(row) != format {
            return Ok(());
        }
        let known = network.group_rules();
        let rules = known.of(group);
        let Some(first) = rules.first() else {
            let mut own = network.idle(format).iter().filter(|outcome| outcome.group == group);
            return own.try_for_each(|outcome| self.take_alone(row, outcome, sink));
        };
        if known.by_label[group.index()] {
            let (component, _) = first.leader;
            let machine = network.machine(network.placed(component));
            let offers = machine.offers_of(row[component as usize]);
            if offers.len() < rules.len() {
                for index in offers {
                    let local = machine.offer(index).label;
                    let from = rules.partition_point(|led| led.leader.1 < local);
                    for led in rules[from..].iter().take_while(|led| led.leader.1 == local) {
                        self.take_led(row, led, sink)?;
                    }
                }
                return Ok(());
            }
        }
        rules.iter().try_for_each(|led| self.take_led(row, led, sink))
    }

    /// The steps of one rule.
    fn take_led(&mut self, row: &[Value], led: &Led, sink: &mut impl FnMut(&Outcome, &[Value]) -> Walk) -> Walk {
        let Led { leader: (component, local), synchronisation } = *led;
        let state = row[component as usize];
        let placed = self.network.placed(component);
        // The leader is least likely to agree; only lazy components are checked last.
        if placed.lazy().is_none() && self.network.machine(placed).find(state, local).is_empty() {
            return Ok(());
        }
        if !self.all_agree::<true>(row, &synchronisation)? {
            return Ok(());
        }
        let targets = self.targets(component, state, local)?;
        if targets.is_empty() {
            return Ok(());
        }
        self.take_together(row, (component, targets), &synchronisation.outcome, sink)
    }
}
