//! Why a walk ended before it was through.

use std::fmt;

use trefoil_control::{Control, Stopped};

/// Why a walk over the steps of a state ended early. It has two words, because it is returned through every layer for
/// every step; the control knows why it stopped, and what is wrong with a model is boxed.
///
/// What a sink breaks off with comes back unchanged through every wrapper. `Ok` means that every step was handed out,
/// and only then may anything be remembered of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The sink has what it wanted.
    Enough,
    /// A budget ran out or the user interrupted; [`Control::why`] has the reason.
    Stopped,
    /// A step has no room in a row; [`crate::System::widened`] gives the system with more room.
    Outgrown,
    /// The model itself is at fault.
    Wrong(Box<Wrong>),
}

/// What is wrong with a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// In words.
    pub message: String,
    /// Where, as a range of bytes in one of the front end's files.
    pub place: Option<WrongPlace>,
}

/// A range of bytes in a file of the front end that made a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongPlace {
    /// The front end's number of the file.
    pub file: u32,
    /// The first byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
}

/// How a walk ended.
pub type Walk = Result<(), Cut>;

impl Cut {
    /// Whether the sink had enough; every other reason to end early is an error still.
    ///
    /// For a caller whose own sink says [`Cut::Enough`].
    #[inline]
    pub fn had_enough(walk: Walk) -> Result<bool, Cut> {
        match walk {
            Ok(()) => Ok(false),
            Err(Cut::Enough) => Ok(true),
            Err(cut) => Err(cut),
        }
    }

    /// The reason in words, as the control of the walk knows it.
    pub fn explain(&self, control: &Control) -> String {
        match self {
            Cut::Enough => "the search has what it wanted".into(),
            Cut::Stopped => control.why().to_string(),
            Cut::Outgrown => "a state has no room for another process".into(),
            Cut::Wrong(wrong) => wrong.to_string(),
        }
    }
}

impl From<Stopped> for Cut {
    fn from(_: Stopped) -> Cut {
        Cut::Stopped
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_has_two_words() {
        assert!(size_of::<Cut>() <= 2 * size_of::<usize>());
        assert_eq!(size_of::<Walk>(), size_of::<Cut>());
    }
}
