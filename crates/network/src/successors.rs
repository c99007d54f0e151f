//! The successors of a row of a network.

use trefoil_control::Control;
use trefoil_system::{Cut, Explorer, LocalGroup, LocalSink, Sink, Step, Value, Walk};

use crate::lazy::LazyExplorer;
use crate::local::LocalScratch;
use crate::masks::{Led, Masks};
use crate::network::{Effect, Network, Outcome, Seat, Synchronisation};

/// A participant of a synchronisation that is being taken: its targets, and which is next.
struct Taking<'a> {
    component: u32,
    at: u32,
    targets: &'a [u32],
}

/// A thread's view of a network without its layer. Every walk begins with a copy of its row, so a cut leaves nothing
/// behind that matters.
pub(crate) struct NetworkExplorer<'a> {
    pub(crate) network: &'a Network,
    /// A copy of the row, in which successors are made.
    pub(crate) next: Vec<Value>,
    taken: Vec<Taking<'a>>,
    /// By lazy machine.
    lazy: Vec<LazyExplorer<'a>>,
    pub(crate) local: LocalScratch,
}

impl<'a> NetworkExplorer<'a> {
    pub(crate) fn new(network: &'a Network, control: &'a Control) -> NetworkExplorer<'a> {
        let lazy = network.lazy().iter().map(|machine| machine.explorer(control)).collect();
        NetworkExplorer { network, next: Vec::new(), taken: Vec::new(), lazy, local: LocalScratch::default() }
    }

    /// Passes on every step of a row.
    #[inline]
    pub(crate) fn each(&mut self, row: &[Value], sink: &mut impl FnMut(&Outcome, &[Value]) -> Walk) -> Walk {
        if self.lazy.is_empty() { self.each_step::<false>(row, sink) } else { self.each_step::<true>(row, sink) }
    }

    /// The same; without lazy components nothing but the sink can end it.
    fn each_step<const LAZY: bool>(
        &mut self,
        row: &[Value],
        sink: &mut impl FnMut(&Outcome, &[Value]) -> Walk,
    ) -> Walk {
        self.next.clear();
        self.next.extend_from_slice(row);
        let network = self.network;
        let format = network.format(row);
        for outcome in network.idle(format) {
            self.take_alone(row, outcome, sink)?;
        }
        for seat in network.seats(format) {
            self.led_by::<LAZY>(row, seat, sink)?;
        }
        match network.masks(format) {
            Some(masks) => self.by_masks::<LAZY>(row, masks, sink),
            None => Ok(()),
        }
    }

    /// The targets of a component under a label.
    #[inline]
    pub(crate) fn targets(&mut self, component: u32, state: Value, local: u32) -> Result<&'a [u32], Cut> {
        self.targets_of::<true>(component, state, local)
    }

    /// The same, where it is known whether there are lazy components at all.
    #[inline]
    fn targets_of<const LAZY: bool>(&mut self, component: u32, state: Value, local: u32) -> Result<&'a [u32], Cut> {
        let placed = self.network.placed(component);
        if LAZY && let Some(lazy) = placed.lazy() {
            return self.lazy[lazy].find(state, local);
        }
        Ok(self.network.machine(placed).find(state, local))
    }

    /// The steps that a component makes alone or leads.
    #[inline]
    fn led_by<const LAZY: bool>(
        &mut self,
        row: &[Value],
        seat: &Seat,
        sink: &mut impl FnMut(&Outcome, &[Value]) -> Walk,
    ) -> Walk {
        let network = self.network;
        if LAZY && seat.machine.lazy().is_some() {
            return self.led_lazily(row, seat, sink);
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
                self.move_alone(row, seat.component, targets, moves, sink)?;
            }
            for synchronisation in led {
                if self.all_agree::<LAZY>(row, synchronisation)? {
                    self.take_together(row, (seat.component, targets), &synchronisation.outcome, sink)?;
                }
            }
        }
        Ok(())
    }

    /// The same for a lazy component, which is expanded only when all others agree.
    fn led_lazily(&mut self, row: &[Value], seat: &Seat, sink: &mut impl FnMut(&Outcome, &[Value]) -> Walk) -> Walk {
        let network = self.network;
        let state = row[seat.component as usize];
        let offered = match seat.machine.lazy() {
            Some(lazy) => self.lazy[lazy].offered(state)?,
            None => None,
        };
        match offered {
            Some(offered) => offered.iter().try_for_each(|&local| self.led_lazily_by(row, seat, local, sink)),
            None => network.port_labels(seat).try_for_each(|local| self.led_lazily_by(row, seat, local, sink)),
        }
    }

    fn led_lazily_by(
        &mut self,
        row: &[Value],
        seat: &Seat,
        local: u32,
        sink: &mut impl FnMut(&Outcome, &[Value]) -> Walk,
    ) -> Walk {
        let (component, state) = (seat.component, row[seat.component as usize]);
        let (moves, led) = self.network.rules_at(seat, local);
        if !moves.is_empty() {
            let targets = self.targets(component, state, local)?;
            self.move_alone(row, component, targets, moves, sink)?;
        }
        for synchronisation in led {
            if self.all_agree::<true>(row, synchronisation)? {
                let targets = self.targets(component, state, local)?;
                if !targets.is_empty() {
                    self.take_together(row, (component, targets), &synchronisation.outcome, sink)?;
                }
            }
        }
        Ok(())
    }

    /// The steps of rules that are found by masks.
    #[inline]
    fn by_masks<const LAZY: bool>(
        &mut self,
        row: &[Value],
        masks: &Masks,
        sink: &mut impl FnMut(&Outcome, &[Value]) -> Walk,
    ) -> Walk {
        for word in 0..masks.words() {
            let mut possible = masks.possible(row, word);
            while possible != 0 {
                let Led { leader: (component, local), synchronisation } = masks.rule(word, possible.trailing_zeros());
                possible &= possible - 1;
                if self.all_agree::<LAZY>(row, synchronisation)? {
                    let targets = self.targets_of::<LAZY>(*component, row[*component as usize], *local)?;
                    // Only lazy components can still refuse.
                    if !LAZY || !targets.is_empty() {
                        self.take_together(row, (*component, targets), &synchronisation.outcome, sink)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The steps that a component makes alone under one label.
    #[inline(always)]
    fn move_alone(
        &mut self,
        row: &[Value],
        component: u32,
        targets: &[u32],
        moves: &[Outcome],
        sink: &mut impl FnMut(&Outcome, &[Value]) -> Walk,
    ) -> Walk {
        let network = self.network;
        let slot = component as usize;
        for outcome in moves {
            if let Some(effect) = network.effect(outcome) {
                // Where it went makes no difference when it is reset.
                let count = if effect.resets(component) { 1 } else { targets.len() };
                for &target in targets.iter().take(count) {
                    self.next[slot] = target;
                    self.finish(row, effect, outcome, sink)?;
                }
            } else {
                for &target in targets {
                    self.next[slot] = target;
                    sink(outcome, &self.next)?;
                }
            }
            self.next[slot] = row[slot];
        }
        Ok(())
    }

    /// Can all the others move too? Then `taken` says how.
    #[inline(always)]
    pub(crate) fn all_agree<const LAZY: bool>(
        &mut self,
        row: &[Value],
        synchronisation: &Synchronisation,
    ) -> Result<bool, Cut> {
        let network = self.network;
        self.taken.clear();
        for &(component, local) in network.others(synchronisation) {
            let targets = self.targets_of::<LAZY>(component, row[component as usize], local)?;
            if targets.is_empty() {
                return Ok(false);
            }
            self.taken.push(Taking { component, at: 0, targets });
        }
        Ok(true)
    }

    /// Every combination of the targets of the leader and of the other participants.
    pub(crate) fn take_together(
        &mut self,
        row: &[Value],
        (component, targets): (u32, &'a [u32]),
        outcome: &Outcome,
        sink: &mut impl FnMut(&Outcome, &[Value]) -> Walk,
    ) -> Walk {
        let network = self.network;
        let target = |taking: &Taking<'_>| taking.targets[taking.at as usize];
        let effect = network.effect(outcome);
        self.taken.push(Taking { component, at: 0, targets });
        let mut several = false;
        for taking in &mut self.taken {
            if effect.is_some_and(|effect| effect.resets(taking.component)) {
                taking.targets = &taking.targets[..1];
            }
            several |= taking.targets.len() > 1;
            self.next[taking.component as usize] = target(taking);
        }
        'combinations: loop {
            match effect {
                None => sink(outcome, &self.next)?,
                Some(effect) => self.finish(row, effect, outcome, sink)?,
            }
            if !several {
                break;
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
        Ok(())
    }

    pub(crate) fn take_alone(
        &mut self,
        row: &[Value],
        outcome: &Outcome,
        sink: &mut impl FnMut(&Outcome, &[Value]) -> Walk,
    ) -> Walk {
        match self.network.effect(outcome) {
            None => sink(outcome, &self.next),
            Some(effect) => self.finish(row, effect, outcome, sink),
        }
    }

    /// Passes on the step after the effect; participants that were reset are where they were before the step.
    fn finish(
        &mut self,
        row: &[Value],
        effect: &Effect,
        outcome: &Outcome,
        sink: &mut impl FnMut(&Outcome, &[Value]) -> Walk,
    ) -> Walk {
        for &(slot, value) in &effect.writes {
            self.next[slot as usize] = value;
        }
        sink(outcome, &self.next)?;
        for &(slot, _) in &effect.writes {
            self.next[slot as usize] = row[slot as usize];
        }
        Ok(())
    }
}

impl Explorer for NetworkExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.each(row, &mut |outcome, row| sink(Step::of_group(outcome.group, outcome.label, row)))
    }

    fn local_successors(&mut self, group: &LocalGroup, reads: &[Value], sink: &mut LocalSink<'_>) -> Walk {
        self.of_group(group, reads, sink)
    }
}
