//! Processes at random, and pairs for which refinement holds about as often as not.

use super::alphabet::{Event, Events};
use super::denotation::Denotation;
use super::tree::{COMPRESSIONS, Modifier, Operator, Pairs, Process, Replication, prefix};
use crate::Random;

/// What random processes may have.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// About how many operators and constants.
    pub size: usize,
    /// The events they do and talk about.
    pub events: Events,
    /// May they diverge?
    pub divergence: bool,
    /// May they have `RUN`, `CHAOS` and recursion?
    pub infinite: bool,
    /// May they have compressions? Layers are refused over some of them.
    pub compressions: bool,
}

impl Shape {
    /// Anything of this size, with few events more often than with many, so that processes share events.
    pub fn any(size: usize, random: &mut Random) -> Shape {
        let events = [0b00_0011, 0b00_0111, 0b00_0111, 0b11_0011, 0b11_1111][random.below(5)];
        Shape { size, events: Events(events), divergence: true, infinite: true, compressions: false }
    }
}

/// A random process that has a denotation, and its denotation.
pub fn random_process(shape: Shape, random: &mut Random) -> (Process, Denotation) {
    loop {
        let process = Maker { shape, random }.process(shape.size);
        if let Ok(denotation) = process.denotation() {
            return (process, denotation);
        }
    }
}

/// Two processes that have denotations: mostly the second is made from the first by a few changes, so that refinement
/// holds about as often as not, in each direction and each model.
pub fn random_pair(shape: Shape, random: &mut Random) -> [(Process, Denotation); 2] {
    let first = random_process(shape, random);
    if random.chance(15) {
        return [first, random_process(shape, random)];
    }
    loop {
        let mut second = first.0.clone();
        for _ in 0..1 + random.below(3) {
            change(&mut second, shape, random);
        }
        if let Ok(denotation) = second.denotation() {
            return [first, (second, denotation)];
        }
    }
}

/// Changes one part.
fn change(process: &mut Process, shape: Shape, random: &mut Random) {
    let mut part = process;
    loop {
        let size = part.size();
        // Any part is as likely as any other.
        if random.below(size) == 0 {
            break;
        }
        let sizes: Vec<usize> = part.parts().iter().map(|part| part.size()).collect();
        let mut at = random.below(sizes.iter().sum());
        let chosen = sizes.iter().position(|&size| {
            let here = at < size;
            at = at.saturating_sub(size);
            here
        });
        part = part.parts_mut().swap_remove(chosen.expect("a part is chosen by size"));
    }
    let old = std::mem::replace(part, Process::Stop);
    let mut maker = Maker { shape, random };
    *part = match maker.random.below(if shape.compressions { 14 } else { 12 }) {
        0 => maker.process(2),
        1..3 => old.clone().internal(maker.process(3)),
        3 => old.clone().internal(old),
        4 => old.clone().external(maker.process(2)),
        5 => maker.process(2).sliding(old),
        6 => old.then(Process::Skip),
        7 => old.interleave(Process::Skip),
        8 => match old {
            Process::Binary(Operator::External, left, right) => Process::Binary(Operator::Internal, left, right),
            Process::Binary(Operator::Internal, left, right) => Process::Binary(Operator::External, left, right),
            other => other.interrupt(maker.process(1)),
        },
        9 => match old {
            Process::Prefix(_, then) => Process::Prefix(maker.event(), then),
            other => prefix(maker.event(), other),
        },
        10 => match old {
            Process::Binary(_, left, _) => *left,
            other => other.internal(Process::Stop),
        },
        11 => maker.constant(),
        _ => {
            let compression = maker.compression();
            old.unary(compression)
        }
    };
}

/// Makes the parts of one process.
pub(super) struct Maker<'a> {
    pub(super) shape: Shape,
    pub(super) random: &'a mut Random,
}

impl Maker<'_> {
    pub(super) fn event(&mut self) -> Event {
        let events: Vec<Event> = self.shape.events.members().collect();
        events[self.random.below(events.len())]
    }

    pub(super) fn events(&mut self) -> Events {
        Events(self.random.bits() as u8).meet(self.shape.events)
    }

    fn communicates(&self) -> bool {
        Events(0b11_0000).within(self.shape.events)
    }

    pub(super) fn pairs(&mut self) -> Pairs {
        if self.communicates() && self.random.chance(20) {
            return vec![(Event(4), Event(5)), (Event(5), Event(4))];
        }
        let mut pairs = Pairs::new();
        for _ in 0..1 + self.random.below(3) {
            let pair = (self.event(), self.event());
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        pairs
    }

    fn compression(&mut self) -> Modifier {
        Modifier::Compress(COMPRESSIONS[self.random.below(COMPRESSIONS.len())])
    }

    fn constant(&mut self) -> Process {
        match self.random.below(20) {
            0 if self.shape.divergence => Process::Div,
            1 if self.shape.infinite => Process::Run(self.few()),
            2 if self.shape.infinite => Process::Chaos(self.few()),
            0..6 => prefix(self.event(), Process::Skip),
            6..8 => prefix(self.event(), Process::Stop),
            8..15 => Process::Skip,
            _ => Process::Stop,
        }
    }

    /// At most two events.
    fn few(&mut self) -> Events {
        let pair = [self.event(), self.event()];
        Events::of(pair.into_iter().take(self.random.below(3)))
    }

    /// Splits a size into parts that are not 0.
    fn split(&mut self, size: usize, parts: usize) -> Vec<usize> {
        let mut sizes = vec![1; parts];
        for _ in parts..size {
            sizes[self.random.below(parts)] += 1;
        }
        sizes
    }

    /// A process in which variables may be reached, those of this list when `behind` an event.
    fn recursive(&mut self, size: usize, names: &mut Vec<usize>, behind: bool) -> Process {
        if size <= 1 {
            if !behind {
                return prefix(self.event(), Process::Variable(names[self.random.below(names.len())]));
            }
            if self.random.chance(70) {
                return Process::Variable(names[self.random.below(names.len())]);
            }
            return self.constant();
        }
        match self.random.below(20) {
            0..9 => prefix(self.event(), self.recursive(size - 1, names, true)),
            9 => {
                names.push(self.random.below(1_000));
                let inner = self.recursive(size - 1, names, false);
                Process::Recursion(names.pop().expect("it was pushed"), Box::new(inner))
            }
            choice => {
                let sizes = self.split(size - 1, 2);
                let operator = match choice {
                    10..13 => Operator::External,
                    13 | 14 => Operator::Internal,
                    15 => Operator::Sliding,
                    16 | 17 => Operator::Sequence,
                    18 => Operator::Interrupt,
                    _ => Operator::Exception(self.events()),
                };
                let left = match choice {
                    10..16 => self.recursive(sizes[0], names, behind),
                    _ => self.process(sizes[0]),
                };
                left.binary(operator, self.recursive(sizes[1], names, behind))
            }
        }
    }

    pub(super) fn process(&mut self, size: usize) -> Process {
        if size <= 1 {
            return self.constant();
        }
        match self.random.below(100) {
            0..6 if self.shape.infinite && size > 2 => {
                // Inside a recursion there may be others, with other names.
                let name = self.random.below(1_000);
                Process::Recursion(name, Box::new(self.recursive(size - 1, &mut vec![name], false)))
            }
            0..32 => prefix(self.event(), self.process(size - 1)),
            32..36 if self.communicates() => {
                let values = [vec![0], vec![1], vec![0, 1]][self.random.below(3)].clone();
                let sizes = self.split(size - 1, values.len());
                let branches = values.into_iter().zip(sizes).map(|(value, size)| (value, self.process(size))).collect();
                Process::Input { chosen: self.random.chance(30), branches }
            }
            36..50 => {
                let modifier = match self.random.below(if self.shape.compressions { 16 } else { 12 }) {
                    0..5 => Modifier::Hide(self.events()),
                    5 => Modifier::Project(self.events()),
                    6..11 => Modifier::Rename(self.pairs()),
                    11 => Modifier::Guard(self.random.chance(80)),
                    _ => self.compression(),
                };
                self.process(size - 1).unary(modifier)
            }
            50..55 => {
                let replication = match self.random.below(8) {
                    0 => Replication::External,
                    1 => Replication::Internal,
                    2 => Replication::Interleave,
                    3 => Replication::Sequence,
                    4 => Replication::Parallel(self.events()),
                    5 => Replication::Alphabetised(Vec::new()),
                    6 => Replication::SynchronisingChoice(self.events()),
                    _ => Replication::Link(self.pairs()),
                };
                let least = usize::from(matches!(replication, Replication::Internal | Replication::Link(_)));
                let count = least.max([0, 1, 2, 2, 2, 3, 3][self.random.below(7)]);
                let sizes = if count == 0 { Vec::new() } else { self.split(size - 1, count) };
                let copies = sizes.into_iter().map(|size| self.process(size)).collect();
                match replication {
                    Replication::Alphabetised(_) => {
                        let alphabets = (0..count).map(|_| self.events().union(self.events())).collect();
                        Process::Replicated(Replication::Alphabetised(alphabets), copies)
                    }
                    replication => Process::Replicated(replication, copies),
                }
            }
            _ => {
                let operator = match self.random.below(50) {
                    0..9 => Operator::External,
                    9..15 => Operator::Internal,
                    15..19 => Operator::Sliding,
                    19..25 => Operator::Sequence,
                    25..28 => Operator::Interrupt,
                    28..32 => Operator::Exception(self.events()),
                    32..35 => Operator::Interleave,
                    35..41 => Operator::Parallel(self.events()),
                    41..44 => {
                        let (left, right) = (self.events(), self.events());
                        Operator::Alphabetised(left.union(self.events()), right.union(self.events()))
                    }
                    44..46 => Operator::Link(self.pairs()),
                    46..48 => Operator::SynchronisingChoice(self.events()),
                    _ => Operator::SynchronisingInterrupt(self.events()),
                };
                let sizes = self.split(size - 1, 2);
                let left = self.process(sizes[0]);
                left.binary(operator, self.process(sizes[1]))
            }
        }
    }
}
