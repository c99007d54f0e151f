//! The successors of a row of a network.

use trefoil_system::{Explorer, GroupId, Step, System, Value};

use crate::lazy::LazyExplorer;
use crate::masks::{Led, Masks};
use crate::network::{Effect, Network, Outcome, Seat, Synchronisation};

/// A participant of a synchronisation that is being taken: its targets, and which is next.
struct Taking<'a> {
    component: u32,
    at: u32,
    targets: &'a [u32],
}

pub(crate) struct NetworkExplorer<'a> {
    network: &'a Network,
    /// A copy of the row, in which successors are made.
    next: Vec<Value>,
    taken: Vec<Taking<'a>>,
    /// By lazy machine.
    lazy: Vec<LazyExplorer<'a>>,
}

impl<'a> NetworkExplorer<'a> {
    pub(crate) fn new(network: &'a Network) -> NetworkExplorer<'a> {
        let lazy = network.lazy().iter().map(|machine| machine.explorer()).collect();
        NetworkExplorer { network, next: Vec::new(), taken: Vec::new(), lazy }
    }

    /// Hands out every step of a row.
    pub(crate) fn each(&mut self, row: &[Value], sink: &mut impl FnMut(&Outcome, &[Value])) {
        self.begin(row);
        let network = self.network;
        let format = network.format(row);
        for outcome in network.idle(format) {
            self.take_alone(row, outcome, sink);
        }
        for seat in network.seats(format) {
            self.led_by(row, seat, |_| true, sink);
        }
        if let Some(masks) = network.masks(format) {
            self.by_masks(row, masks, |_| true, sink);
        }
    }

    fn begin(&mut self, row: &[Value]) {
        self.next.clear();
        self.next.extend_from_slice(row);
    }

    /// The targets of a component under a label.
    #[inline]
    pub(crate) fn targets(&mut self, component: u32, state: Value, local: u32) -> &'a [u32] {
        let placed = self.network.placed(component);
        match placed.lazy() {
            None => self.network.machine(placed).find(state, local),
            Some(lazy) => self.lazy[lazy].find(state, local),
        }
    }

    /// The steps that a component makes alone or leads.
    #[inline]
    fn led_by(
        &mut self,
        row: &[Value],
        seat: &Seat,
        wanted: impl Fn(GroupId) -> bool,
        sink: &mut impl FnMut(&Outcome, &[Value]),
    ) {
        let network = self.network;
        if seat.machine.lazy().is_some() {
            self.led_lazily(row, seat, wanted, sink);
            return;
        }
        let machine = network.machine(seat.machine);
        let component = seat.component as usize;
        for index in machine.offers_of(row[component]) {
            let (moves, led) = network.rules_at(seat, machine.offer(index).label);
            if moves.is_empty() && led.is_empty() {
                continue;
            }
            let targets = machine.targets_of(index);
            if !moves.is_empty() {
                self.move_alone(row, seat.component, targets, moves, &wanted, sink);
            }
            for synchronisation in led {
                if wanted(synchronisation.outcome.group) && self.all_agree(row, synchronisation) {
                    self.taken.push(Taking { component: seat.component, at: 0, targets });
                    self.take_together(row, &synchronisation.outcome, sink);
                }
            }
        }
    }

    /// The same for a lazy component: it is asked only when everybody else agrees.
    fn led_lazily(
        &mut self,
        row: &[Value],
        seat: &Seat,
        wanted: impl Fn(GroupId) -> bool,
        sink: &mut impl FnMut(&Outcome, &[Value]),
    ) {
        let network = self.network;
        let state = row[seat.component as usize];
        match seat.machine.lazy().and_then(|lazy| self.lazy[lazy].offered(state)) {
            Some(offered) => {
                for &local in offered {
                    self.led_lazily_by(row, seat, local, &wanted, sink);
                }
            }
            None => {
                for local in network.port_labels(seat) {
                    self.led_lazily_by(row, seat, local, &wanted, sink);
                }
            }
        }
    }

    fn led_lazily_by(
        &mut self,
        row: &[Value],
        seat: &Seat,
        local: u32,
        wanted: &impl Fn(GroupId) -> bool,
        sink: &mut impl FnMut(&Outcome, &[Value]),
    ) {
        let (component, state) = (seat.component, row[seat.component as usize]);
        let (moves, led) = self.network.rules_at(seat, local);
        if moves.iter().any(|outcome| wanted(outcome.group)) {
            let targets = self.targets(component, state, local);
            self.move_alone(row, component, targets, moves, wanted, sink);
        }
        for synchronisation in led {
            if wanted(synchronisation.outcome.group) && self.all_agree(row, synchronisation) {
                let targets = self.targets(component, state, local);
                if !targets.is_empty() {
                    self.taken.push(Taking { component, at: 0, targets });
                    self.take_together(row, &synchronisation.outcome, sink);
                }
            }
        }
    }

    /// The steps of rules that are found by masks.
    #[inline]
    fn by_masks(
        &mut self,
        row: &[Value],
        masks: &Masks,
        wanted: impl Fn(GroupId) -> bool,
        sink: &mut impl FnMut(&Outcome, &[Value]),
    ) {
        for word in 0..masks.words() {
            let mut possible = masks.possible(row, word);
            while possible != 0 {
                let Led { leader: (component, local), synchronisation } = masks.rule(word, possible.trailing_zeros());
                possible &= possible - 1;
                if wanted(synchronisation.outcome.group) && self.all_agree(row, synchronisation) {
                    let targets = self.targets(*component, row[*component as usize], *local);
                    // Only what is lazy can still refuse.
                    if !targets.is_empty() {
                        self.taken.push(Taking { component: *component, at: 0, targets });
                        self.take_together(row, &synchronisation.outcome, sink);
                    }
                }
            }
        }
    }

    /// The steps that a component makes alone under one label.
    #[inline(always)]
    fn move_alone(
        &mut self,
        row: &[Value],
        component: u32,
        targets: &[u32],
        moves: &[Outcome],
        wanted: &impl Fn(GroupId) -> bool,
        sink: &mut impl FnMut(&Outcome, &[Value]),
    ) {
        let network = self.network;
        let slot = component as usize;
        for outcome in moves {
            if !wanted(outcome.group) {
                continue;
            }
            if let Some(effect) = network.effect(outcome) {
                // Where it went makes no difference when it is reset.
                let count = if effect.resets(component) { 1 } else { targets.len() };
                for &target in targets.iter().take(count) {
                    self.next[slot] = target;
                    self.finish(row, effect, outcome, sink);
                }
            } else {
                for &target in targets {
                    self.next[slot] = target;
                    sink(outcome, &self.next);
                }
            }
            self.next[slot] = row[slot];
        }
    }

    /// Can all the others move too? Then `taken` says how.
    #[inline]
    fn all_agree(&mut self, row: &[Value], synchronisation: &Synchronisation) -> bool {
        let network = self.network;
        self.taken.clear();
        for &(component, local) in network.others(synchronisation) {
            let targets = self.targets(component, row[component as usize], local);
            if targets.is_empty() {
                return false;
            }
            self.taken.push(Taking { component, at: 0, targets });
        }
        true
    }

    /// Every combination of the participants' targets.
    fn take_together(&mut self, row: &[Value], outcome: &Outcome, sink: &mut impl FnMut(&Outcome, &[Value])) {
        let network = self.network;
        let target = |taking: &Taking<'_>| taking.targets[taking.at as usize];
        let effect = network.effect(outcome);
        for taking in &mut self.taken {
            if effect.is_some_and(|effect| effect.resets(taking.component)) {
                taking.targets = &taking.targets[..1];
            }
            self.next[taking.component as usize] = target(taking);
        }
        'combinations: loop {
            match effect {
                None => sink(outcome, &self.next),
                Some(effect) => self.finish(row, effect, outcome, sink),
            }
            for taking in &mut self.taken {
                taking.at += 1;
                let more = (taking.at as usize) < taking.targets.len();
                if !more {
                    taking.at = 0;
                }
                self.next[taking.component as usize] = target(taking);
                if more {
                    continue 'combinations;
                }
            }
            break;
        }
        for taking in &self.taken {
            self.next[taking.component as usize] = row[taking.component as usize];
        }
    }

    fn take_alone(&mut self, row: &[Value], outcome: &Outcome, sink: &mut impl FnMut(&Outcome, &[Value])) {
        match self.network.effect(outcome) {
            None => sink(outcome, &self.next),
            Some(effect) => self.finish(row, effect, outcome, sink),
        }
    }

    /// Hands out the step after the effect; participants that were reset are where they were before the step.
    fn finish(&mut self, row: &[Value], effect: &Effect, outcome: &Outcome, sink: &mut impl FnMut(&Outcome, &[Value])) {
        for &(slot, value) in &effect.writes {
            self.next[slot as usize] = value;
        }
        sink(outcome, &self.next);
        for &(slot, _) in &effect.writes {
            self.next[slot as usize] = row[slot as usize];
        }
    }
}

impl Explorer for NetworkExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut dyn FnMut(Step<'_>)) {
        self.each(row, &mut |outcome, row| sink(Step { group: outcome.group, label: outcome.label, row }));
    }

    fn group_successors(&mut self, row: &[Value], group: GroupId, sink: &mut dyn FnMut(Step<'_>)) {
        let network = self.network;
        let format = network.group_format(group);
        if network.format(row) != format {
            return;
        }
        self.begin(row);
        let mut sink = |outcome: &Outcome, row: &[Value]| {
            sink(Step { group: outcome.group, label: outcome.label, row });
        };
        for outcome in network.idle(format).iter().filter(|outcome| outcome.group == group) {
            self.take_alone(row, outcome, &mut sink);
        }
        let seats = network.seats(format);
        for slot in network.groups()[group.index()].guards.iter() {
            if let Ok(at) = seats.binary_search_by_key(&slot, |seat| seat.component as usize) {
                self.led_by(row, &seats[at], |of| of == group, &mut sink);
            }
        }
        if let Some(masks) = network.masks(format) {
            self.by_masks(row, masks, |of| of == group, &mut sink);
        }
    }
}
