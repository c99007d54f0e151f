//! What can go wrong while a model runs.

use std::fmt;

use crate::program::{Control, ProcessTypeId};

/// The sorts of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// `assert` of something that does not hold. The run goes on behind it.
    Assertion,
    /// An index outside its array.
    Index,
    /// A division by zero.
    Division,
    /// A send or receive on something that is no channel.
    NoChannel,
    /// A send to a channel that went with its process, or a question whether it is full.
    GoneChannel,
    /// A look into a rendezvous channel, which never holds anything.
    Poll,
    /// A send with another number of fields than the channel's messages have, or a receive with fewer. Fields that are missing are
    /// zero, fields too many are lost, and the run goes on.
    Fields,
    /// A receive of more fields than a message has.
    MissingFields,
    /// More than 255 processes.
    TooManyProcesses,
    /// More than 255 channels.
    TooManyChannels,
    /// A `d_step` cannot go on.
    Blocked,
    /// A rendezvous inside a `d_step`.
    Rendezvous,
    /// An atomic sequence or `d_step` that never ends.
    Endless,
    /// A look at a variable of a process that is of another type.
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

    /// Does the run go on behind it? Otherwise the step that shows it leads back to where it began, and is none of Spin's.
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
            FaultKind::NoChannel => "send or receive on no channel",
            FaultKind::GoneChannel => "use of a channel that went with its process",
            FaultKind::Poll => "poll of a rendezvous channel",
            FaultKind::Fields => "wrong number of message fields",
            FaultKind::MissingFields => "receive of more fields than the message has",
            FaultKind::TooManyProcesses => "too many processes",
            FaultKind::TooManyChannels => "too many channels",
            FaultKind::Blocked => "a d_step blocks",
            FaultKind::Rendezvous => "a rendezvous inside a d_step",
            FaultKind::Endless => "an atomic sequence or d_step that never ends",
            FaultKind::Remote => "reference to a variable of a process that is of another type",
            FaultKind::Enabled => "enabled() asks about the process that asks",
            FaultKind::Trace => "an event that the trace declaration does not allow",
        })
    }
}

/// A fault and the statement that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// In which process type.
    pub process: ProcessTypeId,
    /// In which statement.
    pub statement: Control,
}
