//! The slots that a step touches, and the reasons why they are more than its statement names.
//!
//! [`Touched`] collects the slots that a move, a run of moves or a whole group reads and writes. A statement names a
//! few slots itself: its variables, the control state of its process, the number of processes. Whatever else enters the
//! sets enters them for a [`Reason`], which the analysis records beside the slots, so that a user of a model can see
//! why two groups depend on each other and a test can bound which reasons make a group read much.
//!
//! The sets only grow: [`Touched::add`] and [`Touched::ask`] report whether they did, and the analysis of runs
//! ([`super::dependencies`]) iterates until nothing grows.
//!
//! Cost: a union takes one operation for each 64 slots.

use trefoil_system::SlotSet;

/// Why a group reads or writes more than its own statement names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// An index is not a constant: all elements of an array.
    Array,
    /// It looks at the messages of a channel.
    Messages,
    /// A channel is known only when the statement is executed: all that it may be.
    Channel,
    /// It goes on through an atomic sequence.
    Atomic,
    /// It is a `d_step`.
    Indivisible,
    /// It depends on the moves before it: `else`, escapes.
    Alternatives,
    /// It is a send and a receive.
    Handshake,
    /// There are too many pairs of sends and receives: all receivers of a send.
    Handshakes,
    /// It starts a process, wherever that comes to stand.
    Run,
    /// It looks at another process.
    Remote,
    /// It asks what another process can do.
    Enabled,
    /// Its process has a `provided` clause.
    Provided,
    /// A `trace` looks at it.
    Trace,
    /// Processes have priorities: it depends on what the others can do.
    Priority,
    /// It depends on whether anything else can happen.
    Timeout,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 15] = [
        Reason::Array,
        Reason::Messages,
        Reason::Channel,
        Reason::Atomic,
        Reason::Indivisible,
        Reason::Alternatives,
        Reason::Handshake,
        Reason::Handshakes,
        Reason::Run,
        Reason::Remote,
        Reason::Enabled,
        Reason::Provided,
        Reason::Trace,
        Reason::Priority,
        Reason::Timeout,
    ];
}

/// A set of slots.
#[derive(Clone, Default)]
pub(super) struct Slots(Vec<u64>);

impl Slots {
    pub(super) fn insert(&mut self, slot: usize) {
        let word = slot / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (slot % 64);
    }

    pub(super) fn extend(&mut self, slots: impl IntoIterator<Item = usize>) {
        slots.into_iter().for_each(|slot| self.insert(slot));
    }

    pub(super) fn contains(&self, slot: usize) -> bool {
        self.0.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 != 0)
    }

    /// Adds the slots of another set, and returns whether the set grew.
    pub(super) fn add(&mut self, other: &Slots) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut grown = false;
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            grown |= other & !*own != 0;
            *own |= other;
        }
        grown
    }

    /// The slots, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..).zip(&self.0).flat_map(|(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let slot = left.checked_sub(1).map(|_| word * 64 + left.trailing_zeros() as usize);
                left &= left.wrapping_sub(1);
                slot
            })
        })
    }

    /// The slots below a width: hidden cells lie behind the row, and are no part of a state.
    pub(super) fn set(&self, width: usize) -> SlotSet {
        (0..width).filter(|&slot| self.contains(slot)).collect()
    }
}

/// The slots that a move or a step reads and writes.
#[derive(Clone, Default)]
pub(super) struct Touched {
    pub(super) reads: Slots,
    pub(super) writes: Slots,
    /// Where the two ends of channels are told apart: the slots of channels at whose end it puts a message, and of
    /// those from whose head it takes one, as its first statement. They are neither read nor written then.
    pub(super) puts: Slots,
    pub(super) takes: Slots,
    /// Whether it reads every slot, however many there are.
    pub(super) all: bool,
    /// A bit for each [`Reason`].
    pub(super) reasons: u16,
}

impl Touched {
    pub(super) fn because(&mut self, reason: Reason) {
        self.reasons |= 1 << reason as u16;
    }

    pub(super) fn has(&self, reason: Reason) -> bool {
        self.reasons >> reason as u16 & 1 != 0
    }

    /// Adds the reads of another one, but not its writes, and returns whether anything is new.
    pub(super) fn ask(&mut self, other: &Touched) -> bool {
        let mut grown = self.reads.add(&other.reads) | (other.all && !self.all) | (other.reasons & !self.reasons != 0);
        grown |= self.reads.add(&other.puts) | self.reads.add(&other.takes);
        self.all |= other.all;
        self.reasons |= other.reasons;
        grown
    }

    /// Adds the reads and the writes of another one, and returns whether anything is new.
    pub(super) fn add(&mut self, other: &Touched) -> bool {
        self.ask(other) | self.writes.add(&other.writes)
    }
}
