//! Run-time errors of a model.

use std::fmt;

use crate::program::{Control, ProcessTypeId};

/// The kinds of run-time errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// A violated `assert`. The run continues behind it.
    Assertion,
    /// An index outside its array.
    Index,
    /// A division by zero.
    Division,
    /// A send or receive on a value that is not a channel.
    NoChannel,
    /// A send to a channel whose process has ended, or a test whether it is full.
    GoneChannel,
    /// A poll of a rendezvous channel, which never holds a message.
    Poll,
    /// A send with another number of fields than the messages of the channel have, or a receive with fewer. Missing
    /// fields are zero, extra fields are lost, and the run continues.
    Fields,
    /// A receive of more fields than a message has.
    MissingFields,
    /// More than 255 processes.
    TooManyProcesses,
    /// More than 255 channels.
    TooManyChannels,
    /// A `d_step` blocks.
    Blocked,
    /// A rendezvous inside a `d_step`.
    Rendezvous,
    /// An atomic sequence or `d_step` that never ends.
    Endless,
    /// A reference to a variable of a process of another type.
    Remote,
    /// An `enabled` whose answer depends on itself.
    Enabled,
    /// A send or receive that a `trace` does not allow, or that completes a `notrace`.
    Trace,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [FaultKind; 16] = [
        FaultKind::Assertion,
        FaultKind::Index,
        FaultKind::Division,
        FaultKind::NoChannel,
        FaultKind::GoneChannel,
        FaultKind::Poll,
        FaultKind::Fields,
        FaultKind::MissingFields,
        FaultKind::TooManyProcesses,
        FaultKind::TooManyChannels,
        FaultKind::Blocked,
        FaultKind::Rendezvous,
        FaultKind::Endless,
        FaultKind::Remote,
        FaultKind::Enabled,
        FaultKind::Trace,
    ];

    /// The number of this sort of fault among the errors of a system; 0 is none.
    pub fn number(self) -> u32 {
        self as u32 + 1
    }

    /// Does the run continue behind it? Otherwise the step that shows it leads back to its source, and Spin does not
    /// count it.
    pub fn goes_on(self) -> bool {
        matches!(self, FaultKind::Assertion | FaultKind::Fields | FaultKind::Trace)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FaultKind::Assertion => "assertion violated",
            FaultKind::Index => "array index out of range",
            FaultKind::Division => "division by zero",
            FaultKind::NoChannel => "send or receive on a value that is not a channel",
            FaultKind::GoneChannel => "use of a channel whose process has ended",
            FaultKind::Poll => "poll of a rendezvous channel",
            FaultKind::Fields => "wrong number of message fields",
            FaultKind::MissingFields => "receive of more fields than the message has",
            FaultKind::TooManyProcesses => "too many processes",
            FaultKind::TooManyChannels => "too many channels",
            FaultKind::Blocked => "a d_step blocks",
            FaultKind::Rendezvous => "a rendezvous inside a d_step",
            FaultKind::Endless => "an atomic sequence or d_step that never ends",
            FaultKind::Remote => "reference to a variable of a process of another type",
            FaultKind::Enabled => "enabled() about the process itself",
            FaultKind::Trace => "an event that the trace declaration does not allow",
        })
    }
}

/// A fault and the statement that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fault {
    /// The kind of error.
    pub kind: FaultKind,
    /// In which process type.
    pub process: ProcessTypeId,
    /// In which statement.
    pub statement: Control,
}
