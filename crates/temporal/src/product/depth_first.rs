//! The depth-first search that decomposes the product above one component of the automaton (Pearce, *A space-efficient
//! algorithm for finding strongly connected components*, 2016): one number for each pair, small on the way and large
//! once its component is finished. Which edges leave the component of the automaton is found in the same pass.

use trefoil_control::Control;
use trefoil_questions::Fairness;
use trefoil_system::Cut;

use super::{IDLE, Pair, PairStep, Product, Reached};
use crate::fairness::{demand, strongly_fair};
use crate::folded::fair_parts;

/// A pair on the way of the depth-first search.
struct Frame {
    pair: Pair,
    /// The place of its record; beyond all for a state that was not expanded.
    place: u64,
    /// The next step of the system; the next edge of the automaton, with two bits.
    step: u32,
    edge: u32,
}

/// In [`Frame::edge`]: the pair reaches one that was entered before it; it has a loop.
const NO_ROOT: u32 = 1 << 31;
const LOOPS: u32 = 1 << 30;
const EDGE: u32 = LOOPS - 1;
const NO_RECORD: u64 = u64::MAX;

/// The decomposition of one component of the automaton's part of the product.
pub(super) struct Tarjan<'t, 'p> {
    product: &'t Product<'p>,
    /// How many automaton states the component has, and the place of each among them.
    width: usize,
    place: &'t [u32],
    /// 0 for a pair that was not met, small numbers on the way, large ones for finished components.
    numbers: Vec<u32>,
    next: u32,
    finished: u32,
    open: Vec<Pair>,
    walk: Vec<Frame>,
    /// The pairs of accepting components.
    found: Vec<Pair>,
    weak: bool,
    all: u32,
    since_check: u32,
}

impl<'t, 'p> Tarjan<'t, 'p> {
    /// A search of pairs with these numbers, 0 or [`IDLE`].
    pub(super) fn new(
        product: &'t Product<'p>,
        place: &'t [u32],
        numbers: Vec<u32>,
        width: usize,
        weak: bool,
    ) -> Tarjan<'t, 'p> {
        Tarjan {
            product,
            width,
            place,
            numbers,
            next: 1,
            finished: IDLE - 1,
            open: Vec::new(),
            walk: Vec::new(),
            found: Vec::new(),
            weak,
            all: product.automaton.all_marks(),
            since_check: 0,
        }
    }

    /// Was this pair met, or left out? The automaton state is given by its place among those of the component.
    pub(super) fn has_met(&self, state: u32, place: usize) -> bool {
        self.numbers[state as usize * self.width + place] != 0
    }

    /// The numbers of all pairs, and the pairs of accepting components.
    pub(super) fn finish(self) -> (Vec<u32>, Vec<Pair>) {
        (self.numbers, self.found)
    }
}

impl Tarjan<'_, '_> {
    #[inline]
    fn number(&self, pair: Pair) -> usize {
        pair.state as usize * self.width + self.place[pair.automaton as usize] as usize
    }

    #[inline]
    fn enter(&mut self, pair: Pair, reached: &mut Reached) {
        let at = self.number(pair);
        self.numbers[at] = self.next;
        self.next += 1;
        let graph = self.product.graph;
        let place = graph.place(pair.state);
        match place {
            Some(place) => self.product.leave(pair.automaton, pair.state, &graph.at(place), reached),
            None => reached.beyond = true,
        }
        self.walk.push(Frame { pair, place: place.unwrap_or(NO_RECORD), step: 0, edge: 0 });
    }

    pub(super) fn from(&mut self, pair: Pair, reached: &mut Reached, control: &Control) -> Result<(), Cut> {
        self.enter(pair, reached);
        while let Some(&Frame { pair, place, mut step, edge }) = self.walk.last() {
            let at = self.number(pair);
            let (mut bits, mut edge) = (edge & !EDGE, edge & EDGE);
            let mut deeper = None;
            if place != NO_RECORD {
                let record = self.product.graph.at(place);
                let own = [pair.state];
                let targets = self.product.targets(&record, &own);
                let edges = self.product.inside(pair.automaton, record.letter);
                let mut low = self.numbers[at];
                'edges: while let Some(taken) = edges.get(edge as usize) {
                    let offset = self.place[taken.target as usize] as usize;
                    while let Some(&state) = targets.get(step as usize) {
                        let target = state as usize * self.width + offset;
                        let number = self.numbers[target];
                        if number == 0 {
                            deeper = Some(Pair { state, automaton: taken.target });
                            break 'edges;
                        }
                        if number < low {
                            low = number;
                            bits |= NO_ROOT;
                        } else if target == at {
                            bits |= LOOPS;
                        }
                        step += 1;
                    }
                    edge += 1;
                    step = 0;
                }
                self.numbers[at] = low;
            }
            match deeper {
                Some(target) => {
                    if let Some(frame) = self.walk.last_mut() {
                        (frame.edge, frame.step) = (edge | bits, step);
                    }
                    if self.walk.len() == self.walk.capacity() {
                        control.afford(self.walk.len() * size_of::<Frame>())?;
                    }
                    self.enter(target, reached);
                }
                None => {
                    self.walk.pop();
                    self.leave(pair, at, bits, control)?;
                }
            }
            self.since_check += 1;
            if self.since_check == 65_536 {
                self.since_check = 0;
                control.check()?;
            }
        }
        Ok(())
    }

    #[inline]
    fn leave(&mut self, pair: Pair, at: usize, bits: u32, control: &Control) -> Result<(), Cut> {
        if bits & NO_ROOT != 0 {
            self.open.push(pair);
            return Ok(());
        }
        let own = self.numbers[at];
        self.next -= 1;
        let is_alone = self.open.last().is_none_or(|&last| own > self.numbers[self.number(last)]);
        self.numbers[at] = self.finished;
        if !is_alone || bits & LOOPS != 0 {
            self.close(pair, own, control)?;
        }
        self.finished -= 1;
        Ok(())
    }

    /// Finishes a component that has a cycle, with its root.
    fn close(&mut self, root: Pair, own: u32, control: &Control) -> Result<(), Cut> {
        let mut from = self.open.len();
        while from > 0 && own <= self.numbers[self.number(self.open[from - 1])] {
            from -= 1;
            let member = self.number(self.open[from]);
            self.numbers[member] = self.finished;
            self.next -= 1;
        }
        self.open.push(root);
        if self.weak || self.has_all_marks(from) {
            self.keep_fair(from, control)?;
        }
        self.open.truncate(from);
        Ok(())
    }

    /// Are two pairs in the component that was finished last?
    fn is_inside(&self, pair: Pair) -> bool {
        self.place[pair.automaton as usize] != u32::MAX && self.numbers[self.number(pair)] == self.finished
    }

    /// Keeps the pairs of an accepting component that lie on fair cycles.
    fn keep_fair(&mut self, from: usize, control: &Control) -> Result<(), Cut> {
        let members = &self.open[from..];
        let fairness = self.product.fairness;
        if fairness == Fairness::None {
            self.found.extend(members.iter().copied());
        } else if let Some(folding) = self.product.folding {
            let mut folder = folding.folder(self.product.graph, control);
            let parts = fair_parts(self.product, &mut folder, members.to_vec(), self.all, control)?;
            self.keep(parts);
        } else if demand(self.product, members, |pair| self.is_inside(pair), fairness).is_ok() {
            self.found.extend(members.iter().copied());
        } else if fairness == Fairness::Strong {
            self.keep(strongly_fair(self.product, members.to_vec(), self.all, control)?);
        }
        Ok(())
    }

    /// Keeps parts of a component.
    fn keep(&mut self, parts: Vec<Vec<Pair>>) {
        for part in parts {
            self.finished -= 1;
            for &pair in &part {
                let at = self.number(pair);
                self.numbers[at] = self.finished;
            }
            self.found.extend(part);
        }
    }

    /// Do all marks occur on the edges of the component of the open pairs from here on?
    fn has_all_marks(&self, from: usize) -> bool {
        let mut marks = 0;
        for &member in &self.open[from..] {
            self.product.steps(member, |PairStep { marks: carried, target, .. }| {
                if self.is_inside(target) {
                    marks |= carried;
                }
            });
            if marks == self.all {
                return true;
            }
        }
        false
    }
}
