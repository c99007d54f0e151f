//! The events of the random processes: `a`, `b`, `c`, `d`, `e.0`, `e.1`, and termination.

/// An event; the last number, [`TICK`], is termination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event(pub u8);

/// How many events there are besides termination.
pub const EVENT_COUNT: u8 = 6;

/// Termination, `✓`. No set of events in a process has it; refusals do.
pub const TICK: Event = Event(EVENT_COUNT);

/// What declares the events in a script.
pub const DECLARATIONS: &str = "channel a, b, c, d\nchannel e : {0..1}\n\
    transparent explicate, sbisim, dbisim, wbisim, tau_loop_factor, diamond, normal, model_compress\n";

impl Event {
    /// As in a script.
    pub fn text(self) -> &'static str {
        ["a", "b", "c", "d", "e.0", "e.1", "✓"][usize::from(self.0)]
    }
}

/// The event `e.0` or `e.1`.
pub fn communication(value: usize) -> Event {
    Event(4 + value as u8)
}

/// A set of events, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Events(pub u8);

impl Events {
    /// The empty set.
    pub const NONE: Events = Events(0);
    /// All events but termination: `Σ`.
    pub const SIGMA: Events = Events((1 << EVENT_COUNT) - 1);
    /// All events and termination: `Σ ∪ {✓}`.
    pub const ALL: Events = Events((1 << (EVENT_COUNT + 1)) - 1);

    /// The set of one event.
    pub fn one(event: Event) -> Events {
        Events(1 << event.0)
    }

    /// A set of some events.
    pub fn of(events: impl IntoIterator<Item = Event>) -> Events {
        events.into_iter().fold(Events::NONE, |all, event| all.union(Events::one(event)))
    }

    /// Is it a member?
    pub fn has(self, event: Event) -> bool {
        self.0 >> event.0 & 1 == 1
    }

    /// Union.
    pub fn union(self, other: Events) -> Events {
        Events(self.0 | other.0)
    }

    /// Intersection.
    pub fn meet(self, other: Events) -> Events {
        Events(self.0 & other.0)
    }

    /// Those of the first that are not in the second.
    pub fn without(self, other: Events) -> Events {
        Events(self.0 & !other.0)
    }

    /// Is every member in the other?
    pub fn within(self, other: Events) -> bool {
        self.without(other) == Events::NONE
    }

    /// The members in order.
    pub fn members(self) -> impl Iterator<Item = Event> {
        (0..=EVENT_COUNT).map(Event).filter(move |&event| self.has(event))
    }

    /// As in a script.
    pub fn text(self) -> String {
        let both = Events::of([communication(0), communication(1)]);
        let names = self.members().map(Event::text).collect::<Vec<_>>();
        if self == both { "{|e|}".into() } else { format!("{{{}}}", names.join(", ")) }
    }
}
